"""A scripted MCP server of every era: HTTP+SSE of 2024-11-05 ("sse"),
Streamable HTTP with or without sessions ("legacy"), the stateless revision
2026-07-28 ("modern") and both of those at one URL ("dual").  It can change
its shape while it runs.

The tools, resources and prompts are the same in each shape; Call hides the
differences.  The modern shape is strict: it refuses what 2026-07-28 says that
a server refuses, and notes any other wrong behaviour of a client in faults.
Every request is recorded, and so is each tool that ran.

Case and Modern are for the tests that need such a server.
"""

import base64
import hashlib
import json
import os
import queue
import threading
import time
import urllib.parse

import faultserver
import support

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
META = "io.modelcontextprotocol/"
SUBSCRIPTION = META + "subscriptionId"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert",
          "emergency")
CACHEABLE = ("server/discover", "tools/list", "prompts/list",
             "resources/list", "resources/templates/list", "resources/read")
ASKING = ("tools/call", "prompts/get", "resources/read")
NAMED = {"tools/call": "name", "prompts/get": "name",
         "resources/read": "uri", "tasks/get": "taskId",
         "tasks/update": "taskId", "tasks/cancel": "taskId"}
INFO = {"name": "era", "version": "1"}
QUESTION_TIME = 30.0


class Over(Exception):
    """The call has been answered, or never will be."""


class Refused(Exception):
    """The client answered a question with an error."""


# headers that mirror the body (2026-07-28, streamable HTTP)

def wrapped(value):
    """A value as Mcp-Name and Mcp-Param-* carry it."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    value = str(value)
    plain = value and all(" " <= c <= "~" for c in value) and \
        value == value.strip(" ") and \
        not (value.startswith("=?base64?") and value.endswith("?="))
    if plain:
        return value
    return "=?base64?%s?=" % base64.b64encode(value.encode()).decode()


def mirrored(schema, args):
    """The Mcp-Param-* headers for these arguments, lower-case name to value;
    properties only, at any depth."""
    out = {}
    for key, sub in (schema.get("properties") or {}).items():
        if not isinstance(sub, dict):
            continue
        value = args.get(key) if isinstance(args, dict) else None
        if "x-mcp-header" in sub and isinstance(value, (str, int)):
            out["mcp-param-" + sub["x-mcp-header"].lower()] = wrapped(value)
        out.update(mirrored(sub, value))
    return out


def digest(method, params):
    """A digest of the request that a requestState is bound to."""
    kept = {k: v for k, v in params.items()
            if k not in ("_meta", "inputResponses", "requestState")}
    text = json.dumps([method, kept], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def declares(capabilities, method, params):
    """May this question be asked of a client with these capabilities?"""
    if method == "roots/list":
        return "roots" in capabilities
    if method == "sampling/createMessage":
        return "sampling" in capabilities
    have = capabilities.get("elicitation")
    if not isinstance(have, dict):
        return False
    if params.get("mode", "form") == "url":
        return "url" in have
    return "form" in have or not have


# one request, whatever the era

class Call:
    """A request that is being served, as a tool sees it."""

    modern = False

    def __init__(self, server, rx, tx, session=None):
        self.server = server
        self.rx = rx
        self.tx = tx
        self.session = session
        m = rx.json
        self.id = m["id"]
        self.method = m["method"]
        params = m.get("params")
        self.params = params if isinstance(params, dict) else {}
        self.meta = self.params.get("_meta") or {}
        args = self.params.get("arguments")
        self.args = args if isinstance(args, dict) else {}
        self.over = False

    # answers

    def result(self, result):
        self.finish({"jsonrpc": "2.0", "id": self.id,
                     "result": self.dress(result)})

    def error(self, code, message, data=None, status=200):
        e = {"code": code, "message": message}
        if data is not None:
            e["data"] = data
        self.finish({"jsonrpc": "2.0", "id": self.id, "error": e}, status)

    def text(self, obj):
        """Answers with a tool result whose text is obj as JSON."""
        self.result({"content": [{"type": "text",
                                  "text": json.dumps(obj, sort_keys=True)}]})

    def dress(self, result):
        return result

    def missing(self, uri):
        """Answers with the error for an unknown resource."""
        self.error(-32602 if self.modern else -32002, "Resource not found",
                   {"uri": uri})

    # on the way

    def progress(self, n, total=None):
        token = self.meta.get("progressToken")
        if token is None:
            return
        p = {"progressToken": token, "progress": n}
        if total is not None:
            p["total"] = total
        self.send({"jsonrpc": "2.0", "method": "notifications/progress",
                   "params": p})

    def log(self, level, data):
        """Sends a log message, if the client has asked for its level."""
        least = self.log_level()
        if least is None or LEVELS.index(level) < LEVELS.index(least):
            return
        self.send({"jsonrpc": "2.0", "method": "notifications/message",
                   "params": {"level": level, "logger": "era",
                              "data": data}})

    def effect(self):
        """Records that the tool ran."""
        with self.server.lock:
            self.server.effects.append((self.params.get("name"),
                                        self.args.get("key")))

    def hold(self, seconds=QUESTION_TIME):
        """Waits until the test releases the call; raises Over at a cancel."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.server.closing.is_set():
            if self.server.release.is_set():
                return
            if self.cancelled(0.02):
                with self.server.lock:
                    self.server.cancelled.append(self.id)
                raise Over()


class StreamableCall(Call):
    """A call that is answered on its own POST: with JSON, or with a stream if
    a message comes before the answer."""

    def stream(self):
        if not self.tx.started:
            self.tx.sse()

    def send(self, message):
        self.stream()
        self.tx.event(message)

    def finish(self, message, status=200):
        self.over = True
        if status == 200 and self.server.always_sse:
            self.stream()
        if self.tx.started:
            self.tx.event(message)
        else:
            self.tx.json(message, status)


class Asking:
    """Questions as requests of the server (all legacy revisions)."""

    def ask(self, **questions):
        """Asks all questions at once; returns the results by key.  Raises
        Refused if one of the answers is an error."""
        waiting = {}
        messages = []
        for key, (method, params) in questions.items():
            if not declares(self.session.capabilities, method,
                            params or {}):
                self.server.faults.append("%s is not declared" % method)
            ident, box = self.server.question()
            waiting[key] = ident, box
            m = {"jsonrpc": "2.0", "id": ident, "method": method}
            if params:
                m["params"] = params
            messages.append(m)
        self.pose(*messages)
        out = {}
        for key, (ident, box) in waiting.items():
            answer = self.reply(ident, box)
            if "error" in answer:
                raise Refused(answer["error"])
            out[key] = answer["result"]
        return out

    def reply(self, ident, box):
        end = time.monotonic() + QUESTION_TIME
        while time.monotonic() < end and not self.server.closing.is_set():
            try:
                return box.get(timeout=0.02)
            except queue.Empty:
                pass
            if self.cancelled(0):
                with self.server.lock:
                    self.server.cancelled.append(self.id)
                raise Over()
        raise Over()

    def later(self):
        """Does nothing in this era."""

    def cancelled(self, seconds):
        """Has the client POSTed a cancel?"""
        end = time.monotonic() + seconds
        while True:
            if self.id in self.session.cancels:
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(0.01)

    def log_level(self):
        return self.session.level or self.server.default_level


def events(messages):
    """The messages as server-sent events."""
    return b"".join(b"data: %s\n\n" % json.dumps(m).encode()
                    for m in messages)


class LegacyCall(Asking, StreamableCall):
    def pose(self, *messages):
        """Sends all in one piece, so that no time passes between them."""
        if self.server.ask_on == "get":
            self.session.push(*messages)
        else:
            self.stream()
            self.tx.chunk(events(messages))


class SseCall(Asking, Call):
    """A call that is answered on the session's stream."""

    def send(self, *messages):
        self.session.push(*messages)

    pose = send

    def finish(self, message, status=200):
        self.over = True
        self.session.push(message)


class ModernCall(StreamableCall):
    modern = True

    def __init__(self, server, rx, tx):
        super().__init__(server, rx, tx)
        self.capabilities = self.meta.get(META + "clientCapabilities")
        self.key = json.dumps(self.id)
        self.history = []       # answers of the earlier rounds
        self.at = 0             # how many of them were used
        self.answered = self.params.get("inputResponses")

    def log_level(self):
        return self.meta.get(META + "logLevel")

    def finish(self, message, status=200):
        self.leave()
        super().finish(message, status)

    def leave(self):
        """Makes the id free again."""
        with self.server.lock:
            if self.key in self.server.busy:
                self.server.busy.remove(self.key)

    def dress(self, result):
        out = {"resultType": "complete"}
        out.update(result)
        if self.server.names_itself:
            out["_meta"] = dict(out.get("_meta") or {},
                                **{META + "serverInfo": INFO})
        if self.method in CACHEABLE:
            out.setdefault("ttlMs", 60000)
            out.setdefault("cacheScope", "private")
        return out

    def cancelled(self, seconds):
        return self.tx.gone(seconds)

    def resume(self):
        """Is the requestState, if any, one of this server?  Uses it up."""
        token = self.params.get("requestState")
        if token is None or self.server.foreign_state:
            return True
        with self.server.lock:
            state = self.server.states.pop(token, None)
        if state is None or state["for"] != digest(self.method, self.params):
            self.error(-32602, "unknown requestState")
            return False
        if state["id"] == self.id:
            self.server.faults.append("a retry with the id of before")
        if state["keys"] or self.answered is not None:
            answers = self.answered or {}
            if set(answers) - set(state["keys"]):
                self.server.faults.append("answers to no question: %r" %
                                          answers)
        self.history = state["rounds"]
        if set(state["keys"]) <= set(self.answered or {}):
            self.history = self.history + [self.answered or {}]
        self.answered = None
        return True

    def ask(self, **questions):
        if self.at < len(self.history):
            self.at += 1
            return self.history[self.at - 1]
        if not self.server.careless:
            for method, params in questions.values():
                if not declares(self.capabilities, method, params or {}):
                    self.require(method, params or {})
        if self.server.without_state and self.answered is not None and \
                set(questions) <= set(self.answered):
            return self.answered
        self.interim({k: {"method": m, "params": p} if p is not None
                      else {"method": m} for k, (m, p) in questions.items()})

    def later(self):
        """Asks the client for a retry, without a question."""
        if self.at < len(self.history):
            self.at += 1
            return
        self.interim({})

    def interim(self, requests):
        """Answers input_required; a retry has the requestState."""
        out = {"resultType": "input_required"}
        if requests:
            out["inputRequests"] = requests
        if not (self.server.without_state and requests):
            token = "st/%s\u00e9\"" % os.urandom(8).hex()
            with self.server.lock:
                self.server.states[token] = {
                    "for": digest(self.method, self.params), "id": self.id,
                    "rounds": self.history, "keys": list(requests)}
            out["requestState"] = token
        self.finish({"jsonrpc": "2.0", "id": self.id, "result": out})
        raise Over()

    def require(self, method, params):
        if method == "elicitation/create":
            need = {"elicitation": {params.get("mode", "form"): {}}}
        else:
            need = {method.split("/")[0]: {}}
        self.error(-32021, "Missing required client capability",
                   {"requiredCapabilities": need}, 400)
        raise Over()


class Session:
    """What a legacy server knows of one client."""

    def __init__(self, sid):
        self.sid = sid
        self.initialized = False
        self.version = None
        self.capabilities = {}
        self.level = None
        self.subscribed = set()
        self.cancels = set()
        self.streams = []       # Replies of GET
        self.ended = False      # its streams must end
        self.lock = threading.Lock()

    def push(self, *messages):
        """Sends messages on the GET's stream; False if there is none."""
        with self.lock:
            if not self.streams:
                return False
            try:
                self.streams[-1].chunk(events(messages))
            except OSError:
                return False    # the client left it a moment ago
        return True


class Listen:
    """An open subscriptions/listen."""

    def __init__(self, call, honoured):
        self.tx = call.tx
        self.id = call.id
        self.honoured = honoured
        self.ended = None       # "result", "eof", "cut", or None

    def wants(self, method, params):
        if method == "notifications/resources/updated":
            uri = (params or {}).get("uri", "")
            return any(uri == u or uri.startswith(u) for u in
                       self.honoured.get("resourceSubscriptions", ()))
        key = {"notifications/tools/list_changed": "toolsListChanged",
               "notifications/prompts/list_changed": "promptsListChanged",
               "notifications/resources/list_changed":
               "resourcesListChanged"}.get(method)
        return bool(self.honoured.get(key))

    def notify(self, method, params=None):
        p = dict(params or {})
        p["_meta"] = dict(p.get("_meta") or {}, **{SUBSCRIPTION: self.id})
        try:
            self.tx.event({"jsonrpc": "2.0", "method": method, "params": p})
        except OSError:
            return False        # the client left it a moment ago
        return True

    def end(self, how="result"):
        """Ends with a result, without one (eof), or in the middle (cut)."""
        if how == "result":
            self.tx.event({"jsonrpc": "2.0", "id": self.id,
                           "result": {"resultType": "complete",
                                      "_meta": {SUBSCRIPTION: self.id}}})
        self.ended = how


def text_refusal(status, words, ctype="text/plain"):
    return lambda rx, tx: tx.body(status, words, ctype)


def rpc_refusal(code, message, status, data=None, ident=True):
    """A refusal that is a JSON-RPC error, with the request's id or another."""
    def fn(rx, tx):
        kw = {} if ident is True else {"id": ident}
        if rx.json is None:
            kw["id"] = None
        tx.error(code, message, status, data, **kw)
    return fn


NO_VERSION = rpc_refusal(-32022, "Unsupported protocol version", 400,
                         {"supported": [MODERN], "requested": "2025-11-25"})


class Era(faultserver.Server):
    """The server.  A test may set these attributes, besides `shape`:

    before         f(rx, tx): True took the request over
    methods        JSON-RPC method -> f(call)
    tools          name -> (what tools/list says, f(call))
    capabilities   of the server, without logging
    release        an Event: ends the calls that wait in hold()
    always_sse     answers are streams even if no message comes before them

    sse:     endpoint, preamble, sse_refuse, dead_refuse, accepted (status
             and body of a good POST), answer_first, any_opens (a POST to
             the path gets a stream like a GET)
    legacy:  stateful, stream (a GET is served), ask_on ("post" or "get"),
             default_level
    modern:  refuse_legacy f(rx, tx), names_itself, careless (asks questions
             that the client has not declared), without_state (one round
             only), foreign_state (a tool checks requestState), supported
    """

    def __init__(self, shape, **kw):
        self.shape = shape
        self.before = kw.pop("before", None)
        self.capabilities = kw.pop("capabilities", {
            "tools": {"listChanged": True}, "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "completions": {}, "logging": {}})
        self.instructions = kw.pop("instructions", "be good")
        self.always_sse = kw.pop("always_sse", False)
        self.endpoint = kw.pop("endpoint", "/messages?sessionId={sid}")
        self.preamble = kw.pop("preamble", b"")
        self.sse_refuse = kw.pop("sse_refuse", text_refusal(
            405, "Method Not Allowed"))
        self.dead_refuse = kw.pop("dead_refuse", text_refusal(
            404, "Session not found"))
        self.accepted = kw.pop("accepted", (202, "Accepted"))
        self.answer_first = kw.pop("answer_first", False)
        self.any_opens = kw.pop("any_opens", False)
        self.tool_pages = kw.pop("tool_pages", False)
        self.stateful = kw.pop("stateful", True)
        self.stream = kw.pop("stream", True)
        self.ask_on = kw.pop("ask_on", "post")
        self.default_level = kw.pop("default_level", "info")
        self.refuse_legacy = kw.pop("refuse_legacy", NO_VERSION)
        self.names_itself = kw.pop("names_itself", True)
        self.careless = kw.pop("careless", False)
        self.without_state = kw.pop("without_state", False)
        self.foreign_state = kw.pop("foreign_state", False)
        self.supported = kw.pop("supported", None)
        self.release = threading.Event()
        self.sessions = {}
        self.made = []          # session ids, in order
        self.deleted = []
        self.effects = []       # (tool, key) of each tool that ran
        self.cancelled = []     # ids of calls that were cancelled
        self.replies = []       # the client's answers, as Requests
        self.notes = []         # its notifications, as Requests
        self.levels = []        # logging/setLevel, in order
        self.listens = []       # Listen objects, in order
        self.states = {}
        self.busy = []          # ids of modern requests under way
        self.faults = []        # wrong behaviour of clients
        self.questions = {}
        self.asked = 0
        self.cuts = {}
        self.methods = dict(METHODS)
        self.tools = dict(TOOLS)
        self.first = 1          # the first connection that was not cut
        super().__init__(handler=self.route, **kw)

    # which shape

    def route(self, rx, tx):
        if self.before and self.before(rx, tx):
            return
        shape = self.shape
        if rx.conn < self.first:
            tx.cut()            # sent to the earlier shape
            return
        if shape != "sse" and rx.target != "/mcp":
            tx.text(404, "Not Found")
            return
        if shape == "dual":
            shape = "modern" if self.speaks_modern(rx) else "legacy"
        {"sse": self.route_sse, "legacy": self.route_legacy,
         "modern": self.route_modern}[shape](rx, tx)

    @staticmethod
    def speaks_modern(rx):
        params = rx.json.get("params") if isinstance(rx.json, dict) else None
        meta = params.get("_meta") if isinstance(params, dict) else None
        return (rx.get("MCP-Protocol-Version") or "") >= MODERN or \
            isinstance(meta, dict) and META + "protocolVersion" in meta

    def become(self, shape, how="cut"):
        """Changes the shape, and forgets all sessions and states.  how: "cut"
        cuts open connections, "end" ends the streams, else they stay."""
        if how == "cut":
            self.down()
            with self.lock:
                self.first = self.connections + 1
        with self.lock:
            old = list(self.sessions.values())
            self.sessions.clear()
            self.states.clear()
            self.shape = shape
        if how == "cut":
            self.up()
        for session in old:
            if how == "end":
                session.ended = True
        for listen in list(self.listens):
            if how == "end" and not listen.ended:
                listen.end()

    # what arrived

    def ran(self, key):
        """How often a tool with this argument "key" has run."""
        with self.lock:
            return sum(1 for _, k in self.effects if k == key)

    def posts(self):
        """HTTP and JSON-RPC methods of all requests but notifications."""
        with self.lock:
            return ["%s %s" % (r.method, r.rpc or "-") for r in self.requests
                    if not (r.rpc or "").startswith("notifications/")]

    def clear(self):
        """Forgets the requests for posts(), with all that were sent so far."""
        self.caught_up()
        with self.lock:
            del self.requests[:]

    def notify(self, method, params=None):
        """Notifies every client that listens for it; returns the number of
        streams."""
        n = 0
        uri = (params or {}).get("uri", "")
        m = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            m["params"] = params
        for session in list(self.sessions.values()):
            if method != "notifications/resources/updated" or \
                    any(uri.startswith(u) for u in session.subscribed):
                n += session.push(m)
        with self.lock:
            listens = list(self.listens)
        for listen in listens:
            if not listen.ended and listen.wants(method, params):
                n += listen.notify(method, params)
        return n

    def open_listens(self):
        return [x for x in self.listens if not x.ended]

    def listening(self, n=1, seconds=support.LIVE):
        """Waits until n listens are open; returns them, or fails."""
        self.wait(lambda: len(self.open_listens()) == n, seconds)
        found = self.open_listens()
        if len(found) != n:
            raise AssertionError("%d listens are open, not %d" %
                                 (len(found), n))
        return found

    def question(self):
        """Returns an id for a question, counted from 1 like the client's ids,
        and a queue for its answer."""
        with self.lock:
            self.asked += 1
            box = self.questions[self.asked] = queue.Queue()
            return self.asked, box

    def take_reply(self, rx):
        with self.lock:
            self.replies.append(rx)
            box = self.questions.pop(rx.json.get("id"), None)
        if box is None:
            self.faults.append("an answer to no question: %r" % rx.json)
        else:
            box.put(rx.json)

    def serve_call(self, call):
        fn = self.methods.get(call.method)
        try:
            if fn is None:
                call.error(-32601, "Method not found",
                           status=404 if call.modern else 200)
            else:
                fn(call)
        except Over:
            if not call.over and call.modern:
                call.tx.cut()
            elif not call.over and isinstance(call, StreamableCall):
                call.stream()   # which ends without an answer
        except Refused as e:
            call.text({"refused": e.args[0]})

    # HTTP+SSE of 2024-11-05

    def route_sse(self, rx, tx):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(rx.target).query)
        sid = query.get("sessionId", [None])[0]
        if rx.method == "GET" or (self.any_opens and not sid):
            self.sse_stream(rx, tx)
        elif rx.method == "POST" and sid:
            self.sse_post(rx, tx, sid)
        else:
            self.sse_refuse(rx, tx)

    def sse_stream(self, rx, tx):
        session = self.new_session()
        tx.sse()
        tx.chunk(self.preamble)
        # The stream is added before the client can POST: answers need it.
        session.streams.append(tx)
        if self.endpoint:
            self.announce(session, tx)
        self.keep(session, tx)

    def announce(self, session, tx=None):
        """Sends an endpoint event, which replaces the earlier one."""
        where = self.endpoint.format(sid=session.sid, origin=self.origin)
        (tx or session.streams[-1]).event(where, event="endpoint")

    @property
    def origin(self):
        return self.url.rsplit("/", 1)[0]

    def keep(self, session, tx):
        """Holds a session's stream until either side ends it."""
        while not (tx.ended or session.ended or self.closing.is_set()):
            if tx.gone(0.02):
                break
        with session.lock:
            if tx in session.streams:
                session.streams.remove(tx)
        if self.shape == "sse":
            with self.lock:
                self.sessions.pop(session.sid, None)

    def sse_post(self, rx, tx, sid):
        session = self.sessions.get(sid)
        if session is None:
            self.dead_refuse(rx, tx)
            return
        m = rx.json
        if not isinstance(m, dict):
            tx.text(400, "no message")
            return
        call = "method" in m and "id" in m
        if not (call and self.answer_first):
            tx.body(*self.accepted, "text/plain")
        if not call:
            self.take(rx, session)
            return

        def work():
            self.legacy_call(SseCall(self, rx, tx, session))
        if self.answer_first:
            work()
            time.sleep(0.05)
            tx.body(*self.accepted, "text/plain")
        else:
            threading.Thread(target=self.guarded, args=(work,),
                             daemon=True).start()

    def guarded(self, fn):
        try:
            fn()
        except (OSError, ValueError):
            pass                # the stream is gone
        except Exception as e:
            self.errors.append(repr(e))

    # Streamable HTTP with initialize

    def new_session(self):
        with self.lock:
            sid = "sid-%d-%s" % (len(self.made) + 1, os.urandom(6).hex())
            self.made.append(sid)
            self.sessions[sid] = Session(sid)
            return self.sessions[sid]

    def route_legacy(self, rx, tx):
        if rx.method == "POST":
            self.legacy_post(rx, tx)
        elif rx.method == "GET" and self.stream and self.stateful:
            self.legacy_get(rx, tx)
        elif rx.method == "DELETE" and self.stateful:
            with self.lock:
                self.deleted.append(rx.sid)
                session = self.sessions.pop(rx.sid, None)
            if session:
                session.ended = True
            tx.body(200)
        else:
            tx.text(405, "Method Not Allowed")

    def legacy_post(self, rx, tx):
        m = rx.json
        if not isinstance(m, dict):
            tx.error(-32700, "no message", 400, id=None)
            return
        self.check_legacy(rx)
        if m.get("method") == "initialize":
            session = self.new_session() if self.stateful else Session(None)
            self.legacy_call(LegacyCall(self, rx, tx, session))
            return
        session = self.legacy_session(rx, tx)
        if session is None:
            return
        if "method" in m and "id" in m:
            self.legacy_call(LegacyCall(self, rx, tx, session))
            return
        self.take(rx, session)
        tx.body(202)

    def legacy_session(self, rx, tx):
        """The request's session; answers the request if there is none."""
        if not self.stateful:
            session = Session(None)
            session.capabilities = {"sampling": {}, "roots": {},
                                    "elicitation": {"form": {}, "url": {}}}
            return session
        if rx.sid is None:
            tx.error(-32000, "Bad Request: No valid session ID provided",
                     400, id=None)
            return None
        session = self.sessions.get(rx.sid)
        if session is None:
            tx.error(-32001, "Session not found", 404, id=None)
            return None
        if rx.get("MCP-Protocol-Version") not in (session.version, None):
            tx.error(-32000, "Bad Request: Unsupported protocol version",
                     400, id=None)
            return None
        return session

    def legacy_get(self, rx, tx):
        session = self.legacy_session(rx, tx)
        if session is None:
            return
        with session.lock:      # a stream in the list can be written to
            tx.sse()
            tx.chunk(b": open\n\n")
            session.streams.append(tx)
        self.keep(session, tx)

    def check_legacy(self, rx):
        """Notes modern members, which a legacy server should never get."""
        params = rx.json.get("params")
        if not isinstance(params, dict):
            return
        # a dual-era client may probe with server/discover
        if rx.rpc == "server/discover":
            return
        for key in params.get("_meta") or {}:
            if key in (META + "protocolVersion", META + "clientInfo",
                       META + "clientCapabilities", META + "logLevel"):
                self.faults.append("%s has %s" % (rx.rpc, key))
        for key in ("inputResponses", "requestState"):
            if key in params:
                self.faults.append("%s has %s" % (rx.rpc, key))

    def legacy_call(self, call):
        if call.method == "initialize":
            self.initialize(call)
            return
        if call.session.version is None and self.stateful:
            self.faults.append("%s before initialize" % call.method)
        self.serve_call(call)

    def initialize(self, call):
        session = call.session
        asked = call.params.get("protocolVersion")
        session.version = asked if asked in LEGACY else LEGACY[-1]
        session.capabilities = call.params.get("capabilities") or {}
        heads = [("Mcp-Session-Id", session.sid)] \
            if session.sid and self.shape != "sse" else []
        result = {"protocolVersion": session.version,
                  "capabilities": self.capabilities, "serverInfo": INFO,
                  "instructions": self.instructions}
        if isinstance(call, SseCall):
            call.result(result)
        else:
            call.tx.result(result, heads)

    def take(self, rx, session):
        """Handles a notification or an answer of a legacy client."""
        if "method" not in rx.json:
            self.take_reply(rx)
            return
        with self.lock:
            self.notes.append(rx)
        if rx.rpc == "notifications/initialized":
            session.initialized = True
        elif rx.rpc == "notifications/cancelled":
            session.cancels.add(rx.json["params"]["requestId"])

    # 2026-07-28

    def route_modern(self, rx, tx):
        m = rx.json
        if rx.method != "POST":
            if self.speaks_modern(rx):
                self.faults.append("%s in 2026-07-28" % rx.method)
            tx.text(405, "Method Not Allowed")
            return
        if not isinstance(m, dict):
            tx.error(-32700, "no message", 400, id=None)
            return
        if not self.speaks_modern(rx):
            self.refuse_legacy(rx, tx)
            return
        for name in ("Mcp-Session-Id", "Last-Event-ID"):
            if rx.get(name) is not None:
                self.faults.append("%s has %s" % (rx.rpc, name))
        if "method" not in m:
            self.faults.append("an answer was POSTed: %r" % m)
            tx.error(-32600, "no request", 400, id=None)
        elif "id" not in m:
            self.modern_note(rx, tx)
        else:
            self.modern_request(rx, tx)

    def modern_note(self, rx, tx):
        with self.lock:
            self.notes.append(rx)
        if rx.rpc == "notifications/cancelled":
            self.faults.append("a cancel was POSTed")
        if rx.get("MCP-Protocol-Version") != MODERN or \
                rx.get("Mcp-Method") != rx.rpc:
            self.faults.append("%s lacks headers" % rx.rpc)
        tx.body(202)

    def modern_request(self, rx, tx):
        wrong = self.judge(rx)
        if wrong:
            code, message, data = wrong
            tx.error(code, message, 400, data)
            return
        call = ModernCall(self, rx, tx)
        with self.lock:
            if call.key in self.busy:
                self.faults.append("id %s is in flight already" % call.key)
            self.busy.append(call.key)
        try:
            if call.method not in ASKING and (
                    "inputResponses" in call.params or
                    "requestState" in call.params):
                self.faults.append("%s is a retry" % call.method)
            if call.resume():
                self.serve_call(call)
        finally:
            call.leave()

    def judge(self, rx):
        """The error for a modern request (code, message, data), or None."""
        params = rx.json.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        version = meta.get(META + "protocolVersion")
        if not isinstance(version, str):
            return -32602, "no %sprotocolVersion" % META, None
        if rx.all("MCP-Protocol-Version") != [version]:
            return -32020, "MCP-Protocol-Version is not the body's", None
        if version != MODERN:
            return (-32022, "Unsupported protocol version",
                    {"supported": [MODERN], "requested": version})
        if not isinstance(meta.get(META + "clientCapabilities"), dict):
            return -32602, "no %sclientCapabilities" % META, None
        level = meta.get(META + "logLevel")
        if level is not None and level not in LEVELS:
            return -32602, "no such log level", None
        if "task" in params:
            self.faults.append("%s has task" % rx.rpc)
        accept = [a.split(";")[0].strip() for a in
                  (rx.get("Accept") or "").split(",")]
        if not {"application/json", "text/event-stream"} <= set(accept) or \
                rx.get("Content-Type") != "application/json":
            self.faults.append("%s: Accept %s, Content-Type %s" %
                               (rx.rpc, accept, rx.get("Content-Type")))
        return self.judge_mirrored(rx, params)

    def judge_mirrored(self, rx, params):
        due = {"mcp-method": rx.rpc}
        name = params.get(NAMED.get(rx.rpc))
        if isinstance(name, str):
            due["mcp-name"] = wrapped(name)
        if rx.rpc == "tools/call" and name in self.tools:
            schema = self.tools[name][0].get("inputSchema", {})
            due.update(mirrored(schema, params.get("arguments") or {}))
        got = {}
        for k, v in rx.headers:
            k = k.lower()
            if k in ("mcp-method", "mcp-name") or \
                    k.startswith("mcp-param-"):
                if k in got:
                    return -32020, "%s twice" % k, None
                got[k] = v
        if got != due:
            return -32020, "headers %r, not %r" % (got, due), None
        return None

    def discover(self, call):
        if not call.modern:
            call.error(-32601, "Method not found")
            return
        versions = self.supported
        if versions is None:
            versions = [MODERN] + (list(LEGACY[::-1])
                                   if self.shape == "dual" else [])
        caps = {k: v for k, v in self.capabilities.items()}
        call.result({"supportedVersions": versions, "capabilities": caps,
                     "instructions": self.instructions})

    def listen(self, call):
        if not call.modern:
            call.error(-32601, "Method not found")
            return
        wanted = call.params.get("notifications")
        if not isinstance(wanted, dict):
            call.error(-32602, "no notifications")
            return
        listen = Listen(call, self.honoured(wanted))
        call.stream()
        with self.lock:     # the acknowledged listen is in the list at once
            listen.notify("notifications/subscriptions/acknowledged",
                          {"notifications": listen.honoured})
            self.listens.append(listen)
        while not listen.ended and not self.closing.is_set():
            if call.tx.gone(0.02):
                listen.ended = "client"
        call.over = True
        if listen.ended == "cut":
            call.tx.cut()

    def honoured(self, wanted):
        have = self.capabilities
        out = {}
        for key, family in (("toolsListChanged", "tools"),
                            ("promptsListChanged", "prompts"),
                            ("resourcesListChanged", "resources")):
            if wanted.get(key) and \
                    have.get(family, {}).get("listChanged"):
                out[key] = True
        uris = wanted.get("resourceSubscriptions")
        if uris and have.get("resources", {}).get("subscribe"):
            out["resourceSubscriptions"] = [u for u in uris
                                            if "refused" not in u]
        return out


# what all shapes offer

def removed(fn):
    """Wraps a method that 2026-07-28 has removed."""
    def out(call):
        if call.modern:
            call.server.faults.append("%s in 2026-07-28" % call.method)
            call.error(-32601, "Method not found", status=404)
        else:
            fn(call)
    return out


def set_level(call):
    level = call.params.get("level")
    if level not in LEVELS:
        call.error(-32602, "no such level")
        return
    call.session.level = level
    with call.server.lock:
        call.server.levels.append(level)
    call.result({})


def subscribe(call):
    if "refused" in call.params["uri"]:
        call.missing(call.params["uri"])
        return
    call.session.subscribed.add(call.params["uri"])
    call.result({})


def unsubscribe(call):
    call.session.subscribed.discard(call.params["uri"])
    call.result({})


def tools_list(call):
    tools = [dict(spec, name=name)
             for name, (spec, _) in call.server.tools.items()]
    if not call.modern:
        tools = [t for t in tools if t.get("outputSchema", {}).get(
            "type", "object") == "object"]
    page = call.params.get("cursor")
    if call.server.tool_pages and len(tools) > 1:
        half = len(tools) // 2
        if page is None:
            call.result({"tools": tools[:half], "nextCursor": "2"})
        else:
            call.result({"tools": tools[half:]})
        return
    call.result({"tools": tools})


def tools_call(call):
    entry = call.server.tools.get(call.params.get("name"))
    if entry is None:
        call.error(-32602, "Unknown tool: %s" % call.params.get("name"))
        return
    entry[1](call)


def read(call):
    uri = call.params.get("uri")
    if uri == "file:///ask":
        answer = call.ask(r=("roots/list", None))
        call.result({"contents": [{"uri": uri, "text": json.dumps(answer)}]})
    elif uri in ("file:///a", "file:///b"):
        call.result({"contents": [{"uri": uri, "text": "text of " + uri}]})
    else:
        call.missing(uri)


def prompts_get(call):
    text = call.params.get("name")
    if text == "ask":
        text = json.dumps(call.ask(s=("sampling/createMessage", SAMPLING)))
    call.result({"messages": [{"role": "user", "content":
                               {"type": "text", "text": text}}]})


METHODS = {
    "ping": removed(lambda call: call.result({})),
    "logging/setLevel": removed(set_level),
    "resources/subscribe": removed(subscribe),
    "resources/unsubscribe": removed(unsubscribe),
    "server/discover": lambda call: call.server.discover(call),
    "subscriptions/listen": lambda call: call.server.listen(call),
    "tools/list": tools_list,
    "tools/call": tools_call,
    "resources/list": lambda call: call.result(
        {"resources": [{"uri": "file:///a", "name": "a"},
                       {"uri": "file:///b", "name": "b"}]}),
    "resources/templates/list": lambda call: call.result(
        {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "x"}]}),
    "resources/read": read,
    "prompts/list": lambda call: call.result(
        {"prompts": [{"name": "hi"}, {"name": "ask"}]}),
    "prompts/get": prompts_get,
    "completion/complete": lambda call: call.result(
        {"completion": {"values": ["one", "two"], "hasMore": False}}),
    "x/unknown-to-us": lambda call: call.result({"got": call.params.get(
        "q")}),
}

FORM = {"message": "sure?", "requestedSchema": {
    "type": "object", "properties": {"sure": {"type": "boolean"}}}}
URL = {"mode": "url", "message": "pay", "url": "https://pay.example/1"}
SAMPLING = {"messages": [{"role": "user", "content":
                          {"type": "text", "text": "why?"}}],
            "maxTokens": 5}


def echo(call):
    call.effect()
    call.text(call.args)


def asks(**questions):
    """A tool that asks once and returns the answers."""
    def tool(call):
        answers = call.ask(**questions)
        call.effect()
        call.text(answers)
    return tool


def url_first(call):
    """Asks in URL mode, in the form of each era."""
    params = dict(URL)
    if not call.modern:
        params["elicitationId"] = "e-1"
    answers = call.ask(u=("elicitation/create", params))
    call.effect()
    call.text(answers)


def url_error(call):
    """First answers -32042 (URL elicitation required) of 2025-11-25."""
    if not call.server.cuts.get("url"):
        call.server.cuts["url"] = 1
        call.error(-32042, "URL elicitation required", {"elicitations": [
            {"mode": "url", "elicitationId": "e-2", "message": "pay",
             "url": "https://pay.example/2"}]})
        return
    call.effect()
    call.text("paid")


def twice(call):
    a = call.ask(first=("elicitation/create", FORM))
    b = call.ask(second=("elicitation/create", FORM),
                 third=("sampling/createMessage", SAMPLING))
    call.effect()
    call.text([a, b])


def forever(call):
    """Asks again and again."""
    for _ in range(50):
        call.ask(again=("elicitation/create", FORM))
    call.text("enough")


def later(call):
    call.later()
    call.effect()
    call.text("later")


def steps(call):
    for n in range(1, call.args.get("n", 3) + 1):
        call.progress(n, call.args.get("n", 3))
    call.effect()
    call.text("done")


def speaks(call):
    for level in LEVELS:
        call.log(level, level)
    call.effect()
    call.text("said")


def holds(call):
    """Runs until it is released or cancelled."""
    call.effect()
    call.progress(1)
    call.hold()
    call.text("released")


def breaks(call):
    """The first n tries end before the answer: "end" ends the stream properly,
    "cut" cuts it, "head" cuts the connection before the status line."""
    key = call.args.get("key")
    with call.server.lock:
        n = call.server.cuts[key] = call.server.cuts.get(key, 0) + 1
    call.effect()
    if n > call.args.get("n", 1):
        call.text({"try": n})
        return
    how = call.args.get("how", "cut")
    call.over = True
    if how == "head":
        call.tx.cut()
        return
    call.stream()
    call.progress(1)
    if how == "cut":
        call.tx.cut()


def raw(call):
    """Answers with the result or the error in its arguments."""
    call.effect()
    m = {"jsonrpc": "2.0", "id": call.id}
    for key in ("result", "error"):
        if key in call.args:
            m[key] = call.args[key]
    call.finish(m, call.args.get("status", 200))


def structured(value):
    def tool(call):
        call.effect()
        call.result({"content": [], "structuredContent": value})
    return tool


def prop(kind, header):
    return {"type": kind, "x-mcp-header": header}


def obj(**properties):
    return {"type": "object", "properties": properties}


ANY = {"type": "object"}
READS = {"readOnlyHint": True}

TOOLS = {
    "echo": ({"inputSchema": ANY}, echo),
    "reads": ({"inputSchema": ANY, "annotations": READS}, echo),
    "form": ({"inputSchema": ANY},
             asks(ok=("elicitation/create", FORM))),
    "form_reads": ({"inputSchema": ANY, "annotations": READS},
                   asks(ok=("elicitation/create", FORM))),
    "url": ({"inputSchema": ANY}, url_first),
    "url_error": ({"inputSchema": ANY}, url_error),
    "sample": ({"inputSchema": ANY},
               asks(s=("sampling/createMessage", SAMPLING))),
    "roots": ({"inputSchema": ANY}, asks(r=("roots/list", None))),
    "many": ({"inputSchema": ANY}, asks(
        f=("elicitation/create", FORM), r=("roots/list", None),
        s=("sampling/createMessage", SAMPLING))),
    "odd": ({"inputSchema": ANY}, asks(x=("x/question", {"a": 1}))),
    "twice": ({"inputSchema": ANY}, twice),
    "forever": ({"inputSchema": ANY}, forever),
    "later": ({"inputSchema": ANY}, later),
    "steps": ({"inputSchema": ANY}, steps),
    "speaks": ({"inputSchema": ANY}, speaks),
    "holds": ({"inputSchema": ANY}, holds),
    "breaks": ({"inputSchema": ANY}, breaks),
    "breaks_reads": ({"inputSchema": ANY, "annotations": READS}, breaks),
    "raw": ({"inputSchema": ANY}, raw),
    "object": ({"inputSchema": ANY, "execution": {"taskSupport": "optional"},
                "outputSchema": obj(a={"type": "integer"})},
               structured({"a": 1})),
    "array": ({"inputSchema": ANY, "outputSchema": {
        "type": "array", "items": {"$ref": "#/$defs/n"},
        "$defs": {"n": {"type": "integer"}}}}, structured([1, 2, 3])),
    "number": ({"inputSchema": ANY}, structured(42)),
    "mirrors": ({"inputSchema": obj(
        region=prop("string", "Region"), n=prop("integer", "N"),
        flag=prop("boolean", "Flag"), plain={"type": "string"},
        deep=obj(tenant=prop("string", "Tenant-Id")))}, echo),
    "\u00e9cho name": ({"inputSchema": ANY}, echo),
}

# tools with an invalid x-mcp-header: a name that says why, and the schema
BAD_TOOLS = {
    "bad_number": obj(x=prop("number", "X")),
    "bad_empty": obj(x=prop("string", "")),
    "bad_space": obj(x=prop("string", "a b")),
    "bad_twice": obj(x=prop("string", "Same"), y=prop("string", "sAME")),
    "bad_items": obj(x={"type": "array", "items": prop("string", "X")}),
    "bad_object": obj(x=prop("object", "X")),
    "bad_anyof": {"type": "object", "anyOf": [obj(x=prop("string", "X"))]},
}


# clients

ALL = {"roots": {"listChanged": True}, "sampling": {},
       "elicitation": {"form": {}, "url": {}}}
YES = {"action": "accept", "content": {"sure": True}}
SAMPLED = {"role": "assistant", "model": "m",
           "content": {"type": "text", "text": "because"}}
ROOTS = {"roots": [{"uri": "file:///r", "name": "r"}]}
ANSWERS = {"elicitation/create": YES, "sampling/createMessage": SAMPLED,
           "roots/list": ROOTS}


class Client(support.Splice):
    """A client on stdio that answers a question when the test says so."""

    def question(self, method, nth=0, seconds=support.LIVE):
        """Waits for the server's nth request with this method, from 0."""
        end = time.monotonic() + seconds
        with self.cond:
            while True:
                found = [m for m in self.messages if m and
                         m.get("method") == method and "id" in m]
                left = end - time.monotonic()
                if len(found) > nth or left <= 0 or self.eof:
                    break
                self.cond.wait(left)
        if len(found) <= nth:
            self.case.fail("no %s (%d) in %.1f s; stdout %r; stderr %s" % (
                method, nth, seconds, self.raw_lines()[-5:],
                self.err()[-2000:]))
        return found[nth]

    def reply(self, question, result=None, error=None):
        m = {"jsonrpc": "2.0", "id": question["id"]}
        if error is None:
            m["result"] = ANSWERS[question["method"]] if result is None \
                else result
        else:
            m["error"] = error
        self.send(m)

    def notes(self, method):
        """The params of all notifications with this method."""
        with self.cond:
            return [m.get("params") for m in self.messages
                    if m and m.get("method") == method]

    def note(self, method, n=1, seconds=support.LIVE):
        """The params of the nth notification with this method, from 1."""
        end = time.monotonic() + seconds
        while True:
            found = self.notes(method)
            if len(found) >= n:
                return found[n - 1]
            if time.monotonic() > end:
                self.case.fail("%d of %d %s in %.1f s; stdout %r; "
                               "stderr %s" % (len(found), n, method, seconds,
                                              self.raw_lines()[-5:],
                                              self.err()[-2000:]))
            time.sleep(0.01)

    def said(self, answer):
        """The parsed text of a tool result of Era."""
        if "result" not in answer:
            self.case.fail("no result: %r; stderr %s" % (
                answer, self.err()[-2000:]))
        return json.loads(answer["result"]["content"][0]["text"])


class Modern(Client):
    """A client that speaks 2026-07-28."""

    def __init__(self, *args, **kw):
        self.caps = {}
        self.listens = []
        super().__init__(*args, **kw)

    def stamped(self, params=None, caps=None, **meta):
        """params with the _meta that each request needs."""
        params = dict(params or {})
        full = {META + "protocolVersion": MODERN,
                META + "clientInfo": {"name": "e2e", "version": "1"},
                META + "clientCapabilities":
                self.caps if caps is None else caps}
        full.update(params.get("_meta") or {})
        full.update(meta)
        params["_meta"] = full
        return params

    def start(self, method, params=None, caps=None, **meta):
        return super().start(method, self.stamped(params, caps, **meta))

    def tell(self, name, caps=None, more=None, **args):
        """Starts a tools/call; more: further params."""
        params = {"name": name, "arguments": args}
        params.update(more or {})
        return self.start("tools/call", params, caps)

    def check(self):
        """Checks that the client got no request, as it cannot answer one.  A
        listen that was open at the end may have got its proper result."""
        for ident in self.listens:
            ends = [m for m in self.messages if m and "method" not in m and
                    m.get("id") == ident]
            if not ends:
                self.silent.add(self.key(ident))
                continue
            self.case.assertEqual(ends[0].get("result"), {
                "resultType": "complete", "_meta": {SUBSCRIPTION: ident}})
        super().check()
        self.case.assertEqual([m for m in self.messages
                               if m and "method" in m and "id" in m], [])

    def listen(self, **wanted):
        """Starts a subscriptions/listen."""
        ident = self.start("subscriptions/listen", {"notifications": wanted})
        self.listens.append(ident)
        return ident

    def cancel(self, ident):
        if ident in self.listens:
            self.listens.remove(ident)
        super().cancel(ident)

    def cancelled_by_server(self, ident):
        """The server cancelled this listen, so it gets no answer."""
        self.listens.remove(ident)
        self.silent.add(self.key(ident))


class Case(support.Case):
    """A test that fails if a server has noted faults."""

    def tearDown(self):
        super().tearDown()
        for s in self.servers:
            self.assertEqual(getattr(s, "faults", []), [])

    def era(self, shape, **kw):
        s = Era(shape, **kw)
        self.servers.append(s)
        return s

    def client(self, kind, server, *args, **kw):
        p = kind(self, [server.url] + list(args), None, **kw)
        self.running.append(p)
        return p

    def legacy(self, server, *args, caps=None, version="2025-11-25", **kw):
        """A legacy client that has done the handshake."""
        p = self.client(Client, server, *args, **kw)
        p.send(support.init("hello", version, ALL if caps is None else caps))
        p.hello_answer = p.answer("hello")
        if "result" not in p.hello_answer:
            self.fail("initialize: %r; stderr %s" % (p.hello_answer,
                                                     p.err()[-2000:]))
        p.send(support.INITIALIZED)
        return p

    def modern(self, server, *args, caps=None, **kw):
        """A modern client that has sent nothing yet."""
        p = self.client(Modern, server, *args, **kw)
        p.caps = ALL if caps is None else caps
        return p
