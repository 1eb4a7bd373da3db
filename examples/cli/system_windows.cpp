// What the tool asks of Windows; system_posix.cpp has the same for Linux and macOS.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// After it.
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "cli.h"

namespace linnet::cli {
namespace {

std::string utf8_of(const wchar_t* text, size_t n) {
  const int wide = static_cast<int>(n), bytes = WideCharToMultiByte(CP_UTF8, 0, text, wide, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<size_t>(std::max(bytes, 0)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, wide, out.data(), bytes, nullptr, nullptr);
  return out;
}

bool is_console(HANDLE handle) {
  DWORD mode;
  return GetConsoleMode(handle, &mode) != 0;
}

UINT the_code_page = 0;  // of the console as it was

}  // namespace

void begin_process(int* argc, char*** argv) {
  static std::vector<std::string> words;
  static std::vector<char*> pointers;
  int n = 0;
  if (wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &n)) {
    for (int i = 0; i < n; ++i) words.push_back(utf8_of(wide[i], std::wcslen(wide[i])));
    LocalFree(wide);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    *argc = n;
    *argv = pointers.data();
  }
  for (std::FILE* const file : {stdout, stderr}) _setmode(_fileno(file), _O_BINARY);  // texts have the newlines that the model gives them
  // The console takes UTF-8 and moves its cursor as progress asks it to.
  for (const DWORD which : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    const HANDLE console = GetStdHandle(which);
    DWORD mode;
    if (GetConsoleMode(console, &mode)) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
  if ((the_code_page = GetConsoleOutputCP()) != 0 && SetConsoleOutputCP(CP_UTF8)) std::atexit([] { SetConsoleOutputCP(the_code_page); });
}

std::string environment(const char* name) {
  std::vector<wchar_t> wide(std::strlen(name) + 1), value(32768);  // no variable is longer
  std::copy_n(name, wide.size(), wide.begin());
  const DWORD n = GetEnvironmentVariableW(wide.data(), value.data(), static_cast<DWORD>(value.size()));
  return n < value.size() ? utf8_of(value.data(), n) : "";
}

std::string home_folder() {
  const std::string home = environment("HOME");
  return home.empty() ? environment("USERPROFILE") : home;
}

bool on_terminal(std::FILE* file) { return is_console(reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)))); }

std::string own_path() {
  std::vector<wchar_t> wide(32768);
  const DWORD n = GetModuleFileNameW(nullptr, wide.data(), static_cast<DWORD>(wide.size()));
  std::string path = n < wide.size() ? utf8_of(wide.data(), n) : "";
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

uint64_t peak_rss_bytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

std::string become_program(const std::string&, const char*, char**) { return "it is not built for Windows"; }

// ---- Ctrl-C and Ctrl-Break ----------------------------------------------------------------------------------------------------------

namespace {

std::atomic<linnet_session*> the_session{nullptr};
std::atomic<int> the_signal{0};
std::atomic<bool> armed{false}, reading{false}, cancelling{false};
HANDLE the_reader = nullptr;  // the thread that waits for input

// On a thread of its own. FALSE: the process ends.
BOOL WINAPI handle(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  if (!armed.exchange(false)) return FALSE;  // the second one
  the_signal = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
  cancelling = true;
  if (linnet_session* session = the_session) linnet_cancel(session);
  cancelling = false;
  for (; reading; Sleep(1)) CancelSynchronousIo(the_reader);  // the wait may just be about to begin
  return TRUE;
}

// Of a console what was typed, as UTF-8, its lines ended by LF; n: 0 at the end of input, which is Ctrl-Z at the beginning of a line.
bool read_console(HANDLE console, char* buffer, size_t cap, size_t* n) {
  static wchar_t half = 0;  // of a character that the last piece ended in
  constexpr DWORD kMost = 1024;
  wchar_t wide[kMost + 1];
  DWORD got = 0;
  const DWORD held = half ? 1 : 0;
  if (held) wide[0] = half;
  SetLastError(0);
  if (!ReadConsoleW(console, wide + held, kMost, &got, nullptr) || (got == 0 && GetLastError() == ERROR_OPERATION_ABORTED)) return false;
  got += held;
  half = 0;
  constexpr wchar_t kCtrlZ = 0x1A;
  if (got == 0 || wide[0] == kCtrlZ) return *n = 0, true;
  if (IS_HIGH_SURROGATE(wide[got - 1]) && got > 1) half = wide[--got];
  std::string text = utf8_of(wide, got);
  std::erase(text, '\r');
  *n = std::min(cap, text.size());  // three bytes a unit at most: cap holds them
  std::copy_n(text.begin(), *n, buffer);
  return true;
}

}  // namespace

void interrupt_cancels(linnet_session* session) {
  static const bool handled = [] {
    // A handle of this thread that others may use.
    return DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &the_reader, 0, FALSE, DUPLICATE_SAME_ACCESS) &&
           SetConsoleCtrlHandler(handle, TRUE);
  }();
  the_session = session;
  the_signal = 0;
  armed = handled;
}

void interrupt_ends() {
  armed = false;
  the_session = nullptr;
  while (cancelling) Sleep(1);  // the handler's thread has the session yet, which is about to go
}

int interrupted() { return the_signal; }

const char* const kEndOfInput = "Ctrl-Z and Enter";

int input_byte() {
  static char buffer[4096];
  static size_t at = 0, end = 0;
  if (at == end) {
    const HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    at = end = 0;
    DWORD n = 0;
    bool ok = true;
    reading = true;
    if (!the_signal) {
      if (is_console(input)) {
        ok = read_console(input, buffer, sizeof buffer, &end);
      } else {
        ok = ReadFile(input, buffer, sizeof buffer, &n, nullptr) || GetLastError() == ERROR_BROKEN_PIPE;  // whose writer has ended
        end = n;
      }
    }
    reading = false;
    // A wait that Ctrl-C ends may return before the handler is called.
    for (int ms = 0; !ok && GetLastError() == ERROR_OPERATION_ABORTED && !the_signal && ms < 1000; ++ms)
      Sleep(1), SetLastError(ERROR_OPERATION_ABORTED);
    errno = ok || the_signal ? 0 : EIO;
    if (!ok || the_signal || end == 0) return end = 0, EOF;
  }
  return static_cast<unsigned char>(buffer[at++]);
}

void die_if_interrupted() {
  if (!the_signal) return;
  SetConsoleOutputCP(the_code_page);
  TerminateProcess(GetCurrentProcess(), 0xC000013Au);  // STATUS_CONTROL_C_EXIT, as the system has it
}

}  // namespace linnet::cli
