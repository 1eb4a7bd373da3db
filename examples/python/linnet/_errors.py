"""What goes wrong, by linnet's statuses."""
from __future__ import annotations

from . import _ffi as ffi


class Error(Exception):
    """A call that failed; its object is as it was before.

    status: linnet's number (negative). name: "LINNET_BAD_ARG", ... . line: in a text file, from 1; 0 where there is none."""

    def __init__(self, message: str, status: int = 0, name: str = "", line: int = 0):
        super().__init__(message)
        self.status, self.name, self.line = status, name, line

    def __reduce__(self):
        return type(self), (str(self), self.status, self.name, self.line)


class BadArgument(Error, ValueError):
    """An argument is out of range or contradicts another."""


class BadFile(Error, ValueError):
    """A file, a schema or a grammar is malformed; the message names field and value."""


class BadProfile(Error, ValueError):
    """A field of a device profile is unknown or out of range."""


class Unsupported(Error):
    """Well-formed, but linnet has no such format, architecture, tokenizer or keyword."""


class TooSmall(Error):
    """A limit is too small; the message says how much is needed."""


class ContextFull(Error):
    """The tokens do not fit the session's context."""


class BadState(Error):
    """The call is not possible now: no logits yet, a session that is closed, logits that are gone."""


class FileError(Error, OSError):
    """The system refused a file operation."""

    __str__ = Exception.__str__


class DeviceError(Error):
    """An accelerator is not there, or failed."""


class Cancelled(Error):
    """cancel() stopped the call; the session is as before it."""


class NotFinite(Error, ArithmeticError):
    """An activation became infinite or NaN."""


class NoMemory(Error, MemoryError):
    """The system gave no memory."""


_CLASSES = {ffi.BAD_ARG: BadArgument, ffi.BAD_FILE: BadFile, ffi.BAD_PROFILE: BadProfile, ffi.UNSUPPORTED: Unsupported, ffi.TOO_SMALL: TooSmall, ffi.CONTEXT_FULL: ContextFull,
            ffi.BAD_STATE: BadState, ffi.IO: FileError, ffi.DEVICE: DeviceError, ffi.CANCELLED: Cancelled, ffi.NOT_FINITE: NotFinite, ffi.NO_MEMORY: NoMemory}
_NAMES = {getattr(ffi, name): "LINNET_" + name
          for name in ("BAD_ARG", "BAD_FILE", "BAD_PROFILE", "UNSUPPORTED", "TOO_SMALL", "CONTEXT_FULL", "BAD_STATE", "IO", "DEVICE", "CANCELLED", "NOT_FINITE", "NO_MEMORY")}


def of_status(status: int, text: bytes, line: int = 0) -> Error:
    """The exception for a status and its sentence."""
    name = _NAMES.get(status, str(status))
    return _CLASSES.get(status, Error)(text.decode("utf-8", "replace") or name, status, name, line)
