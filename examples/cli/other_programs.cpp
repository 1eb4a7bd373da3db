// linnet assistant, linnet serve: programs of their own, because they need libraries that this tool does without.
#include <cstdio>
#include <cstring>
#include <deque>

#include "cli.h"
#include "hub.h"

namespace linnet::cli {
namespace {

// -m [NAME=]hf:...: the server knows no hub, so it gets NAME=PATH, where the name that is not said is the repository's.
int find_served_models(const Command& command, char** argv, std::deque<std::string>* kept) {
  const Args args(command);
  for (char** at = argv + 1; *at; ++at) {
    std::string_view said = *at;
    const bool joined = said.starts_with("--model=");
    if (joined)
      said.remove_prefix(8);
    else if ((said != "-m" && said != "--model") || !at[1])
      continue;
    else
      said = *++at;
    const size_t equals = said.find('=');
    const bool named = equals != std::string_view::npos && is_hub_name(said.substr(equals + 1));
    if (!named && !is_hub_name(said)) continue;
    std::string model(said.substr(named ? equals + 1 : 0)), name(said.substr(0, named ? equals : 0));
    if (!named) {
      name = model.substr(0, model.find_first_of(":@", 3));
      name.erase(0, name.find_last_of("/:") + 1);
    }
    if (const int code = find_hub_model(args, &model)) return code;
    kept->push_back((joined ? "--model=" : "") + name + "=" + model);
    *at = kept->back().data();
  }
  return kExitOk;
}

}  // namespace

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
  std::deque<std::string> kept;  // stay where they are
  if (serves)
    for (const Command& c : commands())
      if (const int code = !std::strcmp(c.name, command) ? find_served_models(c, argv, &kept) : kExitOk) return code;
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
