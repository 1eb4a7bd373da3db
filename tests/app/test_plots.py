#!/usr/bin/env python3
"""The pictures of docs/performance.md are what docs/plots/plot.py makes of the committed runs, and the tool prints what it reads:
test_plots.py [LINNET]. Standard library only."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = next(p for p in pathlib.Path(__file__).resolve().parents if (p / "CMakeLists.txt").is_file() and (p / "LICENSE").is_file())
PLOTS = ROOT / "docs" / "plots"
PICTURES = ["decode.svg", "prefill.svg", "share.svg"]
LINNET = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None


def plot(*args):
    return subprocess.run([sys.executable, "-B", PLOTS / "plot.py", *args], capture_output=True, text=True, timeout=60)


class Plots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_committed(self):
        done = plot("--out", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), PICTURES)
        for name in PICTURES:
            self.assertEqual((self.folder / name).read_bytes(), (PLOTS / name).read_bytes(), f"{name} is another: run docs/plots/plot.py")
            picture = xml.etree.ElementTree.parse(PLOTS / name).getroot()
            self.assertLessEqual(float(picture.get("width")), 640)
            words = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")]
            self.assertIn("share of the read bandwidth" if name == "share.svg" else "tokens/s", words)
            for run in json.loads((PLOTS / "runs.json").read_text()):
                self.assertTrue(any(run["machine"] in w and run["date"] in w for w in words), name)
        others = sorted(p.name for p in PLOTS.iterdir() if p.name not in PICTURES + ["plot.py", "runs.json"])
        self.assertEqual(others, sorted(run["file"] for run in json.loads((PLOTS / "runs.json").read_text())))

    def test_points(self):
        """Twice the speed is higher by as much at every place, and a longer prompt is further right."""
        runs = json.loads((PLOTS / "runs.json").read_text())[:1]
        bench = json.loads((PLOTS / runs[0]["file"]).read_text())
        bench["prefill"] = [{"tokens": t, "tokens_per_s": s} for t, s in ((16, 10), (32, 100), (64, 1000))]
        (self.folder / "bench.json").write_text(json.dumps(bench))
        (self.folder / "runs.json").write_text(json.dumps([{**runs[0], "file": "bench.json"}]))
        self.assertEqual(plot(self.folder / "runs.json").returncode, 0)
        svg = xml.etree.ElementTree.parse(self.folder / "prefill.svg").getroot()
        marks = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter("{http://www.w3.org/2000/svg}circle")][:3]
        self.assertAlmostEqual(marks[1][0] - marks[0][0], marks[2][0] - marks[1][0], delta=0.2)
        self.assertAlmostEqual(marks[0][1] - marks[1][1], marks[1][1] - marks[2][1], delta=0.2)
        self.assertGreater(marks[1][0], marks[0][0])
        self.assertLess(marks[1][1], marks[0][1])

    def test_refused(self):
        runs = json.loads((PLOTS / "runs.json").read_text())
        good = json.loads((PLOTS / runs[0]["file"]).read_text())
        listed = self.folder / "runs.json"

        def refused(bench, *words, run=None):
            if bench is not None:
                (self.folder / "bench.json").write_text(bench)
            listed.write_text(json.dumps([{**runs[0], "file": "bench.json"}]) if run is None else run)
            done = plot(listed)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for w in words:
                self.assertIn(w, done.stderr)
            self.assertFalse([p for p in self.folder.iterdir() if p.suffix == ".svg"])

        for text in ("decode   depth 0   20 tokens/s\n", "", "{"):
            refused(text, "bench.json: this is no JSON")
        for value in ([], {}, 7, {"tokens_per_s": 7}):
            refused(json.dumps(value), "bench.json: not what linnet bench --json prints")
        for key in ("weight_bytes", "decode", "prefill"):
            refused(json.dumps({k: v for k, v in good.items() if k != key}), "bench.json", key)
        for rows in (7, [7], [{"depth": 0}], [{"depth": "0", "tokens_per_s": 1, "share_of_read": 1}],
                     [{"depth": 0, "tokens_per_s": 0, "share_of_read": 1}], [{"depth": -1, "tokens_per_s": 1, "share_of_read": 1}],
                     [{"depth": 0, "tokens_per_s": True, "share_of_read": 1}]):
            refused(json.dumps({**good, "decode": rows}), "bench.json: not what linnet bench --json prints", "'depth'")
        refused(json.dumps({**good, "weight_bytes": float("nan")}), "weight_bytes is no number")
        for run in ("[]", "{}", "[7]", json.dumps([{k: v for k, v in runs[0].items() if k != "machine"}])):
            refused(json.dumps(good), "runs.json: ", run=run)
        (self.folder / "bench.json").unlink()
        refused(None, "bench.json: No such file")

    @unittest.skipUnless(LINNET, "no linnet was given")
    def test_tool(self):
        """What the tool prints today is what the script reads."""
        done = subprocess.run([LINNET, "bench", "-m", ROOT / "examples/assistant/model/linnet-assistant.gguf", "--json", "--reps", "1",
                               "--gen", "4", "--depth", "0,16", "--prompt", "8,16"], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "now.json").write_text(done.stdout)
        run = {"file": "now.json", "name": "now <&>", "machine": "this one", "date": "today", "command": "above"}
        (self.folder / "runs.json").write_text(json.dumps([run]))
        done = plot(self.folder / "runs.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("now &lt;&amp;&gt;", (self.folder / "decode.svg").read_text())
        self.assertFalse((self.folder / "share.svg").exists())  # such a model lies in caches


if __name__ == "__main__":
    unittest.main()
