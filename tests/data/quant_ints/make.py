"""Tiny checkpoints in integers as compressed-tensors and AutoRound write them, for tests/unit/test_quant.cpp.

pip install compressed-tensors==0.20.0 auto-round==0.16.1 safetensors==0.8.0 (with torch, on the CPU), then from this folder: python3 make.py

Of each folder expected.txt has the CRC-32C of every matrix in f32 as the package itself unpacks it, with its scales widened to f32 before,
since it multiplies in their type. AutoRound packs as GPTQ and AWQ do, whose own tools want a GPU. What no package writes (act-order) the
test writes itself.
"""
import json
import pathlib

import torch
from auto_round.export.export_to_awq.utils import WQLinear_GEMM, dequantize_gemm
from auto_round_extension.torch.qlinear_torch import QuantLinear as Packed
from auto_round_extension.torch.qlinear_torch_zp import QuantLinear as PackedMinusOne
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


def floats():
    shapes = {"model.embed_tokens.weight": (VOCAB, HIDDEN), "lm_head.weight": (VOCAB, HIDDEN), "model.norm.weight": (HIDDEN,),
              "model.layers.0.input_layernorm.weight": (HIDDEN,), "model.layers.0.post_attention_layernorm.weight": (HIDDEN,)}
    return {key: torch.randn(shape).to(torch.float16) for key, shape in shapes.items()}


def write(name, tensors, expected, quantization):
    """expected: matrices in f32 by their names."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": HIDDEN, "intermediate_size": FF, "num_hidden_layers": 1,
              "num_attention_heads": HEADS, "num_key_value_heads": KV, "head_dim": DIM, "vocab_size": VOCAB, "max_position_embeddings": 64,
              "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "quantization_config": quantization}
    lines = []
    for key, wide in expected.items():
        assert wide.dtype == torch.float32 and tuple(wide.shape) == MATRICES[key]
        lines.append(f"model.layers.0.{key}.weight {crc32c(wide.contiguous().numpy().tobytes()):08x}")
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str) + "\n")
    (folder / "expected.txt").write_text("\n".join(lines) + "\n")


def compressed(name, dtype, groups, fmt):
    """groups: of each its targets, settings of weights and format."""
    torch.manual_seed(len(name))
    schemes = [QuantizationScheme(targets=targets, weights=QuantizationArgs(**args), format=own) for targets, args, own in groups]
    tensors, expected = floats(), {}
    for key, shape in MATRICES.items():
        scheme = schemes[0]
        for one in schemes[1:]:
            scheme = one if any(part in key for part in ("mlp", "v_proj")) else scheme
        weight = (torch.randn(shape) * 0.05 + 0.01).to(dtype)
        scale, zero = parameters(weight, scheme.weights)
        compressor = BaseCompressor.get_value_from_registry(scheme.format or fmt)
        state = compressor.compress({"weight": weight, "weight_scale": scale, "weight_zero_point": zero}, scheme)
        tensors.update({f"model.layers.0.{key}.{part}": value.contiguous() for part, value in state.items()})
        expected[key] = compressor.decompress({**state, "weight_scale": state["weight_scale"].float()}, scheme)["weight"]
    write(name, tensors, expected,
          QuantizationConfig(config_groups={f"group_{i}": s for i, s in enumerate(schemes)}, format=fmt, quantization_status="compressed",
                             ignore=["lm_head"]).to_dict())


def auto_round(name, packing, bits, group):
    """Not symmetric; zero points of 1 and more, which all of its packings hold."""
    torch.manual_seed(len(name))
    tensors, expected = floats(), {}
    for key, (n, k) in MATRICES.items():
        linear = torch.nn.Linear(k, n, bias=False)
        linear.weight.data = torch.randn(n, k) * 0.05 + 0.01
        parts = linear.weight.data.reshape(n, k // group, group)
        scale = ((parts.amax(-1) - parts.amin(-1)) / (2**bits - 1)).half().float()  # (n, groups)
        zero = torch.round(-parts.amin(-1) / scale).clamp(1, 2**bits - 1)
        if "awq" in packing:
            q = WQLinear_GEMM.from_linear(linear, bits, group, scales=scale.t().contiguous(), zeros=zero.t().contiguous(), device="cpu")
            expected[key] = dequantize_gemm(q.qweight, q.qzeros, q.scales.float(), bits, group).t()
        else:
            q = (PackedMinusOne if "gptq" in packing else Packed)(bits, group, k, n, bias=False)
            q.device = "cpu"
            q.pack(linear, scale, zero, None, device="cpu")
        tensors.update({f"model.layers.0.{key}.{part}": getattr(q, part).clone().contiguous() for part in ("qweight", "qzeros", "scales")})
        if "awq" not in packing:
            q.scales = q.scales.float()
            expected[key] = q(torch.eye(k)).t()
    write(name, tensors, expected, {"autoround_version": "0.16.1", "bits": bits, "block_name_to_quantize": "model.layers", "data_type": "int",
                                    "group_size": group, "iters": 0, "packing_format": packing, "quant_method": "auto-round", "sym": False})


def args(bits, strategy, symmetric=True, **more):
    return {"num_bits": bits, "type": "int", "strategy": strategy, "symmetric": symmetric, **more}


if __name__ == "__main__":
    compressed("w4-g32-asym", torch.bfloat16, [(["Linear"], args(4, "group", False, group_size=32), None)], "pack-quantized")
    compressed("w4-channel-asym", torch.float16, [(["Linear"], args(4, "channel", False), None)], "pack-quantized")
    compressed("w8-channel", torch.bfloat16, [(["Linear"], args(8, "channel"), None)], "int-quantized")
    compressed("w8-block", torch.float32, [(["Linear"], args(8, "block", block_structure=[16, 64]), None)], "int-quantized")
    compressed("w3-tensor-asym", torch.float16, [(["Linear"], args(3, "tensor", False), None)], "pack-quantized")
    compressed("mixed", torch.bfloat16,
               [(["Linear", "re:.*lm_head"], args(8, "group", group_size=64), "pack-quantized"),
                (["re:^model\\.layers\\.\\d+\\.mlp.*", "re:.*v_proj$"], args(4, "group", False, group_size=64), "pack-quantized")], "mixed-precision")
    auto_round("gptq-w3-g32", "auto_round:auto_gptq", 3, 32)
    auto_round("gptq-v2-w2-g64", "auto_round", 2, 64)
    auto_round("awq-g32", "auto_round:auto_awq", 4, 32)
