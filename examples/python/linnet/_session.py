"""Sessions: sequences of tokens in a KV cache, what follows them, and how it is drawn."""
from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from ctypes import byref
from typing import NamedTuple

from ._errors import BadArgument, BadState
from ._library import Batch, Memory, call, ffi, fields_of, format_number, growing, lib, need, number_of, on_main_thread, sized, text_of, tokens_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AsyncIterator, Iterable, Iterator

    from ._model import Model

BATCH_NS = 1_000_000  # of an iterator's pieces
_CAP, _TEXT = 1024, 1 << 16
_STOPS = {ffi.STOP_EOS: "stop", ffi.STOP_STRING: "stop", ffi.STOP_GRAMMAR: "stop", ffi.STOP_LENGTH: "length", ffi.STOP_CONTEXT: "length", ffi.STOP_CANCEL: "cancel", ffi.STOP_BANNED: "banned"}
_SAMPLING = {name: kind for name, kind in ffi.Sampling._fields_ if name not in ("size", "n_samplers", "samplers", "n_logit_bias", "bias_tokens", "biases", "dry_breakers")}
SAMPLING_NAMES = frozenset(_SAMPLING) | {"samplers", "logit_bias", "dry_breakers"}


def session_params(context: int | None = None, sequences: int = 1, *, chunk: int | None = None, pool: int | None = None, k_format: str | None = None, v_format: str | None = None,
                   threads: int | None = None, when_full: str | None = None, keep: int | None = None, rollback: int | None = None, logits: int = 1, checkpoints: int | None = None,
                   checkpoint_every: int | None = None, lora_rank: int | None = None):
    params = sized(ffi.SessionParams)
    given = {"n_context": context, "n_sequences": sequences, "n_chunk": chunk, "n_pool": pool, "n_keep": keep, "n_rollback": rollback, "n_logits": logits, "n_checkpoints": checkpoints,
             "checkpoint_every": checkpoint_every, "lora_rank": lora_rank, "n_threads": threads if threads is not None else len(os.sched_getaffinity(0))}
    for name, value in given.items():
        if value is not None:
            if not isinstance(value, int) or not 0 <= value < 1 << 32:
                raise BadArgument(f"{name.removeprefix('n_')} must be a whole number of 0 to {(1 << 32) - 1}, not {value!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
            setattr(params, name, value)
    params.k_format, params.v_format = format_number(k_format, "k_format"), format_number(v_format, "v_format")
    if when_full is not None:
        params.when_full = number_of("FULL", when_full, "when_full")
    return params


def strings_of(given: Any, name: str) -> list[str]:
    """A text, or a list of texts."""
    found = [given] if isinstance(given, str) else list(given) if hasattr(given, "__iter__") else [] if given is None else None
    if found is None or any(not isinstance(s, str) or "\0" in s for s in found):
        raise BadArgument(f"{name} must be a text or a list of texts without a zero byte, not {given!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
    return found


def length_of(max_tokens: Any) -> int | None:
    """None: what is left of the context, which llama.cpp calls -1."""
    if max_tokens is None or max_tokens == -1:
        return None
    if not isinstance(max_tokens, int) or not 1 <= max_tokens < 1 << 32:
        raise BadArgument(f"max_tokens must be a whole number of 1 or more, not {max_tokens!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
    return max_tokens


def seed_of(seed: Any) -> int:
    """-1: a random one, as servers have it."""
    if not isinstance(seed, int) or not -1 <= seed < 1 << 64:
        raise BadArgument(f"seed must be a whole number of 64 bits, or -1 for a random one, not {seed!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
    return int.from_bytes(os.urandom(7), "little") if seed == -1 else seed


def sampling_of(given: dict[str, Any], base: ffi.Sampling | None = None) -> ffi.Sampling:
    """linnet_sampling of keyword arguments; what is not given is the default."""
    s = base
    if s is None:
        s = sized(ffi.Sampling)
        call(lib.sampling_init, byref(s))
    for name, value in given.items():
        if value is None:
            continue
        if name in _SAMPLING:
            if name == "seed":
                value = seed_of(value)
            elif name == "top_k" and value == -1:  # llama.cpp's way to say off
                value = 0
            try:
                setattr(s, name, value)
                if _SAMPLING[name] not in (ctypes.c_float, ctypes.c_double) and getattr(s, name) != value:
                    raise TypeError
            except TypeError:
                raise BadArgument(f"{name}: {value!r} is no number that it may be", ffi.BAD_ARG, "LINNET_BAD_ARG") from None
        elif name == "samplers":
            value = strings_of(value, "samplers")
            if len(value) > 16:
                raise BadArgument("samplers: more than 16", ffi.BAD_ARG, "LINNET_BAD_ARG")
            s.n_samplers = len(value)
            for i, one in enumerate(value):
                s.samplers[i] = number_of("SAMPLER", one, "samplers")
        elif name == "logit_bias":
            if not hasattr(value, "items"):
                raise BadArgument(f"logit_bias must be a dict of token ids and numbers, not {value!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
            if len(value) > 128:
                raise BadArgument("logit_bias: more than 128 tokens", ffi.BAD_ARG, "LINNET_BAD_ARG")
            s.n_logit_bias = len(value)
            for i, (token, bias) in enumerate(value.items()):
                try:
                    s.bias_tokens[i], s.biases[i] = tokens_array([int(token)])[0][0], float(bias)
                except (TypeError, ValueError):
                    raise BadArgument(f"logit_bias: {token!r}: {bias!r} is no token id with a number", ffi.BAD_ARG, "LINNET_BAD_ARG") from None
        elif name == "dry_breakers":
            data = b"".join(str(b).encode() + b"\0" for b in strings_of(value, "dry_breakers"))
            if len(data) > 128:
                raise BadArgument("dry_breakers: more than 128 bytes", ffi.BAD_ARG, "LINNET_BAD_ARG")
            ctypes.memmove(ctypes.addressof(s) + ffi.Sampling.dry_breakers.offset, data.ljust(128, b"\0"), 128)  # an assignment ends at a zero
        else:
            raise TypeError(f"there is no argument {name!r}")
    return s


class Piece(NamedTuple):
    """What an iterator gives: text that became certain and the tokens that were drawn meanwhile, of at most 1 ms. They need not be of each other: text waits for whole characters and for
    stop strings that may have begun."""

    text: str
    tokens: list


class Grammar:
    """Text that answers are held to, compiled. kind: "schema", "gbnf", "regex", "choices", "call" or "text_or_call"."""

    def __init__(self, model: Model, text: str, kind: str = "schema", spaced: bool = False, *, _blob: bytes | None = None):
        self._core = model._core()
        blob = _blob
        if blob is None:
            if not isinstance(text, str):
                raise BadArgument(f"{kind} must be text, not {text!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
            data = text.encode()
            number = number_of("GRAMMAR", kind, "kind") | (ffi.GRAMMAR_SPACED if spaced else 0)
            room, n = growing(1 << 16, ctypes.create_string_buffer, lambda room, cap, n, err: lib.grammar_compile(None, data, len(data), kind.encode(), number, room, cap, n, err))
            blob = room.raw[:n]
        self._memory = Memory(need(lib.grammar_need, self._core.handle, blob, len(blob)))
        self._handle = ctypes.c_void_p()
        call(lib.grammar_init, byref(self._handle), self._memory.data, self._memory.bytes, self._core.handle, blob, len(blob))


def schema_text(schema: Any) -> str:
    """A JSON schema of a dict, its text, or a pydantic model."""
    if isinstance(schema, str):
        return schema
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    return json.dumps(schema, ensure_ascii=False)


class Lora:
    """An adapter (LoRA) beside a model: llama.cpp's GGUF, or a folder as PEFT saves it. Immutable; any number of sessions may use it. info: rank, alpha, n_matrices, bytes, hash, name."""

    def __init__(self, model: Model, path: str | os.PathLike):
        self._core, view = model._core(), ffi.View()
        name = os.fsencode(path)
        if os.path.isdir(path):  # made a GGUF beside nobody
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                made = os.path.join(os.fsencode(folder), b"adapter.gguf")
                params, base = sized(ffi.ConvertParams), os.fsencode(model.path)
                params.base = ctypes.cast(ctypes.c_char_p(base), ctypes.c_void_p).value
                call(lib.convert_file, name, made, byref(params), None)
                self._open(made, view)
        else:
            self._open(name, view)

    def _open(self, name: bytes, view: Any) -> None:
        call(lib.file_map, name, ffi.LOAD_COPY, byref(view))
        try:
            self._memory, self._handle = Memory(need(lib.lora_need, self._core.handle, byref(view))), ctypes.c_void_p()
            call(lib.lora_init, byref(self._handle), self._memory.data, self._memory.bytes, self._core.handle, byref(view))
        finally:
            lib.file_unmap(byref(view))
        desc = sized(ffi.LoraDesc)
        call(lib.lora_info, self._handle, byref(desc))
        self.info = fields_of(desc)


class Generation:
    """An iterator of Pieces. When it has ended: finish_reason ("stop", "length", "cancel", "banned"), stop_string, tokens (all that are in the sequence).

    logprobs, where they were asked for: of each of `tokens` its own and the likeliest ones, as Session.logprobs gives them."""

    def __init__(self, session: Session, seq: int, params: ffi.GenerateParams, kept: Any, stops: list[str], n_logprobs: int | None = None):
        self._session, self._seq, self._params, self._kept, self._stops, self._n_logprobs = session, seq, params, kept, stops, n_logprobs
        self._begun = -1  # the session's count of changes when it began
        self.tokens: list[int] = []
        self.logprobs: list[tuple[float, list[tuple[int, float]]]] | None = None if n_logprobs is None else []
        self.finish_reason: str | None = None
        self.stop_string: str | None = None
        self.end_token: int | None = None  # the end-of-generation token that was drawn; it is not in the sequence
        self._batch = Batch()
        self._tokens, self._text = (ctypes.c_int32 * _CAP)(), ctypes.create_string_buffer(_TEXT)
        self._batch.tokens, self._batch.text = ctypes.cast(self._tokens, ctypes.POINTER(ctypes.c_int32)), ctypes.addressof(self._text)
        self._batch.cap, self._batch.text_cap = _CAP if n_logprobs is None else 1, _TEXT  # one: its row of logits is still there
        self._batch.last.size = ctypes.sizeof(ffi.Generated)

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        if self.finish_reason is not None:
            raise StopIteration
        s, b = self._session, self._batch
        with s._working() as handle:
            if self._begun < 0:
                call(lib.generate_begin, handle, self._seq, byref(self._params))
                self._begun = s._changes[self._seq]
            elif s._changes[self._seq] != self._begun:
                raise BadState("another call has changed the sequence: its generation has ended", ffi.BAD_STATE, "LINNET_BAD_STATE")
            left = s._left.value
            s._logits_at += 1
            try:
                call(lib.python_generate, handle, self._seq, BATCH_NS, byref(b), on_main_thread(), byref(s._left))
            except BaseException:
                self._take()
                raise
            text, tokens = self._take()
            if tokens and self.logprobs is not None:
                self.logprobs.append(s.logprobs(self._n_logprobs, tokens[0], seq=self._seq))
            if b.last.why == ffi.STOP_CANCEL and left and not s._cancels_seen():  # of an earlier Ctrl-C
                self._params.max_tokens = max(self._params.max_tokens - len(self.tokens), 1) if self._params.max_tokens else 0
                self._begun, b.n_before = -1, 0
            elif b.last.why:
                self.finish_reason = _STOPS[b.last.why]
                if b.last.why == ffi.STOP_STRING:
                    self.stop_string = self._stops[b.last.stop_index]
                if b.last.why == ffi.STOP_EOS:
                    self.end_token = b.last.eog
                s._changed(self._seq)
        if not text and not tokens:
            return self.__next__()
        return Piece(text, tokens)

    def _take(self) -> tuple[str, list[int]]:
        b = self._batch
        tokens = self._tokens[:b.n_tokens]
        if b.n_back:
            del self.tokens[-b.n_back:]
            if self.logprobs:
                del self.logprobs[-b.n_back:]
        self.tokens += tokens
        data = ctypes.string_at(b.text, b.n_text) if b.n_text else b""
        if b.rest:
            data += ctypes.string_at(b.last.utf8, b.last.n_bytes)
        b.n_tokens = b.n_back = b.rest = b.n_text = 0
        return data.decode("utf-8", "replace"), tokens

    def text(self) -> str:
        """All the text that is still to come."""
        return "".join(piece.text for piece in self)


class _Working:
    """Holds a session for a call: one thread at a time, and not a closed one."""

    __slots__ = ("session",)

    def __init__(self, session: Session):
        self.session = session

    def __enter__(self):
        s = self.session
        s._lock.acquire()
        if s._handle is None:
            s._lock.release()
            raise BadState("the session is closed", ffi.BAD_STATE, "LINNET_BAD_STATE")
        return s._handle

    def __exit__(self, *_):
        self.session._lock.release()


class Session:
    """Sequences of tokens on a model: the KV cache and buffers of one conversation or several.

    context: positions to hold (default: the model's, at most 4096). sequences: how many, 1 to 64; every call takes `seq`, 0 by default. chunk: rows computed at a time in prefill (256).
    pool: positions that all sequences share. k_format, v_format: of the KV cache ("i8", "f16", ...). threads: that compute; None: all CPUs of this process. when_full: "stop", "drop_oldest",
    "sinks", "heavy_hitters" or "snapkv", with `keep` tokens that stay. rollback: tokens that truncate() can take back where layers drop what they no longer see. logits: rows of logits that
    prefill keeps. lora_rank: the ranks of a sequence's adapters together, each rounded up to 16; 0: none.

    Threads may share it: one call at a time runs. Ctrl-C on the main thread ends a call at once (KeyboardInterrupt); cancel() does so from anywhere."""

    def __init__(self, model: Model, context: int | None = None, **more: Any):
        self._core = model._core()
        self.model = model
        self._lock = threading.RLock()
        self._handle: ctypes.c_void_p | None = None
        self._fini, self._cancel, self._finalizing = lib.session_fini, lib.cancel, sys.is_finalizing
        self._left = ctypes.c_int()
        self._changes = [0] * 64  # of each sequence: calls that end a generation
        self._logits_at = 0       # calls that end logits
        self._asked = self._seen = 0
        self._grammars: dict[Any, Grammar] = {}
        self._set: dict[int, Grammar] = {}
        self._loras: dict[int, list[Lora]] = {}
        params = session_params(context=context, **more)
        self._memory = Memory(need(lib.session_need, self._core.handle, byref(params)))
        handle = ctypes.c_void_p()
        call(lib.session_init, byref(handle), self._memory.data, self._memory.bytes, self._core.handle, byref(params))
        self._handle = handle
        self.params = sized(ffi.SessionParams)
        call(lib.session_info, handle, byref(self.params))

    # ---- state of the object ----

    def _working(self) -> _Working:
        return _Working(self)

    def _changed(self, seq: int) -> None:
        if isinstance(seq, int) and 0 <= seq < 64:  # others the call refuses
            self._changes[seq] += 1
        self._logits_at += 1

    def _cancels_seen(self) -> bool:
        """Whether cancel() was called since it was last asked."""
        asked, self._seen = self._asked != self._seen, self._asked
        return asked

    @property
    def context(self) -> int:
        """Positions that the session holds."""
        return self.params.n_context

    @property
    def memory(self) -> dict[str, int]:
        """Bytes by purpose; they sum up to what the session takes."""
        found, i, purpose, n = {}, 0, ctypes.c_void_p(), ctypes.c_size_t()
        with self._working() as handle:
            while lib.session_memory(handle, i, byref(purpose), byref(n), None) == ffi.OK:
                found[text_of(purpose.value)] = found.get(text_of(purpose.value), 0) + n.value
                i += 1
        return found

    @property
    def stats(self) -> dict[str, int]:
        """What was computed and how long it took, as linnet_stats has it (times in ns)."""
        out = sized(ffi.Stats)
        with self._working() as handle:
            call(lib.stats_get, handle, byref(out))
        return fields_of(out)

    def length(self, seq: int = 0) -> int:
        """Tokens of the sequence."""
        n = ctypes.c_size_t()
        with self._working() as handle:
            call(lib.length, handle, seq, byref(n))
        return n.value

    def __len__(self) -> int:
        return self.length()

    def __bool__(self) -> bool:
        return True  # an empty one, too

    def tokens(self, seq: int = 0, first: int = 0) -> list[int]:
        """The tokens of the sequence from `first` on."""
        n = ctypes.c_size_t()
        with self._working() as handle:
            call(lib.length, handle, seq, byref(n))
            room = (ctypes.c_int32 * max(n.value, 1))()
            call(lib.tokens, handle, seq, first, room, len(room), byref(n))
        return room[:n.value]

    # ---- computing ----

    def _tokenize(self, prompt: str | bytes | Iterable[int], seq: int) -> Any:
        if isinstance(prompt, (str, bytes)):
            return self.model.tokenize(prompt, add_bos=self.length(seq) == 0)
        return prompt

    def prefill(self, prompt: str | bytes | Iterable[int], seq: int = 0) -> int:
        """Appends tokens (of a text: its own, with a BOS where the sequence is empty) and computes the logits of the last one. How many there were. All or nothing."""
        with self._working() as handle:
            ids, n = tokens_array(self._tokenize(prompt, seq))
            row = sized(ffi.Rows)
            row.seq, row.n_tokens, row.tokens = seq, n, ctypes.cast(ids, ctypes.POINTER(ctypes.c_int32))
            self._changed(seq)
            call(lib.python_prefill, handle, byref(row), 1, on_main_thread(), byref(self._left))
        return n

    def prefill_batch(self, prompts: dict[int, Any]) -> None:
        """prefill() of several sequences at once, {seq: tokens or text}: the weights are read once for all of them."""
        if not hasattr(prompts, "items"):
            raise BadArgument("prefill_batch takes a dict, {seq: tokens or text}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        with self._working() as handle:
            rows, kept = (ffi.Rows * max(len(prompts), 1))(), []
            for row, (seq, prompt) in zip(rows, prompts.items()):
                ids, n = tokens_array(self._tokenize(prompt, seq))
                kept.append(ids)
                row.size, row.seq, row.n_tokens, row.tokens = ctypes.sizeof(ffi.Rows), seq, n, ctypes.cast(ids, ctypes.POINTER(ctypes.c_int32))
                self._changed(seq)
            call(lib.python_prefill, handle, rows, len(prompts), on_main_thread(), byref(self._left))

    def logits(self, back: int = 0, seq: int = 0) -> Any:
        """The logits of the row `back` rows before the last: float32 of shape (n_vocab,), read-only, linnet's own bytes. The array holds the session, and when another call has computed on
        it, using the array raises BadState: copy() keeps it. Needs numpy."""
        from ._logits import logits

        return logits(self, back, seq)

    def logprobs(self, n: int = 0, token: int | None = None, back: int = 0, seq: int = 0) -> tuple[float | None, list[tuple[int, float]]]:
        """Natural logarithms of probabilities as the model has them, before samplers: of `token` (None without one), and the n likeliest as (token, value), the likeliest first."""
        value, ids, values = ctypes.c_float(), (ctypes.c_int32 * max(n, 1))(), (ctypes.c_float * max(n, 1))()
        with self._working() as handle:
            call(lib.logprobs, handle, seq, back, token if token is not None else 0, byref(value) if token is not None else None, n, ids if n else None, values if n else None)
        return (value.value if token is not None else None), list(zip(ids[:n], values[:n]))

    def sampling(self, seq: int = 0, **given: Any) -> dict[str, Any]:
        """Sets how tokens of the sequence are drawn, and begins its random numbers anew; without arguments only says what is set. Names and ranges: linnet_sampling.h (temperature, top_k,
        top_p, min_p, seed, repeat_penalty, logit_bias, samplers, dry_*, xtc_*, mirostat*, ...); what is not given is the default: greedy."""
        with self._working() as handle:
            if given:
                s = sampling_of(given)
                call(lib.sampling_set, handle, seq, byref(s))
            else:
                s = sized(ffi.Sampling)
                call(lib.sampling_get, handle, seq, byref(s))
        found = {name: getattr(s, name) for name in _SAMPLING}
        names = {getattr(ffi, n): n[8:].lower() for n in vars(ffi) if n.startswith("SAMPLER_")}
        found["samplers"] = [names[i] for i in s.samplers[:s.n_samplers]]
        found["logit_bias"] = dict(zip(s.bias_tokens[:s.n_logit_bias], s.biases[:s.n_logit_bias]))
        found["dry_breakers"] = [b.decode("utf-8", "replace") for b in bytes(s)[ffi.Sampling.dry_breakers.offset:][:128].split(b"\0") if b]
        return found

    def decode(self, seq: int = 0) -> int:
        """Draws a token, appends it and computes the next logits."""
        return self._draw(lib.decode, seq, True)

    def sample(self, seq: int = 0) -> int:
        """Draws a token without appending it."""
        return self._draw(lib.sample, seq, False)

    def _draw(self, function: Any, seq: int, computes: bool) -> int:
        token = ctypes.c_int32()
        with self._working() as handle:
            if computes:
                self._changed(seq)
            call(function, handle, seq, byref(token))
        return token.value

    def adapt(self, loras: Iterable[Lora | tuple[Lora, float]], seq: int = 0) -> None:
        """Gives a sequence that holds no tokens these adapters, each alone or with its scale, in place of those that it had; []: none. They stay through truncate(0)."""
        pairs = [one if isinstance(one, tuple) else (one, 1.0) for one in ([loras] if isinstance(loras, Lora) else loras)]
        if any(len(pair) != 2 or not isinstance(pair[0], Lora) for pair in pairs):
            raise BadArgument("adapt takes a list of model.lora(...), each alone or in a pair with its scale", ffi.BAD_ARG, "LINNET_BAD_ARG")
        handles, scales = (ctypes.c_void_p * max(len(pairs), 1))(*[lora._handle for lora, _ in pairs]), (ctypes.c_float * max(len(pairs), 1))(*[scale for _, scale in pairs])
        with self._working() as handle:
            call(lib.lora_set, handle, seq, handles, scales, len(pairs))
            self._loras[seq] = [lora for lora, _ in pairs]  # they must outlive their use

    # ---- generating ----

    def _grammar(self, schema: Any, grammar: Any, regex: str | None, choices: Any) -> Grammar | None:
        given = [(kind, text) for kind, text in (("schema", schema), ("gbnf", grammar), ("regex", regex), ("choices", choices)) if text is not None]
        if not given:
            return None
        if len(given) > 1:
            raise BadArgument("one of schema, grammar, regex and choices may be given", ffi.BAD_ARG, "LINNET_BAD_ARG")
        kind, text = given[0]
        if isinstance(text, Grammar):
            return text
        if kind == "schema":
            text = schema_text(text)
        elif kind == "choices":
            if isinstance(text, str):
                raise BadArgument("choices must be a list of texts", ffi.BAD_ARG, "LINNET_BAD_ARG")
            text = json.dumps(list(text), ensure_ascii=False)
        key = (kind, text)
        found = self._grammars.pop(key, None) or Grammar(self.model, text, kind)
        while len(self._grammars) >= 16:
            self._grammars.pop(next(iter(self._grammars)))
        self._grammars[key] = found  # what was used last is last
        return found

    def hold_to(self, grammar: Grammar | None, seq: int = 0) -> None:
        """From here on what is appended to the sequence is a text of the grammar; None ends that."""
        if grammar is not None and not isinstance(grammar, Grammar):
            raise BadArgument(f"hold_to takes a Grammar or None, not {grammar!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        with self._working() as handle:
            call(lib.grammar_set, handle, seq, grammar._handle if grammar else None)
            if grammar:
                self._set[seq] = grammar  # it must outlive its use
            else:
                self._set.pop(seq, None)

    def generate(self, prompt: str | bytes | Iterable[int] | None = None, *, max_tokens: int | None = None, stop: str | list[str] | None = None, banned: str | list[str] | None = None,
                 ignore_eos: bool = False, schema: Any = None, grammar: str | Grammar | None = None, regex: str | None = None, choices: list[str] | None = None, seq: int = 0,
                 logprobs: int | None = None, **sampling: Any) -> Generation:
        """What follows the sequence (behind `prompt`, which is prefilled first): an iterator of Pieces, drawn while it is asked for more.

        max_tokens: None: what is left of the context. stop: strings that end it, which are not in the text. banned: strings that never come. schema: a JSON schema (dict, text) or a pydantic
        model that the text obeys; grammar: GBNF; regex; choices: one of these texts. logprobs: how many of the likeliest tokens stand beside each token's own logarithm in
        Generation.logprobs, 0: none; then a piece has one token at most. sampling: as in sampling(); where one is given, the others are the defaults."""
        unknown = set(sampling) - SAMPLING_NAMES
        if unknown:
            raise TypeError(f"generate() has no argument {sorted(unknown)[0]!r}")
        most_tokens, stops, bans = length_of(max_tokens), strings_of(stop, "stop"), strings_of(banned, "banned")
        most = min(1024, self._core.desc.n_vocab)
        if logprobs is not None and not (isinstance(logprobs, int) and 0 <= logprobs <= most):
            raise BadArgument(f"logprobs must be 0 to {most}, not {logprobs!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        with self._working() as handle:
            held = self._grammar(schema, grammar, regex, choices)
            if sampling:
                s = sampling_of(sampling)
                call(lib.sampling_set, handle, seq, byref(s))
            if prompt is not None:
                if seq in self._set and held is None:
                    self.hold_to(None, seq)
                self.prefill(prompt, seq)
            if held is not None or seq in self._set:
                self.hold_to(held, seq)
            self._cancels_seen()
            params = sized(ffi.GenerateParams)
            params.max_tokens, params.ignore_eos = most_tokens or 0, int(ignore_eos)
            kept = []
            for name, texts in (("stop", stops), ("banned", bans)):
                pointers = (ctypes.c_char_p * max(len(texts), 1))(*[t.encode() for t in texts])
                kept.append(pointers)
                setattr(params, name, ctypes.cast(pointers, type(getattr(params, name))))
                setattr(params, f"n_{name}", len(texts))
            return Generation(self, seq, params, kept, stops, logprobs)

    async def agenerate(self, prompt: Any = None, **more: Any) -> AsyncIterator[Piece]:
        """generate() for asyncio: it computes on another thread."""
        async for piece in stepwise(await in_thread(self.generate, prompt, **more)):
            yield piece

    # ---- back, copies, state ----

    def truncate(self, keep: int, seq: int = 0) -> None:
        """Keeps the first `keep` tokens."""
        self._rewind(seq, -1, keep)

    def fork(self, to: int, seq: int = 0, keep: int | None = None) -> None:
        """Makes sequence `to` the first `keep` tokens (None: all) of sequence `seq`, without computing or copying anything."""
        if not isinstance(to, int) or not 0 <= to < 64:
            raise BadArgument(f"to must be a sequence of 0 to 63, not {to!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        self._rewind(seq, to, self.length(seq) if keep is None else keep)

    def _keep(self, ids: list[int], keep: int | None = None, anew: int = 1) -> int:
        """Cuts sequence 0 back to what it has of these tokens (keep; None: it looks), but for the last `anew` of them. How many that is."""
        if keep is None:
            keep = 0
            for held, wanted in zip(self.tokens(), ids):
                if held != wanted:
                    break
                keep += 1
        keep = min(keep, len(ids) - anew)
        self.hold_to(None)
        self.truncate(keep)
        return keep

    def _rewind(self, seq: int, to: int, keep: int) -> None:
        if not isinstance(keep, int) or keep < 0:
            raise BadArgument(f"keep must be a whole number of 0 or more, not {keep!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        with self._working() as handle:
            self._changed(to if to >= 0 else seq)
            call(lib.python_rewind, handle, seq, to, keep, on_main_thread(), byref(self._left))
            if to >= 0:
                self._loras[to] = self._loras.get(seq, [])
                if seq in self._set:
                    self._set[to] = self._set[seq]
                else:
                    self._set.pop(to, None)

    def checkpoint(self, seq: int = 0) -> None:
        """Copies the states of layers that have some, so that truncate() can come back here cheaply."""
        with self._working() as handle:
            call(lib.checkpoint, handle, seq)

    def save(self, path: str | os.PathLike | None = None, seq: int = 0) -> bytes | None:
        """The sequence as bytes; with a path, in a file that is replaced at once or not at all (None)."""
        with self._working() as handle:
            if path is not None:
                call(lib.state_save_file, handle, seq, os.fsencode(path))
                return None
            n = ctypes.c_size_t()
            call(lib.state_need, handle, seq, byref(n))
            room = ctypes.create_string_buffer(n.value)
            call(lib.state_save, handle, seq, room, n.value, byref(n))
            return room.raw[:n.value]

    def load(self, state: bytes | bytearray | memoryview | str | os.PathLike, seq: int = 0) -> None:
        """The sequence becomes the saved one, of bytes or a file; nothing is computed."""
        with self._working() as handle:
            self._changed(seq)
            if isinstance(state, (bytes, bytearray, memoryview)):
                data = bytes(state)
                call(lib.state_load, handle, seq, data, len(data))
            else:
                call(lib.state_load_file, handle, seq, os.fsencode(state))

    # ---- end ----

    def cancel(self) -> None:
        """Stops the call that runs on the session (Cancelled; a generation ends with finish_reason "cancel"). Any thread. Where none runs, the next one stops."""
        self._asked += 1
        handle = self._handle
        if handle is not None:
            self._cancel(handle)

    def close(self) -> None:
        """Ends the session and gives its memory back; waits for a call that runs."""
        with self._lock:
            handle, self._handle = self._handle, None
            self._logits_at += 1
            if handle is not None:
                self._fini(handle)
                self._memory.free()
                self._set.clear()
                self._loras.clear()
                self._grammars.clear()

    def __del__(self):
        if getattr(self, "_handle", None) is not None and not self._finalizing():
            self._fini(self._handle)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<linnet.Session of {self.model.path!r}{', closed' if self._handle is None else f', {self.context} positions'}>"


# ---- asyncio ----

async def in_thread(function: Any, *arguments: Any, **more: Any) -> Any:
    """Runs a call on another thread. Where its task is cancelled, the call goes on to its end."""
    import asyncio  # takes longer to import than all of this

    return await asyncio.get_running_loop().run_in_executor(None, lambda: function(*arguments, **more))


async def stepwise(iterator: Any) -> AsyncIterator[Any]:
    end = object()
    while True:
        one = await in_thread(next, iterator, end)
        if one is end:
            return
        yield one
