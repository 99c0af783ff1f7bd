"""contrib/trace.html in a real browser, driven by its DevTools protocol.

With SHOTS=FOLDER in the environment pictures of the page are left there.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import support

PAGE = os.path.join(support.HERE, "..", "..", "contrib", "trace.html")
BROWSER = next(filter(None, map(shutil.which, (
    "chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60.0         # for liveness only
KEYS = {"Enter": "\r", "Escape": None, "ArrowDown": None, "ArrowUp": None,
        "End": None, "Home": None, "/": "/"}
EVIL = "<img src=x onerror=document.title='evil'><script>document.title='evil'"


class Browser:
    """Chromium without a window, with one page. Commands and answers are JSON
    texts, each with a NUL behind it, on two pipes."""

    def __init__(self, folder):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self.proc = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out),
             "sh", BROWSER, "--headless=new", "--remote-debugging-pipe",
             "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--window-size=1280,800",
             "--user-data-dir=" + folder],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=folder))
        os.close(theirs_in)
        os.close(theirs_out)
        self.input = os.fdopen(ours_in, "rb", buffering=0)
        self.output = os.fdopen(ours_out, "wb", buffering=0)
        self.tail = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.do("Target.createTarget",
                         url="about:blank")["targetId"]
        self.session = self.do("Target.attachToTarget", targetId=target,
                               flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.do(domain + ".enable")
        self.do("Emulation.setDeviceMetricsOverride", width=1280, height=800,
                deviceScaleFactor=1, mobile=False)

    def message(self):
        while b"\0" not in self.tail:
            if not support.faultserver.readable(self.input.fileno(), PATIENCE):
                raise AssertionError("the browser says nothing")
            data = os.read(self.input.fileno(), 1 << 16)
            if not data:
                raise AssertionError("the browser has ended")
            self.tail += data
        text, self.tail = self.tail.split(b"\0", 1)
        return json.loads(text)

    def do(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        self.output.write(json.dumps(command).encode() + b"\0")
        while True:
            m = self.message()
            if m.get("id") == self.number:
                if "error" in m:
                    raise AssertionError("%s: %s" % (method, m["error"]))
                return m["result"]
            self.events.append(m)

    def eval(self, text):
        r = self.do("Runtime.evaluate", expression=text, returnByValue=True,
                    awaitPromise=True)
        if "exceptionDetails" in r:
            raise AssertionError(json.dumps(r["exceptionDetails"]))
        return r["result"].get("value")

    def wait(self, text):
        """Waits until it is true."""
        end = time.monotonic() + PATIENCE
        while not self.eval("!!(%s)" % text):
            if time.monotonic() > end:
                raise AssertionError("never: %s; %s" % (text, self.eval(
                    "document.body.innerText")[:2000]))
            time.sleep(0.02)

    def key(self, name):
        text = KEYS[name]
        self.do("Input.dispatchKeyEvent", type="keyDown" if text else
                "rawKeyDown", key=name, **({"text": text} if text else {}))
        self.do("Input.dispatchKeyEvent", type="keyUp", key=name)

    def type(self, text):
        self.do("Input.insertText", text=text)

    def click(self, query):
        # what is being drawn would not stay under the mouse
        self.eval("window.drawn = false; requestAnimationFrame(() => "
                  "requestAnimationFrame(() => { window.drawn = true; }))")
        self.wait("window.drawn")
        x, y = self.eval("(() => { const r = document.querySelector(%s)"
                         ".getBoundingClientRect(); return [r.left + r.width "
                         "/ 2, r.top + r.height / 2]; })()" % json.dumps(query))
        for kind in ("mousePressed", "mouseReleased"):
            self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                    button="left", clickCount=1)

    def open(self, *files, until="!document.querySelector('main').hidden"):
        self.do("Page.navigate", url="file://" + os.path.abspath(PAGE))
        self.wait("document.readyState === 'complete' && "
                  "document.querySelector('#files')")
        root = self.do("DOM.getDocument")["root"]["nodeId"]
        node = self.do("DOM.querySelector", nodeId=root,
                       selector="#files")["nodeId"]
        self.do("DOM.setFileInputFiles", nodeId=node, files=list(files))
        self.wait(until)

    def shot(self, name, scheme="light"):
        folder = os.environ.get("SHOTS")
        if not folder:
            return
        self.do("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        self.eval("new Promise((go) => requestAnimationFrame(() => "
                  "requestAnimationFrame(go)))")
        data = self.do("Page.captureScreenshot", format="png")["data"]
        with open(os.path.join(folder, name + ".png"), "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.proc.kill()
        self.proc.wait()
        self.input.close()
        self.output.close()


@unittest.skipUnless(BROWSER, "there is no chromium")
class Page(support.Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp(dir=self.tmp)
        self.browser = b = Browser(folder)
        self.addCleanup(b.close)

    def column(self, n):
        """A column of the list, as far as it is made."""
        return self.browser.eval(
            "[...document.querySelectorAll('#space .row')].map((r) => "
            "r.children[%d].textContent)" % n)

    def details(self):
        return self.browser.eval("document.querySelector('#details').hidden ? "
                                 "'' : document.querySelector('#details')"
                                 ".textContent")

    def clean(self):
        """Nothing of the file has become a part of the page, and nothing was
        loaded but the page."""
        b = self.browser
        self.assertEqual(b.eval("document.title"), "mcpsplice trace")
        self.assertEqual(b.eval("document.querySelectorAll("
                                "'img, body script ~ script').length"), 0)
        seen = {e["params"]["request"]["url"] for e in b.events
                if e["method"] == "Network.requestWillBeSent"}
        self.assertEqual(seen, {"file://" + os.path.abspath(PAGE)})
        bad = [e["params"] for e in b.events
               if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        self.assertEqual(bad, [])

    def trace(self):
        """A trace with a replay, an error and a text that wants to be HTML."""
        path = self.path("trace")
        s, p = self.pair("--trace", path)
        s.methods["x/bad"] = lambda rx, tx: tx.error(-32000, EVIL)
        for i in range(5):
            p.tool(text="call %d" % i)
        s.forget()
        p.tool(text=EVIL)
        p.answer(p.start("x/bad", {"a": EVIL}))
        p.finish()
        return path

    @support.alone
    def test_keyboard(self):
        b = self.browser
        b.open(self.trace())
        # initialize, five calls, the replayed one, the renewal, the error
        self.assertEqual(len(self.column(2)), 9)
        self.assertEqual(self.column(1)[-3:],
                         ["↻ replayed", "◆ renewal", "✕ error"])
        self.assertEqual(self.column(8)[:2] + self.column(8)[-2:],
                         ["1", "1", "2", "2"])
        b.shot("list-light")
        b.shot("list-dark", "dark")
        b.key("End")
        b.key("ArrowUp")
        b.key("ArrowUp")
        self.assertEqual(b.eval("document.querySelector('[aria-selected=true]')"
                                ".id"), "row-6")
        self.assertEqual(b.eval("document.querySelector('#list').getAttribute("
                                "'aria-activedescendant')"), "row-6")
        self.assertEqual(self.details(), "")
        b.key("Enter")
        text = self.details()
        for word in ("Request", "Answer", EVIL.replace('"', '\\"'),
                     "for: replay, generation 2", "HTTP 404",
                     "Decisions around it", "forgot the session"):
            self.assertIn(word, text)
        b.shot("details-light")
        b.shot("details-dark", "dark")
        b.key("End")
        self.assertIn("x/bad", self.details())
        b.key("Escape")
        self.assertEqual(self.details(), "")
        b.key("/")
        self.assertEqual(b.eval("document.activeElement.id"), "filter")
        b.type("method:ECHO status:200 gen:1 call")
        b.wait("document.querySelectorAll('#space .row').length === 5")
        self.assertEqual(set(self.column(2)), {"tools/call echo"})
        b.key("Enter")
        self.assertEqual(b.eval("document.activeElement.id"), "list")
        b.key("Escape")
        b.key("/")
        b.type("x/bad")     # the text was selected: it is replaced
        b.wait("document.querySelectorAll('#space .row').length === 1")
        self.clean()

    @support.alone
    def test_mouse(self):
        b = self.browser
        b.open(self.trace())
        b.click("#errors")
        b.wait("document.querySelectorAll('#space .row').length === 1")
        b.click("#space .row")
        b.wait("!document.querySelector('#details').hidden")
        self.assertIn("x/bad", self.details())
        b.click("#close")
        self.assertEqual(self.details(), "")
        b.click("#errors")
        b.eval("document.querySelector('#show').value = 'all';"
               "document.querySelector('#show').dispatchEvent("
               "new Event('change'))")
        b.wait("document.querySelectorAll('#space .row').length > 10")
        self.assertIn("· initialized", self.column(1))
        # a bar of the timeline
        x, y = b.eval("(() => { const r = rows.find((r) => r.again), "
                      "o = $('time').getBoundingClientRect(); return [o.left + "
                      "13 + (r.start - from) / (to - from) * (o.width - 24), "
                      "o.top + 28 + LANE + (r.track + 0.5) * BAR]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            b.do("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                 button="left", clickCount=1)
        b.wait("!document.querySelector('#details').hidden")
        self.assertIn("for: replay", self.details())
        self.clean()

    def rewritten(self, path, n):
        """A trace of n lines of that kind, in two files."""
        rows = []
        while len(rows) < n:
            i = len(rows)
            head = '{"t":"2026-11-23T%02d:%02d:%02d.%06dZ","ms":%d,"pid":7,' % (
                i // 36000, i // 600 % 60, i // 10 % 60, i % 10 * 100000, i)
            rows += [
                head + '"dir":"client>","event":"message","kind":"request",'
                '"id":%d,"method":"tools/call","bytes":300,"message":{"params":'
                '{"name":"t%d","arguments":{"text":"%s"}}}}' % (
                    i, i % 7, "x" * 300),
                head + '"dir":">server","event":"send","exchange":"%x","why":'
                '"call","generation":%d,"session":"01234567","verb":"POST",'
                '"call":%d}' % (i, 1 + i // 9000, i),
                head + '"dir":"server>","event":"end","exchange":"%x","ending":'
                '"complete","status":200,"took":1.5,"received":9}' % i,
                head + '"dir":">client","event":"message","kind":"result",'
                '"id":%d,"bytes":9,"message":{"result":{}}}' % i]
        half = n // 2
        files = [path + ".1", path]
        for name, part in zip(files, (rows[:half], rows[half:n])):
            with open(name, "w") as f:
                f.write("\n".join(part) + "\n")
        return [path, path + ".1"]

    @support.plain
    @support.alone
    def test_many(self):
        """200000 lines in two files, and a line that is broken."""
        b = self.browser
        n = 200000
        files = self.rewritten(self.path("many"), n)
        with open(files[0], "a") as f:
            f.write('{"t":"2026-')
        began = time.monotonic()
        b.open(*files)
        self.within(time.monotonic() - began, 10)
        said = b.eval("document.querySelector('#summary').textContent")
        self.assertIn("%d listed" % (n // 4), said)
        self.assertIn("%d lines" % n, said)
        self.assertIn("1 not understood", said)
        self.assertLess(b.eval("document.querySelectorAll('*').length"), 1500)
        b.shot("many-light")
        began = time.monotonic()
        b.key("End")
        b.wait("document.querySelector('#row-%d[aria-selected=true]')" %
               (n // 4 - 1))
        b.key("/")
        b.type("id:400")
        b.wait("document.querySelectorAll('#space .row').length === 1")
        self.within(time.monotonic() - began, 10)
        self.assertEqual(self.column(3), ["400"])
        self.clean()

    @support.alone
    def test_odd(self):
        """Members of other types, as somebody may write them, and depth."""
        b = self.browser
        head = {"t": "2026-11-23T00:00:00.000000Z", "ms": 1, "pid": 7}
        lines = [
            {"dir": "client>", "event": "message", "kind": "request", "id": 1,
             "method": "tools/call", "message": {"params": {"name": "a"}}},
            {"dir": ">server", "event": "send", "exchange": "1", "why": "call",
             "generation": 1, "session": "ab", "verb": "POST", "call": 1},
            {"dir": "server>", "event": "end", "exchange": "1",
             "ending": "complete", "status": 200, "received": 9},
            {"dir": ">client", "event": "message", "kind": "result", "id": 1,
             "bytes": 9, "message": {"result": {}}},
            {"dir": "note", "event": "log", "level": "info", "text": "x"}]
        names = {n for row in lines for n in row} | set(head) | {
            "bytes", "cut", "why", "words", "reason", "media", "phase", "url"}
        odd = [{**head, **row, name: value} for row in lines
               for name in sorted(names)
               for value in (None, True, -1, 1e308, "__proto__", "<b>", [], {},
                             [[]], {"toString": 1, "slice": 1})]
        deep = json.dumps({**head, **lines[0]})[:-1]
        deep = [deep + ',"%s":%s}' % (name, "[" * 20000 + "]" * 20000)
                for name in ("message", "id", "x")]
        with open(self.path("odd"), "w") as f:
            f.write("\n".join([json.dumps(row) for row in odd] + deep) + "\n")
        b.open(self.path("odd"))
        b.eval("document.querySelector('#show').value = 'all', filter()")
        b.eval("for (let i = 0; i < view.length; i += 29) { select(i);"
               " open(); }")
        b.eval("select(view.length - 1), open()")  # it is a deep one
        self.assertIn("not understood",
                      b.eval("document.querySelector('#summary').textContent"))
        self.clean()

    @support.alone
    def test_no_trace(self):
        b = self.browser
        path = self.path("other", "not a trace\n{}\n[1]\n")
        b.open(path, until="document.querySelector('#summary').textContent"
               ".includes('no line of a trace')")
        self.assertTrue(b.eval("document.querySelector('main').hidden"))
        self.clean()



if __name__ == "__main__":
    support.main()
