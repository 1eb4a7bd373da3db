"""Chats and completions, in the shapes of OpenAI's client."""
from __future__ import annotations

import codecs
import ctypes
import json
import time
import uuid
from ctypes import byref

from ._errors import BadArgument, Unsupported
from ._library import Memory, call, ffi, growing, lib, need, sized, text_of
from ._session import SAMPLING_NAMES, Grammar, length_of, schema_text, seed_of, strings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

CALL_BYTES = 64 << 10
MOST_CHOICES, MOST_LOGPROBS = 64, 20  # a session's sequences; what the API has


# What the client's classes have everywhere, and messages only where there is some.
OPTIONAL = frozenset(("audio", "annotations", "content", "function_call", "logprobs", "reasoning_content", "refusal", "role", "service_tier", "system_fingerprint", "tool_calls", "usage"))


class Result(dict):
    """A dict whose items are attributes too: answer.choices[0].message.content. Of optional ones that are not there the attribute is None."""

    def __getattr__(self, name: str) -> Any:
        if name in self or name in OPTIONAL:
            return self.get(name)
        raise AttributeError(f"there is no {name!r}, only {', '.join(self)}")

    def model_dump(self, **_ignored: Any) -> dict:
        """As the client's classes have it: this as a plain dict."""
        return json.loads(json.dumps(self))

    def model_dump_json(self, indent: int | None = None, **_ignored: Any) -> str:
        return json.dumps(self, ensure_ascii=False, indent=indent)

    @classmethod
    def of(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return cls({k: cls.of(v) for k, v in value.items()})
        return [cls.of(v) for v in value] if isinstance(value, list) else value


def _may_begin(text: Any, strings: list) -> int:
    """How much of the end of a text may be the beginning of one of these."""
    return max((k for one in strings for k in range(1, min(len(one) - 1, len(text)) + 1) if text.endswith(one[:k])), default=0)


class CertainText:
    """Bytes to text: whole characters, and nothing that may be the beginning of a stop string."""

    def __init__(self, stops: list[str]):
        self.stops, self.held, self.stopped = stops, "", None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def feed(self, data: bytes, last: bool = False) -> str:
        if self.stopped is not None:
            return ""
        self.held += self._decode(data, last)
        found = [(self.held.find(s), s) for s in self.stops if s in self.held]
        if found:
            at, self.stopped = min(found)
            out, self.held = self.held[:at], ""
            return out
        n = len(self.held) - (0 if last else _may_begin(self.held, self.stops))
        out, self.held = self.held[:n], self.held[n:]
        return out


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"


class Template:
    """A model's chat template, and a parser of the answers to it. One thread at a time."""

    def __init__(self, core: Any):
        self.core, self.stops = core, []
        self._handle, params = ctypes.c_void_p(), sized(ffi.TemplateParams)
        view, kept = core.view, self._of_format(core)
        if kept:
            program, tokens = kept
            view = ffi.View(ctypes.cast(program, ctypes.c_void_p), len(program))
            params.tokens, params.tokens_bytes, params.text_tokens = ctypes.cast(tokens, ctypes.c_void_p).value, len(tokens), 1
        try:
            self._memory = Memory(need(lib.template_need, byref(view), None, byref(params)))
        except Unsupported as why:
            raise Unsupported(f"the model has no chat template: {why}", why.status, why.name) from None
        call(lib.template_init, byref(self._handle), self._memory.data, self._memory.bytes, byref(view), None, core.handle, byref(params))
        self.desc = sized(ffi.TemplateDesc)
        call(lib.template_describe, self._handle, byref(self.desc))
        self.switch = text_of(self.desc.switch_name)

    def _of_format(self, core: Any) -> Any:
        """A template of what the file says to put around messages, and its special tokens; None where it says nothing."""
        before, behind, roles, prompt = ctypes.c_void_p(), ctypes.c_void_p(), "", None
        for role in range(ffi.ROLE_SYSTEM, ffi.ROLE_TOOL + 1):
            if lib.chat_format(core.handle, role, byref(before), byref(behind), None):
                continue
            name, prefix, suffix = lib.role_name(role).decode(), _quoted(text_of(before.value)), _quoted(text_of(behind.value))
            roles += f"{{%- {'elif' if roles else 'if'} m.role == '{name}' %}}{{{{ {prefix} }}}}{{{{ m.content }}}}{{{{ {suffix} }}}}"
            if role == ffi.ROLE_ASSISTANT:
                prompt, self.stops = prefix, [s for s in [text_of(behind.value)] if s]
        if prompt is None:
            return None
        text = ("{{ bos_token }}{%- for m in messages -%}{%- if m.content is not string -%}{{ raise_exception('a message has no text as its content') }}{%- endif -%}" + roles
                + "{%- else -%}{{ raise_exception('the model was not trained for messages of role ' + m.role) }}{%- endif -%}{%- endfor -%}"
                + "{%- if add_generation_prompt -%}{{ " + prompt + " }}{%- endif -%}").encode()
        room, n = growing(64 << 10, ctypes.create_string_buffer, lambda room, cap, n, err: lib.template_compile(text, len(text), b"chat format", room, cap, n, err))
        bos, one, scratch = core.desc.bos_id, (ctypes.c_int32 * 4)(), ctypes.create_string_buffer(1 << 16)
        begins = lib.tokenize(core.handle, b"", 0, ffi.ADD_SPECIAL, scratch, len(scratch), one, 4, byref(ctypes.c_size_t()), None) == ffi.OK and bos >= 0 and one[0] == bos
        tokens = json.dumps({"bos_token": core.piece(bos)[0].decode() if begins else ""}).encode()
        return ctypes.create_string_buffer(room.raw[:n], n), ctypes.create_string_buffer(tokens, len(tokens))

    def render(self, conversation: dict) -> str:
        data, out = json.dumps(conversation, ensure_ascii=False).encode("utf-8", "replace"), sized(ffi.Rendered)
        now = int(time.time()) + time.localtime().tm_gmtoff
        call(lib.template_render, self._handle, data, len(data), now, byref(out))
        self.text_bytes = out.text_bytes
        return text_of(out.text, out.text_bytes)

    def tokens(self, held: list[int]) -> tuple[list[int], int]:
        """What was rendered last as tokens, and how many of `held` it begins with."""
        scratch, keep = ctypes.c_size_t(), ctypes.c_size_t()
        call(lib.tokenize_need, self.core.handle, self.text_bytes, byref(scratch))
        work, before = ctypes.create_string_buffer(scratch.value or 1), (ctypes.c_int32 * max(len(held), 1))(*held)
        out, n = growing(self.text_bytes // 2 + 64, lambda cap: (ctypes.c_int32 * cap)(), lambda room, cap, n, err: lib.template_tokens(
            self._handle, before if held else None, len(held), work, scratch.value, room, cap, n, byref(keep), err))
        return out[:n], keep.value


class Answer:
    """Takes an answer apart while it comes: events are (kind, text, id)."""

    def __init__(self, template: Template, tools: str):
        self._template, self.tools, self.events = template, tools.encode(), []
        self._memory, self._handle = Memory(need(lib.answer_need, CALL_BYTES)), ctypes.c_void_p()
        call(lib.answer_init, byref(self._handle), self._memory.data, self._memory.bytes, template._handle, CALL_BYTES)

        def hear(_user, event):
            e = event.contents
            self.events.append((e.kind, text_of(e.text, e.text_bytes), text_of(e.id, e.id_bytes) if e.id else ""))

        self._hear = ffi.Answer(hear)
        # What the prompt has opened is seen by what a letter would be.
        self._begin()
        self.feed(b"x")
        self.end()
        self.reasons = any(kind == ffi.ANSWER_REASONING for kind, _, _ in self.take())
        self._begin()

    def _begin(self) -> None:
        call(lib.answer_begin, self._handle, self.tools, len(self.tools), self._hear, None)

    def is_mark(self, data: bytes) -> bool:
        out = ctypes.c_uint32()
        call(lib.answer_is_mark, self._handle, data, len(data), byref(out))
        return bool(out.value)

    def feed(self, data: bytes) -> None:
        call(lib.answer_feed, self._handle, data, len(data))

    def end(self) -> None:
        call(lib.answer_end, self._handle)

    def take(self) -> list[tuple[int, str, str]]:
        events, self.events = self.events, []
        return events


class _Lent:
    """The session that was given, or one of the model's own for as long as an answer takes."""

    def __init__(self, model: Any, session: Any, n: int = 1):
        self.model, self.given, self.own, self.n = model, session, None, n

    def __enter__(self) -> Any:
        if self.given is not None:
            if self.given.params.n_sequences < self.n:
                raise _bad(f"n is {self.n}: the session has {self.given.params.n_sequences} sequences")
            return self.given
        self.own = self.model._lend(self.n)
        return self.own

    def __exit__(self, *_: Any) -> None:
        if self.own is not None:
            self.model._take_back(self.own)


def _bad(why: str) -> BadArgument:
    return BadArgument(why, ffi.BAD_ARG, "LINNET_BAD_ARG")


def _stops(stop: Any) -> list[str]:
    return [s for s in strings_of(stop, "stop") if s]


def _check(model: Any, session: Any, sampling: dict, name: str) -> None:
    if session is not None and getattr(session, "_core", None) is not model._core():
        raise _bad(f"session: {session!r} is no session of this model")
    unknown = set(sampling) - SAMPLING_NAMES - {"grammar", "regex", "choices", "banned", "ignore_eos"}
    if unknown:
        raise TypeError(f"{name}() has no argument {sorted(unknown)[0]!r}")
    if (seed := sampling.get("seed")) is not None:
        sampling["seed"] = seed_of(seed)


def _usage(prompt: int, cached: int, drawn: int) -> dict:
    return {"prompt_tokens": prompt, "completion_tokens": drawn, "total_tokens": prompt + drawn, "prompt_tokens_details": {"cached_tokens": cached}}


def _continue(session: Any, ids: list[int], keep: int | None = None) -> int:
    """Makes sequence 0 these tokens, keeping what it has of them; the last one is computed for its logits. How many were there."""
    n = session._keep(ids, keep)
    session.prefill(ids[n:])
    return n


def _logprob(core: Any, token: int, value: float) -> dict:
    data = core.piece(token)[0]
    return {"token": data.decode("utf-8", "replace"), "logprob": max(value, -9999.0), "bytes": list(data), "id": token}


def _logprobs(core: Any, tokens: list[int], values: list) -> dict:
    """As OpenAI's chat has them, and linnet-server."""
    return {"content": [{**_logprob(core, token, value), "top_logprobs": [_logprob(core, *one) for one in top]} for token, (value, top) in zip(tokens, values)], "refusal": None}


def _older_logprobs(core: Any, tokens: list[int], values: list) -> dict:
    """As its completions have them: arrays beside each other."""
    text = [core.piece(token)[0].decode("utf-8", "replace") for token in tokens]
    return {"tokens": text, "token_logprobs": [max(value, -9999.0) for value, _ in values],
            "top_logprobs": [{core.piece(token)[0].decode("utf-8", "replace"): value for token, value in top} for _, top in values]}


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _bad(f"{name} must be a whole number from {least} to {most}, not {value!r}")
    return value


def _settled(core: Any, generation: Any, banned: list[bytes]) -> Iterator[int]:
    """Indices of a generation's tokens, each when no banned string can take it back any more."""
    told, ended = 0, False
    while not ended:
        ended = next(generation, None) is None
        pieces = [core.piece(token)[0] for token in generation.tokens[told:]]
        held, n = 0 if ended else _may_begin(b"".join(pieces), banned), len(pieces)
        while held > 0:
            n -= 1
            held -= len(pieces[n])
        yield from range(told, told + n)
        told += n


def complete(model, prompt, /, *, max_tokens, stop, stream, logprobs, session, **sampling):
    _check(model, session, sampling, "complete")
    core = model._core()
    if logprobs is not None:
        _whole(logprobs, "logprobs", 0, MOST_LOGPROBS)
    if not isinstance(prompt, (str, bytes)) and not hasattr(prompt, "__iter__"):
        raise _bad(f"prompt must be text or token ids, not {prompt!r}")
    ids = model.tokenize(prompt, add_bos=True) if isinstance(prompt, (str, bytes)) else list(prompt)
    if not ids:
        raise _bad("the prompt has no tokens")
    head = {"id": f"cmpl-{uuid.uuid4().hex}", "object": "text_completion", "created": int(time.time()), "model": model.path}

    def chunks():
        with _Lent(model, session) as lent:
            cached = _continue(lent, ids)
            generation = lent.generate(max_tokens=max_tokens, stop=stop, logprobs=logprobs, **{"temperature": 0.0, **sampling})
            told = 0

            def of_those():
                nonlocal told
                first, told = told, len(generation.tokens)
                return None if logprobs is None else _older_logprobs(core, generation.tokens[first:], generation.logprobs[first:])

            if not stream:
                text = generation.text()
                yield Result.of({**head, "choices": [{"index": 0, "text": text, "logprobs": of_those(), "finish_reason": generation.finish_reason}],
                                 "usage": _usage(len(ids), cached, len(generation.tokens))})
                return
            for piece in generation:
                if piece.text:
                    yield Result.of({**head, "choices": [{"index": 0, "text": piece.text, "logprobs": of_those(), "finish_reason": None}]})
            yield Result.of({**head, "choices": [{"index": 0, "text": "", "logprobs": of_those(), "finish_reason": generation.finish_reason}],
                             "usage": _usage(len(ids), cached, len(generation.tokens))})

    return chunks() if stream else next(chunks())


def _choice(tools: list, choice: Any) -> tuple[bool, str | None]:
    """Whether a call must come, and the name of the only tool that may."""
    if choice in ("auto", None):
        return False, None
    if choice == "required":
        return True, None
    name = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if name is None or all(t.get("function", t).get("name") != name for t in tools):
        raise _bad(f"tool_choice: {choice!r} is none of auto, required, none and a tool that is there")
    return True, name


def _calls_grammar(model, template: Template, tools: str, required: bool, tool: str | None, parallel: bool) -> Grammar:
    rules = sized(ffi.CallRules)
    rules.choice, rules.parallel, rules.flags = int(required), int(parallel), ffi.GRAMMAR_ANY_FORMAT
    kept = tool.encode() if tool else None
    rules.tool = ctypes.cast(ctypes.c_char_p(kept), ctypes.c_void_p).value if kept else None
    data = tools.encode()
    room, n = growing(1 << 16, ctypes.create_string_buffer, lambda room, cap, n, err: lib.grammar_calls(None, template._handle, data, len(data), b"tools", byref(rules), room, cap, n, err))
    return Grammar(model, "", _blob=room.raw[:n])


def _format_schema(response_format: Any, schema: Any) -> str | None:
    if schema is not None:
        return schema_text(schema)
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    if response_format is None or kind == "text":
        return None
    if hasattr(response_format, "model_json_schema"):
        return schema_text(response_format)
    if kind == "json_object":
        return '{"type":"object"}' if "schema" not in response_format else schema_text(response_format["schema"])
    if kind == "json_schema":
        inner = response_format.get("json_schema", response_format)
        if not isinstance(inner, dict) or "schema" not in inner:
            raise _bad("response_format: json_schema has no schema")
        return schema_text(inner["schema"])
    raise _bad(f"response_format: {response_format!r} is none of text, json_object and json_schema")


def _messages(messages: Any) -> list[dict]:
    """Messages as templates know them, as linnet-server makes them: text alone, a system message for a developer's, calls' arguments as values, tools' names beside their results."""
    if isinstance(messages, (str, bytes, dict)) or not hasattr(messages, "__iter__"):
        raise _bad('messages must be a list of messages, such as [{"role": "user", "content": "Hello!"}]')
    made, names = [], {}
    for i, message in enumerate(messages):
        if not hasattr(message, "keys") or not isinstance(message.get("role"), str):
            raise _bad(f"messages[{i}] must be a dict with a role and a content")
        one = {k: v for k, v in dict(message).items() if v is not None}
        one["role"] = {"developer": "system", "function": "tool"}.get(one["role"], one["role"])
        content = one.get("content", "")
        if isinstance(content, (list, tuple)):
            text = ""
            for part in content:
                kind = part.get("type") if isinstance(part, dict) else None
                told = part if isinstance(part, str) else part.get("refusal" if kind == "refusal" else "text") if kind in ("text", "input_text", "output_text", "refusal") else None
                if not isinstance(told, str):
                    raise _bad(f"messages[{i}].content has a part of type {kind!r}: this model takes text alone")
                text += told
            content = text
        if not isinstance(content, str):
            raise _bad(f"messages[{i}].content must be text, or a list of parts of type text")
        one["content"] = content
        if one.get("tool_calls"):
            one["tool_calls"] = [_call(call, i, names) for call in one["tool_calls"]]
        else:
            one.pop("tool_calls", None)
        if one["role"] == "tool" and "name" not in one and one.get("tool_call_id") in names:
            one["name"] = names[one["tool_call_id"]]
        made.append(one)
    if not made:
        raise _bad("messages must not be empty")
    return made


def _call(call: Any, i: int, names: dict) -> dict:
    function = dict(call["function"]) if hasattr(call, "keys") and hasattr(call.get("function"), "keys") else {}
    if not isinstance(function.get("name"), str):
        raise _bad(f"messages[{i}].tool_calls: a call has no function with a name")
    if isinstance(function.get("arguments"), str):
        try:
            function["arguments"] = json.loads(function["arguments"].strip() or "{}")
        except ValueError:
            raise _bad(f"messages[{i}].tool_calls: the arguments of a call are no JSON") from None
    names[call.get("id")] = function["name"]
    return {**call, "function": function}


def chat(model, messages, /, *, tools, tool_choice, parallel_tool_calls, response_format, schema, stream, n, logprobs, top_logprobs, max_tokens, stop, reasoning, template, session, **sampling):
    if "max_completion_tokens" in sampling:  # the API's newer name
        newer = sampling.pop("max_completion_tokens")
        if newer is not None and max_tokens is not None:
            raise _bad("max_tokens does not go with max_completion_tokens")
        max_tokens = newer if newer is not None else max_tokens
    _check(model, session, sampling, "chat")
    max_tokens = length_of(max_tokens)
    _whole(n, "n", 1, MOST_CHOICES)
    _whole(top_logprobs or 0, "top_logprobs", 0, MOST_LOGPROBS)
    if top_logprobs and not logprobs:
        raise _bad("top_logprobs goes with logprobs alone")
    core, given = model._core(), session
    messages = _messages(messages)
    conversation: dict[str, Any] = dict(template or {})
    wants = _format_schema(response_format, schema)
    with_tools = bool(tools) and tool_choice != "none"
    if with_tools and wants is not None:
        raise _bad("response_format does not go with tools")
    if not tools and tool_choice not in ("auto", "none", None):
        raise _bad("tool_choice needs tools")
    if (with_tools or wants is not None) and any(sampling.get(k) is not None for k in ("grammar", "regex", "choices")):
        raise _bad("one of tools, schema, response_format, grammar, regex and choices may be given")
    required, tool = _choice(tools, tool_choice) if with_tools else (False, None)
    conversation.update(messages=messages, add_generation_prompt=True)
    if with_tools:
        conversation["tools"] = list(tools)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion.chunk", "created": int(time.time()), "model": model.path}
    choices: list[_Choice] = []
    usage: dict = {}

    def answer() -> Iterator[Result]:
        with _Lent(model, given, n) as session:
            made = session._template = getattr(session, "_template", None) or Template(core)
            if made.switch and reasoning is not None and made.switch not in conversation:
                conversation[made.switch] = json.loads(text_of(made.desc.switch_on if reasoning else made.desc.switch_off))
            if with_tools and not made.desc.calls:
                raise Unsupported("the model's chat template has no tool calls that are known", ffi.UNSUPPORTED, "LINNET_UNSUPPORTED")
            made.render(conversation)
            ids, keep = made.tokens(session.tokens())
            tools_text = json.dumps(list(tools), ensure_ascii=False) if with_tools else ""
            held, grammar = {}, None
            if with_tools:
                key = ("calls", json.dumps([tools, required, tool, parallel_tool_calls]))
                grammar = session._grammars.get(key) or session._grammars.setdefault(key, _calls_grammar(model, made, tools_text, required, tool, parallel_tool_calls))
            elif wants is not None:
                grammar = session._grammar(wants, None, None, None)
            else:
                held = {k: sampling[k] for k in ("grammar", "regex", "choices") if k in sampling}
            ends = {k: sampling[k] for k in ("banned", "ignore_eos") if k in sampling}
            drawing = {"temperature": 0.0, **{k: v for k, v in sampling.items() if k in SAMPLING_NAMES}}
            banned = [one.encode() for one in strings_of(sampling.get("banned"), "banned")]
            choices.extend(_Choice(core, Answer(made, tools_text), _stops(stop) + made.stops, i, stream, logprobs) for i in range(n))
            cached = _continue(session, ids, keep)
            for one in choices[1:]:
                session.fork(one.index)

            def parts(one: _Choice) -> Iterator[dict]:
                """What a stream says of a choice, choice by choice as the API has them."""
                seq, left, more = one.index, max_tokens, True
                waits = wants is not None and one.answer.reasons
                one.plain = wants is not None and not waits
                while more:
                    seeded = {**drawing, "seed": (drawing.get("seed") or 0) + seq} if one.n == 0 else {}  # later the numbers go on
                    generation = session.generate(max_tokens=left, seq=seq, logprobs=(top_logprobs or 0) if logprobs else None, **held, **ends, **seeded)
                    if with_tools:  # behind what the prompt has opened
                        call(lib.grammar_begin, session._handle, seq, grammar._handle, made._handle)
                        session._set[seq] = grammar
                    elif grammar is not None and not waits:
                        session.hold_to(grammar, seq)
                    more, begin = False, session.length(seq)
                    for i in _settled(core, generation, banned):
                        if logprobs:
                            one.drawn.append((generation.tokens[i], generation.logprobs[i]))
                        yield from one.feed(generation.tokens[i])
                        if one.certain.stopped is not None:
                            break
                        if waits and one.reasoned:  # from here on the grammar holds the content
                            waits, more = False, True
                            session.truncate(begin + i + 1, seq)
                            one.plain = True
                            break
                    one.reason = generation.finish_reason or "stop"
                    if more and left is not None:
                        left -= one.n
                        if left < 1:
                            one.reason, more = "length", False
                    if more:
                        last = session.tokens(seq)[-1:]
                        session.truncate(session.length(seq) - 1, seq)
                        session.prefill(last, seq)
                yield from one.end()

            for one in choices:
                yield one.chunk({"role": "assistant", "content": ""})
            going = [parts(one) for one in choices]
            while going:  # they take turns
                for turn in list(going):
                    part = next(turn, None)
                    if part is None:
                        going.remove(turn)
                    else:
                        yield part
            usage.update(_usage(len(ids), cached, sum(one.n for one in choices)))

    def chunks() -> Iterator[Result]:
        held = None  # an end, of which the last one has the usage
        for part in answer():
            if held is not None:
                yield held
                held = None
            made = Result.of({**head, "choices": [part]})
            if part["finish_reason"] is None:
                yield made
            else:
                held = made
        held["usage"] = Result.of(usage)
        yield held

    if stream:
        return chunks()
    for _ in answer():
        pass
    return Result.of({**head, "object": "chat.completion", "choices": [one.whole() for one in choices], "usage": usage})


class _Choice:
    """Tokens of an answer to what a stream says of them, and to the whole message."""

    def __init__(self, core: Any, answer: Answer, stops: list[str], index: int, streams: bool, logprobs: bool):
        self.core, self.answer, self.certain, self.index, self.streams = core, answer, CertainText(stops), index, streams
        self.plain = False  # all of it is content
        self.n, self.reasoned, self.lost = 0, False, False
        self.reason = "stop"
        self.content, self.reasoning, self.calls = "", "", []
        self.drawn: list[tuple[int, Any]] | None = [] if logprobs else None  # with logarithms, those that were not told yet

    def feed(self, token: int) -> list[dict]:
        self.n += 1
        data, kind = self.core.piece(token)
        if kind & ffi.TOKEN_SPECIAL and (self.plain or not self.answer.is_mark(data)):
            return []  # it stands for no text
        return self._put(self.certain.feed(data))

    def end(self) -> list[dict]:
        parts = self._put(self.certain.feed(b"", True))
        self.answer.end()
        parts += self._events()
        if self.certain.stopped is not None:
            self.reason = "stop"
        if self.calls and self.reason == "stop":
            self.reason = "tool_calls"
        return [*parts, self.chunk({}, self.reason)]

    def chunk(self, delta: dict, finish: str | None = None) -> dict:
        return {"index": self.index, "delta": delta, "logprobs": self._told() if self.streams else None, "finish_reason": finish}

    def whole(self) -> dict:
        message: dict[str, Any] = {"role": "assistant", "content": self.content or (None if self.calls else "")}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = self.calls
        return {"index": self.index, "message": message, "logprobs": self._told(), "finish_reason": self.reason}

    def _told(self) -> dict | None:
        if self.drawn is None or (self.streams and not self.drawn):
            return None
        drawn, self.drawn = self.drawn, []
        return _logprobs(self.core, [token for token, _ in drawn], [values for _, values in drawn])

    def _put(self, text: str) -> list[dict]:
        if not text:
            return []
        if self.plain:  # JSON that was asked for may look like a call
            self.content += text
            return [self.chunk({"content": text})]
        self.answer.feed(text.encode())
        return self._events()

    def _events(self) -> list[dict]:
        parts = []
        for kind, text, id_ in self.answer.take():
            if kind == ffi.ANSWER_REASONING:
                self.reasoning += text
                parts.append(self.chunk({"reasoning_content": text}))
            elif kind == ffi.ANSWER_CONTENT:
                if self.lost and self.streams:
                    continue  # the text of a call that was cut, of which a stream has had a part
                self.content += text
                parts.append(self.chunk({"content": text}))
            elif kind == ffi.ANSWER_CALL:
                self.calls.append({"id": id_ or f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": {"name": text, "arguments": ""}})
                parts.append(self.chunk({"tool_calls": [{"index": len(self.calls) - 1, **self.calls[-1], "function": dict(self.calls[-1]["function"])}]}))
            elif kind == ffi.ANSWER_ARGUMENTS:
                self.calls[-1]["function"]["arguments"] += text
                parts.append(self.chunk({"tool_calls": [{"index": len(self.calls) - 1, "function": {"arguments": text}}]}))
            elif kind == ffi.ANSWER_CALL_LOST:
                self.lost = True
                if not self.streams:
                    self.calls.pop()
            elif kind == ffi.ANSWER_REASONED:
                self.reasoned = True
        return parts
