// The governor: what linnet_device.h says of linnet_power. Pure, but for govern(), which is what a session does between passes.
#pragma once
#include "../platform/sensors.h"
#include "session.h"

// What linnet_device.h leaves opaque.
struct linnet_power : linnet_power_state {
  float temperature_limit, tokens_per_s;
  uint32_t battery;
  uint32_t steps[17];  // ladder of thread counts, each less than the one before
  linnet_power_fn fn;
  void* user;
  linnet_sensors* sensors;
  uint32_t heat, slow, n_readings, left_for_cool, slow_tokens, tokens_held;
  float readings[3], last_temperature;
  uint64_t reading_ns, seen_ns, decided_ns, cool_ns, left_ns, hot_ns, hold_ns, step_ns, due_ns, busy_ns;
};

namespace linnet {

Status power_init(linnet_power& p, const linnet_profile& profile, const linnet_power_params& params, Error* err);
void power_step(linnet_power& p, uint32_t n_tokens, uint64_t now_ns);
Status power_set(linnet_session& s, linnet_power* power, Error* err);
// After a pass of a session that has a governor: a row per sequence was decoded, or a part of a prompt was computed.
void govern(linnet_session& s, bool decoded);

}  // namespace linnet
