"""The tree's order: who may include whom, that no two files have one name, and that docs/formats.md lists the formats."""
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = ("platform", "kernels_cpu", "kernels_cuda", "runtime")
# What stands below the runtime and is included by kernels: numbers, views and the operations that a backend fills.
CONTRACT = {"runtime/tensor.h", "runtime/format.h", "runtime/formats.inc", "runtime/ops.h", "runtime/cache/kv_cache.h", "runtime/cache/slots.h", "runtime/rope.h", "runtime/cache/cache_plan.h", "runtime/backend.h", "runtime/sampling/sampling.h"}
ABI = "runtime/include/"  # of the app; everybody's

bad = []


def allowed(file, target):
    room, of = file.split("/")[0], target.split("/")[0]
    if of == room or target.startswith(ABI):
        return True
    if room == "platform":
        return False
    if room in ("kernels_cpu", "kernels_cuda"):
        return of == "platform" or target in CONTRACT
    return of in ("platform", "kernels_cpu", "kernels_cuda")


files = []
for room in ROOMS:
    for folder, _, names in os.walk(os.path.join(ROOT, room)):
        files += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names if n.endswith((".c", ".h", ".cpp", ".cu"))]
checked = 0
for file in sorted(files):
    with open(os.path.join(ROOT, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            if not match:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(file), match[1]))
            if not os.path.exists(os.path.join(ROOT, target)):
                continue  # a system's, or of another library
            checked += 1
            if not allowed(file, target):
                bad.append(f"{file}:{number}: includes {target}: {file.split('/')[0]} stands below it")

names = collections.defaultdict(list)
for folder in ROOMS + ("examples", "tests"):
    for where, folders, found in os.walk(os.path.join(ROOT, folder)):
        folders[:] = [d for d in folders if d not in ("data", "golden", "__pycache__", "build")]
        for name in found:
            if name.endswith((".c", ".h", ".cpp", ".cu")) and name != "main.cpp":
                names[name].append(os.path.relpath(os.path.join(where, name), ROOT))
for name, paths in sorted(names.items()):
    if len(paths) > 1:
        bad.append(f"{name} is the name of {' and '.join(sorted(paths))}")

# The runtime asks for no device: of what computes it knows the table alone, which has two files of its own. Names of the ABI are the app's, and
# two are keys of other people's files. The profile's reader has the section of that name.
TABLE = ("runtime/backend.h", "runtime/backend.cpp")
KEYS = {"use_cuda_fp16", "init_device"}
asks = re.compile(r"\w*(?:cuda|device|cpu_backend)\w*", re.IGNORECASE)
public = set()
for name in os.listdir(os.path.join(ROOT, ABI)):
    with open(os.path.join(ROOT, ABI, name), encoding="utf-8") as f:
        public |= set(re.findall(r"\b(?:linnet|LINNET)_\w+", f.read()))
in_table = 0
for file in sorted(files):
    if not file.startswith("runtime/") or file.startswith(ABI) or file == "runtime/profile.cpp":
        continue
    with open(os.path.join(ROOT, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            words = [w for w in asks.findall(line) if w not in public | KEYS]
            in_table += len(words) if file in TABLE else 0
            if words and file not in TABLE:
                bad.append(f"{file}:{number}: {', '.join(words)}: which backend computes is asked in {TABLE[1]} alone")
if in_table < 10:
    bad.append(f"{TABLE[1]} names no backend: this check finds nothing")

# The document names every weight format and every format of the KV cache.
with open(os.path.join(ROOT, "runtime/formats.inc"), encoding="utf-8") as f:
    formats = re.findall(r"^LINNET_(FLOATS|FP8|CODES|BLOCKS|TABLES|KV_ALONE)\(\s*(\w+)", f.read(), re.MULTILINE)
with open(os.path.join(ROOT, "docs/formats.md"), encoding="utf-8") as f:
    text = f.read()
for kind, name in formats:
    list_of = "KV cache" if kind == "KV_ALONE" else "Weights"
    if not re.search(rf"^{list_of}: .*\b{name}\b", text, re.MULTILINE):
        bad.append(f"docs/formats.md does not list {name} of runtime/formats.inc")
if len(formats) < 10:
    bad.append("runtime/formats.inc: rows were not found")

for line in bad:
    print(line)
if checked < 300:
    bad.append("")
    print(f"only {checked} includes were found")
print(f"{checked} includes, {len(names)} names: {len(bad)} faults")
sys.exit(bool(bad))
