"""Which era and transport a server speaks: found out by as few requests as
can be, never by what proves nothing, and found out again when the server has
become another one under a live client."""

import glob
import itertools
import json
import os
import random
import threading
import time

import eraserver
import pace
import support
from eraserver import (ALL, LEGACY, META, MODERN, Client, rpc_refusal,
                       text_refusal)
from support import INITIALIZED, call, init, lines

HTML = "<!doctype html><html><body>Sign in to the network</body></html>"
SHAPES = {"legacy": {}, "stateless": {"stateful": False}, "sse": {},
          "modern": {}, "dual": {}}
PROBE = 4.6             # 4 s, and a busy machine


class Base(eraserver.Case):
    def shaped(self, name, **kw):
        kw = dict(SHAPES[name], **kw)
        return self.era("legacy" if name == "stateless" else name, **kw)

    def turn(self, s, name, how="cut"):
        s.stateful = name != "stateless"
        s.become("legacy" if name == "stateless" else name, how)

    def works(self, s, p, seconds=support.LIVE):
        key = "key-%d" % self.count()
        self.assertEqual(p.said(p.tool(key=key, seconds=seconds)),
                         {"key": key})
        self.assertEqual(s.ran(key), 1)

    def forgive(self, s):
        """A legacy server may see what was meant for the modern one of
        before, as late as when its client is gone."""
        s.caught_up()
        s.faults[:] = [f for f in s.faults if META not in f]

    def opening(self, s, *args, version="2025-11-25"):
        """A legacy client that has said initialize: what that cost."""
        p = self.client(Client, s, *args)
        p.send(init(1, version, ALL))
        m = p.answer(1)
        if "result" not in m:
            self.fail("initialize: %r; %r; stderr %s" % (
                m, s.posts(), p.err()[-1500:]))
        return p, s.posts()


class RefusedRevision(Base):
    """The server does not negotiate: it refuses a revision, and names those
    that it takes."""

    TAKES = LEGACY[:3]
    WAYS = {
        "text": text_refusal(400, "not supported, use " + TAKES[2]),
        "-32602": rpc_refusal(-32602, "no", 400, {
            "supported": TAKES, "requested": LEGACY[3]}),
        "200": rpc_refusal(-32602, "no", 200, {"supported": TAKES}),
        "-32000": rpc_refusal(-32000, "no, but " + TAKES[2], 400, ident=None),
    }

    def refuse(self, s, way):
        def before(rx, tx):
            refused = rx.rpc == "initialize" and \
                rx.json["params"]["protocolVersion"] not in self.TAKES
            if refused:
                self.WAYS[way](rx, tx)
            return refused
        s.before = before

    def test_start(self):
        def one(key):
            way, kind, shape = key
            s = self.shaped(shape)
            self.refuse(s, way)
            p = getattr(self, kind)(s, "--no-memory", "--transport",
                                    {"legacy": "http"}.get(shape, shape))
            self.works(s, p)
            if kind == "legacy":
                self.assertEqual(
                    p.hello_answer["result"]["protocolVersion"], LEGACY[2])
            self.assertEqual(len(s.seen("initialize")), 2)
            self.assertEqual({r.get("MCP-Protocol-Version")
                              for r in s.seen("tools/call")}, {LEGACY[2]})
            p.finish()
        kinds = ("legacy", "modern")
        self.each(list(itertools.product(self.WAYS, kinds, ("legacy",))) +
                  list(itertools.product(("text", "-32000"), kinds,
                                         ("sse",))), one)

    def test_renewal(self):
        """A server of before 2025-11-25 takes the place of a newer one."""
        def one(key):
            way, kind = key
            s = self.shaped("legacy")
            p = getattr(self, kind)(s, "--no-memory")
            self.works(s, p)
            self.refuse(s, way)
            self.turn(s, "legacy")
            self.works(s, p)
            self.assertEqual(s.seen("tools/call")[-1].get(
                "MCP-Protocol-Version"), LEGACY[2])
            p.finish()
        self.each(list(itertools.product(self.WAYS, ("legacy", "modern"))),
                  one)


    def test_in_a_session(self):
        """initialize is answered with the revision that it asks for, or was
        before; what follows is refused."""
        def one(key):
            way, kind, name, late = key
            s = self.shaped(name)

            def before(rx, tx):
                refused = rx.get("MCP-Protocol-Version") == LEGACY[3]
                if refused:
                    self.WAYS[way](rx, tx)
                return refused
            if not late:
                s.before = before
            p = getattr(self, kind)(s, "--no-memory")
            self.works(s, p)
            if late:
                s.before = before
                self.works(s, p)
            self.works(s, p)
            self.assertEqual(len(s.seen("initialize")), 2)
            self.assertEqual(s.seen("tools/call")[-1].get(
                "MCP-Protocol-Version"), LEGACY[2])
            p.finish()
        self.each(list(itertools.product(
            ("text", "-32602"), ("legacy", "modern"),
            ("legacy", "stateless"), (False, True))), one)


class LegacyClient(Base):
    """A legacy client's initialize goes straight through."""

    def cost(self, s, want, *args):
        p, posts = self.opening(s, *args)
        self.assertEqual(posts, want)
        p.send(INITIALIZED)
        self.works(s, p)
        p.finish()

    def test_legacy(self):
        self.cost(self.shaped("legacy"), ["POST initialize"])

    def test_stateless(self):
        self.cost(self.shaped("stateless"), ["POST initialize"])

    def test_dual(self):
        """It gets a legacy session, not a bridge."""
        s = self.shaped("dual")
        self.cost(s, ["POST initialize"])
        self.assertEqual(s.seen("server/discover"), [])
        self.assertEqual(len(s.made), 1)

    def test_legacy_is_untouched(self):
        """No header and no key of the other era on any request."""
        s = self.shaped("legacy")
        p = self.legacy(s)
        self.works(s, p)
        p.ask("resources/read", {"uri": "file:///a"})
        p.finish()
        for r in s.requests:
            for name, _ in r.headers:
                self.assertFalse(name.lower() in ("mcp-method", "mcp-name"),
                                 (r, name))
            self.assertNotIn(META.encode(), r.body)
            self.assertNotEqual(r.get("MCP-Protocol-Version"), MODERN)

    def test_modern_only(self):
        """However it says no."""
        two = ["POST initialize", "POST server/discover"]
        data = {"supported": [MODERN], "requested": "2025-11-25"}
        ways = {
            "400 -32022": (rpc_refusal(-32022, "unsupported", 400, data), two),
            "400 -32020": (rpc_refusal(-32020, "mismatch", 400), two),
            "400 -32602": (rpc_refusal(-32602, "no _meta", 400), two),
            "404 -32601": (rpc_refusal(-32601, "no method", 404), two),
            "200 -32601": (rpc_refusal(-32601, "no method", 200), two),
            "200 -32022": (rpc_refusal(-32022, "unsupported", 200, data),
                           two),
            "400 -32600 id null": (rpc_refusal(-32600, "bad", 400,
                                               ident=None), two),
            "400 -32000": (rpc_refusal(-32000, "bad", 400), two),
            "415 text": (text_refusal(415, "no"), two),
            "406 text": (text_refusal(406, "no"), two),
            "409 text": (text_refusal(409, "no"), two),
            "410 text": (text_refusal(410, "no"), two),
            "422 text": (text_refusal(422, "no"), two),
            "400 text": (text_refusal(400, "no"),
                         ["POST initialize", "GET -",
                          "POST server/discover"]),
            "404 empty": (text_refusal(404, ""),
                          ["POST initialize", "GET -",
                           "POST server/discover"]),
            "405 text": (text_refusal(405, "no"),
                         ["POST initialize", "GET -",
                          "POST server/discover"]),
        }

        def one(name):
            refusal, want = ways[name]
            self.cost(self.shaped("modern", refuse_legacy=refusal), want,
                      "--no-memory")
        self.each(ways, one)

    def test_sse(self):
        """However it refuses the POST."""
        three = ["POST initialize", "GET -", "POST initialize"]
        four = ["POST initialize", "POST server/discover"] + three[1:]
        ways = {
            "405 text": (text_refusal(405, "Method Not Allowed"), three),
            "405 empty": (text_refusal(405, ""), three),
            "404 text": (text_refusal(404, "Not Found"), three),
            "404 html": (text_refusal(404, "<pre>Cannot POST /sse</pre>",
                                      "text/html"), three),
            "400 text": (text_refusal(400, "Bad Request"), three),
            "405 -32000": (rpc_refusal(-32000, "Method not allowed.", 405,
                                       ident=None), four),
            "400 -32600": (rpc_refusal(-32600, "bad", 400), four),
        }

        def one(name):
            refusal, want = ways[name]
            self.cost(self.shaped("sse", sse_refuse=refusal), want,
                      "--no-memory")
        self.each(ways, one)

    def test_sse_that_opens_for_a_post(self):
        """Its stream for a POST is left for that of a GET."""
        s = self.shaped("sse", any_opens=True)
        self.cost(s, ["POST initialize", "GET -", "POST initialize"],
                  "--no-memory")
        self.assertEqual(len(s.made), 2)
        self.assertEqual(len(s.seen(method="GET")), 1)

    def test_sse_that_opens_for_a_post_only(self):
        """It is said, and nothing is tried twice."""
        s = self.shaped("sse", any_opens=True)
        s.before = lambda rx, tx: rx.method == "GET" and \
            (tx.text(405, "no") or True)
        p = self.client(Client, s, "--no-memory")
        p.send(init(1))
        self.our_error(p.answer(1), "bad_upstream", "no")
        self.assertEqual(s.posts(), ["POST initialize", "GET -"])
        p.finish()
        s.clear()
        p = self.client(Client, s, "--no-memory", "--transport", "sse-first")
        p.send(init(1))
        e = self.our_error(p.answer(1), "bad_upstream", "no")
        self.assertIn("none for a GET", e["message"])
        self.assertEqual(s.posts(), ["GET -", "POST initialize"])
        p.finish()

    def test_a_stream_for_a_post_on_another_origin(self):
        """It decides nothing: as before there is no answer."""
        s = self.shaped("sse", any_opens=True,
                        endpoint="http://127.0.0.1:9/messages?sessionId={sid}")
        p = self.client(Client, s, "--no-memory", "--init-timeout", "1")
        p.send(init(1))
        self.our_error(p.answer(1), "upstream_timeout")
        self.assertEqual(s.posts(), ["POST initialize"])
        p.finish()

    def test_an_error_of_a_legacy_server_is_passed_on(self):
        """initialize is refused, and nothing else is there."""
        s = self.shaped("legacy")

        def no(rx, tx):
            if rx.rpc == "initialize":
                tx.error(-32050, "not today", 200, {"why": 1})
                return True
            return False
        s.before = no
        p = self.client(Client, s, "--no-memory")
        p.send(init(1))
        m = p.answer(1)
        self.assertEqual((m["error"]["code"], m["error"]["message"]),
                         (-32050, "not today"))
        self.assertEqual(s.posts(), ["POST initialize",
                                     "POST server/discover"])
        p.finish()

    def test_nothing_of_it(self):
        """404 everywhere: both failures are named, and it is not believed
        for ever."""
        s = self.shaped("modern")
        s.before = lambda rx, tx: tx.text(404, "nothing here") or True
        p = self.client(Client, s, "--no-memory")
        p.send(init(1))
        e = self.our_error(p.answer(1), "bad_upstream", "no")
        self.assertIn("404", e["message"])
        self.assertEqual(s.posts(), ["POST initialize", "GET -",
                                     "POST server/discover"])
        s.before = None
        p.send(init(2), INITIALIZED)
        self.assertIn("result", p.answer(2))
        self.works(s, p)
        p.finish()

    def test_broken_answer_to_discover(self):
        """The verdict needs a DiscoverResult."""
        s = self.shaped("modern")

        def junk(rx, tx):
            if rx.rpc == "server/discover":
                tx.result({"hello": 1})
                return True
            return False
        s.before = junk
        p = self.client(Client, s, "--no-memory")
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        s.before = None
        p.send(init(2), INITIALIZED)
        self.assertIn("result", p.answer(2))
        self.works(s, p)
        p.finish()


class ModernClient(Base):
    """server/discover comes before what could be of either era."""

    def test_probe_passes(self):
        """One round trip, byte for byte."""
        s = self.shaped("modern")
        p = self.modern(s)
        line = json.dumps(support.request("d", "server/discover",
                                          p.stamped({"x": 1}))).encode()
        p.send(line)
        m = p.answer("d")
        self.assertEqual(m["result"]["supportedVersions"], [MODERN])
        self.assertEqual(s.posts(), ["POST server/discover"])
        self.assertEqual(s.requests[0].body, line)
        self.works(s, p)
        self.assertEqual(s.posts(), ["POST server/discover",
                                     "POST tools/call"])
        p.finish()

    def test_first_call(self):
        for shape in ("modern", "dual"):
            s = self.shaped(shape)
            p = self.modern(s)
            self.works(s, p)
            self.works(s, p)
            self.assertEqual(s.posts(), ["POST server/discover",
                                         "POST tools/call",
                                         "POST tools/call"])
            p.finish()

    def test_many_first_calls(self):
        """They wait for one probe."""
        s = self.shaped("modern")
        p = self.modern(s)
        ids = [p.tell("echo", key=n) for n in range(10)]
        for n, ident in enumerate(ids):
            self.assertEqual(p.said(p.answer(ident)), {"key": n})
        self.assertEqual(s.posts()[0], "POST server/discover")
        self.assertEqual(len(s.seen("server/discover")), 1)
        self.assertEqual(len(s.effects), 10)
        p.finish()

    def test_legacy_servers(self):
        """A server that runs what it does not understand runs it once."""
        def one(name):
            s = self.shaped(name)
            p = self.modern(s, "--no-memory")
            self.works(s, p)
            self.assertEqual(s.posts()[0], "POST server/discover")
            m = p.ask("server/discover")
            self.assertEqual(m["result"]["supportedVersions"], [MODERN])
            before = len(s.seen("initialize"))
            self.works(s, p)
            self.assertEqual(len(s.seen("initialize")), before)
            self.assertEqual(len(s.seen("server/discover")), 1)
            p.finish()
        self.each(["legacy", "stateless", "sse"], one)

    def test_sse_that_opens_for_a_post(self):
        s = self.shaped("sse", any_opens=True)
        p = self.modern(s, "--no-memory")
        self.works(s, p)
        self.assertEqual(s.posts(), ["POST server/discover", "GET -",
                                     "POST initialize", "POST tools/call"])
        p.finish()

    def test_ways_of_a_legacy_server_to_refuse_the_probe(self):
        ways = {
            "400 -32000": rpc_refusal(-32000, "no session", 400, ident=None),
            "404 -32001": rpc_refusal(-32001, "no session", 404, ident=None),
            "200 -32601": rpc_refusal(-32601, "no method", 200),
            "404 -32601": rpc_refusal(-32601, "no method", 404),
            "400 text": text_refusal(400, "Missing session"),
            "422 text": text_refusal(422, "no"),
            "200 junk": lambda rx, tx: tx.result({"ok": True}),
            "legacy only": lambda rx, tx: tx.result(
                {"supportedVersions": ["2025-11-25"], "capabilities": {},
                 "resultType": "complete"}),
            "-32022 legacy": rpc_refusal(-32022, "no", 400, {
                "supported": list(LEGACY), "requested": MODERN}),
            "-32022 bare": rpc_refusal(-32022, "no", 400),
        }

        def one(name):
            s = self.shaped("legacy")

            def refuse(rx, tx):
                if rx.rpc != "server/discover":
                    return False
                ways[name](rx, tx)
                return True
            s.before = refuse
            p = self.modern(s, "--no-memory")
            self.works(s, p)
            self.assertEqual(s.posts()[:2], ["POST server/discover",
                                             "POST initialize"])
            p.finish()
        self.each(ways, one)

    def test_no_version_in_common(self):
        """A modern server that we do not know is no legacy one."""
        s = self.shaped("legacy")
        data = {"supported": ["2027-01-01"], "requested": MODERN}

        def refuse(rx, tx):
            if rx.rpc != "server/discover":
                return False
            tx.error(-32022, "no", 400, data)
            return True
        s.before = refuse
        p = self.modern(s, "--no-memory")
        m = p.ask("server/discover")
        self.assertEqual(m["error"]["code"], -32022)
        self.assertEqual(m["error"]["data"], data)
        self.assertEqual(s.seen("initialize"), [])
        p.finish()

    def test_bad_requests(self):
        """Refused here, as the revision says; nothing goes out."""
        s = self.shaped("modern")
        p = self.modern(s)
        version = META + "protocolVersion"
        caps = META + "clientCapabilities"
        for meta, code in (({version: MODERN}, -32602),
                           ({version: MODERN, caps: []}, -32602),
                           ({version: 7, caps: {}}, -32602),
                           ({caps: {}}, -32602), ({}, -32602)):
            ident = "b%d" % self.count()
            p.send(support.request(ident, "tools/list", {"_meta": meta}))
            self.assertEqual(p.answer(ident)["error"]["code"], code, meta)
        p.send(support.request("n", "tools/list"))
        e = p.answer("n")["error"]
        self.assertEqual(e["code"], -32602)
        self.assertIn("initialize", e["message"])
        p.send(support.request("v", "tools/list", {"_meta": {
            version: "2027-01-01", caps: {}}}))
        e = p.answer("v")["error"]
        self.assertEqual(e["code"], -32022)
        self.assertEqual(e["data"]["supported"], [MODERN])
        self.assertEqual(e["data"]["requested"], "2027-01-01")
        p.send(support.request("w", "tools/list", {"_meta": {
            version: "2025-11-25", caps: {}}}))
        self.assertEqual(p.answer("w")["error"]["code"], -32022)
        self.assertEqual(s.seen("tools/list"), [])
        p.finish()

    def test_probe_then_initialize(self):
        """A dual-era client that falls back on the same pipe."""
        for name in SHAPES:
            s = self.shaped(name)
            p = self.modern(s)
            p.ask("server/discover")
            p.send(init(1, capabilities=ALL))
            self.assertIn("result", p.answer(1), name)
            p.send(INITIALIZED)
            p.send(call(2, key="f"))
            self.assertEqual(p.said(p.answer(2)), {"key": "f"})
            self.assertEqual(s.ran("f"), 1)
            p.finish()

    def test_ping_before_anything(self):
        s = self.shaped("modern")
        p = self.client(Client, s)
        self.assertEqual(p.ask("ping")["result"], {})
        p.finish()


class ProbeTime(Base):
    """Our answer to a client's probe comes within 4 s."""

    def silent(self, s):
        """The server takes requests, and no more."""
        gate = threading.Event()

        def wait(rx, tx):
            while not gate.is_set() and not s.closing.is_set():
                if tx.gone(0.05):
                    tx.cut()
                    return True
            return False
        s.before = wait
        return gate

    @support.plain
    def test_silent_server(self):
        s = self.shaped("modern")
        gate = self.silent(s)
        p = self.modern(s)
        begin = time.monotonic()
        p.ask("server/discover", seconds=PROBE)
        self.within(time.monotonic() - begin, PROBE)
        gate.set()
        # what such a client does next
        p.send(init(1))
        self.assertIn("result", p.answer(1))
        p.finish()

    @support.plain
    def test_no_server(self):
        s = self.shaped("modern")
        s.down()
        p = self.modern(s)
        begin = time.monotonic()
        p.ask("server/discover", seconds=PROBE)
        self.within(time.monotonic() - begin, PROBE)
        s.up()
        self.works(s, p)
        p.finish()

    def test_silence_decides_nothing(self):
        s = self.shaped("modern")
        gate = self.silent(s)
        p = self.modern(s)
        p.ask("server/discover", seconds=PROBE)
        self.assertEqual(s.seen("initialize"), [])
        gate.set()
        self.works(s, p)
        self.assertEqual(s.seen("initialize"), [])
        p.finish()

    def test_slow_legacy_server(self):
        """The probe takes its time, and so does initialize."""
        s = self.shaped("legacy")
        s.before = lambda rx, tx: s.closing.wait(1.5) and False
        p = self.modern(s)
        p.ask("server/discover", seconds=PROBE)
        s.before = None
        self.works(s, p)
        p.finish()


def answers_nothing(name):
    """Answers that are no evidence, by name."""
    def cut(rx, tx):
        tx.cut()

    def html(rx, tx):
        tx.body(200, HTML, "text/html")

    def moved(rx, tx):
        tx.body(302, "", "text/plain", [("Location", "/elsewhere")])
    ways = {"cut": cut, "html": html, "302": moved}
    return ways.get(name) or text_refusal(int(name), "no")


NO_EVIDENCE = ["401", "403", "407", "429", "302", "500", "502", "503", "504",
               "html", "cut"]


class NoVerdict(Base):
    def bad(self, s, name):
        fn = answers_nothing(name)

        def before(rx, tx):
            fn(rx, tx)
            return True
        s.before = before

    def started(self, m):
        """A server of a slow machine does not answer within the second of
        --init-timeout either."""
        if m.get("error", {}).get("data", {}).get("reason") == \
                "upstream_timeout":
            raise support.Late(m)
        self.assertIn("result", m)

    def test_legacy_client(self):
        """No other request is tried, and the server may be anything after
        it."""
        def one(pair):
            name, shape = pair
            s = self.shaped(shape)
            self.bad(s, name)
            p = self.client(Client, s, "--auth", "none", "--init-timeout",
                            "1", "--no-memory")
            p.send(init(1, capabilities=ALL))
            self.our_error(p.answer(1))
            self.assertEqual(set(s.posts()), {"POST initialize"})
            s.before = None
            p.send(init(2, capabilities=ALL), INITIALIZED)
            self.started(p.answer(2))
            self.works(s, p)
            p.finish()
        self.each(list(zip(NO_EVIDENCE,
                           itertools.cycle(["modern", "sse"]))), one)

    def test_modern_client(self):
        def one(pair):
            name, shape = pair
            s = self.shaped(shape)
            self.bad(s, name)
            p = self.modern(s, "--auth", "none", "--init-timeout", "1",
                            "--no-memory")
            m = p.ask("server/discover", seconds=PROBE + 3)
            self.our_error(m)
            self.assertEqual(set(s.posts()), {"POST server/discover"})
            s.before = None
            self.works(s, p)
            p.finish()
        self.each(list(zip(NO_EVIDENCE,
                           itertools.cycle(["modern", "legacy"]))), one)

    def test_discover_fails_for_a_while(self):
        """A good refusal of initialize, then 503 to server/discover."""
        s = self.shaped("modern")
        n = itertools.count()

        def before(rx, tx):
            if rx.rpc == "server/discover" and next(n) < 2:
                tx.text(503, "busy")
                return True
            return False
        s.before = before
        p = self.legacy(s, "--no-memory")
        self.works(s, p)
        self.assertNotIn("GET -", s.posts())
        p.finish()

    def test_retried_while_it_starts(self):
        """502 and cuts at first, then a server of any era."""
        def one(shape):
            s = self.shaped(shape)
            n = itertools.count()

            def before(rx, tx):
                k = next(n)
                if k == 0:
                    tx.text(502, "bad gateway")
                elif k == 1:
                    tx.cut()
                return k < 2
            s.before = before
            p = self.legacy(s, "--no-memory")
            self.works(s, p)
            self.assertEqual(s.posts()[:3], ["POST initialize"] * 3)
            p.finish()
        self.each(SHAPES, one)


class Options(Base):
    def test_protocol_legacy(self):
        """Nothing of the other era is tried."""
        s = self.shaped("modern")
        p = self.client(Client, s, "--protocol", "legacy", "--no-memory")
        p.send(init(1))
        self.assertEqual(p.answer(1)["error"]["code"], -32022)
        self.assertEqual(s.posts(), ["POST initialize"])
        p.finish()
        s = self.shaped("dual")
        p = self.modern(s, "--protocol", "legacy")
        self.works(s, p)
        self.assertEqual(s.seen("server/discover"), [])
        self.assertEqual(len(s.made), 1)
        p.finish()

    def test_protocol_modern(self):
        s = self.shaped("dual")
        p = self.legacy(s, "--protocol", "modern")
        self.works(s, p)
        self.assertEqual(s.posts()[0], "POST server/discover")
        self.assertEqual(s.seen("initialize"), [])
        p.finish()
        s = self.shaped("legacy")
        p = self.client(Client, s, "--protocol", "modern", "--no-memory")
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        self.assertEqual(s.seen("initialize"), [])
        p.finish()
        self.assertIn("remove --protocol modern", p.err())

    def test_protocol_auto(self):
        s = self.shaped("modern")
        p = self.legacy(s, "--protocol", "auto")
        self.works(s, p)
        p.finish()

    def test_transport_http(self):
        for word in ("http", "http-only"):
            s = self.shaped("sse")
            p = self.client(Client, s, "--transport", word, "--no-memory")
            p.send(init(1))
            self.assertIn("error", p.answer(1))
            self.assertEqual(s.seen(method="GET"), [])
            p.finish()
            s = self.shaped("sse", any_opens=True)
            p = self.client(Client, s, "--transport", word, "--no-memory")
            p.send(init(1))
            e = self.our_error(p.answer(1), "bad_upstream", "no")
            self.assertIn("--transport", e["message"])
            self.assertEqual(s.posts(), ["POST initialize"])
            p.finish()

    def test_transport_sse(self):
        for word in ("sse", "sse-only"):
            s = self.shaped("sse")
            p, posts = self.opening(s, "--transport", word)
            self.assertEqual(posts, ["GET -", "POST initialize"])
            p.send(INITIALIZED)
            self.works(s, p)
            p.finish()
            s = self.shaped("legacy")
            p = self.client(Client, s, "--transport", word, "--no-memory")
            p.send(init(1))
            self.assertIn("error", p.answer(1))
            self.assertEqual(s.seen("initialize"), [])
            p.finish()

    def test_transport_first(self):
        """mcp-remote's words: the other one after it."""
        for word, shape in (("sse-first", "sse"), ("sse-first", "legacy"),
                            ("sse-first", "modern"), ("http-first", "sse"),
                            ("http-first", "legacy"), ("auto", "sse")):
            s = self.shaped(shape)
            p, posts = self.opening(s, "--transport", word, "--no-memory")
            self.assertEqual(posts[0], "GET -" if word == "sse-first"
                             else "POST initialize")
            if (word, shape) == ("sse-first", "sse"):
                self.assertEqual(len(posts), 2)
            p.send(INITIALIZED)
            self.works(s, p)
            p.finish()

    def test_unknown_words(self):
        for option in ("--protocol", "--transport"):
            status, out, err = self.once([option, "2025",
                                          "http://127.0.0.1:1/mcp"])
            self.assertEqual(status, 2)
            self.assertEqual(out, b"")


class Remembered(Base):
    """What was found out may be remembered; it is corrected when wrong."""

    @support.plain
    def test_wrong_memory(self):
        """Each shape after each other one, for both clients."""
        def one(key):
            first, second, kind = key
            s = self.shaped(first)
            home = self.new_home()
            env = {"HOME": home}
            p = getattr(self, kind)(s, env=env)
            self.works(s, p)
            p.finish()
            self.turn(s, second)
            p = getattr(self, kind)(s, env=env)
            self.works(s, p)
            p.finish()
        pairs = [(a, b, k) for a, b in itertools.permutations(SHAPES, 2)
                 for k in ("legacy", "modern")]
        # every pair of eras, and half of the rest
        self.each(pairs[::2] if support.sanitized() else pairs, one)

    def test_same_again(self):
        """The second start asks no more than the first."""
        def one(shape):
            s = self.shaped(shape)
            env = {"HOME": self.new_home()}
            costs = []
            for _ in range(2):
                before = len(s.posts())
                p = self.client(Client, s, env=env)
                p.send(init(1, capabilities=ALL))
                self.assertIn("result", p.answer(1))
                costs.append(len(s.posts()) - before)
                p.send(INITIALIZED)
                self.works(s, p)
                p.finish()
            self.assertLessEqual(costs[1], costs[0])
        self.each(SHAPES, one)

    def silent_get(self, s):
        """A GET without a session gets a stream on which nothing comes."""
        def before(rx, tx):
            if rx.method != "GET" or rx.sid is not None:
                return False
            tx.sse()
            tx.chunk(b": open\n\n")
            while not (s.closing.is_set() or tx.gone(0.05)):
                pass
            return True
        s.before = before

    def era_of(self, home):
        files = glob.glob(os.path.join(home, ".cache", "mcpsplice", "*.era"))
        if not files:
            return None
        with open(files[0]) as f:
            return json.load(f)["era"]

    def test_was_sse(self):
        """A remembered HTTP+SSE that does not announce itself costs 2 s,
        once, whoever the client is."""
        ends = {("legacy", "legacy"): "legacy", ("modern", "legacy"): "legacy",
                ("legacy", "dual"): "legacy", ("modern", "dual"): None,
                ("legacy", "modern"): "modern", ("modern", "modern"): None}

        def one(key):
            kind, shape = key
            first = {"legacy": "POST initialize",
                     "modern": "POST server/discover"}[kind]
            s = self.shaped("sse")
            home = self.new_home()
            env = {"HOME": home}
            p = getattr(self, kind)(s, env=env)
            self.works(s, p)
            p.finish()
            self.assertEqual(self.era_of(home), "sse")
            self.turn(s, shape)
            self.silent_get(s)
            s.clear()
            begin = time.monotonic()
            p = getattr(self, kind)(s, env=env)
            if kind == "modern":
                m = p.ask("server/discover", seconds=PROBE)
                self.assertIn("result", m)
            took = time.monotonic() - begin
            self.assertTrue(1.9 < took < PROBE, took)
            self.works(s, p)
            self.assertEqual(s.posts()[:2], ["GET -", first])
            p.finish()
            self.assertEqual(self.era_of(home), ends[key])
            s.clear()
            p = getattr(self, kind)(s, env=env)
            self.works(s, p)
            self.assertNotEqual(s.posts()[0], "GET -")
            p.finish()
        self.each(ends, one)

    def test_was_sse_and_is_slow(self):
        """It is still what it was."""
        s = self.shaped("sse")
        env = {"HOME": self.new_home()}
        p = self.legacy(s, env=env)
        self.works(s, p)
        p.finish()
        s.clear()
        s.before = lambda rx, tx: rx.method == "GET" and \
            s.closing.wait(2.5) and False
        p = self.legacy(s, env=env)
        self.works(s, p)
        # a slow machine makes this last so long that initialize is sent again
        self.assertEqual(s.posts()[:3], ["GET -", "POST initialize", "GET -"])
        self.assertEqual(s.posts()[-2:], ["POST initialize",
                                          "POST tools/call"])
        p.finish()
        self.assertEqual(self.era_of(env["HOME"]), "sse")

    def test_not_from_what_proves_nothing(self):
        s = self.shaped("modern")
        env = {"HOME": self.new_home()}
        s.before = lambda rx, tx: tx.text(503, "no") or True
        p = self.client(Client, s, "--init-timeout", "1", env=env)
        p.send(init(1))
        p.answer(1)
        p.finish()
        s.before = None
        p = self.legacy(s, env=env)
        self.works(s, p)
        p.finish()


class Upgrade(Base):
    """The server becomes another one under a live client: nothing is
    restarted, and each call runs once."""

    def finds_out(self, s, p, a, name="echo"):
        """The first call to another server, which was a."""
        key = "first-%d" % self.count()
        m = p.tool(name, key=key)
        # a witness may not live to see the end of the stream of HTTP+SSE
        if name != "reads" and a == "sse" and "error" in m:
            self.our_error(m, "session_lost", "maybe")
            self.assertEqual(s.ran(key), 0)
            return
        self.assertEqual(p.said(m), {"key": key})
        self.assertEqual(s.ran(key), 1)

    def change(self, kind, a, b, how, name):
        s = self.shaped(a)
        p = getattr(self, kind)(s, "--no-memory")
        self.assertIn("result", p.ask("tools/list"))
        self.works(s, p)
        self.works(s, p)
        self.turn(s, b, how)
        self.finds_out(s, p, a, name)
        self.works(s, p)
        self.assertIn("result", p.ask("tools/list"))
        self.assertIn("result", p.ask("resources/read",
                                      {"uri": "file:///a"}))
        self.turn(s, a, how)
        self.finds_out(s, p, b, name)
        self.works(s, p)
        p.finish()
        self.forgive(s)

    def all(self, kind, how):
        pairs = [x + (name,) for x in itertools.permutations(SHAPES, 2)
                 for name in ("echo", "reads")]

        def one(pair):
            a, b, name = pair
            self.change(kind, a, b, how, name)
        self.each(pairs, one)

    def test_legacy_client_restart(self):
        self.all("legacy", "cut")

    def test_legacy_client_orderly(self):
        self.all("legacy", "end")

    def test_legacy_client_connections_kept(self):
        self.all("legacy", "keep")

    def test_modern_client_restart(self):
        self.all("modern", "cut")

    def test_modern_client_orderly(self):
        self.all("modern", "end")

    def test_modern_client_connections_kept(self):
        self.all("modern", "keep")

    def test_another_revision_is_no_doubt(self):
        """A modern server looks at the revision before it runs anything, so
        no witness is asked."""
        for code in (-32022, -32020):
            s = self.shaped("legacy", refuse_legacy=rpc_refusal(
                code, "no", 400, {"supported": [MODERN]}))
            p = self.legacy(s, "--no-memory")
            self.works(s, p)
            s.clear()
            self.turn(s, "modern", "keep")
            self.works(s, p)
            self.assertEqual(s.posts()[0], "POST tools/call")
            self.assertEqual(s.posts().count("POST tools/call"), 2)
            self.assertNotIn("POST ping", s.posts())
            p.finish()
            self.forgive(s)

    def test_sse_where_there_was_no_id(self):
        """However it refuses the POST, what was asked runs there, once."""
        page = "<!DOCTYPE html><pre>Cannot POST /mcp</pre>"
        ways = {"404": text_refusal(404, ""),
                "404 page": text_refusal(404, page, "text/html"),
                "405": text_refusal(405, ""),
                "405 page": text_refusal(405, page, "text/html"),
                "stream": None}
        ping = ["POST ping"]
        probe = ["POST server/discover"]
        first = {("stateless", "legacy"): ping,
                 ("stateless", "modern"): ping + probe,
                 ("legacy", "legacy"): ping,
                 ("modern", "legacy"): probe,
                 ("modern", "modern"): probe}

        def one(key):
            (shape, kind), way = key
            s = self.shaped(shape, sse_refuse=ways[way],
                            any_opens=way == "stream")
            p = getattr(self, kind)(s, "--no-memory")
            self.assertIn("result", p.ask("tools/list"))
            if shape != "modern":
                self.assertTrue(s.wait(lambda: s.seen(method="GET"), 5))
            s.clear()
            self.turn(s, "sse", "keep")
            self.finds_out(s, p, shape)
            want = ["POST tools/call"] + first[shape, kind]
            if way != "stream" or want[-1] != probe[0]:
                want.append("POST initialize")
            want += ["GET -", "POST initialize"]
            if shape != "modern":
                want.append("POST ping")
            want.append("POST tools/call")
            # its listen stream may find out at the same time, and where there
            # is an id to lose, an initialize goes beside the witness; the list
            # that the client has is read again
            said = [x for x in s.posts() if x not in
                    ("POST subscriptions/listen", "POST tools/list")]
            if (shape, kind) == ("legacy", "legacy"):
                said[1:-1], want[1:-1] = sorted(said[1:-1]), sorted(want[1:-1])
            self.assertEqual(said, want, key)
            self.works(s, p)
            p.finish()
            self.forgive(s)
        self.each(list(itertools.product(first, ways)), one)

    def test_an_endpoint_on_another_origin(self):
        """It does not end a call: the answer comes after it."""
        s = self.shaped("legacy")

        def tool(call):
            call.tx.sse()
            call.tx.event("http://127.0.0.1:9/messages", event="endpoint")
            call.effect()
            call.text(call.args)
        s.tools["odd_stream"] = ({"inputSchema": eraserver.ANY}, tool)
        p = self.legacy(s, "--no-memory")
        s.clear()
        self.assertEqual(p.said(p.tool("odd_stream", key="k")), {"key": "k"})
        self.assertEqual(s.ran("k"), 1)
        self.assertNotIn("POST ping", s.posts())
        self.assertNotIn("POST initialize", s.posts())
        p.finish()

    @support.plain
    def test_404_for_a_while(self):
        """A gateway has no server to pass it to: errors that say so, few
        requests, and all is as before when it has one again."""
        page = "<html><h1>404 Not Found</h1></html>"

        def one(key):
            shape, kind = key
            s = self.shaped(shape)
            p = getattr(self, kind)(s, "--no-memory")
            self.works(s, p)
            s.clear()
            s.before = lambda rx, tx: tx.body(404, page, "text/html") or True
            for n in range(20):
                begin = time.monotonic()
                m = p.tool(key="lost-%d" % n, seconds=support.LIVE)
                self.our_error(m, "reinit_failed" if n < 3 else None,
                               "maybe" if (n, shape) == (0, "modern") else
                               "no")
                self.within(time.monotonic() - begin, 2)
            self.assertLessEqual(len(s.posts()), 12, s.posts())
            s.before = None
            end = time.monotonic() + 33
            while "result" not in p.tool(key="back-%d" % self.count()):
                self.assertLess(time.monotonic(), end)
                time.sleep(1)
            self.works(s, p)
            self.assertEqual([e for e in s.effects if "lost" in e[1]], [])
            p.finish()
            self.forgive(s)
        self.each([("stateless", "legacy"), ("stateless", "modern"),
                   ("modern", "legacy"), ("modern", "modern")], one)

    def test_what_the_client_is_told(self):
        """The lists may be others now; level and subscriptions go on."""
        for a, b in (("legacy", "modern"), ("sse", "modern"),
                     ("modern", "legacy")):
            s = self.shaped(a)
            p = self.legacy(s, "--no-memory")
            p.ask("logging/setLevel", {"level": "critical"})
            p.ask("resources/subscribe", {"uri": "file:///a"})
            p.ask("tools/list")
            self.works(s, p)
            s.tools.popitem()
            self.turn(s, b)
            self.finds_out(s, p, a)
            p.note("notifications/tools/list_changed")
            p.tool("speaks")
            self.assertEqual([n["data"] for n in
                              p.notes("notifications/message")],
                             ["critical", "alert", "emergency"])
            n = len(p.notes("notifications/resources/updated"))
            self.assertTrue(s.wait(lambda: s.notify(
                "notifications/resources/updated", {"uri": "file:///a"}),
                10), (a, b))
            p.note("notifications/resources/updated", n + 1)
            p.finish()
            self.forgive(s)

    def test_listens_go_on(self):
        """A modern client's subscriptions/listen outlives the server's era
        (it is told of changes, and that it may have missed some), or the
        client is told that it does not, by a cancel, and asks anew."""
        def one(pair):
            a, b = pair
            s = self.shaped(a)
            p = self.modern(s, "--no-memory")
            wanted = {"toolsListChanged": True,
                      "resourceSubscriptions": ["file:///a"]}
            p.ask("tools/list")
            s.tools.popitem()
            ident = p.listen(**wanted)
            p.note("notifications/subscriptions/acknowledged")
            for was, shape in ((a, b), (b, a)):
                self.turn(s, shape)
                self.finds_out(s, p, was)
                ended = s.wait(lambda: [
                    m["requestId"] for m in
                    p.notes("notifications/cancelled")][-1:] == [ident], 1)
                if ended:
                    p.cancelled_by_server(ident)
                    n = len(p.notes(
                        "notifications/subscriptions/acknowledged"))
                    ident = p.listen(**wanted)
                    p.note("notifications/subscriptions/acknowledged", n + 1)
                elif shape == b:
                    p.note("notifications/tools/list_changed")
                self.told(s, p, ident, shape)
            p.finish()
            self.forgive(s)
        shapes = ["legacy", "sse", "modern", "dual"]
        self.each(list(itertools.permutations(shapes, 2)), one)

    def told(self, s, p, ident, shape):
        """Do changes reach this listen?"""
        for method, params in (
                ("notifications/tools/list_changed", None),
                ("notifications/resources/updated", {"uri": "file:///a"})):
            n = len(p.notes(method))
            limit = pace.Limit(8)
            while len(p.notes(method)) == n:
                # what is on its way to an old stream is lost
                if limit.left() <= 0:
                    self.fail("%s: no %s; %s; %s" % (
                        shape, method, p.raw_lines()[-3:], p.err()[-600:]))
                s.notify(method, params)
                time.sleep(0.1)
            self.assertEqual(p.notes(method)[-1]["_meta"][
                META + "subscriptionId"], ident)

    def test_seen_first_by_what_only_the_modern_era_has(self):
        """A call that finds a legacy server in the place of the modern one
        is answered although no legacy server knows it."""
        for b in ("legacy", "stateless", "sse"):
            for how in ("cut", "end", "keep"):
                s = self.shaped("modern")
                p = self.modern(s, "--no-memory")
                self.works(s, p)
                self.turn(s, b, how)
                m = p.ask("server/discover")
                self.assertIn("result", m, (b, how, m))
                self.turn(s, "modern", how)
                self.works(s, p)
                self.turn(s, b, how)
                ident = p.listen(toolsListChanged=True)
                p.note("notifications/subscriptions/acknowledged")
                if b != "stateless":
                    self.assertTrue(s.wait(lambda: (
                        s.notify("notifications/tools/list_changed"),
                        p.notes("notifications/tools/list_changed"))[1], 10),
                        (b, how))
                self.works(s, p)
                p.finish()
                self.forgive(s)

    def test_many_at_once(self):
        """All calls under way find out at once, and each runs once."""
        for a, b in (("modern", "legacy"), ("modern", "sse"),
                     ("legacy", "modern"), ("sse", "modern"),
                     ("sse", "legacy")):
            for kind in ("legacy", "modern"):
                s = self.shaped(a)
                p = getattr(self, kind)(s, "--no-memory")
                self.assertIn("result", p.ask("tools/list"))
                self.turn(s, b, "keep")
                names = ["echo", "reads"] * 5
                keys = ["many-%d" % n for n in range(10)]
                ids = [p.start("tools/call", {
                    "name": name, "arguments": {"key": k}})
                    for name, k in zip(names, keys)]
                for name, key, ident in zip(names, keys, ids):
                    m = p.answer(ident)
                    self.assertIn("result", m, (a, b, kind, m))
                    self.assertEqual(p.said(m), {"key": key})
                    self.assertEqual(s.ran(key), 1)
                p.finish()
                self.forgive(s)

    def test_asks_in_the_call_that_finds_out(self):
        """A modern client's safe call, sent again to the legacy server in the
        place of the modern one, is one that may be asked."""
        for b in ("legacy", "sse"):
            s = self.shaped("modern")
            p = self.modern(s, "--no-memory")
            p.caps = ALL
            self.assertIn("result", p.ask("tools/list"))
            self.turn(s, b, "keep")
            r = p.answer(p.tell("form_reads", key="k"))["result"]
            self.assertEqual(r["resultType"], "input_required", b)
            m = p.answer(p.tell("form_reads", key="k", more={
                "inputResponses": {k: eraserver.YES
                                   for k in r["inputRequests"]},
                "requestState": r["requestState"]}))
            self.assertEqual(m["result"]["resultType"], "complete", (b, m))
            self.assertNotIn("refused", p.said(m))
            p.finish()
            self.forgive(s)

    def test_parked_when_it_changes(self):
        """The question is gone with the server that asked: what was
        answered to it is not taken for an answer to another."""
        for a, b in (("legacy", "modern"), ("sse", "modern"),
                     ("modern", "legacy"), ("modern", "sse")):
            s = self.shaped(a)
            p = self.modern(s, "--no-memory")
            p.caps = ALL
            m = p.answer(p.tell("form", key="k"))
            r = m["result"]
            self.assertEqual(r["resultType"], "input_required")
            self.turn(s, b)
            m = p.answer(p.tell("form", key="k", more={
                "inputResponses": {k: eraserver.YES
                                   for k in r["inputRequests"]},
                "requestState": r["requestState"]}))
            if m.get("result", {}).get("resultType") == "complete":
                self.assertIn("refused", p.said(m))
            self.assertNotIn(("form", "k"), s.effects)
            self.works(s, p)
            p.finish()
            self.forgive(s)
            s.faults[:] = [f for f in s.faults if "requestState" not in f and
                           "inputResponses" not in f]

    def test_asked_when_it_changes(self):
        """A legacy client's question is withdrawn, and its call is told."""
        for a, b in (("modern", "legacy"), ("sse", "modern"),
                     ("legacy", "modern")):
            s = self.shaped(a)
            p = self.legacy(s, "--no-memory")
            ident = p.start("tools/call", {"name": "form",
                                           "arguments": {"key": "k"}})
            q = p.question("elicitation/create")
            self.turn(s, b)
            self.finds_out(s, p, a)
            p.reply(q)
            m = p.answer(ident)
            self.assertIn("error", m, (a, b))
            self.assertEqual(s.ran("k"), 0)
            self.works(s, p)
            p.finish()
            self.forgive(s)
            s.faults[:] = [f for f in s.faults if "requestState" not in f and
                           "inputResponses" not in f]

    def test_during_an_outage(self):
        """Away for a second, back as another one; calls wait."""
        for a, b in (("legacy", "modern"), ("modern", "sse"),
                     ("sse", "legacy")):
            for kind in ("legacy", "modern"):
                s = self.shaped(a)
                p = getattr(self, kind)(s, "--no-memory")
                self.assertIn("result", p.ask("tools/list"))
                s.down()
                ident = p.start("tools/call", {
                    "name": "reads", "arguments": {"key": "w"}})
                self.settle(0.6)
                self.turn(s, b, "keep")
                s.up()
                self.assertEqual(p.said(p.answer(ident)), {"key": "w"})
                self.assertEqual(s.ran("w"), 1)
                p.finish()
                self.forgive(s)

    def test_while_a_call_runs(self):
        """It may have run: never again, and the client is told so."""
        for a, b in (("legacy", "modern"), ("modern", "legacy"),
                     ("sse", "modern"), ("modern", "sse")):
            for kind in ("legacy", "modern"):
                s = self.shaped(a)
                p = getattr(self, kind)(s, "--no-memory")
                self.works(s, p)
                ident = p.start("tools/call", {
                    "name": "holds", "arguments": {"key": "k"}})
                self.assertTrue(s.wait(lambda: s.ran("k"), 5))
                self.turn(s, b)
                self.our_error(p.answer(ident), ran="maybe")
                self.finds_out(s, p, a)
                self.works(s, p)
                self.assertEqual(s.ran("k"), 1)
                p.finish()
                self.forgive(s)


class Storm(Base):
    """The server turns into another one over and over while calls go on.
    What the client is told of a call must be what the server saw of it."""

    SEED = 20261107
    TURNS = 12
    CALLS = (8, 16)     # from one turn to the next
    AT_ONCE = 4

    def storm(self, kind, how):
        rng = random.Random("%d %s %s" % (self.SEED, kind, how))
        s = self.shaped("legacy")
        p = getattr(self, kind)(s, "--no-memory")
        self.works(s, p)
        ids = []
        for _ in range(self.TURNS):
            for _ in range(rng.randrange(*self.CALLS)):
                ids.append(p.start("tools/call", {
                    "name": "echo", "arguments": {"key": len(ids)}}))
                p.answer(ids[-self.AT_ONCE:][0], 40)
            self.turn(s, rng.choice(list(SHAPES)), rng.choice(how))
        good = 0
        for key, ident in enumerate(ids):
            m = p.answer(ident, 40)
            if "result" in m:
                good += 1
                self.assertEqual(p.said(m), {"key": key})
                self.assertEqual(s.ran(key), 1)
                continue
            e = m["error"]
            if e.get("data", {}).get("source") != "mcpsplice":
                # the server's words, after a second try
                self.assertEqual(s.ran(key), 0, e)
                continue
            e = self.our_error(m)
            self.assertLessEqual(s.ran(key), 1 if e["data"]["ran"] == "maybe"
                                 else 0, e)
        p.tool(key="last")      # the first one to the last server
        self.assertLessEqual(s.ran("last"), 1)
        self.works(s, p)
        p.finish()
        self.forgive(s)
        self.assertGreater(good, len(ids) * (0.3 if "cut" in how else 0.8),
                           "of %d calls" % len(ids))

    def test_legacy_client(self):
        self.storm("legacy", ["cut", "end", "keep"])

    def test_modern_client(self):
        self.storm("modern", ["cut", "end", "keep"])

    def test_legacy_client_orderly(self):
        self.storm("legacy", ["end", "keep"])

    def test_modern_client_orderly(self):
        self.storm("modern", ["end", "keep"])


class Ends(Base):
    """EOF in each era: what was asked is answered first."""

    def test_drain(self):
        def one(key):
            shape, kind = key
            s = self.shaped(shape)
            p = getattr(self, kind)(s)
            ident = p.start("tools/call", {"name": "holds",
                                           "arguments": {"key": "k"}})
            self.assertTrue(s.wait(lambda: s.ran("k"), 5))
            p.close()
            self.settle(0.3)
            self.assertTrue(p.alive())
            s.release.set()
            self.assertEqual(p.said(p.answer(ident)), "released")
            p.finish(seconds=6)
            self.assertEqual(s.cancelled, [])
        self.each(list(itertools.product(SHAPES, ("legacy", "modern"))), one)

    @support.plain
    def test_idle_end_is_quick(self):
        def one(key):
            shape, kind = key
            s = self.shaped(shape)
            p = getattr(self, kind)(s)
            if kind == "modern":
                p.listen(toolsListChanged=True)
            self.works(s, p)
            self.settle(0.3)
            begin = time.monotonic()
            p.finish(seconds=6)
            self.within(time.monotonic() - begin, 2.5)
            self.assertEqual(s.wait(lambda: s.open_listens() == [], 5),
                             True)
        self.each(list(itertools.product(SHAPES, ("legacy", "modern"))), one)

    def test_piped(self):
        """All of it, then EOF at once."""
        def one(key):
            shape, kind = key
            s = self.shaped(shape)
            if kind == "legacy":
                data = lines(init(1, capabilities=ALL), INITIALIZED,
                             call(2, key="p"))
            else:
                data = lines(support.request(2, "tools/call", {
                    "name": "echo", "arguments": {"key": "p"}, "_meta": {
                        META + "protocolVersion": MODERN,
                        META + "clientCapabilities": {}}}))
            status, out, err = self.once([s.url], data)
            self.assertEqual(status, 0, err)
            answers = [json.loads(x) for x in out.splitlines()]
            self.assertEqual([m["id"] for m in answers if "id" in m],
                             [1, 2] if kind == "legacy" else [2])
            self.assertIn("result", answers[-1] if kind == "modern" else
                          [m for m in answers if m.get("id") == 2][0])
            self.assertEqual(s.ran("p"), 1)
        self.each(list(itertools.product(SHAPES, ("legacy", "modern"))), one)

    def test_signal(self):
        def one(key):
            shape, kind = key
            s = self.shaped(shape)
            p = getattr(self, kind)(s)
            ident = p.start("tools/call", {"name": "holds",
                                           "arguments": {"key": "k"}})
            self.assertTrue(s.wait(lambda: s.ran("k"), 5))
            if kind == "modern":
                listen = p.listen(toolsListChanged=True)
                p.note("notifications/subscriptions/acknowledged")
            p.proc.terminate()
            self.our_error(p.answer(ident), "shutting_down", "maybe")
            self.assertEqual(p.wait(5), 0)
            p.finish(seconds=5)
            if kind == "modern":
                self.assertEqual([m["result"]["resultType"]
                                  for m in p.messages if "method" not in m and
                                  m["id"] == listen], ["complete"])
        self.each(list(itertools.product(SHAPES, ("legacy", "modern"))), one)


if __name__ == "__main__":
    support.main()
