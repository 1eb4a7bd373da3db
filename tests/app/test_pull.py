#!/usr/bin/env python3
"""linnet pull and -m hf:..., against servers on loopback that behave as the hub and its storage do: test_pull.py LINNET. Standard library only."""
import concurrent.futures
import hashlib
import http.server
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import tiny_model

LINNET = os.path.abspath(sys.argv.pop(1)) if __name__ == "__main__" and len(sys.argv) > 1 else "linnet"
TOKEN = "hf_TestTokenOfNobody"
MIB = 1 << 20


def git_sum(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Repo:
    """files: what it holds by its path; large: those in LFS."""

    def __init__(self, files, gated=False):
        self.files, self.gated = files, gated
        self.commit = hashlib.sha1(repr(sorted((p, git_sum(d)) for p, d in files.items())).encode()).hexdigest()
        self.large = {p for p, d in files.items() if p.endswith((".gguf", ".safetensors"))}

        self.sums = {p: hashlib.sha256(d).hexdigest() if p in self.large else git_sum(d) for p, d in files.items()}

    def etag(self, path):
        return self.sums[path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()


class HubHandler(Handler):
    def do_GET(self):
        hub = self.server.hub
        url = urllib.parse.urlsplit(self.path.removeprefix("/mirror"))
        with hub.lock:
            hub.asked.append((self.command, self.path, self.headers.get("Authorization")))
            turn = hub.turns.pop(0) if hub.turns and "/api/" in url.path else None
        if turn:
            return self.answer(turn[0], b"busy", **turn[1])
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", url.path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", url.path)
        match = api or file
        repo = match and hub.repos.get(match[1])
        if not repo:
            return self.answer(401, b"no", X_Error_Code="RepoNotFound")
        token = self.headers.get("Authorization") == "Bearer " + TOKEN
        if self.headers.get("Authorization") == "Bearer hf_old":
            return self.answer(401, b"no", X_Error_Message="Invalid credentials in Authorization header")
        if repo.gated and not token and not (api and api[2] != "tree"):
            return self.answer(401 if not self.headers.get("Authorization") else 403, b"ask first", X_Error_Code="GatedRepo")
        revision = urllib.parse.unquote((api[3] if api else file[2]) or "main")
        if revision not in ("main", "v1.0", "refs/pr/1", repo.commit):
            return self.answer(404, b"no", X_Error_Code="RevisionNotFound")
        if api and api[2] != "tree":
            return self.json({"id": match[1], "modelId": match[1], "sha": repo.commit, "private": False, "tags": [], "downloads": 0, "likes": 0,
                              "siblings": [{"rfilename": p} for p in repo.files]})
        if api:
            return self.tree(hub, repo, api, url)
        path = urllib.parse.unquote(file[3])
        if path not in repo.files:
            return self.answer(404, b"no", X_Error_Code="EntryNotFound")
        etag, data = repo.etag(path), repo.files[path]
        if path in repo.large:
            to = hub.redirect or f"http://localhost:{hub.cdn.server_port}/blob/{etag}"
            return self.answer(302, b"there", Location=to, X_Repo_Commit=repo.commit, X_Linked_Size=len(data), X_Linked_ETag=f'"{etag}"')
        self.answer(200, data, ETag=f'"{etag}"', X_Repo_Commit=repo.commit)

    def json(self, value, **headers):
        self.answer(200, json.dumps(value).encode(), Content_Type="application/json", **headers)

    def tree(self, hub, repo, api, url):
        entries = [{"type": "directory", "oid": "0" * 40, "size": 0, "path": "d"}] if any(p.startswith("d/") for p in repo.files) else []
        for path, data in repo.files.items():
            entry = {"type": "file", "oid": "1" * 40 if path in repo.large else repo.etag(path), "size": len(data), "path": path}
            if path in repo.large:
                entry |= {"lfs": {"oid": repo.etag(path), "size": len(data), "pointerSize": 134}}
            entries.append(entry)
        entries = hub.change(entries)
        at = int(urllib.parse.parse_qs(url.query).get("cursor", ["0"])[0])
        more = {}
        if at + 3 < len(entries):  # the link names another host, as those of mirrors do: the token is not to go there
            more["Link"] = f'<http://elsewhere.invalid{url.path}?recursive=true&cursor={at + 3}>; rel="next"'
        self.json(entries[at:at + 3], **more)


class CdnHandler(Handler):
    """What is wrong with it stands in hub.bad, by name."""

    def do_GET(self):
        hub, bad = self.server.hub, self.server.hub.bad
        data = hub.blobs().get(self.path.removeprefix("/blob/"))
        with hub.lock:
            hub.fetched.append((self.headers.get("Range"), self.headers.get("Authorization")))
            n = len(hub.fetched)
        if data is None or bad.get("expired", 0) >= n:
            return self.answer(403, b"<Error>expired</Error>")
        if bad.get("down"):
            return self.answer(503, b"later")
        if "wrong" in bad:
            data = data[:-1] + bytes([data[-1] ^ 1])
        if "shorter" in bad:
            data = data[:len(data) // 2]
        first, last = 0, len(data) - 1
        ranged = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if ranged and "no_ranges" not in bad:
            first, last = int(ranged[1]), min(last, int(ranged[2] or last))
            if first > last:
                return self.answer(416, b"", Content_Range=f"bytes */{len(data)}")
            said = first + 1 if "shifted" in bad else first
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {said}-{last}/{len(data)}")
        else:
            self.send_response(200)
        body = data[first:last + 1]
        if "longer" in bad:
            body += b"x"
        self.send_header("Accept-Ranges", "bytes")
        if "chunked" not in bad:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command == "HEAD":
            return
        end = len(body)
        if bad.get("cut") and (bad.get("cuts", 1 << 30) >= n):
            end = min(end, bad["cut"])
        try:
            for at in range(0, end, 65536):
                if "slow" in bad:
                    time.sleep(bad["slow"])
                piece = body[at:min(end, at + 65536)]
                self.wfile.write(piece)
                with hub.lock:
                    hub.sent += len(piece)
            if "silent" in bad and end < len(body):
                time.sleep(bad["silent"])
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that has left
            super().handle_error(request, client)


class Hub:
    def __init__(self, repos):
        self.repos, self.lock = repos, threading.Lock()
        self.hub = Server(("127.0.0.1", 0), HubHandler)
        self.cdn = Server(("127.0.0.1", 0), CdnHandler)
        for server in (self.hub, self.cdn):
            server.hub = self
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.hub.server_port}"
        self.reset()

    def blobs(self):
        return {repo.etag(p): repo.files[p] for repo in self.repos.values() for p in repo.large}

    def close(self):
        for server in (self.hub, self.cdn):
            server.shutdown()
            server.server_close()

    def reset(self):
        self.asked, self.fetched, self.sent, self.turns, self.bad, self.redirect = [], [], 0, [], {}, ""
        self.change = lambda entries: entries


class Pull(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        memory = "/dev/shm"  # where syncing costs nothing
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-pull-", dir=memory if os.access(memory, os.W_OK) else None))
        folder = tiny_model.make(cls.dir / "tiny")
        packed = cls.dir / "packed.gguf"
        subprocess.run([LINNET, "convert", folder, "-o", packed], check=True, capture_output=True)
        noise = random.Random(1)
        cls.big = noise.randbytes(13 * MIB + 12345)
        some = {q: noise.randbytes(3000) for q in ("Q8_0", "Q4_K_M", "Q2_K", "UD-Q4_K_XL", "F16")}
        tiny = {p.name: p.read_bytes() for p in folder.iterdir()}
        cls.repos = {
            "linnet/folder": Repo(tiny | {"README.md": b"# words", "consolidated.safetensors": b"twice", "d/other.json": b"{}"}),
            "linnet/packed": Repo({"linnet-i8g128.gguf": packed.read_bytes(), "config.json": b"{}", "mmproj-model-f16.gguf": b"eyes"}),
            "linnet/big": Repo({"big.gguf": cls.big}),
            "linnet/quants": Repo({f"model-{q}.gguf": d for q, d in some.items()} | {
                f"d/model-BF16-{i:05}-of-00003.gguf": noise.randbytes(1000) for i in (1, 2, 3)} | {"a b%#?+.gguf": b"odd", ".gitattributes": b""}),
            "linnet/odd": Repo({"a-Q2_K.gguf": b"1", "a-IQ1_S.gguf": b"2"}),
            "linnet/two": Repo({"a-Q8_0.gguf": b"1", "b-Q8_0.gguf": b"2"}),
            "linnet/bare": Repo({"README.md": b"nothing else"}),
            "linnet/gated": Repo({"m-Q8_0.gguf": b"for some", "notes.txt": b"n"}, gated=True),
        }

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.hub = Hub(dict(self.repos))
        self.addCleanup(self.hub.close)
        self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        self.cache = self.home / ".cache/huggingface/hub"

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not re.match(r"(?i)HF_|HUGGING|TRANSFORMERS_|XDG_|.*_proxy$", k)}
        return env | {"HOME": str(self.home), "HF_ENDPOINT": self.hub.url} | more

    def run_tool(self, *args, code=0, env=None):
        done = subprocess.run([LINNET, *map(str, args)], capture_output=True, text=True, timeout=60, env=self.environment(**(env or {})), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def pull(self, name, *args, **more):
        """The path, which is all that is printed; nothing is said where nobody watches."""
        done = self.run_tool("pull", name, *args, **more)
        self.assertEqual(done.stdout.count("\n"), 1)
        return pathlib.Path(done.stdout.strip())

    def refused(self, name, *words, command="pull", env=None, code=1):
        done = self.run_tool(*([command, name] if command == "pull" else [command, "-m", name]), code=code, env=env)
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.splitlines() if "note:" not in line]
        self.assertEqual(len(lines), 1 if code == 1 else 2, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        return lines[0]

    def test_served(self):
        """linnet serve pulls as others do; the server gets paths, under the repository's name where none is said."""
        bare = self.home / "bare"
        bare.mkdir()
        shutil.copy(LINNET, bare / "linnet")
        server = bare / "linnet-server"
        server.write_text('#!/bin/sh\nfor a in "$@"; do echo "$a"; done\n')
        server.chmod(0o755)

        def serve(*args, code=0):
            done = subprocess.run([bare / "linnet", "serve", *args], capture_output=True, text=True, timeout=60, env=self.environment())
            self.assertEqual(done.returncode, code, done.stderr)
            return done
        path = self.pull("hf:linnet/quants:Q2_K")
        other = self.cache / "models--linnet--two"
        self.assertFalse(other.exists())
        got = serve("-m", "hf:linnet/quants:Q2_K", "--port", "0", "--model=x=hf:linnet/two:b-Q8_0.gguf", "-m", "y=plain.gguf", "--model", "z=hf:linnet/quants@v1.0:Q2_K", "-m").stdout.splitlines()
        self.assertEqual(got[:4] + got[5:8] + got[9:], ["-m", f"quants={path}", "--port", "0", "-m", "y=plain.gguf", "--model", "-m"])
        self.assertRegex(got[4], rf"^--model=x={re.escape(str(other))}/snapshots/[^/]+/b-Q8_0\.gguf$")
        self.assertRegex(got[8], r"^z=/.*/model-Q2_K\.gguf$")
        self.assertTrue(pathlib.Path(got[4].split("=", 2)[2]).exists())
        self.assertIn("no file 'nothing.gguf'", serve("-m", "hf:linnet/quants:nothing.gguf", code=1).stderr)
        self.assertIn("hf:USER/REPO", serve("-m", "n=hf:nothing", code=2).stderr)

    def leftovers(self):
        return [str(p) for p in self.cache.rglob("*.incomplete")]

    # ---- what is pulled, and where it lies

    def test_layout(self):
        """As huggingface_hub lays it out: blobs by their checksum, a snapshot of links, a ref without a newline."""
        path = self.pull("hf:linnet/big")
        repo, commit = self.hub.repos["linnet/big"], self.hub.repos["linnet/big"].commit
        folder = self.cache / "models--linnet--big"
        self.assertEqual(path, folder / "snapshots" / commit / "big.gguf")
        self.assertEqual(os.readlink(path), "../../blobs/" + repo.etag("big.gguf"))
        self.assertEqual(path.read_bytes(), self.big)
        self.assertEqual((folder / "refs/main").read_text(), commit)
        self.assertEqual(self.leftovers(), [])
        ranges = sorted(r for r, _ in self.hub.fetched)
        self.assertEqual(len(ranges), 3, ranges)  # 4 MiB at least each
        self.assertTrue(all(r for r in ranges))
        self.assertLess(self.hub.sent, len(self.big) + 1)
        self.hub.reset()
        written = (folder / "refs/main").stat().st_ino
        self.assertEqual(self.pull("hf:linnet/big"), path)
        self.assertEqual(self.hub.fetched, [])
        self.assertEqual((folder / "refs/main").stat().st_ino, written)  # nothing to write, which a cache of others may not allow
        (folder / "refs/v1.0").mkdir()  # no ref can be written there
        done = self.run_tool("pull", "hf:linnet/big@v1.0")
        self.assertEqual(done.stdout, f"{path}\n")
        self.assertIn("note: ", done.stderr)
        deep = self.pull("hf:linnet/quants@refs/pr/1:BF16")
        self.assertEqual(deep.name, "model-BF16-00001-of-00003.gguf")
        self.assertEqual(len(list(deep.parent.iterdir())), 3)
        self.assertTrue(os.readlink(deep).startswith("../../../blobs/"))
        self.assertTrue((self.cache / "models--linnet--quants/refs/refs/pr/1").is_file())

    def test_places(self):
        for env, where in (({"HF_HUB_CACHE": str(self.home / "a")}, "a"), ({"HF_HOME": str(self.home / "b")}, "b/hub"),
                           ({"XDG_CACHE_HOME": str(self.home / "c")}, "c/huggingface/hub"), ({"HF_HOME": "~/d"}, "d/hub")):
            self.assertTrue(self.pull("hf:linnet/quants:Q8_0", env=env).is_relative_to(self.home / where))

    def test_choice(self):
        for name, file in (("hf:linnet/quants", "model-Q8_0.gguf"), ("hf:linnet/quants:q4_k_m", "model-Q4_K_M.gguf"),
                           ("hf:linnet/quants:Q4_K_XL", "model-UD-Q4_K_XL.gguf"), ("hf:linnet/quants:model-F16.gguf", "model-F16.gguf"),
                           ("hf:linnet/quants:a b%#?+.gguf", "a b%#?+.gguf"), ("hf:linnet/two:b-Q8_0.gguf", "b-Q8_0.gguf"),
                           ("hf:linnet/quants@v1.0:Q2_K", "model-Q2_K.gguf"), ("hf:linnet/packed", "linnet-i8g128.gguf"),
                           ("hf:linnet/packed:config.json", "config.json")):
            with self.subTest(name=name):
                self.assertEqual(self.pull(name).name, file)
        self.refused("hf:linnet/quants:Q5_0", "no GGUF file of 'Q5_0'", "model-Q8_0.gguf")
        self.refused("hf:linnet/quants:nothing.gguf", "no file 'nothing.gguf'", "--list")
        self.refused("hf:linnet/odd", "no GGUF file of a quantisation that linnet reads", "a-Q2_K.gguf")
        self.refused("hf:linnet/two", "more than one file", "b-Q8_0.gguf")
        self.refused("hf:linnet/bare", "no model that linnet reads")
        self.refused("hf:linnet/folder:Q8_0", "no GGUF files")
        self.hub.change = lambda entries: [e for e in entries if "00002" not in e["path"]]
        self.refused("hf:linnet/quants:BF16", "of the 3 parts", "there are 2")
        for name in ("hf:", "hf:a", "hf:a/b/c", "hf:a/..", "hf:../b", "hf:a/b:", "hf:a/b:../x", "hf:a/b@", "hf:a/b@../x", "hf:a--b/c", "linnet/big"):
            self.refused(name, "hf:USER/REPO[@REVISION][:FILE|:QUANT]", code=2)
        self.refused("hf:a", "hf:USER/REPO[@REVISION][:FILE|:QUANT]", command="plan", code=2)

    def test_list(self):
        lines = self.run_tool("pull", "--list", "hf:linnet/quants").stdout.splitlines()
        self.assertEqual(len(lines), len(self.hub.repos["linnet/quants"].files))  # of several pages
        self.assertIn("  3.00 kB  model-Q8_0.gguf", lines)
        self.assertFalse(self.cache.exists())
        self.hub.reset()  # a mirror below a folder, whose links know nothing of it
        self.assertEqual(self.run_tool("pull", "--list", "hf:linnet/quants", env={"HF_ENDPOINT": self.hub.url + "/mirror"}).stdout.splitlines(), lines)
        self.assertTrue(all(path.startswith("/mirror/api/") for _, path, _ in self.hub.asked), self.hub.asked)
        found = json.loads(self.run_tool("pull", "--list", "--json", "hf:linnet/big").stdout)
        self.assertEqual(found["files"], [{"path": "big.gguf", "bytes": len(self.big), "etag": hashlib.sha256(self.big).hexdigest()}])
        made = json.loads(self.run_tool("pull", "--json", "hf:linnet/big").stdout)
        self.assertEqual((made["bytes"], made["came"], made["commit"]), (len(self.big), len(self.big), self.hub.repos["linnet/big"].commit))

    def test_folder_runs(self):
        """A repository without GGUF: what a model is read from, once; then -m asks nobody."""
        done = self.run_tool("run", "-m", "hf:linnet/folder", "-p", "ab", "-n", "4", "--temp", "0")
        path = self.cache / "models--linnet--folder/snapshots" / self.hub.repos["linnet/folder"].commit
        self.assertEqual({p.name for p in path.iterdir()}, {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json"})
        self.hub.reset()
        again = self.run_tool("run", "-m", self.pull("hf:linnet/folder"), "-p", "ab", "-n", "4", "--temp", "0")
        self.assertEqual(done.stdout, again.stdout)
        asked = len(self.hub.asked)
        for command in (("run", "-p", "ab", "-n", "4", "--temp", "0"), ("plan",), ("tokenize", "ab"), ("inspect",), ("doctor",)):
            self.run_tool(*command, "-m", "hf:linnet/folder")
        self.run_tool("convert", "hf:linnet/folder", "-o", self.home / "m.gguf")
        self.assertEqual(len(self.hub.asked), asked)
        (path / "tokenizer.json").unlink()  # not whole any more
        self.run_tool("tokenize", "ab", "-m", "hf:linnet/folder")
        self.assertGreater(len(self.hub.asked), asked)

    def test_packed_runs(self):
        self.run_tool("run", "-m", "hf:linnet/packed", "-p", "ab", "-n", "4")
        self.hub.reset()
        self.run_tool("run", "-m", "hf:linnet/packed", "-p", "ab", "-n", "4", env={"HF_HUB_OFFLINE": "1"})
        self.assertEqual(self.hub.asked, [])
        done = self.run_tool("pull", "hf:linnet/packed", env={"HF_HUB_OFFLINE": "1"})
        self.assertIn("note: HF_HUB_OFFLINE is set; what the cache has", done.stderr)
        self.refused("hf:linnet/big", "HF_HUB_OFFLINE is set, and", "does not hold", env={"HF_HUB_OFFLINE": "1"})
        with socket.socket() as s:  # bound, and nobody listens
            s.bind(("127.0.0.1", 0))
            nobody = {"HF_ENDPOINT": f"http://127.0.0.1:{s.getsockname()[1]}"}
            self.assertIn("cannot be reached", self.run_tool("pull", "hf:linnet/packed", env=nobody).stderr)
            self.refused("hf:linnet/big", "linnet/big: the hub cannot be reached", env=nobody)
            self.assertIn("linnet plan: ", self.refused("hf:linnet/big", "cannot be reached", command="plan", env=nobody))
        with socket.create_server(("127.0.0.1", 0), backlog=0) as s, socket.create_connection(s.getsockname()):  # full: a connection waits
            silent = {"HF_ENDPOINT": f"http://127.0.0.1:{s.getsockname()[1]}", "HF_HUB_DOWNLOAD_TIMEOUT": "1"}
            self.assertIn("cannot be reached", self.run_tool("pull", "hf:linnet/packed", env=silent).stderr)

    def test_new_commit(self):
        """Another commit shares the blobs that it has in common, and -m takes it once it is pulled."""
        self.pull("hf:linnet/folder")
        old = self.hub.repos["linnet/folder"]
        self.hub.repos["linnet/folder"] = Repo(old.files | {"generation_config.json": b"{}"})
        self.hub.reset()
        path = self.pull("hf:linnet/folder")
        self.assertEqual((path.name, self.hub.fetched), (self.hub.repos["linnet/folder"].commit, []))
        self.assertEqual((path / "generation_config.json").read_bytes(), b"{}")
        self.assertEqual(len(list(path.parent.iterdir())), 2)

    # ---- the way there

    def test_cuts(self):
        """Each connection is cut after a megabyte: what came is kept, nothing comes twice."""
        self.hub.bad = {"cut": MIB}
        self.assertEqual(self.pull("hf:linnet/big").read_bytes(), self.big)
        self.assertGreater(len(self.hub.fetched), 12)
        self.assertEqual(self.hub.sent, len(self.big))

    def test_endings(self):
        for bad in ({"chunked": 1}, {"chunked": 1, "cut": 3 * MIB}, {"no_ranges": 1}, {"no_ranges": 1, "cut": MIB, "cuts": 4}, {"expired": 1},
                    {"silent": 3, "cut": 5 * MIB, "cuts": 3}):
            with self.subTest(bad=bad):
                self.hub.reset()
                self.hub.bad = bad
                self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
                self.assertEqual(self.pull("hf:linnet/big", env={"HF_HUB_DOWNLOAD_TIMEOUT": "1"}).read_bytes(), self.big)

    def test_stopped(self):
        """Ctrl-C and kills leave what came; the same command goes on with it."""
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how=how):
                self.hub.reset()
                self.hub.bad = {"slow": 0.02}
                self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
                process = subprocess.Popen([LINNET, "pull", "hf:linnet/big"], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                blobs = self.home / ".cache/huggingface/hub/models--linnet--big/blobs"
                while sum(p.stat().st_blocks for p in blobs.glob("*.incomplete")) < 3 * MIB // 512 and process.poll() is None:
                    time.sleep(0.01)
                process.send_signal(how)
                out, err = process.communicate(timeout=30)
                self.assertEqual((process.returncode, out), (-how, ""), err)
                if how != signal.SIGKILL:
                    self.assertIn("the same command goes on from here", err)
                self.assertTrue(blobs.is_dir())
                time.sleep(0.2)  # what is on its way ends
                self.hub.reset()
                made = json.loads(self.run_tool("pull", "--json", "hf:linnet/big").stdout)
                self.assertEqual(pathlib.Path(made["path"]).read_bytes(), self.big)
                if how != signal.SIGKILL:  # which leaves what was said to be there, at most five seconds ago
                    self.assertLess(made["came"], len(self.big) - 2 * MIB)

    def test_stopped_at_the_check(self):
        """Ctrl-C while the checksum is computed leaves all that came."""
        size, name = 1 << 36, hashlib.sha256(self.big).hexdigest()
        self.hub.change = lambda entries: [e | {"size": size, "lfs": e["lfs"] | {"size": size}} for e in entries]
        part = self.cache / "models--linnet--big/blobs" / (name + ".linnet.incomplete")
        part.parent.mkdir(parents=True)
        state = struct.pack("<8s2Q", b"litpull1", size, 1) + struct.pack("<3Q", 0, size, size) + bytes(15 * 24)  # all of it is there
        with part.open("wb") as file:
            file.seek(size)
            file.write(state)
        process = subprocess.Popen([LINNET, "pull", "hf:linnet/big"], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:  # SIGINT is taken over before the list is asked for, and the check follows
            while not self.hub.asked and process.poll() is None:
                time.sleep(0.01)
            time.sleep(0.5)
        finally:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""), err)
        self.assertIn("the same command goes on from here", err)
        with part.open("rb") as file:
            file.seek(size)
            self.assertEqual(file.read(), state)
        self.assertEqual(self.hub.sent, 0)

    def test_two_at_once(self):
        self.hub.bad = {"slow": 0.02}
        both = [subprocess.Popen([LINNET, "pull", "hf:linnet/big"], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        texts = [p.communicate(timeout=30) for p in both]
        self.assertEqual([p.returncode for p in both], [0, 0], texts)
        self.assertEqual(texts[0][0], texts[1][0])
        self.assertEqual(self.hub.sent, len(self.big))
        self.assertIn("another process pulls linnet/big/big.gguf; waiting for it", texts[0][1] + texts[1][1])

    def test_taken_away(self):
        """What has come in its place meanwhile is not what was checked."""
        blobs = self.cache / "models--linnet--big/blobs"
        part = blobs / (hashlib.sha256(self.big).hexdigest() + ".linnet.incomplete")
        self.hub.bad = {"slow": 0.01}
        process = subprocess.Popen([LINNET, "pull", "hf:linnet/big"], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while self.hub.sent < MIB and process.poll() is None:
            time.sleep(0.01)
        (self.home / "junk").write_bytes(bytes(len(self.big)))
        os.replace(self.home / "junk", part)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assertIn("linnet/big/big.gguf: another process", err)
        self.assertFalse((blobs.parent / "snapshots").exists())
        self.assertEqual(os.listdir(blobs), [part.name])

    def test_damaged_state(self):
        """What an unfinished file says of itself is checked, and the checksum sees the rest."""
        blobs = self.cache / "models--linnet--big/blobs"
        blobs.mkdir(parents=True)
        part = blobs / (hashlib.sha256(self.big).hexdigest() + ".linnet.incomplete")
        for junk in (b"", b"junk", bytes(len(self.big)) + os.urandom(400), self.big + b"litpull1" + bytes(392)):
            part.write_bytes(junk)
            self.assertEqual(self.pull("hf:linnet/big").read_bytes(), self.big)
            shutil.rmtree(blobs.parent / "snapshots")
            (blobs / part.name.split(".")[0]).unlink()
        part.write_bytes(self.big)  # checked and cut to its size; then the power went
        made = json.loads(self.run_tool("pull", "--json", "hf:linnet/big").stdout)
        self.assertEqual((made["came"], pathlib.Path(made["path"]).read_bytes()), (0, self.big))
        shutil.rmtree(blobs.parent)
        blobs.mkdir(parents=True)
        os.mkfifo(part)  # nobody is waited for
        self.refused("hf:linnet/big", part.name)

    def test_terminal(self):
        self.hub.bad = {"slow": 0.02}
        mine, its = pty.openpty()
        process = subprocess.Popen([LINNET, "pull", "hf:linnet/big"], env=self.environment(), stdout=subprocess.PIPE, stderr=its)
        os.close(its)
        shown = b""
        try:
            while select.select([mine], [], [], 30)[0] and (piece := os.read(mine, 65536)):
                if not shown:
                    process.send_signal(signal.SIGPIPE)  # which TLS raises where a peer has left
                shown += piece
        except OSError:  # its end
            pass
        os.close(mine)
        out, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out.count(b"\n")), (0, 1))
        lines = shown.decode().split("\r\x1b[K")
        bars = [line for line in lines if re.fullmatch(r"\[#* *\]  ?\d+ % of 13\.6 MB, [\d.]+ [kM]?B/s, \d+ s left  big\.gguf", line)]
        self.assertGreater(len(bars), 2, shown)
        self.assertLess(max(map(len, lines)), 80)
        self.assertEqual(lines[-1], "")  # nothing stays

    # ---- the token

    def test_token(self):
        gated = "hf:linnet/gated"
        self.refused(gated, "accept its terms at " + self.hub.url + "/linnet/gated", "HF_TOKEN")
        self.refused(gated, "accept its terms", env={"HF_TOKEN": "hf_wrong"})
        self.hub.turns = [(403, {"X_Error_Message": "Access to this resource is disabled."})]
        self.refused("hf:linnet/two", "the hub refuses it: Access to this resource is disabled.")
        self.refused("hf:linnet/nowhere", "not there, or private", "HF_TOKEN")
        self.refused("hf:linnet/nowhere", "the token does not open it", env={"HF_TOKEN": TOKEN})
        self.refused("hf:linnet/big@v9", "no revision 'v9'")
        self.refused(gated, "HF_TOKEN holds no token", env={"HF_TOKEN": "a\r\nHost: b"})
        self.refused(gated, "accept its terms", env={"HF_TOKEN": TOKEN, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"})
        self.refused("hf:linnet/two", "the hub does not know the token", env={"HF_TOKEN": "hf_old"})  # though anybody may have it
        file = self.home / "token"
        file.write_text(TOKEN + "\n")
        usual = self.home / ".cache/huggingface/token"
        for env in ({"HF_TOKEN": TOKEN}, {"HUGGING_FACE_HUB_TOKEN": TOKEN}, {"HF_TOKEN_PATH": str(file)}, {"HF_HOME": str(self.home)}, {}):
            if not env:
                usual.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, usual)
            with self.subTest(env=env):
                self.hub.reset()
                shutil.rmtree(self.cache, ignore_errors=True)
                self.assertEqual(self.pull(gated, env=env).read_bytes(), b"for some")
                self.assertTrue(all(token == "Bearer " + TOKEN for _, _, token in self.hub.asked))
                if "HF_HOME" not in env:
                    self.assertEqual([token for _, token in self.hub.fetched], [None])  # another origin

    def test_token_in_clear(self):
        """Over plain http the token goes to this machine alone, and to no proxy on the way."""
        token = {"HF_TOKEN": TOKEN}
        proxy = {"http_proxy": f"http://127.0.0.1:{self.hub.cdn.server_port}"}
        self.assertEqual(self.pull("hf:linnet/gated", env=token | proxy).read_bytes(), b"for some")
        self.assertEqual([auth for _, auth in self.hub.fetched], [None])
        for host in ("127.example", "127.0.0.1.example", "hub.example"):
            self.hub.reset()
            there = {"HF_ENDPOINT": "http://" + host, "http_proxy": self.hub.url}
            self.refused("hf:linnet/nowhere", "the token does not go over plain http", env=token | there)
            self.assertEqual([auth for _, _, auth in self.hub.asked], [None])

    # ---- servers that are busy, broken or hostile

    def test_busy(self):
        self.hub.turns = [(429, {"Retry_After": 1}), (503, {})]
        begin = time.monotonic()
        done = self.run_tool("pull", "hf:linnet/two:a-Q8_0.gguf")
        self.assertIn("note: the hub asks to wait 1 s", done.stderr)
        self.assertGreater(time.monotonic() - begin, 1.9)
        self.hub.turns = [(429, {"Retry_After": 4000})]
        self.refused("hf:linnet/two:b-Q8_0.gguf", "asked too often", "1 h 6 min")
        self.hub.turns = [(429, {"RateLimit": '"api";r=0;t=4000', "RateLimit_Policy": '"fixed window";"api";q=500;w=300'})]
        self.refused("hf:linnet/two:b-Q8_0.gguf", "asked too often", "1 h 6 min")

    def test_wrong_bytes(self):
        for bad, word in (({"wrong": 1}, "its checksum is"), ({"shorter": 1}, "the server has"), ({"longer": 1, "chunked": 1}, "sends more than"),
                          ({"shifted": 1}, "another range than it was asked for")):
            with self.subTest(bad=bad):
                self.hub.reset()
                self.hub.bad = bad
                self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
                self.refused("hf:linnet/big", "linnet/big/big.gguf: ", word)
                cache = self.home / ".cache/huggingface/hub/models--linnet--big"
                self.assertFalse((cache / "snapshots").exists() or (cache / "refs").exists())
        self.hub.bad = {}
        self.assertEqual(self.pull("hf:linnet/big").read_bytes(), self.big)

    def test_hostile_lists(self):
        def with_path(path):
            return lambda entries: [dict(entries[0], path=path)]
        good = {"type": "file", "oid": "a" * 40, "size": 5, "path": "x-Q8_0.gguf"}
        outside = self.home / "outside.gguf"
        for path in ("../../../../outside.gguf", "/" + str(outside), str(outside), "a/../../b.gguf", "a//b.gguf", "./a.gguf", "a\\b.gguf", "a\nb.gguf",
                     "a\x1b[2Jb.gguf", "a\u009b2Jb.gguf", "a\u202eb.gguf", "a\x7f.gguf", "", "a/", "x" * 300 + ".gguf", "a/" * 40 + "b.gguf", "a" + "/a" * 600):
            self.hub.change = with_path(path)
            line = self.refused("hf:linnet/two", "is no name that a file of a repository may have")
            self.assertNotIn("\x1b", line)
        for entries, word in (([good | {"size": -1}], "no size"), ([good | {"size": 1 << 60}], "no size"), ([good | {"size": "5"}], "no size"),
                              ([good | {"size": 1.5}], "no size"), ([good | {"oid": "../" * 13 + "a"}], "no checksum"), ([good | {"oid": "A" * 40}], "no checksum"),
                              ([good | {"lfs": {"oid": "a" * 40, "size": 5}}], "no checksum"), ([good | {"lfs": 7}], "no checksum"), ([7], "no name"), ([good | {"size": 1 << 45}], "room for"),
                              ([good | {"path": "a"}, good | {"path": "a/b-Q8_0.gguf"}, good], "more than one file")):
            with self.subTest(entries=entries):
                self.hub.change = lambda _, e=entries: e
                self.refused("hf:linnet/two", word)
        self.hub.turns = [(200, {})]
        self.refused("hf:linnet/two", "the hub's answer")  # "busy" is no JSON
        self.assertFalse(outside.exists())
        self.hub.change = lambda entries: entries
        for to in ("ftp://127.0.0.1/x", "file:///etc/passwd", "//[", "http://"):
            self.hub.redirect = to
            self.refused("hf:linnet/two:a-Q8_0.gguf", "linnet/two")
        self.hub.redirect = self.hub.url + "/linnet/two/resolve/main/a-Q8_0.gguf"
        self.refused("hf:linnet/two:a-Q8_0.gguf", "redirects without end")
        self.assertEqual(self.leftovers()[1:], [])
        self.refused("hf:linnet/two", "not an address", env={"HF_ENDPOINT": "ftp://x"})
        self.refused("hf:linnet/two", "none of HF_HUB_CACHE, HF_HOME and HOME", env={"HOME": ""})

    def test_no_libcurl(self):
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (self.home / name).write_text("no library")
        self.refused("hf:linnet/two", "libcurl is not installed", env={"LD_LIBRARY_PATH": str(self.home)})
        self.pull("hf:linnet/packed")
        self.run_tool("run", "-m", "hf:linnet/packed", "-p", "a", "-n", "2", env={"LD_LIBRARY_PATH": str(self.home)})


class Together(unittest.TestSuite):
    """In threads: a test has a hub and a cache of its own, and most of what it takes is waiting."""

    def run(self, result, debug=False):
        Pull.setUpClass()
        try:
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                for done in [pool.submit(test, result) for test in self]:
                    done.result()
        finally:
            Pull.tearDownClass()
        return result


def load_tests(loader, tests, pattern):
    return Together(loader.loadTestsFromTestCase(Pull))


if __name__ == "__main__":
    try_it = subprocess.run([LINNET, "pull", "hf:linnet/none"], capture_output=True, text=True, env={"HOME": "/nonexistent", "HF_ENDPOINT": "http://127.0.0.1:1", "PATH": "/usr/bin"})
    if "libcurl" in try_it.stderr:
        print("skipped: " + try_it.stderr.strip())
        sys.exit(77)
    unittest.main()
