"""Signing in: requests that wait for the user and how that ends, with and
without a display, device codes, credentials other than OAuth, no writable
store.  Base is in test_signin.py."""

import json
import os
import re
import time

import authserver
import support
from support import call, init, lines
from test_signin import ENDED, Patient


class Waits(Patient):
    def test_initialize_is_held_for_a_while(self):
        a, m, b, user = self.lazy()
        p = self.splice(m, "--browser", b.command, "--init-timeout", "2",
                        "--start", "wait")
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.until(b.opened, p)
        self.assertIn(b.url(), e["message"])
        self.assertEqual(m.made, [])
        user.go(b.url())
        self.until(lambda: a.given["authorization_code"] == 1, p)
        self.until(self.kept, p)
        p.hello()
        self.works(p, m)
        self.counted(a)
        self.assertEqual(len(b.opened()), 1)

    def test_initialize_waits_within_its_time(self):
        a, m, b, user = self.lazy()
        p = self.splice(m, "--browser", b.command)
        ident = p.start("initialize", init()["params"])
        self.until(b.opened, p)
        user.go(b.url())
        self.assertIn("result", p.answer(ident))
        self.counted(a)

    def test_the_next_copy_finishes(self):
        """A host ends a server whose initialize failed, and starts it again:
        the same login goes on."""
        a, m, b, user = self.lazy()
        p = self.splice(m, "--browser", b.command, "--init-timeout", "2",
                        "--start", "wait")
        self.our_error(p.ask("initialize", init()["params"]), "auth_required")
        p.kill()
        p = self.splice(m, "--browser", b.command)
        ident = p.start("initialize", init()["params"])
        self.until(lambda: "sign in to " in p.err() and b.opened(), p)
        self.assertIn(b.url(), p.err())
        user.go(b.url())
        self.assertIn("result", p.answer(ident))
        self.counted(a)
        self.assertEqual(len(b.opened()), 1)

    def test_memory_answers(self):
        a, m, b, user = self.lazy()
        m.methods["tools/list"] = lambda rx, tx: tx.result({"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}}]})
        p = self.start(m, user)
        self.assertIn("result", p.ask("tools/list", {}))
        p.finish()
        a.revoke()
        begin = time.monotonic()
        p = self.splice(m, "--browser", b.command)
        p.send(init("hello"))
        self.assertIn("result", p.answer("hello", ENDED))
        self.assertGreater(time.monotonic() - begin, 3)
        p.send(support.INITIALIZED)
        tools = p.ask("tools/list", {})["result"]["tools"]
        self.assertEqual([t["name"] for t in tools], ["echo"])
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "waits"}})
        self.assertEqual(m.runs("waits"), 0)
        self.until(b.opened, p)
        user.go(b.url())
        self.assertIn("result", p.answer(ident, ENDED))
        self.assertEqual(m.runs("waits"), 1)
        self.assertEqual(len(b.opened()), 1)
        self.counted(a, authorize=2, refresh=1)

    def test_handshake_waits(self):
        """With --handshake, a call from a shell pipeline waits for the
        sign-in."""
        a = self.auth()
        m, b = self.protected(a), self.browser(delay=1.0)
        status, out, err = self.command(
            m.url, "--handshake", "--browser", b.command,
            data=lines(call(7, key="piped")))
        self.assertEqual(status, 0, err)
        self.assertIn("result", json.loads(out))
        self.assertEqual(m.runs("piped"), 1)
        self.counted(a)

    def test_timeout_and_the_minute_after(self):
        a, m, b, user = self.lazy()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.start(m, b, "--login-timeout", "5")
        self.fails(p, m, "--login-timeout")
        for _ in range(5):
            self.fails(p, m)
        p.finish()
        p = self.start(m, b, "--login-timeout", "5")
        self.fails(p, m, "mcpsplice login")
        self.assertEqual(len(b.opened()), 1)
        self.counted(a, authorize=0, register=1)

    def test_the_callback_of_a_login_that_is_over(self):
        """After --login-timeout, the callback's port does not listen."""
        a, m, b, user = self.lazy()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.start(m, b, "--login-timeout", "5")
        self.fails(p, m)
        self.until(b.opened, p)
        self.assertEqual(a.authorizations, 0)
        user.go(b.url())
        self.assertEqual(user.pages(), [])
        self.assertEqual(a.authorizations, 1)
        self.counted(a, code=0)

    def test_cancelled_call(self):
        """The client cancels the call; the login goes on for the next call."""
        a, m, b, user = self.lazy()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.start(m, b)
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "gone"}})
        self.until(b.opened, p)
        p.cancel(ident)
        user.go(b.url())
        self.works(p, m)
        self.assertEqual(m.runs("gone"), 0)
        self.counted(a)

    def asked(self, **elicitation):
        """A call waits, and the proxy asks the host by elicitation to show the
        sign-in URL."""
        a, m, b, user = self.lazy()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.splice(m, "--browser", b.command)
        p.hello(capabilities={"elicitation": elicitation})
        ident = p.start("tools/call", {"name": "echo",
                                       "arguments": {"key": "asked"}})
        question = p.server_message("elicitation/create")
        self.assertIn(b.url(), question["params"]["message"])
        return a, m, b, user, p, ident, question

    def test_the_host_shows_the_url(self):
        a, m, b, user, p, ident, question = self.asked(url={})
        params = question["params"]
        self.assertEqual((params["mode"], params["url"]), ("url", b.url()))
        p.send({"jsonrpc": "2.0", "id": question["id"],
                "result": {"action": "accept"}})
        user.go(b.url())
        self.assertEqual(
            p.server_message("notifications/elicitation/complete")["params"],
            {"elicitationId": params["elicitationId"]})
        self.assertIn("result", p.answer(ident))
        self.assertEqual(m.runs("asked"), 1)
        self.counted(a)

    def test_the_question_goes_away(self):
        a, m, b, user, p, ident, question = self.asked()
        self.assertNotIn("mode", question["params"])
        user.go(b.url())
        cancel = p.server_message("notifications/cancelled")
        self.assertEqual(cancel["params"]["requestId"], question["id"])
        self.assertIn("result", p.answer(ident))
        self.counted(a)

    def test_the_user_declines(self):
        a, m, b, user, p, ident, question = self.asked(form={})
        p.send({"jsonrpc": "2.0", "id": question["id"],
                "result": {"action": "decline"}})
        self.our_error(p.answer(ident), "auth_required", "no")
        self.assertEqual(m.runs("asked"), 0)
        user.go(b.url())
        self.works(p, m)


class Display(Patient):
    OPENERS = ("xdg-open", "x-www-browser", "www-browser", "open",
               "sensible-browser", "wslview", "gio", "firefox")

    def path_with(self, b):
        """A PATH on which every opener is the browser stub."""
        folder = os.path.join(self.tmp, "bin")
        os.mkdir(folder)
        for name in self.OPENERS:
            os.symlink(b.command, os.path.join(folder, name))
        return folder + ":" + os.environ["PATH"]

    def shown(self, p):
        found = []

        def look():
            found[:] = re.findall(r"http://\S+/authorize\?\S+", p.err())
            return found
        self.until(look, p)
        return found[0]

    def only_shown(self, *args, **env):
        a, m, b = self.trio()
        p = self.splice(m, *args, env=dict(env, PATH=self.path_with(b)))
        ident = p.start("initialize", init()["params"])
        url = self.shown(p)
        self.settle(1)
        self.assertEqual(b.opened(), [])
        self.counted(a, authorize=0, register=1)
        b.go(url)
        self.assertIn("result", p.answer(ident))
        self.assertNotIn(b"authorize?", b"".join(x for x, _ in p.lines))

    def test_none(self):
        self.only_shown(DISPLAY="", WAYLAND_DISPLAY="")

    def test_no_browser(self):
        self.only_shown("--no-browser", DISPLAY=":9")

    def test_broken_browser(self):
        a, m, b = self.trio()
        p = self.splice(m, "--browser", "/nonexistent/browser")
        ident = p.start("initialize", init()["params"])
        b.go(self.shown(p))
        self.assertIn("result", p.answer(ident))
        self.assertIn("mcpsplice: warning: sign-in: the browser cannot be "
                      "started", p.err())
        self.counted(a)

    def test_one(self):
        for n, env in enumerate(({"DISPLAY": ":9"},
                                 {"WAYLAND_DISPLAY": "wayland-9"})):
            a, m, b = self.trio()
            p = self.splice(m, env=dict(env, PATH=self.path_with(b)))
            p.hello()
            self.assertEqual(len(b.opened()), 1)
            self.counted(a)
            os.rename(os.path.join(self.tmp, "bin"),
                      os.path.join(self.tmp, "bin%d" % n))


    def test_that_of_the_host(self):
        """The browser and notify-send get the desktop variables of the host's
        environment, and no others of it."""
        env = {"DISPLAY": ":7", "WAYLAND_DISPLAY": "wayland-7",
               "XAUTHORITY": "/x/auth", "XDG_RUNTIME_DIR": "/x/run",
               "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x/bus"}
        a, m, b = self.trio()
        path = self.path_with(b)
        log = os.path.join(self.tmp, "notified")
        send = os.path.join(self.tmp, "bin", "notify-send")
        with open(send, "w") as f:
            f.write('#!/bin/sh\necho "$DBUS_SESSION_BUS_ADDRESS" >%s\n' % log)
        os.chmod(send, 0o700)
        p = self.hosted(m, dict(env, HOST_HAS="secret-7"), env={"PATH": path})
        p.hello()
        self.counted(a)
        got, = b.witness()
        self.assertEqual({k: got["env"].get(k) for k in env}, env)
        self.assertNotIn("HOST_HAS", got["env"])
        self.until(lambda: b.lines(log) == ["unix:path=/x/bus"], p)


class Device(Patient):
    def begin(self, m, *args):
        p = self.splice(m, "--auth", "device", *args)
        return p, p.start("initialize", init()["params"])

    def pair_of(self, **knobs):
        a = self.auth(**knobs)
        return a, self.protected(a)

    def test_works(self):
        a, m = self.pair_of()
        p, ident = self.begin(m)
        self.assertIn("result", p.answer(ident))
        self.assertIn("ABCD-0001", p.err())
        self.assertIn(a.issuer + "/device", p.err())
        p.send(support.INITIALIZED)
        a.expire()
        self.works(p, m)
        self.counted(a, authorize=0, refresh=1)
        p.finish()
        p, ident = self.begin(m)
        self.assertIn("result", p.answer(ident))
        self.assertEqual(a.counts["device"], 1)

    def test_nothing_but_devices(self):
        """A server that only offers device codes need not list S256."""
        a, m = self.pair_of()
        a.always("metadata", authserver.without(
            "authorization_endpoint", "code_challenge_methods_supported"))
        p, ident = self.begin(m)
        self.assertIn("result", p.answer(ident))

    def test_person(self):
        """The proxy polls until the user has entered the code."""
        a, m = self.pair_of(device_polls=None)
        p, ident = self.begin(m)
        self.until(lambda: a.token_requests(authserver.DEVICE_GRANT) >= 2, p)
        a.approve("ABCD-0001")
        self.assertIn("result", p.answer(ident))

    def test_slow_down(self):
        a, m = self.pair_of()
        a.script("token", authserver.error("slow_down"))
        p, ident = self.begin(m)
        begin = time.monotonic()
        self.assertIn("result", p.answer(ident, ENDED))
        self.assertGreater(time.monotonic() - begin, 5)

    def test_trouble_while_it_polls(self):
        a, m = self.pair_of()
        a.script("token", authserver.status(503), authserver.busy(1),
                 authserver.cut())
        p, ident = self.begin(m)
        self.assertIn("result", p.answer(ident, ENDED))
        self.assertEqual(a.counts["device"], 1)

    def test_denied(self):
        a, m = self.pair_of(device_polls=None)
        p, ident = self.begin(m)
        self.until(lambda: a.token_requests() >= 1, p)
        a.approve(yes=False)
        e = self.our_error(p.answer(ident), "auth_required")
        self.assertIn("access_denied", e["message"])

    def test_over(self):
        a, m = self.pair_of(device_polls=None)
        a.script("device", authserver.having(expires_in=2))
        p, ident = self.begin(m)
        e = self.our_error(p.answer(ident), "auth_required")
        self.assertIn("code", e["message"])
        b, n = self.pair_of(device_polls=None)
        b.always("token", authserver.error("expired_token"))
        p, ident = self.begin(n)
        e = self.our_error(p.answer(ident), "auth_required")
        self.assertIn("expired_token", e["message"])

    def test_not_offered(self):
        a, m = self.pair_of(gives_device=False)
        p, ident = self.begin(m)
        e = self.our_error(p.answer(ident), "auth_required")
        self.assertIn("--auth device", e["message"])
        self.assertEqual(a.token_requests(), 0)


HELPER = '''#!/bin/sh
cat >> %(log)s
echo >> %(log)s
cat %(answer)s
'''


class Given(Patient):
    """Credentials that do not come from OAuth."""

    def helper(self, answer):
        """Returns a helper's path, a function for the requests that it got,
        and one to change its answer."""
        folder = os.path.join(self.tmp, "helper-%d" % self.count())
        os.mkdir(folder)
        self.may_hold.append(folder)
        f = {k: os.path.join(folder, k) for k in ("log", "answer", "run")}
        with open(f["run"], "w") as out:
            out.write(HELPER % f)
        os.chmod(f["run"], 0o700)

        def say(doc):
            with open(f["answer"] + ".x", "w") as out:
                out.write(json.dumps(doc) if isinstance(doc, dict) else doc)
            os.rename(f["answer"] + ".x", f["answer"])

        def asked():
            return [json.loads(line) for line in
                    authserver.Browser.lines(f["log"]) if line]
        say(answer)
        return f["run"], asked, say

    def test_helper(self):
        a = self.auth()
        m = self.protected(a, other_tokens={"helped-1"})
        command, asked, say = self.helper({"version": 1,
                                           "token": "helped-1"})
        p = self.splice(m, "--auth-command", command)
        p.hello()
        self.works(p, m)
        self.assertEqual([q["reason"] for q in asked()], ["start"])
        self.assertEqual(asked()[0]["url"], m.url)
        m.other_tokens = {"helped-2"}
        say({"version": 1, "token": "helped-2",
             "expires_at": int(time.time()) + 2})
        self.works(p, m)
        self.assertEqual([q["reason"] for q in asked()],
                         ["start", "unauthorized"])
        refused = len(m.refused)
        m.other_tokens = {"helped-2", "helped-3"}
        end = time.time() + 3
        say({"version": 1, "headers": {"Authorization": "Bearer helped-3"}})
        while time.time() < end:
            time.sleep(0.1)
        self.works(p, m)
        self.assertEqual([q["reason"] for q in asked()],
                         ["start", "unauthorized", "expired"])
        self.assertEqual(len(m.refused), refused)
        self.assertEqual(m.requests[-1].get("Authorization"),
                         "Bearer helped-3")
        self.assertEqual(a.requests, [])
        p.finish()
        m.violations.clear()    # tokens that the server has forgotten

    def test_helper_that_fails(self):
        a = self.auth()
        m = self.protected(a, other_tokens={"t0ken-canary"})
        for answer in ("t0ken-canary is no JSON", "", '{"version":1}',
                       '{"version":2,"token":"t0ken-canary"}'):
            command, asked, _ = self.helper(answer)
            p = self.splice(m, "--auth-command", command)
            e = self.our_error(p.ask("initialize", init()["params"]))
            self.assertIn("--auth-command", e["message"])
            self.assertNotIn("t0ken-canary", json.dumps(e) + p.err())
            p.finish()
        p = self.splice(m, "--auth-command", "/nonexistent/helper")
        e = self.our_error(p.ask("initialize", init()["params"]))
        self.assertIn("--auth-command", e["message"])
        self.assertEqual(m.requests, [])
        m.violations.clear()

    def test_helper_that_helps_not(self):
        """The helper gives the same token again: after one try the client
        gets the 401 as an error; no OAuth is tried."""
        a = self.auth()
        m = self.protected(a, refuses_all=True, other_tokens={"x-helped"})
        command, asked, _ = self.helper({"version": 1, "token": "x-helped"})
        p = self.splice(m, "--auth-command", command)
        for _ in range(5):
            self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertEqual([q["reason"] for q in asked()],
                         ["start", "unauthorized"])
        self.assertEqual(a.requests, [])

    def test_bearer_file(self):
        a = self.auth()
        m = self.protected(a, other_tokens={"file-1"})
        where = self.path("bearer", "file-1\n", 0o600)
        p = self.splice(m, "--bearer-file", where)
        p.hello()
        self.works(p, m)
        m.other_tokens = {"file-2"}
        self.path("bearer.x", "file-2\n", 0o600)
        os.rename(where + ".x", where)
        self.works(p, m)
        m.other_tokens = {"file-3"}
        e = self.our_error(p.tool(), "auth_required")
        self.assertNotIn("file-2", json.dumps(e))
        self.assertEqual(a.requests, [])
        p.finish()
        m.violations.clear()    # tokens that the server has forgotten

    def test_netrc(self):
        a = self.auth()
        m = self.protected(a)
        seen = []
        m.before = lambda rx, tx: seen.append(rx.get("Authorization"))
        m.admits = lambda rx, tx: (rx.get("Authorization") or
                                   "").startswith("Basic ") or \
            m.say_no(rx, tx, 401, None, None)
        where = self.path("netrc", "machine 127.0.0.1 login u "
                          "password pw-canary\n", 0o600)
        p = self.splice(m, "--netrc-file", where)
        p.hello()
        self.works(p, m)
        self.assertEqual(set(seen), {"Basic dTpwdy1jYW5hcnk="})
        self.assertNotIn("pw-canary", p.err())
        self.assertEqual(a.requests, [])

    def test_none_and_static(self):
        a = self.auth()
        m, b = self.protected(a), self.browser()
        where = self.path("bearer", "wrong-token", 0o600)
        for args in (["--auth", "none"],
                     ["--auth", "static", "--bearer-file", where],
                     ["--bearer-file", where]):
            p = self.splice(m, "--browser", b.command, *args)
            self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertEqual(a.requests, [])
        self.assertEqual([t for t in self.trail(m) if "/mcp " not in t], [])
        self.assertEqual(b.opened(), [])
        self.assertFalse(self.kept())
        m.violations.clear()    # the token is not one of the server's


class NoHome(Patient):
    def test_in_memory(self):
        for home in (None, "/nonexistent/home", "relative"):
            a, m, b = self.trio()
            p = self.start(m, b, env={"HOME": home})
            self.works(p, m)
            a.expire()
            self.works(p, m)
            self.counted(a, refresh=1)
            self.assertIn("kept in memory only", p.err())
            p.finish()

    def test_not_writable(self):
        """A file is in the folder's place, as root may write to any folder."""
        self.path("home/.local", "not a folder")
        a, m, b = self.trio()
        p = self.start(m, b)
        self.works(p, m)
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)
        self.assertIn("kept in memory only", p.err())


if __name__ == "__main__":
    support.main()
