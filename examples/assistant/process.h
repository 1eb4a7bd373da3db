// A program run by its argument list, without a shell: input to its stdin, its stdout back.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace assistant {

struct ProcessLimits {
  double seconds = 30;
  size_t output = 64u << 20;         // bytes
  std::function<bool()> keep_going;  // asked every 20 ms; false kills it
};

// False with the reason when it cannot be started, exits with an error, is killed, or goes past a limit. It and its children are gone
// afterwards.
bool run_process(const std::vector<std::string>& command, const std::string& input, const ProcessLimits& limits, std::string* output,
                 std::string* why);

}  // namespace assistant
