// linnet eval: perplexity of a text, and how far one model's predictions are from another's.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

struct Sums {
  uint64_t n = 0;  // predictions
  double nll = 0;  // natural logarithm
  double nll_squares = 0;
  double other_nll = 0;  // of --against
  double kl = 0, kl_max = 0;
  uint64_t same_top = 0;
  double squares = 0, errors = 0;     // of --against's logits about their mean, and of the differences
  convert::WeightError weight_error;  // of packing on the way in

  double perplexity() const { return std::exp(nll / static_cast<double>(n)); }
  // Standard error of that, as if predictions were independent.
  double error() const {
    const double count = static_cast<double>(n), mean = nll / count, variance = nll_squares / count - mean * mean;
    return n > 1 && variance > 0 ? perplexity() * std::sqrt(variance / (count - 1)) : 0;
  }
};

size_t best(const float* x, size_t n) { return static_cast<size_t>(std::max_element(x, x + n) - x); }

// log(sum(exp(x)))
double log_sum(const float* x, size_t n) {
  const double top = x[best(x, n)];
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

// KL(p || q) in nats, p and q given as logits.
double divergence(const float* p, double p_norm, const float* q, double q_norm, size_t n) {
  double kl = 0;
  for (size_t i = 0; i < n; ++i) {
    const double log_p = p[i] - p_norm;
    kl += std::exp(log_p) * (log_p - (q[i] - q_norm));
  }
  return kl;
}

// One position: `logits` predicted the token `next`; other is NULL without --against.
void score(const float* logits, const float* other, size_t n_vocab, int32_t next, Sums* sums) {
  const double norm = log_sum(logits, n_vocab);
  const double nll = norm - logits[next];
  sums->nll += nll;
  sums->nll_squares += nll * nll;
  ++sums->n;
  if (!other) return;
  const double other_norm = log_sum(other, n_vocab);
  sums->other_nll += other_norm - other[next];
  const double kl = divergence(other, other_norm, logits, norm, n_vocab);
  sums->kl += kl;
  sums->kl_max = std::max(sums->kl_max, kl);
  double mean = 0, mean_difference = 0;  // what all logits of a position share changes no probability
  for (size_t i = 0; i < n_vocab; ++i) mean += other[i], mean_difference += double{logits[i]} - other[i];
  mean /= static_cast<double>(n_vocab), mean_difference /= static_cast<double>(n_vocab);
  for (size_t i = 0; i < n_vocab; ++i) {
    const double v = other[i] - mean, e = double{logits[i]} - other[i] - mean_difference;
    sums->squares += v * v, sums->errors += e * e;
  }
  sums->same_top += best(logits, n_vocab) == best(other, n_vocab);
}

bool prefill(const Args& args, const Engine& engine, const int32_t* tokens, size_t n) {
  linnet_error err = {};
  if (linnet_prefill(engine.session, 0, tokens, n, &err) == LINNET_OK) return true;
  failed(args, err);
  return false;
}

// One window: every token behind `first` is predicted from those before it.
bool eval_window(const Args& args, const Engine& engine, const Engine* other, const int32_t* tokens, size_t n, size_t first, Sums* sums) {
  linnet_error err = {};
  if (linnet_truncate(engine.session, 0, 0, &err) != LINNET_OK || (other && linnet_truncate(other->session, 0, 0, &err) != LINNET_OK))
    return failed(args, err), false;
  const size_t step = engine.params.n_logits;
  for (size_t at = 0; at + 1 < n; at += step) {
    const size_t rows = std::min(step, n - 1 - at);
    if (!prefill(args, engine, tokens + at, rows) || (other && !prefill(args, *other, tokens + at, rows))) return false;
    for (size_t row = at < first ? std::min(first - at, rows) : 0; row < rows; ++row) {
      const uint32_t back = static_cast<uint32_t>(rows - 1 - row);
      const float *a = nullptr, *b = nullptr;
      size_t n_vocab = 0;
      if (linnet_logits(engine.session, 0, back, &a, &n_vocab, &err) != LINNET_OK ||
          (other && linnet_logits(other->session, 0, back, &b, &n_vocab, &err) != LINNET_OK))
        return failed(args, err), false;
      score(a, b, n_vocab, tokens[at + row + 1], sums);
    }
  }
  return true;
}

// Windows overlap by one token, so that each token but the first of the text is predicted exactly once.
bool eval_each(const Args& args, const Engine& engine, const Engine* other, const std::vector<int32_t>& tokens, size_t window, Sums* sums) {
  Progress bar("evaluating");
  for (size_t at = 0; at + 1 < tokens.size(); at += window - 1) {
    if (!eval_window(args, engine, other, tokens.data() + at, std::min(window, tokens.size() - at), 0, sums)) return false;
    Progress::callback(&bar, at, tokens.size());
  }
  return true;
}

// Windows follow each other without overlap and without what is left behind the last whole one. BOS, where the model has it before a text
// (bos >= 0), takes the place of the first token of each, and what is in the first half of a window is only there to predict from.
bool eval_llama(const Args& args, const Engine& engine, const Engine* other, std::vector<int32_t> tokens, size_t window, int32_t bos,
                Sums* sums) {
  const bool running = says(Log::kInfo) && !args.json();
  for (size_t at = 0; at + window <= tokens.size(); at += window) {
    if (bos >= 0) tokens[at] = bos;
    if (!eval_window(args, engine, other, tokens.data() + at, window, window / 2, sums)) return false;
    if (running) std::fprintf(stderr, "[%zu]%.4f,", at / window + 1, sums->perplexity());
  }
  if (running) std::fputc('\n', stderr);
  return true;
}

void report(const Args& args, const Engine& engine, const Engine* other, const Sums& sums, size_t window) {
  const double n = static_cast<double>(sums.n);
  if (args.json()) {
    Json json;
    json.object()
        .field("perplexity", sums.perplexity())
        .field("perplexity_error", sums.error())
        .field("tokens", sums.n)
        .field("nll_sum", sums.nll)
        .field("window", static_cast<uint64_t>(window))
        .field("windows", args.text("--windows"))
        .field("weights", engine.desc.weights);
    if (sums.weight_error.mean >= 0) json.field("weight_error", sums.weight_error.mean);
    if (other)
      json.field("logit_error", std::sqrt(sums.errors / sums.squares))
          .field("kl_mean", sums.kl / n)
          .field("kl_max", sums.kl_max)
          .field("top1_agreement", static_cast<double>(sums.same_top) / n)
          .field("against_perplexity", std::exp(sums.other_nll / n))
          .field("against_weights", other->desc.weights);
    json.end().print();
    return;
  }
  std::printf("perplexity %.6g +/- %.4g over %llu predicted tokens (windows of %zu tokens, weights %s)\n", sums.perplexity(), sums.error(),
              static_cast<unsigned long long>(sums.n), window, engine.desc.weights);
  if (sums.weight_error.mean > 0) std::printf("rounded here: RMS error %.3g %% of the weights\n", 100 * sums.weight_error.mean);
  if (other)
    std::printf(
        "against %s weights: perplexity %.6g, KL divergence %.4g nats on average (at most %.4g), logits' RMS error %.3g %%, same likeliest "
        "token %.2f %%\n",
        other->desc.weights, std::exp(sums.other_nll / n), sums.kl / n, sums.kl_max, 100 * std::sqrt(sums.errors / sums.squares),
        100 * static_cast<double>(sums.same_top) / n);
}

int run(const Args& args) {
  if ((args.given("--against-weights") || args.given("--against-kv")) && !args.given("--against"))
    return usage_error(args, "--against-weights and --against-kv need --against");
  std::string text;
  Settings settings;
  Engine engine, against;
  Sums sums;
  settings.weight_error = &sums.weight_error;
  if (!read_settings(args, &settings) || !read_text_file(args, args.positional()[0], &text) ||
      !engine.open(args, args.text("-m"), settings))
    return kExitError;
  const bool compare = args.given("--against");
  Settings other = settings;
  other.weight_error = nullptr;
  other.keep = false;  // in f32 it is several times as large
  other.weights = static_cast<linnet_format>(args.choice("--against-weights"));
  parse_kv(args.text("--against-kv"), &other.kv);
  other.kv.apply(&other.session);
  if (compare && !against.open(args, args.text("--against"), other)) return kExitError;
  if (compare && against.desc.n_vocab != engine.desc.n_vocab)
    return failed(args, "the models' vocabularies differ: %u and %u tokens", engine.desc.n_vocab, against.desc.n_vocab);

  std::vector<int32_t> tokens;
  const bool llama = args.choice("--windows") != 0;
  // There no special token is in a text.
  const uint32_t flags = token_flags(args, "--raw") & (llama ? ~uint32_t{LINNET_PARSE_SPECIAL} : ~0u);
  if (!tokenize(args, engine, text, flags, &tokens)) return kExitError;
  if (tokens.size() < 2) return failed(args, "%s: too short, there is nothing to predict", args.positional()[0].c_str());
  linnet_session_params& s = settings.session;
  constexpr uint32_t kLlamaContext = 512;  // where nobody says otherwise
  if (s.n_context == 0) s.n_context = llama ? std::min(kLlamaContext, engine.desc.n_context) : engine.desc.n_context;
  const size_t window = llama ? s.n_context : std::min<size_t>(s.n_context, tokens.size()), least = llama ? 3 : 2;
  if (window < least) return usage_error(args, "--context must be at least %zu here", least);
  if (window > tokens.size())
    return failed(args, "%s: %zu tokens are less than a window of %zu (--context)", args.positional()[0].c_str(), tokens.size(), window);
  s.n_context = static_cast<uint32_t>(window);
  // Rows of logits are the only memory here that grows with the vocabulary: 32 rows keep it small.
  s.n_logits = s.n_chunk = std::min<uint32_t>({s.n_chunk ? s.n_chunk : 256, s.n_context, engine.desc.n_vocab > 65536 ? 32u : 256u});
  other.session.n_context = s.n_context;
  other.session.n_logits = other.session.n_chunk = s.n_chunk;
  if (!engine.start(args, s)) return kExitError;
  other.session.n_threads = engine.params.n_threads;
  against.takes_loras = false;
  if (compare && !against.start(args, other.session)) return kExitError;

  const Engine* second = compare ? &against : nullptr;
  const int32_t bos = !args.flag("--raw") && tokens[0] == engine.desc.bos_id ? tokens[0] : -1;
  if (!(llama ? eval_llama(args, engine, second, tokens, window, bos, &sums) : eval_each(args, engine, second, tokens, window, &sums)))
    return kExitError;
  report(args, engine, second, sums, window);
  return kExitOk;
}

}  // namespace

Command eval_command() {
  return {"eval",
          "perplexity of a text file; against a second model: KL divergence and top-1 agreement",
          "TEXTFILE",
          1,
          1,
          "The text is tokenized with the special tokens (BOS) that the model asks for and cut into windows of --context tokens (default: "
          "what the\n"
          "model was trained for, so a shorter text is one window). In a window each token is predicted from those before it; windows "
          "overlap by\n"
          "one token, so that every token but the first is predicted once: perplexity = exp(nll_sum / tokens). KL is KL(M2 || M) in nats.\n"
          "With --windows llama the number is llama-perplexity's: windows (default: 512 tokens) that do not overlap, BOS in the place of "
          "their first token,\ntheir second half predicted, what is written like a special token as text; perplexity so far goes to stderr "
          "after each window.\n"
          "RMS errors are over the RMS of what is compared with: a model's matrices that were packed on the way in, and M2's logits, each "
          "position\n"
          "about its mean.\n\n"
          "example: linnet eval -m model.gguf text.txt --against original-folder",
          join(
              {
                  model_option(),
                  {"--against", "M2", Kind::kModel, "model to compare with; both must share the vocabulary"},
                  {"--against-weights", "FMT", Kind::kFormat, "its weights, where it is packed on the way in", "f32"},
                  {"--against-kv", "FMT", Kind::kKv, "its KV cache", "f32"},
                  {"--windows", "HOW", Kind::kWindows, "of --context tokens: {}", "each"},
                  {"--raw", nullptr, Kind::kFlag, "add no special tokens (BOS) to the text"},
                  {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the text are plain text"},
              },
              join(engine_options(), session_options())),
          run,
          Kind::kPath};
}

}  // namespace linnet::cli
