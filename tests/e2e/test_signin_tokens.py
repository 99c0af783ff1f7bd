"""Signing in: scopes and step-up authorization, token refreshes of all kinds
and what they cost, tokens without a user.  Base is in test_signin.py."""

import json
import os
import subprocess
import time

import authserver
import support
from ports import free_port
from support import init
from test_signin import Base, Patient


class Scopes(Base):
    def test_whence(self):
        for knobs, auth, args, want in (
                ({}, {}, [], None),
                ({"challenge_scope": "c d"}, {}, [], "c d"),
                ({"prm_scopes": ["p", "q"]}, {}, [], "p q"),
                ({"challenge_scope": "c", "prm_scopes": ["p"]}, {}, [], "c"),
                ({"challenge_scope": "c", "prm_scopes": ["p"]}, {},
                 ["--scope", "x y"], "x y"),
                ({}, {"scopes": ["a", "b"]}, [], None),
                ({}, {"scopes": ["a", "offline_access"]}, [],
                 "a offline_access"),
                ({}, {"scopes": ["a", "b"]}, ["--scope", "+x"], "x"),
                ({}, {"scopes": ["a", "offline_access"]},
                 ["--scope", "+x"], "a offline_access x"),
                ({"prm_scopes": ["p"]}, {}, ["--scope", "+p +x y"], "p x y"),
                ({"challenge_scope": "c", "prm_scopes": ["p"]}, {},
                 ["--scope", "+offline_access"], "c offline_access"),
                ({"prm_scopes": ["p"]}, {"scopes": ["a", "b"]}, [], "p"),
                ({"challenge_scope": "c"},
                 {"scopes": ["c", "offline_access"]}, [],
                 "c offline_access")):
            a, m, b = self.trio(self.auth(**auth), **knobs)
            self.works(self.start(m, b, *args), m)
            self.counted(a)
            self.assertEqual(self.asked(a).get("scope"), want,
                             (knobs, auth, args))

    def test_of_a_refresh(self):
        """A refresh asks for the scopes of --scope; if the server answers
        invalid_scope, the proxy refreshes without a scope."""
        for args, refusal, want in (
                ([], [], [None]),
                (["--scope", "x y"], [], ["x y"]),
                (["--scope", "+x"], [], ["c x"]),
                (["--scope", "x"], [authserver.error("invalid_scope", 400)],
                 ["x", None])):
            a, m, b = self.trio(challenge_scope="c")
            p = self.start(m, b, *args)
            a.expire()
            a.script("token", *refusal)
            self.works(p, m)
            self.counted(a, refresh=len(want))
            self.assertEqual([self.form(a, n).get("scope")
                              for n in range(1, 1 + len(want))], want)
            p.finish()

    def test_of_the_registration(self):
        """If neither the server nor an option names a scope, the proxy asks
        for the one in the registration's answer, at a later login, too."""
        a, m, b = self.trio(self.auth(scopes=["b", "offline_access"],
                                      refreshes=False))
        a.script("register", authserver.having(scope="a"))
        p = self.start(m, b)
        a.expire()
        self.works(p, m)
        self.counted(a, authorize=2)
        self.assertEqual([self.asked(a, n).get("scope") for n in (0, 1)],
                         ["a", "a"])
        self.assertNotIn("scope", json.loads(
            a.seen_at(a.path + "/register")[0].body))

    def test_listed_and_refused(self):
        """The authorization server refuses a scope that it lists, as the
        client has not registered it: the proxy asks without a scope."""
        a, m, b = self.trio(self.auth(scopes=["a", "offline_access"]))
        a.script("authorize", authserver.deny("invalid_scope", "Client was "
                                              "not registered with scope a"))
        self.works(self.start(m, b), m)
        self.assertEqual(a.token_requests(), 1)
        self.assertEqual([self.asked(a, n).get("scope")
                          for n in range(a.authorizations)],
                         ["a offline_access", None])

    def test_step_up(self):
        for code in (403, 401):
            a, m, b = self.trio(challenge_scope="r",
                                tool_scopes={"write": "w"})
            if code == 401:
                self.refuse_with(m, 401)
            p = self.start(m, b)
            self.works(p, m)
            self.works(p, m, "write")
            self.works(p, m)
            self.counted(a, authorize=2)
            self.assertEqual(self.asked(a, 0)["scope"], "r")
            self.assertEqual(self.asked(a, 1)["scope"].split(), ["r", "w"])
            p.finish()
            self.works(self.start(m, b), m, "write")
            self.counted(a, authorize=2)

    def refuse_with(self, m, code):
        whole = m.say_no
        m.say_no = lambda rx, tx, _, error, need: whole(rx, tx, code, error,
                                                        need)

    def test_step_up_that_is_not_granted(self):
        """A scope that was not granted is not asked for again."""
        a, m, b = self.trio(self.auth(grants_scope=lambda asked: "r"),
                            challenge_scope="r", tool_scopes={"write": "w"})
        p = self.start(m, b)
        for _ in range(4):
            key = "key-%d" % self.count()
            self.our_error(p.tool("write", key=key), "auth_failed")
            self.assertEqual(m.runs(key), 0)
        self.counted(a, authorize=2)
        self.works(p, m)

    def test_two_steps(self):
        """Each step-up adds its scope to the earlier ones."""
        a, m, b = self.trio(challenge_scope="r", tool_scopes={"w": "w",
                                                              "x": "x"})
        p = self.start(m, b)
        self.works(p, m, "w")
        self.works(p, m, "x")
        self.works(p, m, "w")
        self.counted(a, authorize=3)
        self.assertEqual(set(self.asked(a, 2)["scope"].split()),
                         {"r", "w", "x"})

    def test_plain_403(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        m.methods["tools/call"] = lambda rx, tx: tx.text(403, "not for you")
        # a new token may have ended the session, so the proxy checks once
        self.our_error(p.tool(), "auth_failed")
        before = len(m.seen("tools/call"))
        e = self.our_error(p.tool(), "auth_failed")
        self.assertIn("not for you", json.dumps(e))
        self.counted(a)
        self.assertEqual(len(m.seen("tools/call")) - before, 1)


class Renewal(Base):
    def test_expired_between_starts(self):
        """An expired token is refreshed before the first request, without
        a 401."""
        a, m, b = self.trio()
        self.start(m, b).finish()
        self.spend()
        p = self.start(m, b)
        self.works(p, m)
        self.counted(a, refresh=1)
        self.assertEqual(len(m.refused), 1)
        self.assertEqual(len(b.opened()), 1)

    def test_nobody_there_a_moment_ago(self):
        """The refresh before the request finds the token endpoint away, or a
        gateway's 502; then the MCP server answers, and it is tried again."""
        for gateway in (False, True):
            a, m, b = self.trio()
            self.start(m, b).finish()
            a.expire()
            self.spend()
            if gateway:
                a.script("token", authserver.html(502))
            else:
                doc = self.record()
                doc["token_endpoint"] = "http://127.0.0.1:%d/" % free_port()
                self.put_record(doc)
            p = self.start(m, b)
            self.works(p, m)
            self.assertEqual(len(b.opened()), 1)
            self.counted(a, refresh=1 + gateway)
            p.finish()
            os.unlink(self.record_path())

    def test_a_challenge_with_another_status(self):
        """RFC 6750 3.1 has invalid_token with 401, but the proxy refreshes
        after that error with any status."""
        for status in (400, 404, 410):
            a, m, b = self.trio()
            p = self.start(m, b)
            say_no = m.say_no
            m.say_no = lambda rx, tx, code, error, need, status=status, \
                say_no=say_no: say_no(rx, tx, status, error, need)
            for _ in range(2):
                a.expire()
                self.works(p, m)
            self.counted(a, refresh=2)
            p.finish()

    def test_a_challenge_without_a_word(self):
        """A challenge without an error code is ignored outside of a 401: some
        servers send one with each error."""
        a, m, b = self.trio()
        p = self.start(m, b)
        before = len(m.refused)
        m.methods["tools/call"] = lambda rx, tx: tx.text(
            400, "what?", [("WWW-Authenticate", "Bearer realm=x")])
        for _ in range(3):
            e = self.our_error(p.tool())
            self.assertEqual(e["data"]["httpStatus"], 400)
        self.assertEqual(len(m.seen("tools/call")), 3)
        self.assertEqual(len(m.refused), before)
        self.counted(a)

    def test_expires_at_work(self):
        a, m, b = self.trio(self.auth(life=3))
        p = self.start(m, b)
        token = self.record()["token"]
        a.life = 3600
        while time.time() < token["expires_at"] + 0.1:
            time.sleep(0.1)
        for _ in range(3):
            self.works(p, m)
        self.counted(a, refresh=1)
        self.assertEqual([c for r, c in m.refused if r.rpc == "tools/call"],
                         [])

    def tokens_of_one_call(self, stored):
        """Each token is refused, and another copy of mcpsplice stores the
        next.  Returns the tokens that the call was sent with."""
        a, m, b = self.trio()
        self.start(m, b).finish()
        if not stored:
            m.open_rpc |= {"initialize", "notifications/initialized",
                           "tools/call"}
            there, away = self.record_path(), self.path("away")
            os.rename(there, away)
        p = self.start(m, b)
        sent = []

        def another(rx, tx):
            if not stored and not sent:
                os.rename(away, there)
            sent.append(m.token_of(rx))
            m.other_tokens.add("token-%d" % len(sent))
            self.edit_record(access_token="token-%d" % len(sent))
            m.say_no(rx, tx, 401, "invalid_token", None)

        m.methods["tools/call"] = another
        e = self.our_error(p.tool(), "auth_required")
        self.assertIn("it rejected every token", e["message"])
        return sent

    def test_tokens_of_one_call(self):
        self.assertEqual(self.tokens_of_one_call(True)[1:],
                         ["token-%d" % n for n in range(1, 4)])

    def test_tokens_of_one_call_that_had_none(self):
        self.assertEqual(self.tokens_of_one_call(False),
                         [None] + ["token-%d" % n for n in range(1, 5)])

    def test_many_calls_one_refresh(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        a.expire()
        ids = [p.start("tools/call", {"name": "echo", "arguments":
                                      {"key": "k%d" % i}})
               for i in range(20)]
        for i, ident in enumerate(ids):
            self.assertIn("result", p.answer(ident))
            self.assertEqual(m.runs("k%d" % i), 1)
        self.counted(a, refresh=1)

    def test_rotation(self):
        """Each refresh uses the newest refresh token, also after a restart."""
        for rotates in (True, False):
            a, m, b = self.trio(self.auth(rotates=rotates))
            for _ in range(2):
                p = self.start(m, b)
                for _ in range(2):
                    a.expire()
                    self.works(p, m)
                p.finish()
            self.counted(a, refresh=4)
            self.assertEqual(a.reuse_events, 0)

    def test_answer_lost(self):
        """The server may have rotated the refresh token: if it still accepts
        the old one, the retry works; else the user is asked once."""
        for grace in (60, 0):
            a, m, b = self.trio(self.auth(grace=grace))
            p = self.start(m, b)
            a.expire()
            a.script("token", authserver.lost())
            self.works(p, m)
            self.counted(a, authorize=1 if grace else 2, refresh=2)
            self.assertEqual(a.reuse_events, 0 if grace else 1)

    def test_retry_after(self):
        """The proxy sends no refresh before the server's Retry-After."""
        a, m, b = self.trio()
        p = self.start(m, b)
        a.expire()
        a.script("token", authserver.busy(120))
        end = time.monotonic() + 4
        while time.monotonic() < end:
            self.fails(p, m)
            time.sleep(0.2)
        self.counted(a, refresh=1)

    def test_trouble(self):
        """A refresh fails with --retry-window 0: the proxy keeps the tokens,
        reports the failure, and a later call works."""
        for step, words in (
                (authserver.status(503), ["503"]),
                (authserver.busy(1), ["429"]),
                (authserver.error("temporarily_unavailable", 400),
                 ["temporarily_unavailable"]),
                (authserver.html(), ["web page"]),
                (authserver.redirect("/elsewhere"), ["redirects"]),
                (authserver.html(502), []),
                (authserver.cut(), [])):
            twice = step.__qualname__.startswith("cut")
            a, m, b = self.trio()
            p = self.start(m, b, "--retry-window", "0")
            before = self.read_refresh(m)
            a.expire()
            # a request that broke off is sent once more at once
            a.script("token", *[step] * (1 + twice))
            self.fails(p, m, *words)
            self.assertEqual(self.read_refresh(m), before)
            self.works_soon(p, m)
            self.counted(a, refresh=2 + twice)
            p.finish()

    def test_trouble_is_waited_for(self):
        """A call waits while the authorization server is in trouble: at a
        refresh, at a registration, and when a code is exchanged."""
        for step in (authserver.status(503), authserver.busy(1),
                     authserver.html(502), authserver.status(504),
                     authserver.cut()):
            a, m, b = self.trio()
            a.script("register", step, step)
            a.script("token", step)
            p = self.start(m, b)
            self.works(p, m)
            a.expire()
            a.script("token", step, step)
            self.works(p, m)
            self.assertEqual(len(b.opened()), 1)
            self.assertEqual(a.token_requests("refresh_token"), 3)
            p.finish()

    def test_refusal_without_a_reason(self):
        """Each refresh gets a bare 403: the user signs in once, and the log
        says why."""
        a, m, b = self.trio()
        p = self.start(m, b)
        a.expire()
        a.script("token", *[authserver.html(403)] * 3)
        self.works(p, m)
        self.counted(a, authorize=2, refresh=3)
        self.assertIn("did not renew the token: it answered 403", p.err())

    def test_silence(self):
        """The token endpoint is silent for longer than the proxy waits."""
        a, m, b = self.trio()
        p = self.start(m, b)
        a.expire()
        a.script("token", authserver.sleep(300))
        before = self.read_refresh(m)
        e = self.our_error(p.tool(seconds=120, key="silence"),
                           "auth_required")
        self.assertIn("did not answer", e["message"])
        self.assertEqual(m.runs("silence"), 0)
        self.assertEqual(self.read_refresh(m), before)
        self.works_soon(p, m)
        self.counted(a, refresh=2)

    def read_refresh(self, m):
        """The refresh token in the record for this server."""
        for name in os.listdir(self.store()):
            if name.endswith(".json"):
                doc = authserver.read_record(
                    os.path.join(self.store(), name))
                if doc["url"] == m.url:
                    return doc["token"]["refresh_token"]
        self.fail("no record")
        return None

    def test_trouble_while_it_would_still_do(self):
        """The token is about to expire and cannot be refreshed: it is used."""
        a, m, b = self.trio()
        self.start(m, b).finish()
        now = int(time.time())
        self.edit_record(obtained_at=now - 3600, expires_at=now + 20)
        a.always("token", authserver.status(503))
        p = self.start(m, b)
        self.works(p, m)
        self.assertEqual(len(m.refused), 1)
        self.counted(a, refresh=a.token_requests("refresh_token"))

    def test_revoked(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        a.revoke()
        self.works(p, m)
        self.counted(a, authorize=2, refresh=1)
        self.works(p, m)
        self.assertEqual(a.reuse_events, 0)

    def test_error_with_200(self):
        a, m, b = self.trio()
        p = self.start(m, b)
        a.expire()
        a.script("token", authserver.error("invalid_grant", 200))
        self.works(p, m)
        self.counted(a, authorize=2, refresh=1)

    def test_fresh_tokens_are_rejected(self):
        """However often the client calls, few tokens are requested."""
        a, m, b = self.trio()
        p = self.start(m, b)
        m.refuses_all = True
        for _ in range(30):
            e = self.our_error(p.tool(), "auth_required")
        self.assertIn("--resource", e["message"])
        self.assertLessEqual(a.token_requests(), 4)
        self.assertLessEqual(a.authorizations, 2)
        self.assertLessEqual(a.registrations, 1 + self.moved(a))
        self.assertLessEqual(len(b.opened()), 2)
        self.assertEqual(m.executed, [])

    def test_fresh_tokens_are_rejected_from_the_start(self):
        a, m, b = self.trio(refuses_all=True)
        p = self.splice(m, "--browser", b.command)
        for _ in range(30):
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
        self.assertIn("--resource", e["message"])
        self.counted(a)
        self.assertEqual(len(b.opened()), 1)


class Idle(Patient):
    """The proxy opens no browser unless a request of the client waits."""

    def test_listen_stream(self):
        a, m, b = self.trio()
        m.on_get = m.listen
        p = self.start(m, b)
        stream = m.stream()
        a.revoke()
        stream.end()
        self.until(lambda: [1 for r, code in m.refused
                            if r.method == "GET"], p)
        self.settle(1)
        self.assertEqual(len(b.opened()), 1)
        self.works(p, m)
        self.assertEqual(len(b.opened()), 2)
        self.counted(a, authorize=2, refresh=1)

    def test_listen_stream_may_renew(self):
        """The listen stream may refresh the token, as that needs no user."""
        a, m, b = self.trio()
        m.on_get = m.listen
        p = self.start(m, b)
        stream = m.stream()
        a.expire()
        stream.end()
        m.stream()
        self.counted(a, refresh=1)
        self.works(p, m)

    def test_pings(self):
        a, m, b = self.trio()
        p = self.start(m, b, "--ping-interval", "1")
        self.works(p, m)
        a.revoke()
        self.until(lambda: [1 for r, code in m.refused if r.rpc == "ping"],
                   p)
        self.settle(2)
        self.assertEqual(len(b.opened()), 1)
        self.works(p, m)
        self.assertEqual(len(b.opened()), 2)
        self.counted(a, authorize=2, refresh=1)


class Machines(Patient):
    def works_alone(self, a, m, *args):
        """Gets a token, and another when it expires, without a user."""
        m.challenge_scope = "r"
        m.tool_scopes = {"write": "w"}
        b = self.browser()
        p = self.start(m, b, "--auth", "client-credentials", *args)
        self.works(p, m)
        a.expire()
        self.works(p, m)
        self.assertEqual(a.token_requests("client_credentials"), 2)
        self.works(p, m, "write")
        self.assertEqual(a.token_requests("client_credentials"), 3)
        self.assertEqual(self.form(a)["scope"], "r w")
        self.works(p, m)
        p.finish()
        p = self.start(m, b, "--auth", "client-credentials", *args)
        self.works(p, m)
        self.assertEqual(a.token_requests(), 3)
        self.assertEqual(b.opened(), [])
        self.counted(a, 0, 0)

    def test_secret(self):
        for method in ("client_secret_basic", "client_secret_post"):
            a = self.auth(methods=[method])
            c = a.add_client("m", method)
            where = self.path("s/%d" % self.count(), c.secret, 0o600)
            self.may_hold.append(where)
            self.works_alone(a, self.protected(a), "--client-id", "m",
                             "--client-secret-file", where,
                             "--issuer", a.issuer)

    def test_key(self):
        for args in (("-algorithm", "EC", "-pkeyopt",
                      "ec_paramgen_curve:P-256"), ("-algorithm", "RSA")):
            key, pem = (self.path("key-%d" % self.count()) for _ in "ab")
            subprocess.run(("openssl", "genpkey", "-out", key) + args,
                           check=True, stderr=subprocess.DEVNULL)
            os.chmod(key, 0o600)
            subprocess.run(("openssl", "pkey", "-in", key, "-pubout", "-out",
                            pem), check=True)
            a = self.auth(methods=["private_key_jwt"])
            a.add_client("m", "private_key_jwt", pem=pem)
            self.works_alone(a, self.protected(a), "--client-id", "m",
                             "--client-key", key)

    def test_over_by_its_own_time(self):
        a = self.auth(life=2)
        c = a.add_client("m")
        m, b = self.protected(a), self.browser()
        args = ["--auth", "client-credentials", "--client-id", "m",
                "--client-secret-env", "S", "--issuer", a.issuer]
        p = self.start(m, b, *args, env={"S": c.secret})
        end = self.record()["token"]["expires_at"]
        a.life = 3600
        while time.time() < end + 0.1:
            time.sleep(0.1)
        for _ in range(3):
            self.works(p, m)
        self.assertEqual(a.token_requests("client_credentials"), 2)
        self.assertEqual([c for r, c in m.refused if r.rpc == "tools/call"],
                         [])

    def test_secret_for_the_other_way(self):
        """The proxy keeps to the authentication method that worked."""
        a = self.auth()
        c = a.add_client("m", "client_secret_basic")
        m, b = self.protected(a), self.browser()
        a.script("token", authserver.error("invalid_client", 401))
        p = self.start(m, b, "--auth", "client-credentials", "--client-id",
                       "m", "--client-secret-env", "S", "--issuer", a.issuer,
                       env={"S": c.secret})
        self.assertEqual(a.token_requests(), 2)
        a.expire()
        self.works(p, m)
        self.assertEqual(a.token_requests(), 3)

    def test_wrong_secret(self):
        a = self.auth()
        a.add_client("m")
        m = self.protected(a)
        p = self.splice(m, "--auth", "client-credentials", "--client-id",
                        "m", "--client-secret-env", "S", "--issuer", a.issuer,
                        env={"S": "wrong"})
        for _ in range(10):
            e = self.our_error(p.ask("initialize", init()["params"]),
                               "auth_required")
        self.assertIn("invalid_client", e["message"])
        # Both methods that the server lists are tried once.
        self.assertEqual(a.token_requests(), 2)
        self.assertEqual(sum(v.count("wrong secret") for v in a.violations), 2)
        a.violations.clear()


if __name__ == "__main__":
    support.main()
