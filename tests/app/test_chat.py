#!/usr/bin/env python3
"""`linnet chat` as it is used: test_chat.py LINNET [edit]. Standard library only.

Over a pipe, and on a terminal, where with `edit` lines are edited by libedit. Runs on a tiny random model (tiny_model.py), whose answers a
schema holds to letters.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import scripted_model
import tiny_model

LINNET = os.path.abspath(sys.argv[1])
EDIT = "edit" in sys.argv[2:]
TEMPLATE = """{%- for m in messages %}{{ '[' + m.role + ']' + m.content + '\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '[assistant]' }}{%- if enable_thinking is defined and enable_thinking %}{{ '<think>\\n' }}{% endif %}{% endif %}"""
WORD = {"type": "string", "pattern": "^[a-z]*$"}
LEFT, UP, CTRL_A, CTRL_C, CTRL_D, CTRL_R = "\x1b[D", "\x1b[A", "\x01", "\x03", "\x04", "\x12"


def paste(text):
    return f"\x1b[200~{text}\x1b[201~"


class Terminal:
    """The tool as somebody at a terminal has it."""

    def __init__(self, *args, env=None):
        self.mine, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))

        def own():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([LINNET, *map(str, args)], stdin=its, stdout=its, stderr=its, preexec_fn=own, env=env)
        os.close(its)
        self.shown = b""

    def until(self, pattern, seconds=60):
        """What is shown up to this, which is taken away."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern.encode(), self.shown, re.DOTALL)):
            ready = select.select([self.mine], [], [], max(0.0, end - time.monotonic()))[0]
            try:
                piece = os.read(self.mine, 65536) if ready else b""
            except OSError:  # its end
                piece = b""
            if not piece:
                raise AssertionError(f"no {pattern!r} in {self.shown[-2000:]!r}")
            self.shown += piece
        before, self.shown = self.shown[:found.end()], self.shown[found.end():]
        return before.decode("utf-8", "replace")

    def prompt(self):
        return self.until(r"\x1b\[\?2004h[>.] " if EDIT else r"[>.] $")

    def keys(self, text):
        os.write(self.mine, text.encode())

    def say(self, text):
        """Types a line, and returns what is shown until the next one can be typed."""
        self.keys(text + "\r")
        if EDIT:
            self.until(r"\x1b\[\?2004l")  # the line is taken
        else:
            self.until("\r\n")
        return self.prompt()

    def end(self, code=0):
        try:
            self.until("never shown")
        except AssertionError:
            pass
        assert self.process.wait(timeout=60) == code, self.process.returncode
        os.close(self.mine)


class Chat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="linnet-test-"))
        folder = tiny_model.make(cls.dir / "tiny")
        (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE, "bos_token": "<s>", "eos_token": "</s>"}))
        cls.packed = cls.dir / "chat.gguf"
        subprocess.run([LINNET, "convert", folder, "-o", cls.packed], check=True, capture_output=True)
        cls.schema = cls.dir / "word.json"
        cls.schema.write_text(json.dumps(WORD))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        self.env = {"HOME": str(self.home), "TERM": "xterm", "PATH": os.environ["PATH"]}
        self.args = ("chat", "-m", self.packed, "--schema", self.schema, "-n", 12)

    def pipe(self, text, *more, code=0):
        """Answers, and what is on stderr."""
        done = subprocess.run([LINNET, *map(str, self.args), *map(str, more)], input=text.encode(), capture_output=True, timeout=120, env=self.env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode().splitlines(), done.stderr.decode()

    def saved(self, path=None):
        return [(m["role"], m["content"]) for m in json.loads((path or self.home / "s.json").read_text())["messages"]]

    def answer_to(self, messages, *more):
        """Of a session that holds nothing."""
        line = json.dumps([{"role": role, "content": content} for role, content in messages])
        return json.loads(self.pipe(line, "--json", *more)[0][0])["text"]

    # ---- over a pipe

    def test_several_lines(self):
        """A line that ends with a backslash goes on; what stands between three quotation marks is one message."""
        text = 'a\\\nb\\\n\n"""one line"""\n"""\n  two\n"quoted" \\\n"""\n"""x\n\ny"""\n/tool """\n{\n}"""\n//"""\n""""""\nlast\\\n'
        answers, err = self.pipe(text + f"\n/save {self.home}/s.json\nmore\\", "-c", 2000)
        self.assertEqual([(r, c) for r, c in self.saved() if r != "assistant"],
                         [("user", c) for c in ("a\nb\n", "one line", '  two\n"quoted" \\', "x\n\ny")] + [("tool", "{\n}")] + [("user", '/"""'), ("user", "last\n")])
        self.assertEqual(len(answers), 8)
        self.assertEqual((answers[:-1], err), ([c for r, c in self.saved() if r == "assistant"], ""))
        answers, err = self.pipe('hi\n"""\nno\nend\n', code=1)
        self.assertEqual(len(answers), 1)
        self.assertIn("has no end", err)
        half = ("x" * (1 << 19) + "\\\n") * 3
        answers, err = self.pipe("hi\n" + half + "\nyo\n", code=1)
        self.assertEqual((answers, err.count("longer than")), (self.pipe("hi\nyo\n")[0], 1))

    def test_commands(self):
        file = self.home / "s.json"
        drawn = ("--temp", 1, "--seed", 7)
        # A new answer, drawn as with the next seed; back, and the message too.
        answers, _ = self.pipe(f"hi\n/regen\n/save {file}\n/undo\n/save {self.home}/none.json\nhi\n", *drawn)
        self.assertNotEqual(answers[0], answers[1])
        self.assertEqual(answers[1], self.pipe("hi\n", "--temp", 1, "--seed", 8)[0][0])
        self.assertEqual((self.saved(), self.saved(self.home / "none.json")), ([("user", "hi"), ("assistant", answers[1])], []))
        self.assertEqual(self.pipe("hi\n/tool 1\n/undo\nyo\n")[0][2], self.pipe("hi\nyo\n")[0][1])
        self.assertEqual(self.pipe("hi\nyo\n/regen\n/regen\n")[0][1:], self.pipe("hi\nyo\n")[0][1:] * 3)  # the likeliest tokens
        # What was saved is taken up, by another session as well.
        answers, _ = self.pipe(f"hi\n/save {file}\nyo\n")
        self.assertEqual(self.pipe(f"other\n/load {file}\nyo\n")[0][1], answers[1])
        file.write_text(json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": answers[0]}]))
        self.assertEqual(self.pipe(f"/load {file}\nyo\n")[0], answers[1:])
        self.assertEqual(self.pipe("/save ~/h.json\nhi\n/load ~/h.json\nhi\n")[0], answers[:1] * 2)
        # System messages.
        with_system = self.pipe("hi\n", "--system", "be")[0]
        self.assertEqual(self.pipe("/system be\nhi\n/reset\nhi\n/system -\n/reset\nhi\n")[0], with_system * 2 + answers[:1])
        self.assertEqual(self.pipe("/system\n", "--system", "be\x1b[2J\nkind")[1], "be\\x1b[2J\nkind\n")
        self.assertIn("no system message", self.pipe("/system -\n/system\n", "--system", "be")[1])
        answers, _ = self.pipe(f"hi\n/system be\n/save {file}\n")
        self.assertEqual(self.saved()[0], ("system", "be"))
        # How long all of it is.
        rendered = json.loads(subprocess.run([LINNET, "template", str(self.packed), "--json", "--conversation", file], capture_output=True, check=True).stdout)
        self.assertEqual(self.pipe(f"/tokens\n/load {file}\n/tokens\n", "-c", 99)[1], f"0 tokens of 99\n{len(rendered['tokens'])} tokens of 99\n")
        stats = r"\(12 tokens, [\d.]+ tokens/s; \d+ new before them, \d+ tokens/s, first token after \d+ ms; context \d+ of 256\)\n"
        self.assertRegex(self.pipe("hi\n/stats off\nhi\n/stats on\nhi\n", "--stats")[1], f"^({stats}){{2}}$")
        for name in ("/help", "/regen", "/undo", "/reset", "/system TEXT", "/tool TEXT", "/save FILE", "/load FILE", "/tokens", "/stats on|off", "/exit", "Ctrl-C"):
            self.assertIn(name, self.pipe("/help\n")[1])

    def test_refused_commands(self):
        """A sentence, the exit code at the end, and the conversation as it was."""
        good = self.pipe("hi\nyo\n")[0]
        (self.home / "junk.json").write_text('{"messages": [{"role": 1}]}')
        (self.home / "junk.bin").write_bytes(bytes(range(256)) * 40)
        for line, said in [
            ("/hepl", "did you mean '/help'"), ("/bye", "did you mean '/exit'"), ("/clear", "did you mean '/reset'"), ("/retry", "did you mean '/regen'"), ("/set system x", "/system TEXT"),
            ("/frobnicate", "/help lists"), ("/", "there is no '/'"), ("/tool", "takes TEXT"), ("/save", "takes FILE"), ("/save /nowhere/s.json", "/nowhere/s.json"), ("/load /nowhere/s.json", "/nowhere/s.json"),
            (f"/load {self.home}/junk.json", "no text 'role'"), (f"/load {self.home}/junk.bin", "not a JSON array"), ("/stats maybe", "'maybe'"), ("/reset now", "takes nothing"), ("/exit now", "takes nothing"), ("/\x1b", "\\x1b"),
        ]:
            with self.subTest(line=line):
                answers, err = self.pipe(f"hi\n{line}\nyo\n", code=1)
                self.assertIn(said, err)
                self.assertEqual(answers, good)
        for line in ("/regen", "/undo"):
            self.assertIn("yet", self.pipe(f"{line}\n", "--system", "be", code=1)[1])

    # ---- models that answer by what the prompt ends with (scripted_model.py)

    def scripted(self, answers, template, *more):
        """--schema would hold answers to one text: these models need none."""
        name = f"m{len(list(self.dir.glob('m*.gguf')))}"
        scripted_model.make(self.dir / name, answers, template)
        packed = self.dir / (name + ".gguf")
        self.assertEqual(subprocess.run([LINNET, "convert", "-q", self.dir / name, "-o", packed], capture_output=True).stderr, b"")
        self.args = ("chat", "-m", packed, "-c", 2000, *more)

    def json_answer(self, text, *more):
        lines = self.pipe(json.dumps([{"role": "user", "content": text}]), "--json", *more)[0]
        self.assertEqual(len(lines), 1)
        return json.loads(lines[0])

    def messages(self):
        return json.loads((self.home / "s.json").read_text())["messages"]

    def test_reasoning(self):
        """Shown apart or hidden, whatever its marks are, begun by the prompt or by the model; and the template's switch is set."""
        template = ("{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' and m.reasoning_content %}<hm>{{ m.reasoning_content }}</hm>{% endif %}{{ m.content }}{% endfor %}"
                    "{% if add_generation_prompt %}[assistant]{% if deep is defined and deep %}<hm>{% endif %}{{ '' }}{% endif %}")
        self.scripted({"]": [("<hm>", True), ("\nHm", False), ("</hm >", False), (" so\n", False), ("</hm>", False), ("\n\nNo", False), ("<|fim|>", True), (" more", False)]}, template)
        thought, said = "Hm</hm > so", "No more"
        lengths = {}
        for how in (), ("--reasoning", "off"), ("--reasoning", "show"), ("--reasoning", "hide"):
            shown = [said] if "hide" in how or "off" in how else ["<think>", thought, "</think>", "", said]
            self.assertEqual(self.pipe("hi\n", *how), (shown, ""))
            answer = self.json_answer("hi", *how)
            self.assertEqual((answer["text"], answer["reasoning_content"], answer["tool_calls"]), (said, thought, []))
            lengths[how] = answer["prompt_tokens"], len(answer["tokens"])
        self.assertEqual(lengths[()], lengths["--reasoning", "off"])
        self.assertEqual(lengths["--reasoning", "show"], lengths["--reasoning", "hide"])
        self.assertEqual(lengths["--reasoning", "show"], (lengths[()][0] + 1, lengths[()][1] - 1))  # the prompt has begun it
        self.pipe(f"hi\n/save {self.home}/s.json\n", "--reasoning", "hide")
        self.assertEqual(self.messages()[1], {"role": "assistant", "content": said, "reasoning_content": thought})
        self.assertEqual(self.pipe("hi\n", "--special")[0][-1], "No<|fim|> more")
        # A template that knows no calls has what was shown of an answer with one.
        self.scripted({"]": [("<hm>", True), ("Hm", False), ("</hm>", True), ('{"name": "ping",', False), (' "arguments": {}}', False)]}, template)
        self.assertEqual(self.pipe(f"hi\n/save {self.home}/s.json\n", "--reasoning", "hide")[0], ['{"name":"ping","arguments":{}}'])
        self.assertEqual(self.messages()[1], {"role": "assistant", "content": '{"name":"ping","arguments":{}}'})
        plain = self.dir / "plain.jinja"
        plain.write_text("{# thinking #}thinking {{ messages[0].thinking }}{{ 'thinking' }}{% for m in messages %}{{ m.content }}{% endfor %}")
        self.assertIn("no switch", self.pipe("hi\n", "--reasoning", "off", "--template", plain)[1])
        # What obeys a schema is the answer, whatever the prompt has begun.
        schema = self.dir / "word2.json"
        schema.write_text('{"const": {"name": "Bob", "parameters": {"age": 3}}}')
        self.assertEqual(self.pipe("hi\n", "--reasoning", "show", "--schema", schema), (['{"name":"Bob","parameters":{"age":3}}'], ""))

    def test_calls(self):
        """Calls in the template's own format are a part of the conversation, and wait for their results."""
        template = ("{{ (tools or [])|length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for t in m.tool_calls %}<go>{{ {'name': t.function.name, 'arguments': ARGUMENTS}|tojson }}</go>{% endfor %}"
                    "{{ m.name }}{{ m.tool_call_id }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{{ messages[-1].content[-1] }}{% endif %}")
        as_objects = template.replace("ARGUMENTS", "t.function.arguments")
        one = [("I look.\n", False), ("<go>", True), ('{"name": "clock",\n "arguments": {\n  "zone": "a \\"b\\" c"\n }}', False), ("</go>", True)]
        two = [("<go >", True), ("<go>{\"name\": \"clock\", \"arguments\": {\"n\": 1e999}}</go>", False), ("<go>{\"name\": \"ping\", \"arguments\": {}}</go>", False), ("\nDone.", False)]
        self.scripted({"a": one, "b": two, "c": [("It is noon.", False)], "d": [('{"name": "ping", "arguments": {"a": 1}}', False)]}, as_objects)
        line, lines = '{"name":"clock","arguments":{"zone":"a \\"b\\" c"}}', ['{"name":"clock","arguments":{"n":1e999}}', '{"name":"ping","arguments":{}}']
        answers, err = self.pipe(f"a\n/save {self.home}/s.json\n/tool noon c\n/save {self.home}/t.json\n/tool c\n", code=1)
        self.assertEqual(answers, ["I look.", line, "It is noon."])
        self.assertIn("no call waits", err)
        call = {"name": "clock", "arguments": {"zone": 'a "b" c'}}
        made = self.messages()[1]["tool_calls"][0]
        self.assertRegex(made["id"], "^[a-z0-9]{9}$")
        self.assertEqual((made["type"], made["function"], self.messages()[1]["content"]), ("function", call, "I look."))
        self.assertEqual(json.loads((self.home / "t.json").read_text())["messages"][2], {"role": "tool", "content": "noon c", "name": "clock", "tool_call_id": made["id"]})
        self.assertEqual([self.json_answer("a")[k] for k in ("text", "tool_calls")], ["I look.", [call]])
        # Several calls, one with a number that no double holds: each has its result before the model goes on, and what was loaded keeps its ids.
        answers, err = self.pipe(f"b\n/save {self.home}/s.json\n/tool 1\n/tool c\n/load {self.home}/s.json\n/tool 1\n/tool b\n/save {self.home}/t.json\n")
        self.assertEqual((answers, err), ([*lines, "Done.", "It is noon.", *lines, "Done."], "(1 more call without a result)\n" * 2))
        self.assertEqual(self.messages()[1]["tool_calls"][0]["function"]["arguments"], '{"n":1e999}')
        ids = [c["id"] for m in json.loads((self.home / "t.json").read_text())["messages"] for c in m.get("tool_calls", [])]
        self.assertEqual(len(set(ids)), 4)
        # Arguments as text, as other tools save them, and a template that takes them so.
        saved = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [dict(made, function=dict(call, arguments=json.dumps(call["arguments"])))]},
                 {"role": "tool", "content": "c"}]
        counts = [json.loads(self.pipe(json.dumps([saved[0], dict(saved[1], tool_calls=calls), saved[2]]), "--json")[0][0])["prompt_tokens"] for calls in (saved[1]["tool_calls"], [made])]
        self.assertEqual(counts[0], counts[1])
        other = self.dir / "as_text.jinja"
        other.write_text(as_objects.replace("{{ {'name': t.function.name, 'arguments': t.function.arguments}|tojson }}", "{\"name\": \"{{ t.function.name }}\", \"arguments\": {{ '' + t.function.arguments }}}"))
        self.assertEqual(self.pipe("a\n/tool c\n", "--template", other)[0], ["I look.", line, "It is noon."])
        # A template that knows no calls has them as what was said.
        other.write_text(as_objects.replace("m.tool_calls", "[]"))
        self.assertEqual(self.pipe(f"d\n/tool c\n/save {self.home}/s.json\n", "--template", other)[0], ['{"name":"ping","arguments":{"a":1}}', "It is noon."])
        self.assertEqual(self.messages()[1:3], [{"role": "assistant", "content": '{"name": "ping", "arguments": {"a": 1}}'}, {"role": "tool", "content": "c"}])
        # --tools: what the model begins as a call obeys; the template sees the tools, and their schemas must be known.
        tools = self.dir / "tools.json"
        tools.write_text(json.dumps([{"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {"zone": {"enum": ["UTC"]}}, "required": ["zone"]}}}]))
        self.assertEqual(self.pipe("a\n", "--tools", tools)[0], ["I look.", '{"name":"clock","arguments":{"zone":"UTC"}}'])
        tools.write_text('[{"name": "clock", "parameters": {"type": "object", "properties": {"zone": {"format": "x", "type": "string"}}}}]')
        self.assertIn('#/0/parameters/properties/zone: format "x" is not supported', self.pipe("hi\n", "--tools", tools, code=1)[1])
        # Nested as deep as nothing is.
        deep = '[{"role":"user","content":' + "[" * 300000 + "]" * 300000 + "}]"
        self.assertIn('"error"', self.pipe(deep, "--json", code=1)[0][0])

    # ---- on a terminal

    def chat(self, *more):
        terminal = Terminal(*self.args, *more, env=self.env)
        self.assertIn("/help", terminal.prompt())
        return terminal

    def test_terminal(self):
        """A conversation with every command."""
        t = self.chat("-c", 999)
        first = t.say("hi")
        t.say("a\\")
        t.say("b")
        for line, shown in [("/help", "/regen"), ("/tokens", "tokens of 999"), ("/regen", "the same"), ("/undo", "2 messages"), ("/stats on", ""), ("/tool 1", "context "), ("/system be", ""),
                            ("/system", "be"), (f"/save {self.home}/s.json", ""), (f"/load {self.home}/s.json", "5 messages"), ("/hlp", "did you mean '/help'"), ("/stats off", ""), ("//x", '"')]:
            self.assertIn(shown, t.say(line), line)
        self.assertEqual([role for role, _ in self.saved()], ["system", "user", "assistant", "tool", "assistant"])
        self.assertIn(self.saved()[2][1], first)
        t.say("/reset")
        t.say(f"/save {self.home}/s.json")
        self.assertEqual(self.saved(), [("system", "be")])
        t.keys("/exit\r")
        t.end()

    def test_ctrl_c_ends_an_answer(self):
        """What came of it stays, and the session is as if the model had said no more."""
        self.schema = self.dir / "long.json"
        self.schema.write_text(json.dumps({"type": "array", "items": {"enum": [1, 2]}, "minItems": 20000}))
        self.args = ("chat", "-m", self.packed, "--schema", self.schema, "-c", 50000)

        def stopped(terminal, line):
            terminal.keys(line + "\r")
            began = re.search(r"\[[12,]{20}", terminal.until(r"\[[12,]{20}"))[0]
            terminal.keys(CTRL_C)
            self.assertIn("what came stays", terminal.prompt())
            return began

        t = self.chat("-n", -1)
        for line in ("hi", "more"):
            stopped(t, line)
        t.say(f"/save {self.home}/s.json")
        messages = self.saved()
        self.assertEqual([role for role, _ in messages], ["user", "assistant"] * 2)
        self.assertRegex(messages[3][1], r"^\[[12,]{20,}$")
        rendered = json.loads(subprocess.run([LINNET, "template", self.packed, "--json", "--conversation", self.home / "s.json"], capture_output=True, check=True).stdout)
        self.assertIn(f"{len(rendered['tokens'])} tokens of 50000", t.say("/tokens"))
        began = stopped(t, "and")
        self.assertEqual(self.answer_to(messages + [("user", "and")], "-n", 21), began)
        self.assertEqual(stopped(t, "/regen"), began)
        self.assertIn("4 messages", t.say("/undo"))
        t.keys(CTRL_D)
        t.end()

    def test_ctrl_c_at_the_prompt(self):
        """It clears the line, and a second one ends the chat."""
        t = self.chat()
        t.keys("abc" + CTRL_C)
        self.assertIn("Ctrl-C again", t.prompt())
        t.say("/tokens")
        t.keys(CTRL_C)
        t.prompt()
        t.say('"""')
        t.say("def")
        t.keys(CTRL_C)
        t.prompt()
        if EDIT:  # which knows whether there is something to clear
            t.keys("ghi" + CTRL_C)
            t.prompt()
        t.say(f"/save {self.home}/s.json")
        self.assertEqual(self.saved(), [])
        t.keys(CTRL_C)
        t.prompt()
        t.keys(CTRL_C)
        t.end()
        t = self.chat()
        t.process.send_signal(signal.SIGTERM)
        t.end(-signal.SIGTERM)

    @unittest.skipUnless(EDIT, "no libedit")
    def test_editing(self):
        t = self.chat("-c", 999)
        t.say("hllo" + LEFT * 3 + "e")
        t.say("grüße " + LEFT * 2 + "\x7f€" + CTRL_A + "¡")
        t.say(UP + UP + "!")
        t.say(paste("one\rtwo\r\nthree\x1b[A\t\n"))
        t.say(paste('"""') + 'x"""')
        t.say(UP + UP)
        t.say(CTRL_R + "gr" + "\x05?")
        t.say("\\")
        t.say("")
        t.say(f"/save {self.home}/s.json")
        self.assertEqual([c for r, c in self.saved() if r == "user"], ["hello", "¡grü€e ", "hello!", "one\ntwo\nthree[A\t", "x", "one\ntwo\nthree[A\t", "¡grü€e?", "\n"])
        t.keys("x" + CTRL_D + "\x7f" + CTRL_D)
        t.end()

    @unittest.skipUnless(EDIT, "no libedit")
    def test_history(self):
        """It outlives the chat, in a file that is nobody else's; a message of several lines is one of its entries."""
        file = self.home / ".local/state/linnet/history"
        t = self.chat("-c", 999)
        for line in ("one", "one", "a\\", 'b "c"', '"""', "d", '"""', "/tokens"):
            t.say(line)
        t.keys(CTRL_D)
        t.end()
        self.assertEqual([json.loads(line) for line in file.read_text().splitlines()], ["one", "one", 'a\nb "c"', '"""\nd\n"""', "/tokens"])
        self.assertEqual((stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)), (0o600, 0o700))
        with file.open("a") as f:
            f.write("junk\n" + '"never \\u0000"\n' + "".join(f'"m{i}"\n' for i in range(2000)))
        t = self.chat()
        t.say(UP)
        t.say(f"/save {self.home}/s.json")
        self.assertEqual(self.saved()[0], ("user", "m1999"))
        t.keys(CTRL_D)
        t.end()
        kept = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual((len(kept), kept[0], kept[-2], stat.S_IMODE(file.stat().st_mode)), (1002, "m1000", "m1999", 0o600))
        shutil.rmtree(file.parent)
        self.env["XDG_STATE_HOME"] = str(self.home / "state")
        t = self.chat("--no-history")
        t.say("one")
        t.say("two")
        t.say(UP + UP)
        t.say(f"/save {self.home}/s.json")
        t.keys(CTRL_D)
        t.end()
        self.assertEqual([c for r, c in self.saved() if r == "user"], ["one", "two", "one"])
        self.assertFalse(file.parent.exists() or (self.home / "state").exists())
        t = self.chat()
        t.say("one")
        t.keys(CTRL_D)
        t.end()
        self.assertTrue((self.home / "state/linnet/history").exists())

    @unittest.skipUnless(EDIT, "no libedit")
    def test_plain(self):
        """A terminal that cannot move its cursor has lines as they come."""
        self.env["TERM"] = "dumb"
        t = Terminal(*self.args, env=self.env)
        t.until("> $")
        t.keys("hi\r")
        self.assertNotIn("\x1b[?2004h", t.until('"[a-z]+\r\n> $'))
        t.keys(CTRL_D)
        t.end()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
