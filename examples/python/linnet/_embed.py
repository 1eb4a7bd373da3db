"""Texts as vectors."""
from __future__ import annotations

import ctypes
from ctypes import byref

from ._errors import BadArgument
from ._library import call, ffi, lib, number_of, on_main_thread, sized, tokens_array

TOGETHER = 16  # texts of a call


def _prompt(core, wanted):
    """What texts begin with: of that name, or the model's default."""
    name, text, default, known, i = ffi.View(), ffi.View(), ctypes.c_uint32(), [], 0
    while lib.embed_prompt(byref(core.view), i, byref(name), byref(text), byref(default), None) == ffi.OK:
        found = ctypes.string_at(name.data, name.bytes).decode()
        known.append(found)
        if found == wanted if wanted is not None else default.value:
            return ctypes.string_at(text.data, text.bytes).decode() if text.bytes else ""
        i += 1
    if wanted is None:
        return ""
    raise BadArgument(f"the model has no prompt {wanted!r}; it has {', '.join(known) or 'none'}", ffi.BAD_ARG, "LINNET_BAD_ARG")


def embed(model, texts, prompt, pooling, normalise, dimensions):
    core, one = model._core(), isinstance(texts, str)
    texts = [texts] if one else list(texts) if hasattr(texts, "__iter__") else [None]
    if any(not isinstance(text, str) for text in texts):
        raise BadArgument("texts must be a text or a list of texts", ffi.BAD_ARG, "LINNET_BAD_ARG")
    before = _prompt(core, prompt)
    desc, params = sized(ffi.EmbedDesc), sized(ffi.EmbedParams)
    call(lib.embed_info, core.handle, byref(desc))
    if pooling is not None:
        params.pooling = number_of("POOLING", pooling, "pooling")
    if normalise is not None:
        params.normalise = ffi.NORMALISE_ON if normalise else ffi.NORMALISE_OFF
    if dimensions is not None:
        if not isinstance(dimensions, int) or not 1 <= dimensions <= desc.n_dim:
            raise BadArgument(f"dimensions must be 1 to {desc.n_dim}, not {dimensions}", ffi.BAD_ARG, "LINNET_BAD_ARG")
        params.n_dim = dimensions
    n_dim = params.n_dim or desc.n_dim
    with model._lock:
        if model._embedder is None:
            n = min(core.desc.n_context, 4096)
            model._embedder = model.session(sequences=TOGETHER, context=n, pool=n)
        session = model._embedder
    vectors = []
    tokens = [model.tokenize(before + text, add_bos=True) for text in texts]
    at = 0
    while at < len(tokens):
        end, room = at, session.params.n_pool
        while end < len(tokens) and end - at < TOGETHER and (end == at or len(tokens[end]) <= room):
            room -= (len(tokens[end]) + 63) // 64 * 64  # pages
            end += 1
        part, at = tokens[at:end], end
        rows, kept = (ffi.Rows * len(part))(), []
        for i, text in enumerate(part):
            ids, n = tokens_array(text)
            kept.append(ids)
            rows[i].size, rows[i].seq, rows[i].n_tokens, rows[i].tokens = ctypes.sizeof(ffi.Rows), i, n, ctypes.cast(ids, ctypes.POINTER(ctypes.c_int32))
        out = (ctypes.c_float * (n_dim * len(part)))()
        with session._working() as handle:
            call(lib.python_embed, handle, rows, len(part), byref(params), out, len(out), on_main_thread(), byref(session._left))
        vectors += [out[i * n_dim:(i + 1) * n_dim] for i in range(len(part))]
    return vectors[0] if one else vectors
