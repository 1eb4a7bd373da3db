// linnet convert: a published model into one packed GGUF file.
#include <algorithm>
#include <cstdio>
#include <map>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

// The format that holds most of the bytes of the layers' matrices.
std::string most_bytes(const convert::Description& file) {
  std::map<std::string, uint64_t> bytes;
  for (const convert::TensorInfo& t : file.tensors)
    if (t.shape.size() == 2 && t.name.rfind("blk.", 0) == 0) bytes[t.format] += t.bytes;
  const auto most = std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "no" : most->first;
}

bool is_adapter(const std::string& src) { return path_info(src + "/adapter_config.json").there && !path_info(src + "/config.json").there; }

int run(const Args& args) {
  const bool synthetic = args.given("--synthetic");
  if (synthetic == !args.positional().empty()) return usage_error(args, "give either SRC or --synthetic SHAPE");
  const std::string src = synthetic ? "synthetic:" + args.text("--synthetic") : args.positional()[0];
  const std::string out = args.text("-o");
  convert::Options options;
  options.plain = args.choice("--layout") != 0;
  options.weights = args.given("--weights") || !options.plain ? static_cast<linnet_format>(args.choice("--weights")) : LINNET_F32;
  const char* plain_name = convert::plain_name(options.weights);
  if (options.plain && !plain_name) return usage_error(args, "--layout plain takes --weights %s", convert::plain_names().c_str());
  options.seed = args.count("--seed");
  options.base = args.text("--base");
  if (!read_loras(args, &options.loras)) return kExitError;
  options.n_threads = static_cast<uint32_t>(args.count("--threads"));

  convert::WeightError weight_error;
  options.weight_error = &weight_error;
  options.mtp = !args.flag("--no-mtp");
  if (args.given("--max-error")) options.max_error = args.real("--max-error") / 100;
  const double start = seconds_now();
  linnet_error err = {};
  linnet_status status;
  std::vector<std::string> notes;
  options.notes = &notes;
  {
    Progress bar("converting");
    options.progress = Progress::callback;
    options.user = &bar;
    interrupt_cancels(nullptr);  // before there is a temporary file to remove
    status = convert::convert_to_file(src, out, options, &err);
    interrupt_ends();
  }
  if (status != LINNET_OK) return failed(args, err);
  for (const std::string& text : notes) say(args, Log::kNote, "%s", text.c_str());
  const PathInfo info = path_info(out);
  if (!info.there) return failed(args, "%s: was written and is gone", out.c_str());
  const double seconds = seconds_now() - start;
  convert::Description written;  // OUT is whole, whether or not there is memory to look at it again
  if (!synthetic && is_adapter(src)) {
    if (args.json())
      Json().object().field("out", out).field("bytes", info.bytes).field("adapter", true).field("seconds", seconds).end().print();
    else
      std::printf("%s: %s, an adapter, %.1f s\n", printable(out).c_str(), human_bytes(info.bytes).c_str(), seconds);
    return kExitOk;
  }
  const bool seen = options.plain || convert::describe(out, &written, &err) == LINNET_OK;
  const std::string weights = options.plain ? plain_name : seen ? most_bytes(written) : "unknown";
  if (args.json()) {
    Json()
        .object()
        .field("out", out)
        .field("bytes", info.bytes)
        .field("weights", weights)
        .field("layout", options.plain ? "plain" : "packed")
        .field("synthetic", synthetic)
        .field("weight_error", std::max(weight_error.mean, 0.0))
        .field("worst_error", weight_error.worst)
        .field("worst_tensor", weight_error.tensor)
        .field("seconds", seconds)
        .end()
        .print();
  } else {
    char rounded[160] = "";
    if (weight_error.mean > 0)
      std::snprintf(rounded, sizeof rounded, " (RMS error %.2g %%, at most %.2g %% in %.80s)", 100 * weight_error.mean,
                    100 * weight_error.worst, printable(weight_error.tensor).c_str());
    std::printf("%s: %s, %s weights%s%s%s, %.1f s\n", printable(out).c_str(), human_bytes(info.bytes).c_str(), printable(weights).c_str(),
                rounded, options.plain ? ", plain layout" : "", synthetic ? " (random)" : "", seconds);
  }
  return kExitOk;
}

}  // namespace

Command convert_command() {
  static const std::string details = [] {
    std::string shapes;
    size_t column = 0;
    for (const Choice& shape : choices(Kind::kShape)) {
      const bool wrap = column + shape.name.size() > 110;
      shapes += (wrap ? "\n  " : " ") + shape.name;
      column = wrap ? shape.name.size() : column + shape.name.size() + 1;
    }
    return "Writes through OUT.tmp: a failure or a kill leaves no half file under OUT, and what a kill leaves as OUT.tmp the next run "
           "removes.\nSHAPE is one of:\n " +
           shapes +
           "\n\nThe folder of an adapter (PEFT) becomes a GGUF file for --lora.\n\nexample: linnet convert Llama-3.2-1B -o llama.gguf "
           "--weights i8g32\n"
           "example: linnet convert Llama-3.2-1B -o others.gguf --layout plain --weights q4_k";
  }();
  return {"convert",
          "pack a Hugging Face folder or a GGUF file into one file that starts in milliseconds",
          "[SRC]",
          0,
          1,
          details.c_str(),
          {
              {"-o, --out", "OUT.gguf", Kind::kPath, "file to write", nullptr, 0, 0, true},
              {"--weights", "FMT", Kind::kFormat, "format of weights: {} (default as the source has them, floats as i8g32)"},
              {"--max-error", "PERCENT", Kind::kReal,
               "refuse matrices that rounding changes by more (RMS); by default 50 in 4 bits, else 10; 100 = none", nullptr, 0.01, 100},
              {"--layout", "L", Kind::kLayout, "layout: {}", "packed"},
              {"--no-mtp", nullptr, Kind::kFlag, "leave out layers for speculation (MTP), which are kept and by which nothing drafts yet"},
              {"--lora", "PATH[:SCALE]", Kind::kTexts,
               "adapter that is merged into the weights before they are packed; may be given several times"},
              {"--base", "MODEL", Kind::kPath, "where SRC is an adapter's folder (PEFT): its model (default: what the folder names)"},
              {"--synthetic", "SHAPE", Kind::kShape, "random weights in the shape of a known model instead of SRC"},
              {"-s, --seed", "S", Kind::kCount, "of the random weights", "1", 0, UINT64_MAX},
              {"-t, --threads", "N", Kind::kCount, "threads that pack (default: one for each CPU of this process)", nullptr, 1, 256},
          },
          run,
          Kind::kModel};
}

}  // namespace linnet::cli
