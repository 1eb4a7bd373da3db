#!/usr/bin/env python3
"""The server's cache on disk: test_server_disk.py LINNET-SERVER. Standard library only.

A server that comes back goes on from what an earlier one computed, to the same answers, probabilities included; whatever happened to the files.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import tiny_model

SERVER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "linnet-server"
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "examples/assistant/model/linnet-assistant.gguf"
KILLS = 200 if os.environ.get("LINNET_TEST_FULL") else 20
MIB = 1 << 20


class Server:
    def __init__(self, model, *args, **more):
        self.process = subprocess.Popen([SERVER, "-m", f"m={model}", "--port", "0", "--no-cache", "-t", "2", "--context", "1000", "--prefix-cache", "32", *map(str, args)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        line = ""
        while "listening" not in line:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(self.process.stderr.read())
        self.url = line.split()[2]

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=120) as r:
            return r.read().decode()

    def ask(self, prompt, n=8):
        """The answer, and how many of the prompt's tokens were not computed."""
        body = {"prompt": prompt, "max_tokens": n, "temperature": 0, "ignore_eos": True, "logprobs": 2}
        request = urllib.request.Request(self.url + "v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as r:
            answer = json.load(r)
        return answer["choices"], answer["usage"]["prompt_tokens_details"]["cached_tokens"]

    def metric(self, name):
        return next(int(line.split()[-1]) for line in self.get("metrics").splitlines() if line.startswith("linnet_" + name))

    def written(self):
        """Waits for what is to be written; no more than the last block may be on its way to the queue."""
        files = -1
        while self.metric("disk_cache_waiting_bytes") or files != self.metric("disk_cache_files"):
            files = self.metric("disk_cache_files")
            time.sleep(0.05)

    def stop(self):
        """What it said on stderr."""
        self.process.terminate()
        said = self.process.communicate(timeout=60)[1]
        assert self.process.returncode == 0, said
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


def prompt(seed, n):
    """Of two seeds that differ the first token does."""
    return [3 + seed % 247] + [random.Random(seed * 1000 + i).randrange(3, 250) for i in range(1, n)]


class Disk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-")).resolve()
        cls.dir.chmod(0o755)
        cls.models = {"pages": BUNDLED}
        for name, golden in (("states", "lfm2"), ("deltas", "qwen3-5"), ("windows", "gemma3")):
            cls.models[name] = tiny_model.make(cls.dir / name, golden, max_position_embeddings=2048)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.cache = pathlib.Path(tempfile.mkdtemp(dir=self.dir)) / "cache"

    def server(self, model="pages", *args, **more):
        return Server(self.models[model], "--cache-dir", self.cache, *args, **more)

    def files(self):
        return sorted(f for f in self.cache.iterdir() if f.name.startswith("linnet-"))

    def answers(self, prompts, model="pages"):
        """As a server without any cache gives them."""
        with Server(self.models[model], "--prefix-cache", 0) as s:
            out = [s.ask(p)[0] for p in prompts]
            s.stop()
        return out

    def check(self, server, prompts, answers):
        """How many tokens came from caches."""
        cached = []
        for p, right in zip(prompts, answers):
            answer, n = server.ask(p)
            self.assertEqual(answer, right)
            cached.append(n)
        return cached

    def test_restart(self):
        """By a signal and by a kill; turns go on from where the last one was kept, and from what two prompts have in common."""
        for model in self.models:
            with self.subTest(model):
                self.setUp()
                first, shared = prompt(1, 403), prompt(2, 300)
                prompts = [first, shared + prompt(3, 60), shared + prompt(4, 60)]
                later = [first + prompt(5, 50), shared + prompt(6, 40), first]
                states = model in ("states", "deltas")  # they are kept where the same prompt goes on
                answers, more = self.answers(prompts, model), self.answers(later, model)
                with self.server(model) as s:
                    self.check(s, prompts, answers)
                    self.assertEqual(self.check(s, later[:1], more)[0], 403 - states)
                    s.stop()
                self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
                self.assertTrue(all(f.stat().st_mode & 0o777 == 0o600 for f in self.files()))
                with self.server(model) as s:
                    cached = self.check(s, later, more)
                    self.assertEqual(cached[0], 452)
                    self.assertGreaterEqual(cached[1], 300 if states else 256)
                    self.assertGreater(s.metric("disk_cached_tokens_total"), 0)
                    s.written()
                    s.kill()
                with self.server(model) as s:
                    self.assertGreaterEqual(self.check(s, later[1:2], more[1:2])[0], 256)
                    s.stop()

    def test_requests_at_once(self):
        """While some read, others are answered."""
        prompts = [prompt(i, 300) for i in range(12)]
        answers = self.answers(prompts)
        for n_cached in (0, 299):
            with self.server() as s:
                out = [None] * len(prompts)
                threads = [threading.Thread(target=lambda i=i: out.__setitem__(i, s.ask(prompts[i]))) for i in range(len(prompts))]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
                self.assertEqual([a for a, _ in out], answers)
                self.assertEqual([n for _, n in out], [n_cached] * len(prompts))
                s.stop()

    def test_damage(self):
        prompts = [prompt(i, 300) for i in range(2)]
        answers = self.answers(prompts)
        with self.server() as s:
            self.check(s, prompts, answers)
            s.stop()
        whole = {f.name: f.read_bytes() for f in self.files()}
        self.assertEqual(len(whole), 8)  # 128, 256, 300, 307 of each
        rng = random.Random(7)

        def flipped(data):
            at = rng.randrange(len(data))
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]

        ways = {"flipped": flipped, "cut": lambda d: d[:rng.randrange(len(d))], "empty": lambda d: b"", "longer": lambda d: d + b"\0",
                "zeros": lambda d: bytes(len(d)), "random": lambda d: rng.randbytes(len(d))}
        for _ in range(4 if KILLS > 20 else 1):
            for way, change in ways.items():
                with self.subTest(way):
                    for name, data in whole.items():
                        (self.cache / name).write_bytes(change(data))
                    with self.server() as s:
                        self.assertEqual(self.check(s, prompts, answers), [0, 0])
                        self.assertEqual(s.metric("disk_cache_damaged_total"), 2)  # what stands behind the first block is not asked for
                        s.written()
                        s.stop()
                    with self.server() as s:  # what is damaged still does no harm, and what was written anew is taken
                        self.assertGreaterEqual(min(self.check(s, prompts, answers)), 128)
                        s.stop()
        # Each under another's name; and the right name and head before others' pieces
        names = list(whole)
        for name, data in zip(names, [*list(whole.values())[1:], whole[names[0]]]):
            (self.cache / name).write_bytes(data)
        with self.server() as s:
            self.check(s, prompts, answers)
            s.stop()
        for name, data in zip(names, [*list(whole.values())[1:], whole[names[0]]]):
            (self.cache / name).write_bytes(whole[name][:56] + data[56:])
        with self.server() as s:
            self.check(s, prompts, answers)
            s.stop()

    def test_foreign(self):
        """What is not the server's own stays as it is, whatever it is called, and is not followed."""
        prompts = [prompt(1, 300)]
        answers = self.answers(prompts)
        with self.server() as s:
            self.check(s, prompts, answers)
            s.stop()
        outside = self.dir / "outside"
        outside.mkdir(exist_ok=True)
        names = [f.name for f in self.files()]
        for name in names[:2]:
            shutil.move(self.cache / name, outside / name)
            (self.cache / name).symlink_to(outside / name)
        (self.cache / names[2]).unlink()
        (self.cache / names[2]).mkdir()
        (self.cache / names[3]).unlink()
        os.mkfifo(self.cache / names[3])
        for name in ("notes.txt", "linnet-1.kv", "linnet-x.kv.tmp", names[0] + "x", names[0].upper()):
            (self.cache / name).write_bytes(b"mine")
        (self.cache / (names[0][:-4] + "9p.kv.tmp")).write_bytes(b"left")  # what a killed server leaves goes
        before = {f.name: f.lstat() for f in self.cache.iterdir()}
        with self.server() as s:
            self.assertEqual(self.check(s, prompts, answers), [0])
            s.stop()
        for f in outside.iterdir():
            self.assertGreater(f.stat().st_size, 1000)
        gone = set(before) - {f.name for f in self.cache.iterdir()}
        self.assertTrue(all(name.endswith("9p.kv.tmp") for name in gone), gone)
        for f in self.cache.iterdir():
            if f.name in before:
                self.assertEqual((f.lstat().st_ino, f.lstat().st_mtime_ns), (before[f.name].st_ino, before[f.name].st_mtime_ns), f)

    def test_budget(self):
        """Of two servers on one folder, too; a prompt that comes again and again stays."""
        often, prompts = prompt(99, 200), [prompt(i, 250) for i in range(24)]
        right = self.answers([often])
        watching, largest = True, 0

        def watch():
            nonlocal largest
            while watching:
                n = 0
                for f in self.cache.iterdir():
                    try:
                        n += f.stat().st_size
                    except FileNotFoundError:
                        pass
                largest = max(largest, n)

        with self.server("pages", "--cache-disk", 2, "--prefix-cache", 2) as a, self.server("pages", "--cache-disk", 2, "--prefix-cache", 2) as b:
            watcher = threading.Thread(target=watch)
            watcher.start()
            for i, p in enumerate(prompts):
                for s in (a, b):
                    s.ask(p, 2)
                if i % 3 == 0:
                    self.check(a, [often], right)
            self.assertGreater(a.metric("disk_cache_written_bytes_total") + b.metric("disk_cache_written_bytes_total"), 4 * MIB)
            a.stop(), b.stop()
            watching = False
            watcher.join()
        # Each looks into the folder again after a 32th of the budget: the other may have written as much since, and a file.
        self.assertLessEqual(largest, 2 * MIB + MIB // 16 + max(f.stat().st_size for f in self.files()))
        self.assertGreater(largest, MIB)
        with self.server("pages", "--cache-disk", 2) as s:
            self.assertGreaterEqual(self.check(s, [prompts[-1]], self.answers([prompts[-1]]))[0], 128)
            s.stop()
        with self.server("pages", "--cache-disk", 1) as s:  # a smaller one, from the next write on
            s.ask(prompt(50, 300))
            s.stop()
        self.assertLessEqual(sum(f.stat().st_size for f in self.files()), MIB)

    def test_kill(self):
        """kill -9 at any moment: writing, reading, dropping what is old. Nothing wrong is served, and what was written is used."""
        for model in ("pages", "states"):
            with self.subTest(model):
                self.setUp()
                shared = prompt(7, 150)
                prompts = [shared + prompt(i, 40 * i) for i in range(8)] + [prompt(100 + i, 280) for i in range(6)]
                right = self.answers(prompts, model)
                wrong, n_cached, n_asked = [], 0, 0
                for kill in range(KILLS // 2):
                    rng = random.Random(kill)
                    with self.server(model, "--cache-disk", 2 if kill % 3 else 1, "--prefix-cache", 4) as s:
                        def client():
                            nonlocal n_cached, n_asked
                            try:
                                while True:
                                    i = rng.randrange(len(prompts))
                                    answer, n = s.ask(prompts[i])
                                    n_cached, n_asked = n_cached + n, n_asked + 1
                                    if answer != right[i]:
                                        wrong.append((kill, i))
                            except (OSError, ValueError):
                                pass  # killed

                        clients = [threading.Thread(target=client) for _ in range(3)]
                        for t in clients:
                            t.start()
                        time.sleep(rng.random() * (4 if os.environ.get("LINNET_TEST_SANITIZED") else 0.8))
                        s.kill()
                        for t in clients:
                            t.join()
                self.assertEqual(wrong, [])
                self.assertGreater(n_asked, 0)
                self.assertGreater(n_cached, 0)
                with self.server(model, "--cache-disk", 2) as s:
                    self.check(s, prompts, right)
                    s.stop()
                self.assertFalse([f for f in self.files() if f.name.endswith(".tmp")])

    def test_other_models(self):
        prompts = [prompt(1, 300)]
        for right in ([0] * 4, [299] * 4):
            cached = []
            for model in self.models:
                with self.server(model) as s:
                    cached += self.check(s, prompts, self.answers(prompts, model))
                    s.stop()
            self.assertEqual(cached, right)
        for other in ("f16", "f32"):  # the same model with other pages
            with self.server("pages", "--kv", other) as s:
                self.assertEqual(s.ask(prompts[0])[1], 0)
                s.stop()
        with Server(self.models["pages"], "--cache-dir", self.cache, "-m", f"n={self.models['states']}") as s:  # both in one server
            self.check(s, prompts, self.answers(prompts))
            self.assertEqual(s.ask(prompts[0])[1], 299)
            s.stop()

    def test_read_only(self):
        prompts = [prompt(1, 300), prompt(2, 300)]
        answers = self.answers(prompts)
        with self.server() as s:
            self.check(s, prompts[:1], answers)
            s.stop()
        as_other = {}
        if os.geteuid() == 0:  # who may write everywhere
            if not os.access(SERVER, os.X_OK) or subprocess.run([SERVER, "--version"], user=65534, capture_output=True).returncode:
                self.skipTest("another user cannot run the server")
            for f in (self.cache, *self.files()):
                os.chown(f, 65534, 65534)
            self.cache.parent.chmod(0o755)
            as_other = {"user": 65534}
        self.cache.chmod(0o500)
        before = self.files()
        with self.server(**as_other) as s:
            self.assertEqual(self.check(s, prompts, answers), [299, 0])
            self.assertEqual(s.metric("disk_cache_writes"), 0)
            said = s.stop()
        self.assertEqual(said.count("disk cache"), 1, said)
        self.assertEqual(self.files(), before)
        self.cache.chmod(0o700)

    def test_full_disk(self):
        self.cache.mkdir()
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", self.cache], capture_output=True).returncode:
            self.skipTest("no file system can be mounted here")
        try:
            prompts = [prompt(i, 300) for i in range(4)]
            answers = self.answers(prompts)
            with self.server() as s:
                self.check(s, prompts, answers)
                s.written()
                self.assertEqual(s.metric("disk_cache_writes"), 0)
                self.check(s, prompts, answers)
                said = s.stop()
            self.assertEqual(said.count("No space left on device"), 1, said)
            self.assertFalse([f for f in self.files() if f.name.endswith(".tmp")])
            with self.server() as s:
                self.assertGreater(self.check(s, prompts, answers)[0], 0)
                s.stop()
        finally:
            subprocess.run(["umount", self.cache], check=True)

    def test_refused(self):
        def refused(code, *args):
            done = subprocess.run([SERVER, "-m", f"m={BUNDLED}", "--port", "0", *map(str, args)], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        self.assertIn("--prefix-cache 0", refused(2, "--cache-dir", self.cache, "--prefix-cache", 0))
        self.assertIn("'--cache-disk' takes a whole number", refused(2, "--cache-dir", self.cache, "--cache-disk", "x"))
        self.assertIn("takes a folder", refused(2, "--cache-dir", ""))
        self.assertIn("No such file", refused(1, "--cache-dir", self.cache / "a" / "b"))
        self.cache.write_bytes(b"")
        self.assertIn("Not a directory", refused(1, "--cache-dir", self.cache))
        self.cache.unlink()
        self.cache.mkdir()
        self.cache.chmod(0o777)
        self.assertIn("others may write there", refused(1, "--cache-dir", self.cache))
        if os.geteuid() == 0:
            self.cache.chmod(0o700)
            os.chown(self.cache, 65534, 65534)
            self.assertIn("belongs to somebody else", refused(1, "--cache-dir", self.cache))


if __name__ == "__main__":
    unittest.main()
