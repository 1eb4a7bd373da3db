#!/usr/bin/env python3
"""examples/fleet on a local Ray cluster of two workers: fleet.py [kills]. Needs ray[data,serve] and httpx in this Python, and linnet.

batch: the program, an actor or a machine is killed at 20 moments; in the end no row is missing and none is there twice. serve: requests with a replica and a server killed among them all get the
answer that they would have got, those that begin alike go to one replica; with a prefill replica answers are the same, too."""
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
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


def serving(cluster):
    process = served(cluster, 0)
    told = "you are an assistant in the house of the family that asks, " * 8
    try:
        with linnet.Model(MODEL) as model:
            questions = [[{"role": "user", "content": f"{told} set a timer for {i} minutes"}] for i in range(2, 42)]
            expected = [model.chat(q, max_tokens=60).choices[0].message for q in questions]
        first = [ask(q) for q in questions[:6]]
        cached = [a.json()["usage"]["prompt_tokens_details"]["cached_tokens"] for a in first]
        assert cached[0] == 0 and all(c > 50 for c in cached[1:]), cached  # one replica has the beginning

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
            batch(cluster, Path(home), int(sys.argv[1]) if len(sys.argv) > 1 else 20)
        serving(cluster)
    finally:
        cluster.shutdown()


main()
