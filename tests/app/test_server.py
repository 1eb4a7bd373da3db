#!/usr/bin/env python3
"""linnet-server from outside: test_server.py LINNET_SERVER PART...

endpoints: good and bad requests of every endpoint. exact: nobody's answer depends on who else is there. fairness: who floods waits for himself.
clients: those that go, or do not read. signals: stopping, sockets of systemd. soak: many requests of all kinds; LINNET_TEST_FULL makes them 10,000.
"""
import concurrent.futures
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tiny_model

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "examples" / "assistant" / "model" / "linnet-assistant.gguf"
FULL = os.environ.get("LINNET_TEST_FULL", "") not in ("", "0")
# Sanitizers' own memory is not the server's.
PLAIN = not os.environ.get("LINNET_TEST_SANITIZED")
SLOW = 1 if PLAIN else 10
FORGOTTEN_S = 60 * SLOW  # whoever waits longer has been forgotten
RSS_ABOVE_PLAN_MB = 40   # two workers' templates and JSON, code, libmicrohttpd
COMPILING_MB = 136       # while a grammar is compiled
GROWTH_MB = 12           # from the 2,000th request on, or the middle one
KB_PER_CONNECTION = 48
ASCII = " \n" + "".join(map(chr, range(ord("a"), ord("z") + 1))) + "0123456789" + '{}[]":,.-_+!?\'()<>/=*@ABT'


def plain_model(out, context=32768):
    """tests/golden/llama for long texts, a token a byte."""
    tiny_model.make(out)
    config = json.loads((out / "config.json").read_text())
    config["max_position_embeddings"] = context
    (out / "config.json").write_text(json.dumps(config))
    return out


def broken_model(out, token):
    """The same, but that one token overflows: it alone has something where the first layer's values multiply by 3e38."""
    plain_model(out)
    data = bytearray((out / "model.safetensors").read_bytes())
    n = struct.unpack("<Q", data[:8])[0]
    at = {name: 8 + n + t["data_offsets"][0] for name, t in json.loads(data[8:8 + n]).items() if "data_offsets" in t}
    for i in range(259):
        struct.pack_into("<f", data, at["model.embed_tokens.weight"] + i * 64 * 4, float(i == token))
    struct.pack_into("<f", data, at["model.layers.0.self_attn.v_proj.weight"], 3e38)
    (out / "model.safetensors").write_bytes(data)
    return out


def hybrid_model(out, golden="lfm2"):
    """A golden model whose layers have a state; its 64 tokens that are not special are characters."""
    source = ROOT / "tests" / "golden" / golden
    if not (source / "model.safetensors").exists():
        return None
    out.mkdir()
    shutil.copy(source / "model.safetensors", out)
    config = json.loads((source / "config.json").read_text())
    config["max_position_embeddings"] = 4096
    if "model_max_length" in config:  # Kimi's
        config["model_max_length"] = 4096
    (out / "config.json").write_text(json.dumps(config))
    tokenizer = tiny_model.tokenizer()
    characters = tiny_model.byte_characters()
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2}
    for c in sorted(set(ASCII))[:64]:
        vocab[characters[ord(c)]] = len(vocab)
    tokenizer["model"]["vocab"] = vocab
    (out / "tokenizer.json").write_text(json.dumps(tokenizer))
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}\n{% endfor %}"
    (out / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}))
    return out


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:400]!r}"


class Server:
    program = None

    def __init__(self, model, *options, keys=(), wrap=(), pass_fds=()):
        self.key = keys[0] if keys else None
        command = [*wrap, self.program, "-m", f"m={model}", "--port", "0", "--no-cache", "-t", "1"]
        command += [x for k in keys for x in ("--api-key", k)] + [str(o) for o in options]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True, pass_fds=pass_fds)
        for line in self.process.stdout:
            if found := re.match(r"listening at http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                break
        else:
            raise AssertionError(self.said())

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(FORGOTTEN_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        else:
            code = self.process.returncode
        said = self.said()
        if kind is None:
            assert code == 0, (code, said)
            assert "anitizer" not in said and "runtime error" not in said, said
        else:
            print(said[-4000:], file=sys.stderr)

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=FORGOTTEN_S)

    def ask(self, method, path, body=None, key=None, raw=None, headers=None):
        c = self.connection()
        send = {"Content-Type": "application/json"} if body is not None or raw is not None else {}
        if key or self.key:
            send["Authorization"] = "Bearer " + (key or self.key)
        send.update(headers or {})
        try:
            c.request(method, path, json.dumps(body) if raw is None and body is not None else raw, send)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before it was there
        r = c.getresponse()
        answer = Answer(r.status, r.headers, r.read())
        c.close()
        return answer

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def good(self, path, body, **more):
        answer = self.post(path, body, **more)
        assert answer.status == 200, (body, answer)
        return answer.json()

    def stream(self, body, path="/v1/completions", key=None, small=False):
        """A socket from which the answer comes."""
        s = socket.socket()
        if small:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(FORGOTTEN_S)
        s.connect(("127.0.0.1", self.port))
        text = json.dumps(body).encode()
        auth = f"Authorization: Bearer {key or self.key}\r\n" if key or self.key else ""
        s.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{auth}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        return s

    def events(self, body, path="/v1/completions", key=None):
        """The events of a whole stream."""
        answer = self.post(path, dict(body, stream=True), key=key)
        assert answer.status == 200, (body, answer)
        assert answer.headers["Content-Type"].startswith("text/event-stream"), answer.headers
        return events_of(answer.body)

    def metrics(self):
        out = {}
        for line in self.ask("GET", "/metrics").body.decode().splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                purpose = re.search(r'purpose="(\w+)"', name)
                out[name.split("{")[0].removeprefix("linnet_") + (":" + purpose[1] if purpose else "")] = float(value)
        return out

    def until(self, what, condition, seconds=None):
        end = time.monotonic() + (seconds or FORGOTTEN_S)
        while not condition(m := self.metrics()):
            assert time.monotonic() < end, (what, m)
            time.sleep(0.01)
        return m

    def idle(self):
        return self.until("idle", lambda m: m["requests_processing"] == 0 and m["requests_waiting"] == 0)

    def proc(self, name):
        return Path(f"/proc/{self.process.pid}/{name}")

    def memory(self, field):
        return int(re.search(field + r":\s+(\d+) kB", self.proc("status").read_text())[1]) * 1024

    def ticks(self):
        return sum(map(int, self.proc("stat").read_text().rsplit(")", 1)[1].split()[11:13]))


def events_of(body):
    pieces = body.decode().split("\n\n")
    assert pieces[-1] == "" and all(p.startswith("data: ") for p in pieces[:-1]), body[:500]
    assert pieces[-2] == "data: [DONE]", pieces[-2:]
    return [json.loads(p[6:]) for p in pieces[:-2]]


def at_once(calls):
    """What the calls return, in their order; all begin at once."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(calls))) as pool:
        return [f.result() for f in [pool.submit(c) for c in calls]]


# ---- endpoints ------------------------------------------------------------------------------------------------------------------------

HELLO = [{"role": "user", "content": "set a timer for ten minutes"}]
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"

# path, body, status, what the error names
BAD = [
    (CHAT, {}, 400, "messages"), (CHAT, {"messages": []}, 400, "messages"), (CHAT, {"messages": "x"}, 400, "messages"), (CHAT, {"messages": [1]}, 400, "messages[0]"),
    (CHAT, {"messages": [{"content": "x"}]}, 400, "messages[0].role"), (CHAT, {"messages": [{"role": "king", "content": "x"}]}, 400, "messages[0].role"),
    (CHAT, {"messages": [{"role": "user", "content": 5}]}, 400, "messages[0].content"),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400, "image_url"),
    (CHAT, {"messages": [{"role": "assistant", "tool_calls": [5]}]}, 400, "messages[0].tool_calls[0]"),
    (CHAT, {"messages": HELLO, "model": "other"}, 404, "other"), (CHAT, {"messages": HELLO, "model": 5}, 400, "model"),
    (CHAT, {"messages": HELLO, "tools": [5]}, 400, "tools[0]"), (CHAT, {"messages": HELLO, "tool_choice": "required"}, 400, "tool_choice"),
    (CHAT, {"messages": HELLO, "nonsense": 1}, 400, "nonsense"), (CHAT, {"messages": HELLO, "n": 0}, 400, "n"), (CHAT, {"messages": HELLO, "n": 129}, 400, "n"),
    (CHAT, {"messages": HELLO, "n": 1.5}, 400, "n"), (CHAT, {"messages": HELLO, "top_logprobs": 3}, 400, "top_logprobs"),
    (CHAT, {"messages": HELLO, "logprobs": True, "top_logprobs": 21}, 400, "top_logprobs"), (CHAT, {"messages": HELLO, "store": True}, 400, "store"),
    (CHAT, {"messages": HELLO, "functions": []}, 400, "functions"), (CHAT, {"messages": HELLO, "response_format": {"type": "xml"}}, 400, "response_format"),
    (CHAT, {"messages": HELLO, "response_format": {"type": "json_schema", "json_schema": {}}}, 400, "schema"),
    (CHAT, {"messages": HELLO, "max_tokens": 5, "max_completion_tokens": 5}, 400, "max_tokens"), (CHAT, {"messages": HELLO, "max_tokens": 0}, 400, "max_tokens"),
    (CHAT, {"messages": HELLO, "stream_options": {}}, 400, "stream_options"), (CHAT, {"messages": HELLO, "stream": 1}, 400, "stream"),
    (CHAT, {"messages": [{"role": "user", "content": "long " * 4000}]}, 400, "context"), (CHAT, {"messages": HELLO, "deadline_ms": 0}, 400, "deadline_ms"),
    (CHAT, {"messages": HELLO, "priority": "first"}, 400, "priority"), (CHAT, {"messages": HELLO, "reasoning_effort": "vast"}, 400, "reasoning_effort"),
    (TEXT, {}, 400, "prompt"), (TEXT, {"prompt": []}, 400, "prompt"), (TEXT, {"prompt": [[]]}, 400, "prompt"), (TEXT, {"prompt": 5}, 400, "prompt"), (TEXT, {"prompt": [-1]}, 400, "-1"),
    (TEXT, {"prompt": [10 ** 9]}, 400, "1000000000"), (TEXT, {"prompt": [1.5]}, 400, "prompt"), (TEXT, {"prompt": ["x"] * 129}, 400, "prompt"), (TEXT, {"prompt": ["x"] * 65, "n": 2}, 400, "n"),
    (TEXT, {"prompt": [5] * 1024}, 400, "1024"), (TEXT, {"prompt": "x", "stop": ""}, 400, "stop"), (TEXT, {"prompt": "x", "stop": ["x"] * 17}, 400, "stop"),
    (TEXT, {"prompt": "x", "stop": "x" * 256}, 400, "stop"), (TEXT, {"prompt": "x", "stop": [5]}, 400, "stop"), (TEXT, {"prompt": "x", "best_of": 3}, 400, "best_of"),
    (TEXT, {"prompt": "x", "suffix": "y"}, 400, "suffix"), (TEXT, {"prompt": "x", "echo": "y"}, 400, "echo"), (TEXT, {"prompt": "x", "logprobs": -1}, 400, "logprobs"),
    (TEXT, {"prompt": "x", "logit_bias": {"x": 1}}, 400, "logit_bias"), (TEXT, {"prompt": "x", "logit_bias": {"5": 101}}, 400, "logit_bias"),
    (TEXT, {"prompt": "x", "logit_bias": [5]}, 400, "logit_bias"), (TEXT, {"prompt": "x", "logit_bias": {str(i): 1 for i in range(129)}}, 400, "128"),
    (TEXT, {"prompt": "x", "samplers": ["top_k", "top_k"]}, 400, "samplers"), (TEXT, {"prompt": "x", "samplers": ["best"]}, 400, "samplers"),
    (TEXT, {"prompt": "x", "samplers": 5}, 400, "samplers"), (TEXT, {"prompt": "x", "dry_sequence_breakers": ["x" * 200]}, 400, "dry_sequence_breakers"),
    (TEXT, {"prompt": "x", "grammar": "root ::= nothing"}, 400, "nothing"), (TEXT, {"prompt": "x", "regex": "("}, 400, "regex"),
    (TEXT, {"prompt": "x", "grammar": "root ::= \"a\"", "regex": "a"}, 400, "response_format"), (TEXT, {"prompt": "x", "choices": []}, 400, "choices"),
    (TEXT, {"prompt": "x", "json_schema": {"type": "nothing"}}, 400, "type"),
    (TEXT, {"prompt": "x", "json_schema": {"type": "object", "properties": {"deep": {"type": "string", "pattern": "^([a-z]{1,900}[0-9]{1,900}){1,90}$"}}}}, 400, "json_schema: #/properties/deep: "),
    (CHAT, {"messages": HELLO, "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
        "a/b": {"type": "array", "items": {"type": "string", "pattern": "^([a-z]{1,900}[0-9]{1,900}){1,90}$"}}}}}}]}, 400, "tools: #/0/function/parameters/properties/a~1b/items: "),
    ("/tokenize", {"content": 5}, 400, "content"), ("/tokenize", {"content": "x", "y": 1}, 400, "y"), ("/detokenize", {"tokens": ["x"]}, 400, "tokens"),
    ("/detokenize", {"tokens": [-1]}, 400, "tokens"), ("/detokenize", {"tokens": 5}, 400, "tokens"), ("/apply-template", {"messages": 5}, 400, "messages"),
]
for field, wrong in {"temperature": [-1, 101, "x", True], "top_p": [2], "min_p": ["x"], "top_k": [-2, 10 ** 9, 1.5], "typical_p": [-1], "seed": ["x", 1e300], "repeat_penalty": [0],
                     "presence_penalty": [101], "frequency_penalty": [[]], "mirostat": [3], "mirostat_tau": [-1], "dry_base": [0.5], "xtc_probability": [2], "ignore_eos": ["yes"],
                     "cache_prompt": [1], "user": [5], "max_tokens": ["x", -2, 1.5], "deadline_ms": [-1, 10 ** 9], "stop": [5], "logit_bias": ["x"]}.items():
    BAD += [(TEXT, {"prompt": "x", field: value}, 400, field) for value in wrong]


def check_bad(s):
    for path, body, status, names in BAD:
        answer = s.post(path, body)
        assert answer.status == status, (path, body, answer)
        error = answer.json()["error"]
        assert names in error["message"] or names == error["param"], (path, body, error)
        assert error["type"] and error["code"], error
    for raw, status in [("", 400), ("{", 400), ("[]", 400), ("5", 400), ('{"prompt": "\\ud800"}', 400), (b'{"prompt": "\xff"}', 400), ("[" * 100000, 400),
                        ('{"prompt":' + "[" * 70 + "]" * 70 + "}", 400), ('{"prompt":[' + "1," * 450000 + "1]}", 413), ('{"prompt":"x","temperature":1e999}', 400), ("{}" + " " * 9000000, 413)]:
        answer = s.ask("POST", TEXT, raw=raw)
        assert answer.status == status, (raw[:60], answer)
        assert answer.json()["error"]["message"], answer
    for method, path, status in [("GET", CHAT, 405), ("POST", "/health", 405), ("GET", "/none", 404), ("POST", "/v1/none", 404), ("GET", "/v1/models/other", 404), ("DELETE", "/v1/models", 405)]:
        answer = s.ask(method, path, {} if method == "POST" else None)
        assert answer.status == status, (method, path, answer)
        assert status != 405 or answer.headers["Allow"], (method, path)
    # Not libmicrohttpd's own pages, which are HTML, and of which 0.9.75 sends the head twice.
    for head, status in [("GET /health HTTP/1.1\r\n\r\n", 400), ("GET /health HTTP/1.0\r\n\r\n", 400), ("GET /he alth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
                         ("GET /health HTTP/1.1\r\nHost: other.example\r\n\r\n", 403), ("BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
                         ("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n", 400), ("GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400)]:
        with socket.create_connection(("127.0.0.1", s.port), timeout=FORGOTTEN_S) as c:
            c.sendall(head.encode())
            r = http.client.HTTPResponse(c)
            r.begin()
            assert r.status == status and r.headers["Content-Type"] == "application/json" and json.loads(r.read())["error"]["code"], (head, r.status)


def check_good(s):
    assert s.ask("GET", "/health").json() == {"status": "ok"}
    head = s.ask("HEAD", "/v1/models")
    assert head.status == 200 and head.body == b"", head
    assert s.ask("GET", "/v1/models").json()["data"][0]["id"] == "m" and s.ask("GET", "/v1/models/m").json()["id"] == "m"
    assert s.ask("GET", "/props").json()["total_slots"] == 4 and len(s.ask("GET", "/slots").json()) == 4
    assert b"<html" in s.ask("GET", "/").body
    for text in ["set a timer", "", "\u00e4\U0001f600\n\0x"]:
        tokens = s.good("/tokenize", {"content": text})["tokens"]
        assert s.good("/detokenize", {"tokens": tokens})["content"] in (text, " " + text), text
    pieces = s.good("/tokenize", {"content": "timer", "with_pieces": True})["tokens"]
    assert all({"id", "piece"} == set(p) for p in pieces), pieces
    assert "ten minutes" in s.good("/apply-template", {"messages": HELLO})["prompt"]

    call = s.good(CHAT, {"messages": HELLO, "temperature": 0})
    choice = call["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"minutes": 10}, call
    assert call["usage"]["total_tokens"] == call["usage"]["prompt_tokens"] + call["usage"]["completion_tokens"], call
    chunks = s.events({"messages": HELLO, "temperature": 0, "stream_options": {"include_usage": True}}, CHAT)
    calls = [c["choices"][0]["delta"]["tool_calls"][0]["function"] for c in chunks if c["choices"] and "tool_calls" in c["choices"][0]["delta"]]
    assert "".join(c.get("name", "") for c in calls) == "set_timer" and json.loads("".join(c.get("arguments", "") for c in calls)) == {"minutes": 10}, chunks
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant" and chunks[-2]["choices"][0]["finish_reason"] == "tool_calls" and chunks[-1]["usage"], chunks
    assert len({c["id"] for c in chunks}) == 1 and chunks[0]["object"] == "chat.completion.chunk", chunks

    many = s.good(TEXT, {"prompt": ["set a timer", "what time is it"], "n": 3, "seed": 5, "max_tokens": 12, "echo": True, "ignore_eos": True, "logprobs": 2})
    assert [c["index"] for c in many["choices"]] == list(range(6)) and many["choices"][3]["text"].strip().startswith("what time"), many
    assert len({c["text"] for c in many["choices"]}) > 2 and all(len(c["logprobs"]["token_logprobs"]) == 12 for c in many["choices"]), many
    assert many == dict(s.good(TEXT, {"prompt": ["set a timer", "what time is it"], "n": 3, "seed": 5, "max_tokens": 12, "echo": True, "ignore_eos": True, "logprobs": 2}),
                        id=many["id"], created=many["created"], timings=many["timings"], usage=many["usage"])
    # More answers than there are sequences and places in the queue.
    assert len(s.good(TEXT, {"prompt": "x", "n": 100, "max_tokens": 2})["choices"]) == 100
    plain = s.good(TEXT, {"prompt": "set a timer", "temperature": 0, "max_tokens": 40, "ignore_eos": True})["choices"][0]["text"]
    stop = plain[7:10]
    cut = s.good(TEXT, {"prompt": "set a timer", "temperature": 0, "max_tokens": 40, "ignore_eos": True, "stop": ["never", stop]})["choices"][0]
    assert cut["finish_reason"] == "stop" and cut["text"] == plain[:plain.index(stop)], (plain, cut)
    streamed = s.events({"prompt": "set a timer", "temperature": 0, "max_tokens": 40, "ignore_eos": True, "stop": ["never", stop]})
    assert "".join(c["choices"][0]["text"] for c in streamed) == cut["text"], streamed
    tokens = s.good("/tokenize", {"content": plain})["tokens"]
    banned = s.good(TEXT, {"prompt": "set a timer", "temperature": 0, "max_tokens": 8, "logit_bias": {str(t): -100 for t in set(tokens)}, "ignore_eos": True})["choices"][0]["text"]
    assert not set(s.good("/tokenize", {"content": banned})["tokens"][1:-1]) & set(tokens), (plain, banned)
    late = s.post(TEXT, {"prompt": "x", "deadline_ms": 20, "ignore_eos": True, "max_tokens": 900})  # in the queue or later
    assert late.status == 504 or late.json()["choices"][0]["finish_reason"] == "length" and late.json()["usage"]["completion_tokens"] < 900, late
    for priority in ("low", "high"):
        assert s.good(TEXT, {"prompt": "x", "priority": priority, "samplers": ["top_k", "temperature"], "top_k": 5, "max_tokens": 3})["choices"]


def check_grammars(s):
    schema = {"type": "object", "properties": {"city": {"enum": ["Bern", "Rome"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["city", "days"], "additionalProperties": False}

    def obeys(text):
        value = json.loads(text)
        return set(value) == {"city", "days"} and value["city"] in ("Bern", "Rome") and 1 <= value["days"] <= 9

    cases = [({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}, obeys), ({"json_schema": schema}, obeys),
             ({"response_format": {"type": "json_object"}}, lambda t: isinstance(json.loads(t), dict)), ({"regex": "[a-c]{3}-[0-9]+"}, re.compile("[a-c]{3}-[0-9]+").fullmatch),
             ({"choices": ["yes", "no", "yesterday"]}, lambda t: t in ("yes", "no", "yesterday")), ({"grammar": 'root ::= ("ab" | "ba")+'}, re.compile("(ab|ba)+").fullmatch)]
    for i, (fields, good) in enumerate(cases):
        for path, what in ((TEXT, {"prompt": "weather"}), (CHAT, {"messages": HELLO})):
            for temperature in (0, 2):
                for eos in (False, True):
                    choice = s.good(path, {**what, **fields, "temperature": temperature, "seed": i, "max_tokens": 300, "ignore_eos": eos})["choices"][0]
                    text = choice["text"] if path == TEXT else choice["message"]["content"]
                    assert choice["finish_reason"] == "length" or good(text), (path, fields, temperature, choice)


def check_grammar_memory():
    """Grammars have their bytes of the plan: remembered ones go for new ones, those at work do not."""
    def asks(text, **more):
        return dict({"prompt": "x", "json_schema": {"enum": [text]}, "max_tokens": 3, "temperature": 0}, **more)

    most = 5 << 20
    with Server(BUNDLED, "--grammars", 5, "-c", 1000, "--parallel", 2) as s:
        assert s.metrics()["memory_bytes:grammars"] == most
        for i in range(12):  # one at a time fits
            assert s.good(TEXT, asks("x" * 20000 + str(i)))["choices"][0]["text"].startswith('"x')
            used = s.metrics()["grammars_used_bytes"]
            assert most / 2 < used <= most, used
        large = s.post(TEXT, asks("x" * 60000))
        assert large.status == 413 and large.json()["error"]["param"] == "json_schema" and str(most) in large.json()["error"]["message"], large
        held = s.stream(asks("x" * 20000, n=16, logprobs=20, max_tokens=900, stream=True), small=True)
        read_some(held, 100)
        other = s.post(TEXT, asks("x" * 20000 + "y"))
        assert other.status == 503 and other.headers["Retry-After"] and str(most) in other.json()["error"]["message"], other
        assert s.good(TEXT, asks("a"))["choices"][0]["text"] == '"a"' and s.metrics()["grammars_used_bytes"] <= most
        held.close()
        s.until("it has gone", lambda _: s.post(TEXT, asks("x" * 20000 + "y")).status == 200)


def check_looks(s):
    """What is asked for by GET does not wait for schemas that take long."""
    def slow(i):
        pattern = "^([a-z]{1,%d}[0-9]{1,900}){1,90}$" % (900 - i)
        return seconds(lambda: s.post(TEXT, {"prompt": "x", "json_schema": {"type": "string", "pattern": pattern}}), 400)

    def look():
        return max(seconds(lambda path=path: s.ask("GET", path), 200) for path in ("/health", "/metrics", "/v1/models", "/slots"))

    def seconds(ask, status):
        began = time.monotonic()
        answer = ask()
        assert answer.status == status, answer
        return time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        asked, looks = [pool.submit(slow, i) for i in range(6)], [look()]
        while not all(a.done() for a in asked):
            looks.append(look())
    assert max(looks) < max(a.result() for a in asked) / 3, (max(looks), [a.result() for a in asked])


def part_endpoints(_):
    with Server(BUNDLED, "--queue", "40") as s:
        check_bad(s)
        check_good(s)
        check_grammars(s)
        check_looks(s)
        idle = s.idle()
        assert idle["requests_failed_total"] == 0 and idle["body_bytes"] == 0, idle
    check_grammar_memory()
    for options, said in [(["--port", "x"], "--port"), (["--kv", "x"], "--kv"), (["--rows"], "option '--rows' lacks its value"), (["-t"], "option '-t' lacks its value"), (["--nothing"], "option '--nothing' is not known"),
                          (["--nothing", "5"], "option '--nothing' is not known"), (["--nothing=5"], "option '--nothing' is not known"), (["nothing"], "'nothing' is no option"), (["-x"], "option '-x' is not known"), (["--or", "5"], "option '--or' is not known"), (["--host", "0.0.0.0"], "0.0.0.0"), (["--temp", "x"], "--temp"),
                          (["--pool", "10", "--context", "20"], "--pool"), (["--api-key", "@/none"], "/none"), (["--parallel", "0"], "--parallel"), (["-m", "m=other"], "'m'")]:
        run = subprocess.run([Server.program, "-m", f"m={BUNDLED}", *options], capture_output=True, text=True, timeout=FORGOTTEN_S)
        assert run.returncode == 2 and said in run.stderr and run.stderr.count("\n") == 1, (options, run)
    for options, said in [(["-m", "none.gguf"], "none.gguf"), (["-m", str(BUNDLED), "--host", "name.example", "--open"], "name.example")]:
        run = subprocess.run([Server.program, *options], capture_output=True, text=True, timeout=FORGOTTEN_S)
        assert run.returncode == 1 and said in run.stderr and run.stderr.count("\n") == 1, (options, run)


# ---- exact ----------------------------------------------------------------------------------------------------------------------------

def random_request(r, words, most, grammars=True):
    """One of many kinds whose answer is a function of it."""
    start = " ".join(r.choice(words) for _ in range(60))
    bases = [start[:k] for k in (0, 40, 150, 250)]
    body = {"prompt": bases[r.randrange(4)] + " ".join(r.choice(words) for _ in range(r.randrange(1, 25))), "max_tokens": r.randrange(1, most), "seed": r.randrange(1000),
            "temperature": r.choice([0, 0.7, 1.5]), "logprobs": r.randrange(4), "ignore_eos": r.random() < 0.7}
    body.update(r.choice([{}, {"top_k": 8}, {"top_p": 0.9, "min_p": 0.01}, {"xtc_probability": 0.5, "xtc_threshold": 0.05}, {"xtc_probability": 0.5, "samplers": ["top_k", "temperature"]},
                          {"repeat_penalty": 1.3, "presence_penalty": 0.5}, {"dry_multiplier": 0.8}, {"mirostat": 2}, {"typical_p": 0.8}, {"stop": ["e", "\n"]}]))
    if grammars and r.random() < 0.25:
        body.update(r.choice([{"regex": "([a-d]{2} ){3,30}x"}, {"grammar": 'root ::= ("ab" | "ba" | " ")+'}, {"choices": ["abcabcabc", "bababa"]}]))
    if r.random() < 0.2:
        body["n"] = 2
    return body


def essence(answer):
    return [(c["text"], c["logprobs"], c["finish_reason"]) for c in answer["choices"]], answer["usage"]["completion_tokens"]


def streamed_essence(s, body, key):
    """The same of a stream, put together."""
    n = body.get("n", 1)
    text, tokens, values, tops, ends = [""] * n, [[] for _ in range(n)], [[] for _ in range(n)], [[] for _ in range(n)], [None] * n
    for event in s.events(dict(body, stream_options={"include_usage": True}), key=key):
        for c in event["choices"]:
            i = c["index"]
            text[i] += c["text"]
            ends[i] = c["finish_reason"] or ends[i]
            if c["logprobs"]:
                tokens[i] += c["logprobs"]["tokens"]
                values[i] += c["logprobs"]["token_logprobs"]
                tops[i] += c["logprobs"]["top_logprobs"]
    return [(text[i], {"tokens": tokens[i], "token_logprobs": values[i], "top_logprobs": tops[i]}, ends[i]) for i in range(n)], event["usage"]["completion_tokens"]


def check_exact(model, words, most, context, count):
    r = random.Random(5)
    keys = ["a", "b", "c"]
    requests = [random_request(r, words, most) for _ in range(count)]
    common = ["--queue", "400", "-c", context]
    with Server(model, *common, "--prefix-cache", "0", "--parallel", "1", keys=keys) as s:
        alone = [essence(s.good(TEXT, body)) for body in requests]
        assert s.metrics()["cached_tokens_total"] == 0
    assert len({str(a) for a in alone}) > count / 2
    preempted = cached = 0
    for options in (["--parallel", "3"], ["--parallel", "3", "--pool", context, "--prefix-cache", "2"], ["--parallel", "7", "--rows", "1", "--chunk", "16"], ["--parallel", "5", "--prefix-cache", "0"]):
        with Server(model, *common, *options, keys=keys) as s:
            def call(i):
                time.sleep(0 if i % 3 == 0 else 0.03 * i / count)  # the first key's come first
                if i % 2:
                    return streamed_essence(s, requests[i], keys[i % 3])
                return essence(s.good(TEXT, requests[i], key=keys[i % 3]))
            together = at_once([lambda i=i: call(i) for i in range(count)])
            for body, a, b in zip(requests, alone, together):
                assert a == b, (options, body, a, b)
            m = s.idle()
            preempted += m["requests_preempted_total"]
            cached += m["cached_tokens_total"]
    assert preempted and cached, (preempted, cached)
    print(f"{model.name}: {count} requests alone and together: the same; {preempted:.0f} preempted, {cached:.0f} tokens taken from the cache")


def check_not_finite(folder):
    """What cannot be computed fails alone, in the middle of a batch, and leaves nothing behind."""
    bad = 200
    with Server(broken_model(folder / "broken", bad), "--weights", "f32", "--parallel", "4", "-c", "512") as s:
        good = [{"prompt": [3 + i] * (20 + 30 * i), "max_tokens": 150, "temperature": 1, "seed": i, "ignore_eos": True, "logprobs": 2, "logit_bias": {str(bad): -100}} for i in range(3)]
        want = [essence(s.good(TEXT, body)) for body in good]
        wrong = [{"prompt": [9] * n + [bad] + [9] * 5, "max_tokens": 5} for n in (0, 40, 300)] + [{"prompt": [9], "max_tokens": 5, "logit_bias": {str(bad): 100}, "ignore_eos": True}]
        for _ in range(3):
            calls = [lambda b=b: s.good(TEXT, b) for b in good] + [lambda b=b: s.post(TEXT, b) for b in wrong for _ in range(3)]
            answers = at_once(calls)
            assert [essence(a) for a in answers[:3]] == want
            for a in answers[3:]:
                assert a.status == 500 and a.json()["error"]["code"] == "not_finite", a
        m = s.idle()
        assert m["requests_failed_total"] == 36, m


def check_identical(model):
    """A prompt that came before has one token left to compute, whatever the layers keep; also of those that come at once."""
    r = random.Random(8)
    bodies = [{"prompt": [r.randrange(3, 67) for _ in range(n)], "max_tokens": 20, "temperature": 1, "seed": n, "ignore_eos": True, "logprobs": 2} for n in (200, 333, 2)]
    with Server(model, "-c", 1024, "--prefix-cache", "0") as s:
        want = [essence(s.good(TEXT, body)) for body in bodies]
    with Server(model, "-c", 1024) as s:
        for body, right in zip(bodies, want):
            n = len(body["prompt"])
            answers = at_once([lambda b=body: s.good(TEXT, b) for _ in range(3 if n == 333 else 1)]) + [s.good(TEXT, body)]
            assert all(essence(a) == right for a in answers), (model, n, answers, right)
            cached = sorted(a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in answers)
            assert cached == [0] + [n - 1] * (len(answers) - 1), (model, n, cached)


WORDS = "set a timer for ten minutes turn on the light in kitchen what is time weather play music stop volume".split()


def part_exact(folder):
    check_exact(BUNDLED, WORDS, 60, 512, 40)
    for golden in ["lfm2", "qwen3-5", "granite4-h"][:3 if FULL else 1]:
        if model := hybrid_model(folder / golden, golden):
            check_exact(model, ["abc", "bcd", "a b", "{}", "0123", "x y z", "the"], 60, 512, 40)
        else:
            print(f"skipped: there is no tests/golden/{golden}")
    for golden in ["lfm2", "qwen3-5", "granite4-h", "mamba2", "kimi-linear", "gemma3", "mistral-window"][:7 if FULL else 3]:
        if model := hybrid_model(folder / f"{golden}-again", golden):
            check_identical(model)
    check_identical(BUNDLED)
    check_not_finite(folder)
    # What several ask with the same beginning is computed once.
    with Server(plain_model(folder / "plain"), "-c", 4096) as s:
        start = "".join(random.Random(6).choice("abcdef ") for _ in range(1500))
        answers = at_once([lambda i=i: s.good(TEXT, {"prompt": start + str(i) * 40, "max_tokens": 3}) for i in range(4)])
        cached = [a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in answers]
        assert sorted(cached)[1] >= 1480, cached


# ---- fairness -------------------------------------------------------------------------------------------------------------------------

LONG = {"prompt": "set a timer", "ignore_eos": True, "temperature": 0}


def check_flood(s, n_sequences):
    """Who asks now and then has the first token with the pass behind the one that runs, however many another has sent."""
    prompts = {"short": [[5 + i] * 4 for i in range(9)], "long": [[5 + i] * 300 for i in range(9)]}

    def middle(kind, flooded):
        got = []
        for prompt in prompts[kind]:
            got.append(s.good(TEXT, {"prompt": prompt, "max_tokens": 1, "cache_prompt": False}, key="b")["timings"])
            if flooded:  # what is counted is tokens: the other gets as many
                drawn = s.metrics()["generated_tokens_total"]
                s.until("the other's tokens", lambda m: m["generated_tokens_total"] > drawn + len(prompt) + 10)
        return max(t["passes"] for t in got), min(t["queue_ms"] + t["prompt_ms"] for t in got)

    middle("short", False)
    idle = {kind: middle(kind, False) for kind in prompts}
    before = s.metrics()
    flood = [s.stream(dict(LONG, max_tokens=500), key="a") for _ in range(64)]
    s.until("the flood", lambda m: m["requests_waiting"] >= 40 and m["generated_tokens_total"] > before["generated_tokens_total"] + 400)
    busy = {kind: middle(kind, True) for kind in prompts}
    for _ in range(3 if PLAIN else 0):  # other programs have the cores as well
        if busy["long"][1] > 2 * idle["long"][1]:
            busy["long"] = min(busy["long"], middle("long", True), key=lambda got: got[1])
    m = s.metrics()
    assert m["requests_waiting"] > 0, m
    for f in flood:
        f.close()
    pass_ms = 1e3 * (m["pass_seconds_total"] - before["pass_seconds_total"]) / (m["passes_total"] - before["passes_total"])
    print(f"{n_sequences} sequences, a pass in a flood {pass_ms:.2f} ms; until the first token, idle and in the flood: "
          + ", ".join(f"{kind} prompt {idle[kind][1]:.2f} and {busy[kind][1]:.2f} ms, at most {idle[kind][0]} and {busy[kind][0]} passes" for kind in prompts))
    assert idle["short"][0] == 1 and busy["short"][0] <= 2, (idle, busy)  # the one that runs, and its own
    assert not PLAIN or busy["long"][1] <= 2 * idle["long"][1] + pass_ms, (idle, busy, pass_ms)  # 3 / 2 by the time that the prompt has of a pass


def part_fairness(folder):
    for n in (2, 4):
        with Server(BUNDLED, "--parallel", n, "--queue", "200", keys=["a", "b"]) as s:
            check_flood(s, n)
    # Who comes while nobody has work is not ahead of who was served much before.
    with Server(BUNDLED, "--parallel", "1", "--queue", "200", keys=["a", "b"]) as s:
        for _ in range(5):
            s.good(TEXT, dict(LONG, max_tokens=400), key="a")
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            flood = [pool.submit(s.good, TEXT, dict(LONG, max_tokens=50), key="b") for _ in range(40)]
            s.until("the flood", lambda m: m["requests_waiting"] >= 20)
            s.good(TEXT, dict(LONG, max_tokens=5), key="a")
            assert sum(f.done() for f in flood) < 39, "the flood came first"
            for f in flood:
                f.result()
    weights = folder / "keys"
    weights.write_text("# two of them\nheavy 3\nlight 1\n")
    with Server(BUNDLED, "--parallel", "4", "--queue", "200", "--api-key", f"@{weights}") as s:
        s.key = "heavy"
        with concurrent.futures.ThreadPoolExecutor(80) as pool:
            jobs = {k: [pool.submit(s.good, TEXT, dict(LONG, max_tokens=100, prompt=k + " " + str(i)), key=k) for i in range(40)] for k in ("heavy", "light")}
            for f in jobs["heavy"]:
                f.result()
            done = sum(f.done() for f in jobs["light"])
        assert 5 <= done <= 25, done
        print(f"weights 3 and 1: when 40 were done, {done} of the other's were")
    with Server(BUNDLED, "--parallel", "4", "--max-key", "1", keys=["a", "b"]) as s:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(s.good, TEXT, dict(LONG, max_tokens=200), key="a") for _ in range(6)]
            while not all(f.done() for f in jobs):
                assert s.metrics()["requests_processing"] <= 1
            assert [f.result() for f in jobs]
    for options in (["--queue", "2"], ["--queue-key", "2"]):
        with Server(plain_model(folder / f"plain{options[0]}"), "--parallel", "1", "-c", "32000", *options, keys=["a", "b"]) as s:
            held = [s.stream(dict(LONG, max_tokens=30000, stream=True), key="a")]
            s.until("the first", lambda m: m["requests_processing"] == 1)
            for n in (1, 2):
                held.append(s.stream(dict(LONG, max_tokens=5), key="a"))
                s.until("the queue", lambda m: m["requests_waiting"] == n)
            answer = s.post(TEXT, dict(LONG, max_tokens=5), key="a")
            assert answer.status == 429 and answer.headers["Retry-After"] and answer.json()["error"]["type"] == "rate_limit_error", answer
            assert s.metrics()["requests_refused_total"] == 1
            if options[0] == "--queue-key":  # one sequence for two keys: they take turns, and who does not read gives way
                assert s.post(TEXT, dict(LONG, max_tokens=5), key="b").status == 200
                m = s.metrics()
                assert m["requests_preempted_total"] >= 1 and m["generated_tokens_total"] < 10000, m
            for h in held:
                h.close()
            s.idle()
    with Server(BUNDLED, "--parallel", "1") as s:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            first = pool.submit(s.good, TEXT, dict(LONG, max_tokens=900))
            s.until("the first", lambda m: m["requests_processing"] == 1)
            late = s.post(TEXT, dict(LONG, max_tokens=5, deadline_ms=1))
            assert late.status == 504 or first.done(), late


# ---- clients that go, or do not read ---------------------------------------------------------------------------------------------------

def read_some(sock, n):
    got = b""
    while len(got) < n:
        piece = sock.recv(n - len(got))
        assert piece, got[:300]
        got += piece
    return got


def read_stream(sock, slow=0):
    got = b""
    while not got.endswith(b"0\r\n\r\n"):
        piece = sock.recv(1 << 16)
        assert piece, got[-300:]
        got += piece
        if slow and len(got) % 7 == 0:
            time.sleep(slow)
    body = got.split(b"\r\n\r\n", 1)[1]
    out = b""
    while body:
        size, body = body.split(b"\r\n", 1)
        out += body[:int(size, 16)]
        body = body[int(size, 16) + 2:]
    return [(c["text"], c["logprobs"], c["finish_reason"]) for e in events_of(out) for c in e["choices"]]


def part_clients(folder):
    model = plain_model(folder / "plain")
    with Server(model, "--parallel", "1", "-c", 32000, "--prefix-cache", "0") as s:
        # In the queue.
        running = s.stream(dict(LONG, max_tokens=30000, stream=True))
        read_some(running, 500)
        waiting = s.stream(dict(LONG, max_tokens=5))
        s.until("it waits", lambda m: m["requests_waiting"] == 1)
        waiting.close()
        m = s.until("it has gone", lambda m: m["requests_waiting"] == 0)
        assert m["requests_cancelled_total"] == 1 and m["requests_processing"] == 1, m
        # In the middle of its stream.
        running.close()
        m = s.idle()
        assert m["requests_cancelled_total"] == 2 and m["generated_tokens_total"] < 29000, m
        # While its prompt is computed.
        r = random.Random(1)
        prompt = [r.randrange(3, 259) for _ in range(31000)]
        before = m["passes_total"]
        alone = s.stream({"prompt": prompt, "max_tokens": 1})
        s.until("passes", lambda m: m["passes_total"] >= before + 2)
        alone.close()
        m = s.idle()
        assert m["requests_cancelled_total"] == 3 and m["passes_total"] < before + 31000 / 256 - 3, (before, m)
        # Who sends no more has gone, too.
        half = s.stream(dict(LONG, max_tokens=30000, stream=True))
        read_some(half, 500)
        half.shutdown(socket.SHUT_WR)
        m = s.idle()
        assert m["requests_cancelled_total"] == 4, m
        half.close()
        assert s.good(TEXT, dict(LONG, max_tokens=5))["usage"]["completion_tokens"] == 5
    with Server(model, "--parallel", "2", "-c", 32000, "--prefix-cache", "0") as s:
        body = dict(LONG, max_tokens=6000, logprobs=20, stream=True)
        fast = read_stream(s.stream(body))
        slow = s.stream(body, small=True)
        drawn = -1
        while (now := s.metrics()["generated_tokens_total"]) != drawn:  # until it is paused
            drawn = now
            time.sleep(0.2 * SLOW)
        assert s.metrics()["requests_processing"] == 1 and drawn < 11900, drawn
        assert s.good(TEXT, dict(LONG, max_tokens=50))["usage"]["completion_tokens"] == 50
        ticks = s.ticks()
        time.sleep(0.5)
        assert s.ticks() - ticks <= 1, "who is paused takes time"
        assert read_stream(slow, 0.001) == fast
        slow.close()
        # One that goes while it is paused.
        slow = s.stream(body, small=True)
        drawn = -1
        while (now := s.metrics()["generated_tokens_total"]) != drawn:
            drawn = now
            time.sleep(0.2 * SLOW)
        slow.close()
        assert s.idle()["requests_cancelled_total"] == 1
    # Who takes a byte now and then is no different.
    with Server(model, "--parallel", "2", "-c", 32000, "--stalled", SLOW) as s:
        slow = s.stream(dict(LONG, max_tokens=30000, logprobs=20, stream=True), small=True)
        s.until("it begins", lambda m: m["requests_processing"] == 1)
        began, n = time.monotonic(), 0
        while (m := s.metrics())["requests_processing"] + m["requests_waiting"]:
            assert slow.recv(1)
            n += 1
            assert time.monotonic() - began < FORGOTTEN_S, m
            time.sleep(0.02)
        assert m["requests_cancelled_total"] == 1 and n > 10, (n, m)
        slow.close()
    with Server(model, "-c", 32000, "--prefix-cache", "0", "--parallel", "1", "--max-body", "64") as s:
        # Who goes during embeddings: no text begins any more, and the one that is computed ends.
        def embed(texts):
            return s.stream({"input": texts}, path="/v1/embeddings")

        def calls():
            return s.metrics()["calls_total"]

        many = embed(["abc" * 400] * 1000)
        s.until("it begins", lambda m: m["calls_total"] >= 2)
        before = calls()
        many.close()
        time.sleep(0.2 * SLOW)
        after = calls()
        time.sleep(0.2 * SLOW)
        assert calls() == after <= before + 20, (before, after, calls())
        text = embed(["a" * 12000])
        start = s.ticks()
        read_some(text, 100)
        text.close()
        whole, before, start = s.ticks() - start, calls(), s.ticks()
        text = embed(["a" * 12000])
        s.until("it begins", lambda m: m["calls_total"] > before)
        text.close()
        now = -1
        while now != (now := s.ticks()):
            time.sleep(0.1 * SLOW)
        print(f"embeddings: {after:.0f} of 1,000 texts when a client had gone; a text takes {whole} ticks, of one that had gone {now - start}")
        assert now - start < whole / 2, (whole, now - start)
    if FULL:  # who never reads, with what is the default
        with Server(model, "--parallel", "2", "-c", 32000, "--prefix-cache", "0") as s:
            slow = s.stream(dict(LONG, max_tokens=6000, logprobs=20, stream=True), small=True)
            time.sleep(1)
            s.until("it is cut", lambda m: m["requests_processing"] == 0, 150)
            slow.close()


# ---- signals --------------------------------------------------------------------------------------------------------------------------

def part_signals(folder):
    model = plain_model(folder / "plain")
    with Server(model, "--parallel", "3", "-c", 4096, "--drain", 30 * SLOW) as s:
        want = read_stream(s.stream(dict(LONG, max_tokens=2000, logprobs=3, stream=True)))
        kept = s.connection()
        kept.request("GET", "/health")
        kept.getresponse().read()
        streams = [s.stream(dict(LONG, max_tokens=2000, logprobs=3, stream=True)) for _ in range(3)] + [s.stream(dict(LONG, max_tokens=2000))]
        s.until("all are there", lambda m: m["requests_processing"] == 3)
        s.process.send_signal(signal.SIGTERM)
        refused = False
        while not refused and s.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", s.port), timeout=5).close()
                time.sleep(0.005)
            except OSError:
                refused = True
        assert refused
        if s.process.poll() is None:
            try:
                kept.request("POST", TEXT, json.dumps(dict(LONG, max_tokens=5)), {"Content-Type": "application/json"})
                late = kept.getresponse()
                assert late.status == 503 and late.headers["Retry-After"], late.status
            except (http.client.HTTPException, OSError):
                pass  # it was over before
        for stream in streams[:3]:
            assert read_stream(stream) == want
        text = b""
        while piece := streams[3].recv(1 << 16):
            text += piece
        assert json.loads(text.split(b"\r\n\r\n", 1)[1])["usage"]["completion_tokens"] == 2000
        assert s.process.wait(FORGOTTEN_S) == 0
    for options, signals, code in ((["--drain", "60"], 2, -signal.SIGTERM), (["--drain", "1"], 1, 0)):
        s = Server(model, "--parallel", "1", "-c", 32000, *options)
        stream = s.stream(dict(LONG, max_tokens=31000, stream=True), small=True)  # is not read, so it does not end
        read_some(stream, 100)
        for _ in range(signals):
            s.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        assert s.process.wait(20 * SLOW) == code, (options, s.process.returncode, s.said())
        stream.close()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        fd = listening.fileno()
        take = f"import os, sys; os.dup2({fd}, 3); os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid())); os.execv(sys.argv[1], sys.argv[1:])"
        with Server(BUNDLED, wrap=[sys.executable, "-c", take], pass_fds=[fd]) as s:
            assert s.port == listening.getsockname()[1] and s.ask("GET", "/health").status == 200


# ---- soak -----------------------------------------------------------------------------------------------------------------------------

class Soak:
    def __init__(self, server, words, count):
        self.s, self.words, self.count = server, words, count
        self.lock = threading.Lock()
        self.next, self.outcomes, self.wanted = 0, {}, {}

    def greedy(self, i):
        r = random.Random(i % 40)
        return {"prompt": " ".join(r.choice(self.words) for _ in range(r.randrange(1, 60))), "max_tokens": r.randrange(1, 80), "temperature": 0, "ignore_eos": True, "logprobs": 1}

    def one(self, i):
        r = random.Random(i)
        kind = r.random()
        if kind < 0.5:
            body = self.greedy(i)
            if r.random() < 0.5:
                got = streamed_essence(self.s, body, None)
            else:
                answer = self.s.post(TEXT, body)
                if answer.status == 429:
                    assert answer.headers["Retry-After"]
                    return "refused"
                assert answer.status == 200, answer
                got = essence(answer.json())
            assert got == self.wanted[i % 40], (body, got, self.wanted[i % 40])
            return "greedy"
        if kind < 0.65:
            body = random_request(r, self.words, 80)
            answer = self.s.post(TEXT, body)
            assert answer.status == 200, (body, answer)
            for c in answer.json()["choices"]:
                assert c["finish_reason"] in ("stop", "length"), answer
            return "sampled"
        if kind < 0.75:
            path, body, status, _ = r.choice(BAD[:-20])
            answer = self.s.post(path, body)
            assert 400 <= answer.status < 500 and answer.json()["error"], (body, answer)
            return "bad"
        if kind < 0.8:
            answer = self.s.ask("POST", TEXT, raw=r.choice(["{", "[" * 99, '{"prompt": "x"', "\0" * 50]))
            assert answer.status == 400, answer
            return "no JSON"
        if kind < 0.93:  # goes at any time
            sock = self.s.stream(dict(self.greedy(i), stream=r.random() < 0.5, max_tokens=300))
            sock.settimeout(FORGOTTEN_S)
            if r.random() < 0.7:
                time.sleep(r.random() * 0.02)
            if r.random() < 0.3:
                sock.shutdown(socket.SHUT_WR)
            elif r.random() < 0.4:
                sock.recv(r.randrange(1, 3000))
            sock.close()
            return "gone"
        if kind < 0.96:  # goes before its body is there
            with socket.create_connection(("127.0.0.1", self.s.port)) as sock:
                sock.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"prompt\":")
                time.sleep(r.random() * 0.02)
            return "cut"
        sock = self.s.stream(dict(self.greedy(i), stream=True), small=True)  # reads byte by byte
        got = b""
        while not got.endswith(b"0\r\n\r\n"):
            piece = sock.recv(200)
            assert piece, got[-300:]
            got += piece
            time.sleep(0.0005)
        sock.close()
        assert b"[DONE]" in got
        return "slow"

    def held(self):
        return len(list(self.s.proc("fd").iterdir())), len(list(self.s.proc("task").iterdir()))

    def client(self):
        while True:
            with self.lock:
                i, self.next = self.next, self.next + 1
            if i >= self.count:
                return
            outcome = self.one(i)
            with self.lock:
                self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def above(self, field="VmRSS"):
        """MB more than what the plan has that is in use."""
        m = self.s.idle()
        touched = sum(v for k, v in m.items() if k.startswith("memory_bytes:") and k.split(":")[1] not in ("prefix_cache", "grammars"))
        return (self.s.memory(field) - touched - m["prefix_cache_used_bytes"] - m["grammars_used_bytes"]) / 1e6

    def run(self):
        self.wanted = [essence(self.s.good(TEXT, self.greedy(i))) for i in range(40)]
        self.s.idle()
        before = self.held()
        count, self.count = self.count, min(2000, self.count // 2)
        at_once([self.client] * 64)
        middle = self.above()
        self.next, self.count = self.count, count
        at_once([self.client] * 64)
        end = time.monotonic() + 20 * SLOW
        while any(map(int.__gt__, (after := self.held()), before)) and time.monotonic() < end:
            time.sleep(0.05)
            self.s.ask("GET", "/health")  # libmicrohttpd closes some sockets when it next has something to do
            time.sleep(0.05)
        m = self.s.idle()
        most, last = self.above("VmHWM"), self.above()
        print(f"{self.count} requests: {self.outcomes}; {m['requests_preempted_total']:.0f} preempted, {m['requests_cancelled_total']:.0f} cancelled; "
              f"RSS at most {self.s.memory('VmHWM') / 1e6:.0f} MB, above what is in use of the plan {most:.0f} MB, in the middle {middle:.1f} MB, at the end {last:.1f} MB")
        assert not any(map(int.__gt__, after, before)), (before, after)
        assert m["requests_failed_total"] == 0 and m["body_bytes"] == 0, m
        assert not PLAIN or most < RSS_ABOVE_PLAN_MB + COMPILING_MB and last < RSS_ABOVE_PLAN_MB and last - middle < GROWTH_MB, (most, middle, last)


def check_idle(s):
    if not PLAIN:  # its own thread wakes
        return
    s.ask("GET", "/health")
    time.sleep(0.5)
    ticks = s.ticks()
    time.sleep(3)
    assert s.ticks() == ticks, "the server is not idle"


def check_connections(s):
    before = s.memory("VmRSS")
    idle = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(400)]
    for c in idle:
        c.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for c in idle:
        assert c.recv(4096).startswith(b"HTTP/1.1 200")
    kb = (s.memory("VmRSS") - before) / 1024 / len(idle)
    assert s.metrics()["connections"] >= 400
    for c in idle:
        c.close()
    print(f"{kb:.1f} KB for each idle connection")
    assert not PLAIN or kb < KB_PER_CONNECTION, kb


def part_soak(folder):
    count = int(os.environ.get("LINNET_TEST_REQUESTS", 10000 if FULL else 300))
    with Server(BUNDLED, "--parallel", "4", "--queue", "100", "--prefix-cache", "16") as s:
        Soak(s, WORDS, count).run()
        check_connections(s)
        check_idle(s)
    if model := hybrid_model(folder / "hybrid"):
        with Server(model, "--parallel", "5", "--queue", "100", "--prefix-cache", "4", "-c", "1024") as s:
            Soak(s, ["abc", "bcd", "a b", "{}", "0123", "x y z", "the"], count).run()
            check_idle(s)
    else:
        print("skipped: there is no tests/golden/lfm2")


def run_parts(parts):
    """PROGRAM PART...: those that are named, or all."""
    Server.program = str(Path(sys.argv[1]).resolve())
    for name in sys.argv[2:] or parts:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    run_parts({name.removeprefix("part_"): part for name, part in globals().items() if name.startswith("part_")})
