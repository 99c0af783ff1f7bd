"""The GET stream, resumption, and answers that break off."""

import json
import threading
import time

import support
from support import INITIALIZED, call, init, note


def listens(s):
    """GETs that are no resumption of something."""
    return [r for r in s.seen(method="GET") if not r.get("Last-Event-ID")]


class Listen(support.Case):
    def test_opened_after_the_2xx_of_initialized(self):
        s = self.mcp()
        done = {}
        s.on_get = s.listen

        def slow(rx, tx):
            time.sleep(0.3)
            done["at"] = time.monotonic()
        s.on_note = slow
        p = self.splice(s)
        p.hello()
        s.stream()
        self.assertGreaterEqual(s.seen(method="GET")[0].time, done["at"])
        p.finish()

    def test_not_offered_is_never_retried(self):
        running = []
        for status in (405, 400, 406, 501, 404):
            s = self.mcp(on_get=lambda rx, tx, status=status:
                         tx.text(status, "no"))
            p = self.splice(s)
            p.hello()
            self.assertEqual(len(s.seen(method="GET")), 1)
            running.append((status, s, p))
        self.settle(1.6)
        for status, s, p in running:
            with self.subTest(status):
                self.assertIn("result", p.tool())
                p.finish()
                self.assertEqual(len(s.seen(method="GET")), 1)
                self.assertEqual(s.inits(), 1)

    def test_204_is_the_end_of_it(self):
        s = self.mcp()
        s.on_get = lambda rx, tx: tx.body(204)
        p = self.splice(s)
        p.hello()
        self.settle(2)
        p.finish()
        self.assertEqual(len(s.seen(method="GET")), 1)

    def test_404_with_the_words_on_the_first_get(self):
        """Another replica may know the session; reading it as a lost one would
        never end."""
        s = self.mcp()

        def elsewhere(rx, tx):
            s.on_get = s.listen
            tx.json({"jsonrpc": "2.0", "id": None, "error": {
                "code": -32001, "message": "Session not found"}}, 404)
        s.on_get = elsewhere
        p = self.splice(s)
        p.hello()
        s.stream(10)
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual(len(s.seen(method="GET")), 2)

    def test_409_waits_and_tries_again(self):
        s = self.mcp()
        left = [1]

        def get(rx, tx):
            if left[0]:
                left[0] -= 1
                tx.text(409, "another stream is open")
                return
            s.listen(rx, tx)
        s.on_get = get
        p = self.splice(s)
        p.hello()
        s.stream(10)
        gets = s.seen(method="GET")
        self.assertEqual(len(gets), 2)
        self.assertGreater(gets[1].time - gets[0].time, 0.3)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_503_tries_again(self):
        s = self.mcp()
        left = [1]

        def get(rx, tx):
            if left[0]:
                left[0] -= 1
                tx.text(503, "busy")
                return
            s.listen(rx, tx)
        s.on_get = get
        p = self.splice(s)
        p.hello()
        s.stream(10)
        p.finish()

    def test_reopened_with_last_event_id(self):
        for how in ("end", "cut", "reset"):
            with self.subTest(how):
                s = self.mcp()
                s.on_get = s.listen
                p = self.splice(s)
                p.hello()
                first = s.stream()
                first.event(note("notifications/a"), id="e:1 x", retry=100)
                first.event(note("notifications/b"), id="e:2 y")
                first.chunk("id: e3\ndata: ")      # never dispatched
                p.server_message("notifications/b")
                getattr(first, how)()
                second = s.stream()
                self.assertEqual(second.request.get("Last-Event-ID"),
                                 "e:2 y")
                self.assertEqual(second.request.sid, s.made[0])
                self.assertEqual(second.request.get("MCP-Protocol-Version"),
                                 "2025-11-25")
                second.event(note("notifications/c"))
                p.server_message("notifications/c")
                p.finish()
                self.assertEqual(s.inits(), 1)

    def test_reopened_without_an_id(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        first = s.stream()
        begin = time.monotonic()
        first.end()
        second = s.stream(10)
        self.assertIsNone(second.request.get("Last-Event-ID"))
        self.assertGreater(time.monotonic() - begin, 0.5)
        p.finish()

    @support.plain
    @support.alone
    def test_the_servers_retry(self):
        """Exactly as told: -50 ms, +200 ms."""
        for ms in (300, 700):
            s = self.mcp()
            s.on_get = s.listen
            p = self.splice(s)
            p.hello()
            first = s.stream()
            first.event("", id="x", retry=ms)
            self.settle(0.1)
            begin = time.monotonic()
            first.end()
            second = s.stream()
            waited = (second.request.time - begin) * 1000
            self.assertGreater(waited, ms - 50)
            if not support.sanitized():
                self.within(waited, ms + 200)
            p.finish()

    def test_retry_holds_for_later_drops(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        first = s.stream()
        first.event("", id="x", retry=1700)
        first.end()
        second = s.stream()
        begin = time.monotonic()
        second.end()
        s.stream()
        self.assertGreater(time.monotonic() - begin, 1.6)
        p.finish()

    @support.alone
    def test_no_storm(self):
        """A stream that ends at once, for ever, with retry: 0."""
        s = self.mcp()

        def ends(rx, tx):
            tx.sse()
            tx.event("", id="i", retry=0)
        s.on_get = ends
        p = self.splice(s)
        p.hello()
        self.settle(2)
        self.assertTrue(s.wait(lambda: len(s.seen(method="GET")) > 1))
        n = len(s.seen(method="GET"))
        self.assertLess(n, 25)
        self.assertIn("result", p.tool())
        p.finish()

    def test_comments_and_rubbish_keep_it(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        for rubbish in (": ping\n\n", "data: {oops\n\n", "data: 5\n\n",
                        "data: []\n\n", "event: x\ndata: {}\n\n",
                        "data: {\"jsonrpc\":\"2.0\",\"id\":99,"
                        "\"result\":{}}\n\n"):
            get.chunk(rubbish)
        get.event(note("notifications/after"))
        p.server_message("notifications/after")
        p.finish()
        self.assertEqual(len(s.seen(method="GET")), 1)

    def test_closed_at_the_end(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        p.finish()
        self.assertTrue(get.gone(5))

    def test_wrong_type_is_no_stream(self):
        s = self.mcp()
        s.on_get = lambda rx, tx: tx.body(200, "<html>", "text/html")
        p = self.splice(s)
        p.hello()
        self.settle(0.5)
        self.assertIn("result", p.tool())
        p.finish()
        self.assertLessEqual(len(s.seen(method="GET")), 2)

    def test_server_without_sessions_has_streams_too(self):
        s = self.mcp(stateful=False)
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        get.event(note("notifications/x"))
        p.server_message("notifications/x")
        p.finish()

    def test_get_404_later_is_no_loop(self):
        """The stream worked, then 404s; the session itself lives."""
        s = self.mcp()
        opened = []

        def get(rx, tx):
            opened.append(1)
            if len(opened) == 1:
                tx.sse()
                tx.event("", id="1", retry=100)
                return
            tx.text(404, "gone")
        s.on_get = get
        p = self.splice(s)
        p.hello()
        self.settle(1.5)
        self.assertIn("result", p.tool())
        p.finish()
        self.assertLessEqual(s.inits(), 2)
        self.assertLessEqual(len(opened), 5)


class Resume(support.Case):
    def cutting(self, how="end", polls=1, retry=100):
        """Calls get an id and are cut; GETs with that id go on."""
        s = self.mcp()
        left = [polls]
        ident = {}

        def start(rx, tx):
            ident["id"] = rx.json["id"]
            tx.sse()
            tx.event("", id="p-0", retry=retry)
            getattr(tx, how)()

        def get(rx, tx):
            last = rx.get("Last-Event-ID")
            if last is None:
                tx.text(405, "no")
                return
            left[0] -= 1
            tx.sse()
            if left[0] > 0:
                tx.event("", id="p-%d" % left[0])
                return
            tx.event(note("notifications/message", {"data": "resumed"}))
            tx.event({"jsonrpc": "2.0", "id": ident["id"],
                      "result": {"after": last}}, id="last")
        s.methods["tools/call"] = start
        s.on_get = get
        return s

    def test_resumed_and_answered(self):
        for how in ("end", "cut", "reset"):
            with self.subTest(how):
                s = self.cutting(how)
                p = self.splice(s)
                p.hello()
                self.assertEqual(p.tool()["result"], {"after": "p-0"})
                p.finish()
                self.assertEqual(p.count_messages("notifications/message"), 1)
                self.assertEqual(len(s.executed), 1)
                r = [r for r in s.seen(method="GET")
                     if r.get("Last-Event-ID")]
                self.assertEqual(len(r), 1)
                self.assertEqual(r[0].all("Accept"), ["text/event-stream"])
                self.assertEqual(r[0].sid, s.made[0])
                self.assertEqual(r[0].get("MCP-Protocol-Version"),
                                 "2025-11-25")
                self.assertEqual(s.seen("notifications/cancelled"), [])

    @support.plain
    def test_polling(self):
        """Twelve polls, each with a new id; retry was told once, and holds
        for the whole stream."""
        s = self.cutting(polls=12, retry=100)
        p = self.splice(s)
        p.hello()
        begin = time.monotonic()
        self.assertEqual(p.tool()["result"], {"after": "p-1"})
        self.assertGreater(time.monotonic() - begin, 1.1)
        self.within(time.monotonic() - begin, 6)
        p.finish()
        self.assertEqual([r.get("Last-Event-ID")
                          for r in s.seen(method="GET")
                          if r.get("Last-Event-ID")],
                         ["p-0"] + ["p-%d" % n for n in range(11, 0, -1)])
        self.assertEqual(len(s.executed), 1)

    @support.plain
    @support.alone
    def test_the_servers_retry(self):
        s = self.cutting(retry=500)
        times = {}
        before = s.methods["tools/call"]

        def start(rx, tx):
            times["cut"] = time.monotonic()
            before(rx, tx)
        s.methods["tools/call"] = start
        p = self.splice(s)
        p.hello()
        p.tool()
        p.finish()
        r = [r for r in s.seen(method="GET") if r.get("Last-Event-ID")][0]
        waited = (r.time - times["cut"]) * 1000
        self.assertGreater(waited, 450)
        if not support.sanitized():
            self.within(waited, 700)

    def test_both_streams_keep_their_own_ids(self):
        s = self.cutting()
        resume = s.on_get
        held = {}

        def get(rx, tx):
            last = rx.get("Last-Event-ID")
            if last is None or last.startswith("g-"):
                if not held:
                    held["tx"] = tx
                s.listen(rx, tx)
            else:
                resume(rx, tx)
        s.on_get = get
        p = self.splice(s)
        p.hello()
        listening = s.stream()
        listening.event(note("notifications/x"), id="g-1", retry=100)
        p.server_message("notifications/x")
        self.assertEqual(p.tool()["result"], {"after": "p-0"})
        listening.end()
        self.assertEqual(s.stream().request.get("Last-Event-ID"), "g-1")
        p.finish()

    def test_refused(self):
        """405 or 400: the answer is lost, the session is not."""
        for status in (405, 400):
            with self.subTest(status):
                s = self.cutting()
                s.on_get = lambda rx, tx: tx.text(status, "no")
                p = self.splice(s)
                p.hello()
                self.our_error(p.tool(), "stream_lost", "maybe")
                s.methods["tools/call"] = s.tool
                self.assertIn("result", p.tool())
                p.finish()
                self.assertEqual(s.inits(), 1)

    def test_cancel_while_it_waits_to_resume(self):
        s = self.cutting(retry=1000)
        p = self.splice(s)
        p.hello()
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.executed))
        self.settle(0.2)
        p.cancel(7)
        self.assertTrue(s.wait(lambda: s.seen("notifications/cancelled"), 5))
        self.settle(1.3)
        p.finish()
        self.assertEqual([r for r in s.seen(method="GET")
                          if r.get("Last-Event-ID")], [])

    def test_never_after_the_answer(self):
        s = self.mcp()

        def answers(rx, tx):
            tx.sse()
            tx.event("", id="a", retry=100)
            tx.answer({}, id="b")
            tx.reset()
        s.methods["tools/call"] = answers
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.tool()["result"], {})
        self.settle(0.6)
        p.finish()
        self.assertEqual([r for r in s.seen(method="GET")
                          if r.get("Last-Event-ID")], [])

    @support.plain
    def test_stream_that_stays_open_after_the_answer(self):
        s = self.mcp()
        gone = []

        def stays(rx, tx):
            tx.sse()
            tx.answer({})
            gone.append(tx.gone(20))
        s.methods["tools/call"] = stays
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.tool()["result"], {})
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 5)

    def test_drain_waits_for_the_resumption(self):
        s = self.cutting(retry=500)
        status, out, err = self.once([s.url], support.lines(
            init(1), INITIALIZED, call(2)))
        self.assertEqual(status, 0, err)
        self.assertIn({"jsonrpc": "2.0", "id": 2,
                       "result": {"after": "p-0"}},
                      [json.loads(x) for x in out.splitlines()])


class Silent(support.Case):
    """A session whose loop in the server is gone: each request gets the head of
    a stream, and no byte."""

    def test_dead_session(self):
        for how in ("end", "cut", "json"):
            with self.subTest(how):
                s = self.mcp()
                p = self.splice(s)
                p.hello()

                def silence(rx, tx):
                    if (rx.method == "POST" and rx.sid == s.made[0] and
                            "id" in (rx.json or {})):
                        if how == "json":
                            tx.body(200, b"", "application/json")
                            return True
                        tx.sse()
                        getattr(tx, how)()
                        return True
                s.before = silence
                a = p.start("tools/call", {"name": "x",
                                           "arguments": {"key": "unsafe"}})
                self.our_error(p.answer(a), "session_lost", "maybe")
                self.assertIn("result", p.tool(key="next"))
                p.finish()
                self.assertEqual(s.inits(), 2)
                self.assertEqual(s.runs("unsafe"), 0)


class Lost(support.Case):
    """What breaks without an id is an error at once, and never runs twice."""

    def lost(self, fn, *args):
        s = self.mcp()
        p = self.splice(s, *args)
        p.hello()
        p.tool()        # the connection is warm
        before = len(s.executed)
        s.methods["tools/call"] = fn
        begin = time.monotonic()
        e = self.our_error(p.tool("create_invoice"), "stream_lost", "maybe")
        self.within(time.monotonic() - begin, 3)
        self.assertIn("127.0.0.1", e["message"])
        self.assertIn("create_invoice", e["message"])
        self.settle(0.3)
        self.assertEqual(len(s.executed), before + 1, "ran twice")
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 1)

    @support.plain
    def test_before_any_byte(self):
        """The measured trap: libcurl sends a POST again by itself when a
        reused connection dies before the first byte of the answer."""
        self.lost(lambda rx, tx: tx.cut())

    @support.plain
    def test_before_any_byte_reset(self):
        self.lost(lambda rx, tx: tx.reset())

    @support.plain
    def test_in_the_status_line(self):
        def fn(rx, tx):
            tx.raw(b"HTTP/1.1 2")
            tx.cut()
        self.lost(fn)

    @support.plain
    def test_in_the_headers(self):
        def fn(rx, tx):
            tx.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            tx.reset()
        self.lost(fn)

    @support.plain
    def test_in_a_json_body(self):
        def fn(rx, tx):
            tx.head(200, [("Content-Type", "application/json")], 5000)
            tx.raw(b'{"jsonrpc":"2.0","id":')
            tx.cut()
        self.lost(fn)

    @support.plain
    def test_after_all_of_the_json_but_the_promised_rest(self):
        """Complete JSON, but the body is shorter than promised."""
        def fn(rx, tx):
            tx.head(200, [("Content-Type", "application/json")], 5000)
            tx.raw(b'{"jsonrpc":"2.0","id":1,"result":')
            tx.reset()
        self.lost(fn)

    @support.plain
    def test_in_an_sse_head(self):
        def fn(rx, tx):
            tx.sse()
            tx.reset()
        self.lost(fn)

    @support.plain
    def test_in_an_event(self):
        def fn(rx, tx):
            tx.sse()
            tx.event(note("notifications/progress", {"progress": 1,
                                                     "progressToken": 1}))
            tx.chunk('data: {"jsonrpc":')
            tx.cut()
        self.lost(fn)

    @support.plain
    def test_orderly_end_without_the_answer(self):
        def fn(rx, tx):
            tx.sse()
            tx.event(note("notifications/progress", {"progress": 1,
                                                     "progressToken": 1}))
        self.lost(fn)

    @support.plain
    def test_id_that_was_not_committed(self):
        """An id counts with its event's empty line only."""
        def fn(rx, tx):
            tx.sse()
            tx.chunk("id: 7\n")
            tx.cut()
        self.lost(fn)

    @support.plain
    def test_empty_id_resets(self):
        def fn(rx, tx):
            tx.sse()
            tx.event("", id="7")
            tx.event("", id="")
            tx.cut()
        self.lost(fn)

    def test_broken_http(self):
        s, p = self.pair()

        def fn(rx, tx):
            tx.raw(b"NOT HTTP AT ALL\r\n\r\n")
            tx.cut()
        s.methods["tools/call"] = fn
        self.our_error(p.tool(), ran="maybe")
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_a_stale_connection_is_no_loss(self):
        """Closed while idle: the next call takes a fresh one."""
        s, p = self.pair()

        def last(rx, tx):
            tx.result({})
            tx.cut()
        s.methods["tools/call"] = last
        for _ in range(5):
            self.assertEqual(p.tool()["result"], {})
            self.settle(0.05)
        p.finish()
        self.assertEqual(len(s.executed), 5)

    def test_replay_of_reads_is_at_most_once(self):
        """tools/list is safe to repeat; a server that always cuts it still
        gets an end."""
        s, p = self.pair()
        s.methods["tools/list"] = lambda rx, tx: tx.cut()
        self.our_error(p.ask("tools/list"), "stream_lost")
        p.finish()
        self.assertLessEqual(len(s.seen("tools/list")), 2)

    def test_replay_never(self):
        s, p = self.pair("--replay", "never")
        s.methods["tools/list"] = lambda rx, tx: tx.cut()
        self.our_error(p.ask("tools/list"), "stream_lost", "maybe")
        p.finish()
        self.assertEqual(len(s.seen("tools/list")), 1)

    @support.plain
    def test_call_timeout(self):
        s, p = self.pair("--call-timeout", "1")
        s.methods["tools/call"] = lambda rx, tx: s.closing.wait(30)
        begin = time.monotonic()
        self.our_error(p.tool(), "upstream_timeout", "maybe")
        self.assertGreater(time.monotonic() - begin, 0.9)
        self.within(time.monotonic() - begin, 5)
        p.finish()

    def test_any_byte_resets_the_call_timeout(self):
        s, p = self.pair("--call-timeout", "1")

        def slow(rx, tx):
            tx.sse()
            for _ in range(8):
                time.sleep(0.3)
                tx.chunk(": still here\n\n")
            tx.answer({})
        s.methods["tools/call"] = slow
        self.assertEqual(p.tool()["result"], {})
        p.finish()

    def test_many_at_once(self):
        """Fifty calls die in one reset: fifty errors, nothing twice."""
        s, p = self.pair()
        gate = threading.Event()

        def hold(rx, tx):
            gate.wait(support.LIVE)
            tx.reset()
        s.methods["tools/call"] = hold
        p.send(*[call(n) for n in range(50)])
        self.assertTrue(s.wait(lambda: len(s.executed) == 50))
        gate.set()
        for n in range(50):
            self.our_error(p.answer(n), "stream_lost", "maybe")
        p.finish()
        self.assertEqual(len(s.executed), 50)


if __name__ == "__main__":
    support.main()
