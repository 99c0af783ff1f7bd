"""Starts without the server: the stand-in for a server that was never seen, and
what --start changes.  Starts from the startup cache are in test_recovery.py."""

import base64
import json
import os
import time

import eraserver
import ports
import support
from eraserver import META, MODERN
from support import INITIALIZED, call, init
from test_signin import Patient

CHANGED = "notifications/%s/list_changed"
PROBE = 4.6             # 4 s, and a busy machine


def text_of(answer):
    return answer["result"]["content"][0]["text"]


class SignIn(Patient):
    """Nobody has signed in when the time for initialize is over."""

    def stand_in(self, *args):
        a, m, b, user = self.lazy()
        m.capabilities = {"tools": {"listChanged": True}}
        m.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}}]})
        p = self.splice(m, "--browser", b.command, "--init-timeout", "2",
                        *args)
        p.send(init("hello", "2025-06-18"))
        result = p.answer("hello")["result"]
        self.assertEqual(result["serverInfo"]["name"], "mcpsplice")
        self.assertEqual(result["protocolVersion"], "2025-06-18")
        self.assertEqual(
            {k: v["listChanged"] for k, v in result["capabilities"].items()},
            {"tools": True, "prompts": True, "resources": True})
        p.send(INITIALIZED)
        p.ask("tools/list")
        return a, m, b, user, p

    def signed_in(self, p):
        p.server_message(CHANGED % "tools")
        tools = p.ask("tools/list")["result"]["tools"]
        self.assertEqual([t["name"] for t in tools], ["echo"])
        self.assertEqual(p.ask("prompts/list")["result"], {"prompts": []})
        self.assertEqual(text_of(p.tool("sign_in")),
                         "Signed in. If its tools are missing, reconnect this server or start a new conversation.")

    def test_the_tool_tells_where(self):
        a, m, b, user, p = self.stand_in()
        tool, = p.ask("tools/list")["result"]["tools"]
        self.assertEqual(tool["name"], "sign_in")
        self.assertTrue(tool["annotations"]["readOnlyHint"])
        url = b.url()
        self.assertIn(url, tool["description"])
        self.assertIn(url, text_of(p.tool("sign_in")))
        self.assertEqual(p.ask("resources/list")["result"], {"resources": []})
        user.go(url)
        self.signed_in(p)
        self.works(p, m)
        p.finish()
        self.counted(a)
        self.assertEqual(len(b.opened()), 1)

    def test_the_next_start(self):
        """It comes from the startup cache, with everything."""
        a, m, b, user, p = self.stand_in()
        user.go(b.url())
        self.signed_in(p)
        p.finish()
        m.down()
        p = self.splice(m)
        p.send(init("hello", "2025-06-18"))
        self.assertNotEqual(p.answer("hello")["result"]["serverInfo"]["name"],
                            "mcpsplice")
        p.send(INITIALIZED)
        tools = p.ask("tools/list")["result"]["tools"]
        self.assertEqual([t["name"] for t in tools], ["echo"])
        p.finish()

    def test_a_call_that_waits_goes_through(self):
        a, m, b, user, p = self.stand_in()
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "early"}})
        user.go(b.url())
        self.assertIn("result", p.answer(ident))
        self.assertEqual(m.runs("early"), 1)
        p.finish()

    def test_the_desktop_is_told_once(self):
        """By notify-send, where there is a display."""
        a, m, b, user = self.lazy()
        folder = os.path.join(self.tmp, "bin")
        os.mkdir(folder)
        log = os.path.join(self.tmp, "notified")
        with open(os.path.join(folder, "notify-send"), "w") as f:
            f.write('#!/bin/sh\nprintf "%%s|" "$@" >>%s\n' % log)
        os.chmod(f.name, 0o700)
        env = {"PATH": folder + ":" + os.environ["PATH"], "DISPLAY": ":7"}
        args = ("--browser", b.command, "--init-timeout", "2")
        p, q = [self.splice(m, *args, env=env) for _ in range(2)]
        for one in p, q:
            one.send(init("hello"))
        for one in p, q:
            self.assertIn("result", one.answer("hello"))
            one.ask("tools/list")
        user.go(b.url())
        for one in p, q:
            one.send(INITIALIZED)
            one.server_message(CHANGED % "tools")
        with open(log) as f:
            self.assertEqual(f.read(), "--app-name=mcpsplice|Sign-in required|Sign in to 127.0.0.1 to use it.|")

    def test_a_later_start_has_a_browser(self):
        """The first was without a display; its login goes on."""
        a, m, b, user = self.lazy()
        p = self.splice(m, "--init-timeout", "2")
        p.send(init("hello"))
        self.assertIn("result", p.answer("hello"))
        p.ask("tools/list")
        q = self.splice(m, "--browser", user.command)
        q.send(init("hello"))
        self.assertIn("result", q.answer("hello"))
        p.send(INITIALIZED)
        p.server_message(CHANGED % "tools")
        self.assertEqual(len(user.opened()), 1)
        self.counted(a)

    def test_nobody_wants_it(self):
        a, m, b, user = self.lazy()
        p = self.splice(m, "--browser", b.command, "--init-timeout", "2",
                        "--start", "wait")
        self.our_error(p.ask("initialize", init()["params"]), "auth_required")
        p.finish()


class Away(support.Case):
    """A server that was never seen."""

    def test_first_failure_is_told_at_once(self):
        p = self.splice("http://127.0.0.1:%d/mcp" % ports.free_port())
        p.send(init(1))
        end = time.monotonic() + 5
        while "is not ready" not in p.err() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIn("sending initialize again", p.err())
        self.assertEqual(len(p.err().splitlines()), 1, p.err())
        p.kill()

    def test_stand_in(self):
        s = self.mcp()
        s.down()
        p = self.splice(s, "--start", "stand-in", "--init-timeout", "1")
        p.send(init(1), INITIALIZED)
        self.assertEqual(p.answer(1)["result"]["serverInfo"]["name"],
                         "mcpsplice")
        tool, = p.ask("tools/list")["result"]["tools"]
        self.assertEqual(tool["name"], "connection_status")
        self.assertIn("connect", text_of(p.tool("connection_status")))
        s.up()
        p.server_message(CHANGED % "tools", 15)
        self.assertIn("is connected", text_of(p.tool("connection_status")))
        p.finish()
        self.assertEqual(s.deleted, s.made)

    def test_handshake_gets_no_stand_in(self):
        status, out, _ = self.once(
            ["http://127.0.0.1:%d/mcp" % ports.free_port(), "--handshake",
             "--start", "stand-in", "--init-timeout", "1"],
            data=support.lines(call(7)))
        self.assertEqual(json.loads(out)["error"]["data"]["reason"],
                         "upstream_unreachable", out)

    def test_each_client_has_its_own_memory(self):
        """Three hosts on one machine: other revisions, other capabilities."""
        s = self.mcp(capabilities={"tools": {"listChanged": True}})
        clients = [("2025-11-25", {}), ("2024-11-05", {}),
                   ("2025-11-25", {"sampling": {}, "elicitation": {}})]
        for n, client in enumerate(clients):
            s.methods["tools/list"] = lambda rx, tx, n=n: tx.result(
                {"tools": [{"name": "tool-%d" % n,
                            "inputSchema": {"type": "object"}}]})
            p = self.splice(s)
            p.hello(*client)
            p.ask("tools/list")
            p.finish()
        s.down()
        for n, client in enumerate(clients):
            p = self.splice(s)
            p.send(init("hello", *client), INITIALIZED)
            self.assertIn("result", p.answer("hello"))
            tool, = p.ask("tools/list")["result"]["tools"]
            self.assertEqual(tool["name"], "tool-%d" % n)
            p.kill()
        p = self.splice(s, "--init-timeout", "1")
        p.send(init("hello", "2025-11-25", {"roots": {}}))
        self.our_error(p.answer("hello"), "upstream_unreachable")
        p.finish()

    @support.plain
    def test_instant(self):
        """The startup cache answers before the server does."""
        s = self.mcp(capabilities={"tools": {"listChanged": True}})
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        p = self.splice(s)
        p.hello()
        p.ask("tools/list")
        p.finish()
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "new"}]})

        def late(rx, tx):
            s.closing.wait(2)
            s.initialize(rx, tx)
        s.init = [late]
        p = self.splice(s, "--start", "instant")
        begin = time.monotonic()
        p.send(init("hello"), INITIALIZED)
        self.assertIn("result", p.answer("hello"))
        self.within(time.monotonic() - begin, 1)
        p.ask("tools/list")
        p.server_message("notifications/tools/list_changed")
        p.finish()
        # it is what the user asked for, so there is nothing to warn of
        self.assertEqual(p.err(), "")


class Terminal(support.Case):
    def said(self, *args):
        """What comes to a terminal that the host lends us for stderr."""
        s = self.mcp()
        main, other = os.openpty()
        p = self.splice(s, *args, stderr=other)
        os.close(other)
        p.hello()
        p.tool()
        p.finish()
        said = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            said += part
        os.close(main)
        return said.decode()

    def test_that_of_the_host(self):
        """Its answers are there: mcpsplice says nothing unless it is asked."""
        self.assertEqual(self.said(), "")
        self.assertIn("session 1", self.said("-v"))


class Discover:
    """A modern client begins with server/discover, and waits for 5 s."""

    def discovered(self, p):
        begin = time.monotonic()
        m = p.ask("server/discover")
        self.within(time.monotonic() - begin, PROBE)
        self.assertIn("result", m, p.err()[-1500:])
        result = m["result"]
        self.assertEqual(result["supportedVersions"], [MODERN])
        return result["_meta"][META + "serverInfo"]["name"], \
            result["capabilities"]

    def tools(self, p):
        return [t["name"] for t in p.ask("tools/list")["result"]["tools"]]

    def changes(self, p, listen, name):
        """Waits until this list has changed."""
        params = p.server_message(CHANGED % name)["params"]
        self.assertEqual(params["_meta"][eraserver.SUBSCRIPTION], listen)

    def listen(self, p):
        wanted = {"toolsListChanged": True, "promptsListChanged": True,
                  "resourcesListChanged": True}
        listen = p.listen(**wanted)
        begin = time.monotonic()
        m = p.server_message("notifications/subscriptions/acknowledged")
        self.within(time.monotonic() - begin, PROBE)
        self.assertEqual(m["params"]["notifications"], wanted)
        return listen


class ModernSignIn(Discover, Patient):
    @support.plain
    def test_stand_in(self):
        a, m, b, user = self.lazy()
        m.capabilities = {"tools": {"listChanged": True}}
        m.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}}]})
        p = eraserver.Modern(self, [m.url, "--browser", b.command], m)
        self.running.append(p)
        name, capabilities = self.discovered(p)
        self.assertEqual(name, "mcpsplice")
        self.assertEqual(set(capabilities), {"tools", "prompts", "resources"})
        listen = self.listen(p)
        self.assertEqual(self.tools(p), ["sign_in"])
        url = b.url()
        self.assertIn(url, text_of(p.tool("sign_in")))
        user.go(url)
        self.changes(p, listen, "tools")
        self.assertEqual(self.tools(p), ["echo"])
        self.assertEqual(p.ask("prompts/list")["result"]["prompts"], [])
        self.works(p, m)
        self.assertIn("Signed in", text_of(p.tool("sign_in")))
        p.finish()
        self.counted(a)


class ModernAway(Discover, eraserver.Case):
    @support.plain
    def test_seen_before(self):
        """The server refuses the connection, or is silent."""
        for way in "down", "silent":
            changes = {"listChanged": True}
            s = self.era("legacy", capabilities={
                "tools": changes, "prompts": changes, "resources": changes})
            p = self.modern(s)
            before = self.discovered(p)
            tools = self.tools(p)
            p.finish()
            if way == "down":
                s.down()
            else:
                s.before = lambda rx, tx: s.closing.wait(30) and False
            p = self.modern(s)
            self.assertEqual(self.discovered(p), before)
            self.assertEqual(self.tools(p), tools)
            listen = self.listen(p)
            self.assertEqual(p.ask("prompts/list")["result"]["prompts"], [])
            if way == "down":
                s.up()
                self.changes(p, listen, "prompts")
                self.assertEqual(p.said(p.tool(key="k")), {"key": "k"})
                self.assertEqual(s.ran("k"), 1)
                p.finish()
            else:
                p.kill()


def jwt(**claims):
    def part(of):
        return base64.urlsafe_b64encode(json.dumps(of).encode()).rstrip(b"=")
    return b".".join((part({"alg": "none"}), part(claims), b"x")).decode()


class Persons(support.Case):
    """What one person saw is not shown to another while the server is away."""

    def setUp(self):
        super().setUp()
        self.s = self.mcp()
        self.s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "seen-%d" % self.starts,
             "inputSchema": {"type": "object"}}]})
        self.starts = 0
        self.file = os.path.join(self.tmp, "credential")

    def put(self, text):
        with open(self.file, "w") as f:
            f.write(text)
        os.chmod(self.file, 0o600)

    def see(self, *args):
        """Starts with the server. Returns the name of its tool."""
        self.starts += 1
        p = self.splice(self.s, *args)
        p.hello()
        tool, = p.ask("tools/list")["result"]["tools"]
        p.finish()
        self.assertEqual(tool["name"], "seen-%d" % self.starts)
        return tool["name"]

    def shown(self, *args):
        """Starts without the server. Returns the tool's name, or None."""
        self.s.down()
        p = self.splice(self.s, "--init-timeout", "1", *args)
        p.send(init("hello"), INITIALIZED)
        found = None
        if "result" in p.answer("hello"):
            found = p.ask("tools/list")["result"]["tools"][0]["name"]
        p.kill()
        self.s.up()
        return found

    def changed(self, args, ann, bob, renewed=None):
        self.put(ann)
        name = self.see(*args)
        self.assertEqual(self.shown(*args), name)
        self.put(bob)
        self.assertIsNone(self.shown(*args))
        if renewed is not None:
            self.put(renewed)
            self.assertEqual(self.shown(*args), name)
            self.put(bob)
        name = self.see(*args)
        self.assertEqual(self.shown(*args), name)
        self.put(ann)
        self.assertIsNone(self.shown(*args))

    JWTS = (jwt(iss="https://a.example", sub="ann", org="x", exp=1, jti="1"),
            jwt(iss="https://a.example", sub="ann", org="y", exp=1, jti="1"),
            jwt(iss="https://a.example", sub="ann", org="x", exp=2, jti="2"))

    def test_bearer_file(self):
        self.changed(("--bearer-file", self.file), "token-of-ann",
                     "token-of-bob")

    def test_jwt_is_renewed(self):
        self.changed(("--bearer-file", self.file), *self.JWTS)

    def test_jwt_that_names_nobody(self):
        self.changed(("--bearer-file", self.file), jwt(iss="a", exp=1),
                     jwt(iss="a", exp=2))

    def test_header_file(self):
        self.changed(("--header-file", self.file), "X-Key: ann", "X-Key: bob")

    def test_jwt_in_a_longer_value(self):
        """It says nothing of what is around it."""
        self.changed(("--header-file", self.file), "X-Key: a:" + self.JWTS[0],
                     "X-Key: b:" + self.JWTS[0])

    def test_command(self):
        self.changed(("--auth-command", "cat " + self.file),
                     *(json.dumps({"version": 1, "token": t})
                       for t in self.JWTS))

    def test_command_that_comes_late(self):
        """With --start instant it is waited for, and nothing else is."""
        self.put('{"version": 1, "token": "ann"}')
        args = ("--auth-command", "sh -c 'sleep 0.3; cat %s'" % self.file)
        name = self.see(*args)
        self.assertEqual(self.shown(*args, "--start", "instant"), name)
        self.put('{"version": 1, "token": "bob"}')
        self.assertIsNone(self.shown(*args, "--start", "instant"))

    def test_netrc_file(self):
        self.changed(("--netrc-file", self.file),
                     "machine 127.0.0.1 login ann password x",
                     "machine 127.0.0.1 login bob password x")

    def test_ticket(self):
        """Nobody here sees whose it is."""
        self.see("--negotiate")
        self.assertIsNone(self.shown("--negotiate"))

    def test_token_changes_meanwhile(self):
        """What two persons saw is nobody's."""
        self.put("token-of-ann")
        args = ("--bearer-file", self.file)
        p = self.splice(self.s, "-v", *args)
        p.hello()
        self.put("token-of-bob-which-is-longer")
        end = time.monotonic() + 20
        while "has changed" not in p.err() and time.monotonic() < end:
            self.assertIn("result", p.ask("tools/list"))
            time.sleep(0.1)
        self.assertIn("result", p.ask("tools/list"))
        p.finish()
        self.assertIsNone(self.shown(*args))


if __name__ == "__main__":
    support.main()
