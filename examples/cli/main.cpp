// The `linnet` tool: one subcommand per file beside this one.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "cli.h"

using namespace linnet::cli;

namespace {

using MakeCommand = Command (*)();
constexpr MakeCommand kCommands[] = {
    pull_command,    convert_command,    run_command,    chat_command,       template_command, tokenize_command,  detokenize_command,
    embed_command,   transcribe_command, logits_command, eval_command,       bench_command,    plan_command,      inspect_command,
    devices_command, doctor_command,     manual_command, completion_command, cache_command,    assistant_command, serve_command};

void print_overview(std::FILE* to) {
  std::fprintf(to, "usage: linnet COMMAND [options]\n\n%s\n\ncommands:\n", linnet_build_info());
  for (const Command& command : commands()) std::fprintf(to, "  %-11s %s\n", command.name, command.summary);
  std::fprintf(to, "\n'linnet COMMAND --help' shows its options; every command knows --json and -q.\n");
}

int dispatch(const Command& command, int argc, char** argv) {
  Args args(command);
  if (!args.parse(argc, argv)) return kExitUsage;
  if (args.help()) {
    print_help(command);
    return kExitOk;
  }
  if (const int code = args.find_models()) return code;
  return command.run(args);
}

// A full disk or a closed pipe must not look like success, nor an interrupted run like one that ended.
int finish(int code) {
  if (std::ferror(stdout)) die_if_interrupted();  // nobody takes the rest
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == kExitOk) {
    std::fprintf(stderr, "linnet: the output could not be written\n");
    return kExitError;
  }
  die_if_interrupted();
  return code;
}

// Needs no memory itself.
int out_of_memory() {
  static constexpr char kText[] = "linnet: out of memory\n";
  return write(STDERR_FILENO, kText, sizeof kText - 1) < 0 ? kExitError : kExitError;
}

// An allocation may fail where nothing can be thrown any more.
[[noreturn]] void end_of_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    _exit(out_of_memory());
  } catch (...) {
  }
  std::abort();
}

int run_tool(int argc, char** argv) {
  interrupt_ends();  // in the background of a script too, where the shell has SIGINT ignored
  if (argc < 2) {
    print_overview(stderr);
    return kExitUsage;
  }
  const char* name = argv[1];
  std::string help = "--help";
  // `linnet help COMMAND` is `linnet COMMAND --help`.
  if (!std::strcmp(name, "help") && argc == 3) {
    argv[1] = argv[2];
    argv[2] = help.data();
    name = argv[1];
  }
  if (!std::strcmp(name, "--help") || !std::strcmp(name, "-h") || !std::strcmp(name, "help")) {
    print_overview(stdout);
    return finish(kExitOk);
  }
  if (!std::strcmp(name, "--version")) {
    std::printf("%s\n", linnet_build_info());
    return finish(kExitOk);
  }
  for (const Command& command : commands()) {
    if (std::strcmp(name, command.name)) continue;
    return command.run ? finish(dispatch(command, argc - 2, argv + 2)) : become_other(command.name, argv + 1);
  }
  std::fprintf(stderr, "linnet: unknown command '%s'%s\n--help lists the commands.\n", printable(name).c_str(),
               meant_command(name).c_str());
  return kExitUsage;
}

}  // namespace

std::vector<Command> linnet::cli::commands() {
  std::vector<Command> all;
  for (const MakeCommand make : kCommands) {
    Command command = make();
    if (command.run) {
      command.options.push_back({"--json", nullptr, Kind::kFlag, "print JSON"});
      command.options.push_back({"-q, --quiet", nullptr, Kind::kFlag, "say nothing but errors on stderr"});
      command.options.push_back({"--log-level", "LEVEL", Kind::kLog, "say on stderr, each with those before it: {}", "info"});
      command.options.push_back({"-h, --help", nullptr, Kind::kFlag, "show this text"});
    }
    all.push_back(std::move(command));
  }
  return all;
}

int main(int argc, char** argv) {
  std::set_terminate(end_of_memory);
  try {
    begin_process(&argc, &argv);
    return run_tool(argc, argv);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& e) {  // a thread that cannot be made
    std::fprintf(stderr, "linnet: cannot go on: %s\n", e.what());
    return kExitError;
  }
}
