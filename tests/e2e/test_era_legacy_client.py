"""A legacy client in front of a server that only speaks 2026-07-28: every row
of the bridge.  The server is strict; what it could not refuse is in its
faults, which fail a test by themselves."""

import itertools
import json
import threading
import time

import eraserver
import support
from eraserver import (ALL, FORM, LEGACY, META, MODERN, ROOTS, SAMPLED, YES,
                       Client)
from support import INITIALIZED, init, note

TASKS = "io.modelcontextprotocol/tasks"


class Base(eraserver.Case):
    def start(self, *args, **kw):
        client = {k: kw.pop(k) for k in ("caps", "version") if k in kw}
        s = self.era("modern", **kw)
        return s, self.legacy(s, *args, **client)

    def works(self, s, p, seconds=support.LIVE):
        key = "key-%d" % self.count()
        self.assertEqual(p.said(p.tool(key=key, seconds=seconds)),
                         {"key": key})
        self.assertEqual(s.ran(key), 1)

    def meta(self, rx):
        return rx.json["params"]["_meta"]

    def params(self, rx):
        """params without _meta."""
        return {k: v for k, v in rx.json["params"].items() if k != "_meta"}

    def quiet(self, s, p, *messages):
        """These cause no request at all."""
        before = len(s.requests)
        p.send(*messages)
        self.works(s, p)
        self.assertEqual([r.rpc for r in s.requests[before:]
                          if r.rpc != "subscriptions/listen"],
                         ["tools/call"])


class Opening(Base):
    def test_initialize(self):
        s = self.era("modern")
        s.capabilities = dict(s.capabilities, experimental={"x": {}},
                              extensions={TASKS: {}, "com.example/y": {}})
        p = self.legacy(s)
        r = p.hello_answer["result"]
        self.assertEqual(r["protocolVersion"], "2025-11-25")
        self.assertEqual(r["serverInfo"], eraserver.INFO)
        self.assertEqual(r["instructions"], "be good")
        caps = r["capabilities"]
        self.assertEqual(caps["extensions"], {"com.example/y": {}})
        self.assertEqual(caps["experimental"], {"x": {}})
        self.assertEqual(caps["tools"], {"listChanged": True})
        self.assertEqual(caps["resources"], {"listChanged": True,
                                             "subscribe": True})
        for key in ("resultType", "ttlMs", "cacheScope",
                    "supportedVersions", "_meta"):
            self.assertNotIn(key, r)
        p.finish()

    def test_versions(self):
        """What was asked for, if it is a legacy one."""
        for asked, given in [(v, v) for v in LEGACY] + [
                (MODERN, "2025-11-25"), ("2027-01-01", "2025-11-25"),
                ("nonsense", "2025-11-25")]:
            s = self.era("modern")
            p = self.legacy(s, version=asked)
            self.assertEqual(p.hello_answer["result"]["protocolVersion"],
                             given)
            self.works(s, p)
            p.finish()

    def test_a_server_without_a_name(self):
        s = self.era("modern", names_itself=False)
        p = self.legacy(s)
        info = p.hello_answer["result"]["serverInfo"]
        self.assertIsInstance(info["name"], str)
        self.assertTrue(info["name"])
        self.assertIsInstance(info["version"], str)
        p.finish()

    def test_name_at_the_top(self):
        """As older drafts have it."""
        s = self.era("modern", names_itself=False)
        s.methods["server/discover"] = lambda call: call.result(
            {"supportedVersions": [MODERN], "capabilities": {},
             "serverInfo": {"name": "top", "version": "3"}})
        p = self.legacy(s)
        self.assertEqual(p.hello_answer["result"]["serverInfo"],
                         {"name": "top", "version": "3"})
        p.finish()

    def test_again(self):
        s, p = self.start()
        p.send(init(2, capabilities=ALL))
        m = p.answer(2)
        self.assertEqual(m["result"], p.hello_answer["result"])
        p.send(INITIALIZED)
        self.works(s, p)
        p.finish()

    def test_nothing_legacy_goes_out(self):
        """No session id, no GET, no DELETE, no initialized."""
        s, p = self.start()
        self.works(s, p)
        p.finish()
        self.assertEqual({r.method for r in s.requests}, {"POST"})
        self.assertEqual(s.seen("notifications/initialized"), [])
        for r in s.requests[1:]:
            self.assertIsNone(r.sid)
            self.assertEqual(r.get("MCP-Protocol-Version"), MODERN)


class Requests(Base):
    def test_meta(self):
        s, p = self.start(caps={"roots": {"listChanged": True},
                                "sampling": {"tools": {}},
                                "elicitation": {}, "tasks": {"list": {}},
                                "experimental": {"e": 1},
                                "extensions": {TASKS: {}, "com.x/y": {}}})
        self.works(s, p)
        p.finish()
        self.assertEqual(self.meta(s.seen("tools/call")[0]), {
            META + "protocolVersion": MODERN,
            META + "clientInfo": {"name": "codex-mcp-client e2e",
                                  "version": "1"},
            META + "clientCapabilities": {
                "roots": {}, "sampling": {"tools": {}}, "elicitation": {},
                "experimental": {"e": 1}, "extensions": {"com.x/y": {}}}})

    def test_params_are_made(self):
        s, p = self.start()
        p.ask("tools/list")
        p.ask("prompts/list", {})
        p.finish()
        for name in ("tools/list", "prompts/list"):
            self.assertEqual(set(s.seen(name)[0].json["params"]), {"_meta"})

    def test_meta_is_merged(self):
        s, p = self.start()
        p.ask("tools/call", {"name": "echo", "_meta": {
            "progressToken": "p", "traceparent": "00-1", "com.x/z": [1],
            META + "logLevel": "debug"}, "arguments": {"key": 1}})
        p.finish()
        meta = self.meta(s.seen("tools/call")[0])
        self.assertEqual(meta["progressToken"], "p")
        self.assertEqual(meta["traceparent"], "00-1")
        self.assertEqual(meta["com.x/z"], [1])
        self.assertEqual(meta[META + "protocolVersion"], MODERN)

    def test_bytes_stay(self):
        """Numbers, order and escapes of what is not touched."""
        s, p = self.start()
        args = b'{"n":12345678901234567890,"f":1.0,"e":1e2,"s":"\\u00e9' \
            b'\\/","key":"k"}'
        p.send(b'{"method":"tools/call","id":7.50,"jsonrpc":"2.0","params":{'
               b'"arguments":' + args + b',"name":"echo"}}')
        p.answer(7.5)
        p.finish()
        self.assertIn(args, s.seen("tools/call")[0].body)
        self.assertTrue(any(b'7.50' in x for x, _ in p.lines))

    def test_answer_bytes_stay(self):
        s, p = self.start()
        body = b'{"content":[],"x":12345678901234567890,"y":1.0,' \
            b'"z":{"ttlMs":5,"resultType":"q","cacheScope":1},"w":"\\u00e9"'

        def tool(call):
            call.tx.body(200, b'{"jsonrpc":"2.0","id":%s,"result":%s,'
                         b'"resultType":"complete"}}' % (
                             json.dumps(call.id).encode(), body),
                         "application/json")
            call.over = True
        s.tools["bytes"] = ({"inputSchema": eraserver.ANY}, tool)
        p.ask("tools/call", {"name": "bytes"})
        p.finish()
        self.assertTrue(any(body in x for x, _ in p.lines),
                        p.lines[-1][0])

    def test_every_method(self):
        """What exists in both eras; without what only one of them has."""
        s, p = self.start()
        for method, params, key in (
                ("tools/list", None, "tools"),
                ("prompts/list", None, "prompts"),
                ("prompts/get", {"name": "hi"}, "messages"),
                ("resources/list", None, "resources"),
                ("resources/templates/list", None, "resourceTemplates"),
                ("resources/read", {"uri": "file:///a"}, "contents"),
                ("completion/complete", {"ref": {}, "argument": {}},
                 "completion"),
                ("tools/call", {"name": "object"}, "structuredContent"),
                ("x/unknown-to-us", {"q": 5}, "got")):
            m = p.ask(method, params)
            self.assertIn(key, m["result"], method)
            for gone in ("resultType", "ttlMs", "cacheScope", "_meta"):
                self.assertNotIn(gone, m["result"], method)
        p.finish()

    def test_other_meta_of_results_stays(self):
        s, p = self.start()
        m = p.ask("tools/call", {"name": "raw", "arguments": {"result": {
            "resultType": "complete", "content": [], "_meta": {
                META + "serverInfo": {}, "com.x/y": 1}}}})
        self.assertEqual(m["result"], {"content": [],
                                       "_meta": {"com.x/y": 1}})
        m = p.ask("tools/call", {"name": "raw", "arguments": {"result": {
            "content": [], "a": {"ttlMs": 1, "resultType": "x"}}}})
        self.assertEqual(m["result"], {"content": [], "a": {
            "ttlMs": 1, "resultType": "x"}})
        p.finish()

    def test_errors_pass(self):
        """Code, message and data, whatever the status."""
        s, p = self.start()
        for code, status, data in ((-32602, 200, None), (-32602, 400, [1]),
                                   (-32021, 400, {"requiredCapabilities":
                                                  {"sampling": {}}}),
                                   (-32603, 500, {"a": 1}), (-1, 200, "x"),
                                   (-32601, 404, None), (5, 404, None)):
            e = {"code": code, "message": "m %d" % code}
            if data is not None:
                e["data"] = data
            m = p.ask("tools/call", {"name": "raw", "arguments": {
                "error": e, "status": status}})
            self.assertEqual(m["error"], e, (code, status))
        m = p.ask("x/none")
        self.assertEqual(m["error"]["code"], -32601)
        self.assertNotIn("source", m["error"].get("data") or {})
        m = p.ask("resources/read", {"uri": "file:///none"})
        self.assertEqual(m["error"]["code"], -32602)
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.seen("server/discover")), 1)
        self.assertEqual(len(s.seen("initialize")), 1)

    def test_error_without_our_id(self):
        """Belongs to the POST it came on."""
        s, p = self.start()

        def tool(call):
            call.over = True
            call.tx.error(-32602, "anonymous", 400, id=None)
        s.tools["anon"] = ({"inputSchema": eraserver.ANY}, tool)
        m = p.ask("tools/call", {"name": "anon"})
        self.assertEqual(m["error"]["message"], "anonymous")
        p.finish()

    def test_local_ones(self):
        s, p = self.start()
        p.ask("tools/list")
        before = len(s.requests)
        self.assertEqual(p.ask("ping")["result"], {})
        for m in ("tasks/get", "tasks/result", "tasks/list", "tasks/cancel"):
            self.assertEqual(p.ask(m, {"taskId": "t"})["error"]["code"],
                             -32601)
        self.assertEqual([r.rpc for r in s.requests[before:]
                          if r.rpc != "subscriptions/listen"], [])
        p.finish()

    def test_task_goes(self):
        s, p = self.start()
        p.ask("tools/call", {"name": "echo", "task": {"ttl": 5},
                             "arguments": {"key": 1}})
        self.assertEqual(self.params(s.seen("tools/call")[0]),
                         {"name": "echo", "arguments": {"key": 1}})
        p.finish()

    def test_notifications(self):
        """Those that this era has not are swallowed; others go out."""
        s, p = self.start()
        s.listening()
        self.quiet(s, p, note("notifications/roots/list_changed"),
                   note("notifications/progress", {"progressToken": 1,
                                                   "progress": 1}),
                   note("notifications/tasks/status", {"taskId": "t"}),
                   INITIALIZED)
        p.send(note("notifications/com.x/y", {"z": 1}))
        self.assertTrue(s.wait(lambda: s.notes, 5))
        self.assertEqual(s.notes[0].json["params"]["z"], 1)
        s.before = lambda rx, tx: rx.rpc == "notifications/bad" and \
            (tx.text(400, "no") or True)
        p.send(note("notifications/bad"))
        self.works(s, p)
        p.finish()

    def test_broken_results(self):
        """Not of the revision: told, never silence."""
        s, p = self.start()
        for result in ({"resultType": "task", "taskId": "t"},
                       {"resultType": "x/new"}, {"resultType": 5}):
            m = p.ask("tools/call", {"name": "raw",
                                     "arguments": {"result": result}})
            self.our_error(m, "unsupported_result")
        m = p.ask("tools/call", {"name": "raw", "arguments": {"result": {
            "resultType": "input_required"}}})
        self.our_error(m, "bad_upstream")
        self.works(s, p)
        p.finish()

    def test_many_at_once(self):
        s, p = self.start()
        ids = [p.start("tools/call", {"name": "echo",
                                      "arguments": {"key": n}})
               for n in range(60)]
        for n, ident in enumerate(ids):
            self.assertEqual(p.said(p.answer(ident)), {"key": n})
        p.finish()
        self.assertEqual(len(s.effects), 60)


class Mirrors(Base):
    VALUES = {"region": ["us west", "", " a", "a ", "\u00e9", "a\tb", "\n",
                         "=?base64?x?=", "=?base64?x", "a,b", "~", "\x7f"],
              "n": [0, -5, 9007199254740991], "flag": [True, False]}

    def test_values(self):
        """Each is compared by the server with the body's."""
        s, p = self.start()
        p.ask("tools/list")
        n = 0
        for name, values in self.VALUES.items():
            for v in values:
                n += 1
                self.assertEqual(p.said(p.tool("mirrors", **{
                    name: v, "key": n})), {name: v, "key": n})
        p.said(p.tool("mirrors", deep={"tenant": "t"}, plain="x",
                      region=None, key="d"))
        self.assertEqual(len(s.seen("tools/call")), n + 1)
        rx = s.seen("tools/call")[-1]
        self.assertEqual(rx.get("Mcp-Param-Tenant-Id"), "t")
        self.assertIsNone(rx.get("Mcp-Param-Region"))
        p.finish()

    def test_names(self):
        s, p = self.start()
        self.assertEqual(p.said(p.tool("\u00e9cho name", key=1)),
                         {"key": 1})
        self.assertEqual(
            p.ask("resources/read", {"uri": "file:///\u00e9 "})["error"][
                "code"], -32602)
        p.ask("prompts/get", {"name": " x"})
        p.finish()
        self.assertEqual([r.rpc for r in s.requests if r.rpc ==
                          "prompts/get"], ["prompts/get"])

    def test_not_listed_yet(self):
        """The refusal teaches us: one list of all pages, one retry."""
        for pages in (False, True):
            s, p = self.start(tool_pages=pages)
            before = len(s.requests)
            self.assertEqual(p.said(p.tool("mirrors", region="eu", key="k")),
                             {"region": "eu", "key": "k"})
            self.assertEqual(s.ran("k"), 1)
            self.assertEqual(
                [r.rpc for r in s.requests[before:]
                 if r.rpc != "subscriptions/listen"],
                ["tools/call"] + ["tools/list"] * (1 + pages) +
                ["tools/call"])
            # known from now on
            p.tool("mirrors", region="eu", key="l")
            self.assertEqual(len(s.seen("tools/call")), 3)
            self.assertEqual(p.count_messages("tools/list"), 0)
            p.finish()

    def test_schema_changes(self):
        s, p = self.start()
        p.ask("tools/list")
        p.said(p.tool("mirrors", region="eu"))
        s.tools["mirrors"] = ({"inputSchema": eraserver.obj(
            region=eraserver.prop("string", "Place"))}, eraserver.echo)
        self.assertEqual(p.said(p.tool("mirrors", region="eu", key="k")),
                         {"region": "eu", "key": "k"})
        self.assertEqual(s.seen("tools/call")[-1].get("Mcp-Param-Place"),
                         "eu")
        self.assertEqual(s.ran("k"), 1)
        p.finish()

    def test_never_content(self):
        """One retry, then it is an error."""
        s, p = self.start()

        def tool(call):
            call.error(-32020, "Header mismatch", status=400)
        s.tools["picky"] = ({"inputSchema": eraserver.ANY}, tool)
        m = p.ask("tools/call", {"name": "picky"})
        self.assertIn("error", m)
        self.assertEqual(len(s.seen("tools/call")), 2)
        self.assertEqual(len(s.seen("tools/list")), 1)
        self.works(s, p)
        p.finish()

    def test_invalid_tools(self):
        """Are not shown; a warning names them; the rest is."""
        s = self.era("modern")
        for name, schema in eraserver.BAD_TOOLS.items():
            s.tools[name] = ({"inputSchema": schema}, eraserver.echo)
        # no annotations at all
        for name, schema in {
                "good_name": eraserver.obj(**{"x-mcp-header":
                                              {"type": "string"}}),
                "good_const": eraserver.obj(x={"const": {"x-mcp-header":
                                                         "A"}}),
                "good_null": eraserver.obj(x={"type": ["string", "null"],
                                              "x-mcp-header": "X"})}.items():
            s.tools[name] = ({"inputSchema": schema}, eraserver.echo)
        p = self.legacy(s, "-v")
        names = [t["name"] for t in p.ask("tools/list")["result"]["tools"]]
        self.assertEqual(names, [n for n in s.tools
                                 if n not in eraserver.BAD_TOOLS])
        for name in eraserver.BAD_TOOLS:
            self.assertIn(name, p.err())
        p.finish()

    def test_warned_without_v(self):
        s = self.era("modern")
        s.tools["bad_number"] = ({"inputSchema": eraserver.BAD_TOOLS[
            "bad_number"]}, eraserver.echo)
        p = self.legacy(s)
        p.ask("tools/list")
        self.assertIn("bad_number", p.err())
        p.finish()


class Structured(Base):
    def tool(self, p, name):
        for t in p.ask("tools/list")["result"]["tools"]:
            if t["name"] == name:
                return t
        self.fail(name)

    def test_object_stays(self):
        s, p = self.start()
        t = self.tool(p, "object")
        self.assertEqual(t["outputSchema"], s.tools["object"][0][
            "outputSchema"])
        self.assertEqual(p.tool("object")["result"]["structuredContent"],
                         {"a": 1})
        p.finish()

    def test_others_are_wrapped(self):
        s, p = self.start()
        t = self.tool(p, "array")["outputSchema"]
        self.assertEqual(t["type"], "object")
        self.assertEqual(t["required"], ["result"])
        inner = t["properties"]["result"]
        self.assertEqual(inner["type"], "array")
        self.assertEqual(inner["items"],
                         {"$ref": "#/properties/result/$defs/n"})
        r = p.tool("array")["result"]
        self.assertEqual(r["structuredContent"], {"result": [1, 2, 3]})
        texts = [json.loads(c["text"]) for c in r["content"]
                 if c["type"] == "text"]
        self.assertIn(texts, ([[1, 2, 3]], [{"result": [1, 2, 3]}]))
        p.finish()

    def test_without_a_list(self):
        """What is no object is wrapped whether the schema is known or
        not."""
        s, p = self.start()
        for name, value in (("number", 42), ("array", [1, 2, 3])):
            self.assertEqual(p.tool(name)["result"]["structuredContent"],
                             {"result": value})
        p.finish()

    def test_wrapped_schema_object_value(self):
        """The schema was shown wrapped, so an object is, too."""
        s, p = self.start()
        s.tools["either"] = ({"inputSchema": eraserver.ANY, "outputSchema":
                              {"anyOf": [{"type": "object"},
                                         {"type": "null"}]}},
                             eraserver.structured({"x": 1}))
        t = self.tool(p, "either")["outputSchema"]
        self.assertEqual(t["type"], "object")
        self.assertEqual(p.tool("either")["result"]["structuredContent"],
                         {"result": {"x": 1}})
        p.finish()


class Notifications(Base):
    def test_progress(self):
        s, p = self.start()
        for token in ("t", 7):
            m = p.ask("tools/call", {"name": "steps",
                                     "_meta": {"progressToken": token}})
            self.assertIn("result", m)
        self.assertEqual([(n["progressToken"], n["progress"], n["total"])
                          for n in p.notes("notifications/progress")],
                         [(t, n, 3) for t in ("t", 7) for n in (1, 2, 3)])
        p.finish()

    def test_progress_does_not_fall_back(self):
        """The retry after a question begins to count anew."""
        s = self.era("modern")

        def tool(call):
            call.progress(1)
            call.progress(2)
            call.ask(ok=("elicitation/create", FORM))
            call.progress(3)
            call.effect()
            call.text("ok")
        s.tools["counts"] = ({"inputSchema": eraserver.ANY}, tool)
        p = self.legacy(s)
        ident = p.start("tools/call", {"name": "counts",
                                       "_meta": {"progressToken": "t"}})
        p.reply(p.question("elicitation/create"))
        self.assertEqual(p.said(p.answer(ident)), "ok")
        self.assertEqual([n["progress"] for n in
                          p.notes("notifications/progress")], [1, 2, 3])
        p.finish()

    def test_logs(self):
        """None before a level is set; then those and above."""
        s, p = self.start()
        p.tool("speaks")
        self.assertEqual(p.notes("notifications/message"), [])
        self.assertNotIn(META + "logLevel",
                         self.meta(s.seen("tools/call")[-1]))
        m = p.ask("logging/setLevel", {"level": "loud"})
        self.assertEqual(m["error"]["code"], -32602)
        m = p.ask("logging/setLevel", {})
        self.assertEqual(m["error"]["code"], -32602)
        self.assertEqual(p.ask("logging/setLevel", {"level": "error"})[
            "result"], {})
        p.tool("speaks")
        self.assertEqual([n["level"] for n in
                          p.notes("notifications/message")],
                         ["error", "critical", "alert", "emergency"])
        p.ask("logging/setLevel", {"level": "emergency"})
        p.tool("speaks")
        self.assertEqual(len(p.notes("notifications/message")), 5)
        self.assertEqual(s.seen("logging/setLevel"), [])
        p.finish()

    def test_list_changes(self):
        s, p = self.start()
        listen = s.listening()[0]
        self.assertEqual(listen.honoured, {"toolsListChanged": True,
                                           "promptsListChanged": True,
                                           "resourcesListChanged": True})
        for family in ("tools", "prompts", "resources"):
            method = "notifications/%s/list_changed" % family
            self.assertEqual(s.notify(method), 1)
            p.note(method)
            self.assertNotIn(META, json.dumps(p.notes(method)))
        self.assertEqual(p.count_messages(
            "notifications/subscriptions/acknowledged"), 0)
        p.finish()

    def test_no_list_changes_declared(self):
        """Then nothing is listened for."""
        s = self.era("modern", capabilities={"tools": {}})
        p = self.legacy(s)
        self.works(s, p)
        self.settle(0.3)
        self.assertEqual([x.honoured for x in s.listens
                          if x.honoured], [])
        p.finish()

    def ends(self, how):
        """The stream of changes ends: another, and what may have been
        missed."""
        s, p = self.start()
        first = s.listening()[0]
        p.ask("tools/list")
        s.tools.popitem()
        n = len(p.notes("notifications/tools/list_changed"))
        first.end(how)
        self.assertTrue(s.wait(lambda: len(s.listens) == 2, 10))
        self.assertNotEqual(s.listens[1].id, first.id)
        p.note("notifications/tools/list_changed", n + 1)
        n = len(p.notes("notifications/tools/list_changed"))
        s.notify("notifications/tools/list_changed")
        p.note("notifications/tools/list_changed", n + 1)
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.seen("initialize")), 1)

    def test_end_in_order(self):
        self.ends("result")

    def test_end_of_stream(self):
        self.ends("eof")

    def test_cut(self):
        self.ends("cut")

    def test_listen_refused(self):
        """A server that has none is none the worse for it."""
        s = self.era("modern")
        s.methods.pop("subscriptions/listen")
        p = self.legacy(s)
        self.works(s, p)
        self.settle(1.0)
        self.works(s, p)
        self.assertLess(len(s.seen("subscriptions/listen")), 4)
        p.finish()


class Subscriptions(Base):
    def updated(self, s, p, uri):
        n = len(p.notes("notifications/resources/updated"))
        self.assertTrue(s.notify("notifications/resources/updated",
                                 {"uri": uri}))
        m = p.note("notifications/resources/updated", n + 1)
        self.assertEqual(m, {"uri": uri})

    def uris(self, s):
        out = [x.honoured["resourceSubscriptions"] for x in s.open_listens()
               if "resourceSubscriptions" in x.honoured]
        return out[0] if len(out) == 1 else out

    def test_subscribe(self):
        s, p = self.start()
        s.listening(1)
        self.assertEqual(p.ask("resources/subscribe",
                               {"uri": "file:///a"})["result"], {})
        s.listening(2)
        self.updated(s, p, "file:///a")
        p.ask("resources/subscribe", {"uri": "file:///b"})
        self.assertTrue(s.wait(lambda: self.uris(s) ==
                               ["file:///a", "file:///b"], 5), self.uris(s))
        self.updated(s, p, "file:///b")
        self.updated(s, p, "file:///a")
        self.assertEqual(p.ask("resources/unsubscribe",
                               {"uri": "file:///a"})["result"], {})
        self.assertTrue(s.wait(lambda: self.uris(s) == ["file:///b"], 5))
        p.ask("resources/unsubscribe", {"uri": "file:///b"})
        self.assertTrue(s.wait(lambda: len(s.open_listens()) == 1, 5))
        # list changes were never interrupted
        self.assertIsNone(s.listens[0].ended)
        self.works(s, p)
        p.finish()
        self.assertEqual(s.seen("resources/subscribe"), [])

    def test_made_before_it_breaks(self):
        """The old stream goes when the new one is acknowledged."""
        s, p = self.start()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        s.listening(2)
        old = s.listens[-1]
        gate = threading.Event()
        plain = s.listen

        def slow(call):
            gate.wait(support.LIVE)
            plain(call)
        s.methods["subscriptions/listen"] = slow
        ident = p.start("resources/subscribe", {"uri": "file:///b"})
        self.settle(0.5)
        self.assertIsNone(old.ended)
        self.updated(s, p, "file:///a")
        gate.set()
        self.assertEqual(p.answer(ident)["result"], {})
        self.assertTrue(s.wait(lambda: old.ended == "client", 5))
        self.updated(s, p, "file:///a")
        p.finish()

    def test_refused(self):
        s, p = self.start()
        m = p.ask("resources/subscribe", {"uri": "file:///refused"})
        self.assertEqual(m["error"]["code"], -32602)
        p.ask("resources/subscribe", {"uri": "file:///a"})
        self.updated(s, p, "file:///a")
        p.finish()

    def test_not_offered(self):
        s = self.era("modern", capabilities={"resources": {}})
        p = self.legacy(s)
        for method in ("resources/subscribe", "resources/unsubscribe"):
            m = p.ask(method, {"uri": "file:///a"})
            self.assertEqual(m["error"]["code"], -32601, method)
        self.assertEqual(s.listens, [])
        p.finish()

    def test_burst(self):
        """30 of them are one stream or a few."""
        s, p = self.start()
        s.listening(1)
        ids = [p.start("resources/subscribe", {"uri": "file:///%d" % n})
               for n in range(30)]
        for ident in ids:
            self.assertEqual(p.answer(ident)["result"], {})
        self.assertTrue(s.wait(lambda: len(self.uris(s)) == 30, 5))
        self.assertLess(len(s.seen("subscriptions/listen")), 5)
        p.finish()

    def test_come_back_after_a_cut(self):
        s, p = self.start()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        s.listening(2)
        for x in s.open_listens():
            x.end("cut")
        # the gap is told
        self.assertTrue(s.wait(lambda: len(s.open_listens()) == 2, 10))
        p.note("notifications/resources/updated")
        self.updated(s, p, "file:///a")
        p.finish()


def escaped(message):
    """As some write it, with a backslash before each slash."""
    return json.dumps(message).replace("/", "\\/").encode()


class Escapes(Base):
    def ask(self, p, method, params=None):
        p.next_id += 1
        p.send(escaped(support.request(p.next_id, method, params)))
        return p.answer(p.next_id)["result"]

    def cancel(self, s, p):
        ident = p.start("tools/call", {"name": "holds",
                                       "arguments": {"key": "held"}})
        self.assertTrue(s.wait(lambda: s.ran("held"), 5))
        p.silent.add(p.key(ident))
        p.send(escaped(note("notifications/cancelled", {"requestId": ident})))

    def test_modern_server(self):
        s = self.era("modern")
        s.tools["bad"] = ({"inputSchema": eraserver.BAD_TOOLS["bad_number"]},
                          eraserver.echo)
        p = self.legacy(s)
        self.ask(p, "logging/setLevel", {"level": "info"})
        self.ask(p, "resources/subscribe", {"uri": "file:///a"})
        self.ask(p, "resources/unsubscribe", {"uri": "file:///a"})
        self.ask(p, "ping")
        names = [t["name"] for t in self.ask(p, "tools/list")["tools"]]
        self.assertIn("echo", names)
        self.assertNotIn("bad", names)
        self.ask(p, "tools/call", {"name": "echo", "arguments": {"key": 1}})
        self.cancel(s, p)
        self.assertTrue(s.wait(lambda: len(s.cancelled) == 1, 5))
        self.works(s, p)
        p.finish()
        self.assertEqual(s.notes, [])
        self.assertEqual(s.seen("tools/list")[-1].get("Mcp-Method"),
                         "tools/list")
        self.assertEqual({r.rpc for r in s.requests},
                         {"initialize", "server/discover", "tools/list",
                          "subscriptions/listen", "tools/call"})

    def test_legacy_server(self):
        s = self.era("legacy")
        p = self.client(Client, s)
        p.send(escaped(init(1, capabilities=ALL)).replace(
            b"initialize", b"\\u0069nitialize"))
        self.assertIn("result", p.answer(1))
        p.send(escaped(INITIALIZED))
        self.ask(p, "tools/list")
        s.sessions.clear()
        self.ask(p, "tools/call", {"name": "echo", "arguments": {"key": 1}})
        self.assertEqual(s.ran(1), 1)
        self.cancel(s, p)
        self.assertTrue(s.wait(lambda: any(
            n.rpc == "notifications/cancelled" for n in s.notes), 5))
        s.release.set()
        self.works(s, p)
        p.finish()


class Cancels(Base):
    @support.plain
    def test_closes_the_stream(self):
        """Before the head and after it; nothing is POSTed; no answer."""
        s, p = self.start()
        for meta in ({}, {"progressToken": "t"}):
            n = len(s.cancelled)
            ident = p.start("tools/call", {"name": "holds", "_meta": meta,
                                           "arguments": {"key": n}})
            self.assertTrue(s.wait(lambda: s.ran(n), 5))
            begin = time.monotonic()
            p.cancel(ident)
            self.assertTrue(s.wait(lambda: len(s.cancelled) == n + 1, 5))
            self.within(time.monotonic() - begin, 1.0)
        self.works(s, p)
        p.finish()
        self.assertEqual(s.notes, [])

    def test_unknown(self):
        s, p = self.start()
        s.listening()
        self.quiet(s, p, note("notifications/cancelled", {"requestId": 999}))
        p.finish()

    def test_while_asked(self):
        """The question is withdrawn; no retry follows."""
        s, p = self.start()
        ident = p.start("tools/call", {"name": "form",
                                       "arguments": {"key": "k"}})
        q = p.question("elicitation/create")
        p.cancel(ident)
        self.assertEqual(p.note("notifications/cancelled")["requestId"],
                         q["id"])
        p.reply(q)
        self.works(s, p)
        p.finish()
        self.assertEqual(len(s.seen("tools/call")), 2)
        self.assertEqual(s.ran("k"), 0)


class Questions(Base):
    def asked(self, p, name, **kw):
        return p.start("tools/call", {"name": name, "arguments": kw})

    def rounds(self, s, name):
        return [r for r in s.seen("tools/call")
                if r.json["params"]["name"] == name]

    def test_form(self):
        """A question and its retry (doc/protocol.md 6.7)."""
        s, p = self.start()
        p.send(support.request(5, "tools/call", {
            "name": "form", "arguments": {"key": 1.5},
            "_meta": {"progressToken": "p"}}))
        q = p.question("elicitation/create")
        self.assertEqual(q["params"], FORM)
        self.assertNotEqual(q["id"], 5)
        p.reply(q)
        m = p.answer(5)
        self.assertEqual(p.said(m), {"ok": YES})
        first, second = self.rounds(s, "form")
        self.assertNotEqual(first.json["id"], second.json["id"])
        a, b = dict(first.json["params"]), dict(second.json["params"])
        self.assertEqual(b.pop("inputResponses"), {"ok": YES})
        self.assertTrue(b.pop("requestState").startswith("st/"))
        self.assertEqual(a, b)
        self.assertEqual(s.ran(1.5), 1)
        p.finish()

    def test_all_kinds(self):
        """In parallel, answered in any order, with exact results."""
        s, p = self.start()
        ident = self.asked(p, "many", key="k")
        qs = [p.question(m) for m in eraserver.ANSWERS]
        self.assertEqual(len({json.dumps(q["id"]) for q in qs}), 3)
        for q in reversed(qs):
            p.reply(q)
        self.assertEqual(p.said(p.answer(ident)),
                         {"f": YES, "r": ROOTS, "s": SAMPLED})
        self.assertEqual(s.ran("k"), 1)
        self.assertEqual(len(self.rounds(s, "many")), 2)
        p.finish()

    def test_two_rounds(self):
        """Each replaces the answers of the one before."""
        s, p = self.start()
        ident = self.asked(p, "twice", key="k")
        p.reply(p.question("elicitation/create"))
        p.reply(p.question("elicitation/create", 1),
                {"action": "decline"})
        p.reply(p.question("sampling/createMessage"))
        self.assertEqual(p.said(p.answer(ident)), [
            {"first": YES},
            {"second": {"action": "decline"}, "third": SAMPLED}])
        self.assertEqual(s.ran("k"), 1)
        rounds = self.rounds(s, "twice")
        self.assertEqual(len({json.dumps(r.json["id"]) for r in rounds}), 3)
        self.assertEqual(set(rounds[2].json["params"]["inputResponses"]),
                         {"second", "third"})
        p.finish()

    def test_without_state(self):
        s, p = self.start(without_state=True)
        ident = self.asked(p, "form")
        p.reply(p.question("elicitation/create"))
        self.assertEqual(p.said(p.answer(ident)), {"ok": YES})
        self.assertNotIn("requestState",
                         self.rounds(s, "form")[1].json["params"])
        p.finish()

    def test_state_only(self):
        s, p = self.start()
        self.assertEqual(p.said(p.tool("later", key="k")), "later")
        self.assertNotIn("inputResponses",
                         self.rounds(s, "later")[1].json["params"])
        self.assertEqual(s.ran("k"), 1)
        p.finish()

    def test_other_methods(self):
        s, p = self.start()
        ident = p.start("prompts/get", {"name": "ask"})
        p.reply(p.question("sampling/createMessage"))
        m = p.answer(ident)
        self.assertEqual(json.loads(
            m["result"]["messages"][0]["content"]["text"]), {"s": SAMPLED})
        ident = p.start("resources/read", {"uri": "file:///ask"})
        p.reply(p.question("roots/list"))
        self.assertEqual(json.loads(
            p.answer(ident)["result"]["contents"][0]["text"]), {"r": ROOTS})
        p.finish()

    def test_url(self):
        """2025-11-25 wants an id for it."""
        s, p = self.start()
        ids = set()
        for n in range(2):
            ident = self.asked(p, "url")
            q = p.question("elicitation/create", n)
            params = dict(q["params"])
            e = params.pop("elicitationId")
            self.assertRegex(e, "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
            ids.add(e)
            self.assertEqual(params, eraserver.URL)
            p.reply(q, {"action": "accept"})
            self.assertEqual(p.said(p.answer(ident)),
                             {"u": {"action": "accept"}})
        self.assertEqual(len(ids), 2)
        p.finish()

    def test_mode_for_older_clients(self):
        """mode is unknown before 2025-11-25."""
        for version, keeps in (("2025-06-18", False), ("2025-11-25", True)):
            s = self.era("modern")
            s.tools["form"] = (s.tools["form"][0], eraserver.asks(
                ok=("elicitation/create", dict(FORM, mode="form"))))
            p = self.legacy(s, version=version)
            ident = self.asked(p, "form")
            q = p.question("elicitation/create")
            self.assertEqual("mode" in q["params"], keeps)
            p.reply(q)
            p.answer(ident)
            p.finish()

    def test_error_to_a_form(self):
        """Counts as cancel."""
        s, p = self.start()
        ident = self.asked(p, "form")
        p.reply(p.question("elicitation/create"),
                error={"code": -1, "message": "user left"})
        self.assertEqual(p.said(p.answer(ident)),
                         {"ok": {"action": "cancel"}})
        p.finish()

    def test_error_to_others(self):
        """Ends the call; the server hears no more of it."""
        s, p = self.start()
        for name, method in (("sample", "sampling/createMessage"),
                             ("roots", "roots/list")):
            ident = self.asked(p, name, key=name)
            p.reply(p.question(method), error={"code": -7, "message": "no"})
            e = self.our_error(p.answer(ident), "input_refused")
            self.assertIn('"code": -7', json.dumps(e["data"]))
            self.assertEqual(len(self.rounds(s, name)), 1)
            self.assertEqual(s.ran(name), 0)
        self.works(s, p)
        p.finish()

    def test_undeclared(self):
        """A client is not asked what it cannot answer."""
        for name, caps in (("form", {}), ("sample", {"elicitation": {}}),
                           ("roots", {"sampling": {}}),
                           ("url", {"elicitation": {}}),
                           ("url", {"elicitation": {"form": {}}}),
                           ("odd", ALL)):
            s, p = self.start(careless=True, caps=caps)
            self.our_error(p.tool(name, key="k"), "input_refused")
            self.assertEqual([m for m in p.messages
                              if "method" in m and "id" in m], [])
            self.assertEqual(s.ran("k"), 0)
            p.finish()

    def test_empty_elicitation_is_form(self):
        s, p = self.start(caps={"elicitation": {}})
        ident = self.asked(p, "form")
        p.reply(p.question("elicitation/create"))
        self.assertEqual(p.said(p.answer(ident)), {"ok": YES})
        p.finish()

    def test_strict_server_and_undeclared(self):
        """Its own error comes through."""
        s, p = self.start(caps={})
        m = p.tool("form")
        self.assertEqual(m["error"]["code"], -32021)
        self.assertEqual(m["error"]["data"], {"requiredCapabilities": {
            "elicitation": {"form": {}}}})
        p.finish()

    def test_no_end_of_questions(self):
        s, p = self.start()
        ident = self.asked(p, "forever")
        done = threading.Event()

        def answer():
            for n in itertools.count():
                if done.is_set():
                    return
                found = [m for m in list(p.messages) if m and
                         m.get("method") == "elicitation/create"]
                if len(found) > answer.n:
                    answer.n += 1
                    p.reply(found[answer.n - 1])
                time.sleep(0.005)
        answer.n = 0
        threading.Thread(target=answer, daemon=True).start()
        self.our_error(p.answer(ident), "input_rounds_exceeded")
        done.set()
        self.assertIn(answer.n, (10, 11))
        self.works(s, p)
        p.finish()

    def test_many_calls_ask_at_once(self):
        s, p = self.start()
        ids = {self.asked(p, "form", key=n): n for n in range(8)}
        for n in range(8):
            q = p.question("elicitation/create", n)
            p.reply(q, {"action": "accept", "content": {"n": n}})
        said = [p.said(p.answer(i))["ok"]["content"]["n"] for i in ids]
        self.assertEqual(sorted(said), list(range(8)))
        self.assertEqual(len(s.effects), 8)
        p.finish()

    def test_odd_answers_of_the_client(self):
        """Unknown ids and second answers change nothing."""
        s, p = self.start()
        ident = self.asked(p, "form", key="k")
        q = p.question("elicitation/create")
        p.send({"jsonrpc": "2.0", "id": "none", "result": YES},
               {"jsonrpc": "2.0", "id": 999, "result": YES})
        p.reply(q)
        p.reply(q)
        self.assertEqual(p.said(p.answer(ident)), {"ok": YES})
        self.assertEqual(s.ran("k"), 1)
        p.finish()


class Broken(Base):
    """A stream that breaks has cancelled its request, or not."""

    def test_safe_tool(self):
        """Again, with a new id."""
        for how in ("cut", "end", "head"):
            s, p = self.start()
            p.ask("tools/list")
            m = p.tool("breaks_reads", key="k", how=how)
            self.assertEqual(p.said(m), {"try": 2}, how)
            first, second = s.seen("tools/call")
            self.assertNotEqual(first.json["id"], second.json["id"])
            self.assertEqual(self.params(first), self.params(second))
            p.finish()

    def test_safe_method(self):
        s, p = self.start()
        n = itertools.count()

        def before(rx, tx):
            if rx.rpc != "resources/read" or next(n):
                return False
            tx.sse()
            tx.chunk(": here it comes\n\n")
            tx.cut()
            return True
        s.before = before
        m = p.ask("resources/read", {"uri": "file:///a"})
        self.assertIn("result", m)
        a, b = s.seen("resources/read")
        self.assertNotEqual(a.json["id"], b.json["id"])
        p.finish()

    def test_not_safe(self):
        """Never again; the client is told."""
        for how in ("cut", "end", "head"):
            s, p = self.start()
            p.ask("tools/list")
            m = p.tool("breaks", key="k", how=how)
            self.our_error(m, "stream_lost", "maybe")
            self.assertEqual(s.ran("k"), 1, how)
            self.works(s, p)
            self.assertEqual(len(s.seen("initialize")), 1)
            p.finish()

    def test_always(self):
        """A stream that always breaks is given up."""
        s, p = self.start()
        p.ask("tools/list")
        m = p.tool("breaks_reads", key="k", n=99)
        self.our_error(m, "stream_lost")
        self.assertLess(s.ran("k"), 4)
        self.works(s, p)
        p.finish()

    def test_between_rounds(self):
        """Broken after the question was answered: it may have run."""
        s, p = self.start()
        n = itertools.count()

        def before(rx, tx):
            if rx.rpc != "tools/call" or next(n) != 1:
                return False
            tx.cut()
            return True
        s.before = before
        ident = p.start("tools/call", {"name": "form",
                                       "arguments": {"key": "k"}})
        p.reply(p.question("elicitation/create"))
        self.our_error(p.answer(ident), ran="maybe")
        self.works(s, p)
        p.finish()
        self.assertEqual(s.ran("k"), 0)

    def test_refused_for_a_moment(self):
        """Nobody listens: it was not sent, it waits."""
        s, p = self.start()
        self.works(s, p)
        s.down()
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "w"}})
        self.settle(0.8)
        s.up()
        self.assertEqual(p.said(p.answer(ident)), {"key": "w"})
        self.assertEqual(s.ran("w"), 1)
        p.finish()

    def test_restart(self):
        """A modern server keeps nothing: nobody notices."""
        s, p = self.start()
        self.works(s, p)
        s.down()
        s.up()
        self.works(s, p)
        p.finish()

    def test_version_goes_away(self):
        """-32022 after all: found out anew once, then it is told."""
        s, p = self.start()
        self.works(s, p)
        plain = s.judge
        gone = (-32022, "Unsupported protocol version",
                {"supported": ["2027-01-01"], "requested": MODERN})
        s.judge = lambda rx: gone
        m = p.tool(key="never", seconds=40)
        self.assertIn("error", m)
        self.assertIn(m["error"]["code"], (-32603, -32022))
        if m["error"]["code"] == -32603:
            self.our_error(m, "version_changed")
        self.assertEqual(s.ran("never"), 0)
        s.judge = plain
        self.works(s, p)
        p.finish()

    def test_version_hiccup(self):
        """-32022 once: the call is served."""
        s, p = self.start()
        self.works(s, p)
        plain = s.judge
        n = itertools.count()

        def judge(rx):
            if rx.rpc == "tools/call" and next(n) == 0:
                return (-32022, "Unsupported protocol version",
                        {"supported": [MODERN], "requested": MODERN})
            return plain(rx)
        s.judge = judge
        self.works(s, p)
        p.finish()


class Start(Base):
    def test_client_that_never_says_initialized(self):
        s = self.era("modern")
        p = self.client(Client, s)
        p.send(init(1))
        p.answer(1)
        p.send(support.call(2, key="k"))
        self.assertEqual(p.said(p.answer(2)), {"key": "k"})
        p.finish()

    def test_handshake_option(self):
        """A single request, piped in."""
        s = self.era("modern")
        status, out, err = self.once([s.url, "--handshake"],
                                     support.lines(support.call(1, key="k")))
        self.assertEqual(status, 0, err)
        m = json.loads(out.splitlines()[0])
        self.assertEqual(json.loads(m["result"]["content"][0]["text"]),
                         {"key": "k"})
        self.assertEqual(s.ran("k"), 1)

    def test_from_memory(self):
        """The server is away when the client starts."""
        s = self.era("modern")
        p = self.legacy(s)
        p.ask("tools/list")
        p.finish()
        s.down()
        p = self.client(Client, s)
        p.send(init(1, capabilities=ALL))
        m = p.answer(1)
        self.assertIn("result", m)
        p.send(INITIALIZED)
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "k"}})
        self.settle(0.3)
        s.up()
        self.assertEqual(p.said(p.answer(ident)), {"key": "k"})
        p.finish()


class Hostile(Base):
    """What no server of the revision does.  One answer, and the next call
    works."""

    def test_questions_that_are_none(self):
        s, p = self.start()
        ask = {"method": "elicitation/create", "params": FORM}
        for n, result in enumerate((
                {"inputRequests": []}, {"inputRequests": "x"},
                {"inputRequests": None}, {"inputRequests": {}},
                {"inputRequests": {"a": 5}}, {"inputRequests": {"a": {}}},
                {"inputRequests": {"a": {"method": 5}}},
                {"inputRequests": {"a": {"method": "tools/call"}}},
                {"inputRequests": {"a": {"method": "initialize",
                                         "params": {}}}},
                {"requestState": 5}, {"requestState": None},
                {"inputRequests": {"a": ask, "b": {"method": "x/y"}}})):
            m = p.tool("raw", key=n, result=dict(
                result, resultType="input_required"))
            self.our_error(m)
            self.assertEqual(s.ran(n), 1, result)
        # the good one of two may have been asked; nothing else was
        self.assertLessEqual({m["method"] for m in p.messages if
                              "method" in m and "id" in m},
                             {"elicitation/create"})
        self.works(s, p)
        p.finish()

    def test_question_where_none_may_be(self):
        """Only three methods may be answered input_required."""
        s, p = self.start()
        s.methods["prompts/list"] = lambda call: call.result({
            "resultType": "input_required", "inputRequests": {
                "a": {"method": "roots/list"}}})
        self.our_error(p.ask("prompts/list"))
        self.assertEqual([m for m in p.messages
                          if "method" in m and "id" in m], [])
        self.works(s, p)
        p.finish()

    def test_many_questions_at_once(self):
        """A client is not asked a thousand things; a few dozen it is."""
        s, p = self.start()
        for n in (40, 1000):
            s.tools["n%d" % n] = ({"inputSchema": eraserver.ANY},
                                  eraserver.asks(**{
                                      "k%d" % k: ("elicitation/create", FORM)
                                      for k in range(n)}))
        ident = p.start("tools/call", {"name": "n40"})
        for n in range(40):
            p.reply(p.question("elicitation/create", n))
        self.assertEqual(len(p.said(p.answer(ident))), 40)
        self.our_error(p.tool("n1000", key="k"), "input_refused")
        self.assertEqual(s.ran("k"), 0)
        self.works(s, p)
        p.finish()

    def test_large_state_and_keys(self):
        s, p = self.start()
        key = "k\u00e9\"\\/" + "x" * 200
        state = "\u2028\"\\\u0001" + "s" * 300000

        def tool(call):
            if "requestState" not in call.params:
                call.finish({"jsonrpc": "2.0", "id": call.id, "result": {
                    "resultType": "input_required", "requestState": state,
                    "inputRequests": {key: {"method": "roots/list"}}}})
                return
            call.effect()
            call.text([call.params["requestState"] == state,
                       call.params["inputResponses"] == {key: ROOTS}])
        s.tools["large"] = ({"inputSchema": eraserver.ANY}, tool)
        s.foreign_state = True
        ident = p.start("tools/call", {"name": "large"})
        p.reply(p.question("roots/list"))
        m = p.answer(ident)
        self.assertEqual(p.said(m), [True, True])
        p.finish()

    def test_requests_on_a_stream(self):
        """There are none in this revision: the client sees nothing.  What
        would wait for a user ends its call, as nobody is asked."""
        s, p = self.start()

        def tool(call):
            for method in ("roots/list", "ping", "x/y"):
                call.send({"jsonrpc": "2.0", "id": "srv", "method": method})
            call.effect()
            call.text("ok")
        s.tools["asks"] = ({"inputSchema": eraserver.ANY}, tool)
        self.assertEqual(p.said(p.tool("asks")), "ok")
        self.works(s, p)

        def waits(call):
            call.effect()
            call.send({"jsonrpc": "2.0", "id": "srv",
                       "method": "elicitation/create", "params": {}})
            call.hold()
        s.tools["waits"] = ({"inputSchema": eraserver.ANY}, waits)
        for key in ("1", "2"):
            self.our_error(p.tool("waits", key=key), ran="maybe")
            self.assertEqual(s.ran(key), 1)
        self.works(s, p)
        self.assertEqual([m for m in p.messages
                          if "method" in m and "id" in m], [])
        p.finish()

    def test_answers(self):
        """Another id on the call's own stream; two answers."""
        s, p = self.start()

        def other(call):
            call.over = True
            call.tx.json({"jsonrpc": "2.0", "id": None,
                          "error": {"code": -5, "message": "other"}}, 400)

        def two(call):
            call.stream()
            for n in (1, 2):
                call.tx.event({"jsonrpc": "2.0", "id": call.id, "result": {
                    "resultType": "complete", "content": [], "n": n}})
            call.over = True
        s.tools["other"] = ({"inputSchema": eraserver.ANY}, other)
        s.tools["two"] = ({"inputSchema": eraserver.ANY}, two)
        # no modern server answers so; the second time it is taken as it is
        self.our_error(p.tool("other"), "session_lost", "maybe")
        self.assertEqual(p.tool("other")["error"]["message"], "other")
        self.assertEqual(p.tool("two")["result"]["n"], 1)
        self.works(s, p)
        p.finish()

    @support.plain
    def test_a_gateway_that_refuses(self):
        """What no modern server answers may mean that it is one no more:
        that is looked into, once; then the call has its answer."""
        def one(key):
            status, words, ctype = key
            s = self.era("modern")
            p = self.legacy(s)
            self.works(s, p)
            s.before = lambda rx, tx: rx.rpc == "tools/call" and \
                b"blocked" in rx.body and \
                (tx.body(status, words, ctype) or True)
            begin = time.monotonic()
            self.our_error(p.tool("echo", key="blocked"))
            self.within(time.monotonic() - begin, 1.5)
            self.assertLessEqual(len([r for r in s.seen("tools/call")
                                      if b"blocked" in r.body]), 2)
            self.works(s, p)
            p.finish()
        self.each([(400, "bad request", "text/plain"), (404, "", None),
                   (413, "<h1>too large</h1>", "text/html"),
                   (422, '{"error":"no"}', "application/json")], one)

    def test_no_acknowledgement(self):
        """The stream is silent, or begins with something else: subscribe is
        answered all the same."""
        def one(how):
            s = self.era("modern")

            def listen(call):
                call.stream()
                if how == "other":
                    call.tx.event({"jsonrpc": "2.0", "method":
                                   "notifications/tools/list_changed",
                                   "params": {"_meta": {
                                       eraserver.SUBSCRIPTION: call.id}}})
                if how == "wrong id":
                    call.tx.event({
                        "jsonrpc": "2.0", "method":
                        "notifications/subscriptions/acknowledged",
                        "params": {"notifications": {
                            "resourceSubscriptions": ["file:///a"]},
                            "_meta": {eraserver.SUBSCRIPTION: "wrong"}}})
                while not call.tx.gone(0.05) and not s.closing.is_set():
                    pass
                call.over = True
            s.methods["subscriptions/listen"] = listen
            p = self.legacy(s)
            p.ask("resources/subscribe", {"uri": "file:///a"}, 15)
            self.works(s, p)
            p.finish(seconds=5)
        self.each(["silent", "other", "wrong id"], one)

    def test_what_was_not_asked_for(self):
        """Notifications on a listen that are not of it."""
        s, p = self.start()
        listen = s.listening()[0]
        for m in ({"method": "notifications/message",
                   "params": {"level": "error", "data": 1}},
                  {"method": "notifications/progress",
                   "params": {"progressToken": 1, "progress": 1}}):
            listen.tx.event(dict(m, jsonrpc="2.0"))
        listen.tx.chunk(": still here\n\n")
        listen.tx.chunk("data: {nonsense\n\n")
        s.notify("notifications/tools/list_changed")
        p.note("notifications/tools/list_changed")
        self.works(s, p)
        p.finish()

    def test_storm_of_listens(self):
        """A listen that always ends at once makes no storm."""
        s = self.era("modern")
        plain = s.listen

        def end_all(ident):
            s.wait(lambda: any(x.id == ident for x in s.listens), 5)
            for x in s.open_listens():
                x.end("eof")

        def listen(call):
            threading.Thread(target=end_all, args=(call.id,)).start()
            plain(call)
        s.methods["subscriptions/listen"] = listen
        p = self.legacy(s)
        self.settle(4.0)
        self.works(s, p)
        self.assertLess(len(s.seen("subscriptions/listen")), 8)
        self.assertLess(len(p.notes("notifications/tools/list_changed")), 8)
        p.finish()

    def test_discover_results(self):
        """Members of wrong types: an answer, whatever it is."""
        def one(result):
            s = self.era("modern")
            s.methods["server/discover"] = lambda call: call.finish(
                {"jsonrpc": "2.0", "id": call.id, "result": result})
            p = self.client(Client, s, "--no-memory")
            p.send(init(1))
            m = p.answer(1)
            if "result" in m:
                self.assertIsInstance(m["result"]["capabilities"], dict)
                self.assertIsInstance(m["result"]["serverInfo"]["name"], str)
                p.send(INITIALIZED)
                self.works(s, p)
            p.finish()
        base = {"supportedVersions": [MODERN], "capabilities": {}}
        self.each([base, {"supportedVersions": [MODERN]},
                   dict(base, capabilities=[]), dict(base, capabilities=None),
                   dict(base, supportedVersions=MODERN),
                   dict(base, supportedVersions=[]),
                   dict(base, supportedVersions=[5, None, MODERN]),
                   dict(base, serverInfo=5), dict(base, instructions=5),
                   dict(base, _meta={META + "serverInfo": []}),
                   dict(base, resultType="input_required",
                        inputRequests={"a": {"method": "roots/list"}}),
                   [], 5], one)


if __name__ == "__main__":
    support.main()
