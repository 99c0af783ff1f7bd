"""Sign-in among enemies: a hostile MCP server, a hostile authorization server,
pages and programs on the same machine, odd surroundings.  What is refused is
refused with one clear message, before anything was opened or sent."""

import json
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

import authserver
import support
from authserver import error, having, html, redirect, status, without
from support import INITIALIZED, init, request

LONG = 60.0
IN_SPACE = "MCPSPLICE_E2E_SPACE"    # set in the network namespace
FUZZ_S = float(os.environ.get("E2E_FUZZ_SECONDS", "4"))
SAFE_URL = re.compile(r"\Ahttps?://[A-Za-z0-9\-._~:/?&=%#\[\]@+]*\Z")
PLACE = "/.well-known/oauth-protected-resource/mcp"

# What no terminal and no log line may get.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                 "\u202a-\u202e\u2066-\u2069]")

LINK_LOCAL = ["169.254.169.254", "169.254.169.254.", "169.254.1.1",
              "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE",
              "0251.0376.0251.0376", "169.16689662", "[::ffff:169.254.169.254]",
              "[::ffff:a9fe:a9fe]", "[::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]",
              "[2002:a9fe:a9fe::]", "[fd00:ec2::254]", "[fe80::1]",
              "0.0.0.0", "0", "[::]", "[ff02::1]", "224.0.0.1",
              "255.255.255.255", "100.100.100.200", "192.0.0.192",
              "168.63.129.16"]
LAN = ["10.0.0.1", "10.1", "167772161", "172.16.0.1", "192.168.1.1",
       "0300.0250.1.1", "100.64.0.1", "[fd12:3456::1]",
       "[::ffff:192.168.1.1]", "[64:ff9b::a00:1]"]


def answer(data, ctype="application/json", code=200, headers=()):
    return status(code, data, ctype, headers)


class Base(authserver.Case):
    def trap(self):
        """A server that nobody may come to."""
        return self.http(lambda rx, tx: tx.json({"issuer": "x"}))

    def scene(self, auth=None, **knobs):
        a = self.auth(**(auth or {}))
        return a, self.protected(a, **knobs), self.browser()

    def start(self, m, b, *args, **kw):
        return self.splice(m, "--browser", b.command, *args, **kw)

    def shut_out(self, m, b, *args, text=(), seconds=LONG, **kw):
        """initialize gets one error, with these words in it; all of it is
        fit for a terminal. Returns the message."""
        p = self.start(m, b, *args, **kw)
        p.send(init("hello"))
        e = self.our_error(p.answer("hello", seconds))
        said = e["message"] + json.dumps(e.get("data", {}))
        for word in (text,) if isinstance(text, str) else text:
            self.assertIn(word, said)
        self.clean(e["message"])
        self.clean(p.err())
        p.finish()
        return said

    def clean(self, text):
        self.assertIsNone(RAW.search(text.replace("\n", "")), repr(text))

    def untouched(self, a, b, registered=0):
        """Nobody was sent anywhere, and nothing was asked for."""
        self.assertEqual(b.opened(), [])
        self.assertEqual(a.authorizations, 0)
        self.assertEqual(a.token_requests(), 0)
        self.assertEqual(a.registrations, registered)

    def works(self, p):
        self.assertIn("result", p.tool(seconds=LONG))


class Places(Base):
    """What the MCP server says of where to sign in."""

    def one(self, prm, text, args=()):
        a, m, b = self.scene()
        m.always("prm", prm)
        said = self.shut_out(m, b, *args, text=text)
        self.untouched(a, b)
        return said

    def test_resource(self):
        for what in ("http://127.0.0.1:1/mcp", "https://evil.test/mcp",
                     "http://localhost.evil.test/mcp", "urn:x"):
            self.one(having(resource=what), "is for")

    def test_resource_beside_ours(self):
        a, m, b = self.scene()
        for what in ("/mc", "/mcp/x", "/mcp?a=b", "/mcp#x", "/other",
                     "/mcp%2f..", "//mcp", "/mcp;x"):
            m.always("prm", having(resource=m.origin + what))
            self.shut_out(m, b, text="is for")
        for what in (None, 7, [], {}, [m.url], True):
            m.always("prm", having(resource=what))
            self.shut_out(m, b, text="names no resource")
        self.untouched(a, b)

    def test_resource_metadata_of_another_origin(self):
        a, m, b = self.scene()
        trap = self.trap()
        for where in (trap.url[:-4], "http://localhost:%d" % m.port,
                      "https://127.0.0.1:%d" % m.port):
            m.challenge = lambda rx, e, s: 'Bearer resource_metadata="%s%s"' \
                % (where, PLACE)
            self.shut_out(m, b, text="--allow-cross-origin-prm")
        self.assertEqual(trap.connections, 0)
        self.untouched(a, b)

    def test_resource_metadata_with_odd_schemes(self):
        a, m, b = self.scene()
        for where in ("file:///etc/passwd", "ftp://127.0.0.1/x",
                      "gopher://127.0.0.1:1/_x", "dict://127.0.0.1/d",
                      "http://user:pw@127.0.0.1:%d/x" % m.port):
            m.challenge = lambda rx, e, s: 'Bearer resource_metadata="%s"' \
                % where
            self.shut_out(m, b)
            self.untouched(a, b)

    def test_schemes(self):
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/",
                    "javascript:alert(1)", "data:text/plain,x", "x",
                    "//127.0.0.1/", "", "-x", "http://u:p@127.0.0.1/",
                    "http://u@127.0.0.1/", "http://evil.test/",
                    "https://127.0.0.1:1/?x", "https://127.0.0.1:1/#x",
                    "https://127.0.0.1\n.evil.test/", "https://a b/",
                    "http://[::1/", "https://%31%32%37.0.0.1:x/"):
            self.one(having(authorization_servers=[url]), "")

    def test_authorization_servers_that_are_none(self):
        for what in (None, [], "x", {}, [[]], [None], [7], [True], [{}]):
            self.one(having(authorization_servers=what),
                     "names no sign-in server")

    def literal(self, hosts, text, args=()):
        a, m, b = self.scene()
        for host in hosts:
            m.always("prm", having(authorization_servers=[
                "https://%s/" % host]))
            with self.subTest(host):
                self.shut_out(m, b, *args, text=text)
        self.untouched(a, b)

    def test_reserved_addresses(self):
        self.literal(LINK_LOCAL, "never used")

    def test_reserved_addresses_even_when_private_ones_are_allowed(self):
        self.literal(LINK_LOCAL[:12], "never used", ["--allow-private-auth"])

    def test_private_addresses(self):
        self.literal(LAN, "--allow-private-auth")

    def test_names_of_refused_addresses(self):
        a, m, b = self.scene()
        m.always("prm", having(authorization_servers=["https://as.test"]))
        for address in ("169.254.169.254", "10.0.0.1", "[fe80::1]",
                        "[::ffff:169.254.169.254]", "192.168.0.1"):
            self.shut_out(m, b, "--resolve", "as.test:443:" + address,
                          text="private or reserved address")
        self.untouched(a, b)

    def test_documents(self):
        for step, text in (
                (html(), "web page"), (html(500), "500"),
                (answer("[]"), "not an object"), (answer("7"), "not an object"),
                (answer(""), "JSON"), (answer("{"), "not JSON"),
                (answer('{"a":1,"a":1}'), "twice"),
                (answer('{"x":{"\\u0061":1,"a":1}}'), "twice"),
                (answer('{"a\\u0000b":1}'), ""),
                (answer(b'{"a":"\xff"}'), "UTF-8"),
                (answer("{'a':1}"), "not JSON"),
                (answer('{"a":NaN}'), "not JSON"),
                (answer('{"a":"\x01"}'), "not JSON"),
                (answer('{"a":' * 40 + "1" + "}" * 40), "deeply"),
                (answer('{"a":' * 60000), "too large"),
                (answer("[" * 100000 + "]" * 100000), "deeply"),
                (answer('{"a":"%s"}' % ("x" * 300000)), "too large")):
            said = self.one(step, text)
            self.assertNotIn("xxxx", said)

    def test_redirects(self):
        a, m, b = self.scene()
        trap = self.trap()
        for code in (301, 302, 303, 307, 308):
            m.always("prm", redirect(trap.url, code))
            self.shut_out(m, b, text="another origin")
        for to in ("file:///etc/passwd", "javascript:x", "//x\\y", "\x7f"):
            m.always("prm", redirect(to))
            self.shut_out(m, b, text="redirects")
        m.always("prm", redirect(m.origin + PLACE))
        self.shut_out(m, b, text="too often")
        self.assertEqual(trap.connections, 0)
        self.untouched(a, b)

    def test_large_heads(self):
        for head in ([("X-Big", "x" * 1000000)],
                     [("X-%d" % i, "y" * 1000) for i in range(1000)],
                     [("X", "z")] * 20000):
            self.one(answer("{}", headers=head), "")

    def test_bombs(self):
        """A compressed document is not asked for, and not unpacked."""
        a, m, b = self.scene()
        m.always("prm", answer(b"\x1f\x8b\x08" + b"\0" * 500,
                               headers=[("Content-Encoding", "gzip")]))
        self.shut_out(m, b)
        self.untouched(a, b)
        asked = [r for r in m.requests if r.target == PLACE]
        self.assertTrue(asked)
        self.assertEqual([r.get("Accept-Encoding") for r in asked],
                         [None] * len(asked))

    def endless(self, head, part, pause):
        a, m, b = self.scene()
        sent = []

        def step(rx, tx):
            tx.begin()
            tx.keep = False
            try:
                tx.raw(head)
                while not m.closing.is_set():
                    tx.raw(part)
                    sent.append(len(part))
                    if pause:
                        m.closing.wait(pause)
            except OSError:
                pass
            tx.ended = True
        m.always("prm", step)
        p = self.start(m, b, "--init-timeout", "50", "--start", "wait")
        p.send(init("hello"))
        self.our_error(p.answer("hello", 90))
        self.untouched(a, b)
        p.finish(seconds=40)
        return sum(sent)

    def test_endless_document(self):
        n = self.endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json"
                         b"\r\n\r\n{\"a\":\"", b"x" * 65536, 0)
        self.assertLess(n, 64 << 20)

    def test_endless_head(self):
        n = self.endless(b"HTTP/1.1 200 OK\r\n", b"X-A: %s\r\n" % (b"y" * 900),
                         0)
        self.assertLess(n, 64 << 20)

    def test_endless_line_of_a_head(self):
        n = self.endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"y" * 9000, 0)
        self.assertLess(n, 64 << 20)

    def test_interim_answers_without_end(self):
        self.endless(b"", b"HTTP/1.1 103 Hints\r\nLink: <x>\r\n\r\n", 0)

    def test_slow_document(self):
        self.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
                     b" ", 0.5)


class Charsets(Base):
    """Bytes that are not UTF-8, where the task of the login process is
    made of them."""

    def test_challenge(self):
        a, m, b = self.scene()
        m.challenge = lambda rx, e, s: ('Bearer realm="caf\xe9", '
                                        'resource_metadata="%s%s"'
                                        % (m.origin, PLACE))
        p = self.start(m, b)
        p.hello()
        self.works(p)
        a.expire()
        self.works(p)
        self.assertEqual(len(b.opened()), 1)
        self.assertEqual(a.token_requests("refresh_token"), 1)

    def test_arguments(self):
        """A header and a file arrive as they were given."""
        a, m, b = self.scene()
        secret = self.path("caf") + "\udce9"
        with open(secret, "w") as f:
            f.write("a-secret")
        os.chmod(secret, 0o600)
        a.add_client("x", secret="a-secret")
        args = ["-H", "X-Name: caf\udce9",
                "--client-id", "x", "--client-secret-file", secret,
                "--issuer", a.issuer]
        self.may_hold.append(secret)
        for _ in range(2):
            p = self.start(m, b, *args)
            p.hello()
            self.works(p)
            a.expire()
            self.works(p)
            p.finish()
        self.assertEqual(len(b.opened()), 1)
        self.assertEqual(a.token_requests("refresh_token"), 2)
        self.assertEqual({r.get("X-Name") for r in m.requests
                          if r.method == "POST"}, {"caf\xe9"})


class Mixed(Base):
    """What is for one of the servers and must not come to the other."""

    def test_headers_and_cookies(self):
        a, m, b = self.scene()
        m.init_headers = [("Set-Cookie", "c=cookiecanary; Path=/")]
        p = self.start(m, b, "-H", "X-Api-Key: headercanary")
        p.hello()
        self.works(p)
        a.expire()
        self.works(p)
        a.revoke()
        self.works(p)
        self.assertEqual(len(b.opened()), 2)
        self.assertGreaterEqual(a.token_requests(), 3)
        # the cookie is in use, on the same host
        self.assertTrue([r for r in m.requests if r.get("Cookie")])
        for r in a.requests:
            self.assertNotIn("canary", str(r.headers).lower() +
                             r.body.decode().replace(a.mark, ""), r)
        for r in m.requests:
            if r.target.startswith("/.well-known/"):
                self.assertIsNone(r.get("Authorization"))
                self.assertIsNone(r.get("Cookie"))

    def test_addresses_behind_a_proxy(self):
        """The user's own proxy may be anywhere; what is asked of it may
        not."""
        a, m, b = self.scene()
        trap = self.trap()
        for host in LINK_LOCAL[:10] + LAN[:4]:
            m.always("prm", having(authorization_servers=[
                "http://%s/" % host]))
            self.shut_out(m, b, "--allow-http", "-x", trap.url[:-4],
                          "--noproxy", "127.0.0.1", text="address")
        self.assertEqual(trap.connections, 0)
        self.untouched(a, b)
        # names are the proxy's business
        m.always("prm", having(authorization_servers=["http://as.test/"]))
        self.shut_out(m, b, "--allow-http", "-x", trap.url[:-4], "--noproxy",
                      "127.0.0.1")
        self.assertGreater(trap.connections, 0)


class Servers(Base):
    """What the authorization server says of itself."""

    def test_bad_endpoints(self):
        a, m, b = self.scene()
        for name in ("authorization_endpoint", "token_endpoint",
                     "registration_endpoint", "revocation_endpoint",
                     "device_authorization_endpoint"):
            for url in ("javascript:alert(1)", "file:///bin/sh",
                        "data:text/html,x", "http://evil.test/",
                        "https://u:p@evil.test/", "-x", "ftp://e.test/",
                        "https://e.test/#x", "https://e.test\n/"):
                a.always("metadata", having(**{name: url}))
                self.shut_out(m, b, text=name)
        self.untouched(a, b)

    def test_pkce(self):
        name = "code_challenge_methods_supported"
        a, m, b = self.scene()
        for value in (["plain"], [], "S256", ["s256"], [["S256"]], {"S256": 1},
                      ["S256 "], True, ["plain", "S512"]):
            a.always("metadata", having(**{name: value}))
            self.shut_out(m, b, text="PKCE")
            # what is told to be missing cannot be assumed
            if value:
                self.shut_out(m, b, "--assume-pkce", text="PKCE")
        a.always("metadata", without(name))
        self.shut_out(m, b, text="--assume-pkce")
        self.untouched(a, b)

    def test_issuers(self):
        a, m, b = self.scene()
        for value in (None, 7, "", [], a.issuer + "//", a.issuer + "/x",
                      a.issuer + "?", "https://evil.test", " " + a.issuer,
                      a.issuer + "\u0000", a.issuer.replace("127.0.0.1",
                                                            "localhost")):
            a.always("metadata", having(issuer=value))
            self.shut_out(m, b, text="issuer")
        self.untouched(a, b)

    def test_issuers_written_in_another_way(self):
        """Behind the document the bytes count: iss has others."""
        for change in (lambda s: s + "/", str.upper):
            a, m, b = self.scene()
            a.always("metadata", having(issuer=change(a.issuer)))
            self.shut_out(m, b, text="(iss)")
            self.assertEqual(a.token_requests(), 0)

    def test_documents(self):
        a, m, b = self.scene()
        for step, text in (
                (html(), "web page"), (answer("[]"), "not an object"),
                (answer('{"issuer":"a","issuer":"b"}'), "twice"),
                (answer('{"a":"%s"}' % ("x" * 300000)), "too large"),
                (redirect("http://localhost:1/"), "another origin"),
                (status(500, "x"), "500")):
            a.always("metadata", step)
            self.shut_out(m, b, text=text)
        self.untouched(a, b)

    def test_registration(self):
        a, m, b = self.scene()
        trap = self.trap()
        for step in (redirect(trap.url, 307), redirect(trap.url, 308), html(),
                     answer("[]", code=201), answer("{}", code=201),
                     answer('{"client_id":""}', code=201),
                     answer('{"client_id":7}', code=201),
                     answer('{"client_id":"a\\u0007b"}', code=201),
                     answer('{"client_id":"%s"}' % ("x" * 100000), code=201),
                     answer('{"client_id":"a","client_id":"b"}', code=201),
                     answer('{"client_id":"a","client_secret":"\\u001b[2J"}',
                            code=201),
                     error("invalid_client_metadata", 400,
                           "\x1b]0;owned\x07\u202e\u009b2J")):
            a.always("register", step)
            shutil.rmtree(self.store(), ignore_errors=True)
            self.shut_out(m, b, text="did not register a client")
        self.assertEqual(trap.connections, 0)
        self.assertEqual((b.opened(), a.authorizations), ([], 0))

    def test_token_endpoint_at_a_reserved_address(self):
        """The code goes nowhere."""
        a, m, b = self.scene()
        for url in ("https://169.254.169.254/token",
                    "https://[::ffff:169.254.169.254]/token",
                    "https://2852039166/token"):
            shutil.rmtree(self.store(), ignore_errors=True)
            a.always("metadata", having(token_endpoint=url))
            self.shut_out(m, b, text="never used")
        self.assertEqual(a.token_requests(), 0)

    def tokens(self, step, text=""):
        shutil.rmtree(self.store(), ignore_errors=True)
        self.a.always("token", step)
        said = self.shut_out(self.m, self.b, text=text)
        for name, _, files in os.walk(self.store()):
            for f in files:
                with open(os.path.join(name, f)) as x:
                    self.assertNotIn("access_token", x.read())
        return said

    def test_token_answers(self):
        self.a, self.m, self.b = a, m, b = self.scene()
        trap = self.trap()
        for code in (301, 302, 303, 307, 308):
            self.tokens(redirect(trap.url, code), "redirect")
        self.assertEqual(trap.connections, 0)
        self.tokens(html(), "web page")
        self.tokens(answer("[]"), "not an object")
        self.tokens(answer('{"access_token":"a","access_token":"b"}'),
                    "twice")
        for doc in ({}, {"access_token": ""}, {"access_token": 7},
                    {"access_token": "a b", "token_type": "Bearer"},
                    {"access_token": "a\r\nX-Evil: 1",
                     "token_type": "Bearer"},
                    {"access_token": "a\u0000b", "token_type": "Bearer"},
                    {"access_token": "\u00e9", "token_type": "Bearer"},
                    {"access_token": "x" * 70000, "token_type": "Bearer"},
                    {"access_token": "a", "token_type": "mac"},
                    {"access_token": "a", "token_type": "Bearer",
                     "refresh_token": "b\n"},
                    {"error": "\x1b[31m", "error_description": "\x1b[2J"},
                    {"error": "invalid_grant", "error_description":
                     "call 0800\u202e\u009b31m\n\r\x07" * 50}):
            self.tokens(answer(json.dumps(doc)))
        # nobody was let in
        self.assertEqual(m.executed, [])

    def test_secrets_that_come_back_in_errors(self):
        """A server that puts what it got into its error's words."""
        self.a, self.m, self.b = a, m, b = self.scene()

        def step(rx, tx):
            tx.json({"error": "invalid_grant", "error_description":
                     "bad: " + rx.body.decode()}, 400)
        self.tokens(step, "invalid_grant")
        self.assertGreaterEqual(len(a.secrets()), 2)    # code, verifier


class Callback(Base):
    """What comes to the port that waits for the browser."""

    def waiting(self, *args, **knobs):
        """A login whose browser does not move. Returns the port, too."""
        a = self.auth(**knobs)
        m = self.protected(a)
        b = self.browser(follow=False)
        self.user = self.browser()
        p = self.start(m, b, "--init-timeout", "120", *args)
        p.send(init("hello"))
        self.url = b.url()
        q = dict(authserver.pairs(urllib.parse.urlsplit(self.url).query))
        self.state = q["state"]
        self.port = urllib.parse.urlsplit(q["redirect_uri"]).port
        return a, m, b, p

    def talk(self, data, seconds=15):
        """All that comes back."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port),
                                      timeout=seconds) as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    got += part
            except OSError:
                pass
        return got

    def get(self, query, host=None, head="", path="/callback", method="GET"):
        return self.talk(("%s %s?%s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (
            method, path, query, host or "127.0.0.1:%d" % self.port, head)
            ).encode("latin-1"))

    def ends_well(self, a, b, p):
        self.assertEqual(self.user.go(self.url), 0)
        self.assertIn("result", p.answer("hello", LONG))
        self.assertEqual(a.token_requests("authorization_code"), 1)
        p.send(INITIALIZED)
        self.works(p)
        self.assertEqual(len(b.opened()), 1)

    def test_pages_and_programs(self):
        a, m, b, p = self.waiting()
        good = "code=evil&state=%s&iss=%s" % (
            self.state, urllib.parse.quote(a.issuer, ""))
        name = "127.0.0.1:%d" % self.port
        # a secret of ours in each: only the right form of it all counts
        for answer_of in (
                lambda: self.get(good, host="evil.test"),
                lambda: self.get(good, host="evil.test:%d" % self.port),
                lambda: self.get(good, host="127.0.0.1"),
                lambda: self.get(good, host=name + "1"),
                lambda: self.get(good, host="[::1]:%d" % self.port),
                lambda: self.get(good, head="Host: evil.test\r\n"),
                lambda: self.get(good, method="POST"),
                lambda: self.get(good, method="OPTIONS",
                                 head="Origin: https://evil.test\r\n"),
                lambda: self.get(good, method="HEAD"),
                lambda: self.get(good, path="/"),
                lambda: self.get(good, path="/callback/"),
                lambda: self.get(good, path="//callback"),
                lambda: self.get(good, path="http://%s/callback" % name),
                lambda: self.get(good + "&state=x"),
                lambda: self.get(good + "&code=x"),
                lambda: self.get("code=evil"),
                lambda: self.get("code=evil&state="),
                lambda: self.get("code=evil&state=" + self.state[:-1]),
                lambda: self.get("code=evil&state=" + self.state + "x"),
                lambda: self.get("error=access_denied&state=x"),
                lambda: self.get("error=<script>alert(1)</script>"),
                lambda: self.get(good + "&x=%00"),
                lambda: self.get(good + "&x=%zz"),
                lambda: self.get(good.replace("code=evil", "code=")),
                lambda: self.get(good.replace("code=evil", "code=%0a")),
                lambda: self.talk(b"\x16\x03\x01\x02\x00\x01\x00"),
                lambda: self.talk(b"GET /callback?" + good.encode() +
                                  b"\n\n"),
                lambda: self.talk(b"GET /callback?" + good.encode() +
                                  b" HTTP/1.1\r\n\r\n"),
                lambda: self.talk(b"GET /callback?" + good.encode()),
                lambda: self.talk(b"A" * 100000),
                lambda: self.get("a=" + "x" * 100000),
                lambda: self.get(good, head="X: %s\r\n" % ("y" * 100000)),
                lambda: self.talk(b"")):
            got = answer_of()
            self.assertNotIn(b"HTTP/1.1 200", got)
            self.assertNotIn(b"script", got.replace(b"script-src", b""))
            self.assertNotIn(b"evil", got)
            self.assertNotIn(b"Access-Control", got)
            self.assertNotIn(self.state.encode(), got)
        self.assertEqual(a.token_requests(), 0)
        self.ends_well(a, b, p)

    def test_random_bytes(self):
        a, m, b, p = self.waiting()
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        good = ("GET /callback?code=x&state=%s HTTP/1.1\r\n"
                "Host: 127.0.0.1:%d\r\n\r\n" % ("s" * 43, self.port)).encode()
        for _ in range(300):
            data = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                if rng.random() < 0.5:
                    data[at] = rng.randrange(256)
                else:
                    data[at:at + rng.randrange(9)] = rng.randbytes(
                        rng.randrange(9))
            got = self.talk(bytes(data))
            self.assertNotIn(b"HTTP/1.1 200", got, "seed %d" % seed)
        self.ends_well(a, b, p)

    def hold_open(self, n):
        """Connections that say next to nothing."""
        held = []
        for i in range(n):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", self.port))
            held.append(s)
            self.addCleanup(s.close)
        return held

    def test_idle_connections(self):
        """A browser opens some ahead of need, and says nothing on them."""
        a, m, b, p = self.waiting()
        self.hold_open(4)
        self.ends_well(a, b, p)

    def test_many_connections(self):
        a, m, b, p = self.waiting()
        for _ in range(300):
            with socket.socket() as s:
                s.settimeout(5)
                try:
                    s.connect(("127.0.0.1", self.port))
                    s.sendall(b"GET / HT")
                except OSError:
                    pass
        self.ends_well(a, b, p)

    def test_slow_requests(self):
        """One byte at a time, on many connections, for as long as it takes."""
        a, m, b, p = self.waiting()
        done = threading.Event()

        def drip():
            while not done.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", self.port),
                                                  timeout=5) as s:
                        for c in b"GET /callback?" + b"x" * 500:
                            s.send(bytes([c]))
                            if done.wait(0.2):
                                break
                except OSError:
                    done.wait(0.05)
        threads = [threading.Thread(target=drip, daemon=True)
                   for _ in range(24)]
        for t in threads:
            t.start()
        try:
            self.ends_well(a, b, p)
        finally:
            done.set()
            for t in threads:
                t.join(20)

    def test_wrong_iss(self):
        for iss, advertised in (("https://evil.test", True), (None, True),
                                ("", True), ("x", False), ("HTTP", False)):
            a, m, b = self.scene({"iss": advertised})
            a.always("authorize", having(iss=iss) if iss is not None
                     else without("iss"))
            self.shut_out(m, b, text="(iss)")
            self.assertEqual(a.token_requests(), 0)

    def test_errors_of_somebody_else_are_not_shown(self):
        a, m, b = self.scene()
        a.always("authorize", lambda rx, tx: lambda doc: {
            "state": doc["state"], "iss": "https://evil.test",
            "error": "access_denied", "error_description": "call 0800-123"})
        self.assertNotIn("0800", self.shut_out(m, b, text="(iss)"))

    def test_words_of_a_denial(self):
        a, m, b = self.scene()
        a.always("authorize", authserver.deny(
            "access_denied", "\x1b]0;x\x07 \u202edlo \u009b2J\r\nFORGED" +
            "z" * 5000))
        said = self.shut_out(m, b, text="access_denied")
        self.assertLess(said.count("z"), 300)


class Urls(Base):
    """What is handed to browsers and people."""

    ODD = ("`id`", "$(id)", ";id", "&calc&", "|id", "'x'", '"x"', "\\x",
           "<x>", "^x", "{x}", "!x", "*", "(x)", "\u00e9\u202e", "%0a%1b",
           " x", "~x", "${IFS}", "%COMSPEC%")

    def test_payloads(self):
        for odd in self.ODD:
            a, m, b = self.scene()
            a.always("metadata", having(authorization_endpoint=a.issuer +
                                        "/authorize?x=" + odd))
            p = self.start(m, b)
            p.send(init("hello"))
            p.answer("hello", LONG)
            opened = b.opened()
            if odd == " x" and not opened:      # no URL, says libcurl
                continue
            self.assertEqual(len(opened), 1, odd)
            self.assertRegex(opened[0], SAFE_URL)
            shown = [line.split("open ")[1].split(" in a browser")[0]
                     for line in p.err().splitlines()
                     if "sign in to " in line]
            self.assertEqual(shown, opened)

    def test_no_shell(self):
        """The command is one program; what it is given stays one word."""
        a, m, b = self.scene()
        mark = self.path("mark")
        a.always("metadata", having(
            authorization_endpoint=a.issuer + "/authorize?x=`touch$IFS%s`;"
            "touch${IFS}%s" % (mark, mark)))
        p = self.splice(m, env={"BROWSER": b.command + " --new-window",
                                "DISPLAY": ":7"})
        p.hello()
        self.assertEqual(len(b.opened()), 1)
        self.assertFalse(os.path.exists(mark))

    def test_odd_browser_variables(self):
        for value in ("", " ", "/nonexistent", "/", "sh -c 'touch %s'" %
                      self.path("m"), "'", "a:b", "-x", "\x1b[2J", "a" * 9000,
                      "%s", "\\"):
            a, m, b = self.scene()
            p = self.splice(m, env={"BROWSER": value, "DISPLAY": ":7",
                                    "PATH": "/nowhere"})
            p.send(init("hello"))
            end = time.monotonic() + LONG
            while time.monotonic() < end and "/authorize?" not in p.err() \
                    and not p.messages:
                time.sleep(0.02)
            # said where to go, or what is wrong with the variable
            self.assertTrue("/authorize?" in p.err() or
                            "BROWSER" in p.messages[0]["error"]["message"],
                            repr(value))
            self.clean(p.err())
            self.assertTrue(p.alive())
            self.assertFalse(os.path.exists(self.path("m")))
            p.kill()

    def device(self, command=False, **fields):
        a, m, b = self.scene()
        a.always("device", having(**fields))
        if command:
            code, out, err = self.once(["login", m.url, "--auth", "device"],
                                       seconds=LONG)
            self.clean(out.decode("utf-8", "backslashreplace"))
            self.clean(err)
            return a, code, err
        p = self.start(m, b, "--auth", "device")
        p.send(init("hello"))
        got = p.answer("hello", LONG)
        self.assertEqual(b.opened(), [])
        self.clean(p.err())
        self.clean(json.dumps(got, ensure_ascii=False))
        return a, got, p.err()

    EVIL = ("\x1b[2J", "A\x07B", "A\nmcpsplice: all is well", "\u009b31m",
            "\u202eABC", "A" * 5000, "", "\u200eA")

    def test_device_codes(self):
        for evil in self.EVIL:
            for command in (False, True):
                a, got, err = self.device(command, user_code=evil)
                self.assertNotIn("\nmcpsplice: all is well", err)
                self.assertLess(err.count("A"), 1500)

    def test_device_pages(self):
        for evil in ("javascript:alert(1)", "file:///etc/passwd", "-x", "x",
                     "https://u:p@evil.test/", "http://evil.test/",
                     "https://e.test/\x1b[2J", "https://e.test/\n\nhttp://x"):
            for command in (False, True):
                a, got, err = self.device(
                    command, verification_uri=evil,
                    verification_uri_complete=evil)
                self.assertIn("no usable device code",
                              err if command else json.dumps(got))
                self.assertEqual(a.token_requests(), 0)

    def test_device_redirected(self):
        """No option names another endpoint for codes."""
        t = self.trap()
        a, m, b = self.scene()
        a.always("device", redirect(t.url, 307))
        said = self.shut_out(m, b, "--auth", "device",
                             text="must not be redirected")
        self.assertNotIn("--token-endpoint", said)
        self.assertEqual(t.requests, [])

    def test_device_pages_with_odd_letters(self):
        for evil in ("https://e.test/\u202egnp.exe", "https://e.test/\u009b2J",
                     "https://e.test/`id`$(id)"):
            for command in (False, True):
                a, got, err = self.device(
                    command, verification_uri=evil,
                    verification_uri_complete=evil)
                self.assertNotIn("`id`", err)
                self.assertNotIn("$(id)", err)

    def test_challenges_with_escapes(self):
        for value in ('Bearer error="\x1b[2J\x9b", scope="\x1b]0;x\x07"',
                      'Bearer error="invalid_token", error_description="'
                      + "y" * 7000 + '"', "Bearer " + "x" * 20000,
                      'Bearer scope="%s"' % " ".join(
                          "s%d" % i for i in range(1500)),
                      'Bearer resource_metadata="\xff\xfe"', ",,,,", '"',
                      'Bearer realm="' + '\\"' * 3000, "=" * 8000):
            a, m, b = self.scene()
            m.challenge = lambda rx, e, s: value
            p = self.start(m, b)
            p.send(init("hello"))
            got = p.answer("hello", LONG)
            self.clean(p.err())
            self.clean(json.dumps(got, ensure_ascii=False))
            self.assertLessEqual(len(b.opened()), 1)
            for url in b.opened():
                self.assertRegex(url, SAFE_URL)


class Endless(Base):
    """A server that is never content: tabs and requests are counted."""

    def calls(self, p, n):
        """One after the other; those that wait for a user are given up.
        Returns the answers."""
        got = []
        for _ in range(n):
            ident = p.start("tools/call", {"name": "echo", "arguments": {}})
            end = time.monotonic() + LONG
            while time.monotonic() < end:
                m = p.find(lambda m: m.get("id") == ident, 0.1)
                if m:
                    got.append(m)
                    break
                if "too many browser tabs" in p.err():
                    p.cancel(ident)
                    break
            else:
                self.fail("no answer; stderr %s" % p.err()[-2000:])
        return got

    def test_401_whatever_comes(self):
        a, m, b = self.scene(refuses_all=True)
        p = self.start(m, b)
        for i in range(6):
            p.send(init("i%d" % i))
            e = self.our_error(p.answer("i%d" % i, LONG))
            if i == 0:
                self.assertIn("just issued", e["message"])
        self.assertEqual(len(b.opened()), 1)
        self.assertEqual(a.registrations, 1)
        self.assertLessEqual(a.token_requests(), 2)
        self.assertLess(len(m.requests), 40)

    def test_401_from_the_first_call_on(self):
        a, m, b = self.scene()
        p = self.start(m, b)
        p.hello()
        m.refuses_all = True
        got = self.calls(p, 10)
        self.assertEqual(len(got), 10)
        for g in got:
            self.our_error(g)
        self.assertLessEqual(len(b.opened()), 2)
        self.assertLessEqual(a.token_requests(), 3)
        self.assertLess(len(m.requests), 80)

    def flap(self, **knobs):
        """Every token works once."""
        a, m, b = self.scene(knobs)
        used = {}

        def before(rx, tx):
            text = m.token_of(rx)
            if rx.rpc != "tools/call" or not text:
                return False
            used[text] = used.get(text, 0) + 1
            if used[text] > 1:
                m.say_no(rx, tx, 401, "invalid_token", None)
                return True
            return False
        route = m.route
        m.handler = lambda rx, tx: before(rx, tx) or route(rx, tx)
        p = self.start(m, b)
        p.hello()
        return a, m, b, p

    def test_401_and_200_in_turn(self):
        a, m, b, p = self.flap()
        n = 8
        for _ in range(n):
            self.assertIn("result", p.tool(seconds=LONG))
        self.assertEqual(len(b.opened()), 1)
        self.assertLessEqual(a.token_requests("refresh_token"), n)
        self.assertEqual(a.reuse_events, 0)

    def test_401_and_200_in_turn_without_refresh(self):
        a, m, b, p = self.flap(refreshes=False)
        self.calls(p, 6)
        self.assertLessEqual(len(b.opened()), 3)
        self.assertLessEqual(a.authorizations, 3)
        p.kill()

    def test_the_stream_alone_is_refused(self):
        """GET gets a 401 whatever token comes, calls work: nothing spins, and
        no tab opens for a stream."""
        def stubborn(m, code, error):
            m.handler = lambda rx, tx: m.say_no(
                rx, tx, code, error, "more") if rx.method == "GET" and \
                rx.target == "/mcp" and m.token_of(rx) else m.route(rx, tx)

        for code, error in ((401, "invalid_token"),
                            (403, "insufficient_scope")):
            a, m, b = self.scene()
            stubborn(m, code, error)
            p = self.start(m, b)
            p.hello()
            end = time.monotonic() + 6
            while time.monotonic() < end:
                self.works(p)
                self.settle(0.2)
            p.finish()
            gets = [r for r in m.requests if r.method == "GET" and
                    r.target == "/mcp"]
            self.assertTrue(gets)
            self.assertLess(len(gets), 20)
            self.assertLess(a.token_requests(), 10)
            self.assertEqual(len(b.opened()), 1)

    def test_notes_alone_are_refused(self):
        a, m, b = self.scene()
        m.handler = lambda rx, tx: m.say_no(
            rx, tx, 401, "invalid_token", None) if (rx.rpc or "").startswith(
                "notifications/") else m.route(rx, tx)
        p = self.start(m, b)
        p.send(init("hello"))
        p.answer("hello", LONG)
        for _ in range(5):
            p.send(INITIALIZED)
            p.tool(seconds=LONG)
        self.settle(2)
        self.assertLess(len(m.requests), 80)
        self.assertLess(a.token_requests(), 15)
        self.assertLessEqual(len(b.opened()), 2)

    def one_scope_more(self, m):
        """Each call wants one scope more. Returns a list with how often they
        came."""
        n = [0]
        route = m.route

        def more(rx, tx):
            if rx.rpc != "tools/call" or m.token_of(rx) is None:
                return route(rx, tx)
            n[0] += 1
            return m.say_no(rx, tx, 403, "insufficient_scope", "s%d" % n[0])
        m.handler = more
        return n

    def new_scopes(self, *args, **kw):
        a, m, b = self.scene()
        n = self.one_scope_more(m)
        p = self.start(m, b, *args, **kw)
        p.hello()
        e = self.our_error(p.tool(seconds=LONG), "auth_failed")
        self.assertIn("it keeps asking for more scopes", e["message"])
        self.assertEqual(n[0], 3)                       # it did step up
        self.calls(p, 5)
        self.assertLessEqual(len(b.opened()), 3)
        self.assertLessEqual(n[0], 6 * 3)
        p.kill()

    def test_a_new_scope_each_time(self):
        self.new_scopes()

    def test_a_new_scope_each_time_without_a_store(self):
        self.new_scopes(env={"HOME": None})

    def test_a_new_scope_each_time_without_a_user(self):
        """Each call is sent once more, and tokens are asked for 20 times in a
        row, then once in 10 seconds."""
        a, m, b = self.scene()
        n = self.one_scope_more(m)
        c = a.add_client("known", "client_secret_post", "secret")
        p = self.start(m, b, "--auth", "client-credentials", "--client-id",
                       "known", "--client-secret-env", "CS", "--issuer",
                       a.issuer, env={"CS": c.secret})
        begin = time.monotonic()
        p.hello()
        for i in range(1, 41):
            e = self.our_error(p.tool(seconds=LONG), "auth_failed")
            self.assertLessEqual(n[0], 2 * i)
            if i == 1:
                self.assertEqual(n[0], 2)
                self.assertIn("it keeps asking for more scopes", e["message"])
        passed = time.monotonic() - begin
        if passed < 100:
            self.assertIn("new tokens too soon", e["message"])
        asked = a.token_requests("client_credentials")
        self.assertGreaterEqual(asked, 20)
        self.assertLessEqual(asked, 20 + passed / 10)
        p.finish()

    def test_a_new_token_each_time(self):
        """A server takes each token for one call."""
        a, m, b = self.scene()
        p = self.start(m, b)
        begin = time.monotonic()
        p.hello()
        for i in range(40):
            a.expire()
            answer = p.tool(seconds=LONG)
            if i < 5:
                self.assertIn("result", answer)
        passed = time.monotonic() - begin
        if passed < 100:
            self.assertIn("new tokens too soon",
                          self.our_error(answer, "auth_required")["message"])
        self.assertLessEqual(a.token_requests("refresh_token"),
                             20 + passed / 10)
        self.assertEqual(len(b.opened()), 1)
        p.finish()

    def test_the_next_copy_opens_no_more(self):
        """The count is the store's, not the process's."""
        a, m, b = self.scene({"refreshes": False})
        m.refuses_all = True
        for _ in range(5):
            p = self.start(m, b, "--init-timeout", "10")
            p.send(init("hello"))
            end = time.monotonic() + LONG
            while time.monotonic() < end and not p.messages and \
                    "too many browser tabs" not in p.err():
                time.sleep(0.02)
            p.kill()
        self.assertLessEqual(len(b.opened()), 3)

    def test_a_thousand_scopes(self):
        a, m, b = self.scene()
        m.prm_scopes = ["scope-%d-%s" % (i, "x" * 20) for i in range(3000)]
        p = self.start(m, b, "--init-timeout", "6")
        p.send(init("hello"))
        p.answer("hello", LONG)
        self.assertTrue(p.alive())
        self.assertLessEqual(len(b.opened()), 1)
        self.clean(p.err())


class Folders(Base):
    """A store that somebody else has laid out."""

    def used(self, prepare, check, *args):
        a, m, b = self.scene()
        os.makedirs(os.path.dirname(self.store()), mode=0o700, exist_ok=True)
        prepare()
        p = self.start(m, b, *args)
        p.hello()
        self.works(p)
        self.assertEqual(len(b.opened()), 1)
        p.finish()
        check()
        self.clean(p.err())
        shutil.rmtree(os.path.join(self.home, ".local"), ignore_errors=True)

    def files(self, folder):
        return sorted(os.listdir(folder))

    def test_symlink(self):
        other = self.path("other")
        os.mkdir(other, 0o700)
        self.used(lambda: os.symlink(other, self.store()),
                  lambda: self.assertEqual(self.files(other), []))

    def test_modes(self):
        for mode in (0o777, 0o770, 0o720, 0o702):
            def prepare():
                os.mkdir(self.store())
                os.chmod(self.store(), mode)

            def check():
                now = stat.S_IMODE(os.stat(self.store()).st_mode)
                self.assertTrue(now == 0o700 or not self.files(self.store()),
                                "%o" % now)
            self.used(prepare, check)

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_owner(self):
        def prepare():
            os.mkdir(self.store(), 0o700)
            os.chown(self.store(), 12345, 12345)
        self.used(prepare, lambda: self.assertEqual(
            self.files(self.store()), []))

    def test_file_in_its_place(self):
        self.used(lambda: self.path("home/.local/state/mcpsplice/auth", "x"),
                  lambda: self.assertTrue(os.path.isfile(self.store())))

    def test_umask(self):
        a, m, b = self.scene()
        p = self.splice(m, "--browser", b.command)
        p.hello()
        p.finish()
        for folder, _, files in os.walk(self.store()):
            self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
            self.assertTrue(files)
            for f in files:
                st = os.lstat(os.path.join(folder, f))
                self.assertEqual(stat.S_IMODE(st.st_mode), 0o600, f)
                self.assertEqual(st.st_nlink, 1)

    def record(self):
        (name,) = [f for f in os.listdir(self.store())
                   if f.endswith(".json")]
        return os.path.join(self.store(), name)

    def test_records_of_others(self):
        """A record that could be somebody else's is neither believed nor
        written through."""
        a, m, b = self.scene()
        p = self.start(m, b)
        p.hello()
        p.finish()
        name = self.record()
        with open(name, "rb") as f:
            good = f.read()
        planted = good.replace(b'"access', b'"x-access')
        other = self.path("planted", planted, 0o600)
        self.may_hold.append(other)

        def symlink():
            os.symlink(other, name)

        def hardlink():
            os.link(other, name)

        def readable():
            self.path(os.path.relpath(name, self.tmp), good, 0o644)

        def fifo():
            os.mkfifo(name, 0o600)

        def folder():
            os.mkdir(name)

        def junk(data):
            return lambda: self.path(os.path.relpath(name, self.tmp), data,
                                     0o600)
        for lay, works in ((symlink, False), (hardlink, False),
                           (readable, False), (fifo, False), (folder, False),
                           (junk(b""), None), (junk(b"\0" * 5000), None),
                           (junk(good[:-20]), None), (junk(b"{" * 9000), None),
                           (junk(b"x" * 3000000), None), (junk(b"[]"), None),
                           (junk(good + good), None)):
            if os.path.isdir(name):
                os.rmdir(name)
            elif os.path.lexists(name):
                os.unlink(name)
            lay()
            p = self.start(m, b)
            p.send(init("hello"))
            got = p.answer("hello", LONG)
            if works is False or "error" in got:
                self.assertIn(os.path.basename(name),
                              self.our_error(got)["message"])
                self.assertEqual(len(b.opened()), 1)
            p.finish()
            self.clean(p.err())
            with open(other, "rb") as f:
                self.assertEqual(f.read(), planted)
            # tabs are not what is tested here
            for f in os.listdir(self.store()):
                if f.startswith("pending"):
                    os.unlink(os.path.join(self.store(), f))


class Surroundings(Base):
    """A parent that leaves us in odd shape."""

    def pipe(self, m, b, **kw):
        """One request, by --handshake, with a sign-in."""
        env = kw.pop("env", {})
        return self.once([m.url, "--browser", b.command, "--handshake"],
                         support.lines(request(1, "tools/call",
                                               {"name": "echo",
                                                "arguments": {}})),
                         env=env, seconds=LONG, **kw)

    def good(self, **kw):
        a, m, b = self.scene()
        status, out, err = self.pipe(m, b, **kw)
        self.assertEqual((status, len(m.executed)), (0, 1), err)
        self.assertIn("result", json.loads(out))
        self.assertEqual(len(b.opened()), 1)
        return err

    def test_home(self):
        for home in (None, "", "relative", "/nonexistent/x", "/dev/null",
                     "/proc", "\x1b[2J"):
            self.good(env={"HOME": home}, cwd=self.tmp)
        self.assertFalse(os.path.exists(self.path("relative")))

    def test_path(self):
        for path in ("", None, "/nonexistent", ".", ":::"):
            self.good(env={"PATH": path})

    def test_sigchld_ignored(self):
        self.good(preexec_fn=lambda: signal.signal(signal.SIGCHLD,
                                                   signal.SIG_IGN))

    def test_signals_blocked(self):
        self.good(preexec_fn=lambda: signal.pthread_sigmask(
            signal.SIG_BLOCK, range(1, 65)))

    def test_many_descriptors(self):
        """None of them comes to the browser."""
        fds = []
        for _ in range(500):
            r, w = os.pipe()
            fds += [r, w]
        try:
            a, m, b = self.scene()
            status, out, err = self.pipe(m, b, pass_fds=fds)
            self.assertEqual((status, len(m.executed)), (0, 1), err)
            (w,) = b.witness()
            self.assertLess(max(w["fds"]), 10)
        finally:
            for fd in fds:
                os.close(fd)

    def test_few_descriptors(self):
        import resource
        for n in (24, 40):
            self.good(preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (n, n)))

    def test_stdio_closed(self):
        a, m, b = self.scene()
        for fds in ((2,), (0,), (0, 2), (1,), (0, 1, 2)):
            shutil.rmtree(self.store(), ignore_errors=True)
            before = len(b.opened())
            r = subprocess.run(
                [support.PROGRAM, "login", m.url, "--browser", b.command],
                env={k: v for k, v in {"HOME": self.home,
                     **{k: os.environ[k] for k in support.ENV_KEPT
                        if k in os.environ}}.items()},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=LONG,
                preexec_fn=lambda: [os.close(fd) for fd in fds])
            self.assertEqual(r.returncode, 0, fds)
            self.assertEqual(len(b.opened()), before + 1)

    def test_no_core(self):
        """None is written, of the proxy and of its login process."""
        import resource
        a, m, b = self.scene()
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 and os.getuid():
            self.skipTest("no cores here anyway")
        seen = self.path("limits")
        slow = self.path("slow", "#!/bin/sh\ncat /proc/$PPID/limits >%s\n"
                         "exec %s \"$@\"\n" % (seen, b.command), 0o700)
        r = subprocess.Popen(
            [support.PROGRAM, m.url, "--browser", slow],
            env={k: v for k, v in {"HOME": self.home, **{
                k: os.environ[k] for k in support.ENV_KEPT
                if k in os.environ}}.items()},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
        try:
            r.stdin.write(support.lines(init("hello")))
            r.stdin.flush()
            self.assertIn(b"result", r.stdout.readline())
            with open("/proc/%d/limits" % r.pid) as f, open(seen) as g:
                for text in (f.read(), g.read()):
                    self.assertRegex(text, r"Max core file size +0 ")
        finally:
            r.kill()
            r.wait()
            r.stdin.close()
            r.stdout.close()

    def test_files_of_the_working_folder(self):
        """Nothing there is believed."""
        folder = self.path("cwd")
        os.mkdir(folder)
        for name in ("mcpsplice.conf", ".mcpsplice", ".netrc", "xdg-open",
                     "config", ".env"):
            self.path("cwd/" + name, "issuer https://evil.test\n", 0o700)
        self.good(cwd=folder, env={"PATH": ""})



class Helpers(Base):
    """--auth-command, when the helper is not what it should be."""

    CANARY = "helpercanary" + os.urandom(6).hex()

    def helper(self, text):
        return self.path("helper-%d" % self.count(), "#!/bin/sh\n" + text,
                         0o700)

    def failed(self, text, *args):
        s = self.mcp()
        p = self.splice(s, "--auth-command", self.helper(text), *args)
        p.send(init("hello"))
        e = self.our_error(p.answer("hello", LONG + 30))
        self.assertNotIn(self.CANARY, json.dumps(e))
        self.clean(p.err())
        if "-vv" not in args:
            self.assertNotIn(self.CANARY, p.err())
        self.assertEqual([r for r in s.requests if r.rpc == "initialize" and
                          r.get("Authorization")], [])
        p.kill()

    def test_failures(self):
        c = self.CANARY
        for text in ("echo %s >&2; exit 3" % c, "echo %s; exit 0" % c,
                     "echo '{\"token\":\"%s\"}'; exit 9" % c,
                     "printf '%%s' '{\"version\":1,\"token\":\"%s\\r\\nX: y\"}'"
                     % c, "kill -9 $$", "printf '{\"a'", "true",
                     "echo '{\"version\":1,\"token\":\"a\",\"token\":\"b\"}'",
                     "echo '{\"version\":1,\"headers\":{\"A b\":\"%s\"}}'" % c,
                     "echo '{\"version\":1,\"headers\":{\"Host\":\"%s\"}}'" % c,
                     "yes %s | head -c 3000000" % c,
                     "exec yes %s" % c):
            self.failed(text, "-v")

    def test_noise(self):
        """MBs on stderr do not stop it, and are not in the way."""
        s = self.mcp()
        c = self.CANARY
        p = self.splice(s, "-v", "--auth-command", self.helper(
            "yes %s | head -c 5000000 >&2\n"
            "echo '{\"version\":1,\"token\":\"%s\"}'\n" % (c, c)))
        p.hello()
        self.works(p)
        self.assertNotIn(c, p.err())
        self.assertEqual({r.get("Authorization") for r in s.requests},
                         {"Bearer " + c})
        with open("/proc/%d/cmdline" % p.pid) as f:
            self.assertNotIn(c, f.read())

    def test_stores(self):
        """--auth-store helper:CMD that does not what it should."""
        def one(text):
            a, m, b = self.scene()
            p = self.start(m, b, "-v", "--init-timeout", "50", "--auth-store",
                           "helper:" + self.helper(text))
            p.send(init("hello"))
            p.answer("hello", LONG)
            self.assertNotIn(self.CANARY, p.err())
            self.clean(p.err())
            self.assertTrue(p.alive())
            self.assertLessEqual(len(b.opened()), 1)
            p.kill()
        c = self.CANARY
        self.each(("exit 1", "kill -9 $$", "exec yes " + c,
                   "echo %s >&2; exit 1" % c, "echo %s" % c, "echo '{}'",
                   "echo '{\"token\":{\"access_token\":\"%s\\n\"}}'" % c,
                   "cat"), one, 4)

    def keeper(self, get):
        """A store that keeps one record, whatever its name is."""
        kept = self.path("kept")
        self.may_hold.append(kept)
        return "helper:" + self.helper(
            "K=%s\ncase $1 in\nget) cat >/dev/null; test -f $K || exit 0\n"
            "%s ;;\nstore) sed '1,/^$/d' >$K ;;\nerase) rm $K ;;\nesac\n"
            % (kept, get))

    def test_one_record_for_all(self):
        """The token of the first server is not for the second, nor for
        another profile."""
        store = self.keeper("cat $K")
        a, m, b = self.scene()
        p = self.start(m, b, "--auth-store", store)
        p.hello()
        self.works(p)
        p.finish()
        a2, m2, b2 = self.scene()
        for server, more in ((m2, ()), (m, ("--profile", "work"))):
            before = len(server.requests)
            self.shut_out(server, b2, "--auth-store", store, *more,
                          text="the record of another server or profile")
            for r in server.requests[before:]:
                self.assertIsNone(r.get("Authorization"))
        self.untouched(a2, b2)
        self.assertEqual(a.authorizations, 1)

    def test_record_that_cannot_be_read(self):
        """After the sign-in the error has the reason."""
        a, m, b = self.scene()
        self.shut_out(m, b, "--auth-store", self.keeper("head -c 90 $K"),
                      text="it is not JSON")
        self.assertEqual(a.authorizations, 1)

    @support.alone
    def test_hangs(self):
        s = self.mcp()
        mark = self.path("pid")
        p = self.splice(s, "--init-timeout", "55", "--start", "wait",
                        "--auth-command",
                        self.helper("echo $$ >%s\ntrap '' TERM HUP INT\n"
                                    "while :; do sleep 1; done\n" % mark))
        p.send(init("hello"))
        self.our_error(p.answer("hello", 90))
        with open(mark) as f:
            pid = int(f.read())
        end = time.monotonic() + LONG
        while not support.gone(pid) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(support.gone(pid), "the helper lives on")


class Canaries(Base):
    """Every credential is a word of its own, which is found nowhere but where
    it belongs: tearDown looks through all files and all of stdout."""

    def setUp(self):
        super().setUp()
        self.words = []

    def secrets(self):
        return super().secrets() + [w.encode() for w in self.words]

    def word(self, kind):
        w = "canary%s%s" % (kind, os.urandom(6).hex())
        self.words.append(w)
        return w

    def secret_file(self, name, text):
        path = self.path(name, text, 0o600)
        self.may_hold.append(path)
        return path

    def noisy(self):
        return ["-vv", "--log-file", self.path("log-%d" % self.count()),
                "--trace", self.path("trace-%d" % self.count()),
                "--log-format", random.choice(("text", "json"))]

    def look_around(self, p, b):
        """argv and environment of what runs, and the dump."""
        os.kill(p.pid, signal.SIGUSR1)
        with open("/proc/%d/cmdline" % p.pid) as f:
            seen = f.read()
        for w in b.witness():
            seen += json.dumps([w["env"], w["parent"]])
        for text in self.secrets():
            self.assertNotIn(text.decode(), seen)

    def all_of_it(self, a, m, b, p):
        p.hello()
        self.works(p)
        a.expire()
        self.works(p)
        m.tool_scopes["echo"] = "extra"
        self.works(p)
        a.revoke()
        m.tool_scopes.clear()
        self.works(p)
        self.look_around(p, b)

    def test_person(self):
        a, m, b = self.scene()
        p = self.start(m, b, *self.noisy())
        self.all_of_it(a, m, b, p)
        p.finish()
        self.assertGreater(len(a.secrets()), 8)
        self.once(["status", m.url, "-vv"])
        for args in (["status", m.url], ["status"], ["logout", m.url]):
            code, out, err = self.once(args + self.noisy(), seconds=LONG)
            self.assertEqual(code, 0, err)
            for text in self.secrets():
                self.assertNotIn(text, out + err.encode())

    def test_registered_secret(self):
        for method in ("client_secret_basic", "client_secret_post"):
            a, m, b = self.scene({"methods": [method]})
            self.all_of_it(a, m, b, self.start(m, b, *self.noisy()))

    def test_given_secret(self):
        for how in ("file", "env"):
            a, m, b = self.scene()
            c = a.add_client("known", "client_secret_post",
                             self.word("secret"))
            env = {"CS": c.secret} if how == "env" else {}
            args = ["--client-secret-env", "CS"] if how == "env" else [
                "--client-secret-file", self.secret_file("cs", c.secret)]
            p = self.start(m, b, "--client-id", "known", *args, "--issuer",
                           a.issuer, *self.noisy(), env=env)
            p.hello()
            self.works(p)
            self.look_around(p, b)
            self.assertTrue(b.witness())
            p.finish()
            shutil.rmtree(self.store())

    def test_variables_in_files(self):
        """Files may name variables that have secrets."""
        word = self.word("header")
        header = self.path("headers", "X-Key: ${IN_HEADERS}\n", 0o600)
        for at in ("", "@"):
            a, m, b = self.scene()
            c = a.add_client("known", "client_secret_post",
                             self.word("secret"))
            info = json.dumps({"client_id": "known",
                               "client_secret": "${IN_INFO}"})
            if at:
                info = "@" + self.path("info", info, 0o600)
            p = self.start(m, b, "-H", "@" + header,
                           "--static-oauth-client-info", info, "--issuer",
                           a.issuer, *self.noisy(), env={"IN_HEADERS": word, "IN_INFO": c.secret})
            p.hello()
            self.works(p)
            self.assertEqual({r.get("X-Key") for r in m.requests
                              if r.rpc == "tools/call"}, {word})
            self.look_around(p, b)
            self.assertTrue(b.witness())
            p.finish()
            shutil.rmtree(self.store())

    def test_open_files(self):
        """A warning names each file that others can read, and what to do."""
        a, m, b = self.scene()
        key = self.path("key")
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-out", key], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        word = self.path("word", "word", 0o644)
        for args, name in (
                (["--client-id", "x", "--client-secret-file", word], word),
                (["--auth", "client-credentials", "--client-id", "x",
                  "--client-key", key], key),
                (["--key", key, "--cert", key, "--key-password-file", word],
                 word),
                (["--key", key, "--cert", key], key)):
            for mode, warns in ((0o644, True), (0o640, True), (0o600, False)):
                os.chmod(name, mode)
                code, out, err = self.once(["login", m.url, "--no-browser",
                                            "--login-timeout", "1"] + args,
                                           seconds=LONG)
                self.assertEqual(name + " holds a credential and other users can read it; \"chmod 600\" it" in err,
                                 warns, (args, err))
        a.violations.clear()    # it knows no client x

    def test_machine(self):
        a, m, b = self.scene()
        c = a.add_client("known", "client_secret_post", self.word("secret"))
        p = self.start(m, b, "--auth", "client-credentials", "--client-id",
                       "known", "--client-secret-env", "CS", "--issuer",
                       a.issuer, *self.noisy(), env={"CS": c.secret})
        p.hello()
        self.works(p)
        a.expire()
        self.works(p)
        self.look_around(p, b)
        self.assertEqual(b.opened(), [])

    def test_failures(self):
        """The server tells what it got, in every way it has."""
        a, m, b = self.scene()
        for endpoint in ("token", "register"):
            for echo in (lambda rx: rx.body.decode(),
                         lambda rx: str(rx.headers)):
                def step(rx, tx):
                    text = echo(rx)
                    tx.json({"error": "invalid_request",
                             "error_description": text, "error_uri": text},
                            400, [("X", text[:500].replace("\n", " "))])
                a.always(endpoint, step)
                shutil.rmtree(self.store(), ignore_errors=True)
                self.shut_out(m, b, *self.noisy())
            a.always(endpoint)

    def test_given_headers(self):
        for code in (200, 401, 403, 500):
            s = self.mcp()
            value = self.word("header")
            bearer = self.word("bearer")
            if code != 200:
                s.before = lambda rx, tx: tx.text(
                    code, "you sent " + rx.get("Authorization"),
                    [("WWW-Authenticate", "Bearer")]) or True
            p = self.splice(s, "-H", "X-Api-Key: ${KEY}", "--bearer-file",
                            self.secret_file("b", bearer), *self.noisy(),
                            env={"KEY": value})
            p.send(init("hello"))
            p.answer("hello", LONG)
            self.assertEqual({r.get("X-Api-Key") for r in s.requests},
                             {value})
            self.assertEqual({r.get("Authorization") for r in s.requests},
                             {"Bearer " + bearer})
            os.kill(p.pid, signal.SIGUSR1)
            p.finish()

    def test_header_in_argv(self):
        s = self.mcp()
        value = self.word("argv")
        p = self.splice(s, "-H", "Authorization: Bearer " + value,
                        *self.noisy())
        p.hello()
        self.assertEqual({r.get("Authorization") for r in s.requests},
                         {"Bearer " + value})
        with open("/proc/%d/cmdline" % p.pid) as f:
            self.assertNotIn(value, f.read())

    def test_netrc(self):
        s = self.mcp()
        password = self.word("netrc")
        p = self.splice(s, "--netrc-file", self.secret_file(
            "n", "machine 127.0.0.1 login me password %s\n" % password),
            *self.noisy())
        p.hello()
        self.works(p)
        (got,) = {r.get("Authorization") for r in s.requests}
        self.words.append(got.split()[1])
        os.kill(p.pid, signal.SIGUSR1)

    def test_url_with_secrets(self):
        a, m, b = self.scene()
        m.resource = m.url
        w = self.word("query")
        p = self.splice(m.url + "?key=" + w, "--browser", b.command,
                        *self.noisy())
        m.handler = lambda rx, tx: (setattr(
            rx, "target", rx.target.replace("?key=" + w, "")),
            m.route(rx, tx))
        p.send(init("hello"))
        self.assertIn("result", p.answer("hello", LONG))


DONE = {}       # instead of a document: the answer was sent already


def send_unless_done(tx, doc, code=200, send=authserver.send):
    if doc is not DONE:
        send(tx, doc, code)


authserver.send = send_unless_done


class Fuzz(Base):
    """Valid documents with mistakes in them."""

    VALUES = [None, True, 0, -1, 1e308, 2 ** 63, "", "x", "\u0000", "\n",
              "\x1b[2J", "\u202e", "x" * 70000, [], {}, [[]], [None],
              "http://127.0.0.1:1/", "https://169.254.169.254/",
              "javascript:alert(1)", "http://u:p@h/", "http://[::1",
              "Bearer", "bearer", "mac", -1e9, 1.5, "3600", "S256", ["S256"]]

    def mutate(self, rng, doc):
        doc = json.loads(json.dumps(doc))
        for _ in range(rng.randrange(1, 4)):
            k = rng.choice(sorted(doc) or ["x"])
            what = rng.randrange(4)
            if what == 0:
                doc.pop(k, None)
            elif what < 3:
                doc[k] = rng.choice(self.VALUES)
            elif isinstance(doc.get(k), str) and doc[k]:
                at = rng.randrange(len(doc[k]))
                doc[k] = doc[k][:at] + chr(rng.choice(
                    (0, 7, 27, 37, 47, 58, 63, 64, 91, 128, 0x202e,
                     0x1f600))) + doc[k][at + rng.randrange(2):]
        text = bytearray(json.dumps(doc, ensure_ascii=rng.random() < 0.5)
                         .encode("utf-8", "surrogatepass"))
        if rng.random() < 0.3:
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(text) + 1)
                text[at:at + rng.randrange(4)] = rng.randbytes(
                    rng.randrange(4))
        return bytes(text)

    def one(self, seed, how):
        rng = random.Random(seed)
        a = self.auth(device_polls=0)
        m = self.protected(a)
        a.add_client("known", "client_secret_post", "s" * 20)
        # what a fuzzed document makes us do is not held against us
        self.guarded.remove(a)
        self.guarded.remove(m)

        def fuzzed(rx, tx):
            def edit(doc):
                if rng.random() < 0.5:
                    return doc
                tx.body(rng.choice((200, 200, 200, 201, 400, 401, 500)),
                        self.mutate(rng, doc), "application/json")
                return DONE
            return edit
        for endpoint in ("metadata", "register", "token", "device"):
            a.always(endpoint, fuzzed)
        m.always("prm", fuzzed)
        code, out, err = self.once(
            ["login", m.url, "--login-timeout", "2", "--no-browser", "-vv"] +
            [a.issuer if w == "ISSUER" else w for w in how], seconds=LONG)
        where = "seed %d, %s" % (seed, how)
        self.assertIn(code, (0, 1), where + err[-3000:])
        for word in ("Sanitizer", "runtime error", "Assertion"):
            self.assertNotIn(word, err, where)
        self.assertIsNone(RAW.search((out.decode() + err)
                                     .replace("\n", "")), where + err)
        a.close()
        m.close()
        return code

    WAYS = (["--auth", "client-credentials", "--client-id", "known",
             "--client-secret-file", None, "--issuer", "ISSUER"],
            ["--auth", "device"], [])

    @support.alone
    def test_documents(self):
        secret = self.path("secret", "s" * 20, 0o600)
        seed = int(os.environ.get("E2E_FUZZ_SEED", "0")) or \
            random.randrange(1 << 40)
        end = time.monotonic() + FUZZ_S
        codes = set()
        n = 0
        # on a slow machine it takes longer until one is good
        while time.monotonic() < end or (codes != {0, 1} and
                                         time.monotonic() < end + LONG):
            for way in self.WAYS[:2] if n % 8 else self.WAYS:
                codes.add(self.one(seed + n, [secret if w is None else w
                                              for w in way]))
                n += 1
        print("%d documents from seed %d" % (n, seed), flush=True)
        self.assertEqual(codes, {0, 1})     # some were good all the same


@unittest.skipUnless(os.environ.get(IN_SPACE), "in the other space only")
class Space(Base):
    """In a network of our own the MCP server has a public address, and the
    traps have those that must not be reached."""

    PUBLIC = "93.184.216.34"
    TRAPS = ("169.254.169.254", "10.0.0.1", "192.168.1.1", "127.0.0.1",
             "100.64.0.1")

    def public(self, **knobs):
        a = authserver.AuthServer(host=self.PUBLIC)
        self.adopt(a, {})
        m = authserver.Protected(a, host=self.PUBLIC)
        self.adopt(m, knobs)
        return a, m, self.browser()

    def trap_at(self, address):
        return self.http(lambda rx, tx: tx.json({"issuer": "x"}),
                         host=address)

    def start(self, m, b, *args, **kw):
        return super().start(m, b, "--allow-http", *args, **kw)

    def test_works(self):
        a, m, b = self.public()
        p = self.start(m, b)
        # the test's own consent page takes redirects to loopback only
        p.hello()
        self.works(p)
        self.assertEqual(len(b.opened()), 1)

    def test_literals(self):
        a, m, b = self.public()
        for address in self.TRAPS:
            trap = self.trap_at(address)
            names = [address]
            number = int.from_bytes(socket.inet_aton(address), "big")
            names += [str(number), hex(number), "[::ffff:%s]" % address,
                      "localhost" if address == "127.0.0.1" else address]
            for name in names:
                m.always("prm", having(authorization_servers=[
                    "http://%s:%d" % (name, trap.port)]))
                self.shut_out(m, b, text=("address",))
            self.assertEqual(trap.connections, 0, address)
        self.untouched(a, b)

    def test_names(self):
        a, m, b = self.public()
        for address in self.TRAPS:
            trap = self.trap_at(address)
            m.always("prm", having(authorization_servers=[
                "http://as.test:%d" % trap.port]))
            self.shut_out(m, b, "--resolve", "as.test:%d:%s" % (
                trap.port, address), text="private or reserved address")
            self.assertEqual(trap.connections, 0, address)
        self.untouched(a, b)

    def test_each_endpoint(self):
        for name, asked in (("registration_endpoint", 0),
                            ("token_endpoint", 1)):
            for address in self.TRAPS:
                a, m, b = self.public()
                trap = self.trap_at(address)
                a.always("metadata", having(**{name: "http://t.test:%d/x" %
                                               trap.port}))
                self.shut_out(m, b, "--resolve", "t.test:%d:%s" % (
                    trap.port, address), text="private or reserved address")
                self.assertEqual(trap.connections, 0, address)
                self.assertEqual(len(b.opened()), asked)
                shutil.rmtree(self.store(), ignore_errors=True)

    def test_option(self):
        """It lets us to private addresses, and never to the others."""
        a, m, b = self.public()
        for address in self.TRAPS:
            trap = self.trap_at(address)
            m.always("prm", having(authorization_servers=[
                "http://as.test:%d" % trap.port]))
            self.shut_out(m, b, "--allow-private-auth", "--resolve",
                          "as.test:%d:%s" % (trap.port, address))
            self.assertEqual(trap.connections > 0,
                             not address.startswith("169.254"), address)

    def test_a_private_server_has_private_friends_only(self):
        a = authserver.AuthServer(host="10.0.0.1")
        self.adopt(a, {})
        m = authserver.Protected(a, host="10.0.0.1")
        self.adopt(m, {})
        b = self.browser()
        trap = self.trap_at("127.0.0.1")
        m.always("prm", having(authorization_servers=[
            "http://127.0.0.1:%d" % trap.port]))
        self.shut_out(m, b, text="--allow-private-auth")
        self.assertEqual(trap.connections, 0)
        m.always("prm")
        p = self.start(m, b)
        p.hello()


class Outside(unittest.TestCase):
    @unittest.skipIf(os.environ.get(IN_SPACE), "we are in it")
    @support.alone
    def test_space(self):
        """The cases of Space, in a network namespace."""
        lines = "ip link set lo up && " + " && ".join(
            "ip addr add %s/32 dev lo" % a for a in
            (Space.PUBLIC,) + Space.TRAPS if not a.startswith("127."))
        space = ["unshare", "-rn", "sh", "-c", lines + ' && exec "$@"', "sh"]
        try:
            if subprocess.run(space + ["true"], stderr=subprocess.DEVNULL,
                              timeout=LONG).returncode != 0:
                self.skipTest("no network namespaces here")
        except OSError:
            self.skipTest("no unshare here")
        r = subprocess.run(space + [sys.executable, os.path.abspath(__file__),
                                    ".Space."],
                           env=dict(os.environ, **{IN_SPACE: "1"}),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=250)
        text = r.stdout.decode("utf-8", "replace")
        self.assertEqual(r.returncode, 0, text)
        self.assertRegex(text, r"\b6 cases, 0 failed")


if __name__ == "__main__":
    support.main()
