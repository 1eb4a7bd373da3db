// What Linux's sensors say: temperatures, frequencies, energy, battery. Every read looks for the files anew, so sensors may come and go.
#pragma once
#include "status.h"

namespace linnet {

// Fills what linnet.h says of linnet_sensors_read; s.size is sizeof s.
Status sensors_read(linnet_sensors& s, uint64_t now_ns, Error* err);

}  // namespace linnet
