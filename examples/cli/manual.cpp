// linnet manual and linnet completion: the tables of all subcommands as a man page, and as what bash, zsh and fish complete.
#include <algorithm>

#include "cli.h"

namespace linnet::cli {
namespace {

// `text` with `with[i]` for every character `special[i]`.
std::string escaped(std::string_view text, std::string_view special, const std::vector<const char*>& with) {
  std::string out;
  for (const char c : text) {
    const size_t i = special.find(c);
    out += i == std::string_view::npos ? std::string(1, c) : with[i];
  }
  return out;
}

// ---- the man page ------------------------------------------------------------------------------------------------------------------

// Every character stands for itself, so that what is copied from the page works in a shell; a dot that begins a line is no request.
std::string roff(std::string_view text) {
  const std::string out = escaped(text, "\\-'\"`^~", {"\\e", "\\-", "\\(aq", "\\(dq", "\\(ga", "\\(ha", "\\(ti"});
  return out[0] == '.' ? "\\&" + out : out;
}

class Page {
 public:
  Page& line(const std::string& roff_text) {
    text += roff_text + "\n";
    return *this;
  }
  // Words of a paragraph, in lines of at most 78 columns.
  Page& fill(std::string_view words) {
    size_t column = 0;
    while (!words.empty()) {
      const size_t end = std::min(words.find_first_of(" \n"), words.size());
      const std::string word = end ? roff(words.substr(0, end)) : "";
      words.remove_prefix(std::min(end + 1, words.size()));
      if (word.empty()) continue;
      if (column) text += column + word.size() > 77 ? (column = 0, '\n') : ' ';
      text += word;
      column += word.size() + 1;
    }
    if (column) text += '\n';
    return *this;
  }
  Page& entry(const std::string& name, std::string_view what) { return line(".TP").line("\\fB" + roff(name) + "\\fR").fill(what); }
  std::string text;
};

void add_option(Page* page, const Option& option) {
  std::string names;
  for (const std::string& name : names_of(option)) names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (option.argument) names += " \\fI" + roff(option.argument) + "\\fR";
  std::string what = help_of(option);
  if (what == option.help && option.kind != Kind::kIds && !takes(option).empty()) what += "; " + takes(option);
  if (option.fallback) what += std::string(" (default ") + option.fallback + ")";
  if (option.required) what += " (required)";
  page->line(".TP").line(names).fill(what);
}

// Paragraphs, the last one of examples, which are shown line by line.
void add_details(Page* page, std::string_view details) {
  constexpr std::string_view kExample = "example: ";
  while (!details.empty()) {
    const size_t end = std::min(details.find("\n\n"), details.size());
    std::string_view paragraph = details.substr(0, end);
    details.remove_prefix(std::min(end + 2, details.size()));
    page->line(".PP");
    if (!paragraph.starts_with(kExample)) {
      page->fill(paragraph);
      continue;
    }
    page->line("Example:").line(".PP").line(".RS 4").line(".nf");
    while (!paragraph.empty()) {
      const size_t line = std::min(paragraph.find('\n'), paragraph.size());
      page->line(roff(paragraph.substr(kExample.size(), line - kExample.size())));
      paragraph.remove_prefix(std::min(line + 1, paragraph.size()));
    }
    page->line(".fi").line(".RE");
  }
}

std::string man_page() {
  Page page;
  const std::string build = linnet_build_info();
  // No date: two builds of one source are the same.
  page.line(".TH LINNET 1 \"\" \"" + roff(build.substr(0, build.find(','))) + "\" \"User Commands\"");
  page.line(".nh").line(".ad l");  // nothing is broken that somebody may copy
  page.line(".SH NAME").line("linnet \\- run language models on devices");
  page.line(".SH SYNOPSIS").line("\\fBlinnet\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]").line(".br");
  page.line("\\fBlinnet\\fR [\\fICOMMAND\\fR] \\fB\\-\\-help\\fR").line(".br").line("\\fBlinnet\\fR \\fB\\-\\-version\\fR");
  page.line(".SH DESCRIPTION");
  page.fill(
      "linnet packs language models (Hugging Face folders, GGUF files) into files that start in milliseconds, runs them on this "
      "machine's CPU or GPU, says to the byte what memory they take, and measures how fast and how exact they are.");
  page.line(".PP").fill(
      "A value follows its option as the next word, or after '=' where the option begins with '--'. Where an option is given twice, the "
      "last one counts; '--' ends the options. Every command prints JSON with --json. What goes wrong is a sentence on stderr.");
  page.line(".SH COMMANDS");
  for (const Command& command : commands()) {
    page.line(".SS " + roff(command.name));
    std::string usage = "\\fBlinnet " + roff(command.name) + "\\fR";
    if (*command.positional) usage += " \\fI" + roff(command.positional) + "\\fR";
    for (const Option& option : command.options)
      if (option.required) usage += " \\fB" + roff(names_of(option)[0]) + "\\fR \\fI" + roff(option.argument) + "\\fR";
    page.line(usage + " [\\fIoptions\\fR]").line(".PP").fill(command.summary);
    for (const Option& option : command.options) add_option(&page, option);
    add_details(&page, command.details);
  }
  page.line(".SH EXIT STATUS").entry("0", "It is done.").entry("1", "It failed; a sentence on stderr says why.");
  page.entry("2", "Wrong usage: a command, an option or a value that is not taken, or one that is missing.");
  page.line(".PP").fill("What SIGINT or SIGTERM stops ends by that signal.");
  page.line(".SH ENVIRONMENT");
  page.entry("LINNET_CONFIGS", "The folder of device profiles, instead of share/linnet/configs beside the tool.");
  page.entry("LINNET_SYSROOT", "A folder with copies of another board's /proc and /sys, which then stand for this machine's.");
  page.entry("HF_HUB_CACHE, HF_HOME",
             "Where models of the hub lie: the folder itself, or that of Hugging Face's programs, whose hub it is.");
  page.entry("HF_TOKEN, HF_TOKEN_PATH", "A token for the hub, or the file that holds it. HF_HUB_DISABLE_IMPLICIT_TOKEN=1: none is sent.");
  page.entry("HF_ENDPOINT", "Another hub than https://huggingface.co.");
  page.entry("HF_HUB_OFFLINE", "1: linnet pull, and -m with hf:..., ask the cache alone.");
  page.entry("XDG_CACHE_HOME", "Packed models are kept in linnet there, else in ~/.cache/linnet; linnet cache lists them.");
  page.line(".SH FILES");
  page.entry("share/linnet/configs/*.yaml",
             "Device profiles, beside the folder that the tool is in; README.md there explains their fields.");
  page.line(".SH SEE ALSO");
  page.fill("linnet COMMAND --help shows what stands here of one command, linnet devices lists the device profiles and what they are for.");
  return page.text;
}

// ---- completion ----------------------------------------------------------------------------------------------------------------------

constexpr const char* kTopLevel = "help -h --help --version";  // beside the commands

// What an option is, in a few words: without the choices, which are completed themselves.
std::string brief(const Option& option) {
  const std::string_view help = option.help;
  return std::string(help.substr(0, help.find(": {}")));
}

bool is_path(Kind kind) { return kind == Kind::kPath || kind == Kind::kModel; }

std::string words_of(Kind kind) {
  std::string words;
  for (const Choice& choice : choices(kind)) words += (words.empty() ? "" : " ") + choice.name;
  return words;
}

std::string quoted(std::string_view text) { return "'" + escaped(text, "'", {"'\\''"}) + "'"; }  // for bash and zsh

// What sets `words` or `paths` of the function below; "" where nothing is completed.
std::string bash_value(Kind kind) {
  const std::string words = words_of(kind);
  return is_path(kind) ? "paths=1" : words.empty() ? "" : "words=" + quoted(words);
}

std::string bash_completion() {
  std::string top, cases;
  for (const Command& command : commands()) {
    top += std::string(command.name) + " ";
    cases += std::string("    ") + command.name + ")\n      case $prev in\n";
    std::string all;
    for (const Option& option : command.options) {
      std::string pattern;
      for (const std::string& name : names_of(option)) {
        all += (all.empty() ? "" : " ") + name;
        pattern += (pattern.empty() ? "" : " | ") + name;
      }
      if (option.argument) cases += "      " + pattern + ") " + bash_value(option.kind) + " ;;\n";
    }
    const std::string positional = bash_value(command.takes);
    cases += "      *) words=" + quoted(all) + (positional.empty() ? "" : "; [[ $cur == -* ]] || " + positional) + " ;;\n      esac ;;\n";
  }
  cases += "    help)\n      ((COMP_CWORD > 2)) || words=" + quoted(top.substr(0, top.size() - 1)) + " ;;\n";
  return R"(# linnet in bash, as 'linnet completion bash' writes it.
_linnet() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' paths=''
  COMPREPLY=()
  if [[ $cur == = ]]; then # bash makes three words of --option=value
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD < 2)); then
    words=)" +
         quoted(top + kTopLevel) + R"(
  else
    case ${COMP_WORDS[1]} in
)" + cases +
         R"(    esac
  fi
  if [[ $paths ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
}
complete -F _linnet linnet
)";
}

// Text inside of a specification of _arguments or _describe.
std::string zsh(std::string_view text) { return escaped(text, "\\[]:", {"\\\\", "\\[", "\\]", "\\:"}); }

// What is completed, as the end of a specification: ":NAME:ACTION".
std::string zsh_value(std::string_view name, Kind kind) {
  const std::string words = words_of(kind);
  return ":" + zsh(name) + ":" + (is_path(kind) ? "_files" : words.empty() ? " " : "(" + words + ")");
}

std::string zsh_completion() {
  std::string top, cases;
  for (const Command& command : commands()) {
    top += "    " + quoted(zsh(command.name) + ":" + zsh(command.summary)) + "\n";
    cases += std::string("    ") + command.name + ") ";
    if (!command.run) {
      cases += "_files ;;\n";
      continue;
    }
    cases += "_arguments -S";
    for (const Option& option : command.options) {
      const std::vector<std::string> names = names_of(option);
      for (const std::string& name : names) {
        std::string spec = option.kind == Kind::kTexts ? "*" : names.size() > 1 ? "(" + names[0] + " " + names[1] + ")" : "";
        spec += name + (option.argument && name.starts_with("--") ? "=" : "") + "[" + zsh(brief(option)) + "]";
        if (option.argument) spec += zsh_value(option.argument, option.kind);
        cases += " \\\n      " + quoted(spec);
      }
    }
    std::string positional = command.positional;
    std::erase_if(positional, [](char c) { return c == '[' || c == ']'; });
    if (!positional.empty()) cases += " \\\n      " + quoted("1" + zsh_value(positional, command.takes));
    cases += " ;;\n";
  }
  return R"(#compdef linnet
# linnet in zsh, as 'linnet completion zsh' writes it.
_linnet() {
  local -a all=(
)" + top +
         R"(  )
  if ((CURRENT == 2)); then
    all+=()" +
         kTopLevel + R"()
    _describe -t commands command all
  elif [[ $words[2] == help ]]; then
    ((CURRENT > 3)) || _describe -t commands command all
  else
    shift words
    ((CURRENT--))
    case $words[1] in
)" + cases +
         R"(    esac
  fi
}
if [[ $funcstack[1] == _linnet ]]; then # loaded by its name
  _linnet "$@"
else
  compdef _linnet linnet
fi
)";
}

std::string fish_completion() {
  const auto fish = [](std::string_view text) { return "'" + escaped(text, "\\'", {"\\\\", "\\'"}) + "'"; };
  std::string out = R"(# linnet in fish, as 'linnet completion fish' writes it.
function __linnet_command # whether that is the command; without a name: whether there is none yet
  set -l words (commandline -opc)
  test "$words[2]" = "$argv[1]"
end
complete -c linnet -f
complete -c linnet -n __linnet_command -a help
complete -c linnet -n __linnet_command -s h -l help
complete -c linnet -n __linnet_command -l version
)";
  const auto value = [&](Kind kind) {
    const std::string words = words_of(kind);
    return is_path(kind) ? " -r -F" : words.empty() ? " -x" : " -x -a " + fish(words);
  };
  for (const Command& command : commands()) {
    const std::string start = "complete -c linnet -n '__linnet_command " + std::string(command.name) + "'";
    for (const char* where : {"__linnet_command", "'__linnet_command help'"})
      out += std::string("complete -c linnet -n ") + where + " -a " + fish(command.name) + " -d " + fish(command.summary) + "\n";
    if (command.takes != Kind::kText) out += start + (is_path(command.takes) ? " -F" : " -a " + fish(words_of(command.takes))) + "\n";
    for (const Option& option : command.options) {
      out += start;
      for (const std::string& name : names_of(option)) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += (option.argument ? value(option.kind) : "") + " -d " + fish(brief(option)) + "\n";
    }
  }
  return out;
}

int print(const Args& args, const char* what, const std::string& text) {
  if (args.json())
    Json().object().field(what, text).end().print();
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitOk;
}

int run_completion(const Args& args) {
  const std::string& shell = args.positional()[0];
  return print(args, "completion", shell == "bash" ? bash_completion() : shell == "zsh" ? zsh_completion() : fish_completion());
}

int run_manual(const Args& args) { return print(args, "manual", man_page()); }

}  // namespace

Command completion_command() {
  return {"completion",
          "print what makes a shell complete linnet's commands, options and values",
          "SHELL",
          1,
          1,
          "SHELL is bash, zsh or fish, which find these files by themselves where linnet is installed. Otherwise the output belongs in the "
          "file below for bash (or:\nsource <(linnet completion bash)), in a file _linnet in a folder of $fpath for zsh, in "
          "~/.config/fish/completions/linnet.fish for fish.\n\n"
          "example: linnet completion bash > ~/.local/share/bash-completion/completions/linnet",
          {},
          run_completion,
          Kind::kShell};
}

Command manual_command() {
  return {"manual", "print the man page, linnet(1)", "", 0, 0, "example: linnet manual | man -l -", {}, run_manual};
}

}  // namespace linnet::cli
