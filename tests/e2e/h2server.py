"""faultserver over HTTP/2: the same handlers, with frames of our own.

H2Mcp plays the server of faultserver.Mcp; a connection whose client does not
choose "h2" in the handshake is served in HTTP/1.1 as ever.  Each request runs
its handler in a thread of its own.  A handler's Reply can also do what only
HTTP/2 has: end its stream with a code, say GOAWAY, or stall.

RFC 9113 is HTTP/2, RFC 7541 is the coding of its headers (HPACK).
"""

import collections
import json
import select
import ssl
import struct
import threading
import time

import faultserver

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, \
    WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITIZED = 1, 1, 4, 8, 32
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = range(4)
REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM, HTTP_1_1_REQUIRED = 7, 8, 11, 13
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 3, 4, 5
WINDOW = 65535
MUCH = 1 << 30

# RFC 7541, appendix A
STATIC = [(n, "") for n in """
:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|
:scheme https|:status 200|:status 204|:status 206|:status 304|:status 400|
:status 404|:status 500|accept-charset|accept-encoding gzip, deflate|
accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|
authorization|cache-control|content-disposition|content-encoding|
content-language|content-length|content-location|content-range|content-type|
cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|
if-none-match|if-range|if-unmodified-since|last-modified|link|location|
max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|
retry-after|server|set-cookie|strict-transport-security|transfer-encoding|
user-agent|vary|via|www-authenticate""".replace("\n", "").split("|")]
STATIC = [tuple(n.split(" ", 1)) if " " in n else (n, "") for n, _ in STATIC]

# RFC 7541, appendix B, as far as text goes: the symbols by the length of their
# codes.  The codes count up from one symbol to the next.
LENGTHS = {
    5: "012aceiost", 6: " %-./3456789=A_bdfghlmnpru",
    7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", 8: "&*,;XZ", 10: '!"()?',
    11: "'+|", 12: "#>", 13: "\0$@[]~", 14: "^}", 15: "<`{", 19: "\\"}


def huffman_codes():
    codes, code, last = {}, 0, 0
    for length, symbols in sorted(LENGTHS.items()):
        for symbol in symbols:
            code <<= length - last
            last = length
            codes[length, code] = symbol
            code += 1
    return codes


CODES = huffman_codes()


def unhuffman(data):
    out, code, length = [], 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code = code << 1 | byte >> bit & 1
            length += 1
            symbol = CODES.get((length, code))
            if symbol is not None:
                out.append(symbol)
                code = length = 0
    return "".join(out)


class Headers:
    """Decodes the header blocks of one connection."""

    def __init__(self):
        self.dynamic = collections.deque()
        self.most = 4096

    def number(self, bits):
        """An integer whose first byte has that many bits of it."""
        top = (1 << bits) - 1
        n = self.data[self.at] & top
        self.at += 1
        if n < top:
            return n
        shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            n += (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    def text(self):
        coded = self.data[self.at] & 128
        n = self.number(7)
        raw = self.data[self.at:self.at + n]
        self.at += n
        return unhuffman(raw) if coded else raw.decode("latin-1")

    def entry(self, index):
        if index <= len(STATIC):
            return STATIC[index - 1]
        return self.dynamic[index - len(STATIC) - 1]

    def shrink(self):
        while sum(len(n) + len(v) + 32 for n, v in self.dynamic) > self.most:
            self.dynamic.pop()

    def decode(self, data):
        self.data, self.at = data, 0
        out = []
        while self.at < len(data):
            byte = data[self.at]
            if byte & 128:
                out.append(self.entry(self.number(7)))
                continue
            if byte & 224 == 32:
                self.most = self.number(5)
                self.shrink()
                continue
            index = self.number(6 if byte & 64 else 4)
            name = self.entry(index)[0] if index else self.text()
            out.append((name, self.text()))
            if byte & 64:
                self.dynamic.appendleft(out[-1])
                self.shrink()
        return out


def encoded(headers):
    """A header block without compression."""
    out = bytearray()
    for name, value in headers:
        out.append(0)
        for text in (name.lower(), value):
            raw = text.encode("latin-1")
            n = len(raw)
            if n < 127:
                out.append(n)
            else:
                out.append(127)
                n -= 127
                while n >= 128:
                    out.append(n & 127 | 128)
                    n >>= 7
                out.append(n)
            out += raw
    return bytes(out)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + \
        struct.pack(">BBI", kind, flags, stream) + payload


class Connection:
    """One connection in HTTP/2.  One thread reads; all may write."""

    def __init__(self, server, sock, number):
        self.server = server
        self.sock = sock
        self.number = number
        self.lock = threading.RLock()       # for the TLS object
        self.sending = threading.Lock()     # for the frames
        self.flow = threading.Condition()   # for the windows
        self.window = WINDOW
        self.initial = WINDOW
        self.streams = {}
        self.headers = Headers()
        self.last = 0
        self.gone = None        # streams above it are not processed
        self.pings = 0
        self.acks = 0           # of our SETTINGS
        self.ended = False
        sock.setblocking(False)

    # bytes

    def send(self, data):
        """Whole frames: a part of another one must not come between."""
        with self.sending:
            view = memoryview(data)
            while view:
                with self.lock:
                    try:
                        view = view[self.sock.send(view):]
                        continue
                    except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                        pass
                poll = select.poll()
                poll.register(self.sock.fileno(), select.POLLOUT)
                if not poll.poll(faultserver.PATIENCE * 1000):
                    raise OSError("the client reads nothing")

    def receive(self, n):
        while len(self.input) < n:
            with self.lock:
                try:
                    data = self.sock.recv(262144)
                    if not data:
                        raise faultserver.Closed()
                    self.input += data
                    continue
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
            faultserver.readable(self.sock.fileno(), 1)
        data = bytes(self.input[:n])
        del self.input[:n]
        return data

    # frames

    def settings(self, **values):
        """SETTINGS; the names are those of this module in lower case."""
        names = {"max_concurrent_streams": MAX_CONCURRENT_STREAMS,
                 "initial_window_size": INITIAL_WINDOW_SIZE,
                 "max_frame_size": MAX_FRAME_SIZE}
        self.send(frame(SETTINGS, 0, 0, b"".join(
            struct.pack(">HI", names[k], v) for k, v in values.items())))

    def goaway(self, last=None, code=NO_ERROR):
        """Streams above the last one are not processed, says this."""
        self.gone = self.last if last is None else last
        self.send(frame(GOAWAY, 0, 0, struct.pack(">II", self.gone, code)))

    def end_tls(self):
        """Says goodbye in TLS, and leaves TCP open."""
        with self.lock:
            try:
                self.sock.unwrap()
            except ssl.SSLWantReadError:
                pass            # the client has not said it yet

    def ping(self):
        self.send(frame(PING, 0, 0, b"mcpsplic"))

    def talk(self):
        self.input = bytearray()
        try:
            if self.receive(len(PREFACE)) != PREFACE:
                raise ValueError("not HTTP/2")
            self.settings(**self.server.settings)
            if self.server.credit:
                self.send(frame(WINDOW_UPDATE, 0, 0,
                                struct.pack(">I", MUCH)))
            while True:
                head = self.receive(9)
                n = int.from_bytes(head[:3], "big")
                kind, flags, stream = struct.unpack(">BBI", head[3:])
                self.take(kind, flags, stream, self.receive(n))
        finally:
            with self.flow:
                self.ended = True
                self.flow.notify_all()

    def take(self, kind, flags, stream, data):
        if kind in (HEADERS, DATA) and flags & PADDED:
            data = data[1:len(data) - data[0]]
        if kind == HEADERS:
            if flags & PRIORITIZED:
                data = data[5:]
            self.block = data
            self.block_flags = flags
        elif kind == CONTINUATION:
            self.block += data
        if kind in (HEADERS, CONTINUATION) and flags & END_HEADERS:
            self.begin(stream, self.block_flags & END_STREAM)
        elif kind == DATA:
            self.body(stream, data, flags & END_STREAM)
        elif kind == RST_STREAM:
            with self.flow:
                if stream in self.streams:
                    self.streams[stream].dropped = True
                self.flow.notify_all()
        elif kind == SETTINGS and flags & ACK:
            self.acks += 1
        elif kind == SETTINGS:
            with self.flow:
                for at in range(0, len(data), 6):
                    name, value = struct.unpack_from(">HI", data, at)
                    if name == INITIAL_WINDOW_SIZE:
                        for s in self.streams.values():
                            s.window += value - self.initial
                        self.initial = value
                self.flow.notify_all()
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.pings += 1
            if self.server.answers_pings:
                self.send(frame(PING, ACK, 0, data))
        elif kind == WINDOW_UPDATE:
            with self.flow:
                more = struct.unpack(">I", data)[0]
                if stream == 0:
                    self.window += more
                elif stream in self.streams:
                    self.streams[stream].window += more
                self.flow.notify_all()

    # requests

    def begin(self, stream, whole):
        fields = self.headers.decode(self.block)
        if self.gone is not None and stream > self.gone:
            return
        pseudo = dict(f for f in fields if f[0].startswith(":"))
        request = faultserver.Request(
            0, self.number, pseudo[":method"], pseudo[":path"], "HTTP/2",
            [f for f in fields if not f[0].startswith(":")])
        self.last = stream
        reply = Reply(self.server, self, request, stream, self.initial)
        with self.flow:
            self.streams[stream] = reply
        if self.server.on_stream and self.server.on_stream(reply):
            with self.flow:
                del self.streams[stream]
            return
        if whole:
            self.run(reply)

    def body(self, stream, data, whole):
        reply = self.streams.get(stream)
        if reply is None:
            return
        reply.request.body += data
        if data and self.server.credit:
            update = struct.pack(">I", len(data))
            self.send(frame(WINDOW_UPDATE, 0, 0, update) +
                      (b"" if whole else
                       frame(WINDOW_UPDATE, 0, stream, update)))
        if whole:
            self.run(reply)

    def run(self, reply):
        with self.server.lock:
            reply.request.number = len(self.server.requests)
            self.server.requests.append(reply.request)
        threading.Thread(target=self.handle, args=(reply,),
                         daemon=True).start()

    def handle(self, reply):
        request = reply.request
        try:
            self.server.handler(request, reply)
            reply.end()
            if not reply.started and not reply.ended:
                self.server.errors.append("%r: no reply" % request)
        except (OSError, ValueError):
            pass                # the client left, or the server is closed
        except Exception as e:
            self.server.errors.append("%r: %r" % (request, e))
        finally:
            request.done = time.monotonic()
            with self.flow:
                self.streams.pop(reply.stream, None)


class Reply(faultserver.Reply):
    """The way back on one stream."""

    def __init__(self, server, connection, request, stream, window):
        super().__init__(server, connection.sock, request)
        self.connection = connection
        self.stream = stream
        self.window = window
        self.dropped = False    # the client has ended the stream

    def head(self, status, headers=(), length=None):
        self.begin()
        self.connection.send(frame(
            HEADERS, END_HEADERS, self.stream,
            encoded([(":status", str(status))] + list(headers))))

    def body(self, status, data=b"", ctype=None, headers=()):
        data, heads = self.parts(data, ctype, headers)
        self.head(status, heads)
        self.chunk(data)
        self.end()

    def chunk(self, data):
        if isinstance(data, str):
            data = data.encode()
        c = self.connection
        at = 0
        while at < len(data):
            with c.flow:
                n = min(len(data) - at, 16384, self.window, c.window)
                if c.ended or self.dropped:
                    raise OSError("the client left")
                if n <= 0:
                    c.flow.wait(1)
                    continue
                self.window -= n
                c.window -= n
            c.send(frame(DATA, 0, self.stream, data[at:at + n]))
            at += n

    def end(self):
        if self.started and not self.ended:
            self.connection.send(frame(DATA, END_STREAM, self.stream))
        self.ended = True

    def rst(self, code):
        """Ends the stream, and says why."""
        self.ended = True
        self.connection.send(frame(RST_STREAM, 0, self.stream,
                                   struct.pack(">I", code)))

    def gone(self, seconds=0.0):
        c = self.connection
        end = time.monotonic() + seconds
        with c.flow:
            while not (c.ended or self.dropped):
                left = end - time.monotonic()
                if left <= 0 or self.server.closing.is_set():
                    return False
                c.flow.wait(left)
        return True


class H2Mcp(faultserver.Mcp):
    """on_stream  f(reply): True when it has dealt with a new stream
    settings      what the SETTINGS at the beginning say
    credit        the windows are opened for what the client sends
    """

    def __init__(self, **kw):
        self.on_stream = None
        self.settings = kw.pop("settings", {})
        self.credit = kw.pop("credit", True)
        self.answers_pings = True
        self.two = []           # the connections in HTTP/2
        super().__init__(**kw)
        self.tls.set_alpn_protocols(["h2", "http/1.1"])

    def talk(self, sock, number):
        if sock.selected_alpn_protocol() != "h2":
            super().talk(sock, number)
            return
        c = Connection(self, sock, number)
        self.two.append(c)
        c.talk()
