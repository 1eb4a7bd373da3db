// Adapters (LoRA) on the host's side: folders as PEFT saves them to GGUF files as the core and llama.cpp read them; and adapters merged
// into a source's weights.
#pragma once
#include "source.h"

namespace linnet::convert {

// Whether a folder holds an adapter and no model.
bool is_adapter_folder(const std::string& path);
// The spec that tells an adapter's shapes, of a model in whatever form; *keep: what it points to. `base` may be empty: what the adapter's
// own configuration names, where that is a path.
Status spec_of_base(const std::string& folder, const std::string& base, ModelSpec* out, std::shared_ptr<void>* keep, Error* err);
// A folder as the GGUF of a model with this spec: to a file, or to memory.
Status write_adapter(const std::string& folder, const ModelSpec& spec, const Options& options, const std::string* path, Image* image,
                     Error* err);
// W + scale * B A, for all of options.loras, in the source's matrices.
Status merge_adapters(Source* source, const Options& options, Error* err);

}  // namespace linnet::convert
