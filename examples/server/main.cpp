// linnet-server: an OpenAI-compatible server for models on this machine.
#include <linnet.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>

#include "service.h"

namespace {

using namespace server;

constexpr char kUsage[] =
    "usage: linnet serve -m [NAME=]MODEL [options]\n"
    "\n"
    "Serves models to OpenAI's, Anthropic's and llama.cpp's clients, and a page for chats, at http://127.0.0.1:8080/.\n"
    "\n"
    "  -m, --model [NAME=]PATH  a packed GGUF, or what linnet convert takes; more than once: several models\n"
    "      --lora PATH[:SCALE]  an adapter beside the model before it (GGUF, or a PEFT folder); more than once: requests choose\n"
    "      --host ADDRESS       where to listen (127.0.0.1); another address needs --api-key or --open\n"
    "      --port N             0 for any free one (8080)\n"
    "      --api-key KEY|@FILE  who may ask; more than once, or a file with a key and its weight (1) on each line\n"
    "      --open               without keys on an address that others reach\n"
    "      --allow-host NAME    a name of this server beside localhost, as a proxy passes it on\n"
    "      --allow-origin URL   pages of this origin may ask\n"
    "  -c, --context N          positions of each sequence (4096, or what the model has)\n"
    "      --parallel N         sequences that are computed together (4)\n"
    "      --pool N             positions of the KV cache for all of them (context times parallel)\n"
    "  -t, --threads N          (the CPUs of this process)\n"
    "      --weights FMT        of models that are packed on the way in, as linnet convert has it\n"
    "      --kv FMT             of the KV cache (i8)\n"
    "      --chunk N            rows of a prompt computed at a time (256)\n"
    "      --rows N             of them beside others' tokens (0: so many that a pass takes 1.85 times as long)\n"
    "      --prefix-cache MIB   what prompts have in common is computed once (256; 0: off)\n"
    "      --cache-dir DIR      what the prefix cache holds is kept there, too, for the next start\n"
    "      --cache-disk MIB     bytes of that folder (4096)\n"
    "      --grammars MIB       of each model, for schemas and grammars of requests: those at work, and remembered ones (64)\n"
    "      --memory MIB         of all models that are loaded: others are loaded when they are asked for (no cap, all are)\n"
    "      --idle SECONDS       without a request, until a model is unloaded (0: never)\n"
    "      --queue N            requests that wait (64); more are refused with 429\n"
    "      --queue-key N        ... of one key\n"
    "      --max-key N          sequences of one key\n"
    "      --fair-by user       a request's \"user\" tells who asks, beside its key\n"
    "      --stalled SECONDS    for a client to go on taking its answer, until it is dropped (60)\n"
    "      --temp T             of requests that say none (1)\n"
    "      --max-body MIB       of a request (8)\n"
    "      --state              /v1/state gives out what prompts computed, and takes it in\n"
    "      --drain SECONDS      for requests at work when the server is told to stop (30)\n"
    "      --no-cache           packed models are not kept for the next start\n"
    "      --help, --version\n";

[[noreturn]] void usage_error(const std::string& text) {
  std::fprintf(stderr, "linnet: serve: %s; see linnet serve --help\n", text.c_str());
  std::exit(2);
}

uint64_t count(const std::string& name, const std::string& value, uint64_t least, uint64_t most) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long n = strtoull(value.c_str(), &end, 10);
  if (value.empty() || value[0] < '0' || value[0] > '9' || *end || errno || n < least || n > most)
    usage_error("option '" + name + "' takes a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" +
                value + "'");
  return n;
}

void read_keys(const std::string& value, Settings* out) {
  const auto add = [&](const std::string& key, double weight) {
    if (key.empty() || key.find_first_of(" \t\r\n") != std::string::npos)
      usage_error("option '--api-key': a key is a word of one character or more");
    out->http.keys.push_back(key);
    out->models.scheduler.weights.push_back(weight);
  };
  if (value.empty() || value[0] != '@') return add(value, 1);
  std::ifstream file(value.substr(1));
  if (!file) usage_error("option '--api-key': " + value.substr(1) + ": " + strerror(errno));
  std::string line;
  for (int n = 1; std::getline(file, line); ++n) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    double weight = 1;
    if (space != std::string::npos) {
      char* end = nullptr;
      weight = strtod(line.c_str() + space, &end);
      if (*end || !(weight >= 0.01 && weight <= 100))
        usage_error("option '--api-key': " + value.substr(1) + ":" + std::to_string(n) + ": a weight is a number from 0.01 to 100");
    }
    add(line.substr(0, space), weight);
  }
  if (out->http.keys.empty()) usage_error("option '--api-key': " + value.substr(1) + " has no key");
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0; }

std::string cache_folder() {
  if (const char* xdg = getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') return std::string(xdg) + "/linnet";
  if (const char* home = getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/linnet";
  return {};
}

unsigned cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) ? 1 : static_cast<unsigned>(CPU_COUNT(&set));
}

void print_plan(const Models::Known& k) {
  if (!k.served) {
    std::printf("%s: %.1f MB by its plan, loaded when it is asked for\n", k.name.c_str(), static_cast<double>(k.plan_bytes) / 1e6);
    return;
  }
  const Served& m = *k.served;
  const Scheduler::Status status = m.scheduler.status();
  std::printf(
      "%s: %u sequences of %u positions; memory: file %.1f MB, model %.1f MB, session %.1f MB, prefix cache %.1f MB, grammars %.1f "
      "MB%s%s\n",
      k.name.c_str(), m.scheduler.n_sequences(), m.scheduler.n_context(), static_cast<double>(m.model->file_bytes()) / 1e6,
      static_cast<double>(m.model->memory_bytes()) / 1e6, static_cast<double>(status.session_bytes) / 1e6,
      static_cast<double>(status.prefix_bytes) / 1e6, static_cast<double>(m.model->grammar_bytes()) / 1e6,
      status.no_prefix.empty() ? "" : ": ", status.no_prefix.c_str());
}

int serve(int argc, char** argv) {
  Settings s;
  s.models.scheduler.session.n_sequences = 4;
  linnet_format weights = LINNET_FORMAT_DEFAULT;
  bool open = false, keeps = true;
  uint64_t drain = 30, grammar_bytes = Model::Options().grammar_bytes;
  unsigned threads = cpus();
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    const size_t equals = name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
    if (name == "--help" || name == "-h") return std::fputs(kUsage, stdout), 0;
    if (name == "--version") return std::printf("%s\n", linnet_build_info()), 0;
    if (name == "--open") {
      open = true;
      continue;
    }
    if (name == "--state") {
      s.states = true;
      continue;
    }
    if (name == "--no-cache") {
      keeps = false;
      continue;
    }
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    // usage lists all options, each behind blanks
    if (name.size() < 2 || name[0] != '-' || std::string(kUsage).find(" " + name + (name[1] == '-' ? " " : ",")) == std::string::npos)
      usage_error(name[0] == '-' ? "option '" + name + "' is not known" : "'" + name + "' is no option");
    if (equals == std::string::npos) {
      if (i + 1 == argc) usage_error("option '" + name + "' lacks its value");
      value = argv[++i];
    }
    const auto number = [&](uint64_t least, uint64_t most) { return count(name, value, least, most); };
    if (name == "-m" || name == "--model") {
      Model::Options m;
      const size_t at = value.find('=');
      const bool named = at != std::string::npos && at && value.find('/') > at;
      m.path = named ? value.substr(at + 1) : value;
      m.name = named ? value.substr(0, at) : m.path.substr(m.path.find_last_of('/', m.path.size() - 2) + 1);
      if (!named && m.name.size() > 5 && m.name.compare(m.name.size() - 5, 5, ".gguf") == 0) m.name.resize(m.name.size() - 5);
      if (!named && !m.name.empty() && m.name.back() == '/') m.name.pop_back();
      if (m.path.empty() || m.name.empty()) usage_error("option '" + name + "' takes a path, not '" + value + "'");
      for (const auto& other : s.models.models)
        if (other.name == m.name) usage_error("two models are called '" + m.name + "'");
      s.models.models.push_back(std::move(m));
    } else if (name == "--lora") {
      if (s.models.models.empty()) usage_error("option '--lora' stands behind the model that it is for");
      auto& loras = s.models.models.back().loras;
      const size_t colon = value.rfind(':');
      char* end = nullptr;
      float scale = 1;
      if (colon != std::string::npos && access(value.c_str(), F_OK)) scale = strtof(value.c_str() + colon + 1, &end);
      if (end && (*end || colon + 1 == value.size() || !(std::abs(scale) <= 1000)))
        usage_error("option '--lora' takes a path, or PATH:SCALE, not '" + value + "'");
      loras.emplace_back(end ? value.substr(0, colon) : value, scale);
      if (loras.size() > LINNET_LORA_MOST) usage_error("option '--lora': a model has at most 8");
    } else if (name == "--host")
      s.http.address = value;
    else if (name == "--port")
      s.http.port = static_cast<int>(number(0, 65535));
    else if (name == "--api-key")
      read_keys(value, &s);
    else if (name == "--allow-host")
      s.http.hosts.push_back(value);
    else if (name == "--allow-origin")
      s.http.origins.push_back(value);
    else if (name == "-c" || name == "--context")
      s.models.scheduler.session.n_context = static_cast<uint32_t>(number(2, 1u << 24));
    else if (name == "--parallel")
      s.models.scheduler.session.n_sequences = static_cast<uint32_t>(number(1, 63));
    else if (name == "--pool")
      s.models.scheduler.session.n_pool = static_cast<uint32_t>(number(2, 1u << 30));
    else if (name == "-t" || name == "--threads")
      threads = static_cast<unsigned>(number(1, 256));
    else if (name == "--chunk")
      s.models.scheduler.session.n_chunk = static_cast<uint32_t>(number(1, 4096));
    else if (name == "--rows")
      s.models.scheduler.rows = static_cast<uint32_t>(number(0, 4096));
    else if (name == "--prefix-cache")
      s.models.scheduler.prefix_bytes = number(0, 1u << 24) << 20;
    else if (name == "--cache-dir") {
      if (value.empty()) usage_error("option '--cache-dir' takes a folder");
      s.disk_folder = value;
    } else if (name == "--cache-disk")
      s.disk_bytes = number(1, 1u << 30) << 20;
    else if (name == "--queue")
      s.models.scheduler.max_queue = number(0, 1u << 20);
    else if (name == "--queue-key")
      s.models.scheduler.max_queue_key = number(0, 1u << 20);
    else if (name == "--max-key")
      s.models.scheduler.max_key = number(0, 63);
    else if (name == "--max-body")
      s.http.max_body = number(1, 1024) << 20;
    else if (name == "--grammars")
      grammar_bytes = number(1, 1u << 20) << 20;
    else if (name == "--memory")
      s.models.memory_bytes = number(1, 1u << 24) << 20;
    else if (name == "--idle")
      s.models.idle = std::chrono::seconds(number(0, 1u << 24));
    else if (name == "--stalled")
      s.models.scheduler.stalled = std::chrono::seconds(number(1, 86400));
    else if (name == "--drain")
      drain = number(0, 86400);
    else if (name == "--fair-by") {
      if (value != "user") usage_error("option '--fair-by' takes user, not '" + value + "'");
      s.fair_by_user = true;
    } else if (name == "--temp") {
      char* end = nullptr;
      s.temperature = strtod(value.c_str(), &end);
      if (value.empty() || *end || !(s.temperature >= 0 && s.temperature <= 100))
        usage_error("option '--temp' takes a number from 0 to 100, not '" + value + "'");
    } else if (name == "--weights" || name == "--kv") {
      const linnet_format format = linnet_format_from_name(value.c_str());
      if (format == LINNET_FORMAT_DEFAULT) usage_error("option '" + name + "': there is no format '" + value + "'");
      if (name == "--kv")
        s.models.scheduler.session.k_format = s.models.scheduler.session.v_format = format;
      else
        weights = format;
    } else {
      usage_error("option '" + name + "' takes no value");
    }
  }
  if (!s.disk_folder.empty() && !s.models.scheduler.prefix_bytes)
    usage_error("option '--cache-dir' goes with a prefix cache, not with --prefix-cache 0");
  if (s.models.models.empty()) usage_error("option '-m' is missing");
  if (s.http.bodies_budget < 4 * s.http.max_body) s.http.bodies_budget = 4 * s.http.max_body;
  // A socket that systemd has opened: it decides who reaches it.
  const char *fds = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
  if (fds && pid && atol(pid) == getpid()) {
    if (strcmp(fds, "1")) usage_error("one socket is taken over, not " + std::string(fds));
    s.http.listen_fd = 3;
  } else if (!is_loopback(s.http.address) && s.http.keys.empty() && !open) {
    usage_error("'" + s.http.address + "' is reached by others: give --api-key, or --open for a server without keys");
  }
  for (Model::Options& m : s.models.models) {
    m.weights = weights;
    m.n_threads = threads;
    m.grammar_bytes = grammar_bytes;
    if (keeps) m.cache = cache_folder();
  }
  s.models.scheduler.session.n_threads = threads;
  if (s.models.scheduler.session.n_context && s.models.scheduler.session.n_pool &&
      s.models.scheduler.session.n_pool < s.models.scheduler.session.n_context)
    usage_error("option '--pool' takes at least the context's " + std::to_string(s.models.scheduler.session.n_context));

  sigset_t signals;
  sigemptyset(&signals);
  for (const int n : {SIGTERM, SIGINT}) sigaddset(&signals, n);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  // As many connections as the options allow take as many descriptors.
  rlimit files = {};
  if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, s.http.max_connections + 256);
    setrlimit(RLIMIT_NOFILE, &files);
  }

  Service service;
  std::string why;
  if (!service.start(s, &why)) return std::fprintf(stderr, "linnet: serve: %s\n", why.c_str()), 1;
  service.models().look([](const auto& all) {
    for (const auto& k : all) print_plan(k);
  });
  const bool v6 = s.http.address.find(':') != std::string::npos;
  std::printf("listening at http://%s%s%s:%d/\n", v6 ? "[" : "", s.http.address.c_str(), v6 ? "]" : "", service.port());
  std::fflush(stdout);

  int number = 0;
  sigwait(&signals, &number);
  std::fprintf(stderr, "linnet: serve: stopping\n");
  // A second signal ends it at once.
  for (const int n : {SIGTERM, SIGINT}) signal(n, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  service.stop(std::chrono::seconds(drain));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "linnet: serve: %s\n", e.what());
    return 1;
  }
}
