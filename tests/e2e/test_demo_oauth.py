"""The demo server's sign-in refuses what an authorization server has to."""

import base64
import hashlib
import http.client
import json
import os
import subprocess
import urllib.parse

import support

SERVER = os.path.join(os.path.dirname(os.environ.get("MCPSPLICE", ".")),
                      "..", "contrib", "demo-server", "demo_server")
BACK = "http://127.0.0.1:1/callback"
VERIFIER = "v" * 43


class DemoOauth(support.Case):
    def setUp(self):
        super().setUp()
        self.proc = subprocess.Popen([SERVER, "--oauth", "--token-uses", "2"],
                                     stdout=subprocess.PIPE)
        self.addCleanup(self.end)
        self.port = int(self.proc.stdout.readline().split()[-1])
        self.url = "http://127.0.0.1:%d/mcp" % self.port

    def end(self):
        self.proc.terminate()
        self.assertEqual(self.proc.wait(support.LIVE), 0)
        self.proc.stdout.close()

    def ask(self, method, path, body=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            c.request(method, path, body, headers or {})
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    def form(self, path, **fields):
        status, _, body = self.ask("POST", path,
                                   urllib.parse.urlencode(fields))
        return status, json.loads(body) if body else None

    def client(self):
        status, _, body = self.ask("POST", "/register", json.dumps(
            {"redirect_uris": [BACK]}))
        self.assertEqual(status, 201)
        return json.loads(body)["client_id"]

    def authorize(self, client, **changed):
        digest = hashlib.sha256(VERIFIER.encode()).digest()
        q = {"response_type": "code", "client_id": client, "state": "s",
             "redirect_uri": BACK, "resource": self.url, "scope": "tools",
             "code_challenge_method": "S256", "code_challenge":
             base64.urlsafe_b64encode(digest).decode().rstrip("=")}
        q.update(changed)
        status, headers, _ = self.ask(
            "GET", "/authorize?" + urllib.parse.urlencode(q))
        if status != 302:
            return status, {}
        where = headers["Location"]
        self.assertTrue(where.startswith(BACK + "?"), where)
        return status, dict(urllib.parse.parse_qsl(where.split("?")[1]))

    def code(self, client):
        _, back = self.authorize(client)
        self.assertEqual(back["state"], "s")
        self.assertEqual(back["iss"] + "/mcp", self.url)
        return back["code"]

    def token(self, client, **fields):
        fields = {"client_id": client, "resource": self.url, **fields}
        return self.form("/token", **fields)

    def redeem(self, client, code, **changed):
        fields = {"grant_type": "authorization_code", "code": code,
                  "code_verifier": VERIFIER, "redirect_uri": BACK}
        fields.update(changed)
        return self.token(client, **fields)

    def signed_in(self):
        client = self.client()
        status, token = self.redeem(client, self.code(client))
        self.assertEqual(status, 200, token)
        return client, token

    def passes(self, token):
        return self.ask("GET", "/mcp", headers={
            "Authorization": "Bearer " + token})[0] != 401

    def refresh(self, client, token):
        return self.token(client, grant_type="refresh_token",
                          refresh_token=token)

    def test_challenge_and_metadata(self):
        status, headers, _ = self.ask("POST", "/mcp", "{}")
        self.assertEqual(status, 401)
        where = headers["WWW-Authenticate"].split('resource_metadata="')[1]
        path = urllib.parse.urlsplit(where.split('"')[0]).path
        doc = json.loads(self.ask("GET", path)[2])
        self.assertEqual(doc["resource"], self.url)
        doc = json.loads(self.ask(
            "GET", "/.well-known/oauth-authorization-server")[2])
        self.assertEqual(doc["code_challenge_methods_supported"], ["S256"])

    def test_token_is_good_for_its_uses(self):
        _, token = self.signed_in()
        self.assertFalse(self.passes("other"))
        self.assertFalse(self.passes(""))
        self.assertEqual([self.passes(token["access_token"])
                          for _ in range(3)], [True, True, False])

    def test_consent(self):
        client = self.client()
        self.assertEqual(self.authorize("nobody")[0], 400)
        self.assertEqual(self.authorize(
            client, redirect_uri=BACK + "x")[0], 400)
        for changed in ({"response_type": "token"}, {"scope": "all"},
                        {"code_challenge_method": "plain"},
                        {"code_challenge": "short"},
                        {"resource": "http://127.0.0.1:1/mcp"}):
            back = self.authorize(client, **changed)[1]
            self.assertIn("error", back, changed)
            self.assertNotIn("code", back)

    def test_wrong_proofs(self):
        client = self.client()
        for changed in ({"code_verifier": "w" * 43}, {"code_verifier": ""},
                        {"redirect_uri": BACK + "x"}, {"code": ""},
                        {"client_id": self.client()},
                        {"resource": "http://127.0.0.1:1/mcp"},
                        {"grant_type": "password"}):
            status, answer = self.redeem(
                client, **{"code": self.code(client), **changed})
            self.assertEqual(status, 400, (changed, answer))

    def test_code_is_good_once(self):
        client = self.client()
        code = self.code(client)
        token = self.redeem(client, code)[1]
        self.assertEqual(self.redeem(client, code)[0], 400)
        self.assertFalse(self.passes(token["access_token"]))

    def test_rotation_and_reuse(self):
        client, old = self.signed_in()
        status, new = self.refresh(client, old["refresh_token"])
        self.assertEqual(status, 200)
        self.assertFalse(self.passes(old["access_token"]))
        self.assertTrue(self.passes(new["access_token"]))
        self.assertEqual(self.refresh(client, old["refresh_token"])[0], 400)
        self.assertFalse(self.passes(new["access_token"]))
        self.assertEqual(self.refresh(client, new["refresh_token"])[0], 400)
        self.assertEqual(self.refresh(client, "")[0], 400)

    def test_revocation(self):
        for kind in ("refresh_token", "access_token"):
            client, token = self.signed_in()
            self.form("/revoke", token=token[kind], client_id="other")
            self.assertTrue(self.passes(token["access_token"]))
            self.form("/revoke", token=token[kind], client_id=client)
            self.assertFalse(self.passes(token["access_token"]))
            self.assertEqual(self.refresh(client, token["refresh_token"])[0],
                             400)


if __name__ == "__main__":
    support.main()
