"""Jinja2 as transformers sets it up for chat templates, and the program that renders them with linnet: what the tests of templates compare.
Jinja2 comes from PyPI, once, to build/jinja: Debian's is older."""

import datetime
import fcntl
import json
import os
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JINJA, MARKUPSAFE = "3.1.6", "3.0.3"
NOW = 1772694489  # what strftime_now calls now: 2026-03-05 07:08:09
OUTPUT_BYTES = 1 << 22  # more than any text of the tests


def jinja():
    """The module, or the reason why there is none."""
    folder = os.path.join(ROOT, "build", "jinja")
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w") as lock:  # several tests may want it at a time
        fcntl.flock(lock, fcntl.LOCK_EX)
        want = (f"jinja2-{JINJA}.dist-info", f"markupsafe-{MARKUPSAFE}.dist-info")
        if not all(name in {n.lower() for n in os.listdir(folder)} for name in want):
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                "--root-user-action",
                "ignore",
                "--upgrade",
                "--target",
                folder,
                f"jinja2=={JINJA}",
                f"markupsafe=={MARKUPSAFE}",
            ]
            done = subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                return None, f"Jinja2 {JINJA} cannot be had from PyPI: {done.stdout.strip().splitlines()[-1:] or ['no pip']}"
    sys.path.insert(0, folder)
    try:
        import jinja2
    except ImportError as e:
        return None, f"Jinja2 {JINJA} cannot be loaded: {e}"
    return (jinja2, "") if jinja2.__version__ == JINJA else (None, f"Jinja2 here is {jinja2.__version__}, not {JINJA}")


class Reference:
    """Jinja2's environment as transformers 5.24 makes it."""

    def __init__(self, jinja2, now=NOW):
        from jinja2 import ext, nodes, sandbox, utils

        class Generation(ext.Extension):
            """{% generation %}: which tokens are the assistant's is for training; here it prints its body."""

            tags = {"generation"}

            def parse(self, parser):
                line = next(parser.stream).lineno
                body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
                return nodes.CallBlock(self.call_method("body"), [], [], body).set_lineno(line)

            def body(self, caller):
                return caller()

        class Dict:
            """`dict` in the sandbox."""

            def __call__(self, *args, **named):
                return dict(*args, **named)

            def fromkeys(self, *args):
                return dict.fromkeys(*args)

        class Namespace(utils.Namespace):
            def __init__(*args, **named):
                for name in dict(*args[1:], **named):
                    if str(name).startswith("_"):
                        raise sandbox.SecurityError(f"a namespace has no {name}")
                utils.Namespace.__init__(*args, **named)

        def raise_exception(message):
            raise jinja2.TemplateError(message)

        def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
            return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

        def strftime_now(format):
            return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=now)).strftime(format)

        self.compiled = {}
        self.environment = sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
        )
        self.environment.filters["tojson"] = tojson
        self.environment.globals.update(raise_exception=raise_exception, strftime_now=strftime_now, dict=Dict(), namespace=Namespace)

    def render(self, template, context, tokens=None):
        """(text, None) or (None, why not). tokens: the model's own special tokens, which the caller's variables cannot replace here."""
        variables = {"tools": None, "documents": None, "add_generation_prompt": False, **context, **(tokens or {})}
        try:
            if len(self.compiled) > 100:
                self.compiled.clear()
            if template not in self.compiled:
                self.compiled[template] = self.environment.from_string(template)
            text = self.compiled[template].render(**variables)
            text.encode()
            return text, None
        except Exception as e:
            return None, f"{type(e).__name__}: {e}"


def case(template, context, tokens=None, now=NOW):
    """One line for the program. The context is a text in it, so that its numbers reach linnet's own reader."""
    if not isinstance(context, str):
        context = json.dumps(context, ensure_ascii=False)
    return {"template": template, "context": context, "tokens": tokens or {}, "now": now}


def run(program, cases, seconds=120):
    """What linnet makes of each case: {"text", "data"} or {"error"}; "crash" and "late" instead where the program does not answer."""
    answers = []
    while len(answers) < len(cases):
        rest = cases[len(answers) :]
        text = "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in rest)
        late = False
        child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = child.communicate(text.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            late = True
        lines = out.split(b"\n")
        if lines[-1]:
            late = late or child.returncode == 0
        got = [json.loads(line) for line in lines[:-1]]
        answers += got
        if len(got) == len(rest):
            break
        if late:
            answers.append({"late": seconds})
        else:
            code = child.returncode
            name = signal.Signals(-code).name if code < 0 else f"exit {code}"
            answers.append({"crash": f"{name}: {err.decode(errors='replace').strip()[-1500:]}"})
    return answers


def own_ranges(answer):
    """The byte ranges of a rendered text that are the template's."""
    size, at, own = len(answer["text"].encode()), 0, []
    for start, stop in answer["data"]:
        if start > at:
            own.append((at, start))
        at = stop
    if at < size:
        own.append((at, size))
    return own


def range_faults(answer):
    """What is wrong with the ranges by themselves: they are in order, apart, inside, and cut no character."""
    data, at = answer["text"].encode(), -1
    for start, stop in answer["data"]:
        if not (at < start < stop <= len(data)):
            return f"the range {start}..{stop} behind {at} in {len(data)} bytes"
        if data[start] & 0xC0 == 0x80 or (stop < len(data) and data[stop] & 0xC0 == 0x80):
            return f"the range {start}..{stop} cuts a character"
        at = stop
    return None
