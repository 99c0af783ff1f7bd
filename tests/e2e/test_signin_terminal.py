"""`mcpsplice login` while a proxy that has no browser waits for the user."""

import re
import time

import authserver
import support


class Terminal(authserver.Case):
    def waiting(self, m, *args):
        """A proxy that has only shown the URL."""
        p = self.splice(m, "--no-browser", *args)
        p.send(support.init("hello"))
        end = time.monotonic() + support.LIVE
        while not re.search(r"open http\S+ in a browser", p.err()):
            self.assertLess(time.monotonic(), end, p.err())
            time.sleep(0.05)
        return p

    def test_login_opens_the_browser_of_the_other(self):
        a = self.auth()
        m = self.protected(a)
        b = self.browser()
        p = self.waiting(m)
        status, out, err = self.once(["login", m.url, "--browser", b.command])
        self.assertEqual(status, 0, err)
        self.assertIn(b"Signed in", out)
        self.assertIn("result", p.answer("hello"))
        self.assertEqual(len(b.opened()), 1)
        self.assertEqual(a.counts["register"], 1)
        self.assertEqual(a.counts["authorize"], 1)

    def test_not_while_a_tab_is_open(self):
        """The proxy's own browser is enough."""
        a = self.auth()
        m = self.protected(a)
        slow, other = self.browser(delay=2), self.browser()
        p = self.splice(m, "--browser", slow.command)
        p.send(support.init("hello"))
        end = time.monotonic() + support.LIVE
        while not slow.opened():
            self.assertLess(time.monotonic(), end, p.err())
            time.sleep(0.05)
        status, out, err = self.once(["login", m.url,
                                      "--browser", other.command])
        self.assertEqual(status, 0, err)
        self.assertIn("result", p.answer("hello"))
        self.assertEqual(len(slow.opened()), 1)
        self.assertEqual(other.opened(), [])


if __name__ == "__main__":
    support.main()
