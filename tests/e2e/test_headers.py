"""Headers of every request, and redirects."""

import json
import time

import faultserver
import support
from support import INITIALIZED, call, init, note, request


class Headers(support.Case):
    def talk(self, *args, **kw):
        """A conversation with every kind of request in it."""
        s = self.mcp(**kw)
        s.on_get = s.listen
        s.methods["tools/list"] = self.asks
        p = self.splice(s, *args)
        p.hello(version=kw.get("version") or "2025-11-25")
        get = s.stream()
        p.tool()
        ident = p.start("tools/list")
        p.server_message("sampling/createMessage")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"model": "m"}})
        p.answer(ident)
        p.send(note("notifications/roots/list_changed"))
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/roots/list_changed")))
        get.end()       # a break would be asked about
        s.stream()
        p.finish()
        self.assertTrue(s.wait(lambda: not s.stateful or s.deleted))
        return s

    def asks(self, rx, tx):
        s = tx.server
        tx.sse()
        tx.event(request(0, "sampling/createMessage", {}))
        s.wait(lambda: s.replies)
        tx.answer({"tools": []})

    def test_post(self):
        s = self.talk()
        posts = s.seen(method="POST")
        self.assertGreaterEqual(len(posts), 6)
        for r in posts:
            with self.subTest(repr(r)):
                accept = [t.split(";")[0].strip().lower()
                          for v in r.all("Accept") for t in v.split(",")]
                self.assertIn("application/json", accept)
                self.assertIn("text/event-stream", accept)
                self.assertEqual(r.all("Content-Type"), ["application/json"])
                self.assertEqual(r.all("Content-Length"), [str(len(r.body))])
                self.assertIsNone(r.get("Transfer-Encoding"))
                self.assertNotIsInstance(r.json, list)
                self.assertEqual(r.target, "/mcp")

    def test_every_request(self):
        s = self.talk()
        for r in s.requests:
            with self.subTest(repr(r)):
                self.assertEqual(r.version, "HTTP/1.1")
                self.assertIsNone(r.get("Origin"))
                self.assertIsNone(r.get("Expect"))
                self.assertEqual(r.all("Host"), ["127.0.0.1:%d" % s.port])
                self.assertRegex(r.get("User-Agent"),
                                 r"^mcpsplice/\d[\w.+-]*$")
                self.assertIn(r.get("Accept-Encoding"), (None, "identity"))
                self.assertIsNone(r.get("Upgrade"))
                self.assertIsNone(r.get("Cookie"))

    def test_session_and_version(self):
        s = self.talk()
        first, later = s.requests[0], s.requests[1:]
        self.assertEqual(first.rpc, "initialize")
        self.assertIsNone(first.get("Mcp-Session-Id"))
        self.assertIsNone(first.get("MCP-Protocol-Version"))
        self.assertIsNone(first.get("Last-Event-ID"))
        for r in later:
            with self.subTest(repr(r)):
                self.assertEqual(r.all("Mcp-Session-Id"), [s.made[0]])
                self.assertEqual(r.all("MCP-Protocol-Version"),
                                 ["2025-11-25"])
        self.assertEqual({r.method for r in later},
                         {"POST", "GET", "DELETE"})

    def test_negotiated_version(self):
        s = self.talk(version="2025-06-18")
        for r in s.requests[1:]:
            self.assertEqual(r.get("MCP-Protocol-Version"), "2025-06-18")

    def test_get(self):
        s = self.talk()
        gets = s.seen(method="GET")
        self.assertGreaterEqual(len(gets), 2)
        for r in gets:
            self.assertEqual(r.all("Accept"), ["text/event-stream"])
            self.assertEqual(r.body, b"")

    def test_delete(self):
        s = self.talk()
        d = s.seen(method="DELETE")
        self.assertEqual([r.sid for r in d], [s.made[0]])
        self.assertIsNone(d[0].get("Content-Type"))
        # a ping that asks about the broken stream may cross it
        self.assertIs([r for r in s.requests if r.rpc != "ping"][-1], d[0])

    def test_no_session(self):
        """None assigned: none sent, and nothing to DELETE."""
        s = self.talk(stateful=False)
        for r in s.requests:
            self.assertIsNone(r.get("Mcp-Session-Id"))
        self.assertEqual(s.seen(method="DELETE"), [])
        self.assertEqual(s.requests[1].get("MCP-Protocol-Version"),
                         "2025-11-25")

    def test_session_of_other_answers(self):
        """The session is named anew. The server does not know that name: it is
        not believed again."""
        s = self.mcp()
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {}, [("Mcp-Session-Id", "another")])
        s.on_note = lambda rx, tx: tx.body(
            202, headers=[("Mcp-Session-Id", "another")])
        p = self.splice(s)
        p.hello()
        for _ in range(3):
            self.assertEqual(p.tool()["result"], {})
        p.finish()
        self.assertEqual([r.sid for r in s.seen("tools/call")],
                         ["another"] + 3 * [s.made[1]])
        self.assertEqual(s.inits(), 2)

    def test_session_is_named_anew(self):
        """The next requests have the new name."""
        s = self.mcp()

        def renames(rx, tx):
            s.sessions = {"another": faultserver.Session("another")}
            tx.result({}, [("Mcp-Session-Id", "another")])
            s.methods["tools/call"] = s.tool
        p = self.splice(s)
        p.hello()
        s.methods["tools/call"] = renames
        for _ in range(3):
            self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual([r.sid for r in s.seen("tools/call")],
                         s.made + 2 * ["another"])
        self.deleted(s, ["another"])
        self.assertEqual(s.inits(), 1)

    def test_session_of_a_refused_initialize_is_ignored(self):
        def refuse(rx, tx):
            tx.json({"jsonrpc": "2.0", "id": rx.json["id"],
                     "error": {"code": -32000, "message": "no"}}, 400,
                    [("Mcp-Session-Id", "half-made")])
        s = self.mcp(init=[refuse])
        p = self.splice(s)
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        p.hello()
        p.tool()
        p.finish()
        self.assertNotIn("half-made", {r.sid for r in s.requests})

    def test_session_id_must_be_visible_ascii(self):
        for bad in ("a b", "a\xe9", "x" * 9000):
            with self.subTest(bad[:5]):
                s = self.mcp(stateful=False,
                             init_headers=[("Mcp-Session-Id", bad)])
                p = self.splice(s)
                p.send(init(1), INITIALIZED, call(2))
                p.answer(1)
                p.answer(2)
                p.finish()
                self.assertEqual({r.sid for r in s.requests}, {None})

    @support.plain
    def test_big_body_no_expect(self):
        s, p = self.pair()
        begin = time.monotonic()
        p.tool(text="x" * 3000000)
        self.within(time.monotonic() - begin, 5)
        self.assertIsNone(s.executed[0].get("Expect"))
        p.finish()

    def test_path_and_query_are_kept(self):
        s = self.mcp()
        url = "http://127.0.0.1:%d/a/b%%20c?key=v&x=%%2F" % s.port
        p = self.splice(url)
        p.hello()
        p.finish()
        self.assertEqual({r.target for r in s.requests},
                         {"/a/b%20c?key=v&x=%2F"})

    def test_connections_are_kept(self):
        s, p = self.pair()
        for n in range(20):
            p.tool(n=n)
        p.finish()
        self.assertLessEqual(len({r.conn for r in s.seen(method="POST")}), 2)


class Redirects(support.Case):
    def redirecting(self, status, where, times=1):
        """A server whose calls are sent elsewhere that many times."""
        s = self.mcp()
        left = [times]

        def send_on(rx, tx):
            if rx.method == "POST" and rx.rpc == "tools/call" and left[0]:
                left[0] -= 1
                tx.body(status, headers=[("Location", where(s))])
                return True
            return False
        s.before = send_on
        return s

    def test_same_origin(self):
        for status in (307, 308):
            for where in (lambda s: "/other?q=1",
                          lambda s: "http://127.0.0.1:%d/other?q=1" % s.port):
                with self.subTest(status):
                    s = self.redirecting(status, where)
                    p = self.splice(s, "-H", "X-Mine: 1")
                    p.hello()
                    self.assertIn("result", p.tool(n=1))
                    p.finish()
                    a, b = s.seen("tools/call")
                    self.assertEqual((a.body, a.sid), (b.body, b.sid))
                    self.assertEqual((b.method, b.target),
                                     ("POST", "/other?q=1"))
                    self.assertEqual(b.get("X-Mine"), "1")
                    self.assertEqual(b.get("MCP-Protocol-Version"),
                                     "2025-11-25")

    def test_three_and_no_more(self):
        s = self.redirecting(307, lambda s: "/next", 3)
        p = self.splice(s)
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()
        s = self.redirecting(307, lambda s: "/next", 4)
        p = self.splice(s)
        p.hello()
        self.our_error(p.tool(), "bad_upstream")
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 4)

    def test_other_origin_gets_nothing(self):
        other = self.mcp()
        for status in (307, 308):
            s = self.redirecting(status, lambda s: other.url)
            p = self.splice(s, "-H", "Authorization: Bearer canary-1")
            p.hello()
            e = self.our_error(p.tool())
            self.assertIn("redirect", e["message"].lower())
            self.assertNotIn("canary-1", json.dumps(e))
            p.finish()
        self.assertEqual((other.connections, other.requests), (0, []))

    def test_other_statuses_are_errors(self):
        for status in (301, 302, 303):
            with self.subTest(status):
                s = self.redirecting(status, lambda s: "/other")
                p = self.splice(s)
                p.hello()
                e = self.our_error(p.tool())
                self.assertEqual(e["data"].get("httpStatus"), status)
                p.finish()
                self.assertEqual(len(s.seen("tools/call")), 1)
                self.assertEqual(s.seen(method="GET"),
                                 [r for r in s.seen(method="GET")
                                  if r.target == "/mcp"])

    def test_bad_locations(self):
        for where in ("", "http://", "ftp://127.0.0.1/", "file:///etc/passwd",
                      "//evil.example/", "http://127.0.0.1:99999/"):
            with self.subTest(where):
                s = self.redirecting(307, lambda s: where)
                p = self.splice(s)
                p.hello()
                self.our_error(p.tool())
                p.finish()

    def test_only_a_slash(self):
        """It is remembered, though it is temporary, until it is wrong."""
        s = self.mcp()
        gone = []

        def moved(rx, tx):
            if rx.target == "/mcp?key=1" and not gone:
                tx.body(307, headers=[("Location", "/mcp/?key=1")])
                return True
            if rx.target == "/mcp/?key=1" and gone:
                tx.text(404, "not here")
                return True
            return False
        s.before = moved
        s.on_get = s.listen
        p = self.splice(s.url + "?key=1")
        p.hello()
        s.stream()
        self.assertIn("result", p.tool())
        self.assertEqual([r.target for r in s.requests],
                         ["/mcp?key=1"] + ["/mcp/?key=1"] * 4)
        gone.append(True)
        p.tool()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(sorted(s.deleted), sorted(s.made))

    def test_initialize_and_all_others(self):
        """A server that moves its endpoint moves all of it."""
        s = self.mcp()

        def moved(rx, tx):
            if rx.target == "/mcp":
                tx.body(308, headers=[("Location", "/mcp/")])
                return True
            return False
        s.before = moved
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        self.assertIn("result", p.tool())
        p.finish()
        self.deleted(s, s.made)


if __name__ == "__main__":
    support.main()
