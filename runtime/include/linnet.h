/* linnet.h: models, sessions, generating, state, in memory that the app gives. Beside it: linnet_sampling.h (how tokens are drawn; included
 * at the end), linnet_chat.h (chat formats, grammars), linnet_device.h (board, profile, power, measuring, CUDA), linnet_embed.h (texts as
 * vectors), linnet_lora.h (adapters), linnet_convert.h (published models in), linnet_audio.h (speech as text) and linnet_serve.h (prefix
 * cache; both experimental). What is not in these is not API.
 *
 *   linnet_view file;   linnet_file_map("model.gguf", LINNET_LOAD_MAP, &file, &err);
 *   linnet_need need = {.size = sizeof need};   linnet_model_need(&file, NULL, &need, &err);
 *   void* mem = linnet_mem_alloc(need.bytes);              (or any memory of the app's own)
 *   linnet_model* m;    linnet_model_init(&m, mem, need.bytes, &file, NULL, &err);
 *   ... the same two steps for a session, then linnet_prefill / linnet_generate ...
 *
 * - Objects: a model is immutable after init and may serve any number of sessions and threads. A session has the KV cache, buffers and
 *   samplers of one conversation or several (sequences); one thread at a time uses it; linnet_cancel may come from any or a signal.
 * - Memory: `*_need` gives the exact number of bytes, `*_init` places everything in the memory it is given, aligned to 64 bytes, and
 *   refuses one byte less. That memory, and the mapped file, must outlive the object and must not move. From init to fini no call
 *   allocates. (With LINNET_THREADS_OPENMP its runtime may allocate the first time a new application thread calls in.) fini frees
 *   nothing of the caller's; objects without one just end.
 * - Stack: linnet_model_need takes less than 64 KiB of stack, every other call of the core less than 192 KiB.
 * - Inside: a call on a session may call the app: linnet_token_fn, linnet_power_fn, linnet_parallel_fn. From inside one of them that
 *   session can be looked at by linnet_length, linnet_tokens, linnet_session_info, linnet_stats_get, linnet_sampling_get and
 *   linnet_session_memory (length and tokens are as before the call, but in linnet_generate, where they count what was passed on),
 *   linnet_stats_reset and linnet_cancel work, and from a linnet_token_fn linnet_threads_set. Every other call on it is
 *   LINNET_BAD_STATE, and linnet_session_fini does nothing. Other sessions may be used. Nothing may be thrown through linnet.
 * - Fork: after fork() every call of the child on a session of before is LINNET_BAD_STATE (its threads stayed behind), and its
 *   linnet_session_fini does nothing. A session that the child makes itself works, also on models, grammars and files of before. A GPU
 *   does not come along: a model with one gives the child no session (LINNET_BAD_STATE), and its linnet_model_fini does nothing.
 * - Errors: every fallible call returns a linnet_status; `err` (may be NULL) gets a sentence that names the file, field and value. A
 *   call that fails leaves its object as it was. The library never prints, exits, aborts or throws.
 * - Structs: most begin with `size`, which the app sets to sizeof of the struct as it was compiled. Of a struct that the app fills, 0 in
 *   a field means "not said": a default that stands there; every choice is another number (but for linnet_sampling, which has an init).
 *   Fields beyond `size` are not said. What lies within `size` beyond what the library knows must be 0: a newer app's wish is refused,
 *   not dropped. NULL for the whole struct: nothing is said. In an array all have the size of the first, which is the distance from one
 *   to the next. Of a struct that linnet fills, the fields that fit `size` are filled, and `size` becomes how much that is. Structs
 *   without `size` never change.
 * - Units: sizes in bytes end in _bytes, times in nanoseconds end in _ns, counts begin with n_. Text is UTF-8, lengths in bytes, never
 *   NUL-terminated unless said. Token ids are int32_t in [0, n_vocab).
 * - Exact: with integer weights or float ones (f32, f16, bf16) and a KV cache in any format, logits on the CPU are the same bytes for
 *   every instruction set, thread count, prefill chunk, split of a prompt into calls and whatever other sequences share a call. FP8
 *   weights keep this rule on one machine; tiers with bf16 instructions differ from the others. A GPU (linnet_cuda) gives the CPU's
 *   bytes with all weights but FP8, whose sums it splits; it draws the CPU's tokens from the same logits.
 * - Stable: what is not marked [experimental] keeps its names, numbers and layout: later versions add to it, and what has to go is
 *   deprecated for a minor version first. [experimental]: has never run on the hardware that it is for, or its form may still change. */
#ifndef LINNET_H
#define LINNET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses are not to be dropped: in C the function says so, in C++17 its type. An enum takes any number of its type, so that one that is
 * none of its names is refused and not undefined: C++ has to be told. It has 32 bits where a compiler makes others short, too. */
#define LINNET_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define LINNET_CALL LINNET_API
#define LINNET_CHECKED [[nodiscard]]
#define LINNET_OF_INT32 : int32_t
#define LINNET_OF_UINT32 : uint32_t
#define LINNET_32_BITS
#else
#define LINNET_CALL LINNET_API __attribute__((warn_unused_result))
#define LINNET_CHECKED
#ifdef __clang__
#define LINNET_OF_INT32 _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpedantic\"") : int32_t
#define LINNET_OF_UINT32 _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpedantic\"") : uint32_t
#define LINNET_32_BITS _Pragma("clang diagnostic pop")
#else
#define LINNET_OF_INT32
#define LINNET_OF_UINT32
#define LINNET_32_BITS __attribute__((mode(SI)))
#endif
#endif

enum { LINNET_VERSION_MAJOR = 0, LINNET_VERSION_MINOR = 2, LINNET_VERSION_PATCH = 0 };

/* ---- status, errors ------------------------------------------------------------------------------------------------ */

/* Numbers are never reused. 0 is success, errors are negative. */
typedef enum LINNET_CHECKED linnet_status LINNET_OF_INT32{
    LINNET_OK = 0,
    LINNET_BAD_ARG = -1,      /* an argument is NULL, out of range or contradicts another */
    LINNET_BAD_FILE = -2,     /* a file is malformed; err->text names field and value */
    LINNET_BAD_PROFILE = -3,  /* a profile field is unknown or out of range */
    LINNET_UNSUPPORTED = -4,  /* well-formed, but linnet has no such format, architecture, tokenizer or instruction set */
    LINNET_TOO_SMALL = -5,    /* memory or output buffer too small; err->text or the size output says how much is needed */
    LINNET_CONTEXT_FULL = -6, /* the tokens do not fit the session's context */
    LINNET_BAD_STATE = -7,    /* the call is not possible now, e.g. logits before any prefill */
    LINNET_IO = -8,           /* the operating system refused a file operation */
    LINNET_DEVICE = -9,       /* an accelerator is not there or its driver too old; or it failed: only fini is allowed afterwards */
    LINNET_CANCELLED = -10,   /* linnet_cancel stopped the call; the session is as before the call */
    LINNET_NOT_FINITE = -11,  /* an activation became infinite or NaN; the session is as before the call, but that the logits may be gone */
    LINNET_NO_MEMORY = -12 /* the system gave none; linnet_file_map, linnet_measure, linnet::convert, linnet::profile alone ask for some */
} LINNET_32_BITS linnet_status;

/* Caller-owned error text; filled by a failing call, untouched by a successful one. `text` is NUL-terminated. */
typedef struct linnet_error {
  int32_t code;  /* the linnet_status that was returned */
  uint32_t line; /* line in a text file, 1-based; 0 where there is none */
  char text[248];
} linnet_error;

LINNET_API uint32_t linnet_version(void);                        /* of the library that is linked: major << 16 | minor << 8 | patch */
LINNET_API const char* linnet_build_info(void);                  /* one line: version, compiler, what is built in. Static storage */
LINNET_API const char* linnet_status_text(linnet_status status); /* "LINNET_OK", "LINNET_BAD_ARG", ...; never NULL. Static storage */

/* ---- files and memory: helpers outside the core ------------------------------------------------------------------------- */

/* Bytes that somebody else owns. */
typedef struct linnet_view {
  const void* data;
  size_t bytes;
} linnet_view;

typedef enum linnet_load LINNET_OF_UINT32 {
  LINNET_LOAD_DEFAULT = 0, /* as LINNET_LOAD_MAP */
  LINNET_LOAD_MAP = 1,     /* map the file read-only: starts in milliseconds. If another process shrinks the file later, touching the lost
                              part is SIGBUS: use LINNET_LOAD_COPY for files that others may write */
  LINNET_LOAD_COPY = 2,    /* read the whole file into anonymous memory (huge pages where the system gives them) */
  LINNET_LOAD_PREWARM = 3, /* map, and read every page ahead: the first tokens do not wait for storage. The system may drop pages again */
  LINNET_LOAD_LOCK = 4     /* map, and lock every page in memory (mlock) until linnet_file_unmap. LINNET_TOO_SMALL where the limit of locked
                              memory (RLIMIT_MEMLOCK, `ulimit -l`) refuses: err->text holds the limit and what is needed */
} LINNET_32_BITS linnet_load;

/* How far a load or a conversion is; called on the caller's thread every few MiB and at the end. Non-zero cancels (LINNET_CANCELLED). */
typedef int (*linnet_progress_fn)(void* user, uint64_t done_bytes, uint64_t total_bytes);

/* Maps or copies a whole regular file; devices, FIFOs and sockets are refused. The caller owns *out and gives it back with
 * linnet_file_unmap. Any thread. LINNET_IO names the path and what the system said; LINNET_NO_MEMORY: none for a copy, or no room. */
LINNET_CALL linnet_status linnet_file_map(const char* path, linnet_load how, linnet_view* out, linnet_error* err);
/* The same with progress; fn may be NULL. After a cancel or an error nothing stays mapped, copied or locked, and *out is as it was. */
LINNET_CALL linnet_status linnet_file_load(const char* path, linnet_load how, linnet_progress_fn fn, void* user, linnet_view* out,
                                           linnet_error* err);
LINNET_API void linnet_file_unmap(linnet_view* view); /* sets *view to {NULL, 0}; an empty view is fine */
/* Writes a whole file, replaced at once or not at all, as by linnet_state_save_file. mode: of a new file, less the umask; 0 = 0666. */
LINNET_CALL linnet_status linnet_file_save(const char* path, const void* data, size_t bytes, uint32_t mode, linnet_error* err);

/* Zeroed memory aligned to 64 bytes or more, on huge pages where there are some; NULL if there is none. Any other serves as well. */
LINNET_API void* linnet_mem_alloc(size_t bytes);
LINNET_API void linnet_mem_free(void* mem, size_t bytes); /* the same `bytes` as at alloc; NULL is fine */

/* Memory that an object takes. */
typedef struct linnet_need {
  uint32_t size;       /* set by the caller */
  uint32_t align;      /* of the memory: 64 */
  size_t bytes;        /* exact */
  size_t device_bytes; /* exact: of the GPU, and pinned for it, that init asks the driver for and fini gives back; else 0 */
} linnet_need;

/* ---- number formats ------------------------------------------------------------------------------------------------------- */

/* Weights: all but kivi4 and kivi2. KV cache: f32 f16 bf16 i8 f8e4m3 f8e5m2 kivi4 kivi2. Values are stored in files. FP8 is the OCP
 * standard's ("OCP 8-bit Floating Point Specification", 2023): e4m3 has no infinities. Of the integer formats all bits are the same on
 * every CPU; FP8 keeps a stated bound. */
/* clang-format off */
typedef enum linnet_format LINNET_OF_UINT32 {
  LINNET_FORMAT_DEFAULT = 0, LINNET_F32 = 1, LINNET_F16 = 2, LINNET_BF16 = 3,
  LINNET_I8 = 4,     /* weights: one f32 scale per output; KV: K f16 scale per token and 32 channels, V f32 per token and head */
  LINNET_I8G128 = 5, LINNET_I8G64 = 6, /* one f32 scale per output and 128 or 64 inputs */
  LINNET_I8G32 = 7,  /* one f16 scale per output and 32 inputs: blocks of Q8_0 as they are */
  LINNET_F8E4M3 = 8, LINNET_F8E5M2 = 9, LINNET_F8E4M3G128 = 39, /* an f32 scale per output (g128: and 128 inputs); KV: per token and head */
  LINNET_I4G128 = 10,  /* codes -8..7, one f16 scale per output and 128 inputs */
  LINNET_I4G64 = 11, LINNET_I4G32 = 12, /* ... and 64 or 32 inputs; the latter has blocks of Q4_0 as they are */
  LINNET_I4G128Z = 13, LINNET_I4G64Z = 37, LINNET_I4G32Z = 38, /* codes 0..15 less a zero point, it and an f16 scale per output and group */
  LINNET_KIVI4 = 14, /* KV cache alone, K and V together (KIVI, Liu et al. 2024): a row sees in i8 itself and the 32 to 63 tokens before
                        it, and what lies before in 4 bits: K by ranges per channel of 32 tokens, V per token and 32 channels. Layers with
                        a window of their own stay in i8. With LINNET_FULL_STOP alone, not for latent attention. Up to 2 * (64 + the
                        larger of n_chunk and n_rollback) tokens of a sequence are in i8. KIVI2: in 2 bits */
  LINNET_KIVI2 = 15, LINNET_TQ2_F32 = 50, /* weights: BitNet's; blocks of GGUF files as they are; rows are whole blocks (32, 64, 256) */
  LINNET_Q4_K = 16, LINNET_Q5_K = 17, LINNET_Q6_K = 18, LINNET_Q4_1 = 19, LINNET_Q5_0 = 20, LINNET_Q5_1 = 21, LINNET_Q2_K = 22,
  LINNET_Q3_K = 23, LINNET_IQ4_NL = 24, LINNET_IQ4_XS = 25, LINNET_MXFP4 = 26, LINNET_NVFP4 = 27, LINNET_TQ1_0 = 28, LINNET_TQ2_0 = 29,
  LINNET_IQ2_XXS = 30, LINNET_IQ2_XS = 31, LINNET_IQ2_S = 32, LINNET_IQ3_XXS = 33, LINNET_IQ3_S = 34, LINNET_IQ1_S = 35, LINNET_IQ1_M = 36,
  LINNET_NF4 = 40, LINNET_FP4 = 41, LINNET_NF4_DQ = 42, LINNET_FP4_DQ = 43, /* bitsandbytes; HQQ, torchao: */ LINNET_HQQ4G32 = 44,
  LINNET_HQQ4G64 = 45, LINNET_HQQ4G128 = 46, LINNET_AO4G32 = 47, LINNET_AO4G64 = 48, LINNET_AO4G128 = 49 } LINNET_32_BITS linnet_format;
/* clang-format on */

/* "i8g128", NULL if there is no such format; and the reverse, LINNET_FORMAT_DEFAULT if unknown. */
LINNET_API const char* linnet_format_name(linnet_format format);
LINNET_API linnet_format linnet_format_from_name(const char* name);

/* ---- model ------------------------------------------------------------------------------------------------------------ */

typedef struct linnet_model linnet_model;     /* lives inside the caller's memory */
typedef struct linnet_profile linnet_profile; /* linnet_device.h: what the device is and may spend. NULL does everywhere */

/* What a model is. Strings live as long as the model. */
typedef struct linnet_model_desc {
  uint32_t size; /* set by the caller */
  uint32_t n_layers, d_model, n_heads;
  uint32_t n_kv_heads, head_dim; /* latent attention: one KV head, whose head_dim is the roped part and the latent */
  uint32_t d_ff, n_vocab;        /* n_vocab: logits per row */
  uint32_t n_context;            /* positions the model was trained for */
  uint32_t has_tokenizer;        /* 0: only token ids */
  int32_t bos_id, eos_id;        /* -1 = none */
  uint32_t isa;                  /* linnet_isa that serves this model */
  uint64_t n_params;             /* weights, padding not counted */
  uint64_t weight_bytes;         /* matrices with their scales as packed, vectors included */
  uint64_t decode_bytes;         /* weight bytes that one decoded token reads: every matrix but the embedding rows not asked for */
  uint64_t matrix_ops;           /* 2*n*k summed over the matrices of the layers: operations per prefilled token */
  uint64_t head_ops;             /* 2*n*k of the LM head: operations per row of logits */
  const char* architecture;      /* "llama", "qwen2", ... */
  const char* name;              /* general.name of the file, "" if absent */
  const char* weights;           /* format of most of the layers' weights, "i8g128" */
  /* Bits per weight as packed, scales included: 8.25 for i8g128. head_bits is embedding_bits where the two are one. */
  double embedding_bits, attention_bits, ffn_bits, head_bits;
  const char* device;        /* "CUDA" where a GPU computes, else NULL */
  uint64_t layer_embd_bytes; /* of weight_bytes: embeddings of layers, of which a token reads its own; a mapped file keeps the others */
} linnet_model_desc;

/* What linnet_model_init takes for this file, a packed GGUF as linnet_convert.h and `linnet convert` make them. LINNET_BAD_FILE and
 * LINNET_UNSUPPORTED name what is wrong. Any thread; reads only metadata. */
LINNET_CALL linnet_status linnet_model_need(const linnet_view* file, const linnet_profile* profile, linnet_need* out, linnet_error* err);
/* Makes a model inside mem[0, bytes). Weights stay in the file's bytes, which must outlive the model; metadata and tokenizer tables are
 * copied, then checked. With a GPU weights are copied to need.device_bytes of its memory, through 8 MiB of pinned memory that is given
 * back at the end, and pages of the file that are there are given back to the system (MADV_PAGEOUT). LINNET_TOO_SMALL if bytes < need. */
LINNET_CALL linnet_status linnet_model_init(linnet_model** out, void* mem, size_t bytes, const linnet_view* file,
                                            const linnet_profile* profile, linnet_error* err);
LINNET_CALL linnet_status linnet_model_info(const linnet_model* model, linnet_model_desc* out, linnet_error* err);
/* Ends the model's life; no session may use it any more. NULL is fine. */
LINNET_API void linnet_model_fini(linnet_model* model);

/* ---- tokenizer (reads the model only: any number of threads) ------------------------------------------------------------ */

/* With none of these text is text: nothing is put around it, and a special token that is written out in it is no token. */
enum {
  LINNET_ADD_SPECIAL = 1, /* tokenize: with the BOS (some tokenizers: and an end token) around the text. For the beginning of a sequence */
  LINNET_PARSE_SPECIAL = 2, /* tokenize: special tokens that are written out are tokens. Never for what users, tools or files say */
  LINNET_SKIP_SPECIAL = 4   /* detokenize: special tokens are left out, not written out */
};

/* Scratch bytes that linnet_tokenize takes for a text of `text_bytes`. LINNET_BAD_ARG: more than are taken at once (128 MiB). */
LINNET_CALL linnet_status linnet_tokenize_need(const linnet_model* model, size_t text_bytes, size_t* scratch_bytes, linnet_error* err);
/* Text to token ids. Writes at most `cap` ids to out; *n_tokens is always the full count, LINNET_TOO_SMALL if it passes cap (out may be
 * NULL with cap 0). Up to 3 * text_bytes + 8 ids, and more where a tokenizer's own rules lengthen a text further. Invalid UTF-8 is encoded
 * byte by byte where the tokenizer can, never rejected. LINNET_UNSUPPORTED: the text has what is no token, and the tokenizer has no unknown
 * token. Time is nearly linear in the text. scratch: any alignment. */
LINNET_CALL linnet_status linnet_tokenize(const linnet_model* model, const char* text, size_t text_bytes, uint32_t flags, void* scratch,
                                          size_t scratch_bytes, int32_t* out, size_t cap, size_t* n_tokens, linnet_error* err);
/* Token ids to text, as the tokenizer's own decoder does it: a SentencePiece text loses its leading space. *n_bytes is always the full
 * length; LINNET_TOO_SMALL if it passes cap. No terminating NUL. */
LINNET_CALL linnet_status linnet_detokenize(const linnet_model* model, const int32_t* tokens, size_t n_tokens, uint32_t flags, char* out,
                                            size_t cap, size_t* n_bytes, linnet_error* err);
/* The raw bytes of one token inside a running text; may be a part of a UTF-8 character. */
LINNET_CALL linnet_status linnet_token_text(const linnet_model* model, int32_t token, char* out, size_t cap, size_t* n_bytes,
                                            linnet_error* err);
enum {
  LINNET_TOKEN_EOG = 1,    /* ends a generation: EOS and its kin, of which a model may have several */
  LINNET_TOKEN_SPECIAL = 2 /* stands for no text of people: what LINNET_PARSE_SPECIAL finds and LINNET_SKIP_SPECIAL leaves out */
};
/* *kind: these bits of a token, 0 = text. */
LINNET_CALL linnet_status linnet_token_kind(const linnet_model* model, int32_t token, uint32_t* kind, linnet_error* err);

/* ---- session ------------------------------------------------------------------------------------------------------------ */

typedef struct linnet_session linnet_session; /* lives inside the caller's memory */

/* What happens when a sequence has n_context tokens. Models with learned positions or ALiBi only stop. */
typedef enum linnet_when_full LINNET_OF_UINT32 {
  LINNET_FULL_DEFAULT = 0, /* as LINNET_FULL_STOP */
  LINNET_FULL_STOP = 1,    /* LINNET_CONTEXT_FULL, LINNET_STOP_CONTEXT */
  /* the first n_keep tokens (default none) stay, and the last n_context - n_keep: a row sees these. Positions go on, so this ends at the
     model's own n_context */
  LINNET_FULL_DROP_OLDEST = 2,
  /* goes on without end in constant memory, up to 2^31 - 1 tokens: the last n_context - n_keep tokens, and the first n_keep (default 4, at
     most 16) as attention sinks, moved up to just before them (StreamingLLM, Xiao et al. 2023). n_context, the window then, is no more
     than the model was trained for. Layers with a smaller window of their own see that alone */
  LINNET_FULL_SINKS = 3,
  /* the last n_context - n_keep tokens stay, and of the others in every layer and KV head the n_keep (default half) that drew most
     attention (H2O, Zhang et al. 2023). Ends at the model's n_context. As the next one outside the rule of exact bytes over chunks */
  LINNET_FULL_HEAVY_HITTERS = 4,
  /* as LINNET_FULL_STOP, but the first linnet_prefill that brings two tokens or more and leaves more than n_keep + 47 compresses the
     sequence: in every layer and KV head n_keep tokens (default a quarter of n_context) stay, those that the last 32 looked at most, and
     the last 32 to 47 (SnapKV, Li et al. 2024). Pages go back to the pool, and decoding reads less */
  LINNET_FULL_SNAPKV = 5
} LINNET_32_BITS linnet_when_full;
enum { LINNET_KEEP_NONE = 2147483647 };        /* as n_keep, with LINNET_FULL_DROP_OLDEST: no token, whatever the profile says */
enum { LINNET_CHECKPOINTS_NONE = 2147483647 }; /* as n_checkpoints: none, and a rollback of more than n_rollback tokens is refused */

/* One thread's share of a call's work: number i of k. */
typedef void (*linnet_share_fn)(void* arg, uint32_t i, uint32_t k);
/* The app's threads in place of linnet's. Called on the thread that called linnet, while it prefills, decodes or generates, once or more
 * per token, with n = n_threads (never where that is 1). It calls share(arg, i, k) once for each i of 0 .. k - 1 on k threads and returns
 * when all have returned; what they wrote must be visible then, as after a join. The calling thread may be one of them. k is the app's
 * choice each time, 1 to n, and changes no result. Shares take up what there is to do as they come, so they may begin late, run one after
 * another (the first then does all), or be fewer than k: one is enough. Without a call of share the calling thread does all the work
 * alone. No i is run twice at the same time. Each thread needs 192 KiB of stack; its rounding mode is restored. `user` is the app's. What
 * the hook may do with the session: "Inside" above. */
typedef void (*linnet_parallel_fn)(void* user, uint32_t n, linnet_share_fn share, void* arg);

typedef struct linnet_kv_layers {
  uint32_t size;
  uint32_t first, last;        /* layers, inclusive */
  uint32_t k_format, v_format; /* linnet_format; 0: k as the session's, v as k */
} linnet_kv_layers;

/* A field at 0 takes what the profile of the model says, else the default that stands here. */
typedef struct linnet_session_params {
  uint32_t size;
  uint32_t n_context;   /* positions to hold, 1..2^24; default min(model's n_context, 4096) */
  uint32_t n_chunk;     /* rows computed at a time in prefill, 1..4096; default min(256, n_context); changes no result */
  uint32_t k_format;    /* linnet_format of K: f32 f16 bf16 i8 f8e4m3 f8e5m2 kivi4 kivi2; default i8 */
  uint32_t v_format;    /* ... of V; default as K: the profile's goes with its K alone. Latent attention caches one latent, V is as K */
  uint32_t n_kv_layers; /* entries of kv_layers, at most 1024; later ones count. K format, V format and window may come in 8 combinations,
                           KIVI counts twice */
  const linnet_kv_layers* kv_layers; /* layers with formats of their own; read only during the call */
  uint32_t n_threads;                /* threads that compute, the caller's included, 1..256; default 1 */
  uint32_t threads;                  /* linnet_threads */
  uint32_t wait;                     /* linnet_wait */
  uint32_t spin;                     /* most pauses before a waiting thread sleeps, 1..2^30; default 20000 */
  uint32_t n_logits;                 /* rows of logits kept by prefill, 1..n_chunk: the last n of a call; default 1. With more than one
                                        linnet_generate computes what a grammar forces at once (linnet_chat.h) */
  uint32_t n_sequences;              /* sequences of the session, 1..64; default 1 */
  uint32_t n_pool;     /* positions that layers without a window hold for all sequences together, n_context .. n_sequences * n_context (the
                          default). Forked sequences share what they have in common, so less may do; a call that finds none left is
                          LINNET_CONTEXT_FULL */
  uint32_t when_full;  /* linnet_when_full; LINNET_FULL_STOP alone in models with a state. Where tokens are dropped a call that goes past
                          n_context brings at most max(n_chunk, n_rollback)  tokens */
  uint32_t n_keep;     /* tokens that stay, see linnet_when_full; the profile's goes with its when_full alone */
  uint32_t n_rollback; /* tokens at the end that linnet_truncate can take back in models with windows, where layers drop what they no longer
                          see, in KIVI formats, and where when_full drops tokens (at most n_context - n_keep there); default n_chunk.
                          In models whose layers carry a state (short convolutions, gated delta nets) those that it takes back without
                          computing anything again; default 64: there each token takes room */
  uint32_t rope_length; /* tokens that sequences will have in all, where RoPE scaling looks at that (dynamic NTK, longrope): frequencies
                           are made for it once; default n_context */
  linnet_parallel_fn parallel_for; /* the app's threads; NULL = linnet's. Goes with threads 0 or LINNET_THREADS_APP; must work until fini */
  void* parallel_for_user;         /* its first argument */
  uint32_t n_checkpoints;          /* of each sequence, where layers carry a state (linnet_checkpoint), 1..4096; default 4 */
  uint32_t checkpoint_every;       /* tokens from one to the next, 1..2^24; default 1024 */
  uint32_t lora_rank; /* ranks of the adapters of one sequence together, each rounded up to 16, at most 2048 (linnet_lora.h); 0: none */
  uint32_t reserved;  /* 0 */
} linnet_session_params;

/* What linnet_session_init takes. Any thread. LINNET_TOO_SMALL, here and in the next two: more than the profile's memory cap leaves;
 * err->text has the numbers and names the longest n_context and the first smaller KV format that fit. */
LINNET_CALL linnet_status linnet_session_need(const linnet_model* model, const linnet_session_params* params, linnet_need* out,
                                              linnet_error* err);
/* Makes a session inside mem[0, bytes). The model must outlive it. Starts the threads. */
LINNET_CALL linnet_status linnet_session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model,
                                              const linnet_session_params* params, linnet_error* err);
/* Joins the threads; NULL is fine. Nothing happens inside a call and after a fork. */
LINNET_API void linnet_session_fini(linnet_session* session);

/* Tokens of the sequence. `seq`, here and below: 0 .. n_sequences - 1, all empty at first. */
LINNET_CALL linnet_status linnet_length(const linnet_session* session, uint32_t seq, size_t* n_tokens, linnet_error* err);
/* The tokens of the sequence from token `first` on, also after a fork or linnet_state_load. Writes at most `cap` to out; *n_tokens is
 * always how many there are, LINNET_TOO_SMALL if that passes cap. LINNET_BAD_STATE: when_full has dropped some; err->text says which. */
LINNET_CALL linnet_status linnet_tokens(const linnet_session* session, uint32_t seq, size_t first, int32_t* out, size_t cap,
                                        size_t* n_tokens, linnet_error* err);
/* Keeps the first `keep` tokens and drops the rest from the KV cache and the penalty history (rollback); 0 = empty, and gives all pages
 * back; all = nothing changes, else logits are gone until the next prefill or decode. The sampler's random state stays. LINNET_BAD_STATE
 * where layers with a window, in KIVI or with a state have dropped what a sequence of `keep` tokens sees: the last n_rollback tokens,
 * counted from the longest that the sequence has been, can always go. With states any number can (not with LINNET_CHECKPOINTS_NONE): what
 * stays behind the nearest checkpoint gives its pages back, and the next call that computes the sequence computes it again, to the same
 * bytes. A call that fails there leaves done what is done, so that the next one goes on from it. */
LINNET_CALL linnet_status linnet_truncate(linnet_session* session, uint32_t seq, size_t keep, linnet_error* err);
/* Makes sequence `to` the first `keep` tokens of sequence `from`, whatever it was before. Pages of the KV cache are shared until one of
 * the two appends to them, so this costs no time and, at first, no room. Sampling, its random state and the grammar come along, with all
 * tokens the logits too. LINNET_BAD_STATE, and what is computed again, as above. */
LINNET_CALL linnet_status linnet_fork(linnet_session* session, uint32_t from, uint32_t to, size_t keep, linnet_error* err);
/* Copies the states of the sequence's layers as they are behind the last token computed (after a rollback: up to 2 * n_rollback before it).
 * So does each prefill of two tokens or more at its end, and any call every checkpoint_every tokens. The oldest but the first makes room.
 * Nothing happens in models without states. LINNET_BAD_STATE: LINNET_CHECKPOINTS_NONE. */
LINNET_CALL linnet_status linnet_checkpoint(linnet_session* session, uint32_t seq, linnet_error* err);

/* Appends n >= 1 tokens and computes the logits of the last row (or rows, n_logits). All or nothing: on CONTEXT_FULL, CANCELLED or
 * NOT_FINITE the sequence is as before. Cancel is answered within one layer of one chunk. */
LINNET_CALL linnet_status linnet_prefill(linnet_session* session, uint32_t seq, const int32_t* tokens, size_t n, linnet_error* err);

/* Tokens for one of several sequences. */
typedef struct linnet_rows {
  uint32_t size, seq;
  size_t n_tokens; /* at least 1 */
  const int32_t* tokens;
} linnet_rows;

/* linnet_prefill for n_rows different sequences at once, with logits of the last row of each: weights are read once for all of them,
 * which is what makes several conversations cheap. All or nothing. A row's logits are the same bytes whoever shares the call. */
LINNET_CALL linnet_status linnet_prefill_batch(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, linnet_error* err);
/* Logits, float[n_vocab], of the row `back` rows before the last (0 = last; less than the rows computed by the last call and n_logits).
 * Borrowed until the next call on the session. LINNET_BAD_STATE if there are none. */
LINNET_CALL linnet_status linnet_logits(const linnet_session* session, uint32_t seq, uint32_t back, const float** logits, size_t* n_vocab,
                                        linnet_error* err);

/* ---- sampling: of each sequence its own; how is linnet_sampling.h's matter --------------------------------------------------- */

/* Draws a token from the logits of the last row into *token, appends it and computes the next logits. LINNET_BAD_STATE if there are no
 * logits, or no token that the sequence's grammar allows. An end-of-generation token may come and is appended too: the caller decides. */
LINNET_CALL linnet_status linnet_decode(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err);
/* Draws a token without appending it. */
LINNET_CALL linnet_status linnet_sample(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err);

/* ---- generating: text, until something stops it -------------------------------------------------------------------------------- */

typedef enum linnet_stop LINNET_OF_UINT32 {
  LINNET_STOP_NONE = 0,     /* not yet */
  LINNET_STOP_EOS = 1,      /* an end-of-generation token was drawn */
  LINNET_STOP_LENGTH = 2,   /* max_tokens reached */
  LINNET_STOP_CONTEXT = 3,  /* the context is full */
  LINNET_STOP_CALLBACK = 4, /* the callback returned non-zero */
  LINNET_STOP_CANCEL = 5,   /* linnet_cancel */
  LINNET_STOP_STRING = 6,   /* a stop string appeared */
  LINNET_STOP_GRAMMAR = 7,  /* the text is one of the grammar's and nothing may follow: no end-of-generation token is drawn */
  LINNET_STOP_BANNED = 8    /* no way was found around a banned string */
} LINNET_32_BITS linnet_stop;

typedef struct linnet_generate_params {
  uint32_t size;
  uint32_t max_tokens;     /* 1 and more; default: what is left of the context */
  uint32_t ignore_eos;     /* 1: go on after end-of-generation tokens */
  uint32_t n_stop;         /* stop strings, at most 16, each of 1..255 bytes */
  const char* const* stop; /* NUL-terminated; copied */
  /* Strings that never come (as ExLlamaV2's banned_strings; "antislop", Paech 2024), of bytes as they are, over borders of tokens too.
   * Where one appears, the tokens that it is in are taken back, the first of them is barred at its place, and drawing goes on with the
   * generator's next numbers. Text is held back from the beginning of a token that one may begin in, so that it is never taken back; where
   * it came already (what followed was another string's and is drawn anew), or windows or KIVI no longer hold what was before, the token
   * that would end the string is barred alone. Each time costs the tokens taken back and one row more, 256 times before the text comes
   * further; then, and where a grammar allows no other token, LINNET_STOP_BANNED ends it without that token. With a GPU the host draws. */
  const char* const* banned; /* n_banned of 1..255 bytes each, NUL-terminated; copied */
  uint32_t n_banned;         /* at most 16 */
  uint32_t reserved;         /* 0 */
} linnet_generate_params;

/* How a generation ended; or, from linnet_generate_next, how far it is. */
typedef struct linnet_generated {
  uint32_t size;          /* set by the caller */
  uint32_t why;           /* linnet_stop */
  int32_t token;          /* that was drawn last and is in the sequence; -1 = none (linnet_generate_next: none by this call) */
  int32_t eog;            /* the token of LINNET_STOP_EOS, else -1. It is not in the sequence: prefill it where the next message needs it */
  size_t n_tokens;        /* drawn since the beginning; all of them are in the sequence. Less than before: banned strings took back the
                             others, the last ones, and `token` is -1 */
  uint32_t stop_index;    /* LINNET_STOP_STRING, LINNET_STOP_BANNED: which string (of the latter 0 where a grammar allows no other token) */
  uint32_t n_stop_tokens; /* ... and how many tokens at the end of the sequence hold bytes of it: the string is in the sequence, and not
                             in the text. The first of them may also hold text before it, the last text behind it */
  const char*
      utf8; /* linnet_generate_next: text[0, n_bytes) that became certain, never NULL; borrowed until the next call on the session */
  size_t n_bytes;
} linnet_generated;

/* Called on the caller's thread for every token that linnet_generate draws. `utf8` holds the text that became certain: whole characters
 * only, held back while it may be part of a stop string; n_bytes may be 0. Non-zero stops the generation. Calls with token -1 bring text
 * alone: of a token with more than can be held back, and last what was still held back, also after non-zero or an error. Token -1 - n
 * says that the last n tokens passed were taken back, n >= 1 (banned strings), and brings no text. What it
 * may do with the session: "Inside" above. */
typedef int (*linnet_token_fn)(void* user, int32_t token, const char* utf8, size_t n_bytes);

/* Draws tokens until out->why. Needs logits (after prefill). Each drawn token but a final end-of-generation token is passed to `fn` (may
 * be NULL) and is in the sequence then, also after a cancel. The last one is computed when a later call needs it; linnet_logits gives the
 * row that it was drawn from. On an error out->why is LINNET_STOP_NONE and the sequence holds the tokens passed so far. */
LINNET_CALL linnet_status linnet_generate(linnet_session* session, uint32_t seq, const linnet_generate_params* params, linnet_token_fn fn,
                                          void* user, linnet_generated* out, linnet_error* err);
/* The same to be pulled: begin, then next until out->why is not LINNET_STOP_NONE. Each next draws one token, and has the text that became
 * certain; the last one has what was held back. Sequences may take turns. Any other call that changes the sequence ends its generation;
 * next is LINNET_BAD_STATE then, as it is before a begin and after the end. After an error next may be called again. */
LINNET_CALL linnet_status linnet_generate_begin(linnet_session* session, uint32_t seq, const linnet_generate_params* params,
                                                linnet_error* err);
LINNET_CALL linnet_status linnet_generate_next(linnet_session* session, uint32_t seq, linnet_generated* out, linnet_error* err);
/* Stops the running prefill, decode or generate of this session soon. Any thread or signal handler: one atomic store. A cancel that meets
 * no running call stops the next one. */
LINNET_API void linnet_cancel(linnet_session* session);

/* ---- state: a sequence as bytes, in memory or in a file --------------------------------------------------------------------- */

/* A saved sequence is its tokens, its pages of the KV cache as they are, its logits, its sampling and how many numbers were drawn. Where
 * it is loaded it goes on with the bytes that it would have had (as far as "Exact" above says so). Nothing is computed.
 *
 * It fits every session on the same model whose layers have the same K and V formats: n_context, n_chunk, n_sequences, n_pool, n_rollback,
 * n_logits, threads and instruction set may be others, as long as there is room. (Not what decides which tokens are dropped: when_full,
 * n_keep, n_context unless it is LINNET_FULL_STOP, n_rollback with LINNET_FULL_HEAVY_HITTERS.) Of more rows of logits than n_logits the
 * last ones are kept. What had been dropped stays dropped. The model is known by a hash of its spec and of each tensor's name, format,
 * shape and first and last 4 KiB; tokenizer and chat format do not count. Everything is checked, with a CRC-32C of each section, before
 * anything changes: that finds accidents, not forgery; a state made up by somebody can hold any tokens and numbers, but never makes linnet
 * touch memory that is not its own. States of another minor version of linnet may be refused. None of these calls allocates. */

/* Bytes that a save of the sequence takes now. */
LINNET_CALL linnet_status linnet_state_need(const linnet_session* session, uint32_t seq, size_t* n_bytes, linnet_error* err);
/* Writes the sequence to out[0, *n_bytes), any alignment. *n_bytes: the full size; LINNET_TOO_SMALL if that passes cap, also NULL and 0. */
LINNET_CALL linnet_status linnet_state_save(const linnet_session* session, uint32_t seq, void* out, size_t cap, size_t* n_bytes,
                                            linnet_error* err);
/* The sequence becomes the saved one, whatever it was; `data` is free afterwards. Its sampling becomes the state's, and goes on where
 * that was: linnet_sampling_set after the load where the app's own settings shall hold. LINNET_BAD_FILE: damaged, or no state.
 * LINNET_UNSUPPORTED: another version, model, adapters, KV format or when_full. LINNET_CONTEXT_FULL: longer than n_context, or the pool. */
LINNET_CALL linnet_status linnet_state_load(linnet_session* session, uint32_t seq, const void* data, size_t n_bytes, linnet_error* err);
/* The same bytes in a file, which is replaced at once or not at all: they are written to <path>.tmp, synced, renamed to `path`, and the
 * folder is synced, so a crash or a power cut at any moment leaves the old state or the new one under the name. <path>.tmp may stay
 * behind then; the next save removes it. Where `path` is a link, what it leads to is replaced, or made; a device, FIFO, socket or folder
 * is refused. The new file has no permission that the old one had not. Who saves to a path while another does waits for the other.
 * LINNET_IO names the path and what the system said. */
LINNET_CALL linnet_status linnet_state_save_file(const linnet_session* session, uint32_t seq, const char* path, linnet_error* err);
/* Maps the file for the time of the call. It must not be cut short meanwhile (SIGBUS); linnet_state_save_file never does that to one. */
LINNET_CALL linnet_status linnet_state_load_file(linnet_session* session, uint32_t seq, const char* path, linnet_error* err);
/* Tokens of a saved sequence, from its header alone: what n_context must be at least, with LINNET_FULL_STOP. Any thread. */
LINNET_CALL linnet_status linnet_state_length(const void* data, size_t n_bytes, size_t* n_tokens, linnet_error* err);

#ifdef __cplusplus
}
#endif

#include "linnet_sampling.h"
#endif
