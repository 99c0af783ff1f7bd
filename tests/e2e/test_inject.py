"""What if a call of the system fails, the first, the second, ...?  A library
that is loaded before the C library lets it, once for each case.  And what if
pipes are small, descriptors closed, disks full and folders not ours?

Each life is the same: initialize, a list, a session that is lost, a call that
is sent again, the end.  Whatever fails: the program ends by itself in time
and without a signal, each line that it writes is whole, no request gets a
second answer, the call ran at most once, and the next start finds nothing
damaged.  A part of the cases runs, spread evenly; with E2E_LONG all of them.
With sanitizers it must not leak either.
"""

import errno
import fcntl
import os
import shutil
import struct
import subprocess
import threading
import time

import authserver
import support
from support import INITIALIZED, call, init, lines, request

LONG = os.environ.get("E2E_LONG")
KINDS = ("malloc", "read", "write", "connect", "open", "fsync", "rename",
         "getaddrinfo", "pthread_create")
SAMPLE = 30 if support.sanitized() else 120     # of each kind
LIMIT = 10              # seconds
NO_MEMORY = "mcpsplice: out of memory\n"


class Base(authserver.Case):
    def url(self, s):
        return s.url

    def server(self):
        return self.forgetful(self.mcp())

    def forgetful(self, s):
        """It forgets the session before the first call of each life."""
        def before(rx, tx):
            if rx.rpc == "tools/call" and not s.lost:
                s.lost = True
                s.forget()
            return False
        s.before = before
        return s

    def life(self, s, inject, home, *args):
        """One run: status, messages, stderr."""
        counts = self.path("counts-%d" % self.count())
        key = "key-%d" % self.count()
        s.lost = False
        library = support.Library.get(self, "inject.c", with_sanitizers=True)
        env = {"LD_PRELOAD": library, "INJECT": inject,
               "INJECT_COUNTS": counts, "HOME": home}
        if support.sanitized():
            env["ASAN_OPTIONS"] = "verify_asan_link_order=0:exitcode=99"
        data = lines(init(1), INITIALIZED, request(2, "tools/list"),
                     call(3, key=key))
        begin = time.monotonic()
        try:
            status, out, err = self.once([self.url(s), *args], data, env=env)
        except subprocess.TimeoutExpired as e:
            self.fail("%s: it does not end: stdout %r, stderr %r" % (
                inject, e.stdout, e.stderr))
        what = "%s: status %d, stdout %r, stderr %s" % (
            inject, status, out[-300:], err[-600:])
        self.within(time.monotonic() - begin, LIMIT, what)
        self.assertIn(status, (0, 1, 2), what)
        self.assertNotIn("Sanitizer", err, what)
        self.assertTrue(not out or out.endswith(b"\n"), what)
        messages = [support.exact(line) for line in out.splitlines()]
        ids = [m["id"] for m in messages if "id" in m]
        self.assertEqual(len(ids), len(set(ids)), "a second answer, " + what)
        self.assertLessEqual(s.runs(key), 1, "it ran twice, " + what)
        if status == 0 and "cannot read stdin" not in err:
            self.assertEqual(sorted(ids), ["1", "2", "3"], what)
        with open(counts, "rb") as f:
            n = dict(zip(KINDS, struct.unpack("%dL" % len(KINDS), f.read())))
        os.remove(counts)
        return status, messages, err, n

    def good(self, s, inject, home, *args):
        """A life in which each request has a result: stderr, and how often
        each kind was called.  Anew where a slow machine made the refusal come
        so late that the call may have run."""
        for _ in range(5):
            status, messages, err, n = self.life(s, inject, home, *args)
            faults = [m["error"] for m in messages if "error" in m]
            if not faults or faults[0].get("data", {}).get("ran") != "maybe":
                break
        self.assertEqual(status, 0, err)
        self.assertEqual(faults, [], err)
        return err, n

    def next_start(self, s, home, what):
        """It finds the files in order, and writes its own."""
        err, _ = self.good(s, "none 0 0", home, "-vv")
        for word in ("damaged", "cannot be read"):
            self.assertNotIn(word, err, "after " + what)

    def chosen(self, count):
        """Which calls of so many."""
        n = count if LONG else min(count, SAMPLE)
        return [1 + i * count // n for i in range(n)]


class Failing(Base):
    def fails(self, kind, error, judge=None):
        """Each chosen call of that kind, in a HOME of its own."""
        _, n = self.good(self.server(), "none 0 0", self.new_home())
        count = n[kind]
        self.assertGreater(count, 0, "it is never called")

        def one(nth):
            what = "%s %d %d" % (kind, nth, error)
            home = self.new_home()
            s = self.server()
            life = self.life(s, what, home)
            if judge:
                judge(what, life)
            self.next_start(s, home, what)
            s.close()
        self.each(self.chosen(count), one, workers=4)


@support.plain
class Failures(Failing):
    def test_malloc(self):
        """The program ends, if it is not a library that goes without."""
        if support.sanitized():
            self.skipTest("the sanitizer has a malloc of its own")
        ended = []

        def judge(what, life):
            status, messages, err, n = life
            if status == 1 and NO_MEMORY in err:
                self.assertTrue(err.endswith(NO_MEMORY), err)
                self.assertEqual(err.count(NO_MEMORY), 1, err)
                ended.append(what)
        self.fails("malloc", errno.ENOMEM, judge)
        self.assertTrue(ended)

    def test_read(self):
        self.fails("read", errno.EIO)

    def test_write(self):
        self.fails("write", errno.EIO)

    def test_write_to_a_full_disk(self):
        self.fails("write", errno.ENOSPC)

    def test_connect(self):
        self.fails("connect", errno.ENETUNREACH)

    def test_open(self):
        self.fails("open", errno.EMFILE)

    def test_rename(self):
        self.fails("rename", errno.ENOSPC)



@support.plain
class Named(Failing):
    """The name of the server has to be looked up."""

    def life(self, s, inject, home, *args):
        return super().life(s, inject, home, "--allow-http", *args)

    def url(self, s):
        return s.url.replace("127.0.0.1", "injected.test")

    def test_getaddrinfo(self):
        self.fails("getaddrinfo", errno.ENOMEM)

    def test_pthread_create(self):
        self.fails("pthread_create", errno.EAGAIN)


@support.plain
class SignedIn(Base):
    """A token that has expired is refreshed first, and stored."""

    def fails(self, kind, error):
        auth = self.auth(rotates=False)
        s = self.forgetful(self.protected(auth))
        b = self.browser()
        status, out, err = self.once(["login", s.url, "--browser", b.command])
        self.assertEqual(status, 0, err)

        def new_home():
            home = self.new_home()
            self.may_hold.append(home)
            shutil.copytree(self.home, home, dirs_exist_ok=True)
            return home

        auth.expire()
        _, n = self.good(s, "none 0 0", new_home())
        for nth in self.chosen(n[kind]):
            what = "%s %d %d" % (kind, nth, error)
            home = new_home()
            auth.expire()
            self.life(s, what, home, "--browser", b.command)
            auth.expire()
            self.next_start(s, home, what)
        return len(b.opened())

    def test_open(self):
        """Without the folder of the records the user has to sign in, for this
        process only."""
        self.fails("open", errno.EMFILE)

    def test_write(self):
        self.assertEqual(self.fails("write", errno.ENOSPC), 1)

    def test_fsync(self):
        self.assertEqual(self.fails("fsync", errno.EIO), 1)

    def test_rename(self):
        self.assertEqual(self.fails("rename", errno.ENOSPC), 1)


@support.plain
class Disturbed(Base):
    """Nothing fails that does not go on."""

    def test_one_byte_at_a_time(self):
        self.good(self.server(), "short", self.home)

    def test_interrupted(self):
        for every in (2, 3, 5):
            self.good(self.server(), "EINTR %d" % every, self.home)

    def test_not_yet(self):
        for every in (2, 3, 5):
            self.good(self.server(), "EAGAIN %d" % every, self.home)


@support.plain
class Places(Base):
    """Where the descriptors lead to, and what HOME is."""

    def play(self, *args, closed=(), size=10, slow=0, env=None, stderr=None,
             through=()):
        """A life with descriptors of its own: status, ids of the answers.
        through is the beginning of a command that runs the program."""
        s = self.mcp()
        text = "y" * size
        data = lines(init(1), INITIALIZED, call(3, key="k", text=text))
        # not inherited by programs that other threads start meanwhile
        take, give = os.pipe()
        answers, out = os.pipe()
        for fd in (take, out):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 4096)

        def close():
            for fd in closed:
                os.close(fd)
        p = subprocess.Popen(
            [*through, support.PROGRAM, s.url, *args], stdin=take, stdout=out,
            stderr=stderr or subprocess.DEVNULL, preexec_fn=close,
            env=self.environment(env))
        os.close(take)
        os.close(out)

        def feed():
            try:
                with open(give, "wb") as f:
                    f.write(data)
            except BrokenPipeError:
                pass
        threading.Thread(target=feed, daemon=True).start()
        got = b""
        while True:
            part = os.read(answers, 1 if slow > 0 else 65536)
            if not part:
                break
            got += part
            if slow > 0:
                slow -= 1
                time.sleep(0.05)
        os.close(answers)
        status = p.wait(support.LIVE)
        messages = [support.exact(line) for line in got.splitlines()]
        if messages:
            self.assertIn(text, messages[-1]["result"]["content"][0]["text"])
        self.assertLessEqual(s.runs("k"), 1)
        return status, [m["id"] for m in messages]

    def test_small_pipes(self):
        self.assertEqual(self.play(size=1 << 20), (0, ["1", "3"]))

    def test_slow_reader(self):
        """A byte at a time, with other bytes waiting for room."""
        self.assertEqual(self.play(size=1 << 17, slow=40), (0, ["1", "3"]))

    def test_closed_descriptors(self):
        for closed, want in (((0,), []), ((1,), []), ((2,), ["1", "3"]),
                             ((0, 1), []), ((0, 2), []), ((1, 2), []),
                             ((0, 1, 2), [])):
            status, ids = self.play(closed=closed)
            self.assertEqual(ids, want, closed)
            self.assertIn(status, (0, 1), closed)

    def test_full_stderr(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.play("-vv", stderr=full), (0, ["1", "3"]))

    def test_home_that_cannot_be_used(self):
        for home in ("/dev/null/x", "/proc", "", "relative", None):
            self.assertEqual(self.play(env={"HOME": home}), (0, ["1", "3"]),
                             home)

    def test_full_disk(self):
        """In a namespace, where the disk of HOME is full."""
        full = ("unshare", "--map-root-user", "--mount", "sh", "-c",
                'mount -t tmpfs -o size=8k none "$HOME" || exit 77; '
                'cat /dev/zero >"$HOME/all" 2>&1; exec "$@"', "sh")
        if subprocess.run([*full, "true"], env=self.environment(),
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("there are no namespaces of mounts here")
        self.assertEqual(self.play(through=full), (0, ["1", "3"]))

    def test_read_only_home(self):
        os.chmod(self.home, 0o500)
        self.assertEqual(self.play(), (0, ["1", "3"]))
        os.chmod(self.home, 0o700)


if __name__ == "__main__":
    support.main()
