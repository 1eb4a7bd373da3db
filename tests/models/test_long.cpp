// Endless generation on a trained model: sinks and recent tokens in constant memory.
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "tests/models.h"

using namespace test;

namespace {

constexpr uint32_t kWindow = 256;  // of the 512 positions that stories260K was trained for

bool full_run() { return std::getenv("LINNET_TEST_FULL") != nullptr; }

size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

linnet_session_params streaming(uint32_t chunk, uint32_t n_logits) {
  auto p = params(LINNET_I8, 1, chunk, n_logits, kWindow);
  p.when_full = LINNET_FULL_SINKS;
  return p;
}

double loss(const Row& logits, int32_t next) { return log_sum_exp(logits) - static_cast<double>(logits[static_cast<size_t>(next)]); }

}  // namespace

TEST_CASE("stories260K: the loss at positions 10,000 to 20,000 of a stream is that of a window computed anew") {
  const std::string folder = data_path("models/stories260K"), sample = data_path("vectors/text/tinystories_sample.txt");
  if (folder.empty() || sample.empty()) {
    std::printf("skipped: no stories260K or no text for it under LINNET_DATA or ../shared/data\n");
    return;
  }
  const Model model(folder, LINNET_I8G64);
  const Tokens once = tokenize(model, slurp(sample));
  Tokens tokens;
  REQUIRE(once.size() > 2 * kWindow);  // a repetition lies outside every window
  while (tokens.size() < 20001) tokens.insert(tokens.end(), once.begin(), once.end());

  constexpr uint32_t kChunk = 64, kFrom = 10000, kTo = 20000, kEvery = 16;
  const Session stream(model, streaming(kChunk, kChunk));
  linnet_error err{};
  double streamed = 0, anew = 0;
  uint32_t n = 0;
  auto again = params(LINNET_I8, 1, kWindow, 1, kWindow);
  Session window(model, again);
  for (uint32_t at = 0; at < kTo; at += kChunk) {
    const uint32_t m = std::min(kChunk, kTo - at);
    check(linnet_prefill(stream.s, 0, tokens.data() + at, m, &err), err);
    for (uint32_t i = 0; i < m; ++i) {
      const uint32_t p = at + i;
      if (p < kFrom || p % kEvery) continue;
      streamed += loss(stream.logits(m - 1 - i), tokens[p + 1]);
      REQUIRE(linnet_truncate(window.s, 0, 0, nullptr) == LINNET_OK);
      window.prefill(Tokens(tokens.begin() + static_cast<long>(p + 1 - kWindow), tokens.begin() + static_cast<long>(p + 1)));
      anew += loss(window.logits(), tokens[p + 1]);
      ++n;
    }
  }
  std::printf("stories260K, %u of positions %u..%u: loss %.4f streamed, %.4f over a window computed anew (%+.2f %%)\n", n, kFrom, kTo,
              streamed / n, anew / n, (streamed / anew - 1) * 100);
  CHECK(streamed < 1.05 * anew);
  const double mean = streamed / n;

  // Negative control: without the sinks the same window is no language model any more.
  auto without = streaming(kChunk, kChunk);
  without.when_full = LINNET_FULL_DROP_OLDEST;
  without.n_context = kWindow;
  const Session cut(model, without);
  double dropped = 0;
  n = 0;
  for (uint32_t at = 0; at + kChunk <= model.desc.n_context; at += kChunk) {
    check(linnet_prefill(cut.s, 0, tokens.data() + at, kChunk, &err), err);
    for (uint32_t i = 0; at >= kWindow + kChunk && i < kChunk; ++i, ++n) dropped += loss(cut.logits(kChunk - 1 - i), tokens[at + i + 1]);
  }
  std::printf("stories260K without sinks, first tokens dropped: loss %.4f\n", dropped / n);
  CHECK(dropped / n > 1.2 * mean);
}

TEST_CASE("stories260K: tokens without end, in flat memory") {
  const std::string folder = data_path("models/stories260K");
  if (folder.empty()) {
    std::printf("skipped: no stories260K under LINNET_DATA or ../shared/data\n");
    return;
  }
  const Model model(folder, LINNET_I8G64);
  Session s(model, streaming(0, 1));
  const auto drawing = sampling(1, 11);
  linnet_error err{};
  check(linnet_sampling_set(s.s, 0, &drawing, &err), err);
  s.prefill({1});
  const uint32_t total = full_run() ? 1000000 : 20000;
  size_t at_start = 0, at_end = 0;
  double nll = 0;
  uint32_t counted = 0;
  linnet_status status = LINNET_OK;
  for (uint32_t i = 0; i + 1001 < total && status == LINNET_OK; ++i) {  // nothing of the test framework in here: its memory grows
    if (i == total / 10) at_start = resident_bytes();
    int32_t token = -1;
    status = linnet_decode(s.s, 0, &token, &err);
  }
  at_end = resident_bytes();
  check(status, err);
  for (; counted < 1000; ++counted) {
    const Row before = s.logits();
    nll += loss(before, s.decode());
  }
  REQUIRE(s.length() == total);
  std::printf("stories260K: %u tokens, resident memory grew by %zd bytes after the first tenth, loss of the last %u %.3f\n", total,
              static_cast<ssize_t>(at_end - at_start), counted, nll / counted);
  CHECK(at_end <= at_start + (64u << 10));
  CHECK(nll / counted < 2.5);  // log 512 = 6.2 if it had gone astray
}
