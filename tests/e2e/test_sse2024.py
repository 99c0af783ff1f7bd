"""HTTP+SSE of 2024-11-05: one stream for all answers, which is the session,
and an endpoint that the server names.  test_era_detect.py tests with which
requests the proxy detects this transport."""

import json
import time

import eraserver
import support
from eraserver import (ROOTS, SAMPLED, YES, Client, rpc_refusal,
                       text_refusal)
from support import INITIALIZED, call, init, lines


class Base(eraserver.Case):
    def start(self, *args, **kw):
        client = {k: kw.pop(k) for k in ("caps", "version") if k in kw}
        s = self.era("sse", **kw)
        return s, self.legacy(s, *args, **client)

    def works(self, s, p, seconds=support.LIVE):
        key = "key-%d" % self.count()
        began = time.monotonic()
        m = p.tool(key=key, seconds=seconds)
        self.in_time(m, began)
        self.assertEqual(p.said(m), {"key": key})
        self.assertEqual(s.ran(key), 1)

    def targets(self, s):
        """The target of each POST to an endpoint."""
        return [r.target for r in s.requests
                if r.method == "POST" and r.target != "/mcp"]


class Endpoint(Base):
    def good(self, **kw):
        s, p = self.start(**kw)
        self.works(s, p)
        p.finish()
        return s

    def test_relative(self):
        s = self.good()
        self.assertEqual(set(self.targets(s)),
                         {"/messages?sessionId=" + s.made[0]})

    def test_relative_to_the_path(self):
        s = self.good(endpoint="messages/?a=1&sessionId={sid}")
        self.assertEqual(set(self.targets(s)),
                         {"/messages/?a=1&sessionId=" + s.made[0]})

    def test_query_only(self):
        s = self.good(endpoint="?sessionId={sid}")
        self.assertEqual(set(self.targets(s)),
                         {"/mcp?sessionId=" + s.made[0]})

    def test_absolute(self):
        s = self.good(endpoint="{origin}/m?sessionId={sid}&x=%20")
        self.assertEqual(set(self.targets(s)),
                         {"/m?sessionId=%s&x=%%20" % s.made[0]})

    def test_scheme_relative(self):
        s = self.era("sse")
        s.endpoint = "//127.0.0.1:%d/m?sessionId={sid}" % s.port
        p = self.legacy(s)
        self.works(s, p)
        p.finish()

    def test_comments_and_retry_before_it(self):
        self.good(preamble=b"\xef\xbb\xbf: hello\n:\nretry: 100\n\n: x\r\n"
                  b"\r\n")

    def test_slow(self):
        s = self.era("sse")
        announce = s.announce
        s.announce = lambda session, tx=None: (time.sleep(1.5),
                                               announce(session, tx))
        p = self.legacy(s)
        self.works(s, p)
        p.finish()

    def refused(self, endpoint, other=None, seconds=8):
        """Nothing is sent to this endpoint, and the client gets an error."""
        s = self.era("sse", endpoint=endpoint)
        p = self.client(Client, s, "--no-memory", "--init-timeout", "5",
                        "--start", "wait", "-H", "X-Secret: do-not-send")
        p.send(init(1))
        e = self.our_error(p.answer(1, seconds), ran="no")
        p.finish()
        self.assertEqual(self.targets(s), [])
        if other:
            self.assertEqual(other.requests, [])
            self.assertEqual(other.connections, 0)
        return e

    def test_another_port(self):
        other = self.era("sse")
        self.refused("%s/messages?sessionId={sid}" % other.origin, other)

    def test_another_name_of_the_host(self):
        s = self.era("sse")
        s.endpoint = "http://localhost:%d/m?sessionId={sid}" % s.port
        p = self.client(Client, s, "--no-memory", "--init-timeout", "5",
                        "--start", "wait")
        p.send(init(1))
        self.our_error(p.answer(1, 8))
        p.finish()
        self.assertEqual(self.targets(s), [])

    def test_other_origins(self):
        other = self.era("sse")

        def one(form):
            self.refused(form, other)
        self.each(["https://127.0.0.1:%d/m?sessionId={sid}" % other.port,
                   "//127.0.0.1:%d/m?sessionId={sid}" % other.port,
                   "http://127.0.0.1@127.0.0.1:%d/m?sessionId={sid}" %
                   other.port,
                   "ftp://127.0.0.1/m?sessionId={sid}",
                   "file:///etc/passwd", "javascript:alert(1)"], one)

    def test_no_endpoint_at_all(self):
        """Without an endpoint event in 10 s, it is not this transport."""
        s = self.era("sse", endpoint=None)
        p = self.client(Client, s, "--no-memory", "--start", "wait")
        p.send(init(1))
        self.our_error(p.answer(1, 20))
        self.assertEqual(s.posts()[:2], ["POST initialize", "GET -"])
        p.finish()

    def test_another_event_first(self):
        """The first event must be endpoint: a later one is ignored."""
        s = self.era("sse", preamble=b"data: {\"jsonrpc\":\"2.0\","
                     b"\"method\":\"notifications/message\",\"params\":{"
                     b"\"level\":\"info\",\"data\":1}}\n\n")
        p = self.client(Client, s, "--no-memory", "--init-timeout", "5",
                        "--start", "wait")
        p.send(init(1))
        self.our_error(p.answer(1, 8))
        self.assertEqual(self.targets(s), [])
        self.assertEqual(p.count_messages("notifications/message"), 0)
        p.finish()

    def test_second_one(self):
        """A second endpoint event replaces the first."""
        s, p = self.start()
        self.works(s, p)
        session = list(s.sessions.values())[0]
        s.endpoint = "/other?sessionId={sid}"
        s.announce(session)
        self.let(0.2)
        before = len(s.requests)
        self.works(s, p)
        p.finish()
        self.assertEqual({r.target.split("?")[0]
                          for r in s.requests[before:]}, {"/other"})
        self.assertEqual(len(s.made), 1)

    def test_second_one_elsewhere(self):
        """A second endpoint at another origin gets nothing; the proxy begins
        a new session."""
        other = self.era("sse")
        s, p = self.start()
        self.works(s, p)
        good, s.endpoint = s.endpoint, other.origin + "/x?sessionId={sid}"
        session = list(s.sessions.values())[0]
        s.announce(session)
        s.endpoint = good
        self.let(0.2)
        self.works(s, p)
        p.finish()
        self.assertEqual(other.connections, 0)


class Dialogue(Base):
    def test_messages(self):
        s, p = self.start()
        self.assertEqual(p.hello_answer["result"]["serverInfo"],
                         eraserver.INFO)
        self.assertEqual(p.hello_answer["result"]["protocolVersion"],
                         "2025-11-25")
        self.assertIn("result", p.ask("tools/list"))
        self.assertIn("result", p.ask("prompts/list"))
        self.assertEqual(p.ask("resources/read", {"uri": "file:///no"})[
            "error"]["code"], -32002)
        self.assertEqual(p.ask("x/none")["error"]["code"], -32601)
        p.ask("logging/setLevel", {"level": "error"})
        p.tool("speaks")
        self.assertEqual([n["data"] for n in
                          p.notes("notifications/message")],
                         ["error", "critical", "alert", "emergency"])
        m = p.ask("tools/call", {"name": "steps",
                                 "_meta": {"progressToken": "t"}})
        self.assertIn("result", m)
        self.assertEqual([n["progress"] for n in
                          p.notes("notifications/progress")], [1, 2, 3])
        p.ask("resources/subscribe", {"uri": "file:///a"})
        s.notify("notifications/resources/updated", {"uri": "file:///a"})
        self.assertEqual(p.note("notifications/resources/updated"),
                         {"uri": "file:///a"})
        s.notify("notifications/tools/list_changed")
        p.note("notifications/tools/list_changed")
        p.finish()
        self.assertEqual(len(s.seen("initialize", "POST")), 2)
        self.assertEqual(len(s.made), 1)

    def test_what_goes_with_it(self):
        """GET and POSTs have the user's headers, and the version once it is
        known, but no session id; there is no DELETE."""
        s, p = self.start("-H", "X-Mine: yes", version="2025-06-18")
        self.works(s, p)
        p.finish()
        self.assertEqual([r.method for r in s.requests
                          if r.method not in ("GET", "POST")], [])
        self.assertEqual(len(s.seen(method="GET")), 1)
        for r in s.requests:
            self.assertEqual(r.get("X-Mine"), "yes")
            self.assertIsNone(r.sid)
        get = s.seen(method="GET")[0]
        self.assertIn("text/event-stream", get.get("Accept"))
        for r in s.seen("tools/call") + s.seen("notifications/initialized"):
            self.assertEqual(r.get("MCP-Protocol-Version"), "2025-06-18")
            self.assertEqual(r.get("Content-Type"), "application/json")
        first = [r for r in s.seen("initialize") if r.target != "/mcp"][0]
        self.assertIsNone(first.get("MCP-Protocol-Version"))

    def test_byte_for_byte(self):
        s = self.era("sse")
        p = self.client(Client, s)
        first = b'{"jsonrpc":"2.0", "id":"\\u0061", "method":"initialize",' \
            b'"params":{"protocolVersion":"2025-06-18","capabilities":' \
            b'{"x":1.0},"clientInfo":{"version":"1","name":"n"}}}'
        p.send(first)
        p.answer("a")
        p.send(INITIALIZED)
        line = b'{"id":1.50,"params":{"name":"raw","arguments":{"result":' \
            b'{"n":12345678901234567890,"f":1.0}},"a":1,"a":2},"jsonrpc":' \
            b'"2.0","method":"tools/call"}'
        p.send(line)
        p.answer(1.5)
        p.finish()
        self.assertEqual({r.body for r in s.seen("initialize")}, {first})
        self.assertEqual(s.seen("tools/call")[0].body, line)
        self.assertTrue(any(b'1.50' in x for x, _ in p.lines))

    def test_questions(self):
        s, p = self.start()
        ident = p.start("tools/call", {"name": "many",
                                       "arguments": {"key": 1}})
        for method in eraserver.ANSWERS:
            p.reply(p.question(method))
        self.assertEqual(p.said(p.answer(ident)),
                         {"f": YES, "r": ROOTS, "s": SAMPLED})
        ident = p.start("tools/call", {"name": "url"})
        q = p.question("elicitation/create", 1)
        self.assertEqual(q["params"]["mode"], "url")
        p.reply(q, error={"code": -1, "message": "no"})
        self.assertEqual(p.said(p.answer(ident)),
                         {"refused": {"code": -1, "message": "no"}})
        p.finish()
        self.assertEqual(s.ran(1), 1)

    def test_ping_of_the_server(self):
        s, p = self.start()
        session = list(s.sessions.values())[0]
        ident, box = s.question()
        session.push({"jsonrpc": "2.0", "id": ident, "method": "ping"})
        q = p.find(lambda m: m.get("method") == "ping", 1)
        if q:                   # else the proxy has answered
            p.reply(q, {})
        self.assertEqual(box.get(timeout=support.LIVE)["result"], {})
        p.finish()

    def test_answer_before_the_202(self):
        s, p = self.start(answer_first=True)
        for n in range(5):
            self.works(s, p)
        p.finish()
        self.assertEqual(len(s.made), 1)

    def test_any_2xx(self):
        for accepted in ((200, ""), (204, b""), (202, '{"jsonrpc":"2.0",'
                         '"id":101,"result":{"wrong":1}}')):
            s, p = self.start(accepted=accepted)
            self.works(s, p)
            p.finish()

    def test_many_at_once(self):
        s, p = self.start()
        ids = [p.start("tools/call", {"name": "echo",
                                      "arguments": {"key": n}})
               for n in range(60)]
        for n, ident in enumerate(ids):
            self.assertEqual(p.said(p.answer(ident)), {"key": n})
        p.finish()
        self.assertEqual(len(s.effects), 60)

    def test_a_large_answer(self):
        s, p = self.start()
        text = "x" * 2000000
        self.assertEqual(p.said(p.tool(big=text)), {"big": text})
        p.finish()

    def test_cancel(self):
        """The server gets the cancel; the call gets no answer, and the stream
        stays open."""
        s, p = self.start()
        ident = p.start("tools/call", {"name": "holds"})
        self.assertTrue(s.wait(lambda: s.effects, 5))
        p.cancel(ident)
        self.assertTrue(s.wait(lambda: s.cancelled == [ident], 5))
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.made), 1)

    def test_eof_drains(self):
        """After EOF the open call is answered, then the stream is closed."""
        s, p = self.start()
        ident = p.start("tools/call", {"name": "holds"})
        self.assertTrue(s.wait(lambda: s.effects, 5))
        p.close()
        self.settle(0.3)
        self.assertTrue(p.alive())
        s.release.set()
        p.answer(ident)
        p.finish(seconds=5)
        self.assertTrue(s.wait(lambda: not s.sessions, 5))
        self.assertEqual(len(s.seen(method="DELETE")), 0)

    def test_piped(self):
        """The client writes everything at once, then closes stdin."""
        s = self.era("sse")
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, call(2, key="p"), call(3, key="q")))
        self.assertEqual(status, 0, err)
        self.assertEqual({json.loads(x)["id"] for x in out.splitlines()},
                         {1, 2, 3})
        self.assertEqual((s.ran("p"), s.ran("q")), (1, 1))

    @support.plain
    def test_signal(self):
        s, p = self.start()
        begin = time.monotonic()
        p.proc.terminate()
        self.assertEqual(p.wait(5), 0)
        self.within(time.monotonic() - begin, 2)
        p.finished = True
        p.shut()


class Loss(Base):
    def idle(self, how):
        """The stream ends while no call runs: the client notices nothing."""
        s, p = self.start()
        p.ask("logging/setLevel", {"level": "error"})
        p.ask("resources/subscribe", {"uri": "file:///a"})
        p.ask("tools/list")
        self.works(s, p)
        s.tools.popitem()
        s.become("sse", how)
        self.let(0.3)
        self.works(s, p)
        self.works(s, p)
        self.assertTrue(s.wait(lambda: len(s.levels) == 2, 5))
        self.assertTrue(s.wait(lambda: any(
            x.subscribed == {"file:///a"} for x in s.sessions.values()), 5))
        p.note("notifications/tools/list_changed")
        p.finish()
        self.assertEqual(len(s.made), 2)
        asked = [r.json["params"] for r in s.seen("initialize")]
        self.assertEqual(asked, asked[:1] * len(asked))

    def test_ended(self):
        self.idle("end")

    def test_cut(self):
        self.idle("cut")

    def test_forgotten(self):
        """A POST gets a 404 (or 400) while the old stream stays open."""
        for refusal in (text_refusal(404, "Session not found"),
                        text_refusal(400, "No transport found for "
                                     "sessionId"),
                        text_refusal(404, ""),
                        eraserver.rpc_refusal(-32001, "Session not found",
                                              404)):
            s, p = self.start(dead_refuse=refusal)
            self.works(s, p)
            old = list(s.sessions.values())[0]
            s.become("sse", "keep")
            self.works(s, p)
            self.assertEqual(len(s.made), 2)
            self.assertTrue(s.wait(lambda: not old.streams, 5),
                            "the old stream is kept")
            p.finish()

    def lost_while_it_ran(self, name, how="cut"):
        s, p = self.start()
        ident = p.start("tools/call", {"name": name,
                                       "arguments": {"key": "k"}})
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        if how == "cut":
            s.down()
            s.up()
        else:
            for session in list(s.sessions.values()):
                session.ended = True
                self.assertTrue(s.wait(lambda: not session.streams))
        s.release.set()
        return s, p, p.answer(ident)

    def test_while_it_ran(self):
        """A lost call is not run again, and gets an error that says so."""
        for how in ("cut", "end"):
            s, p, m = self.lost_while_it_ran("holds", how)
            self.our_error(m, ran="maybe")
            self.works(s, p)
            p.finish()
            self.assertEqual(s.ran("k"), 1)

    def test_while_a_safe_one_ran(self):
        """A tool that only reads is run again."""
        s = self.era("sse")
        spec = dict(s.tools["reads"][0])
        s.tools["holds"] = (spec, eraserver.holds)
        p = self.legacy(s)
        p.ask("tools/list")
        ident = p.start("tools/call", {"name": "holds",
                                       "arguments": {"key": "k"}})
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        s.release.set()
        s.down()
        s.up()
        self.assertEqual(p.said(p.answer(ident)), "released")
        p.finish()
        self.assertLessEqual(s.ran("k"), 2)

    def test_forgotten_while_it_ran(self):
        """Another call finds that the session is gone; the running call is
        answered on the old stream, or gets an error with "maybe"."""
        for name in ("holds", "form"):
            s, p = self.start()
            ident = p.start("tools/call", {"name": name,
                                           "arguments": {"key": "k"}})
            if name == "form":
                p.question("elicitation/create")
            else:
                self.assertTrue(s.wait(lambda: s.ran("k"), 5))
            s.become("sse", "keep")
            self.works(s, p)
            s.release.set()
            m = p.answer(ident, 5)
            if "error" in m:
                self.our_error(m, ran="maybe")
            self.works(s, p)
            p.finish()
            self.assertLessEqual(s.ran("k"), 1)

    def test_many_lost_at_once(self):
        """20 calls share one new session; each runs once."""
        s, p = self.start(dead_refuse=text_refusal(404, "session gone"))
        self.works(s, p)
        s.become("sse", "keep")
        ids = [p.start("tools/call", {"name": "echo",
                                      "arguments": {"key": n}})
               for n in range(20)]
        for n, ident in enumerate(ids):
            self.assertEqual(p.said(p.answer(ident)), {"key": n})
            self.assertEqual(s.ran(n), 1)
        p.finish()
        self.assertEqual(len(s.made), 2)

    def test_open_question_is_withdrawn(self):
        s, p = self.start()
        ident = p.start("tools/call", {"name": "form"})
        q = p.question("elicitation/create")
        s.become("sse", "cut")
        self.our_error(p.answer(ident), ran="maybe")
        self.assertEqual(p.note("notifications/cancelled")["requestId"],
                         q["id"])
        p.reply(q)
        self.works(s, p)
        p.finish()
        self.assertEqual(s.effects.count(("form", None)), 0)

    def test_server_is_away(self):
        """The server's port is closed for a while: the call waits."""
        s, p = self.start()
        self.works(s, p)
        s.down()
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "w"}})
        self.settle(1.0)
        s.up()
        self.assertEqual(p.said(p.answer(ident)), {"key": "w"})
        p.finish()
        self.assertEqual(s.ran("w"), 1)

    def test_gateway_without_its_server(self):
        """Whatever a gateway answers while the server is away, the call
        waits."""
        ways = {
            "404": text_refusal(404, "<html>404</html>"),
            "404 -32000": rpc_refusal(-32000, "no upstream", 404, ident=None),
            "500": text_refusal(500, "no upstream"),
            "503": text_refusal(503, "no upstream"),
            "GET 404": lambda rx, tx: tx.text(404 if rx.method == "GET" else
                                              405, "no"),
        }

        def one(way):
            s, p = self.start("--no-memory")
            self.works(s, p)
            gets = []

            def away(rx, tx):
                if rx.method == "GET":
                    gets.append(rx)
                if len(gets) > 2 or rx.target != "/mcp":
                    return False
                ways[way](rx, tx)
                return True
            s.before = away
            s.become("sse", "end")
            self.works(s, p)
            p.finish()
        self.each(ways, one)

    def test_cookie_of_a_replica_that_is_gone(self):
        s = self.era("sse")
        s.before = lambda rx, tx: tx.extra.append(("Set-Cookie", "lb=node7"))
        p = self.legacy(s)
        self.works(s, p)
        s.before = lambda rx, tx: rx.method == "GET" and \
            rx.get("Cookie") and not tx.text(404, "no backend")
        s.become("sse", "end")
        self.works(s, p)
        p.finish()

    def test_endless(self):
        """A stream that always ends at once does not cause a request storm."""
        s = self.era("sse")
        p = self.legacy(s)
        self.works(s, p)

        def short(rx, tx):
            if rx.method == "GET":
                tx.sse()
                return True
            return False
        s.before = short
        s.become("sse", "end")
        self.let(0.2)
        before = len(s.requests)
        self.our_error(p.tool(key="never", seconds=40))
        self.assertLess(len(s.requests) - before, 60)
        self.assertEqual(s.ran("never"), 0)
        s.before = None
        p.finish()


class Hostile(Base):
    """Bad bytes on the stream harm no other call."""

    def test_junk_on_the_stream(self):
        s, p = self.start()
        tx = list(s.sessions.values())[0].streams[-1]
        result = {"jsonrpc": "2.0", "id": 101, "result": {"x": 1}}
        for chunk in (b"data: {not json\n\n", b"event: other\ndata: {}\n\n",
                      b"data:\n\n", b"id: 5\n\n", b"event: message\n\n",
                      b": comment\r\n\r\n", b"retry: 1\n\n",
                      b"data: []\n\n", b"data: 5\n\n", b"data: \xff\n\n",
                      b'data: {"jsonrpc":"2.0","id":999,"result":{}}\n\n',
                      b'data: {"jsonrpc":"2.0","id":null,"error":'
                      b'{"code":1,"message":"x"}}\n\n',
                      b'data: {"jsonrpc":"2.0","id":"hello","result":'
                      b'{"again":1}}\n\n'):
            tx.chunk(chunk)
        self.works(s, p)
        ident = p.start("tools/call", {"name": "holds",
                                       "arguments": {"key": "k"}})
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        result["id"] = ident
        for _ in range(3):      # and a fourth by the tool itself
            tx.event(result)
        self.assertEqual(p.answer(ident)["result"], {"x": 1})
        s.release.set()
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.made), 1)

    def test_pieces(self):
        """The stream's bytes come one by one."""
        s = self.era("sse")
        p = self.legacy(s)
        session = list(s.sessions.values())[0]
        tx = session.streams[-1]
        data = b"\r\ndata: " + json.dumps({
            "jsonrpc": "2.0", "method": "notifications/message", "params": {
                "level": "info", "data": "\u00e9" * 20}},
            ensure_ascii=False).encode() + b"\r\n\r\n"
        for n in range(len(data)):
            tx.chunk(data[n:n + 1])
        self.assertEqual(p.note("notifications/message")["data"],
                         "\u00e9" * 20)
        self.works(s, p)
        p.finish()

    def test_half_an_event_at_the_end(self):
        """Half an event is not an answer: the call is lost with the stream."""
        s, p = self.start()
        session = list(s.sessions.values())[0]
        ident = p.start("tools/call", {"name": "holds",
                                       "arguments": {"key": "k"}})
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        session.streams[-1].chunk(b'data: {"jsonrpc":"2.0","id":%d,"result":'
                                  b'{}\n' % ident)
        session.ended = True
        self.our_error(p.answer(ident), ran="maybe")
        s.release.set()
        self.works(s, p)
        p.finish()

    def test_answer_in_an_odd_event(self):
        """An event counts as the answer even without its blank line, and with
        any event type."""
        s, p = self.start()
        session = list(s.sessions.values())[0]
        for n, text in enumerate((b"data: %s\n", b"\nevent: error\ndata: %s\n\n",
                                  b"event: x\ndata: %s")):
            key = "k%d" % n
            ident = p.start("tools/call", {"name": "holds",
                                           "arguments": {"key": key}})
            self.assertTrue(s.wait(lambda: s.ran(key), 5))
            session.streams[-1].chunk(text % (
                b'{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}' % (ident, n)))
            self.assertEqual(p.answer(ident).get("result"), {"n": n})
        session.streams[-1].chunk("\n\n")
        s.release.set()
        self.works(s, p)
        p.finish()

    def test_odd_endpoints(self):
        """initialize gets an error, and nothing is sent to another server."""
        def one(data):
            s = self.era("sse", endpoint=None)
            s.preamble = b"event: endpoint\n" + data + b"\n\n"
            p = self.client(Client, s, "--no-memory", "--init-timeout", "4",
                            "--start", "wait")
            p.send(init(1))
            self.assertIn("error", p.answer(1, 12))
            p.finish()
            self.assertTrue(all(r.target.startswith("/")
                                for r in s.requests))
        self.each([b"data:", b"data: http://", b"data: \x01\x7f",
                   b"data: //", b"data: http://[::1", b"data: \xff\xfe",
                   b"data: " + b"/x" * 40000, b"data: /a\ndata: /b",
                   b"data: {\"url\":\"/m\"}"], one)

    def test_many_questions(self):
        """The server asks more questions than the client answers."""
        s, p = self.start()
        self.works(s, p)
        self.settle(0.2)
        session = list(s.sessions.values())[0]
        for n in range(400):
            session.push({"jsonrpc": "2.0", "id": "q%d" % n,
                          "method": "roots/list"})
        self.works(s, p)
        p.question("roots/list", 200)
        p.finish(seconds=8)
        s.faults.clear()


if __name__ == "__main__":
    support.main()
