"""The bounds, walked by a server that presses against them.  Each case is the
proof of one row of src/base/bound_rows.h: the value is taken, one more is not,
and then the server does as much as it can for BOUNDS_SECONDS (10).  Meanwhile
memory stays within the limit and a quarter, a byte costs as much CPU at the end
as at the beginning, the user's other calls are answered within a second, and
stderr gets less than 100 lines a second."""

import json
import os
import threading
import time

import eraserver
import pace
import support
from support import BOUND, INITIALIZED, init, lines, note, request

# With a sanitizer neither memory nor CPU says anything.
SECONDS = float(os.environ.get("BOUNDS_SECONDS",
                               "3" if support.sanitized() else "10"))
KB, MB = 1 << 10, 1 << 20
# What connections, libraries and the allocator take besides.
SLACK = 4 * MB


def pings(first, n):
    return b"".join(b'data: {"jsonrpc":"2.0","id":%d,"method":"ping"}\n\n' % i
                    for i in range(first, first + n))


class Press:
    """Sends as fast as it is taken, and counts the bytes."""

    def __init__(self):
        self.bytes = 0
        self.over = threading.Event()

    def chunks(self, tx, data, most=None):
        """The same chunk again and again; ends with the connection."""
        try:
            while not self.over.is_set() and (most is None or most > 0):
                tx.chunk(data)
                self.bytes += len(data)
                most = most and most - 1
        except OSError:
            tx.cut()


class Bounds(support.Case):
    seconds = SECONDS

    def cpu(self, p):
        """Seconds of CPU; 0 where that cannot be read."""
        try:
            with open("/proc/%d/stat" % p.pid) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def worst(self, p, press, limit, drive=None, calls=True, base=None):
        """Some seconds of it.  drive(n) is called by a thread of its own, again
        and again."""
        base = base or p.rss_kb()

        def run():
            n = 0
            while not press.over.is_set():
                n += 1
                drive(n)
        thread = threading.Thread(target=run, daemon=True)
        if drive:
            thread.start()
        begin = time.monotonic()
        costs = [(self.cpu(p), press.bytes)]
        while time.monotonic() - begin < self.seconds:
            at = time.monotonic()
            if calls:
                p.ask("prompts/list")
                self.within(time.monotonic() - at, 1, "another call")
            self.settle(0.1)
            costs.append((self.cpu(p), press.bytes))
        self.assertLess(p.err().count("\n"), 100 * (self.seconds + 1))
        peak = (p.peak_kb() - base) * KB
        press.over.set()
        if drive:
            thread.join(support.LIVE)
        if support.sanitized():
            return
        self.assertLess(peak, limit * 5 // 4 + SLACK, "memory")
        half = costs[len(costs) // 2]
        first, last = (
            [after[i] - before[i] for i in (0, 1)]
            for before, after in ((costs[0], half), (half, costs[-1])))
        if first[1] > MB and last[1] > MB:
            self.assertLess(last[0] / last[1],
                            2 * first[0] / first[1] + 0.1 / last[1],
                            "CPU per byte, %r and %r" % (first, last))
        elif last[1] <= MB:
            self.assertLess(last[0], self.seconds / 4, "CPU without a byte")

    def drive(self, p, **args):
        """Calls that end in whatever error, one after the other."""
        def once(n):
            p.send(support.call("w%d" % n, **args))
            p.answer("w%d" % n)
        return once

    # messages

    @support.alone
    def test_max_message_bytes(self):
        limit = MB
        s, p = self.pair("--max-message", str(limit), "--max-result", "0")
        press = Press()

        def tool(rx, tx):
            size = rx.json["params"]["arguments"].get("size")
            head = '{"jsonrpc":"2.0","id":%d,"result":{"x":"' % \
                rx.json["id"] if size else ""
            if size:
                tx.json(head + "y" * (size - len(head) - 3) + '"}}')
                return
            tx.head(200, [("Content-Type", "application/json")])
            tx.chunk('{"jsonrpc":"2.0","result":{"x":"')
            press.chunks(tx, b"y" * 65536)
        s.methods["tools/call"] = tool
        self.assertIn("result", p.tool(size=limit))
        self.our_error(p.tool(size=limit + 1), "too_large", "maybe")
        self.worst(p, press, limit, self.drive(p))
        p.finish()

    @support.alone
    def test_batch(self):
        limit = 4 * MB
        s = self.mcp()
        p = self.splice(s, "--max-message", str(limit))
        p.hello("2025-03-26")
        press = Press()

        def tool(rx, tx):
            count = rx.json["params"]["arguments"].get("count")
            body = b"[" + b"{}," * (limit // 3 - 100) + b"{}]"
            if count:
                body = b"[" + b'{"jsonrpc":"2.0","method":"n"},' * \
                    (count - 1) + support.lines(
                        {"jsonrpc": "2.0", "id": rx.json["id"],
                         "result": {}}).strip() + b"]"
            press.bytes += len(body)
            tx.json(body)
        s.methods["tools/call"] = tool
        self.assertIn("result", p.tool(count=BOUND["BATCH"]))
        self.assertEqual(p.count_messages("n"), BOUND["BATCH"] - 1)
        self.our_error(p.tool(count=BOUND["BATCH"] + 1))
        self.assertEqual(p.count_messages("n"), BOUND["BATCH"] - 1)
        self.worst(p, press, limit, self.drive(p))
        p.finish()

    @support.alone
    def test_head_bytes(self):
        s, p = self.pair()
        press = Press()

        def tool(rx, tx):
            size = rx.json["params"]["arguments"].get("size")
            tx.begin()
            if not size:
                tx.raw(b"HTTP/1.1 200 OK\r\n")
                tx.chunked = False
                press.chunks(tx, b"X-Y: %s\r\n" % (b"y" * 1000))
                tx.cut()
                return
            body = support.lines({"jsonrpc": "2.0", "id": rx.json["id"],
                                  "result": {}})
            head = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n" % len(body))
            while size - len(head) - 2 > 2000:
                head += b"X-Y: %s\r\n" % (b"y" * 1000)
            head += b"X-Y: %s\r\n" % (b"y" * (size - len(head) - 9))
            tx.raw(head + b"\r\n" + body)
            tx.ended = True
        s.methods["tools/call"] = tool
        limit = BOUND["HEAD_BYTES"]
        self.assertIn("result", p.tool(size=limit))
        self.our_error(p.tool(size=limit + 1))
        self.worst(p, press, limit, self.drive(p))
        p.finish()

    @support.alone
    def test_error_body_bytes(self):
        limit = BOUND["ERROR_BODY_BYTES"]
        s, p = self.pair("--call-timeout", "30")
        press = Press()

        def tool(rx, tx):
            size = rx.json["params"]["arguments"].get("size")
            if size:
                tx.text(404, "Session not found".rjust(size))
                return
            tx.head(404, [("Content-Type", "text/plain")])
            press.chunks(tx, b"y" * 65536)
        s.methods["tools/call"] = tool
        p.tool(size=limit)
        self.assertEqual(s.inits(), 2)
        p.tool(size=limit + 1)
        self.assertEqual(s.inits(), 2)
        self.worst(p, press, limit, self.drive(p))
        p.finish()

    @support.alone
    def test_session_id_bytes(self):
        limit = BOUND["SESSION_ID_BYTES"]
        for size, taken in ((limit, True), (limit + 1, False),
                            (BOUND["HEAD_BYTES"] // 2, False)):
            s = self.mcp(stateful=False,
                         init_headers=[("Mcp-Session-Id", "s" * size)])
            p = self.splice(s)
            p.hello()
            self.assertIn("result", p.tool())
            self.assertEqual(s.executed[-1].sid,
                             "s" * size if taken else None)
            p.finish()

    @support.alone
    def test_question_id_bytes(self):
        limit, most = BOUND["QUESTION_ID_BYTES"], MB
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, "--max-message", str(most))
        p.hello()
        get = s.stream()
        get.event(request("a" * (limit - 2), "ping"))
        self.assertIsNotNone(p.find(
            lambda m: m.get("id") == "a" * (limit - 2)))
        get.event(request("b" * (limit - 1), "ping"))
        get.event(note("notifications/x"))
        p.server_message("notifications/x")
        self.assertEqual(p.count_messages("ping"), 1)
        press = Press()
        event = b"data: %s\n\n" % support.lines(
            request("c" * (most - 100), "ping")).strip()
        threading.Thread(target=press.chunks, args=(get, event),
                         daemon=True).start()
        self.worst(p, press, most)
        self.assertEqual(p.count_messages("ping"), 1)

    # memory

    @support.alone
    def test_early_bytes(self):
        limit, size = BOUND["EARLY_BYTES"], 50000
        press = Press()
        event = b"data: %s\n\n" % support.lines(
            note("notifications/x", {"x": "y" * size})).strip()

        def early(rx, tx):
            tx.sse()
            press.chunks(tx, event)
            tx.answer(s.init_result(rx))
        s = self.mcp(init=[early], stateful=False)
        p = self.splice(s, "--init-timeout", str(self.seconds + 30))
        base = self.pair()[1].rss_kb()
        p.send(init(1))
        self.worst(p, press, limit, calls=False, base=base)
        self.assertIn("result", p.answer(1))
        p.send(INITIALIZED)
        self.assertIn("result", p.ask("tools/list"))
        told = p.count_messages("notifications/x")
        self.assertEqual(told, limit // (size + 500), "messages of %d bytes"
                         % len(event))
        p.finish()

    @support.alone
    def test_partial(self):
        most, message = 8 * MB, 2 * MB
        s, p = self.pair("--max-buffer", str(most), "--max-message",
                         str(message))
        press = Press()
        gate = threading.Event()

        def tool(rx, tx):
            tx.sse()
            tx.chunk("data: ")
            gate.wait(support.LIVE)
            press.chunks(tx, b"y" * 65536)
        s.methods["tools/call"] = tool
        p.send(*[support.call(1000 + n) for n in range(64)])
        self.assertTrue(s.wait(lambda: len(s.seen("tools/call")) == 64))
        self.let(0.3)
        base = p.rss_kb()       # with 64 connections
        gate.set()
        self.worst(p, press, most // 2 + message, base=base)
        p.kill()

    @support.alone
    def test_stdout_bytes(self):
        limit = BOUND["STDOUT_BYTES"]
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, reader=False)
        p.send(init(1), INITIALIZED)
        get = s.stream()
        press = Press()
        event = b"data: %s\n\n" % support.lines(
            note("notifications/x", {"x": "y" * 20000})).strip()
        threading.Thread(target=press.chunks, args=(get, event),
                         daemon=True).start()
        self.worst(p, press, limit, calls=False)
        p.read()
        self.assertIn("result", p.ask("tools/list"))
        p.kill()

    @support.alone
    def test_cookies(self):
        s, p = self.pair()
        press = Press()
        count = [0]

        def tool(rx, tx):
            more = rx.json["params"]["arguments"].get("more", 50)
            heads = [("Set-Cookie", "c%d=%s" % (count[0] + i, "v" * 100))
                     for i in range(more)]
            count[0] += more
            press.bytes += 115 * more
            tx.result({}, heads)
        s.methods["tools/call"] = tool

        def sent():
            p.tool(more=0)
            return len((s.executed[-1].get("Cookie") or "").split(";"))
        limit = BOUND["COOKIES"]
        for _ in range(2):
            p.tool(more=limit // 2)
        self.assertEqual(sent(), limit)
        p.tool(more=1)
        self.assertEqual(sent(), limit // 2)
        self.worst(p, press, BOUND["COOKIES_BYTES"], self.drive(p))
        self.assertLessEqual(sent(), limit // 2)
        p.finish()

    # numbers

    @support.alone
    def test_questions(self):
        limit = BOUND["QUESTIONS"]
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        get.chunk(pings(0, limit))
        get.event(note("notifications/x"))
        p.server_message("notifications/x")
        self.assertEqual(p.count_messages("ping"), limit)
        self.assertEqual(len(s.replies), 0)
        get.chunk(pings(limit, 1))
        self.assertTrue(s.wait(lambda: s.replies))
        self.assertEqual(s.replies[0].json["id"], limit)
        self.assertIn("error", s.replies[0].json)
        press = Press()
        s.before = lambda rx, tx: rx.method == "POST" and rx.rpc is None and \
            press.over.wait(support.LIVE)
        threading.Thread(target=press.chunks, daemon=True,
                         args=(get, pings(limit + 1, 1000))).start()
        # No other calls: libcurl 7.88 reads on from one connection as long
        # as that has more, and small messages cost the most time.
        self.worst(p, press, limit * 2 * KB, calls=False)
        self.assertEqual(p.count_messages("ping"), limit)

    @support.alone
    def test_lingering(self):
        limit = BOUND["LINGERING"]
        s, p = self.pair()
        press = Press()
        lock = threading.Lock()
        open_now, most = [0], [0]

        def tool(rx, tx):
            with lock:
                open_now[0] += 1
                most[0] = max(most[0], open_now[0])
            tx.sse()
            tx.answer({})
            while not tx.gone(0.2):
                tx.chunk(": more\n" * 1000)
                press.bytes += 7000
            with lock:
                open_now[0] -= 1
        s.methods["tools/call"] = tool
        for _ in range(limit):
            p.tool()
        self.assertEqual(open_now[0], limit)
        p.tool()
        self.assertTrue(s.wait(lambda: open_now[0] == limit, 2))
        self.worst(p, press, limit * 64 * KB, self.drive(p))
        # one that was closed is noticed a moment later
        self.assertLess(most[0], 4 * limit)
        p.finish()

    @support.alone
    def test_redirects(self):
        limit = BOUND["REDIRECTS"]
        s, p = self.pair()
        press = Press()

        def before(rx, tx):
            if rx.rpc != "tools/call":
                return False
            left = rx.json["params"]["arguments"].get("left", 1000)
            done = int(rx.target.rpartition("/")[2] or 0) \
                if rx.target.startswith("/again/") else 0
            press.bytes += 1000
            if done < left:
                tx.text(307, "", [("Location", "/again/%d" % (done + 1))])
                return True
            tx.result({})
            return True
        s.before = before
        self.assertIn("result", p.tool(left=limit))
        self.our_error(p.tool(left=limit + 1))
        self.worst(p, press, 0, self.drive(p))
        p.finish()

    # rates

    @support.alone
    def test_log_lines(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        press = Press()
        threading.Thread(target=press.chunks, daemon=True,
                         args=(get, b"data: no message\n\n" * 1000)).start()
        self.worst(p, press, MB, self.drive(p))
        p.finish()


class Shares(support.Case):
    """What --max-buffer is shared out to: half of it for each kind."""
    most, half, size = 8 * MB, 4 * MB, 50 * KB

    def meta(self):
        return {"_meta": {
            eraserver.META + "protocolVersion": eraserver.MODERN,
            eraserver.META + "clientInfo": {"name": "c", "version": "1"},
            eraserver.META + "clientCapabilities": {
                "elicitation": {"form": {}}}}}

    def takes(self, p, line):
        """How many bytes of lines line(n) are read, with those in the pipe."""
        fd = p.proc.stdin.fileno()
        os.set_blocking(fd, False)
        taken, limit = 0, pace.Limit(1)
        data, n = line(0), 0
        while limit.left() > 0:
            try:
                wrote = os.write(fd, data)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            taken, limit = taken + wrote, pace.Limit(1)
            data = data[wrote:]
            if not data:
                n += 1
                data = line(n)
            self.assertLess(taken, 3 * self.half)
        os.set_blocking(fd, True)
        return taken

    def is_half(self, taken):
        self.assertGreater(taken, self.half - 2 * self.size)
        self.assertLess(taken, self.half * 5 // 4)

    def test_held(self):
        s = self.mcp(init=[lambda rx, tx: s.closing.wait(60)])
        p = self.splice(s, "--max-buffer", self.most)
        p.send(init(1))
        self.is_half(self.takes(p, lambda n: lines(
            support.call(100 + n, x="y" * self.size))))
        p.kill()

    def test_undecided(self):
        s = self.mcp()
        s.before = lambda rx, tx: s.closing.wait(60)
        p = self.splice(s, "--max-buffer", self.most)
        count = 2 * self.half // self.size
        p.send(*[request(n, "tools/list", dict(self.meta(),
                                               x="y" * self.size))
                 for n in range(count)])
        self.our_error(p.answer(count - 1), "busy", "no")
        with p.cond:
            busy = len(p.messages)
        self.is_half((count - busy) * self.size)
        p.kill()

    def test_parked_answers(self):
        for size, taken in ((self.half, True), (self.half + 1, False)):
            gate, sent = threading.Event(), threading.Event()

            def tool(rx, tx):
                ident = rx.json["id"]
                tx.sse()
                tx.event(request(77, "elicitation/create",
                                 {"message": "m", "requestedSchema": {}}))
                gate.wait(support.LIVE)
                empty = json.dumps({"jsonrpc": "2.0", "id": ident,
                                    "result": {"x": ""}})
                tx.event(empty.replace('""', '"%s"' %
                                       ("y" * (size - len(empty)))))
                sent.set()
            s = self.mcp()
            s.methods["tools/call"] = tool
            p = self.splice(s, "--max-buffer", self.most,
                            "--max-result", "0")
            p.send(request(1, "tools/call", dict(
                self.meta(), name="x", arguments={})))
            state = p.answer(1)["result"]["requestState"]
            gate.set()
            self.assertTrue(sent.wait(support.LIVE))
            self.let(0.5)
            p.send(request(2, "tools/call", dict(
                self.meta(), name="x", arguments={}, inputResponses={},
                requestState=state)))
            if taken:
                self.assertIn("result", p.answer(2))
            else:
                self.our_error(p.answer(2), "too_large", "maybe")
            p.kill()

    def test_stdout_queue(self):
        """Lines that are answered with an error, and nobody reads that."""
        s = self.mcp()
        p = self.splice(s, "--max-buffer", self.most, reader=False)
        self.is_half(self.takes(p, lambda n: lines(
            {"jsonrpc": "2.0", "id": "y" * self.size, "method": 5})))
        p.kill()


if __name__ == "__main__":
    support.main()
