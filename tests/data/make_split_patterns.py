#!/usr/bin/env python3
"""Makes split_patterns.jsonl: how the tokenizers library (0.23.3) cuts texts by patterns that linnet compiles into tables.

    python make_split_patterns.py            needs a Python whose unicodedata is Unicode 14.0 (3.11), and tokenizers

A line: name, pattern, behavior, invert, cases [[text, pieces], ...]. First the patterns of published models, then other syntax of
Oniguruma's, then random patterns, each with another behaviour; then the same of groups that give nothing back.
"""
import json
import pathlib
import random
import unicodedata as ud

from tokenizers import Regex, pre_tokenizers

ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
HEAD = r"[^\r\n\p{L}\p{N}]?"
CASED, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
FAMILIES = {
    "Qwen3.5": ENDING + "|" + HEAD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + SPACES,
    "DeepSeek V3": "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
                   "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    "Kimi K2": r"[\p{Han}]+|" + HEAD + CASED + "*" + SMALL + "+" + ENDING + "?|" + HEAD + CASED + "+" + SMALL + "*" + ENDING
               + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES,
    "Seed-OSS": ENDING + "|" + HEAD + r"\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + SPACES,
    "MiniCPM5": ENDING + "|" + HEAD + r"\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES,
    "Ling": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    "K-EXAONE": r"(?:'(?i:[sdmt]|ll|ve|re))|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]"
                r"|\s+(?!\S)|\s+",
    "Jais 2": ENDING + "|" + HEAD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
              + "|".join(r"\s{%d}(?!\S)" % (1 << i) for i in range(9, 1, -1)) + r"|\s{1,2}(?!\S)|\s{1}",
    "GPT-4o": HEAD + r"((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+" + ENDING + "?|" + HEAD + r"((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*"
              + ENDING + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES,
    "Command A": r"\d{1,3}(?=(?:\d{3})*\b)",
    "SuperBPE": r"(?=(\d{3})+(?!\d))",
}
SYNTAX = [
    r"[a-z&&[^aeiou]]+", r"[^a-z&&[^aeiou]]+", r"[\p{L}&&\p{Greek}[0-9]]+", r"[a-c[x-z]]+", r"[^[a-c]x]", r"\w+|\W", r"[\w&&\D]+", r"\s+$",
    r"a$", r"\S+\z", r"[\]\-a]+", r"[a\-z]", r"[-a]", r"[a-]", r"[^-a]", r"[.*+?()|{}$^]", r"\.|\*|\\|\/", r"\p{^Lu}+", r"\P{^Lu}+",
    r"\p{Hiragana}+|\p{katakana}+|\p{Old_Italic}|\p{Cyrillic}+", r"\p{Uppercase_Letter}+", r"\p{lu}+",
    r"\u4e2d|\x{1F600}|\x41|\u00e9", r"\t|\f|\v|\a|\e", r"(?i:k)|(?i:[r-t]+)", r"(?i:LL|x(?-i:y)z)", r"a{,2}b", r"a{2,}", r"(?:ab|a)(?:c|bcd)?",
    r"a+?b?", r"(a|ab)(c|bcd)(d*)", r".+", r"[^\n]|\n", r"(?=[ab]|\d)\w+", r"\d+(?=\s|\z)|\d", r"\s(?=\S)|(?!a)\w", r"}|]",
    r"[a-z]++\d|[a-z]", r"x*+y|x", r" ?+a", r"(?:(?:a|b)+c?)+", r"a??b", r"(?:a|b){2,3}", r"[&a]+|&&", r"[a&&b]|c", r"[\d\s]+", r"[^\d\S]+",
    r"a\b", r"\ba", r"a\Bb|\B1", r"\b", r"\B", r"^a|\n^", r"a\n^", r"^\s*", r"\Aa|\A\s", r"a\Z|\n\Z", r"(?<=a|bc)x", r"(?<!ab)x", r"(?<=^a)b|c",
    r"(?<=\ba).", r"(?<!\p{L})\p{L}{2}", r"(?<=\s)\S+", r"(?<=[a-z])(?=[A-Z])", r"a(?=bc|x+y)", r"\p{L}+(?!\p{L}|\s*\d)", r"a(?i)b|c", r"(?i)xY|k",
    r"(?:a(?i)b|c)d", r"a(?-i)B|(?i:\p{Lu}+)|(?i:\w1)", r"a*", r"\s*", r"x??", r"|a", r"(?:a|)b?", r"(?=a(?!b(?=c)))\w", r"(?<!a)(?<!b)\w+(?<!c)"]
CLASSES = "alnum alpha ascii blank cntrl digit graph lower print punct space upper xdigit word".split()
HELD = [
    r"(?:ab|c)*+", r"(?:ab|c)*+a|(?:ab|c)++", r"(?:a|ab)++", r"(?:ab|a)++b|(?:ab|a)++", r"(?:\p{L}\p{M}*)?+.", r"(?:\p{L}\p{M}*)++a|\s", r"(?>ab|abc)c", r"(?>a|ab)c|b",
    r"(?>abc|a)b|aa|ab", r"(?>a+)a|b", r"(?>a+?)a|b", r"(?>a|b|ab)++c?", r"(?>(?>ab|a)c|a)b", r"(?:(?>a+b?)c)+|(?>a+b?)+", r"(?>\s+)(?!\S)|\s",
    r"(?=(?>a|ab)c)\w+|b", r"(?!(?:ab|c)++x)\w", r"(?>a(?=b)|ab?)x|b", r"(?>a*b|a)(?>b*c|b)", r"(?:(?:ab)?+c|a)+b|[abc]+", r"(?>ab|a)(?>bc|b)(?>cd|c)x?|a",
    r"(?>a{1,3}b|a{2})c|a", r"(?:abc|ab|a)?+bc?", r"(?>(?:ab|c){1,4}x|a)b?y|c", r"(?>|a)b", r"(?>[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})x|\s+(?!\S)|.",
    r"(?<word>\w+)(?<_1> )?", r"(?'n'a|b)+", r"\R", r"\R\n|a\R", r"\R++|\s", r"a(?#b\)c)+b", r"(?x) a + b # c", r"(?x: a b )| ", r"a(?x) b |c d",
    r"(?xi: a\ B )|[ ]", r"(?m:a.)|b", r"(?i-m:x.)|k", r"(?m)a(?-m:.)b|.", r"\h+|\H", r"[\h_]+", r"[^\h]+", r"[[:alpha:][:digit:]_]+", r"[^[:space:]&&[:print:]]+",
    r"[a[:^word:]&&[^[:punct:]]]+", r"\p{Alpha}+|\p{punct}+", r"\p{^graph}+"]
HELD += ["[[:%s:]]+" % name for name in CLASSES] + ["[[:^%s:]]+|a" % name for name in CLASSES]
BEHAVIORS = ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous")
POOL = ["'s", "'S", "'re", "'LL", "'\u017f", "\u212a", "a", "A", "the", "World", "é", "ß", "中", "文字", "한", "ع", "ǅ", "ʰ", "の", "カ", "\u0301",
        "α", "Ж", "1", "23", "456", "٣", "½", " ", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u0085", "\u2028", "!", "...", "-", "/", "😀",
        "\u200d", "_", "#", "&", "×", "，", "〇", "々", "\x01", "b", "c", "x", "y", "z", "k", "ab", "\u0903", "\f", "\\", "]", "    ", " " * 9]
ATOMS = ["a", "b", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\s", r"\S", r"[^\s\p{L}]", "[ab1]", r"\d", "[A-Z]", " ", r"\n", "中", ".", r"\w", r"\x{301}",
         r"[^\r\n]", "é", r"\P{Ll}", "'", r"\p{Han}", r"[a-c\p{M}-]", r"[\p{L}&&[^a-m]]", r"[a[^\s]]", r"[^\w&&\S]"]
REPEATS = ["?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "??", "*?", "+?", "{1,2}?"]
LOOKS = [r"(?!\S)", r"(?=\p{L})", "(?!a|b)", r"(?=[^\n])", r"(?!\p{N}+)", r"\z", "$", r"\b", r"\B", "^", r"\A", r"\Z", r"(?=\p{L}{2})", "(?!a+b)",
         r"(?<=\s)", "(?<!a|bc)", r"(?=(?:\p{N}{2})*\b)", r"(?<=^\p{L})"]


def random_text(rng, most):
    parts = []
    for _ in range(rng.randint(1, most)):
        c = chr(rng.randrange(0x3000 if rng.random() < 0.5 else 0x20000))
        parts.append(c if rng.random() < 0.1 and ud.category(c) not in ("Cn", "Cs") else rng.choice(POOL))
    return "".join(parts)


def random_pattern(rng, depth):
    out = ""
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(10)
        if kind < 2 and depth:
            out += rng.choice(("(?:", "(?:", "(")) + random_pattern(rng, depth - 1) + "|" + random_pattern(rng, depth - 1) + ")"
        elif kind == 2:
            out += rng.choice(("(?i:'s|k)", "(?i:[a-k]x)"))
        elif kind == 3:
            out += rng.choice(LOOKS)
            continue
        else:
            out += rng.choice(ATOMS)
        if rng.random() < 0.5:
            out += rng.choice(REPEATS + (["++", "?+", "*+"] if kind > 3 else []))
    return out


def held_text(rng):
    if rng.random() < 0.2:
        return random_text(rng, 10)
    letters = "aaabbbcccx1 A\n" if rng.random() < 0.3 else "abc"
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 14)))


def held_pattern(rng, depth):
    """Possessive repeats and atomic groups inside of each other. What is repeated may not match nothing."""
    out = ""
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.5:
            repeat = rng.choice(["++", "?+", "*+", "?", "*", "+", "??", "*?", "{1,2}", "", "", "", ""])
            begins = lambda: rng.choice("abc") if repeat else ""
            parts = [begins() + held_pattern(rng, depth - 1) for _ in range(rng.randint(1, 3))]
            out += rng.choice(("(?>", "(?>", "(?:", "(?:", "(?<n>", "(?i:")) + "|".join(parts) + ")" + repeat
        elif rng.random() < 0.1:
            out += rng.choice(["(?!b)", "(?=a)", "$", r"\b", "(?<=a)", "(?<!bc)", "(?=ab|c)"])
        else:
            atom = rng.choice("abc") if rng.random() < 0.6 else rng.choice(["[ab]", "[bc]", "x", r"\p{L}", r"\s", "1", r"\R", r"\w", "."])
            out += atom + rng.choice(["", "", "", "", "?", "*", "+", "++", "?+", "+?", "*?", "??"])
    return out


def main():
    rng = random.Random(31)
    jobs = [(name, pattern, 40) for name, pattern in FAMILIES.items()] + [("syntax", pattern, 12) for pattern in SYNTAX]
    jobs += [("random", "|".join(random_pattern(rng, 2 - i) for i in range(rng.randint(1, 2))), 6) for _ in range(400)]
    held = random.Random(32)
    jobs += [("syntax", pattern, 12) for pattern in HELD]
    jobs += [("random", held_pattern(held, held.randint(1, 3)) + held.choice(("", "|.", "|[abc]+")), 7) for _ in range(200)]
    first_held = len(jobs) - 200 - len(HELD)
    lines = []
    for i, (name, pattern, n) in enumerate(jobs):
        behavior, invert = (BEHAVIORS[i % 5], bool(i // 5 % 2)) if name == "random" else ("isolated", False)
        try:
            split = pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=invert)
        except Exception as error:
            print(pattern, error)
            continue
        texts = []
        if name in ("Command A", "SuperBPE"):
            texts += ["".join(rng.choice("1234567890٣ ,.a_") if rng.random() < 0.3 else rng.choice("12345") for _ in range(30)) for _ in range(20)]
        if i < first_held:
            texts += [random_text(rng, 14 if name != "Jais 2" or k % 5 else 3) for k in range(n)]
        else:
            texts += [held_text(rng) for _ in range(n - 4)] + [random_text(rng, 14) for _ in range(4)]
        if name == "Jais 2":
            texts += [" " * k + "a" for k in (3, 5, 17, 63, 64, 65, 255, 600, 1100)]
        try:
            cases = [[text, [piece for piece, _ in split.pre_tokenize_str(text)]] for text in texts]
        except BaseException as error:  # the library gives up: too many ways were tried
            print(pattern, error)
            continue
        label = "".join(word.capitalize() for word in behavior.split("_"))
        line = {"name": name, "pattern": pattern, "behavior": label, "invert": invert, "cases": cases}
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    (pathlib.Path(__file__).parent / "split_patterns.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
