#!/usr/bin/env python3
"""The assistant's page in headless Chromium, against the assistant itself: test_page.py LINNET_ASSISTANT [PICTURE.png]

A visitor types requests, sees answers, tool calls and the home change, reloads, looks at it on a phone and in the dark; text that would be markup stays text.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/assistant"))
import browser  # noqa: E402

checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        raise RuntimeError(what)


def ask(page, text, expect):
    """Types the request and presses Enter; the answer, once it is whole."""
    n = page.value("document.querySelectorAll('.said.user:not(.partial)').length")
    page.value("document.getElementById('text').focus()")
    page.keys(text)
    page.press("Enter", 13)
    page.until(f"document.querySelectorAll('.said.user:not(.partial)').length === {n + 1}")
    page.until("[...document.querySelectorAll('#steps .now')].map(x => x.dataset.phase).join() === 'listening' && log.lastElementChild.className === 'times'")
    check(page.value("[...document.querySelectorAll('.said.user')].at(-1).textContent") == text, f"{text}: the request is not shown")
    check(page.value("document.getElementById('text').value") == "", f"{text}: the field is not empty again")
    answer = page.value("[...document.querySelectorAll('.said.answer')].at(-1).textContent")
    check(re.search(expect, answer), f"{text}: {answer!r} has no {expect}")
    return answer


def visit(page, url):
    page.until("document.readyState === 'complete' && document.querySelector('.hint strong')")
    page.until("document.activeElement.id === 'text'")  # given when the page is drawn, after it is complete
    ask(page, "set a timer for ten minutes", "(?i)timer")
    page.until("/^(9:[0-5]\\d|10:00)$/.test(document.querySelector('#timers .big')?.textContent)")
    check(not page.value("document.querySelector('.hint')"), "the hint is still there")
    check("set_timer" in page.value("document.querySelector('.call').textContent"), "the tool call is not shown")
    ask(page, "turn the kitchen lights blue", "(?i)kitchen")
    tile = "[...document.querySelectorAll('.tile')].find(t => t.firstChild.textContent === 'kitchen')"
    page.until(f"{tile}?.className.includes('on')")
    blue = page.value(f"getComputedStyle({tile}).backgroundColor")
    ask(page, "turn the kitchen lights red", "(?i)kitchen")
    page.until(f"getComputedStyle({tile}).backgroundColor !== {json.dumps(blue)}")
    ask(page, "turn off the kitchen light", "(?i)kitchen")
    page.until(f"!{tile}.className.includes('on') && {tile}.textContent.includes('off')")
    ask(page, "add milk to my shopping list", "(?i)milk")
    check("milk" in page.value("document.getElementById('lists').textContent"), "the list has no milk")
    for figure in ("first_token", "speed", "memory", "context"):
        check(re.match(r"[\d.]+", page.value(f"document.getElementById('{figure}').textContent")), f"no figure: {figure}")
    left = page.value("document.querySelector('#timers .big').textContent")
    page.until(f"document.querySelector('#timers .big').textContent !== {json.dumps(left)}")

    # Text is never markup, on either way in.
    evil = "<img src=x onerror=\"document.title='evil'\"><b>bold</b>"
    ask(page, evil, ".")
    check(page.value("document.querySelectorAll('#log img, #log .said b').length") == 0 and page.value("document.title") != "evil", "markup got in")

    # A reload shows the conversation again.
    before = page.value("[...document.querySelectorAll('.said')].map(x => x.textContent).join('|')")
    page.value("window.old = true")
    page.call("Page.reload")
    page.until("document.readyState === 'complete' && !window.old")
    page.until(f"[...document.querySelectorAll('.said')].map(x => x.textContent).join('|') === {json.dumps(before)}")

    # What is refused is said, and the words stay.
    page.value("input.removeAttribute('maxlength'); input.focus()")
    page.keys("x" * 1001)
    page.press("Enter", 13)
    page.until("document.getElementById('problem').textContent.includes('1000 bytes')")
    check(page.value("input.value.length") == 1001, "a refused request is lost")

    # Every control has a name; nothing sticks out at a phone's width; both colour schemes are readable.
    check(page.value("[...document.querySelectorAll('input')].every(i => i.labels.length) && [...document.querySelectorAll('button')].every(b => b.textContent.trim())"), "a control without a name")
    check(page.value("log.getAttribute('role') === 'log' && document.documentElement.lang === 'en' && document.querySelectorAll('main, header, footer, aside, h1').length === 5"), "landmarks")
    for width in (1280, 800, 360):
        page.size(width, 800)
        wide = page.value("[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className)")
        check(wide == [] and page.value("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width} pixels: {wide}")
    page.size(1280, 860)
    contrast = """(() => { const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
      return .2126 * r + .7152 * g + .0722 * b; };
      const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c) && c !== 'transparent') return c; } return 'rgb(255,255,255)'; };
      return ['.said.user', '.said.answer', '.call', '.call b', '.times', '.figures dt', '.figures dd', '.card h2', 'form button', '.name small', '#steps li:not(.now)'].map(q => {
        const e = document.querySelector(q), a = light(getComputedStyle(e).color), b = light(behind(e)); return [q, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; }); })()"""
    for scheme in ("dark", "light"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        for what, ratio in page.value(contrast):
            check(ratio >= 4.5, f"{scheme}: {what} has a contrast of {ratio:.2f}")
    refused = [e for e in page.errors if "413" in e]
    check(len(page.errors) == len(refused) == 1, f"errors in the console: {page.errors}")
    outside = page.value("performance.getEntriesByType('resource').map(r => new URL(r.name).origin).filter(o => o !== location.origin)")
    check(outside == [], f"loaded from elsewhere: {outside}")


def main():
    if not browser.find():
        print("skipped: test_page: no Chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        assistant = subprocess.Popen([sys.argv[1], "--web", "0", "--text", "-", "--state", folder + "/state.json", "--json"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            url = None
            for line in assistant.stderr:
                if line.startswith("http://127.0.0.1:"):
                    url = line.strip()
                    break
                if "without the page" in line:
                    print("skipped: test_page: " + line.strip())
                    return 77
            check(url, "the assistant tells no address")
            check("?token=" in url, "the address has no token")
            check(b"<title>linnet assistant</title>" in urllib.request.urlopen(url).read(), "no page")
            held = [os.open(os.devnull, os.O_RDONLY) for _ in range(12)]  # whoever runs this may have as many open
            with browser.Browser(url) as page:
                for number in held:
                    os.close(number)
                visit(page, url)
                if len(sys.argv) > 2:
                    page.picture(sys.argv[2])
                assistant.stdin.close()
                assistant.terminate()
                assistant.wait(20)
                page.until("document.getElementById('problem').textContent.includes('connection is lost')")
        except RuntimeError as e:
            print(f"test_page: {e}", file=sys.stderr)
            return 1
        finally:
            assistant.kill()
            assistant.wait()
    print(f"test_page: {checks} checks")
    return 0


sys.exit(main())
