// libFuzzer: any bytes as a WAV file. What is read has the form that the assistant works with; what is not says why and names the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "examples/assistant/audio.h"

static void require(bool ok) {
  if (!ok) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  static const int file = memfd_create("wav", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, bytes, 0) == static_cast<ssize_t>(bytes));
  assistant::Wav wav;
  std::string why;
  if (!assistant::read_wav(path.c_str(), &wav, &why)) {
    require(why.find(path) != std::string::npos);
    return 0;
  }
  require(why.empty() && wav.file_rate >= 4000 && wav.file_rate <= 192000 && wav.file_channels >= 1 && wav.file_channels <= 8);
  require(wav.samples.size() <= size_t{assistant::kLongestMinutes} * 60 * assistant::kRate + assistant::kRate &&
          wav.samples.size() <= 8 * bytes + 1000);  // 8 bits at 4 kHz make 16 at 16
  return 0;
}
