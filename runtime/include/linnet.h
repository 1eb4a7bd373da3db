/* linnet.h: the whole C ABI of linnet, and its manual. What is not in here is not API.
 *
 * linnet runs decoder-only language models inside memory that the app gives it.
 *
 *   linnet_view file;   linnet_file_map("model.gguf", LINNET_LOAD_MAP, &file, &err);
 *   linnet_need need;   linnet_model_need(file, NULL, &need, &err);
 *   void* mem = linnet_mem_alloc(need);              (or any memory of the app's own)
 *   linnet_model* m;    linnet_model_init(&m, mem, need.bytes, file, NULL, &err);
 *   ... the same two steps for a session, then linnet_prefill / linnet_generate ...
 *
 * Objects
 *   Model    immutable after init; may serve any number of sessions and threads.
 *   Session  KV cache, buffers and sampler of one conversation or several (sequences); used by one thread at a time.
 *            Only linnet_cancel may be called from any other thread or from a signal handler.
 *
 * Memory   `*_need` returns the exact number of bytes, `*_init` places everything in the memory it is given and refuses
 *            one byte less. That memory, and the mapped file, must outlive the object and must not move. From init
 *            to fini no call allocates. (With LINNET_THREADS_OPENMP its runtime may allocate the first time a new
 *            application thread calls in; LINNET_THREADS_OWN and LINNET_THREADS_APP never do.) fini frees nothing of the caller's.
 * Stack    linnet_model_need takes less than 64 KiB of stack, every other call of the core less than 192 KiB.
 * Inside   A call on a session may call the app: linnet_token_fn, linnet_power_fn, linnet_parallel_for. From inside one of them that
 *            session can be looked at by linnet_length, linnet_stats_get, linnet_sampling_get and linnet_session_memory (linnet_length is
 *            as before the call, but in linnet_generate, where it counts the tokens passed on), linnet_stats_reset and linnet_cancel work,
 *            and from a linnet_token_fn linnet_threads_set. Every other call on it is LINNET_BAD_STATE, and linnet_session_fini does
 *            nothing. Other sessions may be used. What linnet calls returns to it: nothing is thrown or jumped out of it.
 * Fork     After fork() the child has the memory of sessions, but not their threads: there every call on a session of before is
 *            LINNET_BAD_STATE, and linnet_session_fini does nothing. A session that the child makes itself works, also on models and with
 *            grammars and files of before. A GPU does not come along: on a model that was made with one the child's linnet_session_init is
 *            LINNET_BAD_STATE, and its linnet_model_fini does nothing.
 * Errors   every fallible call returns a linnet_status; `err` (may be NULL) gets a sentence that names the file, field and
 *            value. A call that fails leaves its object as it was. The library never prints, exits, aborts or throws.
 * Params   every params struct begins with `size` (= sizeof of it as the app was compiled); 0 in any other field means
 *            the default; fields beyond `size` read as 0. A NULL params pointer means all defaults.
 * Units    sizes in bytes end in _bytes, times in nanoseconds end in _ns, counts begin with n_. Text is UTF-8, lengths in
 *            bytes, never NUL-terminated unless said. Token ids are int32_t in [0, n_vocab).
 * Exact    with integer weights or float ones (f32, f16, bf16) and a KV cache in any format, logits on the CPU are the same bytes for
 *            every instruction set, thread count, prefill chunk, split of a prompt into calls and whatever other sequences share a call.
 *            FP8 weights keep this rule on one machine; tiers with bf16 instructions differ from the others. A GPU (linnet_cuda) gives the
 *            CPU's bytes with all weights but FP8, whose sums it splits (its kernels were held against that in an emulator, not on
 *            hardware yet); it draws the CPU's tokens from the same logits.
 */
#ifndef LINNET_H
#define LINNET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LINNET_API __attribute__((visibility("default")))
#else
#define LINNET_API
#endif

/* An enum takes any number of its type, so that one that is none of its names is refused and not undefined: C++ has to be told. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define LINNET_OF_INT32 : int32_t
#define LINNET_OF_UINT32 : uint32_t
#else
#define LINNET_OF_INT32
#define LINNET_OF_UINT32
#endif

#define LINNET_VERSION_MAJOR 0
#define LINNET_VERSION_MINOR 1
#define LINNET_VERSION_PATCH 0
/* major << 16 | minor << 8 | patch */
#define LINNET_VERSION (((uint32_t)LINNET_VERSION_MAJOR << 16) | ((uint32_t)LINNET_VERSION_MINOR << 8) | LINNET_VERSION_PATCH)

/* ---- status, errors ------------------------------------------------------------------------------------------------ */

/* Numbers are never reused. 0 is success, errors are negative. */
typedef enum linnet_status LINNET_OF_INT32 {
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
  LINNET_NO_MEMORY = -12 /* the system gave no memory: from linnet_file_map, linnet_measure, linnet::convert and linnet::profile, the only
                            ones that ask it for some */
} linnet_status;

/* Caller-owned error text; filled by a failing call, untouched by a successful one. `text` is NUL-terminated. */
typedef struct linnet_error {
  int32_t code;  /* the linnet_status that was returned */
  uint32_t line; /* line in a text file, 1-based; 0 where there is none */
  char text[248];
} linnet_error;

/* LINNET_VERSION of the library that is linked. */
LINNET_API uint32_t linnet_version(void);
/* One line: version, compiler, what is built in. Static storage. */
LINNET_API const char* linnet_build_info(void);
/* "LINNET_OK", "LINNET_BAD_ARG", ...; never NULL. Static storage. */
LINNET_API const char* linnet_status_text(linnet_status status);

/* ---- helpers outside the core: mapping files, allocating memory ------------------------------------------------------- */

/* Bytes that somebody else owns. */
typedef struct linnet_view {
  const void* data;
  size_t bytes;
} linnet_view;

typedef enum linnet_load LINNET_OF_UINT32 {
  LINNET_LOAD_MAP = 0,     /* map the file read-only: starts in milliseconds. If another process shrinks the file later, touching
                              the lost part is SIGBUS: use LINNET_LOAD_COPY for files that others may write. */
  LINNET_LOAD_COPY = 1,    /* read the whole file into anonymous memory (huge pages where the system gives them) */
  LINNET_LOAD_PREWARM = 2, /* map, and read every page ahead: the first tokens do not wait for storage. The system may drop pages again */
  LINNET_LOAD_LOCK = 3     /* map, and lock every page in memory (mlock) until linnet_file_unmap. LINNET_TOO_SMALL where the limit of locked
                              memory (RLIMIT_MEMLOCK, `ulimit -l`) refuses: err->text holds the limit and what is needed */
} linnet_load;

/* How far a load is, in bytes; called on the caller's thread every few MiB and at the end. Non-zero cancels (LINNET_CANCELLED). */
typedef int (*linnet_progress_fn)(void* user, uint64_t done_bytes, uint64_t total_bytes);

/* Maps or copies a whole regular file; devices, FIFOs and sockets are refused at once. On success the caller owns *out and gives it back
 * with linnet_file_unmap. Any thread. LINNET_IO names the path and what the system said; LINNET_NO_MEMORY: no memory for a copy, or no room
 * for a mapping. */
LINNET_API linnet_status linnet_file_map(const char* path, linnet_load how, linnet_view* out, linnet_error* err);
/* The same with progress; fn may be NULL. After a cancel or an error nothing stays mapped, copied or locked, and *out is as it was. */
LINNET_API linnet_status linnet_file_load(const char* path, linnet_load how, linnet_progress_fn fn, void* user, linnet_view* out,
                                          linnet_error* err);
LINNET_API void linnet_file_unmap(linnet_view* view); /* sets *view to {NULL, 0}; an empty view is fine */

/* Zeroed memory aligned to at least 64 bytes, on huge pages where the system gives them; NULL if there is none.
 * For objects made by the *_init calls; any other memory that is aligned to 64 bytes serves as well. */
LINNET_API void* linnet_mem_alloc(size_t bytes);
LINNET_API void linnet_mem_free(void* mem, size_t bytes); /* the same `bytes` as at alloc; NULL is fine */

/* ---- device profile -------------------------------------------------------------------------------------------------- */

/* Number formats. Weights: all but kivi4 and kivi2. KV cache: f32 f16 bf16 i8 f8e4m3 f8e5m2 kivi4 kivi2. Values are stored in files. FP8 is
 * the OCP standard's ("OCP 8-bit Floating Point Specification", 2023): e4m3 has no infinities. Of the integer formats all bits are the same
 * on every CPU; FP8 keeps a stated bound. */
typedef enum linnet_format LINNET_OF_UINT32 {
  LINNET_FORMAT_DEFAULT = 0,
  LINNET_F32 = 1,
  LINNET_F16 = 2,
  LINNET_BF16 = 3,
  LINNET_I8 = 4,     /* weights: one f32 scale per output; KV: K f16 scale per token and 32 channels, V f32 per token and head */
  LINNET_I8G128 = 5, /* one f32 scale per output and 128 inputs */
  LINNET_I8G64 = 6,  /* one f32 scale per output and 64 inputs */
  LINNET_I8G32 = 7,  /* one f16 scale per output and 32 inputs (Q8_0 imports exactly) */
  LINNET_F8E4M3 = 8, /* weights: one f32 scale per output; KV: one per token and head, here and in the next */
  LINNET_F8E5M2 = 9,
  LINNET_I4G128 = 10,  /* codes -8..7, one f16 scale per output and 128 inputs */
  LINNET_I4G64 = 11,   /* ... and 64 inputs */
  LINNET_I4G32 = 12,   /* ... and 32 inputs (Q4_0 imports exactly, embedding and LM head aside: they are I8G128 in 4-bit models) */
  LINNET_I4G128Z = 13, /* codes 0..15 less a zero point, one of both and one f16 scale per output and 128 inputs (GPTQ and AWQ in groups of
                          128 import exactly) */
  LINNET_KIVI4 = 14,   /* KV cache alone, after KIVI (Liu et al. 2024): tokens are kept in i8 and then, 32 at a time, in 4 bits. K: smallest
                          value and range per channel of the 32 tokens; V: per token and 32 channels. A row sees in i8 itself and the 32 to 63
                          tokens before it (up to the last multiple of 32, and 32 more), and what lies before in 4 bits. K and V of a layer go
                          together: kivi4 or kivi2, not one of them and another format. Layers with a window of the model's own stay in i8.
                          Nothing is calibrated. With LINNET_FULL_STOP alone, and not for latent attention. A sequence takes up to 2 * (64 +
                          the larger of n_chunk and n_rollback) tokens in i8 */
  LINNET_KIVI2 = 15    /* ... in 2 bits */
} linnet_format;

/* CPU instruction tiers, weakest first; each has what the weaker ones of its CPU have. */
typedef enum linnet_isa LINNET_OF_UINT32 {
  LINNET_ISA_AUTO = 0, /* the strongest tier that this CPU has */
  LINNET_ISA_SCALAR = 1,
  LINNET_ISA_AVX2 = 2,         /* AVX2 + FMA + F16C */
  LINNET_ISA_AVX_VNNI = 3,     /* + AVX-VNNI */
  LINNET_ISA_AVX512 = 4,       /* AVX-512 F/BW/VL/DQ */
  LINNET_ISA_AVX512_VNNI = 5,  /* + VNNI */
  LINNET_ISA_AVX512_BF16 = 6,  /* + VBMI and BF16 */
  LINNET_ISA_NEON = 7,         /* any 64-bit ARM */
  LINNET_ISA_NEON_DOTPROD = 8, /* + sdot: ARMv8.2 (Cortex-A55, A76, A78AE) and later */
  LINNET_ISA_NEON_I8MM = 9,    /* + smmla: ARMv8.6 and later */
  LINNET_ISA_ONEDNN = 10, /* AVX-512 with VNNI, and oneDNN where a thread multiplies 48 rows and more by 128 outputs and more of i8, i8g128
                             or i8g64. Only where it is asked for, in builds with LINNET_ONEDNN. The same bits; oneDNN allocates memory of
                             its own, in no plan, at every call */
  LINNET_ISA_NEON_BF16 = 11, /* + bfdot, for FP8: ARMv8.6 and later */
  LINNET_ISA_AMX = 12 /* AVX512_BF16 + AMX-INT8 (Xeons since 2023) where a thread multiplies 16 rows and more by 64 outputs and more of i8,
                         i8g128, i8g64, i4g128, i4g64 or i4g128z, and in attention. Wherever a tier is chosen (models, linnet_isa_pick,
                         linnet_measure) Linux is asked for its tiles, for the whole process and for good: stacks that sigaltstack is given
                         afterwards must have getauxval(AT_MINSIGSTKSZ) bytes, some 11 KB. Where Linux refuses, LINNET_ISA_AUTO takes
                         AVX512_BF16; `isa_mask` or `isa` avoids it. Like LINNET_ISA_ONEDNN it brings AVX512_VNNI along */
} linnet_isa;

typedef enum linnet_threads LINNET_OF_UINT32 {
  LINNET_THREADS_DEFAULT = 0, /* LINNET_THREADS_APP where parallel_for is set, else LINNET_THREADS_OWN */
  LINNET_THREADS_OPENMP = 1,  /* where it is built in. Of n threads that the system runs late a pass waits for the last at its end.
                                 LINNET_UNSUPPORTED in a child of fork() whose parent has used it, LINNET_IO where the system gives fewer
                                 threads: its runtimes hang or end the process there */
  /* pthreads made at session init, their stacks in the session's memory; they take no signals. A thread that calls in needs 192 KiB of
     stack, whatever computes. Beside other work a pass waits for no thread that the machine does not run, unless it was stopped within a
     piece of work; and where threads cost more than they bring, fewer compute, more again once that is faster (tried for some milliseconds,
     in a fiftieth of the time at most). Changes no result */
  LINNET_THREADS_OWN = 2,
  LINNET_THREADS_APP = 3 /* the app's: parallel_for of linnet_session_params */
} linnet_threads;

/* What happens when a sequence has n_context tokens. Models with learned positions or ALiBi only stop. */
typedef enum linnet_when_full LINNET_OF_UINT32 {
  LINNET_FULL_STOP = 0,        /* LINNET_CONTEXT_FULL, LINNET_STOP_CONTEXT */
  LINNET_FULL_DROP_OLDEST = 1, /* the first n_keep tokens stay, and the last n_context - n_keep: a row sees these. Positions go on, so this
                                  ends at the model's own n_context */
  /* goes on without end in constant memory, up to 2^31 - 1 tokens: the last n_context - n_keep tokens, and the first n_keep (default 4, at
     most 16) as attention sinks, moved up so that they stand just before them (StreamingLLM, Xiao et al. 2023). n_context is then the
     window: no more than the model was trained for. Layers with a smaller window of their own see that alone */
  LINNET_FULL_SINKS = 2,
  /* the last n_context - n_keep tokens stay, and of the others in every layer and KV head the n_keep (default half) that drew most
     attention (H2O, Zhang et al. 2023). Ends at the model's n_context. As the next one outside the rule of exact bytes over chunks */
  LINNET_FULL_HEAVY_HITTERS = 3,
  /* as LINNET_FULL_STOP, but the first call of linnet_prefill that brings two tokens or more and leaves more than n_keep + 47 compresses
     the sequence: in every layer and KV head n_keep tokens (default a quarter of n_context) stay, those that the last 32 looked at most,
     and the last 32 to 47 (SnapKV, Li et al. 2024). Pages are given back to the pool, and decoding reads less */
  LINNET_FULL_SNAPKV = 4
} linnet_when_full;

/* A set of CPUs, as the system numbers them: CPU i is bit i % 64 of word[i / 64]. */
enum { LINNET_MAX_CPUS = 256 };
typedef struct linnet_cpus {
  uint64_t word[LINNET_MAX_CPUS / 64];
} linnet_cpus;

/* Which CPUs compute, where a profile does not list them: linnet_profile_fit makes a list of it. */
typedef enum linnet_cores LINNET_OF_UINT32 {
  LINNET_CORES_ALL = 0,
  LINNET_CORES_BIG = 1,   /* the clusters at least half as strong as the strongest: all but the little ones of big.LITTLE */
  LINNET_CORES_LITTLE = 2 /* the weakest cluster */
} linnet_cores;

typedef enum linnet_wait LINNET_OF_UINT32 {
  LINNET_WAIT_DEFAULT = 0, /* as LINNET_WAIT_SPIN */
  LINNET_WAIT_SPIN = 1,    /* threads wait for each other with at most `spin` pauses, and no longer than 30 us or than they last computed
                              themselves; then they sleep */
  LINNET_WAIT_SLEEP = 2    /* they sleep at once: less power, and the only sane way under a CPU quota */
} linnet_wait;

typedef enum linnet_prefill_backend LINNET_OF_UINT32 {
  LINNET_PREFILL_DEFAULT = 0, /* as LINNET_PREFILL_NATIVE */
  LINNET_PREFILL_NATIVE = 1,
  LINNET_PREFILL_ONEDNN = 2,  /* LINNET_ISA_ONEDNN; LINNET_UNSUPPORTED in builds without it */
  LINNET_PREFILL_MEASURED = 3 /* the faster of the two, timed for half a second when a model is made; native in builds without oneDNN */
} linnet_prefill_backend;

typedef enum linnet_switch LINNET_OF_UINT32 { LINNET_SWITCH_DEFAULT = 0, LINNET_SWITCH_ON = 1, LINNET_SWITCH_OFF = 2 } linnet_switch;

/* Products of float weights with more than 8 rows, on a GPU. What they take beside is counted in linnet_session_need. 3 was a way for FP8
 * weights by which no GPU that linnet has kernels for gained. */
typedef enum linnet_gemm LINNET_OF_UINT32 {
  LINNET_GEMM_DEFAULT = 0, /* as LINNET_GEMM_EXACT */
  LINNET_GEMM_EXACT = 1,   /* the CPU's bits; FP8 weights: activations in bf16, sums in another order */
  LINNET_GEMM_FAST = 2     /* f16 and bf16 weights on tensor cores, to about f32's rounding. A prompt is then not quite what single tokens
                              would be. Experts and the latents' matrices of MLA stay exact */
} linnet_gemm;

/* Whether a GPU computes. What it cannot do is LINNET_UNSUPPORTED by name: KIVI formats, and sequences of which attention chooses what
 * stays (LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV). */
typedef enum linnet_cuda LINNET_OF_UINT32 {
  LINNET_CUDA_DEFAULT = 0, /* as LINNET_CUDA_OFF */
  LINNET_CUDA_ON = 1,      /* LINNET_UNSUPPORTED in builds without CUDA, LINNET_DEVICE where there is no device; err->text says why */
  LINNET_CUDA_OFF = 2,
  LINNET_CUDA_AUTO = 3 /* where the build has it and there is a device; else the CPU */
} linnet_cuda;

typedef enum linnet_battery LINNET_OF_UINT32 {
  LINNET_BATTERY_IGNORE = 0,
  LINNET_BATTERY_SAVE = 1 /* while the device runs on its battery the last step of the ladder holds */
} linnet_battery;

/* What the device is and what it may spend. Plain data: an app may fill it by hand, linnet_profile_read fills it from YAML. 0 in a field:
 * not said. Where a session's or a model's params leave a field at 0 too, the profile that its model was made with decides
 * (linnet_model_init copies it). */
typedef struct linnet_profile {
  uint32_t size;
  uint32_t isa;      /* linnet_isa; a tier that the CPU lacks is LINNET_UNSUPPORTED */
  uint32_t isa_mask; /* bit i allows tier i (1 << LINNET_ISA_AVX2, ...); 0 = all */

  /* Threads of sessions */
  uint32_t n_threads; /* that compute, the caller's included, 1..256 */
  uint32_t threads;   /* linnet_threads */
  uint32_t wait;      /* linnet_wait */
  uint32_t spin;      /* most pauses before a waiting thread sleeps; 1..2^30 */
  uint32_t cores;     /* linnet_cores, where `cpus` is empty; only linnet_profile_fit looks at it */
  linnet_cpus cpus;   /* the session's threads are bound to these, the caller's for the time of a call. Those that it may not use are left
                         out; LINNET_BAD_PROFILE if none is left. Empty = nothing is bound. Threads of OpenMP stay bound, and serve whoever
                         uses OpenMP from the same thread */

  /* Formats and sizes */
  uint32_t weights; /* linnet_format for models that are packed on the way in; the core library reads packed ones alone and does not look at
                       it */
  uint32_t k_format, v_format; /* linnet_format of the KV cache; v as k where it is 0 */
  uint32_t n_context;          /* positions of a session, 1..2^24; no more than the model was trained for is taken */
  uint32_t n_chunk;            /* rows computed at a time in prefill, 1..4096 */
  uint32_t when_full;          /* linnet_when_full */
  uint32_t n_keep;             /* tokens at the beginning that stay, see linnet_when_full */
  uint32_t huge_pages; /* linnet_switch: ON and OFF tell the system so for the memory of models and sessions (madvise); default: as it is */
  uint64_t memory_bytes; /* cap on weights, model and one session together, mapped weights too; what needs more is LINNET_TOO_SMALL, with
                            what would fit */
  uint32_t prefill;      /* linnet_prefill_backend, where isa is LINNET_ISA_AUTO */

  /* Power */
  /* nice value of the session's own threads, -20..19 (negative ones take a privilege); the caller's thread keeps its own */
  int32_t priority;
  uint32_t n_free_cores;   /* cores left to the rest of the device, the user interface above all, where linnet_profile_fit counts threads */
  uint32_t battery;        /* linnet_battery */
  float temperature_limit; /* degrees Celsius that the governor holds */
  float tokens_per_s;      /* rate that the governor holds: faster is of no use, voice for one */
  uint32_t steps[8];       /* ladder of thread counts that it steps down, most first; 0 ends it */

  /* What was measured, at most; for plans and predictions alone */
  double read_gb_s;  /* plain read of memory, 10^9 bytes per second */
  double int8_tops;  /* multiplies and adds, 10^12 per second: of int8 */
  double f8_tops;    /* ... of FP8 weights */
  double float_tops; /* ... of f32, f16 and bf16 weights */

  /* CUDA */
  uint32_t cuda_sms;         /* streaming multiprocessors; 0: as the driver says */
  uint32_t cuda_graph;       /* linnet_switch: decode as one graph; default on */
  uint64_t cuda_block_bytes; /* largest allocation of device memory, at least 64 KiB; default 256 MiB */
  uint32_t cuda;             /* linnet_cuda: whether models go to the GPU */
  uint32_t cuda_zero_copy; /* linnet_switch: matrices are read where the file's view is, which stays until linnet_model_fini and whose pages
                              are locked; default off. LINNET_UNSUPPORTED on GPUs with memory of their own, and where the driver refuses */
  uint32_t cuda_gemm;      /* linnet_gemm; default exact */

  char name[64]; /* NUL-terminated; "" = none */
} linnet_profile;

/* ---- the board -------------------------------------------------------------------------------------------------------- */

typedef enum linnet_arch LINNET_OF_UINT32 {
  LINNET_ARCH_UNKNOWN = 0,
  LINNET_ARCH_X86_64 = 1,
  LINNET_ARCH_AARCH64 = 2,
  LINNET_ARCH_ARM = 3 /* 32-bit ARM, or a 32-bit system on a 64-bit one */
} linnet_arch;

/* CPUs of one kind. */
typedef struct linnet_cluster {
  linnet_cpus cpus;              /* online */
  uint32_t strength;             /* what a core does beside another of this board: its capacity, else clock times work per cycle, roughly */
  uint32_t capacity;             /* as the kernel says it, 1..1024; 0 where it does not */
  uint32_t max_mhz;              /* 0: not known */
  uint32_t implementer, part_id; /* ARM's numbers; 0 elsewhere */
  char part[24];                 /* "cortex-a76", as GCC's -mcpu; "" where it is not known */
} linnet_cluster;

typedef struct linnet_cache {
  uint32_t level;
  char type[12]; /* "Data", "Instruction", "Unified" */
  uint64_t bytes;
  linnet_cpus cpus; /* that share it */
} linnet_cache;

typedef struct linnet_zone {
  char type[24];        /* "cpu-thermal" */
  int32_t millidegrees; /* Celsius, when it was read */
} linnet_zone;

/* What the machine is, and what this process may use of it. Texts are NUL-terminated, "" = not known. */
typedef struct linnet_board {
  uint32_t size;            /* set by the caller */
  uint32_t arch;            /* linnet_arch */
  uint32_t isa_mask;        /* bit i: every CPU has what tier i of this build asks for; with a root: of any build, after /proc/cpuinfo */
  uint32_t android;         /* 1: Android */
  linnet_cpus cpus;         /* online ones that this process may use (affinity mask) */
  linnet_cpus primary;      /* of these one per core */
  uint32_t n_cpus, n_cores; /* CPUs in `cpus`, cores among them */
  uint32_t n_threads; /* that should compute where nobody says otherwise: the cores of LINNET_CORES_BIG, and no more than the quota gives
                         whole CPUs (1.5 CPUs are 1 thread) */
  uint32_t n_clusters;
  linnet_cluster clusters[8]; /* of all CPUs online, strongest first */
  uint32_t n_caches;
  linnet_cache caches[8]; /* of the first CPU of the strongest cluster */
  uint32_t n_zones;
  linnet_zone zones[16];                  /* thermal zones that answer */
  double cpu_quota;                       /* CPUs' worth of time that the control groups grant; 0 = no limit */
  uint64_t memory_bytes, available_bytes; /* of the machine */
  uint64_t memory_limit_bytes;            /* of the control groups; 0 = none below memory_bytes */
  uint64_t swap_bytes, swap_used_bytes;
  char model[96];       /* of the board: "Raspberry Pi 5 Model B Rev 1.0" */
  char compatible[160]; /* of its device tree, spaces between: "raspberrypi,5-model-b brcm,bcm2712" */
  char cpu[96];         /* "AMD EPYC 9R14", or the part of the strongest cluster */
} linnet_board;

/* Reads what the board is from /proc and /sys, and its instruction tiers from CPUID or HWCAP. root (NULL or "" = none): a folder that holds
 * copies of those files, whose board is described instead. Any thread; allocates nothing; some ms. Files that are not there, or are no
 * regular ones, leave their fields 0. LINNET_IO where nothing tells of a CPU. */
LINNET_API linnet_status linnet_board_detect(const char* root, linnet_board* out, linnet_error* err);
/* An NVIDIA GPU, as its driver describes it. The caller sets `size`. 0 in a field: the driver does not say. */
typedef struct linnet_cuda_device {
  uint32_t size;
  uint32_t compute;           /* 87 = compute capability 8.7 */
  uint32_t n_sms;             /* streaming multiprocessors */
  uint32_t driver;            /* newest CUDA that the driver serves: 12060 = 12.6 */
  uint32_t compiled_for;      /* linnet's kernels that it runs: 80 = those for compute capability 8.0 */
  uint32_t compiles_at_start; /* 1: there are none for it; the driver compiles them from PTX when a model is made, which takes seconds
                                 unless its cache has them */
  uint32_t integrated;        /* 1: CPUs and GPU share one memory, as on Jetson */
  uint32_t clock_mhz, memory_clock_mhz, memory_bits, l2_bytes;
  uint64_t memory_bytes;
  char name[96];
} linnet_cuda_device;
/* The first GPU. LINNET_UNSUPPORTED: this linnet is built without CUDA, or has no kernels for a GPU that old. LINNET_DEVICE: there is no
 * GPU, or its driver is missing, too old or fails; err->text says which. The first call loads libcuda.so.1 where it is, which takes memory
 * and threads of its own (with LINNET_CUDA builds need no CUDA to link or to run). Any thread. */
LINNET_API linnet_status linnet_cuda_detect(linnet_cuda_device* out, linnet_error* err);
/* "0-3,6" into a set of CPUs. LINNET_BAD_ARG names a text that is none; CPUs past LINNET_MAX_CPUS are left out. */
LINNET_API linnet_status linnet_cpus_parse(const char* list, linnet_cpus* out, linnet_error* err);
/* Makes of what the profile wishes what the board gives: `cpus` becomes the CPUs of it (or of `cores`) that this process may use, n_threads
 * at most as many and at most what the quota gives; where n_threads is 0 a thread per core, n_free_cores aside. The rest stays.
 * LINNET_BAD_PROFILE: none of `cpus` may be used. */
LINNET_API linnet_status linnet_profile_fit(linnet_profile* profile, const linnet_board* board, linnet_error* err);

/* ---- profiles from files: liblinnet_profile (linnet::profile), which needs libyaml and a heap; the core library holds none of it
 * ----------- */

/* How a profile's rules (`match:`) and a board agree. All of the rules must hold; each that does gives points, and of the profiles that
 * match the one with most points is picked (of equals the first by file name): arch 1, isa 2 to 11 (the stronger tier the more), cores 16,
 * clusters 16, memory 32, android 64, part 256, cpu 512, model 1024: so a profile that names the board beats all that name a kind of core,
 * and those beat the generic ones. */
typedef struct linnet_match {
  uint32_t size;    /* set by the caller */
  uint32_t matches; /* 1: every rule holds. A profile without rules matches nothing: it is taken by name */
  uint32_t points;
  char why[244]; /* which rules hold, or the first that does not and what the board has instead; NUL-terminated */
} linnet_match;

/* Reads a profile from YAML text: at most 64 KiB of keys of configs/README.md, each at most once, and nothing else. `name` is what errors
 * call it. board may be NULL; match, which may be NULL too, is filled only with a board. Here and in the next two a failed allocation is
 * LINNET_NO_MEMORY. LINNET_BAD_PROFILE: err->text begins with "name:line:column: " and says what was expected, err->line is the line. Any
 * thread. */
LINNET_API linnet_status linnet_profile_parse(linnet_view yaml, const char* name, const linnet_board* board, linnet_profile* out,
                                              linnet_match* match, linnet_error* err);
/* The same from a regular file. LINNET_IO: it cannot be read, or is a device, FIFO or socket. */
LINNET_API linnet_status linnet_profile_read(const char* path, const linnet_board* board, linnet_profile* out, linnet_match* match,
                                             linnet_error* err);
/* Picks the best match among the files *.yaml of a folder, and fits it to the board (linnet_profile_fit). Its path goes to path[0, cap),
 * NUL-terminated, if path is not NULL. LINNET_UNSUPPORTED: none matches. A file of the folder that is no profile fails the call. */
LINNET_API linnet_status linnet_profile_pick(const char* folder, const linnet_board* board, linnet_profile* out, char* path, size_t cap,
                                             linnet_match* match, linnet_error* err);

/* ---- tiers, measuring, formats ------------------------------------------------------------------------------------------ */

/* Name of a tier ("avx512") or NULL past the last one. */
LINNET_API const char* linnet_isa_name(linnet_isa isa);
/* The strongest tier that this build has and this CPU runs, after `profile` (may be NULL). LINNET_UNSUPPORTED where a forced
 * tier is not to be had. */
LINNET_API linnet_status linnet_isa_pick(const linnet_profile* profile, linnet_isa* out, linnet_error* err);
typedef struct linnet_measurement {
  uint32_t size;    /* set by the caller */
  uint32_t isa;     /* linnet_isa that was measured */
  double read_gb_s; /* best plain read of `data` by all threads, 10^9 bytes per second; 0 without data */
  double int8_tops; /* loop of the tier's int8 dot instruction in registers, of amx with what the sums of 128 inputs cost, all threads,
                       10^12 operations (2 per multiply-add) */
  /* Measured only where `size` reaches them: */
  double decode_gb_s;  /* `data` as i8g128 weights of one row, 10^9 bytes of weights per second; 0 without data */
  double prefill_tops; /* 64 rows by i8g128 weights that stay in a core's cache, 10^12 operations per second */
  double f8_tops;      /* register-only loop of what multiplies FP8 weights, 10^12 operations per second */
  double float_tops;   /* and of what multiplies f32, f16 and bf16 weights */
} linnet_measurement;

/* Measures this machine: the two limits that decode and prefill are held against, and what the tier's own products reach. Reads `data` (at
 * least 1 MiB for a sane figure; NULL = none) a few times, takes about 0.2 s plus the reads; makes and ends its own threads, so it may
 * allocate. The machine should be idle. Where the profile's `cuda` puts models on the GPU, the GPU is measured, by its own clock: read_gb_s
 * of device memory that it allocates for the call (64 MiB, more where the second-level cache is large; not `data`, though NULL still means
 * none), int8_tops and f8_tops of its tensor cores (FP8 weights are multiplied in bf16); isa is the CPU's all the same, the other fields
 * are 0. What it takes of the driver is given back, also when it fails (LINNET_DEVICE). */
LINNET_API linnet_status linnet_measure(const linnet_profile* profile, uint32_t n_threads, const void* data, size_t bytes,
                                        linnet_measurement* out, linnet_error* err);
/* Name of a format ("i8g128") or NULL if there is no such format; and the reverse, LINNET_FORMAT_DEFAULT if unknown. */
LINNET_API const char* linnet_format_name(linnet_format format);
LINNET_API linnet_format linnet_format_from_name(const char* name);

/* ---- model ------------------------------------------------------------------------------------------------------------ */

typedef struct linnet_model linnet_model; /* lives inside the caller's memory */

typedef struct linnet_need {
  size_t bytes;        /* exact */
  size_t align;        /* alignment of the memory: 64 */
  size_t device_bytes; /* exact: memory of the GPU, and memory pinned for it, that init asks the driver for and fini gives back; 0 on the
                          CPU */
} linnet_need;

/* What a model is. Strings live as long as the model. */
typedef struct linnet_model_desc {
  uint32_t size; /* set by the caller */
  uint32_t n_layers, d_model, n_heads, n_kv_heads, head_dim,
      d_ff;                 /* latent attention: one KV head, whose head_dim is the roped part and the latent */
  uint32_t n_vocab;         /* logits per row */
  uint32_t n_context;       /* positions the model was trained for */
  uint32_t has_tokenizer;   /* 0: only token ids */
  int32_t bos_id, eos_id;   /* -1 = none */
  uint32_t isa;             /* linnet_isa that serves this model */
  uint64_t n_params;        /* weights, padding not counted */
  uint64_t weight_bytes;    /* matrices with their scales as packed, vectors included */
  uint64_t decode_bytes;    /* weight bytes that one decoded token reads: every matrix but the embedding rows not asked for */
  uint64_t matrix_ops;      /* 2*n*k summed over the matrices of the layers: operations per prefilled token */
  uint64_t head_ops;        /* 2*n*k of the LM head: operations per row of logits */
  const char* architecture; /* "llama", "qwen2", ... */
  const char* name;         /* general.name of the file, "" if absent */
  const char* weights;      /* format of most of the layers' weights, "i8g128" */
  /* Bits per weight as packed, scales included: 8.25 for i8g128. head_bits is embedding_bits where the two are one. */
  double embedding_bits, attention_bits, ffn_bits, head_bits;
  const char* device; /* "CUDA" where a GPU computes, else NULL */
} linnet_model_desc;

/* Bytes that linnet_model_init takes for this file. `file` is a packed GGUF (made by `linnet convert`). profile may be NULL.
 * LINNET_BAD_FILE / LINNET_UNSUPPORTED name what is wrong. Any thread; reads only metadata. */
LINNET_API linnet_status linnet_model_need(linnet_view file, const linnet_profile* profile, linnet_need* out, linnet_error* err);
/* Makes a model inside mem[0, bytes). Weights stay in `file`, which must outlive the model; metadata and tokenizer tables are
 * copied, then checked. With a GPU weights are copied to need.device_bytes of its memory, through 8 MiB of pinned memory that is given back
 * at the end, and pages of `file` that are there are given back to the system (MADV_PAGEOUT). LINNET_TOO_SMALL if bytes < need; mem aligned
 * to 64. */
LINNET_API linnet_status linnet_model_init(linnet_model** out, void* mem, size_t bytes, linnet_view file, const linnet_profile* profile,
                                           linnet_error* err);
/* Fills the fields of *out that fit out->size. */
LINNET_API linnet_status linnet_model_info(const linnet_model* model, linnet_model_desc* out);
/* Ends the model's life; no session may use it any more. NULL is fine. */
LINNET_API void linnet_model_fini(linnet_model* model);

/* ---- tokenizer (reads the model only: any number of threads) ------------------------------------------------------------ */

enum {
  LINNET_NO_ADD_SPECIAL = 1,  /* do not add BOS/EOS */
  LINNET_NO_PARSE_SPECIAL = 2 /* special tokens written out in the text are plain text: use it for what users type */
};

/* Scratch bytes that linnet_tokenize takes for a text of `text_bytes`. */
LINNET_API linnet_status linnet_tokenize_need(const linnet_model* model, size_t text_bytes, size_t* scratch_bytes);
/* Text to token ids. Writes at most `cap` ids to out; *n_tokens is always the full count, LINNET_TOO_SMALL if it passes cap (out may
 * be NULL with cap 0). Up to 3 * text_bytes + 8 ids, and more where a tokenizer's own rules lengthen a text further. Invalid UTF-8 is
 * encoded byte by byte where the tokenizer can, never rejected. Time is linear in the text (up to a logarithm within one word). scratch:
 * any alignment. */
LINNET_API linnet_status linnet_tokenize(const linnet_model* model, const char* text, size_t text_bytes, uint32_t flags, void* scratch,
                                         size_t scratch_bytes, int32_t* out, size_t cap, size_t* n_tokens, linnet_error* err);
/* Token ids to text (special tokens written out), as the tokenizer's own decoder does: a SentencePiece text loses its leading space.
 * *n_bytes is always the full length; LINNET_TOO_SMALL if it passes cap. No terminating NUL. */
LINNET_API linnet_status linnet_detokenize(const linnet_model* model, const int32_t* tokens, size_t n_tokens, char* out, size_t cap,
                                           size_t* n_bytes, linnet_error* err);
/* The raw bytes of one token inside a running text; may be a part of a UTF-8 character. */
LINNET_API linnet_status linnet_token_text(const linnet_model* model, int32_t token, char* out, size_t cap, size_t* n_bytes);

/* ---- chat --------------------------------------------------------------------------------------------------------------- */

typedef enum linnet_role LINNET_OF_UINT32 {
  LINNET_ROLE_SYSTEM = 0,
  LINNET_ROLE_USER = 1,
  LINNET_ROLE_ASSISTANT = 2,
  LINNET_ROLE_TOOL = 3,
  LINNET_ROLE_COUNT /* of roles; none itself */
} linnet_role;

/* Name of a role ("user") or NULL if there is no such role. */
LINNET_API const char* linnet_role_name(linnet_role role);
/* What the model was trained to see around a message of this role: a conversation is prefix + text + suffix of each message, an answer is
 * generated behind the assistant's prefix until an end-of-generation token (a suffix that begins with a special token makes it one; give
 * any other suffix as a stop string). Tokenize "" once with flags 0 for a BOS in front, then every prefix and suffix by itself with
 * LINNET_NO_ADD_SPECIAL and the text of others with LINNET_NO_PARSE_SPECIAL as well: the tokens that stand in prefixes and suffixes count
 * as special, so that no message can hold them. The strings live as long as the model; either may be "" but not both. LINNET_UNSUPPORTED:
 * the file has no format for this role (keys linnet.chat.<role>.prefix and .suffix), or only a Jinja template. */
LINNET_API linnet_status linnet_chat_format(const linnet_model* model, linnet_role role, const char** prefix, const char** suffix,
                                            linnet_error* err);

/* ---- session ------------------------------------------------------------------------------------------------------------ */

typedef struct linnet_session linnet_session; /* lives inside the caller's memory */

/* One thread's share of a call's work: number i of k. */
typedef void (*linnet_share_fn)(void* arg, uint32_t i, uint32_t k);
/* The app's threads in place of linnet's. Called on the thread that called linnet, while it prefills, decodes or generates, once or more
 * per token, with n = n_threads (never where that is 1). It calls share(arg, i, k) once for each i of 0 .. k - 1 on k threads and returns
 * when all have returned; what they wrote must be visible then, as after a join. The calling thread may be one of them. k is the app's
 * choice each time, 1 to n, and changes no result. Shares take up what there is to do as they come, so they may begin late, run one after
 * another (the first then does all), or be fewer than k: one is enough. Without a call of share the calling thread does all the work alone.
 * No i is run twice at the same time. Each thread needs 192 KiB of stack; its rounding mode is restored. `user` is the app's. What the hook
 * may do with the session: "Inside" above. */
typedef void (*linnet_parallel_for)(void* user, uint32_t n, linnet_share_fn share, void* arg);

/* KV formats of layers first..last. */
typedef struct linnet_kv_layers {
  uint32_t first, last;        /* inclusive */
  uint32_t k_format, v_format; /* linnet_format; 0: k as the session's, v as k */
} linnet_kv_layers;

/* A field at 0 takes what the profile of the model says (linnet_profile), else the default that stands here. */
typedef struct linnet_session_params {
  uint32_t size;
  uint32_t n_context; /* positions to hold, 1..2^24; default min(model's n_context, 4096) */
  uint32_t n_chunk;   /* rows computed at a time in prefill, 1..4096; default min(256, n_context); changes no result */
  uint32_t kv_format; /* linnet_format of K: f32 f16 bf16 i8 f8e4m3 f8e5m2 kivi4 kivi2; default i8 */
  uint32_t n_threads; /* threads that compute, the caller's included, 1..256; default 1 */
  uint32_t threads;   /* linnet_threads */
  uint32_t spin;      /* most pauses before a waiting thread sleeps (linnet_wait); default 20000; 1 = sleep at once */
  uint32_t n_logits;  /* rows of logits kept by prefill, 1..n_chunk: the last n of a call; default 1 */
  /* linnet_format of V; default as K. Models with latent attention cache one latent that is both: V as K, in every layer */
  uint32_t v_format;
  uint32_t n_kv_layers; /* entries of kv_layers, at most 1024; later ones count. K format, V format and window may come in 8 combinations,
                           KIVI counts twice */
  const linnet_kv_layers* kv_layers; /* layers with formats of their own; read only during the call */
  uint32_t n_sequences;              /* sequences of the session, 1..64; default 1 */
  /* positions that layers without a window hold for all sequences together, n_context .. n_sequences * n_context (the default). Forked
   * sequences share what they have in common, so less may do; a call that finds none left is LINNET_CONTEXT_FULL */
  uint32_t n_pool;
  uint32_t when_full;  /* linnet_when_full; where tokens are dropped a call that goes past n_context brings at most max(n_chunk, n_rollback)
                          tokens */
  uint32_t n_keep;     /* tokens at the beginning that stay, see linnet_when_full */
  uint32_t n_rollback; /* tokens at the end that linnet_truncate can take back in models with windows, where layers drop what they no longer
                          see, in KIVI formats, and where when_full drops tokens (at most n_context - n_keep there); default n_chunk */
  uint32_t rope_length; /* tokens that sequences will have in all, where RoPE scaling looks at that (dynamic NTK, longrope): frequencies are
                           made for it once; default n_context */
  linnet_parallel_for
      parallel_for;        /* the app's threads; NULL = linnet's. Goes with threads 0 or LINNET_THREADS_APP; must work until fini */
  void* parallel_for_user; /* its first argument */
} linnet_session_params;

/* How the next token is drawn. Order: penalties, top-k, temperature, top-p, min-p. */
typedef struct linnet_sampling {
  uint32_t size;
  float temperature; /* 0 = greedy (largest logit after penalties, ties to the lowest id); 0..100 */
  uint32_t top_k;    /* keep the k largest; 0 = all */
  float top_p; /* keep the smallest set whose probability reaches p; 1 = all, and 0, the default, too: where the smallest set of all is
                  meant, the likeliest token, give temperature 0 or a p such as 1e-30 (Holtzman et al. 2019, nucleus sampling) */
  float min_p; /* keep tokens of at least min_p times the largest probability; 0 = all (Nguyen et al. 2024) */
  float repeat_penalty;    /* logits of seen tokens: divided by it if > 0, else multiplied; 1 = off, and 0, the default, too (Keskar et al.
                              2019, CTRL) */
  float presence_penalty;  /* subtracted once from the logit of a seen token */
  float frequency_penalty; /* subtracted per occurrence */
  uint32_t penalty_last_n; /* tokens looked back for the three penalties, prompt included; default 64, at most 1024 */
  uint64_t seed;           /* the same seed gives the same text on every machine, see linnet_sampling_set */
} linnet_sampling;

typedef enum linnet_stop LINNET_OF_UINT32 {
  LINNET_STOP_NONE = 0,
  LINNET_STOP_EOS = 1,      /* an end-of-generation token was drawn (it is not passed on) */
  LINNET_STOP_LENGTH = 2,   /* max_tokens reached */
  LINNET_STOP_CONTEXT = 3,  /* the context is full */
  LINNET_STOP_CALLBACK = 4, /* the callback returned non-zero */
  LINNET_STOP_CANCEL = 5,   /* linnet_cancel */
  LINNET_STOP_STRING = 6,   /* a stop string appeared (it is not passed on) */
  /* the text is one of the grammar's and nothing may follow: the tokens are all passed on, no end-of-generation token is drawn */
  LINNET_STOP_GRAMMAR = 7
} linnet_stop;

typedef struct linnet_stats {
  uint32_t size;           /* set by the caller */
  uint32_t n_threads;      /* that may compute; beside other work fewer may do so, see LINNET_THREADS_OWN */
  uint64_t prefill_tokens; /* since init or linnet_stats_reset */
  uint64_t prefill_ns;
  uint64_t decode_tokens; /* rows computed by linnet_decode and linnet_generate */
  uint64_t decode_ns;
  uint64_t first_token_ns; /* TTFT: start of the last prefill after an idle session to its first sampled token */
  uint64_t last_token_ns;  /* time between the last two sampled tokens */
  uint64_t max_token_ns;   /* the longest of those */
  uint64_t decode_bytes;   /* bytes that the last decoded token read: packed matrices, scales, KV */
  uint64_t memory_bytes;   /* of the session */
} linnet_stats;

/* Called on the caller's thread for every token that linnet_generate draws. `utf8` holds the text that became certain: whole
 * characters only, held back while it may be part of a stop string; n_bytes may be 0. The last call of a generation may carry
 * token -1 with the text that was still held back. Non-zero stops the generation. What the callback may
 * do with the session: "Inside" above. One that forks and returns in the child stops the child's generation. */
typedef int (*linnet_token_fn)(void* user, int32_t token, const char* utf8, size_t n_bytes);

/* Bytes that linnet_session_init takes. Any thread. LINNET_TOO_SMALL, here and in the next two: more than the profile's memory cap leaves;
 * err->text has the numbers and names the longest n_context and the first smaller KV format that fit. */
LINNET_API linnet_status linnet_session_need(const linnet_model* model, const linnet_session_params* params, linnet_need* out,
                                             linnet_error* err);
/* Makes a session inside mem[0, bytes), mem aligned to 64. The model must outlive it. Starts the threads. */
LINNET_API linnet_status linnet_session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model,
                                             const linnet_session_params* params, linnet_error* err);
LINNET_API void linnet_session_fini(
    linnet_session* session); /* joins the threads; NULL is fine. Nothing happens inside a call and after a fork */

/* Row i of the session's memory table: what the bytes are for ("kv", "activations", ...). LINNET_BAD_ARG past the last row.
 * The rows sum up to need.bytes, and those called "device ..." to need.device_bytes. For a model: "weights" is what the mapped file holds
 * and is not part of need. */
LINNET_API linnet_status linnet_session_memory(const linnet_session* session, uint32_t i, const char** purpose, size_t* bytes);
LINNET_API linnet_status linnet_model_memory(const linnet_model* model, uint32_t i, const char** purpose, size_t* bytes);
/* The same table before there is a session. */
LINNET_API linnet_status linnet_session_plan(const linnet_model* model, const linnet_session_params* params, uint32_t i,
                                             const char** purpose, size_t* bytes, linnet_error* err);

/* In all calls below `seq` names the sequence: 0 .. n_sequences - 1, all empty at first. */

/* Number of tokens in the sequence. */
LINNET_API linnet_status linnet_length(const linnet_session* session, uint32_t seq, size_t* n_tokens);
/* Keeps the first `keep` tokens and drops the rest from the KV cache and the penalty history (rollback); 0 = empty, and gives all pages
 * back. Logits are gone afterwards until the next prefill or decode. The sampler's random state stays. LINNET_BAD_STATE where layers with a
 * window or in KIVI have dropped what a sequence of `keep` tokens sees: the last n_rollback tokens, counted from the longest that the
 * sequence has been, can always go. */
LINNET_API linnet_status linnet_truncate(linnet_session* session, uint32_t seq, size_t keep);
/* Makes sequence `to` the first `keep` tokens of sequence `from`, whatever it was before. Pages of the KV cache are shared until one of the
 * two appends to them, so this costs no time and, at first, no room. With all tokens the logits and the random state come along.
 * LINNET_BAD_STATE as above. */
LINNET_API linnet_status linnet_fork(linnet_session* session, uint32_t from, uint32_t to, size_t keep, linnet_error* err);

/* Appends n >= 1 tokens and computes the logits of the last row (or rows, n_logits). All or nothing: on CONTEXT_FULL,
 * CANCELLED or NOT_FINITE the sequence is as before. Cancel is answered within one layer of one chunk. */
LINNET_API linnet_status linnet_prefill(linnet_session* session, uint32_t seq, const int32_t* tokens, size_t n, linnet_error* err);

/* Tokens for one of several sequences. */
typedef struct linnet_rows {
  uint32_t seq;
  size_t n_tokens; /* at least 1 */
  const int32_t* tokens;
} linnet_rows;

/* linnet_prefill for n_rows different sequences at once, with logits of the last row of each: weights are read once for all of them, which
 * is what makes several conversations cheap. All or nothing. A row's logits are the same bytes whoever shares the call. */
LINNET_API linnet_status linnet_prefill_batch(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, linnet_error* err);
/* Draws a token from the logits of the last row (linnet_sampling_set) into *token, appends it and computes the next logits.
 * LINNET_BAD_STATE if there are no logits, or no token that the sequence's grammar allows. The drawn token may be EOS: the caller decides.
 */
LINNET_API linnet_status linnet_decode(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err);
/* Draws a token without appending it. */
LINNET_API linnet_status linnet_sample(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err);

typedef struct linnet_generate_params {
  uint32_t size;
  uint32_t max_tokens;     /* default: what is left of the context */
  uint32_t ignore_eos;     /* 1: go on after end-of-generation tokens */
  uint32_t n_stop;         /* stop strings, at most 16, each of 1..255 bytes */
  const char* const* stop; /* NUL-terminated; read only during the call */
} linnet_generate_params;

/* Draws tokens until something named in *why stops it. Needs logits (after prefill). Each drawn token but a final EOS is
 * passed to `fn` (may be NULL) and is in the sequence then, also after a cancel. The last one is computed when a later call needs
 * it; linnet_logits gives the row that it was drawn from. On an error *why is LINNET_STOP_NONE and the sequence holds the
 * tokens passed so far. */
LINNET_API linnet_status linnet_generate(linnet_session* session, uint32_t seq, const linnet_generate_params* params, linnet_token_fn fn,
                                         void* user, linnet_stop* why, linnet_error* err);
/* Stops the running prefill, decode or generate of this session soon. Any thread or signal handler: one atomic store. A cancel
 * that meets no running call stops the next one. */
LINNET_API void linnet_cancel(linnet_session* session);

/* Logits, float[n_vocab], of the row `back` rows before the last (0 = last; less than the rows computed by the last call and
 * n_logits). Borrowed until the next call on the session. LINNET_BAD_STATE if there are none. */
LINNET_API linnet_status linnet_logits(const linnet_session* session, uint32_t seq, uint32_t back, const float** logits, size_t* n_vocab);

/* Sets how tokens are drawn and restarts the generator, of every sequence. NULL = greedy.
 * Drawing is the same on every machine: candidates are ordered by logit (descending), then id; weights are
 * e^((logit - largest) / temperature) with linnet's own exponential, summed as doubles in that order; the number drawn is
 * (splitmix64(seed, i) >> 11) / 2^53 for the i-th draw, and the first candidate whose running sum passes number * total wins.
 * splitmix64(seed, i): z = seed + (i + 1) * 0x9E3779B97F4A7C15 through the finaliser of Steele, Lea and Flood 2014. */
LINNET_API linnet_status linnet_sampling_set(linnet_session* session, const linnet_sampling* sampling, linnet_error* err);
/* What is set, defaults filled in. Fills the fields of *out that fit out->size. */
LINNET_API linnet_status linnet_sampling_get(const linnet_session* session, linnet_sampling* out);

/* ---- grammars: text that obeys a JSON schema, or calls one of an app's tools ------------------------------------------------- */

/* A grammar holds what is drawn for a sequence to an automaton over bytes: tokens that do not go on in it get no probability (a mask over
 * the vocabulary, applied after penalties and before top-k), so that what comes out parses and obeys, whatever the model would say.
 * End-of-generation tokens are allowed where a text may end, special tokens nowhere. Drawing obeys in linnet_generate, linnet_decode and
 * linnet_sample, with all kinds of sampling; with a GPU the host draws then. (Method: Willard and Louf 2023, "Efficient Guided
 * Generation".)
 *
 *   linnet_grammar_compile(tools, "tools.json", LINNET_GRAMMAR_TEXT_OR_CALL, blob, sizeof blob, &n, &err);   (here, or ahead elsewhere)
 *   linnet_grammar_need / linnet_grammar_init on that blob, then before each answer linnet_grammar_set and linnet_generate.
 */

typedef enum linnet_grammar_kind LINNET_OF_UINT32 {
  LINNET_GRAMMAR_SCHEMA = 0, /* the JSON is a schema; the text is a value that obeys it */
  /* the JSON is an array of tools, {"type":"function","function":{"name","description","parameters"}} or the inner object alone; the text
     is a call of one of them, {"name":"...","arguments":{...}} with arguments that obey its parameters */
  LINNET_GRAMMAR_CALL = 1,
  LINNET_GRAMMAR_TEXT_OR_CALL = 2 /* such a call, or any UTF-8 text of one character and more that does not begin with '{' or white space */
} linnet_grammar_kind;

/* Compiles JSON to a grammar's bytes, out[0, *n_bytes), the same on every machine. *n_bytes is always the full size; LINNET_TOO_SMALL if it
 * passes cap (out may be NULL with cap 0). `name` is what errors call the JSON, and may be NULL. In the library linnet::convert, and with
 * its heap (LINNET_NO_MEMORY where that gives none): an app that has the bytes already need not link it.
 *
 * What obeys is written in one way: no white space between tokens; members in the order of `properties`, optional ones left out or not;
 * members that `properties` does not name never; enum and const as written in the schema, numbers by their own characters (1E2, -0, any
 * number of digits), without white space, characters beyond ASCII as themselves; other integers of 18 digits at most, without -0; numbers
 * with up to 17 digits behind the point and two of an exponent, and with bounds, which must be whole numbers, without one. Strings hold any
 * characters, in UTF-8 or escaped. Known, of JSON Schema 2020-12: type (one, or an array of them); enum, const; properties, required,
 * additionalProperties (false); items, minItems, maxItems, uniqueItems (false); minLength, maxLength (in characters), pattern (not both);
 * minimum, maximum, exclusiveMinimum, exclusiveMaximum; anyOf; oneOf, where the alternatives cannot hold at once: by type, by enum or
 * const, or by a required property that tells them apart so; $ref to #/$defs/NAME or #/definitions/NAME, not to what it stands in. title,
 * description, default, examples, deprecated, readOnly, writeOnly, $schema, $id and $comment say nothing. A pattern is of characters, .
 * [...] [^...] \d \w \s and their opposites, ( ) (?: ) | * + ? {m} {m,n} {m,}, and ^ and $ at its ends; it goes by characters, of which "
 * \ and control characters are then written with their shortest escapes. Every other keyword, and true and {} as schemas, are
 * LINNET_UNSUPPORTED by name and place (a JSON pointer). LINNET_BAD_FILE: not JSON, or no schema, or one that nothing obeys. At most 1 MiB
 * of JSON, 64 levels deep, and 65535 states (a string of maxLength n takes 31 n: n up to 2100). */
LINNET_API linnet_status linnet_grammar_compile(linnet_view json, const char* name, linnet_grammar_kind kind, void* out, size_t cap,
                                                size_t* n_bytes, linnet_error* err);

typedef struct linnet_grammar linnet_grammar; /* lives inside the caller's memory; there is nothing to end */

/* Bytes that linnet_grammar_init takes for a grammar on this model: the automaton, the vocabulary in the order of its texts (5 bytes a
 * token), and up to 4 MiB of masks of states, at least 16 of them. LINNET_UNSUPPORTED: the model has no tokenizer, or a newer linnet made
 * the bytes. LINNET_BAD_FILE: they are none of linnet_grammar_compile. Any thread. */
LINNET_API linnet_status linnet_grammar_need(const linnet_model* model, linnet_view grammar, linnet_need* out, linnet_error* err);
/* Makes a grammar inside mem[0, bytes), mem aligned to 64. The bytes are copied, then checked, and free afterwards; the model must outlive
 * it. Takes milliseconds: the vocabulary is sorted. */
LINNET_API linnet_status linnet_grammar_init(linnet_grammar** out, void* mem, size_t bytes, const linnet_model* model, linnet_view grammar,
                                             linnet_error* err);
/* From here on what is appended to the sequence is a text of the grammar, from its beginning; NULL ends that. Tokens of linnet_prefill
 * count too: prefill the prompt first. What a prefill brings is not refused, but after tokens that do not obey drawing is LINNET_BAD_STATE.
 * linnet_truncate goes back in the text (to before its beginning: it begins anew there), linnet_fork takes grammar and place along,
 * linnet_state_load begins anew behind the loaded tokens. One grammar may serve several sequences, of one session; it keeps masks, so it
 * belongs to the thread of that session, and must outlive its use. LINNET_BAD_ARG: made for another model. */
LINNET_API linnet_status linnet_grammar_set(linnet_session* session, uint32_t seq, linnet_grammar* grammar, linnet_error* err);

/* ---- state: a sequence as bytes, in memory or in a file --------------------------------------------------------------------- */

/* A saved sequence is its tokens, its pages of the KV cache as they are, its logits, the sampling parameters and how many numbers were
 * drawn. Where it is loaded it goes on with the bytes that it would have had (as far as "Exact" above says so). Nothing is computed.
 *
 * It fits every session on the same model whose layers have the same K and V formats: n_context, n_chunk, n_sequences, n_pool, n_rollback,
 * n_logits, threads and instruction set may be others, as long as there is room. (Not what decides which tokens are dropped: when_full,
 * n_keep, n_context unless it is LINNET_FULL_STOP, n_rollback with LINNET_FULL_HEAVY_HITTERS.) Of more rows of logits than n_logits the
 * last ones are kept. What had been dropped before saving stays dropped: linnet_truncate goes back no further than it could there. The
 * model is known by a hash of its spec and of each tensor's name, format, shape and first and last 4 KiB, made when the model is: weights
 * are mapped and not read whole for it, so files that differ only in the midst of their tensors pass for the same model. Tokenizer and chat
 * format do not count. Magic, version, header and every section (CRC-32C) are checked before anything changes: what is damaged, cut short,
 * of another version, another model or another KV format is refused by name, and the session is as it was. CRC and hash find accidents, not
 * forgery: a state made up by somebody can hold any tokens and numbers, but never makes linnet touch memory that is not its own. Formats of
 * state files may change with linnet's minor version; other versions are refused. None of these calls allocates.
 */

/* Bytes that a save of the sequence takes now. */
LINNET_API linnet_status linnet_state_need(const linnet_session* session, uint32_t seq, size_t* n_bytes, linnet_error* err);
/* Writes the sequence to out[0, *n_bytes), any alignment. *n_bytes is always the full size; LINNET_TOO_SMALL if it passes cap (out may be
 * NULL with cap 0). */
LINNET_API linnet_status linnet_state_save(const linnet_session* session, uint32_t seq, void* out, size_t cap, size_t* n_bytes,
                                           linnet_error* err);
/* The sequence becomes the saved one, whatever it was; `data` is free afterwards. The sampling parameters are the session's: they become
 * those of the state for all its sequences (linnet_sampling_set puts others there and restarts the generators). LINNET_BAD_FILE: damaged,
 * or no state. LINNET_UNSUPPORTED: another version, model, KV format or when_full. LINNET_CONTEXT_FULL: longer than n_context, or no room
 * in the pool. */
LINNET_API linnet_status linnet_state_load(linnet_session* session, uint32_t seq, const void* data, size_t n_bytes, linnet_error* err);
/* The same bytes in a file, which is replaced at once or not at all: they are written to <path>.tmp, synced, renamed to `path`, and the
 * folder is synced, so a crash or a power cut at any moment leaves the old state or the new one under the name. <path>.tmp may stay behind
 * then; the next save removes it. Where `path` is a link, what it leads to is replaced, or made; a device, FIFO, socket or folder is
 * refused. The new file has no permission that the old one had not. Who saves to a path while another does waits for the other. LINNET_IO
 * names the path and what the system said. */
LINNET_API linnet_status linnet_state_save_file(const linnet_session* session, uint32_t seq, const char* path, linnet_error* err);
/* Maps the file for the time of the call. It must not be cut short meanwhile (SIGBUS); linnet_state_save_file never does that to a file. */
LINNET_API linnet_status linnet_state_load_file(linnet_session* session, uint32_t seq, const char* path, linnet_error* err);
/* Tokens of a saved sequence, from its header alone: what n_context must be at least, with LINNET_FULL_STOP. Any thread. */
LINNET_API linnet_status linnet_state_length(const void* data, size_t n_bytes, size_t* n_tokens, linnet_error* err);

/* ---- power: sensors, and a governor that holds a temperature or a token rate -------------------------------------------------------- */

enum { LINNET_HAS_TEMPERATURE = 1, LINNET_HAS_FREQUENCY = 2, LINNET_HAS_ENERGY = 4, LINNET_HAS_BATTERY = 8, LINNET_MAX_METERS = 8 };

/* What the sensors say. The caller zeroes it, sets `size` and keeps it between readings: energy is counted from one to the next. */
typedef struct linnet_sensors {
  uint32_t size;
  uint32_t by_app;  /* 1: the app fills has, temperature, on_battery and time_ns itself (Android's thermal service, firmware);
                       linnet_sensors_read changes nothing */
  const char* root; /* folder in which sys/ lies, at most 256 bytes, "/" where it is NULL: recorded boards; must outlive the struct */
  /* Filled by linnet_sensors_read: */
  uint32_t has;      /* LINNET_HAS_...: what could be read this time */
  uint32_t n_zones;  /* temperatures that were read */
  float temperature; /* degrees Celsius: the hottest zone of a CPU or its chip; of all zones where none is called so. Absurd values are left
                        out */
  uint32_t on_battery;           /* 1: a battery of the device is being discharged */
  uint32_t cpu_mhz, cpu_max_mhz; /* of the fastest CPU: now, and what it is made for (0 = not known) */
  uint64_t time_ns;              /* of this reading */
  double joules;                 /* since the first reading */
  float watts;                   /* on average since the reading before (RAPL), or now (INA3221) */
  uint32_t energy_gaps; /* readings between which it is not known what was used: a counter was reset, a sensor went, rails were not read for
                           10 s. joules leaves them out */
  const char* energy_source; /* "rapl" (packages and memory), "ina3221" (Jetson: the board, or the sum of its rails); NULL = none yet.
                                Static storage */
  const char* no_energy;     /* why there is no energy, NULL where there is. Static storage */
  /* linnet's own: */
  uint32_t n_meters, meter_ids[LINNET_MAX_METERS];
  uint64_t meter_uj[LINNET_MAX_METERS];
  double rail_watts;
} linnet_sensors;

/* Reads Linux's sensors below sys/class: thermal, hwmon, powercap, power_supply, and CPU frequencies. What is missing is missing from
 * `has`, that is no error. now_ns: time of a monotonic clock, 0 = ask the system's. Some hundred small reads: four times a second is
 * plenty. Any thread; allocates nothing. */
LINNET_API linnet_status linnet_sensors_read(linnet_sensors* sensors, uint64_t now_ns, linnet_error* err);

/* What holds a session back most. */
typedef enum linnet_power_why LINNET_OF_UINT32 {
  LINNET_POWER_FREE = 0,
  LINNET_POWER_HEAT = 1,
  LINNET_POWER_RATE = 2, /* faster than tokens_per_s is of no use */
  LINNET_POWER_BATTERY = 3
} linnet_power_why;

struct linnet_power;
typedef void (*linnet_power_fn)(void* user, const struct linnet_power* power);

/* A governor: plain data, stepped between tokens with readings and the time, so that a recorded trace gives the same steps again. Levels:
 * the ladder's numbers of threads, most first, then pauses that leave 3/4, 1/2 and 1/4 of the time for work. It is at the highest of three:
 *   heat     Temperatures are medians of the last three readings. At the limit or above, and not falling by more than 0.5 degrees a
 *            second, one level up, at most every 2 s. 5 degrees or more below the limit for 10 s on end: one level down. A level that was
 *            left and had to be taken again within 60 s is held twice as long next time, up to 320 s; 10 minutes below the limit forget
 *            that. So it settles just under the limit and does not swing. Without readings it stays where it is, `blind` is set.
 *   rate     A token comes no earlier than 1 / tokens_per_s after the one before, however that is reached: by the fewest threads that keep
 *            up with a tenth to spare, then by waiting. Time lost is not made up for. Too slow (by 3 %): more threads again, and the try
 *            with fewer comes twice as late next time.
 *   battery  On battery, with LINNET_BATTERY_SAVE: the ladder's last number of threads. */
typedef struct linnet_power {
  uint32_t size;
  /* What is held; linnet_power_init takes it from the profile. 0 = not */
  float temperature_limit;     /* degrees Celsius */
  float tokens_per_s;          /* of each sequence */
  uint32_t battery;            /* linnet_battery */
  uint32_t n_steps, steps[16]; /* ladder of thread counts, each less than the one before, 1 or more */
  linnet_power_fn fn; /* called when n_threads, why, level or blind have changed, on the thread that steps; may be NULL. What it may do with
                         the session: "Inside" above */
  void* user;
  linnet_sensors* sensors; /* NULL: no readings, heat and battery are not looked at */
  /* What is decided: */
  uint32_t n_threads; /* for the next pass */
  uint32_t why;       /* linnet_power_why */
  uint32_t level;     /* 0 = all threads, no pauses; n_steps and more: pauses for heat */
  uint32_t blind;     /* 1: there is something to hold, and no reading for it */
  uint64_t pause_ns;  /* before the next pass */
  /* linnet's own: */
  uint32_t heat, slow, n_readings, left_for_cool, slow_tokens, tokens_held;
  float readings[3], last_temperature;
  uint64_t reading_ns, seen_ns, decided_ns, cool_ns, left_ns, hot_ns, hold_ns, step_ns, due_ns, busy_ns;
} linnet_power;

/* Zeroes *power but for size, fn, user and sensors, and fills in what is held: profile's temperature_limit, tokens_per_s, battery and steps
 * up to n_threads (none given: n_threads and its halves down to 1). LINNET_BAD_PROFILE: steps that do not go down, a limit outside 0..150,
 * a rate outside 0.01..10^6. profile may be NULL: nothing is held. */
LINNET_API linnet_status linnet_power_init(linnet_power* power, const linnet_profile* profile, uint32_t n_threads, linnet_error* err);
/* One step of the law: n_tokens of a sequence were decoded (0: a prompt is being computed) since the step before, power->sensors holds the
 * last readings, now_ns is the same clock's time. Fills what is decided. Pure: reads nothing else. */
LINNET_API linnet_status linnet_power_step(linnet_power* power, uint32_t n_tokens, uint64_t now_ns);
/* Lets `power` govern the session: after every pass of prefill, decode and generate it reads the sensors (twice a second at most), makes a
 * step, changes the number of threads and pauses; linnet_cancel ends a pause within 20 ms. `power` must outlive that; NULL ends it and all
 * threads compute again. */
LINNET_API linnet_status linnet_power_set(linnet_session* session, linnet_power* power, linnet_error* err);
/* Threads that compute from the next pass on, 1 .. n_threads of the params; the others sleep. Changes no result. Also from a
 * linnet_token_fn of the session. A governor sets its own number after every pass. With LINNET_THREADS_OPENMP its runtime may end and start
 * threads then. */
LINNET_API linnet_status linnet_threads_set(linnet_session* session, uint32_t n_threads, linnet_error* err);

LINNET_API linnet_status linnet_stats_get(const linnet_session* session, linnet_stats* out);
LINNET_API void linnet_stats_reset(linnet_session* session);

#ifdef __cplusplus
}
#endif
#endif
