"""Kerberos tickets for the server (--negotiate) and for a proxy
(--proxy-negotiate), with a real KDC, a verifier that asks GSS-API, and squid.
"""

import os
import socket
import subprocess
import time

import kerberos
import pace
import ports
import support
import test_tls
from support import call, init

kerberos.demand()
REALM = kerberos.Realm()
WINDOWS = pace.is_windows()
ADVICE = "sign in to Windows" if WINDOWS else "run kinit"


def words(text):
    """The pattern for GSS-API's error about a ticket.  Wine's SSPI has one
    status for all errors."""
    return r"SEC_E_INTERNAL_ERROR|there is none" if WINDOWS else text


class Guarded:
    """Lets requests with a valid ticket pass to an Mcp.

    each    every request needs a token; else only one on each connection,
            as with IIS
    mutual  the answer has the server's token
    persistent  the answer says that the connection stays authenticated
    """

    def __init__(self, case, server, name="127.0.0.1", keytab=None, each=True,
                 mutual=True, persistent=False):
        self.verifier = kerberos.Verifier(REALM, name, keytab)
        case.addCleanup(self.verifier.close)
        self.server = server
        self.each = each
        self.mutual = mutual
        self.persistent = persistent
        self.known = set()      # connections
        self.users = []
        self.refused = []
        server.before = self.look

    def look(self, rx, tx):
        if not self.each and rx.conn in self.known:
            return False
        known = self.verifier.check(rx.get("Authorization"))
        if known is None:
            self.refused.append(rx)
            tx.text(401, "who?", [("WWW-Authenticate", "Negotiate")])
            return True
        self.users.append(known[0])
        self.known.add(rx.conn)
        heads = []
        if self.mutual:
            heads.append(("WWW-Authenticate", "Negotiate " + known[1]))
        if self.persistent:
            heads.append(("Persistent-Auth", "true"))
        if heads:
            tx.parts = lambda data, ctype, headers: type(tx).parts(
                data, ctype, list(headers) + heads)
        return False


class Tickets(support.Case):
    def setUp(self):
        super().setUp()
        self.good = REALM.kinit(self.path("cc"))
        self.none = REALM.cache(self.path("nothing"))

    def guarded(self, **kw):
        s = self.mcp(**kw.pop("server", {}))
        return s, Guarded(self, s, **kw)

    def leaks(self, guard, *texts):
        """Checks that no token of a ticket is in these texts."""
        self.assertTrue(guard.verifier.tokens)
        for text in texts:
            for token in guard.verifier.tokens:
                self.assertNotIn(token[:40], text)
                self.assertNotIn(token[-40:], text)


class Server(Tickets):
    def begin(self, url, *args, **kw):
        return self.splice(url, "--negotiate", *args, **kw)

    def refusal(self, server, env, *args):
        """The error that initialize gets."""
        p = self.splice(server, *args, env=env)
        p.server = None
        p.send(init(1))
        error = p.answer(1)["error"]
        p.finish()
        return error

    def test_ticket(self):
        """Requests with each HTTP method carry a ticket, with each kind of
        server."""
        for kw in ({}, {"mutual": False}, {"each": False}):
            with self.subTest(kw):
                s, g = self.guarded(**kw)
                p = self.begin(s, "-vv", env=self.good)
                p.hello()
                for _ in range(3):
                    self.assertIn("result", p.tool())
                p.finish()
                self.deleted(s, s.made)
                self.assertEqual(set(g.users), {"user@" + kerberos.REALM})
                self.assertEqual(g.refused, [])
                if g.each:
                    self.assertEqual(len(g.users), len(s.requests))
                self.leaks(g, p.err())

    def test_trace_has_no_ticket(self):
        s, g = self.guarded()
        path = self.path("trace")
        p = self.begin(s, "-vv", "--trace", path, "--log-file",
                       self.path("log"), env=self.good)
        p.hello()
        p.tool()
        p.finish()
        with open(path) as trace, open(self.path("log")) as log:
            self.leaks(g, p.err(), trace.read(), log.read())

    def test_streams(self):
        """The listen stream and an answer as a stream work with tickets."""
        def stream(rx, tx):
            tx.sse()
            s.streams.put(tx)
            tx.gone(support.LIVE)

        def tool(rx, tx):
            tx.sse()
            tx.event({"jsonrpc": "2.0", "method": "notifications/message",
                      "params": {"level": "info", "data": "half"}})
            tx.answer({"content": []})

        s, g = self.guarded(server={"on_get": stream})
        s.methods["tools/call"] = tool
        p = self.begin(s, env=self.good)
        p.hello()
        s.streams.get(timeout=support.LIVE).event(
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        p.server_message("notifications/tools/list_changed")
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.seen(method="GET")), 1)
        self.assertEqual(len(s.seen(method="DELETE")), 1)
        self.assertEqual(g.refused, [])

    def test_session_is_renewed(self):
        s, g = self.guarded()
        p = self.begin(s, env=self.good)
        p.hello()
        p.tool()
        s.forget()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.made), 2)
        self.assertEqual(g.refused, [])

    def test_large_body(self):
        """A body that is sent in pieces arrives whole, once."""
        s, g = self.guarded()
        p = self.begin(s, env=self.good)
        p.hello()
        p.send(call(7, text="x" * 3000000))
        self.assertIn("result", p.answer(7))
        p.finish()
        sent = s.seen("tools/call")
        self.assertEqual([len(r.json["params"]["arguments"]["text"])
                          for r in sent], [3000000])

    def forgotten(self, answer=None):
        """The server authenticates connections, as IIS does, and forgets one:
        returns the answer to a call on that connection."""
        s, g = self.guarded(each=False, persistent=True)
        p = self.begin(s, env=self.good)
        p.hello()
        self.assertIn("result", p.tool())
        self.assertIsNone(s.seen("tools/call")[0].get("Authorization"))
        g.known.clear()
        if answer:
            s.methods["tools/call"] = answer
        p.send(call(7, text="x" * 300000))
        answer = p.answer(7)
        p.finish()
        first, second = s.seen("tools/call")[1:]
        self.assertIsNone(first.get("Authorization"))
        self.assertIsNotNone(second.get("Authorization"))
        self.assertEqual(first.body, second.body)
        self.assertEqual(len(s.executed), 2)
        self.assertEqual(len(s.made), 1)
        return answer

    def test_second_leg(self):
        """The server asks for the ticket: the call is sent again, and runs
        once."""
        self.assertIn("result", self.forgotten())

    def test_second_leg_is_cut(self):
        error = self.forgotten(lambda rx, tx: tx.cut())["error"]
        self.assertEqual((error["data"]["reason"], error["data"]["ran"]),
                         ("stream_lost", "maybe"))

    def test_second_leg_is_refused(self):
        """The call gets "maybe", as the tool may have run and passed on a
        403 that it got."""
        error = self.forgotten(lambda rx, tx: tx.text(403, "no"))["error"]
        self.assertEqual((error["data"]["reason"], error["data"]["ran"]),
                         ("auth_failed", "maybe"))

    def test_cut_after_the_ticket(self):
        """A call that was cut off may have run, as without a ticket."""
        s, g = self.guarded()
        s.methods["tools/call"] = lambda rx, tx: tx.cut()
        p = self.begin(s, env=self.good)
        p.hello()
        error = p.tool()["error"]
        self.assertEqual((error["data"]["reason"], error["data"]["ran"]),
                         ("stream_lost", "maybe"))
        self.assertEqual(len(s.seen("tools/call")), 1)
        p.finish()

    def test_no_ticket(self):
        s, g = self.guarded()
        error = self.refusal(s, self.none, "--negotiate")
        self.assertEqual(error["data"]["reason"], "auth_required")
        self.assertEqual(error["data"]["ran"], "no")
        self.assertRegex(error["message"], r"^127.0.0.1:\d+ refused the "
                         r"request \(401\): it requires a Kerberos ticket: " +
                         ADVICE + r".* \((%s)" % words("No .*[Cc]redentials"))
        self.assertEqual(s.made, [])

    def test_ticket_comes_later(self):
        """After kinit, the next request works."""
        s, g = self.guarded()
        p = self.begin(s, env=self.none)
        p.send(init(1))
        self.assertIn(ADVICE, p.answer(1)["error"]["message"])
        REALM.kinit(self.path("nothing"))
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()

    def test_expired_ticket(self):
        """A ticket expires in mid-session: a call gets an error, and after
        kinit calls work again."""
        s, g = self.guarded()
        short = REALM.kinit(self.path("short"), life="3s")
        p = self.begin(s, env=short)
        p.hello()
        self.assertIn("result", p.tool())
        limit = pace.Limit(support.LIVE)
        while limit.left() > 0:
            time.sleep(1)
            answer = p.tool()
            if "error" in answer:
                break
        message = answer["error"]["message"]
        self.assertRegex(message, ADVICE + ".*(%s)" % words("expired"))
        # the tool may have run, and passed on a 401 that it got
        self.assertEqual(answer["error"]["data"]["ran"], "maybe")
        REALM.kinit(self.path("short"))
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.made), 1, "the session outlives the ticket")

    def test_wrong_service(self):
        """The KDC has no service for the URL's host, or the server has
        another key."""
        s, g = self.guarded()
        url = s.url.replace("127.0.0.1", "localhost")
        error = self.refusal(url, self.good, "--negotiate")
        self.assertRegex(error["message"], words(
            "HTTP/localhost@%s not found in Kerberos database" %
            kerberos.REALM))
        s, g = self.guarded(keytab="other")
        error = self.refusal(s, self.good, "--negotiate")
        self.assertIn("it rejected the Kerberos ticket",
                      error["message"])
        self.assertTrue(g.verifier.tokens)

    def test_option_is_missing(self):
        """Without --negotiate, the error for a Kerberos challenge names the
        option, and the proxy looks for no OAuth sign-in."""
        for challenge in (["Negotiate"], ["NTLM"],
                          ["Negotiate", "NTLM", 'Basic realm="x"']):
            with self.subTest(challenge):
                s = self.mcp()
                s.before = lambda rx, tx: tx.text(
                    401, "who?", [("WWW-Authenticate", c)
                                  for c in challenge]) or True
                error = self.refusal(s, self.good)
                self.assertRegex(error["message"], "requires a Kerberos ticket: " +
                                 ADVICE + ".*, and add --negotiate")
                self.assertEqual(error["data"]["reason"], "auth_required")
                self.assertEqual([r.target for r in s.requests], ["/mcp"])

    def test_never_to_another_origin(self):
        """A ticket is sent to no other origin: neither after a redirect, nor
        to the URL that a Bearer challenge names."""
        other, og = self.guarded()
        s, g = self.guarded()
        s.init = [lambda rx, tx: tx.body(307, headers=[
            ("Location", other.url)])]
        error = self.refusal(s, self.good, "--negotiate")
        self.assertEqual(error["data"]["reason"], "bad_upstream")
        self.assertEqual(other.requests, [])
        s = self.mcp()
        s.before = lambda rx, tx: tx.text(401, "who?", [
            ("WWW-Authenticate", 'Bearer resource_metadata="%s"' %
             other.url)]) or True
        error = self.refusal(s, self.good, "--negotiate")
        self.assertEqual(error["data"]["reason"], "auth_required")
        self.assertEqual(other.requests, [])
        self.assertEqual([r.target for r in s.requests], ["/mcp"])

    def test_redirect_on_the_same_origin(self):
        s, g = self.guarded()
        s.init = [lambda rx, tx: tx.body(307, headers=[
            ("Location", "/moved")])]
        p = self.begin(s, env=self.good)
        p.hello()
        p.finish()
        self.assertEqual(g.refused, [])

    def test_http_1(self):
        """With --negotiate the proxy uses HTTP/1.1, despite --http2."""
        s, g = self.guarded(server={"tls": test_tls.context("one")},
                            name="mcp.test")
        p = self.begin("https://mcp.test:%d/mcp" % s.port, "--http2",
                       "--cacert", test_tls.file("ca1.pem"), "--resolve",
                       "mcp.test:%d:127.0.0.1" % s.port, env=self.good)
        p.server = s
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual({r.version for r in s.requests}, {"HTTP/1.1"})

    def test_check(self):
        def sign_in(server, *args, env=self.good):
            done = subprocess.run(
                [support.PROGRAM, "check", server.url, *args],
                env=self.environment(env), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout.decode()

        s, g = self.guarded()
        status, text = sign_in(s)
        self.assertNotEqual(status, 0)
        self.assertRegex(text, ADVICE + ".*, and add --negotiate")
        self.assertEqual(g.verifier.tokens, [])
        status, text = sign_in(s, "--negotiate", env=self.none)
        self.assertNotEqual(status, 0)
        self.assertRegex(text, "it requires a Kerberos ticket: " + ADVICE)
        status, text = sign_in(s, "--negotiate")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, "--negotiate provides them")
        self.leaks(g, text)


class Proxy(Tickets):
    """The proxy is squid, which refuses requests without a ticket."""

    CONFIG = """
http_port 127.0.0.1:%(port)d
pid_filename %(folder)s/pid
access_log stdio:%(folder)s/access.log
cache_log %(folder)s/cache.log
cache_store_log none
cache deny all
coredump_dir %(folder)s
hosts_file %(folder)s/hosts
visible_hostname proxy.test
shutdown_lifetime 0 seconds
pinger_enable off
netdb_filename none
auth_param negotiate program %(helper)s -k %(keytab)s -s HTTP/127.0.0.1@%(realm)s
auth_param negotiate children 2 startup=1 idle=1
auth_param negotiate keep_alive on
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
"""

    def setUp(self):
        super().setUp()
        self.folder = self.path("squid")
        os.mkdir(self.folder)
        self.port = ports.free_port()
        self.path("squid/hosts", "127.0.0.1 mcp.test\n")
        config = self.path("squid/squid.conf", self.CONFIG % {
            "port": self.port, "folder": self.folder, "realm": kerberos.REALM,
            "helper": kerberos.VERIFIER,
            "keytab": REALM.keytab("127.0.0.1")})
        if os.getuid() == 0:
            # squid drops root's rights, but its helper needs the keytab
            for path in (REALM.folder, self.tmp):
                os.chmod(path, 0o755)
            os.chmod(REALM.keytab("127.0.0.1"), 0o644)
            os.chmod(self.folder, 0o777)
        self.squid = subprocess.Popen(
            [kerberos.program("squid"), "-N", "-f", config], env=REALM.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        limit = pace.Limit(support.LIVE)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                if limit.left() <= 0:
                    self.fail("squid: " + self.log("cache.log"))
                time.sleep(0.05)
        self.address = "http://127.0.0.1:%d" % self.port

    def end(self):
        self.squid.terminate()
        self.squid.wait()

    def tearDown(self):
        if not self._outcome.success:
            for name in ("cache.log", "access.log"):
                print("squid's %s:\n%s" % (name, self.log(name)))
        super().tearDown()

    def log(self, name):
        try:
            with open(os.path.join(self.folder, name)) as f:
                return f.read()
        except OSError:
            return ""

    def begin(self, s, *args, **kw):
        if s.tls:
            args += ("--cacert", test_tls.file("ca1.pem"))
        p = self.splice("%s://mcp.test:%d/mcp" % (
            "https" if s.tls else "http", s.port), "--allow-http", "--proxy",
            self.address, *args, **kw)
        p.server = s
        return p

    def both(self):
        for tls in (None, test_tls.context("one")):
            with self.subTest(tls=tls is not None):
                yield self.mcp(tls=tls)

    def test_ticket(self):
        """Both with http, where squid sees each request, and with CONNECT, the
        server gets no ticket."""
        for s in self.both():
            p = self.begin(s, "--proxy-negotiate", "-vv", env=self.good)
            p.hello()
            for _ in range(2):
                self.assertIn("result", p.tool())
            p.send(call(7, text="x" * 300000))
            self.assertIn("result", p.answer(7))
            p.finish()
            self.deleted(s, s.made)
            self.assertEqual(len(s.seen("tools/call")), 3)
            for r in s.requests:
                self.assertIsNone(r.get("Authorization"))
                self.assertIsNone(r.get("Proxy-Authorization"))
            self.assertNotIn("YII", p.err())
        self.assertIn("user@" + kerberos.REALM, self.log("access.log"))

    def test_both_tickets(self):
        s = self.mcp()
        g = Guarded(self, s, name="mcp.test")
        p = self.begin(s, "--proxy-negotiate", "--negotiate", env=self.good)
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(set(g.users), {"user@" + kerberos.REALM})

    def refused(self, s, env, *args):
        p = self.begin(s, *args, env=env)
        p.server = None
        p.send(init(1))
        error = p.answer(1)["error"]
        p.finish()
        self.assertEqual(s.requests, [])
        self.assertEqual(error["data"]["reason"], "proxy_refused")
        self.assertEqual(error["data"]["ran"], "no")
        return error["message"]

    def test_no_ticket(self):
        for s in self.both():
            message = self.refused(s, self.none, "--proxy-negotiate")
            self.assertRegex(message, r"the proxy http://127.0.0.1:\d+ \(from "
                             r"--proxy\) requires a Kerberos ticket \(407: (%s)"
                             r".*To get one, %s.*\." % (
                                 words("No .*[Cc]redentials"), ADVICE))

    def test_wrong_service(self):
        """The KDC does not know the host name in the proxy's URL."""
        self.address = "http://localhost:%d" % self.port
        for s in self.both():
            message = self.refused(s, self.good, "--proxy-negotiate")
            self.assertRegex(message, words(
                "HTTP/localhost@%s not found in Kerberos database" %
                kerberos.REALM))

    def test_expired_ticket(self):
        short = REALM.kinit(self.path("short"), life="1s")
        time.sleep(4)
        for s in self.both():
            message = self.refused(s, short, "--proxy-negotiate")
            self.assertRegex(message, "(%s).*%s" % (words("expired"), ADVICE))

    def test_option_is_missing(self):
        for s in self.both():
            self.assertRegex(self.refused(s, self.good),
                             "add --proxy-negotiate|or --proxy-negotiate")


if __name__ == "__main__":
    test_tls.main(after=REALM.close)
