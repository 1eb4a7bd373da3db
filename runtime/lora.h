// Adapters (LoRA): a file of them beside a model, read, checked and laid out as the kernels take it; and what a sequence has of them.
#pragma once
#include "include/linnet_lora.h"
#include "model.h"

namespace linnet {

inline constexpr uint32_t kMostLoraRank = LINNET_LORA_MOST_RANK;
static_assert(kMostLoras == LINNET_LORA_MOST);
// How a packed file says that adapters fit it, and how. Of every layer, one behind the other, u8[n_kv_heads * head_dim]: 128 + the power of
// two that the keys' outputs were divided by, and their queries' multiplied with; empty: none were.
inline constexpr char kLoraExponentsKey[] = "linnet.adapter.key_exponents";
// u32, bits: 1 where GGUF files of the family have the rows of a head of q and k as pairs of channels, and the model as halves; 2 where
// they have the value heads of gated delta nets tiled (ModelSpec.delta_tiled).
inline constexpr char kLoraPairsKey[] = "linnet.adapter.pairs";
enum LoraOrder : uint32_t { kLoraPairs = 1, kLoraTiled = 2 };

// The matrices of a layer that adapters may change.
inline constexpr Role kLoraRoles[] = {kAttnQ,    kAttnK,      kAttnV,      kAttnGate,   kAttnOut,    kAttnQA,       kAttnQB,    kAttnKvA,
                                      kDeltaIn,  kDeltaGate,  kDeltaGateA, kDeltaGateB, kDeltaFadeA, kDeltaFadeB,   kDeltaBeta, kDeltaAlpha,
                                      kDeltaOut, kConvIn,     kConvOut,    kMambaIn,    kMambaDt,    kMambaOut,     kFfnGate,   kFfnUp,
                                      kFfnDown,  kSharedGate, kSharedUp,   kSharedDown, kRouter,     kSharedGateInp};
inline constexpr char kLoraMatrices[] =
    "adapters are computed of what mixers, routers and dense or shared feed-forward steps multiply with, and of the LM head: not of "
    "embeddings and routed experts, nor of latent attention's kv_b, whose product is taken apart by head";
inline constexpr uint32_t kLoraRolesOfLayer = sizeof kLoraRoles / sizeof kLoraRoles[0];
// Whether the model multiplies with a matrix of the role: with a head also where it is the embedding's table.
bool lora_present(Role role, uint32_t layer, const ModelSpec& spec);
// The number of a matrix that adapters may change, 1..lora_slots() - 1, or 0. The last one is the head's.
uint32_t lora_slot(Role role, uint32_t layer, const ModelSpec& spec);
uint32_t lora_slots(const ModelSpec& spec);

// Where rows and inputs of a matrix lie in GGUF files of the family.
struct LoraOrders {
  uint32_t head = 0;         // rows of a head, which lie as pairs there and are to lie as halves; 0: they lie as they are to
  uint32_t rope = 0;         // rows that come first here, and last there
  uint32_t n = 0;            // ... of so many
  uint32_t tiled_from = 0;   // from this row or input on
  uint32_t tiled_dim = 0;    // there are value heads of so many (0: none),
  uint32_t tiled_heads = 0;  // these many in all,
  uint32_t tiled_by = 0;     // of which the first of each of so many key heads come first
  bool of_inputs = false;    // they are the inputs

  uint32_t row(uint32_t i) const {
    if (head) return i - i % head + i % head % (head / 2) * 2 + i % head / (head / 2);
    if (rope) return i < rope ? n - rope + i : i - rope;
    return of_inputs ? i : tiled(i);
  }
  uint32_t column(uint32_t j) const { return of_inputs ? tiled(j) : j; }

 private:
  uint32_t tiled(uint32_t i) const {
    if (!tiled_dim || i < tiled_from) return i;
    const uint32_t each = tiled_heads / tiled_by, head_of = (i - tiled_from) / tiled_dim;
    return tiled_from + (head_of % each * tiled_by + head_of / each) * tiled_dim + (i - tiled_from) % tiled_dim;
  }
};
// orders: LoraOrder's bits of the family; a model that has heads tiled itself has them as its files do.
LoraOrders lora_orders(const ModelSpec& spec, Role role, uint32_t layer, uint32_t orders);
// What a file has of one matrix (n, k).
struct LoraTensors {
  Role role;
  uint32_t layer, n, k, rank;
  uint32_t first;  // row of b that the matrix begins at: a file may have several in one
  LoraOrders order;
  float scale;                                                        // alpha / rank
  GgufTensor a, b;                                                    // (rank, k), (..., rank)
  uint32_t row_of(uint32_t i) const { return first + order.row(i); }  // of b for output i
  uint32_t column_of(uint32_t j) const { return order.column(j); }    // of a for input j
};
struct LoraFile {
  const Gguf& file;
  const ModelSpec& spec;
  std::string_view family;  // general.architecture that the file must have
  uint32_t orders;          // as kLoraPairsKey has them
  float alpha = 0;
};
// fn(arg, tensors) for every matrix of the file, by their names in order, until one fails. Reads no values.
Status lora_tensors(LoraFile* in, void* arg, Status (*fn)(void* arg, const LoraTensors& t, Error* err), Error* err);
// Values first.. of a row of one of its tensors.
void lora_values(const GgufTensor& t, uint64_t row, float* to);

// That adapters can be computed beside this model.
Status lora_check(const linnet_model& model, Error* err);
Status lora_need(const linnet_model& model, linnet_view view, size_t* bytes, Error* err);
Status lora_init(linnet_lora** out, void* mem, size_t bytes, const linnet_model& model, linnet_view view, Error* err);
Status lora_set(linnet_session& s, uint32_t seq, const linnet_lora* const* loras, const float* scales, uint32_t n, Error* err);
// Whether rows with either of them can be multiplied together.
bool same_loras(const LoraUse& a, const LoraUse& b);

}  // namespace linnet

// The type that linnet_lora.h leaves opaque.
struct linnet_lora {
  const linnet_model* model;
  linnet::LowRank* parts;  // (lora_slots)
  linnet_lora_desc desc;
  char name[128];
};
