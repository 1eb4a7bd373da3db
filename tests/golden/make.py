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

import numpy as np
import torch
import transformers
from torch.nn import functional as F
from transformers import (AutoModelForCausalLM, DeepseekV2Config, DeepseekV2ForCausalLM, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM,
                          Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)

GREEDY = 24         # length of the greedy continuation
MARGIN = 5e-2       # smallest gap between the two best logits at any greedy step
LOGIT_STD = 3.0
OUTLIER = 8.0       # factor on two input channels of one projection per layer
K_OUTLIER = 20.0    # factor on two pairs of channels of every key, taken back in the queries
KL_LIMIT = 5e-3     # INT8 in groups of 128 must stay below this; an emulation of the products may use up half of it

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
    # bf16 in two shards with an index
    "smollm2": (LlamaForCausalLM, 50, LlamaConfig(
        vocab_size=515, hidden_size=72, intermediate_size=92, num_hidden_layers=2, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, dtype="bfloat16",
        rope_parameters=dict(rope_type="default", rope_theta=100000.0))),
}

# These two get the config.json that published checkpoints have (transformers 4): rope_theta at top level, rope_scaling
# with "type", torch_dtype, and none of the newer keys. The others keep what the pinned transformers (5) writes:
# rope_parameters and dtype. Both must read the same, which golden() proves by loading the folder again.
PUBLISHED = ("llama-mha-linear", "qwen2")


def publish(config):
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rope}
    config["torch_dtype"] = config.pop("dtype")
    config.pop("transformers_version")
    config.pop("layer_types", None)
    config.pop("head_dim", None)  # hidden_size / num_attention_heads, as it was before the key existed
    if config["model_type"] == "qwen2":  # published files name a window and switch it off; shorter than the prompt here
        config.update(sliding_window=32, use_sliding_window=False, max_window_layers=1)
    return dict(sorted(config.items()))


@torch.no_grad()
def fill(model, seed):
    """Random weights under which every part matters and yet no layer blows up the rounding of the one before."""
    rng = torch.Generator().manual_seed(seed)
    config = model.config
    hidden = config.hidden_size
    embed = LOGIT_STD / hidden ** 0.5 if config.tie_word_embeddings else 1.0
    branch = embed * (2 / config.num_hidden_layers) ** 0.5
    gain = {"q_proj": 1.2, "k_proj": 1.2, "v_proj": 1.0, "o_proj": 1.4 * branch,
            "q_a_proj": 1.0, "q_b_proj": 1.2, "kv_a_proj_with_mqa": 1.0, "kv_b_proj": 1.2, "gate_proj": 1.2, "up_proj": 1.0, "down_proj": 1.0 * branch}
    planted = ("down_proj", "gate_proj", "o_proj", "v_proj")  # by layer
    for name, p in sorted(model.named_parameters()):
        part = name.split(".")[-2]
        noise = torch.randn(p.shape, generator=rng)
        if part == "embed_tokens":
            p.copy_(embed * noise)
        elif part == "lm_head":
            p.copy_(noise / hidden ** 0.5)
        elif "norm" in part:
            p.copy_(1 + 0.25 * noise)
            if part == "norm" and config.tie_word_embeddings:
                # A tied head finds the last token's own embedding in the residual stream and would repeat it for ever.
                p.mul_(torch.randint(2, p.shape, generator=rng) * 2 - 1)
        elif name.endswith("bias"):
            p.copy_(noise * (0.1 * embed if part in ("o_proj", "down_proj") else 0.2))  # the stream sums up the former
        else:
            if part == planted[int(name.split(".")[2]) % len(planted)]:
                noise[:, torch.randperm(p.shape[1], generator=rng)[:2]] *= OUTLIER
            p.copy_(noise * gain[part] / noise.square().sum(1).mean().sqrt())
            if part in ("q_proj", "k_proj") and config.name_or_path == "llama-k-outliers":
                heads = p.view(-1, config.head_dim, hidden)
                for pair in (3, 17):  # RoPE rotates channel i with channel i + head_dim / 2
                    for channel in (pair, pair + config.head_dim // 2):
                        heads[:, channel] *= K_OUTLIER if part == "k_proj" else 1 / K_OUTLIER


@torch.no_grad()
def logits_of(model, tokens):
    return model(torch.tensor([tokens]), use_cache=False).logits[0]


@torch.no_grad()
def scale_logits(model, tokens):
    """A tied head changes the residual stream too, hence the iteration."""
    for _ in range(6):
        model.get_output_embeddings().weight.mul_(LOGIT_STD / logits_of(model, tokens).std())


def greedy(model, tokens):
    """The continuation and the smallest gap between the two best logits on the way."""
    out, gap = [], float("inf")
    for _ in range(GREEDY):
        best = logits_of(model, tokens + out)[-1].topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        out.append(int(best.indices[0]))
    return out, gap


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
    for m in model.modules():
        if isinstance(m, torch.nn.Linear):
            m.register_forward_pre_hook(lambda m, args: (quantised(args[0]),))
    for p in model.parameters():  # visits a tied matrix once
        if p.dim() == 2:
            p.copy_(quantised(p))
    got = logits_of(model, tokens).log_softmax(-1)
    return float(F.kl_div(got, want.log_softmax(-1), log_target=True, reduction="batchmean"))


def search(name):
    """The first seed with clear greedy steps, a varied continuation without end of text, and room for INT8."""
    cls, n_tokens, config = MODELS[name]
    config._attn_implementation = "eager"
    config.name_or_path = name
    eos = np.atleast_1d(config.eos_token_id)
    for seed in count():
        rng = np.random.default_rng(seed)
        tokens = [1] + [int(t) for t in rng.integers(6, config.vocab_size, n_tokens - 1)]
        model = cls(config).float().eval()
        fill(model, seed)
        scale_logits(model, tokens)
        if config.dtype == torch.bfloat16:
            for p in model.parameters():  # the parameters alone: the model also holds RoPE frequencies
                p.data = p.data.bfloat16().float()
        out, gap = greedy(model, tokens)
        if gap < MARGIN or len(set(out)) < GREEDY // 2 or np.isin(out, eos).any():
            continue
        if kl_int8(copy.deepcopy(model), tokens, logits_of(model, tokens)) < KL_LIMIT / 2:
            return seed, tokens, model


def golden(folder, seed, tokens):
    """The expected values come from the folder as written, weights upcast to f32."""
    def load(dtype):
        return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()

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
    model.save_pretrained(folder, max_shard_size="150KB" if bf16 else "5MB")
    if name in PUBLISHED:
        file = folder / "config.json"
        file.write_text(json.dumps(publish(json.loads(file.read_text())), indent=2) + "\n")
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
