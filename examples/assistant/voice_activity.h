// Where somebody speaks: frames of 10 ms, an event at the beginning and at the end of an utterance.
#pragma once
#include <array>
#include <cstdint>

#include "audio.h"

namespace assistant {

// A frame is loud when it stands out from the noise floor, the lowest level of the last two seconds. An utterance begins when several loud
// frames are voiced (periodic, as vowels are and noise is not) and ends after half a second without loud ones, or after half a minute.
class VoiceActivity {
 public:
  enum class Event { none, start, end };
  static constexpr int kFrame = kRate / 100;
  static constexpr int kHangoverMs = 500;    // silence before `end`
  static constexpr int kLeadMs = 300;        // how much before `start` the utterance may have begun
  static constexpr int kLongestMs = 30'000;  // an utterance that nothing ends

  Event feed(const int16_t* frame);  // kFrame samples
  bool speech() const { return speech_; }

 private:
  float voicing() const;
  std::array<float, 240> window_{};         // the last 30 ms at 8 kHz, without DC
  std::array<float, 20> floor_ = filled();  // lowest levels of 100 ms each, in dB
  static std::array<float, 20> filled();
  float lowest_ = 0;        // of the running 100 ms
  float in_ = 0, out_ = 0;  // of the DC filter
  uint32_t voiced_ = 0;     // one bit a frame, newest lowest
  int frames_ = 0, quiet_ms_ = 0, speech_ms_ = 0;
  bool speech_ = false;
};

}  // namespace assistant
