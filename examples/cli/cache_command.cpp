// linnet cache: packed models that are kept so that the next start maps them.
#include <cstdio>
#include <ctime>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

int run_list(const Args& args, const std::string& folder) {
  convert::CacheList list;
  linnet_error err = {};
  if (!folder.empty() && convert::cache_list(folder, &list, &err) != LINNET_OK) return failed(args, err);
  if (args.json()) {
    Json json;
    json.object().field("folder", folder).field("bytes", list.bytes).field("most_bytes", list.most_bytes).key("models").array();
    for (const convert::CachedModel& m : list.models)
      json.object()
          .field("file", m.path)
          .field("source", m.source)
          .field("weights", m.weights)
          .field("bytes", m.bytes)
          .field("used", m.used)
          .end();
    json.end().end().print();
    return kExitOk;
  }
  for (const convert::CachedModel& m : list.models) {
    char day[24] = "";
    const std::time_t used = static_cast<std::time_t>(m.used);
    if (const std::tm* const t = std::localtime(&used)) std::strftime(day, sizeof day, "%Y-%m-%d %H:%M", t);
    std::printf("%9s  %-16s  %-7s  %s\n", human_bytes(m.bytes).c_str(), day, m.weights.empty() ? "default" : m.weights.c_str(),
                m.source.empty() ? "(not whole)" : printable(m.source).c_str());
  }
  std::printf("%9s in %zu model%s, at most %s: %s\n", human_bytes(list.bytes).c_str(), list.models.size(),
              list.models.size() == 1 ? "" : "s", human_bytes(list.most_bytes).c_str(), printable(folder).c_str());
  return kExitOk;
}

int run_clear(const Args& args, const std::string& folder) {
  uint32_t n = 0;
  uint64_t bytes = 0;
  linnet_error err = {};
  if (!folder.empty() && convert::cache_clear(folder, &n, &bytes, &err) != LINNET_OK) return failed(args, err);
  if (args.json())
    Json().object().field("folder", folder).field("models", n).field("bytes", bytes).end().print();
  else
    std::printf("%u model%s removed, %s\n", n, n == 1 ? "" : "s", human_bytes(bytes).c_str());
  return kExitOk;
}

int run(const Args& args) {
  const std::string folder = cache_folder();
  if (folder.empty()) say(args, Log::kNote, "there is no cache: neither XDG_CACHE_HOME nor HOME names a folder");
  return args.positional()[0] == "list" ? run_list(args, folder) : run_clear(args, folder);
}

}  // namespace

std::string cache_folder() {
  std::string base = environment("XDG_CACHE_HOME");
  if (!path_absolute(base)) {  // the specification has relative ones ignored
    base = home_folder();
    if (!path_absolute(base)) return "";
    base += "/.cache";
  }
  return base + "/linnet";
}

Command cache_command() {
  return {
      "cache",
      "packed models that are kept for the next start",
      "TASK",
      1,
      1,
      "Commands that pack a GGUF file or a folder on the way in keep the packed file in $XDG_CACHE_HOME/linnet or ~/.cache/linnet, and "
      "map\n"
      "it the next time. It is found by path, size and time of all files, a hash of their beginnings and of samples, and by --weights.\n"
      "It holds 20 GiB, or a quarter of what would be free on its disk without it if that is less; what was not used for longest goes.\n"
      "TASK is list, which shows what was used last first, or clear, which removes all of it.\n\n"
      "example: linnet cache list",
      {},
      run,
      Kind::kCacheTask};
}

}  // namespace linnet::cli
