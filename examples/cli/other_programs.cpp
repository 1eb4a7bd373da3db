// linnet assistant: becomes linnet-assistant, a program of its own because it needs libraries for sound and speech that this tool does
// without.
#include <cstdio>

#include "cli.h"

namespace linnet::cli {

Command assistant_command() {
  return {"assistant", "the voice assistant; options are linnet-assistant's", "", 0, 0, "", {}, nullptr, Kind::kPath};
}

int become_assistant(char** argv) {
  std::string name = "linnet-assistant", beside = own_path();
  beside.resize(beside.rfind('/') + 1);  // npos + 1 is 0
  beside += name;
  argv[0] = name.data();
  const std::string why = become_program(beside, name.c_str(), argv);
  if (why.empty()) {
    std::fprintf(stderr,
                 "linnet: assistant: there is no linnet-assistant, neither as %s nor in PATH; it is built with linnet where libyaml-dev "
                 "and nlohmann-json3-dev are installed\n",
                 printable(beside).c_str());
  } else {
    std::fprintf(stderr, "linnet: assistant: %s cannot be run: %s\n", printable(beside).c_str(), why.c_str());
  }
  return kExitError;
}

}  // namespace linnet::cli
