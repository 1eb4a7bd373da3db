#include "served_models.h"

#include <algorithm>

namespace server {

constexpr auto kEnding = std::chrono::milliseconds(20);  // from an answer's last byte until its model counts as free, at most

Models::~Models() { stop(std::chrono::milliseconds(0)); }

bool Models::start(const ModelsOptions& options, std::string* why) {
  options_ = options;
  for (const Model::Options& m : options.models) {
    entries_.push_back({m, unix_seconds(), 0, nullptr});
    entries_.back().options.scales = Model::first_scales(m);
  }
  for (Entry& e : entries_) {
    if (!plan(&e, why)) return false;
    if (options_.memory_bytes && e.plan_bytes > options_.memory_bytes) {
      *why = e.options.path + ": the plan takes " + std::to_string(e.plan_bytes) + " bytes, the cap on memory is " +
             std::to_string(options_.memory_bytes) + "; a smaller context, fewer sequences or a smaller prefix cache take less";
      return false;
    }
  }
  for (Entry& e : entries_) {
    if (!load(&e, why)) return false;
    if (options_.memory_bytes) break;
  }
  if (options_.idle.count()) watcher_ = std::thread([this] { watch(); });
  return true;
}

void Models::stop(std::chrono::milliseconds wait) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  over_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  const auto until = Clock::now() + wait;
  for (Entry& e : entries_) {
    std::shared_ptr<Served> served;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      served = e.served;
    }
    if (served)
      served->scheduler.stop(
          std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()), std::chrono::milliseconds(0)));
  }
}

// What the model takes loaded, before anything of it is: weights, tables, session, prefix cache, grammars.
bool Models::plan(Entry* e, std::string* why) const {
  Model::Options shape = e->options;
  shape.shape_only = true;
  Model model;
  size_t bytes = 0;
  if (!model.open(shape, why) || !Scheduler::plan(model, options_.scheduler, &bytes, why)) return false;
  e->plan_bytes = model.file_bytes() + model.memory_bytes() + bytes + e->options.grammar_bytes;
  return true;
}

bool Models::load(Entry* e, std::string* why) {
  auto served = std::make_shared<Served>();
  served->id = e->options.name;
  served->created = e->created;
  served->model = std::make_shared<Model>();
  if (!served->model->open(e->options, why) ||
      !served->scheduler.start(served->model, options_.scheduler, entries_.size() > 1 ? &pass_ : nullptr, why))
    return false;
  served->used = served->asked = Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  e->served = std::move(served);
  return true;
}

bool Models::is_free(const Entry& e) { return e.served && e.served.use_count() == 1; }

// What is still to be written to a disk may take a while, in which the others are there.
void Models::unload(Entry* e, std::unique_lock<std::mutex>* lock) {
  const std::shared_ptr<Served> going = std::move(e->served);
  e->served = nullptr;
  lock->unlock();
  going->scheduler.stop(std::chrono::milliseconds(0));
}

std::shared_ptr<Served> Models::get(const std::string& name, Refusal* why) {
  Entry* wanted = nullptr;
  const auto loaded = [&]() -> std::shared_ptr<Served> {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!wanted->served) return nullptr;
    wanted->served->used = wanted->served->asked = Clock::now();
    return {wanted->served.get(), [served = wanted->served](Served*) { served->used = Clock::now(); }};
  };
  for (Entry& e : entries_)  // names and their number stay
    if (name.empty() || e.options.name == name) {
      wanted = &e;
      break;
    }
  if (!wanted) return *why = {404, "'model' names '" + name.substr(0, 128) + "', which is not served", "model_not_found", "model"}, nullptr;
  if (auto served = loaded()) return served;
  const std::lock_guard<std::mutex> one(loading_);
  if (auto served = loaded()) return served;
  for (const auto until = Clock::now() + kEnding;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (ending_) return *why = {503, "the server is stopping", "stopping", {}}, nullptr;
    size_t all = 0, busy = 0;
    Entry *oldest = nullptr, *oldest_free = nullptr;
    const auto older = [](const Entry& e, const Entry* than) { return !than || e.served->asked.load() < than->served->asked.load(); };
    for (Entry& e : entries_) {
      if (!e.served) continue;
      all += e.plan_bytes;
      if (!is_free(e)) busy += e.plan_bytes;
      if (older(e, oldest)) oldest = &e;
      if (is_free(e) && older(e, oldest_free)) oldest_free = &e;
    }
    if (!options_.memory_bytes || all + wanted->plan_bytes <= options_.memory_bytes) break;
    const bool in_vain = busy + wanted->plan_bytes > options_.memory_bytes;  // then nobody goes
    if ((in_vain || oldest != oldest_free) && Clock::now() < until) {        // whose answer has just ended may be free at once
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    if (in_vain) {
      *why = {503,
              wanted->options.name + " takes " + std::to_string(wanted->plan_bytes) + " bytes; models that are at work have " +
                  std::to_string(busy) + " of the cap of " + std::to_string(options_.memory_bytes),
              "no_memory", "model"};
      return nullptr;
    }
    unload(oldest_free, &lock);
  }
  std::string text;
  if (!load(wanted, &text)) return *why = {503, text, "model_load_failed", "model"}, nullptr;
  over_.notify_all();
  return loaded();
}

void Models::look(const std::function<void(const std::vector<Known>&)>& at) const {
  std::vector<Known> all;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& e : entries_) all.push_back({e.options.name, e.options.path, e.created, e.plan_bytes, e.served.get()});
  at(all);
}

void Models::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    auto next = Clock::time_point::max();
    Entry* over = nullptr;
    for (Entry& e : entries_) {
      if (!e.served) continue;
      const auto now = Clock::now(), until = (is_free(e) ? e.served->used.load() : now) + options_.idle;
      if (until <= now) over = &e;
      next = std::min(next, until);
    }
    if (over) {
      lock.unlock();
      const std::lock_guard<std::mutex> one(loading_);  // whoever asks for it meanwhile waits for it to be gone
      lock.lock();
      if (is_free(*over) && over->served->used.load() + options_.idle <= Clock::now()) unload(over, &lock), lock.lock();
    } else if (next == Clock::time_point::max()) {
      over_.wait(lock);
    } else {
      over_.wait_until(lock, next);
    }
  }
}

}  // namespace server
