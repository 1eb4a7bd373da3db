#!/usr/bin/env python3
"""README.md does what it says: every block of sh in it runs as it stands, in order, in a fresh clone with what is changed in tracked
files, and its C is compiled and run: test_readme.py. Standard library only. A release is built of the clone, which takes minutes: it runs
with LINNET_TEST_FULL alone.

HOME is a folder of its own, into which the commands install. Packages are never installed: a line that would is held against what
tests/run.sh installs, and where the quickstart misses some this test is skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = next(p for p in pathlib.Path(__file__).resolve().parents if (p / "CMakeLists.txt").is_file() and (p / "LICENSE").is_file())
PACKAGES = re.compile(r"\s*(?:sudo\s+)?apt(?:-get)?\s+(?:update\s*$|install\s+(.*))")
# What stands around the lines of C in README.md, which name these variables.
AROUND = r"""
#include <linnet.h>
#include <stdio.h>
#include <string.h>
static int print_text(void* user, int32_t token, const char* utf8, size_t n_bytes) {
  (void)user, (void)token;
  return fwrite(utf8, 1, n_bytes, stdout) != n_bytes;
}
int main(void) {
  static char scratch[1 << 20];
  static int32_t tokens[256];
  const size_t n_most = 256;
  const char* const text = "play some";
  const linnet_generate_params params = {.size = sizeof params, .max_tokens = 16};
  linnet_error err = {0};
  linnet_view file;
  linnet_need need = {.size = sizeof need};
  linnet_model* model = NULL;
  linnet_session* session = NULL;
  linnet_generated made = {.size = sizeof made};
  size_t n = 0;
  LINES
  if (err.text[0] || !n || made.why == LINNET_STOP_NONE) return fprintf(stderr, "%s\n", err.text), 1;
  return 0;
}
"""


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def fail(why):
    print("README.md: " + why)
    sys.exit(1)


def run(command, cwd, env=None, **more):
    return subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **more)


def git(*command, cwd=ROOT, **more):
    return subprocess.run(["git", *command], cwd=cwd, check=True, stdout=subprocess.PIPE, **more).stdout


def clone(to):
    head = git("rev-parse", "HEAD").decode().strip()
    git("clone", "-q", "--no-checkout", str(ROOT), str(to))
    git("checkout", "-q", head, cwd=to)
    changed = git("diff", "--binary", "HEAD")
    if changed:
        git("apply", "--whitespace=nowarn", "-", cwd=to, input=changed)


def blocks(text):
    """(language, text) of every fenced block, and the text between them."""
    found = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text)
    return found, re.sub(r"(?ms)^```.*?^```$", "", text)


def script_of(found):
    """The commands of all blocks of sh. Lines that install packages are checked instead."""
    lists = (ROOT / "tests/run.sh").read_text() + (ROOT / "platform/packages.sh").read_text()
    known = set(re.findall(r'(?m)(?:^|")([a-z0-9][a-z0-9.+-]*)\|', lists))
    lines, commands = [], 0
    for language, text in found:
        if language != "sh":
            continue
        for line in text.splitlines():
            package_line = PACKAGES.match(line)
            if package_line:
                names = [w for w in (package_line[1] or "").split("#")[0].split() if not w.startswith("-")]
                unknown = [n for n in names if n not in known]
                if unknown:
                    fail(f"{line.strip()}: tests/run.sh does not install {', '.join(unknown)}")
                continue
            commands += bool(line.strip() and not line.lstrip().startswith("#"))
            lines.append(line)
    return "\n".join(lines) + "\n", commands


def environment(work):
    home, tools = work / "home", work / "tools"
    home.mkdir()
    tools.mkdir()
    for name in ("apt-get", "apt", "sudo"):
        (tools / name).write_text(f'#!/bin/sh\necho "$0 $*" >>"{work}/packages"\nexit 1\n')
        (tools / name).chmod(0o755)
    env = {"HOME": str(home), "PATH": os.pathsep.join([str(tools), "/usr/local/bin", "/usr/bin", "/bin"]), "LC_ALL": "C.UTF-8"}
    ccache = shutil.which("ccache")
    if ccache:
        folder = os.environ.get("CCACHE_DIR") or run([ccache, "--get-config", "cache_dir"], work).stdout.strip()
        env |= {"CMAKE_C_COMPILER_LAUNCHER": ccache, "CMAKE_CXX_COMPILER_LAUNCHER": ccache, "CCACHE_DIR": folder,
                "CCACHE_BASEDIR": str(work), "CCACHE_NOHASHDIR": "1"}
    return env


def main():
    if not os.environ.get("LINNET_TEST_FULL"):
        skip("building a fresh clone takes minutes (LINNET_TEST_FULL=1 does it)")
    for tool in ("git", "cmake", "ninja", "cc", "pkg-config"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode:
        skip("this is no git checkout, so nothing can be cloned")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found, prose = blocks(readme)
    script, commands = script_of(found)
    if commands < 8 or not any(language == "c" for language, _ in found):
        fail(f"only {commands} commands in blocks of sh, or no block of C")
    with tempfile.TemporaryDirectory(prefix="linnet-readme-") as folder:
        work = pathlib.Path(folder)
        env = environment(work)
        clone(work / "linnet")
        if (work / "linnet/README.md").read_text(encoding="utf-8") != readme:
            fail("the clone has another one: it is not committed, nor tracked")
        (work / "script").write_text(script)
        begin = time.monotonic()
        # -v: each line stands before what it printed.
        done = run(["sh", "-ev", str(work / "script")], work / "linnet", env, timeout=1400)
        if (work / "packages").exists():
            skip("packages are missing: " + (work / "packages").read_text().strip())
        if done.returncode:
            log = work / "linnet/build/quickstart.log"
            built = log.read_text(errors="replace")[-3000:] if "build failed" in done.stdout else ""
            fail(f"its commands end with {done.returncode}:\n{done.stdout[-6000:]}\n{built}")
        # What it shows as printed was printed, but for numbers and the tier.
        for language, text in found:
            if language:
                continue
            for line in text.splitlines():
                parts = re.split(r"(\d[\d.]*(?: [kM]?B\b)?|\b(?:avx|sse|neon|amx)\w*)", line)
                form = "".join(r"[\w.]+(?: [kM]?B)?" if i % 2 else re.escape(part) for i, part in enumerate(parts))
                if not re.search(f"(?m)^{form}$", done.stdout):
                    fail(f"it shows a line that was not printed: {line}\n{done.stdout[-6000:]}")
        env["PATH"] = os.pathsep.join([env["HOME"] + "/.local/bin", env["PATH"]])
        env["PKG_CONFIG_PATH"] = env["HOME"] + "/.local/lib/pkgconfig"
        # Commands in sentences, but those of the paragraph about what is not there yet.
        there = [p for p in prose.split("\n\n") if "Not there yet" not in p]
        said = [c for p in there for c in re.findall(r"`((?:linnet -|\./)[^`\n]*)`", p)]
        for command in said:
            if command.startswith("./"):
                if not os.access(work / "linnet" / command.split()[0], os.X_OK):
                    fail(f"there is no {command}")
            elif run(["sh", "-ec", command], work / "linnet", env, timeout=300).returncode:
                fail(f"{command} fails")
        for language, text in found:
            if language == "c":
                (work / "fragment.c").write_text(AROUND.replace("LINES", text))
                flags = "-std=c11 -Wall -Wextra -Werror"
                made = run(["sh", "-ec", f"cc {flags} fragment.c $(pkg-config --cflags --libs linnet) -o fragment"], work, env)
                if made.returncode:
                    fail("its C does not compile:\n" + made.stdout)
                answer = run([str(work / "fragment")], work / "linnet", env, timeout=300)
                if answer.returncode or not answer.stdout.strip():
                    fail(f"its C ends with {answer.returncode}: {answer.stdout}")
        print(f"{commands} commands, {len(said)} in sentences and the C of README.md in a fresh clone: {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
