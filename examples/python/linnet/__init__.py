"""linnet: language models on this device.

    model = linnet.Model("model.gguf")
    print(model.chat([{"role": "user", "content": "Hello!"}]).choices[0].message.content)

    with model.session(context=8192) as session:
        for text, tokens in session.generate("Once upon a time", max_tokens=100):
            print(text, end="", flush=True)

Every call releases the GIL. Answers are exact: the same tokens on every CPU, for every number of threads, whoever shares a session."""
from __future__ import annotations

from ._errors import (BadArgument, BadFile, BadProfile, BadState, Cancelled, ContextFull, DeviceError, Error, FileError, NoMemory, NotFinite, TooSmall, Unsupported)
from ._library import lib as _lib
from ._model import Model
from ._session import Generation, Grammar, Lora, Piece, Session


def __getattr__(name: str):
    if name == "serve":
        from ._serve import serve

        return serve
    if name == "__version__":
        n = _lib.version()
        return f"{n >> 16}.{n >> 8 & 255}.{n & 255}"
    if name == "build_info":
        return _lib.build_info().decode()
    raise AttributeError(f"module 'linnet' has no attribute {name!r}")


__all__ = ["BadArgument", "BadFile", "BadProfile", "BadState", "Cancelled", "ContextFull", "DeviceError", "Error", "FileError", "Generation", "Grammar", "Lora", "Model", "NoMemory", "NotFinite",
           "Piece", "Session", "TooSmall", "Unsupported", "serve"]
