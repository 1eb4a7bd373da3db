#!/usr/bin/env python3
"""examples/fleet on a local Ray cluster of two workers: fleet.py [kills]. Needs ray[data,serve] and httpx in this Python, and linnet.

batch: the program, an actor or a machine is killed at 20 moments; in the end no row is missing and none is there twice. serve: requests with a replica and a server killed among them all get the
answer that they would have got, those that begin alike go to one replica; streams whose replica dies go on from another to the same text, logprobs and calls; with a prefill replica answers are the
same, too. `fleet.py 0` leaves the batches out."""
import asyncio
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import linnet
from ray.cluster_utils import Cluster

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples" / "assistant" / "model" / "linnet-assistant.gguf"
FLEET = ROOT / "examples" / "fleet"
PORT = 18765


def processes(name):
    """Processes whose title has that in it."""
    found = []
    for p in Path("/proc").iterdir():
        if p.name.isdigit() and int(p.name) != os.getpid():
            try:
                if name in (p / "cmdline").read_bytes().decode(errors="replace"):
                    found.append(int(p.name))
            except OSError:
                pass
    return found


def kill_one(name):
    if pids := processes(name):
        os.kill(random.choice(pids), signal.SIGKILL)
    return bool(pids)


def kill_all(name):
    for pid in processes(name):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def rows_of(folder):
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()]


def batch(cluster, home, kills):
    source, asked = home / "in", []
    source.mkdir()
    for f in range(4):
        rows = [{"id": f * 100 + i, **({"messages": [{"role": "user", "content": f"set a timer for {i + 2} minutes"}]} if i % 2 else {"prompt": f"what is {i} of {f}"})} for i in range(75)]
        rows[7] = {"id": f * 100 + 7, "prompt": ""}  # which cannot be answered
        asked += rows
        (source / f"part{f}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    command = [sys.executable, "-B", str(FLEET / "batch.py"), "--model", str(MODEL), "--input", str(source), "--actors", "2", "--cpus", "0.5", "--rows", "5", "--max-tokens", "200",
               "--address", cluster.address]
    begin = time.monotonic()
    subprocess.run([*command, "--output", str(home / "whole")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, done, log = time.monotonic() - begin, 0, []
    out, whole = home / "out", rows_of(home / "whole")
    while True:
        run = subprocess.Popen([*command, "--output", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while run.poll() is None and time.monotonic() < until:
            if done < kills:
                time.sleep(random.uniform(0, took * 0.8))
                if run.poll() is not None:
                    break
                what = random.choice(["program", "actor", "actor", "machine"])
                if what == "program":
                    run.kill()
                elif what == "actor":
                    if not kill_one("MapWorker"):
                        continue
                else:
                    node = cluster.worker_nodes and random.choice(list(cluster.worker_nodes))
                    cluster.remove_node(node, allow_graceful=False)
                    cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
                done += 1
                log.append(what)
            else:
                time.sleep(0.1)
        run.kill()
        if run.wait() == 0 and done >= kills:
            break
        if done < kills and run.returncode == 0:  # it came to its end before the next kill: begin anew with a part of it
            for file in random.sample(sorted(out.glob("*.jsonl")), k=len(list(out.glob("*.jsonl"))) // 2):
                file.unlink()
    found = rows_of(out)
    assert [r["id"] for r in found] == [r["id"] for r in asked], "rows are missing, or there twice"
    assert found == whole, "a chunk that was computed again differs"
    assert sum("error" in r for r in found) == 4 and all("answer" in r or "error" in r for r in found)
    print(f"batch: {len(found)} rows once each after {done} kills ({', '.join(f'{log.count(w)} of a {w}' for w in sorted(set(log)))}); {took:.1f} s undisturbed")


def served(cluster, prefill):
    log = tempfile.TemporaryFile(mode="w+")
    process = subprocess.Popen([sys.executable, "-B", str(FLEET / "serve.py"), "--model", str(MODEL), "--replicas", "2", "--prefill", str(prefill), "--cpus", "0.3", "--port", str(PORT),
                                "--address", cluster.address], stdout=subprocess.PIPE, stderr=log, text=True)
    if not any("listening" in line for line in process.stdout):
        log.seek(0)
        sys.exit("serve: it did not start: " + log.read()[-2000:])
    return process


def ask(messages, **more):
    return httpx.post(f"http://127.0.0.1:{PORT}/v1/chat/completions", json={"messages": messages, "temperature": 0, "max_tokens": 60, **more}, timeout=60)


def same(message, expected):
    return [c["function"] for c in message.get("tool_calls", [])] == [c["function"] for c in expected.get("tool_calls", [])] and (message["content"] or "") == (expected["content"] or "")


def streamed(url, path, body, each=None):
    """A stream put together: by choice all texts, calls and logprobs; how often another replica took over. each: called with the number of events so far."""
    choices, ids, n_events, taken_over, ends = {}, set(), 0, 0, []
    with httpx.stream("POST", f"{url}/v1/{path}", json={**body, "stream": True, "stream_options": {"include_usage": True}}, timeout=120) as stream:
        for line in stream.iter_lines():
            taken_over += line.startswith(":")
            if not line.startswith("data: {"):
                ends += [line] if line.startswith("data") else []
                continue
            event, n_events = json.loads(line[6:]), n_events + 1
            assert "choices" in event, event
            ids.add((event["id"], event["created"]))
            ends += ["usage"] if event.get("usage") else []
            for part in event["choices"]:
                to = choices.setdefault(part["index"], {"roles": 0, "content": "", "reasoning": "", "text": "", "calls": [], "logprobs": [], "ends": []})
                delta = part.get("delta", {})
                to["roles"] += "role" in delta and bool(delta["role"])
                to["content"] += delta.get("content") or ""
                to["reasoning"] += delta.get("reasoning_content") or ""
                to["text"] += part.get("text") or ""
                for call in delta.get("tool_calls", ()):
                    if "name" in call["function"]:
                        assert len(to["calls"]) == call["index"] and event["id"].partition("-")[2] in call["id"], call
                        to["calls"].append([call["function"]["name"], ""])
                    to["calls"][call["index"]][1] += call["function"]["arguments"]
                logprobs = part["logprobs"] or {}
                to["logprobs"] += logprobs.get("content") or list(zip(logprobs.get("tokens", ()), logprobs.get("token_logprobs", ()), logprobs.get("top_logprobs", ())))
                to["ends"] += [part["finish_reason"]] if part["finish_reason"] else []
            if each:
                each(n_events)
    assert len(ids) == 1 and ends == ["usage", "data: [DONE]"], (ids, ends)
    return choices, taken_over


def taking_over():
    """The front's part of that, on streams of a server: cut at every event, and what cannot go on ends by an error in its API's form."""
    sys.path.insert(0, str(FLEET))
    import serve

    def raw(url, path, body):
        return [e + b"\n\n" for e in httpx.post(f"{url}/v1/{path}", json={**body, "stream": True}, timeout=60).content.split(b"\n\n")[:-1]]

    async def answer(events, dies=True):
        for event in events:
            yield event[:7]
            yield event[7:]
        if dies:
            raise ConnectionError

    def passed(path, first, *others):
        others = list(others)

        async def ask():
            status, events, dies = others.pop(0)
            return status, answer(events, dies)

        async def all_of_it():
            return [e async for e in serve.going_on("v1/" + path, answer(first), ask)]

        return [e for e in asyncio.run(all_of_it()) if not e.startswith(b":")]

    def joined(events):
        found = {}
        for body in (json.loads(e[6:]) for e in events if e.startswith(b"data: {")):
            for part in body["choices"]:
                for key, value in [*part.get("delta", {}).items(), ("text", part.get("text")), ("finish", part["finish_reason"]), *((part["logprobs"] or {}).items())]:
                    if key == "tool_calls":
                        key, value = "calls", "".join(c["function"].get("name", "") + c["function"]["arguments"] for c in value)
                    if value:
                        found[part["index"], key] = found[part["index"], key] + value if (part["index"], key) in found else value
        return found

    question = [{"role": "user", "content": "set a timer for ten minutes"}]
    with linnet.serve(MODEL, no_cache=True) as server:
        for path, body in (("completions", {"prompt": "what is", "max_tokens": 30, "temperature": 1.5, "seed": 3, "ignore_eos": True, "logprobs": 2}), ("chat/completions", {"messages": question, "n": 3, "temperature": 1.2, "seed": 5, "logprobs": True, "top_logprobs": 1})):
            one, other = (raw(server.url, path, body) for _ in range(2))
            for i in range(len(one)):
                for k in (0, i // 2, len(one) - 1):  # another one dies, too
                    got = passed(path, one[:i], (200, other[:k], True), *([] if i else [(503, [], False)]), (200, other, False))
                    assert joined(got) == joined(one) and got[-1] == b"data: [DONE]\n\n", (path, i, k)
                    assert len({(json.loads(e[6:])["id"], json.loads(e[6:])["created"]) for e in got[:-1]}) == 1
            wrong, shorter = (raw(server.url, path, {**body, **more}) for more in ({"prompt": "who"} if "prompt" in body else {"messages": [{"role": "user", "content": "who are you"}]}, {"max_tokens": 1}))
            for end, others in (("not the same", [(200, wrong, False)]), ("not the same", [(200, shorter, False)]), ("no other answers", [(503, [], False)] * 3)):
                got = passed(path, one[:-1], *others)
                assert end in json.loads(got[-1][6:])["error"]["message"] and got[:-1] == one[:-1], got[-1]
        for path, body, kind in (("responses", {"input": "what is"}, "error"), ("messages", {"messages": question, "max_tokens": 30}, "error")):
            events = raw(server.url, path, body)
            got = passed(path, events[:3])
            assert got[:3] == events[:3] and got[3].startswith(b"event: error\ndata: ") and json.loads(got[3].partition(b"data: ")[2])["type"] == kind and len(got) == 4


def streaming(url):
    """40 streams with replicas killed among them: each is what it is undisturbed."""
    asked = [("completions", {"prompt": f"what is {i}", "n": 2, "max_tokens": 300, "temperature": 1.5, "seed": i, "ignore_eos": True, "logprobs": i % 3}) if i % 2 else
             ("chat/completions", {"messages": [{"role": "user", "content": f"set a timer for {i + 2} minutes" if i % 4 else "what is the weather like"}], "n": 24, "temperature": 1.0 + i / 40, "seed": i, "logprobs": i % 4 == 0}) for i in range(40)]
    with linnet.serve(MODEL, no_cache=True) as server:
        expected = [streamed(server.url, *one)[0] for one in asked]
    assert any(c["calls"] for choices in expected for c in choices.values()) and any(c["content"] for choices in expected for c in choices.values())
    kills, lock = [], threading.Lock()

    def disturb(i):
        def each(n_events):
            if i % 5 == 4 and n_events == 12:  # the servers of all replicas, and now and then a replica with its server
                with lock:
                    kills.append(len(kills))
                    if len(kills) % 4 == 0:
                        kill_one("ServeReplica:default:Decode")
                    kill_all("linnet-server")
        return each

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(streamed, url, *one, disturb(i)) for i, one in enumerate(asked)]
        got = [job.result() for job in jobs]
    for one, (choices, _), wanted in zip(asked, got, expected):
        assert choices == wanted, (one, choices, wanted)
    n_over = sum(taken_over > 0 for _, taken_over in got)
    assert len(kills) == 8 and n_over >= 5, (kills, n_over)
    # Without a seed the front gives one: no text is known, but tokens of the logarithms are the text's.
    choices, _ = streamed(url, "completions", {"prompt": "what is", "max_tokens": 300, "temperature": 1.5, "ignore_eos": True, "logprobs": 0}, lambda n: n == 12 and kill_all("linnet-server"))
    assert "".join(token for token, _, _ in choices[0]["logprobs"] if not token.startswith("<|")) == choices[0]["text"] and len(choices[0]["logprobs"]) > 20, choices
    print(f"serve: 40 streams, each the same as undisturbed, {n_over} of them from more than one replica ({len(kills)} kills)")


def serving(cluster):
    taking_over()
    process = served(cluster, 0)
    told = "you are an assistant in the house of the family that asks, " * 8
    try:
        with linnet.Model(MODEL) as model:
            questions = [[{"role": "user", "content": f"{told} set a timer for {i} minutes"}] for i in range(2, 42)]
            expected = [model.chat(q, max_tokens=60).choices[0].message for q in questions]
        first = [ask(q) for q in questions[:6]]
        cached = [a.json()["usage"]["prompt_tokens_details"]["cached_tokens"] for a in first]
        assert cached[0] == 0 and sum(c > 50 for c in cached) >= 4 and cached[-1] > 50, cached  # one replica has the beginning, which the front hears of a moment later

        def right(i):
            answer = ask(questions[i])
            assert answer.status_code == 200, (answer.status_code, answer.text)
            return same(answer.json()["choices"][0]["message"], expected[i])

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(right, i % 40) for i in range(200)]
            killed = []
            for name in ("linnet-server", "ServeReplica:default:Decode", "linnet-server"):
                time.sleep(0.5)
                if kill_one(name):
                    killed.append(name)
            assert all(j.result() for j in jobs)
        print(f"serve: 200 answers right with {len(killed)} kills among them ({', '.join(killed)})")
        streaming(f"http://127.0.0.1:{PORT}")
        with httpx.stream("POST", f"http://127.0.0.1:{PORT}/v1/chat/completions", json={"messages": questions[0], "stream": True, "temperature": 0}, timeout=60) as stream:
            lines = [line for line in stream.iter_lines() if line]
            assert stream.status_code == 200 and lines[-1] == "data: [DONE]"
        assert httpx.post(f"http://127.0.0.1:{PORT}/v1/chat/completions", content=b"{", timeout=60).status_code == 400
        assert httpx.get(f"http://127.0.0.1:{PORT}/v1/models", timeout=60).json()["data"][0]["id"] == "linnet-assistant"
    finally:
        process.kill()
        process.wait()
        subprocess.run([sys.executable, "-c", f"import ray; from ray import serve; ray.init(address={cluster.address!r}, log_to_driver=False); serve.shutdown()"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process = served(cluster, 1)
    try:
        first = ask(questions[0]).json()
        assert first["usage"]["prompt_tokens_details"]["cached_tokens"] > 50, first["usage"]  # computed by the other
        assert all(same(ask(questions[i]).json()["choices"][0]["message"], expected[i]) for i in range(8))
        print("serve: prompts computed by one replica, answers drawn by another: the same")
    finally:
        process.kill()
        process.wait()


def main():
    random.seed(5)
    os.environ["RAY_DEDUP_LOGS"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        with tempfile.TemporaryDirectory() as home:
            if kills := int(sys.argv[1]) if len(sys.argv) > 1 else 20:
                batch(cluster, Path(home), kills)
        serving(cluster)
    finally:
        cluster.shutdown()


main()
