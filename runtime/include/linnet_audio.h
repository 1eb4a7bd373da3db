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
