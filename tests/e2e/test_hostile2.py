"""Answers that never come, come twice, or come for something else: each call
ends once, and none runs twice that may have run."""

import support
from support import INITIALIZED, call, init, note, request


def accept(rx, tx):
    """202: the answer is to come on the listen stream."""
    tx.body(202)


class Accepted(support.Case):
    def test_the_next_call_goes_on(self):
        """A call that was accepted and then never answered gives its place
        to the next one when its time is over."""
        s = self.mcp()
        s.on_get = s.listen
        s.methods["tools/call"] = accept
        p = self.splice(s, "--max-inflight", "1", "--call-timeout", "1")
        p.hello()
        s.stream()
        p.send(call(1), call(2), request(3, "tools/list"))
        self.our_error(p.answer(1), ran="maybe")
        self.our_error(p.answer(2), ran="maybe")
        self.assertIn("result", p.answer(3))
        p.finish()

    def test_lost_with_its_session(self):
        """An accepted call whose session is gone gets an error at once: its
        answer was due in that session."""
        s = self.mcp()
        s.on_get = s.listen
        s.methods["tools/call"] = accept
        p = self.splice(s)
        p.hello()
        s.stream()
        p.send(call(1))
        self.assertTrue(s.wait(lambda: any(r.done for r in
                                           s.seen("tools/call"))))
        self.let(0.3)
        s.forget()
        self.assertIn("result", p.ask("tools/list"))
        self.our_error(p.answer(1), "session_lost", "maybe")
        self.assertEqual(len(s.seen("tools/call")), 1)
        p.finish()


class NotTwice(support.Case):
    def test_a_refusal_that_spoke(self):
        """A 404 that brings a message of the server is no refusal before the
        call ran."""
        s, p = self.pair()

        def tool(rx, tx):
            tx.sse(404)
            tx.event(note("notifications/progress", {}))
        s.methods["tools/call"] = tool
        self.our_error(p.tool(), ran="maybe")
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 1)

    def test_a_question_on_the_listen_stream(self):
        """A call during which the server asked the user something is not run
        again when it says then that the session is gone."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()

        def tool(rx, tx):
            get.event(request("e1", "elicitation/create", {}))
            s.wait(lambda: s.replies)
            tx.error(-32000, "Session terminated")
        s.methods["tools/call"] = tool
        a = p.start("tools/call", {})
        p.server_message("elicitation/create")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
        self.assertIn("error", p.answer(a))
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 1)

    def test_a_cancelled_call(self):
        """Nobody waits for a cancelled call: that it lost its session is no
        reason for a new one."""
        s, p = self.pair()

        def tool(rx, tx):
            s.wait(lambda: s.seen("notifications/cancelled"))
            tx.error(-32000, "Session terminated before the request completed")
        s.methods["tools/call"] = tool
        p.send(call(5))
        self.assertTrue(s.wait(lambda: s.seen("tools/call")))
        p.cancel(5)
        self.assertTrue(s.wait(lambda: s.seen("tools/call")[0].done))
        self.settle(0.5)
        p.finish()
        self.assertEqual(s.inits(), 1)


class Ids(support.Case):
    def test_a_second_answer_to_another_call(self):
        """An answer to a call that was answered already, on the stream of
        another, is not taken for that other one's."""
        s, p = self.pair()

        def tool(rx, tx):
            if rx.json["id"] == 5:
                tx.result({"of": 5})
                return
            tx.sse()
            tx.event({"jsonrpc": "2.0", "id": 5, "result": {"of": 5}})
            tx.answer({"of": 6})
        s.methods["tools/call"] = tool
        for i in (5, 6):
            p.send(call(i))
            self.assertEqual(p.answer(i)["result"], {"of": i})
        p.finish()

    def test_integers_beyond_a_double(self):
        """Two ids that only a double takes for one are two ids."""
        _, p = self.pair()
        ids = (9007199254740992, 9007199254740993)
        p.send(*[call(i, ms=500) for i in ids])
        for i in ids:
            self.assertIn("result", p.answer(i))
        p.finish()


class Ends(support.Case):
    def test_reading_goes_on_when_initialize_fails(self):
        """So much waits for initialize that nothing more is read.  When it
        fails, all of it is answered, and what comes then, too."""
        s = self.mcp(init=[lambda rx, tx: s.closing.wait(support.LIVE)])
        p = self.splice(s, "--max-buffer", "200k", "--init-timeout", "2")
        p.send(init(1))
        p.send(*[call(i, x="y" * 6000) for i in range(100, 130)])
        self.our_error(p.answer(1))
        p.send(request(999, "ping"))
        p.answer(999)
        for i in range(100, 130):
            self.assertIn("error", p.answer(i))
        p.finish()

    def test_output_without_a_time(self):
        """With --call-timeout 0 the end of stdin does not throw away what a
        slow reader has not read yet."""
        s = self.mcp()
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {"x": "y" * 3000000})
        p = self.splice(s, "--call-timeout", "0", reader=False)
        p.send(init(1), INITIALIZED, call(2))
        p.close()
        self.assertTrue(s.wait(lambda: any(r.done for r in
                                           s.seen("tools/call"))))
        self.settle(1)
        p.read()
        self.assertIn("result", p.answer(2))
        p.finish()

    def test_after_a_second_initialize(self):
        """A renewal that hangs, and that the client's own initialize has
        overtaken, does not hold up the end."""
        s, p = self.pair()
        s.forget()
        s.init = [lambda rx, tx: s.closing.wait(60)]
        p.send(call(5))
        self.assertTrue(s.wait(lambda: s.inits() == 2))
        p.send(init(6))
        self.assertIn("result", p.answer(6))
        p.send(INITIALIZED)
        p.answer(5)
        p.finish()

    def test_a_notification_without_end(self):
        """The answer to a notification says by its status all there is to
        say: a stream that follows does not hold up the end."""
        s, p = self.pair("--call-timeout", "3")

        def on_note(rx, tx):
            tx.sse()
            while not tx.gone(0.2):
                tx.chunk(": still here\n\n")
        s.on_note = on_note
        p.send(note("notifications/x"))
        self.assertTrue(s.wait(lambda: any(r.started for r in
                                           s.seen("notifications/x"))))
        p.finish(seconds=15)


class Zero(support.Case):
    def test_options(self):
        """0 is no bound, or refused by name; it never means that nothing
        works."""
        for option in ("--call-timeout", "--connect-timeout",
                       "--drain-timeout", "--init-timeout", "--max-buffer",
                       "--max-message", "--max-result", "--retry-window"):
            with self.subTest(option):
                _, p = self.pair(option, "0")
                self.assertIn("result", p.tool())
                p.finish()
        for option in ("--max-depth", "--max-inflight"):
            with self.subTest(option):
                status, _, err = self.once(
                    ["http://127.0.0.1:1/mcp", option, "0"])
                self.assertEqual(status, 2)
                self.assertIn(option, err)


if __name__ == "__main__":
    support.main()
