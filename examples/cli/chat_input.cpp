// Messages and commands of a chat as they are typed or piped in: lines, and several of them that are one.
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

constexpr std::string_view kBlock = "\"\"\"";

}  // namespace

Line read_line(const Args& args, std::string* out) {
  out->clear();
  int c;
  while ((c = input_byte()) != EOF && c != '\n')
    if (out->size() <= kMaxLine) out->push_back(static_cast<char>(c));
  if (c == EOF && errno && !interrupted()) {
    failed(args, "stdin could not be read");
    return Line::kBad;
  }
  if (!interrupted() && out->size() > kMaxLine) {
    failed(args, "a line of input is longer than %zu bytes", kMaxLine);
    return Line::kSkipped;
  }
  if (interrupted() || (out->empty() && c == EOF)) return Line::kEnd;
  if (!out->empty() && out->back() == '\r') out->pop_back();
  return Line::kRead;
}

ChatInput::ChatInput(const Args& args) : args_(args), terminal_(on_terminal(stdin)) {
#ifdef LINNET_HAVE_EDIT
  if (terminal_ && on_terminal(stderr)) editor_ = open_editor(!args.flag("--no-history"));
#endif
}

Line ChatInput::line(const char* prompt, std::string* out) {
  if (editor_) return editor_->read(prompt, out);
  if (terminal_) std::fputs(prompt, stderr);
  return read_line(args_, out);
}

Line ChatInput::read(std::string* out) {
  out->clear();
  std::string line, typed;  // typed: as the history has it
  size_t begin = 0;         // of the text, behind a command
  bool first = true, block = false, skipped = false;
  for (const char* prompt = "> ";; prompt = ". ") {
    const Line read = this->line(prompt, &line);
    cleared_ = interrupted() && (!first || (editor_ && editor_->cleared));
    if (read == Line::kEnd && !interrupted() && !first) {  // what goes on with nothing is whole, but for a mark that is missing
      if (block) failed(args_, "the text that begins with %s has no end", kBlock.data());
      return block || skipped ? Line::kSkipped : Line::kRead;
    }
    if (read == Line::kEnd || read == Line::kBad) return read;
    typed += (first ? "" : "\n") + line;
    std::string_view text = line;
    if (first) {
      // A command's text may be a block too.
      const size_t blank = text.find(' '), at = text.starts_with('/') && blank != std::string_view::npos ? blank + 1 : 0;
      block = text.substr(at).starts_with(kBlock);
      begin = at;
      *out = text.substr(0, at);
      text.remove_prefix(at + (block ? kBlock.size() : 0));
    }
    const bool ends = block ? text.ends_with(kBlock) : !text.ends_with('\\');
    if (!ends || block) text.remove_suffix(ends ? kBlock.size() : block ? 0 : 1);
    *out += (first ? "" : "\n") + std::string(text);
    first = false;
    if (read == Line::kRead && out->size() > kMaxLine && !skipped) failed(args_, "a message is longer than %zu bytes", kMaxLine);
    skipped = skipped || read == Line::kSkipped || out->size() > kMaxLine;
    if (skipped) out->clear(), typed.clear();
    if (!ends && read != Line::kSkipped) continue;
    if (skipped) return Line::kSkipped;
    // Line breaks beside the marks are theirs.
    if (block && out->size() > begin && (*out)[begin] == '\n') out->erase(begin, 1);
    if (block && out->size() > begin && out->back() == '\n') out->pop_back();
    if (editor_ && typed.find_first_not_of(" \t\n") != std::string::npos) editor_->remember(block ? typed : *out);
    return Line::kRead;
  }
}

}  // namespace linnet::cli
