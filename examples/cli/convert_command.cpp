// linnet convert: a published model into one packed GGUF file.
#include <sys/stat.h>

#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

bool is_float(linnet_format f) { return f == LINNET_F32 || f == LINNET_F16 || f == LINNET_BF16; }

int run(const Args& args) {
  const bool synthetic = args.given("--synthetic");
  if (synthetic == !args.positional().empty()) return usage_error(args, "give either SRC or --synthetic SHAPE");
  const std::string src = synthetic ? "synthetic:" + args.text("--synthetic") : args.positional()[0];
  const std::string out = args.text("-o");
  convert::Options options;
  options.plain = args.text("--layout") == "plain";
  options.weights = args.given("--weights") || !options.plain ? args.format("--weights") : LINNET_F32;
  if (options.plain && !is_float(options.weights)) return usage_error(args, "--layout plain takes --weights f32, f16 or bf16");
  options.seed = args.count("--seed");

  const double start = seconds_now();
  linnet_error err = {};
  linnet_status status;
  {
    Progress bar("converting");
    options.progress = Progress::callback;
    options.user = &bar;
    on_interrupt_cancel(nullptr);
    status = convert::convert_to_file(src, out, options, &err);
  }
  if (status != LINNET_OK) return failed(args, err);
  struct stat st = {};
  if (stat(out.c_str(), &st) != 0) return failed(args, "%s: was written and is gone", out.c_str());
  const double seconds = seconds_now() - start;
  const uint64_t bytes = static_cast<uint64_t>(st.st_size);
  if (args.json()) {
    Json().object().field("out", out).field("bytes", bytes).field("weights", linnet_format_name(options.weights))
        .field("layout", options.plain ? "plain" : "packed").field("synthetic", synthetic).field("seconds", seconds).end().print();
  } else {
    std::printf("%s: %s, %s weights%s%s, %.1f s\n", out.c_str(), human_bytes(bytes).c_str(), linnet_format_name(options.weights),
                options.plain ? ", plain layout" : "", synthetic ? " (random)" : "", seconds);
  }
  return kExitOk;
}

}  // namespace

Command convert_command() {
  std::string shapes;
  static std::string details;
  size_t column = 0;
  for (const std::string& shape : convert::shapes()) {
    const bool wrap = column + shape.size() > 110;
    shapes += (wrap ? "\n  " : " ") + shape;
    column = wrap ? shape.size() : column + shape.size() + 1;
  }
  details = "Writes through a temporary file beside OUT: a failure or a kill leaves no half file under that name.\nSHAPE is one of:\n " + shapes +
            "\n\nexample: linnet convert Llama-3.2-1B -o llama.gguf --weights i8g128";
  return {"convert",
          "pack a Hugging Face folder or a GGUF file into one file that starts in milliseconds",
          "[SRC]",
          0,
          1,
          details.c_str(),
          {
              {"-o, --out", "OUT.gguf", Kind::kText, "file to write", nullptr, 0, 0, true},
              {"--weights", "FMT", Kind::kFormat, "f32, f16, bf16, i8, i8g128, i8g64, i8g32", "i8g128"},
              {"--layout", "L", Kind::kLayout, "packed, or plain: float tensors that other tools read", "packed"},
              {"--synthetic", "SHAPE", Kind::kText, "random weights in the shape of a known model instead of SRC"},
              {"--seed", "S", Kind::kCount, "of the random weights", "1", 0, 9007199254740992.0},
          },
          run};
}

}  // namespace linnet::cli
