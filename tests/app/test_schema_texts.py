#!/usr/bin/env python3
"""Texts that were drawn under schemas validate:
test_schema_texts.py SCHEMA_TEXTS [--count N] [--seed S] [--only own|suite] [--quiet] [--judged K] [--jobs J] [--log FILE]

Schemas are those of json-schema-org's tests, where ../shared/data or LINNET_DATA has them, and some of the kinds that tools use, made here. Each text is drawn from random logits; the package
jsonschema, with its formats, judges it. At least 90 % of the texts end within 1,000 tokens, and the others can be ended.

With --judged K jsonschema judges the first K different texts of each schema, and the package jsonschema-rs all of them; those that it does not take are jsonschema's to judge, too.
"""
import argparse
import collections
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema (apt-get install python3-jsonschema, or pip install jsonschema)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = "city country unit date time name title items count price tags filter query limit offset sort email user_id status kind color size start end note path".split()


def suite():
    """-> schemas of json-schema-org's tests"""
    folder = pathlib.Path(os.environ.get("LINNET_DATA", ROOT.parent / "shared/data")) / "vectors/json-schema/draft2020-12"
    if not folder.is_dir():
        print("skipped: no vectors/json-schema under LINNET_DATA or ../shared/data")
    return [case["schema"] for f in sorted(folder.rglob("*.json")) for case in json.loads(f.read_text())]


class Maker:
    """Schemas as people write them for tools."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def scalar(self):
        r = self.r
        low = r.randint(-50, 50)
        return r.choice([
            lambda: {"type": "string"},
            lambda: {"type": "string", "maxLength": r.choice([5, 20, 80, 300])},
            lambda: {"type": "string", "minLength": 1, "maxLength": r.choice([3, 10])},
            lambda: {"type": "string", "format": r.choice(["date", "time", "date-time", "uuid", "email", "ipv4", "ipv6", "uri", "hostname", "duration"])},
            lambda: {"type": "string", "pattern": r.choice(["^[A-Z]{2,3}$", "^\\d{4}-\\d{2}$", "^#[0-9a-f]{6}$", "^(low|mid|high)$", "^\\+?[0-9 ]{6,12}$"])},
            lambda: {"type": "string", "pattern": "^[a-z_]+$", "maxLength": r.randint(1, 20)},
            lambda: {"enum": r.sample(["celsius", "fahrenheit", "kelvin", 1, 2.5, None, True, "a \"quoted\" one"], r.randint(1, 5))},
            lambda: {"const": r.choice(["fixed", 7, None, False])},
            lambda: {"type": "integer"},
            lambda: {"type": "integer", "minimum": low, "maximum": low + r.randint(0, 2000)},
            lambda: {"type": "integer", "minimum": 0, "multipleOf": r.choice([5, 7, 25, 100])},
            lambda: {"type": "number"},
            lambda: {"type": "number", "minimum": low / 8, "maximum": low / 8 + r.choice([0.5, 1, 12.75])},
            lambda: {"type": "number", "exclusiveMinimum": low / 10, "exclusiveMaximum": low / 10 + r.choice([0.25, 3])},
            lambda: {"type": "boolean"},
            lambda: {"type": ["string", "null"], "description": "either"},
            lambda: {"type": r.choice(["integer", "number"]), "exclusiveMinimum": 0},
        ])()

    def array(self, depth):
        r = self.r
        out = {"type": "array"}
        if r.random() < 0.9:
            out["items"] = self.any(depth - 1)
        if r.random() < 0.4:
            out["minItems"] = r.randint(0, 2)
        if r.random() < 0.7:
            out["maxItems"] = out.get("minItems", 0) + r.randint(0, 4)
        if r.random() < 0.15 and "items" in out:
            out = {"type": "array", "prefixItems": [self.scalar(), self.scalar()], "items": False, "minItems": 2}
        return out

    def map(self, depth):
        r = self.r
        out = {"type": "object", "additionalProperties": self.any(depth - 1)}
        if r.random() < 0.3:
            out["propertyNames"] = {"pattern": "^[a-z]{1,8}$"}
        if r.random() < 0.3:
            out["maxProperties"] = r.randint(1, 4)
        if r.random() < 0.3:
            out["minProperties"] = 1
        if r.random() < 0.2:
            out = {"type": "object", "patternProperties": {"^x_[a-z]{1,5}$": self.scalar()}, "additionalProperties": False}
        return out

    def object(self, depth):
        r = self.r
        names = r.sample(WORDS, r.randint(1, 5))
        out = {"type": "object", "properties": {name: self.any(depth - 1) for name in names}, "required": [n for n in names if r.random() < 0.6]}
        if r.random() < 0.5:
            out["additionalProperties"] = r.choice([False, False, True, {"type": "integer"}])
        if r.random() < 0.1:
            out["minProperties"] = 1
        return out

    def mixed(self, depth):
        r = self.r
        base = self.object(depth - 1)
        base.pop("additionalProperties", None)
        other = {"type": "object", "properties": {"extra": self.scalar()}, "required": ["extra"]}
        return r.choice([
            lambda: {"anyOf": [self.any(depth - 1), {"type": "null"}]},
            lambda: {"allOf": [base, other]},
            lambda: dict(base, allOf=[other]),
            lambda: dict(base, anyOf=[{"required": [n]} for n in base["properties"]]),
            lambda: {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"],
                     "oneOf": [{"properties": {"kind": {"const": k}, "value": self.scalar()}, "required": ["kind", "value"]} for k in "ab"]},
            lambda: dict(base, dependentRequired={next(iter(base["properties"])): ["extra"]}),
            lambda: {"allOf": [base], "unevaluatedProperties": False},
            lambda: {"type": "string", "allOf": [{"minLength": 2}, {"maxLength": 6}]},
            lambda: {"type": "array", "contains": {"const": "needle"}, "maxItems": 3},
        ])()

    def any(self, depth):
        if depth <= 0:
            return self.scalar()
        return self.r.choice([self.scalar, self.scalar, lambda: self.array(depth), lambda: self.map(depth), lambda: self.object(depth), lambda: self.mixed(depth)])()

    def schema(self, i):
        if i % 20 == 7:  # a tree
            return {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"value": self.scalar(), "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2}}, "required": ["value"]}}}
        if i % 20 == 13:  # a list
            return {"type": "object", "properties": {"head": self.scalar(), "tail": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["head", "tail"]}
        if i % 20 == 17:
            return {"type": "object", "properties": {"payload": self.r.choice([{}, True, {"type": "object"}, {"type": "array"}])}, "required": ["payload"]}
        return self.object(3) if i % 3 else self.any(3)


FORMATS = ("date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri")  # that linnet knows
OLD = tuple(int(n) for n in importlib.metadata.version("jsonschema").split(".")[:2]) < (4, 20)
OTHER_FORMATS = ("idn-email", "idn-hostname", "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "uri-reference", "uri-template")


def judges(schema, judged):
    """-> jsonschema's validator or None, jsonschema-rs's or None"""
    text = json.dumps(schema)
    known = getattr(jsonschema.Draft202012Validator, "FORMAT_CHECKER", None)  # older ones take "time" for another draft's
    checker = jsonschema.FormatChecker([])
    checker.checkers = {f: c for f, c in (known or jsonschema.FormatChecker()).checkers.items() if f in FORMATS and (known or f not in ("time", "date-time"))}
    slow, fast = jsonschema.Draft202012Validator(schema, format_checker=checker), None
    if OLD and "unevaluated" in text:  # which do not see what additionalProperties has evaluated
        slow = None
    if re.search(r"\\\\[DSWs]", text):  # ECMA-262's digits and letters are ASCII, its white space a list of its own, Python's by Unicode
        slow = None
    if judged is not None:
        import jsonschema_rs

        fast = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats={f: lambda _: True for f in OTHER_FORMATS})
    return slow, fast


drawing = None  # the process of this one that draws


def judge(job):
    """-> the job, what was counted, why the schema is refused or "", texts that are wrong"""
    global drawing
    i, schema, judged, command = job
    n, wrong, why = collections.Counter(), [], ""
    if not drawing:
        drawing = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    drawing.stdin.write(json.dumps(schema).encode() + b"\n")
    drawing.stdin.flush()
    slow, fast = None, None
    while True:
        line = drawing.stdout.readline()
        if not line:
            raise RuntimeError("%s ends with %d under %s" % (drawing.args[0], drawing.wait(), json.dumps(schema)))
        if line == b".\n":
            break
        if line.startswith(b"- "):
            why = line[2:].decode().strip()
            n["refused"] = 1
            continue
        if not n["texts"]:
            slow, fast = judges(schema, judged)
        times, ended, text = line.rstrip(b"\n").split(b" ", 2)
        times = int(times)
        n["texts"] += times
        n["different"] += 1
        n["ended"] += times * int(ended)
        error = None
        try:
            text = text.decode()
            value = json.loads(text)
        except ValueError as e:
            wrong.append((text if isinstance(text, str) else repr(text), str(e)))
            continue
        fine = None
        if fast:
            try:
                fine = fast.is_valid(value)
            except ValueError as e:  # numbers beyond what it holds
                n["beyond jsonschema-rs"] += 1
            n["by jsonschema-rs"] += fine is not None
        if fine and n["by jsonschema"] >= judged:
            continue
        if slow:
            n["by jsonschema"] += 1
            error = next(slow.iter_errors(value), None)
            if fine is not None and fine != (error is None):
                n["judged otherwise by jsonschema-rs"] += 1
                if n["judged otherwise by jsonschema-rs"] < 4:
                    print("jsonschema-rs says %s, jsonschema %s: %s\n  under %s" % (fine, error.message[:200] if error else True, text[:300], json.dumps(schema)[:400]), flush=True)
            if error:
                wrong.append((text, error.message))
        elif fine is None:
            n["not judged"] += times
        elif not fine:
            wrong.append((text, "jsonschema-rs: " + next(fast.iter_errors(value)).message))
    n["compiled"] = not why
    return job, n, why, wrong[:20]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=5, help="texts of each schema")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["own", "suite"])
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--judged", type=int, help="different texts of each schema that jsonschema judges, beside jsonschema-rs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log", type=pathlib.Path, help="counts of each schema")
    args = parser.parse_args()
    maker = Maker(args.seed)
    own = [maker.schema(i) for i in range(200)] if args.only != "suite" else []
    theirs = suite() if args.only != "own" else []
    n = collections.Counter()
    refused, wrong = collections.Counter(), []
    with multiprocessing.Pool(args.jobs) as pool:
        command = [args.program, str(args.count), str(args.seed)]
        for (i, schema, *_), counts, why, faults in pool.imap_unordered(judge, [(i, s, args.judged, command) for i, s in enumerate(theirs + own)]):
            whose = "suite" if i < len(theirs) else "own"
            for what, k in counts.items():
                n[whose, what] += k
            if why:
                refused[whose + ": " + re.sub(r"^it: [^ ]*: ", "", why)] += 1
            wrong += [(schema, text, error) for text, error in faults]
            if args.log:
                with args.log.open("a") as log:
                    log.write(json.dumps([i, schema, counts, why, faults]) + "\n")
    for whose in ("suite", "own"):
        if n[whose, "compiled"]:
            print("%s: %d schemas compile, %d are refused; %d texts, %d ended, %d not judged" % tuple([whose] + [n[whose, k] for k in ("compiled", "refused", "texts", "ended", "not judged")]))
            print("  %d different lines; %d judged by jsonschema, %d by jsonschema-rs, %d of them otherwise, %d beyond it"
                  % tuple(n[whose, k] for k in ("different", "by jsonschema", "by jsonschema-rs", "judged otherwise by jsonschema-rs", "beyond jsonschema-rs")))
    if not args.quiet:
        for why, k in sorted(refused.items()):
            if why.startswith("own"):
                print("  refused:", why, k)
    for schema, text, why in wrong[:20]:
        print("wrong: %s\n  under %s\n  %s" % (text[:300], json.dumps(schema)[:400], why[:200]))
    texts, ended = sum(n[w, "texts"] for w in ("suite", "own")), sum(n[w, "ended"] for w in ("suite", "own"))
    if not wrong:
        print("all texts validate")
    ok = not wrong and ended >= 0.9 * texts and (not own or n["own", "compiled"] >= 180) and (not theirs or n["suite", "compiled"] >= 250)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
