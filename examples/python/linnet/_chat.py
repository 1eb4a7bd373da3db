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
from ._session import SAMPLING_NAMES, Grammar, schema_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

CALL_BYTES = 64 << 10


class Result(dict):
    """A dict whose items are attributes too: answer.choices[0].message.content."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @classmethod
    def of(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return cls({k: cls.of(v) for k, v in value.items()})
        return [cls.of(v) for v in value] if isinstance(value, list) else value


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
        n = len(self.held)
        if not last:
            for stop in self.stops:
                for k in range(min(len(stop) - 1, n), 0, -1):
                    if stop.startswith(self.held[-k:]):
                        n = min(n, len(self.held) - k)
                        break
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
        self._answer = ctypes.c_void_p()
        self._answer_memory = Memory(need(lib.answer_need, CALL_BYTES))
        call(lib.answer_init, byref(self._answer), self._answer_memory.data, self._answer_memory.bytes, self._handle, CALL_BYTES)

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
        self.template, self.tools, self.events = template, tools.encode(), []

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
        call(lib.answer_begin, self.template._answer, self.tools, len(self.tools), self._hear, None)

    def is_mark(self, data: bytes) -> bool:
        out = ctypes.c_uint32()
        call(lib.answer_is_mark, self.template._answer, data, len(data), byref(out))
        return bool(out.value)

    def feed(self, data: bytes) -> None:
        call(lib.answer_feed, self.template._answer, data, len(data))

    def end(self) -> None:
        call(lib.answer_end, self.template._answer)

    def take(self) -> list[tuple[int, str, str]]:
        events, self.events = self.events, []
        return events


class _Lent:
    """The session that was given, or one of the model's own for as long as an answer takes."""

    def __init__(self, model: Any, session: Any):
        self.model, self.given, self.own = model, session, None

    def __enter__(self) -> Any:
        if self.given is not None:
            return self.given
        self.own = self.model._lend()
        return self.own

    def __exit__(self, *_: Any) -> None:
        if self.own is not None:
            self.model._take_back(self.own)


def _stops(stop: Any) -> list[str]:
    return [stop] if isinstance(stop, str) else [s for s in stop or [] if s]


def _check(sampling: dict, name: str) -> None:
    unknown = set(sampling) - SAMPLING_NAMES - {"grammar", "regex", "choices", "banned", "ignore_eos"}
    if unknown:
        raise TypeError(f"{name}() has no argument {sorted(unknown)[0]!r}")


def _usage(prompt: int, cached: int, drawn: int) -> dict:
    return {"prompt_tokens": prompt, "completion_tokens": drawn, "total_tokens": prompt + drawn, "prompt_tokens_details": {"cached_tokens": cached}}


def _continue(session: Any, ids: list[int]) -> int:
    """Makes sequence 0 these tokens, keeping what it has of them; the last one is computed for its logits. How many were there."""
    held = session.tokens()
    n = 0
    for a, b in zip(held, ids):
        if a != b:
            break
        n += 1
    n = min(n, len(ids) - 1)
    session.hold_to(None)
    session.truncate(n)
    session.prefill(ids[n:])
    return n


def complete(model, prompt, *, max_tokens, stop, stream, session, **sampling):
    _check(sampling, "complete")
    ids = model.tokenize(prompt, add_bos=True) if isinstance(prompt, (str, bytes)) else list(prompt)
    if not ids:
        raise BadArgument("the prompt has no tokens", ffi.BAD_ARG, "LINNET_BAD_ARG")
    head = {"id": f"cmpl-{uuid.uuid4().hex}", "object": "text_completion", "created": int(time.time()), "model": model.path}

    def chunks():
        with _Lent(model, session) as lent:
            cached = _continue(lent, ids)
            generation = lent.generate(max_tokens=max_tokens, stop=stop, **{"temperature": 0.0, **sampling})
            for piece in generation:
                if piece.text:
                    yield Result.of({**head, "choices": [{"index": 0, "text": piece.text, "logprobs": None, "finish_reason": None}]})
            yield Result.of({**head, "choices": [{"index": 0, "text": "", "logprobs": None, "finish_reason": generation.finish_reason}],
                             "usage": _usage(len(ids), cached, len(generation.tokens))})

    if stream:
        return chunks()
    got = list(chunks())
    last = got[-1]
    last["choices"][0]["text"] = "".join(c["choices"][0]["text"] for c in got)
    return last


def _choice(tools: list, choice: Any) -> tuple[bool, str | None]:
    """Whether a call must come, and the name of the only tool that may."""
    if choice in ("auto", None):
        return False, None
    if choice == "required":
        return True, None
    name = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if name is None or all(t.get("function", t).get("name") != name for t in tools):
        raise BadArgument(f"tool_choice: {choice!r} is none of auto, required, none and a tool that is there", ffi.BAD_ARG, "LINNET_BAD_ARG")
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
        return schema_text(response_format["json_schema"]["schema"])
    raise BadArgument(f"response_format: {response_format!r} is none of text, json_object and json_schema", ffi.BAD_ARG, "LINNET_BAD_ARG")


def chat(model, messages, *, tools, tool_choice, parallel_tool_calls, response_format, schema, stream, max_tokens, stop, reasoning, template, session, **sampling):
    _check(sampling, "chat")
    core, given = model._core(), session
    messages = [dict(m) for m in messages]
    conversation: dict[str, Any] = dict(template or {})
    for message in messages:  # arguments as values, which templates write their own way
        if message.get("tool_calls"):
            message["tool_calls"] = [dict(c) for c in message["tool_calls"]]
            for one in message["tool_calls"]:
                f = one["function"] = dict(one["function"])
                if isinstance(f.get("arguments"), str):
                    try:
                        f["arguments"] = json.loads(f["arguments"] or "{}")
                    except ValueError:
                        raise BadArgument("messages: the arguments of a call are no JSON", ffi.BAD_ARG, "LINNET_BAD_ARG") from None
    wants = _format_schema(response_format, schema)
    with_tools = bool(tools) and tool_choice != "none"
    if with_tools and wants is not None:
        raise BadArgument("response_format does not go with tools", ffi.BAD_ARG, "LINNET_BAD_ARG")
    required, tool = _choice(tools, tool_choice) if with_tools else (False, None)
    conversation.update(messages=messages, add_generation_prompt=True)
    if with_tools:
        conversation["tools"] = list(tools)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion.chunk", "created": int(time.time()), "model": model.path}

    def chunk(delta: dict, finish: str | None = None, **more: Any) -> Result:
        return Result.of({**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], **more})

    def chunks() -> Iterator[Result]:
        with _Lent(model, given) as session:
            made = session._template = getattr(session, "_template", None) or Template(core)
            if made.switch and reasoning is not None and made.switch not in conversation:
                conversation[made.switch] = json.loads(text_of(made.desc.switch_on if reasoning else made.desc.switch_off))
            if with_tools and not made.desc.calls:
                raise Unsupported("the model's chat template has no tool calls that are known", ffi.UNSUPPORTED, "LINNET_UNSUPPORTED")
            made.render(conversation)
            ids, _ = made.tokens(session.tokens())
            answer = Answer(made, json.dumps(list(tools), ensure_ascii=False) if with_tools else "")
            cached = _continue(session, ids)
            held, waits = {}, False
            if with_tools:
                key = ("calls", json.dumps([tools, required, tool, parallel_tool_calls]))
                grammar = session._grammars.get(key) or session._grammars.setdefault(
                    key, _calls_grammar(model, made, json.dumps(list(tools), ensure_ascii=False), required, tool, parallel_tool_calls))
            elif wants is not None:
                grammar = session._grammar(wants, None, None, None)
                waits = answer.reasons
            else:
                grammar = None
                held = {k: sampling[k] for k in ("grammar", "regex", "choices") if k in sampling}
            drawing = {"temperature": 0.0, **{k: v for k, v in sampling.items() if k not in ("grammar", "regex", "choices")}}
            parts = _Parts(core, answer, _stops(stop) + made.stops, plain=grammar is not None and not with_tools and not waits)
            yield chunk({"role": "assistant", "content": ""})
            left, more = max_tokens, True
            reason = "stop"
            while more:
                generation = session.generate(max_tokens=left, **held, **(drawing if parts.n == 0 else {}))
                if with_tools:  # behind what the prompt has opened
                    call(lib.grammar_begin, session._handle, 0, grammar._handle, made._handle)
                    session._set[0] = grammar
                elif grammar is not None and not waits:
                    session.hold_to(grammar)
                more = False
                for piece in generation:
                    n_before = session.length() - len(piece.tokens)
                    for i, token in enumerate(piece.tokens):
                        for delta in parts.feed(token):
                            yield chunk(delta)
                        if parts.certain.stopped is not None:
                            break
                        if waits and parts.reasoned:  # from here on the grammar holds the content
                            waits, more = False, True
                            session.truncate(n_before + i + 1)
                            parts.plain = True
                            break
                    if more or parts.certain.stopped is not None:
                        break
                if more:
                    if left is not None:
                        left = max(left - parts.n, 1)
                    session_last = session.tokens()[-1:]
                    session.truncate(session.length() - 1)
                    session.prefill(session_last)
                reason = generation.finish_reason or "stop"
            for delta in parts.end():
                yield chunk(delta)
            if parts.certain.stopped is not None:
                reason = "stop"
            if parts.n_calls and reason == "stop":
                reason = "tool_calls"
            yield chunk({}, reason, usage=_usage(len(ids), cached, parts.n))

    if stream:
        return chunks()
    content, thought, calls, last = [], [], [], None
    for last in chunks():
        delta = last["choices"][0]["delta"]
        content.append(delta.get("content") or "")
        thought.append(delta.get("reasoning_content") or "")
        for one in delta.get("tool_calls", ()):
            if one["index"] == len(calls):
                calls.append({"id": one["id"], "type": "function", "function": {"name": one["function"]["name"], "arguments": ""}})
            calls[one["index"]]["function"]["arguments"] += one["function"].get("arguments", "")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(content) or (None if calls else "")}
    if any(thought):
        message["reasoning_content"] = "".join(thought)
    if calls:
        message["tool_calls"] = calls
    return Result.of({**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": last["choices"][0]["finish_reason"]}],
                      "usage": last["usage"]})


class _Parts:
    """Tokens to what a stream says of them."""

    def __init__(self, core: Any, answer: Answer, stops: list[str], plain: bool):
        self.core, self.answer, self.certain, self.plain = core, answer, CertainText(stops), plain
        self.n, self.n_calls, self.reasoned = 0, 0, False

    def feed(self, token: int) -> list[dict]:
        self.n += 1
        data, kind = self.core.piece(token)
        if kind & ffi.TOKEN_SPECIAL and (self.plain or not self.answer.is_mark(data)):
            return []  # it stands for no text
        return self._put(self.certain.feed(data))

    def end(self) -> list[dict]:
        deltas = self._put(self.certain.feed(b"", True))
        if not self.plain:
            self.answer.end()
            deltas += self._events()
        return deltas

    def _put(self, text: str) -> list[dict]:
        if not text:
            return []
        if self.plain:  # JSON that was asked for may look like a call
            return [{"content": text}]
        self.answer.feed(text.encode())
        return self._events()

    def _events(self) -> list[dict]:
        deltas = []
        for kind, text, id_ in self.answer.take():
            if kind == ffi.ANSWER_REASONING:
                deltas.append({"reasoning_content": text})
            elif kind == ffi.ANSWER_CONTENT:
                deltas.append({"content": text})
            elif kind == ffi.ANSWER_CALL:
                self.n_calls += 1
                deltas.append({"tool_calls": [{"index": self.n_calls - 1, "id": id_ or f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": {"name": text, "arguments": ""}}]})
            elif kind == ffi.ANSWER_ARGUMENTS:
                deltas.append({"tool_calls": [{"index": self.n_calls - 1, "function": {"arguments": text}}]})
            elif kind == ffi.ANSWER_REASONED:
                self.reasoned = True
        return deltas
