#!/usr/bin/env python3
"""Makes the tiny random checkpoints of this folder and their golden logits with Hugging Face transformers.

    python make.py [OUT] [name ...]      OUT defaults to this folder, names to all models

Every model is small and awkward on purpose: sizes that are multiples of nothing, planted outlier channels, logits
with a standard deviation near 3. Each gets the first seed whose greedy continuation does not hang on a near-tie.
"""
import copy
import json
import shutil
import sys
from itertools import count
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
import transformers
from torch.nn import functional as F
from safetensors.torch import load_file, save_file
from transformers import (AutoConfig, AutoModelForCausalLM, DeepseekV2Config, DeepseekV2ForCausalLM, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM,
                          Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)
from transformers.models.phimoe import modeling_phimoe as phimoe
from transformers.pytorch_utils import Conv1D

GREEDY = 24         # length of the greedy continuation
MARGIN = 5e-2       # smallest gap between the two best logits at any greedy step
LOGIT_STD = 3.0
OUTLIER = 8.0       # factor on two input channels of one projection per layer
K_OUTLIER = 20.0    # factor on two pairs of channels of every key, taken back in the queries
KL_LIMIT = 5e-3     # INT8 in groups of 128 must stay below this; an emulation of the products may use up half of it
KL_LIMIT_EXPERTS = 2e-2  # the same where INT8 may send a row to another expert
ROUTER_GAP = 1e-3   # smallest gap between the last expert taken and the first one left out, at any row


def tiny(kind, n_tokens, **sizes):
    """A row of MODELS in bf16 and with a small vocabulary: the folders stay small."""
    common = dict(vocab_size=67, bos_token_id=1, eos_token_id=2, pad_token_id=None, dtype="bfloat16")
    config = AutoConfig.for_model(kind, **common | sizes)
    return AutoModelForCausalLM._model_mapping[type(config)], n_tokens, config


class Limited:
    """Switch-style capacity, which no decoder of transformers has: the weights of what an expert is chosen for once it has `most` positions become 0."""
    most = None

    def __call__(self, router, args, out):
        if self.most is None:
            return out
        logits, weights, chosen = out
        before = torch.cumsum(F.one_hot(chosen, logits.shape[-1]).sum(1), 0) - 1  # of this expert, at each position
        return logits, weights * (before.gather(1, chosen) < self.most), chosen


LIMITED = Limited()


def limited(model):
    LIMITED.most = getattr(model.config, "expert_capacity", None)
    for m in model.modules():
        if type(m).__name__ == "Qwen3MoeTopKRouter":
            m.register_forward_hook(LIMITED)
    return model


MODELS = {
    # llama3 rope scaling: the wavelengths fall below, between and above the two limits 8 and 32, and the prompt is longer than 32.
    "llama": (LlamaForCausalLM, 64, LlamaConfig(
        vocab_size=259, hidden_size=64, intermediate_size=61, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=24, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
        bos_token_id=1, eos_token_id=[2, 5],
        rope_parameters=dict(rope_type="llama3", rope_theta=20000.0, factor=8.0, low_freq_factor=1.0,
                             high_freq_factor=4.0, original_max_position_embeddings=32))),
    "llama-mha-linear": (LlamaForCausalLM, 51, LlamaConfig(
        vocab_size=259, hidden_size=40, intermediate_size=60, num_hidden_layers=4, num_attention_heads=5,
        num_key_value_heads=5, max_position_embeddings=128, rms_norm_eps=1e-3, tie_word_embeddings=True,
        attention_bias=True, mlp_bias=True,
        rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=4.0))),
    "mistral": (MistralForCausalLM, 57, MistralConfig(
        vocab_size=259, hidden_size=56, intermediate_size=75, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=1, head_dim=40, max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=False,
        sliding_window=None, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
    "qwen2": (Qwen2ForCausalLM, 48, Qwen2Config(
        vocab_size=259, hidden_size=72, intermediate_size=68, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=1, max_position_embeddings=128, rms_norm_eps=1e-6, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
    "qwen3": (Qwen3ForCausalLM, 53, Qwen3Config(
        vocab_size=259, hidden_size=42, intermediate_size=91, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=24, max_position_embeddings=128, rms_norm_eps=1e-3, tie_word_embeddings=False,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
    # A window in every layer, and in all layers but the first; both shorter than the prompt, and no multiple of a page.
    "mistral-window": (MistralForCausalLM, 67, MistralConfig(
        vocab_size=259, hidden_size=56, intermediate_size=75, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=1, head_dim=40, max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=False,
        sliding_window=21, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
    "qwen2-window": (Qwen2ForCausalLM, 60, Qwen2Config(
        vocab_size=259, hidden_size=48, intermediate_size=68, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, rms_norm_eps=1e-6, tie_word_embeddings=True,
        use_sliding_window=True, sliding_window=17, max_window_layers=1,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
    # Keys with outlier channels, as trained models have them: what a KV cache has to bear (fill()).
    "llama-k-outliers": (LlamaForCausalLM, 60, LlamaConfig(
        vocab_size=259, hidden_size=64, intermediate_size=61, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=20000.0))),
    # Latent attention without experts. Latents of 128 channels and 32 more, which a cache in i8 scales apart.
    "deepseek-v2": (DeepseekV2ForCausalLM, 42, DeepseekV2Config(
        vocab_size=259, hidden_size=42, intermediate_size=43, num_hidden_layers=2, num_attention_heads=3,
        kv_lora_rank=160, q_lora_rank=None, qk_nope_head_dim=18, qk_rope_head_dim=32, v_head_dim=16,
        first_k_dense_replace=2, max_position_embeddings=128, rms_norm_eps=1e-6, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=10000.0))),
    # Queries by way of a latent of their own; norms of latents keep their eps of 1e-6.
    "deepseek-v2-qlora": (DeepseekV2ForCausalLM, 49, DeepseekV2Config(
        vocab_size=259, hidden_size=48, intermediate_size=59, num_hidden_layers=2, num_attention_heads=4,
        kv_lora_rank=32, q_lora_rank=27, qk_nope_head_dim=16, qk_rope_head_dim=32, v_head_dim=32,
        first_k_dense_replace=2, max_position_embeddings=128, rms_norm_eps=1e-3, tie_word_embeddings=False,
        bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="linear", rope_theta=20000.0, factor=2.0))),
    "gpt2": tiny("gpt2", 46, n_embd=24, n_layer=3, n_head=3, n_inner=52, n_positions=80),
    "gemma2": tiny("gemma2", 45, hidden_size=24, intermediate_size=36, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
                   query_pre_attn_scalar=13, attn_logit_softcapping=4.0, final_logit_softcapping=9.0, sliding_window=19, max_position_embeddings=128),
    "phi3": tiny("phi3", 44, hidden_size=24, intermediate_size=44, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
                 sliding_window=21, max_position_embeddings=128, original_max_position_embeddings=128),
    # The rotated part is 6 of 8 channels.
    "gpt-neox": tiny("gpt_neox", 45, hidden_size=32, intermediate_size=52, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=128,
                     rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.75)),
    "gptj": tiny("gptj", 43, n_embd=24, n_layer=2, n_head=3, n_inner=52, rotary_dim=6, n_positions=96),
    # Three layouts of one family: one K and V head; groups with two norms; ALiBi over three heads, serial, with biases.
    "falcon-7b": tiny("falcon", 46, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, multi_query=True),
    "falcon-40b": tiny("falcon", 42, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2, ffn_hidden_size=52,
                       new_decoder_architecture=True),
    "falcon-11b": tiny("falcon", 43, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2, ffn_hidden_size=44,
                       new_decoder_architecture=True, num_ln_in_parallel_attn=1, tie_word_embeddings=False,
                       rope_parameters=dict(rope_type="default", rope_theta=500042.0)),
    "falcon-rw": tiny("falcon", 45, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, ffn_hidden_size=52, alibi=True, bias=True,
                      multi_query=False, parallel_attn=False),
    "opt": tiny("opt", 44, hidden_size=24, ffn_dim=52, num_hidden_layers=2, num_attention_heads=3, word_embed_proj_dim=24, max_position_embeddings=80),
    "opt-350m": tiny("opt", 41, hidden_size=24, ffn_dim=44, num_hidden_layers=2, num_attention_heads=3, word_embed_proj_dim=16, max_position_embeddings=80,
                     do_layer_norm_before=False),
    "bloom": tiny("bloom", 43, hidden_size=24, n_layer=2, n_head=3),
    # Clipping low enough to bite, ALiBi over a number of heads that is no power of two.
    "mpt": tiny("mpt", 46, d_model=24, n_layers=2, n_heads=3, expansion_ratio=4, max_seq_len=128, attn_config=dict(clip_qkv=1.5, alibi=True)),
    "starcoder2": tiny("starcoder2", 45, hidden_size=24, intermediate_size=52, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                       sliding_window=17, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=100000.0)),
    "phi": tiny("phi", 43, hidden_size=24, intermediate_size=52, num_hidden_layers=2, num_attention_heads=3, max_position_embeddings=128,
                rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)),
    "phi-qk-norm": tiny("phi", 42, hidden_size=24, intermediate_size=52, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, qk_layernorm=True,
                        max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.75)),
    # Past the original context, so the long factors count; below it, with a part rotated.
    "phi3-longrope": tiny("phi3", 46, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                          max_position_embeddings=128, original_max_position_embeddings=32,
                          rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=32,
                                               short_factor=[1.0, 1.05, 1.1, 1.3], long_factor=[1.1, 1.7, 2.9, 4.3])),
    "phi4-mini": tiny("phi3", 42, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3,
                      max_position_embeddings=384, original_max_position_embeddings=96, tie_word_embeddings=True,
                      rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75, original_max_position_embeddings=96,
                                           short_factor=[1.0, 1.2, 1.5], long_factor=[1.1, 1.9, 3.7])),
    "gemma": tiny("gemma", 44, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=24,
                  max_position_embeddings=128),
    # Two RoPE bases, of which the global one is scaled; every third layer is global.
    "gemma3": tiny("gemma3_text", 47, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                   query_pre_attn_scalar=10, sliding_window=19, sliding_window_pattern=3, max_position_embeddings=128,
                   rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
                                        sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
    # As a part of a model that sees (WHOLE).
    "gemma3-whole": tiny("gemma3_text", 41, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                         query_pre_attn_scalar=12, sliding_window=15, sliding_window_pattern=2, max_position_embeddings=128,
                         rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
                                              sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
    "stablelm": tiny("stablelm", 44, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3, use_qkv_bias=True,
                     max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25)),
    "stablelm-12b": tiny("stablelm", 42, hidden_size=32, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         qk_layernorm=True, use_parallel_residual=True, max_position_embeddings=128,
                         rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.75)),
    "cohere": tiny("cohere", 45, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3, logit_scale=0.25,
                   max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=75000.0)),
    "cohere-plus": tiny("cohere", 43, hidden_size=32, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                        logit_scale=0.75, use_qk_norm=True, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=75000.0)),
    # Windows and RoPE in two layers of three, neither in the third.
    "cohere2": tiny("cohere2", 46, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1, logit_scale=0.25,
                    sliding_window=19, sliding_window_pattern=3, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=50000.0)),
    "granite": tiny("granite", 44, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                    tie_word_embeddings=True, embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22, attention_multiplier=0.25,
                    max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # Layers of attention alone, and a feed-forward step that is called the shared one.
    "granite4": tiny("granitemoehybrid", 44, hidden_size=24, intermediate_size=20, shared_intermediate_size=44, num_hidden_layers=2, num_attention_heads=3,
                     num_key_value_heads=1, num_local_experts=0, num_experts_per_tok=0, layer_types=["attention"] * 2, position_embedding_type="rope",
                     tie_word_embeddings=True, embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22, attention_multiplier=0.25,
                     mamba_n_heads=8, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # Mamba-2 in one group of five heads, around attention without RoPE; and in two groups beside experts, of other taps and with an end to steps.
    "granite4-h": tiny("granitemoehybrid", 46, hidden_size=40, intermediate_size=20, shared_intermediate_size=44, num_hidden_layers=3, num_attention_heads=5,
                       num_key_value_heads=1, num_local_experts=0, num_experts_per_tok=0, layer_types=["linear_attention", "full_attention", "linear_attention"],
                       mamba_n_heads=5, mamba_d_head=16, mamba_d_state=12, tie_word_embeddings=True, embedding_multiplier=12.0, logits_scaling=8.0,
                       residual_multiplier=0.22, attention_multiplier=0.25, max_position_embeddings=128),
    "granite4-h-moe": tiny("granitemoehybrid", 43, hidden_size=24, intermediate_size=20, shared_intermediate_size=28, num_hidden_layers=3, num_attention_heads=3,
                           num_key_value_heads=1, num_local_experts=5, num_experts_per_tok=2, layer_types=["full_attention", "linear_attention", "linear_attention"],
                           mamba_n_heads=6, mamba_d_head=8, mamba_d_state=20, mamba_n_groups=2, mamba_d_conv=3, mamba_conv_bias=False, time_step_limit=[0.3, 1.2],
                           position_embedding_type="rope", tie_word_embeddings=True, embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22,
                           attention_multiplier=0.25, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # Layers that are Mamba-2, attention, a feed-forward step or experts alone.
    "nemotron-h": tiny("nemotron_h", 44, hidden_size=40, intermediate_size=52, layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"],
                       num_attention_heads=3, num_key_value_heads=1, head_dim=16, mamba_num_heads=6, mamba_head_dim=12, n_groups=2, ssm_state_size=20,
                       max_position_embeddings=128),
    "nemotron-h-moe": tiny("nemotron_h", 43, hidden_size=24, intermediate_size=20, layers_block_type=["linear_attention", "moe", "full_attention", "moe"],
                           num_attention_heads=2, num_key_value_heads=1, head_dim=16, mamba_num_heads=5, mamba_head_dim=12, n_groups=1, ssm_state_size=20,
                           n_routed_experts=5, num_experts_per_tok=2, moe_intermediate_size=20, moe_shared_expert_intermediate_size=28, routed_scaling_factor=1.5,
                           max_position_embeddings=128),
    "bamba": tiny("bamba", 43, hidden_size=32, intermediate_size=36, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1, attn_layer_indices=[1],
                  mamba_n_heads=4, mamba_d_head=16, mamba_d_state=12, mamba_n_groups=2, tie_word_embeddings=False, max_position_embeddings=128,
                  rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)),
    # Attention and Mamba-2 side by side, factors on everything, no norm of what states give; and one, with a head that is the embedding.
    "falcon-h1": tiny("falcon_h1", 43, hidden_size=40, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=16,
                      mamba_d_ssm=54, mamba_n_heads=6, mamba_d_head=9, mamba_n_groups=2, mamba_d_state=12, tie_word_embeddings=False,
                      embedding_multiplier=1.7, lm_head_multiplier=0.6, key_multiplier=0.7, attention_in_multiplier=1.3, attention_out_multiplier=0.9,
                      ssm_in_multiplier=1.25, ssm_out_multiplier=0.8, ssm_multipliers=[1.4, 0.9, 1.2, 0.7, 1.1], mlp_multipliers=[0.8, 1.2],
                      max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=1e11)),
    "falcon-h1-norm": tiny("falcon_h1", 45, hidden_size=32, intermediate_size=36, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
                           mamba_d_ssm=48, mamba_n_heads=4, mamba_d_head=12, mamba_n_groups=2, mamba_d_state=20, mamba_rms_norm=True,
                           mamba_norm_before_gate=False, tie_word_embeddings=True, head_dim=16, embedding_multiplier=1.5, lm_head_multiplier=0.75,
                           mlp_bias=True, key_multiplier=0.8, attention_in_multiplier=1.2, attention_out_multiplier=0.7, mlp_multipliers=[1.3, 0.9],
                           max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "mamba2": tiny("mamba2", 43, hidden_size=24, num_hidden_layers=3, expand=2, num_heads=6, head_dim=8, state_size=20, n_groups=2, tie_word_embeddings=True,
                   residual_in_fp32=False),
    # Sinks; all but the first of four layers have a window, the last one no RoPE.
    "granite-swa": tiny("granite_swa", 45, hidden_size=24, intermediate_size=36, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
                        sliding_window=19, layer_rope_theta=[50000.0, 10000.0, 10000.0, 0], embedding_multiplier=12.0, logits_scaling=8.0,
                        residual_multiplier=0.22, attention_multiplier=0.25, max_position_embeddings=128,
                        rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "hyperclovax": tiny("hyperclovax", 44, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=12,
                        embedding_multiplier=3.0, logits_scaling=0.25, residual_multiplier=0.5, attention_multiplier=0.4, max_position_embeddings=128,
                        rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "seed-oss": tiny("seed_oss", 43, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=12,
                     max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000000.0)),
    # Windows in layers 1 to 3 and 5: no period that ends with a layer that sees all.
    "cwm": tiny("cwm", 46, hidden_size=24, intermediate_size=20, num_hidden_layers=6, num_attention_heads=3, num_key_value_heads=1, head_dim=8, sliding_window=19,
                eos_token_id=2, max_position_embeddings=128,
                rope_parameters=dict(rope_type="llama3", rope_theta=20000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                     original_max_position_embeddings=32)),
    # With windows there is RoPE in their layers alone; without any it is in all.
    "exaone4": tiny("exaone4", 46, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1, sliding_window=19,
                    sliding_window_pattern=3, max_position_embeddings=128,
                    rope_parameters=dict(rope_type="llama3", rope_theta=20000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                         original_max_position_embeddings=32)),
    "exaone4-full": tiny("exaone4", 43, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, sliding_window=None, layer_types=["full_attention"] * 2,
                         tie_word_embeddings=True, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "arcee": tiny("arcee", 44, hidden_size=24, intermediate_size=52, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, max_position_embeddings=128,
                  rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "jais2": tiny("jais2", 45, hidden_size=24, intermediate_size=52, num_hidden_layers=2, num_attention_heads=3, max_position_embeddings=128,
                  rope_parameters=dict(rope_type="default", rope_theta=500000.0)),
    "vaultgemma": tiny("vaultgemma", 45, hidden_size=24, intermediate_size=36, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                       query_pre_attn_scalar=13, attn_logit_softcapping=4.0, final_logit_softcapping=9.0, sliding_window=19, max_position_embeddings=128),
    # Every third layer is without RoPE.
    "smollm3": tiny("smollm3", 45, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
                    no_rope_layer_interval=3, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=50000.0)),
    "olmo2": tiny("olmo2", 43, hidden_size=32, intermediate_size=28, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=500000.0)),
    # YaRN in the layers without a window alone.
    "olmo3": tiny("olmo3", 47, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=3, sliding_window=19,
                  max_position_embeddings=128, rope_parameters=dict(
                      sliding_attention=dict(rope_type="default", rope_theta=500000.0),
                      full_attention=dict(rope_type="yarn", rope_theta=500000.0, factor=4.0, beta_fast=32, beta_slow=1, attention_factor=1.2,
                                          original_max_position_embeddings=32))),
    "glm4": tiny("glm4", 44, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                 attention_bias=True, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)),
    "ernie4-5": tiny("ernie4_5", 45, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=16,
                     max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=500000.0)),
    "hunyuan": tiny("hunyuan_v1_dense", 46, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=24,
                    tie_word_embeddings=True, max_position_embeddings=128,
                    rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, alpha=40.0, beta_fast=32, beta_slow=1, factor=1.0, mscale=1.0, mscale_all_dim=1.0)),
    # Queries grow with the logarithm of the number of original contexts that have passed.
    "ministral3": tiny("ministral3", 47, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=24,
                       max_position_embeddings=128,
                       rope_parameters=dict(rope_type="yarn", rope_theta=1000000.0, factor=8.0, beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0,
                                            original_max_position_embeddings=16, llama_4_scaling_beta=0.1)),
    # Past the context; past the original context.
    "llama-dynamic": tiny("llama", 45, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                          max_position_embeddings=32, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=2.0)),
    "llama-yarn": tiny("llama", 46, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=24,
                       max_position_embeddings=128,
                       rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, beta_fast=2.0, beta_slow=0.25, original_max_position_embeddings=32)),
    # Gates by ReLU and by the sigmoid alone.
    "llama-reglu": tiny("llama", 43, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, hidden_act="relu",
                        max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "llama-glu": tiny("llama", 44, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, hidden_act="sigmoid",
                      max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "mixtral": tiny("mixtral", 43, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, num_local_experts=5,
                    num_experts_per_tok=2, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    # Experts in every other layer, beside a shared one that has a gate.
    "qwen2-moe": tiny("qwen2_moe", 42, hidden_size=24, intermediate_size=28, moe_intermediate_size=12, shared_expert_intermediate_size=20, num_hidden_layers=3,
                      num_attention_heads=3, num_key_value_heads=1, num_experts=6, num_experts_per_tok=3, decoder_sparse_step=2, norm_topk_prob=False,
                      max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    # The best 2 of 3 groups, then the best 3 experts in them; past the original context, with two different mscales.
    "deepseek-v2-moe": tiny("deepseek_v2", 44, hidden_size=24, intermediate_size=36, moe_intermediate_size=10, num_hidden_layers=2, num_attention_heads=2,
                            kv_lora_rank=32, q_lora_rank=None, qk_nope_head_dim=8, qk_rope_head_dim=32, v_head_dim=16, first_k_dense_replace=1,
                            n_routed_experts=6, n_shared_experts=2, num_experts_per_tok=3, n_group=3, topk_group=2, topk_method="group_limited_greedy",
                            norm_topk_prob=False, routed_scaling_factor=1.7, max_position_embeddings=128,
                            rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=8.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=0.7,
                                                 original_max_position_embeddings=16)),
    # The dense layer is the second.
    "qwen3-moe": tiny("qwen3_moe", 45, hidden_size=24, intermediate_size=28, moe_intermediate_size=12, num_hidden_layers=3, num_attention_heads=2,
                      num_key_value_heads=1, head_dim=24, num_experts=4, num_experts_per_tok=2, mlp_only_layers=[1], norm_topk_prob=True,
                      max_position_embeddings=128, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    # One expert for each row, weighed by its score, and no more than 9 rows for each.
    "switch": tiny("qwen3_moe", 43, hidden_size=24, intermediate_size=28, moe_intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                   head_dim=8, num_experts=4, num_experts_per_tok=1, norm_topk_prob=False, expert_capacity=9, max_position_embeddings=128,
                   rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # Sigmoid scores with a bias that counts for the choice alone.
    "deepseek-v3": tiny("deepseek_v3", 47, hidden_size=24, intermediate_size=36, moe_intermediate_size=8, num_hidden_layers=2, num_attention_heads=2,
                        num_key_value_heads=2, kv_lora_rank=32, q_lora_rank=20, qk_nope_head_dim=8, qk_rope_head_dim=32, v_head_dim=16, first_k_dense_replace=1,
                        n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3, n_group=4, topk_group=2, norm_topk_prob=True,
                        routed_scaling_factor=2.5, max_position_embeddings=128,
                        rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0,
                                             original_max_position_embeddings=32)),
    "granite-moe": tiny("granitemoe", 44, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                        num_local_experts=5, num_experts_per_tok=2, max_position_embeddings=128, tie_word_embeddings=True, embedding_multiplier=6.0,
                        logits_scaling=3.0, residual_multiplier=0.22, attention_multiplier=0.25, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "glm4-moe-lite": tiny("glm4_moe_lite", 45, hidden_size=24, intermediate_size=36, moe_intermediate_size=8, num_hidden_layers=2, num_attention_heads=2,
                          num_key_value_heads=2, kv_lora_rank=32, q_lora_rank=20, qk_nope_head_dim=12, qk_rope_head_dim=32, v_head_dim=16,
                          n_routed_experts=6, n_shared_experts=1, num_experts_per_tok=2, max_position_embeddings=128,
                          rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "youtu": tiny("youtu", 44, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, kv_lora_rank=32, q_lora_rank=20,
                  qk_nope_head_dim=12, qk_rope_head_dim=32, v_head_dim=16, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # Values as large as a head of the model; the long factors count.
    "minicpm3": tiny("minicpm3", 46, hidden_size=48, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3, kv_lora_rank=32,
                     q_lora_rank=20, qk_nope_head_dim=12, qk_rope_head_dim=32, scale_emb=3, scale_depth=0.9, dim_model_base=16, max_position_embeddings=32,
                     rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=32, factor=1.0,
                                          short_factor=[1.0 + 0.01 * i for i in range(16)], long_factor=[1.1 + 0.2 * i for i in range(16)])),
    "olmoe": tiny("olmoe", 44, hidden_size=24, intermediate_size=14, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, num_experts=5,
                  num_experts_per_tok=2, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "dots1": tiny("dots1", 45, hidden_size=24, intermediate_size=36, moe_intermediate_size=10, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
                  head_dim=8, n_routed_experts=6, n_shared_experts=2, num_experts_per_tok=2, first_k_dense_replace=1, norm_topk_prob=True, routed_scaling_factor=1.5,
                  max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "glm4-moe": tiny("glm4_moe", 44, hidden_size=24, intermediate_size=36, moe_intermediate_size=10, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                     head_dim=16, n_routed_experts=6, num_experts_per_tok=2, attention_bias=True, use_qk_norm=True, routed_scaling_factor=1.5, max_position_embeddings=128,
                     rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)),
    # Experts in the second and fourth layer.
    "ernie4-5-moe": tiny("ernie4_5_moe", 43, hidden_size=24, intermediate_size=40, moe_intermediate_size=10, num_hidden_layers=4, num_attention_heads=4,
                         num_key_value_heads=2, moe_num_experts=5, moe_k=2, moe_num_shared_experts=2, moe_layer_interval=2, max_position_embeddings=128,
                         rope_parameters=dict(rope_type="default", rope_theta=500000.0)),
    "hunyuan-moe": tiny("hunyuan_v1_moe", 43, hidden_size=24, intermediate_size=14, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                        num_experts=5, moe_topk=2, max_position_embeddings=128, rope_parameters=None),
    # RoPE in the layers with a window alone, two of three; experts from the second layer on.
    "afmoe": tiny("afmoe", 46, hidden_size=24, intermediate_size=28, moe_intermediate_size=10, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
                  head_dim=12, num_experts=5, num_experts_per_tok=2, num_shared_experts=1, route_scale=1.5, global_attn_every_n_layers=3, sliding_window=19,
                  mup_enabled=True, max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    # The clamp of SwiGLU is low enough to bite.
    "gpt-oss": tiny("gpt_oss", 45, hidden_size=24, intermediate_size=14, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=24,
                    num_local_experts=4, num_experts_per_tok=2, sliding_window=19, swiglu_limit=1.5, max_position_embeddings=128,
                    rope_parameters=dict(rope_type="yarn", rope_theta=150000.0, factor=4.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                                         original_max_position_embeddings=32)),
    # Chunks of 18 positions where there is RoPE, temperature where there is none; experts in the second and fourth layer.
    "llama4": tiny("llama4_text", 47, hidden_size=24, intermediate_size=10, intermediate_size_mlp=28, num_hidden_layers=4, num_attention_heads=3,
                   num_key_value_heads=1, head_dim=8, num_local_experts=4, num_experts_per_tok=1, interleave_moe_layer_step=2, no_rope_layer_interval=3,
                   attention_chunk_size=18, floor_scale=8, attn_scale=0.3, max_position_embeddings=128,
                   rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                        original_max_position_embeddings=16)),
    # Short convolutions first and last; the width of the feed-forward step is made of three numbers.
    "lfm2": tiny("lfm2", 46, hidden_size=40, intermediate_size=60, num_hidden_layers=3, num_attention_heads=5, num_key_value_heads=1, norm_eps=1e-4,
                 block_multiple_of=20, block_ffn_dim_multiplier=1.1, layer_types=["conv", "full_attention", "conv"], max_position_embeddings=128,
                 rope_parameters=dict(rope_type="default", rope_theta=20000.0)),
    "lfm2-taps": tiny("lfm2", 43, hidden_size=24, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=2, conv_L_cache=5,
                      block_auto_adjust_ff_dim=False, layer_types=["conv", "conv", "full_attention"], max_position_embeddings=128,
                      rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    "lfm2-moe": tiny("lfm2_moe", 45, hidden_size=24, intermediate_size=36, moe_intermediate_size=12, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
                     num_dense_layers=1, num_experts=5, num_experts_per_tok=2, routed_scaling_factor=1.5, layer_types=["conv", "conv", "full_attention", "conv"],
                     max_position_embeddings=128, rope_parameters=dict(rope_type="default", rope_theta=20000.0)),
    # Seven taps, windows, RoPE that turns half of the pairs where all is seen, a gate for each head, norms of what branches give.
    "lfm3": tiny("lfm3", 44, hidden_size=24, intermediate_size=36, num_hidden_layers=5, num_attention_heads=4, num_key_value_heads=2, head_dim=12, sliding_window=9,
                 layer_types=["conv", "full_attention", "sliding_attention", "conv", "full_attention"], max_position_embeddings=128),
    # Two experts, each with a weight of its own choice: thresholds wide enough for several; LongRoPE with the model's own factor, below the original context.
    "phimoe": tiny("phimoe", 30, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, num_local_experts=4,
                   num_experts_per_tok=2, router_jitter_noise=0.3, attention_bias=True, lm_head_bias=True, sliding_window=128, max_position_embeddings=384,
                   rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=96, short_mscale=1.243, long_mscale=1.243,
                                        short_factor=[1.0, 1.05, 1.2, 1.5], long_factor=[1.1, 1.7, 2.9, 4.3])),
    # xIELU, whose numbers each layer has, without a gate.
    "apertus": tiny("apertus", 44, hidden_size=40, intermediate_size=60, num_hidden_layers=2, num_attention_heads=5, num_key_value_heads=1, tie_word_embeddings=False,
                    max_position_embeddings=128, rope_parameters=dict(rope_type="llama3", rope_theta=20000.0, factor=8.0, low_freq_factor=1.0,
                                                                      high_freq_factor=4.0, original_max_position_embeddings=32)),
    # Norms within both branches, a gate by squared ReLU.
    "bitnet": tiny("bitnet", 44, hidden_size=40, intermediate_size=60, num_hidden_layers=2, num_attention_heads=5, num_key_value_heads=1, tie_word_embeddings=True,
                   max_position_embeddings=128),
    # No norm has weights, RoPE turns the other way, and heads are normed behind it.
    "nanochat": tiny("nanochat", 44, hidden_size=40, intermediate_size=60, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128),
    # Gated delta nets, three value heads to a key head, beside attention whose gate lies in its queries' matrix.
    "qwen3-5": tiny("qwen3_5_text", 45, hidden_size=40, intermediate_size=44, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1, head_dim=24,
                    linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=12, linear_value_head_dim=20, linear_conv_kernel_dim=4,
                    layer_types=["linear_attention", "full_attention", "linear_attention"], max_position_embeddings=128, tie_word_embeddings=True,
                    rope_parameters=dict(rope_type="default", rope_theta=20000.0, partial_rotary_factor=0.25)),
    # Experts in every layer, beside a shared one that has a gate.
    "qwen3-5-moe": tiny("qwen3_5_moe_text", 44, hidden_size=24, moe_intermediate_size=12, shared_expert_intermediate_size=20, num_hidden_layers=3,
                        num_attention_heads=2, num_key_value_heads=1, head_dim=16, num_experts=5, num_experts_per_tok=2, linear_num_key_heads=3,
                        linear_num_value_heads=6, linear_key_head_dim=8, linear_value_head_dim=12, linear_conv_kernel_dim=4,
                        layer_types=["linear_attention", "full_attention", "linear_attention"], max_position_embeddings=128,
                        rope_parameters=dict(rope_type="default", rope_theta=20000.0, partial_rotary_factor=0.25)),
    # Norms before the branches of gated delta nets, whose q, k and v come apart, and behind those of attention; no RoPE.
    "olmo-hybrid": tiny("olmo_hybrid", 44, hidden_size=40, intermediate_size=44, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=10, linear_value_head_dim=18, linear_conv_kernel_dim=4,
                        layer_types=["linear_attention", "full_attention"], max_position_embeddings=128,
                        rope_parameters=dict(rope_type="default", rope_theta=None)),
    # Every channel of a key fades by itself; latent attention without RoPE; experts from the second layer on.
    "kimi-linear": tiny("kimi_linear", 46, hidden_size=40, intermediate_size=44, moe_intermediate_size=12, num_hidden_layers=3, num_attention_heads=2,
                        num_key_value_heads=2, kv_lora_rank=32, q_lora_rank=None, qk_nope_head_dim=12, qk_rope_head_dim=32, v_head_dim=16, linear_head_dim=14,
                        linear_num_heads=2, linear_conv_kernel_dim=4, num_local_experts=6, num_experts_per_tok=2, n_shared_experts=1, routed_scaling_factor=1.5,
                        layer_types=["linear_attention", "full_attention", "linear_attention"], mlp_layer_types=["dense", "sparse", "sparse"],
                        max_position_embeddings=128),
    # The same with projections that go by key head, and another number of taps.
    "qwen3-next": tiny("qwen3_next", 45, hidden_size=24, intermediate_size=28, moe_intermediate_size=12, shared_expert_intermediate_size=20, num_hidden_layers=3,
                       num_attention_heads=2, num_key_value_heads=1, head_dim=16, num_experts=5, num_experts_per_tok=2, norm_topk_prob=True,
                       linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=8, linear_value_head_dim=12, linear_conv_kernel_dim=3,
                       layer_types=["linear_attention", "full_attention", "linear_attention"], max_position_embeddings=128,
                       rope_parameters=dict(rope_type="default", rope_theta=20000.0, partial_rotary_factor=0.25)),
    # Four residual streams, a branch of low rank beside attention, gates of which most are 0 in three layers; the last two look at earlier ones' keys, tokens past 60 have the first one's
    # embeddings of layers.
    "gemma3n": tiny("gemma3n_text", 44, hidden_size=32, intermediate_size=44, num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
                    hidden_size_per_layer_input=16, vocab_size_per_layer_input=60, num_kv_shared_layers=2, laurel_rank=10, sliding_window=15,
                    layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2, activation_sparsity_pattern=[0.8] * 3 + [0.0] * 3,
                    final_logit_softcapping=12.0, max_position_embeddings=128, rope_parameters=None),
    # What llama.cpp takes for granted: the first ten layers' gates, keys of their own in the first twenty, a softcap of 30.
    "gemma3n-gates": tiny("gemma3n_text", 44, hidden_size=32, intermediate_size=128, num_hidden_layers=4, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
                          hidden_size_per_layer_input=16, vocab_size_per_layer_input=67, num_kv_shared_layers=0, laurel_rank=8, sliding_window=15,
                          layer_types=["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"], activation_sparsity_pattern=[0.95] * 4,
                          max_position_embeddings=128, rope_parameters=None),
    # Two sizes of heads, keys that are values where all is seen, norms of values, RoPE that turns half of those heads' pairs, a factor for each layer.
    "gemma4": tiny("gemma4_text", 47, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
                   global_head_dim=20, num_global_key_value_heads=1, attention_k_eq_v=True, hidden_size_per_layer_input=0, sliding_window=19,
                   layer_types=["sliding_attention", "full_attention"] * 2, final_logit_softcapping=9.0, max_position_embeddings=128,
                   rope_parameters=dict(full_attention=dict(rope_type="proportional", rope_theta=1000000.0, partial_rotary_factor=0.5),
                                        sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
    # Embeddings of layers; the last three layers look at earlier ones' keys and are twice as wide.
    "gemma4-e2b": tiny("gemma4_text", 45, hidden_size=24, intermediate_size=20, num_hidden_layers=6, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                       global_head_dim=16, hidden_size_per_layer_input=16, vocab_size_per_layer_input=70, num_kv_shared_layers=3, use_double_wide_mlp=True,
                       sliding_window=15, layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2, final_logit_softcapping=12.0,
                       max_position_embeddings=128, rope_parameters=None),
    "gemma4-moe": tiny("gemma4_text", 46, hidden_size=24, intermediate_size=20, moe_intermediate_size=12, num_hidden_layers=3, num_attention_heads=4,
                       num_key_value_heads=2, head_dim=8, global_head_dim=16, num_global_key_value_heads=1, attention_k_eq_v=True, hidden_size_per_layer_input=0,
                       enable_moe_block=True, num_experts=5, top_k_experts=2, sliding_window=17,
                       layer_types=["sliding_attention", "full_attention", "full_attention"], final_logit_softcapping=10.0, max_position_embeddings=128,
                       rope_parameters=None),
    # As a part of a model that sees and hears (WHOLE).
    "gemma4-unified": tiny("gemma4_unified_text", 43, pad_token_id=0, hidden_size=24, intermediate_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                           head_dim=8, global_head_dim=16, num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=17,
                           layer_types=["sliding_attention", "sliding_attention", "full_attention"], final_logit_softcapping=10.0,
                           max_position_embeddings=128, rope_parameters=None),
    # bf16 in two shards with an index
    "smollm2": (LlamaForCausalLM, 50, LlamaConfig(
        vocab_size=515, hidden_size=72, intermediate_size=92, num_hidden_layers=2, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, dtype="bfloat16",
        rope_parameters=dict(rope_type="default", rope_theta=100000.0))),
}

# These get the config.json that published checkpoints have (transformers 4): rope_theta at top level, rope_scaling
# with "type", torch_dtype, and none of the newer keys; and what is named here besides (None: the key goes). The others
# keep what the pinned transformers (5) writes: rope_parameters and dtype. Both must read the same, which golden() proves
# by loading the folder again.
PUBLISHED = {
    "llama-mha-linear": {},
    "qwen2": dict(sliding_window=32, use_sliding_window=False, max_window_layers=1),  # a window, switched off; shorter than the prompt here
    "gpt2": dict(n_ctx=80, architectures=["GPT2LMHeadModel"], task_specific_params={"text-generation": {"do_sample": True, "max_length": 50}}),
    "gemma2": dict(cache_implementation="hybrid", hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh"),
    "gptj": dict(rotary=True, gradient_checkpointing=False, scale_attn_weights=True),
    "falcon-7b": dict(num_kv_heads=3, ffn_hidden_size=None, num_ln_in_parallel_attn=None, activation=None, rope_theta=None, rope_scaling=None,
                      max_position_embeddings=None, apply_residual_connection_post_layernorm=False),
    "falcon-40b": dict(rope_theta=None, rope_scaling=None),
    "falcon-11b": dict(ff_factor=4),
    "falcon-rw": dict(rope_theta=None, rope_scaling=None),
    "opt": dict(activation_dropout=0.0),
    "opt-350m": dict(activation_dropout=0.0),
    "bloom": dict(n_embed=24, hidden_size=None, n_head=None, num_attention_heads=3, n_inner=None, attention_softmax_in_fp32=True, bias_dropout_fusion=True,
                  masked_softmax_fusion=True, offset_alibi=100, skip_bias_add=True, skip_bias_add_qkv=False, seq_length=128, unk_token_id=0),
    "mpt": dict(verbose=0, attn_config=dict(alibi=True, alibi_bias_max=8, attn_impl="torch", attn_pdrop=0, attn_type="multihead_attention",
                                            attn_uses_sequence_id=False, clip_qkv=1.5, prefix_lm=False, qk_ln=False, softmax_scale=None)),
    "phi": {},
    "phi3-longrope": dict(partial_rotary_factor=None, rope_scaling=dict(type="longrope", short_factor=[1.0, 1.05, 1.1, 1.3], long_factor=[1.1, 1.7, 2.9, 4.3])),
    "gemma3": dict(head_dim=8, _sliding_window_pattern=None, sliding_window_pattern=3, cache_implementation="hybrid"),
    "gemma3-whole": dict(head_dim=8, _sliding_window_pattern=None, sliding_window_pattern=2, cache_implementation="hybrid"),
    "gemma3n": dict(intermediate_size=[44] * 6, layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2, head_dim=12),
    "gemma4": dict(per_layer_config=None, global_head_dim=20, num_global_key_value_heads=1, layer_types=["sliding_attention", "full_attention"] * 2),
    "gemma4-e2b": dict(per_layer_config=None, global_head_dim=16, head_dim=8, num_global_key_value_heads=None,
                       layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2),
    "gemma4-unified": dict(per_layer_config=None, global_head_dim=16, num_global_key_value_heads=1, use_bidirectional_attention="vision",
                           layer_types=["sliding_attention", "sliding_attention", "full_attention"]),
    "stablelm": {},
    "cohere": {},
    "cohere2": dict(sliding_window_pattern=3, layer_switch=3, order_of_interleaved_layers="local_attn_first", position_embedding_type="rope_gptj", rotary_pct=1.0,
                    use_embedding_sharing=True, use_gated_activation=True, use_parallel_block=True, use_parallel_embedding=True, cache_implementation="hybrid"),
    "smollm3": dict(max_window_layers=28),
    "dots1": dict(scoring_func="noaux_tc", moe_layer_freq=1, aux_loss_alpha=0.001),
    "glm4-moe": dict(num_mtp_layers=None, num_nextn_predict_layers=1),
    "glm4-moe-lite": dict(mlp_layer_types=None, first_k_dense_replace=1, moe_layer_freq=1, topk_method="noaux_tc", num_nextn_predict_layers=1),
    "minicpm3": dict(v_head_dim=None),
    "olmoe": {},
    "afmoe": dict(layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"], score_func="sigmoid", route_norm=True,
                  num_expert_groups=1, num_limited_groups=1, n_group=1, topk_group=1, load_balance_coeff=0.001, use_grouped_mm=True),
    "granite4": dict(layer_types=["attention"] * 2, init_method="mup", normalization_function="rmsnorm", time_step_limit=None),
    "granite4-h": dict(layer_types=["mamba", "attention", "mamba"], init_method="mup", normalization_function="rmsnorm", position_embedding_type="nope",
                       time_step_limit=None, rope_theta=10000, rope_scaling=None),
    "falcon-h1": dict(mamba_use_mlp=True, mlp_expansion_factor=8, time_step_floor=0.0001, time_step_max=0.1, time_step_min=0.001, time_step_limit=None),
    "nemotron-h": dict(hybrid_override_pattern="M-*M-", layers_block_type=None, num_hidden_layers=5),
    "exaone4": dict(sliding_window_pattern="LLG", layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]),
    "seed-oss": {},
    "arcee": {},
    "bitnet": {},
    "apertus": dict(post_norm=False, qk_norm=True, mlp_bias=False, hidden_dropout=0.0),
    "olmo3": dict(layer_types=["sliding_attention"] * 3 + ["full_attention"]),
    "glm4": dict(head_dim=8),
    "hunyuan": dict(use_qk_norm=True, attention_head_dim=24),
    "llama-dynamic": {},
    "deepseek-v2-moe": dict(aux_loss_alpha=0.001, ep_size=1, moe_layer_freq=1, scoring_func="softmax", seq_aux=True, head_dim=None, mlp_bias=None),
    "deepseek-v3": dict(aux_loss_alpha=0.001, ep_size=1, moe_layer_freq=1, scoring_func="sigmoid", topk_method="noaux_tc", seq_aux=True, head_dim=None,
                        num_mtp_layers=None, num_nextn_predict_layers=1, rope_interleave=None),
    "gpt-oss": dict(swiglu_alpha=None, experts_per_token=2, initial_context_length=32, layer_types=["sliding_attention", "full_attention"]),
    "qwen3-moe": dict(num_experts=4, num_local_experts=None, max_window_layers=3),
    "mixtral": {},
    "lfm2": dict(full_attn_idxs=[1], block_dim=40, block_ff_dim=60, block_norm_eps=1e-4, block_use_swiglu=True, block_mlp_init_scale=1.0, block_out_init_scale=1.0,
                 block_use_xavier_init=True, conv_dim=40, conv_dim_out=40, conv_use_xavier_init=True, num_heads=5, use_pos_enc=True, tie_embedding=True),
    "qwen3-next": dict(full_attention_interval=2, mlp_only_layers=[], decoder_sparse_step=1, head_dim=16, use_sliding_window=False),
    "gpt-neox": dict(rotary_pct=0.75, rotary_emb_base=10000, rope_theta=None, rope_scaling=None, partial_rotary_factor=None, attention_bias=None),
}


def publish(config, name):
    rope = None if name.startswith("gemma4") else config.pop("rope_parameters", None)
    if rope and "full_attention" in rope:
        if name.startswith("gemma3"):
            config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    if rope:
        config["rope_theta"] = rope.pop("rope_theta")
        kind = rope.pop("rope_type")
        if "partial_rotary_factor" in rope:
            config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
        config["rope_scaling"] = None if kind == "default" else {"rope_type" if name in ("gemma3", "gemma3-whole", "olmo3", "gpt-oss", "apertus") else "type": kind, **rope}
    config["torch_dtype"] = config.pop("dtype")
    config.pop("transformers_version")
    config.pop("layer_types", None)
    if config.get("head_dim") in (None, config.get("hidden_size", 0) // config.get("num_attention_heads", 1)):
        config.pop("head_dim", None)  # as it was before the key existed
    config.update(PUBLISHED[name])
    return dict(sorted((key, value) for key, value in config.items() if value is not None or key not in PUBLISHED[name]))


# What the matrices of a layer are for, by the names that families give them, and the gain of a matrix by its use. Into the stream: times its branch.
USES = {
    "qkv": (1.2, "q_proj k_proj qkv_proj query_key_value c_attn Wqkv q_b_proj kv_b_proj"),
    "convolution in": (0.8, "in_proj"),  # three of its rows are multiplied with each other
    "taps": (1.0, "conv conv1d"),
    "delta in": (1.0, "in_proj_qkv in_proj_z in_proj_qkvz g_proj g_a_proj g_b_proj"),
    "delta heads": (0.5, "in_proj_a in_proj_b in_proj_ba a_proj b_proj f_a_proj f_b_proj"),
    "layer input": (1.0, "per_layer_model_projection per_layer_input_gate linear_left"),
    "v": (1.0, "v_proj q_a_proj kv_a_proj_with_mqa"),
    "attention out": (1.4, "o_proj out_proj dense"),
    "gate": (1.2, "gate_proj gate_up_proj dense_h_to_4h c_fc fc1 fc_in w1 input_linear"),
    "up": (1.0, "up_proj w3"),
    "down": (1.0, "down_proj dense_4h_to_h c_proj fc2 fc_out w2 output_linear per_layer_projection linear_right"),
    "router": (1.5, "gate wg router shared_expert_gate proj modality_router prediction_coefs correction_coefs"),
    "projection": (1.0, "project_in project_out"),
}
USE_OF = {part: use for use, (_, parts) in USES.items() for part in parts.split()}
PLANTED = ("down", "gate", "attention out", "v")  # outliers, by layer
EMBEDDINGS = ("embed_tokens", "embeddings", "wte", "word_embeddings", "embed_in")
POSITIONS = ("wpe", "embed_positions")


def inputs_first(module):
    """Matrices stored [in, out]: GPT-2's, and the stacked experts of gpt-oss and Llama 4."""
    return isinstance(module, Conv1D) or type(module).__name__ in ("GptOssExperts", "Llama4TextExperts")


@torch.no_grad()
def fill(model, seed):
    """Random weights under which every part matters and yet no layer blows up the rounding of the one before."""
    rng = torch.Generator().manual_seed(seed)
    config = model.config
    hidden = config.hidden_size
    embed = LOGIT_STD * getattr(config, "logits_scaling", 1.0) / (getattr(config, "logit_scale", None) or 1.0) / hidden ** 0.5 if config.tie_word_embeddings else 1.0
    stream = embed * getattr(config, "embedding_multiplier", 1.0) / getattr(config, "residual_multiplier", 1.0)
    if "gemma" in config.model_type or getattr(config, "mup_enabled", False):  # scales its embeddings
        stream *= hidden ** 0.5
    branch = stream * (2 / config.num_hidden_layers) ** 0.5
    for name, p in sorted(model.named_parameters()):
        words = name.split(".")
        part = words[-2] if words[-1] in ("weight", "bias") else words[-1]
        layer = next((int(word) for word in words if word.isdigit()), None)
        noise = torch.randn(p.shape, generator=rng)
        if part == "embed_tokens_per_layer":
            p.copy_(noise / config.hidden_size_per_layer_input ** 0.5)
        elif "altup_" in name:  # between streams
            p.copy_(noise / hidden ** 0.5)
        elif part == "modality_router":
            p.copy_(noise * hidden ** 0.5)  # what it reads is divided by hidden
        elif part == "prediction_coefs":
            p.copy_(0.1 * noise)
        elif part == "correction_coefs":
            p.copy_(0.2 * noise)
        elif part in ("scale", "per_expert_scale", "correct_output_scale"):  # of routers
            p.copy_(1 + 0.25 * noise)
        elif part in EMBEDDINGS:
            p.copy_(embed * noise)
        elif part in POSITIONS:
            p.copy_(0.7 * stream * noise)
        elif name.endswith(("e_score_correction_bias", "expert_bias")):
            p.copy_(0.2 * noise)
        elif part in ("sinks", "dt_bias", "D", "alpha_p", "alpha_n"):
            p.copy_(noise)
        elif part == "A_log":
            p.copy_(0.5 * noise - 1)
        elif name.endswith("bias"):
            p.copy_(noise * (0.1 * stream if USE_OF.get(part.removesuffix("_bias")) in ("attention out", "down") else 0.2))  # the stream sums up the former
        elif part == "lm_head":
            p.copy_(noise / hidden ** 0.5)
        elif "norm" in name or part.startswith("ln_"):
            p.copy_(1 + 0.25 * noise)
            if layer is None and part != "word_embeddings_layernorm" and config.tie_word_embeddings:
                # A tied head finds the last token's own embedding in the residual stream and would repeat it for ever.
                p.mul_(torch.randint(2, p.shape, generator=rng) * 2 - 1)
            if ("gemma" in config.model_type and not config.model_type.startswith(("gemma3n", "gemma4"))) or (config.model_type.startswith(("qwen3_5", "qwen3_next")) and "linear_attn" not in name):  # adds 1
                p.sub_(1)
        else:
            use = USE_OF[part]
            gain = USES[use][0] * (branch if use in ("attention out", "down") else 1)
            by_input = noise.transpose(-1, -2) if inputs_first(model.get_submodule(".".join(words[:-1]))) else noise
            if layer is not None and use == PLANTED[layer % len(PLANTED)]:
                by_input[..., torch.randperm(by_input.shape[-1], generator=rng)[:2]] *= OUTLIER
            p.copy_(noise * gain / by_input.square().sum(-1).mean().sqrt())
            if part in ("q_proj", "k_proj") and config.name_or_path == "llama-k-outliers":
                heads = p.view(-1, config.head_dim, hidden)
                for pair in (3, 17):  # RoPE rotates channel i with channel i + head_dim / 2
                    for channel in (pair, pair + config.head_dim // 2):
                        heads[:, channel] *= K_OUTLIER if part == "k_proj" else 1 / K_OUTLIER
    for name, buffer in sorted(model.named_buffers()):
        if name.endswith("layer_scalar"):
            buffer.copy_(1 + 0.25 * torch.randn(buffer.shape, generator=rng))
        if name.endswith(("act_fn.beta", "act_fn.eps")):
            buffer.copy_(buffer + 0.2 * torch.rand(buffer.shape, generator=rng) - 0.2)
        if name.endswith(("e_score_correction_bias", "expert_bias")):
            buffer.copy_(0.2 * torch.randn(buffer.shape, generator=rng))


def looks_at_length(config):
    rope = getattr(config, "rope_parameters", None) or {}
    return rope.get("rope_type") == "dynamic" and not rope.get("alpha")


@torch.no_grad()
def logits_of(model, tokens):
    if looks_at_length(model.config):
        model(torch.tensor([tokens[:1]]), use_cache=False)  # takes back the frequencies of a longer text
    return model(torch.tensor([tokens]), use_cache=False).logits[0]


@torch.no_grad()
def scale_logits(model, tokens):
    """A tied head changes the residual stream too, hence the iteration."""
    for _ in range(6):
        model.get_output_embeddings().weight.mul_(LOGIT_STD / logits_of(model, tokens).std())


def greedy(model, tokens):
    """The continuation and the smallest gap between the two best logits on the way. Where frequencies follow the length, that is the whole length at every step."""
    out, gap = [], float("inf")
    whole = GREEDY if looks_at_length(model.config) else 0
    for i in range(GREEDY):
        best = logits_of(model, tokens + out + [0] * (whole - i))[len(tokens) + i - 1].topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        out.append(int(best.indices[0]))
    return out, gap


def router_gap(model, tokens):
    """The smallest gap between the last expert (or group) taken and the first one left out, over all layers and rows."""
    gaps = [float("inf")]
    topk = torch.topk

    def watched(scores, k, *args, **kwargs):
        if k < scores.shape[-1]:
            best = topk(scores.float(), k + 1, dim=-1).values
            gaps.append(float((best[..., k - 1] - best[..., k]).min()))
        return topk(scores, k, *args, **kwargs)

    mixer = phimoe.sparsemixer

    def mixed(scores, jitter_eps, **kwargs):
        left = scores
        for _ in range(2):
            best, chosen = left.max(-1, keepdim=True)
            ratio = (best - scores) / scores.abs().clamp(min=best)
            ratio[left == float("-inf")] = float("inf")
            gaps.append(float((ratio - 2 * jitter_eps).abs().min()) / 8)  # what is near counts much more than who is last
            left = left.scatter(-1, chosen, float("-inf"))
        return mixer(scores, jitter_eps=jitter_eps, **kwargs)

    with patch("torch.topk", watched), patch("torch.Tensor.topk", watched), patch.object(phimoe, "sparsemixer", mixed):
        logits_of(model, tokens)
    return min(gaps)


def quantised(x, group=128):
    """Symmetric int8 by groups along the last axis, back as f32; what INT8 weights and rows do to a matrix."""
    parts = []
    for part in x.split(group, dim=-1):
        scale = part.abs().amax(-1, keepdim=True).clamp_min(1e-30) / 127
        parts.append((part / scale).round().clamp(-127, 127) * scale)
    return torch.cat(parts, -1)


@torch.no_grad()
def kl_int8(model, tokens, want):
    """Mean KL divergence from the f32 logits when every matrix product is W8A8. Changes the model."""
    routers = (USES["router"][1] + " " + USES["delta heads"][1]).split()  # stay in f32, as positions do
    for name, m in model.named_modules():
        if (isinstance(m, (torch.nn.Linear, Conv1D)) or type(m).__name__.endswith("Experts")) and name.split(".")[-1] not in routers:
            m.register_forward_pre_hook(lambda m, args: (quantised(args[0]), *args[1:]))
    for name, p in model.named_parameters():  # visits a tied matrix once
        words = name.split(".")
        if p.dim() > 1 and not set(words) & {*POSITIONS, *routers, "q_norm", "k_norm"} and not isinstance(model.get_submodule(name.rpartition(".")[0]), torch.nn.Conv1d):
            by_input = p.transpose(-1, -2) if inputs_first(model.get_submodule(".".join(words[:-1]))) else p
            by_input.copy_(quantised(by_input))
    got = logits_of(model, tokens).log_softmax(-1)
    return float(F.kl_div(got, want.log_softmax(-1), log_target=True, reduction="batchmean"))


def attention(name):
    """Falcon's eager attention of this transformers adds ALiBi twice, in the scores and in the mask; the other one does not."""
    return "sdpa" if name == "falcon-rw" else "eager"


def search(name):
    """The first seed with clear greedy steps, a varied continuation without end of text, and room for INT8."""
    cls, n_tokens, config = MODELS[name]
    config._attn_implementation, config._experts_implementation = attention(name), "eager"
    config.name_or_path = name
    eos = np.atleast_1d(config.eos_token_id)
    for seed in count():
        rng = np.random.default_rng(seed)
        tokens = [1] + [int(t) for t in rng.integers(6, config.vocab_size, n_tokens - 1)]
        model = limited(cls(config).float().eval())
        fill(model, seed)
        scale_logits(model, tokens)
        if config.dtype == torch.bfloat16:
            for name, p in model.state_dict().items():  # not the RoPE frequencies that the model also holds
                p.copy_(p.bfloat16().float())
        out, gap = greedy(model, tokens)
        routed = router_gap(model, tokens + out)
        if gap < MARGIN or routed < ROUTER_GAP * (4 if hasattr(config, "mamba_n_heads") else 1) or len(set(out)) < GREEDY // 2 or np.isin(out, eos).any():
            continue
        limit = 1.2e-2 if config.model_type in ("lfm3", "gemma3n_text") else KL_LIMIT if routed == float("inf") else KL_LIMIT_EXPERTS  # LFM3's products of three are normed, and so is what few gates of Gemma 3n let through
        if kl_int8(copy.deepcopy(model), tokens, logits_of(model, tokens)) < limit * (0.9 if config.model_type.startswith(("qwen3_5", "qwen3_next", "olmo_hybrid", "kimi_linear", "nemotron", "falcon_h1", "bamba", "mamba2", "lfm3", "gemma3n")) else 0.5):  # norms of what states give amplify
            return seed, tokens, model


def golden(folder, seed, tokens):
    """The expected values come from the folder as written, weights upcast to f32."""
    def load(dtype):
        return limited(AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation=attention(folder.name), experts_implementation="eager").eval())

    model = load(torch.float32)
    logits = logits_of(model, tokens)
    exact = logits_of(load(torch.float64), tokens)
    out, gap = greedy(model, tokens)
    assert gap >= MARGIN
    info = {
        "tokens": tokens,
        "greedy": out,
        "greedy_gap": round(gap, 4),
        "logit_std": round(float(logits.std()), 4),
        "logit_max": round(float(logits.abs().max()), 4),
        "f32_error": float(f"{(logits - exact).abs().max() / exact.abs().max():.2g}"),  # of the largest, against f64
        "kl_w8a8": float(f"{kl_int8(model, tokens, logits):.3g}"),  # mean KL of an emulated i8g128 forward
        "parameters": model.num_parameters(),
        "seed": seed,
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
    }
    np.save(folder / "golden_logits.npy", logits.numpy())
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in info.items())
    (folder / "golden.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return logits, info


# Published as a part of a model that sees: its class, config and a tiny part for images.
WHOLE = {
    "gemma3-whole": (transformers.Gemma3ForConditionalGeneration, transformers.Gemma3Config, dict(mm_tokens_per_image=1, vision_config=dict(
        hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1, image_size=4, patch_size=4, vision_use_head=False))),
    "gemma4-unified": (transformers.Gemma4UnifiedForConditionalGeneration, transformers.Gemma4UnifiedConfig, dict(
        vision_config=dict(patch_size=1, pooling_kernel_size=1, mm_embed_dim=4, mm_posemb_size=4, output_proj_dims=24), audio_config=dict(audio_embed_dim=4))),
}


def whole(name, model):
    cls, config, parts = WHOLE[name]
    all_of_it = cls(config(text_config=model.config.to_dict(), dtype="bfloat16", **parts)).bfloat16()
    all_of_it.model.language_model.load_state_dict(model.model.state_dict())
    all_of_it.tie_weights()
    return all_of_it


def make(name, out):
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    seed, tokens, model = search(name)
    want = logits_of(model, tokens)
    bf16 = model.config.dtype == torch.bfloat16
    if bf16:
        model.bfloat16()
    else:
        model.config.dtype = torch.float32
    if name in WHOLE:
        model = whole(name, model)
    model.save_pretrained(folder, max_shard_size="150KB" if name == "smollm2" else "5MB")
    if model.config.get_text_config().vocab_size < 259:
        (folder / "generation_config.json").unlink()  # says nothing that config.json does not
    if name in PUBLISHED:
        file = folder / "config.json"
        config = json.loads(file.read_text())
        if name in WHOLE:
            config["torch_dtype"] = config.pop("dtype")
            config["text_config"] = publish(config["text_config"] | dict(dtype="bfloat16", transformers_version=""), name)
        else:
            config = publish(config, name)
        file.write_text(json.dumps(config, indent=2) + "\n")
    if name in ("gpt2", "bloom", "deepseek-v3", "qwen3-5-moe", "olmo-hybrid"):  # published without the prefix; with masks that are no weights; with a layer more, for speculation; experts in one tensor; convolutions that this transformers cuts in thirds
        file = str(folder / "model.safetensors")
        tensors = {key.removeprefix("transformer."): value for key, value in load_file(file).items()}
        if name == "gpt2":
            tensors["h.0.attn.bias"] = torch.ones(80, 80, dtype=torch.bfloat16).tril().view(1, 1, 80, 80)
        if name == "deepseek-v3":
            tensors["model.layers.2.enorm.weight"] = torch.ones(24, dtype=torch.bfloat16)
            tensors["model.layers.2.eh_proj.weight"] = torch.ones(24, 48, dtype=torch.bfloat16)
        if name == "olmo-hybrid":
            net = model.model.layers[0].linear_attn
            for part, taps in zip("qkv", net.conv1d.weight.split([net.key_dim, net.key_dim, net.value_dim])):
                tensors[f"model.layers.0.linear_attn.{part}_conv1d.weight"] = taps.contiguous()
        for i in range(model.config.num_hidden_layers if name == "qwen3-5-moe" else 0):
            experts = f"model.layers.{i}.mlp.experts."
            gate, up, down = (torch.stack([tensors.pop(f"{experts}{e}.{part}_proj.weight") for e in range(model.config.num_experts)]) for part in ("gate", "up", "down"))
            tensors[experts + "gate_up_proj"], tensors[experts + "down_proj"] = torch.cat([gate, up], 1), down
        save_file(tensors, file, {"format": "pt"})
    logits, info = golden(folder, seed, tokens)
    assert torch.equal(logits, want), "the folder does not read back as the model that was saved"
    for file in folder.iterdir():
        file.chmod(0o644)
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name:18}", f"{size:7} bytes", *(f"{k} {info[k]}" for k in
          ("parameters", "logit_std", "logit_max", "greedy_gap", "f32_error", "kl_w8a8", "seed")), flush=True)


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name in sys.argv[2:] or MODELS:
        make(name, out)


if __name__ == "__main__":
    main()
