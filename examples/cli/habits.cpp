// What hands type out of habit: slips of the keyboard, and what other programs call things. For errors alone, nothing here is parsed.
#include <algorithm>

#include "cli.h"

namespace linnet::cli {
namespace {

// What llama.cpp or ollama calls an option, and what it is here.
struct Habit {
  const char* names;           // with blanks between them
  const char* here;            // where a command has this option, or is one of these, the row is about it
  const char* note = nullptr;  // said where another value or nothing belongs there; otherwise `here` is the same thing
};
constexpr Habit kHabits[] = {
    // of run and chat
    {"--ctx-size", "--context"},
    {"--predict --n-predict", "--n-tokens"},
    {"-b --batch-size -ub --ubatch-size", "--chunk"},
    {"-sys --system-prompt", "--system"},
    {"-sysf --system-prompt-file", "--system", "'--system \"$(cat FILE)\"' takes it from a file"},
    {"--temperature", "--temp"},
    {"-r --reverse-prompt", "--stop"},
    {"-sp", "--special"},
    {"--display-prompt", "--echo"},
    {"--no-display-prompt", "run chat", "leave it out, so it is"},
    {"-jf --json-schema-file", "--schema"},
    {"-j --json-schema", "--schema", "'--schema FILE' takes a schema from a file"},
    {"--format", "--schema", "'--schema FILE' holds answers to a JSON schema"},
    {"--grammar-file", "--grammar"},
    {"--context-shift", "--when-full drop-oldest"},
    {"--no-context-shift", "--when-full stop"},
    {"--prompt-cache --prompt-cache-all", "--state"},
    {"-f --file -bf --binary-file --in-file", "run", "the text of a file is the prompt with '< FILE'"},
    {"-f --file -bf --binary-file --in-file", "chat", "lines of a file are messages with '< FILE'"},
    {"-f --file --in-file", "eval", "the file is the argument: linnet eval -m M FILE"},
    {"-f --file", "tokenize", "the text of a file is read with '< FILE'"},
    {"-e --escape", "--prompt", "a prompt is taken as it is; a shell makes a newline of $'\\n'"},
    {"--no-escape", "run chat eval tokenize", "leave it out, text is taken as it is"},
    {"-cnv --conversation -i --interactive -if --interactive-first", "run", "'linnet chat' holds conversations"},
    {"-cnv --conversation -i --interactive -if --interactive-first", "chat", "leave it out, 'linnet chat' holds a conversation"},
    {"-no-cnv --no-conversation -st --single-turn", "run", "leave it out, 'linnet run' holds no conversation"},
    {"-no-cnv --no-conversation", "chat", "'linnet run' generates without a conversation"},
    {"-st --single-turn", "chat", "'-p TEXT' is one message and its answer"},
    {"-mli --multiline-input", "chat", "leave it out; a line that ends with \\ goes on, and \"\"\" stand around several"},
    {"--think", "--reasoning", "'--reasoning off' has the model not think"},
    {"--hidethinking", "--reasoning hide"},
    {"--reasoning-format --reasoning-budget -rea", "--reasoning", "'--reasoning' takes show, hide or off"},
    {"--chat-template --chat-template-file", "--template"},
    {"--jinja", "chat", "leave it out, the model's own template is used"},
    {"--no-jinja --in-prefix --in-suffix", "chat", "the model's template is used; '--template FILE' is another one"},
    {"--chat-template --chat-template-file --jinja --no-jinja --in-prefix --in-suffix", "run",
     "'linnet chat' goes by the model's template"},
    {"--think --hidethinking -rea --reasoning --reasoning-format --reasoning-budget", "run", "'linnet chat --reasoning' is about thinking"},
    {"--sampler-seq --sampling-seq", "--samplers", "'--samplers' takes names: top_k;top_p;temperature"},
    {"-co --color --simple-io --nowordwrap --keepalive --warmup --no-warmup --progress", "run chat bench", "leave it out"},
    {"--verbose-prompt", "run chat", "'linnet tokenize --pieces' shows a text's tokens"},
    {"-md --model-draft --spec-type --draft --draft-max --draft-min", "--model", "draft models are not taken yet"},
    {"--lora-scaled", "--lora", "'--lora PATH:SCALE' is an adapter with its scale"},
    {"--control-vector", "--model", "control vectors are not taken"},
    {"-mm --mmproj --image --audio", "--model", "images and sound are not taken yet"},
    {"-hf --hf-repo -mu --model-url", "--model", "'-m hf:USER/REPO:QUANT' takes a model from the hub"},
    // of whatever computes
    {"-ngl --gpu-layers --n-gpu-layers -dev --device -mg --main-gpu -sm --split-mode -ts --tensor-split", "--cuda",
     "'--cuda on' computes on the GPU"},
    {"-ctk --cache-type-k -ctv --cache-type-v", "--kv", "'--kv K/V' names the formats of both: --kv i8/f16"},
    {"-kvo --kv-offload -nkvo --no-kv-offload", "--kv", "leave it out, the cache is where it computes"},
    {"--swa-full", "--kv", "leave it out, a window is the model's"},
    {"-fa --flash-attn", "--kv", "leave it out, there is nothing to switch"},
    {"-tb --threads-batch", "--threads", "'--threads' is for the prompt too"},
    {"-C --cpu-mask -Cr --cpu-range --cpu-strict --prio --poll --numa", "--threads",
     "'taskset' and 'nice' say where and how it runs; a profile may name cores"},
    {"--rope-scaling --rope-scale --rope-freq-base --rope-freq-scale --yarn-orig-ctx --yarn-ext-factor --yarn-attn-factor", "--kv",
     "positions are as the model's file says"},
    {"--mlock", "--load lock"},
    {"--no-mmap", "--load copy"},
    {"--mmap", "--load map"},
    {"-lm --load-mode", "--load"},
    {"--repack --no-repack", "--load", "leave it out; 'linnet convert' packs once, everything else on the way in"},
    {"--list-devices", "--cuda", "'linnet devices' lists what is here"},
    // of bench
    {"--n-prompt", "--prompt"},
    {"--n-gen", "--gen"},
    {"--n-depth", "--depth"},
    {"--repetitions", "--reps"},
    {"-pg", "--gen", "'--depth N --gen M' decodes behind a prompt of N"},
    {"-oe --output-err", "--output", "'--output FMT >&2' goes there"},
    // of eval
    {"--kl-divergence", "--against", "'--against M2' is the model to compare with"},
    {"--kl-divergence-base --save-all-logits", "--against", "'--against M2' computes the logits of the second model too"},
    {"--ppl-stride", "--windows", "windows with a stride are not there yet; '--windows llama' is how llama-perplexity cuts without one"},
    {"--chunks", "--windows", "'head -c BYTES' makes a text shorter"},
    {"--hellaswag --winogrande --multiple-choice", "--windows", "tasks are not scored yet"},
    // of convert
    {"--outfile", "--out"},
    {"--outtype", "--weights"},
    {"--pure --leave-output-tensor --output-tensor-type --token-embedding-type --tensor-type", "convert",
     "'--weights' is for all matrices; beside 4 bits embedding and head have 8"},
    {"--imatrix", "convert", "not taken yet"},
    {"--allow-requantize", "convert", "leave it out, nothing asks for it"},
    {"--dry-run", "convert", "'linnet plan -m SRC --weights FMT' counts the bytes"},
    {"--keep-split --split", "convert", "one file is written"},
    // of tokenize
    {"-p --prompt", "tokenize", "the text is the argument: linnet tokenize -m M TEXT"},
    {"--ids", "tokenize", "leave it out, ids are printed; '--pieces' shows texts"},
    {"--stdin", "tokenize", "leave it out, without TEXT stdin is read"},
    {"--show-count", "--count"},
    {"--no-bos", "--no-add-special"},
    // of embed
    {"--embd-normalize", "--normalize", "'--normalize' takes model, on or off"},
    {"--embd-output-format --embd-separator", "embed", "a line is a text, a vector a JSON array; '--json' has all in one"},
    {"-p", "embed", "texts are arguments: linnet embed -m M TEXT"},
    // of all
    {"--log-disable --no-perf --no-show-timings", "--quiet"},
    {"-v --verbose --log-verbose", "--log-level debug"},
    {"--perf --show-timings", "--log-level info"},
    {"-lv --verbosity --log-verbosity", "--log-level", "'--log-level' takes error, note, info or debug"},
    {"--log-file", "--log-level", "'2> FILE' takes what is said on stderr"},
    {"--log-colors --log-prefix --log-timestamps", "--log-level", "leave it out"},
};

// What other programs call a command; without the "llama-" before it.
constexpr Habit kCommandHabits[] = {
    {"quantize create", "convert"},
    {"perplexity", "eval"},
    {"show", "inspect"},
    {"cli generate llama-completion", "run"},
    {"embedding", "embed"},
    {"server", "serve"},
    {"list ls rm cp push", "files", "models are files and folders, which ls, cp and rm know"},
    {"ps stop", "ps", "nothing stays loaded when a command ends"},
};

// What other programs call what is typed into a chat.
constexpr Habit kChatHabits[] = {
    {"/bye /quit /q /stop /end", "/exit"},
    {"/? /h /commands", "/help"},
    {"/clear /new /restart", "/reset"},
    {"/regenerate /retry /redo /again", "/regen"},
    {"/pop /back", "/undo"},
    {"/set", "/system", "/system TEXT sets the system message; all else is an option of `linnet chat`"},
    {"/show /info", "/tokens", "'linnet inspect' shows what a model is"},
    {"/read /image /audio /glob", "/load", "/load FILE takes a saved conversation; other files cannot be read in yet"},
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
    if (!has_word(habit.names, typed) || (!is_option && !has_word(here, command.name))) continue;
    return habit.note ? std::string(": ") + habit.note : did_you_mean(habit.here);
  }
  if (!typed.starts_with("--")) return "";  // all short names look alike
  const std::string name = nearest(typed.substr(2), names);
  return name.empty() ? "" : did_you_mean("--" + name);
}

std::string meant_in_chat(std::string_view typed, const std::vector<std::string>& names) {
  for (const Habit& habit : kChatHabits)
    if (has_word(habit.names, typed)) return habit.note ? std::string(": ") + habit.note : did_you_mean(habit.here);
  const std::string name = nearest(typed, names);
  return name.empty() ? "" : did_you_mean(name);
}

std::string meant_command(std::string_view typed) {
  constexpr std::string_view kFamily = "llama-";
  const std::string_view bare = typed.starts_with(kFamily) ? typed.substr(kFamily.size()) : typed;
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  for (const Habit& habit : kCommandHabits)
    if (has_word(habit.names, typed) || has_word(habit.names, bare))
      return habit.note ? std::string(": ") + habit.note : did_you_mean(habit.here);
  const std::string name = nearest(bare, names);
  return name.empty() ? "" : did_you_mean(name);
}

}  // namespace linnet::cli
