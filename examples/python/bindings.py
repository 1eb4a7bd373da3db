#!/usr/bin/env python3
"""Writes ctypes declarations of linnet's headers: bindings.py linnet.json _ffi.py

Names lose their prefix: linnet_need is the class Need, LINNET_OK the constant OK, linnet_prefill the function prefill. Functions are looked up
when they are first used, so that importing takes no time for those that nobody calls."""
import json
import sys

BASE = {"char": "c_char", "int": "c_int", "float": "c_float", "double": "c_double", "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32",
        "int64_t": "c_int64", "uint64_t": "c_uint64", "uint8_t": "c_uint8"}


def class_of(name):
    return "".join(word.capitalize() for word in name.removeprefix("linnet_").removesuffix("_fn").split("_"))


class Types:
    def __init__(self, headers):
        self.enums = {e["name"]: BASE[e["type"]] for h in headers for e in h["enums"] if e["name"]}
        self.opaque = {s["name"] for h in headers for s in h["structs"] if s["opaque"]}
        self.structs = {s["name"] for h in headers for s in h["structs"] if not s["opaque"]}
        self.callbacks = {c["name"] for h in headers for c in h["callbacks"]}

    def of(self, text, field=False):
        """The ctypes expression of a C type. Text in a struct is an address: it need not end with a zero."""
        text = text.replace("const ", "").replace(" const", "").strip()
        stars = len(text) - len(text.rstrip("*"))
        name = text.rstrip("*").strip()
        if stars and (name == "void" or name in self.opaque):
            found, stars = "c_void_p", stars - 1
        elif stars and name == "char":
            found, stars = "c_void_p" if field or stars > 1 else "c_char_p", stars - 1
        elif name in self.structs or name in self.callbacks:
            found = class_of(name)
        else:
            found = self.enums.get(name) or ("None" if name == "void" else BASE[name])
        for _ in range(stars):
            found = f"POINTER({found})"
        return found


def main():
    headers = [h for h in json.load(open(sys.argv[1], encoding="utf-8"))["headers"] if h["name"] != "linnet_audio.h"]  # not in the package's library
    types = Types(headers)
    out = ['"""linnet\'s C API, written by bindings.py from its headers: do not edit."""',
           "from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)", ""]
    for h in headers:
        for values in [h["constants"]] + [e["values"] for e in h["enums"]]:
            out += [f"{v['name'].removeprefix('LINNET_')} = {v['value']}" for v in values]
    out.append("")
    fields = []
    for h in headers:
        for s in h["structs"]:
            if not s["opaque"]:
                out += [f"class {class_of(s['name'])}(Structure):", "    pass", "", ""]
                fields.append(s)
    for h in headers:
        for c in h["callbacks"]:
            signature = ", ".join([types.of(c["returns"])] + [types.of(a["type"], True) for a in c["arguments"]])
            out.append(f"{class_of(c['name'])} = CFUNCTYPE({signature})")
    out.append("")
    done, left = set(), list(fields)
    while left:  # those within others first
        s = left.pop(0)
        held = {f["type"] for f in s["fields"]} & types.structs
        if held - done:
            left.append(s)
            continue
        done.add(s["name"])
        parts = [f'("{f["name"]}", {types.of(f["type"], True)}{" * " + str(f["count"]) if "count" in f else ""})' for f in s["fields"]]
        out.append(f"{class_of(s['name'])}._fields_ = [{', '.join(parts)}]")
    out += ["", "# name: (result, arguments)", "FUNCTIONS = {"]
    for h in headers:
        for f in h["functions"]:
            arguments = ", ".join(types.of(a["type"]) for a in f["arguments"])
            out.append(f'    "{f["name"].removeprefix("linnet_")}": (lambda: {types.of(f["returns"])}, lambda: [{arguments}]),')
    out += ["}", "SIZES = {" + ", ".join(f'"{class_of(s["name"])}": {s["bytes"]}' for s in fields) + "}", ""]
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out))


main()
