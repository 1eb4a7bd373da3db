#!/usr/bin/env python3
"""Clients of linnet-server as people have them, the openai and anthropic packages of PyPI and curl, against models whose answers are
scripted: test_server_clients.py LINNET_SERVER. The packages come once, to build/clients."""
import base64
import fcntl
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Literal

import scripted_model
import tiny_model

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINS = {"openai": "3.57.0", "anthropic": "2.14.0"}
KEY = "sk-test"

# Calls as Qwen3 and Hermes write them. What a scripted model says goes by the prompt's last byte: "]" where it has begun no reasoning.
TEMPLATE = """{%- if tools %}{{ '<|im_start|>system\\nTools:' }}{%- for t in tools %}{{ '\\n' + t | tojson }}{%- endfor %}{{ '\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags.<|im_end|>\\n' }}{%- endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}{{ '<|im_start|>' + m.role + '\\n' }}{%- if m.role == 'assistant' and m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}{{ m.content }}
{%- for c in m.tool_calls or [] %}{{ '\\n<tool_call>\\n{"name": "' + c.function.name + '", "arguments": ' + c.function.arguments | tojson + '}\\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>\\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}THINK{%- endif %}"""
PLAIN = TEMPLATE.replace("THINK", "").replace(" and m.reasoning_content", " and false")  # knows no reasoning
THINKING = TEMPLATE.replace("THINK", "{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{%- else %}{{ '<think>' }}{%- endif %}")
WEATHER = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
CLOCK = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'


def pieces(text, n=7):
    """Tokens that are not special, each of them once in a model."""
    return [(text[i : i + n], False) for i in range(0, len(text), n)]


MODELS = {
    "hello": (PLAIN, {"\n": [("Hel", False), ("lo", False), (", wor", False), ("ld.", False)], "(": [("B)", False), (" Helios", False)]}),
    "thinker": (THINKING, {">": [("Let me", False), (" see.", False), ("</think>", False), (" \n", False), ("It is", False), (" 42.", False)], "\n": [("At", False), (" once", False)]}),
    "weather": (PLAIN, {"\n": [("Look:\n", False), *pieces(WEATHER)]}),
    "both": (PLAIN, {"\n": [*pieces(WEATHER + "\n"), (CLOCK, False)]}),  # a call in one token, too
    "ada": (PLAIN, {"\n": pieces('{"name": "Ada", "age": 36}')}),
}


def packages(name, pins):
    """The folder below build/ that these packages of PyPI come to once, or the reason why there is none."""
    folder = os.path.join(ROOT, "build", name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w") as lock:  # several tests may want it at a time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all(os.path.isdir(f"{folder}/{name}-{version}.dist-info") for name, version in pins.items()):
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--root-user-action", "ignore", "--upgrade", "--target", folder]
            done = subprocess.run(pip + [f"{name}=={version}" for name, version in pins.items()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                return None, f"the packages {', '.join(pins)} cannot be had from PyPI: {done.stdout.strip().splitlines()[-1:] or ['no pip']}"
    return folder, ""


FUNCTIONS = {
    "get_weather": ("Weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}),
    "get_time": ("What time it is", {"type": "object", "properties": {}, "additionalProperties": False}),
}
CHAT_TOOLS = [{"type": "function", "function": {"name": n, "description": d, "parameters": p}} for n, (d, p) in FUNCTIONS.items()]
FLAT_TOOLS = [{"type": "function", "name": n, "description": d, "parameters": p, "strict": True} for n, (d, p) in FUNCTIONS.items()]
CLAUDE_TOOLS = [{"name": n, "description": d, "input_schema": p} for n, (d, p) in FUNCTIONS.items()]
GREEDY = {"temperature": 0}
HI = [{"role": "user", "content": "hi"}]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.openai = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0, timeout=60)
        cls.anthropic = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0, timeout=60)

    def refused(self, error, status, call, said="", **fields):
        with self.assertRaises(error) as caught:
            call(**fields)
        self.assertEqual(caught.exception.status_code, status)
        self.assertIn(said, str(caught.exception))
        return caught.exception


class Chat(Case):
    def ask(self, model="hello", messages=HI, **more):
        return self.openai.chat.completions.create(model=model, messages=messages, temperature=0, **more)

    def test_whole(self):
        answer = self.ask()
        self.assertEqual((answer.choices[0].message.content, answer.choices[0].finish_reason, answer.model), ("Hello, world.", "stop", "hello"))
        self.assertEqual(answer.usage.completion_tokens, 4)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 4)
        again = self.ask()
        self.assertEqual(again.usage.prompt_tokens_details.cached_tokens, again.usage.prompt_tokens - 1)
        self.assertEqual([m.id for m in self.openai.models.list()], list(MODELS))
        self.assertEqual(self.openai.models.retrieve("ada").id, "ada")
        cut = self.ask(max_completion_tokens=2).choices[0]
        self.assertEqual((cut.message.content, cut.finish_reason), ("Hello", "length"))
        for stop, said in ("wor", "Hello,"), (["zzz", "lo, w"], "Hel"), ("d.", "Hello, worl"):
            choice = self.ask(stop=stop).choices[0]
            self.assertEqual((choice.message.content, choice.finish_reason), (said, "stop"))
        many = self.ask(n=3, seed=7)
        self.assertEqual([(c.index, c.message.content) for c in many.choices], [(i, "Hello, world.") for i in range(3)])
        self.assertEqual(many.usage.completion_tokens, 12)

    def test_streamed(self):
        chunks = list(self.ask(stream=True, stream_options={"include_usage": True}, n=2))
        for index in range(2):
            mine = [c.choices[0] for c in chunks if c.choices and c.choices[0].index == index]
            self.assertEqual("".join(c.delta.content or "" for c in mine), "Hello, world.")
            self.assertEqual(mine[0].delta.role, "assistant")
            self.assertEqual([c.finish_reason for c in mine if c.finish_reason], ["stop"])
        self.assertEqual(chunks[-1].usage.completion_tokens, 8)
        with self.openai.chat.completions.stream(model="hello", messages=HI, temperature=0) as stream:
            said = [e.delta for e in stream if e.type == "content.delta"]
            self.assertEqual(stream.get_final_completion().choices[0].message.content, "Hello, world.")
        self.assertEqual(said, ["Hel", "lo", ", wor", "ld."])

    def test_async(self):
        import asyncio

        async def together():
            async with openai.AsyncOpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0) as client:
                return await asyncio.gather(*(client.chat.completions.create(model=m, messages=HI, temperature=0) for m in ("hello", "thinker") * 4))

        self.assertEqual([a.choices[0].message.content for a in asyncio.run(together())], ["Hello, world.", "It is 42."] * 4)

    def test_reasoning(self):
        message = self.ask("thinker").choices[0].message
        self.assertEqual((message.content, message.reasoning_content), ("It is 42.", "Let me see."))
        answer = self.ask("thinker", reasoning_effort="none")
        self.assertEqual((answer.choices[0].message.content, answer.usage.completion_tokens_details.reasoning_tokens), ("At once", 0))
        streamed = [c.choices[0].delta for c in self.ask("thinker", stream=True)]
        self.assertEqual("".join(getattr(d, "reasoning_content", None) or "" for d in streamed), "Let me see.")
        self.assertEqual("".join(d.content or "" for d in streamed), "It is 42.")

    def test_tools(self):
        def calls(choice):
            return [(c.function.name, json.loads(c.function.arguments)) for c in choice.message.tool_calls or []]

        oslo, clock = ("get_weather", {"city": "Oslo"}), ("get_time", {})
        choice = self.ask("weather", tools=CHAT_TOOLS).choices[0]
        self.assertEqual((choice.finish_reason, choice.message.content, calls(choice)), ("tool_calls", "Look:", [oslo]))
        self.assertEqual(calls(self.ask("both", tools=CHAT_TOOLS).choices[0]), [oslo, clock])
        self.assertEqual(calls(self.ask("both", tools=CHAT_TOOLS, parallel_tool_calls=False).choices[0]), [oslo])
        self.assertEqual(calls(self.ask("both", tools=CHAT_TOOLS, tool_choice="required").choices[0])[0], oslo)
        # What the model would say is not what is asked for: it is held to a call.
        self.assertEqual(calls(self.ask(tools=CHAT_TOOLS[1:], tool_choice="required", parallel_tool_calls=False).choices[0]), [clock])
        named = {"type": "function", "function": {"name": "get_time"}}
        self.assertEqual(calls(self.ask("both", tools=CHAT_TOOLS, tool_choice=named, parallel_tool_calls=False).choices[0]), [clock])
        none = self.ask(tools=CHAT_TOOLS, tool_choice="none")
        self.assertEqual((none.choices[0].message.content, none.usage.prompt_tokens), ("Hello, world.", self.ask().usage.prompt_tokens))
        # Streamed, by the package's own reader.
        with self.openai.chat.completions.stream(model="both", messages=HI, tools=CHAT_TOOLS, temperature=0) as stream:
            done = [(e.name, json.loads(e.arguments)) for e in stream if e.type == "tool_calls.function.arguments.done"]
            self.assertEqual(calls(stream.get_final_completion().choices[0]), [oslo, clock])
        self.assertEqual(done, [oslo, clock])
        # And the call's result.
        first = self.ask("both", tools=CHAT_TOOLS).choices[0].message
        results = [{"role": "tool", "tool_call_id": c.id, "content": "fine"} for c in first.tool_calls]
        self.assertEqual(self.ask("hello", [*HI, first, *results], tools=CHAT_TOOLS).choices[0].message.content, "Hello, world.")

    def test_formats(self):
        class Person(pydantic.BaseModel):
            name: str
            age: int

        class Verdict(pydantic.BaseModel):
            verdict: Literal["yes"]

        schema = {"type": "json_schema", "json_schema": {"name": "p", "strict": True, "schema": {**Person.model_json_schema(), "additionalProperties": False}}}
        self.assertEqual(json.loads(self.ask("ada", response_format=schema).choices[0].message.content), {"name": "Ada", "age": 36})
        self.assertEqual(json.loads(self.ask("ada", response_format={"type": "json_object"}).choices[0].message.content)["age"], 36)
        parse = self.openai.chat.completions.parse
        self.assertEqual(parse(model="ada", messages=HI, temperature=0, response_format=Person).choices[0].message.parsed, Person(name="Ada", age=36))
        self.assertEqual(parse(model="hello", messages=HI, temperature=0, response_format=Verdict).choices[0].message.parsed, Verdict(verdict="yes"))
        self.assertEqual(self.openai.responses.parse(model="ada", input="hi", temperature=0, text_format=Person).output_parsed, Person(name="Ada", age=36))
        message = self.anthropic.messages.create(model="ada", max_tokens=50, extra_body=GREEDY, messages=HI, output_config={"format": {"type": "json_schema", "schema": schema["json_schema"]["schema"]}})
        self.assertEqual(json.loads(message.content[0].text), {"name": "Ada", "age": 36})

    def test_logprobs(self):
        content = self.ask(logprobs=True, top_logprobs=3).choices[0].logprobs.content
        self.assertEqual([c.token for c in content], ["Hel", "lo", ", wor", "ld."])
        for c in content:
            self.assertEqual(bytes(c.bytes).decode(), c.token)
            self.assertEqual((len(c.top_logprobs), c.top_logprobs[0].token), (3, c.token))
            self.assertAlmostEqual(c.top_logprobs[0].logprob, c.logprob, places=5)
            self.assertLess(sum(math.exp(t.logprob) for t in c.top_logprobs), 1)
        streamed = [t.token for c in self.ask(logprobs=True, stream=True) if c.choices[0].logprobs for t in c.choices[0].logprobs.content]
        self.assertEqual(streamed, ["Hel", "lo", ", wor", "ld."])
        answer = self.openai.responses.create(model="thinker", input="hi", temperature=0, top_logprobs=2, include=["message.output_text.logprobs"])
        text = answer.output[-1].content[0]
        self.assertEqual(([t.token for t in text.logprobs], [len(t.top_logprobs) for t in text.logprobs]), (["It is", " 42."], [2, 2]))

    def test_completions(self):
        text = self.openai.completions.create(model="hello", prompt=["\n", "(\n"], temperature=0, logprobs=1)
        self.assertEqual([c.text for c in text.choices], ["Hello, world."] * 2)
        self.assertEqual(text.choices[0].logprobs.tokens, ["Hel", "lo", ", wor", "ld."])
        self.assertEqual("".join(c.choices[0].text for c in self.openai.completions.create(model="hello", prompt="(", temperature=0, stream=True)), "B) Helios")

    def test_errors(self):
        create = self.openai.chat.completions.create
        missing = self.refused(openai.NotFoundError, 404, create, "nobody", model="nobody", messages=HI)
        self.assertEqual((missing.code, missing.param), ("model_not_found", "model"))
        for fields, param in [({"temperature": -1}, "temperature"), ({"n": 0}, "n"), ({"extra_body": {"wings": 2}}, "wings"), ({"top_logprobs": 2}, "top_logprobs"),
                              ({"messages": []}, "messages"), ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]}, "messages[0].content[0]")]:
            bad = self.refused(openai.BadRequestError, 400, create, **{"model": "hello", "messages": HI, **fields})
            self.assertEqual(bad.param, param)
        self.refused(openai.AuthenticationError, 401, self.openai.with_options(api_key="sk-other").chat.completions.create, "key", model="hello", messages=HI)
        with create(model="hello", messages=HI, n=60, stream=True, max_tokens=500, extra_body={"ignore_eos": True}) as many:
            next(iter(many))  # 4 are computed, the others fill the queue
            full = self.refused(openai.RateLimitError, 429, create, "wait", model="hello", messages=HI)
        self.assertEqual((full.code, full.response.headers["retry-after"]), ("queue_full", "1"))
        long = self.refused(openai.BadRequestError, 400, create, "positions", model="hello", messages=[{"role": "user", "content": "x" * 3000}])
        self.assertEqual(long.code, "context_length_exceeded")


class Embeddings(Case):
    def test_embeddings(self):
        create = self.openai.embeddings.create
        texts = ["one", "two words", "three small words"]
        answer = create(model="hello", input=texts)  # as base64
        vectors = [d.embedding for d in answer.data]
        self.assertEqual([d.index for d in answer.data], [0, 1, 2])
        self.assertEqual({len(v) for v in vectors}, {scripted_model.HIDDEN})
        self.assertEqual(answer.usage.prompt_tokens, sum(len(t) + 1 for t in texts))
        for v in vectors:
            self.assertAlmostEqual(sum(x * x for x in v), 1, places=5)
        floats = create(model="hello", input=texts, encoding_format="float")
        self.assertEqual([struct.pack(f"<{len(v)}f", *v) for v in vectors], [struct.pack(f"<{len(d.embedding)}f", *d.embedding) for d in floats.data])
        tokens = [[1, *(tiny_model.BYTE_ID[b] for b in t.encode())] for t in texts]
        for one, want in (texts[1], vectors[1]), (tokens[1], vectors[1]):
            self.assertEqual(create(model="hello", input=one).data[0].embedding, want)
        self.assertEqual([d.embedding for d in create(model="hello", input=tokens).data], vectors)
        short = create(model="hello", input="one", dimensions=100).data[0].embedding
        length = math.sqrt(sum(x * x for x in vectors[0][:100]))
        self.assertLess(max(abs(a - b / length) for a, b in zip(short, vectors[0])), 1e-6)
        raw = create(model="hello", input="one", encoding_format="base64", dimensions=1).data[0].embedding
        self.assertEqual(len(base64.b64decode(raw)), 4)
        # Beside answers, and nobody's are other.
        with self.openai.chat.completions.stream(model="hello", messages=HI, temperature=0) as stream:
            self.assertEqual([d.embedding for d in create(model="hello", input=texts * 20).data], vectors * 20)
            self.assertEqual(stream.get_final_completion().choices[0].message.content, "Hello, world.")
        for fields, param in [({"input": ""}, "input"), ({"input": []}, "input"), ({"input": ["a", ""]}, "input[1]"), ({"input": [[1, 999999]]}, "input[0]"), ({"input": ["x"] * 2049}, "input"),
                              ({"dimensions": 513}, "dimensions"), ({"encoding_format": "int8"}, "encoding_format"), ({"input": ["a", "x" * 3000]}, "input[1]"), ({"extra_body": {"wings": 2}}, "wings")]:
            self.assertEqual(self.refused(openai.BadRequestError, 400, create, **{"model": "hello", "input": "a", **fields}).param, param)
        self.refused(openai.NotFoundError, 404, create, model="nobody", input="a")


class Responses(Case):
    def ask(self, model="hello", input="hi", **more):
        return self.openai.responses.create(model=model, input=input, temperature=0, **more)

    def test_whole(self):
        answer = self.ask(metadata={"who": "me"}, user="me", instructions="Be brief.")
        self.assertEqual((answer.output_text, answer.status, answer.metadata, answer.user, answer.store, answer.instructions), ("Hello, world.", "completed", {"who": "me"}, "me", False, "Be brief."))
        self.assertEqual((answer.usage.output_tokens, answer.usage.total_tokens), (4, answer.usage.input_tokens + 4))
        cut = self.ask(max_output_tokens=2)
        self.assertEqual((cut.output_text, cut.status, cut.incomplete_details.reason, cut.output[0].status), ("Hello", "incomplete", "max_output_tokens", "incomplete"))
        # One turn in two forms is one prompt.
        turn = [{"role": "user", "content": "hi"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yo", "annotations": []}]},
                {"role": "user", "content": [{"type": "input_text", "text": "and?"}]}]
        chat = self.openai.chat.completions.create(model="hello", temperature=0, messages=[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}, {"role": "user", "content": "and?"}])
        self.assertEqual(self.ask(input=turn).usage.input_tokens, chat.usage.prompt_tokens)

    def test_reasoning(self):
        answer = self.ask("thinker")
        self.assertEqual([o.type for o in answer.output], ["reasoning", "message"])
        self.assertEqual((answer.output[0].content[0].text, answer.output_text), ("Let me see.", "It is 42."))
        self.assertEqual((answer.usage.output_tokens, answer.usage.output_tokens_details.reasoning_tokens), (6, 3))
        self.assertEqual(self.ask("thinker", reasoning={"effort": "none"}).output_text, "At once")
        events = list(self.ask("thinker", stream=True))
        self.assertEqual([e.delta for e in events if e.type == "response.reasoning_text.delta"], ["Let me", " see."])
        # Its items go back in with the next question.
        again = self.ask("hello", [{"role": "user", "content": "hi"}, *answer.output, {"role": "user", "content": "why?"}])
        self.assertEqual(again.output_text, "Hello, world.")

    def test_tools(self):
        answer = self.ask("both", tools=FLAT_TOOLS)
        calls = [o for o in answer.output if o.type == "function_call"]
        self.assertEqual([(c.name, json.loads(c.arguments)) for c in calls], [("get_weather", {"city": "Oslo"}), ("get_time", {})])
        named = {"type": "function", "name": "get_time"}
        forced = self.ask("both", tools=FLAT_TOOLS, tool_choice=named, parallel_tool_calls=False)
        self.assertEqual([o.name for o in forced.output], ["get_time"])
        self.assertEqual((forced.tool_choice.name, [t.name for t in forced.tools], forced.parallel_tool_calls), ("get_time", ["get_weather", "get_time"], False))
        results = [{"type": "function_call_output", "call_id": c.call_id, "output": "fine"} for c in calls]
        second = self.ask("hello", [{"role": "user", "content": "hi"}, *answer.output, *results], tools=FLAT_TOOLS)
        chat = self.openai.chat.completions.create(model="hello", temperature=0, tools=CHAT_TOOLS, messages=[
            *HI, {"role": "assistant", "content": "", "tool_calls": [{"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls]},
            *({"role": "tool", "tool_call_id": c.call_id, "content": "fine"} for c in calls)])
        self.assertEqual((second.output_text, second.usage.input_tokens), ("Hello, world.", chat.usage.prompt_tokens))

    def test_streamed(self):
        for model, kinds in ("hello", ["message"]), ("thinker", ["reasoning", "message"]), ("weather", ["message", "function_call"]), ("both", ["function_call"] * 2):
            tools = {"tools": FLAT_TOOLS} if "function_call" in kinds else {}
            with self.subTest(model=model):
                with self.openai.responses.stream(model=model, input="hi", temperature=0, **tools) as stream:
                    events = list(stream)
                    final = stream.get_final_response()
                self.assertEqual([o.type for o in final.output], kinds)
                self.assertEqual([e.sequence_number for e in events], list(range(len(events))))
                types = [e.type for e in events]
                self.assertEqual((types[:2], types[-1]), (["response.created", "response.in_progress"], "response.completed"))
                whole = self.ask(model, **tools)
                self.assertEqual((final.output_text, [o.type for o in whole.output]), (whole.output_text, kinds))
                for i, item in enumerate(final.output):
                    mine = [e for e in events if getattr(e, "output_index", None) == i]
                    self.assertEqual({getattr(e, "item_id", item.id) for e in mine}, {item.id})
                    self.assertEqual((mine[0].type, mine[-1].type), ("response.output_item.added", "response.output_item.done"))
                    said = "".join(e.delta for e in mine if e.type.endswith(".delta"))
                    self.assertEqual(said, item.arguments if item.type == "function_call" else item.content[0].text)
                    between = [re.sub(r"response\.", "", e.type) for e in mine if not e.type.endswith(".delta")]
                    name = {"message": "output_text.done", "reasoning": "reasoning_text.done", "function_call": "function_call_arguments.done"}[item.type]
                    parts = [] if item.type == "function_call" else ["content_part.added"], [] if item.type == "function_call" else ["content_part.done"]
                    self.assertEqual(between, ["output_item.added", *parts[0], name, *parts[1], "output_item.done"])
        cut = list(self.ask(stream=True, max_output_tokens=2))[-1]
        self.assertEqual((cut.type, cut.response.output_text, cut.response.status), ("response.incomplete", "Hello", "incomplete"))

    def test_errors(self):
        for fields, param in [({"previous_response_id": "resp_1"}, "previous_response_id"), ({"store": True}, "store"), ({"background": True}, "background"), ({"conversation": "conv_1"}, "conversation"),
                              ({"tools": [{"type": "web_search"}]}, "tools[0].type"), ({"include": ["wings"]}, "include"), ({"extra_body": {"max_tokens": 5}}, "max_tokens"),
                              ({"metadata": {"a": "x" * 600}}, "metadata"), ({"truncation": "auto"}, "truncation"), ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
                              ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]}, "input[0].content[0]"), ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
                              ({"reasoning": {"effort": "vast"}}, "reasoning.effort"), ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id")]:
            self.assertEqual(self.refused(openai.BadRequestError, 400, self.ask, **fields).param, param)
        for name in "store", "background":
            self.assertEqual(self.ask(**{name: False}).status, "completed")
        self.assertEqual(self.refused(openai.BadRequestError, 400, self.ask, previous_response_id="resp_1").code, "unsupported_parameter")
        self.refused(openai.NotFoundError, 404, self.ask, model="nobody")


class Messages(Case):
    def ask(self, model="hello", messages=HI, **more):
        more["extra_body"] = {"temperature": 0, **more.get("extra_body", {})}  # which this package no longer has as an argument
        return self.anthropic.messages.create(**{"model": model, "messages": messages, "max_tokens": 200, **more})

    def test_whole(self):
        answer = self.ask(system="Be brief.", metadata={"user_id": "me"}, extra_body={"top_k": 40, "top_p": 0.9})
        self.assertEqual((answer.content[0].text, answer.stop_reason, answer.stop_sequence, answer.role, answer.model), ("Hello, world.", "end_turn", None, "assistant", "hello"))
        self.assertEqual(answer.usage.output_tokens, 4)
        again = self.ask(system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])
        self.assertEqual(again.usage.input_tokens, 1)
        self.assertEqual(again.usage.cache_read_input_tokens + 1, answer.usage.input_tokens + answer.usage.cache_read_input_tokens)
        cut = self.ask(max_tokens=2)
        self.assertEqual((cut.content[0].text, cut.stop_reason), ("Hello", "max_tokens"))
        stopped = self.ask(stop_sequences=["zzz", "wor"])
        self.assertEqual((stopped.content[0].text, stopped.stop_reason, stopped.stop_sequence), ("Hello,", "stop_sequence", "wor"))
        prefilled = self.ask(messages=[*HI, {"role": "assistant", "content": "The answer is ("}])
        self.assertEqual(prefilled.content[0].text, "B) Helios")

    def test_streamed(self):
        for model, more in ("hello", {}), ("thinker", {"thinking": {"type": "adaptive"}}), ("weather", {"tools": CLAUDE_TOOLS}), ("both", {"tools": CLAUDE_TOOLS}):
            with self.subTest(model=model):
                whole = self.ask(model, **more)
                with self.anthropic.messages.stream(model=model, messages=HI, max_tokens=200, extra_body=GREEDY, **more) as stream:
                    types = [e.type for e in stream]
                    final = stream.get_final_message()
                self.assertEqual([b.model_dump(exclude={"id"}) for b in final.content], [b.model_dump(exclude={"id"}) for b in whole.content])
                self.assertEqual((final.stop_reason, final.usage.output_tokens), (whole.stop_reason, whole.usage.output_tokens))
                self.assertEqual((types[0], types[-1], types.count("content_block_start"), types.count("content_block_stop")), ("message_start", "message_stop", len(whole.content), len(whole.content)))
        with self.anthropic.messages.stream(model="hello", messages=HI, max_tokens=200, extra_body=GREEDY) as stream:
            self.assertEqual(list(stream.text_stream), ["Hel", "lo", ", wor", "ld."])

    def test_thinking(self):
        answer = self.ask("thinker", thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=1100)
        self.assertEqual([(b.type, getattr(b, "thinking", None) or b.text) for b in answer.content], [("thinking", "Let me see."), ("text", "It is 42.")])
        self.assertEqual(answer.usage.output_tokens_details.thinking_tokens, 3)
        for off in {}, {"thinking": {"type": "disabled"}}:
            self.assertEqual(self.ask("thinker", **off).content[0].text, "At once")
        again = self.ask("thinker", [*HI, {"role": "assistant", "content": answer.content}, {"role": "user", "content": "why?"}])
        self.assertEqual(again.content[0].text, "At once")

    def test_tools(self):
        answer = self.ask("weather", tools=CLAUDE_TOOLS)
        self.assertEqual((answer.stop_reason, answer.content[0].text, answer.content[1].name, answer.content[1].input), ("tool_use", "Look:", "get_weather", {"city": "Oslo"}))

        def names(**more):
            return [b.name for b in self.ask("both", tools=CLAUDE_TOOLS, **more).content if b.type == "tool_use"]

        self.assertEqual(names(), ["get_weather", "get_time"])
        self.assertEqual(names(tool_choice={"type": "auto", "disable_parallel_tool_use": True}), ["get_weather"])
        self.assertEqual(names(tool_choice={"type": "any"})[0], "get_weather")
        self.assertEqual(names(tool_choice={"type": "tool", "name": "get_time", "disable_parallel_tool_use": True}), ["get_time"])
        self.assertEqual(self.ask("hello", tools=CLAUDE_TOOLS, tool_choice={"type": "none"}).content[0].text, "Hello, world.")
        results = [{"type": "tool_result", "tool_use_id": answer.content[1].id, "content": [{"type": "text", "text": "rain"}]}, {"type": "text", "text": "So?"}]
        second = self.ask("hello", [*HI, {"role": "assistant", "content": answer.content}, {"role": "user", "content": results}], tools=CLAUDE_TOOLS)
        self.assertEqual(second.content[0].text, "Hello, world.")

    def test_count_tokens(self):
        for fields in {}, {"system": "Be brief."}, {"tools": CLAUDE_TOOLS}, {"messages": [*HI, {"role": "assistant", "content": "The answer is ("}]}:
            usage = self.ask(**fields).usage
            counted = self.anthropic.messages.count_tokens(**{"model": "hello", "messages": HI, **fields}).input_tokens
            self.assertEqual(counted, usage.input_tokens + usage.cache_read_input_tokens)

    def test_errors(self):
        def type_of(e):
            self.assertEqual(e.body["type"], "error")
            return e.body["error"]["type"]

        self.assertEqual(type_of(self.refused(anthropic.NotFoundError, 404, self.ask, "nobody", model="nobody")), "not_found_error")
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
        for fields, said in [({"extra_body": {"temperature": 1.5}}, "temperature"), ({"extra_body": {"wings": 2}}, "wings: Extra inputs are not permitted"), ({"messages": []}, "at least one message"),
                             ({"messages": [{"role": "user", "content": [image]}]}, "messages.0.content.0: is of type 'image'"), ({"extra_body": {"max_tokens": None}}, "max_tokens: Field required"),
                             ({"messages": [*HI, {"role": "assistant", "content": "a "}]}, "trailing whitespace"), ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "budget_tokens"),
                             ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "max_tokens"), ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools.0.type"), ({"stop_sequences": [" "]}, "stop_sequences"),
                             ({"tools": CLAUDE_TOOLS, "tool_choice": {"type": "tool", "name": "fly"}}, "tool_choice"), ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "wings": 2}]}]}, "messages.0.content.0.wings: Extra")]:
            self.assertEqual(type_of(self.refused(anthropic.BadRequestError, 400, self.ask, said, **fields)), "invalid_request_error")
        other = anthropic.Anthropic(base_url=URL, api_key="sk-other", max_retries=0)
        self.assertEqual(type_of(self.refused(anthropic.AuthenticationError, 401, other.messages.create, "key", model="hello", max_tokens=1, messages=HI)), "authentication_error")


class Curl(unittest.TestCase):
    """The wire as it is: status, lines of a stream, no body that is no JSON."""

    def curl(self, path, body, *more):
        done = subprocess.run(["curl", "-sS", "-w", "\n%{http_code}", URL + path, "-H", "content-type: application/json", *(more or ("-H", "x-api-key: " + KEY)), "-d", body if isinstance(body, str) else json.dumps(body)],
                              capture_output=True, text=True, check=True)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), text

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_curl(self):
        chat = {"model": "hello", "messages": HI, "temperature": 0}
        status, text = self.curl("/v1/chat/completions", chat)
        self.assertEqual((status, json.loads(text)["choices"][0]["message"]["content"]), (200, "Hello, world."))
        status, text = self.curl("/v1/chat/completions", {**chat, "stream": True})
        events = text.split("\n\n")
        self.assertEqual((status, events[-2:]), (200, ["data: [DONE]", ""]))
        self.assertTrue(all(e.startswith("data: {") for e in events[:-2]))
        status, text = self.curl("/v1/responses", {"model": "hello", "input": "hi", "temperature": 0, "stream": True})
        for event in text.strip().split("\n\n"):
            name, data = event.split("\n")
            self.assertEqual(name, "event: " + json.loads(data[6:])["type"])
        status, text = self.curl("/v1/messages", {"model": "hello", "messages": HI, "temperature": 0, "max_tokens": 20, "stream": True})
        self.assertEqual([e.split("\n")[0] for e in text.strip().split("\n\n")],
                         ["event: " + e for e in ("message_start", "content_block_start", *["content_block_delta"] * 4, "content_block_stop", "message_delta", "message_stop")])
        for path, form in ("/v1/messages", "anthropic"), ("/v1/responses", "openai"), ("/v1/embeddings", "openai"):
            for body, said in ("{", "valid JSON"), ("[]", "object"), ('{"a":' * 100, "deep"):
                status, text = self.curl(path, body)
                error = json.loads(text)
                self.assertEqual((status, error["error"]["type"], error.get("type")), (400, "invalid_request_error", "error" if form == "anthropic" else None))
                self.assertIn(said, error["error"]["message"])
        status, text = self.curl("/v1/messages", chat, "-H", "anthropic-version: 2023-06-01")
        self.assertEqual((status, json.loads(text)["error"]["type"], json.loads(text)["type"]), (401, "authentication_error", "error"))


def main():
    global URL, anthropic, openai, pydantic
    folder, why = packages("clients", PINS)
    if not folder:
        print("skipped: test_server_clients: " + why)
        return 77
    sys.path.insert(0, folder)
    try:
        import anthropic
        import openai
        import pydantic
    except ImportError as e:
        print(f"skipped: test_server_clients: {e}")
        return 77
    home = tempfile.mkdtemp(prefix="linnet-test-")
    server = None
    try:
        models = []
        for name, (template, answers) in MODELS.items():
            scripted_model.make(f"{home}/{name}", answers, template)
            models += ["-m", f"{name}={home}/{name}"]
        begin = time.monotonic()
        server = subprocess.Popen([sys.argv.pop(1), *models, "--port", "0", "--api-key", KEY, "--context", "2048", "--parallel", "4", "--queue", "8", "--prefix-cache", "8", "--no-cache", "-t", "2"],
                                  stdout=subprocess.PIPE, text=True)
        for line in server.stdout:
            if found := re.match(r"listening at (http://\S+?)/?$", line):
                URL = found[1]
                break
        else:
            print("test_server_clients: the server did not start", file=sys.stderr)
            return 1
        done = unittest.main(exit=False).result
        server.terminate()
        if server.wait(20) or not done.wasSuccessful():
            return 1
        print(f"test_server_clients: {done.testsRun} tests, {time.monotonic() - begin:.1f} s")
        return 0
    finally:
        if server:
            server.kill()
            server.wait()
        shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main())
