"""What "mcpsplice status" and "mcpsplice report" tell of the processes that
hosts started."""

import json
import os
import time

import support
from support import LIVE


class Status(support.Case):
    def notes(self, *args):
        """What status --json tells, once it tells of a process."""
        return self.when(lambda found: found, *args)

    def when(self, holds, *args):
        end = time.monotonic() + LIVE
        while True:
            rc, out, err = self.once(["status", "--json", *args])
            found = json.loads(out)["processes"]
            if holds(found):
                return found
            self.assertLess(time.monotonic(), end, (out, err))
            time.sleep(0.05)

    def test_a_process_that_runs(self):
        s, p = self.pair()
        note, = self.notes()
        self.assertEqual(
            {k: note[k] for k in ("lives", "pid", "server", "client",
                                  "parent_pid", "session", "trouble")},
            {"lives": True, "pid": p.proc.pid, "server": s.url,
             "client": "codex-mcp-client e2e 1", "parent_pid": os.getpid(), "session": 1,
             "trouble": []})
        s.forget()
        p.tool()
        again, = self.when(lambda found: found[0]["session"] == 2)
        self.assertGreaterEqual(again["session_began"], note["session_began"])
        rc, out, err = self.once(["status"])
        self.assertEqual(rc, 0, err)
        for text in ("Processes:\n%s\n" % s.url, "host      codex-mcp-client e2e 1, started by",
                     "session   number 2, since "):
            self.assertIn(text, out.decode())
        p.finish()
        self.assertEqual(self.once(["status"])[1], b"Not signed in.\n")
        rc, out, err = self.once(["status", "--json"])
        self.assertEqual(json.loads(out), {"sign_ins": [], "processes": []})

    def test_what_went_wrong_an_hour_ago(self):
        url = "http://127.0.0.1:1/mcp?key=hidden-from-all"
        p = self.splice(url, "--quiet")
        p.send(support.init())
        p.answer(1)
        p.finish()
        self.assertEqual(p.err(), "")
        note, = self.notes(url)
        self.assertFalse(note["lives"])
        self.assertIn("127.0.0.1:1", note["trouble"][0]["text"])
        self.assertIn("cannot be reached", note["trouble"][-1]["text"])
        rc, out, err = self.once(["status", url])
        self.assertEqual(rc, 1)
        self.assertIn("ended; started", out.decode())
        self.assertIn(note["trouble"][0]["text"], out.decode())
        self.assertNotIn(b"hidden", out)
        # of no interest to who asks what runs, or about another server
        self.assertNotIn(b"Processes", self.once(["status"])[1])
        self.assertNotIn(b"Processes",
                         self.once(["status", "http://127.0.0.1:2/mcp"])[1])

    def test_what_only_the_host_was_told(self):
        """The error of its initialize, which it does not show."""
        url = self.http(lambda rx, tx: tx.text(404, "nothing here")).url
        p = self.splice(url)
        p.send(support.init())
        self.assertIn("no MCP server at this path",
                      p.answer(1)["error"]["message"])
        p.finish()
        self.assertIn("no MCP server at this path",
                      self.once(["status", url])[1].decode())

    def test_killed(self):
        s, p = self.pair()
        self.notes()
        p.kill()
        rc, out, err = self.once(["status", "--json"])
        self.assertEqual(json.loads(out)["processes"], [])

    def test_nothing_is_kept(self):
        s, p = self.pair("--no-memory")
        p.finish()
        self.assertFalse(os.path.exists(
            os.path.join(self.home, ".local/state/mcpsplice/processes")))

    def test_report(self):
        s = self.mcp()
        rc, out, err = self.once(
            ["report", s.url + "?key=hidden-from-all", "-H",
             "Authorization: Bearer hidden-from-all",
             "--browser", "open --key sk-hidden0123456789",
             "--authorize-param", "hint=hidden-param", "--auth-store",
             "helper:keep --pass hidden"])
        self.assertEqual(rc, 0, err)
        path = os.path.join(self.home, ".local/state/mcpsplice/report.txt")
        self.assertTrue(out.decode().startswith(
            "The report is in %s. " % path), out)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path) as f:
            text = f.read()
        for part in ("--- version ---\nmcpsplice ", "--- --show-config ---\n",
                     "--- check ---\n", "session ", "--- status ---\n"):
            self.assertIn(part, text)
        self.assertNotIn("hidden", text)
        for line in ("browser +open \\(set\\) ", "authorize-param +hint \\(set\\)",
                     "auth-store +helper:keep \\(set\\)"):
            self.assertRegex(text, line)

    def test_report_of_an_account_of_that_name(self):
        """The value of an option is not the command."""
        rc, out, err = self.once(["--profile", "report", "report"])
        self.assertEqual(rc, 0, err)
        with open(os.path.join(self.home,
                               ".local/state/mcpsplice/report.txt")) as f:
            text = f.read()
        self.assertIn("--- status ---\nNot signed in.\n", text)

    def test_report_without_a_url(self):
        rc, out, err = self.once(["report"])
        self.assertEqual(rc, 0, err)

    def test_report_without_a_home(self):
        rc, out, err = self.once(["report"], env={"HOME": ""})
        self.assertEqual(rc, 1)
        self.assertIn("HOME", err)


if __name__ == "__main__":
    support.main()
