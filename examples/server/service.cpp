#include "service.h"

#include <linnet_device.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "chat_request.h"

namespace server {
namespace {

constexpr size_t kWorkers = 2;
constexpr size_t kMaxRequests = 1024;          // that wait for a worker
constexpr std::chrono::seconds kLastBytes{5};  // for clients to take the ends of their answers when the server stops

constexpr char kPage[] =
#include "page.inc"
    ;

void say(Exchange* exchange, const json& body) { exchange->reply(200, "application/json", dump(body)); }

json model_json(const Models::Known& k) {
  json out = {{"id", k.name},
              {"object", "model"},
              {"created", k.created},
              {"owned_by", "linnet"},
              {"status", {{"value", k.served ? "loaded" : "unloaded"}}}};
  if (!k.served) return out;
  const Served& s = *k.served;
  const linnet_model_desc& d = s.model->desc();
  out["meta"] = {{"n_vocab", d.n_vocab},   {"n_ctx", s.scheduler.n_context()}, {"n_ctx_train", d.n_context}, {"n_embd", d.d_model},
                 {"n_params", d.n_params}, {"size", d.weight_bytes},           {"weights", d.weights}};
  return out;
}

}  // namespace

// ---- what requests have in common
// ----------------------------------------------------------------------------------------------------------

std::shared_ptr<Served> Service::find(Fields* f, const char* name) {
  const std::string wanted = f->text(name);
  if (!f->ok()) return nullptr;
  Refusal why;
  auto served = models_.get(wanted, &why);
  if (!served) f->refuse(why);
  return served;
}

bool Service::read_job(Fields* f, Exchange& exchange, const Served& served, Generation* out, std::initializer_list<const char*> lengths) {
  read_sampling(f, *served.model, settings_.temperature, &out->sampling);
  read_loras(f, *served.model, &out->lora_scales);
  int64_t most = -1;
  for (const char* name : lengths)
    if (f->has(name) && (most = f->whole(name, -1, INT32_MAX, -1)) == 0) f->refuse(name, "must be at least 1");
  out->max_tokens = most > 0 ? static_cast<size_t>(most) : 0;
  out->ignore_eos = f->flag("ignore_eos", false);
  out->cache = f->flag("cache_prompt", true);
  const int64_t deadline = f->whole("deadline_ms", 1, INT64_C(86'400'000), 0);
  if (deadline) out->deadline = Clock::now() + std::chrono::milliseconds(deadline);
  const std::string priority = f->one_of("priority", {"low", "normal", "high"}, "normal");
  out->weight = priority == "high" ? 4 : priority == "low" ? 0.25 : 1;
  const std::string user = f->text("user");
  out->key = exchange.key;
  if (settings_.fair_by_user && !user.empty())
    out->key = settings_.http.keys.size() + 1 + std::hash<std::string>{}(std::to_string(exchange.key) + "\n" + user) % 65536;
  return f->ok();
}

// ---- routes
// --------------------------------------------------------------------------------------------------------------------------------

struct Routes {
  static void health(Service*, const std::shared_ptr<Exchange>& e, const json&) { say(e.get(), {{"status", "ok"}}); }

  static void models(Service* s, const std::shared_ptr<Exchange>& e, const json&) {
    json list = json::array();
    s->models_.look([&](const auto& all) {
      for (const auto& k : all) list.push_back(model_json(k));
    });
    say(e.get(), {{"object", "list"}, {"data", list}});
  }

  static void props(Service* s, const std::shared_ptr<Exchange>& e, const json&) {
    Refusal why;
    const auto served = s->models_.get("", &why);
    if (!served) return refuse(e.get(), why);
    const Served& m = *served;
    const linnet_template_desc& d = m.model->chat_desc();
    say(e.get(),
        {{"default_generation_settings", {{"n_ctx", m.scheduler.n_context()}, {"params", {{"temperature", s->settings_.temperature}}}}},
         {"total_slots", m.scheduler.n_sequences()},
         {"model_alias", m.id},
         {"model_path", m.model->path()},
         {"modalities", {{"vision", false}, {"audio", false}}},
         {"chat_template_caps",
          {{"supports_tools", d.calls != 0},
           {"supports_reasoning", d.reasoning != 0},
           {"reasoning_switch", m.model->has_chat() ? d.switch_name : ""}}},
         {"bos_token", m.model->token_text(m.model->desc().bos_id)},
         {"eos_token", m.model->token_text(m.model->desc().eos_id)},
         {"build_info", linnet_build_info()}});
  }

  static void slots(Service* s, const std::shared_ptr<Exchange>& e, const json&) {
    json list = json::array();
    s->models_.look([&](const auto& all) {
      for (const auto& k : all) {
        const auto& m = k.served;
        if (!m) continue;
        const Scheduler::Status status = m->scheduler.status();
        for (size_t i = 0; i < status.slots.size(); ++i) {
          const Scheduler::Slot& slot = status.slots[i];
          list.push_back({{"id", i},
                          {"model", m->id},
                          {"n_ctx", m->scheduler.n_context()},
                          {"is_processing", slot.busy},
                          {"n_prompt_tokens", slot.n_prompt},
                          {"n_decoded", slot.n_drawn}});
        }
      }
    });
    say(e.get(), list);
  }

  // As llama.cpp's server has them, of the first model or the one that the query names.
  static std::shared_ptr<Served> with_adapters(Service* s, Exchange* e) {
    Refusal why;
    const auto name = e->query.find("model");
    auto served = s->models_.get(name == e->query.end() ? "" : name->second, &why);
    if (!served) refuse(e, why);
    return served;
  }
  static void lora_adapters(Service* s, const std::shared_ptr<Exchange>& e, const json&) {
    const auto served = with_adapters(s, e.get());
    if (!served) return;
    const std::vector<float> scales = served->model->lora_scales().get();
    json list = json::array();
    for (const auto& l : served->model->loras()) list.push_back({{"id", list.size()}, {"path", l->path}, {"scale", scales[list.size()]}});
    say(e.get(), list);
  }
  // What requests have from now on that say nothing of adapters; those that are not named have no part.
  static void set_adapters(Service* s, const std::shared_ptr<Exchange>& e, const json& body) {
    const auto served = with_adapters(s, e.get());
    if (!served) return;
    std::vector<float> scales;
    if (!read_scales(body, served->model->loras().size(), &scales))
      return refuse(e.get(), {400, std::string("the body's elements ") + kWrongScales, "invalid_value", {}});
    served->model->lora_scales().set(std::move(scales));
    say(e.get(), {{"success", true}});
  }

  static void metrics(Service* s, const std::shared_ptr<Exchange>& e, const json&) {
    e->reply(200, "text/plain; version=0.0.4; charset=utf-8", s->metrics());
  }

  static void page(Service*, const std::shared_ptr<Exchange>& e, const json&) { e->reply(200, "text/html; charset=utf-8", kPage); }

  struct Route {
    const char *method, *path;
    void (*run)(Service*, const std::shared_ptr<Exchange>&, const json& body);
    bool list = false;  // the body is an array
  };
  static const Route kAll[];
  static void state(Service* s, const std::shared_ptr<Exchange>& e, const json& body) {
    if (s->settings_.states) return state_export(s, e, body);
    refuse(e.get(), {404, "states are given and taken with --state alone", "not_found", {}});
  }
};

const Routes::Route Routes::kAll[] = {
    {"POST", "/v1/chat/completions", openai_chat},
    {"POST", "/v1/completions", openai_completions},
    {"POST", "/v1/responses", openai_responses},
    {"POST", "/v1/embeddings", openai_embeddings},
    {"POST", "/v1/messages", anthropic_messages},
    {"POST", "/v1/messages/count_tokens", anthropic_count_tokens},
    {"GET", "/v1/models", models},
    {"GET", "/health", health},
    {"GET", "/v1/health", health},
    {"GET", "/metrics", metrics},
    {"GET", "/props", props},
    {"GET", "/slots", slots},
    {"GET", "/lora-adapters", lora_adapters},
    {"POST", "/lora-adapters", set_adapters, true},
    {"POST", "/v1/state", state},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/apply-template", apply_template},
    {"GET", "/", page},
};

void Service::answer(const std::shared_ptr<Exchange>& exchange) {
  Exchange* const e = exchange.get();
  const std::string method = e->method == "HEAD" ? "GET" : e->method;
  std::string others;  // methods that the path has
  if (method == "PUT" && e->path == "/v1/state" && settings_.states) return state_import(this, exchange);
  for (const Routes::Route& r : Routes::kAll) {
    if (e->path != r.path) continue;
    others += std::string(others.empty() ? "" : ", ") + r.method;
    if (method != r.method) continue;
    json body = json::object();
    Refusal why;
    if (method == "POST" && !read_json(e->body, &body, &why, r.list)) return refuse(e, why);
    e->free_body();
    return r.run(this, exchange, body);
  }
  if (!others.empty()) return refuse(e, {405, e->path + " takes " + others + " alone", "method_not_allowed", {}}, {{"Allow", others}});
  static constexpr std::string_view kModels = "/v1/models/";
  if (method == "GET" && e->path.compare(0, kModels.size(), kModels) == 0) {
    json found;
    models_.look([&](const auto& all) {
      for (const auto& k : all)
        if (e->path.compare(kModels.size(), std::string::npos, k.name) == 0) found = model_json(k);
    });
    if (!found.is_null()) return say(e, found);
    return refuse(e, {404, "there is no such model", "model_not_found", "model"});
  }
  refuse(e, {404, "there is no " + e->path.substr(0, 128), "not_found", {}});
}

std::string Service::metrics() const {
  std::string out;
  models_.look([&](const std::vector<Models::Known>& all) { out = metrics_of(all); });
  return out;
}

std::string Service::metrics_of(const std::vector<Models::Known>& all) const {
  std::string out;
  const auto put_model = [&](const char* name, const char* type, const char* help, auto value) {
    (((((((out += "# HELP linnet_") += name) += ' ') += help) += "\n# TYPE linnet_") += name) += ' ') += type;
    out += '\n';
    for (const auto& k : all) {
      const auto& m = k.served;
      if (!m) continue;
      char text[64];
      std::snprintf(text, sizeof text, "%.10g", static_cast<double>(value(*m)));
      out += std::string("linnet_") + name + "{model=" + dump(json(m->id)) + "} " + text + "\n";
    }
  };
  using S = Scheduler::Status;
  const auto put = [&](const char* name, const char* type, const char* help, auto value) {
    put_model(name, type, help, [&](const Served& m) { return value(m.scheduler.status()); });
  };
  put("requests_total", "counter", "Requests taken.", [](const S& s) { return s.n_jobs; });
  put("requests_refused_total", "counter", "Requests that found the queue full.", [](const S& s) { return s.n_refused; });
  put("requests_cancelled_total", "counter", "Requests whose client went away.", [](const S& s) { return s.n_cancelled; });
  put("requests_failed_total", "counter", "Requests that failed.", [](const S& s) { return s.n_failed; });
  put("requests_preempted_total", "counter", "Times that a request gave its place to another key's.",
      [](const S& s) { return s.n_preempted; });
  put("requests_processing", "gauge", "Requests that have a sequence.", [](const S& s) { return s.running; });
  put("requests_waiting", "gauge", "Requests in the queue.", [](const S& s) { return s.waiting; });
  put("prompt_tokens_total", "counter", "Prompt tokens computed.", [](const S& s) { return s.n_prompt_tokens; });
  put("cached_tokens_total", "counter", "Prompt tokens taken from the prefix cache.", [](const S& s) { return s.n_cached_tokens; });
  put("generated_tokens_total", "counter", "Tokens drawn.", [](const S& s) { return s.n_drawn_tokens; });
  put("calls_total", "counter", "What was done between passes: texts of embeddings, states.", [](const S& s) { return s.n_calls; });
  put("passes_total", "counter", "Passes over the weights.", [](const S& s) { return s.n_passes; });
  put("pass_seconds_total", "counter", "Time in passes.", [](const S& s) { return s.pass_s; });
  put("prefix_cache_used_bytes", "gauge", "Bytes of the prefix cache that hold something.", [](const S& s) { return s.prefix_used; });
  put_model("grammars_used_bytes", "gauge", "Bytes of grammars that are remembered or at work.",
            [](const Served& m) { return m.model->grammars_used(); });
  put("disk_cached_tokens_total", "counter", "Of the cached tokens, those that came from the disk cache.",
      [](const S& s) { return s.n_disk_tokens; });
  if (const auto& disk = settings_.models.scheduler.disk) {
    const DiskCache::Status d = disk->status();
    const auto put_disk = [&](const char* name, const char* type, const char* help, uint64_t value) {
      out += std::string("# HELP linnet_disk_cache_") + name + ' ' + help + "\n# TYPE linnet_disk_cache_" + name + ' ' + type +
             "\nlinnet_disk_cache_" + name + ' ' + std::to_string(value) + "\n";
    };
    put_disk("budget_bytes", "gauge", "Bytes that the folder may have.", d.budget);
    put_disk("bytes", "gauge", "Bytes that it has, other models' too.", d.bytes);
    put_disk("files", "gauge", "Files in it.", d.files);
    put_disk("written_bytes_total", "counter", "Bytes written to it.", d.written);
    put_disk("read_bytes_total", "counter", "Bytes read from it.", d.read);
    put_disk("waiting_bytes", "gauge", "Bytes that wait to be written.", d.buffered);
    put_disk("damaged_total", "counter", "Files that were removed since they were damaged.", d.n_damaged);
    put_disk("writes", "gauge", "1 while it is written to.", d.writes);
  }
  out += "# HELP linnet_memory_bytes Memory of the plan, by purpose.\n# TYPE linnet_memory_bytes gauge\n";
  for (const auto& k : all) {
    const auto& m = k.served;
    if (!m) continue;
    const S s = m->scheduler.status();
    const std::pair<const char*, size_t> parts[] = {{"weights", static_cast<size_t>(m->model->desc().weight_bytes)},
                                                    {"model", m->model->memory_bytes()},
                                                    {"session", s.session_bytes},
                                                    {"prefix_cache", s.prefix_bytes},
                                                    {"grammars", m->model->grammar_bytes()}};
    for (const auto& [purpose, bytes] : parts)
      out += "linnet_memory_bytes{model=" + dump(json(m->id)) + ",purpose=\"" + purpose + "\"} " + std::to_string(bytes) + "\n";
  }
  out += "# HELP linnet_connections Connections that are open.\n# TYPE linnet_connections gauge\nlinnet_connections " +
         std::to_string(http_.connections()) +
         "\n# HELP linnet_body_bytes Bytes of requests that are held.\n# TYPE linnet_body_bytes gauge\nlinnet_body_bytes " +
         std::to_string(http_.body_bytes()) + "\n";
  return out;
}

// ---- start, stop
// ---------------------------------------------------------------------------------------------------------------------------

Service::~Service() { stop(std::chrono::milliseconds(0)); }

bool Service::start(const Settings& settings, std::string* why) {
  settings_ = settings;
  if (!settings.disk_folder.empty()) {
    settings_.models.scheduler.disk = std::make_shared<DiskCache>();
    if (!settings_.models.scheduler.disk->open(settings.disk_folder, settings.disk_bytes, why)) return false;
  }
  if (!models_.start(settings_.models, why)) return false;
  for (size_t i = 0; i < kWorkers; ++i) workers_.emplace_back([this] { work(&requests_); });
  workers_.emplace_back([this] { work(&looks_); });
  return http_.start(
      settings.http,
      [this](std::shared_ptr<Exchange> exchange) {
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          auto& queue = exchange->method == "GET" && exchange->path != "/props" && exchange->path != "/lora-adapters"
                            ? looks_
                            : requests_;  // a model's, which loads
          if (!ending_ && queue.size() < kMaxRequests) {
            queue.push_back(std::move(exchange));
            come_.notify_all();
            return;
          }
        }
        refuse(exchange.get(), {503, "too many requests wait", "overloaded", {}});
      },
      why);
}

void Service::work(std::deque<std::shared_ptr<Exchange>>* from) {
  for (;;) {
    std::shared_ptr<Exchange> exchange;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      come_.wait(lock, [this, from] { return ending_ || !from->empty(); });
      if (from->empty()) return;
      exchange = std::move(from->front());
      from->pop_front();
    }
    if (exchange->gone()) continue;
    try {
      answer(exchange);
    } catch (const std::bad_alloc&) {
      refuse(exchange.get(), {503, "no memory for this request", "no_memory", {}});
    } catch (const std::exception& e) {
      refuse(exchange.get(), {500, e.what(), "server_error", {}});
    }
  }
}

void Service::stop(std::chrono::milliseconds wait) {
  http_.refuse();
  models_.stop(wait);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  come_.notify_all();
  for (std::thread& w : workers_) w.join();  // what still waits is refused
  workers_.clear();
  if (wait.count() > 0) http_.flush(kLastBytes);
  http_.stop();
}

}  // namespace server
