"""The forgotten session: found out, replaced, replayed, unnoticed."""

import json
import threading
import time

import support
from support import INITIALIZED, call, init, lines, note, request

METHODS = ["tools/call", "resources/list", "resources/read", "prompts/list",
           "prompts/get", "completion/complete", "x/unknown"]


def error(code, message, status=200, sse=False, ident=True, data=None):
    """An answer that is a JSON-RPC error."""
    def fn(rx, tx):
        m = {"jsonrpc": "2.0", "error": {"code": code, "message": message}}
        if ident is True:
            m["id"] = (rx.json or {}).get("id")
        elif ident != "none":
            m["id"] = ident
        if data is not None:
            m["error"]["data"] = data
        if sse:
            tx.sse(status)
            tx.event(m)
        else:
            tx.json(m, status)
    return fn


def text(status, words):
    return lambda rx, tx: tx.text(status, words)


LOSSES = {
    "404 text": text(404, "session not found\n"),
    "404 other text": text(404, "Not Found: Session not found"),
    "404 empty": lambda rx, tx: tx.body(404),
    "404 -32001 id null": error(-32001, "Session not found", 404, ident=None),
    "404 -32001 own id": error(-32001, "Session not found", 404),
    "404 -32600 id": error(-32600, "Session not found", 404,
                           ident="server-error"),
    "404 -32601 with the words": error(-32601, "Session not found", 404),
    "200 32600": error(32600, "Session terminated"),
    "200 -32600": error(-32600, "Session terminated"),
    "200 32600 sse": error(32600, "Session terminated", sse=True),
    "200 -32600 sse": error(-32600, "Session terminated", sse=True),
    "200 any case": error(32600, "SESSION Terminated"),
    "400 error": error(-32602, "Invalid or expired session", 400),
    "400 text": text(400, "Invalid or expired session"),
    "200 invalid or expired": error(-32602, "Invalid or expired session"),
    "200 any case 2": error(-32602, "INVALID OR EXPIRED SESSION"),
    "200 wrapped": error(-32603, "MCP error 32600: Session terminated"),
    "200 wrapped sse": error(-32603, "McpError: MCP error 32600: session "
                             "terminated (upstream)", sse=True),
    "500 wrapped": error(-32603, "Error: Session terminated", 500),
    "200 id null": error(32600, "Session terminated", ident=None),
}


class Losses(support.Case):
    """Each way of saying it, for every method, in one run each."""


def losing(name, refuse):
    def test(self):
        s, p = self.pair(server={"refuse": refuse})
        for n, method in enumerate(METHODS, 1):
            s.forget()
            before = len(s.requests)
            began = time.monotonic()
            m = p.ask(method, {"name": "t", "n": n})
            self.in_time(m, began)
            self.assertIn("result", m, (method, m))
            self.assertEqual(s.inits(), n + 1, method)
            new = s.requests[before:]
            tries = [r for r in new if r.rpc == method]
            self.assertEqual([r.sid for r in tries], s.made[-2:])
            self.assertEqual(tries[0].body, tries[1].body)
            self.assertEqual(len([r for r in s.executed
                                  if r.rpc == method]), 1)
        self.assertEqual([m["id"] for m in p.messages
                          if m.get("method") is None],
                         ["hello"] + list(range(101, 101 + len(METHODS))))
        p.finish()
        self.assertEqual(s.early, [])
        self.assertEqual(s.deleted, s.made[-1:])
    return test


for _name, _refuse in LOSSES.items():
    setattr(Losses, "test_" + "".join(c if c.isalnum() else "_"
                                      for c in _name),
            losing(_name, _refuse))


class Renewal(support.Case):
    def test_the_new_handshake(self):
        """initialize as the client wrote it, without the old headers; then
        initialized, and the witness again; only after its 2xx the replay; all
        with the new id."""
        s = self.mcp()
        p = self.splice(s)
        opening = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":' \
            b'{ "protocolVersion":"2025-06-18","capabilities":{"x":1.0,' \
            b'"big":12345678901234567890},"clientInfo":{"name":"\\u0061",' \
            b'"version":"1"}} }'
        p.send(opening, INITIALIZED)
        p.answer(1)
        p.tool()
        done = {}

        def slow(rx, tx):
            time.sleep(0.3)
            done["at"] = time.monotonic()
        s.on_note = slow
        s.forget()
        before = len(s.requests)
        p.tool(n=2)
        p.tool(n=3)
        p.finish()
        self.assertEqual([(r.rpc, r.sid) for r in s.witnesses],
                         [("ping", sid) for sid in s.made])
        new = [r for r in s.requests[before:] if r.method == "POST" and
               r not in s.witnesses]
        self.assertEqual([r.rpc for r in new],
                         ["tools/call", "initialize",
                          "notifications/initialized", "tools/call",
                          "tools/call"])
        second = new[1]
        params = opening[opening.index(b'{ "protocolVersion'):-2].strip()
        self.assertIn(params, second.body)
        self.assertIsNone(second.sid)
        self.assertIsNone(second.get("MCP-Protocol-Version"))
        for r in new[2:]:
            self.assertEqual(r.sid, s.made[1])
            self.assertEqual(r.get("MCP-Protocol-Version"), "2025-06-18")
        self.assertGreaterEqual(new[3].time, done["at"])
        self.assertGreaterEqual(new[3].time, s.witnesses[1].answered)
        self.assertLess(s.witnesses[1].time, done["at"])
        self.assertEqual(new[0].body, new[3].body)
        self.assertEqual(len(s.executed), 3)

    def test_delete_of_the_new_session_only(self):
        s, p = self.pair()
        s.forget()
        p.tool()
        p.finish()
        self.assertEqual(s.deleted, [s.made[1]])

    def parallel(self, n, refuse):
        """n calls are refused together: one renewal."""
        s = self.mcp()
        lock = threading.Lock()
        waiting = []
        gate = threading.Event()

        def together(rx, tx):
            with lock:
                waiting.append(rx)
                if len(waiting) >= n:
                    gate.set()
            gate.wait(support.LIVE)
            refuse(rx, tx)
        s.refuse = together
        p = self.splice(s)
        p.hello()
        p.tool()
        s.forget()
        began = time.monotonic()
        p.send(*[call(i, n=i) for i in range(1, n + 1)])
        for i in range(1, n + 1):
            self.in_time(p.answer(i), began)
            self.assertEqual(p.answer(i)["result"]["content"][0]["text"],
                             '{"n": %d}' % i)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(len(s.seen("notifications/initialized")), 2)
        self.assertEqual(len(s.executed), n + 1)
        self.assertEqual(len(s.seen("tools/call")), 2 * n + 1)
        self.assertEqual(s.deleted, [s.made[1]])

    @support.plain
    def test_parallel_1(self):
        self.parallel(1, LOSSES["404 text"])

    @support.plain
    def test_parallel_8(self):
        self.parallel(8, LOSSES["200 32600"])

    @support.plain
    def test_parallel_50(self):
        self.parallel(50, LOSSES["404 -32001 id null"])

    def stale(self, seconds, pace, method="tools/call"):
        """A refusal of the old session that comes so long after the new one
        has begun, where a witness takes so long: the pair, and its answer."""
        s, p = self.pair()
        gate = threading.Event()

        def refuse(rx, tx):
            if rx.json.get("params", {}).get("name") == "late":
                gate.wait(support.LIVE)
            elif rx in s.witnesses:
                time.sleep(pace)
            tx.text(404, "session not found")
        s.refuse = refuse
        s.forget()
        late = p.start(method, {"name": "late"})
        self.assertTrue(s.wait(lambda: len(s.seen(method)) == 1))
        self.assertIn("result", p.ask("prompts/list"))
        self.settle(seconds)
        gate.set()
        m = p.answer(late)
        p.finish()
        self.assertEqual(s.inits(), 2)
        return s, m

    def test_stale_refusal_after_the_switch(self):
        """It renews nothing."""
        s, m = self.stale(0, 0.5)
        self.assertIn("result", m)
        self.assertEqual([r.sid for r in s.seen("tools/call")], s.made)

    def test_stale_refusal_that_is_late(self):
        """The call may have run before it was refused."""
        s, m = self.stale(1.5, 0)
        self.our_error(m, "session_lost", "maybe")
        self.assertEqual([r.sid for r in s.seen("tools/call")], s.made[:1])
        s, m = self.stale(1.5, 0, "prompts/get")
        self.assertIn("result", m)

    def test_old_calls_finish(self):
        """Behind a balancer the old session may still answer."""
        s, p = self.pair()
        gate = threading.Event()

        def slow(rx, tx):
            if rx.json["params"]["name"] == "slow":
                gate.wait(support.LIVE)
            tx.result({"sid": rx.sid})
        s.methods["tools/call"] = slow
        a = p.start("tools/call", {"name": "slow"})
        self.assertTrue(s.wait(lambda: s.executed))
        s.forget()
        self.assertEqual(p.tool()["result"], {"sid": s.made[1]})
        gate.set()
        self.assertEqual(p.answer(a)["result"], {"sid": s.made[0]})
        p.finish()
        self.assertEqual(len(s.executed), 2)

    def test_calls_during_the_renewal_wait(self):
        s, p = self.pair()
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            s.initialize(rx, tx)
        s.init = [slow]
        s.forget()
        a = p.start("tools/call", {"name": "a"})
        self.assertTrue(s.wait(lambda: s.inits() == 2))
        b = p.start("tools/call", {"name": "b"})
        self.settle(0.2)
        self.assertEqual(p.ask("ping")["result"], {})
        gate.set()
        p.answer(a)
        p.answer(b)
        p.finish()
        self.assertEqual(sorted(r.json["params"]["name"] for r in s.executed),
                         ["a", "b"])
        self.assertEqual(s.inits(), 2)

    def test_cancel_during_the_renewal_wins(self):
        s, p = self.pair()
        gate = threading.Event()

        def slow(rx, tx):
            gate.wait(support.LIVE)
            s.initialize(rx, tx)
        s.init = [slow]
        s.forget()
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.inits() == 2))
        p.cancel(7)
        p.taken()
        gate.set()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_eof_during_the_renewal(self):
        s, p = self.pair()

        def slow(rx, tx):
            time.sleep(0.5)
            s.initialize(rx, tx)
        s.init = [slow]
        s.forget()
        p.send(call(7))
        p.close()
        self.assertIn("result", p.answer(7))
        p.finish()

    def test_second_loss_is_renewed_again(self):
        s, p = self.pair()
        for n in range(6):
            s.forget()
            self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 7)

    def test_list_changed_after_a_renewal(self):
        s, p = self.pair(server={"capabilities": {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True}}})
        lists = {"tools": [{"name": "a"}], "prompts": [{"name": "b"}]}
        for name in lists:
            s.methods[name + "/list"] = lambda rx, tx, n=name: tx.result(
                {n: lists[n]})
            p.ask(name + "/list")
        lists["tools"] = [{"name": "c"}]
        s.forget()
        p.tool()
        p.server_message("notifications/tools/list_changed", 5)
        p.tool()
        self.assertTrue(s.wait(lambda: len(s.seen("prompts/list")) == 2))
        p.finish()
        self.assertEqual(len(s.seen("prompts/list")), 2)
        for name in ("prompts", "resources"):
            self.assertEqual(p.count_messages(
                "notifications/%s/list_changed" % name), 0)

    def test_the_listen_stream_moves(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        first = s.stream()
        first.event(note("notifications/x"), id="old-1")
        p.server_message("notifications/x")
        s.forget()
        p.tool()
        second = s.stream()
        self.assertEqual(second.request.sid, s.made[1])
        self.assertIsNone(second.request.get("Last-Event-ID"))
        self.assertTrue(first.gone(5))
        second.event(note("notifications/y"))
        p.server_message("notifications/y")
        p.finish()

    def test_session_id_vanishes(self):
        """The new server has no sessions: fine."""
        s, p = self.pair()
        s.forget()
        s.refuse = lambda rx, tx: (setattr(s, "stateful", False),
                                   tx.text(404, "session not found"))
        self.assertIn("result", p.tool())
        p.finish()
        self.assertIsNone(s.executed[-1].sid)
        self.assertEqual(s.deleted, [])

    def one_id(self, before):
        """A server that hands out one id for all has forgotten it; before(s)
        tells what comes first."""
        s = self.mcp()
        s.new_session = lambda: (s.made.append("one"),
                                 s.sessions.update(
                                     one=type("S", (), {
                                         "initialized": False})()),
                                 "one")[-1]
        p = self.splice(s)
        p.hello()
        s.forget()
        s.before = before(s)
        return s, p

    def test_same_session_id_again(self):
        """It is served, too."""
        def before(s):
            return lambda rx, tx: rx.rpc == "initialize" and not s.wait(
                lambda: s.witnesses and s.witnesses[0].done)
        s, p = self.one_id(before)
        self.assertIn("result", p.tool())
        self.assertEqual(s.deleted, [])
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.deleted, ["one"])

    def test_same_session_id_before_the_witness(self):
        """The second session has revived the id before a witness was asked:
        its answer proves nothing, and no session is deleted."""
        def before(s):
            return lambda rx, tx: rx.rpc == "ping" and not s.wait(
                lambda: s.inits() == 2 and s.seen("initialize")[1].done)
        for method, name in (("tools/call", "echo"), ("prompts/get", "x")):
            with self.subTest(method):
                s, p = self.one_id(before)
                m = p.ask(method, {"name": name})
                if method == "tools/call":
                    self.our_error(m, "session_lost", "maybe")
                else:
                    self.assertIn("result", m)
                self.assertIn("result", p.tool())
                self.assertEqual(len(s.seen("notifications/initialized")), 2)
                self.assertEqual(s.deleted, [])
                p.finish()
                self.assertEqual(s.inits(), 2)
                self.assertEqual(s.deleted, ["one"])

    def test_the_clients_answer_is_refused(self):
        """The session is renewed; the call that asked ends in an error."""
        s, p = self.pair()

        def asks(rx, tx):
            tx.sse()
            tx.event(request("q", "elicitation/create", {}))
            if not tx.gone(5):
                tx.answer({"never": "reached"})
        s.methods["tools/call"] = asks
        a = p.start("tools/call", {"name": "asks"})
        p.server_message("elicitation/create")
        s.forget()
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
        e = self.our_error(p.answer(a))
        self.assertIn(e["data"]["reason"], ("session_lost", "stream_lost"))
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(len([r for r in s.executed
                              if r.json["params"]["name"] == "asks"]), 1)

    def test_a_question_of_the_old_session(self):
        """It is taken back from the client; its late answer goes nowhere."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream().event(request(0, "elicitation/create", {}))
        q = p.server_message("elicitation/create")
        s.forget()
        self.assertIn("result", p.tool())
        m = p.server_message("notifications/cancelled", 5)
        self.assertEqual(m["params"]["requestId"], q["id"])
        p.send({"jsonrpc": "2.0", "id": q["id"], "result": {"late": 1}})
        # the new session counts its questions from 0 again
        s.stream().event(request(0, "roots/list"))
        r = p.server_message("roots/list")
        p.send({"jsonrpc": "2.0", "id": r["id"], "result": {"roots": []}})
        self.assertTrue(s.wait(lambda: s.replies, 5))
        self.settle(0.2)
        self.assertEqual([x.json for x in s.replies],
                         [{"jsonrpc": "2.0", "id": 0,
                           "result": {"roots": []}}])
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_every_second_call_is_lost(self):
        """A flapping server, each loss healed by its replay."""
        s, p = self.pair()
        for n in range(20):
            if n % 2:
                s.forget()
            self.assertIn("result", p.tool(n=n))
        p.finish()
        self.assertEqual(len(s.executed), 20)
        self.assertEqual(s.inits(), 11)

    def test_a_page_of_stack_trace(self):
        """The words come after 60 KB of something else."""
        s, p = self.pair(server={"refuse": text(404, json.dumps(
            {"trace": ["at org.example.Frame"] * 2500,
             "message": "Session not found"}))})
        s.forget()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_replay_never(self):
        s, p = self.pair("--replay", "never")
        s.forget()
        e = p.tool()["error"]
        self.assertEqual(e.get("data", {}).get("ran", "no"), "no")
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)

    @support.plain
    def test_lost_before_initialized(self):
        """The session is gone before the handshake is over."""
        s = self.mcp()
        first = [True]

        def forgetful(rx, tx):
            if first[0]:
                first[0] = False
                s.forget()
                tx.text(404, "session not found")
        s.on_note = forgetful
        p = self.splice(s)
        begin = time.monotonic()
        p.send(init(1), INITIALIZED, call(2))
        self.assertIn("result", p.answer(2))
        self.within(time.monotonic() - begin, 5)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(len(s.executed), 1)

    def test_a_notification_only_finds_out(self):
        """A refused notification is no reason to hang or to exit."""
        s, p = self.pair()
        s.forget()
        p.send(note("notifications/roots/list_changed"))
        self.settle(0.3)
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 2)


class NotLost(support.Case):
    """What looks similar and is an ordinary answer."""

    def delivered(self, fn, want=None, result=None):
        s, p = self.pair()
        s.methods["tools/call"] = fn
        m = p.tool()
        if want is not None:
            self.assertEqual(m["error"], want)
        else:
            self.assertEqual(m["result"], result)
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual(len(s.executed), 1)
        self.assertEqual(s.deleted, s.made)

    def test_404_method_not_found(self):
        self.delivered(error(-32601, "Method not found", 404),
                       {"code": -32601, "message": "Method not found"})

    def test_404_tool_not_found(self):
        for code in (-32002, -32003, -32004):
            self.delivered(error(code, "Tool not found", 404),
                           {"code": code, "message": "Tool not found"})

    def test_tool_execution_failed(self):
        for status in (200, 400, 500):
            for sse in (False, True):
                self.delivered(
                    error(-32603, "Tool execution failed", status, sse),
                    {"code": -32603, "message": "Tool execution failed"})

    def test_empty_message(self):
        self.delivered(error(-32600, ""), {"code": -32600, "message": ""})
        self.delivered(error(32600, ""), {"code": 32600, "message": ""})

    def test_bare_codes(self):
        for code in (-32001, 32600, -32600, -32000):
            self.delivered(error(code, "Request timed out"),
                           {"code": code, "message": "Request timed out"})

    def test_is_error_result(self):
        for sse in (False, True):
            result = {"isError": True, "content": [
                {"type": "text", "text": "Session terminated. Invalid or "
                 "expired session. Session not found."}]}

            def fn(rx, tx):
                if sse:
                    tx.sse()
                    tx.answer(result)
                else:
                    tx.result(result)
            self.delivered(fn, result=result)

    def test_other_statuses(self):
        for status in (409, 500):
            s, p = self.pair()
            s.methods["tools/call"] = text(status, "nope")
            self.our_error(p.tool())
            p.finish()
            self.assertEqual(s.inits(), 1)

    def test_initialize_with_the_words(self):
        """The words in the answer to initialize never recurse."""
        s = self.mcp(init=[error(-32600, "Session terminated", 404)] * 3)
        p = self.splice(s, "--init-timeout", "3")
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        p.finish()
        self.assertLessEqual(s.inits(), 2)

    def test_404_without_a_session(self):
        """No id was sent: a wrong URL, not a lost session."""
        s = self.mcp(stateful=False)
        p = self.splice(s)
        p.hello()
        s.methods["tools/call"] = text(404, "session not found")
        e = self.our_error(p.tool())
        self.assertEqual(e["data"]["httpStatus"], 404)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_words_in_a_notification(self):
        s, p = self.pair()

        def fn(rx, tx):
            tx.sse()
            tx.event(note("notifications/message",
                          {"data": "Session terminated"}))
            tx.answer({"fine": True})
        s.methods["tools/call"] = fn
        self.assertEqual(p.tool()["result"], {"fine": True})
        p.finish()
        self.assertEqual(s.inits(), 1)


class Broken(support.Case):
    def test_terminated_before_the_request_completed(self):
        """It may have run: renewed, but not replayed."""
        words = "Session terminated before the request completed"
        for status, sse in ((500, False), (200, False), (200, True)):
            with self.subTest(status, sse=sse):
                s, p = self.pair()

                def dies(rx, tx):
                    s.forget()
                    error(-32603, words, status, sse)(rx, tx)
                s.methods["tools/call"] = dies
                m = p.tool()
                self.assertIn("error", m)
                self.assertIn("terminated before", json.dumps(m))
                s.methods["tools/call"] = s.tool
                self.assertIn("result", p.tool())
                p.finish()
                self.assertEqual(s.inits(), 2)
                self.assertEqual(len(s.executed), 2)
                # no second call had to be refused to find out
                self.assertEqual(len(s.seen("tools/call")), 2)

    @support.plain
    def test_renewal_fails(self):
        """The error carries what the server said at first."""
        s, p = self.pair("--retry-window", "3",
                         server={"refuse": LOSSES["200 32600"]})
        s.forget()
        s.init = [error(-32000, "too many sessions", 400)] * 20
        begin = time.monotonic()
        m = p.tool()
        self.within(time.monotonic() - begin, 10)
        e = self.our_error(m, ran="no")
        self.assertIn(e["data"]["reason"], ("reinit_failed", "session_lost"))
        self.assertEqual(e["data"]["server"],
                         {"code": 32600, "message": "Session terminated"})
        self.assertLess(s.inits(), 8)
        # and when the server recovers, so does the next call
        s.init = []
        self.assertTrue(s.wait(lambda: "result" in p.tool(), 40))
        p.finish()
        self.assertEqual(s.early, [])

    @support.plain
    def test_renewal_finds_nobody(self):
        s, p = self.pair("--retry-window", "1",
                         server={"refuse": LOSSES["404 -32001 own id"]})
        s.forget()
        s.init = [lambda rx, tx: tx.reset()] * 50
        begin = time.monotonic()
        e = self.our_error(p.tool(), ran="no")
        self.within(time.monotonic() - begin, 6)
        self.assertEqual(e["data"].get("server"),
                         {"code": -32001, "message": "Session not found"})
        p.finish()

    def test_server_down_during_the_renewal(self):
        """It comes back within the window: nobody notices."""
        s, p = self.pair()
        s.forget()
        refused = s.refuse

        def last(rx, tx):
            s.refuse = refused
            refused(rx, tx)
            threading.Thread(target=s.down, daemon=True).start()
            threading.Timer(1.5, s.up).start()
        s.refuse = last
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_replay_is_refused_again(self):
        """Exactly one replay; then the server's error is passed. The new
        session lives and stays."""
        s, p = self.pair(server={"refuse": LOSSES["200 32600"]})
        s.methods["tools/call"] = error(32600, "Session terminated",
                                        data={"k": 1})
        s.forget()
        m = p.tool()
        self.assertEqual(m["error"], {"code": 32600, "message":
                                      "Session terminated",
                                      "data": {"k": 1}})
        self.assertEqual([r.sid for r in s.seen("tools/call")], s.made[:2])
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        self.assertEqual(s.executed[-1].sid, s.made[1])
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.deleted, [s.made[1]])

    @support.plain
    @support.alone
    def test_no_storm(self):
        """A server that forgets each session with its first call: 3 renewals
        in 60 s, then its own words, at once."""
        s, p = self.pair(server={"refuse": LOSSES["200 32600"]})

        def before(rx, tx):
            if rx.rpc == "tools/call":
                s.forget()
            return False
        s.before = before
        for _ in range(12):
            self.assertIn("error", p.tool())
        begin = time.monotonic()
        m = p.tool()
        self.within(time.monotonic() - begin, 2)
        self.assertIn("Session terminated", json.dumps(m))
        p.finish()
        self.assertEqual(s.inits(), 1 + 3)
        self.assertEqual(s.executed, [])

    def test_version_changes(self):
        """A renewed session of another revision is not passed off."""
        s, p = self.pair()
        s.forget()
        s.version = "2025-03-26"
        m = p.tool()
        if "error" in m:
            self.our_error(m, "version_changed")
        else:
            self.assertEqual(s.executed[-1].get("MCP-Protocol-Version"),
                             "2025-03-26")
        p.finish()

    def test_session_id_stays_secret(self):
        s, p = self.pair("-vv")
        s.forget()
        p.tool()
        s.refuse = error(32600, "Session terminated")
        s.init = [error(-32000, "no", 400)] * 9
        s.forget()
        p.tool()
        p.finish()
        everything = p.err() + repr(p.lines)
        for sid in s.made:
            self.assertNotIn(sid, everything)


class Pipe(support.Case):
    def test_whole_pipeline_survives(self):
        """Everything after EOF, and the session lost in between."""
        s = self.mcp()
        first = [True]
        tool = s.tool

        def forgetful(rx, tx):
            if first[0]:
                first[0] = False
                s.executed.remove(rx)
                s.forget()
                tx.text(404, "session not found")
                return
            tool(rx, tx)
        s.methods["tools/call"] = forgetful
        status, out, err = self.once([s.url], lines(
            init(1), INITIALIZED, call(2, n=2)))
        self.assertEqual(status, 0, err)
        self.assertEqual([json.loads(x)["id"] for x in out.splitlines()],
                         [1, 2])
        self.assertIn("result", json.loads(out.splitlines()[1]))
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.deleted, [s.made[1]])

    def test_handshake_option(self):
        s = self.mcp()
        first = [True]

        def forgetful(rx, tx):
            if first[0]:
                first[0] = False
                s.forget()
                tx.text(404, "session not found")
            else:
                tx.result({"tools": []})
        s.methods["tools/list"] = forgetful
        status, out, err = self.once(["--handshake", s.url], lines(
            request(1, "tools/list")))
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out)["result"], {"tools": []})


if __name__ == "__main__":
    support.main()
