#!/usr/bin/env python3
"""Makes tokenizers/*.jsonl: what the reference tokenizers do with several hundred awkward strings.

    python tokenizer_vectors.py TOKENIZERS [OUT]      TOKENIZERS holds smollm/ phi-3/ mistral-v3/ llama2/ qwen2/ gpt2/ t5-small/
    python tokenizer_vectors.py --small [OUT]         small tokenizers of the other styles: OUT/<style>/tokenizer.json (or tokenizer.model), trained
                                                      where it is missing (not the same each time), and OUT/<style>/vectors.jsonl
    python tokenizer_vectors.py --added [OUT [SETS]]  OUT/added.jsonl: random sets of added tokens with all their flags, SETS a style, put into the
                                                      small tokenizers, and random texts over them: {"base": style, "added": [...], "cases":
                                                      [[text, ids, ids where special tokens are plain text], ...]}

One JSON object a line: text; ids with what the tokenizer adds by itself; ids_plain without; decoded = decode(ids_plain). With --small, ids
that equal ids_plain and a decoded that equals the text are left out.
Names of special tokens inside a text count as those tokens, except with tokenizer.model files (see there).
"""
import io
import json
import random
import sys
import unicodedata
from functools import partial
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertTokenizer

PROSE = """Hello, world!
The quick brown fox jumps over the lazy dog.
It was the best of times, it was the worst of times, it was the age of wisdom.
"Quoted," she said -- 'twice' (or was it thrice?); and then: nothing...
Mr. O'Neill's e-mail is o.neill+spam@example.co.uk; see https://example.com/a/b?c=d&e=f#g
ALL CAPS SHOUTING and MixedCase camelCase snake_case kebab-case
naïve café Zürich Ångström façade coöperate œuvre ßtraße ﬁne ﬂow
¿Qué tal? ¡Olé! «guillemets» „unten“ ‘single’ “double” — em – en … ‰ † ‡ • § ¶
supercalifragilisticexpialidocious antidisestablishmentarianism
Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft
Привет, мир! Съешь же ещё этих мягких французских булок. ЙОД й ё Ё
Γειά σου Κόσμε ΣΊΣΥΦΟΣ σίσυφος ᾳ ᾼ
Xin chào thế giới, tiếng Việt có dấu
İstanbul ısı Iğdır ŞIŞ
x = a*b + c/d - e%f ^ g | h & ~i << 2 >> 3 != == <= >= => -> :: ++ -- && ||
£5 €6 ¥7 ₹8 $9.99 50% ±3 °C 10² H₂O x³ ½ ¼ ⅓ № ™ © ®
∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α∧¬β → γ ∫₀^∞ e⁻ˣ dx = 1 ℵ₀ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒻 𝟘𝟙𝟚
┌─┐│█▓▒░└─┘ ←↑→↓ ★☆ ♠♥♦♣ ☃ ✓ ✗ ⠃⠗""".split("\n")

CODE = [
    "def f(x):\n    return x ** 2  # square\n",
    "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n",
    "#include <stdio.h>\r\nint main(void) { printf(\"%d\\n\", 42); }\r\n",
    "SELECT * FROM t WHERE a='b' AND c>=1.5e-10;",
    "{\"key\": [1, 2.5, null, true], \"s\": \"\\u00e9\\n\"}",
    "<div class=\"a b\">&nbsp;&lt;x&gt;</div><!-- c -->",
    "if x:\n        if y:\n            pass\n\n\n    else:\n\t\t\tz()",
    "0xDEADBEEF 0b1010 1_000_000 3.14159f 1e10 .5 5. -7 +8",
    "$ ls -la | grep '^d' > /dev/null 2>&1\n",
    "\\frac{1}{2} \\alpha_{i,j}^{2} $$x$$",
    "--------------------------------------------------------------------------------",
    "================", "____", "////////", "........", "!!!!!!!!!!!", "?!?!?!", "```python\n```", "*** ** *", "#####",
    "fn main() -> Result<(), Box<dyn Error>> { Ok(()) }", "a.b.c->d::e[0](1)", "@decorator\nclass A(B): ...",
]

SCRIPTS = """你好，世界！
我能吞下玻璃而不傷身體。
天地玄黃宇宙洪荒
今日は世界 こんにちは カタカナ ｶﾀｶﾅ ひらがな
東京都に住んでいます。
안녕하세요 세계 대한민국
مرحبا بالعالم السلام عليكم
بِسْمِ اللَّهِ ١٢٣٤ ۱۲۳
שלום עולם בְּרֵאשִׁית
नमस्ते दुनिया क्षत्रिय १२३
สวัสดีชาวโลก ๑๒๓ ภาษาไทย
ওহে বিশ্ব
வணக்கம் உலகம்
გამარჯობა მსოფლიო
Բարեւ աշխարհ
ሰላም ልዑል
ខ្ញុំអាចញ៉ាំ
မင်္ဂလာပါ
བཀྲ་ཤིས
Монгол ᠮᠣᠩᠭᠣᠯ
ᚠᛇᚻ ᛒᛦᚦ 𐌰𐌹 𓀀𓂀 𒀀
mixed 中文 and English混排 тест 123混
中文，标点。「引号」『』、；：？！""".split("\n")

EMOJI = ["😀", "🙂🙃", "hi 👋🏽!", "👩‍👩‍👧‍👦", "👨🏿‍🚀 👩🏻‍💻", "🏳️‍🌈", "🇩🇪🇫🇷🇯🇵", "❤️ ❤", "1️⃣2️⃣", "🧑‍🤝‍🧑", "🤦🏼‍♂️", "a😀b", "😀 😀  😀",
         "☺︎☺️", "👍🏻👍🏼👍🏽👍🏾👍🏿", "🦀🫠", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]

MARKS = [  # combining accents, jamo, other forms that NFC changes or keeps
    "e\u0301", "cafe\u0301 au lait", "A\u030a \u00c5 \u212b", "o\u0302\u0301 \u1ed1", "n\u0303 \u00f1", "u\u0308\u0304",
    "q\u0307\u0323 q\u0323\u0307", "Z\u0351\u036b\u0343a\u0308l\u0334g\u0321o", "\u0301", " \u0301", "\u0301e", "e \u0301",
    "\u1112\u1161\u11ab\u1100\u1173\u11af", "\u1100\u1161 \uac00 \uac01", "\u1112\u1161\u11ab", "\u11a8\u1100", "\uac00\u11a8",
    "\u0958 \u0915\u093c", "\u2126 \u03a9", "\u1e9b\u0323", "\ufb01 \ufb2a", "\u0344", "\u2adc", "\uf900 \u8c48", "d\u0323\u0307",
    "I\u0307 i\u0307", "\u0e33 \u0e4d\u0e32", "\u3099\u304b\u3099", "\u0c46\u0c56", "\u1d15e", "\U0001d15e",
]

DIGITS = [
    *("1234567890123456789012345"[:n] for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 17, 25)),
    "0", "00", "000", "007", "1,234,567.89", "3.14", "12:34:56", "2024-02-29", "192.168.0.1", "1e-9", "v1.2.3", "a1b2c3",
    "１２３４", "１ ２", "x²³¹", "⁰⁴⁵", "₀₁₂", "ⅠⅡⅢ ⅳ Ⅻ", "①②③", "㊿", "½¾", "٣٤", "१२", "12½", "3²", "1 22 333 4444 55555",
    " 1", "  12", "$100", "100%", "(555) 010-9999", "+1", "-1", "1-1", "1st 2nd 3rd", "二〇二四年", "Ⅳth", "𝟏𝟐", "৳৴",
]

CONTRACTIONS = [
    "I'm you're he's she'd we'll they've don't", "I'M YOU'RE HE'S SHE'D WE'LL THEY'VE DON'T", "I'm You'Re He'S She'D We'lL",
    "'s", "'S", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'VE", "'m", "'M", "'ll", "'LL", "'lL", "'d", "'D", "'", "''", "'''", "' s",
    "''s", " 's", "'ss", "'sx", "a's's", "x'y", "'lls", "'ree", "'tis 'twas", "rock'n'roll", "l'été d'or", "don’t I’M", "1's 2'S",
    "'\u017f it'\u017f", "\n's", "!'s",
]

SPACE = [
    *(" " * n for n in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33)), *("\n" * n for n in (1, 2, 3, 4, 5)), *("\t" * n for n in (1, 2, 3, 4)),
    "\r", "\r\n", "\r\n\r\n", "\n\r", "\r\r", " \n", "\n ", " \n ", "  \n  ", "\n\n ", " \n\n", "\t\n", "\n\t", " \t ", "\t \t", "\v", "\f",
    " a", "  a", "   a", "a ", "a  ", "a   ", " a ", "a b", "a  b", "a   b", "a    b", "a\tb", "a\t\tb", "a \tb", "a\t b", "a\nb", "a\n\nb",
    "a \nb", "a\n b", "a \n b", "a\r\nb", "a \r\n b", "a\r\n\r\nb", "a\n\n\n\nb", "a  \n\n  b", " !", "  !", "! ", "!\n", "!\n\n", " !\r\n",
    "a !\n\n b", ".\n \n.", "  1", "1  ", "\n1", "  'll", "a.  B", "a.\n\nB", "\n  - x\n  - y\n", "x\n" * 5, "tail \n", "tail\t", "   \n\n\t x",
]

ODD_SPACE = [f for c in "\u00a0\u2003\u3000\u200b\u0085\u1680\u2028\u202f\u205f\ufeff\u180e"
             for f in (f"a{c}b", f"{c}{c}x ", f" {c}")] + [
    "\u200b", "\u00a0", "a\u00a0\u00a0b", "\u00a0\u00a0\u00a0\u00a0", "\u2003\u2003\n", "\u3000\u3000x", "a\u0085\u0085b", "\u2028\u2029",
    "\u200d", "a\u200cb", "\u00ad soft\u00adhyphen", "\u2060w", "\u202eabc\u202c", " \u00a0 ",
]

CONTROL = ["\x00", "a\x00b", "\x01\x02\x03", "\x1b[31mred\x1b[0m", "\x7f", "\x80\x9f", "a\x08b", "\x1c\x1d\x1e\x1f", "\ufffd", "\ue000",
           "\U000f0000", "\u0600", "\u2581", "a\u2581b", "\u2581\u2581a", "Ġ", "aĠb", "Ċ", "<0x0A>", "<0xE2><0x96>", "##ing", "@@", "</w>"]

SPECIAL = ["<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|end|>", "<|user|>", "<|assistant|>", "[INST]",
           "[REFERENCE_DOC_3]", "<repo_name>"]
AROUND = ["{}", " {}", "{} ", "a{}b", "a {} b", "{}{}", "{}\n"]
CHATS = [
    "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", "<|user|>\nHi there<|end|>\n<|assistant|>\n", "<s>[INST] Hi [/INST] Yes</s>",
    "<|im_start|", "<|im_start|>>", "<<|im_end|>>", "<|IM_END|>", "< s>", "<s", "<s>>", "<ss>", "</s", "<|endoftext|><s></s>", "<|end|><|endoftext|>",
    "\u0301<|im_end|>\u0301", "e<|im_end|>\u0301", "<s> <s>  <s>", "a</s>b</s>", "<|system|>You are.<|end|>", "\n<s>\n", "  </s>  ",
    "x<unk>y <unk>", "[INST]a[/INST]", "[TOOL_CALLS] [{}]",
]

LONG = ["a" * 300, "ab" * 90, "\u00e9" * 40, "lorem" * 40, "x" * 63 + " " + "y" * 65, "1" * 60, "的" * 30, " " * 100 + "z", "aA" * 30, "\n " * 20,
        "thequickbrownfoxjumpsoverthelazydog" * 4]

SINGLE = list("aZ5.!é中ё🙂 ~\"\\\u00df\u0416\u05d0\u0639\u0905\u0e01\u3042\uac00\u00ff\u0100\u07ff\u0800\uffe5\U00010000\U0001f600")


def noise(rng):
    """Random strings: one half over all assigned characters, one half over a mix in which merges and classes meet."""
    assigned = [chr(c) for c in range(32, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    mix = ["the", "ing", " ", " ", "  ", "\n", "\t", "\r\n", "'s", "'LL", "7", "42", "é", "e\u0301", "ß", "Д", "中", "の", "한", "\u11a8", "א", "ع",
           "न", "्", "ก", "😀", "\u200d", "🏽", "²", "Ⅳ", "٣", "_", "-", "...", "\u00a0", "\u3000", "\u0085", "(", ")", "A", "Q", "\u0323", "\u2581"]
    for _ in range(40):
        yield "".join(rng.choice(assigned) for _ in range(rng.randint(1, 8)))
    for _ in range(50):
        yield "".join(rng.choice(mix) for _ in range(rng.randint(2, 14)))


def texts():
    all_texts = ["", *PROSE, *CODE, *SCRIPTS, *EMOJI, *MARKS, *DIGITS, *CONTRACTIONS, *SPACE, *ODD_SPACE, *CONTROL,
                 *(a.replace("{}", s) for s in SPECIAL for a in AROUND), *CHATS, *LONG, *SINGLE, *noise(random.Random(14))]
    return list(dict.fromkeys(all_texts))


def byte_level_bpe(vocab, merges, split, normalizer, special):
    """A byte-level BPE as its authors define it, for the two that come as vocab and merges."""
    t = Tokenizer(models.BPE.from_file(str(vocab), str(merges)))
    if normalizer:
        t.normalizer = normalizer
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)  # None: GPT-2's own expression
    t.pre_tokenizer = byte_level if split is None else pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(split), behavior="isolated"), byte_level])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in special])
    return t


QWEN2_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def llama2(file):
    """The file at hand has plain spaces where U+00A0 belongs, which leaves three merges that are no pairs."""
    data = json.loads(file.read_text(encoding="utf-8"))
    merges = data["model"]["merges"]
    data["model"]["merges"] = [m for m in merges if m.count(" ") == 1]
    assert len(merges) - len(data["model"]["merges"]) == 3
    return Tokenizer.from_str(json.dumps(data))


def encoder(t):
    def encode(text):
        plain = t.encode(text, add_special_tokens=False).ids
        return t.encode(text).ids, plain, t.decode(plain, skip_special_tokens=False)
    return encode


def sentencepiece_encoder(file):
    """Names of control tokens are plain text to SentencePiece; [REFERENCE_DOC_0..19] are user-defined pieces and match."""
    sp = sentencepiece.SentencePieceProcessor(model_file=str(file))

    def encode(text):
        plain = sp.encode(text)
        return [sp.bos_id()] + plain, plain, sp.decode(plain)
    return encode


def write(file, encode, keep=lambda text: True, some=None):
    lines = []
    for text in filter(keep, some or texts()):
        ids, plain, decoded = encode(text)
        case = {"text": text, "ids": ids, "ids_plain": plain, "decoded": decoded}
        if some and ids == plain:
            del case["ids"]
        if some and decoded == text:
            del case["decoded"]
        lines.append(json.dumps(case, separators=(",", ":"), ensure_ascii=not some))
    assert len(lines) >= (100 if some else 300)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{file.parent.name + '/' + file.stem:28} {len(lines)} strings {file.stat().st_size} bytes")


# ---- small tokenizers, one of each style ----------------------------------------------------------------------------------

LINE_TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
LEAD = r"[^\r\n\p{L}\p{N}]?"
LLAMA3_SPLIT = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + LINE_TAIL
O200K_SPLIT = (f"{LEAD}{UPPER}*{LOWER}+{CONTRACTION}?|{LEAD}{UPPER}+{LOWER}*{CONTRACTION}?"
               r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + LINE_TAIL)
TEKKEN_SPLIT = f"{LEAD}{UPPER}*{LOWER}+|{LEAD}{UPPER}+{LOWER}*" + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + LINE_TAIL
DEEPSEEK3_SPLITS = [r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+",
                    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
                    + LINE_TAIL]
DEEPSEEK_CODER_SPLITS = ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+"]
BLOOM_SPLIT = r" ?[^(\s|[.,!?…。，、।۔،])]+"
META = "\u2581"
BYTES = [f"<0x{b:02X}>" for b in range(256)]


def corpus():
    return PROSE * 4 + CODE + SCRIPTS + EMOJI + DIGITS + CONTRACTIONS


def some_texts():
    rng = random.Random(7)
    groups = (PROSE, CODE, SCRIPTS, EMOJI, MARKS, DIGITS, CONTRACTIONS, SPACE, ODD_SPACE, CONTROL, CHATS, LONG[:4], list(noise(random.Random(14))))
    return [""] + [text for group in groups for text in rng.sample(group, min(len(group), 14))]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=invert)


def byte_level_style(steps, normalizer=None, special=("<s>", "<|end|>"), post=None, byte_level=None, ignore_merges=False):
    """A byte-level BPE with these steps before (or, where byte_level stands among them, around) ByteLevel."""
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        t.normalizer = normalizer
    steps = [s if not isinstance(s, str) else split(s) for s in steps]
    if byte_level is None:
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    steps = [byte_level if s is None else s for s in steps]
    t.pre_tokenizer = steps[0] if len(steps) == 1 else pre_tokenizers.Sequence(steps)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=560, special_tokens=list(special), show_progress=False,
                                                        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    if post:
        t.post_processor = post(t)
    return t


def with_bos(name):
    return lambda t: processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single=f"{name} $A", pair=f"{name} $A {name} $B", special_tokens=[(name, t.token_to_id(name))])])


def byte_level_styles():
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    nfc = normalizers.NFC()
    yield "llama3", partial(byte_level_style, [LLAMA3_SPLIT, None], special=("<|begin_of_text|>", "<|eot_id|>"), post=with_bos("<|begin_of_text|>"), ignore_merges=True)
    yield "gpt-4o", partial(byte_level_style, [O200K_SPLIT, None], special=("<|endoftext|>",))
    yield "tekken", partial(byte_level_style, [TEKKEN_SPLIT, None], post=with_bos("<s>"))
    yield "olmo2", partial(byte_level_style, [split(LLAMA3_SPLIT, "removed", True), None], special=("<|endoftext|>",))
    yield "deepseek-v3", partial(byte_level_style, [*DEEPSEEK3_SPLITS, None], normalizers.Sequence([]), post=with_bos("<s>"))
    yield "deepseek-coder", partial(byte_level_style, [*DEEPSEEK_CODER_SPLITS, digits, None], post=with_bos("<s>"))
    yield "falcon", partial(byte_level_style, [pre_tokenizers.Punctuation(behavior="contiguous"), None, pre_tokenizers.Digits(individual_digits=False),
                                      split("[0-9][0-9][0-9]")], byte_level=gpt2)
    yield "starcoder", partial(byte_level_style, [digits, None], byte_level=gpt2)
    yield "command-r", partial(byte_level_style, [digits, None], nfc, byte_level=gpt2, post=with_bos("<s>"))
    yield "bloom", partial(byte_level_style, [BLOOM_SPLIT, None])
    yield "gpt-neox", partial(byte_level_style, [None], nfc, byte_level=gpt2)
    yield "roberta", partial(byte_level_style, [None], byte_level=pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True), special=("<s>", "</s>"),
                                      post=lambda t: processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=True, add_prefix_space=True))


def bpe_style(normalizer, pre_tokenizer, decoder):
    """BPE over characters with bytes for the rest, as SentencePiece models become."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizer
    if pre_tokenizer:
        t.pre_tokenizer = pre_tokenizer
    t.decoder = decoder
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=150,
                                                        show_progress=False))
    data = json.loads(t.to_str())
    data["added_tokens"] = data["added_tokens"][:3]  # the bytes are none
    t = Tokenizer.from_str(json.dumps(data))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)])
    return t


def unigram_style(normalizer, pre_tokenizer, decoder=None, size=500):
    t = Tokenizer(models.Unigram())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer
    t.decoder = decoder or decoders.Metaspace()
    t.train_from_iterator(corpus(), trainers.UnigramTrainer(vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>",
                                                            show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


def wordpiece_style(cased):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=60))
    t.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=700, limit_alphabet=200, show_progress=False,
                                                              special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    pair = [("[CLS]", 2), ("[SEP]", 3)]
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=pair)
    return t


# A few rules, in the format of SentencePiece: what stands there, what it becomes.
RULES = {"\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\r": " ", "\u200b": " ", "\ufeff": "", "\x07": "", "ﬁ": "fi", "½": "1⁄2", "e\u0301": "é",
         "Ａ": "A", "①": "1", "…": "...", "ﷺ": "صلى الله عليه وسلم", "㌔": "キロ", "A\u030a": "Å", "²": "2"}


def sentencepiece_style(file, rules=None, **options):
    if file.exists():
        return file.read_bytes()
    model = io.BytesIO()
    if rules:
        tsv = file.with_suffix(".tsv")
        tsv.write_text("".join(" ".join("%X" % ord(c) for c in a) + "\t" + " ".join("%X" % ord(c) for c in b) + "\n" for a, b in rules.items()))
        options["normalization_rule_tsv"] = str(tsv)
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([s.replace("\n", " ") for s in corpus()]), model_writer=model, minloglevel=2, num_threads=1,
                                  **{"vocab_size": 600, "character_coverage": 0.98, **options})
    file.write_bytes(model.getvalue())
    if rules:
        tsv.unlink()
    return model.getvalue()


def charsmap_of(model):
    """normalizer_spec.precompiled_charsmap of a tokenizer.model, by the few rules of protobuf that this takes."""
    def fields(data):
        at = 0
        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value
        while at < len(data):
            key = varint()
            if key & 7 == 2:
                n = varint()
                yield key >> 3, data[at:at + n]
                at += n
            elif key & 7 == 0:
                yield key >> 3, varint()
            else:
                at += 4 if key & 7 == 5 else 8
    spec = next(v for k, v in fields(model) if k == 3)
    return next(v for k, v in fields(spec) if k == 2)


def write_small(out):
    def folder(name):
        path = out / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def save(name, train):
        path = folder(name)
        file = path / "tokenizer.json"
        if not file.exists():
            file.write_text(json.dumps(json.loads(train().to_str()), separators=(",", ":")), encoding="ascii")
        write(path / "vectors.jsonl", encoder(Tokenizer.from_file(str(file))), known, some_texts())

    # Letters that are newer than the tables of either side are no reference.
    nfkc = normalizers.NFKC()
    def known(text):
        text = text.replace("\ufffd", "")
        return (nfkc.normalize_str(text) == unicodedata.normalize("NFKC", text) and
                all(unicodedata.category(c) != "Cn" for c in text))

    for name, train in byte_level_styles():
        save(name, train)
    spm_decoder = decoders.Sequence([decoders.Replace(META, " "), decoders.ByteFallback(), decoders.Fuse()])
    save("gemma", partial(bpe_style, normalizers.Replace(" ", META), pre_tokenizers.Split(" ", "merged_with_previous"), spm_decoder))
    save("metaspace", partial(bpe_style, normalizers.NFKC(), pre_tokenizers.Metaspace(prepend_scheme="first", split=True), decoders.Sequence(
        [decoders.Replace(META, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])))
    save("unigram", partial(unigram_style, normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(),
                                                        normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " ")]), pre_tokenizers.Metaspace()))
    model = sentencepiece_style(folder("unigram-spm") / "tokenizer.model", RULES, model_type="unigram", hard_vocab_limit=False)
    # SentencePiece's decoder takes away more than what was put in front.
    plain = [text for text in some_texts() if not text.startswith(META * 2)]
    write(out / "unigram-spm/vectors.jsonl", sentencepiece_encoder(out / "unigram-spm/tokenizer.model"), known, plain)
    precompiled = normalizers.Precompiled(charsmap_of(model))
    save("unigram-t5", partial(unigram_style, precompiled, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), size=800))
    save("unigram-xlm", partial(unigram_style, normalizers.Sequence([precompiled, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), META)]),
                                      pre_tokenizers.Metaspace(prepend_scheme="always"), size=800))
    sentencepiece_style(folder("unigram-bytes") / "tokenizer.model", None, model_type="unigram", byte_fallback=True, vocab_size=800,
                        normalization_rule_name="identity", remove_extra_whitespaces=False, hard_vocab_limit=False)
    write(out / "unigram-bytes/vectors.jsonl", sentencepiece_encoder(out / "unigram-bytes/tokenizer.model"), known, some_texts())
    sentencepiece_style(folder("bpe-spm") / "tokenizer.model", RULES, model_type="bpe", byte_fallback=True, vocab_size=900)
    write(out / "bpe-spm/vectors.jsonl", sentencepiece_encoder(out / "bpe-spm/tokenizer.model"), known, plain)
    save("wordpiece", partial(wordpiece_style, False))
    save("wordpiece-cased", partial(wordpiece_style, True))
    # The pieces alone, without and with a file that says how texts are made ready.
    for name, says in (("wordpiece-txt", None), ("wordpiece-txt-cased", dict(tokenizer_class="BertTokenizer", do_lower_case=False, strip_accents=True, tokenize_chinese_chars=False))):
        ids = json.loads((out / name.replace("-txt", "") / "tokenizer.json").read_text())["model"]["vocab"]
        (folder(name) / "vocab.txt").write_text("".join(piece + "\n" for piece in sorted(ids, key=ids.get)), encoding="utf-8")
        if says:
            (out / name / "tokenizer_config.json").write_text(json.dumps(says) + "\n")
        write(out / name / "vectors.jsonl", encoder(BertTokenizer.from_pretrained(out / name).backend_tokenizer), known, some_texts())


# ---- added tokens ------------------------------------------------------------------------------------------------------------

def write_added(out, n_sets):
    """All of the library's rules for added tokens: which is found first, white space around them, single words, normalising."""
    rng = random.Random(23)
    pieces = ["<", ">", "a", "b", "the", "T", "é", "E\u0301", "_", "7", "²", " ", " ", "  ", "\n", "\n\n", "\t", "\u00a0", ".", "中", "ﬁ"]
    texts = lambda some, most: "".join(rng.choice(some) for _ in range(rng.randint(1, most)))
    with open(out / "added.jsonl", "w", encoding="ascii") as file:
        for base in ("gpt-neox", "roberta", "starcoder", "gemma", "metaspace", "unigram", "wordpiece", "wordpiece-cased"):
            data = json.loads((out / base / "tokenizer.json").read_text())
            vocab = data["model"]["vocab"]
            ids = {p[0]: i for i, p in enumerate(vocab)} if isinstance(vocab, list) else vocab
            # BERT's normalizer puts spaces around Han characters, which linnet sets apart later.
            some = [p for p in pieces if p != "中" or "wordpiece" not in base]
            for _ in range(n_sets):
                normalizer = Tokenizer.from_str(json.dumps(data)).normalizer
                normal = lambda text: normalizer.normalize_str(text) if normalizer else text
                n = 1 + max(max(ids.values()), max(t["id"] for t in data["added_tokens"]))
                # Of tokens that are the same once they are normalised the library takes any.
                taken, added = {f(t["content"]) for t in data["added_tokens"] for f in (str, normal)}, []
                for _ in range(rng.randint(1, 6)):
                    content = texts(some, 3)
                    # White space that is normalised away, or a token of the vocabulary, is another matter.
                    if content in taken or content in ids or normal(content) in taken or not normal(content).strip(" \u2581"):
                        continue
                    taken |= {content, normal(content)}
                    flags = {key: rng.random() < 0.4 for key in ("lstrip", "rstrip", "normalized", "special")}
                    added.append({"id": n + len(added), "content": content, "single_word": rng.random() < 0.2, **flags})
                t = Tokenizer.from_str(json.dumps({**data, "added_tokens": data["added_tokens"] + added}))
                cases = []
                for _ in range(12 if added else 0):
                    text = texts(some + 3 * [a["content"] for a in added], 7)
                    case = [text]
                    try:
                        for t.encode_special_tokens in (False, True):
                            case.append(t.encode(text, add_special_tokens=False).ids)
                    except BaseException as e:  # white space that is cut twice makes it panic
                        assert "bad split" in str(e)
                        continue
                    cases.append(case)
                if cases:
                    file.write(json.dumps({"base": base, "added": added, "cases": cases}, separators=(",", ":")) + "\n")


def main():
    if unicodedata.unidata_version != "14.0.0":
        print("note: made with Unicode 14 (Python 3.11); the random strings will differ", file=sys.stderr)
    small, added = sys.argv[1] == "--small", sys.argv[1] == "--added"
    root = Path(sys.argv[1])
    out = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent / "tokenizers")
    out.mkdir(parents=True, exist_ok=True)
    if small:
        return write_small(out)
    if added:
        return write_added(out, int(sys.argv[3]) if len(sys.argv) > 3 else 6)
    nfc = normalizers.NFC()
    qwen2 = byte_level_bpe(root / "qwen2/vocab.json", root / "qwen2/merges.txt", QWEN2_SPLIT, nfc,
                           ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    gpt2 = byte_level_bpe(root / "gpt2/gpt2_vocab.json", root / "gpt2/gpt2_merges.txt", None, None, ["<|endoftext|>"])

    write(out / "smollm2.jsonl", encoder(Tokenizer.from_file(str(root / "smollm/tokenizer.json"))))
    write(out / "phi-3.jsonl", encoder(Tokenizer.from_file(str(root / "phi-3/tokenizer.json"))))
    write(out / "mistral-v3.jsonl", sentencepiece_encoder(root / "mistral-v3/tokenizer.model"))
    write(out / "llama2.jsonl", encoder(llama2(root / "llama2/tokenizer.json")), lambda text: "\u00a0" not in text)
    # The normalizer's tables are older than Unicode 14; where they disagree, neither side is a reference.
    write(out / "qwen2.jsonl", encoder(qwen2), lambda text: nfc.normalize_str(text) == unicodedata.normalize("NFC", text))
    write(out / "gpt2.jsonl", encoder(gpt2))
    write(out / "t5.jsonl", encoder(Tokenizer.from_file(str(root / "t5-small/tokenizer.json"))))


if __name__ == "__main__":
    main()
