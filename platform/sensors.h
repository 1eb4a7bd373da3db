// What Linux's sensors say: temperatures, frequencies, energy, battery. Every read looks for the files anew, so sensors may come and go.
#pragma once
#include "status.h"

// What linnet_device.h leaves opaque: the last reading, and what energy is counted from.
struct linnet_sensors : linnet_reading {
  static constexpr uint32_t kMaxMeters = 8, kMaxRoot = 256;
  char root[kMaxRoot + 1];
  uint32_t by_app;  // linnet_sensors_report has spoken
  uint32_t n_meters, meter_ids[kMaxMeters];
  uint64_t meter_uj[kMaxMeters];
  double rail_watts;
};

namespace linnet {

// Fills what linnet_device.h says of linnet_sensors_read.
void sensors_read(linnet_sensors& s, uint64_t now_ns);

}  // namespace linnet
