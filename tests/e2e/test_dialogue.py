"""What the server asks and tells, what the client answers and cancels."""

import threading
import time

import support
from support import INITIALIZED, call, init, note, request


def ask_first(question, then=None):
    """A tool that asks the client something in its own stream."""
    def reply(rx, tx):
        s = tx.server
        ident = question["id"]
        tx.sse()
        tx.event(question)
        got = s.wait(lambda: [r for r in s.replies
                              if r.json.get("id") == ident])
        tx.answer({"heard": got[0].json.get("result") if got else None})
    return reply


class Questions(support.Case):
    def test_from_a_post_stream(self):
        for ident in (0, "q-1", -5):
            with self.subTest(ident):
                s, p = self.pair()
                s.methods["tools/call"] = ask_first(
                    request(ident, "sampling/createMessage", {"m": 1}))
                a = p.start("tools/call", {})
                q = p.server_message("sampling/createMessage")
                self.assertEqual((q["id"], q["params"]), (1, {"m": 1}))
                p.send({"jsonrpc": "2.0", "id": 1, "result": {"r": 7}})
                self.assertEqual(p.answer(a)["result"], {"heard": {"r": 7}})
                p.finish()
                self.assertEqual(len(s.replies), 1)
                self.assertEqual(s.replies[0].json["id"], ident)
                self.assertEqual(s.replies[0].sid, s.made[0])

    def test_from_the_get_stream(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        get.event(request("g1", "roots/list"))
        p.server_message("roots/list")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}})
        self.assertTrue(s.wait(lambda: s.replies))
        self.assertEqual(s.replies[0].json["result"], {"roots": []})
        p.finish()

    def test_pings(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        get.event(request(41, "ping"))
        s.methods["tools/call"] = ask_first(request(42, "ping"))
        a = p.start("tools/call", {})
        for ident in (1, 2):
            self.assertIsNotNone(p.find(lambda m: m.get("method") == "ping"
                                        and m["id"] == ident))
            p.send({"jsonrpc": "2.0", "id": ident, "result": {}})
        p.answer(a)
        self.assertTrue(s.wait(lambda: len(s.replies) == 2))
        p.finish()

    def test_an_error_is_an_answer(self):
        s, p = self.pair()
        s.methods["tools/call"] = ask_first(
            request(3, "elicitation/create", {}))
        a = p.start("tools/call", {})
        p.server_message("elicitation/create")
        body = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"n"}}'
        p.write(body % 1 + b"\n")
        p.answer(a)
        p.finish()
        self.assertEqual(s.replies[0].body, body % 3)

    def test_same_id_as_an_open_call(self):
        """The two directions count separately."""
        s, p = self.pair()
        s.methods["tools/call"] = ask_first(request(101, "roots/list"))
        p.send(call(1))
        self.assertEqual(p.server_message("roots/list")["id"], 1)
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"roots": [1]}})
        self.assertEqual(p.answer(1)["result"], {"heard": {"roots": [1]}})
        p.finish()

    def test_answer_refused_by_the_server(self):
        """A 400 to an answer is logged, no more."""
        s, p = self.pair()
        asked = threading.Event()

        def reply(rx, tx):
            tx.sse()
            tx.event(request(1, "roots/list"))
            asked.wait(support.LIVE)
            tx.answer({})
        s.methods["tools/call"] = reply

        def refuse(rx, tx):
            if rx.method == "POST" and "method" not in rx.json:
                tx.text(400, "I did not ask")
                asked.set()
                return True
            return False
        s.before = refuse
        a = p.start("tools/call", {})
        p.server_message("roots/list")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}})
        self.assertEqual(p.answer(a)["result"], {})
        p.finish()

    def answer_meets(self, *faults):
        """The client's answer meets these, then 202; returns what the call
        that asked comes to, and how often the answer was sent."""
        s, p = self.pair()
        heard = threading.Event()
        seen = []

        def reply(rx, tx):
            tx.sse()
            tx.event(request(1, "elicitation/create"))
            heard.wait(support.LIVE)
            tx.answer({})
        s.methods["tools/call"] = reply

        def gateway(rx, tx):
            if rx.method != "POST" or "method" in rx.json:
                return False
            seen.append(rx.json)
            if len(seen) > len(faults):
                heard.set()
                return False
            status, headers = faults[len(seen) - 1]
            tx.text(status, "not now", headers)
            return True
        s.before = gateway
        a = p.start("tools/call", {})
        p.server_message("elicitation/create")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
        answer = p.answer(a)
        heard.set()
        p.finish()
        return answer, len(seen)

    def test_answer_refused_for_now(self):
        """429 with Retry-After, and what a gateway says: it is sent again."""
        answer, n = self.answer_meets((429, [("Retry-After", "0")]),
                                      (503, [("Retry-After", "0")]), (502, []))
        self.assertEqual(answer["result"], {})
        self.assertEqual(n, 4)

    def test_answer_that_does_not_arrive(self):
        """The call that asked would wait for ever: it ends."""
        answer, n = self.answer_meets((500, []))
        self.assertEqual(answer["error"]["data"],
                         {"source": "mcpsplice", "ran": "maybe",
                          "reason": "bad_upstream", "httpStatus": 500})
        self.assertEqual(n, 1)

    def test_a_question_during_initialize(self):
        """Before initialize is answered, a ping of the server's may come."""
        s = self.mcp()

        def chatty(rx, tx):
            tx.sse(headers=[("Mcp-Session-Id", s.new_session())])
            tx.event(note("notifications/message", {"data": 1}))
            tx.answer(s.init_result(rx))
        s.init = [chatty]
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.count_messages("notifications/message"), 1)
        p.finish()

    @support.plain
    @support.alone
    def test_answers_pass_300_slow_calls(self):
        s = self.mcp()
        s.on_get = s.listen
        gate = threading.Event()
        lock = threading.Lock()
        at_once = [0, 0]

        def slow(rx, tx):
            with lock:
                at_once[0] += 1
                at_once[1] = max(at_once)
            gate.wait(60)
            with lock:
                at_once[0] -= 1
            tx.result({})
        s.methods["tools/call"] = slow
        p = self.splice(s)
        p.hello()
        get = s.stream()
        p.send(*[call(n) for n in range(1000, 1300)])
        self.assertTrue(s.wait(lambda: len(s.executed) >= 256))
        self.settle(0.3)
        self.assertEqual(len(s.executed), 256, "the cap of calls in flight")
        begin = time.monotonic()
        get.event(request("q", "elicitation/create", {}))
        p.server_message("elicitation/create")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
        self.assertTrue(s.wait(lambda: s.replies, 10))
        self.within(time.monotonic() - begin, 3)
        p.cancel(1000)          # one that is running
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/cancelled"), 10))
        p.cancel(1299)          # one that waits
        p.taken()
        gate.set()
        for n in range(1001, 1299):
            p.answer(n)
        p.finish()
        self.assertEqual(len(s.executed), 299)
        self.assertLessEqual(at_once[1], 256)
        self.assertEqual(len(s.seen("notifications/cancelled")), 1)

    def test_inflight_is_an_option(self):
        s, p = self.pair("--max-inflight", "3")
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            tx.result({})
        s.methods["tools/call"] = slow
        p.send(*[call(n) for n in range(10)])
        self.assertTrue(s.wait(lambda: len(s.executed) == 3))
        self.settle(0.2)
        self.assertEqual(len(s.executed), 3)
        # notifications do not queue behind calls
        p.send(note("notifications/roots/list_changed"))
        self.assertTrue(s.wait(
            lambda: s.seen("notifications/roots/list_changed"), 5))
        gate.set()
        p.finish()
        self.assertEqual(len(s.executed), 10)

    def test_queue_is_first_in_first_out(self):
        s, p = self.pair("--max-inflight", "1")
        p.send(*[call(n, ms=5) for n in range(20)])
        p.finish()
        self.assertEqual([r.json["id"] for r in s.executed],
                         list(range(20)))


class Telling(support.Case):
    def test_progress_in_order_before_the_answer(self):
        s, p = self.pair()

        def working(rx, tx):
            token = rx.json["params"]["_meta"]["progressToken"]
            tx.sse()
            for n in range(20):
                tx.event(note("notifications/progress",
                              {"progressToken": token, "progress": n}))
            tx.answer({})
        s.methods["tools/call"] = working
        a = p.start("tools/call", {"name": "x",
                                   "_meta": {"progressToken": "t-1"}})
        p.answer(a)
        p.finish()
        steps = [(m["params"]["progressToken"], m["params"]["progress"])
                 for m in p.messages
                 if m.get("method") == "notifications/progress"]
        self.assertEqual(steps, [("t-1", n) for n in range(20)])
        self.assertEqual(p.messages[-1]["id"], a)

    def test_progress_arrives_while_the_call_runs(self):
        s, p = self.pair()
        gate = threading.Event()

        def working(rx, tx):
            tx.sse()
            tx.event(note("notifications/progress",
                          {"progressToken": 1, "progress": 1}))
            gate.wait(support.LIVE)
            tx.answer({})
        s.methods["tools/call"] = working
        a = p.start("tools/call", {})
        p.server_message("notifications/progress")
        gate.set()
        p.answer(a)
        p.finish()

    def test_notifications_of_the_get_stream(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        for n in range(50):
            get.event(note("notifications/resources/updated",
                           {"uri": "x:%d" % n}))
        self.assertIsNotNone(p.find(
            lambda m: m.get("params", {}).get("uri") == "x:49"))
        self.assertEqual([m["params"]["uri"] for m in p.messages
                          if "params" in m],
                         ["x:%d" % n for n in range(50)])
        p.finish()

    def test_notifications_to_the_server_keep_their_order(self):
        s, p = self.pair()
        p.send(*[note("notifications/n", {"n": n}) for n in range(20)])
        self.assertTrue(s.wait(lambda: len(s.seen("notifications/n")) == 20))
        p.finish()
        self.assertEqual(
            sorted(r.json["params"]["n"] for r in s.seen("notifications/n")),
            list(range(20)))


class Cancel(support.Case):
    def test_in_flight(self):
        s, p = self.pair()
        gate = threading.Event()
        answered = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            tx.result({"late": True})
            answered.set()
        s.methods["tools/call"] = slow
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.executed))
        p.cancel(7)
        self.assertTrue(s.wait(lambda: s.seen("notifications/cancelled"), 5))
        c = s.seen("notifications/cancelled")[0]
        self.assertEqual(c.json["params"]["requestId"], 7)
        self.assertEqual(c.sid, s.made[0])
        gate.set()
        answered.wait(5)
        s.methods["tools/call"] = s.tool
        p.tool()
        p.finish()

    @support.plain
    def test_server_that_answers_nothing_more(self):
        """A cancelled call holds neither the drain nor its place."""
        s, p = self.pair("--max-inflight", "1")
        s.methods["tools/call"] = lambda rx, tx: s.closing.wait(60)
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.executed))
        p.cancel(7)
        self.assertTrue(s.wait(lambda: s.seen("notifications/cancelled"), 5))
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 5)

    def test_stream_that_ends_after_a_cancel(self):
        """Servers may close the stream without an answer."""
        s, p = self.pair()

        def slow(rx, tx):
            tx.sse()
            s.wait(lambda: s.seen("notifications/cancelled"))
        s.methods["tools/call"] = slow
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.executed))
        p.cancel(7)
        self.settle(0.3)
        p.finish()

    def test_not_yet_sent(self):
        s, p = self.pair("--max-inflight", "1")
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            tx.result({})
        s.methods["tools/call"] = slow
        p.send(call(1), call(2), call(3))
        self.assertTrue(s.wait(lambda: s.executed))
        p.cancel(2)
        p.taken()
        gate.set()
        p.answer(1)
        p.answer(3)
        p.finish()
        self.assertEqual([r.json["id"] for r in s.executed], [1, 3])
        self.assertEqual(s.seen("notifications/cancelled"), [])

    def test_before_initialize_is_answered(self):
        s = self.mcp()
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            s.initialize(rx, tx)
        s.init = [slow]
        p = self.splice(s)
        p.send(init(1), INITIALIZED, call(2), call(3))
        self.assertTrue(s.wait(lambda: s.inits()))
        p.cancel(2)
        p.taken()
        gate.set()
        p.answer(3)
        p.finish()
        self.assertEqual([r.json["id"] for r in s.executed], [3])
        self.assertEqual(s.seen("notifications/cancelled"), [])

    def test_unknown_and_finished_ids(self):
        s, p = self.pair()
        p.send(call(5))
        p.answer(5)
        p.send(note("notifications/cancelled", {"requestId": 5}),
               note("notifications/cancelled", {"requestId": "who"}),
               note("notifications/cancelled", {}),
               note("notifications/cancelled"))
        self.assertIn("result", p.tool())
        p.finish()

    def test_string_and_number_differ(self):
        s, p = self.pair()
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            tx.result({"id": rx.json["id"]})
        s.methods["tools/call"] = slow
        p.send(call(7), call("7"))
        self.assertTrue(s.wait(lambda: len(s.executed) == 2))
        p.cancel("7")
        self.assertTrue(s.wait(lambda: s.seen("notifications/cancelled"), 5))
        gate.set()
        self.assertEqual(p.answer(7)["result"], {"id": 7})
        p.finish()

    def test_the_servers_cancel_reaches_the_client(self):
        s, p = self.pair()

        def gives_up(rx, tx):
            tx.sse()
            tx.event(request(9, "sampling/createMessage", {}))
            tx.event(note("notifications/cancelled", {"requestId": 9}))
            tx.answer({})
        s.methods["tools/call"] = gives_up
        p.tool()
        m = p.server_message("notifications/cancelled")
        self.assertEqual(m["params"]["requestId"], 1)
        p.finish()


if __name__ == "__main__":
    support.main()
