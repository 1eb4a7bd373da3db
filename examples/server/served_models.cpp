#include "served_models.h"

#include <algorithm>

namespace server {

Models::~Models() { stop(std::chrono::milliseconds(0)); }

bool Models::start(const ModelsOptions& options, std::string* why) {
  options_ = options;
  for (const Model::Options& m : options.models) entries_.push_back({m, unix_seconds(), 0, nullptr, {}});
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
  for (const Known& k : list())
    if (k.served)
      k.served->scheduler.stop(
          std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()), std::chrono::milliseconds(0)));
}

// What the model takes loaded, before anything of it is: weights, tables, session, prefix cache.
bool Models::plan(Entry* e, std::string* why) const {
  Model::Options shape = e->options;
  shape.shape_only = true;
  Model model;
  size_t bytes = 0;
  if (!model.open(shape, why) || !Scheduler::plan(model, options_.scheduler, &bytes, why)) return false;
  e->plan_bytes = model.file_bytes() + model.memory_bytes() + bytes;
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
  const std::lock_guard<std::mutex> lock(mutex_);
  e->served = std::move(served);
  e->used = Clock::now();
  return true;
}

// Under mutex_: nobody holds it but the entry, so nobody gets it meanwhile.
void Models::unload(Entry* e) {
  e->served->scheduler.stop(std::chrono::milliseconds(0));
  e->served = nullptr;
}

std::shared_ptr<Served> Models::get(const std::string& name, Refusal* why) {
  Entry* wanted = nullptr;
  const auto loaded = [&]() -> std::shared_ptr<Served> {
    const std::lock_guard<std::mutex> lock(mutex_);
    wanted->used = Clock::now();
    return wanted->served;
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
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ending_) return *why = {503, "the server is stopping", "stopping", {}}, nullptr;
    const auto used = [&] {
      size_t bytes = 0;
      for (const Entry& e : entries_) bytes += e.served ? e.plan_bytes : 0;
      return bytes;
    };
    while (options_.memory_bytes && used() + wanted->plan_bytes > options_.memory_bytes) {
      Entry* oldest = nullptr;
      for (Entry& e : entries_)
        if (e.served && e.served.use_count() == 1 && (!oldest || e.used < oldest->used)) oldest = &e;
      if (!oldest) {
        *why = {503,
                wanted->options.name + " takes " + std::to_string(wanted->plan_bytes) + " bytes; models that are at work have " +
                    std::to_string(used()) + " of the cap of " + std::to_string(options_.memory_bytes),
                "no_memory", "model"};
        return nullptr;
      }
      unload(oldest);
    }
  }
  std::string text;
  if (!load(wanted, &text)) return *why = {503, text, "model_load_failed", "model"}, nullptr;
  over_.notify_all();
  return loaded();
}

std::vector<Models::Known> Models::list() const {
  std::vector<Known> out;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& e : entries_) out.push_back({e.options.name, e.options.path, e.created, e.plan_bytes, e.served});
  return out;
}

void Models::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    auto next = Clock::time_point::max();
    const auto now = Clock::now();
    for (Entry& e : entries_) {
      if (!e.served) continue;
      const bool busy = e.served.use_count() > 1;
      if (busy) e.used = now;
      if (!busy && e.used + options_.idle <= now)
        unload(&e);
      else
        next = std::min(next, e.used + options_.idle);
    }
    if (next == Clock::time_point::max())
      over_.wait(lock);
    else
      over_.wait_until(lock, next);
  }
}

}  // namespace server
