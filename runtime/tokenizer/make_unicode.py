#!/usr/bin/env python3
"""Writes unicode_class.inc, unicode_nfc.inc and library_kinds.inc (beside this file), ../convert/unicode_maps.inc, unicode_properties.inc,
library_maps.inc, library_classes.inc and library_scripts.inc, ../chat/unicode_case.inc, and of the tests' data nfc_cases.txt,
character_sums.txt and library_sums.txt.

Run it with a Python whose unicodedata is Unicode 14.0 (Python 3.11), a Perl that has the same (5.36) for the names of scripts, and
tokenizers 0.23.3: categories and scripts are those of its regular expressions (Oniguruma's, of Unicode 16), normal forms and case are
Python's. Tests hold characters that Unicode 14 has against Python and PCRE2 10.42, which knows the same version.
"""
import functools
import pathlib
import random
import subprocess
import sys
import unicodedata as ud
import zlib

LAST = 0x10FFFF
HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "tests" / "data"
WHITE_SPACE = {9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def is_surrogate(c):
    return 0xD800 <= c <= 0xDFFF


def library_version():
    from tokenizers import __version__
    return __version__


@functools.cache
def library_text():
    return "".join(chr(c) for c in range(LAST + 1) if not is_surrogate(c))


def library_matches(regex):
    """The characters that one of the library's regular expressions takes."""
    from tokenizers import Regex, pre_tokenizers
    found = pre_tokenizers.Split(Regex(regex), behavior="removed", invert=True).pre_tokenize_str(library_text())
    return sorted({ord(c) for piece, _ in found for c in piece})


@functools.cache
def categories():
    """General categories of all code points, as the library has them."""
    of = {c: "Cs" for c in range(0xD800, 0xE000)}
    for name in sorted({ud.category(chr(c)) for c in range(LAST + 1)} - {"Cs"}):
        for c in library_matches(r"\p{%s}" % name):
            assert c not in of
            of[c] = name
    return [of[c] for c in range(LAST + 1)]


def category(c):
    return categories()[c]


def is_newer(c):
    """Whether Unicode 14 has another category for it, which is none but for one character."""
    return category(c) != ud.category(chr(c))


def code_ranges(codes):
    rows = []
    for c in sorted(codes):
        if rows and rows[-1][1] == c - 1:
            rows[-1][1] = c
        else:
            rows.append([c, c])
    return rows


def range_table(kind, name, codes):
    cells = ["{0x%X, 0x%X}" % (first, last) for first, last in code_ranges(codes)]
    return f"constexpr {kind} {name}[] = {{\n  " + ",\n  ".join(", ".join(cells[i:i + 8]) for i in range(0, len(cells), 8)) + "};\n"


KINDS = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 5, "Me": 5, "Nd": 6, "Nl": 6, "No": 6, "Cc": 10, "Cf": 10, "Co": 10}


def char_kind(c):
    """CharKind of unicode.h"""
    if c in WHITE_SPACE:
        return 7
    return {"P": 8, "S": 9}.get(category(c)[0], KINDS.get(category(c), 0))


def two_level(values, block):
    """values (one per code point) -> (index per block, unique blocks); trailing blocks of zeros are cut off."""
    n = len(values)
    while n and values[n - 1] == 0:
        n -= 1
    n = (n + block - 1) // block * block
    seen, blocks, index = {}, [], []
    for i in range(0, n, block):
        b = tuple(values[i:i + block])
        if b not in seen:
            seen[b] = len(blocks)
            blocks.append(b)
        index.append(seen[b])
    assert len(blocks) < 65536
    return index, blocks


def array(name, ctype, items, per_line=24):
    rows = [", ".join(str(x) for x in items[i:i + per_line]) for i in range(0, len(items), per_line)]
    return f"constexpr {ctype} {name}[{len(items)}] = {{\n" + ",\n".join("  " + r for r in rows) + "};\n"


def index_type(index):
    return "uint8_t" if max(index) < 256 else "uint16_t"


def write_class():
    values = [char_kind(c) for c in range(LAST + 1)]
    index, blocks = two_level(values, 128)
    packed = [b[i] | b[i + 1] << 4 for b in blocks for i in range(0, 128, 2)]
    text = "// Made by make_unicode.py from tokenizers " + library_version() + ": do not edit. Four bits per code point, blocks of 128.\n"
    text += array("kKindIndex", index_type(index), index) + array("kKindBits", "uint8_t", packed)
    (HERE / "unicode_class.inc").write_text(text)


def c_text(s):
    """Every character as an escape that ends by itself."""
    return "".join("\\x%02X" % b for b in s.encode())


def write_maps():
    """What only the converter needs: lower case letters, and compatibility decompositions in full."""
    assert all(ud.normalize("NFD", ud.normalize("NFKD", chr(c))) == ud.normalize("NFKD", chr(c)) for c in range(LAST + 1) if not is_surrogate(c))
    plain = [c for c in range(LAST + 1) if not is_surrogate(c)]
    tables = {"kLower": [(c, chr(c).lower()) for c in plain if chr(c).lower() != chr(c)],
              "kCompatible": [(c, ud.normalize("NFKD", chr(c))) for c in plain if ud.normalize("NFKD", chr(c)) != ud.normalize("NFD", chr(c))]}
    text = "// Made by make_unicode.py from Unicode " + ud.unidata_version + ": do not edit. Code points and what they become, in UTF-8.\n"
    for name, rows in tables.items():
        cells = ['{0x%X, "%s"}' % (c, c_text(s)) for c, s in rows]
        lines = [", ".join(cells[i:i + 6]) for i in range(0, len(cells), 6)]
        text += "constexpr MapEntry %s[] = {\n  " % name + ",\n  ".join(lines) + "};\n"
    (HERE.parent / "convert" / "unicode_maps.inc").write_text(text)


def write_library():
    """Where other parts of the library than its regular expressions, whose tables are of Unicode 8, 9, 16 and 17, see a character otherwise."""
    from tokenizers import normalizers, pre_tokenizers
    plain = [c for c in range(LAST + 1) if not is_surrogate(c)]
    bert = lambda **on: normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **on})
    goes = lambda n: lambda c: n.normalize_str("a" + chr(c)) == "a"
    control = lambda c: c in (0, 0xFFFD) or (c not in (9, 10, 13) and category(c) in ("Cc", "Cf", "Co"))
    apart = lambda c: len(pre_tokenizers.Punctuation().pre_tokenize_str("a" + chr(c) + "b")) == 3
    digit = lambda c: len(pre_tokenizers.Digits().pre_tokenize_str("a" + chr(c))) == 2
    words = pre_tokenizers.Whitespace()
    word = lambda c: len(words.pre_tokenize_str("a" + chr(c))) == 1 and words.pre_tokenize_str("a" + chr(c))[0][1][1] == 2
    letters = lambda c: category(c)[0] in "LMN" or category(c) == "Pc" or c in (0x200C, 0x200D)
    odd = {"kOddControls": (control, goes(bert(clean_text=True))),
           "kOddMarks": (lambda c: category(c) == "Mn", goes(bert(strip_accents=True))),
           "kOddAccents": (lambda c: category(c)[0] == "M", goes(normalizers.StripAccents())),
           "kOddPunctuation": (lambda c: category(c)[0] == "P" or chr(c) in "$+<=>^`|~", apart),
           "kOddDigits": (lambda c: category(c)[0] == "N", digit),
           "kOddWords": (letters, word)}
    core = ("kOddPunctuation", "kOddDigits", "kOddWords")
    files = {True: "", False: ""}
    for name, (ours, theirs) in odd.items():
        differ = [c for c in plain if ours(c) != theirs(c) and not (name == "kOddMarks" and ud.normalize("NFD", chr(c)) != chr(c))]
        files[name in core] += range_table("CodeRange", name, differ)
    lower = normalizers.Lowercase()
    cells = ['{0x%X, "%s"}' % (c, c_text(lower.normalize_str(chr(c)))) for c in plain if lower.normalize_str(chr(c)) != chr(c).lower()]
    files[False] += "constexpr MapEntry kOddLower[] = {\n  " + ",\n  ".join(", ".join(cells[i:i + 6]) for i in range(0, len(cells), 6)) + "};\n"
    kd = normalizers.NFKD()
    cells = ["0x%X" % c for c in plain if kd.normalize_str(chr(c)) == chr(c) != ud.normalize("NFKD", chr(c)) and ud.normalize("NFD", chr(c)) == chr(c)]
    files[False] += "constexpr uint32_t kNotCompatible[] = {\n  " + ",\n  ".join(", ".join(cells[i:i + 12]) for i in range(0, len(cells), 12)) + "};\n"
    for in_core, file in ((True, HERE / "library_kinds.inc"), (False, HERE.parent / "convert" / "library_maps.inc")):
        file.write_text("// Made by make_unicode.py from tokenizers " + library_version() + ": do not edit. What parts of it see otherwise than unicode_class.inc.\n" + files[in_core])


def write_library_classes():
    """What the library's [[:alpha:]], [[:lower:]] and [[:upper:]] have beyond general categories."""
    text = "// Made by make_unicode.py from tokenizers " + library_version() + ": do not edit. What its POSIX classes have beyond categories.\n"
    for name, regex in (("kAlphabeticMarks", r"[[:alpha:]&&\p{M}]"), ("kOtherLower", r"[[:lower:]&&\P{Ll}]"), ("kOtherUpper", r"[[:upper:]&&\P{Lu}]")):
        text += range_table("CharRange", name, library_matches(regex))
    (HERE.parent / "convert" / "library_classes.inc").write_text(text)


PERL_SCRIPTS = """use Unicode::UCD qw(prop_invmap);
my ($first, $script) = prop_invmap("Script");
print Unicode::UCD::UnicodeVersion(), "\\n";
print "$first->[$_] $script->[$_]\\n" for 0 .. $#$first;
"""


NEWER_SCRIPTS = ("Kawi", "Nag_Mundari", "Garay", "Gurung_Khema", "Kirat_Rai", "Ol_Onal", "Sunuwar", "Todhri", "Tulu_Tigalari")  # of Unicode 15 and 16


@functools.cache
def scripts():
    """Scripts of all code points, as the library has them."""
    version, *rows = subprocess.run(["perl", "-e", PERL_SCRIPTS], check=True, capture_output=True, text=True).stdout.split("\n")
    assert version == ud.unidata_version
    of = ["Unknown"] * (LAST + 1)
    for name in sorted({row.split()[1] for row in rows if row} - {"Unknown"} | set(NEWER_SCRIPTS)):
        for c in library_matches(r"\p{%s}" % name):
            assert of[c] == "Unknown"
            of[c] = name
    assert all((of[c] == "Unknown") == (category(c) in ("Cn", "Co", "Cs")) for c in range(LAST + 1))
    return of


def write_library_scripts():
    """What the library's UnicodeScripts, whose tables are older, takes for another script than its regular expressions."""
    from tokenizers import pre_tokenizers
    split = pre_tokenizers.UnicodeScripts()

    def pieces(text):
        return len(split.pre_tokenize_str(text))
    of = ["Han" if script in ("Hiragana", "Katakana") else script for script in scripts()]
    examples, none, odd = {}, [], []
    for c in [c for c in range(LAST + 1) if not is_surrogate(c)]:
        if pieces(chr(c)) == 0:  # of any script
            if of[c] != "Unknown":
                if none and all(of[i] == "Unknown" or is_surrogate(i) for i in range(none[-1][1] + 1, c)):
                    none[-1][1] = c
                else:
                    none.append([c, c])
            continue
        if pieces(examples.setdefault(of[c], chr(c)) + chr(c)) != 1:
            odd.append((c, ord(next(e for e in examples.values() if pieces(e + chr(c)) == 1))))
    assert all(a == b or pieces(a + b) == 2 for a in examples.values() for b in examples.values())
    text = "// Made by make_unicode.py from tokenizers " + library_version() + ": do not edit. What its UnicodeScripts takes for any script's.\n"
    cells = ["{0x%X, 0x%X}" % (first, last) for first, last in none]
    text += "constexpr CharRange kAnyScript[] = {\n  " + ",\n  ".join(", ".join(cells[i:i + 8]) for i in range(0, len(cells), 8)) + "};\n"
    text += "// And what is of the script that another character is of.\n"
    text += "constexpr uint32_t kOddScripts[][2] = {" + ", ".join("{0x%X, 0x%X}" % pair for pair in odd) + "};\n"
    (HERE.parent / "convert" / "library_scripts.inc").write_text(text)


def write_properties():
    """What \\p{...} names: general categories and scripts, for the converter's patterns."""
    names = {"kCategories": sorted(set(categories())), "kScripts": sorted(set(scripts()))}
    assert len(names["kScripts"]) < 256
    cells, last = [], None
    for c in range(LAST + 1):
        now = (names["kCategories"].index(category(c)), names["kScripts"].index(scripts()[c]))
        if now != last:
            cells.append("{0x%x, %d, %d}" % (c, *now))
        last = now
    text = "// Made by make_unicode.py from tokenizers " + library_version() + ": do not edit. From that code point on, category and script.\n"
    text += "constexpr PropertyRange kProperties[] = {\n  "
    text += ",\n  ".join(", ".join(cells[i:i + 6]) for i in range(0, len(cells), 6)) + "};\n"
    for name, rows in names.items():
        rows = ['"%s"' % (x.lower().replace("_", "") if name == "kScripts" else x) for x in rows]
        text += f"constexpr std::string_view {name}[] = {{\n  " + ",\n  ".join(", ".join(rows[i:i + 9]) for i in range(0, len(rows), 9)) + "};\n"
    (HERE.parent / "convert" / "unicode_properties.inc").write_text(text)


def canonical_pair(c):
    d = ud.decomposition(chr(c))
    return tuple(int(x, 16) for x in d.split()) if d and not d.startswith("<") else None


def write_nfc():
    pairs = {c: canonical_pair(c) for c in range(LAST + 1) if canonical_pair(c)}
    composed = sorted(((p[0], p[1], c) for c, p in pairs.items() if len(p) == 2 and ud.normalize("NFC", chr(c)) == chr(c)))
    seconds = {b for _, b, _ in composed} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    kinds, values = {(0, 0): 0}, []
    for c in range(LAST + 1):
        if is_surrogate(c):
            values.append(0)
            continue
        s = chr(c)
        check = 2 if ud.normalize("NFC", s) != s else 1 if c in seconds else 0
        values.append(kinds.setdefault((ud.combining(s), check), len(kinds)))
        # What normalize.cpp sizes its buffers by.
        nfd = ud.normalize("NFD", s)
        assert len(nfd.encode()) <= 3 * len(s.encode()) and 2 * len(nfd) <= 3 * len(s.encode())
    for a, b, c in composed:
        assert len(chr(c).encode()) <= len((chr(a) + chr(b)).encode())
    index, blocks = two_level(values, 64)
    order = sorted(pairs)
    place = {c: i for i, c in enumerate(order)}
    text = "// Made by make_unicode.py from Unicode " + ud.unidata_version + ": do not edit.\n"
    text += "// Per code point a kind (blocks of 64); per kind: combining class, then what the NFC quick check says:\n"
    text += "// 0 yes, 1 maybe, 2 no.\n"
    text += array("kNfcIndex", index_type(index), index) + array("kNfcKind", "uint8_t", [v for b in blocks for v in b])
    text += "constexpr struct { uint8_t combining, check; } kNfcKinds[] = {\n  " + ", ".join("{%d, %d}" % k for k in kinds) + "};\n"
    text += "// Canonical decompositions in order: code point << 42 | first << 21 | second (0: a singleton). Hangul is computed.\n"
    text += array("kDecompose", "uint64_t", ["0x%x" % (c << 42 | pairs[c][0] << 21 | (pairs[c] + (0,))[1]) for c in order], 7)
    text += "// Entries of kDecompose that compose, in order of (first, second).\n"
    text += array("kCompose", "uint16_t", [place[c] for _, _, c in composed])
    (HERE / "unicode_nfc.inc").write_text(text)
    return pairs, seconds


def write_cases(pairs, seconds):
    """One case a line: code points of the source, ';', code points of its NFC."""
    rng = random.Random(14)
    marks = [c for c in range(0x300, LAST + 1) if not is_surrogate(c) and ud.combining(chr(c))]
    decomposed = sorted(pairs)
    hangul = list(range(0x1100, 0x1113)) + list(range(0x1161, 0x1176)) + list(range(0x11A7, 0x11C4)) + [0xAC00, 0xAC01, 0xAC1C, 0xD7A3]
    starters = [0x41, 0x61, 0x65, 0x6F, 0x75, 0x3B1, 0x3B9, 0x915, 0x9C7, 0xB47, 0x1025, 0x11131, 0x1D157, 0x20, 0x4E00]
    cases = [[c] for c in decomposed if rng.random() < 0.2] + [[c] for c in sorted(seconds)]
    for _ in range(1500):
        n = rng.randint(1, 7)
        pools = (starters, marks, decomposed, hangul, sorted(seconds))
        cases.append([rng.choice(pools[rng.choice((0, 1, 1, 2, 3, 4))]) for _ in range(n)])
    cases.append([0x61] + [rng.choice(marks) for _ in range(100)])
    lines = []
    for case in cases:
        nfc = ud.normalize("NFC", "".join(map(chr, case)))
        lines.append(" ".join("%x" % c for c in case) + ";" + " ".join("%x" % ord(c) for c in nfc))
    (DATA / "nfc_cases.txt").write_text("\n".join(lines) + "\n")


def ranges(codes):
    """Sorted code points as first << 11 | how many more."""
    rows = []
    for c in sorted(codes):
        if rows and c == rows[-1][0] + rows[-1][1] + 1 and rows[-1][1] < 2047:
            rows[-1][1] += 1
        else:
            rows.append([c, 0])
    return array("", "", ["0x%x" % (first << 11 | more) for first, more in rows], 14).split("\n", 1)[1], len(rows)


def steps(mapping):
    """A map of code points as rows (first, how many more, distance of one to the next, what is added)."""
    rows = []
    for c, to in sorted(mapping.items()):
        first, more, step, delta = rows[-1] if rows else (0, 0, 0, None)
        if delta == to - c and (c - first in (1, 2) if more == 0 else c == first + (more + 1) * step):
            rows[-1] = (first, more + 1, c - first if more == 0 else step, delta)
        else:
            rows.append((c, 0, 1, to - c))
    assert all(more < 2048 for _, more, _, _ in rows)
    return rows


def write_case():
    """What str's methods need beyond the kinds of unicode_class.inc, which know characters that Python does not."""
    plain = [c for c in range(LAST + 1) if not is_surrogate(c) and not is_newer(c)]
    kinds = {c: char_kind(c) for c in plain}

    def those(test):
        return {c for c in plain if test(chr(c))}

    def kind(*numbers):
        return {c for c in plain if kinds[c] in numbers}

    # A character between a letter and a sigma: passed over, or the end of the word.
    ignorable = those(lambda s: ("A" + s + "\u03a3").lower()[-1] == "\u03c2" and (s + "\u03a3").lower()[-1] == "\u03c3")
    titlecase = those(lambda s: ud.category(s) == "Lt")
    upper, lower, letters = those(str.isupper), those(str.islower), kind(1, 2, 3)
    decimal = those(str.isdecimal)
    start, part = those(str.isidentifier), those(lambda s: ("a" + s).isidentifier())
    assert those(str.isalpha) == letters and upper >= kind(1) - titlecase and lower >= kind(2) and ignorable >= kind(4)
    assert those(str.isspace) == kind(7) | set(range(0x1C, 0x20)) and those(str.isprintable) == set(plain) - kind(0, 7, 10) | {0x20}
    assert those(str.isnumeric) >= kind(6) and those(lambda s: (s + "a").title()[-1] == "a") == upper | lower | titlecase
    assert those(lambda s: len(("a" + s + "a").splitlines()) > 1) == {10, 11, 12, 13, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029}
    text = "// Made by make_unicode.py from Unicode " + ud.unidata_version + ": do not edit.\n"
    text += "// Ranges, first code point << 11 | how many more: what a property has beyond the kinds of characters that characters.cpp names.\n"
    for name, codes in (("kTitlecase", titlecase), ("kUpperToo", upper - kind(1)), ("kLowerToo", lower - kind(2)),
                        ("kIgnorableToo", ignorable - kind(4)), ("kDecimal", decimal), ("kDigitToo", those(str.isdigit) - decimal),
                        ("kNumericToo", those(str.isnumeric) - kind(6)), ("kStartOther", start ^ letters),
                        ("kPartOther", part ^ (start | decimal | kind(4, 5)))):
        rows, n = ranges(codes)
        text += f"constexpr uint32_t {name}[{n}] = {{\n{rows}"
    one = {name: {c: ord(how(chr(c))) for c in plain if len(how(chr(c))) == 1}
           for name, how in (("Upper", str.upper), ("Lower", str.lower), ("Title", str.title))}
    text += "// One character for one: {first << 11 | how many more, what is added << 2 | distance of one to the next}.\n"
    for name, keep in (("Upper", lambda c, to: to != c), ("Lower", lambda c, to: to != c), ("Title", lambda c, to: chr(to) != chr(c).upper())):
        rows = steps({c: to for c, to in one[name].items() if keep(c, to)})
        cells = ["{0x%x, %d}" % (first << 11 | more, delta * 4 + step) for first, more, step, delta in rows]
        text += f"constexpr CaseRange k{name}[{len(rows)}] = {{\n  " + ",\n  ".join(", ".join(cells[i:i + 7]) for i in range(0, len(cells), 7)) + "};\n"
    text += "// One for two or three.\n"
    for name, how in (("Upper", str.upper), ("Lower", str.lower), ("Title", str.title)):
        cells = ["{0x%x, {%s}}" % (c, ", ".join("0x%x" % ord(x) for x in how(chr(c)))) for c in plain if c not in one[name]]
        text += f"constexpr CaseMany k{name}Many[{len(cells)}] = {{\n  "
        text += ",\n  ".join(", ".join(cells[i:i + 5]) for i in range(0, len(cells), 5)) + "};\n"
    (HERE.parent / "chat" / "unicode_case.inc").write_text(text)


def write_sums():
    """Per property of a character the CRC-32 over all code points but those newer than Python's: of bytes 0 and 1, or of what each becomes."""
    plain = [chr(c) for c in range(LAST + 1) if not is_surrogate(c) and not is_newer(c)]
    tests = {"printable": str.isprintable, "space": str.isspace, "alpha": str.isalpha, "decimal": str.isdecimal, "digit": str.isdigit,
             "numeric": str.isnumeric, "alnum": str.isalnum, "upper": str.isupper, "lower": str.islower,
             "titlecase": lambda s: ud.category(s) == "Lt", "start": str.isidentifier, "part": lambda s: ("a" + s).isidentifier(),
             "line": lambda s: len(("a" + s + "a").splitlines()) > 1,
             "ignorable": lambda s: ("A" + s + "\u03a3").lower()[-1] == "\u03c2" and (s + "\u03a3").lower()[-1] == "\u03c3"}
    maps = {"to_upper": str.upper, "to_lower": str.lower, "to_title": str.title, "to_folded": str.casefold}
    lines = ["%s %08x" % (name, zlib.crc32(bytes(test(s) for s in plain))) for name, test in tests.items()]
    lines.append("value %08x" % zlib.crc32(bytes(ud.decimal(s, 255) for s in plain)))
    lines += ["%s %08x" % (name, zlib.crc32("".join(how(s) for s in plain).encode())) for name, how in maps.items()]
    lines.insert(0, "but " + " ".join("%x-%x" % tuple(r) for r in code_ranges(c for c in range(LAST + 1) if is_newer(c))) + ";")
    (DATA / "character_sums.txt").write_text("\n".join(lines) + "\n")


def write_library_sums():
    """How the library cuts the text of all characters: per property the number of pieces and a sum of their bytes."""
    from tokenizers import Regex, pre_tokenizers
    cuts = {"Whitespace": pre_tokenizers.Whitespace(), "Digits": pre_tokenizers.Digits(), "Punctuation": pre_tokenizers.Punctuation("contiguous")}
    for name in sorted(set(categories()) - {"Cs"}) + sorted(set(scripts())):
        cuts[name] = pre_tokenizers.Split(Regex(r"\p{%s}+" % name), "isolated")
    lines = []
    for name, cut in cuts.items():
        bytes_of = [len(piece.encode()) for piece, _ in cut.pre_tokenize_str(library_text())]
        total = 0
        for n in bytes_of:
            total = (total * 31 + n) % 2**32
        lines.append("%s %d %08x" % (name, len(bytes_of), total))
    (DATA / "library_sums.txt").write_text("\n".join(lines) + "\n")


def main():
    if ud.unidata_version != "14.0.0":
        sys.exit("needs Unicode 14.0.0, this Python has " + ud.unidata_version)
    write_class()
    write_maps()
    write_library()
    write_library_classes()
    write_library_scripts()
    write_properties()
    write_cases(*write_nfc())
    write_case()
    write_sums()
    write_library_sums()


if __name__ == "__main__":
    main()
