"""A day in twenty minutes: whatever a long session does again and again must
leave nothing behind.

usage: MCPSPLICE=PROGRAM soak.py [SECONDS]    1200 without it; SOAK_SEED=N

What a day has is spread over the time: a session that is lost every 90 s, the
lid closed each hour, a server that is restarted twice an hour, a network that
drops all connections, a second process of the same user that comes and goes
every five minutes.  Meanwhile there are 50 calls a second, and 5 % of them go
wrong at the server.  Memory, descriptors and files of the program are looked
at all the time; in the last third they may not be more than in the second.
Each call has one answer, and ran at most once; each second process gets its
answers, too.  The program for Windows, in wine, also has handles; there the lid
only drops the connections.
"""

import collections
import os
import random
import statistics
import subprocess
import sys
import threading
import time

import pace
import support
from support import call

SECONDS = 1200
DAY = 86400
RATE = 50               # calls a second
FAULTS = 0.05
MORE_KB = 512           # in the last third, and 5 %


class Soak(support.Case):
    def setUp(self):
        super().setUp()
        self.seconds = int(os.environ.get("SOAK_SECONDS", SECONDS))
        self.random = random.Random(int(os.environ.get("SOAK_SEED", "1")))
        self.counts = collections.Counter()
        self.runs = collections.Counter()
        self.samples = []       # (KiB, descriptors, files, handles)
        self.twins = []
        self.handles = 0

    def server(self):
        s = self.mcp(on_get=None)
        s.on_get = s.listen

        def tool(rx, tx):
            key = rx.json["params"]["arguments"]["key"]
            dice = self.random.random()
            if dice < FAULTS / 5:
                tx.text(503, "busy\n")
                return
            if dice < FAULTS * 2 / 5:
                s.forget()
                tx.text(404, "session not found\n")
                return
            with s.lock:
                self.runs[key] += 1
            if dice < FAULTS * 3 / 5:
                tx.reset()
            elif dice < FAULTS * 4 / 5:
                tx.sse()
                tx.event(retry=50)
                tx.cut()
            elif dice < FAULTS:
                tx.text(500, "<html>broken</html>")
            elif dice < 0.5:
                tx.sse()
                tx.answer({"content": [{"type": "text", "text": key}]})
            else:
                tx.result({"content": [{"type": "text", "text": key}]})
        s.methods["tools/call"] = tool
        return s

    # events

    def lose(self):
        self.s.forget()

    def restart(self):
        self.s.restart(reset=self.random.random() < 0.5)

    def network(self):
        """All connections are gone, and the server knows its sessions."""
        self.s.down(reset=True)
        self.s.up()

    def lid(self):
        self.slept += 3600
        with open(self.nap + ".new", "w") as f:
            f.write("%d\n" % self.slept)
        os.rename(self.nap + ".new", self.nap)
        self.network()

    def twin(self):
        p = self.splice(self.s, env=self.env)
        p.hello()
        p.ask("tools/list")
        p.finish()
        self.running.remove(p)
        self.counts["twin's end"] += 1

    def events(self):
        """(second, what) in order."""
        for what, every in ((self.lose, 90), (self.lid, 3600),
                            (self.restart, 1800), (self.network, 900),
                            (self.twin, 300)):
            n = DAY // every
            for i in range(n):
                yield (i + self.random.random()) * self.seconds / n, what

    def look(self, p):
        files = sum(len(names) for _, _, names in os.walk(self.home))
        self.samples.append((p.rss_kb(), len(os.listdir(
            "/proc/%d/fd" % p.pid)), files, self.handles))

    def look_at_handles(self):
        """Once a second, by a program of Windows."""
        p = subprocess.Popen([support.PROGRAM + "-handles"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

        def read():
            for line in p.stdout:
                self.handles = int(line)

        def end():
            p.kill()
            p.wait()
        threading.Thread(target=read, daemon=True).start()
        self.addCleanup(end)

    def tidy(self):
        """What the test itself keeps of the past."""
        with self.s.lock:
            del self.s.requests[:-100]
            del self.s.executed[:-100]

    def test_a_day(self):
        self.slept = 0
        self.nap = os.path.join(self.tmp, "nap")
        self.env = {"LD_PRELOAD": support.Library.get(self, "nap.c"),
                    "NAP": self.nap}
        self.s = self.server()
        p = self.splice(self.s, env=self.env)
        p.hello()
        if pace.is_windows():
            self.look_at_handles()
        self.soak(p)
        for twin in self.twins:
            twin.join()
        p.finish()              # which knows what was asked and answered
        self.counts["error"] = sum("error" in m for m in p.messages)
        print("    seed %s: %d calls, %s; sessions %d" % (
            os.environ.get("SOAK_SEED", "1"), self.counts["calls"],
            ", ".join("%s %d" % c for c in sorted(self.counts.items())
                      if c[0] != "calls"), len(self.s.made)))
        self.judge()

    def soak(self, p):
        begin = time.monotonic()
        events = sorted(self.events(), key=lambda e: e[0])
        looked = 0
        while True:
            now = time.monotonic() - begin
            if now >= self.seconds:
                return
            while events and events[0][0] <= now:
                what = events.pop(0)[1]
                self.counts[what.__name__] += 1
                if what == self.twin:
                    self.twins.append(threading.Thread(target=what))
                    self.twins[-1].start()
                else:
                    what()
            if now - looked > 1:
                looked = now
                self.look(p)
                self.tidy()
            calls = self.counts["calls"]
            if calls < now * RATE and calls - len(p.messages) < 200:
                self.counts["calls"] += 1
                p.send(call("c%d" % self.counts["calls"],
                            key="k%d" % self.counts["calls"]))
            else:
                time.sleep(0.002)

    def judge(self):
        self.assertEqual([k for k, n in self.runs.items() if n > 1], [],
                         "ran twice")
        third = len(self.samples) // 3
        bad = []
        for i, what in enumerate(("KiB", "descriptors", "files",
                                  "handles")):
            second, last = (
                [sample[i] for sample in part]
                for part in (self.samples[third:2 * third],
                             self.samples[2 * third:]))
            before, after = statistics.median(second), statistics.median(last)
            print("    %s: %d in the second third, %d in the last; at most %d"
                  % (what, before, after, max(second + last)))
            more = before * 0.05 + MORE_KB if what == "KiB" else 2
            if after > before + more:
                bad.append(what)
        self.assertEqual(bad, [], "more in the last third")
        self.assertEqual(self.counts["twin's end"], self.counts["twin"])


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        os.environ["SOAK_SECONDS"] = sys.argv.pop(1)
    os.environ.setdefault("E2E_TIMEOUT", str(
        int(os.environ.get("SOAK_SECONDS", SECONDS)) + 300))
    support.main()
