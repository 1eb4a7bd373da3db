// HTTP for linnet-server over real connections: what comes in whole and allowed, what is refused, streams at the pace of who reads them,
// and that nothing that clients do costs more than is bounded.
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "http.h"
#include "tests/catch2.h"

using server::Exchange;
using server::Http;
using server::HttpOptions;

namespace {

using Clock = std::chrono::steady_clock;
using X = std::shared_ptr<Exchange>;
constexpr int kForgottenMs = 20000;  // whoever waits longer has been forgotten

// One connection.
struct Talk {
  int fd = -1;
  std::string got;
  bool over = false;

  explicit Talk(int port, int receive_buffer = 0) {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    over = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0;
  }
  Talk(Talk&& other) noexcept : fd(other.fd), got(std::move(other.got)), over(other.over) { other.fd = -1; }
  Talk& operator=(Talk&&) = delete;
  ~Talk() { hang_up(); }
  void hang_up() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  bool say(const std::string& text) const {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }
  bool more(int wait_ms = kForgottenMs) {
    pollfd p{fd, POLLIN, 0};
    if (over || poll(&p, 1, wait_ms) <= 0) return false;
    char buffer[16384];
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0)
      over = true;
    else
      got.append(buffer, static_cast<size_t>(n));
    return n > 0;
  }
  void until(const std::string& text) {
    while (got.find(text) == std::string::npos) {
      INFO(got.substr(0, 2000));
      REQUIRE(more());
    }
  }
  void to_end() {
    while (more()) {
    }
    REQUIRE(over);
  }
  // One whole answer with its length in its head; what follows stays.
  std::string answer() {
    until("\r\n\r\n");
    const size_t head = got.find("\r\n\r\n") + 4, at = got.find("Content-Length: ");
    REQUIRE(at < head);
    const size_t size = head + std::stoul(got.substr(at + 16));
    while (got.size() < size) REQUIRE(more());
    const std::string whole = got.substr(0, size);
    got.erase(0, size);
    return whole;
  }
};

int status(const std::string& response) { return response.substr(0, 9) == "HTTP/1.1 " ? std::stoi(response.substr(9, 3)) : 0; }
std::string get(const std::string& path, const std::string& headers = "Host: localhost\r\n") {
  return "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n";
}
constexpr char kJson[] = "Host: localhost\r\nContent-Type: application/json\r\n";
std::string post(const std::string& path, const std::string& body, const std::string& headers = kJson) {
  return "POST " + path + " HTTP/1.1\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string body_of(const std::string& response) { return response.substr(std::min(response.size(), response.find("\r\n\r\n") + 4)); }
// The bytes of a body in chunks; whether it has its end.
std::string unchunked(const std::string& response, bool* whole = nullptr) {
  std::string out;
  size_t at = response.find("\r\n\r\n") + 4;
  if (whole) *whole = false;
  while (at < response.size()) {
    const size_t line = response.find("\r\n", at);
    if (line == std::string::npos) break;
    const size_t n = std::stoul(response.substr(at, line - at), nullptr, 16);
    if (!n && whole) *whole = response.substr(line, 4) == "\r\n\r\n";
    if (!n) break;
    out += response.substr(line + 2, n);
    at = line + 2 + n + 2;
  }
  return out;
}

size_t open_files() {
  size_t n = 0;
  DIR* d = opendir("/proc/self/fd");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}
size_t threads() {
  size_t n = 0;
  DIR* d = opendir("/proc/self/task");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}
double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
bool wait_for(const std::function<bool()>& what, int ms = kForgottenMs) {
  for (const auto end = Clock::now() + std::chrono::milliseconds(ms); Clock::now() < end;
       std::this_thread::sleep_for(std::chrono::milliseconds(2)))
    if (what()) return true;
  return what();
}
struct MoreFiles {  // for as long as it lives
  rlimit before{};
  bool enough;
  explicit MoreFiles(rlim_t n) {
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit now = {std::max(before.rlim_cur, std::min(n, before.rlim_max)), before.rlim_max};
    enough = now.rlim_cur >= n && setrlimit(RLIMIT_NOFILE, &now) == 0;
  }
  ~MoreFiles() { setrlimit(RLIMIT_NOFILE, &before); }
};

// Answers by path: /keep hands the exchange to the test, /echo says what came, others are 404.
struct Served {
  Http http;
  std::string why;
  std::mutex mutex;
  std::condition_variable came;
  std::deque<X> kept;
  std::atomic<size_t> calls{0};

  explicit Served(const HttpOptions& given = {}) {
    HttpOptions options = given;
    options.port = 0;
    const bool started = http.start(options, [this](X x) { take(std::move(x)); }, &why);
    INFO(why);
    REQUIRE(started);
    REQUIRE(http.port() > 0);
  }
  void take(X x) {
    ++calls;
    if (x->path.substr(0, 5) == "/keep") {
      const std::lock_guard<std::mutex> lock(mutex);
      kept.push_back(std::move(x));
      came.notify_all();
    } else if (x->path == "/echo") {
      std::string text = x->method + " " + x->path + " key " + std::to_string(x->key) + " [" + x->header("x-test") + "]";
      for (const auto& [name, value] : x->query) text += " " + name + "=" + value;
      x->reply(200, "text/plain", text + "\n" + x->body, {{"X-Answer", "yes"}});
    } else if (x->path == "/" || x->path == "/health") {
      x->reply(200, x->path == "/" ? "text/html; charset=utf-8" : "application/json", "<html></html>");
    } else if (x->path != "/drop") {
      x->reply(404, "application/json", "{}");
    }
  }
  X next() {
    std::unique_lock<std::mutex> lock(mutex);
    REQUIRE(came.wait_for(lock, std::chrono::milliseconds(kForgottenMs), [this] { return !kept.empty(); }));
    X x = std::move(kept.front());
    kept.pop_front();
    return x;
  }
  std::string ask(const std::string& request) {
    Talk t(http.port());
    t.say(request);
    shutdown(t.fd, SHUT_WR);
    t.to_end();
    return t.got;
  }
  int asked(const std::string& request) { return status(ask(request)); }
};

}  // namespace

TEST_CASE("requests come whole, and answers are theirs") {
  Served s;
  Talk t(s.http.port());
  t.say(get("/echo?a=1&b=%C3%A4+c&flag", "Host: localhost\r\nX-Test: hello\r\n"));
  std::string a = t.answer();
  CHECK(status(a) == 200);
  CHECK(body_of(a) == "GET /echo key 0 [hello] a=1 b=\xc3\xa4 c flag=\n");
  for (const char* line :
       {"X-Answer: yes\r\n", "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n", "Content-Type: text/plain\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n", "Referrer-Policy: no-referrer\r\n"}) {
    CAPTURE(line);
    CHECK(a.find(line) != std::string::npos);
  }
  CHECK(a.find("Access-Control") == std::string::npos);
  CHECK(a.find("Content-Security-Policy") == std::string::npos);
  // The same connection goes on: bodies of every size, in one piece and in single bytes, and in chunks.
  for (const size_t n : {size_t{0}, size_t{1}, size_t{1000}, size_t{100000}, size_t{3000000}}) {
    CAPTURE(n);
    std::string body(n, 'x');
    for (size_t i = 0; i < n; ++i) body[i] = static_cast<char>('a' + i * 7 % 26);
    t.say(post("/echo", body));
    CHECK(body_of(t.answer()) == "POST /echo key 0 []\n" + body);
  }
  for (const char c : post("/echo", "slowly")) t.say(std::string(1, c));
  CHECK(body_of(t.answer()) == "POST /echo key 0 []\nslowly");
  t.say(std::string("POST /echo HTTP/1.1\r\n") + kJson + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
  CHECK(body_of(t.answer()) == "POST /echo key 0 []\nabcdefg");
  t.say(std::string("POST /echo HTTP/1.1\r\n") + kJson + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  t.until("HTTP/1.1 100 Continue\r\n\r\n");
  t.got.clear();
  t.say("hello");
  CHECK(body_of(t.answer()) == "POST /echo key 0 []\nhello");
  // Several at once are answered in turn.
  t.say(get("/echo?n=1") + post("/echo", "two") + get("/echo?n=3") + get("/nowhere"));
  CHECK(body_of(t.answer()) == "GET /echo key 0 [] n=1\n");
  CHECK(body_of(t.answer()) == "POST /echo key 0 []\ntwo");
  CHECK(body_of(t.answer()) == "GET /echo key 0 [] n=3\n");
  CHECK(status(t.answer()) == 404);
  CHECK(s.http.connections() == 1);
  CHECK(s.http.body_bytes() == 0);
  CHECK(s.asked(get("/drop")) == 500);
  // HEAD is GET without its body.
  a = s.ask("HEAD /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(status(a) == 200);
  CHECK(a.find("Content-Length: 19\r\n") != std::string::npos);
  CHECK(body_of(a).empty());
  a = s.ask(get("/"));
  CHECK(a.find("Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
               "connect-src 'self'; ") != std::string::npos);
}

TEST_CASE("an answer may come later, from any thread, and once") {
  Served s;
  Talk t(s.http.port());
  t.say(post("/keep", "body") + get("/echo?n=2"));  // the second waits for its turn, and nothing spins meanwhile
  X x = s.next();
  CHECK(x->body == "body");
  CHECK(s.http.body_bytes() == 4);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(cpu_seconds() - before < 0.2);
  CHECK_FALSE(t.more(0));
  CHECK_FALSE(x->gone());
  CHECK(x->header("host") == "");
  std::thread other([&] {
    x->reply(201, "application/json", "{\"a\":1}", {{"X-More", "1"}});
    x->reply(200, "text/plain", "again");
    x->begin("text/plain");
    x->write("more");
    x->end();
  });
  other.join();
  const std::string a = t.answer();
  CHECK(status(a) == 201);
  CHECK(a.find("X-More: 1\r\n") != std::string::npos);
  CHECK(body_of(a) == "{\"a\":1}");
  CHECK(body_of(t.answer()) == "GET /echo key 0 [] n=2\n");
  CHECK(wait_for([&] { return x->pending() == 0; }));
  CHECK_FALSE(x->gone());
  x->free_body();
  CHECK(s.http.body_bytes() == 0);
  // Dropped: an error, on a connection that goes on; within a stream it is cut, so that nobody takes it for whole.
  t.say(get("/keep"));
  x = s.next();
  x.reset();
  CHECK(status(t.answer()) == 500);
  t.say(get("/keep"));
  x = s.next();
  x->begin("text/event-stream");
  x->write("data: 1\n\n");
  t.until("data: 1");
  x.reset();
  t.to_end();
  bool whole = true;
  CHECK(unchunked(t.got, &whole) == "data: 1\n\n");
  CHECK_FALSE(whole);
}

TEST_CASE("streams: each piece as it comes") {
  Served s;
  Talk t(s.http.port());
  t.say(get("/keep"));
  X x = s.next();
  x->begin("text/event-stream", {{"X-More", "2"}});
  t.until("\r\n\r\n");  // the head before anything is written
  CHECK(t.got.find("X-More: 2\r\n") != std::string::npos);
  CHECK(t.got.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string piece = "data: " + std::to_string(i) + "\n\n";
    x->write(piece);
    all += piece;
    t.until(piece);
  }
  CHECK(wait_for([&] { return x->pending() == 0; }));
  x->write("");
  x->end();
  x->write("after the end");
  t.until("\r\n0\r\n\r\n");
  bool whole = false;
  CHECK(unchunked(t.got, &whole) == all);
  CHECK(whole);
  CHECK_FALSE(x->gone());
  t.got.clear();
  // From another thread, all at once, on the same connection; and to HTTP/1.0, until the connection ends.
  for (const char* version : {"1.1", "1.0"}) {
    t.say(std::string("GET /keep HTTP/") + version + "\r\nHost: localhost\r\n\r\n");
    X y = s.next();
    all.clear();
    for (int i = 0; i < 3000; ++i) all += "piece " + std::to_string(i) + ";";
    std::thread other([&] {
      y->begin("text/plain");
      for (size_t at = 0; at < all.size(); at += 11) y->write(std::string_view(all).substr(at, 11));
      y->end();
    });
    if (version[2] == '1')
      t.until("\r\n0\r\n\r\n");
    else
      t.to_end();
    other.join();
    CHECK((version[2] == '1' ? unchunked(t.got) : body_of(t.got)) == all);
    t.got.clear();
  }
  // HEAD of a stream has no body; who would write it hears that nobody listens.
  Talk h(s.http.port());
  h.say("HEAD /keep HTTP/1.1\r\nHost: localhost\r\n\r\n");
  x = s.next();
  x->begin("text/plain");
  h.until("\r\n\r\n");
  CHECK(wait_for([&] { return x->gone(); }));
  h.got.clear();
  h.say(get("/echo"));
  CHECK(status(h.answer()) == 200);
}

TEST_CASE("a slow reader: what waits is counted, and its writer is told") {
  Served s;
  Talk t(s.http.port(), 4096);
  t.say(get("/keep"));
  X x = s.next();
  std::atomic<int> told{0};
  x->begin("application/octet-stream");
  const std::string piece(10000, 'x');
  size_t written = 0;
  for (; x->pending() <= 6 << 20; written += piece.size()) x->write(piece);  // more than sockets hold
  CHECK(x->pending() <= written);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const size_t stuck = x->pending();
  CHECK(stuck > 256 << 10);
  x->on_change([&] { ++told; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(x->pending() == stuck);
  CHECK(told == 0);
  while (x->pending() > 64 << 10) REQUIRE(t.more());
  CHECK(wait_for([&] { return told == 1; }));
  // It was not asked for again: nobody is told of the next fall, until he asks; then at once.
  auto fill = [&] {
    for (; x->pending() <= 6 << 20; written += piece.size()) x->write(piece);
  };
  fill();
  while (x->pending() > 64 << 10) REQUIRE(t.more());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(told == 1);
  std::atomic<bool> elsewhere{false};
  x->on_change([&, me = std::this_thread::get_id()] { elsewhere = std::this_thread::get_id() != me, ++told; });
  CHECK(wait_for([&] { return told == 2; }));
  CHECK(elsewhere);
  fill();
  x->on_change([&] { ++told; });  // asked while it is high: when it falls
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(told == 2);
  while (x->pending() > 64 << 10) REQUIRE(t.more());
  CHECK(wait_for([&] { return told == 3; }));
  x->end();
  t.until("\r\n0\r\n\r\n");
  CHECK(unchunked(t.got).size() == written);
  CHECK(wait_for([&] { return x->pending() == 0; }));
  CHECK(told == 3);
}

TEST_CASE("who goes away is noticed, wherever his request is") {
  HttpOptions options;
  options.idle_seconds = 600;
  Served s(options);
  for (const bool half : {false, true})
    for (const bool streaming : {false, true})
      for (const bool pipelined : {false, true}) {
        CAPTURE(half, streaming, pipelined);
        Talk t(s.http.port());
        t.say(get("/keep") + (pipelined ? get("/echo") : ""));
        X x = s.next();
        std::atomic<int> told{0};
        x->on_change([&] { ++told; });
        if (streaming) {
          x->begin("text/event-stream");
          x->write("data: 1\n\n");
          t.until("data: 1");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK_FALSE(x->gone());
        if (half)
          shutdown(t.fd, SHUT_WR);
        else
          t.hang_up();
        CHECK(wait_for([&] { return told == 1; }));
        CHECK(x->gone());
        x->write("nobody hears");
        x->reply(200, "text/plain", "nobody hears");
        x->end();
        CHECK(x->pending() == 0);
        std::atomic<int> late{0};
        x->on_change([&] { ++late; });
        CHECK(wait_for([&] { return late == 1; }));
        CHECK(told == 1);
        x.reset();
        if (half) t.to_end();
      }
  // In the midst of what he does not take.
  Talk t(s.http.port(), 4096);
  t.say(get("/keep"));
  X x = s.next();
  std::atomic<int> told{0};
  x->begin("text/plain");
  x->write(std::string(8 << 20, 'x'));
  x->on_change([&] { ++told; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  t.hang_up();
  CHECK(wait_for([&] { return told == 1; }));
  CHECK(x->gone());
  CHECK(x->pending() == 0);
  // Whoever half-closes after a request that is answered at once has his answer.
  for (int i = 0; i < 50; ++i) CHECK(s.asked(get("/echo")) == 200);
  CHECK(wait_for([&] { return s.http.connections() == 0; }));
}

TEST_CASE("who may ask: hosts, origins, sites") {
  HttpOptions options;
  options.hosts = {"box.example"};
  Served s(options);
  const std::string at = "localhost:" + std::to_string(s.http.port());
  for (const std::string& host :
       {std::string("localhost"), std::string("LocalHost"), std::string("127.0.0.1"), std::string("127.0.0.1:8080"), std::string("[::1]"),
        std::string("[::1]:80"), std::string("box.example"), std::string("BOX.example:1"), at}) {
    CAPTURE(host);
    CHECK(s.asked(get("/echo", "Host: " + host + "\r\n")) == 200);
  }
  for (const char* host : {"evil.example",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "localhost:",
                           "localhost:x",
                           "localhost:80:80",
                           "localhost:123456",
                           "",
                           "0.0.0.0",
                           "127.0.0.2",
                           "localhost@evil",
                           "[localhost]",
                           "[::1",
                           "[::1]x",
                           "::1",
                           "[127.0.0.1]",
                           "xbox.example",
                           "box.example.",
                           "[]",
                           "["}) {
    CAPTURE(host);
    const size_t calls = s.calls;
    CHECK(s.asked(get("/echo", std::string("Host: ") + host + "\r\n")) == 403);
    CHECK(s.asked(get("/", std::string("Host: ") + host + "\r\n")) == 403);
    CHECK(s.asked(post("/echo", "{}", std::string("Host: ") + host + "\r\nContent-Type: application/json\r\n")) == 403);
    CHECK(s.calls == calls);
  }
  CHECK(s.asked(get("/echo", "")) == 400);
  CHECK(s.asked("GET /echo HTTP/1.0\r\n\r\n") == 400);
  CHECK(s.asked(get("/echo", "Host: localhost\r\nHost: evil.example\r\n")) == 400);
  const std::string ours = "Host: " + at + "\r\nContent-Type: application/json\r\n";
  CHECK(s.asked(post("/echo", "{}", ours + "Origin: http://" + at + "\r\nSec-Fetch-Site: same-origin\r\n")) == 200);
  for (const std::string& origin : {std::string("http://evil.example"), std::string("null"), std::string(""), "ftp://" + at,
                                    std::string("http://localhost:1"), "http://" + at + ".evil.example", "http://evil@" + at}) {
    CAPTURE(origin);
    CHECK(s.asked(post("/echo", "{}", ours + "Origin: " + origin + "\r\n")) == 403);
    CHECK(s.asked(get("/echo", "Host: " + at + "\r\nOrigin: " + origin + "\r\n")) == 403);
    CHECK(s.asked("OPTIONS /echo HTTP/1.1\r\nHost: " + at + "\r\nOrigin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n\r\n") ==
          403);
  }
  for (const char* site : {"cross-site", "same-site", "x"}) {
    CHECK(s.asked(post("/echo", "{}", ours + "Sec-Fetch-Site: " + site + "\r\n")) == 403);
    CHECK(s.asked(get("/echo", "Host: " + at + "\r\nSec-Fetch-Site: " + site + "\r\n")) == 403);
    CHECK(s.asked(get("/", "Host: " + at + "\r\nSec-Fetch-Site: " + site + "\r\n")) == 200);  // a link
  }
  // All addresses: whichever one it was called by is right, names are not.
  options.address = "0.0.0.0";
  Served all(options);
  for (const char* host : {"192.168.1.7:8080", "10.0.0.1", "[fe80::1]", "box.example", "localhost"})
    CHECK(all.asked(get("/echo", std::string("Host: ") + host + "\r\n")) == 200);
  for (const char* host : {"evil.example", "10.0.0.1.evil.example", "[fe80::1%eth0]"})
    CHECK(all.asked(get("/echo", std::string("Host: ") + host + "\r\n")) == 403);
}

TEST_CASE("pages of other origins that may ask") {
  HttpOptions options;
  options.origins = {"https://chat.example", "http://localhost:3000"};
  Served s(options);
  for (const std::string& origin : options.origins) {
    std::string a = s.ask(post("/echo", "{}", std::string(kJson) + "Origin: " + origin + "\r\nSec-Fetch-Site: cross-site\r\n"));
    CHECK(status(a) == 200);
    CHECK(a.find("Access-Control-Allow-Origin: " + origin + "\r\n") != std::string::npos);
    CHECK(a.find("Vary: Origin\r\n") != std::string::npos);
    const size_t calls = s.calls;
    a = s.ask("OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: " + origin +
              "\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,x-stainless-os\r\n\r\n");
    CHECK(status(a) == 204);
    CHECK(s.calls == calls);
    CHECK(a.find("Access-Control-Allow-Origin: " + origin + "\r\n") != std::string::npos);
    CHECK(a.find("Access-Control-Allow-Headers: authorization,x-stainless-os\r\n") != std::string::npos);
    CHECK(a.find("Access-Control-Allow-Methods: GET, POST") != std::string::npos);
    CHECK(s.ask(post("/echo", "x", "Host: localhost\r\nOrigin: " + origin + "\r\n")).find("Access-Control-Allow-Origin: ") !=
          std::string::npos);
  }
  CHECK(s.asked(post("/echo", "{}", std::string(kJson) + "Origin: https://chat.example.evil\r\n")) == 403);
  CHECK(s.ask(get("/echo")).find("Access-Control-Allow-Origin") == std::string::npos);
  options.origins = {"*"};
  options.keys = {"secret"};
  Served any(options);
  CHECK(any.asked(get("/echo", "Host: localhost\r\nOrigin: https://anybody.example\r\n")) == 401);
  CHECK(any.asked(get("/echo", "Host: localhost\r\nOrigin: https://anybody.example\r\nAuthorization: Bearer secret\r\n")) == 200);
  options.keys.clear();
  Http none;
  std::string why;
  options.port = 0;
  CHECK_FALSE(none.start(options, [](const X&) {}, &why));
  CHECK(why == "pages of any origin (*) may ask only where keys are needed");
}

TEST_CASE("keys") {
  HttpOptions options;
  options.keys = {"first-key", "second", "second"};
  Served s(options);
  const std::string host = "Host: localhost\r\n";
  CHECK(body_of(s.ask(get("/echo", host + "Authorization: Bearer first-key\r\n"))) == "GET /echo key 0 []\n");
  CHECK(body_of(s.ask(get("/echo", host + "Authorization: bearer  second \r\n"))) == "GET /echo key 1 []\n");
  CHECK(body_of(s.ask(get("/echo", host + "X-Api-Key: second\r\n"))) == "GET /echo key 1 []\n");
  const size_t calls = s.calls;
  for (const char* line :
       {"", "Authorization: Bearer\r\n", "Authorization: Bearer \r\n", "Authorization: first-key\r\n", "Authorization: Basic first-key\r\n",
        "Authorization: Bearer first-ke\r\n", "Authorization: Bearer first-keyy\r\n", "Authorization: Bearer First-key\r\n",
        "X-Api-Key: \r\n", "X-Api-Key: secon\r\n", "Api-Key: second\r\n"}) {
    CAPTURE(line);
    const std::string a = s.ask(get("/echo", host + line));
    CHECK(status(a) == 401);
    CHECK(a.find("WWW-Authenticate: Bearer\r\n") != std::string::npos);
    CHECK(body_of(a).find("\"code\":\"invalid_api_key\"") != std::string::npos);
    CHECK(s.asked(post("/echo", "{}", std::string(kJson) + line)) == 401);
    CHECK(s.asked(get("/nowhere", host + line)) == 401);
    CHECK(s.asked(post("/", "{}", std::string(kJson) + line)) == 401);
  }
  CHECK(s.calls == calls);
  CHECK(s.asked(get("/echo", host + "X-Api-Key: second\r\nX-Api-Key: second\r\n")) == 400);
  CHECK(s.asked(get("/")) == 200);
  CHECK(s.asked(get("/health")) == 200);
  CHECK(s.asked("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n") == 200);
  CHECK(server::same_secret("", ""));
  CHECK(server::same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc"}) CHECK_FALSE(server::same_secret("abc", other));
  options.keys = {"a", ""};
  Http none;
  std::string why;
  CHECK_FALSE(none.start(options, [](const X&) {}, &why));
  CHECK(why == "a key is empty");
}

TEST_CASE("what is no request, or too large for one") {
  HttpOptions options;
  options.max_body = 100000;
  options.bodies_budget = 250000;
  Served s(options);
  const std::string plain = std::string("POST /echo HTTP/1.1\r\n") + kJson;
  const std::pair<std::string, int> refused[] = {
      {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nHost localhost\r\n\r\n", 400},
      {"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {get("/echo%00.html"), 400},
      {get("/echo?a=%00"), 400},
      {get("/echo x"), 400},
      {get("/echo?a= b"), 400},
      {get("/../etc/passwd"), 404},
      {get("//"), 404},
      {get("/" + std::string(90000, 'a')), 414},
      {get("/echo", "Host: localhost\r\nX: " + std::string(90000, 'a') + "\r\n"), 431},
      {plain + "Content-Length: -1\r\n\r\n", 400},
      {plain + "Content-Length: 5x\r\n\r\nhello", 400},
      {plain + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
      {plain + "Content-Length: 99999999999999999999999999\r\n\r\n", 413},
      {plain + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {plain + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {plain + "Transfer-Encoding: chunked\r\n\r\n5z\r\nhello\r\n0\r\n\r\n", 400},
      {plain + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n", 413},
      {plain + "Content-Length: 100001\r\n\r\n" + std::string(100001, 'x'), 413},
      {plain + "Content-Length: 100000000000\r\n\r\n", 413},
      {post("/echo", "{}", "Host: localhost\r\n"), 415},
      {post("/echo", "{}", "Host: localhost\r\nContent-Type: text/plain\r\n"), 415},
      {post("/echo", "{}", "Host: localhost\r\nContent-Type: application/json2\r\n"), 415},
      {post("/echo", "{}", "Host: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"), 415},
      {post("/echo", "", "Host: localhost\r\n"), 200},
      {post("/echo", "{}", "Host: localhost\r\nContent-Type: Application/JSON; charset=utf-8\r\n"), 200},
      {post("/echo", std::string(100000, 'x')), 200}};
  for (const auto& [request, expected] : refused) {
    CAPTURE(request.substr(0, 120));
    Talk t(s.http.port());
    t.say(request);
    t.until("\r\n\r\n");
    CHECK(status(t.got) == expected);
  }
  for (const std::string& request : {std::string("GET /\r\n\r\n"), std::string("GET / FTP/1.1\r\n\r\n"), std::string(90000, 'a'),
                                     std::string(90000, '\0'), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 13)}) {
    CAPTURE(request.substr(0, 60));
    const int code = s.asked(request);
    CHECK((code == 0 || (code >= 400 && code < 506)));
  }
  // A body that never says how long it is; the connection ends.
  for (const bool many : {false, true}) {
    Talk t(s.http.port());
    t.say(plain + "Transfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = many ? "1\r\nx\r\n" : "ffff\r\n" + std::string(0xffff, 'x') + "\r\n";
    std::string block;
    while (block.size() < 60000) block += chunk;
    size_t sent = 0;
    while (sent < size_t{1} << 30 && t.say(block)) sent += block.size();
    CHECK(sent < size_t{1} << 30);
    t.more();
    CHECK(status(t.got) == 413);
  }
  // One that is a little too large is read to its end, and the connection goes on.
  Talk t(s.http.port());
  t.say(plain + "Transfer-Encoding: chunked\r\n\r\n30d40\r\n" + std::string(200000, 'x') + "\r\n0\r\n\r\n" + get("/echo"));
  const std::string a = t.answer();
  CHECK(status(a) == 413);
  CHECK(body_of(a).find("\"type\":\"invalid_request_error\"") != std::string::npos);
  CHECK(status(t.answer()) == 200);
  Talk expects(s.http.port());
  expects.say(plain + "Expect: 100-continue\r\nContent-Length: 200000\r\n\r\n");
  expects.until("\r\n\r\n");
  CHECK(status(expects.got) == 413);
  CHECK(wait_for([&] { return s.http.body_bytes() == 0; }));

  // All bodies together: those that are held, be they whole or not.
  Talk first(s.http.port()), second(s.http.port()), third(s.http.port());
  first.say(post("/keep", std::string(100000, 'x')));
  X x = s.next();
  second.say(plain + "Content-Length: 100000\r\n\r\n" + std::string(99999, 'x'));
  CHECK(wait_for([&] { return s.http.body_bytes() == 199999; }));
  third.say(post("/echo", std::string(60000, 'x')));
  const std::string full = third.answer();
  CHECK(status(full) == 503);
  CHECK(full.find("Retry-After: 1\r\n") != std::string::npos);
  third.say(plain + "Transfer-Encoding: chunked\r\n\r\nea60\r\n" + std::string(60000, 'x') + "\r\n0\r\n\r\n");
  CHECK(status(third.answer()) == 503);
  third.say(post("/echo", std::string(50000, 'x')));
  CHECK(status(third.answer()) == 200);
  x->free_body();
  third.say(post("/echo", std::string(60000, 'x')));
  CHECK(status(third.answer()) == 200);
  second.hang_up();
  // Who is slow with his holds room for so long, and no longer where others ask for it.
  CHECK(wait_for([&] { return s.http.body_bytes() == 0; }));
  Talk slow(s.http.port()), later(s.http.port());
  for (Talk* one : {&slow, &later}) {
    const size_t before = s.http.body_bytes();
    one->say(plain + "Content-Length: 100000\r\n\r\n" + std::string(99999, 'x'));
    CHECK(wait_for([&] { return s.http.body_bytes() == before + 99999; }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3100));
  Talk fifth(s.http.port());
  fifth.say(post("/echo", std::string(90000, 'x')));
  CHECK(status(fifth.answer()) == 503);
  slow.to_end();
  fifth.say(post("/echo", std::string(90000, 'x')));
  CHECK(status(fifth.answer()) == 200);
  CHECK(s.http.body_bytes() == 99999);
  later.say("x");
  CHECK(status(later.answer()) == 200);
  CHECK(wait_for([&] { return s.http.body_bytes() == 0; }));
}

TEST_CASE("those who are slow are waited for so long and no longer") {
  HttpOptions options;
  options.request_seconds = 1;
  options.idle_seconds = 2;
  Served s(options);
  const auto begin = Clock::now();
  Talk silent(s.http.port()), line(s.http.port()), head(s.http.port()), body(s.http.port()), idle(s.http.port()), good(s.http.port()),
      stuck(s.http.port(), 4096);
  line.say("GET /ec");
  head.say("GET /echo HTTP/1.1\r\nHost: localhost\r\nX: ");
  body.say(std::string("POST /echo HTTP/1.1\r\n") + kJson + "Content-Length: 9000\r\n\r\n");
  idle.say(get("/echo"));
  idle.until("\r\n\r\n");
  good.say(get("/keep"));
  X x = s.next();
  stuck.say(get("/keep"));
  X y = s.next();
  y->begin("text/plain");
  y->write(std::string(16 << 20, 'x'));
  std::map<Talk*, double> ended;
  while (ended.size() < 5 && Clock::now() - begin < std::chrono::seconds(10))
    for (Talk* t : {&silent, &line, &head, &body, &idle}) {
      if (t != &silent && t != &idle) t->say("x");  // a little now and then
      t->more(20);
      if (t->over) ended.emplace(t, std::chrono::duration<double>(Clock::now() - begin).count());
    }
  REQUIRE(ended.size() == 5);
  for (Talk* t : {&silent, &line, &head, &body}) CHECK((ended[t] > 0.9 && ended[t] < 1.9));
  CHECK((ended[&idle] > 1.7 && ended[&idle] < 4));
  CHECK(wait_for([&] { return y->gone(); }, 6000));
  CHECK(y->pending() == 0);
  // An answer is waited for however long it takes.
  CHECK_FALSE(x->gone());
  x->reply(200, "text/plain", "at last");
  CHECK(body_of(good.answer()) == "at last");
}

TEST_CASE("two thousand who ask nothing keep nobody out, and cost nothing") {
  const MoreFiles files(5000);
  if (!files.enough) {
    WARN("skipped: no 5000 open files for a process");
    return;
  }
  HttpOptions options;
  options.max_connections = 500;
  Served s(options);
  Talk stream(s.http.port());
  stream.say(get("/keep"));
  X x = s.next();
  x->begin("text/event-stream");
  Talk kept_alive(s.http.port());
  kept_alive.say(get("/echo"));
  kept_alive.answer();
  std::vector<Talk> many;
  for (int i = 0; i < 2000; ++i) {
    many.emplace_back(s.http.port());
    many.back().say(i % 3 == 0 ? ""
                    : i % 3 == 1
                        ? "GET /echo HTTP/1.1\r\nHost: loc"
                        : "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\nhalf");
    if (i % 200 == 0) CHECK(s.asked(get("/echo")) == 200);
  }
  const auto begin = Clock::now();
  for (int i = 0; i < 100; ++i) CHECK(s.asked(post("/echo", "hello")) == 200);
  CHECK(Clock::now() - begin < std::chrono::seconds(5));
  CHECK(s.http.connections() <= 500);
  size_t over = 0;
  for (Talk& t : many) {
    while (t.more(0)) {
    }
    over += t.over;
  }
  CHECK(over >= 1500);
  CHECK(over < 1700);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(cpu_seconds() - before < 0.2);
  x->write("still there");  // who waits for an answer is not put out
  stream.until("still there");
  many.clear();
  CHECK(wait_for([&] { return s.http.connections() <= 2; }));
}

TEST_CASE("many at a time, from several threads, with those who leave in between") {
  Served s;
  std::atomic<bool> stop{false};
  std::thread app([&] {  // answers what comes, in pieces or at once
    for (int i = 0; !stop; ++i) {
      X x;
      {
        std::unique_lock<std::mutex> lock(s.mutex);
        s.came.wait_for(lock, std::chrono::milliseconds(10), [&] { return !s.kept.empty(); });
        if (s.kept.empty()) continue;
        x = std::move(s.kept.front());
        s.kept.pop_front();
      }
      x->on_change([] {});
      if (i % 3 == 0) {
        x->reply(200, "text/plain", "whole " + x->body);
      } else if (i % 3 == 1) {
        x->begin("text/plain");
        for (int k = 0; k < 20; ++k) x->write("piece ");
        x->write(x->body);
        x->end();
      }
    }
  });
  std::vector<std::thread> clients;
  std::atomic<size_t> answers{0};
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&, k] {
      for (int i = 0; i < 100; ++i) {
        Talk t(s.http.port());
        const std::string mark = std::to_string(k) + "," + std::to_string(i) + ";";
        t.say(post("/keep", mark));
        if (i % 4 == 3) continue;  // goes at once
        while (t.got.find("\r\n0\r\n\r\n") == std::string::npos && t.got.find(mark) == std::string::npos &&
               t.got.find("no answer") == std::string::npos)
          if (!t.more()) break;
        if (t.got.find(mark) != std::string::npos || t.got.find("no answer") != std::string::npos) ++answers;
      }
    });
  for (auto& c : clients) c.join();
  stop = true;
  app.join();
  CHECK(answers == 300);
  CHECK(wait_for([&] {
    {
      const std::lock_guard<std::mutex> lock(s.mutex);
      s.kept.clear();  // of those that went with the last request of a thread it may come when nobody answers any more
    }
    return s.http.connections() == 0 && s.http.body_bytes() == 0;
  }));
}

TEST_CASE("refuse: no new ones; stop: at once, whoever is connected, and nothing is left") {
  const size_t files = open_files(), tasks = threads();
  for (int round = 0; round < 3; ++round) {
    auto s = std::make_unique<Served>();
    std::vector<Talk> clients;
    std::vector<X> kept;
    std::atomic<size_t> told{0};
    for (int i = 0; i < 40; ++i) {
      clients.emplace_back(s->http.port());
      Talk& t = clients.back();
      if (i % 5 == 0) {
        t.say("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\nhalf");
      } else if (i % 5 == 1) {
        t.say("GET /ec");
      } else {
        t.say(get("/keep") + get("/echo"));
        kept.push_back(s->next());
        kept.back()->on_change([&] { ++told; });
        if (i % 5 > 2) kept.back()->begin("text/plain");
        if (i % 5 > 3) kept.back()->write(std::string(5 << 20, 'x'));
      }
    }
    if (round == 1) {
      s->http.refuse();
      s->http.refuse();
      kept[0]->reply(200, "text/plain", "last");
      clients[2].until("last");
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(static_cast<uint16_t>(s->http.port()));
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      CHECK(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0);
      close(fd);
    }
    std::atomic<bool> write{true};
    std::thread writer([&] {
      while (write)
        for (X& x : kept)
          if (x->pending() < 1 << 20) x->write("x");
    });
    const auto begin = Clock::now();
    s->http.stop();
    CHECK(Clock::now() - begin < std::chrono::seconds(2));
    write = false;
    writer.join();
    for (X& x : kept) CHECK((x->gone() || &x == &kept[0]));
    CHECK(told == kept.size() - (round == 1));
    for (Talk& t : clients) t.to_end();
    int late = 0;
    kept[1]->on_change([&] { ++late; });
    CHECK(late == 1);
    CHECK(s->http.connections() == 0);
    s->http.stop();
    HttpOptions options;
    options.port = 0;
    REQUIRE(s->http.start(options, [&](X x) { s->take(std::move(x)); }, &s->why));  // and once more
    CHECK(s->asked(get("/echo")) == 200);
    if (round == 2) s.reset();
    kept.clear();
  }
  CHECK(open_files() == files);
  CHECK(wait_for([&] { return threads() == tasks; }));
}

TEST_CASE("start: what cannot be is said by name") {
  Served s;
  Http other;
  HttpOptions options;
  std::string why;
  const auto nobody = [](const X&) {};
  options.port = s.http.port();
  CHECK_FALSE(other.start(options, nobody, &why));
  CHECK(why == "127.0.0.1:" + std::to_string(s.http.port()) + ": Address already in use");
  options.port = 65536;
  CHECK_FALSE(other.start(options, nobody, &why));
  CHECK(why == "the port must be 0 to 65535, not 65536");
  options.port = 0;
  options.address = "example.com";
  CHECK_FALSE(other.start(options, nobody, &why));
  CHECK(why == "the address must be numeric or localhost, not example.com");
  CHECK_FALSE(s.http.start(options, nobody, &why));
  CHECK(why == "the server runs already");
  options.address = "192.0.2.1";
  CHECK_FALSE(other.start(options, nobody, &why));
  CHECK(why == "192.0.2.1:0: Cannot assign requested address");
  // A socket that listens already.
  options.listen_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(options.listen_fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(listen(options.listen_fd, 10) == 0);
  REQUIRE(other.start(options, [](const X& x) { x->reply(200, "text/plain", "given"); }, &why));
  Talk t(other.port());
  t.say(get("/x"));
  CHECK(body_of(t.answer()) == "given");
}
