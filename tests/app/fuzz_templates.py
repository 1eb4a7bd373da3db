#!/usr/bin/env python3
"""Random templates over random conversations give what Jinja2 gives, or fail as they do there, and every byte counts as whose it is:
fuzz_templates.py RENDER_TEMPLATES [--count N] [--seed N] [--one CASE] [--all] [--reference]
    --one        makes that case alone and prints it
    --all        goes on behind the first failures, and prints each kind of them once
    --reference  only counts what the templates use and how many of them render
A failing case is made smaller before it is printed. LINNET_TEST_FULL: 200,000 cases."""
import argparse
import collections
import functools
import json
import os
import random
import re
import sys
import time

import jinja_reference
from jinja_reference import case

# Of the conversation and of the template alone: an output's byte is of where its character is from.
OF_DATA, OF_TEMPLATE = "\ue100\ue101\ue1ff", "☃"
# What cannot be the same, by name. Some of it shows only when a template runs: see Watched.
NEVER_MADE = {
    "random": "another item each time",
    "lipsum": "another text each time",
    "encode": "bytes are no value of a template here",
    "translate": "takes a table by numbers of characters, which no template has",
    "addresses": "what Python prints of a function, a generator or a cycler has its address",
    "integers beyond 64 bits": "are printed and compared, not computed with",
    "more than 4000 times": "a cap of linnet's, which Python lacks",
    "generators that fail": "linnet makes the items at once: what they fail over counts where nobody uses them, too",
    "constants": "Jinja2 computes them beforehand by other rules than its compiled code has: a slice of what has none is undefined there",
    "break in a call block": "is refused by Python's compiler, which sees a loop around a function: also in macro and generation",
}

# ---- random conversations ---------------------------------------------------------------------------------------------------------

WORDS = [
    "user",
    "assistant",
    "system",
    "tool",
    "a",
    "b",
    "Ab",
    "hello world",
    "x,y,,z",
    " pad ",
    "",
    "é",
    "ß",
    "日本",
    "😀",
    "İ",
    "ǆ",
    "it's",
    '"q"',
    "<b>&",
    "</think>",
    "1",
    "42",
    "-7",
    "3.5",
    "1e3",
    "0x1F",
    "a\nb\n\nc",
    "\t",
    "\u00a0x\u3000",
    "e\u0301",
    "\x01",
    "%s",
    "{}",
    "foo-bar_baz",
    "A B  C",
    "ﬁ",
    "\u2028",
    "Zebra",
    "ABC",
]
NAMES = {
    "s": "S",
    "t": "S",
    "u": "S",
    "i": "I",
    "j": "I",
    "k": "I",
    "f": "F",
    "g": "F",
    "yes": "B",
    "no": "B",
    "nil": "N",
    "ls": "LS",
    "li": "LI",
    "ld": "LD",
    "la": "LA",
    "d": "D",
    "counts": "DI",
    "messages": "LD",
    "tools": "A",
}
KEYS = {"role": "S", "content": "S", "name": "S", "n": "I", "f": "F", "ok": "B", "tags": "LS", "sub": "D", "none": "N"}


class Context:
    def __init__(self, r):
        self.r = r

    def text(self):
        r = self.r
        s = r.choice(WORDS)
        if r.random() < 0.3:
            s += r.choice(WORDS)
        if r.random() < 0.3:
            at = r.randrange(len(s) + 1)
            s = s[:at] + r.choice(OF_DATA) + s[at:]
        return s

    def integer(self):
        r = self.r
        return (
            r.choice([0, 1, 2, 3, 5, 7, 10, -1, -3, r.randrange(-20, 100), r.randrange(-20, 100), 1234567, 9007199254740993])
            if r.random() < 0.98
            else r.choice([2**63 - 1, -(2**63), 10**20, -(10**30)])
        )

    def real(self):
        r = self.r
        return r.choice(
            [0.0, 0.5, 1.0, 2.5, -1.5, 3.14159, 1e-7, 1e16, 123456789.125, round(r.uniform(-100, 100), 2), r.uniform(-1, 1), -0.0, 1e300]
        )

    def of(self, kind, depth=2):
        r = self.r
        many = lambda what, most=4: [self.of(what, depth - 1) for _ in range(r.choice([0, 1, 2, 3, most]))]
        if kind == "S":
            return self.text()
        if kind == "I":
            return self.integer()
        if kind == "F":
            return self.real()
        if kind == "B":
            return r.random() < 0.5
        if kind == "N":
            return None
        if kind in ("LS", "LI", "LD"):
            return many(kind[1:])
        if kind == "LA":
            return many("A", 5)
        if kind == "D":
            keys = [k for k in KEYS if r.random() < 0.8 and (depth > 0 or k not in ("sub", "tags"))]
            r.shuffle(keys)
            return {k: self.of(KEYS[k], depth - 1) for k in keys}
        if kind == "DI":
            return {self.text(): self.integer() for _ in range(r.choice([0, 1, 2, 3, 12]))}
        return self.of(r.choice(["S", "I", "F", "B", "N"] + (["LS", "LI", "D", "LA"] if depth > 0 else [])), depth - 1)

    def whole(self):
        context = {name: self.of(kind) for name, kind in NAMES.items() if name == "messages" or self.r.random() < 0.97}
        if self.r.random() < 0.5:
            context["tools"] = None
        return context


# ---- random templates ---------------------------------------------------------------------------------------------------------------

COND, OR, AND, NOT, COMPARE, ADD, CONCAT, MULTIPLY, POWER, UNARY, FILTERED, POSTFIX = range(12)
LITERAL = list("abcXYZ ,.-_<>&/0129%{}|#") + [
    "'",
    '"',
    "\n",
    "\t",
    "é",
    "ß",
    "日",
    "😀",
    "İ",
    "\u00a0",
    "\\",
    OF_TEMPLATE,
    "ab",
    "user",
    "it's",
    "hello world",
    "  ",
]


LOOP = {
    "I": ["index", "index0", "revindex", "revindex0", "length", "depth", "depth0"],
    "B": ["first", "last"],
    "A": ["previtem", "nextitem", "first", "last", "index"],
}


class Template:
    """An expression is made for a kind of value (as in NAMES; A any, U one that may be undefined, G what runs through once) and returned
    with how tightly its outermost operator binds."""

    def __init__(self, r):
        self.r = r
        self.used = collections.Counter()
        self.scopes = [dict(NAMES)]
        self.macros = []
        self.loops = 0
        self.jumps = 0  # loops that a break here may leave
        self.statements = 0
        self.callers = 0

    # -- helpers
    def pick(self, *choices):
        """choices: (weight, function)"""
        at = self.r.random() * sum(w for w, _ in choices)
        for w, f in choices:
            at -= w
            if at < 0:
                return f()
        return choices[-1][1]()

    def use(self, what):
        self.used[what] += 1

    def names(self, kind):
        """Variables of a kind; now and then only those of the innermost scopes."""
        found = {}
        for scope in self.scopes if self.r.random() < 0.6 else self.scopes[-2:]:
            found.update(scope)
        return [n for n, k in found.items() if k == kind]

    def e(self, kind, depth, least=COND):
        """An expression of a kind, in parentheses where it needs them, and now and then where not, or not where it does."""
        r = self.r
        if r.random() < 0.012:
            kind = r.choice(["S", "I", "F", "B", "N", "LS", "LI", "LD", "D", "U", "T", "A"])
            self.use("another kind than wanted")
        text, level = self.make(kind, depth)
        if level < least:
            return text if r.random() < 0.01 else f"({text})"
        return f"({text})" if r.random() < 0.04 else text

    def make(self, kind, depth):
        if depth <= 0:
            return self.leaf(kind)
        return getattr(self, "make_" + kind)(depth - 1)

    def leaf(self, kind):
        r = self.r
        names = self.names(kind)
        if self.loops and kind in LOOP and r.random() < 0.15:
            return "loop." + r.choice(LOOP[kind]), POSTFIX
        if names and r.random() < 0.6:
            return r.choice(names), POSTFIX
        if kind == "S":
            return self.literal(), POSTFIX
        if kind == "I":
            return self.integer()
        if kind == "F":
            return r.choice(["0.5", "1.0", "2.5", "3.14", "1e3", "1.5e-3", "100.0", "0.0", "1_0.5"]), POSTFIX
        if kind == "B":
            return r.choice(["true", "false", "True", "False"]), POSTFIX
        if kind == "N":
            return r.choice(["none", "None"]), POSTFIX
        if kind == "U":
            return r.choice(["nope", "d.nope", "d['nope']", "li[99]", "ld[50]"]), POSTFIX
        if kind == "LS":
            return "[" + ", ".join(self.literal() for _ in range(r.randrange(4))) + "]", POSTFIX
        if kind == "LI":
            return "[" + ", ".join(self.integer()[0] for _ in range(r.randrange(4))) + "]", POSTFIX
        if kind == "LD":
            return r.choice(["ld", "messages"]), POSTFIX
        if kind == "LA":
            return "[" + ", ".join(self.leaf(r.choice("SIFBN"))[0] for _ in range(r.randrange(4))) + "]", POSTFIX
        if kind == "D":
            return r.choice(["d", "{'n': 1, 'role': 'x'}", "{}", "{'name': 'a', 'tags': ['b'], 'sub': {}}"]), POSTFIX
        if kind == "DI":
            return r.choice(["counts", "{'a': 1, 'B': 2, 'c': 0}"]), POSTFIX
        if kind == "T":
            return r.choice(["(1, 2)", "('a',)", "()", "(s, i)"]), POSTFIX
        if kind == "G":
            return "(ls|map('upper'))", POSTFIX
        return self.leaf(r.choice(["S", "I", "F", "B", "N", "LS", "LI", "D", "U"]))

    def literal(self):
        r = self.r
        chars = [r.choice(LITERAL) for _ in range(r.choice([0, 1, 1, 2, 3, 5]))]
        quote = r.choice("'\"")
        out = ""
        for c in chars:
            for one in c:
                if one == quote or one == "\\":
                    out += "\\" + one
                elif one == "\n":
                    out += "\\n" if r.random() < 0.8 else "\n"
                elif ord(one) < 0x10000 and r.random() < 0.04:
                    out += f"\\u{ord(one):04x}" if ord(one) > 255 or r.random() < 0.5 else f"\\x{ord(one):02x}"
                else:
                    out += one
        text = quote + out + quote
        if r.random() < 0.02:
            self.use("texts side by side")
            text += " " + quote + "z" + quote
        return text

    def integer(self):
        r = self.r
        n = r.choice([0, 1, 2, 3, 4, 5, 7, 10, 12, 100, r.randrange(1000)])
        if r.random() < 0.1:
            return f"-{n}", UNARY
        return r.choice([str(n)] * 8 + [hex(n), oct(n), bin(n), f"1_{n:03d}"]), POSTFIX

    def small(self):
        return str(self.r.randrange(6))

    def width(self):
        return str(self.r.choice([0, 1, 3, 5, 8, 12]))

    def index(self):
        return self.r.choice(["0", "0", "1", "-1", "2", "-2", "i", "loop.index0" if self.loops else "1"])

    def slice(self, of):
        r = self.r
        bound = lambda: r.choice(["", "", "0", "1", "2", "-1", "-2", "3", "none", "99", "-99", "i"])
        step = r.choice(["", "", "", ":", ":1", ":2", ":-1", ":-2", ":none"])
        self.use("slice")
        return f"{of}[{bound()}:{bound()}{step}]", POSTFIX

    def filter(self, of_kind, depth, name, *args):
        self.use("filter " + name)
        return (
            self.e(of_kind, depth, FILTERED) + "|" + name + (f"({', '.join(args)})" if args else self.r.choice(["", "", "", "()"])),
            FILTERED,
        )

    def method(self, of_kind, depth, name, *args):
        self.use("method " + name)
        return self.e(of_kind, depth, POSTFIX) + f".{name}({', '.join(args)})", POSTFIX

    def binary(self, op, level, left, right):
        self.use("operator " + op)
        space = self.r.choice([" ", " ", " ", ""]) if not op[0].isalpha() else " "
        return f"{left}{space}{op}{space}{right}", level

    def both(self, op, level, kind, depth, other=None):
        return self.binary(op, level, self.e(kind, depth, level), self.e(other or kind, depth, level + 1))

    def conditional(self, kind, depth):
        self.use("inline if")
        return f"{self.e(kind, depth, OR)} if {self.e('B', depth, OR)} else {self.e(kind, depth)}", COND

    def anything(self, kind, depth):
        """What every kind of value may come from."""
        r = self.r
        return self.pick(
            (3, lambda: self.conditional(kind, depth)),
            (2, lambda: self.filter("U", depth, r.choice(["default", "d"]), self.e(kind, depth))),
            (1, lambda: self.filter(kind, depth, "default", self.e(kind, depth), r.choice(["true", "boolean=true", "false"]))),
            (1, lambda: self.both("or", OR, kind, depth)),
            (1, lambda: self.both("and", AND, kind, depth)),
            (1, lambda: (f"[{self.e(kind, depth)}][0]", POSTFIX)),
            (1, lambda: (f"{{'k': {self.e(kind, depth)}}}" + r.choice([".k", "['k']", ".get('k')"]), POSTFIX)),
            (1, lambda: (f"dict(a={self.e(kind, depth)}).a", POSTFIX)),
            (1, lambda: (f"[{self.e(kind, depth)}, {self.e(kind, depth)}]|{r.choice(['first', 'last'])}", FILTERED)),
            (0.5, lambda: (f"({self.e(kind, depth)}, 1)|first", FILTERED)),
            (2, lambda: self.leaf(kind)),
        )

    def attribute(self, kind):
        """A path into an item of ld or into d."""
        keys = [k for k, v in KEYS.items() if v == kind]
        return self.r.choice(keys) if keys else "none"

    # -- kinds
    def make_S(self, depth):
        r, d = self.r, depth
        lit = self.literal
        sep = lambda: r.choice(["','", "' '", "'-'", "''" if r.random() < 0.2 else "'a'", "'\\n'", "', '", lit()])
        f, m = self.filter, self.method
        return self.pick(
            (10, lambda: self.leaf("S")),
            (6, lambda: self.anything("S", d)),
            (6, lambda: self.both("+", ADD, "S", d)),
            (6, lambda: self.both("~", CONCAT, r.choice("SAIFBN"), d, r.choice("SA"))),
            (2, lambda: self.binary("*", MULTIPLY, self.e("S", d, MULTIPLY), self.small())),
            (4, lambda: self.slice(self.e("S", d, POSTFIX))),
            (2, lambda: (self.e("S", d, POSTFIX) + f"[{self.index()}]", POSTFIX)),
            (2, lambda: (self.e("LS", d, POSTFIX) + f"[{self.index()}]", POSTFIX)),
            (
                3,
                lambda: (
                    self.e("D", d, POSTFIX) + r.choice([".%s", "['%s']", ".get('%s')", ".get('%s', 'x')"]) % self.attribute("S"),
                    POSTFIX,
                ),
            ),
            (
                8,
                lambda: f(
                    "S",
                    d,
                    r.choice(
                        [
                            "upper",
                            "lower",
                            "title",
                            "capitalize",
                            "trim",
                            "string",
                            "e",
                            "escape",
                            "safe",
                            "striptags",
                            "urlencode",
                            "forceescape",
                            "reverse",
                        ]
                    ),
                ),
            ),
            (3, lambda: f(r.choice("IFBNA"), d, "string")),
            (
                3,
                lambda: f(
                    "A",
                    d,
                    "tojson",
                    *r.choice(
                        [
                            [],
                            [],
                            ["indent=2"],
                            ["indent=0"],
                            ["ensure_ascii=true"],
                            ["sort_keys=true"],
                            ["separators=(',', ':')"],
                            ["indent=1", "separators=[' ,', '=']"],
                        ]
                    ),
                ),
            ),
            (4, lambda: f(r.choice(["LS", "LI", "LA", "S", "T", "G"]), d, "join", *([sep()] if r.random() < 0.8 else []))),
            (2, lambda: f("LD", d, "join", sep(), f"attribute='{r.choice(list(KEYS))}'")),
            (2, lambda: f("S", d, "trim", sep())),
            (3, lambda: f("S", d, "replace", self.e("S", d), self.e("S", d), *([self.small()] if r.random() < 0.3 else []))),
            (
                2,
                lambda: f(
                    "S",
                    d,
                    "indent",
                    *r.choice([[], ["2"], ["2", "true"], ["first=true"], ["blank=true"], ["'> '"], ["width=3", "blank=true"]]),
                ),
            ),
            (
                1,
                lambda: f(
                    "S",
                    d,
                    "truncate",
                    *r.choice([["5"], ["8", "true"], ["6", "false", "'!'"], ["9", "true", "'--'", "0"], ["4", "leeway=2"]]),
                ),
            ),
            (1, lambda: f("S", d, "wordwrap", *r.choice([["5"], ["8", "false"], ["6", "true", "'/'"], ["10", "break_on_hyphens=false"]]))),
            (1, lambda: f("S", d, "center", self.width())),
            (1, lambda: f("S", d, "format", *([] if r.random() < 0.8 else [self.e("A", d)]))),
            (0.3, lambda: f("S", d, "urlize", *r.choice([[], ["5"], ["10", "true"], ["target='_blank'"], ["rel='x'"]]))),
            (0.5, lambda: (f"'%s|%d'|format({self.e('A', d)}, {self.e('I', d)})", FILTERED)),
            (1, lambda: f("I", d, "filesizeformat", *r.choice([[], ["true"]]))),
            (0.6, lambda: f("A", d, "pprint")),
            (0.4, lambda: f("D", d, "xmlattr", *r.choice([[], ["false"]]))),
            (1, lambda: f("DI", d, "urlencode")),
            (2, lambda: f("LS", d, r.choice(["first", "last", "min", "max"]))),
            (1, lambda: f("S", d, r.choice(["first", "last"]))),
            (
                6,
                lambda: m(
                    "S",
                    d,
                    r.choice(
                        [
                            "upper",
                            "lower",
                            "title",
                            "capitalize",
                            "swapcase",
                            "casefold",
                            "strip",
                            "lstrip",
                            "rstrip",
                            "expandtabs",
                            "__str__" if r.random() < 0.02 else "strip",
                        ]
                    ),
                ),
            ),
            (4, lambda: m("S", d, r.choice(["strip", "lstrip", "rstrip", "removeprefix", "removesuffix"]), self.e("S", d))),
            (3, lambda: m("S", d, "replace", self.e("S", d), self.e("S", d), *([self.small()] if r.random() < 0.3 else []))),
            (
                2,
                lambda: m(
                    "S",
                    d,
                    r.choice(["center", "ljust", "rjust"]),
                    self.width(),
                    *([r.choice(["'*'", "'é'", f"'{OF_TEMPLATE}'"])] if r.random() < 0.4 else []),
                ),
            ),
            (0.7, lambda: m("S", d, "zfill", self.width())),
            (0.5, lambda: m("S", d, "expandtabs", self.width())),
            (2, lambda: m("S", d, "join", self.e(r.choice(["LS", "LS", "S", "G"]), d))),
            (
                2,
                lambda: (
                    m("S", d, r.choice(["split", "rsplit"]), sep(), *([self.small()] if r.random() < 0.4 else []))[0] + f"[{self.index()}]",
                    POSTFIX,
                ),
            ),
            (1, lambda: (m("S", d, r.choice(["partition", "rpartition"]), sep())[0] + f"[{self.index()}]", POSTFIX)),
            (3, lambda: self.percent(d)),
            (2, lambda: self.format(d)),
            (3, lambda: self.macro_call(d)),
            (1, lambda: (f"loop.cycle({self.e('S', d)}, {self.e('S', d)})", POSTFIX) if self.loops else self.leaf("S")),
            (0.4, lambda: (f"strftime_now('{r.choice(['%Y-%m-%d', '%d %B %Y', '%H:%M', '%-d %b', '%A %j', '%%'])}')", POSTFIX)),
        )

    def percent(self, d):
        r = self.r
        self.use("operator % of a text")
        parts, values = [], []
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            kind = r.choice(["s", "s", "s", "d", "r", "f", "x", "c", "g", "e", "i", "o", "X", "%"])
            flags = r.choice(["", "", "", "-", "0", "+", " ", "#"]) + r.choice(["", "", "5", "8"])
            precision = r.choice(["", "", ".2", ".0", ".3"])
            parts.append(f"%{flags}{precision}{kind}" if kind != "%" else "%%")
            if kind != "%":
                values.append(self.e({"s": "A", "r": "A", "f": "F", "g": "F", "e": "F", "c": "S"}.get(kind, "I"), d))
            parts.append(r.choice(["", " ", "-", "é", OF_TEMPLATE]))
        text = "'" + "".join(parts) + "'"
        if len(values) == 1 and r.random() < 0.3:
            return f"{text} % ({values[0]})", MULTIPLY
        if r.random() < 0.1:
            return f"'%(a)s/%(b)5s' % {{'a': {self.e('A', d)}, 'b': {self.e('A', d)}}}", MULTIPLY
        return f"{text} % ({', '.join(values)}{',' if len(values) == 1 else ''})", MULTIPLY

    def format(self, d):
        r = self.r
        self.use("method format")
        parts, values = [], []
        for _ in range(r.choice([1, 1, 2, 3])):
            kind = r.choice(["A", "S", "I", "F"])
            spec = {
                "A": ["", "!r", "!s"],
                "S": ["", ":>8", ":<5", ":^7", ":*^9", ":.2", "!r:>6", f":{OF_TEMPLATE}<4"],
                "I": ["", ":d", ":05d", ":,", ":x", ":#b", ":+", ":>6", ":_", ":08.2f", ":c" if r.random() < 0.2 else ":d"],
                "F": ["", ":.2f", ":e", ":g", ":10.3f", ":%", ":,.1f", ":+.0f", ":.3g"],
            }[kind]
            parts.append("{" + r.choice(spec) + "}" + r.choice(["", "-", "{{", "}}", "é"]))
            values.append(self.e(kind, d))
        text = "".join(parts)
        # In quotes of an expression braces mean nothing to the template.
        return f"'{text}'.format({', '.join(values)})", POSTFIX

    def macro_call(self, d):
        r = self.r
        usable = [m for m in self.macros if not m["caller"]]
        if not usable:
            return self.leaf("S")
        m = r.choice(usable)
        self.use("macro call")
        args = []
        for name, kind in m["params"]:
            if r.random() < 0.85:
                args.append((f"{name}=" if args and "=" in args[-1] or r.random() < 0.25 else "") + self.e(kind, d))
        args = [a for a in args if not re.match(r"\w+=", a)] + [a for a in args if re.match(r"\w+=", a)]
        if m["more"] and r.random() < 0.5:
            args = [a for a in args if not re.match(r"\w+=[^=]", a)] + [self.e("S", d)]
        if m["named"] and r.random() < 0.5:
            args.append(f"extra={self.e('I', d)}")
        return f"{m['name']}({', '.join(args)})", POSTFIX

    def make_I(self, depth):
        r, d = self.r, depth
        f, m = self.filter, self.method
        return self.pick(
            (10, lambda: self.leaf("I")),
            (4, lambda: self.anything("I", d)),
            (6, lambda: self.both(r.choice("+-"), ADD, "I", d)),
            (3, lambda: self.both("*", MULTIPLY, "I", d)),
            (
                3,
                lambda: self.binary(
                    r.choice(["//", "%"]), MULTIPLY, self.e("I", d, MULTIPLY), r.choice(["2", "3", "-3", "7", self.e("I", d, POWER)])
                ),
            ),
            (
                1,
                lambda: self.binary(
                    "**",
                    POWER,
                    r.choice(["2", "-2", "3", "i", "10"]),
                    r.choice(["2", "3", "0", "1", "2 ** 2", "k" if r.random() < 0.1 else "4"]),
                ),
            ),
            (2, lambda: ("-" + self.e("I", d, POSTFIX), UNARY)),
            (0.5, lambda: ("+" + self.e("I", d, POSTFIX), UNARY)),
            (8, lambda: f(r.choice(["S", "LS", "LI", "LD", "D", "T", "U"]), d, r.choice(["length", "count"]))),
            (
                3,
                lambda: f(
                    r.choice(["S", "I", "F", "B", "A"]), d, "int", *r.choice([[], [], ["7"], ["default=3"], ["0", "16"], ["base=8"]])
                ),
            ),
            (1, lambda: f("I", d, "abs")),
            (1, lambda: f("S", d, "wordcount")),
            (3, lambda: f("LI", d, r.choice(["sum", "first", "last", "min", "max"]))),
            (1, lambda: f("LD", d, "sum", f"attribute='{r.choice(['n', 'n', 'f', 'sub.n'])}'")),
            (2, lambda: (self.e("LI", d, POSTFIX) + f"[{self.index()}]", POSTFIX)),
            (2, lambda: (self.e("D", d, POSTFIX) + r.choice([".n", "['n']", ".get('n', 3)"]), POSTFIX)),
            (2, lambda: m("S", d, r.choice(["find", "rfind", "count", "count", "index"]), self.e("S", d))),
            (1, lambda: m("LS", d, r.choice(["index", "count", "count"]), self.e("S", d))),
            (1, lambda: f("F", d, "int")),
        )

    def make_F(self, depth):
        r, d = self.r, depth
        f = self.filter
        return self.pick(
            (8, lambda: self.leaf("F")),
            (3, lambda: self.anything("F", d)),
            (4, lambda: self.both("/", MULTIPLY, "I", d)),
            (4, lambda: self.both(r.choice("+-"), ADD, "F", d, r.choice("FI"))),
            (2, lambda: self.both("*", MULTIPLY, "F", d, r.choice("FI"))),
            (1, lambda: self.both(r.choice(["//", "%"]), MULTIPLY, "F", d)),
            (1, lambda: ("-" + self.e("F", d, POSTFIX), UNARY)),
            (
                3,
                lambda: f(
                    r.choice(["F", "I"]),
                    d,
                    "round",
                    *r.choice([[], ["1"], ["2"], ["0", "'ceil'"], ["1", "'floor'"], ["method='floor'"], ["-1"], ["precision=3"]]),
                ),
            ),
            (2, lambda: f(r.choice(["S", "I", "F"]), d, "float", *r.choice([[], ["1.5"], ["default=2"]]))),
            (1, lambda: f("F", d, "abs")),
            (1, lambda: (self.e("D", d, POSTFIX) + ".f", POSTFIX)),
            (0.5, lambda: self.binary("**", POWER, r.choice(["2.0", "0.5", "f"]), r.choice(["2", "1", "0"]))),
        )

    TESTS = [
        "defined",
        "undefined",
        "none",
        "string",
        "number",
        "integer",
        "float",
        "boolean",
        "mapping",
        "sequence",
        "iterable",
        "callable",
        "true",
        "false",
        "escaped",
    ]

    def make_B(self, depth):
        r, d = self.r, depth
        m = self.method

        def level():  # a name behind a test is its argument: `if` too
            return NOT if r.random() < 0.25 else COND

        def test(kind, name, arg=""):
            self.use("test " + name)
            return f"{self.e(kind, d, FILTERED)} is {'not ' if r.random() < 0.25 else ''}{name}{arg}", level()

        return self.pick(
            (5, lambda: self.leaf("B")),
            (3, lambda: self.anything("B", d)),
            (6, lambda: test(r.choice(["A", "U", "S", "D", "LS"]), r.choice(self.TESTS))),
            (3, lambda: test("I", r.choice(["odd", "even"]))),
            (1, lambda: test("I", "divisibleby", r.choice(["(2)", "(3)", " 2"]))),
            (1, lambda: test("S", r.choice(["lower", "upper"]))),
            (
                1,
                lambda: test(
                    "I", r.choice(["eq", "ne", "lt", "le", "gt", "ge", "equalto", "lessthan", "greaterthan"]), f"({self.e('I', d)})"
                ),
            ),
            (1, lambda: test("S", "in", f"({self.e(r.choice(['LS', 'S', 'DI']), d)})")),
            (0.4, lambda: test("S", r.choice(["filter", "test"]))),
            (0.5, lambda: test("N", "sameas", r.choice(["(none)", "(false)"]))),
            (
                5,
                lambda: self.both(
                    r.choice(["==", "!="]),
                    COMPARE,
                    *r.choice(
                        [("S", d), ("I", d), ("A", d, "A"), ("F", d, "I"), ("LS", d), ("D", d), ("U", d, "A"), ("LA", d), ("T", d, "LA")]
                    ),
                ),
            ),
            (
                5,
                lambda: self.both(
                    r.choice(["<", ">", "<=", ">="]), COMPARE, *r.choice([("S", d), ("I", d), ("F", d, "I"), ("LS", d), ("LI", d)])
                ),
            ),
            (1, lambda: (f"{self.e('I', d, ADD)} < {self.e('I', d, ADD)} <= {self.e('F', d, ADD)}", COMPARE)),
            (
                4,
                lambda: self.both(
                    r.choice(["in", "in", "not in"]),
                    COMPARE,
                    *r.choice([("S", d), ("S", d, "LS"), ("I", d, "LI"), ("S", d, "D"), ("A", d, "LA"), ("S", d, "DI")]),
                ),
            ),
            (4, lambda: (self.use("operator not"), (f"not {self.e(r.choice(['B', 'S', 'LS', 'U', 'D']), d, NOT)}", NOT))[1]),
            (3, lambda: self.both(r.choice(["and", "or"]), OR, "B", d)),
            (
                3,
                lambda: m(
                    "S",
                    d,
                    r.choice(["startswith", "endswith"]),
                    r.choice([self.e("S", d), f"({self.e('S', d)}, 'a')"]),
                    *([self.small()] if r.random() < 0.1 else []),
                ),
            ),
            (
                2,
                lambda: m(
                    "S",
                    d,
                    r.choice(
                        [
                            "isalpha",
                            "isdigit",
                            "isalnum",
                            "isspace",
                            "islower",
                            "isupper",
                            "istitle",
                            "isnumeric",
                            "isdecimal",
                            "isascii",
                            "isidentifier",
                            "isprintable",
                        ]
                    ),
                ),
            ),
            (1, lambda: (f"loop.changed({self.e('A', d)})", POSTFIX) if self.loops else self.leaf("B")),
            (
                1,
                lambda: (
                    (f"loop.{r.choice(['previtem', 'nextitem'])} is {r.choice(['defined', 'undefined', 'string'])}", level())
                    if self.loops
                    else self.leaf("B")
                ),
            ),
        )

    def make_N(self, depth):
        return self.pick(
            (5, lambda: self.leaf("N")),
            (1, lambda: self.anything("N", depth)),
            (1, lambda: (self.e("D", depth, POSTFIX) + ".get('nope')", POSTFIX)),
        )

    def make_U(self, depth):
        r, d = self.r, depth
        return self.pick(
            (5, lambda: self.leaf("U")),
            (1, lambda: (f"{self.e('A', d, OR)} if {self.e('B', d, OR)}", COND)),
            (1, lambda: (self.e("D", d, POSTFIX) + r.choice([".zz", "['zz']"]), POSTFIX)),
            (1, lambda: (self.e("LS", d, POSTFIX) + "[7]", POSTFIX)),
            (0.5, lambda: self.filter("LI", d, "first")),
            (
                0.3,
                lambda: (self.e("S", d, POSTFIX) + r.choice(["._x", ".nope", "['nope']"] + [".__class__"] * (r.random() < 0.2)), POSTFIX),
            ),
            (0.5, lambda: (r.choice(["loop.previtem", "loop.nextitem"]), POSTFIX) if self.loops else self.leaf("U")),
        )

    def make_LS(self, depth):
        r, d = self.r, depth
        f, m = self.filter, self.method
        more = lambda text: (text[0] + "|list", FILTERED)
        return self.pick(
            (6, lambda: self.leaf("LS")),
            (3, lambda: self.anything("LS", d)),
            (5, lambda: ("[" + ", ".join(self.e("S", d) for _ in range(r.randrange(4))) + "]", POSTFIX)),
            (
                5,
                lambda: m(
                    "S",
                    d,
                    r.choice(["split", "rsplit"]),
                    *r.choice([[], ["','"], ["' '"], ["none", "1"], ["'a'", "1"], ["','", "maxsplit=1"], ["sep='-'"], [self.e("S", d)]]),
                ),
            ),
            (2, lambda: m("S", d, "splitlines", *r.choice([[], ["true"], ["keepends=true"]]))),
            (
                3,
                lambda: more(
                    f(
                        r.choice(["LS", "LI", "LA"]),
                        d,
                        "map",
                        r.choice(
                            [
                                "'upper'",
                                "'string'",
                                "'trim'",
                                "'lower'",
                                "'title'",
                                "'replace', 'a', 'b'",
                                "'default', 'x'",
                                "'tojson'",
                                "'capitalize'",
                            ]
                        ),
                    )
                ),
            ),
            (
                3,
                lambda: more(
                    f(
                        "LD",
                        d,
                        "map",
                        r.choice(
                            [
                                f"attribute='{self.attribute('S')}'",
                                f"attribute='{self.attribute('S')}', default='-'",
                                "attribute='sub.name'",
                                "'attr', 'name'" if r.random() < 0.1 else "attribute='role'",
                            ]
                        ),
                    )
                ),
            ),
            (2, lambda: f("LS", d, "sort", *r.choice([[], [], ["true"], ["reverse=true"], ["case_sensitive=true"]]))),
            (2, lambda: more(f("LS", d, r.choice(["unique", "reverse", "select", "reject"])))),
            (
                2,
                lambda: more(
                    f(
                        "LS",
                        d,
                        r.choice(["select", "reject"]),
                        *r.choice(
                            [
                                ["'string'"],
                                ["'equalto'", "'a'"],
                                ["'in'", "['a', 'user']"],
                                ["'lower'"],
                                ["'ne'", self.e("S", d)],
                                ["'defined'"],
                            ]
                        ),
                    )
                ),
            ),
            (2, lambda: self.slice(self.e("LS", d, POSTFIX))),
            (2, lambda: self.both("+", ADD, "LS", d)),
            (1, lambda: self.binary("*", MULTIPLY, self.e("LS", d, MULTIPLY), self.small())),
            (2, lambda: f("S", d, "list")),
            (1, lambda: f(r.choice(["D", "DI"]), d, "list")),
            (1, lambda: more(m(r.choice(["D", "DI"]), d, "keys"))),
            (1, lambda: (self.e("D", d, POSTFIX) + r.choice([".tags", ".get('tags', [])"]), POSTFIX)),
            (0.5, lambda: m("LS", d, "copy")),
        )

    def make_LI(self, depth):
        r, d = self.r, depth
        f, m = self.filter, self.method
        more = lambda text: (text[0] + "|list", FILTERED)
        return self.pick(
            (5, lambda: self.leaf("LI")),
            (2, lambda: self.anything("LI", d)),
            (4, lambda: ("[" + ", ".join(self.e("I", d) for _ in range(r.randrange(4))) + "]", POSTFIX)),
            (4, lambda: (f"range({r.choice(['3', '0', '1, 4', '0, 6, 2', '5, 0, -2', self.small()])})" + r.choice(["", "[:2]"]), POSTFIX)),
            (2, lambda: more(f("LS", d, "map", r.choice(["'length'", "'int'", "'int', 5"])))),
            (2, lambda: f("LI", d, "sort", *r.choice([[], ["reverse=true"]]))),
            (2, lambda: more(f("LI", d, r.choice(["unique", "reverse"])))),
            (
                2,
                lambda: more(
                    f(
                        "LI",
                        d,
                        r.choice(["select", "reject"]),
                        *r.choice([["'odd'"], ["'even'"], ["'gt'", "2"], ["'divisibleby'", "3"], ["'>'", "1"], ["'in'", "[1, 2]"]]),
                    )
                ),
            ),
            (2, lambda: self.slice(self.e("LI", d, POSTFIX))),
            (1, lambda: self.both("+", ADD, "LI", d)),
            (1, lambda: more(f("LD", d, "map", "attribute='n'"))),
            (1, lambda: more(m("DI", d, "values"))),
        )

    def make_LD(self, depth):
        r, d = self.r, depth
        f = self.filter
        more = lambda text: (text[0] + "|list", FILTERED)
        key = lambda: f"'{r.choice(list(KEYS))}'"
        return self.pick(
            (8, lambda: self.leaf("LD")),
            (2, lambda: self.anything("LD", d)),
            (
                3,
                lambda: more(
                    f(
                        "LD",
                        d,
                        r.choice(["selectattr", "rejectattr"]),
                        *r.choice(
                            [
                                [key()],
                                [key(), "'defined'"],
                                ["'role'", "'equalto'", "'user'"],
                                ["'n'", "'gt'", "1"],
                                ["'role'", "'in'", "['user', 'tool']"],
                                [key(), "'string'"],
                                ["'sub.n'", "'none'"],
                            ]
                        ),
                    )
                ),
            ),
            (
                2,
                lambda: f(
                    "LD",
                    d,
                    "sort",
                    *r.choice(
                        [
                            ["attribute='n'"],
                            ["attribute='role'"],
                            ["attribute='role,n'"],
                            ["attribute='name'", "reverse=true"],
                            ["false", "false", "'f'"],
                        ]
                    ),
                ),
            ),
            (1, lambda: more(f("LD", d, "unique", f"attribute={key()}"))),
            (2, lambda: self.slice(self.e("LD", d, POSTFIX))),
            (1, lambda: self.both("+", ADD, "LD", d)),
            (2, lambda: (f"[{self.e('D', d)}, {self.e('D', d)}]", POSTFIX)),
        )

    def make_LA(self, depth):
        r, d = self.r, depth
        f, m = self.filter, self.method
        more = lambda text: (text[0] + "|list", FILTERED)
        return self.pick(
            (4, lambda: self.leaf("LA")),
            (4, lambda: ("[" + ", ".join(self.e("A", d) for _ in range(r.randrange(4))) + "]", POSTFIX)),
            (2, lambda: more(f(r.choice(["LS", "LI", "LA"]), d, "batch", r.choice(["2", "3", "2, 'x'"])))),
            (1, lambda: more(f(r.choice(["LS", "LI"]), d, "slice", r.choice(["2", "3", "2, '-'"])))),
            (2, lambda: more(m(r.choice(["D", "DI"]), d, "items"))),
            (2, lambda: more(f(r.choice(["D", "DI", "U"]), d, "items"))),
            (2, lambda: f("DI", d, "dictsort", *r.choice([[], ["true"], ["false", "'value'"], ["reverse=true"], ["by='value'"]]))),
            (
                1,
                lambda: more(
                    f("LD", d, "groupby", *r.choice([["'role'"], ["'n'"], ["'role'", "default='x'"], ["'name'", "case_sensitive=true"]]))
                ),
            ),
            (1, lambda: more(f("LA", d, r.choice(["unique", "reverse", "list"])))),
            (1, lambda: self.slice(self.e("LA", d, POSTFIX))),
            (1, lambda: (f"[{self.e('LS', d)}, {self.e('LI', d)}]", POSTFIX)),
        )

    def make_D(self, depth):
        r, d = self.r, depth
        return self.pick(
            (8, lambda: self.leaf("D")),
            (2, lambda: self.anything("D", d)),
            (3, lambda: ("{" + ", ".join(f"'{k}': {self.e(KEYS[k], d)}" for k in r.sample(list(KEYS), r.randrange(4))) + "}", POSTFIX)),
            (1, lambda: ("{" + ", ".join(f"{self.e(r.choice('SIB'), 0)}: {self.e('A', d)}" for _ in range(r.randrange(3))) + "}", POSTFIX)),
            (2, lambda: (self.e("LD", d, POSTFIX) + f"[{self.index()}]", POSTFIX)),
            (1, lambda: self.filter("LD", d, r.choice(["first", "last"]))),
            (1, lambda: (f"dict({self.e('D', d)}, name={self.e('S', d)})", POSTFIX)),
            (0.5, lambda: (f"dict(**{self.e('D', d)})", POSTFIX)),
            (1, lambda: (self.e("D", d, POSTFIX) + r.choice([".sub", "['sub']", ".get('sub', {})", ".copy()"]), POSTFIX)),
        )

    def make_DI(self, depth):
        r, d = self.r, depth
        return self.pick(
            (8, lambda: self.leaf("DI")),
            (1, lambda: self.anything("DI", d)),
            (2, lambda: (f"{{{self.e('S', d)}: {self.e('I', d)}, 'z': 1}}", POSTFIX)),
            (1, lambda: (f"dict(a={self.e('I', d)})", POSTFIX)),
            (0.5, lambda: (f"dict.fromkeys({self.e('LS', d)}, 0)", POSTFIX)),
        )

    def make_T(self, depth):
        r, d = self.r, depth
        return self.pick(
            (3, lambda: self.leaf("T")),
            (4, lambda: (f"({self.e('A', d)}, {self.e('A', d)})", POSTFIX)),
            (1, lambda: self.both("+", ADD, "T", d)),
            (1, lambda: self.slice(self.e("T", d, POSTFIX))),
            (1, lambda: self.method("S", d, "partition", "'a'")),
        )

    def make_G(self, depth):
        r, d = self.r, depth
        return self.pick(
            (2, lambda: self.filter("LS", d, "map", "'upper'")),
            (1, lambda: self.filter("LS", d, r.choice(["reverse", "unique", "select"]))),
            (1, lambda: self.filter("LD", d, "map", "attribute='role'")),
            (1, lambda: (self.e("DI", d, POSTFIX) + ".keys()", POSTFIX)),
            (1, lambda: self.filter("S", d, "list")),
        )

    def odd(self, depth):
        """What templates hardly have."""
        r, d = self.r, depth
        made = [
            "d.items is callable",
            "li.0",
            "ld.0.role",
            "(ls, li).1",
            "range is defined",
            "'a'.upper is callable",
            "(s.split)('a')",
            "dict",
            "range(3).start",
            "d.items() is mapping",
        ]
        if self.loops:
            made += ["loop", "loop.cycle(1, 'b')", "loop.nextitem", "[loop.previtem, loop.index]"]
        if self.macros:
            m = r.choice(self.macros)
            made += [
                f"{m['name']}.{r.choice(['name', 'arguments', 'catch_kwargs', 'catch_varargs', 'caller'])}",
                m["name"],
                f"{m['name']}(*{self.e('LS', d, POSTFIX)})",
                f"[{m['name']}][0](a={self.e('S', d)})",
                f"{m['name']}(**{{'a': {self.e('S', d)}}})",
            ]
        return r.choice(made), COND

    def make_A(self, depth):
        if self.r.random() < 0.04:
            return self.odd(depth)
        return self.make(self.r.choice(["S", "S", "S", "I", "I", "F", "B", "N", "LS", "LI", "LD", "LA", "D", "DI", "T", "U"]), depth)

    # -- statements
    def text(self):
        r = self.r
        if r.random() < 0.25:
            return ""
        parts = [
            "\n",
            " ",
            "  ",
            "\t",
            "a",
            "text",
            "é",
            "<|im_start|>",
            "日本",
            "x\n  y",
            "\r\n",
            "{ ",
            "} ",
            "% ",
            "# ",
            '"',
            "'",
            OF_TEMPLATE,
            "\n\n",
            "   ",
            "\n  ",
            "- ",
            "}} ",
        ]
        return "".join(r.choice(parts) for _ in range(r.choice([1, 1, 2, 3])))

    def tag(self, what, plus=True):
        r = self.r
        begin = r.choice(["", "", "", "", "-", "-", "+"] if plus else ["", "-"])
        end = r.choice(["", "", "", "", "-", "-", "+"] if plus else ["", "-"])
        pad = r.choice([" ", " ", " ", " ", "", "\n", "  "])
        what = f"{{%{begin}{pad}{what}{pad if pad else ' '}{end}%}}"
        return what

    def put(self, depth=None):
        r = self.r
        value = self.e(
            self.pick(
                (6, lambda: "S"),
                (2, lambda: "I"),
                (1, lambda: "F"),
                (1, lambda: "B"),
                (4, lambda: "A"),
                (1, lambda: "U"),
                (1, lambda: "LA"),
            ),
            r.choice([1, 2, 2, 3]) if depth is None else depth,
        )
        if r.random() < 0.01:
            value += ", " + self.e("I", 0)
        pad = r.choice([" ", " ", " ", "", "\n"])
        if not pad and (value.startswith("{") or value.startswith(("-", "+")) or value.endswith("}")):
            pad = " "
        return (
            "{{"
            + r.choice(["", "", "", "-", "+" if r.random() < 0.1 else ""])
            + (pad or " ")
            + value
            + (pad or " ")
            + r.choice(["", "", "-"])
            + "}}"
        )

    def function(self, depth):
        """A body that Python runs as a function of its own."""
        jumps, self.jumps = self.jumps, 0
        out = self.body(depth)
        self.jumps = jumps
        return out

    def body(self, depth, scope=True, most=3):
        if scope:
            self.scopes.append({})
        out = self.text()
        for _ in range(self.r.choice([1, 1, 2, most])):
            out += self.statement(depth) + self.text()
        if scope:
            self.scopes.pop()
        return out

    def bind(self, name, kind):
        self.scopes[-1][name] = kind

    def new_name(self):
        return self.r.choice(["v", "w", "x", "y", "acc", "s", "i", "ls", "out", "größe" if self.r.random() < 0.05 else "z"])

    def statement(self, depth):
        r = self.r
        self.statements += 1
        if depth <= 0 or self.statements > 30:
            return self.put()
        d = depth - 1
        return self.pick(
            (12, self.put),
            (6, self.set),
            (5, lambda: self.if_(d)),
            (6, lambda: self.for_(d)),
            (1.5, lambda: self.set_block(d)),
            (1.5, lambda: self.namespace(d)),
            (2.5, lambda: self.macro(d)),
            (2, lambda: self.call_block(d)),
            (1, lambda: self.filter_block(d)),
            (1, lambda: self.with_(d)),
            (0.7, lambda: self.generation(d)),
            (1.5, self.comment),
            (0.6, lambda: self.raw()),
            (0.5, lambda: self.autoescape(d)),
            (0.6, lambda: self.cycler()),
            (0.6, lambda: self.joiner(d)),
            (0.3, lambda: self.raise_(d)),
            (1.5 if self.jumps else 0, lambda: self.jump()),
            (0.8 if self.callers else 0, lambda: "{{ caller(" + r.choice(["", self.e("S", 1)]) + ") }}"),
        )

    def set(self):
        r = self.r
        self.use("set")
        if r.random() < 0.12:
            a, b = self.new_name(), self.new_name()
            ka, kb = r.choice("SI"), r.choice("SI")
            text = self.tag(f"set {a}, {b} = {self.e(ka, 1)}, {self.e(kb, 1)}")
            self.bind(a, ka), self.bind(b, kb)
            return text
        name, kind = self.new_name(), r.choice(["S", "S", "S", "I", "I", "F", "B", "LS", "LI", "LD", "D", "LA", "T", "G"])
        text = self.tag(f"set {name}{r.choice([' = ', '='])}{self.e(kind, 2)}")
        self.bind(name, kind)
        return text

    def if_(self, d):
        r = self.r
        self.use("if")
        out = self.tag("if " + self.e(r.choice(["B", "B", "B", "S", "LS", "U", "I"]), 2, OR)) + self.body(d, r.random() < 0.7)
        while r.random() < 0.25:
            self.use("elif")
            out += self.tag("elif " + self.e("B", 2, OR)) + self.body(d)
        if r.random() < 0.4:
            out += self.tag("else") + self.body(d)
        return out + self.tag("endif")

    def for_(self, d):
        r = self.r
        self.use("for")
        if r.random() < 0.06:
            return self.recursive_loop(d)
        scope = {}
        kind = r.choice(["LS", "LS", "LI", "LD", "LD", "S", "G", "items", "items", "pairs", "T", "U", "LA", "D"])
        if kind == "items":
            name, value = r.choice([("key", "value"), ("k2", "v2")])
            source = self.e("D", 1, POSTFIX)
            over = r.choice([f"{source}.items()", f"{source}|items", f"{source}|dictsort"])
            target, scope = f"{name}, {value}", {name: "S", value: "A"}
        elif kind == "pairs":
            over, target, scope = f"[[{self.e('S', 1)}, {self.e('I', 1)}], ('p', 2)]", r.choice(["p, q", "(p, q)"]), {"p": "S", "q": "I"}
        else:
            target = r.choice(["item", "m", "x", "s"])
            over = self.e(kind, 2, OR)
            scope = {target: {"LS": "S", "LI": "I", "LD": "D", "S": "S", "G": "S", "T": "A", "U": "A", "LA": "A", "D": "S"}[kind]}
        out = f"for {target} in {over}"
        self.scopes.append(scope)
        if r.random() < 0.2:
            self.use("for if")
            name, kind = r.choice(list(scope.items()))
            of_item = {
                "S": [f"{name} != {self.literal()}", f"{name} in {self.leaf('LS')[0]}", f"{name}|length > 1", f"{name} is lower"],
                "I": [f"{name} is odd", f"{name} < 3", f"{name} % 2"],
                "D": [f"{name}.ok", f"{name}.role == 'user'", f"{name}.n is defined"],
                "A": [name, f"{name} is string", f"{name} is not none"],
            }
            out += " if " + (r.choice(of_item[kind]) if r.random() < 0.7 else self.e("B", 1, OR))
        self.loops += 1
        self.jumps += 1
        out = self.tag(out) + self.body(d)
        self.jumps -= 1
        self.loops -= 1
        self.scopes.pop()
        if r.random() < 0.2:
            self.use("for else")
            out += self.tag("else") + self.body(d)
        return out + self.tag("endfor")

    def recursive_loop(self, d):
        self.use("recursive loop")
        r = self.r
        self.scopes.append({"node": "A"})
        self.loops += 1
        inner = r.choice(
            [
                "{{ loop(node.sub) if node.sub }}",
                "{{ loop(node) if node is not string and node is iterable and node }}",
                "{% if node.tags %}{{ loop(node.tags) }}{% endif %}",
            ]
        )
        out = (
            self.tag(f"for node in {r.choice(['la', 'ld', '[[1, [2]], [3]]', self.e('LA', 1, OR)])} recursive")
            + self.text()
            + r.choice(["{{ node }}", "{{ loop.depth }}", ""])
            + inner
            + self.function(d - 1)
            + self.tag("endfor")
        )
        self.loops -= 1
        self.scopes.pop()
        return out

    def set_block(self, d):
        self.use("set block")
        name = self.new_name()
        filters = self.r.choice(["", "", "|upper", " | trim", "|replace('a', 'b')|title", "|indent(2)"])
        out = self.tag(f"set {name}{filters}") + self.body(d) + self.tag("endset")
        self.bind(name, "S")
        return out

    def namespace(self, d):
        r = self.r
        self.use("namespace")
        name = r.choice(["ns", "ns2"])
        out = self.tag(
            f"set {name} = namespace({r.choice(['', 'n=0', 'n=1, t=' + self.e('S', 1), '{} '.format(self.e('D', 0)) if r.random() < 0.3 else 'n=2'])})"
        )
        inner = self.tag(f"set {name}.n = {r.choice([f'{name}.n + 1', self.e('I', 1), f'({name}.n|default(0)) + 1'])}") + r.choice(
            ["", self.tag(f"set {name}.t = ({name}.t|default('')) ~ {self.e('S', 1, MULTIPLY)}")]
        )
        if r.random() < 0.6:
            self.scopes.append({"item": "I"})
            self.loops += 1
            inner = self.tag(f"for item in {self.e('LI', 1, OR)}") + inner + self.body(d - 1, most=1) + self.tag("endfor")
            self.loops -= 1
            self.scopes.pop()
        return out + inner + "{{ " + r.choice([f"{name}.n", f"{name}.t", f"{name}['n']", name, f"{name}.nope"]) + " }}"

    def macro(self, d):
        r = self.r
        self.use("macro")
        name = r.choice(["m1", "m2", "m3"])
        params = [(p, r.choice(["S", "S", "I", "LS", "A"])) for p in ["a", "b", "c"][: r.randrange(4)]]
        text, default = [], False
        for p, kind in params:
            default = default or r.random() < 0.35
            text.append(f"{p}={self.e(kind, 1)}" if default else p)
        caller, more, named = r.random() < 0.3, r.random() < 0.12, r.random() < 0.12
        self.scopes.append(dict(params))
        loops, self.loops = self.loops, 0
        self.callers += caller
        body = self.function(d)
        if more:
            body += "{{ varargs }}"
        if named:
            body += "{{ kwargs }}"
        if caller:
            body += "{{ caller() }}"
        self.callers -= caller
        self.loops = loops
        self.scopes.pop()
        out = self.tag(f"macro {name}({', '.join(text)})") + body + self.tag("endmacro")
        self.macros = [m for m in self.macros if m["name"] != name] + [
            {"name": name, "params": params, "caller": caller, "more": more, "named": named}
        ]
        return out + ("{{ " + self.macro_call(1)[0] + " }}" if r.random() < 0.8 and not caller else "")

    def call_block(self, d):
        r = self.r
        usable = [m for m in self.macros if m["caller"]]
        if not usable:
            return self.macro(d)
        self.use("call block")
        m = r.choice(usable)
        args = ", ".join(self.e(kind, 1) for _, kind in m["params"])
        params = r.choice(["", "", "", "(q)", "(q='z')", "()"])
        if "q" in params:
            self.scopes.append({"q": "S"})
        out = self.tag(f"call{params} {m['name']}({args})") + self.function(d) + self.tag("endcall")
        if "q" in params:
            self.scopes.pop()
        return out

    def filter_block(self, d):
        self.use("filter block")
        return (
            self.tag("filter " + self.r.choice(["upper", "trim", "replace('a', 'b')", "upper|lower", "indent(2)", "title", "e", "length"]))
            + self.body(d)
            + self.tag("endfilter")
        )

    def with_(self, d):
        self.use("with")
        a, b = self.new_name(), self.new_name()
        head = self.r.choice([f"with {a} = {self.e('S', 1)}", f"with {a}={self.e('S', 1)}, {b}2={self.e('I', 1)}", "with"])
        self.scopes.append({a: "S"} if "=" in head else {})
        out = self.tag(head) + self.body(d) + self.tag("endwith")
        self.scopes.pop()
        return out

    def generation(self, d):
        self.use("generation")
        return self.tag("generation") + self.function(d) + self.tag("endgeneration")

    def comment(self):
        self.use("comment")
        r = self.r
        return (
            "{#"
            + r.choice(["", "-", "+"] if r.random() < 0.5 else [""])
            + r.choice([" c ", " {{ x }} ", "\n", " {% if %} "])
            + r.choice(["", "-", "+"] if r.random() < 0.5 else [""])
            + "#}"
        )

    def raw(self):
        self.use("raw")
        return self.tag("raw", plus=False) + self.r.choice(["{{ x }}", "\n  {% if %}\n", " a ", ""]) + self.tag("endraw")

    def autoescape(self, d):
        self.use("autoescape")
        return self.tag(f"autoescape {self.r.choice(['true', 'true', 'false'])}") + self.body(d) + self.tag("endautoescape")

    def cycler(self):
        self.use("cycler")
        r = self.r
        return self.tag(f"set c = cycler({self.e('S', 1)}, {self.e('A', 1)})") + "".join(
            "{{ " + r.choice(["c.next()", "c.current", "c.next()"]) + " }}" for _ in range(r.randrange(4))
        )

    def joiner(self, d):
        self.use("joiner")
        return (
            self.tag("set jn = joiner(" + self.r.choice(["", "'|'", self.e("S", 1)]) + ")")
            + self.tag(f"for item in {self.e('LS', 1, OR)}")
            + "{{ jn() }}{{ item }}"
            + self.tag("endfor")
        )

    def raise_(self, d):
        self.use("raise_exception")
        return self.tag("if " + self.e("B", 1, OR)) + "{{ raise_exception('no') }}" + self.tag("endif")

    def jump(self):
        r = self.r
        what = r.choice(["break", "continue"])
        self.use(what)
        if r.random() < 0.9:
            return self.tag("if " + self.e("B", 1, OR)) + self.tag(what) + self.tag("endif")
        return self.tag(what)

    def whole(self):
        r = self.r
        out = self.text()
        for _ in range(r.choice([1, 2, 3, 4])):
            out += self.statement(r.choice([1, 2, 3])) + self.text()
        return out


def made(seed, number):
    r = random.Random(f"{seed}.{number}")
    template = Template(r)
    return template.whole(), Context(r).whole(), template.used


# ---- comparing -------------------------------------------------------------------------------------------------------------------------


class Left(Exception):
    """A case that cannot be the same: NEVER_MADE."""


def big(value, least=2**63):
    return isinstance(value, int) and not -least <= value < least


def has_big(value, least=2**63):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    return big(value, least) if items is None else any(has_big(v, least) for v in items)


class Watched(jinja_reference.Reference):
    """The reference, which notices while it renders what cannot be the same."""

    def __init__(self, jinja2):
        super().__init__(jinja2)
        environment, watched = self.environment, self
        self.left = None
        self.unfolded = jinja_reference.Reference(jinja2)
        self.unfolded.environment.optimized = False
        self.unfolded.environment.finalize = jinja2.pass_context(lambda context, value: value)  # what is printed is folded otherwise

        def looked_at(value):
            if big(value):
                watched.left = "integers beyond 64 bits"
            return value

        environment.intercepted_binops = frozenset(["+", "-", "*", "/", "//", "%", "**"])
        environment.intercepted_unops = frozenset(["-", "+"])

        def binary(context, operator, left, right):
            if has_big([left, right]):
                watched.left = "integers beyond 64 bits"
            if (
                operator == "*"
                and any(isinstance(v, int) and abs(v) > 4000 for v in (left, right))
                and not all(isinstance(v, (int, float)) for v in (left, right))
            ):
                watched.left = "more than 4000 times"
                raise Left
            if operator == "**" and isinstance(right, int) and abs(right) > 200:
                watched.left = "integers beyond 64 bits"
                raise Left
            return looked_at(environment.binop_table[operator](left, right))

        def concat(parts):
            text = "".join(parts)
            if re.search(r" at 0x[0-9a-f]{6,}", text):
                watched.left = "addresses"
            return text

        environment.concat = concat
        environment.call_binop = binary
        environment.call_unop = lambda context, operator, value: looked_at(environment.unop_table[operator](looked_at(value)))
        for name in ("int", "sum", "abs", "round"):
            self.watch(name, looked_at)
        for name in ("map", "select", "reject", "selectattr", "rejectattr", "unique", "batch", "slice", "items"):
            self.probe(name)

    def probe(self, name):
        """A generator's items are tried beforehand."""
        before = self.environment.filters[name]

        @functools.wraps(before)
        def after(*args, **named):
            if not any(hasattr(v, "__next__") for v in args):
                try:
                    list(before(*args, **named))
                except Exception:
                    self.lazy = True
            return before(*args, **named)

        self.environment.filters[name] = after

    def watch(self, name, looked_at):
        before = self.environment.filters[name]

        @functools.wraps(before)
        def after(*args, **named):
            for v in args:
                looked_at(v)
            return looked_at(before(*args, **named))

        self.environment.filters[name] = after

    def try_(self, template, context):
        """(text, why, left): the last by name where the case cannot be the same."""
        self.left, self.lazy = None, False
        text, why = self.render(template, context)
        if text is not None and self.lazy:
            self.left = "generators that fail"
        return text, why, self.left


def by_design(reference, template, context, answer):
    """What linnet refuses by one of the names of NEVER_MADE, or what only the folding of constants makes different."""
    if "its address in memory" in answer.get("error", ""):
        return "addresses"
    if "beyond 64 bits" in answer.get("error", "") and has_big(context, 2**53):  # round multiplies by powers of ten
        return "integers beyond 64 bits"
    if reference.unfolded.render(template, context)[0] == answer.get("text"):
        return "constants"
    return None


def difference(want, why, answer):
    """What is different, as a kind and a sentence; None where nothing is."""
    if "crash" in answer:
        return "crash", answer["crash"]
    if "late" in answer:
        return "late", f"no answer in {answer['late']} s"
    if want is None:
        return None if "error" in answer else ("rendered", f"Jinja2 fails ({why}), linnet gives {answer['text']!r}")
    if "error" in answer:
        return "refused", f"Jinja2 gives {want!r}, linnet: {answer['error']}"
    if want != answer["text"]:
        return "text", f"Jinja2 {want!r}\n     linnet {answer['text']!r}"
    fault = jinja_reference.range_faults(answer)
    if fault:
        return "ranges", fault
    data = answer["text"].encode()
    own = b"\0".join(data[a:b] for a, b in jinja_reference.own_ranges(answer)).decode()
    theirs = b"\0".join(data[a:b] for a, b in answer["data"]).decode()
    if any(c in own or f"\\u{ord(c):04x}" in own for c in OF_DATA):
        return "forged", f"the conversation's bytes count as the template's: {own!r} of {want!r}"
    if OF_TEMPLATE in theirs:
        return "lost", f"the template's bytes count as the conversation's: {theirs!r} of {want!r}"
    return None


OPENS = {"if", "for", "macro", "call", "filter", "set", "with", "generation", "autoescape", "raw"}
SEGMENTS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|(?:(?!\{[%{#]).)+|.", re.DOTALL)
PIECES = re.compile(r"\{[{%#][-+]?|[-+]?[}%#]\}|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\w+|\s+|.", re.DOTALL)


def smaller(program, reference, template, context, kind):
    """The template and the context with all deleted that can be, so that a difference of the same kind stays."""

    def tries(candidates):
        """The first candidate that is different in that way."""
        lines, of = [], []
        for t, c in candidates:
            want, why, left = reference.try_(t, c)
            if not left:
                lines.append(case(t, c))
                of.append((t, c, want, why))
        for (t, c, want, why), answer in zip(of, jinja_reference.run(program, lines, 30)):
            found = difference(want, why, answer)
            if found and found[0] == kind and not by_design(reference, t, c, answer):
                return t, c
        return None

    def few(candidates):
        for at in range(0, len(candidates), 16):
            found = tries(candidates[at : at + 16])
            if found:
                return found
        return None

    until = time.monotonic() + 40
    size = 0
    while size != len(template) and time.monotonic() < until:
        # Blocks, with what is in them or without; then single tags and texts.
        while time.monotonic() < until:
            parts_, open_, blocks = SEGMENTS.findall(template), [], []
            for i, part in enumerate(parts_):
                name = re.match(r"\{%[-+]?\s*(end)?(\w+)", part)
                if name and name[1]:
                    if open_:
                        blocks.append((open_.pop(), i))
                elif name and name[2] in OPENS and not (name[2] == "set" and "=" in part):
                    open_.append(i)
            blocks.sort(key=lambda b: b[0] - b[1])
            candidates = [parts_[:a] + parts_[b + 1 :] for a, b in blocks] + [
                parts_[:a] + parts_[a + 1 : b] + parts_[b + 1 :] for a, b in blocks
            ]
            candidates += [parts_[:i] + parts_[i + 1 :] for i in range(len(parts_))]
            found = few([("".join(c), context) for c in candidates])
            if not found:
                break
            template = found[0]
        size = len(template)
        pieces = PIECES.findall(template)
        n = max(1, len(pieces) // 2)
        while n and time.monotonic() < until:
            at = 0
            while at < len(pieces):  # some at a time, since the program's start costs most
                starts = range(at, min(len(pieces), at + 16 * n), n)
                found = tries([("".join(pieces[:i] + pieces[i + n :]), context) for i in starts])
                if found:
                    template = found[0]
                    at = next(i for i in starts if "".join(pieces[:i] + pieces[i + n :]) == template)
                    pieces = PIECES.findall(template)
                else:
                    at += 16 * n
            n //= 2
        pieces, candidates = PIECES.findall(template), []
        for a, begin in enumerate(pieces):  # brackets, with what is in them or without
            end = {"(": ")", "[": "]", "{": "}"}.get(begin)
            depth = 0
            for b in range(a + 1, len(pieces) if end else 0):
                depth += (pieces[b] == begin) - (pieces[b] == end)
                if depth < 0:
                    candidates.append(("".join(pieces[:a] + pieces[b + 1 :]), context))
                    candidates.append(("".join(pieces[:a] + pieces[a + 1 : b] + pieces[b + 1 :]), context))
                    break
        found = few(candidates)
        template = found[0] if found else template

    def parts(value):
        """Values with something less in them."""
        if isinstance(value, dict):
            for k in value:
                yield {a: b for a, b in value.items() if a != k}
            for k in value:
                for v in parts(value[k]):
                    yield {**value, k: v}
        elif isinstance(value, list):
            for i in range(len(value)):
                yield value[:i] + value[i + 1 :]
            for i in range(len(value)):
                for v in parts(value[i]):
                    yield value[:i] + [v] + value[i + 1 :]
        elif isinstance(value, str) and len(value) > 1:
            for i in range(len(value)):
                yield value[:i] + value[i + 1 :]

    used = set(re.findall(r"\w+", template)) | {"messages"}
    found = tries([(template, {k: v for k, v in context.items() if k in used})])
    context = found[1] if found else context
    while time.monotonic() < until + 10:
        found = tries([(template, {"messages": [], **c}) for c in parts(context) if {"messages": [], **c} != context])
        if not found:
            break
        context = found[1]
    return template, context


def alike(found):
    """What failures of one cause have in common: the error, without its names and numbers."""
    error = {"rendered": r"Jinja2 fails \((.*)\), linnet gives", "refused": r", linnet: it, line \d+: (.*)"}.get(found[0])
    match = error and re.search(error, found[1], re.DOTALL)
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "_", match[1]) if match else ""


def sentence(program, reference, template, context):
    want, why, _ = reference.try_(template, context)
    found = difference(want, why, jinja_reference.run(program, [case(template, context)], 30)[0])
    return found[1] if found else "nothing is different any more"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--count", type=int, default=200000 if os.environ.get("LINNET_TEST_FULL") else 1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", type=int)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--kinds", type=int, default=5, help="how many failures are made smaller and printed")
    a = parser.parse_args()
    if not a.program and not a.reference:
        print(__doc__, file=sys.stderr)
        return 2
    jinja2, why = jinja_reference.jinja()
    if not jinja2:
        print(f"skipped: {why}")
        return 77
    reference = Watched(jinja2)
    program = a.program and os.path.abspath(a.program)
    numbers = range(a.count) if a.one is None else [a.one]
    used, left, errors, rendered, tried, failures = collections.Counter(), collections.Counter(), collections.Counter(), 0, 0, []
    batch = 500
    for first in range(0, len(numbers), batch):
        cases = []
        for number in numbers[first : first + batch]:
            template, context, features = made(a.seed, number)
            used.update(features.keys())
            want, why, not_equal = reference.try_(template, context)
            if a.one is not None:
                print(template, json.dumps(context, ensure_ascii=False), want if want is not None else why, sep="\n----\n")
            tried += 1
            rendered += want is not None
            if not_equal:
                left[not_equal] += 1
                continue
            if want is None:
                errors[re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "_", why)[:70]] += 1
            cases.append((number, template, context, want, why))
        if not program:
            continue
        for (number, template, context, want, why), answer in zip(
            cases, jinja_reference.run(program, [case(t, c) for _, t, c, _, _ in cases])
        ):
            found = difference(want, why, answer)
            design = found and found[0] in ("text", "refused", "rendered") and by_design(reference, template, context, answer)
            if design:
                left[design] += 1
            elif found:
                failures.append((number, template, context, found))
        if failures and not a.all:
            break
    if a.reference:
        for what, n in used.most_common():
            print(f"{n:6} {what}")
        for what, n in errors.most_common(40):
            print(f"{n:6} fails: {what}")
    # Those that look alike are printed once.
    kinds = collections.defaultdict(list)
    for failure in failures:
        kinds[failure[3][0] + ": " + alike(failure[3])].append(failure)
    for kind, of in sorted(kinds.items(), key=lambda k: -len(k[1]))[: a.kinds]:
        for number, template, context, found in sorted(of, key=lambda f: len(f[1]))[: 3 if kind.endswith(": ") else 1]:
            print(f"FAILED: {number} of seed {a.seed}, one of {len(of)}: {kind}", flush=True)
            template, context = smaller(program, reference, template, context, found[0])
            print(
                "  template " + json.dumps(template, ensure_ascii=False),
                "  context  " + json.dumps(context, ensure_ascii=False),
                "  " + sentence(program, reference, template, context),
                sep="\n",
                flush=True,
            )
    print(
        f"{tried} templates, {rendered} render, {sum(left.values())} left out ({', '.join(f'{n}: {k}' for k, n in left.items()) or 'none'}), {len(failures)} failed, {time.process_time():.1f} s"
    )
    if tried >= 500 and rendered * 2 < tried:
        print("FAILED: most templates do not render, so that little is compared")
        return 1
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
