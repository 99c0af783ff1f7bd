"""Signing in: the commands login, logout and status, profiles, and what
mcp-remote left behind.  Base is in test_signin.py."""

import fcntl
import hashlib
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import time

import authserver
import faultserver
import ports
import support
from support import init
from test_signin import ENDED, Patient


class Commands(Patient):
    def test_login_status_logout(self):
        a, m, b = self.trio(challenge_scope="r")
        status, out, _ = self.command("status", m.url)
        self.assertEqual((status, out), (1, b"Not signed in.\n"))
        status, out, err = self.command("login", m.url, "--browser",
                                        b.command)
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed in", out)
        self.assertIn(b.url(), err)
        self.counted(a)
        p = self.start(m, b)
        self.works(p, m)
        self.counted(a)
        for args in (("status",), ("status", m.url)):
            status, out, err = self.command(*args)
            self.assertEqual(status, 0)
            text = out.decode()
            for word in (m.url, a.issuer, "valid until", "renewed",
                         self.asked(a)["client_id"]):
                self.assertIn(word, text)
            for secret in a.secrets():
                self.assertNotIn(secret, text + err)
        p.finish()
        status, out, err = self.command("logout", m.url)
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed out", out)
        self.assertGreaterEqual(a.counts["revoke"], 1)
        self.assertTrue(all(f.dead for f in a.families.values()))
        self.assertFalse(self.kept())
        self.assertEqual(self.command("status")[1], b"Not signed in.\n")
        status, out, err = self.command("logout", m.url)
        self.assertEqual(status, 0, err)
        self.assertIn(b"Not signed in", out)
        self.works(self.start(m, b), m)
        self.counted(a, authorize=2, register=2)

    def test_browser_that_does_not_close(self):
        """The port of the redirect is free again at once."""
        a, m, _ = self.trio()
        port = ports.free_port()
        for _ in range(2):
            p = subprocess.Popen(
                [support.PROGRAM, "login", m.url, "--no-browser",
                 "--callback-port", str(port)], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=dict(os.environ, HOME=self.home))
            page = None
            while page is None:
                page = re.search(r"http://(\S+?)(/authorize\S+)",
                                 p.stderr.readline().decode())
            c = http.client.HTTPConnection(page[1])
            c.request("GET", page[2])
            back = c.getresponse().headers["Location"]
            c.close()
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (
                back[back.index("/", 8):], port)).encode())
            _, err = p.communicate(timeout=ENDED)
            self.assertEqual(p.returncode, 0, err)
            self.assertIn(b"You are signed in", s.recv(65536))
            s.close()
        self.counted(a, authorize=2)

    def test_logout_without_revocation(self):
        """Without revocation, logout still deletes the token."""
        for step in (None, authserver.status(503), authserver.cut()):
            a, m, b = self.trio()
            if step is None:
                a.always("metadata",
                         authserver.without("revocation_endpoint"))
            else:
                a.always("revoke", step)
            self.start(m, b).finish()
            status, _, err = self.command("logout", m.url)
            self.assertEqual(status, 0, err)
            self.assertEqual("revoke" in err, step is not None, err)
            self.assertNotIn("fetching", err)
            self.assertFalse(self.kept())

    def test_logout_while_it_runs(self):
        """The running proxy has no token any more, and opens a browser."""
        a, m, b = self.trio()
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(self.command("logout", m.url)[0], 0)
        self.works(p, m)
        self.counted(a, authorize=2, register=2)

    def test_login_again(self):
        """The login command signs in even if there is a good token."""
        a, m, b = self.trio()
        for n in (1, 2):
            self.assertEqual(self.command("login", m.url, "--browser",
                                          b.command)[0], 0)
            self.counted(a, authorize=n)

    def test_login_wakes_who_waits(self):
        """The proxy's browser leads nowhere; a login in a terminal helps."""
        a, m, b, user = self.lazy()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.start(m, b, "--login-timeout", "5")
        self.fails(p, m, "--login-timeout")
        status, _, err = self.command("login", m.url, "--browser",
                                      user.command)
        self.assertEqual(status, 0, err)
        self.works_soon(p, m)
        # no redirect came: the proxy took the client for unknown
        self.counted(a, authorize=1, register=2)

    def test_login_fails(self):
        a, m, b = self.trio()
        a.script("authorize", authserver.deny())
        status, out, err = self.command("login", m.url, "--browser",
                                        b.command)
        self.assertEqual((status, out), (1, b""))
        self.assertIn("access_denied", err)
        m.down()
        status, out, err = self.command("login", m.url, "--browser",
                                        b.command)
        self.assertEqual((status, out), (1, b""))
        self.assertIn("cannot be reached", err)
        m.up()

    def test_login_of_a_machine(self):
        a = self.auth()
        c = a.add_client("m")
        m = self.protected(a)
        status, _, err = self.command(
            "login", m.url, "--auth", "client-credentials", "--client-id",
            "m", "--client-secret-env", "S", "--issuer", a.issuer,
            env={"S": c.secret})
        self.assertEqual(status, 0, err)
        self.assertEqual(a.token_requests("client_credentials"), 1)

    def test_login_with_many_scopes(self):
        """The login command shows the scopes up to this many bytes."""
        most = support.BOUND["NAME_BYTES"]
        for size in (most, most + 1):
            a, m, b = self.trio()
            a.always("token", authserver.having(scope="s" * size))
            status, out, err = self.command("login", m.url, "--browser",
                                            b.command)
            self.assertEqual(status, 0, err)
            self.assertIn("scopes: %s%s.\n" % (
                "s" * most, "..." if size > most else ""), out.decode())

    def test_login_with_a_code(self):
        a, m, b = self.trio(self.auth(device_polls=None))
        p = subprocess.Popen([support.PROGRAM, "login", m.url, "--auth",
                              "device"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=self.environ())
        try:
            self.until(lambda: a.devices)
            a.approve("ABCD-0001")
            out, err = p.communicate(timeout=ENDED)
        finally:
            p.kill()
            p.wait()
        self.assertEqual(p.returncode, 0, err)
        self.assertIn(b"ABCD-0001", err)
        self.assertIn(b"Signed in", out)
        self.works(self.start(m, b), m)
        self.counted(a, authorize=0, code=0)

    def test_nobody_asks_for_credentials(self):
        m = self.mcp()
        status, out, err = self.command("login", m.url)
        self.assertEqual((status, out.decode(), err), (
            0, "No sign-in needed: %s answers without credentials.\n"
            % m.url.split("/")[2], ""))

    def test_login_at_a_wrong_path(self):
        m = faultserver.Server(
            handler=lambda rx, tx: tx.text(404, "Not Found"))
        self.servers.append(m)
        status, out, err = self.command("login",
                                        "http://127.0.0.1:%d/" % m.port)
        self.assertEqual((status, out), (1, b""))
        self.assertIn("answered 404", err)
        self.assertIn("Check the URL", err)

    def test_status_of_an_odd_issuer(self):
        """The issuer's name comes from its metadata: control characters in it
        do not reach the terminal."""
        a, m, b = self.trio()
        self.works(self.start(m, b), m)
        doc = self.record()
        doc["issuer"] += "/\u009b2J\u202e"
        self.put_record(doc)
        for args in (("status",), ("status", "--json")):
            status, out, err = self.command(*args)
            self.assertEqual(status, 0, err)
            self.assertIn(b"\\xc2", out)
            self.assertTrue(out.isascii(), out)

    def waiting(self, *args):
        """A login in a terminal that waits for its user."""
        a, m, b, _ = self.lazy()
        p = subprocess.Popen([support.PROGRAM, "login", m.url, "--browser",
                              b.command, *args], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, env=self.environ(),
                             stderr=subprocess.PIPE)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return a, m, b, p

    def test_a_sign_in_that_waits_is_shown_and_ended(self):
        a, m, b, p = self.waiting()
        self.until(b.opened)
        for args in (("status",), ("status", m.url)):
            status, out, err = self.command(*args)
            self.assertEqual(status, len(args) - 1, err)    # no token yet
            self.assertIn(m.url, out.decode())
            self.assertIn(b.url(), out.decode())
        status, out, err = self.command("logout", m.url)
        self.assertEqual(status, 0, err)
        self.assertIn(b"sign-in that was waiting for you was cancelled", out)
        _, err = p.communicate(timeout=ENDED)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b'"mcpsplice logout" ended this sign-in', err)
        self.assertEqual(self.command("status")[1:2], (b"Not signed in.\n",))

    def lock(self, name):
        fd = os.open(os.path.join(self.store(), name),
                     os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        return fd

    def pending(self, *rows):
        """Writes rows to the pending file, if any; returns its path."""
        name, = [n for n in os.listdir(self.store())
                 if n.startswith("pending-")]
        path = os.path.join(self.store(), name)
        if rows:
            with open(path + ".x", "w", opener=lambda n, f: os.open(
                    n, f, 0o600)) as f:
                f.write("\n".join(rows) + "\n")
            os.rename(path + ".x", path)
        return path

    def test_logout_asks_again(self):
        """Logout writes again if a login process overwrites its request."""
        a, m, b, p = self.waiting()
        self.until(b.opened)
        p.kill()
        p.wait()
        path = self.pending()
        lock = self.lock(os.path.basename(path).replace("pending-",
                                                        "lock-login-"))
        out = subprocess.Popen([support.PROGRAM, "logout", m.url],
                               env=self.environ(), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        for _ in range(2):
            self.pending("url http://127.0.0.1:1/", "failed 0")
            self.until(lambda: b"url" not in open(path, "rb").read())
        os.close(lock)
        text = out.communicate(timeout=ENDED)[0]
        self.assertEqual(out.returncode, 0, text)
        self.assertIn(b"sign-in that was waiting for you was cancelled", text)

    def test_ended_before_its_tab(self):
        """The login process does not overwrite a logout's request."""
        os.makedirs(self.store(), mode=0o700)
        tab = self.lock("lock-tab")
        a, m, b, p = self.waiting()
        while b"/authorize" not in p.stderr.readline():
            pass
        self.pending("opened 0 0 0", "asked 0", "failed %d" % time.time())
        os.close(tab)
        _, err = p.communicate(timeout=ENDED)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b'"mcpsplice logout" ended this sign-in', err)
        self.assertEqual(b.opened(), [])

    def test_logout_ends_what_a_host_left(self):
        """Logout ends a login process that outlived its proxy: a sign-in in
        the browser has no effect afterwards."""
        a, m, b, _ = self.lazy()
        p = self.splice(m, "--browser", b.command, "--init-timeout", "2")
        p.send(init(1))
        self.until(b.opened, p)
        p.answer(1)
        p.finish()
        self.assertIn(b.url().encode(), self.command("status")[1])
        self.assertEqual(self.command("logout", m.url)[0], 0)
        self.assertEqual(self.command("status")[1], b"Not signed in.\n")
        back = self.location(a, b.url()[len(a.origin):])
        port = int(re.match(r"http://127.0.0.1:(\d+)/", back)[1])
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        self.assertFalse(self.kept())

    def test_interrupted(self):
        """After SIGINT to the login command, the next login does not wait for
        the interrupted one."""
        a, m, b, user = self.lazy()
        p = subprocess.Popen([support.PROGRAM, "login", m.url, "--browser",
                              b.command], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, env=self.environ(),
                             stderr=subprocess.DEVNULL)
        try:
            self.until(b.opened)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(ENDED), 128 + signal.SIGINT)
        finally:
            p.kill()
            p.wait()
        self.works(self.start(m, user), m)
        self.counted(a)

    def environ(self):
        env = {k: os.environ[k] for k in support.ENV_KEPT if k in os.environ}
        return dict(env, HOME=self.home)

    def test_pasted(self):
        """A browser on another machine cannot load the redirect: the user
        pastes its address into the terminal."""
        a, m, b, _ = self.lazy()
        master, slave = pty.openpty()
        p = subprocess.Popen([support.PROGRAM, "login", m.url, "--browser",
                              b.command], env=self.environ(), stdin=slave,
                             stdout=slave, stderr=slave,
                             start_new_session=True)
        os.close(slave)
        said = bytearray()

        def read(word, seconds=ENDED):
            end = time.monotonic() + seconds
            while word not in said:
                self.assertLess(time.monotonic(), end, bytes(said))
                if faultserver.readable(master, 0.2):
                    try:
                        part = os.read(master, 65536)
                    except OSError:
                        part = b""
                    if not part:
                        break
                    said.extend(part)
            self.assertIn(word, bytes(said))
        try:
            self.until(b.opened)
            read(b"paste")
            address = self.location(a, b.url()[len(a.origin):])
            os.write(master, b"http://127.0.0.1:1/callback?code=x&state=y\n")
            read(b"not the expected address")
            os.write(master, address.encode() + b"\n")
            read(b"Signed in")
            self.assertEqual(p.wait(ENDED), 0)
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()
            os.close(master)
        self.counted(a)

    def location(self, a, target):
        """The URL that the authorization server sends the browser to."""
        c = http.client.HTTPConnection("127.0.0.1", a.port, timeout=20)
        try:
            c.request("GET", target)
            return c.getresponse().headers["Location"]
        finally:
            c.close()

    def test_profiles(self):
        """Two accounts at one server, which do not see each other."""
        a, m, b = self.trio()
        one = self.start(m, b, "--profile", "one")
        two = self.start(m, b, "--profile", "two")
        self.works(one, m)
        self.works(two, m)
        self.counted(a, authorize=2, register=2)
        out = self.command("status")[1].decode()
        self.assertIn("(profile one)", out)
        self.assertIn("(profile two)", out)
        one.finish()
        two.finish()
        self.assertEqual(self.command("logout", m.url, "--profile",
                                      "one")[0], 0)
        self.works(self.start(m, b, "--profile", "two"), m)
        self.counted(a, authorize=2, register=2)
        self.works(self.start(m, b, "--profile", "one"), m)
        self.counted(a, authorize=3, register=3)


class ByName(Patient):
    """The MCP server has a host name with a private address: only a server
    with such an address may name token endpoints there."""

    def named(self):
        """The three servers, and the proxy's options for the host name."""
        a, m, b = self.trio()
        m.host = "named.test"
        return a, m, b, ("--allow-http", "--resolve",
                         "named.test:%d:127.0.0.1" % m.port)

    def test_expired_at_the_start(self):
        a, m, b, args = self.named()
        p = self.start(m, b, *args)
        self.works(p, m)
        p.finish()
        self.spend()
        a.expire()
        self.works(self.start(m, b, *args), m)
        self.counted(a, refresh=1)

    def test_expired_at_a_public_address(self):
        """The record says that the server's address is public: the proxy
        refreshes an expired token before it sends anything."""
        a, m, b, args = self.named()
        args += ("--allow-private-auth",)
        self.start(m, b, *args).finish()
        self.assertEqual(self.record()["server_public"], 0)
        self.spend()
        self.edit_record(server_public=1)
        a.expire()
        refused = len(m.refused)
        self.works(self.start(m, b, *args), m)
        self.counted(a, refresh=1)
        self.assertEqual(len(m.refused), refused)

    def test_expired_with_403(self):
        """Some servers refuse an expired token with a 403."""
        a, m, b, args = self.named()
        p = self.start(m, b, *args)
        p.finish()
        self.spend()
        a.expire()
        old = self.record()["token"]["access_token"]
        say_no = m.say_no
        m.say_no = lambda rx, tx, code, error, need: say_no(
            rx, tx, 403 if m.token_of(rx) == old else code, error, need)
        self.works(self.start(m, b, *args), m)
        self.counted(a, refresh=1)

    def expired(self, status):
        """A server that refuses an expired token with this status."""
        a, m, b, args = self.named()
        self.start(m, b, *args).finish()
        self.spend()
        a.expire()
        old = self.record()["token"]["access_token"]
        m.refused.clear()

        def say_no(rx, tx, code, error, need):
            m.refused.append((rx, code))
            tx.text(status if m.token_of(rx) == old else code, "no\n")

        m.say_no = say_no
        return a, m, b, args

    def renewed_once(self, status):
        """After one refusal the proxy refreshes, and opens no browser."""
        a, m, b, args = self.expired(status)
        self.works(self.start(m, b, *args), m)
        self.counted(a, refresh=1)
        self.assertEqual(len(m.refused), 1)

    def test_expired_with_400(self):
        self.renewed_once(400)

    def test_expired_with_404(self):
        self.renewed_once(404)

    def test_expired_with_500(self):
        self.renewed_once(500)

    def test_expired_with_400_for_good(self):
        """The refresh token is dead as well: a request without a token gets
        a 401, and the user signs in."""
        a, m, b, args = self.expired(400)
        for f in a.families.values():
            f.dead = True
        self.works(self.start(m, b, *args), m)
        self.counted(a, authorize=2, refresh=1)
        self.assertEqual([code for _, code in m.refused], [401, 401])

    def test_expired_and_another_fault(self):
        """The server answers 400 to the new token as well: the client gets
        that error."""
        a, m, b, args = self.expired(400)
        m.refuses_all = True
        m.say_no = lambda rx, tx, *_: tx.text(400, "broken\n")
        p = self.splice(m, "--browser", b.command, *args)
        e = self.our_error(p.ask("initialize", init()["params"]))
        self.assertEqual(e["data"]["httpStatus"], 400)
        self.assertIn("broken", e["message"])
        self.counted(a, refresh=1)
        self.assertEqual(len(b.opened()), 1)

    def test_expired_later(self):
        """The proxy knows the server's address from earlier answers, so it
        refreshes an expired token before it sends the call."""
        a, m, b, args = self.named()
        self.start(m, b, *args).finish()
        p = self.start(m, b, *args)
        self.works(p, m)
        self.spend()
        self.until(lambda: self.works(p, m) or
                   a.token_requests("refresh_token"), p)
        self.counted(a, refresh=1)
        self.assertEqual(len(m.refused), 1)     # before the sign-in

    def test_logout(self):
        a, m, b, args = self.named()
        self.start(m, b, *args).finish()
        status, out, err = self.command("logout", m.url, *args)
        self.assertEqual((status, err), (0, ""))
        self.assertIn(b"Signed out", out)
        self.assertTrue(all(f.dead for f in a.families.values()))

    def test_logout_without_the_server(self):
        a, m, b, args = self.named()
        self.start(m, b, *args).finish()
        url, m.host = m.url, "127.0.0.1"
        m.down()
        status, out, err = self.command("logout", url, *args)
        self.assertEqual(status, 0, err)
        self.assertIn("did not revoke", err)
        self.assertFalse(self.kept())


class McpRemote(Patient):
    def leave(self, a, m, c=None, **token):
        """Writes what mcp-remote keeps of a login; a client c that was given
        to mcp-remote is not kept."""
        given = c
        c = c or authserver.Client("left", None, "none",
                                   ["http://localhost:3334/oauth/callback"])
        issuer = token.get("issuer", a.issuer)
        with a.lock:
            a.clients[c.id] = c
            a.resources[c.id] = m.url
            doc = a.give(c, m.url, None)
        doc.update(issuer=issuer, requested_scope="",
                   expires_at=int(time.time() * 1000) + 3600 * 1000)
        doc.update(token)
        name = hashlib.md5(m.url.encode()).hexdigest()
        folder = ".mcp-auth/mcp-remote-v1/"
        for end, content in (
                ("tokens", doc),
                ("client_info", {"client_id": c.id, "issuer": issuer,
                                 "redirect_uris": c.redirects,
                                 "token_endpoint_auth_method": "none"})
                )[:1 if given else 2]:
            where = self.path("home/%s%s_%s.json" % (folder, name, end),
                              json.dumps(content), 0o600)
            self.may_hold.append(where)
        return doc

    def test_switching_costs_nothing(self):
        a, m, b = self.trio()
        self.leave(a, m)
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(a.requests, [])
        self.assertEqual(m.refused, [])
        a.expire()
        self.works(p, m)
        self.counted(a, 0, 0, refresh=1, code=0)
        p.finish()
        self.works(self.start(m, b), m)
        self.counted(a, 0, 0, refresh=1, code=0)
        self.assertEqual(a.reuse_events, 0)

    def test_expired(self):
        a, m, b = self.trio()
        doc = self.leave(a, m, expires_at=1000 * (int(time.time()) - 9))
        a.expire()
        self.works(self.start(m, b), m)
        self.counted(a, 0, 0, refresh=1, code=0)
        self.assertNotIn(doc["access_token"],
                         [(r.get("Authorization") or "")[7:]
                          for r in m.requests])

    def test_status(self):
        """A user signed in with mcp-remote is signed in with the proxy, until
        "logout"."""
        a, m, b = self.trio()
        doc = self.leave(a, m)
        status, out, err = self.command("status", m.url)
        self.assertEqual((status, err), (0, ""))
        for words in (m.url, "valid until", ".mcp-auth/mcp-remote-v1/"):
            self.assertIn(words, out.decode())
        self.assertNotIn(doc["access_token"], out.decode())
        out = self.command("status")[1].decode()
        self.assertIn("mcp-remote has tokens in", out)
        self.assertEqual(self.command("logout", m.url)[0], 0)
        self.assertEqual(self.command("status", m.url)[:2],
                         (1, b"Not signed in.\n"))

    def test_given_client(self):
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        self.leave(a, m, c)
        where = self.path("secret", c.secret, 0o600)
        self.may_hold.append(where)
        args = ["--client-id", "x", "--client-secret-file", where,
                "--issuer", a.issuer]
        p = self.start(m, b, *args)
        self.works(p, m)
        for n in (1, 2):
            a.expire()
            self.works(p, m)
            self.counted(a, 0, 0, refresh=n, code=0)

    def saw(self, server, *words):
        """Was any of these words in a request that server got?"""
        for r in server.requests:
            text = r.target + str(r.headers) + r.body.decode()
            found = [w for w in words if w in text]
            if found:
                return "%s in %s" % (found, text)
        return None

    def test_no_issuer_noted(self):
        """Only the access token is used: another authorization server may
        have issued the client and the refresh token."""
        a, m, b = self.trio()
        doc = self.leave(a, m, issuer=None)
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(a.requests, [])
        other = self.auth()
        m.use(other)
        a.expire()
        self.works(p, m)
        self.counted(other)
        self.assertIsNone(self.saw(other, doc["refresh_token"],
                                   doc["access_token"], "left"))
        self.assertEqual(a.requests, [])

    def test_issuer_lost(self):
        """The same for a record in the store without an issuer."""
        a, m, b = self.trio()
        p = self.start(m, b)
        self.works(p, m)
        p.finish()
        doc = self.record()
        for name in ("issuer", "token_endpoint", "revocation_endpoint"):
            del doc[name]
        with open(self.record_path(), "w") as f:
            json.dump(doc, f)
        other = self.auth()
        m.use(other)
        self.works(self.start(m, b), m)
        self.counted(other)
        self.assertIsNone(self.saw(other, doc["token"]["refresh_token"],
                                   doc["client"]["id"]))

    def test_issuer_lost_at_a_server_that_names_none(self):
        """The MCP server is its own authorization server now, and must not
        get the tokens of a record that names another token endpoint."""
        a, m, b = self.trio()
        p = self.start(m, b)
        self.works(p, m)
        p.finish()
        doc = self.record()
        del doc["issuer"]
        with open(self.record_path(), "w") as f:
            json.dump(doc, f)
        other = self.auth(forms=(), iss=False, needs_resource=False)
        m.use(other)
        m.prm, m.names_prm = (), False
        m.host_auth()
        self.works(self.start(m, b), m)
        self.counted(other)
        self.assertIsNone(self.saw(other, doc["token"]["refresh_token"],
                                   doc["client"]["id"]))

    def test_dead(self):
        a, m, b = self.trio()
        self.leave(a, m)
        a.revoke()
        self.works(self.start(m, b), m)
        self.counted(a, 1, 1, refresh=1)

    def test_logout_is_for_good(self):
        """mcp-remote's tokens are not taken again after a logout."""
        for used in (True, False):
            a, m, b = self.trio()
            self.leave(a, m)
            if used:
                p = self.start(m, b)
                a.expire()
                self.works(p, m)
                p.finish()
                self.counted(a, 0, 0, refresh=1, code=0)
            status, out, err = self.command("logout", m.url)
            self.assertEqual(status, 0, err)
            self.assertIn(b"Signed out", out)
            self.assertEqual(self.command("status", m.url)[1],
                             b"Not signed in.\n")
            before = len(m.requests)
            p = self.start(m, b)
            self.works(p, m)
            self.assertIsNone(m.requests[before].get("Authorization"))
            self.counted(a, 1, 1, refresh=1 if used else 0)
            p.finish()
            status, out, err = self.command("status", m.url)
            self.assertEqual(status, 0, out)

    def test_profile_of_its_own(self):
        a, m, b = self.trio()
        self.leave(a, m)
        self.works(self.start(m, b, "--profile", "x"), m)
        self.counted(a)


class Cached(Patient):
    """To which user the startup cache is shown while a server is away."""

    def cached(self):
        try:
            names = os.listdir(os.path.join(self.home, ".cache/mcpsplice"))
        except FileNotFoundError:
            names = []
        return [n for n in names if not n.endswith(".era")]

    def shown(self, m, *args):
        m.down()
        p = self.splice(m, "--init-timeout", "1", *args)
        p.send(init("hello"))
        found = "result" in p.answer("hello")
        p.kill()
        m.up()
        return found

    def test_renewed(self):
        """The user is the same, whether the token can be refreshed or not."""
        a, m, b = self.trio()
        self.start(m, b).finish()
        self.assertTrue(self.shown(m))
        self.spend()
        a.expire()
        self.assertTrue(self.shown(m))
        self.counted(a, refresh=1)
        self.spend()
        a.down()
        self.assertTrue(self.shown(m))

    def test_another_person(self):
        a, m, b = self.trio()
        self.start(m, b).finish()
        self.assertEqual(len(self.cached()), 1)
        self.assertEqual(self.command("login", m.url, "--browser",
                                      b.command)[0], 0)
        self.assertFalse(self.shown(m))
        self.start(m, b).finish()
        self.assertTrue(self.shown(m))

    def test_logout(self):
        a, m, b = self.trio()
        self.start(m, b).finish()
        self.assertEqual(self.command("logout", m.url)[0], 0)
        self.assertEqual(self.cached(), [])

    def test_logout_while_it_runs(self):
        """The running proxy does not write the startup cache again, either."""
        a, m, b = self.trio()
        p = self.start(m, b)
        for _ in range(2):
            self.works(p, m)
            self.assertIn("result", p.ask("tools/list"))
            self.assertEqual(self.command("logout", m.url)[0], 0)
            self.assertIn("result", p.ask("tools/list"))
        p.finish()
        self.assertEqual(self.cached(), [])

    def test_nobody_is_signed_in(self):
        a, m, b = self.trio()
        self.start(m, b).finish()
        for name in os.listdir(self.store()):
            os.unlink(os.path.join(self.store(), name))
        self.assertFalse(self.shown(m, "--no-browser"))

    def test_machine(self):
        """Each start gets a new token for the same client: the cache file
        stays the same."""
        a = self.auth()
        c = a.add_client("m")
        m = self.protected(a)
        args = ("--auth", "client-credentials", "--client-id", "m",
                "--client-secret-env", "S", "--issuer", a.issuer)
        seen = []
        for _ in range(2):
            p = self.splice(m, *args, env={"S": c.secret})
            p.hello()
            p.finish()
            name, = self.cached()
            with open(os.path.join(self.home, ".cache/mcpsplice", name)) as f:
                seen.append(f.read())
            self.spend()
            a.expire()
        self.assertEqual(a.token_requests("client_credentials"), 2)
        self.assertEqual(seen[0], seen[1])


if __name__ == "__main__":
    support.main()
