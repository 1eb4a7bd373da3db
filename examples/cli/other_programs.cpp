// linnet assistant, linnet serve: programs of their own, because they need libraries that this tool does without.
#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {

Command assistant_command() {
  return {"assistant", "the voice assistant; options are linnet-assistant's", "", 0, 0, "", {}, nullptr, Kind::kPath};
}

Command serve_command() {
  return {"serve", "a server that OpenAI's clients know; options are linnet-server's", "", 0, 0, "", {}, nullptr, Kind::kPath};
}

int become_other(const char* command, char** argv) {
  const bool serves = !std::strcmp(command, "serve");
  std::string name = serves ? "linnet-server" : "linnet-assistant", beside = own_path();
  beside.resize(beside.rfind('/') + 1);  // npos + 1 is 0
  beside += name;
  argv[0] = name.data();
  const std::string why = become_program(beside, name.c_str(), argv);
  if (why.empty()) {
    std::fprintf(stderr,
                 "linnet: %s: there is no %s, neither as %s nor in PATH; it is built with linnet where %s and nlohmann-json3-dev are "
                 "installed\n",
                 command, name.c_str(), printable(beside).c_str(), serves ? "libmicrohttpd-dev" : "libyaml-dev");
  } else {
    std::fprintf(stderr, "linnet: %s: %s cannot be run: %s\n", command, printable(beside).c_str(), why.c_str());
  }
  return kExitError;
}

}  // namespace linnet::cli
