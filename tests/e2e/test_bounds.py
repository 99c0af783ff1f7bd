"""A hostile peer pushes against each bound.  A test of Bounds proves one row
of src/base/bound_rows.h: the value itself is accepted, one more is refused,
and then the server sends as much as it can for some seconds.  The table WALK
at the end has the rows whose values are proved elsewhere: each entry says
which peer floods the proxy, and how.  Meanwhile memory stays within 5/4 of the
limit, a byte costs as much CPU at the end as at the beginning, the user's
other calls are answered within a second, and stderr gets less than 100 lines a
second.

BOUNDS_SECONDS is the length of a flood (contrib/check --all: 10).  What floods
each row, or why nothing can, is in tests/data/bounds."""

import json
import os
import re
import socket
import statistics
import threading
import time

import authserver
import eraserver
import pace
import support
from support import BOUND, INITIALIZED, init, lines, note, request

# The length of each flood.
SECONDS = float(os.environ.get("BOUNDS_SECONDS", "1.5"))
ENOUGH, LONG = 1.5, 10  # a shorter flood cannot measure CPU
MORE = 5                # most extra seconds until the cost of a byte is flat
KB, MB = 1 << 10, 1 << 20
# Memory that connections, libraries and the allocator take besides.
SLACK = 4 * MB
# If no more bytes than FEW come, CPU without a byte is checked; up to TICK of
# CPU between two samples does not count.
FEW = 100 * KB
TICK = 0.001


def pings(first, n):
    return b"".join(b'data: {"jsonrpc":"2.0","id":%d,"method":"ping"}\n\n' % i
                    for i in range(first, first + n))


class Press:
    """Sends as fast as the proxy reads, and counts the bytes."""

    def __init__(self):
        self.bytes = 0
        self.over = threading.Event()

    def chunks(self, tx, data, most=None):
        """Sends the same chunk again and again, until the connection ends."""
        try:
            while not self.over.is_set() and (most is None or most > 0):
                tx.chunk(data)
                self.bytes += len(data)
                most = most and most - 1
        except OSError:
            tx.cut()


class Pressed(support.Case):
    """The checks for every flood."""
    enough = LONG

    def cpu(self, p):
        """The proxy's CPU seconds; 0 if they cannot be read."""
        try:
            # clock_getcpuclockid of Linux
            return time.clock_gettime((~p.pid << 3) | 2)
        except (AttributeError, OSError):
            return 0

    def is_flat(self, costs):
        """Does a byte still cost what it cost in the beginning?  On a busy
        machine bytes come in smaller pieces and cost more, but not in every
        sample; a cost that grows with the flood is never low again."""
        rates = [max(0, later[0] - now[0] - TICK) / (later[1] - now[1])
                 for now, later in zip(costs, costs[1:])
                 if later[1] > now[1]]
        n = len(rates)
        return n < 4 or min(rates[n * 3 // 4:]) <= \
            2 * statistics.median(rates[:n // 2])

    def worst(self, p, press, limit, drive=None, calls=True, base=None,
              served=(), flat=True):
        """Floods the proxy for some seconds, and longer until a byte costs as
        much as in the beginning.  A thread calls drive(n) again and again.
        Each request in served counts as 1 KiB.  flat: the flood is the same
        all the time, so the CPU per byte is judged."""
        def work():
            return press.bytes + KB * len(served)

        base = base or p.rss_kb()

        def run():
            n = 0
            while not press.over.is_set():
                n += 1
                drive(n)
        thread = threading.Thread(target=run, daemon=True)
        if drive:
            thread.start()
        judged = flat and SECONDS >= self.enough and \
            not support.sanitized() and not pace.checks_itself()
        begin = time.monotonic()
        end = begin + SECONDS
        costs = [(self.cpu(p), work())]
        while time.monotonic() < end or judged and \
                not self.is_flat(costs) and time.monotonic() < end + MORE:
            at = time.monotonic()
            if calls:
                p.ask("prompts/list")
                self.within(time.monotonic() - at, 1, "another call")
            self.settle(0.1)
            costs.append((self.cpu(p), work()))
        # the flood touches this many seconds of the clock; each may have one
        # more line, which tells how many were left out
        seconds = int(time.monotonic() - begin) + 2
        self.assertLessEqual(p.err().count("\n"),
                             (BOUND["LOG_LINES"] + 1) * seconds)
        peak = (p.peak_kb() - base) * KB
        press.over.set()
        if drive:
            thread.join(support.LIVE)
        if support.sanitized():
            return
        self.assertLess(peak, limit * 5 // 4 + SLACK, "memory")
        if judged:
            self.assertTrue(self.is_flat(costs), "CPU per byte: %r" % costs)
            half = costs[len(costs) // 2]
            if costs[-1][1] - half[1] <= FEW:
                self.assertLess(costs[-1][0] - half[0],
                                SECONDS * pace.SLOW / 4, "CPU without a byte")

    def drive(self, p, **args):
        """Calls one after the other, with any result or error."""
        def once(n):
            p.send(support.call("w%d" % n, **args))
            p.answer("w%d" % n)
        return once


@support.plain
class Bounds(Pressed):
    enough = ENOUGH

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
        self.assertIn("result", p.tool(count=BOUND["MANY"]))
        self.assertEqual(p.count_messages("n"), BOUND["MANY"] - 1)
        self.our_error(p.tool(count=BOUND["MANY"] + 1))
        self.assertEqual(p.count_messages("n"), BOUND["MANY"] - 1)
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
        limit = BOUND["TEXT_BYTES"]
        self.assertIn("result", p.tool(size=limit))
        self.our_error(p.tool(size=limit + 1))
        self.worst(p, press, limit, self.drive(p))
        p.finish()

    @support.alone
    def test_error_body_bytes(self):
        limit = BOUND["PART_BYTES"]
        s, p = self.pair("--call-timeout", "30")
        press = Press()

        def tool(rx, tx):
            size = rx.json["params"]["arguments"].get("size")
            if size:
                tx.text(404, "." + "Session not found".rjust(size - 1))
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
        limit = BOUND["HEADER_BYTES"]
        for size, taken in ((limit, True), (limit + 1, False),
                            (BOUND["TEXT_BYTES"] // 2, False)):
            s = self.mcp(stateful=False,
                         init_headers=[("Mcp-Session-Id", "s" * size)])
            p = self.splice(s)
            p.hello()
            self.assertIn("result", p.tool())
            self.assertEqual(s.executed[-1].sid,
                             "s" * size if taken else None)
            self.assertEqual("id of %d bytes, which is too long" % size
                             in p.err(), not taken)
            p.finish()

    @support.alone
    def test_question_id_bytes(self):
        limit, most = BOUND["ID_BYTES"], MB
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, "--max-message", str(most))
        p.hello()
        get = s.stream()
        get.event(request("a" * (limit - 2), "ping"))
        self.assertEqual(p.server_message("ping")["id"], 1)
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
        limit, size = BOUND["QUEUE_BYTES"], 50000
        press = Press()
        event = b"data: %s\n\n" % support.lines(
            note("notifications/x", {"x": "y" * size})).strip()

        def early(rx, tx):
            tx.sse()
            press.chunks(tx, event)
            tx.answer(s.init_result(rx))
        s = self.mcp(init=[early], stateful=False)
        p = self.splice(s, "--init-timeout", str(SECONDS + 30),
                        "--start", "wait")
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
        # libcurl has a buffer of 16 KiB for each, most of it not touched yet
        self.worst(p, press, most // 2 + message + MB, base=base)
        p.kill()

    @support.alone
    def test_stdout_bytes(self):
        limit = BOUND["QUEUE_BYTES"]
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
        limit = BOUND["FEW"]
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
        limit = BOUND["SOME"]
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
        # No other calls: libcurl 7.88 keeps reading from one connection while
        # that has data, and small messages cost the most time.
        self.worst(p, press, limit * 2 * KB, calls=False)
        self.assertEqual(p.count_messages("ping"), limit)

    @support.alone
    def test_lingering(self):
        limit = BOUND["FEW"]
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
        # the server notices a closed connection a moment later
        self.assertLess(most[0], 4 * limit)
        p.finish()

    @support.alone
    def test_redirects(self):
        limit = BOUND["TRIES"]
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


@support.plain
class Walk(Pressed, eraserver.Case):
    """The rows of WALK below.  Their exact values are proved elsewhere; here
    the peer floods the proxy without end."""

    def flood(self, p, press, line):
        """The client writes line(0), line(1), ... as fast as the proxy reads.
        Short lines are written one by one, so that they do not mix with those
        of other calls."""
        def run():
            n = 0
            try:
                while not press.over.is_set():
                    data = lines(line(n))
                    p.write(data)
                    press.bytes += len(data)
                    n += 1
            except (OSError, ValueError):
                pass
        threading.Thread(target=run, daemon=True).start()


def held(press):
    """A handler that never answers."""
    return lambda rx, tx: press.over.wait(support.LIVE)


# The drivers.  Each returns a function of a test case, the most memory that
# the proxy may take, and options.

def answer(status, body, headers=(), ctype="application/json"):
    """Each call gets this answer; ID in it becomes the call's id."""
    def drive(case, limit, *args):
        s, p = case.pair(*args)
        press = Press()

        def tool(rx, tx):
            data = body.replace(b"ID", json.dumps(rx.json["id"]).encode())
            press.bytes += len(data) + sum(len(v) for _, v in headers)
            tx.body(status, data, ctype, headers)
        s.methods["tools/call"] = tool
        case.worst(p, press, limit, case.drive(p))
        p.kill()
    return drive


def stream(chunk, calls=True):
    """A call's stream repeats the chunk without end."""
    def drive(case, limit, *args):
        s, p = case.pair(*args)
        press = Press()

        def tool(rx, tx):
            tx.sse()
            press.chunks(tx, chunk)
        s.methods["tools/call"] = tool
        p.send(support.call("w"))
        case.worst(p, press, limit, calls=calls)
        p.kill()
    return drive


def short_streams(case, limit, *args):
    """The listen stream and a call's stream can be resumed, and end at once
    each time."""
    s = case.mcp()
    press = Press()

    def tool(rx, tx):
        press.bytes += 100
        tx.sse()
        tx.chunk(b"id: 1\nretry: 0\ndata: {}\n\n")
    s.on_get = tool
    s.methods["tools/call"] = tool
    p = case.splice(s, *args)
    p.send(init(1), INITIALIZED, support.call("w"))
    p.answer(1)
    case.worst(p, press, limit)
    p.kill()


def receipt(case, limit, *args):
    """Notifications are acknowledged with a body that has no end."""
    s, p = case.pair(*args)
    press = Press()

    def taken(rx, tx):
        tx.head(200, [("Content-Type", "application/json")])
        press.chunks(tx, b"y" * 65536)
    s.on_note = taken
    case.flood(p, press, lambda n: press.over.wait(0.01) or
               note("notifications/x"))
    # No other calls: they wait while parts of answers fill their share.
    case.worst(p, press, limit, calls=False)
    p.kill()


def listing(shape, tools, cursor=None):
    """Each tools/list gets this answer."""
    def drive(case, limit, *args):
        s = case.era(shape)
        press = Press()
        result = {"tools": tools}
        if cursor:
            result["nextCursor"] = cursor
        size = len(json.dumps(result))

        def listed(call):
            press.bytes += size
            call.result(result)
        s.methods["tools/list"] = listed
        p = case.legacy(s, *args)

        def once(n):
            p.send(request("w%d" % n, "tools/list"))
            p.answer("w%d" % n)
        case.worst(p, press, limit, once)
        p.kill()
    return drive


def result(result):
    """Each call to a modern server gets this result."""
    def drive(case, limit, *args):
        s = case.era("modern")
        press = Press()
        text = json.dumps(result)

        def before(rx, tx):
            if rx.rpc != "tools/call":
                return False
            press.bytes += len(text)
            tx.json('{"jsonrpc":"2.0","id":%s,"result":%s}' %
                    (json.dumps(rx.json["id"]), text))
            return True
        s.before = before
        p = case.legacy(s, *args)
        case.worst(p, press, limit, case.drive(p))
        p.kill()
    return drive


def before_status(case, limit, *args):
    """Messages on the HTTP+SSE stream, while a POST has no status yet."""
    s = case.era("sse")
    p = case.legacy(s, *args)
    press = Press()
    event = b"data: %s\n\n" % lines(
        note("notifications/x", {"x": "y" * 5000})).strip()

    def before(rx, tx):
        if rx.rpc != "tools/call":
            return False
        press.chunks(s.sessions[s.made[0]].streams[0], event)
        tx.body(202)
        return True
    s.before = before
    p.send(support.call("w"))
    case.worst(p, press, limit, calls=False)
    p.kill()


def questions(size):
    """A legacy server asks questions of this size, without end, for one
    request of a modern client."""
    def drive(case, limit, *args):
        s = case.mcp()
        press = Press()

        def tool(rx, tx):
            n = 0
            tx.sse()
            while not press.over.is_set():
                n += 1
                data = b"data: %s\n\n" % lines(request(
                    n, "elicitation/create",
                    {"message": "m" * size, "requestedSchema": {}})).strip()
                tx.chunk(data)
                press.bytes += len(data)
        s.methods["tools/call"] = tool
        p = case.modern(s, *args)
        p.ask("prompts/list")
        base = p.rss_kb()
        p.tell("x")
        case.worst(p, press, limit, calls=False, base=base)
        p.kill()
    return drive


def parks(size, answers=0):
    """A modern client's calls, for each of which the legacy server asks; with
    answers, it soon answers the call with so many bytes."""
    def drive(case, limit, *args):
        s = case.mcp()
        press = Press()

        def tool(rx, tx):
            tx.sse()
            tx.event(request(rx.json["id"], "elicitation/create",
                             {"message": "m" * size, "requestedSchema": {}}))
            press.over.wait(0.1 if answers else support.LIVE)
            tx.answer({"x": "y" * answers})
        s.methods["tools/call"] = tool
        p = case.modern(s, *args)
        p.ask("prompts/list")
        base = p.rss_kb()
        case.flood(p, press, lambda n: of_modern(n, "tools/call", name="x"))
        case.worst(p, press, limit, calls=False, base=base,
                   flat=False)
        p.kill()
    return drive


def answers_late(case, limit, *args):
    """Answers of the client that the server never acknowledges."""
    s = case.mcp()
    s.on_get = s.listen
    p = case.splice(s, *args)
    p.hello()
    s.stream().chunk(pings(0, BOUND["SOME"]))
    case.assertTrue(s.wait(
        lambda: p.count_messages("ping") == BOUND["SOME"]))
    press = Press()
    hold = held(press)
    s.before = lambda rx, tx: rx.method == "POST" and rx.rpc is None and \
        hold(rx, tx)
    base = p.rss_kb()
    case.flood(p, press, lambda n: {"jsonrpc": "2.0", "id": n + 1,
                                    "result": {"x": "y" * 100000}})
    case.worst(p, press, limit, calls=False, base=base,
               served=s.requests)
    p.kill()


def notices(case, limit, *args):
    """Notifications that are too large for subscriptions/listen."""
    s = case.mcp()
    s.on_get = s.listen
    p = case.modern(s, *args)
    p.ask("prompts/list")
    p.listen(toolsListChanged=True)
    get = s.stream()
    press = Press()
    event = b"data: %s\n\n" % lines(note(
        "notifications/tools/list_changed", {"x": "y" * 2 * MB})).strip()
    threading.Thread(target=press.chunks, args=(get, event),
                     daemon=True).start()
    case.worst(p, press, limit, calls=False)
    p.kill()


def client(line, held_methods=(), note_held=False, calls=True, shape=None):
    """Lines of a legacy client, while the server never answers these methods,
    or never acknowledges notifications."""
    def drive(case, limit, *args):
        s = case.era(shape) if shape else case.mcp()
        p = case.legacy(s, *args)
        press = Press()
        for method in held_methods:
            s.methods[method] = held(press)
        if note_held:
            s.on_note = held(press)
        base = p.rss_kb()
        case.flood(p, press, line)
        case.worst(p, press, limit, calls=calls, base=base,
                   served=s.requests)
        p.kill()
    return drive


def first(line, reader=True):
    """Lines of a client whose server has not answered anything yet."""
    def drive(case, limit, *args):
        s = case.mcp()
        press = Press()
        s.before = held(press)
        p = case.splice(s, *args, reader=reader)
        case.let(0.2)
        base = p.rss_kb()
        case.flood(p, press, line)
        case.worst(p, press, limit, calls=False, base=base,
                   served=s.requests)
        p.kill()
    return drive


def modern(line):
    """Lines of a modern client, whose legacy server the proxy knows."""
    def drive(case, limit, *args):
        s = case.era("legacy")
        p = case.modern(s, *args)
        p.ask("tools/list")
        press = Press()
        base = p.rss_kb()
        case.flood(p, press, line)
        case.worst(p, press, limit, calls=False, base=base,
                   served=s.requests)
        p.kill()
    return drive


def of_modern(n, method, **params):
    """A request of a modern client."""
    return request("m%d" % n, method, dict(params, _meta={
        eraserver.META + "protocolVersion": eraserver.MODERN,
        eraserver.META + "clientInfo": {"name": "c", "version": "1"},
        eraserver.META + "clientCapabilities": {
            "elicitation": {"form": {}}}}))


def text(fmt, *args):
    return (fmt % args).encode()


ERROR = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"%s"}}'
RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"x":"%s"}}'
BUFFER = ("--max-buffer", str(8 * MB))
HALF = 4 * MB


def uri(n, size):
    return ("u%d-" % n).ljust(size, "y")


def named(n):
    """A tool parameter that is mirrored in a header."""
    return {"type": "string", "x-mcp-header": "h%d" % n}


def schemas(tools, properties):
    """Tools with so many parameters, each mirrored in a header."""
    return [{"name": "t%d" % n, "inputSchema": {
        "type": "object",
        "properties": {"p%d" % i: named(i) for i in range(properties)}}}
        for n in range(tools)]


# An entry for each row: the driver, the most memory, and options.
WALK = {
    # the server's answers
    "challenges bytes": (answer(401, b"", [
        ("WWW-Authenticate", 'Bearer realm="%s"' % ("r" * 1000))] * 60),
        64 * KB, "--auth", "none"),
    "event words bytes": (answer(
        404, text("data: %s\n\n", "words " * 160000),
        ctype="text/event-stream"), 2 * MB),
    "loss text bytes": (answer(200, text(ERROR, "a session " * 90000)),
                        4 * MB),
    "loss text depth": (answer(404, b"[" * 120000 + b"]" * 120000), MB),
    "pattern text bytes": (answer(200, text(ERROR, "lost " * 100000)), 2 * MB,
                           "--session-lost-pattern", "is gone"),
    "loss result bytes": (answer(200, text(
        '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":'
        '[{"type":"text","text":"%s"}]}}', "lost " * 1500)), MB,
        "--session-lost-pattern", "is gone", "--session-lost-in-results"),
    "error kept bytes": (answer(
        404, text(ERROR, "Session not found" + "y" * 250000)), 2 * MB),
    "max result bytes": (answer(200, text(RESULT, "y" * MB)), 3 * MB,
                         "--max-result", "65536"),
    "max depth": (stream(b"data: " + b"[" * 60000 + b"\n\n"), MB),
    "event field bytes": (stream(text(
        "id: %s\nevent: %s\n\n", "i" * 30000, "e" * 30000)), MB),
    "answered": (stream(b"data: %s\n\n" % lines(note(
        "notifications/progress", {"progressToken": 0, "progress": 1}
    )).strip() * 100, calls=False), 2 * MB),
    "listen streams": (short_streams, MB),
    # how many answers are under way depends on the speed of the machine
    "control bytes": (receipt,
                      HALF + BOUND["FEW"] * BOUND["PART_BYTES"],
                      "--max-message", str(2 * MB), *BUFFER),
    "endpoint messages bytes": (before_status, BOUND["QUEUE_BYTES"]
                                ),
    "asked": (questions(10), MB),
    # the questions, the answer that has them, and its copy on stdout
    "asked bytes": (questions(100000), 3 * BOUND["ASKED_BYTES"]),
    # for each call the question, and the answer that has it
    "parked": (parks(1000), HALF + BOUND["SOME"] * 64 * KB, *BUFFER),
    "parked answers": (parks(10, 100000), 3 * HALF + BOUND["SOME"] * 64 * KB,
                       *BUFFER),
    "notice bytes": (notices, 8 * MB),
    "inputs": (result({
        "resultType": "input_required", "requestState": "s",
        "inputRequests": {"q%d" % n: {
            "method": "elicitation/create",
            "params": {"message": "m", "requestedSchema": {}}}
            for n in range(2000)}}), 2 * MB),
    "inputs bytes": (result({
        "resultType": "input_required", "requestState": "s" * (9 * MB)}),
        3 * BOUND["INPUTS_BYTES"]),
    "rounds": (result({"resultType": "input_required", "requestState": "s"}),
               MB),
    # the server's tools
    "tools": (listing("legacy", [{"name": "t%d" % n, "inputSchema": {}}
                                 for n in range(12000)]), 8 * MB),
    "tool list bytes": (listing("legacy", [{
        "name": "t", "description": "d" * (5 * MB)}]), 20 * MB),
    "tool cursor bytes": (listing("legacy", [], "c" * MB), 4 * MB),
    "output schema depth": (listing("modern", [{
        "name": "t%d" % n, "inputSchema": {"type": "object"},
        "outputSchema": eval("{'items':" * 80 + "{}" + "}" * 80)}
        for n in range(300)]), 4 * MB),
    "mirrored bytes": (listing("modern", schemas(1000, 60)),
                       BOUND["TOOLS_BYTES"] + 16 * MB),
    "mirror parameters": (listing("modern", schemas(2, 12000)), 8 * MB),
    # the client's lines
    "line id bytes": (client(lambda n: request("i" * 100000, "x",
                                               {"x": "y" * MB}), calls=False),
                      2 * MB, "--max-message", str(MB)),
    "max inflight": (client(lambda n: support.call("f%d" % n, x="y" * 1000),
                            ["tools/call"], calls=False), HALF + 16 * MB,
                     *BUFFER),
    "notifications": (client(lambda n: note("notifications/x",
                                            {"x": "y" * 1000}),
                             note_held=True, calls=False), HALF + 4 * MB,
                      *BUFFER),
    "cancels": (client(lambda n: note(
        "notifications/cancelled", {"requestId": "f%d" % (n // 2)})
        if n % 2 else support.call("f%d" % (n // 2)), ["tools/call"],
        note_held=True, calls=False), HALF + 32 * MB, *BUFFER),
    "answers": (client(lambda n: {"jsonrpc": "2.0", "id": n, "result": {}}),
                MB),
    "client answers": (answers_late, HALF + 12 * MB, *BUFFER),
    "header bytes": (client(lambda n: support.call("f%d" % n, "x" * 9000),
                            calls=False, shape="modern"), HALF + 4 * MB,
                     "--max-inflight", "8", *BUFFER),
    "subscribed": (client(lambda n: request(
        "s%d" % n, "resources/subscribe", {"uri": uri(n, 100)}),
        calls=False, shape="modern"), HALF + 2 * MB, *BUFFER),
    "subscriptions": (client(lambda n: request(
        "s%d" % n, "resources/subscribe", {"uri": uri(n, 100)}),
        calls=False), HALF + 2 * MB, *BUFFER),
    "setting bytes": (client(lambda n: request(
        "s%d" % n, "resources/subscribe", {"uri": uri(n, 100000)}),
        calls=False), HALF + 8 * MB, "--max-inflight", "8", *BUFFER),
    "held": (first(lambda n: support.call("f%d" % n, x="y" * 10000) if n else
                   init(1)), HALF, *BUFFER),
    "undecided": (first(lambda n: of_modern(n, "tools/list", x="y" * 10000)),
                  HALF, *BUFFER),
    "probes": (first(lambda n: of_modern(n, "server/discover")), HALF,
               *BUFFER),
    "stdout queue": (first(lambda n: {"jsonrpc": "2.0", "id": "y" * 1000,
                                      "method": 5}, reader=False), HALF,
                     *BUFFER),
    "listens": (modern(lambda n: of_modern(
        n, "subscriptions/listen", notifications={
            "resourceSubscriptions": [uri(10 * n + i, 30)
                                      for i in range(10)]})), HALF + 4 * MB,
                *BUFFER),
    "watched bytes": (modern(lambda n: of_modern(
        n, "subscriptions/listen", notifications={
            "resourceSubscriptions": [uri(n, 200000)]})), HALF + 4 * MB,
                      *BUFFER),
}


@support.plain
class Port(Pressed, authserver.Case):
    """Another program on this machine floods the redirect's port."""

    def press(self, data, limit):
        m = self.protected(self.auth())
        p = self.splice(None, "login", m.url, "--no-browser")
        found = None
        left = pace.Limit(support.LIVE)
        while not found and left.left() > 0:
            found = re.search(r"redirect_uri=http%3A%2F%2F127.0.0.1%3A(\d+)",
                              p.err())
            time.sleep(0.02)
        self.assertTrue(found, p.err())
        press = Press()

        def visit():
            while not press.over.is_set():
                try:
                    with socket.create_connection(
                            ("127.0.0.1", int(found[1])), 1) as c:
                        while not press.over.is_set():
                            press.bytes += c.send(data) if data else \
                                len(c.recv(1))
                except OSError:
                    pass
        for _ in range(2 * BOUND["CONNECTIONS"]):
            threading.Thread(target=visit, daemon=True).start()
        self.worst(p, press, limit, calls=False)
        p.kill()

    @support.alone
    def test_browser_connections(self):
        self.press(b"", MB)

    @support.alone
    def test_browser_request_bytes(self):
        self.press(b"y" * 1000, MB)


def walk(row):
    driver, limit, *args = WALK[row]
    return support.alone(lambda self: driver(self, limit, *args))


for name in WALK:
    setattr(Walk, "test_" + name.replace(" ", "_"), walk(name))


@support.plain
class Shares(support.Case):
    """Half of --max-buffer is the bound of each kind of memory."""
    most, half, size = 8 * MB, 4 * MB, 50 * KB

    def meta(self):
        return {"_meta": {
            eraserver.META + "protocolVersion": eraserver.MODERN,
            eraserver.META + "clientInfo": {"name": "c", "version": "1"},
            eraserver.META + "clientCapabilities": {
                "elicitation": {"form": {}}}}}

    def takes(self, p, line):
        """How many bytes of line(0), line(1), ... the proxy and the pipe
        accept."""
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
        s = self.mcp(init=[lambda rx, tx: s.closing.wait(600)])
        p = self.splice(s, "--max-buffer", self.most, "--init-timeout", "600",
                        "--start", "wait")
        p.send(init(1))
        self.is_half(self.takes(p, lambda n: lines(
            support.call(100 + n, x="y" * self.size))))
        p.kill()

    def test_undecided(self):
        s = self.mcp()
        s.before = lambda rx, tx: s.closing.wait(60)
        p = self.splice(s, "--max-buffer", self.most, "--start", "wait")
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
        """Each line gets an error, and the client does not read it."""
        s = self.mcp()
        p = self.splice(s, "--max-buffer", self.most, reader=False)
        self.is_half(self.takes(p, lambda n: lines(
            {"jsonrpc": "2.0", "id": "y" * self.size, "method": 5})))
        p.kill()


if __name__ == "__main__":
    support.main()
