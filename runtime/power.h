// The governor: what linnet.h says of linnet_power. Pure, but for govern(), which is what a session does between passes.
#pragma once
#include "session.h"

namespace linnet {

Status power_init(linnet_power& p, const linnet_profile& profile, uint32_t n_threads, Error* err);
Status power_check(const linnet_power& p, Error* err);
void power_step(linnet_power& p, uint32_t n_tokens, uint64_t now_ns);
Status power_set(linnet_session& s, linnet_power* power, Error* err);
// After a pass of a session that has a governor: a row per sequence was decoded, or a part of a prompt was computed.
void govern(linnet_session& s, bool decoded);

}  // namespace linnet
