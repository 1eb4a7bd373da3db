#!/usr/bin/env python3
"""The C ABI as bindings see it.

  test_abi.py BUILD/linnet.json [--cc CC] [--cxx CXX] [--lib liblinnet.so] [--convert liblinnet_convert.so]
              [--profile liblinnet_profile.so] [--tool LINNET]

What refuses headers is itself held against headers that are wrong; the headers go through the compilers that are there, in C11, C++17 and
C++20; and a binding made of linnet.json alone calls the shared library, and gives the tokens that the tool gives. Standard library only.
"""
import argparse
import collections
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "runtime" / "include"
MODEL = ROOT / "examples" / "assistant" / "model" / "linnet-assistant.gguf"

# What 0.1 had and 0.2 has no more; only CHANGELOG.md speaks of it. Members are looked for behind a dot or an arrow alone.
GONE = {"LINNET_MAX_METERS", "LINNET_NO_ADD_SPECIAL", "LINNET_NO_PARSE_SPECIAL", "LINNET_ROLE_COUNT", "LINNET_VERSION",
        "linnet_board_detect", "linnet_parallel_for"}
GONE_MEMBERS = {"kv_format", "rail_watts", "meter_ids", "meter_uj", "n_meters", "n_readings", "last_temperature"}

parser = argparse.ArgumentParser()
parser.add_argument("json")
parser.add_argument("--cc", default="cc")
parser.add_argument("--cxx", default="c++")
parser.add_argument("--lib")
parser.add_argument("--convert")
parser.add_argument("--profile")
parser.add_argument("--tool")
ARGS, REST = parser.parse_known_args()

with open(ARGS.json, encoding="utf-8") as described:
    API = json.load(described)


def every(kind):
    return [thing for header in API["headers"] for thing in header[kind]]


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)


def describe(folder, *args):
    return run(sys.executable, "-B", INCLUDE / "describe.py", "--headers", folder, *args)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)


class Description(Folder):
    def test_whole(self):
        """Nothing of the headers is missing."""
        text = "".join(re.sub(r"/\*.*?\*/", "", h.read_text(), flags=re.DOTALL) for h in INCLUDE.glob("*.h"))
        values = [v["name"] for e in every("enums") for v in e["values"]] + [c["name"] for c in every("constants")]
        fields = [f["name"] for s in every("structs") for f in s.get("fields", [])]
        self.assertEqual(sorted(values), sorted(re.findall(r"\b(LINNET_\w+) =", text)))
        functions = re.findall(r"^LINNET_(?:API|CALL) .*?(\w+)\(", text, re.MULTILINE)
        self.assertEqual(sorted(f["name"] for f in every("functions")), sorted(functions))
        self.assertEqual(sorted(c["name"] for c in every("callbacks")), sorted(re.findall(r"\(\*(\w+)\)", text)))
        self.assertEqual({s["name"] for s in every("structs")}, set(re.findall(r"\bstruct (\w+)", text)))
        self.assertGreater(len(fields), 150)
        self.assertEqual(API["headers"][0]["name"], "linnet.h")
        self.assertEqual({f["library"] for f in every("functions")}, {"linnet", "linnet_convert", "linnet_profile"})

    def test_numbers(self):
        """Those of ctypes, whose layout is C's, for the fields that are numbers and pointers."""
        self.assertEqual(API["target"], {"pointer_bytes": ctypes.sizeof(ctypes.c_void_p), "byte_order": sys.byteorder})
        Binding(None)
        values = {v["name"]: v["value"] for e in every("enums") for v in e["values"]}
        self.assertEqual([values[n] for n in ("LINNET_OK", "LINNET_NO_MEMORY", "LINNET_Q6_K", "LINNET_ISA_AMX")], [0, -12, 18, 12])

    def test_marks(self):
        marked = {t["name"] for kind in ("enums", "structs", "functions") for t in every(kind) if t["stability"] == "experimental"}
        self.assertLessEqual({"linnet_cuda", "linnet_gemm", "linnet_cuda_device", "linnet_cuda_detect"}, marked)
        self.assertNotIn("linnet_generate", marked)
        fields = {f["name"]: f["stability"] for s in every("structs") if s["name"] == "linnet_profile" for f in s["fields"]}
        self.assertEqual([fields[n] for n in ("cuda_sms", "cuda_gemm", "float_tops", "name")], ["experimental"] * 2 + ["stable"] * 2)
        values = {v["name"]: v["stability"] for e in every("enums") for v in e["values"]}
        tiers = ("NEON", "NEON_DOTPROD", "NEON_I8MM", "NEON_BF16", "ONEDNN", "AVX_VNNI", "AVX512", "AMX")
        self.assertEqual([values["LINNET_ISA_" + t] for t in tiers], ["experimental"] * 5 + ["stable"] * 3)

    def test_choices(self):
        """A number whose comment begins with an enum is one of its values."""
        params = {f["name"]: f.get("enum") for s in every("structs") if s["name"] == "linnet_session_params" for f in s["fields"]}
        self.assertEqual([params[n] for n in ("k_format", "v_format", "threads", "wait", "when_full", "n_keep")],
                         ["linnet_format", "linnet_format", "linnet_threads", "linnet_wait", "linnet_when_full", None])

    def test_refuses(self):
        """Each check, on headers that are wrong in one place."""
        core, device = "linnet.h", "linnet_device.h"

        def more(text, header="linnet_chat.h"):
            end = "\n#ifdef __cplusplus\n}\n"
            return header, end, "\n" + text + end

        cases = [
            (*more("#define LINNET_BOS 1\n"), "the macro LINNET_BOS"),
            (core, "#define LINNET_API __attr", "#define LINNET_API(x) __attr", "the macro LINNET_API"),
            (*more("#if 1\n#endif\n"), "not understood: #if 1"),
            (*more("#include <string.h>\n"), "not understood: #include <string.h>"),
            (core, "#ifndef LINNET_H\n#define LINNET_H\n", "#ifndef LINNET_M\n#define LINNET_M\n", "not guarded by LINNET_H"),
            (*more("static inline int linnet_two(void) { return 2; }\n"), "a function in a header"),
            (*more("LINNET_API int linnet_two(void) { return 2; }\n"), "linnet_two has a body"),
            (*more("LINNET_API void linnet_two(linnet_view view);\n"), "linnet_two: view: the struct linnet_view by value"),
            (*more("LINNET_API linnet_view linnet_two(void);\n"), "linnet_two: returns: the struct linnet_view by value"),
            (*more("typedef int (*linnet_two_fn)(linnet_rows rows);\n"), "linnet_two_fn: rows: the struct linnet_rows by value"),
            (core, "LINNET_CALL linnet_status linnet_decode(", "LINNET_API linnet_status linnet_decode(",
             "linnet_decode: LINNET_CALL is for"),
            (*more("LINNET_CALL int linnet_two(linnet_error* err);\n"), "linnet_two: LINNET_CALL is for"),
            (core, "size_t keep, linnet_error* err);", "size_t keep);", "the last argument is not linnet_error* err"),
            (core, "size_t keep, linnet_error* err);", "size_t keep, linnet_error* error);", "the last argument is not linnet_error* err"),
            (core, "  uint32_t size, seq;\n", "  uint32_t seq;\n", "linnet_rows does not begin with uint32_t size"),
            (device, "linnet_zone {\n  uint32_t size;", "linnet_zone {\n  uint64_t size;", "linnet_zone does not begin with uint32_t size"),
            (core, "LINNET_FULL_DEFAULT = 0,", "LINNET_FULL_STOPS = 0,", "LINNET_FULL_STOPS is 0"),
            (core, "LINNET_FULL_SINKS = 3,", "LINNET_FULL_SINKS = 2,", "the number 2 stands twice in linnet_when_full"),
            (core, "LINNET_FULL_SINKS = 3,", "LINNET_FULL_SINKS,", "expected ="),
            (core, "typedef enum linnet_stop LINNET_OF_UINT32 {", "typedef enum linnet_stop {", "linnet_stop does not say its type"),
            (core, "} LINNET_32_BITS linnet_stop;", "} linnet_stop;", "linnet_stop is short where a compiler makes enums short"),
            (core, "#define LINNET_CHECKED\n#ifdef __clang__", "#define LINNET_CHECKED\n#ifdef __GNUC__", "not understood: #ifdef __GNUC__"),
            (*more("enum linnet_loose { LINNET_LOOSE = 1 };\n"), "an enum with a name is a typedef"),
            (*more("\n" * 500), "lines, more than 500"),
            (*more(f"/* {'x' * 135} */\n"), "141 columns, more than 140"),
            (*more("LINNET_API void stop_all(void);\n"), "stop_all does not begin with linnet_"),
            (*more("LINNET_API void linnet_Two(void);\n"), "linnet_Two does not begin with linnet_"),
            (*more("enum { MORE = 1 };\n"), "MORE does not begin with LINNET_"),
            (*more("LINNET_API void linnet_cancel(linnet_session* session);\n"), "linnet_cancel is declared twice, first in linnet.h:"),
            (device, "LINNET_ARCH_ARM = 3", "LINNET_OK = 3", "LINNET_OK is declared twice, first in linnet.h:"),
            (*more("LINNET_API void linnet_two(linnet_unknown* x);\n"), "linnet_two: the type linnet_unknown* is not known"),
            (*more("LINNET_API void linnet_two(unsigned x);\n"), "not understood: unsigned"),
            (*more("LINNET_API void linnet_two(void (*fn)(void));\n"), "linnet_two: an argument without a name"),
            (*more("LINNET_API void linnet_two(int32_t* x[2]);\n"), "linnet_two: x is of a kind that is not understood"),
            (*more("LINNET_API void linnet_two(int);\n"), "linnet_two: an argument without a name"),
            (*more("LINNET_API void linnet_two(int n, ...);\n"), "not understood: ..."),
            (*more("// linnet_two\n"), "not understood: /"),
            (*more("LINNET_API void linnet_two(struct linnet_rows* rows);\n"), "not understood: struct"),
            (*more("LINNET_API void linnet_two(void); #endif\n"), "a directive behind something else"),
            (core, "  const int32_t* tokens;\n", "  const int32_t* tokens, more;\n", "one pointer a declaration"),
            (core, "LINNET_STOP_EOS = 1,", "LINNET_STOP_EOS = 1", "expected , or }"),
            ("linnet_chat.h", "/* linnet_chat.h: ", "/**/\n/* linnet_chat.h: ", "no comment says what this header is for"),
            (*more("extern int linnet_two;\n"), "not understood: extern"),
            (*more("#ifdef __cplusplus\nint linnet_two();\n#endif\n"), "for C++ alone: int"),
            (*more("LINNET_API void linnet_two(const linnet_cuda_device* gpu);\n", device), "linnet_two takes something [experimental]"),
            (*more("LINNET_API const linnet_cuda_device* linnet_two(void);\n", device), "linnet_two takes something [experimental]"),
            (device, "  linnet_sensors* sensors; ", "  linnet_cuda_device* gpu;\n  linnet_sensors* sensors; ",
             "linnet_power_params.gpu is something [experimental]"),
            (*more("LINNET_API int linnet_two(int32_t x, linnet_error* err);\n"), "linnet_two takes a linnet_error* and returns no"),
            (*more("typedef struct linnet_two {\n} linnet_two;\n"), "linnet_two does not begin with uint32_t size"),
            (core, "  uint32_t size, seq;\n", "  uint32_t size[1], seq;\n", "linnet_rows does not begin with uint32_t size"),
            (core, "  size_t n_tokens; /* at least 1 */\n", "  linnet_need need;\n", "linnet_rows.need: the struct linnet_need may grow"),
            ("linnet_chat.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n', "", 'typedef is not within extern "C"'),
            (core, "\n#ifdef __cplusplus\n}\n#endif\n", "\n", 'extern "C" does not end'),
            ("linnet_chat.h", "\n}\n#endif\n", "\n}\n#endif\nLINNET_API void linnet_two(void);\n", 'LINNET_API is not within extern "C"'),
        ]
        texts = {h.name: h.read_text() for h in INCLUDE.glob("*.h")}
        for name, text in texts.items():
            (self.dir / name).write_text(text)
        self.assertEqual(describe(self.dir).stderr, "")
        for name, old, new, wanted in cases:
            with self.subTest(wanted=wanted):
                self.assertIn(old, texts[name])
                (self.dir / name).write_text(texts[name].replace(old, new, 1))
                done = describe(self.dir)
                (self.dir / name).write_text(texts[name])
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"^{name}:\d+: .*{re.escape(wanted)}")
                self.assertNotIn("Traceback", done.stderr)

    def test_objects(self):
        """Numbers come of these headers or not at all."""
        for header in INCLUDE.glob("*.h"):
            shutil.copy(header, self.dir)
        source, made, out = self.dir / "numbers.c", self.dir / "numbers.o", self.dir / "linnet.json"

        def build():
            self.assertEqual(describe(self.dir, "--source", source).stderr, "")
            self.assertEqual(run(ARGS.cc, "-std=c11", "-c", "-I", self.dir, source, "-o", made).stderr, "")

        build()
        self.assertEqual(describe(self.dir, "--object", made, "--out", out).returncode, 0)
        self.assertEqual(json.loads(out.read_text()), API)
        text = (self.dir / "linnet.h").read_text()
        self.assertIn("  size_t n_tokens; /* at least 1 */\n", text)
        (self.dir / "linnet.h").write_text(text.replace("  size_t n_tokens; /* at", "  uint32_t more; size_t n_tokens; /* at", 1))
        self.assertIn("was made from other headers", describe(self.dir, "--object", made, "--out", out).stderr)
        build()
        self.assertEqual(describe(self.dir, "--object", made, "--out", out).returncode, 0)
        rows = [s for h in json.loads(out.read_text())["headers"] for s in h["structs"] if s["name"] == "linnet_rows"][0]
        self.assertEqual([f["name"] for f in rows["fields"]], ["size", "seq", "more", "n_tokens", "tokens"])
        self.assertEqual(rows["fields"][2]["offset"], 8)
        source.write_text("int nothing;\n")
        run(ARGS.cc, "-c", source, "-o", made)
        self.assertIn("holds no numbers", describe(self.dir, "--object", made, "--out", out).stderr)


class Compilers(Folder):
    STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-c", "-I", INCLUDE)

    def compilers(self):
        """(command, standard, ending): the build's own, GCC and Clang."""
        found = {}
        for ending, commands in ("c", (ARGS.cc, "gcc", "clang")), ("cpp", (ARGS.cxx, "g++", "clang++")):
            for path in filter(None, map(shutil.which, commands)):
                version = run(path, "--version")
                if version.returncode == 0:
                    found[version.stdout + ending] = path, ending
        self.assertGreaterEqual({ending for _, ending in found.values()}, {"c", "cpp"})
        standards = {"c": ("c11",), "cpp": ("c++17", "c++20")}
        return [(path, standard, ending) for path, ending in found.values() for standard in standards[ending]]

    def compile(self, compiler, text, *options):
        path, standard, ending = compiler
        (self.dir / f"app.{ending}").write_text(text)
        return run(path, f"-std={standard}", *self.STRICT, *options, self.dir / f"app.{ending}", "-o", self.dir / "app.o").stderr

    def test_headers(self):
        """Each alone; all in both orders, and once more."""
        names = [h["name"] for h in API["headers"]]
        for compiler in self.compilers():
            for some in [[n] for n in names] + [names + names, names[::-1]]:
                with self.subTest(compiler=compiler, headers=some):
                    text = "".join(f"#include <{n}>\n" for n in some)
                    self.assertEqual(self.compile(compiler, text + "int app(void);\nint app(void) { return (int)linnet_version(); }\n"), "")

    def test_sizes(self):
        """C++ sees what C sees."""
        lines = ["#include <stddef.h>"] + [f"#include <{h['name']}>" for h in API["headers"]]
        for s in every("structs"):
            if not s["opaque"]:
                name = s["name"]
                lines.append(f'static_assert(sizeof({name}) == {s["bytes"]} && alignof({name}) == {s["align"]}, "{name}");')
                lines += [f'static_assert(offsetof({name}, {f["name"]}) == {f["offset"]}, "{name}.{f["name"]}");' for f in s["fields"]]
        for e in every("enums"):
            name, sign = e["name"], "<" if e["type"] == "int32_t" else ">"
            lines.append(f'static_assert(sizeof({name}) == 4 && {name}(-1) {sign} {name}(0), "{name}");')
            lines += [f'static_assert({v["name"]} == {v["value"]}, "{v["name"]}");' for v in e["values"]]
        for compiler in self.compilers():
            if compiler[2] == "cpp":
                with self.subTest(compiler=compiler):
                    self.assertEqual(self.compile(compiler, "\n".join(lines) + "\n"), "")

    def test_short_enums(self):
        """As firmware's compilers have them: an app's own enum is a byte, linnet's have 32 bits and the sign that linnet.json says."""
        lines = ["#include <assert.h>", "enum app { APP = 1 };", 'static_assert(sizeof(enum app) == 1, "-fshort-enums");']
        lines += [f"#include <{h['name']}>" for h in API["headers"]]
        for e in every("enums"):
            name, sign = e["name"], "<" if e["type"] == "int32_t" else ">"
            lines.append(f'static_assert(sizeof({name}) == 4 && sizeof(enum {name}) == 4 && ({name})-1 {sign} ({name})0, "{name}");')
        for compiler in self.compilers():
            with self.subTest(compiler=compiler):
                self.assertEqual(self.compile(compiler, "\n".join(lines) + "\n", "-fshort-enums"), "")

    def test_dropped_status(self):
        app = "#include <linnet.h>\nint app(linnet_session* s);\nint app(linnet_session* s) {{ {} }}\n"
        for compiler in self.compilers():
            with self.subTest(compiler=compiler):
                self.assertEqual(self.compile(compiler, app.format("return linnet_truncate(s, 0, 0, NULL) == LINNET_OK;")), "")
                dropped = self.compile(compiler, app.format("linnet_truncate(s, 0, 0, NULL); return 0;"))
                self.assertRegex(dropped, r"ignoring return(ed)? value.*\[-Werror[=,](-W)?unused-(result|value)\]")
                self.assertEqual(self.compile(compiler, app.format("linnet_cancel(s); return 0;")), "")


class Documents(unittest.TestCase):
    def test_gone(self):
        """Names of 0.1 are neither declared nor spoken of."""
        names = {t["name"] for kind in ("enums", "constants", "structs", "callbacks", "functions") for t in every(kind)}
        names |= {v["name"] for e in every("enums") for v in e["values"]}
        self.assertEqual(names & GONE, set())
        self.assertEqual({f["name"] for s in every("structs") for f in s.get("fields", [])} & GONE_MEMBERS, set())
        gone = re.compile(rf"\b(?:{'|'.join(sorted(GONE))})\b|(?:\.|->)(?:{'|'.join(sorted(GONE_MEMBERS))})\b".encode())
        listed = run("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "examples", "docs", "README.md")
        files = [ROOT / f for f in listed.stdout.splitlines()]
        if not files:  # not a git checkout
            files = [ROOT / "README.md", *(ROOT / "examples").rglob("*"), *(ROOT / "docs").rglob("*")]
        files = [f for f in files if f.is_file() and f.suffix != ".gguf" and "__pycache__" not in f.parts]
        self.assertGreater(len(files), 50)
        spoken = []
        for file in files:
            for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
                spoken += [f"{file.relative_to(ROOT)}:{number}: {word.decode()}" for word in gone.findall(line)]
        self.assertFalse(spoken, "\n".join(["names of 0.1:", *spoken]))


class Exports(unittest.TestCase):
    def exported(self, library):
        nm = run("nm", "-D", "--defined-only", library)
        self.assertEqual(nm.returncode, 0, nm.stderr)
        return {line.split()[-1].partition("@")[0] for line in nm.stdout.splitlines()}

    def described(self, library):
        return {f["name"] for f in every("functions") if f["library"] == library}

    @unittest.skipUnless(ARGS.lib, "no shared library")
    def test_core(self):
        self.assertEqual(self.exported(ARGS.lib), self.described("linnet"))

    @unittest.skipUnless(ARGS.convert, "no shared library of linnet::convert")
    def test_convert(self):
        self.assertEqual(self.exported(ARGS.convert), self.described("linnet_convert"))

    @unittest.skipUnless(ARGS.profile, "no shared library of linnet::profile")
    def test_profile(self):
        self.assertEqual(self.exported(ARGS.profile), self.described("linnet_profile"))


class Failed(Exception):
    def __init__(self, name, status, err):
        super().__init__(f"{name}: {status}: {err.text.decode()}")
        self.status, self.err = status, err


class Binding:
    """What somebody who has linnet.json, and no header, makes of it."""
    NUMBERS = {"char": ctypes.c_char, "int": ctypes.c_int, "float": ctypes.c_float, "double": ctypes.c_double,
               "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
               "uint64_t": ctypes.c_uint64}

    def __init__(self, library):
        self.types = dict(self.NUMBERS)
        self.types.update((e["name"], self.NUMBERS[e["type"]]) for e in every("enums"))
        self.values = {v["name"]: v["value"] for e in every("enums") for v in e["values"]}
        self.values.update((c["name"], c["value"]) for c in every("constants"))
        structs = [s for s in every("structs") if not s["opaque"]]
        self.types.update((s["name"], type(s["name"], (ctypes.Structure,), {})) for s in structs)
        for c in every("callbacks"):  # pointers to structs come as addresses
            self.types[c["name"]] = ctypes.CFUNCTYPE(self.field(c["returns"]), *[self.field(a["type"]) for a in c["arguments"]])
        todo = collections.deque(structs)
        while todo:  # a struct within another one comes first
            s = todo.popleft()
            if any("*" not in f["type"] and f["type"] in {t["name"] for t in todo} for f in s["fields"]):
                todo.append(s)
                continue
            made = self.types[s["name"]]
            kinds = [(f, self.field(f["type"])) for f in s["fields"]]
            made._fields_ = [(f["name"], kind * f["count"] if "count" in f else kind) for f, kind in kinds]
            for f in s["fields"]:
                at = getattr(made, f["name"])
                assert (at.offset, at.size) == (f["offset"], f["bytes"]), f"{s['name']}.{f['name']}: {at}"
            assert (ctypes.sizeof(made), ctypes.alignment(made)) == (s["bytes"], s["align"]), s["name"]
        if library is None:
            return
        self.library = ctypes.CDLL(library)
        self.functions = {f["name"]: f for f in every("functions") if f["library"] == "linnet"}
        for f in self.functions.values():
            call = getattr(self.library, f["name"])
            call.restype = ctypes.c_char_p if f["returns"] == "const char*" else self.field(f["returns"])
            call.argtypes = [self.argument(a["type"]) for a in f["arguments"]]

    def field(self, kind):
        """Pointers as addresses: texts in structs have lengths beside them."""
        return ctypes.c_void_p if "*" in kind else None if kind == "void" else self.types[kind]

    def argument(self, kind):
        base, stars = re.sub(r"\bconst\b|\*", "", kind).strip(), kind.count("*")
        made = self.types.get(base)
        if stars and (made is None or base == "char"):  # void, what is opaque; text
            made, stars = ctypes.c_char_p if base == "char" else ctypes.c_void_p, stars - 1
        for _ in range(stars):
            made = ctypes.POINTER(made)
        return made

    def new(self, name, **fields):
        made = self.types[name](**fields)
        if hasattr(made, "size"):
            made.size = ctypes.sizeof(made)
        return made

    def __call__(self, name, *args):
        """A call; one that may fail raises the library's sentence."""
        if not self.functions[name]["checked"]:
            return getattr(self.library, name)(*args)
        err = self.new("linnet_error")
        status = getattr(self.library, name)(*args, ctypes.byref(err))
        if status != self.values["LINNET_OK"]:
            assert err.code == status and err.text, f"{name}: {status} without a sentence"
            raise Failed(name, status, err)
        return None


@unittest.skipUnless(ARGS.lib, "no shared library")
class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.linnet = Binding(ARGS.lib)

    def make(self, what, need_of, init_of):
        """The two steps: need and init, in memory of the library's helper; one byte less is refused."""
        linnet = self.linnet
        need, out = linnet.new("linnet_need"), ctypes.c_void_p()
        linnet(f"{what}_need", *need_of, ctypes.byref(need))
        memory = linnet("linnet_mem_alloc", need.bytes)
        self.addCleanup(linnet, "linnet_mem_free", memory, need.bytes)
        with self.assertRaises(Failed) as refused:
            linnet(f"{what}_init", ctypes.byref(out), memory, need.bytes - 1, *init_of)
        self.assertEqual(refused.exception.status, linnet.values["LINNET_TOO_SMALL"])
        linnet(f"{what}_init", ctypes.byref(out), memory, need.bytes, *init_of)
        return out

    def test_texts(self):
        linnet = self.linnet
        major, minor, patch = map(int, API["version"].split("."))
        self.assertEqual(linnet("linnet_version"), major << 16 | minor << 8 | patch)
        self.assertIn(API["version"].encode(), linnet("linnet_build_info"))
        for value in [e for e in every("enums") if e["name"] == "linnet_status"][0]["values"]:
            self.assertEqual(linnet("linnet_status_text", value["value"]).decode(), value["name"])
        self.assertTrue(linnet("linnet_status_text", -1000))
        for value in [e for e in every("enums") if e["name"] == "linnet_format"][0]["values"]:
            if value["value"]:
                name = linnet("linnet_format_name", value["value"])
                self.assertEqual(name.decode().upper(), value["name"].partition("_")[2])
                self.assertEqual(linnet("linnet_format_from_name", name), value["value"])
        self.assertIsNone(linnet("linnet_format_name", 1000))
        self.assertEqual(linnet("linnet_format_from_name", b"?"), linnet.values["LINNET_FORMAT_DEFAULT"])
        for value in [e for e in every("enums") if e["name"] == "linnet_role"][0]["values"]:
            if value["value"]:
                self.assertEqual(linnet("linnet_role_name", value["value"]).decode().upper(), value["name"].rpartition("_")[2])

    def test_error(self):
        view = self.linnet.new("linnet_view")
        with self.assertRaisesRegex(Failed, "/nowhere/at/all") as refused:
            self.linnet("linnet_file_map", b"/nowhere/at/all", self.linnet.values["LINNET_LOAD_MAP"], ctypes.byref(view))
        self.assertEqual(refused.exception.status, self.linnet.values["LINNET_IO"])
        self.assertIsNone(view.data)

    def test_board(self):
        linnet = self.linnet
        board = self.make("linnet_board", (), (None,))
        desc, cluster = linnet.new("linnet_board_desc"), linnet.new("linnet_cluster")
        linnet("linnet_board_info", board, ctypes.byref(desc))
        self.assertEqual(desc.size, ctypes.sizeof(desc))
        self.assertGreaterEqual(desc.n_cpus, desc.n_cores)
        self.assertGreaterEqual(desc.n_cores, 1)
        self.assertEqual(sum(bin(word).count("1") for word in desc.cpus.word), desc.n_cpus)
        for i in range(desc.n_clusters):
            linnet("linnet_board_cluster", board, i, ctypes.byref(cluster))
            self.assertGreater(cluster.strength, 0)
        with self.assertRaises(Failed) as refused:
            linnet("linnet_board_cluster", board, desc.n_clusters, ctypes.byref(cluster))
        self.assertEqual(refused.exception.status, linnet.values["LINNET_BAD_ARG"])

    def test_generates(self):
        linnet, values = self.linnet, self.linnet.values
        file = linnet.new("linnet_view")
        linnet("linnet_file_map", str(MODEL).encode(), values["LINNET_LOAD_MAP"], ctypes.byref(file))
        self.addCleanup(linnet, "linnet_file_unmap", ctypes.byref(file))
        self.assertEqual(file.bytes, MODEL.stat().st_size)
        model = self.make("linnet_model", (ctypes.byref(file), None), (ctypes.byref(file), None))
        self.addCleanup(linnet, "linnet_model_fini", model)
        desc = linnet.new("linnet_model_desc")
        linnet("linnet_model_info", model, ctypes.byref(desc))
        self.assertEqual((desc.size, desc.n_vocab, desc.has_tokenizer), (ctypes.sizeof(desc), 2048, 1))
        self.assertTrue(linnet("linnet_format_from_name", ctypes.string_at(desc.weights)))

        prompt, flags = b"turn on the light in the kitchen", values["LINNET_ADD_SPECIAL"] | values["LINNET_PARSE_SPECIAL"]
        scratch, n = ctypes.c_size_t(), ctypes.c_size_t()
        linnet("linnet_tokenize_need", model, len(prompt), ctypes.byref(scratch))
        memory, tokens = ctypes.create_string_buffer(scratch.value), (ctypes.c_int32 * (3 * len(prompt) + 8))()
        with self.assertRaises(Failed) as refused:
            linnet("linnet_tokenize", model, prompt, len(prompt), flags, memory, scratch, None, 0, ctypes.byref(n))
        self.assertEqual(refused.exception.status, values["LINNET_TOO_SMALL"])
        count = n.value
        linnet("linnet_tokenize", model, prompt, len(prompt), flags, memory, scratch, tokens, len(tokens), ctypes.byref(n))
        self.assertEqual(n.value, count)
        text = ctypes.create_string_buffer(256)
        linnet("linnet_detokenize", model, tokens, count, values["LINNET_SKIP_SPECIAL"], text, len(text), ctypes.byref(n))
        self.assertEqual(text.raw[:n.value].strip(), prompt)

        params = linnet.new("linnet_session_params", n_context=count + 16, n_threads=1, threads=values["LINNET_THREADS_OWN"])
        session = self.make("linnet_session", (model, ctypes.byref(params)), (model, ctypes.byref(params)))
        self.addCleanup(linnet, "linnet_session_fini", session)
        sampling = linnet.new("linnet_sampling")
        linnet("linnet_sampling_init", ctypes.byref(sampling))
        self.assertEqual((sampling.temperature, sampling.top_p, sampling.repeat_penalty, sampling.penalty_last_n), (0, 1, 1, 64))
        linnet("linnet_sampling_set", session, 0, ctypes.byref(sampling))
        linnet("linnet_prefill", session, 0, tokens, count)
        how, out = linnet.new("linnet_generate_params", max_tokens=8, ignore_eos=1), linnet.new("linnet_generated")
        linnet("linnet_generate_begin", session, 0, ctypes.byref(how))
        drawn, said = [], b""
        while True:
            linnet("linnet_generate_next", session, 0, ctypes.byref(out))
            drawn += [out.token] if out.token >= 0 else []
            said += ctypes.string_at(out.utf8, out.n_bytes) if out.n_bytes else b""
            if out.why != values["LINNET_STOP_NONE"]:
                break
        print(f"{prompt.decode()} -> {said.decode()!r}")
        self.assertEqual((out.why, out.n_tokens, len(drawn)), (values["LINNET_STOP_LENGTH"], 8, 8))
        held = (ctypes.c_int32 * (count + 8))()
        linnet("linnet_tokens", session, 0, 0, held, len(held), ctypes.byref(n))
        self.assertEqual((n.value, list(held)), (count + 8, list(tokens[:count]) + drawn))
        with self.assertRaises(Failed) as refused:
            linnet("linnet_generate_next", session, 0, ctypes.byref(out))
        self.assertEqual(refused.exception.status, values["LINNET_BAD_STATE"])

        # The same by a callback, which stops it at the third token.
        got = []

        def on_token(_, token, utf8, n_bytes):
            got.append((token, ctypes.string_at(utf8, n_bytes) if n_bytes else b""))
            return int(len(got) == 3)

        linnet("linnet_truncate", session, 0, count - 1)
        linnet("linnet_prefill", session, 0, (ctypes.c_int32 * 1)(tokens[count - 1]), 1)
        linnet("linnet_generate", session, 0, ctypes.byref(how), linnet.types["linnet_token_fn"](on_token), None, ctypes.byref(out))
        self.assertEqual((out.why, [t for t, _ in got if t >= 0]), (values["LINNET_STOP_CALLBACK"], drawn[:3]))
        self.assertTrue(said.startswith(b"".join(t for _, t in got)))

        # The tool, which is C++ on the same library, says the same.
        if ARGS.tool:
            ids = ",".join(map(str, tokens[:count]))
            done = run(ARGS.tool, "run", "-m", MODEL, "--tokens", ids, "-n", 8, "--temp", 0, "--ignore-eos", "--special", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["tokens"], answer["text"].encode()), (drawn, said))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=1)
