"""What people see: stderr, the log file, the dump."""

import json
import os
import signal
import stat

import support
from support import INITIALIZED, call, init, lines


class Stderr(support.Case):
    def talk(self, *args):
        s = self.mcp()
        p = self.splice(s, *args)
        p.hello()
        p.tool()
        s.forget()
        p.tool()
        p.finish()
        return p.err()

    def test_quiet_by_default(self):
        """Hosts show stderr as errors: one line for a lost session."""
        err = self.talk()
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("new session", err)
        self.assertIn("1 request sent again", err)
        self.assertEqual(self.talk("-q"), "")

    def test_verbose(self):
        one, two = self.talk("-v"), self.talk("-vv")
        self.assertNotEqual(one, "")
        self.assertGreater(len(two), len(one))
        self.assertIn("session", one.lower())

    def test_switches_may_be_repeated(self):
        self.assertNotEqual(self.talk("-v", "--verbose"), "")

    def test_warnings_and_quiet(self):
        for args, said in (([], True), (["-q"], False)):
            s = self.mcp()
            p = self.splice(s, "-H", "Authorization: Bearer abcdefgh", *args)
            p.hello()
            p.finish()
            self.assertEqual(p.err() != "", said, p.err())

    def test_text_from_the_network_is_escaped(self):
        s = self.mcp()
        evil = "\x1b[2J\x1b]0;owned\x07\u202eabc\x00\r\x9b31m"
        p = self.splice(s, "-vv")
        p.hello()
        s.methods["tools/call"] = lambda rx, tx: tx.text(500, evil)
        p.tool()
        p.finish()
        raw = p.err()
        for c in ("\x1b", "\x07", "\u202e", "\x00", "\r", "\x9b"):
            self.assertNotIn(c, raw)

    def test_json(self):
        err = self.talk("-vv", "--log-format", "json")
        rows = [json.loads(x) for x in err.splitlines()]
        self.assertGreater(len(rows), 2)
        self.assertTrue(all(isinstance(r, dict) for r in rows))

    def test_one_record_one_line(self):
        s = self.mcp()
        p = self.splice(s, "-vv", "--log-format", "json")
        p.hello()
        s.methods["tools/call"] = lambda rx, tx: tx.text(
            500, 'two\nlines "quoted" \\ \xff' + "x" * 10000)
        p.tool()
        p.finish()
        for x in p.err().splitlines():
            json.loads(x)

    def test_full_stderr_is_no_trouble(self):
        """Nobody reads stderr: it neither stops nor dies."""
        s = self.mcp()
        r, w = os.pipe()
        p = self.splice(s)
        p.finish()
        import subprocess
        q = subprocess.Popen([support.PROGRAM, "-vv", s.url], stderr=w,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.close(r)     # and even broken
        try:
            out, _ = q.communicate(lines(init(1), INITIALIZED, call(2)),
                                   support.LIVE)
        finally:
            q.kill()
            os.close(w)
        self.assertEqual(q.returncode, 0)
        self.assertEqual(len(out.splitlines()), 2)


class LogFile(support.Case):
    def test_appended_with_pid(self):
        f = self.path("log", "before\n", 0o600)
        s = self.mcp()
        pids = []
        for _ in range(2):
            p = self.splice(s, "-v", "--log-file", f)
            p.hello()
            p.finish()
            pids.append(p.pid)
        with open(f) as h:
            rows = h.read().splitlines()
        self.assertEqual(rows[0], "before")
        self.assertGreater(len(rows), 2)
        for row in rows[1:]:
            self.assertTrue(any(str(n) in row for n in pids), row)
        for n in pids:
            self.assertTrue(any(str(n) in row for row in rows[1:]))

    def test_mode(self):
        f = self.path("log")
        s = self.mcp()
        p = self.splice(s, "-v", "--log-file", f)
        p.hello()
        p.finish()
        self.assertEqual(stat.S_IMODE(os.stat(f).st_mode) & 0o077, 0)

    def test_cannot_be_opened(self):
        """A log that fails is a warning, not the end of the work."""
        s = self.mcp()
        p = self.splice(s, "--log-file", "/nonexistent/log")
        p.send(init(1))
        p.find(lambda m: m.get("id") == 1, 5)
        p.close()
        status = p.wait()
        p.finished = True
        self.assertIn(status, (0, 1, 2))
        self.assertIn("/nonexistent/log", p.err())

    def test_json(self):
        f = self.path("log")
        s = self.mcp()
        p = self.splice(s, "-v", "--log-file", f, "--log-format", "json")
        p.hello()
        p.finish()
        with open(f) as h:
            rows = [json.loads(x) for x in h]
        self.assertTrue(rows)
        self.assertIn(str(p.pid), json.dumps(rows[0]))

    @support.alone
    def test_rotation(self):
        """Two files of 5 MiB at most."""
        f = self.path("log", "x" * 99 + "\n", 0o600)
        with open(f, "ab") as h:
            h.write((b"x" * 99 + b"\n") * 52429)
        s = self.mcp()
        p = self.splice(s, "-vv", "--log-file", f)
        p.hello()
        p.tool()
        p.finish()
        names = sorted(n for n in os.listdir(self.tmp)
                       if n.startswith("log"))
        self.assertEqual(len(names), 2, names)
        sizes = [os.path.getsize(self.path(n)) for n in names]
        self.assertLess(min(sizes), 1 << 20, sizes)
        self.assertLess(max(sizes), 6 << 20, sizes)


class Dump(support.Case):
    def test_usr1(self):
        s, p = self.pair()
        s.forget()
        p.tool()
        s.methods["tools/call"] = lambda rx, tx: (s.closing.wait(3),
                                                  tx.result({}))
        p.send(call(7, name="slow"))
        self.assertTrue(s.wait(lambda: len(s.executed) == 2))
        before = p.err()
        os.kill(p.pid, signal.SIGUSR1)
        self.assertTrue(s.wait(lambda: len(p.err()) > len(before) + 50, 5))
        self.let(0.2)
        text = p.err().lower()
        self.assertIn("session", text)
        self.assertIn("generation", text)
        self.assertNotIn("\\x0a", text)
        self.assertRegex(text, r"(?m)^mcpsplice: calls: 1 open")
        self.assertTrue(p.alive())
        os.kill(p.pid, signal.SIGUSR1)
        p.answer(7)
        p.finish()

    def test_usr1_before_anything(self):
        s = self.mcp()
        p = self.splice(s)
        p.ask("ping")
        os.kill(p.pid, signal.SIGUSR1)
        self.assertTrue(s.wait(lambda: p.err(), 5))
        self.assertEqual(p.ask("ping")["result"], {})
        p.finish()


if __name__ == "__main__":
    support.main()
