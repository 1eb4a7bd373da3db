// HTTP for linnet-server, by GNU libmicrohttpd: one thread of its own takes requests in, bounded in every respect whatever clients do, and
// hands over those that are whole and allowed; answers are written from any thread, at once or as a stream, and never wait for a client.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace server {

struct HttpOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, numeric, or "localhost"
  int port = 8080;                    // 0: any free one
  int listen_fd = -1;                 // a socket that listens already (socket activation) in place of both; closed by stop()
  std::vector<std::string> keys;      // `Authorization: Bearer KEY` or `x-api-key: KEY`; none: everybody may
  // Names beside loopback's and `address` that Host may have, without port. A name that a foreign page's DNS entry points here is refused.
  std::vector<std::string> hosts;
  std::vector<std::string> origins;         // pages of other origins that may ask ("*": any; only with keys)
  size_t max_body = size_t{8} << 20;        // bytes of one request: 413
  size_t bodies_budget = size_t{64} << 20;  // of all that are held at a time: 503
  unsigned max_connections = 4096;          // and no more than the limit of descriptors leaves
  unsigned request_seconds = 30;            // for a whole request, however it comes
  unsigned idle_seconds = 60;               // of a connection between requests, or that takes nothing of its answer
};

// A request and its answer. Calls come from any thread; the connection may be gone at any time, and then they do nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;

  std::string method, path;  // "/v1/models", decoded, without the query; HEAD comes as GET
  std::map<std::string, std::string, std::less<>> query;
  std::string body;
  size_t key = 0;                                               // of HttpOptions.keys; 0 where there are none
  virtual std::string header(std::string_view name) const = 0;  // "" where absent; only until the handler has returned
  virtual void free_body() { body.clear(); }                    // it counts in bodies_budget until then, or until the exchange is dropped

  using Headers = std::vector<std::pair<std::string, std::string>>;
  // The whole answer. What was begun is not begun again: later calls do nothing.
  virtual void reply(int status, std::string_view type, std::string text, Headers headers = {}) = 0;
  // 200 and a body that comes in pieces: begin, write ..., end.
  virtual void begin(std::string_view type, Headers headers = {}) = 0;
  virtual void write(std::string_view piece) = 0;  // never waits
  virtual void end() = 0;
  virtual size_t pending() const = 0;  // bytes written and not yet taken by the system
  virtual bool gone() const = 0;       // the client has closed, or was cut off
  // Called once, on a thread of the server's, when pending() has fallen to 64 KiB after it was above 256 KiB; and when the client goes
  // before the answer's end, at once if that is so already (one that was missed counts). Whichever comes first; who wants the next asks
  // again. Must not block; may not call reply, begin, write or end. After stop() it is called by who asks.
  virtual void on_change(std::function<void()> call) = 0;
};

class Http {
 public:
  Http();
  ~Http();  // stop()
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // `handle` is called on the server's thread with each whole request that is allowed, and must neither block nor throw; it keeps the
  // exchange until the answer has ended (one that is dropped without an answer is a 500). False and why where there is no such address.
  bool start(const HttpOptions& options, std::function<void(std::shared_ptr<Exchange>)> handle, std::string* why);
  int port() const;
  void refuse();                               // from here on new connections are not taken; those that are there go on
  void flush(std::chrono::milliseconds most);  // waits until answers that have ended have been taken
  void stop();                                 // ends at once, with whoever is connected
  size_t connections() const;
  size_t body_bytes() const;  // held now

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace server
