// What tests are run with: the data made by others, and sanitizers.
#pragma once
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

// Built with AddressSanitizer or ThreadSanitizer: ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LINNET_TESTS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LINNET_TESTS_SANITIZED
#endif
#endif
// With ThreadSanitizer, which has nothing to say of what one thread does.
#if defined(__SANITIZE_THREAD__)
#define LINNET_TESTS_RACES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LINNET_TESTS_RACES
#endif
#endif
// Random sweeps are short by default: LINNET_TEST_FULL, which `tests/run.sh --full` sets, makes them whole.
inline const bool kFull = std::getenv("LINNET_TEST_FULL") != nullptr;

#ifdef LINNET_TESTS_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#ifdef LINNET_TESTS_RACES
inline constexpr bool kRaces = true;
#else
inline constexpr bool kRaces = false;
#endif
// Sweeps under sanitizers are shorter still where other stages run the same code on the same kind of input: LINNET_TEST_SHORT, which
// `tests/run.sh` without --full sets.
inline const bool kShort = kSanitized && std::getenv("LINNET_TEST_SHORT") != nullptr;

// Tests take corners of their grids there, and mostly in an emulator.
#if defined(__aarch64__) || defined(__arm__)
inline constexpr bool kSlow = true;
#else
inline constexpr bool kSlow = kSanitized;
#endif

// Where test data made by others lies: $LINNET_DATA, or ../shared/data beside the checkout. Empty where there is none.
inline std::string data_dir() {
  struct stat st;
  if (const char* env = std::getenv("LINNET_DATA")) return env;
  return stat("../shared/data", &st) == 0 ? "../shared/data" : "";
}
// "" and a line "skipped: ..." where the file is not there.
inline std::string data_path(const std::string& relative) {
  const std::string dir = data_dir(), path = dir + "/" + relative;
  struct stat st;
  if (!dir.empty() && stat(path.c_str(), &st) == 0) return path;
  std::printf("skipped: no test data %s (set LINNET_DATA to the folder that holds it)\n", relative.c_str());
  return "";
}
inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
