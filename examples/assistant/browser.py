"""A page in headless Chromium, driven through its DevTools pipe with the standard library alone: for the page's test and the README's pictures."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time


def find():
    return next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")) if p), None)


class Browser:
    """Raises RuntimeError for what does not work; errors that the page logged or threw are in .errors."""

    def __init__(self, url, width=1280, height=860, dark=False):
        self.folder = tempfile.mkdtemp(prefix="linnet-browser-")
        self.errors, self.number, self.kept = [], 0, b""
        to_read, self.write_to = os.pipe()
        self.read_from, to_write = os.pipe()
        command = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--no-proxy-server", "--disable-background-networking",
                   "--disable-component-update", f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "--remote-debugging-pipe"]
        # Chromium reads its orders from 3 and answers on 4: that is arranged in a process of its own, since any two numbers may be open here.
        arrange = ("import fcntl, os, sys\n"
                   "ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD_CLOEXEC, 5) for n in sys.argv[1:3]]\n"
                   "os.dup2(ends[0], 3), os.dup2(ends[1], 4)\n"
                   "os.execv(sys.argv[3], sys.argv[3:])")
        self.process = subprocess.Popen([sys.executable, "-Sc", arrange, str(to_read), str(to_write), *command], pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        for _ in range(20):  # its helpers end a little later
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                break
            time.sleep(0.1)

    def message(self, deadline):
        while b"\0" not in self.kept:
            if not select.select([self.read_from], [], [], max(0, deadline - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            more = os.read(self.read_from, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.kept += more
        line, self.kept = self.kept.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        order = {"id": self.number, "method": method, "params": params}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.write_to, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            m = self.message(deadline)
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']['message']}")
                return m["result"]
            p = m.get("params", {})
            if m.get("method") == "Runtime.exceptionThrown":
                self.errors.append(p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"])
            elif m.get("method") == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif m.get("method") == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                self.errors.append(f"{p['entry']['text']} {p['entry'].get('url', '')}")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails'].get('exception', {}).get('description')}")
        return r["result"].get("value")

    def until(self, expression, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            if self.value(f"!!({expression})"):
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"never true: {expression}; the page says: {self.value('document.body?.innerText')}")
            time.sleep(0.05)

    def keys(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key, code, modifiers=0):
        """modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift, added"""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers, text="\r" if key == "Enter" and kind == "keyDown" else "")

    def picture(self, path):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as f:
            f.write(data)
        return len(data)
