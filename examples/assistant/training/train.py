#!/usr/bin/env python3
"""Trains the assistant's model on the CPU: train.py --data FOLDER --out FOLDER

FOLDER/train.jsonl and heldout.jsonl come from make_data.py. Writes a Hugging Face folder (config.json, tokenizer.json,
linnet_chat.json, model.safetensors in bf16), loss.svg and training.json (seed, hashes, versions, losses).
Needs: torch, tokenizers, safetensors, numpy.

The network is a Llama: RMSNorm, RoPE, grouped-query attention, SwiGLU, tied embeddings. Hidden matrices are optimised by Muon
(Jordan et al. 2024), the rest by AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101); the learning rate falls linearly to zero at the end.
Most of an answer is copied from the request, and where from is known: one attention head is taught to look there (guided alignment, Chen et al. 2016,
arXiv:1607.01628), which a network of this size otherwise takes most of its training to find out.
"""
import argparse
import collections
import ctypes
import hashlib
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")  # every product of every shape keeps its code
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # tensors in huge pages

import numpy as np
import tokenizers
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from grammar import TENS, UNITS

CONFIG = dict(vocab_size=2048, hidden_size=256, intermediate_size=512, num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
              max_position_embeddings=1024, rope_theta=10000.0, rms_norm_eps=1e-5)
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|tool|>"]
END = 0
SPACED_WORDS = 400
# What is said over and over becomes a token, if it comes in so many calls of a thousand: of a call the beginning with the first key and what stands
# between two values, a tool's plain answer, a whole sentence, and the word that opens one. A call is then hardly more than its values.
COMMON = 1.5
TOOLS = Path(__file__).resolve().parent.parent / "tools.json"
CHAT = {role: {"prefix": f"<|{role}|>", "suffix": "<|end|>"} for role in ("user", "assistant", "tool")}
# The loss counts the answers with weight 1. In a part of the conversations it counts the rest too, so that the model is one of the whole
# text; in the others that is left out, which saves its logits.
OTHERS, OTHERS_SHARE = 0.3, 0.1
# The head that is taught where a copied token stands, and the weight of that beside the loss, which falls with the learning rate.
GUIDE_LAYER, GUIDE_HEAD, GUIDE = 3, 0, 0.3


HEAD = 20000  # conversations: that they repeat can be shown without writing all of the text


def sha256(path, lines=None):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest() if lines is None else hashlib.sha256(b"".join(itertools.islice(f, lines))).hexdigest()


def conversations(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)["messages"]


def phrases(messages):
    """Of each call in these, what stands before its first value and between two values, a tool's result, a sentence, and how it opens: what may become one token."""
    for m in messages:
        if m["role"] == "tool":
            yield m["content"]
        elif m["content"].startswith("{"):
            call = json.loads(m["content"])
            between = f'{{"name":"{call["name"]}","arguments":{{'
            for key, value in call["arguments"].items():
                left, right = ('["', '"]') if isinstance(value, list) else ('"', '"') if isinstance(value, str) else ("", "")
                yield f'{between}"{key}":{left}'
                between = right + ","
        elif m["role"] == "assistant":
            yield m["content"]
            if opening := re.match(r"[A-Z][A-Za-z']*,? ", m["content"]):
                yield opening[0]


def make_tokenizer(path, sample=60000):
    """Byte-level BPE of text in lower case, as values of calls are: how a request is written makes no difference. It is made in two steps so that a word
    is cut alike wherever it stands and copying it into a call is copying tokens: pieces are learnt from words without the space before them, then the
    commonest words that values seldom begin with get a token with the space. Digits stand alone: a number is spelt one way. What is said over and over
    is one token, with its capitals, and so is the beginning of each tool's calls."""
    heard = list(itertools.islice(conversations(path), sample))
    calls = [f'{{"name":"{tool["function"]["name"]}","arguments":{{' for tool in json.loads(TOOLS.read_text())]
    said = collections.Counter(p for messages in heard for p in phrases(messages))
    many = sum(m["content"].startswith("{") for messages in heard for m in messages if m["role"] == "assistant") * COMMON / 1000
    whole = calls + sorted(p for p, n in said.items() if n >= many)
    digits, bytes_ = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    texts = [m["content"].split('"arguments":{')[-1].lower() for messages in heard for m in messages if m["content"] not in whole]
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.Lowercase()
    tok.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.Split(Regex(" "), "isolated"), bytes_])
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=CONFIG["vocab_size"] - SPACED_WORDS - len(whole), special_tokens=SPECIAL, show_progress=False,
                                                       initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tok.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_])
    d = json.loads(tok.to_str())
    vocab, space = d["model"]["vocab"], "\u0120"
    copied = collections.Counter(w for t in texts if t.endswith("}}") for w in re.findall(r'(?<=")[A-Za-z]+(?![A-Za-z"]*":)', t))
    spaced = collections.Counter(w for t in texts for w in re.findall(r"(?<= )[A-Za-z]+", t) if w in vocab)
    rare = [(n, w) for w, n in spaced.items() if copied[w] < 0.5 * n]
    for _, w in sorted(rare, key=lambda x: (-x[0], x[1]))[:SPACED_WORDS]:
        vocab[space + w] = len(vocab)
        d["model"]["merges"].append([space, w])
    tok = Tokenizer.from_str(json.dumps(d))
    tok.add_tokens([AddedToken(p, normalized=False) for p in whole])
    assert tok.get_vocab_size() == CONFIG["vocab_size"]
    return tok


def stands(value, text):
    """Where a value stands in a text as a whole, without regard to capitals: byte offset or -1."""
    at = text.find(value)
    while at >= 0 and (text[at - 1:at].isalnum() or text[at + len(value):at + len(value) + 1].isalnum()):
        at = text.find(value, at + 1)
    return at


def sources(call, texts):
    """What of a call is copied: (begin and length in the call, index of the text it stands in, offset there, whether byte by byte).
    texts: what was said before, in lower case, the latest first."""
    def look(value):
        return next(((k, at) for k, text in enumerate(texts) if (at := stands(value, text)) >= 0), None)

    at = call.index(b'"arguments":{') + 13
    for m in re.finditer(rb'(?<=[:\[,])(?:"([^"\\]+)"|(-?[0-9.]+))(?=[,}\]])', call[at:]):
        value, begin = m[m.lastindex].lower(), at + m.start(m.lastindex)
        if found := look(value):
            yield begin, len(value), *found, True
            continue
        for digits in re.finditer(rb"[0-9]+(?:\.[0-9]+)?", value):  # those of a time or a sum by themselves
            number = digits[0].lstrip(b"0")
            start = begin + digits.end() - len(number)
            if number and (found := look(number)):
                yield start, len(number), *found, True
            elif number.isdigit() and (n := int(number)) < 100:  # said in words
                words = [UNITS[n]] if n < 20 else [TENS[n // 10]] + [UNITS[n % 10]] * (n % 10 > 0)
                said = [look(w.encode()) for w in words]
                if all(said):
                    for d in range(len(number)):
                        yield start + d, 1, *said[min(d, len(said) - 1)], False


def guides(messages, spans):
    """Pairs of positions: (one before a copied token, the token that it is copied from). spans: per message its first token's position, its tokens' first bytes."""
    out = []
    for i, m in enumerate(messages):
        if m["role"] != "assistant" or not m["content"].startswith("{"):
            continue
        texts = [x["content"].lower().encode() for x in reversed(messages[:i])]
        first, starts = spans[i]
        for begin, n, k, found, exact in sources(m["content"].encode(), texts):
            there, where = spans[i - 1 - k]
            for t in range(int(np.searchsorted(starts, begin)), int(np.searchsorted(starts, begin + n))):
                byte = found + (int(starts[t]) - begin if exact else 0)
                out.append((first + t - 1, there + int(np.searchsorted(where, byte, side="right")) - 1))
    return np.array(out, dtype=np.int16).reshape(-1, 2)


def encode_block(args):
    """encode() of some conversations: (tokenizer, these, seed)."""
    tok, block, seed = args
    prefix = {role: tok.token_to_id(CHAT[role]["prefix"]) for role in CHAT}
    size = np.array([len(tok.decode([i], skip_special_tokens=False).encode()) for i in range(tok.get_vocab_size())])
    out, rng = [], random.Random(seed)
    contents = iter(tok.encode_batch_fast([m["content"] for c in block for m in c]))
    for c in block:
        ids, weights, spans, rest = [], [], [], OTHERS if rng.random() < OTHERS_SHARE else 0.0
        for m in c:
            content = next(contents).ids
            spans.append((len(ids) + 1, np.cumsum(size[content]) - size[content]))
            ids += [prefix[m["role"]], *content, END]
            w = 1.0 if m["role"] == "assistant" else rest
            weights += [rest] + [w] * (len(content) + 1)
        out.append((np.array(ids[:CONFIG["max_position_embeddings"]], dtype=np.uint16), np.array(weights[:CONFIG["max_position_embeddings"]], dtype=np.float32), guides(c, spans)))
    return out


def encode(tok, path, seed, processes):
    """All conversations as (ids, loss weights, guides): uint16 and float32 arrays, and pairs of positions. A prefix is one token, a suffix another."""
    def blocks():
        rest = conversations(path)
        for k in itertools.count():
            if not (block := list(itertools.islice(rest, 5000))):
                return
            yield tok, block, f"{seed}/{k}"

    with multiprocessing.Pool(processes) as pool:
        return [c for part in pool.imap(encode_block, blocks()) for c in part]


class Layer(torch.nn.Module):
    def __init__(self, c):
        super().__init__()
        d, ff, h, kv, hd = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        self.h, self.kv, self.hd = h, kv, hd
        self.norm1, self.norm2 = torch.nn.Parameter(torch.ones(d)), torch.nn.Parameter(torch.ones(d))
        # One parameter per matrix: Muon makes each one's step orthogonal by itself.
        self.q, self.k, self.v = (torch.nn.Parameter(torch.randn(n * hd, d) * d ** -0.5) for n in (h, kv, kv))
        self.o = torch.nn.Parameter(torch.randn(d, h * hd) * (h * hd) ** -0.5 / math.sqrt(2 * c["num_hidden_layers"]))
        self.gate, self.up = (torch.nn.Parameter(torch.randn(ff, d) * d ** -0.5) for _ in range(2))
        self.down = torch.nn.Parameter(torch.randn(d, ff) * ff ** -0.5 / math.sqrt(2 * c["num_hidden_layers"]))

    def forward(self, x, cos, sin, mask, eps, positions=None):
        """x (batch, tokens, d), or (positions, d) of those alone, and, of short sequences, the guided head's attention (batch, tokens, tokens)."""
        b, t, d = x.shape
        q, k, v = F.linear(norm(x, self.norm1, eps), torch.cat((self.q, self.k, self.v))).split([self.h * self.hd, self.kv * self.hd, self.kv * self.hd], dim=-1)
        q, k, v = (y.view(b, t, -1, self.hd).transpose(1, 2) for y in (q, k, v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = (y.repeat_interleave(self.h // self.kv, 1) for y in (k, v))
        p = None
        if t <= 256:  # written out: on short sequences three times as fast backward as PyTorch's CPU kernel
            p = torch.softmax((q @ k.transpose(2, 3)) * self.hd ** -0.5 + mask[:t, :t], dim=-1)
            a = p @ v
            p = p[:, GUIDE_HEAD]
        else:
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.transpose(1, 2).reshape(b, t, -1)
        if positions is not None:
            x, a = x.flatten(0, 1)[positions], a.flatten(0, 1)[positions]
        x = x + F.linear(a, self.o)
        gate, up = F.linear(norm(x, self.norm2, eps), torch.cat((self.gate, self.up))).chunk(2, dim=-1)
        return x + F.linear(F.silu(gate) * up, self.down), p


def norm(x, weight, eps):
    return F.rms_norm(x, (x.shape[-1],), None, eps) * weight


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Net(torch.nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = torch.nn.Parameter(torch.randn(c["vocab_size"], c["hidden_size"]) * 0.05)
        self.layers = torch.nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"]))
        self.norm = torch.nn.Parameter(torch.ones(c["hidden_size"]))
        angle = torch.outer(torch.arange(c["max_position_embeddings"]).float(), c["rope_theta"] ** -(torch.arange(0, c["head_dim"], 2).float() / c["head_dim"])).repeat(1, 2)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids, positions):
        """Logits at `positions`, indices into the flattened (batch, tokens) ids, and the guided head's attention or None."""
        t = ids.shape[1]
        cos, sin = self.cos[:t], self.sin[:t]
        mask = torch.full((256, 256), float("-inf")).triu(1)
        x = F.embedding(ids, self.embed)
        for i, layer in enumerate(self.layers):
            x, p = layer(x, cos, sin, mask, self.c["rms_norm_eps"], positions if i == len(self.layers) - 1 else None)
            if i == GUIDE_LAYER:
                guide = p
        return F.linear(norm(x, self.norm, self.c["rms_norm_eps"]), self.embed), guide

    def hf_state(self):
        """Tensors under the names of a Hugging Face Llama."""
        s = {"model.embed_tokens.weight": self.embed, "model.norm.weight": self.norm}
        for i, layer in enumerate(self.layers):
            p = f"model.layers.{i}."
            s.update({p + f"self_attn.{x}_proj.weight": getattr(layer, x) for x in "qkvo"})
            s.update({p + f"mlp.{x}_proj.weight": getattr(layer, x) for x in ("gate", "up", "down")})
            s.update({p + "input_layernorm.weight": layer.norm1, p + "post_attention_layernorm.weight": layer.norm2})
        return {k: v.detach().to(torch.bfloat16).contiguous().clone() for k, v in s.items()}


@torch.compile
def orthogonal(x, dtype):
    """The matrices x (n, rows, columns) with their singular values near one: Newton and Schulz's iteration, quintic."""
    y = x.to(dtype)
    y = y.mT if x.shape[1] > x.shape[2] else y
    y = y / y.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)
    for _ in range(5):
        a = y @ y.mT
        y = 3.4445 * y + (-4.775 * a + 2.0315 * (a @ a)) @ y
    return (y.mT if x.shape[1] > x.shape[2] else y).float()


class Muon:
    """Momentum whose step is made orthogonal, matrices of one shape at once: a third less time than torch.optim.Muon, one after the other."""

    def __init__(self, params, dtype, momentum=0.95, weight_decay=0.01):
        shapes = collections.defaultdict(list)
        for p in params:
            shapes[p.shape].append(p)
        self.groups = [(ps, torch.zeros(len(ps), *shape)) for shape, ps in shapes.items()]
        self.dtype, self.momentum, self.weight_decay = dtype, momentum, weight_decay

    @torch.no_grad()
    def step(self, lr):
        for params, average in self.groups:
            grad = torch.stack([p.grad for p in params])
            average.lerp_(grad, 1 - self.momentum)
            step = orthogonal(grad.lerp(average, self.momentum), self.dtype) * max(1.0, grad.shape[1] / grad.shape[2]) ** 0.5
            for p, x in zip(params, step):
                p.mul_(1 - lr * self.weight_decay).sub_(x, alpha=lr)


def keep_memory():
    """glibc keeps what tensors gave back, up to 2 GB: the next one then finds its pages there (7 % of the time, with huge pages)."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        for option, value in ((-3, 1 << 30), (-1, (1 << 31) - 1)):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
            mallopt(option, value)


def fastest_type():
    """The type that this CPU multiplies faster in: bf16 where it has units for it, f32 elsewhere."""
    def seconds(dtype):
        a, b = torch.randn(2048, 512).to(dtype), torch.randn(1024, 512).to(dtype)
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            F.linear(a, b)
            times.append(time.perf_counter() - begin)
        return min(times)
    # Beside the products, half the time goes to what bf16 makes slower: it has to be clearly faster.
    return torch.bfloat16 if 2 * seconds(torch.bfloat16) < seconds(torch.float32) else torch.float32


def padded(n):
    """The length that a conversation is padded to: few different ones, since a product's code is made anew for each shape."""
    step = 4 if n <= 64 else 8 if n <= 128 else 64
    return -(-n // step) * step


def batches(data, tokens, rng):
    """Conversations of one padded length together, at most `tokens` a batch, in random order: (padded length, rows, indices), some rows of the last ones empty."""
    order = list(range(len(data)))
    rng.shuffle(order)
    lengths = collections.defaultdict(list)
    for i in order:
        lengths[padded(len(data[i][0]))].append(i)
    groups = []
    for length, members in sorted(lengths.items()):
        rows = max(1, tokens // length)
        groups += [(length, rows, members[at:at + rows]) for at in range(0, len(members), rows)]
    rng.shuffle(groups)
    return groups


def tensors(data, group):
    """(ids, weights) of a batch, padded, and its guides: (row, position, where to look)."""
    n, rows, members = group
    ids = np.zeros((rows, n), dtype=np.int64)
    weights = np.zeros((rows, n), dtype=np.float32)
    for row, i in enumerate(members):
        ids[row, :len(data[i][0])] = data[i][0]
        weights[row, :len(data[i][1])] = data[i][1]
    looks = np.concatenate([np.insert(data[i][2], 0, row, axis=1) for row, i in enumerate(members)])
    looks = looks[looks[:, 1] < n].astype(np.int64)
    return torch.from_numpy(ids), torch.from_numpy(weights), torch.from_numpy(looks)


def loss_of(net, ids, weights, looks=None):
    """Weighted sum of -log p over the tokens that count, and that of the guided head over its pairs."""
    targets, w = ids[:, 1:].flatten(), weights[:, 1:].flatten()
    flat = torch.arange(ids.numel()).view(ids.shape)[:, :-1].flatten()
    keep = torch.nonzero(w).flatten()
    more = -len(keep) % 128  # positions of no weight: few different shapes, as in padded()
    keep, w = F.pad(keep, (0, more)), F.pad(w[keep], (0, more))
    logits, guide = net(ids, flat[keep])
    loss = (F.cross_entropy(logits.float(), targets[keep], reduction="none") * w).sum()
    if looks is None or guide is None or not len(looks):
        return loss, loss.new_zeros(())
    return loss, -guide[looks[:, 0], looks[:, 1], looks[:, 2]].float().clamp_min(1e-6).log().sum()


def evaluate(net, data, dtype):
    """Mean -log p over the answers' tokens."""
    net.eval()
    total = count = 0.0
    with torch.no_grad(), torch.compiler.set_stance("force_eager"), torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        for group in batches(data, 16384, random.Random(0)):
            ids, weights, _ = tensors(data, group)
            weights = (weights == 1).float()
            total += loss_of(net, ids, weights)[0].item()
            count += weights[:, 1:].sum().item()
    net.train()
    return total / count


def svg(path, points, held):
    """The loss curve as a picture, without a plotting library. points, held: (tokens seen, loss)."""
    width, height, left, bottom = 720, 360, 60, 40
    xmax = max(x for x, _ in points)
    lo, hi = math.log10(min(y for _, y in points + held) * 0.8), math.log10(max(y for _, y in points) * 1.1)

    def place(x, y):
        return f"{left + (width - left - 20) * x / xmax:.1f},{(height - bottom) - (height - bottom - 20) * (math.log10(y) - lo) / (hi - lo):.1f}"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for y in (5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01):
        if lo < math.log10(y) < hi:
            a = place(0, y)
            out.append(f'<path d="M{a} L{place(xmax, y)}" stroke="#ddd"/><text x="{left - 8}" y="{float(a.split(",")[1]) + 4}" text-anchor="end">{y}</text>')
    for k in range(0, 6):
        x = float(place(xmax * k / 5, 1).split(",")[0])
        out.append(f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{xmax * k / 5 / 1e6:.1f}M</text>')
    out.append(f'<text x="{(width + left) / 2}" y="{height - 6}" text-anchor="middle">tokens seen</text><text x="{left}" y="14">loss per token of the answers, nats (log scale)</text>')
    for curve, colour in ((points, "#4477aa"), (held, "#cc3311")):
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" points="{" ".join(place(x, y) for x, y in curve)}"/>')
    out.append(f'<text x="{width - 180}" y="40" fill="#4477aa">training (weighted)</text><text x="{width - 180}" y="56" fill="#cc3311">held-out wordings</text></svg>')
    Path(path).write_text("\n".join(out) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--data", type=Path, default=Path("build/assistant"))
    p.add_argument("--out", type=Path, default=Path("build/assistant/checkpoint"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=0, help="stop after so many steps; 0: one pass over the data")
    p.add_argument("--batch", type=int, default=6144, help="tokens per step")
    p.add_argument("--parts", type=int, default=3, help="of like length each, that make a step")
    p.add_argument("--lr", type=float, default=0.02, help="Muon's learning rate; AdamW's is a fifth of it")
    p.add_argument("--decay", type=float, default=0.8, help="share of the steps over which the learning rate falls to zero")
    p.add_argument("--threads", type=int, default=2)
    a = p.parse_args()
    keep_memory()
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    rng = random.Random(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    begin, dtype = time.time(), fastest_type()

    tok = make_tokenizer(a.data / "train.jsonl")
    tok.save(str(a.out / "tokenizer.json"))
    data = encode(tok, a.data / "train.jsonl", a.seed, a.threads)
    held = encode(tok, a.data / "heldout.jsonl", 0, a.threads)
    total = sum(len(c[0]) for c in data)
    print(f"{len(data)} conversations, {total} tokens; held out {len(held)}; {time.time() - begin:.0f} s", flush=True)

    net = Net(CONFIG)
    for layer in net.layers:
        layer.forward = torch.compile(layer.forward, dynamic=True)
    count = sum(x.numel() for x in net.parameters())
    hidden = [x for n, x in net.named_parameters() if x.ndim == 2 and n != "embed"]
    rest = [x for n, x in net.named_parameters() if x.ndim == 1 or n == "embed"]
    muon, adam = Muon(hidden, dtype), torch.optim.AdamW(rest, lr=a.lr / 5, betas=(0.9, 0.98), weight_decay=0.0)
    groups = batches(data, a.batch // a.parts, rng)
    steps = a.steps or len(groups) // a.parts
    print(f"{count} parameters, {steps} steps, {dtype}", flush=True)

    curve, held_curve, seen, smooth, guided = [], [], 0, None, [0.0, 0]
    for step in range(steps):
        scale = min(1.0, (step + 1) / 100, (steps - step) / (a.decay * steps))
        adam.param_groups[0]["lr"] = a.lr / 5 * scale
        # Parts of different lengths make one step, so that it is not about long conversations or short ones alone.
        parts = [tensors(data, groups[(step * a.parts + i) % len(groups)]) for i in range(a.parts)]
        total_weight = sum(w[:, 1:].sum() for _, w, _ in parts)
        loss = 0.0
        for ids, weights, looks in parts:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
                part, guide = loss_of(net, ids, weights, looks)
            ((part + GUIDE * scale * guide) / total_weight).backward()
            loss += part.item() / total_weight.item()
            guided[0] += guide.item()
            guided[1] += len(looks)
            seen += ids.numel()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        muon.step(a.lr * scale)
        adam.step()
        net.zero_grad(set_to_none=True)
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if step % 20 == 19:
            curve.append((seen, smooth))
        if step % 1500 == 1499 or step == steps - 1:
            held_curve.append((seen, evaluate(net, held, dtype)))
            print(f"step {step + 1} tokens {seen} loss {smooth:.4f} guide {guided[0] / max(1, guided[1]):.4f} held-out {held_curve[-1][1]:.4f} {time.time() - begin:.0f} s", flush=True)
            guided = [0.0, 0]
            save_file(net.hf_state(), a.out / "model.safetensors", metadata={"format": "pt"})

    with open(a.out / "config.json", "w") as f:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", **CONFIG, "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True,
                   "bos_token_id": None, "eos_token_id": END, "torch_dtype": "bfloat16"}, f, indent=1)
        f.write("\n")
    with open(a.out / "linnet_chat.json", "w") as f:
        json.dump(CHAT, f, indent=1)
        f.write("\n")
    if len(curve) > 1:
        svg(a.out / "loss.svg", curve, held_curve)
    with open(a.out / "training.json", "w") as f:
        json.dump({"seed": a.seed, "train_sha256": sha256(a.data / "train.jsonl"), f"train_{HEAD}_sha256": sha256(a.data / "train.jsonl", HEAD), "heldout_sha256": sha256(a.data / "heldout.jsonl"), "parameters": count, "conversations": len(data),
                   "tokens": total, "steps": steps, "batch_tokens": a.batch, "parts": a.parts, "lr": a.lr, "loss": round(smooth, 5), "heldout_loss": round(held_curve[-1][1], 5),
                   "minutes": round((time.time() - begin) / 60, 1), "threads": a.threads, "dtype": str(dtype).removeprefix("torch."),
                   "versions": {"python": sys.version.split()[0], "torch": torch.__version__, "tokenizers": tokenizers.__version__, "numpy": np.__version__}}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
