#!/usr/bin/env python3
"""Makes pipelines.jsonl: what whole tokenizers of the tokenizers library (0.23.3) make of texts.

    python make_pipelines.py [SEED N FILE]   needs a Python whose unicodedata is Unicode 14.0 (3.11), and tokenizers

First lines of small models: name, model. Then a line a tokenizer: the model's name, what is changed of it, and the other parts of a
tokenizer.json; cases [[text, ids, ids without special tokens, decoded], ...], null where the library fails at an unknown character. The first ones are families with the patterns that they
publish, the others are put together at random. The trainers settle ties otherwise each time, so the models are new ones then.
"""
import json
import pathlib
import random
import sys
import unicodedata

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from make_split_patterns import ENDING, FAMILIES, HEAD, SPACES, random_text

CORPUS = ["the quick brown fox jumps over the lazy dog, isn't it? 1234 and 5678!", "Der schnelle braune Fuchs, naïve café – él niño", "中文 文字 の カタ 한글",
          "a b  c\n\nthe   end. The World's 12 345 things: x_y-z (ab) #1 & more...", "Здравствуй мир, αβγ δε", "don't they're we've I'll you'd",
          "hello hello world world abab abc 10 100 1000"]
BYTES = ["<0x%02X>" % b for b in range(256)]


def trained(model, trainer, pre=None, corpus=CORPUS):
    tokenizer = Tokenizer(model)
    if pre:
        tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator(corpus, trainer)
    return json.loads(tokenizer.to_str())["model"]


def make_models():
    bpe = lambda n, special=("<unk>",), **kw: trainers.BpeTrainer(vocab_size=n, special_tokens=list(special), show_progress=False, **kw)
    uni = lambda n: trainers.UnigramTrainer(vocab_size=n, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    return {
        "bpe-chars": trained(models.BPE(unk_token="<unk>"), bpe(330), pre_tokenizers.Whitespace()),
        "bpe-spaces": trained(models.BPE(unk_token="<unk>"), bpe(300), pre_tokenizers.Split("  ", "isolated")),
        "bpe-ends": trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), bpe(360, end_of_word_suffix="</w>"), pre_tokenizers.Whitespace()),
        "bpe-inside": trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="$"),
                              bpe(400, continuing_subword_prefix="##", end_of_word_suffix="$"), pre_tokenizers.Whitespace()),
        "bpe-meta": trained(models.BPE(unk_token="<unk>"), bpe(330), pre_tokenizers.Metaspace()),
        "bpe-level-ends": trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), bpe(420, end_of_word_suffix="</w>"), pre_tokenizers.ByteLevel()),
        "bpe-bytes": trained(models.BPE(unk_token="<unk>", byte_fallback=True), bpe(500, ["<unk>"] + BYTES, limit_alphabet=60),
                             pre_tokenizers.Metaspace()),
        "bpe-level": trained(models.BPE(), bpe(420, [], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()), pre_tokenizers.ByteLevel()),
        "unigram": trained(models.Unigram(), uni(300), pre_tokenizers.Whitespace()),
        "unigram-meta": trained(models.Unigram(), uni(300), pre_tokenizers.Metaspace()),
        "wordpiece": trained(models.WordPiece(unk_token="[UNK]"),
                             trainers.WordPieceTrainer(vocab_size=330, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False),
                             pre_tokenizers.BertPreTokenizer()),
        "wordlevel": trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False),
                             pre_tokenizers.Whitespace()),
    }


def variants(known):
    """Changes of a model, each as likely: what it has of bytes, affixes and unknown tokens."""
    kinds = {name: [{}] for name in known}
    for name in known:
        if name.startswith("bpe"):
            kinds[name] += [{"ignore_merges": True}, {"fuse_unk": True}, {"unk_token": None}, {"unk_token": None, "fuse_unk": True}, {"unk_token": "[none]"}]
        if name == "bpe-bytes":
            kinds[name] += [{"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "▁"}]
        if name in ("bpe-chars", "bpe-meta", "bpe-ends", "bpe-inside"):
            kinds[name] += [{"byte_fallback": True, "fuse_unk": True}, {"byte_fallback": True, "unk_token": None}]
    kinds["unigram"].append({"unk_id": None})
    kinds["unigram-meta"].append({"unk_id": None})
    kinds["wordpiece"].append({"unk_token": "[none]"})
    kinds["wordlevel"].append({"unk_token": "[none]"})
    return kinds


REGEXES = [r"\s+", r"[aeiou]", r"\d+", "ab|a", r"(?<=a)b", r"\p{Lu}", r"\bthe\b", r" {2,}", r"\n", r"[^\x{0}-\x{7F}]"]
SPLITS = [r"\s+", r"\p{L}+|\p{N}+", r"\d{1,3}(?=(?:\d{3})*\b)", r"[a-m]+|.", r"(?<=\s)\S", r"'(?i:s|t|re)|\w+", "▁", r"▁?\p{L}+", r"\b", " ?[^ ]+"]
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def sequence(kind, key, steps):
    return None if not steps else steps[0] if len(steps) == 1 else {"type": kind, key: steps}


def normalizer(rng):
    kinds = [lambda: {"type": "NFC"}, lambda: {"type": "NFD"}, lambda: {"type": "NFKC"}, lambda: {"type": "NFKD"}, lambda: {"type": "Lowercase"},
             lambda: {"type": "StripAccents"}, lambda: {"type": "Nmt"}, lambda: {"type": "Strip", "strip_left": rng.random() < 0.5, "strip_right": rng.random() < 0.5},
             lambda: {"type": "Prepend", "prepend": rng.choice(["▁", "x", "- "])},
             lambda: {"type": "Replace", "pattern": {"String": rng.choice([" ", "a", "the", "▁", "  "])}, "content": rng.choice(["▁", "", "b", " ", "zz"])},
             lambda: {"type": "Replace", "pattern": {"Regex": rng.choice(REGEXES)}, "content": rng.choice(["▁", "", "b", " ", "zz"])},
             lambda: {"type": "BertNormalizer", "clean_text": rng.random() < 0.7, "handle_chinese_chars": rng.random() < 0.5,
                      "strip_accents": rng.choice([None, True, False]), "lowercase": rng.random() < 0.5}]
    return sequence("Sequence", "normalizers", [rng.choice(kinds)() for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))])


def pre_tokenizer(rng, byte_level):
    def split():
        pattern = {"Regex": rng.choice(SPLITS)} if rng.random() < 0.8 else {"String": rng.choice([" ", "a", "the", "▁"])}
        return {"type": "Split", "pattern": pattern, "behavior": rng.choice(BEHAVIORS), "invert": rng.random() < 0.2}
    kinds = [split, split, lambda: {"type": "Whitespace"}, lambda: {"type": "WhitespaceSplit"}, lambda: {"type": "BertPreTokenizer"},
             lambda: {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)}, lambda: {"type": "Digits", "individual_digits": rng.random() < 0.5},
             lambda: {"type": "CharDelimiterSplit", "delimiter": rng.choice([" ", "a", "▁", "é"])},
             lambda: {"type": "FixedLength", "length": rng.randint(1, 8)}, lambda: {"type": "UnicodeScripts"}]
    byte_step = lambda: {"type": "ByteLevel", "add_prefix_space": rng.random() < 0.4, "trim_offsets": True, "use_regex": rng.random() < 0.5}
    if rng.random() < 0.2:
        kinds += [byte_step] * 2
    if not byte_level or rng.random() < 0.3:
        kinds += [lambda: {"type": "Metaspace", "replacement": "▁", "prepend_scheme": rng.choice(["always", "first", "never"]),
                           "split": rng.random() < 0.5}] * 2
    steps = [rng.choice(kinds)() for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))]
    if byte_level:
        steps.append(byte_step())
    if rng.random() < 0.1:
        steps.append(rng.choice(kinds)())
    return sequence("Sequence", "pretokenizers", steps)


def decoder(rng, model, family):
    if family or (model.startswith("bpe-level") and rng.random() < 0.8):
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if model in ("bpe-ends", "bpe-inside") and rng.random() < 0.6:
        return {"type": "BPEDecoder", "suffix": "</w>" if model == "bpe-ends" else "$"}
    if rng.random() < 0.05:
        return {"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    meta = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    options = [None, {"type": "Fuse"}, {"type": "Sequence", "decoders": [meta, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]},
               {"type": "Metaspace", "replacement": "▁", "prepend_scheme": rng.choice(["always", "never", "first"]), "split": True},
               {"type": "WordPiece", "prefix": "##", "cleanup": rng.random() < 0.5}, {"type": "Sequence", "decoders": [meta, {"type": "Fuse"}]},
               {"type": "Sequence", "decoders": [{"type": "Strip", "content": "▁", "start": 1, "stop": 0}, {"type": "WordPiece", "prefix": "e", "cleanup": True}]},
               {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "th"}, "content": "TH"}, {"type": "Fuse"}, meta]}]
    return rng.choice(options)


def processor(rng, names):
    def template():
        pieces = [{"SpecialToken": {"id": rng.choice(list(names)), "type_id": 0}} for _ in range(rng.randint(0, 2))]
        pieces += [{"Sequence": {"id": "A", "type_id": 0}}]
        pieces += [{"SpecialToken": {"id": rng.choice(list(names)), "type_id": 0}} for _ in range(rng.randint(0, 1))]
        special = {name: {"id": name, "ids": [id], "tokens": [name]} for name, id in names.items()}
        return {"type": "TemplateProcessing", "single": pieces, "pair": rng.sample(pieces, len(pieces)) + [{"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": special}
    pair = lambda kind: {"type": kind, "sep": list(rng.choice(list(names.items()))), "cls": list(rng.choice(list(names.items())))}
    kinds = [template, lambda: pair("BertProcessing"), lambda: dict(pair("RobertaProcessing"), trim_offsets=True, add_prefix_space=True),
             lambda: {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}]
    return sequence("Sequence", "processors", [rng.choice(kinds)() for _ in range(rng.choice([0, 0, 1, 1, 2]))])


def added_tokens(rng, vocab):
    ids = vocab if isinstance(vocab, dict) else {piece: i for i, (piece, _) in enumerate(vocab)}
    contents = rng.sample(["<s>", "</s>", "[X]", "Qx", " the", "the", "<|end|>", "!!", "a b"] + ([] if "Ġ" in ids else ["É"]), rng.choice([2, 2, 3, 4]))
    new = [c for c in contents if c not in ids]
    return [{"id": ids[c] if c in ids else len(ids) + new.index(c), "content": c, "single_word": rng.random() < 0.2, "lstrip": rng.random() < 0.2, "rstrip": rng.random() < 0.2,
             "normalized": rng.random() < 0.3, "special": c not in ids and rng.random() < 0.5} for c in contents]


def any_char(rng):
    c = rng.randrange(rng.choice([0x250, 0x3000, 0x20000, 0x110000]))
    return chr(c) if unicodedata.category(chr(c)) not in ("Cn", "Cs") else "é"


def some_text(rng, added):
    words = " ".join(CORPUS).split(" ")
    parts = []
    for _ in range(rng.randint(1, 9)):
        kind = rng.random()
        parts.append("".join(any_char(rng) for _ in range(5)) if kind < 0.05 else random_text(rng, 3) if kind < 0.3 else rng.choice(added)["content"] if kind < 0.4 and added else rng.choice(words))
        if rng.random() < 0.7:
            parts.append(rng.choice([" ", " ", " ", "  ", "\n", "▁"]))
    return "".join(parts)


UNKNOWN = ("not found in the vocabulary", "`unk_id` is missing", "token from the vocabulary")


def case(tokenizer, text):
    """ids None: the library has no unknown token for it, and fails."""
    try:
        ids = tokenizer.encode(text).ids
    except Exception as error:
        if any(s in str(error) for s in UNKNOWN):
            return [text, None, None, ""]
        raise
    return [text, ids, tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.decode(ids, skip_special_tokens=False)]


def published():
    """The families: normalizer, pre_tokenizer steps in front of ByteLevel."""
    split = lambda regex: {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    o200k = (HEAD + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + ENDING + "?|" + HEAD
             + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + ENDING + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES)
    nfc = {"type": "NFC"}
    return {"Qwen3.5": (nfc, [split(FAMILIES["Qwen3.5"])]),
            "DeepSeek V3": (None, [split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"), split(FAMILIES["DeepSeek V3"])]),
            "Kimi K2": (None, [split(FAMILIES["Kimi K2"])]), "Seed-OSS": (nfc, [split(FAMILIES["Seed-OSS"])]),
            "MiniCPM5": (None, [split(r"\p{N}{1,3}"), split(FAMILIES["MiniCPM5"])]), "Ling": (nfc, [split(FAMILIES["Ling"])]),
            "K-EXAONE": (nfc, [split(FAMILIES["K-EXAONE"])]), "Command A": (nfc, [split(FAMILIES["Command A"]), split(o200k)]),
            "Jais 2": (nfc, [split(FAMILIES["Jais 2"])])}


def main(seed=43, n=340, file=pathlib.Path(__file__).parent / "pipelines.jsonl"):
    rng = random.Random(seed)
    known = make_models()
    changes = variants(known)
    lines = [{"name": name, "model": model} for name, model in known.items()]
    jobs = []
    for name, (normal, steps) in published().items():
        steps = steps + [{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
        jobs.append((name, "bpe-level", {}, normal, {"type": "Sequence", "pretokenizers": steps}))
    while len(jobs) < n + 9:
        model = rng.choice(list(known))
        change = rng.choice(changes[model])
        jobs.append(("", model, change, normalizer(rng), pre_tokenizer(rng, model.startswith("bpe-level"))))
    for name, model, change, normal, pre in jobs:
        added = added_tokens(rng, known[model]["vocab"])
        parts = {"added_tokens": added, "normalizer": normal, "pre_tokenizer": pre, "decoder": decoder(rng, model, name),
                 "post_processor": processor(rng, {a["content"]: a["id"] for a in added})}
        whole = {"version": "1.0", "truncation": None, "padding": None, **parts, "model": dict(known[model], **change)}
        cases = []
        try:
            tokenizer = Tokenizer.from_str(json.dumps(whole))
            for _ in range(30 if name else 4):
                cases.append(case(tokenizer, some_text(rng, added)))
        except BaseException as error:  # pyo3's panics are no Exception
            print(type(error).__name__, str(error)[:100])
            continue
        lines.append({"name": name, "of": model, "change": change, **parts, "cases": cases})
    file.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))


if __name__ == "__main__":
    main(*([int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])] if len(sys.argv) > 3 else []))
