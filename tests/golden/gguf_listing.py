# What llama.cpp's converter makes of the goldens, as a list: python gguf_listing.py LLAMA_CPP [--keep FOLDER] [NAME...] > gguf_listing.txt
# LLAMA_CPP: its source tree as llama-cpp-python 0.3.36 carries it (vendor/llama.cpp; convert_hf_to_gguf.py and conversion/ are used), with torch and transformers of
# requirements.txt. --keep: the GGUF files stay there. The goldens have no tokenizers, so the converter's model classes run without a vocabulary.
import contextlib
import io
import json
import logging
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
TABLE = np.arange(256, dtype=np.uint32)
for _ in range(8):
    TABLE = np.where(TABLE & 1, (TABLE >> 1) ^ np.uint32(0x82F63B78), TABLE >> 1)
TABLE = TABLE.tolist()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


# Keys that are no part of the model: names, the vocabulary.
OTHER = ("general.", "tokenizer.", "GGUF.", "split.")


def show(field):
    value = field.contents()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ",".join(show_number(v) for v in value) + "]"
    return show_number(value)


def show_number(v):
    if isinstance(v, bool):
        return str(v).lower()
    return repr(float(v)) if isinstance(v, float) else str(v)


# What a GGUF file of the family cannot say (llama.cpp has it as a constant, or leaves it out) is set to what it means there: of config.json.
CHANGED = {
    "afmoe": {"global_attn_every_n_layers": 4, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]},
    "deepseek-v2-moe": {"rope_scaling": {"type": "yarn", "beta_fast": 32, "beta_slow": 1, "factor": 8.0, "mscale": 0.7, "mscale_all_dim": 0.7, "original_max_position_embeddings": 16}},
    "falcon-7b": {"num_kv_heads": 1},
    "gemma2": {"query_pre_attn_scalar": 8},
    "gemma3": {"query_pre_attn_scalar": 8},
    "gpt-oss": {"swiglu_limit": 7.0},
    "lfm2-moe": {"routed_scaling_factor": 1.0},
    "dots1": {"scoring_func": "sigmoid"},
    "glm4-moe": {"num_nextn_predict_layers": 0},
    "glm4-moe-lite": {"num_nextn_predict_layers": 0},
    "granite-swa": {"layer_rope_theta": None},
    "granite4": {"intermediate_size": 44},
    "granite4-h": {"intermediate_size": 44},
    "granite4-h-moe": {"intermediate_size": 20, "position_embedding_type": "nope", "time_step_limit": None},
    "hunyuan": {"rope_scaling": None},
    "hunyuan-moe": {"moe_intermediate_size": [14, 14], "moe_topk": [2, 2], "num_shared_expert": [1, 1]},
    "llama4": {"attention_chunk_size": 8192, "attn_scale": 0.1, "floor_scale": 8192, "layer_types": None, "max_position_embeddings": 16384, "no_rope_layer_interval": 4,
               "no_rope_layers": [1, 1, 1, 0]},
    "bamba": {"attn_rotary_emb": 8},
    "falcon-h1-norm": {"embedding_multiplier": 1.0, "lm_head_multiplier": 1.0},
    "minicpm3": {"dim_model_base": 256, "scale_depth": 1.4, "scale_emb": 12},
    "nemotron-h": {"n_group": None, "n_routed_experts": None, "num_experts_per_tok": None, "topk_group": None},
    "qwen3-5": {"full_attention_interval": 2},
    "qwen3-5-moe": {"full_attention_interval": 2},
    "qwen3-next": {"layer_types": ["linear_attention", "full_attention", "linear_attention"]},
    "smollm3": {"no_rope_layer_interval": 4, "no_rope_layers": [1, 1, 1, 0]},
}
# Not to be said at all (dynamic NTK, windows from a layer on, positions that an expert takes, weights of experts as they are, ALiBi of Falcon), windows that this converter drops, and families
# that llama.cpp does not have, or whose files linnet does not read.
LEFT_OUT = ("llama-dynamic", "mistral-window", "qwen2-window", "switch", "falcon-rw", "gptj", "opt", "opt-350m", "cwm", "hyperclovax", "vaultgemma", "lfm3", "nanochat", "gemma3n", "phimoe", "bitnet")


def copy_changed(folder, to):
    for file in folder.glob("model*"):
        shutil.copy(file, to)
    config = json.loads((folder / "config.json").read_text())
    for key, value in CHANGED.get(folder.name, {}).items():
        config.pop(key, None)
        if value is not None:
            config[key] = value
    (to / "config.json").write_text(json.dumps(config))
    # Gemma 3 looks up here how many rows of the embedding are tokens.
    (to / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {str(i): i for i in range(config.get("text_config", config).get("vocab_size", 0))}}, "added_tokens": []}))


def convert(folder, out):
    import conversion
    import conversion.mistral3
    from conversion.base import ModelBase, ModelType, gguf, get_model_architecture
    hparams = ModelBase.load_hparams(folder, False)
    name = {"MptForCausalLM": "MPTForCausalLM"}.get(get_model_architecture(hparams, ModelType.TEXT), get_model_architecture(hparams, ModelType.TEXT))
    kind = conversion.get_model_class(name)
    if name == "GPTNeoXForCausalLM":  # which newer versions of transformers call otherwise
        hparams.setdefault("rotary_pct", hparams["rope_parameters"]["partial_rotary_factor"])
    if name == "GraniteMoeHybridForCausalLM":  # the same
        hparams["layer_types"] = [{"full_attention": "attention"}.get(kind, kind) for kind in hparams["layer_types"]]
    if name == "Gemma4UnifiedForConditionalGeneration":  # of which no config has the key
        hparams.setdefault("moe_intermediate_size", None)
    if name == "NemotronHForCausalLM":  # newer versions fill in experts, and it takes heads for 64 wide
        hparams = json.loads((folder / "config.json").read_text())
        hparams["d_head"] = hparams["mamba_head_dim"]
    if name == "KimiLinearForCausalLM":  # as published
        hparams = json.loads((folder / "config.json").read_text())
        hparams["moe_router_activation_func"] = "sigmoid"
        hparams["first_k_dense_replace"] = hparams["mlp_layer_types"].count("dense")
        hparams["linear_attn_config"] = {"full_attn_layers": [i + 1 for i, t in enumerate(hparams["layer_types"]) if t == "full_attention"],
                                         "head_dim": hparams["linear_head_dim"], "short_conv_kernel_size": hparams["linear_conv_kernel_dim"]}
    # Layers without experts beside layers with them: their files have no names for these.
    for arch in (gguf.MODEL_ARCH.QWEN2MOE, gguf.MODEL_ARCH.QWEN3MOE):
        for t in (gguf.MODEL_TENSOR.FFN_GATE, gguf.MODEL_TENSOR.FFN_UP, gguf.MODEL_TENSOR.FFN_DOWN):
            if t not in gguf.MODEL_TENSORS[arch]:
                gguf.MODEL_TENSORS[arch].append(t)

    def set_vocab(self):
        self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

    class WithoutVocabulary(kind):
        model_arch = kind.model_arch
        no_mtp = True  # no layers for speculation

        @classmethod
        def filter_tensors(cls, item):
            name, tensor = item
            if name.endswith((".attn.bias", ".attn.masked_bias")):  # GPT-2's masks
                return None
            for part in ("gate", "up", "down"):  # of Kimi Linear's layers without experts, as published
                name = name.replace(f".block_sparse_moe.{part}_proj.", f".mlp.{part}_proj.")
            return super().filter_tensors((name, tensor))

        def modify_tensors(self, *args):
            more = yield from super().modify_tensors(*args)  # StableLM returns the norms of a layer's heads when it has the last one
            if more is not None:
                yield from more

    WithoutVocabulary.set_vocab = set_vocab
    conversion.mistral3.Mistral3Model.Ministral3Model.set_vocab = set_vocab
    with torch.inference_mode():
        WithoutVocabulary(folder, gguf.LlamaFileType.ALL_F32, out, eager=True, hparams=hparams).write()


def listing(path):
    import gguf
    reader = gguf.GGUFReader(path)
    for name, field in reader.fields.items():
        if name == "general.architecture" or not name.startswith(OTHER):
            yield f"key {name} {show(field)}"
    for t in reader.tensors:
        yield f"tensor {t.name} {t.tensor_type.name} {'x'.join(str(d) for d in t.shape)} {crc32c(t.data.tobytes()):08x}"


def main():
    args = sys.argv[1:]
    sys.path[:0] = [args[0], args[0] + "/gguf-py"]
    args = args[1:]
    keep = None
    if args[:1] == ["--keep"]:
        keep, args = pathlib.Path(args[1]), args[2:]
    logging.disable(logging.CRITICAL)
    exp = torch.exp
    torch.exp = lambda t: exp(t.double()).to(t.dtype)  # that of f32 is one unit beside on some machines
    for folder in sorted(HERE.iterdir()):
        if not (folder / "golden.json").is_file() or (args and folder.name not in args) or folder.name in LEFT_OUT or folder.name == "assistant":
            continue
        with tempfile.TemporaryDirectory() as temporary:
            source = pathlib.Path(temporary) / folder.name
            source.mkdir()
            copy_changed(folder, source)
            out = (keep or pathlib.Path(temporary)) / f"{folder.name}.gguf"
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    convert(source, out)
            except Exception as e:
                print(f"{folder.name}: {type(e).__name__}: {e}", file=sys.stderr)
                continue
            print(f"model {folder.name}")
            if folder.name in CHANGED:
                print(f"config {json.dumps(CHANGED[folder.name], sort_keys=True)}")
            for line in listing(out):
                print(line)


main()
