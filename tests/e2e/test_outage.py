"""Servers that are not there yet, or go away for a while."""

import email.utils
import socket
import threading
import time

import support
from support import INITIALIZED, call, init, lines


@support.plain
class Start(support.Case):
    def test_server_comes_up_late(self):
        s = self.mcp(listen=False)
        p = self.splice(s)
        p.send(init(1), INITIALIZED, call(2))
        threading.Timer(2, s.up).start()
        self.assertIn("result", p.answer(1))
        self.assertIn("result", p.answer(2))
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual(s.early, [])

    def test_in_a_pipeline(self):
        s = self.mcp(listen=False)
        threading.Timer(1, s.up).start()
        status, out, err = self.once([s.url], lines(init(1), INITIALIZED,
                                                    call(2)))
        self.assertEqual(status, 0, err)
        self.assertEqual(out.count(b'"result"'), 2)

    def test_not_ready_statuses(self):
        for status in (429, 502, 503, 504, 520, 530):
            with self.subTest(status):
                s = self.mcp(init=[
                    lambda rx, tx: tx.text(status, "not yet")] * 2)
                p = self.splice(s)
                p.hello()
                self.assertEqual(s.inits(), 3)
                p.finish()

    def test_retry_after(self):
        s = self.mcp(init=[lambda rx, tx: tx.text(
            503, "not yet", [("Retry-After", "2")])])
        p = self.splice(s)
        p.hello()
        a, b = s.seen("initialize")
        self.assertGreater(b.time - a.time, 1.9)
        self.within(b.time - a.time, 6)
        p.finish()

    def test_cut_during_initialize(self):
        """initialize runs nothing: a cut one may be sent again, or failed;
        the client hears of it either way, and can try again."""
        s = self.mcp(init=[lambda rx, tx: tx.reset()])
        p = self.splice(s)
        p.send(init(1))
        m = p.answer(1)
        if "error" in m:
            self.our_error(m, "stream_lost")
            p.send(init(2))
            self.assertIn("result", p.answer(2))
        p.finish()

    def test_other_statuses_fail_at_once(self):
        for status in (500, 403, 400, 404):
            with self.subTest(status):
                s = self.mcp(init=[
                    lambda rx, tx: tx.text(status, "no")] * 9)
                p = self.splice(s)
                begin = time.monotonic()
                p.send(init(1))
                e = self.our_error(p.answer(1))
                self.within(time.monotonic() - begin, 3)
                self.assertEqual(e["data"]["httpStatus"], status)
                self.assertEqual(s.inits(), 1)
                self.assertTrue(p.alive())
                s.init = []
                p.hello()
                p.finish()

    def test_init_timeout_and_a_later_start(self):
        s = self.mcp(listen=False)
        p = self.splice(s, "--init-timeout", "2")
        begin = time.monotonic()
        p.send(init(1), INITIALIZED, call(2))
        self.our_error(p.answer(1), "upstream_unreachable", "no")
        waited = time.monotonic() - begin
        self.assertGreater(waited, 1)
        self.within(waited, 4)
        self.assertIn("error", p.answer(2))
        self.settle(0.3)
        self.assertTrue(p.alive())
        s.up()
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()

    def test_silent_server(self):
        s = self.mcp(init=[lambda rx, tx: s.closing.wait(60)])
        p = self.splice(s, "--init-timeout", "1")
        begin = time.monotonic()
        p.send(init(1))
        self.our_error(p.answer(1), "upstream_timeout")
        self.within(time.monotonic() - begin, 4)
        p.hello()
        p.finish()

    def test_silence_before_http(self):
        """Accepted by the kernel, answered by nobody."""
        s = self.mcp()
        s.on_accept = lambda sock: s.closing.wait(60) or True
        p = self.splice(s, "--init-timeout", "1")
        p.send(init(1))
        self.our_error(p.answer(1), "upstream_timeout")
        p.finish()

    def test_connect_timeout(self):
        """A full backlog drops the SYN: nothing comes back at all."""
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            fill = []
            try:
                for _ in range(8):
                    c = socket.socket()
                    c.setblocking(False)
                    c.connect_ex(full.getsockname())
                    fill.append(c)
                p = self.splice("http://127.0.0.1:%d/" %
                                full.getsockname()[1], "--connect-timeout",
                                "0.5", "--init-timeout", "2", "-v")
                begin = time.monotonic()
                p.send(init(1))
                while "no connection within" not in p.err():
                    self.within(time.monotonic() - begin, 1)
                    time.sleep(0.02)
                self.assertGreaterEqual(time.monotonic() - begin, 0.5)
                self.our_error(p.answer(1), ran="no")
                self.within(time.monotonic() - begin, 5)
                p.finish()
            finally:
                for c in fill:
                    c.close()

    def test_always_503(self):
        s = self.mcp(init=[lambda rx, tx: tx.text(503, "no")] * 99)
        p = self.splice(s, "--init-timeout", "2")
        p.send(init(1))
        e = self.our_error(p.answer(1), ran="no")
        self.assertEqual(e["data"]["httpStatus"], 503)
        p.finish()
        self.assertLess(s.inits(), 12)

    def test_unknown_host(self):
        p = self.splice("http://mcp.invalid/mcp", "--allow-http",
                        "--init-timeout", "2", "--resolve",
                        "mcp.invalid:80:127.0.0.1", env={"NO_PROXY": "*"})
        # port 80 of loopback: refused here, or at least no MCP server
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        p.finish()


@support.plain
class Later(support.Case):
    def test_refused_and_back(self):
        """Nothing was sent: retried, and run exactly once."""
        s, p = self.pair()
        p.tool()
        s.down()
        a = p.start("tools/call", {"name": "echo"})
        self.settle(0.2)
        threading.Timer(2, s.up).start()
        self.assertIn("result", p.answer(a))
        p.finish()
        self.assertEqual(len(s.executed), 2)
        self.assertEqual(s.inits(), 1)

    def test_back_without_its_sessions(self):
        """A restart: refused, then a lost session, and still one answer."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        p.tool()
        s.down()
        s.forget()
        p.send(*[call(n) for n in range(8)])
        self.settle(0.2)
        threading.Timer(1, s.up).start()
        for n in range(8):
            self.assertIn("result", p.answer(n))
        s.stream()
        p.finish()
        self.assertEqual(len(s.executed), 9)
        self.assertEqual(s.inits(), 2)

    def test_retry_window(self):
        s, p = self.pair("--retry-window", "1")
        s.down()
        begin = time.monotonic()
        self.our_error(p.tool(), "upstream_unreachable", "no")
        waited = time.monotonic() - begin
        self.assertGreater(waited, 0.4)
        self.within(waited, 4)
        self.assertTrue(p.alive())
        s.up()
        self.assertIn("result", p.tool())
        p.finish()

    def test_no_retry_window(self):
        s, p = self.pair("--retry-window", "0")
        s.down()
        begin = time.monotonic()
        self.our_error(p.tool(), "upstream_unreachable", "no")
        self.within(time.monotonic() - begin, 2)
        s.up()
        p.finish()

    def test_cancel_while_retrying(self):
        s, p = self.pair()
        s.down()
        p.send(call(7))
        self.settle(0.3)
        p.cancel(7)
        p.taken()
        s.up()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)
        self.assertEqual(s.seen("notifications/cancelled"), [])

    READ = ("resources/read", {"uri": "x:y"})

    def test_429_is_waited_for(self):
        """By what only reads: a tool may have run."""
        s, p = self.pair()
        left = [2]

        def busy(rx, tx):
            if left[0]:
                left[0] -= 1
                tx.text(429, "slow down", [("Retry-After", "1")])
                return
            tx.result({})
        s.methods["tools/call"] = s.methods["resources/read"] = busy
        self.assertEqual(self.our_error(p.tool(), ran="maybe")["data"].get(
            "retryAfter"), 1)
        self.assertEqual(p.ask(*self.READ)["result"], {})
        _, a, b = s.executed
        self.assertGreater(b.time - a.time, 0.9)
        p.finish()

    def test_429_with_a_date(self):
        """It counts from the Date of the answer; one that is over is none to
        wait for."""
        def at(s):
            return email.utils.formatdate(s, usegmt=True)

        def obsolete(s):
            return time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(s))
        s, p = self.pair()
        far = 1577836800    # a clock in 2020
        for date, after, want in (
                (at(far), at(far + 3600), 3600),
                (at(far), obsolete(far + 3600), 3600),
                (at(far), time.asctime(time.gmtime(far + 3600)), 3600),
                (None, at(time.time() + 3600), 3600),
                (at(far), at(far + 90000), None),
                (at(far), "soon", None), (at(far), "60 s", None)):
            with self.subTest(after, date=date):
                s.methods["tools/call"] = lambda rx, tx: tx.text(
                    429, "slow down", [("Retry-After", after)] +
                    ([("Date", date)] if date else []))
                got = self.our_error(p.tool(), ran="maybe")["data"].get(
                    "retryAfter")
                if want is None:
                    self.assertIsNone(got)
                else:
                    self.assertTrue(want - 60 < got <= want, got)
        for seconds in (1, -3600):
            busy = [[("Date", at(far)), ("Retry-After", at(far + seconds))]]
            s.executed.clear()
            s.methods["resources/read"] = lambda rx, tx: tx.text(
                429, "slow down", busy.pop()) if busy else tx.result({})
            self.assertEqual(p.ask(*self.READ)["result"], {})
            a, b = s.executed
            if seconds > 0:
                self.assertGreater(b.time - a.time, 0.9)
        p.finish()

    def test_429_for_too_long(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.text(
            429, "slow down", [("Retry-After", "3600")])
        begin = time.monotonic()
        e = self.our_error(p.tool(), ran="maybe")
        self.within(time.monotonic() - begin, 3)
        self.assertEqual(e["data"].get("retryAfter"), 3600)
        self.assertEqual(e["data"].get("httpStatus"), 429)
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_a_gateway_is_waited_for(self):
        """A list meets it three times, each time under another id."""
        s, p = self.pair()
        away = [502, 503, 522]

        def gateway(rx, tx):
            if away:
                tx.body(away.pop(), "<p>away</p>", "text/html")
            else:
                tx.result({"tools": []})
        s.methods["tools/list"] = gateway
        self.assertEqual(p.ask("tools/list")["result"], {"tools": []})
        p.finish()
        self.assertEqual(len({rx.json["id"] for rx in s.seen("tools/list")}),
                         4)
        self.assertEqual(s.inits(), 1)

    def test_503_for_a_tool_is_not_repeated(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.text(
            503, "busy", [("Retry-After", "1")])
        self.our_error(p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_502_for_a_tool_is_not_repeated(self):
        for status in (500, 502, 504):
            s, p = self.pair()
            s.methods["tools/call"] = lambda rx, tx: tx.text(status, "oops")
            self.our_error(p.tool(), ran="maybe")
            p.finish()
            self.assertEqual(len(s.executed), 1)
            self.assertEqual(s.inits(), 1)

    def test_get_stream_over_an_outage(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        s.down(reset=True)
        threading.Timer(1.5, s.up).start()
        get = s.stream(20)
        get.event(support.note("notifications/back"))
        p.server_message("notifications/back")
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_remote_side_never_ends_the_process(self):
        # from memory there would be an answer
        s, p = self.pair("--retry-window", "0", "--init-timeout", "1",
                         "--no-memory")
        for how in ("cut", "reset"):
            s.methods["tools/call"] = lambda rx, tx: getattr(tx, how)()
            self.assertIn("error", p.tool())
        s.down()
        self.assertIn("error", p.tool())
        p.send(init("again"))
        self.assertIn("error", p.answer("again"))
        self.settle(0.3)
        self.assertTrue(p.alive())
        p.finish()


if __name__ == "__main__":
    support.main()
