"""An HTTP/1.1 server on raw sockets that does exactly what a test tells it.

Server passes each request to a function together with a Reply, which can send
any bytes, at any pace, and end a connection in any way.  Every request is
recorded with its headers, its connection's number and its time.  Mcp is a
proper MCP Streamable HTTP server, in which a test can replace each step, and
which a test can make forget its sessions.

The servers use only loopback and Unix sockets, and only ephemeral ports.
"""

import json
import os
import queue
import select
import socket
import ssl
import struct
import threading
import time

import pace
import ports

PATIENCE = 30.0
WITNESSES = ("ping", "tools/list", "prompts/list", "resources/list")


def readable(fd, seconds):
    """Waits until fd can be read.  Not with select(), which accepts no
    descriptor over 1023."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def is_pending(sock):
    """Are there bytes to be read, or the end?"""
    try:
        return readable(sock.fileno(), 0)
    except (OSError, ValueError):       # the socket is closed
        return False


class Request:
    """One request as it arrived."""

    def __init__(self, number, conn, method, target, version, headers):
        self.number = number
        self.conn = conn
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
        self.body = b""
        self.time = time.monotonic()
        self.started = False    # an answer has begun
        self.answered = None    # when it began
        self.done = None        # when the handler returned
        self._json = None

    def get(self, name, default=None):
        for k, v in self.headers:
            if k.lower() == name.lower():
                return v
        return default

    def all(self, name):
        return [v for k, v in self.headers if k.lower() == name.lower()]

    @property
    def json(self):
        if self._json is None and self.body:
            try:
                self._json = json.loads(self.body)
            except ValueError:
                self._json = None
        return self._json

    @property
    def rpc(self):
        """The JSON-RPC method, or None."""
        m = self.json
        return m.get("method") if isinstance(m, dict) else None

    @property
    def sid(self):
        return self.get("Mcp-Session-Id")

    def __repr__(self):
        return "<%d conn %d %s %s %s>" % (self.number, self.conn,
                                          self.method, self.target, self.rpc)


REASONS = {200: "OK", 202: "Accepted", 204: "No Content", 400: "Bad Request",
           401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed"}


class Reply:
    """The answer to a request, with full control of its bytes."""

    def __init__(self, server, sock, request):
        self.server = server
        self.sock = sock
        self.request = request
        self.lock = threading.RLock()
        self.started = False
        self.chunked = False
        self.ended = False
        self.keep = True
        self.extra = []     # headers that each answer gets

    def raw(self, data):
        """Sends bytes as they are."""
        with self.lock:
            self.sock.sendall(data)

    def begin(self):
        if not self.request.started:
            self.request.answered = time.monotonic()
        self.started = self.request.started = True

    def head(self, status, headers=(), length=None):
        """Sends status line and headers; chunked if there is no length."""
        out = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, "Status"))]
        out += ["%s: %s" % h for h in list(headers) + self.extra]
        if length is not None:
            out.append("Content-Length: %d" % length)
        elif status not in (204, 304):
            out.append("Transfer-Encoding: chunked")
            self.chunked = True
        self.begin()
        self.raw(("\r\n".join(out) + "\r\n\r\n").encode("latin-1"))

    @staticmethod
    def parts(data, ctype, headers):
        """The bytes and the headers of a whole answer."""
        if isinstance(data, str):
            data = data.encode()
        heads = list(headers)
        if ctype:
            heads.append(("Content-Type", ctype))
        return data, heads

    def body(self, status, data=b"", ctype=None, headers=()):
        """Sends a whole answer, in one piece if it is small."""
        data, heads = self.parts(data, ctype, headers)
        out = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, "Status"))]
        out += ["%s: %s" % h for h in heads + self.extra]
        if status != 204:
            out.append("Content-Length: %d" % len(data))
        self.begin()
        self.ended = True
        text = ("\r\n".join(out) + "\r\n\r\n").encode("latin-1")
        if len(data) < 65536:
            self.raw(text + data)
        else:
            self.raw(text)
            self.raw(data)

    def json(self, obj, status=200, headers=(), ctype="application/json"):
        if not isinstance(obj, (bytes, str)):
            obj = json.dumps(obj)
        self.body(status, obj, ctype, headers)

    def text(self, status, data, headers=()):
        self.body(status, data, "text/plain; charset=utf-8", headers)

    def id(self):
        """The request's JSON-RPC id; None if it has none, as a GET."""
        return (self.request.json or {}).get("id")

    def result(self, result, headers=()):
        self.json({"jsonrpc": "2.0", "id": self.id(), "result": result}, 200,
                  headers)

    def error(self, code, message, status=200, data=None, **kw):
        """A JSON-RPC error; id=... replaces the request's id."""
        err = {"code": code, "message": message}
        if data is not None:
            err["data"] = data
        ident = kw.get("id", self.id())
        self.json({"jsonrpc": "2.0", "id": ident, "error": err}, status)

    def sse(self, status=200, headers=()):
        self.head(status, [("Content-Type", "text/event-stream"),
                           ("Cache-Control", "no-cache")] + list(headers))

    def chunk(self, data):
        """One chunk of the body."""
        if isinstance(data, str):
            data = data.encode()
        if not data:
            return
        if self.chunked:
            size = b"%x\r\n" % len(data)
            if len(data) < 65536:
                self.raw(size + data + b"\r\n")
            else:
                with self.lock:
                    self.raw(size)
                    self.raw(data)
                    self.raw(b"\r\n")
        else:
            self.raw(data)

    def event(self, data=None, id=None, retry=None, event=None):
        """One server-sent event; data may be an object."""
        out = b""
        if event is not None:
            out += b"event: " + event.encode() + b"\n"
        if id is not None:
            out += b"id: " + str(id).encode() + b"\n"
        if retry is not None:
            out += b"retry: %d\n" % retry
        if data is not None:
            if isinstance(data, (dict, list)):
                data = json.dumps(data)
            if isinstance(data, str):
                data = data.encode()
            out += b"data: " + data + b"\n"
        self.chunk(out + b"\n")

    def answer(self, result, **kw):
        """The request's result as one event."""
        self.event({"jsonrpc": "2.0", "id": self.id(), "result": result}, **kw)

    def end(self):
        """Ends the body in the proper way."""
        with self.lock:
            if self.started and self.chunked and not self.ended:
                self.ended = True
                self.raw(b"0\r\n\r\n")
            self.ended = True

    def cut(self):
        """Sends a FIN, even in the middle of an answer."""
        self.ended = True
        self.keep = False
        shut(self.sock)

    def reset(self):
        """Sends a RST, even in the middle of an answer."""
        self.ended = True
        self.keep = False
        reset_on_close(self.sock)
        # The reader thread holds the same object: close() sends the RST.
        self.sock.close()

    def gone(self, seconds=0.0):
        """Has the client closed its side?  Waits up to `seconds` for it."""
        end = time.monotonic() + seconds
        while True:
            try:
                left = max(0.0, end - time.monotonic())
                r = readable(self.sock, min(left, 0.1))
                if r and not self.sock.recv(1, socket.MSG_PEEK):
                    return True
                if r:
                    return False
            except (OSError, ValueError):
                return True
            if time.monotonic() >= end or self.server.closing.is_set():
                return False


def shut(sock):
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    try:
        sock.close()
    except OSError:
        pass


def reset_on_close(sock):
    """Makes close() send a RST, if the socket is still open."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
    except OSError:
        pass


class Closed(Exception):
    """The client closed the connection between two requests."""


class Server:
    """The bare server.  handler(request, reply) runs in its own thread."""

    def __init__(self, handler=None, tls=None, unix=None, listen=True,
                 host="127.0.0.1", port=0):
        self.handler = handler
        self.host = host
        self.tls = tls
        self.unix = unix
        self.requests = []
        self.errors = []        # what handlers raised
        self.tls_errors = []
        self.connections = 0
        self.on_accept = None   # f(sock): True takes the socket over
        self.closing = threading.Event()
        self.lock = threading.RLock()
        self.open = set()
        self.sock = None
        self.port = port or (None if unix else ports.free_port(host, True))
        self.bind()
        if listen:
            self.up()

    # the listening socket

    def bind(self):
        """Binds the port without listening: connects are refused."""
        if self.unix:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.bind(self.unix)
            return
        self.sock = ports.bound((self.host, self.port))

    def up(self):
        if self.closing.is_set():
            return
        self.sock.listen(512)
        threading.Thread(target=self.accept, args=(self.sock,),
                         daemon=True).start()

    def down(self, reset=False):
        """Refuses connects and ends the open connections."""
        with self.lock:
            old, self.sock = self.sock, None
            socks = list(self.open)
            self.open.clear()
        # shutdown wakes the thread in accept
        shut(old)
        for s in socks:
            if reset:
                reset_on_close(s)
            shut(s)
        self.bind()

    def close(self):
        self.closing.set()
        with self.lock:
            socks = list(self.open)
            if self.sock:       # else down() is closing it
                socks.append(self.sock)
        for s in socks:
            shut(s)

    @property
    def url(self):
        scheme = "https" if self.tls else "http"
        return "%s://%s:%d/mcp" % (scheme, self.host, self.port)

    def accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                if self.sock is not listener:   # down() missed this socket
                    shut(sock)
                    return
                self.connections += 1
                number = self.connections
                self.open.add(sock)
            threading.Thread(target=self.serve, args=(sock, number),
                             daemon=True).start()

    # one connection

    def serve(self, sock, number):
        if not self.unix:
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:     # down() has closed it
                return
        if self.on_accept and self.on_accept(sock):
            with self.lock:
                self.open.discard(sock)
            return
        if self.tls:
            bare = sock
            try:
                sock.settimeout(PATIENCE)
                sock = self.tls.wrap_socket(sock, server_side=True)
                sock.settimeout(None)
            except (OSError, ssl.SSLError, ValueError) as e:
                self.tls_errors.append(str(e))
                with self.lock:
                    self.open.discard(bare)
                shut(sock)
                return
            with self.lock:
                if bare not in self.open:       # down() ran meanwhile
                    shut(sock)
                    return
                self.open.discard(bare)
                self.open.add(sock)
        try:
            self.talk(sock, number)
        except (Closed, OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.open.discard(sock)
            shut(sock)

    def talk(self, sock, number):
        buf = bytearray()
        while True:
            request = self.read_head(sock, buf, number)
            self.read_body(sock, buf, request)
            with self.lock:
                request.number = len(self.requests)
                self.requests.append(request)
            reply = Reply(self, sock, request)
            try:
                self.handler(request, reply)
                reply.end()
            except OSError:
                # the client left, or the server is being closed
                raise Closed()
            except Exception as e:
                self.errors.append("%r: %r" % (request, e))
                raise Closed()
            finally:
                request.done = time.monotonic()
            if not reply.started and not reply.ended:
                self.errors.append("%r: no reply" % request)
                raise Closed()
            if not reply.keep:
                raise Closed()

    def fill(self, sock, buf):
        data = sock.recv(262144)
        if not data:
            raise Closed()
        buf += data

    def read_head(self, sock, buf, number):
        while b"\r\n\r\n" not in buf:
            self.fill(sock, buf)
        end = buf.index(b"\r\n\r\n")
        lines = bytes(buf[:end]).decode("latin-1").split("\r\n")
        del buf[:end + 4]
        method, target, version = lines[0].split(" ", 2)
        headers = []
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers.append((name, value.strip(" \t")))
        return Request(0, number, method, target, version, headers)

    def read_body(self, sock, buf, request):
        if (request.get("Transfer-Encoding") or "").lower() == "chunked":
            out = bytearray()
            while True:
                while b"\r\n" not in buf:
                    self.fill(sock, buf)
                end = buf.index(b"\r\n")
                size = int(bytes(buf[:end]).split(b";")[0], 16)
                del buf[:end + 2]
                while len(buf) < size + 2:
                    self.fill(sock, buf)
                out += buf[:size]
                del buf[:size + 2]
                if size == 0:
                    break
            request.body = bytes(out)
            return
        size = int(request.get("Content-Length") or 0)
        while len(buf) < size:
            self.fill(sock, buf)
        request.body = bytes(buf[:size])
        del buf[:size]

    # what arrived

    def seen(self, rpc=None, method=None, **params):
        """The requests with this JSON-RPC method and HTTP method."""
        with self.lock:
            found = list(self.requests)
        if rpc is not None:
            found = [r for r in found if r.rpc == rpc]
        if method is not None:
            found = [r for r in found if r.method == method]
        return found

    def wait(self, test, seconds=PATIENCE):
        """Polls until test() is true; returns its value."""
        limit = pace.Limit(seconds)
        while True:
            value = test()
            if value or limit.left() <= 0:
                return value
            time.sleep(0.005)


    def caught_up(self):
        """Waits until the server has read all that its clients have sent so
        far, and the EOF of closed connections.  The connection made here is
        the last in the queue of those that wait to be accepted."""
        before = self.connections
        with socket.create_connection((self.host, self.port)):
            self.wait(lambda: self.connections > before)
        self.wait(lambda: not any(map(is_pending, list(self.open))))


def is_witness(m):
    """Is m a request with which the proxy checks that its session lives?"""
    return m.get("method") in WITNESSES and \
        str(m.get("id")).startswith("mcpsplice-")


class Session:
    def __init__(self, sid):
        self.sid = sid
        self.initialized = False


class Mcp(Server):
    """A proper MCP server, unless a test changes it.

    init     scripted answers to the next initialize requests, f(rx, tx)
    methods  JSON-RPC method -> f(rx, tx)
    refuse   f(rx, tx): the answer to each request with an unknown session
    on_get   f(rx, tx)
    on_note  f(rx, tx): for notifications, which get a 202 unless it answers
    """

    def __init__(self, **kw):
        self.stateful = kw.pop("stateful", True)
        self.version = kw.pop("version", None)
        self.capabilities = kw.pop("capabilities",
                                   {"tools": {}, "resources": {},
                                    "prompts": {}})
        self.init = list(kw.pop("init", ()))
        self.init_headers = kw.pop("init_headers", [])
        self.methods = {"ping": lambda rx, tx: tx.result({}),
                        "tools/call": self.tool}
        self.refuse = kw.pop("refuse", None) or (
            lambda rx, tx: tx.text(404, "session not found\n"))
        self.on_get = kw.pop("on_get", None) or (
            lambda rx, tx: tx.text(405, "no stream"))
        self.on_note = None
        self.before = None      # f(rx, tx): True took the request over
        self.sessions = {}
        self.made = []          # session ids, in order
        self.executed = []      # Request of each that was dispatched
        self.witnesses = []     # the proxy's own pings and lists, which are
                                # in none of the other lists
        self.replies = []       # the client's answers
        self.early = []         # requests before initialized, no witnesses
        self.deleted = []
        self.streams = queue.Queue()
        super().__init__(handler=self.route, **kw)

    def route(self, rx, tx):
        if self.before and self.before(rx, tx):
            return
        if rx.method == "POST":
            self.post(rx, tx)
        elif rx.method == "GET":
            self.get(rx, tx)
        elif rx.method == "DELETE":
            with self.lock:
                self.deleted.append(rx.sid)
                self.sessions.pop(rx.sid, None)
            tx.body(200)
        else:
            tx.text(405, "no")

    def post(self, rx, tx):
        m = rx.json
        if not isinstance(m, dict):
            tx.text(400, "not a message")
            return
        if m.get("method") == "initialize":
            step = None
            with self.lock:
                if self.init:
                    step = self.init.pop(0)
            (step or self.initialize)(rx, tx)
            return
        session = self.session(rx)
        witness = is_witness(m)
        if witness:
            with self.lock:
                self.witnesses.append(rx)
        # a server that has become stateless does not know its old sessions
        if session is None and (self.stateful or rx.sid in self.made):
            self.refuse(rx, tx)
            return
        if "method" not in m:
            with self.lock:
                self.replies.append(rx)
            tx.body(202)
        elif "id" not in m:
            if m["method"] == "notifications/initialized":
                if self.on_note:
                    self.on_note(rx, tx)
                elif session:
                    session.initialized = True
                if session:
                    session.initialized = True
            elif self.on_note:
                self.on_note(rx, tx)
            if not tx.started and not tx.ended:
                tx.body(202)
        else:
            with self.lock:
                if session and not session.initialized and not witness:
                    self.early.append(rx)
                if not witness:
                    self.executed.append(rx)
            fn = self.methods.get(m["method"]) or self.anything
            fn(rx, tx)

    def get(self, rx, tx):
        if self.stateful and self.session(rx) is None:
            self.refuse(rx, tx)
            return
        self.on_get(rx, tx)

    def session(self, rx):
        with self.lock:
            return self.sessions.get(rx.sid)

    def new_session(self):
        with self.lock:
            sid = "sid-%d-%s" % (len(self.made) + 1, os.urandom(6).hex())
            self.made.append(sid)
            self.sessions[sid] = Session(sid)
        return sid

    def initialize(self, rx, tx):
        """The proper answer; scripted answers may call it, too."""
        heads = list(self.init_headers)
        if self.stateful:
            heads.append(("Mcp-Session-Id", self.new_session()))
        tx.result(self.init_result(rx), heads)

    def init_result(self, rx):
        asked = rx.json.get("params", {}).get("protocolVersion", "2025-11-25")
        return {"protocolVersion": self.version or asked,
                "capabilities": self.capabilities,
                "serverInfo": {"name": "fault", "version": "1"}}

    def anything(self, rx, tx):
        tx.result({"ok": rx.rpc, "sid": rx.sid})

    def tool(self, rx, tx):
        params = rx.json.get("params", {})
        args = params.get("arguments", {})
        if args.get("ms"):
            self.closing.wait(args["ms"] / 1000.0)
        tx.result({"content": [{"type": "text",
                                "text": json.dumps(args)}]})

    # for tests: commands

    def forget(self):
        """Forgets the sessions, as after a restart."""
        with self.lock:
            self.sessions.clear()

    def restart(self, reset=False):
        """Acts as if the server was killed and started again at once: it
        forgets its sessions."""
        self.down(reset)
        self.forget()
        self.up()

    def runs(self, key):
        """How often a tools/call with this argument "key" ran."""
        with self.lock:
            found = list(self.executed)
        return sum(1 for r in found if r.rpc == "tools/call" and
                   r.json["params"].get("arguments", {}).get("key") == key)

    def inits(self):
        return len(self.seen("initialize"))

    def listen(self, rx, tx):
        """An on_get that keeps the stream open, for stream()."""
        tx.sse()
        tx.chunk(": hello\n\n")
        self.streams.put(tx)
        while not tx.ended and not self.closing.is_set():
            if tx.gone(0.2):
                return

    def stream(self, seconds=PATIENCE):
        """Waits for the next listen stream that a client opens."""
        return self.streams.get(timeout=seconds)
