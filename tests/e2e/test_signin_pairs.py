"""The recoveries from a lost session and from a refused token do not disturb
each other.  The table has all pairs: an answer (401, 404, 403 for a missing
scope, a reset connection, 503) to a request (a call, the listen stream, the
initialize of a renewal, DELETE), in each of four states: nothing else happens,
a token is refreshed, a session is renewed, a user signs in.  Further tests
check rules that the table does not show.

The server holds back the request under test before the state begins; then it
answers the request, and then the state may end."""

import signal
import threading
import time

import authserver
import support
from support import LIVE

HEDGE = support.BOUND["SHORT_MS"] / 1000
ANSWERS = ("401", "404", "403", "reset", "503")

# Each cell has, for each of ANSWERS: the numbers of refreshes, sessions and
# tabs (with the first session and tab), and what the calls get: R the call
# under test, A the one that began the state, B and C those that wait for a
# session.  A word is "ok", or our error's "ran" and reason.
ERROR = "maybe:stream_lost"
LOST = "ok|maybe:session_lost"  # the witness does not wait for the user
AWAY = "maybe:upstream_unreachable"
NONE = "no:reinit_failed"
STOP = "*:shutting_down"
TABLE = {
    ("idle", "call"): [
        "1 1 1 R=ok", "0 2 1 R=ok", "0 1 2 R=ok",
        "0 1 1 R=" + ERROR, "0 1 1 R=" + AWAY],
    ("idle", "GET"): [
        "1 1 1", "0 2 1", "0 1 1", "0 1 1", "0 1 1"],
    ("idle", "initialize"): [
        "1 2 1 B=ok", "0 2 1 B=" + NONE, "0 2 2 B=ok",
        "0 2 1 B=ok", "0 2 1 B=ok"],
    ("idle", "DELETE"): [
        "0 1 1", "0 1 1", "0 1 1", "0 1 1", "0 1 1"],
    ("refresh", "call"): [
        "1 1 1 R=ok A=ok", "1 2 1 R=ok A=ok", "1 1 2 R=ok A=ok",
        "1 1 1 R=%s A=ok" % ERROR, "1 1 1 R=%s A=ok" % AWAY],
    ("refresh", "GET"): [
        "1 1 1 A=ok", "1 2 1 A=ok", "1 1 1 A=ok", "1 1 1 A=ok",
        "1 1 1 A=ok"],
    ("refresh", "initialize"): [
        "1 2 1 A=ok B=ok", "1 2 1 A=no:reinit_failed|no:session_lost "
                           "B=" + NONE,
        "1 2 2 A=ok B=ok", "1 2 1 A=ok B=ok", "1 2 1 A=ok B=ok"],
    ("refresh", "DELETE"): ["1 1 1 A=" + STOP] * 5,
    ("re-init", "call"): [
        "1 2 1 R=ok A=ok", "0 2 1 R=ok A=ok", "0 2 2 R=ok A=ok",
        "0 2 1 R=%s A=ok" % ERROR, "0 2 1 R=%s A=ok" % AWAY],
    # The proxy itself ends the listen stream when it renews the session.
    ("re-init", "GET"): [
        "1 2 1 A=ok", "0 2 1 A=ok", "0 2 1 A=ok", "0 2 1 A=ok",
        "0 2 1 A=ok"],
    ("re-init", "initialize"): [
        "1 2 1 B=ok C=ok", "0 2 1 B=%s C=%s" % (NONE, NONE),
        "0 2 2 B=ok C=ok", "0 2 1 B=ok C=ok", "0 2 1 B=ok C=ok"],
    ("re-init", "DELETE"): ["0 2 1 A=" + STOP] * 5,
    # The proxy tries one refresh before it asks the user.
    ("login", "call"): [
        "1 1 2 R=ok A=ok", "1 2 2 R=%s A=ok" % LOST, "1 1 3 R=ok A=ok",
        "1 1 2 R=%s A=ok" % ERROR, "1 1 2 R=%s A=ok" % AWAY],
    ("login", "GET"): [
        "1 1 2 A=ok", "1 2 2 A=ok", "1 1 2 A=ok", "1 1 2 A=ok",
        "1 1 2 A=ok"],
    ("login", "initialize"): [
        "1 2 2 A=ok B=ok", "1 2 2 A=no:reinit_failed|no:session_lost "
                           "B=" + NONE,
        "1 2 3 A=ok B=ok", "1 2 2 A=ok B=ok", "1 2 2 A=ok B=ok"],
    ("login", "DELETE"): ["1 1 2 A=" + STOP] * 5,
}


class Gate:
    """Holds one request until go is set; act answers it, or returns False
    for the proper answer."""

    def __init__(self, act=None):
        self.arrived = threading.Event()
        self.go = threading.Event()
        self.done = threading.Event()   # act has answered
        self.act = act or (lambda rx, tx: False)
        self.since = None               # when the request has arrived


class Server(authserver.Protected):
    def __init__(self, auth, **kw):
        self.gates = {}
        self.need = set()       # kinds that need the scope "extra"
        super().__init__(auth, **kw)
        self.on_get = self.stream_out

    @staticmethod
    def kind(rx):
        """The argument "key" of a call, else the method."""
        if rx.rpc == "tools/call":
            return rx.json["params"].get("arguments", {}).get("key")
        return rx.rpc if rx.method == "POST" else rx.method

    def gate(self, kind, act=None):
        g = Gate(act)
        with self.lock:
            self.gates[kind] = g
        return g

    def admits(self, rx, tx):
        with self.lock:
            g = self.gates.pop(self.kind(rx), None)
        if g:
            g.since = time.monotonic()
            g.arrived.set()
            while not g.go.wait(0.02) and not self.closing.is_set():
                pass
            try:
                if g.act(rx, tx):
                    return False
            finally:
                g.done.set()
        return super().admits(rx, tx)

    def scope_for(self, rx):
        return "extra" if self.kind(rx) in self.need else \
            super().scope_for(rx)

    def stream_out(self, rx, tx):
        """A listen stream that tells the client to reopen it soon."""
        tx.sse()
        tx.event(retry=100)
        self.streams.put(tx)
        while not tx.ended and not self.closing.is_set():
            if tx.gone(0.1):
                return

    def listens(self):
        return [r for r in self.seen(method="GET") if r.target == "/mcp"]

    def bearers(self, method=None, rpc=None):
        return [r.get("Authorization") for r in self.seen(rpc, method)]


class Base(authserver.Case):
    def begin(self, *args, **knobs):
        """Starts a proxy, which signs in, initializes and opens its listen
        stream."""
        self.a = self.auth(**{k: knobs.pop(k) for k in ("refreshes", "life")
                              if k in knobs})
        server = {k: knobs.pop(k) for k in ("refuse",) if k in knobs}
        self.m = self.adopt(Server(self.a, **server), knobs)
        self.b = self.browser()
        self.p = self.splice(self.m, "-v", "--browser", self.b.command, *args)
        self.p.hello()
        self.open = self.m.stream()
        self.ids = {}
        self.sent = {}

    def call(self, key):
        self.sent[key] = time.monotonic()
        self.ids[key] = self.p.start("tools/call", {
            "name": "echo", "arguments": {"key": key}})
        return self.ids[key]

    def until(self, test, what):
        self.assertTrue(self.m.wait(test, LIVE), "%s; stderr %s" % (
            what, self.p.err()[-1500:]))

    def arrives(self, gate):
        self.until(gate.arrived.is_set, "it does not arrive")

    def renews(self):
        """Waits until the witness has shown that the session is lost: until
        then the initialize sent beside the witness may not be used."""
        self.until(lambda: "session is unknown): renewing" in self.p.err(),
                   "no renewal")

    def was_read(self):
        """Waits until the proxy has read all input so far: it answers this
        line itself."""
        self.p.raw(b"no JSON\n", idless=1)
        self.assertIsNotNone(self.p.find(lambda m: m.get("id") is None and
                                         "error" in m))

    def word(self, key):
        m = self.p.answer(self.ids[key])
        if "result" in m:
            return "ok"
        e = m["error"]
        self.assertEqual(e.get("data", {}).get("source"), "mcpsplice", e)
        return "%s:%s" % (e["data"].get("ran"), e["data"].get("reason"))

    def expect(self, key, want):
        got = self.word(key)
        if "|" in want:         # depends on timing
            self.assertIn(got, want.split("|"))
            return
        if want.startswith("*"):
            got = "*" + got[got.index(":"):]
        if want == "ok":
            self.in_time(self.p.answer(self.ids[key]), self.sent[key])
        self.assertEqual(got, want, "%s: %r; stderr %s" % (
            key, self.p.answer(self.ids[key]), self.p.err()[-1500:]))

    def ok(self, *keys):
        for key in keys:
            self.expect(key, "ok")

    def counts(self, refreshes, sessions, tabs):
        """Checks these numbers, and that nothing was done twice."""
        a, m = self.a, self.m
        self.assertEqual(
            (a.token_requests("refresh_token"), len(m.made),
             len(self.b.opened())), (refreshes, sessions, tabs),
            "refreshes, sessions, tabs; stderr %s" % self.p.err()[-1500:])
        self.assertEqual(a.reuse_events, 0)
        # another process may have the port that the client registered with
        self.assertIn(a.registrations, range(1, tabs + 1))
        self.assertEqual(a.authorizations, tabs)
        self.assertEqual(a.given["authorization_code"], tabs)
        for key in self.ids:
            self.assertLessEqual(m.runs(key), 1, key)
            if "result" in self.p.answer(self.ids[key]):
                self.assertEqual(m.runs(key), 1, key)
        self.assertEqual(m.early, [])

    def newest(self):
        return "Bearer " + [text for kind, text in self.a.made
                            if kind == "access"][-1]

    def end(self):
        """The DELETE is sent with the newest token."""
        self.p.finish()
        self.assertEqual(self.m.deleted, [self.m.made[-1]])
        self.assertEqual(self.m.bearers("DELETE"), [self.newest()])


class Pairs(Base):
    # answers

    def say_401(self, rx, tx):
        self.a.expire()
        self.m.say_no(rx, tx, 401, "invalid_token", None)
        return True

    def say_404(self, rx, tx):
        self.m.forget()
        self.m.refuse(rx, tx)
        return True

    def say_403(self, rx, tx):
        self.m.need.add(self.m.kind(rx))
        self.m.say_no(rx, tx, 403, "insufficient_scope", "extra")
        return True

    def say_reset(self, rx, tx):
        if rx.rpc == "tools/call":
            with self.m.lock:
                self.m.executed.append(rx)
        tx.reset()
        return True

    def say_503(self, rx, tx):
        tx.text(503, "busy\n")
        return True

    # states

    def begin_idle(self):
        pass

    def begin_refresh(self):
        self.a.script("token", authserver.hold(self.over))
        self.a.expire()
        self.begin_call()
        self.until(lambda: self.a.token_requests("refresh_token"),
                   "no refresh")

    def begin_reinit(self):
        self.held = self.m.gate("initialize")
        self.held.go = self.over
        self.m.forget()
        self.call("A")
        self.arrives(self.held)
        self.renews()

    def begin_login(self):
        self.a.script("authorize", authserver.hold(self.over))
        self.a.revoke()
        self.begin_call()
        self.until(lambda: self.a.authorizations == 2, "no sign-in")

    def begin_call(self):
        """Lets A be refused; A is under way already if a renewal is tested."""
        if self.first:
            self.first.go.set()
        else:
            self.call("A")

    # requests

    def send_call(self, when):
        self.call("R")

    def send_get(self, when):
        self.open.end()

    def send_initialize(self, when):
        if when in ("refresh", "login"):
            self.first = self.m.gate("A")
            self.call("A")
            self.arrives(self.first)
        self.m.forget()
        self.call("B")

    # one pair

    def pair_of(self, when, what, answer):
        """Runs the pair, and again if a slow machine held an initialize so
        long that the proxy sent a second one."""
        for _ in range(5):
            if self.passes(when, what, answer):
                return
            self.p.kill()
            self.may_hold.append(self.home)
            self.home = self.new_home()
        self.fail("an initialize was always held too long")

    def hedged(self):
        return self.held is not None and \
            time.monotonic() - self.held.since > HEDGE - 0.5

    def passes(self, when, what, answer):
        """Runs the pair once; False if an initialize was held too long.  A
        check that fails raises."""
        want = TABLE[when, what][ANSWERS.index(answer)].split()
        refreshes, sessions, tabs = (int(n) for n in want[:3])
        self.over = threading.Event()
        self.first = self.held = None
        self.begin()
        enter = {"idle": self.begin_idle, "refresh": self.begin_refresh,
                 "re-init": self.begin_reinit, "login": self.begin_login}
        gate = self.m.gate("R" if what == "call" else what,
                           getattr(self, "say_" + answer))
        if what == "DELETE":
            gate.go.set()
            enter[when]()
            self.leave(when, want[3:])
        else:
            {"call": self.send_call, "GET": self.send_get,
             "initialize": self.send_initialize}[what](when)
            self.arrives(gate)
            if what == "initialize":
                self.held = gate
                self.renews()
            if (when, what) == ("re-init", "initialize"):
                self.call("C")
                self.was_read()
            else:
                enter[when]()
            gate.go.set()
            self.until(gate.done.is_set, "no answer")
            if what == "call" and answer in ("reset", "503"):
                self.word("R")      # answered before the state ends
            self.over.set()
            if self.hedged():
                return False
            for pair in want[3:]:
                self.expect(*pair.split("="))
            self.look(what, answer, sessions)
        self.counts(refreshes, sessions, tabs)
        given = self.a.given["refresh_token"]
        self.assertEqual(given, refreshes - (when == "login"))
        if what != "DELETE":
            self.end()
            self.counts(refreshes, sessions, tabs)
        return True

    def look(self, what, answer, sessions):
        """A call works, in the newest session and with the newest token."""
        # a renewal that no call waits for may take a while
        self.until(lambda: len(self.m.made) == sessions or
                   answer == "404" and what == "initialize", "no session")
        if what == "GET" and answer != "403":
            self.m.stream()
        elif what == "GET":
            # the 403 is final: the user is not asked for the listen stream
            self.until(lambda: "refused the listen stream (403)" in
                       self.p.err(), "the stream is not refused")
        self.call("P")
        self.ok("P")
        last = [r for r in self.m.executed
                if self.m.kind(r) == "P"][-1]
        self.assertEqual(last.sid, self.m.made[-1])
        self.assertEqual(last.get("Authorization"), self.newest())
        if what == "GET" and answer == "403":
            self.assertTrue(self.m.streams.empty())
            self.assertLessEqual(len(self.m.listens()), 4)

    def leave(self, when, want):
        """The proxy ends at once, and the refresh, renewal or sign-in that it
        had begun is not lost."""
        p, m = self.p, self.m
        if when == "idle":
            p.close()
        else:
            p.proc.send_signal(signal.SIGTERM)
        for pair in want:
            self.expect(*pair.split("="))
        if when == "re-init":
            self.over.set()
        p.finish()
        said = m.seen(method="DELETE")
        # a renewal may end too late for a DELETE
        if when != "re-init":
            self.assertEqual(len(said), 1)
        for r in said:
            self.assertEqual(r.sid, m.made[-1])
            self.assertEqual(len(m.seen(method="DELETE")), 1)
        self.assertEqual(len(self.b.opened()), 2 if when == "login" else 1)
        self.over.set()
        if when in ("refresh", "login"):
            self.until(lambda: m.wait(lambda: sum(
                self.a.given.values()) == 2, LIVE), "it was given up")


def test_of(when, what, answer):
    return lambda self: self.pair_of(when, what, answer)


for (_when, _what), _row in TABLE.items():
    assert len(_row) == len(ANSWERS)
    for _answer in ANSWERS:
        setattr(Pairs, "test_%s_%s_%s" % (
            _what.lower(), _answer, _when.replace("-", "")),
            test_of(_when, _what, _answer))


class Tokens(Base):
    def flight(self, *keys):
        """Calls that the server holds, all answered by one go."""
        go = threading.Event()
        gates = [self.m.gate(key) for key in keys]
        for g in gates:
            g.go = go
        for key in keys:
            self.call(key)
        for g in gates:
            self.arrives(g)
        return go

    def test_refused_with_the_token_before(self):
        """A call refused with the old token is sent again with the new one,
        without another refresh."""
        self.begin()
        first, second = self.flight("1"), self.flight("2")
        self.a.expire()
        first.set()
        self.ok("1")
        second.set()
        self.ok("2")
        self.counts(1, 1, 1)
        self.assertEqual(self.m.bearers(rpc="tools/call")[-1], self.newest())
        self.end()

    def slow(self, key):
        """A call that the server has accepted, and answers when told."""
        taken, go = threading.Event(), threading.Event()
        tool = self.m.methods["tools/call"]

        def run(rx, tx):
            if self.m.kind(rx) == key:
                taken.set()
                while not go.wait(0.02) and not self.m.closing.is_set():
                    pass
            tool(rx, tx)
        self.m.methods["tools/call"] = run
        self.call(key)
        self.until(taken.is_set, "not taken")
        return go

    def test_late_answer_to_the_token_before(self):
        """A late success with the old token says nothing about the new one,
        which can still be refreshed."""
        self.begin()
        go = self.slow("late")
        self.a.expire()
        self.call("1")
        self.ok("1")
        go.set()
        self.ok("late")
        self.a.expire()
        self.call("2")
        self.ok("2")
        self.counts(2, 1, 1)
        self.end()

    def test_lives_on_while_a_call_runs(self):
        """Neither recovery ends a call that the server works on."""
        self.begin()
        go = self.slow("long")
        self.a.expire()
        self.call("1")
        self.ok("1")
        self.m.forget()
        self.call("2")
        self.ok("2")
        go.set()
        self.ok("long")
        self.counts(1, 2, 1)
        self.end()

    def test_circuit(self):
        """The server refuses a token that was just issued: no more refreshes,
        a clear error, no browser.  Once the server accepts it, calls work."""
        self.begin()
        self.m.refuses_all = True
        self.call("1")
        self.expect("1", "maybe:auth_required")
        e = self.p.answer(self.ids["1"])["error"]
        self.assertIn("just issued", e["message"])
        sent = len(self.m.seen("tools/call"))
        self.assertEqual(sent, 2)
        for n in range(2, 22):
            self.call(str(n))
            self.expect(str(n), "maybe:auth_required")
        self.counts(1, 1, 1)
        self.assertEqual(len(self.m.seen("tools/call")), 22)
        self.m.refuses_all = False
        self.call("W")
        self.ok("W")
        self.a.expire()     # the token has worked: a refresh is allowed
        self.call("X")
        self.assertIn(self.word("X"), ("ok", "maybe:auth_required"))
        self.assertLessEqual(self.a.token_requests("refresh_token"), 2)
        self.assertEqual(len(self.b.opened()), 1)

    def test_circuit_half_open(self):
        """The next refresh is tried after 15 s, not before."""
        self.begin()
        self.m.refuses_all = True
        self.call("1")
        self.expect("1", "maybe:auth_required")

        def again():
            key = "again-%d" % len(self.ids)
            self.call(key)
            self.expect(key, "maybe:auth_required")
            self.m.closing.wait(0.5)
            return self.a.token_requests("refresh_token") == 2
        begin = time.monotonic()
        self.assertTrue(self.m.wait(again, 60))
        self.assertGreater(time.monotonic() - begin, 10)
        self.assertEqual(len(self.b.opened()), 1)

    def many(self, counts, *blows):
        """50 calls at once are each refused once, and then answered."""
        self.begin()
        keys = ["c%d" % n for n in range(50)]
        go = self.flight(*keys)
        for blow in blows:
            blow()
        go.set()
        self.ok(*keys)
        self.counts(*counts)
        self.end()

    def test_many_calls_one_refresh(self):
        self.many((1, 1, 1), lambda: self.a.expire())

    def test_many_calls_one_login(self):
        self.many((1, 1, 2), lambda: self.a.revoke())

    def test_many_calls_all_is_gone(self):
        """The session and the token are lost at once."""
        self.many((1, 2, 1), lambda: self.a.expire(), lambda: self.m.forget())

    def test_many_calls_half_and_half(self):
        """Half the calls are first refused for the session, half for the
        token."""
        def lost(rx, tx):
            self.m.refuse(rx, tx)
            return True
        self.begin()
        keys = ["c%d" % n for n in range(50)]
        go = threading.Event()
        gates = [self.m.gate(key, lost if n % 2 else None)
                 for n, key in enumerate(keys)]
        for g, key in zip(gates, keys):
            g.go = go
            self.call(key)
        for g in gates:
            self.arrives(g)
        self.a.expire()
        self.m.forget()
        go.set()
        self.ok(*keys)
        self.counts(1, 2, 1)
        self.end()

    def test_expired_by_its_time(self):
        """The token is refreshed before a call is sent, not after a 401."""
        self.begin(life=3)
        refused = len(self.m.refused)
        self.m.closing.wait(3.2)
        self.a.life = 3600
        keys = ["c%d" % n for n in range(10)]
        for key in keys:
            self.call(key)
        self.ok(*keys)
        self.counts(1, 1, 1)
        self.assertEqual(len(self.m.refused), refused)
        self.end()


class Sessions(Base):
    def bound(self, code, words):
        """The server binds a session to its token: a refresh loses it."""
        self.begin(refuse=lambda rx, tx: tx.text(code, words),
                   binds_sessions=True)
        self.a.expire()
        self.call("1")
        self.ok("1")
        self.call("2")
        self.ok("2")
        self.counts(1, 2, 1)
        self.assertEqual(self.m.bearers(rpc="initialize")[-1], self.newest())
        self.end()

    def test_bound_404(self):
        self.bound(404, "not found\n")

    def test_bound_404_words(self):
        self.bound(404, "session not found\n")

    def test_bound_403(self):
        self.bound(403, "forbidden\n")

    def test_bound_400(self):
        self.bound(400, "Bad Request: No valid session ID provided\n")

    def test_bound_and_many(self):
        self.begin(refuse=lambda rx, tx: tx.text(403, "forbidden\n"),
                   binds_sessions=True)
        self.a.expire()
        keys = ["c%d" % n for n in range(20)]
        for key in keys:
            self.call(key)
        self.ok(*keys)
        self.counts(1, 2, 1)
        self.end()

    def test_forbidden_after_a_refresh(self):
        """A 403 after a refresh is not about the session: the proxy tries one
        new session, and then passes the 403 on."""
        def no(rx, tx):
            return tx.text(403, "forbidden\n")
        self.begin()
        self.a.expire()
        self.m.methods["tools/call"] = no
        self.call("1")
        m = self.p.answer(self.ids["1"])
        self.assertEqual(m["error"]["data"]["httpStatus"], 403)
        self.call("2")
        self.assertIn("error", self.p.answer(self.ids["2"]))
        self.assertEqual(len(self.m.made), 2)
        self.assertEqual(self.a.token_requests("refresh_token"), 1)
        self.assertEqual(len(self.b.opened()), 1)

    def test_forbidden(self):
        """A 403 with the token that the session began with is final."""
        self.begin()
        self.call("1")
        self.ok("1")
        self.m.closing.wait(5.5)    # the token is not new
        self.m.methods["tools/call"] = \
            lambda rx, tx: tx.text(403, "forbidden\n")
        self.call("2")
        self.expect("2", "maybe:auth_failed")
        self.assertEqual(len(self.m.made), 1)
        self.assertEqual(self.a.token_requests("refresh_token"), 0)
        self.assertEqual(len(self.b.opened()), 1)

    # 401 for a lost session (doc/protocol.md 3.7)

    @staticmethod
    def bare(rx, tx):
        tx.text(401, "Unauthorized\n")

    def test_bare_401_is_the_session(self):
        """There is no refresh token, and the access token has worked: the
        proxy tries one initialize with it before it asks the user."""
        self.begin(refuse=self.bare, refreshes=False)
        self.call("1")
        self.ok("1")
        self.m.forget()
        self.call("2")
        self.ok("2")
        self.counts(0, 2, 1)
        self.assertEqual(len(set(self.m.bearers(rpc="tools/call"))), 1)
        self.end()

    def many(self, count, **knobs):
        self.begin(refuse=self.bare, **knobs)
        self.call("1")
        self.ok("1")
        keys = ["c%d" % n for n in range(20)]
        gates = [self.m.gate(key) for key in keys]
        for key in keys:
            self.call(key)
        for g in gates:
            self.arrives(g)
        self.m.forget()
        for g in gates:
            g.go.set()
        self.ok(*keys)
        self.counts(count, 2, 1)
        self.end()

    def test_bare_401_and_many(self):
        self.many(0, refreshes=False)

    def test_bare_401_a_refresh_token_and_many(self):
        self.many(1)

    def test_bare_401_is_the_token(self):
        self.begin(refreshes=False, challenge=lambda rx, error, scope: None)
        self.call("1")
        self.ok("1")
        before = self.m.inits()
        self.a.expire()
        self.call("2")
        self.ok("2")
        self.assertEqual(len(self.b.opened()), 2)
        # one initialize beside the witness, and two of the renewal
        self.assertLessEqual(self.m.inits() - before, 3)
        self.counts(0, 2, 2)
        self.end()

    def test_401_with_a_challenge_is_the_token(self):
        """The session stays."""
        self.begin(refreshes=False)
        self.call("1")
        self.ok("1")
        self.a.expire()
        self.call("2")
        self.ok("2")
        self.counts(0, 1, 2)
        self.end()

    def test_bare_401_and_a_refresh_token(self):
        """The proxy refreshes first; as that does not help, it renews the
        session."""
        self.begin(refuse=self.bare)
        self.call("1")
        self.ok("1")
        self.m.forget()
        self.call("2")
        self.ok("2")
        self.counts(1, 2, 1)
        self.end()

    def words(self, head):
        heads = [("WWW-Authenticate", head)] if head else []
        self.begin(refuse=lambda rx, tx: tx.text(
            401, "Session not found or expired\n", heads))
        self.m.forget()
        self.call("1")
        self.ok("1")
        self.counts(0, 2, 1)
        self.assertEqual(len(set(self.m.bearers(rpc="tools/call"))), 1)
        self.end()

    def test_401_that_speaks_of_a_session(self):
        self.words(None)

    def test_401_that_speaks_of_a_session_and_challenges(self):
        self.words('Bearer error="invalid_token"')

    def test_step_up_in_a_renewal(self):
        """The renewal waits for the sign-in and then goes on.  The initialize
        sent beside the witness does not ask the user."""
        self.begin()
        self.m.rpc_scopes["initialize"] = "extra"
        self.m.forget()
        before = self.m.inits()
        self.call("1")
        self.ok("1")
        self.assertEqual(self.m.inits() - before, 3)
        self.counts(0, 2, 2)
        self.end()

    def test_no_token_for_the_renewal(self):
        """The authorization server is away for longer than the calls wait:
        each call gets one error, and later calls work."""
        self.begin("--retry-window", "2")
        self.a.always("token", authserver.status(503, "busy"))
        self.a.expire()
        self.m.forget()
        for key in "123":
            self.call(key)
        for key in "123":
            self.assertTrue(self.word(key).startswith("maybe:"))
        self.a.always("token")

        def works():
            key = "again-%d" % len(self.ids)
            self.call(key)
            return self.word(key) == "ok" or self.m.closing.wait(0.2)
        self.assertTrue(self.m.wait(works))
        self.assertEqual(len(self.m.made), 2)
        self.assertEqual(len(self.b.opened()), 1)
        self.assertEqual(self.a.given["refresh_token"], 1)
        for key in "123":
            self.assertEqual(self.m.runs(key), 0)


class Parked(Base):
    def cancelled(self, over):
        """A waiting call is cancelled and is not sent again; another call
        that waits beside it is sent."""
        ident = self.ids.pop("1")
        self.call("2")
        self.p.cancel(ident)
        self.was_read()
        over.set()
        self.ok("2")
        self.call("3")
        self.ok("3")
        self.assertEqual(self.m.runs("1"), 0)
        self.assertLessEqual(len([r for r in self.m.seen("tools/call")
                                  if self.m.kind(r) == "1"]), 1)

    def test_cancelled_in_a_refresh(self):
        self.begin()
        over = threading.Event()
        self.a.script("token", authserver.hold(over))
        self.a.expire()
        self.call("1")
        self.until(lambda: self.a.token_requests("refresh_token"), "none")
        self.cancelled(over)
        self.counts(1, 1, 1)

    def test_cancelled_in_a_login(self):
        self.begin()
        over = threading.Event()
        self.a.script("authorize", authserver.hold(over))
        self.a.revoke()
        self.call("1")
        self.until(lambda: self.a.authorizations == 2, "no sign-in")
        self.cancelled(over)
        self.counts(1, 1, 2)

    def test_cancelled_in_a_renewal(self):
        self.begin()
        g = self.m.gate("initialize")
        self.m.forget()
        self.call("1")
        self.arrives(g)
        self.renews()
        self.cancelled(g.go)
        self.counts(0, 2, 1)

    def test_cancelled_in_a_refresh_of_a_renewal(self):
        self.begin()
        over = threading.Event()
        self.a.script("token", authserver.hold(over))
        g = self.m.gate("initialize")
        self.m.forget()
        self.call("1")
        self.arrives(g)
        self.renews()
        self.a.expire()
        g.go.set()
        self.until(lambda: self.a.token_requests("refresh_token"), "none")
        self.cancelled(over)
        self.counts(1, 2, 1)


class Ends(Base):
    def test_eof_in_a_refresh(self):
        """The open call is answered; the DELETE has the new token."""
        self.begin()
        over = threading.Event()
        self.a.script("token", authserver.hold(over))
        self.a.expire()
        self.call("1")
        self.until(lambda: self.a.token_requests("refresh_token"), "none")
        self.p.close()
        over.set()
        self.ok("1")
        self.end()
        self.counts(1, 1, 1)

    def test_eof_in_a_login(self):
        self.begin()
        over = threading.Event()
        self.a.script("authorize", authserver.hold(over))
        self.a.revoke()
        self.call("1")
        self.until(lambda: self.a.authorizations == 2, "no sign-in")
        self.p.close()
        over.set()
        self.ok("1")
        self.end()
        self.counts(1, 1, 2)

    @support.plain
    def test_delete_with_an_expired_token(self):
        """The proxy does not wait for a new token."""
        self.begin(life=3)
        self.m.closing.wait(3.2)
        over = threading.Event()
        self.a.script("token", authserver.hold(over))
        begin = time.monotonic()
        self.p.finish()
        took = time.monotonic() - begin
        over.set()
        self.within(took, 10)
        self.assertEqual(self.m.seen(method="DELETE")[0].sid, self.m.made[0])
        self.assertEqual(self.a.token_requests("refresh_token"), 0)
        self.assertEqual(len(self.b.opened()), 1)

    def test_delete_without_a_good_token(self):
        self.begin(refreshes=False)
        self.a.expire()
        self.p.finish()
        self.assertEqual(len(self.m.seen(method="DELETE")), 1)
        self.assertEqual(len(self.b.opened()), 1)

    def test_the_next_one_finds_the_token(self):
        """The proxy is killed while a user signs in: the sign-in goes on."""
        self.begin()
        over = threading.Event()
        self.a.script("authorize", authserver.hold(over))
        self.a.revoke()
        self.call("1")
        self.until(lambda: self.a.authorizations == 2, "no sign-in")
        self.p.kill()
        q = self.splice(self.m, "--browser", self.b.command)
        q.send(support.init("hello"))
        over.set()
        self.assertIn("result", q.answer("hello"))
        self.assertEqual(len(self.b.opened()), 2)
        self.assertEqual(self.a.token_requests("refresh_token"), 1)


if __name__ == "__main__":
    support.main()
