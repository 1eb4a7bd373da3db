// The assistant's page, served on loopback alone: the page itself, the pipeline's events as they come, and typed requests. One thread, memory bounded whatever clients do.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assistant {

class Web {
 public:
  Web() = default;
  ~Web() { stop(); }
  Web(const Web&) = delete;
  Web& operator=(const Web&) = delete;

  // Serves http://127.0.0.1:port/ (0: any free port). False and why, e.g. when the port is taken. Set on_request before.
  bool start(int port, std::string* why);
  int port() const { return port_; }

  // One event, a JSON object without line breaks. From any thread; what comes before start() is shown to those who listen later. Never waits for a client.
  void publish(const std::string& json_line);

  // Takes a typed request (valid UTF-8, 1 to kMaxRequest bytes, no control characters) on the server's thread: to be queued, not answered there. False: too many wait, the client is told so.
  void on_request(std::function<bool(std::string text)> take) { take_ = std::move(take); }

  // Ends at once, with whoever is connected. From any thread but the server's own.
  void stop();

  static constexpr size_t kMaxRequest = 1000;
  static constexpr size_t kMaxClients = 48, kMaxListeners = 32;
  static constexpr size_t kMaxEvents = 2000, kMaxEventBytes = size_t{1} << 20;

 private:
  struct Event {
    uint64_t id;
    std::string kind, line;
  };
  struct Client {
    int fd;
    bool listens = false, done = false;  // done: nothing more is read, closed once all is sent
    uint64_t next = 0;                   // listeners: the next event's id
    int64_t deadline_ms = 0;             // for whoever does not listen: until when the request and its answer must be through; for listeners, set while nothing can be sent
    std::string in, out;
    size_t sent = 0;
  };

  void serve();
  void accept_clients();
  bool receive(Client* c);  // false: the connection is over
  bool send_waiting(Client* c);
  void next_events(Client* c);
  void answer(Client* c, size_t head_end);
  void take_request(Client* c, const std::string& body);
  void wake();  // under mutex_

  int listener_ = -1, wake_read_ = -1, wake_write_ = -1, port_ = 0;
  bool out_of_files_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  std::function<bool(std::string)> take_;
  std::vector<Client> clients_;  // the server's thread alone
  std::string start_id_;         // tells this run's event ids from an earlier one's

  std::mutex mutex_;  // of what follows
  std::deque<Event> events_;
  size_t event_bytes_ = 0;
  uint64_t next_id_ = 1, lost_ = 0;  // lost_: the newest event that had to go for want of room
};

}  // namespace assistant
