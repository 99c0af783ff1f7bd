"""Signing in with many processes: one browser tab, one registration and one
refresh, however many copies run and however many are killed."""

import fcntl
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

import authserver
import ports
import support
from support import INITIALIZED, LIVE, alone, init, note, request

WANTS = re.compile(r"sign in to \S+: open (\S+) in a browser")
LONG = 3 * LIVE
FOLDER = "~/.local/state/mcpsplice/auth"


def never(event):
    """Cuts the connection when the event is set; the request had no effect."""
    return authserver.both(authserver.hold(event), authserver.cut())


def late(event):
    """The request has its effect; the answer waits for the event."""
    def step(rx, tx):
        def edit(doc):
            while not event.wait(0.05) and not tx.server.closing.is_set():
                pass
            return doc
        return edit
    return step


class Case(authserver.Case):
    """Finds the processes of the test by their HOME."""

    def setUp(self):
        super().setUp()
        if not os.path.isdir("/proc/self"):
            self.skipTest("processes are known by /proc")
        self.a = self.auth()
        self.m = self.protected(self.a)
        self.b = self.browser()
        self.free = threading.Event()
        self.port = ports.free_port()

    def tearDown(self):
        self.free.set()
        result = self._outcome.result
        left = {}
        try:
            if not result.failures and not result.errors:
                for p in self.running:
                    if not p.finished:
                        p.finish()
                if not self.wait(lambda: not self.processes()):
                    left = self.processes()
        finally:
            for pid in self.processes():
                self.kill(pid)
            super().tearDown()
        self.assertEqual(left, {}, "processes that outlive their use")

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self, test, seconds=LONG):
        return self.a.wait(test, seconds)

    def until(self, test, what, seconds=LONG):
        value = self.wait(test, seconds)
        if not value:
            self.fail("%s: not in %.0f s; %s; stderr %s" % (
                what, seconds, self.processes(),
                [p.err()[-600:] for p in self.running]))
        return value

    # processes

    def processes(self):
        """pid -> argv of all processes that have the test's HOME."""
        found = {}
        mark = b"HOME=" + self.home.encode()
        for name in os.listdir("/proc"):
            if not name.isdigit() or support.gone(int(name)):
                continue
            try:
                with open("/proc/%s/environ" % name, "rb") as f:
                    if mark not in f.read().split(b"\0"):
                        continue
                with open("/proc/%s/cmdline" % name, "rb") as f:
                    argv = f.read().decode().split("\0")[:-1]
            except OSError:
                continue
            found[int(name)] = argv
        return found

    def like_logins(self):
        """The login processes, and any child that one has just forked: until
        the child becomes the browser it has the login process's arguments."""
        return [pid for pid, argv in self.processes().items()
                if "--agent" in argv]

    def named(self, pid):
        """The name of the process that ps and ss show."""
        with open("/proc/%d/comm" % pid) as f:
            return f.read().strip()

    def logins(self):
        """The pids of the login processes."""
        like = self.like_logins()
        return [pid for pid in like if self.parent(pid) not in like]

    @staticmethod
    def parent(pid):
        try:
            with open("/proc/%d/stat" % pid) as f:
                return int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            return None

    def login_of(self, p):
        mine = [pid for pid in self.logins() if self.parent(pid) == p.pid]
        return mine[0] if mine else None

    def asks(self, login):
        """Fails unless this is the login process that holds the login
        lock.  The system gives the list of locks in pieces, so a lock may be
        missing from it while other programs take and release theirs."""
        self.assertEqual(self.until(self.asking, "a login lock is held"),
                         login)

    def asking(self):
        """The login process that holds the login lock, or None."""
        with open("/proc/locks") as f:
            held = {(int(line.split()[4]), line.split()[5].split(":")[2])
                    for line in f if " FLOCK " in line and "->" not in line}
        inode = None
        for name in self.files():
            if name.startswith("lock-login-"):
                inode = str(os.stat(os.path.join(self.store(), name)).st_ino)
        for pid, ino in held:
            if ino == inode and pid in self.logins():
                return pid
        return None

    def nobody_left(self):
        self.until(lambda: not self.processes(), "no process left")

    # the store

    def files(self):
        try:
            return os.listdir(self.store())
        except FileNotFoundError:
            return []

    def records(self):
        return [os.path.join(self.store(), n) for n in self.files()
                if n.endswith(".json")]

    def record(self):
        """The one record, or {}."""
        names = self.records()
        if not names:
            return {}
        return authserver.read_record(names[0])

    def rewrite(self, edit):
        """Edits the record as another copy would write it."""
        path, = self.records()
        doc = authserver.read_record(path)
        edit(doc)
        new = os.path.join(self.store(), "new")
        with open(new, "w", opener=lambda n, fl: os.open(n, fl, 0o600)) as f:
            json.dump(doc, f)
        os.rename(new, path)

    def lock(self, name):
        """Takes a lock as another process would; returns its descriptor."""
        os.makedirs(self.store(), mode=0o700, exist_ok=True)
        fd = os.open(os.path.join(self.store(), name),
                     os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        return fd

    # proxies

    def start(self, *args, server=None, port=True):
        """Starts a proxy, whose callback has a port that no other process gets
        by chance: a client is registered again when its port is taken."""
        if port:
            args += ("--callback-port", self.port)
        # a stand-in would answer if the sign-in took 20 s on a slow machine
        return self.splice(server or self.m, "--browser", self.b.command,
                           "--start", "wait", *args)

    def starts(self, n, *args, port=True):
        ps = [self.start(*args, port=port) for _ in range(n)]
        for p in ps:
            p.send(init("hello"))
        return ps

    def works(self, p, ident="hello"):
        """The proxy's initialize is answered, and a call after it."""
        answer = p.answer(ident, LONG)
        self.assertIn("result", answer, p.err()[-2000:])
        p.send(INITIALIZED)
        self.calls(p)

    def calls(self, p):
        key = "key-%d" % self.count()
        answer = p.tool(key=key, seconds=LONG)
        self.assertIn("result", answer, p.err()[-2000:])
        self.assertEqual(p.server.runs(key), 1)

    def fall(self, p):
        """Kills the proxy and its login process; those of others live on."""
        like = self.like_logins()
        logins = [pid for pid in like if self.parent(pid) == p.pid]
        logins += [pid for pid in like if self.parent(pid) in logins]
        p.kill()
        for pid in logins:
            self.kill(pid)
        self.until(lambda: not set(logins) & set(self.logins()),
                   "they are dead")

    def shown(self, p):
        """Waits for the proxy to show the sign-in URL on stderr, and returns
        all that it has shown."""
        self.until(lambda: WANTS.search(p.err()), "the URL on stderr")
        return WANTS.findall(p.err())

    def signed_in(self, n=1):
        """n proxies that have signed in and answered a call."""
        ps = self.starts(n)
        for p in ps:
            self.works(p)
        # a later GET could be the request that finds the token expired
        self.until(lambda: sum(
            r.target == "/mcp" and r.done is not None
            for r in self.m.seen(method="GET")) == n,
            "all asked for the stream")
        self.until(lambda: not self.logins(), "the login processes end")
        self.counted(opened=1)
        return ps

    def outdate(self):
        """The token expires, by its own expires_at and for the server."""
        self.a.expire()

        def edit(doc):
            now = int(time.time())
            doc["token"]["obtained_at"] = now - 3600
            doc["token"]["expires_at"] = now - 1
        self.rewrite(edit)

    def counted(self, opened, registrations=1, authorizations=None,
                codes=None, reuse=0):
        a = self.a
        got = (len(self.b.opened()), a.registrations, a.authorizations,
               a.given["authorization_code"], a.reuse_events)
        due = (opened, registrations,
               opened if authorizations is None else authorizations,
               opened if codes is None else codes, reuse)
        self.assertEqual(got, due, "tabs, registrations, authorizations, "
                         "tokens by code, reuse")

    def refreshes(self):
        return self.a.token_requests("refresh_token"), \
            self.a.given["refresh_token"]


class Cold(Case):
    @alone
    def test_eight(self):
        ps = self.starts(8)
        for p in ps:
            self.works(p)
        self.counted(opened=1)
        self.assertEqual(self.a.token_requests(), 1)
        for p in ps:
            p.finish()
        self.nobody_left()

    @alone
    def test_eight_and_a_slow_person(self):
        self.a.script("authorize", authserver.hold(self.free))
        ps = self.starts(8, "--init-timeout", "100")
        urls = {url for p in ps for url in self.shown(p)}
        self.assertEqual(len(urls), 1)
        self.until(self.b.opened, "a tab")
        self.assertEqual(self.b.opened(), list(urls))
        self.free.set()
        for p in ps:
            self.works(p)
        self.counted(opened=1)

    @alone
    def test_eight_and_a_no(self):
        self.a.script("authorize", authserver.both(
            authserver.hold(self.free), authserver.deny()))
        ps = self.starts(8)
        for p in ps:
            self.shown(p)
        self.free.set()
        said = []
        for p in ps:
            e = self.our_error(p.answer("hello", LONG), "auth_required", "no")
            said.append(e["message"])
        self.assertEqual(sum("access_denied" in t and "The person said no"
                             in t for t in said), 1, said)
        self.assertEqual(sum("the last sign-in failed" in t
                             for t in said), 7, said)
        # a proxy that starts later does not ask the user, either
        late_one = self.starts(1)[0]
        e = self.our_error(late_one.answer("hello", LONG), "auth_required")
        self.assertIn("mcpsplice login", e["message"])
        self.counted(opened=1, codes=0)
        self.assertEqual(self.a.token_requests(), 0)

    @alone
    def test_eight_and_a_token_endpoint_that_is_down(self):
        """The user has signed in, so the other copies do not ask again."""
        self.a.always("token", authserver.status(503))
        # the callback port stays in use for a moment
        ps = self.starts(8, "--retry-window", "0", port=False)
        for p in ps:
            self.our_error(p.answer("hello", LONG), "auth_required", "no")
        self.counted(opened=1, codes=0)
        self.assertEqual(self.a.token_requests(), 1)

    def test_first_is_killed(self):
        self.a.script("authorize", authserver.hold(self.free))
        ps = self.starts(4)
        url = self.shown(ps[0])
        login = self.until(self.asking, "one asks")
        for p in ps:
            self.assertEqual(self.shown(p), url)
        dead = [p for p in ps if p.pid == self.parent(login)]
        self.assertEqual(len(dead), 1)
        dead[0].kill()
        ps.remove(dead[0])
        ps += self.starts(1)
        self.assertEqual(self.shown(ps[-1]), url)
        self.asks(login)
        self.free.set()
        for p in ps:
            self.works(p)
        self.counted(opened=1)

    def test_waiting_ones_are_killed(self):
        self.a.script("authorize", authserver.hold(self.free))
        ps = self.starts(4)
        for p in ps:
            self.shown(p)
        login = self.until(self.asking, "one asks")
        first = [p for p in ps if p.pid == self.parent(login)][0]
        self.assertEqual(len(self.logins()), 4)
        for p in ps:
            if p is not first:
                p.kill()
        self.until(lambda: self.logins() == [login], "the waiting ones end")
        self.free.set()
        self.works(first)
        self.counted(opened=1)

    def test_all_are_killed(self):
        self.a.script("authorize", authserver.hold(self.free))
        ps = self.starts(3)
        for p in ps:
            self.shown(p)
        for p in ps:
            p.kill()
        self.until(lambda: len(self.logins()) == 1, "the others end")
        self.free.set()
        self.nobody_left()
        self.assertIn("access_token", json.dumps(self.record()))
        p, = self.starts(1)
        self.works(p)
        self.assertNotIn("sign in to ", p.err())
        self.counted(opened=1)

    def test_who_opens_the_tab(self):
        """A waiting login process opens the tab only if the one that holds the
        lock has no browser: with a browser, that one opens it itself."""
        self.a.script("authorize", authserver.hold(self.free))
        p, = self.starts(1)
        self.until(self.b.opened, "a tab")
        pending, = [n for n in self.files() if n.startswith("pending-")]
        self.fall(p)
        lock = self.lock(pending.replace("pending-", "lock-login-"))
        page = self.http(lambda rx, tx: tx.text(200, "sign in")).url
        for url, asked in ((page + "?its", time.time()), (page + "?our", 0)):
            new = os.path.join(self.store(), "new")
            with open(new, "w", opener=lambda n, f: os.open(n, f, 0o600)) as f:
                f.write("url %s\nasked %d\n" % (url, asked))
            os.rename(new, os.path.join(self.store(), pending))
            if asked:
                q, = self.starts(1)
            self.until(lambda: url in q.err(), "the URL on stderr")
        self.until(lambda: len(self.b.opened()) > 1, "another tab")
        self.assertEqual(self.b.opened()[1:], [page + "?our"])
        self.fall(q)
        os.close(lock)
        self.free.set()

    def ended(self, end, limit):
        self.a.script("authorize", authserver.hold(self.free))
        p = self.start("--init-timeout", limit)
        p.send(init("hello"))
        url = self.shown(p)
        end(p)
        self.assertEqual(p.wait(LONG), 0)
        e = self.our_error(p.answer("hello"))
        p.finish()
        login, = self.logins()
        self.assertEqual(self.named(login), "mcpsplice")
        self.assertEqual(self.processes()[login][0], "mcpsplice")
        q, = self.starts(1)
        self.assertEqual(self.shown(q), url)
        self.asks(login)
        self.free.set()
        self.works(q)
        self.counted(opened=1)
        return e

    def test_host_closes_stdin(self):
        e = self.ended(lambda p: p.close(), "4")
        self.assertEqual(e["data"]["reason"], "auth_required")
        self.assertIn(self.b.url(), e["message"])

    def test_host_sends_sigterm(self):
        self.ended(lambda p: p.proc.terminate(), "60")

    def test_group_is_killed(self):
        """The process group is killed, as a terminal or a host may do: the
        login process is not in it."""
        self.a.script("authorize", authserver.hold(self.free))
        p, = self.starts(1)
        self.shown(p)
        login, = self.logins()
        self.assertEqual(os.getsid(login), login)
        self.assertNotEqual(os.getpgid(login), os.getpgid(p.pid))
        p.kill()
        self.free.set()
        self.nobody_left()
        self.works(self.starts(1)[0])
        self.counted(opened=1)


class Codes(Case):
    def test_another_code_for_another_copy(self):
        """The page is the same for all codes: the login process that takes
        over shows its own code."""
        self.a.device_polls = None
        self.a.always("device",
                      authserver.without("verification_uri_complete"))
        p = self.splice(self.m, "--auth", "device")
        p.send(init(1))
        self.until(lambda: "ABCD-0001" in p.err(), "the first code")
        q = self.splice(self.m, "--auth", "device")
        q.send(init(1))
        self.until(lambda: "ABCD-0001" in q.err(), "the same for the second")
        os.kill(self.login_of(p), signal.SIGKILL)
        self.until(lambda: "ABCD-0002" in q.err(), "a code of its own")
        self.a.approve("ABCD-0002")
        self.assertIn("result", q.answer(1))


class Killed(Case):
    """The proxy and its login process are killed, at every step."""

    def dies_at(self, endpoint, step, path=None):
        """Both are killed at this endpoint; the next proxy works."""
        self.a.script(endpoint, step)
        p, = self.starts(1)
        self.until(lambda: self.a.seen_at(path or "/" + endpoint), endpoint)
        self.fall(p)
        q, = self.starts(1)
        self.works(q)
        self.free.set()

    def test_before_discovery(self):
        self.dies_at("metadata", authserver.hold(self.free),
                     "/.well-known/oauth-authorization-server")
        self.counted(opened=1)

    def test_before_registration(self):
        self.dies_at("register", authserver.hold(self.free))
        self.until(lambda: self.a.registrations == 2, "both")
        self.counted(opened=1, registrations=2)

    def test_registration_not_stored(self):
        self.dies_at("register", late(self.free))
        self.counted(opened=1, registrations=2)

    def test_registered_before_the_browser(self):
        tab = self.lock("lock-tab")
        p, = self.starts(1)
        first = self.shown(p)
        self.fall(p)
        self.assertEqual(self.b.opened(), [])
        os.close(tab)
        q, = self.starts(1)
        self.works(q)
        self.assertNotIn(first[0], q.err())
        self.counted(opened=1, registrations=1)

    def test_browser_is_open(self):
        """The next login process refuses the killed one's redirect."""
        self.a.script("authorize", authserver.hold(self.free))
        p, = self.starts(1)
        self.until(lambda: self.a.authorizations == 1, "a page")
        first = self.shown(p)
        self.fall(p)
        again = threading.Event()
        self.a.script("authorize", authserver.hold(again))
        q, = self.starts(1)
        self.until(lambda: len(self.b.opened()) == 2, "a second tab")
        self.assertNotIn(first[0], q.err())
        self.free.set()
        self.until(lambda: self.b.pages(), "the first page ends")
        self.assertNotEqual(self.b.pages()[0]["status"], 200)
        again.set()
        self.works(q)
        self.counted(opened=2, codes=1)

    def test_code_not_sent(self):
        self.dies_at("token", authserver.hold(self.free))
        # the killed process's token request is answered, too
        self.until(lambda: self.a.given["authorization_code"] == 2, "both")
        self.counted(opened=2)
        self.assertEqual(self.a.token_requests(), 2)

    def test_token_not_stored(self):
        self.dies_at("token", late(self.free))
        self.counted(opened=2)

    def test_token_stored(self):
        held = threading.Event()
        self.m.init.append(lambda rx, tx: (authserver.hold(held)(rx, tx),
                                           self.m.initialize(rx, tx)))
        p, = self.starts(1)
        self.until(lambda: self.record().get("token"), "a token")
        self.fall(p)
        held.set()
        self.works(self.starts(1)[0])
        self.counted(opened=1)
        self.assertEqual(self.a.token_requests(), 1)

    def agent_dies(self, endpoint, step):
        """Only the login process is killed: the proxy reports that, and a
        later initialize works."""
        self.a.script(endpoint, step)
        p, = self.starts(1)
        self.until(lambda: self.a.counts[endpoint] >= 1, endpoint)
        login, = self.logins()
        self.kill(login)
        e = self.our_error(p.answer("hello"), "auth_required", "no")
        self.assertIn("login process", e["message"])
        self.free.set()

        def again():
            p.next_id += 1
            p.send(init(p.next_id))
            return "result" in p.answer(p.next_id, LONG)
        self.until(again, "a later initialize")
        p.send(INITIALIZED)
        self.calls(p)
        return p

    def test_agent_at_registration(self):
        self.agent_dies("register", authserver.hold(self.free))
        self.counted(opened=1, registrations=2)

    def test_agent_while_the_browser_is_open(self):
        self.agent_dies("authorize", authserver.hold(self.free))
        self.counted(opened=2, codes=1)

    def test_agent_at_token(self):
        self.agent_dies("token", late(self.free))
        self.counted(opened=2)

    def test_the_next_waiting_one_takes_over(self):
        self.a.script("authorize", authserver.hold(self.free))
        ps = self.starts(3)
        for p in ps:
            self.shown(p)
        login = self.until(self.asking, "one asks")
        dead = [p for p in ps if p.pid == self.parent(login)][0]
        dead.kill()
        self.kill(login)
        ps.remove(dead)
        for p in ps:
            self.works(p)
        self.counted(opened=2, codes=1)
        self.free.set()

    # refresh

    def refresh_dies(self, step, everybody=True):
        """p is killed while its refresh is under way (or only its login
        process); then q makes a call."""
        p, q = self.signed_in(2)
        self.outdate()
        self.a.script("token", step)
        ident = p.start("tools/call", {"name": "echo", "arguments": {}})
        self.until(lambda: self.a.token_requests("refresh_token") == 1,
                   "a refresh")
        if everybody:
            self.fall(p)
        else:
            self.kill(self.login_of(p))
            self.assertIn("error", p.answer(ident))
        self.calls(q)
        self.free.set()
        return p, q

    def test_refresh_not_sent(self):
        self.refresh_dies(never(self.free))
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (2, 1))

    def test_refresh_not_sent_agent_only(self):
        self.refresh_dies(never(self.free), False)
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (2, 1))

    def test_refresh_not_stored(self):
        """This is the one case with a reuse of a refresh token: it costs one
        new login."""
        p, q = self.refresh_dies(late(self.free))
        for _ in range(3):
            self.calls(q)
        self.counted(opened=2, reuse=1)
        self.assertEqual(self.refreshes(), (2, 1))

    def test_refresh_not_stored_with_grace(self):
        self.a.grace = 600
        self.refresh_dies(late(self.free))
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (2, 2))

    def answer_lost(self):
        """The answer to a refresh is lost; no process is killed."""
        p, = self.signed_in()
        self.outdate()
        self.a.script("token", authserver.lost())

        def again():
            return "result" in p.tool(key="again", seconds=LONG)
        self.until(again, "a call that works")
        self.assertEqual(self.m.runs("again"), 1)
        for _ in range(3):
            self.calls(p)

    def test_refresh_lost(self):
        """The server takes the second refresh for a theft: one new login."""
        self.answer_lost()
        self.counted(opened=2, reuse=1)
        self.assertEqual(self.refreshes(), (2, 1))

    def test_refresh_lost_with_grace(self):
        self.a.grace = 600
        self.answer_lost()
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (2, 2))

    def test_refresh_lost_and_one_call(self):
        """The refresh is sent again at once: no call fails, and no later call
        is needed while the server still takes the old refresh token."""
        self.a.grace = 600
        p, = self.signed_in()
        self.outdate()
        self.a.script("token", authserver.lost())
        self.assertIn("result", p.tool(key="one", seconds=LONG))
        self.assertEqual(self.m.runs("one"), 1)
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (2, 2))

    def test_refresh_lost_and_lost(self):
        """The call waits while the refresh is tried again, as it would for
        the MCP server."""
        self.a.grace = 600
        p, = self.signed_in()
        self.outdate()
        self.a.script("token", authserver.cut(), authserver.cut(),
                      authserver.cut(), authserver.cut())
        self.assertIn("result", p.tool(key="one", seconds=LONG))
        self.assertEqual(self.m.runs("one"), 1)
        self.assertEqual(self.a.given["refresh_token"], 1)
        self.counted(opened=1)


class Refresh(Case):
    @alone
    def test_eight_at_once(self):
        ps = self.signed_in(8)
        for n, spoil in enumerate((self.outdate, self.a.expire)):
            spoil()
            with self.subTest(n=n):
                ids = [p.start("tools/call", {"name": "echo", "arguments": {
                    "key": "%d-%d" % (n, i)}}) for i, p in enumerate(ps)]
                for i, (p, ident) in enumerate(zip(ps, ids)):
                    self.assertIn("result", p.answer(ident, LONG), p.err())
                    self.assertEqual(self.m.runs("%d-%d" % (n, i)), 1)
                self.assertEqual(self.refreshes(), (n + 1, n + 1))
        self.counted(opened=1)
        self.until(lambda: not self.logins(), "the login processes end")

    def test_killed_while_it_is_under_way(self):
        """The proxy is killed during a refresh: its login process stores the
        token."""
        p, = self.signed_in()
        self.outdate()
        self.a.script("token", late(self.free))
        p.start("tools/call", {"name": "echo"})
        self.until(lambda: self.a.given["refresh_token"] == 1, "a refresh")
        p.kill()
        q, = self.starts(1)
        self.free.set()
        self.works(q)
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (1, 1))

    def watch_store(self, over, faults):
        """Checks that the record has readable tokens at every moment."""
        path, = self.records()
        looks = 0
        while not over.is_set():
            try:
                token = authserver.read_record(path)["token"]
                if not token["access_token"] or not token["refresh_token"]:
                    faults.append(repr(token))
            except (OSError, ValueError, KeyError) as e:
                faults.append(repr(e))
            looks += 1
            over.wait(0.001)
        self.looks = looks

    @alone
    def test_hundred_rounds(self):
        dice = random.Random(os.environ.get("E2E_SEED", "17"))
        ps = self.signed_in(4)
        over, faults = threading.Event(), []
        reader = threading.Thread(target=self.watch_store,
                                  args=(over, faults), daemon=True)
        reader.start()
        for n in range(100):
            self.a.expire()
            victim = dice.randrange(len(ps))
            due = [(p, p.start("tools/call", {"name": "echo"}))
                   for i, p in enumerate(ps) if i != victim]
            ps[victim].start("tools/call", {"name": "echo"})
            time.sleep(dice.random() * 0.06)
            ps[victim].kill()
            ps[victim], = self.starts(1)
            for p, ident in due:
                self.assertIn("result", p.answer(ident, LONG),
                              "round %d: %s" % (n, p.err()[-1000:]))
            answer = ps[victim].answer("hello", LONG)
            self.assertIn("result", answer, "round %d" % n)
            ps[victim].send(INITIALIZED)
        over.set()
        reader.join()
        for p in ps:
            self.calls(p)
        self.assertEqual(faults, [])
        self.assertGreater(self.looks, 100)
        self.counted(opened=1)
        asked, given = self.refreshes()
        self.assertEqual(asked, given)
        self.assertGreaterEqual(given, 100)


class Gone(Case):
    def test_refused_refresh_of_a_dead_proxy(self):
        """The proxy that waited for the refresh is dead: no tab is opened."""
        p, = self.signed_in()
        self.a.revoke()
        self.a.script("token", authserver.hold(self.free))
        p.start("tools/call", {"name": "echo"})
        self.until(lambda: self.a.token_requests("refresh_token") == 1,
                   "a refresh")
        p.kill()
        self.free.set()
        self.nobody_left()
        self.counted(opened=1)
        # the next proxy does open a tab
        self.works(self.starts(1)[0])
        self.counted(opened=2)

    def test_refused_refresh_beside_a_login(self):
        """Another process holds the login lock: the login process of the dead
        proxy ends instead of waiting for that lock."""
        p, = self.signed_in()
        self.a.revoke()
        self.a.script("token", authserver.hold(self.free))
        p.start("tools/call", {"name": "echo"})
        self.until(lambda: self.a.token_requests("refresh_token") == 1,
                   "a refresh")
        name, = [n for n in self.files() if n.startswith("lock-login-")]
        login = self.lock(name)
        p.kill()
        self.free.set()
        self.nobody_left()
        os.close(login)
        self.counted(opened=1)

    def test_login_that_nobody_ends(self):
        self.a.script("authorize", authserver.hold(self.free))
        p = self.start("--login-timeout", "3")
        p.send(init("hello"))
        self.shown(p)
        p.kill()
        self.until(lambda: not self.logins(), "it gives up")
        self.counted(opened=1, codes=0)


class Two(Case):
    def other(self):
        a = self.auth()
        return a, self.protected(a)

    def one_after_the_other(self, first, second):
        """first() and second() start proxies that each need a sign-in: the
        second tab is opened after the first sign-in."""
        ps = [first(), second()]
        for p in ps:
            p.send(init("hello"))
        urls = [self.shown(p) for p in ps]
        self.assertEqual([len(u) for u in urls], [1, 1])
        self.assertNotEqual(urls[0], urls[1])
        self.until(lambda: len(self.b.opened()) == 1, "a tab")
        self.settle(1.0)    # five looks at the lock
        self.assertEqual(len(self.b.opened()), 1)
        self.assertIn(self.b.url(), urls[0] + urls[1])
        self.free.set()
        for p in ps:
            self.works(p)
        self.assertEqual(sorted(self.b.opened()), sorted(urls[0] + urls[1]))
        return ps

    def test_servers(self):
        a, m = self.other()
        for s in (self.a, a):
            s.script("authorize", authserver.hold(self.free))
        self.one_after_the_other(self.start, lambda: self.start(
            server=m, port=False))
        for s in (self.a, a):
            self.assertEqual((s.registrations, s.authorizations,
                              s.token_requests()), (1, 1, 1))
        self.assertEqual(len(self.records()), 2)

    def test_profiles(self):
        self.a.script("authorize", authserver.hold(self.free),
                      authserver.hold(self.free))
        ps = self.one_after_the_other(
            lambda: self.start("--profile", "one"),
            lambda: self.start("--profile", "two", port=False))
        self.counted(opened=2, registrations=2)
        self.assertEqual(len(self.records()), 2)
        used = {self.m.seen("tools/call")[i].get("Authorization")
                for i in range(2)}
        self.assertEqual(len(used), 2)
        for p in ps:
            p.finish()
        q = self.start("--profile", "one")
        q.send(init("hello"))
        self.works(q)
        self.counted(opened=2, registrations=2)

    def test_tab_of_a_killed_one(self):
        """A killed login process no longer holds the tab lock."""
        a, m = self.other()
        self.a.script("authorize", authserver.hold(self.free))
        p, = self.starts(1)
        self.until(lambda: len(self.b.opened()) == 1, "a tab")
        q = self.start(server=m, port=False)
        q.send(init("hello"))
        self.shown(q)
        self.settle(1.0)
        self.assertEqual(len(self.b.opened()), 1)
        login = self.login_of(p)
        p.kill()
        self.kill(login)
        self.works(q)
        self.assertEqual(len(self.b.opened()), 2)
        self.assertEqual(a.authorizations, 1)


class Logout(Case):
    def leave(self, *args):
        env = dict(os.environ, HOME=self.home)
        return subprocess.Popen(
            [support.PROGRAM, "logout", self.m.url] + list(args), env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def test_while_a_refresh_is_under_way(self):
        p, = self.signed_in()
        self.outdate()
        self.a.script("token", late(self.free))
        p.start("tools/call", {"name": "echo"})
        self.until(lambda: self.a.given["refresh_token"] == 1, "a refresh")
        p.kill()
        out = self.leave()
        self.settle(0.5)
        self.assertIsNone(out.poll())
        self.assertEqual(self.a.counts["revoke"], 0)
        self.free.set()
        said = out.communicate(timeout=LONG)[0]
        self.assertEqual(out.returncode, 0, said)
        self.assertIn(b"Signed out", said)
        self.nobody_left()
        self.assertNotIn("token", self.record())
        self.assertTrue(all(f.dead for f in self.a.families.values()))
        # the refreshed token does not come back
        q, = self.starts(1)
        self.works(q)
        self.assertEqual(len(self.b.opened()), 2)
        self.assertEqual(self.a.reuse_events, 0)

    def test_those_that_run_notice(self):
        ps = self.signed_in(2)
        out = self.leave()
        said = out.communicate(timeout=LONG)[0]
        self.assertEqual(out.returncode, 0, said)
        # the token was revoked: the user is asked once for both proxies
        for p in ps:
            self.calls(p)
        self.assertEqual(len(self.b.opened()), 2)
        self.assertEqual(self.a.reuse_events, 0)


class BadStore(Case):
    def mount(self, *options):
        """Mounts a file system for the store; works only as root."""
        os.makedirs(self.store(), mode=0o700)
        options = ",".join(("mode=700",) + options)
        if os.geteuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "none",
                 self.store()], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no file system can be mounted")
        self.addCleanup(self.unmount)

    def unmount(self):
        subprocess.run(["umount", "-l", self.store()],
                       stderr=subprocess.DEVNULL)

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            self.unmount()

    def refused(self, *words):
        """initialize soon gets an error with the reason; no tab is opened."""
        p, = self.starts(1)
        e = self.our_error(p.answer("hello"), "auth_required", "no")
        for w in words:
            self.assertIn(w, e["message"])
        self.counted(opened=0, registrations=self.a.registrations)
        p.finish()

    def test_read_only(self):
        self.mount("ro")
        self.refused("Read-only file system", FOLDER)

    def test_read_only_later(self):
        """The token in memory still works; when it has to be refreshed, the
        error says why that is impossible."""
        self.mount()
        p, = self.signed_in()
        subprocess.run(["mount", "-o", "remount,ro", self.store()],
                       check=True)
        self.calls(p)
        self.a.expire()
        e = self.our_error(p.tool(), "auth_required", "maybe")
        self.assertIn("Read-only file system", e["message"])
        self.assertEqual(self.refreshes(), (0, 0))
        subprocess.run(["mount", "-o", "remount,rw", self.store()],
                       check=True)
        self.works(self.starts(1)[0])
        self.counted(opened=1)

    def fill(self):
        fd = os.open(os.path.join(self.store(), "full"),
                     os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            pass
        finally:
            os.close(fd)

    def test_full(self):
        """No tab is opened, as the token could not be stored."""
        self.mount("size=64k")
        self.fill()
        self.refused("No space left", FOLDER)

    def test_full_later(self):
        """A token that cannot be stored works until the proxy ends."""
        self.mount("size=64k")
        p, = self.signed_in()
        self.fill()
        self.a.expire()
        for _ in range(3):
            self.calls(p)
        self.assertIn("No space left", p.err())
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (1, 1))

    def full_for_a_while(self):
        """A proxy could not store its new token; then there is room."""
        self.mount("size=64k")
        p, = self.signed_in()
        old = self.record()
        self.fill()
        self.a.expire()
        self.calls(p)
        self.assertIn("No space left", p.err())
        self.assertEqual(self.record(), old)
        os.unlink(os.path.join(self.store(), "full"))
        return p, old

    def test_full_for_a_while(self):
        """The token is stored at one of the next requests."""
        p, old = self.full_for_a_while()

        def kept():
            self.calls(p)
            return self.record() != old
        self.until(kept, "the store has the new token")
        self.works(self.starts(1)[0])
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (1, 1))

    def test_full_until_the_end(self):
        """Without a request, the token is stored when the proxy ends."""
        p, old = self.full_for_a_while()
        p.finish()
        self.assertNotEqual(self.record(), old)
        self.works(self.starts(1)[0])
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (1, 1))

    def test_corrupt(self):
        p, = self.signed_in()
        p.finish()
        path, = self.records()
        with open(path, "w") as f:
            f.write('{"version":1,')
        q, = self.starts(1)
        e = self.our_error(q.answer("hello"), "auth_required", "no")
        self.assertIn(path, e["message"])
        self.counted(opened=1)
        q.finish()
        # logout removes the damaged record
        status, out, err = self.once(["logout", self.m.url])
        self.assertEqual(status, 0, err)
        self.assertIn(path, err)
        self.works(self.starts(1)[0])
        self.assertEqual(len(self.b.opened()), 2)


if __name__ == "__main__":
    support.main()
