"""The documents: every link to a file or a heading leads somewhere, every path they name exists, README stays a page, and every document is on
its map."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_LINES = 160  # of README.md
# A path of the tree: not the end of a longer one, nor one with a part to fill in (configs/<name>.yaml). A star stands for any text.
PATH = re.compile(r"(?<![\w/.<>~$-])(?:\./)?((?:tests|runtime|kernels_\w+|platform|examples|configs|docs)/[\w.*/+-]*)(?![\w<{$])")

bad = []


def anchors(path):
    """As GitHub makes them of headings."""
    found, code = set(), False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("```"):
                code = not code
            match = re.match(r"#+\s+(.*)", line)
            if match and not code:
                text = re.sub(r"[^\w\- ]", "", match[1].strip().lower())
                found.add(text.replace(" ", "-"))
    return found


listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True)
documents = listed.stdout.split() or [os.path.relpath(os.path.join(d, n), ROOT) for d, _, ns in os.walk(ROOT) for n in ns if n.endswith(".md") and "build" not in d]
links, linked, paths = 0, set(), 0
for name in documents:
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as f:
        whole = f.read()
    text = re.sub(r"(?ms)^```.*?^```", "", whole)
    for named in PATH.findall(whole):
        named = named.rstrip(".")
        paths += 1
        # The programs lie in the build folder's tests/ under the names of their sources.
        program = re.fullmatch(r"tests/(\w+)", named)
        if not glob.glob(os.path.join(ROOT, named)) and not (program and glob.glob(os.path.join(ROOT, "tests", "*", program[1] + ".cpp"))):
            bad.append(f"{name}: {named}: there is no such file")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        links += 1
        file, _, heading = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(to):
            bad.append(f"{name}: ({target}): there is no such file")
        elif heading and heading not in anchors(to):
            bad.append(f"{name}: ({target}): there is no such heading")
        if name == "README.md":
            linked.add(os.path.relpath(to, ROOT))
for name in documents:
    if name.startswith("docs/") and name not in linked:
        bad.append(f"README.md does not lead to {name}")
# Commits that the table of what to touch names: they can be looked at, but in a shallow clone or without git.
git = ["git", "-C", ROOT]
commits = 0
if subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True).stdout.strip() == "false":
    with open(os.path.join(ROOT, "docs/architecture.md"), encoding="utf-8") as f:
        for commit in re.findall(r"\| `([0-9a-f]{7,})` [^|]*\|$", f.read(), re.MULTILINE):
            commits += 1
            if subprocess.run([*git, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True).returncode:
                bad.append(f"docs/architecture.md: {commit}: there is no such commit")
    if commits < 5:
        bad.append(f"docs/architecture.md names only {commits} commits")
with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
    lines = len(f.readlines())
if lines > MOST_LINES:
    bad.append(f"README.md has {lines} lines, more than {MOST_LINES}")
if links < 40:
    bad.append(f"only {links} links were found")
if paths < 80:
    bad.append(f"only {paths} paths were found")
for line in bad:
    print(line)
print(f"{len(documents)} documents, {links} links, {paths} paths, README of {lines} lines: {len(bad)} faults")
sys.exit(bool(bad))
