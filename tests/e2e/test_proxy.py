"""Through an HTTP proxy: plain, CONNECT, refusals, and loopback's
exemption."""

import base64
import socket
import threading
import time

import faultserver
import support
import test_tls
from support import INITIALIZED, call, init


class Proxy(faultserver.Server):
    """Forwards everything to one port of loopback, whatever the name."""

    def __init__(self, target, user=None, refuse=None, **kw):
        super().__init__(handler=self.forward, **kw)
        self.target = target
        self.user = user
        self.refuse = refuse    # a status
        self.tunnels = 0

    @property
    def address(self):
        return "%s://127.0.0.1:%d" % ("https" if self.tls else "http",
                                      self.port)

    def forward(self, rx, tx):
        if self.refuse:
            tx.text(self.refuse, "not this way", [
                ("Proxy-Authenticate", "Negotiate"),
                ("Proxy-Authenticate", 'Basic realm="p"')])
            return
        if self.user:
            want = "Basic " + base64.b64encode(self.user.encode()).decode()
            if rx.get("Proxy-Authorization") != want:
                tx.text(407, "who?", [("Proxy-Authenticate",
                                       'Basic realm="p"')])
                return
        other = socket.create_connection(("127.0.0.1", self.target))
        if rx.method == "CONNECT":
            self.tunnels += 1
            tx.raw(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = "/" + rx.target.split("/", 3)[3]
            heads = [h for h in rx.headers
                     if not h[0].lower().startswith("proxy-")]
            other.sendall(("%s %s HTTP/1.1\r\n%s\r\n\r\n" % (
                rx.method, path, "\r\n".join("%s: %s" % h for h in heads)
            )).encode("latin-1") + rx.body)
        tx.started = tx.ended = True
        tx.keep = False
        t = threading.Thread(target=self.pump, args=(other, tx.sock),
                             daemon=True)
        t.start()
        self.pump(tx.sock, other)
        t.join()
        faultserver.shut(other)

    def pump(self, a, b):
        try:
            while True:
                data = a.recv(65536)
                if not data:
                    break
                b.sendall(data)
        except OSError:
            pass
        try:
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Through(support.Case):
    def proxy(self, target, **kw):
        p = Proxy(target, **kw)
        self.servers.append(p)
        return p

    def works(self, s, url, *args, **kw):
        p = self.splice(url, *args, **kw)
        p.server = s
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()
        self.deleted(s, s.made)
        return p

    def plain(self):
        s = self.mcp()
        return s, self.proxy(s.port), "http://mcp.test:%d/mcp" % s.port

    def secure(self):
        s = self.mcp(tls=test_tls.context("one"))
        return s, self.proxy(s.port), "https://mcp.test:%d/mcp" % s.port

    CA = property(lambda self: ("--cacert", test_tls.file("ca1.pem")))

    def test_plain(self):
        s, x, url = self.plain()
        self.works(s, url, "--allow-http", "--proxy", x.address)
        self.assertTrue(x.requests)
        self.assertTrue(all(r.target.startswith("http://mcp.test:")
                            for r in x.requests))
        for r in s.requests:
            self.assertEqual(len(r.all("User-Agent")), 1)

    def test_connect(self):
        s, x, url = self.secure()
        self.works(s, url, *self.CA, "--proxy", x.address, "-H",
                   "Authorization: Bearer canary-7", "-A", "secretive/1")
        self.assertEqual({r.method for r in x.requests}, {"CONNECT"})
        for r in x.requests:
            self.assertEqual(r.target, "mcp.test:%d" % s.port)
            self.assertNotIn("canary-7", repr(r.headers))
            self.assertIsNone(r.get("Mcp-Session-Id"))
            self.assertIsNone(r.get("Cookie"))
        for r in x.requests + s.requests:
            self.assertEqual(r.all("User-Agent"), ["secretive/1"])

    def test_answers_to_connect_are_no_answers(self):
        """The 200 to CONNECT is not the server's."""
        s, x, url = self.secure()
        s.methods["tools/call"] = lambda rx, tx: tx.error(-1, "mine", 400)
        p = self.splice(url, *self.CA, "--proxy", x.address)
        p.server = s
        p.hello()
        self.assertEqual(p.tool()["error"]["message"], "mine")
        p.finish()

    def test_environment(self):
        for name in ("http_proxy", "ALL_PROXY", "all_proxy"):
            with self.subTest(name):
                s, x, url = self.plain()
                self.works(s, url, "--allow-http", env={name: x.address})
                self.assertTrue(x.requests)
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            with self.subTest(name):
                s, x, url = self.secure()
                self.works(s, url, *self.CA, env={name: x.address})
                self.assertTrue(x.tunnels)

    def test_no_proxy(self):
        s, x, url = self.plain()
        self.works(s, url, "--allow-http", "--resolve",
                   "mcp.test:%d:127.0.0.1" % s.port,
                   env={"http_proxy": x.address, "NO_PROXY": ".test"})
        self.assertEqual(x.connections, 0)

    def test_loopback_is_exempt(self):
        s, x, _ = self.plain()
        for url in (s.url, "http://localhost:%d/mcp" % s.port):
            for args, env in (((), {"http_proxy": x.address,
                                    "ALL_PROXY": x.address}),
                              (("--proxy", x.address), {})):
                p = self.splice(url, "-4", *args, env=env)
                p.hello()
                p.finish()
        self.assertEqual(x.connections, 0)

    def test_empty_proxy_is_none(self):
        s, x, url = self.plain()
        self.works(s, url, "--allow-http", "--proxy", "", "--resolve",
                   "mcp.test:%d:127.0.0.1" % s.port,
                   env={"http_proxy": x.address})
        self.assertEqual(x.connections, 0)

    def test_user(self):
        for make in (self.plain, self.secure):
            s, x, url = make()
            x.user = "me:pass:word"
            self.works(s, url, "--allow-http", *self.CA, "--proxy",
                       x.address, "--proxy-user", "me:pass:word")
            if s.tls:
                # what goes through a tunnel is not for the proxy
                for r in s.requests:
                    self.assertIsNone(r.get("Proxy-Authorization"))

    def test_user_in_the_url(self):
        s, x, url = self.secure()
        x.user = "me:secret9"
        p = self.works(s, url, *self.CA, "-vv", "--proxy",
                       "http://me:secret9@127.0.0.1:%d" % x.port)
        self.assertNotIn("secret9", p.err())

    @support.plain
    def test_407(self):
        """At once, once, with what to do."""
        for make in (self.plain, self.secure):
            s, x, url = make()
            x.refuse = 407
            p = self.splice(url, "--allow-http", *self.CA, "--proxy",
                            x.address)
            begin = time.monotonic()
            p.send(init(1), INITIALIZED, call(2))
            e = self.our_error(p.answer(1), "proxy_refused", "no")
            self.within(time.monotonic() - begin, 4)
            self.assertIn("407", e["message"])
            self.assertIn("--proxy-user", e["message"])
            p.answer(2)
            self.settle(0.5)
            self.assertTrue(p.alive())
            p.finish()
            self.assertEqual(s.connections, 0)
            self.assertLessEqual(len(x.requests), 2)

    @support.plain
    def test_403_to_connect(self):
        s, x, url = self.secure()
        x.refuse = 403
        p = self.splice(url, *self.CA, "--proxy", x.address)
        begin = time.monotonic()
        p.send(init(1))
        self.our_error(p.answer(1), "proxy_refused", "no")
        self.within(time.monotonic() - begin, 4)
        p.finish()
        self.assertLessEqual(len(x.requests), 2)

    def test_407_later(self):
        s, x, url = self.secure()
        p = self.splice(url, *self.CA, "--proxy", x.address)
        p.server = s
        p.hello()
        x.refuse = 407
        s.down()
        s.up()
        self.let(0.5)   # the end of the old tunnel is on its way
        self.our_error(p.tool(), "proxy_refused", "no")
        x.refuse = None
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_proxy_is_down(self):
        s, x, url = self.secure()
        x.down()
        p = self.splice(url, *self.CA, "--proxy", x.address,
                        "--init-timeout", "2")
        p.send(init(1))
        e = self.our_error(p.answer(1), ran="no")
        self.assertIn("connection refused by the proxy %s (from --proxy)"
                      % x.address, e["message"])
        self.assertIn("--noproxy", e["message"])
        x.up()
        p.hello()
        p.finish()

    def test_proxy_of_the_environment_is_named(self):
        """Without its password."""
        p = self.splice("https://mcp.test/mcp", "--init-timeout", "2", env={
            "all_proxy": "http://me:secret9@127.0.0.1:1"})
        p.send(init(1))
        e = self.our_error(p.answer(1), ran="no")
        self.assertIn("the proxy http://127.0.0.1:1 (from all_proxy)",
                      e["message"])
        p.finish()
        self.assertNotIn("secret9", e["message"] + p.err())

    def test_password_that_is_not_escaped(self):
        """Refused at the start where the proxy is needed, never shown."""
        bad = {"https_proxy": "http://me:secret9#x@127.0.0.1:1"}
        for url, env, refused in (
                ("https://mcp.test/mcp", bad, True),
                ("https://mcp.test/mcp",
                 {"ALL_PROXY": "me:secret9:127.0.0.1:1"}, True),
                ("https://mcp.test/mcp", {**bad, "NO_PROXY": ".test"}, False),
                ("https://127.0.0.1:1/mcp", bad, False)):
            with self.subTest(url, env=env):
                rc, out, err = self.once(
                    ["check", url, "--init-timeout", "1"], env=env)
                told = out.decode() + err
                self.assertNotIn("secret9", told)
                self.assertEqual("_proxy: " in told.lower(), refused, told)

    # so that those of the tests' own host do not count
    NONE = dict.fromkeys((
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
        "no_proxy", "NO_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"), "")

    def told(self, url, host, *args, env={}):
        host = {k: v for k, v in {**self.NONE, **host}.items() if k not in env}
        p = self.hosted(url, host, "--init-timeout", "2", *args, env=env)
        p.send(init(1))
        e = self.our_error(p.answer(1), ran="no")
        p.finish()
        self.assertNotIn("secret9", e["message"] + p.err())
        return e["message"]

    def test_proxy_of_the_host_is_named(self):
        """It is not used, and only its variable is told; a loopback address
        would not need it."""
        host = {"https_proxy": "http://me:secret9@127.0.0.1:1"}
        for name in ("mcp.invalid", "mcp.onion"):
            self.assertIn(
                'host name not found; your host has https_proxy set but does not '
                'pass it on; add it to "env". ',
                self.told("https://%s/mcp" % name, host))
        for told in (self.told("https://127.0.0.1:1/mcp", host),
                     self.told("http://mcp.invalid/mcp", host,
                               "--allow-http"),
                     self.told("https://mcp.invalid/mcp", host,
                               env={"HTTPS_PROXY": "http://127.0.0.1:1"})):
            self.assertNotIn("your host", told)

    def test_no_proxy_of_the_host_is_named(self):
        self.assertIn(
            "; your host has no_proxy set",
            self.told("https://mcp.invalid/mcp", {"no_proxy": "*.invalid"},
                      env={"https_proxy": "http://127.0.0.1:1"}))

    def test_authorities_of_the_host_are_named(self):
        s = self.mcp(tls=test_tls.context("one"))
        told = self.told("https://127.0.0.1:%d/mcp" % s.port,
                         {"SSL_CERT_FILE": test_tls.file("ca1.pem")})
        self.assertIn("your host has SSL_CERT_FILE set but does not pass it "
                      'on; add it to "env"', told)

    def test_proxy_is_not_known(self):
        """libcurl refuses .onion at once, the other name a little later."""
        for name in ("proxy.invalid", "proxy.onion"):
            p = self.splice("https://mcp.test/mcp", "--init-timeout", "2",
                            "--proxy", "http://%s:1" % name)
            p.send(init(1))
            e = self.our_error(p.answer(1), ran="no")
            self.assertIn("the name of the proxy http://%s:1 (from --proxy) "
                          "was not found" % name, e["message"])
            p.finish()

    def test_https_proxy(self):
        s = self.mcp(tls=test_tls.context("one"))
        x = self.proxy(s.port, tls=test_tls.context("two"))
        url = "https://mcp.test:%d/mcp" % s.port
        self.works(s, url, *self.CA, "--proxy", x.address,
                   "--proxy-cacert", test_tls.file("ca2.pem"))
        self.assertTrue(x.tunnels)

    def test_cut_tunnel(self):
        """Never twice through a proxy either."""
        s, x, url = self.secure()
        p = self.splice(url, *self.CA, "--proxy", x.address)
        p.server = s
        p.hello()
        p.tool()
        s.methods["tools/call"] = lambda rx, tx: tx.cut()
        self.our_error(p.tool(), "stream_lost", "maybe")
        self.settle(0.3)
        p.finish()
        self.assertEqual(len(s.executed), 2)

    def test_lost_session(self):
        s, x, url = self.secure()
        p = self.splice(url, *self.CA, "--proxy", x.address)
        p.server = s
        p.hello()
        s.forget()
        self.assertIn("result", p.tool())
        p.finish()


if __name__ == "__main__":
    test_tls.main()
