#!/usr/bin/env python3
"""Packed models that the tool keeps for the next start: test_cache.py LINNET. Standard library only."""
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import tiny_model

LINNET = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "linnet"
ASKED = ("--tokens", "1,5,9", "-n", "8", "--temp", "0", "--ignore-eos")


class Cache(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-")).resolve()
        cls.folder = tiny_model.make(cls.dir / "tiny")
        cls.plain = cls.dir / "plain.gguf"
        subprocess.run([LINNET, "convert", "-q", cls.folder, "-o", cls.plain, "--layout", "plain", "--weights", "f32"], check=True, stdout=subprocess.DEVNULL)
        cls.large = cls.dir / "large.gguf"
        subprocess.run([LINNET, "convert", "-q", "--synthetic", "stories15m", "-o", cls.large, "--layout", "plain", "--weights", "f32"], check=True, stdout=subprocess.DEVNULL)
        cls.packed = cls.dir / "packed.gguf"
        subprocess.run([LINNET, "convert", "-q", cls.plain, "-o", cls.packed], check=True, stdout=subprocess.DEVNULL)
        cls.tokens = json.loads(subprocess.run([LINNET, "run", "-m", cls.packed, *ASKED, "--json"], check=True, capture_output=True).stdout)["tokens"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        self.cache = self.home / "cache" / "linnet"
        self.env = {**os.environ, "HOME": str(self.home / "nowhere"), "XDG_CACHE_HOME": str(self.home / "cache")}

    def linnet(self, *args, code=0, **more):
        done = subprocess.run([LINNET, *map(str, args)], capture_output=True, text=True, timeout=120, env=self.env, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def start(self, model, *args, **more):
        """What was said on stderr; the tokens must be those of the packed file."""
        done = self.linnet("run", "-m", model, *ASKED, "--json", *args, **more)
        if "--weights" not in args:
            self.assertEqual(json.loads(done.stdout)["tokens"], self.tokens)
        return done.stderr

    def files(self):
        return sorted(self.cache.iterdir()) if self.cache.exists() else []

    def only(self):
        files = self.files()
        self.assertEqual(len(files), 1, files)
        return files[0]

    def test_second_start(self):
        self.assertEqual(self.start(self.plain), "")
        file = self.only()
        first = file.stat()
        self.assertEqual((stat.S_IMODE(self.cache.stat().st_mode), stat.S_IMODE(first.st_mode)), (0o700, 0o600))
        packed = self.packed.read_bytes()
        self.assertEqual(file.read_bytes()[:len(packed)], packed)
        self.assertLess(first.st_size, len(packed) + 4096)
        os.utime(file, (1e9, 1e9))
        self.start(self.plain)
        self.assertEqual((self.only().stat().st_ino, self.only().stat().st_size), (first.st_ino, first.st_size))
        self.assertGreater(self.only().stat().st_mtime, 1.5e9)  # when it was used
        for load in ("copy", "prewarm"):
            self.start(self.plain, "--load", load)
        self.assertEqual(self.only().stat().st_ino, first.st_ino)
        # By another name of the same file, and by itself.
        link = self.home / "link.gguf"
        link.symlink_to(self.plain)
        self.start(link)
        self.start(file)
        self.start(self.packed)  # what is packed is not copied
        self.assertEqual(self.only().stat().st_ino, first.st_ino)
        # What decides the bytes has another file.
        self.start(self.plain, "--weights", "f16")
        self.assertEqual(len(self.files()), 2)
        shutil.copy(self.plain, self.home / "copy.gguf")
        self.start(self.home / "copy.gguf")
        self.assertEqual(len(self.files()), 3)
        os.utime(self.home / "copy.gguf", (1e9, 1e9))
        self.start(self.home / "copy.gguf")
        self.assertEqual(len(self.files()), 4)

    def test_commands(self):
        self.start(self.plain, "--no-cache")
        text = self.home / "text"
        text.write_text("Once upon a time there was a bird.")
        listed = json.loads(self.linnet("cache", "list", "--json").stdout)
        self.assertEqual((listed["folder"], listed["models"], listed["bytes"]), (str(self.cache), [], 0))
        self.assertEqual(self.files(), [])
        first = json.loads(self.linnet("eval", "-m", self.folder, text, "--json").stdout)
        kept = self.only().stat().st_ino
        # What packing said is said again.
        self.assertEqual(json.loads(self.linnet("eval", "-m", self.folder, text, "--json").stdout), first)
        self.assertEqual(self.only().stat().st_ino, kept)
        self.assertGreater(first["weight_error"], 0)
        self.linnet("tokenize", "-m", self.folder, "abc")
        self.linnet("eval", "-m", self.folder, text, "--against", self.plain)
        self.linnet("inspect", self.plain)
        self.only()  # these keep nothing
        self.start(self.plain, "--weights", "i8g32")
        listed = json.loads(self.linnet("cache", "list", "--json").stdout)
        self.assertEqual([(m["source"], m["weights"]) for m in listed["models"]], [(str(self.plain), "i8g32"), (str(self.folder), "")])
        self.assertEqual(listed["bytes"], sum(f.stat().st_size for f in self.files()))
        self.assertIn(str(self.plain), self.linnet("cache", "list").stdout)
        # Nobody else's files go.
        (self.cache / "notes.gguf").write_text("mine")
        stale = self.cache / ("0" * 32 + ".gguf.tmp")
        stale.write_text("half")
        self.assertEqual(json.loads(self.linnet("cache", "clear", "--json").stdout)["models"], 2)
        self.assertEqual([f.name for f in self.files()], ["notes.gguf"])
        self.linnet("cache", "empty", code=2)

    def test_damage(self):
        self.start(self.plain)
        good = self.only().read_bytes()

        def cut(file):
            file.write_bytes(good[:len(good) // 2])

        def flip(file):
            file.write_bytes(good[:len(good) // 2] + bytes([good[len(good) // 2] ^ 1]) + good[len(good) // 2 + 1:])

        def flip_end(file):
            file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))

        def grow(file):
            file.write_bytes(good + bytes(64))

        def zeros(file):
            file.write_bytes(bytes(len(good)))

        def empty(file):
            file.write_bytes(b"")

        def link(file):
            file.unlink()
            file.symlink_to(self.packed)

        def folder(file):
            file.unlink()
            file.mkdir()
        for harm in (cut, flip, flip_end, grow, zeros, empty, link):
            with self.subTest(harm.__name__):
                harm(self.only())
                self.assertEqual(self.start(self.plain), "")
                self.assertEqual(self.only().read_bytes(), good)
                self.assertFalse(self.only().is_symlink())
        self.assertEqual(self.packed.read_bytes(), good[:self.packed.stat().st_size])  # what the link led to
        folder(self.only())
        self.assertIn("is not kept", self.start(self.plain))
        # What is left of one that was killed, of this model and of another one.
        self.only().rmdir()
        for name in (self.cache / "a").with_name("a" * 32 + ".gguf.tmp"), (self.cache / "b").with_name("b" * 32 + ".gguf.tmp"):
            name.write_text("half")
        (self.cache / ("c" * 32 + ".gguf.tmp")).symlink_to(self.packed)
        self.start(self.plain)
        self.assertEqual(self.only().read_bytes(), good)
        self.assertTrue(self.packed.exists())

    def test_folder(self):
        os.umask(0o022)
        self.cache.mkdir(parents=True, mode=0o755)
        self.start(self.plain)
        self.assertEqual(stat.S_IMODE(self.cache.stat().st_mode), 0o700)
        kept = self.only().stat().st_ino
        self.env["XDG_CACHE_HOME"] = "relative"  # is to be ignored
        self.env["HOME"] = str(self.home)
        self.start(self.plain, cwd=self.home)
        self.assertEqual(self.only().stat().st_ino, kept)
        self.assertFalse((self.home / "relative").exists())
        self.assertEqual(len(list((self.home / ".cache" / "linnet").iterdir())), 1)
        for home in ("", "not/absolute"):
            self.env["HOME"] = home
            said = self.start(self.plain, cwd=self.home)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertIn("is not kept for the next start", said)
            self.assertEqual(self.start(self.plain, "-q", cwd=self.home), "")
            self.assertEqual(self.start(self.plain, "--no-cache", cwd=self.home), "")
            self.assertEqual(self.start(self.packed, cwd=self.home), "")
        self.assertIn("no cache", self.linnet("cache", "list").stderr)
        file = self.home / "file"
        file.write_text("")
        self.env["XDG_CACHE_HOME"] = str(file)
        self.assertIn("is not kept", self.start(self.plain))
        if os.geteuid() == 0:  # of somebody else
            other = self.home / "other"
            (other / "linnet").mkdir(parents=True)
            os.chown(other / "linnet", 12345, 12345)
            self.env["XDG_CACHE_HOME"] = str(other)
            self.assertIn("belongs to another user", self.start(self.plain))
            self.assertEqual(list((other / "linnet").iterdir()), [])

    def test_full_disk(self):
        import resource

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
        self.assertIn("is not kept in the cache", self.start(self.plain, preexec_fn=no_room))
        self.assertEqual(self.files(), [])

    def test_interrupt(self):
        """Ctrl-C while a model is packed ends the tool by that signal, and leaves nothing."""
        for _ in range(50):  # this process may be too slow to meet it
            call = subprocess.Popen([LINNET, "run", "-m", self.large, "--tokens", "1", "-n", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
            while call.poll() is None and not self.files():
                time.sleep(0.001)
            call.send_signal(signal.SIGINT)
            call.communicate(timeout=120)
            self.assertIn(call.returncode, (0, -signal.SIGINT))
            self.assertEqual([f for f in self.files() if f.suffix == ".tmp"], [])
            if not self.files():
                self.assertEqual(call.returncode, -signal.SIGINT)
                return
            self.linnet("cache", "clear")
        self.fail("it was never met while it packed")

    def test_two_at_once(self):
        calls = [subprocess.Popen([LINNET, "run", "-m", self.plain, *ASKED, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env) for _ in range(4)]
        for call in calls:
            out, err = call.communicate(timeout=120)
            self.assertEqual((call.returncode, err, json.loads(out)["tokens"]), (0, b"", self.tokens))
        self.only()


if __name__ == "__main__":
    unittest.main(verbosity=1)
