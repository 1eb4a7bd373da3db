#include "transcribe.h"

#include <cstring>

#include "../../platform/fp.h"
#include "../../platform/utf8.h"
#include "../layers/audio_pass.h"
#include "../params.h"
#include "../rope.h"

namespace linnet {
namespace {

constexpr float kNever = -30000.0f;   // a logit that is not chosen, and that exp makes 0 of
constexpr uint32_t kStep = 320;       // samples of a timestamp's step
constexpr uint32_t kFirstSteps = 50;  // the first timestamp is within a second
constexpr float kTemperatures[] = {0, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f};
constexpr size_t kMostPrompt = 4096, kMostHotBytes = 255;

// What a text may go on with.
struct Rules {
  bool text, end;        // whether text, or the end, may follow
  uint32_t from, until;  // timestamps from..until - 1
};

struct Window {
  float temperature, no_speech;
  float logprob, ratio;  // of the best text
  const Hypothesis* best;
};

struct Transcribing {
  linnet_audio_session& s;
  const linnet_audio& m;
  const AudioSpec& spec;
  Transcriber& t;
  linnet_transcribe_params p;
  linnet_segment_fn fn;
  void* user;
  Error* err;
  linnet_transcribed out = {};
  bool timestamps = false, previous = false;
  uint32_t language = 0;  // 1 + number; 0: not known, or none
  uint64_t n_draws = 0;
  float temperature = 0;
  uint32_t n_candidates = 1;

  bool is_timestamp(int32_t token) const { return spec.first_timestamp && static_cast<uint32_t>(token) + 1 >= spec.first_timestamp; }
  uint32_t step_of(int32_t token) const { return static_cast<uint32_t>(token) + 1 - spec.first_timestamp; }
  bool is_end(int32_t token) const { return static_cast<uint32_t>(token) == spec.end; }

  // Timestamps come in pairs, but for the first and the last, and never go back.
  Rules rules(const Hypothesis& h) const {
    const uint32_t n_steps = spec.first_timestamp ? spec.n_vocab + 1 - spec.first_timestamp : 0;
    if (!timestamps) return {true, true, 0, 0};
    if (h.n == 0) return {false, false, 0, n_steps < kFirstSteps + 1 ? n_steps : kFirstSteps + 1};
    const bool last = is_timestamp(h.tokens[h.n - 1]), before = h.n < 2 || is_timestamp(h.tokens[h.n - 2]);
    uint32_t from = 0;
    for (uint32_t i = h.n; i-- > 0 && !from;)
      if (is_timestamp(h.tokens[i])) from = step_of(h.tokens[i]) + (last && !before ? 0 : 1);
    if (last && before) return {true, true, n_steps, n_steps};
    if (last) return {false, true, from, n_steps};
    return {true, true, from, n_steps};
  }

  // What hot words make likelier behind the text.
  void add_hot_words(const Hypothesis& h, float* x) const {
    for (uint32_t i = 0; i < t.n_hot_words; ++i) {
      const HotWord& word = t.hot_words[i];
      const int32_t* const tokens = t.hot_tokens + word.first;
      uint32_t said = word.n - 1 < h.n ? word.n - 1 : h.n;
      while (said && std::memcmp(h.tokens + h.n - said, tokens, said * sizeof *tokens) != 0) --said;
      x[tokens[said]] += word.bias;
    }
  }

  // Logits of a row with what must not follow left out.
  void allowed(const float* logits, const Hypothesis& h, float* x) const {
    const uint32_t n = spec.n_vocab;
    const auto never = [&](uint32_t from, uint32_t until) {
      for (uint32_t i = from; i < until && i < n; ++i) x[i] = kNever;
    };
    std::memcpy(x, logits, n * sizeof *x);
    add_hot_words(h, x);
    const auto leave_out = [&](const uint32_t* bits) {
      for (uint32_t i = 0; i < div_up(n, 32); ++i)
        for (uint32_t left = bits[i]; left; left &= left - 1) x[i * 32 + static_cast<uint32_t>(__builtin_ctz(left))] = kNever;
    };
    leave_out(m.suppressed);
    if (h.n == 0) leave_out(m.suppressed_first);
    if (!spec.whisper()) return;
    const Rules r = rules(h);
    const uint32_t times = spec.first_timestamp ? spec.first_timestamp - 1 : n;
    if (!r.text) never(0, spec.end);
    if (!r.end) never(spec.end, spec.end + 1);
    never(spec.end + 1, times);
    never(times, times + r.from);
    never(times + r.until, n);
  }

  // Fills in row i's candidates, the likeliest first.
  void score(uint32_t i) const {
    const Hypothesis& h = t.live[i];
    const float* const logits = s.logits + i * s.logits_stride;
    float* const x = t.room + i * s.logits_stride;
    Candidate* const to = t.candidates + size_t{i} * (s.params.n_beams + 1);
    const uint32_t n = spec.n_vocab, times = timestamps ? spec.first_timestamp - 1 : n;
    allowed(logits, h, x);
    const auto most = [&](uint32_t from, uint32_t until) {
      float best = kNever;
      for (uint32_t k = from; k < until; ++k) best = x[k] > best ? x[k] : best;
      return best;
    };
    const auto sum = [&](uint32_t from, uint32_t until) {  // 16 sums, so that they need not wait for each other
      double part[16] = {};
      uint32_t k = from;
      for (; k + 16 <= until; k += 16)
        for (uint32_t j = 0; j < 16; ++j) part[j] += static_cast<double>(x[k + j]);
      for (; k < until; ++k) part[0] += static_cast<double>(x[k]);
      for (uint32_t j = 1; j < 16; ++j) part[0] += part[j];
      return part[0];
    };
    const float text_top = most(0, times), times_top = most(times, n), top = text_top > times_top ? text_top : times_top;
    for (uint32_t k = 0; k < n; ++k) x[k] -= top;
    m.kernels.t.exp_row(x, n);
    double text_sum = sum(0, times);
    const double times_sum = sum(times, n);
    float likeliest = text_top - top;
    m.kernels.t.exp_row(&likeliest, 1);
    uint32_t from = 0;
    if (times_sum > static_cast<double>(likeliest)) text_sum = 0, from = times;  // all times together are likelier than any text
    const float whole = static_cast<float>(rope_log(text_sum + times_sum));
    for (uint32_t c = 0; c < n_candidates; ++c) to[c] = {static_cast<int32_t>(spec.end), kNever};
    if (temperature > 0) {
      draw(i, logits, h, from, whole + top, to);
      return;
    }
    float least = 0;  // of the candidates
    uint32_t found = 0;
    for (uint32_t k = from; k < n; ++k) {
      if (x[k] <= least) continue;
      uint32_t at = found < n_candidates ? found++ : n_candidates - 1;
      for (; at && to[at - 1].logprob < x[k]; --at) to[at] = to[at - 1];
      to[at] = {static_cast<int32_t>(k), x[k]};
      if (found == n_candidates) least = to[found - 1].logprob;
    }
    for (uint32_t c = 0; c < found; ++c) to[c].logprob = logits_of(logits, h, to[c].token) - top - whole;
  }
  // A logit as it counts.
  float logits_of(const float* logits, const Hypothesis& h, int32_t token) const {
    float x = logits[token];
    for (uint32_t i = 0; i < t.n_hot_words; ++i) {
      const HotWord& word = t.hot_words[i];
      const int32_t* const tokens = t.hot_tokens + word.first;
      uint32_t said = word.n - 1 < h.n ? word.n - 1 : h.n;
      while (said && std::memcmp(h.tokens + h.n - said, tokens, said * sizeof *tokens) != 0) --said;
      if (tokens[said] == token) x += word.bias;
    }
    return x;
  }

  // A token at random, by its probability at the temperature.
  void draw(uint32_t i, const float* logits, const Hypothesis& h, uint32_t from, float whole, Candidate* to) const {
    float* const x = t.room + i * s.logits_stride;
    const uint32_t n = spec.n_vocab;
    allowed(logits, h, x);
    float top = kNever;
    for (uint32_t k = from; k < n; ++k) top = x[k] > top ? x[k] : top;
    for (uint32_t k = from; k < n; ++k) x[k] = (x[k] - top) / temperature;
    m.kernels.t.exp_row(x + from, n - from);
    double all = 0;
    for (uint32_t k = from; k < n; ++k) all += static_cast<double>(x[k]);
    uint64_t bits = p.seed * 0x9E3779B97F4A7C15u + (n_draws + i) * 0xBF58476D1CE4E5B9u;  // splitmix64 (Steele et al. 2014)
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    const double at = all * (static_cast<double>(bits >> 11) * 0x1p-53);
    double sum = 0;
    uint32_t token = spec.end;
    for (uint32_t k = from; k < n; ++k) {
      if (x[k] > 0) token = k;
      sum += static_cast<double>(x[k]);
      if (sum > at) break;
    }
    to[0] = {static_cast<int32_t>(token), logits_of(logits, h, static_cast<int32_t>(token)) - whole};
  }

  // Tokens of one text, with the logits of the last.
  Status read(const int32_t* tokens, uint32_t n) {
    for (uint32_t at = 0; at < n;) {
      const TextRows rows = {0, n - at < kTextChunk ? n - at : kTextChunk, tokens + at};
      LINNET_TRY(audio_read(s, &rows, 1, err));
      at += rows.n;
    }
    return LINNET_OK;
  }
  // The probability of a token in the row of logits there is.
  float probability(uint32_t token) const {
    float* const x = t.room;
    const uint32_t n = spec.n_vocab;
    float top = s.logits[0];
    for (uint32_t k = 1; k < n; ++k) top = s.logits[k] > top ? s.logits[k] : top;
    for (uint32_t k = 0; k < n; ++k) x[k] = s.logits[k] - top;
    m.kernels.t.exp_row(x, n);
    double sum = 0;
    for (uint32_t k = 0; k < n; ++k) sum += static_cast<double>(x[k]);
    return static_cast<float>(static_cast<double>(x[token]) / sum);
  }

  // What the decoder reads before it writes: text that was said, the start, language and task.
  Status begin(Window* w) {
    for (uint32_t i = 0; i < audio_texts(s); ++i) audio_clear(s, i);
    uint32_t n = 0;
    const uint32_t most = spec.n_text / 2 - 1;
    if (t.n_said && spec.previous) {
      const uint32_t count = t.n_said < most ? t.n_said : most;
      t.prompt[n++] = static_cast<int32_t>(spec.previous - 1);
      std::memcpy(t.prompt + n, t.said + (t.n_said - count), count * sizeof *t.prompt);
      n += count;
    }
    t.prompt[n++] = static_cast<int32_t>(spec.start);
    LINNET_TRY(read(t.prompt, n));
    w->no_speech = spec.no_speech ? probability(spec.no_speech - 1) : 0;
    uint32_t behind = 0;
    int32_t then[3];
    if (spec.n_languages && !language) {
      uint32_t best = 0;
      const float* const x = s.logits + (spec.first_language - 1);
      for (uint32_t i = 1; i < spec.n_languages; ++i)
        if (x[i] > x[best]) best = i;
      language = 1 + best;
    }
    if (spec.n_languages) {
      then[behind++] = static_cast<int32_t>(spec.first_language - 1 + language - 1);
      const uint32_t task = p.task == LINNET_AUDIO_TRANSLATE ? spec.translate : spec.transcribe;
      if (task) then[behind++] = static_cast<int32_t>(task - 1);
    }
    if (!timestamps && spec.no_timestamps) then[behind++] = static_cast<int32_t>(spec.no_timestamps - 1);
    return behind ? read(then, behind) : LINNET_OK;
  }

  // Hypothesis `to` = `from` and a token more.
  static void extend(const Hypothesis& from, const Candidate& c, Hypothesis* to) {
    std::memcpy(to->tokens, from.tokens, from.n * sizeof *to->tokens);
    std::memcpy(to->logprobs, from.logprobs, from.n * sizeof *to->logprobs);
    to->n = from.n;
    to->sum = from.sum + static_cast<double>(c.logprob);
    to->seq = from.seq;
    to->tokens[to->n] = c.token;
    to->logprobs[to->n] = c.logprob;
  }

  // The best texts of the window, n_beams of them at a time; of a temperature one that is drawn.
  Status decode(uint32_t most_tokens, Window* w) {
    const uint32_t n_beams = temperature > 0 ? 1 : p.n_beams;
    n_candidates = temperature > 0 ? 1 : n_beams == 1 ? 1 : n_beams + 1;
    LINNET_TRY(begin(w));
    const uint32_t room = spec.n_text - s.lengths[0];
    if (most_tokens > room) most_tokens = room;
    uint32_t n_live = 1, n_done = 0;
    t.live[0].n = t.live[0].seq = 0;
    t.live[0].sum = 0;
    score(0);
    for (uint32_t step = 0; n_live && n_done < n_beams; ++step) {
      n_draws += n_live;
      out.n_tokens += n_live;
      // All that may follow, the likeliest first.
      struct {
        uint32_t hypothesis, candidate;
        double sum;
      } all[kMostBeams * (kMostBeams + 1)];
      uint32_t n_all = 0;
      for (uint32_t i = 0; i < n_live; ++i)
        for (uint32_t c = 0; c < n_candidates; ++c) {
          const Candidate& next = t.candidates[size_t{i} * (s.params.n_beams + 1) + c];
          if (next.logprob <= kNever / 2) continue;
          const double sum = t.live[i].sum + static_cast<double>(next.logprob);
          uint32_t at = n_all++;
          for (; at && all[at - 1].sum < sum; --at) all[at] = all[at - 1];
          all[at] = {i, c, sum};
        }
      uint32_t n_next = 0;
      for (uint32_t k = 0; k < n_all && n_next < n_beams; ++k) {
        const Hypothesis& from = t.live[all[k].hypothesis];
        const Candidate& c = t.candidates[size_t{all[k].hypothesis} * (s.params.n_beams + 1) + all[k].candidate];
        if (!is_end(c.token)) {
          extend(from, c, &t.next[n_next]);
          ++t.next[n_next++].n;
        } else if (n_done < n_beams) {
          extend(from, c, &t.done[n_done++]);
        }
      }
      if (n_done >= n_beams) break;
      if (step + 1 >= most_tokens) {  // no more room: texts without an end
        for (uint32_t i = 0; i < n_next && n_done < n_beams; ++i) {
          Candidate none = {static_cast<int32_t>(spec.end), 0};
          extend(t.next[i], none, &t.done[n_done++]);
        }
        break;
      }
      place(n_live, n_next);
      Hypothesis* const swap = t.live;
      t.live = t.next, t.next = swap;
      n_live = n_next;
      TextRows rows[kMostBeams];
      for (uint32_t i = 0; i < n_live; ++i) rows[i] = {t.live[i].seq, 1, &t.live[i].tokens[t.live[i].n - 1]};
      LINNET_TRY(audio_read(s, rows, n_live, err, [](void* arg, uint32_t i) { static_cast<const Transcribing*>(arg)->score(i); }, this));
    }
    w->best = nullptr;
    double best = 0;
    for (uint32_t i = 0; i < n_done; ++i) {
      const double value = t.done[i].sum / (t.done[i].n ? t.done[i].n : 1);
      if (!w->best || value > best) best = value, w->best = &t.done[i];
    }
    if (!w->best) {  // nothing may follow at all
      t.done[0].n = 0, t.done[0].sum = 0;
      w->best = &t.done[0];
    }
    w->temperature = temperature;
    w->logprob = static_cast<float>(w->best->sum / (w->best->n + 1));
    w->ratio = packed_ratio(t.text, text_of(w->best->tokens, w->best->n, nullptr, nullptr), t.seen);
    return LINNET_OK;
  }

  // Gives the next texts their places in the cache: a parent's own to its first child, copies to the others.
  void place(uint32_t n_live, uint32_t n_next) {
    bool taken[2 * kMostBeams] = {};
    for (uint32_t i = 0; i < n_live; ++i) taken[t.live[i].seq] = true;
    uint32_t parents[kMostBeams];
    bool kept[2 * kMostBeams] = {};
    for (uint32_t i = 0; i < n_next; ++i) parents[i] = t.next[i].seq;
    for (uint32_t i = 0; i < n_next; ++i) {
      if (!kept[parents[i]]) {
        kept[parents[i]] = true;
        continue;
      }
      uint32_t to = 0;
      while (taken[to]) ++to;
      taken[to] = kept[to] = true;
      audio_fork(s, parents[i], to);
      t.next[i].seq = to;
    }
    for (uint32_t i = 0; i < audio_texts(s); ++i)
      if (taken[i] && !kept[i]) audio_clear(s, i);
  }

  // Text of tokens in t.text, and where its words are. Spaces at its ends are left out.
  size_t text_of(const int32_t* tokens, uint32_t n, uint32_t* n_words, const float* logprobs) const {
    size_t at = 0;
    uint32_t count = 0, parts = 0;
    float sum = 0;
    const auto end_word = [&] {
      if (!n_words || count == 0) return;
      linnet_audio_word& word = t.words[count - 1];
      word.n_bytes = static_cast<uint32_t>(at) - word.from;
      word.confidence = parts ? sum / static_cast<float>(parts) : 0;
      parts = 0, sum = 0;
    };
    for (uint32_t i = 0; i < n; ++i) {
      if (is_timestamp(tokens[i]) || token_is_special(m.tokenizer, tokens[i])) continue;
      std::string_view bytes = token_bytes(m.tokenizer, tokens[i], false);
      const bool begins = count == 0 || (!bytes.empty() && bytes[0] == ' ');
      if (begins) {
        end_word();
        while (!bytes.empty() && bytes[0] == ' ' && (at == 0 || n_words)) {
          if (at && at < t.text_bytes) t.text[at++] = ' ';
          bytes.remove_prefix(1);
        }
        if (n_words) t.words[count] = {sizeof t.words[0], static_cast<uint32_t>(at), 0, 0};
        ++count;
      }
      const size_t some = bytes.size() < t.text_bytes - at ? bytes.size() : t.text_bytes - at;
      std::memcpy(t.text + at, bytes.data(), some);
      at += some;
      if (logprobs) {
        float probability = logprobs[i];
        m.kernels.t.exp_row(&probability, 1);
        sum += probability;
        ++parts;
      }
    }
    while (at && t.text[at - 1] == ' ') --at;
    end_word();
    // A character that was cut, or what is none.
    for (size_t i = 0; i < at;) {
      const Char c = next_char(t.text + i, at - i);
      if (c.code == kBadByte) t.text[i] = '?';
      i += c.bytes;
    }
    if (n_words) *n_words = count;
    return at;
  }

  Status emit(const Window& w, uint32_t first, uint32_t n, uint64_t from, uint64_t to, uint64_t n_samples) {
    const Hypothesis& h = *w.best;
    linnet_segment g = {};
    g.size = sizeof g;
    g.n_bytes = text_of(h.tokens + first, n, &g.n_words, h.logprobs + first);
    if (to > n_samples) to = n_samples;
    if (g.n_bytes == 0 || from >= to) return LINNET_OK;
    g.index = out.n_segments++;
    g.first_sample = from, g.end_sample = to;
    g.text = t.text, g.words = t.words;
    g.tokens = h.tokens + first, g.n_tokens = n;
    float sum = 0;
    uint32_t count = 0;
    for (uint32_t i = first; i < first + n; ++i) {
      if (is_timestamp(h.tokens[i])) continue;
      float probability = h.logprobs[i];
      m.kernels.t.exp_row(&probability, 1);
      sum += probability, ++count;
    }
    g.confidence = count ? sum / static_cast<float>(count) : 0;
    g.logprob = w.logprob, g.no_speech = w.no_speech, g.compression_ratio = w.ratio, g.temperature = w.temperature;
    g.language = language ? m.languages[language - 1] : spec.whisper() ? "en" : "";
    return fn && fn(user, &g) ? fail(err, LINNET_CANCELLED, "stopped by the callback") : LINNET_OK;
  }

  void remember(const int32_t* tokens, uint32_t n) {
    const uint32_t most = spec.n_text;
    if (n > most) tokens += n - most, n = most;
    const uint32_t keep = t.n_said < most - n ? t.n_said : most - n;
    std::memmove(t.said, t.said + (t.n_said - keep), keep * sizeof *t.said);
    std::memcpy(t.said + keep, tokens, n * sizeof *t.said);
    t.n_said = keep + n;
  }

  // The window's text by the temperatures, one after the other, until one passes.
  Status try_temperatures(uint32_t most_tokens, Window* w, bool* silent) {
    bool passed = false;
    for (uint32_t i = 0; i < p.n_temperatures && !passed; ++i) {
      temperature = p.temperatures[i];
      LINNET_TRY(decode(most_tokens, w));
      passed = !(p.compression_ratio >= 0 && w->ratio > p.compression_ratio) && !(p.logprob <= 0 && w->logprob < p.logprob);
      *silent = p.no_speech >= 0 && w->no_speech > p.no_speech && p.logprob <= 0 && w->logprob < p.logprob;
      passed = passed || *silent;
    }
    out.n_failed += !passed;
    return LINNET_OK;
  }

  // Where a window of at most `most` samples is cut: in the quietest fifth of a second of its last third.
  static size_t quietest(const float* pcm, size_t n, size_t most) {
    constexpr size_t kPart = kSampleRate / 5;
    if (n <= most) return n;
    size_t best = most;
    double least = -1;
    for (size_t at = most / 3 * 2; at + kPart <= most; at += kPart / 2) {
      double sum = 0;
      for (size_t i = at; i < at + kPart; ++i) sum += static_cast<double>(pcm[i]) * static_cast<double>(pcm[i]);
      if (least < 0 || sum < least) least = sum, best = at + kPart / 2;
    }
    return best;
  }

  Status run(const float* pcm, size_t n_samples) {
    const size_t window = spec.whisper() ? static_cast<size_t>(audio_window(spec)) : size_t{30} * kSampleRate;
    for (size_t seek = 0; seek < n_samples;) {
      const float* const at = pcm + seek;
      size_t n = n_samples - seek < window ? n_samples - seek : window;
      if (!timestamps) n = quietest(at, n_samples - seek, window);
      size_t heard = spec.whisper() ? window : n;
      if (p.short_windows == LINNET_SWITCH_ON && spec.whisper()) {
        const size_t some = static_cast<size_t>(align_up(n + kSampleRate, 16 * kStep));
        heard = some < window ? some : window;
      }
      if (audio_rows_of(spec, heard) == 0) break;  // too short to be heard
      LINNET_TRY(audio_hear(s, at, n, heard, err));
      ++out.n_windows;
      uint32_t most = p.n_tokens;
      if (!spec.whisper()) {  // as published: speech has no more, and repetitions end
        const uint32_t by_length = static_cast<uint32_t>(n * 13 / (2 * kSampleRate)) + 2;
        most = most < by_length ? most : by_length;
      }
      Window w = {};
      bool silent = false;
      LINNET_TRY(try_temperatures(most, &w, &silent));
      if (silent) {
        seek += n;
        continue;
      }
      size_t next = seek + n;
      const Hypothesis& h = *w.best;
      uint32_t said = h.n;  // tokens that count
      if (!timestamps) {
        LINNET_TRY(emit(w, 0, h.n, seek, seek + n, n_samples));
      } else {
        const auto time = [&](uint32_t i) { return seek + uint64_t{step_of(h.tokens[i])} * kStep; };
        const bool one_at_end = h.n >= 2 && !is_timestamp(h.tokens[h.n - 2]) && is_timestamp(h.tokens[h.n - 1]);
        uint32_t first = 0;
        bool any = false;
        for (uint32_t i = 1; i < h.n; ++i) {
          if (!is_timestamp(h.tokens[i]) || !is_timestamp(h.tokens[i - 1])) continue;
          LINNET_TRY(emit(w, first, i - first, time(first), time(i - 1), n_samples));
          first = i;
          any = true;
        }
        if (any && one_at_end) {
          LINNET_TRY(emit(w, first, h.n - first, time(first), time(h.n - 1), n_samples));
        } else if (any) {  // the rest has no end yet: the next window begins with it
          if (const uint64_t end = time(first - 1); end > seek) next = static_cast<size_t>(end);
          said = first;
        } else {
          uint32_t last = h.n;
          while (last && !is_timestamp(h.tokens[last - 1])) --last;
          const uint64_t end = last && step_of(h.tokens[last - 1]) ? time(last - 1) : seek + n;
          LINNET_TRY(emit(w, 0, h.n, h.n && is_timestamp(h.tokens[0]) ? time(0) : seek, end, n_samples));
        }
      }
      if (previous) remember(h.tokens, said);
      if (w.temperature > 0.5f) t.n_said = 0;
      seek = next;
    }
    return LINNET_OK;
  }
};

Status check_switch(uint32_t v, const char* name, Error* err) {
  return v <= LINNET_SWITCH_OFF ? LINNET_OK : fail(err, LINNET_BAD_ARG, "transcribe: ", name, " is ", v, ", there is no such switch");
}

// Tokens of hot words and of the prompt.
Status read_texts(linnet_audio_session& s, const linnet_transcribe_params& p, Error* err) {
  Transcriber& t = s.transcriber;
  const linnet_audio& m = *s.audio;
  uint32_t used = 0;
  t.n_hot_words = 0;
  t.n_said = 0;
  if (p.n_hot_words > kMostHotWords)
    return fail(err, LINNET_BAD_ARG, "transcribe: n_hot_words is ", p.n_hot_words, ", at most ", kMostHotWords);
  if (p.n_hot_words && !p.hot_words) return fail(err, LINNET_BAD_ARG, "transcribe: hot_words is NULL");
  for (uint32_t i = 0; i < p.n_hot_words; ++i) {
    linnet_hot_word word;
    LINNET_TRY(read_element(p.hot_words, i, "transcribe: hot_words", &word, err));
    if (!word.text || word.n_bytes == 0 || word.n_bytes > kMostHotBytes)
      return fail(err, LINNET_BAD_ARG, "transcribe: hot_words[", i, "] has ", word.text ? word.n_bytes : 0, " bytes, must be 1..",
                  kMostHotBytes);
    if (!(word.bias >= -100 && word.bias <= 100))
      return fail(err, LINNET_BAD_ARG, "transcribe: hot_words[", i, "]: bias is no number within 100");
    char text[kMostHotBytes + 1];
    text[0] = ' ';
    std::memcpy(text + 1, word.text, word.n_bytes);
    size_t n = 0;
    Error why = {};
    const Status status = tokenize(m.tokenizer, {text, word.n_bytes + 1}, 0, t.scratch, t.scratch_bytes, t.hot_tokens + used,
                                   kMostHotTokens - used, &n, &why);
    if (status == LINNET_TOO_SMALL) return fail(err, LINNET_BAD_ARG, "transcribe: hot_words have more than ", kMostHotTokens, " tokens");
    if (status != LINNET_OK) return fail(err, status, "transcribe: hot_words[", i, "]: ", static_cast<const char*>(why.text));
    if (n == 0) continue;
    t.hot_words[t.n_hot_words++] = {used, static_cast<uint32_t>(n), word.bias};
    used += static_cast<uint32_t>(n);
  }
  if (p.n_prompt == 0) return LINNET_OK;
  if (!p.prompt || p.n_prompt > kMostPrompt)
    return fail(err, LINNET_BAD_ARG, "transcribe: prompt has ", p.n_prompt, " bytes, at most ", kMostPrompt,
                p.prompt ? "" : ", and is NULL");
  // The last bytes that have no more tokens than fit.
  const char* text = p.prompt;
  size_t bytes = p.n_prompt, n = 0;
  for (;;) {
    const Status status = tokenize(m.tokenizer, {text, bytes}, 0, t.scratch, t.scratch_bytes, t.said, s.audio->spec.n_text, &n, err);
    if (status == LINNET_OK) break;
    if (status != LINNET_TOO_SMALL) return status;
    const size_t cut = bytes / 4 + 1;
    text += cut, bytes -= cut;
    while (bytes && (static_cast<uint8_t>(*text) & 0xC0) == 0x80) ++text, --bytes;
  }
  t.n_said = static_cast<uint32_t>(n);
  return LINNET_OK;
}

}  // namespace

void transcribe_layout(Arena& arena, const linnet_audio& audio, uint32_t n_beams, size_t logits_stride, Transcriber* t) {
  const uint64_t n = audio.spec.n_text, beams = n_beams;
  for (Hypothesis** list : {&t->live, &t->next, &t->done}) {
    *list = arena.take<Hypothesis>("texts", beams);
    int32_t* const tokens = arena.take<int32_t>("texts", beams * n);
    float* const logprobs = arena.take<float>("texts", beams * n);
    for (uint32_t i = 0; *list && i < n_beams; ++i) (*list)[i] = {0, 0, 0, tokens + i * n, logprobs + i * n};
  }
  t->candidates = arena.take<Candidate>("texts", beams * (beams + 1));
  t->room = arena.take<float>("logits", beams * logits_stride);
  t->prompt = arena.take<int32_t>("texts", n);
  t->said = arena.take<int32_t>("texts", n);
  t->hot_tokens = arena.take<int32_t>("texts", kMostHotTokens);
  t->hot_words = arena.take<HotWord>("texts", kMostHotWords);
  t->scratch_bytes = tokenize_scratch_bytes(audio.tokenizer, kMostPrompt);
  t->scratch = arena.take<uint8_t>("texts", t->scratch_bytes);
  t->text_bytes = static_cast<size_t>(n) * 64;
  t->text = arena.take<char>("texts", t->text_bytes);
  t->words = arena.take<linnet_audio_word>("texts", n);
  t->seen = arena.take<uint16_t>("texts", 4096);
}

Status transcribe(linnet_audio_session& s, const float* pcm, size_t n, const linnet_transcribe_params& params, linnet_segment_fn fn,
                  void* user, linnet_transcribed* out, Error* err) {
  const FpGuard guard;
  const AudioSpec& spec = s.audio->spec;
  Transcribing t{s, *s.audio, spec, s.transcriber, params, fn, user, err};
  linnet_transcribe_params& p = t.p;
  if (p.task > LINNET_AUDIO_TRANSLATE) return fail(err, LINNET_BAD_ARG, "transcribe: task is ", p.task, ", there is no such task");
  if (p.task == LINNET_AUDIO_TRANSLATE && !(spec.n_languages && spec.translate))
    return fail(err, LINNET_UNSUPPORTED, "transcribe: task is LINNET_AUDIO_TRANSLATE: the model knows one language");
  p.language[sizeof p.language - 1] = '\0';
  const std::string_view code = p.language;
  for (uint32_t i = 0; i < spec.n_languages; ++i)
    if (const std::string_view have = s.audio->languages[i];
        have.size() == code.size() && !std::memcmp(have.data(), code.data(), code.size()))
      t.language = i + 1;
  const bool english = code.size() == 2 && code[0] == 'e' && code[1] == 'n';
  if (!code.empty() && !t.language && (spec.n_languages || !english))
    return fail(err, LINNET_UNSUPPORTED, "transcribe: language is '", code, "', which the model does not know");
  LINNET_TRY(check_switch(p.timestamps, "timestamps", err));
  LINNET_TRY(check_switch(p.previous, "previous", err));
  LINNET_TRY(check_switch(p.short_windows, "short_windows", err));
  const bool can = spec.whisper() && spec.no_timestamps && spec.first_timestamp;
  if (p.timestamps == LINNET_SWITCH_ON && !can) return fail(err, LINNET_UNSUPPORTED, "transcribe: timestamps are on: the model has none");
  t.timestamps = can && p.timestamps != LINNET_SWITCH_OFF;
  t.previous = p.previous == LINNET_SWITCH_DEFAULT ? t.timestamps : p.previous == LINNET_SWITCH_ON;
  if (p.n_beams == 0) p.n_beams = s.params.n_beams;
  if (p.n_beams > s.params.n_beams)
    return fail(err, LINNET_BAD_ARG, "transcribe: n_beams is ", p.n_beams, ", the session has ", s.params.n_beams);
  if (p.n_tokens == 0) p.n_tokens = spec.n_text / 2;
  if (p.n_tokens > spec.n_text)
    return fail(err, LINNET_BAD_ARG, "transcribe: n_tokens is ", p.n_tokens, ", the model has room for ", spec.n_text);
  if (p.n_temperatures == 0) p.temperatures = kTemperatures, p.n_temperatures = sizeof kTemperatures / sizeof kTemperatures[0];
  if (p.n_temperatures > kMostTemperatures || !p.temperatures)
    return fail(err, LINNET_BAD_ARG, "transcribe: n_temperatures is ", p.n_temperatures,
                p.temperatures ? ", at most 16" : ", temperatures is NULL");
  for (uint32_t i = 0; i < p.n_temperatures; ++i)
    if (!(p.temperatures[i] >= 0 && p.temperatures[i] <= 2))
      return fail(err, LINNET_BAD_ARG, "transcribe: temperatures[", i, "] is not within 0..2");
  if (p.compression_ratio == 0) p.compression_ratio = 2.4f;
  if (p.logprob == 0) p.logprob = -1;
  if (p.no_speech == 0) p.no_speech = 0.6f;
  if (p.reserved) return fail(err, LINNET_BAD_ARG, "transcribe: reserved is ", p.reserved, ", must be 0");
  LINNET_TRY(read_texts(s, p, err));
  const Status status = t.run(pcm, n);
  t.out.size = sizeof t.out;
  if (t.language) std::memcpy(t.out.language, s.audio->languages[t.language - 1], sizeof t.out.language);
  *out = t.out;
  return status;
}

}  // namespace linnet
