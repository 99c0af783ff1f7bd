"""https, with a certificate authority of the test's own."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import support
from support import INITIALIZED, call, init, lines

FOLDER = None


def openssl(*args):
    subprocess.run(("openssl",) + args, check=True, cwd=FOLDER,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_ca(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-keyout", name + ".key", "-out", name + ".pem", "-subj",
            "/CN=Test Root " + name, "-addext",
            "basicConstraints=critical,CA:TRUE", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign")


def make_cert(name, ca, san, days="30"):
    with open(os.path.join(FOLDER, name + ".ext"), "w") as f:
        f.write("subjectAltName=%s\nbasicConstraints=CA:FALSE\n" % san)
    openssl("req", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
    openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem",
            "-CAkey", ca + ".key", "-CAcreateserial", "-days", days,
            "-out", name + ".pem", "-extfile", name + ".ext")


def make_dated(name, ca, san, begin, end):
    """Uses "openssl ca", as "openssl x509" cannot set dates."""
    make_cert(name, ca, san)
    with open(os.path.join(FOLDER, "ca.cnf"), "w") as f:
        f.write("[ca]\ndefault_ca = d\n[d]\ndatabase = index\n"
                "new_certs_dir = .\nserial = serial\npolicy = p\n"
                "default_md = sha256\n[p]\ncommonName = supplied\n")
    open(os.path.join(FOLDER, "index"), "w").close()
    openssl("ca", "-batch", "-config", "ca.cnf", "-create_serial", "-in",
            name + ".csr", "-cert", ca + ".pem", "-keyfile", ca + ".key",
            "-startdate", begin, "-enddate", end, "-extfile", name + ".ext",
            "-notext", "-out", name + ".pem")


def prepare(folder):
    """Makes two authorities, and certificates of servers and clients."""
    global FOLDER
    FOLDER = folder
    make_ca("ca1")
    make_ca("ca2")
    here = "IP:127.0.0.1,DNS:localhost,DNS:mcp.test"
    make_cert("one", "ca1", here)
    make_cert("two", "ca2", here)
    make_cert("elsewhere", "ca1", "DNS:elsewhere.example")
    make_cert("client", "ca1", "DNS:client")
    make_cert("stranger", "ca2", "DNS:client")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-keyout", "itself.key", "-out", "itself.pem", "-subj",
            "/CN=itself", "-addext", "subjectAltName=" + here)
    make_dated("expired", "ca1", here, "20200101000000Z", "20200201000000Z")
    make_dated("future", "ca1", here, "20700101000000Z", "20700201000000Z")


def file(name):
    return os.path.join(FOLDER, name)


def context(name, client_ca=None):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(file(name + ".pem"), file(name + ".key"))
    if client_ca:
        c.verify_mode = ssl.CERT_REQUIRED
        c.load_verify_locations(file(client_ca + ".pem"))
    return c


class Tls(support.Case):
    def works(self, *args, **kw):
        s = self.mcp(tls=context(kw.pop("name", "one"),
                                 kw.pop("client_ca", None)))
        s.on_get = s.listen
        p = self.splice(kw.pop("url", None) or s, *args, **kw)
        p.hello()
        s.stream()
        self.assertIn("result", p.tool(x=1))
        p.finish()
        self.assertEqual(s.deleted, s.made)
        return s

    def refused(self, *args, **kw):
        """The client soon gets an error, and the proxy sends no request."""
        s = self.mcp(tls=context(kw.pop("name", "one")))
        p = self.splice(s, *args, **kw)
        begin = time.monotonic()
        p.send(init(1), INITIALIZED, call(2))
        e = self.our_error(p.answer(1), "tls_refused", "no")
        self.within(time.monotonic() - begin, 4)
        self.assertIn("error", p.answer(2))
        self.assertTrue(p.alive())
        self.assertEqual(s.requests, [])
        self.assertLessEqual(s.connections, 2)
        self.assertIn("127.0.0.1", e["message"])
        p.finish()
        return e

    def test_cacert(self):
        self.works("--cacert", file("ca1.pem"))

    def test_environment(self):
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE",
                     "NODE_EXTRA_CA_CERTS"):
            with self.subTest(name):
                self.works(env={name: file("ca1.pem")})

    @support.plain
    def test_folder_of_the_environment(self):
        """SSL_CERT_DIR replaces the system's store, --cacert replaces
        SSL_CERT_DIR, even if that folder has no certificates."""
        folder = self.path("certs")
        os.mkdir(folder)
        env = {"SSL_CERT_DIR": folder}
        self.works("--cacert", file("ca1.pem"), env=env)
        self.refused(env=env)
        shutil.copy(file("ca1.pem"), folder)
        openssl("rehash", folder)
        self.works(env=env)
        self.refused(env=env, name="two")
        self.works(env=dict(env, NODE_EXTRA_CA_CERTS=file("ca2.pem")),
                   name="two")
        e = self.refused("--cacert", file("ca2.pem"), env=env)
        self.assertIn("ca2.pem", e["message"])

    def test_extra_adds(self):
        """NODE_EXTRA_CA_CERTS adds to the store, and does not replace it."""
        env = {"SSL_CERT_FILE": file("ca1.pem"),
               "NODE_EXTRA_CA_CERTS": file("ca2.pem")}
        self.works(env=env, name="one")
        self.works(env=env, name="two")

    def test_extra_that_is_missing(self):
        """As Node does, the proxy ignores a missing NODE_EXTRA_CA_CERTS."""
        self.works("--cacert", file("ca1.pem"), env={
            "NODE_EXTRA_CA_CERTS": "/nonexistent/ca.pem"})

    def says(self, cause, remedy, *args, **kw):
        words = self.refused(*args, **kw)["message"]
        self.assertIn(cause, words)
        self.assertIn(remedy, words)
        return words

    @support.plain
    def test_unknown_authority(self):
        self.says("an authority that is not trusted here", "--cacert FILE",
                  env={"SSL_CERT_FILE": "", "CURL_CA_BUNDLE": ""})

    @support.plain
    def test_another_authority(self):
        words = self.says("an authority that is not in " + file("ca2.pem"),
                          "--cacert FILE", "--cacert", file("ca2.pem"))
        self.assertNotIn("NODE_TLS", words)

    @support.plain
    def test_checks_cannot_be_switched_off(self):
        self.says("an authority that is not in " + file("ca2.pem"),
                  "NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect",
                  "--cacert", file("ca2.pem"),
                  env={"NODE_TLS_REJECT_UNAUTHORIZED": "0"})

    @support.plain
    def test_self_signed(self):
        self.says("its certificate is self-signed", "--cacert FILE",
                  "--cacert", file("ca1.pem"), name="itself")

    @support.plain
    def test_wrong_name(self):
        self.says("its certificate is for elsewhere.example, not for "
                  "127.0.0.1", "Use the name from the certificate",
                  "--cacert", file("ca1.pem"), name="elsewhere")

    @support.plain
    def test_expired(self):
        self.says("its certificate has expired", "has to renew it",
                  "--cacert", file("ca1.pem"), name="expired")

    @support.plain
    def test_not_yet_valid(self):
        self.says("its certificate is not valid yet", "If this machine's clock is wrong, set it",
                  "--cacert", file("ca1.pem"), name="future")

    @support.plain
    def test_cacert_file_missing(self):
        """A wrong option fails at once, at the start or on first use."""
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", "/nonexistent/ca.pem")
        begin = time.monotonic()
        p.send(init(1))
        m = p.answer(1)
        self.within(time.monotonic() - begin, 4)
        self.assertIn("error", m)
        self.assertIn("/nonexistent/ca.pem", m["error"]["message"] + p.err())
        self.assertEqual(s.requests, [])
        p.wait()
        status, out, err = self.once(["tools", s.url], env={
            "MCPSPLICE_CACERT": "/nonexistent/ca.pem"})
        self.assertEqual((status, out), (2, b""))
        self.assertIn("MCPSPLICE_CACERT: /nonexistent/ca.pem cannot be read",
                      err)
        p.close()
        self.assertIn(p.wait(), (0, 2))
        p.finished = True

    def not_started(self, s, option, path, words):
        """mcpsplice ends with an error about the file, without reading it."""
        p = self.splice(s, option, path)
        p.send(init(1))
        self.assertIn(words, p.answer(1)["error"]["message"] + p.err())
        self.assertEqual(s.requests, [])
        p.close()
        self.assertEqual(p.wait(), 2)
        p.finished = True

    def test_files_that_are_none(self):
        """A FIFO or a device is refused: reading it might never end."""
        s = self.mcp(tls=context("one"))
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for option in ("--cacert", "--proxy-cacert", "--cert",
                       "--netrc-file"):
            for path in (fifo, "/dev/zero"):
                with self.subTest(option, path=path):
                    self.not_started(s, option, path,
                                     path + " is not a regular file")
        for path in (fifo, "/dev/zero"):
            with self.subTest("extra", path=path):
                self.works("--cacert", file("ca1.pem"),
                           env={"NODE_EXTRA_CA_CERTS": path})

    def test_files_that_are_too_large(self):
        """A file of 16 MiB is accepted, a larger one is refused."""
        limit = 16 * 2**20
        certificates = open(file("ca1.pem"), "rb").read()
        path = self.path("ca.pem")
        with open(path, "wb") as f:
            f.write(certificates + b"\n" * (limit - len(certificates)))
        self.works("--cacert", path)
        s = self.mcp(tls=context("one"))
        for size in (limit + 1, 2**40):
            os.truncate(path, size)
            self.not_started(s, "--cacert", path,
                             path + " is larger than 16777216 bytes")
            self.works("--cacert", file("ca1.pem"),
                       env={"NODE_EXTRA_CA_CERTS": path})

    def test_by_name(self):
        s = self.mcp(tls=context("one"))
        p = self.splice("https://mcp.test:%d/mcp" % s.port, "--cacert",
                        file("ca1.pem"), "--resolve",
                        "mcp.test:%d:127.0.0.1" % s.port)
        p.hello()
        p.finish()

    def test_client_certificate(self):
        self.works("--cacert", file("ca1.pem"), "--cert",
                   file("client.pem"), "--key", file("client.key"),
                   client_ca="ca1")

    def test_client_certificate_of_another(self):
        """The startup cache of one client certificate is not shown to
        another."""
        s = self.mcp(tls=context("one", "ca1"))
        own = [self.path(name) for name in ("who.pem", "who.key")]

        def start(who):
            for path in own:
                shutil.copy(file(who + path[-4:]), path)
                os.chmod(path, 0o600)
            p = self.splice(s, "--cacert", file("ca1.pem"), "--init-timeout",
                            "1", "--cert", own[0], "--key", own[1])
            p.send(init("hello"))
            found = "result" in p.answer("hello")
            p.close()
            p.wait()
            return found

        self.assertTrue(start("client"))
        s.down()
        self.assertTrue(start("client"))
        self.assertFalse(start("stranger"))

    def test_client_certificate_missing(self):
        s = self.mcp(tls=context("one", "ca1"))
        p = self.splice(s, "--cacert", file("ca1.pem"), "--init-timeout",
                        "3")
        p.send(init(1))
        e = self.our_error(p.answer(1))
        self.assertIn("add --cert FILE", e["message"].replace("Add", "add"))
        self.assertEqual(s.requests, [])
        p.finish()

    def test_client_certificate_refused(self):
        s = self.mcp(tls=context("one", "ca1"))
        p = self.splice(s, "--cacert", file("ca1.pem"), "--init-timeout",
                        "3", "--cert", file("stranger.pem"), "--key",
                        file("stranger.key"))
        p.send(init(1))
        e = self.our_error(p.answer(1))
        self.assertIn("client certificate", e["message"])
        self.assertRegex(e["message"],
                         "--cert FILE --key FILE|with --cert and --key")
        p.finish()

    def test_no_key_log(self):
        """The proxy ignores SSLKEYLOGFILE: with that file, recorded traffic
        could be decrypted."""
        path = self.path("keys")
        self.works("--cacert", file("ca1.pem"), env={"SSLKEYLOGFILE": path})
        self.assertFalse(os.path.exists(path))

    def test_lost_session_over_tls(self):
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", file("ca1.pem"))
        p.hello()
        s.forget()
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_connections_are_kept(self):
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", file("ca1.pem"))
        p.hello()
        for n in range(20):
            p.tool(n=n)
        p.finish()
        self.assertLessEqual(s.connections, 4)

    def test_cut_never_runs_twice(self):
        """libcurl does not resend a call that was cut on a reused connection,
        over TLS."""
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", file("ca1.pem"))
        p.hello()
        p.tool()
        s.methods["tools/call"] = lambda rx, tx: tx.cut()
        self.our_error(p.tool(), "stream_lost", "maybe")
        self.settle(0.3)
        p.finish()
        self.assertEqual(len(s.executed), 2)

    def opened(self, url):
        """Files and folders that a run of the program opened."""
        trace = os.path.join(self.tmp, "trace")
        p = subprocess.run(["strace", "-f", "-e", "trace=file", "-o", trace,
                            support.PROGRAM, url, "--init-timeout", "2"],
                           input=lines(init(1)), capture_output=True,
                           env=self.environment())
        if b"ptrace" in p.stderr:
            self.skipTest("strace may not trace here")
        with open(trace) as f:
            return [line for line in f if re.search(r" open(at)?\(", line)]

    @support.plain
    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    @unittest.skipIf(support.sanitized(), "a sanitizer refuses strace")
    def test_plain_http_needs_no_authorities(self):
        store = re.compile(r"\.pem|\.crt|/certs|/pki")
        s = self.mcp()
        found = [o for o in self.opened(s.url) if store.search(o)]
        self.assertEqual(found, [])
        self.assertEqual(s.inits(), 1)
        s = self.mcp(tls=context("one"))
        if os.path.isdir("/etc/ssl/certs"):
            found = [o for o in self.opened(s.url) if store.search(o)]
            self.assertTrue(found)

    def test_server_without_tls(self):
        s = self.mcp()
        p = self.splice(s.url.replace("http:", "https:"), "--init-timeout",
                        "3", "--connect-timeout", "1")
        p.send(init(1))
        e = self.our_error(p.answer(1), ran="no")
        # the server waits for the rest of a line
        self.assertIn("it did not finish the TLS handshake within 1 s",
                      e["message"])
        self.assertIn("Check that the server speaks https", e["message"])
        p.finish()
        self.assertEqual(s.requests, [])

    def test_plain_answer_to_tls(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def run():
                while True:
                    try:
                        c = listener.accept()[0]
                    except OSError:
                        return
                    c.recv(100)
                    c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    c.close()
            threading.Thread(target=run, daemon=True).start()
            p = self.splice("https://127.0.0.1:%d/mcp"
                            % listener.getsockname()[1])
            p.send(init(1))
            e = self.our_error(p.answer(1), "tls_refused", "no")
            self.assertIn("it does not speak TLS on this port", e["message"])
            self.assertIn("write http:// in the URL", e["message"])
            p.finish()
            listener.shutdown(socket.SHUT_RDWR)

    def test_http_to_a_tls_server(self):
        s = self.mcp(tls=context("one"))
        p = self.splice(s.url.replace("https:", "http:"), "--init-timeout",
                        "3")
        p.send(init(1))
        e = self.our_error(p.answer(1))
        self.assertIn("write https:// in the URL", e["message"])
        p.finish()
        self.assertEqual(s.requests, [])

    @support.plain
    def test_certificate_goes_bad_later(self):
        """If the certificate becomes invalid in mid-session, a call fails at
        once; with a valid one, calls work again."""
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", file("ca1.pem"))
        p.hello()
        p.tool()
        s.down()
        s.tls = context("two")
        s.up()
        begin = time.monotonic()
        self.our_error(p.tool(), "tls_refused", "no")
        self.within(time.monotonic() - begin, 4)
        s.down()
        s.tls = context("one")
        s.up()
        self.assertIn("result", p.tool())
        p.finish()

    @support.plain
    def test_authority_is_renewed(self):
        """After a refusal, the proxy reads a changed --cacert file again, so
        the next call works; also if NODE_EXTRA_CA_CERTS adds to that file."""
        for extra in ({}, {"NODE_EXTRA_CA_CERTS": file("ca1.pem")}):
            with open(file("ca1.pem")) as f:
                where = self.path("ours.pem", f.read())
            s = self.mcp(tls=context("one"))
            p = self.splice(s, "--cacert", where, env=extra)
            p.hello()
            self.assertIn("result", p.tool())
            s.down()
            s.tls = context("two")
            s.up()
            e = self.our_error(p.tool(), "tls_refused", "no")
            self.assertIn("an authority that is not in " + where, e["message"])
            with open(file("ca2.pem")) as f:
                self.path("ours.pem", f.read())
            self.assertIn("result", p.tool())
            self.assertIn("result", p.tool())
            p.finish()
            s.down()

    @support.plain
    def test_refused_certificate_of_a_server_that_is_gone(self):
        """The server has closed when the TLS alert is sent, and libcurl only
        reports that; the error must still blame the certificate."""
        tls = context("one")
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def answer(c):
            hello = c.recv(65536, socket.MSG_PEEK)
            c.recv(len(hello) - 1)      # so that the close is a reset
            to, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            to.write(hello)
            try:
                tls.wrap_bio(to, out, server_side=True).do_handshake()
            except ssl.SSLWantReadError:
                pass
            c.sendall(out.read())
            c.shutdown(socket.SHUT_WR)
            c.close()

        def serve():
            while True:
                try:
                    answer(listener.accept()[0])
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        p = self.splice("https://127.0.0.1:%d/mcp" % listener.getsockname()[1],
                        "--cacert", file("ca2.pem"))
        e = self.our_error(p.ask("initialize", init(1)["params"]),
                           "tls_refused", "no")
        self.assertIn("an authority that is not in", e["message"])
        p.finish()

    @support.plain
    def test_redirect_without_tls(self):
        """Servers behind a gateway redirect https to http: if only a slash
        differs, the proxy keeps https; else the error has the https URL."""
        s = self.mcp(tls=context("one"))

        def moved(rx, tx):
            if rx.target.startswith("/mcp/"):
                return False
            tx.body(307, headers=[("Location", "http://127.0.0.1:%d%s" % (
                s.port, s.there))])
            return True
        s.before = moved
        s.there = "/mcp/?key=1"
        self.addCleanup(s.down)
        p = self.splice(s.url + "?key=1", "--cacert", file("ca1.pem"))
        p.hello()
        self.assertIn("result", p.tool())
        p.finish()
        s.there = "/other"
        p = self.splice(s.url, "--cacert", file("ca1.pem"))
        e = self.our_error(p.ask("initialize", init(1)["params"]),
                           "bad_upstream")
        self.assertIn("use https://127.0.0.1:%d/other." % s.port, e["message"])
        self.assertNotIn("trust", e["message"])
        p.finish()

    def test_big_both_ways(self):
        s = self.mcp(tls=context("one"))
        p = self.splice(s, "--cacert", file("ca1.pem"))
        p.hello()
        text = "x" * 4000000
        self.assertIn(text, p.tool(text=text)["result"]["content"][0]["text"])
        p.finish()


def main(after=lambda: None):
    """Makes certificates, runs the calling file's cases, then after()."""
    if not shutil.which("openssl"):
        sys.stderr.write("no openssl command\n")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="mcpsplice-tls-")
    prepare(folder)
    # One case at a time: if a descriptor is closed while a thread is still in
    # the TLS library, another case could get the same descriptor.
    support.main(workers=1, after=lambda: (shutil.rmtree(folder), after()))


if __name__ == "__main__":
    main()
