// The assistant's page over real connections: what it serves, what it refuses, and that nothing that a client does costs more than is
// bounded.
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/catch2.h"
#include "web.h"

using assistant::Web;

namespace {

// One connection; whoever waits longer than this has been forgotten.
constexpr int kForgottenMs = 20000;

struct Talk {
  int fd = -1;
  std::string got;
  bool over = false;

  explicit Talk(const Web& web, int receive_buffer = 0) {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(web.port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  Talk(Talk&& other) noexcept : fd(other.fd), got(std::move(other.got)), over(other.over) { other.fd = -1; }
  ~Talk() {
    if (fd >= 0) close(fd);
  }
  Talk& operator=(Talk&& other) noexcept {
    std::swap(fd, other.fd), std::swap(got, other.got), std::swap(over, other.over);
    return *this;
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
    char buffer[4096];
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
  std::vector<std::string> events() const {  // without ids
    std::vector<std::string> all;
    for (size_t at = 0; (at = got.find("data: ", at)) != std::string::npos;) {
      const size_t end = got.find("\n\n", at);
      if (end == std::string::npos) break;
      all.push_back(got.substr(at + 6, end - at - 6));
      at = end;
    }
    return all;
  }
};

// The request with the token in its address, as the page's own have it.
std::string with_token(const Web& web, std::string request) {
  const size_t at = request.find(" HTTP/");
  const bool query = request.substr(0, std::min(at, request.size())).find('?') != std::string::npos;
  return at == std::string::npos ? request : request.insert(at, (query ? "&token=" : "?token=") + web.token());
}
std::string ask_bare(const Web& web, const std::string& request) {
  Talk t(web);
  t.say(request);
  t.to_end();
  return t.got;
}
std::string ask(const Web& web, const std::string& request) { return ask_bare(web, with_token(web, request)); }
int status(const std::string& response) { return response.substr(0, 9) == "HTTP/1.1 " ? std::stoi(response.substr(9, 3)) : 0; }
std::string get(const std::string& path, const std::string& headers = "Host: localhost\r\n") {
  return "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n";
}
std::string post(const std::string& body, const std::string& headers = "Host: localhost\r\nContent-Type: text/plain; charset=utf-8\r\n") {
  return "POST /request HTTP/1.1\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string event(const std::string& kind, const std::string& text) { return "{\"event\":\"" + kind + "\",\"text\":\"" + text + "\"}"; }

Talk listen_to(const Web& web, const std::string& headers = "Host: localhost\r\n") {
  Talk t(web);
  t.say(with_token(web, "GET /events HTTP/1.0\r\n" + headers + "\r\n"));  // 1.0: not in chunks
  t.until("\r\n\r\n");
  return t;
}

size_t open_files() {
  size_t n = 0;
  DIR* d = opendir("/proc/self/fd");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}

struct Served : Web {
  std::string why;
  std::mutex mutex;
  std::vector<std::string> taken;
  bool busy = false;
  Served() {
    on_request([this](std::string text) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!busy) taken.push_back(std::move(text));
      return !busy;
    });
    REQUIRE(start(0, &why));
    REQUIRE(port() > 0);
  }
  ~Served() { stop(); }
};

}  // namespace

TEST_CASE("the page, and what is not there") {
  Served web;
  const std::string page = ask(web, get("/"));
  CHECK(status(page) == 200);
  CHECK(page.find("<title>linnet assistant</title>") != std::string::npos);
  CHECK(page.find("Content-Security-Policy: default-src 'none'") != std::string::npos);
  const std::string body = page.substr(page.find("\r\n\r\n") + 4);
  CHECK(page.find("Content-Length: " + std::to_string(body.size()) + "\r\n") != std::string::npos);
  CHECK(body.size() < 30000);
  for (const char* outside :
       {"src=\"http", "href=\"http", "url(http", "@import", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("}) {
    CAPTURE(outside);
    CHECK(body.find(outside) == std::string::npos);
  }
  const std::string head = ask(web, "HEAD / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  CHECK(head.find("Content-Length: " + std::to_string(body.size())) != std::string::npos);
  CHECK(head.substr(head.size() - 4) == "\r\n\r\n");
  CHECK(status(ask(web, get("/?x=1"))) == 200);

  const std::pair<std::string, int> refused[] = {{get("/favicon.ico"), 404},
                                                 {get("//"), 404},
                                                 {get("/../etc/passwd"), 404},
                                                 {get("/request"), 405},
                                                 {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405},
                                                 {"HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
                                                 {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505},
                                                 {"GET / HTTP/1.1\r\nHost localhost\r\n\r\n", 400}};
  for (const auto& [request, expected] : refused) {
    CAPTURE(request.substr(0, 60));
    CHECK(status(ask(web, request)) == expected);
  }
  // What is no request, or too long for one, ends with an error or a cut; memory for it is bounded.
  for (const std::string& request : {std::string("GET /\r\n\r\n"), std::string("GET / FTP/1.1\r\n\r\n"), get("/" + std::string(90000, 'a')),
                                     get("/", "Host: localhost\r\nX: " + std::string(90000, 'a') + "\r\n"), std::string(90000, 'a'),
                                     std::string(90000, '\0'), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 13)}) {
    CAPTURE(request.substr(0, 60));
    const int s = status(ask(web, request));
    CHECK((s == 0 || (s >= 400 && s < 506)));
  }
  Talk endless(web);
  endless.say("GET / HTTP/1.1\r\nHost: localhost\r\n");
  int lines = 0;
  while (lines < 100000 && endless.say("X: " + std::string(200, 'a') + "\r\n")) ++lines;
  CHECK(lines < 100000);
}

TEST_CASE("only pages of this very server may ask") {
  Served web;
  const std::string at = "localhost:" + std::to_string(web.port());
  for (const std::string& host :
       {std::string("localhost"), std::string("LocalHost"), std::string("127.0.0.1"), std::string("127.0.0.1:8080"), at}) {
    CAPTURE(host);
    CHECK(status(ask(web, get("/", "Host: " + host + "\r\n"))) == 200);
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:", "localhost:x",
                           "localhost:80:80", "localhost:123456", "", "0.0.0.0", "127.0.0.2", "localhost@evil"}) {
    CAPTURE(host);
    CHECK(status(ask(web, get("/", std::string("Host: ") + host + "\r\n"))) == 403);
    CHECK(status(ask(web, post("hello", std::string("Host: ") + host + "\r\nContent-Type: text/plain\r\n"))) == 403);
    CHECK(status(ask(web, get("/events", std::string("Host: ") + host + "\r\n"))) == 403);
  }
  CHECK(status(ask(web, get("/", ""))) == 400);
  CHECK(status(ask(web, get("/", "Host: localhost\r\nHost: evil.example\r\n"))) == 400);
  const std::string ours = "Host: " + at + "\r\nContent-Type: text/plain\r\n";
  CHECK(status(ask(web, post("hello", ours + "Origin: http://" + at + "\r\nSec-Fetch-Site: same-origin\r\n"))) == 202);
  for (const std::string& origin : {std::string("http://evil.example"), std::string("null"), std::string("https://" + at),
                                    std::string("http://localhost:1"), std::string("http://" + at + ".evil.example")}) {
    CAPTURE(origin);
    CHECK(status(ask(web, post("hello", ours + "Origin: " + origin + "\r\n"))) == 403);
    CHECK(status(ask(web, get("/events", "Host: " + at + "\r\nOrigin: " + origin + "\r\n"))) == 403);
  }
  for (const char* site : {"cross-site", "same-site"}) {
    CHECK(status(ask(web, post("hello", ours + "Sec-Fetch-Site: " + site + "\r\n"))) == 403);
    CHECK(status(ask(web, get("/events", "Host: " + at + "\r\nSec-Fetch-Site: " + site + "\r\n"))) == 403);
    CHECK(status(ask(web, get("/", "Host: " + at + "\r\nSec-Fetch-Site: " + site + "\r\n"))) == 200);  // a link
  }
  CHECK(web.taken == std::vector<std::string>{"hello"});
}

TEST_CASE("only who knows the token may ask") {
  Served web;
  CHECK(web.token().size() == 32);
  CHECK(web.address() == "http://127.0.0.1:" + std::to_string(web.port()) + "/?token=" + web.token());
  std::string near = web.token(), half = near.substr(0, 16), longer = near + "0";
  near.back() = near.back() == '0' ? '1' : '0';
  web.publish(event("user", "a secret"));
  for (const std::string& query : {std::string(), std::string("?"), std::string("?token"), std::string("?token="), "?token=" + near,
                                   "?token=" + half, "?token=" + longer, "?tokens=" + web.token(), "?x=" + web.token()})
    for (const char* path : {"/", "/events", "/request", "/nowhere"}) {
      CAPTURE(path, query);
      CHECK(status(ask_bare(web, get(path + query))) == 403);
      CHECK(ask_bare(web, get(path + query)).find("a secret") == std::string::npos);
      std::string request = post("hello");
      CHECK(status(ask_bare(web, request.replace(5, 8, path + query))) == 403);
    }
  CHECK(web.taken.empty());
  CHECK(status(ask(web, post("hello"))) == 202);
  const std::string first = web.token();
  web.stop();
  REQUIRE(web.start(0, &web.why));
  CHECK(web.token() != first);
}

TEST_CASE("a thousand who finish no request keep nobody out, and are waited for so long and no longer") {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlimit more = {std::min<rlim_t>(4096, files.rlim_max), files.rlim_max};
  if (more.rlim_cur < 2200 || setrlimit(RLIMIT_NOFILE, &more) != 0) {
    WARN("skipped: no 2200 open files for a process");
    return;
  }
  {
    Served web;
    std::vector<Talk> half;
    for (int i = 0; i < 1000; ++i) {
      half.emplace_back(web);
      half.back().say(i % 3 == 0   ? ""
                      : i % 3 == 1 ? "GET / HTTP/1.1\r\nHost: loc"
                                   : "POST /request HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf");
    }
    const auto begin = std::chrono::steady_clock::now();
    CHECK(status(ask(web, get("/"))) == 200);
    CHECK(status(ask(web, post("hello"))) == 202);
    Talk listener = listen_to(web);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
    size_t over = 0;
    for (Talk& t : half) {
      while (t.more(0)) {
      }
      over += t.over;
    }
    CHECK(over >= half.size() - Web::kMaxWaiting - 2);
    // Who says a little now and then, so that he is never silent for long, is given up too, in his head or in his body.
    const auto slow = std::chrono::steady_clock::now();
    Talk head(web), body(web);
    head.say("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    body.say(with_token(web, "POST /request HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\n"));
    while (!(head.over && body.over) && std::chrono::steady_clock::now() - slow < std::chrono::seconds(3 * Web::kRequestSeconds))
      for (Talk* t : {&head, &body}) t->say("x"), t->more(200);
    CHECK((head.over && body.over));
    CHECK(std::chrono::steady_clock::now() - slow >= std::chrono::seconds(Web::kRequestSeconds));
    web.publish(event("user", "still there"));
    listener.until("still there");
  }
  setrlimit(RLIMIT_NOFILE, &files);
}

TEST_CASE("typed requests") {
  Served web;
  const std::string longest(Web::kMaxRequest, 'a');
  CHECK(status(ask(web, post("  set a timer for ten minutes\n"))) == 202);
  CHECK(status(ask(web, post("wie sp\xc3\xa4t ist es? \xf0\x9f\x95\x90"))) == 202);
  CHECK(status(ask(web, post(longest))) == 202);
  CHECK(web.taken == std::vector<std::string>{"set a timer for ten minutes", "wie sp\xc3\xa4t ist es? \xf0\x9f\x95\x90", longest});
  web.taken.clear();
  for (const std::string& bad : {std::string("\xff"), std::string("\xc3"), std::string("\xc0\xaf"), std::string("\xe0\x80\xaf"),
                                 std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80"), std::string("\xf0\x80\x80\xaf"),
                                 std::string("\xc2\x85"), std::string("\x80"), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("a\x7f"
                                             "b"),
                                 std::string(""), std::string(" \r\n")}) {
    CAPTURE(bad);
    CHECK(status(ask(web, post(bad))) == 400);
  }
  CHECK(status(ask(web, post(longest + "a"))) == 413);
  const std::string plain = "POST /request HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
  const std::pair<std::string, int> refused[] = {{plain + "\r\nhello", 400},
                                                 {plain + "Content-Length: -1\r\n\r\n", 400},
                                                 {plain + "Content-Length: 5x\r\n\r\nhello", 400},
                                                 {plain + "Content-Length: 99999999999999999999999999\r\n\r\n", 413},
                                                 {plain + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
                                                 {plain + "Transfer-Encoding: chunked\r\n\r\n5z\r\nhello\r\n0\r\n\r\n", 400},
                                                 {post("hello", "Host: localhost\r\nContent-Type: application/json\r\n"), 415},
                                                 {post("hello", "Host: localhost\r\n"), 415}};
  for (const auto& [request, expected] : refused) {
    CAPTURE(request);
    CHECK(status(ask(web, request)) == expected);
  }
  web.busy = true;
  CHECK(status(ask(web, post("hello"))) == 503);
  web.busy = false;
  CHECK(web.taken.empty());

  Talk slow(web);  // in single bytes
  for (const char c : with_token(web, post("hello"))) slow.say(std::string(1, c));
  slow.to_end();
  CHECK(status(slow.got) == 202);
  CHECK(web.taken == std::vector<std::string>{"hello"});

  CHECK(status(ask(web, post(std::string(900000, 'a')))) == 413);
  CHECK(status(ask(web, post(std::string(3000000, 'a')))) != 202);
  CHECK(status(ask(web, plain + "Transfer-Encoding: chunked\r\n\r\n5\r\nagain\r\n0\r\n\r\n")) == 202);
  CHECK(web.taken == std::vector<std::string>{"hello", "again"});
}

TEST_CASE("events: as they come, and again for who listens later") {
  Served web;
  web.publish(event("user", "one"));
  Talk first = listen_to(web), second = listen_to(web);
  web.publish(event("token", "Ti"));
  first.until(event("token", "Ti"));
  web.publish(event("token", "mer"));
  web.publish(event("tool", "x"));
  for (Talk* t : {&first, &second}) {
    t->until(event("tool", "x"));
    CHECK(t->events() == std::vector<std::string>{"{\"event\":\"hello\"}", event("user", "one"), event("token", "Ti"),
                                                  event("token", "mer"), event("tool", "x")});
  }
  // What is seen later is the conversation, without what newer events hold.
  web.publish(event("answer", "Timer"));
  web.publish(event("user", "two"));
  web.publish(event("token", "cut short"));
  web.publish(event("interrupted", ""));
  for (const char* state : {"phase", "stats", "home"}) {
    web.publish(event(state, "old"));
    web.publish(event(state, "new"));
  }
  web.publish(event("partial", "thr"));
  web.publish(event("partial", "three"));
  web.publish(event("user", "three"));
  web.publish(event("answer", "Three."));
  const std::vector<std::string> kept = {"{\"event\":\"hello\"}",  event("user", "one"),   event("tool", "x"),
                                         event("answer", "Timer"), event("user", "two"),   event("token", "cut short"),
                                         event("interrupted", ""), event("phase", "new"),  event("stats", "new"),
                                         event("home", "new"),     event("user", "three"), event("answer", "Three.")};
  Talk late = listen_to(web);
  late.until(event("answer", "Three."));
  CHECK(late.events() == kept);

  // Cut off, a page goes on after the last id it saw; an id of another run starts over.
  const size_t at = late.got.rfind("id: ");
  const std::string last = late.got.substr(at + 4, late.got.find('\n', at) - at - 4);
  web.publish(event("user", "four"));
  Talk again = listen_to(web, "Host: localhost\r\nLast-Event-ID: " + last + "\r\n");
  again.until("four");
  CHECK(again.events() == std::vector<std::string>{event("user", "four")});
  for (const std::string& id : {std::string("1-1"), last.substr(0, last.find('-')), last + "x", last + "00000", std::string(4000, '1')}) {
    CAPTURE(id.substr(0, 40));
    Talk other = listen_to(web, "Host: localhost\r\nLast-Event-ID: " + id + "\r\n");
    other.until("four");
    CHECK(other.events().size() == kept.size() + 1);
  }
  // No event: they would break the stream, or fill the memory.
  web.publish("");
  web.publish("{\"event\":\"user\",\"text\":\"a\n\ndata: b\"}");
  web.publish(event("user", std::string(200000, 'a')));
  web.publish("no JSON");
  again.until("no JSON");
  CHECK(again.events() == std::vector<std::string>{event("user", "four"), "no JSON"});
}

TEST_CASE("a listener that does not read is dropped, the others hear on") {
  Served web;
  Talk stuck(web, 4096), good = listen_to(web);
  stuck.say(with_token(web, "GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n"));
  stuck.until("hello");
  // More than the kernel holds for a connection and the server for all: 24 MB, while the other one keeps up.
  const std::string much(60000, 'x');
  for (int i = 0; i < 400; ++i) {
    const std::string mark = "mark " + std::to_string(i) + ".";
    web.publish(event("user", mark + much));
    good.until(mark);
    good.until("\n\n");
    good.got.erase(0, good.got.find(mark));
  }
  web.publish(event("user", "the end"));
  good.until("the end");
  size_t n = stuck.got.size();
  while (stuck.more()) {
    n += stuck.got.size();
    stuck.got.clear();
  }
  CHECK(stuck.over);
  CHECK(n < 20000000);
  // A new one gets what is kept, no more.
  Talk late = listen_to(web);
  late.until("the end");
  CHECK(late.got.size() < Web::kMaxEventBytes + 100000);
}

TEST_CASE("events from several threads: each once, each thread's in order") {
  Served web;
  constexpr int kThreads = 4, kEach = 450;
  static_assert(kThreads * kEach < Web::kMaxEvents);
  Talk t = listen_to(web);
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.emplace_back([&web, k] {
      for (int i = 0; i < kEach; ++i) web.publish(event("user", std::to_string(k) + "," + std::to_string(i)));
    });
  std::vector<Talk> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(listen_to(web));
    CHECK(status(ask(web, post("request " + std::to_string(i)))) == 202);
  }
  for (auto& thread : threads) thread.join();
  web.publish(event("tool", "last"));
  others.push_back(std::move(t));
  for (Talk& o : others) {
    o.until("last");
    std::map<int, int> next;
    const std::vector<std::string> all = o.events();
    for (const std::string& e : all) {
      int k = 0, i = 0;
      if (sscanf(e.c_str(), "{\"event\":\"user\",\"text\":\"%d,%d\"}", &k, &i) == 2) REQUIRE(next[k]++ == i);
    }
    CHECK(all.size() == kThreads * kEach + 2);
  }
  CHECK(web.taken.size() == 5);
}

TEST_CASE("connections are bounded, and room comes back") {
  const size_t before = open_files();
  {
    Served web;
    std::vector<Talk> listeners, silent;
    for (size_t i = 0; i < Web::kMaxListeners; ++i) listeners.push_back(listen_to(web));
    listeners.push_back(listen_to(web));  // one more: in place of the oldest, whose page may have gone long ago
    listeners.front().to_end();
    listeners.erase(listeners.begin());
    CHECK(status(ask(web, post("hello"))) == 202);
    for (size_t i = 0; i < 2 * Web::kMaxClients; ++i) silent.emplace_back(web);
    for (Talk& t : silent) t.say("GET / HT");
    CHECK(open_files() <= before + silent.size() + listeners.size() + Web::kMaxClients + 8);
    silent.clear();
    CHECK(status(ask(web, post("hello"))) == 202);
    web.publish(event("user", "still there"));
    for (Talk& t : listeners) t.until("still there");
  }
  CHECK(open_files() == before);
}

TEST_CASE("stop: at once, whoever is connected, and again") {
  const size_t before = open_files();
  {
    Served web;
    std::vector<Talk> clients;
    for (int i = 0; i < 5; ++i) clients.push_back(listen_to(web));
    for (int i = 0; i < 5; ++i) clients.emplace_back(web);
    for (int i = 0; i < 5; ++i) {
      clients.emplace_back(web);
      clients.back().say("POST /request HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf a");
    }
    std::atomic<bool> publish{true};
    std::thread publisher([&] {
      while (publish) web.publish(event("token", "x"));
    });
    const auto begin = std::chrono::steady_clock::now();
    std::thread other([&] { web.stop(); });
    other.join();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2500));  // half of what a silent client is waited for
    publish = false;
    publisher.join();
    for (Talk& t : clients) t.to_end();
    web.stop();
    web.publish(event("user", "nobody hears"));
    REQUIRE(web.start(0, &web.why));  // and once more
    Talk t = listen_to(web);
    t.until("nobody hears");
  }
  CHECK(open_files() == before);
}

TEST_CASE("start: what cannot be is said by name") {
  Served web;
  Web other;
  std::string why;
  const std::string port = std::to_string(web.port());
  CHECK_FALSE(other.start(web.port(), &why));
  CHECK(why == "the page at 127.0.0.1:" + port + ": Address already in use");
  CHECK_FALSE(other.start(65536, &why));
  CHECK(why == "the page's port must be 0 to 65535, not 65536");
  CHECK_FALSE(other.start(-1, &why));
  CHECK_FALSE(web.start(0, &why));
  CHECK(why == "the page is served already");
  other.publish(event("user", "kept"));
  REQUIRE(other.start(0, &why));
  listen_to(other).until("kept");
}
