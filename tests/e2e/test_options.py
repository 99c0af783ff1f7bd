"""Options, configuration files, the environment, and that secrets do not
leak."""

import json
import os
import re
import shutil
import signal
import subprocess

import support
from support import INITIALIZED, init, lines, request

CANARY = "canary-5ecret-%d"


class HeaderOptions(support.Case):
    def sent(self, *args, **kw):
        """Runs a session with a call, and returns the server's requests."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s, *args, **kw)
        p.hello()
        s.stream()
        p.tool()
        p.finish()
        self.assertEqual({r.method for r in s.requests},
                         {"POST", "GET", "DELETE"})
        return s.requests

    def each(self, requests, name, values):
        for r in requests:
            self.assertEqual(r.all(name), values, r)

    def test_forms(self):
        r = self.sent("-H", "X-A: one", "-HX-B:two", "--header", "X-C:  3 ",
                      "--header=X-D: a: b", "-H", "X-E: \u00fc")
        self.each(r, "X-A", ["one"])
        self.each(r, "X-B", ["two"])
        self.each(r, "X-C", ["3"])
        self.each(r, "X-D", ["a: b"])

    def test_repeated(self):
        r = self.sent("-H", "X-A: one", "-H", "X-A: two")
        for x in r:
            self.assertEqual(", ".join(x.all("X-A")), "one, two")

    def test_from_a_file(self):
        f = self.path("h", "# comment\nX-A: one\n\nX-B:two\r\n", 0o600)
        for args in (("-H", "@" + f), ("--header-file", f)):
            r = self.sent(*args)
            self.each(r, "X-A", ["one"])
            self.each(r, "X-B", ["two"])

    def test_missing_file(self):
        s = self.mcp()
        status, out, err = self.once([s.url, "-H", "@/nonexistent/h"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("/nonexistent/h", err)

    def test_variables(self):
        env = {"TOK": "v1", "WITH": "${TOK}"}
        r = self.sent("-H", "X-A: Bearer ${TOK}!", "-H", "X-B:${WITH}",
                      "-H", "X-C: $${TOK} $5", env=env)
        self.each(r, "X-A", ["Bearer v1!"])
        self.each(r, "X-B", ["${TOK}"])
        self.each(r, "X-C", ["${TOK} $5"])

    def test_missing_variable(self):
        s = self.mcp()
        status, out, err = self.once([s.url, "-H", "X-A: ${NOT_SET_HERE}"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("NOT_SET_HERE", err)

    def test_refused_names(self):
        for name in ("Accept", "content-type", "Mcp-Session-Id",
                     "MCP-Protocol-Version", "mcp-anything"):
            with self.subTest(name):
                status, out, err = self.once(
                    ["http://127.0.0.1:9/", "-H", name + ": x"])
                self.assertEqual((status, out), (2, b""))
                self.assertIn(name.lower(), err.lower())

    def test_refused_names_in_a_file(self):
        f = self.path("h", "Accept: x\n", 0o600)
        status, out, err = self.once(["http://127.0.0.1:9/", "-H", "@" + f])
        self.assertEqual((status, out), (2, b""))

    def test_broken_lines(self):
        for bad in ("no colon", ": empty name", "X A: blank in the name",
                    "X-A: line\r\nX-Evil: 1", "X-A: line\nX-Evil: 1"):
            with self.subTest(bad):
                status, out, err = self.once(["http://127.0.0.1:9/", "-H",
                                              bad])
                self.assertEqual((status, out), (2, b""))

    def test_split_through_a_variable(self):
        """A newline in a variable does not make a second header."""
        s = self.mcp()
        status, out, err = self.once(
            [s.url, "-H", "X-A: ${V}"], lines(init(1)),
            env={"V": "a\r\nX-Evil: 1"})
        self.assertFalse([r for r in s.requests if r.get("X-Evil")])

    def test_user_agent(self):
        r = self.sent("-A", "mine/2")
        self.each(r, "User-Agent", ["mine/2"])
        r = self.sent("-A", "mine/2", "-H", "user-agent: other/3")
        self.each(r, "User-Agent", ["other/3"])

    def test_authorization_by_header(self):
        r = self.sent("-H", "Authorization: Bearer abc")
        self.each(r, "Authorization", ["Bearer abc"])

    def test_bearer_env(self):
        r = self.sent("--bearer-env", "MY_TOKEN", env={"MY_TOKEN": "t0k"})
        self.each(r, "Authorization", ["Bearer t0k"])

    def test_bearer_env_missing(self):
        status, out, err = self.once(["http://127.0.0.1:9/", "--bearer-env",
                                      "NOT_SET_HERE"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("NOT_SET_HERE", err)

    def test_bearer_file(self):
        f = self.path("token", " t0k-1\n", 0o600)
        s = self.mcp()
        p = self.splice(s, "--bearer-file", f)
        p.hello()
        p.tool()
        self.assertEqual({r.get("Authorization") for r in s.requests},
                         {"Bearer t0k-1"})
        # the file is replaced by a rename, as secret mounts do it
        g = self.path("token.new", "t0k-2\n", 0o600)
        os.rename(g, f)
        self.assertTrue(s.wait(
            lambda: p.tool() and
            s.executed[-1].get("Authorization") == "Bearer t0k-2", 6))
        p.finish()
        self.assertEqual(s.requests[-1].get("Authorization"), "Bearer t0k-2")

    def test_bearer_file_missing(self):
        status, out, err = self.once(["http://127.0.0.1:9/", "--bearer-file",
                                      "/nonexistent/t"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("/nonexistent/t", err)

    def test_401(self):
        s = self.mcp(init=[lambda rx, tx: tx.body(401, headers=[
            ("WWW-Authenticate", 'Bearer realm="x"')])] * 2)
        p = self.splice(s)
        p.send(init(1))
        e = self.our_error(p.answer(1), "auth_required", "no")
        self.assertEqual(e["data"]["httpStatus"], 401)
        self.assertTrue("--bearer" in e["message"] or "-H" in e["message"])
        self.assertTrue(p.alive())
        p.finish()

    def test_401_later(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.body(401)
        # the tool may have run, and passed on a 401 that it got
        self.our_error(p.tool(), "auth_required", "maybe")
        p.finish()
        self.assertEqual(s.inits(), 1)


class Cookies(support.Case):
    def talk(self, *args):
        s = self.mcp(init_headers=[("Set-Cookie", "lb=node7; Path=/")])
        p = self.splice(s, *args)
        p.hello()
        p.tool()
        p.finish()
        return [r.get("Cookie") for r in s.requests]

    def test_kept(self):
        got = self.talk()
        self.assertIsNone(got[0])
        self.assertEqual(set(got[1:]), {"lb=node7"})

    def test_not_kept(self):
        self.assertEqual(set(self.talk("--no-cookies")), {None})

    def test_kept_over_a_renewal(self):
        s = self.mcp(init_headers=[("Set-Cookie", "lb=node7")])
        p = self.splice(s)
        p.hello()
        s.forget()
        p.tool()
        p.finish()
        self.assertEqual(s.seen("initialize")[1].get("Cookie"), "lb=node7")

    def gone(self, status):
        """The cookie leads to a replica that refuses each initialize."""
        s = self.mcp(init_headers=[("Set-Cookie", "lb=node7")])
        p = self.splice(s)
        p.hello()
        s.forget()
        s.init_headers = []
        s.before = lambda rx, tx: rx.rpc == "initialize" and \
            rx.get("Cookie") and not tx.text(status, "no backend")
        return s, p

    def test_dropped(self):
        for status in (404, 410, 500):
            s, p = self.gone(status)
            m = p.tool()
            # the initialize sent beside the witness may be refused before the
            # renewal begins; the next one is then sent without the cookie
            if "error" in m:
                self.our_error(m, "reinit_failed", "no")
            self.assertIn("result", p.tool())
            p.finish()
            self.assertIsNone(s.requests[-1].get("Cookie"))

    def test_dropped_within_a_renewal(self):
        for status in (502, 503, 504):
            s, p = self.gone(status)
            self.assertIn("result", p.tool())
            p.finish()


class Network(support.Case):
    def test_unix_socket(self):
        path = self.path("s.sock")
        s = self.mcp(unix=path)
        for url in ("http://localhost/mcp", "http://anything.example/mcp"):
            p = self.splice(url, "--unix-socket", path)
            p.hello()
            self.assertIn("result", p.tool())
            p.finish()
        self.assertEqual(s.requests[0].get("Host"), "localhost")

    def test_unix_socket_missing(self):
        p = self.splice("http://localhost/mcp", "--unix-socket",
                        self.path("none.sock"), "--init-timeout", "1")
        p.send(init(1))
        self.our_error(p.answer(1), "upstream_unreachable", "no")
        p.finish()

    def test_resolve_and_allow_http(self):
        s = self.mcp()
        url = "http://mcp.test:%d/mcp" % s.port
        p = self.splice(url, "--allow-http", "--resolve",
                        "mcp.test:%d:127.0.0.1" % s.port)
        p.hello()
        p.finish()
        self.assertEqual(s.requests[0].get("Host"), "mcp.test:%d" % s.port)

    def test_localhost_names_are_free(self):
        s = self.mcp()
        for host in ("localhost", "a.localhost"):
            p = self.splice("http://%s:%d/mcp" % (host, s.port), "-4",
                            "--resolve", "%s:%d:127.0.0.1" % (host, s.port))
            p.hello()
            p.finish()

    def test_plain_http_elsewhere_is_refused(self):
        for url in ("http://mcp.example/mcp", "http://192.0.2.1/",
                    "http://127.0.0.1.example/", "http://0x7f.1.example/",
                    "http://localhost.example/", "http://[2001:db8::1]/"):
            with self.subTest(url):
                status, out, err = self.once([url])
                self.assertEqual((status, out), (2, b""))
                self.assertIn("--allow-http", err)

    def test_families(self):
        s = self.mcp()
        p = self.splice(s, "-4")
        p.hello()
        p.finish()
        p = self.splice("http://localhost:%d/mcp" % s.port, "-6",
                        "--init-timeout", "1")
        p.send(init(1))
        self.assertIn("error", p.answer(1))
        p.finish()

    def test_bad_urls(self):
        for url, hint in (("localhost:8080/mcp", "http://localhost:8080/mcp"),
                          ("127.0.0.1:8080", "http://127.0.0.1:8080"),
                          ("mcp.example.com/mcp",
                           "https://mcp.example.com/mcp"),
                          ("ftp://x/", "http"), ("http://", None),
                          ("", None), ("http://a b/", None),
                          ("http://127.0.0.1:99999/", None)):
            with self.subTest(url):
                status, out, err = self.once([url])
                self.assertEqual((status, out), (2, b""), err)
                self.assertNotEqual(err, "")
                if hint:
                    self.assertIn(hint, err)


class Usage(support.Case):
    def test_unknown_option(self):
        status, out, err = self.once(["--bearer-fil", "http://127.0.0.1:9/"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("--bearer-file", err)

    def test_unknown_option_at_a_terminal(self):
        master, slave = os.openpty()
        try:
            status, out, err = self.once(["--nonsense", "http://127.0.0.1/"],
                                         stdin=slave, seconds=10)
        finally:
            os.close(master)
            os.close(slave)
        self.assertEqual((status, out), (2, b""))
        self.assertIn("--nonsense", err)

    def test_one_waiting_request_is_told(self):
        """A usage error also answers initialize, as hosts show that error,
        and rarely stderr."""
        for args in (["--bearer-fil", "x", "http://127.0.0.1:9/"],
                     ["localhost:8080/mcp"], ["http://mcp.example/"],
                     [], ["http://127.0.0.1:9/", "-H", "Accept: x"],
                     ["http://127.0.0.1:9/", "--session-lost-pattern", "("]):
            with self.subTest(args):
                p = self.splice(None, *args)
                p.send(init("i-1"))
                m = p.answer("i-1")
                self.assertEqual(m["error"]["data"]["source"], "mcpsplice")
                # the proxy ends although stdin is still open
                self.assertEqual(p.wait(5), 2, p.err())
                p.finish(2)
                words = m["error"]["message"]
                if args and args[0] == "--bearer-fil":
                    self.assertIn("--bearer-file", words)
                if args and args[0].startswith("localhost"):
                    self.assertIn("http://localhost:8080/mcp", words)
                if args and args[-1] == "(":
                    self.assertIn("--session-lost-pattern: \"(\" is not a "
                                  "regular expression: ", words)

    def test_commands_want_a_url(self):
        for command in ("login", "logout"):
            status, out, err = self.once([command])
            self.assertEqual((status, out), (2, b""))
            self.assertIn("mcpsplice %s [options] URL" % command, err)

    def test_sign_in_contradictions(self):
        """The error names both options that contradict each other."""
        for args, words in (
                (["--auth", "oauth", "-H", "Authorization: Basic x"],
                 ["--auth oauth", "Authorization header"]),
                (["--bearer-env", "T", "--auth-command", "x"],
                 ["--bearer-env", "--auth-command"]),
                (["--auth", "client-credentials"], ["--client-id"]),
                (["--client-credentials", "--client-id", "x"],
                 ["--client-secret-file", "--client-key"]),
                (["--no-browser", "--browser", "x"],
                 ["--no-browser", "--browser"]),
                (["--host", "0.0.0.1"], ["--host", "127.0.0.1"])):
            with self.subTest(args):
                status, out, err = self.once(["http://127.0.0.1:9/"] + args)
                self.assertEqual((status, out), (2, b""))
                for word in words:
                    self.assertIn(word, err)

    def test_two_waiting_requests(self):
        """Only the first waiting request gets the usage error."""
        status, out, err = self.once(["--nonsense"], lines(
            init(1), request(2, "tools/list")))
        self.assertEqual(status, 2)
        self.assertEqual(json.loads(out.splitlines()[0])["id"], 1)

    def test_rubbish_waiting(self):
        for data in (b"rubbish\n", b"\xff\0\n", lines(INITIALIZED),
                     b'{"jsonrpc":"2.0","id":null,"method":"x"}\n'):
            status, out, err = self.once(["--nonsense"], data, seconds=10)
            self.assertEqual(status, 2)
            for line in out.splitlines():
                self.assertNotIn("result", json.loads(line))

    def test_help(self):
        """--help fits on one screen, "help all" on two."""
        brief = self.text("--help")
        self.assertLessEqual(len(brief.splitlines()), 24)
        self.assertEqual(self.text("help"), brief)
        every = self.text("help", "all")
        self.assertEqual(self.text("--help", "all"), every)
        self.assertLessEqual(len(every.splitlines()), 54)
        for text in brief, every:
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            for word in ("login URL", "--header", "--proxy", "--cacert",
                         "--handshake", "--config"):
                self.assertIn(word, text)
        self.assertIn("--bearer-file", every)

    def test_help_about_a_command(self):
        for command in ("login", "logout", "status", "tools", "call", "check",
                        "wrap"):
            text = self.text("help", command)
            self.assertIn("usage: mcpsplice %s [OPTION...]" % command, text)
            self.assertLessEqual(len(text.splitlines()), 24)
            self.assertEqual(self.text(command, "--help"), text)
            self.assertEqual(self.text("--help", command), text)
        self.assertEqual(self.text("--help", "http://127.0.0.1:9/mcp"),
                         self.text("help"))
        status, out, err = self.once(["help", "frob"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn('no help on "frob"', err)

    def test_help_about_an_option(self):
        text = self.text("help", "--only-tool")
        self.assertIn("--only-tool GLOB\n    Hide all other tools", text)
        self.assertEqual(self.text("help", "only-tool"), text)
        self.assertIn("--header LINE|@FILE", self.text("help", "-H"))
        self.assertIn("Report decisions", self.text("help", "debug"))
        self.assertEqual(self.text("help", "--all"), self.text("help", "all"))
        for word in ("--frob", "url", "-Z", "sk-live-0123456789"):
            status, out, err = self.once(["help", word])
            self.assertEqual((status, out), (2, b""))
            self.assertIn("no help on", err)
            self.assertNotIn("0123456789", err)

    def text(self, *args):
        status, out, err = self.once(list(args))
        self.assertEqual((status, err), (0, ""))
        return out.decode()

    def test_words_for_switches(self):
        self.assertEqual(self.text("version"), self.text("--version"))

    def test_leftovers_of_npx(self):
        for words in (["-y", "mcp-remote"], ["mcp-remote@latest"],
                      ["--yes", "mcp-remote@0.1.29"]):
            self.assertRegex(
                self.text(*words, "http://127.0.0.1:1/mcp", "--show-config"),
                r"(?m)^url +http://127.0.0.1:1/mcp +command line$")

    def test_version(self):
        status, out, err = self.once(["--version"])
        self.assertEqual(status, 0)
        self.assertRegex(out.decode(), r"(?m)^mcpsplice \d")
        self.assertRegex(out.decode(), r"libcurl[/ ]\d")
        self.assertRegex(out.decode(), r"libevent[/ ]\d")
        features = re.search(r"(?m)^Features: ([A-Za-z0-9 -]+)$",
                             out.decode())[1].split()
        self.assertEqual(features, sorted(set(features), key=str.lower))
        self.assertIn("libz", features)
        # the list says whether SPNEGO works
        status, out, err = self.once(["--proxy-negotiate",
                                      "http://127.0.0.1:9/mcp"])
        self.assertEqual("without GSS-API" in err, "SPNEGO" not in features)

    def test_no_url(self):
        status, out, err = self.once([])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("URL", err)

    def test_bad_values(self):
        for args in (["--init-timeout", "soon"], ["--max-result", "many"],
                     ["--replay", "always"], ["--max-inflight", "0"],
                     ["--max-depth", "-1"], ["--log-format", "xml"],
                     ["--init-timeout"], ["--fail=maybe"],
                     ["--connect-timeout", "99999999999999"],
                     ["--ping-interval", "0.5"], ["--ping-interval", "-1"],
                     ["--keep-alive=30"],
                     ["--session-lost-pattern", "(session"],
                     ["--session-lost-pattern", ""],
                     ["--session-lost-pattern", "(gone)*"],
                     ["--session-lost-pattern", "gone",
                      "--session-lost-pattern", ".*"]):
            with self.subTest(args):
                status, out, err = self.once(["http://127.0.0.1:9/"] + args)
                self.assertEqual((status, out), (2, b""))
                self.assertIn(args[0].split("=")[0], err)

    def test_mcp_remotes_arguments(self):
        """mcp-remote's arguments, as they are in users' configurations."""
        h = self.path("h", "X-F: 1\n", 0o600)
        s = self.mcp()
        p = self.splice(
            s, "3334", "--header", "X-A:${V}", "--header-file", h,
            "--host", "127.0.0.1", "--transport", "http-first",
            "--allow-http", "--debug", "--silent", "--enable-proxy",
            "--auth-timeout", "60", "--disable-cookies",
            "--keep-alive", "--ping-interval", "60",
            "--static-oauth-client-metadata", '{"scope":"x"}',
            "--resource", "http://127.0.0.1/", env={"V": "va lue"})
        p.hello()
        p.tool()
        p.finish()
        for r in s.requests:
            self.assertEqual(r.get("X-A"), "va lue")
            self.assertEqual(r.get("X-F"), "1")

    def test_tools_are_hidden(self):
        """Tools are hidden by patterns from any source of options; calls to
        them are refused, too."""
        s = self.mcp()
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "delete_all", "inputSchema": {"type": "object"}},
            {"name": "echo", "inputSchema": {"type": "object"}},
            {"name": "reads", "inputSchema": {"type": "object"},
             "annotations": {"readOnlyHint": True}}], "more": 1})
        f = self.path("my.conf", 'ignore-tool = "delete*"\n', 0o600)
        for args, env, left, option in (
                (["--ignore-tool", "delete*"], {}, ["echo", "reads"],
                 "--ignore-tool"),
                (["--config", f], {}, ["echo", "reads"], "--ignore-tool"),
                ([], {"MCPSPLICE_IGNORE_TOOL": "*ALL\nx"}, ["echo", "reads"],
                 "--ignore-tool"),
                (["--only-tool", "e*", "--only-tool", "r?ads"], {},
                 ["echo", "reads"], "--only-tool"),
                (["--read-only"], {}, ["reads"], "--read-only"),
                (["--read-only", "--ignore-tool", "reads"], {}, [],
                 "--read-only")):
            with self.subTest((args, env)):
                p = self.splice(s, *args, env=env)
                p.hello()
                result = p.ask("tools/list")["result"]
                self.assertEqual([t["name"] for t in result["tools"]], left)
                self.assertEqual(result["more"], 1)
                e = p.tool("delete_all")["error"]
                self.assertEqual(e["code"], -32602)
                self.assertIn(option, e["message"])
                for name in left:
                    self.assertIn("result", p.tool(name))
                p.finish()
        self.assertFalse([r for r in s.requests if b"delete_all" in r.body])

    def test_no_meaning_yet_is_said(self):
        s = self.mcp()
        p = self.splice(s, "-v", "3334", "--auth-success-url", "x:",
                        "--host", "127.0.0.1", "--headers-timeout", "60",
                        "--keep-alive", "--ping-interval", "60")
        p.hello()
        p.finish()
        for word in ("--auth-success-url", "--headers-timeout"):
            self.assertIn(word, p.err())
        for word in ("--host", "--keep-alive", "--ping-interval", "port"):
            self.assertNotIn(word, p.err())
        p = self.splice(s, "3334", "--auth-success-url", "x:")
        p.hello()
        p.finish()
        self.assertNotIn("--auth-success-url", p.err())


class Config(support.Case):
    def config(self, text, path="home/.config/mcpsplice/config"):
        return self.path(path, text, 0o600)

    def sent(self, name, *args, **kw):
        s = kw.pop("server", None) or self.mcp()
        p = self.splice(s, *args, **kw)
        p.hello()
        p.finish()
        return s.requests[-1].get(name)

    def test_home(self):
        self.config('# mine\nuser-agent = "from home"\n')
        self.assertEqual(self.sent("User-Agent"), "from home")

    def test_syntax(self):
        for text in ('--user-agent "a b"', 'user-agent: "a b"',
                     'user-agent="a b"', '-A "a b"', 'user-agent a b',
                     '  user-agent   =   "a\\x20b"'.replace("\\x20", " "),
                     'user-agent = "a b" # why', "user-agent = a b\r"):
            with self.subTest(text):
                self.config(text + "\n")
                self.assertEqual(self.sent("User-Agent"), "a b")

    def test_xdg_does_not_move_it(self):
        self.config('user-agent = "right"\n')
        self.config('user-agent = "wrong"\n', "xdg/mcpsplice/config")
        self.assertEqual(self.sent("User-Agent", env={
            "XDG_CONFIG_HOME": self.path("xdg")}), "right")

    def test_config_option(self):
        f = self.config('user-agent = "file"\nheader = "X-A: 1"\n'
                        'header = "X-B: 2"\n', "my.conf")
        for args in (("--config", f), ("-K", f)):
            self.assertEqual(self.sent("User-Agent", *args), "file")
            self.assertEqual(self.sent("X-B", *args), "2")

    def test_config_mounted_read_only(self):
        """A Kubernetes ConfigMap is a folder of mode 0777 with links: it is
        accepted only if it is mounted read-only."""
        mounted = ["unshare", "-rm", "sh", "-c",
                   "mount -t tmpfs -o mode=0777 none $0 && cd $0 && "
                   "mkdir ..1 && echo fail > ..1/config && "
                   "ln -s ..1 ..data && ln -s ..data/config config && "
                   "if [ $1 = ro ]; then mount -o remount,ro none $0; fi && "
                   "cd / && shift && exec \"$@\"", self.home]
        if not shutil.which("unshare") or subprocess.run(
                mounted + ["ro", "true"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no mount namespace: unshare -rm")
        run = [support.PROGRAM, "--config", self.home + "/config",
               "--show-config", "http://127.0.0.1:9/"]
        for how, status in (("ro", 0), ("rw", 2)):
            with self.subTest(how):
                r = subprocess.run(mounted + [how] + run,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
                self.assertEqual(r.returncode, status, r.stderr)

    def test_config_missing(self):
        status, out, err = self.once(["http://127.0.0.1:9/", "--config",
                                      "/nonexistent/c"])
        self.assertEqual((status, out), (2, b""))
        self.assertIn("/nonexistent/c", err)

    def test_order_of_weight(self):
        """The precedence: argv, --config, environment, file in HOME."""
        self.config('user-agent = "home"\n')
        f = self.config('user-agent = "file"\n', "my.conf")
        env = {"MCPSPLICE_USER_AGENT": "env"}
        self.assertEqual(self.sent("User-Agent", "-A", "argv", "-K", f,
                                   env=env), "argv")
        self.assertEqual(self.sent("User-Agent", "-K", f, env=env), "file")
        self.assertEqual(self.sent("User-Agent", env=env), "env")
        self.assertEqual(self.sent("User-Agent"), "home")

    def test_sections(self):
        s = self.mcp()
        self.config('user-agent = "all"\n'
                    '[https://*]\nuser-agent = "tls"\n'
                    '[http://127.0.0.1:%d/*]\nuser-agent = "here"\n'
                    '[http://other.example/*]\nuser-agent = "other"\n'
                    % s.port)
        self.assertEqual(self.sent("User-Agent", server=s), "here")

    def test_sections_do_not_leak(self):
        """A header for one server goes to no other."""
        s = self.mcp()
        self.config('[https://127.0.0.1*]\nheader = "X-S: 1"\n'
                    '[http://evil.example*]\nheader = "X-S: 2"\n'
                    '[http://127.0.0.1:1/*]\nheader = "X-S: 3"\n'
                    '[http://*/127.0.0.1/*]\nheader = "X-S: 4"\n')
        self.assertIsNone(self.sent("X-S", server=s))

    def test_hint(self):
        """The hint is added to the proxy's own errors about the server, but
        not to the server's errors."""
        self.config("[http://127.0.0.1:1/*]\n"
                    'hint = On VPN only; ask in #it-help, or "Ann"\n')
        hint = '(On VPN only; ask in #it-help, or "Ann")'
        url = "http://127.0.0.1:1/mcp"
        p = self.splice(url, "--retry-window", "0")
        p.send(support.init())
        e = self.our_error(p.answer(1), "upstream_unreachable", "no")
        self.assertTrue(e["message"].endswith(hint), e)
        p.raw(b"no JSON\n", idless=1)
        rc, out, err = self.once(["check", url])
        self.assertEqual(rc, 1)
        self.assertIn("Hint: " + hint[1:-1], out.decode())
        s = self.mcp()
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32603, "the server's own")
        self.config("hint = for all\n")
        p = self.splice(s)
        p.hello()
        self.assertEqual(p.tool()["error"]["message"], "the server's own")

    def test_url_in_the_file(self):
        s = self.mcp()
        f = self.config('url = "%s"\n' % s.url, "my.conf")
        p = self.splice(None, "-K", f)
        p.hello()
        p.finish()

    def test_mistakes_name_file_and_line(self):
        for text in ("\nnonsense = 1\n", "\ninit-timeout = soon\n",
                     '\nuser-agent = "open\n', "\n[open\n",
                     "\nheader\n"):
            with self.subTest(text):
                f = self.config(text, "my.conf")
                status, out, err = self.once(["http://127.0.0.1:9/", "-K",
                                              f])
                self.assertEqual((status, out), (2, b""))
                self.assertIn("my.conf:2", err)

    def test_environment(self):
        env = {"MCPSPLICE_HEADER": "X-A: 1", "MCPSPLICE_NO_COOKIES": "1"}
        self.assertEqual(self.sent("X-A", env=env), "1")

    def test_url_in_the_environment(self):
        s = self.mcp()
        p = self.splice(None, env={"MCPSPLICE_URL": s.url})
        p.hello()
        p.finish()

    def test_token_where_a_name_belongs(self):
        """A token in the wrong place is not repeated on stdout or stderr."""
        url = "http://127.0.0.1:1/mcp"
        f = self.path("token.conf")
        for token in ("sk-live-0123456789abcdef", "ghp_AbCdEf0123456789AbCdEf",
                      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
                      "Zm9vYmFyMTIzNDU2Nzg5MGFi", "hunter2horse"):
            self.path("token.conf", "bearer-env = %s\n" % token, 0o600)
            for args in (["--bearer-env", token, url],
                         ["--bearer-file", token, url],
                         ["--header-file", token, url],
                         ["--header", "Authorization:", "Bearer", token, url],
                         [url, token], [token], ["-K", token, url],
                         ["-K", f, url], ["help", token], ["login", token],
                         ["call", token, url], ["tools", url, "x", token],
                         ["-H", "X: ${%s}" % token, url]):
                with self.subTest(args):
                    status, out, err = self.once(
                        args, support.lines(support.init(1)))
                    self.assertNotEqual(status, 0)
                    for text in (out.decode(), err):
                        self.assertNotIn(token[:24], text)
                    self.assertRegex(
                        err, r"redacted|not the token|split|more than a var")

    def test_token_where_a_file_belongs(self):
        """The report of "check" does not repeat the token, either."""
        token = "ghp_AbCdEf0123456789AbCdEf"
        for option in ("--cacert", "--cert", "--netrc-file",
                       "--log-file"):
            with self.subTest(option):
                status, out, err = self.once(
                    ["check", "https://127.0.0.1:1/mcp", option,
                     "./no/" + token])
                self.assertNotEqual(status, 0)
                self.assertNotIn(token, out.decode() + err)
                self.assertIn("redacted", out.decode())

    def test_show_config(self):
        self.config('retry-window = 7\n')
        f = self.config('max-depth = 99\n', "my.conf")
        secret = CANARY % 1
        status, out, err = self.once(
            ["http://127.0.0.1:9/x", "--show-config", "-K", f,
             "--init-timeout", "3", "-H", "Authorization: Bearer " + secret],
            env={"MCPSPLICE_CALL_TIMEOUT": "12"})
        self.assertEqual(status, 0, err)
        text = out.decode()
        rows = {}
        for row in text.splitlines():
            for name in ("init-timeout", "retry-window", "max-depth",
                         "call-timeout", "max-inflight", "url"):
                if name in row.split("=")[0].split(":")[0]:
                    rows.setdefault(name, row)
        self.assertIn("3", rows["init-timeout"])
        self.assertIn("command line", rows["init-timeout"])
        self.assertIn("config", rows["retry-window"])
        self.assertIn("my.conf", rows["max-depth"])
        self.assertIn("MCPSPLICE_CALL_TIMEOUT", rows["call-timeout"])
        self.assertIn("default", rows["max-inflight"])
        self.assertIn("http://127.0.0.1:9/x", text)
        self.assertNotIn(secret, text + err)


    def test_show_config_checks(self):
        """--show-config refuses what a start refuses, with the same words and
        status."""
        for args, words in (
                (["-H", "Authorization:${NOT_SET}"], "NOT_SET"),
                (["-H", '"X-Api-Key": abc'], "header"),
                (["--bearer-file", "/nonexistent/t"], "/nonexistent/t"),
                (["--cacert", "/nonexistent/c"], "/nonexistent/c"),
                (["--cert", "/nonexistent/e"], "/nonexistent/e"),
                (["--netrc-file", "/nonexistent/n"], "/nonexistent/n"),
                (["-4", "-6"], "cannot be combined")):
            with self.subTest(args):
                url = "http://127.0.0.1:9/x"
                status, out, err = self.once(["--show-config", url] + args)
                self.assertEqual(status, 2, err)
                self.assertIn(words, err)
                started = self.once([url] + args, b"")
                self.assertEqual((started[0], started[2]), (2, err))

    def test_home_of_another_user(self):
        """HOME belongs to another user, as with sudo -u or docker --user: the
        error says what to set."""
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.path("home/.config/mcpsplice/config", "quiet\n", 0)
        status, out, err = self.once(["http://127.0.0.1:9/x"], b"")
        self.assertEqual(status, 2)
        self.assertIn("set HOME to a folder of your own", err)

    def shown(self, *args, **kw):
        """--show-config as {name: [(value, origin)]}."""
        status, out, err = self.once(["--show-config", *args], **kw)
        self.assertEqual((status, err), (0, ""))
        rows = {}
        for row in out.decode().splitlines():
            name, value, origin = re.split(" {2,}", row, maxsplit=2)
            rows.setdefault(name, []).append((value, origin))
        return rows

    def test_sessions_of_an_in_house_server(self):
        """Options come from a server's section; other sources override or add
        to them."""
        f = self.config('[https://in.house/*]\n'
                        'session-lost-pattern = tenant \\(.*\\) has left\n'
                        'session-lost-in-results\nno-memory\n'
                        'replay = refused\nping-interval = 90\n')
        rows = self.shown("https://in.house/mcp", "--memory",
                          "--session-lost-pattern", "no such desk",
                          env={"MCPSPLICE_KEEP_ALIVE": "1"})
        self.assertEqual(rows["session-lost-pattern"], [
            ("tenant \\(.*\\) has left", f + ":2"),
            ("no such desk", "command line")])
        self.assertEqual(rows["session-lost-in-results"],
                         [("yes", f + ":3")])
        self.assertEqual(rows["no-memory"], [("no", "command line")])
        self.assertEqual(rows["replay"], [("refused", f + ":5")])
        self.assertEqual(rows["ping-interval"], [
            ("30", "environment MCPSPLICE_KEEP_ALIVE")])
        self.assertNotIn("keep-alive", rows)
        rows = self.shown("https://other.house/mcp")
        self.assertEqual(rows["session-lost-pattern"],
                         [("(none)", "default")])
        for name, value in (("session-lost-in-results", "no"),
                            ("no-memory", "no"), ("replay", "safe"),
                            ("ping-interval", "0")):
            self.assertEqual(rows[name], [(value, "default")])

    def test_sign_in_by_server(self):
        """Sections choose between two accounts; mcp-remote's option names on
        the command line are shown under ours."""
        f = self.config('[https://in.house/*]\nprofile = work\n'
                        'client-id = cid\nclient-secret-env = S\n'
                        'auth-store = "helper:keys -x"\n'
                        '[https://out.house/*]\nprofile = home\n')
        rows = self.shown("https://in.house/mcp", "3334", "--host",
                          "localhost", "--auth-timeout", "60",
                          env={"S": CANARY % 1, "BROWSER": "lynx"})
        for name, value, origin in (
                ("profile", "work", f + ":2"), ("client-id", "cid", f + ":3"),
                ("client-secret-env", "S", f + ":4"),
                ("auth-store", "helper:keys -x", f + ":5"),
                ("callback-port", "3334", "command line"),
                ("callback-host", "localhost", "command line"),
                ("login-timeout", "60", "command line"),
                ("browser", "lynx", "environment BROWSER"),
                ("auth", "auto", "default")):
            self.assertEqual(rows[name], [(value, origin)])
        for name in ("host", "auth-timeout", "device-code"):
            self.assertNotIn(name, rows)
        rows = self.shown("login", "https://out.house/mcp")
        self.assertEqual(rows["profile"], [("home", f + ":7")])
        rows = self.shown("status")
        self.assertEqual(rows["profile"], [("(none)", "default")])

    def test_keep_alive(self):
        """The later option wins, and only ping-interval is shown."""
        for args, value in ((["--keep-alive"], "30"),
                            (["--keep-alive", "--ping-interval", "7"], "7"),
                            (["--ping-interval", "7", "--keep-alive"], "30"),
                            (["--keep-alive", "--no-keep-alive"], "0")):
            with self.subTest(args):
                rows = self.shown(*args)
                self.assertEqual(rows["ping-interval"],
                                 [(value, "command line")])
                self.assertNotIn("keep-alive", rows)


class Secrets(support.Case):
    def test_blanked_in_argv(self):
        """The running proxy has no secret in its command line, and warns."""
        if not os.path.exists("/proc/self/cmdline"):
            self.skipTest("no /proc")
        secrets = [CANARY % n for n in range(6)]
        s = self.mcp()
        p = self.splice(s, "-H", "Authorization: Bearer " + secrets[0],
                        "--header", "X-Api-Key:" + secrets[1],
                        "--header=Cookie: " + secrets[2],
                        "-HX-Auth-Token: " + secrets[3],
                        "--proxy-user", "u:" + secrets[4])
        p.hello()
        with open("/proc/%d/cmdline" % p.pid, "rb") as f:
            line = f.read().decode()
        for n in range(5):
            self.assertNotIn(secrets[n], line)
        self.assertIn(s.url, line)
        self.assertEqual(s.requests[0].get("Authorization"),
                         "Bearer " + secrets[0])
        self.assertEqual(s.requests[0].get("X-Api-Key"), secrets[1])
        p.finish()
        self.assertNotEqual(p.err(), "", "no warning")

    def test_out_of_reach(self):
        """Other processes of the user cannot inspect the proxy (Linux)."""
        if not os.path.exists("/proc/self/environ"):
            self.skipTest("no /proc")
        s = self.mcp()
        other = {"user": 65534, "group": 65534, "extra_groups": []} \
            if os.geteuid() == 0 else {}
        try:
            p = subprocess.Popen([support.PROGRAM, s.url],
                                 env={"PATH": os.environ["PATH"], "HOME": "/"},
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, **other)
        except PermissionError:
            self.skipTest("the user nobody cannot run %s" % support.PROGRAM)
        try:
            p.stdin.write(json.dumps(support.init(1)).encode() + b"\n")
            p.stdin.flush()
            self.assertIn(b"result", p.stdout.readline())
            # root owns these files if the process is not dumpable
            for name in ("environ", "mem", "maps"):
                self.assertEqual(os.stat("/proc/%d/%s" % (p.pid, name)).st_uid,
                                 0)
            p.stdin.close()
            self.assertEqual(p.wait(60), 0)
        finally:
            p.kill()
            p.wait()
            p.stdout.close()

    @support.plain
    def test_set_uid(self):
        """The program does not run if it is setuid or setgid: it would have
        one user's environment and another's rights."""
        if os.geteuid() != 0:
            self.skipTest("only root can make such a file")
        program = self.path("set-uid")
        # cp makes the copy: a process that a parallel test starts would
        # inherit our open file, and a file open for writing cannot be run
        subprocess.run(["cp", support.PROGRAM, program], check=True)
        os.chown(program, 65534, 65534)
        for mode in (0o4755, 0o2755):
            os.chmod(program, mode)
            p = subprocess.run([program, "--version"], capture_output=True)
            self.assertEqual(p.stdout, b"", oct(mode))
            self.assertIn(b"setuid", p.stderr)
            # LeakSanitizer cannot inspect such a process, and fails
            self.assertIn(p.returncode, (1, 2) if support.sanitized() else (2,),
                          oct(mode))

    def test_never_told(self):
        """No secret is in the output of -vv, the trace, the dump or errors."""
        env = {"TOK": CANARY % 1}
        h = self.path("h", "X-Key: %s\n" % (CANARY % 2), 0o600)
        b = self.path("b", CANARY % 3, 0o600)
        s = self.mcp(init_headers=[("Set-Cookie", "c=" + CANARY % 4)])
        trace = self.path("trace")
        p = self.splice(s, "-vv", "--trace", trace, "-H", "X-A: ${TOK}", "-H",
                        "@" + h,
                        "--bearer-file", b, "-H",
                        "X-Token: " + CANARY % 5, env=env)
        p.hello()
        p.tool()
        s.methods["tools/call"] = lambda rx, tx: tx.text(500, "oops")
        p.tool()
        s.forget()
        s.methods["tools/call"] = lambda rx, tx: tx.reset()
        p.tool()
        os.kill(p.pid, signal.SIGUSR1)
        self.settle(0.3)
        s.down()
        p.finish()
        self.assertNotEqual(p.err(), "")
        with open(trace) as f:
            told = p.err() + repr(p.lines) + f.read()
        for n in range(1, 6):
            self.assertNotIn(CANARY % n, told)
        for sid in s.made:
            self.assertNotIn(sid, told)
        self.assertEqual(s.requests[0].get("Authorization"),
                         "Bearer " + CANARY % 3)
        self.assertEqual(s.requests[0].get("X-Key"), CANARY % 2)

    def test_not_in_usage_errors(self):
        for args in (["-H", "Authorization " + CANARY % 1],
                     ["-H", "Accept: " + CANARY % 1],
                     ["-H", "Authorization: " + CANARY % 1, "--nonsense"],
                     ["--proxy-user", CANARY % 1, "--nonsense"],
                     ["--client-secret", CANARY % 1],
                     ["--client-secret=" + CANARY % 1],
                     ["--issuer", "https://me:%s@h/" % (CANARY % 1)],
                     ["--token-endpoint", "x:" + CANARY % 1],
                     ["--static-oauth-client-info",
                      '{"client_secret":"%s"}' % (CANARY % 1),
                      "--client-id", "x"]):
            with self.subTest(args[0]):
                status, out, err = self.once(["http://127.0.0.1:9/"] + args)
                self.assertEqual((status, out), (2, b""))
                self.assertNotIn(CANARY % 1, err)

    def test_userinfo_in_the_url(self):
        s = self.mcp()
        url = "http://me:%s@127.0.0.1:%d/mcp" % (CANARY % 1, s.port)
        status, out, err = self.once([url, "-vv"], lines(init(1)))
        self.assertNotIn(CANARY % 1, err)
        self.assertNotIn(CANARY % 1, out.decode())


if __name__ == "__main__":
    support.main()
