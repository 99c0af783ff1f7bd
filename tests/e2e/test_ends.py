"""How it ends: EOF, signals, a broken stdout, a dead parent; and a second
initialize, which ends only a session."""

import os
import signal
import subprocess
import sys
import threading
import time

import pace
import support
from support import call, init, note, request


def hold(s):
    """Calls that nobody answers."""
    s.methods["tools/call"] = lambda rx, tx: s.closing.wait(60)


class Eof(support.Case):
    def test_drain(self):
        s, p = self.pair()
        p.send(call(1, ms=1500), call(2))
        p.close()
        self.assertIn("result", p.answer(1))
        p.finish()
        self.deleted(s, s.made)

    def test_drain_of_an_sse_answer(self):
        s, p = self.pair()

        def slow(rx, tx):
            tx.sse()
            tx.event(note("notifications/message", {"data": 1}))
            time.sleep(0.7)
            tx.answer({})
        s.methods["tools/call"] = slow
        p.send(call(1))
        p.close()
        self.assertEqual(p.answer(1)["result"], {})
        p.finish()

    @support.plain
    def test_idle_ends_at_once(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 2)
        self.deleted(s, s.made)

    @support.plain
    def test_drain_timeout(self):
        s, p = self.pair("--drain-timeout", "1")
        hold(s)
        p.send(call(1))
        self.assertTrue(s.wait(lambda: s.executed))
        begin = time.monotonic()
        p.close()
        self.our_error(p.answer(1), "shutting_down", "maybe")
        p.finish()
        waited = time.monotonic() - begin
        self.assertGreater(waited, 0.9)
        self.within(waited, 4)
        self.deleted(s, s.made)

    def test_question_open_at_eof(self):
        """The client can answer no more; the drain still has an end."""
        s, p = self.pair("--drain-timeout", "1")

        def asks(rx, tx):
            tx.sse()
            tx.event(request(1, "roots/list"))
            s.closing.wait(60)
        s.methods["tools/call"] = asks
        p.send(call(5))
        p.server_message("roots/list")
        p.close()
        self.assertIn("error", p.answer(5))
        p.finish()

    @support.plain
    def test_stalled_delete(self):
        s, p = self.pair()

        def stall(rx, tx):
            if rx.method == "DELETE":
                s.deleted.append(rx.sid)
                s.closing.wait(30)
                return True
            return False
        s.before = stall
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 3)
        self.deleted(s, s.made)

    def test_delete_refused(self):
        for status in (405, 404, 500):
            s, p = self.pair()

            def refuse(rx, tx):
                if rx.method == "DELETE":
                    tx.text(status, "no")
                    return True
                return False
            s.before = refuse
            p.finish()
            self.assertEqual(len(s.seen(method="DELETE")), 1)

    @support.plain
    def test_server_gone_at_the_end(self):
        s, p = self.pair()
        s.down()
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 3)


class Signals(support.Case):
    def most(self):
        """1.5 s, and what a busy machine needs to notice."""
        return 1.8 if not support.sanitized() else 4

    def one(self, signo):
        s, p = self.pair()
        hold(s)
        p.send(call(1), call(2))
        self.assertTrue(s.wait(lambda: len(s.executed) == 2))
        begin = time.monotonic()
        os.kill(p.pid, signo)
        self.assertEqual(p.wait(), 0, p.err())
        self.within(time.monotonic() - begin, self.most())
        for n in (1, 2):
            self.our_error(p.answer(n), "shutting_down", "maybe")
        self.deleted(s, s.made)
        p.finish()

    @support.plain
    def test_term(self):
        self.one(signal.SIGTERM)

    @support.plain
    def test_int(self):
        self.one(signal.SIGINT)

    @support.plain
    def test_hup(self):
        self.one(signal.SIGHUP)

    @support.plain
    def test_no_waiting_for_nothing(self):
        """Answers written, DELETE answered: there is no more to wait for."""
        s, p = self.pair()
        hold(s)
        p.send(call(1))
        self.assertTrue(s.wait(lambda: s.executed))
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        p.wait()
        self.within(time.monotonic() - begin, 1)
        p.finish()

    def test_many_calls(self):
        """Each gets its answer, if they are read."""
        s, p = self.pair()
        hold(s)
        p.send(*(call(n) for n in range(50000, 52000)))
        p.send({"jsonrpc": "2.0", "id": "last", "method": 1})
        self.assertIn("error", p.answer("last"))
        os.kill(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(), 0)
        for n in range(50000, 52000):
            self.our_error(p.answer(n), "shutting_down")
        p.finish()

    def test_a_call_not_yet_sent(self):
        s, p = self.pair("--max-inflight", "1")
        hold(s)
        p.send(call(1), call(2))
        self.assertTrue(s.wait(lambda: s.executed))
        os.kill(p.pid, signal.SIGTERM)
        self.our_error(p.answer(1), "shutting_down", "maybe")
        self.our_error(p.answer(2), "shutting_down", "no")
        p.finish()

    @support.plain
    def test_stalled_delete(self):
        s, p = self.pair()
        s.before = lambda rx, tx: rx.method == "DELETE" and (
            s.closing.wait(30) or True)
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(), 0)
        self.within(time.monotonic() - begin, self.most())
        p.finish()

    @support.plain
    @support.alone
    def test_a_second_one_at_once(self):
        s, p = self.pair()
        s.before = lambda rx, tx: rx.method == "DELETE" and (
            s.closing.wait(30) or True)
        os.kill(p.pid, signal.SIGTERM)
        self.assertTrue(s.wait(lambda: s.seen(method="DELETE"), 5))
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        p.wait()
        self.within(time.monotonic() - begin, 0.4)
        p.finished = True
        p.shut()
        p.check()

    @support.plain
    def test_during_initialize(self):
        s = self.mcp(init=[lambda rx, tx: s.closing.wait(60)])
        p = self.splice(s)
        p.send(init(1), call(2))
        self.assertTrue(s.wait(lambda: s.inits()))
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(), 0)
        self.within(time.monotonic() - begin, self.most())
        self.our_error(p.answer(1), "shutting_down")
        self.our_error(p.answer(2), "shutting_down", "no")
        p.finish()

    @support.plain
    def test_before_anything(self):
        s = self.mcp()
        p = self.splice(s)
        p.ask("ping")
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(3), 0)
        self.within(time.monotonic() - begin, 1)
        p.finish()
        self.assertEqual(s.connections, 0)

    def unread(self):
        """Nobody reads stdout, and it is full."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, reader=False)
        p.send(init("hello"), support.INITIALIZED)
        get = s.stream()
        for n in range(40):
            get.event(note("notifications/message", {"data": "x" * 10000}))
        self.settle(0.3)
        return s, p

    def ends_within(self, p, row):
        """A signal ends it after this time, and not much later."""
        seconds = support.BOUND[row] / 1000
        begin = time.monotonic()
        os.kill(p.pid, signal.SIGTERM)
        p.wait(5)
        took = time.monotonic() - begin
        self.assertGreaterEqual(took, seconds)
        self.within(took - seconds, 0.3)
        p.finished = True

    @support.plain
    @support.alone
    def test_with_a_full_stdout(self):
        """It cannot wait for who does not read."""
        _, p = self.unread()
        self.ends_within(p, "STOP_FLUSH_MS")
        self.assertIn("dropped them", p.err())

    @support.plain
    @support.alone
    def test_after_the_end(self):
        """All is done but for what nobody reads, and that has no limit."""
        s, p = self.unread()
        p.close()
        self.assertTrue(s.wait(lambda: s.deleted))
        self.settle(1)
        self.assertTrue(p.alive())
        self.ends_within(p, "STOP_MS")


class Stdout(support.Case):
    def test_broken_by_an_answer(self):
        s = self.mcp()
        p = self.splice(s, reader=False)
        p.send(init(1), support.INITIALIZED)
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/initialized")))
        self.settle(0.2)
        # Stopped, it finds the call and the closed pipe in the same turn;
        # otherwise it may end before the call is written.
        os.kill(p.pid, signal.SIGSTOP)
        p.proc.stdout.close()
        p.send(call(2))
        os.kill(p.pid, signal.SIGCONT)
        self.assertEqual(p.wait(5), 0, p.err())
        p.finished = True
        self.assertTrue(s.wait(lambda: s.deleted, 2))
        self.deleted(s, s.made)

    def test_broken_while_idle(self):
        s = self.mcp()
        p = self.splice(s, reader=False)
        p.send(init(1), support.INITIALIZED)
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/initialized")))
        self.settle(0.2)
        p.proc.stdout.close()
        self.assertEqual(p.wait(5), 0, p.err())
        p.finished = True
        self.deleted(s, s.made)

    def test_broken_with_calls_open(self):
        s = self.mcp()
        hold(s)
        p = self.splice(s, reader=False)
        p.send(init(1), support.INITIALIZED, call(2))
        self.assertTrue(s.wait(lambda: s.executed))
        self.settle(0.2)
        p.proc.stdout.close()
        self.assertEqual(p.wait(5), 0, p.err())
        p.finished = True
        self.deleted(s, s.made)


PARENT = """
import os, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stdin=0, stdout=1)
os.write(2, b"%d\\n" % p.pid)
time.sleep(60)
"""


class Parent(support.Case):
    def orphan(self, signo):
        """A parent that is killed; others still hold both pipes."""
        s = self.mcp()
        r, w = os.pipe()
        out_r, out_w = os.pipe()
        env = {k: os.environ[k] for k in support.ENV_KEPT
               if k in os.environ}
        env["HOME"] = self.home
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, support.PROGRAM, s.url],
            stdin=r, stdout=out_w, stderr=subprocess.PIPE, env=env)
        try:
            pid = int(parent.stderr.readline())
            os.write(w, support.lines(init(1), support.INITIALIZED, call(2)))
            self.assertTrue(s.wait(lambda: s.executed))
            self.settle(0.3)
            os.kill(parent.pid, signo)
            parent.wait()
            limit = pace.Limit(8)
            while not support.gone(pid) and limit.left() > 0:
                time.sleep(0.02)
            left = not support.gone(pid)
            if left:
                os.kill(pid, signal.SIGKILL)
            self.assertFalse(left, "it outlived its parent")
            self.deleted(s, s.made)
        finally:
            parent.kill()
            parent.wait()
            parent.stderr.close()
            for fd in (r, w, out_r, out_w):
                os.close(fd)

    def test_killed(self):
        if not hasattr(os, "pidfd_open"):
            self.skipTest("no pidfd here")
        self.orphan(signal.SIGKILL)

    def test_thread_that_spawned_it_may_end(self):
        """The parent is a process, not the thread."""
        s = self.mcp()
        box = []

        def spawn():
            box.append(self.splice(s))
        t = threading.Thread(target=spawn)
        t.start()
        t.join()
        p = box[0]
        p.hello()
        self.settle(0.5)
        self.assertIn("result", p.tool())
        p.finish()


class Second(support.Case):
    def test_new_session_and_delete_of_the_old(self):
        s, p = self.pair()
        p.tool()
        p.send(init("again"))
        self.assertIn("result", p.answer("again"))
        p.send(support.INITIALIZED)
        p.tool()
        self.assertTrue(s.wait(lambda: s.deleted, 5))
        self.deleted(s, [s.made[0]])
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertIsNone(s.seen("initialize")[1].sid)
        self.assertEqual([r.sid for r in s.executed], s.made)
        self.deleted(s, s.made)
        self.assertEqual(s.early, [])

    def test_the_new_opening_counts(self):
        """A renewal repeats the second initialize, not the first."""
        s, p = self.pair()
        p.send(init("again", "2025-06-18", {"roots": {}}))
        p.answer("again")
        p.send(support.INITIALIZED)
        p.tool()
        s.forget()
        p.tool()
        p.finish()
        a, b = s.seen("initialize")[1:]
        self.assertEqual(a.json["params"], b.json["params"])

    def test_two_at_once(self):
        """A second one while the first is open: both are answered."""
        gate = threading.Event()
        s = self.mcp(init=[lambda rx, tx: (gate.wait(20),
                                           s.initialize(rx, tx))])
        p = self.splice(s)
        p.send(init(1))
        self.assertTrue(s.wait(lambda: s.inits()))
        p.send(init(2))
        self.settle(0.3)
        gate.set()
        p.answer(1)
        self.assertIn("result", p.answer(2))
        p.send(support.INITIALIZED)
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(sorted(s.deleted), sorted(s.made))

    def test_listen_stream_moves(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        first = s.stream()
        p.send(init("again"))
        p.answer("again")
        p.send(support.INITIALIZED)
        second = s.stream()
        self.assertEqual(second.request.sid, s.made[1])
        self.assertTrue(first.gone(5))
        p.finish()


if __name__ == "__main__":
    support.main()
