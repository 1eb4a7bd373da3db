#!/usr/bin/env python3
"""Texts that were drawn under schemas validate: test_schema_texts.py SCHEMA_TEXTS [--count N] [--seed S] [--only own|suite] [--quiet]

Schemas are those of json-schema-org's tests, where ../shared/data or LINNET_DATA has them, and some of the kinds that tools use, made here. Each text is drawn from random logits; the package
jsonschema, with its formats, judges it. At least 90 % of the texts end within 1,000 tokens.
"""
import argparse
import collections
import importlib.metadata
import json
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=5, help="texts of each schema")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["own", "suite"])
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    maker = Maker(args.seed)
    own = [maker.schema(i) for i in range(200)] if args.only != "suite" else []
    theirs = suite() if args.only != "own" else []
    schemas = theirs + own
    run = subprocess.run([args.program, str(args.count), str(args.seed)], input="".join(json.dumps(s) + "\n" for s in schemas).encode(), stdout=subprocess.PIPE, cwd=ROOT, check=True)
    lines = run.stdout.decode().rstrip("\n").split("\n")
    assert len(lines) == len(schemas), (len(lines), len(schemas))
    old = tuple(int(n) for n in importlib.metadata.version("jsonschema").split(".")[:2]) < (4, 20)
    ours = ("date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri")
    known = getattr(jsonschema.Draft202012Validator, "FORMAT_CHECKER", None)  # older ones take "time" for another draft's
    checker = jsonschema.FormatChecker([])
    checker.checkers = {f: c for f, c in (known or jsonschema.FormatChecker()).checkers.items() if f in ours and (known or f not in ("time", "date-time"))}
    n = collections.Counter()
    refused, wrong = collections.Counter(), []
    for i, (schema, line) in enumerate(zip(schemas, lines)):
        whose = "suite" if i < len(theirs) else "own"
        out = json.loads(line)
        if "why" in out:
            n[whose, "refused"] += 1
            refused[whose + ": " + re.sub(r"^it: [^ ]*: ", "", out["why"])] += 1
            continue
        n[whose, "compiled"] += 1
        validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
        for text, ended in zip(out["texts"], out["ended"]):
            n[whose, "texts"] += 1
            n[whose, "ended"] += ended
            if not ended:
                continue
            try:
                value = json.loads(text)
            except ValueError as e:
                wrong.append((schema, text, str(e)))
                continue
            if old and "unevaluated" in json.dumps(schema):  # which do not see what additionalProperties has evaluated
                n[whose, "not judged"] += 1
                continue
            if re.search(r"\\\\[Ws]", json.dumps(schema)):  # ECMA-262's \W and \s go by ASCII and by their own list of spaces, Python's by Unicode
                n[whose, "not judged"] += 1
                continue
            error = next(validator.iter_errors(value), None)
            if error:
                wrong.append((schema, text, error.message))
    for whose in ("suite", "own"):
        if n[whose, "compiled"]:
            print("%s: %d schemas compile, %d are refused; %d texts, %d ended, %d of them not judged" % tuple([whose] + [n[whose, k] for k in ("compiled", "refused", "texts", "ended", "not judged")]))
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
