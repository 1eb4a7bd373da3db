/* linnet_device.h: what a device is and may spend: instruction tiers, threads, the board, profiles, measuring, sensors and the governor,
 * CUDA. */
#ifndef LINNET_DEVICE_H
#define LINNET_DEVICE_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what computes -------------------------------------------------------------------------------------------------------------- */

/* CPU instruction tiers, weakest first; each has what the weaker ones of its CPU have. */
typedef enum linnet_isa LINNET_OF_UINT32 {
  LINNET_ISA_AUTO = 0, /* the strongest tier that this CPU has */
  LINNET_ISA_SCALAR = 1,
  LINNET_ISA_AVX2 = 2,         /* AVX2 + FMA + F16C */
  LINNET_ISA_AVX_VNNI = 3,     /* + AVX-VNNI */
  LINNET_ISA_AVX512 = 4,       /* AVX-512 F/BW/VL/DQ */
  LINNET_ISA_AVX512_VNNI = 5,  /* + VNNI */
  LINNET_ISA_AVX512_BF16 = 6,  /* + VBMI and BF16 */
  LINNET_ISA_NEON = 7,         /* [experimental] any 64-bit ARM. This and the other NEON ones ran in an emulator alone */
  LINNET_ISA_NEON_DOTPROD = 8, /* [experimental] + sdot: ARMv8.2 (Cortex-A55, A76, A78AE) and later */
  LINNET_ISA_NEON_I8MM = 9,    /* [experimental] + smmla: ARMv8.6 and later */
  LINNET_ISA_ONEDNN = 10, /* [experimental] AVX-512 with VNNI, and oneDNN where a thread multiplies 48 rows and more by 128 outputs and more
                             of i8, i8g128 or i8g64. Only where it is asked for, in builds with LINNET_ONEDNN. The same bits; oneDNN
                             allocates memory of its own, in no plan, at every call */
  LINNET_ISA_NEON_BF16 = 11, /* [experimental] + bfdot, for FP8: ARMv8.6 and later */
  LINNET_ISA_AMX = 12 /* AVX512_BF16 + AMX-INT8 (Xeons since 2023) where a thread multiplies 16 rows and more by 64 outputs and more of
                         integer weights, and in attention. Wherever a tier is chosen (models, linnet_isa_pick, linnet_measure) Linux is
                         asked for its tiles, for the whole process and for good: stacks that sigaltstack is given afterwards must have
                         getauxval(AT_MINSIGSTKSZ) bytes, some 11 KB. Where Linux refuses, LINNET_ISA_AUTO takes AVX512_BF16; `isa_mask` or
                         `isa` avoids it. Like LINNET_ISA_ONEDNN it brings AVX512_VNNI along */
} LINNET_32_BITS linnet_isa;

/* Name of a tier ("avx512") or NULL past the last one. */
LINNET_API const char* linnet_isa_name(linnet_isa isa);
/* The strongest tier that this build has and this CPU runs, after `profile`. LINNET_UNSUPPORTED where a forced tier is not to be had. */
LINNET_CALL linnet_status linnet_isa_pick(const linnet_profile* profile, linnet_isa* out, linnet_error* err);

/* Whose threads compute. */
typedef enum linnet_threads LINNET_OF_UINT32 {
  LINNET_THREADS_DEFAULT = 0, /* LINNET_THREADS_APP where parallel_for is set, else LINNET_THREADS_OWN */
  LINNET_THREADS_OPENMP = 1,  /* where it is built in. Of n threads that the system runs late a pass waits for the last at its end.
                                 LINNET_UNSUPPORTED in a child of fork() whose parent has used it, LINNET_IO where the system gives fewer
                                 threads: its runtimes hang or end the process there */
  LINNET_THREADS_OWN = 2,     /* pthreads made at session init, their stacks in the session's memory; they take no signals. A thread that
                                 calls in needs 192 KiB of stack, whatever computes. Beside other work a pass waits for no thread that the
                                 machine does not run, unless it was stopped within a piece of work; and where threads cost more than they
                                 bring, fewer compute, more again once that is faster (tried for some milliseconds, in a fiftieth of the
                                 time at most). Changes no result */
  LINNET_THREADS_APP = 3      /* the app's: parallel_for of linnet_session_params */
} LINNET_32_BITS linnet_threads;

/* How threads wait for each other. */
typedef enum linnet_wait LINNET_OF_UINT32 {
  LINNET_WAIT_DEFAULT = 0, /* as LINNET_WAIT_SPIN */
  LINNET_WAIT_SPIN = 1,    /* threads wait for each other with at most `spin` pauses, and no longer than 30 us or than they last computed
                              themselves; then they sleep */
  LINNET_WAIT_SLEEP = 2    /* they sleep at once: less power, and the only sane way under a CPU quota */
} LINNET_32_BITS linnet_wait;

enum { LINNET_MAX_CPUS = 256 };
/* A set of CPUs, as the system numbers them: CPU i is bit i % 64 of word[i / 64]. */
typedef struct linnet_cpus {
  uint64_t word[LINNET_MAX_CPUS / 64];
} linnet_cpus;

/* Which CPUs compute, where a profile does not list them: linnet_profile_fit makes a list of it. */
typedef enum linnet_cores LINNET_OF_UINT32 {
  LINNET_CORES_DEFAULT = 0, /* as LINNET_CORES_ALL */
  LINNET_CORES_ALL = 1,
  LINNET_CORES_BIG = 2,   /* the clusters at least half as strong as the strongest: all but the little ones of big.LITTLE */
  LINNET_CORES_LITTLE = 3 /* the weakest cluster */
} LINNET_32_BITS linnet_cores;

/* Which products of prompts are computed by what. */
typedef enum linnet_prefill_backend LINNET_OF_UINT32 {
  LINNET_PREFILL_DEFAULT = 0, /* as LINNET_PREFILL_NATIVE */
  LINNET_PREFILL_NATIVE = 1,
  LINNET_PREFILL_ONEDNN = 2,  /* LINNET_ISA_ONEDNN; LINNET_UNSUPPORTED in builds without it */
  LINNET_PREFILL_MEASURED = 3 /* the faster of the two, timed for half a second when a model is made; native in builds without oneDNN */
} LINNET_32_BITS linnet_prefill_backend;

/* On, off, or not said. */
typedef enum linnet_switch LINNET_OF_UINT32 {
  LINNET_SWITCH_DEFAULT = 0,
  LINNET_SWITCH_ON = 1,
  LINNET_SWITCH_OFF = 2
} LINNET_32_BITS linnet_switch;

/* [experimental] Products of float weights with more than 8 rows, on a GPU. What they take beside is counted in linnet_session_need. 3 was
 * a way for FP8 weights by which no GPU that linnet has kernels for gained. */
typedef enum linnet_gemm LINNET_OF_UINT32 {
  LINNET_GEMM_DEFAULT = 0, /* as LINNET_GEMM_EXACT */
  LINNET_GEMM_EXACT = 1,   /* the CPU's bits; FP8 weights: activations in bf16, sums in another order */
  LINNET_GEMM_FAST = 2     /* f16 and bf16 weights on tensor cores, to about f32's rounding. A prompt is then not quite what single tokens
                              would be. Experts and the latents' matrices of MLA stay exact */
} LINNET_32_BITS linnet_gemm;

/* [experimental] Whether a GPU computes: the kernels were held against the CPU's bytes in an emulator, not on hardware yet. What it cannot
 * do is LINNET_UNSUPPORTED by name: weights in f8e4m3g128, i4g64z, i4g32z, nvfp4, tq1_0, tq2_0, tq2_f32, the formats of iq1, iq2 and iq3,
 * of bitsandbytes, HQQ and torchao, which have no kernels, inputs in act-order, and with LINNET_CUDA_AUTO too KIVI formats, and sequences
 * of which attention chooses what stays (LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV). */
typedef enum linnet_cuda LINNET_OF_UINT32 {
  LINNET_CUDA_DEFAULT = 0, /* as LINNET_CUDA_OFF */
  LINNET_CUDA_ON = 1,      /* LINNET_UNSUPPORTED in builds without CUDA, LINNET_DEVICE where there is no device; err->text says why */
  LINNET_CUDA_OFF = 2,
  LINNET_CUDA_AUTO = 3 /* where the build has it and there is a device that takes the model's weights; else the CPU */
} LINNET_32_BITS linnet_cuda;

/* What a governor does on battery. */
typedef enum linnet_battery LINNET_OF_UINT32 {
  LINNET_BATTERY_DEFAULT = 0, /* as LINNET_BATTERY_IGNORE */
  LINNET_BATTERY_IGNORE = 1,
  LINNET_BATTERY_SAVE = 2 /* while the device runs on its battery the last step of the ladder holds */
} LINNET_32_BITS linnet_battery;

/* ---- profiles ---------------------------------------------------------------------------------------------------------------------- */

/* What the device is and what it may spend. Plain data: an app may fill it by hand, linnet_profile_read fills it from YAML. 0 in a field:
 * not said. Where a session's or a model's params leave a field at 0 too, the profile that its model was made with decides
 * (linnet_model_init copies it). */
struct linnet_profile {
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
  uint32_t weights; /* linnet_format for weights that come as floats and are packed on the way in (linnet_convert_params::floats); the core
                       library reads packed models alone and does not look at it */
  uint32_t k_format, v_format; /* linnet_format of the KV cache; v as k where it is 0 */
  uint32_t n_context;          /* positions of a session, 1..2^24; no more than the model was trained for is taken */
  uint32_t n_chunk;            /* rows computed at a time in prefill, 1..4096 */
  uint32_t when_full;          /* linnet_when_full */
  uint32_t n_keep;             /* tokens that stay, see linnet_when_full */
  uint32_t huge_pages; /* linnet_switch: ON and OFF tell the system so for the memory of models and sessions (madvise); default: as it is */
  uint64_t memory_bytes; /* cap on weights, model and one session together, mapped weights too but for layer_embd_bytes of the model; what
                            needs more is LINNET_TOO_SMALL, with what would fit */
  uint32_t prefill;      /* linnet_prefill_backend, where isa is LINNET_ISA_AUTO */

  /* Power */
  /* nice value of the session's own threads, -20..19 (negative ones take a privilege); the caller's thread keeps its own */
  int32_t priority;
  uint32_t n_free_cores;   /* cores left to the rest of the device, the user interface above all, where linnet_profile_fit counts threads */
  uint32_t battery;        /* linnet_battery */
  float temperature_limit; /* degrees Celsius that the governor holds */
  float tokens_per_s;      /* rate that the governor holds: faster is of no use, voice for one */
  uint32_t steps[16];      /* ladder of thread counts that it steps down, most first; 0 ends it */

  /* What was measured, at most; for plans and predictions alone */
  double read_gb_s;  /* plain read of memory, 10^9 bytes per second */
  double int8_tops;  /* multiplies and adds, 10^12 per second: of int8 */
  double f8_tops;    /* ... of FP8 weights */
  double float_tops; /* ... of f32, f16 and bf16 weights */

  /* CUDA [experimental] */
  uint32_t cuda_sms;         /* streaming multiprocessors; 0: as the driver says */
  uint32_t cuda_graph;       /* linnet_switch: decode as one graph; default on */
  uint64_t cuda_block_bytes; /* largest allocation of device memory, at least 64 KiB; default 256 MiB */
  uint32_t cuda;             /* linnet_cuda: whether models go to the GPU */
  uint32_t cuda_zero_copy; /* linnet_switch: matrices are read where the file's view is, which stays until linnet_model_fini and whose pages
                              are locked; default off. LINNET_UNSUPPORTED on GPUs with memory of their own, and where the driver refuses */
  uint32_t cuda_gemm;      /* linnet_gemm; default exact */

  char name[64]; /* NUL-terminated; "" = none */
};

/* ---- the board ------------------------------------------------------------------------------------------------------------------- */

/* Kind of processor. */
typedef enum linnet_arch LINNET_OF_UINT32 {
  LINNET_ARCH_UNKNOWN = 0,
  LINNET_ARCH_X86_64 = 1,
  LINNET_ARCH_AARCH64 = 2,
  LINNET_ARCH_ARM = 3 /* 32-bit ARM, or a 32-bit system on a 64-bit one */
} LINNET_32_BITS linnet_arch;

/* CPUs of one kind. */
typedef struct linnet_cluster {
  uint32_t size;                 /* set by the caller */
  linnet_cpus cpus;              /* online */
  uint32_t strength;             /* what a core does beside another of this board: its capacity, else clock times work per cycle, roughly */
  uint32_t capacity;             /* as the kernel says it, 1..1024; 0 where it does not */
  uint32_t max_mhz;              /* 0: not known */
  uint32_t implementer, part_id; /* ARM's numbers; 0 elsewhere */
  char part[24];                 /* "cortex-a76", as GCC's -mcpu; "" where it is not known */
} linnet_cluster;

/* A cache of a CPU. */
typedef struct linnet_cache {
  uint32_t size, level;
  char type[12]; /* "Data", "Instruction", "Unified" */
  uint64_t bytes;
  linnet_cpus cpus; /* that share it */
} linnet_cache;

/* A thermal zone. */
typedef struct linnet_zone {
  uint32_t size;
  char type[24];        /* "cpu-thermal" */
  int32_t millidegrees; /* Celsius, when it was read */
} linnet_zone;

/* What the machine is, and what this process may use of it. Texts are NUL-terminated, "" = not known. */
typedef struct linnet_board_desc {
  uint32_t size;            /* set by the caller */
  uint32_t arch;            /* linnet_arch */
  uint32_t isa_mask;        /* bit i: every CPU has what tier i of this build asks for; with a root: of any build, after /proc/cpuinfo */
  uint32_t android;         /* 1: Android */
  linnet_cpus cpus;         /* online ones that this process may use (affinity mask) */
  linnet_cpus primary;      /* of these one per core */
  uint32_t n_cpus, n_cores; /* CPUs in `cpus`, cores among them */
  uint32_t n_threads; /* that should compute where nobody says otherwise: the cores of LINNET_CORES_BIG, and no more than the quota gives
                         whole CPUs (1.5 CPUs are 1 thread) */
  uint32_t n_clusters, n_caches, n_zones; /* rows of the calls below */
  double cpu_quota;                       /* CPUs' worth of time that the control groups grant; 0 = no limit */
  uint64_t memory_bytes, available_bytes; /* of the machine */
  uint64_t memory_limit_bytes;            /* of the control groups; 0 = none below memory_bytes */
  uint64_t swap_bytes, swap_used_bytes;
  char model[96];       /* of the board: "Raspberry Pi 5 Model B Rev 1.0" */
  char compatible[160]; /* of its device tree, spaces between: "raspberrypi,5-model-b brcm,bcm2712" */
  char cpu[96];         /* "AMD EPYC 9R14", or the part of the strongest cluster */
} linnet_board_desc;

typedef struct linnet_board linnet_board; /* lives inside the caller's memory; there is nothing to end */

/* What linnet_board_init takes. */
LINNET_CALL linnet_status linnet_board_need(linnet_need* out, linnet_error* err);
/* Reads what the board is from /proc and /sys, and its instruction tiers from CPUID or HWCAP. root (NULL or "" = none): a folder that holds
 * copies of those files, whose board is described instead. Any thread; some ms. Files that are not there, or are no regular ones, leave
 * their fields 0. LINNET_IO where nothing tells of a CPU. */
LINNET_CALL linnet_status linnet_board_init(linnet_board** out, void* mem, size_t bytes, const char* root, linnet_error* err);
LINNET_CALL linnet_status linnet_board_info(const linnet_board* board, linnet_board_desc* out, linnet_error* err);
/* Row i: clusters of all CPUs online, strongest first; caches of the first CPU of the strongest cluster; thermal zones that answered.
 * LINNET_BAD_ARG past the last row. */
LINNET_CALL linnet_status linnet_board_cluster(const linnet_board* board, uint32_t i, linnet_cluster* out, linnet_error* err);
LINNET_CALL linnet_status linnet_board_cache(const linnet_board* board, uint32_t i, linnet_cache* out, linnet_error* err);
LINNET_CALL linnet_status linnet_board_zone(const linnet_board* board, uint32_t i, linnet_zone* out, linnet_error* err);

/* [experimental] An NVIDIA GPU, as its driver describes it. The caller sets `size`. 0 in a field: the driver does not say. */
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
/* [experimental] The first GPU. LINNET_UNSUPPORTED: this linnet is built without CUDA, or has no kernels for a GPU that old. LINNET_DEVICE:
 * there is no GPU, or its driver is missing, too old or fails; err->text says which. The first call loads libcuda.so.1 where it is, which
 * takes memory and threads of its own (with LINNET_CUDA builds need no CUDA to link or to run). Any thread. */
LINNET_CALL linnet_status linnet_cuda_detect(linnet_cuda_device* out, linnet_error* err);
/* "0-3,6" into a set of CPUs. LINNET_BAD_ARG names a text that is none; CPUs past LINNET_MAX_CPUS are left out. */
LINNET_CALL linnet_status linnet_cpus_parse(const char* list, linnet_cpus* out, linnet_error* err);
/* Makes of what the profile wishes what the board gives: `cpus` becomes the CPUs of it (or of `cores`) that this process may use, n_threads
 * at most as many and at most what the quota gives; where n_threads is 0 a thread per core, n_free_cores aside. The rest stays.
 * LINNET_BAD_PROFILE: none of `cpus` may be used. */
LINNET_CALL linnet_status linnet_profile_fit(linnet_profile* profile, const linnet_board* board, linnet_error* err);

/* ---- profiles from files: the library liblinnet_profile (linnet::profile), which needs libyaml and a heap -------------------------- */

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
LINNET_CALL linnet_status linnet_profile_parse(const char* yaml, size_t yaml_bytes, const char* name, const linnet_board* board,
                                               linnet_profile* out, linnet_match* match, linnet_error* err);
/* The same from a regular file. LINNET_IO: it cannot be read, or is a device, FIFO or socket. */
LINNET_CALL linnet_status linnet_profile_read(const char* path, const linnet_board* board, linnet_profile* out, linnet_match* match,
                                              linnet_error* err);
/* Picks the best match among the files *.yaml of a folder, and fits it to the board (linnet_profile_fit). Its path goes to path[0, cap),
 * NUL-terminated, if path is not NULL. LINNET_UNSUPPORTED: none matches. A file of the folder that is no profile fails the call. */
LINNET_CALL linnet_status linnet_profile_pick(const char* folder, const linnet_board* board, linnet_profile* out, char* path, size_t cap,
                                              linnet_match* match, linnet_error* err);

/* ---- measuring: the machine, a session ------------------------------------------------------------------------------------------- */

/* What a machine reaches. */
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
LINNET_CALL linnet_status linnet_measure(const linnet_profile* profile, uint32_t n_threads, const void* data, size_t bytes,
                                         linnet_measurement* out, linnet_error* err);
/* The params with what was not said filled in: n_context above all. kv_layers is left out. */
LINNET_CALL linnet_status linnet_session_info(const linnet_session* session, linnet_session_params* out, linnet_error* err);
/* Row i of a table of memory: what the bytes are for ("kv", "activations", ...; static storage). LINNET_BAD_ARG past the last row. The rows
 * sum up to need.bytes, and those called "device ..." to need.device_bytes. Of a model "weights" is what the mapped file holds and is not
 * part of need. The third is a session's table before there is one. */
LINNET_CALL linnet_status linnet_session_memory(const linnet_session* session, uint32_t i, const char** purpose, size_t* bytes,
                                                linnet_error* err);
LINNET_CALL linnet_status linnet_model_memory(const linnet_model* model, uint32_t i, const char** purpose, size_t* bytes,
                                              linnet_error* err);
LINNET_CALL linnet_status linnet_session_plan(const linnet_model* model, const linnet_session_params* params, uint32_t i,
                                              const char** purpose, size_t* bytes, linnet_error* err);

/* What a session did and how long that took. */
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
  uint64_t decode_passes;  /* that computed decode_tokens: fewer where a grammar forced some */
} linnet_stats;

/* Reads the statistics; begins them anew, but for threads and memory. */
LINNET_CALL linnet_status linnet_stats_get(const linnet_session* session, linnet_stats* out, linnet_error* err);
LINNET_CALL linnet_status linnet_stats_reset(linnet_session* session, linnet_error* err);

/* ---- power: sensors, and a governor that holds a temperature or a token rate -------------------------------------------------------- */

enum { LINNET_HAS_TEMPERATURE = 1, LINNET_HAS_FREQUENCY = 2, LINNET_HAS_ENERGY = 4, LINNET_HAS_BATTERY = 8 };

/* What the sensors say. */
typedef struct linnet_reading {
  uint32_t size;     /* set by the caller */
  uint32_t has;      /* LINNET_HAS_...: what could be read this time */
  uint32_t n_zones;  /* temperatures that were read */
  float temperature; /* degrees Celsius: the hottest zone of a CPU or its chip; of all zones where none is called so. Absurd values are left
                        out */
  uint32_t on_battery;           /* 1: a battery of the device is being discharged */
  uint32_t cpu_mhz, cpu_max_mhz; /* of the fastest CPU: now, and what it is made for (0 = not known) */
  uint32_t energy_gaps;          /* readings between which it is not known what was used: a counter was reset, a sensor went, rails were not
                                    read for 10 s. joules leaves them out */
  uint64_t time_ns;              /* of this reading */
  double joules;                 /* since the first reading */
  float watts;                   /* on average since the reading before (RAPL), or now (INA3221) */
  const char* energy_source; /* "rapl" (packages and memory), "ina3221" (Jetson, not tried on one yet: the board, or the sum of its rails);
                                NULL = none yet. Static storage */
  const char* no_energy;     /* why there is no energy, NULL where there is. Static storage */
} linnet_reading;

typedef struct linnet_sensors linnet_sensors; /* lives inside the caller's memory; there is nothing to end. One thread at a time */

/* What linnet_sensors_init takes. */
LINNET_CALL linnet_status linnet_sensors_need(linnet_need* out, linnet_error* err);
/* root: folder in which sys/ lies, at most 256 bytes, copied; NULL = "/"; another one: recorded boards. */
LINNET_CALL linnet_status linnet_sensors_init(linnet_sensors** out, void* mem, size_t bytes, const char* root, linnet_error* err);
/* Reads Linux's sensors below sys/class: thermal, hwmon, powercap, power_supply, and CPU frequencies. What is missing is missing from
 * `has`, that is no error. Energy is counted from one reading to the next. now_ns: time of a monotonic clock, 0 = ask the system's. Some
 * hundred small reads: four times a second is plenty. out may be NULL. */
LINNET_CALL linnet_status linnet_sensors_read(linnet_sensors* sensors, uint64_t now_ns, linnet_reading* out, linnet_error* err);
/* The last reading, without a new one. */
LINNET_CALL linnet_status linnet_sensors_last(const linnet_sensors* sensors, linnet_reading* out, linnet_error* err);
/* The app tells what it knows (Android's thermal service, firmware): has, temperature, on_battery and time_ns of the reading. From then on
 * linnet_sensors_read reads nothing of the system's. LINNET_BAD_ARG: `has` names anything else. */
LINNET_CALL linnet_status linnet_sensors_report(linnet_sensors* sensors, const linnet_reading* reading, linnet_error* err);

/* What holds a session back most. */
typedef enum linnet_power_why LINNET_OF_UINT32 {
  LINNET_POWER_FREE = 0,
  LINNET_POWER_HEAT = 1,
  LINNET_POWER_RATE = 2, /* faster than tokens_per_s is of no use */
  LINNET_POWER_BATTERY = 3
} LINNET_32_BITS linnet_power_why;

/* What a governor has decided. */
typedef struct linnet_power_state {
  uint32_t size;      /* set by the caller */
  uint32_t n_threads; /* for the next pass */
  uint32_t why;       /* linnet_power_why */
  uint32_t level;     /* 0 = all threads, no pauses; n_steps and more: pauses for heat */
  uint32_t n_steps;   /* of the ladder of thread counts */
  uint32_t blind;     /* 1: there is something to hold, and no reading for it */
  uint64_t pause_ns;  /* before the next pass */
} linnet_power_state;

/* Called when n_threads, why, level or blind have changed, on the thread that steps. What it may do with the session: "Inside" in
 * linnet.h. */
typedef void (*linnet_power_fn)(void* user, const linnet_power_state* state);

/* What is held. A field at 0 takes what the profile says. */
typedef struct linnet_power_params {
  uint32_t size;
  uint32_t n_threads;      /* most threads, 1..256; default what the profile says, else 1 */
  float temperature_limit; /* degrees Celsius, up to 150; nobody says one: none is held */
  float tokens_per_s;      /* of each sequence, 0.01..10^6; nobody says one: as fast as may be */
  uint32_t battery;        /* linnet_battery */
  linnet_sensors* sensors; /* must outlive the governor; NULL: no readings, heat and battery are not looked at */
  linnet_power_fn fn;      /* may be NULL */
  void* user;              /* its first argument */
} linnet_power_params;

/* A governor, stepped between tokens with readings and the time, so that a recorded trace gives the same steps again. Levels: the ladder's
 * numbers of threads (the profile's `steps` up to n_threads; none given: n_threads and its halves down to 1), then pauses that leave 3/4,
 * 1/2 and 1/4 of the time for work. It is at the highest of three:
 *   heat     Temperatures are medians of the last three readings. At the limit or above, and not falling by more than 0.5 degrees a
 *            second, one level up, at most every 2 s. 5 degrees or more below the limit for 10 s on end: one level down. A level that was
 *            left and had to be taken again within 60 s is held twice as long next time, up to 320 s; 10 minutes below the limit forget
 *            that. So it settles just under the limit and does not swing. Without readings it stays where it is, `blind` is set.
 *   rate     A token comes no earlier than 1 / tokens_per_s after the one before, however that is reached: by the fewest threads that keep
 *            up with a tenth to spare, then by waiting. Time lost is not made up for. Too slow (by 3 %): more threads again, and the try
 *            with fewer comes twice as late next time.
 *   battery  On battery, with LINNET_BATTERY_SAVE: the ladder's last number of threads. */
typedef struct linnet_power linnet_power; /* lives inside the caller's memory; there is nothing to end. One thread at a time */

/* What linnet_power_init takes. */
LINNET_CALL linnet_status linnet_power_need(linnet_need* out, linnet_error* err);
/* LINNET_BAD_PROFILE: steps that do not go down, a limit or a rate of the profile outside its range; LINNET_BAD_ARG: of params. */
LINNET_CALL linnet_status linnet_power_init(linnet_power** out, void* mem, size_t bytes, const linnet_profile* profile,
                                            const linnet_power_params* params, linnet_error* err);
/* One step of the law: n_tokens of a sequence were decoded (0: a prompt is being computed) since the step before, the sensors hold the last
 * readings, now_ns is the same clock's time. Pure: reads nothing else. out may be NULL. */
LINNET_CALL linnet_status linnet_power_step(linnet_power* power, uint32_t n_tokens, uint64_t now_ns, linnet_power_state* out,
                                            linnet_error* err);
LINNET_CALL linnet_status linnet_power_get(const linnet_power* power, linnet_power_state* out, linnet_error* err);
/* Lets `power` govern the session: after every pass of prefill, decode and generate it reads the sensors (twice a second at most), makes a
 * step, changes the number of threads and pauses; linnet_cancel ends a pause within 20 ms. `power` must outlive that; NULL ends it and all
 * threads compute again. */
LINNET_CALL linnet_status linnet_power_set(linnet_session* session, linnet_power* power, linnet_error* err);
/* Threads that compute from the next pass on, 1 .. n_threads of the params; the others sleep. Changes no result. Also from a
 * linnet_token_fn of the session. A governor sets its own number after every pass. With LINNET_THREADS_OPENMP its runtime may end and start
 * threads then. */
LINNET_CALL linnet_status linnet_threads_set(linnet_session* session, uint32_t n_threads, linnet_error* err);

#ifdef __cplusplus
}
#endif
#endif
