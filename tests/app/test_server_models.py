#!/usr/bin/env python3
"""linnet-server with several models: test_server_models.py LINNET_SERVER PART...

memory: who is let go for whom. idle: models go after a time. state: prompts that are computed elsewhere. adapters: each request its own.
"""
import random
import re
import subprocess
import time
from pathlib import Path

from test_server import BUNDLED, FORGOTTEN_S, HELLO, LONG, PLAIN, TEXT, Server, at_once, essence, hybrid_model, plain_model, read_some, run_parts

PARTS = {}
PREFIX = ["--prefix-cache", "4", "-c", "1000", "--parallel", "2"]


def part(function):
    PARTS[function.__name__] = function
    return function


def planned(model, *options):
    """Bytes of a model's plan, as the refusal of a cap says them."""
    run = subprocess.run([Server.program, "-m", f"m={model}", "--port", "0", "--no-cache", "-t", "1", "--memory", "1", *PREFIX, *map(str, options)],
                         capture_output=True, text=True, timeout=FORGOTTEN_S)
    assert run.returncode == 1 and run.stderr.count("\n") == 1, run
    return int(re.search(r"the plan takes (\d+) bytes, the cap on memory is 1048576;", run.stderr)[1])


def loaded(s):
    return {m["id"] for m in s.ask("GET", "/v1/models").json()["data"] if m["status"]["value"] == "loaded"}


def ask(model, **more):
    return dict(LONG, model=model, max_tokens=8, logprobs=1, **more)


def wakes(s):
    return [re.search(r"voluntary_ctxt_switches:\s+(\d+)", (t / "status").read_text())[1] for t in s.proc("task").iterdir()], s.ticks()


@part
def adapters(folder):
    model = plain_model(folder / "plain", 1024)
    lora = Path(__file__).resolve().parent.parent / "golden" / "lora"
    body = dict(LONG, max_tokens=12, logprobs=2)
    uses = [[], [{"id": 0, "scale": 1.0}], [{"id": 1, "scale": 0.5}], [{"id": 1, "scale": -1}, {"id": 0, "scale": 0.25}]]
    with Server(model, *PREFIX) as s:
        plain = essence(s.good(TEXT, body))
        assert s.ask("GET", "/lora-adapters").json() == []
        assert essence(s.good(TEXT, dict(body, lora=[]))) == plain
        assert "lora" in s.post(TEXT, dict(body, lora=uses[1])).json()["error"]["message"]
    with Server(model, "--lora", lora / "llama-all", "--lora", f"{lora / 'llama-rslora'}:0", *PREFIX) as s:
        listed = s.ask("GET", "/lora-adapters").json()
        assert [(a["id"], Path(a["path"]).name, a["scale"]) for a in listed] == [(0, "llama-all", 1.0), (1, "llama-rslora", 0.0)], listed
        right = [essence(s.good(TEXT, dict(body, lora=use, cache_prompt=False))) for use in uses]
        assert right[0] == plain and len({str(r) for r in right}) == len(uses), right
        assert essence(s.good(TEXT, body)) == right[1]  # as the command line has them
        # Whoever shares a pass or has been there before.
        for _ in range(3):
            calls = [lambda use=use: essence(s.good(TEXT, dict(body, lora=use))) for use in uses * 3]
            assert at_once(calls) == right * 3
        for use in uses:
            again = s.good(TEXT, dict(body, lora=use))
            assert again["usage"]["prompt_tokens_details"]["cached_tokens"] > 0, again
        for wrong in ([{"id": 2, "scale": 1}], [{"id": 0}], [{"scale": 1}], ["x"], [{"id": 0, "scale": "1"}], 5):
            refused = s.post(TEXT, dict(body, lora=wrong))
            assert refused.status == 400 and "lora" in refused.json()["error"]["message"], refused.json()
        # Other scales for requests that say none: at once, with what is kept of others kept apart; a request's own field wins.
        scales = lambda: [a["scale"] for a in s.ask("GET", "/lora-adapters").json()]
        vector = lambda: s.good("/v1/embeddings", {"input": "a text"})["data"][0]["embedding"]
        vectors = []
        for use, is_now in zip(uses + uses[:2], ([0, 0], [1, 0], [0, 0.5], [0.25, -1], [0, 0], [1, 0])):
            assert s.good("/lora-adapters", use) == {"success": True} and scales() == is_now, (use, scales())
            assert essence(s.good(TEXT, body)) == right[uses.index(use)], use
            assert [essence(s.good(TEXT, dict(body, lora=other))) for other in uses] == right
            vectors.append(str(vector()))
        assert vectors[4:] == vectors[:2] and len(set(vectors)) == len(uses), vectors
        for wrong in ([{"id": 2, "scale": 1}], [{"id": 1, "scale": 1}, {"id": 0}], ["x"], [{"id": 0, "scale": "1"}], [{"id": 0, "scale": 1001}], {"id": 0, "scale": 1}, 5):
            refused = s.post("/lora-adapters", wrong)
            assert refused.status == 400 and ("lora" in refused.json()["error"]["message"] or "array" in refused.json()["error"]["message"]), refused.json()
            assert scales() == [1, 0]  # as it was
        assert s.post("/lora-adapters?model=none", []).status == 404
        refused = s.ask("DELETE", "/lora-adapters")
        assert refused.status == 405 and "GET, POST" in refused.json()["error"]["message"], refused.json()


@part
def memory(folder):
    models = {"m": BUNDLED, "b": plain_model(folder / "b", 2048), "c": plain_model(folder / "c", 1024)}
    plans = {name: planned(path) for name, path in models.items()}
    right = {}
    for name, path in models.items():
        with Server(path, *PREFIX) as s:
            right[name] = essence(s.good(TEXT, ask("m")))
            m = s.metrics()
            # To the byte where the prefix cache takes all that it may; a small model's may not.
            assert sum(v for k, v in m.items() if k.startswith("memory_bytes:")) <= plans[name], (name, m, plans)
    assert right["m"] != right["b"]
    others = ["-m", f"b={models['b']}", "-m", f"c={models['c']}", *PREFIX]
    two = -(-max(plans["m"] + plans["b"], plans["m"] + plans["c"], plans["b"] + plans["c"]) // 2 ** 20)
    assert two * 2 ** 20 < sum(plans.values())
    with Server(BUNDLED, *others, "--memory", two) as s:
        assert loaded(s) == {"m"}
        for name, are_there in [("b", "mb"), ("m", "mb"), ("c", "mc"), ("c", "mc"), ("b", "cb"), ("m", "mb"), ("b", "mb"), ("c", "bc"), ("m", "mc")]:
            answer = s.good(TEXT, ask(name))
            assert answer["model"] == name and essence(answer) == right[name], (name, answer)
            assert loaded(s) == set(are_there), (name, are_there, loaded(s))
        assert s.ask("GET", "/v1/models/b").json()["status"]["value"] == "unloaded" and "meta" in s.ask("GET", "/v1/models/m").json()
        assert s.post(TEXT, ask("d")).status == 404 and loaded(s) == {"m", "c"}
        # A stream that runs keeps its model; of the others the one that was asked for longest ago goes, and if all run, nobody.
        runs = s.stream(dict(ask("m"), max_tokens=900, stream=True, logprobs=20, n=16), small=True)
        read_some(runs, 100)
        s.good(TEXT, ask("c"))
        assert essence(s.good(TEXT, ask("b"))) == right["b"] and loaded(s) == {"m", "b"}
        too = s.stream(dict(ask("b"), max_tokens=900, stream=True, logprobs=20, n=16), small=True)
        read_some(too, 100)
        for _ in range(3):
            refused = s.post(TEXT, ask("c"))
            error = refused.json()["error"]
            assert refused.status == 503 and refused.headers["Retry-After"] and error["code"] == "no_memory" and error["param"] == "model", refused
            assert re.findall(r"\d+", error["message"]) == [str(plans["c"]), str(plans["m"] + plans["b"]), str(two << 20)], (error, plans)
            assert loaded(s) == {"m", "b"}
        too.close()
        s.until("it has gone", lambda _: s.post(TEXT, ask("c")).status == 200)
        assert loaded(s) == {"m", "c"}
        runs.close()
    # Where one fits at a time: whoever only looks keeps nobody from going, and what is asked for at once is right or refused.
    one = -(-max(plans.values()) // 2 ** 20)
    with Server(BUNDLED, *others, "--memory", one) as s:
        names = list(models)

        def client(i):
            r, seen = random.Random(i), [0, 0]
            for _ in range(12):
                name = r.choice(names)
                answer = s.post(TEXT, ask(name))
                assert answer.status == 503 and answer.json()["error"]["code"] == "no_memory" or essence(answer.json()) == right[name], (name, answer)
                seen[answer.status == 200] += 1
                assert sum(plans[n] for n in loaded(s)) <= one << 20
            return seen
        at_once([lambda i=i: client(i) for i in range(6)])
        stop = []

        def looks():
            while not stop:
                for path in ("/metrics", "/v1/models", "/slots", "/v1/models/b"):
                    assert s.ask("GET", path).status == 200

        def asks():
            try:
                for i in range(60):
                    answer = s.post(TEXT, ask(names[i % 3]))
                    assert answer.status == 200 and essence(answer.json()) == right[names[i % 3]], (i, answer)
            finally:
                stop.append(True)
        at_once([looks, looks, asks])
    run = subprocess.run([Server.program, "-m", f"m={BUNDLED}", "--port", "0", "--no-cache", "-m", f"b={folder / 'none'}", *PREFIX], capture_output=True, text=True, timeout=FORGOTTEN_S)
    assert run.returncode == 1 and "none" in run.stderr and run.stderr.count("\n") == 1, run


@part
def idle(folder):
    tiny = plain_model(folder / "b", 2048)
    with Server(BUNDLED, "-m", f"b={tiny}", "--idle", "1", *PREFIX) as s:
        right = essence(s.good(TEXT, ask("m")))
        assert loaded(s) == {"m", "b"}
        held = s.memory("VmRSS")
        began = time.monotonic()
        while time.monotonic() < began + 1.6:  # who is asked for stays, the other goes
            assert essence(s.good(TEXT, ask("m"))) == right
            assert "m" in loaded(s)
            time.sleep(0.05)
        assert loaded(s) == {"m"}
        # Who is at work does not go, and its time begins when that ends.
        runs = s.stream(dict(ask("b"), max_tokens=900, stream=True, logprobs=20, n=16), small=True)
        read_some(runs, 100)
        s.until("the other has gone", lambda _: loaded(s) == {"b"})
        time.sleep(1.2)
        assert loaded(s) == {"b"}
        runs.close()
        ended = time.monotonic()
        s.until("none is there", lambda _: not loaded(s))
        assert time.monotonic() - ended > 0.9, time.monotonic() - ended
        assert s.ask("GET", "/health").json() == {"status": "ok"} and not loaded(s)
        assert s.ask("GET", "/slots").json() == [] and "memory_bytes:session" not in s.metrics()
        assert not PLAIN or s.memory("VmRSS") < held - 8e6, (held, s.memory("VmRSS"))
        # libmicrohttpd has nobody to wait for, the models' thread neither.
        time.sleep(0.5)
        before = wakes(s)
        time.sleep(1.5)
        assert not PLAIN or wakes(s) == before, (before, wakes(s))
        assert essence(s.good(TEXT, {k: v for k, v in ask("").items() if k != "model"})) == right


@part
def state(folder):
    hybrid = hybrid_model(folder / "hybrid")
    r = random.Random(3)
    for model, top in [(BUNDLED, 250), (hybrid, 67)]:
        if not model:
            print("skipped: there is no tests/golden/lfm2")
            continue
        prompts = [[r.randrange(3, top) for _ in range(n)] for n in (300, 77)]
        bodies = [dict(ask("m"), prompt=p, max_tokens=20) for p in prompts]
        with Server(model, "--prefix-cache", "0", "-c", 1024, "--parallel", 2) as s:
            right = [essence(s.good(TEXT, b)) for b in bodies]
            assert s.post("/v1/state", {"prompt": prompts[0]}).status == 404
            assert s.ask("PUT", "/v1/state", raw=b"x", headers={"Content-Type": "application/octet-stream"}).status == 405
        options = ["--state", "-c", 1024, "--parallel", 2]
        states, parts = [], []
        with Server(model, *options) as s:
            for p in prompts:
                answer = s.post("/v1/state", {"prompt": p})
                assert answer.status == 200 and answer.headers["Content-Type"] == "application/octet-stream" and int(answer.headers["X-Linnet-Tokens"]) == len(p) - (model == hybrid), answer
                states.append(answer.body)
            parts = [s.post("/v1/state", {"prompt": prompts[0], "first": first, "n": 112}).body for first in (0, 112, 224)]
            assert all(parts) and sum(map(len, parts)) < 2 * len(states[0]), (len(states[0]), list(map(len, parts)))
            assert [essence(s.good(TEXT, b)) for b in bodies] == right
            for body, names in [({"prompt": prompts, }, "prompt"), ({}, "prompt"), ({"prompt": prompts[0], "first": 5}, "first"), ({"prompt": "x", "n": -1}, "n"), ({"prompt": "x", "y": 1}, "y"),
                                ({"prompt": [3] * 1024}, "1024"), ({"prompt": "x", "model": "other"}, "other")]:
                answer = s.post("/v1/state", body)
                assert answer.status in (400, 404) and names in answer.body.decode(), (body, answer)
            assert s.post("/v1/state", {"messages": HELLO}).status == 200

        def put(s, data, path="/v1/state"):
            return s.ask("PUT", path, raw=data, headers={"Content-Type": "application/octet-stream"})
        with Server(model, *options) as s:  # another process, as after a restart
            for i, (data, body) in enumerate(zip(states, bodies)):
                n = len(prompts[i])
                for wrong, names in [(data[:-1], ""), (data[:len(data) // 2], ""), (data[:11], ""), (b"", ""), (b"x" * 500, ""), (data[:-9] + bytes([data[-9] ^ 4]) + data[-8:], ""), (data + b"\0", "")]:
                    answer = put(s, wrong)
                    assert answer.status == 400 and answer.json()["error"]["message"] and answer.json()["error"]["code"] in ("bad_state", "invalid_request"), answer
                assert put(s, data, "/v1/state?model=other").status == 404
                answer = put(s, data)
                assert answer.status == 200 and answer.json() == {"tokens": n - (model == hybrid)}, answer
                got = s.good(TEXT, body)
                assert essence(got) == right[i] and got["usage"]["prompt_tokens_details"]["cached_tokens"] == n - 1, (i, got["usage"])
        with Server(model, *options) as s:
            assert put(s, parts[1]).status == 400  # what stands before it is not there
            for data in parts:
                assert put(s, data).status == 200
            got = s.good(TEXT, bodies[0])
            assert essence(got) == right[0] and got["usage"]["prompt_tokens_details"]["cached_tokens"] == 299, got["usage"]
        for other in ([BUNDLED, "--kv", "f16"], [plain_model(folder / f"other{top}", 1024)]):
            with Server(other[0], *options, *other[1:]) as s:
                answer = put(s, states[0])
                assert answer.status == 400 and answer.json()["error"]["code"] == "bad_state" and "prefix" in answer.json()["error"]["message"], answer
        with Server(model, *options, "--max-body", 1, "-c", 1024, "--kv", "f32") as s:
            answer = s.post("/v1/state", {"prompt": prompts[0]})
            if answer.status != 200:
                assert answer.status == 413 and "--max-body" in answer.json()["error"]["message"], answer
        with Server(model, *options, "--prefix-cache", "0") as s:
            assert s.post("/v1/state", {"prompt": prompts[0]}).status == 400 and put(s, states[0]).status == 400


if __name__ == "__main__":
    run_parts(PARTS)
