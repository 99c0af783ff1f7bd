"""A long session: sleep, dead connections, other networks, twins, herds,
pings, kills, starts without a server, and what is said about all that.

A sleep is played by a library that is loaded before the C library's own and
lets CLOCK_BOOTTIME jump when a file appears; a dead connection by a relay
that stops to forward, or, in a network namespace of the test's own, by a
rule that swallows its packets; another network by other addresses there.
Cases that need more than 70 s run only with E2E_LONG in the environment.
"""

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

import pace
import support
from support import INITIALIZED, init, note

LONG = os.environ.get("E2E_LONG")
NETNS = os.environ.get("E2E_NETNS")
GONE = {"code": -32001, "message": "Session not found"}
TOOLS = [{"name": "reads", "inputSchema": {"type": "object"},
          "annotations": {"readOnlyHint": True}},
         {"name": "echo", "inputSchema": {"type": "object"}}]
# What -v says
ELSEWHERE = "another replica may know the session: sending the request " \
    "again with the same session id, try %d"
FIRST = "session 1 with HOST, protocol 2025-11-25"
REFUSED = '"echo" was refused in session %d before it ran: %s'
LOST = "HOST forgot the session (%s): renewing"
LATER = "HOST forgot the session (%s); no call is waiting: renewing it in 0 ms"
NEW = "warning: HOST: new session, number %d (%s)"
ASKS = "%s: sending a ping to see whether the session is alive"
DOUBTS = "%s: sending a test request to see whether the server or the tool " \
    "refused"
PING = "the test request (a ping) was %s"
LIST = "the test request (a list) was %s"
IS_GONE = "the ping shows that the session is gone (%s)"
UNKNOWN = "404, the session is unknown"
BARE = "404, no text about a session"
ENDED = "the session ended while the request ran"
CAPS = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}


def gone(rx, tx):
    tx.json({"jsonrpc": "2.0", "id": None, "error": GONE}, 404)


def stay(tx):
    while not tx.gone(0.2):
        if tx.server.closing.is_set():
            return


class Relay:
    """Stands between the program and a server; connections that exist can be
    stalled, new ones always work."""

    def __init__(self, port):
        self.target = port
        self.errors = []
        self.lock = threading.Lock()
        self.pairs = []         # (event: it forwards, socket, socket)
        self.closed = False
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = "http://127.0.0.1:%d/mcp" % self.sock.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                a, _ = self.sock.accept()
                b = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            go = threading.Event()
            go.set()
            with self.lock:
                self.pairs.append((go, a, b))
            for one, other in ((a, b), (b, a)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=(go, one, other),
                                 daemon=True).start()

    def pump(self, go, one, other):
        try:
            while True:
                data = one.recv(65536)
                go.wait()
                if not data or self.closed:
                    other.shutdown(socket.SHUT_WR)
                    return
                other.sendall(data)
        except OSError:
            pass

    def stall(self, which=None):
        """Nothing gets through on the connections of now any more; nobody
        is told."""
        with self.lock:
            for i, (go, _, _) in enumerate(self.pairs):
                if which is None or i in which:
                    go.clear()

    def heal(self):
        """What was held up comes through."""
        with self.lock:
            for go, _, _ in self.pairs:
                go.set()

    def close(self):
        self.closed = True
        self.heal()
        with self.lock:
            all_of_them = [self.sock] + [x for p in self.pairs for x in p[1:]]
        for x in all_of_them:
            try:
                x.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            x.close()


class Base(support.Case):
    def server(self, **kw):
        """One with a listen stream, list_changed and tools with hints."""
        s = self.mcp(capabilities=CAPS, refuse=gone, **kw)
        s.on_get = s.listen
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
        s.methods["resources/subscribe"] = lambda rx, tx: tx.result({})
        return s

    def relayed(self, *args, **kw):
        """Server, relay and program; the listen stream has an event id."""
        s = self.server()
        r = Relay(s.port)
        self.servers.append(r)
        p = self.splice(r.url, *args, **kw)
        p.server = s
        p.hello()
        s.stream().event(note("notifications/message",
                              {"level": "info", "data": 1}), id="e-7")
        p.server_message("notifications/message")
        self.assertEqual(p.ask("tools/list")["result"]["tools"], TOOLS)
        self.works(s, p, "first")
        return s, r, p

    def good(self, m, key):
        if "result" not in m:
            self.fail("no result: %s; stderr %s" % (
                json.dumps(m)[:500], self.running[-1].err()[-1500:]))
        self.assertEqual(json.loads(m["result"]["content"][0]["text"])["key"],
                         key)

    def works(self, s, p, key, seconds=support.LIVE, name="echo"):
        """A call is answered and was run once; returns how long it took."""
        begin = time.monotonic()
        self.good(p.tool(name, key=key, seconds=seconds), key)
        self.assertEqual(s.runs(key), 1)
        return time.monotonic() - begin

    def call(self, p, key, name="echo", **args):
        """Sends a call, and does not wait for it."""
        return p.start("tools/call", {"name": name,
                                      "arguments": dict(args, key=key)})

    def of(self, s, key):
        """Requests with that key."""
        return [r for r in s.seen("tools/call")
                if r.json["params"]["arguments"].get("key") == key]

    def said(self, p, *lines):
        """stderr has each of these lines once."""
        err = p.err().splitlines()
        for line in lines:
            n = sum(1 for e in err if line in e)
            self.assertEqual(n, 1, "%r is there %d times:\n%s" %
                             (line, n, "\n".join(err)))

    def files(self):
        found = []
        for folder, folders, names in os.walk(self.home):
            found += [os.path.join(folder, n) for n in folders + names]
        return found


# --- sleep ---



@support.plain
class Sleep(Base):
    """The lid is closed and opened again; the old connections are dead, and
    nobody says so."""

    def start(self, *args):
        nap = os.path.join(self.tmp, "nap")
        s, r, p = self.relayed("-v", *args, env={
            "LD_PRELOAD": support.Library.get(self, "nap.c"), "NAP": nap})
        return s, r, p, nap

    def sleep(self, r, nap, seconds):
        if r:
            r.stall()
        with open(nap + ".new", "w") as f:
            f.write("%d\n" % seconds)
        os.rename(nap + ".new", nap)

    def test_next_call(self):
        s, r, p, nap = self.start()
        last = s.connections
        self.sleep(r, nap, 3600)
        self.within(self.works(s, p, "after"), 5)
        self.assertGreater(self.of(s, "after")[0].conn, last)
        self.assertEqual(s.stream(10).request.get("Last-Event-ID"), "e-7")
        # and again, for a safe one, which may ride any connection
        last = s.connections
        self.sleep(r, nap, 7200)
        self.within(self.works(s, p, "safe", name="reads"), 5)
        self.assertGreater(self.of(s, "safe")[0].conn, last)
        self.assertEqual(s.stream(10).request.get("Last-Event-ID"), "e-7")
        self.within(self.works(s, p, "later"), 5)
        p.finish()
        self.assertEqual(s.inits(), 1)
        # a busy machine looks at its clocks late
        slept = re.findall(r"the machine slept for (36[0-5][0-9]) s: "
                           "later requests get new connections", p.err())
        self.assertEqual(len(slept), 2, p.err())

    def test_session_expired_meanwhile(self):
        s, r, p, nap = self.start()
        s.forget()
        self.sleep(r, nap, 3600)
        self.within(self.works(s, p, "after"), 10)
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_nobody_calls(self):
        """The stream is opened again when the machine wakes, not when
        somebody comes."""
        s, r, p, nap = self.start()
        self.sleep(r, nap, 3600)
        self.assertEqual(s.stream(15).request.get("Last-Event-ID"), "e-7")
        p.finish()

    def test_waiting_retry_goes_out(self):
        """Wi-Fi is back with the lid: what waits is tried at once."""
        s, r, p, nap = self.start()
        s.down()
        r.close()
        a = self.call(p, 1)
        self.settle(8)
        s.up()
        # the relay's port is taken again
        again = socket.create_server(
            ("127.0.0.1", int(r.url.split(":")[2].split("/")[0])))
        r.sock, r.closed = again, False
        threading.Thread(target=r.accept, daemon=True).start()
        self.sleep(None, nap, 3600)
        begin = time.monotonic()
        p.send(note("notifications/x"))
        self.good(p.answer(a, 10), 1)
        self.within(time.monotonic() - begin, 1.5)
        p.finish()

    def test_no_sleep(self):
        """A second is no sleep, and clocks that go apart once stay so."""
        s, r, p, nap = self.start()
        self.sleep(None, nap, 1)
        self.works(s, p, 1)
        last = s.connections
        self.works(s, p, 2)
        self.assertEqual(s.connections, last)
        self.sleep(None, nap, 3600)
        self.works(s, p, 3)
        last = s.stream(10).request.conn
        self.works(s, p, 4)
        self.works(s, p, 5)
        self.assertLessEqual(s.connections, last + 1)
        p.finish()
        self.said(p, "the machine slept")


# --- connections that are dead ---

@support.plain
class HalfOpen(Base):
    """Old connections swallow everything, and the machine did not sleep."""

    def test_unsafe_call_after_a_while(self):
        s, r, p = self.relayed()
        last = s.connections
        r.stall()
        self.settle(16)
        self.within(self.works(s, p, "after"), 2)
        self.assertGreater(self.of(s, "after")[0].conn, last)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_safe_call_after_a_while(self):
        """The relay's own end lives: TCP sees nothing."""
        s, r, p = self.relayed()
        r.stall()
        self.settle(16)
        self.within(self.works(s, p, "after", 15, "reads"), 2)
        p.finish()

    def test_list_after_a_while(self):
        s, r, p = self.relayed()
        r.stall()
        self.settle(16)
        begin = time.monotonic()
        self.assertIn("result", p.ask("tools/list", seconds=15))
        self.within(time.monotonic() - begin, 2)
        p.finish()

    def test_answer_after_a_while(self):
        """The user thought about a question of the server."""
        s, r, p = self.relayed("-v")

        def asks(rx, tx):
            tx.sse()
            tx.event({"jsonrpc": "2.0", "id": 7, "method": "roots/list"})
            s.wait(lambda: s.replies, 25)
            tx.answer({"content": [{"type": "text", "text": json.dumps(
                {"key": "asks", "n": len(s.replies)})}]})
        ids = [self.call(p, i, ms=300) for i in range(3)]
        for i in ids:
            p.answer(i)
        s.methods["tools/call"] = asks
        a = self.call(p, "asks")
        q = p.server_message("roots/list")
        # the call's own stream goes on, the idle connections are dead
        call = s.seen("tools/call")[-1].conn
        r.stall([i for i in range(len(r.pairs)) if i + 1 != call])
        self.settle(16)
        p.send({"jsonrpc": "2.0", "id": q["id"], "result": {"roots": []}})
        m = p.answer(a, 12)
        self.assertEqual(json.loads(m["result"]["content"][0]["text"])["n"],
                         1)
        p.finish()

    def test_loss_after_a_while(self):
        """Idle connections that are dead, and the session is gone as well:
        the renewal finds a way."""
        s, r, p = self.relayed("-v")
        ids = [self.call(p, i, ms=500) for i in range(4)]
        for i in ids:
            p.answer(i)
        r.stall()
        self.settle(16)
        s.forget()
        self.within(self.works(s, p, "after"), 5)
        p.finish()
        self.assertEqual(s.inits(), 2)

    def test_note_after_a_while(self):
        """What has no answer of its own rides no dead connection either."""
        s, r, p = self.relayed("-v")
        r.stall()
        self.settle(16)
        p.send(note("notifications/roots/list_changed"))
        self.assertTrue(s.wait(lambda: s.seen(
            "notifications/roots/list_changed"), 3), "it rode a dead one")
        p.finish()

    def stalled(self, name, *args):
        """A call that is running when its connection dies, and the idle
        ones do, too."""
        s, r, p = self.relayed("-v", *args)
        ids = [self.call(p, i, ms=300) for i in range(3)]
        for i in ids:
            p.answer(i)
        entered = threading.Event()
        release = threading.Event()

        def tool(rx, tx):
            if not entered.is_set():
                entered.set()
                while not release.wait(0.2) and not s.closing.is_set():
                    pass
            s.tool(rx, tx)
        s.methods["tools/call"] = tool
        a = self.call(p, "stalled", name)
        self.assertTrue(entered.wait(10))
        r.stall()
        return s, r, p, a, release

    def one_ping(self, s, after=60, before=66):
        """A ping came after so many seconds of silence, over a connection
        that was not there before."""
        begin = self.of(s, "stalled")[0].time
        conns = s.connections
        self.settle(begin + after - 2 - time.monotonic())
        self.assertEqual(s.seen("ping"), [])
        self.assertTrue(s.wait(lambda: s.seen("ping"), before - after + 4),
                        "no ping")
        ping = s.seen("ping")[0]
        self.assertGreater(ping.time - begin, after - 1)
        self.assertGreater(ping.conn, conns)

    def test_silent_call_and_the_session_lives(self):
        """Nothing happens, but for the ping; the answer comes late."""
        s, r, p, a, release = self.stalled("reads")
        self.one_ping(s)
        self.settle(4)
        self.assertIsNone(p.find(lambda m: m.get("id") == a, 0))
        release.set()
        r.heal()
        self.good(p.answer(a, 5), "stalled")
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.assertEqual(s.runs("stalled"), 1)
        self.assertEqual(len(s.seen("ping")), 1)
        self.said(p, "a call is silent: sending a ping to see whether the "
                     "session is alive", "the ping shows that the session is "
                                         "alive")

    def test_silent_call_safe(self):
        """The session is gone, and the call can be repeated."""
        s, r, p, a, release = self.stalled("reads")
        s.forget()
        self.one_ping(s)
        self.good(p.answer(a, 12), "stalled")
        release.set()
        r.heal()
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.runs("stalled"), 2)
        self.assertEqual(self.of(s, "stalled")[1].sid, s.made[1])
        self.said(p, "the ping shows that the session is gone",
                  "is safe to repeat")

    def test_silent_call_unsafe(self):
        """It gets as much time again, then one error."""
        if not LONG:
            self.skipTest("takes 125 s: E2E_LONG=1")
        s, r, p, a, release = self.stalled("echo")
        begin = time.monotonic()
        s.forget()
        self.one_ping(s)
        self.works(s, p, "next", seconds=15)
        m = p.answer(a, 70)
        waited = time.monotonic() - begin
        self.assertGreater(waited, 115)
        self.within(waited, 135)
        e = self.our_error(m, "session_lost", "maybe")
        self.assertIn("may have run", e["message"])
        release.set()
        r.heal()
        self.works(s, p, "last")
        p.finish()
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.runs("stalled"), 1)


# --- a network of our own ---

class Kernel:
    """The network, by the kernel's own protocol."""
    NEWLINK, NEWADDR, DELADDR, NEWROUTE, DELROUTE, NEWRULE, DELRULE = \
        16, 20, 21, 24, 25, 32, 33
    REQUEST, ACK, EXCL, CREATE = 1, 4, 0x200, 0x400
    LO = 1

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.bind((0, 0))
        self.link_up()

    def ask(self, kind, body, *attributes):
        """attributes: (type, bytes).  Fails when the kernel says no."""
        flags = self.REQUEST | self.ACK
        if kind in (self.NEWADDR, self.NEWROUTE, self.NEWRULE):
            flags |= self.CREATE | self.EXCL
        for number, value in attributes:
            body += struct.pack("HH", 4 + len(value), number) + value
            body += b"\0" * (-len(value) % 4)
        self.sock.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1,
                                   0) + body)
        error = struct.unpack_from("i", self.sock.recv(4096), 16)[0]
        if error:
            raise OSError(-error, os.strerror(-error))

    def link_up(self):
        self.ask(self.NEWLINK, struct.pack("BxHiII", 0, 0, self.LO, 1, 1))

    def come(self, source, to):
        """An address of ours, and a way from it to one that is here, too."""
        self.address(self.NEWADDR, source)
        self.way(self.NEWROUTE, source, to)

    def leave(self, source, to):
        self.way(self.DELROUTE, source, to)
        self.address(self.DELADDR, source)

    def address(self, kind, text):
        ip = socket.inet_aton(text)
        self.ask(kind, struct.pack("BBBBI", socket.AF_INET, 32, 0, 0,
                                   self.LO), (2, ip), (1, ip))

    def way(self, kind, source, to):
        self.ask(kind, struct.pack("BBBBBBBBI", socket.AF_INET, 32, 0, 0, 255,
                                   4, 254, 2, 0),
                 (1, socket.inet_aton(to)), (4, struct.pack("I", self.LO)),
                 (7, socket.inet_aton(source)))

    def rule(self, kind, priority, table, action, *attributes):
        self.ask(kind, struct.pack("BBBBBBBBI", socket.AF_INET, 0, 0, 0,
                                   table, 0, 0, action, 0),
                 (6, struct.pack("I", priority)), *attributes)

    def make_room(self):
        """Rules of ours may come before the one for this machine."""
        self.rule(self.NEWRULE, 100, 255, 1)
        self.rule(self.DELRULE, 0, 255, 1)

    def swallow(self, port):
        """Nothing from or to that port goes anywhere, without a word."""
        ports = struct.pack("HH", port, port)
        for which in (23, 24):
            self.rule(self.NEWRULE, 10, 0, 6, (22, b"\x06"), (which, ports))


@support.plain
class Inside(Base):
    """In a network namespace: see Network."""
    kernel = None
    lock = threading.Lock()

    def start(self, number, *args):
        """At home, with an address of its own for each case."""
        with Inside.lock:
            if Inside.kernel is None:
                Inside.kernel = Kernel()
                Inside.kernel.make_room()
        k = Inside.kernel
        self.there = "198.51.100.%d" % number
        self.house = "192.0.2.%d" % number
        self.cafe = "203.0.113.%d" % number
        self.come(k, self.house)
        s = self.server(host=self.there)
        p = self.splice(s, "--allow-http", "-v", *args)
        p.hello()
        s.stream().event(note("notifications/message",
                              {"level": "info", "data": 1}), id="e-7")
        p.server_message("notifications/message")
        self.assertEqual(p.ask("tools/list")["result"]["tools"], TOOLS)
        self.works(s, p, "first")
        self.assertEqual({x.getpeername()[0] for x in s.open}, {self.house})
        return k, s, p

    def come(self, k, source):
        with Inside.lock:
            k.come(source, self.there)

    def leave(self, k, source):
        with Inside.lock:
            k.leave(source, self.there)

    def test_another_network(self):
        """The old address is gone, and what goes by it, without a word."""
        k, s, p = self.start(1)
        last = s.connections
        self.leave(k, self.house)
        self.settle(0.3)
        self.come(k, self.cafe)
        begin = time.monotonic()
        self.assertEqual(s.stream(15).request.get("Last-Event-ID"), "e-7")
        self.within(time.monotonic() - begin, 5)
        self.within(self.works(s, p, "next"), 2)
        self.assertGreater(self.of(s, "next")[0].conn, last)
        self.assertIn(self.cafe, {x.getpeername()[0] for x in s.open})
        p.finish()
        self.assertEqual(s.inits(), 1)
        self.said(p, "the network changed: later requests get new "
                     "connections")

    def test_a_call_in_the_gap(self):
        """Sent when there is no network at all: TCP_USER_TIMEOUT ends it,
        and it is repeated."""
        k, s, p = self.start(2)
        self.leave(k, self.house)
        begin = time.monotonic()
        a = self.call(p, "gap", "reads")
        self.settle(2.5)
        self.come(k, self.cafe)
        self.good(p.answer(a, 40), "gap")
        self.within(time.monotonic() - begin, 25)
        p.finish()

    def test_the_same_address_again(self):
        """The network was away for a while, and the connections with it."""
        k, s, p = self.start(7)
        self.leave(k, self.house)
        self.settle(2.5)
        self.come(k, self.house)
        self.assertEqual(s.stream(15).request.get("Last-Event-ID"), "e-7")
        self.within(self.works(s, p, "next"), 2)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def swallow(self, k, s):
        with Inside.lock:
            for x in list(s.open):
                k.swallow(x.getpeername()[1])

    def test_half_open(self):
        """The other side is gone without a word, as behind a NAT that
        forgets: a safe call is repeated."""
        k, s, p = self.start(3)
        self.swallow(k, s)
        self.within(self.works(s, p, "safe", 40, "reads"), 25)
        self.within(self.works(s, p, "next"), 2)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_half_open_all(self):
        """Many idle connections, all dead: the repeat finds a live one."""
        k, s, p = self.start(4)
        ids = [self.call(p, i, ms=300) for i in range(4)]
        for i in ids:
            p.answer(i)
        self.swallow(k, s)
        begin = time.monotonic()
        self.assertIn("result", p.ask("tools/list", seconds=90))
        self.within(time.monotonic() - begin, 25)
        p.finish()

    def test_half_open_unsafe(self):
        k, s, p = self.start(5)
        self.swallow(k, s)
        begin = time.monotonic()
        e = self.our_error(p.tool(key="unsafe", seconds=40), ran="maybe")
        took = time.monotonic() - begin
        self.within(took, 25)
        self.assertIn("may have run", e["message"])
        self.within(self.works(s, p, "next"), 2)
        p.finish()
        self.assertEqual(s.runs("unsafe"), 0)

    def test_a_long_rest(self):
        """An idle connection that lives is used again, however old."""
        k, s, p = self.start(9)
        last = s.connections
        self.settle(17)
        self.works(s, p, "unsafe")
        self.assertEqual(s.connections, last)
        p.finish()

    def test_dead_after_a_rest(self):
        """The other side is gone, and keepalive has not been answered: not
        even a young connection is used."""
        k, s, p = self.start(10)
        self.swallow(k, s)
        self.settle(12.5)
        self.within(self.works(s, p, "unsafe"), 2)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_another_network_after_a_rest(self):
        """The call comes before the change has settled."""
        k, s, p = self.start(11)
        self.settle(16)
        self.leave(k, self.house)
        self.come(k, self.cafe)
        self.within(self.works(s, p, "unsafe"), 2)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_running_call(self):
        """The network changes under a call: keepalive ends the wait."""
        k, s, p = self.start(8)
        entered = threading.Event()

        def tool(rx, tx):
            if not entered.is_set():
                entered.set()
                stay(tx)
            else:
                s.tool(rx, tx)
        s.methods["tools/call"] = tool
        a = self.call(p, "running", "reads")
        self.assertTrue(entered.wait(10))
        self.settle(0.5)        # it is acknowledged
        self.leave(k, self.house)
        self.settle(0.3)
        self.come(k, self.cafe)
        self.good(p.answer(a, 75), "running")
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_half_open_stream(self):
        """Keepalive finds a listen stream that is dead."""
        k, s, p = self.start(6)
        self.swallow(k, s)
        self.assertEqual(s.stream(75).request.get("Last-Event-ID"), "e-7")
        p.finish()


if not NETNS:
    del Inside              # what follows runs it in a process of its own


@support.plain
class Network(Base):
    def test_in_a_namespace(self):
        if not shutil.which("unshare") or subprocess.run(
                ["unshare", "-rn", "true"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no network namespace: unshare -rn")
        env = dict(os.environ, E2E_NETNS="1")
        r = subprocess.run(["unshare", "-rn", sys.executable,
                            os.path.abspath(__file__), "Inside."], env=env,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
        print("    " + r.stdout.replace("\n", "\n    "), flush=True)
        self.assertEqual(r.returncode, 0, "see above")


# --- several copies ---

@support.plain
class Twins(Base):
    """A server with one session for each user, and two copies of us."""

    def server_for_one(self, refuse=gone):
        s = self.server()
        s.refuse = refuse
        streams = {}

        def initialize(rx, tx):
            with s.lock:
                old = list(streams.values())
                streams.clear()
                s.sessions.clear()
                tx.result(s.init_result(rx),
                          [("Mcp-Session-Id", s.new_session())])
            for x in old:
                x.cut()

        def on_get(rx, tx):
            tx.sse()
            tx.chunk(": hello\n\n")
            with s.lock:
                if rx.sid in s.sessions:
                    streams[rx.sid] = tx
            stay(tx)
        s.initialize = initialize
        s.on_get = on_get
        return s

    def both(self, s, *args):
        p, q = self.splice(s, "-v", *args), self.splice(s, "-v", *args)
        p.hello()
        self.works(s, p, "p0")
        self.settle(0.3)
        q.hello()
        self.works(s, q, "q0")
        return p, q

    def idle(self, refuse):
        s = self.server_for_one(refuse)
        p, q = self.both(s)
        self.settle(20)
        self.assertEqual(s.inits(), 2, "they evict each other")
        self.works(s, q, "q1")
        self.assertEqual(s.inits(), 2)
        # the one with a client is renewed, and the other stays still
        self.works(s, p, "p1")
        self.assertEqual(s.inits(), 3)
        self.settle(8)
        self.assertEqual(s.inits(), 3, "they evict each other")
        self.works(s, p, "p2")
        self.assertEqual(s.inits(), 3)
        self.works(s, q, "q2")
        self.assertEqual(s.inits(), 4)
        p.finish()
        q.finish()
        self.assertIn("another mcpsplice has a newer session", p.err())
        return s, p, q

    def test_idle(self):
        self.idle(gone)

    def test_idle_bare_404(self):
        self.idle(lambda rx, tx: tx.body(404))

    def test_in_turn(self):
        """Each call costs a renewal, and all are answered."""
        s = self.server_for_one()
        p, q = self.both(s)
        for k in range(10):
            self.works(s, p, "p-%d" % k)
            self.works(s, q, "q-%d" % k)
        p.finish()
        q.finish()
        # each call that finds its session gone renews it; nothing else does
        self.assertLessEqual(s.inits(), 22)
        self.assertGreaterEqual(s.inits(), 20)

    def test_pings(self):
        """With an interval they look, and do not fight either."""
        s = self.server_for_one()
        p, q = self.both(s, "--ping-interval", "1")
        self.settle(15)
        self.assertLessEqual(s.inits(), 3)
        self.works(s, p, "p1")
        self.works(s, q, "q1")
        p.finish()
        q.finish()


@support.plain
class Herd(Base):
    """A fleet, and a server that forgets them all."""
    N = 12

    def crowd(self, s, *args):
        herd = []
        for i in range(self.N):
            home = os.path.join(self.tmp, "home-%d" % i)
            os.mkdir(home)
            herd.append(self.splice(s, "-v", *args, env={"HOME": home}))
        for p in herd:
            p.hello()
        return herd

    def lose(self, s):
        """All sessions are forgotten and all streams cut."""
        while not s.streams.empty():
            s.streams.get_nowait()
        with s.lock:
            s.sessions.clear()
            streams, s.alive = s.alive, []
        for tx in streams:
            tx.cut()

    def test_spread_and_dormant(self):
        s = self.server()
        s.alive = []

        def on_get(rx, tx):
            tx.sse()
            tx.chunk(": hello\n\n")
            with s.lock:
                s.alive.append(tx)
            stay(tx)
        s.on_get = on_get
        herd = self.crowd(s)
        for k in range(1, 4):
            self.assertTrue(s.wait(lambda: len(s.alive) == self.N, 10))
            begin = time.monotonic()
            seen = len(s.seen("initialize"))
            self.lose(s)
            self.assertTrue(s.wait(lambda: s.inits() == self.N * (k + 1),
                                   12), "%d of %d" %
                            (s.inits(), self.N * (k + 1)))
            times = sorted(r.time - begin
                           for r in s.seen("initialize")[seen:])
            self.within(times[-1], 9)
            self.assertGreater(times[-1] - times[0], 1,
                               "all at once: %r" % times)
        # nobody spoke: they rest now
        self.assertTrue(s.wait(lambda: len(s.alive) == self.N, 10))
        self.lose(s)
        self.settle(8)
        self.assertEqual(s.inits(), self.N * 4)
        quiet = len(s.requests)
        self.settle(3)
        self.assertEqual(len(s.requests), quiet, "no rest")
        for i, p in enumerate(herd):
            self.works(s, p, "k%d" % i, 10)
        self.assertEqual(s.inits(), self.N * 5)
        for p in herd:
            self.said(p, "renewing it when the client sends something")
            p.finish()


# --- pings ---

@support.plain
class Pings(Base):
    def test_dormant(self):
        """Lost while nobody is there, again and again: renewed three times,
        then it rests, and so do the pings."""
        s = self.server()
        p = self.splice(s, "-v", "--ping-interval", "1")
        p.hello()
        for k in range(2, 5):
            s.forget()
            self.assertTrue(s.wait(lambda: s.inits() == k, 10),
                            "renewed %d times" % (s.inits() - 1))
            self.assertTrue(s.wait(lambda: s.sessions and all(
                x.initialized for x in list(s.sessions.values())), 5))
        s.forget()
        before = len(s.seen("ping"))
        self.assertTrue(s.wait(lambda: len(s.seen("ping")) > before, 5))
        self.settle(7)
        self.assertEqual(s.inits(), 4)
        seen = len(s.requests)
        self.settle(3)
        self.assertEqual(s.requests[seen:], [])
        self.works(s, p, "next")
        self.assertEqual(s.inits(), 5)
        # and they begin again
        before = len(s.seen("ping"))
        self.assertTrue(s.wait(lambda: len(s.seen("ping")) > before, 5))
        p.finish()
        self.said(p, "renewing it when the client sends something")

    def test_not_while_calls_flow(self):
        s = self.server()
        p = self.splice(s, "--ping-interval", "2")
        p.hello()
        for k in range(16):
            self.works(s, p, k)
            self.settle(0.5)
        self.assertEqual(s.seen("ping"), [])
        self.assertTrue(s.wait(lambda: s.seen("ping"), 4))
        p.finish()

    def test_not_at_the_server_that_fell_silent(self):
        """Pings that nobody answers do not pile up."""
        s = self.server()
        s.methods["ping"] = lambda rx, tx: stay(tx)
        p = self.splice(s, "--ping-interval", "1")
        p.hello()
        self.settle(9)
        self.assertLessEqual(len(s.seen("ping")), 2)
        self.works(s, p, 1)
        p.finish()
        self.assertEqual(s.inits(), 1)

    def test_show_config(self):
        s = self.mcp()
        for args, shown in ((["--keep-alive"], "30"),
                            (["--ping-interval", "1"], "1"),
                            ([], "0"),
                            (["--keep-alive", "--ping-interval", "7"], "7")):
            with self.subTest(args):
                status, out, err = self.once(args + ["--show-config", s.url])
                self.assertEqual(status, 0, err)
                self.assertRegex(out.decode() + err,
                                 r"(?m)^\s*ping-interval\W+%s\b" % shown)


# --- what is said ---

@support.plain
class Verbose(Base):
    """-v: one line for each decision, with the rule that made it."""

    def pair(self, *args):
        s = self.server()
        p = self.splice(s, "-v", *args)
        p.hello()
        s.stream()
        p.ask("tools/list")
        return s, p

    def says(self, s, p, *expected):
        """All that is said, in order; 0 stands for any time, a set for what
        the three witnesses tell that are asked side by side."""
        p.finish()
        host = "127.0.0.1:%d" % s.port
        said = [re.sub(r"\d+ (m?s)\b", r"0 \1", x).replace(host, "HOST")
                for x in p.err().splitlines()]
        for n, x in enumerate((FIRST,) + expected):
            if isinstance(x, set):
                self.assertEqual({y[11:] for y in said[n:n + 3]}, x)
                said[n:n + 3] = [x]
            else:
                self.assertEqual(said[n], "mcpsplice: " + x, said)
        self.assertEqual(len(said), 1 + len(expected), said)

    def test_words(self):
        s, p = self.pair()
        s.forget()
        self.works(s, p, 1)
        self.says(s, p, DOUBTS % UNKNOWN, PING % "refused",
                  REFUSED % (1, UNKNOWN), LOST % UNKNOWN,
                  "replayed 1 request",
                  NEW % (2, UNKNOWN) + "; 1 request sent again")

    def test_bare_404(self):
        s, p = self.pair()
        s.refuse = lambda rx, tx: tx.body(404)
        s.forget()
        self.works(s, p, 1)
        self.says(s, p, DOUBTS % BARE, PING % "refused",
                  REFUSED % (1, BARE), LOST % BARE, "replayed 1 request",
                  NEW % (2, BARE) + "; 1 request sent again")

    def test_bare_404_of_a_session_that_lives(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.body(404)
        self.assertIn("error", p.tool(key=1))
        self.says(s, p, DOUBTS % BARE, PING % "answered",
                  {PING % "answered", LIST % "answered"},
                  "the client gets the first answer")

    def test_flapping(self):
        """One ping is answered, another one refused as the call was."""
        s, p = self.pair()
        refused = {"tools/call": [True], "ping": [False, True]}

        def before(rx, tx):
            # a session that is opened in doubt has a witness of its own
            left = rx.sid == s.made[0] and refused.get(rx.rpc)
            if not left or not left.pop(0):
                return False
            gone(rx, tx)
            return True
        s.before = before
        self.works(s, p, 1)
        self.says(s, p, DOUBTS % UNKNOWN, PING % "answered",
                  {PING % "answered", PING % "refused", LIST % "answered"},
                  "warning: HOST accepts and refuses the same session: its "
                  "load balancer sends requests to replicas that do not share "
                  "sessions. mcpsplice repeats each request until it reaches "
                  "the right one, which costs time. To fix this, turn on "
                  "sticky sessions at the load balancer, by Mcp-Session-Id or "
                  "by cookie.",
                  ELSEWHERE % 1)
        self.assertEqual(s.inits(), 2)
        self.deleted(s, s.made[::-1])

    def test_repeat(self):
        s, p = self.pair()

        def cuts(rx, tx):
            s.methods["tools/call"] = s.tool
            tx.sse()
            tx.chunk(": soon\n\n")
            tx.cut()
        s.methods["tools/call"] = cuts
        self.good(p.tool("reads", key=1), 1)
        self.says(s, p, '"reads" may have run and is safe to repeat: '
                  "sending it again")

    def test_while_it_ran(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.error(
            -32000, "Session terminated before the request completed", 500)
        self.our_error(p.tool(key=1), "session_lost", "maybe")
        s.stream()              # of the new session, which nobody waits for
        self.says(s, p, LOST % ENDED,
                  'not repeating "echo", which may have run (%s): the client '
                  'gets an error' % ENDED, NEW % (2, ENDED))

    def test_listen_stream(self):
        s = self.server()
        p = self.splice(s, "-v")
        p.hello()
        stream = s.stream()
        s.forget()
        stream.cut()
        self.assertTrue(s.wait(lambda: s.inits() == 2, 12))
        s.stream()
        self.says(s, p, LATER % UNKNOWN, LOST % UNKNOWN,
                  NEW % (2, UNKNOWN))

    def test_interval(self):
        s, p = self.pair("--ping-interval", "2")
        s.forget()
        self.assertTrue(s.wait(lambda: s.inits() == 2, 15))
        s.stream()
        self.says(s, p, ASKS % "--ping-interval", IS_GONE % UNKNOWN,
                  LATER % "a ping found it gone",
                  LOST % "a ping found it gone",
                  NEW % (2, "a ping found it gone"))

    def test_orphan(self):
        s, p = self.pair()
        self.noted(s.made[0])
        p.kill()
        q = self.splice(s, "-v")
        q.hello()
        self.assertTrue(s.wait(lambda: s.deleted, 10))
        self.says(s, q, "ending a stale session with HOST")

    def test_memory(self):
        s, p = self.pair()
        p.finish()

        def late(rx, tx):
            s.closing.wait(6)
            s.initialize(rx, tx)
        s.init = [late]
        p = self.splice(s, "-v")
        p.send(init("hello"))
        p.answer("hello")
        p.send(INITIALIZED)
        self.works(s, p, 1)
        p.finish()
        self.said(p, " yet: answering the client from the startup "
                     "cache; calls wait",
                  "did not answer initialize: sending it again",
                  "new session, number 1 (the server took too "
                  "long at the start)")
        self.assertEqual(len(p.err().splitlines()), 3, p.err())


# --- killed ---

@support.plain
class Killed(Base):
    """SIGKILL in the middle of each phase: the next start ends the session
    that was left, never one that a living copy holds."""

    def hold(self, s, pick, act=None):
        """The requests that pick() likes stay without an answer: a second
        initialize follows one that is silent."""
        met = threading.Event()

        def before(rx, tx):
            if not pick(rx):
                return False
            first = not met.is_set()
            met.set()
            if act and first:
                act(rx, tx)
            stay(tx)
            tx.cut()
            return True
        s.before = before
        return met

    def alive(self, s):
        """A copy that lives on, with its session."""
        q = self.splice(s)
        q.hello()
        self.works(s, q, "q")
        return q, s.made[-1]

    def start(self, s):
        p = self.splice(s)
        p.send(init("hello"))
        return p

    def live(self, s):
        p = self.splice(s)
        p.hello()
        p.ask("resources/subscribe", {"uri": "file:///a"})
        self.works(s, p, "live-%d" % p.pid)
        return p

    def kill(self, p, met):
        self.assertTrue(met.wait(10), "the phase did not come")
        self.let(0.3)
        p.kill()

    def next_start(self, s, q, kept, stale):
        """What the next start deletes."""
        s.before = None
        gone_before = list(s.deleted)
        r = self.splice(s)
        begin = time.monotonic()
        r.hello()
        self.within(time.monotonic() - begin, 5)
        self.works(s, r, "r")
        if stale:
            self.assertTrue(s.wait(lambda: len(s.deleted) >=
                                   len(gone_before) + len(stale), 5),
                            "no DELETE")
        self.settle(1)
        self.assertEqual(sorted(s.deleted[len(gone_before):]),
                         sorted(stale))
        self.assertNotIn(kept, s.deleted)
        self.works(s, q, "q again")
        r.finish()
        q.finish()

    def test_opening(self):
        """The server has made a session, and nobody knows its name."""
        s = self.server()
        q, kept = self.alive(s)
        met = self.hold(s, lambda rx: rx.rpc == "initialize",
                        lambda rx, tx: s.new_session())
        self.kill(self.start(s), met)
        self.next_start(s, q, kept, [])

    def test_opened(self):
        """Before the client has said initialized."""
        s = self.server()
        q, kept = self.alive(s)
        p = self.start(s)
        p.answer("hello")
        self.noted(s.made[1])
        p.kill()
        self.next_start(s, q, kept, [s.made[1]])

    def test_readying(self):
        s = self.server()
        q, kept = self.alive(s)
        met = self.hold(s, lambda rx: rx.rpc == "notifications/initialized")
        p = self.start(s)
        p.answer("hello")
        p.send(INITIALIZED)
        self.kill(p, met)
        self.next_start(s, q, kept, [s.made[1]])

    def test_live_with_calls(self):
        s = self.server()
        q, kept = self.alive(s)
        p = self.live(s)
        met = self.hold(s, lambda rx: rx.rpc == "tools/call")
        self.call(p, "k")
        self.kill(p, met)
        self.next_start(s, q, kept, [s.made[1]])

    def in_a_renewal(self, phase, new):
        """The old session is lost; killed when phase comes to the server,
        which has made so many new ones."""
        s = self.server()
        q, kept = self.alive(s)
        p = self.live(s)
        with s.lock:
            del s.sessions[s.made[1]]
        met = self.hold(s, lambda rx: rx.rpc == phase)
        self.call(p, "k")
        self.kill(p, met)
        self.assertEqual(len(s.made), 2 + new)
        self.next_start(s, q, kept, s.made[2:])

    def test_renewing(self):
        self.in_a_renewal("initialize", 0)

    def test_renewed_and_readying(self):
        self.in_a_renewal("notifications/initialized", 1)

    def test_restoring(self):
        self.in_a_renewal("resources/subscribe", 1)

    def test_closing(self):
        """While its DELETE was under way."""
        s = self.server()
        q, kept = self.alive(s)
        p = self.live(s)
        met = self.hold(s, lambda rx: rx.method == "DELETE")
        p.close()
        self.assertTrue(met.wait(10))
        self.settle(0.2)
        p.kill()
        self.next_start(s, q, kept, [s.made[1]])

    def test_closing_too_late(self):
        """The server does not answer the DELETE: the end comes all the
        same, and the session is not left."""
        s = self.server()
        q, kept = self.alive(s)
        p = self.live(s)
        self.hold(s, lambda rx: rx.method == "DELETE")
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 3)
        self.next_start(s, q, kept, [s.made[1]])

    def test_from_memory(self):
        """The start was from the startup cache, and the server came later."""
        s = self.server()
        p = self.live(s)
        p.finish()
        s.down()
        p = self.splice(s)
        p.send(init("hello"), INITIALIZED)
        p.answer("hello", 8)
        s.up()
        self.assertTrue(s.wait(lambda: len(s.made) == 2, 15))
        self.noted(s.made[1])
        p.kill()
        q, kept = self.alive(s)
        self.settle(1)
        self.deleted(s, s.made[:2])
        q.finish()

    def test_all_at_once(self):
        """Three in different phases; one start finds all."""
        s = self.server()
        q, kept = self.alive(s)
        all_of_them = [self.live(s) for _ in range(3)]
        self.noted(*s.made[1:4])
        for p in all_of_them:
            p.kill()
        self.next_start(s, q, kept, s.made[1:4])


# --- the start ---

@support.plain
class Start(Base):
    def remember(self, s, *args):
        p = self.splice(s, *args)
        answer = p.hello()
        self.assertEqual(p.ask("tools/list")["result"]["tools"], TOOLS)
        p.finish()
        return answer

    def test_accepts_and_never_answers(self):
        s = self.server()
        answer = self.remember(s)
        deaf, held = [True], []

        def on_accept(sock):
            held.append(sock)
            return deaf[0]
        s.on_accept = on_accept
        p = self.splice(s, "-vv", "--retry-window", "3")
        begin = time.monotonic()
        p.send(init("hello"))
        self.assertEqual(p.answer("hello", 8), answer)
        p.send(INITIALIZED)
        took = time.monotonic() - begin
        self.assertGreater(took, 1.5)
        self.within(took, 4.5)
        self.assertEqual(p.ask("tools/list", seconds=2)["result"]["tools"],
                         TOOLS)
        begin = time.monotonic()
        e = self.our_error(p.tool(key=1, seconds=20), ran="no")
        self.within(time.monotonic() - begin, 17)
        self.assertIn("127.0.0.1", e["message"])
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        deaf[0] = False
        p.server_message("notifications/tools/list_changed", 20)
        self.works(s, p, 2)
        p.finish()
        self.assertEqual(s.runs(1), 0)
        self.said(p, " yet: answering the client from the startup "
                     "cache; calls wait")

    def test_initialized_comes_early(self):
        """A client that does not wait: what it said is not forgotten when
        the first attempts fail."""
        s = self.server()
        answer = self.remember(s)
        s.down()
        p = self.splice(s, "--retry-window", "2")
        p.send(init("hello"), INITIALIZED)
        self.assertEqual(p.answer("hello", 8), answer)
        p.ask("tools/list")
        self.settle(3)
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": []})
        s.up()
        p.server_message("notifications/tools/list_changed", 20)
        self.works(s, p, 2)
        p.finish()
        self.assertEqual(s.early, [])

    def test_401(self):
        s = self.server()
        self.remember(s)
        s.before = lambda rx, tx: tx.body(
            401, headers=[("WWW-Authenticate", "Bearer")]) or True
        p = self.splice(s)
        begin = time.monotonic()
        p.send(init(1))
        self.our_error(p.answer(1), "auth_required", "no")
        self.within(time.monotonic() - begin, 2)
        p.finish()

    def test_tls(self):
        """A server that cannot be trusted is not one that is away."""
        try:
            import test_tls
            folder = os.path.join(self.tmp, "ca")
            os.mkdir(folder)
            test_tls.prepare(folder)
        except (OSError, subprocess.CalledProcessError) as e:
            self.skipTest("no openssl command: %s" % e)
        s = self.server(tls=test_tls.context("one"))
        ca = ["--cacert", test_tls.file("ca1.pem")]
        self.remember(s, *ca)
        s.tls = test_tls.context("two")
        p = self.splice(s, *ca)
        begin = time.monotonic()
        p.send(init(1))
        self.our_error(p.answer(1), "tls_refused", "no")
        self.within(time.monotonic() - begin, 4)
        p.finish()
        s.tls_errors = []

    def test_404(self):
        s = self.server()
        self.remember(s)
        s.before = lambda rx, tx: tx.text(404, "no such page") or True
        p = self.splice(s)
        p.send(init(1))
        self.assertIn("error", p.answer(1, 4))
        p.finish()

    def test_no_memory_leaves_nothing(self):
        s = self.server()
        p = self.splice(s, "--no-memory")
        p.hello()
        p.ask("tools/list")
        s.forget()
        self.works(s, p, 1)
        self.settle(0.5)
        self.assertEqual(self.files(), [])
        p.finish()
        self.assertEqual(self.files(), [])
        p = self.splice(s, "--no-memory")
        p.hello()
        self.settle(0.3)
        p.kill()
        self.assertEqual(self.files(), [])
        p = self.splice(s, "--no-memory")
        p.hello()
        self.settle(0.5)
        p.finish()
        self.deleted(s, [s.made[1], s.made[3]])

    def test_orderly_end_leaves_no_session_file(self):
        s = self.server()
        self.remember(s)
        self.assertEqual([f for f in self.files() if os.path.isfile(f) and
                          "sessions" in f], [])
        self.assertTrue([f for f in self.files() if ".cache" in f])


if __name__ == "__main__":
    support.main(workers=48)
