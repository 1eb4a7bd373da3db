#!/usr/bin/env python3
"""Makes tests/data/pre_names.jsonl: what llama.cpp makes of texts by each tokenizer.ggml.pre, over one vocabulary whose merges know no words.

    python make_pre_names.py [N_TEXTS OUT]      needs llama-cpp-python 0.3.36; the names are those of its llama-vocab.cpp with bytes in GPT-2's letters
"""
import collections
import json
import pathlib
import random
import struct
import sys
import tempfile

import llama_cpp

HERE = pathlib.Path(__file__).parent
NAMES = """default minicpm5 llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano deepseek-llm hy_v4 deepseek-v3 deepseek-coder spark2_5 youtu falcon mpt starcoder gpt-2
phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jais-2 jina-v1-en jina-v2-code refact roberta-bpe command-r qwen2 deepseek-r1-qwen kormo f2llmv2 qwen35 stablelm2
olmo dbrx smaug-bpe poro-chat glm4 chatglm-bpe viking jais tekken smollm codeshell bloom exaone gpt3-finnish exaone4 exaone-moe chameleon minerva-7b megrez gpt-4o llama4 kanana2 talkie tiny_aya
granite-embed-multi-97m cohere2moe superbpe trillion bailingmoe bailingmoe2 llada-moe seed-coder granite-docling hunyuan hunyuan-dense joyai-llm kimi-k2 ufakzeka grok-2 afmoe laguna minimax-m2
solar-open mellum2 glm5""".split()
PIECES = ["the", "The", "THE", "it's", "I'LL", "we'd", "n't", " a", " b", "  ", "   ", " ", "\n", "\n\n", "\t", "\r\n", "1", "12", "123", "1234", "1234567", " 42", "3.14", "x_y", "snake_case", "camelCase",
          "+=", "->", "<=", "==", "$5", "^2", "~", "|", "`", "``", "...", "!", "?!", "\"", "'", "(", ")", "[0]", "{}", "//", "/*", "#", "@", "%", "&", "-", "--", ",", ".", ":", ";", "é", "É", "ñandú",
          "straße", "Привет", "мир", "中文", "漢字", "かな", "カナ", "한국어", "العربية", "हिन्दी", "ไทย", "٣٤", "½", "²", "Ⅷ", "😀", "👍🏽", "€", "«", "»", "“q”", "—", "…", "。", "！", "\u00a0", "\u3000", "\u200d"]


def some_text(rng):
    return "".join(rng.choice(PIECES) + rng.choice(["", "", " "]) for _ in range(rng.randint(1, 14)))


def letters():
    """-> GPT-2's letters for bytes"""
    own = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    other = [b for b in range(256) if b not in own]
    return {b: chr(b) if b in own else chr(256 + other.index(b)) for b in range(256)}


def train(texts, n):
    """-> merges over whole texts"""
    of = letters()
    words, merges = [[of[b] for b in t.encode()] for t in texts], []
    while len(merges) < n:
        pairs = collections.Counter(p for w in words for p in zip(w, w[1:]))
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        for w in words:
            i = 0
            while i + 1 < len(w):
                if (w[i], w[i + 1]) == best:
                    w[i:i + 2] = ["".join(best)]
                i += 1
    return merges


def gguf(name, tokens, merges):
    def text(s):
        return struct.pack("<Q", len(s.encode())) + s.encode()

    def texts(values):
        return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))

    keys = {"general.architecture": struct.pack("<I", 8) + text("llama"), "tokenizer.ggml.model": struct.pack("<I", 8) + text("gpt2"), "tokenizer.ggml.pre": struct.pack("<I", 8) + text(name),
            "tokenizer.ggml.tokens": texts(tokens), "tokenizer.ggml.token_type": struct.pack("<IIQ", 9, 5, len(tokens)) + struct.pack("<%di" % len(tokens), *[1] * len(tokens)),
            "tokenizer.ggml.merges": texts([" ".join(m) for m in merges])}
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(text(k) + v for k, v in keys.items())


def main(n_texts=120, out=HERE / "pre_names.jsonl"):
    rng = random.Random(40)
    merges = train([some_text(rng) for _ in range(1500)], 700)
    tokens = list(letters().values())
    for m in merges:
        if "".join(m) not in tokens:
            tokens.append("".join(m))
    texts = PIECES + [some_text(rng) for _ in range(n_texts)]
    groups = collections.defaultdict(list)
    for name in NAMES:
        with tempfile.NamedTemporaryFile(suffix=".gguf") as f:
            f.write(gguf(name, tokens, merges))
            f.flush()
            vocabulary = llama_cpp.Llama(f.name, vocab_only=True, verbose=False)
            groups[json.dumps([vocabulary.tokenize(t.encode(), add_bos=False, special=False) for t in texts], separators=(",", ":"))].append(name)
    lines = [{"tokens": tokens, "merges": [" ".join(m) for m in merges]}, {"texts": texts}] + [{"names": names, "ids": json.loads(ids)} for ids, names in groups.items()]
    out.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))
    print(len(groups), "ways to split", len(texts), "texts")


if __name__ == "__main__":
    main(*([int(sys.argv[1]), pathlib.Path(sys.argv[2])] if len(sys.argv) > 2 else []))
