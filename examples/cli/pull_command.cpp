// linnet pull: a model from the hub into the cache of Hugging Face; and what `-m hf:...` stands for.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "hub.h"

namespace linnet::cli {
namespace {

struct Pulled {
  std::string path;              // of the model: a file, or a folder
  std::string commit;            // "" where the cache alone was asked
  std::vector<HubFile> files;    // that the model is made of; with --list all of the repository's
  uint64_t bytes = 0, came = 0;  // of these; over the network
};

#ifdef LINNET_HAVE_CURL
bool write_ref(const HubCache& cache, const HubName& name, const std::string& commit, std::string* why) {
  if (name.revision == commit) return true;
  const std::string path = cache.repo + "/refs/" + name.revision;
  std::error_code error;
  std::filesystem::create_directories(path.substr(0, path.rfind('/')), error);
  linnet_error err = {};
  std::string old;
  if (convert::read_file(path, 64, &old, nullptr, &err) == LINNET_OK && old == commit) return true;  // a cache may be there to read alone
  convert::WholeFile file;
  if (error) return no(why, path + ": " + error.message());
  if (file.open(path, false, &err) != LINNET_OK || file.write(commit.data(), commit.size(), &err) != LINNET_OK ||
      file.commit(&err) != LINNET_OK)
    return no(why, err.text);
  return true;
}

bool has_room(const HubCache& cache, uint64_t bytes, std::string* why) {
  std::error_code error;
  std::filesystem::create_directories(cache.repo, error);
  if (error) return no(why, cache.repo + ": " + error.message());
  const std::filesystem::space_info space = std::filesystem::space(cache.repo, error);
  if (error || space.available >= bytes) return true;
  return no(why, human_bytes(bytes) + " are to come, and " + cache.root + " has room for " + human_bytes(space.available) +
                     " (HF_HUB_CACHE names another folder)");
}

// *unreachable: what the cache holds is all there is.
bool pull_online(const Args& args, const HubName& name, const HubCache& cache, bool list, Pulled* out, bool* unreachable,
                 std::string* why) {
  Hub hub(args, name);
  *unreachable = true;
  if (!hub.open(why)) return false;
  *unreachable = false;
  std::vector<HubFile> all;
  if (!hub.list(&out->commit, &all, unreachable, why)) return false;
  if (list) {
    out->files = std::move(all);
    return true;
  }
  std::vector<std::string> paths;
  for (const HubFile& file : all) paths.push_back(file.path);
  HubPick pick;
  if (!pick_model(name, paths, &pick, why)) return false;
  uint64_t missing = 0;
  HubProgress progress;
  progress.terminal = says(Log::kInfo) && on_terminal(stderr);
  for (const std::string& path : pick.files) {
    const HubFile& file = *std::find_if(all.begin(), all.end(), [&](const HubFile& f) { return f.path == path; });
    out->files.push_back(file);
    out->bytes += file.bytes;
    if (hub_has(cache, out->commit, file)) continue;
    progress.total += file.bytes;
    missing += file.bytes - std::min(file.bytes, hub_bytes_left(cache, file));
  }
  if (!has_room(cache, missing, why)) return false;
  const auto connections = static_cast<uint32_t>(args.has("--connections") ? args.count("--connections") : 4);
  bool whole = true;
  for (const HubFile& file : out->files) whole = whole && hub.get(cache, out->commit, file, connections, &progress, &out->came, why);
  progress.clear();
  if (!whole) return false;
  if (!write_ref(cache, name, out->commit, why)) {
    if (missing > 0) return false;
    say(args, Log::kNote, "%s", why->c_str());  // all of it is there, in a cache of others maybe
  }
  out->path = cache.snapshot(out->commit) + (pick.model.empty() ? "" : "/" + pick.model);
  return true;
}
#endif

bool pull(const Args& args, const HubName& name, bool list, Pulled* out, std::string* why) {
  HubCache cache;
  if (!cache.open(name, why)) return false;
  if (hub_is_offline()) {
    *why = "HF_HUB_OFFLINE is set";
  } else {
#ifdef LINNET_HAVE_CURL
    bool unreachable = true;
    interrupt_cancels(nullptr);  // so that what has come is kept
    const bool done = pull_online(args, name, cache, list, out, &unreachable, why);
    interrupt_ends();
    if (done || !unreachable || interrupted()) return done;
#else
    *why = name.repo + ": this linnet was built without libcurl, so that nothing can be pulled";
#endif
  }
  if (!list && !(out->path = cache.find(name)).empty()) {
    say(args, Log::kNote, "%s; what the cache has of %s is taken", why->c_str(), name.repo.c_str());
    return true;
  }
  if (hub_is_offline())
    *why += ", and " + cache.root + " does not hold " + (list ? "the list of files of " : "") + name.repo +
            (name.pick.empty() ? "" : ":" + name.pick);
  return false;
}

int run(const Args& args) {
  HubName name;
  std::string why;
  if (!parse_hub_name(args.positional()[0], &name, &why)) return usage_error(args, "%s", why.c_str());
  const bool list = args.flag("--list");
  const double start = seconds_now();
  Pulled pulled;
  if (!pull(args, name, list, &pulled, &why)) return failed(args, "%s", why.c_str());
  if (!args.json()) {
    if (list)
      for (const HubFile& file : pulled.files) std::printf("%9s  %s\n", human_bytes(file.bytes).c_str(), printable(file.path).c_str());
    else
      std::printf("%s\n", pulled.path.c_str());
    return kExitOk;
  }
  Json json;
  json.object().field("repo", name.repo).field("revision", name.revision).field("commit", pulled.commit);
  if (!list)
    json.field("path", pulled.path).field("bytes", pulled.bytes).field("came", pulled.came).field("seconds", seconds_now() - start);
  json.key("files").array();
  for (const HubFile& file : pulled.files) json.object().field("path", file.path).field("bytes", file.bytes).field("etag", file.etag).end();
  json.end().end().print();
  return kExitOk;
}

}  // namespace

int find_hub_model(const Args& args, std::string* model) {
  if (!is_hub_name(*model)) return kExitOk;
  HubName name;
  HubCache cache;
  Pulled pulled;
  std::string why;
  if (!parse_hub_name(*model, &name, &why)) return usage_error(args, "%s", why.c_str());
  if (!cache.open(name, &why)) return failed(args, "%s", why.c_str());
  std::string path = cache.find(name);
  if (path.empty()) {
    if (!pull(args, name, false, &pulled, &why)) return failed(args, "%s", why.c_str());
    if (interrupted()) return kExitError;  // main dies of it; what runs next would not see it any more
    path = pulled.path;
  }
  *model = path;
  return kExitOk;
}

Command pull_command() {
  return {
      "pull",
      "get a model from the hub of Hugging Face",
      "hf:USER/REPO[@REVISION][:FILE|:QUANT]",
      1,
      1,
      "Prints the path of the model: the GGUF file, or the folder of a repository that has none. Without FILE or QUANT (Q8_0, Q4_K_M, "
      "...)\n"
      "the quantisation is taken that linnet packs with the least loss, Q8_0 first. Everywhere -m takes hf:... too, and pulls what the "
      "cache\n"
      "does not hold.\n\n"
      "Files lie where huggingface_hub keeps and finds them (HF_HUB_CACHE, or hub in HF_HOME, or ~/.cache/huggingface/hub). What a cut or\n"
      "Ctrl-C leaves, the same command goes on with; checksums are compared. A token comes from HF_TOKEN or the file that 'hf auth login'\n"
      "writes, another hub from HF_ENDPOINT, and HF_HUB_OFFLINE=1 asks the cache alone.\n\n"
      "example: linnet pull hf:Qwen/Qwen3-0.6B-GGUF:Q8_0",
      {
          {"--list", nullptr, Kind::kFlag, "print the repository's files with their sizes, pull nothing"},
          {"--connections", "N", Kind::kCount, "ranges of a large file that come side by side", "4", 1, 16},
      },
      run};
}

}  // namespace linnet::cli
