/* linnet_audio.h [experimental]: speech as text (Whisper, Radford et al. 2022, arXiv 2212.04356; Moonshine, Jeffries et al. 2024, arXiv
 * 2410.15608), with the weights packed as those of language models are.
 *
 *   linnet_view file;   linnet_file_map("whisper-tiny.en.gguf", LINNET_LOAD_MAP, &file, &err);       made by `linnet convert`
 *   linnet_audio_need(&file, NULL, &need, &err);   linnet_audio_init(&audio, mem, need.bytes, &file, NULL, &err);
 *   ... the same two steps for a session ...
 *   linnet_transcribe(session, pcm, n_samples, NULL, on_segment, user, &result, &err);
 *
 * - Sound: float, -1..1, 16,000 samples a second, one channel.
 * - Objects, memory, stack, errors, structs, cancelling: as linnet.h has them. A model is immutable and serves any number of sessions and
 *   threads; a session is one thread's at a time; no call allocates from init to fini.
 * - Exact: with integer and float weights the same bytes on every instruction set and thread count, as linnet.h has it.
 * - On the CPU. */
#ifndef LINNET_AUDIO_H
#define LINNET_AUDIO_H

#include "linnet.h"
#include "linnet_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linnet_audio linnet_audio;                 /* lives inside the caller's memory */
typedef struct linnet_audio_session linnet_audio_session; /* likewise */

/* What linnet_audio_init takes for this file. LINNET_UNSUPPORTED: a language model, or none of linnet's. */
LINNET_CALL linnet_status linnet_audio_need(const linnet_view* file, const linnet_profile* profile, linnet_need* out, linnet_error* err);
/* Makes a model inside mem[0, bytes). The file's bytes must outlive it. It needs no fini. */
LINNET_CALL linnet_status linnet_audio_init(linnet_audio** out, void* mem, size_t bytes, const linnet_view* file,
                                            const linnet_profile* profile, linnet_error* err);

typedef struct linnet_audio_desc {
  uint32_t size; /* set by the caller */
  uint32_t d_model, n_heads, n_encoder, n_decoder, n_vocab;
  uint32_t n_mels;         /* bands of a spectrum; 0: Moonshine, which hears the sound itself */
  uint32_t n_states;       /* rows that its encoder gives at most */
  uint32_t n_text;         /* tokens of a text at most */
  uint32_t n_languages;    /* 0: English alone */
  uint64_t window_samples; /* most samples that it hears at once */
  uint64_t n_params, weight_bytes;
  const char* architecture; /* "whisper", "moonshine" */
  const char* name;         /* general.name of the file, "" if absent */
  const char* weights;      /* format of most weights */
} linnet_audio_desc;
LINNET_CALL linnet_status linnet_audio_info(const linnet_audio* audio, linnet_audio_desc* out, linnet_error* err);
/* Code of language i < n_languages, "en"; NULL beyond. Lives as long as the model. */
LINNET_API const char* linnet_audio_language(const linnet_audio* audio, uint32_t i);

/* A field at 0 takes what the profile of the model says, else the default that stands here. */
typedef struct linnet_audio_session_params {
  uint32_t size;
  uint32_t n_threads;          /* default 1 */
  uint32_t threads;            /* linnet_threads, but for LINNET_THREADS_APP */
  uint32_t n_beams;            /* most beams of a text, 1..16; default 1 */
  uint32_t k_format, v_format; /* linnet_format of what attention looks at; default i8, and v as k */
} linnet_audio_session_params;
LINNET_CALL linnet_status linnet_audio_session_need(const linnet_audio* audio, const linnet_audio_session_params* params, linnet_need* out,
                                                    linnet_error* err);
LINNET_CALL linnet_status linnet_audio_session_init(linnet_audio_session** out, void* mem, size_t bytes, const linnet_audio* audio,
                                                    const linnet_audio_session_params* params, linnet_error* err);
LINNET_API void linnet_audio_session_fini(linnet_audio_session* session); /* joins the threads; NULL is fine */
/* Stops the running call of this session soon. Any thread or signal handler. */
LINNET_API void linnet_audio_cancel(linnet_audio_session* session);

/* ---- texts ------------------------------------------------------------------------------------------------------------------ */

typedef enum linnet_audio_task LINNET_OF_UINT32 {
  LINNET_AUDIO_DEFAULT = 0, /* as LINNET_AUDIO_TRANSCRIBE */
  LINNET_AUDIO_TRANSCRIBE = 1,
  LINNET_AUDIO_TRANSLATE = 2 /* to English; models with several languages alone */
} LINNET_32_BITS linnet_audio_task;

/* A word, or several, that is likelier than the model thinks: what was said of it so far is looked for at the end of the text. */
typedef struct linnet_hot_word {
  uint32_t size;
  float bias;       /* added to the logits of its tokens, 0.1 and more make a difference; -100..100 */
  const char* text; /* n_bytes of UTF-8, as it is written: a space goes before it */
  size_t n_bytes;   /* 1..255 */
} linnet_hot_word;

/* What is said of a field at 0 is the default. The checks and their numbers are those that Whisper was published with. */
typedef struct linnet_transcribe_params {
  uint32_t size;
  uint32_t task;             /* linnet_audio_task */
  char language[8];          /* code, "de"; "": found out by the first window; of a model of English alone nothing else than "en" */
  uint32_t n_beams;          /* 1 .. those of the session; default all of them */
  uint32_t timestamps;       /* linnet_switch (linnet_device.h); default on where the model has them: without, a window is one segment */
  uint32_t previous;         /* linnet_switch: windows see the text before them; default on where there are timestamps */
  uint32_t n_tokens;         /* most tokens of a window; default half of n_text */
  uint32_t n_temperatures;   /* of `temperatures`; default 6: 0, 0.2, .. 1: where a check fails the next one is tried, drawing at random */
  const float* temperatures; /* 0..2; of 0 the likeliest text is looked for */
  uint64_t seed;
  float compression_ratio; /* text that is packed better repeats itself, default 2.4; negative: not checked */
  float logprob;           /* of a token on average: less is no good, default -1; positive: not checked */
  float no_speech;         /* probability beyond which a window without a good text is silence, default 0.6; negative: not checked */
  uint32_t short_windows;  /* linnet_switch: the last window is as long as the sound and a second, not 30 s; default off. Whisper was not
                              trained for it; what it gains and loses stands in docs/audio.md */
  const char* prompt;      /* n_prompt bytes of text as if it had been said before, of which the last tokens that fit count */
  size_t n_prompt;         /* at most 4096 */
  const linnet_hot_word* hot_words;
  uint32_t n_hot_words; /* at most 256, of 1024 tokens in all */
  uint32_t reserved;    /* 0 */
} linnet_transcribe_params;

/* A word of a segment. */
typedef struct linnet_audio_word {
  uint32_t size;
  uint32_t from, n_bytes; /* of the segment's text */
  float confidence;       /* mean probability of its tokens, 0..1 */
} linnet_audio_word;

/* What was said in a piece of the sound. Borrowed during the call of linnet_segment_fn. */
typedef struct linnet_segment {
  uint32_t size, index;
  uint64_t first_sample, end_sample;
  const char* text; /* n_bytes of UTF-8, without spaces at its ends */
  size_t n_bytes;
  const linnet_audio_word* words; /* n_words; characters of languages without spaces are words in groups */
  uint32_t n_words;
  uint32_t n_tokens;
  const int32_t* tokens; /* with timestamps */
  float confidence;      /* mean probability of its tokens */
  /* Of the window that it is from: */
  float logprob, no_speech, compression_ratio, temperature;
  const char* language; /* "" where the model says none */
} linnet_segment;
/* Non-zero ends the call (LINNET_CANCELLED). */
typedef int (*linnet_segment_fn)(void* user, const linnet_segment* segment);

typedef struct linnet_transcribed {
  uint32_t size; /* set by the caller */
  uint32_t n_segments, n_windows;
  uint32_t n_failed; /* windows of whose texts none passed the checks: the last one counts */
  uint64_t n_tokens; /* drawn, of all tries and beams */
  char language[8];
} linnet_transcribed;

/* Text of n_samples, window by window, each beginning where the last whole segment before it ended; fn gets a segment as soon as it is
 * certain, on the caller's thread. out may be NULL. After an error segments that were passed stand. */
LINNET_CALL linnet_status linnet_transcribe(linnet_audio_session* session, const float* pcm, size_t n_samples,
                                            const linnet_transcribe_params* params, linnet_segment_fn fn, void* user,
                                            linnet_transcribed* out, linnet_error* err);

/* ---- its parts, for those who decode themselves --------------------------------------------------------------------------- */

/* Hears n_samples, followed by silence up to n_window samples (0: as many as the model hears at once, Whisper's 30 s, or Moonshine's
 * n_samples; less is faster, and Whisper was not trained for it). All texts of the session are empty afterwards. *states (may be NULL):
 * (n_states, d_model) of the encoder, borrowed until the next call. */
LINNET_CALL linnet_status linnet_audio_hear(linnet_audio_session* session, const float* pcm, size_t n_samples, size_t n_window,
                                            const float** states, size_t* n_states, linnet_error* err);
/* Appends n tokens to the session's first text; *logits: (n_vocab) of the last one's row, borrowed until the next call. LINNET_BAD_STATE:
 * nothing was heard. LINNET_CONTEXT_FULL: more than n_text tokens. */
LINNET_CALL linnet_status linnet_audio_read(linnet_audio_session* session, const int32_t* tokens, size_t n, const float** logits,
                                            linnet_error* err);

#ifdef __cplusplus
}
#endif

#endif
