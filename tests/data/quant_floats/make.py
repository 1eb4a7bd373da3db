"""Makes the folders beside it, tiny Llamas as each tool writes them, for test_quant_floats: python3 make.py [FOLDER]

Needs torch, transformers 5.24, compressed-tensors 0.20, nvidia-modelopt 0.47 and amd-quark 0.13 from PyPI; all of it runs on a CPU. want.txt has a
line for each matrix of a folder: its name, FNV-1a (64 bits) over the bytes of its weights as f32, and the first of them. The weights are what the
tool's own dequantisation makes of the stored tensors in f32.
"""
import json
import os
import shutil
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def model(d=64, ff=128, heads=2):
    torch.manual_seed(7)
    config = LlamaConfig(hidden_size=d, intermediate_size=ff, num_hidden_layers=1, num_attention_heads=heads, num_key_value_heads=1,
                         vocab_size=16, max_position_embeddings=64, tie_word_embeddings=False, dtype="bfloat16",
                         architectures=["LlamaForCausalLM"])
    m = LlamaForCausalLM(config).to(torch.bfloat16).eval()
    with torch.no_grad():
        for name, p in m.named_parameters():
            if name.endswith("_proj.weight"):
                p.copy_(torch.randn(p.shape) * 0.02 * (1 + 4 * torch.rand(p.shape[0], 1)))
                p[1, 3] = -0.0
    return m


def fnv(data):
    h = 14695981039346656037
    for b in data:
        h = (h ^ b) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return h


def tidy(folder, weights):
    """Leaves config.json, one model.safetensors and want.txt (weights: name -> f32)."""
    tensors = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with safe_open(os.path.join(folder, name), "pt") as f:
                tensors.update({key: f.get_tensor(key) for key in f.keys()})
        if name not in ("config.json", "hf_quant_config.json"):
            path = os.path.join(folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    save_file(tensors, os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "want.txt"), "w") as f:
        for name in sorted(weights):
            w = weights[name].to(torch.float32).contiguous() + 0.0  # no -0: codes of 4 bits have one in linnet, too, but not their values
            assert torch.isfinite(w).all(), name
            f.write(f"{name} {fnv(w.numpy().tobytes()):016x} {w.flatten()[0].item().hex()}\n")


def stored(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with safe_open(os.path.join(folder, name), "pt") as f:
                out.update({key: f.get_tensor(key) for key in f.keys()})
    return out


def linears(m):
    return [(name, mod) for name, mod in m.named_modules() if name.split(".")[-1] in LINEAR]


def compressed_tensors(folder, scheme, **size):
    from compressed_tensors.compressors.model_compressors import ModelCompressor
    from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
    from compressed_tensors.compressors.mx_utils import decompress_mx_scale
    from compressed_tensors.quantization import QuantizationConfig, QuantizationStatus, apply_quantization_config, dequantize
    from compressed_tensors.quantization.quant_scheme import preset_name_to_scheme
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam, maybe_pad_tensor_for_block_quant

    m = model(**size)
    config = QuantizationConfig(config_groups={"group_0": preset_name_to_scheme(scheme, ["Linear"])}, ignore=["lm_head"],
                                quantization_status=QuantizationStatus.INITIALIZED)
    apply_quantization_config(m, config)
    for _, mod in linears(m):
        args, w, g = mod.quantization_scheme.weights, mod.weight.data.float(), None
        if args.strategy == "tensor":
            lo, hi = w.min().reshape(1), w.max().reshape(1)
        elif args.strategy == "channel":
            lo, hi = w.amin(1, keepdim=True), w.amax(1, keepdim=True)
        elif args.strategy == "block":
            rows, cols = args.block_structure
            padded = maybe_pad_tensor_for_block_quant(w, (rows, cols))
            blocks = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // cols, cols).transpose(1, 2)
            lo, hi = blocks.amin((2, 3)), blocks.amax((2, 3))
        else:
            groups = w.reshape(w.shape[0], -1, args.group_size)
            lo, hi = groups.amin(2), groups.amax(2)
        if hasattr(mod, "weight_global_scale"):
            g = generate_gparam(w.min(), w.max())
            mod.weight_global_scale.data = g
        scale, _ = calculate_qparams(lo, hi, args, global_scale=g)
        mod.weight_scale.data = scale.to(mod.weight_scale.dtype).reshape(mod.weight_scale.shape)
        mod.quantization_status = QuantizationStatus.FROZEN
    schemes = {name: mod.quantization_scheme for name, mod in linears(m)}
    compressor = ModelCompressor.from_pretrained_model(m)
    compressor.compress_model(m)
    m.save_pretrained(folder)
    compressor.update_config(folder)
    t, weights = stored(folder), {}
    for name, scheme in schemes.items():
        args = scheme.weights
        if args.num_bits == 4:
            packed, g = t[name + ".weight_packed"], t.get(name + ".weight_global_scale")
            x = unpack_fp4_from_uint8(packed, packed.shape[0], packed.shape[1] * 2, dtype=torch.float32)
            scale = t[name + ".weight_scale"]
            scale = scale.float() if g is not None else decompress_mx_scale(scale).float()
        else:
            x, scale, g = t[name + ".weight"].float(), t[name + ".weight_scale"].float(), None
        weights[name + ".weight"] = dequantize(x_q=x, scale=scale, args=args, global_scale=g, dtype=torch.float32)
    tidy(folder, weights)


def modelopt(folder, config):
    import modelopt.torch.quantization as mtq
    from modelopt.torch.export import export_hf_checkpoint
    from modelopt.torch.quantization.qtensor import FP8QTensor, NVFP4QTensor

    m = model()
    ids = torch.arange(16).reshape(1, 16)
    mtq.quantize(m, getattr(mtq, config), lambda mod: mod(ids))
    export_hf_checkpoint(m, export_dir=folder)
    t, weights = stored(folder), {}
    for name in t:
        if not name.endswith("_proj.weight"):
            continue
        if t[name].dtype == torch.uint8:
            shape = (t[name].shape[0], t[name].shape[1] * 2)
            weights[name] = NVFP4QTensor(shape, torch.float32, t[name]).dequantize(
                dtype=torch.float32, scale=t[name + "_scale"], double_scale=t[name + "_scale_2"], block_sizes={-1: 16})
        else:
            weights[name] = FP8QTensor(t[name].shape, torch.float32, t[name]).dequantize(dtype=torch.float32, scale=t[name + "_scale"])
    tidy(folder, weights)


def quark(folder, spec):
    from quark.torch import ModelQuantizer, export_safetensors
    from quark.torch.quantization.config import config as c

    m = model()
    if spec == "mxfp4":
        weight = c.OCP_MXFP4Spec(ch_axis=-1, is_dynamic=False).to_quantization_spec()
    else:
        weight = c.FP8E4M3PerTensorSpec(observer_method="min_max", is_dynamic=False).to_quantization_spec()
    config = c.QConfig(global_quant_config=c.QLayerConfig(weight=weight), exclude=["lm_head"])
    m = ModelQuantizer(config).quantize_model(m, [torch.arange(16).reshape(1, 16)])
    m = ModelQuantizer.freeze(m)
    export_safetensors(m, folder)
    quark_values(folder)


def quark_values(folder):
    from quark.torch.kernel.hw_emulation.hw_emulation_interface import dequantize_fp4_fp6_per_group, dequantize_fp8_per_tensor_with_scale
    from quark.torch.utils.pack import Pack_fp4

    t, weights = stored(folder), {}
    for name in t:
        if not name.endswith("_proj.weight"):
            continue
        scale = t[name + "_scale"]
        if t[name].dtype == torch.uint8:
            x = Pack_fp4(None, "fp4").unpack(t[name], False)
            weights[name] = dequantize_fp4_fp6_per_group(x, 2.0 ** (scale.to(torch.float32) - 127), -1, 32)
        else:
            weights[name] = dequantize_fp8_per_tensor_with_scale(t[name], scale.to(torch.float32))
    tidy(folder, weights)


MAKERS = {
    "ct-fp8-channel": lambda f: compressed_tensors(f, "FP8_DYNAMIC"),
    "ct-fp8-block": lambda f: compressed_tensors(f, "FP8_BLOCK", d=128, ff=160),
    "ct-nvfp4": lambda f: compressed_tensors(f, "NVFP4A16"),
    "ct-mxfp4": lambda f: compressed_tensors(f, "MXFP4A16"),
    "modelopt-fp8": lambda f: modelopt(f, "FP8_DEFAULT_CFG"),
    "modelopt-nvfp4": lambda f: modelopt(f, "NVFP4_DEFAULT_CFG"),
    "quark-fp8": lambda f: quark(f, "fp8"),
    "quark-mxfp4": lambda f: quark(f, "mxfp4"),
}

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name, maker in MAKERS.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        folder = os.path.join(here, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        maker(folder)
        print(name, sum(os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder)))
