"""What stands between mcpsplice and the servers: it passes all bytes on as
they are, notes each request, cuts connections on order, and shares requests
among replicas as a load balancer does.
"""

import collections
import json
import os
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))

import faultserver                                      # noqa: E402
import pace                                             # noqa: E402
import ports                                            # noqa: E402
import support                                          # noqa: E402


class Seen:
    """A request that passed."""

    def __init__(self, line, fields, body):
        self.verb, self.target = line.split(" ")[:2]
        self.fields = fields            # lower-case names
        self.sid = fields.get("mcp-session-id")
        self.status = None              # until the head of its answer came
        self.given = None               # the session id of its answer
        self.has_ids = False            # its stream can be resumed
        self.head = ""                  # of its answer
        self.hop = None
        try:
            m = json.loads(body) if body else None
        except ValueError:
            m = None
        m = m if isinstance(m, dict) else {}
        self.rpc = m.get("method") or ("answer" if "id" in m else None)
        self.id = m.get("id")
        self.params = m.get("params") or {}
        self.key = (self.params.get("arguments") or {}).get("key")

    def __repr__(self):
        return " ".join(str(w) for w in (
            self.verb, self.rpc, self.params.get("name"), self.key, self.sid,
            self.status) if w is not None)


def read_request(stream):
    """The first line, the fields and all bytes of a request, or None."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline(65536)
        if not line:
            return None
        head += line
    lines = head.decode("latin-1").split("\r\n")
    fields = {}
    for field in lines[1:-2]:
        name, _, value = field.partition(":")
        fields[name.lower()] = value.strip()
    body = stream.read(int(fields.get("content-length", 0)))
    return lines[0], fields, head, body


class Hop:
    """A connection of mcpsplice, with one to each replica it was led to."""

    def __init__(self, front, sock):
        self.front = front
        self.sock = sock
        self.onward = {}                # port -> socket
        self.current = None             # the socket that answers
        self.seen = None                # the request it answers
        self.head = b""
        self.lock = threading.Lock()

    def run(self):
        try:
            stream = self.sock.makefile("rb")
            while True:
                got = read_request(stream)
                if not got:
                    break
                line, fields, head, body = got
                seen = Seen(line, fields, body)
                seen.hop = self
                self.pass_on(seen, head + body)
        except OSError:
            pass
        self.end()

    def pass_on(self, seen, data):
        port = self.front.choose(self)
        sock = self.onward.get(port)
        with self.lock:
            self.seen, self.head = seen, b""
        self.front.note(seen)
        if sock is None:
            sock = socket.create_connection(("127.0.0.1", port), 30)
            sock.settimeout(None)
            self.onward[port] = self.current = sock
            threading.Thread(target=self.bring_back, args=(sock,),
                             daemon=True).start()
        self.current = sock
        sock.sendall(data)

    def bring_back(self, sock):
        try:
            while True:
                data = sock.recv(65536)
                if not data:
                    break
                self.look(data)
                self.sock.sendall(data)
        except OSError:
            pass
        self.onward = {p: s for p, s in self.onward.items() if s is not sock}
        if self.current is sock:
            self.end()

    def look(self, data):
        """Reads the head of an answer."""
        with self.lock:
            seen = self.seen
            if b"\nid:" in data:
                seen.has_ids = True
            if seen.status is not None:
                return
            self.head += data
            head, end, _ = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            seen.head = head.decode("latin-1")
            lines = seen.head.split("\r\n")
            for field in lines[1:]:
                name, _, value = field.partition(":")
                if name.lower() == "mcp-session-id":
                    seen.given = value.strip()
            status = int(lines[0].split(" ")[1])
        with self.front.cond:
            seen.status = status
            self.front.cond.notify_all()

    def end(self, reset=False):
        for sock in [self.sock] + list(self.onward.values()):
            if reset:
                faultserver.reset_on_close(sock)
            faultserver.shut(sock)
        self.front.forget(self)


class Front:
    """replicas: their ports.  by: "connection" leads all requests of one to
    the same replica, "request" each to the next."""

    def __init__(self, replicas, by="connection"):
        self.replicas = list(replicas)
        self.by = by
        self.turn = 0
        self.requests = []
        self.ended = 0                  # connections that are over
        self.hops = set()
        self.cond = threading.Condition()
        self.listener = None
        self.port = ports.free_port()
        self.url = "http://127.0.0.1:%d/mcp" % self.port

    # the socket

    def up(self):
        self.listener = ports.bound(("127.0.0.1", self.port))
        self.listener.listen(64)
        threading.Thread(target=self.accept, args=(self.listener,),
                         daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hop = Hop(self, sock)
            with self.cond:
                if self.listener is not listener:
                    faultserver.shut(sock)
                    return
                self.hops.add(hop)
            threading.Thread(target=hop.run, daemon=True).start()

    def down(self, reset=True):
        """Closes all sockets, as if the server's machine were down."""
        with self.cond:
            listener, self.listener = self.listener, None
            hops = list(self.hops)
        if listener:
            faultserver.shut(listener)
        for hop in hops:
            hop.end(reset)

    def choose(self, hop):
        if self.by == "connection" and hop.onward:
            return next(iter(hop.onward))
        with self.cond:
            self.turn += 1
            return self.replicas[self.turn % len(self.replicas)]

    # what was seen

    def note(self, seen):
        with self.cond:
            self.requests.append(seen)
            self.cond.notify_all()

    def forget(self, hop):
        with self.cond:
            if hop in self.hops:
                self.hops.discard(hop)
                self.ended += 1
                self.cond.notify_all()

    def of(self, rpc=None, verb=None, sid=None):
        with self.cond:
            return [r for r in self.requests
                    if (rpc is None or r.rpc == rpc)
                    and (verb is None or r.verb == verb)
                    and (sid is None or r.sid == sid)]

    def sessions(self):
        """The ids that were given, in order."""
        with self.cond:
            given = [r.given for r in self.requests
                     if r.rpc == "initialize" and r.given]
        return list(collections.OrderedDict.fromkeys(given))

    def wait(self, test, what, seconds=support.LIVE):
        """Until test() is true, which is asked again after each request."""
        limit = pace.Limit(seconds)
        with self.cond:
            while not test():
                left = limit.left()
                if left <= 0:
                    raise AssertionError("%s: not in %.0f s; seen: %s" % (
                        what, limit.seconds, self.tail()))
                self.cond.wait(min(left, 0.5))

    def tail(self):
        return "; ".join(repr(r) for r in self.requests[-12:])

    def cut(self, seen, reset=False):
        seen.hop.end(reset)
