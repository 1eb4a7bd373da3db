// Model: immutable after init. Weights stay in the caller's file; spec, tables of views and tokenizer tables lie in the caller's memory.
#pragma once
#include "../kernels_cpu/registry.h"
#include "../platform/arena.h"
#include "backend.h"
#include "chat.h"
#include "rope.h"
#include "spec.h"
#include "tensor.h"
#include "tokenizer/tokenizer.h"

namespace linnet {

// One decoder layer. Matrices are (outputs, inputs); biases and norm weights are padded with zeros to a multiple of 16.
struct Layer {
  LayerSpec spec;
  // Norms are (d_model); their weight is nullptr where the spec's arrangement has none. Before a branch and behind it.
  Norm attn_norm, attn_post_norm, ffn_norm, ffn_post_norm;
  void *mixer, *feed_forward;  // their tensors, as the kinds have them
  LayerInput input;
  StreamTensors streams;
};

}  // namespace linnet

// The type that linnet.h leaves opaque.
struct linnet_model {
  linnet::ModelSpec spec;
  const linnet::Backend* backend;  // what computes
  void* handle;                    // its handle
  linnet::Kernels kernels;
  linnet_profile profile;                                                              // what it was made with
  linnet::Matrix embedding, head;                                                      // (n_vocab, d_model or embd_dim); the same when tied
  linnet::Matrix positions;                                                            // (positions, d_model) or empty
  linnet::Matrix embd_in, embd_out;                                                    // (d_model, embd_dim) and back, or empty
  linnet::Norm embd_norm, output_norm;                                                 // (d_model), weight nullptr: none
  linnet::Matrix layer_embd;                                                           // (layer_embd_vocab * n_layers, layer_embd) or empty
  linnet::Matrix layer_embd_proj;                                                      // (n_layers * layer_embd, d_model)
  const float* layer_embd_norm;                                                        // (layer_embd)
  linnet::Matrix streams_in[linnet::kStreams - 1], streams_out[linnet::kStreams - 1];  // each (d_model, d_model) or empty
  linnet::Matrix dense[2];     // that vectors go through: (dense_mid, d_model) and (dense_out, dense_mid), or the latter alone
  const float* dense_bias[2];  // or nullptr
  const float* head_bias;      // (n_vocab) or nullptr
  const float* alibi;          // (n_heads) or nullptr
  linnet::Layer* layers;       // (n_layers)
  linnet::RopeFactors rope;
  linnet::Tokenizer tokenizer;  // blob == nullptr: none
  uint8_t* tokenizer_blob;
  char name[128], family[32];    // family: general.architecture of its file
  const uint8_t* key_exponents;  // as kLoraExponentsKey has them, or nullptr
  bool adapters;                 // the file says how adapters fit (lora.h)
  uint32_t gguf_orders;          // LoraOrder: where those in GGUF lie in another order
  linnet::ChatFormat chat;
  uint64_t n_params, weight_bytes, layer_embd_bytes, decode_bytes, matrix_ops, head_ops;
  double bits[linnet::kPartCount];  // per weight
  linnet::Format main_format;
  uint64_t hash;        // of what decides the numbers, as linnet_state_save documents it
  linnet::Arena arena;  // its table of purposes
  linnet::Arena own;    // and that of the backend's memory
};

namespace linnet {

// Weights that a pass may read all of: what stays in a mapped file is not memory that a cap counts.
inline uint64_t resident_bytes(const linnet_model& m) { return m.weight_bytes - m.layer_embd_bytes; }

// Fields of a profile that was filled by hand: LINNET_BAD_PROFILE names the one that is out of range.
Status check_profile(const linnet_profile& profile, Error* err);
// As much of a file's text as `out` holds, cut between characters.
void copy_text(std::string_view text, char (&out)[128]);
Status model_need(linnet_view file, const linnet_profile& profile, linnet_need* out, Error* err);
void model_fini(linnet_model& m);
Status model_init(linnet_model** out, void* mem, size_t bytes, linnet_view file, const linnet_profile& profile, Error* err);

}  // namespace linnet
