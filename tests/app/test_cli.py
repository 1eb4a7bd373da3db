#!/usr/bin/env python3
"""The command line as scripts and people see it: test_cli.py LINNET. Standard library only.

Runs on a tiny random model (tiny_model.py); what needs the published model under $LINNET_DATA or ../shared/data is skipped without it.
"""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import tiny_model

LINNET = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "linnet"
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("LINNET_DATA") or ROOT.parent / "shared" / "data")
SLOW = "LINNET_TEST_SLOW" in os.environ  # with sanitizers
COMMANDS = ["pull", "convert", "run", "chat", "tokenize", "detokenize", "embed", "logits", "eval", "bench", "plan", "inspect", "devices", "doctor", "manual", "completion", "cache"]


def linnet(*args, stdin=None, code=0):
    """Runs the tool and checks its exit code; an error must leave a sentence on stderr and nothing of a traceback."""
    done = subprocess.run([LINNET, *map(str, args)], input=stdin, capture_output=True, timeout=300)
    out, err = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, f"{args}: exit code {done.returncode}, not {code}\n{err}\n{out[:500]}"
    if code:
        assert err.startswith("linnet"), f"{args}: no sentence on stderr: {err!r}"
    return out if code == 0 else err


def linnet_json(*args, **more):
    return json.loads(linnet(*args, "--json", **more))


def read_npy(path):
    raw = pathlib.Path(path).read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00" and (10 + struct.unpack("<H", raw[8:10])[0]) % 64 == 0
    start = 10 + struct.unpack("<H", raw[8:10])[0]
    head = eval(raw[10:start], {})  # noqa: S307 - the header is a Python literal that the tool has just written
    assert head["descr"] == "<f4" and not head["fortran_order"]
    rows, columns = head["shape"]
    values = struct.unpack(f"<{rows * columns}f", raw[start:])
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


class Tiny(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-"))
        cls.folder = tiny_model.make(cls.dir / "tiny")
        cls.packed = cls.dir / "tiny.gguf"
        cls.converted = linnet_json("convert", cls.folder, "-o", cls.packed)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    # ---- help and usage -------------------------------------------------------------------------------------------------

    def test_help(self):
        overview = linnet("--help")
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", overview)
            text = linnet(command, "--help")
            self.assertTrue(text.startswith(f"usage: linnet {command}"), text)
            self.assertIn("--json", text)
            self.assertIn(f"example: linnet {command}", text)
            self.assertLess(max(map(len, text.split("\n"))), 200)
        self.assertIn("0.2.0", linnet("--version"))

    def test_other_programs(self):
        """linnet assistant and linnet serve run the program beside the tool, else the one in PATH, with all arguments; without either they say so."""
        for command, program in (("assistant", "linnet-assistant"), ("serve", "linnet-server")):
            self.assertIn(f"\n  {command} ", linnet("--help"))
            bare = self.dir / f"bare-{command}"
            bare.mkdir()
            tool = shutil.copy(LINNET, bare / "linnet")

            def run(*args, path):
                return subprocess.run([tool, command, *args], capture_output=True, text=True, env={**os.environ, "PATH": str(path)}, timeout=60)
            done = run("--text", "hello", path=self.dir / "nowhere")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertTrue(done.stderr.startswith(f"linnet: {command}: there is no {program}, neither as {bare}"), done.stderr)
            for folder, code in ((self.dir / f"path-{command}", 3), (bare, 5)):
                folder.mkdir(exist_ok=True)
                fake = folder / program
                fake.write_text(f'#!/bin/sh\nfor a in "$@"; do echo "<$a>"; done\nexit {code}\n')
                fake.chmod(0o755)
                done = run("--text", "two words", "", "--help", path=self.dir / f"path-{command}")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "<--text>\n<two words>\n<>\n<--help>\n", ""))
            fake.chmod(0o644)
            done = run(path=self.dir / f"path-{command}")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Permission denied", done.stderr)

    def test_usage_errors(self):
        for args, word in [
            ((), "usage"), (("fly",), "fly"), (("run",), "--model"), (("run", "--tmep", "0"), "--tmep"),
            (("run", "-m", "x", "-n", "abc"), "abc"), (("run", "-m", "x", "-n", "0"), "0"), (("run", "-m", "x", "-n", "12x"), "12x"),
            (("run", "-m", "x", "-n", "-5"), "-5"), (("run", "-m", "x", "-n", "99999999999999999999"), "99999999999999999999"),
            (("run", "-m", "x", "--temp", "warm"), "warm"), (("run", "-m", "x", "--temp", "nan"), "nan"), (("run", "-m", "x", "--top-p", "1.5"), "1.5"),
            (("run", "-m", "x", "--tokens", "1,,2"), "1,,2"), (("run", "-m", "x", "--tokens", "1,-2"), "1,-2"),
            (("run", "-m", "x", "--isa", "sse9"), "sse9"), (("run", "-m", "x", "--kv", "i3"), "i3"), (("run", "-m", "x", "--ignore-eos=1"), "--ignore-eos"),
            (("run", "-m"), "-m"), (("run", "-m", "x", "a", "stray"), "stray"), (("run", "-m", "x", "a", "-p", "b"), "PROMPT"), (("run", "-m", "x", "a", "--tokens", "1"), "PROMPT"), (("run", "-m", "x", "--threads", "0"), "0"),
            (("run", "-m", "x", "-p", "a", "--tokens", "1"), "--tokens"), (("run", "-m", "x", "-p", "a", "--stop", ""), "stop"),
            (("convert", "x"), "--out"), (("convert", "-o", "y"), "SRC"), (("convert", "x", "-o", "y", "--layout", "tall"), "tall"),
            (("convert", "x", "-o", "y", "--layout", "plain", "--weights", "i8"), "plain"), (("detokenize", "-m", "x", "1,a"), "1,a"),
            (("detokenize", "-m", "x", "[1,2"), "[1,2"), (("run", "-m", "x", "--tokens", "[]"), "[]"), (("inspect", "x", "-m", "y"), "give M"), (("logits", "-m", "x", "-o", "y"), "--tokens"), (("eval", "-m", "x"), "TEXTFILE"),
            (("bench",), "--synthetic"), (("bench", "--synthetic", "stories15m", "-m", "y"), "either"), (("bench", "--synthetic", "x"), "stories15m"), (("bench", "-m", "x", "--weights", "i8,i3"), "i8,i3"), (("bench", "-m", "x", "--depth", "0;1"), "0;1"),
            (("inspect",), "M"), (("tokenize", "-m", "x", "a", "b"), "b"), (("devices", "--check"), "--check"),
            (("embed", "-m", "x", "-f", "y", "z"), "TEXT"), (("embed", "-m", "x", "--pooling", "max", "z"), "mean, last"), (("embed", "-m", "x", "--rerank", "q", "--pooling", "mean", "z"), "--rerank"),
            (("embed", "-m", "x", "--instruction", "q", "z"), "--rerank"), (("embed", "-m", "x", "--dimensions", "0", "z"), "0"), (("completion",), "SHELL"), (("completion", "tcsh"), "tcsh"),
            (("run", "-m", "x", "--weights", "kivi4"), "kivi4"), (("run", "-m", "x", "--kv", "i8/i4g128"), "i4g128"), (("run", "-m", "x", "--when-full", "wait"), "snapkv"),
        ]:
            with self.subTest(args=args):
                if args:
                    self.assertIn(word, linnet(*args, code=2))
                else:
                    self.assertEqual(subprocess.run([LINNET], capture_output=True).returncode, 2)

    def test_bad_input(self):
        junk, empty, cut = self.dir / "junk.gguf", self.dir / "empty.gguf", self.dir / "cut.gguf"
        junk.write_bytes(b"not a model at all, not at all")
        empty.write_bytes(b"")
        cut.write_bytes(self.packed.read_bytes()[:5000])
        for args, word in [
            (("run", "-m", self.dir / "absent", "-p", "x"), "absent"), (("run", "-m", junk, "-p", "x"), "junk.gguf"),
            (("run", "-m", empty, "-p", "x"), "empty"), (("run", "-m", cut, "-p", "x"), "cut.gguf"), (("inspect", junk), "junk.gguf"),
            (("run", "-m", "synthetic:no-such-shape", "-p", "x"), "no-such-shape"), (("run", "-m", self.packed, "-p", ""), None),
            (("run", "-m", self.packed, "--tokens", "1,259"), "259"),
            (("run", "-m", self.packed, "-p", "x" * 50, "--context", "10"), "context"), (("run", "-m", self.packed, "-p", "x", "--profile", junk), "junk.gguf:1:"),
            (("convert", self.dir / "absent", "-o", self.dir / "o.gguf"), "absent"), (("convert", self.folder, "-o", self.dir / "no" / "o.gguf"), "no"),
            (("logits", "-m", self.packed, "--tokens", "1", "-o", self.dir / "no" / "l.npy"), "l.npy"), (("eval", "-m", self.packed, self.dir / "absent"), "absent"),
            (("detokenize", "-m", self.packed, "1,400"), "400"), (("tokenize", "-m", junk, "x"), "junk.gguf"),
        ]:
            with self.subTest(args=args):
                if word is None:
                    continue  # an empty prompt is <s> here, and fine
                self.assertIn(word, linnet(*args, code=1))
        self.assertEqual(linnet_json("run", "-m", self.packed, "-p", "", "-n", 1, "--temp", 0, "--ignore-eos")["prompt_tokens"], 1)
        self.assertFalse((self.dir / "o.gguf").exists())

    def test_numbers(self):
        """On the command line a number is what it says: whole ones to the last digit, 0 as 0, and nothing that only looks like one."""
        for option, bad in {"--seed": ["18446744073709551616", "-2", "-01", "-0", "+1", "1_000", "0x10", "1e3", "1.0", "", " 1", "nan"], "--top-k": ["4294967296", "-1", "2.5"],
                            "--threads": ["0", "257", "-0"], "--context": ["0", "16777217"], "--chunk": ["0", "4097"], "-n": ["0", "-0", "-2"], "--repeat-last-n": ["-1", "1025"],
                            "--keep": ["-1", "16777217"], "--temp": ["-1", "nan", "inf", "-inf", "1e400", "101", "0x1", "+1", "1_0", ""], "--top-p": ["-0.1", "1.1", "nan", "1e400"],
                            "--min-p": ["-1", "2", "nan"], "--repeat-penalty": ["0", "-0", "1e-50", "-1", "1e400", "nan"], "--presence-penalty": ["-101", "1e400", "nan"],
                            "--frequency-penalty": ["101", "nan"]}.items():
            for value in bad:
                with self.subTest(option=option, value=value):
                    text = linnet("run", "-m", self.packed, "-p", "x", f"{option}={value}" if option[1] == "-" else option, *([] if option[1] == "-" else [value]), code=2)
                    self.assertRegex(text, f"option '[^']*{option}[^']*' takes (-1 or )?a .*number from [0-9.-]+ to [0-9.]+, not '{re.escape(value)}'\n")
        self.assertIn("from 0 to 18446744073709551615,", linnet("run", "-m", "x", "--seed", "x", code=2))
        hot = ("run", "-m", self.packed, "-p", "Hello", "-n", 12, "--ignore-eos", "--temp", 100, "--top-k", 0, "--min-p", 0)
        likeliest = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 12, "--ignore-eos", "--temp", 0)["tokens"]
        for p in ("0", "-0", "1e-50", "0.0000001"):  # the smallest set is the likeliest token; 0 is not "all"
            self.assertEqual(linnet_json(*hot, "--seed", 7, f"--top-p={p}")["tokens"], likeliest, p)
        self.assertNotEqual(linnet_json(*hot, "--seed", 7, "--top-p", 1)["tokens"], likeliest)
        self.assertEqual(linnet_json(*hot, "--seed", 7, "--temp=-0")["tokens"], likeliest)
        seen = (*hot[:-6], "--temp", 0, "--repeat-penalty", 0.01)
        self.assertEqual(linnet_json(*seen, "--repeat-last-n", 0)["tokens"], likeliest)  # nothing is looked back on
        self.assertNotEqual(linnet_json(*seen)["tokens"], likeliest)
        seeds = [2**64 - 1, 2**64 - 2, 2**53, 2**53 + 1]  # doubles know two of them
        runs = [linnet_json(*hot, "--top-p", 1, "--seed", s) for s in seeds]
        self.assertEqual([r["seed"] for r in runs], seeds)
        self.assertEqual(len({tuple(r["tokens"]) for r in runs}), 4)
        for how in ("sinks", "heavy-hitters", "snapkv"):  # 0 would be the library's default
            self.assertIn("'--keep' takes a number above 0", linnet("run", "-m", self.packed, "-p", "x", "--when-full", how, "--keep", 0, code=1))
        profile = self.dir / "keep.yaml"
        profile.write_text("when_full: sinks\nkeep: 2\ncontext: 64\n")
        self.assertIn("above 0", linnet("run", "-m", self.packed, "-p", "x", "--profile", profile, "--keep", 0, code=1))
        self.assertIn("n_keep is 17", linnet("run", "-m", self.packed, "-p", "x", "--profile", profile, "--keep", 17, code=1))  # it is still sinks that are kept
        profile.write_text("when_full: drop-oldest\nkeep: 16\ncontext: 24\nchunk: 8\n")
        full = ("run", "-m", self.packed, "-p", "x", "-n", 60, "--ignore-eos", "--temp", 0)
        none = linnet_json(*full, "--when-full", "drop-oldest", "--context", 24, "--chunk", 8)["tokens"]
        self.assertNotEqual(linnet_json(*full, "--profile", profile)["tokens"], none)
        for more in (("--keep", 0), ("--when-full", "drop-oldest")):  # 0 is none, whatever the profile says; and its number is of its own way
            self.assertEqual(linnet_json(*full, "--profile", profile, *more)["tokens"], none)
        self.assertEqual(len(linnet_json(*full, "--keep", 0, "--context", 80)["tokens"]), 60)  # beside stop it says nothing
        shapes = [linnet_json("inspect", self.packed)["spec"][k] for k in ("n_layers", "n_vocab", "head_dim")]
        self.assertTrue(all(isinstance(v, int) for v in shapes), shapes)

    def test_enum_as_written(self):
        """Numbers of enum and const keep their characters."""
        schema = self.dir / "enum.json"
        for number in ("123456789012345678901234567890", "-98765432109876543210", "1E2", "-0", "1.50", "0.1e-7", "9007199254740993"):
            schema.write_text(f'{{"enum":[{number}]}}')
            self.assertEqual(linnet_json("run", "-m", self.packed, "-p", "x", "--raw", "-n", 60, "--temp", 1, "--seed", 3, "--schema", schema)["text"], number)

    def test_errors_name_the_file(self):
        """Whatever is wrong with a file, the message begins with its path as it was given, once."""
        raw = self.packed.read_bytes()
        damaged = {"key": raw.replace(b"linnet.spec.d_ff", b"linnet.spec.d_fx"), "table": raw.replace(b"LNTK", b"LNTX"), "tensor": raw.replace(b"linnet.blk.0.ffn_gate.weight", b"linnet.blk.0.ffn_gaxe.weight"),
                   "cut": raw[:len(raw) // 2], "head": raw[:40], "magic": b"GGUX" + raw[4:]}
        here = os.getcwd()
        try:
            os.chdir(self.dir)
            for name, data in damaged.items():
                self.assertNotEqual(data, raw, name)
                path = f"./bad-{name}.gguf"
                pathlib.Path(path).write_bytes(data)
                commands = [("run", "-p", "x", "-m"), ("plan", "-m"), ("bench", "-m"), ("chat", "-p", "x", "-m"), ("eval", path, "-m"), ("logits", "--tokens", "1", "-o", "l.npy", "-m")]
                commands += [("tokenize", "x", "-m")] * (name not in ("key", "tensor")) + [("inspect",)] * (name in ("cut", "head", "magic"))
                for command in commands:
                    text = linnet(*command, path, code=1)
                    self.assertTrue(text.startswith(f"linnet {command[0]}: {path}: "), text)
                    self.assertEqual((text.count(path), text.count("model file")), (1, 0), text)
            # As text that was cut inside a length: no count is made up.
            at = raw.index(b"general.architecture") + len(b"general.architecture") + 4
            pathlib.Path("bad-length.gguf").write_bytes(raw[:at + 3])
            self.assertIn("the file ends inside", linnet("inspect", "bad-length.gguf", code=1))
            config = json.loads((self.folder / "config.json").read_text())
            folders = {"syntax": ("config.json", "{"), "range": ("config.json", json.dumps({**config, "vocab_size": -3})), "kind": ("config.json", json.dumps({**config, "model_type": "walrus", "architectures": ["Walrus"]})),
                       "tokens": ("tokenizer.json", '{"model": 7}'), "weights": ("model.safetensors", "x")}
            for name, (file, text) in folders.items():
                folder = f"folder-{name}"
                shutil.copytree(self.folder, folder)
                pathlib.Path(folder, file).write_text(text)
                for command in (("run", "-p", "x", "-m"), ("inspect",), ("convert", "-o", "o.gguf"), ("plan", "-m"), ("inspect", "--cost")):
                    message = linnet(*command, folder, code=1)
                    self.assertTrue(message.startswith(f"linnet {command[0]}: {folder}/{file}: "), message)
                    self.assertEqual(message.count(folder), 1, message)
                if name == "range":
                    self.assertIn("an integer from 1 to 4194304", message)
            os.remove("folder-syntax/config.json")
            self.assertIn("folder-syntax: holds no config.json", linnet("inspect", "folder-syntax", code=1))
            deep = pathlib.Path("d" * 200)
            deep.mkdir()
            (deep / "bad.gguf").write_bytes(damaged["magic"])
            self.assertRegex(linnet("inspect", deep / "bad.gguf", code=1), "bad.gguf: .* does not begin with")  # the reason is not cut off
        finally:
            os.chdir(here)

    def test_terminal(self):
        """Nothing of a file reaches a terminal that it would obey: control characters, overrides of the writing direction, bytes that are no UTF-8."""
        evil = "a\x1b[31m\x7f\u009b2J\u202egnp\u2066\nb"
        shown = r"a\x1b[31m\x7f\u009b2J\u202egnp\u2066\x0ab"
        folder = self.dir / evil
        shutil.copytree(self.folder, folder)
        named = self.dir / "named.gguf"  # its general.name is the folder's

        def clean(*args, **more):
            done = subprocess.run([LINNET, *map(str, args)], capture_output=True, timeout=120, **more)
            out = (done.stdout + done.stderr).decode("utf-8")
            self.assertNotRegex(out, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", args)
            return out
        clean("convert", folder, "-o", named)
        for args in (("inspect", named), ("inspect", folder), ("inspect", named, "--json"), ("inspect", folder / "absent"), ("run", "-m", folder / "absent", "-p", "x"), ("convert", folder, "-o", folder),
                     ("run", f"--{evil}"), (evil,), ("run", "-m", "x", "--temp", evil), ("devices", "--check", evil), ("convert", folder, "-o", self.dir / f"{evil}.gguf")):
            out = clean(*args)
            self.assertIn(shown.replace("\\x", "\\u00").replace("\\u000a", "\\n") if "--json" in args else shown, out, args)
        self.assertEqual(linnet_json("inspect", named)["name"], evil)  # lossless
        self.assertIn(r"\xff\xfe", clean("inspect", os.fsencode(self.dir) + b"/\xff\xfe"))
        (folder / "config.json").write_text(json.dumps({**json.loads((folder / "config.json").read_text()), evil: 1}))
        self.assertIn(r"key 'a\x1b[31m", clean("inspect", folder))
        profile = self.dir / "evil.yaml"
        profile.write_text('name: "a\\x1b[31m\\u202e"\nmatch:\n  model: "\\x1b]0;x"\n')
        self.assertIn(r"\x1b]0;x", clean("devices", "--check", profile))
        board = self.dir / "board"
        (board / "proc/device-tree").mkdir(parents=True)
        (board / "proc/device-tree/model").write_bytes(evil.encode() + b"\0")
        (board / "proc/cpuinfo").write_text(f"processor\t: 0\nmodel name\t: {evil.split(chr(10))[0]}\n")
        for command in ("devices", "doctor"):
            clean(command, env={**os.environ, "LINNET_SYSROOT": str(board)})
        messages = json.dumps([{"role": evil, "content": "x"}])
        clean("chat", "-m", self.packed, "--json", input=messages.encode())

    @unittest.skipIf(SLOW, "sanitizers reserve more addresses than there are")
    def test_little_memory(self):
        """With too little memory the tool says so and ends with 1: no signal, no silence, no file left behind."""
        place = self.dir / "little"
        place.mkdir()
        out, logits, text = place / "o.gguf", place / "l.npy", self.dir / "text.bin"
        text.write_bytes(b"so many words " * 400000)
        commands = [(("convert", self.folder, "-o", out), None), (("run", "-m", self.folder, "-p", "Hello", "-n", 4, "--threads", 1), None), (("tokenize", "-m", self.packed), text),
                    (("logits", "-m", self.packed, "--tokens", ",".join(["5"] * 600), "-o", logits, "--threads", 1), None), (("chat", "--json", "-m", self.packed, "--threads", 1), text),
                    (("plan", "-m", "synthetic:tinyllama-1.1b"), None), (("inspect", self.packed), None), (("eval", "-m", self.packed, text, "--threads", 1), text)]
        ends = set()
        image = os.path.getsize(LINNET) // 1024  # below that the system ends it before it begins
        for args, stdin in commands:
            for more in (6000, 8000, 10000, 13000, 19000, 37000):
                kib = image + more
                if args[0] in ("eval", "chat") and more == 37000:
                    continue  # would go on for long
                with open(stdin or os.devnull, "rb") as source:
                    done = subprocess.run(["sh", "-c", f'ulimit -v {kib}; exec "$0" "$@"', LINNET, *map(str, args)], stdin=source, capture_output=True, timeout=120)
                with self.subTest(args=args, kib=kib, err=done.stderr[-300:]):
                    self.assertIn(done.returncode, (0, 1, 127))  # 127: not even its libraries have room
                    self.assertTrue(done.returncode == 0 or done.stderr)
                    if done.returncode == 1:
                        self.assertRegex(done.stderr, b"^(linnet[ :]|\\nlibgomp: )")  # that is a part of the tool, and begins before it
                    self.assertEqual([p.name for p in place.iterdir() if done.returncode], [])
                    ends.add((args[0], done.returncode))
                for p in place.iterdir():
                    p.unlink()
        self.assertGreaterEqual(len([e for e in ends if e[1] == 1]), 5, ends)
        self.assertGreaterEqual(len([e for e in ends if e[1] == 0]), 4, ends)

    @unittest.skipUnless(pathlib.Path("/dev/full").is_char_device(), "no /dev/full")
    def test_full_disk(self):
        for args in (("tokenize", "-m", self.packed, "x"), ("run", "-m", self.packed, "-p", "x", "-n", "4", "--temp", "0"), ("devices", "--json")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([LINNET, *map(str, args)], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn(b"output", done.stderr)
        node = self.dir / "full"  # of its own, so that nothing can happen to the system's
        try:
            os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            node.open("wb").close()
        except PermissionError:
            print("skipped: a full device as an output: device nodes cannot be made here")
            return
        self.assertIn("no space left", linnet("logits", "-m", self.packed, "--tokens", "1,2,3", "-o", node, code=1))
        self.assertTrue(node.is_char_device())

    # ---- tokens ----------------------------------------------------------------------------------------------------------------

    def ids(self, text, bos=True):
        return [1] * bos + [tiny_model.BYTE_ID[b] for b in text.encode()]

    def test_tokenize(self):
        for model in (self.packed, self.folder):
            self.assertEqual(json.loads(linnet("tokenize", "-m", model, "Hi, Jürgen")), self.ids("Hi, Jürgen"))
        self.assertEqual(json.loads(linnet("tokenize", "-m", self.packed, "--no-add-special", "a b")), self.ids("a b", bos=False))
        self.assertEqual(json.loads(linnet("tokenize", "-m", self.packed, "--json", "--", "-dash")), self.ids("-dash"))
        self.assertEqual(json.loads(linnet("tokenize", "-m", self.packed, "a</s>b")), self.ids("a") + [2] + self.ids("b", bos=False))
        self.assertEqual(json.loads(linnet("tokenize", "-m", self.packed, "--no-parse-special", "a</s>b")), self.ids("a</s>b"))
        self.assertEqual(json.loads(linnet("tokenize", "-m", self.packed, stdin=b"from\nstdin\n")), self.ids("from\nstdin\n"))
        only = self.dir / "only-tokenizer"
        only.mkdir()
        shutil.copy(self.folder / "tokenizer.json", only)
        self.assertEqual(json.loads(linnet("tokenize", "-m", only, "x")), self.ids("x"))

    def test_tokenize_styles(self):
        for folder in sorted((ROOT / "tests" / "golden" / "tokenizers").glob("*/")):
            if not folder.is_dir():
                continue
            cases = [json.loads(line) for line in (folder / "vectors.jsonl").read_text(encoding="utf-8").split("\n") if line]
            plain = () if (folder / "tokenizer.json").exists() else ("--no-parse-special",)
            out = linnet("tokenize", "-m", folder, "--lines", *plain, stdin="\n".join(json.dumps(c["text"]) for c in cases).encode())
            self.assertEqual([json.loads(line) for line in out.split("\n") if line], [c.get("ids", c["ids_plain"]) for c in cases], folder.name)
            case = next(c for c in cases if len(c["ids_plain"]) > 9 and c.get("decoded", c["text"]).isascii())
            text = linnet("detokenize", "-m", folder, ",".join(map(str, case["ids_plain"])))
            self.assertEqual(text.rstrip("\n"), case.get("decoded", case["text"]).rstrip("\n"), folder.name)

    def test_tokenize_lines(self):
        texts = ["plain", "", "tab\tquote\"back\\slash\nline", "\u20ac \U0001F600 \u0000 end", "</s>"]
        lines = [json.dumps(t) for t in texts] + ['"\\ud83d\\ude00\\u00e9\\/"', ' "blanks around" ', json.dumps("raw \u20ac", ensure_ascii=False)]
        want = [json.loads(line) for line in lines]
        out = linnet("tokenize", "-m", self.packed, "--lines", "--no-add-special", "--no-parse-special", stdin="\n".join(lines).encode())
        self.assertEqual([json.loads(line) for line in out.strip().split("\n")], [self.ids(t, bos=False) for t in want])
        for bad in [b"bare", b'"open', b'"a" b', b'"\\x"', b'"\\ud83d"', b'"\\ude00"', b'"\xff"', b'"\x01"', b"[1]", b"", b'"\\u12g4"']:
            with self.subTest(bad=bad):
                err = linnet("tokenize", "-m", self.packed, "--lines", stdin=b'"good"\n' + bad + b"\n", code=1)
                self.assertIn("line 2", err)

    def test_detokenize(self):
        text = "Zoë \U0001F600\n"
        ids = ",".join(map(str, self.ids(text, bos=False)))
        self.assertEqual(linnet("detokenize", "-m", self.packed, ids), text + "\n")
        self.assertEqual(linnet_json("detokenize", "-m", self.packed, ids)["text"], text)
        half = str(tiny_model.BYTE_ID[0xE2])  # a part of a character is no UTF-8; JSON must stay valid
        self.assertEqual(linnet_json("detokenize", "-m", self.packed, half)["text"], "\ufffd")

    # ---- models ------------------------------------------------------------------------------------------------------------------

    def test_convert_and_inspect(self):
        self.assertEqual(self.converted["bytes"], self.packed.stat().st_size)
        self.assertEqual((self.converted["weights"], self.converted["layout"]), ("i8g32", "packed"))
        plain = self.dir / "plain.gguf"
        linnet("convert", self.folder, "-o", plain, "--layout", "plain")
        kinds = {self.packed: "packed GGUF", plain: "GGUF", self.folder: "Hugging Face folder"}
        config = json.loads((self.folder / "config.json").read_text())
        for path, kind in kinds.items():
            info = linnet_json("inspect", path)
            self.assertEqual(info["kind"], kind)
            self.assertEqual(info["spec"]["n_layers"], config["num_hidden_layers"])
            self.assertEqual(info["spec"]["n_vocab"], config["vocab_size"])
            self.assertEqual(info["tensor_bytes"], sum(t["bytes"] for t in info["tensors"]))
            self.assertGreater(len(info["tensors"]), 10)
            self.assertIn(kind, linnet("inspect", path))
        packed = {t["name"]: t for t in linnet_json("inspect", self.packed)["tensors"]}
        self.assertEqual(packed["blk.0.ffn_gate.weight"]["format"], "i8g32")
        self.assertEqual(packed["blk.0.ffn_gate.weight"]["shape"], [config["intermediate_size"], config["hidden_size"]])
        self.assertEqual([p.name for p in self.dir.glob("*.tmp*")], [])
        # What a source is packed as, and what that does to its weights.
        said = [t for t in linnet_json("inspect", self.folder)["tensors"] if len(t["shape"]) == 2]
        self.assertTrue(all(t["packed"] == "i8g32" and 8.4 < t["bits"] < 12 and 0.001 < t["error"] < 0.02 for t in said), said)
        self.assertGreater(9.2, packed["blk.0.ffn_gate.weight"]["bits"])
        self.assertRegex(linnet("inspect", self.folder), r"packed as i8g32: [0-9.]+ bits, RMS error 0\.\d+ %")
        # The same text from the folder, from its plain GGUF, from a packed float file and from that as a plain one.
        packed32, back = self.dir / "f32.gguf", self.dir / "back.gguf"
        linnet("convert", plain, "-o", packed32, "--weights", "f32")
        linnet("convert", packed32, "-o", back, "--layout", "plain")
        runs = [linnet_json("run", "-m", m, "-p", "Hello", "-n", 8, "--temp", 0, "--weights", "f32", "--kv", "f32", "--ignore-eos")["tokens"]
                for m in (self.folder, plain, packed32, back)]
        self.assertEqual(runs, runs[:1] * 4)
        # Out of a packed file come the vocabulary and the templates that went in.
        linnet("convert", self.packed, "-o", back, "--layout", "plain")
        data = sum(-t["bytes"] // 32 * -32 for t in linnet_json("inspect", plain)["tensors"])
        self.assertEqual(back.read_bytes()[:-data], plain.read_bytes()[:-data])
        self.assertGreater(len(back.read_bytes()[:-data]), 4000)
        eight = self.dir / "q8_0.gguf"
        self.assertEqual(linnet_json("convert", self.folder, "-o", eight, "--layout", "plain", "--weights", "q8_0")["weights"], "q8_0")
        said = [t for t in linnet_json("inspect", eight)["tensors"] if t["format"] == "Q8_0"]
        self.assertTrue(said and all((t["packed"], t["error"]) == ("i8g32", 0) for t in said), said)
        self.assertIn("bits, as it is", linnet("inspect", eight))
        self.assertIn("q8_0, q4_0, q4_k", linnet("convert", self.folder, "-o", eight, "--layout", "plain", "--weights", "i8g128", code=2))

    def test_what_convert_says(self):
        out = self.dir / "says.gguf"
        self.assertLess(0, self.converted["weight_error"])
        self.assertLess(self.converted["weight_error"], self.converted["worst_error"])
        self.assertIn(self.converted["worst_tensor"], linnet("convert", self.folder, "-o", out))
        out.unlink()
        err = linnet("convert", self.folder, "-o", out, "--max-error", 0.1, code=1)  # 8 bits round by more
        self.assertRegex(err, r"tensor '[^']+': i8g32 changes its weights by [0-9.]+ % \(RMS\), more than 0.1 %")
        self.assertFalse(out.exists())
        self.assertIn("by default 50 in 4 bits, else 10", linnet("convert", "--help"))
        # An added token that the model has no row for is left out, and said so by whoever reads the folder.
        folder = self.dir / "token-beyond"
        shutil.copytree(self.folder, folder)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        rows = json.loads((folder / "config.json").read_text())["vocab_size"]
        tokenizer["added_tokens"].append({"id": rows, "content": "<image>", "special": True})
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        for args in (["convert", folder, "-o", out], ["run", "-m", folder, "-p", "a<image>", "-n", 1]):
            done = subprocess.run([LINNET, *map(str, args)], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"note: tokenizer.json: added token '<image>' has the id {rows}, the model has {rows} rows: left out", done.stderr)
        tokenizer["added_tokens"].pop()
        tokenizer["model"]["vocab"]["<image>"] = rows
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        self.assertIn("tokens, the model only", linnet("convert", folder, "-o", out, code=1))

    def test_synthetic(self):
        out = self.dir / "synthetic.gguf"
        err = linnet("convert", "--synthetic", "no-such-shape", "-o", out, code=2)
        self.assertIn("no-such-shape", err)
        self.assertFalse(out.exists())

    def test_plan(self):
        plan = linnet_json("plan", "-m", self.packed, "--context", 100)
        self.assertEqual(plan["total"], sum(plan["purposes"].values()))
        self.assertGreater(plan["purposes"]["weights"], 0)
        self.assertTrue(plan["weights_mapped"])
        self.assertEqual(plan["arena_bytes"], plan["total"] - plan["purposes"]["weights"])
        more = linnet_json("plan", "-m", self.packed, "--context", 200)
        self.assertGreater(more["purposes"]["kv"], plan["purposes"]["kv"])
        self.assertIn("total", linnet("plan", "-m", self.packed))
        run = linnet_json("run", "-m", self.packed, "-p", "x", "-n", 3, "--context", 100, "--ignore-eos")
        self.assertEqual(run["arena_bytes"], plan["arena_bytes"])
        # Embeddings of layers stay in a mapped file, and count where they do not.
        layers, folder = self.dir / "layers.gguf", ROOT / "tests" / "golden" / "gemma4-e2b"
        linnet("convert", folder, "--weights", "i8", "-o", layers)
        plan = linnet_json("plan", "-m", layers, "--context", 100)
        table = plan["purposes"]["layer embeddings"]
        self.assertGreaterEqual(table, 70 * 6 * 16)
        self.assertEqual(plan["total"], sum(plan["purposes"].values()) - table)
        self.assertIn("stays in the file", linnet("plan", "-m", layers))
        for how in ((layers, "--load", "copy"), (folder, "--weights", "i8", "--no-cache")):
            whole = linnet_json("plan", "-m", *how, "--context", 100)
            self.assertEqual((whole["total"], whole["purposes"]), (sum(whole["purposes"].values()), plan["purposes"]))

    def check_fits_of_layers(self, profile):
        command = ("plan", "--fits", "--profile", profile, "--memory", 100, "--context", 512, "--weights", "i8g32")
        mapped, copied = ({f["shape"]: f for f in linnet_json(*command, "--load", how)["fits"]} for how in ("map", "copy"))
        for shape, f in mapped.items():
            more = copied[shape]["total"] - f["total"]
            self.assertEqual(more > 0, shape.startswith(("gemma-3n", "gemma-4-e")), shape)
            if shape == "gemma-4-e2b":  # 35 layers of 256 numbers for each of 262144 tokens, in 8.5 bits
                self.assertEqual(more, 262144 * 35 * 256 * 17 // 16)
        self.assertIn("gemma-4-e2b", mapped)

    def test_plan_fits(self):
        peaks = self.dir / "peaks.yaml"
        peaks.write_text("name: x\nthreads: 2\npeaks:\n  read_gb_s: 10\n  int8_tops: 0.5\n  float_tops: 0.1\n")
        fits = linnet_json("plan", "--fits", "--profile", peaks, "--memory", 0.02)
        self.assertEqual((fits["memory_bytes"], fits["threads"], fits["limits"]["measured_now"]), (20000000, 2, False))
        by = {(f["shape"], f["weights"]): f for f in fits["fits"]}
        self.assertNotIn("llama-3.2-1b", [f["shape"] for f in fits["fits"]])
        self.assertGreater(fits["tried"], len(by))
        for f in fits["fits"][:: 5 if SLOW else 1]:
            self.assertLessEqual(f["total"], 20000000)
            self.assertGreater(f["predicted"]["decode_tokens_per_s"], f["predicted"]["decode_tokens_per_s_full"])
            # What plan says of the model itself, byte for byte.
            plan = linnet_json("plan", "-m", "synthetic:" + f["shape"], "--weights", f["weights"], "--context", f["context"], "--threads", 2)
            self.assertEqual((plan["total"], plan["purposes"]["weights"]), (f["total"], f["weight_bytes"]))
        self.assertEqual(by["stories260k", "i8g32"]["context"], 512)  # all that it was trained for
        # One token at 10 GB/s reads the weights in use: no more tokens a second than that.
        self.assertAlmostEqual(by["stories260k", "bf16"]["predicted"]["decode_tokens_per_s"], 19000, delta=2000)
        # Embeddings of layers are in memory where the file is copied.
        self.check_fits_of_layers(peaks)
        small = linnet_json("plan", "--fits", "--profile", peaks, "--memory", 0.5, "--weights", "i8g128", "--kv", "f32")
        self.assertEqual({f["weights"] for f in small["fits"]}, {"i8g128"})
        longest = next(f for f in small["fits"] if f["shape"] == "smollm2-135m")
        self.assertLess(longest["context"], 8192)
        self.assertGreater(linnet_json("plan", "-m", "synthetic:smollm2-135m", "--context", 2 * longest["context"], "--kv", "f32", "--threads", 2)["total"], 500000000)
        none = self.dir / "none.yaml"
        none.write_text("name: x\n")
        fits = linnet_json("plan", "--fits", "--profile", none, "--memory", 0.02)
        self.assertEqual(fits["fits"][0]["predicted"], {"decode_tokens_per_s": None, "decode_tokens_per_s_full": None, "prefill_tokens_per_s": None})
        self.assertIn("no predictions", linnet("plan", "--fits", "--profile", none, "--memory", 0.02))
        self.assertIn("PREDICTIONS", linnet("plan", "--fits", "--profile", peaks, "--memory", 0.02))
        capped = self.dir / "capped.yaml"
        capped.write_text("name: x\nmemory_mib: 17\n" + peaks.read_text()[8:])
        self.assertEqual(linnet_json("plan", "--fits", "--profile", capped)["memory_of"], "profile")
        for board in (ROOT / "configs").glob("*.yaml"):
            self.assertGreater(len(linnet_json("plan", "--fits", "--profile", board, "--memory", 0.1, "--weights", "i8g128")["fits"]), 0)
        self.assertIn("-m or --fits", linnet("plan", "--fits", "-m", self.packed, code=2))
        self.assertIn("--fits", linnet("plan", code=2))

    # ---- running -------------------------------------------------------------------------------------------------------------------

    def test_run(self):
        run = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 12, "--temp", 0, "--ignore-eos")
        self.assertEqual((len(run["tokens"]), run["prompt_tokens"], run["stop"]), (12, 6, "length"))
        for key in ("ttft_ms", "tokens_per_s", "arena_bytes", "peak_rss_bytes"):
            self.assertGreater(run[key], 0)
        args = ("run", "-m", self.packed, "-n", 12, "--temp", 0, "--ignore-eos")
        for newline in (b"\n", b"\r\n"):
            self.assertEqual(linnet_json(*args, stdin=b"Hello" + newline)["tokens"], run["tokens"])
        self.assertEqual(linnet_json(*args, "--tokens", ",".join(map(str, self.ids("Hello"))))["tokens"], run["tokens"])
        raw = linnet_json(*args, "-p", "Hello", "--raw")
        self.assertEqual(raw["prompt_tokens"], 5)
        # INT8 gives the same tokens however the work is cut.
        for more in (("--threads", 1), ("--threads", 3), ("--chunk", 1), ("--chunk", 2), ("--isa", "scalar"), ("--load", "copy")):
            self.assertEqual(linnet_json(*args, "-p", "Hello", *more)["tokens"], run["tokens"], more)
        text = linnet(*args, "-p", "Hello", "--echo")
        self.assertTrue(text.startswith("Hello"))

    def test_cuda(self):
        args = ("run", "-m", self.packed, "-n", 6, "--temp", 0, "--ignore-eos", "-p", "Hello")
        want = linnet_json(*args)["tokens"]
        self.assertEqual(linnet_json(*args, "--cuda", "off")["tokens"], want)
        self.assertEqual(linnet_json(*args, "--cuda", "auto")["tokens"], want)  # the CPU's where there is no GPU, and a GPU gives the same
        self.assertIn("on, off or auto", linnet(*args, "--cuda", "yes", code=2))
        gpu = linnet_json("devices")["cuda"]
        if "why" in gpu:
            print("skipped: a model on a GPU:", gpu["why"])
            self.assertIn("cuda", linnet(*args, "--cuda", "on", code=1))
            done = subprocess.run([LINNET, *map(str, args), "--cuda", "auto", "--log-level", "debug"], capture_output=True, text=True, timeout=300)
            self.assertIn("the CPU computes: ", done.stderr)
            self.assertEqual(done.returncode, 0)
        else:
            self.assertEqual(linnet_json(*args, "--cuda", "on")["tokens"], want)

    def test_load(self):
        want = linnet_json("run", "-m", self.packed, "-p", "x", "-n", 8, "--ignore-eos", "--temp", 0)["tokens"]
        for how in ("map", "copy", "prewarm"):
            self.assertEqual(linnet_json("run", "-m", self.packed, "-p", "x", "-n", 8, "--ignore-eos", "--temp", 0, "--load", how)["tokens"], want)
        self.assertIn("prewarm", linnet("run", "-m", self.packed, "-p", "x", "--load", "mapped", code=2))
        done = subprocess.run([LINNET, "run", "-m", str(self.packed), "-p", "x", "-n", "1", "--load", "lock"], capture_output=True, text=True)
        self.assertTrue(done.returncode == 0 or "RLIMIT_MEMLOCK" in done.stderr, done.stderr)

    def test_governor(self):
        root = self.sysroot("raspberry-pi-5")
        zone = root / "sys/class/thermal/thermal_zone0"
        power = self.dir / "power.yaml"
        power.write_text("name: x\nthreads: 2\npower:\n  temperature_limit: 70\n  tokens_per_s: 200\n  steps: [2, 1]\n")
        run = ("run", "-m", self.packed, "-p", "x", "-n", 40, "--ignore-eos", "--temp", 0)
        want = linnet_json(*run)
        self.assertNotIn("power", want)
        zone.mkdir(parents=True, exist_ok=True)
        (zone / "type").write_text("cpu-thermal\n")
        (zone / "temp").write_text("50000\n")
        cool = self.on_board(None, *run, "--profile", power, root=root)
        self.assertEqual((cool["power"]["temperature"], cool["power"]["blind"]), (50, False))
        self.assertIn(cool["power"]["why"], ("free", "rate"))
        self.assertLess(cool["tokens_per_s"], 220)  # 200 are asked for
        (zone / "temp").write_text("85000\n")
        hot = self.on_board(None, *run, "--profile", power, root=root)
        self.assertEqual((hot["power"]["why"], hot["power"]["threads"], hot["power"]["temperature"]), ("heat", 1, 85))
        self.assertGreaterEqual(hot["power"]["changes"], 1)
        self.assertEqual(hot["tokens"], want["tokens"])
        shutil.rmtree(root / "sys/class/thermal")
        self.assertTrue(self.on_board(None, *run, "--profile", power, root=root)["power"]["blind"])

    def test_energy(self):
        args = ("bench", "-m", self.packed, "--gen", 32, "--reps", 1, "--threads", 1)
        root = self.sysroot("jetson-agx-orin")
        for sensors in ("hwmon", "thermal"):
            shutil.rmtree(root / "sys/class" / sensors, ignore_errors=True)
        limit = self.dir / "limit.yaml"
        limit.write_text("name: x\npower:\n  temperature_limit: 70\n")
        text = self.on_board(None, *args, "--prompt", 0, "--profile", limit, root=root, json_too=False)
        self.assertIn("energy: not known: there is no energy counter (RAPL) and no power sensor (INA3221)", text)
        self.assertIn("no temperature can be read", text)
        chip = root / "sys/class/hwmon/hwmon4"
        chip.mkdir(parents=True)
        for name, value in (("name", "ina3221"), ("in1_label", "VDD_GPU_SOC"), ("in1_input", 20000), ("curr1_input", 300), ("in2_label", "VDD_CPU_CV"), ("in2_input", 20000), ("curr2_input", 200)):
            (chip / name).write_text(f"{value}\n")
        self.assertIn("Jetson: power mode MODE_30W, GPU at 612 of 624 MHz, memory (EMC) at 3199 of 3199 MHz", text)
        bench = self.on_board(None, *args, "--prompt", 64, root=root)
        self.assertEqual(bench["jetson"], {"power_mode": "MODE_30W", "gpu_mhz": 612, "gpu_max_mhz": 624, "emc_mhz": 3199, "emc_max_mhz": 3199})
        shutil.rmtree(root / "sys/kernel/debug")  # only root sees it
        (root / "sys/class/devfreq/17000000.gpu/cur_freq").write_text("306000000\n")
        text = self.on_board(None, *args, "--prompt", 0, root=root, json_too=False)
        self.assertIn("Jetson: power mode MODE_30W, GPU at 306 of 624 MHz, memory (EMC) not known: root may read it", text)
        self.assertEqual(bench["energy_source"], "ina3221")
        self.assertNotIn("energy_why", bench)
        for r in bench["decode"] + bench["prefill"]:  # 10 W all the time; the sensors are read a little before and after
            watts = r["joules_per_token"] * r["tokens_per_s"]
            self.assertGreater(watts, 9.99)

    def test_sampling(self):
        args = ("run", "-m", self.packed, "-p", "Hello", "-n", 16, "--ignore-eos", "--temp", 1)
        a, b, c = (linnet_json(*args, "--seed", s) for s in (7, 7, 8))
        self.assertEqual(a["tokens"], b["tokens"])
        self.assertNotEqual(a["tokens"], c["tokens"])
        self.assertEqual(linnet_json(*args, "--seed", 9, "--top-k", 1)["tokens"], linnet_json(*args, "--temp", 0)["tokens"])
        clock = linnet_json(*args)
        self.assertEqual(clock["tokens"], linnet_json(*args, "--seed", clock["seed"])["tokens"])

    def test_samplers(self):
        """Each option of sampling does what it says: every row of the model is known, so is what a sampler leaves of it."""
        run = ("run", "-m", self.packed, "-p", "Hello", "--ignore-eos", "--seed", 4)
        off = ("--top-k", 0, "--top-p", 1, "--min-p", 0)

        def draws(*options, n=40):
            out = linnet_json(*run, "-n", n, "--logprobs", 259, *options)
            self.assertEqual([p["token"] for p in out["logprobs"]], out["tokens"])
            return out["tokens"], [[(t["token"], math.exp(t["logprob"])) for t in p["top"]] for p in out["logprobs"]]

        def first(row, enough):  # the likeliest, until they are `enough`
            kept, total = [], 0
            for token, p in row:
                kept.append(token)
                total += p
                if total >= enough:
                    break
            return kept

        def typical(row, p):
            entropy = -sum(q * math.log(q) for _, q in row)
            return first(sorted(row, key=lambda r: abs(-math.log(r[1]) - entropy)), p)

        def sigma(row, n):
            logs = [math.log(q) for _, q in row]
            mean = sum(logs) / len(logs)
            least = logs[0] - n * math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs))
            return [t for (t, _), x in zip(row, logs) if x >= least]

        def xtc(row, threshold):
            n = sum(q >= threshold for _, q in row)
            return [t for t, _ in row[max(n - 1, 0):]]
        plain, rows = draws("--temp", 1, *off)
        for options, left in [
            (("--top-k", 3), lambda row: [t for t, _ in row[:3]]), (("--top-p", 0.3), lambda row: first(row, 0.3)), (("--min-p", 0.4), lambda row: [t for t, q in row if q >= 0.4 * row[0][1]]),
            (("--typical-p", 0.3), lambda row: typical(row, 0.3)), (("--typical", 0.5), lambda row: typical(row, 0.5)), (("--top-n-sigma", 1), lambda row: sigma(row, 1)), (("--top-nsigma", 0.5), lambda row: sigma(row, 0.5)),
            (("--xtc-probability", 1), lambda row: xtc(row, 0.1)), (("--xtc-probability", 1, "--xtc-threshold", 0.02), lambda row: xtc(row, 0.02)),
            (("--min-p", 1, "--min-keep", 4), lambda row: [t for t, _ in row[:4]]), (("--mirostat", 2, "--mirostat-ent", 1.5, "--mirostat-lr", 0), lambda row: [t for t, q in row if -math.log2(q) <= 3] or [row[0][0]]),
        ]:
            with self.subTest(options=options):
                self.assertTrue(any(t not in left(row) for t, row in zip(plain, rows)), "drawn without it too")
                tokens, its = draws("--temp", 1, *off, *options)
                for token, row in zip(tokens, its):
                    self.assertIn(token, left(row))
                self.assertGreater(len(set(tokens)), 2)
        # A draw of XTC with half a chance takes away in some draws and not in others.
        tokens, its = draws("--temp", 1, *off, "--xtc-probability", 0.5, "--xtc-threshold", 0.02)
        taken = [t for t, row in zip(tokens, its) if t not in xtc(row, 0.02)]
        self.assertTrue(0 < len(taken) < len(tokens), taken)
        self.assertEqual(draws("--temp", 1, *off, "--xtc-probability", 1, "--xtc-threshold", 0.6)[0], plain)
        # A dynamic temperature is one end of its range where the exponent leaves nothing of the entropy's share, or all of it.
        temp = {t: draws("--temp", t, *off)[0] for t in (0.5, 1.5)}
        self.assertNotEqual(temp[0.5], temp[1.5])
        self.assertEqual(draws("--temp", 1, *off, "--dynatemp-range", 0.5, "--dynatemp-exp", 0)[0], temp[1.5])
        self.assertEqual(draws("--temp", 1, *off, "--dynatemp-range", 0.5, "--dynatemp-exp", 100)[0], temp[0.5])
        self.assertNotIn(draws("--temp", 1, *off, "--dynatemp-range", 0.5)[0], temp.values())
        # Mirostat: its surprise follows what it aims at.
        greedy = draws("--temp", 0)[0]
        self.assertEqual(draws("--temp", 1, *off, "--mirostat", 2, "--mirostat-ent", 0)[0], greedy)
        for version in (1, 2):
            surprise = []
            for aim in (1, 4):
                tokens, its = draws("--temp", 1, "--mirostat", version, "--mirostat-ent", aim, "--mirostat-lr", 0.5, n=150)
                surprise.append(sum(-math.log2(dict(row)[t]) for t, row in zip(tokens, its)) / len(tokens))
            self.assertLess(surprise[0] + 1, surprise[1])
        self.assertEqual(draws("--temp", 1, "--mirostat", 2, "--top-k", 1)[0], draws("--temp", 1, "--mirostat", 2, "--top-k", 0)[0])
        # Biases: banned, and always.
        banned = sorted(set(plain))[:5]
        tokens = draws("--temp", 1, *off, *(x for t in banned for x in ("-l", f"{t}-inf")))[0]
        self.assertFalse(set(tokens) & set(banned))
        self.assertEqual(set(draws("--temp", 1, *off, "--logit-bias", "77+100")[0]), {77})
        # DRY: a token that is the likeliest by a bias loses it where it would lengthen a repetition.
        def next_of(*options):
            return linnet_json("run", "-m", self.packed, "--tokens", "1,70,71,77,70,71", "-n", 1, "--temp", 0, "--ignore-eos", *options)["tokens"][0]
        usual, bias, dry = next_of(), ("-l", "77+100"), ("--dry-multiplier", 100)
        text = linnet("detokenize", "-m", self.packed, "71").rstrip("\n")
        self.assertNotEqual(usual, 77)
        for options, token in [
            (bias, 77), ((*bias, *dry), usual), ((*bias, *dry, "--dry-allowed-length", 3), 77), ((*bias, *dry, "--dry-penalty-last-n", 4), 77), ((*bias, *dry, "--dry-sequence-breaker", text), 77),
            ((*bias, *dry, "--dry-sequence-breaker", "none"), usual), ((*bias, "--dry-multiplier", 50, "--dry-allowed-length", 1, "--dry-base", 1), 77), ((*bias, "--dry-multiplier", 50, "--dry-allowed-length", 1, "--dry-base", 100), usual),
        ]:
            self.assertEqual(next_of(*options), token, options)
        # The order: what is not in it is not done, and each works on what those before it left.
        self.assertEqual(draws("--temp", 1, "--top-k", 1, "--samplers", "temperature")[0], plain)
        self.assertEqual(draws("--temp", 0, *off, "--samplers", "top_k;min_p")[0], plain)
        hot = ("--temp", 3, "--top-k", 0, "--top-p", 1, "--min-p", 0.3)
        orders = {order: draws(*hot, "--samplers", order)[0] for order in ("min_p;temperature", "temperature,min_p")}
        tokens, its = draws(*hot, "--samplers", "min_p;temperature")
        self.assertTrue(all(dict(row)[t] >= 0.3 * row[0][1] * 0.999 for t, row in zip(tokens, its)))
        self.assertEqual(orders["temperature,min_p"], draws(*hot)[0])
        self.assertNotEqual(*orders.values())
        self.assertEqual(draws("--temp", 1, *off, "--typical", 0.3, "--samplers", "typ_p")[0], draws("--temp", 1, *off, "--typical", 0.3)[0])
        text = " ".join(linnet("run", "--help").split())
        self.assertIn("penalties, dry, top_n_sigma, top_k, temperature, typical_p, top_p, min_p, xtc", text)

    def test_sampling_refused(self):
        for option, values in {
            "--typical-p": ("1.5", "-1", "nan", "x"), "--top-n-sigma": ("-1", "101"), "--xtc-probability": ("1.1", "-0.1"), "--xtc-threshold": ("2",), "--min-keep": ("-1", "x"), "--dynatemp-range": ("-1", "101"),
            "--dynatemp-exp": ("-1", "1e9"), "--dry-multiplier": ("-1", "inf"), "--dry-base": ("0.5", "101"), "--dry-allowed-length": ("0", "1025"), "--dry-penalty-last-n": ("-1", "1025"), "--mirostat": ("3", "-1"),
            "--mirostat-ent": ("-1", "101"), "--mirostat-lr": ("1.5",), "--logprobs": ("1025", "-1", "x"), "--logit-bias": ("5", "+5", "5+", "5+x", "5+inf", "5+101", "x+1", "5-nan", "-5+1"),
            "--samplers": ("top_q", "top_k;", "", "top_k top_p"), "--banned-string": ("", "x" * 256),
        }.items():
            for value in values:
                with self.subTest(option=option, value=value[:20]):
                    err = linnet("run", "-m", self.packed, "-p", "x", option, value, "--json", code=2)
                    self.assertIn(option, err)
                    self.assertIn(f"'{value[:32]}'" if option in ("--logit-bias", "--samplers", "--banned-string") else value, err)
        self.assertIn("--json", linnet("run", "-m", self.packed, "-p", "x", "--logprobs", 3, code=2))
        self.assertIn("samplers[1]", linnet("run", "-m", self.packed, "-p", "x", "--samplers", "top_k;top_k", code=1))
        self.assertIn("n_banned is 17", linnet("run", "-m", self.packed, "-p", "x", *["--banned-string", "y"] * 17, code=1))
        self.assertIn("--dry-sequence-breaker", linnet("run", "-m", self.packed, "-p", "x", "--dry-sequence-breaker", "y" * 128, code=2))

    def test_logprobs(self):
        """They are the logarithm of the softmax of what `linnet logits` gives, before any sampler."""
        ids = self.ids("Hello")
        out = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 6, "--temp", 1, "--seed", 2, "--ignore-eos", "--logprobs", 5, "-l", "77+100", "--repeat-penalty", 2)
        bare = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 6, "--temp", 1, "--seed", 2, "--ignore-eos", "--logprobs", 0)
        self.assertEqual([p["top"] for p in bare["logprobs"]], [[]] * 6)
        self.assertNotIn("logprobs", linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 1))
        file = self.dir / "logprobs.npy"
        linnet("logits", "-m", self.packed, "--tokens", ",".join(map(str, ids + out["tokens"])), "-o", file)
        self.assertEqual(len(out["logprobs"]), 6)
        for row, p, token in zip(read_npy(file)[len(ids) - 1:], out["logprobs"], out["tokens"]):
            most = max(row)
            total = most + math.log(sum(math.exp(x - most) for x in row))
            self.assertEqual(p["token"], token)
            self.assertAlmostEqual(p["logprob"], row[token] - total, delta=1e-4)
            self.assertEqual([t["token"] for t in p["top"]], sorted(range(259), key=lambda i: (-row[i], i))[:5])
            for t in p["top"]:
                self.assertAlmostEqual(t["logprob"], row[t["token"]] - total, delta=1e-4)

    def test_banned_strings(self):
        """A text that is banned never comes, also where it is shown as it comes; what was before it stays."""
        run = ("run", "-m", self.packed, "-p", "Hello", "-n", 48, "--temp", 1, "--seed", 3, "--ignore-eos")
        free = linnet_json(*run)
        at = next(i for i in range(3, len(free["text"]) - 1) if free["text"][i:i + 2].isascii() and free["text"][i:i + 2].isprintable())
        bans = [free["text"][at:at + 2]]
        for _ in range(3):  # what came in its place too
            options = [x for b in bans for x in ("--banned-string", b)]
            held = linnet_json(*run, *options)
            self.assertEqual((held["stop"], len(held["tokens"])), ("length", 48))
            self.assertTrue(held["text"].startswith(free["text"][:at]))
            for ban in bans:
                self.assertNotIn(ban, held["text"])
            self.assertEqual(held["tokens"], linnet_json(*run, *options)["tokens"])
            seen = linnet_json(*run, *options, "--logprobs", 2)
            self.assertEqual((seen["tokens"], seen["text"], [p["token"] for p in seen["logprobs"]]), (held["tokens"], held["text"], held["tokens"]))
            self.assertEqual(linnet(*run, *options).rstrip("\n"), held["text"].rstrip("\n"))
            at = next(i for i in range(3, len(held["text"]) - 1) if held["text"][i:i + 2].isascii() and held["text"][i:i + 2].isprintable())
            bans.append(held["text"][at:at + 2])
            free = held
        # Each row that a token was drawn from is the one of the tokens that are left before it.
        ids, file = self.ids("Hello"), self.dir / "banned.npy"
        linnet("logits", "-m", self.packed, "--tokens", ",".join(map(str, ids + seen["tokens"])), "-o", file)
        for row, p in zip(read_npy(file)[len(ids) - 1:], seen["logprobs"]):
            self.assertEqual([t["token"] for t in p["top"]], sorted(range(259), key=lambda i: (-row[i], i))[:2])
        # Where nothing else may come it ends there, without it.
        schema = self.dir / "only.json"
        schema.write_text('{"const": "only"}')
        out = linnet_json(*run, "--schema", schema, "--banned-string", "nl")
        self.assertEqual(out["stop"], "banned")
        self.assertNotIn("nl", out["text"])

    def test_state(self):
        """Runs that follow each other through a file are one run."""
        state = self.dir / "talk.state"
        args = ("run", "-m", self.packed, "--ignore-eos")
        whole = linnet_json(*args, "-p", "Hello", "-n", 24, "--temp", 1, "--seed", 5, "--top-k", 30)["tokens"]
        first = linnet_json(*args, "-p", "Hello", "-n", 10, "--temp", 1, "--seed", 5, "--top-k", 30, "--state", state)
        self.assertEqual((first["tokens"], first["state_tokens"]), (whole[:10], 0))
        second = linnet_json(*args, "-n", 6, "--state", state, "--threads", 1, "--chunk", 3, stdin=b"")
        self.assertEqual((second["tokens"], second["state_tokens"], second["prompt_tokens"], second["seed"]), (whole[10:16], 16, 0, 5))
        self.assertEqual(linnet_json(*args, "-p", "", "-n", 8, "--state", state, "--context", 100)["tokens"], whole[16:])
        self.assertEqual([p.name for p in self.dir.glob("talk*")], ["talk.state"])
        # A prompt goes on where the sequence ends, without BOS.
        saved = state.read_bytes()
        ids = self.ids("Hello") + whole + self.ids(" you")[1:]
        want = linnet_json(*args, "--tokens", ",".join(map(str, ids)), "-n", 5, "--temp", 0)["tokens"]
        again = linnet_json(*args, "-p", " you", "-n", 5, "--temp", 0, "--state", state)
        self.assertEqual((again["tokens"], again["state_tokens"]), (want, 6 + 24))
        # What does not fit is refused by name and stays.
        state.write_bytes(saved)
        junk = self.dir / "junk.state"
        junk.write_bytes(saved[:-1])
        other = self.dir / "other.gguf"
        linnet("convert", self.folder, "-o", other, "--weights", "i8")
        for more, word in (((self.packed, "--state", junk), "junk.state: state: "), ((other, "--state", state), "another model"), ((self.packed, "--state", state, "--kv", "f16"), "K in i8"),
                           ((self.packed, "--state", state, "--context", "20"), "context of 20"), ((self.packed, "--state", self.dir / "no" / "s"), "folder"),
                           ((self.packed, "--state", self.dir), "regular file")):
            self.assertIn(word, linnet("run", "-n", 4, "-p", "x", "-m", *more, code=1), more)
        self.assertEqual((state.read_bytes(), junk.read_bytes()), (saved, saved[:-1]))
        self.assertIn("tokens of a saved sequence", subprocess.run([LINNET, *map(str, args), "-p", "x", "-n", "2", "--state", str(state)], capture_output=True, timeout=60).stderr.decode())

    def test_lora(self):
        """Adapters beside a model, merged into it, and as files."""
        lora, file = ROOT / "tests" / "golden" / "lora" / "llama-all", self.dir / "adapter.gguf"
        made = linnet_json("convert", lora, "-o", file, "--base", self.packed)
        self.assertEqual((made["adapter"], made["bytes"]), (True, file.stat().st_size))
        tokens = lambda model, *more: linnet_json("run", "-m", model, "--tokens", "1,7,9", "-n", 12, "--temp", 0, "--ignore-eos", *more)["tokens"]  # noqa: E731
        plain, adapted = tokens(self.packed), tokens(self.packed, "--lora", file)
        self.assertNotEqual(plain, adapted)
        self.assertEqual(tokens(self.packed, "--lora", lora), adapted)
        self.assertEqual(tokens(self.packed, "--lora", f"{file}:0"), plain)
        self.assertEqual(tokens(self.packed, "--lora", f"{file}:0.5", "--lora", f"{file}:0.5", "--threads", 2, "--chunk", 1), tokens(self.packed, "--lora", f"{file}:0.5", "--lora", f"{lora}:0.5"))
        floats, merged = self.dir / "floats.gguf", self.dir / "merged.gguf"
        linnet("convert", self.folder, "-o", floats, "--weights", "f32")
        linnet("convert", self.folder, "-o", merged, "--weights", "f32", "--lora", f"{file}:0.5")
        self.assertEqual(tokens(merged), tokens(floats, "--lora", f"{lora}:0.5"))
        plans = [linnet_json("plan", "-m", self.packed, *more)["purposes"] for more in ((), ("--lora", file))]
        self.assertEqual(plans[0].get("adapters", 0), 0)
        self.assertGreater(plans[1]["adapters"], file.stat().st_size)
        for more, word in ((("--lora", self.dir / "no.gguf"), "no.gguf"), (("--lora", f"{file}:x"), "PATH:SCALE"), (("--lora", lora.parent / "qwen3-all"), "mlp.down_proj"), (("--lora", self.packed), "general.type"),
                           (("--lora", file) * 9, "at most 8")):
            self.assertIn(word, linnet("run", "-m", self.packed, "--tokens", "1", *more, code=1), more)
        self.assertIn("packed already", linnet("convert", self.packed, "-o", merged, "--layout", "plain", "--weights", "f32", "--lora", file, code=1))

    def test_stop(self):
        run = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 24, "--temp", 1, "--seed", 3, "--ignore-eos", "--raw")
        at = next(i for i, c in enumerate(run["text"]) if i > 2 and 32 < ord(c) < 127 and c not in run["text"][:i])
        stop = run["text"][at]
        cut = linnet_json("run", "-m", self.packed, "-p", "Hello", "-n", 24, "--temp", 1, "--seed", 3, "--ignore-eos", "--raw", "--stop", "never there", "--stop", stop)
        self.assertEqual((cut["stop"], cut["text"]), ("string", run["text"][:at]))

    def test_cancel(self):
        """What was generated until Ctrl-C is an answer."""
        # Without an end of its own: a context that is never full.
        process = subprocess.Popen([LINNET, "run", "-m", str(self.packed), "-p", "Hello", "-n", "16000000", "--context", "256", "--when-full", "sinks", "--ignore-eos", "--temp", "0", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        def caught():
            text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return int(re.search(r"SigCgt:\s*(\w+)", text)[1], 16) >> (signal.SIGINT - 1) & 1
        end = time.monotonic() + 60
        while not caught() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertEqual(json.loads(out)["stop"], "cancel")

    def test_signals(self):
        """Who interrupts a command is obeyed, and is told by its status: 128 + n in a shell. What it was writing is removed."""
        text = self.dir / "long.txt"
        text.write_text("The quick brown fox jumps over the lazy dog. " * 20000)
        big = self.dir / "big.gguf"
        linnet("convert", "--synthetic", "stories15m", "-o", big)
        ids = ",".join(["5"] * 16000)
        work = self.dir / "signals"
        work.mkdir()
        waits = work / "fifo"
        os.mkfifo(waits)
        many = ("--context", 16000, "--threads", 1)
        commands = {
            "run": ("run", "-m", self.packed, "-p", "x", "-n", 16000000, "--ignore-eos", "--context", 256, "--when-full", "sinks", "--state", work / "talk"),
            "run, waiting for its prompt": ("run", "-m", self.packed),
            "eval": ("eval", "-m", self.packed, text, "--threads", 1, "--isa", "scalar"),
            "logits": ("logits", "-m", big, "--tokens", ids, *many, "-o", work / "l.npy"),
            "logits, waiting for a reader": ("logits", "-m", self.packed, "--tokens", "1,2", "-o", waits),
            "convert": ("convert", "--synthetic", "qwen2.5-0.5b", "-o", work / "c.gguf"),
            "bench": ("bench", "--synthetic", "qwen2.5-0.5b", "--reps", 1000, "--threads", 1),
            "plan": ("plan", "--fits", "--threads", 1),
        }
        for i, (name, command) in enumerate(commands.items()):
            number = (signal.SIGINT, signal.SIGTERM)[i % 2]
            # As a script's shell starts what runs in its background: with SIGINT ignored.
            p = subprocess.Popen([LINNET, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
            end = time.monotonic() + 60
            if name in ("logits", "convert"):  # at work
                while not list(work.glob("*.tmp")) and time.monotonic() < end:
                    time.sleep(0.01)
            elif name == "run":
                p.stdout.read(1)
            else:
                time.sleep(0.5)
            with self.subTest(command=name):
                self.assertIsNone(p.poll(), f"{name} had ended already")
                p.send_signal(number)
                begin = time.monotonic()
                _, err = p.communicate(timeout=60)
                self.assertEqual(p.returncode, -number, err)
                self.assertLess(time.monotonic() - begin, 20 if SLOW else 5)
        self.assertEqual(sorted(f.name for f in work.iterdir()), ["fifo", "talk"])  # run's partial sequence is saved
        for i in range(10):  # as soon as there is something to remove
            out = work / "early.gguf"
            command = ("convert", "--synthetic", "stories15m") if i % 2 else ("logits", "-m", big, "--tokens", "5,6", "--threads", 1)
            p = subprocess.Popen([LINNET, *map(str, command), "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while not os.path.exists(f"{out}.tmp") and p.poll() is None:
                pass
            p.send_signal(signal.SIGTERM)
            p.communicate(timeout=60)
            self.assertFalse(os.path.exists(f"{out}.tmp"))
            out.unlink(missing_ok=True)

    def test_nodes(self):
        """What is named as a file and is a FIFO (a device goes the same way): inputs are refused at once, outputs are written through or refused, and it stays what it is."""
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        self.addCleanup(fifo.unlink)

        def refused(*args, code=1, env=None):
            done = subprocess.run([LINNET, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})
            self.assertEqual(done.returncode, code, args)
            self.assertTrue(stat.S_ISFIFO(fifo.lstat().st_mode), args)
            return done.stderr
        folder = tiny_model.make(self.dir / "with-fifo")
        (folder / "config.json").unlink()
        (folder / "config.json").symlink_to(fifo)
        packed = ("-m", self.packed)
        for args in (("devices", "--check", fifo), ("run", *packed, "-p", "x", "--profile", fifo), ("run", *packed, "-p", "x", "--schema", fifo), ("run", *packed, "-p", "x", "--tools", fifo),
                     ("run", *packed, "-p", "x", "--state", fifo), ("eval", *packed, fifo), ("inspect", fifo), ("run", "-m", fifo, "-p", "x"), ("run", "-m", folder, "-p", "x"), ("convert", folder, "-o", self.dir / "o.gguf"),
                     ("convert", self.folder, "-o", fifo)):
            self.assertIn("not a regular file", refused(*args), args)
        # Profiles of a folder, and copies of another board's files.
        configs = self.dir / "fifo-configs"
        configs.mkdir()
        (configs / "x.yaml").symlink_to(fifo)
        self.assertIn("x.yaml: is not a regular file", refused("devices", env={"LINNET_CONFIGS": str(configs)}))
        root = self.sysroot("raspberry-pi-4")
        for path in [p for p in root.rglob("*") if p.is_file()]:
            path.unlink()
            os.mkfifo(path)
        refused("devices", code=0, env={"LINNET_SYSROOT": str(root)})
        refused("doctor", code=0, env={"LINNET_SYSROOT": str(root)})
        # A file that never ends, or is far too large for what it is.
        huge = self.dir / "huge"
        with open(huge, "wb") as f:
            f.truncate(1 << 40)
        self.addCleanup(huge.unlink)
        for args, word in ((("devices", "--check", huge), "larger than 64 KiB"), (("run", *packed, "-p", "x", "--schema", huge), "1048576"), (("eval", *packed, huge), "1073741824")):
            self.assertIn(word, refused(*args), args)
        # Written through.
        ids = "1,2,3"
        linnet("logits", *packed, "--tokens", ids, "-o", self.dir / "l.npy")
        p = subprocess.Popen([LINNET, "logits", *map(str, packed), "--tokens", ids, "-o", fifo], stdout=subprocess.DEVNULL)
        self.assertEqual(fifo.read_bytes(), (self.dir / "l.npy").read_bytes())
        self.assertEqual(p.wait(timeout=60), 0)
        self.assertTrue(stat.S_ISFIFO(fifo.lstat().st_mode))
        # What was there stays when it cannot be written anew, and links stay links.
        kept = self.dir / "kept.npy"
        kept.write_bytes(b"kept")
        link = self.dir / "link.npy"
        link.symlink_to("kept.npy")
        linnet("logits", *packed, "--tokens", "99999", "-o", link, code=1)
        self.assertEqual(kept.read_bytes(), b"kept")
        linnet("logits", *packed, "--tokens", ids, "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(kept.read_bytes(), (self.dir / "l.npy").read_bytes())
        self.assertEqual([p.name for p in self.dir.glob("*.tmp")], [])

    def test_check_of_other_boards(self):
        """A check of a file checks the file: what this machine or build has not is a note."""
        for profile in (ROOT / "configs").glob("*.yaml"):
            checked = linnet_json("devices", "--check", profile)
            self.assertTrue(checked["ok"])
            self.assertEqual(checked["fits"], "note" not in checked)
        other = self.dir / "other.yaml"
        x86 = os.uname().machine == "x86_64"
        other.write_text(f"name: other\nisa: {'neon' if x86 else 'avx2'}\nthreads: 200\ncores: 250\nmatch:\n  model: 'a board that nobody has'\n")
        checked = linnet_json("devices", "--check", other)
        self.assertEqual((checked["ok"], checked["fits"], checked["matches"], checked["isa"], checked["threads"]), (True, False, False, "neon" if x86 else "avx2", 200))
        text = linnet("devices", "--check", other)
        self.assertIn("note: it does not run here: ", text)
        self.assertNotIn("fits this machine", text)
        other.write_text(other.read_text() + "  colour: red\n")
        self.assertIn("colour", linnet("devices", "--check", other, code=1))

    def test_logits(self):
        ids = self.ids("Hello, world")
        rows = {}
        for chunk in (1, 5, 256):
            out = self.dir / f"logits-{chunk}.npy"
            info = linnet_json("logits", "-m", self.packed, "--tokens", ",".join(map(str, ids)), "-o", out, "--chunk", chunk)
            self.assertEqual((info["n_tokens"], info["n_vocab"]), (len(ids), 259))
            rows[chunk] = out.read_bytes()
        self.assertEqual(rows[1], rows[5])
        self.assertEqual(rows[1], rows[256])
        values = read_npy(out)
        self.assertEqual((len(values), len(values[0])), (len(ids), 259))
        best = max(range(259), key=lambda i: (values[-1][i], -i))
        self.assertEqual(linnet_json("run", "-m", self.packed, "-p", "Hello, world", "-n", 1, "--temp", 0, "--ignore-eos")["tokens"], [best])

    # ---- embed ------------------------------------------------------------------------------------------------------------

    def embedder(self, **changes):
        """The tiny model with modules of sentence-transformers behind it, and prompts."""
        folder = self.dir / f"embedder-{len(list(self.dir.iterdir()))}"
        shutil.copytree(self.folder, folder)
        files = {"modules.json": [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
                                  for i, (path, kind) in enumerate((("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")))],
                 "1_Pooling/config.json": {"word_embedding_dimension": 64, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
                 "config_sentence_transformers.json": {"prompts": {"query": "q: ", "document": "d: "}, "default_prompt_name": "document"}}
        for name, content in (files | changes).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return folder

    def test_embed(self):
        """Vectors are what the library gives; texts come as arguments, from a file and from stdin."""
        golden = ROOT / "tests" / "golden"
        for name in ("embed-qwen3", "embed-gemma", "embed-mistral"):
            said = json.loads((golden / name / "golden.json").read_text())
            for tokens, want in zip(said["texts"], read_npy(golden / name / "golden_vectors.npy")):
                got = json.loads(linnet("embed", "-m", golden / name, "--weights", "f32", "--kv", "f32", "--tokens", ",".join(map(str, tokens))))
                self.assertEqual(len(got), said["n_dim"])
                self.assertLess(max(abs(a - b) for a, b in zip(got, want)), 1e-4 * max(map(abs, want)), (name, len(tokens)))
        texts = ["Hello, world", "a", "The quick brown fox jumps over the lazy dog"]
        lines = linnet("embed", "-m", self.packed, *texts)
        vectors = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([len(v) for v in vectors], [64] * 3)
        for v in vectors:
            self.assertLess(abs(sum(x * x for x in v) - 1), 1e-5)
        self.assertEqual(linnet("embed", "-m", self.packed, stdin="\n".join(texts).encode()), lines)
        file = self.dir / "texts.txt"
        file.write_text("\r\n".join(texts) + "\r\n")
        for more in (("--parallel", 1), ("--parallel", 64, "--chunk", 5), ("--threads", 1)):
            self.assertEqual(linnet("embed", "-m", self.packed, "-f", file, *more), lines)
        done = linnet_json("embed", "-m", self.packed, *texts)
        self.assertEqual((done["n_dim"], done["pooling"], done["normalised"], done["vectors"]), (64, "last", True, vectors))
        self.assertEqual(done["tokens"], [len(self.ids(t)) for t in texts])
        raw = linnet_json("embed", "-m", self.packed, "--normalize", "off", "--pooling", "mean", *texts)
        self.assertEqual((raw["normalised"], raw["pooling"]), (False, "mean"))
        for short, whole in zip(linnet_json("embed", "-m", self.packed, "--dimensions", 16, "--pooling", "mean", *texts)["vectors"], raw["vectors"]):
            length = math.sqrt(sum(x * x for x in whole[:16]))
            self.assertEqual(len(short), 16)
            for a, b in zip(short, whole):
                self.assertAlmostEqual(a, b / length, places=5)

    def test_embed_settings(self):
        """Pooling, normalising and prompts of the model's folder, kept in its file, and in a plain one."""
        folder = self.embedder()
        packed, plain = self.dir / "embedder.gguf", self.dir / "embedder-plain.gguf"
        linnet("convert", folder, "-o", packed, "--weights", "f32")
        linnet("convert", packed, "-o", plain, "--layout", "plain", "--weights", "f32")
        want = linnet_json("embed", "-m", self.folder, "--weights", "f32", "--pooling", "mean", "d: Hello")["vectors"]
        for model in (packed, plain, folder):
            at = ("embed", "-m", model) + (("--weights", "f32") if model != packed else ())
            self.assertEqual(linnet_json(*at, "Hello")["vectors"], want, model)
            done = linnet_json(*at, "--prompt", "query", "Hello")
            self.assertEqual((done["pooling"], done["normalised"]), ("mean", True))
            self.assertEqual(done["vectors"], linnet_json("embed", "-m", self.folder, "--weights", "f32", "--pooling", "mean", "q: Hello")["vectors"])
            self.assertIn("no prompt 'x'; it has document, query", linnet(*at, "--prompt", "x", "Hello", code=1))
        for file, content, word in [
            ("modules.json", "{}", "modules.json"), ("modules.json", "[", "modules.json"), ("modules.json", [], "up to 16 modules"),
            ("modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}], "no module that pools"),
            ("modules.json", [{"type": "sentence_transformers.models.CLIPModel", "path": ""}], "CLIPModel"),
            ("modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "sentence_transformers.models.Pooling", "path": "../1_Pooling"}], "'../1_Pooling'"),
            ("modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "sentence_transformers.models.Normalize", "path": "1_N"}], "in this place"),
            ("modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "sentence_transformers.models.Pooling", "path": "9_Pooling"}], "9_Pooling"),
            ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling 'max'"), ("1_Pooling/config.json", {}, "is not supported"),
            ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "2 ways"),
            ("1_Pooling/config.json", {"pooling_mode_mean_tokens": 1}, "true or false"), ("1_Pooling/config.json", {"pooling_mode": "weightedmean"}, "weightedmean"),
            ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True, "include_prompt": False}, "include_prompt"),
            ("config_sentence_transformers.json", {"prompts": {"query": 3}}, "prompt 'query'"), ("config_sentence_transformers.json", {"prompts": []}, "prompts"),
        ]:
            with self.subTest(file=file, content=content):
                self.assertIn(word, linnet("embed", "-m", self.embedder(**{file: content}), "Hello", code=1))
        named = self.embedder(**{"1_Pooling/config.json": {"embedding_dimension": 64, "pooling_mode": "mean"}})  # as newer versions write it
        self.assertEqual(linnet_json("embed", "-m", named, "--weights", "f32", "Hello")["vectors"], want)

    def test_embed_dense(self):
        """Dense layers go into packed and plain files; what is not computed is refused by name."""
        golden = ROOT / "tests" / "golden"
        tokens = ("--tokens", "5,9,33,12,60,7")
        packed, plain = self.dir / "gemma.gguf", self.dir / "gemma-plain.gguf"
        gemma = self.dir / "embed-gemma"
        shutil.copytree(golden / "embed-gemma", gemma)
        (gemma / "config.json").write_text((gemma / "config.json").read_text().replace('"query_pre_attn_scalar": 10', '"query_pre_attn_scalar": 8'))  # as GGUF has it
        linnet("convert", gemma, "-o", packed, "--weights", "f32")
        linnet("convert", packed, "-o", plain, "--layout", "plain", "--weights", "f32")
        info = linnet("inspect", plain)
        self.assertIn("gemma-embedding", info)
        want = linnet("embed", "-m", packed, *tokens)
        self.assertEqual(linnet("embed", "-m", plain, "--weights", "f32", *tokens), want)
        self.assertEqual(linnet("embed", "-m", gemma, "--weights", "f32", *tokens), want)
        self.assertIn("bidirectional", linnet("run", "-m", packed, "--tokens", "1,2", "-n", 1, code=1))
        self.assertIn("no LM head", linnet("run", "-m", golden / "embed-mistral", "--tokens", "1,2", "-n", 1, code=1))
        self.assertIn("cannot say", linnet("convert", golden / "embed-mistral", "-o", self.dir / "x.gguf", "--layout", "plain", "--weights", "f32", code=1))
        self.assertIn("more than n_chunk = 4", linnet("embed", "-m", packed, "--chunk", 4, *tokens, code=1))
        for key, value, word in [("activation_function", "torch.nn.modules.activation.Tanh", "Tanh"), ("in_features", 23, "23"), ("out_features", 0, "out_features"),
                                 ("bias", True, "'bias'"), ("bias", 1, "true or false"), ("use_residual", True, "use_residual"), ("module_input_name", "token_embeddings", "module_input_name")]:
            with self.subTest(key=key, value=value):
                folder = self.dir / f"dense-{key}-{value}"
                shutil.copytree(golden / "embed-gemma", folder)
                file = folder / "2_Dense" / "config.json"
                file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
                self.assertIn(word, linnet("embed", "-m", folder, *tokens, code=1))

    def test_rerank(self):
        """The probability of yes against no, by the logits behind the published template."""
        tokenizer = tiny_model.tokenizer()
        vocab = tokenizer["model"]["vocab"]
        bytes_of = tiny_model.byte_characters()
        for byte, piece in ((0xFF, "ye"), (0xFE, "yes"), (0xFD, "no")):  # which no UTF-8 has
            vocab[piece] = vocab.pop(bytes_of[byte])
        tokenizer["model"]["merges"] = ["y e", "ye s", "n o"]
        folder = self.dir / "reranker"
        shutil.copytree(self.folder, folder)
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        before = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
                  "Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n")
        behind = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
        documents = ["foxes sleep", "bears"]
        for task in (None, "Find it"):
            more = ("--instruction", task) if task else ()
            done = linnet_json("embed", "-m", folder, "--rerank", "where?", *more, *documents)
            lines = linnet("embed", "-m", folder, "--rerank", "where?", "--parallel", 1, *more, *documents)
            self.assertEqual([float(line) for line in lines.splitlines()], done["scores"])
            for document, score, n in zip(documents, done["scores"], done["tokens"]):
                body = f"<Instruct>: {task or 'Given a web search query, retrieve relevant passages that answer the query'}\n<Query>: where?\n<Document>: {document}"
                ids = [i for part in (before, body, behind) for i in json.loads(linnet("tokenize", "-m", folder, "--no-add-special", part))]
                self.assertEqual(len(ids), n)
                out = self.dir / "rerank.npy"
                linnet("logits", "-m", folder, "--tokens", ",".join(map(str, ids)), "-o", out)
                row = read_npy(out)[-1]
                self.assertAlmostEqual(score, 1 / (1 + math.exp(row[vocab["no"]] - row[vocab["yes"]])), places=6)
        self.assertNotEqual(*done["scores"])
        self.assertIn("'yes' is no token", linnet("embed", "-m", self.packed, "--rerank", "a", "b", code=1))

    def test_eval(self):
        text = self.dir / "text.txt"
        text.write_text("The quick brown fox jumps over the lazy dog.")
        ids = self.ids(text.read_text())
        out = self.dir / "eval.npy"
        linnet("logits", "-m", self.folder, "--tokens", ",".join(map(str, ids)), "-o", out, "--weights", "f32", "--kv", "f32")
        nll = 0.0
        for row, following in zip(read_npy(out), ids[1:]):
            top = max(row)
            nll += top + math.log(sum(math.exp(x - top) for x in row)) - row[following]
        result = linnet_json("eval", "-m", self.folder, text, "--weights", "f32", "--kv", "f32")
        self.assertEqual(result["tokens"], len(ids) - 1)
        self.assertAlmostEqual(result["nll_sum"], nll, delta=1e-5 * nll)
        self.assertAlmostEqual(result["perplexity"], math.exp(nll / (len(ids) - 1)), delta=1e-3 * result["perplexity"])
        windows = linnet_json("eval", "-m", self.folder, text, "--weights", "f32", "--kv", "f32", "--context", 10)
        self.assertEqual((windows["tokens"], windows["window"]), (len(ids) - 1, 10))
        same = linnet_json("eval", "-m", self.folder, text, "--weights", "f32", "--kv", "f32", "--against", self.folder)
        self.assertEqual((same["kl_mean"], same["top1_agreement"], same["logit_error"], same["weight_error"]), (0, 1, 0, 0))
        errors = {f: linnet_json("eval", "-m", self.folder, text, "--weights", f, "--kv", "f32", "--against", self.folder) for f in ("i8g128", "f8e4m3", "i4g64")}
        for key, low, high in (("weight_error", 0.002, 0.15), ("logit_error", 0.001, 0.5), ("kl_mean", 1e-7, 1)):  # more bits, less error
            self.assertTrue(low < errors["i8g128"][key] < errors["f8e4m3"][key] < errors["i4g64"][key] < high, (key, errors))
        self.assertIn("rounded here: RMS error", linnet("eval", "-m", self.folder, text, "--weights", "i4g64"))
        against = linnet_json("eval", "-m", self.packed, text, "--against", self.folder)
        self.assertTrue(0 < against["kl_mean"] < 0.05, against)
        self.assertAlmostEqual(against["against_perplexity"], result["perplexity"], delta=1e-3 * result["perplexity"])
        self.assertIn("KL divergence", linnet("eval", "-m", self.packed, text, "--against", self.folder))

    def test_bench(self):
        bench = linnet_json("bench", "-m", self.packed, "--prompt", "16,8", "--gen", 4, "--depth", "0,16", "--reps", 2, "--threads", 1)
        self.assertEqual([d["depth"] for d in bench["decode"]], [0, 16])
        self.assertEqual([p["tokens"] for p in bench["prefill"]], [16, 8])
        for key in ("read_gb_s", "int8_tops"):
            self.assertGreater(bench[key], 0)
        for d in bench["decode"]:
            self.assertGreater(min(d["tokens_per_s"], d["bytes_per_token"], d["share_of_read"]), 0)
        self.assertGreater(bench["decode"][1]["bytes_per_token"], bench["decode"][0]["bytes_per_token"])
        for r in bench["decode"] + bench["prefill"]:
            self.assertGreater(r["predicted_ms"], 0)
        self.assertEqual((bench["threads"], bench["weights"], bench["kv"]), (1, "i8g32", "i8"))
        # A repetition that cannot be taken back, for what its beginning sees was rounded away, begins anew.
        linnet("bench", "-m", self.packed, "--prompt", 0, "--gen", 100, "--depth", 3, "--reps", 1, "--kv", "kivi4", "--chunk", 8, "--threads", 1)
        self.assertIn("(predicted ", linnet("bench", "-m", self.packed, "--prompt", "8", "--gen", 4, "--reps", 1, "--threads", 1))

    def test_cost(self):
        limits = self.dir / "limits.yaml"  # 1 GB/s and 1 TOPS of each kind: floors are the counts themselves
        limits.write_text("threads: 1\npeaks: {read_gb_s: 1, int8_tops: 1, f8_tops: 1, float_tops: 1}\n")

        def cost(path, *more):
            return linnet_json("inspect", path, "--cost", "--profile", limits, *more)

        def step(table, name):
            return next(s for s in table["steps"] if s["name"] == name)

        # The well-known figures of Llama 3 8B in 16 bits.
        c = cost("synthetic:llama-3.1-8b", "--prompt", 2048, "--depth", 2048, "--weights", "bf16", "--kv", "bf16")
        d, ff, kv, vocab, layers, n = 4096, 14336, 1024, 128256, 32, 2048
        layer = d * (2 * d + 2 * kv) + 3 * d * ff  # 218.1 M
        self.assertEqual(c["layer"]["weights"], layer + 2 * d)
        self.assertEqual(c["layer"]["bytes"], 2 * layer + 4 * 2 * d)
        self.assertEqual(c["layer"]["prefill_ops"], 2 * n * layer + 4 * n * n * d)
        self.assertTrue(217.9e6 < layer < 218.2e6 and 0.955e12 < c["layer"]["prefill_ops"] < 0.965e12)
        self.assertEqual(c["kv_bytes_per_token"], 128 * 1024)
        self.assertEqual(c["prefill"]["ops"], layers * c["layer"]["prefill_ops"] + 2 * d * vocab)
        self.assertTrue(16.0e9 < c["weight_bytes"] < 16.1e9)
        self.assertEqual(step(c["decode"], "attention")["kv_bytes"], (2049 + 1) * 128 * 1024)
        self.assertEqual((step(c["prefill"], "gate, up")["bound"], step(c["decode"], "gate, up")["bound"]), ("compute", "memory"))
        for name in ("prefill", "decode"):
            for s in c[name]["steps"]:
                wait = max((s["weight_bytes"] + s["kv_bytes"]) / 1e6, s["ops"] / 1e9)
                self.assertAlmostEqual(s["floor_ms"], wait, delta=1e-5 * wait + 1e-6)
            self.assertAlmostEqual(c[name]["floor_ms"], sum(s["floor_ms"] for s in c[name]["steps"]), delta=1e-5 * c[name]["floor_ms"])
        # Multi-head attention caches as much as there are heads.
        self.assertEqual(cost("synthetic:llama-2-7b", "--kv", "bf16")["kv_bytes_per_token"], 2 * 2 * 32 * 4096)
        # Experts: a token reads and computes 8 of 128, many tokens read nearly all.
        moe = cost("synthetic:qwen3-30b-a3b", "--prompt", 512, "--weights", "bf16")
        down = step(moe["decode"], "experts: down")
        self.assertEqual(down["ops"], 2 * 48 * 8 * 768 * 2048)
        self.assertAlmostEqual(down["weight_bytes"], 2 * 48 * 8 * 768 * 2048, delta=1)
        self.assertGreater(step(moe["prefill"], "experts: down")["weight_bytes"], 15 * down["weight_bytes"])
        self.assertLess(moe["decode"]["weight_bytes"], moe["weight_bytes"] / 5)
        # Latent attention: one key of 32 + 160 channels for all heads, absorbed; a window: no more than it holds.
        mla = cost(ROOT / "tests/golden/deepseek-v2", "--depth", 9, "--kv", "f32")
        self.assertEqual(mla["kv_bytes_per_token"], 2 * 4 * (32 + 160))
        self.assertEqual(step(mla["decode"], "attention")["ops"], 2 * 2 * 10 * 3 * (192 + 160))
        window = cost(ROOT / "tests/golden/mistral-window", "--depth", 1000)
        self.assertEqual(step(window["decode"], "attention")["ops"], 2 * 2 * 21 * 3 * 2 * 40)
        # A packed file has formats of its own, unless others are asked about.
        self.assertEqual((cost(self.packed)["weights"], cost(self.packed, "--weights", "i4g64")["weights"]), ("i8g32", "i4g64"))
        self.assertEqual(cost(self.packed)["decode"], cost(self.folder)["decode"])
        # Without limits they are measured.
        now = linnet_json("inspect", self.packed, "--cost", "--threads", 1)["limits"]
        self.assertTrue(now["measured_now"] and min(now[k] for k in ("read_gb_s", "int8_tops", "f8_tops", "float_tops")) > 0)
        self.assertIn("LM head", linnet("inspect", self.packed, "--cost", "--profile", limits))
        self.assertIn("one KV format", linnet("inspect", self.packed, "--cost", "--kv", "i8,0=f16", code=2))

    def test_kv(self):
        common = ("run", "-m", self.folder, "-p", "x", "--temp", 0, "--ignore-eos", "--threads", 1)
        text = linnet(*common, "-n", 20)
        self.assertEqual(linnet(*common, "-n", 20, "--kv", "i8/i8,0-1=i8"), text)
        plain = linnet_json("plan", "-m", self.folder, "--context", 500)
        self.assertEqual(plain["purposes"]["kv"], plain["kv_formats"]["i8"])
        mixed = linnet_json("plan", "-m", self.folder, "--context", 500, "--kv", "i8/f32,0=f32")["purposes"]["kv"]
        self.assertTrue(plain["kv_formats"]["i8"] < mixed < plain["kv_formats"]["f32"])
        self.assertIn("f8e4m3", plain["kv_formats"])
        for wrong in ("i8/", "i8,f32", "0=f32,i8", "i8,3-=f32", "i8,=f32"):
            self.assertIn(repr(wrong), linnet(*common, "-n", 5, "--kv", wrong, code=2))
        self.assertIn("layers 7..7", linnet(*common, "-n", 5, "--kv", "i8,7=f32", code=1))
        # Endless in the memory of 40 positions; the others end, or keep to the model's own length.
        run = linnet_json(*common, "-n", 700, "--context", 40, "--when-full", "sinks")
        self.assertEqual((len(run["tokens"]), run["stop"]), (700, "length"))
        self.assertEqual(linnet_json(*common, "-n", 700, "--context", 40)["stop"], "context")
        for how in ("drop-oldest", "heavy-hitters"):
            self.assertEqual(len(linnet_json(*common, "-n", 60, "--context", 40, "--keep", 16, "--when-full", how)["tokens"]), 60)
        self.assertEqual(linnet_json("plan", "-m", self.folder, "--context", 40, "--when-full", "sinks")["purposes"].keys(), plain["purposes"].keys() | {"sequences"})
        self.assertIn("at most 16", linnet(*common, "--context", 40, "--when-full", "sinks", "--keep", 17, code=1))

    # ---- machine and profile -----------------------------------------------------------------------------------------------------------

    def test_devices(self):
        devices = linnet_json("devices")
        self.assertIn(devices["isa"], [t["name"] for t in devices["tiers"] if t["runs"]])
        self.assertGreaterEqual(devices["cpus"], devices["cores"])
        self.assertGreater(devices["memory_bytes"], 0)
        self.assertIn("picked", linnet("devices"))
        self.assertIn("--write needs --measure", linnet("devices", "--write", "x", code=2))
        if SLOW:
            print("skipped: linnet devices --measure: half a minute with sanitizers")
            return
        with tempfile.TemporaryDirectory() as folder:
            written = os.path.join(folder, "this.yaml")
            fifo = os.path.join(folder, "fifo")  # which stays one, see test_nodes
            os.mkfifo(fifo)
            reader = subprocess.Popen(["cp", "--copy-contents", "-r", fifo, written])
            measured = linnet_json("devices", "--measure", "--write", fifo, "--threads", "1")
            self.assertEqual(reader.wait(timeout=60), 0)
            self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))
            os.unlink(fifo)
            runs = {t["name"]: t for t in measured["tiers"] if t["runs"]}
            self.assertTrue(all(t["decode_gb_s"] > 0 and t["prefill_tops"] > 0 for t in runs.values()))
            # Decode is ranked by its share of the read measured beside it; of tiers that prefill the same but for 3 % the stronger one wins.
            share = {n: min(1, t["decode_gb_s"] / t["read_gb_s"]) for n, t in runs.items()}
            fast = {n: t["prefill_tops"] for n, t in runs.items() if share[n] >= 0.85 * max(share.values())}
            self.assertIn(measured["fastest"], fast)
            self.assertGreaterEqual(fast[measured["fastest"]], 0.97 ** len(fast) * max(fast.values()))
            self.assertEqual(linnet_json("devices", "--check", written)["isa"], measured["fastest"])
            known = linnet_json("inspect", self.packed, "--cost", "--profile", written)["limits"]  # no need to measure again
            self.assertFalse(known["measured_now"])
            self.assertAlmostEqual(known["int8_tops"], runs[measured["fastest"]]["int8_tops"], delta=1e-3 * known["int8_tops"])
            self.assertEqual(os.listdir(folder), ["this.yaml"])
            self.assertIn("no/such", linnet("devices", "--measure", "--write", "/no/such/folder/x.yaml", "--threads", "1", code=1))

    def test_profile(self):
        sample = ROOT / "configs" / "generic-x86-64.yaml"
        if os.uname().machine == "x86_64":
            linnet("devices", "--check", sample)
        good = self.dir / "good.yaml"
        good.write_text("name: 'a device'\nisa: scalar\nthreads: 1\nkv: f16\ncontext: 77\nchunk: 9\nspin: 5\nweights: i8g32\n")
        checked = linnet_json("devices", "--check", good)
        self.assertTrue(checked["ok"])
        self.assertEqual((checked["isa"], checked["threads"], checked["kv"], checked["context"], checked["matches"]), ("scalar", 1, "f16", 77, False))
        run = linnet_json("run", "-m", self.folder, "-p", "x", "-n", 200, "--ignore-eos", "--profile", good)
        self.assertEqual((run["isa"], run["threads"], run["weights"], len(run["tokens"])), ("scalar", 1, "i8g32", 75))
        run = linnet_json("run", "-m", self.folder, "-p", "x", "-n", 200, "--ignore-eos", "--profile", good, "--context", 50, "--threads", 2, "--weights", "i8")
        self.assertEqual((run["threads"], run["weights"], len(run["tokens"])), (2, "i8", 48))
        good.write_text("context: 100000\n")  # no more than the model was trained for
        trained = linnet_json("inspect", self.packed)["spec"]["n_context"]
        run = linnet_json("run", "-m", self.packed, "-p", "x", "-n", 3, "--ignore-eos", "--profile", good)
        self.assertEqual(run["arena_bytes"], linnet_json("run", "-m", self.packed, "-p", "x", "-n", 3, "--ignore-eos", "--context", trained)["arena_bytes"])
        # What is no profile is test_profile.cpp's; here that the place gets to the user.
        bad = self.dir / "bad.yaml"
        bad.write_text("name: x\npower:\n  steps: [1, 2]\n")
        for args in (("devices", "--check", bad), ("run", "-m", self.packed, "-p", "x", "--profile", bad)):
            self.assertIn("bad.yaml:3:14: 'steps' must be whole numbers from 1 to 256, each smaller than the one before, not '2'", linnet(*args, code=1))
        self.assertIn("no profile 'no-such-board'", linnet("run", "-m", self.packed, "-p", "x", "--profile", "no-such-board", code=1))
        many = self.dir / "many.yaml"
        many.write_text("threads: 255\n")
        self.assertIn("'threads' is 255", linnet("devices", "--check", many, code=1))
        # A memory cap: plan and run refuse, and what they suggest works.
        plan = linnet_json("plan", "-m", self.packed, "--context", 1000, "--kv", "f16")
        cap = self.dir / "cap.yaml"
        cap.write_text("memory_mib: 1\n")
        self.assertGreater(plan["total"], 1 << 20)
        for args in (("plan", "-m", self.packed), ("run", "-m", self.packed, "-p", "x")):
            err = linnet(*args, "--context", 1000, "--kv", "f16", "--profile", cap, code=1)
            self.assertIn("more than the profile's memory cap of 1048576", err)
            fits = int(err.split("n_context = ")[1].split(",")[0].split(" ")[0])
            self.assertLess(linnet_json("plan", "-m", self.packed, "--context", fits, "--kv", "f16", "--profile", cap)["total"], 1 << 20)

    def sysroot(self, name):
        """A board of tests/data/boards as a folder; its README says what the files look like."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        paths, lines = [], []
        for line in (ROOT / "tests" / "data" / "boards" / (name + ".txt")).read_text().splitlines() + ["@ /end"]:
            if not line.startswith("@ "):
                lines.append(line + "\n")
                continue
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(lines).replace("\\0", "\0"))
            m = re.search(r"\{(\d+)-(\d+)\}", line)
            numbers = range(int(m[1]), int(m[2]) + 1) if m else [None]
            paths, lines = [root / (line[3:] if n is None else line[3:].replace(m[0], str(n))) for n in numbers], []
        return root

    def on_board(self, name, *args, json_too=True, root=None):
        os.environ["LINNET_SYSROOT"] = str(root or self.sysroot(name))
        try:
            return linnet_json(*args) if json_too else linnet(*args)
        finally:
            del os.environ["LINNET_SYSROOT"]

    def test_boards(self):
        for board, profile, isa, threads in (("raspberry-pi-4", "raspberry-pi-4", "neon", 4), ("raspberry-pi-5", "raspberry-pi-5", "neon_dotprod", 4), ("rk3588", "rk3588", "neon_dotprod", 4),
                                             ("jetson-agx-orin", "jetson-agx-orin", "neon_dotprod", 12), ("phone", "android-phone", "neon_bf16", 6), ("container", "x86-64-avx2", "avx2", 1)):
            with self.subTest(board=board):
                devices = self.on_board(board, "devices")
                self.assertEqual(pathlib.Path(devices["profile"]["file"]).stem, profile)
                self.assertEqual((devices["profile"]["isa"], devices["profile"]["threads"], devices["isa"]), (isa, threads, isa))
                self.assertEqual([p["name"] for p in devices["profiles"]], sorted(f.stem for f in (ROOT / "configs").glob("*.yaml")))
                text = self.on_board(board, "devices", json_too=False)
                self.assertIn(f"picked  {profile}: {isa}, {threads} thread", text)
                self.assertTrue(self.on_board(board, "devices", "--check", ROOT / "configs" / (profile + ".yaml"))["matches"])
        # The container's 1.5 CPUs are one thread here too, whatever a profile says.
        run = self.on_board("container", "run", "-m", self.packed, "-p", "x", "-n", "2")
        self.assertEqual(run["threads"], 1)
        if os.uname().machine == "x86_64":
            self.assertEqual(linnet_json("run", "-m", self.packed, "-p", "x", "-n", "2", "--profile", "auto")["threads"], linnet_json("devices")["threads"])
        self.assertNotIn("jetson", linnet_json("bench", "-m", self.packed, "--gen", 2, "--reps", 1, "--prompt", 0))
        cuda = linnet_json("devices")["cuda"]  # the GPU, or a sentence on why there is none
        if ", CUDA" in linnet_json("devices")["linnet"]:
            self.assertTrue("sms" in cuda or cuda["why"].startswith("no CUDA device: ") or "too old" in cuda["why"] or "no kernels" in cuda["why"], cuda)
        else:
            self.assertEqual(cuda, {"why": "this linnet is built without CUDA"})
        self.assertIn(cuda.get("why", cuda.get("name")), linnet("devices"))
        self.assertIn("LINNET_SYSROOT", subprocess.run([LINNET, "devices", "--measure"], capture_output=True, text=True, env={**os.environ, "LINNET_SYSROOT": "/x"}).stderr)

    def test_doctor(self):
        def holds(board, root=None, args=()):
            return {f["what"]: f["text"] for f in self.on_board(board, "doctor", *args, root=root)["findings"] if f["state"] == "holds back"}
        found = holds("raspberry-pi-4")
        self.assertEqual(set(found), {"governor", "throttling"})
        self.assertIn("powersave on CPUs 0-3", found["governor"])
        self.assertEqual(holds("raspberry-pi-5"), {})
        found = holds("raspberry-pi-4-32bit")
        self.assertIn("cortex-a72", found["32-bit system"])
        self.assertIn("in use", found["swap"])
        found = holds("container")
        self.assertIn("1.50 CPUs of time on 8 CPUs: 1 thread", found["quota"])
        self.assertIn("537 MB", found["memory limit"])
        self.assertIn("2-3,6", holds("container-v1")["CPUs"])
        # One thing at a time on a board that is fine.
        root = self.sysroot("raspberry-pi-5")
        system = root / "sys"
        def with_file(path, text, what):
            old = path.read_text() if path.exists() else None
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            self.assertEqual(set(holds("", root)), {what})
            path.unlink() if old is None else path.write_text(old)
        with_file(system / "devices/platform/soc/soc:firmware/get_throttled", "1", "throttling")
        with_file(system / "devices/platform/soc/soc:firmware/get_throttled", "80000", "throttling")
        with_file(system / "class/thermal/thermal_zone0/temp", "86000", "throttling")
        with_file(system / "kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "huge pages")
        with_file(system / "devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "1500000", "clock")
        with_file(system / "devices/system/cpu/cpu1/cpufreq/scaling_governor", "conservative", "governor")
        with_file(root / "proc/loadavg", "3.90 3.00 2.00 5/300 9999", "load")
        with_file(root / "proc/meminfo", "MemTotal: 8245248 kB\nMemAvailable: 7400000 kB\nSwapTotal: 2000000 kB\nSwapFree: 900000 kB\n", "swap")
        self.assertEqual(holds("", root, ("-m", self.packed)), {})
        (root / "proc/meminfo").write_text("MemTotal: 1000 kB\nMemAvailable: 100 kB\n")
        self.assertIn("memory has room for 102 kB", holds("", root, ("-m", self.packed))["page cache"])
        self.assertIn("this board back", linnet("doctor"))


class Chat(unittest.TestCase):
    """The chat format from linnet_chat.json to the prompt; what the answers mean is test_assistant.py's."""
    FORMAT = {"user": {"prefix": "[U]", "suffix": "\n"}, "assistant": {"prefix": "[A]", "suffix": "</s>"}, "tool": {"prefix": "[T]", "suffix": ""}}

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-"))
        cls.folder = tiny_model.make(cls.dir / "tiny")
        linnet("convert", cls.folder, "-o", cls.dir / "bare.gguf")
        (cls.folder / "linnet_chat.json").write_text(json.dumps(cls.FORMAT))
        cls.packed = cls.dir / "chat.gguf"
        linnet("convert", cls.folder, "-o", cls.packed)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def messages(self, *conversations, code=0, more=()):
        lines = "".join(json.dumps([{"role": r, "content": c} for r, c in conversation]) + "\n" for conversation in conversations)
        out = linnet("chat", "-m", self.packed, "--json", "-n", 8, "--ignore-eos", *more, stdin=lines.encode(), code=code)
        return out if code else [json.loads(line) for line in out.splitlines()]

    def test_prompt(self):
        """The tokens are those of the same text given to `linnet run`, except that special tokens in a message are plain text."""
        answer = self.messages([("user", "hi"), ("assistant", "yo"), ("tool", "1"), ("user", "x")])[0]
        text = "[U]hi\n[A]yo</s>[T]1[U]x\n[A]"
        run = linnet_json("run", "-m", self.packed, "-p", text, "-n", 8, "--temp", 0, "--ignore-eos")
        self.assertEqual((answer["tokens"], answer["prompt_tokens"]), (run["tokens"], run["prompt_tokens"]))
        self.assertEqual(self.messages([("user", "</s>")])[0]["prompt_tokens"], 1 + 3 + 4 + 1 + 3)

    def test_same_beginning(self):
        """What a conversation shares with the one before is not computed again, and changes no token."""
        a, b = [("user", "what is it")], [("user", "what was it")]
        together = self.messages(a, b, a)
        self.assertEqual([t["tokens"] for t in together], [self.messages(c)[0]["tokens"] for c in (a, b, a)])
        self.assertLess(together[1]["prompt_tokens"], together[0]["prompt_tokens"])
        # What the rest of a shared beginning would see was dropped: all is computed again.
        long, drops = [("user", "what is it that is there " * 3)], ("--when-full", "drop-oldest", "--context", 32, "--chunk", 8)
        together = self.messages(long, a, more=drops)
        self.assertEqual(together[1]["tokens"], self.messages(a, more=drops)[0]["tokens"])
        self.assertEqual(together[1]["prompt_tokens"], self.messages(a)[0]["prompt_tokens"])

    def test_stop_strings(self):
        """The history holds an answer as it was drawn, without the string that ended it."""
        # A template takes UTF-8: what is said is held to some.
        words = ("--schema", self.dir / "words.json")
        (self.dir / "words.json").write_text('{"type":"string","pattern":"^[a-z]*$"}')
        long = self.messages([("user", "hi")], more=("-n", 40, *words))[0]["text"]
        stop = next(long[i:i + 2] for i in range(4, len(long)) if long[i:i + 2].isascii() and long[i:i + 2] not in long[:i + 1])
        args = ("chat", "-m", self.packed, "-n", 40, "--ignore-eos", "--stop", "never there", "--stop", stop, *words)
        first = linnet_json(*args, stdin=b'[{"role": "user", "content": "hi"}]')
        self.assertEqual((first["stop"], first["text"]), ("string", long[:long.index(stop)]))
        second = linnet(*args, stdin=b"hi\nyo\n").encode("utf-8", "surrogateescape")
        ids = json.loads(linnet("tokenize", "-m", self.packed, "[U]hi\n[A]")) + first["tokens"][:-2] + json.loads(linnet("tokenize", "-m", self.packed, "--no-add-special", "</s>[U]yo\n[A]"))
        want = linnet_json("run", "-m", self.packed, "--tokens", ",".join(map(str, ids)), "-n", 40, "--temp", 0, "--ignore-eos", "--stop", stop, *words)["text"]
        self.assertEqual(second, (first["text"] + "\n" + want + "\n").encode())

    def test_lines(self):
        lines = linnet("chat", "-m", self.packed, "-n", 4, "--ignore-eos", stdin=b"hi\n\n/tool 1\n/reset\nhi\n/exit\nnever\n").split("\n")
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[0], lines[2])
        self.assertEqual(lines[0], linnet("chat", "-m", self.packed, "-n", 4, "--ignore-eos", "-p", "hi").split("\n")[0])
        for layout in ("plain", "packed"):
            linnet("convert", self.folder, "-o", self.dir / f"{layout}.gguf", "--layout", layout, *(["--weights", "f32"] if layout == "plain" else []))
            self.assertEqual(linnet_json("inspect", self.dir / f"{layout}.gguf")["chat"], ["user", "assistant", "tool"])

        crlf = linnet("chat", "-m", self.packed, "-n", 4, "--ignore-eos", stdin=b"hi\r\n/exit\r\n")
        self.assertEqual(crlf.split("\n")[0], lines[0])
        # 10 tokens, an answer of 4 and its suffix, 7 tokens, and room for 2 of the second answer: the first one is in the history.
        (self.dir / "words.json").write_text('{"type":"string","pattern":"^[a-z]*$"}')
        r = subprocess.run([LINNET, "chat", "-m", self.packed, "-n", "4", "--ignore-eos", "--schema", self.dir / "words.json", "--context", "24"], input=b"hi\n/tool 1\n", capture_output=True, check=True)
        self.assertIn(b"the context is full", r.stderr)
        self.assertNotIn(b"the context is full", subprocess.run([*r.args[:-1], "26"], input=b"hi\n/tool 1\n", capture_output=True, check=True).stderr)

    def test_bad_lines(self):
        """What cannot be answered is said and left out; the lines behind it are answered as if it had not been, and the exit code is 1."""
        def chat(*args, stdin, code):
            done = subprocess.run([LINNET, "chat", "-m", str(self.packed), "-n", "4", "--ignore-eos", *args], input=stdin, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout, done.stderr.decode()
        good = chat(stdin=b"hi\nyo\n", code=0)[0]
        self.assertEqual(chat(stdin=b"/foo\nhi\n/\n" + b"x" * (1 << 20) + b"y\n/reset now\nyo\n", code=1)[0], good)
        self.assertEqual(chat(stdin=b"hi\n/foo\nyo\n/exit\n", code=1)[0], good)
        out, err = chat("--context", "48", stdin=b"hi\n" + b"z" * 60 + b"\nyo\n", code=1)  # there is no room for the second one
        self.assertEqual(out, good)
        self.assertIn("context", err)
        lines = [json.dumps([{"role": "user", "content": text}]) for text in ("hi", "z" * 60, "yo")]
        lines[1:1] = ["{", '[{"role": "king", "content": "x"}]', "", "[]", '"' + "x" * (1 << 20) + '"']
        out, err = chat("--json", "--context", "48", stdin="\n".join(lines).encode(), code=1)
        answers = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([a["stop"] for a in answers], ["length", *["error"] * 5, "length"])
        self.assertEqual([a["line"] for a in answers[1:-1]], [2, 3, 5, 6, 7])
        for line, said in ((2, "not a JSON array"), (3, "'king'"), (5, "not a JSON array"), (7, "prefill")):
            self.assertRegex(err, f"line {line}: .*{said}")
        self.assertIn("longer than", err)
        alone = [json.loads(chat("--json", stdin=lines[i].encode(), code=0)[0]) for i in (0, -1)]
        self.assertEqual([a["tokens"] for a in (answers[0], answers[-1])], [a["tokens"] for a in alone])

    def test_slash(self):
        """Two of them begin a message with one."""
        def chat(text):
            return linnet("chat", "-m", self.packed, "-n", 12, "--ignore-eos", stdin=text + b"\n")
        for line, message in ((b"//exit", "/exit"), (b"//tool 1", "/tool 1"), (b"///", "//"), (b"//", "/")):
            self.assertEqual(chat(line), linnet("run", "-m", self.packed, "-p", f"[U]{message}\n[A]", "-n", 12, "--temp", 0, "--ignore-eos"))

    def packed_as(self, name, chat, special=True):
        """The tiny model with another chat format; special: whether its named tokens are special ones."""
        folder = tiny_model.make(self.dir / name)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        for token in tokenizer["added_tokens"]:
            token["special"] = special
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        (folder / "linnet_chat.json").write_text(json.dumps(chat))
        linnet("convert", folder, "-o", self.dir / f"{name}.gguf")
        return self.dir / f"{name}.gguf"

    def test_markers(self):
        """A message cannot hold what stands around messages, and an answer ends where its suffix begins."""
        line = json.dumps([{"role": "user", "content": "</s>"}]).encode()
        plain = self.packed_as("plain", self.FORMAT, special=False)
        self.assertEqual(linnet_json("chat", "-m", plain, "-n", 1, stdin=line)["prompt_tokens"], 1 + 3 + 4 + 1 + 3)
        marked = self.packed_as("marked", {**self.FORMAT, "assistant": {"prefix": "[A]", "suffix": "<unk>"}}, special=False)
        drawn = {m: [linnet_json("chat", "-m", m, "-n", 200, "--temp", 100, "--top-k", 0, "--top-p", 1, "--min-p", 0, "--seed", s, stdin=line) for s in range(8)] for m in (plain, marked)}
        self.assertTrue(any(0 in answer["tokens"] for answer in drawn[plain]))
        self.assertFalse(any(0 in answer["tokens"] for answer in drawn[marked]))
        long = self.messages([("user", "hi")])[0]["text"]
        suffix = next(c for i, c in enumerate(long) if i > 1 and c not in long[:i] and c.isascii() and c.isprintable())
        texted = self.packed_as("texted", {**self.FORMAT, "assistant": {"prefix": "[A]", "suffix": suffix}})
        cut = linnet_json("chat", "-m", texted, stdin=json.dumps([{"role": "user", "content": "hi"}]).encode())
        self.assertEqual((cut["stop"], cut["text"]), ("string", long[:long.index(suffix)]))

    def test_grammar(self):
        """--schema and --tools hold even a model that knows nothing to what they say."""
        schema, tools = self.dir / "schema.json", self.dir / "tools.json"
        schema.write_text('{"type":"object","properties":{"on":{"type":"boolean"},"n":{"type":"integer","minimum":3,"maximum":12}},"required":["n"]}')
        tools.write_text('[{"type":"function","function":{"name":"act","parameters":{"type":"object","properties":{"what":{"enum":["a","b"]}},"required":["what"]}}}]')
        for seed in range(12):
            out = linnet_json("run", "-m", self.packed, "-p", "x", "--schema", schema, "--temp", 2, "--seed", seed)
            value = json.loads(out["text"])
            self.assertEqual(out["stop"], "grammar")
            self.assertTrue(3 <= value.pop("n") <= 12 and all(isinstance(v, bool) for v in value.values()) and set(value) <= {"on"})
            drawn = ["--tools", tools, "--temp", 50, "--top-k", 0, "--top-p", 1, "--min-p", 0, "--seed", seed, "-n", 40]
            for out in (linnet_json("chat", "-m", self.packed, *drawn, "-p", "x"), linnet_json("run", "-m", self.packed, *drawn, "-p", "x")):
                if out["text"].startswith("{") and out["stop"] == "grammar":
                    self.assertIn(json.loads(out["text"]), [{"name": "act", "arguments": {"what": w}} for w in "ab"])
                else:
                    self.assertNotRegex(out["text"], r"^[{\s]")
        self.assertIn("either --tools or --schema", linnet("run", "-m", self.packed, "-p", "x", "--schema", schema, "--tools", tools, code=1))
        schema.write_text('{"type":"string","format":"song"}')
        self.assertIn('#: format "song" is not supported', linnet("run", "-m", self.packed, "-p", "x", "--schema", schema, code=1))
        # By choice: unknown formats say nothing, white space stands between tokens.
        schema.write_text('{"type":"object","properties":{"a":{"type":"string","format":"song","maxLength":3},"b":{"enum":[1,2]}},"required":["a","b"],"additionalProperties":false}')
        spaced = 0
        for seed in range(12):
            drawn = ("run", "-m", self.packed, "-p", "x", "--schema", schema, "--any-format", "--temp", 2, "--seed", seed, "-n", 100)
            tight, wide = linnet_json(*drawn)["text"], linnet_json(*drawn, "--spaced")["text"]
            self.assertRegex(tight, r'^\{"a":".*","b":[12]\}$')
            out = json.loads(wide)
            self.assertTrue(len(out["a"]) <= 3 and out["b"] in (1, 2), wide)
            spaced += not re.fullmatch(r'\{"a":".*","b":[12]\}', wide)
        self.assertGreater(spaced, 0)
        for flag in ("--spaced", "--any-format"):
            self.assertIn(flag + " goes with --schema or --tools", linnet("run", "-m", self.packed, "-p", "x", "--regex", "a", flag, code=1))
            self.assertIn(flag + " goes with --schema or --tools", linnet("run", "-m", self.packed, "-p", "x", flag, code=1))
        self.assertIn("missing.json", linnet("chat", "-m", self.packed, "-p", "x", "--tools", self.dir / "missing.json", code=1))
        # GBNF from a file or as it is, expressions, choices.
        rules, text = self.dir / "rules.gbnf", 'root ::= "<" (root | [0-9]{1,3}) ">"\n'
        rules.write_text(text)
        drawn = ("run", "-m", self.packed, "-p", "x", "--temp", 2, "-n", 200)
        for seed in range(6):
            same = [linnet_json(*drawn, "--seed", seed, "--grammar", g)["text"] for g in (rules, text)]
            self.assertEqual(same[0], same[1])
            self.assertRegex(same[0], r"^<+([0-9]{1,3}>+)?$")
            out = linnet_json("chat", "-m", self.packed, "--temp", 2, "--seed", seed, "-p", "x", "--regex", r"[01]\d:[0-5]\d( [ap]m)?")
            self.assertRegex(out["text"], r"^[01]\d:[0-5]\d( [ap]m)?$")
            for choices in ("yes,no", '["yes","no"]'):
                self.assertIn(linnet_json(*drawn, "--seed", seed, "--choices", choices)["text"], ("yes", "no"))
        for given, what in ((("--grammar", "root ::= a"), "--grammar: line 1: there is no rule a"), (("--regex", "(?=a)"), "--regex: a group that begins with '(?'"), (("--choices", ""), "--choices: #/0: a choice"),
                            (("--choices", "a", "--regex", "a"), "give either --regex or --choices"), (("--grammar", self.dir / "missing.gbnf"), "missing.gbnf")):
            self.assertIn(what, linnet(*drawn, *given, code=1))

    def test_interrupt(self):
        """SIGTERM ends a batch, be it at work or waiting, and its exit code says so."""
        line = json.dumps([{"role": "user", "content": "hi"}]).encode() + b"\n"
        for n, lines in ((1, 1), (16000, 50)):
            p = subprocess.Popen([LINNET, "chat", "-m", self.packed, "--json", "-n", str(n), "--context", "20000", "--ignore-eos"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            p.stdin.write(line * lines)
            p.stdin.flush()
            if n == 1:
                p.stdout.readline()
            time.sleep(0.5)
            p.send_signal(signal.SIGTERM)
            out, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, -signal.SIGTERM, err)
            self.assertLess(len([json.loads(row) for row in out.splitlines()]), lines)

    def test_refusals(self):
        def refused(word, *args, stdin=b""):
            self.assertIn(word, linnet("chat", *args, stdin=stdin, code=1))
        bare = self.dir / "bare.gguf"
        refused("no chat template", "-m", bare, "-p", "x")
        refused("role 'system'", "-m", self.packed, "-p", "x", "--system", "y")
        for line, word in [(b"{", "line 1: not a JSON array"), (b"[]", "line 1: not a JSON array"), (b'["x"]', "line 1: a message has no text 'role'"), (b'[{"role": "user"}]', "content"),
                           (b'[{"role": "user", "content": 1}]', "content"), (b'[{"role": "king", "content": "x"}]', "'king'"), (b'[{"role": "system", "content": "x"}]', "'system'"),
                           (b"[" * 100000, "not a JSON array"), (b'\n[{"role": "user", "content": "a"}]\0[]', "line 2: not a JSON array"), (b'[{"role": "user", "content": "' + b"x" * (1 << 20) + b'"}]', "longer than")]:
            refused(word, "-m", self.packed, "--json", stdin=line + b"\n")
        refused("/foo", "-m", self.packed, stdin=b"/foo\n")
        refused("context", "-m", self.packed, "--context", 16, stdin=b"a long message that does not fit\n")
        refused("line 1: prefill", "-m", self.packed, "--json", "--context", 16, stdin=b'[{"role": "user", "content": "a long message that does not fit"}]\n')
        folder = tiny_model.make(self.dir / "jinja")
        (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": [{"name": "default", "template": "a\n{{ messages | nothing_known }}"}, {"name": "tool_use", "template": "{{ messages[0].content }}"}]}))
        refused("chat template, line 2", "-m", folder, "-p", "x")
        refused("nothing_known", "-m", folder, "-p", "x")
        refused("no chat template named 'rag'", "-m", folder, "-p", "x", "--template", "rag")
        self.assertTrue(linnet("chat", "-m", folder, "-p", "x", "-n", 2, "--ignore-eos", "--template", "tool_use"))
        listed = linnet_json("inspect", folder)["chat_templates"]
        self.assertEqual([(t["name"], t["compiled"]) for t in listed], [("default", False), ("tool_use", True)])
        self.assertIn("nothing_known", listed[0]["error"])
        self.assertIn("chat template tool_use: compiled", linnet("inspect", folder))
        for broken, word in [({"user": {"prefix": "x", "suffix": "y"}}, "'assistant'"), ({"king": {}}, "'king'"), ({"user": {"prefix": "x"}}, "user.suffix"), ({"user": 1}, "user.prefix"),
                             ({"user": {"prefix": "x" * 128, "suffix": ""}}, "128"), ({"user": {"prefix": "", "suffix": ""}, "assistant": {"prefix": "x", "suffix": ""}}, "empty"),
                             ({"user": {"prefix": "a\0b", "suffix": ""}}, "NUL"), ({"user": {"prefix": "x", "suffix": "", "mid": ""}}, "other than"), ([], "not an object")]:
            (folder / "linnet_chat.json").write_text(json.dumps(broken))
            with self.subTest(broken=broken):
                refused(word, "-m", folder, "-p", "x")
                self.assertIn("linnet_chat.json", linnet("convert", folder, "-o", self.dir / "o.gguf", code=1))


@unittest.skipUnless((DATA / "models" / "stories260K").is_dir(), "no stories260K (set LINNET_DATA to the folder that holds models/)")
class Stories(unittest.TestCase):
    folder = DATA / "models" / "stories260K"
    gguf = DATA / "models" / "stories260Ktok512.gguf"

    def test_greedy_text(self):
        want = (self.folder / "greedy_200.txt").read_text()
        for model in (self.folder, self.gguf):
            got = linnet("run", "-m", model, "-p", "Once upon a time", "-n", 200, "--temp", 0, "--weights", "f32", "--kv", "f32", "--echo")
            n = min(len(got.rstrip()), len(want.rstrip()))
            self.assertGreater(n, 400)
            self.assertEqual(got[:n], want[:n])

    def test_perplexity(self):
        golden = json.loads((self.folder / "golden.json").read_text())
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
            text.write(golden["text"])
            text.flush()
            self.assertEqual(json.loads(linnet("tokenize", "-m", self.folder, golden["text"])), golden["ids"])
            result = linnet_json("eval", "-m", self.folder, text.name, "--weights", "f32", "--kv", "f32")
            self.assertEqual(result["tokens"], len(golden["ids"]) - 1)
            self.assertAlmostEqual(result["perplexity"], 4.9536, delta=1e-4)
            self.assertAlmostEqual(result["nll_sum"], golden["nll_sum"], delta=1e-3)
            int8 = linnet_json("eval", "-m", self.folder, text.name, "--against", self.folder)
            self.assertLess(int8["kl_mean"], 5e-3)


if __name__ == "__main__":
    unittest.main(verbosity=1)
