#!/usr/bin/env python3
"""The man page and what shells complete, against what linnet COMMAND --help says: test_manual.py LINNET. Standard library only.

What needs a shell or a formatter of pages that is not installed is skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LINNET = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "linnet"


def run(*command, stdin=None, **more):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stderr}\n{done.stdout[:500]}"
    return done


def linnet(*args):
    return run(LINNET, *args).stdout


def needs(program):
    if not shutil.which(program):
        print(f"skipped: test_manual: {program} is not installed", flush=True)
        raise unittest.SkipTest(program)


def plain(roff):
    """Text as roff shows it."""
    text = re.sub(r"\\f[BIR]|\\&", "", roff)
    text = re.sub(r"\\\((\w\w)", lambda m: {"aq": "'", "dq": '"', "ga": "`", "ha": "^", "ti": "~"}[m[1]], text)
    return text.replace(r"\-", "-").replace(r"\e", "\\")


def words(text):
    return " ".join(text.split())


class Option:
    def __init__(self, names, argument, text):
        self.names, self.argument = names.split(", "), argument or ""
        self.text = text  # with "(default ...)"
        word = r"([\w-]+)(?: \([^)]*\))?"  # with a note
        listed = re.search(rf": ({word}(?:, {word})+)", text) if self.argument in ("HOW", "FMT", "WHEN", "L", "LEVEL") else None
        self.choices = [w[0] for w in re.finditer(r"[\w-]+", re.sub(r" \([^)]*\)", "", listed[1]))] if listed else []


class Command:
    def __init__(self, name, summary):
        self.name, self.summary = name, summary
        self.options = []
        if name in ("assistant", "serve"):  # other programs
            return
        usage, self.details = re.fullmatch(r"(.*?\n\noptions:\n.*?)(?:\n\n(.*))?\n", linnet(name, "--help"), re.S).groups()
        usage = re.sub(r"\n {29}", " ", usage)  # long lines go on there
        rows = re.findall(r"^  ((?:--?[\w-]+, )?--[\w-]+)(?: (\S+))? +(.*)$", usage, re.M)
        assert len(rows) == usage.count("\n  -") > 1, (name, usage)
        self.options = [Option(*row) for row in rows]

    def names(self):
        return {name for option in self.options for name in option.names}


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        overview = re.search(r"\ncommands:\n(.*?)\n\n", linnet("--help"), re.S)[1]
        cls.commands = [Command(*line.split(None, 1)) for line in overview.split("\n")]
        cls.page = linnet("manual")
        assert len(cls.commands) > 14 and sum(len(c.options) for c in cls.commands) > 150

    def test_words(self):
        """What the rest is compared with is there: words are found in --help where there are some."""
        listed = {o.names[-1]: o.choices for c in self.commands for o in c.options if o.choices}
        self.assertEqual(listed["--when-full"], ["stop", "drop-oldest", "sinks", "heavy-hitters", "snapkv"])
        self.assertEqual(listed["--layout"], ["packed", "plain"])
        self.assertGreaterEqual(set(listed), {"--weights", "--kv", "--load", "--cuda"})
        self.assertIn("kivi2", listed["--kv"])
        self.assertNotIn("kivi2", listed["--weights"])

    def test_every_word_is_taken(self):
        """One table: a word of --help parses, another is refused with all of them named."""
        for command in self.commands:
            for option in command.options:
                for word in option.choices:
                    run(LINNET, command.name, option.names[-1], word, "--help")
                if option.choices:
                    done = subprocess.run([LINNET, command.name, option.names[-1], "nonsense"], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(", ".join(option.choices[:-1]) + " or " + option.choices[-1] + ", not 'nonsense'", done.stderr)

    # ---- the man page -----------------------------------------------------------------------------------------------------

    def test_page(self):
        sections = re.findall(r"^\.SH (.*)$", self.page, re.M)
        self.assertEqual(sections, ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"])
        parts = re.split(r"^\.SS (.*)\n", self.page.split("\n.SH EXIT STATUS")[0] + "\n", flags=re.M)
        self.assertEqual(parts[1::2], [c.name for c in self.commands])
        for command, part in zip(self.commands, parts[2::2]):
            entries = [plain(e).split("\n", 1) for e in re.split(r"^\.TP\n", re.sub(r"^\.PP\n.*?(?=^\.TP\n|\Z)", "", part, flags=re.M | re.S), flags=re.M)[1:]]
            self.assertEqual([e[0] for e in entries], [" ".join([", ".join(o.names), *([o.argument] if o.argument else [])]) for o in command.options])
            for option, (_, text) in zip(command.options, entries):
                said = words(text)
                for piece in re.split(r"(?= \(default [^()]*\)$)", option.text):  # what it takes may stand between
                    self.assertIn(words(piece), said, (command.name, option.names))
            text = words(plain(re.sub(r"^\.\w+.*\n", "", part, flags=re.M)))
            self.assertIn(command.summary, text)
            if command.options:
                self.assertIn(words(re.sub(r"^example: ", "", command.details, flags=re.M)), re.sub(r"Example: ", "", text))

    def test_every_line_is_roff(self):
        """No character is left to the taste of a formatter, and nothing but requests begins with a dot or a quote."""
        for line in self.page.split("\n"):
            if line.startswith("."):
                self.assertRegex(line, r'^\.(TH LINNET 1 "" "[^"]*" "User Commands"|S[HS] [A-Za-z ]+|TP|PP|br|nh|ad l|RS 4|RE|nf|fi)$')
            else:
                self.assertNotRegex(line, r"^'|(?<!\\)[-'\"`^~]|\\(?![-e&]|f[BIR]|\((aq|dq|ga|ha|ti))")
                self.assertLess(len(line), 200)

    def rendered(self, *command):
        done = run(*command, stdin=self.page)
        text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
        for command in self.commands:
            self.assertRegex(text, rf"\n *{command.name}\n *linnet {command.name}\b")
            for option in command.options:
                self.assertRegex(text, rf"(?m)^ +{re.escape(', '.join(option.names))}\b")
        return done.stderr

    def test_groff(self):
        needs("groff")
        self.assertEqual(self.rendered("groff", "-man", "-ww", "-Tutf8"), "")

    def test_mandoc(self):
        needs("mandoc")
        self.assertEqual(self.rendered("mandoc", "-T", "utf8"), "")
        lint = subprocess.run(["mandoc", "-T", "lint"], input=self.page, capture_output=True, text=True, timeout=60)
        # The page has no date, so that two builds of one source are the same.
        self.assertEqual([line for line in (lint.stdout + lint.stderr).split("\n") if line and "missing date" not in line], [])

    # ---- completion --------------------------------------------------------------------------------------------------------

    def check_shell(self, complete):
        """complete(words before, the word begun) gives what the shell offers."""
        names = {c.name for c in self.commands}
        self.assertLessEqual(names | {"help"}, set(complete([], "")))
        self.assertEqual(complete([], "tok"), ["tokenize"])
        self.assertEqual(set(complete(["help"], "")), names)
        self.assertEqual(complete(["help"], "tok"), ["tokenize"])
        for command in self.commands:
            self.assertEqual(set(complete([command.name], "--")), {n for n in command.names() if n.startswith("--")}, command.name)
            for option in command.options:
                for word in option.choices:
                    self.assertEqual([w for w in complete([command.name, option.names[-1]], word) if w == word], [word], option.names)
        self.assertEqual(complete(["run"], "--te"), ["--temp"])
        self.assertEqual(complete(["run", "--when-full"], "s"), ["sinks", "snapkv", "stop"])
        self.assertEqual(complete(["completion"], ""), ["bash", "fish", "zsh"])
        self.assertEqual(complete(["convert", "--synthetic"], "smollm2-3"), ["smollm2-360m"])
        self.assertEqual(complete(["run", "--load", "map", "--cuda"], "o"), ["off", "on"])
        with tempfile.TemporaryDirectory(prefix="linnet-test-") as folder:
            for name in ("model a.gguf", "model.gguf", "other"):
                open(os.path.join(folder, name), "w").close()
            for before in (["run", "-m"], ["run", "--model"], ["inspect"], ["eval", "-m", "x"], ["plan", "--profile"], ["convert", "x", "-o"]):
                self.assertEqual([os.path.basename(f) for f in complete(before, folder + "/mo")], ["model a.gguf", "model.gguf"], before)
            for before in (["run"], ["run", "-n"], ["run", "-p"], ["completion"], ["run", "--when-full"]):
                self.assertEqual(complete(before, folder + "/mo"), [], before)

    def test_bash(self):
        needs("bash")
        with tempfile.NamedTemporaryFile("w", suffix=".bash") as script:
            script.write(linnet("completion", "bash"))
            script.flush()
            run("bash", "-n", script.name)

            def complete(before, word):
                code = 'source "$1"; shift; COMP_WORDS=(linnet "$@"); COMP_CWORD=$#; _linnet; printf "%s\\n" "${COMPREPLY[@]}"'
                done = run("bash", "--norc", "-uc", code, "bash", script.name, *before, word)
                self.assertEqual(done.stderr, "")
                return sorted(done.stdout.split("\n")[:-1]) if done.stdout != "\n" else []
            self.check_shell(complete)
            # bash makes three words of --option=value.
            self.assertEqual(complete(["run", "--when-full", "="], "s"), ["sinks", "snapkv", "stop"])
            self.assertEqual(complete(["run", "--load"], "="), ["copy", "lock", "map", "prewarm"])
            self.assertEqual(run("bash", "--norc", "-c", 'source "$1"; complete -p linnet', "bash", script.name).stdout, "complete -F _linnet linnet\n")

    def test_fish(self):
        needs("fish")
        with tempfile.TemporaryDirectory(prefix="linnet-test-") as home:
            file = os.path.join(home, "linnet.fish")
            with open(file, "w") as f:
                f.write(linnet("completion", "fish"))
            run("fish", "-n", file)
            env = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}

            def complete(before, word):
                done = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', file, " ".join(["linnet", *before, word]), env=env)
                self.assertEqual(done.stderr, "")
                return sorted(line.split("\t")[0].replace("\\ ", " ") for line in done.stdout.split("\n")[:-1])
            self.check_shell(complete)
            done = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C "linnet tok"', file, env=env)
            self.assertEqual(done.stdout, "tokenize\tprint a text's token ids as a JSON array\n")

    def test_zsh(self):
        """What the function hands to zsh's own _arguments and _describe, which complete in an editor alone."""
        needs("zsh")
        with tempfile.TemporaryDirectory(prefix="linnet-test-") as folder:
            file = os.path.join(folder, "_linnet")
            with open(file, "w") as f:
                f.write(linnet("completion", "zsh"))
            run("zsh", "-n", file)

            def specs(*line):
                code = """
                    compdef() { print -r -- "compdef $*" }
                    _files() { print -r -- _files }
                    _describe() { print -rl -- "${(@P)@[-1]}" }
                    _arguments() { print -rl -- "$@" }
                    source $1; shift; words=(linnet "$@"); CURRENT=$#words; _linnet"""
                done = run("zsh", "-fc", code, "zsh", file, *line)
                self.assertEqual(done.stderr, "")
                first, *rest = done.stdout.split("\n")[:-1]
                self.assertEqual(first, "compdef _linnet linnet")
                return rest
            offered = [re.sub(r"\\(.)", r"\1", line) for line in specs("")]
            helped = [re.sub(r"\\(.)", r"\1", line) for line in specs("help", "")]
            self.assertEqual(helped, [f"{command.name}:{command.summary}" for command in self.commands])
            for command in self.commands:
                self.assertIn(f"{command.name}:{command.summary}", offered)
                if not command.options:
                    self.assertEqual(specs(command.name, ""), ["_files"])
                    continue
                found = specs(command.name, "")
                self.assertEqual(found.pop(0), "-S")
                positional = [spec for spec in found if spec.startswith("1:")]
                self.assertEqual(len(found) - len(positional), len(command.names()))
                for option in command.options:
                    for name in option.names:
                        # (others)NAME=[text]:ARGUMENT:action
                        spec = re.compile(rf"(?:\*|\([^)]*\))?{name}(=?)\[((?:[^\]\\]|\\.)*)\](?::((?:[^:\\]|\\.)*):(.*))?")
                        mine = [m for m in map(spec.fullmatch, found) if m]
                        self.assertEqual(len(mine), 1, name)
                        equals, text, argument, action = mine[0].groups("")
                        self.assertTrue(option.text.startswith(re.sub(r"\\(.)", r"\1", text)) and text, name)
                        self.assertEqual((equals, argument), ("=" if option.argument and name.startswith("--") else "", option.argument))
                        if option.choices:
                            self.assertEqual(action, "(" + " ".join(option.choices) + ")")
            self.assertIn("1:SHELL:(bash zsh fish)", specs("completion", ""))
            self.assertIn("1:SRC:_files", specs("convert", ""))
            self.assertTrue(any(s.startswith("(-m --model)-m[") and s.endswith(":M:_files") for s in specs("run", "")))
            self.assertTrue(any(s.startswith("*--stop=[") for s in specs("run", "")))

    def test_json(self):
        """As every command."""
        self.assertEqual(json.loads(linnet("manual", "--json")), {"manual": self.page})
        for shell in ("bash", "zsh", "fish"):
            self.assertEqual(json.loads(linnet("completion", shell, "--json")), {"completion": linnet("completion", shell)})


if __name__ == "__main__":
    unittest.main()
