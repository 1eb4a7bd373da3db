#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace assistant {
namespace {

constexpr char kPage[] =
#include "page.inc"
    ;

constexpr size_t kMaxHead = 8192;        // a request's first line and headers
constexpr size_t kMaxEvent = 128 << 10;  // a longer one is none of ours
constexpr size_t kChunk = 64 << 10;      // what is made ready for a listener at a time
constexpr int64_t kRequestMs = 5000, kStalledMs = 30000, kLingerMs = 1000;

int64_t now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

bool no_waiting(int fd) { return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t\r\n");
  return from == std::string_view::npos ? std::string_view{} : s.substr(from, s.find_last_not_of(" \t\r\n") - from + 1);
}

// A typed request is text: no control characters, no overlong forms, no surrogates.
bool is_plain_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const unsigned char c = static_cast<unsigned char>(s[i++]);
    if (c < 0x20 || c == 0x7f) return false;
    if (c < 0x80) continue;
    const int more = c >= 0xf0 && c <= 0xf4 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc2 && c < 0xe0 ? 1 : 0;
    if (!more) return false;
    uint32_t code = c & (0x3fu >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == s.size() || (static_cast<unsigned char>(s[i]) & 0xc0) != 0x80) return false;
      code = code << 6 | (static_cast<unsigned char>(s[i]) & 0x3f);
    }
    if (code < (more == 1 ? 0x80u : more == 2 ? 0x800u : 0x10000u) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code >= 0x80 && code < 0xa0)) return false;
  }
  return true;
}

// A name that a foreign page's DNS entry points to 127.0.0.1 arrives here with that name as Host.
bool is_loopback_host(std::string_view host) {
  const size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  host = host.substr(0, colon);
  return host == "127.0.0.1" || equals_ignoring_case(host, "localhost");
}

struct Head {
  std::string_view method, path, host, origin, site, type, length, last_id, encoding;
};

// 0, or the status that refuses the request.
int parse_head(std::string_view text, Head* head) {
  size_t line_end = text.find("\r\n");
  const std::string_view first = text.substr(0, line_end);
  const size_t a = first.find(' '), b = first.rfind(' ');
  if (a == std::string_view::npos || b <= a + 1) return 400;
  head->method = first.substr(0, a);
  head->path = first.substr(a + 1, b - a - 1);
  const std::string_view version = first.substr(b + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return version.substr(0, 5) == "HTTP/" ? 505 : 400;
  if (head->path.find(' ') != std::string_view::npos) return 400;
  head->path = head->path.substr(0, head->path.find('?'));
  const struct {
    std::string_view name, *value;
  } known[] = {{"host", &head->host},          {"origin", &head->origin},         {"sec-fetch-site", &head->site},        {"content-type", &head->type},
               {"content-length", &head->length}, {"last-event-id", &head->last_id}, {"transfer-encoding", &head->encoding}};
  bool seen[std::size(known)] = {};
  while (line_end + 2 < text.size()) {
    const size_t from = line_end + 2;
    line_end = text.find("\r\n", from);
    const std::string_view line = text.substr(from, line_end == std::string_view::npos ? line_end : line_end - from);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) return 400;
    for (size_t k = 0; k < std::size(known); ++k) {
      if (!equals_ignoring_case(line.substr(0, colon), known[k].name)) continue;
      if (seen[k]) return 400;  // two answers to one question: whoever stands between could have read the other
      seen[k] = true;
      *known[k].value = trimmed(line.substr(colon + 1));
    }
    if (line_end == std::string_view::npos) break;
  }
  return 0;
}

const char* reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 505: return "HTTP Version Not Supported";
    default: return "Service Unavailable";
  }
}

// The page's own script and style lie in it, so nothing else may be loaded, and nobody may frame it.
constexpr char kCommonHeaders[] =
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n";

std::string response(int status, std::string_view type, std::string_view body, std::string_view more = {}) {
  std::string r = "HTTP/1.1 " + std::to_string(status) + " " + reason(status) + "\r\n" + kCommonHeaders;
  r += "Content-Type: ";
  r += type;
  r += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  r += more;
  r += "\r\n";
  r += body;
  return r;
}

std::string refusal(int status, std::string_view why, std::string_view more = {}) { return response(status, "text/plain; charset=utf-8", std::string(why) + "\n", more); }

std::string kind_of(const std::string& line) {
  static constexpr char key[] = "\"event\":\"";
  const size_t at = line.find(key);
  if (at == std::string::npos) return {};
  const size_t from = at + sizeof key - 1;
  return line.substr(from, std::min<size_t>(line.find('"', from) - from, 32));
}

}  // namespace

// ---- events ------------------------------------------------------------------------------------------------------------------

void Web::publish(const std::string& json_line) {
  if (json_line.empty() || json_line.size() > kMaxEvent || json_line.find_first_of("\r\n") != std::string::npos) return;
  Event e{0, kind_of(json_line), json_line};
  std::lock_guard<std::mutex> lock(mutex_);
  // Only the newest state matters, and an answer holds its tokens: so a reload shows a long conversation, and a slow listener skips instead of lagging.
  const bool answer = e.kind == "answer", state = e.kind == "home" || e.kind == "stats" || e.kind == "phase" || e.kind == "partial";
  const std::string stale = answer ? "token" : state ? e.kind : e.kind == "user" ? "partial" : "";
  for (size_t i = stale.empty() ? 0 : events_.size(); i-- > 0;) {
    if (answer && events_[i].kind == "user") break;  // tokens before it are of an answer that was cut short
    if (events_[i].kind != stale) continue;
    event_bytes_ -= events_[i].line.size();
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  e.id = next_id_++;
  event_bytes_ += e.line.size();
  events_.push_back(std::move(e));
  while (events_.size() > kMaxEvents || event_bytes_ > kMaxEventBytes) {
    lost_ = events_.front().id;
    event_bytes_ -= events_.front().line.size();
    events_.pop_front();
  }
  wake();
}

// Makes ready what a listener has not got yet, a chunk at a time: what waits for it is never more than that.
void Web::next_events(Client* c) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (c->next && c->next <= lost_) {  // too slow: its page connects again and starts over
    c->done = true;
    return;
  }
  auto e = std::lower_bound(events_.begin(), events_.end(), c->next, [](const Event& event, uint64_t id) { return event.id < id; });
  for (; e != events_.end() && c->out.size() < kChunk; ++e) {
    c->out += "id: " + start_id_ + "-" + std::to_string(e->id) + "\ndata: " + e->line + "\n\n";
    c->next = e->id + 1;
  }
}

// ---- requests ----------------------------------------------------------------------------------------------------------------

void Web::take_request(Client* c, const std::string& body) {
  const std::string_view text = trimmed(body);
  if (!is_plain_text(text)) {
    c->out = refusal(400, "the request is no plain text in UTF-8");
  } else if (text.empty()) {
    c->out = refusal(400, "the request is empty");
  } else if (!take_ || !take_(std::string(text))) {
    c->out = refusal(503, "too many requests wait", "Retry-After: 1\r\n");
  } else {
    c->out = response(202, "text/plain; charset=utf-8", "accepted\n");
  }
}

void Web::answer(Client* c, size_t head_end) {
  Head head;
  auto refuse = [&](int status, const char* why, std::string_view more = {}) {
    c->done = true;
    c->out = refusal(status, why, more);
  };
  if (const int status = parse_head(std::string_view(c->in).substr(0, head_end), &head)) return refuse(status, "not a request that is understood");
  if (!is_loopback_host(head.host)) return refuse(403, "Host is neither localhost nor 127.0.0.1");
  if (!head.origin.empty() && !(head.origin.substr(0, 7) == "http://" && equals_ignoring_case(head.origin.substr(7), head.host))) return refuse(403, "another site's page asks");
  const bool get = head.method == "GET", post = head.method == "POST";
  // A link from elsewhere may open the page; nothing else is for others.
  if (!head.site.empty() && head.site != "same-origin" && head.site != "none" && !(get && head.path == "/")) return refuse(403, "another site's page asks");
  if (head.path == "/request") {
    if (!post) return refuse(405, "POST only", "Allow: POST\r\n");
    if (!head.encoding.empty()) return refuse(501, "Transfer-Encoding is not supported");
    if (!equals_ignoring_case(trimmed(head.type.substr(0, head.type.find(';'))), "text/plain")) return refuse(415, "text/plain only");
    if (head.length.empty()) return refuse(411, "Content-Length is missing");
    if (head.length.find_first_not_of("0123456789") != std::string_view::npos) return refuse(400, "Content-Length is no number");
    size_t size = 0;
    for (const char digit : head.length) size = std::min(size * 10 + static_cast<size_t>(digit - '0'), kMaxRequest + 1);
    if (size > kMaxRequest) return refuse(413, "a request has at most 1000 bytes");
    if (c->in.size() < head_end + 4 + size) return;  // the rest is still to come
    c->done = true;
    return take_request(c, c->in.substr(head_end + 4, size));
  }
  if (head.path != "/" && head.path != "/events") return refuse(404, "there is no such page");
  if (!get && !(head.method == "HEAD" && head.path == "/")) return refuse(405, "GET only", "Allow: GET\r\n");
  if (head.path == "/") {
    c->out = response(200, "text/html; charset=utf-8", std::string_view(kPage, sizeof kPage - 1));
    if (!get) c->out.resize(c->out.size() - (sizeof kPage - 1));
    c->done = true;
    return;
  }
  if (static_cast<size_t>(std::count_if(clients_.begin(), clients_.end(), [](const Client& other) { return other.listens; })) >= kMaxListeners) {
    return refuse(503, "too many listen", "Retry-After: 5\r\n");
  }
  // A page that was cut off goes on where it was; "hello" tells it to start over.
  uint64_t after = 0;
  if (head.last_id.substr(0, head.last_id.find('-')) == start_id_ && head.last_id.size() > start_id_.size() + 1 && head.last_id.size() < start_id_.size() + 20) {
    for (const char digit : head.last_id.substr(start_id_.size() + 1)) {
      if (digit < '0' || digit > '9') {
        after = 0;
        break;
      }
      after = after * 10 + static_cast<uint64_t>(digit - '0');
    }
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    c->next = after && after >= lost_ && after < next_id_ ? after + 1 : 0;
  }
  c->listens = true;
  c->in = {};
  c->out = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n" + std::string(kCommonHeaders) + "\r\nretry: 1000\n";
  c->out += c->next ? "\n" : "data: {\"event\":\"hello\"}\n\n";
}

// ---- connections -------------------------------------------------------------------------------------------------------------

bool Web::receive(Client* c) {
  char buffer[4096];
  const ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (c->listens) return false;  // it has nothing more to say
  if (c->done) return true;
  c->in.append(buffer, static_cast<size_t>(n));
  const size_t head_end = c->in.find("\r\n\r\n");
  if (head_end != std::string::npos && head_end <= kMaxHead) {
    answer(c, head_end);
  } else if (c->in.size() > kMaxHead) {
    c->out = refusal(431, "the request's head is too long");
    c->done = true;
  }
  return true;
}

bool Web::send_waiting(Client* c) {
  for (;;) {
    if (c->sent == c->out.size()) {
      c->out.clear();
      c->sent = 0;
      if (c->listens && !c->done) next_events(c);
      if (c->out.empty()) {
        if (!c->done) return true;
        // Closed at once, what the client may still be sending would turn into a reset that takes the answer along.
        shutdown(c->fd, SHUT_WR);
        c->deadline_ms = std::min(c->deadline_ms ? c->deadline_ms : INT64_MAX, now_ms() + kLingerMs);
        return true;
      }
    }
    const ssize_t n = send(c->fd, c->out.data() + c->sent, c->out.size() - c->sent, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
      if (c->listens && !c->deadline_ms) c->deadline_ms = now_ms() + kStalledMs;
      return true;
    }
    c->sent += static_cast<size_t>(n);
    if (c->listens) c->deadline_ms = 0;
  }
}

void Web::accept_clients() {
  while (clients_.size() < kMaxClients) {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) {
      out_of_files_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return;
    }
    if (!no_waiting(fd)) {
      close(fd);
      continue;
    }
    Client c{};
    c.fd = fd;
    c.deadline_ms = now_ms() + kRequestMs;
    clients_.push_back(std::move(c));
  }
}

void Web::serve() {
  std::vector<pollfd> polled;
  while (!stopping_) {
    polled.clear();
    polled.push_back({wake_read_, POLLIN, 0});
    polled.push_back({clients_.size() < kMaxClients && !out_of_files_ ? listener_ : -1, POLLIN, 0});
    int64_t next = out_of_files_ ? now_ms() + 100 : INT64_MAX;  // without free descriptors, accept would fail again at once
    for (const Client& c : clients_) {
      polled.push_back({c.fd, static_cast<short>(POLLIN | (c.sent < c.out.size() ? POLLOUT : 0)), 0});
      if (c.deadline_ms) next = std::min(next, c.deadline_ms);
    }
    const int wait = next == INT64_MAX ? -1 : static_cast<int>(std::max<int64_t>(next - now_ms(), 0));
    if (poll(polled.data(), static_cast<nfds_t>(polled.size()), wait) < 0 && errno != EINTR) break;
    char drained[64];
    while (polled[0].revents && read(wake_read_, drained, sizeof drained) > 0) {
    }
    const int64_t now = now_ms();
    for (size_t i = 0; i < clients_.size(); ++i) {
      Client& c = clients_[i];
      const short got = polled[i + 2].revents;
      bool open = !(got & (POLLERR | POLLNVAL)) && !(c.deadline_ms && now >= c.deadline_ms);
      if (open && (got & (POLLIN | POLLHUP))) open = receive(&c);
      if (open && (c.listens || c.done)) open = send_waiting(&c);
      if (!open) {
        close(c.fd);
        c.fd = -1;
      }
    }
    std::erase_if(clients_, [](const Client& c) { return c.fd < 0; });
    out_of_files_ = false;
    accept_clients();
  }
  for (const Client& c : clients_) close(c.fd);
  clients_.clear();
}

void Web::wake() {
  if (wake_write_ >= 0 && write(wake_write_, "", 1) < 0) {  // full: it wakes anyway
  }
}

bool Web::start(int port, std::string* why) {
  auto fail = [&](const char* what) {
    *why = "the page at 127.0.0.1:" + std::to_string(port) + ": " + what + ": " + strerror(errno);
    if (listener_ >= 0) close(listener_);
    listener_ = -1;
    return false;
  };
  if (thread_.joinable() || port < 0 || port > 65535) {
    *why = thread_.joinable() ? "the page is served already" : "the page's port must be 0 to 65535, not " + std::to_string(port);
    return false;
  }
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  if (listener_ < 0) return fail("socket");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (!no_waiting(listener_) || bind(listener_, reinterpret_cast<sockaddr*>(&at), size)) return fail("bind");
  if (listen(listener_, 16) || getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size)) return fail("listen");
  int ends[2];
  if (pipe(ends)) return fail("pipe");
  wake_read_ = ends[0];
  no_waiting(ends[0]);
  no_waiting(ends[1]);
  port_ = ntohs(at.sin_port);
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  start_id_ = std::to_string(t.tv_sec) + std::to_string(t.tv_nsec);
  stopping_ = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_write_ = ends[1];
  }
  thread_ = std::thread([this] { serve(); });
  return true;
}

void Web::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    wake();
  }
  thread_.join();
  close(listener_);
  listener_ = -1;
  std::lock_guard<std::mutex> lock(mutex_);
  close(wake_read_);
  close(wake_write_);
  wake_read_ = wake_write_ = -1;
}

}  // namespace assistant
