"""Every row of data/session-loss.tsv, what real servers answer, and of
data/near-misses.tsv, what looks similar, over real sockets.  Where the session
is lost, a witness gets the row as the calls do, and they are recovered
unnoticed; where it lives, the same row is delivered, nothing runs twice and
the session stays.

A row may hold several answers (media types, texts, verbs): each is a Shot,
named by its row, in every failure.  Rows that end alike share a process, until
one fails; then the next one begins with a new process.
"""

import csv
import json
import os
import re
import sys
import threading
import time

import support
from support import call, note, request

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                    "data")
FILES = ("session-loss.tsv", "near-misses.tsv")
JITTER = 5.0            # a renewal that no call asked for may take so long

GONE = {"jsonrpc": "2.0", "id": None,
        "error": {"code": -32001, "message": "Session not found"}}
PAGE = "<html><head><title>404</title></head><body><h1>Not Found</h1>" \
    "</body></html>\n"
TRACE = json.dumps([{"declaringClass": "org.example.Frame%d" % n,
                     "methodName": "invoke", "lineNumber": n}
                    for n in range(800)])

# What stands in brackets instead of a body.
BODIES = {
    "R051": [("stream", ": bye\n\n"), ("json", "")],
    "R074": [("html", PAGE), ("html", "")],
    "R149": [("html", PAGE), ("none", "")],
    "R111": [("listen", "")],
    "R148": [("normal", "")],
    "R050": [("json", json.dumps(
        {"jsonrpc": "2.0", "id": "<request id>", "error": {
            "code": 0, "message": '"notifications/initialized" before '
            '"initialize"'}}).replace('"<request id>"', "<request id>"))],
    "R181": [("events", 'event: message\ndata: {"error":"Session not '
              'found"}\n\n')],
    "R200": [("json", '{"jsonrpc":"2.0","id":<request id>,"error":{"code":'
              '32600,"message":"Session terminated"}}')],
    "R208": [("json", '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,'
              '"message":"Bad Request: Mcp-Session-Id header is '
              'required"}}')],
    "R230": [("json", '{"error":"a session is active"}')],
    "R237": [("stream", "")],
    "N179": [("stream", "")],
}
# Headers of a row that say something of its session or its connection.
SAME = ("Mcp-Session-Id", "<id>")
OTHER = ("Mcp-Session-Id", "9d4e0c1f7a2b4b6f8e5d3c2a1b0f9e8d")
CLOSE = ("Connection", "close")
HEADERS = {"R033": SAME, "R035": OTHER, "R036": SAME, "R048": OTHER,
           "R231": SAME,
           "R232": OTHER, "R233": SAME, "R236": SAME, "R237": SAME,
           "R251": CLOSE, "R254": CLOSE}
# Variants of a row that are not about the session, by a part of their text,
# and rows whose verdict is that of their 200 alone.
OTHERWISE = (("R042", "Not Found"), ("R140", "unavailable"))
JUDGED_AS_200 = ("R204", "R205", "R226")
WORDS = ("lost", "words", "gate")
# One is enough, without a witness: the server speaks another revision of the
# protocol now.
NO_DOUBT = ("R007",)
NOT_TOLD = {"R188": [200], "R204": [200, 404], "R226": [400]}


def words(row):
    """The texts of a row's body column."""
    body = row["exact body"]
    if body == "(unspecified)":
        return [""]
    if row["id"] == "R042":
        first, second = body.split("  /  ")
        return [first, '{"jsonrpc":"2.0","id":<request id>,"error":%s}' %
                second]
    if row["id"] == "R121":
        first = body.split("  (also")[0]
        return [first] + [
            first.replace("-32601", code).replace(
                "Method not found: foo/bar", text)
            for code, text in (("-32003", "Tool not found: echo"),
                               ("-32002", "Resource not found"),
                               ("-32004", "Prompt not found"))]
    if row["id"] in ("R133", "R140"):
        return body.split(" / ")
    if row["id"] == "R137":
        first = body.split("  (id echoed")[0]
        return [first, first.replace('}}', '},"id":<request id>}')]
    return [body]


def kinds(row):
    """The media types of a row, as short words."""
    column = row["content-type"]
    if column == "(in-band error)" or column == "(in-band)":
        return ["json"]
    out = []
    for part in column.split(" or "):
        part = part.strip()
        if part == "application/json":
            out.append("json")
        elif part == "text/event-stream":
            out.append("sse")
        elif "/" in part and not part.startswith("("):
            out.append(part)
        elif "page" in part:
            out.append("html")
        elif part == "any":
            out.append("text/plain")
        else:
            out.append("none")
    return out


def statuses(row):
    column = row["HTTP status"]
    if column == "(not given)":
        return NOT_TOLD[row["id"]]
    if " / " in column:
        # requests and notifications, or unknown and missing
        return [int(s) for s in column.split(" / ")]
    return [int(s) for s in column.replace(" or ", " ").split()]


def verbs(row):
    column = row["HTTP method"]
    if column == "any":
        return ["POST", "GET", "DELETE"]
    for word, verb in (("(initialize)", "INIT"), ("(response)", "RESPONSE"),
                       ("(notification)", "NOTE")):
        if word in column:
            return [verb]
    if row["HTTP status"] == "202" and column == "POST":
        return ["NOTE"]
    return [v.strip() for v in column.split("(")[0].split("/")]


class Shot:
    """One answer of one row to one verb; calling it sends it."""

    def __init__(self, row, verb, status, kind, text):
        self.row = row
        self.id = row["id"]
        self.verb = verb
        self.status = status
        self.kind = kind
        self.text = text
        self.headers = [HEADERS[self.id]] if self.id in HEADERS else []
        if text.startswith("WWW-Authenticate: "):
            self.headers = [tuple(text.replace("…", "x").split(": ", 1))]
            self.text = ""
        elif kind.startswith("text/plain") or kind == "none":
            self.text = text.replace("\\n", "\n")
        self.times = 0
        self.name = self.id     # numbered below: R042.2

    def __str__(self):
        return "%s %s %d %s" % (self.name, self.verb, self.status, self.kind)

    @property
    def loss(self):
        return self.row["is_session_loss"]

    @property
    def decision(self):
        """One of VERDICTS, on a session that is not new."""
        if any(i == self.id and part in self.text for i, part in OTHERWISE):
            return "answer"
        if self.id in JUDGED_AS_200 and self.status != 200:
            return "words"
        return self.row["verdict"].split("/")[0]

    @property
    def doubt(self):
        """Does a witness tell?"""
        return self.decision in ("words", "gate", "suspect") and \
            self.id not in NO_DOUBT

    @property
    def gated(self):
        """Is a list the first witness, since the door may let pings pass?"""
        return self.decision == "gate" or self.status == 200

    @property
    def likely(self):
        """Is it so likely to be a loss that a second session is opened beside
        the witness, and more witnesses asked?"""
        return self.doubt and (self.decision != "suspect" or
                               self.status in (200, 404, 410))

    def fill(self, rx):
        text = self.text
        ident = (rx.json or {}).get("id") if rx.body else None
        text = re.sub("<fill:([0-9]+)>", lambda m: "x" * int(m[1]), text)
        text = text.replace("[…]", TRACE)
        text = text.replace("{…,", '{"cause":null,"stackTrace":%s,' % TRACE)
        for mark, value in (("<request id>", json.dumps(ident)),
                            ("<random err id>", '"err_7Hq"'),
                            ("<code>", "-32000"), ("<N>", "100"),
                            ("<method>", rx.rpc or ""),
                            ("<BOM>", "\ufeff"), ("<CR>", "\r"),
                            ("<NUL>", "\0"),
                            ("<id>", rx.sid or "none"),
                            ("<timeout text>", "The request timed out.")):
            text = text.replace(mark, value)
        return text

    def __call__(self, rx, tx):
        self.times += 1
        text = self.fill(rx)
        headers = [(name, value.replace("<id>", rx.sid or "none"))
                   for name, value in self.headers]
        if self.kind == "sse":
            tx.sse(self.status, headers)
            tx.event(text)
        elif self.kind in ("events", "stream"):
            tx.sse(self.status, headers)
            tx.chunk(text)
        elif self.kind == "normal":
            tx.server.tool(rx, tx)
        elif self.kind == "listen":
            tx.server.listen(rx, tx)
        else:
            ctype = {"json": "application/json", "none": None,
                     "html": "text/html; charset=utf-8"}.get(self.kind,
                                                             self.kind)
            tx.body(self.status, text, ctype, headers)


def ours(error):
    """Is it an error of mcpsplice's own?"""
    data = error.get("data")
    return isinstance(data, dict) and data.get("source") == "mcpsplice"


def failed(shot, sent, answer, name):
    """A 500 that nobody's id belongs to is worth a ping, and any to what is
    safe that is no message."""
    if shot.status != 500:
        return False
    try:
        m = json.loads(sent)
    except ValueError:
        m = None
    if isinstance(m, dict) and "jsonrpc" in m:
        return m.get("id") != answer["id"]
    return name == "safe"


VERDICTS = ("answer", "lost", "lost_maybe", "words", "gate", "suspect",
            "retry", "fail", "initialize")
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}},
         {"name": "safe", "inputSchema": {"type": "object"},
          "annotations": {"readOnlyHint": True}}]
NAMES = [t["name"] for t in TOOLS]


def load():
    rows = []
    for name in FILES:
        path = os.path.join(DATA, name)
        try:
            with open(path, encoding="utf-8", newline="") as f:
                rows += csv.DictReader(f, delimiter="\t",
                                       quoting=csv.QUOTE_NONE)
        except FileNotFoundError:
            sys.stderr.write("no %s\n" % path)
            sys.exit(77)
    shots = []
    for row in rows:
        for verb in verbs(row):
            for status in statuses(row):
                made = BODIES.get(row["id"]) or [
                    (kind, text) for kind in kinds(row)
                    for text in words(row)]
                shots += [Shot(row, verb, status, kind, text)
                          for kind, text in made]
    for n, shot in enumerate(shots):
        twins = [s for s in shots[:n] if s.id == shot.id]
        shot.name += ".%d" % (len(twins) + 1) if twins else ""
    return rows, shots


ROWS, SHOTS = load()


def groups(shots, n):
    """n lists of about the same length; those that depend on how young the
    session is come alone."""
    young = [s for s in shots if "unready" in s.row["verdict"]]
    rest = [s for s in shots if s not in young]
    return [g for g in [rest[i::n] for i in range(n)] if g] + \
        [[s] for s in young]


class Table(support.Case):
    """One way for each kind of row."""

    def pick(self, verb, test):
        found = [s for s in SHOTS if s.verb == verb and test(s)]
        self.assertTrue(found, "no rows")
        return found

    def group(self, shots, fn, *args):
        """fn(server, splice, shot) for one after the other, in one process
        as long as all goes well."""
        s = p = None
        bad = []
        for shot in shots:
            if p is None:
                s, p = self.pair(*args)
            try:
                fn(s, p, shot)
                self.assertEqual(s.errors, [])
            except AssertionError as e:
                bad.append("%s: %s; stderr %s" % (shot, str(e)[:500],
                                                  p.err()[-300:]))
                s.errors.clear()
                p.kill()
                p = None
        if p is not None:
            said = len(p.messages)
            try:
                p.finish()
                self.assertEqual(len(p.messages), said)
                self.headers(s)
            except AssertionError as e:
                bad.append("%s to %s: %s" % (shots[0], shots[-1],
                                             str(e)[:600]))
        return bad

    def headers(self, s):
        """An initialize carries nothing of a session before it."""
        for r in s.seen("initialize"):
            self.assertIsNone(r.sid, "initialize with a session id")
            self.assertIsNone(r.get("MCP-Protocol-Version"))
        self.assertEqual(s.early, [])

    def all(self, shots, fn, *args, ways=8):
        """Groups side by side."""
        bad = []
        lock = threading.Lock()

        def one(shots):
            found = self.group(shots, fn, *args)
            with lock:
                bad.extend(found)
        self.each([Group(g) for g in groups(shots, ways)], one, ways)
        if bad:
            self.fail("%d of %d failed\n%s" % (len(bad), len(shots),
                                              "\n".join(sorted(bad))))

    # one row each

    def same(self, got, want):
        """Equal, or both in one line."""
        if got != want:
            self.fail("%.400s instead of %.200s" % (json.dumps(got),
                                                   json.dumps(want)))

    def call(self, s, p, key):
        """A call that works, run once, with nothing else on stdout."""
        seen = len(p.messages)
        m = p.tool(key=key)
        self.good(m, s, key)
        self.assertEqual(p.messages[seen:], [m])

    def good(self, m, s, key, runs=1):
        self.same(m.get("result", m), {"content": [
            {"type": "text", "text": json.dumps({"key": key})}]})
        self.assertEqual(s.runs(key), runs, "runs")

    def tools(self, s, p):
        """Lets the tool that only reads be known in this session."""
        s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
        p.ask("tools/list")

    def recovered(self, s, p, shot, again=""):
        """The session is dead, and the answer to all that is asked in it is
        the row's."""
        self.tools(s, p)
        keys = ["%s %s%s" % (shot.name, name, again) for name in NAMES]
        inits, seen = s.inits(), len(p.messages)
        witnesses = len(s.witnesses)
        s.refuse = shot
        s.forget()
        began = time.monotonic()
        p.send(*[call(key, name, key=key) for name, key in zip(NAMES, keys)])
        answers = [p.answer(key, 12) for key in keys]
        # More witnesses are asked where the first is silent for a second.
        if any(self.came_late(m, began) for m in answers) or any(
                r.time - began > 1 for r in s.witnesses[witnesses + 1:]):
            self.call(s, p, keys[0] + " between")
            return self.recovered(s, p, shot, again + "'")
        for m, key in zip(answers, keys):
            self.good(m, s, key)
            tries = [r for r in s.seen("tools/call")
                     if r.json["params"]["arguments"]["key"] == key]
            self.assertEqual([r.sid for r in tries], s.made[-2:])
            self.assertEqual(len({r.body for r in tries}), 1, "bytes")
        self.assertEqual(len(p.messages), seen + 2)
        self.assertEqual(s.inits(), inits + 1, "initialize")
        # refused as the calls were, and answered in the new session
        kind = "tools/list" if shot.gated else "ping"
        self.assertEqual([(r.rpc, r.sid) for r in s.witnesses[witnesses:]],
                         [(kind, sid) for sid in s.made[-2:] if shot.doubt])

    def delivered(self, s, p, shot):
        """The session lives; one call is answered with the row."""
        self.tools(s, p)
        for name in NAMES:
            self.stands(s, p, shot, name)

    def stands(self, s, p, shot, name):
        """Nothing is run twice but what only reads, if the answer is cut off
        or the server is busy."""
        key = "%s %s" % (shot.name, name)
        inits, seen = s.inits(), len(p.messages)
        witnesses = len(s.witnesses)
        sent = []

        def once(rx, tx):
            s.methods["tools/call"] = s.tool
            sent.append(shot.fill(rx))
            shot(rx, tx)
        s.methods["tools/call"] = once
        m = p.tool(name, seconds=12, key=key)
        silent = shot.text == "" and shot.status == 200 and \
            shot.kind in ("stream", "json")
        if name == "safe" and (shot.kind == "stream" or silent or
                               shot.status in (429, 502, 503, 504)):
            self.good(m, s, key, 2)
        else:
            self.is_answer(shot, m, sent[0])
            self.assertEqual(s.runs(key), 1, "sent")
        self.assertEqual(p.messages[seen:], [m])
        if silent:
            # an answer without a byte costs a ping
            self.assertEqual(s.witnesses[witnesses].rpc, "ping")
            witnesses += 1
        # what is likely to be a loss costs both kinds, and two pings more
        self.assertEqual(
            sorted(r.rpc for r in s.witnesses[witnesses:]),
            ["ping"] * 3 + ["tools/list"] if shot.likely else
            ["ping"] if shot.doubt or failed(shot, sent[0], m, name) else [])
        self.call(s, p, "after " + key)
        # A session that was opened in doubt is deleted, and no other one is
        # opened for a while.
        inits = 2 if shot.likely else inits
        self.assertTrue(s.wait(lambda: len(s.deleted) == inits - 1, 5),
                        "deleted")
        self.assertEqual(s.inits(), inits, "initialize")
        self.deleted(s, s.made[1:])
        self.assertEqual(s.executed[-1].sid, s.made[0])

    def is_answer(self, shot, m, sent):
        """The server's own answer, or our error that names the status."""
        if shot.kind == "normal":
            self.assertIn("result", m)
            return
        try:
            theirs = json.loads(sent)
        except ValueError:
            theirs = None
        if isinstance(theirs, dict) and "result" in theirs:
            self.same(m.get("result", m), theirs["result"])
            return
        self.assertIn("error", m)
        error = theirs.get("error") if isinstance(theirs, dict) else None
        if isinstance(error, dict) and "code" in error and \
                not ours(m["error"]):
            self.same(m["error"], error)
            return
        e = self.our_error(m)
        self.assertEqual(e["data"].get("httpStatus"), shot.status, e)
        self.assertIn("127.0.0.1", e["message"])
        self.assertIn("reason", e["data"])
        if isinstance(error, dict) and "code" in error:
            self.assertEqual(e["data"].get("server"), error, e)

    def may_have_run(self, s, p, shot):
        """Lost while it ran: a new session, and an error that says so, but for
        what only reads."""
        self.tools(s, p)
        for name in NAMES:
            self.died(s, p, shot, name)

    def died(self, s, p, shot, name):
        key = "%s %s" % (shot.name, name)
        inits, seen = s.inits(), len(p.messages)

        def dies(rx, tx):
            s.methods["tools/call"] = s.tool
            s.forget()
            shot(rx, tx)
        s.methods["tools/call"] = dies
        m = p.tool(name, key=key)
        if name == "safe":
            self.good(m, s, key, 2)
        else:
            self.assertIn("error", m)
            if ours(m["error"]):
                e = self.our_error(m, "session_lost", "maybe")
                self.assertIn("127.0.0.1", e["message"])
            self.assertEqual(s.runs(key), 1, "runs")
        self.assertEqual(p.messages[seen:], [m])
        self.call(s, p, "after " + key)
        self.assertEqual(s.inits(), inits + 1, "initialize")
        self.tools(s, p)

    # POST

    def test_post_lost(self):
        """Each row of a lost session but R036 and N154, by whose words the
        call ran, and each one that a witness tells from one."""
        self.all(self.pick("POST", lambda s: s.doubt or s.id in NO_DOUBT or
                           s.loss == "yes" and s.decision != "lost_maybe"),
                 self.recovered)

    def test_post_lost_maybe(self):
        self.all(self.pick("POST", lambda s: s.decision == "lost_maybe"),
                 self.may_have_run)

    def test_post_delivered(self):
        """Each row but these, and the one that needs no witness: the words
        alone mean nothing."""
        self.all(self.pick("POST", lambda s: s.decision != "lost_maybe" and
                           s.id not in NO_DOUBT), self.delivered)

    # GET

    def listening(self):
        """A splice with a listen stream that works."""
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        return s, p, s.stream()

    def drop(self, s, tx):
        """Ends the listen stream; the next GET comes at once."""
        tx.event(retry=10)
        tx.cut()

    def still_listening(self, shot):
        """The stream is refused, the session lives."""
        s, p, tx = self.listening()
        shot.times = 0

        def once(rx, tx):
            s.on_get = s.listen
            shot(rx, tx)
        s.on_get = once
        self.drop(s, tx)
        self.assertTrue(s.wait(lambda: shot.times, 10), "no GET")
        self.settle(JITTER + 0.5)
        self.assertEqual(s.inits(), 1, "initialize")
        self.call(s, p, shot.name)
        p.finish()
        self.assertEqual(s.inits(), 1, "initialize")
        self.deleted(s, s.made)

    def stream_lost(self, shot):
        """The session is dead, the GET finds out."""
        s, p, tx = self.listening()
        shot.times = 0
        post = any(o.id == shot.id and o.verb == "POST" for o in SHOTS)
        # elsewhere it is enough that the next call finds out
        renewed = shot.status == 404 or shot.decision in WORDS

        def refuse(rx, tx):
            if rx.method == "GET" or post:
                shot(rx, tx)
            else:
                tx.json(dict(GONE), 404)
        s.refuse = refuse
        s.forget()
        self.drop(s, tx)
        self.assertTrue(s.wait(lambda: shot.times, 10), "no GET")
        if renewed:
            self.assertTrue(s.wait(lambda: s.inits() == 2, JITTER + 2),
                            "not renewed")
            new = s.stream(10)
            self.assertEqual(new.request.sid, s.made[1])
            self.assertIsNone(new.request.get("Last-Event-ID"))
        self.call(s, p, shot.name)
        p.finish()
        self.assertEqual(s.inits(), 2, "initialize")
        self.deleted(s, s.made[1:])
        self.headers(s)

    def test_get_delivered(self):
        self.each(self.pick("GET", lambda s: s.loss != "yes" and
                            s.decision not in WORDS),
                  self.still_listening, 64)

    def test_get_lost(self):
        self.each(self.pick("GET", lambda s: s.loss == "yes" or s.doubt),
                  self.stream_lost, 64)

    # DELETE

    def leaves(self, shot):
        """The end of the session is refused: who cares."""
        s, p = self.pair()
        shot.times = 0
        self.call(s, p, shot.name)

        def delete(rx, tx):
            if rx.method != "DELETE":
                return False
            shot(rx, tx)
            return True
        s.before = delete
        seen = len(p.messages)
        begin = time.monotonic()
        p.finish()
        self.within(time.monotonic() - begin, 3)
        # another replica may know the session
        times = 3 if shot.status in (400, 404) else 1
        if shot.times < times and p.ending > 0.75:
            raise support.Late("a second of DELETEs was over")
        self.assertEqual(shot.times, times, "DELETE")
        self.assertEqual(s.inits(), 1, "initialize")
        self.assertEqual(len(p.messages), seen)

    def test_delete(self):
        self.each(self.pick("DELETE", lambda s: True), self.leaves)

    # initialize

    def refused_anew(self, shot):
        """Our own initialize gets it: one error, no loop; when the server
        relents, so do we."""
        s, p = self.pair("--retry-window", "2")
        s.refuse = lambda rx, tx: tx.json(dict(GONE), 404)
        s.forget()
        s.init = [shot] * 60
        seen = len(p.messages)
        m = p.tool(key=shot.name, seconds=10)
        e = self.our_error(m, ran="no")
        self.assertIn(e["data"]["reason"], ("reinit_failed", "session_lost"))
        self.assertIn("127.0.0.1", e["message"])
        self.assertEqual(e["data"].get("server"), GONE["error"])
        self.assertEqual(p.messages[seen:], [m])
        # one of them is sent beside the witness
        self.assertLess(s.inits(), 8, "initialize")
        self.assertEqual(s.runs(shot.name), 0, "runs")
        s.init = []
        self.assertIn("result", p.tool(key="after", seconds=10))
        self.assertEqual(s.runs("after"), 1, "runs")
        p.finish()
        self.headers(s)

    def test_initialize(self):
        self.each(self.pick("INIT", lambda s: True), self.refused_anew, 16)

    # notifications and answers

    def notified(self, shot):
        """What a notification gets does not end a session that lives."""
        s, p = self.pair()
        shot.times = 0

        def on_note(rx, tx):
            shot(rx, tx)
        s.on_note = on_note
        p.send(note("notifications/roots/list_changed"))
        self.assertTrue(s.wait(lambda: shot.times, 5))
        self.settle(0.5)
        self.call(s, p, shot.name)
        p.finish()
        self.assertEqual(s.inits(), 1, "initialize")

    def test_notification(self):
        self.each(self.pick("NOTE", lambda s: True), self.notified)

    def asked(self, shot):
        """The client's answer to a question gets it, the session lives: the
        call that asked has its result."""
        s, p = self.pair()
        heard = threading.Event()
        last = []

        def asks(rx, tx):
            tx.sse()
            tx.event(request("q", "sampling/createMessage", {}))
            heard.wait(support.LIVE)
            # it is tried on other connections, 0.2 s apart at most; a loss
            # ends the call
            until = support.LIVE if shot.decision in WORDS else 0.4
            while time.monotonic() - last[-1] < until and not tx.gone():
                time.sleep(0.05)
            if not tx.gone():
                tx.answer({"done": True})
        s.methods["tools/call"] = asks

        def before(rx, tx):
            if rx.method != "POST" or rx.rpc is not None:
                return False
            last.append(time.monotonic())
            shot(rx, tx)
            heard.set()
            return True
        s.before = before
        a = p.start("tools/call", {"name": "asks"})
        p.server_message("sampling/createMessage")
        p.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        m = p.answer(a)
        if shot.decision in WORDS:
            self.our_error(m, ran="maybe")
        else:
            self.same(m.get("result", m), {"done": True})
        s.methods["tools/call"] = s.tool
        self.call(s, p, shot.name)
        p.finish()
        self.assertEqual(s.inits(), 2 if shot.decision in WORDS else 1)

    def test_answer_to_a_question(self):
        self.each(self.pick("RESPONSE", lambda s: True), self.asked)

    # the table itself

    def test_rows(self):
        """Each row is driven, and each has one of the known verdicts."""
        driven = {s.id for s in SHOTS}
        self.assertEqual([r["id"] for r in ROWS if r["id"] not in driven], [])
        self.assertGreater(len(ROWS), 150)
        self.assertEqual([str(s) for s in SHOTS
                          if s.decision not in VERDICTS], [])


class Group(list):
    """Shots that share a process."""

    def __str__(self):
        return "%s to %s" % (self[0], self[-1])


if __name__ == "__main__":
    support.main()
