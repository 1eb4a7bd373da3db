// The assistant's page, served on loopback alone: the page itself, the pipeline's events as they come, and typed requests. Other users of
// the machine reach loopback too: every request needs the token of the printed address. Memory and threads are bounded whatever clients do,
// and those who finish no request keep nobody out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct MHD_Connection;
struct MHD_Daemon;

namespace assistant {

class Web {
 public:
  Web() = default;
  ~Web() { stop(); }
  Web(const Web&) = delete;
  Web& operator=(const Web&) = delete;

  // Serves http://127.0.0.1:port/ (0: any free port) on threads of its own. False and why, e.g. when the port is taken. Set on_request
  // before.
  bool start(int port, std::string* why);
  int port() const { return port_; }
  const std::string& token() const { return token_; }  // of this start
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_) + "/?token=" + token_; }

  // One event, a JSON object without line breaks. From any thread; what comes before start() is shown to those who listen later. Never
  // waits for a client.
  void publish(const std::string& json_line);

  // Takes a typed request (valid UTF-8, 1 to kMaxRequest bytes, no control characters) on the server's thread: to be queued, not answered
  // there. False: too many wait, the client is told so.
  void on_request(std::function<bool(std::string text)> take) { take_ = std::move(take); }

  // Ends at once, with whoever is connected. Not from on_request.
  void stop();

  static constexpr size_t kMaxRequest = 1000;
  static constexpr size_t kMaxClients = 48, kMaxListeners = 32;
  // Of those whose request is not complete: one more takes the place of the oldest. So there is always room to come in, and who has a whole
  // request to send is heard.
  static constexpr size_t kMaxWaiting = 8;
  static constexpr int kRequestSeconds = 5;  // for a whole request, however it comes
  static constexpr size_t kMaxEvents = 2000, kMaxEventBytes = size_t{1} << 20;

 private:
  friend struct Server;  // what the HTTP library calls
  struct Event {
    uint64_t id;
    std::string kind, line;
  };
  struct Listener;
  struct Waiting {
    MHD_Connection* connection;
    int socket;
    std::chrono::steady_clock::time_point since;
    bool cut = false;  // shut down, to be closed by the server's thread
  };

  void came(MHD_Connection* connection, int socket);
  void done(const MHD_Connection* connection);  // its request is complete, or it has gone
  void watch();
  bool next_events(Listener* listener);
  void wake(Listener* listener);

  MHD_Daemon* daemon_ = nullptr;
  int port_ = 0;
  std::function<bool(std::string)> take_;
  std::string start_id_;  // tells this run's event ids from an earlier one's
  std::string token_;

  std::mutex waiting_mutex_;      // of what follows
  std::vector<Waiting> waiting_;  // the oldest first
  bool ending_ = false;
  std::condition_variable end_;
  std::thread watcher_;

  std::mutex mutex_;  // of what follows
  bool stopping_ = false;
  std::vector<Listener*> listeners_;  // the oldest first
  std::deque<Event> events_;
  size_t event_bytes_ = 0;
  uint64_t next_id_ = 1, lost_ = 0;  // lost_: the newest event that had to go for want of room
};

}  // namespace assistant
