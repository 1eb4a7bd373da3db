"""Tiny checkpoints in integers as compressed-tensors writes them, for tests/unit/test_quant.cpp.

pip install compressed-tensors==0.20.0 safetensors==0.8.0 (with torch, on the CPU), then from this folder: python3 make.py

Of each folder expected.txt has the CRC-32C of every matrix in f32 as the package itself decompresses it, with its scales widened to f32
before, since it multiplies in their type. What the package does not write any more (act-order by groups) the test writes itself.
"""
import json
import pathlib

import torch
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationConfig, QuantizationScheme
from compressed_tensors.quantization.utils import calculate_qparams
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
HIDDEN, HEADS, KV, DIM, FF, VOCAB = 128, 2, 1, 32, 64, 16
MATRICES = {"self_attn.q_proj": (HEADS * DIM, HIDDEN), "self_attn.k_proj": (KV * DIM, HIDDEN), "self_attn.v_proj": (KV * DIM, HIDDEN),
            "self_attn.o_proj": (HIDDEN, HEADS * DIM), "mlp.gate_proj": (FF, HIDDEN), "mlp.up_proj": (FF, HIDDEN), "mlp.down_proj": (HIDDEN, FF)}


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def parameters(weight, args):
    """Scale and zero point of each tensor, output, group or block by its least and largest value."""
    n, k = weight.shape
    if args.strategy == "tensor":
        parts = weight.reshape(1, 1, -1)
    elif args.strategy == "channel":
        parts = weight.reshape(n, 1, k)
    elif args.strategy == "group":
        parts = weight.reshape(n, k // args.group_size, args.group_size)
    else:
        h, w = args.block_structure
        parts = weight.reshape(n // h, h, k // w, w).permute(0, 2, 1, 3).reshape(n // h, k // w, h * w)
    scale, zero = calculate_qparams(parts.amin(-1), parts.amax(-1), args)
    if args.strategy == "tensor":
        scale, zero = scale.reshape(1), zero.reshape(1)
    return scale.to(weight.dtype), zero.to(torch.int8)


def make(name, dtype, groups, fmt):
    """groups: of each its targets, settings of weights and format."""
    torch.manual_seed(len(name))
    schemes = [QuantizationScheme(targets=targets, weights=QuantizationArgs(**args), format=own) for targets, args, own in groups]
    tensors, lines = {}, []
    floats = {"model.embed_tokens.weight": (VOCAB, HIDDEN), "lm_head.weight": (VOCAB, HIDDEN), "model.norm.weight": (HIDDEN,),
              "model.layers.0.input_layernorm.weight": (HIDDEN,), "model.layers.0.post_attention_layernorm.weight": (HIDDEN,)}
    for key, shape in floats.items():
        tensors[key] = torch.randn(shape).to(torch.float16)
    for key, shape in MATRICES.items():
        scheme = schemes[0]
        for one in schemes[1:]:
            scheme = one if any(part in key for part in ("mlp", "v_proj")) else scheme
        weight = (torch.randn(shape) * 0.05 + 0.01).to(dtype)
        scale, zero = parameters(weight, scheme.weights)
        compressor = BaseCompressor.get_value_from_registry(scheme.format or fmt)
        state = compressor.compress({"weight": weight, "weight_scale": scale, "weight_zero_point": zero}, scheme)
        tensors.update({f"model.layers.0.{key}.{part}": value.contiguous() for part, value in state.items()})
        wide = compressor.decompress({**state, "weight_scale": state["weight_scale"].float()}, scheme)["weight"]
        assert wide.dtype == torch.float32 and wide.shape == weight.shape
        lines.append(f"model.layers.0.{key}.weight {crc32c(wide.contiguous().numpy().tobytes()):08x}")
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": HIDDEN, "intermediate_size": FF, "num_hidden_layers": 1,
              "num_attention_heads": HEADS, "num_key_value_heads": KV, "head_dim": DIM, "vocab_size": VOCAB, "max_position_embeddings": 64,
              "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
              "quantization_config": QuantizationConfig(config_groups={f"group_{i}": s for i, s in enumerate(schemes)}, format=fmt,
                                                        quantization_status="compressed", ignore=["lm_head"]).to_dict()}
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str) + "\n")
    (folder / "expected.txt").write_text("\n".join(lines) + "\n")


def args(bits, strategy, symmetric=True, **more):
    return {"num_bits": bits, "type": "int", "strategy": strategy, "symmetric": symmetric, **more}


if __name__ == "__main__":
    make("w4-g32-asym", torch.bfloat16, [(["Linear"], args(4, "group", False, group_size=32), None)], "pack-quantized")
    make("w4-g64-f32", torch.float32, [(["Linear"], args(4, "group", group_size=64), None)], "pack-quantized")
    make("w4-channel-asym", torch.float16, [(["Linear"], args(4, "channel", False), None)], "pack-quantized")
    make("w8-channel", torch.bfloat16, [(["Linear"], args(8, "channel"), None)], "int-quantized")
    make("w8-block", torch.float32, [(["Linear"], args(8, "block", block_structure=[16, 64]), None)], "int-quantized")
    make("w3-tensor-asym", torch.float16, [(["Linear"], args(3, "tensor", False), None)], "pack-quantized")
    make("mixed", torch.bfloat16,
         [(["Linear", "re:.*lm_head"], args(8, "group", group_size=64), "pack-quantized"),
          (["re:^model\\.layers\\.\\d+\\.mlp.*", "re:.*v_proj$"], args(4, "group", False, group_size=64), "pack-quantized")], "mixed-precision")
