#include "power.h"

#include "../platform/file.h"
#include "../platform/sensors.h"

namespace linnet {
namespace {

constexpr uint64_t kSecond = 1'000'000'000u;
constexpr uint64_t kReadEvery = kSecond / 2, kDownEvery = 2 * kSecond, kHold = 10 * kSecond, kLongestHold = 320 * kSecond,
                   kSoon = 60 * kSecond, kForget = 600 * kSecond;
constexpr uint64_t kBlindAfter = 5 * kSecond, kLongestPause = 5 * kSecond, kPauseSlice = kSecond / 50;
constexpr float kBand = 5, kFalling = 0.5f;
constexpr uint32_t kPauses = 3;                     // levels above the ladder
constexpr uint32_t kFirstTry = 8, kLastTry = 8192;  // tokens before fewer threads are tried

float median(const float* v) {
  const float low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
  return v[2] < low ? low : v[2] > high ? high : v[2];
}

// The median with a new reading; false where there is none to go by.
bool take_reading(linnet_power& p, uint64_t now, float* temperature) {
  const linnet_sensors* s = p.sensors;
  if (!s || !(s->has & LINNET_HAS_TEMPERATURE) || s->time_ns == p.reading_ns) return false;
  if (!(s->temperature > -50 && s->temperature < 200)) return false;                   // an app may hand over anything
  if (p.reading_ns == 0 || s->time_ns - p.reading_ns > kBlindAfter) p.n_readings = 0;  // old ones say nothing
  p.reading_ns = s->time_ns;
  p.seen_ns = now;
  if (p.n_readings == 0) p.readings[1] = p.readings[2] = s->temperature;
  p.readings[p.n_readings % 3] = s->temperature;
  p.n_readings = p.n_readings % 3 + 1;
  *temperature = median(p.readings);
  return true;
}

void step_heat(linnet_power& p, uint64_t now) {
  float t;
  if (!take_reading(p, now, &t)) return;
  const float seconds = static_cast<float>(now - p.decided_ns) / static_cast<float>(kSecond);
  const bool falling = p.decided_ns && p.last_temperature - t > seconds * kFalling;
  p.last_temperature = t;
  p.decided_ns = now;
  if (p.hold_ns == 0 || (p.hot_ns && now - p.hot_ns > kForget)) p.hold_ns = kHold;
  if (t > p.temperature_limit - kBand)
    p.cool_ns = 0;
  else if (p.cool_ns == 0)
    p.cool_ns = now;
  if (t >= p.temperature_limit) {
    if (p.hot_ns && now - p.hot_ns < kDownEvery && p.heat) return;
    p.hot_ns = now;
    if (falling || p.heat + 1 == p.n_steps + kPauses) return;
    if (p.left_for_cool && now - p.left_ns <= kSoon) p.hold_ns = 2 * p.hold_ns < kLongestHold ? 2 * p.hold_ns : kLongestHold;
    p.left_for_cool = 0;
    ++p.heat;
  } else if (p.heat && p.cool_ns && now - p.cool_ns >= p.hold_ns) {
    --p.heat;
    p.left_for_cool = 1;
    p.left_ns = p.cool_ns = now;  // the next level waits as long
  }
}

// Pacing, and the fewest threads that keep the pace.
void step_rate(linnet_power& p, uint32_t n_tokens, uint64_t now, uint64_t busy) {
  const uint64_t period = static_cast<uint64_t>(static_cast<double>(kSecond) * n_tokens / static_cast<double>(p.tokens_per_s));
  p.due_ns = p.due_ns && p.due_ns + period > now ? p.due_ns + period : now;
  if (p.due_ns - now > period) p.due_ns = now + period;  // the clock went back
  p.pause_ns = p.due_ns - now;
  if (busy == 0) return;  // the first of them
  const uint64_t each = busy / n_tokens, target = period / n_tokens;
  p.busy_ns = p.tokens_held ? p.busy_ns - p.busy_ns / 8 + each / 8 : each;
  if (p.slow_tokens == 0) p.slow_tokens = kFirstTry;
  if (++p.tokens_held < kFirstTry) return;
  const uint32_t level = p.slow;
  if (p.slow && p.busy_ns > target / 100 * 103) {
    --p.slow;
    if (p.slow_tokens < kLastTry) p.slow_tokens *= 2;
  } else if (p.level <= p.slow && p.slow + 1 < p.n_steps && p.tokens_held >= p.slow_tokens &&
             p.busy_ns / 10 * 11 * p.steps[p.slow] / p.steps[p.slow + 1] < target) {
    ++p.slow;
  }
  if (p.slow != level) p.tokens_held = 0;
}

Status check_held(Status code, const char* whose, float limit, float rate, uint32_t battery, Error* err) {
  if (!(limit >= 0 && limit <= 150)) return fail(err, code, whose, ": temperature_limit is outside 0..150 degrees");
  if (!(rate == 0 || (rate >= 0.01f && rate <= 1e6f))) return fail(err, code, whose, ": tokens_per_s is not 0 and outside 0.01..1000000");
  if (battery > LINNET_BATTERY_SAVE) return fail(err, code, whose, ": battery is ", battery, ", there is no such way");
  return LINNET_OK;
}

}  // namespace

Status power_init(linnet_power& p, const linnet_profile& profile, const linnet_power_params& params, Error* err) {
  const uint32_t n_threads = params.n_threads ? params.n_threads : profile.n_threads ? profile.n_threads : 1;
  if (n_threads > 256)
    return fail(err, params.n_threads ? LINNET_BAD_ARG : LINNET_BAD_PROFILE, params.n_threads ? "power" : "profile", ": n_threads is ",
                n_threads, ", must be 1..256");
  LINNET_TRY(check_held(LINNET_BAD_PROFILE, "profile", profile.temperature_limit, profile.tokens_per_s, profile.battery, err));
  LINNET_TRY(check_held(LINNET_BAD_ARG, "power", params.temperature_limit, params.tokens_per_s, params.battery, err));
  constexpr uint32_t kGiven = sizeof profile.steps / sizeof *profile.steps;
  for (uint32_t i = 1; i < kGiven && profile.steps[i]; ++i)
    if (profile.steps[i] >= profile.steps[i - 1])
      return fail(err, LINNET_BAD_PROFILE, "profile: steps go from ", profile.steps[i - 1], " to ", profile.steps[i],
                  " threads, each must be less than the one before");
  p = {};
  p.size = sizeof(linnet_power_state);
  p.fn = params.fn;
  p.user = params.user;
  p.sensors = params.sensors;
  p.temperature_limit = params.temperature_limit > 0 ? params.temperature_limit : profile.temperature_limit;
  p.tokens_per_s = params.tokens_per_s > 0 ? params.tokens_per_s : profile.tokens_per_s;
  p.battery = params.battery ? params.battery : profile.battery;
  p.steps[p.n_steps++] = p.n_threads = n_threads;
  if (profile.steps[0] == 0)
    for (uint32_t n = n_threads / 2; n; n /= 2) p.steps[p.n_steps++] = n;
  for (uint32_t i = 0; i < kGiven && profile.steps[i]; ++i)
    if (profile.steps[i] < n_threads) p.steps[p.n_steps++] = profile.steps[i];
  return LINNET_OK;
}

void power_step(linnet_power& p, uint32_t n_tokens, uint64_t now) {
  // The time that the pass took itself: what was paused is left out.
  const uint64_t passed = p.step_ns && now > p.step_ns ? now - p.step_ns : 0, busy = passed > p.pause_ns ? passed - p.pause_ns : 0;
  const uint32_t threads = p.n_threads, why = p.why, level = p.level, blind = p.blind;
  p.step_ns = now;
  p.pause_ns = 0;
  if (p.temperature_limit > 0) {
    step_heat(p, now);
    p.blind = p.reading_ns == 0 || now - p.seen_ns > kBlindAfter;
  }
  if (p.tokens_per_s > 0 && n_tokens) step_rate(p, n_tokens, now, busy);
  if (n_tokens == 0) p.due_ns = 0;  // the first token after a prompt waits for nothing
  const bool on_battery = p.battery == LINNET_BATTERY_SAVE && p.sensors && (p.sensors->has & LINNET_HAS_BATTERY) && p.sensors->on_battery;
  const uint32_t saving = on_battery ? p.n_steps - 1 : 0;
  p.level = p.heat > saving ? p.heat : saving;
  if (p.slow > p.level) p.level = p.slow;
  p.why = p.heat && p.heat == p.level   ? LINNET_POWER_HEAT
          : saving && saving == p.level ? LINNET_POWER_BATTERY
          : p.slow                      ? LINNET_POWER_RATE
                                        : LINNET_POWER_FREE;
  p.n_threads = p.steps[p.level < p.n_steps ? p.level : p.n_steps - 1];
  if (p.level >= p.n_steps) {  // 3/4, 1/2, 1/4 of the time for work
    const uint64_t part = p.level - p.n_steps + 1, pause = busy / (kPauses + 1 - part) * part;
    if (pause > p.pause_ns) p.pause_ns = pause < kLongestPause ? pause : kLongestPause;
  }
  if (p.fn && (threads != p.n_threads || why != p.why || level != p.level || blind != p.blind)) p.fn(p.user, &p);
}

Status power_set(linnet_session& s, linnet_power* power, Error* err) {
  if (power) {
    if (power->steps[0] > s.params.n_threads)
      return fail(err, LINNET_BAD_ARG, "power: the ladder begins with ", power->steps[0], " threads, the session has ", s.params.n_threads);
    power->step_ns = power->due_ns = power->pause_ns = 0;
  }
  s.power = power;
  s.team.n_active = s.stats.n_threads = power && power->n_threads < s.params.n_threads ? power->n_threads : s.params.n_threads;
  return LINNET_OK;
}

void govern(linnet_session& s, bool decoded) {
  if (!s.power) return;
  linnet_power& p = *s.power;
  uint64_t now = clock_ns();
  linnet_sensors* sensors = p.temperature_limit > 0 || p.battery == LINNET_BATTERY_SAVE ? p.sensors : nullptr;
  if (sensors && !sensors->by_app && (sensors->time_ns == 0 || now - sensors->time_ns >= kReadEvery)) sensors_read(*sensors, now);
  power_step(p, decoded, now);
  s.team.n_active = s.stats.n_threads = p.n_threads < s.params.n_threads ? p.n_threads : s.params.n_threads;
  for (const uint64_t end = now + p.pause_ns; now < end && !s.cancel.load(std::memory_order_relaxed); now = clock_ns())
    sleep_ns(end - now < kPauseSlice ? end - now : kPauseSlice);
}

}  // namespace linnet
