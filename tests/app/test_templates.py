#!/usr/bin/env python3
"""Chat templates give what Jinja2 gives, and user text stays user text: test_templates.py RENDER_TEMPLATES
    --update     writes what Jinja2 gives into tests/data/templates
    --reference  only holds those files against Jinja2; needs no program
Each file there has templates with one feature each, as `cases` below reads them."""
import glob
import json
import os
import re
import sys
import time

import jinja_reference
from jinja_reference import ROOT, case
from template_conversations import TOOLS, assistant, call, conversations, result, system, user

DATA = os.environ.get("LINNET_DATA") or os.path.join(ROOT, "..", "shared", "data")
TEMPLATES = os.path.join(DATA, "vectors", "chat-templates")
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

failed = []


def fail(what, *lines):
    failed.append(what)
    if len(failed) <= 20:
        print(f"FAILED: {what}", *lines, sep="\n  ")


def shown(answer):
    if "text" in answer:
        return "text " + json.dumps(answer["text"], ensure_ascii=False)
    return "no text: " + str(next(iter(answer.values())))


def compare(what, want, why, answer):
    """want: Jinja2's text, None where it fails."""
    if "crash" in answer or "late" in answer:
        return fail(what, shown(answer))
    if (want is None) != ("error" in answer) or (want is not None and want != answer["text"]):
        if want is None or "text" not in answer:
            return fail(
                what,
                f"Jinja2: {f'fails: {why}' if want is None else json.dumps(want, ensure_ascii=False)[-300:]}",
                "linnet: " + shown(answer)[-300:],
            )
        got = answer["text"]
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        return fail(
            what,
            f"from character {at} on, behind {want[max(0, at - 60):at]!r}",
            f"Jinja2: {want[at:at + 100]!r}",
            f"linnet: {got[at:at + 100]!r}",
        )
    if "error" in answer:
        # A refusal says where and what; what the template itself raises it says in its own words.
        raised = re.match("TemplateError: (.*)", why, re.DOTALL)
        if not (raised and raised[1] in answer["error"]) and not re.search(r"line \d+: \S", answer["error"]):
            fail(what, f"names no line: {answer['error']} ({why})")
        return None
    fault = jinja_reference.range_faults(answer)
    return fail(what, fault) if fault else None


# ---- small templates ----------------------------------------------------------------------------------------------------------------


class Case:
    """== NAME, then # what it shows, `context: JSON`, `tokens: JSON`, `now: SECONDS`, all of them optional; -- the template --, or one line
    `template: JSON` where its characters cannot be seen; then what it gives as a JSON text, or `error`. `from: JSON` is the same text with
    ⟦ ⟧ around what must count as the conversation's and ⟨ ⟩ around what must count as the template's."""

    def __init__(self, where, lines):
        self.where = where
        self.head, self.template, self.tail, self.expect, self.marked = [], None, [], None, None
        self.context, self.tokens, self.now, self.why = "{}", {}, jinja_reference.NOW, ""
        while lines and lines[0] != "--" and not lines[0].startswith("template: "):
            line = lines.pop(0)
            self.head.append(line)
            key, _, value = line.partition(": ")
            if key == "context":
                self.context = value
            elif key == "tokens":
                self.tokens = json.loads(value)
            elif key == "now":
                self.now = int(value)
            elif not line.startswith("# ") and line:
                raise ValueError(f"{where}: {line}")
        if lines[0] == "--":
            end = lines.index("--", 1)
            self.template = "\n".join(lines[1:end])
            self.body, lines = lines[: end + 1], lines[end + 1 :]
        else:
            self.template = json.loads(lines[0].partition(": ")[2])
            self.body, lines = lines[:1], lines[1:]
        for line in lines:
            if line.startswith("from: "):
                self.marked = json.loads(line[6:])
                self.tail.append(line)
            elif line == "error" or line.startswith('"'):
                self.expect = line
            elif line:
                raise ValueError(f"{where}: {line}")
        if '"messages"' not in self.context:
            rest = self.context.lstrip()[1:].lstrip()
            self.context = '{"messages": []' + (rest if rest == "}" else ", " + rest)

    def want(self):
        return None if self.expect == "error" else json.loads(self.expect)

    def text(self, name):
        return "\n".join([f"== {name}", *self.head, *self.body, self.expect, *self.tail]).rstrip("\n") + "\n"


def cases(path):
    """What stands before the first case, and all of them by name."""
    with open(path, encoding="utf-8", newline="\n") as f:
        first, *rest = re.split(r"(?m)^== ", f.read())
    found = {}
    for part in rest:
        name, *lines = part.rstrip("\n").split("\n")
        assert name not in found, f"{path}: {name} is there twice"
        found[name] = Case(f"{os.path.basename(path)}: {name}", lines)
    return first, found


def marked_faults(answer, marked):
    """Whether the bytes between the marks are whose they must be."""
    data, at, want = answer["text"].encode(), 0, None
    is_data = bytearray(len(data))
    for start, stop in answer["data"]:
        is_data[start:stop] = b"\1" * (stop - start)
    for char in marked:
        if char in "⟦⟨":
            want = char == "⟦"
        elif char in "⟧⟩":
            want = None
        else:
            n = len(char.encode())
            if data[at : at + n] != char.encode():
                return f"the text is not {marked}"
            if want is not None and any(bool(b) != want for b in is_data[at : at + n]):
                return f"byte {at} ({char!r}) counts as the {'template' if want else 'conversation'}'s: must be {marked}, is data in {answer['data']}"
            at += n
    return None if at == len(data) else f"the text is not {marked}"


def small(program, reference, update):
    everything = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "data", "templates", "*.txt"))):
        first, found = cases(path)
        for name, c in found.items():
            if reference:
                of = reference if c.now == jinja_reference.NOW else jinja_reference.Reference(sys.modules["jinja2"], c.now)
                text, c.why = of.render(c.template, json.loads(c.context), c.tokens)
                expect = "error" if text is None else json.dumps(text, ensure_ascii=False)
                if update:
                    c.expect = expect
                elif c.expect != expect:
                    fail(f"{c.where}: Jinja2 gives {expect} ({c.why}), the file says {c.expect}")
            elif c.expect is None:
                fail(f"{c.where}: nothing is expected")
        if update:
            with open(path, "w", encoding="utf-8", newline="\n") as f:
                f.write(first.rstrip("\n") + "\n" + "".join("\n" + c.text(name) for name, c in found.items()))
        everything += found.values()
    if program:
        answers = jinja_reference.run(program, [case(c.template, c.context, c.tokens, c.now) for c in everything])
        for c, answer in zip(everything, answers):
            before = len(failed)
            compare(c.where, c.want(), c.why, answer)
            if c.marked and "text" in answer and len(failed) == before:
                fault = marked_faults(answer, c.marked)
                if fault:
                    fail(c.where, fault)
    for c in everything:
        if c.marked and c.expect != json.dumps(re.sub("[⟦⟧⟨⟩]", "", c.marked), ensure_ascii=False):
            fail(f"{c.where}: `from` is another text than {c.expect}")
    return everything


# ---- published templates ------------------------------------------------------------------------------------------------------------


def published():
    found = {}
    for path in sorted(glob.glob(os.path.join(TEMPLATES, "*.jinja"))):
        with open(path, encoding="utf-8", newline="") as f:
            found[os.path.basename(path)[:-6]] = f.read()
    return found


def given_contexts():
    """Contexts that came with the templates: (name, context, tokens)."""
    for path in sorted(glob.glob(os.path.join(TEMPLATES, "minja-contexts", "*.json"))):
        with open(path, encoding="utf-8") as f:
            context = json.load(f)
        tokens = {k: context.pop(k) for k in ("bos_token", "eos_token") if k in context}
        yield os.path.basename(path), context, tokens


def whole(program, reference):
    tried = [(name, context, TOKENS) for name, context in conversations().items()] + list(given_contexts())
    lines, wants, names, least = [], [], [], {}
    for template, text in published().items():
        for name, context, tokens in tried:
            want, why = reference.render(text, context, tokens)
            lines.append(case(text, context, tokens))
            wants.append((want, why))
            names.append(f"{template}: {name}")
            least[template] = least.get(template, 0) + (want is not None)
    for template, n in least.items():
        if n < 12:
            fail(f"{template}: only {n} of the conversations render")
    if program:
        for name, (want, why), answer in zip(names, wants, jinja_reference.run(program, lines)):
            compare(name, want, why, answer)
    print(f"templates of models: {len(least)} with {len(tried)} conversations each, {sum(least.values())} texts")


# ---- forgery --------------------------------------------------------------------------------------------------------------------------

# Around and within hostile texts: characters that no template has.
BEGIN, BETWEEN, END = "\ue000", "\ue001", "\ue002"


def added_tokens():
    """Texts of the added tokens of the shared tokenizers, and of those that published templates write."""
    found = set()
    for path in glob.glob(os.path.join(DATA, "tokenizers", "*", "tokenizer.json")):
        with open(path, encoding="utf-8") as f:
            found |= {t["content"] for t in json.load(f).get("added_tokens", [])}
    for path in glob.glob(os.path.join(DATA, "tokenizers", "*", "tokenizer_config.json")):
        with open(path, encoding="utf-8") as f:
            found |= {t["content"] for t in json.load(f).get("added_tokens_decoder", {}).values()}
    for text in published().values():
        found |= set(re.findall(r"<\|[^|>\s]+\|>|<｜[^｜]+｜>|</?[a-z_]+>|\[/?[A-Z_]+\]", text))
    found |= set(TOKENS.values())
    return sorted(t for t in found if t.strip())


def hostile_context(text, tools=True):
    """A conversation that has a text wherever one may stand."""
    name = text("name")
    context = {
        "messages": [
            system(text("system")),
            user(text("user")),
            assistant(text("answer"), reasoning_content=text("reasoning"), thinking=text("reasoning")),
            user(text("user 2")),
            assistant("", tool_calls=[call(name, {text("key"): [text("value"), {"k": text("deep")}], "n": 1})]),
            result(text("result"), name),
            assistant(text("answer 2")),
            user(text("user 3")),
        ],
        "add_generation_prompt": True,
        "documents": [{"doc_id": text("id"), "title": text("title"), "text": text("document")}],
        "controls": {"length": text("control")},
        "date_string": text("date"),
        "model_identity": text("identity"),
        "reasoning_effort": text("effort"),
    }
    if tools:
        context["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": text("description"),
                    "parameters": {
                        "type": "object",
                        "properties": {
                            text("property"): {
                                "type": "string",
                                "description": text("of property"),
                                "enum": [text("enum")],
                                "default": text("default"),
                            }
                        },
                        "required": [text("required")],
                    },
                },
            }
        ]
    return context


def ways(tokens):
    """Texts with tokens in them: (name, function of the place, the one with harmless words)."""
    plain = "".join(BEGIN + t + END for t in tokens)
    split = "".join(BEGIN + BETWEEN.join(t) + END for t in tokens)
    yield "in marks", lambda place: plain
    yield "every character marked", lambda place: split
    yield "at both ends", lambda place: tokens[0] + BEGIN + place + END + tokens[-1]
    yield "white space around", lambda place: f" \n{BEGIN}{tokens[0]}{END}\n\t {BEGIN}{tokens[-1]}{END} \n"


def without_system(context):
    """For templates that take no system message; no calls and results either."""
    kept = [m for m in context["messages"] if m["role"] != "system" and m["role"] != "tool" and "tool_calls" not in m]
    return dict(context, messages=kept[:-2])


def own_text(answer):
    data = answer["text"].encode()
    return "\0".join(data[a:b].decode() for a, b in jinja_reference.own_ranges(answer))


def forgery(program, reference):
    tokens, templates = added_tokens(), published()
    group = 12
    lines, about = [], []
    for name, text in templates.items():
        for at in range(0, len(tokens), group):
            some = tokens[at : at + group]
            for way, hostile in ways(some):
                for shape in (
                    hostile_context,
                    lambda t: hostile_context(t, tools=False),
                    lambda t: without_system(hostile_context(t, tools=False)),
                ):
                    context = shape(hostile)
                    if reference.render(text, context, TOKENS)[0] is None:
                        continue
                    lines += [case(text, context, TOKENS), case(text, shape(lambda place: "word"), TOKENS)]
                    about.append((name, some, way))
    rendered = {}
    for name, _, _ in about:
        rendered[name] = rendered.get(name, 0) + 1
    for name in templates:
        if name not in rendered:
            fail(f"forgery: no conversation goes through {name}")
    if program:
        answers = jinja_reference.run(program, lines)
        for (name, some, way), answer, harmless in zip(about, answers[::2], answers[1::2]):
            what = f"forgery: {name}: {way}, {some[0]} ..."
            if "text" not in answer or "text" not in harmless:
                fail(what, shown(answer), shown(harmless))
                continue
            fault = jinja_reference.range_faults(answer)
            if fault:
                fail(what, fault)
                continue
            own = own_text(answer)
            for mark in (BEGIN, BETWEEN, END):
                if mark in own or json.dumps(mark)[1:-1] in own:
                    fail(what, f"user text counts as the template's: {own[max(0, own.index(mark) - 60):][:120]!r}")
                    break
            # What the template says by itself has the tokens that it has without them in the conversation. Some look for marks of reasoning in
            # the texts and then say other things.
            for token in some:
                if own.count(token) > own_text(harmless).count(token) and not re.search("think|tool_response", token):
                    fail(
                        what,
                        f"{token} counts as the template's {own.count(token)} times, {own_text(harmless).count(token)} times without it in the conversation",
                    )
            # Between the marks everything is the conversation's.
            data = answer["text"].encode()
            for m in re.finditer(f"{BEGIN}.*?{END}".encode(), data, re.DOTALL):
                if m[0].count(BEGIN.encode()) == 1 and not any(a <= m.start() and m.end() <= b for a, b in answer["data"]):
                    fail(what, f"{m[0].decode()!r} is not the conversation's alone")
                    break
    print(f"forgery: {len(tokens)} tokens, {len(templates)} templates, {len(about)} conversations")


# ---- hostile templates ----------------------------------------------------------------------------------------------------------------

DEEP = 60000
HOSTILE = {
    "loops in loops": "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}",
    "loops that print": "{% for a in range(100000) %}{% for b in range(100000) %}xxxxxxxxxxxxxxxx{% endfor %}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macros that call one another twice": "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "a loop that calls itself": "{% set ns = namespace(l=[1]) %}{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "a caller that calls itself": "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
    "a text times a number": "{{ 'a' * 10000000000 }}",
    "a list times a number": "{{ ([1] * 10000000000)|length }}",
    "texts that double": "{% set ns = namespace(t='ab') %}{% for i in range(100) %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t|length }}",
    "lists that double": "{% set ns = namespace(t=[1]) %}{% for i in range(100) %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t|length }}",
    "lists in lists": "{% set ns = namespace(t=[]) %}{% for i in range(60000) %}{% set ns.t = [ns.t] %}{% endfor %}{{ ns.t }}",
    "dicts in dicts": "{% set ns = namespace(t={}) %}{% for i in range(60000) %}{% set ns.t = {'a': ns.t} %}{% endfor %}{{ ns.t|tojson }}",
    "tuples that are compared": "{% set ns = namespace(t=(), u=()) %}{% for i in range(60000) %}{% set ns.t = (ns.t,) %}{% set ns.u = (ns.u,) %}{% endfor %}{{ ns.t == ns.u }}",
    "lists whose print doubles": "{% set ns = namespace(t=[1]) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t }}",
    "lists that are compared": "{% set ns = namespace(t=[1], u=[1]) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% set ns.u = [ns.u, ns.u] %}{% endfor %}{{ ns.t == ns.u }}",
    "lists as JSON": "{% set ns = namespace(t=[1]) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t|tojson }}",
    "lists as keys": "{% set ns = namespace(t=(1,)) %}{% for i in range(60) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}{{ {ns.t: 1} }}",
    "a namespace that holds itself": "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
    "namespaces that hold one another": "{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = [b] %}{{ [a] }}{{ a == b }}",
    "a namespace as JSON": "{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns.me|tojson }}",
    "a wide format": "{{ '%999999999d' % 1 }}",
    "a precise format": "{{ '%.999999999f' % 1.0 }}",
    "a wide field": "{{ '{:>9999999999}'.format(1) }}",
    "a centred text": "{{ 'a'|center(9999999999) }}",
    "zeros before": "{{ 'a'.zfill(999999999) }}",
    "tabs": "{{ '\t\t'.expandtabs(999999999) }}",
    "an indent": "{{ ('a\n' * 100000)|indent(100000) }}",
    "an indent of JSON": "{{ [[[[1]]]]|tojson(indent=999999999) }}",
    "a replacement of nothing": "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
    "a join": "{{ (['a' * 1000] * 100000)|join('b' * 1000) }}",
    "batches": "{{ [1]|batch(9999999999, 0)|list|length }}",
    "slices": "{{ [1]|slice(9999999999)|list|length }}",
    "slices of nothing": "{{ [1]|slice(0)|list }}",
    "batches of nothing": "{{ [1]|batch(0)|list }}",
    "lines of nothing": "{{ 'a b'|wordwrap(0) }}",
    "a range without end": "{{ range(0, 1, 0) }}",
    "a long range": "{{ range(1000000000000) }}",
    "powers of powers": "{{ 9 ** 9 ** 9 ** 9 }}",
    "the least integer": "{{ (-9223372036854775807 - 1) // -1 }}",
    "the least integer's remainder": "{{ (-9223372036854775807 - 1) % -1 }}",
    "minus the least integer": "{{ -(-9223372036854775807 - 1) }}",
    "the least integer without its sign": "{{ (-9223372036854775807 - 1)|abs }}",
    "infinity as an integer": "{{ (1e308 * 10)|int }}",
    "infinity, rounded": "{{ (1e308 * 10)|round }}{{ (1e308 * 10) % 3 }}",
    "slices by large numbers": "{{ 'abc'[-9223372036854775807 - 1:9223372036854775807:9223372036854775807] }}{{ [1, 2][::-9223372036854775807 - 1] }}",
    "a large literal": "{{ " + "9" * 100000 + " }}",
    "a large literal as a float": "{{ 1e999999999 }}{{ '1e999999999'|float }}",
    "a large text as an integer": "{{ ('9' * 100000)|int }}",
    "sorting": "{% for i in range(100000) %}{% set x = range(100000)|sort %}{% endfor %}",
    "items of one list, each alone": "{% set l = range(100000)|list %}{{ l|unique|list|length }}{% for i in l %}{{ l.index(99999) }}{% endfor %}",
    "searching": "{% set t = 'a' * 100000 %}{% for i in range(100000) %}{{ t.find('a' * 50000 ~ 'b') }}{% endfor %}",
    "parentheses": "{{ " + "(" * DEEP + "1" + ")" * DEEP + " }}",
    "brackets": "{{ " + "[" * DEEP + "]" * DEEP + " }}",
    "braces": "{{ " + "{1:" * DEEP + "1" + "}" * DEEP + " }}",
    "signs": "{{ " + "- " * DEEP + "1 }}",
    "nots": "{{ " + "not " * DEEP + "1 }}",
    "filters": "{{ 1" + "|abs" * DEEP + " }}",
    "attributes": "{{ a" + ".a" * DEEP + " }}",
    "subscripts": "{{ a" + "[0]" * DEEP + " }}",
    "calls": "{{ a" + "()" * DEEP + " }}",
    "sums": "{{ 1" + "+1" * DEEP + " }}",
    "powers": "{{ 1" + "**1" * DEEP + " }}",
    "inline ifs": "{{ " + "1 if 1 else " * DEEP + "1 }}",
    "comparisons": "{{ 1" + "<2" * DEEP + " }}",
    "ors": "{{ 0" + " or 0" * DEEP + " }}",
    "ifs": "{% if 1 %}" * DEEP + "{% endif %}" * DEEP,
    "elifs": "{% if 0 %}" + "{% elif 0 %}" * DEEP + "{% endif %}",
    "loops": "{% for a in [1] %}" * 20000 + "{% endfor %}" * 20000,
    "macros": "{% macro m() %}" * 20000 + "{% endmacro %}" * 20000,
    "filter blocks": "{% filter upper %}" * 20000 + "{% endfilter %}" * 20000,
    "many variables": "".join("{%% set a%d = %d %%}" % (i, i) for i in range(30000)),
    "many targets": "{% set " + ",".join(f"a{i}" for i in range(DEEP)) + " = 1 %}",
    "many arguments": "{{ range(" + ",".join(["1"] * DEEP) + ") }}",
    "many parameters": "{% macro m(" + ",".join(f"a{i}" for i in range(DEEP)) + ") %}{% endmacro %}{{ m() }}",
    "a long template": "a" * (1 << 21),
    "a long comment": "{#" + "a" * 900000,
    "zero bytes": "a\0{{ '\0'|length }}{% \0 %}",
    "a byte order mark": "\ufeff{{ 1 }}",
}


# Contexts that are refused, and what of the sentence must be there.
REFUSED = {
    "": "",
    "{": "",
    "[]": "object",
    "{}": "/messages",
    '{"messages": null}': "/messages",
    '{"messages": {}}': "/messages",
    '{"messages": [1]}': "/messages/0",
    '{"messages": [{}, "x"]}': "/messages/1",
    '{"messages": []} x': "",
    '{"messages": [{"content": "\\ud800"}]}': "/messages/0/content",
    '{"messages": [], "a/b": {"x~": [1, tru]}}': "/a~1b/x~0/1",
    '{"messages": [], "deep": ' + "[" * 70 + "]" * 70 + "}": "/deep/0/0/0",
    '{"messages": [], "n": 01}': "/n",
    '{"messages": [], "s": "a\nb"}': "/s",
    '{"messages": [], "n": 1e}': "/n",
    '{"messages": [],}': "",
}


def contexts(program):
    for (text, part), answer in zip(REFUSED.items(), jinja_reference.run(program, [case("x", text) for text in REFUSED])):
        if part not in answer.get("error", "") or "error" not in answer:
            fail(f"context {text[:80]}: {shown(answer)}: must be refused with {part!r}")


def hostile(program):
    """Each ends by itself soon, within the memory that the program has, with a text or an error that says why."""
    import resource

    refused = 0
    for name, template in HOSTILE.items():
        began = time.monotonic()
        answer = jinja_reference.run(program, [case(template, {"messages": []})], 20)[0]
        took = time.monotonic() - began
        if "crash" in answer or "late" in answer or took > 10:
            fail(f"hostile: {name}", shown(answer)[:2000], f"{took:.1f} s")
        elif "error" in answer and not re.search(r"line \d+: \S|bytes|too", answer["error"]):
            fail(f"hostile: {name}: does not say why: {answer['error']}")
        refused += "error" in answer
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"hostile templates: {len(HOSTILE)}, of which {refused} are refused; at most {peak} MiB")


def main():
    args = sys.argv[1:]
    update, only = "--update" in args, "--reference" in args
    program = next((os.path.abspath(a) for a in args if not a.startswith("--")), None)
    if not program and not (update or only):
        print(__doc__, file=sys.stderr)
        return 2
    started = time.process_time()
    jinja2, why = jinja_reference.jinja()
    if not jinja2:
        print(f"skipped: {why}")
        if update or only:
            return 1
    reference = jinja2 and jinja_reference.Reference(jinja2)
    found = small(program, reference, update)
    print(f"small templates: {len(found)}, of which {sum(c.expect == 'error' for c in found)} fail")
    if update:
        return bool(failed)
    if program:
        contexts(program)
        hostile(program)
    if not os.path.isdir(TEMPLATES):
        print(f"skipped: templates of models: no {TEMPLATES}")
    elif reference:
        whole(program, reference)
        forgery(program, reference)
    print(f"{len(failed)} failed, {time.process_time() - started:.1f} s")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
