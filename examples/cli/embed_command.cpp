// linnet embed: texts as vectors, or documents by how well they answer a query.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

using Tokens = std::vector<int32_t>;

// What is embedded, one text a line where they come from a file or stdin.
bool read_texts(const Args& args, std::vector<std::string>* out) {
  *out = args.positional();
  std::string lines;
  if (args.given("-f")) {
    if (!read_text_file(args, args.text("-f"), &lines)) return false;
  } else if (!out->empty() || args.given("--tokens")) {
    return true;
  } else if (!read_stdin(&lines)) {
    failed(args, "stdin could not be read");
    return false;
  }
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    size_t n = end - at;
    if (n && lines[at + n - 1] == '\r') --n;
    out->push_back(lines.substr(at, n));
    at = end + 1;
  }
  return true;
}

// What the model has its texts begin with.
bool read_prompt(const Args& args, const Engine& engine, std::string* out) {
  const std::string wanted = args.text("--prompt");
  std::string known;
  linnet_view name = {}, text = {};
  uint32_t is_default = 0;
  for (uint32_t i = 0; linnet_embed_prompt(&engine.loaded.file, i, &name, &text, &is_default, nullptr) == LINNET_OK; ++i) {
    const std::string of(static_cast<const char*>(name.data), name.bytes);
    known += (known.empty() ? "" : ", ") + of;
    if (args.given("--prompt") ? of != wanted : !is_default) continue;
    *out = std::string(static_cast<const char*>(text.data), text.bytes);
    return true;
  }
  if (!args.given("--prompt")) return true;
  failed(args, "the model has no prompt '%s'; it has %s", wanted.c_str(), known.empty() ? "none" : known.c_str());
  return false;
}

// As Qwen3-Reranker's model card has them (Apache 2.0).
constexpr const char kRerankSystem[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the "
    "answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n";
constexpr const char kRerankEnd[] = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
constexpr const char kRerankTask[] = "Given a web search query, retrieve relevant passages that answer the query";

struct Ranker {
  Tokens before, behind;
  int32_t yes = -1, no = -1;
};
bool open_ranker(const Args& args, const Engine& engine, Ranker* out) {
  const auto one = [&](const char* word, int32_t* id) {
    Tokens ids;
    if (!tokenize(args, engine, word, 0, &ids)) return false;
    if (ids.size() != 1) {
      failed(args, "--rerank: '%s' is no token of this model, which answers by it", word);
      return false;
    }
    *id = ids[0];
    return true;
  };
  return tokenize(args, engine, kRerankSystem, LINNET_PARSE_SPECIAL, &out->before) &&
         tokenize(args, engine, kRerankEnd, LINNET_PARSE_SPECIAL, &out->behind) && one("yes", &out->yes) && one("no", &out->no);
}

void put(std::string* to, float x) {
  char text[32];
  *to += std::string_view(text, static_cast<size_t>(std::to_chars(text, text + sizeof text, x).ptr - text));
}

// Texts of a call, on sequences from 0 on.
std::vector<linnet_rows> rows_of(const std::vector<Tokens>& texts, size_t first, uint32_t n) {
  std::vector<linnet_rows> rows;
  for (uint32_t i = 0; i < n; ++i)
    rows.push_back({.size = sizeof(linnet_rows), .seq = i, .n_tokens = texts[first + i].size(), .tokens = texts[first + i].data()});
  return rows;
}

// The probability of "yes" against "no".
bool rank(const Args& args, const Engine& engine, const Ranker& ranker, const std::vector<linnet_rows>& rows, std::vector<float>* out) {
  linnet_error err = {};
  if (linnet_prefill_batch(engine.session, rows.data(), static_cast<uint32_t>(rows.size()), &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  for (const linnet_rows& row : rows) {
    const float* logits = nullptr;
    size_t n = 0;
    if (linnet_logits(engine.session, row.seq, 0, &logits, &n, &err) != LINNET_OK) return failed(args, err), false;
    out->push_back(1 / (1 + std::exp(logits[ranker.no] - logits[ranker.yes])));
    if (linnet_truncate(engine.session, row.seq, 0, &err) != LINNET_OK) return failed(args, err), false;
  }
  return true;
}

int run(const Args& args) {
  const bool ranks = args.given("--rerank");
  if (args.given("--tokens") + args.given("-f") + !args.positional().empty() > 1)
    return usage_error(args, "give either TEXT, --file or --tokens");
  for (const char* option : {"--pooling", "--normalize", "--dimensions", "--prompt", "--tokens"})
    if (ranks && args.given(option)) return usage_error(args, "%s is not for --rerank, which makes no vectors", option);
  if (!ranks && args.given("--instruction")) return usage_error(args, "--instruction goes with --rerank");
  Settings settings;
  Engine engine;
  std::vector<std::string> texts;
  if (!read_settings(args, &settings) || !read_texts(args, &texts) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  linnet_error err = {};
  linnet_embed_desc desc = {.size = sizeof desc};
  if (linnet_embed_info(engine.model, &desc, &err) != LINNET_OK) return failed(args, err);
  Ranker ranker;
  std::string prompt;
  if (!(ranks ? open_ranker(args, engine, &ranker) : read_prompt(args, engine, &prompt))) return kExitError;

  std::vector<Tokens> tokens;
  if (args.given("--tokens")) {
    tokens.push_back(args.ids("--tokens"));
    if (!check_ids(args, engine, tokens[0])) return kExitError;
  }
  for (const std::string& text : texts) {
    Tokens& ids = tokens.emplace_back();
    const std::string task = args.given("--instruction") ? args.text("--instruction") : kRerankTask;
    const std::string whole =
        ranks ? "<Instruct>: " + task + "\n<Query>: " + args.text("--rerank") + "\n<Document>: " + text : prompt + text;
    if (!tokenize(args, engine, whole, ranks ? 0 : LINNET_ADD_SPECIAL, &ids)) return kExitError;
    if (ids.empty()) return failed(args, "text %zu has no tokens", tokens.size());
    if (!ranks) continue;
    ids.insert(ids.begin(), ranker.before.begin(), ranker.before.end());
    ids.insert(ids.end(), ranker.behind.begin(), ranker.behind.end());
  }
  if (tokens.empty()) return failed(args, "there are no texts");
  size_t longest = 0;
  for (const Tokens& t : tokens) longest = std::max(longest, t.size());

  linnet_session_params& s = settings.session;
  const uint32_t n_sequences = static_cast<uint32_t>(std::min<uint64_t>(args.count("--parallel"), tokens.size()));
  s.n_sequences = n_sequences;
  if (s.n_context == 0) s.n_context = static_cast<uint32_t>(std::min<size_t>(longest, 1u << 24));
  if (s.n_chunk == 0 && desc.bidirectional) s.n_chunk = std::min(s.n_context, 4096u);
  if (!engine.start(args, s)) return kExitError;
  const linnet_embed_params p = {.size = sizeof p,
                                 .pooling = args.choice("--pooling"),
                                 .normalise = args.choice("--normalize"),
                                 .n_dim = static_cast<uint32_t>(args.count("--dimensions"))};
  const uint32_t n_dim = ranks ? 1 : p.n_dim ? p.n_dim : desc.n_dim;

  std::string vectors, lengths;  // as JSON, the former but for --json a line each
  std::vector<float> out;
  interrupt_cancels(engine.session);
  for (size_t first = 0; first < tokens.size(); first += n_sequences) {
    const std::vector<linnet_rows> rows =
        rows_of(tokens, first, static_cast<uint32_t>(std::min<size_t>(n_sequences, tokens.size() - first)));
    out.clear();
    if (ranks) {
      if (!rank(args, engine, ranker, rows, &out)) return kExitError;
    } else {
      out.resize(rows.size() * n_dim);
      if (linnet_embed(engine.session, rows.data(), static_cast<uint32_t>(rows.size()), &p, out.data(), out.size(), &err) != LINNET_OK)
        return failed(args, err);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string text;
      for (uint32_t c = 0; c < n_dim; ++c) {
        if (c) text += ',';
        put(&text, out[i * n_dim + c]);
      }
      if (!ranks) text = "[" + text + "]";
      if (!args.json()) std::printf("%s\n", text.c_str());
      if (args.json()) vectors += (vectors.empty() ? "" : ",") + text;
      lengths += (lengths.empty() ? "" : ",") + std::to_string(rows[i].n_tokens);
    }
  }
  interrupt_ends();
  if (!args.json()) return kExitOk;
  Json json;
  json.object();
  if (!ranks) {
    const uint32_t pooling = p.pooling ? p.pooling : desc.pooling, normalise = p.normalise ? p.normalise : desc.normalise;
    json.field("n_dim", n_dim)
        .field("pooling", choices(Kind::kPooling)[pooling].name)
        .field("normalised", normalise == LINNET_NORMALISE_ON);
  }
  json.key(ranks ? "scores" : "vectors").raw("[" + vectors + "]").key("tokens").raw("[" + lengths + "]");
  json.field("arena_bytes", engine.arena_bytes()).end().print();
  return kExitOk;
}

}  // namespace

Command embed_command() {
  return {
      "embed",
      "print texts as vectors (text embeddings), or rank documents by a query",
      "[TEXT]...",
      0,
      1 << 20,
      "Texts are arguments, or the lines of a file or of stdin. Each gives a line: its vector as a JSON array, with --rerank the "
      "probability that\nit answers the query, by the yes and no of a model such as Qwen3-Reranker. With --json {\"n_dim\", \"pooling\", "
      "\"normalised\", \"vectors\", \"tokens\"}\nor {\"scores\", \"tokens\"}.\n\n"
      "example: linnet embed -m model.gguf --prompt query \"where do foxes sleep\"",
      join(
          {
              model_option(),
              {"-f, --file", "F", Kind::kPath, "texts from a file, one a line"},
              {"--tokens", "IDS", Kind::kIds, "token ids of one text: 1,2,3 or [1,2,3] (nothing is added)"},
              {"--prompt", "NAME", Kind::kText,
               "what the model has texts begin with: query, document, ...; a name that it has not lists them"},
              {"--pooling", "HOW", Kind::kPooling, "rows that make the vector: {}", "model"},
              {"--normalize", "HOW", Kind::kNormalise, "length of vectors: {}", "model"},
              {"--dimensions", "N", Kind::kCount, "the first N numbers, normalised anew, of models that are trained for it", nullptr, 1,
               65536},
              {"--rerank", "QUERY", Kind::kText, "texts are documents, of which each gets a score"},
              {"--instruction", "TEXT", Kind::kText, "what --rerank judges by (default: a web search)"},
              {"--parallel", "N", Kind::kCount, "texts computed together, changes no result", "8", 1, 64},
          },
          join(engine_options(), session_options())),
      run};
}

}  // namespace linnet::cli
