#include "voice_activity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace assistant {

namespace {
constexpr float kLeastFloor = -65;       // dB of full scale; what lies under it is silence
constexpr float kBegin = 10, kKeep = 7;  // dB above the floor
constexpr float kVoiced = 0.55f;         // normalised autocorrelation at the pitch
constexpr int kVoicedFrames = 4;         // of the last 12
}  // namespace

std::array<float, 20> VoiceActivity::filled() {
  std::array<float, 20> a;
  a.fill(kLeastFloor);
  return a;
}

// The highest normalised autocorrelation for pitches of 70 to 400 Hz.
float VoiceActivity::voicing() const {
  constexpr size_t n = 128;
  float best = 0, energy = 1e-9f;
  for (size_t k = 0; k < n; ++k) energy += window_[k] * window_[k];
  for (size_t lag = 20; lag <= 112; ++lag) {
    float sum = 0, other = 1e-9f;
    for (size_t k = 0; k < n; ++k) sum += window_[k] * window_[k + lag], other += window_[k + lag] * window_[k + lag];
    best = std::max(best, sum / std::sqrt(energy * other));
  }
  return best;
}

VoiceActivity::Event VoiceActivity::feed(const int16_t* frame) {
  // Without DC (a high-pass at 60 Hz); pairs averaged to 8 kHz for the pitch.
  std::copy(window_.begin() + kFrame / 2, window_.end(), window_.begin());
  float energy = 0, pair = 0;
  for (size_t k = 0; k < kFrame; ++k) {
    const float x = static_cast<float>(frame[k]) / 32768;
    out_ = x - in_ + 0.977f * out_;
    in_ = x;
    energy += out_ * out_;
    if (k % 2) window_[window_.size() - kFrame / 2 + k / 2] = (pair + out_) / 2;
    pair = out_;
  }
  const float db = 10 * std::log10(energy / kFrame + 1e-9f);
  lowest_ = frames_ % 10 ? std::min(lowest_, db) : db;
  const float floor = std::max(kLeastFloor, *std::min_element(floor_.begin(), floor_.end()));
  if (++frames_ % 10 == 0) {
    std::copy(floor_.begin() + 1, floor_.end(), floor_.begin());
    floor_.back() = lowest_;
    frames_ = 0;
  }
  const bool loud = db > floor + kBegin;
  voiced_ = voiced_ << 1 | (loud && voicing() > kVoiced);
  if (!speech_) {
    if (std::popcount(voiced_ & 0xfffu) < kVoicedFrames) return Event::none;
    speech_ = true;
    quiet_ms_ = speech_ms_ = 0;
    return Event::start;
  }
  speech_ms_ += 10;
  quiet_ms_ = db > floor + kKeep ? 0 : quiet_ms_ + 10;
  if (quiet_ms_ < kHangoverMs && speech_ms_ < kLongestMs) return Event::none;
  speech_ = false;
  voiced_ = 0;
  return Event::end;
}

}  // namespace assistant
