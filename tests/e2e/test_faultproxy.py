"""The fault proxy between mcpsplice and real servers, end to end.  chaos.py has
the client and the rules, and says how a seed is played again; faultproxy.py
has what goes wrong.

The servers are processes that are killed and started again: bookserver.py, and
those of tests/interop, made of the official SDK and of others, where
interop/run.sh has installed npm's packages (in BUILDDIR, or in the build).
Bad has a bad line (line.py), too, which needs root.
"""

import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import chaos
import faultproxy
import line
import pace
import ports
import support
import test_tls

WAVES = 4               # in the life of one program, at least
MOST_WAVES = 100        # if there is time
WAVE = 3.0              # seconds of faults
MORE_KB = 512           # that it holds after the last one than in the first half
MORE_FDS = 12           # idle connections of as many calls at once
SETTLE = 3.0            # seconds for what is on its way to the server
HAS_PROC = os.path.exists("/proc/self/fd")
# Name, variant, and whether it speaks TLS; one for each seed in turn.
BOOK = [("book", "json", True), ("book", "sse", False), ("book", "h2", True),
        ("book", "json", False), ("book", "sse", True)]
NPM = [("sdk", "spec", True), ("sdk", "example", False),
       ("fastmcp", "", False), ("lite", "", True), ("sdk", "single", False),
       ("sdk", "idle-json", True), ("sdk", "example", True),
       ("sdk", "idle", False), ("lite", "", False), ("sdk", "spec", False)]


def interop():
    """Where run.sh has installed npm's packages, or None."""
    build = os.environ.get("BUILDDIR") or os.environ.get("abs_builddir") or \
        os.path.join(os.path.dirname(support.PROGRAM), "..", "tests")
    work = os.path.join(build, "interop-work")
    stamp = os.path.join(work, "node_modules", ".installed-lock")
    return work if os.path.exists(stamp) else None


class Server:
    """A server that is a process, and its log."""

    def __init__(self, name, variant, tls, log):
        self.name = name
        self.variant = variant
        self.tls = tls
        self.log = log
        open(log, "w").close()
        self.start()

    def start(self):
        self.port = ports.free_port()
        if self.name == "book":
            command = [sys.executable,
                       os.path.join(support.HERE, "bookserver.py")]
        else:
            work = interop()
            command = [os.path.join(work, "node_modules/.bin/node"),
                       os.path.join(work, "forget-%s.mjs" % self.name)]
        env = dict(os.environ)
        if self.tls:
            env["FORGET_TLS"] = test_tls.file("one")
        with open(self.log + ".err", "ab") as err:
            self.process = subprocess.Popen(
                command + [str(self.port), self.log, self.variant], env=env,
                stdin=subprocess.DEVNULL, stdout=err, stderr=err)

    def notes(self):
        with open(self.log) as f:
            return [json.loads(text) for text in f]

    def ready(self):
        """Waits for it, and starts it again if it has ended by itself: its
        port may be taken, and servers have faults of their own."""
        limit = pace.Limit(support.LIVE)
        while self.process.poll() is not None or \
                {"ready": self.process.pid} not in self.notes():
            if self.process.poll() is not None:
                self.start()
            if limit.left() <= 0:
                raise OSError("%s does not start" % self.name)
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """Returns its log, and what it has printed."""
        self.kill()
        notes = self.notes()
        with open(self.log + ".err") as f:
            printed = f.read()
        os.unlink(self.log)
        os.unlink(self.log + ".err")
        return notes, printed


class World:
    """A real server, the proxy before it, and perhaps a bad line before that:
    what a round takes for its server."""

    def __init__(self, case, seed, kinds, bad=False):
        r = random.Random("world %d" % seed)
        self.line = line.Line() if bad else None
        self.side = self.line.near if bad else contextlib.nullcontext()
        self.far = self.line.far if bad else contextlib.nullcontext()
        self.asked = self.told = {}
        self.runs = {}
        self.closed = False
        name, variant, tls = kinds[seed % len(kinds)]
        host = line.FAR if bad else "127.0.0.1"
        with self.far:
            self.server = Server(name, variant, tls,
                                 case.path("log-%d" % case.count()))
            self.server.ready()
            self.proxy = faultproxy.Proxy(seed, lambda: self.server.port,
                                          host, tls)
        self.url, self.options = self.address(host, tls)
        if r.random() < 0.3:
            self.options.append("--compressed")
        if r.random() < 0.3:
            self.proxy.sicken()         # from the beginning

    def address(self, host, tls):
        port = self.proxy.address[1]
        if not tls:
            return "http://%s:%d/mcp" % (host, port), ["--allow-http"]
        return "https://mcp.test:%d/mcp" % port, [
            "--cacert", test_tls.file("ca1.pem"), "--resolve",
            "mcp.test:%d:%s" % (port, host)]

    # what happens

    def restart(self):
        self.proxy.say("Restart", "the server is killed and started")
        with self.far:
            self.server.kill()
            self.server.start()

    def order(self, text):
        self.proxy.say("Line", text)
        self.line.order(text)

    def events(self, r, seconds):
        self.proxy.sicken()
        events = [self.restart,
                  lambda: self.proxy.refuse(0.2 + 2 * r.random(),
                                            r.random() < 0.5),
                  lambda: self.proxy.black_hole(1 + 3 * r.random())]
        if self.line:
            for what in ("loss", "duplicate", "reorder", "delay"):
                self.order("%s %d" % (what, r.choice([0, 5, 20])))
            events += [lambda: self.order("forget"),
                       lambda: self.order("drop on"),
                       lambda: self.order("drop off")]
        return [(seconds * r.random(), r.choice(events))
                for _ in range(r.randrange(4))]

    def heal(self):
        self.proxy.heal()
        if self.line:
            for text in ("loss 0", "duplicate 0", "reorder 0", "delay 0",
                         "drop off"):
                self.line.order(text)
        with self.far:
            self.server.ready()

    def sent(self, key):
        return self.proxy.times(key)

    def close(self):
        """What is on its way arrives before the books are read."""
        if self.closed:
            return
        self.closed = True
        self.heal()
        self.proxy.settle(SETTLE)
        time.sleep(0.2)
        self.notes, self.printed = self.server.close()
        self.proxy.close()
        if self.line:
            self.line.close()
        for value in self.notes:
            if "run" in value:
                self.runs.setdefault(value["run"], []).append(value)

    def show(self, since):
        for when, words in self.proxy.log:
            print("%8.3f proxy: %s" % (when - since, words))
        for value in self.notes:
            print("server: %s" % value)
        print(self.printed)
        print("%s %s, %d %% of connections, %s" % (
            self.server.name, self.server.variant, self.proxy.percent,
            " ".join(self.options)))


class Faults(chaos.Rounds):
    kinds = BOOK
    bad = False
    struck = collections.Counter()

    def make(self, seed):
        world = World(self, seed, self.kinds, self.bad)
        return chaos.Round(self, seed, world, world.options)

    def play(self, r):
        r.play()
        self.struck.update(r.server.proxy.struck)

    def waves(self, r):
        """One program lives through faults again and again, holds no more
        than before, and each time its calls have results again."""
        held = []
        r.server.heal()
        r.begin()
        while len(held) < WAVES or len(held) < MOST_WAVES and \
                time.monotonic() < self.end:
            r.act(WAVE)
            r.calm()
            if not self.works(r):
                r.breaks("no result after all is well")
            held.append(self.held(r))
        r.finish()
        self.struck.update(r.server.proxy.struck)
        print("seed %d: KiB and descriptors after %d waves: %r to %r" % (
            r.seed, len(held), held[0], held[-1]))
        kb, fds = zip(*held)
        if kb[-1] > max(kb[:len(kb) // 2]) + MORE_KB and \
                not support.sanitized():
            r.breaks("memory grows: %r KiB" % (kb,))
        if fds[-1] > fds[0] + MORE_FDS:
            r.breaks("descriptors grow: %r" % (fds,))

    def works(self, r):
        limit = pace.Limit(chaos.OVER)
        while limit.left() > 0 and r.splice.alive():
            ident = r.ask()
            while ident not in r.answers and limit.left() > 0:
                r.listen()
                time.sleep(0.02)
            if any("result" in m for m, _ in r.answers.get(ident, ())):
                return True
            time.sleep(0.5)
        return False

    def held(self, r):
        """KiB and descriptors."""
        return (r.splice.rss_kb(),
                len(os.listdir("/proc/%d/fd" % r.splice.pid)))


class Book(Faults):
    def test_rounds(self):
        self.rounds(self.make, 3, self.play)

    @unittest.skipUnless(HAS_PROC, "no /proc")
    def test_waves(self):
        self.rounds(self.make, 1, self.waves)


class Npm(Faults):
    kinds = NPM

    def setUp(self):
        super().setUp()
        if not interop():
            self.skipTest("npm's packages are not there: interop/run.sh")

    def test_rounds(self):
        self.rounds(self.make, 2, self.play)

    @unittest.skipUnless(HAS_PROC, "no /proc")
    def test_waves(self):
        self.kinds = [k for k in NPM if k[1] != "single"]
        self.rounds(self.make, 1, self.waves)


class Bad(Faults):
    kinds = BOOK
    bad = True

    def setUp(self):
        super().setUp()
        try:
            line.Line().close()
        except line.Missing as e:
            self.skipTest(str(e))

    def test_rounds(self):
        self.rounds(self.make, 2, self.play)


def main():
    folder = tempfile.mkdtemp(prefix="mcpsplice-faults-")
    test_tls.prepare(folder)

    def after():
        shutil.rmtree(folder)
        print("faults: %s" % ", ".join(
            "%s %d" % f for f in Faults.struck.most_common()))
    chaos.main(after=after)


if __name__ == "__main__":
    if not shutil.which("openssl"):
        sys.stderr.write("no openssl command\n")
        sys.exit(77)
    main()
