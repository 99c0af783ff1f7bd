"""HTTP/2 at servers of others: nginx, haproxy and Node, whichever is there,
each before a server of ours.  They are told to begin anew while calls are
under way, and end their connections as they do in the real world."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import faultserver
import pace
import ports
import support
import test_tls
from test_tls import file

NGINX = """
daemon off;
worker_processes 1;
pid %(tmp)s/nginx.pid;
error_log %(tmp)s/front.log;
events { worker_connections 1024; }
http {
    access_log %(tmp)s/access.log;
    client_body_temp_path %(tmp)s/body;
    proxy_temp_path %(tmp)s/proxy;
    fastcgi_temp_path %(tmp)s/fastcgi;
    uwsgi_temp_path %(tmp)s/uwsgi;
    scgi_temp_path %(tmp)s/scgi;
    client_max_body_size 0;
    client_body_buffer_size 8m;
    server {
        listen 127.0.0.1:%(port)d ssl http2;
        ssl_certificate %(cert)s;
        ssl_certificate_key %(key)s;
        location / {
            proxy_pass http://127.0.0.1:%(backend)d;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_next_upstream off;
            proxy_read_timeout 1h;
        }
    }
}
"""

HAPROXY = """
global
    stats socket %(tmp)s/admin level admin
    tune.bufsize 32768
defaults
    mode http
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    retries 0
frontend front
    bind 127.0.0.1:%(port)d ssl crt %(tmp)s/both.pem alpn h2,http/1.1
    default_backend back
backend back
    server one 127.0.0.1:%(backend)d
"""

NODE = """
const fs = require("node:fs"), http = require("node:http");
const { createSecureServer } = require("node:http2");
const agent = new http.Agent({ keepAlive: true });
const server = createSecureServer({ allowHTTP1: true,
    cert: fs.readFileSync("%(cert)s"), key: fs.readFileSync("%(key)s") },
    (req, res) => {
	const headers = {};
	for (const name in req.headers)
		if (!name.startsWith(":"))
			headers[name] = req.headers[name];
	const on = http.request({ agent, host: "127.0.0.1", port: %(backend)d,
	    method: req.method, path: req.url, headers }, (answer) => {
		for (const name of ["connection", "keep-alive",
		    "transfer-encoding"])
			delete answer.headers[name];
		res.writeHead(answer.statusCode, answer.headers);
		res.flushHeaders?.();
		answer.pipe(res);
		answer.on("error", () => res.destroy());
	});
	on.on("error", () => res.stream ? res.stream.close(2) : res.destroy());
	req.pipe(on);
	res.on("close", () => on.destroy());
});
const sessions = new Set();
server.on("session", (s) => sessions.add(s.on("close",
    () => sessions.delete(s))));
process.on("SIGHUP", () => { for (const s of sessions) s.close(); });
process.on("SIGUSR2", () => {
	for (const s of sessions)
		s.settings({ maxConcurrentStreams: 5 });
});
server.listen(%(port)d, "127.0.0.1");
"""


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/sbin:/usr/local/sbin")


class Front:
    """A program that speaks HTTP/2 and passes all on to a server of ours."""

    def __init__(self, case, name, backend):
        self.name = name
        self.tmp = os.path.join(case.tmp, name)
        os.mkdir(self.tmp)
        self.port = ports.free_port()
        values = {"tmp": self.tmp, "port": self.port,
                  "backend": backend.port, "cert": file("one.pem"),
                  "key": file("one.key")}
        with open(os.path.join(self.tmp, "both.pem"), "w") as out:
            for part in ("one.pem", "one.key"):
                with open(file(part)) as f:
                    out.write(f.read())
        text, args = {
            "nginx": (NGINX, ["-c", "conf", "-p", self.tmp]),
            "haproxy": (HAPROXY, ["-W", "-db", "-f", "conf"]),
            "node": (NODE, ["conf"])}[name]
        with open(os.path.join(self.tmp, "conf"), "w") as f:
            f.write(text % values)
        if name == "nginx":
            args[1] = os.path.join(self.tmp, "conf")
        self.log = open(os.path.join(self.tmp, "output"), "wb")
        self.process = subprocess.Popen(
            [program(name)] + args, cwd=self.tmp, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, start_new_session=True)
        case.addCleanup(self.close)
        limit = pace.Limit(20)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                if limit.left() <= 0 or self.process.poll() is not None:
                    with open(self.log.name) as f:
                        case.fail("%s does not start: %s" % (name, f.read()))
                time.sleep(0.02)
        self.url = "https://127.0.0.1:%d/mcp" % self.port

    def renew(self):
        """New workers; the old ones end their connections politely."""
        self.process.send_signal(signal.SIGUSR2 if self.name == "haproxy"
                                 else signal.SIGHUP)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()


FOUND = [name for name in ("nginx", "haproxy", "node") if program(name)]


class Servers(support.Case):
    def begin(self, name, *args):
        s = self.mcp()
        s.on_get = s.listen
        front = Front(self, name, s)
        p = self.splice(front.url, "--cacert", file("ca1.pem"), "--http2",
                        *args)
        p.server = s
        p.hello()
        return s, front, p, s.stream()

    def calls(self, s, p, name, n, ms=20):
        ids = [p.start("tools/call", {"name": "echo", "arguments": {
            "ms": ms, "key": "%s %d" % (name, i)}}) for i in range(n)]
        return lambda: [p.answer(i) for i in ids]

    def all_once(self, s, answers, name, n):
        for m in answers:
            self.assertIn("result", m)
        self.assertEqual([s.runs("%s %d" % (name, i)) for i in range(n)],
                         [1] * n)

    def test_work(self):
        def one(name):
            s, front, p, stream = self.begin(name)
            stream.event({"jsonrpc": "2.0",
                          "method": "notifications/tools/list_changed"})
            p.server_message("notifications/tools/list_changed")
            for turn in "ab":
                self.all_once(s, self.calls(s, p, turn, 10)(), turn, 10)
            text = "x" * 1000000
            self.assertIn(text,
                          p.tool(text=text)["result"]["content"][0]["text"])
            s.forget()
            self.all_once(s, self.calls(s, p, "lost", 10)(), "lost", 10)
            p.finish()
            self.assertEqual(s.inits(), 2)
        self.each(FOUND, one, 1)

    def test_many(self):
        """More than the 100 or 128 streams that a server allows."""
        def one(name):
            s, front, p, stream = self.begin(name)
            self.all_once(s, self.calls(s, p, "m", 200)(), "m", 200)
            p.finish()
        self.each(FOUND, one, 1)

    def test_renewed_under_calls(self):
        """GOAWAY while calls run, and while more are sent.  None runs twice.
        A few may be lost where libcurl does not tell that the server refused
        them, and this is what they say then."""
        def one(name):
            s, front, p, stream = self.begin(name)
            lost = 0
            for turn in range(5):
                got = self.calls(s, p, "r%d" % turn, 10, 100)
                front.renew()
                more = self.calls(s, p, "n%d" % turn, 10, 100)
                for kind, answers in ("r", got()), ("n", more()):
                    for i, m in enumerate(answers):
                        runs = s.runs("%s%d %d" % (kind, turn, i))
                        if "error" in m:
                            lost += 1
                            self.our_error(m, "stream_lost", "maybe")
                            self.assertLessEqual(runs, 1)
                        else:
                            self.assertEqual(runs, 1)
            self.assertLess(lost, 25)
            p.finish()
        self.each(FOUND, one, 1)

    def test_settings_change(self):
        """Node alone can be told to change them."""
        if "node" not in FOUND:
            return
        s, front, p, stream = self.begin("node")
        self.all_once(s, self.calls(s, p, "a", 30)(), "a", 30)
        front.process.send_signal(signal.SIGUSR2)
        for turn in "bcd":
            self.all_once(s, self.calls(s, p, turn, 30)(), turn, 30)
        p.finish()

    def test_killed_under_calls(self):
        """The answers never come: each is told so, and runs once at most."""
        def one(name):
            s, front, p, stream = self.begin(name, "--retry-window", "1")
            got = self.calls(s, p, "k", 10, 500)
            s.wait(lambda: s.runs("k 9"))
            os.killpg(front.process.pid, signal.SIGKILL)
            for m in got():
                self.our_error(m, "stream_lost", "maybe")
            self.assertEqual([s.runs("k %d" % i) for i in range(10)],
                             [1] * 10)
            p.finish()
        self.each(FOUND, one, 1)


if __name__ == "__main__":
    if not FOUND:
        sys.stderr.write("no nginx, haproxy or node\n")
        sys.exit(77)
    sys.stderr.write("with %s\n" % ", ".join(FOUND))
    test_tls.main()
