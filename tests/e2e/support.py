"""Runs mcpsplice, talks to it over its stdin and stdout with deadlines, and
judges every line it writes.

The program is named by the environment variable MCPSPLICE.  main() runs the
cases of a file side by side in threads, since most of them wait; those marked
with @alone run afterwards, one at a time, because their point is timing or
memory.
"""

import collections
import concurrent.futures
import faulthandler
import fcntl
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import unittest

if sys.version_info < (3, 9) or not hasattr(os, "openpty"):
    sys.stderr.write("python3 is too old for these tests\n")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lint"))

import bounds
import faultserver
import pace
from pace import PROGRAM, sanitized

# The limits of mcpsplice: bytes, ms, or a number.
BOUND = bounds.numbers(os.path.join(HERE, "..", ".."))
LIVE = 20.0             # for liveness only; see pace
ENV_KEPT = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
            "TSAN_OPTIONS", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE",
            "LD_PRELOAD", "SLOW", "SLOW_BASE")


def environment(home, env=None):
    """The environment of a program in a test: of the user's own variables only
    ENV_KEPT, and env, in which None removes a variable.  The display is empty,
    so that no test uses the user's.  A test's LD_PRELOAD comes before the
    library that makes time slow (tests/slow)."""
    full = {k: os.environ[k] for k in ENV_KEPT if k in os.environ}
    full.update({"HOME": home, "LANG": "C.UTF-8", "DISPLAY": "",
                 "WAYLAND_DISPLAY": ""})
    slow = full.get("LD_PRELOAD")
    full.update(env or {})
    full = {k: v for k, v in full.items() if v is not None}
    if slow and full.get("LD_PRELOAD") not in (None, slow):
        full["LD_PRELOAD"] += ":" + slow
    return full


def alone(fn):
    fn.alone = True
    return fn


def plain(thing):
    """Marks a case, or all of a class, that needs a build without sanitizers,
    as it measures time or memory, or uses another library.  contrib/check
    runs all cases with sanitizers, and these in the plain build, too."""
    thing.plain = True
    return thing


class Num(str):
    """A number as it was written."""


def idkey(value):
    if isinstance(value, Num):
        return ("n", str(value))
    return ("s", value)


def bad_constant(name):
    raise ValueError("not JSON: " + name)


def exact(line):
    """Parses JSON strictly; numbers stay text."""
    return json.loads(line.decode("utf-8"), parse_int=Num, parse_float=Num,
                      parse_constant=bad_constant)


def fault_of(m):
    """Why m is not a valid JSON-RPC message, or None."""
    if not isinstance(m, dict):
        return "not an object"
    if m.get("jsonrpc") != "2.0":
        return "no jsonrpc 2.0"
    if "method" in m:
        if not isinstance(m["method"], str):
            return "method is no string"
        if "result" in m or "error" in m:
            return "both a request and an answer"
        if "id" in m and not isinstance(m["id"], str):
            return "a request with a bad id"
        return None
    if ("result" in m) == ("error" in m):
        return "not exactly one of result and error"
    if "result" in m and "id" not in m:
        return "a result without id"
    if "id" in m and not isinstance(m["id"], str):
        return "an answer with a bad id"
    if "error" in m:
        e = m["error"]
        if not isinstance(e, dict) or not isinstance(e.get("code"), Num) or \
                not isinstance(e.get("message"), str):
            return "a bad error object"
    return None


def request(ident, method, params=None):
    m = {"jsonrpc": "2.0", "id": ident, "method": method}
    if params is not None:
        m["params"] = params
    return m


def note(method, params=None):
    m = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        m["params"] = params
    return m


def init(ident=1, version="2025-11-25", capabilities=None):
    return request(ident, "initialize",
                   {"protocolVersion": version,
                    "capabilities": capabilities or {},
                    # With this name the proxy waits longer for a sign-in.
                    "clientInfo": {"name": "codex-mcp-client e2e",
                                   "version": "1"}})


def call(ident, name="echo", **args):
    return request(ident, "tools/call", {"name": name, "arguments": args})


INITIALIZED = note("notifications/initialized")


def lines(*messages):
    """Messages as lines of JSON."""
    return b"".join((m if isinstance(m, bytes) else json.dumps(m).encode())
                    + b"\n" for m in messages)


class Splice:
    """One running mcpsplice."""

    def __init__(self, case, args, server=None, env=None,
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None,
                 reader=True, cwd=None, program=PROGRAM):
        self.case = case
        self.server = server
        self.sent = collections.Counter()   # id -> answers that are due
        self.silent = set()                 # ids that must not be answered
        self.idless = 0                     # errors without id that are due
        self.lines = []                     # (bytes, time)
        self.messages = []                  # parsed, or None
        self.tail = bytearray()
        self.eof = False
        self.next_id = 100
        self.cond = threading.Condition()
        self.finished = False
        self.ending = 0         # seconds from EOF to the program's end
        self.err_path = os.path.join(case.tmp, "stderr-%d" % case.count())
        self.err_file = open(self.err_path, "wb")
        full = environment(case.home, env)
        self.started = time.monotonic()
        self.proc = subprocess.Popen([program] + [str(a) for a in args],
                                     stdin=stdin, stdout=stdout,
                                     stderr=stderr or self.err_file, env=full,
                                     cwd=cwd, bufsize=0)
        self.pid = self.proc.pid
        self.thread = None
        if reader and self.proc.stdout:
            self.read()

    # stdout

    def read(self):
        """Starts to read stdout."""
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        fd = self.proc.stdout.fileno()
        while True:
            try:
                data = os.read(fd, 1 << 20)
            except OSError:
                data = b""
            if not data:
                break
            self._feed(data)
        with self.cond:
            self.eof = True
            self.cond.notify_all()

    def _feed(self, data):
        start = len(self.tail)
        self.tail += data
        pos = self.tail.find(b"\n", start)
        if pos < 0:
            return
        now = time.monotonic()
        whole = bytes(self.tail)
        begin = 0
        out = []
        while pos >= 0:
            line = whole[begin:pos]
            begin = pos + 1
            pos = whole.find(b"\n", begin)
            try:
                parsed = json.loads(line) if len(line) < 1 << 24 else None
            except ValueError:
                parsed = None
            out.append(((line, now), parsed))
        del self.tail[:begin]
        with self.cond:
            for line, parsed in out:
                self.lines.append(line)
                self.messages.append(parsed)
            self.cond.notify_all()

    def find(self, test, seconds=LIVE, after=0):
        """Waits up to `seconds` for a message that passes test; returns the
        first, or None.  The first `after` messages do not count."""
        limit = pace.Limit(seconds)
        at = after
        with self.cond:
            while True:
                while at < len(self.messages):
                    m = self.messages[at]
                    if m is not None and test(m):
                        return m
                    at += 1
                left = 0 if self.eof else limit.left()
                if left <= 0:
                    return None
                self.cond.wait(left)

    def answer(self, ident, seconds=LIVE):
        """The answer to that id; the test fails when it does not come."""
        m = self.find(lambda m: "method" not in m and m.get("id") == ident
                      and type(m.get("id")) is type(ident), seconds)
        if m is None:
            self.case.fail("no answer to %r in %.1f s; status %s; stdout %r; "
                           "stderr %s" %
                           (ident, seconds, self.proc.poll(),
                            self.raw_lines()[-5:], self.err()[-2000:]))
        return m

    def when(self, ident):
        """The time at which the answer to that id was read."""
        self.answer(ident)
        with self.cond:
            for (_, t), m in zip(self.lines, self.messages):
                if m and m.get("id") == ident and "method" not in m:
                    return t

    def server_message(self, method, seconds=LIVE):
        m = self.find(lambda m: m.get("method") == method, seconds)
        if m is None:
            self.case.fail("no %s in %.1f s; stderr %s" %
                           (method, seconds, self.err()[-2000:]))
        return m

    def count_messages(self, method):
        with self.cond:
            return sum(1 for m in self.messages
                       if m and m.get("method") == method)

    def raw_lines(self):
        with self.cond:
            return [line[:300] for line, _ in self.lines]

    def big_line(self, seconds=LIVE, at=-1, least=1):
        """Waits for `least` lines; returns one whole line and its time."""
        limit = pace.Limit(seconds)
        with self.cond:
            while len(self.lines) < least and not self.eof:
                left = limit.left()
                if left <= 0:
                    break
                self.cond.wait(left)
            if len(self.lines) < least:
                self.case.fail("only %d of %d lines; stderr %s" %
                               (len(self.lines), least, self.err()[-2000:]))
            return self.lines[at]

    # stdin

    def write(self, data):
        fd = self.proc.stdin.fileno()
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view[:1 << 20]):]

    def raw(self, data, answers=(), idless=0):
        """Writes bytes that book() cannot parse; answers and idless say which
        answers are due."""
        for a in answers:
            self.sent[a if isinstance(a, tuple) else self.key(a)] += 1
        self.idless += idless
        self.write(data)

    @staticmethod
    def key(ident):
        if isinstance(ident, str) and not isinstance(ident, Num):
            return ("s", ident)
        return ("n", json.dumps(ident) if not isinstance(ident, Num)
                else str(ident))

    def book(self, data):
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            m = exact(line)
            if isinstance(m, dict) and "method" in m and "id" in m:
                self.sent[idkey(m["id"])] += 1

    def send(self, *messages):
        data = lines(*messages)
        self.book(data)
        self.write(data)

    def ask(self, method, params=None, seconds=LIVE):
        """Sends a request and returns its answer."""
        return self.answer(self.start(method, params), seconds)

    def start(self, method, params=None):
        self.next_id += 1
        self.send(request(self.next_id, method, params))
        return self.next_id

    def tool(self, name="echo", seconds=LIVE, **args):
        return self.ask("tools/call", {"name": name, "arguments": args},
                        seconds)

    def hello(self, version="2025-11-25", capabilities=None):
        """Does the handshake; returns the answer to initialize."""
        self.send(init("hello", version, capabilities))
        answer = self.answer("hello")
        if "result" not in answer:
            self.case.fail("initialize: %r; stderr %s" %
                           (answer, self.err()[-2000:]))
        before = self.server and len(self.server.requests)
        self.send(INITIALIZED)
        if self.server:
            self.server.wait(lambda: self.settled(before), 2)
        return answer

    def settled(self, before):
        """Has the server got the initialized note and the GET after it?"""
        new = self.server.requests[before:]
        return any(r.method == "GET" and r.started for r in new) and \
            any(r.rpc == "notifications/initialized" and r.done for r in new)

    def cancel(self, ident):
        """Cancels a request, which then must get no answer."""
        self.silent.add(self.key(ident))
        self.send(note("notifications/cancelled", {"requestId": ident}))

    def taken(self):
        """Waits until the proxy has read all that was sent: it handles that
        before it reads more.  On Windows a thread reads ahead by one read, so
        two more lines must be read until the rest is known to be handled."""
        self.all_read()
        for _ in range(2 if pace.is_windows() else 0):
            self.write(b"\n")
            self.all_read()

    def all_read(self):
        limit = pace.Limit(LIVE)
        left = bytearray(4)
        while fcntl.ioctl(self.proc.stdin, termios.FIONREAD, left) == 0 and \
                any(left):
            if limit.left() <= 0:
                self.case.fail("stdin is not read; stderr %s" %
                               self.err()[-2000:])
            time.sleep(0.005)

    def close(self):
        if self.proc.stdin and not self.proc.stdin.closed:
            try:
                self.proc.stdin.close()
            except OSError:
                pass

    # the process

    def err(self):
        with open(self.err_path, "rb") as f:
            return f.read().decode("utf-8", "backslashreplace")

    def alive(self):
        return self.proc.poll() is None

    def status_kb(self, name):
        """A value of /proc/PID/status; 0 if it cannot be read."""
        try:
            with open("/proc/%d/status" % self.pid) as f:
                for line in f:
                    if line.startswith(name + ":"):
                        return int(line.split()[1])
        except OSError:
            pass
        return 0

    def rss_kb(self):
        return self.status_kb("VmRSS")

    def peak_kb(self):
        return self.status_kb("VmHWM")

    def kill(self):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.wait()
        self.finished = True
        self.shut()

    def shut(self):
        self.close()
        if self.thread:
            self.thread.join(LIVE)
        if self.proc.stdout:
            self.proc.stdout.close()
        self.err_file.close()

    def wait(self, seconds=LIVE):
        """Waits for the exit status; fails if the process does not end."""
        limit = pace.Limit(seconds)
        while True:
            left = limit.left()
            if left <= 0:
                break
            try:
                # Popen.wait with a timeout polls every 50 ms: too coarse
                if self.proc.poll() is None and hasattr(os, "pidfd_open"):
                    fd = os.pidfd_open(self.pid)
                    faultserver.readable(fd, left)
                    os.close(fd)
                    left = 0.1
                return self.proc.wait(left)
            except subprocess.TimeoutExpired:
                pass
        err = self.err()[-2000:]
        self.kill()
        self.case.fail("still there after %.1f s; stdout %r; stderr %s" %
                       (limit.seconds, self.raw_lines()[-5:], err))

    def finish(self, status=0, seconds=LIVE):
        """Closes stdin, and checks the exit status and the answers: see
        check()."""
        self.finished = True
        began = time.monotonic()
        self.close()
        got = self.wait(seconds)
        self.ending = time.monotonic() - began
        self.shut()
        self.case.assertEqual(got, status, "exit status; stderr %s" %
                              self.err()[-2000:])
        self.check()

    def check(self):
        """Checks that stdout has one valid message per line, that each request
        has exactly one answer, and that nothing else was answered."""
        case = self.case
        case.assertEqual(bytes(self.tail[:200]), b"", "stdout ends in no LF")
        got = collections.Counter()
        idless = 0
        for line, _ in self.lines:
            if len(line) >= 1 << 24:
                head = exact(line[:200].split(b',"result"')[0] + b"}")
                got[idkey(head["id"])] += 1
                continue
            try:
                m = exact(line)
            except ValueError as e:
                case.fail("stdout: %r: %s" % (line[:300], e))
            why = fault_of(m)
            if why:
                case.fail("stdout: %r: %s" % (line[:300], why))
            if "method" in m:
                continue
            if "id" not in m:
                idless += 1
            else:
                got[idkey(m["id"])] += 1
        due = collections.Counter({k: n for k, n in self.sent.items()
                                   if k not in self.silent})
        if got != due:
            case.fail("answers: missing %r, too many %r; stderr %s" %
                      (dict(due - got), dict(got - due), self.err()[-2000:]))
        case.assertEqual(idless, self.idless, "errors without id")


# The proxy refuses a configuration file that the group can write.
os.umask(0o022)


class Late(Exception):
    """The machine was too slow for the case to prove anything."""


class Case(unittest.TestCase):
    longMessage = True
    maxDiff = 2000

    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="mcpsplice-e2e-")
        self.home = os.path.join(self.tmp, "home")
        os.mkdir(self.home)
        self.numbers = itertools.count(1)
        self.running = []
        self.servers = []

    def tearDown(self):
        result = self._outcome.result
        failed = bool(result.failures or result.errors)
        try:
            for p in self.running:
                if p.finished:
                    continue
                if failed:
                    p.kill()
                else:
                    p.finish()
            for s in self.servers:
                self.assertEqual(s.errors, [], "the test's own server")
        finally:
            for p in self.running:
                if p.proc.poll() is None:
                    p.kill()
            for s in self.servers:
                s.close()
            shutil.rmtree(self.tmp, ignore_errors=True)

    def count(self):
        return next(self.numbers)

    def path(self, name, data=None, mode=None):
        """A file below the test's own folder."""
        p = os.path.join(self.tmp, name)
        if data is not None:
            os.makedirs(os.path.dirname(p), exist_ok=True)
            with open(p, "wb") as f:
                f.write(data.encode() if isinstance(data, str) else data)
            if mode is not None:
                os.chmod(p, mode)
        return p

    def new_home(self):
        path = self.path("home-%d" % self.count())
        os.mkdir(path)
        return path

    def mcp(self, **kw):
        s = faultserver.Mcp(**kw)
        self.servers.append(s)
        return s

    def http(self, handler, **kw):
        s = faultserver.Server(handler, **kw)
        self.servers.append(s)
        return s

    def splice(self, server, *args, **kw):
        url = [server.url] if hasattr(server, "url") else \
            [] if server is None else [server]
        known = isinstance(server, faultserver.Mcp)
        p = Splice(self, url + list(args), server if known else None, **kw)
        self.running.append(p)
        return p

    def hosted(self, server, host, *args, env=None):
        """A proxy whose host has more variables, which the host does not pass
        on; the host starts it through another program, as with npx."""
        words = [w for name in host for w in ("-u", name)]
        p = Splice(self, ["-c", 'env "$@"; exit $?', "host"] + words +
                   ["/bin/sh", "-c", '"$@"; exit $?', "launcher", PROGRAM,
                    getattr(server, "url", server)] + list(args),
                   env=dict(env or {}, **host), program="/bin/sh")
        self.running.append(p)
        return p

    def pair(self, *args, **kw):
        """A server, and a proxy that has done the handshake with it."""
        server_kw = kw.pop("server", {})
        s = self.mcp(**server_kw)
        p = self.splice(s, *args, **kw)
        p.hello()
        return s, p

    def environment(self, env=None):
        return environment(self.home, env)

    def terminal(self, *args, env=None):
        """Runs the program in a terminal until it ends; returns its status and
        what the user sees."""
        main, other = os.openpty()
        p = subprocess.Popen([PROGRAM] + [str(a) for a in args], stdin=other,
                             stdout=other, stderr=other,
                             env=self.environment(env))
        os.close(other)
        out = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            out += part
        os.close(main)
        return p.wait(LIVE), out.decode().replace("\r\n", "\n")

    def once(self, args, data=b"", env=None, seconds=LIVE, program=PROGRAM,
             **kw):
        """Runs the program with this stdin until it ends; returns its status,
        stdout and stderr."""
        if "stdin" not in kw:
            kw["input"] = data
        r = subprocess.run([program] + [str(a) for a in args],
                           env=self.environment(env), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=seconds, **kw)
        return r.returncode, r.stdout, r.stderr.decode("utf-8",
                                                       "backslashreplace")

    def our_error(self, answer, reason=None, ran=None, code=-32603):
        """Checks that this is an error of mcpsplice's own; returns it."""
        self.assertIn("error", answer)
        e = answer["error"]
        self.assertEqual(e["code"], code, e)
        self.assertEqual(e.get("data", {}).get("source"), "mcpsplice", e)
        if reason is not None:
            self.assertEqual(e["data"].get("reason"), reason, e)
        if ran is not None:
            self.assertEqual(e["data"].get("ran"), ran, e)
        return e

    def came_late(self, answer, began):
        """Did a slow machine delay a refusal so long that the call may have
        run?  A witness counts as at least 250 ms, and a refusal may take
        250 ms more than twice that: is_late() in core/session/witness.c"""
        data = answer.get("error", {}).get("data", {})
        return data.get("ran") == "maybe" and time.monotonic() - began > 0.75

    def in_time(self, answer, began):
        """Makes the case run again if this answer came late."""
        if self.came_late(answer, began):
            raise Late(answer)

    def deleted(self, s, sessions):
        """Checks that these sessions were ended, in this order.  A proxy waits
        a second for its DELETEs, which may be too short on a slow machine."""
        if s.deleted != sessions and any(p.ending > 0.75
                                         for p in self.running):
            raise Late("a second of DELETEs was over")
        self.assertEqual(s.deleted, sessions)

    def each(self, things, fn, workers=8):
        """Runs fn(thing) in parallel; the test fails with a line for each
        thing that failed, which begins with the thing's name."""
        bad = []

        def one(thing):
            try:
                fn(thing)
            except Late:
                raise
            except AssertionError as e:
                bad.append("%s: %s" % (thing, str(e)[:600]))
            except Exception as e:
                bad.append("%s: %r %s" % (thing, e, traceback.format_exc()
                                          [-300:]))
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, things))
        if bad:
            self.fail("%d of %d failed\n%s" % (len(bad), len(things),
                                              "\n".join(sorted(bad))))

    def within(self, took, seconds, msg=None):
        """Checks that it took less than that; a slow machine may take
        longer."""
        self.assertLess(took, pace.within(took, seconds), msg)

    def noted(self, *sessions):
        """Waits until the session files name these sessions, so that a later
        start finds them if their process is killed."""
        folder = os.path.join(self.home, ".local/state/mcpsplice/sessions")

        def notes():
            data = b""
            for name in os.listdir(folder) if os.path.isdir(folder) else ():
                try:
                    with open(os.path.join(folder, name), "rb") as f:
                        data += f.read()
                except FileNotFoundError:
                    pass
            return data
        limit = pace.Limit(LIVE)
        while not all(sid.encode() in notes() for sid in sessions):
            if limit.left() <= 0:
                self.fail("%r: not all noted: %r" % (sessions, notes()))
            time.sleep(0.01)

    def let(self, seconds):
        """Gives the proxy time to notice something, where the test cannot see
        that it has."""
        time.sleep(seconds * pace.measure())

    def settle(self, seconds):
        """Lets time pass, in which nothing may happen."""
        time.sleep(seconds)


class Library:
    """Builds a C file of this folder once, as a library for LD_PRELOAD."""
    lock = threading.Lock()
    made = {}                   # name -> (path, or why there is none)
    folder = None

    @classmethod
    def get(cls, case, name, with_sanitizers=False):
        """The library's path; skips the case if it cannot be built.
        with_sanitizers: the library works together with sanitizers."""
        if sanitized() and (pace.needs_sanitizer() or not with_sanitizers):
            case.skipTest("a sanitizer must be loaded first")
        with cls.lock:
            if name not in cls.made:
                cls.made[name] = cls.make(name)
        path, why = cls.made[name]
        if why:
            case.skipTest(why)
        return path

    @classmethod
    def make(cls, name):
        if not sys.platform.startswith("linux"):
            return None, "no Linux"
        if pace.is_static():
            return None, "a static program loads no library"
        cc = shlex.split(os.environ.get("CC") or "cc")
        if not shutil.which(cc[0]):
            return None, "no compiler (%s)" % cc[0]
        cls.folder = cls.folder or tempfile.mkdtemp(prefix="mcpsplice-lib-")
        path = os.path.join(cls.folder, name + ".so")
        r = subprocess.run(cc + ["-shared", "-fPIC", "-o", path,
                                 os.path.join(HERE, name), "-ldl"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
        if r.returncode != 0:
            return None, "%s makes no shared library: %s" % (
                cc[0], r.stdout[-200:])
        return path, None

    @classmethod
    def remove(cls):
        if cls.folder:
            shutil.rmtree(cls.folder, ignore_errors=True)


def gone(pid):
    """Has the process ended, or is it a zombie?"""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True
    except OSError:
        try:
            os.kill(pid, 0)
            return False
        except ProcessLookupError:
            return True


class Outcome(unittest.TestResult):
    """The result of one case."""

    late = False

    def addError(self, test, err):
        self.late |= issubclass(err[0], Late)
        super().addError(test, err)


def run_one(test, tries=2):
    """Runs a case; again, up to `tries` times, if the machine was too slow."""
    begin = time.monotonic()
    for n in range(tries):
        time.sleep(min(n, 3))
        result = Outcome()
        test.run(result)
        # what the case has sent and read is freed now, not at the file's end
        for name in [n for n in vars(test) if not n.startswith("_")]:
            delattr(test, name)
        if not result.late:
            break
    return test, result, time.monotonic() - begin


def faults(result):
    return [text for _, text in result.failures + result.errors]


def report(test, result, seconds):
    name = "%s.%s" % (type(test).__name__, test._testMethodName)
    word = "ok"
    if result.skipped:
        word = "skip (%s)" % result.skipped[0][1]
    if faults(result):
        word = "FAIL"
    print("%-58s %5.1f s  %s" % (name, seconds, word), flush=True)
    for text in faults(result):
        print("    " + text.replace("\n", "\n    "), flush=True)
    return bool(faults(result))


def is_plain(test):
    return getattr(test, "plain", False) or \
        getattr(getattr(test, test._testMethodName), "plain", False)


def left_out():
    """The cases and classes of the calling file that the file E2E_WITHOUT
    lists: in lines that begin with a blank, after the line of their file."""
    found, here = set(), None
    with open(os.environ.get("E2E_WITHOUT") or os.devnull,
              encoding="utf-8") as f:
        for line in f:
            if line.startswith("test_"):
                here = line.split()[0]
            elif line[0] == " " and here == os.path.basename(sys.argv[0]):
                found.add(line.split()[0])
    return found


def main(needs_program=True, workers=8, after=None):
    """Runs the cases of the calling file, then after(); arguments select by
    substring, E2E_PLAIN those marked with @plain, and left_out some that do
    not run."""
    if needs_program and not os.access(PROGRAM, os.X_OK):
        sys.stderr.write("MCPSPLICE=%r names no program\n" % PROGRAM)
        sys.exit(1)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    faulthandler.dump_traceback_later(
        float(os.environ.get("E2E_TIMEOUT", "600")), exit=True)
    tests = []

    def collect(suite):
        for t in suite:
            if isinstance(t, unittest.TestSuite):
                collect(t)
            elif len(sys.argv) < 2 or any(a in t.id() for a in sys.argv[1:]):
                tests.append(t)

    collect(unittest.defaultTestLoader.loadTestsFromModule(
        sys.modules["__main__"]))
    if os.environ.get("E2E_PLAIN"):
        tests = [t for t in tests if is_plain(t)]
    without = left_out()
    tests = [t for t in tests
             if not without & {type(t).__name__, t.id().split(".", 1)[1]}]
    apart = [t for t in tests
             if getattr(getattr(t, t._testMethodName), "alone", False)]
    together = [t for t in tests if t not in apart]
    begin = time.monotonic()
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(run_one, t) for t in together]
        for job in concurrent.futures.as_completed(jobs):
            if job.result()[1].late:
                apart.append(job.result()[0])
            else:
                bad += report(*job.result())
    # late cases run again here, when nothing else of this file runs
    for t in apart:
        bad += report(*run_one(t, 12))
    print("%d cases, %d failed, %.1f s" % (
        len(tests), bad, time.monotonic() - begin), flush=True)
    Library.remove()
    if after:
        after()
    # Handlers of the servers may still sleep in daemon threads.
    os._exit(1 if bad or not tests else 0)
