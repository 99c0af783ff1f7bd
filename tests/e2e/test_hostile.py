"""A server that floods, stalls or asks for ever: what one side does must not
be able to make the other wait, or mcpsplice work or hold without bound."""

import os
import threading
import time

try:
    import resource
except ImportError:
    resource = None

import pace
import support
from support import INITIALIZED, call, init, note, request

# Above the 3 or 4 sessions that a bounded client makes in that time.
FEW_SESSIONS = 8
STORM = 2.0


class Crowd:
    """A handler that keeps each request until free is set, and counts how
    many it has at once."""

    def __init__(self, server):
        self.server = server
        self.free = threading.Event()
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, rx, tx):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.free.wait(support.LIVE)
        with self.lock:
            self.now -= 1


def pings(first, n):
    """n questions as server-sent events."""
    return b"".join(b'data: {"jsonrpc":"2.0","id":%d,"method":"ping"}\n\n' % i
                    for i in range(first, first + n))


def stay(tx):
    """Leaves a stream open."""
    while not tx.gone(0.2):
        pass


def react(p, seconds, method, reply):
    """Answers each message with that method at once, for so long."""
    end = time.monotonic() + seconds
    seen = 0
    while time.monotonic() < end:
        with p.cond:
            new = p.messages[seen:]
        seen += len(new)
        for m in new:
            if m and m.get("method") == method:
                p.send(reply(m))
        time.sleep(0.002)


class Storms(support.Case):
    def test_refused_answers(self):
        """A server that asks, and forgets the session over each answer, gets
        no new session each time; calls are answered still."""
        s = self.mcp()

        def on_get(rx, tx):
            tx.sse()
            tx.event(request("p", "ping"))
            stay(tx)
        s.on_get = on_get

        def before(rx, tx):
            if rx.method == "POST" and rx.rpc is None:
                tx.text(404, "session not found")
                return True
            return False
        s.before = before
        p = self.splice(s)
        p.hello()
        react(p, STORM, "ping",
              lambda m: {"jsonrpc": "2.0", "id": m["id"], "result": {}})
        self.assertLess(s.inits(), FEW_SESSIONS)
        self.assertIn("result", p.ask("tools/list"))
        p.finish()

    def test_lists_that_lose_the_session(self):
        """Each second tools/list loses the session.  A client that lists anew
        whenever it is told to is not told so in a circle."""
        s = self.mcp(capabilities={"tools": {"listChanged": True}})
        count = []

        def before(rx, tx):
            if rx.method == "POST" and rx.rpc == "tools/list":
                count.append(rx)
                if len(count) % 2:
                    s.forget()
            return False
        s.before = before
        p = self.splice(s)
        p.hello()
        p.send(request(5, "tools/list"))
        ids = iter(range(1000, 1000000))
        react(p, STORM, "notifications/tools/list_changed",
              lambda m: request(next(ids), "tools/list"))
        self.assertLess(s.inits(), FEW_SESSIONS)
        p.answer(5)     # it may have lost its session twice
        self.assertLess(
            p.count_messages("notifications/tools/list_changed"), 2)
        p.finish()


class Floods(support.Case):
    def test_before_the_answer_to_initialize(self):
        """What a server tells before it answers initialize comes after the
        answer, up to a bound."""
        sent = 60000

        def early(rx, tx):
            tx.sse()
            block = (b'data: {"jsonrpc":"2.0",'
                     b'"method":"notifications/x"}\n\n') * 1000
            for _ in range(sent // 1000):
                tx.chunk(block)
            tx.answer(s.init_result(rx))
        s = self.mcp(init=[early], stateful=False)
        p = self.splice(s)
        p.hello()
        p.ask("tools/list")
        told = p.count_messages("notifications/x")
        self.assertGreater(told, 0)
        self.assertLess(told, sent // 2)
        self.assertEqual(p.messages[0].get("id"), "hello")
        p.finish()

    def test_questions(self):
        """So many questions of a server are open at the client, and no more;
        when they are answered there is room again."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        get.chunk(pings(0, 2000))
        self.assertIsNotNone(p.find(lambda m: m.get("method") == "ping"))
        get.event(note("notifications/x"))
        p.server_message("notifications/x")
        self.assertLessEqual(p.count_messages("ping"), 256)
        self.assertIn("result", p.ask("tools/list"))
        with p.cond:
            asked = [m["id"] for m in p.messages
                     if m.get("method") == "ping"]
        p.send(*[{"jsonrpc": "2.0", "id": i, "result": {}} for i in asked])
        self.assertTrue(s.wait(lambda: sum(
            "result" in r.json for r in s.replies) == len(asked)))
        get.event(request("again", "ping"))
        self.assertIsNotNone(p.find(
            lambda m: m.get("method") == "ping" and m["id"] not in asked))
        p.finish()

    def test_notifications_of_the_client(self):
        """A server that leaves notifications without answer has so many at
        once; the others wait their turn, and none is lost."""
        n = 400
        s, p = self.pair()
        s.on_note = crowd = Crowd(s)
        p.send(*[note("notifications/x", {"i": i}) for i in range(n)])
        self.assertTrue(s.wait(lambda: crowd.now >= 32))
        self.settle(0.5)
        most = crowd.most
        crowd.free.set()
        self.assertLessEqual(most, 100)
        self.assertTrue(s.wait(lambda: len(s.seen("notifications/x")) == n))
        self.assertIn("result", p.ask("tools/list"))
        p.finish()

    def test_answers_to_pings(self):
        """With --handshake pings are answered here: those of a server that
        takes no answer do not cost a connection each."""
        s = self.mcp()
        crowd = Crowd(s)

        def on_get(rx, tx):
            tx.sse()
            tx.chunk(pings(0, 400))
            stay(tx)
        s.on_get = on_get

        def before(rx, tx):
            if rx.method == "POST" and rx.rpc is None:
                crowd(rx, tx)
            return False
        s.before = before
        s.methods["tools/list"] = lambda rx, tx: (
            s.wait(lambda: crowd.now >= 32), self.settle(0.5), tx.result({}))
        p = self.splice(s, "--handshake")
        p.send(request(1, "tools/list"))
        self.assertIn("result", p.answer(1))
        most = crowd.most
        crowd.free.set()
        self.assertGreaterEqual(most, 32)
        self.assertLessEqual(most, 100)
        p.finish()

    def test_garbage_to_a_client_that_does_not_read(self):
        """Errors of our own wait for the client, too: while it reads none of
        them, its garbage is not read either, and later all of it is."""
        n = 20000
        s = self.mcp()
        p = self.splice(s, "-q", "--max-buffer", "1m", reader=False)
        t = threading.Thread(target=p.raw, daemon=True,
                             args=(b"no json at all, 20B\n" * n,),
                             kwargs={"idless": n})
        t.start()
        t.join(2)
        self.assertTrue(t.is_alive(), "all of it was taken")
        p.read()
        t.join(support.LIVE)
        self.assertFalse(t.is_alive(), "it was not read on")
        p.finish()

    def test_large_errors(self):
        """What the server says in place of a new session goes to each call
        that waits for one, but not at any length."""
        s, p = self.pair("--max-result", "1m", "--call-timeout", "10")
        s.before = lambda rx, tx: (
            (self.settle(0.5), tx.error(-32000, "w" * 2000000))
            if rx.rpc == "initialize" else tx.text(404, "session not found"),
            True)[1]
        p.send(*[call(i) for i in range(20)])
        for i in range(20):
            self.assertIn("error", p.answer(i))
        p.finish()
        self.assertLess(max(len(line) for line, _ in p.lines), 1 << 20)

    def test_a_large_refusal(self):
        """Of an error that calls keep while a new session is made, only its
        words are kept where all of it is large."""
        s, p = self.pair("--replay=never")
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32001, "Session not found", 404, data="w" * 2000000)
        error = p.tool()["error"]
        self.assertEqual((error["code"], error["message"]),
                         (-32001, "Session not found"))
        p.finish()
        self.assertLess(max(len(line) for line, _ in p.lines), 1 << 18)

    def test_a_large_401(self):
        """--max-result holds for the server's words in a refusal."""
        s, p = self.pair("--max-result", "100k")
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32001, "w" * 300000, 401)
        self.assertIn("error", p.tool())
        p.finish()
        self.assertLess(max(len(line) for line, _ in p.lines), 100 << 10)


class Stalls(support.Case):
    def test_a_trickling_redirect(self):
        """The body of a redirect that never ends is not waited for."""
        self.assertIn("result",
                      self.trickle(307, [("Location", "/other")]))

    def test_a_trickling_404(self):
        """The body of a refusal that never ends is not waited for, though it
        keeps coming."""
        self.assertIn("error", self.trickle(404, []))

    def trickle(self, status, headers):
        s, p = self.pair("--call-timeout", "2")

        def slow(rx, tx):
            if rx.target == "/other":
                tx.result({})
                return
            tx.head(status, [("Content-Type", "text/plain")] + headers)
            while not tx.gone(0.2):
                tx.chunk("x")
        s.methods["tools/call"] = slow
        answer = p.tool()
        p.finish()
        return answer

    def test_half_a_message(self):
        """Half a message on the listen stream, with which the buffers are
        full, does not keep the answer to a call from its end."""
        s = self.mcp()

        def on_get(rx, tx):
            tx.sse()
            tx.chunk(b'data: {"jsonrpc":"2.0",')
            stay(tx)
        s.on_get = on_get
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {"x": "y" * 700000})
        p = self.splice(s, "--max-buffer", "1m", "--call-timeout", "3")
        p.hello()
        self.settle(0.3)
        self.assertIn("result", p.tool())
        p.finish()

    def test_renewal_while_nothing_is_read(self):
        """A client that does not read keeps a stream waiting, but not a new
        session."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, reader=False)
        p.send(init(1))
        self.assertTrue(s.wait(s.inits))
        self.settle(0.3)
        p.send(INITIALIZED)
        tx = s.stream()

        def flood():
            try:
                for _ in range(8000):
                    tx.event(note("notifications/x", {"x": "y" * 2000}))
            except OSError:
                pass
        threading.Thread(target=flood, daemon=True).start()
        self.settle(1)
        s.forget()
        p.send(request(5, "tools/list"))
        self.assertTrue(s.wait(lambda: any(r.rpc == "tools/list"
                                           for r in s.executed), 12))
        p.read()
        self.assertIn("result", p.answer(5))
        tx.cut()
        p.finish()

    @support.plain
    def test_no_descriptors(self):
        """Without descriptors for new connections a call gets an error, not
        a busy loop, and the next one works when there are some again."""
        if not hasattr(resource, "prlimit"):
            self.skipTest("no prlimit")
        s = self.mcp()
        p = self.splice(s, "--retry-window", "1")
        p.hello()
        used = len(os.listdir("/proc/%d/fd" % p.pid))
        resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (used + 6, used + 6))
        s.on_note = crowd = Crowd(s)
        p.send(*[note("notifications/x")] * 40)
        self.assertTrue(s.wait(lambda: crowd.now >= 3))
        begin, before = time.monotonic(), self.cpu(p)
        e = self.our_error(p.tool(), "upstream_unreachable", "no")
        self.assertIn("Nothing was sent", e["message"])
        self.assertLess(self.cpu(p) - before,
                        (time.monotonic() - begin) * pace.SLOW / 2)
        crowd.free.set()
        self.assertTrue(s.wait(lambda: crowd.now == 0))
        self.assertIn("result", p.tool())
        p.finish()

    @staticmethod
    def cpu(p):
        """Seconds of the processor so far."""
        with open("/proc/%d/stat" % p.pid) as f:
            part = f.read().rpartition(")")[2].split()
        return (int(part[11]) + int(part[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    support.main()
