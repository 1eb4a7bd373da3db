// Backend: what computes, as one table of memory, queue, operations, draw and recorded passes; the seam between model code and a device.
// The CPU (kernels_cpu/cpu_backend.cpp) and CUDA (kernels_cuda/cuda_device.cpp) both fill all of it. Which one it is, is asked in
// backend.cpp alone.
#pragma once
#include <atomic>

#include "../platform/arena.h"
#include "../platform/status.h"
#include "ops.h"
#include "sampling/sampling.h"

namespace linnet {

struct Team;

// Memory of a model, counted or real: the app's, then what a device holds. On the CPU there is the app's alone.
struct ModelFootprint {
  Arena host, own;
  Blocks blocks;
};
// ... of a session: and what is pinned for the device.
struct Footprint : ModelFootprint {
  Arena pinned;
  Blocks pinned_blocks;
  bool ok() const { return host.ok() && own.ok() && pinned.ok(); }
};
// Where the parts of a session lie: own is what operations read, pinned what host and backend hand each other. apart: the three are not
// one.
struct Places {
  Arena &host, &own, &pinned;
  bool apart;
};

// Where a model's weights go.
struct WeightsTo {
  const linnet_profile& profile;
  void* model;          // the backend's handle, or nullptr while it is counted
  Arena* memory;        // counted or real
  uint8_t* matrices;    // (n_matrices, matrix_bytes) what Matrix::panels points to, or nullptr
  uint32_t n_matrices;  // so far
};
// Finds all weights of a model and hands each to Backend::matrix and Backend::vector.
using LoadWeights = Status (*)(void* arg, WeightsTo& to);

// What every session has on the host, whoever computes: its threads and its sampler. The CPU keeps nothing else.
struct HostSide {
  Team* team;
  const Kernels* kernels;
  Sampler sampler;
  uint8_t* scratch;  // (n_threads, scratch_stride)
  size_t scratch_stride;
  uint8_t* shared;  // of the team, zeros where nothing runs
  uint32_t n_threads;
  int32_t drawn;
};

struct SessionPlan {
  uint32_t n_chunk, n_sequences, n_threads, n_logits;  // n_logits: rows of logits of a pass at most
  uint32_t n_heads, head_k;                            // head_k: most inputs of what gemm_heads multiplies with, or 0
  uint32_t gate_up_rows;                               // most rows of gate_up that are quantised behind it, or 0
  uint32_t n_vocab;
  size_t logits_stride, piece_bytes;  // piece_bytes: the largest that read() and write() are asked for
  const KvCache* kv;
  const Slots* slots;
  const RowTables* rows;
  const Kernels* kernels;
  Team* team;
  HostSide* host;
};

// A pass over a batch of rows.
struct Pass {
  const KvCache* kv;
  const Slots* slots;
  const RowSpan* spans;
  uint32_t n_spans, m, n_logits, n_vocab;
  float* logits;  // (n_logits, logits_stride) the host's
  size_t logits_stride;
  const RowTables *made, *rows;             // as the host writes them, and as operations read them
  void (*make)(const Pass&, uint32_t row);  // what the host makes of a row
  // All operations, on every thread that takes part. whole: it must not stop on the way. to: where the logits go.
  void (*compute)(Pass&, const Worker&, bool whole, float* to);
  uint32_t not_finite = 0;
  std::atomic<uint32_t> stop{0};  // written before a layer's first sync, read by all after its last
};

// Draws a token as sample() does, ahead of the host where a backend can.
struct Draw {
  Sampler* sampler;
  const float* logits;  // the host's; nullptr: those that keep_logits kept
  uint32_t n_vocab, n_history;
  const int32_t* history;
};
struct Drawn {
  int32_t token;
  uint64_t n_draws;
  uint32_t not_finite;
};

struct Backend {
  const char* name;  // in linnet_model_desc; nullptr: the CPU
  const Ops* ops;
  const char* chosen;           // purpose under which experts that were chosen are counted
  bool runs_ahead;              // passes run while the host goes on
  bool groups;                  // has kernels for KV formats that pack groups of tokens
  Status (*probe)(Error* err);  // whether it is to be had here
  // The limits of what computes: of the CPU with kernels of that tier. `data`: for read_gb_s, or nullptr; `products` as linnet_measure
  // says.
  Status (*measure)(const linnet_profile& profile, const Kernels& kernels, uint32_t n_threads, const void* data, size_t bytes,
                    bool products, linnet_measurement* out, Error* err);

  // ---- models; handles lie in those objects' memory
  size_t model_bytes, matrix_bytes;  // of a model's handle, of what Matrix::panels points to
  // What the weights take of memory that is not the app's: fills in memory->own, its blocks and *n_matrices.
  Status (*count)(const linnet_profile& profile, LoadWeights load, void* arg, ModelFootprint* memory, uint32_t* n_matrices, Error* err);
  // Readies what computes and brings the weights there. After a failure, or unload, nothing is held. weights: all of the file's.
  Status (*load)(void* model, uint8_t* matrices, const linnet_profile& profile, const uint8_t* weights, size_t bytes, LoadWeights load,
                 void* arg, ModelFootprint* memory, Error* err);
  void (*unload)(void* model);
  // Takes the matrix or the vector of n floats, which is made the backend's own unless they are only counted.
  Status (*matrix)(WeightsTo& to, Matrix* m, Error* err);
  Status (*vector)(WeightsTo& to, const float** v, uint64_t n, Error* err);

  // ---- sessions
  // What there are no kernels for; changes what does not count here.
  Status (*check_params)(linnet_session_params* p, Error* err);
  Places (*places)(Footprint& memory, const linnet_profile& profile, bool counting);
  Status (*alloc)(void* model, Footprint* memory, Error* err);  // what was counted, or nothing
  // Places the session's own parts and returns its handle, nullptr while counting.
  void* (*layout)(const Places& places, const void* model, const SessionPlan& plan);
  Status (*start)(void* session, void* model, Footprint* memory, Error* err);  // after a failure nothing of alloc is held
  void (*stop)(void* session);
  // Around all that follows the calling thread is bound to what computes.
  void (*enter)(void* session);
  void (*leave)(void* session);
  Status (*check)(void* session, Error* err);  // LINNET_DEVICE once a call has failed
  // Runs a pass; its logits are in the host's memory then.
  Status (*run)(void* session, Pass& pass, Error* err);
  // Drawing, for one sequence at a time. next: where a backend runs ahead, a pass of one row that reads the token, to be begun at once; or
  // nullptr. drawn() waits for the token, not for that pass, whose logits come before somebody has decided that it counts: keep_logits()
  // says so, kept_logits() brings them to the host.
  void (*draw)(void* session, const Draw& draw, Pass* next);
  Status (*drawn)(void* session, Drawn* out, Error* err);
  void (*keep_logits)(void* session);
  Status (*kept_logits)(void* session, float* to, Error* err);
  // Memory: n pieces, `pitch` bytes apart.
  void (*zero)(void* session, uint8_t* p, size_t pitch, size_t bytes, uint32_t n);
  void (*copy)(void* session, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n);
  // The host's view of pieces of a layer of the KV cache, *step bytes apart, until the next call.
  const uint8_t* (*read)(void* session, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n, size_t* step);
  void (*write)(void* session, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n);  // from: one behind the other
};

extern const Backend cpu_backend;
#if LINNET_HAVE_CUDA
extern const Backend cuda_backend;
#define LINNET_BACKENDS ", CUDA"
#else
#define LINNET_BACKENDS ""
#endif

// What computes with this profile.
Status backend_choose(const linnet_profile& profile, const Backend** out, Error* err);
// What computes where the chosen one does not take a model's weights; nullptr: they are refused then.
const Backend* backend_otherwise(const linnet_profile& profile, const Backend* chosen);
// A profile's fields that are backends' own.
Status backend_profile(const linnet_profile& profile, Error* err);
void backend_describe(const Backend& backend, linnet_model_desc* out);
Status backend_detect(linnet_cuda_device* out, Error* err);
// Whether the memory counted for a session can be had.
Status footprint_fits(const Footprint& f, const linnet_session_params& p, Error* err);
// Row i of the tables of purposes, one behind the other; pinned: or nullptr.
Status footprint_row(const Arena& host, const Arena& own, const Arena* pinned, uint32_t i, const char** purpose, size_t* bytes, Error* err);

}  // namespace linnet
