"""The server of the eras itself, tested with the standard HTTP client."""

import http.client
import json

import eraserver
import support
from eraserver import ALL, META, MODERN, ROOTS, YES
from support import init, note, request


class Raw(eraserver.Case):
    def http(self, server):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self.addCleanup(c.close)
        return c

    def post(self, server, m, heads=(), target="/mcp"):
        c = self.http(server)
        c.request("POST", target, json.dumps(m), dict(
            {"Content-Type": "application/json",
             "Accept": "application/json, text/event-stream"}, **dict(heads)))
        return c.getresponse()

    def get(self, server, heads=()):
        c = self.http(server)
        c.request("GET", "/mcp", headers=dict(
            {"Accept": "text/event-stream"}, **dict(heads)))
        return c.getresponse()

    @staticmethod
    def event(r):
        """The next event of a stream: type and data."""
        kind, data = "message", None
        while True:
            line = r.readline().decode()
            if not line or line == "\n" and data is not None:
                return kind, data
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                data = value

    def events(self, r):
        """All messages up to the stream's end."""
        out = []
        while True:
            _, data = self.event(r)
            if data is None:
                return out
            out.append(json.loads(data))

    def modern_heads(self, m):
        heads = {"MCP-Protocol-Version": MODERN, "Mcp-Method": m["method"]}
        key = eraserver.NAMED.get(m["method"])
        if key in m.get("params", {}):
            heads["Mcp-Name"] = eraserver.wrapped(m["params"][key])
        return heads

    def modern_request(self, method, params=None, caps=None, **meta):
        full = {META + "protocolVersion": MODERN,
                META + "clientCapabilities": ALL if caps is None else caps}
        full.update(meta)
        return request(7, method, dict(params or {}, _meta={
            k: v for k, v in full.items() if v is not None}))

    def ask(self, server, method, params=None, heads=None, **kw):
        """A modern request: status and answer."""
        m = self.modern_request(method, params, **kw)
        h = self.modern_heads(m)
        h.update(heads or {})
        r = self.post(server, m, {k: v for k, v in h.items()
                                  if v is not None})
        if r.getheader("Content-Type") == "text/event-stream":
            return r.status, self.events(r)[-1]
        return r.status, json.loads(r.read())


class Sse(Raw):
    def start(self, **kw):
        s = self.era("sse", **kw)
        r = self.get(s)
        return s, r, self.event(r)

    def test_dialogue(self):
        s, r, (kind, where) = self.start(preamble=b": hi\n\nretry: 50\n\n")
        self.assertEqual((kind, where),
                         ("endpoint", "/messages?sessionId=" + s.made[0]))
        a = self.post(s, init(1, capabilities=ALL), target=where)
        self.assertEqual((a.status, a.read()), (202, b"Accepted"))
        self.assertEqual(json.loads(self.event(r)[1])["id"], 1)
        self.post(s, request(2, "tools/call", {"name": "roots"}),
                  target=where)
        q = json.loads(self.event(r)[1])
        self.assertEqual(q["method"], "roots/list")
        self.post(s, {"jsonrpc": "2.0", "id": q["id"], "result": ROOTS},
                  target=where)
        m = json.loads(self.event(r)[1])
        self.assertEqual(json.loads(m["result"]["content"][0]["text"]),
                         {"r": ROOTS})
        self.assertEqual(s.effects, [("roots", None)])

    def test_dead_and_refused(self):
        s, r, (_, where) = self.start()
        self.assertEqual(self.post(s, init(1)).status, 405)
        s.become("sse", "end")
        self.assertEqual(self.event(r), ("message", None))
        self.assertEqual(self.post(s, init(1), target=where).status, 404)

    def test_endpoints(self):
        for form, want in (("?sessionId={sid}", "?sessionId=sid-1"),
                           ("{origin}/m?sessionId={sid}",
                            "http://127.0.0.1:")):
            s, r, (kind, where) = self.start(endpoint=form)
            self.assertTrue(where.startswith(want), where)
        s = self.era("sse", endpoint=None, preamble=b": only\n\n")
        self.assertEqual(self.get(s).readline(), b": only\n")

    def test_late_accepted(self):
        s, r, (_, where) = self.start(answer_first=True)
        a = self.post(s, init(1), target=where)
        self.assertEqual(a.status, 202)
        self.assertEqual(json.loads(self.event(r)[1])["id"], 1)


class Legacy(Raw):
    def opened(self, **kw):
        s = self.era("legacy", **kw)
        r = self.post(s, init(1, capabilities=ALL))
        r.read()
        return s, {"Mcp-Session-Id": r.getheader("Mcp-Session-Id")}

    def test_session(self):
        s, h = self.opened()
        self.assertEqual(
            self.post(s, note("notifications/initialized"), h).status, 202)
        self.assertEqual(self.post(s, request(2, "tools/list")).status, 400)
        self.assertEqual(self.post(s, request(2, "tools/list"), {
            "Mcp-Session-Id": "no"}).status, 404)
        r = self.get(s, h)
        r.readline(), r.readline()
        self.assertTrue(s.wait(
            lambda: s.notify("notifications/tools/list_changed"), 5))
        self.assertIn("tools/list_changed", self.event(r)[1])
        s.become("legacy", "keep")
        self.assertEqual(self.post(s, request(2, "tools/list"),
                                   h).status, 404)

    def test_stateless(self):
        s = self.era("legacy", stateful=False)
        r = self.post(s, init(1))
        self.assertIsNone(r.getheader("Mcp-Session-Id"))
        r = self.post(s, request(2, "tools/call",
                                 {"name": "echo", "arguments": {"key": 1}}))
        self.assertIn("result", json.loads(r.read()))
        self.assertEqual(s.ran(1), 1)
        self.assertEqual(self.get(s).status, 405)

    def test_questions_on_both_streams(self):
        for where in ("post", "get"):
            s, h = self.opened(ask_on=where)
            g = self.get(s, h)
            g.readline(), g.readline()
            s.wait(lambda: list(s.sessions.values())[0].streams, 5)
            c = self.http(s)
            c.request("POST", "/mcp", json.dumps(request(
                2, "tools/call", {"name": "form"})), h)
            r = c.getresponse() if where == "post" else None
            q = json.loads(self.event(r or g)[1])
            self.assertEqual(q["method"], "elicitation/create")
            self.post(s, {"jsonrpc": "2.0", "id": q["id"], "result": YES}, h)
            r = r or c.getresponse()
            if where == "post":
                m = json.loads(self.event(r)[1])
            else:
                m = json.loads(r.read())
            self.assertEqual(json.loads(m["result"]["content"][0]["text"]),
                             {"ok": YES})

    def test_what_it_should_never_see(self):
        s, h = self.opened()
        self.post(s, request(2, "tools/list", {
            "_meta": {META + "protocolVersion": MODERN},
            "requestState": "x"}), h).read()
        self.assertEqual(len(s.faults), 2)
        s.faults.clear()


class ModernShape(Raw):
    def test_good(self):
        s = self.era("modern")
        status, m = self.ask(s, "server/discover")
        self.assertEqual(status, 200)
        self.assertEqual(m["result"]["supportedVersions"], [MODERN])
        self.assertEqual(m["result"]["resultType"], "complete")
        self.assertIn("ttlMs", m["result"])
        status, m = self.ask(s, "tools/call", {
            "name": "\u00e9cho name", "arguments": {"key": "k"}})
        self.assertEqual(status, 200)
        self.assertEqual(s.ran("k"), 1)

    def test_what_is_refused(self):
        s = self.era("modern")
        v = META + "protocolVersion"
        for name, code, kw in (
                ("no version", -32602, {v: None}),
                ("another version", -32020, {v: "2026-01-01"}),
                ("unknown version", -32022, {
                    v: "2027-01-01",
                    "heads": {"MCP-Protocol-Version": "2027-01-01"}}),
                ("no capabilities", -32602, {META + "clientCapabilities":
                                             None}),
                ("capabilities", -32602, {META + "clientCapabilities": []}),
                ("level", -32602, {META + "logLevel": "loud"}),
                ("no header", -32020, {"heads": {"MCP-Protocol-Version":
                                                 None}}),
                ("method", -32020, {"heads": {"Mcp-Method": "tools/cal"}}),
                ("no name", -32020, {"heads": {"Mcp-Name": None}}),
                ("name", -32020, {"heads": {"Mcp-Name": "Mirrors"}}),
                ("more", -32020, {"heads": {"Mcp-Param-Else": "1"}}),
                ("param", -32020, {"heads": {"Mcp-Param-Region": "us"}}),
                ("good", None, {})):
            heads = {"Mcp-Param-Region": "us west", "Mcp-Param-N": "7",
                     "Mcp-Param-Flag": "true",
                     "Mcp-Param-Tenant-Id": "=?base64?w6k=?="}
            heads.update(kw.pop("heads", {}))
            status, m = self.ask(s, "tools/call", {
                "name": "mirrors", "arguments": {
                    "region": "us west", "n": 7, "flag": True,
                    "deep": {"tenant": "\u00e9"}, "plain": "x"}},
                heads, **kw)
            self.assertEqual(m.get("error", {}).get("code"), code,
                             (name, m))
            self.assertEqual(status, 400 if code else 200, name)
        self.assertEqual(len(s.effects), 1)
        self.assertEqual(self.ask(s, "x/unknown")[0], 404)
        self.assertEqual(self.get(s).status, 405)
        self.assertEqual(self.ask(s, "ping")[0], 404)
        self.assertEqual(s.faults, ["ping in 2026-07-28"])
        s.faults.clear()

    def test_legacy_is_refused(self):
        s = self.era("modern")
        r = self.post(s, init(1))
        self.assertEqual(r.status, 400)
        self.assertEqual(json.loads(r.read())["error"]["code"], -32022)

    def test_rounds(self):
        s = self.era("modern")
        call = {"name": "twice", "arguments": {"key": 5}}
        r = self.ask(s, "tools/call", call)[1]["result"]
        self.assertEqual(r["resultType"], "input_required")
        self.assertEqual(list(r["inputRequests"]), ["first"])
        again = dict(call, requestState=r["requestState"],
                     inputResponses={"first": YES})
        # another id, else it is a fault of the client
        r = self.ask(s, "tools/call", again)[1]["result"]
        self.assertEqual(s.faults, ["a retry with the id of before"])
        s.faults.clear()
        self.assertEqual(set(r["inputRequests"]), {"second", "third"})
        bad = dict(call, requestState="st/none", inputResponses={})
        self.assertEqual(self.ask(s, "tools/call", bad)[1]["error"]["code"],
                         -32602)
        last = dict(call, requestState=r["requestState"],
                    inputResponses={"second": YES, "third": {}})
        r = self.ask(s, "tools/call", last)[1]["result"]
        self.assertEqual(json.loads(r["content"][0]["text"]),
                         [{"first": YES}, {"second": YES, "third": {}}])
        self.assertEqual(s.ran(5), 1)
        s.faults.clear()

    def test_state_is_bound(self):
        s = self.era("modern")
        r = self.ask(s, "tools/call", {"name": "later"})[1]["result"]
        self.assertNotIn("inputRequests", r)
        m = self.ask(s, "tools/call", {"name": "later", "arguments": {"a": 1},
                                       "requestState": r["requestState"]})[1]
        self.assertEqual(m["error"]["code"], -32602)

    def test_undeclared(self):
        s = self.era("modern")
        status, m = self.ask(s, "tools/call", {"name": "url"},
                             caps={"elicitation": {}})
        self.assertEqual((status, m["error"]["code"]), (400, -32021))
        self.assertEqual(m["error"]["data"], {
            "requiredCapabilities": {"elicitation": {"url": {}}}})

    def test_listen(self):
        s = self.era("modern")
        m = self.modern_request("subscriptions/listen", {"notifications": {
            "toolsListChanged": True,
            "resourceSubscriptions": ["file:///a", "file:///refused"]}})
        r = self.post(s, m, self.modern_heads(m))
        ack = json.loads(self.event(r)[1])
        self.assertEqual(ack["params"], {
            "notifications": {"toolsListChanged": True,
                              "resourceSubscriptions": ["file:///a"]},
            "_meta": {META + "subscriptionId": 7}})
        self.assertEqual(s.notify("notifications/prompts/list_changed"), 0)
        self.assertEqual(s.notify("notifications/resources/updated",
                                  {"uri": "file:///a/b"}), 1)
        self.assertEqual(json.loads(self.event(r)[1])["params"]["uri"],
                         "file:///a/b")
        s.listening()[0].end()
        self.assertEqual(json.loads(self.event(r)[1])["result"], {
            "resultType": "complete", "_meta": {META + "subscriptionId": 7}})
        self.assertEqual(self.event(r), ("message", None))

    def test_cancel_is_seen(self):
        s = self.era("modern")
        m = self.modern_request("tools/call", {"name": "holds"})
        c = self.http(s)
        c.request("POST", "/mcp", json.dumps(m), dict(
            self.modern_heads(m), Accept="application/json, "
            "text/event-stream", **{"Content-Type": "application/json"}))
        self.assertTrue(s.wait(lambda: s.effects, 5))
        c.close()
        self.assertTrue(s.wait(lambda: s.cancelled == [7], 5))

    def test_logs_only_when_asked(self):
        s = self.era("modern", always_sse=True)
        for level, n in ((None, 0), ("error", 4)):
            m = self.modern_request("tools/call", {"name": "speaks"},
                                    **{META + "logLevel": level})
            got = self.events(self.post(s, m, self.modern_heads(m)))
            self.assertEqual(len(got), n + 1)

    def test_dual_and_changes(self):
        s = self.era("dual")
        self.assertEqual(self.post(s, init(1)).status, 200)
        m = self.ask(s, "server/discover")[1]
        self.assertIn("2025-11-25", m["result"]["supportedVersions"])
        s.become("sse")
        self.assertEqual(self.post(s, init(1)).status, 405)
        s.become("modern", "keep")
        self.assertEqual(self.ask(s, "tools/list")[0], 200)


if __name__ == "__main__":
    support.main(needs_program=False)
