"""Logits as numpy arrays on linnet's own bytes."""
from __future__ import annotations

import ctypes
from ctypes import byref

from ._errors import BadState
from ._library import call, ffi, lib

try:
    import numpy as np
except ImportError as why:
    raise ImportError("linnet: logits() needs numpy: pip install numpy") from why

_FREE = frozenset(("_linnet_session", "_linnet_at", "__class__", "__array_finalize__", "__dict__", "__del__"))


class Logits(np.ndarray):
    """Read-only float32 (n_vocab,) inside a session, as long as nothing else was computed there."""

    def __array_finalize__(self, of):
        self._linnet_session = getattr(of, "__dict__", {}).get("_linnet_session")
        self._linnet_at = getattr(of, "__dict__", {}).get("_linnet_at")

    def _check(self):
        session = object.__getattribute__(self, "__dict__").get("_linnet_session")
        if session is not None and session._logits_at != object.__getattribute__(self, "__dict__").get("_linnet_at"):
            raise BadState("these logits are gone: another call has computed on their session (copy() keeps them)", ffi.BAD_STATE, "LINNET_BAD_STATE")

    def __getattribute__(self, name):
        if name not in _FREE and name != "_check":
            object.__getattribute__(self, "_check")()
        return super().__getattribute__(name)

    def __getitem__(self, key):
        self._check()
        return super().__getitem__(key)

    def __iter__(self):
        self._check()
        return iter(self.view(np.ndarray))

    def __len__(self):
        self._check()
        return self.shape[0]

    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        plain = []
        for one in inputs:
            if isinstance(one, Logits):
                one._check()
                one = np.ndarray.view(one, np.ndarray)
            plain.append(one)
        return getattr(ufunc, method)(*plain, **more)

    def __array_function__(self, function, types, arguments, more):
        def plain(one):
            if isinstance(one, Logits):
                one._check()
                return np.ndarray.view(one, np.ndarray)
            return type(one)(plain(x) for x in one) if isinstance(one, (list, tuple)) else one

        return function(*plain(tuple(arguments)), **{k: plain(v) for k, v in more.items()})

    def copy(self, order="C"):
        self._check()
        return np.array(self.view(np.ndarray), order=order)

    def __repr__(self):
        self._check()
        return repr(self.view(np.ndarray))

    __str__ = __repr__


def logits(session, back: int, seq: int):
    values, n = ctypes.POINTER(ctypes.c_float)(), ctypes.c_size_t()
    with session._working() as handle:
        call(lib.logits, handle, seq, back, byref(values), byref(n))
        plain = np.ctypeslib.as_array(values, shape=(n.value,))
        plain.flags.writeable = False
        made = plain.view(Logits)
        made._linnet_session, made._linnet_at = session, session._logits_at
    return made
