// What hands type out of habit: slips of the keyboard, and what other programs call things. For errors alone, nothing here is parsed.
#include <algorithm>

#include "cli.h"

namespace linnet::cli {
namespace {

// What llama.cpp calls an option, and what it is here.
struct Habit {
  const char* names;           // with blanks between them
  const char* here;            // where a command has this option, or is that command, the row is about it
  const char* note = nullptr;  // said where another value or nothing belongs there; otherwise `here` is the same thing
};
constexpr Habit kHabits[] = {
    {"--ctx-size", "--context"},
    {"--predict --n-predict", "--n-tokens"},
    {"-b --batch-size -ub --ubatch-size", "--chunk"},
    {"-sys --system-prompt", "--system"},
    {"--temperature", "--temp"},
    {"-jf --json-schema-file", "--schema"},
    {"--mlock", "--load lock"},
    {"--no-mmap", "--load copy"},
    {"--mmap", "--load map"},
    {"-j --json-schema", "--schema", "'--schema FILE' takes a schema from a file"},
    {"-f --file", "run", "the text of a file is the prompt with '< FILE'"},
    {"-e --escape", "--prompt", "a prompt is taken as it is; a shell makes a newline of $'\\n'"},
    {"-ngl --gpu-layers --n-gpu-layers", "--cuda", "'--cuda on' computes on the GPU"},
    {"-ctk --cache-type-k -ctv --cache-type-v", "--kv", "'--kv K/V' names the formats of both: --kv i8/f16"},
    {"-tb --threads-batch", "--threads", "'--threads' is for the prompt too"},
    {"-fa --flash-attn", "--kv", "leave it out, there is nothing to switch"},
    {"-cnv --conversation", "run", "'linnet chat' holds conversations"},
    {"-cnv --conversation", "chat", "leave it out, 'linnet chat' holds a conversation"},
    {"-no-cnv --no-conversation", "run", "leave it out, 'linnet run' holds no conversation"},
    {"-no-cnv --no-conversation", "chat", "'linnet run' generates without a conversation"},
    {"-hf --hf-repo -mu --model-url", "--model", "nothing is downloaded yet; '-m' takes a file or a folder"},
    {"--grammar --grammar-file", "--schema", "GBNF is not taken yet; '--schema' and '--tools' hold answers to JSON"},
    {"--lora", "--model", "adapters are not taken yet"},
};

// What other programs call a command.
constexpr Habit kCommandHabits[] = {
    {"quantize create", "convert"},
    {"perplexity", "eval"},
    {"show", "inspect"},
    {"cli generate", "run"},
    {"serve server", "serve", "linnet does not serve yet"},
    {"pull", "pull", "nothing is downloaded yet; convert and -m take files and folders"},
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// Characters to insert, drop or replace until `a` is `b`.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = i;
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = corner + (a[i] != b[j]);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, corner + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Of `names` the one that `typed` is a slip of: at most two characters away, and as much the same as not. "" for none.
std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
  constexpr size_t kMost = 2, kLongest = 64;  // nobody's slip is longer
  std::string best;
  size_t least = std::min(kMost, typed.size() / 2) + 1;
  if (typed.size() > kLongest) return best;
  for (const std::string& name : names)
    if (const size_t d = distance(typed, name); d < least) least = d, best = name;
  return best;
}

std::string did_you_mean(const std::string& name) { return ": did you mean '" + name + "'?"; }

}  // namespace

std::string meant_option(const Command& command, std::string_view typed) {
  std::vector<std::string> names;  // long ones, without "--"
  for (const Option& option : command.options) names.push_back(names_of(option).back().substr(2));
  for (const Habit& habit : kHabits) {
    const std::string_view here = habit.here;
    const bool is_option =
        here.starts_with("--") && std::find(names.begin(), names.end(), here.substr(2, here.find(' ') - 2)) != names.end();
    if (!has_word(habit.names, typed) || (!is_option && here != command.name)) continue;
    return habit.note ? std::string(": ") + habit.note : did_you_mean(habit.here);
  }
  if (!typed.starts_with("--")) return "";  // all short names look alike
  const std::string name = nearest(typed.substr(2), names);
  return name.empty() ? "" : did_you_mean("--" + name);
}

std::string meant_command(std::string_view typed) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  for (const Habit& habit : kCommandHabits)
    if (has_word(habit.names, typed)) return habit.note ? std::string(": ") + habit.note : did_you_mean(habit.here);
  const std::string name = nearest(typed, names);
  return name.empty() ? "" : did_you_mean(name);
}

}  // namespace linnet::cli
