#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>

namespace assistant {
namespace {

constexpr char kPage[] =
#include "page.inc"
    ;

constexpr size_t kMaxEvent = 128 << 10;  // a longer one is none of ours
constexpr size_t kMaxBody = 1 << 20;     // a longer one is not even read to its end
constexpr size_t kChunk = 64 << 10;      // what is made ready for a listener at a time
constexpr unsigned kSilentSeconds = 5;   // until a connection is given up that neither sends nor takes anything

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
    if (code < (more == 1   ? 0x80u
                : more == 2 ? 0x800u
                            : 0x10000u) ||
        code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code >= 0x80 && code < 0xa0))
      return false;
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

// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b) {
  volatile unsigned char differs = a.size() != b.size();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  return !differs;
}

// 128 bits that nobody guesses; "" where the system has none.
// Why a server did not start there. What libmicrohttpd leaves in errno differs by its version: so the address is tried again.
std::string why_not(const sockaddr_in& at) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  const std::string why = bound ? "the HTTP server does not start" : strerror(errno);
  if (fd >= 0) close(fd);
  return why;
}

std::string new_secret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return {};
  std::string out;
  for (const unsigned char b : bytes) out += "0123456789abcdef"[b >> 4], out += "0123456789abcdef"[b & 15];
  return out;
}

std::string kind_of(const std::string& line) {
  static constexpr char key[] = "\"event\":\"";
  const size_t at = line.find(key);
  if (at == std::string::npos) return {};
  const size_t from = at + sizeof key - 1;
  return line.substr(from, std::min<size_t>(line.find('"', from) - from, 32));
}

}  // namespace

// One event stream. Its connection is suspended while there is nothing to send, and never touched but then.
struct Web::Listener {
  Web* web;
  MHD_Connection* connection;
  bool suspended = false, over = false;
  uint64_t next = 0;  // the next event's id
  std::string out = {};
  size_t sent = 0;
};

// ---- events ------------------------------------------------------------------------------------------------------------------

void Web::publish(const std::string& json_line) {
  if (json_line.empty() || json_line.size() > kMaxEvent || json_line.find_first_of("\r\n") != std::string::npos) return;
  Event e{0, kind_of(json_line), json_line};
  std::lock_guard<std::mutex> lock(mutex_);
  // Only the newest state matters, and an answer holds its tokens: so a reload shows a long conversation, and a slow listener skips instead
  // of lagging.
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
  for (Listener* listener : listeners_) wake(listener);
}

// Under mutex_.
void Web::wake(Listener* listener) {
  if (!listener->suspended) return;
  listener->suspended = false;
  MHD_resume_connection(listener->connection);
}

// Under mutex_: makes ready what a listener has not got yet, a chunk at a time; more never waits for it. False: it is too slow; its page
// connects again and starts over.
bool Web::next_events(Listener* listener) {
  if (listener->next && listener->next <= lost_) return false;
  listener->out.clear();
  listener->sent = 0;
  auto e = std::lower_bound(events_.begin(), events_.end(), listener->next, [](const Event& event, uint64_t id) { return event.id < id; });
  for (; e != events_.end() && listener->out.size() < kChunk; ++e) {
    listener->out += "id: " + start_id_ + "-" + std::to_string(e->id) + "\ndata: " + e->line + "\n\n";
    listener->next = e->id + 1;
  }
  return true;
}

// ---- connections whose request is not complete -----------------------------------------------------------------------------------

void Web::came(MHD_Connection* connection, int socket) {
  const std::lock_guard<std::mutex> lock(waiting_mutex_);
  waiting_.push_back({connection, socket, std::chrono::steady_clock::now()});
  size_t n = static_cast<size_t>(std::count_if(waiting_.begin(), waiting_.end(), [](const Waiting& w) { return !w.cut; }));
  for (Waiting& w : waiting_)
    if (n > kMaxWaiting && !w.cut) shutdown(w.socket, SHUT_RDWR), w.cut = true, --n;
}

// A socket is closed after this call, so none is shut down that is another's by now.
void Web::done(const MHD_Connection* connection) {
  const std::lock_guard<std::mutex> lock(waiting_mutex_);
  std::erase_if(waiting_, [&](const Waiting& w) { return w.connection == connection; });
}

// The server's library has a limit for silence alone.
void Web::watch() {
  std::unique_lock<std::mutex> lock(waiting_mutex_);
  while (!end_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ending_; })) {
    const auto late = std::chrono::steady_clock::now() - std::chrono::seconds(kRequestSeconds);
    for (Waiting& w : waiting_)
      if (w.since < late && !w.cut) shutdown(w.socket, SHUT_RDWR), w.cut = true;
  }
}

// ---- requests ----------------------------------------------------------------------------------------------------------------

struct Server {
  struct Upload {
    std::string body;
    size_t size = 0;
  };
  struct Head {
    std::string_view host, origin, site, type, length, last_id;
    bool twice = false;
  };

  static MHD_Result header(void* user, MHD_ValueKind, const char* name, const char* value) {
    auto* head = static_cast<Head*>(user);
    const std::pair<const char*, std::string_view*> known[] = {
        {"Host", &head->host},         {"Origin", &head->origin},         {"Sec-Fetch-Site", &head->site},
        {"Content-Type", &head->type}, {"Content-Length", &head->length}, {"Last-Event-ID", &head->last_id}};
    for (const auto& [wanted, to] : known) {
      if (!equals_ignoring_case(name, wanted)) continue;
      head->twice |= to->data() != nullptr;  // two answers to one question
      *to = trimmed(value ? value : "");
      if (!to->data()) *to = "";
    }
    return MHD_YES;
  }

  static MHD_Result reply(MHD_Connection* connection, unsigned status, MHD_Response* r, const char* type, const char* allow = nullptr) {
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    // The page's own script and style lie in it, so nothing else may be loaded, and nobody may frame it.
    MHD_add_response_header(r, "Content-Security-Policy",
                            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
                            "base-uri 'none'; form-action 'none'; "
                            "frame-ancestors 'none'");
    MHD_add_response_header(r, "Connection", "close");
    if (allow) MHD_add_response_header(r, "Allow", allow);
    const MHD_Result queued = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return queued;
  }
  static MHD_Result say(MHD_Connection* connection, unsigned status, const char* text, const char* allow = nullptr) {
    const std::string line = std::string(text) + "\n";
    return reply(connection, status, MHD_create_response_from_buffer(line.size(), const_cast<char*>(line.data()), MHD_RESPMEM_MUST_COPY),
                 "text/plain; charset=utf-8", allow);
  }

  // libmicrohttpd is C: nothing is thrown through it. A connection that there is no memory for is closed.
  static MHD_Result answer(void* user, MHD_Connection* connection, const char* url, const char* method, const char*, const char* upload,
                           size_t* upload_size, void** state) {
    try {
      return respond(user, connection, url, method, upload, upload_size, state);
    } catch (const std::exception&) {
      return MHD_NO;
    }
  }

  static MHD_Result respond(void* user, MHD_Connection* connection, const char* url, const char* method, const char* upload,
                            size_t* upload_size, void** state) {
    auto* web = static_cast<Web*>(user);
    auto* in = static_cast<Upload*>(*state);
    if (!in) {  // the head alone is there; an answer now would cut off whoever is still sending
      *state = new Upload;
      return MHD_YES;
    }
    if (*upload_size) {
      in->size += *upload_size;
      if (in->size > kMaxBody) return MHD_NO;
      if (in->size <= Web::kMaxRequest) in->body.append(upload, *upload_size);
      *upload_size = 0;
      return MHD_YES;
    }
    web->done(connection);
    Head head;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, header, &head);
    if (head.twice) return say(connection, 400, "a header comes twice");
    if (!is_loopback_host(head.host)) return say(connection, 403, "Host is neither localhost nor 127.0.0.1");
    if (head.origin.data() && !(head.origin.substr(0, 7) == "http://" && equals_ignoring_case(head.origin.substr(7), head.host)))
      return say(connection, 403, "another site's page asks");
    const std::string_view path = url;
    const bool get = !strcmp(method, "GET"), page = path == "/" && (get || !strcmp(method, "HEAD"));
    // A link from elsewhere may open the page; nothing else is for others.
    if (head.site.data() && head.site != "same-origin" && head.site != "none" && !page)
      return say(connection, 403, "another site's page asks");
    const char* const token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    if (!same_secret(token ? token : "", web->token_))
      return say(connection, 403, "the address lacks the token of the one that linnet-assistant printed when it started");
    if (page)
      return reply(connection, 200, MHD_create_response_from_buffer(sizeof kPage - 1, const_cast<char*>(kPage), MHD_RESPMEM_PERSISTENT),
                   "text/html; charset=utf-8");
    if (path == "/request")
      return strcmp(method, "POST") ? say(connection, 405, "POST only", "POST") : take(web, connection, *in, head.type);
    if (path != "/" && path != "/events") return say(connection, 404, "there is no such page");
    return get ? listen(web, connection, head.last_id) : say(connection, 405, "GET only", "GET");
  }

  static MHD_Result take(Web* web, MHD_Connection* connection, const Upload& in, std::string_view type) {
    if (!equals_ignoring_case(trimmed(type.substr(0, type.find(';'))), "text/plain")) return say(connection, 415, "text/plain only");
    if (in.size > Web::kMaxRequest) return say(connection, 413, "a request has at most 1000 bytes");
    const std::string_view text = trimmed(in.body);
    if (!is_plain_text(text)) return say(connection, 400, "the request is no plain text in UTF-8");
    if (text.empty()) return say(connection, 400, "the request is empty");
    if (!web->take_ || !web->take_(std::string(text))) return say(connection, 503, "too many requests wait");
    return say(connection, 202, "accepted");
  }

  static MHD_Result listen(Web* web, MHD_Connection* connection, std::string_view last_id) {
    auto made = std::make_unique<Web::Listener>(Web::Listener{web, connection});
    Web::Listener* listener = made.get();
    const std::string& start = web->start_id_;
    uint64_t after = 0;
    if (last_id.size() > start.size() + 1 && last_id.size() < start.size() + 20 && last_id.substr(0, start.size() + 1) == start + "-") {
      for (const char digit : last_id.substr(start.size() + 1)) {
        if (digit < '0' || digit > '9') {
          after = 0;
          break;
        }
        after = after * 10 + static_cast<uint64_t>(digit - '0');
      }
    }
    {
      const std::lock_guard<std::mutex> lock(web->mutex_);
      if (after && after >= web->lost_ && after < web->next_id_)
        listener->next = after + 1;  // a page that was cut off goes on where it was
      // Who has gone is noticed only when there is something to send: the newest listeners are the ones that are there.
      if (web->listeners_.size() >= Web::kMaxListeners) {
        const auto oldest = std::find_if(web->listeners_.begin(), web->listeners_.end(), [](const Web::Listener* l) { return !l->over; });
        if (oldest != web->listeners_.end()) {
          (*oldest)->over = true;
          web->wake(*oldest);
        }
      }
      listener->out = listener->next ? "retry: 1000\n\n" : "retry: 1000\ndata: {\"event\":\"hello\"}\n\n";  // "hello": start over
      web->listeners_.push_back(listener);
    }
    made.release();  // forget() deletes it
    MHD_Response* r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kChunk, read_events, listener, forget);
    if (!r) forget(listener);
    return reply(connection, 200, r, "text/event-stream; charset=utf-8");
  }

  static ssize_t read_events(void* user, uint64_t, char* to, size_t room) {
    auto* listener = static_cast<Web::Listener*>(user);
    Web* web = listener->web;
    const std::lock_guard<std::mutex> lock(web->mutex_);
    if (web->stopping_ || listener->over) return MHD_CONTENT_READER_END_OF_STREAM;
    try {
      if (listener->sent == listener->out.size() && !web->next_events(listener)) return MHD_CONTENT_READER_END_OF_STREAM;
    } catch (const std::exception&) {
      return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    const size_t n = std::min(room, listener->out.size() - listener->sent);
    memcpy(to, listener->out.data() + listener->sent, n);
    listener->sent += n;
    if (n == 0) {
      listener->suspended = true;
      MHD_suspend_connection(listener->connection);
    }
    return static_cast<ssize_t>(n);
  }

  static void forget(void* user) {
    auto* listener = static_cast<Web::Listener*>(user);
    {
      const std::lock_guard<std::mutex> lock(listener->web->mutex_);
      std::erase(listener->web->listeners_, listener);
    }
    delete listener;
  }

  static void connected(void* user, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
    auto* web = static_cast<Web*>(user);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) return web->done(connection);
    if (const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD))
      web->came(connection, info->connect_fd);
  }

  static void completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<Upload*>(*state);
    *state = nullptr;
  }
};

// ---- start and stop ----------------------------------------------------------------------------------------------------------

bool Web::start(int port, std::string* why) {
  if (daemon_ || port < 0 || port > 65535) {
    *why = daemon_ ? "the page is served already" : "the page's port must be 0 to 65535, not " + std::to_string(port);
    return false;
  }
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  start_id_ = std::to_string(t.tv_sec) + std::to_string(t.tv_nsec);
  stopping_ = false;
  if ((token_ = new_secret()).empty()) return *why = "the page: the system has no random numbers", false;
  daemon_ = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, Server::answer, this,
                             MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(kMaxClients),
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, size_t{32} << 10, MHD_OPTION_CONNECTION_TIMEOUT, kSilentSeconds,
                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, Server::completed, nullptr,
                             MHD_OPTION_NOTIFY_CONNECTION, Server::connected, this, MHD_OPTION_END);
  const MHD_DaemonInfo* info = daemon_ ? MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT) : nullptr;
  if (!info) {
    *why = "the page at 127.0.0.1:" + std::to_string(port) + ": " + why_not(at);
    stop();
    return false;
  }
  port_ = info->port;
  ending_ = false;
  watcher_ = std::thread([this] { watch(); });
  return true;
}

void Web::stop() {
  if (!daemon_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;  // from here on no listener is suspended
    for (Listener* listener : listeners_) wake(listener);
  }
  MHD_stop_daemon(daemon_);
  daemon_ = nullptr;
  {
    const std::lock_guard<std::mutex> lock(waiting_mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace assistant
