"""Chats and completions from Python, in OpenAI's shapes."""
import asyncio
import json
import threading
import urllib.error
import urllib.request

import linnet
import pytest

HI = [{"role": "user", "content": "hi"}]
TOOLS = [{"type": "function", "function": {"name": n, "description": n, "parameters": p}} for n, p in {
    "get_weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    "get_time": {"type": "object", "properties": {}, "additionalProperties": False}}.items()]


def test_whole(scripted):
    answer = scripted["hello"].chat(HI)
    assert answer.choices[0].message.content == answer["choices"][0]["message"]["content"] == "Hello, world." and answer.choices[0].finish_reason == "stop"
    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-") and answer.usage.completion_tokens == 4
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 4 and json.loads(json.dumps(answer)) == answer
    with pytest.raises(AttributeError):
        answer.nothing
    again = scripted["hello"].chat(HI)
    assert again.choices == answer.choices and again.usage.prompt_tokens_details.cached_tokens == answer.usage.prompt_tokens - 1
    more = scripted["hello"].chat([*HI, again.choices[0].message, {"role": "user", "content": "more"}])
    assert more.usage.prompt_tokens_details.cached_tokens >= answer.usage.prompt_tokens


def test_streamed(scripted):
    chunks = list(scripted["hello"].chat(HI, stream=True))
    assert "".join(c.choices[0].delta.get("content") or "" for c in chunks) == "Hello, world." and chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks][-1] == "stop" and chunks[-1].usage.completion_tokens == 4 and all(c.object == "chat.completion.chunk" for c in chunks)


def test_limits(scripted):
    hello = scripted["hello"]
    assert hello.chat(HI, max_tokens=2).choices[0] == {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "logprobs": None, "finish_reason": "length"}
    assert hello.chat(HI, stop="wor").choices[0].message.content == "Hello," and hello.chat(HI, stop=["zzz", "lo, w", "ld"]).choices[0].message.content == "Hel"
    assert hello.chat(HI, stop=["world.x"]).choices[0].message.content == "Hello, world."
    with pytest.raises(TypeError):
        hello.chat(HI, nonsense=1)
    for wrong in ({"response_format": {"type": "poem"}}, {"max_tokens": 0}, {"tools": TOOLS, "tool_choice": "always"}, {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "x"}}},
                  {"tools": TOOLS, "schema": {}}, {"temperature": -1},
                  {"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 21}, {"logprobs": True, "top_logprobs": "2"}, {"n": 0}, {"n": 65}, {"n": 1.5}):
        with pytest.raises(linnet.BadArgument):
            hello.chat(HI, **wrong)
    with pytest.raises(linnet.BadArgument):
        hello.chat([{"role": "user", "content": "a", "tool_calls": [{"function": {"name": "x", "arguments": "{"}}]}])
    with pytest.raises(linnet.ContextFull):
        hello.chat([{"role": "user", "content": "long " * 3000}])
    assert hello.chat(HI).choices[0].message.content == "Hello, world."


def test_reasoning(scripted):
    thinker = scripted["thinker"]
    message = thinker.chat(HI).choices[0].message
    assert message.reasoning_content == "Let me see." and message.content == "It is 42."
    assert thinker.chat(HI, reasoning=False).choices[0].message == {"role": "assistant", "content": "At once"}
    assert thinker.chat(HI, template={"enable_thinking": False}).choices[0].message.content == "At once"
    deltas = [c.choices[0].delta for c in thinker.chat(HI, stream=True)]
    assert "".join(d.get("reasoning_content", "") for d in deltas) == "Let me see." and "".join(d.get("content") or "" for d in deltas) == "It is 42."
    held = thinker.chat(HI, schema={"enum": ["red", "It is 42."]}, max_tokens=60).choices[0].message  # the content alone is held to it
    assert held.reasoning_content == "Let me see." and json.loads(held.content) in ("red", "It is 42.")


def test_tools(scripted):
    answer = scripted["weather"].chat(HI, tools=TOOLS)
    call = answer.choices[0].message.tool_calls[0]
    assert answer.choices[0].message.content.strip() == "Look:" and answer.choices[0].finish_reason == "tool_calls" and call.type == "function" and call.id
    assert call.function.name == "get_weather" and json.loads(call.function.arguments) == {"city": "Oslo"}
    conversation = [*HI, answer.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    assert scripted["weather"].chat(conversation, tools=TOOLS).choices[0].message
    both = [c.function.name for c in scripted["both"].chat(HI, tools=TOOLS).choices[0].message.tool_calls]
    assert both == ["get_weather", "get_time"]
    assert [c.function.name for c in scripted["both"].chat(HI, tools=TOOLS, parallel_tool_calls=False).choices[0].message.tool_calls] == ["get_weather"]
    named = {"type": "function", "function": {"name": "get_time"}}
    assert [c.function.name for c in scripted["weather"].chat(HI, tools=TOOLS, tool_choice=named, parallel_tool_calls=False, max_tokens=200).choices[0].message.tool_calls] == ["get_time"]
    assert scripted["hello"].chat(HI, tools=TOOLS, tool_choice="required", max_tokens=400).choices[0].message.tool_calls
    assert "tool_calls" not in scripted["hello"].chat(HI, tools=TOOLS, tool_choice="none").choices[0].message
    arguments, name = "", None
    for chunk in scripted["weather"].chat(HI, tools=TOOLS, stream=True):
        for one in chunk.choices[0].delta.get("tool_calls", ()):
            name = one.function.get("name") or name
            arguments += one.function.arguments
    assert name == "get_weather" and json.loads(arguments) == {"city": "Oslo"}


def test_formats(scripted):
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "age": {"type": "integer", "maximum": 200, "minimum": 0}}, "required": ["name", "age"], "additionalProperties": False}
    for held in ({"schema": schema}, {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}):
        assert isinstance(json.loads(scripted["ada"].chat(HI, max_tokens=300, **held).choices[0].message.content), dict)
    assert scripted["ada"].chat(HI, response_format={"type": "json_object"}, max_tokens=20).choices[0].message.content[0] == "{"
    assert scripted["ada"].chat(HI, response_format={"type": "text"}).choices[0].message.content == '{"name": "Ada", "age": 36}'
    assert scripted["ada"].chat(HI, choices=["yes", "no"]).choices[0].message.content in ("yes", "no")
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str = pydantic.Field(max_length=9)
        age: int = pydantic.Field(ge=0, le=99)

    assert Person.model_validate_json(scripted["ada"].chat(HI, schema=Person, max_tokens=300).choices[0].message.content)


def test_bundled(bundled):
    call = bundled.chat([{"role": "user", "content": "set a timer for ten minutes"}]).choices[0].message.tool_calls[0].function
    assert call == {"name": "set_timer", "arguments": '{"minutes":10}'}


def test_complete(bundled):
    whole = bundled.complete("what is the weather", max_tokens=20)
    assert whole.object == "text_completion" and whole.choices[0].text and whole.usage.prompt_tokens == len(bundled.tokenize("what is the weather"))
    pieces = list(bundled.complete("what is the weather", max_tokens=20, stream=True))
    assert "".join(p.choices[0].text for p in pieces) == whole.choices[0].text and pieces[-1].choices[0].finish_reason == whole.choices[0].finish_reason
    assert pieces[-1].usage.prompt_tokens_details.cached_tokens == whole.usage.prompt_tokens - 1
    assert bundled.complete(bundled.tokenize("what is the weather"), max_tokens=20).choices == whole.choices
    assert bundled.complete("x", max_tokens=9, temperature=1.0, seed=5, ignore_eos=True).choices == bundled.complete("x", max_tokens=9, temperature=1.0, seed=5, ignore_eos=True).choices
    with pytest.raises(linnet.BadArgument):
        bundled.complete("")
    with pytest.raises(TypeError):
        bundled.complete("a", nonsense=1)


def test_own_session(scripted):
    with scripted["hello"].session(context=256) as session:
        first = scripted["hello"].chat(HI, session=session)
        assert first.usage.prompt_tokens_details.cached_tokens == 0 and len(session) > 0
        assert scripted["hello"].chat(HI, session=session).usage.prompt_tokens_details.cached_tokens > 0


def test_streams_at_the_same_time(scripted):
    hello = scripted["hello"]
    streams = [hello.chat(HI, stream=True) for _ in range(8)]
    texts = [""] * 8
    for _ in range(10):
        for i, stream in enumerate(streams):
            for chunk in [next(stream, None)]:
                texts[i] += (chunk.choices[0].delta.get("content") or "") if chunk else ""
    assert texts == ["Hello, world."] * 8
    streams = [hello.chat(HI, stream=True) for _ in range(9)]
    for stream in streams[:8]:
        next(stream)
    with pytest.raises(linnet.BadState):
        next(streams[8])
    for stream in streams[:4]:
        stream.close()  # who goes gives his session back
    assert hello.chat(HI).choices[0].message.content == "Hello, world."
    del streams, stream
    got = []
    threads = [threading.Thread(target=lambda: got.append(hello.chat(HI).choices[0].message.content)) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert got == ["Hello, world."] * 8


def test_own_sessions_of_several(bundled):
    """A model's own sessions: one with enough sequences is taken, or takes the place of one that has too few."""
    asked = {"messages": [{"role": "user", "content": "what is the weather like"}], "temperature": 1.0, "seed": 2}
    with linnet.Model(bundled.path) as model:
        streams = [model.chat(**asked, stream=True) for _ in range(8)]
        for stream in streams:
            next(stream)
        with pytest.raises(linnet.BadState):
            model.chat(**asked, n=2)
        for stream in streams:
            stream.close()
        two = model.chat(**asked, n=2)
        assert [plain(c)["message"] for c in two.choices] == [plain(model.chat(**{**asked, "seed": 2 + i}).choices[0])["message"] for i in range(2)]
        assert model.chat(**asked, n=2).usage.prompt_tokens_details.cached_tokens == two.usage.prompt_tokens - 1
        assert model._lent == 8 == len(model._idle) and sorted(s.params.n_sequences for s in model._idle) == [1] * 7 + [2]
        got = []
        threads = [threading.Thread(target=lambda: got.append(model.chat(**asked, n=3).choices)) for _ in range(6)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(got) == 6 and all([plain(c)["message"] for c in choices] == [plain(c)["message"] for c in got[0]] for choices in got)


def test_async(scripted):
    async def together():
        whole = await asyncio.gather(*(scripted["hello"].achat(HI) for _ in range(4)))
        text = ""
        async for chunk in await scripted["hello"].achat(HI, stream=True):
            text += chunk.choices[0].delta.get("content") or ""
        return [a.choices[0].message.content for a in whole] + [text]

    assert asyncio.run(together()) == ["Hello, world."] * 5


def plain(choice):
    """Without what a request makes up: ids of calls."""
    choice = json.loads(json.dumps(choice))
    choice["message"].pop("refusal", None)
    for call in choice["message"].get("tool_calls", ()):
        call["id"] = ""
    return choice


def put_together(chunks):
    """Choices of a stream, with all logprobs."""
    choices = {}
    for chunk in chunks:
        for part in chunk["choices"]:
            to = choices.setdefault(part["index"], {"index": part["index"], "content": "", "reasoning": "", "calls": [], "logprobs": [], "finish_reason": None})
            to["content"] += part["delta"].get("content") or ""
            to["reasoning"] += part["delta"].get("reasoning_content") or ""
            for call in part["delta"].get("tool_calls", ()):
                if "name" in call["function"]:
                    to["calls"].append([call["function"]["name"], ""])
                to["calls"][call["index"]][1] += call["function"]["arguments"]
            to["logprobs"] += (part["logprobs"] or {"content": []})["content"]
            to["finish_reason"] = part["finish_reason"] or to["finish_reason"]
    return [choices[i] for i in sorted(choices)]


def test_as_the_server(bundled, scripted, tmp_path):
    """Same requests, same answers, same numbers as linnet-server's: whole and streamed, several choices, logarithms, calls that were cut."""
    def post(url, path, body):
        request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as why:
            pytest.fail(f"{body}: {why.read().decode()}")
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")] if body.get("stream") else json.loads(text)

    timer, weather = [{"role": "user", "content": "set a timer for ten minutes"}], [{"role": "user", "content": "what is the weather like"}]
    asked = [("bundled", timer, {"logprobs": True, "top_logprobs": 5}), ("bundled", weather, {"logprobs": True}), ("bundled", weather, {"n": 3, "temperature": 1.5, "seed": 7, "logprobs": True, "top_logprobs": 2}),
             ("bundled", weather, {"n": 5, "temperature": 2.0, "top_k": 50, "seed": 3, "max_tokens": 12}), ("bundled", weather, {"max_tokens": 3, "logprobs": True, "top_logprobs": 20}),
             ("thinker", HI, {"logprobs": True, "top_logprobs": 1}), ("thinker", HI, {"n": 2, "stop": "It", "logprobs": True}), ("weather", HI, {"tools": TOOLS, "logprobs": True, "top_logprobs": 3}),
             *(("weather", HI, {"tools": TOOLS, "max_tokens": n, "n": 2, "logprobs": True}) for n in (2, 4, 8, 10)), ("both", HI, {"tools": TOOLS, "n": 2}), ("hello", HI, {"stop": ["wor"], "logprobs": True}),
             *(("thinker", HI, {"response_format": {"type": "json_object"}, "max_tokens": n, "logprobs": True}) for n in (2, 3, 4, 12))]
    try:
        server = linnet.serve({"bundled": bundled.path, **{name: model.path for name, model in scripted.items()}}, no_cache=True, context=1024)
    except ImportError as why:
        pytest.skip(str(why))
    with server:
        for name, messages, more in asked:
            model, body = bundled if name == "bundled" else scripted[name], {"model": name, "messages": messages, "temperature": 0, **more}
            theirs, mine = post(server.url, "/v1/chat/completions", body), model.chat(messages, **more)
            assert [plain(c) for c in mine.choices] == [plain(c) for c in theirs["choices"]], more
            assert [mine.usage[k] for k in ("prompt_tokens", "completion_tokens")] == [theirs["usage"][k] for k in ("prompt_tokens", "completion_tokens")], more
            assert put_together(model.chat(messages, stream=True, **more)) == put_together(post(server.url, "/v1/chat/completions", {**body, "stream": True})), more
            assert not more.get("logprobs") or all(0 <= -t["logprob"] for c in mine.choices for t in c.logprobs.content)
        for more in ({"logprobs": 3}, {"logprobs": 0, "temperature": 1.2, "seed": 5}, {}):
            body = {"model": "bundled", "prompt": "what is the weather", "temperature": 0, "max_tokens": 12, **more}
            theirs, mine = post(server.url, "/v1/completions", body), bundled.complete("what is the weather", max_tokens=12, **more)
            assert mine.choices == theirs["choices"], more
            streamed = list(bundled.complete("what is the weather", max_tokens=12, stream=True, **more))
            assert "".join(c.choices[0].text for c in streamed) == mine.choices[0].text
            if more:
                assert sum((c.choices[0].logprobs.token_logprobs for c in streamed), []) == mine.choices[0].logprobs.token_logprobs


def test_streams_at_once(scripted):
    """A chunk comes before the token behind it is drawn."""
    hello = scripted["hello"]
    with hello.session(context=256) as session:
        stream = hello.chat(HI, stream=True, logprobs=True, session=session)
        next(stream)
        before = len(session)
        for n, text in enumerate(("Hel", "lo", ", wor", "ld."), 1):
            assert next(stream).choices[0].delta.content == text and len(session) == before + n
    held = scripted["thinker"].chat(HI, schema={"enum": ["red", "It is 42."]}, banned="It is 42.", max_tokens=60).choices[0].message  # also behind the reasoning
    assert held.reasoning_content == "Let me see." and json.loads(held.content) == "red"


def test_choices_take_turns(bundled):
    """Choices of a stream come beside each other, behind a prompt that is computed once."""
    asked = {"messages": [{"role": "user", "content": "what is the weather like"}], "n": 4, "temperature": 3.0, "seed": 11, "max_tokens": 10, "ignore_eos": True}
    with bundled.session(context=256, sequences=4) as session:
        chunks = list(bundled.chat(**asked, stream=True, logprobs=True, session=session))
        prompt = chunks[-1].usage.prompt_tokens
        assert session.stats["prefill_tokens"] == prompt and chunks[-1].usage.completion_tokens > 20 and [c.get("usage") is None for c in chunks] == [True] * (len(chunks) - 1) + [False]
        order = [c.choices[0].index for c in chunks]
        assert order[:4] == [0, 1, 2, 3] and order.index(3, 4) < len(order) - order[::-1].index(0) - 1
        for i in range(4):  # each is what it would be alone
            assert put_together(chunks)[i] == {**put_together(bundled.chat(**{**asked, "n": 1, "seed": 11 + i}, stream=True, logprobs=True))[0], "index": i}
        with pytest.raises(linnet.BadArgument):
            bundled.chat(**{**asked, "n": 5}, session=session)


def test_banned(scripted):
    """Tokens that are taken back have told nothing."""
    for banned, text in (("lo, wor", "Hel"), (["zzz", "lo,"], "Hel"), ("Hello, w", ""), (["llo, world.", "Hel!"], ""), ("ld.", "Hello, wor"), ("world.!", "Hello, world.")):
        whole = scripted["hello"].chat(HI, banned=banned, max_tokens=6).choices[0]
        seen = scripted["hello"].chat(HI, banned=banned, max_tokens=6, logprobs=True).choices[0]
        streamed = put_together(scripted["hello"].chat(HI, banned=banned, max_tokens=6, logprobs=True, stream=True))[0]
        assert whole.message.content == seen.message.content == streamed["content"] == text, banned
        assert "".join(t["token"] for t in seen.logprobs.content).startswith(text) and seen.logprobs.content == streamed["logprobs"]
        with scripted["hello"].session(context=64) as session:
            generation = session.generate([5, *scripted["hello"].tokenize("\n")], banned=banned, max_tokens=6, logprobs=2)
            generation.text()
            assert len(generation.logprobs) == len(generation.tokens) and all(value == dict(top).get(token, value) for token, (value, top) in zip(generation.tokens, generation.logprobs))


def test_no_template(folder):
    with linnet.Model(folder, cache=False) as model:
        with pytest.raises(linnet.Unsupported):
            model.chat(HI)


def test_as_the_client_has_it(scripted, bundled):
    """What scripts written for OpenAI's client and llama-cpp-python do."""
    hello, timer = scripted["hello"], [{"role": "user", "content": "set a timer for ten minutes"}]
    message = hello.chat(HI).choices[0].message
    assert not message.tool_calls and message.refusal is None and "tool_calls" not in message
    with pytest.raises(AttributeError, match="role, content"):
        message.tool_call
    dumped = hello.chat(HI).model_dump()
    assert type(dumped) is dict and type(dumped["choices"][0]["message"]) is dict and json.loads(hello.chat(HI).model_dump_json())["choices"] == dumped["choices"]
    text = "".join(c.choices[0].delta.content or "" for c in hello.chat(HI, stream=True))
    assert text == "Hello, world."
    assert hello.chat(HI, max_completion_tokens=2).choices == hello.chat(HI, max_tokens=2).choices and hello.chat(HI, max_tokens=-1).choices[0].finish_reason == "stop"
    parts = [{"role": "user", "content": [{"type": "text", "text": "set a timer "}, {"type": "text", "text": "for ten minutes"}]}]
    assert bundled.chat(parts).choices[0].message.tool_calls[0].function == bundled.chat(timer).choices[0].message.tool_calls[0].function
    asked = [{"role": "developer", "content": "be brief"}, {"role": "user", "content": "hi", "name": None}, {"role": "assistant", "content": None, "refusal": None, "tool_calls": None}, *HI]
    assert hello.chat(asked).usage.prompt_tokens == hello.chat([{"role": "system", "content": "be brief"}, *HI, {"role": "assistant", "content": ""}, *HI]).usage.prompt_tokens
    assert bundled.chat(timer, top_k=-1, seed=-1, temperature=1.0).choices
    random = {bundled.complete("a", max_tokens=20, temperature=2.0, seed=-1, ignore_eos=True).choices[0].text for _ in range(4)}
    assert len(random) > 1


def test_wrong_arguments(scripted, bundled):
    """Each has an exception that names it, and none is taken for something else."""
    hello = scripted["hello"]
    for wrong, name in (("hello", "messages"), ([], "messages"), (["a"], r"messages\[0\]"), (None, "messages"), (HI[0], "messages"), ([{"content": "a"}], r"messages\[0\]"), ([*HI, {"role": "user", "content": 5}], r"messages\[1\].content"),
                        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], "image_url"), ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "tool_calls")):
        with pytest.raises(linnet.BadArgument, match=name):
            hello.chat(wrong)
    with bundled.session(context=64) as other:
        for wrong, name in (({"max_tokens": "5"}, "max_tokens"), ({"max_tokens": 1.5}, "max_tokens"), ({"max_tokens": 10 ** 12}, "max_tokens"), ({"stop": 5}, "stop"), ({"stop": [5]}, "stop"), ({"stop": "a\0b"}, "stop"),
                            ({"banned": 5}, "banned"), ({"seed": "a"}, "seed"), ({"seed": 1 << 64}, "seed"), ({"top_k": -2}, "top_k"), ({"top_k": 1 << 32}, "top_k"), ({"temperature": "hot"}, "temperature"),
                            ({"logit_bias": [5]}, "logit_bias"), ({"logit_bias": {5: None}}, "logit_bias"), ({"logit_bias": {1 << 32: 1}}, "logit_bias"), ({"samplers": 5}, "samplers"), ({"dry_breakers": 5}, "dry_breakers"),
                            ({"tool_choice": "required"}, "tool_choice"), ({"response_format": {"type": "json_schema"}}, "json_schema"), ({"grammar": 5}, "text"), ({"choices": "yes"}, "choices"),
                            ({"schema": {}, "regex": "a"}, "regex"), ({"tools": TOOLS, "choices": ["a"]}, "choices"), ({"session": 5}, "session"), ({"session": other}, "session"),
                            ({"max_tokens": 1, "max_completion_tokens": 1}, "max_completion_tokens")):
            with pytest.raises(linnet.BadArgument, match=name):
                hello.chat(HI, **wrong)
    for name in ("model", "user"):
        with pytest.raises(TypeError, match=f"no argument '{name}'"):
            hello.chat(HI, **{name: "x"})
    for wrong in (5, None):
        with pytest.raises(linnet.BadArgument, match="prompt"):
            bundled.complete(wrong)
    assert hello.chat(HI).choices[0].message.content == "Hello, world."
