// linnet logits: the logits of every position, as a NumPy file.
#include <algorithm>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

// Header of a .npy file, version 1.0: little-endian float32 (rows, columns), C order, padded so that the data starts at a multiple of 64.
std::string npy_header(size_t rows, size_t columns) {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  while ((10 + dict.size() + 1) % 64) dict += ' ';
  dict += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(dict.size() & 0xFF);
  head += static_cast<char>(dict.size() >> 8);
  return head + dict;
}

// Prefills `tokens` in calls of n_logits rows and writes each row.
bool write_rows(const Args& args, const Engine& engine, const std::vector<int32_t>& tokens, convert::WholeFile* file) {
  linnet_error err = {};
  const size_t step = engine.params.n_logits;
  for (size_t at = 0; at < tokens.size(); at += step) {
    const size_t n = std::min(step, tokens.size() - at);
    if (linnet_prefill(engine.session, 0, tokens.data() + at, n, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
    for (size_t row = 0; row < n; ++row) {
      const float* logits = nullptr;
      size_t n_vocab = 0;
      if (linnet_logits(engine.session, 0, static_cast<uint32_t>(n - 1 - row), &logits, &n_vocab, &err) != LINNET_OK ||
          file->write(logits, n_vocab * sizeof(float), &err) != LINNET_OK) {
        failed(args, err);
        return false;
      }
    }
  }
  return true;
}

int run(const Args& args) {
  if (args.given("--tokens") == args.given("-p")) return usage_error(args, "give either --tokens or -p");
  Settings settings;
  Engine engine;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  std::vector<int32_t> tokens = args.ids("--tokens");
  if (args.given("-p") && !tokenize(args, engine, args.text("-p"), token_flags(args, "--raw"), &tokens)) return kExitError;
  if (tokens.empty()) return failed(args, "there are no tokens");
  if (!check_ids(args, engine, tokens)) return kExitError;
  linnet_session_params& s = settings.session;
  if (s.n_context == 0) s.n_context = static_cast<uint32_t>(tokens.size());
  s.rope_length = static_cast<uint32_t>(tokens.size());
  if (s.n_chunk == 0) s.n_chunk = std::min<uint32_t>(256, s.n_context);
  s.n_logits = s.n_chunk = std::min(s.n_chunk, s.n_context);
  if (!engine.start(args, s)) return kExitError;
  const std::string path = args.text("-o"), head = npy_header(tokens.size(), engine.desc.n_vocab);
  convert::WholeFile file;
  linnet_error err = {};
  if (begin_file(path, engine.session, &file, &err) != LINNET_OK) return failed(args, err);
  bool ok = file.write(head.data(), head.size(), &err) == LINNET_OK || (failed(args, err), false);
  ok = ok && write_rows(args, engine, tokens, &file) && (file.commit(&err) == LINNET_OK || (failed(args, err), false));
  interrupt_ends();
  if (!ok) return kExitError;
  if (args.json()) {
    Json()
        .object()
        .field("out", path)
        .field("n_tokens", static_cast<uint64_t>(tokens.size()))
        .field("n_vocab", engine.desc.n_vocab)
        .end()
        .print();
  } else {
    std::printf("%s: float32 (%zu, %u)\n", printable(path).c_str(), tokens.size(), engine.desc.n_vocab);
  }
  return kExitOk;
}

}  // namespace

Command logits_command() {
  return {"logits",
          "write the logits of every position as a NumPy file, float32 (tokens, vocabulary)",
          "",
          0,
          0,
          "example: linnet logits -m model.gguf --tokens 1,403,407 -o logits.npy",
          join(
              {
                  model_option(),
                  {"--tokens", "IDS", Kind::kIds, "token ids: 1,2,3 or [1,2,3] (nothing is added)"},
                  {"-p, --prompt", "TEXT", Kind::kText, "text instead of ids"},
                  {"--raw", nullptr, Kind::kFlag, "add no special tokens (BOS) to the text"},
                  {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the text are plain text"},
                  {"-o, --out", "F.npy", Kind::kPath, "file to write; what is a FIFO or character device is written to as it is", nullptr,
                   0, 0, true},
              },
              join(engine_options(), session_options())),
          run};
}

}  // namespace linnet::cli
