"""Signing in with tokens that are bound to a key (DPoP, RFC 9449): the servers
verify each proof, and refuse one that they have seen before.  Base is in
test_signin.py."""

import http.client
import json
import os
import time

import authserver
import support
from authserver import Dpop
from test_signin import Base, Patient

BOTH = ("Bearer", "DPoP")


class Bound(Base):
    def pair(self, schemes=("DPoP",), **knobs):
        """Both servers support DPoP."""
        return self.trio(self.auth(dpop=Dpop()), schemes=schemes, **knobs)

    def bound(self, m):
        """Checks that each request with a token had one proof."""
        self.assertEqual(m.dpop.bad, [])
        sent = [r for r in m.requests if r.get("Authorization")]
        self.assertTrue(sent)
        for r in sent:
            self.assertTrue(r.get("Authorization").startswith("DPoP "))
            self.assertEqual(len(r.all("DPoP")), 1)

    def unbound(self, a, m):
        for r in a.requests + m.requests:
            self.assertIsNone(r.get("DPoP"))
        self.assertNotIn("dpop_key", self.record())


class Proofs(Bound, Patient):
    def test_each_request(self):
        a, m, b = self.pair(on_get=lambda rx, tx: tx.sse())
        trace = os.path.join(self.tmp, "trace")
        p = self.start(m, b, "-vv", "--trace", trace)
        self.works(p, m)
        self.until_get(m)
        a.expire()
        self.works(p, m)
        keys = self.keys()
        self.assertEqual(len(keys), 3)
        p.finish()
        self.bound(m)
        self.assertEqual({c["htm"] for c in m.dpop.good},
                         {"POST", "GET", "DELETE"})
        self.assertEqual(len(a.dpop.good), 2)
        self.assertEqual(a.dpop.bad, [])
        # the refresh kept the key
        self.assertEqual(self.keys(), keys)
        self.works(self.start(m, b), m)
        self.counted(a, refresh=1)

    def until_get(self, m):
        end = time.monotonic() + support.LIVE
        while not any(c["htm"] == "GET" for c in list(m.dpop.good)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_what_is_sent_again(self):
        """A call that is sent again after a lost session has a new proof: the
        server would refuse the old one."""
        a, m, b = self.pair()
        p = self.start(m, b)
        for _ in range(3):
            m.forget()
            self.works(p, m)
        p.finish()
        self.bound(m)
        self.counted(a)

    def test_where_it_is_offered(self):
        required = {"dpop_bound_access_tokens_required": True}
        listed = {"dpop_signing_alg_values_supported": ["ES256"]}
        for dpop, knobs, bound in (
                (None, {}, False),
                # that the issuer supports DPoP does not mean the server does
                (Dpop(), {}, False),
                (Dpop(), {"challenge": lambda *_: None}, True),
                (Dpop(), {"schemes": ("DPoP",)}, True),
                (Dpop(), {"schemes": BOTH}, True),
                (Dpop(), {"prm_more": required}, True),
                (Dpop(), {"prm_more": listed}, True)):
            a, m, b = self.trio(self.auth(dpop=dpop, needs_proof=False),
                                **knobs)
            with self.subTest(knobs=knobs):
                p = self.start(m, b)
                self.works(p, m)
                if bound:
                    self.bound(m)
                else:
                    self.unbound(a, m)
                p.finish()
                self.counted(a)
                os.remove(self.record_path())

    def test_bearer_where_both_are_taken(self):
        """The issuer does not support DPoP: its token is a Bearer token."""
        a, m, b = self.trio(schemes=BOTH)
        self.works(self.start(m, b), m)
        for r in m.requests:
            self.assertIsNone(r.get("DPoP"))

    def test_a_server_that_changes_its_mind(self):
        """The server no longer accepts Bearer tokens: the proxy gets a bound
        token with a refresh, without the user."""
        a, m, b = self.trio(self.auth(dpop=Dpop(), needs_proof=False))
        p = self.start(m, b)
        self.works(p, m)
        # the refresh token is bound to no key: any key is accepted
        a.always("token", lambda rx, tx: self.free(a))
        m.schemes = ("DPoP",)
        self.works(p, m)
        self.assertEqual(m.dpop.bad, [])
        self.assertTrue(m.dpop.good)
        self.counted(a, refresh=1)

    @staticmethod
    def free(a):
        a.must = lambda rx, good, what: good or \
            what == "a refresh with another key"

    def test_other_ways(self):
        for args in (["--auth", "device"],
                     ["--auth", "client-credentials", "--client-id", "known",
                      "--client-secret-file"]):
            a, m, b = self.pair()
            if "--client-id" in args:
                c = a.add_client()
                args.append(os.path.join(self.tmp, "secret"))
                self.may_hold.append(args[-1])
                with open(args[-1], "w") as f:
                    f.write(c.secret)
                os.chmod(args[-1], 0o600)
                args += ["--issuer", a.issuer]
            p = self.start(m, b, *args)
            self.works(p, m)
            p.finish()
            self.bound(m)
            self.assertTrue(a.dpop.good)
            os.remove(self.record_path())

    def test_logout(self):
        a, m, b = self.pair()
        p = self.start(m, b)
        p.finish()
        before = self.keys()
        for args in (["status"], ["status", m.url], ["logout", m.url]):
            status, out, err = self.command(*args)
            self.assertEqual(status, 0)
            for line in before:
                self.assertNotIn(line.encode(), out + err.encode()
                                 if isinstance(err, str) else out + err)
        self.assertFalse(self.kept())
        self.works(self.start(m, b), m)
        self.assertFalse(before & self.keys() - self.common(before))

    @staticmethod
    def common(lines):
        """The first line of a PEM key is the same for all keys."""
        return {line for line in lines if line.startswith("MIGHAgEA")}


class Nonces(Bound, Patient):
    def test_at_both(self):
        a, m, b = self.pair()
        a.dpop.nonce, m.dpop.nonce = "as-1", "rs-1"
        p = self.start(m, b)
        self.works(p, m)
        self.counted(a, code=2)
        self.assertEqual([e for e, _ in a.dpop.bad], ["use_dpop_nonce"])
        self.assertEqual([e for e, _ in m.dpop.bad], ["use_dpop_nonce"])

    def test_another_with_each_answer(self):
        a, m, b = self.pair()
        a.dpop.nonce, m.dpop.nonce = "as-1", "rs-1"
        a.dpop.rotates = m.dpop.rotates = True
        p = self.start(m, b)
        for _ in range(5):
            self.works(p, m)
        self.counted(a, code=2)
        p.finish()
        # the newest nonce is used: only the first request, and those sent
        # before an answer came, had none
        self.assertEqual({e for e, _ in m.dpop.bad}, {"use_dpop_nonce"})
        self.assertLessEqual(len(m.dpop.bad), 3)

    def test_another_at_any_moment(self):
        a, m, b = self.pair()
        p = self.start(m, b)
        self.works(p, m)
        for i in range(4):
            m.dpop.nonce = "new-%d" % i
            self.works(p, m)
            self.assertEqual(len(m.dpop.bad), i + 1)
        a.dpop.nonce = "new"
        a.expire()
        self.works(p, m)
        self.counted(a, refresh=2)

    def test_flood(self):
        """The server gives a nonce with each refusal, and accepts none."""
        a, m, b = self.pair()
        p = self.start(m, b)
        self.works(p, m)
        before = a.token_requests()
        m.dpop.flood = lambda n: "flood-%d" % n
        self.fails(p, m, "rejects every nonce (DPoP) that it gives")
        # the call, and three tries with a new nonce
        self.assertEqual(len(m.dpop.bad), 4)
        self.assertEqual(a.token_requests(), before)
        m.dpop.flood = None
        self.works(p, m)
        self.assertEqual(a.token_requests(), before)

    def test_flood_of_the_issuer(self):
        a, m, b = self.pair()
        a.dpop.flood = lambda n: "flood-%d" % n
        p = self.splice(m, "--browser", b.command)
        self.assertIn("rejects every nonce (DPoP) that it gives",
                      self.first(p))
        self.assertEqual(len(a.dpop.bad), 4)
        self.counted(a, code=4)

    def test_flood_at_a_refresh(self):
        """The user is not asked to sign in, which would not help."""
        a, m, b = self.pair()
        p = self.start(m, b)
        a.dpop.flood = lambda n: "flood-%d" % n
        a.expire()
        self.fails(p, m, "rejects every nonce (DPoP) that it gives")
        self.counted(a, refresh=4)
        a.dpop.flood = a.dpop.nonce = None
        self.works_soon(p, m)

    def test_hostile(self):
        """An invalid nonce is never sent back."""
        for nonce in ('a"b', "a\\b", "a b", "\xe4", "\x7f", "",
                      "n" * 1025):
            a, m, b = self.pair()
            p = self.start(m, b)
            m.dpop.flood = lambda n, nonce=nonce: nonce
            self.fails(p, m, "gives no usable one")
            self.assertEqual(len(m.dpop.bad), 1)
            self.assertEqual([c for c in m.dpop.good if "nonce" in c], [])
            p.finish()
            os.remove(self.record_path())

    def test_a_long_one(self):
        a, m, b = self.pair()
        a.dpop.nonce = m.dpop.nonce = "n" * 1024
        self.works(self.start(m, b), m)


class Refused(Bound, Patient):
    def test_downgrade(self):
        """The server accepts only bound tokens, and the issuer gives one that
        is not bound: it is not sent."""
        for knobs in ({"schemes": ("DPoP",)},
                      {"prm_more": {"dpop_bound_access_tokens_required":
                                    True}}):
            a, m, b = self.trio(**knobs)
            p = self.splice(m, "--browser", b.command)
            said = self.first(p)
            self.assertIn("only accepts tokens bound to a key (DPoP)",
                          said)
            for r in m.requests:
                self.assertIsNone(r.get("Authorization"))

    def test_clock_of_the_server(self):
        for ahead, words in ((-420, "7 minutes ahead of"),
                             (3 * 3600, "3 hours behind")):
            a, m, b = self.pair()
            p = self.start(m, b)
            m.dpop.ahead = ahead
            self.fails(p, m, "this machine's clock is " + words +
                       " 127.0.0.1:%d's; set it" % m.port)
            self.assertEqual(len(m.dpop.bad), 1)
            m.dpop.ahead = 0
            self.works(p, m)
            self.counted(a)
            p.finish()
            os.remove(self.record_path())

    def test_clock_of_the_issuer(self):
        a, m, b = self.pair()
        a.dpop.ahead = -420
        p = self.splice(m, "--browser", b.command)
        self.assertIn("this machine's clock is 7 minutes ahead of "
                      "127.0.0.1's; set it", self.first(p))
        self.counted(a)

    def test_a_little_late(self):
        """The clocks differ by less than the servers allow."""
        a, m, b = self.pair()
        a.dpop.ahead = m.dpop.ahead = 200
        self.works(self.start(m, b), m)

    def test_theft(self):
        """A stolen token is useless without a proof, with a proof seen before
        and with a proof by another key."""
        a, m, b = self.pair()
        p = self.start(m, b)
        self.works(p, m)
        token = self.record()["token"]["access_token"]
        proof = m.requests[-1].get("DPoP")
        seen = len(m.executed)
        for scheme, more in (("Bearer", {}), ("DPoP", {}),
                             ("Bearer", {"DPoP": proof}),
                             ("DPoP", {"DPoP": proof}),
                             ("DPoP", {"DPoP": self.forged(m, token)})):
            c = http.client.HTTPConnection("127.0.0.1", m.port, timeout=20)
            c.request("POST", "/mcp", json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
                dict({"Authorization": "%s %s" % (scheme, token),
                      "Content-Type": "application/json"}, **more))
            self.assertEqual(c.getresponse().status, 401, (scheme, more))
            c.close()
        self.assertEqual(len(m.executed), seen)
        self.assertEqual([why for _, why in m.dpop.bad][1:],
                         ["replay", "another key"])
        self.works(p, m)

    def forged(self, m, token):
        """A valid proof by the thief's key, which mcpsplice made for another
        account."""
        a, other, b = self.pair()
        p = self.start(other, b, "--profile", "thief")
        self.works(p, other)
        p.finish()
        (path,) = [os.path.join(self.store(), n)
                   for n in os.listdir(self.store())
                   if n.endswith(".json") and
                   str(other.port) in authserver.read_record(
                       os.path.join(self.store(), n))["url"]]
        pem = authserver.read_record(path)["dpop_key"]
        os.remove(path)
        return self.sign(pem, {
            "htm": "POST", "htu": m.url, "iat": int(time.time()),
            "jti": "thief", "ath": authserver.b64url(
                authserver.hashlib.sha256(token.encode()).digest())})

    def sign(self, pem, claims):
        key = os.path.join(self.tmp, "thief.pem")
        self.may_hold.append(key)
        with open(key, "w") as f:
            f.write(pem)
        point = self.openssl(b"", "pkey", "-in", key, "-pubout", "-outform",
                             "DER")[-64:]
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": {
            "kty": "EC", "crv": "P-256", "x": authserver.b64url(point[:32]),
            "y": authserver.b64url(point[32:])}}
        text = ".".join(authserver.b64url(json.dumps(p).encode())
                        for p in (head, claims))
        der = self.openssl(text.encode(), "dgst", "-sha256", "-sign", key)
        raw, at = b"", 2
        for _ in range(2):
            n = der[at + 1]
            raw += der[at + 2:at + 2 + n].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + n
        return text + "." + authserver.b64url(raw)

    def openssl(self, data, *args):
        return authserver.subprocess.run(
            ("openssl",) + args, input=data, check=True,
            stdout=authserver.subprocess.PIPE).stdout

    def test_old_proofs(self):
        """The servers of these tests refuse a proof that is too old or too
        new, or is for another URL, token or key."""
        a, m, b = self.pair()
        p = self.start(m, b)
        p.finish()
        rx = [x for x in m.requests if x.get("DPoP")][-1]
        token = rx.get("Authorization").partition(" ")[2]
        for want, url, knob in ((None, m.url, {}),
                                ("htu", m.url + "/x", {}),
                                ("ath", m.url, {"token": "another"}),
                                ("iat", m.url, {"ahead": 301}),
                                ("iat", m.url, {"ahead": -310})):
            d = Dpop()
            d.ahead = knob.get("ahead", 0)
            _, error, why = d.look(rx, url, knob.get("token", token), None)
            self.assertEqual((why or "").split(" ")[0] or None, want)
            self.assertEqual(error, want and "invalid_dpop_proof")
        _, _, why = d.look(rx, m.url, token, "another")
        self.assertEqual(why, "another key")


if __name__ == "__main__":
    support.main()
