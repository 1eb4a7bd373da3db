"""Models: opened, described, planned, and their tokenizer."""
from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import warnings
from ctypes import byref

from ._library import Memory, call, ffi, fields_of, format_number, growing, lib, need, number_of, sized, text_of, tokens_array
from ._errors import BadArgument, BadState, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

    from ._session import Lora, Session

MOST_OWN = 8  # sessions of a model's own: answers at the same time that were given none


def cache_folder() -> str | None:
    """Where packed models are kept, as the command line does it; None where neither XDG_CACHE_HOME nor HOME says."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "linnet")


class _Bar:
    """How far packing is, on stderr, once it takes longer than half a second."""

    def __init__(self, path: str):
        self.begun, self.path, self.shown = time.monotonic(), os.path.basename(path.rstrip("/")), 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.begun < 0.5 or (now - self.shown < 0.1 and done < total):
            return
        self.shown = now
        part = done / total if total else 1.0
        print(f"\r{self.path} [{'#' * int(30 * part):<30}] {100 * part:3.0f} %", end="\n" if done >= total else "", file=sys.stderr, flush=True)


class _Open:
    """A model's bytes and the model in them, for as long as a Model, a session or a grammar needs them."""

    def __init__(self, path: str, params: ffi.ConvertParams, profile: str | None, progress: Any):
        self.source, self.handle, self.memory, self.view = ctypes.c_void_p(), ctypes.c_void_p(), None, ffi.View()
        self._fini, self._close, self.finalizing = lib.model_fini, lib.convert_close, sys.is_finalizing
        self.converted = sized(ffi.Converted)
        raised: list[BaseException] = []

        def how_far(_user, done, total):
            try:
                if progress:
                    progress(done, total)
                else:
                    time.sleep(0)  # where Ctrl-C is seen
            except BaseException as why:  # it cannot go through C
                raised.append(why)
                return 1
            return 0

        def note(_user, text):
            warnings.warn(text_of(text), stacklevel=5)

        params.progress, params.note = ffi.Progress(how_far), ffi.Note(note)
        try:
            call(lib.convert_open, byref(self.source), os.fsencode(path), byref(params), byref(self.view), byref(self.converted))
        except Exception:
            if raised:
                raise raised[0] from None
            raise
        self.profile = self._profile(profile) if profile is not None else None
        with_profile = byref(self.profile) if self.profile else None
        self.memory = Memory(need(lib.model_need, byref(self.view), with_profile))
        call(lib.model_init, byref(self.handle), self.memory.data, self.memory.bytes, byref(self.view), with_profile)
        self.desc = sized(ffi.ModelDesc)
        call(lib.model_info, self.handle, byref(self.desc))
        self.pieces: dict[int, tuple[bytes, int]] = {}  # text and kind of tokens

    def _profile(self, path: str) -> ffi.Profile:
        if not hasattr(lib, "profile_read"):
            raise Unsupported("this package was built without libyaml, which reads profiles", ffi.UNSUPPORTED, "LINNET_UNSUPPORTED")
        made, board = sized(ffi.Profile), ctypes.c_void_p()
        self.board = Memory(need(lib.board_need))
        call(lib.board_init, byref(board), self.board.data, self.board.bytes, None)
        if path == "auto":
            folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "configs")
            call(lib.profile_pick, os.fsencode(folder), board, byref(made), None, 0, None)
        else:
            call(lib.profile_read, os.fsencode(path), board, byref(made), None)
            call(lib.profile_fit, byref(made), board)
        return made

    def piece(self, token: int) -> tuple[bytes, int]:
        """The bytes of a token inside a text, and its kind (TOKEN_EOG, TOKEN_SPECIAL)."""
        found = self.pieces.get(token)
        if found is None:
            kind = ctypes.c_uint32()
            room, n = growing(256, ctypes.create_string_buffer, lambda room, cap, n, err: lib.token_text(self.handle, token, room, cap, n, err))
            call(lib.token_kind, self.handle, token, byref(kind))
            found = self.pieces[token] = (room.raw[:n], kind.value)
        return found

    def __del__(self):
        if self.finalizing():
            return  # the system takes all back, and other threads may still compute
        if getattr(self, "handle", None):
            self._fini(self.handle)
        self.memory = None
        if getattr(self, "source", None):
            self._close(self.source)


class Model:
    """A model: a packed GGUF file (mapped), any other GGUF file or a Hugging Face folder (packed on the way in, kept for the next time).

    path_or_folder: of the model; "synthetic:SHAPE" is a well-known shape with random weights.
    weights: format of matrices ("i8g128", "i4g64", ...); None: floats as i8g32, what is quantised already as it is.
    profile: path of a device profile in YAML; "auto": the best of those that come along.
    load: "map" (default), "copy", "prewarm" or "lock".
    cache: folder that keeps what is packed; True: the command line's own; False: nothing is kept.
    progress: called with (bytes done, bytes in all); None: a bar on a terminal; False: nothing.
    threads: that pack; None: all CPUs of this process.

    It is immutable: any number of threads and sessions may use it. KeyboardInterrupt ends a packing, and no file is left."""

    def __init__(self, path_or_folder: str | os.PathLike, weights: str | None = None, profile: str | os.PathLike | None = None, *, load: str = "map", cache: bool | str = True,
                 progress: Callable[[int, int], None] | bool | None = None, threads: int | None = None):
        path = os.fsdecode(path_or_folder)
        params = sized(ffi.ConvertParams)
        params.weights = format_number(weights, "weights")
        params.load = number_of("LOAD", load, "load")
        if threads is not None and (not isinstance(threads, int) or not 1 <= threads <= 1024):
            raise BadArgument(f"threads must be 1 to 1024, not {threads!r}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        params.n_threads = threads or 0
        folder = cache_folder() if cache is True else cache or None
        self._kept = os.fsencode(folder) if folder else None
        params.cache = ctypes.cast(ctypes.c_char_p(self._kept), ctypes.c_void_p).value if folder else None
        if progress is None and sys.stderr is not None and sys.stderr.isatty():
            progress = _Bar(path)
        self._open: _Open | None = _Open(path, params, os.fspath(profile) if profile is not None else None, progress if callable(progress) else None)
        self.path = path
        self._lock = threading.RLock()
        self._idle: list[Session] = []  # of chat() and complete(), which keep what they have computed from one call to the next
        self._lent = 0  # of those there are
        self._embedder: Session | None = None

    # ---- what it is ----

    def _core(self) -> _Open:
        if self._open is None:
            raise BadState("the model is closed", ffi.BAD_STATE, "LINNET_BAD_STATE")
        return self._open

    @property
    def info(self) -> dict[str, Any]:
        """What the model is, as linnet_model_desc has it: n_layers, d_model, n_vocab, n_context, n_params, weight_bytes, architecture, name, weights, ... and isa by name."""
        found = fields_of(self._core().desc)
        found["isa"] = (lib.isa_name(found["isa"]) or b"").decode()
        return found

    @property
    def n_vocab(self) -> int:
        return self._core().desc.n_vocab

    @property
    def n_context(self) -> int:
        """Positions that the model was trained for."""
        return self._core().desc.n_context

    @property
    def bos_id(self) -> int:
        return self._core().desc.bos_id

    @property
    def eos_id(self) -> int:
        return self._core().desc.eos_id

    def __repr__(self) -> str:
        if self._open is None:
            return f"<linnet.Model {self.path!r}, closed>"
        d = self._open.desc
        return f"<linnet.Model {self.path!r}: {text_of(d.architecture)}, {d.n_params:,} parameters, {text_of(d.weights)}>"

    # ---- tokenizer ----

    def tokenize(self, text: str | bytes, add_bos: bool = False, special: bool = False) -> list[int]:
        """Text as token ids. add_bos: with the BOS (some tokenizers: and an end token) around it. special: special tokens that are written out in it are tokens; never for what users
        say."""
        core = self._core()
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"text must be str or bytes, not {type(text).__name__}")
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
        scratch = ctypes.c_size_t()
        call(lib.tokenize_need, core.handle, len(data), byref(scratch))
        work, flags = ctypes.create_string_buffer(scratch.value or 1), (ffi.ADD_SPECIAL if add_bos else 0) | (ffi.PARSE_SPECIAL if special else 0)
        out, n = growing(len(data) // 2 + 16, lambda cap: (ctypes.c_int32 * cap)(),
                         lambda room, cap, n, err: lib.tokenize(core.handle, data, len(data), flags, work, scratch.value, room, cap, n, err))
        return out[:n]

    def detokenize(self, tokens: Iterable[int], skip_special: bool = False) -> str:
        """Token ids as text, as the tokenizer's own decoder does it. Bytes that are no UTF-8 become U+FFFD."""
        core = self._core()
        ids, count = tokens_array(tokens)
        flags = ffi.SKIP_SPECIAL if skip_special else 0
        out, n = growing(count * 8 + 16, ctypes.create_string_buffer, lambda room, cap, n, err: lib.detokenize(core.handle, ids, count, flags, room, cap, n, err))
        return out.raw[:n].decode("utf-8", "replace")

    def token_bytes(self, token: int) -> bytes:
        """The bytes of one token inside a running text: may be a part of a character."""
        return self._core().piece(token)[0]

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        return bool(self._core().piece(token)[1] & ffi.TOKEN_EOG)

    # ---- sessions ----

    def plan(self, context: int | None = None, **session: Any) -> dict[str, int]:
        """Bytes by purpose of this model and of a session with these arguments (those of session()), before there is one; "total" is what is taken beside the mapped file. Exact."""
        from ._session import session_params

        core, found, i = self._core(), {}, 0
        purpose, n_bytes = ctypes.c_void_p(), ctypes.c_size_t()
        params = session_params(context=context, **session)
        total = core.memory.bytes + need(lib.session_need, core.handle, byref(params))
        for of, function, more in (("model", lib.model_memory, ()), ("session", lib.session_plan, (byref(params),))):
            i = 0
            while function(core.handle, *more, i, byref(purpose), byref(n_bytes), None) == ffi.OK:
                key = f"{of}: {text_of(purpose.value)}"
                found[key] = found.get(key, 0) + n_bytes.value
                i += 1
        found["total"] = total
        return found

    def session(self, context: int | None = None, **more: Any) -> Session:
        """A new session: the KV cache and buffers of one conversation or several. context: positions; more: see Session."""
        from ._session import Session

        return Session(self, context=context, **more)

    def lora(self, path: str | os.PathLike) -> Lora:
        """An adapter of this model: llama.cpp's GGUF, or a folder as PEFT saves it. Session.adapt gives it to a sequence."""
        from ._session import Lora

        return Lora(self, path)

    def _lend(self, n: int = 1) -> Session:
        """A session of the model's own with n sequences for an answer: the one that was used last, which may hold the conversation already."""
        with self._lock:
            for session in reversed(self._idle):
                if session.params.n_sequences >= n:
                    self._idle.remove(session)
                    return session
            self._core()
            if self._lent == MOST_OWN and self._idle:
                self._idle.pop(0).close()
                self._lent -= 1
            if self._lent == MOST_OWN:
                raise BadState(f"{MOST_OWN} answers are on their way: more of them need sessions of their own (session=)", ffi.BAD_STATE, "LINNET_BAD_STATE")
            self._lent += 1
        try:
            return self.session(sequences=n)
        except BaseException:
            with self._lock:
                self._lent -= 1
            raise

    def _take_back(self, session: Session) -> None:
        with self._lock:
            if self._open is not None:
                self._idle.append(session)
                return
        session.close()

    # ---- text, chats, vectors ----

    def complete(self, prompt: str | list[int], *, max_tokens: int | None = None, stop: str | list[str] | None = None, stream: bool = False, logprobs: int | None = None,
                 session: Session | None = None, **sampling: Any) -> Any:
        """What follows the prompt, in the shape of OpenAI's /v1/completions; stream: an iterator of its chunks. logprobs: how many of the likeliest tokens stand beside each one's own
        logarithm (0 to 20). sampling: see Session.generate."""
        from ._chat import complete

        return complete(self, prompt, max_tokens=max_tokens, stop=stop, stream=stream, logprobs=logprobs, session=session, **sampling)

    def chat(self, messages: list[Mapping[str, Any]], *, tools: list | None = None, tool_choice: str | Mapping = "auto", parallel_tool_calls: bool = True, response_format: Mapping | None = None,
             schema: Any = None, stream: bool = False, n: int = 1, logprobs: bool = False, top_logprobs: int | None = None, max_tokens: int | None = None, stop: str | list[str] | None = None, reasoning: bool | None = None, template: Mapping[str, Any] | None = None,
             session: Session | None = None, **sampling: Any) -> Any:
        """An answer to a conversation, in the shape of OpenAI's /v1/chat/completions; stream: an iterator of its chunks.

        messages, tools, tool_choice, parallel_tool_calls, response_format, n, logprobs, top_logprobs, max_tokens, stop: as that API has them; of n choices each is drawn with the next seed, behind
        a prompt that is computed once, on as many sequences of the session. schema: a JSON schema, or a pydantic model, that the content obeys.
        reasoning: whether the model thinks first, where its template can switch that. template: more variables for the template. session: whose; None: one of the
        model's own, which keep what they have computed. sampling: see Session.generate."""
        from ._chat import chat

        return chat(self, messages, tools=tools, tool_choice=tool_choice, parallel_tool_calls=parallel_tool_calls, response_format=response_format, schema=schema, stream=stream, n=n, logprobs=logprobs, top_logprobs=top_logprobs,
                    max_tokens=max_tokens, stop=stop, reasoning=reasoning, template=template, session=session, **sampling)

    async def achat(self, messages: list[Mapping[str, Any]], *, stream: bool = False, **more: Any) -> Any:
        """chat() for asyncio: it computes on another thread; stream: an asynchronous iterator."""
        from ._session import in_thread, stepwise

        made = await in_thread(self.chat, messages, stream=stream, **more)
        return stepwise(made) if stream else made

    def embed(self, texts: str | list[str], *, prompt: str | None = None, pooling: str | None = None, normalise: bool | None = None, dimensions: int | None = None) -> list:
        """Vectors of texts: a list of floats for a str, a list of those for a list. prompt: the name of what texts begin with ("query"); pooling: "mean", "last" or "cls"; None: the model's
        own choices."""
        from ._embed import embed

        return embed(self, texts, prompt, pooling, normalise, dimensions)

    # ---- end ----

    def close(self) -> None:
        """Gives the model's memory back, once its sessions are closed too."""
        with self._lock:
            for session in [*self._idle, self._embedder]:
                if session is not None:
                    session.close()
            self._idle, self._embedder, self._open = [], None, None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
