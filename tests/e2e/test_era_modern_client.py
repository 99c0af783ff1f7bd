"""A client that speaks 2026-07-28: its requests are passed through to a server
of the same revision and bridged for a legacy server, and a call whose legacy
server asks a question is parked."""

import itertools
import json
import threading
import time

import eraserver
import pace
import support
from eraserver import (ALL, FORM, META, MODERN, ROOTS, SAMPLED, SUBSCRIPTION,
                       YES)
from support import note

LISTS = {"toolsListChanged": True, "promptsListChanged": True,
         "resourcesListChanged": True}
ACK = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"


class Base(eraserver.Case):
    shape = None

    def start(self, *args, **kw):
        caps = kw.pop("caps", None)
        s = self.era(kw.pop("shape", self.shape), **kw)
        return s, self.modern(s, *args, caps=caps)

    def works(self, s, p, seconds=support.LIVE):
        key = "key-%d" % self.count()
        self.assertEqual(p.said(p.tool(key=key, seconds=seconds)),
                         {"key": key})
        self.assertEqual(s.ran(key), 1)

    def subscribed(self, p, ident):
        """Notifications with that subscriptionId: (method, params without
        _meta)."""
        out = []
        with p.cond:
            for m in p.messages:
                meta = (m.get("params") or {}).get("_meta") or {}
                if "method" in m and SUBSCRIPTION in meta and \
                        meta[SUBSCRIPTION] == ident and \
                        type(meta[SUBSCRIPTION]) is type(ident):
                    out.append((m["method"], {
                        k: v for k, v in m["params"].items()
                        if k != "_meta"}))
        return out

    @staticmethod
    def asked(s):
        """The server's POSTs but for listens, which may come at any time."""
        return [post for post in s.posts() if post.startswith("POST ") and
                post != "POST subscriptions/listen"]

    def nth(self, p, ident, n, seconds=support.LIVE):
        """Waits for the nth of these notifications, from 0."""
        end = time.monotonic() + seconds
        while len(self.subscribed(p, ident)) <= n:
            if time.monotonic() > end:
                self.fail("%d notifications for %r: %r; stderr %s" % (
                    n + 1, ident, self.subscribed(p, ident),
                    p.err()[-1500:]))
            time.sleep(0.01)
        return self.subscribed(p, ident)[n]

    def acknowledged(self, p, ident):
        """The acknowledged notifications; the acknowledgement comes first."""
        method, params = self.nth(p, ident, 0)
        self.assertEqual(method, ACK)
        return params["notifications"]

    def required(self, answer):
        """An input_required result."""
        if answer.get("result", {}).get("resultType") != "input_required":
            self.fail("no input_required: %r; %s" % (
                answer, self.running[-1].err()[-1500:]))
        return answer["result"]

    def answers(self, result):
        return {k: eraserver.ANSWERS[q["method"]]
                for k, q in result["inputRequests"].items()}

    def retry(self, p, name, result, answers=None, caps=None, state=None,
              **args):
        """Sends the call again, with answers and state."""
        return self.again(p, "tools/call", {"name": name, "arguments": args},
                          result, answers, caps, state)

    def again(self, p, method, params, result, answers=None, caps=None,
              state=None):
        params = dict(params)
        if answers is None and "inputRequests" in result:
            answers = self.answers(result)
        if answers is not None:
            params["inputResponses"] = answers
        if state or "requestState" in result:
            params["requestState"] = state or result["requestState"]
        return p.start(method, params, caps)


class ToModern(Base):
    """The same revision on both sides."""

    shape = "modern"

    def test_byte_for_byte(self):
        s, p = self.start()
        p.ask("server/discover")
        line = (b'{"params":{"arguments":{"n":12345678901234567890,"f":1.0,'
                b'"key":"\\u0041"},"_meta":%s, "name":"echo"},"id":"\\u0062",'
                b'"method":"tools/call","jsonrpc":"2.0"}' %
                json.dumps(p.stamped()["_meta"]).encode())
        p.send(line)
        p.answer("b")
        self.assertEqual(s.seen("tools/call")[0].body, line)
        self.assertEqual(s.ran("A"), 1)
        text, _ = p.big_line()
        self.assertIn(b'"id": "\\u0062", "result": {"resultType": '
                      b'"complete"', text)
        self.assertIn(META.encode(), text)
        p.finish()

    def test_results_pass(self):
        """Results and errors are passed on, known to the proxy or not."""
        s, p = self.start()
        for result in ({"resultType": "x/new", "a": 1}, {"content": []},
                       {"resultType": "task", "taskId": "t", "ttlMs": None},
                       {"resultType": "complete", "content": [],
                        "_meta": {"x": 1}, "ttlMs": 3}):
            m = p.answer(p.tell("raw", result=result))
            self.assertEqual(m["result"], result)
        for code, status in ((-32021, 400), (-32602, 200), (-32601, 404),
                             (-1, 500)):
            e = {"code": code, "message": "m", "data": {"x": [1]}}
            m = p.answer(p.tell("raw", error=e, status=status))
            self.assertEqual(m["error"], e)
        m = p.ask("tools/list")
        self.assertEqual(m["result"]["ttlMs"], 60000)
        m = p.answer(p.tell("array"))
        self.assertEqual(m["result"]["structuredContent"], [1, 2, 3])
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.seen("server/discover")), 1)

    def test_versions_are_reduced(self):
        s, p = self.start(supported=["2027-01-01", MODERN, "2025-11-25"])
        m = p.ask("server/discover")
        self.assertEqual(m["result"]["supportedVersions"], [MODERN])
        self.assertEqual(m["result"]["instructions"], "be good")
        p.finish()

    def test_mirrored(self):
        s, p = self.start()
        for known in (False, True):
            if known:
                p.ask("tools/list")
            m = p.tool("mirrors", region="\u00e9 ", n=7, flag=False,
                       deep={"tenant": "t"}, key=known)
            self.assertIn("result", m)
            self.assertEqual(s.ran(known), 1)
        p.finish()

    def test_invalid_tools(self):
        s, p = self.start()
        for name, schema in eraserver.BAD_TOOLS.items():
            s.tools[name] = ({"inputSchema": schema}, eraserver.echo)
        names = [t["name"] for t in p.ask("tools/list")["result"]["tools"]]
        self.assertEqual(names, [n for n in s.tools
                                 if n not in eraserver.BAD_TOOLS])
        for name in eraserver.BAD_TOOLS:
            self.assertIn(name, p.err())
        p.finish()

    def test_progress_and_logs(self):
        s, p = self.start()
        p.ask("tools/call", p.stamped({"name": "steps"}, progressToken="t"))
        self.assertEqual([n["progress"] for n in
                          p.notes("notifications/progress")], [1, 2, 3])
        p.ask("tools/call", p.stamped({"name": "speaks"},
                                      **{META + "logLevel": "alert"}))
        self.assertEqual([n["level"] for n in
                          p.notes("notifications/message")],
                         ["alert", "emergency"])
        p.finish()

    def test_rounds_are_the_clients(self):
        s, p = self.start()
        r = self.required(p.answer(p.tell("twice", key="k")))
        self.assertEqual(r["inputRequests"]["first"]["params"], FORM)
        r = self.required(p.answer(self.retry(p, "twice", r, key="k")))
        self.assertEqual(set(r["inputRequests"]), {"second", "third"})
        m = p.answer(self.retry(p, "twice", r, key="k"))
        self.assertEqual(p.said(m), [{"first": YES},
                                     {"second": YES, "third": SAMPLED}])
        self.assertEqual(s.ran("k"), 1)
        m = p.answer(self.retry(p, "twice", r, key="k"))
        self.assertEqual(m["error"]["code"], -32602)
        p.finish()

    def test_cancel(self):
        """The proxy closes the call's stream, and sends no notification."""
        s, p = self.start()
        self.works(s, p)
        for n, meta in enumerate(({}, {"progressToken": "t"})):
            ident = p.start("tools/call", p.stamped(
                {"name": "holds", "arguments": {"key": n}}, **meta))
            self.assertTrue(s.wait(lambda: s.ran(n), 5))
            p.cancel(ident)
            self.assertTrue(s.wait(lambda: len(s.cancelled) == n + 1, 5))
        self.works(s, p)
        p.finish()
        self.assertEqual(s.notes, [])

    def test_answers_of_the_client_are_dropped(self):
        s, p = self.start()
        self.works(s, p)
        before = self.asked(s)
        p.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        self.works(s, p)
        self.assertEqual(self.asked(s), before + ["POST tools/call"])
        p.finish()

    def test_notification_of_its_own(self):
        s, p = self.start()
        self.works(s, p)
        p.send(note("notifications/com.x/y", {"z": 1}))
        self.assertTrue(s.wait(lambda: s.notes, 5))
        p.finish()

    def test_broken_stream(self):
        """A safe call is sent again under a new id, and answered under the
        client's id."""
        for how in ("cut", "end", "head"):
            s, p = self.start()
            p.ask("tools/list")
            m = p.answer(p.tell("breaks_reads", key="k", how=how))
            self.assertEqual(p.said(m), {"try": 2})
            a, b = s.seen("tools/call")
            self.assertNotEqual(a.json["id"], b.json["id"])
            self.assertEqual(a.json["params"], b.json["params"])
            m = p.answer(p.tell("breaks", key="u", how=how))
            self.our_error(m, "stream_lost", "maybe")
            self.assertEqual(s.ran("u"), 1)
            self.works(s, p)
            p.finish()

    def test_no_version_of_ours(self):
        """A call gets -32022 and no common version: the client gets an error,
        and later calls work."""
        s, p = self.start()
        self.works(s, p)

        def tool(call):
            call.error(-32022, "Unsupported protocol version",
                       {"supported": ["2027-01-01"], "requested": MODERN},
                       400)
        s.tools["gone"] = ({"inputSchema": eraserver.ANY}, tool)
        m = p.answer(p.tell("gone"), 40)
        self.assertIn("error", m)
        self.works(s, p)
        p.finish()

    def test_sent_while_the_server_is_not_known(self):
        """Calls that wait while the proxy probes the server are sent as they
        came, with their own capabilities; the server acknowledges a listen."""
        s, p = self.start("--no-memory")
        self.assertIn("result", p.ask("tools/list"))
        lost, found = threading.Event(), threading.Event()

        def before(rx, tx):
            if rx.rpc == "tools/call" and not lost.is_set():
                lost.set()
                tx.text(404, "Not Found")
                return True
            if rx.rpc == "server/discover":
                found.wait(5)
            return False
        s.before = before
        a = p.tell("reads", key="a")
        self.assertTrue(lost.wait(5))
        self.assertTrue(s.wait(lambda: s.requests[-1].rpc ==
                               "server/discover", 5))
        b = p.tell("array")
        c = p.tell("form", caps={}, key="c")
        d = p.listen(toolsListChanged=True)
        self.settle(0.2)
        found.set()
        self.assertEqual(p.said(p.answer(a)), {"key": "a"})
        self.assertEqual(p.answer(b)["result"]["structuredContent"],
                         [1, 2, 3])
        self.assertEqual(p.answer(c)["error"]["code"], -32021)
        self.assertEqual(p.note(ACK)["_meta"][SUBSCRIPTION], d)
        self.assertEqual(len(s.listening()), 1)
        self.works(s, p)
        p.finish()

    def test_handshake_is_never_made(self):
        s, p = self.start()
        self.works(s, p)
        p.ask("prompts/get", {"name": "hi"})
        p.finish()
        self.assertEqual({r.method for r in s.requests}, {"POST"})
        self.assertEqual(s.seen("initialize"), [])
        self.assertEqual(s.seen("notifications/initialized"), [])
        # the client did not ask for it
        self.assertEqual(s.seen("subscriptions/listen"), [])


class ListenToModern(Base):
    shape = "modern"

    def test_several(self):
        """Each subscription keeps its own id, and the id its type."""
        s, p = self.start()
        a = p.listen(toolsListChanged=True)
        b = p.listen(resourceSubscriptions=["file:///a", "file:///refused"])
        p.listens.append("sub")
        p.send(support.request("sub", "subscriptions/listen", p.stamped(
            {"notifications": {"toolsListChanged": True}})))
        self.assertEqual(self.acknowledged(p, a), {"toolsListChanged": True})
        self.assertEqual(self.acknowledged(p, b),
                         {"resourceSubscriptions": ["file:///a"]})
        self.assertEqual(self.acknowledged(p, "sub"),
                         {"toolsListChanged": True})
        self.assertEqual(s.notify("notifications/tools/list_changed"), 2)
        s.notify(UPDATED, {"uri": "file:///a"})
        for ident in (a, "sub"):
            self.assertEqual(self.nth(p, ident, 1)[0],
                             "notifications/tools/list_changed")
        self.assertEqual(self.nth(p, b, 1), (UPDATED, {"uri": "file:///a"}))
        p.finish()

    def test_cancel(self):
        s, p = self.start()
        a = p.listen(toolsListChanged=True)
        b = p.listen(toolsListChanged=True)
        self.acknowledged(p, a)
        self.acknowledged(p, b)
        p.cancel(a)
        self.assertTrue(s.wait(lambda: len(s.open_listens()) == 1, 5))
        s.notify("notifications/tools/list_changed")
        self.nth(p, b, 1)
        self.assertEqual(len(self.subscribed(p, a)), 1)
        p.finish()
        self.assertEqual(s.notes, [])

    def test_end_in_order(self):
        """The server ends the subscription: the client gets the result."""
        s, p = self.start()
        a = p.listen(toolsListChanged=True)
        self.acknowledged(p, a)
        s.listening()[0].end()
        m = p.answer(a)
        self.assertEqual(m["result"]["_meta"][SUBSCRIPTION], a)
        self.assertEqual(m["result"]["resultType"], "complete")
        self.settle(0.3)
        self.assertEqual(len(s.listens), 1)
        self.works(s, p)
        p.finish()

    def test_abrupt_end(self):
        """The proxy opens the subscription again under another id; the client
        sees one subscription, and is notified of what it may have missed."""
        for how in ("cut", "eof"):
            s, p = self.start()
            a = p.listen(toolsListChanged=True)
            self.acknowledged(p, a)
            s.listening()[0].end(how)
            second = s.wait(lambda: len(s.listens) == 2 and
                            s.listens[1], 10)
            self.assertTrue(second, how)
            self.assertNotEqual(second.id, a)
            n = len(self.subscribed(p, a))
            s.notify("notifications/tools/list_changed")
            self.assertEqual(self.nth(p, a, n)[0],
                             "notifications/tools/list_changed")
            self.assertEqual([m for m, _ in self.subscribed(p, a)
                              if m == ACK], [ACK])
            self.assertEqual(p.notes("notifications/cancelled"), [])
            p.finish()


class ToLegacy(Base):
    """Each row of the translation to a legacy server."""

    shape = "legacy"

    def test_opening(self):
        s, p = self.start(caps={"roots": {}, "elicitation": {"url": {}},
                                "experimental": {"e": {}}, "extensions": {
                                    "io.modelcontextprotocol/tasks": {},
                                    "com.x/y": {}}})
        self.works(s, p)
        p.finish()
        params = s.seen("initialize")[-1].json["params"]
        self.assertEqual(params, {
            "protocolVersion": "2025-11-25",
            "clientInfo": {"name": "e2e", "version": "1"},
            "capabilities": {"roots": {}, "elicitation": {"url": {}},
                             "experimental": {"e": {}},
                             "extensions": {"com.x/y": {}}}})
        self.assertEqual(len(s.seen("notifications/initialized")), 1)
        self.assertEqual(s.deleted, s.made[-1:])

    def test_without_a_name(self):
        """clientInfo is optional in the modern era, required in initialize."""
        s, p = self.start()
        meta = p.stamped()["_meta"]
        del meta[META + "clientInfo"]
        p.send(support.request("x", "tools/list", {"_meta": meta}))
        self.assertIn("result", p.answer("x"))
        info = s.seen("initialize")[-1].json["params"]["clientInfo"]
        self.assertIsInstance(info["name"], str)
        self.assertIsInstance(info["version"], str)
        p.finish()

    def test_discover(self):
        s, p = self.start()
        s.capabilities = dict(s.capabilities, tasks={"list": {}},
                              extensions={"com.x/y": {}})
        r = p.ask("server/discover")["result"]
        self.assertEqual(r.pop("capabilities"), {
            k: v for k, v in s.capabilities.items() if k != "tasks"})
        self.assertEqual(r, {
            "resultType": "complete", "supportedVersions": [MODERN],
            "instructions": "be good", "ttlMs": 0, "cacheScope": "private",
            "_meta": {META + "serverInfo": eraserver.INFO}})
        p.finish()

    def test_requests(self):
        s, p = self.start()
        p.ask("tools/call", p.stamped(
            {"name": "echo", "arguments": {"key": 1}}, progressToken="t",
            traceparent="00", **{META + "logLevel": "error"}))
        p.ask("tools/call", {"name": "echo"})
        p.ask("resources/read", {"uri": "file:///a"})
        a, b = s.seen("tools/call")
        self.assertEqual(a.json["params"], {
            "name": "echo", "arguments": {"key": 1},
            "_meta": {"progressToken": "t", "traceparent": "00"}})
        self.assertEqual(b.json["params"], {"name": "echo"})
        self.assertEqual(s.seen("resources/read")[0].json["params"],
                         {"uri": "file:///a"})
        for r in (a, b):
            self.assertEqual(r.sid, s.made[-1])
            self.assertEqual(r.get("MCP-Protocol-Version"), "2025-11-25")
        p.finish()

    def test_bytes_stay(self):
        s, p = self.start()
        args = b'{"n":12345678901234567890,"f":1.0,"s":"\\u00e9\\/"}'
        p.send(b'{"id":1.50,"jsonrpc":"2.0","method":"tools/call","params":'
               b'{"arguments":' + args + b',"_meta":' +
               json.dumps(p.stamped()["_meta"]).encode() +
               b',"name":"echo"}}')
        p.answer(1.5)
        self.assertIn(args, s.seen("tools/call")[0].body)
        self.assertTrue(any(b'1.50' in x for x, _ in p.lines))
        p.finish()

    def test_results(self):
        s, p = self.start()
        for method, params in (
                ("tools/list", None), ("prompts/list", None),
                ("resources/list", None), ("resources/templates/list", None),
                ("resources/read", {"uri": "file:///a"}),
                ("prompts/get", {"name": "hi"}),
                ("completion/complete", {"ref": {}, "argument": {}}),
                ("tools/call", {"name": "object"}),
                ("x/unknown-to-us", {"q": 1})):
            r = p.ask(method, params)["result"]
            self.assertEqual(r["resultType"], "complete", method)
            self.assertEqual(r["_meta"], {META + "serverInfo":
                                          eraserver.INFO}, method)
            if method in eraserver.CACHEABLE:
                self.assertEqual((r["ttlMs"], r["cacheScope"]),
                                 (0, "private"), method)
            else:
                self.assertNotIn("ttlMs", r, method)
        tools = p.ask("tools/list")["result"]["tools"]
        self.assertEqual([t["name"] for t in tools if "execution" in t], [])
        r = p.answer(p.tell("raw", result={
            "content": [], "resultType": "foreign", "_meta": {"x": 1}}))
        self.assertEqual(r["result"], {
            "content": [], "resultType": "complete",
            "_meta": {"x": 1, META + "serverInfo": eraserver.INFO}})
        p.finish()

    def test_errors(self):
        s, p = self.start()
        m = p.ask("resources/read", {"uri": "file:///none"})
        self.assertEqual(m["error"]["code"], -32602)
        self.assertEqual(m["error"]["data"], {"uri": "file:///none"})
        e = {"code": -32000, "message": "x", "data": {"y": 1}}
        self.assertEqual(p.answer(p.tell("raw", error=e))["error"], e)
        self.assertEqual(p.ask("x/none")["error"]["code"], -32601)
        p.finish()

    def test_what_this_era_has_not(self):
        s, p = self.start()
        self.works(s, p)
        before = self.asked(s)
        for method, params in (("ping", None),
                               ("initialize", {"protocolVersion": MODERN,
                                               "capabilities": {},
                                               "clientInfo": {}}),
                               ("logging/setLevel", {"level": "info"}),
                               ("resources/subscribe", {"uri": "file:///a"}),
                               ("resources/unsubscribe",
                                {"uri": "file:///a"}),
                               ("tasks/get", {"taskId": "t"}),
                               ("tasks/update", {"taskId": "t"}),
                               ("tasks/cancel", {"taskId": "t"})):
            self.assertEqual(p.ask(method, params)["error"]["code"], -32601,
                             method)
        self.assertEqual(self.asked(s), before)
        p.finish()

    def test_progress(self):
        s, p = self.start()
        p.ask("tools/call", p.stamped({"name": "steps"}, progressToken=5))
        self.assertEqual([(n["progressToken"], n["progress"]) for n in
                          p.notes("notifications/progress")],
                         [(5, 1), (5, 2), (5, 3)])
        p.finish()

    def test_logs(self):
        """The client gets only log messages of the level that a request asked
        for, from that request's stream."""
        s, p = self.start()
        p.ask("tools/call", p.stamped({"name": "speaks"}))
        self.assertEqual(p.notes("notifications/message"), [])
        p.ask("tools/call", p.stamped({"name": "speaks"},
                                      **{META + "logLevel": "alert"}))
        self.assertEqual([n["level"] for n in
                          p.notes("notifications/message")],
                         ["alert", "emergency"])
        self.assertEqual(s.levels, ["alert"])
        p.ask("tools/call", p.stamped({"name": "speaks"},
                                      **{META + "logLevel": "debug"}))
        self.assertEqual(len(p.notes("notifications/message")), 10)
        p.ask("tools/call", p.stamped({"name": "speaks"}))
        self.assertEqual(len(p.notes("notifications/message")), 10)
        m = p.ask("tools/call", p.stamped({"name": "speaks"},
                                          **{META + "logLevel": "loud"}))
        self.assertEqual(m["error"]["code"], -32602)
        # a message on the GET stream belongs to no request
        s.wait(lambda: s.notify("notifications/message",
                                {"level": "alert", "data": 1}), 5)
        self.works(s, p)
        self.assertEqual(len(p.notes("notifications/message")), 10)
        p.finish()

    def test_logs_of_a_server_without(self):
        """A server without logging gets no setLevel; the call works."""
        s, p = self.start(capabilities={"tools": {}})
        m = p.ask("tools/call", p.stamped({"name": "echo"},
                                          **{META + "logLevel": "debug"}))
        self.assertIn("result", m)
        self.assertEqual(s.levels, [])
        p.finish()

    def test_logs_on_the_one_stream(self):
        """HTTP+SSE has one stream: a call that asked for logs gets them."""
        s, p = self.start(shape="sse")
        p.ask("tools/call", p.stamped({"name": "speaks"}))
        self.assertEqual(p.notes("notifications/message"), [])
        p.ask("tools/call", p.stamped({"name": "speaks"},
                                      **{META + "logLevel": "alert"}))
        self.assertEqual([n["level"] for n in
                          p.notes("notifications/message")],
                         ["alert", "emergency"])
        p.finish()

    def test_logs_in_parallel(self):
        """Two calls in parallel ask for different levels: each gets only
        messages of its own level."""
        s, p = self.start()
        a = p.start("tools/call", p.stamped(
            {"name": "holds", "arguments": {"key": "k"}},
            **{META + "logLevel": "debug"}))
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        p.ask("tools/call", p.stamped({"name": "speaks"},
                                      **{META + "logLevel": "emergency"}))
        self.assertEqual([n["level"] for n in
                          p.notes("notifications/message")], ["emergency"])
        s.release.set()
        p.answer(a)
        p.finish()

    def test_cancel(self):
        s, p = self.start()
        self.works(s, p)
        ident = p.tell("holds", key="k")
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        up = [r for r in s.seen("tools/call")
              if r.json["params"]["name"] == "holds"][0].json["id"]
        p.cancel(ident)
        self.assertTrue(s.wait(lambda: s.cancelled, 5))
        self.assertEqual([r.json["params"]["requestId"] for r in s.notes
                          if r.rpc == "notifications/cancelled"], [up])
        self.works(s, p)
        p.finish()

    def test_ping_of_the_server(self):
        s, p = self.start()
        self.works(s, p)
        session = list(s.sessions.values())[0]
        self.assertTrue(s.wait(lambda: session.streams, 5))
        ident, box = s.question()
        session.push({"jsonrpc": "2.0", "id": ident, "method": "ping"})
        self.assertEqual(box.get(timeout=10)["result"], {})
        p.finish()

    def test_question_of_nobody(self):
        """roots/list at the start, as some servers send, gets an error."""
        s, p = self.start()
        self.works(s, p)
        session = list(s.sessions.values())[0]
        self.assertTrue(s.wait(lambda: session.streams, 5))
        ident, box = s.question()
        session.push({"jsonrpc": "2.0", "id": ident, "method": "roots/list"})
        self.assertEqual(box.get(timeout=10)["error"]["code"], -32601)
        p.finish()

    def test_what_is_dropped(self):
        s, p = self.start()
        self.works(s, p)
        session = list(s.sessions.values())[0]
        self.assertTrue(s.wait(lambda: session.streams, 5))
        for method, params in (
                ("notifications/elicitation/complete",
                 {"elicitationId": "e"}),
                ("notifications/tasks/status", {"taskId": "t"}),
                ("notifications/tools/list_changed", None),
                (UPDATED, {"uri": "file:///a"}),
                ("notifications/progress", {"progressToken": "none",
                                            "progress": 1})):
            m = {"jsonrpc": "2.0", "method": method}
            if params:
                m["params"] = params
            session.push(m)
        self.works(s, p)
        self.settle(0.2)
        self.assertEqual([m["method"] for m in p.messages
                          if "method" in m], [])
        p.finish()

    def test_session_is_lost(self):
        """The client does not notice that the session is lost."""
        for shape in ("legacy", "sse"):
            s, p = self.start(shape=shape)
            a = p.listen(toolsListChanged=True,
                         resourceSubscriptions=["file:///a"])
            self.acknowledged(p, a)
            self.works(s, p)
            s.become(shape, "cut")
            self.works(s, p)
            # the client is notified because of the gap; both then go on
            self.nth(p, a, 1)
            self.assertTrue(s.wait(lambda: any(
                "file:///a" in x.subscribed for x in s.sessions.values()),
                10), shape)
            n = len(self.subscribed(p, a))
            self.assertTrue(s.wait(lambda: s.notify(
                UPDATED, {"uri": "file:///a"}), 10))
            limit = pace.Limit(10)
            while limit.left() > 0 and (
                    UPDATED, {"uri": "file:///a"}) not in \
                    self.subscribed(p, a)[n:]:
                time.sleep(0.01)
            self.assertIn((UPDATED, {"uri": "file:///a"}),
                          self.subscribed(p, a)[n:])
            self.assertEqual([m for m, _ in self.subscribed(p, a)
                              if m == ACK], [ACK])
            p.finish()

    def test_more_capabilities_later(self):
        """A later request declares more than the session has."""
        s, p = self.start(caps={})
        self.works(s, p)
        r = p.answer(p.tell("form", caps=ALL, key="k"))
        if "result" in r and "inputRequests" in r["result"]:
            m = p.answer(self.retry(p, "form", r["result"], caps=ALL,
                                    key="k"))
            self.assertEqual(p.said(m), {"ok": YES})
            self.assertEqual(s.ran("k"), 1)
        p.finish()
        # if the session was not renewed, the server used what the session
        # had not declared
        s.faults[:] = [f for f in s.faults if "not declared" not in f]

    def test_stateless(self):
        """A server without sessions offers no stream; calls work."""
        s, p = self.start(stateful=False)
        self.works(s, p)
        a = p.listen(**LISTS)
        self.assertEqual(self.acknowledged(p, a), {})
        self.works(s, p)
        p.finish()


class ListenToLegacy(Base):
    shape = "legacy"

    def test_lists(self):
        for shape in ("legacy", "sse"):
            s, p = self.start(shape=shape)
            a = p.listen(**LISTS)
            b = p.listen(toolsListChanged=True)
            self.assertEqual(self.acknowledged(p, a), LISTS)
            self.assertEqual(self.acknowledged(p, b),
                             {"toolsListChanged": True})
            self.assertTrue(s.wait(lambda: any(
                x.streams for x in s.sessions.values()), 5))
            for family in ("prompts", "tools"):
                s.notify("notifications/%s/list_changed" % family)
            self.assertEqual([self.nth(p, a, n)[0] for n in (1, 2)],
                             ["notifications/prompts/list_changed",
                              "notifications/tools/list_changed"])
            self.assertEqual(self.nth(p, b, 1)[0],
                             "notifications/tools/list_changed")
            self.works(s, p)
            self.assertEqual(len(self.subscribed(p, b)), 2)
            p.finish()

    def test_acknowledged_when_it_listens(self):
        """The acknowledgement comes when the GET stream is open, so that no
        later notification is missed."""
        s, p = self.start()
        plain = s.legacy_get
        s.legacy_get = lambda rx, tx: (time.sleep(0.3), plain(rx, tx))
        a = p.listen(**LISTS)
        self.acknowledged(p, a)
        self.assertEqual(s.notify("notifications/tools/list_changed"), 1)
        self.nth(p, a, 1)
        p.finish()

    def test_no_stream(self):
        """The server offers no GET stream: nothing is acknowledged."""
        s, p = self.start(stream=False)
        self.works(s, p)
        a = p.listen(**LISTS)
        self.assertEqual(self.acknowledged(p, a), {})
        p.finish()

    def test_what_the_server_has(self):
        s, p = self.start(capabilities={"tools": {"listChanged": True},
                                        "resources": {}})
        a = p.listen(resourceSubscriptions=["file:///a"], **LISTS)
        self.assertEqual(self.acknowledged(p, a), {"toolsListChanged": True})
        self.assertEqual(s.seen("resources/subscribe"), [])
        p.finish()

    def test_subscriptions(self):
        """The proxy unsubscribes when a URI's last subscription ends."""
        s, p = self.start()
        a = p.listen(resourceSubscriptions=["file:///a", "file:///b"])
        b = p.listen(resourceSubscriptions=["file:///a"])
        self.assertEqual(self.acknowledged(p, a), {
            "resourceSubscriptions": ["file:///a", "file:///b"]})
        self.assertEqual(self.acknowledged(p, b), {
            "resourceSubscriptions": ["file:///a"]})
        session = list(s.sessions.values())[0]
        self.assertEqual(session.subscribed, {"file:///a", "file:///b"})
        s.notify(UPDATED, {"uri": "file:///a"})
        for ident in (a, b):
            self.assertEqual(self.nth(p, ident, 1),
                             (UPDATED, {"uri": "file:///a"}))
        # a sub-resource
        s.notify(UPDATED, {"uri": "file:///b/1"})
        self.assertEqual(self.nth(p, a, 2), (UPDATED,
                                             {"uri": "file:///b/1"}))
        p.cancel(a)
        self.assertTrue(s.wait(
            lambda: session.subscribed == {"file:///a"}, 5))
        s.notify(UPDATED, {"uri": "file:///a"})
        self.nth(p, b, 2)
        self.assertEqual(len(self.subscribed(p, a)), 3)
        p.cancel(b)
        self.assertTrue(s.wait(lambda: session.subscribed == set(), 5))
        p.finish()

    def test_refused_subscription(self):
        s, p = self.start()
        a = p.listen(resourceSubscriptions=["file:///refused", "file:///a"])
        self.assertEqual(self.acknowledged(p, a), {
            "resourceSubscriptions": ["file:///a"]})
        p.finish()

    def test_bad_listen(self):
        s, p = self.start()
        m = p.ask("subscriptions/listen")
        self.assertEqual(m["error"]["code"], -32602)
        p.finish()


class Parked(Base):
    """Calls for which a legacy server asks questions."""

    shape = "legacy"

    def each_way(self, fn):
        """The server asks on the POST's stream, the GET's, and that of
        HTTP+SSE."""
        for kw in ({}, {"ask_on": "get"}, {"shape": "sse"}):
            s, p = self.start(**kw)
            if kw.get("ask_on"):
                self.works(s, p)
                self.assertTrue(s.wait(lambda: any(
                    x.streams for x in s.sessions.values()), 5))
            fn(s, p)
            p.finish()

    def test_form(self):
        """A question and its retry (doc/protocol.md 7.5)."""
        def one(s, p):
            r = self.required(p.answer(p.tell("form", key="k")))
            self.assertEqual(list(r["inputRequests"].values()), [
                {"method": "elicitation/create", "params": FORM}])
            self.assertGreaterEqual(len(r["requestState"]), 16)
            m = p.answer(self.retry(p, "form", r, key="k"))
            self.assertEqual(p.said(m), {"ok": YES})
            self.assertEqual(m["result"]["resultType"], "complete")
            self.assertEqual(m["result"]["_meta"], {
                META + "serverInfo": eraserver.INFO})
            self.assertEqual(s.ran("k"), 1)
            forms = [r for r in s.seen("tools/call")
                     if r.json["params"]["name"] == "form"]
            self.assertEqual(len(forms), 1)
        self.each_way(one)

    def test_all_kinds(self):
        def one(s, p):
            r = self.required(p.answer(p.tell("many", key="k")))
            self.assertEqual(sorted(q["method"] for q in
                                    r["inputRequests"].values()),
                             sorted(eraserver.ANSWERS))
            m = p.answer(self.retry(p, "many", r, key="k"))
            self.assertEqual(p.said(m), {"f": YES, "r": ROOTS, "s": SAMPLED})
            self.assertEqual(s.ran("k"), 1)
        self.each_way(one)

    def test_two_rounds(self):
        def one(s, p):
            r1 = self.required(p.answer(p.tell("twice", key="k")))
            r2 = self.required(p.answer(self.retry(p, "twice", r1, key="k")))
            self.assertEqual(len(r2["inputRequests"]), 2)
            self.assertNotEqual(r1["requestState"], r2["requestState"])
            m = p.answer(self.retry(p, "twice", r2, key="k"))
            self.assertEqual(p.said(m), [
                {"first": YES}, {"second": YES, "third": SAMPLED}])
            self.assertEqual(s.ran("k"), 1)
        self.each_way(one)

    def test_other_methods(self):
        s, p = self.start()
        for method, params, answer in (
                ("prompts/get", {"name": "ask"}, {"s": SAMPLED}),
                ("resources/read", {"uri": "file:///ask"}, {"r": ROOTS})):
            r = self.required(p.ask(method, params))
            m = p.answer(self.again(p, method, params, r))
            self.assertIn(json.dumps(answer), json.dumps(m).replace(
                '\\"', '"'))
        p.finish()

    def test_url(self):
        s, p = self.start()
        r = self.required(p.answer(p.tell("url", key="k")))
        self.assertEqual(list(r["inputRequests"].values()), [
            {"method": "elicitation/create", "params": eraserver.URL}])
        m = p.answer(self.retry(p, "url", r, key="k"))
        self.assertEqual(p.said(m), {"u": YES})
        p.finish()

    def test_decline(self):
        s, p = self.start()
        r = self.required(p.answer(p.tell("form", key="k")))
        key = list(r["inputRequests"])[0]
        m = p.answer(self.retry(p, "form", r, {key: {"action": "decline"}},
                                key="k"))
        self.assertEqual(p.said(m), {"ok": {"action": "decline"}})
        p.finish()

    def bad(self, p, r, **kw):
        args = dict({"key": "k"}, **kw.pop("args", {}))
        name = kw.pop("name", "form")
        m = p.answer(self.retry(p, name, r, **kw, **args))
        self.assertEqual(m["error"]["code"], -32602, m)
        self.assertIn("requestState", m["error"]["message"])

    def test_wrong_state(self):
        """A wrong requestState does not reach another call's question."""
        s, p = self.start()
        r = self.required(p.answer(p.tell("form", key="k")))
        token = r["requestState"]
        for state in ("none", token + "x", token[:-1], token.upper()
                      if token.upper() != token else token.lower(), "\u00e9",
                      "x" * 5000):
            self.bad(p, r, state=state)
        # another call, other arguments, another method
        self.bad(p, r, name="echo")
        self.bad(p, r, args={"key": "other"})
        self.bad(p, r, args={"more": 1})
        m = p.answer(self.again(p, "prompts/get", {"name": "form"}, r))
        self.assertEqual(m["error"]["code"], -32602)
        m = p.answer(self.retry(p, "form", r, key="k"))
        self.assertEqual(p.said(m), {"ok": YES})
        # used up
        self.bad(p, r)
        self.assertEqual((s.ran("k"), s.ran("other")), (1, 0))
        self.assertEqual(len(s.replies), 1)
        p.finish()

    def test_state_of_another_process(self):
        s, p = self.start()
        r = self.required(p.answer(p.tell("form", key="k")))
        q = self.modern(s)
        self.bad(q, r)
        q.finish()
        m = p.answer(self.retry(p, "form", r, key="k"))
        self.assertEqual(p.said(m), {"ok": YES})
        p.finish()

    def test_responses_without_state(self):
        """inputResponses without a requestState are not sent to the server."""
        s, p = self.start()
        m = p.answer(p.tell("echo", more={"inputResponses": {"q1": YES}},
                            key="k"))
        self.assertEqual(p.said(m), {"key": "k"})
        self.assertEqual(s.ran("k"), 1)
        p.finish()

    def test_missing_answers(self):
        """The client is asked again for the missing answers only."""
        s, p = self.start()
        r = self.required(p.answer(p.tell("many", key="k")))
        answers = self.answers(r)
        left = [k for k, q in r["inputRequests"].items()
                if q["method"] == "roots/list"]
        for k in left:
            del answers[k]
        r2 = self.required(p.answer(self.retry(p, "many", r, answers,
                                               key="k")))
        self.assertEqual([q["method"] for q in
                          r2["inputRequests"].values()], ["roots/list"])
        self.assertTrue(s.wait(lambda: len(s.replies) == 2, 5))
        m = p.answer(self.retry(p, "many", r2, key="k"))
        self.assertEqual(p.said(m), {"f": YES, "r": ROOTS, "s": SAMPLED})
        self.assertEqual(s.ran("k"), 1)
        p.finish()

    def test_extra_answers(self):
        s, p = self.start()
        r = self.required(p.answer(p.tell("form", key="k")))
        answers = dict(self.answers(r), other=YES, q99={})
        m = p.answer(self.retry(p, "form", r, answers, key="k"))
        self.assertEqual(p.said(m), {"ok": YES})
        self.assertEqual(len(s.replies), 1)
        p.finish()

    def test_undeclared(self):
        """The server gets an error for a question that the client has not
        declared."""
        for name, caps, code in (
                ("form", {"sampling": {}}, -32601),
                ("sample", {"elicitation": {}}, -32601),
                ("roots", {}, -32601),
                ("url", {"elicitation": {}}, -32602)):
            s, p = self.start(caps=caps)
            said = p.said(p.answer(p.tell(name, key="k")))
            self.assertEqual(said["refused"]["code"], code, name)
            p.finish()
            self.assertTrue(s.faults)
            s.faults.clear()

    def test_declared_by_the_request(self):
        """A call that declares no elicitation is not asked, even if another
        call in the same session may be."""
        s, p = self.start()
        self.works(s, p)
        said = p.said(p.answer(p.tell("form", caps={}, key="k")))
        self.assertEqual(said["refused"]["code"], -32601)
        self.required(p.answer(p.tell("form", key="l")))
        p.finish()

    def test_not_in_other_methods(self):
        """A question during completion/complete gets an error."""
        s, p = self.start()

        def complete(call):
            call.ask(r=("roots/list", None))
            call.result({"completion": {"values": []}})
        s.methods["completion/complete"] = complete
        r = p.ask("completion/complete", {"ref": {}, "argument": {}})
        self.assertIn('"code": -32601',
                      r["result"]["content"][0]["text"])
        p.finish()

    def test_answer_while_parked(self):
        """The server answers the call without waiting for the client's answer:
        the retry gets the result."""
        s, p = self.start()

        def hasty(call):
            ident, box = call.server.question()
            call.pose({"jsonrpc": "2.0", "id": ident, "method":
                       "elicitation/create", "params": FORM})
            time.sleep(0.2)
            call.effect()
            call.text("went on")
        s.tools["hasty"] = ({"inputSchema": eraserver.ANY}, hasty)
        r = self.required(p.answer(p.tell("hasty", key="k")))
        self.settle(0.5)
        m = p.answer(self.retry(p, "hasty", r, key="k"))
        self.assertEqual(p.said(m), "went on")
        self.assertEqual(s.ran("k"), 1)
        p.finish()

    def test_question_is_withdrawn(self):
        """The server cancels its question while the call is parked: the
        client's answer is dropped."""
        s, p = self.start()
        go = threading.Event()

        def tool(call):
            ident, box = call.server.question()
            call.pose({"jsonrpc": "2.0", "id": ident, "method":
                       "elicitation/create", "params": FORM})
            go.wait(support.LIVE)
            call.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                       "params": {"requestId": ident}})
            call.effect()
            call.text("alone")
        s.tools["fickle"] = ({"inputSchema": eraserver.ANY}, tool)
        r = self.required(p.answer(p.tell("fickle", key="k")))
        go.set()
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        self.settle(0.2)
        m = p.answer(self.retry(p, "fickle", r, key="k"))
        self.assertEqual(p.said(m), "alone")
        self.assertEqual(s.replies, [])
        self.assertEqual(p.notes("notifications/cancelled"), [])
        p.finish()

    def test_progress_around_it(self):
        """Progress is dropped while the call is parked, and has the retry's
        token afterwards."""
        s, p = self.start()

        def tool(call):
            call.progress(1)
            call.ask(ok=("elicitation/create", FORM))
            call.progress(2)
            call.effect()
            call.text("ok")
        s.tools["counts"] = ({"inputSchema": eraserver.ANY}, tool)
        r = self.required(p.ask("tools/call", p.stamped(
            {"name": "counts"}, progressToken="old")))
        m = p.ask("tools/call", p.stamped(
            {"name": "counts", "inputResponses": self.answers(r),
             "requestState": r["requestState"]}, progressToken="new"))
        self.assertIn("result", m)
        got = [(n["progressToken"], n["progress"]) for n in
               p.notes("notifications/progress")]
        self.assertEqual(got[0], ("old", 1))
        self.assertIn(got[1:], ([], [("new", 2)]))
        p.finish()

    def test_cancel_after_the_retry(self):
        """The cancel reaches the server under the id of the first request."""
        s, p = self.start()

        def tool(call):
            call.ask(ok=("elicitation/create", FORM))
            call.effect()
            call.hold()
            call.text("released")
        s.tools["long"] = ({"inputSchema": eraserver.ANY}, tool)
        r = self.required(p.answer(p.tell("long", key="k")))
        ident = self.retry(p, "long", r, key="k")
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        p.cancel(ident)
        self.assertTrue(s.wait(lambda: s.cancelled, 5))
        self.assertEqual(s.cancelled,
                         [s.seen("tools/call")[0].json["id"]])
        self.works(s, p)
        p.finish()

    @support.plain
    def test_client_leaves(self):
        """The proxy ends soon, and cancels the question or the session."""
        s, p = self.start()
        self.required(p.answer(p.tell("form", key="k")))
        begin = time.monotonic()
        p.finish(seconds=6)
        self.within(time.monotonic() - begin, 4)
        if s.replies:
            self.assertEqual(s.replies[0].json["result"],
                             {"action": "cancel"})
        self.assertTrue(s.replies or s.deleted)

    def test_session_lost_while_parked(self):
        """The retry gets an error, as its question was lost."""
        s, p = self.start()
        r = self.required(p.answer(p.tell("form", key="k")))
        s.become("legacy", "cut")
        m = p.answer(self.retry(p, "form", r, key="k"))
        self.assertIn("error", m)
        self.assertEqual(s.ran("k"), 0)
        self.works(s, p)
        p.finish()

    def test_many_parked(self):
        s, p = self.start()
        rs = {}
        ids = [(n, p.tell("form", key=n)) for n in range(10)]
        for n, ident in ids:
            rs[n] = self.required(p.answer(ident))
        self.assertEqual(len({r["requestState"] for r in rs.values()}), 10)
        again = []
        for n, r in reversed(rs.items()):
            key = list(r["inputRequests"])[0]
            again.append((n, self.retry(p, "form", r, {
                key: {"action": "accept", "content": {"n": n}}}, key=n)))
        for n, ident in again:
            self.assertEqual(p.said(p.answer(ident))["ok"]["content"],
                             {"n": n})
            self.assertEqual(s.ran(n), 1)
        p.finish()

    def test_url_error(self):
        """The error -32042 (URL elicitation) of 2025-11-25 is bridged."""
        s, p = self.start()
        r = self.required(p.answer(p.tell("url_error", key="k")))
        self.assertEqual(list(r["inputRequests"].values()), [
            {"method": "elicitation/create", "params": {
                "mode": "url", "message": "pay",
                "url": "https://pay.example/2"}}])
        self.bad(p, r, name="url_error", args={"x": 1})
        m = p.answer(self.retry(p, "url_error", r, key="k"))
        self.assertEqual(p.said(m), "paid")
        self.assertEqual(s.ran("k"), 1)
        self.assertEqual(len(s.seen("tools/call")), 2)
        p.finish()
        s, p = self.start(caps={"elicitation": {}})
        m = p.answer(p.tell("url_error", key="k"))
        self.assertEqual(m["error"]["code"], -32021)
        self.assertEqual(m["error"]["data"]["requiredCapabilities"],
                         {"elicitation": {"url": {}}})
        p.finish()


class BothOnOnePipe(Base):
    """A client has one era: after initialize, a request that names the modern
    version is passed on as it is."""

    def start_both(self, shape):
        s = self.era(shape)
        p = self.modern(s)
        p.send(support.init("hello", capabilities=ALL))
        self.assertIn("result", p.answer("hello"))
        p.send(support.INITIALIZED)
        p.send(support.call("l", key="l"))
        self.assertEqual(p.said(p.answer("l")), {"key": "l"})
        return s, p

    def both(self, shape):
        s, p = self.start_both(shape)
        m = p.answer(p.tell("echo", key="m"))
        self.assertEqual(p.said(m), {"key": "m"})
        self.assertEqual((s.ran("l"), s.ran("m")), (1, 1))
        p.finish()
        s.faults.clear()
        return m

    def test_legacy_server(self):
        self.assertNotIn("resultType", self.both("legacy")["result"])

    def test_sse(self):
        self.assertNotIn("resultType", self.both("sse")["result"])

    def test_modern_server(self):
        self.assertEqual(self.both("modern")["result"]["resultType"],
                         "complete")

    def test_dual(self):
        """A server with both eras refuses both in one session: the modern
        one is used."""
        s, p = self.start_both("dual")
        m = p.answer(p.tell("echo", key="m"))
        self.assertEqual(m["result"]["resultType"], "complete")
        self.assertEqual(s.ran("m"), 1)
        self.assertEqual(len(s.seen("server/discover")), 1)
        p.finish()
        s.faults.clear()


class Many(Base):
    def test_listens(self):
        """50 subscriptions to each kind of server."""
        def one(shape):
            s, p = self.start(shape=shape)
            ids = [p.listen(toolsListChanged=True, resourceSubscriptions=[
                "file:///%d" % (n % 10)]) for n in range(50)]
            for ident in ids:
                self.acknowledged(p, ident)
            if shape != "modern":
                self.assertTrue(s.wait(lambda: any(
                    x.streams for x in s.sessions.values()), 5))
            s.notify("notifications/tools/list_changed")
            s.notify(UPDATED, {"uri": "file:///7"})
            for n, ident in enumerate(ids):
                self.nth(p, ident, 2 if n % 10 == 7 else 1)
                self.assertEqual(len(self.subscribed(p, ident)),
                                 3 if n % 10 == 7 else 2)
            for ident in ids[:25]:
                p.cancel(ident)
            self.works(s, p)
            p.finish(seconds=8)
        self.each(["legacy", "sse", "modern"], one)

    def test_too_many_listens(self):
        """Each subscription is acknowledged or gets an error."""
        s, p = self.start(shape="legacy")
        ids = [p.start("subscriptions/listen", p.stamped(
            {"notifications": {"toolsListChanged": True}}))
            for _ in range(1000)]
        self.works(s, p)
        open_ones = [i for i in ids if self.subscribed(p, i)]
        self.assertGreaterEqual(len(open_ones), 50)
        p.listens += open_ones
        for i in ids:
            if i not in open_ones:
                self.assertIn("error", p.answer(i))
        p.finish()

    def test_at_once(self):
        """60 calls to each kind of server."""
        def one(shape):
            s, p = self.start(shape=shape)
            ids = [p.tell("echo", key=n) for n in range(60)]
            for n, ident in enumerate(ids):
                self.assertEqual(p.said(p.answer(ident)), {"key": n})
            self.assertEqual(len(s.effects), 60)
            p.finish()
        self.each(["legacy", "sse", "modern", "dual"], one)

    def test_ids(self):
        """Ids come back as the client wrote them."""
        def one(shape):
            s, p = self.start(shape=shape)
            for raw in (b'1', b'-7', b'1.50', b'1e3', b'"1"', b'"\\u00e9"',
                        b'9007199254740993', b'""'):
                line = b'{"jsonrpc":"2.0","id":' + raw + \
                    b',"method":"tools/list","params":' + \
                    json.dumps(p.stamped()).encode() + b'}'
                n = len(p.lines)
                p.send(line)
                text, _ = p.big_line(at=n, least=n + 1)
                self.assertTrue(b'"id":' + raw in text or
                                b'"id": ' + raw in text, (shape, text[:80],
                                                          text[-80:]))
            p.finish()
        self.each(["legacy", "sse", "modern"], one)

    def test_same_id_twice(self):
        s, p = self.start(shape="legacy")
        p.send(support.request("x", "tools/call", p.stamped(
            {"name": "holds", "arguments": {"key": "k"}})))
        self.assertTrue(s.wait(lambda: s.ran("k"), 5))
        p.send(support.request("x", "tools/list", p.stamped()))
        m = p.answer("x")
        self.assertEqual(m["error"]["code"], -32600)
        s.release.set()
        self.assertTrue(p.find(lambda m: m.get("id") == "x" and
                               "result" in m))
        p.finish()

    def test_sessions_are_not_spent(self):
        """The proxy makes one session for a client."""
        s, p = self.start(shape="legacy")
        for n in itertools.islice(itertools.count(), 5):
            self.works(s, p)
        p.ask("server/discover")
        p.finish()
        self.assertEqual(len(s.made), 1)


if __name__ == "__main__":
    support.main()
