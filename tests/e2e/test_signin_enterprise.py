"""Signing in once at the identity provider of a company, for all its servers
(--auth enterprise): which requests go where, how often, with which secrets.
Base is in test_signin.py."""

import json
import os
import time

import authserver
import support
from authserver import EXCHANGE, ID_JAG, JWT_GRANT, having
from test_signin import Patient


class Case(Patient):
    """idp is the provider, sites the MCP servers with their own authorization
    servers, at which mcpsplice is the client "m"."""

    def setUp(self):
        super().setUp()
        self.idp = self.auth(path="/idp", user="ann@corp.example",
                             scopes=["openid", "offline_access"],
                             needs_resource=False, registers=False)
        self.idp_client = self.idp.add_client("corp")
        self.b = self.browser()
        self.sites = []

    def site(self, **knobs):
        a = self.auth(registers=False)
        c = a.add_client("m")
        m = self.protected(a, challenge_scope="r", **knobs)
        with self.idp.lock:
            self.idp.partners.append((a, "m"))
        m.secret_file = self.file(c.secret)
        m.pin = ["--issuer", a.issuer]
        self.sites.append(m)
        return m

    def file(self, text, mode=0o600):
        where = self.path("w%d" % self.count(), text, mode)
        self.may_hold.append(where)
        return where

    def options(self, m, *args):
        if not hasattr(self, "idp_secret"):
            self.idp_secret = self.file(self.idp_client.secret)
        return ["--auth", "enterprise", "--idp", self.idp.issuer,
                "--idp-client-id", "corp", "--idp-client-secret-file",
                self.idp_secret, "--client-id", "m", "--client-secret-file",
                m.secret_file, *m.pin, "-vv", *args]

    def splice_site(self, m, *args, **kw):
        if "--no-browser" not in args:
            args = ("--browser", self.b.command) + args
        return self.splice(m, *self.options(m), *args, **kw)

    def begin(self, m, *args, **kw):
        p = self.splice_site(m, *args, **kw)
        p.hello()
        return p

    def refused(self, m, *words, args=(), **kw):
        """The start fails with these words, at each try."""
        p = self.splice_site(m, *args, **kw)
        for _ in range(4):
            e = self.our_error(p.ask("initialize", {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}),
                "auth_required")
        for word in words:
            self.assertIn(word, e["message"])
        return p

    def signed_in(self, authorize=1, refresh=0, exchanges=None):
        self.assertEqual(self.idp.authorizations, authorize)
        self.assertEqual(self.idp.token_requests("refresh_token"), refresh)
        if exchanges is not None:
            self.assertEqual(self.idp.token_requests(EXCHANGE), exchanges)

    def grants(self, m):
        """How many token requests m's server got; all have a JWT grant."""
        n = m.auth.token_requests()
        self.assertEqual(n, m.auth.token_requests(JWT_GRANT))
        return n

    def records(self):
        found = {}
        for name in os.listdir(self.store()):
            if name.endswith(".json"):
                doc = authserver.read_record(
                    os.path.join(self.store(), name))
                found[doc["url"]] = (name, doc)
        return found

    def edit(self, url, **token):
        """Changes the token of a record."""
        name, doc = [r for u, r in self.records().items()
                     if u.startswith(url)][0]
        doc["token"].update(token)
        where = os.path.join(self.store(), name)
        with open(where + ".x", "w") as f:
            json.dump(doc, f)
        os.chmod(where + ".x", 0o600)
        os.rename(where + ".x", where)

    def tearDown(self):
        """Checks that no secret was sent to a host that it is not for."""
        mine = {"idp": {"access", "refresh", "id_token", "secret", "code",
                        "id_jag", "basic", "verifier"}}
        found = []
        for kind, text in self.idp.made:
            if kind not in mine["idp"]:
                continue
            for s in self.guarded:
                if s is self.idp:
                    continue
                for r in s.requests:
                    whole = "%s %r %s" % (r.target, r.headers,
                                          r.body.decode("utf-8", "replace"))
                    if text in whole and not (
                            kind == "id_jag" and
                            r.target.endswith("/token") and
                            text in getattr(s, "trusted", ())):
                        found.append("%s at %s" % (kind, s.origin))
        for m in self.sites:
            for kind, text in m.auth.made:
                for r in self.idp.requests:
                    if kind != "assertion" and text in "%r %s" % (
                            r.headers, r.body.decode("utf-8", "replace")):
                        found.append("%s of a site at the provider" % kind)
        super().tearDown()
        self.assertEqual(found, [])


class SignIn(Case):
    def test_one_sign_in(self):
        """Two servers need one browser tab, and one exchange and one grant
        each."""
        one, two = self.site(), self.site()
        for n, m in enumerate((one, two), 1):
            p = self.begin(m)
            self.works(p, m)
            self.works(p, m)
            self.signed_in(exchanges=n)
            self.assertEqual(self.grants(m), 1)
        q = self.idp.exchanges[0]
        self.assertEqual((q["audience"], q["resource"], q["scope"]),
                         (one.auth.issuer, one.url, "r"))
        self.assertEqual(self.form(one.auth)["resource"], one.url)
        asked = self.asked(self.idp)
        self.assertEqual(asked["scope"], "openid offline_access")
        self.assertNotIn("resource", asked)
        self.assertEqual(len(self.b.opened()), 1)

    def test_offline_access_where_it_is_offered(self):
        self.idp.scopes = None
        m = self.site()
        self.works(self.begin(m), m)
        self.assertEqual(self.asked(self.idp)["scope"], "openid")

    def test_a_new_token_for_the_server(self):
        """The proxy exchanges the ID token again, without the user and without
        a refresh."""
        m = self.site()
        p = self.begin(m)
        m.auth.expire()
        self.works(p, m)
        self.signed_in(exchanges=2)
        p.finish()
        self.works(self.begin(m), m)
        self.signed_in(exchanges=2)

    def test_renewal(self):
        """The proxy gets a new ID token with the provider's refresh token."""
        m = self.site()
        p = self.begin(m)
        self.works(p, m)
        self.edit(self.idp.issuer, id_token=self.idp.id_token(
            "corp", exp=int(time.time()) - 1))
        m.auth.expire()
        self.works(p, m)
        self.signed_in(refresh=1, exchanges=2)

    def test_dead_refresh(self):
        """A dead refresh token at the provider leads to one new sign-in."""
        m = self.site()
        p = self.begin(m)
        self.works(p, m)
        self.edit(self.idp.issuer, id_token=self.idp.id_token(
            "corp", exp=int(time.time()) - 1))
        self.idp.revoke()
        m.auth.expire()
        self.works(p, m)
        self.signed_in(authorize=2, refresh=1, exchanges=2)

    def test_what_needs_no_token(self):
        """The proxy finds out once that only the user could renew the token:
        further calls are sent with the expired one, without a sign-in."""
        m = self.site(open_rpc={"tools/call"})
        p = self.begin(m)
        over = int(time.time()) - 60
        self.edit(self.idp.issuer, refresh_token=None,
                  id_token=self.idp.id_token("corp", exp=over))
        self.edit(m.url, obtained_at=over - 60, expires_at=over)
        time.sleep(1.1)
        before = len(m.auth.seen_at("/.well-known/oauth-authorization-server"))
        for _ in range(5):
            self.works(p, m)
        self.assertEqual(before + 1, len(m.auth.seen_at(
            "/.well-known/oauth-authorization-server")))
        self.signed_in(exchanges=1)

    def test_dead_id_token(self):
        """The provider refuses an ID token before its exp: the proxy gets
        another with the refresh token."""
        m = self.site()
        p = self.begin(m)
        self.works(p, m)
        self.idp.id_tokens.clear()
        m.auth.expire()
        self.works(p, m)
        self.signed_in(refresh=1, exchanges=3)

    def test_id_tokens_that_are_dead_at_once(self):
        """The provider refuses each ID token: at most one more sign-in, and
        then an error."""
        m = self.site()
        self.idp.always("token", lambda rx, tx: authserver.error(
            "invalid_grant")(rx, tx) if EXCHANGE.encode().replace(b":", b"%3A")
            in rx.body else None)
        self.refused(m, "invalid_grant", "the identity provider")
        self.assertEqual(self.idp.token_requests(EXCHANGE), 2)
        self.assertLessEqual(self.idp.authorizations, 2)

    def test_device(self):
        """Without a browser, the proxy uses the provider's device codes."""
        m = self.site()
        p = self.begin(m, "--no-browser", "--handshake")
        self.works(p, m)
        self.assertEqual(self.idp.authorizations, 0)
        self.assertEqual(self.idp.counts["device"], 1)
        self.assertIn("enter the code", p.err())

    def test_eight(self):
        """Eight proxies: one sign-in, and one exchange for each server."""
        sites = [self.site(), self.site()]
        all_of_them = [(self.splice_site(m), m) for m in sites * 4]
        for p, m in all_of_them:
            p.hello()
            self.works(p, m)
        self.signed_in(exchanges=2)
        for m in sites:
            self.assertEqual(self.grants(m), 1)
        self.assertEqual(len(self.b.opened()), 1)

    def test_given_id_token(self):
        """The given ID token is used without a sign-in, and is read again for
        each exchange."""
        for way in ("file", "env", "command"):
            m = self.site()
            t = self.idp.id_token("corp")
            env = {}
            where = self.file(t + "\n")
            value = {"file": where, "env": "T", "command": self.file(
                "#!/bin/sh\ncat %s\n" % where, 0o700)}[way]
            if way == "env":
                env = {"T": t}
            p = self.begin(m, "--idp-token-" + way, value, env=env)
            self.works(p, m)
            self.assertEqual(self.idp.exchanges[-1]["subject_token"], t)
            if way == "env":
                continue
            t = self.idp.id_token("corp")
            with open(where, "w") as f:
                f.write(t)
            m.auth.expire()
            self.works(p, m)
            self.assertEqual(self.idp.exchanges[-1]["subject_token"], t)
        self.signed_in(authorize=0)

    def test_given_id_token_that_is_over(self):
        m = self.site()
        where = self.file(self.idp.id_token("corp", exp=1))
        self.refused(m, "--idp-token-file", "expired",
                     args=("--idp-token-file", where))
        with open(where, "w") as f:
            f.write(self.idp.id_token("other"))
        self.refused(m, "invalid_grant", args=("--idp-token-file", where))
        self.signed_in(authorize=0)

    def test_id_tokens_that_live_too_short(self):
        """A new ID token is too short-lived: there is no second sign-in."""
        self.idp.id_life = 5
        m = self.site()
        self.refused(m, "the ID token that was just issued is over")
        self.signed_in(exchanges=0)

    def test_without_a_store(self):
        m = self.site()
        p = self.begin(m, env={"HOME": None})
        self.works(p, m)
        self.works(p, m)
        self.signed_in(exchanges=1)

    def test_key(self):
        """The proxy's private_key_jwt assertion is for the provider."""
        key, pem = (self.path("key-%d" % self.count()) for _ in "ab")
        support.subprocess.run(
            ("openssl", "genpkey", "-out", key, "-algorithm", "EC", "-pkeyopt",
             "ec_paramgen_curve:P-256"), check=True)
        os.chmod(key, 0o600)
        support.subprocess.run(("openssl", "pkey", "-in", key, "-pubout",
                                "-out", pem), check=True)
        self.idp.methods = ["private_key_jwt"]
        self.idp.add_client("corp", "private_key_jwt", pem=pem)
        m = self.site()
        p = self.splice(m, *[w for w in self.options(m) if w not in (
            "--idp-client-secret-file", self.idp_secret)], "--idp-key", key,
            "--browser", self.b.command)
        p.hello()
        self.works(p, m)
        self.signed_in(exchanges=1)


class Commands(Case):
    def test_commands(self):
        one, two = self.site(), self.site()
        for m in (one, two):
            status, out, err = self.command(
                "login", m.url, *self.options(m), "--browser", self.b.command)
            self.assertEqual(status, 0, err)
            self.assertIn(b"Signed in", out)
        self.signed_in(exchanges=2)
        status, out, err = self.command("status")
        self.assertEqual(status, 0)
        text = out.decode()
        for word in (one.url, two.url, self.idp.issuer, "ann@corp.example",
                     "identity provider"):
            self.assertIn(word, text)
        status, out, err = self.command("status", self.idp.issuer)
        self.assertEqual(status, 0)
        self.assertIn("ann@corp.example", out.decode())
        self.assertNotIn(one.url, out.decode())
        status, out, err = self.command("logout", one.url, *self.options(one))
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed out", out)
        self.assertEqual(len(self.records()), 2)
        self.works(self.begin(one), one)
        self.signed_in(exchanges=3)
        status, out, err = self.command(
            "logout", self.idp.issuer, "--allow-http")
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed out", out)
        self.assertEqual(len(self.records()), 2)
        self.assertTrue(all(f.dead for f in self.idp.families.values()))
        one.auth.expire()
        self.works(self.begin(one), one)
        self.signed_in(authorize=2, exchanges=4)
        self.assertIn(b"Not signed in", self.command(
            "logout", "http://127.0.0.1:9/none")[1])


class Attacks(Case):
    def test_policy(self):
        """The error says that the company forbids it, with the provider's
        words, escaped; and the exchange is not tried again."""
        for name in ("access_denied", "invalid_target", "unauthorized_client",
                     "invalid_scope"):
            m = self.site()
            where = self.file(self.idp.id_token("corp"))
            before = self.idp.token_requests(EXCHANGE)
            self.idp.script("token", authserver.error(
                name, description="no\x1b[31m \"you\" " + "x" * 50))
            p = self.refused(
                m, "your company does not allow 127.0.0.1", name,
                "the identity provider says \"no", "'you'",
                args=("--idp-token-file", where))
            self.assertIn("[...]", p.err())
            self.assertNotIn("\x1b", p.err())
            self.assertEqual(self.idp.token_requests(EXCHANGE) - before, 1)
            self.assertEqual(m.auth.token_requests(), 0)

    def test_secrets_that_come_back(self):
        """The provider's error repeats a secret that it was sent."""
        for i in range(3):
            m = self.site()
            t = self.idp.id_token("corp")
            word = (t, self.idp_client.secret, t[:30])[i]
            self.idp.script("token", authserver.error(
                "access_denied", description="not with " + word))
            p = self.refused(m, "access_denied",
                             args=("--idp-token-file", self.file(t)))
            if i < 2:
                self.assertNotIn(word, p.err())

    def test_id_jag_for_another(self):
        """An ID-JAG with a wrong claim is not sent anywhere."""
        for claims, typ, word in (
                ({"aud": "https://other.example"}, None, "(aud)"),
                ({"aud": ["https://other.example"]}, None, "(aud)"),
                ({"resource": "https://other.example"}, None, "resource"),
                ({"resource": ["https://other.example"]}, None, "resource"),
                ({"client_id": "another"}, None, "(client_id)"),
                ({}, "JWT", "(typ)")):
            m = self.site()
            self.idp.jag_claims = claims
            self.idp.jag_typ = typ or "oauth-id-jag+jwt"
            self.refused(m, "rejecting what", word, args=(
                "--idp-token-file", self.file(self.idp.id_token("corp"))))
            self.assertEqual(m.auth.token_requests(), 0)

    def test_another_type(self):
        m = self.site()
        for step in (having(issued_token_type=ID_JAG[:-7] + "access_token"),
                     authserver.without("issued_token_type")):
            self.idp.always("token", step)
            self.refused(m, "(issued_token_type)", args=(
                "--idp-token-file", self.file(self.idp.id_token("corp"))))
        self.assertEqual(m.auth.token_requests(), 0)

    def test_two_audiences(self):
        """An aud with the right issuer and another one is refused."""
        m = self.site()
        self.idp.jag_claims = {"aud": [m.auth.issuer, "https://other.example"]}
        self.refused(m, "(aud)", args=(
            "--idp-token-file", self.file(self.idp.id_token("corp"))))
        self.idp.jag_claims = {"aud": [m.auth.issuer]}
        other = self.site()
        self.idp.jag_claims["aud"] = [other.auth.issuer]
        self.works(self.begin(other, "--idp-token-file", self.file(
            self.idp.id_token("corp"))), other)

    def test_another_issuer_in_the_metadata(self):
        m = self.site()
        self.idp.always("metadata", having(issuer="https://evil.example"))
        self.refused(m, "name it with --idp https://evil.example")
        self.assertEqual(self.idp.token_requests(), 0)
        self.assertEqual(self.b.opened(), [])

    def test_another_issuer_in_the_redirect(self):
        m = self.site()
        self.idp.always("authorize", having(iss=m.auth.issuer))
        self.refused(m, "(iss)")
        self.assertEqual(self.idp.token_requests(), 0)

    def test_another_issuer_in_the_id_token(self):
        for claims, word in (({"iss": "https://evil.example"}, "(iss)"),
                             ({"aud": "another"}, "(aud)")):
            m = self.site()
            self.idp.id_claims = claims
            p = self.refused(m, word)
            p.finish()
            self.assertEqual(self.idp.token_requests(EXCHANGE), 0)
            for name in os.listdir(self.store()):
                os.unlink(os.path.join(self.store(), name))

    def test_no_id_token(self):
        m = self.site()
        self.idp.user = None
        self.refused(m, "gave no ID token")

    def test_trouble(self):
        """After HTML, a 429, a 503 or a cut connection at the provider, a
        call works later, without a new sign-in."""
        m = self.site()
        p = self.begin(m)
        for step in (authserver.html(502), authserver.busy(1),
                     authserver.status(503), authserver.cut()):
            self.idp.script("token", step)
            m.auth.expire()
            self.works_soon(p, m)
        self.signed_in(exchanges=9)

    def test_html(self):
        m = self.site()
        self.idp.always("token", authserver.html())
        self.refused(m, "JSON", args=(
            "--idp-token-file", self.file(self.idp.id_token("corp"))))
        self.assertEqual(m.auth.token_requests(), 0)

    def test_whose_fault(self):
        """An error at the provider is not blamed on the server, and names no
        option for the server, which could send its secret elsewhere."""
        at, moved = "no sign-in at the identity provider (--idp): ", \
            authserver.redirect("https://evil.example/token", 307)
        for where, step, given, words in (
                ("token", moved, False, at + "127.0.0.1 redirects (307)"),
                ("token", authserver.error("invalid_client", 401), False,
                 at + "invalid_client; check --idp-client-id"),
                ("token", authserver.error("invalid_client", 401), True,
                 "the identity provider issued no token for 127.0.0.1: "
                 "invalid_client; check --idp-client-id"),
                ("token", authserver.error("x", description="y"), False,
                 at + 'x: the identity provider says "y"'),
                ("token", authserver.status(500), True,
                 "the identity provider is not ready (500)"),
                ("authorize", authserver.deny(), False, at + "the")):
            with self.subTest(words=words):
                m = self.site()
                self.idp.always(where, step)
                args = ("--idp-token-file", self.file(self.idp.id_token(
                    "corp"))) if given else ()
                p = self.splice_site(m, *args)
                said = self.first(p)
                self.assertIn(words, said)
                self.assertNotRegex(
                    said, "--(issuer|token-endpoint|client)")
                p.finish()
                self.idp.always(where, None)
                self.forget_failures()

    def forget_failures(self):
        for name in os.listdir(self.store()):
            os.unlink(os.path.join(self.store(), name))

    def test_mix_up(self):
        """A server that names the provider as its authorization server gets
        no token: the ID-JAG would be for the provider."""
        m = self.site()
        m.issuers = [self.idp.issuer]
        for pin, words in (([], "--issuer " + self.idp.issuer),
                           (["--issuer", self.idp.issuer],
                            "your company does not allow")):
            m.pin = pin
            self.refused(m, words, args=(
                "--idp-token-file", self.file(self.idp.id_token("corp"))))
        self.assertEqual(self.idp.token_requests(JWT_GRANT), 0)

    def test_claims_twice(self):
        """An ID-JAG that has a claim twice is not sent anywhere."""
        def twice(rx, tx):
            def edit(doc):
                parts = doc["access_token"].split(".")
                claims = authserver.unb64url(parts[1])
                parts[1] = authserver.b64url(
                    claims[:-1] + b',"aud":"https://other.example"}')
                return dict(doc, access_token=".".join(parts))
            return edit
        m = self.site()
        self.idp.always("token", twice)
        self.refused(m, "rejecting what", "twice", args=(
            "--idp-token-file", self.file(self.idp.id_token("corp"))))
        self.assertEqual(m.auth.token_requests(), 0)

    def test_nothing_is_shown(self):
        trace, log = self.path("trace"), self.path("log")
        m = self.site()
        p = self.begin(m, "--trace", trace, "--log-file", log)
        self.works(p, m)
        with open("/proc/%d/cmdline" % p.pid, "rb") as f:
            seen = f.read().decode() + p.err()
        p.finish()
        for name in (trace, log):
            with open(name) as f:
                seen += f.read()
        made = {kind for kind, _ in self.idp.made}
        self.assertLessEqual({"id_token", "id_jag", "refresh", "access",
                              "secret"}, made)
        for _, text in self.idp.made:
            self.assertNotIn(text, seen)


if __name__ == "__main__":
    support.main()
