#!/usr/bin/env python3
"""The model that ships with linnet: test_assistant.py LINNET [TURNS]. Standard library only.

TURNS of the held-out conversations are asked (default 300); what all of them give stands in examples/assistant/model/README.md.
"""
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAINING = ROOT / "examples/assistant/training"
MODEL = ROOT / "examples/assistant/model/linnet-assistant.gguf"
CHECKPOINT = ROOT / "examples/assistant/model/checkpoint"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TRAINING))
import score  # noqa: E402

LINNET = sys.argv[1] if len(sys.argv) > 1 else "linnet"
TURNS = int(sys.argv[2]) if len(sys.argv) > 2 else 300


def run(*args):
    return subprocess.run([LINNET, *map(str, args)], check=True, stdout=subprocess.PIPE).stdout


class Data(unittest.TestCase):
    def test_generator_repeats(self):
        """The held-out set in the repository, and the training text that the model card names, come out of the generator byte for byte: of the text
        its first conversations, and all of it where LINNET_TEST_FULL is set."""
        head = [] if os.environ.get("LINNET_TEST_FULL") else ["--train", "20000"]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", TRAINING / "make_data.py", "--out", folder, *head], check=True, stdout=subprocess.DEVNULL)
            digests = {name: hashlib.sha256((pathlib.Path(folder) / f"{name}.jsonl").read_bytes()).hexdigest() for name in ("train", "heldout")}
        self.assertEqual(digests["heldout"], hashlib.sha256((TRAINING / "heldout.jsonl").read_bytes()).hexdigest())
        card = json.loads((CHECKPOINT / "training.json").read_text())
        self.assertEqual((digests["train"], digests["heldout"]), (card["train_20000_sha256" if head else "train_sha256"], card["heldout_sha256"]))

    def test_calls_follow_the_tools(self):
        """Every call of the held-out set and of the requests by others names a tool of tools.json with arguments of its schema, in its order."""
        tools = {t["function"]["name"]: t["function"]["parameters"] for t in json.loads((ROOT / "examples/assistant/tools.json").read_text())}
        sources = [score.heldout(TRAINING / "heldout.jsonl"), score.requests(TRAINING / "requests.jsonl"), score.requests(TRAINING / "unseen.jsonl")]
        calls = [c for source in sources for _, accepted, _ in source for c in accepted if c is not None]
        self.assertNotIn(False, calls)
        self.assertGreater(len(calls), 2000)
        types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
        for name, arguments in calls:
            schema = tools[name]
            known = list(schema["properties"])
            self.assertEqual(list(arguments), sorted(arguments, key=known.index), (name, arguments))
            self.assertLessEqual(set(schema["required"]), set(arguments), (name, arguments))
            for key, value in arguments.items():
                self.assertIsInstance(value, types[schema["properties"][key]["type"]], (name, arguments))
                self.assertEqual(isinstance(value, bool), schema["properties"][key]["type"] == "boolean", (name, arguments))
                self.assertIn(value, schema["properties"][key].get("enum", [value]), (name, arguments))


class Model(unittest.TestCase):
    def test_sizes(self):
        self.assertLess(MODEL.stat().st_size, 5e6)
        self.assertLess(sum(f.stat().st_size for f in CHECKPOINT.iterdir()), 10e6)

    def test_packed_file_is_the_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "again.gguf"
            weights = json.loads(run("chat", "-m", MODEL, "-p", "hi", "--json"))["weights"]
            run("convert", CHECKPOINT, "-o", again, "--weights", weights)
            self.assertTrue(again.read_bytes() == MODEL.read_bytes())

    def test_logits(self):
        """f32 against the logits that PyTorch gave for the same checkpoint (check_logits.py)."""
        golden = ROOT / "tests/golden/assistant"
        prompts = json.loads((golden / "prompts.json").read_text())
        raw = (golden / "logits.f32").read_bytes()
        n = len(raw) // 4 // len(prompts)
        with tempfile.TemporaryDirectory() as folder:
            packed, out = f"{folder}/f32.gguf", f"{folder}/logits.npy"
            run("convert", CHECKPOINT, "-o", packed, "--weights", "f32")
            for i, ids in enumerate(prompts):
                run("logits", "-m", packed, "--tokens", ",".join(map(str, ids)), "--kv", "f32", "-o", out)
                ours = struct.unpack(f"<{n}f", pathlib.Path(out).read_bytes()[-4 * n:])
                theirs = struct.unpack(f"<{n}f", raw[4 * n * i:4 * n * (i + 1)])
                largest = max(map(abs, theirs))
                self.assertLess(max(abs(a - b) for a, b in zip(ours, theirs)), 1e-4 * largest, f"prompt {i}")

    def test_answers(self):
        """Right answers to the first held-out turns, INT8 weights and INT8 KV cache: a sample of what the model card says of all of them."""
        cases = list(score.heldout(TRAINING / "heldout.jsonl"))[:TURNS]
        answers = score.ask(LINNET, str(MODEL), "", "", cases, 2)
        for tool, least in ((True, CALLS), (False, OTHERS)):
            right = [score.call_of(a) in accepted for a, (_, accepted, _) in zip(answers, cases) if (accepted[0] is not None) == tool]
            self.assertGreaterEqual(sum(right), least * len(right), f"tool wanted: {tool}")

    def test_perplexity(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as sample:
            sample.writelines((TRAINING / "heldout.jsonl").read_text().splitlines(keepends=True)[:TURNS // 2])
            sample.flush()
            packed = score.perplexity(LINNET, str(MODEL), "", "", sample.name, 2)
            exact = score.perplexity(LINNET, str(CHECKPOINT), "f32", "f32", sample.name, 2)
        self.assertLess(exact, PERPLEXITY)
        self.assertLess(packed, exact * 1.02)

    def test_one_question(self):
        self.assertEqual(run("chat", "-m", MODEL, "-p", "set a timer for ten minutes").decode(), '{"name":"set_timer","arguments":{"minutes":10}}\n')
        talk = b'turn on the kitchen light\n/tool {"ok":true}\nand in the bedroom too\n'
        lines = subprocess.run([LINNET, "chat", "-m", MODEL], input=talk, check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
        self.assertEqual(lines[0], '{"name":"set_light","arguments":{"rooms":["kitchen"],"state":"on"}}')
        self.assertEqual(lines[2], '{"name":"set_light","arguments":{"rooms":["bedroom"],"state":"on"}}')


# Somewhat below what the committed model gives on the sample: 0.961, 0.944 and 3.359.
CALLS, OTHERS, PERPLEXITY = 0.95, 0.93, 3.38

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
