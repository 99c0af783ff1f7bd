"""Signing in with the token of a platform (--auth workload), in the forms that
platforms use: a projected file that is replaced, a variable, a program.
Base is in test_signin.py."""

import json
import os
import time

import authserver
from authserver import JWT_GRANT, b64url, jwt
from support import init
from test_signin import Patient

CLAIMS = {"iss": "https://platform.example", "sub": "system:serviceaccount:a"}


class Case(Patient):
    def token(self, a, seconds=600, trusted=True, **claims):
        """A platform's token, which the authorization server trusts."""
        text = jwt({**CLAIMS, "aud": a.issuer, "mark": a.mark,
                    "exp": int(time.time()) + seconds,
                    "jti": os.urandom(8).hex(), **claims})
        if trusted:
            return a.trust(text)
        a.note_secret("assertion", text)
        return text

    def file(self, text, mode=0o644):
        where = self.path("w%d" % self.count(), text, mode)
        self.may_hold.append(where)
        return where

    def program(self, text):
        """A script; returns the option's value."""
        return self.file("#!/bin/sh\n" + text, 0o700)

    def splice_workload(self, m, *args, **kw):
        return self.splice(m, "--auth", "workload", "-vv", *args, **kw)

    def begin(self, m, *args, **kw):
        p = self.splice_workload(m, *args, **kw)
        p.hello()
        return p

    def assertions(self, a):
        return [dict(authserver.pairs(r.body.decode()))["assertion"]
                for r in a.seen_at("/token")]

    def stays(self, a, m, p):
        """Checks that no assertion is in a request to the MCP server, in argv
        or on stderr."""
        with open("/proc/%d/cmdline" % p.proc.pid, "rb") as f:
            seen = [f.read().decode(), p.err()]
        for r in m.requests:
            seen += [r.target, repr(r.headers), r.body.decode()]
        for text in a.trusted:
            for place in seen:
                self.assertNotIn(text, place)


class Platforms(Case):
    def test_projected_file(self):
        """As Kubernetes does it: the token's path goes through a link to a
        folder, which is replaced.  A file that others can read is accepted
        without a warning."""
        a = self.auth(registers=False)
        m = self.protected(a, challenge_scope="r")
        folder = os.path.join(self.tmp, "projected")
        self.may_hold.append(folder)
        os.mkdir(folder)

        def project(text):
            name = "..%d" % self.count()
            os.mkdir(os.path.join(folder, name))
            with open(os.path.join(folder, name, "token"), "w") as f:
                f.write(text)
            os.symlink(name, os.path.join(folder, "..data_tmp"))
            os.rename(os.path.join(folder, "..data_tmp"),
                      os.path.join(folder, "..data"))

        first = self.token(a)
        project(first)
        os.symlink("..data/token", os.path.join(folder, "token"))
        p = self.begin(m, "--assertion-file", os.path.join(folder, "token"))
        self.works(p, m)
        self.works(p, m)
        self.assertEqual(self.assertions(a), [first])
        form = self.form(a)
        self.assertEqual(form["grant_type"], JWT_GRANT)
        self.assertEqual(form["resource"], m.url)
        self.assertEqual(form["scope"], "r")
        self.assertNotIn("client_id", form)
        second = self.token(a)
        project(second)
        a.expire()
        self.works(p, m)
        self.assertEqual(self.assertions(a), [first, second])
        self.assertNotIn("open to other users", p.err())
        self.stays(a, m, p)
        self.counted(a, 0, 0)

    def test_another_person(self):
        """The startup cache is not shown to another subject, even if the store
        still has a token; but with a new assertion for the same subject."""
        a = self.auth(registers=False)
        m = self.protected(a)
        args = ("--assertion-file", self.file(self.token(a)))

        def put(text):
            with open(args[1], "w") as f:
                f.write(text)

        def shown():
            p = self.splice_workload(m, "--init-timeout", "1", *args)
            p.send(init("hello"))
            found = "result" in p.answer("hello")
            p.kill()
            return found

        self.begin(m, *args).finish()
        m.down()
        put(self.token(a) + "\n")
        self.assertTrue(shown())
        put(self.token(a, sub="system:serviceaccount:b"))
        self.assertFalse(shown())
        m.up()
        a.expire()
        self.spend()
        self.begin(m, *args).finish()
        m.down()
        self.assertTrue(shown())

    def test_variable(self):
        a = self.auth()
        m = self.protected(a)
        t = self.token(a)
        p = self.begin(m, "--assertion-env", "AT", env={"AT": t})
        self.works(p, m)
        self.assertEqual(self.assertions(a), [t])
        self.stays(a, m, p)

    def test_program(self):
        """The program runs for each token; a newline at the end of its output
        is ignored.  It does not get the variable with the client secret."""
        a = self.auth()
        m = self.protected(a)
        tokens = [self.token(a), self.token(a)]
        at = self.file("\n".join(tokens) + "\n")
        ran = self.path("ran")
        p = self.begin(m, "--assertion-command", self.program(
            'echo "${S-none}" >>%s; sed -n "$(wc -l <%s)p" %s\n' %
            (ran, ran, at)), "--client-id", "m", "--client-secret-env", "S",
            "--issuer", a.issuer, env={"S": a.add_client("m").secret})
        self.works(p, m)
        a.expire()
        self.works(p, m)
        self.assertEqual(self.assertions(a), tokens)
        with open(ran) as f:
            self.assertEqual(f.read().split(), ["none", "none"])
        self.stays(a, m, p)

    def test_scope_step(self):
        a = self.auth()
        m = self.protected(a, challenge_scope="r", tool_scopes={"write": "w"})
        p = self.begin(m, "--assertion-file", self.file(self.token(a)))
        self.works(p, m)
        self.works(p, m, "write")
        self.assertEqual(self.form(a)["scope"], "r w")

    def test_login_and_status(self):
        a = self.auth()
        m = self.protected(a)
        args = ["--auth", "workload", "--assertion-file",
                self.file(self.token(a))]
        status, out, err = self.command("login", m.url, *args)
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed in", out)
        status, out, err = self.command("status")
        self.assertIn(a.issuer.encode(), out)
        self.assertEqual(self.command("logout", m.url, *args)[0], 0)


class Failures(Case):
    def refused(self, m, *args, tokens=0, **kw):
        """Returns the error's message; no other grant and no second try."""
        before = m.auth.token_requests()
        p = self.splice_workload(m, *args, **kw)
        for _ in range(5):
            e = self.our_error(p.ask("initialize", {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}),
                "auth_required")
        self.assertEqual(m.auth.token_requests() - before, tokens)
        self.assertEqual(m.auth.token_requests(JWT_GRANT), tokens)
        self.stays(m.auth, m, p)
        return e["message"]

    def test_what_is_no_token(self):
        a = self.auth()
        m = self.protected(a)
        old = self.token(a, -60)
        for text, words in (
                ("", "is empty"), (" \n", "it contains no token"),
                ("garbage", "not a JWT"), ("a.b.c", "not a JWT"),
                ("e30.W10.x", "not a JWT"), (old, "the JWT expired at"),
                (old + " " + old, "not a JWT"),
                ("\ufeff" + old, "the JWT expired at"),
                ("e\0y\0", "is UTF-16; save it as UTF-8"),
                ("e30\0", "contains a NUL byte"),
                ("x" * 70000, "cannot be read")):
            where = self.file(text)
            said = self.refused(m, "--assertion-file", where)
            self.assertIn("--assertion-file", said)
            self.assertIn(words, said)
        self.assertIn("--assertion-file /none cannot be read",
                      self.refused(m, "--assertion-file", "/none"))
        self.assertIn("--assertion-env AT: the variable is not set",
                      self.refused(m, "--assertion-env", "AT"))
        # a token given in place of a variable's or a file's name
        for option in ("--assertion-env", "--assertion-file"):
            said = self.refused(m, option, "sk_live_0123456789abcdef")
            self.assertIn(option + " (redacted)", said)
            self.assertNotIn("sk_live", said)

    def test_claims_twice(self):
        """A JWT that has a claim twice is refused: another parser may take
        the other value."""
        a = self.auth()
        m = self.protected(a)
        for claims in ('{"aud":"%s","aud":"https://x"}',
                       '{"aud":"https://x","\\u0061ud":"%s"}',
                       '{"aud":"%s","cnf":{"jkt":1,"jkt":2}}',
                       '{"aud":"%s","AUD":"https://x"}'):
            text = ".".join(("e30", b64url((claims % a.issuer).encode()), "x"))
            a.note_secret("assertion", text)
            said = self.refused(m, "--assertion-file", self.file(text),
                                "--issuer", a.issuer)
            self.assertIn("twice", said)

    def test_for_another(self):
        """The issuer that the MCP server names gets the assertion only if aud
        or --issuer names it, too."""
        a = self.auth()
        m = self.protected(a)
        for aud in ("https://real.example", a.issuer + "/", a.issuer + "/t",
                    ["https://real.example", a.issuer + "x"], [], None, 7,
                    {"a": a.issuer}, [[a.issuer]], "", a.issuer.upper()):
            t = self.token(a, aud=aud)
            said = self.refused(m, "--assertion-file", self.file(t))
            self.assertTrue(said.endswith("--issuer " + a.issuer), said)
            self.assertIn("(aud)", said)
        p = self.begin(m, "--assertion-file", self.file(t), "--issuer",
                       a.issuer)
        self.works(p, m)
        for names in (lambda i: i + "/token", lambda i: ["https://x", i]):
            a = self.auth()
            m = self.protected(a)
            t = self.token(a, aud=names(a.issuer))
            self.works(self.begin(m, "--assertion-file", self.file(t)), m)

    def test_programs(self):
        a = self.auth()
        m = self.protected(a)
        t = self.token(a)
        for text, words in (
                ("exit 3\n", "ended with status 3"),
                ("echo %s; exit 1\n" % t, "ended with status 1"),
                ("kill -9 $$\n", "ended by signal 9"),
                ("", "it contains no token"),
                ("echo '{\"value\":\"%s\"}'\n" % t, "not a JWT"),
                ("head -c 100000 /dev/zero\n", "wrote more than 64 KiB")):
            said = self.refused(m, "--assertion-command", self.program(text))
            self.assertIn("--assertion-command", said)
            self.assertIn(words, said)
        self.assertIn("cannot be started", self.refused(
            m, "--assertion-command", "/none"))

    def test_refused(self):
        """An OAuth error is final: the assertion is not sent again, and no
        other grant is tried."""
        for name in ("invalid_grant", "invalid_scope", "unauthorized_client",
                     "invalid_client", "unsupported_grant_type"):
            a = self.auth()
            m = self.protected(a)
            t = self.token(a)
            a.always("token", authserver.error(
                name, description="your %s is no good" % t))
            said = self.refused(m, "--assertion-file", self.file(t), tokens=1)
            self.assertIn(name, said)
            self.assertNotIn(t, said)
            self.counted(a, 0, 0)

    def test_later(self):
        """A temporary failure is retried, with the assertion of that time."""
        a = self.auth()
        m = self.protected(a)
        first, second = self.token(a), self.token(a)
        where = self.file(first)
        p = self.begin(m, "--assertion-file", where)
        self.works(p, m)
        a.script("token", authserver.status(503), authserver.cut())
        a.expire()
        with open(where, "w") as f:
            f.write(second)
        self.works_soon(p, m)
        self.assertEqual(self.assertions(a), [first] + [second] * 3)

    def test_another_issuer(self):
        """The assertion is not sent to an issuer that is named later."""
        a, b = self.auth(), self.auth()
        m = self.protected(a)
        t = self.token(a)
        b.trust(t)
        where = self.file(t)
        p = self.begin(m, "--assertion-file", where)
        self.works(p, m)
        m.use(b)
        e = self.our_error(p.tool(), "auth_required")
        self.assertIn("--issuer", e["message"])
        self.assertEqual(b.token_requests(), 0)
        p.finish()
        p = self.begin(m, "--assertion-file", where, "--issuer", b.issuer)
        self.works(p, m)
        self.assertEqual(b.token_requests(), 1)

    def test_trace(self):
        a = self.auth()
        m = self.protected(a)
        t = self.token(a)
        trace = self.path("trace")
        log = self.path("log")
        p = self.begin(m, "--assertion-file", self.file(t), "--trace", trace,
                       "--log-file", log)
        self.works(p, m)
        p.finish()
        for name in (trace, log):
            with open(name) as f:
                self.assertNotIn(t, f.read())
        self.assertIn(t, json.dumps(self.assertions(a)))


if __name__ == "__main__":
    authserver.support.main()
