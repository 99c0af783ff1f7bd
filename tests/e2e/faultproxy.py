"""A proxy of TCP connections that does to them what networks, gateways and
broken hosts do.  It ends no TLS, and reads HTTP only where its bytes are
plain.

What goes wrong with a connection is drawn from the seed and the number of the
connection.  After heal() each byte goes its way; sicken() takes that back.
One thread has all sockets, so that each can be reset at any time.
"""

import collections
import gzip
import random
import re
import select
import socket
import threading
import time

import faultserver
import ports

TICK = 0.02
MOST = 65536            # bytes that wait on one way
UP, DOWN = "up", "down"         # to the server, to mcpsplice


class End(Exception):
    """The connection ends now."""

    def __init__(self, reset):
        super().__init__()
        self.reset = reset


class Fault:
    """What goes wrong on one way.  pass_on() is asked how many of the bytes
    that wait may go on now."""

    def struck(self, way, words):
        way.proxy.strike(way.number, type(self).__name__,
                         "%s after %d bytes %s" % (words, way.passed,
                                                   way.name))

    def pass_on(self, way):
        return len(way.held)


class Limit(Fault):
    """The connection ends after n bytes."""

    def __init__(self, r, n):
        self.n = n
        self.reset = r.random() < 0.5

    def pass_on(self, way):
        if way.passed >= self.n and way.held:
            self.struck(way, "reset" if self.reset else "cut")
            raise End(self.reset)
        return min(len(way.held), self.n - way.passed)


class NoAnswer(Fault):
    """A request goes on, and the connection ends in place of its answer."""

    def __init__(self, r):
        self.nth = r.randrange(4)
        self.reset = r.random() < 0.5
        self.up = 0             # bytes of the requests so far

    def pass_on(self, way):
        if not way.held:
            return 0
        if way.back.passed != self.up:
            self.up = way.back.passed
            self.nth -= 1
        if self.nth < 0:
            self.struck(way, "reset" if self.reset else "cut")
            raise End(self.reset)
        return len(way.held)


class Chunk(Limit):
    """The connection ends inside a chunk of an answer."""

    HEAD = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.I)
    SIZE = re.compile(rb"\r\n\r\n([0-9a-f]+)\r\n", re.I)

    def __init__(self, r):
        super().__init__(r, None)
        self.nth = r.randrange(2)
        self.share = r.random()

    def pass_on(self, way):
        if self.n is not None:
            return super().pass_on(way)
        head = self.HEAD.search(way.held)
        if not head:
            return len(way.held)
        size = self.SIZE.search(way.held, head.end() - 2)
        if not size:
            return 0
        if self.nth > 0:
            self.nth -= 1
            return size.end()
        self.n = way.passed + size.end() + int(self.share * int(size[1], 16))
        return super().pass_on(way)


class Slow(Fault):
    """One byte at a time."""

    def __init__(self, r):
        self.pause = r.choice([1, 0.1, 0.01])
        self.last = 0
        self.began = False

    def pass_on(self, way):
        now = time.monotonic()
        if not way.held or now < self.last + self.pause:
            return 0
        if not self.began:
            self.struck(way, "one byte in %g s" % self.pause)
        self.began = True
        self.last = now
        return 1


class Hang(Fault):
    """Nothing goes on after n bytes, for some time."""

    def __init__(self, r, n):
        self.n = n
        self.seconds = r.choice([0.5, 2, 5, 1e9])
        self.then = r.choice([None, End(True), End(False)])
        self.until = None

    def pass_on(self, way):
        if way.passed < self.n or not way.held:
            return min(len(way.held), self.n - way.passed)
        if self.until is None:
            self.until = time.monotonic() + self.seconds
            self.struck(way, "silence")
        if time.monotonic() < self.until:
            return 0
        if self.then:
            raise self.then
        return len(way.held)


class Block(Fault):
    """Nothing goes on."""

    def pass_on(self, way):
        return 0


class Garbage(Fault):
    """Something else speaks after n bytes: with 0, as soon as there is a
    request.  Only TLS notices it in any place."""

    def __init__(self, r, n):
        self.n = n
        self.data = r.choice([
            bytes(r.randrange(256) for _ in range(200)),
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n", b"\x15\x03\x03\x00\x02\x02\x28"])

    def pass_on(self, way):
        if way.passed < self.n:
            return min(len(way.held), self.n - way.passed)
        if not (way.held if self.n else way.back.held):
            return 0
        self.struck(way, "garbage")
        way.send(self.data)
        raise End(False)


class Gzip(Fault):
    """An answer becomes gzip, which ends too early."""

    def __init__(self, r):
        self.nth = r.randrange(2)
        self.share = 0.3 + 0.6 * r.random()
        self.whole = r.random() < 0.5

    def pass_on(self, way):
        head, gap, body = bytes(way.held).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            return len(way.held)
        if not gap or not body:
            return 0
        if self.nth > 0:
            self.nth -= 1
            return len(way.held)
        size = re.match(rb"([0-9a-fA-F]+)\r\n", body)
        if size:
            body = body[size.end():size.end() + int(size[1], 16)]
        data = gzip.compress(body)
        cut = data[:int(len(data) * self.share)]
        head = re.sub(rb"(?i)\r\n(content-length|transfer-encoding):[^\r]*",
                      b"", head)
        self.struck(way, "gzip that is cut")
        way.send(b"%s\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
                 b"%s" % (head, len(cut if self.whole else data), cut))
        raise End(False)


def some_bytes(r):
    """Mostly few."""
    return int(10 ** (4 * r.random()))


def draw(r, tls):
    """(fault up, fault down) of a connection on which something goes wrong."""
    kind = r.choice([Limit, Limit, NoAnswer, NoAnswer, Slow, Hang, Hang] +
                    ([Garbage] if tls else [Garbage, Chunk, Chunk, Gzip,
                                            Gzip]))
    n = r.choice([0, some_bytes(r)])
    if kind is Garbage:
        if tls and n:
            return Fault(), Garbage(r, n)
        return Block(), Garbage(r, 0)
    if kind in (NoAnswer, Chunk, Gzip):
        return Fault(), kind(r)
    fault = kind(r) if kind is Slow else kind(r, n)
    return r.choice([(fault, Fault()), (Fault(), fault)])


class Way:
    """One direction of a connection."""

    def __init__(self, proxy, number, name, source, sink, fault):
        self.proxy = proxy
        self.number = number
        self.name = name
        self.source = source
        self.sink = sink
        self.fault = fault
        self.back = None        # the other direction
        self.held = bytearray()
        self.passed = 0
        self.eof = False
        self.done = False

    def read(self):
        data = self.source.recv(MOST)
        self.held += data
        self.eof = not data
        if self.name == UP:
            self.proxy.record(self.number, data)

    def send(self, data):
        try:
            return self.sink.send(data)
        except BlockingIOError:
            return 0

    def move(self):
        if self.proxy.healed:
            n = len(self.held)
        elif self.proxy.is_silent(self.number):
            return
        else:
            n = self.fault.pass_on(self)
        if n > 0:
            sent = self.send(self.held[:n])
            self.passed += sent
            del self.held[:sent]
        if self.eof and not self.held and not self.done:
            self.sink.shutdown(socket.SHUT_WR)
            self.done = True


class Proxy:
    def __init__(self, seed, target, host="127.0.0.1", tls=False):
        """target() is the port of the server just now, on loopback."""
        self.seed = seed
        self.target = target
        self.tls = tls
        self.percent = random.Random(seed).choice([30, 60, 90])
        self.healed = True
        self.closing = False
        self.refusing = 0       # until when
        self.resetting = False
        self.silent = ()        # connections that are silent
        self.silence = 0        # until when
        self.connections = {}   # number -> its two ways
        self.number = 0
        self.struck = collections.Counter()
        self.log = []           # (when, words)
        self.sent = collections.defaultdict(bytearray)  # number -> bytes up
        self.address = host, ports.free_port(host, True)
        self.listener = ports.bound(self.address)
        self.listener.listen(512)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    # orders

    def heal(self):
        self.healed = True

    def sicken(self):
        self.healed = False

    def refuse(self, seconds, reset):
        """Nobody listens for so long; connections that are there go on, or
        are reset."""
        self.resetting = reset
        self.refusing = time.monotonic() + seconds
        self.say("Refuse", "nobody listens for %.1f s" % seconds)

    def black_hole(self, seconds):
        """Those that are connected hear nothing for so long."""
        self.silent = tuple(self.connections)
        self.silence = time.monotonic() + seconds
        self.say("BlackHole", "%r hear nothing for %.1f s" % (
            self.silent, seconds))

    def settle(self, seconds):
        """Waits until all that mcpsplice has sent is at the server."""
        end = time.monotonic() + seconds
        while any(not up.done for up, _ in list(self.connections.values())) \
                and time.monotonic() < end:
            time.sleep(TICK)

    def close(self):
        self.closing = True
        self.thread.join()

    # books

    def say(self, kind, words):
        self.struck[kind] += 1
        self.log.append((time.monotonic(), words))

    def strike(self, number, kind, words):
        self.say(kind, "connection %d: %s" % (number, words))

    def record(self, number, data):
        if not self.tls:
            self.sent[number] += data

    def times(self, key):
        """How often a call came by; 0 where TLS hides it."""
        text = b'"%s"' % key.encode()
        return sum(bytes(data).count(text) for data in self.sent.values())

    # sockets

    def is_silent(self, number):
        return number in self.silent and time.monotonic() < self.silence

    def run(self):
        while not self.closing:
            self.listen()
            self.wait()
            for number in list(self.connections):
                self.attend(number)
        for number in list(self.connections):
            self.drop(number, False)
        self.listener.close()

    def listen(self):
        """Has a listener, or the port without one."""
        refuses = not self.healed and time.monotonic() < self.refusing
        if refuses == (self.listener.getsockopt(
                socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0):
            return
        if not refuses:
            self.listener.listen(512)
            return
        faultserver.shut(self.listener)
        self.listener = ports.bound(self.address)
        if self.resetting:
            for number in list(self.connections):
                self.drop(number, True)

    def wait(self):
        """Until something comes, and reads it."""
        poll = select.poll()
        of = {}
        for ways in self.connections.values():
            for way in ways:
                if not way.eof and len(way.held) < MOST:
                    of[way.source.fileno()] = way
                    poll.register(way.source, select.POLLIN)
        fd = self.listener.fileno()
        if time.monotonic() >= self.refusing or self.healed:
            poll.register(fd, select.POLLIN)
        for ready, _ in poll.poll(TICK * 1000):
            if ready == fd:
                self.accept()
            else:
                self.guard(of[ready].number, of[ready].read)

    def attend(self, number):
        for way in self.connections[number]:
            self.guard(number, way.move)
            if number not in self.connections:
                return
        if all(way.done for way in self.connections[number]):
            self.drop(number, False)

    def guard(self, number, function):
        try:
            function()
        except End as e:
            self.drop(number, e.reset)
        except OSError:
            self.drop(number, True)

    def accept(self):
        try:
            near, _ = self.listener.accept()
        except OSError:
            return
        self.number += 1
        try:
            far = socket.create_connection(("127.0.0.1", self.target()), 2)
        except OSError:
            faultserver.reset_on_close(near)
            near.close()
            return
        for s in near, far:
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        up, down = self.draw()
        ways = (Way(self, self.number, UP, near, far, up),
                Way(self, self.number, DOWN, far, near, down))
        ways[0].back, ways[1].back = ways[1], ways[0]
        self.connections[self.number] = ways

    def draw(self):
        r = random.Random("%d %d" % (self.seed, self.number))
        if r.random() * 100 >= self.percent:
            return Fault(), Fault()
        return draw(r, self.tls)

    def drop(self, number, reset):
        for way in self.connections.pop(number, ()):
            if reset:
                faultserver.reset_on_close(way.source)
            way.source.close()
