"""What each server is taken through, with mcpsplice in between.  The first line
of a case's description is its row in doc/world.

A case waits for what it needs, and for nothing else.  A server that has not
got what a case is about skips it.
"""

import json
import os
import socket
import subprocess
import threading
import time

import front
import eraserver
import pace
import ports
import raw
import support

import authserver                                       # noqa: E402

URI = "world://text"
QUESTIONS = ("sample", "form", "url", "roots")
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def open_connections(port):
    """Those of clients here with this port."""
    end = ":%04X" % port
    with open("/proc/net/tcp") as f:
        rows = [line.split() for line in f]
    return sum(r[2].endswith(end) and r[3] == "01" for r in rows)


def started_with(word):
    """Is there a process with this argument?"""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as f:
                if word.encode() in f.read().split(b"\0"):
                    return True
        except OSError:
            pass                        # it has ended
    return False


class Served:
    """A server of the SDK, or some, and what stands in front of them."""

    def __init__(self, case, mode, count, by):
        self.case = case
        self.mode = mode
        self.folder = case.path("served-%d" % case.count())
        os.mkdir(self.folder)
        self.ports = [ports.free_port() for _ in range(count)]
        self.front = front.Front(self.ports, by)
        self.url = self.front.url
        self.processes = []

    def start(self):
        """Returns when they listen."""
        self.processes = [
            self.case.sdk.spawn(port, self.front.port, self.folder, self.mode)
            for port in self.ports]
        for port in self.ports:
            self.listens(port)
        self.front.up()
        return self.ports[0]

    def listens(self, port):
        limit = pace.Limit(60)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                return
            except OSError:
                if limit.left() <= 0:
                    self.case.fail("%s does not listen: %s" % (
                        self.case.sdk.name, self.log()))
                time.sleep(0.02)

    def kill(self):
        """kill -9, and nobody listens."""
        for process in self.processes:
            process.kill()
        self.processes = []
        self.front.down()

    def restart(self):
        self.kill()
        self.start()

    def log(self):
        try:
            with open(os.path.join(self.folder, "server.log")) as f:
                return f.read()[-1500:]
        except OSError:
            return ""

    def runs(self, key):
        """How often the tools with this key have run."""
        try:
            with open(os.path.join(self.folder, "runs")) as f:
                return sum(line.split()[1] == key for line in f)
        except FileNotFoundError:
            return 0

    def let_go(self, key):
        """The slow tool with this key goes on."""
        with open(os.path.join(self.folder, "go-" + key), "w"):
            pass

    def waits_for(self, key, n=1):
        """Until it runs for the nth time."""
        self.front.wait(lambda: self.runs(key) >= n, "run %d of %s" % (n, key))

    def opened(self):
        """How often initialize was answered well."""
        return len([r for r in self.front.of("initialize")
                    if r.status == 200])

    def listening(self, since=0):
        """Until a listen stream is open."""
        silent = self.case.sdk.silent_stream
        self.front.wait(lambda: any(
            r.verb == "GET" and (r.status == 200 or silent and
                                 r.status is None and r.hop in self.front.hops)
            for r in self.front.requests[since:]), "the listen stream")


class Host:
    """A client of the SDK that has started mcpsplice, and is told what to
    do: see client.py."""

    def __init__(self, case, served):
        words = case.sdk.client()
        if not words:
            case.skipTest("no client of it here")
        self.case = case
        self.lines = []
        self.cond = threading.Condition()
        self.next_id = 0
        self.err = open(case.path("host-%d" % case.count()), "w+b")
        self.proc = subprocess.Popen(
            words + [pace.PROGRAM, served.url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.err,
            env=case.environment({"PYTHONWARNINGS": "ignore"}))
        threading.Thread(target=self.read, daemon=True).start()
        hello = self.find(lambda m: "hello" in m)
        self.hello = hello["hello"]
        self.hears_progress = hello.get("progress", True)
        self.answers = hello.get("answers", QUESTIONS)
        self.reads_strings = hello.get("strings", True)

    def read(self):
        for line in self.proc.stdout:
            with self.cond:
                self.lines.append(json.loads(line))
                self.cond.notify_all()
        with self.cond:
            self.lines.append(None)
            self.cond.notify_all()

    def find(self, test):
        limit = pace.Limit(support.LIVE)
        with self.cond:
            while True:
                for m in self.lines:
                    if m and test(m):
                        return m
                left = limit.left()
                if left <= 0 or self.lines[-1:] == [None]:
                    self.err.seek(0)
                    self.case.fail("the host says nothing: %r; %s" % (
                        self.lines, self.err.read()[-1500:]))
                self.cond.wait(left)

    def start(self, tool=None, key=None):
        self.next_id += 1
        order = {"id": self.next_id}
        if tool:
            order.update(tool=tool, key=key)
        self.proc.stdin.write(json.dumps(order).encode() + b"\n")
        self.proc.stdin.flush()
        return self.next_id

    def answer(self, ident):
        return self.find(lambda m: m.get("id") == ident)

    def text(self, ident):
        answer = self.answer(ident)
        if "text" not in answer:
            self.case.fail("%r; %s" % (answer,
                                       self.case.served[0].front.tail()))
        return answer["text"]

    def end(self):
        self.proc.stdin.close()
        return self.proc.wait(support.LIVE * pace.measure())

    def kill(self):
        self.proc.kill()
        self.proc.wait()
        self.err.close()


class Scenario(eraserver.Case):
    sdk = None

    def setUp(self):
        super().setUp()
        self.served = []
        self.hosts = []

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            for host in self.hosts:
                host.kill()
            for s in self.served:
                s.kill()

    def serve(self, mode="", count=1, by="connection"):
        for part in mode.split(","):
            if part not in self.sdk.modes:
                self.skipTest("this release has no mode " + part)
        s = Served(self, mode, count, by)
        self.served.append(s)
        s.start()
        return s

    def need(self, tool):
        if tool not in self.sdk.tools:
            self.skipTest("this release cannot ask so (%s)" % tool)

    def key(self):
        return "k%d" % self.count()

    def host(self, served, *args, version="2025-11-25", **kw):
        """One that has read the list of tools, as all of them do first: by it
        mcpsplice knows which are safe."""
        kw.setdefault("caps", self.sdk.caps)
        p = self.legacy(served, *args, version=version, **kw)
        self.lists(p)
        return p

    def lists(self, p):
        """A list vouches for the safe calls of its session only."""
        answer = p.ask("tools/list")
        if "result" not in answer:
            self.fail("no list: %r; server %s" % (answer,
                                                  self.served[0].log()))
        return answer["result"]["tools"]

    def pair(self, mode="", **kw):
        s = self.serve(mode)
        return s, self.host(s, **kw)

    def text(self, answer):
        if "result" not in answer or answer["result"].get("isError"):
            self.fail("no result: %r; %s; stderr %s; server %s" % (
                answer, self.served[0].front.tail(),
                self.running[-1].err()[-1500:], self.served[0].log()))
        return answer["result"]["content"][0]["text"]

    def works(self, s, p, *tools):
        """Each gives its result and runs once."""
        for tool in tools or ("safe", "unsafe"):
            key = self.key()
            began = time.monotonic()
            answer = p.tool(tool, key=key)
            self.in_time(answer, began)
            self.assertIn(key, self.text(answer))
            self.assertEqual(s.runs(key), 1, tool)

    def not_late(self, answer, runs):
        """As in_time(), for a call that had to wait: it has not run, but the
        refusal came so late that it might have."""
        data = answer.get("error", {}).get("data", {})
        if runs == 0 and data.get("ran") == "maybe" and \
                data.get("reason") == "session_lost":
            raise support.Late(answer)

    def burst(self, s, p, n, opened=None):
        """So many unsafe calls at once: each has its result and runs once."""
        began = time.monotonic()
        calls = {}
        for _ in range(n):
            key = self.key()
            calls[key] = p.start("tools/call", {
                "name": "unsafe", "arguments": {"key": key}})
        for key, ident in calls.items():
            answer = p.answer(ident)
            self.in_time(answer, began)
            self.assertIn(key, self.text(answer))
        for key in calls:
            self.assertEqual(s.runs(key), 1, key)
        if opened is not None:
            self.sessions(s, opened)

    def sessions(self, s, n):
        """So many were opened; one more where a witness may have ended one."""
        self.assertIn(s.opened() - n, (0, 1) if self.sdk.ends_overtaken else
                      (0,), s.front.tail())

    def maybe(self, answer):
        """An error that says that the call may have run."""
        self.our_error(answer, ran="maybe")

    def slow(self, s, p, tool="slow"):
        """Starts one and waits until it runs: its key and id."""
        key = self.key()
        ident = p.start("tools/call", {
            "name": tool, "arguments": {"key": key},
            "_meta": {"progressToken": "t" + key}})
        s.waits_for(key)
        return key, ident

    def progress(self, p, key):
        return [n["progress"] for n in p.notes("notifications/progress")
                if n["progressToken"] == "t" + key]

    def result_or_maybe(self, answer):
        if "error" in answer:
            self.maybe(answer)
        else:
            self.text(answer)

    # a start

    def test_start(self):
        """start, lists, calls, errors of tools"""
        s, p = self.pair()
        tools = [t["name"] for t in self.lists(p)]
        self.assertEqual(set(tools), set(self.sdk.tools))
        self.assertIn("resources", p.ask("resources/list")["result"])
        self.assertIn("prompts", p.ask("prompts/list")["result"])
        read = p.ask("resources/read", {"uri": URI})["result"]
        self.assertEqual(read["contents"][0]["text"], "text")
        said = p.ask("prompts/get", {"name": "hello",
                                     "arguments": {"name": "n"}})["result"]
        self.assertEqual(said["messages"][0]["content"]["text"], "hello n")
        self.works(s, p)
        big = p.tool("big", key=self.key())
        self.assertEqual(len(self.text(big)), 1000000)
        for tool in ("boom", "expired"):
            if tool in tools:
                key = self.key()
                answer = p.tool(tool, key=key)
                self.assertTrue("error" in answer or
                                answer["result"]["isError"], answer)
                self.assertEqual(s.runs(key), 1, tool)
        nothing = p.tool("nothing", key="n")
        self.assertTrue("error" in nothing or nothing["result"]["isError"])
        self.works(s, p)
        # the SDK for Java before 1.0 may end a session when a tool throws
        ended = {r.sid for r in s.front.requests if r.status == 404}
        used = {r.sid for r in s.front.of("tools/call")} - ended
        self.assertEqual(len(used), 1, s.front.tail())

    def test_line_breaks(self):
        """line breaks of Unicode, in the text of a result"""
        s, p = self.pair()
        key = "a\u2028b\u2029c\u0085d"
        self.assertEqual(self.text(p.tool("safe", key=key)), "safe " + key)
        line = p.raw_lines()[-1]
        for c in "\u2028\u2029\u0085":
            self.assertNotIn(c.encode(), line)
        self.assertEqual(line, line.strip())

    def test_unknown_method(self):
        """a method that it does not know: -32601, or its own error"""
        s, p = self.pair()
        code = -32601
        own = raw.Other(s.ports[0]).post(support.request(
            7, "world/nothing", {}))
        if own.status == 200 and not own.body:
            self.skipTest("such a method ends this server for everybody")
        if own.status == 200:
            code = own.message()["error"]["code"]
        answer = p.ask("world/nothing", {})
        self.assertEqual(answer.get("error", {}).get("code"), code, answer)
        self.works(s, p)

    # questions

    def asked(self, tool, method, at_once=True):
        """at_once: the first call after a restart asks.  A question that comes
        on the listen stream may be lost before that is open."""
        self.need(tool)
        s, p = self.pair()
        s.listening()
        key = self.key()
        ident = p.start("tools/call", {"name": tool,
                                       "arguments": {"key": key}})
        p.reply(p.question(method))
        self.assertIn(key, self.text(p.answer(ident)))
        self.assertEqual(s.runs(key), 1)
        before = len(s.front.requests)
        s.restart()
        if not at_once:
            self.works(s, p, "safe")
            s.listening(before)
        ident = p.start("tools/call", {"name": tool,
                                       "arguments": {"key": key}})
        p.reply(p.question(method, 1))
        self.assertIn(key, self.text(p.answer(ident)))
        self.assertEqual(s.runs(key), 2)

    def test_sample(self):
        """a question: sampling; again right after a restart"""
        self.asked("sample", "sampling/createMessage")

    def test_form(self):
        """a question: form; again right after a restart"""
        self.asked("form", "elicitation/create")

    def test_url(self):
        """a question: url; again right after a restart"""
        self.asked("url", "elicitation/create")

    def test_roots(self):
        """a question: roots; again after a restart"""
        self.asked("roots", "roots/list", at_once=False)

    # what a server tells

    def test_log(self):
        """log messages"""
        self.need("log")
        s, p = self.pair()
        s.listening()
        p.ask("logging/setLevel", {"level": "debug"})
        key = self.key()
        self.text(p.tool("log", key=key))
        found = p.note("notifications/message")
        self.assertIn(key, str(found["data"]))

    def test_progress(self):
        """progress"""
        s, p = self.pair()
        key, ident = self.slow(s, p)
        p.note("notifications/progress")
        s.let_go(key)
        self.text(p.answer(ident))
        seen = self.progress(p, key)
        self.assertEqual(seen, sorted(seen))

    def test_cancel(self):
        """a cancel, then another call"""
        s, p = self.pair()
        for tool in ("slow", "slow_safe"):
            self.lists(p)               # the cancel may end the session
            key, ident = self.slow(s, p, tool)
            p.cancel(ident)
            p.taken()
            self.works(s, p)
            s.let_go(key)
            self.assertEqual(s.runs(key), 1)
            self.works(s, p)

    # a server that is killed

    def test_killed_before(self):
        """kill -9, then a list, a safe and an unsafe call"""
        s, p = self.pair()
        self.works(s, p)
        for n, tool in enumerate(("list", "safe", "unsafe")):
            s.restart()
            if tool == "list":
                self.lists(p)
            else:
                self.works(s, p, tool)
            if self.sdk.forgets:
                self.sessions(s, n + 2)

    def test_killed_before_ten(self):
        """kill -9, then ten unsafe calls at once"""
        s, p = self.pair()
        self.works(s, p)
        s.restart()
        self.burst(s, p, 10, 2 if self.sdk.forgets else None)

    def called_while_away(self, s, p):
        """Calls while nobody is there, and the server starts again."""
        calls = {}
        for tool in ("safe", "unsafe"):
            key = self.key()
            calls[key] = p.start("tools/call", {"name": tool,
                                                "arguments": {"key": key}})
        p.taken()
        self.let(0.3)
        s.start()
        for key, ident in calls.items():
            answer = p.answer(ident)
            self.not_late(answer, s.runs(key))
            self.assertIn(key, self.text(answer))
            self.assertEqual(s.runs(key), 1)

    def test_killed_and_away(self):
        """server away while calls are made"""
        s, p = self.pair()
        self.works(s, p)
        s.kill()
        self.called_while_away(s, p)

    def test_killed_in_unsafe(self):
        """kill -9 in an unsafe call: "maybe", one run"""
        s, p = self.pair()
        key, ident = self.slow(s, p)
        s.restart()
        self.maybe(p.answer(ident))
        self.works(s, p)
        self.assertEqual(s.runs(key), 1)

    def test_killed_in_safe(self):
        """kill -9 in a safe call: its result, two runs"""
        s, p = self.pair()
        key, ident = self.slow(s, p, "slow_safe")
        s.restart()
        s.waits_for(key, 2)
        s.let_go(key)
        self.assertIn(key, self.text(p.answer(ident)))
        self.assertEqual(s.runs(key), 2)
        seen = self.progress(p, key)
        self.assertEqual(seen, sorted(seen))
        self.works(s, p)

    def test_killed_in_question(self):
        """kill -9 with a question open: withdrawn, "maybe" """
        tool = next((t for t in ("form", "sample") if t in self.sdk.tools),
                    "form")
        self.need(tool)
        s, p = self.pair()
        key = self.key()
        ident = p.start("tools/call", {"name": tool,
                                       "arguments": {"key": key}})
        question = p.question("elicitation/create" if tool == "form" else
                              "sampling/createMessage")
        s.restart()
        self.maybe(p.answer(ident))
        found = p.note("notifications/cancelled")
        self.assertEqual(found["requestId"], question["id"])
        self.works(s, p)
        self.assertEqual(s.runs(key), 1)

    def test_idle_restart(self):
        """kill -9 while the host is silent: all restored and reported"""
        s, p = self.pair()
        able = p.hello_answer["result"]["capabilities"]
        if not able.get("resources", {}).get("subscribe"):
            self.skipTest("this release has no subscriptions")
        restored, told = [], []
        # some declare subscriptions, and do not have them
        if "result" in p.ask("resources/subscribe", {"uri": URI}):
            restored.append("resources/subscribe")
            told.append("notifications/resources/updated")
        if "logging" in able:
            p.ask("logging/setLevel", {"level": "info"})
            restored.append("logging/setLevel")
        s.listening()
        before = len(s.front.requests)
        s.restart()
        for rpc in restored:
            s.front.wait(lambda: any(
                r.rpc == rpc and r.status in (200, 202)
                for r in s.front.requests[before:]), "%s again" % rpc)
        for rpc in told:
            p.note(rpc)
        s.listening(before)
        if able.get("tools", {}).get("listChanged"):
            told.append("notifications/tools/list_changed")
        seen = [len(p.notes(rpc)) for rpc in told]
        raw.Other(s.ports[0]).call("touch", "t")
        for rpc, n in zip(told, seen):
            p.note(rpc, n + 1)
        self.works(s, p)

    # a session that another one ends

    def needs_delete(self):
        if not self.sdk.sessions:
            self.skipTest("this release gives no session id")
        if self.sdk.dies_of_delete:
            self.skipTest("a DELETE ends this server for everybody")

    def delete(self, s):
        """Until it is answered; some answer only when the calls of the session
        have ended."""
        other = threading.Thread(target=raw.ask, args=(
            s.ports[0], "DELETE", None, s.front.sessions()[-1]), daemon=True)
        other.start()
        other.join(5)

    def test_deleted(self):
        """DELETE by another, then calls"""
        self.needs_delete()
        s, p = self.pair()
        self.works(s, p)
        for _ in range(2):
            self.delete(s)
            self.burst(s, p, 5)

    def deleted_in_call(self, mode):
        self.needs_delete()
        s, p = self.pair(mode)
        if not s.front.sessions():
            self.skipTest("this release gives no session id in this mode")
        key, ident = self.slow(s, p)
        safe, safe_ident = self.slow(s, p, "slow_safe")
        self.delete(s)
        s.let_go(key)
        s.let_go(safe)
        self.result_or_maybe(p.answer(ident))
        self.assertEqual(s.runs(key), 1)
        self.assertIn(safe, self.text(p.answer(safe_ident)))
        self.works(s, p)

    def test_deleted_in_call(self):
        """DELETE by another while calls run"""
        self.deleted_in_call("")

    # connections

    def cut(self, s, key, reset):
        seen = [r for r in s.front.requests if r.key == key][-1]
        s.front.cut(seen, reset)
        return seen

    def test_cut_in_unsafe(self):
        """connection cut in an unsafe call: ends, one run"""
        s, p = self.pair()
        for reset in (False, True):
            key, ident = self.slow(s, p)
            self.cut(s, key, reset)
            s.let_go(key)
            self.result_or_maybe(p.answer(ident))
            self.assertEqual(s.runs(key), 1)
            self.works(s, p)

    def test_cut_in_safe(self):
        """connection cut in a safe call: its result"""
        s, p = self.pair()
        for reset in (False, True):
            self.lists(p)               # the cut may end the session
            key, ident = self.slow(s, p, "slow_safe")
            self.cut(s, key, reset)
            s.let_go(key)
            self.assertIn(key, self.text(p.answer(ident)))
            self.works(s, p)

    def test_cut_after_the_result(self):
        """connection cut, and the call ends before it is asked for again"""
        s, p = self.pair()
        for tool in ("slow", "slow_safe"):
            key, ident = self.slow(s, p, tool)
            s.front.down()
            s.let_go(key)
            p.taken()
            self.let(0.5)
            s.front.up()
            self.result_or_maybe(p.answer(ident))
            if tool == "slow":
                self.assertEqual(s.runs(key), 1)
            self.works(s, p)

    def test_store(self):
        """event store, connection cut: the result is fetched, one run"""
        s, p = self.pair("store")
        key, ident = self.slow(s, p)
        p.note("notifications/progress")
        seen = self.cut(s, key, True)
        s.let_go(key)
        answer = p.answer(ident)
        if seen.has_ids:
            self.assertIn(key, self.text(answer))
        else:
            self.result_or_maybe(answer)
        self.assertEqual(s.runs(key), 1)
        self.works(s, p)
        s.restart()
        self.works(s, p)

    def test_idle_close(self):
        """connections closed after a second of silence: then calls"""
        s = self.serve("keepalive")
        # not through the front, which hears of a close later than mcpsplice
        s.url = "http://127.0.0.1:%d/mcp" % s.ports[0]
        p = self.host(s)
        for _ in range(4):
            self.works(s, p)
            limit = pace.Limit(support.LIVE)
            while open_connections(s.ports[0]) > 1 and limit.left() > 0:
                time.sleep(0.02)        # one is the listen stream
            self.works(s, p, "unsafe")

    def test_expiry(self):
        """a host that was away so long that its session has ended"""
        if not self.sdk.forgets:
            self.skipTest("it takes any session id")
        s, p = self.pair("expiry")
        for _ in range(2):
            opened = s.opened()
            limit = pace.Limit(support.LIVE)
            while s.opened() == opened and limit.left() > 0:
                s.front.down()
                time.sleep(1.5)         # the server wants one second
                s.front.up()
                self.works(s, p, "unsafe")
            self.assertGreater(s.opened(), opened)
        key, ident = self.slow(s, p)
        time.sleep(1.5)
        s.let_go(key)
        if self.sdk.ends_silent_calls:
            self.result_or_maybe(p.answer(ident))
        else:
            self.text(p.answer(ident))
        self.assertEqual(s.runs(key), 1)

    def replicas(self, by):
        s = self.serve(count=2, by=by)
        p = self.host(s)
        for _ in range(6):
            self.works(s, p)
        calls = {}
        for _ in range(10):
            key = self.key()
            calls[key] = p.start("tools/call", {
                "name": "unsafe", "arguments": {"key": key}})
        for key, ident in calls.items():
            answer = p.answer(ident)
            if "error" in answer:
                ran = self.our_error(answer)["data"]["ran"]
                self.assertLessEqual(s.runs(key), ran == "maybe", answer)
            else:
                self.assertIn(key, self.text(answer))
                self.assertEqual(s.runs(key), 1)

    def test_replicas_by_connection(self):
        """two replicas, by connection: calls, then ten at once"""
        self.replicas("connection")

    def test_replicas_by_request(self):
        """two replicas, by request: calls, then ten at once"""
        self.replicas("request")

    # the end

    def test_end(self):
        """end of input: exit 0, its session ended, others live"""
        s, p = self.pair()
        other = self.host(s)
        mine = s.front.sessions()
        self.works(s, p)
        self.works(s, other)
        p.finish()
        gone = s.front.of(verb="DELETE")
        if mine and not self.sdk.dies_of_delete:
            self.assertEqual([r.sid for r in gone], mine[:1])
        else:
            self.assertEqual(gone, [])
        self.works(s, other)
        self.works(s, self.host(s))
        key, ident = self.slow(s, other)
        other.close()
        s.let_go(key)
        self.text(other.answer(ident))
        other.finish()

    # hosts

    def test_old_hosts(self):
        """hosts of 2024-11-05 to 2025-11-25 hear the revision they asked for"""
        s = self.serve()
        for version in REVISIONS:
            p = self.host(s, version=version)
            got = p.hello_answer["result"]["protocolVersion"]
            self.assertIn(got, REVISIONS)
            self.assertTrue(got == version or got <= version, (version, got))
            self.works(s, p)
            p.finish()

    def test_new_host(self):
        """a host of 2026-07-28: lists, calls, progress, restart, ten at once"""
        s = self.serve()
        p = self.modern(s, caps=self.sdk.caps)
        self.assertIn("result", p.ask("server/discover"))
        self.lists(p)
        self.works(s, p)
        key, ident = self.slow(s, p)
        s.let_go(key)
        self.text(p.answer(ident))
        s.restart()
        self.works(s, p)
        s.restart()
        self.burst(s, p, 10)
        self.lists(p)
        key, ident = self.slow(s, p, "slow_safe")
        s.restart()
        s.let_go(key)
        self.text(p.answer(ident))

    def test_new_host_asked(self):
        """a host of 2026-07-28: a question becomes an input request"""
        if not self.sdk.asks_new_hosts:
            self.skipTest("this release cannot ask hosts of 2026-07-28")
        tool = "resolved" if "resolved" in self.sdk.tools else "form"
        self.need(tool)
        s = self.serve()
        p = self.modern(s, caps=self.sdk.caps)
        key = self.key()
        args = {"name": tool, "arguments": {"key": key}}
        answer = p.ask("tools/call", args)
        asked = answer.get("result", {})
        self.assertEqual(asked.get("resultType"), "input_required", answer)
        more = dict(args, inputResponses={
            k: eraserver.ANSWERS[q["method"]]
            for k, q in asked["inputRequests"].items()})
        if "requestState" in asked:
            more["requestState"] = asked["requestState"]
        self.assertIn(key, self.text(p.ask("tools/call", more)))
        self.assertEqual(s.runs(key), 1)

    # its own client as the host

    def its_host(self):
        s = self.serve()
        host = Host(self, s)
        self.hosts.append(host)
        self.assertIn("unsafe", host.text(host.start()))
        return s, host

    def host_works(self, s, host, *tools):
        for tool in tools:
            key = self.key()
            self.assertIn(key, host.text(host.start(tool, key)))
            self.assertEqual(s.runs(key), 1, tool)

    def gone(self, s):
        """Until the host's mcpsplice is no more."""
        limit = pace.Limit(support.LIVE)
        while started_with(s.url):
            if limit.left() <= 0:
                self.fail("its host has ended, and mcpsplice lives on")
            time.sleep(0.02)

    def test_its_client(self):
        """its client in front: list, calls, kill -9, ten at once, the end"""
        s, host = self.its_host()
        self.host_works(s, host, "safe", "unsafe")
        s.restart()
        self.host_works(s, host, "unsafe")
        s.restart()
        keys = [self.key() for _ in range(10)]
        calls = [host.start("unsafe", key) for key in keys]
        for key, ident in zip(keys, calls):
            self.assertIn(key, host.text(ident))
            self.assertEqual(s.runs(key), 1)
        sid = s.front.sessions()[-1:]
        self.assertEqual(host.end(), 0)
        self.gone(s)
        if sid and not self.sdk.dies_of_delete and \
                s.front.of("tools/call")[-1].sid:
            s.front.wait(lambda: s.front.of(verb="DELETE", sid=sid[0]),
                         "DELETE")

    def test_its_client_asked(self):
        """its client in front: questions"""
        s, host = self.its_host()
        if s.front.sessions():
            s.listening()
        tools = set(host.answers) & set(self.sdk.tools)
        if host.hello == eraserver.MODERN and self.sdk.speaks_modern:
            tools = set()
        if "form" in host.answers:
            tools |= {"resolved"} & set(self.sdk.tools)
        if self.sdk.asks_by_strings and not host.reads_strings:
            self.skipTest("it takes an id that is a string for 0")
        if not tools:
            self.skipTest("this release cannot ask hosts of 2026-07-28")
        self.host_works(s, host, *sorted(tools))

    def test_its_client_in_call(self):
        """its client in front: progress, kill -9 in calls"""
        s, host = self.its_host()
        key = self.key()
        ident = host.start("slow", key)
        s.waits_for(key)
        if host.hears_progress:
            host.find(lambda m: m.get("note") == "notifications/progress")
        s.let_go(key)
        self.assertIn(key, host.text(ident))
        slow, safe = self.key(), self.key()
        ident, safe_ident = host.start("slow", slow), \
            host.start("slow_safe", safe)
        s.waits_for(slow)
        s.waits_for(safe)
        s.restart()
        self.assertIn("may have run", host.answer(ident)["error"])
        s.waits_for(safe, 2)
        s.let_go(safe)
        self.assertIn(safe, host.text(safe_ident))
        self.assertEqual(s.runs(slow), 1)
        self.host_works(s, host, "safe", "unsafe")

    # other configurations

    def test_json(self):
        """JSON answers: calls, kill -9 before and in calls"""
        s, p = self.pair("json")
        self.works(s, p)
        s.restart()
        self.burst(s, p, 10)
        self.lists(p)
        key, ident = self.slow(s, p)
        safe, safe_ident = self.slow(s, p, "slow_safe")
        s.restart()
        s.let_go(safe)
        self.maybe(p.answer(ident))
        self.text(p.answer(safe_ident))
        self.assertEqual(s.runs(key), 1)
        self.works(s, p)

    def test_json_deleted(self):
        """JSON answers: DELETE by another while calls run"""
        self.deleted_in_call("json")

    def test_stateless(self):
        """no sessions: calls, kill -9 before and in calls"""
        s, p = self.pair("stateless")
        self.works(s, p)
        s.restart()
        self.burst(s, p, 10)
        key, ident = self.slow(s, p)
        s.restart()
        self.maybe(p.answer(ident))
        self.assertEqual(s.runs(key), 1)
        self.works(s, p)

    # the SDK's own sign-in

    def signed_in(self, mode):
        s = self.serve(mode)
        folder = self.path("browser-%d" % self.count())
        os.mkdir(folder)
        browser = authserver.Browser(folder)
        p = self.host(s, "--browser", browser.command)
        self.works(s, p)
        self.assertEqual(len(browser.opened()), 1, browser.opened())
        return s, p, browser

    def test_signin(self):
        """its own sign-in; a restart that forgets clients and tokens"""
        s, p, browser = self.signed_in("auth")
        s.restart()
        self.works(s, p, "unsafe")
        self.works(s, p)
        self.assertEqual(len(browser.opened()), 2, browser.opened())

    def test_signin_renewed(self):
        """its own sign-in: tokens of two seconds are renewed"""
        s, p, browser = self.signed_in("auth,keep,brief")
        for _ in range(2):
            time.sleep(2.1)
            self.works(s, p)
        self.assertEqual(len(browser.opened()), 1, browser.opened())

    def test_signin_outage(self):
        """its own sign-in: the token ends while the server is away"""
        s, p, browser = self.signed_in("auth,keep,brief")
        s.kill()
        time.sleep(2.1)
        self.called_while_away(s, p)
        self.assertEqual(len(browser.opened()), 1, browser.opened())
