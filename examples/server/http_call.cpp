#include "http_call.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace server {
namespace {

constexpr size_t kHigh = 256 << 10, kLow = 64 << 10;  // of what a client has not taken: on_change
constexpr unsigned kSlowSeconds = 3;                  // for a body, where others find no room

}  // namespace

std::string error_body(const char* message, const char* code, int status) {
  const char* type = status == 401   ? "authentication_error"
                     : status == 403 ? "permission_error"
                     : status >= 500 ? "server_error"
                                     : "invalid_request_error";
  return std::string("{\"type\":\"error\",\"error\":{\"message\":\"") + message + "\",\"type\":\"" + type +
         "\",\"param\":null,\"code\":\"" + code + "\"}}\n";
}

// ---- connections ---------------------------------------------------------------------------------------------------------------------

Hub::~Hub() {
  if (epoll >= 0) close(epoll);
  if (event >= 0) close(event);
}

void Hub::signal() const {
  const uint64_t one = 1;
  if (write(event, &one, sizeof one) < 0) return;  // it is awake as it is
}

void Hub::move(Connection* c, std::list<Connection>* to) {
  c->since = Clock::now();
  to->splice(to->end(), *c->in, c->self);
  c->in = to;
  if (c->closed && to != &busy) look_again(c);  // the edge of its end may have come with the bytes of a request
  if (deadline() < wake_at) wake_at = Clock::time_point::min(), signal();
}

Clock::time_point Hub::deadline() const {
  auto first = Clock::time_point::max();
  if (!incomplete.empty()) first = incomplete.front().since + std::chrono::seconds(options.request_seconds);
  if (!idle.empty()) first = std::min(first, idle.front().since + std::chrono::seconds(options.idle_seconds));
  return first;
}

void Hub::cut_off(Connection* c) {
  shutdown(c->socket, SHUT_RDWR);
  cut.splice(cut.end(), *c->in, c->self);
  c->in = &cut;
}

void Hub::look_again(const Connection* c) { shutdown(c->socket, SHUT_RD); }

void Hub::make_room() {
  while (incomplete.size() + idle.size() + busy.size() > limit) {
    if (incomplete.empty() && idle.empty()) return;
    const bool i = idle.empty() || (!incomplete.empty() && incomplete.front().since <= idle.front().since);
    cut_off(&(i ? incomplete : idle).front());
  }
}

void Hub::make_room_for(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto late = Clock::now() - std::chrono::seconds(kSlowSeconds);
  size_t freed = 0;
  for (auto c = incomplete.begin(); c != incomplete.end() && c->since < late && freed < bytes;) {
    Connection* const slow = &*c++;
    if (slow->body) freed += slow->body, cut_off(slow);
  }
}

void Hub::post(std::function<void()> call) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!ending) {
      posted.push_back(std::move(call));
      return signal();
    }
  }
  call();
}

void Hub::watch() {
  epoll_event events[64];
  for (std::unique_lock<std::mutex> lock(mutex); !ending;) {
    const auto now = Clock::now();
    while (!incomplete.empty() && incomplete.front().since + std::chrono::seconds(options.request_seconds) <= now)
      cut_off(&incomplete.front());
    while (!idle.empty() && idle.front().since + std::chrono::seconds(options.idle_seconds) <= now) cut_off(&idle.front());
    wake_at = deadline();
    int wait = -1;
    if (wake_at != Clock::time_point::max())
      wait = 1 + static_cast<int>(std::min<int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(wake_at - now).count(), 3600000));
    if (!posted.empty()) wait = 0;
    lock.unlock();
    const int n = epoll_wait(epoll, events, 64, wait);
    for (int i = 0; i < n; ++i) {
      const uint64_t id = events[i].data.u64;  // a copy: the struct is packed
      if (id == 0) {
        uint64_t count;
        if (::read(event, &count, sizeof count) < 0) continue;
        continue;
      }
      std::shared_ptr<Call> call;
      {
        const std::lock_guard<std::mutex> of_calls(mutex);
        const auto found = connections.find(id);
        if (found == connections.end()) continue;
        Connection* const c = found->second;
        c->closed = true;
        if (c->in == &idle || c->in == &incomplete) look_again(c);
        call = c->call;
      }
      if (call) call->lose(false);
    }
    lock.lock();
    std::vector<std::function<void()>> now_posted;
    now_posted.swap(posted);
    lock.unlock();
    for (auto& call : now_posted) call();
    now_posted.clear();
    lock.lock();
  }
}

// ---- an answer -----------------------------------------------------------------------------------------------------------------------

bool Call::suspend(std::function<void()>* tell) {
  if (from->closed) return drop(tell), false;
  suspended = true;
  MHD_suspend_connection(connection);
  return true;
}

void Call::wake() {
  if (!suspended) return;
  suspended = false;
  MHD_resume_connection(connection);
}

void Call::reply(int code, std::string_view as, std::string text, Exchange::Headers more) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (begun || gone) return;
  status = code, type = as, out = std::move(text), headers = std::move(more);
  pending = out.size();
  begun = ended = true;
  wake();
}

void Call::begin(std::string_view as, Exchange::Headers more) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (begun || gone) return;
  status = 200, type = as, headers = std::move(more);
  begun = stream = true;
  wake();
}

void Call::write(std::string_view piece) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!stream || ended || gone || piece.empty()) return;
  out.append(piece);
  if ((pending += piece.size()) > kHigh) high = true, fell = false;
  wake();
}

void Call::end() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!stream || ended || gone) return;
  ended = true;
  wake();
}

void Call::abandon() {
  reply(500, "application/json", error_body("the server gave no answer", "internal_error", 500), {});
  const std::lock_guard<std::mutex> lock(mutex);
  if (ended || gone) return;
  broken = true;
  wake();
}

void Call::on_change(std::function<void()> call) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!gone && !std::exchange(fell, false)) {
      if (connection) change.swap(call);
      return;
    }
    change.swap(call);
    call.swap(change);
  }
  hub->post(std::move(call));
}

void Call::lose(bool everybody) {
  std::function<void()> tell;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!connection || gone || (!everybody && (ended || !(suspended || queued)))) return;
    drop(&tell);
    wake();
    shutdown(from->socket, SHUT_RDWR);  // open: over() comes before it is closed
  }
  if (tell) tell();
}

void Call::drop(std::function<void()>* tell) {
  std::string().swap(out);
  taken = in_flight = 0;
  pending = 0;
  gone = true;
  if (!ended) tell->swap(change);
}

void Call::over(bool well) {
  std::function<void()> tell, unused;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    connection = nullptr;
    if (!gone && !(well && ended)) drop(&tell);
    std::string().swap(out);
    taken = in_flight = 0;
    pending = 0;
    unused.swap(change);
  }
  if (tell) tell();
}

ssize_t Call::read(char* to, size_t room) {
  std::function<void()> tell;
  ssize_t got = MHD_CONTENT_READER_END_WITH_ERROR;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (gone) return got;
    pending -= std::exchange(in_flight, 0);
    if (high && pending <= kLow) {
      high = false;
      fell = !change;
      tell.swap(change);
    }
    if (taken < out.size()) {
      in_flight = std::min(room, out.size() - taken);
      memcpy(to, out.data() + taken, in_flight);
      taken += in_flight;
      got = static_cast<ssize_t>(in_flight);
      if (taken == out.size() && out.capacity() > kHigh) std::string().swap(out), taken = 0;
      if (taken > out.size() / 2) out.erase(0, std::exchange(taken, 0));
    } else if (ended) {
      got = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (!broken && suspend(&tell)) {
      got = 0;
    }
  }
  if (tell) tell();
  return got;
}

}  // namespace server
