"""Each way to lose a session, with 1 and with 50 calls under way, answered as
JSON and as event streams: every call is answered once, none runs twice, one
initialize is enough, and what cannot be saved is said in words that help.
"""

import json
import signal
import threading
import time

import faultserver
import support
from support import INITIALIZED, call, init, lines, note, request

TRACE = {"cause": None, "stackTrace": [
    {"declaringClass": "org.example.Frame%d" % n, "lineNumber": n}
    for n in range(1000)],
    "jsonRpcError": {"code": -32603, "message": "Session not found: x"},
    "message": "Session not found: x", "suppressed": []}


def rpc(status, code, message, ident=True, headers=(), ctype=None):
    """A JSON-RPC error; with status 200 in the way the call is answered."""
    def fn(rx, tx):
        m = {"jsonrpc": "2.0", "error": {"code": code, "message": message}}
        m["id"] = (rx.json or {}).get("id") if ident else None
        if status == 200 and tx.server.sse and rx.method == "POST":
            tx.sse(200, headers)
            tx.event(m)
        else:
            tx.json(m, status, headers, ctype or "application/json")
    return fn


def text(status, words, headers=()):
    return lambda rx, tx: tx.text(status, words, headers)


WWW = [("WWW-Authenticate", 'Bearer error="invalid_token"')]

LOST = {
    "404 -32001": rpc(404, -32001, "Session not found", False),
    "404 text": text(404, "session not found\n"),
    "404 empty": lambda rx, tx: tx.body(404),
    "404 as text": rpc(404, -32001, "Session not found", False,
                       ctype="text/plain;charset=UTF-8"),
    "404 java trace": lambda rx, tx: tx.json(TRACE, 404),
    "404 -32601 with the words": rpc(404, -32601,
                                     "Not Found: Invalid session ID", False),
    "400 text": text(400, "Bad Request: No valid session ID provided"),
    "400 not initialized": rpc(400, -32000,
                               "Bad Request: Server not initialized", False),
    "400 header is required": rpc(
        400, -32000, "Bad Request: Mcp-Session-Id header is required", False),
    "400 fresh sid": rpc(400, -32600, "Bad Request: Missing session ID",
                         False, [("Mcp-Session-Id", "not-yours")]),
    "401 text": text(401, "Unauthorized: Session not found"),
    "401 invalid token": rpc(401, -32001, "Session not found", False, WWW),
    "422 text": text(422, "Unexpected message, expect initialize request"),
    "500 rmcp": text(500, "Encounter an error when get session: Session "
                     "error: Session service terminated"),
    "503 text": rpc(503, -32000, "Unknown session; initialize again"),
    "200 wordpress": rpc(200, -32602,
                         "Invalid params: Invalid or expired session"),
    "200 php": rpc(200, -32600, "Invalid or expired session. Please "
                   "re-initialize the session."),
    "200 in band": rpc(200, -32002, "Session not found"),
    "200 32600": rpc(200, 32600, "Session terminated"),
}

NOT_LOST = {
    "404 method": rpc(404, -32601, "Method not found"),
    "404 tool": rpc(404, -32003, "Tool not found: echo"),
    "404 route": lambda rx, tx: tx.json(
        {"code": "rest_no_route", "message": "No route was found matching "
         "the URL and request method.", "data": {"status": 404}}, 404),
    "is error": lambda rx, tx: tx.server.give(rx, tx, {
        "isError": True, "content": [
            {"type": "text", "text": "Session not found"}]}),
    "409": rpc(409, -32000, "Conflict: session is busy"),
    "500 other": text(500, "Tool execution failed"),
    "200 timeout": rpc(200, -32001, "MCP error -32001: Request timed out"),
}

# A tool's words, or a gateway's in front of another server.  They may well be
# of a loss: a second session is opened beside the witness, once.
WORDS = {
    "404 text": LOST["404 text"],
    "404 -32001": rpc(404, -32001, "Session not found"),
    "200 32600": LOST["200 32600"],
}


class Load(support.Case):
    """What all cases share."""

    READ_ONLY = [{"name": "safe", "inputSchema": {"type": "object"},
                  "annotations": {"readOnlyHint": True}},
                 {"name": "echo", "inputSchema": {"type": "object"}}]

    def setUp(self):
        super().setUp()
        self.sent = {}      # id -> when

    def server(self, sse=False, **kw):
        s = self.mcp(**kw)
        s.sse = sse

        def give(rx, tx, result):
            if s.sse:
                tx.sse()
                tx.answer(result)
            else:
                tx.result(result)
        s.give = give

        def tool(rx, tx):
            key = rx.json["params"]["arguments"]["key"]
            s.give(rx, tx, {"key": key})
        s.tool = s.methods["tools/call"] = tool
        s.methods["tools/list"] = lambda rx, tx: tx.result(
            {"tools": self.READ_ONLY})
        return s

    def start(self, sse=False, *args, **kw):
        s = self.server(sse, **kw)
        p = self.splice(s, *args)
        p.hello()
        self.assertEqual(p.tool(key="first")["result"], {"key": "first"})
        return s, p

    def send(self, p, n, name="echo", first=1000):
        """n calls at once, their ids."""
        ids = list(range(first, first + n))
        self.sent.update(dict.fromkeys(ids, time.monotonic()))
        p.send(*[call(i, name, key=i) for i in ids])
        return ids

    def results(self, s, p, ids, runs=1):
        for i in ids:
            m = p.answer(i)
            self.in_time(m, self.sent[i])
            if m.get("result") != {"key": i}:
                self.fail("%r: %s; stderr %s" % (i, json.dumps(m)[:500],
                                                 p.err()[-500:]))
        if runs is not None:
            self.assertEqual([i for i in ids if s.runs(i) != runs], [],
                             "not run %d times" % runs)

    def together(self, s, n, refuse):
        """A refusal that waits until n calls are there. A server that is as
        slow to refuse a witness makes none of them late."""
        lock = threading.Lock()
        seen = []
        gate = threading.Event()
        self.testified = threading.Event()

        def fn(rx, tx):
            witness = seen and faultserver.is_witness(rx.json or {})
            if rx.rpc == "tools/call":
                with lock:
                    seen.append(rx)
                    self.spread = rx.time - seen[0].time
                    if len(seen) >= n:
                        gate.set()
                gate.wait(support.LIVE)
            elif witness:
                time.sleep(self.spread)
            refuse(rx, tx)
            if witness:
                self.testified.set()
        return fn

    def one_line_each(self, p, ids):
        """Nothing on stdout but the answers."""
        with p.cond:
            got = [m.get("id") for m in p.messages]
        self.assertEqual(sorted(i for i in got if i in set(ids)), ids)

    def error(self, m, ran, *reasons, words=()):
        e = self.our_error(m, ran=ran)
        self.assertIn(e["data"].get("reason"), reasons, e)
        self.assertIn("127.0.0.1", e["message"])
        for w in words:
            self.assertIn(w, e["message"])
        return e

    def works_again(self, s, p, inits=None):
        """The next call is as if nothing had been."""
        m = p.tool(key="next")
        if m.get("result") != {"key": "next"}:
            self.fail("the next call: %s; stderr %s" %
                      (json.dumps(m)[:500], p.err()[-500:]))
        self.assertEqual(s.runs("next"), 1)
        if inits is not None:
            s.wait(lambda: s.inits() >= inits, 5)
            self.assertEqual(s.inits(), inits, "initialize")


def matrix(cls, name, fn, ns=(1, 50), sses=(False, True), **flags):
    """fn(self, n, sse) as cases of cls."""
    for n in ns:
        for sse in sses:
            def test(self, n=n, sse=sse):
                fn(self, n, sse)
            title = "test_%s_%d_%s" % ("".join(
                c if c.isalnum() else "_" for c in name), n,
                "sse" if sse else "json")
            for k, v in flags.items():
                setattr(test, k, v)
            setattr(cls, title, test)


class Shapes(Load):
    """Each loss, found out by n calls at once."""


class Others(Load):
    """What looks similar."""


def lost(refuse):
    def test(self, n, sse):
        s, p = self.start(sse)
        s.refuse = self.together(s, n, refuse)
        s.forget()
        ids = self.send(p, n)
        self.results(s, p, ids)
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual(s.early, [])
        self.deleted(s, s.made[1:])
        self.assertEqual(len(s.seen("notifications/initialized")), 2)
        self.assertNotIn("not-yours", [r.sid for r in s.requests])
        # More of them are asked where the first one is silent for a second.
        if s.witnesses[1].time - self.sent[ids[0]] > 1:
            raise support.Late("the witness was silent for a second")
        # One witness proves it for all: it was refused as they were in the
        # old session, and is answered in the new one.
        self.assertEqual([r.sid for r in s.witnesses], s.made)
        self.assertEqual(s.witnesses[0].rpc, s.witnesses[1].rpc)
        self.assertEqual(len(s.seen("tools/call")), 2 * n + 2)
        self.assertEqual(len(p.messages), n + 3)
    return test


def kept(answer, spare, distrusted=False):
    """The session stays.  If many calls are refused with words of a loss, the
    last of them leads to another one, once."""
    def test(self, n, sse):
        more = int(distrusted and n > 1)
        s, p = self.start(sse)
        s.methods["tools/call"] = self.together(s, n, answer)
        ids = self.send(p, n)
        for i in ids:
            m = p.answer(i)
            if "error" in m and "data" in m["error"]:
                self.error(m, None, "bad_upstream", "upstream_unreachable")
        self.assertEqual([i for i in ids if s.runs(i) != 1], [], "sent again")
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1 + spare + more)
        self.assertEqual(s.executed[-1].sid, s.made[-1 if more else 0])
        p.finish()
        self.assertEqual(sorted(s.deleted), sorted(s.made))
        self.one_line_each(p, ids)
    return test


for _name, _refuse in LOST.items():
    matrix(Shapes, _name, lost(_refuse))
for _name, _answer in NOT_LOST.items():
    matrix(Others, _name, kept(_answer, 0))
for _name, _answer in WORDS.items():
    matrix(Others, "words " + _name,
           kept(_answer, 1, _name == "404 text"))


class Restarts(Load):
    """The server's process ends and begins."""

    def between(self, n, sse):
        s, p = self.start(sse)
        for k in range(3):
            s.restart(reset=bool(k % 2))
            self.results(s, p, self.send(p, n, first=1000 * (k + 1)))
            self.assertEqual(s.inits(), k + 2, "initialize")
        p.finish()
        self.deleted(s, s.made[-1:])

    def during(self, name, n, sse, reset):
        """Killed when n calls are running."""
        s, p = self.start(sse)
        p.ask("tools/list")
        lock = threading.Lock()
        count = []
        dead = threading.Event()

        def tool(rx, tx):
            with lock:
                count.append(rx)
                if len(count) == n:
                    s.methods["tools/call"] = s.tool
                    threading.Thread(target=die, daemon=True).start()
            if sse:
                tx.sse()
            dead.wait(support.LIVE)
            tx.keep = False
            tx.ended = True

        def die():
            s.restart(reset)
            dead.set()
        s.methods["tools/call"] = tool
        ids = self.send(p, n, name)
        return s, p, ids

    def unsafe(self, n, sse):
        """They may have run, and are not run again."""
        s, p, ids = self.during("echo", n, sse, False)
        for i in ids:
            self.error(p.answer(i), "maybe", "stream_lost", "session_lost",
                       words=["may have run"])
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def safe(self, n, sse):
        """They only read: repeated once in the new session."""
        s, p, ids = self.during("safe", n, sse, n == 1)
        self.results(s, p, ids, 2)
        self.works_again(s, p, 2)
        p.finish()

    def closed(self, seconds):
        def test(self, n, sse):
            """Nobody listens for a while, and the sessions are gone."""
            s, p = self.start(sse)
            s.down()
            s.forget()
            threading.Timer(seconds, s.up).start()
            ids = self.send(p, n)
            self.results(s, p, ids)
            self.works_again(s, p, 2)
            p.finish()
        return test

    def under_load(self, n, sse):
        """The sessions are forgotten ten times under a steady load. No call is
        refused twice, since the server's words would stand then: one that
        comes alone finds out what the others may not have seen."""
        s, p = self.start(sse)
        for k in range(10):
            if n == 1:
                s.forget()
            ids = self.send(p, n, "echo", 2000 + 1000 * k)
            if n > 1:
                for i in ids[:n // 2]:
                    p.answer(i)
                s.forget()
            self.results(s, p, ids)
            self.results(s, p, self.send(p, 1, first=2500 + 1000 * k))
        p.finish()
        self.assertEqual(s.inits(), 11)


matrix(Restarts, "between", Restarts.between)
matrix(Restarts, "during unsafe", Restarts.unsafe)
matrix(Restarts, "during safe", Restarts.safe)
matrix(Restarts, "closed for 2 s", Restarts.closed(None, 2))
matrix(Restarts, "closed for 15 s", Restarts.closed(None, 15), (1, 50),
       (False,))
matrix(Restarts, "forgets under load", Restarts.under_load)


class Renewals(Load):
    """The new session does not come at once, or not at all."""

    def refused(self, answer, inits, wait):
        """n calls, a renewal that fails: one error each; later all is well."""
        def test(self, n, sse):
            s, p = self.start(sse, "--retry-window", "3")
            s.refuse = self.together(s, n, LOST["404 -32001"])
            s.forget()
            s.init = [answer] * 99
            begin = time.monotonic()
            ids = self.send(p, n)
            said = {"code": -32001, "message": "Session not found"}
            told = 0
            for i in ids:
                m = p.answer(i)
                self.in_time(m, self.sent[i])
                # the first ones say why; then its words are enough
                if m.get("error") != said:
                    e = self.error(m, "no", "reinit_failed", "session_lost")
                    self.assertEqual(e["data"].get("server"), said, e)
                    told += 1
            self.assertGreater(told, 0)
            self.within(time.monotonic() - begin, wait)
            self.assertLess(s.inits() - 1, inits)
            s.init = []
            s.refuse = LOST["404 -32001"]
            self.works_again(s, p)
            p.finish()
            self.assertEqual([i for i in ids if s.runs(i)], [])
        return test

    def slow(self, n, sse):
        """It takes 1 s; later calls wait, too."""
        s, p = self.start(sse)

        def late(rx, tx):
            time.sleep(1)
            s.initialize(rx, tx)
        s.init = [late]
        s.forget()
        ids = self.send(p, n)
        self.assertTrue(s.wait(lambda: s.inits() == 2))
        ids += self.send(p, n, first=2000)
        self.assertEqual(p.ask("ping", seconds=0.7)["result"], {})
        self.results(s, p, ids)
        self.works_again(s, p, 2)
        p.finish()

    def not_ready(self, n, sse):
        """503 twice, then a session."""
        s, p = self.start(sse)
        s.init = [text(503, "starting"), text(429, "starting")]
        s.forget()
        ids = self.send(p, n)
        self.results(s, p, ids)
        self.works_again(s, p, 4)
        p.finish()

    def forgotten(self, n, sse):
        """The new session is gone before notifications/initialized."""
        s, p = self.start(sse)

        def forgets(rx, tx):
            with s.lock:        # initialized does not come in between
                s.initialize(rx, tx)
                s.forget()
        s.init = [forgets]
        s.forget()
        ids = self.send(p, n)
        self.results(s, p, ids)
        self.works_again(s, p)
        p.finish()
        self.assertIn(s.inits(), (3, 4))
        self.assertEqual(s.early, [])

    def forgotten_at_replay(self, n, sse):
        """The new session is gone when it has answered the witness: a call is
        replayed once, and that it was refused again is an answer, too."""
        s, p = self.start(sse)
        ping = s.methods["ping"]

        def forgets(rx, tx):
            # initialized, which is sent beside it, is taken in
            s.wait(lambda: s.session(rx).initialized)
            s.methods["ping"] = ping
            s.forget()
            ping(rx, tx)
        s.methods["ping"] = forgets
        s.refuse = self.together(s, n, LOST["404 text"])
        s.forget()
        ids = self.send(p, n)
        for i in ids:
            m = p.answer(i)
            self.in_time(m, self.sent[i])
            # of many, one may be read so late that it is sent to the third
            if n == 1 or "result" not in m:
                self.error(m, "no", "session_lost")
            self.assertEqual(s.runs(i), "result" in m)
        self.works_again(s, p, 3)
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 2 * n + 2)

    def no_sid(self, n, sse):
        """The new server has no sessions."""
        s, p = self.start(sse)
        s.forget()
        s.stateful = False
        ids = self.send(p, n)
        self.results(s, p, ids)
        self.works_again(s, p, 2)
        p.finish()
        self.assertIsNone(s.executed[-1].sid)
        self.deleted(s, [])

    def version(self, n, sse):
        """The new server speaks an older version: so do our headers."""
        s, p = self.start(sse)
        s.version = "2025-03-26"
        s.forget()
        ids = self.send(p, n)
        self.results(s, p, ids)
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual(s.executed[-1].get("MCP-Protocol-Version"),
                         "2025-03-26")

    def stale(self, n, sse):
        """Refusals of the old session that come after the new one began."""
        s, p = self.start(sse)
        gate = threading.Event()

        def refuse(rx, tx):
            if rx.rpc == "tools/call" and \
                    rx.json["params"]["name"] == "late":
                gate.wait(support.LIVE)
            elif rx in s.witnesses:     # so that none of them is too late
                time.sleep(0.5)
            tx.text(404, "session not found")
        s.refuse = refuse
        s.forget()
        ids = self.send(p, n, "late")
        self.assertTrue(s.wait(lambda: len(s.seen("tools/call")) == n + 1))
        self.results(s, p, self.send(p, 1, first=2000))
        gate.set()
        self.results(s, p, ids)
        self.works_again(s, p, 2)
        p.finish()

    def cut_after(self, n, sse):
        """The replay's own answer breaks off: it has run, no third try."""
        s, p = self.start(sse)

        def cuts(rx, tx):
            if sse:
                tx.sse()
                tx.chunk(": so far\n\n")
            tx.cut()
        s.methods["tools/call"] = cuts
        s.forget()
        ids = self.send(p, n)
        for i in ids:
            m = p.answer(i)
            if m["error"]["data"].get("reason") == "session_lost":
                self.in_time(m, self.sent[i])
            self.error(m, "maybe", "stream_lost")
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 2)
        p.finish()

    def every_second(self, n, sse):
        """Each second batch finds the session gone."""
        s, p = self.start(sse)
        for k in range(8):
            if k % 2:
                s.forget()
            self.results(s, p, self.send(p, n, first=1000 * (k + 1)))
        self.assertEqual(s.inits(), 5)
        p.finish()

    def ids_on_the_wire(self, n, sse):
        """The replay in a new session has the client's own id, and no id is
        under way twice in one session."""
        s, p = self.start(sse)
        s.refuse = self.together(s, n, LOST["404 text"])
        s.forget()
        ids = self.send(p, n)
        self.results(s, p, ids)
        p.finish()
        seen = set()
        for r in s.seen("tools/call"):
            self.assertNotIn((r.sid, r.json["id"]), seen)
            seen.add((r.sid, r.json["id"]))
        self.assertTrue({(s.made[1], i) for i in ids} <= seen)


for _name, _answer, _inits, _wait in (
        ("fails with 500", text(500, "oops"), 6, 9),
        ("refused with 400", rpc(400, -32000, "too many sessions"), 6, 9),
        ("refused with 404", text(404, "nothing here"), 6, 9),
        ("already initialized", rpc(400, -32600, "Invalid Request: Server "
                                    "already initialized"), 6, 9),
        ("429 for ever", text(429, "later"), 9, 9),
        ("hangs", lambda rx, tx: tx.server.closing.wait(25), 4, 12)):
    matrix(Renewals, _name, Renewals.refused(None, _answer, _inits, _wait))
for _name in ("slow", "not_ready", "forgotten", "forgotten_at_replay",
              "no_sid", "version", "stale", "cut_after", "every_second",
              "ids_on_the_wire"):
    matrix(Renewals, _name, getattr(Renewals, _name))


class Streams(Load):
    """The listen stream, and answers that break off."""

    def get_dropped(self, n, sse):
        """Five times, while calls are under way."""
        s = self.server(sse)
        s.on_get = s.listen
        gate = threading.Event()
        tool = s.tool

        def slow(rx, tx):
            gate.wait(support.LIVE)
            tool(rx, tx)
        s.methods["tools/call"] = slow
        p = self.splice(s)
        p.hello()
        ids = self.send(p, n)
        for k in range(5):
            tx = s.stream()
            tx.event(note("notifications/x", {"k": k}), id=k, retry=50)
            self.assertIsNotNone(p.find(
                lambda m: m.get("params") == {"k": k}, 5))
            (tx.cut, tx.end, tx.reset)[k % 3]()
        last = s.stream()
        self.assertEqual(last.request.get("Last-Event-ID"), "4")
        gate.set()
        self.results(s, p, ids)
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual(p.count_messages("notifications/x"), 5)

    def get_404_first(self, n, sse):
        """Nothing about the session: perhaps another replica said it, so the
        GET is tried again some times, a second later."""
        s = self.server(sse)
        s.on_get = LOST["404 -32001"]
        p = self.splice(s)
        p.hello()
        self.results(s, p, self.send(p, n))
        self.works_again(s, p, 1)
        p.finish()
        self.assertIn(len(s.seen(method="GET")), range(1, 6))

    def get_404_later(self, n, sse):
        """It worked before: a ping tells that the session lives."""
        s = self.server(sse)
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        tx = s.stream()

        def once(rx, tx):
            s.on_get = s.listen
            tx.body(404)
        s.on_get = once
        tx.event(retry=10)
        tx.cut()
        self.assertTrue(s.wait(lambda: s.seen("ping"), 10), "no ping")
        self.settle(0.3)
        self.results(s, p, self.send(p, n))
        self.works_again(s, p, 1)
        p.finish()
        # and one with an id that nobody has tells whether it would notice
        self.assertEqual([r.sid in s.made for r in s.seen("ping")],
                         [True, False])

    def resumed(self, n, sse):
        """The answers are fetched by GET with the last event's id."""
        s, p = self.start(True)

        def cuts(rx, tx):
            tx.sse()
            tx.event("", id="call-%d" % rx.json["id"], retry=20)
            tx.cut()
        s.methods["tools/call"] = cuts

        def on_get(rx, tx):
            key = int(rx.get("Last-Event-ID").split("-")[1])
            tx.sse()
            tx.event({"jsonrpc": "2.0", "id": key, "result": {"key": key}})
        s.on_get = on_get
        ids = self.send(p, n)
        self.results(s, p, ids)
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()

    def resumed_too_late(self, n, sse):
        """The session is gone when the answers are fetched."""
        s, p = self.start(True)
        lock = threading.Lock()
        count = []

        def cuts(rx, tx):
            tx.sse()
            tx.event("", id="call-%d" % rx.json["id"], retry=300)
            with lock:
                count.append(rx)
                if len(count) == n:
                    s.methods["tools/call"] = s.tool
                    s.forget()
            tx.cut()
        s.methods["tools/call"] = cuts
        ids = self.send(p, n)
        for i in ids:
            self.error(p.answer(i), "maybe", "session_lost", "stream_lost")
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def cut(self, n, sse):
        """Without an id there is nothing to fetch."""
        s, p = self.start(sse)

        def cuts(rx, tx):
            if sse:
                tx.sse()
                tx.chunk(": so far\n\n")
            else:
                tx.head(200, [("Content-Type", "application/json")])
                tx.chunk('{"jsonrpc":')
            tx.cut()
        s.methods["tools/call"] = cuts
        ids = self.send(p, n)
        for i in ids:
            self.error(p.answer(i), "maybe", "stream_lost",
                       words=["may have run", "echo"])
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def cut_safe(self, n, sse):
        """A tool that only reads is called again, once."""
        s, p = self.start(sse)
        p.ask("tools/list")
        lock = threading.Lock()
        seen = set()

        def cuts(rx, tx):
            key = rx.json["params"]["arguments"]["key"]
            with lock:
                again = key in seen
                seen.add(key)
            if again:
                s.tool(rx, tx)
                return
            if sse:
                tx.sse()
                tx.chunk(": so far\n\n")
            tx.reset()
        s.methods["tools/call"] = cuts
        ids = self.send(p, n, "safe")
        self.results(s, p, ids, 2)
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()

    def terminated(self, n, sse):
        """500, terminated before the request completed."""
        s, p = self.start(sse)
        dies = rpc(500, -32603,
                   "Session terminated before the request completed", False)
        lock = threading.Lock()
        count = []
        gate = threading.Event()

        def tool(rx, tx):
            with lock:
                count.append(rx)
                if len(count) == n:
                    s.methods["tools/call"] = s.tool
                    s.forget()
                    gate.set()
            gate.wait(support.LIVE)
            dies(rx, tx)
        s.methods["tools/call"] = tool
        ids = self.send(p, n)
        for i in ids:
            m = p.answer(i)
            self.assertIn("erminated before", json.dumps(m))
            if "data" in m["error"]:
                self.error(m, "maybe", "session_lost")
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def bad_gateway(self, n, sse):
        s, p = self.start(sse)
        s.methods["tools/call"] = text(502, "<html>bad gateway</html>")
        ids = self.send(p, n)
        for i in ids:
            self.error(p.answer(i), "maybe", "upstream_unreachable",
                       words=["502"])
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])


for _name in ("get_dropped", "get_404_first", "get_404_later", "cut",
              "cut_safe", "terminated", "bad_gateway"):
    matrix(Streams, _name, getattr(Streams, _name))
for _name in ("resumed", "resumed_too_late"):
    matrix(Streams, _name, getattr(Streams, _name), sses=(True,))


class Ends(Load):
    """EOF, a signal, a cancel, in the middle of it."""

    def held(self, n, sse):
        """A renewal that waits for the gate; n calls wait for it."""
        s, p = self.start(sse)
        gate = threading.Event()

        def late(rx, tx):
            gate.wait(support.LIVE)
            s.initialize(rx, tx)
        s.init = [late]
        s.refuse = self.together(s, n, LOST["404 text"])
        s.forget()
        ids = self.send(p, n)
        self.assertTrue(s.wait(lambda: s.inits() == 2))
        self.assertTrue(self.testified.wait(support.LIVE))
        # All refusals are there. It is not longer on a slow machine, since
        # after HEDGE_MS of silence a second initialize is sent.
        self.settle(1)
        return s, p, gate, ids

    def eof(self, n, sse):
        s, p, gate, ids = self.held(n, sse)
        p.close()
        self.settle(0.2)
        gate.set()
        self.results(s, p, ids)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.deleted(s, s.made[1:])

    def term(self, n, sse):
        s, p, gate, ids = self.held(n, sse)
        begin = time.monotonic()
        p.proc.send_signal(signal.SIGTERM)
        for i in ids:
            self.in_time(p.answer(i), self.sent[i])
            self.error(p.answer(i), "no", "shutting_down")
        self.assertEqual(p.wait(3), 0)
        self.within(time.monotonic() - begin, 2)
        gate.set()
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i)], [])

    def cancel(self, n, sse):
        """All but the last are taken back."""
        s, p, gate, ids = self.held(n, sse)
        last = self.send(p, 1, first=5000)
        for i in ids:
            p.cancel(i)
        p.taken()
        gate.set()
        self.results(s, p, last)
        self.settle(0.3)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i)], [], "run")
        self.assertEqual(s.inits(), 2)

    def cancel_held(self, n, sse):
        """Calls that came during the renewal are taken back."""
        s, p, gate, ids = self.held(n, sse)
        more = self.send(p, n, first=5000)
        for i in more:
            p.cancel(i)
        p.taken()
        gate.set()
        self.results(s, p, ids)
        p.finish()
        self.assertEqual([i for i in more if s.runs(i)], [], "run")

    def cancelled_loss(self, n, sse):
        """A loss seen only by calls that were cancelled starts nothing."""
        s, p = self.start(sse)
        gate = threading.Event()

        def late(rx, tx):
            gate.wait(support.LIVE)
            tx.text(404, "session not found")
        s.refuse = late
        s.forget()
        ids = self.send(p, n)
        self.assertTrue(s.wait(lambda: len(s.seen("tools/call")) == n + 1))
        for i in ids:
            p.cancel(i)
        p.taken()
        gate.set()
        self.settle(0.7)
        self.assertEqual(s.inits(), 1, "initialize")
        s.refuse = LOST["404 text"]
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i)], [])

    def pipeline(self, n, sse):
        """All of it after EOF."""
        s = self.server(sse)
        left = [1]

        def before(rx, tx):
            if rx.rpc == "tools/call" and left[0]:
                left[0] = 0
                s.forget()
            return False
        s.before = before
        began = time.monotonic()
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, *[call(i, key=i)
                                    for i in range(1000, 1000 + n)]))
        self.assertEqual(status, 0, err)
        got = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(sorted(m["id"] for m in got),
                         [1] + list(range(1000, 1000 + n)))
        for m in got[1:]:
            self.in_time(m, began)
            self.assertIn("result", m)
            self.assertEqual(s.runs(m["id"]), 1)
        self.assertEqual(s.inits(), 2)
        self.deleted(s, s.made[1:])

    def pipeline_restart(self, n, sse):
        """A pipeline against a server that comes back after 1 s."""
        s = self.server(sse)
        left = [1]

        def before(rx, tx):
            if rx.rpc == "tools/call" and left[0]:
                left[0] = 0
                s.forget()
                s.down()
                threading.Timer(1, s.up).start()
                tx.ended, tx.keep = True, False
                return True
            return False
        s.before = before
        began = time.monotonic()
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, *[call(i, key=i)
                                    for i in range(1000, 1000 + n)]))
        self.assertEqual(status, 0, err)
        got = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(sorted(m["id"] for m in got),
                         [1] + list(range(1000, 1000 + n)))
        for m in got[1:]:
            if "error" in m:
                self.error(m, "maybe", "stream_lost", "session_lost")
            self.assertLessEqual(s.runs(m["id"]), 1)
        # one of them may have been cut
        self.assertLessEqual(s.inits(), 3)


for _name in ("eof", "term", "cancel", "cancel_held", "cancelled_loss",
              "pipeline", "pipeline_restart"):
    matrix(Ends, _name, getattr(Ends, _name))


class Questions(Load):
    """The session dies while the user is asked something."""

    def asking(self, n, how):
        s, p = self.start(True)
        asked = threading.Event()
        dead = threading.Event()
        lock = threading.Lock()
        count = []

        def tool(rx, tx):
            key = rx.json["params"]["arguments"]["key"]
            tx.sse()
            tx.event(request("q-%s" % key, "elicitation/create",
                             {"message": key}))
            with lock:
                count.append(rx)
                if len(count) == n:
                    asked.set()
            dead.wait(support.LIVE)
            tx.cut()
        s.methods["tools/call"] = tool
        ids = self.send(p, n)
        self.assertTrue(asked.wait(support.LIVE))
        questions = []
        for i in ids:
            m = p.find(lambda m: m.get("method") == "elicitation/create" and
                       m["params"]["message"] == i, 10)
            self.assertIsNotNone(m, i)
            questions.append(m["id"])
        s.methods["tools/call"] = s.tool
        return s, p, ids, questions, dead

    def cut(self, n, sse):
        """The server is killed: each question is taken back, each call gets
        an error, the late answers go nowhere."""
        s, p, ids, questions, dead = self.asking(n, "cut")
        s.forget()
        dead.set()
        for i in ids:
            self.error(p.answer(i), "maybe", "session_lost", "stream_lost",
                       words=["may have run"])
        self.works_again(s, p, 2)
        gone = {m["params"]["requestId"] for m in list(p.messages)
                if m.get("method") == "notifications/cancelled"}
        self.assertEqual(gone, set(questions))
        p.send(*[{"jsonrpc": "2.0", "id": q,
                  "result": {"action": "accept"}} for q in questions])
        self.settle(0.4)
        self.works_again_too(s, p)
        p.finish()
        self.assertEqual(s.replies, [])
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])
        self.assertEqual(s.inits(), 2)

    def works_again_too(self, s, p):
        self.assertEqual(p.tool(key="again").get("result"), {"key": "again"})

    def answered(self, n, sse):
        """The answers are refused as lost: not delivered, and said so."""
        s, p, ids, questions, dead = self.asking(n, "answered")
        s.forget()
        p.send(*[{"jsonrpc": "2.0", "id": q,
                  "result": {"action": "accept"}} for q in questions])
        self.assertIsNotNone(p.find(
            lambda m: "not delivered" in m.get("error", {})
            .get("message", ""), 5), "nobody is told")
        if n > 1:
            dead.set()
        for i in ids:
            self.error(p.answer(i), "maybe", "session_lost", "stream_lost")
        dead.set()
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def refused(self, n, sse):
        """A call that waits while another one's question is open: it did not
        run and is replayed; the one that asked is not."""
        s, p, ids, questions, dead = self.asking(1, "refused")
        s.refuse = self.together(s, n, LOST["404 text"])
        s.forget()
        more = self.send(p, n, first=2000)
        self.results(s, p, more)
        dead.set()
        self.error(p.answer(ids[0]), "maybe", "session_lost", "stream_lost")
        m = p.server_message("notifications/cancelled", 5)
        self.assertEqual(m["params"]["requestId"], questions[0])
        self.works_again(s, p, 2)
        p.finish()
        self.assertEqual(s.runs(ids[0]), 1)


for _name in ("cut", "answered", "refused"):
    matrix(Questions, _name, getattr(Questions, _name), sses=(True,))


class Gates(Load):
    """What stands between: busy servers, portals, proxies."""

    def retry_2(self, n, sse):
        """429, Retry-After: 2: waited for by what only reads, since a tool may
        have run before it was told so by a server of its own."""
        s, p = self.start(sse)
        p.ask("tools/list")
        busy = threading.Event()

        def before(rx, tx):
            if rx.rpc == "tools/call" and not busy.is_set():
                tx.text(429, "slow down", [("Retry-After", "2")])
                return True
            return False
        s.before = before
        begin = time.monotonic()
        ids = self.send(p, n, "safe")
        others = self.send(p, n, first=2000)
        for i in others:
            e = self.error(p.answer(i), "maybe", "upstream_unreachable")
            self.assertEqual((e["data"]["httpStatus"],
                              e["data"]["retryAfter"]), (429, 2))
        self.assertTrue(s.wait(
            lambda: len(s.seen("tools/call")) > 2 * n, 5))
        if time.monotonic() - begin > 1.9:
            raise support.Late("they are sent again already")
        busy.set()
        self.results(s, p, ids)
        self.assertGreater(time.monotonic() - begin, 1.9)
        self.within(time.monotonic() - begin, 8)
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 3 * n + 2)

    def retry_120(self, n, sse):
        """429, Retry-After: 120: said at once."""
        s, p = self.start(sse)
        p.ask("tools/list")
        s.methods["tools/call"] = text(429, "slow down",
                                       [("Retry-After", "120")])
        begin = time.monotonic()
        ids = self.send(p, n, "safe")
        for i in ids:
            e = self.error(p.answer(i), "maybe", "upstream_unreachable")
            self.assertEqual((e["data"]["httpStatus"],
                              e["data"]["retryAfter"]), (429, 120))
        self.within(time.monotonic() - begin, 4)
        s.methods["tools/call"] = s.tool
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual([i for i in ids if s.runs(i) != 1], [])

    def portal(self, n, sse):
        """The page of a network sign-in instead of everything."""
        s, p = self.start(sse)

        def page(rx, tx):
            tx.body(200, "<!DOCTYPE html><html><title>Hotel WiFi</title>"
                    "Your session has expired. Session not found. Please "
                    "sign in.</html>", "text/html; charset=utf-8")
            return True
        s.before = page
        ids = self.send(p, n)
        for i in ids:
            e = self.error(p.answer(i), None, "bad_upstream",
                           words=["web page", "browser"])
            self.assertEqual(e["data"]["httpStatus"], 200)
            self.assertIn(e["data"]["ran"], ("no", "maybe"))
        self.settle(0.3)
        s.before = None
        self.works_again(s, p, 1)
        p.finish()
        self.assertEqual([r for r in s.seen("initialize")][1:], [])

    def proxy(self, n, sse):
        """407: not tried again, nothing was sent."""
        s = self.server(sse)
        open_gate = threading.Event()
        open_gate.set()
        here = {}

        def way(rx, tx):
            if not open_gate.is_set():
                tx.text(407, "who?", [("Proxy-Authenticate",
                                       'Basic realm="p"')])
                return
            rx.target = "/mcp"
            with s.lock:
                s.requests.append(rx)
            here["server"] = tx.server
            tx.server = s
            s.route(rx, tx)
        x = self.http(way)
        p = self.splice("http://mcp.example.com/mcp", "--allow-http",
                        "--proxy", "http://127.0.0.1:%d" % x.port)
        p.send(init(1), INITIALIZED)
        self.assertIn("result", p.answer(1))
        self.results(s, p, self.send(p, n))
        open_gate.clear()

        def posts():        # the listen stream comes when it likes
            return sum(1 for r in x.requests if r.method == "POST")
        before = posts()
        ids = self.send(p, n, first=2000)
        for i in ids:
            e = self.our_error(p.answer(i), "proxy_refused", "no")
            self.assertIn("mcp.example.com", e["message"])
            self.assertIn("407", e["message"])
            self.assertIn("--proxy-user", e["message"])
        self.assertEqual(posts(), before + n)
        open_gate.set()
        self.results(s, p, self.send(p, 1, first=3000))
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual([i for i in ids if s.runs(i)], [])


for _name in ("retry_2", "retry_120", "portal", "proxy"):
    matrix(Gates, _name, getattr(Gates, _name))


if __name__ == "__main__":
    support.main(workers=12)
