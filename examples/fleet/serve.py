#!/usr/bin/env python3
"""linnet's server on several machines behind one OpenAI-compatible address, by Ray Serve:

    serve.py --model m.gguf --replicas 4 [--prefill 1] [--port 8000]

Each replica runs linnet-server on its machine (many requests in one batch, a prefix cache) and hands requests over to it. Requests that begin alike go to the same replica as long as it is there, so
that what they have in common is computed once. A stream whose replica dies goes on from another one, to the same text (but for Responses and Messages, which end by an error event). With --prefill N so many more replicas compute prompts alone, and the others go on from their states: exact, and worth it where those are stronger machines
(docs/fleet.md)."""
import argparse
import asyncio
import hashlib
import json
import os
import secrets
import time

import httpx
import linnet
import ray
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from ray import serve

BEGINNING = 400  # characters that decide who computes a request: a system prompt, and what a conversation began with
TRIES = 3  # that bring nothing new
REPEATED = ("v1/chat/completions", "v1/completions")  # whose streams another replica can go on with
app = FastAPI()


class Differs(Exception):
    """An answer that was asked for again is not the one that the client has a part of."""


class Told:
    """What a client has of a streamed answer, by choice and kind of text: of another replica's answer to the same request the rest is passed on. Both are the same text, but need not come in the
    same pieces."""

    def __init__(self):
        self.head: dict | None = None  # id and created of the first answer
        self.told: dict = {}
        self.seen: dict | None = None  # of an answer that was asked for again, how much of it has come
        self.usage, self.ended = False, False

    def again(self) -> None:
        self.seen = {}

    def _rest(self, key: tuple, part):
        """Of a part (text, or a list of logprobs) what the client does not have yet."""
        told, known = self.told.get(key, part[:0]), part[:0]
        if self.seen is not None:
            at = self.seen.get(key, 0)
            known, self.seen[key] = told[at:at + len(part)], at + len(part)
        if part[:len(known)] != known:
            raise Differs
        rest = part[len(known):]
        self.told[key] = told + rest
        return rest

    def _new(self, choice: dict) -> bool:
        """Leaves in a choice what is new; whether that is anything."""
        index, delta, new = choice["index"], choice.get("delta", {}), False
        for holder, names in ((delta, ("role", "reasoning_content", "content")), (choice, ("text",)), (choice.get("logprobs") or {}, ("content", "tokens", "token_logprobs", "top_logprobs"))):
            for name in names:
                if isinstance(holder.get(name), (str, list)):
                    holder[name] = self._rest((index, holder is delta or holder is choice, name), holder[name])
                    new = new or bool(holder[name])
        calls = []
        for call in delta.get("tool_calls", ()):
            place, function = (index, "call", call["index"]), call["function"]
            if "name" in function and not self._rest((*place, "name"), function["name"]):
                del call["id"], call["type"], function["name"]
            function["arguments"] = self._rest((*place, "arguments"), function["arguments"])
            if function["arguments"] or "name" in function:
                calls.append(call)
        if "tool_calls" in delta:
            delta["tool_calls"], new = calls, new or bool(calls)
        if choice["finish_reason"]:
            new = bool(self._rest((index, "finish"), choice["finish_reason"])) or new
            if self.seen is not None and any(self.seen.get(key, 0) < len(told) for key, told in self.told.items() if key[0] == index):
                raise Differs  # it is shorter
        return new

    def passes(self, event: bytes) -> bytes:
        """What goes to the client of an event, b"" where that is nothing."""
        if not event.startswith(b"data: {"):
            self.ended = event.startswith(b"data: [DONE]")
            return event
        body = json.loads(event[6:])
        if "choices" not in body:
            self.ended = True  # an error
            return event
        new = False
        for choice in body["choices"]:
            new = self._new(choice) or new
        if not body["choices"]:
            new, self.usage = not self.usage, True
        if self.head is None:
            self.head = {"id": body["id"], "created": body["created"]}
        if self.seen is None:
            return event
        if not new:
            return b""
        for choice in body["choices"]:
            for call in choice.get("delta", {}).get("tool_calls", ()):
                if "id" in call:  # they hold the answer's
                    call["id"] = call["id"].replace(body["id"].partition("-")[2], self.head["id"].partition("-")[2])
        return b"data: " + json.dumps({**body, **self.head}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n\n"


def cut(path: str, why: str) -> bytes:
    """The last event of a stream that cannot go on, in the form of its API."""
    if path == "v1/messages":
        return b"event: error\ndata: " + json.dumps({"type": "error", "error": {"type": "api_error", "message": why}}).encode() + b"\n\n"
    if path == "v1/responses":
        return b"event: error\ndata: " + json.dumps({"type": "error", "code": "server_error", "message": why, "param": None}).encode() + b"\n\n"
    return b"data: " + json.dumps({"error": {"message": why, "type": "server_error", "param": None, "code": "server_error"}}).encode() + b"\n\n"


def beginning_of(body: dict) -> str:
    """A name for what the request begins with, in so many buckets that replicas get like shares."""
    told = body.get("messages") or body.get("input") or body.get("prompt") or ""
    text = told if isinstance(told, str) else json.dumps(told, sort_keys=True)
    return hashlib.sha256(f"{body.get('model', '')}\0{text[:BEGINNING]}".encode()).hexdigest()[:2]


async def going_on(path: str, answer, ask):
    """Events of an answer; where its replica dies, the rest of another one's: ask() asks again, for a status and an answer."""
    told, tries = Told() if path in REPEATED else None, 0
    while True:
        try:
            rest = b""
            async for piece in answer:
                *events, rest = (rest + piece).split(b"\n\n")
                for event in events:
                    event += b"\n\n"
                    if told:
                        event = told.passes(event)
                    if event:
                        tries = 0
                        yield event
            if not told or told.ended:
                return
        except Differs:
            yield cut(path, "the replica died, and another one's answer is not the same: is it of the same model?")
            return
        except Exception as why:
            if not told:
                yield cut(path, f"the replica died: {type(why).__name__}")
                return
        while True:
            if tries == TRIES:
                yield cut(path, "the replica died, and no other answers")
                return
            tries += 1
            try:
                status, answer = await ask()
                if status == 200:
                    break
            except Exception:
                pass
            await asyncio.sleep(0.2 * tries)
        told.again()
        yield b": another replica goes on\n\n"


class Board:
    """A replica: linnet-server as a process on this machine, which is started again where it ends."""

    def __init__(self, model: str, options: dict):
        self.model, self.options, self.server = model, options, None
        self.client = httpx.AsyncClient(timeout=httpx.Timeout(None, connect=10))
        self._start()

    def _start(self) -> str:
        if self.server is None or self.server.process.poll() is not None:
            self.server = linnet.serve({os.path.basename(self.model).removesuffix(".gguf"): self.model}, state=True, **self.options)
        return self.server.url

    def check_health(self) -> None:
        self._start()

    @serve.multiplexed(max_num_models_per_replica=256)
    async def beginning(self, name: str) -> str:
        return name  # Ray sends the next request of this name here, too

    async def ask(self, method: str, path: str, body: bytes, state: bytes = b""):
        """The status and type, then the answer's bytes as they come. state: what another replica has computed of it."""
        if name := serve.get_multiplexed_model_id():
            await self.beginning(name)
        url = self._start()
        if state:
            await self.client.put(url + "/v1/state", content=state, headers={"Content-Type": "application/octet-stream"})
        async with self.client.stream(method, url + path, content=body, headers={"Content-Type": "application/json"}) as answer:
            yield answer.status_code, answer.headers.get("content-type", "")
            async for piece in answer.aiter_raw():
                yield piece


@serve.deployment(health_check_period_s=2, graceful_shutdown_timeout_s=5)
class Decode(Board):
    pass


@serve.deployment(health_check_period_s=2, graceful_shutdown_timeout_s=5)
class Prefill(Board):
    pass


@serve.deployment
@serve.ingress(app)
class Front:
    def __init__(self, decode, prefill=None):
        self.decode, self.prefill = decode.options(stream=True), prefill.options(stream=True) if prefill else None

    async def _whole(self, handle, *arguments) -> tuple:
        status, content, parts = 500, "", []
        async for one in handle.ask.remote(*arguments):
            if isinstance(one, tuple):
                status, content = one
            else:
                parts.append(one)
        return status, content, b"".join(parts)

    @app.get("/{path:path}")
    async def get(self, path: str):
        status, content, body = await self._whole(self.decode, "GET", "/" + path, b"")
        return Response(body, status, media_type=content)

    @app.post("/{path:path}")
    async def post(self, path: str, request: Request):
        body = await request.body()
        try:
            told = json.loads(body)
            name = beginning_of(told if isinstance(told, dict) else {})
        except ValueError:
            told, name = {}, ""  # the server says what is wrong with it
        decode, state = self.decode.options(multiplexed_model_id=name), b""
        if self.prefill and path in ("v1/chat/completions", "v1/completions") and isinstance(told, dict):
            asked = json.dumps({k: told[k] for k in ("messages", "prompt", "tools", "model") if k in told}).encode()
            try:
                status, _, got = await self._whole(self.prefill.options(multiplexed_model_id=name), "POST", "/v1/state", asked)
                state = got if status == 200 else b""  # else the other computes it all
            except Exception:
                state = b""
        streams, why = isinstance(told, dict) and told.get("stream") is True, None
        if streams and path in REPEATED and told.get("seed") in (None, -1):  # so that it can be asked for again
            body = json.dumps({**told, "seed": secrets.randbelow(1 << 53)}).encode()

        async def begin(handle):
            answer = handle.ask.remote("POST", "/" + path, body, state)
            return *(await answer.__anext__()), answer

        async def again():
            status, _, answer = await begin(self.decode)
            return status, answer

        for handle in (decode, self.decode, self.decode):  # where a replica dies another answers
            try:
                if not streams:
                    status, content, whole = await self._whole(handle, "POST", "/" + path, body, state)
                    return Response(whole, status, media_type=content)
                status, content, answer = await begin(handle)
                return StreamingResponse(going_on(path, answer, again) if content.startswith("text/event-stream") else answer, status, media_type=content)
            except Exception as e:
                why = e
        return JSONResponse({"error": {"message": f"no replica answers: {type(why).__name__}", "type": "server_error", "param": None, "code": "overloaded"}}, 503, {"Retry-After": "1"})


def build(model: str, replicas: int, prefill: int = 0, cpus: float = 1, **options):
    """The application: serve.run(build("m.gguf", 4, parallel=8))."""
    def boards(kind, n):
        return kind.options(num_replicas=n, ray_actor_options={"num_cpus": cpus}, max_ongoing_requests=256).bind(os.path.abspath(model), options)

    return Front.options(ray_actor_options={"num_cpus": 0}, max_ongoing_requests=4096).bind(boards(Decode, replicas), boards(Prefill, prefill) if prefill else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="packed GGUF, on every machine under this path")
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--prefill", type=int, default=0, help="replicas that compute prompts for the others (0: each its own)")
    parser.add_argument("--cpus", type=float, default=1, help="of a replica (1)")
    parser.add_argument("--parallel", type=int, default=4, help="sequences of a replica (4)")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--address", default=None, help="of a Ray cluster; default: one on this machine")
    args = parser.parse_args()
    ray.init(address=args.address, log_to_driver=False, logging_level="ERROR")
    serve.start(http_options={"host": args.host, "port": args.port})
    serve.run(build(args.model, args.replicas, args.prefill, args.cpus, parallel=args.parallel))
    print(f"listening at http://{args.host}:{args.port}/v1", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
