"""--aws-sigv4: each request is signed for AWS, with a key of the environment or
of a program, and renewed before it ends.  The door of sigv4.py checks the
signatures.
"""

import json
import os
import time

import h2server
import sigv4
import support
import test_tls

KEY = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ENV = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
SCOPE = ("--aws-sigv4", "us-east-1:bedrock-agentcore")


class Signed(support.Case):
    def guarded(self, keys=None, server=None, **kw):
        s = self.mcp(**(server or {}))
        return s, sigv4.Door(s, {KEY: (SECRET, None, None)}
                             if keys is None else keys, **kw)

    def url(self, s, target):
        return "http://127.0.0.1:%d%s" % (s.port, target)

    def all_passed(self, door):
        self.assertEqual(door.refused, [])
        self.assertGreater(len(door.passed), 2)

    def helper(self, answer):
        """A program that prints what say() said last, and notes its runs."""
        where = {k: self.path(k + "-%d" % self.count(), "")
                 for k in ("answer", "runs")}
        run = self.path("run-%d" % self.count(), '#!/bin/sh\necho x >>"%s"\n'
                        'exec cat "%s"\n' % (where["runs"], where["answer"]),
                        0o700)

        def say(doc):
            new = self.path("new-%d" % self.count(), json.dumps(doc))
            os.rename(new, where["answer"])

        def runs():
            with open(where["runs"]) as f:
                return len(f.readlines())
        say(answer)
        return run, say, runs

    def temporary(self, n, seconds):
        """A key of STS, and the answer of a program that has it."""
        ends = time.time() + seconds
        key = ("ASIAEXAMPLE%d" % n, SECRET[::-1] + str(n), "token+/=%d" % n)
        return {key[0]: key[1:] + (ends,)}, {
            "Version": 1, "AccessKeyId": key[0], "SecretAccessKey": key[1],
            "SessionToken": key[2],
            "Expiration": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                        time.gmtime(ends))}

    def test_each_method(self):
        """POST of any size, the listen stream after it, a renewed session,
        and DELETE."""
        s, door = self.guarded(server={"on_get": None})
        s.on_get = s.listen
        p = self.splice(s, *SCOPE, env=ENV)
        p.hello()
        s.stream().event({"jsonrpc": "2.0",
                          "method": "notifications/tools/list_changed"})
        p.server_message("notifications/tools/list_changed")
        for size in (1, 100 << 10, 2 << 20):
            text = "x" * size
            self.assertIn("result", p.ask("tools/call", {
                "name": "echo", "arguments": {"text": text}}))
        s.forget()
        self.assertIn("result", p.ask("tools/call", {"name": "echo"}))
        self.assertEqual(s.inits(), 2)
        p.finish()
        self.deleted(s, s.made[-1:])
        self.all_passed(door)
        self.assertEqual({r.method for r in door.passed},
                         {"POST", "GET", "DELETE"})

    def test_http2(self):
        s = h2server.H2Mcp(tls=test_tls.context("one"))
        self.servers.append(s)
        door = sigv4.Door(s, {KEY: (SECRET, None, None)})
        p = self.splice(s, "--cacert", test_tls.file("ca1.pem"), "--http2",
                        *SCOPE, env=ENV)
        p.hello()
        self.assertIn("result", p.ask("tools/call", {
            "name": "echo", "arguments": {"text": "x" * (100 << 10)}}))
        p.finish()
        self.all_passed(door)
        self.assertEqual({r.version for r in door.passed}, {"HTTP/2"})

    def test_urls(self):
        """What is sent is what the user wrote, and it is signed in the one
        form that counts."""
        targets = [
            "/", "/mcp?", "/mcp?b=2&a=1&a=0&c", "/a%20b/%E2%82%AC/x(1)!*'",
            "/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aus-east-1%3A1%3A"
            "runtime%2Fx-y/invocations?qualifier=DEFAULT",
            "/m:c@p,q=1;r/~u_s.e-r/", "/x?k-a=1&k=2&kz=3&k=%7e",
            "/x?b=%2f%3D&a+b=c+d&%61=1&&x==", "/x?q=/a:b@c,d!e*'()",
        ]

        def one(target):
            s, door = self.guarded()
            p = self.splice(self.url(s, target), *SCOPE, env=ENV)
            self.assertIn("result", p.ask("initialize",
                                          support.init()["params"]))
            p.finish()
            self.assertEqual(door.refused, [])
            self.assertEqual({r.target for r in door.passed},
                             {target.rstrip("?") if target.endswith("?")
                              else target})
        self.each(targets, one, 3)

    def test_redirects(self):
        """The new URL is signed; another origin gets nothing."""
        s, door = self.guarded()
        other, never = self.guarded()
        look = s.before

        def moved(rx, tx):
            if look(rx, tx):
                return True
            if rx.target != "/mcp":
                return False
            tx.text(307, "", [("Location", where)])
            return True
        s.before = moved
        where = "/a%3Ab?c=d"
        p = self.splice(s, *SCOPE, env=ENV)
        p.hello()
        self.assertIn("result", p.ask("tools/call", {"name": "echo"}))
        p.finish()
        self.all_passed(door)
        where = other.url
        p = self.splice(s, *SCOPE, env=ENV)
        self.our_error(p.ask("initialize", support.init()["params"]))
        self.assertEqual((other.requests, never.passed), ([], []))

    def test_headers(self):
        """One that comes twice, one that is empty, and what is not signed."""
        s, door = self.guarded()
        p = self.splice(s, *SCOPE, "-H", "X-Two: 1", "-H", "x-two: a  b",
                        "-H", "X-Empty:", "-A", "me/1", "--compressed", "--trace-headers",
                        env=ENV)
        p.hello()
        self.assertIn("result", p.ask("tools/call", {"name": "echo"}))
        p.finish()
        self.all_passed(door)
        self.assertEqual(door.passed[0].all("X-Two"), ["1,a  b"])
        self.assertEqual(door.passed[0].get("User-Agent"), "me/1")

    def test_session_token(self):
        """It is sent and signed; no secret is shown, and no child has it."""
        keys, answer = self.temporary(1, 3600)
        s, door = self.guarded(keys)
        env = {"AWS_ACCESS_KEY_ID": answer["AccessKeyId"],
               "AWS_SECRET_ACCESS_KEY": answer["SecretAccessKey"],
               "AWS_SESSION_TOKEN": answer["SessionToken"]}
        trace = self.path("trace")
        p = self.splice(s, *SCOPE, "-vv", "--trace", trace, env=env)
        p.hello()
        p.finish()
        self.all_passed(door)
        with open(trace) as f:
            seen = f.read() + p.err()
        status, out, err = self.once([s.url, *SCOPE, "--show-config"],
                                     env=env)
        self.assertEqual(status, 0)
        seen += out.decode() + err
        for secret in list(answer.values())[2:4]:
            self.assertNotIn(secret, seen)

    def test_refused(self):
        """A wrong secret, a key that nobody knows, a clock that is wrong."""
        def one(name, env, words, **kw):
            s, door = self.guarded(**kw)
            p = self.splice(s, *SCOPE, env=dict(ENV, **env))
            e = self.our_error(p.ask("initialize", support.init()["params"]),
                               "auth_failed")
            self.assertIn("refused the signature: ", e["message"])
            self.assertIn(words, e["message"])
            self.assertNotIn(SECRET, e["message"] + p.err())
            self.assertEqual(door.passed, [])
            self.assertEqual(len(door.refused), 1)

        one("secret", {"AWS_SECRET_ACCESS_KEY": "x" + SECRET},
            "does not match")
        one("key", {"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, "is invalid")
        one("clock", {}, "Signature expired", ahead=3600)

    def test_policy(self):
        """A 403 that is not about the signature is the server's own."""
        s, door = self.guarded()
        run, say, runs = self.helper({"Version": 1, "AccessKeyId": KEY,
                                      "SecretAccessKey": SECRET})
        p = self.splice(s, *SCOPE, "--auth-command", run)
        p.hello()
        s.methods["tools/call"] = lambda rx, tx: tx.text(
            403, "User: x is not authorized to perform: y")
        e = self.our_error(p.ask("tools/call", {"name": "echo"}))
        self.assertIn("is not authorized", e["message"])
        self.assertNotIn("signature", e["message"])
        self.assertEqual(runs(), 1)

    def test_renewed_before_it_ends(self):
        """No request has a key that has ended."""
        keys, answer = self.temporary(1, 6)
        s, door = self.guarded(keys)
        run, say, runs = self.helper(answer)
        p = self.splice(s, *SCOPE, "--auth-command", run)
        p.hello()
        self.assertEqual(runs(), 1)
        more, answer = self.temporary(2, 3600)
        door.keys.update(more)
        say(answer)
        limit = time.time() + 30
        while runs() < 2 and time.time() < limit:
            self.assertIn("result", p.ask("tools/call", {"name": "echo"}))
            time.sleep(0.1)
        self.assertIn("result", p.ask("tools/call", {"name": "echo"}))
        self.assertEqual(runs(), 2)
        p.finish()
        self.all_passed(door)

    def test_ended_early(self):
        """The server ends a key before its time: the program is asked again,
        and the call is sent again, once, as after a 401."""
        keys, answer = self.temporary(1, 3600)
        s, door = self.guarded(keys)
        run, say, runs = self.helper(answer)
        p = self.splice(s, *SCOPE, "--auth-command", run)
        p.hello()
        more, answer = self.temporary(2, 3600)
        say(answer)
        door.keys = {k: v[:2] + (0,) for k, v in keys.items()}
        door.keys.update(more)
        self.assertIn("result", p.ask("tools/call", {
            "name": "echo", "arguments": {"key": "one"}}))
        self.assertEqual(s.runs("one"), 1)
        self.assertEqual(runs(), 2)
        door.keys = {}
        e = self.our_error(p.ask("tools/call", {"name": "echo"}),
                           "auth_failed")
        self.assertIn("refused the signature: ", e["message"])

    def test_of_a_tool(self):
        """A tool passes the refusal of another service on: a ping shows that,
        and the call is not sent again."""
        keys, answer = self.temporary(1, 3600)
        s, door = self.guarded(keys)
        run, say, runs = self.helper(answer)
        p = self.splice(s, *SCOPE, "--auth-command", run)
        p.hello()
        calls = []

        def tool(rx, tx):
            calls.append(rx)
            tx.json({"message": "The security token included in the request "
                                "is expired"}, 403)
        s.methods["tools/call"] = tool
        e = self.our_error(p.ask("tools/call", {"name": "echo"}),
                           "auth_failed", "maybe")
        self.assertIn("a tool may have refused it", e["message"])
        self.assertEqual(len(calls), 1)
        self.assertEqual(door.refused, [])

    def test_check(self):
        s, door = self.guarded()
        status, out, err = self.once(["check", s.url, *SCOPE], env=ENV)
        self.assertEqual(status, 0, out.decode() + err)
        self.assertNotIn(SECRET, out.decode() + err)
        self.assertGreater(len(door.passed), 1)
        status, out, err = self.once(["check", s.url, *SCOPE], env=dict(
            ENV, AWS_SECRET_ACCESS_KEY="x"))
        self.assertNotEqual(status, 0)
        self.assertIn("refused the signature: ", out.decode() + err)

    def test_wrong_use(self):
        status, out, err = self.once(
            ["http://127.0.0.1:1/", *SCOPE], env={})
        self.assertNotEqual(status, 0)
        self.assertIn("AWS_ACCESS_KEY_ID", err)
        for args, words in (
                (["--aws-sigv4", "us-east-1"], "REGION:SERVICE"),
                (["--aws-sigv4", "a b:c"], "REGION:SERVICE"),
                ([*SCOPE, "--bearer-env", "T"], "two credentials"),
                ([*SCOPE, "--negotiate"], "two credentials"),
                ([*SCOPE, "-H", "Authorization: x"], "two credentials"),
                ([*SCOPE, "--auth", "oauth"], "contradict")):
            status, out, err = self.once(["http://127.0.0.1:1/", *args],
                                         env=dict(ENV, T="x"))
            self.assertNotEqual(status, 0)
            self.assertIn(words, out.decode() + err)


if __name__ == "__main__":
    test_tls.main()
