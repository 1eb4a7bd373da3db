// What of HTTP goes on between threads: connections and who is cut, and an answer on its way from the app to libmicrohttpd.
// Locks: a Call's own and the Hub's, never one within the other; libmicrohttpd's own are taken within a Call's (suspend, resume), and none
// of them is held when it calls the Call but the response's, which nothing else takes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http.h"

struct MHD_Connection;

namespace server {

// As OpenAI's and Anthropic's clients read it: the outer type is the latter's.
std::string error_body(const char* message, const char* code, int status);

using Clock = std::chrono::steady_clock;
struct Call;

// A connection that somebody has made, in one of the Hub's lists.
struct Connection {
  int socket;
  uint64_t id;
  Clock::time_point since = {};
  std::atomic<bool> closed = false;  // the client sends no more
  size_t body = 0;                   // bytes held for it, of a request that is not whole
  std::shared_ptr<Call> call = {};
  std::list<Connection>* in = nullptr;
  std::list<Connection>::iterator self = {};
  Connection(int s, uint64_t i) : socket(s), id(i) {}
};

// What calls and the two threads share; the second thread tells who has gone while libmicrohttpd does not look, cuts who is too slow, and
// makes calls that would otherwise be made under somebody's lock.
struct Hub {
  HttpOptions options;
  unsigned limit = 0;  // of connections
  std::atomic<bool> refusing{false};
  std::atomic<size_t> held{0};  // bytes of bodies

  int epoll = -1, event = -1;
  std::thread watcher;

  std::mutex mutex;                                   // of what follows
  std::list<Connection> incomplete, idle, busy, cut;  // the first two: the oldest first
  std::unordered_map<uint64_t, Connection*> connections;
  uint64_t next_id = 1;
  std::vector<std::function<void()>> posted;
  Clock::time_point wake_at = Clock::time_point::max();  // when the second thread wakes by itself
  bool stopping = false, ending = false;

  ~Hub();

  void signal() const;
  // Under mutex.
  void move(Connection* c, std::list<Connection>* to);
  Clock::time_point deadline() const;
  // Its socket is open: it leaves the lists before it is closed. libmicrohttpd then sees an end and closes it.
  void cut_off(Connection* c);
  // libmicrohttpd, which waits for edges, misses the end that comes along with bytes: so there is one more edge.
  static void look_again(const Connection* c);
  void make_room();

  // Bodies that are slow to come do not keep others' out for long: as many bytes go, those that were begun first.
  void make_room_for(size_t bytes);

  void post(std::function<void()> call);
  void watch();
};

// Counts bytes of a body as long as they are held.
struct Charge {
  std::shared_ptr<Hub> hub;
  size_t bytes = 0;
  explicit Charge(std::shared_ptr<Hub> h) : hub(std::move(h)) {}
  Charge(Charge&& other) noexcept : hub(std::move(other.hub)), bytes(std::exchange(other.bytes, 0)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() { release(); }
  bool add(size_t n) {
    if (hub->held.fetch_add(n) + n > hub->options.bodies_budget) return hub->held -= n, false;
    bytes += n;
    return true;
  }
  void release() {
    if (hub) hub->held -= std::exchange(bytes, 0);
  }
};

// One request's answer: the app writes, libmicrohttpd's thread reads. The connection is suspended while there is nothing for it to do, and
// touched from elsewhere only then.
struct Call {
  const std::shared_ptr<Hub> hub;
  std::atomic<bool> gone{false};
  std::atomic<size_t> pending{0};

  std::mutex mutex;              // of what follows
  MHD_Connection* connection;    // null when it is over
  const Connection* const from;  // there as long as `connection`
  bool suspended = false;
  bool begun = false, stream = false, ended = false, broken = false, queued = false;
  bool high = false, fell = false;
  int status = 0;
  std::string type, out;
  size_t taken = 0, in_flight = 0;  // bytes of `out`: given to libmicrohttpd; of these, not yet sent
  Exchange::Headers headers;
  std::function<void()> change;

  Call(std::shared_ptr<Hub> h, MHD_Connection* c, const Connection* f) : hub(std::move(h)), connection(c), from(f) {}

  // Under mutex, on libmicrohttpd's thread. False: nobody waits for more.
  bool suspend(std::function<void()>* tell);
  // Under mutex.
  void wake();

  void reply(int code, std::string_view as, std::string text, Exchange::Headers more);
  void begin(std::string_view as, Exchange::Headers more);
  void write(std::string_view piece);
  void end();
  // Nobody will write any more.
  void abandon();
  void on_change(std::function<void()> call);

  // The client has closed, or everybody is cut off. What is whole may still be taken, also what the app is about to say at once.
  void lose(bool everybody);
  // Under mutex.
  void drop(std::function<void()>* tell);
  // libmicrohttpd has done with the connection's request.
  void over(bool well);

  ssize_t read(char* to, size_t room);
};

}  // namespace server
