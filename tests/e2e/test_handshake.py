"""initialize, initialized, and what comes before, after and without them."""

import json
import subprocess
import time

import support
from support import INITIALIZED, call, init, lines, note, request


def parsed(out):
    return {m["id"]: m for m in map(json.loads, out.splitlines())}


class Pipeline(support.Case):
    def test_printf(self):
        s = self.mcp()
        words = [json.dumps(m) for m in (
            init(1), INITIALIZED, call(2), request(3, "tools/list"))]
        script = "printf '%%s\\n' %s | \"$0\" \"$1\"" % " ".join(
            "'%s'" % w for w in words)
        p = subprocess.run(["sh", "-c", script, support.PROGRAM, s.url],
                           stdout=subprocess.PIPE, timeout=support.LIVE)
        self.assertEqual(p.returncode, 0)
        got = parsed(p.stdout)
        self.assertEqual(sorted(got), [1, 2, 3])
        self.assertTrue(all("result" in m for m in got.values()), got)
        self.assertEqual(s.early, [])
        self.deleted(s, s.made)

    def test_order_with_a_slow_server(self):
        """Held until initialize is answered and initialized has its 2xx."""
        s = self.mcp()
        done = {}

        def slow_init(rx, tx):
            time.sleep(0.3)
            s.initialize(rx, tx)

        def slow_note(rx, tx):
            time.sleep(0.3)
            done["at"] = time.monotonic()
        s.init = [slow_init]
        s.on_note = slow_note
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, call(2), request(3, "tools/list"),
            call(4)))
        self.assertEqual(status, 0, err)
        self.assertEqual(sorted(parsed(out)), [1, 2, 3, 4])
        posts = s.seen(method="POST")
        self.assertEqual([r.rpc for r in posts[:2]],
                         ["initialize", "notifications/initialized"])
        self.assertGreaterEqual(posts[1].time, posts[0].time + 0.29)
        for r in posts[2:]:
            self.assertGreaterEqual(r.time, done["at"])
        self.assertEqual(s.early, [])

    def test_notifications_are_held_too(self):
        s = self.mcp()
        when = {}

        def noted(rx, tx):
            if rx.rpc == "notifications/initialized":
                time.sleep(0.3)
            when.setdefault(rx.rpc, (rx.time, time.monotonic()))
        s.on_note = noted
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, note("notifications/roots/list_changed"),
            call(2)))
        self.assertEqual(status, 0, err)
        self.assertGreaterEqual(
            when["notifications/roots/list_changed"][0],
            when["notifications/initialized"][1])

    def test_initialize_refused(self):
        """The server's own error passes; what was held is answered too."""
        s = self.mcp(init=[lambda rx, tx: tx.error(-32602, "Bad version",
                                                   400, {"a": 1})])
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, call(2)))
        self.assertEqual(status, 0, err)
        got = parsed(out)
        self.assertEqual(got[1]["error"], {"code": -32602,
                                           "message": "Bad version",
                                           "data": {"a": 1}})
        self.assertIn("error", got[2])
        self.assertEqual(s.executed, [])

    def test_initialize_afresh_after_a_refusal(self):
        s = self.mcp(init=[lambda rx, tx: tx.error(-32602, "no", 400)])
        p = self.splice(s)
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()

    def test_initialize_by_sse(self):
        s = self.mcp()

        def by_sse(rx, tx):
            tx.sse(headers=[("mcp-session-id", s.new_session())])
            tx.event(note("notifications/message",
                          {"level": "info", "data": "x"}))
            tx.answer(s.init_result(rx))
        s.init = [by_sse]
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.tool()["result"]["content"][0]["text"], "{}")
        self.assertEqual(s.executed[0].sid, s.made[0])
        p.finish()

    @support.plain
    def test_initialized_without_answer(self):
        """After 10 s without its 2xx the later frames go, with a warning."""
        s = self.mcp()
        s.on_note = lambda rx, tx: s.closing.wait(support.LIVE + 10)
        p = self.splice(s)
        p.send(init(1), INITIALIZED, call(2))
        m = p.answer(2, 10 + support.LIVE)
        self.assertIn("result", m)
        wait = s.executed[0].time - s.seen("notifications/initialized")[0].time
        self.assertGreater(wait, 9)
        self.within(wait, 14)
        self.assertIn("initialized", p.err())

    @support.plain
    def test_initialized_refused(self):
        """A 4xx to initialized is no reason to hold for ten seconds."""
        s = self.mcp()
        s.on_note = lambda rx, tx: tx.text(400, "what?")
        p = self.splice(s)
        begin = time.monotonic()
        p.hello()
        self.assertIn("result", p.tool())
        self.within(time.monotonic() - begin, 8)

    def test_client_without_initialized(self):
        """Some clients never send it: calls go once initialize is done."""
        s = self.mcp()
        p = self.splice(s)
        p.send(init(1))
        p.answer(1)
        self.assertIn("result", p.tool())
        p.finish()


class Without(support.Case):
    @support.plain
    def test_request_is_answered_at_once(self):
        s = self.mcp()
        p = self.splice(s)
        begin = time.monotonic()
        m = p.ask("tools/list")
        self.within(time.monotonic() - begin, 3)
        self.assertIn(m["error"]["code"], (-32600, -32602), m)
        self.assertIn("initialize", m["error"]["message"])
        self.assertEqual(s.connections, 0)
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()

    def test_request_in_a_pipeline(self):
        s = self.mcp()
        status, out, err = self.once([s.url], lines(
            request("a", "tools/list")))
        self.assertEqual(status, 0, err)
        m = parsed(out)["a"]
        self.assertIn("initialize", m["error"]["message"])
        self.assertIn("--handshake", m["error"]["message"] + err)

    def test_ping(self):
        s = self.mcp()
        status, out, err = self.once([s.url], lines(request("p", "ping")))
        self.assertEqual(status, 0, err)
        self.assertEqual(parsed(out)["p"]["result"], {})
        self.assertEqual(s.connections, 0)

    @support.plain
    def test_ping_while_initialize_waits(self):
        s = self.mcp()

        def slow(rx, tx):
            time.sleep(1.5)
            s.initialize(rx, tx)
        s.init = [slow]
        p = self.splice(s)
        p.send(init(1))
        self.assertTrue(s.wait(lambda: s.inits()))
        begin = time.monotonic()
        self.assertEqual(p.ask("ping")["result"], {})
        self.within(time.monotonic() - begin, 1.2)
        p.answer(1)
        p.finish()

    def test_handshake_option(self):
        s = self.mcp()
        status, out, err = self.once(["--handshake", s.url], lines(
            request(1, "tools/list")))
        self.assertEqual(status, 0, err)
        self.assertEqual(len(out.splitlines()), 1, out)
        self.assertEqual(parsed(out)[1]["result"]["ok"], "tools/list")
        self.assertEqual([r.rpc for r in s.seen(method="POST")],
                         ["initialize", "notifications/initialized",
                          "tools/list"])
        self.assertEqual(s.early, [])
        self.deleted(s, s.made)
        params = s.requests[0].json["params"]
        self.assertEqual(params["clientInfo"]["name"], "mcpsplice")
        self.assertEqual(params["protocolVersion"], "2025-11-25")

    def test_handshake_and_many(self):
        """An id of the user's that looks like ours is no trouble."""
        s = self.mcp()
        status, out, err = self.once(["--handshake", s.url], lines(
            *[call(n, n=n) for n in range(0, 20)]))
        self.assertEqual(status, 0, err)
        self.assertEqual(sorted(parsed(out)), list(range(0, 20)))
        self.assertEqual(s.inits(), 1)

    def test_handshake_that_fails(self):
        s = self.mcp(init=[lambda rx, tx: tx.error(-32000, "closed", 403)])
        status, out, err = self.once(["--handshake", s.url], lines(
            request(1, "tools/list")))
        self.assertEqual(status, 0, err)
        self.assertIn("error", parsed(out)[1])

    def test_handshake_idle(self):
        """Nothing asked, nothing done."""
        s = self.mcp()
        status, out, err = self.once(["--handshake", s.url], b"")
        self.assertEqual((status, out), (0, b""), err)
        self.assertEqual(s.executed, [])

    def test_fail(self):
        s = self.mcp(listen=False)
        for args, want in (([], 0), (["--fail"], 22)):
            status, out, err = self.once(
                ["--handshake", "--init-timeout", "1", s.url] + args,
                lines(request(1, "tools/list")))
            self.assertEqual(status, want, err)
            self.our_error(parsed(out)[1], "upstream_unreachable", "no")

    def test_fail_of_a_request_without_an_id(self):
        """It gets no answer, so only the status tells."""
        s = self.mcp()
        status, out, err = self.once(
            ["--handshake", "--fail", s.url],
            lines(request(1, "ping"),
                  {"jsonrpc": "2.0", "method": "tools/list"}))
        self.assertEqual(status, 22, err)
        self.assertEqual(list(parsed(out)), [1])

    def test_ping_asks_the_server(self):
        """The health check that everybody writes."""
        ping = lines(request(1, "ping"))
        s = self.mcp()
        status, out, err = self.once([s.url, "--handshake", "--fail"], ping)
        self.assertEqual(status, 0, err)
        self.assertEqual(len(s.seen("ping")), 1)
        s.down()
        status, out, err = self.once([s.url, "--handshake", "--fail",
                                      "--init-timeout", "1"], ping)
        self.assertEqual(status, 22, err)
        self.our_error(json.loads(out), "upstream_unreachable")

    def test_no_request_asks_the_server(self):
        s = self.mcp()
        args = [s.url, "--handshake", "--fail", "--init-timeout", "1"]
        status, out, err = self.once(args, b"")
        self.assertEqual((status, out, err), (0, b"", ""))
        self.deleted(s, s.made)
        s.down()
        status, out, err = self.once(args, b"")
        self.assertEqual((status, out), (22, b""))
        self.assertIn("cannot open a session with", err)

    def test_a_full_disk_is_a_failure(self):
        s = self.mcp()
        with open("/dev/full", "wb") as full:
            p = subprocess.run([support.PROGRAM, s.url, "--handshake"],
                               input=lines(call(1)), stdout=full,
                               stderr=subprocess.PIPE, timeout=support.LIVE)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"cannot write to stdout: No space left", p.stderr)

    def test_fail_any(self):
        """Errors of the server count, and those of tools."""
        s = self.mcp()

        def run(method, how):
            s.methods["tools/call"] = how
            return [self.once([s.url, "--handshake", option],
                              lines(request(1, method)))[0]
                    for option in ("--fail", "--fail=any")]
        self.assertEqual(run("tools/call", lambda rx, tx: tx.result(
            {"isError": True, "content": []})), [0, 22])
        self.assertEqual(run("tools/call", lambda rx, tx: tx.error(
            -32601, "no")), [0, 22])
        self.assertEqual(run("tools/call", lambda rx, tx: tx.result(
            {"isError": False, "content": []})), [0, 0])

    def test_fail_and_all_is_well(self):
        s = self.mcp()
        s.methods["tools/call"] = lambda rx, tx: tx.error(-1, "the server's")
        status, out, err = self.once(["--handshake", "--fail", s.url], lines(
            request(1, "tools/list"), call(2)))
        self.assertEqual(status, 0, err)
        self.assertEqual(parsed(out)[2]["error"]["message"], "the server's")


if __name__ == "__main__":
    support.main()
