// Packed files of models that come in another form, kept so that only the first start packs. A folder holds one file for each source and
// set of options, named by a hash of all that decides its bytes: the packed GGUF as convert writes it, and behind it a seal that says what
// it was made from and tells a file that was cut or changed. What cannot be kept is packed in memory, as without a cache.
#pragma once
#include <string>

#include "convert.h"

namespace linnet::convert {

class Output;

// One source in the cache of options.cache.
class CacheEntry {
 public:
  CacheEntry(const std::string& src, linnet_load how, const Options& options) : src_(src), how_(how), options_(options) {}
  // Whether it can be looked for at all; what keeps it from that, beside that src cannot be read, is a note.
  bool open();
  // Maps (or copies, ...) the packed file and marks it as used; out->file is empty where there is none that is whole.
  linnet_status find(Loaded* out, linnet_error* err);
  // Opens its file for a model of `bytes` bytes, once others have made room for it. Waits for who packs the same.
  linnet_status begin(uint64_t bytes, Output* out, linnet_error* err) const;
  // Puts the seal behind a file that is written and commits it, unless the source is another by now (LINNET_BAD_STATE).
  linnet_status commit(Output* out, linnet_error* err) const;
  void not_kept(const char* why) const;  // a note

 private:
  std::string path() const { return options_.cache + "/" + name_; }
  std::string src_;
  linnet_load how_;
  const Options& options_;
  std::string key_, name_;  // all that decides the bytes, a line each; its file
};

}  // namespace linnet::convert
