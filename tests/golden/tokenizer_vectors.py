#!/usr/bin/env python3
"""Makes tokenizers/*.jsonl: what the reference tokenizers do with several hundred awkward strings.

    python tokenizer_vectors.py TOKENIZERS [OUT]      TOKENIZERS holds smollm/ phi-3/ mistral-v3/ llama2/ qwen2/ gpt2/

One JSON object a line: text; ids with what the tokenizer adds by itself; ids_plain without; decoded = decode(ids_plain).
Names of special tokens inside a text count as those tokens, except in mistral-v3 (see there).
"""
import json
import random
import sys
import unicodedata
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

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


def write(file, encode, keep=lambda text: True):
    lines = []
    for text in filter(keep, texts()):
        ids, plain, decoded = encode(text)
        lines.append(json.dumps({"text": text, "ids": ids, "ids_plain": plain, "decoded": decoded}, separators=(",", ":")))
    assert len(lines) >= 300
    file.write_text("\n".join(lines) + "\n", encoding="ascii")
    print(f"{file.stem:12} {len(lines)} strings {file.stat().st_size} bytes")


def main():
    if unicodedata.unidata_version != "14.0.0":
        print("note: made with Unicode 14 (Python 3.11); the random strings will differ", file=sys.stderr)
    root = Path(sys.argv[1])
    out = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent / "tokenizers")
    out.mkdir(parents=True, exist_ok=True)
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


if __name__ == "__main__":
    main()
