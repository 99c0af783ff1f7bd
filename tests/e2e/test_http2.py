"""HTTP/2 and its faults.  Each test checks that every request is answered,
that no unsafe call runs twice, and that the error says rightly if it ran."""

import socket
import threading
import time

import faultserver
import h2server
import support
import test_tls
from support import INITIALIZED, call, init, note
from test_tls import context, file


class Relay:
    """Passes bytes on to a server, until black_hole() makes it drop them: the
    connections stay open, and TCP acknowledges the dropped bytes."""

    def __init__(self, server):
        self.server = server
        self.connections = 0
        self.holes = set()
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.url = "https://127.0.0.1:%d/mcp" % self.sock.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.sock.accept()[0]
                far = socket.create_connection(("127.0.0.1",
                                                self.server.port))
            except OSError:
                return
            self.connections += 1
            for end in near, far:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self.copy, daemon=True, args=ends +
                                 (self.connections,)).start()

    def copy(self, here, there, number):
        try:
            while True:
                data = here.recv(65536)
                if number in self.holes:
                    if not data:
                        break
                    continue
                if not data:
                    break
                there.sendall(data)
        except OSError:
            pass
        faultserver.shut(here)
        faultserver.shut(there)

    def black_hole(self):
        """Drops all bytes of the present connections from now on."""
        self.holes = set(range(1, self.connections + 1))

    def close(self):
        faultserver.shut(self.sock)


class Http2(support.Case):
    def two(self, *args, **kw):
        """A server, and a proxy that has done the handshake in HTTP/2."""
        through = kw.pop("through", None)
        listens = kw.pop("listens", True)
        s = h2server.H2Mcp(tls=context("one"), **kw)
        self.servers.append(s)
        if listens:
            s.on_get = s.listen
        relay = through(s) if through else None
        if relay:
            self.addCleanup(relay.close)
        p = self.splice(s, "--cacert", file("ca1.pem"), "--http2", *args) \
            if relay is None else \
            self.splice(relay.url, "--cacert", file("ca1.pem"), "--http2",
                        *args)
        p.server = s
        p.hello()
        if listens:
            s.stream()
        return (s, p, relay) if relay else (s, p)

    def first_call(self, server, fault, times=1):
        """Makes the fault happen to the next `times` POSTs."""
        left = [times]

        def on_stream(reply):
            if reply.request.method != "POST" or left[0] == 0:
                return False
            left[0] -= 1
            return fault(reply)
        server.on_stream = on_stream

    def begin(self, server, p, key, work):
        """Starts a call; work(rx, tx) runs when this returns."""
        begun = threading.Event()

        def run(rx, tx):
            begun.set()
            work(rx, tx)
        server.methods["tools/call"] = run
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": key}})
        self.assertTrue(begun.wait(faultserver.PATIENCE))
        server.methods["tools/call"] = server.tool
        return ident

    def works(self, server, p, key):
        """An unsafe call is answered, and ran once."""
        self.assertIn("result", p.tool(key=key), p.err())
        self.assertEqual(server.runs(key), 1)

    # no fault

    def test_one_connection(self):
        """Calls at once and the listen stream share the connection."""
        s, p = self.two()
        for n in range(3):
            ids = [p.start("tools/call", {"name": "echo", "arguments": {
                "ms": 20, "key": "%d %d" % (n, i)}}) for i in range(10)]
            for i in ids:
                self.assertIn("result", p.answer(i))
        p.finish()
        self.assertEqual({r.version for r in s.requests}, {"HTTP/2"})
        self.assertEqual(s.connections, 1)
        self.deleted(s, s.made)

    def test_server_without(self):
        """If the server has no HTTP/2, or with --no-http2, the proxy uses
        HTTP/1.1."""
        for tls, args in ((context("one"), ()),
                          (None, ()), (None, ("--no-http2",))):
            s = h2server.H2Mcp(tls=context("one")) if tls is None else \
                faultserver.Mcp(tls=tls)
            self.servers.append(s)
            p = self.splice(s, "--cacert", file("ca1.pem"), "--http2", *args)
            p.hello()
            self.works(s, p, "a")
            p.finish()
            self.assertEqual(s.requests[0].version,
                             "HTTP/2" if tls is None and not args else
                             "HTTP/1.1")

    def test_large(self):
        """Requests and answers far larger than the windows, at once."""
        s, p = self.two()
        text = "x" * 4000000
        ids = [p.start("tools/call", {"name": "echo", "arguments": {
            "key": str(i), "text": text}}) for i in range(3)]
        for i in ids:
            answer = p.answer(i)
            self.assertIn("result", answer, p.err()[-2000:])
            self.assertIn(text, answer["result"]["content"][0]["text"])
        p.finish()
        self.assertEqual(s.connections, 1)

    def test_lost_session(self):
        s, p = self.two()
        s.forget()
        self.works(s, p, "a")
        p.finish()
        self.assertEqual(s.inits(), 2)

    # refused unprocessed

    def refuse(self, reply):
        reply.rst(h2server.REFUSED_STREAM)
        return True

    @support.plain
    def test_refused_stream(self):
        """REFUSED_STREAM proves that the call did not run: it is resent."""
        s, p = self.two()
        self.first_call(s, self.refuse)
        begin = time.monotonic()
        self.works(s, p, "a")
        self.within(time.monotonic() - begin, 1.5)
        self.works(s, p, "b")
        p.finish()

    def test_refused_stream_at_first(self):
        """REFUSED_STREAM for the first request on a connection."""
        s = h2server.H2Mcp(tls=context("one"))
        self.servers.append(s)
        self.first_call(s, self.refuse)
        p = self.splice(s, "--cacert", file("ca1.pem"), "--http2")
        p.hello()
        self.works(s, p, "a")
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_refused_for_long(self):
        """REFUSED_STREAM more often than libcurl itself retries."""
        s, p = self.two()
        self.first_call(s, self.refuse, 8)
        self.works(s, p, "a")
        p.finish()

    def test_refused_for_ever(self):
        s, p = self.two("--retry-window", "1")
        self.first_call(s, self.refuse, -1)
        self.our_error(p.tool(key="a"), "upstream_unreachable", "no")
        s.on_stream = None
        self.works(s, p, "b")
        p.finish()
        self.assertEqual(s.runs("a"), 0)

    def test_refused_after_its_head(self):
        """REFUSED_STREAM after the answer has begun proves nothing, and a
        refusal proves nothing about the next request."""
        s, p = self.two()

        def head_then_refuse(rx, tx):
            tx.head(200, [("Content-Type", "application/json")])
            tx.chunk("{")
            self.let(0.1)
            tx.rst(h2server.REFUSED_STREAM)
        s.methods["tools/call"] = head_then_refuse
        for key in "ab":
            self.our_error(p.tool(key=key), "stream_lost", "maybe")
        s.methods["tools/call"] = lambda rx, tx: tx.cut()
        for key in "cde":
            self.our_error(p.tool(key=key), "stream_lost", "maybe")
        p.finish()
        self.assertEqual([s.runs(key) for key in "abcde"], [1] * 5)

    @support.plain
    def test_goaway_before(self):
        """GOAWAY names a lower last stream: the call did not run."""
        s, p = self.two()

        def fault(reply):
            reply.connection.goaway(reply.stream - 2)
            return True
        self.first_call(s, fault)
        begin = time.monotonic()
        self.works(s, p, "a")
        self.within(time.monotonic() - begin, 1.5)
        self.works(s, p, "b")
        p.finish()

    def test_goaway_among_many(self):
        """GOAWAY covers the first five calls, which are answered; the others
        are sent again."""
        s, p = self.two()
        seen = []

        def on_stream(reply):
            if reply.request.method != "POST" or \
                    reply.connection is not s.two[0]:
                return False
            seen.append(reply)
            if len(seen) == 10:
                reply.connection.goaway(seen[4].stream)
            return len(seen) > 5
        s.on_stream = on_stream
        ids = [p.start("tools/call", {"name": "echo", "arguments": {
            "ms": 100, "key": str(i)}}) for i in range(20)]
        for i in ids:
            self.assertIn("result", p.answer(i), p.err())
        p.finish()
        self.assertEqual([s.runs(str(i)) for i in range(20)], [1] * 20)

    def test_goaway_while_idle(self):
        """GOAWAY comes between two calls, and the connection stays open."""
        for listens in (True, False):
            s, p = self.two(listens=listens)
            for key in "abc":
                s.two[-1].goaway()
                self.settle(0.1)
                self.works(s, p, key)
            p.finish()

    def test_goaway_then_answer(self):
        """GOAWAY covers the running call, which is then answered."""
        s, p = self.two()

        def slow(rx, tx):
            tx.connection.goaway()
            self.settle(0.2)
            s.tool(rx, tx)
        s.methods["tools/call"] = slow
        self.works(s, p, "a")
        p.finish()

    def test_goaway_then_cut(self):
        """GOAWAY covers the call, which is then cut: it may have run."""
        s, p = self.two()

        def fault(rx, tx):
            tx.connection.goaway()
            tx.cut()
        s.methods["tools/call"] = fault
        self.our_error(p.tool(key="a"), "stream_lost", "maybe")
        s.methods["tools/call"] = s.tool
        self.works(s, p, "b")
        p.finish()
        self.assertEqual(s.runs("a"), 1)

    # may have run

    def test_rst_stream(self):
        """After other RST_STREAM codes the connection is still used."""
        s, p = self.two()
        codes = (h2server.NO_ERROR, h2server.INTERNAL_ERROR,
                 h2server.CANCEL, h2server.ENHANCE_YOUR_CALM)
        over = threading.Event()
        slow = self.begin(s, p, "slow", lambda rx, tx: (
            over.wait(faultserver.PATIENCE), s.tool(rx, tx)))
        for code in codes:
            s.methods["tools/call"] = lambda rx, tx: tx.rst(code)
            self.our_error(p.tool(key=str(code)), "stream_lost", "maybe")
        s.methods["tools/call"] = s.tool
        over.set()
        self.assertIn("result", p.answer(slow))
        self.works(s, p, "last")
        p.finish()
        self.assertEqual([s.runs(str(code)) for code in codes],
                         [1] * len(codes))

    def broken(self, method):
        """The server's answers to this method have a Connection header, as
        with Tomcat and the Java SDK, which HTTP/2 forbids."""
        s, p = self.two()
        whole = s.methods.get(method, s.anything)
        s.methods[method] = lambda rx, tx: whole(rx, tx) \
            if rx.version != "HTTP/2" else tx.head(200, [
                ("connection", "keep-alive"),
                ("content-type", "application/json")])
        return s, p

    def test_protocol_error(self):
        """After a protocol error, the proxy uses HTTP/1.1."""
        s, p = self.broken("tools/call")
        self.our_error(p.tool(key="a"), "stream_lost", "maybe")
        self.works(s, p, "b")
        p.finish()
        self.assertEqual(s.runs("a"), 1)
        self.assertEqual(s.requests[-1].version, "HTTP/1.1")

    def test_protocol_error_of_all_answers(self):
        """A ping gets the protocol error before the first call."""
        s = h2server.H2Mcp(tls=context("one"))
        self.servers.append(s)
        s.before = lambda rx, tx: rx.version == "HTTP/2" and \
            rx.rpc in ("ping", "tools/call") and not tx.head(200, [
                ("connection", "keep-alive"),
                ("content-type", "application/json")])
        p = self.splice(s, "--cacert", file("ca1.pem"), "--http2")
        p.hello()
        self.works(s, p, "a")
        p.finish()
        self.assertEqual(s.requests[0].version, "HTTP/2")

    def test_protocol_error_of_what_is_safe(self):
        s, p = self.broken("tools/list")
        self.assertIn("result", p.ask("tools/list"))
        p.finish()
        self.assertEqual([r.version for r in s.seen("tools/list")],
                         ["HTTP/2", "HTTP/1.1"])

    def test_http_1_1_required(self):
        """HTTP_1_1_REQUIRED does not prove that the call did not run; later
        calls use HTTP/1.1."""
        s, p = self.two()
        s.methods["tools/call"] = \
            lambda rx, tx: tx.rst(h2server.HTTP_1_1_REQUIRED)
        self.our_error(p.tool(key="a"), "stream_lost", "maybe")
        s.methods["tools/call"] = s.tool
        self.works(s, p, "b")
        p.finish()
        self.assertEqual(s.runs("a"), 1)
        self.assertEqual(s.requests[-1].version, "HTTP/1.1")

    def test_http_1_1_required_at_first(self):
        s = h2server.H2Mcp(tls=context("one"))
        self.servers.append(s)
        self.first_call(s, lambda reply: not reply.rst(
            h2server.HTTP_1_1_REQUIRED), -1)
        p = self.splice(s, "--cacert", file("ca1.pem"), "--http2")
        p.hello()
        self.works(s, p, "a")
        p.finish()

    def ten_end_at_once(self, end):
        """end(rx, tx) ends the connection while ten calls run."""
        s, p = self.two()
        keys = [str(i) for i in range(10)]
        s.methods["tools/call"] = lambda rx, tx: (
            s.wait(lambda: all(s.runs(key) for key in keys)), end(rx, tx))
        ids = [p.start("tools/call", {"name": "echo", "arguments": {
            "key": key}}) for key in keys]
        for i in ids:
            self.our_error(p.answer(i), "stream_lost", "maybe")
        s.methods["tools/call"] = s.tool
        self.works(s, p, "after")
        p.finish()
        self.assertEqual([s.runs(key) for key in keys], [1] * 10)

    def test_cut_never_runs_twice(self):
        """The connection breaks during many calls: none runs twice."""
        self.ten_end_at_once(lambda rx, tx: tx.cut())

    def test_end_of_tls(self):
        """TLS ends during many calls, but TCP does not: all end at once."""
        def end(rx, tx):
            if rx.json["params"]["arguments"]["key"] == "0":
                tx.connection.end_tls()
            tx.gone(faultserver.PATIENCE)
        self.ten_end_at_once(end)

    # silence

    @support.plain
    def test_black_hole(self):
        """The call times out, and the connection is not used any more."""
        s, p, relay = self.two("--call-timeout", "3", through=Relay)
        self.works(s, p, "a")
        relay.black_hole()
        self.our_error(p.tool(key="b"), "upstream_timeout", "maybe")
        begin = time.monotonic()
        self.works(s, p, "c")
        self.within(time.monotonic() - begin, 1)
        p.finish()
        self.assertEqual(s.runs("b"), 0)

    def test_black_hole_in_a_call(self):
        """The call ran, and its answer never comes."""
        s, p, relay = self.two("--call-timeout", "3", through=Relay)

        def fault(rx, tx):
            relay.black_hole()
            s.tool(rx, tx)
        s.methods["tools/call"] = fault
        self.our_error(p.tool(key="a"), "upstream_timeout", "maybe")
        s.methods["tools/call"] = s.tool
        self.works(s, p, "b")
        p.finish()
        self.assertEqual(s.runs("a"), 1)

    @support.plain
    def test_black_hole_while_idle(self):
        """A connection that was silent for 15 s is not used for a call, even
        if the listen stream is on it."""
        s, p, relay = self.two(through=Relay)
        self.works(s, p, "a")
        relay.black_hole()
        self.settle(16)
        begin = time.monotonic()
        self.works(s, p, "b")
        self.within(time.monotonic() - begin, 1)
        p.finish()

    def test_a_slow_call_is_not_silence(self):
        """A call times out, but as others are answered the connection is
        kept."""
        s, p = self.two("--call-timeout", "3")
        slow = self.begin(s, p, "slow", lambda rx, tx: tx.gone(20))
        for n in range(10):
            self.settle(0.3)
            self.works(s, p, str(n))
        self.our_error(p.answer(slow), "upstream_timeout", "maybe")
        self.works(s, p, "last")
        p.finish()
        self.assertEqual(s.connections, 1)

    def test_cancel_keeps_the_connection(self):
        s, p = self.two()
        for n in range(5):
            p.cancel(self.begin(s, p, "s%d" % n,
                                lambda rx, tx: tx.gone(20)))
            self.works(s, p, str(n))
        p.finish()
        self.assertEqual(s.connections, 1)

    def test_pings(self):
        """The proxy answers the server's pings, and works if the server does
        not answer libcurl's."""
        s, p = self.two()
        s.answers_pings = False
        for n in range(20):
            s.two[0].ping()
            self.works(s, p, str(n))
        p.finish()
        self.assertEqual(s.connections, 1)

    # flow control

    def test_stall_of_a_request(self):
        """The server's window stays closed; a later call uses another
        connection."""
        s, p = self.two("--call-timeout", "3", credit=False)
        big = p.start("tools/call", {"name": "echo", "arguments": {
            "key": "big", "text": "x" * 300000}})
        self.our_error(p.answer(big), "upstream_timeout", "maybe")
        s.credit = True
        self.works(s, p, "small")
        p.finish()
        self.assertEqual(s.runs("big"), 0)

    def test_stall_that_ends(self):
        s, p = self.two(credit=False)
        big = p.start("tools/call", {"name": "echo", "arguments": {
            "key": "big", "text": "x" * 300000}})
        self.settle(0.5)
        s.credit = True
        c = s.two[0]
        c.send(h2server.frame(h2server.WINDOW_UPDATE, 0, 0, b"\0\x10\0\0"))
        for stream in list(c.streams):
            c.send(h2server.frame(h2server.WINDOW_UPDATE, 0, stream,
                                  b"\0\x10\0\0"))
        self.assertIn("result", p.answer(big))
        p.finish()
        self.assertEqual(s.runs("big"), 1)

    # limits

    def many(self, s, p, n):
        ids = [p.start("tools/call", {"name": "echo", "arguments": {
            "ms": 50, "key": str(i)}}) for i in range(n)]
        for i in ids:
            self.assertIn("result", p.answer(i), p.err())
        self.assertEqual([s.runs(str(i)) for i in range(n)], [1] * n)

    def test_more_than_the_streams(self):
        """A connection has 100 streams; more calls use another, or wait."""
        s, p = self.two(settings={"max_concurrent_streams": 100})
        self.many(s, p, 250)
        p.finish()
        self.assertLess(s.connections, 160)

    def test_one_stream(self):
        """A connection has one stream, which the listen stream uses."""
        s, p = self.two(settings={"max_concurrent_streams": 1})
        self.many(s, p, 20)
        p.finish()

    def test_settings_change(self):
        s, p = self.two()
        c = s.two[0]
        for n, values in enumerate(({"max_concurrent_streams": 3},
                                    {"initial_window_size": 10},
                                    {"max_concurrent_streams": 1000},
                                    {"initial_window_size": 1000000},
                                    {"max_frame_size": 1 << 20},
                                    {"max_concurrent_streams": 1})):
            c.settings(**values)
            ids = [p.start("tools/call", {"name": "echo", "arguments": {
                "ms": 20, "key": "%d %d" % (n, i), "text": "x" * 1000}})
                for i in range(20)]
            for i in ids:
                self.assertIn("result", p.answer(i), p.err())
            self.assertEqual([s.runs("%d %d" % (n, i)) for i in range(20)],
                             [1] * 20)
        p.finish()
        self.assertGreaterEqual(c.acks, 6)

    # back-pressure

    def test_client_that_does_not_read(self):
        """stdout is full, so answers wait, but the proxy still sends to the
        server: 200 notifications go out, more than may be under way without
        their 2xx."""
        s = h2server.H2Mcp(tls=context("one"))
        self.servers.append(s)
        p = self.splice(s, "--cacert", file("ca1.pem"), "--http2",
                        reader=False)
        p.send(init("hello"), INITIALIZED)
        text = "y" * 1000000
        ids = ["c%d" % i for i in range(10)]
        for i in ids:
            p.send(call(i, key=i, text=text))
        s.wait(lambda: s.runs(ids[-1]))
        self.let(0.3)
        for n in range(200):
            p.send(note("notifications/roots/list_changed"))
        told = s.wait(lambda: len(
            s.seen("notifications/roots/list_changed")) == 200)
        p.read()
        for i in ids:
            self.assertIn("result", p.answer(i))
        self.assertTrue(told)
        p.finish()


if __name__ == "__main__":
    test_tls.main()
