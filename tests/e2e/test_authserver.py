"""The authorization server, its MCP server and its browser themselves, tested
with the standard HTTP client: what they give, what they refuse, what they
complain about, and that they find a secret that lies about."""

import base64
import http.client
import json
import os
import subprocess
import threading
import time
import urllib.parse

import authserver
import support
from authserver import b64url, having
from support import call, init, note, request

FORM = "application/x-www-form-urlencoded"


class Answer:
    def __init__(self, r):
        self.status = r.status
        self.headers = r.headers
        self.text = r.read().decode()

    @property
    def json(self):
        return json.loads(self.text)


class Base(authserver.Case):
    def ask(self, server, method, target, body=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            c.request(method, target, body, {k.replace("_", "-"): v
                                             for k, v in headers.items()})
            return Answer(c.getresponse())
        finally:
            c.close()

    def post(self, server, endpoint, form, **headers):
        return self.ask(server, "POST", server.path + "/" + endpoint,
                        urllib.parse.urlencode(form), Content_Type=FORM,
                        **headers)

    def complains(self, server, *texts):
        """Exactly so; afterwards it is forgotten."""
        for text in texts:
            self.assertTrue(any(text in v for v in server.violations),
                            "%r in %r" % (text, server.violations))
        self.assertEqual(len(server.violations), len(texts),
                         server.violations)
        server.violations.clear()

    def register(self, a, uri="http://127.0.0.1:9/callback", **fields):
        m = {"redirect_uris": [uri], "client_name": "test",
             "grant_types": ["authorization_code", "refresh_token"],
             "response_types": ["code"], "application_type": "native",
             "token_endpoint_auth_method": "none"}
        m.update(fields)
        return self.ask(a, "POST", a.path + "/register", json.dumps(m),
                        Content_Type="application/json")

    def authorize(self, a, client, verifier, **fields):
        q = {"response_type": "code", "client_id": client,
             "redirect_uri": "http://127.0.0.1:9/callback",
             "state": b64url(os.urandom(24)), "resource": "http://r.test/mcp",
             "code_challenge_method": "S256", "code_challenge":
             b64url(authserver.hashlib.sha256(verifier.encode()).digest())}
        q.update(fields)
        q = {k: v for k, v in q.items() if v is not None}
        r = self.ask(a, "GET", a.path + "/authorize?" +
                     urllib.parse.urlencode(q))
        back = dict(authserver.pairs(urllib.parse.urlsplit(
            r.headers.get("Location", "")).query))
        return r, q, back

    def exchange(self, a, client, code, verifier, **fields):
        form = {"grant_type": "authorization_code", "code": code,
                "client_id": client, "code_verifier": verifier,
                "redirect_uri": "http://127.0.0.1:9/callback",
                "resource": "http://r.test/mcp"}
        form.update(fields)
        return self.post(a, "token", {k: v for k, v in form.items()
                                      if v is not None})

    def signed_in(self, a, **fields):
        """client id, token answer"""
        client = self.register(a).json["client_id"]
        verifier = b64url(os.urandom(32))
        _, _, back = self.authorize(a, client, verifier, **fields)
        return client, self.exchange(
            a, client, back["code"], verifier,
            resource=fields.get("resource", "http://r.test/mcp")).json

    def refresh(self, a, client, token, **fields):
        form = {"grant_type": "refresh_token", "refresh_token": token,
                "client_id": client, "resource": "http://r.test/mcp"}
        form.update(fields)
        return self.post(a, "token", form)


class Documents(Base):
    def test_places(self):
        for path, form, where in (
                ("", "oauth", "/.well-known/oauth-authorization-server"),
                ("/t", "oauth", "/.well-known/oauth-authorization-server/t"),
                ("/t", "oidc", "/.well-known/openid-configuration/t"),
                ("/t", "oidc-append", "/t/.well-known/openid-configuration")):
            a = self.auth(path, forms=(form,))
            doc = self.ask(a, "GET", where).json
            self.assertEqual(doc["issuer"], a.url[:-4] + path)
            self.assertEqual(doc["token_endpoint"], a.issuer + "/token")
            for other in ("/.well-known/oauth-authorization-server",
                          "/.well-known/openid-configuration",
                          "/.well-known/openid-configuration/t"):
                if other != where:
                    self.assertEqual(self.ask(a, "GET", other).status, 404)
        a = self.auth(forms=())
        self.assertEqual(self.ask(
            a, "GET", "/.well-known/oauth-authorization-server").status, 404)

    def test_knobs(self):
        a = self.auth(iss=False, registers=False, gives_device=False,
                      scopes=["a"], documents={"https://c.test/d"})
        doc = self.ask(a, "GET", a.metadata_paths()[0]).json
        self.assertNotIn("authorization_response_iss_parameter_supported",
                         doc)
        self.assertNotIn("registration_endpoint", doc)
        self.assertNotIn("device_authorization_endpoint", doc)
        self.assertEqual(doc["scopes_supported"], ["a"])
        self.assertTrue(doc["client_id_metadata_document_supported"])
        with self.assertRaises(AttributeError):
            self.auth(nonsense=1)

    def test_what_must_not_be_sent(self):
        a = self.auth()
        where = a.metadata_paths()[0]
        self.ask(a, "GET", where, Authorization="Bearer x")
        self.complains(a, "an Authorization was sent")
        self.ask(a, "GET", where, Cookie="x", Mcp_Session_Id="y")
        self.complains(a, "Cookie", "Mcp-Session-Id")
        self.ask(a, "GET", "/elsewhere", Authorization="Bearer x")
        self.complains(a, "an Authorization was sent")


class Steps(Base):
    def test_each(self):
        a = self.auth()
        where = a.metadata_paths()[0]
        event = threading.Event()
        threading.Timer(0.3, event.set).start()
        a.script("metadata", authserver.status(503, "x"),
                 authserver.busy(7), authserver.html(),
                 authserver.redirect("/there"),
                 authserver.error("e", 400, "d"),
                 authserver.without("token_endpoint"), having(issuer="x"),
                 authserver.both(authserver.sleep(0.3), having(issuer="y")),
                 authserver.hold(event))
        self.assertEqual(self.ask(a, "GET", where).status, 503)
        r = self.ask(a, "GET", where)
        self.assertEqual((r.status, r.headers["Retry-After"]), (429, "7"))
        self.assertIn("text/html", self.ask(a, "GET",
                                            where).headers["Content-Type"])
        self.assertEqual(self.ask(a, "GET", where).headers["Location"],
                         "/there")
        self.assertEqual(self.ask(a, "GET", where).json,
                         {"error": "e", "error_description": "d"})
        self.assertNotIn("token_endpoint", self.ask(a, "GET", where).json)
        self.assertEqual(self.ask(a, "GET", where).json["issuer"], "x")
        begin = time.monotonic()
        self.assertEqual(self.ask(a, "GET", where).json["issuer"], "y")
        self.assertGreaterEqual(time.monotonic() - begin, 0.29)
        self.ask(a, "GET", where)
        self.assertTrue(event.is_set())
        a.always("metadata", authserver.cut())
        for _ in range(2):
            with self.assertRaises((http.client.HTTPException, OSError)):
                self.ask(a, "GET", where)
        a.always("metadata")
        self.assertEqual(self.ask(a, "GET", where).json["issuer"], a.issuer)

    def test_lost_has_happened(self):
        a = self.auth()
        client, t = self.signed_in(a)
        a.script("token", authserver.lost())
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.refresh(a, client, t["refresh_token"])
        self.assertEqual(self.refresh(a, client, t["refresh_token"]).json,
                         {"error": "invalid_grant"})
        self.assertEqual(a.reuse_events, 1)


class Registration(Base):
    def test_good(self):
        a = self.auth(secret_life=60)
        doc = self.register(a).json
        self.assertNotIn("client_secret", doc)
        doc = self.register(
            a, token_endpoint_auth_method="client_secret_basic").json
        self.assertIn(doc["client_secret"], a.secrets())
        self.assertIn(a.mark, doc["client_secret"])
        self.assertGreater(doc["client_secret_expires_at"], time.time())
        self.assertEqual(a.registrations, 2)

    def test_bad(self):
        a = self.auth()
        for fields, what in (
                ({"application_type": "web"}, "application_type"),
                ({"token_endpoint_auth_method": "x"}, "auth_method"),
                ({"grant_types": ["authorization_code"]}, "refresh_token"),
                ({"response_types": ["token"]}, "response_types"),
                ({"redirect_uris": ["https://evil.test/"]}, "redirect_uris"),
                ({"redirect_uris": []}, "redirect_uris"),
                ({"client_name": ""}, "client_name"),
                ({"client_secret": "x"}, "secret")):
            self.register(a, **fields)
            self.complains(a, what)

    def test_localhost_only(self):
        a = self.auth(only_localhost=True)
        r = self.register(a)
        self.assertEqual((r.status, r.json["error"]),
                         (400, "invalid_redirect_uri"))
        self.assertEqual(self.register(a, "http://localhost:9/callback")
                         .status, 201)


class Codes(Base):
    def test_good(self):
        a = self.auth()
        client = self.register(a).json["client_id"]
        verifier = b64url(os.urandom(32))
        r, q, back = self.authorize(a, client, verifier, scope="x y")
        self.assertEqual(r.status, 302)
        self.assertEqual(back["state"], q["state"])
        self.assertEqual(back["iss"], a.issuer)
        t = self.exchange(a, client, back["code"], verifier).json
        self.assertEqual((t["scope"], t["expires_in"]), ("x y", 3600))
        self.assertEqual(a.look(t["access_token"]).scope, "x y")
        for secret in (t["access_token"], t["refresh_token"], back["code"],
                       verifier):
            self.assertIn(secret, a.secrets())
        self.assertNotIn(q["state"], a.secrets())
        self.assertIn(q["state"], a.secrets(states=True))
        self.assertEqual((a.authorizations, a.token_requests(),
                          a.token_requests("authorization_code"),
                          a.given["authorization_code"]), (1, 1, 1, 1))

    def test_bad_authorize(self):
        a = self.auth()
        client = self.register(a).json["client_id"]
        for fields, what in (
                ({"code_challenge_method": "plain"}, "S256"),
                ({"code_challenge_method": None}, "S256"),
                ({"code_challenge": "x"}, "code_challenge"),
                ({"redirect_uri": "http://127.0.0.1:8/callback"},
                 "not registered"),
                ({"state": "x"}, "state"), ({"scope": ""}, "scope"),
                ({"resource": "http://other.test/"}, "resource"),
                ({"resource": None}, "resource"),
                ({"response_type": "token"}, "response_type"),
                ({"client_secret": "x"}, "client_secret in a URL")):
            first = self.authorize(a, client, "v" * 43)
            self.assertEqual(a.violations, [])
            self.assertEqual(first[0].status, 302)
            self.authorize(a, client, "v" * 43, **fields)
            self.complains(a, what)
        self.authorize(a, client, "v" * 43, state=first[1]["state"])
        self.complains(a, "the same state again")
        r = self.authorize(a, "nobody", "v" * 43)[0]
        self.assertEqual(r.status, 400)
        self.complains(a, "never here")

    def test_bad_exchange(self):
        a = self.auth()
        client = self.register(a).json["client_id"]
        other = self.register(a).json["client_id"]
        for fields, what in (
                ({"code_verifier": "w" * 43}, "code_verifier"),
                ({"code_verifier": None}, "code_verifier"),
                ({"redirect_uri": "http://127.0.0.1:8/callback"},
                 "another redirect_uri"),
                ({"resource": None}, "another resource"),
                ({"client_id": other}, "another client")):
            back = self.authorize(a, client, "v" * 43)[2]
            r = self.exchange(a, client, back["code"], "v" * 43, **fields)
            self.assertEqual(r.json, {"error": "invalid_grant"})
            self.complains(a, what)
        self.exchange(a, client, "x", "v" * 43)
        self.complains(a, "a code that was never given")
        back = self.authorize(a, client, "v" * 43)[2]
        self.assertEqual(self.exchange(a, client, back["code"],
                                       "v" * 43).status, 200)
        self.exchange(a, client, back["code"], "v" * 43)
        self.complains(a, "the same code again")
        self.ask(a, "POST", "/token?code_verifier=x", "grant_type=password",
                 Content_Type=FORM, Authorization="Bearer x")
        self.complains(a, "code_verifier in a URL", "a query", "an Auth",
                       "grant_type")

    def test_secret_in_a_url(self):
        a = self.auth()
        _, t = self.signed_in(a)
        self.ask(a, "GET", "/x?y=" + t["access_token"])
        self.complains(a, "a access in a URL")

    def test_scripted_consent(self):
        a = self.auth()
        client = self.register(a).json["client_id"]
        a.script("authorize", authserver.deny(), having(iss="https://evil"),
                 authserver.without("iss"), having(state="x"),
                 authserver.html(), having(code=["a", "b"]))
        back = [self.authorize(a, client, "v" * 43)[2] for _ in range(5)]
        self.assertEqual(back[0]["error"], "access_denied")
        self.assertNotIn("code", back[0])
        self.assertEqual(back[1]["iss"], "https://evil")
        self.assertNotIn("iss", back[2])
        self.assertEqual(back[3]["state"], "x")
        self.assertEqual(back[4], {})
        where = self.authorize(a, client, "v" * 43)[0].headers["Location"]
        self.assertIn("code=a&code=b", where)

    def test_stale_client(self):
        a = self.auth()
        client, t = self.signed_in(a)
        a.forget_clients()
        r = self.refresh(a, client, t["refresh_token"])
        self.assertEqual((r.status, r.json["error"]), (401, "invalid_client"))
        self.assertEqual(self.authorize(a, client, "v" * 43)[0].status, 400)

    def test_client_document(self):
        a = self.auth(documents={"https://c.test/d"})
        back = self.authorize(a, "https://c.test/d", "v" * 43)[2]
        self.assertEqual(self.exchange(a, "https://c.test/d", back["code"],
                                       "v" * 43).status, 200)


class Refresh(Base):
    def test_rotation_and_reuse(self):
        a = self.auth()
        client, one = self.signed_in(a)
        two = self.refresh(a, client, one["refresh_token"]).json
        self.assertNotEqual(one["refresh_token"], two["refresh_token"])
        three = self.refresh(a, client, two["refresh_token"]).json
        self.assertEqual(a.reuse_events, 0)
        self.assertIsNotNone(a.look(three["access_token"]))
        self.assertEqual(self.refresh(a, client, one["refresh_token"]).json,
                         {"error": "invalid_grant"})
        self.assertEqual(a.reuse_events, 1)
        self.assertIsNone(a.look(three["access_token"]))
        self.assertEqual(self.refresh(a, client, three["refresh_token"])
                         .json, {"error": "invalid_grant"})
        self.assertEqual(a.reuse_events, 1)

    def test_grace(self):
        a = self.auth(grace=20)
        client, one = self.signed_in(a)
        self.refresh(a, client, one["refresh_token"])
        again = self.refresh(a, client, one["refresh_token"])
        self.assertEqual((again.status, a.reuse_events), (200, 0))

    def test_no_rotation(self):
        a = self.auth(rotates=False, life=None)
        client, one = self.signed_in(a)
        self.assertNotIn("expires_in", one)
        two = self.refresh(a, client, one["refresh_token"]).json
        self.assertNotIn("refresh_token", two)
        self.assertEqual(self.refresh(a, client, one["refresh_token"])
                         .status, 200)

    def test_bad(self):
        a = self.auth()
        client, one = self.signed_in(a, scope="x")
        self.refresh(a, client, "nonsense")
        self.complains(a, "never given")
        r = self.refresh(a, client, one["refresh_token"], scope="x y")
        self.assertEqual(r.json, {"error": "invalid_scope"})
        self.complains(a, "more scopes")
        self.refresh(a, client, one["refresh_token"], resource="http://z/")
        self.complains(a, "another resource")
        self.assertEqual(a.reuse_events, 0)

    def test_ends(self):
        a = self.auth(life=2)
        client, t = self.signed_in(a)
        self.assertIsNotNone(a.look(t["access_token"]))
        self.assertTrue(a.wait(lambda: a.look(t["access_token"]) is None, 9))
        a.life = 3600
        t = self.refresh(a, client, t["refresh_token"]).json
        a.expire()
        self.assertIsNone(a.look(t["access_token"]))
        t = self.refresh(a, client, t["refresh_token"]).json
        a.revoke()
        self.assertIsNone(a.look(t["access_token"]))
        self.assertEqual(self.refresh(a, client, t["refresh_token"]).json,
                         {"error": "invalid_grant"})

    def test_revocation(self):
        a = self.auth()
        client, t = self.signed_in(a)
        r = self.post(a, "revoke", {"token": t["refresh_token"],
                                    "client_id": client})
        self.assertEqual(r.status, 200)
        self.assertIsNone(a.look(t["access_token"]))
        self.post(a, "revoke", {"token": "x", "client_id": client})
        self.complains(a, "never given")
        self.assertEqual(a.counts["revoke"], 2)


class Machines(Base):
    FORM = {"grant_type": "client_credentials",
            "resource": "http://r.test/mcp", "scope": "x"}

    @staticmethod
    def basic(ident, secret):
        text = "%s:%s" % (urllib.parse.quote_plus(ident),
                          urllib.parse.quote_plus(secret))
        return "Basic " + base64.b64encode(text.encode()).decode()

    def test_basic_and_post(self):
        a = self.auth()
        a.add_client("a b", "client_secret_basic", secret="s:%+t")
        r = self.post(a, "token", self.FORM,
                      Authorization=self.basic("a b", "s:%+t"))
        self.assertEqual(r.json["scope"], "x")
        self.assertNotIn("refresh_token", r.json)
        self.assertIn(self.basic("a b", "s:%+t")[6:], a.secrets())
        r = self.post(a, "token", self.FORM,
                      Authorization=self.basic("a b", "wrong"))
        self.assertEqual(r.status, 401)
        self.complains(a, "a wrong secret")
        c = a.add_client("p", "client_secret_post")
        form = dict(self.FORM, client_id="p", client_secret=c.secret)
        self.assertEqual(self.post(a, "token", form).status, 200)
        self.post(a, "token", self.FORM,
                  Authorization=self.basic("p", c.secret))
        self.complains(a, "proof by client_secret_basic")
        self.post(a, "token", form, Authorization=self.basic("p", c.secret))
        self.complains(a, "two proofs", "proof by")

    def key(self, name, *args):
        key, pem = self.path(name + ".key"), self.path(name + ".pem")
        subprocess.run(("openssl", "genpkey", "-out", key) + args, check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run(("openssl", "pkey", "-in", key, "-pubout", "-out",
                        pem), check=True)
        return key, pem

    def sign(self, alg, key, claims):
        text = "%s.%s" % (b64url(json.dumps({"alg": alg}).encode()),
                          b64url(json.dumps(claims).encode()))
        data = self.path("data-%d" % self.count(), text)
        args = {"EdDSA": ["pkeyutl", "-sign", "-rawin", "-inkey", key, "-in"]}
        pss = ["-sigopt", "rsa_padding_mode:pss", "-sigopt",
               "rsa_pss_saltlen:digest"] if alg == "PS256" else []
        out = subprocess.run(["openssl"] + args.get(
            alg, ["dgst", "-sha256", "-sign", key] + pss) + [data],
            check=True, stdout=subprocess.PIPE).stdout
        os.unlink(data)
        if alg == "ES256":
            r = out[4:4 + out[3]]
            s = out[6 + out[3]:]
            out = r[-32:].rjust(32, b"\0") + s[-32:].rjust(32, b"\0")
        return text + "." + b64url(out)

    def test_private_key_jwt(self):
        a = self.auth()
        ec = self.key("ec", "-algorithm", "EC", "-pkeyopt",
                      "ec_paramgen_curve:P-256")
        rsa = self.key("rsa", "-algorithm", "RSA")
        ed = self.key("ed", "-algorithm", "ED25519")
        kinds = [("ES256", ec), ("RS256", rsa), ("PS256", rsa), ("EdDSA", ed)]
        for alg, (key, pem) in kinds + kinds[:1] * 8:
            a.add_client("m", "private_key_jwt", pem=pem)
            claims = {"iss": "m", "sub": "m", "aud": a.issuer,
                      "exp": int(time.time()) + 60,
                      "jti": os.urandom(8).hex()}
            form = dict(self.FORM, client_assertion_type=authserver.JWT_BEARER,
                        client_assertion=self.sign(alg, key, claims))
            r = self.post(a, "token", form)
            self.assertEqual(r.status, 200, (alg, r.text, a.violations))
            self.assertIn(form["client_assertion"], a.secrets())
            self.post(a, "token", form)
            self.complains(a, "jti")
        for change, what in (({"aud": a.issuer + "/token"}, "aud"),
                             ({"iss": "x"}, "iss"),
                             ({"exp": int(time.time()) - 60}, "exp"),
                             ({"exp": int(time.time()) + 9999}, "exp")):
            claims.update(jti=os.urandom(8).hex())
            r = self.post(a, "token", dict(form, client_assertion=self.sign(
                "ES256", ec[0], dict(claims, **change))))
            self.assertEqual(r.json, {"error": "invalid_client"})
            self.complains(a, what)
        claims.update(jti=os.urandom(8).hex())
        good = self.sign("ES256", ec[0], claims)
        bad = good[:-8] + ("A" if good[-8] != "A" else "B") + good[-7:]
        self.post(a, "token", dict(form, client_assertion=bad))
        self.complains(a, "signature")

    def test_device(self):
        a = self.auth(interval=1)
        c = self.register(a, redirect_uris=[],
                          grant_types=[authserver.DEVICE_GRANT,
                                       "refresh_token"]).json["client_id"]
        d = self.post(a, "device", {"client_id": c, "resource":
                                    "http://r.test/mcp"}).json
        form = {"grant_type": authserver.DEVICE_GRANT, "client_id": c,
                "device_code": d["device_code"]}
        self.assertEqual(self.post(a, "token", form).json,
                         {"error": "authorization_pending"})
        self.assertEqual(self.post(a, "token", form).json,
                         {"error": "slow_down"})
        self.complains(a, "too early")
        self.settle(1.0)
        self.assertIn("refresh_token", self.post(a, "token", form).json)
        a.device_polls = None
        a.interval = 0
        for yes in (False, True):
            d = self.post(a, "device", {"client_id": c, "resource":
                                        "http://r.test/mcp"}).json
            form["device_code"] = d["device_code"]
            for _ in range(3):
                self.assertEqual(self.post(a, "token", form).json,
                                 {"error": "authorization_pending"})
            if yes:
                where = urllib.parse.urlsplit(d["verification_uri_complete"])
                self.ask(a, "GET", where.path + "?" + where.query)
            else:
                a.approve(d["user_code"], False)
            r = self.post(a, "token", form)
            self.assertEqual(r.status, 200 if yes else 400)
        self.assertEqual(a.counts["device"], 3)


class McpServer(Base):
    def rpc(self, m, what, token=None, sid=None):
        heads = {"Content_Type": "application/json"}
        if token:
            heads["Authorization"] = "Bearer " + token
        if sid:
            heads["Mcp_Session_Id"] = sid
        return self.ask(m, "POST", "/mcp", json.dumps(what), **heads)

    def token(self, a, m, **fields):
        return self.signed_in(a, resource=m.url, **fields)[1]["access_token"]

    def test_challenge_and_documents(self):
        a = self.auth("/t")
        m = self.protected(a, challenge_scope="x")
        r = self.rpc(m, init())
        at = m.origin + "/.well-known/oauth-protected-resource"
        self.assertEqual(r.status, 401)
        self.assertEqual(r.headers["WWW-Authenticate"],
                         'Bearer scope="x", resource_metadata="%s/mcp"' % at)
        doc = self.ask(m, "GET", at[len(m.origin):] + "/mcp").json
        self.assertEqual((doc["resource"], doc["authorization_servers"]),
                         (m.url, [a.issuer]))
        self.assertEqual(self.ask(m, "GET", at[len(m.origin):]).status, 404)
        m.prm, m.prm_path = ("root",), "/custom"
        self.assertEqual(self.ask(m, "GET", at[len(m.origin):]).status, 200)
        self.assertIn('/custom"', self.rpc(m, init()).headers
                      ["WWW-Authenticate"])
        m.names_prm = False
        self.assertEqual(self.rpc(m, init()).headers["WWW-Authenticate"],
                         'Bearer scope="x"')
        m.challenge = lambda rx, error, scope: None
        self.assertNotIn("WWW-Authenticate", self.rpc(m, init()).headers)
        m.script("prm", authserver.status(500))
        self.assertEqual(self.ask(m, "GET", "/custom").status, 500)
        self.ask(m, "GET", "/custom", Authorization="Bearer x")
        self.complains(m, "Authorization was sent")
        self.ask(m, "GET", "/x", Authorization="Bearer x")
        self.complains(m, "Authorization was sent")

    def test_tokens(self):
        a = self.auth()
        m = self.protected(a, tool_scopes={"write": "w"},
                           other_tokens={"static"})
        token = self.token(a, m, scope="r")
        r = self.rpc(m, init(), token)
        sid = r.headers["Mcp-Session-Id"]
        self.assertEqual(self.rpc(m, call(2, "read"), token, sid).status, 200)
        r = self.rpc(m, call(3, "write"), token, sid)
        self.assertEqual(r.status, 403)
        self.assertIn('error="insufficient_scope", scope="w"',
                      r.headers["WWW-Authenticate"])
        self.assertEqual(self.rpc(m, init(), "static").status, 200)
        a.expire()
        r = self.rpc(m, call(4), token, sid)
        self.assertEqual(r.status, 401)
        self.assertIn('error="invalid_token"', r.headers["WWW-Authenticate"])
        self.assertEqual([code for _, code in m.refused], [403, 401])
        self.assertEqual(self.rpc(m, init(), "stranger").status, 401)
        self.complains(m, "no server of ours")
        m.refuses_all = True
        self.assertEqual(self.rpc(m, init(), "static").status, 401)
        m.refuses_all = False
        m.open_rpc = {"initialize"}
        self.assertEqual(self.rpc(m, init()).status, 200)
        self.assertEqual(self.rpc(m, request(5, "tools/list")).status, 401)

    def test_audience(self):
        a = self.auth()
        m = self.protected(a)
        client, t = self.signed_in(a)
        self.assertEqual(self.rpc(m, init(), t["access_token"]).status, 401)
        self.complains(m, "a token for 'http://r.test/mcp'")

    def test_token_in_a_url(self):
        a = self.auth()
        m = self.protected(a)
        token = self.token(a, m)
        self.ask(m, "GET", "/mcp?x=" + token)
        self.complains(a, "in a URL")

    def test_another_server(self):
        a, b = self.auth(), self.auth()
        m = self.protected(a)
        token = self.token(a, m)
        m.use(b)
        self.assertEqual(self.rpc(m, init(), token).status, 401)
        self.assertEqual(self.rpc(m, init(), self.token(b, m)).status, 200)

    def test_sessions_of_a_token(self):
        a = self.auth()
        m = self.protected(a, binds_sessions=True)
        one, two = self.token(a, m), self.token(a, m)
        sid = self.rpc(m, init(), one).headers["Mcp-Session-Id"]
        self.assertEqual(self.rpc(m, note("notifications/initialized"), one,
                                  sid).status, 202)
        self.assertEqual(self.rpc(m, call(2), two, sid).status, 404)
        self.assertEqual(self.rpc(m, call(3), one, sid).status, 200)

    def test_one_origin(self):
        """As servers of 2025-03-26 were."""
        a = self.auth()
        m = self.protected(a, prm=(), names_prm=False)
        m.host_auth()
        doc = self.ask(m, "GET",
                       "/.well-known/oauth-authorization-server").json
        self.assertEqual(doc["issuer"], m.origin)
        self.assertEqual(doc["token_endpoint"], m.origin + "/token")
        self.assertEqual(len(a.seen_at(
            "/.well-known/oauth-authorization-server")), 1)


class BrowserStub(Base):
    def test_it_goes_and_tells(self):
        a = self.auth()
        b = self.browser()
        page = self.http(lambda rx, tx: tx.body(200, "<p>done", "text/html"))
        uri = "http://127.0.0.1:%d/callback" % page.port
        client = self.register(a, uri).json["client_id"]
        url = a.issuer + "/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": client, "state": "s" * 22,
            "redirect_uri": uri, "resource": "http://r.test/mcp",
            "code_challenge": "c" * 43, "code_challenge_method": "S256"})
        self.assertEqual(b.go(url, {"CANARY": "x"}), 0)
        self.assertEqual(b.opened(), [url])
        got = b.pages()
        self.assertEqual(len(got), 1)
        self.assertEqual((got[0]["status"], got[0]["text"]), (200, "<p>done"))
        self.assertIn("code=", got[0]["url"])
        self.assertEqual(b.witness()[0]["env"].get("CANARY"), "x")
        self.assertIn("code=", page.requests[0].target)
        a.script("authorize", authserver.html(500))
        self.assertEqual(b.go(url + "x"), 0)
        self.assertEqual(b.pages()[1]["status"], 500)
        a.violations.clear()

    def test_it_only_tells(self):
        a = self.auth()
        b = self.browser(follow=False, status=3)
        self.assertEqual(b.go(a.issuer + "/authorize"), 3)
        self.assertEqual((b.opened(), b.pages(), a.requests),
                         ([a.issuer + "/authorize"], [], []))


class Leaks(Base):
    def test_found(self):
        a = self.auth()
        _, t = self.signed_in(a)
        self.assertEqual(self.leaks(), [])
        where = self.path("some/log", "x" + t["access_token"] + "y")
        self.assertEqual(self.leaks(), ["%s: %s" % (where,
                                                    t["access_token"])])
        self.may_hold.append(where)
        self.assertEqual(self.leaks(), [])
        os.makedirs(self.store())
        with open(os.path.join(self.store(), "cred"), "w") as f:
            f.write(t["refresh_token"])
        self.assertEqual(self.leaks(), [])
        b = self.browser(follow=False)
        b.go("http://127.0.0.1/", {"TOKEN": t["refresh_token"]})
        self.assertEqual(self.leaks(), ["%s: %s" % (b.log_witness,
                                                    t["refresh_token"])])
        os.unlink(b.log_witness)


if __name__ == "__main__":
    support.main(needs_program=False)
