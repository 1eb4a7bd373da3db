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
// u32: 1 where GGUF files of the family have the rows of a head of q and k as pairs of channels, and the model as halves.
inline constexpr char kLoraPairsKey[] = "linnet.adapter.pairs";

// The matrices of a layer that adapters may change.
inline constexpr Role kLoraRoles[] = {kAttnQ, kAttnK, kAttnV, kAttnGate, kAttnOut, kFfnGate, kFfnUp, kFfnDown};
inline constexpr uint32_t kLoraRolesOfLayer = sizeof kLoraRoles / sizeof kLoraRoles[0];
// The number of a matrix that adapters may change, 1..lora_slots() - 1, or 0.
uint32_t lora_slot(Role role, uint32_t layer, const ModelSpec& spec);
uint32_t lora_slots(const ModelSpec& spec);

// What a file has of one matrix (n, k).
struct LoraTensors {
  Role role;
  uint32_t layer, n, k, rank;
  uint32_t first;   // row of b that the matrix begins at: a file may have several in one
  uint32_t head;    // rows of a head, which lie as pairs in the file and are to lie as halves; 0: they lie as they are to
  float scale;      // alpha / rank
  GgufTensor a, b;  // (rank, k), (..., rank)
  uint32_t row_of(uint32_t i) const {  // of b for output i
    return first + (head ? i - i % head + i % head % (head / 2) * 2 + i % head / (head / 2) : i);
  }
};
struct LoraFile {
  const Gguf& file;
  const ModelSpec& spec;
  std::string_view family;  // general.architecture that the file must have
  bool pairs;               // as kLoraPairsKey has it
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
