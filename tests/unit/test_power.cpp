// The governor, replayed: traces of temperatures and times go in, thread counts and pauses come out. Sensors read from folders that the
// test writes, and sessions whose number of threads changes between passes.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/models.h"

using namespace test;

namespace {

constexpr uint64_t kMs = 1'000'000, kS = 1000 * kMs;

// A folder with sys/ in it that goes away with the test.
struct Board {
  std::string root = "/tmp/linnet-board-XXXXXX";
  Board() { REQUIRE(mkdtemp(root.data())); }
  ~Board() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root + "/sys/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void drop(const std::string& path) const { std::filesystem::remove_all(root + "/sys/" + path); }
};

// An object of the library in memory of its own.
template <class T>
struct Owned {
  linnet_need need{.size = sizeof need};
  std::unique_ptr<Memory> memory;
  T* p = nullptr;
  explicit Owned(linnet_status (*size)(linnet_need*, linnet_error*)) {
    linnet_error err{};
    check(size(&need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
  }
  Owned(const Owned&) = delete;
};

// Sensors, and what they said last.
struct Sensors : linnet_reading, Owned<linnet_sensors> {
  explicit Sensors(const char* root = nullptr) : linnet_reading{}, Owned(linnet_sensors_need) {
    linnet_error err{};
    size = sizeof(linnet_reading);
    check(linnet_sensors_init(&p, memory->p, need.bytes, root, &err), err);
  }
  void read(uint64_t now) {
    linnet_error err{};
    check(linnet_sensors_read(p, now, this, &err), err);
  }
  void report() {
    linnet_error err{};
    check(linnet_sensors_report(p, this, &err), err);
  }
};

// A governor, and what it decided last.
struct Governed : Owned<linnet_power> {
  Sensors sensors;  // of the app
  linnet_power_state power{.size = sizeof power};
  std::vector<uint32_t> changes;  // threads and, above 256, levels of pauses
  uint32_t n_blind = 0, n_hot = 0;
  uint64_t now = 0;

  Governed(const linnet_profile& profile, uint32_t n_threads) : Governed(profile, n_threads, nullptr) { sensors.report(); }
  Governed(const linnet_profile& profile, uint32_t n_threads, linnet_sensors* others) : Owned(linnet_power_need) {
    linnet_power_params params{.size = sizeof params};
    params.n_threads = n_threads;
    params.sensors = others ? others : sensors.p;
    params.user = this;
    params.fn = [](void* user, const linnet_power_state* s) {
      auto& g = *static_cast<Governed*>(user);
      g.changes.push_back(s->level >= s->n_steps ? 256 + s->level - s->n_steps : s->n_threads);
      g.n_blind += s->blind;
      g.n_hot += s->why == LINNET_POWER_HEAT;
    };
    linnet_error err{};
    check(linnet_power_init(&p, memory->p, need.bytes, &profile, &params, &err), err);
    get();
  }
  void get() {
    linnet_error err{};
    check(linnet_power_get(p, &power, &err), err);
  }
  void reading(float t, uint64_t at) {
    sensors.has = LINNET_HAS_TEMPERATURE;
    sensors.temperature = t;
    sensors.time_ns = at;
    sensors.report();
  }
  void step(uint32_t n_tokens, uint64_t at) {
    now = at;
    REQUIRE(linnet_power_step(p, n_tokens, now, &power, nullptr) == LINNET_OK);
  }
};

linnet_profile profile_of(float limit, float rate = 0, std::vector<uint32_t> steps = {}, uint32_t battery = 0) {
  linnet_profile p{};
  p.size = sizeof p;
  p.temperature_limit = limit;
  p.tokens_per_s = rate;
  p.battery = battery;
  std::copy(steps.begin(), steps.end(), p.steps);
  return p;
}

// A board as a body of one heat capacity: each busy thread brings `watts`, 1 °C per watt and second of warming, and it cools towards
// `ambient`. Tokens take 200 ms over the threads.
struct Plant {
  double ambient, per_thread, seconds, t;  // degrees; degrees above ambient that a thread holds; time constant
  float run(double dt, double threads) {
    const double target = ambient + per_thread * threads;
    t += (target - t) * (1 - std::exp(-dt / seconds));
    return static_cast<float>(t);
  }
};

struct Trace {
  float hottest = -100, coolest = 1000;
  std::vector<std::pair<double, uint32_t>> levels;  // seconds, level
  size_t changes_after(double from) const {
    size_t n = 0;
    for (const auto& [at, level] : levels) n += at >= from;
    return n;
  }
};

// `minutes` of decoding with readings twice a second; noise in degrees.
Trace replay(Governed& g, Plant& plant, double from_s, double minutes, double noise = 0) {
  Trace trace;
  uint64_t now = static_cast<uint64_t>(from_s * 1e9) + kS, read_at = 0;
  const uint64_t end = now + static_cast<uint64_t>(minutes * 60e9);
  uint32_t level = g.power.level, random = 1;
  while (now < end) {
    const double busy = 0.4 / g.power.n_threads, pause = static_cast<double>(g.power.pause_ns) * 1e-9;
    plant.run(busy, g.power.n_threads);
    const float t = plant.run(pause, 0.1);
    now += static_cast<uint64_t>((busy + pause) * 1e9);
    if (now - read_at >= kS / 2) {
      random = random * 1664525u + 1013904223u;
      g.reading(t + static_cast<float>(noise * (static_cast<double>(random >> 8) / 8388608.0 - 1)), now);
      read_at = now;
    }
    g.step(1, now);
    trace.hottest = std::max(trace.hottest, t);
    trace.coolest = std::min(trace.coolest, t);
    if (g.power.level != level) trace.levels.emplace_back(static_cast<double>(now) * 1e-9 - from_s, level = g.power.level);
    CHECK(g.power.n_threads >= 1);
  }
  return trace;
}

}  // namespace

TEST_CASE("heating up: the limit holds, and the governor settles instead of swinging") {
  for (const double seconds : {5.0, 20.0, 90.0})  // from a bare chip to a case of metal
    for (const double noise : {0.0, 1.5}) {
      INFO("time constant " << seconds << " s, noise " << noise << " degrees");
      Governed g(profile_of(80), 4);
      Plant plant{25, 17.5, seconds, 25};  // 4 threads end at 95, 3 at 77.5, 2 at 60
      const Trace first = replay(g, plant, 0, 20, noise);
      CHECK(first.hottest < 84 + noise);
      CHECK(first.hottest > 78);
      const Trace later = replay(g, plant, 1200, 40, noise);
      INFO(later.changes_after(0) << " changes in 40 minutes");
      CHECK(later.hottest < 83 + noise);
      CHECK(later.changes_after(0) <= 2 * 40 * 60 / 100);
      CHECK(g.power.n_threads >= 2);  // and not further down than it must
    }
}

TEST_CASE("a ladder that fits holds the limit without a change more than it takes") {
  Governed g(profile_of(80, 0, {4, 3, 2, 1}), 4);
  Plant plant{25, 17.5, 20, 25};
  replay(g, plant, 0, 5);
  // Three threads end at 77.5: within the band below the limit, so it stays there.
  const Trace later = replay(g, plant, 300, 60);
  CHECK(later.levels.empty());
  CHECK((g.power.n_threads == 3 && g.power.why == LINNET_POWER_HEAT));
}

TEST_CASE("too hot even with one thread: pauses, and the floor is one thread") {
  Governed g(profile_of(70), 4);
  Plant plant{60, 30, 10, 60};  // one thread ends at 90, half the time at 75, a quarter at 67
  const Trace trace = replay(g, plant, 0, 20);
  CHECK((g.power.n_threads == 1 && g.power.level >= g.power.n_steps && g.power.pause_ns > 0));
  CHECK(std::count(g.changes.begin(), g.changes.end(), 258u) > 0);  // the last level there is
  CHECK(trace.hottest < 95);
  Plant oven{100, 30, 10, 100};  // hopeless: it goes on at a quarter, and tells so
  replay(g, oven, 1200, 5);
  CHECK((g.power.n_threads == 1 && g.power.level == g.power.n_steps + 2 && g.power.why == LINNET_POWER_HEAT));
}

TEST_CASE("cooling: threads come back, all of them, one level at a time") {
  Governed g(profile_of(80), 8);
  Plant plant{75, 12, 10, 75};
  replay(g, plant, 0, 3);
  REQUIRE(g.power.n_threads == 1);
  plant.ambient = 0, plant.per_thread = 5;
  g.changes.clear();
  const Trace trace = replay(g, plant, 180, 30);
  CHECK((g.power.n_threads == 8 && g.power.level == 0 && g.power.why == LINNET_POWER_FREE && g.power.pause_ns == 0));
  CHECK(std::is_sorted(trace.levels.rbegin(), trace.levels.rend(), [](const auto& a, const auto& b) { return a.second < b.second; }));
  for (size_t i = 1; i < trace.levels.size(); ++i) CHECK(trace.levels[i].first - trace.levels[i - 1].first >= 10);
  REQUIRE_FALSE(g.changes.empty());
  CHECK(g.changes.back() == 8);
}

TEST_CASE("the same trace gives the same steps") {
  std::vector<uint32_t> changes[2];
  for (auto& c : changes) {
    Governed g(profile_of(75, 4), 4);
    Plant plant{30, 17.5, 15, 30};
    replay(g, plant, 0, 10, 1);
    c = g.changes;
  }
  CHECK((changes[0] == changes[1] && !changes[0].empty()));
}

TEST_CASE("sensors that jump, lie, stop or are not there") {
  const auto run = [](Governed& g, double from, double to, const std::function<void(uint64_t, uint32_t)>& put) {
    for (uint64_t now = static_cast<uint64_t>(from * 1e9), i = 0; now < static_cast<uint64_t>(to * 1e9); now += kS / 4, ++i) {
      if (i % 2 == 0) put(now, static_cast<uint32_t>(i / 2));
      g.step(1, now);
    }
  };
  SECTION("a single spike among good readings changes nothing") {
    Governed g(profile_of(80), 4);
    run(g, 1, 600, [&](uint64_t now, uint32_t i) { g.reading(i % 5 == 3 ? 130.0f : i % 7 == 6 ? -30.0f : 60.0f, now); });
    CHECK((g.changes.empty() && g.power.n_threads == 4));
  }
  SECTION("absurd values are no readings: not hot, and blind after 5 s") {
    for (const float absurd : {1e30f, -273.15f, std::nanf(""), HUGE_VALF, -HUGE_VALF, 4096.0f}) {
      Governed g(profile_of(80), 4);
      run(g, 1, 10, [&](uint64_t now, uint32_t) { g.reading(60, now); });
      run(g, 10, 60, [&](uint64_t now, uint32_t) { g.reading(absurd, now); });
      CHECK((g.power.n_threads == 4 && g.power.level == 0 && g.power.blind == 1 && g.n_blind == 1));
    }
  }
  SECTION("a sensor that stops leaves the level where it was, and says so once") {
    Governed g(profile_of(80), 4);
    run(g, 1, 5, [&](uint64_t now, uint32_t) { g.reading(85, now); });
    REQUIRE(g.power.n_threads < 4);
    const uint32_t threads = g.power.n_threads;
    const size_t before = g.changes.size();
    run(g, 5, 900, [&](uint64_t, uint32_t) {
      g.sensors.has = 0;
      g.sensors.report();
    });
    CHECK((g.power.n_threads == threads && g.power.blind == 1 && g.changes.size() == before + 1));
    run(g, 900, 960, [&](uint64_t now, uint32_t) { g.reading(50, now); });
    CHECK((g.power.n_threads == 4 && g.power.blind == 0));
  }
  SECTION("a reading that is never renewed is a sensor that stopped") {
    Governed g(profile_of(80), 4);
    g.reading(60, kS);
    run(g, 1, 60, [](uint64_t, uint32_t) {});
    CHECK((g.power.blind == 1 && g.power.n_threads == 4));
  }
  SECTION("none at all: blind at once, everything runs") {
    const linnet_profile profile = profile_of(80);
    Owned<linnet_power> alone(linnet_power_need);
    linnet_power_state state{.size = sizeof state};
    linnet_power_params params{.size = sizeof params};
    params.n_threads = 4;
    REQUIRE(linnet_power_init(&alone.p, alone.memory->p, alone.need.bytes, &profile, &params, nullptr) == LINNET_OK);
    REQUIRE(linnet_power_step(alone.p, 1, kS, &state, nullptr) == LINNET_OK);
    CHECK((state.blind == 1 && state.n_threads == 4 && state.pause_ns == 0));
  }
  SECTION("a clock that stands still or goes back does no harm") {
    Governed g(profile_of(80, 5), 4);
    for (const uint64_t now : {5 * kS, 5 * kS, 4 * kS, uint64_t{1}, 6 * kS, UINT64_MAX, uint64_t{0}, 7 * kS}) {
      g.reading(70, now);
      g.step(1, now);
      CHECK((g.power.pause_ns <= 5 * kS && g.power.n_threads >= 1 && g.power.level < g.power.n_steps + 3));
    }
  }
}

TEST_CASE("token rate: exactly that rate, with the fewest threads that keep it") {
  // A token takes 160 ms of one thread; what threads gain is `gain` of the perfect.
  const auto run = [](Governed& g, double one_thread_ms, double gain, int tokens, uint64_t* now) {
    const uint64_t start = *now;
    for (int i = 0; i < tokens; ++i) {
      const double busy = one_thread_ms / (1 + (g.power.n_threads - 1) * gain);
      *now += static_cast<uint64_t>(busy * 1e6);
      g.step(1, *now);
      *now += g.power.pause_ns;
    }
    return tokens / (static_cast<double>(*now - start) * 1e-9);
  };
  uint64_t now = kS;
  Governed g(profile_of(0, 10), 4);
  g.step(0, now);  // a prompt
  CHECK(g.power.pause_ns == 0);
  run(g, 160, 1, 100, &now);
  CHECK((g.power.n_threads == 2 && g.power.why == LINNET_POWER_RATE));  // one takes 160 ms, two 80
  CHECK(run(g, 160, 1, 200, &now) == Approx(10).epsilon(0.001));
  // The text grows, tokens become slower: more threads again.
  run(g, 250, 1, 40, &now);
  CHECK(g.power.n_threads == 4);
  CHECK(run(g, 250, 1, 100, &now) == Approx(10).epsilon(0.001));
  // Too slow with all: no pauses, no debt that is made up for later.
  CHECK(run(g, 800, 1, 50, &now) == Approx(5).epsilon(0.01));
  CHECK((g.power.n_threads == 4 && g.power.pause_ns == 0));
  g.changes.clear();
  CHECK(run(g, 200, 1, 400, &now) == Approx(10).epsilon(0.01));
  // Threads that gain more than they should, so that fewer are slower than reckoned: tries become rare instead of swinging.
  Governed odd(profile_of(0, 10), 4);
  now = kS;
  const auto superlinear = [&](int tokens) {
    for (int i = 0; i < tokens; ++i) {
      now += (odd.power.n_threads == 4 ? 40 : 150) * kMs;
      odd.step(1, now);
      now += odd.power.pause_ns;
    }
  };
  superlinear(2000);
  odd.changes.clear();
  superlinear(4000);
  CHECK(odd.changes.size() <= 4);
}

TEST_CASE("heat and rate together: the slower one decides") {
  Governed g(profile_of(80, 100), 4);
  for (uint64_t now = kS, i = 0; now < 60 * kS; now += 100 * kMs, ++i) {
    if (i % 5 == 0) g.reading(90, now);
    g.step(1, now);
    now += g.power.pause_ns;
  }
  CHECK((g.power.n_threads == 1 && g.power.why == LINNET_POWER_HEAT && g.power.level == g.power.n_steps + 2));
  CHECK(g.power.pause_ns > 0);
}

TEST_CASE("battery mode: the last step of the ladder, for as long as it is discharged") {
  Governed g(profile_of(0, 0, {6, 4, 2}, LINNET_BATTERY_SAVE), 8);
  const auto at = [&](uint32_t has, uint32_t on) {
    g.sensors.has = has;
    g.sensors.on_battery = on;
    g.sensors.report();
    g.step(1, g.now + kS);
    return g.power.n_threads;
  };
  CHECK(at(0, 1) == 8);  // no battery that could be read
  CHECK(at(LINNET_HAS_BATTERY, 0) == 8);
  CHECK(at(LINNET_HAS_BATTERY, 1) == 2);
  CHECK(g.power.why == LINNET_POWER_BATTERY);
  CHECK(at(LINNET_HAS_BATTERY, 0) == 8);
  CHECK(g.changes == std::vector<uint32_t>{2, 8});
}

namespace {

// The thread counts of a governor's ladder, as heat takes it down.
std::vector<uint32_t> ladder_of(const linnet_profile& profile, uint32_t n_threads) {
  Governed g(profile, n_threads);
  std::vector<uint32_t> out = {g.power.n_threads};
  for (uint64_t now = kS; g.power.level < g.power.n_steps; now += 3 * kS) {
    g.reading(120, now);
    g.step(1, now);
    if (g.power.n_threads != out.back()) out.push_back(g.power.n_threads);
  }
  CHECK(out.size() == g.power.n_steps);
  return out;
}

}  // namespace

TEST_CASE("the ladder: steps of the profile up to the threads there are, else halves") {
  CHECK(ladder_of(profile_of(80, 0, {8, 6, 3, 1}), 4) == std::vector<uint32_t>{4, 3, 1});  // steps above what there is are left out
  CHECK(ladder_of(profile_of(80), 256) == std::vector<uint32_t>{256, 128, 64, 32, 16, 8, 4, 2, 1});
  std::vector<uint32_t> all;
  for (uint32_t n = 16; n; --n) all.push_back(n);
  CHECK(ladder_of(profile_of(80, 0, all), 16) == all);
  all.insert(all.begin(), 17);
  CHECK(ladder_of(profile_of(80, 0, {all.begin() + 1, all.end()}), 17) == all);  // and all sixteen below the first
}

TEST_CASE("what is no limit, rate, ladder or memory is refused, and nothing is made") {
  linnet_error err{};
  Owned<linnet_power> o(linnet_power_need);
  const auto init = [&](const linnet_profile* profile, const linnet_power_params* params) {
    o.p = nullptr;
    const linnet_status status = linnet_power_init(&o.p, o.memory->p, o.need.bytes, profile, params, &err);
    CHECK((o.p != nullptr) == (status == LINNET_OK));
    return status;
  };
  const auto refused = [&](const linnet_profile& profile, const char* what) {
    CHECK(init(&profile, nullptr) == LINNET_BAD_PROFILE);
    CHECK(std::string(err.text).find(what) != std::string::npos);
  };
  refused(profile_of(-1), "temperature_limit");
  refused(profile_of(std::nanf("")), "temperature_limit");
  refused(profile_of(151), "temperature_limit");
  refused(profile_of(80, -1), "tokens_per_s");
  refused(profile_of(80, 1e-9f), "tokens_per_s");
  refused(profile_of(80, HUGE_VALF), "tokens_per_s");
  refused(profile_of(80, 1, {4, 4}), "steps");
  refused(profile_of(80, 1, {2, 3}), "from 2 to 3 threads");
  refused(profile_of(80, 1, {}, 3), "battery is 3");
  linnet_profile many = profile_of(80);
  many.n_threads = 257;
  refused(many, "n_threads is 257");
  const auto refused_params = [&](const auto& set, const char* what) {
    linnet_power_params params{.size = sizeof params};
    set(params);
    CHECK(init(nullptr, &params) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find(what) != std::string::npos);
  };
  refused_params([](auto& p) { p.temperature_limit = -1; }, "temperature_limit");
  refused_params([](auto& p) { p.temperature_limit = std::nanf(""); }, "temperature_limit");
  refused_params([](auto& p) { p.temperature_limit = 150.1f; }, "temperature_limit");
  refused_params([](auto& p) { p.tokens_per_s = -1; }, "tokens_per_s");
  refused_params([](auto& p) { p.tokens_per_s = 0.009f; }, "tokens_per_s");
  refused_params([](auto& p) { p.tokens_per_s = std::nanf(""); }, "tokens_per_s");
  refused_params([](auto& p) { p.battery = LINNET_BATTERY_SAVE + 1; }, "battery is 3");
  refused_params([](auto& p) { p.n_threads = 257; }, "n_threads is 257");
  refused_params([](auto& p) { p.size = 3; }, "size");
  CHECK(linnet_power_init(nullptr, o.memory->p, o.need.bytes, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_power_init(&o.p, nullptr, o.need.bytes, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_power_init(&o.p, o.memory->p, o.need.bytes - 1, nullptr, nullptr, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(o.need.bytes)) != std::string::npos);
  CHECK(linnet_power_init(&o.p, static_cast<char*>(o.memory->p) + 8, o.need.bytes, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_power_need(nullptr, &err) == LINNET_BAD_ARG);
  linnet_power_state state{.size = sizeof state};
  CHECK(linnet_power_step(nullptr, 1, kS, &state, &err) == LINNET_BAD_ARG);
  CHECK(linnet_power_get(nullptr, &state, &err) == LINNET_BAD_ARG);
  REQUIRE(init(nullptr, nullptr) == LINNET_OK);
  CHECK(linnet_power_get(o.p, nullptr, &err) == LINNET_BAD_ARG);
  state.size = 0;
  CHECK(linnet_power_get(o.p, &state, &err) == LINNET_BAD_ARG);
  CHECK(linnet_power_step(o.p, 1, kS, &state, &err) == LINNET_BAD_ARG);
}

TEST_CASE("params say more than the profile, and without either one thread runs free") {
  linnet_error err{};
  const auto state_of = [&](const linnet_profile* profile, const linnet_power_params* params, const linnet_reading* reading = nullptr) {
    Owned<linnet_power> o(linnet_power_need);
    Sensors s;
    linnet_power_params own = params ? *params : linnet_power_params{.size = sizeof own};
    if (reading) {
      check(linnet_sensors_report(s.p, reading, &err), err);
      own.sensors = s.p;
    }
    check(linnet_power_init(&o.p, o.memory->p, o.need.bytes, profile, reading ? &own : params, &err), err);
    linnet_power_state state{.size = sizeof state};
    check(linnet_power_step(o.p, 1, 10 * kS, nullptr, &err), err);  // the state may be asked for later
    check(linnet_power_step(o.p, 1, 10 * kS + kMs, nullptr, &err), err);
    check(linnet_power_get(o.p, &state, &err), err);
    return state;
  };
  const linnet_power_state none = state_of(nullptr, nullptr);
  CHECK((none.size == sizeof none && none.n_threads == 1 && none.n_steps == 1 && none.level == 0 && none.why == LINNET_POWER_FREE &&
         !none.blind && none.pause_ns == 0));
  linnet_profile profile = profile_of(80, 10, {4, 2}, LINNET_BATTERY_SAVE);
  profile.n_threads = 8;
  CHECK(state_of(&profile, nullptr).n_threads == 8);
  CHECK(state_of(&profile, nullptr).n_steps == 3);
  CHECK(state_of(&profile, nullptr).blind == 1);
  CHECK(state_of(&profile, nullptr).pause_ns == 99 * kMs);  // a tenth of a second, of which one is over
  linnet_power_params params{.size = sizeof params};
  params.n_threads = 3;
  CHECK(state_of(&profile, &params).n_threads == 3);
  CHECK(state_of(&profile, &params).n_steps == 2);
  params.tokens_per_s = 100;
  CHECK(state_of(&profile, &params).pause_ns == 9 * kMs);
  CHECK(state_of(nullptr, &params).pause_ns == 9 * kMs);
  CHECK(state_of(nullptr, &params).blind == 0);  // nobody says a limit
  linnet_reading reading{.size = sizeof reading};
  reading.has = LINNET_HAS_TEMPERATURE | LINNET_HAS_BATTERY;
  reading.temperature = 70;
  reading.on_battery = 1;
  reading.time_ns = 10 * kS;
  CHECK(state_of(&profile, &params, &reading).why == LINNET_POWER_BATTERY);
  params.battery = LINNET_BATTERY_IGNORE;
  CHECK(state_of(&profile, &params, &reading).why == LINNET_POWER_FREE);
  params.temperature_limit = 60;
  CHECK(state_of(&profile, &params, &reading).why == LINNET_POWER_HEAT);
  params.temperature_limit = 150;
  profile.temperature_limit = 60;
  CHECK(state_of(&profile, &params, &reading).why == LINNET_POWER_FREE);
  // An app of before fields at the end: they are not said.
  params.size = offsetof(linnet_power_params, temperature_limit);
  params.tokens_per_s = -1, params.battery = 99;
  CHECK(state_of(&profile, &params).pause_ns == 99 * kMs);
  linnet_power_state small{.size = offsetof(linnet_power_state, level)};
  small.level = 77;
  Owned<linnet_power> o(linnet_power_need);
  check(linnet_power_init(&o.p, o.memory->p, o.need.bytes, &profile, nullptr, &err), err);
  check(linnet_power_step(o.p, 0, kS, &small, &err), err);
  CHECK((small.size == offsetof(linnet_power_state, level) && small.n_threads == 8 && small.level == 77));
}

TEST_CASE("two governors on one set of sensors, and each tells its own app") {
  Sensors s;
  Governed warm(profile_of(80), 4, s.p), cold(profile_of(60), 4, s.p);
  for (uint64_t now = kS; now < 30 * kS; now += kS / 2) {
    s.has = LINNET_HAS_TEMPERATURE, s.temperature = 70, s.time_ns = now;
    s.report();
    warm.step(1, now);
    cold.step(1, now);
  }
  CHECK((warm.changes.empty() && warm.power.n_threads == 4));
  CHECK((!cold.changes.empty() && cold.n_hot > 0 && cold.power.n_threads == 1));
}

// ---- sensors ----------------------------------------------------------------------------------------------------------------------------

TEST_CASE("temperature: the hottest zone of the CPU, absurd ones left out") {
  const Board b;
  Sensors s(b.root.c_str());
  s.read(kS);
  CHECK((s.has == 0 && s.n_zones == 0 && s.no_energy));
  b.put("class/thermal/thermal_zone0/type", "gpu-thermal");
  b.put("class/thermal/thermal_zone0/temp", "71000");
  s.read(2 * kS);
  CHECK((s.has == LINNET_HAS_TEMPERATURE && s.temperature == 71.0f && s.n_zones == 1));  // the only one there is
  b.put("class/thermal/thermal_zone1/type", "bigcore0-thermal");
  b.put("class/thermal/thermal_zone1/temp", "55500");
  b.put("class/thermal/thermal_zone10/type", "cpu-thermal");
  b.put("class/thermal/thermal_zone10/temp", "56750");
  b.put("class/thermal/cooling_device0/type", "cpu fan");
  b.put("class/thermal/cooling_device0/temp", "90000");
  s.read(3 * kS);
  CHECK((s.temperature == 56.75f && s.n_zones == 3));
  for (const char* absurd : {"-274000", "2147483647", "0", "", "hot", "56750 C", "99999999999999999999999", "-", "1e5"}) {
    INFO("'" << absurd << "'");
    b.put("class/thermal/thermal_zone10/temp", absurd);
    s.read(4 * kS);
    CHECK((s.temperature == 55.5f && s.n_zones == 2));
  }
  b.put("class/thermal/thermal_zone10/temp", "48");  // whole degrees, as some drivers give them
  b.put("class/thermal/thermal_zone1/temp", "-5000");
  s.read(5 * kS);
  CHECK(s.temperature == 48.0f);
  b.put("class/thermal/thermal_zone2/type", "soc");  // state of charge
  b.put("class/thermal/thermal_zone2/temp", "97000");
  s.read(6 * kS);
  CHECK(s.temperature == 48.0f);
  b.drop("class/thermal");  // gone in mid-run
  s.read(7 * kS);
  CHECK((s.has == 0 && s.n_zones == 0));
  b.put("class/hwmon/hwmon3/name", "coretemp");
  b.put("class/hwmon/hwmon3/temp1_input", "61000");
  b.put("class/hwmon/hwmon2/name", "nvme");
  b.put("class/hwmon/hwmon2/temp1_input", "80000");
  s.read(8 * kS);
  CHECK((s.temperature == 61.0f && s.n_zones == 1));
}

TEST_CASE("sensors: memory, roots, the last reading, and an app that tells what it knows") {
  linnet_error err{};
  Owned<linnet_sensors> o(linnet_sensors_need);
  CHECK(linnet_sensors_init(nullptr, o.memory->p, o.need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_init(&o.p, nullptr, o.need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_init(&o.p, static_cast<char*>(o.memory->p) + 8, o.need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_init(&o.p, o.memory->p, o.need.bytes - 1, nullptr, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(o.need.bytes)) != std::string::npos);
  CHECK(linnet_sensors_init(&o.p, o.memory->p, o.need.bytes, std::string(257, 'x').c_str(), &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("256 bytes") != std::string::npos);
  CHECK(o.p == nullptr);

  // A root of 256 bytes, which is copied.
  const Board b;
  std::string root = b.root;
  while (root.size() + 2 <= 256) root += root.size() + 2 == 255 ? "//." : "/.";
  REQUIRE(root.size() == 256);
  b.put("class/thermal/thermal_zone0/type", "cpu-thermal");
  b.put("class/thermal/thermal_zone0/temp", "51000");
  check(linnet_sensors_init(&o.p, o.memory->p, o.need.bytes, root.c_str(), &err), err);
  std::fill(root.begin(), root.end(), 'y');
  linnet_reading last{.size = sizeof last};
  check(linnet_sensors_last(o.p, &last, &err), err);
  CHECK((last.has == 0 && last.time_ns == 0 && !last.energy_source));  // nothing was read yet
  check(linnet_sensors_read(o.p, kS, nullptr, &err), err);
  b.put("class/thermal/thermal_zone0/temp", "52000");
  check(linnet_sensors_last(o.p, &last, &err), err);
  CHECK((last.size == sizeof last && last.has == LINNET_HAS_TEMPERATURE && last.temperature == 51.0f && last.time_ns == kS));
  linnet_reading small{.size = offsetof(linnet_reading, n_zones)};
  small.n_zones = 77;
  check(linnet_sensors_read(o.p, 0, &small, &err), err);
  CHECK((small.size == offsetof(linnet_reading, n_zones) && small.has == LINNET_HAS_TEMPERATURE && small.n_zones == 77));
  check(linnet_sensors_last(o.p, &last, &err), err);
  CHECK((last.temperature == 52.0f && last.time_ns > kS));  // the system's clock
  small.size = 0;
  CHECK(linnet_sensors_read(o.p, 9 * kS, &small, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_last(o.p, &small, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_last(o.p, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_last(nullptr, &last, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_read(nullptr, 0, nullptr, &err) == LINNET_BAD_ARG);

  // From a report on nothing is read, and no pointer of the app's is kept.
  linnet_reading told{.size = sizeof told};
  told.has = LINNET_HAS_TEMPERATURE | LINNET_HAS_BATTERY;
  told.temperature = 66.5f;
  told.on_battery = 1;
  told.time_ns = 20 * kS;
  told.energy_source = told.no_energy = "the app's";
  told.joules = 5;
  CHECK(linnet_sensors_report(nullptr, &told, &err) == LINNET_BAD_ARG);
  CHECK(linnet_sensors_report(o.p, nullptr, &err) == LINNET_BAD_ARG);
  for (const uint32_t has : {uint32_t{LINNET_HAS_ENERGY}, uint32_t{LINNET_HAS_FREQUENCY}, 16u, told.has | 1u << 31}) {
    linnet_reading more = told;
    more.has = has;
    CHECK(linnet_sensors_report(o.p, &more, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("has is " + std::to_string(has)) != std::string::npos);
  }
  check(linnet_sensors_read(o.p, 10 * kS, &last, &err), err);
  CHECK((last.temperature == 52.0f && last.time_ns == 10 * kS));  // refused, so the system's are read still
  check(linnet_sensors_report(o.p, &told, &err), err);
  for (const bool read : {false, true}) {
    check(read ? linnet_sensors_read(o.p, 30 * kS, &last, &err) : linnet_sensors_last(o.p, &last, &err), err);
    CHECK((last.has == told.has && last.temperature == 66.5f && last.on_battery == 1 && last.time_ns == 20 * kS));
    CHECK((!last.energy_source && !last.no_energy && last.joules == 0 && last.n_zones == 0));
  }
}

TEST_CASE("frequencies and batteries") {
  const Board b;
  Sensors s(b.root.c_str());
  for (const int cpu : {0, 1, 11}) {
    b.put("devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq", std::to_string(600000 + cpu * 100000));
    b.put("devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq", "2400000");
  }
  b.put("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "5000000");
  b.put("class/power_supply/hid-mouse/type", "Battery");
  b.put("class/power_supply/hid-mouse/scope", "Device");
  b.put("class/power_supply/hid-mouse/status", "Discharging");
  b.put("class/power_supply/AC/type", "Mains");
  s.read(kS);
  CHECK((s.has == LINNET_HAS_FREQUENCY && s.cpu_mhz == 1700 && s.cpu_max_mhz == 2400 && s.on_battery == 0));
  b.put("class/power_supply/BAT0/type", "Battery");
  b.put("class/power_supply/BAT0/status", "Charging");
  s.read(2 * kS);
  CHECK(((s.has & LINNET_HAS_BATTERY) && s.on_battery == 0));
  b.put("class/power_supply/BAT0/status", "Discharging");
  s.read(3 * kS);
  CHECK(s.on_battery == 1);
}

TEST_CASE("RAPL: packages and memory, wrap-around, a reset, a package that goes") {
  const Board b;
  Sensors s(b.root.c_str());
  const auto counter = [&](const char* zone, const char* name, uint64_t uj) {
    const std::string at = std::string("class/powercap/") + zone + "/";
    b.put(at + "name", name);
    b.put(at + "energy_uj", std::to_string(uj));
    b.put(at + "max_energy_range_uj", "262143328850");
  };
  counter("intel-rapl:0", "package-0", 1'000'000);
  counter("intel-rapl:0:0", "core", 900'000);
  counter("intel-rapl:0:1", "dram", 500'000);
  counter("intel-rapl:1", "psys", 9'000'000);
  s.read(kS);
  CHECK(((s.has & LINNET_HAS_ENERGY) && s.joules == 0 && s.energy_gaps == 0 && std::string(s.energy_source) == "rapl" && !s.no_energy));
  counter("intel-rapl:0", "package-0", 31'000'000);
  counter("intel-rapl:0:0", "core", 20'900'000);
  counter("intel-rapl:0:1", "dram", 4'500'000);
  counter("intel-rapl:1", "psys", 99'000'000);
  s.read(3 * kS);
  CHECK((s.joules == Approx(34) && s.watts == Approx(17)));
  // Over the end of the counter.
  counter("intel-rapl:0", "package-0", 262'143'328'850 - 10'000'000);
  s.read(200000 * kS);  // so long behind that this many joules are no wonder
  CHECK(s.energy_gaps == 0);
  const double before = s.joules;
  counter("intel-rapl:0", "package-0", 5'000'000);
  s.read(200001 * kS);
  CHECK((s.joules - before == Approx(15) && s.energy_gaps == 0));
  // After sleep the counter may begin anew: that is not 262 kJ in a second.
  counter("intel-rapl:0", "package-0", 4'000'000);
  s.read(200002 * kS);
  CHECK((s.joules - before == Approx(15) && s.energy_gaps == 1));
  counter("intel-rapl:0", "package-0", 5'000'000);
  s.read(200003 * kS);
  CHECK((s.joules - before == Approx(16) && s.energy_gaps == 1));
  b.drop("class/powercap/intel-rapl:0:1");
  s.read(200004 * kS);
  CHECK(s.energy_gaps == 2);
  b.put("class/powercap/intel-rapl:0/energy_uj", "-7");
  s.read(200005 * kS);
  CHECK((!(s.has & LINNET_HAS_ENERGY) && s.energy_gaps == 3 && s.no_energy));
  if (geteuid() != 0) {
    chmod((b.root + "/sys/class/powercap/intel-rapl:0/energy_uj").c_str(), 0);
    s.read(200006 * kS);
    CHECK(std::string(s.no_energy).find("permission denied") != std::string::npos);
  }
}

TEST_CASE("INA3221: volts by amperes over time, the board's own rail where there is one") {
  const Board b;
  Sensors s(b.root.c_str());
  const auto rail = [&](int i, const char* label, int mv, int ma) {
    const std::string at = "class/hwmon/hwmon1/", n = std::to_string(i);
    b.put(at + "name", "ina3221");
    b.put(at + "in" + n + "_label", label);
    b.put(at + "in" + n + "_input", std::to_string(mv));
    b.put(at + "curr" + n + "_input", std::to_string(ma));
  };
  rail(1, "VDD_GPU_SOC", 20000, 200);
  rail(2, "VDD_CPU_CV", 20000, 300);
  s.read(kS);
  CHECK(((s.has & LINNET_HAS_ENERGY) && s.watts == Approx(10) && s.joules == 0 && std::string(s.energy_source) == "ina3221"));
  rail(2, "VDD_CPU_CV", 20000, 500);
  s.read(3 * kS);
  CHECK((s.watts == Approx(14) && s.joules == Approx(24) && s.energy_gaps == 0));  // from 10 to 14 W in 2 s
  rail(3, "VDD_IN", 5000, 4000);                                                   // another rail: where from is not known
  s.read(4 * kS);
  CHECK((s.watts == Approx(20) && s.joules == Approx(24) && s.energy_gaps == 1));
  s.read(5 * kS);
  CHECK((s.joules == Approx(44) && s.energy_gaps == 1));
  s.read(30 * kS);  // nobody looked for too long
  CHECK((s.joules == Approx(44) && s.energy_gaps == 2));
  b.put("class/hwmon/hwmon1/curr3_input", "-1");
  b.drop("class/hwmon/hwmon1/in1_input");
  b.drop("class/hwmon/hwmon1/in2_input");
  s.read(31 * kS);
  CHECK((!(s.has & LINNET_HAS_ENERGY) && s.no_energy && s.energy_gaps == 3));
}

TEST_CASE("a trace through the files: it heats, the file goes, it comes back cool") {
  const Board b;
  b.put("class/thermal/thermal_zone0/type", "cpu-thermal");
  Sensors s(b.root.c_str());
  Governed g(profile_of(80), 4, s.p);
  uint64_t now = kS;
  const auto seconds = [&](double n, const char* temp) {
    if (temp)
      b.put("class/thermal/thermal_zone0/temp", temp);
    else
      b.drop("class/thermal/thermal_zone0/temp");
    for (int i = 0; i < 2 * n; ++i) {
      s.read(now);
      g.step(1, now);
      now += kS / 2;
    }
    return g.power.n_threads;
  };
  CHECK(seconds(10, "60000") == 4);
  CHECK(seconds(3, "81000") < 4);
  CHECK(seconds(6, "81000") == 1);
  CHECK((seconds(60, nullptr) == 1 && g.power.blind == 1));
  CHECK(seconds(60, "60000") == 4);
  CHECK((g.power.blind == 0 && g.power.why == LINNET_POWER_FREE));
}

// ---- sessions
// ----------------------------------------------------------------------------------------------------------------------------

namespace {

linnet_session_params four_threads(uint32_t kind) {
  auto p = params(0, 4, 8, 1, 64);
  p.threads = kind;
  return p;
}

}  // namespace

TEST_CASE("the number of threads may change between passes and changes no result") {
  const Model model("synthetic:moe-tiny", LINNET_I8G128);
  const Tokens prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Session one(model, params(0, 1, 8, 1, 64));
  one.prefill(prompt);
  std::vector<Row> rows = {one.logits()};
  for (int i = 0; i < 30; ++i) one.decode(), rows.push_back(one.logits());
  for (const uint32_t kind : {LINNET_THREADS_OWN, LINNET_THREADS_DEFAULT}) {
    Session s(model, four_threads(kind));
    linnet_error err{};
    s.prefill(prompt);
    CHECK(s.logits() == rows[0]);
    uint32_t random = 7;
    for (size_t i = 1; i < rows.size(); ++i) {
      random = random * 1664525u + 1013904223u;
      check(linnet_threads_set(s.s, (random >> 16) % 4 + 1, &err), err);
      s.decode();
      CHECK(s.logits() == rows[i]);
    }
    // From the callback of a generation too.
    linnet_generate_params p{};
    p.size = sizeof p;
    p.max_tokens = 15;
    p.ignore_eos = 1;
    linnet_generated end{.size = sizeof end};
    const auto change = [](void* session, int32_t token, const char*, size_t) {
      return static_cast<int>(linnet_threads_set(static_cast<linnet_session*>(session), static_cast<uint32_t>(token) % 4 + 1, nullptr));
    };
    check(linnet_truncate(s.s, 0, 0, &err), err);
    s.prefill(prompt);
    check(linnet_generate(s.s, 0, &p, change, s.s, &end, &err), err);
    CHECK((end.why == LINNET_STOP_LENGTH && s.logits() == rows[14]));
    CHECK(linnet_threads_set(s.s, 0, &err) == LINNET_BAD_ARG);
    CHECK(linnet_threads_set(s.s, 5, &err) == LINNET_BAD_ARG);
  }
}

TEST_CASE("the number of threads may change where threads share the blocks of a long context") {
  const Model model("tests/golden/falcon-40b", LINNET_I8G128);  // four query heads of two: tiles of 16 tokens
  Tokens tokens;
  for (int32_t i = 0; i < 1250; ++i) tokens.push_back(i * 7 % 61);
  const auto rows = [&](uint32_t threads, uint32_t fewer) {
    auto p = params(0, threads, 256, 1, 1300);
    p.threads = LINNET_THREADS_OWN;
    Session s(model, p);
    linnet_error err{};
    std::vector<Row> out;
    const auto go = [&](uint32_t n, size_t from, size_t to) {
      check(linnet_threads_set(s.s, n, &err), err);
      s.prefill(Tokens(tokens.begin() + static_cast<ptrdiff_t>(from), tokens.begin() + static_cast<ptrdiff_t>(to)));
      out.push_back(s.logits());
    };
    go(threads, 0, 1100);
    go(fewer, 1100, 1101);          // two tiles
    go(threads, 1101, 1101 + 149);  // twenty, more than fewer threads have a place for
    return out;
  };
  CHECK(rows(8, 4) == rows(1, 1));
}

TEST_CASE("threads that sleep through many rounds wake up for the right one") {
  const Model model("synthetic:moe-tiny", LINNET_I8G128);
  Session s(model, four_threads(LINNET_THREADS_OWN)), one(model, params(0, 1, 8, 1, 64));
  linnet_error err{};
  const Tokens prompt = {1, 2, 3};
  for (int round = 0; round < (kSlow ? 20 : 60); ++round) {
    s.prefill(prompt);
    one.prefill(prompt);
    for (const uint32_t n : {1u, 2u, 4u, 1u, 3u, 4u}) {
      check(linnet_threads_set(s.s, n, &err), err);
      s.decode();
      one.decode();
    }
    CHECK(s.logits() == one.logits());
    check(linnet_truncate(s.s, 0, 0, &err), err);
    check(linnet_truncate(one.s, 0, 0, &err), err);
  }
  check(linnet_threads_set(s.s, 1, &err), err);  // and the session ends while three of them sleep
}

TEST_CASE("a governed session: hot sensors take its threads away, it pauses, and the tokens are the same") {
  const Model model("synthetic:moe-tiny", LINNET_I8G128);
  const Tokens prompt = {1, 2, 3, 4, 5};
  Session free(model, params(0, 1, 8, 1, 64)), s(model, four_threads(LINNET_THREADS_OWN));
  linnet_error err{};
  const Board b;
  b.put("class/thermal/thermal_zone0/type", "cpu-thermal");
  b.put("class/thermal/thermal_zone0/temp", "95000");
  Sensors sensors(b.root.c_str());
  Governed g(profile_of(80, 200), 4, sensors.p);
  check(linnet_power_set(s.s, g.p, &err), err);
  free.prefill(prompt);
  s.prefill(prompt);
  Tokens want, got;
  for (int i = 0; i < 10; ++i) want.push_back(free.decode());
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) got.push_back(s.decode());
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(got == want);
  g.get();
  check(linnet_sensors_last(sensors.p, &sensors, &err), err);
  CHECK((sensors.temperature == 95.0f && g.n_hot >= 1 && g.power.n_threads < 4 && !g.changes.empty()));
  linnet_stats stats{};
  stats.size = sizeof stats;
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.n_threads == g.power.n_threads);
  CHECK(took >= std::chrono::milliseconds(9 * 5));  // 200 a second and no faster
  check(linnet_power_set(s.s, nullptr, &err), err);
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.n_threads == 4);
  CHECK(free.decode() == s.decode());
}

TEST_CASE("linnet_cancel ends a pause") {
  const Model model("synthetic:moe-tiny", LINNET_I8G128);
  Session s(model, four_threads(LINNET_THREADS_OWN));
  linnet_error err{};
  Governed g(profile_of(0, 0.01f), 4);  // a token in 100 s
  check(linnet_power_set(s.s, g.p, &err), err);
  s.prefill({1, 2, 3});
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    linnet_cancel(s.s);
  });
  linnet_generate_params p{};
  p.size = sizeof p;
  p.max_tokens = 40;
  linnet_generated end{.size = sizeof end};
  check(linnet_generate(s.s, 0, &p, nullptr, nullptr, &end, &err), err);
  other.join();
  CHECK(end.why == LINNET_STOP_CANCEL);
  linnet_stats stats{};
  stats.size = sizeof stats;
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.decode_ns < 50 * kS);  // not even half of the first pause
  CHECK(linnet_power_set(s.s, g.p, &err) == LINNET_OK);
  const Governed more(profile_of(0, 1), 5);
  CHECK(linnet_power_set(s.s, more.p, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("begins with 5 threads, the session has 4") != std::string::npos);
  CHECK(linnet_power_set(nullptr, nullptr, &err) == LINNET_BAD_ARG);
}
