"""--trace and --trace-headers."""

import base64
import json
import os
import shutil
import stat

import support
from support import call, init, note, request

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CANARY = "canary" + os.urandom(8).hex()
DIRS = {"client>", ">client", ">server", "server>", "note"}


class Trace(support.Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("trace")

    def read(self, path=None):
        with open(path or self.file, "rb") as f:
            data = f.read()
        self.assertTrue(data.endswith(b"\n"))
        return [json.loads(row) for row in data.splitlines()]

    def traced(self, *args, **kw):
        return self.pair("--trace", self.file, *args, **kw)

    def test_lines(self):
        """A call, a lost session, the replay: what passed is all there."""
        s, p = self.traced()
        p.tool(key="one")
        s.forget()
        p.tool(key="two")
        p.send(note("notifications/roots/list_changed"))
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/roots/list_changed")))
        p.finish()
        rows = self.read()
        self.assertEqual({r["dir"] for r in rows}, DIRS)
        self.assertEqual({r["pid"] for r in rows}, {p.pid})
        times = [r["ms"] for r in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual((rows[0]["event"], rows[-1]["event"]),
                         ("start", "end"))

        def of(where):
            return [r["message"] for r in rows if r["dir"] == where and
                    "message" in r]
        self.assertEqual(of(">client"),
                         [json.loads(row) for row, _ in p.lines])
        self.assertEqual(len([r for r in rows if r["dir"] == ">server" and
                              r["event"] == "send"]), len(s.requests))
        sends = {r["exchange"]: r for r in rows if r["event"] == "send"}
        ends = {r["exchange"]: r for r in rows if r["dir"] == "server>" and
                r["event"] == "end"}
        self.assertEqual(set(sends), set(ends))
        for r in ends.values():
            self.assertGreaterEqual(r["took"], 0)
        again = [r for r in sends.values() if r["why"] == "replay"]
        self.assertEqual(len(again), 1)
        self.assertEqual(again[0]["generation"], 2)
        first = [r for r in sends.values() if r.get("call") ==
                 again[0]["call"] and r["why"] == "call"]
        self.assertEqual(len(first), 1)
        self.assertEqual(ends[first[0]["exchange"]]["status"], 404)
        self.assertNotEqual(first[0]["session"], again[0]["session"])
        self.assertEqual(len([r for r in sends.values()
                              if r["why"] == "renewal"]), 1)
        self.assertIn(("live", 2), [(r["phase"], r["generation"])
                                    for r in rows if r["event"] == "state"])
        self.assertTrue([r for r in rows if r["event"] == "log" and
                         r["level"] == "info"])
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_secrets(self):
        """Whatever the server repeats: no secret is in the file."""
        s = self.mcp()
        s.methods["x/echo"] = lambda rx, tx: tx.result(
            {"text": json.dumps(dict(rx.headers)), "sid": rx.sid,
             "number": 1, "url": "https://user:%s@a.test/" % CANARY})
        words = ["%s%d" % (CANARY, i) for i in range(3)]
        p = self.splice(s.url + "?key=" + CANARY, "--trace", self.file, "-H",
                        "X-Api-Key: " + words[0], "--bearer-env", "TOKEN", "-H",
                        "X-Long: a b " + words[1], env={"TOKEN": words[2]})
        p.hello()
        p.answer(p.start("x/echo"))
        p.tool(password=CANARY, deep=[{"Refresh-Token": {"x": CANARY}}],
               text=json.dumps({"api_key": CANARY}), url="http://a/?x=" + CANARY)
        s.forget()
        p.answer(p.start("x/echo"))
        p.finish()
        self.assertEqual(s.requests[-1].get("X-Api-Key"), words[0])
        self.read()
        with open(self.file) as f:
            text = f.read()
        self.assertNotIn(CANARY, text)
        self.assertIn("(redacted)", text)
        for sid in s.made:
            self.assertNotIn(sid, text)

    def test_spellings(self):
        """Our token and the secret in the URL, as a server may repeat
        them."""
        s = self.mcp()
        words = ["%s/%d" % (CANARY, i) for i in range(2)] + \
            ["sk-" + CANARY * 2]
        other = ["x%d-%s" % (i, w) for w in words for i in range(3)]
        code = [f((" " * n + w + "  ").encode()).decode()
                for w in words for n in range(3) for f in
                (base64.b64encode, base64.urlsafe_b64encode)]
        escaped = json.dumps(words)[1:-1].replace(CANARY, "".join(
            "\\u%04x" % ord(c) for c in CANARY)).replace("/", "\\/")
        s.methods["x/echo"] = lambda rx, tx: tx.json(
            '{"jsonrpc":"2.0","id":%d,"result":{"a":[%s],"b":%s,"c":%s}}' % (
                rx.json["id"], escaped, json.dumps(code), json.dumps(other)))
        p = self.splice("%s/s/%s/mcp" % (s.url.rsplit("/", 1)[0], words[2]),
                        "--trace", self.file, "--bearer-env", "TOKEN", "-H",
                        "X-Key: " + words[0], env={"TOKEN": words[1]})
        p.hello()
        p.answer(p.start("x/echo"))
        p.finish()
        rows = self.read()
        self.assertTrue(rows[0]["url"].endswith("/s/(redacted)/mcp"))
        got = [r["message"]["result"] for r in rows
               if r["dir"] == ">client" and "a" in r["message"]["result"]][0]
        self.assertEqual(got["a"], ["(redacted)"] * 3)
        for text in got["b"] + got["c"]:
            self.assertIn("(redacted)", text)
            self.assertLess(len(text), 22)

    def test_long(self):
        """A long message is cut, and passes as it is."""
        s, p = self.traced()
        word = "x" * (support.BOUND["TEXT_BYTES"] + 9)
        a = p.tool(word=word, token=CANARY)
        self.assertIn(word, json.dumps(a))
        p.raw(b"no JSON \xff\n", idless=1)
        p.finish()
        rows = self.read()
        cut = [r for r in rows if r.get("cut")]
        self.assertEqual([r["dir"] for r in cut],
                         ["client>", ">server", "server>", ">client"])
        for r in cut:
            self.assertGreater(r["bytes"], len(word))
            self.assertEqual(len(r["text"]), support.BOUND["TEXT_BYTES"])
        bad = [r for r in rows if r.get("kind") == "invalid"]
        self.assertEqual([(r["text"], r["bytes"]) for r in bad],
                         [("no JSON \ufffd", 9)])

    def test_rotation(self):
        with open(self.file, "wb") as f:
            f.truncate(support.BOUND["ALL_BYTES"])
        s, p = self.traced()
        p.tool()
        p.finish()
        self.assertEqual(os.stat(self.file + ".1").st_size,
                         support.BOUND["ALL_BYTES"])
        self.assertEqual(self.read()[0]["event"], "start")

    def test_two_processes(self):
        s = self.mcp()
        two = [self.splice(s, "--trace", self.file) for _ in range(2)]
        for p in two:
            p.hello()
        for p in two:
            p.tool()
            p.finish()
        self.assertEqual({r["pid"] for r in self.read()},
                         {p.pid for p in two})

    def test_not_ours(self):
        """A link, a FIFO or a folder: a warning, and the work goes on."""
        target = self.path("target", "before", 0o644)
        os.symlink(target, self.path("link"))
        os.link(target, self.path("hard"))
        os.mkfifo(self.path("fifo"))
        for name in ("link", "hard", "fifo", "nothing/there", "."):
            s, p = self.pair("--trace", self.path(name))
            p.tool()
            p.finish()
            self.assertIn("--trace", p.err(), name)
        with open(target) as f:
            self.assertEqual(f.read(), "before")

    def test_cannot_be_written(self):
        """One warning, and the work goes on."""
        folder = os.path.dirname(self.path("folder/trace", ""))
        s, p = self.pair("--trace", folder + "/trace")
        shutil.rmtree(folder)
        for _ in range(3):
            p.tool()
        p.finish()
        self.assertEqual(p.err().count("tracing has stopped"), 1, p.err())


class TraceHeaders(support.Case):
    NAMES = ("traceparent", "tracestate", "baggage")

    def seen(self, meta, *args):
        """The headers of a call with this _meta, which is replayed."""
        s, p = self.pair(*args)
        s.forget()
        p.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params":
                {"name": "echo", "arguments": {}, "_meta": meta}})
        p.answer(5)
        p.finish()
        calls = s.seen("tools/call")
        self.assertEqual(len(calls), 2)
        for r in calls:
            self.assertEqual(r.json["params"]["_meta"], meta)
        for r in s.requests:
            if r.rpc != "tools/call":
                self.assertEqual([r.get(n) for n in self.NAMES], [None] * 3)
        found = [[r.get(n) for n in self.NAMES] for r in calls]
        self.assertEqual(found[0], found[1])
        return found[0]

    def test_mirrored(self):
        meta = {"traceparent": PARENT, "tracestate": "a=b,c=d",
                "baggage": "k=v;p, l=w", "other": "x"}
        self.assertEqual(self.seen(meta, "--trace-headers"),
                         [PARENT, "a=b,c=d", "k=v;p, l=w"])
        self.assertEqual(self.seen(meta), [None] * 3)
        self.assertEqual(self.seen(meta, "--no-trace-headers"), [None] * 3)

    def test_invalid(self):
        for meta in ({"traceparent": PARENT + "\r\nX-Evil: y",
                      "tracestate": "a=b", "baggage": "k=\u00e9"},
                     {"traceparent": [PARENT], "baggage": "k=v\r\nX-Evil: y"}):
            self.assertEqual(self.seen(meta, "--trace-headers"), [None] * 3)


if __name__ == "__main__":
    support.main()
