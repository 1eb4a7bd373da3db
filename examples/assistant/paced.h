// Sound at the speed at which it was spoken, where a file stands for microphone and loudspeaker.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "audio.h"

namespace assistant {

// A microphone that hears a file: samples come when they would have been spoken.
class PacedSource : public AudioSource {
 public:
  explicit PacedSource(AudioSource* source, double speed = 1) : source_(source), speed_(speed) {}
  size_t read(int16_t* samples, size_t n) override {
    const size_t got = source_->read(samples, n);
    if (samples_ == 0) begin_ = Clock::now();
    samples_ += got;
    const auto due =
        begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(samples_) / kRate / speed_));
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, due, [this] { return over_; });
    return over_ ? 0 : got;
  }
  void end() {  // any thread
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;
  AudioSource* source_;
  const double speed_;
  uint64_t samples_ = 0;
  Clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

// A loudspeaker that plays into a file, and takes as long as it would have to play.
class PacedSink : public AudioSink {
 public:
  explicit PacedSink(AudioSink* sink, double speed = 1) : sink_(sink), speed_(speed) {}
  bool write(const int16_t* samples, size_t n, int rate) override {
    if (rate <= 0 || !sink_->write(samples, n, rate)) return false;
    std::unique_lock lock(mutex_);
    const uint64_t stops = stops_;
    changed_.wait_for(lock, std::chrono::duration<double>(static_cast<double>(n) / rate / speed_), [&] { return stops_ != stops; });
    return true;
  }
  void stop() override {
    sink_->stop();
    const std::lock_guard lock(mutex_);
    ++stops_;
    changed_.notify_all();
  }

 private:
  AudioSink* sink_;
  const double speed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t stops_ = 0;
};

}  // namespace assistant
