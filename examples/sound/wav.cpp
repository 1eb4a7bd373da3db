#include "wav.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numbers>

namespace assistant {

static_assert(std::endian::native == std::endian::little, "WAV files are read and written as they lie");

namespace {

constexpr size_t kPhases = 512;

bool fail(std::string* why, std::string text) {
  *why = std::move(text);
  return false;
}

template <class T>
T get(const uint8_t* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

int16_t to_int16(float x) { return static_cast<int16_t>(std::lround(std::clamp(x * 32768.0f, -32768.0f, 32767.0f))); }

const char* codec(unsigned tag) {
  switch (tag) {
    case 2:
    case 0x11:
      return " (ADPCM)";
    case 6:
      return " (A-law)";
    case 7:
      return " (mu-law)";
    case 0x55:
      return " (MP3)";
    default:
      return "";
  }
}

}  // namespace

// ---- resampling ----------------------------------------------------------------------------------------------------------

Resampler::Resampler(int from, int to) : from_(static_cast<uint64_t>(from)), to_(static_cast<uint64_t>(to)) {
  // Passes up to 0.92 of the lower Nyquist frequency; 24 zero crossings of the sinc on either side.
  const double cut = 0.92 * std::min(1.0, static_cast<double>(to) / from);
  half_ = from == to ? 0 : static_cast<size_t>(std::ceil(24 / cut));
  table_.resize((kPhases + 1) * 2 * half_);
  for (size_t p = 0; p <= kPhases && half_; ++p) {
    double sum = 0;
    std::vector<double> row(2 * half_);
    for (size_t k = 0; k < 2 * half_; ++k) {
      const double x = static_cast<double>(k) - static_cast<double>(half_ - 1) - static_cast<double>(p) / kPhases,
                   y = std::numbers::pi * cut * x;
      const double u = x / static_cast<double>(half_);
      const double window =
          std::abs(u) >= 1 ? 0 : 0.42 + 0.5 * std::cos(std::numbers::pi * u) + 0.08 * std::cos(2 * std::numbers::pi * u);  // Blackman
      row[k] = (std::abs(y) < 1e-9 ? 1 : std::sin(y) / y) * window;
      sum += row[k];
    }
    for (size_t k = 0; k < 2 * half_; ++k) table_[p * 2 * half_ + k] = static_cast<float>(row[k] / sum);  // a constant stays as it is
  }
  if (half_) in_.assign(half_ - 1, 0.0f);  // silence before the beginning
}

void Resampler::feed(const float* samples, size_t n) {
  received_ += n;
  if (!half_) {
    for (size_t k = 0; k < n; ++k) out_.push_back(to_int16(samples[k]));
    return;
  }
  in_.insert(in_.end(), samples, samples + n);
  produce();
}

void Resampler::end() {
  if (ended_ || !half_) return;
  ended_ = true;
  in_.insert(in_.end(), half_ + 1, 0.0f);
  produce();
}

// Output sample m lies at input position m * from / to. in_[0] is input sample first_ - (half_ - 1).
void Resampler::produce() {
  for (;; ++made_) {
    const uint64_t scaled = made_ * from_, whole = scaled / to_;
    if (whole >= received_ || whole - first_ + 2 * half_ > in_.size()) break;
    const double phase = static_cast<double>(scaled % to_) / static_cast<double>(to_) * kPhases;
    const size_t row = static_cast<size_t>(phase);
    const float part = static_cast<float>(phase - static_cast<double>(row));
    const float *a = table_.data() + row * 2 * half_, *b = a + 2 * half_, *x = in_.data() + (whole - first_);
    float sa = 0, sb = 0;
    for (size_t k = 0; k < 2 * half_; ++k) sa += a[k] * x[k], sb += b[k] * x[k];
    out_.push_back(to_int16(sa + (sb - sa) * part));
  }
  const uint64_t next = std::min(made_ * from_ / to_, received_);
  const size_t drop = std::min<size_t>(next - first_, in_.size());
  in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(drop));
  first_ += drop;
}

std::vector<int16_t> Resampler::take() {
  std::vector<int16_t> x;
  x.swap(out_);
  return x;
}

// ---- WAV in --------------------------------------------------------------------------------------------------------------

WavReader::~WavReader() {
  if (file_) std::fclose(file_);
}

size_t WavReader::some(void* to, size_t n) {
  if (file_) return std::fread(to, 1, n, file_);
  n = std::min(n, left_);
  if (n) std::memcpy(to, at_, n);
  at_ += n;
  left_ -= n;
  return n;
}

bool WavReader::bytes(void* to, size_t n) { return some(to, n) == n; }

bool WavReader::open(const char* path, std::string* why) {
  name_ = path;
  file_ = std::fopen(path, "rbe");
  if (!file_) return fail(why, name_ + ": " + std::strerror(errno));
  return header(why);
}

bool WavReader::open(const uint8_t* bytes, size_t n, const char* name, std::string* why) {
  name_ = name;
  at_ = bytes;
  left_ = n;
  return header(why);
}

bool WavReader::header(std::string* why) {
  uint8_t h[40];
  if (!bytes(h, 12)) return fail(why, name_ + ": not a WAV file: shorter than its header");
  if (std::memcmp(h, "RF64", 4) == 0 || std::memcmp(h, "RIFX", 4) == 0)
    return fail(why, name_ + ": " + std::string(reinterpret_cast<char*>(h), 4) + " instead of RIFF is not supported");
  if (std::memcmp(h, "RIFF", 4) != 0 || std::memcmp(h + 8, "WAVE", 4) != 0)
    return fail(why, name_ + ": not a WAV file: no RIFF and WAVE at its beginning");
  bool have_format = false;
  unsigned align = 0;
  for (int chunk = 0;; ++chunk) {
    if (chunk == 64) return fail(why, name_ + ": no \"data\" among its first 64 chunks");
    if (!bytes(h, 8)) return fail(why, name_ + (have_format ? ": no \"data\" chunk" : ": no \"fmt \" chunk"));
    const bool format = std::memcmp(h, "fmt ", 4) == 0, data = std::memcmp(h, "data", 4) == 0;
    uint32_t size = get<uint32_t>(h + 4);
    if (data) {
      if (!have_format) return fail(why, name_ + ": \"data\" before \"fmt \"");
      open_end_ = size >= 0x7ffff000u;  // programs that write into a pipe do not know yet
      frames_ = size / align;
      const uint64_t most = static_cast<uint64_t>(longest_minutes_) * 60 * static_cast<uint64_t>(rate_);
      if (!open_end_ && frames_ > most) return fail(why, name_ + ": longer than " + std::to_string(longest_minutes_) + " minutes");
      if (open_end_) frames_ = most + 1;
      // One that says more than there is, is known at once.
      if (!open_end_ && file_) {
        const long here = std::ftell(file_);
        if (here >= 0 && std::fseek(file_, 0, SEEK_END) == 0) {
          const long end = std::ftell(file_);
          if (end - here < static_cast<long>(size))
            return fail(why, name_ + ": cut off: \"data\" has " + std::to_string(end - here) + " of " + std::to_string(size) + " bytes");
          if (std::fseek(file_, here, SEEK_SET) != 0) return fail(why, name_ + ": " + std::strerror(errno));
        }
      } else if (!open_end_ && size > left_) {
        return fail(why, name_ + ": cut off: \"data\" has " + std::to_string(left_) + " of " + std::to_string(size) + " bytes");
      }
      resampler_ = std::make_unique<Resampler>(rate_, kRate);
      return true;
    }
    if (format) {
      if (have_format) return fail(why, name_ + ": two \"fmt \" chunks");
      const size_t take = std::min<size_t>(size, sizeof h);
      if (take < 16 || !bytes(h, take)) return fail(why, name_ + ": \"fmt \" of " + std::to_string(size) + " bytes is too short");
      unsigned tag = get<uint16_t>(h);
      const unsigned channels = get<uint16_t>(h + 2), bits = get<uint16_t>(h + 14);
      const uint32_t rate = get<uint32_t>(h + 4);
      align = get<uint16_t>(h + 12);
      if (tag == 0xfffe) {
        if (take < 26) return fail(why, name_ + ": \"fmt \" of " + std::to_string(size) + " bytes is too short for its format 0xfffe");
        tag = get<uint16_t>(h + 24);
      }
      if (tag != 1 && tag != 3)
        return fail(why, name_ + ": format " + std::to_string(tag) + codec(tag) + " is not supported, only PCM and float");
      if (channels < 1 || channels > 8) return fail(why, name_ + ": " + std::to_string(channels) + " channels, where 1 to 8 can be read");
      if (rate < 4000 || rate > 192000) return fail(why, name_ + ": " + std::to_string(rate) + " Hz, where 4000 to 192000 can be read");
      if (tag == 3 ? bits != 32 && bits != 64 : bits != 8 && bits != 16 && bits != 24 && bits != 32)
        return fail(why, name_ + ": " + std::to_string(bits) + " bits of " + (tag == 3 ? "float" : "PCM") + " are not supported");
      if (align != channels * bits / 8)
        return fail(why, name_ + ": block align " + std::to_string(align) + " instead of " + std::to_string(channels * bits / 8));
      rate_ = static_cast<int>(rate);
      channels_ = static_cast<int>(channels);
      bits_ = static_cast<int>(bits);
      is_float_ = tag == 3;
      have_format = true;
      size -= static_cast<uint32_t>(take);
    }
    for (uint64_t skip = static_cast<uint64_t>(size) + (size & 1); skip;) {  // chunks are padded to even lengths
      uint8_t dump[4096];
      const size_t n = some(dump, static_cast<size_t>(std::min<uint64_t>(skip, sizeof dump)));
      if (!n) return fail(why, name_ + (have_format ? ": no \"data\" chunk" : ": no \"fmt \" chunk"));
      skip -= n;
    }
  }
}

size_t WavReader::read(int16_t* samples, size_t n) {
  while (taken_ == ready_.size() && resampler_) {
    uint8_t block[4096];
    float mono[4096];
    const size_t frame = static_cast<size_t>(channels_ * bits_ / 8), width = static_cast<size_t>(bits_ / 8);
    const size_t want = static_cast<size_t>(std::min<uint64_t>(frames_, sizeof block / frame)),
                 got = want ? some(block, want * frame) / frame : 0;
    for (size_t k = 0; k < got; ++k) {
      float sum = 0;
      for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
        const uint8_t* p = block + k * frame + c * width;
        float x = 0;
        if (is_float_)
          x = width == 4 ? get<float>(p) : static_cast<float>(get<double>(p));
        else if (width == 1)
          x = static_cast<float>(*p - 128) / 128;
        else if (width == 2)
          x = static_cast<float>(get<int16_t>(p)) / 32768;
        else if (width == 3)
          x = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(p[0]) << 8 | static_cast<uint32_t>(p[1]) << 16 |
                                                      static_cast<uint32_t>(p[2]) << 24) /
                                 256) /
              8388608;
        else
          x = static_cast<float>(get<int32_t>(p)) / 2147483648.0f;
        sum += std::isfinite(x) ? std::clamp(x, -1.0f, 1.0f) : 0;
      }
      mono[k] = sum / static_cast<float>(channels_);
    }
    frames_ -= got;
    read_ += got;
    if (got) resampler_->feed(mono, got);
    if (got < want && !open_end_) error_ = name_ + ": cut off";
    if (open_end_ && !frames_) error_ = name_ + ": longer than " + std::to_string(longest_minutes_) + " minutes";
    if (got < want || !frames_) resampler_->end();
    ready_ = resampler_->take();
    taken_ = 0;
    if (got < want || !frames_) resampler_.reset();
  }
  n = std::min(n, ready_.size() - taken_);
  std::copy_n(ready_.begin() + static_cast<ptrdiff_t>(taken_), n, samples);
  taken_ += n;
  return n;
}

namespace {

bool read_all(WavReader* reader, Wav* wav, std::string* why) {
  wav->samples.clear();
  wav->file_rate = reader->rate();
  wav->file_channels = reader->channels();
  int16_t block[4096];
  for (size_t n; (n = reader->read(block, std::size(block))) != 0;) wav->samples.insert(wav->samples.end(), block, block + n);
  return reader->error().empty() || fail(why, reader->error());
}

}  // namespace

bool read_wav(const char* path, Wav* wav, std::string* why) {
  WavReader reader;
  return reader.open(path, why) && read_all(&reader, wav, why);
}

bool read_wav(const uint8_t* bytes, size_t n, const char* name, Wav* wav, std::string* why) {
  WavReader reader;
  return reader.open(bytes, n, name, why) && read_all(&reader, wav, why);
}

}  // namespace assistant
