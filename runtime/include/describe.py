#!/usr/bin/env python3
"""Describes linnet's headers for bindings, and refuses headers that a binding would stumble over.

  describe.py                                   checks the headers
  describe.py --source numbers.c                ... and writes a C file that holds their sizes, offsets and values
  describe.py --object numbers.o --out FILE     ... and writes the description, with the numbers out of that file's object

The headers keep to a small part of C, which is all that is read here: what is not understood is an error, so that they stay simple. Numbers
are the target's own compiler's, read from the object file without running it: cross builds go the same way. Errors are FILE:LINE: SENTENCE:

  - a macro that is not one of MACROS, a condition but the guard, C++ and C's compilers, a function with a body, a type that no header declares
  - a struct by value in a call; one that does not begin with `uint32_t size`, or lies within another, but for NO_SIZE
  - a status from a function that is not LINNET_CALL, or whose last argument is not `linnet_error* err`; err and no status
  - an enum without LINNET_OF_... or LINNET_32_BITS, a value that is not written out or stands twice, one that is 0 and not called as in ZERO
  - something [experimental] in a function or field that is not marked so; a declaration outside extern "C"
  - a name that does not begin with linnet_ or LINNET_, or is declared twice
  - a header of more than MOST_LINES lines, a line of more than MOST_COLUMNS
"""
import argparse
import json
import os
import re
import struct
import sys

MOST_LINES, MOST_COLUMNS = 500, 140
MACROS = {"LINNET_API", "LINNET_CALL", "LINNET_CHECKED", "LINNET_OF_INT32", "LINNET_OF_UINT32", "LINNET_32_BITS"}
UNDERLYING = {"LINNET_OF_INT32": "int32_t", "LINNET_OF_UINT32": "uint32_t"}
C_TYPES = {"void", "char", "int", "float", "double", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint8_t"}
NO_SIZE = {"linnet_view", "linnet_cpus", "linnet_error"}  # structs that never change
ZERO = ("DEFAULT", "NONE", "AUTO", "OK", "FREE", "UNKNOWN")  # what 0 may be called in an enum
MARKER = (0x6C696E6E65742F30, 0x2F6E756D62657273)

TOKEN = re.compile(r"(?P<space>[ \t\n]+)|(?P<comment>/\*.*?\*/)|(?P<directive>\#[^\n]*)|(?P<word>[A-Za-z_]\w*)|(?P<number>\d+)|"
                   r"(?P<string>\"C\")|(?P<mark>[(){}\[\],;=*/-])", re.DOTALL)

faults = []


def fault(file, line, text):
    faults.append(f"{file}:{line}: {text}")


class Stop(Exception):
    """The rest of a header cannot be read."""


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line, self.end = kind, text, line, line + text.count("\n")


def words_of(comment):
    """A comment's text without its frame, line by line."""
    lines = [re.sub(r"^\s*(\* ?)?", "", line) if i else line for i, line in enumerate(comment[2:-2].split("\n"))]
    return "\n".join(line.rstrip() for line in lines).strip()


def stability(*texts):
    return "experimental" if any("[experimental]" in t for t in texts) else "stable"


def read_tokens(file, text):
    """Tokens and comments. Directives are checked and leave, as does what C++ alone sees."""
    tokens, directives, at, line = [], [], 0, 1
    for number, content in enumerate(text.split("\n"), 1):
        if len(content) > MOST_COLUMNS:
            fault(file, number, f"{len(content)} columns, more than {MOST_COLUMNS}")
    if text.count("\n") > MOST_LINES:
        fault(file, MOST_LINES + 1, f"{text.count(chr(10))} lines, more than {MOST_LINES}")
    cplusplus = None  # within #ifdef __cplusplus: True until #else
    clang = False  # ... behind it, within #ifdef __clang__
    linkage = ""  # what C++ alone has seen: extern "C" { and, behind all declarations, }
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            fault(file, line, f"not understood: {text[at:].splitlines()[0][:60]}")
            raise Stop
        token = Token(match.lastgroup, match[0], line)
        if token.kind == "directive":
            words = re.sub(r"^#\s*", "", token.text)
            directives.append(words)
            if text[:at].rpartition("\n")[2].strip():
                fault(file, line, "a directive behind something else")
            if words == "ifdef __cplusplus" and cplusplus is None:
                cplusplus = True
            elif words == "else" and cplusplus:
                cplusplus = False
            elif words == "ifdef __clang__" and cplusplus is False and not clang:
                clang = True
            elif words == "else" and clang:
                pass
            elif words == "endif" and clang:
                clang = False
            elif words == "endif" and cplusplus is not None:
                cplusplus = None
            elif words.startswith("define "):
                name = re.match(r"define (\w*)", words)[1]
                guard = len(directives) == 2 and directives[0] == f"ifndef {name}" and words == f"define {name}"
                if not guard and (name not in MACROS or "(" in words.split(" ")[1] or words.endswith("\\")):
                    fault(file, line, f"the macro {name}: bindings know none; constants are enums")
            elif not re.fullmatch(r'include (<std(def|int)\.h>|"linnet(_\w+)?\.h")|endif', words) and (
                    len(directives) > 1 or not words.startswith("ifndef ")):
                fault(file, line, f"not understood: #{words}")
        elif cplusplus:
            if token.text not in ("extern", '"C"', "{", "}") and token.kind not in ("space", "comment"):
                fault(file, line, f"for C++ alone: {token.text}")
            elif token.kind not in ("space", "comment"):
                linkage += token.text
        elif token.kind != "space":
            tokens.append(token)
            if token.kind != "comment" and linkage != 'extern"C"{':
                fault(file, line, f'{token.text} is not within extern "C"')
                raise Stop
        line, at = token.end, match.end()
    if linkage not in ("", 'extern"C"{}'):
        fault(file, line, 'extern "C" does not end')
    guard = os.path.basename(file).upper().replace(".", "_")
    if directives[:2] != [f"ifndef {guard}", f"define {guard}"] or sum(d.startswith("if") for d in directives) != directives.count("endif"):
        fault(file, 1, f"not guarded by {guard}")
    return tokens, [d.split('"')[1] for d in directives if d.startswith('include "')]


class Header:
    """Reads one header: enums, constants, structs, callbacks, functions."""

    def __init__(self, file, text):
        self.file = self.name = os.path.basename(file)
        self.tokens, self.includes = read_tokens(self.file, text)
        self.blanks = {number for number, line in enumerate(text.split("\n"), 1) if not line.strip()}
        self.at, self.last = 0, Token("mark", ";", 0)
        self.enums, self.constants, self.structs, self.forward, self.callbacks, self.functions = [], [], [], [], [], []
        self.doc = words_of(self.tokens[0].text) if self.tokens and self.tokens[0].kind == "comment" else ""
        if not self.doc:
            fault(self.file, 1, "no comment says what this header is for")
        self.library = self.of_header = self.library_in(self.doc) or "linnet"
        self.under = None  # last line and comment of the declaration before
        while self.peek():
            self.declaration()

    @staticmethod
    def library_in(text):
        match = re.search(r"\blib(linnet_\w+)", text)
        return match and match[1]

    # -- tokens; comments are passed over by peek, and found again by above and behind

    def peek(self, ahead=0):
        at = self.at
        while at < len(self.tokens):
            if self.tokens[at].kind != "comment":
                if not ahead:
                    return self.tokens[at]
                ahead -= 1
            at += 1
        return None

    def stop(self, text):
        token = self.peek() or self.last
        fault(self.file, token.line, text)
        raise Stop

    def take(self, what=None):
        """The next token, which must be `what`: a text, or a kind."""
        token = self.peek()
        if token is None or what not in (None, token.text, token.kind):
            self.stop(f"expected {what}, found {token.text if token else 'the end'}")
        while self.tokens[self.at] is not token:
            self.at += 1
        self.at += 1
        self.last = token
        return token

    def accept(self, text):
        return bool(self.peek() and self.peek().text == text and self.take())

    def above(self):
        """Comments between the token before and the next one that stand above it without a blank line; nearest last."""
        found, next_line, at = [], self.peek().line if self.peek() else 0, self.at
        while at < len(self.tokens) and self.tokens[at].kind == "comment":
            if self.tokens[at].line > self.last.line:
                found.append(self.tokens[at])
            at += 1
        kept = []
        for comment in reversed(found):
            if comment.end < next_line - 1:
                break
            kept.insert(0, comment)
            next_line = comment.line
        return [words_of(c.text) for c in kept if not c.text.startswith("/* ----")]

    def behind(self):
        """The comment that begins on the line of the token before."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return words_of(token.text) if token and token.kind == "comment" and token.line == self.last.line else ""

    # -- declarations

    def declaration(self):
        for token in self.tokens[self.at:]:  # a heading says whose the functions below it are
            if token.kind != "comment":
                break
            if token.text.startswith("/* ----"):
                self.library = self.library_in(token.text) or self.of_header
        above, line = "\n".join(self.above()[-1:]), self.peek().line
        if self.accept("typedef"):
            if self.peek().text == "enum":
                made = self.enum()
            elif self.peek().text == "struct":
                made = self.struct(typedef=True)
            else:
                made = self.callback()
        elif self.peek().text == "enum":
            made = self.free_constants(above)
        elif self.peek().text == "struct":
            made = self.struct(typedef=False)
        elif self.peek().text in ("LINNET_API", "LINNET_CALL"):
            made = self.function()
        elif self.peek().text in ("static", "inline"):
            self.stop("a function in a header: bindings cannot call it")
        else:
            self.stop(f"not understood: {self.peek().text}")
        self.take(";")
        doc = "\n".join(filter(None, (above, self.behind())))
        if not doc and self.under and self.under[0] == line - 1:  # a comment is of all that stands below it without a gap
            doc = self.under[1]
        self.under = (self.last.line, doc)
        if made is not None:
            made.update(doc=doc, stability=stability(doc), line=line)
        elif doc:
            for constant in self.constants:
                if constant["line"] >= line:
                    constant["doc"] = constant["doc"] or doc
                    constant["stability"] = stability(constant["doc"], doc)

    def values(self):
        """{ NAME = number, ... }"""
        values = []
        self.take("{")
        while not values or not self.accept("}"):
            above, name = self.above(), self.take("word")
            self.take("=")
            sign = "-" if self.accept("-") else ""
            number = int(sign + self.take("number").text)
            comma = self.accept(",")
            doc = self.behind() or "\n".join(above[-1:])
            values.append({"name": name.text, "value": number, "doc": doc, "stability": stability(doc), "line": name.line})
            if not comma and self.peek().text != "}":
                self.stop("expected , or }")
        return values

    def enum(self):
        self.take("enum")
        self.accept("LINNET_CHECKED")
        name = self.take("word").text
        underlying = UNDERLYING.get(self.peek().text) or self.stop(f"{name} does not say its type: LINNET_OF_INT32 or LINNET_OF_UINT32")
        self.take()
        values = self.values()
        if not self.accept("LINNET_32_BITS"):
            self.stop(f"{name} is short where a compiler makes enums short: LINNET_32_BITS")
        self.take(name)
        self.enums.append({"name": name, "type": underlying, "values": values})
        numbers = [v["value"] for v in values]
        for v in values:
            if numbers.count(v["value"]) > 1:
                fault(self.file, v["line"], f"{v['name']}: the number {v['value']} stands twice in {name}")
            if v["value"] == 0 and not v["name"].endswith(tuple("_" + z for z in ZERO)):
                fault(self.file, v["line"], f"{v['name']} is 0, which says nothing: only {', '.join(ZERO)} may be")
        return self.enums[-1]

    def free_constants(self, above):
        self.take("enum")
        if self.peek().text != "{":
            self.stop("an enum with a name is a typedef")
        self.constants += self.values()

    def type_of(self):
        """A type as text, `const char* const*`: [const] NAME, then * and perhaps const again, any number of times."""
        text = "const " if self.accept("const") else ""
        base = self.take("word").text
        if base in ("static", "inline", "struct", "enum", "union", "unsigned", "long", "short", "volatile", "const"):
            self.stop(f"not understood: {base}")
        text += base
        while self.accept("*"):
            text += "*"
            if self.peek().text == "const":
                self.take()
                text += " const"
        return text

    def struct(self, typedef):
        self.take("struct")
        name = self.take("word").text
        if typedef and self.peek().text != "{":
            self.take(name)
            self.forward.append({"name": name, "opaque": True})
            return self.forward[-1]
        self.take("{")
        fields, group = [], ""
        while not self.accept("}"):
            above, first = self.above(), self.peek()
            if any(self.last.line < blank < first.line for blank in self.blanks):
                group = ""
            kind, names = self.type_of(), []
            while True:
                field = {"name": self.take("word").text, "type": kind, "line": first.line}
                if self.accept("["):
                    while not self.accept("]"):  # the compiler counts
                        self.take()
                    field["count"] = None
                names.append(field)
                if not self.accept(","):
                    break
                if "*" in kind:
                    self.stop("one pointer a declaration")
            self.take(";")
            behind = self.behind()
            # A comment of its own line heads a group where fields have theirs behind them, and else is the field's.
            group = "\n".join(above[:None if behind else -1]) or group
            doc = behind or "\n".join(above[-1:])
            for field in names:
                field.update(doc=doc, stability=stability(doc, group))
            fields += names
        if typedef:
            self.take(name)
        if name not in NO_SIZE and [(f["name"], f["type"], "count" in f) for f in fields[:1]] != [("size", "uint32_t", False)]:
            fault(self.file, fields[0]["line"] if fields else self.last.line, f"{name} does not begin with uint32_t size")
        self.structs.append({"name": name, "opaque": False, "fields": fields})
        return self.structs[-1]

    def arguments(self, of):
        self.take("(")
        arguments = []
        if self.peek().text == "void" and self.peek(1).text == ")":
            self.take()
        while self.peek().text != ")":
            if arguments:
                self.take(",")
            kind = self.type_of()
            if self.peek().kind != "word":
                self.stop(f"{of}: an argument without a name, or of a kind that is not understood")
            arguments.append({"name": self.take("word").text, "type": kind})
            if self.peek().text not in (",", ")"):
                self.stop(f"{of}: {arguments[-1]['name']} is of a kind that is not understood")
        self.take(")")
        return arguments

    def callback(self):
        returns = self.type_of()
        self.take("(")
        self.take("*")
        name = self.take("word").text
        self.take(")")
        self.callbacks.append({"name": name, "returns": returns, "arguments": self.arguments(name)})
        return self.callbacks[-1]

    def function(self):
        checked = self.take().text == "LINNET_CALL"
        returns, token = self.type_of(), self.take("word")
        name, arguments = token.text, self.arguments(token.text)
        if (returns == "linnet_status") != checked:
            fault(self.file, token.line, f"{name}: LINNET_CALL is for what returns linnet_status, and for nothing else")
        if checked and (not arguments or arguments[-1] != {"name": "err", "type": "linnet_error*"}):
            fault(self.file, token.line, f"{name}: the last argument is not linnet_error* err")
        if not checked and "linnet_error*" in [a["type"] for a in arguments]:
            fault(self.file, token.line, f"{name} takes a linnet_error* and returns no linnet_status")
        if self.peek() and self.peek().text == "{":
            self.stop(f"{name} has a body: bindings cannot call it")
        self.functions.append({"name": name, "library": self.library, "returns": returns, "checked": checked, "arguments": arguments})
        return self.functions[-1]


def base_of(kind):
    return re.sub(r"\bconst\b|\*", "", kind).strip()


def check(headers):
    """What holds over all headers together: names, types."""
    seen, structs = {}, {}
    defined = [s["name"] for h in headers for s in h.structs]
    for h in headers:
        h.structs += [s for s in h.forward if s["name"] not in defined]
        structs.update({s["name"]: s for s in h.structs})
        named = h.enums + h.structs + h.callbacks + h.functions
        constants = h.constants + [v for e in h.enums for v in e["values"]]
        for things, begin, form in (named, "linnet_", "[a-z0-9_]+"), (constants, "LINNET_", "[A-Z0-9_]+"):
            for thing in things:
                if not re.fullmatch(begin + form, thing["name"]):
                    fault(h.file, thing["line"], f"{thing['name']} does not begin with {begin}, or is not of {form}")
        for thing in named + constants:
            if thing["name"] in seen:
                fault(h.file, thing["line"], f"{thing['name']} is declared twice, first in {seen[thing['name']]}")
            seen.setdefault(thing["name"], f"{h.file}:{thing['line']}")
    enums = {e["name"] for h in headers for e in h.enums}
    callbacks = {c["name"] for h in headers for c in h.callbacks}
    unsettled = {t["name"] for h in headers for t in h.enums + h.structs + h.callbacks if t["stability"] == "experimental"}
    for h in headers:
        for thing in h.callbacks + h.functions:
            for what, kind in [("returns", thing["returns"])] + [(a["name"], a["type"]) for a in thing["arguments"]]:
                if base_of(kind) in structs and "*" not in kind:
                    fault(h.file, thing["line"], f"{thing['name']}: {what}: the struct {kind} by value; bindings need a pointer")
        for thing in h.callbacks + h.functions + h.structs:
            for kind in [f["type"] for f in thing.get("fields", thing.get("arguments", []))] + [thing.get("returns", "void")]:
                if base_of(kind) not in C_TYPES | enums | callbacks | set(structs):
                    fault(h.file, thing["line"], f"{thing['name']}: the type {kind} is not known")
        for thing in h.callbacks + h.functions:
            taken = {base_of(kind) for kind in [a["type"] for a in thing["arguments"]] + [thing["returns"]]}
            if thing["stability"] == "stable" and unsettled & taken:
                fault(h.file, thing["line"], f"{thing['name']} takes something [experimental] and is not marked so")
        for s in h.structs:
            for f in s.get("fields", []):
                if unsettled & {base_of(f["type"])} and "stable" == s["stability"] == f["stability"]:
                    fault(h.file, f["line"], f"{s['name']}.{f['name']} is something [experimental] and is not marked so")
                if f["type"] in structs and f["type"] not in NO_SIZE:
                    fault(h.file, f["line"], f"{s['name']}.{f['name']}: the struct {f['type']} may grow, what lies behind it would move")
            before = None
            for f in s.get("fields", []):  # the comment names the enum whose values a number takes; "..." goes on with the field above
                match = re.match(r"linnet_\w+", f["doc"])
                choice = match[0] if match and match[0] in enums else before if f["doc"].startswith("...") else None
                before = choice
                if choice and f["type"] in ("uint32_t", "int32_t"):
                    f["enum"] = choice


def ask(headers):
    """What the compiler is asked: expressions, and where their numbers go."""
    questions = [("sizeof(void*)", None, None)]
    for h in headers:
        for e in h.enums:
            questions += [(v["name"], v, "value") for v in e["values"]]
        questions += [(c["name"], c, "value") for c in h.constants]
        for s in h.structs:
            if s["opaque"]:
                continue
            name = s["name"]
            questions += [(f"sizeof({name})", s, "bytes"), (f"_Alignof({name})", s, "align")]
            for f in s["fields"]:
                member = f"(({name}*)0)->{f['name']}"
                questions += [(f"offsetof({name}, {f['name']})", f, "offset"), (f"sizeof({member})", f, "bytes"),
                              (f"_Alignof({f['type']})", f, "align")]
                if "count" in f:
                    questions.append((f"sizeof({member}) / sizeof({member}[0])", f, "count"))
    return questions


def write_source(path, headers):
    lines = ["/* Made by describe.py: what linnet.json says of sizes, offsets and values. Compiled, never run. */"]
    lines += [f'#include "{h.name}"' for h in headers]
    for h in headers:
        for e in h.enums:
            sign = "<" if e["type"] == "int32_t" else ">"
            lines.append(f'_Static_assert(sizeof({e["name"]}) == 4 && ({e["name"]})-1 {sign} 0, "{e["name"]} is no {e["type"]}");')
    lines.append("extern const uint64_t linnet_numbers[];\nconst uint64_t linnet_numbers[] = {")
    lines += [f"    {m:#x}u," for m in MARKER]
    lines += [f"    (uint64_t)(int64_t)({expression})," for expression, _, _ in ask(headers)]
    lines += [f"    {m:#x}u," for m in reversed(MARKER)] + ["};"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def read_object(path, headers):
    """Puts the numbers into the description. Gives the target's order of bytes and pointer size."""
    with open(path, "rb") as f:
        data = f.read()
    questions = ask(headers)
    for order, name in (("<", "little"), (">", "big")):
        at = data.find(struct.pack(order + "2Q", *MARKER))
        if at >= 0:
            break
    else:
        sys.exit(f"{path}: holds no numbers of the headers")
    if len(data) < at + 8 * (len(questions) + 4):
        sys.exit(f"{path}: was made from other headers")
    numbers = struct.unpack_from(f"{order}{len(questions) + 4}q", data, at)[2:]
    if numbers[-2:] != tuple(reversed(MARKER)):
        sys.exit(f"{path}: was made from other headers")
    for number, (_, thing, key) in zip(numbers, questions):
        if thing is not None:
            thing[key] = number
    return {"pointer_bytes": numbers[0], "byte_order": name}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headers", default=os.path.dirname(os.path.abspath(__file__)), help="their folder")
    parser.add_argument("--source", help="C file to write")
    parser.add_argument("--object", help="what a compiler made of it")
    parser.add_argument("--out", help="description to write")
    args = parser.parse_args()
    names = [n for n in os.listdir(args.headers) if n.endswith(".h")]
    headers = []
    for name in sorted(names, key=lambda n: (n != "linnet.h", n)):
        with open(os.path.join(args.headers, name), encoding="utf-8") as f:
            text = f.read()
        try:
            headers.append(Header(name, text))
        except Stop:
            pass
    if not names:
        fault(args.headers, 0, "no headers")
    if len(headers) == len(names):
        check(headers)
    if faults:
        sys.exit("\n".join(faults))
    if args.source:
        write_source(args.source, headers)
    if not args.object:
        return
    target = read_object(args.object, headers)
    constants = {c["name"]: c["value"] for h in headers for c in h.constants}
    made = {"version": ".".join(str(constants[f"LINNET_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH")), "target": target,
            "headers": []}
    for h in headers:
        made["headers"].append({"name": h.name, "doc": h.doc, "includes": h.includes, "enums": h.enums, "constants": h.constants,
                                "structs": h.structs, "callbacks": h.callbacks, "functions": h.functions})

    def plain(thing):  # lines are for faults
        if isinstance(thing, dict):
            return {k: plain(v) for k, v in thing.items() if k != "line"}
        return [plain(v) for v in thing] if isinstance(thing, list) else thing

    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(plain(made), f, indent=1, ensure_ascii=False)
        f.write("\n")


if __name__ == "__main__":
    main()
