"""What comes back after a loss, what may be repeated, how much of it, and the
day before and after: the startup cache, stale sessions, servers that never get
well."""

import collections
import json
import os
import random
import stat
import threading
import time

import support
from support import INITIALIZED, call, init, note, request

GONE = {"code": -32001, "message": "Session not found"}


def gone(rx, tx):
    tx.json({"jsonrpc": "2.0", "id": None, "error": GONE}, 404)


def stay(tx):
    while not tx.gone(0.2):
        if tx.server.closing.is_set():
            return


TOOLS = [
    {"name": "reads", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": True}},
    {"name": "idem", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": False, "idempotentHint": True}},
    {"name": "plain", "inputSchema": {"type": "object"}},
    {"name": "writes", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": False, "idempotentHint": False,
                     "destructiveHint": True}},
]


class Base(support.Case):
    def good(self, m, key):
        """A result of the server's echo."""
        if "result" not in m:
            self.fail("no result: %s; stderr %s" % (
                json.dumps(m)[:500],
                self.running[-1].err()[-800:] if self.running else ""))
        self.assertEqual(json.loads(m["result"]["content"][0]["text"]),
                         {"key": key})

    def works(self, s, p, key="next", seconds=support.LIVE):
        began = time.monotonic()
        m = p.tool(key=key, seconds=seconds)
        self.in_time(m, began)
        self.good(m, key)
        self.assertEqual(s.runs(key), 1)

    def of(self, s, sid):
        """What was sent with a session id, in order."""
        return [r for r in s.requests if r.sid == sid]


class Late(Base):
    """How late may a refusal be, of a tool that is not safe?"""

    def start(self, *args):
        s = self.mcp()
        p = self.splice(s, *args)
        p.hello()
        self.works(s, p, "first")
        return s, p

    def starts_slowly(self, s):
        """Nothing is answered for five seconds; it knows no session then."""
        ready = threading.Event()

        def refuse(rx, tx):
            ready.wait(support.LIVE)
            gone(rx, tx)
        s.refuse = refuse
        threading.Timer(5, ready.set).start()

    def test_a_404_after_five_seconds(self):
        """A pod that starts slowly refuses late, and ran nothing: the end of
        the listen stream has told that it begins anew."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        s.stream()
        self.works(s, p, "first")
        self.starts_slowly(s)
        s.restart()
        self.assertTrue(s.wait(lambda: len(s.seen(method="GET")) == 2))
        self.works(s, p, "second")
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_a_404_after_five_seconds_out_of_the_blue(self):
        """Nothing told of a start: a tool may have run for so long."""
        s, p = self.start()
        s.forget()
        self.starts_slowly(s)
        e = self.our_error(p.tool(key="second"), "session_lost", "maybe")
        self.assertEqual(e["data"]["server"], GONE)
        self.works(s, p, "third")
        p.finish()
        self.assertEqual(s.runs("second"), 0)
        self.assertEqual(s.inits(), 2)

    def late(self, answer):
        """The tool runs for two seconds, then the server ends the session."""
        s, p = self.start()
        tool = s.methods["tools/call"]

        def runs(rx, tx):
            s.methods["tools/call"] = tool
            time.sleep(2)
            s.forget()
            answer(rx, tx)
        s.methods["tools/call"] = runs
        e = self.our_error(p.tool(key="late"), "session_lost", "maybe")
        self.assertIn("may have run", e["message"])
        self.assertEqual(s.runs("late"), 1)
        self.works(s, p, "next")
        p.finish()

    def test_words_in_json_after_two_seconds(self):
        self.late(lambda rx, tx: tx.error(32600, "Session terminated"))

    def test_words_of_a_server_error_after_two_seconds(self):
        self.late(lambda rx, tx: tx.text(500, "Session not found"))

    def test_doubtful_words_after_two_seconds(self):
        self.late(lambda rx, tx: tx.error(-32002, "Session not found"))


class Restore(Base):
    def server(self, **kw):
        s = self.mcp(capabilities={
            "tools": {}, "logging": {},
            "resources": {"subscribe": True, "listChanged": True}}, **kw)
        s.on_get = s.listen
        for name in ("logging/setLevel", "resources/subscribe",
                     "resources/unsubscribe"):
            s.methods[name] = lambda rx, tx: tx.result({})
        return s

    def start(self, *args):
        s = self.server()
        p = self.splice(s, *args)
        p.hello()
        s.stream()
        return s, p

    @support.plain
    def test_order(self):
        """initialize, initialized and the witness, level, GET, subscriptions,
        replay."""
        s, p = self.start()
        p.ask("logging/setLevel", {"level": "debug"})
        p.ask("logging/setLevel", {"level": "warning"})
        p.ask("resources/subscribe", {"uri": "file:///a"})
        p.ask("resources/subscribe", {"uri": "file:///b"})
        p.ask("resources/unsubscribe", {"uri": "file:///b"})
        p.ask("resources/subscribe", {"uri": "file:///c"})
        slow = {}

        def on_note(rx, tx):
            if rx.rpc == "notifications/initialized":
                time.sleep(0.2)
                slow["at"] = time.monotonic()
        s.on_note = on_note

        def level(rx, tx):
            time.sleep(0.2)
            tx.result({})
        s.methods["logging/setLevel"] = level
        s.forget()
        seen = len(p.messages)
        self.works(s, p)
        s.stream()
        new = self.of(s, s.made[1])
        # a GET has a connection of its own: it may arrive a little later
        get = [r for r in new if r.method == "GET"]
        self.assertEqual(len(get), 1)
        self.assertIsNone(get[0].get("Last-Event-ID"))
        new.remove(get[0])
        # these two go side by side, on connections of their own
        self.assertEqual(sorted(r.rpc for r in new[:2]),
                         ["notifications/initialized", "ping"])
        del new[:2]
        self.assertEqual([r.rpc for r in new], [
            "logging/setLevel", "resources/subscribe", "resources/subscribe",
            "tools/call"])
        # subscriptions may go side by side
        self.assertEqual([new[0].json["params"]] +
                         sorted((r.json["params"] for r in new[1:3]),
                                key=lambda x: x["uri"]),
                         [{"level": "warning"}, {"uri": "file:///a"},
                          {"uri": "file:///c"}])
        self.assertGreaterEqual(new[0].time, slow["at"])
        self.assertGreaterEqual(get[0].time, new[0].time)
        self.within(get[0].time - new[3].time, 0.1)
        for r in new[:3]:
            self.assertGreaterEqual(new[3].time, r.answered,
                                    "replayed too soon")
        # the restored requests have ids of their own, and no answer to them
        # reaches the client
        ids = [json.dumps(r.json["id"]) for r in self.of(s, s.made[1])
               if r.json and "id" in r.json]
        self.assertEqual(len(set(ids)), len(ids))
        self.settle(0.3)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(sum(1 for m in p.messages[seen:]
                             if "method" not in m), 1)

    def test_updated(self):
        """Each restored resource may have changed in the gap."""
        s, p = self.start()
        for uri in ("file:///a", "file:///b%20c", "x://ü\"quoted\""):
            p.ask("resources/subscribe", {"uri": uri})
        s.forget()
        self.works(s, p)
        s.wait(lambda: p.count_messages(
            "notifications/resources/updated") == 3)
        self.settle(0.5)
        p.finish()
        self.assertEqual(sorted(
            m["params"]["uri"] for m in p.messages
            if m.get("method") == "notifications/resources/updated"),
            ["file:///a", "file:///b%20c", "x://ü\"quoted\""])

    def test_nothing_to_restore(self):
        s, p = self.start()
        s.forget()
        self.works(s, p)
        p.finish()
        new = [r.rpc or r.method for r in self.of(s, s.made[1])]
        self.assertEqual(sorted(new[:2]),
                         ["notifications/initialized", "ping"])
        self.assertEqual(sorted(new[2:]), ["DELETE", "GET", "tools/call"])
        self.assertEqual(
            p.count_messages("notifications/resources/updated"), 0)

    def test_only_what_the_server_agreed_to(self):
        s, p = self.start()
        s.methods["resources/subscribe"] = lambda rx, tx: tx.error(
            -32602, "no such resource")
        s.methods["logging/setLevel"] = lambda rx, tx: tx.error(
            -32602, "no such level")
        p.ask("resources/subscribe", {"uri": "file:///a"})
        p.ask("logging/setLevel", {"level": "x"})
        s.forget()
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.seen("resources/subscribe")), 1)
        self.assertEqual(len(s.seen("logging/setLevel")), 1)

    def test_one_that_fails_is_no_obstacle(self):
        s, p = self.start()
        p.ask("logging/setLevel", {"level": "error"})
        for uri in ("file:///a", "file:///b"):
            p.ask("resources/subscribe", {"uri": uri})
        s.methods["logging/setLevel"] = lambda rx, tx: tx.error(-1, "no")

        def picky(rx, tx):
            if rx.json["params"]["uri"].endswith("a"):
                tx.error(-32002, "gone")
            else:
                tx.result({})
        s.methods["resources/subscribe"] = picky
        s.forget()
        self.works(s, p)
        s.wait(lambda: len(s.seen("resources/subscribe")) == 4)
        self.settle(0.3)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(len(s.seen("resources/subscribe")), 4)

    def test_one_that_hangs_is_no_obstacle(self):
        s, p = self.start()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        free = threading.Event()

        def hangs(rx, tx):
            free.wait(support.LIVE)
            tx.result({})
        s.methods["resources/subscribe"] = hangs
        s.forget()
        self.works(s, p, seconds=18)
        free.set()
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_each_time_once(self):
        s, p = self.start()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        for k in range(4):
            s.forget()
            self.works(s, p, k)
            self.assertEqual(len(s.seen("resources/subscribe")), k + 2)
        p.finish()
        self.assertEqual(s.inits(), 5)

    def test_the_level_itself_finds_out(self):
        s, p = self.start()
        p.ask("logging/setLevel", {"level": "debug"})
        s.forget()
        self.assertEqual(p.ask("logging/setLevel",
                               {"level": "error"})["result"], {})
        p.finish()
        self.assertEqual(s.seen("logging/setLevel")[-1].json["params"],
                         {"level": "error"})
        self.assertEqual(s.inits(), 2)

    def test_list_changed_only_where_declared(self):
        s, p = self.start()
        n = []
        for name in ("tools", "resources"):
            s.methods[name + "/list"] = lambda rx, tx, name=name: tx.result(
                {name: [{"name": str(n.append(1) or len(n))}]})
            p.ask(name + "/list")
        s.forget()
        self.works(s, p)
        p.server_message("notifications/resources/list_changed", 5)
        p.finish()
        self.assertEqual(sorted(m["method"] for m in p.messages
                                if "method" in m),
                         ["notifications/resources/list_changed"])

    def test_a_new_client_session_restores_nothing(self):
        """The client began anew: what it told the old session is over."""
        s, p = self.start()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        p.send(init("again"))
        p.answer("again")
        p.send(INITIALIZED)
        self.works(s, p, 1)
        s.forget()
        self.works(s, p, 2)
        p.finish()
        self.assertEqual(len(s.seen("resources/subscribe")), 1)


class Young(Base):
    """A session that is a moment old."""

    @support.plain
    def test_initialized_is_refused_once(self):
        """Flapping: the same id again, no third session."""
        s, p = self.pair()
        left = [2]

        def on_note(rx, tx):
            if left[0]:
                left[0] -= 1
                tx.text(404, "session not found")
        s.on_note = on_note
        s.forget()
        begin = time.monotonic()
        self.works(s, p)
        self.within(time.monotonic() - begin, 4)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual([r.sid for r in
                          s.seen("notifications/initialized")],
                         s.made[:1] + s.made[1:] * 3)

    def test_not_initialized_yet(self):
        """Words of a server that is a little late with initialized: the
        same session again.  A list is refused as the call was."""
        for code, words in (
                (-32600, "Client session not initialized."),
                (-32602, "Invalid request parameters"),
                (0, 'method "%s" is invalid during session '
                 'initialization'),
                (-32601, 'The first message from the client must be '
                 '"initialize": %s')):
            for sse in (False, True):
                with self.subTest(words, sse=sse):
                    s, p = self.pair()
                    left = ["tools/call", "tools/list"]

                    def late(rx, tx):
                        if rx.sid not in s.made[1:] or rx.rpc not in left:
                            return False
                        left.remove(rx.rpc)
                        m = {"jsonrpc": "2.0", "id": rx.json["id"],
                             "error": {"code": code, "message":
                                       words.replace("%s", rx.rpc)}}
                        if sse:
                            tx.sse()
                            tx.event(m)
                        else:
                            tx.json(m)
                        return True
                    s.before = late
                    s.forget()
                    self.works(s, p, 1)
                    p.finish()
                    self.assertEqual(left, [])
                    self.assertEqual(s.inits(), 2)
                    self.assertEqual([r.sid for r in s.seen("tools/call")],
                                     s.made + s.made[1:])

    def test_the_same_words_on_an_old_session(self):
        """An ordinary error of parameters is delivered.  The session that was
        opened in doubt is deleted, and none is opened for the next one."""
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32602, "Invalid request parameters", data="")
        for key in (1, 2):
            m = p.tool(key=key)
            self.assertEqual(m["error"]["message"],
                             "Invalid request parameters")
        p.finish()
        self.assertEqual((s.runs(1), s.runs(2)), (1, 1))
        self.assertEqual(len(s.made), 2)
        self.deleted(s, s.made[1:] + s.made[:1])

    def refuses(self, s, n):
        """A new session is refused as the old one was: n requests of it."""
        left = [n]

        def before(rx, tx):
            if rx.sid not in s.made[1:] or not left[0] or \
                    rx.rpc not in ("tools/call", "ping"):
                return False
            left[0] -= 1
            gone(rx, tx)
            return True
        s.before = before
        s.refuse = gone

    def pings(self, s):
        """How many each session had."""
        return [sum(r.sid == sid for r in s.seen("ping")) for sid in s.made]

    def test_refused_a_few_times(self):
        """The witness is refused four times, one for the old session, then
        answered: the call goes out once more."""
        s, p = self.pair()
        self.refuses(s, 3)
        s.forget()
        self.works(s, p)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual([r.sid for r in s.seen("tools/call")], s.made)
        self.assertEqual(self.pings(s), [1, 4])

    def test_refused_for_good(self):
        """The new session refuses the witness, too: nothing is proved, and
        none of 30 calls goes out again."""
        s, p = self.pair()
        self.refuses(s, -1)
        s.forget()
        ids = list(range(1000, 1030))
        began = time.monotonic()
        p.send(*[call(i, key=i) for i in ids])
        for i in ids:
            m = p.answer(i)
            self.in_time(m, began)
            self.assertEqual(m["error"], GONE)
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 30)
        self.assertEqual(self.pings(s), [1, 8])
        self.assertEqual(s.inits(), 2)


class Repeats(Base):
    """What may have run."""

    def start(self, *args):
        s, p = self.pair(*args)
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
        p.ask("tools/list")
        return s, p

    def cut_once(self, s, method, how="cut", then=None):
        """The next request of that method breaks off."""
        fn = s.methods.get(method) or s.anything

        def cuts(rx, tx):
            s.methods[method] = then or fn
            if how == "sse":
                tx.sse()
                tx.chunk(": so far\n\n")
                tx.end()
            elif how == "half":
                tx.head(200, [("Content-Type", "application/json")])
                tx.chunk('{"jsonrpc":"2.0",')
                tx.cut()
            elif isinstance(how, int):
                tx.text(how, "bad gateway")
            else:
                getattr(tx, how)()
        s.methods[method] = cuts

    def twice(self, s, rpc):
        """The last two of that method: same session, same words, but not the
        same id."""
        a, b = s.seen(rpc)[-2:]
        self.assertEqual(a.sid, b.sid)
        self.assertIsNotNone(a.sid)
        self.assertNotEqual(a.json["id"], b.json["id"])
        self.assertEqual(a.json.get("params"), b.json.get("params"))

    def test_safe_methods(self):
        for how in ("cut", "reset", "sse", "half", 502, 504):
            s, p = self.start()
            for method, params in (
                    ("tools/list", None), ("resources/list", {}),
                    ("resources/templates/list", {}), ("prompts/list", {}),
                    ("resources/read", {"uri": "file:///a"}),
                    ("prompts/get", {"name": "x"}),
                    ("completion/complete", {"argument": {}}),
                    ("logging/setLevel", {"level": "info"}),
                    ("resources/subscribe", {"uri": "file:///a"}),
                    ("resources/unsubscribe", {"uri": "file:///a"})):
                with self.subTest(method, how=how):
                    before = len(s.seen(method))
                    self.cut_once(s, method, how)
                    m = p.ask(method, params)
                    self.assertIn("result", m, (method, how, m))
                    self.assertEqual(len(s.seen(method)), before + 2)
                    self.twice(s, method)
            p.finish()
            self.assertEqual(s.inits(), 1)

    def test_hinted_tools(self):
        s, p = self.start()
        for how in ("cut", "reset", "sse", "half", 502, 504):
            for name in ("reads", "idem"):
                with self.subTest(name, how=how):
                    key = "%s %s" % (name, how)
                    self.cut_once(s, "tools/call", how)
                    self.good(p.tool(name, key=key), key)
                    self.assertEqual(s.runs(key), 2)
                    self.twice(s, "tools/call")
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_other_tools(self):
        """Never: not hinted, not listed."""
        s, p = self.start()
        for how in ("cut", "reset", "sse", "half", 502, 504):
            for name in ("plain", "writes", "unheard-of"):
                with self.subTest(name, how=how):
                    key = "%s %s" % (name, how)
                    self.cut_once(s, "tools/call", how)
                    e = self.our_error(p.tool(name, key=key), ran="maybe")
                    self.assertIn("127.0.0.1", e["message"])
                    self.assertIn("may have run", e["message"])
                    if not isinstance(how, int):
                        self.assertIn(name, e["message"])
                        self.assertIn("check before", e["message"])
                    self.assertEqual(s.runs(key), 1)
        self.works(s, p)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_before_any_list(self):
        s, p = self.pair()
        self.cut_once(s, "tools/call")
        self.our_error(p.tool("reads", key=1), ran="maybe")
        p.finish()
        self.assertEqual(s.runs(1), 1)

    def test_hint_taken_back(self):
        """The last list counts."""
        s, p = self.start()
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "reads", "inputSchema": {"type": "object"}}]})
        p.ask("tools/list")
        self.cut_once(s, "tools/call")
        self.our_error(p.tool("reads", key=1), ran="maybe")
        self.cut_once(s, "tools/call")
        self.our_error(p.tool("idem", key=2), ran="maybe")
        p.finish()
        self.assertEqual((s.runs(1), s.runs(2)), (1, 1))

    def test_pages(self):
        """Hints of all pages count."""
        s, p = self.pair()

        def pages(rx, tx):
            if (rx.json.get("params") or {}).get("cursor"):
                tx.result({"tools": TOOLS[1:]})
            else:
                tx.result({"tools": TOOLS[:1], "nextCursor": "2"})
        s.methods["tools/list"] = pages
        p.ask("tools/list", {})
        p.ask("tools/list", {"cursor": "2"})
        for name in ("reads", "idem"):
            self.cut_once(s, "tools/call")
            self.good(p.tool(name, key=name), name)
        p.finish()

    def test_once_only(self):
        s, p = self.start()
        s.methods["tools/call"] = lambda rx, tx: tx.cut()
        self.our_error(p.tool("reads", key=1), "stream_lost", "maybe")
        self.assertEqual(s.runs(1), 2)
        s.methods["tools/list"] = lambda rx, tx: tx.cut()
        before = len(s.seen("tools/list"))
        self.our_error(p.ask("tools/list"), "stream_lost")
        self.assertEqual(len(s.seen("tools/list")), before + 2)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_replay_refused(self):
        """--replay=refused and never repeat nothing that may have run."""
        for word in ("refused", "never"):
            with self.subTest(word):
                s, p = self.start("--replay", word)
                self.cut_once(s, "tools/call")
                self.our_error(p.tool("reads", key=1), ran="maybe")
                before = len(s.seen("tools/list"))
                self.cut_once(s, "tools/list")
                self.our_error(p.ask("tools/list"), "stream_lost")
                self.assertEqual(len(s.seen("tools/list")), before + 1)
                self.assertEqual(s.runs(1), 1)
                s.forget()
                m = p.tool("reads", key=2)
                if word == "refused":
                    self.good(m, 2)
                else:
                    self.our_error(m, "session_lost", "no")
                p.finish()

    def test_it_has_asked(self):
        """A call that put a question to the user is not repeated, answered
        or not."""
        for answered in (False, True):
            for name in ("reads", "idem"):
                with self.subTest(name, answered=answered):
                    s, p = self.start()
                    go = threading.Event()

                    def asks(rx, tx):
                        tx.sse()
                        tx.event(request("q", "elicitation/create",
                                         {"message": "?"}))
                        go.wait(support.LIVE)
                        tx.cut()
                    s.methods["tools/call"] = asks
                    a = p.start("tools/call", {"name": name, "arguments":
                                               {"key": 1}})
                    p.server_message("elicitation/create")
                    if answered:
                        p.send({"jsonrpc": "2.0", "id": 1,
                                "result": {"action": "accept"}})
                        self.assertTrue(s.wait(lambda: s.replies, 5))
                        self.settle(0.1)
                    go.set()
                    self.our_error(p.answer(a), ran="maybe")
                    s.methods["tools/call"] = s.tool
                    self.works(s, p)
                    p.finish()
                    self.assertEqual(s.runs(1), 1)

    def test_the_answer_was_not_delivered(self):
        """The client's answer is refused as lost: the call that asked ends,
        and says why."""
        s, p = self.start()

        def asks(rx, tx):
            tx.sse()
            tx.event(request("q", "elicitation/create", {}))
            stay(tx)
        s.methods["tools/call"] = asks
        a = p.start("tools/call", {"name": "reads", "arguments": {"key": 1}})
        p.server_message("elicitation/create")
        s.forget()
        p.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
        e = self.our_error(p.answer(a), "session_lost", "maybe")
        self.assertIn("not delivered", e["message"])
        self.assertIn("127.0.0.1", e["message"])
        s.methods["tools/call"] = s.tool
        self.works(s, p)
        p.finish()
        self.assertEqual(s.runs(1), 1)
        self.assertEqual(s.inits(), 2)

    def test_progress_goes_forward(self):
        s, p = self.start()

        def steps(rx, tx, values):
            tx.sse()
            for v in values:
                tx.event(note("notifications/progress", {
                    "progressToken": rx.json["params"]["_meta"]
                    ["progressToken"], "progress": v, "total": 10}))

        def first(rx, tx):
            s.methods["tools/call"] = second
            steps(rx, tx, (1, 2, 5))
            tx.end()

        def second(rx, tx):
            steps(rx, tx, (1, 3, 5, 5.5, 7))
            tx.answer({"content": []})
        s.methods["tools/call"] = first
        m = p.ask("tools/call", {"name": "reads", "arguments": {"key": 1},
                                 "_meta": {"progressToken": "t"}})
        self.assertIn("result", m)
        p.finish()
        got = [m["params"] for m in p.messages
               if m.get("method") == "notifications/progress"]
        self.assertEqual([g["progress"] for g in got], [1, 2, 5, 5.5, 7])
        self.assertEqual({g["progressToken"] for g in got}, {"t"})

    def test_cancel_reaches_the_repeated_call(self):
        """Both runs, each by the id that it has on the wire."""
        s, p = self.start()
        self.cut_once(s, "tools/call", "reset", lambda rx, tx: stay(tx))
        p.send(request(7, "tools/call", {"name": "reads",
                                         "arguments": {"key": 1}}))
        self.assertTrue(s.wait(lambda: s.runs(1) == 2, 5), "no repeat")
        p.cancel(7)
        self.assertTrue(s.wait(
            lambda: len(s.seen("notifications/cancelled")) == 2, 5))
        self.assertEqual(
            {str(c.json["params"]["requestId"])
             for c in s.seen("notifications/cancelled")},
            {str(c.json["id"]) for c in s.seen("tools/call")})
        p.finish()

    def test_cancelled_is_not_repeated(self):
        s, p = self.start()
        go = threading.Event()

        def cuts(rx, tx):
            go.wait(support.LIVE)
            tx.reset()
        s.methods["tools/call"] = cuts
        p.send(request(7, "tools/call", {"name": "reads",
                                         "arguments": {"key": 1}}))
        self.assertTrue(s.wait(lambda: s.runs(1) == 1))
        p.cancel(7)
        self.assertTrue(s.wait(lambda: s.seen("notifications/cancelled"), 5))
        go.set()
        self.settle(0.5)
        p.finish()
        self.assertEqual(s.runs(1), 1)

    def test_terminated_while_it_ran(self):
        """A new session, and only what is safe again."""
        s, p = self.start()
        words = "Session terminated before the request completed"

        def dies(rx, tx):
            s.methods["tools/call"] = s.tool
            s.forget()
            tx.error(-32603, words, 500)
        s.methods["tools/call"] = dies
        self.good(p.tool("reads", key=1), 1)
        self.assertEqual(s.runs(1), 2)
        s.methods["tools/call"] = dies
        m = p.tool("plain", key=2)
        self.assertIn("erminated before", json.dumps(m))
        self.assertEqual(s.runs(2), 1)
        self.works(s, p)
        p.finish()
        self.assertEqual(s.inits(), 3)

    def test_503(self):
        """Busy, with Retry-After: what is safe waits and goes again."""
        s, p = self.start()

        def busy(rx, tx):
            s.methods["tools/call"] = s.tool
            tx.text(503, "busy", [("Retry-After", "1")])
        s.methods["tools/call"] = busy
        self.good(p.tool("reads", key=1), 1)
        s.methods["tools/call"] = busy
        self.our_error(p.tool("plain", key=2), "upstream_unreachable")
        p.finish()
        self.assertEqual((s.runs(1), s.runs(2)), (2, 1))


class LongDay(Base):
    """Servers that are never quite well."""

    def one_shot(self, s):
        """Ends each session after one call."""
        def tool(rx, tx):
            with s.lock:
                s.sessions.pop(rx.sid, None)
            s.tool(rx, tx)
        s.methods["tools/call"] = tool

    def test_each_call_ends_the_session(self):
        s, p = self.pair()
        s.refuse = gone
        self.one_shot(s)
        for k in range(100):
            self.works(s, p, k)
        p.finish()
        self.assertEqual(s.inits(), 100)
        self.assertEqual(len(s.seen("tools/call")), 199)

    def test_each_call_ends_the_session_parallel(self):
        """A call is sent again once: one gets into the first session, one
        into the second, and the others have the server's words."""
        s, p = self.pair()
        s.refuse = gone
        self.one_shot(s)
        ids = list(range(1000, 1030))
        began = time.monotonic()
        p.send(*[call(i, key=i) for i in ids])
        good = 0
        for i in ids:
            m = p.answer(i)
            self.in_time(m, began)
            if "error" in m:
                self.assertEqual(m["error"], GONE)
                self.assertEqual(s.runs(i), 0)
            else:
                good += 1
                self.assertEqual(s.runs(i), 1)
        # two that were on their way side by side may get into one session
        self.assertTrue(2 <= good <= 6, good)
        self.works(s, p)
        p.finish()

    def never(self, s, *methods):
        """These are refused until the event that it returns is set."""
        well = threading.Event()
        s.refuse = gone

        def before(rx, tx):
            if rx.rpc in methods and not well.is_set():
                gone(rx, tx)
                return True
            return False
        s.before = before
        return well

    def well_again(self, s, p, well):
        well.set()
        end = time.monotonic() + 40
        while "result" not in p.tool(key="again"):
            self.assertLess(time.monotonic(), end, "never well again")
            time.sleep(1)
        self.works(s, p)
        p.finish()

    @support.plain
    def test_never_accepts_anything(self):
        """initialize works, nothing else: its own words, and a trickle."""
        s, p = self.pair()
        well = self.never(s, "tools/call", "tools/list", "ping",
                          "notifications/initialized")
        begin = len(s.requests)
        start = time.monotonic()
        for k in range(60):
            m = p.tool(key=k)
            self.assertIn("error", m)
            if m["error"] != GONE:
                self.our_error(m, "session_lost", "maybe")
                self.assertEqual(m["error"]["data"].get("server"), GONE, m)
        self.assertLess(len(s.requests) - begin, 150)
        self.assertLess(s.inits(), 8)
        self.within(time.monotonic() - start, 40)
        self.well_again(s, p, well)

    @support.plain
    def test_never_accepts_a_call(self):
        """The session lives, as the witnesses show each time: the call, a
        ping, a list and two pings on other connections. The first time a
        session is opened in vain, and after the second time another one."""
        s, p = self.pair()
        well = self.never(s, "tools/call")
        begin = len(s.requests)
        for k in range(20):
            self.assertEqual(p.tool(key=k)["error"], GONE)
        new = s.requests[begin:]
        self.assertEqual(collections.Counter(
            r.rpc or r.method for r in new if r.rpc != "initialize" and
            r.method != "DELETE"),
            {"tools/call": 20, "ping": 60, "tools/list": 20, "GET": 1,
             "notifications/initialized": 1})
        self.assertEqual(s.inits(), 3)
        self.assertTrue(s.wait(
            lambda: sorted(s.deleted) == sorted(s.made[:2])))
        self.well_again(s, p, well)

    def test_a_door_that_lets_witnesses_pass(self):
        """It refuses calls alone: the third one finds a new session."""
        s, p = self.pair()

        def before(rx, tx):
            if rx.rpc == "tools/call" and rx.sid == s.made[0]:
                gone(rx, tx)
                return True
            return False
        s.before = before
        for key in "ab":
            self.assertEqual(p.tool(key=key)["error"], GONE)
        self.works(s, p, "c")
        p.finish()
        self.assertEqual([s.runs(key) for key in "ab"], [0, 0])
        self.assertEqual(s.inits(), 3)
        self.assertEqual(sorted(s.deleted), sorted(s.made))

    def test_never_accepts_a_call_parallel(self):
        s, p = self.pair()
        self.never(s, "tools/call")
        begin = len(s.requests)
        ids = list(range(1000, 1050))
        p.send(*[call(i, key=i) for i in ids])
        for i in ids:
            self.assertEqual(p.answer(i)["error"], GONE)
        self.assertLess(len(s.requests) - begin, 250)
        self.assertTrue(s.wait(lambda: s.inits() == 3))
        p.finish()

    def replicas(self, pick):
        """Two servers behind one address that share no sessions; pick(n, c) is
        where the nth POST goes, which came on connection c."""
        s = self.mcp()
        s.refuse = gone
        count = [0]
        home = {}

        def before(rx, tx):
            with s.lock:
                here = pick(count[0], rx.conn)
                count[0] += rx.method == "POST"
            if rx.rpc == "initialize":
                made = len(s.made)
                s.initialize(rx, tx)
                home[s.made[made]] = here
                return True
            if home.get(rx.sid) != here:
                gone(rx, tx)
                return True
            return False
        s.before = before
        return s

    def until_known(self, s, p):
        """Calls until the replicas are seen, which chance can put off: these
        may get the server's error, and none runs twice."""
        for k in range(1000, 1020):
            m = p.tool(key=k)
            self.assertLessEqual(s.runs(k), 1, m)
            if "sticky" in p.err():
                break

    def balanced(self, pick, gap=0.0, chance=False):
        s = self.replicas(pick)
        p = self.splice(s)
        p.hello()
        if chance:
            self.until_known(s, p)
        for k in range(40):
            self.works(s, p, k)
            if gap:
                time.sleep(gap)
        p.finish()
        said = [line for line in p.err().splitlines()
                if "sticky" in line.lower()]
        self.assertEqual(len(said), 1, p.err())
        self.assertIn("127.0.0.1", said[0])
        # no new session for each refusal
        self.assertLess(s.inits(), 12)

    def test_replicas_in_turn(self):
        self.balanced(lambda n, c: n % 2)

    def test_replicas_in_pairs(self):
        self.balanced(lambda n, c: n // 2 % 2)

    def test_replicas_at_random(self):
        """At random, but never more than four times in a row: a call is tried
        five times."""
        rng = random.Random(7)
        way = []
        while len(way) < 4000:
            x = rng.randrange(2)
            if way[-4:] == [x] * 4:
                x = 1 - x
            way.append(x)
        self.balanced(lambda n, c: way[n], chance=True)

    def test_replicas_parallel(self):
        s = self.replicas(lambda n, c: n % 2)
        p = self.splice(s)
        p.hello()
        ids = list(range(1000, 1040))
        p.send(*[call(i, key=i) for i in ids])
        good = 0
        for i in ids:
            m = p.answer(i)
            if "result" in m:
                good += 1
                self.good(m, i)
            elif m["error"] != GONE:
                # no witness tells which replica a call will meet
                self.our_error(m, "session_lost", "maybe")
            self.assertEqual(s.runs(i), "result" in m)
        # half of them find the right one at once, half of the others when they
        # are sent again
        self.assertGreaterEqual(good, 25)
        self.works(s, p)
        p.finish()
        self.assertLessEqual(p.err().lower().count("sticky"), 1, p.err())

    def by_connection(self, takes):
        """Chosen for each connection: once those to the wrong one are known,
        nothing goes astray. A call takes so long."""
        s = self.replicas(lambda n, c: c % 2)

        def tool(rx, tx):
            time.sleep(takes)
            s.tool(rx, tx)
        s.methods["tools/call"] = tool
        p = self.splice(s)
        p.hello()
        straight = 0            # rounds in a row
        for k in range(60):
            before = len(s.seen("tools/call"))
            ids = list(range(1000 + 10 * k, 1004 + 10 * k))
            p.send(*[call(i, key=i) for i in ids])
            for i in ids:
                self.good(p.answer(i), i)
                self.assertEqual(s.runs(i), 1)
            astray = len(s.seen("tools/call")) - before - len(ids)
            straight = 0 if astray else straight + 1
            if straight == 10:
                break
            time.sleep(0.05)
        self.assertEqual(straight, 10)
        p.finish()
        # no new session for each round
        self.assertLess(s.inits(), 8)

    def test_replicas_by_connection(self):
        self.by_connection(0)

    def test_replicas_by_connection_side_by_side(self):
        """Each call of a round has a connection of its own."""
        self.by_connection(0.02)

    def test_ordinary_losses_are_not_named_so(self):
        s, p = self.pair()
        for k in range(10):
            s.forget()
            self.works(s, p, k)
        p.finish()
        self.assertNotIn("sticky", p.err())


class Words(Base):
    """In-house wordings, and gateways that wrap the words in a result."""

    def test_pattern(self):
        def knock(rx, tx):
            tx.error(-32099, "Ticket 0815 gone, please knock again", 400)
        for status in (400, 404):
            s, p = self.pair("--session-lost-pattern", "ticket [0-9]+ gone")
            s.refuse = knock
            s.forget()
            self.works(s, p)
            p.finish()
            self.assertEqual(s.inits(), 2)

    def test_pattern_in_plain_text(self):
        s, p = self.pair("--session-lost-pattern", "knock (once )?again")
        s.refuse = lambda rx, tx: tx.text(400, "Please KNOCK again.\n")
        s.forget()
        self.works(s, p)
        p.finish()

    def test_two_patterns(self):
        s, p = self.pair("--session-lost-pattern", "aaa",
                         "--session-lost-pattern", "knock")
        s.refuse = lambda rx, tx: tx.text(400, "knock")
        s.forget()
        self.works(s, p)
        s.refuse = lambda rx, tx: tx.text(400, "aaa")
        s.forget()
        self.works(s, p, 2)
        p.finish()

    def test_without_the_pattern(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32099, "Ticket 0815 gone, please knock again", 400)
        self.assertEqual(p.tool(key=1)["error"]["code"], -32099)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_pattern_is_not_for_results(self):
        s, p = self.pair("--session-lost-pattern", "ticket")
        result = {"content": [{"type": "text", "text": "ticket"}]}
        s.methods["tools/call"] = lambda rx, tx: tx.result(result)
        self.assertEqual(p.tool(key=1)["result"], result)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_bad_pattern(self):
        s = self.mcp()
        status, out, err = self.once(["--session-lost-pattern", "a(b", s.url])
        self.assertEqual((status, out), (2, b""), err)
        self.assertIn("session-lost-pattern", err)
        self.assertNotIn("unknown option", err)

    def wrapped(self, sse, words="Error: Session not found"):
        def fn(rx, tx):
            result = {"isError": True, "content": [
                {"type": "text", "text": words}]}
            if sse:
                tx.sse()
                tx.answer(result)
            else:
                tx.result(result)
        return fn

    def test_in_results(self):
        for sse in (False, True):
            s, p = self.pair("--session-lost-in-results")
            s.refuse = self.wrapped(sse)
            s.forget()
            self.works(s, p)
            p.finish()
            self.assertEqual(s.inits(), 2)

    def test_in_results_only_the_words(self):
        s, p = self.pair("--session-lost-in-results")
        s.methods["tools/call"] = self.wrapped(False, "no such file")
        self.assertTrue(p.tool(key=1)["result"]["isError"])
        good = {"content": [{"type": "text", "text": "Session not found"}]}
        s.methods["tools/call"] = lambda rx, tx: tx.result(good)
        self.assertEqual(p.tool(key=2)["result"], good)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_the_hint(self):
        s, p = self.pair()
        s.methods["tools/call"] = self.wrapped(False)
        for k in range(5):
            self.assertTrue(p.tool(key=k)["result"]["isError"])
            self.assertEqual(s.runs(k), 1)
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual(p.err().count("--session-lost-in-results"), 1,
                         p.err())


class Memory(Base):
    """The start without the server."""

    CAPS = {"tools": {"listChanged": True}}

    def remember(self, *args, **kw):
        """A first day: what there is to remember."""
        s = self.mcp(capabilities=self.CAPS, **kw)
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
        p = self.splice(s, *args)
        answer = p.hello()
        self.assertEqual(p.ask("tools/list")["result"], {"tools": TOOLS})
        p.finish()
        self.deleted(s, s.made)
        return s, answer

    def no_start(self, m):
        """There is no server and no startup cache."""
        e = self.our_error(m, ran="no")
        self.assertIn(e["data"]["reason"],
                      ("upstream_unreachable", "upstream_timeout"))

    def files(self):
        """What lies in the cache."""
        found = []
        for folder, _, names in os.walk(os.path.join(self.home, ".cache",
                                                     "mcpsplice")):
            found += [os.path.join(folder, n) for n in names]
        return found

    @support.plain
    def test_server_down(self):
        s, answer = self.remember()
        s.down()
        p = self.splice(s)
        begin = time.monotonic()
        p.send(init("hello"))
        m = p.answer("hello", 8)
        waited = time.monotonic() - begin
        self.within(waited, 1)
        self.assertEqual(m, answer)
        p.send(INITIALIZED)
        self.assertEqual(p.ask("tools/list", seconds=2)["result"],
                         {"tools": TOOLS})
        threading.Timer(3, s.up).start()
        a = p.start("tools/call", {"name": "echo", "arguments": {"key": 1}})
        m = p.answer(a, 25)
        if "error" in m:
            e = self.our_error(m, ran="no")
            self.assertIn("127.0.0.1", e["message"])
        else:
            self.good(m, 1)
        self.works(s, p)
        self.assertEqual(p.ask("tools/list")["result"], {"tools": TOOLS})
        p.finish()
        self.assertEqual(
            p.count_messages("notifications/tools/list_changed"), 0)
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.early, [])
        self.deleted(s, s.made)
        self.assertLessEqual(s.runs(1), 1)

    @support.plain
    def test_server_slow(self):
        """It takes 8 s to answer; the client has its answer after 3. Then a
        call waits, and initialize is sent once more."""
        s, answer = self.remember()

        def late(rx, tx):
            s.closing.wait(8)
            s.initialize(rx, tx)
        s.init = [late]
        p = self.splice(s)
        begin = time.monotonic()
        p.send(init("hello"))
        self.assertEqual(p.answer("hello", 7), answer)
        self.within(time.monotonic() - begin, 7)
        p.send(INITIALIZED)
        p.ask("tools/list")
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        self.works(s, p)
        p.server_message("notifications/tools/list_changed", 5)
        p.finish()
        self.assertEqual(s.inits(), 3)
        self.assertEqual(s.early, [])
        self.assertEqual(sum(1 for m in p.messages
                             if m.get("id") == "hello"), 1)

    @support.plain
    def test_never_comes(self):
        """Calls get one clear error each."""
        s, answer = self.remember()
        s.down()
        p = self.splice(s, "--retry-window", "2")
        p.send(init("hello"), INITIALIZED)
        self.assertEqual(p.answer("hello", 8), answer)
        begin = time.monotonic()
        e = self.our_error(p.tool(key=1), ran="no")
        self.within(time.monotonic() - begin, 19)
        self.assertIn("127.0.0.1", e["message"])
        self.assertEqual(p.ask("tools/list", seconds=3)["result"],
                         {"tools": TOOLS})
        p.finish(seconds=5)

    def test_comes_while_the_client_is_silent(self):
        """It hears of a new list without asking."""
        s, answer = self.remember()
        s.down()
        p = self.splice(s)
        p.send(init("hello"), INITIALIZED)
        self.assertEqual(p.answer("hello", 8), answer)
        self.assertEqual(p.ask("tools/list")["result"], {"tools": TOOLS})
        self.settle(2)
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        s.up()
        p.server_message("notifications/tools/list_changed", 15)
        self.assertEqual(s.inits(), 2)
        self.works(s, p)
        p.finish()
        self.deleted(s, s.made)

    def test_quick_server_wins(self):
        """A server that answers is asked, not the startup cache."""
        s, answer = self.remember()
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.ask("tools/list")["result"], {"tools": []})
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(
            p.count_messages("notifications/tools/list_changed"), 0)

    @support.plain
    def test_without_memory_the_error_in_time(self):
        s = self.mcp(listen=False)
        p = self.splice(s, "--init-timeout", "7")
        begin = time.monotonic()
        p.send(init(1))
        self.no_start(p.answer(1))
        self.within(time.monotonic() - begin, 9)
        p.finish()

    def test_no_memory(self):
        s, _ = self.remember("--no-memory")
        self.assertEqual([f for f in self.files() if self.holds(f, "reads")],
                         [])
        s.down()
        p = self.splice(s, "--no-memory", "--init-timeout", "7")
        p.send(init(1))
        self.no_start(p.answer(1, 9))
        p.finish()

    def test_no_memory_does_not_read_it(self):
        s, _ = self.remember()
        s.down()
        p = self.splice(s, "--no-memory", "--init-timeout", "7")
        p.send(init(1))
        self.no_start(p.answer(1, 9))
        p.finish()

    def holds(self, path, text):
        with open(path, "rb") as f:
            return text.encode() in f.read()

    def test_files_are_private(self):
        s, _ = self.remember()
        found = self.files()
        self.assertTrue(found, "nothing was kept")
        self.assertTrue([f for f in found if self.holds(f, "reads")])
        for path in found:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            self.assertEqual(mode & 0o077, 0, path)
            self.assertFalse(os.path.basename(path).endswith(".tmp"), path)
            for sid in s.made:
                self.assertFalse(self.holds(path, sid), path)

    def test_corrupt(self):
        """Rubbish is as good as nothing, and does not stay."""
        for rubbish in (b"", b"{", b"\0" * 5000, b"[]\n" * 1000,
                        b'{"initialize":{"result":7},"tools":"x"}\n'):
            with self.subTest(rubbish[:10]):
                s, _ = self.remember()
                self.assertTrue(self.files(), "nothing was kept")
                for path in self.files():
                    with open(path, "wb") as f:
                        f.write(rubbish)
                s.down()
                p = self.splice(s, "--init-timeout", "1")
                p.send(init(1))
                self.no_start(p.answer(1, 8))
                self.assertTrue(p.alive())
                s.up()
                p.hello()
                self.works(s, p)
                p.finish()

    def test_half_of_it(self):
        """A file that was cut in the middle."""
        s, answer = self.remember()
        self.assertTrue(self.files(), "nothing was kept")
        for path in self.files():
            with open(path, "r+b") as f:
                f.truncate(os.path.getsize(path) // 2)
        s.down()
        p = self.splice(s, "--init-timeout", "7")
        p.send(init("hello"))
        m = p.answer("hello", 9)
        if "result" in m:
            self.assertEqual(m, answer)
        else:
            self.no_start(m)
        p.finish()

    def test_unwritable(self):
        """No place to keep it: works all the same."""
        with open(os.path.join(self.home, ".cache"), "w") as f:
            f.write("in the way")
        s, p = self.pair()
        self.works(s, p)
        p.finish()

    def test_without_home(self):
        s = self.mcp()
        p = self.splice(s, env={"HOME": None})
        p.hello()
        self.works(s, p)
        p.finish()

    def test_another_url(self):
        self.remember()
        s = self.mcp(listen=False)
        p = self.splice(s, "--init-timeout", "7")
        p.send(init(1))
        self.no_start(p.answer(1, 9))
        p.finish()


class Orphans(Base):
    """Sessions of copies that were killed."""

    def kill(self, p):
        """Some time after the start: a note is not written before the
        client has its answer."""
        self.noted(p.server.made[-1])
        p.kill()

    def test_deleted_by_the_next_start(self):
        s, p = self.pair()
        self.works(s, p, 1)
        self.kill(p)
        self.deleted(s, [])
        q = self.splice(s)
        q.hello()
        self.assertTrue(s.wait(lambda: s.deleted, 10), "no DELETE")
        self.deleted(s, s.made[:1])
        self.works(s, q, 2)
        q.finish()
        self.deleted(s, s.made)
        r = self.splice(s)
        r.hello()
        self.settle(1)
        r.finish()
        self.deleted(s, s.made)

    def test_the_last_session_of_the_killed_one(self):
        s, p = self.pair()
        s.forget()
        self.works(s, p, 1)
        self.assertEqual(len(s.made), 2)
        self.kill(p)
        q = self.splice(s)
        q.hello()
        self.assertTrue(s.wait(lambda: s.deleted, 10), "no DELETE")
        self.settle(0.5)
        q.finish()
        self.deleted(s, s.made[1:])

    def test_a_living_copy_keeps_its_session(self):
        s, p = self.pair()
        q = self.splice(s)
        q.hello()
        self.settle(2)
        self.works(s, q, 1)
        self.works(s, p, 2)
        self.deleted(s, [])
        p.finish()
        q.finish()
        self.deleted(s, s.made)
        self.assertEqual(s.inits(), 2)

    def test_many_copies(self):
        """Ten are killed, ten start together: each session is deleted."""
        s = self.mcp()
        alive = []
        for _ in range(10):
            p = self.splice(s)
            p.hello()
            alive.append(p)
        self.noted(*s.made)
        for p in alive:
            p.kill()
        stale = set(s.made)
        after = [self.splice(s) for _ in range(10)]
        for p in after:
            p.send(init("hello"), INITIALIZED)
        for p in after:
            p.answer("hello")
        self.assertTrue(s.wait(lambda: stale <= set(s.deleted), 15),
                        "%d of 10" % len(stale & set(s.deleted)))
        for p in after:
            self.works(s, p, "k%d" % p.pid)
            p.finish()
        self.assertEqual(sorted(set(s.deleted)), sorted(s.made))

    def test_state_is_private(self):
        s, p = self.pair()
        self.works(s, p)
        self.noted(s.made[0])
        found = []
        for folder, _, names in os.walk(self.home):
            found += [os.path.join(folder, n) for n in names]
        self.assertTrue(found, "nothing was noted")
        for path in found:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0,
                             path)
        p.finish()

    def test_a_refused_delete_is_no_obstacle(self):
        s, p = self.pair()
        self.kill(p)

        def before(rx, tx):
            if rx.method == "DELETE" and rx.sid == s.made[0]:
                tx.text(404, "session not found")
                return True
            return False
        s.before = before
        q = self.splice(s)
        q.hello()
        self.works(s, q)
        self.assertTrue(s.wait(lambda: [r for r in s.seen(method="DELETE")
                                        if r.sid == s.made[0]], 10))
        q.finish()
        self.assertEqual(s.inits(), 2)


class Pings(Base):
    def test_found_before_anyone_notices(self):
        s, p = self.pair("--ping-interval", "1")
        s.refuse = gone
        self.works(s, p, 1)
        s.forget()
        self.assertTrue(s.wait(lambda: s.inits() == 2, 10), "not renewed")
        self.settle(0.3)
        before = len(s.seen("tools/call"))
        self.works(s, p, 2)
        self.assertEqual(len(s.seen("tools/call")), before + 1)
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(p.count_messages("ping"), 0)
        # its answers are for nobody else
        self.assertEqual(sum(1 for m in p.messages if "method" not in m), 3)

    def test_each_interval(self):
        s, p = self.pair("--ping-interval", "1")
        self.works(s, p, 1)
        begin = time.monotonic()
        self.settle(3.5)
        n = len(s.seen("ping"))
        self.assertGreaterEqual(n, 2)
        self.assertLessEqual(n, time.monotonic() - begin + 1)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_off_by_default(self):
        s, p = self.pair()
        self.works(s, p, 1)
        self.settle(2.5)
        p.finish()
        self.assertEqual(s.seen("ping"), [])

    def test_keep_alive(self):
        """Another word for --ping-interval 30."""
        s = self.mcp()
        status, out, err = self.once(["--keep-alive", "--show-config", s.url])
        self.assertEqual(status, 0, err)
        self.assertRegex((out + err.encode()).decode(),
                         r"(?m)^.*ping-interval\W.*\b30\b")

    def test_a_server_that_does_not_know_ping(self):
        s, p = self.pair("--ping-interval", "1")
        s.methods["ping"] = lambda rx, tx: tx.error(
            -32601, "Method not found", 404)
        self.settle(2.5)
        self.works(s, p, 1)
        p.finish()
        self.assertEqual(s.inits(), 1)


if __name__ == "__main__":
    support.main(workers=16)
