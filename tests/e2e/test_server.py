"""The fault server itself, tested with the standard HTTP client."""

import http.client
import json
import socket
import time

import ports
import support
from support import init, note, request


class FaultServer(support.Case):
    def client(self, server):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self.addCleanup(c.close)
        return c

    def post(self, c, message, sid=None):
        heads = {"Content-Type": "application/json"}
        if sid:
            heads["Mcp-Session-Id"] = sid
        c.request("POST", "/mcp", json.dumps(message), heads)
        return c.getresponse()

    def opened(self):
        s = self.mcp()
        c = self.client(s)
        r = self.post(c, init())
        sid = r.getheader("Mcp-Session-Id")
        json.loads(r.read())
        self.assertEqual(self.post(
            c, note("notifications/initialized"), sid).status, 202)
        c.close()
        return s, c, sid

    def test_handshake_and_records(self):
        s, c, sid = self.opened()
        self.assertEqual(sid, s.made[0])
        r = self.post(c, request(2, "tools/list"), sid)
        self.assertEqual(json.loads(r.read())["result"]["ok"], "tools/list")
        self.assertEqual([x.rpc for x in s.requests],
                         ["initialize", "notifications/initialized",
                          "tools/list"])
        self.assertEqual(s.requests[2].sid, sid)
        self.assertEqual([x.conn for x in s.requests], [1, 1, 2])
        self.assertEqual(s.early, [])
        self.assertGreaterEqual(s.requests[2].time, s.requests[1].time)

    def test_keep_alive(self):
        s = self.mcp(stateful=False)
        c = self.client(s)
        for n in range(3):
            self.post(c, request(n, "x")).read()
        self.assertEqual({x.conn for x in s.requests}, {1})

    def test_early_request_is_noticed(self):
        s = self.mcp()
        c = self.client(s)
        r = self.post(c, init())
        sid = r.getheader("Mcp-Session-Id")
        r.read()
        self.post(c, request(2, "tools/list"), sid).read()
        self.assertEqual(len(s.early), 1)

    def test_forget(self):
        s, c, sid = self.opened()
        s.forget()
        r = self.post(c, request(2, "tools/list"), sid)
        self.assertEqual((r.status, r.read()), (404, b"session not found\n"))
        self.assertEqual(s.executed, [])

    def test_delete(self):
        s, c, sid = self.opened()
        c.request("DELETE", "/mcp", headers={"Mcp-Session-Id": sid})
        self.assertEqual(c.getresponse().status, 200)
        self.assertEqual(s.deleted, [sid])
        self.assertEqual(s.sessions, {})

    def test_sse_chunks(self):
        s = self.mcp(stateful=False)

        def slow(rx, tx):
            tx.sse()
            tx.event("", id="a", retry=10)
            time.sleep(0.05)
            tx.answer({"n": 1})
        s.methods["x"] = slow
        r = self.post(self.client(s), request(5, "x"))
        self.assertEqual(r.getheader("Content-Type"), "text/event-stream")
        body = r.read().decode()
        self.assertEqual(body.split("\n")[:3],
                         ["id: a", "retry: 10", "data: "])
        self.assertIn('"result": {"n": 1}', body)

    def test_cut(self):
        s = self.mcp(stateful=False)

        def cut(rx, tx):
            tx.sse()
            tx.chunk("data: {")
            tx.cut()
        s.methods["x"] = cut
        with self.assertRaises(http.client.IncompleteRead):
            self.post(self.client(s), request(5, "x")).read()

    def test_reset(self):
        s = self.mcp(stateful=False)
        s.methods["x"] = lambda rx, tx: tx.reset()
        with self.assertRaises(ConnectionResetError):
            self.post(self.client(s), request(5, "x"))

    def test_down_refuses_and_up_serves(self):
        s = self.mcp(stateful=False)
        self.post(self.client(s), request(1, "x")).read()
        s.down()
        with self.assertRaises(ConnectionRefusedError):
            self.post(self.client(s), request(2, "x"))
        s.up()
        self.assertEqual(self.post(self.client(s), request(3, "x")).status,
                         200)

    def test_chunked_request(self):
        s = self.mcp(stateful=False)
        c = self.client(s)
        c.request("POST", "/mcp", iter([b'{"id":1,', b'"method":"x"}']),
                  {"Content-Type": "application/json"}, encode_chunked=True)
        c.getresponse().read()
        self.assertEqual(s.requests[0].body, b'{"id":1,"method":"x"}')

    def test_gone(self):
        s = self.mcp(stateful=False)
        seen = []

        def watch(rx, tx):
            tx.sse()
            seen.append(tx.gone(5))
        s.methods["x"] = watch
        sock = socket.create_connection(("127.0.0.1", s.port))
        sock.sendall(b"POST /mcp HTTP/1.1\r\nContent-Length: 21\r\n\r\n"
                     b'{"id":1,"method":"x"}')
        sock.recv(1)
        sock.close()
        self.assertTrue(s.wait(lambda: seen))
        self.assertTrue(seen[0])

    def test_handler_faults_are_reported(self):
        s = self.mcp(stateful=False)
        s.methods["x"] = lambda rx, tx: {}["no"]
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.post(self.client(s), request(5, "x"))
        self.assertEqual(len(s.errors), 1)
        s.errors.clear()


class Books(support.Case):
    """The judge of stdout must be able to say no."""

    def judge(self, out, sent=()):
        p = support.Splice.__new__(support.Splice)
        p.case = self
        p.tail = bytearray()
        p.lines = [(o, 0) for o in out]
        p.sent = support.collections.Counter(sent)
        p.silent = set()
        p.idless = 0
        p.err = lambda: ""
        p.check()

    def test_good(self):
        self.judge([b'{"jsonrpc":"2.0","id":1.0,"result":{}}',
                    b'{"jsonrpc":"2.0","method":"x"}'], [("n", "1.0")])

    def test_bad(self):
        for out, sent in (
                ([b"hello"], []),
                ([b'{"jsonrpc":"2.0","id":1,"result":NaN}'], [("n", "1")]),
                ([b'{"jsonrpc":"2.0","id":1,"result":"\xff"}'], [("n", "1")]),
                ([b'{"jsonrpc":"2.0","id":1,"result":{}}'], []),
                ([b'{"jsonrpc":"2.0","id":1,"result":{}}'], [("s", "1")]),
                ([b'{"jsonrpc":"2.0","id":1,"result":{}}'], [("n", "1.0")]),
                ([b'{"jsonrpc":"2.0","id":1,"result":{}}'] * 2, [("n", "1")]),
                ([], [("n", "1")]),
                ([b'{"jsonrpc":"2.0","id":null,"result":{}}'], []),
                ([b'{"jsonrpc":"2.0","id":1}'], [("n", "1")]),
                ([b'[{"jsonrpc":"2.0","id":1,"result":{}}]'], [("n", "1")]),
                ([b'{"jsonrpc":"2.0","error":{"code":1,"message":""}}'], [])):
            with self.subTest(out=out):
                with self.assertRaises(self.failureException):
                    self.judge(out, sent)


class Ports(support.Case):
    def test_of_a_connection_that_is_over(self):
        """A program that listens without SO_REUSEADDR cannot have it."""
        s = ports.bound(("127.0.0.1", 0))
        s.listen()
        c = socket.create_connection(s.getsockname())
        a = s.accept()[0]
        port = s.getsockname()[1]
        a.close()
        self.assertEqual(c.recv(1), b"")
        c.close()
        s.close()
        with self.assertRaises(OSError), socket.socket() as other:
            other.bind(("127.0.0.1", port))
        ports.bound(("127.0.0.1", port)).close()
        with ports._lock:
            ports._next.appendleft(port)
        self.assertNotEqual(ports.free_port(), port)


if __name__ == "__main__":
    support.main(needs_program=False)
