"""mcpsplice check: a line for each step of a start, and what fails."""

import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import time

import authserver
import eraserver
import support
import test_tls

STEPS = ["configuration", "name", "connect", "sign-in", "revision", "session",
         "listen stream", "tools", "prompts", "resources", "ping"]


class Check:
    """Runs the command and parses its report, as text and as JSON."""

    def check(self, *args, status=0, **kw):
        got, out, err = self.once(["check", *args], **kw)
        text = out.decode()
        self.assertEqual(got, status, text + err)
        return {m[1]: (m[2], m[3]) for m in re.finditer(
            r"(?m)^(\S+(?: stream)?) +(ok|warning|failed)"
            r"(?: +[0-9.]+ m?s)? +(.*)$", text)}, text

    def steps(self, *args, status=0, **kw):
        got, out, err = self.once(["check", *args, "--json"], **kw)
        whole = json.loads(out)
        self.assertEqual((got, err), (status, ""), out)
        self.assertEqual(whole["ok"], status == 0)
        return {s["step"]: s for s in whole["steps"]}, whole

    def failed(self, step, *args, **kw):
        """Checks that only this step fails, and no later one is tried."""
        status = 2 if step == "configuration" else 1
        steps, whole = self.steps(*args, status=status, **kw)
        states = [s["state"] for s in whole["steps"]]
        at = list(steps).index(step)
        self.assertEqual(states[at], "failed", whole)
        self.assertNotIn("failed", states[:at])
        self.assertEqual(set(states[at + 1:]), {"skipped"}, whole)
        lines, text = self.check(*args, status=status, **kw)
        self.assertEqual(list(lines)[-1], step)
        self.assertIn("\nThe check failed: %s. Not tried: " % step, text)
        return steps[step]


class Plain(Check, eraserver.Case):
    def test_each_era(self):
        for shape, revision, words in (
                ("legacy", "2025-11-25", "the server gave a session id"),
                ("sse", "2025-11-25", "the session is the stream"),
                ("modern", "2026-07-28",
                 "needs no session, so a server restart is harmless"),
                ("dual", "2025-11-25", "the server gave a session id")):
            with self.subTest(shape):
                e = self.era(shape)
                lines, text = self.check(e.url)
                self.assertEqual(list(lines), STEPS, text)
                self.assertEqual({s for s, _ in lines.values()}, {"ok"}, text)
                self.assertIn(revision, lines["revision"][1])
                self.assertIn(words, lines["session"][1])
                self.assertEqual(lines["ping"][1], "answered" if shape !=
                                 "modern" else
                                 "not asked: this revision has no ping")
                self.assertRegex(lines["tools"][1], r"^2\d tools$")
                self.assertIn("\nThe server works. The check took ", text)
                steps, _ = self.steps(e.url)
                self.assertEqual(list(steps), STEPS)
                self.assertEqual(steps["revision"]["revision"], revision)
                self.assertEqual(steps["prompts"]["count"], 2)
                self.assertEqual(steps["resources"]["count"], 2)
                self.assertIn("ms", steps["connect"])

    def test_session_is_ended(self):
        s = self.mcp()
        s.on_get = s.listen
        lines, _ = self.check(s.url)
        self.assertIn("open", lines["listen stream"][1])
        self.assertEqual(s.deleted, s.made)
        self.assertEqual(len(s.made), 1)

    def test_no_listen_stream(self):
        lines, _ = self.check(self.mcp().url)
        self.assertIn("none: ", lines["listen stream"][1])

    def test_configuration(self):
        s = self.mcp()
        config = self.path("conf", "retry-window 5\n", 0o600)
        steps, _ = self.steps(s.url, "--config", config, "--read-only",
                              env={"MCPSPLICE_CONNECT_TIMEOUT": "3"})
        options = {o["option"]: o["from"]
                   for o in steps["configuration"]["options"]}
        self.assertEqual(options, {
            "retry-window": config + ":1", "read-only": "command line",
            "connect-timeout": "environment MCPSPLICE_CONNECT_TIMEOUT"})
        self.assertIn("(with --read-only)", steps["tools"]["text"])

    def test_faults_that_stop_no_start(self):
        url = self.mcp().url
        gone = self.path("gone", "") + "/file"
        config = self.path("conf", "[other.example/*]\nfail\n", 0o600)
        for args, env, words in (
                (["--log-file", gone], {}, "--log-file %s cannot be" % gone),
                (["--trace", gone], {}, "--trace %s cannot be opened" % gone),
                ([], {"NODE_EXTRA_CA_CERTS": gone},
                 "NODE_EXTRA_CA_CERTS: %s cannot be read" % gone),
                ([], {"MCPSPLICE_PROFIL": "a"},
                 "MCPSPLICE_PROFIL (did you mean "
                 "MCPSPLICE_PROFILE?)")):
            with self.subTest(words):
                steps, _ = self.steps(url, *args, env=env)
                step = steps["configuration"]
                self.assertEqual(step["state"], "warning")
                self.assertIn(words, step["text"])
                self.assertIn(words, "".join(step["warnings"]))
        steps, _ = self.steps(url, "--client-id", "i", "--client-secret-file",
                              gone, status=1)
        self.assertEqual(steps["configuration"]["state"], "warning")
        self.assertIn("--client-secret-file %s cannot be read" % gone,
                      steps["configuration"]["text"])
        self.assertEqual(steps["sign-in"]["state"], "failed")
        steps, _ = self.steps(url, "--config", config)
        self.assertEqual(steps["configuration"]["state"], "ok")
        self.assertEqual(steps["configuration"]["ignored"], [
            "%s: [other.example/*] is not for this URL" % config])

    def test_a_secret_by_a_pipe(self):
        """A secret from a FIFO, which can be read only once, works."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        writer = threading.Thread(target=self.path, args=("pipe", "hush"))
        writer.start()
        self.steps(self.mcp().url, "--client-id", "i",
                   "--client-secret-file", pipe)
        writer.join()

    def test_no_home(self):
        steps, _ = self.steps(self.mcp().url,
                              env={"HOME": "/nonexistent/home"})
        self.assertEqual(steps["sign-in"]["state"], "warning")
        self.assertIn("set HOME to a folder of your own; tokens are kept in "
                      "memory only", steps["sign-in"]["text"])

    def test_secrets(self):
        """The report has no secret of URL, headers, proxies, variables."""
        s = self.mcp()
        args = [s.url + "?key=sesame1", "-H", "X-Key: sesame2",
                "--bearer-env", "TOKEN"]
        env = {"TOKEN": "sesame3", "MCPSPLICE_PROXY_USER": "u:sesame4",
               "http_proxy": "http://u:sesame5@127.0.0.1:9/sesame6"}
        for more in [], ["--json"], ["-vv"]:
            status, out, err = self.once(["check"] + args + more, env=env)
            self.assertEqual(status, 0, err)
            self.assertNotIn("sesame", out.decode() + err)
        self.assertEqual(s.seen("initialize")[0].get("authorization"),
                         "Bearer sesame3")

    def test_refused(self):
        s = self.mcp()
        s.down()
        step = self.failed("connect", s.url)
        self.assertIn("cannot be reached", step["text"])

    def test_cuts_every_connection(self):
        """A server cuts every connection: the report has the cause within a
        few seconds, as a user is waiting."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def cut():
            while True:
                try:
                    listener.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=cut, daemon=True).start()
        at = "://127.0.0.1:%d/mcp" % listener.getsockname()[1]
        for scheme, words in (
                ("http", "cut the connection before it answered initialize"),
                ("https", "closed the connection during the TLS handshake")):
            start = time.monotonic()
            status, out, _ = self.once(["check", scheme + at])
            self.assertLess(time.monotonic() - start, 8)
            self.assertEqual(status, 1)
            self.assertRegex(out.decode(), r"\n\S+ +failed.*" + words)

    def test_unknown_name(self):
        step = self.failed("name", "https://nowhere.invalid/mcp")
        self.assertIn("nowhere.invalid", step["text"])

    def test_proxy_down(self):
        s = self.mcp()
        s.down()
        port = s.url.split(":")[2].split("/")[0]
        step = self.failed("proxy", "https://mcp.invalid/mcp", env={
            "https_proxy": "http://u:sesame@127.0.0.1:%s/" % port})
        self.assertEqual(step["from"], "https_proxy")
        self.assertEqual(step["proxy"], "http://127.0.0.1:" + port)
        step = self.failed("proxy", "https://mcp.invalid/mcp", "--proxy",
                           "http://127.0.0.1:" + port)
        self.assertEqual(step["from"], "--proxy")

    def test_proxy_not_used(self):
        s = self.mcp()
        proxy = {"http_proxy": "http://127.0.0.1:9/"}
        lines, _ = self.check(s.url, env=proxy)
        self.assertIn("http_proxy names one, but this host bypasses it",
                      lines["proxy"][1])
        lines, _ = self.check(s.url, "--proxy", "", env=proxy)
        self.assertNotIn("proxy", lines)

    def test_by_a_proxy(self):
        s = self.mcp()
        at = s.url.split("/")[2]
        url = "http://mcp.invalid/mcp"
        steps, whole = self.steps(url, "--allow-http", "--proxy",
                                  "http://" + at)
        self.assertEqual(steps["proxy"]["state"], "ok")
        self.assertNotIn("name", steps)
        self.assertEqual(steps["TLS"]["state"], "warning")
        self.assertEqual(steps["ping"]["state"], "ok")

    def test_unix_socket(self):
        path = self.path("socket")
        s = self.mcp(unix=path)
        lines, text = self.check("http://host/mcp", "--unix-socket", path)
        self.assertIn(path, lines["connect"][1])
        self.assertNotIn("name", lines)

    def test_wrong_path(self):
        s = self.http(lambda rx, tx: tx.text(404, "nothing here"))
        step = self.failed("session", s.url)
        self.assertIn("no MCP server at this path", step["text"])

    def test_options_that_may_be_wrong(self):
        s = self.mcp()
        step = self.failed("session", s.url, "--transport", "sse")
        self.assertRegex(step["text"], r"[^.]\. If .* remove that option "
                         r"\(--transport\)\.$")
        self.assertNotIn("(--protocol)", step["text"])
        step = self.failed("session", s.url, env={
            "MCPSPLICE_PROTOCOL": "modern"})
        self.assertIn("remove that option (MCPSPLICE_PROTOCOL).", step["text"])
        step = self.failed("session", self.http(
            lambda rx, tx: tx.text(404, "no")).url, "--transport", "auto")
        self.assertNotIn("leave it out", step["text"])

    def test_host_is_checked(self):
        """A 403 to a request without credentials is about the host name."""
        s = self.http(lambda rx, tx: tx.text(403, "host not allowed\n"))
        steps, _ = self.steps(s.url, status=1)
        for name, state in ("sign-in", "warning"), ("session", "failed"):
            self.assertEqual(steps[name]["state"], state)
            self.assertIn("refused the request (403): host not allowed. It "
                          "checks the host name", steps[name]["text"])

    def test_no_session(self):
        lines, _ = self.check(self.mcp(stateful=False).url)
        self.assertIn("no session id, so a server restart is harmless",
                      lines["session"][1])

    def test_web_page(self):
        s = self.http(lambda rx, tx: tx.body(200, "<html></html>",
                                             "text/html"))
        step = self.failed("session", s.url)
        self.assertIn("web page", step["text"])

    def test_a_list_fails(self):
        s = self.mcp()
        s.methods["prompts/list"] = lambda rx, tx: tx.error(-32603, "no way")
        lines, text = self.check(s.url, status=1)
        self.assertEqual(lines["prompts"], ("failed", "no way"))
        self.assertEqual(lines["ping"][0], "ok")
        self.assertIn("\nThe check failed: prompts.\n", text)

    def test_usage(self):
        for args in [], ["--nonsense"], ["http://a.invalid/"], \
                ["http://127.0.0.1:1/", "--json=x"]:
            status, out, err = self.once(["check"] + args)
            self.assertEqual((status, out), (2, b""), err)
        status, out, err = self.once(["tools", "http://127.0.0.1:1/",
                                      "--json"])
        self.assertEqual(status, 2)
        self.assertIn('--json only works with "mcpsplice check"', err)

    def test_terminal(self):
        """On a terminal, the result of a step replaces its "waiting" line."""
        status, text = self.terminal("check", self.mcp().url, env={
            "TERM": "xterm"})
        self.assertEqual(status, 0, text)
        self.assertIn("waiting for", text)
        seen = [line.split("\r\x1b[K")[-1] for line in text.split("\n")]
        self.assertFalse([line for line in seen if "waiting for" in line], seen)
        self.assertTrue([line for line in seen if re.match(
            r"ping +\x1b\[32mok", line)], seen)

    def test_too_many_requests(self):
        """After a 429 the check waits and retries, and does not fail."""
        s = self.mcp()
        left = [2]

        def tools(rx, tx):
            if left[0] == 0:
                return s.anything(rx, tx)
            left[0] -= 1
            return tx.text(429, "slowly")
        s.methods["tools/list"] = tools
        lines, _ = self.check(s.url)
        self.assertEqual(lines["tools"][0], "ok")


@support.plain
class Hang(Check, support.Case):
    def silent(self):
        s = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(s.close)
        return s.getsockname()[1]

    def test_plain(self):
        """The server accepts connections and never answers."""
        begin = time.monotonic()
        steps, _ = self.steps("http://127.0.0.1:%d/mcp" % self.silent(),
                              status=1, seconds=60)
        self.within(time.monotonic() - begin, 30)
        self.assertEqual(steps["answer"]["state"], "warning")
        self.assertEqual(steps["session"]["state"], "failed")
        self.assertIn("initialize within", steps["session"]["text"])
        self.assertNotIn("--init-timeout", steps["session"]["text"])
        step = self.failed_late("--init-timeout", "1")
        self.assertIn("within 1 s (--init-timeout)", step["text"])

    def failed_late(self, *args):
        steps, _ = self.steps("http://127.0.0.1:%d/mcp" % self.silent(), *args,
                              status=1, seconds=60)
        return steps["session"]

    def test_tls(self):
        begin = time.monotonic()
        steps, _ = self.steps("https://127.0.0.1:%d/mcp" % self.silent(),
                              status=1, seconds=60)
        self.within(time.monotonic() - begin, 30)
        self.assertEqual(steps["connect"]["state"], "ok")
        self.assertEqual(steps["TLS"]["state"], "failed")


class Tls(Check, support.Case):
    def test_good(self):
        s = self.mcp(tls=test_tls.context("one"))
        steps, _ = self.steps(s.url, "--cacert", test_tls.file("ca1.pem"))
        tls = steps["TLS"]
        self.assertEqual(tls["state"], "ok")
        self.assertRegex(tls["version"], r"^TLSv1\.[23]$")
        self.assertIn("Test Root ca1", tls["chain"][0]["issuer"])
        self.assertIn(tls["days"], (29, 30))
        self.assertIn(tls["chain"][0]["until"], tls["text"])

    def test_expires_soon(self):
        s = self.mcp(tls=test_tls.context("soon"))
        lines, text = self.check(s.url, "--cacert", test_tls.file("ca1.pem"))
        self.assertEqual(lines["TLS"][0], "warning")
        self.assertIn('certificate of "named.example"', lines["TLS"][1])
        self.assertIn("renew", lines["TLS"][1])
        self.assertIn("see the warnings", text)

    def test_short_lived(self):
        """A certificate with 5 of 6 days left gets no warning: such ones are
        renewed when a third of their life is left."""
        s = self.mcp(tls=test_tls.context("short"))
        lines, _ = self.check(s.url, "--cacert", test_tls.file("ca1.pem"))
        self.assertEqual(lines["TLS"][0], "ok")
        self.assertIn('certificate of "named.example"', lines["TLS"][1])

    def test_expired(self):
        s = self.mcp(tls=test_tls.context("past"))
        step = self.failed("TLS", s.url, "--cacert", test_tls.file("ca1.pem"))
        self.assertIn("expired", step["text"])
        self.assertIn("until 2020-02-01", step["text"])
        self.assertEqual(s.requests, [])

    def test_wrong_name(self):
        s = self.mcp(tls=test_tls.context("elsewhere"))
        step = self.failed("TLS", s.url, "--cacert", test_tls.file("ca1.pem"))
        self.assertIn("elsewhere.example", step["text"])
        self.assertEqual(s.requests, [])

    def test_unknown_authority(self):
        """The second connection, which fetches the chain, sends no request
        and no client certificate."""
        s = self.mcp(tls=test_tls.context("one"))
        step = self.failed("TLS", s.url, "--cert",
                           test_tls.file("client.pem"), "--key",
                           test_tls.file("client.key"))
        self.assertIn("Test Root ca1", step["text"])
        self.assertIn("--cacert", step["text"])
        self.assertEqual(s.requests, [])

    def test_save_certificate(self):
        """--save-certificate does only the TLS handshake, and the saved file
        works as --cacert."""
        s = self.mcp(tls=test_tls.context("one"))
        path = self.path("saved.pem")
        args = ["check", "--save-certificate", path, s.url, "-H", "X-S: 1"]
        rc, out, err = self.once(args)
        self.assertEqual((rc, err), (0, ""))
        with open(path) as f:
            pem = f.read()
        sum256 = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()
        shown = ":".join(sum256[i:i + 2] for i in range(0, 64, 2)).upper()
        for text in (shown, "valid    from ", "  --cacert %s\n" % path):
            self.assertIn(text, out.decode())
        self.assertEqual(s.requests, [])
        steps, _ = self.steps(s.url, "--cacert", path)
        self.assertEqual(steps["TLS"]["state"], "ok")
        # the file exists now
        rc, out, err = self.once(args)
        self.assertEqual((rc, out), (1, b""))
        self.assertIn("exists", err)
        with open(path) as f:
            self.assertEqual(f.read(), pem)

    def test_no_certificate_to_save(self):
        s = self.mcp()
        path = self.path("saved.pem")
        rc, out, err = self.once(["check", "--save-certificate", path, s.url])
        self.assertEqual((rc, out), (1, b""))
        self.assertIn("shows no certificate", err)
        self.assertFalse(os.path.exists(path))

    def test_missing_file(self):
        s = self.mcp(tls=test_tls.context("one"))
        step = self.failed("configuration", s.url, "--cacert",
                           "/nonexistent/ca.pem")
        self.assertIn("/nonexistent/ca.pem", step["text"])
        step = self.failed("configuration", s.url, "--bearer-env", "NOWHERE")
        self.assertIn("the variable NOWHERE is not set", step["text"])

    def test_file_without_certificate(self):
        s = self.mcp(tls=test_tls.context("one"))
        steps, _ = self.steps(s.url, "--cacert", test_tls.file("ca1.pem"),
                              env={"NODE_EXTRA_CA_CERTS": __file__})
        self.assertIn("NODE_EXTRA_CA_CERTS: %s contains no certificate: not "
                      "used" % __file__, steps["configuration"]["text"])


class SignIn(Check, authserver.Case):
    def test_not_signed_in(self):
        a = self.auth()
        m = self.protected(a)
        step = self.failed("sign-in", m.url)
        self.assertIn("mcpsplice login " + m.url, step["text"])
        self.assertEqual(step["status"], 401)
        self.assertEqual(step["issuer"], a.issuer)
        self.assertTrue(step["browser"] and step["device_code"] and
                        step["registration"])
        self.assertEqual(a.counts["authorize"], 0)
        self.assertEqual(a.counts["register"], 0)
        self.assertEqual(m.seen("initialize"), [])
        self.assertFalse(os.path.exists(
            os.path.join(self.home, ".local/state/mcpsplice/auth")))

    def test_secret_for_another_origin(self):
        """A secret is sent to another origin only if --issuer names it."""
        a = self.auth()
        m = self.protected(a)
        for auth in ("oauth", "client-credentials"):
            step = self.failed("sign-in", m.url, "--auth", auth,
                               "--client-id", "x", "--client-secret-file",
                               self.path("secret", "s", 0o600))
            self.assertTrue(step["text"].endswith("--issuer " + a.issuer),
                            step)
            self.assertEqual(a.token_requests(), 0)

    def test_no_device_code(self):
        a = self.auth()
        a.gives_device = False
        m = self.protected(a)
        step = self.failed("sign-in", m.url, "--auth", "device")
        self.assertIn("offers no device code: remove --auth device",
                      step["text"])

    def test_signed_in(self):
        a = self.auth()
        m = self.protected(a)
        b = self.browser()
        status, out, err = self.once(["login", m.url, "--browser", b.command])
        self.assertEqual(status, 0, err)
        lines, text = self.check(m.url)
        self.assertIn("valid until", lines["sign-in"][1])
        self.assertEqual(lines["ping"][0], "ok", text)
        a.expire()
        lines, text = self.check(m.url)
        self.assertEqual(lines["ping"][0], "ok", text)
        a.revoke()
        steps, _ = self.steps(m.url, "--browser", b.command, status=1)
        self.assertEqual(steps["session"]["state"], "failed")
        self.assertIn("mcpsplice login " + m.url, steps["session"]["text"])
        step = self.failed("sign-in", m.url)
        self.assertIn("not signed in", step["text"])
        self.assertEqual(len(b.opened()), 1)

    def test_given(self):
        a = self.auth()
        m = self.protected(a)
        lines, _ = self.check(m.url, "--auth", "none", status=1)
        self.assertIn("--auth none", lines["sign-in"][1])
        s = self.mcp()
        steps, _ = self.steps(s.url, "--bearer-env", "TOKEN",
                              env={"TOKEN": "t" * 20})
        self.assertEqual(steps["sign-in"]["from"], "--bearer-env")
        self.assertEqual(steps["sign-in"]["state"], "ok")

    def test_given_is_refused(self):
        """A 403 with a JSON-RPC error refuses the token, even if its message
        does not mention a token."""
        def refuse(rx, tx):
            if rx.get("Authorization") is None:
                return tx.text(401, "who are you?")
            return tx.body(403, '{"jsonrpc":"2.0","error":{"code":-32002,'
                           '"message":"Forbidden"},"id":null}',
                           "application/json")
        s = self.http(refuse)
        steps, _ = self.steps(s.url, "--bearer-env", "T", env={"T": "wrong"},
                              status=1)
        self.assertEqual(steps["sign-in"]["state"], "warning")
        self.assertIn("--bearer-env (403): check the token", steps["sign-in"]["text"])

    def test_no_metadata(self):
        s = self.http(lambda rx, tx: tx.text(
            401 if rx.method == "POST" else 404, "no"))
        step = self.failed("sign-in", s.url)
        self.assertIn("--bearer-env", step["text"])


def days(n):
    return time.strftime("%Y%m%d%H%M%SZ",
                         time.gmtime(time.time() + n * 86400))


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        print("there is no openssl")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="mcpsplice-check-")
    test_tls.prepare(folder)
    for name, begin, end in (
            ("past", "20200101000000Z", "20200201000000Z"),
            ("soon", days(-85), days(5)), ("short", days(-1), days(5))):
        test_tls.make_dated(name, "ca1", "DNS:named.example,IP:127.0.0.1",
                            begin, end)
    # one at a time: see test_tls.py
    support.main(workers=1, after=lambda: shutil.rmtree(folder))
