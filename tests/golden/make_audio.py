#!/usr/bin/env python3
"""Makes tests/golden/audio: tiny random models that hear, as Hugging Face publishes them, a sound, and what transformers makes of it.

    python make_audio.py [OUT]      OUT defaults to this folder's audio

Of each model NAME: a folder; NAME.states.npy, what its encoder gives for sound.npy; NAME.logits.npy, rows of its decoder for the tokens of
audio.json. whisper.features.npy: the log-mel spectra of whisper's feature extractor.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (MoonshineConfig, MoonshineForConditionalGeneration, WhisperConfig, WhisperFeatureExtractor,
                          WhisperForConditionalGeneration)

OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "audio"
OUT.mkdir(parents=True, exist_ok=True)
RATE = 16000


def sound(n):
    """Tones that glide, with pauses, and a little noise."""
    rng = np.random.default_rng(1)
    t = np.arange(n) / RATE
    x = 0.3 * np.sin(2 * np.pi * (200 + 900 * t) * t) * (np.sin(2 * np.pi * 3 * t) > 0) + 0.1 * np.sin(2 * np.pi * 3100 * t)
    return (x + 0.01 * rng.standard_normal(n)).astype(np.float32)


def tokenizer(specials):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens(specials)
    return t


def randomise(model):
    """Values that leave every part its share: norms and biases too."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.1 * torch.randn(p.shape, generator=generator))
            elif "embed_positions" not in name:
                fan = p[0].numel() if "embed_tokens" not in name else p.shape[1]
                p.copy_(torch.randn(p.shape, generator=generator) * fan ** -0.5)


WHISPER = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|haw|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>",
           "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"] + [f"<|{i * 0.02:.2f}|>" for i in range(51)]
x = sound(int(0.8 * RATE))
np.save(OUT / "sound.npy", x)
cases = {}

tok = tokenizer(WHISPER)
ids = {s: tok.token_to_id(s) for s in WHISPER}
config = WhisperConfig(vocab_size=tok.get_vocab_size(), num_mel_bins=80, d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                       decoder_attention_heads=4, encoder_ffn_dim=112, decoder_ffn_dim=80, max_source_positions=50, max_target_positions=40,
                       decoder_start_token_id=ids["<|startoftranscript|>"], eos_token_id=ids["<|endoftext|>"], pad_token_id=ids["<|endoftext|>"],
                       bos_token_id=ids["<|endoftext|>"], suppress_tokens=[1, 2], begin_suppress_tokens=[32, ids["<|endoftext|>"]])
torch.manual_seed(0)
model = WhisperForConditionalGeneration(config).eval()
randomise(model)
model.generation_config.is_multilingual = True
model.save_pretrained(OUT / "whisper")
tok.save(str(OUT / "whisper" / "tokenizer.json"))
extractor = WhisperFeatureExtractor(feature_size=80, chunk_length=1)
features = extractor(x, sampling_rate=RATE, return_tensors="pt").input_features
tokens = [ids["<|startoftranscript|>"], ids["<|de|>"], ids["<|transcribe|>"], ids["<|notimestamps|>"], 40, 41, 72, 9, 200, 3]
with torch.no_grad():
    states = model.model.encoder(features).last_hidden_state
    logits = model(input_features=features, decoder_input_ids=torch.tensor([tokens])).logits[0]
np.save(OUT / "whisper.features.npy", features[0].T.contiguous().numpy())
np.save(OUT / "whisper.states.npy", states[0].numpy())
np.save(OUT / "whisper.logits.npy", logits.numpy())
cases["whisper"] = tokens

tok = tokenizer(["<unk>", "<s>", "</s>"])
config = MoonshineConfig(vocab_size=tok.get_vocab_size(), hidden_size=48, intermediate_size=80, encoder_num_hidden_layers=2,
                         decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=4, max_position_embeddings=50,
                         bos_token_id=257, eos_token_id=258, decoder_start_token_id=257, pad_token_id=258)
model = MoonshineForConditionalGeneration(config).eval()
randomise(model)
model.save_pretrained(OUT / "moonshine")
tok.save(str(OUT / "moonshine" / "tokenizer.json"))
tokens = [257, 40, 41, 72, 9, 200, 3]
with torch.no_grad():
    states = model.model.encoder(torch.tensor(x)[None]).last_hidden_state
    logits = model(input_values=torch.tensor(x)[None], decoder_input_ids=torch.tensor([tokens])).logits[0]
np.save(OUT / "moonshine.states.npy", states[0].numpy())
np.save(OUT / "moonshine.logits.npy", logits.numpy())
cases["moonshine"] = tokens
(OUT / "audio.json").write_text(json.dumps(cases) + "\n")
