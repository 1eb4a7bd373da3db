#!/usr/bin/env python3
"""The README's pictures, from one real conversation: record.py LINNET_ASSISTANT FOLDER [--wav SPOKEN.wav | --speak]

Writes assistant.cast (asciicast 2) and assistant.gif (the terminal; needs Pillow and DejaVu Sans Mono), assistant-page.png (the page; needs Chromium) and assistant-turn.svg (where the time of
a turn goes, from the latency events of this very run). --speak: flite speaks the requests; without either they are typed. A picture that cannot be made is skipped by name.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import wave

import browser

REQUESTS = ["set a timer for ten minutes", "turn the kitchen lights blue", "dim the living room light to forty percent", "turn off the bedroom light", "add milk and eggs to my shopping list",
            "wake me at seven on weekdays", "set the thermostat to twenty one degrees", "play here comes the sun by the beatles", "what is fifteen percent of eighty"]
SHOWN = 6  # of them in the terminal
COLUMNS, ROWS = 84, 22
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
INK = {"": "#d7dae0", "user": "#7fd1c7", "tool": "#d5a657", "dim": "#8a919c"}
ANSI = {"": "0", "user": "36", "tool": "33", "dim": "90"}


def conversation(assistant, wav):
    """All events of a run in the terminal, each with the second when it came."""
    events = []
    with tempfile.TemporaryDirectory() as folder:
        how = ["--wav", wav, "--real-time", "--out", folder + "/out.wav"] if wav else ["--text", "-"]
        run = subprocess.Popen([assistant, "--json", "--state", folder + "/state.json", *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if not wav:
            run.stdin.write("\n".join(REQUESTS[:SHOWN]) + "\n")
        run.stdin.close()
        start = time.monotonic()
        for line in run.stdout:
            events.append((time.monotonic() - start, json.loads(line)))
        if run.wait():
            sys.exit(f"record: {assistant} ended with {run.returncode}")
    return events


def speak(path):
    """The requests by flite, with time for the answer after each."""
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, 16000, 0, "NONE", ""))
        out.writeframes(bytes(16000))
        for request in REQUESTS[:SHOWN]:
            one = str(path) + ".one.wav"
            subprocess.run(["flite", "-voice", "kal16", "-t", request, "-o", one], check=True)
            with wave.open(one) as f:
                out.writeframes(f.readframes(f.getnframes()))
            out.writeframes(bytes(2 * 16000 * 4))


def lines_of(events, spoken):
    """What the terminal shows and when: (seconds, kind, text). Typed requests come faster than anyone reads, so pauses are put between those; each turn's own times are shown as measured."""
    shown, clock = [(0.3, "dim", "$ linnet assistant"), (0.8, "", "")], 1.5
    for at, e in events:
        kind, text = e["event"], e.get("text", "")
        if spoken:
            clock = 1.5 + at
        if kind == "user":
            if not spoken:
                clock += 1.2
                for n in range(1, len(text)):
                    shown.append((clock, "typing", "> " + text[:n]))
                    clock += 0.035
            shown.append((clock, "user", "> " + text))
        elif kind == "tool":
            shown.append((clock + 0.05, "tool", "  " + (e["name"] + " " + json.dumps(e["arguments"], ensure_ascii=False))[:COLUMNS - 2]))
        elif kind == "answer":
            shown.append((clock + 0.1, "", text))
        elif kind == "interrupted":
            shown.append((clock, "dim", "  (interrupted)"))
        elif kind == "latency":
            first = e.get("text_to_first_token_ms", e.get("end_of_speech_to_first_token_ms", 0))
            text = f"  first token {first:.1f} ms, {e['tokens_per_s']:.0f} tokens/s"
            if "end_of_speech_to_first_audio_ms" in e:
                text += f", sound {e['end_of_speech_to_first_audio_ms']:.0f} ms after the speech"
            shown += [(clock + 0.15, "dim", text), (clock + 0.15, "", "")]
    return shown


def cast(shown, path):
    with open(path, "w") as f:
        f.write(json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "linnet assistant"}) + "\n")
        typed = ""
        for at, kind, text in shown:
            if kind == "typing":
                out, typed = ("\x1b[36m" + text if not typed else text[len(typed):]), text
            else:
                out, typed = (f"\x1b[{ANSI[kind]}m{text}" if not typed else text[len(typed):]) + "\x1b[0m\r\n", ""
            f.write(json.dumps([round(at, 3), "o", out]) + "\n")


def gif(shown, path):
    try:
        from PIL import Image, ImageDraw, ImageFont
        font = ImageFont.truetype(FONT, 15)
    except (ImportError, OSError) as e:
        return f"no Pillow or no DejaVu Sans Mono ({e})"
    wide, high, edge = font.getlength("m"), 21, 14
    size = (int(COLUMNS * wide) + 2 * edge, ROWS * high + 2 * edge)
    screen, frames, times = [], [], []
    for i, (at, kind, text) in enumerate(shown):
        if screen and screen[-1][0] == "typing":
            screen.pop()
        screen.append((kind, text))
        after = shown[i + 1][0] if i + 1 < len(shown) else at + 4
        if kind == "typing" and len(text) % 4 and after - at < 0.1 and i + 1 < len(shown) and shown[i + 1][1] == "typing":
            if times:
                times[-1] += after - at
            continue
        image = Image.new("RGB", size, "#16191d")
        draw = ImageDraw.Draw(image)
        for row, (k, t) in enumerate(screen[-ROWS:]):
            draw.text((edge, edge + row * high), t, font=font, fill=INK["user" if k == "typing" else k])
        frames.append(image.quantize(16))
        times.append(after - at)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[max(20, int(t * 1000)) for t in times], loop=0, optimize=True)
    return None


def page(assistant, path):
    if not browser.find():
        return "no Chromium"
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen([assistant, "--web", "0", "--text", "-", "--state", folder + "/state.json", "--json"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            url = next((line.strip() for line in run.stderr if line.startswith("http://")), None)
            if not url:
                return "linnet-assistant serves no page"
            with browser.Browser(url) as b:
                for n, request in enumerate(REQUESTS, 1):
                    b.until("document.getElementById('text')")
                    b.value("document.getElementById('text').focus()")
                    b.keys(request)
                    b.press("Enter", 13)
                    b.until(f"document.querySelectorAll('.times').length === {n}")
                    time.sleep(0.4)
                b.value("log.scrollTop = log.scrollHeight")
                time.sleep(0.6)
                b.picture(path)
        finally:
            run.kill()
            run.wait()
    return None


def turn(events, path):
    """A bar: from the end of speech to the first sound, medians of the run's turns."""
    latency = [e for _, e in events if e["event"] == "latency"]

    def median(key, default=0.0):
        values = [e[key] for e in latency if key in e]
        return statistics.median(values) if values else default
    speech, text = median("end_of_speech_to_first_token_ms"), median("text_to_first_token_ms")
    recognizer = median("recognizer_ms")
    parts = [("silence until the end is sure", max(0, speech - recognizer - text), "#8fb0c8"), ("recogniser", recognizer, "#58c4b8"), ("model: first token", text, "#e3b04d"),
             ("sentence and voice: first sound", max(0, median("text_to_first_audio_ms", text) - text), "#c75c52")]
    parts = [p for p in parts if p[1] > 0.05]
    total = sum(p[1] for p in parts) or 1
    out, x = [], 20.0
    for i, (name, ms, color) in enumerate(parts):
        w = 760 * ms / total
        out.append(f'<rect x="{x:.1f}" y="46" width="{max(w, 1.5):.1f}" height="34" fill="{color}"/><rect x="20" y="{98 + 24 * i}" width="13" height="13" rx="3" fill="{color}"/>'
                   f'<text x="42" y="{109 + 24 * i}">{name}</text><text x="360" y="{109 + 24 * i}" text-anchor="end">{ms:.1f} ms</text>')
        x += w
    early = f", {median('prefilled_early_tokens'):.0f} of {median('prompt_tokens'):.0f} tokens computed before" if latency else ""
    height = 112 + 24 * len(parts)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" font-family="system-ui, DejaVu Sans, sans-serif" font-size="14" fill="#33302b">'
                    f'<rect width="800" height="{height}" rx="12" fill="#f7f4ee"/><text x="20" y="30" font-size="16" font-weight="600">One turn: {total:.1f} ms (medians of {len(latency)} turns{early})</text>'
                    + "".join(out) + "</svg>\n")


def main():
    if sys.argv[3:4] not in ([], ["--wav"], ["--speak"]) or len(sys.argv) != {(): 3, ("--wav",): 5, ("--speak",): 4}[tuple(sys.argv[3:4])]:
        sys.exit(__doc__)
    assistant, folder, wav = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[4] if len(sys.argv) == 5 else None
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as spoken:
        if "--speak" in sys.argv:
            wav = spoken + "/requests.wav"
            speak(wav)
        events = conversation(assistant, wav)
    shown = lines_of(events, bool(wav))
    cast(shown, folder / "assistant.cast")
    turn(events, folder / "assistant-turn.svg")
    for name, why in (("assistant.gif", gif(shown, folder / "assistant.gif")), ("assistant-page.png", page(assistant, folder / "assistant-page.png"))):
        if why:
            print(f"skipped: {name}: {why}")
    for f in sorted(folder.glob("assistant*")):
        print(f"{f}: {f.stat().st_size} bytes")


main()
