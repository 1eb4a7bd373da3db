// linnet assistant: becomes linnet-assistant, a program of its own because it needs libraries for sound and speech that this tool does
// without.
#include <errno.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {

Command assistant_command() {
  return {"assistant", "the voice assistant; options are linnet-assistant's", "", 0, 0, "", {}, nullptr, Kind::kPath};
}

int become_assistant(char** argv) {
  char exe[4096];
  const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
  std::string beside = n > 0 && n < static_cast<ssize_t>(sizeof exe) ? std::string(exe, static_cast<size_t>(n)) : std::string();
  beside.resize(beside.rfind('/') + 1);  // npos + 1 is 0
  beside += "linnet-assistant";
  std::string name = "linnet-assistant";
  argv[0] = name.data();
  execv(beside.c_str(), argv);
  if (errno == ENOENT) execvp(name.c_str(), argv);
  if (errno == ENOENT) {
    std::fprintf(stderr,
                 "linnet: assistant: there is no linnet-assistant, neither as %s nor in PATH; it is built with linnet where libyaml-dev "
                 "and nlohmann-json3-dev are installed\n",
                 printable(beside).c_str());
  } else {
    std::fprintf(stderr, "linnet: assistant: %s cannot be run: %s\n", printable(beside).c_str(), std::strerror(errno));
  }
  return kExitError;
}

}  // namespace linnet::cli
