// Model: immutable after init. Weights stay in the caller's file; spec, tables of views and tokenizer tables lie in the caller's memory.
#pragma once
#include "../kernels_cpu/registry.h"
#include "../platform/arena.h"
#include "chat.h"
#include "ops.h"
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
  Matrix q, k, v;                                    // (n_heads * head_dim, d_model), (n_kv_heads * head_dim, d_model) twice
  Matrix out;                                        // (d_model, n_heads * head_dim)
  const float *q_bias, *k_bias, *v_bias, *out_bias;  // or nullptr
  const float *q_norm, *k_norm;                      // (head_dim, or of all heads) or nullptr
  const float *q_norm_bias, *k_norm_bias;            // (head_dim) or nullptr
  const float* attn_sinks;                           // (n_heads) or nullptr
  // Latent attention: k and v are empty, q is (n_heads * (nope + rope), d_model or q_lora_rank), out (d_model, n_heads * v_head_dim).
  Matrix q_a;                         // (q_lora_rank, d_model) or empty
  Matrix kv_a;                        // (qk_rope_dim + kv_lora_rank, d_model)
  Matrix k_b, v_b;                    // of every head (kv_lora_rank, qk_nope_dim) and (v_head_dim, kv_lora_rank)
  const float *q_a_norm, *kv_a_norm;  // (q_lora_rank) or nullptr, (kv_lora_rank)
  Matrix gate, up;                    // (d_ff, d_model), gate may be empty; in layers with experts those of the shared one or empty
  Matrix down;                        // (d_model, d_ff)
  const float *gate_bias, *up_bias, *down_bias;
  Matrix router;                                 // (n_experts, d_model), or empty: no experts
  const float *router_bias, *router_correction;  // (n_experts) or nullptr
  Matrix expert_gate, expert_up,
      expert_down;  // of every expert (expert_ff, d_model) twice and (d_model, expert_ff), each padded to whole panels
  const float *expert_gate_bias, *expert_up_bias, *expert_down_bias;  // padded alike, or nullptr
  Matrix shared_gate;                                                 // (1, d_model) or empty
};

}  // namespace linnet

// The type that linnet.h leaves opaque.
struct linnet_model {
  linnet::ModelSpec spec;
  const linnet::Ops* ops;
  linnet::Kernels kernels;
  linnet_profile profile;               // what it was made with
  linnet::Matrix embedding, head;       // (n_vocab, d_model or embd_dim); the same when tied
  linnet::Matrix positions;             // (positions, d_model) or empty
  linnet::Matrix embd_in, embd_out;     // (d_model, embd_dim) and back, or empty
  linnet::Norm embd_norm, output_norm;  // (d_model), weight nullptr: none
  const float* head_bias;               // (n_vocab) or nullptr
  const float* alibi;                   // (n_heads) or nullptr
  linnet::Layer* layers;                // (n_layers)
  linnet::RopeFactors rope;
  linnet::Tokenizer tokenizer;  // blob == nullptr: none
  uint8_t* tokenizer_blob;
  char name[128];
  linnet::ChatFormat chat;
  uint64_t n_params, weight_bytes, decode_bytes, matrix_ops, head_ops;
  double bits[linnet::kPartCount];  // per weight
  linnet::Format main_format;
  uint64_t hash;                 // of what decides the numbers, as linnet_state_save documents it
  linnet::Arena arena;           // its table of purposes
  linnet::Arena device_memory;   // and that of a device
  const linnet::DeviceOps* own;  // nullptr: the CPU computes
  void* device;                  // its handle
  linnet::Blocks* blocks;        // of its memory
  uint32_t process;              // that made it, and has the device
};

namespace linnet {

// Fields of a profile that was filled by hand: LINNET_BAD_PROFILE names the one that is out of range.
Status check_profile(const linnet_profile& profile, Error* err);
// What computes: nullptr for the CPU.
Status choose_device(const linnet_profile& profile, const DeviceOps** own, Error* err);
Status model_need(linnet_view file, const linnet_profile& profile, linnet_need* out, Error* err);
void model_fini(linnet_model& m);
Status model_init(linnet_model** out, void* mem, size_t bytes, linnet_view file, const linnet_profile& profile, Error* err);

}  // namespace linnet
