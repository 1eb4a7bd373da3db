"""linnet-assistant as it is used: typed requests, settings, state that survives kills, the page's process, and spoken requests from end to end.

test_assistant_app.py LINNET_ASSISTANT [WORK_FOLDER]   (the folder keeps the spoken answers and the list of confusions)
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

EXE = os.path.abspath(sys.argv[1])
WORK = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="linnet-assistant-")).absolute()
WORK.mkdir(parents=True, exist_ok=True)
ROOT = pathlib.Path(__file__).resolve().parent.parent
checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        sys.exit(f"test_assistant_app: {what}")


def run(*args, stdin="", timeout=120):
    return subprocess.run([EXE, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=timeout)


def events(*args, **more):
    r = run("--json", *args, **more)
    return r, [json.loads(line) for line in r.stdout.splitlines()]


def of(all_events, kind):
    return [e for e in all_events if e["event"] == kind]


def command_line():
    r = run("--help")
    check(r.returncode == 0 and r.stdout.startswith("usage: linnet-assistant"), "--help")
    r = run("--version")
    check(r.returncode == 0 and "linnet" in r.stdout, "--version")
    for args, word in ((["--fly"], "--fly"), (["--text"], "--text"), (["--web", "70000"], "70000"), (["--wav", "a", "--text", "b"], "--wav"), (["hello"], "hello")):
        r = run(*args)
        check(r.returncode == 2 and word in r.stderr and "usage:" in r.stderr, f"{args}: exit {r.returncode}, {r.stderr}")
    for args, word in ((["-m", "/nowhere.gguf"], "/nowhere.gguf"), (["-m", ROOT / "README.md"], "README.md"), (["--config", "/nowhere.yaml"], "/nowhere.yaml"),
                       (["--state", "/nowhere/x.json"], "/nowhere/x.json"), (["--state", "", "--wav", "/nowhere.wav"], "/nowhere.wav")):
        r = run("--text", "hello", *args) if "--wav" not in args else run(*args)
        check(r.returncode == 1 and word in r.stderr and not r.stdout, f"{args}: exit {r.returncode}, {r.stderr}")


def settings():
    path = WORK / "settings.yaml"
    bad = {
        "colour: red": ':1:1: there is no key "colour"',
        "threads: 1\nthreads: 2": ':2:1: "threads" stands here twice',
        "threads: many": ':1:10: threads is a whole number from 1 to 256, not "many"',
        "threads: 0": ":1:10: threads is",
        "threads: 1.5": ":1:10: threads is",
        "threads: [1]": ":1:10: threads is a text",
        "barge_in: yes": ':1:11: barge_in is true or false, not "yes"',
        "rooms: kitchen": ":1:8: rooms is a list of texts",
        "rooms: [a, [b]]": ":1:12: rooms is a text",
        "recognizer: pocketsphinx": ":1:13: recognizer is a mapping",
        "recognizer:\n  voice: x": ':2:3: recognizer: there is no key "voice"',
        "synthesizer:\n  speed: 99": ":2:10: speed is a number from 0.3 to 3",
        "- a": ":1:1: the file is a mapping",
        "threads: &x 1": ":1:10: anchors and tags",
        "threads: *x": ":1:10: ",
        "threads: !!int 1": ":1:10: anchors and tags",
        "---\nthreads: 1\n---\nturns: 1": "only one document",
        "threads: 'x": ":",
        "{": ":",
        "x" * 70000: "is larger than 64 KiB",
    }
    for text, error in bad.items():
        path.write_text(text)
        r = run("--state", "", "--config", path, "--text", "hello")
        check(r.returncode == 1 and str(path) in r.stderr and error in r.stderr, f"{text[:60]!r}: exit {r.returncode}, {r.stderr}")
    model = os.path.relpath(ROOT / "examples/assistant/model/linnet-assistant.gguf", WORK)
    for text in ("", "# nothing", "rooms: [kitchen]\nroom: kitchen\nthreads: 1\nturns: 3\ncontext: 512\n", f"model: {model}"):
        path.write_text(text)
        r, all_events = events("--state", "", "--config", path, "--text", "turn on the light in the kitchen")
        check(r.returncode == 0 and of(all_events, "answer")[0]["text"] == "The kitchen light is on.", f"{text!r}: {r.stderr}")
    path.write_text("rooms: [kitchen]")
    r, all_events = events("--state", "", "--config", path, "--text", "turn on the light in the scullery")
    check(of(all_events, "answer")[0]["text"] == "Sorry, there is no light in the scullery.", all_events)


def typed():
    state = WORK / "typed.json"
    state.unlink(missing_ok=True)
    r, all_events = events("--state", state, "--text", "set a timer for ten minutes", "--text", "put milk on the shopping list", "--text", "what's seven times six")
    check(r.returncode == 0 and not r.stderr, r.stderr)
    check([e["text"] for e in of(all_events, "answer")] == ["Timer set for 10 minutes.", "Added milk to your shopping list.", "That's 42."], of(all_events, "answer"))
    check([e["name"] for e in of(all_events, "tool")] == ["set_timer", "add_to_list", "calculate"], of(all_events, "tool"))
    check([e["phase"] for e in of(all_events, "phase")] == ["listening"] + ["thinking", "listening"] * 3, of(all_events, "phase"))
    check(len(of(all_events, "latency")) == 3 and len(of(all_events, "stats")) == 3 and all(e["rss_bytes"] > 1e6 for e in of(all_events, "stats")), "latency and stats")
    check(all(0 <= a["t_ms"] <= b["t_ms"] for a, b in zip(all_events, all_events[1:])), "t_ms")
    # The next process knows it all.
    r, all_events = events("--state", state, "--text", "-", stdin="what's on my shopping list\n\nhow long is left on the timer\n")
    check("milk" in of(all_events, "answer")[0]["text"] and "minutes left" in of(all_events, "answer")[1]["text"], of(all_events, "answer"))
    # A request that is no text, and ones that are too long, end nothing.
    r, all_events = events("--state", "", "--text", "a" * 5000, "--text", "\u0000\ufffd{}".replace("\u0000", "\x01"), "--text", "hello")
    check(len(of(all_events, "error")) == 1 and len(of(all_events, "answer")) == 3 and r.returncode == 1, all_events)


def killed():
    """The process is killed while it does things: what it said it did is there when it starts again."""
    state = WORK / "killed.json"
    state.unlink(missing_ok=True)
    for round_ in range(10):
        p = subprocess.Popen([EXE, "--json", "--state", state, "--text", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        answered = 0
        for i in range(1 + round_ % 3):
            n = 2 + (7 * round_ + i) % 40
            p.stdin.write(f"set the volume to {n} percent\n")
            p.stdin.flush()
            for line in p.stdout:
                e = json.loads(line)
                if e["event"] == "tool":
                    answered = e["arguments"]["level"]
                    break
        p.stdin.write("set the volume to ninety percent\n")
        p.stdin.flush()
        time.sleep(0.002 * (round_ % 5))
        p.kill()
        p.wait()
        volume = json.loads(state.read_text())["volume"]
        check(volume in (answered, 90), f"volume is {volume}, {answered} was answered")
    state.write_text(state.read_text()[:-20])
    r = run("--state", state, "--text", "hello")
    check(r.returncode == 0 and f"{state}: is no JSON; it is kept as {state}.damaged-" in r.stderr, r.stderr)


def page():
    p = subprocess.Popen([EXE, "--state", "", "--web", "0", "--json", "--text", "turn on the hall light"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = p.stderr.readline().strip()
    if not address.startswith("http://127.0.0.1:"):
        p.wait()
        print("skipped: the page: " + address)
        return
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    check(b"<html" in opener.open(address + "/", timeout=20).read().lower(), "the page")
    request = urllib.request.Request(address + "/request", data=b"set a timer for an hour", headers={"Content-Type": "text/plain"})
    check(opener.open(request, timeout=20).status < 300, "POST /request")
    for line in p.stdout:
        e = json.loads(line)
        if e["event"] == "answer" and e["text"] == "Timer set for 1 hour.":
            break
    p.send_signal(signal.SIGINT)
    check(p.wait(timeout=20) == 0, "ctrl-C")


STEPS = [command_line, settings, typed, killed, page]

if __name__ == "__main__":
    for step in STEPS:
        begin = time.monotonic()
        step()
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s")
    print(f"{checks} checks")
