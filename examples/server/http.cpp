#include "http.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <list>
#include <thread>

#include "http_call.h"

namespace server {
namespace {

// libmicrohttpd's, of which a head may have most: 431. Measured with all else, a connection holds 5 KB until it has sent something and up
// to 25 KB from then on.
constexpr size_t kConnectionMemory = 24 << 10;
constexpr size_t kDrain = 1 << 20;  // so much of a refused body is read to its end, so that its sender sees why
constexpr unsigned kSlack = 64;     // connections that are cut and not yet closed
constexpr size_t kSpareFiles = 64;  // of the process, for others

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t\r\n");
  return from == std::string_view::npos ? std::string_view{} : s.substr(from, s.find_last_not_of(" \t\r\n") - from + 1);
}

// An address as bytes, 16 or 4; "" for a name.
std::string address_bytes(const std::string& text) {
  unsigned char at[16];
  if (inet_pton(AF_INET, text.c_str(), at) == 1) return std::string(reinterpret_cast<char*>(at), 4);
  if (inet_pton(AF_INET6, text.c_str(), at) == 1) return std::string(reinterpret_cast<char*>(at), 16);
  return {};
}

// What the app holds.
class Handle final : public Exchange {
 public:
  Handle(std::shared_ptr<Call> call, MHD_Connection* connection, Charge charge)
      : call_(std::move(call)), connection_(connection), charge_(std::move(charge)) {}
  ~Handle() override { call_->abandon(); }
  std::string header(std::string_view name) const override {
    MHD_Connection* const c = connection_;
    const char* const value = c ? MHD_lookup_connection_value(c, MHD_HEADER_KIND, std::string(name).c_str()) : nullptr;
    return value ? value : "";
  }
  void handled() { connection_ = nullptr; }
  void free_body() override {
    std::string().swap(body);
    charge_.release();
  }
  void reply(int status, std::string_view type, std::string text, Headers headers) override {
    call_->reply(status, type, std::move(text), std::move(headers));
  }
  void begin(std::string_view type, Headers headers) override { call_->begin(type, std::move(headers)); }
  void write(std::string_view piece) override { call_->write(piece); }
  void end() override { call_->end(); }
  size_t pending() const override { return call_->pending; }
  bool gone() const override { return call_->gone; }
  void on_change(std::function<void()> call) override { call_->on_change(std::move(call)); }

 private:
  std::shared_ptr<Call> call_;
  std::atomic<MHD_Connection*> connection_;
  Charge charge_;
};

struct Refusal {
  int status = 0;
  const char *code = "", *message = "";
  Exchange::Headers headers = {};
  bool unclear = false;  // where its body ends
};

// From its first line to the end of its answer.
struct Request {
  Connection* connection;
  Charge charge;
  bool bad_path, head = false, looked_at = false, whole = false;
  Refusal refusal = {};
  uint64_t length = 0;  // what it says
  size_t discarded = 0;
  std::string body = {}, origin = {};  // origin: of another site, that may ask
  size_t key = 0;
  std::shared_ptr<Call> call = {};
};

struct Head {
  std::string_view host, origin, site, type, length, coding, authorization, key;
  bool twice = false;
};

}  // namespace

struct Http::Server {
  std::shared_ptr<Hub> hub = std::make_shared<Hub>();
  std::function<void(std::shared_ptr<Exchange>)> handle;
  MHD_Daemon* daemon = nullptr;
  int port = 0;
  bool wildcard = false;
  std::string bound;  // address_bytes of where it listens

  // ---- who may ask ----

  bool host_allowed(std::string_view host) const {
    std::string name(host);
    const bool bracket = !name.empty() && name[0] == '[';
    const size_t end = bracket ? name.find(']') : std::min(name.find(':'), name.size());
    if (end == std::string::npos) return false;
    const std::string_view port_part = host.substr(end + bracket);
    if (!port_part.empty() && (port_part.size() < 2 || port_part.size() > 6 || port_part[0] != ':' ||
                               port_part.substr(1).find_first_not_of("0123456789") != std::string_view::npos))
      return false;
    name = name.substr(bracket, end - bracket);
    const std::string bytes = address_bytes(name);
    if (bracket != (bytes.size() == 16)) return false;
    if (equals_ignoring_case(name, "localhost")) return true;
    if (!bytes.empty() && (wildcard || bytes == bound || bytes == address_bytes("127.0.0.1") || bytes == address_bytes("::1"))) return true;
    return std::any_of(hub->options.hosts.begin(), hub->options.hosts.end(),
                       [&](const std::string& h) { return equals_ignoring_case(h, name); });
  }
  bool origin_allowed(std::string_view origin) const {
    return std::any_of(hub->options.origins.begin(), hub->options.origins.end(),
                       [&](const std::string& o) { return o == "*" || equals_ignoring_case(o, origin); });
  }
  // Every key is compared, whichever it is.
  bool find_key(const Head& head, size_t* key) const {
    std::string_view given = head.key;
    if (head.authorization.size() > 7 && equals_ignoring_case(head.authorization.substr(0, 7), "Bearer "))
      given = trimmed(head.authorization.substr(7));
    bool found = false;
    for (size_t i = hub->options.keys.size(); i-- > 0;)
      if (same_secret(hub->options.keys[i], given)) found = true, *key = i;
    return found;
  }

  static MHD_Result header(void* user, MHD_ValueKind, const char* name, const char* value) {
    auto* head = static_cast<Head*>(user);
    const std::pair<const char*, std::string_view*> known[] = {{"Host", &head->host},
                                                               {"Origin", &head->origin},
                                                               {"Sec-Fetch-Site", &head->site},
                                                               {"Content-Type", &head->type},
                                                               {"Content-Length", &head->length},
                                                               {"Transfer-Encoding", &head->coding},
                                                               {"X-Api-Key", &head->key},
                                                               {"Authorization", &head->authorization}};
    for (const auto& [wanted, to] : known) {
      if (!equals_ignoring_case(name, wanted)) continue;
      head->twice |= to->data() != nullptr;  // two answers to one question
      *to = trimmed(value ? value : "");
      if (!to->data()) *to = "";
    }
    return MHD_YES;
  }

  Refusal look_at(MHD_Connection* connection, const char* url, std::string_view method, Request* r) const {
    Head head;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, header, &head);
    if (head.twice) return {400, "bad_header", "a header comes twice", {}, true};
    if (head.coding.data() && (head.length.data() || !equals_ignoring_case(head.coding, "chunked")))
      return {400, "bad_header", "Transfer-Encoding is chunked or nothing, without Content-Length", {}, true};
    for (const char digit : head.length) {
      if (digit < '0' || digit > '9' || r->length > UINT64_MAX / 10 - 9)
        return {400, "bad_header", "Content-Length is no number of bytes", {}, true};
      r->length = r->length * 10 + static_cast<uint64_t>(digit - '0');
    }
    if (head.coding.data()) r->length = UINT64_MAX;
    if (r->bad_path) return {400, "bad_path", "the path has a zero byte or a blank"};
    if (!head.host.data()) return {400, "bad_header", "Host is missing"};
    if (!host_allowed(head.host)) return {403, "host_not_allowed", "Host is no name of this server"};
    const bool page = !strcmp(url, "/") && (method == "GET" || method == "HEAD");
    if (head.origin.data()) {
      const size_t scheme = head.origin.find("://");
      const bool same = scheme != std::string_view::npos &&
                        (head.origin.substr(0, scheme) == "http" || head.origin.substr(0, scheme) == "https") &&
                        equals_ignoring_case(head.origin.substr(scheme + 3), head.host);
      if (!same) {
        if (!origin_allowed(head.origin)) return {403, "origin_not_allowed", "another site's page asks"};
        r->origin = head.origin;
      }
    }
    // A link from elsewhere may open the page; nothing else is for others.
    if (r->origin.empty() && head.site.data() && head.site != "same-origin" && head.site != "none" && !page)
      return {403, "origin_not_allowed", "another site's page asks"};
    if (method == "OPTIONS" && !r->origin.empty()) {
      const char* const asked = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Access-Control-Request-Headers");
      std::string allowed = "authorization, content-type, x-api-key";
      if (asked && strlen(asked) < 2000 &&
          std::string_view(asked).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_, ") ==
              std::string_view::npos)
        allowed = asked;
      return {204,
              "",
              "",
              {{"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE"},
               {"Access-Control-Allow-Headers", allowed},
               {"Access-Control-Max-Age", "600"}}};
    }
    static constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    if (std::find(std::begin(methods), std::end(methods), method) == std::end(methods))
      return {405, "method_not_allowed", "there is no such method", {{"Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}}};
    const bool open = page || (!strcmp(url, "/health") && (method == "GET" || method == "HEAD"));
    if (!hub->options.keys.empty() && !find_key(head, &r->key) && !open)
      return {401, "invalid_api_key", "a key is needed: Authorization: Bearer KEY", {{"WWW-Authenticate", "Bearer"}}};
    // Neither type comes from another site's form.
    const bool put = method == "PUT";
    if (r->length &&
        !equals_ignoring_case(trimmed(head.type.substr(0, head.type.find(';'))), put ? "application/octet-stream" : "application/json"))
      return {415, "unsupported_media_type",
              put ? "Content-Type must be application/octet-stream" : "Content-Type must be application/json"};
    if (r->length != UINT64_MAX) {
      if (r->length > hub->options.max_body) return {413, "request_too_large", "the request's body is too large"};
      if (r->length > hub->options.bodies_budget - std::min(hub->options.bodies_budget, hub->held.load())) return no_room(r->length);
    }
    return {};
  }
  Refusal no_room(uint64_t bytes) const {
    hub->make_room_for(bytes);
    return {503, "overloaded", "too many bytes of requests wait", {{"Retry-After", "1"}}};
  }

  // ---- answers ----

  MHD_Result queue(MHD_Connection* connection, int status, MHD_Response* r, std::string_view type, const Exchange::Headers& headers,
                   const std::string& origin) const {
    if (!r) return MHD_NO;
    if (!type.empty()) MHD_add_response_header(r, "Content-Type", std::string(type).c_str());
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    // The page's own script and style lie in it, so nothing else may be loaded, and nobody may frame it.
    if (type.substr(0, 9) == "text/html")
      MHD_add_response_header(
          r, "Content-Security-Policy",
          "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (!hub->options.origins.empty()) MHD_add_response_header(r, "Vary", "Origin");
    if (!origin.empty()) MHD_add_response_header(r, "Access-Control-Allow-Origin", origin.c_str());
    if (hub->refusing) MHD_add_response_header(r, "Connection", "close");
    for (const auto& [name, value] : headers) MHD_add_response_header(r, name.c_str(), value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(status), r);
    MHD_destroy_response(r);
    return queued;
  }
  static MHD_Response* of_text(std::string text) {
    auto* const kept = new std::string(std::move(text));
    MHD_Response* r = MHD_create_response_from_buffer_with_free_callback_cls(
        kept->size(), kept->data(), [](void* s) { delete static_cast<std::string*>(s); }, kept);
    if (!r) delete kept;
    return r;
  }
  MHD_Result refuse(MHD_Connection* connection, const Request& r) const {
    const Refusal& why = r.refusal;
    const bool empty = why.status == 204;
    return queue(connection, why.status, of_text(empty ? "" : error_body(why.message, why.code, why.status)),
                 empty ? "" : "application/json", why.headers, r.origin);
  }
  // Within a body libmicrohttpd takes no answer.
  static MHD_Result cut_short(const Request& r) {
    const std::string body = error_body(r.refusal.message, r.refusal.code, r.refusal.status);
    std::string text =
        "HTTP/1.1 " + std::to_string(r.refusal.status) + " Refused\r\nConnection: close\r\nContent-Type: application/json\r\n";
    for (const auto& [name, value] : r.refusal.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    if (send(r.connection->socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return MHD_NO;
    return MHD_NO;
  }

  MHD_Result answer(MHD_Connection* connection, Request* r) {
    Call* const c = r->call.get();
    int status;
    std::string type, text;
    Exchange::Headers headers;
    bool stream;
    std::function<void()> tell;
    {
      const std::lock_guard<std::mutex> lock(c->mutex);
      if (c->gone) return MHD_NO;
      if (!c->begun && c->suspend(&tell)) return MHD_YES;
    }
    if (tell) tell();
    {
      const std::lock_guard<std::mutex> lock(c->mutex);
      if (c->gone) return MHD_NO;
      if (std::exchange(c->queued, true)) return MHD_YES;
      stream = c->stream, status = c->status;
      type.swap(c->type), headers.swap(c->headers);
      if (!stream) text.swap(c->out);
    }
    // To HEAD libmicrohttpd 0.9.75 sends a stream's last chunk.
    if (!stream || r->head) return queue(connection, status, of_text(std::move(text)), type, headers, r->origin);
    auto kept = std::make_unique<std::shared_ptr<Call>>(r->call);
    MHD_Response* const response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, kConnectionMemory,
        [](void* user, uint64_t, char* to, size_t room) { return (*static_cast<std::shared_ptr<Call>*>(user))->read(to, room); },
        kept.get(), [](void* user) { delete static_cast<std::shared_ptr<Call>*>(user); });
    if (response) kept.release();
    return queue(connection, status, response, type, headers, r->origin);
  }

  // ---- what libmicrohttpd calls, on its thread ----

  static Connection* connection_of(MHD_Connection* connection) {
    const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? static_cast<Connection*>(info->socket_context) : nullptr;
  }

  static void connected(void* user, MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode what) {
    Hub* const hub = static_cast<Server*>(user)->hub.get();
    const std::lock_guard<std::mutex> lock(hub->mutex);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
      auto* const c = static_cast<Connection*>(*context);
      if (c) hub->connections.erase(c->id), c->in->erase(c->self);
      *context = nullptr;
      return;
    }
    const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info) return;
    std::list<Connection> made;
    try {
      made.emplace_back(info->connect_fd, hub->next_id);
      hub->connections.emplace(hub->next_id, &made.back());
    } catch (const std::exception&) {
      shutdown(info->connect_fd, SHUT_RDWR);
      return;
    }
    epoll_event e{};
    e.events = EPOLLRDHUP | EPOLLONESHOT;  // not what it sends: that waits in its socket
    e.data.u64 = hub->next_id++;
    epoll_ctl(hub->epoll, EPOLL_CTL_ADD, info->connect_fd, &e);  // until it is closed
    Connection* const c = &made.back();
    c->in = &hub->busy, c->self = made.begin();
    hub->busy.splice(hub->busy.end(), made);
    *context = c;
    hub->move(c, &hub->incomplete);
    hub->make_room();
  }

  // The first line is there.
  static void* line(void* user, const char* uri, MHD_Connection* connection) {
    auto* const s = static_cast<Server*>(user);
    Connection* const c = connection_of(connection);
    if (!c) return nullptr;
    {
      const std::lock_guard<std::mutex> lock(s->hub->mutex);
      if (c->in != &s->hub->cut) s->hub->move(c, &s->hub->incomplete);
    }
    try {
      return new Request{c, Charge(s->hub), uri && (strstr(uri, "%00") || strchr(uri, ' '))};
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  static void completed(void* user, MHD_Connection*, void** state, MHD_RequestTerminationCode how) {
    auto* const s = static_cast<Server*>(user);
    auto* const r = static_cast<Request*>(*state);
    *state = nullptr;
    if (!r) return;
    if (r->call) r->call->over(how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    {
      const std::lock_guard<std::mutex> lock(s->hub->mutex);
      r->connection->call = nullptr;  // `r` has it
      if (r->connection->in != &s->hub->cut) s->hub->move(r->connection, &s->hub->idle);
    }
    delete r;
  }

  // libmicrohttpd is C: nothing is thrown through it. A connection that there is no memory for is closed.
  static MHD_Result asked(void* user, MHD_Connection* connection, const char* url, const char* method, const char*, const char* upload,
                          size_t* upload_size, void** state) {
    auto* const r = static_cast<Request*>(*state);
    if (!r) return MHD_NO;
    try {
      return static_cast<Server*>(user)->take(connection, url, method, upload, upload_size, r);
    } catch (const std::exception&) {
      return MHD_NO;
    }
  }

  MHD_Result take(MHD_Connection* connection, const char* url, const char* method, const char* upload, size_t* upload_size, Request* r) {
    if (!r->looked_at) {
      r->looked_at = true;
      r->refusal = look_at(connection, url, method, r);
      const bool long_one = r->length > kDrain && r->length != UINT64_MAX;
      if (r->refusal.status &&
          (r->refusal.unclear || long_one || (r->length && MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Expect"))))
        return refuse(connection, *r);
      return MHD_YES;
    }
    if (*upload_size) {
      const size_t n = std::exchange(*upload_size, 0);
      if (!r->refusal.status) {
        if (n > hub->options.max_body - r->body.size())
          r->refusal = {413, "request_too_large", "the request's body is too large"};
        else if (!r->charge.add(n))
          r->refusal = no_room(n);
      }
      if (r->refusal.status) {
        std::string().swap(r->body);
        r->charge.release();
        r->connection->body = 0;
        return (r->discarded += n) > kDrain ? cut_short(*r) : MHD_YES;
      }
      // Twice as large each time, and never larger than what is to come.
      if (r->body.capacity() - r->body.size() < n)
        r->body.reserve(
            std::max(r->body.size() + n, std::min<size_t>(2 * r->body.capacity(), std::min<uint64_t>(r->length, hub->options.max_body))));
      r->body.append(upload, n);
      r->connection->body = r->body.size();
      return MHD_YES;
    }
    if (!std::exchange(r->whole, true)) {
      const std::lock_guard<std::mutex> lock(hub->mutex);
      if (r->connection->in == &hub->cut || hub->stopping) return MHD_NO;
      r->connection->body = 0;
      hub->move(r->connection, &hub->busy);
    }
    if (r->refusal.status) return refuse(connection, *r);
    if (!r->call) {
      auto call = std::make_shared<Call>(hub, connection, r->connection);
      auto x = std::make_shared<Handle>(call, connection, std::move(r->charge));
      r->head = !strcmp(method, "HEAD");
      x->method = r->head ? "GET" : method;
      x->path = url;
      x->body.swap(r->body);
      x->key = r->key;
      MHD_get_connection_values(
          connection, MHD_GET_ARGUMENT_KIND,
          [](void* user, MHD_ValueKind, const char* name, const char* value) {
            try {
              static_cast<Exchange*>(user)->query.emplace(name, value ? value : "");
            } catch (const std::exception&) {
              return MHD_NO;
            }
            return MHD_YES;
          },
          static_cast<Exchange*>(x.get()));
      {
        const std::lock_guard<std::mutex> lock(hub->mutex);
        if (hub->stopping) return MHD_NO;
        r->call = r->connection->call = call;
      }
      handle(x);
      x->handled();
    }
    return answer(connection, r);
  }
};

// ---- start and stop ----------------------------------------------------------------------------------------------------------

namespace {

size_t open_files() {
  size_t n = 0;
  DIR* const d = opendir("/proc/self/fd");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}

// A socket that listens, or -1 and why.
int listen_at(const std::string& address, int port, std::string* why) {
  const std::string text = address == "localhost" ? "127.0.0.1" : address;
  const std::string bytes = address_bytes(text);
  if (bytes.empty()) return *why = "the address must be numeric or localhost, not " + address, -1;
  if (port < 0 || port > 65535) return *why = "the port must be 0 to 65535, not " + std::to_string(port), -1;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool six = bytes.size() == 16;
  v4.sin_family = AF_INET, v4.sin_port = htons(static_cast<uint16_t>(port));
  v6.sin6_family = AF_INET6, v6.sin6_port = htons(static_cast<uint16_t>(port));
  memcpy(six ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr, bytes.data(), bytes.size());
  const int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1, no = 0;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd >= 0 && six) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (fd < 0 || bind(fd, six ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4), six ? sizeof v6 : sizeof v4) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    *why = (six ? "[" + text + "]" : text) + ":" + std::to_string(port) + ": " + strerror(errno);
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

Http::Http() = default;
Http::~Http() { stop(); }

bool Http::start(const HttpOptions& options, std::function<void(std::shared_ptr<Exchange>)> handle, std::string* why) {
  if (server_) return *why = "the server runs already", false;
  if (std::any_of(options.keys.begin(), options.keys.end(), [](const std::string& k) { return k.empty(); }))
    return *why = "a key is empty", false;
  if (options.keys.empty() && std::find(options.origins.begin(), options.origins.end(), "*") != options.origins.end())
    return *why = "pages of any origin (*) may ask only where keys are needed", false;
  if (!options.max_connections || !options.request_seconds || !options.idle_seconds)
    return *why = "max_connections, request_seconds and idle_seconds must be 1 or more", false;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const size_t taken = open_files() + kSpareFiles + kSlack;
  if (files.rlim_cur < taken + 8) return *why = "the limit of open files leaves no room for connections", false;
  auto s = std::make_unique<Server>();
  s->handle = std::move(handle);
  Hub* const hub = s->hub.get();
  hub->options = options;
  hub->limit = static_cast<unsigned>(std::min<rlim_t>(options.max_connections, files.rlim_cur - taken));
  const int fd = options.listen_fd >= 0 ? options.listen_fd : listen_at(options.address, options.port, why);
  if (fd < 0) return false;
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0 && at.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(at);
    s->port = ntohs(v4.sin_port);
    s->bound.assign(reinterpret_cast<const char*>(&v4.sin_addr), 4);
  } else if (at.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(at);
    s->port = ntohs(v6.sin6_port);
    s->bound.assign(reinterpret_cast<const char*>(&v6.sin6_addr), 16);
  }
  s->wildcard = !s->bound.empty() && s->bound.find_first_not_of('\0') == std::string::npos;
  hub->epoll = epoll_create1(EPOLL_CLOEXEC);
  hub->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event e{};
  e.events = EPOLLIN;
  const bool made = hub->epoll >= 0 && hub->event >= 0 && epoll_ctl(hub->epoll, EPOLL_CTL_ADD, hub->event, &e) == 0;
  if (made)
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, nullptr, nullptr, Server::asked,
                                 s.get(), MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, hub->limit + kSlack,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_CONNECTION_TIMEOUT, options.idle_seconds,
                                 MHD_OPTION_URI_LOG_CALLBACK, Server::line, s.get(), MHD_OPTION_NOTIFY_COMPLETED, Server::completed,
                                 s.get(), MHD_OPTION_NOTIFY_CONNECTION, Server::connected, s.get(), MHD_OPTION_END);
  if (!s->daemon) {
    *why = std::string("the HTTP server does not start: ") + strerror(errno);
    close(fd);
    return false;
  }
  hub->watcher = std::thread([hub] { hub->watch(); });
  server_ = std::move(s);
  return true;
}

int Http::port() const { return server_ ? server_->port : 0; }

void Http::refuse() {
  if (!server_ || server_->hub->refusing.exchange(true)) return;
  const int fd = MHD_quiesce_daemon(server_->daemon);
  if (fd >= 0) close(fd);
}

void Http::flush(std::chrono::milliseconds most) {
  if (!server_) return;
  Hub* const hub = server_->hub.get();
  for (const auto until = Clock::now() + most; Clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
    const std::lock_guard<std::mutex> lock(hub->mutex);
    if (hub->busy.empty()) return;
  }
}

void Http::stop() {
  if (!server_) return;
  Hub* const hub = server_->hub.get();
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard<std::mutex> lock(hub->mutex);
    hub->stopping = true;  // from here on there are no more calls
    for (const auto& [id, c] : hub->connections)
      if (c->call) calls.push_back(c->call);
  }
  for (const auto& call : calls) call->lose(true);  // and none is suspended
  MHD_stop_daemon(server_->daemon);
  {
    const std::lock_guard<std::mutex> lock(hub->mutex);
    hub->ending = true;
  }
  hub->signal();
  hub->watcher.join();
  for (std::vector<std::function<void()>> last; !hub->posted.empty(); last.clear()) {
    last.swap(hub->posted);
    for (auto& call : last) call();
  }
  close(std::exchange(hub->epoll, -1));
  close(std::exchange(hub->event, -1));
  server_.reset();
}

size_t Http::connections() const {
  if (!server_) return 0;
  const std::lock_guard<std::mutex> lock(server_->hub->mutex);
  return server_->hub->connections.size();
}

size_t Http::body_bytes() const { return server_ ? server_->hub->held.load() : 0; }

bool same_secret(std::string_view a, std::string_view b) {
  volatile unsigned char differs = a.size() != b.size();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  return !differs;
}

}  // namespace server
