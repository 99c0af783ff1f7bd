"""Plain HTTP to a server, without mcpsplice: another client, and the exact
bytes of what the server says to a session that it does not know."""

import json
import socket

import pace
import support


class Answer:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        self.fields = [tuple(f.split(": ", 1)) if ": " in f else
                       (f.rstrip(":"), "") for f in lines[1:]]
        self.body = body

    def get(self, name):
        return next((v for k, v in self.fields if k.lower() == name), None)

    def message(self):
        """The JSON value, alone or in the last event."""
        text = self.body.decode()
        if self.get("content-type", ).startswith("text/event-stream"):
            text = [line[5:] for line in text.splitlines()
                    if line.startswith("data:") and line[5:].strip()][-1]
        return json.loads(text)


def unchunk(data):
    out = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        n = int(size.split(b";")[0] or b"0", 16)
        out, data = out + rest[:n], rest[n + 2:]
        if n == 0:
            break
    return out


def ask(*args, **kw):
    """The answer; None: there is none. Ktor's CIO may close a connection that
    shall end after the request before it has answered, so it is asked again on
    one that may stay."""
    answer = ask_once(*args, **kw)
    if answer is None and not kw.get("patience"):
        answer = ask_once(*args, last="keep-alive", **kw)
    return answer


def ask_once(port, verb, message=None, sid=None, path="/mcp", patience=None,
             last="close", **fields):
    """patience: how long a stream is read that does not end."""
    body = json.dumps(message).encode() if message is not None else b""
    lines = ["%s %s HTTP/1.1" % (verb, path), "Host: 127.0.0.1:%d" % port,
             "Connection: " + last, "Accept: application/json, text/event-stream"]
    if verb == "POST":
        lines += ["Content-Type: application/json",
                  "Content-Length: %d" % len(body)]
    if sid:
        lines.append("Mcp-Session-Id: " + sid)
    lines += ["%s: %s" % (k.replace("_", "-"), v) for k, v in fields.items()]
    data = b""
    with socket.create_connection(("127.0.0.1", port), 30) as s:
        s.settimeout(patience or 30 * pace.measure())
        s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    break
                data += part
                head, end, rest = data.partition(b"\r\n\r\n")
                if end and patience is None and whole(head, rest):
                    break
        except (socket.timeout, ConnectionResetError):
            pass
    head, _, rest = data.partition(b"\r\n\r\n")
    if not head:
        return None
    answer = Answer(head, rest)
    if answer.get("location") and answer.status in (307, 308):
        where = answer.get("location").split("/", 3)[-1]
        return ask(port, verb, message, sid, "/" + where, patience, **fields)
    if (answer.get("transfer-encoding") or "").lower() == "chunked":
        answer.body = unchunk(rest)
    return answer


def whole(head, rest):
    """Is all of the answer there, without waiting for the end?"""
    fields = dict(f.split(":", 1) for f in head.decode("latin-1").lower()
                  .split("\r\n")[1:])
    if "content-length" in fields:
        return len(rest) >= int(fields["content-length"])
    return rest.endswith(b"0\r\n\r\n")


class Other:
    """A client with a session of its own."""

    def __init__(self, port, version="2025-06-18"):
        self.port = port
        self.version = version
        a = ask(port, "POST", support.init(1, version))
        self.sid = a.get("mcp-session-id")
        self.hello = a.message()["result"]
        self.version = self.hello["protocolVersion"]
        self.post(support.INITIALIZED)

    def post(self, message, sid=None):
        return ask(self.port, "POST", message, sid or self.sid,
                   MCP_Protocol_Version=self.version)

    def ask(self, method, params=None):
        return self.post(support.request(7, method, params)).message()

    def call(self, tool, key):
        return self.ask("tools/call", {"name": tool,
                                       "arguments": {"key": key}})

    def listens(self):
        """The head of a GET, or None where none comes."""
        return ask(self.port, "GET", sid=self.sid, patience=2,
                   MCP_Protocol_Version=self.version)


CALL = support.request(7, "tools/call", {"name": "safe",
                                         "arguments": {"key": "k"}})
PING = support.request(8, "ping")
REPLY = {"jsonrpc": "2.0", "id": 9, "result": {}}


def refusals(start, kill):
    """A client of the server, and what the server says, as (situation, what was
    sent, answer, session id): after a restart, without a session id, and after
    a DELETE, which not each release outlives.  start() returns a port."""
    port = start()
    dead = Other(port)
    kill()
    port = start()
    version = {"MCP_Protocol_Version": dead.version}
    out = []

    def note(situation, what, verb, message=None, sid=None, **kw):
        a = ask(port, verb, message, sid,
                patience=2 if verb == "GET" else None, **dict(version, **kw))
        out.append((situation, what, a, sid))
    if dead.sid:
        forgotten = "a session that it forgot"
        note(forgotten, "POST", "POST", CALL, dead.sid)
        note(forgotten, "POST of a ping", "POST", PING, dead.sid)
        note(forgotten, "POST of a notification", "POST",
             support.INITIALIZED, dead.sid)
        note(forgotten, "POST of an answer", "POST", REPLY, dead.sid)
        note(forgotten, "GET", "GET", sid=dead.sid)
        note(forgotten, "GET with Last-Event-ID", "GET", sid=dead.sid,
             Last_Event_ID="0")
        note(forgotten, "DELETE", "DELETE", sid=dead.sid)
    note("no session id", "POST", "POST", CALL)
    note("no session id", "GET", "GET")
    if dead.sid:
        ended = Other(port)
        note("a live session", "DELETE", "DELETE", sid=ended.sid)
        note("a session after its DELETE", "POST", "POST", CALL, ended.sid)
        note("a session after its DELETE", "GET", "GET", sid=ended.sid)
        note("everybody after a DELETE", "POST of initialize", "POST",
             support.init(1, dead.version))
    kill()
    return dead, out


def shown(answer, sid):
    """An answer as a line of the table; sid: what was sent with it."""
    if answer is None:
        return "the connection ends without an answer"
    kind = answer.get("content-type") or "no type"
    given = answer.get("mcp-session-id")
    words = ["%d" % answer.status, kind]
    if given:
        words.append("mcp-session-id: %s" % (
            "the same" if given == sid else "a new one"))
    for name in ("www-authenticate", "allow"):
        if answer.get(name):
            words.append("%s: %s" % (name, answer.get(name)))
    body = answer.body.decode("utf-8", "backslashreplace")
    if sid:
        body = body.replace(sid, "ID")
    if answer.status < 300 and len(body) > 60 and '"error"' not in body:
        body = body[:50] + "..."
    body = json.dumps(body, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return "%s  %s" % (", ".join(words), body or "(empty)")
