"""The long line itself (line.py): it delays, loses, doubles and reorders what
it is told to."""

import socket
import time

import line
import support
from line import FAR, NEAR
from pace import Limit


class Long(support.Case):
    def setUp(self):
        super().setUp()
        self.sockets = []

    def tearDown(self):
        super().tearDown()
        for s in self.sockets:
            s.close()
        self.line.close()

    def udp(self, side, address):
        with side:
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sockets.append(s)
        s.bind((address, 0))
        s.settimeout(support.LIVE)
        return s

    def lay(self, ms=0):
        self.line = line.Line(ms)
        self.near = self.udp(self.line.near, NEAR)
        self.far = self.udp(self.line.far, FAR)

    def send(self, start, end, text=b"x"):
        start.sendto(text, end.getsockname())

    def one_way(self, start, end):
        """Milliseconds."""
        begin = time.monotonic()
        self.send(start, end)
        end.recv(9)
        return (time.monotonic() - begin) * 1e3

    def both_ways(self):
        return [(self.near, self.far), (self.far, self.near)]

    def test_delay(self):
        self.lay(40)
        for start, end in self.both_ways():
            self.assertGreaterEqual(self.one_way(start, end), 40)
        self.line.order("delay 120.5")
        for start, end in self.both_ways():
            self.assertGreaterEqual(self.one_way(start, end), 120.5)
        self.line.order("delay 0")
        for start, end in self.both_ways():
            limit = Limit(support.LIVE)
            while self.one_way(start, end) >= 40:
                self.assertGreater(limit.left(), 0, "it is never quick")

    @support.plain
    def test_all_at_once(self):
        """Packets wait side by side, and keep their order."""
        self.lay(60)
        begin = time.monotonic()
        for i in range(50):
            self.send(self.near, self.far, b"%d" % i)
        for i in range(50):
            self.assertEqual(self.far.recv(9), b"%d" % i)
        took = time.monotonic() - begin
        self.assertGreaterEqual(took, 0.06)
        self.within(took, 1)

    def lost(self, order, start, end):
        self.line.order(order)
        self.send(start, end, b"lost")
        self.line.order("drop off")
        self.send(start, end, b"found")
        self.assertEqual(end.recv(9), b"found")

    def test_drop(self):
        self.lay()
        for start, end in self.both_ways():
            self.lost("drop on", start, end)
        self.lost("drop on far", self.near, self.far)
        self.lost("drop on near", self.far, self.near)

    def test_drop_one_way(self):
        self.lay()
        self.line.order("drop on near")
        self.one_way(self.near, self.far)
        self.line.order("drop on")
        self.line.order("drop off far")
        self.one_way(self.near, self.far)

    def test_drop_what_is_on_its_way(self):
        self.lay(100)
        self.send(self.near, self.far, b"lost")
        self.line.order("drop on")
        self.line.order("delay 0")
        self.send(self.near, self.far, b"lost")
        with self.assertRaises(ValueError):
            self.line.order("drop everything")
        self.far.settimeout(0.2)
        with self.assertRaises(socket.timeout):
            self.far.recv(9)

    def arrive(self, order):
        """Those of a hundred packets that come through, in their order."""
        self.line.order(order)
        for i in range(100):
            self.send(self.near, self.far, b"%d" % i)
        self.line.order("delay 100")
        self.line.order(order.split()[0] + " 0")
        self.send(self.near, self.far, b"end")
        got = []
        while not got or got[-1] != b"end":
            got.append(self.far.recv(9))
        return [int(g) for g in got[:-1]]

    def test_loss(self):
        self.lay()
        got = self.arrive("loss 30")
        self.assertEqual(got, sorted(set(got)))
        self.assertGreater(len(got), 40)
        self.assertLess(len(got), 95)

    def test_duplicate(self):
        self.lay()
        got = self.arrive("duplicate 30")
        self.assertEqual(sorted(set(got)), list(range(100)))
        self.assertGreater(len(got), 105)
        self.assertLess(len(got), 160)

    def test_reorder(self):
        self.lay()
        got = self.arrive("reorder 30")
        self.assertNotEqual(got, list(range(100)))
        self.assertEqual(sorted(got), list(range(100)))

    def connect(self, listener):
        with self.line.near:
            a = socket.socket()
        a.settimeout(support.LIVE)
        a.connect(listener.getsockname())
        b = listener.accept()[0]
        b.settimeout(support.LIVE)
        self.sockets += [a, b]
        a.sendall(b"hello")
        self.assertEqual(b.recv(9), b"hello")
        return a, b

    def test_forget(self):
        """Old connections are dead without a word, new ones live."""
        self.lay(5)
        with self.line.far:
            listener = socket.create_server((FAR, 0))
        self.sockets.append(listener)
        listener.settimeout(support.LIVE)
        a, b = self.connect(listener)
        self.line.order("forget")
        a.sendall(b"lost")
        b.sendall(b"lost")
        c, d = self.connect(listener)
        d.sendall(b"welcome")
        self.assertEqual(c.recv(9), b"welcome")
        for s in a, b:
            s.setblocking(False)
            with self.assertRaises(BlockingIOError):
                s.recv(9)

    def test_session(self):
        """mcpsplice on the one side, its server on the other."""
        self.line = line.Line(30)
        with self.line.far:
            s = self.mcp(host=FAR)
        with self.line.near:
            p = self.splice(s, "--allow-http")
        p.hello()
        begin = time.monotonic()
        p.tool(text="x")
        self.assertGreaterEqual(time.monotonic() - begin, 0.06)
        p.finish()


if __name__ == "__main__":
    line.skip_without()
    support.main()
