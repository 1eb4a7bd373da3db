#include "audio.h"

#ifdef LINNET_ALSA
#include <alsa/asoundlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#endif

namespace assistant {

#ifdef LINNET_ALSA
namespace {

void quiet(const char*, int, const char*, int, const char*, ...) {}  // ALSA would print on its own

class Device {
 public:
  ~Device() {
    if (pcm_) snd_pcm_close(pcm_);
  }
  bool open(const std::string& name, snd_pcm_stream_t direction, std::string* why) {
    snd_lib_error_set_handler(quiet);
    const char* what = direction == SND_PCM_STREAM_CAPTURE ? "microphone" : "speaker";
    int e = snd_pcm_open(&pcm_, name.c_str(), direction, 0);
    // The library converts to the card's own rate and channels; 100 ms of buffer.
    if (e >= 0) e = snd_pcm_set_params(pcm_, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 1, kRate, 1, 100000);
    return e >= 0 ? true : (*why = std::string(what) + " \"" + name + "\": " + snd_strerror(e), false);
  }
  snd_pcm_t* pcm_ = nullptr;
};

class Microphone : public AudioSource {
 public:
  size_t read(int16_t* samples, size_t n) override {
    for (int tries = 0; tries < 8; ++tries) {
      const snd_pcm_sframes_t got = snd_pcm_readi(device_.pcm_, samples, n);
      if (got > 0) return static_cast<size_t>(got);
      if (snd_pcm_recover(device_.pcm_, static_cast<int>(got), 1) < 0) return 0;  // unplugged
    }
    return 0;
  }
  Device device_;
};

class Speaker : public AudioSink {
 public:
  bool write(const int16_t* samples, size_t n, int rate) override {
    const unsigned era = stops_;
    std::vector<int16_t> other;
    if (rate != kRate) {
      WavSink s;
      s.write(samples, n, rate);
      other = s.samples();
      samples = other.data();
      n = other.size();
    }
    while (n && era == stops_) {
      const std::lock_guard lock(mutex_);
      snd_pcm_sframes_t done =
          snd_pcm_writei(device_.pcm_, samples, std::min<size_t>(n, kRate / 50));  // small, so that stop() soon has the lock
      if (done < 0) {
        if (snd_pcm_recover(device_.pcm_, static_cast<int>(done), 1) < 0) return false;
        continue;
      }
      samples += done;
      n -= static_cast<size_t>(done);
    }
    return true;
  }
  void stop() override {
    ++stops_;
    const std::lock_guard lock(mutex_);
    snd_pcm_drop(device_.pcm_);
    snd_pcm_prepare(device_.pcm_);
  }
  Device device_;

 private:
  std::mutex mutex_;
  std::atomic<unsigned> stops_ = 0;
};

}  // namespace

std::unique_ptr<AudioSource> open_microphone(const std::string& device, std::string* why) {
  auto m = std::make_unique<Microphone>();
  return m->device_.open(device, SND_PCM_STREAM_CAPTURE, why) ? std::move(m) : nullptr;
}

std::unique_ptr<AudioSink> open_speaker(const std::string& device, std::string* why) {
  auto s = std::make_unique<Speaker>();
  return s->device_.open(device, SND_PCM_STREAM_PLAYBACK, why) ? std::move(s) : nullptr;
}
#else
std::unique_ptr<AudioSource> open_microphone(const std::string&, std::string* why) {
  return *why = "microphone: built without ALSA (libasound2-dev); a WAV file can be given instead", nullptr;
}
std::unique_ptr<AudioSink> open_speaker(const std::string&, std::string* why) {
  return *why = "speaker: built without ALSA (libasound2-dev); a WAV file can be given instead", nullptr;
}
#endif

}  // namespace assistant
