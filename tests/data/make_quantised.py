#!/usr/bin/env python3
"""Makes tests/data/quantised: tiny random models of one layer as quantisers leave them, and of every matrix the CRC-32 of the f32 values that
the quantiser's own dequantisation makes of it (values.txt: name, rows, inputs, CRC). All on a CPU.

  pip install torch transformers accelerate bitsandbytes hqq torchao
  python3 tests/data/make_quantised.py [NAME...]
"""
import json
import os
import pathlib
import shutil
import sys
import zlib

os.environ["TORCH_COMPILE_DISABLE"] = "1"
import torch
import transformers
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM

OUT = pathlib.Path(__file__).parent / "quantised"
BASE = pathlib.Path("/tmp/linnet-quantised-base")


def base(hidden, intermediate, dtype=torch.bfloat16):
    """A model of random weights, some of which stand out."""
    torch.manual_seed(hidden)
    config = LlamaConfig(hidden_size=hidden, intermediate_size=intermediate, num_hidden_layers=1, num_attention_heads=hidden // 32,
                         num_key_value_heads=1, head_dim=32, vocab_size=16, max_position_embeddings=64, tie_word_embeddings=True,
                         bos_token_id=0, eos_token_id=1)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.copy_(torch.randn_like(parameter) * 0.05 * (1 + 4 * (torch.rand_like(parameter) < 0.01)))
    return model.to(dtype)


def matrices(model):
    return [(name, module) for name, module in model.named_modules() if name.endswith("_proj")]


def write(name, model, values, save=None):
    """values(module): the f32 weights (outputs, inputs) of a matrix."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    (save or model.save_pretrained)(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    lines = []
    for matrix, module in matrices(model):
        w = values(module).detach().float().contiguous()
        lines.append(f"{matrix}.weight {w.shape[0]} {w.shape[1]} {zlib.crc32(w.numpy().tobytes()):08x}\n")
    (folder / "values.txt").write_text("".join(lines))


def bitsandbytes(name, hidden, intermediate, values, **options):
    base(hidden, intermediate).save_pretrained(BASE)
    model = LlamaForCausalLM.from_pretrained(BASE, quantization_config=BitsAndBytesConfig(**options), device_map="cpu", dtype=torch.bfloat16)
    write(name, model, values)


def four_bits(module):
    import bitsandbytes.functional as F
    state = module.weight.quant_state
    state.dtype = torch.float32
    return F.dequantize_4bit(module.weight.data, state)


def eight_bits(module):  # linnet's one scale per output: SCB / 127; bitsandbytes multiplies by SCB and by 1 / 127 one after the other
    return module.weight.data.float() * (module.weight.SCB.float() / 127).unsqueeze(1)


def hqq(name, hidden, intermediate, dtype, bits, group):
    """As transformers 4 wrote them: the state of hqq's own layers (transformers 5.24 says it will support HQQ soon)."""
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear, Quantizer
    from safetensors.torch import save_file
    model = base(hidden, intermediate, dtype)
    quantisation = BaseQuantizeConfig(nbits=bits, group_size=group, axis=1)
    for matrix, module in matrices(model):
        parent, leaf = matrix.rsplit(".", 1)
        setattr(model.get_submodule(parent), leaf, HQQLinear(module, quantisation, compute_dtype=dtype, device="cpu"))

    def save(folder):
        state = {k: v for k, v in model.state_dict().items() if "_proj." not in k and k != "lm_head.weight"}
        for matrix, module in matrices(model):
            state |= {f"{matrix}.{k}": v.contiguous() for k, v in module.state_dict().items()}
        model.config.quantization_config = {"quant_method": "hqq", "quant_config": quantisation, "skip_modules": ["lm_head"]}
        model.config.save_pretrained(folder)
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})

    def values(module):
        meta = module.meta | {"compute_dtype": torch.float32, "scale": module.meta["scale"].float(), "zero": module.meta["zero"].float()}
        return Quantizer.dequantize(module.W_q, meta)

    write(name, model, values, save)


def torchao(name, config):
    from transformers import TorchAoConfig
    base(64, 64).save_pretrained(BASE)
    model = LlamaForCausalLM.from_pretrained(BASE, quantization_config=TorchAoConfig(config), device_map="cpu", dtype=torch.bfloat16)
    write(name, model, lambda module: module.weight.dequantize(torch.float32))


def bitnet(name, hidden, mode):
    """Codes packed by transformers, or bf16 of which it makes them; values are those of the loaded model's matrices."""
    from safetensors.torch import save_file
    from transformers import BitNetConfig, BitNetForCausalLM, BitNetQuantConfig
    from transformers.integrations.bitnet import WeightQuant, pack_weights
    torch.manual_seed(hidden)
    model = BitNetForCausalLM(BitNetConfig(hidden_size=hidden, intermediate_size=hidden, num_hidden_layers=1, num_attention_heads=hidden // 32,
                                           num_key_value_heads=1, vocab_size=16, max_position_embeddings=64, tie_word_embeddings=True,
                                           bos_token_id=0, eos_token_id=1)).to(torch.bfloat16)
    state = {k: v.clone() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    for matrix, module in matrices(model) if mode == "offline" else ():
        w = module.weight.detach().float()
        scale = w.abs().mean()
        state[f"{matrix}.weight"] = pack_weights((w / scale).round().clamp(-1, 1))
        state[f"{matrix}.weight_scale"] = scale.to(torch.bfloat16).reshape(1)

    def save(folder):
        model.config.quantization_config = BitNetQuantConfig(linear_class="autobitlinear", quantization_mode=mode)
        model.config.save_pretrained(folder)
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})

    save(BASE)
    loaded = BitNetForCausalLM.from_pretrained(BASE, device_map="cpu", dtype=torch.bfloat16)

    def values(module):  # without -0
        module = loaded.get_submodule(next(n for n, m in model.named_modules() if m is module))
        return WeightQuant.apply(module.weight).float() + 0.0 if mode == "online" else module.weight.float() * module.weight_scale.float()

    write(name, model, values, save)


def torchao_config(name, *args, **options):
    import torchao.quantization
    return getattr(torchao.quantization, name)(*args, **options)


MAKERS = {
    # rows of three blocks, so that 256 of them end within a row
    "nf4-dq": lambda n: bitsandbytes(n, 192, 64, four_bits, load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True),
    "fp4-dq": lambda n: bitsandbytes(n, 64, 64, four_bits, load_in_4bit=True, bnb_4bit_quant_type="fp4", bnb_4bit_use_double_quant=True),
    "nf4": lambda n: bitsandbytes(n, 64, 64, four_bits, load_in_4bit=True, bnb_4bit_quant_type="nf4"),
    "fp4": lambda n: bitsandbytes(n, 64, 64, four_bits, load_in_4bit=True, bnb_4bit_quant_type="fp4",
                                  bnb_4bit_quant_storage=torch.bfloat16),
    "llm-int8": lambda n: bitsandbytes(n, 64, 64, eight_bits, load_in_8bit=True),
    "hqq4-bf16": lambda n: hqq(n, 64, 64, torch.bfloat16, 4, 64),
    "hqq4-f16": lambda n: hqq(n, 64, 64, torch.float16, 4, 32),
    "hqq4-g128": lambda n: hqq(n, 128, 128, torch.float16, 4, 128),
    "hqq3": lambda n: hqq(n, 64, 64, torch.float16, 3, 64),
    "torchao-int8": lambda n: torchao(n, torchao_config("Int8WeightOnlyConfig")),
    "bitnet": lambda n: bitnet(n, 256, "offline"),
    "bitnet-online": lambda n: bitnet(n, 64, "online"),
    "torchao-float8": lambda n: torchao(n, torchao_config("Float8WeightOnlyConfig")),
}


def main():
    transformers.logging.set_verbosity_error()
    for name in sys.argv[1:] or MAKERS:
        MAKERS[name](name)
        files = {p.name: p.stat().st_size for p in sorted((OUT / name).iterdir())}
        print(name, files, json.loads((OUT / name / "config.json").read_text())["quantization_config"])


main()
