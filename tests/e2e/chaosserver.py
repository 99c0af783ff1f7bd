"""A server that does everything wrong that servers, gateways and networks do,
and keeps the books of what its tools really did.

What goes wrong is drawn from the seed, and from what is asked and how often:
so a seed that is played again meets much the same, whatever the threads do.
"""

import contextlib
import random
import threading
import time

import faultserver

TOOLS = [{"name": "read", "annotations": {"readOnlyHint": True}},
         {"name": "unsafe"}]
LATE = 2.5              # words after that long come from a tool that ran
PATIENCE = 20.0         # of a tool that has asked something

# What a server says that does not know a session. Each one has its own way.
LOST = [
    lambda rx, tx: refuse(rx, tx, 404, -32001, "Session not found"),
    lambda rx, tx: refuse(rx, tx, 404, -32001, "Session not found", None),
    lambda rx, tx: tx.text(404, "session not found\n"),
    lambda rx, tx: tx.body(404),
    lambda rx, tx: refuse(rx, tx, 400, -32000,
                          "Bad Request: No valid session ID provided", None),
    lambda rx, tx: refuse(rx, tx, 200, 32600, "Session terminated"),
]
# Before anything has run.
BUSY = [
    lambda rx, tx: tx.body(429, headers=[("Retry-After", "1")]),
    lambda rx, tx: tx.body(503, headers=[("Retry-After", "1")]),
    lambda rx, tx: tx.body(503),
    lambda rx, tx: tx.body(502),
    lambda rx, tx: tx.cut(),
    lambda rx, tx: tx.reset(),
]
# After it ran, in place of the answer.
BROKEN = [
    lambda rx, tx: tx.cut(),
    lambda rx, tx: tx.reset(),
    lambda rx, tx: tx.body(502),
    lambda rx, tx: tx.body(504),
    lambda rx, tx: (tx.head(200, [("Content-Type", "application/json")], 99),
                    tx.raw(b'{"jsonrpc"'), tx.cut()),
    lambda rx, tx: (tx.sse(), tx.cut()),
    lambda rx, tx: (tx.sse(), tx.end()),
]
# What a tool says that has run, and speaks of sessions or ends in a status of
# its own: never what the server itself says.
SAID = [
    lambda rx, tx: said(rx, tx, 404, -32001, "Session not found in the shop"),
    lambda rx, tx: said(rx, tx, 404, -32001, "No such cart", None),
    lambda rx, tx: said(rx, tx, 400, -32000, "Your session has expired"),
    lambda rx, tx: said(rx, tx, 422, -32603, "The session was terminated"),
    lambda rx, tx: said(rx, tx, 500, -32603, "Invalid session", None),
    lambda rx, tx: said(rx, tx, 200, -32600, "The session is gone"),
    lambda rx, tx: tx.text(404, "no such book\n"),
    lambda rx, tx: tx.text(410, "the upload session expired\n"),
    lambda rx, tx: tx.body(429, headers=[("Retry-After", "1")]),
    lambda rx, tx: tx.body(429),
]


def refuse(rx, tx, status, code, words, ident=True):
    """An error that says that nothing ran: the checker knows it by data."""
    tx.error(code, words, status, {"chaos": "refused"},
             id=rx.json.get("id") if ident else None)


def said(rx, tx, status, code, words, ident=True):
    tx.error(code, words, status, {"chaos": "ran"},
             id=rx.json["id"] if ident else None)


class Moods:
    """How likely what is, in percent; drawn from the seed."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.flap = r.choice([0, 0, 0, 20, 50])
        self.busy = r.choice([0, 5, 15])
        self.broken = r.choice([0, 5, 15, 30])
        self.hangs = r.choice([0, 0, 3])
        self.asks = r.choice([0, 10, 40])
        self.resumes = r.choice([0, 10, 30])
        self.in_vain = r.choice([0, 0, 50, 100])
        self.late_words = r.choice([0, 5, 10])
        self.says = r.choice([0, 10, 40])
        self.door = r.choice(LOST)
        self.listens = r.choice([0, 50, 100])
        self.bad_notes = r.choice([0, 0, 10])
        self.slow = r.choice([0.0, 0.05, 0.5])
        self.lives = r.choice([1.0, 2.0, 4.0, 100.0])   # of a session
        self.restarts = r.choice([False, False, True])


class Chaos(faultserver.Server):
    side = contextlib.nullcontext()

    def __init__(self, seed):
        self.seed = seed
        self.moods = Moods(seed)
        self.healed = False
        self.sessions = {}              # id -> when it began
        self.made = 0
        self.times = {}                 # what -> how often it came
        self.runs = {}                  # key -> when it ran, each time
        self.asked = {}                 # question -> (key, when)
        self.told = {}                  # question -> the answer came
        self.vain = set()               # streams that nobody goes on with
        self.streams = {}               # stream -> (rpc id, key)
        super().__init__(handler=self.route)

    def chance(self, what):
        """A source of its own for each thing that happens."""
        with self.lock:
            n = self.times[what] = self.times.get(what, 0) + 1
        return random.Random("%d %s %d" % (self.seed, what, n))

    def events(self, r, seconds):
        if not self.moods.restarts:
            return []
        return [(seconds * r.random(),
                 lambda: self.restart(r.random() < 0.5)) for _ in range(2)]

    def sent(self, key):
        return self.times.get(key, 0)

    def heal(self):
        self.healed = True

    def forget(self):
        with self.lock:
            self.sessions.clear()

    def restart(self, reset):
        self.down(reset)
        self.forget()
        self.up()

    def show(self, since):
        for r in self.requests:
            print("%8.3f server: %r %s" % (r.time - since, r, r.body[:200]))
        print(vars(self.moods))

    # requests

    def route(self, rx, tx):
        if rx.method == "GET":
            self.get(rx, tx)
        elif rx.method == "DELETE":
            with self.lock:
                self.sessions.pop(rx.sid, None)
            tx.body(200)
        elif rx.rpc == "initialize":
            self.initialize(rx, tx)
        elif not self.knows(rx):
            if "id" in rx.json and rx.rpc:
                self.moods.door(rx, tx)
            else:
                self.chance("lost").choice(LOST[2:4])(rx, tx)
        elif rx.rpc is None:
            self.take_answer(rx, tx)
        elif "id" not in rx.json:
            self.note(rx, tx)
        elif rx.rpc == "tools/call":
            self.call(rx, tx)
        elif rx.rpc == "tools/list":
            tx.result({"tools": TOOLS})
        else:
            tx.result({})

    def knows(self, rx):
        with self.lock:
            began = self.sessions.get(rx.sid)
            if began is None:
                return False
            if not self.healed and \
                    time.monotonic() - began > self.moods.lives:
                del self.sessions[rx.sid]
                return False
        r = self.chance("flap")
        return self.healed or r.random() * 100 >= self.moods.flap

    def initialize(self, rx, tx):
        r = self.chance("initialize")
        if not self.healed and r.random() * 100 < self.moods.busy:
            r.choice(BUSY)(rx, tx)
            return
        with self.lock:
            self.made += 1
            sid = "chaos-%d" % self.made
            self.sessions[sid] = time.monotonic()
        tx.result({"protocolVersion": rx.json["params"]["protocolVersion"],
                   "capabilities": {"tools": {}},
                   "serverInfo": {"name": "chaos", "version": "1"}},
                  [("Mcp-Session-Id", sid)])

    def note(self, rx, tx):
        r = self.chance("note")
        if not self.healed and r.random() * 100 < self.moods.bad_notes:
            r.choice(BUSY)(rx, tx)
        else:
            tx.body(202)

    def take_answer(self, rx, tx):
        r = self.chance("answer")
        if not self.healed and r.random() * 100 < self.moods.bad_notes:
            r.choice(BUSY)(rx, tx)
            return
        with self.lock:
            self.told[rx.json.get("id")] = True
        tx.body(202)

    # tools

    def call(self, rx, tx):
        key = rx.json["params"]["arguments"]["key"]
        r = self.chance(key)
        dice = r.random() * 100
        m = self.moods
        if self.healed:
            self.run(key)
            self.result(rx, tx, key)
            return
        if dice < m.busy:
            r.choice(BUSY)(rx, tx)
            return
        self.run(key)
        self.closing.wait(m.slow * r.random())
        dice = r.random() * 100
        for chance, what in ((m.broken, self.breaks), (m.hangs, self.hang),
                             (m.asks, self.ask), (m.resumes, self.pause),
                             (m.late_words, self.late),
                             (m.says, self.say)):
            if dice < chance:
                what(rx, tx, key, r)
                return
            dice -= chance
        if r.random() < 0.5:
            self.result(rx, tx, key)
        else:
            tx.sse()
            tx.answer(self.text(key))

    def run(self, key):
        with self.lock:
            self.runs.setdefault(key, []).append(time.monotonic())

    @staticmethod
    def text(key):
        return {"content": [{"type": "text", "text": "ran " + key}]}

    def result(self, rx, tx, key):
        tx.result(self.text(key))

    def breaks(self, rx, tx, key, r):
        r.choice(BROKEN)(rx, tx)

    def say(self, rx, tx, key, r):
        r.choice(SAID)(rx, tx)

    def hang(self, rx, tx, key, r):
        tx.gone(PATIENCE)
        tx.cut()

    def late(self, rx, tx, key, r):
        self.closing.wait(LATE)
        tx.error(32600, "Session terminated")

    def ask(self, rx, tx, key, r):
        """The tool asks on its own stream, perhaps after a while in which
        its session ends, and waits."""
        with self.lock:
            name = "ask-%d" % (len(self.asked) + 1)
            self.asked[name] = (key, None)
        tx.sse()
        self.closing.wait(3 * r.random())
        tx.event({"jsonrpc": "2.0", "id": name,
                  "method": "elicitation/create",
                  "params": {"message": name, "requestedSchema":
                             {"type": "object", "properties": {}}}})
        with self.lock:
            self.asked[name] = (key, time.monotonic())
        end = time.monotonic() + PATIENCE
        while name not in self.told and time.monotonic() < end and \
                not tx.gone(0.05):
            pass
        if name in self.told:
            tx.answer(self.text(key))
        else:
            tx.cut()

    def pause(self, rx, tx, key, r):
        """The stream ends after an event id: a GET gets the rest, or
        nothing, again and again."""
        with self.lock:
            name = "s%d" % (len(self.streams) + 1)
            self.streams[name] = (rx.json["id"], key)
            if r.random() * 100 < self.moods.in_vain:
                self.vain.add(name)
        tx.sse()
        tx.event("", id=name, retry=200)
        if r.random() < 0.5:
            tx.cut()

    def get(self, rx, tx):
        r = self.chance("get")
        name = rx.get("Last-Event-ID")
        if name in self.streams:
            tx.sse()
            if name in self.vain:
                return
            ident, key = self.streams[name]
            tx.event({"jsonrpc": "2.0", "id": ident,
                      "result": self.text(key)})
        elif not self.knows(rx):
            tx.body(404)
        elif r.random() * 100 < self.moods.listens:
            tx.sse()
            tx.chunk(": hello\n\n")
            tx.gone(60 * r.random())
        else:
            tx.body(405)
