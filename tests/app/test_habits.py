#!/usr/bin/env python3
"""What people who come from llama.cpp or ollama type, and what they are answered: test_habits.py LINNET. Standard library only.

Runs on a tiny random model (tiny_model.py).
"""
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import tiny_model
from test_cli import COMMANDS, DATA, LINNET, ROOT, SLOW, linnet, linnet_json, read_npy


class Habits(unittest.TestCase):
    """What people who come from llama.cpp or ollama type, and what is typed wrong."""
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-"))
        cls.packed = cls.dir / "tiny.gguf"
        linnet("convert", tiny_model.make(cls.dir / "tiny"), "-o", cls.packed)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def test_unknown(self):
        """An unknown option or command is answered with what was meant, where something here is that."""
        def end(*args):
            return re.fullmatch(r"linnet[^:]*: unknown (?:option|command) '[^']*'(.*)\n--help .*\n", linnet(*args, code=2))[1]
        for command, typed, meant in [
            ("run", "--ctx-size", "--context"), ("run", "--ctx-size=9", "--context"), ("plan", "--ctx-size", "--context"), ("run", "--n-predict", "--n-tokens"), ("chat", "--predict", "--n-tokens"),
            ("run", "-b", "--chunk"), ("bench", "--ubatch-size", "--chunk"), ("chat", "-sys", "--system"), ("chat", "--system-prompt", "--system"), ("run", "-jf", "--schema"), ("run", "--grammar-file", "--grammar"),
            ("run", "--temperature", "--temp"), ("run", "--mlock", "--load lock"), ("eval", "--no-mmap", "--load copy"),
            ("run", "--tmep", "--temp"), ("run", "--contxt", "--context"), ("run", "--thread=3", "--threads"), ("convert", "--output", None), ("convert", "--weigths", "--weights"),
            ("inspect", "--csot", "--cost"), ("run", "--jsn", "--json"), ("tokenize", "--line", "--lines"),
            ("inspect", "--ctx-size", None), ("convert", "--mlock", None), ("tokenize", "-b", None), ("run", "-sys", None),  # nothing there is that
            ("run", "-x", None), ("run", "--x", None), ("run", "--colour", None), ("run", "--" + "y" * 5000, None),
        ]:
            with self.subTest(command=command, typed=typed[:30]):
                self.assertEqual(end(command, typed), f": did you mean '{meant}'?" if meant else "")
        for command, typed, word in [
            ("run", "-ngl", "'--cuda on'"), ("run", "--cache-type-k", "--kv i8/f16"), ("run", "-ctv", "--kv i8/f16"), ("run", "-j", "'--schema FILE'"), ("run", "-f", "< FILE"), ("run", "-e", "$'"),
            ("run", "-fa", "leave it out"), ("run", "-cnv", "'linnet chat'"), ("chat", "-cnv", "leave it out"), ("run", "-no-cnv", "leave it out"), ("chat", "--no-conversation", "'linnet run'"),
            ("run", "-hf", "-m hf:"), ("run", "--lora-scaled", "PATH:SCALE"), ("run", "-md", "yet"),
        ]:
            with self.subTest(command=command, typed=typed):
                self.assertIn(word, end(command, typed))
                self.assertNotIn("did you mean", end(command, typed))
        for typed, meant in [("rum", "run"), ("cht", "chat"), ("bnech", "bench"), ("detokenise", "detokenize"), ("show", "inspect"), ("quantize", "convert"), ("perplexity", "eval"), ("fly", None), ("", None)]:
            self.assertEqual(end(typed), f": did you mean '{meant}'?" if meant else "", typed)

    def test_table(self):
        """The tables in docs/commands.md: what stands there is taken or answered by the tool, what stands here is what it has."""
        section = (ROOT / "docs" / "commands.md").read_text().split("\n## From llama.cpp and ollama\n")[1].split("\n## ")[0]
        serves = pathlib.Path(LINNET).with_name("linnet-server").exists()  # another program, and not in every build
        options = {c: set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", linnet(c, "--help").split("\n\n")[2])) for c in (*COMMANDS, *(["serve"] if serves else []))}

        def named(text):
            return [name for code in re.findall(r"`([^`]*)`", text) for name in re.findall(r"(?<![\w-])--?[a-z][\w-]*", code)]

        def answer(command, option):
            """"" where the option is taken."""
            done = subprocess.run([LINNET, command, option], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            unknown = re.match(rf"linnet[^:]*: unknown [^']*'[^']*'(.*)", done.stderr)
            return unknown[1] if unknown else ""
        seen = set()
        for table in re.findall(r"(?m)^(?:\|.*\n)+", section):
            head, _, *rows = re.findall(r"(?m)^\| (.*) \| (.*) \|$|^(\|---\|---\|)$", table)
            commands = re.findall(r"`linnet (\w+)`", head[1])
            self.assertTrue(commands and rows, head)
            if commands == ["serve"] and not serves:
                continue
            for there, here, _ in rows:
                for option in named(there):
                    seen.add(option)
                    answers = [answer(command, option) for command in commands]
                    taken = [a == "" and option in options.get(command, ()) for a, command in zip(answers, commands)]
                    self.assertTrue(any(taken) or any(answers), (head[0], option))
                    if here.startswith("the same"):
                        self.assertTrue(any(taken), (head[0], option))
                    elif here.startswith("not yet") and not any(taken):
                        self.assertIn("yet", "".join(answers), (head[0], option))
                for code in re.findall(r"`([^`]*)`", here):
                    command = re.match(r"(?:linnet )?([a-z]+)\b", code)
                    known = options[command[1]] if command and command[1] in options else set.union(*options.values())
                    self.assertLessEqual(set(named(f"`{code}`")), known, (there, code))
            if "ollama" in head[0] or "llama-" in head[0]:
                for program in re.findall(r"`(llama-\w+)`", head[0]):
                    said = answer(program, "-m")
                    self.assertTrue(any(f"'{c}'" in said for c in commands) or "serve" in said, program)
        self.assertGreater(len(seen), 90)
        for command in ("create", "show", "list", "ps", "stop", "rm", "cp"):
            self.assertNotEqual(answer(command, "x"), "", command)

    def test_short_forms(self):
        """-c, -t and -s are what they are in llama.cpp."""
        run = ("run", "-m", self.packed, "-p", "Hello", "-n", 12, "--ignore-eos", "--temp", 5)
        long = linnet_json(*run, "--seed", 5, "--threads", 1, "--context", 32)
        short = linnet_json(*run, "-s", 5, "-t", 1, "-c", 32)
        self.assertEqual([short[k] for k in ("tokens", "seed", "threads", "arena_bytes")], [long[k] for k in ("tokens", "seed", "threads", "arena_bytes")])
        self.assertNotEqual(linnet_json(*run, "-s", 5, "-c", 2048)["arena_bytes"], long["arena_bytes"])
        self.assertIn("'-c, --context' takes a whole number", linnet(*run, "-c", 0, code=2))
        # A seed begins the drawing of a saved sequence anew; without one it goes on.
        state = self.dir / "habits.state"

        def second(*more):
            state.unlink(missing_ok=True)
            linnet(*run, "-s", 5, "--state", state)
            return linnet_json(*run[:-2], "--state", state, *more)["seed"]
        self.assertEqual((second(), second("-s", 6), second("--seed", 6)), (5, 6, 6))
        self.assertNotEqual(second("-s", -1), 5)

    def test_prompt(self):
        """The prompt as an argument is the one of -p, whatever stands before and behind it."""
        more = ("-m", self.packed, "-n", 6, "--temp", 0, "--ignore-eos", "--echo")
        want = linnet("run", *more, "-p", "Hello")
        self.assertTrue(want.startswith("Hello"))
        for args in (("run", *more, "Hello"), ("run", "Hello", *more), ("run", *more, "--", "Hello")):
            self.assertEqual(linnet(*args, stdin=b"not this"), want)
        self.assertTrue(linnet("run", *more, "--", "--echo").startswith("--echo"))
        self.assertEqual(linnet("run", *more, stdin=b"Hello\n"), want)
        self.assertEqual(linnet_json("run", *more, "")["prompt_tokens"], 1)

    def test_ids(self):
        """What tokenize prints is what detokenize and --tokens take."""
        ids = linnet("tokenize", "-m", self.packed, "Hello, you")
        self.assertTrue(ids.startswith("[1,"))
        bare = ids.strip().strip("[]")
        want = linnet("detokenize", "-m", self.packed, bare)
        self.assertIn("Hello, you", want)
        for form in (ids, ids.strip(), json.dumps(json.loads(ids)), json.dumps(json.loads(ids), indent=1), f" {bare}\n", bare.replace(",", " , ")):
            self.assertEqual(linnet("detokenize", "-m", self.packed, form), want)
            self.assertEqual(linnet("detokenize", "-m", self.packed, stdin=form.encode()), want)
        self.assertEqual(linnet_json("detokenize", "-m", self.packed, stdin=ids.encode()), linnet_json("detokenize", "-m", self.packed, bare))
        run = ("run", "-m", self.packed, "-n", 4, "--temp", 0, "--ignore-eos", "--tokens")
        self.assertEqual(linnet_json(*run, ids)["tokens"], linnet_json(*run, bare)["tokens"])
        for name, form in (("a", ids), ("b", bare)):
            linnet("logits", "-m", self.packed, "--tokens", form, "-o", self.dir / name)
        self.assertEqual((self.dir / "a").read_bytes(), (self.dir / "b").read_bytes())
        self.assertEqual(linnet("detokenize", "-m", self.packed, "[]"), "\n")
        for bad in ("[1,2", "1,2]", "[[1]]", "[1,]", "[,1]", "1 2", "[1][2]", "[", "]", "", "[1.5]", "[-1]"):
            with self.subTest(bad=bad):
                self.assertIn("with commas", linnet("detokenize", "-m", self.packed, bad, code=2))
                self.assertIn("stdin holds no numbers", linnet("detokenize", "-m", self.packed, stdin=bad.encode(), code=1))
                self.assertIn("with commas", linnet(*run, bad, code=2))

    def test_inspect(self):
        """-m M is M."""
        self.assertEqual(linnet_json("inspect", "-m", self.packed), linnet_json("inspect", self.packed))
        self.assertEqual(linnet("inspect", "--model", self.packed), linnet("inspect", self.packed))
        self.assertEqual(linnet("inspect", "-m", self.dir / "absent", code=1), linnet("inspect", self.dir / "absent", code=1))

    def test_open(self):
        """-n -1 goes on to the end, or as far as the context; --seed -1 is another one each time, and told."""
        run = ("run", "-m", self.packed, "-p", "Hello", "--temp", 0)
        trained = linnet_json("inspect", self.packed)["spec"]["n_context"]
        for more, context in (((), trained), (("-c", 40), 40)):
            out = linnet_json(*run, "-n", -1, "--ignore-eos", *more)
            self.assertEqual((out["stop"], out["prompt_tokens"] + len(out["tokens"])), ("context", context))
            self.assertEqual(linnet_json(*run, "-n", 20, "--ignore-eos")["tokens"], out["tokens"][:20])
        self.assertEqual(subprocess.run([LINNET, *map(str, run), "-n", "-1"], capture_output=True, check=True).stderr.count(b"may get worse"), 0)
        long = "x" * (trained + 1)
        self.assertIn("context", linnet("run", "-m", self.packed, "-p", long, "-n", -1, code=1))
        stop = next(c for c in linnet_json(*run, "-n", 60, "--ignore-eos")["text"] if c.isascii() and c.isprintable())
        self.assertEqual(linnet_json(*run, "-n", -1, "--ignore-eos", "--stop", stop)["stop"], "string")
        hot = ("run", "-m", self.packed, "-p", "Hello", "-n", 8, "--temp", 50, "--ignore-eos")
        drawn = [linnet_json(*hot, "--seed", -1) for _ in range(4)]
        self.assertEqual(len({d["seed"] for d in drawn}), 4)
        self.assertEqual(linnet_json(*hot, "-s", drawn[0]["seed"])["tokens"], drawn[0]["tokens"])
        told = subprocess.run([LINNET, *map(str, hot), "-s", "-1"], capture_output=True, check=True)
        seed = re.search(rb"seed (\d+)\n", told.stderr)[1]
        self.assertNotEqual(int(seed), 2**64 - 1)
        self.assertEqual(linnet(*hot, "-s", seed.decode()).encode("utf-8", "surrogateescape"), told.stdout)

    def test_help(self):
        for command in COMMANDS:
            self.assertEqual(linnet("help", command), linnet(command, "--help"))
        for args in (("help",), ("help", "help"), ("help", "--help")):
            self.assertEqual(linnet(*args), linnet("--help"))
        self.assertIn("unknown command 'rum': did you mean 'run'?", linnet("help", "rum", code=2))

    # ---- what is listed ---------------------------------------------------------------------------------------------------

    def test_errors_list_what_is_allowed(self):
        """Tiers of this machine, shapes that are known, and every word of a list."""
        here = ["auto", *(row["name"] for row in linnet_json("devices")["tiers"] if row["runs"])]
        self.assertGreater(len(here), 2)
        for command in ("run", "bench", "inspect"):
            listed = re.search(r"takes (.*), not 'sse9'\n", linnet(command, "--isa", "sse9", code=2))[1]
            self.assertEqual(re.split(", | or ", listed), here)
        self.assertRegex(linnet("convert", "--synthetic", "llama", "-o", self.dir / "x", code=2), r"takes llama-3\.2-1b, .* or stories15m, not 'llama'")
        for option, bad in (("--weights", "i8,i9"), ("--weights", "i8,"), ("--kv", "i8,0=f9"), ("--kv", ","), ("--threads", "1,0"), ("--threads", "1,,2"), ("-o", "json")):
            self.assertRegex(linnet("bench", "-m", self.packed, option, bad, code=2), rf"option '[^']*{option}\b[^']*' takes .*, not '{bad}'\n")
        self.assertIn("linnet devices lists", linnet("run", "-m", self.packed, "-p", "x", "--profile", "nowhere", code=1))

    # ---- what is said on stderr ---------------------------------------------------------------------------------------------

    def said(self, *args, command=("run",)):
        done = subprocess.run([LINNET, *command, "-m", str(self.packed), *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_log_levels(self):
        """Each level says what those before it say, and more; what stands on stdout is the same."""
        far = ("-p", "Hello", "-n", 600, "--temp", 0, "--ignore-eos", "-t", 1)  # farther than the model was trained for
        outs, errs = zip(*(self.said(*far, "--log-level", level) for level in ("error", "note", "info", "debug")))
        self.assertEqual(len(set(outs)), 1)
        self.assertEqual(errs[0], "")
        self.assertRegex(errs[1], r"\Alinnet run: note: \d+ positions are needed, .*\n\Z")
        self.assertTrue(errs[2].startswith(errs[1]))
        self.assertIn(" generated (", errs[2])
        self.assertRegex(errs[3], r"\Alinnet run: .*tiny\.gguf: .* the file as it is, .*\nlinnet run: note: .*\nlinnet run: a session of \d+ positions on 1 thread of \w+, .*\n")
        self.assertEqual(self.said(*far, "-q"), (outs[0], ""))
        self.assertEqual(self.said(*far)[0], outs[0])
        self.assertIn("takes error, note, info or debug", linnet("run", "--log-level", "loud", code=2))
        for command in COMMANDS:
            self.assertEqual(linnet(command, "--quiet", "--help"), linnet(command, "--help"))
        self.assertIn("absent", linnet("run", "-q", "-m", self.dir / "absent", "-p", "x", code=1))

    def test_threads(self):
        """Threads that no CPU is there for are left out, with a note; the tokens are the same."""
        cpus = len(os.sched_getaffinity(0))
        run = ("-p", "Hello", "-n", 4, "--temp", 0, "--ignore-eos", "-t", 256)
        out, err = self.said(*run)
        self.assertRegex(err, r"\Alinnet run: note: 256 threads are cut to \d+: this process may use \d+ CPU")
        self.assertLessEqual(int(re.search(r"cut to (\d+)", err)[1]), cpus)
        self.assertEqual(self.said(*run[:-1], 1)[0], out)
        self.assertEqual(linnet_json("plan", "-m", self.packed, "-t", 256)["total"], linnet_json("plan", "-m", self.packed, "-t", 256, "-q")["total"])
        one = min(os.sched_getaffinity(0))
        done = subprocess.run([LINNET, "run", "-m", str(self.packed), *map(str, run[:-1]), "2", "--json"], preexec_fn=lambda: os.sched_setaffinity(0, {one}), capture_output=True, text=True, timeout=120)
        self.assertEqual((json.loads(done.stdout)["threads"], done.stderr), (1, "linnet run: note: 2 threads are cut to 1: this process may use 1 CPU\n"))

    # ---- answers ------------------------------------------------------------------------------------------------------------

    def test_special(self):
        """Special tokens of an answer are hidden, in whatever pieces their text comes, and shown with --special."""
        hot = ("run", "-m", self.packed, "-p", "x", "-n", 250, "--temp", 100, "--top-k", 0, "--top-p", 1, "--min-p", 0, "--ignore-eos", "-s")
        special = {0: "<unk>", 1: "<s>", 2: "</s>"}
        seen = set()
        for seed in range(6):
            shown, hidden = linnet_json(*hot, seed, "--special"), linnet_json(*hot, seed)
            self.assertEqual(shown["tokens"], hidden["tokens"])
            seen |= special.keys() & set(shown["tokens"])
            self.assertEqual(hidden["text"], re.sub("<unk>|</?s>", "", shown["text"]))
            held = linnet_json(*hot, seed, "--stop", "s>never", "--stop", "unk>\x01", "--stop", "</s></s></s></s>")  # parts come later
            self.assertEqual((held["tokens"], held["text"]), (hidden["tokens"], hidden["text"]))
            self.assertEqual(linnet(*hot, seed), linnet(*hot, seed, "--stop", "s>never"))
        self.assertEqual(seen, special.keys())

    def test_pieces(self):
        """Ids with their text, and the count, by choice."""
        text = "Hello, yo\u00fc\n\u4e16"
        ids = json.loads(linnet("tokenize", "-m", self.packed, text))
        self.assertEqual(linnet("tokenize", "-m", self.packed, text, "--count"), f"{len(ids)}\n")
        self.assertEqual(linnet_json("tokenize", "-m", self.packed, text, "--count"), {"count": len(ids)})
        both = linnet_json("tokenize", "-m", self.packed, text, "--count", "--pieces")
        self.assertEqual((both, [p["id"] for p in both["pieces"]]), (linnet_json("tokenize", "-m", self.packed, text, "--pieces"), ids))
        self.assertEqual(both["pieces"][0], {"id": 1, "text": "<s>"})
        lines = linnet("tokenize", "-m", self.packed, text, "--pieces").splitlines()
        self.assertEqual([int(line.split()[0]) for line in lines], ids)
        self.assertTrue(all(re.fullmatch(r" *\d+  '.*'", line) for line in lines), lines)
        self.assertEqual(linnet("tokenize", "-m", self.packed, text, "--pieces", "--count").splitlines(), [*lines, str(len(ids))])
        out = linnet("tokenize", "-m", self.packed, "--lines", "--count", stdin=b'"a"\n"a b c"\n""\n').splitlines()
        self.assertEqual([json.loads(line)["count"] for line in out], [len(json.loads(linnet("tokenize", "-m", self.packed, t))) for t in ("a", "a b c", "")])

    # ---- perplexity ---------------------------------------------------------------------------------------------------------

    def test_windows(self):
        """By llama.cpp's windows: the second half of each whole one, BOS in the place of its first token, special tokens as text."""
        text = self.dir / "text.txt"
        text.write_text("The quick brown </s> fox jumps over the lazy dog, and there it is.")
        for n, more in ((16, ()), (17, ("--raw",))):
            ids = json.loads(linnet("tokenize", "-m", self.packed, "--no-parse-special", *(["--no-add-special"] if more else []), text.read_text()))
            self.assertGreater(len(ids) % n, 1)  # what is behind the last whole one does not count
            nlls = []
            for at in range(0, len(ids) - n + 1, n):
                window = ids[at:at + n] if more else [1, *ids[at + 1:at + n]]
                linnet("logits", "-m", self.packed, "--tokens", json.dumps(window), "-o", self.dir / "w.npy")
                for i, row in enumerate(read_npy(self.dir / "w.npy")[:-1]):
                    if i >= n // 2:
                        nlls.append(math.log(sum(math.exp(x - row[window[i + 1]]) for x in row)))
            got = linnet_json("eval", "-m", self.packed, text, "--windows", "llama", "-c", n, *more)
            mean = sum(nlls) / len(nlls)
            self.assertEqual((got["tokens"], got["window"]), (len(nlls), n))
            self.assertAlmostEqual(got["perplexity"], math.exp(mean), delta=1e-4 * math.exp(mean))
            error = math.exp(mean) * math.sqrt((sum(x * x for x in nlls) / len(nlls) - mean**2) / (len(nlls) - 1))
            self.assertAlmostEqual(got["perplexity_error"], error, delta=1e-3 * error)
        done = subprocess.run([LINNET, "eval", "-m", str(self.packed), str(text), "--windows", "llama", "-c", "16"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stderr, r"\A(\[\d\]\d+\.\d{4},){4}\n\Z")
        last = float(done.stderr.split("]")[-1].strip(",\n"))
        self.assertAlmostEqual(float(re.match("perplexity ([0-9.]+) [+]/- ", done.stdout)[1]), last, delta=1e-5 * last)
        self.assertEqual(linnet_json("eval", "-m", self.packed, text, "--windows", "llama", "-c", 16, "--against", self.packed, "--against-kv", "i8")["kl_mean"], 0)
        self.assertIn("less than a window of 512", linnet("eval", "-m", self.packed, text, "--windows", "llama", "-c", 512, code=1))
        self.assertIn("at least 3", linnet("eval", "-m", self.packed, text, "--windows", "llama", "-c", 2, code=2))

    @unittest.skipUnless((DATA / "models" / "stories260K").is_dir(), "no stories260K (set LINNET_DATA to the folder that holds models/)")
    def test_perplexity(self):
        """What llama-perplexity prints of the same file, in f32."""
        text = DATA / "models" / "stories260K" / "greedy_200.txt"
        done = subprocess.run([LINNET, "eval", "-m", str(DATA / "models" / "stories260Ktok512.gguf"), str(text), *"--windows llama -c 64 --weights f32 --kv f32".split()], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "[1]1.8920,[2]1.9665,[3]1.8453,\n")
        self.assertTrue(done.stdout.startswith("perplexity 1.84526 +/- 0.1291 "), done.stdout)

    # ---- bench --------------------------------------------------------------------------------------------------------------

    @unittest.skipIf(SLOW, "test_cli measures too")
    def test_bench_rows(self):
        """Every combination of weights, cache and threads, prompt and depth is a row."""
        bench = ("bench", "-m", self.dir / "tiny", "-r", 1, "-t", 1, "-q")
        decode, prefill = (*bench, "-n", 4, "-p", 0), (*bench, "-n", 0, "-p", 8)
        rows = [json.loads(line) for line in linnet(*decode, "--kv", "f16,i8,0=f16/i8", "-o", "jsonl").splitlines()]
        self.assertEqual([(r["weights"], r["kv"], r["threads"], r["test"], r["tokens"], r["depth"]) for r in rows], [("i8g32", kv, 1, "decode", 4, 0) for kv in ("f16", "i8,0=f16/i8")])
        table = list(csv.DictReader(io.StringIO(linnet(*prefill, "--weights", "i8g128,f32", "-o", "csv"))))
        self.assertEqual([list(r) for r in table], [list(rows[0])] * 2)
        self.assertEqual([(r["weights"], r["test"], r["tokens"], r["depth"], r["random_weights"]) for r in table], [(w, "prefill", "8", "0", "false") for w in ("i8g128", "f32")])
        self.assertEqual(table[0]["model"], str(self.dir / "tiny"))
        self.assertEqual([(bool(r["gb_s"]), bool(r["tops"])) for r in (*rows, *table)], [(True, False)] * 2 + [(False, True)] * 2)
        self.assertEqual([bool(r["share_of_int8_peak"]) for r in table], [True, False])
        for row in [*rows, *table]:
            self.assertTrue(0 < float(row["tokens_per_s_min"]) <= float(row["tokens_per_s"]) <= float(row["tokens_per_s_max"]))
        self.assertEqual(set(rows[0]) - set(re.findall(r"`(\w+)`", (ROOT / "docs" / "commands.md").read_text())), set())
        md = linnet(*decode, "-d", 3, "-o", "md").splitlines()
        self.assertEqual((len(md), {line.count("|") for line in md}), (3, {11}))
        self.assertIn("| decode 4 after 3 |", md[2])
        self.assertEqual([r["kv"] for r in linnet_json(*prefill, "--kv", "f16,i8")], ["f16", "i8"])
        self.assertIn("nothing to measure", linnet(*bench, "-n", 0, "-p", "0,0", code=2))
        self.assertIn("either --json or --output", linnet(*bench, "-o", "md", "--json", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=1)
