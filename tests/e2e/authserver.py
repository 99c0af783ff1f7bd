"""An authorization server that does what a test tells it, the MCP server that
asks for its tokens, and a browser.

AuthServer implements RFC 8414 and OpenID discovery, registration, consent, the
token endpoint with all grants, rotation with reuse detection, device codes
and revocation.  Protected is a faultserver.Mcp that needs these tokens.  Each
endpoint can be scripted with the steps below.  What a client must not do is
collected in `violations`; every secret that is made or seen is in secrets().

A step is f(rx, tx): it answers the request, or returns None to let the server
answer, or returns a function that gets the proper answer and returns the one
to send (None for a cut connection); by then the request has had its effect.
"""

import base64
import binascii
import collections
import email.utils
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import faultserver
import support

JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
HTML = b"<!DOCTYPE html><title>Sign in</title><p>Please sign in.</p>"


# steps

def status(code, body="", ctype="text/plain", headers=()):
    return lambda rx, tx: tx.body(code, body, ctype, headers)


def html(code=200):
    return status(code, HTML, "text/html")


def error(name, code=400, description=None):
    doc = {"error": name}
    if description is not None:
        doc["error_description"] = description
    return status(code, json.dumps(doc), "application/json")


def busy(seconds, code=429):
    return status(code, "slow down", headers=[("Retry-After", str(seconds))])


def redirect(url, code=302):
    return status(code, headers=[("Location", url)])


def cut():
    """The connection ends without an answer, the request has no effect."""
    return lambda rx, tx: tx.cut()


def lost():
    """The connection ends without an answer, after the request's effect."""
    return lambda rx, tx: lambda doc: None


def sleep(seconds):
    def step(rx, tx):
        tx.server.closing.wait(seconds)
    return step


def hold(event):
    """Holds the request until the event is set."""
    def step(rx, tx):
        while not event.wait(0.05) and not tx.server.closing.is_set():
            pass
    return step


def having(**fields):
    """Replaces or adds fields; a list gives the field several times."""
    return lambda rx, tx: lambda doc: dict(doc, **fields)


def without(*names):
    return lambda rx, tx: lambda doc: {k: v for k, v in doc.items()
                                       if k not in names}


def deny(name="access_denied", description="The person said no."):
    """The user declines at /authorize."""
    def edit(doc):
        out = {k: v for k, v in doc.items() if k != "code"}
        out.update(error=name, error_description=description)
        return out
    return lambda rx, tx: edit


def both(*steps):
    """The steps one after the other, until one answers; all edits apply."""
    def step(rx, tx):
        edits = []
        for s in steps:
            edit = s(rx, tx)
            if tx.started or tx.ended:
                return None
            if edit:
                edits.append(edit)

        def run(doc):
            for e in edits:
                doc = doc if doc is None else e(doc)
            return doc
        return run
    return step


class Script:
    """Steps by the endpoint's name."""

    def __init__(self):
        self.once = collections.defaultdict(list)
        self.always = {}

    def play(self, lock, name, rx, tx):
        """Returns None if a step answered, else the edit for the answer."""
        with lock:
            step = self.once[name].pop(0) if self.once[name] \
                else self.always.get(name)
        edit = step(rx, tx) if step else None
        if tx.started or tx.ended:
            return None
        return edit or (lambda doc: doc)


def pairs(text):
    return urllib.parse.parse_qsl(text, keep_blank_values=True)


def send(tx, doc, code=200):
    if doc is None:
        tx.cut()
    else:
        tx.json(doc, code, [("Cache-Control", "no-store")])


def b64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unb64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_loopback(uri):
    u = urllib.parse.urlsplit(uri)
    return u.scheme == "http" and u.hostname in ("127.0.0.1", "localhost",
                                                 "::1")


# the DER of a public key on P-256, without its point
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")


def thumbprint(jwk):
    """RFC 7638."""
    doc = {k: jwk[k] for k in ("crv", "kty", "x", "y")}
    return b64url(hashlib.sha256(json.dumps(
        doc, separators=(",", ":"), sort_keys=True).encode()).digest())


def verify_by_jwk(jwt, jwk):
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as f:
        point = b"\x04" + unb64url(jwk["x"]) + unb64url(jwk["y"])
        f.write("-----BEGIN PUBLIC KEY-----\n%s-----END PUBLIC KEY-----\n" %
                base64.encodebytes(P256 + point).decode())
        f.flush()
        return verify(jwt, f.name, ["ES256"])


class Dpop:
    """Judges proofs (RFC 9449 4.3). The attributes are knobs."""

    def __init__(self):
        self.nonce = None       # that a proof must have; None: none needed
        self.rotates = False    # each good proof gets another nonce
        self.flood = None       # f(n): the n-th nonce; none is ever accepted
        self.ahead = 0          # s by which this server's clock is ahead
        self.window = 300
        self.jtis = set()
        self.good = []          # claims of all good proofs
        self.bad = []           # (error, why)
        self.lock = threading.Lock()

    def headers(self):
        """The headers of each answer."""
        out = []
        if self.ahead:
            out.append(("Date", email.utils.formatdate(
                time.time() + self.ahead, usegmt=True)))
        if self.flood:
            self.nonce = self.flood(len(self.bad))
        if self.nonce is not None:
            out.append(("DPoP-Nonce", self.nonce))
        return out

    def judge(self, rx, tx, url, token=None, jkt=None):
        """Returns (the key's thumbprint, None) or (None, the error's name).
        token, jkt: the access token and the key that it is bound to."""
        with self.lock:
            found, error, why = self.look(rx, url, token, jkt)
            if error:
                self.bad.append((error, why))
            elif self.rotates:
                self.nonce = "nonce-" + os.urandom(6).hex()
            tx.extra += self.headers()
        return found, error

    def look(self, rx, url, token, jkt):
        def no(why):
            return None, "invalid_dpop_proof", why
        try:
            (jwt,) = rx.all("DPoP")
            head, claims, _ = jwt.split(".")
            head, claims = (json.loads(unb64url(p)) for p in (head, claims))
            jwk = head["jwk"]
            found = thumbprint(jwk)
            jti, iat, age = claims["jti"], claims["iat"], \
                time.time() + self.ahead - claims["iat"]
        except (ValueError, KeyError, TypeError) as e:
            return no("form: %r" % e)
        want = {"htm": rx.method, "htu": url}
        if token is not None:
            want["ath"] = b64url(hashlib.sha256(token.encode()).digest())
        for k, v in want.items():
            if claims.get(k) != v:
                return no("%s is %r" % (k, claims.get(k)))
        if head.get("typ") != "dpop+jwt" or "d" in jwk:
            return no("header")
        if not verify_by_jwk(jwt, jwk):
            return no("signature")
        if jkt not in (None, found):
            return no("another key")
        if jti in self.jtis:
            return no("replay")
        self.jtis.add(jti)
        if not isinstance(iat, int) or abs(age) > self.window:
            return no("iat")
        if self.flood or (self.nonce is not None and
                          claims.get("nonce") != self.nonce):
            return None, "use_dpop_nonce", claims.get("nonce")
        self.good.append(claims)
        return found, None, None


class Client:
    def __init__(self, ident, secret=None, method="none", redirects=None,
                 grants=("authorization_code", "refresh_token"), pem=None):
        self.id = ident
        self.secret = secret
        self.method = method
        self.redirects = redirects      # None: any on loopback
        self.grants = tuple(grants)
        self.pem = pem                  # the public key's file


class Family:
    """The refresh tokens that come from one consent."""

    def __init__(self, client, resource, scope):
        self.client = client
        self.resource = resource
        self.scope = scope
        self.current = None
        self.previous = None
        self.rotated = 0.0
        self.dead = False
        self.jkt = None


class Token:
    def __init__(self, client, resource, scope, life, family):
        self.client = client
        self.resource = resource
        self.scope = scope
        self.end = None if life is None else time.time() + life
        self.family = family
        self.revoked = False
        self.jkt = None     # thumbprint of the key that it is bound to


def jwt(claims, typ="JWT"):
    """A JWT with a random signature: the servers here know it by its text."""
    return ".".join([b64url(json.dumps({"alg": "ES256", "typ": typ}).encode()),
                     b64url(json.dumps(claims).encode()),
                     b64url(os.urandom(64))])


class Refused(Exception):
    def __init__(self, name, code=400):
        super().__init__(name)
        self.name = name
        self.code = code


class AuthServer(faultserver.Server):
    """The attributes are the knobs; they may be changed at any time.

    Endpoints for script() and always(): metadata, register, authorize, token,
    device, revoke.
    """

    def __init__(self, path="", **kw):
        self.path = path            # of the issuer
        self.base = None            # another origin that passes requests on
        self.forms = ("oauth",)     # and "oidc", "oidc-append", or none
        self.methods = ["none", "client_secret_basic", "client_secret_post",
                        "private_key_jwt"]
        self.algs = None            # ..._signing_alg_values_supported
        self.scopes = None          # scopes_supported
        self.iss = True             # promised and sent
        self.registers = True       # dynamic registration
        self.gives_device = True
        self.documents = set()      # client_id URLs that are known
        self.only_localhost = False     # redirects to 127.0.0.1 are refused
        self.secret_life = 0        # of a registered secret; 0: for ever
        self.told = []              # the bodies of registrations
        self.needs_resource = True
        self.life = 3600            # of an access token; None: no expires_in
        self.refreshes = True       # refresh tokens are given
        self.rotates = True
        self.grace = 0.0            # s in which the previous one still works
        self.grants_scope = None    # f(asked): what is granted
        self.trusted = {}           # assertion -> client id, None: any
        # an identity provider:
        self.user = None            # that signs in; None: gives no ID tokens
        self.id_life = 3600
        self.id_claims = {}         # instead of the proper ones
        self.id_tokens = {}         # ID token -> client id
        self.partners = []          # (AuthServer, its client's id)
        self.jag_claims = {}        # instead of the proper ones
        self.jag_typ = "oauth-id-jag+jwt"
        self.exchanges = []         # the forms
        self.device_polls = 1       # answers "pending"; None: until approved
        self.interval = 1
        self.dpop = None            # a Dpop: tokens are bound to keys
        self.needs_proof = True     # with dpop: each token request needs one

        self.mark = "canary" + os.urandom(5).hex()
        self.made = []              # (kind, text)
        self.states = []
        self.clients = {}
        self.dead = set()           # ids of clients that were forgotten
        self.codes = {}
        self.tokens = {}            # access token -> Token
        self.families = {}          # refresh token -> Family
        self.devices = {}
        self.resources = {}         # client id -> resource that it asked for
        self.jtis = set()
        self.violations = []
        self.counts = collections.Counter()
        self.given = collections.Counter()  # tokens by grant
        self.reuse_events = 0
        self.steps = Script()
        super().__init__(handler=self.route, **kw)

    # for tests: state

    @property
    def origin(self):
        return self.base or "%s://%s:%d" % ("https" if self.tls else "http",
                                            self.host, self.port)

    @property
    def issuer(self):
        return self.origin + self.path

    @property
    def registrations(self):
        return self.counts["register"]

    @property
    def authorizations(self):
        return self.counts["authorize"]

    def token_requests(self, grant=None):
        """The number of token requests, or of those of one grant."""
        if grant:
            return self.counts["token " + grant]
        return self.counts["token"]

    def secrets(self, states=False):
        """All secrets that must not leak.  The states only if asked for: they
        are in the URL that the user is shown."""
        with self.lock:
            found = {text for _, text in self.made}
            if states:
                found.update(self.states)
        return sorted(found)

    def seen_at(self, path):
        with self.lock:
            return [r for r in self.requests
                    if r.target.split("?")[0] == path]

    # for tests: commands

    def script(self, endpoint, *steps):
        with self.lock:
            self.steps.once[endpoint] += steps

    def always(self, endpoint, step=None):
        self.steps.always[endpoint] = step

    def add_client(self, ident="known", method="client_secret_post",
                   secret=None, pem=None, redirects=None,
                   grants=("authorization_code", "refresh_token",
                           "client_credentials", DEVICE_GRANT, JWT_GRANT,
                           EXCHANGE)):
        """Adds a client as if it was registered by hand."""
        if method.startswith("client_secret"):
            secret = secret or self.make("secret")
            self.note_secret("secret", secret)
        c = Client(ident, secret, method, redirects, grants, pem)
        with self.lock:
            self.clients[ident] = c
        return c

    def forget_clients(self):
        with self.lock:
            self.dead.update(self.clients)
            self.clients.clear()

    def expire(self):
        """Ends all access tokens; refresh tokens still work."""
        with self.lock:
            for t in self.tokens.values():
                t.revoked = True

    def revoke(self):
        """Ends all tokens."""
        self.expire()
        with self.lock:
            for f in self.families.values():
                f.dead = True

    def approve(self, user_code=None, yes=True):
        """A user types this code in, or (None) all that wait."""
        with self.lock:
            for d in self.devices.values():
                if user_code in (None, d["user_code"]):
                    d["answer"] = yes

    def look(self, token):
        """The Token of this text, if it is valid now."""
        with self.lock:
            t = self.tokens.get(token)
        if t is None or t.revoked or (t.end and time.time() >= t.end):
            return None
        return t

    # records of secrets and violations

    def make(self, kind):
        text = "%s-%s-%s" % (kind, self.mark, os.urandom(9).hex())
        self.note_secret(kind, text)
        return text

    def note_secret(self, kind, text):
        with self.lock:
            self.made.append((kind, text))

    def violation(self, rx, what):
        with self.lock:
            self.violations.append("%s %s: %s" % (
                rx.method, rx.target.split("?")[0], what))

    def must(self, rx, good, what):
        if not good:
            self.violation(rx, what)
        return good

    def form(self, rx, text):
        """name -> value; each name must occur once."""
        out = {}
        for k, v in pairs(text):
            self.must(rx, k not in out, "%s twice" % k)
            out[k] = v
        return out

    def check_headers(self, rx, basic=False):
        for name in ("Cookie", "Mcp-Session-Id", "Last-Event-ID"):
            self.must(rx, rx.get(name) is None, name + " was sent")
        auth = rx.get("Authorization")
        self.must(rx, auth is None or
                  (basic and auth.startswith("Basic ")),
                  "an Authorization was sent")

    def check_url(self, rx, query):
        for k, _ in pairs(query):
            self.must(rx, k not in ("client_secret", "code_verifier",
                                    "access_token", "refresh_token",
                                    "client_assertion", "token"),
                      k + " in a URL")
        with self.lock:
            made = list(self.made)
        plain = urllib.parse.unquote_plus(query)
        for kind, text in made:
            self.must(rx, len(text) < 8 or text not in plain,
                      "a %s in a URL" % kind)

    # requests

    def metadata_paths(self):
        where = {"oauth": "/.well-known/oauth-authorization-server" +
                 self.path,
                 "oidc": "/.well-known/openid-configuration" + self.path,
                 "oidc-append": self.path +
                 "/.well-known/openid-configuration"}
        return [where[f] for f in self.forms]

    def route(self, rx, tx):
        path, _, query = rx.target.partition("?")
        self.check_url(rx, query)
        if path in self.metadata_paths():
            self.metadata(rx, tx)
            return
        name = path[len(self.path) + 1:] if path.startswith(self.path + "/") \
            else None
        fn = {"register": self.register, "authorize": self.authorize,
              "token": self.token, "device": self.device,
              "revoke": self.revoked}.get(name)
        if fn is None:
            self.check_headers(rx)
            tx.text(404, "nothing here")
            return
        with self.lock:
            self.counts["page" if (rx.method, name) == ("GET", "device")
                        else name] += 1
        fn(rx, tx, query)

    def document(self):
        at = self.issuer
        doc = {"issuer": at, "authorization_endpoint": at + "/authorize",
               "token_endpoint": at + "/token",
               "revocation_endpoint": at + "/revoke",
               "response_types_supported": ["code"],
               "grant_types_supported": ["authorization_code",
                                         "refresh_token",
                                         "client_credentials", DEVICE_GRANT,
                                         JWT_GRANT],
               "code_challenge_methods_supported": ["S256"],
               "token_endpoint_auth_methods_supported": self.methods}
        if self.algs:
            doc["token_endpoint_auth_signing_alg_values_supported"] = \
                self.algs
        if self.registers:
            doc["registration_endpoint"] = at + "/register"
        if self.gives_device:
            doc["device_authorization_endpoint"] = at + "/device"
        if self.scopes is not None:
            doc["scopes_supported"] = self.scopes
        if self.iss:
            doc["authorization_response_iss_parameter_supported"] = True
        if self.documents:
            doc["client_id_metadata_document_supported"] = True
        if self.dpop:
            doc["dpop_signing_alg_values_supported"] = ["PS256", "ES256"]
        return doc

    def metadata(self, rx, tx):
        self.must(rx, rx.method == "GET", "the method")
        self.check_headers(rx)
        edit = self.steps.play(self.lock, "metadata", rx, tx)
        if edit:
            send(tx, edit(self.document()))

    # registration

    def register(self, rx, tx, query):
        m = rx.json if isinstance(rx.json, dict) else {}
        self.check_headers(rx)
        self.must(rx, rx.method == "POST" and "application/json" in
                  (rx.get("Content-Type") or ""), "no JSON was posted")
        self.check_registration(rx, m)
        self.told.append(m)
        edit = self.steps.play(self.lock, "register", rx, tx)
        if not edit:
            return
        uris = m.get("redirect_uris") or []
        if not self.registers:
            send(tx, edit({"error": "access_denied"}), 403)
        elif self.only_localhost and \
                any("//localhost:" not in u for u in uris):
            send(tx, edit({"error": "invalid_redirect_uri"}), 400)
        else:
            send(tx, edit(self.new_client(m, uris)), 201)

    def check_registration(self, rx, m):
        uris = m.get("redirect_uris") or []
        grants = m.get("grant_types") or []
        self.must(rx, m.get("application_type") == "native",
                  "application_type %r" % m.get("application_type"))
        self.must(rx, m.get("token_endpoint_auth_method") in self.methods,
                  "token_endpoint_auth_method %r" %
                  m.get("token_endpoint_auth_method"))
        self.must(rx, "client_secret" not in m, "it chose a secret")
        self.must(rx, m.get("client_name"), "no client_name")
        if "authorization_code" not in grants:
            self.must(rx, DEVICE_GRANT in grants and not uris,
                      "grant_types %r" % grants)
            return
        self.must(rx, "refresh_token" in grants, "no refresh_token grant")
        self.must(rx, m.get("response_types") == ["code"],
                  "response_types %r" % m.get("response_types"))
        self.must(rx, uris and all(is_loopback(u) for u in uris),
                  "redirect_uris %r" % uris)

    def new_client(self, m, uris):
        method = m.get("token_endpoint_auth_method", "client_secret_basic")
        doc = dict(m, client_id="client-" + os.urandom(6).hex(),
                   registration_access_token=self.make("registration"),
                   token_endpoint_auth_method=method)
        c = Client(doc["client_id"], None, method, uris,
                   m.get("grant_types") or ())
        if method.startswith("client_secret"):
            c.secret = doc["client_secret"] = self.make("secret")
            doc["client_secret_expires_at"] = self.secret_life and \
                int(time.time() + self.secret_life)
        with self.lock:
            self.clients[c.id] = c
        return doc

    def find_client(self, ident):
        with self.lock:
            c = self.clients.get(ident)
            if c is None and ident in self.documents:
                c = self.clients[ident] = Client(ident)
        return c

    # consent

    def authorize(self, rx, tx, query):
        q = self.form(rx, query)
        c = self.find_client(q.get("client_id"))
        self.check_authorize(rx, q, c)
        edit = self.steps.play(self.lock, "authorize", rx, tx)
        if not edit:
            return
        uri = q.get("redirect_uri", "")
        if c is None or not is_loopback(uri) or \
                (c.redirects is not None and uri not in c.redirects):
            tx.body(400, HTML, "text/html")
            return
        answer = {"code": self.make("code"), "state": q.get("state", "")}
        if self.iss:
            answer["iss"] = self.issuer
        with self.lock:
            self.codes[answer["code"]] = dict(q, used=False)
        answer = edit(answer)
        if answer is None:
            tx.cut()
            return
        tx.body(302, headers=[("Location", uri + "?" + urllib.parse.urlencode(
            answer, doseq=True))])

    def check_authorize(self, rx, q, c):
        self.must(rx, rx.method == "GET", "the method")
        self.must(rx, q.get("response_type") == "code", "response_type")
        self.must(rx, c or q.get("client_id") in self.dead,
                  "a client that was never here")
        self.must(rx, q.get("code_challenge_method") == "S256", "no S256")
        self.must(rx, len(q.get("code_challenge", "")) == 43,
                  "code_challenge")
        uri = q.get("redirect_uri", "")
        self.must(rx, is_loopback(uri), "redirect_uri %r" % uri)
        if c and c.redirects is not None:
            self.must(rx, uri in c.redirects, "redirect_uri not registered")
        with self.lock:
            new = q.get("state") not in self.states
            self.states.append(q.get("state", ""))
        self.must(rx, len(q.get("state", "")) >= 22, "state")
        self.must(rx, new, "the same state again")
        self.must(rx, q.get("scope") != "", "an empty scope")
        self.check_resource(rx, q)

    def check_resource(self, rx, q):
        """The resource must be there, and the same in all requests of a
        client."""
        if not self.needs_resource:
            return
        r = q.get("resource")
        if not self.must(rx, r and "#" not in r, "resource %r" % r):
            return
        with self.lock:
            first = self.resources.setdefault(q.get("client_id"), r)
        self.must(rx, first == r, "resource %r was %r" % (r, first))

    # client authentication

    def client_of(self, rx, q):
        """The client, after a check of its authentication."""
        ident, secret, how = q.get("client_id"), None, "none"
        auth = rx.get("Authorization")
        if auth and auth.startswith("Basic "):
            self.note_secret("basic", auth[6:])
            how = "client_secret_basic"
            ident, secret = self.basic(rx, auth[6:], ident)
            self.must(rx, "client_secret" not in q, "two proofs")
        elif "client_secret" in q:
            secret, how = q["client_secret"], "client_secret_post"
        elif "client_assertion" in q:
            self.note_secret("assertion", q["client_assertion"])
            how = "private_key_jwt"
            ident = self.peek(q["client_assertion"]).get("sub", ident)
        if ident is None and q.get("grant_type") == JWT_GRANT:
            return Client(None, grants=[JWT_GRANT])
        c = self.find_client(ident)
        if c is None:
            self.must(rx, ident in self.dead, "a client that was never here")
            raise Refused("invalid_client", 401)
        self.must(rx, how == c.method, "proof by %s instead of %s" %
                  (how, c.method))
        if how == "private_key_jwt":
            self.check_assertion(rx, q, c)
        elif secret != c.secret:
            self.violation(rx, "a wrong secret")
            raise Refused("invalid_client", 401)
        return c

    def basic(self, rx, text, ident):
        try:
            plain = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, ValueError):
            plain = ""
        name, colon, secret = plain.partition(":")
        self.must(rx, colon, "no Basic credential")
        name = urllib.parse.unquote_plus(name)
        self.must(rx, ident in (None, name), "two client ids")
        return name, urllib.parse.unquote_plus(secret)

    @staticmethod
    def peek(jwt):
        try:
            doc = json.loads(unb64url(jwt.split(".")[1]))
        except (ValueError, IndexError):
            return {}
        return doc if isinstance(doc, dict) else {}

    def check_assertion(self, rx, q, c):
        jwt = q["client_assertion"]
        claims = self.peek(jwt)
        now = time.time()
        good = self.must(rx, q.get("client_assertion_type") == JWT_BEARER,
                         "client_assertion_type")
        good &= self.must(rx, claims.get("iss") == c.id, "iss of the proof")
        good &= self.must(rx, claims.get("aud") in (self.issuer,
                                                    [self.issuer]),
                          "aud of the proof: %r" % claims.get("aud"))
        end = claims.get("exp")
        good &= self.must(rx, isinstance(end, int) and
                          now - 1 < end <= now + 300, "exp of the proof")
        with self.lock:
            fresh = claims.get("jti") and claims["jti"] not in self.jtis
            self.jtis.add(claims.get("jti"))
        good &= bool(self.must(rx, fresh, "jti of the proof"))
        good &= self.must(rx, verify(jwt, c.pem, self.algs),
                          "signature of the proof")
        if not good:
            raise Refused("invalid_client", 401)

    # tokens

    def token(self, rx, tx, query):
        q = self.form(rx, rx.body.decode("utf-8", "replace"))
        grant = q.get("grant_type")
        with self.lock:
            self.counts["token %s" % grant] += 1
        if q.get("code_verifier"):
            self.note_secret("verifier", q["code_verifier"])
        self.must(rx, rx.method == "POST" and rx.get("Content-Type", "")
                  .startswith("application/x-www-form-urlencoded"),
                  "no form was posted")
        self.must(rx, query == "", "a query")
        self.check_headers(rx, basic=True)
        edit = self.steps.play(self.lock, "token", rx, tx)
        if not edit:
            return
        fn = {"authorization_code": self.by_code,
              "refresh_token": self.by_refresh,
              "client_credentials": self.by_client,
              DEVICE_GRANT: self.by_device,
              JWT_GRANT: self.by_assertion,
              EXCHANGE: self.by_exchange}.get(grant)
        try:
            if not self.must(rx, fn, "grant_type %r" % grant):
                raise Refused("unsupported_grant_type")
            c = self.client_of(rx, q)
            if not self.must(rx, grant in c.grants,
                             "a grant that the client has not registered"):
                raise Refused("unauthorized_client")
            jkt = self.proven(rx, tx)
            with self.lock:
                if grant == "refresh_token" and c.method == "none":
                    f = self.families.get(q.get("refresh_token"))
                    if f and not self.must(rx, f.jkt == jkt,
                                           "a refresh with another key"):
                        raise Refused("invalid_grant")
                doc = fn(rx, q, c)
                self.bind_key(doc, jkt)
                self.given[grant] += 1
        except Refused as e:
            send(tx, edit({"error": e.name}), e.code)
            return
        send(tx, edit(doc))

    def proven(self, rx, tx):
        """The thumbprint of the key in the DPoP proof, or None."""
        if self.dpop is None or \
                (rx.get("DPoP") is None and not self.needs_proof):
            return None
        jkt, error = self.dpop.judge(rx, tx, self.issuer + "/token")
        if error:
            raise Refused(error)
        return jkt

    def bind_key(self, doc, jkt):
        if jkt is None:
            return
        doc["token_type"] = "DPoP"
        token = self.tokens[doc["access_token"]]
        token.jkt = token.family.jkt = jkt

    def by_code(self, rx, q, c):
        was = self.codes.get(q.get("code"))
        if not self.must(rx, was, "a code that was never given"):
            raise Refused("invalid_grant")
        good = self.must(rx, not was["used"], "the same code again")
        was["used"] = True
        for name in ("redirect_uri", "resource"):
            good &= self.must(rx, q.get(name) == was.get(name),
                              "another %s than at first" % name)
        good &= self.must(rx, c.id == was["client_id"], "another client")
        verifier = q.get("code_verifier", "")
        good &= self.must(rx, 43 <= len(verifier) <= 128 and b64url(
            hashlib.sha256(verifier.encode()).digest()) ==
            was.get("code_challenge"), "code_verifier")
        if not good:
            raise Refused("invalid_grant")
        return self.give(c, was.get("resource"), was.get("scope"))

    def by_refresh(self, rx, q, c):
        text = q.get("refresh_token")
        f = self.families.get(text)
        if not self.must(rx, f, "a refresh token that was never given"):
            raise Refused("invalid_grant")
        if not self.must(rx, f.client is c or f.client.id == c.id,
                         "another client's refresh token"):
            raise Refused("invalid_grant")
        if f.dead:
            raise Refused("invalid_grant")
        again = text == f.previous and \
            time.monotonic() - f.rotated < self.grace
        if text != f.current and not again:
            self.reuse_events += 1
            self.kill(f)
            raise Refused("invalid_grant")
        self.must(rx, q.get("resource") == f.resource,
                  "another resource than at first")
        asked = set((q.get("scope") or f.scope or "").split())
        if not self.must(rx, asked <= set((f.scope or "").split()),
                         "a refresh that wants more scopes"):
            raise Refused("invalid_scope")
        return self.give(c, f.resource, f.scope, f)

    def kill(self, f):
        f.dead = True
        for t in self.tokens.values():
            if t.family is f:
                t.revoked = True

    def by_client(self, rx, q, c):
        self.must(rx, c.method != "none", "no proof at all")
        q.setdefault("client_id", c.id)
        self.check_resource(rx, q)
        return self.give(c, q.get("resource"), q.get("scope"), refresh=False)

    def trust(self, text, client=None):
        """Trusts an assertion from now on, with this client or any."""
        self.note_secret("assertion", text)
        with self.lock:
            self.trusted[text] = client
        return text

    def by_assertion(self, rx, q, c):
        text = q.get("assertion")
        q.setdefault("client_id", c.id)
        self.check_resource(rx, q)
        if text not in self.trusted or \
                self.trusted[text] not in (None, c.id):
            raise Refused("invalid_grant")
        claims = self.peek(text)
        if claims.get("exp", time.time() + 1) <= time.time():
            raise Refused("invalid_grant")
        return self.give(c, q.get("resource"), q.get("scope"), refresh=False)

    def id_token(self, client, **claims):
        """Makes an ID token of the user for this client."""
        now = int(time.time())
        text = jwt({"iss": self.issuer, "sub": self.user, "aud": client,
                    "exp": now + self.id_life, "iat": now, "mark": self.mark,
                    **self.id_claims, **claims})
        self.note_secret("id_token", text)
        self.id_tokens[text] = client
        return text

    def by_exchange(self, rx, q, c):
        for name, value in (("requested_token_type", ID_JAG),
                            ("subject_token_type", ID_TOKEN)):
            self.must(rx, q.get(name) == value, name)
        subject = q.get("subject_token")
        if self.id_tokens.get(subject) != c.id or \
                self.peek(subject)["exp"] <= time.time():
            raise Refused("invalid_grant")
        self.exchanges.append(q)
        partner = [(a, client) for a, client in self.partners
                   if a.issuer == q.get("audience")]
        if not partner:
            raise Refused("invalid_target")
        a, client = partner[0]
        now = int(time.time())
        text = jwt({"iss": self.issuer, "sub": self.user,
                    "aud": q["audience"], "resource": q.get("resource"),
                    "client_id": client, "jti": os.urandom(8).hex(),
                    "exp": now + 300, "iat": now, "mark": self.mark,
                    **self.jag_claims}, self.jag_typ)
        self.made.append(("id_jag", text))
        a.trust(text, client)
        return {"issued_token_type": ID_JAG, "access_token": text,
                "token_type": "N_A", "expires_in": 300}

    def by_device(self, rx, q, c):
        d = self.devices.get(q.get("device_code"))
        if not self.must(rx, d and d["client"] == c.id,
                         "a device_code that was never given"):
            raise Refused("invalid_grant")
        now = time.monotonic()
        early = now - d["polled"] < self.interval - 0.05
        d["polled"] = now
        d["polls"] += 1
        if not self.must(rx, not early, "polled too early"):
            raise Refused("slow_down")
        if d["answer"] is None and self.device_polls is not None and \
                d["polls"] > self.device_polls:
            d["answer"] = True
        if d["answer"] is None:
            raise Refused("authorization_pending")
        if not d["answer"]:
            raise Refused("access_denied")
        del self.devices[q["device_code"]]
        return self.give(c, d["resource"], d["scope"])

    def give(self, c, resource, scope, family=None, refresh=True):
        """Makes new tokens; the caller holds the lock."""
        if family is None:
            if self.grants_scope:
                scope = self.grants_scope(scope)
            family = Family(c, resource, scope)
        doc = {"access_token": self.make("access"), "token_type": "Bearer"}
        if self.life is not None:
            doc["expires_in"] = self.life
        if scope:
            doc["scope"] = scope
        if self.user and refresh and "openid" in (scope or "").split():
            doc["id_token"] = self.id_token(c.id)
        self.tokens[doc["access_token"]] = Token(c, resource, scope,
                                                 self.life, family)
        if refresh and self.refreshes and "refresh_token" in c.grants:
            if family.current is None or self.rotates:
                family.previous = family.current
                family.current = self.make("refresh")
                family.rotated = time.monotonic()
                self.families[family.current] = family
                doc["refresh_token"] = family.current
        return doc

    # device, revocation

    def device(self, rx, tx, query):
        if rx.method == "GET":      # the page where a user types the code
            self.approve(self.form(rx, query).get("user_code", "none"))
            tx.body(200, HTML, "text/html")
            return
        q = self.form(rx, rx.body.decode("utf-8", "replace"))
        self.must(rx, query == "", "a query")
        self.check_headers(rx, basic=True)
        edit = self.steps.play(self.lock, "device", rx, tx)
        if not edit:
            return
        try:
            c = self.client_of(rx, q)
        except Refused as e:
            send(tx, edit({"error": e.name}), e.code)
            return
        q.setdefault("client_id", c.id)
        self.check_resource(rx, q)
        user_code = "ABCD-%04d" % (len(self.devices) + 1)
        code = self.make("device")
        with self.lock:
            self.devices[code] = {
                "user_code": user_code, "client": c.id, "answer": None,
                "polls": 0, "polled": -1e9,
                "scope": q.get("scope"), "resource": q.get("resource")}
        at = self.issuer + "/device"
        send(tx, edit({"device_code": code, "user_code": user_code,
                       "verification_uri": at, "interval": self.interval,
                       "verification_uri_complete":
                           at + "?user_code=" + user_code,
                       "expires_in": 600}))

    def revoked(self, rx, tx, query):
        q = self.form(rx, rx.body.decode("utf-8", "replace"))
        self.must(rx, rx.method == "POST" and query == "",
                  "no form was posted")
        self.check_headers(rx, basic=True)
        edit = self.steps.play(self.lock, "revoke", rx, tx)
        if not edit:
            return
        try:
            self.client_of(rx, q)
        except Refused as e:
            send(tx, edit({"error": e.name}), e.code)
            return
        with self.lock:
            f = self.families.get(q.get("token"))
            t = self.tokens.get(q.get("token"))
            if f:
                self.kill(f)
            elif self.must(rx, t, "a token that was never given"):
                t.revoked = True
        send(tx, edit({}))


def der(raw):
    """An ECDSA signature in the form that openssl needs."""
    out = b""
    for half in (raw[:32], raw[32:]):
        n = half.lstrip(b"\0") or b"\0"
        n = b"\0" + n if n[0] & 0x80 else n
        out += b"\x02" + bytes([len(n)]) + n
    return b"\x30" + bytes([len(out)]) + out


def verify(jwt, pem, algs=None):
    """Is the JWT signed with the key?  Asks the openssl program."""
    try:
        head, _, signature = (unb64url(p) for p in jwt.split("."))
        alg = json.loads(head)["alg"]
    except (ValueError, KeyError, TypeError):
        return False
    data = jwt.rpartition(".")[0].encode()
    if pem is None or (algs is not None and alg not in algs):
        return False
    if alg == "ES256":
        if len(signature) != 64:
            return False
        signature = der(signature)
    with tempfile.TemporaryDirectory() as d:
        names = {"d": os.path.join(d, "d"), "s": os.path.join(d, "s")}
        for name, content in (("d", data), ("s", signature)):
            with open(names[name], "wb") as f:
                f.write(content)
        dgst = ["openssl", "dgst", "-sha256", "-verify", pem, "-signature",
                names["s"]]
        args = {"ES256": dgst, "RS256": dgst, "PS256": dgst + [
            "-sigopt", "rsa_padding_mode:pss", "-sigopt",
            "rsa_pss_saltlen:digest"], "EdDSA": [
                "openssl", "pkeyutl", "-verify", "-pubin", "-inkey", pem,
                "-rawin", "-sigfile", names["s"], "-in"]}.get(alg)
        return args is not None and subprocess.run(
            args + [names["d"]], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL).returncode == 0


class Protected(faultserver.Mcp):
    """An MCP server that needs tokens of an AuthServer.

    Endpoints for script() and always(): prm.
    """

    def __init__(self, auth, **kw):
        self.auth = auth
        self.auths = [auth]
        self.prm = ("path",)        # and "root", or none
        self.prm_path = None        # a place of its own, for the challenge
        self.names_prm = True       # the challenge has resource_metadata
        self.challenge_scope = None
        self.challenge = None       # f(rx, error, scope): the header's value
        self.prm_scopes = None      # scopes_supported
        self.resource = None        # instead of the URL
        self.issuers = None         # instead of auth's
        self.open_rpc = set()       # JSON-RPC methods that need no token
        self.rpc_scopes = {}        # method -> scope
        self.tool_scopes = {}       # tool -> scope
        self.other_tokens = set()   # that are accepted, too
        self.refuses_all = False    # 401 to each request
        self.binds_sessions = False     # a session belongs to its token
        self.needs_audience = True  # the token must be for this resource
        self.dpop = Dpop()          # proofs for bound tokens
        self.schemes = ("Bearer",)  # of the challenge; and "DPoP"
        self.prm_more = {}          # more members of the PRM
        self.violations = []
        self.refused = []           # (Request, status)
        self.steps = Script()
        self.owners = {}            # session id -> token
        super().__init__(**kw)

    @property
    def origin(self):
        return self.url.rpartition("/")[0]

    def use(self, auth):
        """Uses another authorization server from now on."""
        with self.lock:
            self.auth = auth
            self.auths.append(auth)

    def host_auth(self):
        """Puts the authorization server at this origin (2025-03-26)."""
        self.auth.base = self.origin

    script = AuthServer.script
    always = AuthServer.always
    violation = AuthServer.violation
    must = AuthServer.must

    def prm_paths(self):
        at = "/.well-known/oauth-protected-resource"
        paths = [{"path": at + "/mcp", "root": at}[p] for p in self.prm]
        return paths + ([self.prm_path] if self.prm_path else [])

    def route(self, rx, tx):
        path, _, query = rx.target.partition("?")
        for auth in self.auths:
            auth.check_url(rx, query)
        if path in self.prm_paths():
            self.send_prm(rx, tx)
        elif path != "/mcp" and self.auth.base == self.origin:
            with self.auth.lock:
                self.auth.requests.append(rx)
            self.auth.route(rx, tx)
        elif path != "/mcp":
            self.must(rx, rx.get("Authorization") is None,
                      "an Authorization was sent")
            tx.text(404, "nothing here")
        elif self.admits(rx, tx):
            super().route(rx, tx)

    def send_prm(self, rx, tx):
        for name in ("Authorization", "Cookie", "Mcp-Session-Id"):
            self.must(rx, rx.get(name) is None, name + " was sent")
        edit = self.steps.play(self.lock, "prm", rx, tx)
        if not edit:
            return
        doc = {"resource": self.resource or self.url,
               "authorization_servers": self.issuers or [self.auth.issuer],
               "bearer_methods_supported": ["header"]}
        if self.prm_scopes is not None:
            doc["scopes_supported"] = self.prm_scopes
        doc.update(self.prm_more)
        send(tx, edit(doc))

    def token_of(self, rx):
        scheme, _, text = (rx.get("Authorization") or "").partition(" ")
        self.must(rx, len(rx.all("Authorization")) <= 1,
                  "more than one Authorization")
        return text if scheme in ("Bearer", "DPoP") else None

    def misuse(self, rx, tx, token):
        """What is wrong with how this valid token was sent, or None."""
        scheme = rx.get("Authorization").partition(" ")[0]
        if token.jkt is None:
            self.must(rx, scheme == "Bearer" and rx.get("DPoP") is None,
                      "a token that is not bound came by %s" % scheme)
            return None if "Bearer" in self.schemes else "invalid_token"
        if scheme != "DPoP":
            return "invalid_token"
        return self.dpop.judge(rx, tx, self.url, self.token_of(rx),
                               token.jkt)[1]

    def scope_for(self, rx):
        if rx.rpc == "tools/call":
            name = rx.json.get("params", {}).get("name")
            if name in self.tool_scopes:
                return self.tool_scopes[name]
        return self.rpc_scopes.get(rx.rpc)

    def admits(self, rx, tx):
        """Is the token valid for this request?  If not, refuses it."""
        text = self.token_of(rx)
        if text and text not in self.other_tokens:
            self.must(rx, any(text in a.tokens for a in self.auths),
                      "a token that no server of ours has given")
        need = self.scope_for(rx)
        if self.refuses_all:
            return self.say_no(rx, tx, 401, text and "invalid_token", need)
        if rx.rpc in self.open_rpc or text in self.other_tokens:
            return True
        token = self.auth.look(text) if text else None
        if token and self.needs_audience and \
                token.resource not in (None, self.resource or self.url):
            self.violation(rx, "a token for %r" % token.resource)
            token = None
        if token is None:
            return self.say_no(rx, tx, 401, text and "invalid_token", need)
        error = self.misuse(rx, tx, token)
        if error:
            return self.say_no(rx, tx, 401, error, need)
        if need and not set(need.split()) <= set((token.scope or "").split()):
            return self.say_no(rx, tx, 403, "insufficient_scope", need)
        return True

    def say_no(self, rx, tx, code, error, need):
        with self.lock:
            self.refused.append((rx, code))
        scope = need or self.challenge_scope
        if self.challenge:
            value = self.challenge(rx, error, scope)
        else:
            value = self.challenge_for(error, scope)
        heads = [("WWW-Authenticate", value)] if value else []
        tx.text(code, "no\n", heads)
        return False

    def challenge_for(self, error, scope):
        parts = []
        if error:
            parts.append('error="%s"' % error)
        if scope:
            parts.append('scope="%s"' % scope)
        where = ([self.prm_path] if self.prm_path else self.prm_paths())[:1]
        if self.names_prm and where:
            parts.append('resource_metadata="%s%s"' % (self.origin, where[0]))
        return ", ".join((s + " " + ", ".join(parts)).strip()
                         for s in self.schemes)

    # sessions

    def session(self, rx):
        s = super().session(rx)
        if s and self.binds_sessions:
            # the first request in a session follows its initialize
            with self.lock:
                owner = self.owners.setdefault(rx.sid,
                                               rx.get("Authorization"))
            if owner != rx.get("Authorization"):
                return None
        return s


BROWSER = '''#!%(python)s -I
import json, os, ssl, sys, time, urllib.error, urllib.request
url = sys.argv[-1]
fd = os.open(%(log)r, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(fd, url.encode() + b"\\n")
try:
    with open("/proc/%%d/cmdline" %% os.getppid()) as f:
        parent = f.read().split("\\0")
    fds = sorted(int(n) for n in os.listdir("/proc/self/fd"))
except OSError:
    parent, fds = [], []
with open(%(witness)r, "a") as f:
    f.write(json.dumps({"env": dict(os.environ), "parent": parent,
                        "fds": fds}) + "\\n")
time.sleep(%(delay)r)
if not %(follow)r or not url.startswith("http"):
    sys.exit(%(status)r)
tls = ssl._create_unverified_context()
web = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                  urllib.request.HTTPSHandler(context=tls))
try:
    r = web.open(url, timeout=30)
except urllib.error.HTTPError as e:
    r = e
except OSError as e:
    sys.exit(1)
page = json.dumps({"url": r.geturl(), "status": r.status,
                   "headers": dict(r.headers.items()),
                   "text": r.read().decode("utf-8", "replace")})
fd = os.open(%(pages)r, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(fd, page.encode() + b"\\n")
sys.exit(%(status)r)
'''


def read_record(path):
    """The content of a record.  On Windows it is encrypted, and a program
    beside the tested one decrypts it (tests/windows/prepare)."""
    with open(path, "rb") as f:
        text = f.read()
    if text.startswith(b"mcpsplice sealed "):
        text = subprocess.run([support.PROGRAM + "-unseal"], input=text,
                              stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text)


class Browser:
    """A program for --browser: it loads the URL and logs what it gets."""

    def __init__(self, folder, follow=True, delay=0.0, status=0):
        self.command = os.path.join(folder, "browser")
        self.log = self.command + ".urls"
        self.log_pages = self.command + ".pages"
        self.log_witness = folder + ".witness"
        with open(self.command, "w") as f:
            f.write(BROWSER % {
                "python": sys.executable, "log": self.log, "delay": delay,
                "pages": self.log_pages, "witness": self.log_witness,
                "follow": follow, "status": status})
        os.chmod(self.command, 0o700)

    @staticmethod
    def lines(path):
        try:
            with open(path) as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def opened(self):
        """The URLs that the browser was started with."""
        return self.lines(self.log)

    def url(self):
        """Waits for the first of these URLs."""
        end = time.monotonic() + support.LIVE
        while not self.opened():
            if time.monotonic() > end:
                raise AssertionError("no browser was started")
            time.sleep(0.01)
        return self.opened()[0]

    def pages(self):
        """The page at which each start ended: url, status, headers, text."""
        return [json.loads(line) for line in self.lines(self.log_pages)]

    def witness(self):
        """What each start saw: env, parent (its parent's argv), fds (its own,
        with two that it had open at that moment)."""
        return [json.loads(line) for line in self.lines(self.log_witness)]

    def go(self, url, env=None):
        """Loads the URL, as a user who pastes it."""
        return subprocess.run([self.command, url], env=env).returncode


class Case(support.Case):
    """A test with these servers.  It fails if a server has seen a violation,
    or if a secret is outside of the store."""

    def setUp(self):
        super().setUp()
        self.guarded = []       # servers that collect violations
        self.may_hold = []      # files that may contain secrets

    def tearDown(self):
        result = self._outcome.result
        leaks = []
        try:
            if not result.failures and not result.errors:
                for p in self.running:
                    if not p.finished:
                        p.finish()
                leaks = self.leaks()
        finally:
            super().tearDown()
        bad = [v for s in self.guarded for v in s.violations]
        self.assertEqual(bad, [], "what the servers complain about")
        self.assertEqual(leaks, [], "secrets in plain sight")

    def auth(self, path="", **knobs):
        s = AuthServer(path, tls=knobs.pop("tls", None))
        return self.adopt(s, knobs)

    def protected(self, auth, **knobs):
        server = {k: knobs.pop(k) for k in list(knobs)
                  if k in ("tls", "stateful", "version", "capabilities",
                           "init", "init_headers", "refuse", "on_get")}
        return self.adopt(Protected(auth, **server), knobs)

    def adopt(self, s, knobs):
        for name, value in knobs.items():
            if not hasattr(s, name):
                raise AttributeError(name)
            setattr(s, name, value)
        self.servers.append(s)
        self.guarded.append(s)
        return s

    def browser(self, **kw):
        """A browser in its own folder, whose files may contain secrets."""
        folder = os.path.join(self.tmp, "browser-%d" % self.count())
        os.mkdir(folder)
        self.may_hold.append(folder)
        return Browser(folder, **kw)

    def store(self):
        return os.path.join(self.home, ".local/state/mcpsplice/auth")

    def secrets(self):
        found = set()
        for s in self.guarded:
            if isinstance(s, AuthServer):
                found.update(s.secrets())
        found.update(self.keys())
        return [t.encode() for t in found if t]

    def keys(self):
        """The lines of the private keys in the store."""
        found = set()
        for folder, _, files in os.walk(self.store()):
            for name in files:
                if not name.endswith(".json"):
                    continue
                try:
                    pem = read_record(os.path.join(folder, name)).get(
                        "dpop_key", "")
                except ValueError:      # a test has damaged the record
                    continue
                found.update(line for line in pem.splitlines()
                             if line and "-----" not in line)
        return found

    def leaks(self):
        """Secrets in files of the test and on the stdout of the programs."""
        secrets = self.secrets()
        found = []
        for folder, folders, files in os.walk(self.tmp):
            if folder == self.store() or folder in self.may_hold:
                folders.clear()
                continue
            for name in files:
                path = os.path.join(folder, name)
                if path in self.may_hold or not os.path.isfile(path):
                    continue
                with open(path, "rb") as f:
                    data = f.read()
                found += ["%s: %s" % (path, t.decode())
                          for t in secrets if t in data]
        for p in self.running:
            with p.cond:
                said = b"\n".join(line for line, _ in p.lines)
            found += ["stdout: " + t.decode() for t in secrets if t in said]
        return found
