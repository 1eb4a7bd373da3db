// The models that are served: loaded when they are asked for, under one memory cap; who was not asked for longest goes when another needs
// the room, or after a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "generation.h"

namespace server {

struct ModelsOptions {
  std::vector<Model::Options> models;
  SchedulerOptions scheduler;
  size_t memory_bytes = 0;      // of all that are loaded, weights included; 0: no cap, and all are loaded at the start
  std::chrono::seconds idle{};  // without a request, until a model goes; 0: it stays
};

class Models {
 public:
  Models() = default;
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  // Plans each model, and loads the first, or where there is no cap all of them. False: one does not fit, or cannot be loaded.
  bool start(const ModelsOptions& options, std::string* why);
  void stop(std::chrono::milliseconds wait);

  // "": the first. It stays loaded while the pointer is held. NULL: there is none of that name (404), or it does not fit now (503).
  std::shared_ptr<Served> get(const std::string& name, Refusal* why);

  struct Known {
    std::string name, path;
    int64_t created = 0;
    size_t plan_bytes = 0;
    const Served* served = nullptr;  // NULL: not loaded
  };
  // All as they are; nothing is loaded or unloaded meanwhile, and nobody is kept from going by it.
  void look(const std::function<void(const std::vector<Known>&)>& at) const;

 private:
  struct Entry {
    Model::Options options;
    int64_t created = 0;
    size_t plan_bytes = 0;
    std::shared_ptr<Served> served;  // beside it requests have it that are at work
  };
  bool plan(Entry* entry, std::string* why) const;
  bool load(Entry* entry, std::string* why);
  static bool is_free(const Entry& entry);                        // it is loaded, and nobody is at work with it
  void unload(Entry* entry, std::unique_lock<std::mutex>* lock);  // under loading_ and mutex_, and returns without the latter
  void watch();

  ModelsOptions options_;
  std::mutex pass_;  // models take turns

  std::mutex loading_;        // one at a time
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable over_;
  std::vector<Entry> entries_;  // as many as there were at the start
  bool ending_ = false;
  std::thread watcher_;  // where models go after a time
};

}  // namespace server
