// linnet tokenize and detokenize.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {
namespace {

// As an array of ids; with --pieces and --count as those ask. `line`: of --lines, where all is JSON.
bool print_tokens(const Args& args, const Engine& engine, const std::vector<int32_t>& ids, bool line) {
  const bool pieces = args.flag("--pieces"), count = args.flag("--count"), json = line || args.json();
  std::string text;
  Json out;
  if (!pieces && !count) {
    out.value(ids).print();
    return true;
  }
  if (json) {
    out.object().field("count", static_cast<uint64_t>(ids.size()));
    if (pieces) out.key("pieces").array();
  }
  for (const int32_t id : ids) {
    if (!pieces) break;
    if (!token_text(args, engine, id, &text)) return false;
    if (json)
      out.object().field("id", id).field("text", text).end();
    else
      std::printf("%6d  '%s'\n", id, printable(text).c_str());
  }
  if (json) {
    if (pieces) out.end();
    out.end().print();
  } else if (count) {
    std::printf("%zu\n", ids.size());
  }
  return true;
}

// One JSON string a line in, one array of ids a line out, each as soon as it is done.
int tokenize_lines(const Args& args, const Engine& engine, uint32_t flags) {
  size_t number = 0;
  std::string line, text;
  std::vector<int32_t> ids;
  for (int c = 0; c != EOF;) {
    line.clear();
    while ((c = input_byte()) != EOF && c != '\n') line.push_back(static_cast<char>(c));
    if (c == EOF && errno) return failed(args, "stdin could not be read: %s", std::strerror(errno));
    if (c == EOF && line.empty()) break;
    ++number;
    const char* why = nullptr;
    if (!parse_json_string(line, &text, &why)) return failed(args, "line %zu: %s", number, why);
    if (!tokenize(args, engine, text, flags, &ids)) return kExitError;
    if (!print_tokens(args, engine, ids, true)) return kExitError;
    if (std::fflush(stdout) != 0) return kExitError;
  }
  return kExitOk;
}

int run_tokenize(const Args& args) {
  const bool lines = args.flag("--lines");
  if (lines && !args.positional().empty()) return usage_error(args, "--lines reads stdin; it takes no TEXT");
  Engine engine;
  if (!engine.open(args, args.text("-m"), Settings(), true)) return kExitError;
  const uint32_t flags = token_flags(args, "--no-add-special");
  if (lines) return tokenize_lines(args, engine, flags);
  std::string text;
  std::vector<int32_t> ids;
  if (!args.positional().empty())
    text = args.positional()[0];
  else if (!read_stdin(&text))
    return failed(args, "stdin could not be read");
  if (!tokenize(args, engine, text, flags, &ids)) return kExitError;
  return print_tokens(args, engine, ids, false) ? kExitOk : kExitError;
}

int run_detokenize(const Args& args) {
  std::vector<int32_t> ids;
  std::string list;
  if (!args.positional().empty())
    list = args.positional()[0];
  else if (!read_stdin(&list))
    return failed(args, "stdin could not be read");
  if (!parse_ids(list, &ids)) {
    if (args.positional().empty()) return failed(args, "stdin holds no numbers with commas between them");
    return usage_error(args, "IDS are numbers with commas between them, not '%s'", list.c_str());
  }
  Engine engine;
  std::string text;
  if (!engine.open(args, args.text("-m"), Settings(), true) || !detokenize(args, engine, ids, &text)) return kExitError;
  if (args.json()) {
    Json().object().field("text", text).end().print();
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
  }
  return kExitOk;
}

}  // namespace

Command tokenize_command() {
  return {"tokenize",
          "print a text's token ids as a JSON array",
          "[TEXT]",
          0,
          1,
          "Without TEXT, all of stdin is the text. M may also be a folder that holds only tokenizer files. With --json or --lines --pieces "
          "is\n{\"count\":2,\"pieces\":[{\"id\":1,\"text\":\"<s>\"}, ...]} and --count {\"count\":2}.\n\n"
          "example: linnet tokenize -m model.gguf \"Hello, world\"",
          {
              model_option(),
              {"--no-add-special", nullptr, Kind::kFlag, "add no special tokens (BOS, EOS)"},
              {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the text are plain text"},
              {"--pieces", nullptr, Kind::kFlag, "print a line for each token: its id and its text"},
              {"--count", nullptr, Kind::kFlag, "print how many there are; with --pieces below them"},
              {"--lines", nullptr, Kind::kFlag, "one JSON string a line on stdin, one JSON array of ids a line out"},
          },
          run_tokenize};
}

Command detokenize_command() {
  return {"detokenize",
          "print the text of token ids",
          "[IDS]",
          0,
          1,
          "IDS are 1,2,3 or [1,2,3]; without them, they come from stdin.\n\nexample: linnet detokenize -m model.gguf 1,403,407",
          {model_option()},
          run_detokenize};
}

}  // namespace linnet::cli
