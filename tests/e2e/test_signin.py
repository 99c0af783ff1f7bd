"""Signing in with a browser, against the scripted authorization server: which
requests the proxy makes, in which order, as which client, and what it does
with the answers.  test_signin_tokens.py tests scopes and renewals,
test_signin_waits.py waiting and the other ways to sign in,
test_signin_account.py the commands and what mcp-remote left behind."""

import json
import os
import re
import shutil
import socket
import time
import urllib.parse

import authserver
import ports
import support
from authserver import having, pairs
from support import init

META = "/.well-known/oauth-authorization-server"
PRM = "/.well-known/oauth-protected-resource"
RETRY = 40.0            # a retry may be held back for some time
ENDED = 60.0            # for a command, under a sanitizer, on a busy machine


class Base(authserver.Case):
    def trio(self, a=None, **knobs):
        """Authorization server, MCP server, browser."""
        a = a or self.auth()
        return a, self.protected(a, **knobs), self.browser()

    def start(self, m, b, *args, **kw):
        """A proxy that has done the initialize handshake."""
        p = self.splice(m, "--browser", b.command, *args, **kw)
        p.hello()
        return p

    def works(self, p, m, name="echo", **args):
        """A call succeeds, and the server ran it once."""
        key = "key-%d" % self.count()
        answer = p.tool(name, key=key, **args)
        self.assertIn("result", answer, p.err()[-1500:])
        self.assertEqual(m.runs(key), 1)

    def works_soon(self, p, m, name="echo"):
        """The same, perhaps after errors; a call that failed did not run."""
        end = time.monotonic() + RETRY
        while True:
            key = "key-%d" % self.count()
            if "result" in p.tool(name, key=key):
                self.assertEqual(m.runs(key), 1)
                return
            self.assertEqual(m.runs(key), 0)
            if time.monotonic() > end:
                self.fail("it never works: " + p.err()[-1500:])
            time.sleep(0.2)

    def fails(self, p, m, *words, reason="auth_required", name="echo"):
        """A call gets an error with these words, and does not run."""
        key = "key-%d" % self.count()
        e = self.our_error(p.tool(name, key=key), reason)
        for word in words:
            self.assertIn(word, e["message"])
        self.assertEqual(m.runs(key), 0)
        return e

    def first(self, p):
        """The error message that the client's initialize gets."""
        return self.our_error(p.ask("initialize", init()["params"]),
                              "auth_required")["message"]

    def moved(self, a):
        """How often a login had to take another port, because another process
        has the port of the login before: that happens when many tests run at
        once, and costs a registration."""
        ports = [urllib.parse.urlsplit(dict(pairs(
            r.target.partition("?")[2]))["redirect_uri"]).port
            for r in a.seen_at(a.path + "/authorize")]
        n = 0
        for before, after in zip(ports, ports[1:]):
            if before != after:
                with socket.socket() as s:
                    try:
                        s.bind(("127.0.0.1", before))
                    except OSError:
                        n += 1
        return n

    def counted(self, a, authorize=1, register=1, refresh=0, code=None):
        """Checks how many requests of each kind a has had."""
        if a.registrations > register:
            register += min(self.moved(a), a.registrations - register)
        self.assertEqual(
            {"authorize": a.authorizations, "register": a.registrations,
             "refresh": a.token_requests("refresh_token"),
             "code": a.token_requests("authorization_code")},
            {"authorize": authorize, "register": register,
             "refresh": refresh,
             "code": authorize if code is None else code})

    @staticmethod
    def trail(server):
        """The requests that the server got, without their queries."""
        with server.lock:
            return [("%s %s %s" % (r.method, r.target.split("?")[0],
                                   r.rpc or "")).strip()
                    for r in server.requests]

    def asked(self, a, n=0):
        """The parameters of the n-th authorization."""
        return dict(pairs(a.seen_at(a.path + "/authorize")[n]
                          .target.partition("?")[2]))

    def form(self, a, n=-1):
        """The parameters of the n-th token request."""
        return dict(pairs(a.seen_at(a.path + "/token")[n].body.decode()))

    def record_path(self):
        names = [n for n in os.listdir(self.store()) if n.endswith(".json")]
        self.assertEqual(len(names), 1, names)
        return os.path.join(self.store(), names[0])

    def record(self):
        return authserver.read_record(self.record_path())

    def edit_record(self, server_public=None, **token):
        """Changes fields of the token in the store, or the MCP server's URL
        there."""
        doc = self.record()
        doc["token"].update(token)
        if server_public is not None:
            doc["server_public"] = server_public
        self.put_record(doc)

    def put_record(self, doc):
        path = self.record_path()
        with open(path + ".x", "w") as f:
            json.dump(doc, f)
        os.chmod(path + ".x", 0o600)
        os.rename(path + ".x", path)

    def spend(self):
        """Makes the token in the store expired by its own expires_at."""
        now = int(time.time())
        self.edit_record(obtained_at=now - 7200, expires_at=now - 3600)


class Patient(Base):
    def until(self, test, p=None, seconds=ENDED):
        end = time.monotonic() + seconds
        while not test():
            if time.monotonic() > end:
                self.fail("it does not happen; stderr " +
                          (p.err()[-1500:] if p else ""))
            time.sleep(0.05)

    def lazy(self, **knobs):
        """A browser that follows no URL, and one that the test drives."""
        a = self.auth()
        return (a, self.protected(a, **knobs), self.browser(follow=False),
                self.browser())

    def kept(self):
        return os.path.isdir(self.store()) and any(
            n.endswith(".json") for n in os.listdir(self.store()))

    def command(self, *args, **kw):
        return self.once([str(a) for a in args], seconds=ENDED, **kw)


class Start(Base):
    def test_cold(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(self.trail(m)[:3], [
            "POST /mcp initialize", "GET " + PRM + "/mcp",
            "POST /mcp initialize"])
        self.assertEqual(self.trail(m).count("POST /mcp initialize"), 2)
        self.assertEqual(self.trail(a), ["GET " + META, "POST /register",
                                         "GET /authorize", "POST /token"])
        self.assertEqual([code for _, code in m.refused], [401])
        self.assertIsNone(m.requests[0].get("Authorization"))
        self.assertEqual(len(b.opened()), 1)
        self.assertEqual(self.asked(a)["resource"], m.url)
        self.assertEqual(self.form(a)["resource"], m.url)
        self.assertIn(b.url(), p.err())

    def test_not_asked_for(self):
        """If a server asks for no token, the proxy never looks for one."""
        a, m, b = self.trio()
        m.open_rpc = {"initialize", "notifications/initialized", None,
                      "tools/call", "tools/list"}
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(a.requests, [])
        self.assertEqual([t for t in self.trail(m) if "/mcp" not in t], [])
        self.assertEqual([r for r in m.requests if r.get("Authorization")],
                         [])
        self.assertEqual(b.opened(), [])

    def test_only_a_tool(self):
        """The first request that gets a 401 is a tool call."""
        a, m, b = self.trio()
        m.open_rpc = {"initialize", "notifications/initialized", None}
        p = self.start(m, b)
        self.assertEqual(a.requests, [])
        self.works(p, m)
        self.counted(a)

    def test_second_start(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        p.finish()
        asked, before = len(a.requests), len(m.requests)
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(len(a.requests), asked)
        self.assertEqual([t for t in self.trail(m)[before:] if PRM in t], [])
        self.assertEqual(len(m.refused), 1)
        self.assertEqual(len(b.opened()), 1)

    def test_store(self):
        """The store's path and permissions."""
        a, m, b = self.trio()
        self.start(m, b)
        self.assertEqual(os.stat(self.store()).st_mode & 0o777, 0o700)
        for name in os.listdir(self.store()):
            mode = os.stat(os.path.join(self.store(), name)).st_mode
            self.assertEqual(mode & 0o077, 0, name)
        self.assertIn(self.record()["token"]["access_token"], a.secrets())


class Discovery(Base):
    def test_places_of_the_resource_metadata(self):
        for named in (True, False):
            for where in ("path", "root"):
                a, m, b = self.trio(names_prm=named, prm=(where,))
                self.works(self.start(m, b), m)
                self.counted(a)
                self.assertEqual(self.asked(a)["resource"], m.url)
                looked = [t for t in self.trail(m) if PRM in t]
                path, root = "GET %s/mcp" % PRM, "GET " + PRM
                self.assertEqual(looked, [root] if named and where == "root"
                                 else [path] if where == "path"
                                 else [path, root])

    def test_no_challenge_at_all(self):
        a, m, b = self.trio(challenge=lambda rx, error, scope: None)
        self.works(self.start(m, b), m)
        self.counted(a)

    def test_custom_place(self):
        a, m, b = self.trio(prm=(), prm_path="/custom")
        self.works(self.start(m, b), m)
        self.counted(a)
        self.assertIn("GET /custom", self.trail(m))

    def test_issuers_with_a_path(self):
        for form in ("oauth", "oidc", "oidc-append"):
            a, m, b = self.trio(self.auth("/tenant", forms=(form,)))
            self.works(self.start(m, b), m)
            self.counted(a)

    def test_legacy(self):
        """A server of 2025-03-26 is its own authorization server."""
        for forms in (("oauth",), ()):
            a, m, b = self.trio(self.auth(forms=forms, iss=False,
                                          needs_resource=False),
                                prm=(), names_prm=False)
            m.host_auth()
            self.works(self.start(m, b), m)
            self.counted(a)
            looked = a.seen_at(META)
            self.assertEqual([r.get("MCP-Protocol-Version") for r in looked],
                             ["2025-03-26"])
            self.assertNotIn("resource", self.asked(a))

    def test_legacy_iss(self):
        """A server without metadata cannot claim another issuer: the redirect
        may have no iss but the server's own origin."""
        for own in (False, True):
            a, m, b = self.trio(self.auth(forms=(), iss=False,
                                          needs_resource=False),
                                prm=(), names_prm=False)
            m.host_auth()
            a.always("authorize", having(iss=m.origin if own
                                         else "https://other.test"))
            if own:
                self.works(self.start(m, b), m)
            else:
                said = self.first(self.splice(m, "--browser", b.command))
                self.assertIn("(iss)", said)
                self.counted(a, code=0)

    def test_legacy_renews(self):
        a, m, b = self.trio(self.auth(forms=(), iss=False,
                                      needs_resource=False),
                            prm=(), names_prm=False)
        m.host_auth()
        p = self.start(m, b)
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)

    def test_issuer_given(self):
        """--issuer takes precedence over the issuer that the server lists."""
        a, other = self.auth(), self.auth()
        m, b = self.protected(a, issuers=[other.issuer]), self.browser()
        self.works(self.start(m, b, "--issuer", a.issuer), m)
        self.counted(a)
        self.assertEqual(other.requests, [])

    def test_issuer_that_has_no_document(self):
        """The listed metadata names another issuer.  The error has the
        --issuer option to copy, and with that option the sign-in works."""
        other = "http://127.0.0.1:1"
        a, m, b = self.trio(self.auth("/tenant"))
        a.always("metadata", having(issuer=other))
        a.always("authorize", having(iss=other))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        p.finish()
        self.assertTrue(e["message"].endswith("--issuer " + other), e)
        self.counted(a, 0, 0)
        p = self.start(m, b, "--issuer", other)
        self.works(p, m)
        self.assertEqual(self.record()["issuer"], other)
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)

    def test_issuer_that_a_hostile_server_claims(self):
        """Metadata on another host claims the issuer of --issuer: the proxy
        refuses a token endpoint on a third host, and sends no secret."""
        other = "http://127.0.0.1:1"
        for change, args in (
                ({"token_endpoint": "http://127.0.0.1:2/token"}, []),
                ({}, ["--client-id", "x", "--client-secret-env", "S"])):
            a, m, b = self.trio()
            a.always("metadata", having(issuer=other, **change))
            p = self.splice(m, "--browser", b.command, "--issuer", other,
                            "--start", "wait", *args,
                            env={"S": "for-the-real-one"})
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
            self.assertIn("its host is not that of the issuer", e["message"])
            self.counted(a, 0, 0)
            p.finish()

    def test_metadata_in_trouble(self):
        """The metadata gets a 503 once: the call waits for a retry.  With
        --retry-window 0 it gets an error, and a later call works."""
        for window, waits in (("45", True), ("0", False)):
            a, m, b = self.trio()
            m.open_rpc = {"initialize", "notifications/initialized", None}
            p = self.start(m, b, "--retry-window", window)
            a.script("metadata", authserver.status(503))
            if waits:
                self.works(p, m)
            else:
                self.fails(p, m, "503")
                self.works_soon(p, m)
            self.counted(a)

    def test_issuer_written_in_another_way(self):
        """The server lists the issuer with a "/" at the end: the spelling in
        the metadata counts, for the redirect and for the record."""
        a, m, b = self.trio()
        m.issuers = [a.issuer + "/"]
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(self.record()["issuer"], a.issuer)
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)

    def test_wrong_issuer_in_metadata(self):
        a, m, b = self.trio()
        a.always("metadata", having(issuer="http://127.0.0.1:1"))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertIn("issuer", e["message"])
        self.counted(a, 0, 0)
        self.assertEqual(b.opened(), [])

    def test_no_pkce(self):
        """If the metadata does not list S256, no browser is opened, except
        with --assume-pkce."""
        a, m, b = self.trio()
        a.always("metadata", authserver.without(
            "code_challenge_methods_supported"))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertIn("--assume-pkce", e["message"])
        self.counted(a, 0, 0)
        self.works(self.start(m, b, "--assume-pkce"), m)
        self.counted(a)


class Clients(Base):
    def test_document(self):
        a, m, b = self.trio(self.auth(documents={"https://c.test/d"}))
        self.works(self.start(m, b, "--client-metadata-url",
                              "https://c.test/d"), m)
        self.counted(a, register=0)
        self.assertEqual(self.asked(a)["client_id"], "https://c.test/d")

    def test_document_to_host(self):
        """The server accepts only a client metadata document: the error names
        the option, and the proxy's requests match the document in contrib."""
        with open(os.path.join(os.path.dirname(__file__), "../../contrib",
                               "client-metadata.json")) as f:
            doc = json.load(f)
        url = doc["client_id"]
        a, m, b = self.trio(self.auth(registers=False, documents={url}))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertIn("--client-metadata-url", e["message"])
        self.counted(a, 0, 0)
        p.finish()
        for args, at in (([], 0), (["--callback-host", "localhost"], 1)):
            p = self.start(m, b, "--client-metadata-url", url, *args)
            self.works(p, m)
            p.finish()
            q = dict(pairs(a.seen_at("/authorize")[-1].target
                           .partition("?")[2]))
            self.assertEqual(q["client_id"], url)
            self.assertIn(q["response_type"], doc["response_types"])
            # RFC 8252 7.3: any port of loopback
            self.assertEqual(re.sub(r":\d+/", "/", q["redirect_uri"]),
                             doc["redirect_uris"][at])
            shutil.rmtree(self.store())
        self.assertEqual(doc["token_endpoint_auth_method"], "none")
        self.assertNotIn("Authorization", a.seen_at("/token")[-1].headers)
        self.assertIn("refresh_token", doc["grant_types"])

    def test_document_that_the_server_does_not_know(self):
        a, m, b = self.trio()
        self.works(self.start(m, b, "--client-metadata-url",
                              "https://c.test/d"), m)
        self.counted(a)

    def test_given(self):
        for method in ("client_secret_basic", "client_secret_post", "none"):
            a, m, b = self.trio(self.auth(registers=False))
            c = a.add_client("by hand", method)
            a.methods = [method]
            args = ["--client-id", "by hand"]
            if c.secret:
                where = self.path("given/secret", c.secret + "\n", 0o600)
                self.may_hold.append(where)
                args += ["--client-secret-file", where, "--issuer", a.issuer]
            p = self.start(m, b, *args)
            self.works(p, m)
            a.expire()
            self.works(p, m)
            self.counted(a, register=0, refresh=1)

    def test_secret_for_whom(self):
        """The proxy sends no secret to an issuer that only the server names;
        the error has the --issuer option to copy."""
        for args in ([], ["--auth", "client-credentials"],
                     ["--auth", "device"]):
            a, m, b = self.trio(self.auth(registers=False))
            c = a.add_client("x")
            args += ["--client-id", "x", "--client-secret-env", "S"]
            p = self.splice(m, "--browser", b.command, *args,
                            env={"S": c.secret})
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
            self.assertTrue(e["message"].endswith("--issuer " + a.issuer), e)
            self.assertEqual([r.method for r in a.requests], ["GET"])
            self.assertEqual(b.opened(), [])
            p.finish()

    def test_statement_for_whom(self):
        """The same for a software statement or a secret in client metadata."""
        for name in ("software_statement", "client_secret"):
            a, m, b = self.trio()
            args = ["--static-oauth-client-metadata", '{"%s":"a.b.c"}' % name]
            p = self.splice(m, "--browser", b.command, *args)
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
            self.assertTrue(e["message"].endswith("--issuer " + a.issuer), e)
            self.counted(a, 0, 0)
            p.finish()
            p = self.start(m, b, *args, "--issuer", a.issuer)
            self.works(p, m)
            p.finish()
        self.assertEqual(a.violations, ["POST /register: it chose a secret"])
        a.violations.clear()

    def test_secret_at_the_servers_own(self):
        """If the MCP server is its own authorization server, the secret is
        sent without --issuer."""
        a, m, b = self.trio(self.auth(iss=False, needs_resource=False,
                                      registers=False),
                            prm=(), names_prm=False)
        m.host_auth()
        c = a.add_client("x")
        self.works(self.start(m, b, "--client-id", "x",
                              "--client-secret-env", "S",
                              env={"S": c.secret}), m)

    def test_secret_where_the_server_is_not(self):
        """With --unix-socket, the program that listens at the URL's port is
        not the server, so the secret is not sent without --issuer."""
        path = self.path("s.sock")
        self.http(authserver.status(401), unix=path)
        a, m, b = self.trio()
        m.host_auth()
        args = ["--unix-socket", path, "--client-id", "x",
                "--client-secret-env", "S"]
        for more in ([], ["--auth", "client-credentials"]):
            p = self.splice(m.url, "--browser", b.command, *args, *more,
                            env={"S": "sesame"})
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
            self.assertTrue(e["message"].endswith("--issuer " + a.issuer), e)
            self.counted(a, 0, 0)
            p.finish()

    def test_secret_that_was_sent_before(self):
        """A record in the store does not show whom the secret is for: without
        --issuer it is not sent."""
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        args = ["--client-id", "x", "--client-secret-env", "S"]
        p = self.start(m, b, *args, "--issuer", a.issuer, env={"S": c.secret})
        self.works(p, m)
        p.finish()
        a.expire()
        n = a.token_requests()
        p = self.splice(m, "--browser", b.command, *args, env={"S": c.secret})
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertTrue(e["message"].endswith("--issuer " + a.issuer), e)
        self.assertEqual(a.token_requests(), n)

    def test_secret_that_came_later(self):
        """A client without a secret may have signed in at a server that only
        claims to be the issuer.  A secret that is given later is not sent
        to that server."""
        honest = self.auth(forms=())
        a, m, b = self.trio(self.auth(registers=False, iss=False))
        a.always("metadata", authserver.having(issuer=honest.issuer))
        c = a.add_client("x", "none")
        args = ["--client-id", "x", "--issuer", honest.issuer]
        p = self.start(m, b, *args)
        self.works(p, m)
        p.finish()
        a.expire()
        self.spend()
        n = a.token_requests()
        p = self.splice(m, "--browser", b.command, *args,
                        "--client-secret-env", "S", env={"S": "sesame"})
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertIn("its host is not that of the issuer", e["message"])
        self.assertEqual(a.token_requests(), n)

    def test_secret_that_came_later_at_the_servers_own(self):
        """The same if that issuer is the MCP server's own origin, for which a
        secret needs no --issuer."""
        a, m, b = self.trio(self.auth(registers=False, iss=False))
        a.always("metadata", authserver.having(issuer=m.origin))
        a.add_client("x", "none")
        args = ["--client-id", "x"]
        p = self.start(m, b, *args, "--issuer", m.origin)
        self.works(p, m)
        p.finish()
        a.expire()
        self.spend()
        n = a.token_requests()
        p = self.splice(m, "--browser", b.command, *args,
                        "--client-secret-env", "S", env={"S": "sesame"})
        self.our_error(p.ask("initialize", init()["params"]), "auth_required")
        self.assertEqual(a.token_requests(), n)

    def test_secret_that_came_later_for_the_end(self):
        """The same if only the revocation endpoint is on that server: a token
        that was renewed with the secret would be revoked with it, too."""
        honest = self.auth(registers=False, iss=False, forms=())
        at = honest.issuer
        honest.add_client("x", "none")
        other = self.auth(iss=False)
        other.always("metadata", having(issuer=at,
                                        authorization_endpoint=at +
                                        "/authorize",
                                        token_endpoint=at + "/token",
                                        registration_endpoint=None))
        m, b = self.protected(honest), self.browser()
        m.issuers = [other.issuer]
        args = ["--client-id", "x", "--issuer", at]
        p = self.start(m, b, *args)
        self.works(p, m)
        p.finish()
        honest.expire()
        self.spend()
        p = self.splice(m, "--browser", b.command, *args,
                        "--client-secret-env", "S", env={"S": "sesame"})
        e = self.our_error(p.ask("initialize", init()["params"]),
                           "auth_required")
        self.assertIn("its host is not that of the issuer", e["message"])
        self.assertNotIn("secret", self.record()["client"])

    def test_given_secret_is_changed(self):
        """The secret given by options is used, not the one in the store."""
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        where = self.path("secret", c.secret, 0o600)
        self.may_hold.append(where)
        args = ["--client-id", "x", "--client-secret-file", where,
                "--issuer", a.issuer]
        self.start(m, b, *args).finish()
        c = a.add_client("x")
        self.path("secret", c.secret, 0o600)
        a.expire()
        self.works(self.start(m, b, *args), m)
        self.counted(a, register=0, refresh=1)

    def test_given_by_the_environment(self):
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        p = self.start(m, b, "--client-id", "x", "--client-secret-env",
                       "SESAME", "--issuer", a.issuer,
                       env={"SESAME": c.secret})
        self.works(p, m)
        self.assertNotIn("SESAME", b.witness()[0]["env"])

    def test_given_as_mcp_remote_has_it(self):
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        where = self.path("info.json", json.dumps(
            {"client_id": "x", "client_secret": c.secret}), 0o600)
        self.may_hold.append(where)
        meta = self.path("meta.json", '{"scope": "s1 s2"}')
        self.works(self.start(m, b, "--static-oauth-client-info", "@" + where,
                              "--static-oauth-client-metadata", "@" + meta,
                              "--issuer", a.issuer),
                   m)
        self.counted(a, register=0)
        self.assertEqual(self.asked(a)["scope"], "s1 s2")

    def test_secret_that_is_not_good_any_more(self):
        """The secret was changed at the issuer: the error has the option, no
        browser is opened, as a new sign-in would fail in the same way, and
        the store keeps the token."""
        a, m, b = self.trio(self.auth(registers=False))
        c = a.add_client("x")
        args = ["--client-id", "x", "--client-secret-env", "S", "--issuer",
                a.issuer]
        p = self.start(m, b, *args, env={"S": c.secret})
        c.secret = "n3w-" + c.secret
        a.expire()
        self.fails(p, m, "invalid_client", "--client-secret-file")
        p.finish()
        self.assertEqual(len(b.opened()), 1)
        self.assertIn("POST /token: a wrong secret", a.violations)
        a.violations.clear()
        self.works(self.start(m, b, *args, env={"S": c.secret}), m)
        self.assertEqual(a.authorizations, 1)

    def test_given_for_the_other_way(self):
        """The authentication methods in the metadata may be wrong for this
        client: the proxy sends the secret all the same, and after
        invalid_client tries the other method once, and keeps to that one."""
        basic, post = "client_secret_basic", "client_secret_post"
        for told, takes in (([basic, post], basic), ([basic], post),
                            ([post], basic), (["none"], basic),
                            (["none", basic], post), (None, post)):
            a, m, b = self.trio(self.auth(registers=False))
            a.methods = told
            c = a.add_client("x", takes)
            a.script("token", authserver.error("invalid_client", 401))
            p = self.start(m, b, "--client-id", "x", "--client-secret-env",
                           "S", "--issuer", a.issuer, env={"S": c.secret})
            self.works(p, m)
            self.counted(a, register=0, code=2)
            first = a.seen_at(a.path + "/token")[0]
            self.assertEqual(first.get("Authorization") is None,
                             takes == basic)
            self.assertEqual("client_secret" in self.form(a, 0),
                             takes == basic)
            a.expire()
            self.works(p, m)
            self.counted(a, register=0, code=2, refresh=1)
            p.finish()

    def test_no_client_in_the_form(self):
        """The server lists Basic, but answers "Missing client_id" to it: the
        proxy sends the same code with a client_id, and opens no second tab."""
        a, m, b = self.trio(self.auth(methods=["client_secret_basic"]))
        missing = authserver.error("unauthorized_client", 401,
                                   "Missing client_id")
        a.script("token", missing)
        p = self.start(m, b)
        first, second = self.form(a, 0), self.form(a, 1)
        self.assertNotIn("client_id", first)
        self.assertEqual(second.pop("client_id"),
                         self.record()["client"]["id"])
        self.assertEqual(first, second)
        self.assertNotIn("client_secret", first)
        self.counted(a, code=2)
        a.script("token", missing)
        a.expire()
        self.works(p, m)
        self.counted(a, code=2, refresh=2)

    def test_no_registration(self):
        a, m, b = self.trio(self.auth(registers=False))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]))
        self.assertIn("--client-id", e["message"])
        self.counted(a, 0, 0)

    def test_registration_refused(self):
        a, m, b = self.trio()
        a.script("register", authserver.error("invalid_client_metadata", 400,
                                              "not like this"))
        p = self.splice(m, "--browser", b.command)
        e = self.our_error(p.ask("initialize", init()["params"]))
        self.assertIn("not like this", e["message"])
        self.counted(a, 0, 1)

    def test_registered_secret(self):
        """A server may give a secret to the client that registers."""
        for method in ("client_secret_basic", "client_secret_post"):
            a, m, b = self.trio(self.auth(methods=[method]))
            p = self.start(m, b)
            a.expire()
            self.works(p, m)
            self.counted(a, refresh=1)

    def test_only_localhost(self):
        a, m, b = self.trio(self.auth(only_localhost=True))
        self.works(self.start(m, b), m)
        self.counted(a, register=2)
        self.assertTrue(self.asked(a)["redirect_uri"]
                        .startswith("http://localhost:"))

    def test_only_localhost_in_words(self):
        """The same with another error code, which some servers use."""
        a, m, b = self.trio()
        a.script("register", authserver.error(
            "invalid_client_metadata", 400,
            "redirect_uris must be https or Localhost"))
        self.works(self.start(m, b), m)
        self.counted(a, register=2)

    def test_client_is_used_again(self):
        """The second login uses the same client, so the same redirect URI and
        port."""
        a, m, b = self.trio(self.auth(refreshes=False))
        p = self.start(m, b)
        a.expire()
        self.works(p, m)
        self.counted(a, authorize=2, register=1)
        if not self.moved(a):
            self.assertEqual(self.asked(a, 0)["redirect_uri"],
                             self.asked(a, 1)["redirect_uri"])

    def test_port_of_the_client_is_taken(self):
        """Another port makes another redirect URI, so the proxy registers
        again."""
        a, m, b = self.trio(self.auth(refreshes=False))
        p = self.start(m, b)
        port = urllib.parse.urlsplit(self.asked(a)["redirect_uri"]).port
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            s.listen()
            a.expire()
            self.works(p, m)
        self.counted(a, authorize=2, register=2)

    def test_stale_at_the_refresh(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        a.forget_clients()
        a.expire()
        self.works(p, m)
        self.counted(a, authorize=2, register=2, refresh=1)
        self.assertEqual(a.reuse_events, 0)

    def test_what_verbose_says(self):
        """The proxy logs the login process's messages as its own."""
        a, m, b = self.trio()
        p = self.start(m, b, "-v")
        a.forget_clients()
        a.expire()
        self.works(p, m)
        self.assertIn("mcpsplice: sign-in: the authorization server did "
                      "not renew the token: invalid_client", p.err())
        self.assertNotIn("fetching", p.err())
        p.finish()
        a.revoke()
        p = self.start(m, b)
        self.assertNotIn("did not renew", p.err())
        p.finish()
        a.revoke()
        p = self.start(m, b, "-vv")
        self.assertIn("fetching " + m.origin + PRM, p.err())

    def test_stale_at_the_code(self):
        a, m, b = self.trio()
        a.script("token", authserver.error("invalid_client", 401))
        self.works(self.start(m, b), m)
        self.counted(a, authorize=2, register=2)

    def test_stale_in_the_browser(self):
        """Only the page in the browser says that the client is unknown: that
        login fails, and the next one registers again."""
        a, m, b = self.trio(self.auth(refreshes=False))
        p = self.start(m, b)
        a.forget_clients()
        a.expire()
        p.finish()
        status, _, err = self.once(["login", m.url, "--browser", b.command,
                                    "--login-timeout", "6"])
        self.assertEqual(status, 1, err)
        self.counted(a, authorize=2, register=1, code=1)
        status, _, err = self.once(["login", m.url, "--browser", b.command])
        self.assertEqual(status, 0, err)
        self.counted(a, authorize=3, register=2, code=2)
        self.works(self.start(m, b), m)
        self.counted(a, authorize=3, register=2, code=2)

    def test_secret_that_is_over(self):
        a, m, b = self.trio(self.auth(methods=["client_secret_basic"],
                                      secret_life=1, refreshes=False))
        p = self.start(m, b)
        end = self.record()["client"]["secret_expires_at"]
        while time.time() <= end:
            time.sleep(0.1)
        a.expire()
        self.works(p, m)
        self.counted(a, authorize=2, register=2)


class Options(Base):
    def redirect(self, *args):
        a, m, b = self.trio()
        self.works(self.start(m, b, *args), m)
        return urllib.parse.urlsplit(self.asked(a)["redirect_uri"])

    def test_callback(self):
        port = ports.free_port()
        u = self.redirect("--callback-port", port)
        self.assertEqual(u.netloc, "127.0.0.1:%d" % port)
        self.assertEqual(u.path, "/callback")
        self.assertEqual(self.redirect("--callback-path", "/a/b").path,
                         "/a/b")
        u = self.redirect("--callback-host", "localhost")
        self.assertEqual(u.hostname, "localhost")
        u = self.redirect("--host", "localhost")
        self.assertEqual(u.hostname, "localhost")

    def test_localhost_is_taken(self):
        """Another program has the port at [::1]: a browser that is sent to
        "localhost" may give the code to that program."""
        try:
            other = socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError:
            self.skipTest("no IPv6")
        with other:
            port = other.getsockname()[1]
            a, m, b = self.trio()
            p = self.splice(m, "--browser", b.command, "--callback-port",
                            port, "--callback-host", "localhost")
            e = self.our_error(p.ask("initialize", init()["params"]))
            self.assertIn("port %d of localhost" % port, e["message"])
            self.counted(a, 0, 0)
            a, m, b = self.trio(self.auth(only_localhost=True))
            p = self.splice(m, "--browser", b.command, "--callback-port",
                            port)
            e = self.our_error(p.ask("initialize", init()["params"]))
            self.assertIn("--client-id", e["message"])
            self.counted(a, 0, 1)
            self.assertEqual(b.opened(), [])
            a, m, b = self.trio()
            self.works(self.start(m, b, "--callback-port", port), m)

    def test_callback_port_is_taken(self):
        a, m, b = self.trio()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            p = self.splice(m, "--browser", b.command, "--callback-port",
                            s.getsockname()[1])
            e = self.our_error(p.ask("initialize", init()["params"]))
        self.assertIn("--callback-port", e["message"])
        self.counted(a, 0, 0)
        self.assertEqual(b.opened(), [])

    def test_resource(self):
        a, m, b = self.trio(needs_audience=False)
        p = self.start(m, b, "--resource", "urn:x:y")
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)
        self.assertEqual(self.asked(a)["resource"], "urn:x:y")
        self.assertEqual({self.form(a, n)["resource"] for n in (0, 1)},
                         {"urn:x:y"})

    def test_no_resource(self):
        a, m, b = self.trio(self.auth(needs_resource=False))
        p = self.start(m, b, "--no-resource")
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)
        for doc in (self.asked(a), self.form(a, 0), self.form(a, 1)):
            self.assertNotIn("resource", doc)

    def test_authorize_param(self):
        a, m, b = self.trio()
        self.works(self.start(m, b, "--authorize-param", "prompt=a b&c",
                              "--authorize-param", "audience=x"), m)
        self.assertEqual(self.asked(a)["prompt"], "a b&c")
        self.assertEqual(self.asked(a)["audience"], "x")
        self.assertNotIn("prompt", self.form(a))

    def test_authorize_param_of_ours(self):
        a, m, b = self.trio()
        for name in ("state", "redirect_uri"):
            p = self.splice(m, "--browser", b.command, "--authorize-param",
                            name + "=x")
            e = self.our_error(p.ask("initialize", init()["params"]))
            self.assertIn(name, e["message"])
            p.finish(2)
        self.assertEqual(m.requests, [])
        self.counted(a, 0, 0)

    def test_token_endpoint(self):
        a, m, b = self.trio()
        a.always("metadata", having(token_endpoint=a.issuer + "/nothing"))
        p = self.start(m, b, "--token-endpoint", a.issuer + "/token")
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=1)
        self.assertEqual(a.seen_at("/nothing"), [])


class Moved(Base):
    def secrets_of(self, a):
        with a.lock:
            return [t for _, t in a.made]

    def test_another_issuer(self):
        """No secret of the old issuer is sent to the new one, and the old
        issuer gets no more requests."""
        old, m, b = self.trio()
        p = self.start(m, b)
        seen = len(old.requests)
        new = self.auth()
        m.use(new)
        self.works(p, m)
        self.counted(new)
        self.assertEqual(len(old.requests), seen)
        for r in new.requests:
            text = r.target + r.body.decode() + str(r.get("Authorization"))
            for secret in self.secrets_of(old):
                self.assertNotIn(secret, text)
        p.finish()
        self.works(self.start(m, b), m)
        self.counted(new)

    def test_given_client(self):
        """A --client-id is used only at the issuer that it was first used
        at, until --issuer names the new one."""
        old, m, b = self.trio()
        old.add_client("x", "none")
        args = ["--client-id", "x"]
        p = self.start(m, b, *args)
        new = self.auth()
        new.add_client("x", "none")
        m.use(new)
        self.fails(p, m, "--issuer " + new.issuer, old.issuer)
        self.counted(new, 0, 0)
        p.finish()
        self.works(self.start(m, b, "--issuer", new.issuer, *args), m)
        self.counted(new, register=0)


class Answers(Patient):
    """What the callback gets from the browser, and the token endpoint's
    answer."""

    def test_denied(self):
        a, m, b = self.trio()
        a.script("authorize", authserver.deny())
        p = self.splice(m, "--browser", b.command)
        text = self.first(p)
        self.assertIn("access_denied", text)
        self.assertIn("The person said no.", text)
        # for a minute neither this copy nor another opens a browser
        self.first(p)
        p.finish()
        p = self.splice(m, "--browser", b.command)
        self.assertIn("login", self.first(p))
        self.counted(a, authorize=1, code=0)
        self.assertEqual(len(b.opened()), 1)
        # but the login command does so at once
        status, _, err = self.once(["login", m.url, "--browser", b.command])
        self.assertEqual(status, 0, err)
        self.counted(a, authorize=2, code=1)

    def test_wrong_issuer(self):
        for step in (having(iss="https://evil.test"),
                     authserver.without("iss")):
            a, m, b = self.trio()
            a.script("authorize", step)
            p = self.splice(m, "--browser", b.command)
            self.assertIn("iss", self.first(p))
            self.counted(a, code=0)

    def test_issuer_with_two_names(self):
        """The redirect's iss may differ from the issuer in the metadata only
        if it is the issuer of --issuer; with that option it must be."""
        other = "http://127.0.0.1:1"
        for args, iss, offered in (
                ([], other, other),
                (["--issuer", other], "http://127.0.0.1:2", None),
                (["--issuer", other], None, None)):
            a, m, b = self.trio(self.auth(iss=False))
            a.script("authorize", having(**({"iss": iss} if iss else {})))
            p = self.splice(m, "--browser", b.command, *args)
            said = self.first(p)
            self.assertIn("(iss)", said)
            self.assertEqual(said.partition(" --issuer ")[2], offered or "")
            self.counted(a, code=0)
            p.finish()
            shutil.rmtree(self.store())
        a.always("authorize", having(iss=other))
        p = self.start(m, b, "--issuer", other)
        self.works(p, m)
        self.assertEqual(self.record()["issuer"], a.issuer)
        a.expire()
        self.works(p, m)
        self.assertEqual(a.token_requests("refresh_token"), 1)

    def test_issuer_that_registers_nobody(self):
        """The issuer of --issuer offers no registration, and the redirect's
        iss is that issuer: the proxy registers at the one that the server
        lists.  If neither registers, the error names the issuer's document."""
        own = self.auth(registers=False)
        a, m, b = self.trio(self.auth(iss=False))
        a.always("authorize", having(iss=own.issuer))
        self.works(self.start(m, b, "--issuer", own.issuer), m)
        a.expire()
        self.works(self.start(m, b, "--issuer", own.issuer), m)
        self.counted(a, refresh=1)
        self.counted(own, 0, 0)
        shutil.rmtree(self.store())
        a.registers = False
        self.assertIn("its own document at " + own.issuer + META,
                      self.first(self.splice(m, "--browser", b.command,
                                             "--issuer", own.issuer)))

    def test_no_issuer_promised(self):
        a, m, b = self.trio(self.auth(iss=False))
        self.works(self.start(m, b), m)
        self.counted(a)

    def test_wrong_state(self):
        """A callback with a wrong state is refused, and the right one can
        still come."""
        a = self.auth()
        m, b = self.protected(a), self.browser(follow=False)
        follow = self.browser()
        p = self.splice(m, "--browser", b.command, "--init-timeout", "100")
        ident = p.start("initialize", init()["params"])
        self.until(b.opened, p)
        url = b.url()
        uri = dict(pairs(url.partition("?")[2]))["redirect_uri"]
        for query in ("code=x&state=" + "w" * 43, "code=x", "",
                      "error=access_denied&state=" + "w" * 43):
            follow.go(uri + "?" + query)
        self.assertEqual([q["status"] >= 400 for q in follow.pages()],
                         [True] * 4, follow.pages())
        self.counted(a, authorize=0, code=0)
        follow.go(url)
        self.assertIn("result", p.answer(ident, ENDED))
        self.counted(a)
        self.assertEqual(follow.pages()[-1]["status"], 200)

    def test_the_page_tells(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        self.until(b.pages, p)
        page = b.pages()[0]
        self.assertEqual(page["status"], 200)
        for secret in a.secrets():
            self.assertNotIn(secret, page["text"])
        self.assertIn("no-store", page["headers"].get("Cache-Control", ""))

    def test_code_refused(self):
        a, m, b = self.trio()
        a.script("token", authserver.error("invalid_grant", 400, "too old"))
        p = self.splice(m, "--browser", b.command)
        self.assertIn("too old", self.first(p))
        self.counted(a)

    def test_unusable_tokens(self):
        for step, word in ((having(token_type="DPoP"), "DPoP"),
                           (authserver.without("access_token"),
                            "access_token"),
                           (authserver.html(), "web page")):
            a, m, b = self.trio()
            a.script("token", step)
            p = self.splice(m, "--browser", b.command)
            self.assertIn(word, self.first(p))
            self.counted(a)


if __name__ == "__main__":
    support.main()
