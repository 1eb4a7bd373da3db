"""The library beside this file, and how its calls fail. Every call releases the GIL."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from array import array
from ctypes import byref

from . import _ffi as ffi
from ._errors import of_status

FOLDER = os.path.dirname(os.path.abspath(__file__))
MAIN_THREAD = threading.main_thread().ident


def _load() -> ctypes.CDLL:
    path = os.path.join(FOLDER, "liblinnet_python.so")
    try:
        return ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"linnet: {path} cannot be loaded: {why}") from None


class Batch(ctypes.Structure):
    """linnet_python_batch of steps.c."""

    _fields_ = [("tokens", ctypes.POINTER(ctypes.c_int32)), ("text", ctypes.c_void_p), ("text_cap", ctypes.c_size_t), ("n_text", ctypes.c_size_t), ("cap", ctypes.c_uint32),
                ("n_tokens", ctypes.c_uint32), ("n_back", ctypes.c_uint32), ("rest", ctypes.c_uint32), ("n_before", ctypes.c_size_t), ("last", ffi.Generated)]


_P, _U, _I, _E = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.POINTER(ffi.Error)
_LEFT = ctypes.POINTER(ctypes.c_int)
OWN = {  # of steps.c
    "python_prefill": [_P, ctypes.POINTER(ffi.Rows), _U, _I, _LEFT, _E],
    "python_embed": [_P, ctypes.POINTER(ffi.Rows), _U, ctypes.POINTER(ffi.EmbedParams), ctypes.POINTER(ctypes.c_float), ctypes.c_size_t, _I, _LEFT, _E],
    "python_rewind": [_P, _U, ctypes.c_int64, ctypes.c_size_t, _I, _LEFT, _E],
    "python_generate": [_P, _U, ctypes.c_uint64, ctypes.POINTER(Batch), _I, _LEFT, _E],
}


class _Functions:
    """linnet's functions by name, without their prefix."""

    def __init__(self):
        self._library = _load()

    def __getattr__(self, name: str):
        result, arguments = (ctypes.c_int, OWN[name]) if name in OWN else (make() for make in ffi.FUNCTIONS[name])
        f = self._library["linnet_" + name]
        f.restype, f.argtypes = result, arguments
        setattr(self, name, f)
        return f


lib = _Functions()


def _status(function, *arguments) -> int:
    try:
        return function(*arguments)
    except ctypes.ArgumentError as why:
        raise TypeError(f"{function.__name__.replace('<lambda>', 'linnet')}: {why}") from None


def call(function, *arguments) -> None:
    """Calls a function whose last argument is the error; raises what it says."""
    err = ffi.Error()
    status = _status(function, *arguments, byref(err))
    if status:
        raise of_status(status, err.text, err.line)


def on_main_thread() -> int:
    """1 where Ctrl-C is to stop a call: it comes to the main thread, as KeyboardInterrupt."""
    return int(threading.get_ident() == MAIN_THREAD and signal.getsignal(signal.SIGINT) is signal.default_int_handler)


class Memory:
    """Bytes for an object of linnet's: exactly as many as it needs."""

    __slots__ = ("data", "bytes", "_free", "_finalizing")

    def __init__(self, n_bytes: int):
        self._free, self._finalizing = lib.mem_free, sys.is_finalizing  # there until the interpreter's end
        self.bytes, self.data = n_bytes, lib.mem_alloc(n_bytes)
        if not self.data:
            self.bytes = 0
            raise of_status(ffi.NO_MEMORY, f"the system gives no {n_bytes} bytes".encode(), 0)

    def free(self) -> None:
        data, self.data = self.data, None
        if data:
            self._free(data, self.bytes)

    def __del__(self):
        # At the interpreter's end sessions' threads still wait in their memory; the system takes all back.
        if getattr(self, "data", None) and not self._finalizing():
            self.free()


def growing(cap: int, room_of, function):
    """Calls function(room, cap, n, err) with room for `cap`, and once more with as much as it says that it needs. (room, how much it holds)."""
    n = ctypes.c_size_t()
    while True:
        room, err = room_of(cap), ffi.Error()
        status = _status(function, room, cap, byref(n), byref(err))
        if not status:
            return room, n.value
        if status != ffi.TOO_SMALL or n.value <= cap:
            raise of_status(status, err.text, err.line)
        cap = n.value


def sized(struct):
    """A struct that says how large it is."""
    made = struct()
    made.size = ctypes.sizeof(struct)
    return made


def need(function, *arguments) -> int:
    """Bytes that an object takes."""
    out = sized(ffi.Need)
    call(function, *arguments, byref(out))
    return out.bytes


def text_of(address, n_bytes=None) -> str:
    """Text that linnet holds: of so many bytes, or up to its zero."""
    if not address:
        return ""
    data = ctypes.string_at(address) if n_bytes is None else ctypes.string_at(address, n_bytes)
    return data.decode("utf-8", "replace")


def fields_of(struct) -> dict:
    """A struct as a dict, texts as str."""
    found = {}
    for name, kind in struct._fields_:
        if name in ("size", "reserved"):
            continue
        value = getattr(struct, name)
        if kind is ctypes.c_void_p:
            value = text_of(value)
        elif isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        found[name] = value
    return found


def tokens_array(tokens):
    """(int32 array for linnet, how many) of a list, an array or whatever can be iterated."""
    if isinstance(tokens, (str, bytes)) or not hasattr(tokens, "__iter__"):
        raise of_status(ffi.BAD_ARG, f"tokens must be a list of whole numbers, not {tokens!r:.80}".encode(), 0)
    try:
        ids = array("i", tokens if isinstance(tokens, (list, tuple)) else [int(t) for t in tokens])
    except (TypeError, ValueError):
        raise of_status(ffi.BAD_ARG, b"tokens must be whole numbers", 0) from None
    except OverflowError:
        raise of_status(ffi.BAD_ARG, b"tokens must be whole numbers of 32 bits", 0) from None
    n = len(ids)
    return (ctypes.c_int32 * n).from_buffer(ids) if n else (ctypes.c_int32 * 1)(), n


def number_of(names: str, name, what: str) -> int:
    """The value of an enum by its end: number_of("FULL", "sinks", "when_full")."""
    found = getattr(ffi, f"{names}_{str(name).upper().replace('-', '_')}", None) if isinstance(name, str) else None
    if found is None:
        known = sorted(n[len(names) + 1:].lower() for n in vars(ffi) if n.startswith(names + "_"))
        raise of_status(ffi.BAD_ARG, f"{what}: {name!r} is none of {', '.join(known)}".encode(), 0)
    return found


def format_number(name, what: str) -> int:
    if name is None:
        return 0
    found = lib.format_from_name(str(name).encode())
    if not found:
        raise of_status(ffi.BAD_ARG, f"{what}: there is no format {name!r}".encode(), 0)
    return found


__all__ = ["Batch", "Memory", "call", "ffi", "fields_of", "format_number", "growing", "lib", "need", "number_of", "on_main_thread", "sized", "text_of", "tokens_array"]
