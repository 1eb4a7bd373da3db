#!/usr/bin/env python3
"""The server's page in headless Chromium, against a server whose every event is scripted, and the real one: test_server_page.py [LINNET_SERVER] [FOLDER for pictures]

A visitor chats, stops, edits, asks again, types what tools gave, loses the connection, is asked for a key, pastes a picture; with the keyboard, on a
phone, in the dark, through the accessibility tree; and models write what would be markup.
"""
import http.server
import itertools
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/assistant"))
import browser  # noqa: E402
import scripted_model  # noqa: E402

PAGE = ROOT / "examples/server/page.html"
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
CUT = object()  # in a script: the connection ends here
USAGE = {"usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150, "prompt_tokens_details": {"cached_tokens": 100}},
         "timings": {"prompt_n": 20, "prompt_ms": 40, "prompt_per_second": 500.0, "predicted_n": 30, "predicted_ms": 1000, "predicted_per_second": 30.0, "cache_n": 100}}
METRICS = """# TYPE linnet_memory_bytes gauge
linnet_memory_bytes{model="a } \\"x",purpose="weights"} 600000000
linnet_memory_bytes{model="b",purpose="weights"} 1e8
linnet_memory_bytes{model="b",purpose="prefix_cache"} 50000000
linnet_requests_processing{model="a } \\"x"} 0
linnet_requests_processing{model="b"} 1
"""
checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        raise RuntimeError(what)


class Server(http.server.ThreadingHTTPServer):
    """Answers each chat request with the next script: a list of deltas (dict), texts (str), bytes as they are, functions that return when to go on, CUT; or (status, body)."""
    daemon_threads = True

    def __init__(self, policy=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.scripts, self.chats, self.paths, self.ended = queue.Queue(), [], [], threading.Semaphore(0)
        self.policy, self.key, self.models = policy, None, ["tiny"]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, *_):
        pass  # a browser that goes away is part of the test


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def give(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if kind.startswith("text/html") and self.server.policy:
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def refused(self):
        if self.server.key and self.headers.get("Authorization") != "Bearer " + self.server.key:
            self.give(401, {"error": {"message": "Give an API key.", "type": "authentication_error", "code": 401}})
            return True
        return False

    def do_GET(self):
        self.server.paths.append(self.path)
        if self.path == "/":
            self.give(200, PAGE.read_bytes(), "text/html; charset=utf-8")
        elif self.path in ("/v1/models", "/props", "/metrics"):
            if self.refused():
                return
            if self.path == "/metrics":
                self.give(200, METRICS, "text/plain")
            elif self.path == "/props":
                self.give(200, {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 4, "model_alias": "tiny", "modalities": {"vision": False, "audio": False}})
            else:
                self.give(200, {"object": "list", "data": [{"id": m, "object": "model"} for m in self.server.models]})
        else:
            self.give(404, {"error": {"message": "no such path"}})

    def do_POST(self):
        self.server.paths.append(self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.refused():
            return
        self.server.chats.append(body)
        script = self.server.scripts.get(timeout=20)
        if isinstance(script, tuple):
            self.give(*script)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for step in script:
                if step is CUT:
                    return
                if callable(step):
                    step()
                    continue
                if isinstance(step, str):
                    step = {"content": step}
                if isinstance(step, dict):
                    step = b"data: " + json.dumps(step if "error" in step else chunk(step)).encode() + b"\n\n"
                self.wfile.write(step)
                self.wfile.flush()
        except OSError:
            self.server.ended.release()  # the page went away


def chunk(delta):
    delta = dict(delta)
    end = delta.pop("end", None)
    figures = {k: delta.pop(k) for k in ("usage", "timings") if k in delta}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "tiny", "choices": [] if figures else [{"index": 0, "delta": delta, "finish_reason": end}], **(figures or {"usage": None})}


DONE = b"data: [DONE]\n\n"
END = [{"end": "stop"}, USAGE, DONE]  # the figures come after the answer, as OpenAI's do


def whole(text):
    return [{"role": "assistant"}, text, *END]


LAST = "[...document.querySelectorAll('.message')].at(-1)"
SAID = LAST + ".querySelector(':scope > .text')"
IDLE = "!document.body.classList.contains('busy')"


class Visitor(browser.Browser):
    def __init__(self, server, ready="server.model === 'tiny'"):
        self.server = server
        super().__init__(server.url())
        self.until("document.readyState === 'complete' && document.querySelector('.hint') && " + ready)

    def say(self, text, script=None, wait=True):
        if script is not None:
            self.server.scripts.put(script)
        n = self.value("document.querySelectorAll('.mine').length")
        self.value("document.getElementById('text').focus()")
        self.keys(text)
        self.press("Enter", 13)
        self.until(f"document.querySelectorAll('.mine').length === {n + 1}")
        if wait:
            self.until(IDLE)

    def click(self, what):
        """A real click in the middle of what is named by a selector or an expression."""
        e = what if "(" in what else f"document.querySelector({json.dumps(what)})"
        self.value(f"{e}.scrollIntoView({{block: 'nearest'}})")
        x, y = self.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({e}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def button(self, name, inside="document"):
        return f"[...{inside}.querySelectorAll('button')].find(b => b.offsetParent && (b.ariaLabel || b.textContent) === {json.dumps(name)})"

    def tree(self):
        """(role, name) of what a screen reader is told of."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(n.get("role", {}).get("value"), n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")]

    def reload(self):
        self.value("window.old = true")
        self.call("Page.reload")
        self.until("!window.old && document.readyState === 'complete' && server.model === 'tiny'")


def chats(page):
    return page.server.chats


def chatting(page):
    check(page.value("document.activeElement.id") == "text", "the field has not the focus")
    go, more = threading.Event(), threading.Event()
    page.say("Hello <b>there</b>\u2028", [{"role": "assistant"}, "One ", go.wait, "two **thr", more.wait, "ee**.", *END], wait=False)
    page.until(SAID + ".textContent === 'One'")
    check(page.value("document.getElementById('send').textContent") == "Stop" and page.value(LAST + ".ariaBusy") == "true", "it does not look busy")
    check(not page.value(page.button("Copy", LAST)), "an unfinished answer has buttons")
    go.set()
    page.until(SAID + ".textContent === 'One two **thr'")
    more.set()
    page.until(IDLE)
    check(page.value(SAID + ".innerHTML") == "<p>One two <strong>three</strong>.</p>", page.value(SAID + ".innerHTML"))
    check(page.value("document.querySelector('.mine .said').textContent").startswith("Hello <b>there</b>"), "the message is not shown as text")
    sent = chats(page)[-1]
    check(sent["messages"][0]["content"].startswith("Hello <b>there</b>") and len(sent["messages"]) == 1 and sent["stream"] is True and sent["stream_options"] == {"include_usage": True} and sent["model"] == "tiny", f"sent: {sent}")
    check(not {"temperature", "top_p", "max_tokens", "seed", "tools", "chat_template_kwargs"} & sent.keys(), f"settings nobody made: {sent}")
    numbers = page.value(LAST + ".querySelector('.figures').textContent")
    check(re.fullmatch(r"30\.0 tokens/s · 30 tokens · first after [\d.]+ m?s · prompt 120 at 500 tokens/s, 100 cached", numbers), f"figures: {numbers}")
    page.until("document.getElementById('memory').textContent.includes('750 MB') && document.getElementById('context').textContent.includes('150 of')")
    foot = page.value("document.querySelector('footer').innerText")
    check("context 150 of 4096 tokens" in foot and "30.0 tokens/s" in foot and "1 request running" in foot, f"footer: {foot}")
    check(page.value("[...document.querySelectorAll('#memory dt, #memory dd')].map(x => x.textContent)") == ["weights", "700 MB", "prefix cache", "50.0 MB"], "memory by purpose")
    # A new line by Shift+Enter; neither Enter nor anything else sends nothing.
    page.keys("a")
    page.press("Enter", 13, 8)
    page.keys("b")
    check(page.value("input.value") == "a\nb", repr(page.value("input.value")))
    check(page.value("input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))"), "Enter that ends a composed word is taken")
    page.value("input.value = ' '")
    page.press("Enter", 13)
    check(page.value("document.querySelectorAll('.mine').length") == 1, "an empty message was sent")
    page.value("input.value = ''")
    # Without timings the page measures for itself.
    page.say("again", ["x", "y", {"end": "stop"}, {"usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}, DONE])
    check(re.search(r"2 tokens · first after [\d.]+ m?s · prompt 9$", page.value(LAST + ".querySelector('.figures').textContent")), "own figures")
    check([m["role"] for m in chats(page)[-1]["messages"]] == ["user", "assistant", "user"], "the conversation is not sent")


def stopping(page):
    for how in ("Escape", "click"):
        forever = threading.Event()
        page.say("long", itertools.chain(["begun ", forever.wait], itertools.cycle(["x", lambda: time.sleep(0.01)])), wait=False)
        page.until(SAID + ".textContent === 'begun'")
        if how == "Escape":
            page.press("Escape", 27)
        else:
            page.click("#send")
        page.until(IDLE)
        forever.set()
        check(page.server.ended.acquire(timeout=10), "the server is not told")
        check(page.value(SAID + ".textContent") == "begun" and "Stopped" in page.value(LAST + ".innerText"), "what came before the stop")
    page.say("on", whole("on"))
    check("begun " in [m["content"] for m in chats(page)[-1]["messages"]], "a stopped answer is forgotten")


def editing(page):
    page.click("#new")
    for n in ("one", "two", "three"):
        page.say(n, whole("answer " + n))
    check(page.value("[...document.querySelectorAll('.again')].filter(b => b.offsetParent).length") == 1, "only the last answer can be regenerated")
    page.server.scripts.put(whole("another three"))
    page.click(page.button("Regenerate"))
    page.until(SAID + f".textContent === 'another three' && {IDLE}")
    check([m["content"] for m in chats(page)[-1]["messages"]] == ["one", "answer one", "two", "answer two", "three"], "regenerate sent something else")
    # Cancel changes nothing and gives the focus back.
    second = "[...document.querySelectorAll('.mine')][1]"
    page.click(page.button("Edit", second))
    check(page.value("document.activeElement.value") == "two", "the edit has not the focus")
    page.press("Escape", 27)
    check(page.value(second + ".innerText").startswith("You\ntwo") and page.value("document.activeElement.textContent") == "Edit", "a left edit")
    page.click(page.button("Edit", second))
    page.server.scripts.put(whole("edited"))
    page.value("document.activeElement.select()")
    page.keys("zwei")
    page.press("Enter", 13)
    page.until(SAID + f"?.textContent === 'edited' && {IDLE}")
    check([m["content"] for m in chats(page)[-1]["messages"]] == ["one", "answer one", "zwei"] and page.value("document.querySelectorAll('.message').length") == 4, "an edit does not replace what came later")
    # The arrow in an empty field edits the last message.
    check(page.value("document.activeElement.id") == "text", "after an edit the field has the focus")
    page.press("ArrowUp", 38)
    check(page.value("document.activeElement.value") == "zwei", "arrow up edits")
    page.press("Escape", 27)
    page.value("navigator.clipboard.writeText = async t => { window.copied = t; }")
    page.click(page.button("Copy", LAST))
    check(page.value("window.copied") == "edited", "copy")


def reasoning_and_tools(page):
    page.click("#new")
    go = threading.Event()
    page.say("think", [{"reasoning_content": "Let me **see**.\n\n"}, {"reasoning_content": "<img src=/evil>"}, go.wait, {"reasoning_content": " And."}, "Done.", *END], wait=False)
    page.until(LAST + ".querySelector('details').innerText.includes('Reasoning…')")
    fold = LAST + ".querySelector('details')"
    check(page.value(fold + ".open") is False and page.value(fold + ".querySelector('.text').childElementCount") == 0, "reasoning is not folded")
    page.click(LAST + ".querySelector('summary')")
    page.until(fold + ".querySelector('strong')")
    go.set()
    page.until(IDLE)
    check(re.match(r"Reasoned for [\d.]+ m?s", page.value(fold + ".querySelector('summary').textContent")), "how long it reasoned")
    check(page.value(SAID + ".textContent") == "Done." and page.value(fold + ".querySelector('.text').textContent").endswith("<img src=/evil> And."), "reasoning and answer")

    calls = [{"index": 0, "id": "a1", "type": "function", "function": {"name": "weather", "arguments": ""}}]
    page.say("weather?", [{"role": "assistant", "tool_calls": calls}, {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "<b>Bo'}}]}, {"tool_calls": [{"index": 0, "function": {"arguments": 'nn</b>"}'}}]},
                          {"tool_calls": [{"index": 1, "id": "a2", "type": "function", "function": {"name": "time", "arguments": "not json"}}]}, {"end": "tool_calls"}, USAGE, DONE])
    cards = page.value(f"[...{LAST}.querySelectorAll('.fold.call')].map(c => [c.open, c.querySelector('summary').textContent, c.querySelector('pre').textContent])")
    check(cards == [[False, "Calls weather", '{\n  "city": "<b>Bonn</b>"\n}'], [False, "Calls time", "not json"]], f"cards: {cards}")
    names = [n for r, n in page.tree() if r == "textbox"]
    check("Result of weather" in names and "Result of time" in names, f"fields for results: {names}")
    for k, text in enumerate(('{"c": 21}', "noon")):
        page.value(f"{LAST}.querySelectorAll('textarea')[{k}].focus()")
        page.keys(text)
    page.server.scripts.put(whole("21 degrees at noon."))
    page.click(page.button("Send results"))
    page.until(f"{SAID}?.textContent === '21 degrees at noon.' && {IDLE}")
    sent = chats(page)[-1]["messages"][-3:]
    check(sent[0]["tool_calls"] == [{"id": "a1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "<b>Bonn</b>"}'}}, {"id": "a2", "type": "function", "function": {"name": "time", "arguments": "not json"}}], f"calls: {sent}")
    check(sent[1:] == [{"role": "tool", "tool_call_id": "a1", "name": "weather", "content": '{"c": 21}'}, {"role": "tool", "tool_call_id": "a2", "name": "time", "content": "noon"}], f"results: {sent}")
    check(any(m.get("reasoning_content", "").startswith("Let me") for m in chats(page)[-1]["messages"]), "reasoning is not sent back")
    page.click(page.button("Edit", "[...document.querySelectorAll('.tool')][0]"))  # the second result stays
    page.value("document.activeElement.select()")
    page.keys("none")
    page.server.scripts.put(whole("So."))
    page.press("Enter", 13)
    page.until(f"{SAID}?.textContent === 'So.' && {IDLE}")
    check([m["content"] for m in chats(page)[-1]["messages"][-2:]] == ["none", "noon"], "an edited result")


def losing(page):
    page.click("#new")
    page.say("cut", [{"role": "assistant"}, "half an ans", CUT])
    check(page.value(SAID + ".textContent") == "half an ans" and "connection was lost" in page.value(LAST + ".innerText"), "a cut stream")
    check(not page.value(page.button("Regenerate", LAST)), "two buttons for one thing")
    page.server.scripts.put(whole("whole"))
    page.click(page.button("Retry"))
    page.until(f"{SAID}?.textContent === 'whole' && {IDLE}")
    check([m["content"] for m in chats(page)[-1]["messages"]] == ["cut"], "retry sends what was cut")
    page.say("break", ["part", {"error": {"message": "the <b>pool</b> is full", "type": "server_error"}}, DONE])
    check(page.value(SAID + ".textContent") == "part" and "the <b>pool</b> is full" in page.value(LAST + ".innerText"), "an error within a stream")
    page.say("refuse", (400, {"error": {"message": "messages: too long", "type": "invalid_request_error"}}))
    check("messages: too long" in page.value(LAST + ".innerText"), "a refused request")
    page.say("refuse", (503, "no JSON"))
    check("HTTP 503" in page.value(LAST + ".innerText"), "a refusal without words")
    page.say("limit", ["a", {"end": "length"}, DONE])
    check("limit of tokens" in page.value(LAST + ".innerText"), "the limit of tokens is not told")
    # Events in odd pieces: comments, \r\n, a character in two halves, several in one piece, no JSON, surprising types.
    smile = "data: ".encode() + json.dumps(chunk({"content": "\u263a!"}), ensure_ascii=False).encode() + b"\r\n\r\n"
    half = smile.index("\u263a".encode()) + 1
    odd = [b": ping\n\n", smile[:half], lambda: threading.Event().wait(0.05), smile[half:], b"event: x\ndata:not json\n\ndata: null\n\ndata: []\n\ndata: {\"choices\":[{\"delta\":{\"content\":7,\"tool_calls\":[null,{\"index\":-3}]}}]}\n\n",
           b"data: " + json.dumps(chunk({"content": "x"})).encode() + b"\n\ndata: " + json.dumps(chunk({"content": "y", "end": "stop"})).encode() + b"\n\n", DONE]
    page.say("odd", odd)
    check(page.value(SAID + ".textContent") == "\u263a!xy", "odd events: " + page.value(SAID + ".textContent"))


def key_needed(server):
    server.key = "s3cret"
    with Visitor(server, "document.querySelector('#ask-key').open") as page:
        check(page.value("document.activeElement.name") == "key" and ("dialog", "API key") in page.tree(), "the dialog for the key")
        page.keys("wrong")
        page.press("Enter", 13)
        page.until("!document.querySelector('#ask-key').open")
        server.scripts.put(whole("in"))
        page.value("input.focus()")
        page.keys("hi")
        page.press("Enter", 13)
        page.until("document.querySelector('#ask-key').open")
        check("Give an API key." in page.value("document.querySelector('#ask-key').innerText"), "the server's words")
        page.keys("s3cret")
        page.press("Enter", 13)
        page.until(f"{SAID}?.textContent === 'in' && {IDLE}")
        check(page.value("sessionStorage.getItem('linnet.key')") == "s3cret" and "s3cret" not in page.value("JSON.stringify({...localStorage})"), "where the key is kept")
    server.key = None


def images_and_files(page):
    page.click("#new")
    give = """(kind, name, type, bytes) => { const t = new DataTransfer(); t.items.add(new File([bytes], name, { type }));
      if (kind === 'attach') { const f = document.getElementById('file'); f.files = t.files; f.dispatchEvent(new Event('change')); return; }
      document.getElementById('text').dispatchEvent(kind === 'paste' ? new ClipboardEvent('paste', { clipboardData: t, bubbles: true, cancelable: true }) : new DragEvent('drop', { dataTransfer: t, bubbles: true, cancelable: true })); }"""
    for kind in ("paste", "drop", "attach"):
        page.value(f"tell(''); ({give})('{kind}', 'cat-{kind}.png', 'image/png', 'x')")
        page.until(f"document.querySelector('#notice [role=alert]').textContent === 'cat-{kind}.png: tiny takes no images.'")
        check(page.value("input.value") == "", "an image left something")
    # What an office program copies is a picture of the text as well: the text counts.
    page.value("""(() => { tell(''); const t = new DataTransfer(); t.items.add(new File(['x'], 'office.png', { type: 'image/png' })); t.setData('text/plain', 'words');
      window.held = !input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: t, bubbles: true, cancelable: true })); })()""")
    check(page.value("window.held") is False and page.value("document.querySelector('#notice p').textContent") == "", "pasted words are held back")
    page.value(f"({give})('drop', 'photo.HEIC', '', 'x')")
    page.until("document.querySelector('#notice').textContent.includes('photo.HEIC: tiny takes no images')")
    page.value(f"({give})('drop', 'a.bin', '', new Uint8Array([255, 254, 0]))")
    page.until("document.querySelector('#notice').textContent.includes('a.bin is not text')")
    page.value(f"({give})('drop', 'big.txt', 'text/plain', 'x'.repeat(300000))")
    page.until("document.querySelector('#notice').textContent.includes('big.txt is larger than')")
    page.value(f"({give})('attach', 'a.md', 'text/plain', 'one ``` two\\n')")
    page.until("input.value === 'a.md:\\n````\\none ``` two\\n````\\n'")
    page.value("input.value = ''; tell('')")


def keeping(page):
    page.click("#new")
    page.say("remember me", whole("I do"))
    page.reload()
    n = page.value("document.querySelectorAll('#chats li').length")
    check(n > 1 and page.value("document.querySelectorAll('.message').length") == 0, "a new visit starts a new chat")
    page.click("#chats .open")
    page.until("document.querySelectorAll('.message').length === 2")
    check(page.value(SAID + ".textContent") == "I do" and "30.0 tokens/s" in page.value(LAST + ".innerText") and page.value("document.title") == "remember me · linnet", "a kept conversation")
    # Another chat while an answer comes: it goes on there.
    go = threading.Event()
    page.say("slow", ["begun ", go.wait, "and done", *END], wait=False)
    page.until(SAID + ".textContent === 'begun'")
    page.click("#new")
    check(page.value("document.querySelectorAll('.message').length") == 0, "the other chat")
    go.set()
    page.until(IDLE)
    page.click("#chats .open")
    page.until(SAID + ".textContent === 'begun and done'")
    # Whoever leaves while an answer comes finds what had come.
    forever = threading.Event()
    page.say("leave", ["half of", forever.wait], wait=False)
    page.until(SAID + ".textContent === 'half of'")
    page.reload()
    forever.set()
    page.click("#chats .open")
    check(page.value(SAID + ".textContent") == "half of" and page.value(page.button("Retry") + " !== undefined"), "an answer that was left")
    # Export holds it, delete takes it away, undo brings it back.
    page.value("URL.createObjectURL = blob => { window.blob = blob; return 'blob:none'; }; HTMLAnchorElement.prototype.click = function() { window.download = this.download; }")
    page.click("#export")
    out = json.loads(page.value("window.blob.text()"))
    check(page.value("window.download") == "linnet-chats.json" and out["chats"][0]["messages"][1]["content"] == "I do" and len(out["chats"]) == n, "export")
    page.click(page.button("Delete remember me"))
    page.until(f"document.querySelectorAll('#chats li').length === {n - 1} && !document.querySelector('.message')")
    check("I do" not in page.value("JSON.stringify({...localStorage})"), "deleted, but kept")
    check(page.value("document.activeElement.textContent") == "Delete", "delete loses the focus")
    page.click(page.button("Undo"))
    page.until(f"document.querySelectorAll('#chats li').length === {n} && document.querySelectorAll('.message').length === 6")
    # Bounded in number and in bytes: the oldest makes room.
    page.value("for (let k = 0; k < 70; k++) keep(sound({ messages: [{ role: 'user', content: 'n' + k }] }))")
    check(page.value("[chats.length, saved.keys().filter(k => k.startsWith('chat.')).length]") == [60, 60], "more conversations than there may be")
    page.value("for (let k = 0; k < 8; k++) keep(sound({ messages: [{ role: 'user', content: 'big' + k + 'x'.repeat(900000) }] }))")
    check(page.value("chats.length === saved.keys().filter(k => k.startsWith('chat.')).length && chats[0].messages[0].content.startsWith('big7') && chats.length < 8"), "full storage")
    page.value("keep(sound({ messages: [{ role: 'user', content: 'x'.repeat(9e6) }] }))")
    check("cannot be kept" in page.value("document.getElementById('notice').textContent"), "what is too large is not told")
    # What somebody's hand wrote there does not stop the page.
    page.value("""localStorage.clear(); localStorage.setItem('linnet.chat.a', 'no JSON'); localStorage.setItem('linnet.chat.b', '{"messages":[7,{"role":"evil"},{"role":"assistant","calls":[null]},{"role":"user","content":{}}]}');
      localStorage.setItem('linnet.settings', '[1]'); localStorage.setItem('linnet.theme', '"x"'); localStorage.setItem('linnet.chat.c', '{"messages":[{"role":"user","content":"kept"}]}')""")
    page.reload()
    check(page.value("[...document.querySelectorAll('#chats .open')].some(b => b.textContent === 'kept')"), "sound conversations beside broken ones")
    page.value("localStorage.clear()")
    page.reload()


def settings(page):
    page.click(page.button("Settings"))
    for name, text in {"system": "Be brief.", "temperature": "0.5", "top_p": "0.9", "max_tokens": "64", "seed": "7", "tools": "{no"}.items():
        page.value(f"document.querySelector('#settings [name={name}]').focus()")
        page.keys(text)
    page.value("document.querySelector('#settings [name=reasoning]').value = 'off'")
    page.click(page.button("Save"))
    check("no JSON array" in page.value("document.querySelector('#settings .problem').textContent") and page.value("document.activeElement.name") == "tools", "broken tools are taken")
    page.value("document.querySelector('#settings [name=tools]').select()")
    page.keys('[{"type":"function","function":{"name":"f"}}]')
    page.click(page.button("Save"))
    page.until("!document.querySelector('dialog[open]')")
    page.reload()
    page.say("with all", whole("ok"))
    sent = chats(page)[-1]
    check(sent["messages"][0] == {"role": "system", "content": "Be brief."} and sent["tools"] == [{"type": "function", "function": {"name": "f"}}], f"sent: {sent}")
    check({k: sent.get(k) for k in ("temperature", "top_p", "max_tokens", "seed", "chat_template_kwargs")} == {"temperature": 0.5, "top_p": 0.9, "max_tokens": 64, "seed": 7, "chat_template_kwargs": {"enable_thinking": False}}, f"sent: {sent}")
    page.value("settings = {}; localStorage.clear()")
    # Several models: one is chosen, and kept.
    page.server.models = ["tiny", "other"]
    page.reload()
    page.until("!document.getElementById('model').hidden")
    page.value("(m => { m.value = 'other'; m.dispatchEvent(new Event('change')); })(document.getElementById('model'))")
    page.say("which", whole("ok"))
    check(chats(page)[-1]["model"] == "other", "the chosen model")
    page.server.models = ["tiny"]
    page.value("localStorage.clear()")
    page.reload()


MARKDOWN = r"""# Title # with `code`

A paragraph with **bold**, *italic*, ***both***, _under_, ~~gone~~, snake_case_word, 2*3*4, **bold *nested* more** and `a ** b`.
Second line with a [link](https://example.org/a_(b) "t"), <https://example.org/x>, https://example.org/y. And mail [me](mailto:a@b.c).

- one
- two
  - nested *x*
    1. deep
- [ ] open task
- [x] done task

1. first

   still first
2. second
   ```sh
   echo "in a list"
   ```
7) other

> quoted **text**
> - list in quote
lazy

| a | b `|` c | d |
|:--|:-:|--:|
| 1 | \| | `x|y` |
| only one |
***
````python
def f():
    return "```"

````
~~~
tildes
~~~
Inline math \( a_1 * b * c \) and $$x*y*z$$, escaped \*stars\* and a line<br>break, 3 < 4 & 5 > 4.
### Last
```js
unfinished("""


# Lines whose beginning looks like something else than the whole line.
TURNS = ["para\n#hashtag", "para\n-x\n- y", "- a\n1\n\n1. b", "- a\n-b", "para\n| a | b |\n|-|-|x\n", "para\n| a | b |\n|-|-|\n|1", "para\n``` a ` b", "para\n***bold*** x", "para\n> q\n>q\n-x", "text\n---x\n---", "1. a\n2b\n2. c", "- a\n\n  b\n\n c",
         "para\n---\nx", "```\na\n``\n```x\n```\nb", "- a\n  ```\n  b\n  ```\n- c", "> a\n\n> b", "- a\n\n\n- b\n* c", "#\n# a", "a\n\n\n", "1. a\n   - b\n\n     c\n2. d", "a\n1.\n1. b"]


def rendered(page, text, pieces=False):
    """The HTML that text becomes, whole or character by character."""
    show = "for (let k = 1; k <= t.length; k++) g(t.slice(0, k))" if pieces else "g(t)"
    return page.value(f"((t) => {{ const e = document.createElement('div'), g = growing(e); {show}; return e.innerHTML; }})({json.dumps(text)})")


def markdown(page):
    page.click("#new")
    page.say("markdown", [{"role": "assistant"}, *[MARKDOWN[k:k + 7] for k in range(0, len(MARKDOWN), 7)], *END])
    html = page.value(SAID + ".innerHTML")
    for what in ("<h3>Title # with <code>code</code></h3>", "<strong>bold</strong>", "<em>italic</em>", "<em>under</em>", "<del>gone</del>", "snake_case_word, 2*3*4,", "<strong>bold <em>nested</em> more</strong>", "<code>a ** b</code>",
                 '<a href="https://example.org/a_(b)"', ">https://example.org/y</a>. And", '<a href="mailto:a@b.c"', "<em>x</em>", "\u2610 open task", "\u2611 done task", '<ol class="loose" start="1">', '<ol class="" start="7">',
                 "<blockquote><p>quoted <strong>text</strong></p>", '<th scope="col" style="text-align: center;">b <code>|</code> c</th>', "<code>x|y</code>", ">|</td>", "<hr>", 'def f():\n    return "```"\n</span>',
                 "<span>tildes</span>", r"<code>\( a_1 * b * c \)</code>", "<code>$$x*y*z$$</code>", "escaped *stars*", "line<br>break", "3 &lt; 4 &amp; 5 &gt; 4", "<span>js</span>", "<span>unfinished(</span>", "<span>sh</span>"):
        check(what in html, f"markdown has no {what}: {html}")
    check(page.value(f"[...{SAID}.querySelectorAll('a')].every(a => a.target === '_blank' && /noopener/.test(a.rel))"), "links without noopener")
    check(page.value(f"{SAID}.querySelector('li li li').textContent") == "deep", "nested lists")
    check(rendered(page, MARKDOWN) == rendered(page, MARKDOWN, True) == html, "in pieces it becomes something else")
    for text, html in {"- a\n\t- b\n\n\t  c": "<ul class=\"\"><li class=\"\"><p>a</p><ul class=\"loose\"><li class=\"\"><p>b</p><p>c</p></li></ul></li></ul>", "```make\nall:\n\tcc\n```": "all:\n\tcc</span>"}.items():  # tabs
        check(html in rendered(page, text), f"{text!r}: {rendered(page, text)}")
    for text in TURNS:
        check(rendered(page, text) == rendered(page, text, True), f"{text!r}: whole {rendered(page, text)}, in pieces {rendered(page, text, True)}")
    page.value("navigator.clipboard.writeText = async t => { window.copied = t; }")
    page.click(f"[...{LAST}.querySelectorAll('.code')].find(c => c.textContent.startsWith('python')).querySelector('button')")
    check(page.value("window.copied") == 'def f():\n    return "```"\n', "the copy of a code block")
    check(("button", "Copy code") in page.tree(), "the name of the button that copies code")


HOSTILE = [
    "<script>hit('script')</script>", "<img src=/evil/img onerror=\"hit('onerror')\">", "<svg onload=\"hit('svg')\"><iframe src=/evil/frame>", "![pixel](/evil/relative.png)", "![pixel](http://127.0.0.1:{port}/evil/absolute.png)",
    "[click](javascript:hit('link'))", "[click](JaVaScRiPt:hit(1))", "[click](java\tscript:hit(1))", "[click](&#106;avascript:hit(1))", "[click](data:text/html,<script>hit(1)</script>)", "[click](<javascript:hit(1)>)", "[x](vbscript:x)",
    "[click](//evil.example/x)", "[c](blob:null/x)", "[file](file:///etc/passwd)", "<javascript:hit(1)>", "<a href=\"javascript:hit(1)\">x</a>", "[![a](/evil/a.png)](javascript:hit(1))", "[a](http://x\" onclick=\"hit(1))", "[a](https://e.x/'onmouseover='hit(1))",
    "```\"><script>hit('fence')</script>\nx", "````\n```\n<script>hit('nested')</script>\n```\n````\n<script>hit('after')</script>", "```js\n```js\n</code></pre><script>hit('break out')</script>", "| <img src=/evil/t> |\n|---|\n| <script>hit('cell')</script> |",
    "> <img src=/evil/q>\n> ```\n> <script>hit('q')</script>", "- <img src=/evil/l onerror=hit(1)>\n  - ```\n    <script>hit(2)</script>", "<style>*{background:url(/evil/css)}</style>", "<link rel=stylesheet href=/evil/css><meta http-equiv=refresh content=\"0;url=/evil/meta\">",
    "<form action=/evil/form><button>x</button></form><base href=/evil/>", "__proto__ [x](constructor) <math><mi//xlink:href=\"data:x,<script>hit(1)</script>\">", "**<b onmouseover=hit(1)>x**", "`<script>hit('code')</script>`", "\\<script>hit('escaped')\\</script>",
    "</article></main><script>hit('close')</script>", "\u202ehit\u202c \u0000 \ufeff <\u0000script>hit(1)</script>", "$$<script>hit('math')</script>$$ \\(<img src=/evil/m>\\)",
]
TOO_MUCH = ["[" * 50000, "![" * 50000, "*" * 50000, "*a" * 50000, "_*" * 30000, "**a *b " * 20000, "`" * 100000, "`a``" * 25000, "> " * 40000, ">" * 50000 + "x", "- " * 40000, "1. " * 30000, "[a](" * 25000, "[a](b" * 20000, "\\(" * 50000, "$$ $" * 25000,
            "<" * 100000, "|" * 50000 + "\n" + "|-" * 50000 + "|", "|a" * 3000 + "|\n" + "|-" * 3000 + "|\n" + "|\n" * 30000, "#" * 100000, "# " + "#" * 90000 + "x", "# a" + " " * 90000 + "b", "-" + " " * 100000 + "x", "x|\n-|" + " " * 90000 + "-x",
            "```" + " " * 90000 + "`", "~" * 100000 + "`", "http://" * 14000, "https://x" + ")" * 90000, "\n" * 100000, "a\n" * 50000, "- a\n" * 25000, "~~a" * 30000, "![a](" + "(" * 90000, "<br>" * 25000, " " * 100000 + "x", "- - " * 20000, "` " + "x" * 100000 + "`", "- x\n" + " " * 90000 + "y"]


def hostile(server):
    """Without the policy that would stop it as well: the renderer alone lets nothing through, in pieces or at once."""
    with Visitor(server) as page:
        page.value("window.hits = []; window.hit = x => hits.push(x); window.onhashchange = () => hit('hash')")
        texts = [t.replace("{port}", str(server.server_address[1])) for t in HOSTILE]
        for text in [*texts, "\n".join(texts), "\n\n".join(texts)]:
            page.say("x", [{"role": "assistant"}, {"reasoning_content": text}, *[text[k:k + 11] for k in range(0, len(text), 11)], {"tool_calls": [{"index": 0, "id": text, "function": {"name": text, "arguments": text}}]}, *END])
            page.value(LAST + ".querySelector('summary').click()")
            bad = page.value(f"""[...{LAST}.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => [e.tagName, a.name, a.value])
              .filter(([tag, name, value]) => name.startsWith('on') || ['src', 'srcset', 'action', 'formaction'].includes(name) || name === 'href' && !/^(https?:\\/\\/|mailto:)/.test(value)))""")
            check(bad == [], f"{text}: {bad}")
            check(page.value(f"{LAST}.querySelectorAll('script, img, iframe, style, link, meta, base, object, embed, svg, math, input, .text form, .text textarea').length") == 0, f"{text}: elements")
            check(rendered(page, text) == rendered(page, text, True), f"{text}: in pieces it becomes something else")
        page.value(f"[...document.querySelectorAll('.text a')].forEach(a => a.dispatchEvent(new MouseEvent('mouseover', {{ bubbles: true }})))")
        # The same again out of what is kept, and with hostile titles.
        page.reload()
        page.value("window.hits ??= []")
        page.click("#chats .open")
        page.until("document.querySelectorAll('.message').length > 50")
        check(page.value("window.hits") == [] and not [p for p in server.paths if "evil" in p], f"ran: {page.value('window.hits')}, asked for: {[p for p in server.paths if 'evil' in p]}")
        for text in TOO_MUCH:
            ms, deepest = page.value(f"""(t => {{ const e = document.createElement('div'), g = growing(e), began = performance.now(); g(t.slice(0, t.length / 2)); g(t); speakable(t);
              let deepest = 0; for (const x of e.querySelectorAll('*')) {{ let n = 0; for (let y = x; y; y = y.parentNode) n++; deepest = Math.max(deepest, n); if (n > 200) break; }} return [performance.now() - began, deepest]; }})({json.dumps(text)})""")
            check(ms < 4000 and deepest < 200, f"{text[:20]!r} times many takes {ms:.0f} ms, {deepest} deep")
        check(page.errors == [], f"errors in the console: {page.errors}")


def listening(page):
    """What a screen reader is told, and what the keyboard reaches."""
    page.click("#new")
    page.value("window.heard = []; new MutationObserver(all => all.forEach(m => m.addedNodes.forEach(n => heard.push(n.textContent)))).observe(document.getElementById('spoken'), { childList: true })")
    go = threading.Event()
    page.say("talk", [{"reasoning_content": "secret thoughts. "}, "The **first** sentence. The ", *["sec", "ond"], go.wait, " one! ```not a fence``` and [a link](https://e.x/long)\n", "```py\nx = 1. y\n", lambda: time.sleep(1.6), "z\n```\n", "No end", *END], wait=False)
    page.until("heard.includes('The first sentence.')")
    check(page.value("heard") == ["Sent", "Reasoning.", "The first sentence."], f"heard: {page.value('heard')}")
    go.set()
    page.until("heard.at(-1) === 'End of the answer.'")
    heard = page.value("heard.join(' ')")
    check(heard == "Sent Reasoning. The first sentence. The second one! not a fence and a link Code block. No end End of the answer.", f"heard: {heard}")
    page.say("fail", (500, {"error": {"message": "it broke"}}))
    check(page.value("heard.at(-1)") == "it broke", "an error is not said")
    tree = page.tree()
    for role, name in (("navigation", "Conversations"), ("main", "Conversation"), ("banner", ""), ("contentinfo", "Figures"), ("region", "Messages"), ("form", "New message"), ("textbox", "Message"), ("log", "New in the conversation"), ("alert", ""),
                       ("heading", "linnet"), ("heading", "You"), ("heading", "tiny"), ("button", "Send"), ("button", "New chat"), ("button", "Settings"), ("button", "Theme: as the system"), ("button", "Delete talk"), ("article", ""), ("link", "Skip to the message field")):
        check(any(r == role and (n == name or not name) for r, n in tree), f"the tree has no {role} {name!r}: {tree}")
    nameless = [r for r, n in tree if r in ("button", "textbox", "combobox", "link", "spinbutton", "dialog", "navigation", "main", "region", "form") and not n.strip()]
    check(nameless == [], f"without a name: {nameless}")
    check([r for r, n in tree].count("log") == 1 and page.value("document.querySelectorAll('[aria-live]').length") == 1, "one live region")
    # Tab goes through everything once, in the order it is seen, and shows where it is.
    page.value("document.querySelector('.skip').focus({ focusVisible: true })")
    stops = []
    for _ in range(60):
        stop = page.value("(e => e === document.body ? null : [e.ariaLabel || e.id || e.textContent, getComputedStyle(e).outlineStyle])(document.activeElement)")
        if stop is None or stop in stops[:1]:
            break
        stops.append(stop)
        page.press("Tab", 9)
    names = [s[0] for s in stops]
    check(names[0] == "Skip to the message field" and [n for n in names if n in ("new", "Settings", "Messages", "text", "attach", "send")] == ["new", "Settings", "Messages", "text", "attach", "send"], f"order: {names}")
    check(all(s[1] != "none" for s in stops), f"no visible focus: {[s[0] for s in stops if s[1] == 'none']}")
    # Shortcuts, which are listed.
    page.press("/", 191, 2)
    page.until("document.getElementById('keys').open")
    listed = page.value("document.getElementById('keys').innerText")
    check(all(k in listed for k in ("Enter", "Shift", "Esc", "Ctrl")), "shortcuts")
    page.press("Escape", 27)
    page.until("!document.getElementById('keys').open")
    page.value("document.getElementById('log').focus()")
    page.press("Escape", 27, 8)
    check(page.value("document.activeElement.id") == "text", "Shift+Esc")
    page.press("O", 79, 10)
    page.until("!document.querySelector('.message')")


CONTRAST = """(() => { const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c) && c !== 'transparent') return c; } return 'rgb(255,255,255)'; };
  const seen = e => e.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *')].filter(seen).map(e => { const a = light(getComputedStyle(e).color), b = light(behind(e)); return [e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 20), (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; })
    .concat([...document.querySelectorAll('#text')].map(e => { const a = light(getComputedStyle(e, '::placeholder').color), b = light(behind(e)); return ['placeholder', (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; })); })()"""


def looking(page, pictures):
    page.click("#new")
    page.say("What is there to see? " + "averylongwordwithoutanyspace" * 8, [{"reasoning_content": "It asks what can be seen."}, MARKDOWN.replace("unfinished(", "x" * 300), *END])
    page.value(LAST + ".querySelector('summary').click()")
    page.say("And tools?", ["I ask.", {"tool_calls": [{"index": 0, "id": "a1", "type": "function", "function": {"name": "weather_with_a_rather_long_name_of_a_function", "arguments": '{"city": "Bonn"}'}}]}, {"end": "tool_calls"}, USAGE, DONE])
    page.value(LAST + ".querySelector('summary').click()")
    page.value("tell('cat.png: tiny takes no images.', 'Undo')")
    for width in (1280, 800, 360, 320):
        page.size(width, 740)
        page.until(f"innerWidth === {width}")
        inside = "e => { for (let p = e.parentElement; p; p = p.parentElement) if (['auto', 'hidden', 'scroll'].includes(getComputedStyle(p).overflowX) && p.id !== 'log' || p.matches('nav, .skip')) return true; return false; }"
        wide = page.value(f"[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !({inside})(e)).map(e => e.tagName + '.' + e.className)")
        check(wide == [] and page.value("document.documentElement.scrollWidth <= innerWidth && log.scrollWidth <= log.clientWidth"), f"wider than {width} pixels: {wide}")
        small = page.value("[...document.querySelectorAll('button')].filter(b => b.checkVisibility() && (b.offsetHeight < 24 || b.offsetWidth < 24)).map(b => b.textContent)")
        check(small == [], f"too small to touch at {width}: {small}")
        if pictures and width in (1280, 320):
            for place in ("top", "end"):
                page.value("log.scrollTop = " + ("0" if place == "top" else "1e9"))
                page.picture(f"{pictures}/page-{width}-{place}.png")
    # The phone's list of conversations: opened, closed, the focus goes along, what lies below is out of reach.
    page.click("#menu")
    page.until("document.getElementById('side').checkVisibility() && document.activeElement.id === 'hide' && document.getElementById('app').inert")
    if pictures:
        page.picture(f"{pictures}/page-320-side.png")
    page.press("Escape", 27)
    page.until("!document.getElementById('side').checkVisibility() && document.activeElement.id === 'menu' && !document.getElementById('app').inert")
    page.click(page.button("Settings"))
    page.until("document.getElementById('settings').open")
    check(page.value("(r => r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= innerHeight)(document.getElementById('settings').getBoundingClientRect())"), "the settings stick out")
    if pictures:
        page.picture(f"{pictures}/page-320-settings.png")
    page.press("Escape", 27)
    page.size(1280, 860)
    # Both themes, by the system and by the switch; every text that is seen has a contrast of 4.5.
    paper = "getComputedStyle(document.body).backgroundColor"
    shown = {}
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        shown[scheme] = page.value(paper)
        ratios = page.value(CONTRAST)
        check(len(ratios) > 60, f"only {len(ratios)} texts are seen")
        for what, ratio in ratios:
            check(ratio >= 4.5, f"{scheme}: {what} has a contrast of {ratio:.2f}")
        if pictures:
            for place in ("top", "end"):
                page.value("log.scrollTop = " + ("0" if place == "top" else "1e9"))
                page.picture(f"{pictures}/page-{scheme}-{place}.png")
    check(shown["light"] != shown["dark"], "one look for both themes")
    page.click("#theme")
    check(page.value(paper) == shown["light"] and ("button", "Theme: light") in page.tree(), "light by the switch in a dark system")
    page.reload()
    check(page.value(paper) == shown["light"], "the theme is not kept")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}])
    page.click("#theme")
    check(page.value(paper) == shown["dark"], "dark by the switch in a light system")
    page.click("#theme")
    check(page.value(paper) == shown["light"] and ("button", "Theme: as the system") in page.tree(), "back to the system's")
    # No motion for whoever wants none; the mark of what is awaited moves for the others.
    go = threading.Event()
    page.say("wait", [{"role": "assistant"}, go.wait, *END], wait=False)
    page.until(LAST + ".classList.contains('waiting')")
    moving = f"getComputedStyle({LAST}, '::after').animationName"
    check(page.value(moving) == "none", "motion that nobody wants")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "no-preference"}])
    check(page.value(moving) == "pulse", "no motion")
    go.set()
    page.until(IDLE)


def scrolling(page):
    page.size(1280, 860)
    page.click("#new")
    lines = [f"Line {k} of a long answer.\n\n" for k in range(80)]
    go, more = threading.Event(), threading.Event()
    page.say("scroll", [*lines, go.wait, *lines, more.wait, *lines, *END], wait=False)
    page.until(SAID + ".childElementCount === 80 && atEnd()")
    # Whoever has scrolled up stays there, and gets a button.
    page.value("log.scrollTop = 100")
    go.set()
    page.until(SAID + ".childElementCount === 160")
    check(page.value("log.scrollTop") == 100 and page.value("!document.getElementById('down').hidden"), "reading on is disturbed")
    page.click("#down")
    page.until("atEnd()")
    more.set()
    page.until(SAID + f".childElementCount === 240 && atEnd() && {IDLE} && document.getElementById('down').hidden")


def large(page):
    """100 kB of prose and 100 kB of one block of code: frames go on meanwhile, and what is done is not made again."""
    page.click("#new")
    prose = "".join(f"## Part {k}\n\nSome **prose** with `code` and [a link](https://example.org/{k}), long enough to be a line of its own.\n\n- one\n- two\n\n" for k in range(760))
    code = "```c\n" + "".join(f"  int value_{k} = {k};  // a line of code\n" for k in range(2500)) + "```\n"
    for name, text in (("prose", prose), ("code", code)):
        check(len(text) > 98000, f"{name} is small")
        page.value("""(() => { let last = performance.now(); window.frames_ = []; window.making = 0; window.painted = 0; window.measuring = true;
          const paintOnce = paintNow; paintNow = view => { painted++; paintOnce(view); };
          const made = document.createElement; document.createElement = function(...a) { making++; return made.apply(document, a); };
          requestAnimationFrame(function f() { const now = performance.now(); frames_.push(now - last); last = now; if (measuring) requestAnimationFrame(f); else { document.createElement = made; paintNow = paintOnce; } }); })()""")
        pieces = [text[k:k + 40] for k in range(0, len(text), 40)]
        page.say(name, [step for k, piece in enumerate(pieces) for step in ([piece] if k % 20 else [piece, lambda: time.sleep(0.02)])] + END, wait=False)
        page.until(IDLE, 60)
        page.value("measuring = false")
        painted, seen = page.value("[painted, frames_.length]")
        check(3 < painted <= seen + 1, f"{name}: shown {painted} times in {seen} frames")  # and once when it is whole
        frames, made = page.value("frames_.slice(3).sort((a, b) => a - b)"), page.value("making")
        elements = page.value(SAID + ".querySelectorAll('*').length")
        length = page.value(SAID + ".textContent.length")
        check(length > 60000, f"{name}: {length} characters are shown")
        p95 = frames[int(len(frames) * .95)]
        print(f"{name}: {len(frames)} frames, median {frames[len(frames) // 2]:.0f} ms, 95 % {p95:.0f} ms, longest {frames[-1]:.0f} ms; {elements} elements, {made} made")
        check(p95 < 500 and frames[-1] < 5000, f"{name}: frames of {frames[-1]:.0f} ms, 95 % within {p95:.0f} ms")
        check(made < 5 * elements + 500, f"{name}: {made} elements made for {elements}")


class Program:
    """linnet-server itself, with a model that says what is scripted and the assistant's, which calls tools."""

    def __init__(self, program, folder):
        template = ("{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' and m.reasoning_content %}<hm>{{ m.reasoning_content }}</hm>{% endif %}{{ m.content }}{% endfor %}"
                    "{% if add_generation_prompt %}[assistant]{% endif %}")
        said = [("<hm>", True), ("\nIt says hello.", False), ("</hm>", True), ("\n\nThe **first", False), ("** and <script>hit(1)</script>", False), ("\n\n- one", False), ("\n- two \u263a", False), ("\n```c\nint x;", False), ("\n```", False)]
        scripted_model.make(folder + "/scripted", {"]": said}, template)
        self.process = subprocess.Popen([program, "-m", "scripted=" + folder + "/scripted", "-m", "assistant=" + str(ROOT / "examples/assistant/model/linnet-assistant.gguf"), "--port", "0", "--api-key", "s3cret", "--no-cache",
                                         "--prefix-cache", "16", "--threads", "1", "--temp", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.address = None
        for line in self.process.stdout:
            if "listening at" in line:
                self.address = re.search(r"http://\S+", line)[0]
                break
        if not self.address:
            raise RuntimeError("linnet-server tells no address")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def url(self):
        return self.address


def real(program):
    with tempfile.TemporaryDirectory() as folder:
        server = Program(program, folder)
        try:
            with urllib.request.urlopen(server.url()) as reply:
                check(reply.read() == PAGE.read_bytes() and reply.headers["Content-Security-Policy"] == POLICY, "another page, or another policy")
            with Visitor(server, "document.querySelector('#ask-key').open") as page:
                page.keys("s3cret")
                page.press("Enter", 13)
                page.until("!document.getElementById('model').hidden && server.model === 'scripted'")
                hello = "Hello, and something more, so that the prompt has pages which the prefix cache can keep."
                page.say(hello)
                check(page.value(SAID + ".innerHTML").startswith("<p>The <strong>first</strong> and &lt;script&gt;hit(1)&lt;/script&gt;</p><ul class=\"\"><li class=\"\"><p>one</p></li>"), page.value(LAST + ".innerHTML"))
                check(page.value(f"{SAID}.querySelector('pre').textContent") == "int x;", "code")
                page.click(LAST + ".querySelector('summary')")
                page.until(f"{LAST}.querySelector('details .text').textContent === 'It says hello.'")
                numbers = page.value(LAST + ".querySelector('.figures').textContent")
                check(re.fullmatch(r"[\d.]+ tokens/s · \d+ tokens · first after [\d.]+ m?s · prompt \d+ at [\d.]+ tokens/s", numbers), f"figures: {numbers}")
                page.click(page.button("Regenerate"))
                page.until(f"{IDLE} && /, \\d+ cached$/.test({LAST}.querySelector('.figures').textContent)")
                page.until(r"/context \d+ of \d+ tokens/.test(document.querySelector('footer').textContent) && /memory [\d.]+ MB/.test(document.querySelector('footer').textContent)")
                check(set(page.value("[...document.querySelectorAll('#memory dt')].map(x => x.textContent)")) >= {"weights", "session", "prefix cache"}, "memory by purpose")
                page.say("And again?")  # the answer before is part of the prompt
                check(page.value(SAID + ".querySelector('pre').textContent") == "int x;" and not page.value("window.hits"), "the second turn")

                page.click("#new")
                page.value("(m => { m.value = 'assistant'; m.dispatchEvent(new Event('change')); })(document.getElementById('model'))")
                page.say("set a timer for ten minutes")
                card = page.value(f"(c => [c.querySelector('summary').textContent, JSON.parse(c.querySelector('pre').textContent)])({LAST}.querySelector('.fold.call'))")
                check(card == ["Calls set_timer", {"minutes": 10}], f"a call: {card}")
                page.value(f"{LAST}.querySelector('textarea').focus()")
                page.keys('{"ok": true}')
                page.click(page.button("Send result"))
                page.until(f"{IDLE} && document.querySelectorAll('.message').length === 4")
                check(page.value(SAID + ".textContent") and page.value(LAST + ".querySelector('.ended').hidden"), "no answer to a result: " + page.value(LAST + ".innerText"))
                check([e for e in page.errors if "status of 401" not in e] == [], f"errors in the console: {page.errors}")
                server.process.terminate()
                check(server.process.wait(30) == 0, "how the server ended")
                page.say("still there?")
                check("does not answer" in page.value(LAST + ".innerText"), "a server that has ended")
        finally:
            server.process.kill()
            server.process.wait()


def main():
    if not browser.find():
        print("skipped: test_server_page: no Chromium")
        return 77
    program = next((a for a in sys.argv[1:] if os.path.isfile(a)), None)
    pictures = next((a for a in sys.argv[1:] if os.path.isdir(a)), None)
    try:
        text = PAGE.read_text(encoding="utf-8")
        check(len(text.encode()) < 60000, "the page is larger than 60 kB")
        check(not re.search(r"@[A-Za-z0-9_./+-]+@", text) and ')page"' not in text, "what CMake or a raw string would take for its own")
        check(not re.search(r"innerHTML|insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function", text), "a way for text to become markup")
        server = Server()
        with Visitor(server) as page:
            for step in (chatting, stopping, editing, reasoning_and_tools, losing, images_and_files, keeping, settings, markdown, listening, scrolling, large):
                step(page)
            looking(page, pictures)
            refused = [e for e in page.errors if "status of 400" in e or "status of 50" in e]
            check(len(page.errors) == len(refused) == 3, f"errors in the console: {page.errors}")
            outside = page.value("performance.getEntriesByType('resource').map(r => new URL(r.name).origin).filter(o => o !== location.origin)")
            check(outside == [] and set(server.paths) <= {"/", "/v1/models", "/props", "/metrics", "/v1/chat/completions"}, f"asked for: {set(server.paths)}, elsewhere: {outside}")
            server.shutdown()
            server.server_close()
            page.say("anyone there?")
            check("does not answer" in page.value(LAST + ".innerText"), "a server that is gone")
        key_needed(Server())
        hostile(Server(policy=False))
        if program:
            real(program)
        else:
            print("test_server_page: without linnet-server, which is not built")
    except RuntimeError as e:
        print(f"test_server_page: {e}", file=sys.stderr)
        return 1
    print(f"test_server_page: {checks} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
