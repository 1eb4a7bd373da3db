#!/usr/bin/env python3
"""linnet's server on several machines behind one OpenAI-compatible address, by Ray Serve:

    serve.py --model m.gguf --replicas 4 [--prefill 1] [--port 8000]

Each replica runs linnet-server on its machine (many requests in one batch, a prefix cache) and hands requests over to it. Requests that begin alike go to the same replica as long as it is there, so
that what they have in common is computed once. With --prefill N so many more replicas compute prompts alone, and the others go on from their states: exact, and worth it where those are stronger machines
(docs/fleet.md)."""
import argparse
import hashlib
import json
import os
import time

import httpx
import linnet
import ray
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from ray import serve

BEGINNING = 400  # characters that decide who computes a request: a system prompt, and what a conversation began with
app = FastAPI()


def beginning_of(body: dict) -> str:
    """A name for what the request begins with, in so many buckets that replicas get like shares."""
    told = body.get("messages") or body.get("input") or body.get("prompt") or ""
    text = told if isinstance(told, str) else json.dumps(told, sort_keys=True)
    return hashlib.sha256(f"{body.get('model', '')}\0{text[:BEGINNING]}".encode()).hexdigest()[:2]


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
        streams, why = isinstance(told, dict) and told.get("stream"), None
        for handle in (decode, self.decode, self.decode):  # where a replica dies another answers; a stream that has begun is cut
            try:
                if not streams:
                    status, content, whole = await self._whole(handle, "POST", "/" + path, body, state)
                    return Response(whole, status, media_type=content)
                answer = handle.ask.remote("POST", "/" + path, body, state)
                status, content = await answer.__anext__()
                return StreamingResponse(answer, status, media_type=content)
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
