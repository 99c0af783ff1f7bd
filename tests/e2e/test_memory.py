"""Flat memory: unread stdout, big results, limits."""

import json
import os
import threading
import time

import support
from support import INITIALIZED, call, init, note

MB = 1000 * 1000


def big_result(size, sse):
    """An answer of that many bytes, sent in blocks."""
    def fn(rx, tx):
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"x":"' % rx.json["id"]
        tail = b'"}}'
        block = b"y" * MB
        left = size - len(head) - len(tail)
        if sse:
            tx.sse()
            tx.chunk(b"data: " + head)
        else:
            tx.head(200, [("Content-Type", "application/json")], size)
            tx.raw(head)
        while left > 0:
            tx.chunk(block[:left])
            left -= len(block[:left])
        tx.chunk(tail)
        if sse:
            tx.chunk("\n\n")
    return fn


@support.plain
class Memory(support.Case):
    def limit(self, kb, most, what):
        if not support.sanitized():
            self.assertLess(kb, most, what)

    @support.alone
    def test_unread_stdout(self):
        """300 MB are pushed; nobody reads; then all of it is read."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, "--max-buffer", "16M", reader=False)
        p.send(init(1), INITIALIZED)
        get = s.stream()
        total = 300
        pushed = [0]

        def push():
            for n in range(total):
                get.event(b'{"jsonrpc":"2.0","method":"notifications/x",'
                          b'"params":{"n":%d,"x":"' % n + b"z" * MB + b'"}}')
                pushed[0] = n + 1
        t = threading.Thread(target=push, daemon=True)
        t.start()
        last = -1
        end = time.monotonic() + 20
        while pushed[0] != last and time.monotonic() < end:
            last = pushed[0]
            self.settle(0.7)
        self.assertLess(pushed[0], 100, "the transfer was not paused")
        self.limit(p.rss_kb(), 64000, "RSS with an unread stdout")
        # signals and the client's frames are still served
        p.send(note("notifications/still-here"))
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/still-here"), 10))
        p.read()
        p.big_line(60, least=total + 1)
        self.assertEqual(pushed[0], total)
        self.limit(p.peak_kb(), 64000, "peak")
        numbers = [m["params"]["n"] for m in p.messages
                   if m.get("method") == "notifications/x"]
        self.assertEqual(numbers, list(range(total)))
        p.finish()

    @support.alone
    def test_unread_stdout_with_calls(self):
        """Many answers wait as well; each comes once."""
        s = self.mcp()
        s.methods["tools/call"] = big_result(2 * MB, False)
        p = self.splice(s, "--max-buffer", "8M", reader=False)
        p.send(init(1), INITIALIZED)
        p.send(*[call(n) for n in range(100, 140)])
        self.settle(1.5)
        self.limit(p.rss_kb(), 64000, "RSS")
        p.read()
        p.big_line(60, least=41)
        p.finish(seconds=60)
        self.assertEqual(len(s.executed), 40)

    def flood(self, method, message):
        """64 MB of notifications in answer to this method, cut without
        regard to messages, while nobody reads stdout. Returns the program,
        and how many messages were written in the end."""
        s = self.mcp()
        data = b"data: %s\n\n" % support.lines(
            note("notifications/x", {"x": "y" * 100000})).strip()
        count = 640
        pushed = [0]

        def push(rx, tx):
            if rx.rpc != method:
                return
            tx.sse()
            rest = data * count
            try:
                for at in range(0, len(rest), 65521):
                    tx.chunk(rest[at:at + 65521])
                    pushed[0] = at
                if rx.json.get("id"):
                    tx.answer({})
            except OSError:
                pass
            tx.cut()
        s.methods[method] = s.on_note = push
        p = self.splice(s, "--max-result", "0", reader=False)
        p.send(init(1), INITIALIZED, message)
        self.assertTrue(s.wait(lambda: pushed[0] > 1000, 10))
        last = -1
        while pushed[0] != last:
            last = pushed[0]
            self.settle(0.5)
        self.assertLess(pushed[0], 32 * MB, "the transfer was not paused")
        self.limit(p.rss_kb(), 32000, "RSS with an unread stdout")
        p.read()
        return p, count

    @support.alone
    def test_unread_stdout_and_the_stream_of_a_call(self):
        p, count = self.flood("tools/call", call(5))
        self.assertIn("result", p.answer(5))
        self.assertEqual(p.count_messages("notifications/x"), count)
        p.finish()

    @support.alone
    def test_unread_stdout_and_the_stream_of_a_notification(self):
        p, _ = self.flood("notifications/y", note("notifications/y"))
        p.finish()

    def big(self, size, sse):
        s, p = self.pair("--max-result", "0", "--max-message", "200M")
        s.methods["tools/call"] = big_result(size, sse)
        p.start("tools/call", {})
        line, _ = p.big_line(60, least=2)
        self.assertEqual(len(line), size)
        self.assertEqual(line.count(b"y"), size - line.index(b"y") - 3)
        self.limit(p.peak_kb() * 1024, 1.3 * size + 15 * MB, "peak")
        s.methods["tools/call"] = s.tool
        p.tool()
        # and it gives the memory back
        self.limit(p.rss_kb() * 1024, 0.3 * size + 20 * MB, "RSS after it")
        p.finish()

    @support.alone
    def test_10_mb_json(self):
        self.big(10 * MB, False)

    @support.alone
    def test_10_mb_sse(self):
        self.big(10 * MB, True)

    @support.alone
    def test_100_mb_json(self):
        self.big(100 * MB, False)

    @support.alone
    def test_100_mb_sse(self):
        self.big(100 * MB, True)

    @support.alone
    def test_100_mb_to_the_server(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {"n": len(rx.body)})
        head, tail = json.dumps(call(5, x="@")).encode().split(b"@")
        p.raw(head, answers=[5])
        for _ in range(100):
            p.write(b"x" * MB)
        p.raw(tail + b"\n")
        self.assertEqual(p.answer(5, 60)["result"]["n"],
                         100 * MB + len(head) + len(tail))
        self.limit(p.peak_kb() * 1024, 1.35 * 100 * MB + 15 * MB, "peak")
        p.finish()

    @support.alone
    def test_large_calls_that_hang(self):
        """So many as fit are at the server, as many again wait, and then stdin
        is not read. All are answered in the end."""
        s = self.mcp()
        go = threading.Event()

        def slow(rx, tx):
            go.wait(10 * support.LIVE)
            tx.result({"n": len(rx.body)})
        s.methods["tools/call"] = slow
        p = self.splice(s, "--max-buffer", "32M")
        p.hello()
        ids = range(1000, 1040)
        pad = "x" * (4 * MB)
        feeder = threading.Thread(
            target=lambda: [p.send(call(i, x=pad)) for i in ids], daemon=True)
        feeder.start()
        self.assertTrue(s.wait(lambda: len(s.seen("tools/call")) == 4))
        self.settle(3)
        self.assertEqual(len(s.seen("tools/call")), 4)
        self.assertTrue(feeder.is_alive())
        self.limit(p.rss_kb(), 64000, "RSS with 40 calls of 4 MB")
        go.set()
        for i in ids:
            self.assertIn("result", p.answer(i, 60))
        self.limit(p.peak_kb(), 64000, "peak")
        p.finish()

    def test_over_max_result(self):
        for sse in (False, True):
            for size in (1200 * 1000, 3 * MB):
                with self.subTest(size, sse=sse):
                    s, p = self.pair("--max-result", "1M")
                    s.methods["tools/call"] = big_result(size, sse)
                    e = self.our_error(p.tool(), "too_large", "maybe")
                    self.assertRegex(e["message"], r"\d")
                    self.assertIn("--max-result", e["message"])
                    s.methods["tools/call"] = s.tool
                    self.assertIn("result", p.tool())
                    p.finish()
                    self.assertEqual(len(s.executed), 2)

    def test_default_of_max_result(self):
        """10 MiB - 64 KiB."""
        edge = 10 * 1024 * 1024 - 64 * 1024
        s, p = self.pair()
        s.methods["tools/call"] = big_result(edge + 1, False)
        self.our_error(p.tool(), "too_large")
        s.methods["tools/call"] = big_result(edge - 1, False)
        self.assertIn("result", p.tool())
        p.finish()

    def test_max_result_is_off_for_a_file(self):
        s = self.mcp()
        s.methods["tools/call"] = big_result(12 * MB, False)
        with open(self.path("out"), "wb") as o:
            p = self.splice(s, stdout=o)
            p.send(init(1), INITIALIZED, call(2))
            p.close()
            self.assertEqual(p.wait(), 0)
            p.finished = True
        self.assertGreater(os.path.getsize(self.path("out")), 12 * MB)

    def test_max_result_is_off_with_handshake(self):
        s = self.mcp()
        s.methods["tools/call"] = big_result(12 * MB, False)
        status, out, err = self.once(["--handshake", s.url], support.lines(
            call(2)))
        self.assertEqual(status, 0, err)
        self.assertEqual(len(out), 12 * MB + 1)

    def test_max_result_of_a_notification(self):
        """One that is too large is dropped, the stream goes on."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, "--max-result", "1M")
        p.hello()
        get = s.stream()
        get.event(note("notifications/big", {"x": "y" * 2 * MB}))
        get.event(note("notifications/small"))
        p.server_message("notifications/small")
        p.finish()
        self.assertEqual(p.count_messages("notifications/big"), 0)

    def batch(self, version, elements):
        """The answer to a call comes in an array with so many others."""
        s = self.mcp()
        s.version = version

        def tool(rx, tx):
            tx.json([note("notifications/x")] * (elements - 1) +
                    [{"jsonrpc": "2.0", "id": rx.json["id"], "result": {}}])
        s.methods["tools/call"] = tool
        p = self.splice(s)
        p.hello(version)
        answer = p.tool()
        p.finish()
        return answer, p.count_messages("notifications/x")

    def test_batches(self):
        answer, others = self.batch("2025-03-26", 10000)
        self.assertIn("result", answer)
        self.assertEqual(others, 9999)

    def test_too_large_a_batch(self):
        answer, others = self.batch("2025-03-26", 10001)
        self.our_error(answer, "bad_upstream", "maybe")
        self.assertEqual(others, 0)

    def test_batches_of_a_version_without_them(self):
        answer, others = self.batch("2025-06-18", 2)
        self.our_error(answer, "bad_upstream", "maybe")
        self.assertEqual(others, 0)

    def test_over_max_message(self):
        for sse in (False, True):
            with self.subTest(sse=sse):
                s, p = self.pair("--max-message", "1M")
                s.methods["tools/call"] = big_result(3 * MB, sse)
                self.our_error(p.tool(), "too_large", "maybe")
                s.methods["tools/call"] = s.tool
                self.assertIn("result", p.tool())
                p.finish()
                self.assertEqual(s.inits(), 1)

    @support.alone
    def test_endless_answers(self):
        """A body and a header that never end are cut off."""
        s, p = self.pair("--max-message", "1M")

        def endless_json(rx, tx):
            tx.head(200, [("Content-Type", "application/json")])
            for _ in range(400):
                tx.chunk(b" " * MB)

        def endless_error(rx, tx):
            tx.head(500, [("Content-Type", "text/html")])
            for _ in range(400):
                tx.chunk(b"x" * MB)

        def endless_line(rx, tx):
            tx.sse()
            tx.chunk("data: ")
            for _ in range(400):
                tx.chunk(b"x" * MB)

        def endless_head(rx, tx):
            tx.raw(b"HTTP/1.1 200 OK\r\n")
            for n in range(400):
                tx.raw(b"X-%d: " % n + b"x" * 100000 + b"\r\n")
        for fn in (endless_json, endless_error, endless_line, endless_head):
            s.methods["tools/call"] = fn
            with self.subTest(fn.__name__):
                self.our_error(p.tool())
                self.limit(p.peak_kb(), 50000, "peak")
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        p.finish()

    @support.alone
    def test_many_calls_leave_nothing(self):
        s, p = self.pair()
        for n in range(300):
            p.tool(n=n)
        before = p.rss_kb()
        for n in range(1500):
            p.tool(n=n)
        self.limit(p.rss_kb(), before + 1500, "growth over 1500 calls")
        p.finish()

    @support.alone
    def test_idle_costs_nothing(self):
        """No timer ticks while there is nothing to do."""
        if not os.path.exists("/proc/self/task"):
            self.skipTest("no /proc")
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        p.tool()
        self.let(1.5)       # what follows a call is over within a second
        before = self.switches(p)
        self.settle(2)
        self.assertLess(self.switches(p) - before, 4)
        p.finish()

    def switches(self, p):
        """How often its threads went to sleep. That others had the processor
        says nothing about them."""
        n = 0
        base = "/proc/%d/task" % p.pid
        for task in os.listdir(base):
            with open("%s/%s/status" % (base, task)) as f:
                for line in f:
                    if line.startswith("voluntary_ctxt_switches"):
                        n += int(line.split()[1])
        return n


if __name__ == "__main__":
    support.main()
