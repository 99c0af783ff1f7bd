"""One client, one mcpsplice, one server, and the books: what was asked, what
ran and what was answered is written down outside of the program, and compared
at the end.  test_chaos.py and test_faultproxy.py bring the server.

Each round has a seed.  CHAOS_SEED=N plays that one and shows all of it.
CHAOS_SECONDS says for how long new rounds begin.  CHAOS_UNTIL_FOUND ends at
the first broken rule.

A server of a round has, beside what faultserver.Server has:

    side        where the program is started: "with server.side"
    runs        key of a call -> when it ran, each time
    sent(key)   how often that call came
    asked       its question -> (key of the call, when)
    told        its questions that were answered
    events(random, seconds)     what happens in that time: (second, function)
    heal()      from now on nothing goes wrong
    show(since)                 prints what it has seen
"""

import concurrent.futures
import os
import random
import threading
import time

import pace
import support
from support import INITIALIZED, call, init, note

CALL_TIMEOUT = 6
ACTIVE = 6.0            # seconds in which things go wrong
OVER = 45.0             # then all must be answered
EXIT = 20.0
SENDS = 60              # of one call
HELLOS = ["hello 1", "hello 2", "hello 3"]
SECONDS = float(os.environ.get("CHAOS_SECONDS", "10"))
UNTIL_FOUND = os.environ.get("CHAOS_UNTIL_FOUND")


class Round:
    """One program, one server, and the books."""

    def __init__(self, case, seed, server, options=()):
        self.seed = seed
        self.random = random.Random(-seed)
        self.server = server
        self.calls = {}                 # id -> key
        self.unsafe = set()             # ids
        self.cancelled = set()
        self.answers = {}               # id -> messages, and when they came
        self.asked = set()              # questions that the client has seen
        self.seen = 0
        self.ended = float("inf")       # when the client has left
        self.broken = []
        options = ["--call-timeout", str(CALL_TIMEOUT), "--init-timeout",
                   "15", "--no-memory", "--start", "wait"] + list(options)
        if self.random.random() < 0.1:
            options += ["--replay", "refused"]
        with server.side:
            self.splice = support.Splice(case, [server.url] + options)

    def breaks(self, rule):
        if rule not in self.broken:
            self.broken.append(rule)

    # the client

    def send(self, message):
        try:
            self.splice.write(support.lines(message))
        except OSError:
            self.breaks("the program is gone")

    def ask(self):
        ident = len(self.calls) + 1
        key = "%d-%d" % (self.seed, ident)
        unsafe = self.random.random() < 0.7
        self.calls[ident] = key
        if unsafe:
            self.unsafe.add(ident)
        self.send(call(ident, "unsafe" if unsafe else "read", key=key,
                       ms=self.random.choice([0, 0, 50, 500])))
        return ident

    def cancel(self):
        ident = self.random.choice(sorted(self.calls))
        if ident not in self.answers:
            self.cancelled.add(ident)
            self.send(note("notifications/cancelled", {"requestId": ident}))

    def listen(self):
        """Notes what the program has written, and answers its questions."""
        with self.splice.cond:
            new = list(zip(self.splice.lines, self.splice.messages))
        for (line, when), m in new[self.seen:]:
            if not isinstance(m, dict):
                self.breaks("a line that is no message: %r" % line[:80])
            elif "method" not in m:
                self.answers.setdefault(m.get("id"), []).append((m, when))
            elif "id" in m:
                self.answer(m)
        self.seen = len(new)

    def answer(self, m):
        self.asked.add(m.get("params", {}).get("message"))
        if self.splice.proc.stdin.closed:
            return
        if m["method"] == "ping":
            self.send({"jsonrpc": "2.0", "id": m["id"], "result": {}})
        elif self.random.random() < 0.9:
            self.send({"jsonrpc": "2.0", "id": m["id"],
                       "result": {"action": "accept", "content": {}}})

    # what happens

    def hello(self, ident):
        """As hosts do, the client tries again after an error."""
        self.send(init(ident, capabilities={"elicitation": {}}))
        answer = self.splice.find(lambda m: m.get("id") == ident, 30)
        if answer is None:
            self.breaks("no answer to initialize")
        return answer is None or "result" in answer

    def begin(self):
        for ident in HELLOS:
            if self.hello(ident):
                break
        self.send(INITIALIZED)
        self.send(support.request("list", "tools/list"))

    def act(self, seconds=ACTIVE):
        begin = time.monotonic()
        events = sorted(self.server.events(self.random, seconds),
                        key=lambda event: event[0])
        while time.monotonic() < begin + seconds:
            self.listen()
            if events and time.monotonic() > begin + events[0][0]:
                events.pop(0)[1]()
            dice = self.random.random()
            if dice < 0.5 and len(self.calls) - len(self.answers) < 12:
                self.ask()
            elif dice < 0.55 and self.calls:
                self.cancel()
            time.sleep(0.2 * self.random.random())

    def open(self):
        return [i for i in self.calls
                if i not in self.answers and i not in self.cancelled]

    def calm(self):
        """All goes well again, and what is open is answered."""
        self.server.heal()
        limit = pace.Limit(OVER)
        while self.open() and limit.left() > 0 and self.splice.alive():
            self.listen()
            time.sleep(0.02)
        self.check_open()

    def finish(self, seconds=EXIT):
        self.ended = time.monotonic()
        self.splice.close()
        limit = pace.Limit(seconds)
        while self.splice.alive() and limit.left() > 0:
            self.listen()
            time.sleep(0.02)
        if self.splice.alive():
            self.breaks("no exit after EOF")
        elif self.splice.proc.returncode != 0:
            self.breaks("exit status %d" % self.splice.proc.returncode)
        self.splice.kill()
        self.listen()
        self.server.close()

    def play(self):
        self.begin()
        self.act()
        if self.random.random() < 0.8:
            self.calm()
            self.finish()
        else:
            self.finish(OVER)       # while all goes wrong

    # what is compared

    def check_open(self):
        if self.open():
            self.breaks("%d calls without an answer" % len(self.open()))

    def check(self):
        self.check_open()
        for ident, key in self.calls.items():
            got = self.answers.get(ident, [])
            if len(got) > 1:
                self.breaks("a second answer")
            runs = len(self.server.runs.get(key, []))
            if runs > 1 and ident in self.unsafe:
                self.breaks("unsafe call %d ran %d times" % (ident, runs))
            if self.server.sent(key) > SENDS:
                self.breaks("a call was sent too often")
            for m, when in got:
                self.check_answer(ident, key, m, when)
        for ident in self.answers:
            if ident not in self.calls and ident not in HELLOS + ["list"]:
                self.breaks("an answer that nobody asked for")

    def check_answer(self, ident, key, m, when):
        runs = len(self.server.runs.get(key, []))
        if "result" in m:
            text = m["result"]["content"][0]["text"]
            if text != "ran " + key:
                self.breaks("another result: %.200s" % text)
            if runs == 0:
                self.breaks("a result of call %d, which did not run" % ident)
            return
        data = m["error"].get("data") or {}
        if data.get("source") != "mcpsplice":
            if data.get("chaos") == "refused" and runs > 0:
                self.breaks("a refusal answers call %d, which ran" % ident)
        elif data.get("ran") == "no" and runs > 0 and ident in self.unsafe:
            self.breaks("call %d did not run, it says, and it did" % ident)
        elif data.get("reason") == "upstream_timeout":
            self.check_asked(key, when)

    def check_asked(self, key, when):
        """It was silent because it waited for an answer to its question,
        which the client should have heard before it left."""
        for name, (of, asked_at) in list(self.server.asked.items()):
            if of == key and asked_at is not None and \
                    min(when, self.ended) - asked_at > CALL_TIMEOUT / 2 and \
                    name not in self.asked and name not in self.server.told:
                self.breaks("call %s asked, and nobody heard it" % key)

    def show(self):
        for line, when in self.splice.lines:
            print("%8.3f < %s" % (when - self.splice.started,
                                  line.decode("utf-8", "replace")[:300]))
        self.server.show(self.splice.started)
        print(self.splice.err())


class Rounds(support.Case):
    """Plays rounds side by side until the time is over."""

    def rounds(self, make, workers, play=Round.play):
        """make(seed) is a round that can be played."""
        self.end = time.monotonic() + SECONDS
        one = os.environ.get("CHAOS_SEED")
        if one:
            self.assertEqual(self.round(make(int(one)), play, True), [])
            return
        self.next = 0
        self.lock = threading.Lock()
        self.found = []
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for job in [pool.submit(self.work, make, play)
                        for _ in range(workers)]:
                job.result()
        print("%s: %d rounds" % (self.name(), self.next), flush=True)
        self.assertEqual(self.found, [])

    def name(self):
        return "%s.%s" % (type(self).__name__, self._testMethodName)

    def work(self, make, play):
        while time.monotonic() < self.end:
            with self.lock:
                self.next += 1
                seed = self.next
            broken = self.round(make(seed), play, False)
            with self.lock:
                self.found += broken
            if broken and UNTIL_FOUND:
                self.end = 0

    def round(self, r, play, show):
        try:
            play(r)
            r.check()
        finally:
            r.splice.kill()
            r.server.close()
            if show:
                r.show()
            os.unlink(r.splice.err_path)
        for rule in r.broken:
            print("CHAOS_SEED=%d breaks a rule in %s: %s" % (
                r.seed, self.name(), rule), flush=True)
        return ["%d: %s" % (r.seed, rule) for rule in r.broken]


def main(**kw):
    os.environ.setdefault("E2E_TIMEOUT", str(int(SECONDS * 2 + 300)))
    support.main(**kw)
