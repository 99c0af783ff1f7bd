"""Refusals that say more than that a token is wanted: what of a challenge the
client gets, in both eras, and that no login follows what no token mends."""

import json
import re

import authserver
import eraserver
import support

STEP_UP = ('Bearer error="insufficient_user_authentication", '
           'error_description="Sign in with \\"gold\\"", '
           'error_uri="https://h.example/e", acr_values="gold", max_age=5')
STEPPED = {"error": "insufficient_user_authentication",
           "error_description": 'Sign in with "gold"',
           "error_uri": "https://h.example/e", "acr_values": "gold",
           "max_age": "5"}
DETAILS = [{"type": "payment", "amount": "1.00"}]
# as in SEP-2643, which is a draft: the body's part is the server's business
ENVELOPE = {"reason": "insufficient_authorization",
            "authorizationContextId": "ctx-1",
            "remediationHints": [{"type": "oauth_authorization_details",
                                  "authorization_details": DETAILS}]}
RAW = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


class Eras(eraserver.Case):
    """With a token that the user gave; the client is of either era, and so is
    the server."""

    def denied(self, refuse, client="legacy", server="legacy"):
        """The error of a call that refuse(rx, tx) answers."""
        s = self.era(server)
        s.before = lambda rx, tx: (refuse(rx, tx) or True) \
            if rx.rpc == "tools/call" else False
        args = ["--bearer-env", "T"]
        kw = {"env": {"T": "canary-token-7"}}
        if client == "legacy":
            p = self.legacy(s, *args, **kw)
        else:
            p = self.modern(s, *args, **kw)
        answer = p.tool(key="k")
        p.finish()
        self.assertEqual(s.effects, [])
        self.assertNotIn("canary", json.dumps(answer) + p.err())
        self.assertIsNone(RAW.search(answer["error"]["message"]))
        return answer["error"]

    def each(self):
        for client in ("legacy", "modern"):
            for server in ("legacy", "modern"):
                with self.subTest(client=client, server=server):
                    yield {"client": client, "server": server}

    def test_step_up(self):
        for pair in self.each():
            for status, reason in ((401, "auth_required"),
                                   (403, "auth_failed")):
                e = self.denied(lambda rx, tx: tx.text(
                    status, "no", [("WWW-Authenticate", STEP_UP)]), **pair)
                self.assertEqual(e["data"]["reason"], reason)
                self.assertEqual(e["data"]["ran"], "maybe")
                self.assertEqual(e["data"]["challenge"], STEPPED)

    def test_error_of_the_server(self):
        """It stays, and has the challenge beside what the server says."""
        challenge = [("WWW-Authenticate", 'Bearer error="insufficient_'
                      'authorization_details", scope="pay"')]
        want = {"error": "insufficient_authorization_details",
                "scope": "pay"}

        def refuse(data, status):
            return lambda rx, tx: tx.json(
                {"jsonrpc": "2.0", "id": rx.json["id"], "error": dict(
                    {"code": -32001, "message": "denied"},
                    **({} if data is None else {"data": data}))},
                status, challenge)

        for pair in self.each():
            e = self.denied(refuse({"authorization": ENVELOPE}, 403), **pair)
            self.assertEqual((e["code"], e["message"]), (-32001, "denied"))
            self.assertEqual(e["data"], {"authorization": ENVELOPE,
                                         "challenge": want})
            e = self.denied(refuse(None, 403), **pair)
            self.assertEqual(e["data"], {"challenge": want})
            e = self.denied(refuse({"authorization": ENVELOPE}, 401), **pair)
            self.assertEqual(e["data"]["challenge"], want)
            self.assertEqual(
                e["data"]["server"]["data"]["authorization"], ENVELOPE)
        for mine in ([1], "text", 7, {"challenge": "mine"}):
            e = self.denied(refuse(mine, 403))
            self.assertEqual(e["data"], mine)

    def test_nothing_more_is_said(self):
        for value in ('Bearer', 'Bearer scope="a"', 'Basic realm="x", '
                      'error="insufficient_rights"', "Negotiate YIIabcd"):
            e = self.denied(lambda rx, tx: tx.text(
                403, "no", [("WWW-Authenticate", value)]))
            self.assertNotIn("challenge", e["data"])

    def test_hostile(self):
        """Whatever the values are, a line of JSON comes, and not more of it
        than the bound of a challenge allows."""
        long = "x" * 7000
        values = {
            'Bearer error="insufficient_x", error_description=%s' %
            quoted('"}],"id":1,"result":{}\\u0000'):
            {"error": "insufficient_x",
             "error_description": '"}],"id":1,"result":{}\\u0000'},
            'Bearer error="insufficient_x", error_uri="javascript:alert(1)"':
            {"error": "insufficient_x", "error_uri": "javascript:alert(1)"},
            'Bearer error="insufficient_x", authorization_details=%s' %
            quoted("[" * 3000): {"error": "insufficient_x",
                                 "authorization_details": "[" * 3000},
            'Bearer error="insufficient_x", error_description=' +
            quoted(long): {"error": "insufficient_x",
                           "error_description": long},
            # over the bound, broken, or not ASCII: as if it were not there
            'Bearer error="insufficient_x", error_description=' +
            quoted(long * 2): None,
            'Bearer error="insufficient_x': None,
            'Bearer error="insufficient_x", acr_values="\xe4\x9b"':
            {"error": "insufficient_x"},
            'Bearer error="insufficient_x", error="invalid_token"':
            {"error": "insufficient_x"},
        }
        for value, want in values.items():
            for status in (401, 403):
                with self.subTest(value=value[:90], status=status):
                    e = self.denied(lambda rx, tx: tx.text(
                        status, "no", [("WWW-Authenticate", value)]))
                    self.assertEqual(e["data"].get("challenge"), want)
                    self.assertLess(len(e["message"]), 1000)


class Login(authserver.Case):
    """With a token of a sign-in."""

    def scene(self, status, value):
        """A server that takes the token for all but calls."""
        a = self.auth()
        m = self.protected(a)
        b = self.browser()
        route = m.route

        def deny(rx, tx):
            if rx.rpc != "tools/call" or m.token_of(rx) is None:
                return route(rx, tx)
            return tx.text(status, "no", [("WWW-Authenticate", value)])

        p = self.splice(m, "--browser", b.command)
        p.hello()
        m.handler = deny
        return a, m, b, p

    def test_no_login_follows(self):
        for status, reason in ((401, "auth_required"), (403, "auth_failed")):
            for value, error in (
                    (STEP_UP, "insufficient_user_authentication"),
                    ('Bearer error="access_denied"', "access_denied"),
                    ('Bearer error="insufficient_authorization_details", '
                     'scope="more"', "insufficient_authorization_details")):
                with self.subTest(status=status, error=error):
                    a, m, b, p = self.scene(status, value)
                    tokens = a.token_requests()
                    for _ in range(3):
                        e = self.our_error(p.tool(), reason, "maybe")
                        self.assertEqual(e["data"]["challenge"]["error"],
                                         error)
                        self.assertIn("the token is valid but lacks a permission this needs (" + error, e["message"])
                    self.assertEqual(len(m.seen("tools/call")), 3)
                    self.settle(1)
                    self.assertEqual(a.token_requests(), tokens)
                    self.assertEqual(len(b.opened()), 1)
                    m.handler = m.route
                    self.assertIn("result", p.tool())
                    p.finish()

    def test_a_tool_passes_a_401_on(self):
        """It ran.  The server itself takes the token: nothing is sent again,
        and no browser opens."""
        for value in ('Bearer error="invalid_token"', "Bearer",
                      'Basic realm="another server"',
                      'Bearer error="expired_token"',
                      'Bearer resource_metadata="https://127.0.0.1/x"',
                      'Bearer resource_metadata="https://other.example/.well-'
                      'known/oauth-protected-resource"'):
            with self.subTest(value):
                a, m, b, p = self.scene(401, value)
                e = self.our_error(p.tool(), "auth_required", "maybe")
                self.assertIn("a tool may have refused it", e["message"])
                self.assertEqual(len(m.seen("tools/call")), 1)
                self.assertEqual(len(b.opened()), 1)
                m.handler = m.route
                self.assertIn("result", p.tool())
                self.assertEqual(len(m.made), 1)
                p.finish()

    def test_expired_tokens_are_still_renewed(self):
        """invalid_token and no error at all lead to a new token, as ever."""
        for value in ('Bearer error="invalid_token"', "Bearer"):
            with self.subTest(value):
                a, m, b, p = self.scene(401, value)
                before = a.token_requests()
                old = []

                def deny(rx, tx):
                    token = m.token_of(rx)
                    if rx.rpc not in ("tools/call", "ping") or \
                            token not in (old or [token]):
                        return m.route(rx, tx)
                    old.append(token)
                    return tx.text(401, "no", [("WWW-Authenticate", value)])
                m.handler = deny
                self.assertIn("result", p.tool())
                self.assertEqual(a.token_requests(), before + 1)
                p.finish()


if __name__ == "__main__":
    support.main()
