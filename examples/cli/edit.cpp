// What is typed at a terminal, edited and remembered by libedit, which is looked for when a chat begins.
#include <dlfcn.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli.h"

namespace linnet::cli {
namespace {

// clang-format off
#define LINNET_EDIT_FUNCTIONS(X) \
  X(el_init) X(el_end) X(el_set) X(el_wset) X(el_gets) X(el_insertstr) X(el_line) X(el_resize) X(el_source) \
  X(history_init) X(history_end) X(history)
// clang-format on

constexpr size_t kKept = 1000, kMost = 2 * kKept;  // messages in the file of the history; what is more is cut now and then
constexpr size_t kMaxHistory = size_t{64} << 20;   // bytes of it
constexpr std::string_view kPasteEnd = "\033[201~";

// $XDG_STATE_HOME/linnet/history; "" where nobody has a home.
std::string history_path() {
  std::string folder = environment("XDG_STATE_HOME");
  if (folder.empty() || folder[0] != '/') {
    folder = home_folder();
    if (folder.empty()) return "";
    folder += "/.local/state";
  }
  return folder + "/linnet/history";
}

class LibEdit final : public Editor {
 public:
  bool open(bool remember);
  ~LibEdit() override {
    if (edit_) f_.el_end(edit_);
    if (history_) f_.history_end(history_);
  }
  Line read(const char* prompt, std::string* out) override;
  void remember(const std::string& text) override;

 private:
  static char* prompt(EditLine*) { return the_->prompt_.data(); }
  static int read_char(EditLine* edit, wchar_t* out);
  static unsigned char paste(EditLine* edit, int);
  void load();
  void pastes(bool on) const {
    std::fputs(on ? "\033[?2004h" : "\033[?2004l", stderr);
    std::fflush(stderr);
  }

  struct {
#define LINNET_EDIT_POINTER(name) decltype(&::name) name = nullptr;
    LINNET_EDIT_FUNCTIONS(LINNET_EDIT_POINTER)
#undef LINNET_EDIT_POINTER
  } f_;
  static LibEdit* the_;  // libedit's callbacks are functions
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_, path_;
  unsigned short rows_ = 0, columns_ = 0;
  bool broken_ = false;  // nothing can be read
};
LibEdit* LibEdit::the_ = nullptr;

// A character of the UTF-8 that comes, U+FFFD for what is none; EOF.
int read_utf8() {
  static int next = EOF - 1;  // a byte that did not belong to the character before it
  const int first = next >= EOF ? next : input_byte();
  next = EOF - 1;
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4) return 0xFFFD;
  int c = first & (0x3F >> more);
  for (int i = 0; i < more; ++i) {
    const int byte = input_byte();
    if (byte == EOF || (byte & 0xC0) != 0x80) return next = byte, 0xFFFD;
    c = c << 6 | (byte & 0x3F);
  }
  static constexpr int kLeast[] = {0, 0x80, 0x800, 0x10000};
  return c < kLeast[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : c;
}

bool LibEdit::open(bool remembers) {
  void* library = nullptr;
  for (const char* name : {"libedit.so.2", "libedit.so.0", "libedit.3.dylib"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define LINNET_EDIT_LOAD(name)                                          \
  f_.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (!f_.name) return false;
  LINNET_EDIT_FUNCTIONS(LINNET_EDIT_LOAD)
#undef LINNET_EDIT_LOAD
  // It goes by the locale, which need not be one of UTF-8 where texts are that all the same.
  if (!std::setlocale(LC_CTYPE, "") || std::strcmp(nl_langinfo(CODESET), "UTF-8"))
    if (!std::setlocale(LC_CTYPE, "C.UTF-8")) return false;
  the_ = this;
  history_ = f_.history_init();
  edit_ = f_.el_init("linnet", stdin, stderr, stderr);
  if (!history_ || !edit_) return false;
  HistEvent event = {};
  f_.history(history_, &event, H_SETSIZE, static_cast<int>(kKept));
  f_.history(history_, &event, H_SETUNIQUE, 1);
  f_.el_set(edit_, EL_PROMPT, &LibEdit::prompt);
  f_.el_set(edit_, EL_HIST, f_.history, history_);
  f_.el_set(edit_, EL_EDITOR, "emacs");
  f_.el_set(edit_, EL_GETCFN, &LibEdit::read_char);
  // Ctrl-C and Ctrl-Z come as characters, so that the terminal is as it was before anything is done about them; CR LF in pasted text is one
  // line break.
  f_.el_set(edit_, EL_SETTY, "-d", "-isig", "-icrnl", "-inlcr", nullptr);
  f_.el_wset(edit_, EL_ADDFN, L"linnet-paste", L"takes a pasted text", &LibEdit::paste);  // el_set would copy the texts for ever
  f_.el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  f_.el_source(edit_, nullptr);  // ~/.editrc
  f_.el_set(edit_, EL_BIND, "\\e[200~", "linnet-paste", nullptr);
  if (remembers) load();
  return true;
}

Line LibEdit::read(const char* prompt, std::string* out) {
  prompt_ = prompt;
  cleared = false;
  f_.el_set(edit_, EL_PREP_TERM, 1);  // before the prompt is seen, so that no key is taken in the terminal's own way
  pastes(true);
  int n = 0;
  const char* const line = f_.el_gets(edit_, &n);
  pastes(false);
  if (!line || n <= 0) return broken_ ? Line::kBad : Line::kEnd;
  out->assign(line, static_cast<size_t>(n));
  if (out->back() == '\n') out->pop_back();
  return Line::kRead;
}

int LibEdit::read_char(EditLine* edit, wchar_t* out) {
  LibEdit& self = *the_;
  constexpr int kCtrlC = 3, kCtrlZ = 26;
  for (;;) {
    const int c = read_utf8();
    if (c == EOF) return self.broken_ = errno && !interrupted(), 0;
    winsize size = {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && (size.ws_row != self.rows_ || size.ws_col != self.columns_)) {
      if (self.rows_) self.f_.el_resize(edit);
      self.rows_ = size.ws_row, self.columns_ = size.ws_col;
    }
    if (c == kCtrlC) {
      const LineInfo* const line = self.f_.el_line(edit);
      self.cleared = line->lastchar > line->buffer;
      return raise(SIGINT), 0;
    }
    if (c != kCtrlZ) return *out = static_cast<wchar_t>(c), 1;
    self.pastes(false);
    self.f_.el_set(edit, EL_PREP_TERM, 0);
    kill(0, SIGTSTP);
    self.f_.el_set(edit, EL_PREP_TERM, 1);
    self.pastes(true);
    self.f_.el_set(edit, EL_REFRESH);
  }
}

// Between two marks of the terminal's: one message, whatever lines it has.
unsigned char LibEdit::paste(EditLine* edit, int) {
  std::string text;
  bool too_long = false;
  for (int c; !text.ends_with(kPasteEnd);) {
    if ((c = input_byte()) == EOF) return CC_EOF;
    text.push_back(static_cast<char>(c));
    if (text.size() <= kMaxLine + kPasteEnd.size()) continue;
    text.erase(0, text.size() - kPasteEnd.size());
    too_long = true;
  }
  if (too_long) return CC_ERROR;  // a beep
  text.resize(text.size() - kPasteEnd.size());
  std::string clean;
  for (size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (byte == '\r' || byte == '\n')
      clean += '\n';
    else if (byte == '\t' || (byte >= ' ' && byte != 127) || byte < 0)
      clean += byte;
  }
  if (!clean.empty() && clean.back() == '\n') clean.pop_back();  // which Enter is to give
  return clean.empty() || the_->f_.el_insertstr(edit, clean.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

// Each line of the file is a JSON string.
void LibEdit::load() {
  path_ = history_path();
  std::string all;
  linnet_error err = {};
  if (path_.empty() || convert::read_file(path_, kMaxHistory, &all, nullptr, &err) != LINNET_OK) return;
  std::vector<std::string_view> lines;
  for (std::string_view rest = all; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const size_t first = lines.size() > kKept ? lines.size() - kKept : 0;
  std::string text;
  for (size_t i = first; i < lines.size(); ++i) {
    const char* why = nullptr;
    HistEvent event = {};
    if (parse_json_string(lines[i], &text, &why) && text.find('\0') == std::string::npos)
      f_.history(history_, &event, H_ENTER, text.c_str());
  }
  if (lines.size() <= kMost) return;
  const char* const from = lines[first].data();
  const size_t bytes = static_cast<size_t>(all.data() + all.size() - from);
  convert::WholeFile file;
  if (file.open(path_, false, &err, 0600) == LINNET_OK && file.write(from, bytes, &err) == LINNET_OK) (void)file.commit(&err);
}

// Several chats may add to the file at once: a message is one write at its end. That it cannot be kept is no reason to stop a chat.
void LibEdit::remember(const std::string& text) {
  HistEvent event = {};
  f_.history(history_, &event, H_ENTER, text.c_str());
  if (path_.empty()) return;
  const std::string folder = path_.substr(0, path_.rfind('/'));
  std::error_code error;
  if (std::filesystem::create_directories(folder, error)) (void)chmod(folder.c_str(), 0700);
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  if (fd < 0) return;
  const std::string line = Json().value(text).text() + "\n";
  struct stat st = {};
  [[maybe_unused]] const bool kept =
      fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(fd);
}

}  // namespace

std::unique_ptr<Editor> open_editor(bool remembers) {
  const std::string terminal = environment("TERM");
  if (terminal.empty() || terminal == "dumb") return nullptr;
  auto editor = std::make_unique<LibEdit>();
  return editor->open(remembers) ? std::move(editor) : nullptr;
}

}  // namespace linnet::cli
