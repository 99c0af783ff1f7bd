"""The commands that use a server: tools and call."""

import json
import socket
import subprocess
import threading

import support

TOOLS = [
    {"name": "add", "description": "Adds two numbers. Slowly.",
     "inputSchema": {"type": "object", "required": ["a", "b"], "properties": {
         "a": {"type": "number"}, "b": {"type": "number"},
         "how": {"type": "string", "enum": ["fast", "slow"]}}}},
    {"name": "any", "inputSchema": {"type": "object"}},
    {"name": "\x1b[2Jevil", "inputSchema": {"type": "object"},
     "description": "\x1b[2J\nsecond line"},
]


class Commands(support.Case):
    def server(self, **kw):
        s = self.mcp(**kw)
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
        return s

    def test_tools_in_a_pipe(self):
        """All pages, as one object, byte for byte."""
        s = self.server()
        pages = {None: ('{"tools":[{"name":"a","x":1.50}],"nextCursor":"2"}'),
                 "2": '{"tools":[{"name":"b"}]}'}
        s.methods["tools/list"] = lambda rx, tx: tx.json(
            '{"jsonrpc":"2.0","id":%s,"result":%s}' % (
                json.dumps(rx.json["id"]),
                pages[rx.json.get("params", {}).get("cursor")]))
        status, out, err = self.once(["tools", s.url])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, b'{"tools":[{"name":"a","x":1.50},'
                              b'{"name":"b"}]}\n')
        self.assertEqual(s.deleted, s.made)

    def test_tools_at_a_terminal(self):
        status, out = self.terminal("tools", self.server().url)
        self.assertEqual(status, 0, out)
        self.assertRegex(out, r"(?m)^add +Adds two numbers\.$")
        self.assertRegex(out, r"(?m)^ +a=number b=number \[how=fast\|slow\]$")
        self.assertRegex(out, r"(?m)^any$")
        self.assertNotIn("\x1b", out)
        self.assertNotIn("second line", out)

    def test_one_tool(self):
        s = self.server()
        tool = json.loads(json.dumps(TOOLS[0]))
        tool["description"] = "Adds two numbers.\nSlowly."
        tool["inputSchema"]["properties"]["how"].update(
            default="fast", description="how \x1bfast")
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [tool]})
        status, out = self.terminal("tools", s.url, "add")
        self.assertEqual(status, 0, out)
        self.assertEqual(out.splitlines(), [
            "Adds two numbers.", "Slowly.", "  a=number  ", "  b=number  ",
            '  [how=fast|slow] ("fast")  how \\x1bfast'])
        status, out, err = self.once(["tools", s.url, "add"])
        self.assertEqual((status, json.loads(out)), (0, tool))
        status, out, err = self.once(["tools", s.url, "sub"])
        self.assertEqual((status, out), (1, b""))
        self.assertIn('no tool "sub"; it has: add', err)

    def test_filters_that_match_nothing(self):
        """A script and a host are told, and the list is none the less."""
        s = self.server()
        for option, words in ((["--only-tool", "addany"], "--only-tool"),
                              (["--ignore-tool", "nosuch"], "--ignore-tool")):
            status, out, err = self.once(["tools", s.url] + option)
            self.assertEqual(status, 0)
            self.assertIn('matches %s "%s"' % (words, option[1]), err)
            p = self.splice(s, *option)
            p.hello()
            p.ask("tools/list")
            self.assertEqual(p.count_messages("notifications/message"), 1)
            p.finish()

    def test_http_to_an_https_port(self):
        """It answers with TLS's alert, or cuts: nothing is tried again."""
        for answer in (b"\x15\x03\x01\x00\x02\x02\x46", b""):
            def alert(sock, answer=answer):
                while True:
                    try:
                        c = sock.accept()[0]
                    except OSError:
                        return
                    c.recv(65536)
                    c.sendall(answer)
                    c.close()
            with self.subTest(answer), socket.create_server(
                    ("127.0.0.1", 0)) as sock:
                threading.Thread(target=alert, args=(sock,),
                                 daemon=True).start()
                url = "http://127.0.0.1:%d/mcp" % sock.getsockname()[1]
                status, out, err = self.once(["tools", url])
                self.assertEqual((status, out), (1, b""))
                self.assertIn("write https:// in the URL", err)
                self.assertNotIn("sent again", err)

    def test_full_disk(self):
        """Each command says that its output is lost."""
        url = self.server().url
        for args in (["tools", url], ["tools", url, "add"], ["check", url],
                     ["call", url, "any"], ["check", "--json", url],
                     ["status"], ["status", url], ["logout", url],
                     ["help"], ["help", "call"], ["help", "all"],
                     ["version"], [url, "--show-config"], ["wrap", "--list"]):
            with self.subTest(args), open("/dev/full", "w") as full:
                r = subprocess.run([support.PROGRAM] + args, stdout=full,
                                   stdin=subprocess.DEVNULL, text=True,
                                   stderr=subprocess.PIPE,
                                   env=self.environment(None))
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertIn("cannot write to stdout", r.stderr)

    def test_call(self):
        s = self.server()
        status, out, err = self.once(["call", s.url, "add", "a=1", "b:=2e0",
                                      "how=fast"])
        self.assertEqual((status, err), (0, ""))
        sent = json.loads(json.loads(out)["content"][0]["text"])
        self.assertEqual(sent, {"a": 1, "b": 2, "how": "fast"})
        status, out, err = self.once(["call", s.url, "any", "a=1", "b=x=y",
                                      "c:=[1,\n2]"])
        sent = json.loads(json.loads(out)["content"][0]["text"])
        self.assertEqual(sent, {"a": "1", "b": "x=y", "c": [1, 2]})
        status, out, err = self.once(["call", s.url, "any", "-"],
                                     b'{"q":\n{"r":1}}\n')
        sent = json.loads(json.loads(out)["content"][0]["text"])
        self.assertEqual(sent, {"q": {"r": 1}})

    def test_wrong_arguments(self):
        s = self.server()
        for args, words in (
                (["add", "a=1"], 'missing argument: b'),
                (["add", "a=1", "b=x"],
                 'b must be a number, not "x"'),
                (["add"], 'missing arguments: a, b'),
                (["add", "a=1", "b=2", "how=so"], "how must be one of"),
                (["add", "a=1", "b=2", "c=3"], 'no argument "c"; it has: a, b'),
                (["add", "a"], "is not an argument"),
                (["add", "a:=x", "b=1"], "a:=x is not valid JSON"),
                (["add", "-"], "standard input was empty"),
                (["a=2", "b=3"], 'no tool "a=2"; write the tool before its '
                 'arguments'),
                (["sub"], 'no tool "sub"; it has: add, any'),
                (["add", "--only-tool", "any"],
                 'no tool "add", or an option (--ignore-tool, '
                 '--only-tool, --read-only) hides it; it has: any')):
            with self.subTest(args):
                status, out, err = self.once(["call", s.url] + args)
                self.assertEqual((status, out), (1, b""))
                self.assertIn(words, err)
        self.assertEqual(s.seen("tools/call"), [])

    def test_errors(self):
        s = self.server()
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {"isError": True, "content": [{"type": "text", "text": "no"}]})
        status, out, err = self.once(["call", s.url, "any"])
        self.assertEqual((status, err), (1, ""))
        self.assertTrue(json.loads(out)["isError"])
        s.methods["tools/call"] = lambda rx, tx: tx.error(-32000, "\x1b[2Jno")
        status, out, err = self.once(["call", s.url, "any"])
        self.assertEqual((status, out), (1, b""))
        self.assertIn("\\x1b[2Jno", err)
        s.down()
        status, out, err = self.once(["tools", s.url, "--init-timeout", "1"])
        self.assertEqual((status, out), (1, b""))
        self.assertIn("cannot be reached", err)

    def test_lists_that_are_none(self):
        """What is no list, or has no end, is an error, and a script sees
        it."""
        s = self.server()
        for page in ({"tools": "x"}, {"tools": {}}, {"tools": ["add"]},
                     {"tools": None}, {"tools": TOOLS, "nextCursor": 2},
                     None, [TOOLS]):
            with self.subTest(page):
                s.methods["tools/list"] = lambda rx, tx, p=page: tx.result(p)
                status, out, err = self.once(["tools", s.url])
                self.assertEqual(status, 1)
                self.assertIn("is not a list of tools", err)
                self.assertNotIn(b"any", out)
        s.methods["tools/list"] = lambda rx, tx: tx.result(
            {"tools": [{"name": "t%s" % rx.json["id"],
                        "inputSchema": {"type": "object"}}],
             "nextCursor": "c%s" % rx.json["id"]})
        status, out, err = self.once(["tools", s.url])
        self.assertEqual(status, 1)
        self.assertIn("incomplete: it has more than 50 pages", err)
        names = [t["name"] for t in json.loads(out)["tools"]]
        self.assertGreaterEqual(len(names), 50)
        status, out, err = self.once(["call", s.url, names[0]])
        self.assertEqual((status, err), (0, ""))
        status, out, err = self.once(["call", s.url, "missing"])
        self.assertEqual((status, out), (1, b""))
        self.assertIn("more than 50 pages", err)
        status, out = self.terminal("tools", s.url)
        self.assertEqual(status, 1)
        self.assertRegex(out, r"(?m)^t")
        self.assertIn("more than 50 pages", out)

    def test_results_that_are_none(self):
        s = self.server()
        for result in (None, [], "x", 1, True):
            with self.subTest(result):
                s.methods["tools/call"] = lambda rx, tx, r=result: tx.result(r)
                status, out, err = self.once(["call", s.url, "any"])
                self.assertEqual((status, out), (1, b""))
                self.assertIn("it is not an object", err)

    def test_usage(self):
        for args, words in ((["tools"], "no URL given"),
                            (["call"], "no URL given"),
                            (["call", "http://127.0.0.1:1/mcp"],
                             "no tool given"),
                            (["tools", "http://127.0.0.1:1/mcp",
                              "--bearer-env", "NONE"],
                             "--bearer-env: the variable NONE is not set"),
                            (["call", "http://127.0.0.1:1/mcp", "a",
                              "--bearer-file", "/nonexistent"],
                             "\"/nonexistent\": cannot read it")):
            status, out, err = self.once(args)
            self.assertEqual((status, out), (2, b""))
            self.assertIn(words, err)
            self.assertEqual(err.count("\n"), 1)

    def test_progress_and_questions_at_a_terminal(self):
        s = self.server()

        def asks(rx, tx):
            token = rx.json["params"]["_meta"]["progressToken"]
            tx.sse()
            tx.event(support.note("notifications/progress", {
                "progressToken": token, "progress": 1, "total": 2,
                "message": "half"}))
            tx.event({"jsonrpc": "2.0", "id": rx.json["id"],
                      "result": {"content": [
                          {"type": "text", "text": "line\nnext"}]}})
            tx.end()
        s.methods["tools/call"] = asks
        status, out = self.terminal("call", s.url, "any")
        self.assertEqual(status, 0, out)
        self.assertIn("1 of 2: half", out)
        self.assertTrue(out.endswith("line\nnext\n"), out)

    def test_over_a_restart(self):
        """A command is a client of the proxy: a lost session is renewed."""
        s = self.server()
        lost = []

        def before(rx, tx):
            if rx.rpc != "tools/call" or lost:
                return False
            lost.append(True)
            s.forget()
            return False
        s.before = before
        status, out, err = self.once(["call", s.url, "any", "a=1"])
        self.assertEqual(status, 0, err)
        self.assertEqual(s.inits(), 2)


if __name__ == "__main__":
    support.main()
