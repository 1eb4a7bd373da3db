#!/usr/bin/env python3
"""Makes tests/golden/lora: adapters of tiny models of this folder, as PEFT saves them, and the logits that PEFT gives with them.

    python make_lora.py [OUT]      OUT defaults to this folder's lora

Each adapter lies in a folder as PEFT saves it. lora.json lists cases: a model of this folder, adapters with their scales, the tokens that are
fed, the file of their logits. Values are random and large enough that every matrix changes the logits: an adapter's share of a matrix's
output is about a third.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.utils import transformers_weight_conversion
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

# Where targets name a shared expert's matrices PEFT takes the routed ones as well: these are not meant.
transformers_weight_conversion._convert_peft_config_moe = lambda config, model: None

HERE = Path(__file__).resolve().parent
# Most linear layers that adapters are computed of: of latent attention not kv_b_proj, of experts the shared one.
MIXERS = ["q_proj", "k_proj", "v_proj", "o_proj", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "in_proj", "out_proj", "in_proj_qkv", "in_proj_z",
          "in_proj_a", "in_proj_b", "in_proj_qkvz", "in_proj_ba"]
DENSE = MIXERS + ["gate_proj", "up_proj", "down_proj", "input_linear", "output_linear", "w1", "w2", "w3"]
SHARED = MIXERS + [f"{e}.{m}" for e in ("shared_expert", "shared_experts") for m in ("gate_proj", "up_proj", "down_proj")]
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

# Name: model, seed, what PEFT is asked for.
ADAPTERS = {
    "llama-all": ("llama", 1, dict(r=5, lora_alpha=7, target_modules=ALL)),
    "llama-some": ("llama", 2, dict(r=16, lora_alpha=8, target_modules=["q_proj", "v_proj"], layers_to_transform=[1])),
    "llama-rslora": ("llama", 3, dict(r=8, lora_alpha=4, use_rslora=True, target_modules=["k_proj", "o_proj", "down_proj"],
                                      rank_pattern={"o_proj": 3}, alpha_pattern={"down_proj": 9})),
    "qwen3-all": ("qwen3", 4, dict(r=17, lora_alpha=16, target_modules=ALL)),
    "phi3-fused": ("phi3", 5, dict(r=4, lora_alpha=4, target_modules=["qkv_proj", "o_proj", "gate_up_proj", "down_proj"])),
    "gpt2-conv": ("gpt2", 6, dict(r=4, lora_alpha=4, target_modules=["c_attn", "c_fc", "mlp.c_proj"], fan_in_fan_out=True)),
    "qwen3-5-linear": ("qwen3-5", 7, dict(r=4, lora_alpha=6, target_modules=DENSE)),
    "qwen3-next-linear": ("qwen3-next", 8, dict(r=4, lora_alpha=6, target_modules=SHARED)),
    "lfm2-linear": ("lfm2", 9, dict(r=3, lora_alpha=6, target_modules=DENSE)),
    "granite4-h-linear": ("granite4-h", 10, dict(r=4, lora_alpha=6, target_modules=DENSE)),
    "mamba2-linear": ("mamba2", 11, dict(r=4, lora_alpha=6, target_modules=["in_proj"])),
    "deepseek-v2-linear": ("deepseek-v2", 12, dict(r=4, lora_alpha=6, target_modules=DENSE)),
    "deepseek-v2-qlora-linear": ("deepseek-v2-qlora", 13, dict(r=4, lora_alpha=6, target_modules=DENSE)),
    "qwen2-moe-linear": ("qwen2-moe", 14, dict(r=4, lora_alpha=6, target_modules=SHARED)),
    "phi3-head": ("phi3", 15, dict(r=4, lora_alpha=6, target_modules=["qkv_proj", "lm_head"])),
    "qwen2-moe-gates": ("qwen2-moe", 17, dict(r=3, lora_alpha=6, target_modules=["shared_expert_gate", "v_proj"])),
    "afmoe-router": ("afmoe", 18, dict(r=4, lora_alpha=6, target_modules=["router.gate", "o_proj"])),
    "gemma4-moe-router": ("gemma4-moe", 19, dict(r=4, lora_alpha=6, target_modules=["router.proj", "o_proj"])),
    "lfm2-head": ("lfm2", 16, dict(r=4, lora_alpha=6, target_modules=["q_proj", "lm_head"])),  # tied: the embedding stays as it is
}
# Adapters with their scales, one after the other.
CASES = [["llama-all", 1.0]], [["llama-some", 1.0]], [["llama-rslora", 1.0]], [["qwen3-all", 1.0]], [["phi3-fused", 1.0]], [["gpt2-conv", 1.0]], \
    [["llama-all", 0.5], ["llama-rslora", 1.5]], [["qwen3-5-linear", 1.0]], [["qwen3-next-linear", 1.0]], [["lfm2-linear", 1.0]], \
    [["granite4-h-linear", 1.0]], [["mamba2-linear", 1.0]], [["deepseek-v2-linear", 1.0]], [["deepseek-v2-qlora-linear", 1.0]], [["qwen2-moe-linear", 1.0]], \
    [["phi3-head", 1.0]], [["lfm2-head", 1.0]], [["qwen2-moe-gates", 1.0]], [["afmoe-router", 1.0]], [["gemma4-moe-router", 1.0]]


def base(model):
    return AutoModelForCausalLM.from_pretrained(HERE / model, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager").eval()


def fill(peft, seed):
    """Of B's outputs about a third of what the matrix itself gives, whatever the scale is."""
    generator = torch.Generator().manual_seed(seed)
    for module in peft.modules():
        if not hasattr(module, "lora_A") or not len(module.lora_A):
            continue
        a, b = module.lora_A["default"].weight, module.lora_B["default"].weight
        w = module.get_base_layer().weight
        with torch.no_grad():
            a.copy_(torch.randn(a.shape, generator=generator) / a.shape[1] ** 0.5)
            size = w.square().mean().sqrt() * w.numel() ** 0.5 / b.shape[0] ** 0.5  # of an output on inputs of size one
            b.copy_(torch.randn(b.shape, generator=generator) * size / b.shape[1] ** 0.5 / 3 / abs(module.scaling["default"]))


def logits_of(case, tokens):
    model = ADAPTERS[case[0][0]][0]
    peft = PeftModel.from_pretrained(base(model), OUT / case[0][0], adapter_name="a0")
    for i, (name, _) in enumerate(case[1:], 1):
        peft.load_adapter(OUT / name, adapter_name=f"a{i}")
    peft.base_model.set_adapter([f"a{i}" for i in range(len(case))])
    for module in peft.modules():
        for i, (_, scale) in enumerate(case):
            if hasattr(module, "lora_A") and f"a{i}" in module.lora_A:
                module.scaling[f"a{i}"] *= scale
    with torch.no_grad():
        return peft(torch.tensor([tokens])).logits[0].float().numpy()


OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "lora"
OUT.mkdir(parents=True, exist_ok=True)
for name, (model, seed, how) in ADAPTERS.items():
    peft = get_peft_model(base(model), LoraConfig(task_type="CAUSAL_LM", **how))
    fill(peft, seed)
    peft.save_pretrained(OUT / name)
    (OUT / name / "README.md").unlink(missing_ok=True)
    config = json.loads((OUT / name / "adapter_config.json").read_text())
    config["target_modules"] = sorted(config["target_modules"])  # a set's order
    config["base_model_name_or_path"] = f"tests/golden/{model}"
    (OUT / name / "adapter_config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
listed = []
for case in CASES:
    model = ADAPTERS[case[0][0]][0]
    golden = json.loads((HERE / model / "golden.json").read_text())
    tokens = golden["tokens"][:24]
    logits = logits_of(case, tokens)
    plain = base(model)(torch.tensor([tokens])).logits[0].detach().numpy()
    file = "+".join(name for name, _ in case) + ".npy"
    np.save(OUT / file, logits[::3].astype(np.float32))
    listed.append(dict(model=model, adapters=[name for name, _ in case], scales=[scale for _, scale in case], tokens=tokens, every=3, logits=file))
    print(f"{file}: std {logits.std():.3g}, changed by {np.abs(logits - plain).max() / np.abs(plain).max():.3g} of the largest")
(OUT / "lora.json").write_text(json.dumps(listed) + "\n")
