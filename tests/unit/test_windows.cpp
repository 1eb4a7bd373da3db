// What platform/file_windows.cpp promises of files, on Windows or Wine: names in every script, paths of every length, files that are
// replaced whole while others read or replace them, files of more than 4 GiB.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// After it.
#include <winioctl.h>

#include <atomic>
#include <cwchar>
#include <set>

#include "platform/folder.h"
#include "tests/models.h"

using namespace test;

namespace {

constexpr const char* kNames[] = {"plain.yaml", "größe.yaml", "żółw.yaml", "鷗.yaml",
                                  "😀 é.yaml"};  // one, two, three and four bytes a character

linnet::WidePath wide(const std::string& path) {
  linnet::WidePath out;
  REQUIRE(linnet::widen(path, &out));
  return out;
}

void remove_all(const std::string& path) {
  std::vector<std::string> names;
  linnet::folder_names(path, &names);
  for (const std::string& name : names)
    if (name != "." && name != "..") remove_all(path + "/" + name);
  if (!DeleteFileW(wide(path).data())) RemoveDirectoryW(wide(path).data());
}

// A folder that goes away with the test.
struct Folder {
  std::string path;
  Folder() {
    wchar_t temporary[MAX_PATH + 1];
    REQUIRE(GetTempPathW(MAX_PATH, temporary) != 0);
    char utf8[3 * MAX_PATH];
    REQUIRE(WideCharToMultiByte(CP_UTF8, 0, temporary, -1, utf8, sizeof utf8, nullptr, nullptr) != 0);
    path = std::string(utf8) + "linnet-" + std::to_string(GetCurrentProcessId());
    remove_all(path);
    REQUIRE(CreateDirectoryW(wide(path).data(), nullptr));
  }
  ~Folder() { remove_all(path); }
  Folder(const Folder&) = delete;
  std::string at(const std::string& name) const { return path + "/" + name; }
};

linnet_status save(const std::string& path, const std::string& text, linnet_error* err) {
  return linnet_file_save(path.c_str(), text.data(), text.size(), 0, err);
}

// "" where it cannot be read.
std::string text_of(const std::string& path, linnet_load how = LINNET_LOAD_COPY) {
  linnet_view view{};
  if (linnet_file_map(path.c_str(), how, &view, nullptr) != LINNET_OK) return "";
  const std::string text(static_cast<const char*>(view.data), view.bytes);
  linnet_file_unmap(&view);
  return text;
}

bool there(const std::string& path) { return linnet::path_info(path).there; }

}  // namespace

TEST_CASE("names in every script: written, listed and read") {
  linnet_error err{};
  const Folder folder;
  std::set<std::string> expected = {".", ".."};
  for (const char* name : kNames) {
    expected.insert(name);
    check(save(folder.at(name), name, &err), err);
    CHECK(text_of(folder.at(name)) == name);
  }
  std::vector<std::string> names;
  REQUIRE(linnet::folder_names(folder.path, &names));
  CHECK(std::set<std::string>(names.begin(), names.end()) == expected);
  CHECK(names.size() == expected.size());
  CHECK(linnet::same_file(folder.at(kNames[1]), folder.at("./größe.yaml")));
  CHECK_FALSE(linnet::same_file(folder.at(kNames[1]), folder.at(kNames[2])));
  errno = 0;
  CHECK((!linnet::folder_names(folder.at("nowhere"), &names) && errno == ENOENT));
  CHECK_FALSE(linnet::folder_names("", &names));
  CHECK_FALSE(linnet::folder_names(folder.at(kNames[0]), &names));
  CHECK(save(folder.at("\xff.yaml"), "", &err) == LINNET_IO);
  CHECK(std::string(err.text).find("a path that is no UTF-8") != std::string::npos);
}

TEST_CASE("paths of every length, from the root and from where the process stands") {
  linnet_error err{};
  const Folder folder;
  wchar_t before[4096];
  REQUIRE(GetCurrentDirectoryW(4096, before) != 0);
  REQUIRE(SetCurrentDirectoryW(wide(folder.path).data()));
  std::string from_root = folder.path, from_here = ".";
  for (int depth = 1; depth <= 30; ++depth) {
    const std::string name = "/a folder of 27 characters é";
    from_root += name;
    from_here += name;
    INFO(from_root.size() << " bytes");
    REQUIRE(CreateDirectoryW(wide(from_root).data(), nullptr));
    CHECK((linnet::path_info(from_root).folder && linnet::path_info(from_here).folder));
    for (const std::string& path : {from_root, from_here}) {
      const std::string file = path + "/model.gguf";
      check(save(file, path, &err), err);
      check(save(file, "two", &err), err);  // replaced
      CHECK((text_of(file) == "two" && text_of(file, LINNET_LOAD_MAP) == "two"));
      CHECK((linnet::path_info(file).regular && linnet::path_info(file).bytes == 3 && linnet::path_access(file, R_OK)));
      std::vector<std::string> names;
      CHECK((linnet::folder_names(path, &names) && names.size() == 3));
    }
  }
  CHECK(SetCurrentDirectoryW(before));
  const std::string endless(5000, 'x');
  CHECK(save(folder.at(endless), "", &err) == LINNET_IO);
  CHECK(std::string(err.text).find("name too long") != std::string::npos);
}

TEST_CASE("a file is replaced whole, and what is in the way is removed or named") {
  linnet_error err{};
  const Folder folder;
  const std::string path = folder.at("state"), temporary = path + ".tmp", other = folder.at("other");
  check(save(path, "one", &err), err);
  // Of one that was killed; it may have another name, whose bytes are not touched.
  check(save(other, "mine", &err), err);
  REQUIRE(CreateHardLinkW(wide(temporary).data(), wide(other).data(), nullptr));
  check(save(path, "two", &err), err);
  CHECK((text_of(path) == "two" && text_of(other) == "mine" && !there(temporary)));
  REQUIRE(CreateDirectoryW(wide(temporary).data(), nullptr));
  CHECK(save(path, "three", &err) == LINNET_IO);
  CHECK(std::string(err.text).find("state.tmp: is in the way and cannot be removed") != std::string::npos);
  REQUIRE(RemoveDirectoryW(wide(temporary).data()));
  CHECK(save(folder.path, "", &err) == LINNET_IO);
  CHECK(text_of(path) == "two");
  CHECK(save("NUL", "nothing", &err) == LINNET_IO);
  // Who reads for a moment is waited for, or reads on.
  const HANDLE reader = CreateFileW(wide(path).data(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, 0, nullptr);
  REQUIRE(reader != INVALID_HANDLE_VALUE);
  std::thread closes([reader] { Sleep(300), CloseHandle(reader); });
  const linnet_status replaced = save(path, "three", &err);
  closes.join();
  check(replaced, err);
  CHECK((text_of(path) == "three" && !there(temporary)));
  // Of a file that stays mapped the old bytes or the new ones are there afterwards, and nothing else.
  linnet_view view{};
  check(linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &view, &err), err);
  const linnet_status over = save(path, "four!", &err);
  CHECK(std::memcmp(view.data, "three", 5) == 0);
  linnet_file_unmap(&view);
  CHECK((over == LINNET_OK || over == LINNET_IO));
  CHECK(text_of(path) == (over == LINNET_OK ? "four!" : "three"));
  CHECK(!there(temporary));
}

TEST_CASE("several replace one file while others read it: it is always there, and always one of theirs") {
  linnet_error err{};
  const Folder folder;
  const std::string path = folder.at("state");
  check(save(path, std::string(5000, '0'), &err), err);
  std::atomic<int> failed{0}, torn{0}, unread{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> savers, readers;
  for (int t = 0; t < 3; ++t)
    savers.emplace_back([&, t] {
      const std::string text(5000 + 100u * static_cast<size_t>(t), static_cast<char>('1' + t));
      // Wine 8 renames what nobody holds, and there another may remove it: then it is saved again.
      for (int i = 0; i < 25; ++i) failed += save(path, text, nullptr) != LINNET_OK && save(path, text, nullptr) != LINNET_OK;
    });
  for (int t = 0; t < 2; ++t)
    readers.emplace_back([&] {
      for (; !done; Sleep(1)) {
        const std::string text = text_of(path);
        unread += text.empty();
        torn += !text.empty() && (text.find_first_not_of(text[0]) != std::string::npos ||
                                  text.size() != 5000 + 100u * static_cast<size_t>(std::max(text[0] - '1', 0)));
      }
    });
  for (std::thread& t : savers) t.join();
  done = true;
  for (std::thread& t : readers) t.join();
  CHECK(failed == 0);
  CHECK(torn == 0);
  CHECK(unread == 0);
  CHECK(!there(path + ".tmp"));
}

TEST_CASE("a file of more than 4 GiB is mapped whole, an empty one is refused") {
  linnet_error err{};
  const Folder folder;
  const std::string path = folder.at("large");
  constexpr uint64_t kBytes = (uint64_t{5} << 30) + 3;
  const HANDLE file = CreateFileW(wide(path).data(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, 0, nullptr);
  REQUIRE(file != INVALID_HANDLE_VALUE);
  linnet_view view{};
  DWORD n = 0;
  DeviceIoControl(file, FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &n, nullptr);  // where there is that
  LARGE_INTEGER at;
  at.QuadPart = static_cast<LONGLONG>(kBytes - 3);
  REQUIRE((SetFilePointerEx(file, at, nullptr, FILE_BEGIN) && WriteFile(file, "end", 3, &n, nullptr) && n == 3));
  CloseHandle(file);
  check(linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &view, &err), err);
  REQUIRE(view.bytes == kBytes);
  CHECK(std::memcmp(static_cast<const char*>(view.data) + kBytes - 3, "end", 3) == 0);
  linnet_file_unmap(&view);
  CHECK(linnet::path_info(path).bytes == kBytes);
  check(save(path, "", &err), err);
  CHECK(linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &view, &err) == LINNET_BAD_FILE);
}
