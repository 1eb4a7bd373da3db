#pragma once
#include <cstdint>
namespace assistant {
class VoiceActivity {
 public:
  enum class Event { none, start, end };
  static constexpr int kHangoverMs = 500;
  Event feed(const int16_t*) { return Event::none; }
};
}  // namespace assistant
