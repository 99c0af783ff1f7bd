#!/usr/bin/env python3
"""What bridges from stdio to HTTP do when a session is lost, and between the
revisions of the protocol: runs the same cases against each, and prints a table.

usage: bridges.py [--cases NAMES] [NAME=COMMAND...]

{url} in a COMMAND stands for the server's URL, {mcpsplice} for the program of
this build (MCPSPLICE).  Without a COMMAND it is that program alone, as in "make
check".  NAMES: recovery, corpus, eras; joined by commas.

    bridges.py 'mcpsplice={mcpsplice} {url}' \\
        'mcp-remote=npx -y mcp-remote {url} --allow-http'

The servers are those of tests/e2e; doc/bridges has what was seen.  A case that
gets no answer in 20 s is a "no".  A case that fails is tried once more: on a
slow machine a refusal may come too late for a call to be sent again.  The exit
status is 0 when the first bridge passes all cases.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
import eraserver            # noqa: E402
import faultserver          # noqa: E402
import test_loss_table      # noqa: E402
from support import INITIALIZED, init, lines, request   # noqa: E402

PATIENCE = 20               # seconds
META = eraserver.META
STAMP = {META + "protocolVersion": eraserver.MODERN,
         META + "clientInfo": {"name": "bridges", "version": "1"},
         META + "clientCapabilities": {}}


def words_of(command, url):
    return [w.replace("{url}", url).replace(
        "{mcpsplice}", os.environ.get("MCPSPLICE", "mcpsplice"))
        for w in shlex.split(command)]


class Bridge:
    """A running bridge, and a client of it."""

    def __init__(self, command, url):
        self.home = tempfile.mkdtemp(prefix="bridges-")
        self.proc = subprocess.Popen(
            words_of(command, url), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env=dict(os.environ, HOME=self.home,
                     npm_config_cache=os.path.expanduser("~/.npm")))
        self.answers = {}
        self.count = 0
        self.cond = threading.Condition()
        self.over = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.proc.stdout:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if isinstance(m, dict) and "method" not in m:
                with self.cond:
                    self.answers.setdefault(m.get("id"), []).append(m)
                    self.cond.notify_all()
        with self.cond:
            self.over = True
            self.cond.notify_all()

    def send(self, message):
        try:
            self.proc.stdin.write(lines(message))
            self.proc.stdin.flush()
        except OSError:
            pass

    def start(self, method, params=None):
        self.count += 1
        self.send(request(self.count, method, params))
        return self.count

    def answer(self, ident, seconds=PATIENCE):
        """The answer, or None."""
        with self.cond:
            self.cond.wait_for(lambda: ident in self.answers or self.over,
                               seconds)
            return self.answers.get(ident, [None])[0]

    def hello(self):
        self.send(init("hello"))
        m = self.answer("hello")
        if not m or "result" not in m:
            return False
        self.send(INITIALIZED)
        return True

    def tool(self, key):
        return self.start("tools/call", {"name": "echo",
                                         "arguments": {"key": key}})

    def works(self, key):
        return says(self.answer(self.tool(key)), key)

    def end(self):
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except OSError:
            pass
        self.proc.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def says(answer, key):
    """Is it the result of a call with this key?"""
    content = ((answer or {}).get("result") or {}).get("content")
    return bool(content) and key in content[0].get("text", "")


# Each case gets a bridge that has shaken hands, and its server.

def a_call(b, s):
    return b.works("1")


def restarted(b, s):
    if not b.works("1"):
        return False
    s.restart()
    return b.works("2")


def forgotten_three_times(b, s):
    for key in "123":
        if not b.works(key) or s.runs(key) != 1:
            return False
        s.forget()
    return True


def eight_at_once(b, s):
    s.forget()
    ids = {"k%d" % n: b.tool("k%d" % n) for n in range(8)}
    return all(says(b.answer(i), key) and s.runs(key) == 1
               for key, i in ids.items())


def forgotten_before_a_list(b, s):
    s.forget()
    return "result" in (b.answer(b.start("tools/list")) or {})


def answered_if_lost_while_it_ran(b, s):
    """It may have run: an error, and not a second run."""
    def dies(rx, tx):
        s.methods["tools/call"] = s.tool
        s.forget()
        tx.reset()
    s.methods["tools/call"] = dies
    m = b.answer(b.tool("1"))
    return m is not None and "error" in m and s.runs("1") == 1 and \
        b.works("2")


def is_kept(s):
    """Did calls 1 and 2 run once each, in one session?  A bridge that is not
    sure of its session may open others."""
    last = [r for r in s.executed if r.rpc == "tools/call"][-2:]
    return s.runs("1") == s.runs("2") == 1 and last[0].sid == last[1].sid


def an_error_is_passed_on(b, s):
    """One that is not about the session."""
    def refuses(rx, tx):
        s.methods["tools/call"] = s.tool
        tx.error(-32602, "no such tool: session of parliament")
    s.methods["tools/call"] = refuses
    m = b.answer(b.tool("1"))
    return m is not None and m.get("error", {}).get("code") == -32602 and \
        b.works("2") and is_kept(s)


def down_for_two_seconds(b, s):
    if not b.works("1"):
        return False
    s.down(reset=True)
    timer = threading.Timer(2, s.up)
    timer.start()
    found = b.works("2") or b.works("3")
    timer.join()
    return found


RECOVERY = (
    ("a call works", a_call),
    ("the server was restarted between two calls", restarted),
    ("the server forgot the session, three times", forgotten_three_times),
    ("eight calls at once into a lost session, each runs once",
     eight_at_once),
    ("the session was lost before tools/list", forgotten_before_a_list),
    ("lost while a call ran: error, no second run, next call works",
     answered_if_lost_while_it_ran),
    ("an error that is not about the session is passed on",
     an_error_is_passed_on),
    ("the server is away for two seconds", down_for_two_seconds),
)


def once(command, make_server, case):
    server = make_server()
    b = Bridge(command, server.url)
    try:
        return case(b, server)
    finally:
        b.end()
        server.close()


def passes(command, make_server, case):
    return once(command, make_server, case) or \
        once(command, make_server, case)


def after_hello(case):
    return lambda b, s: b.hello() and case(b, s)


def verdicts(command, pool, cases):
    """cases: (name, make_server, case)."""
    jobs = [(name, pool.submit(passes, command, *rest))
            for name, *rest in cases]
    return [(name, "yes" if job.result() else "no") for name, job in jobs]


def recovery(command, pool):
    return verdicts(command, pool, [
        (name, faultserver.Mcp, after_hello(case))
        for name, case in RECOVERY])


# What servers answered when they had forgotten a session, and what only looks
# like it.

def refused(shot):
    def case(b, s):
        if not b.works("1"):
            return False
        s.refuse = shot
        s.forget()
        return b.works("2")
    return case


def not_lost(shot):
    def case(b, s):
        def looks_lost(rx, tx):
            s.methods["tools/call"] = s.tool
            shot(rx, tx)
        s.methods["tools/call"] = looks_lost
        return b.answer(b.tool("1")) is not None and b.works("2") and \
            is_kept(s)
    return case


# What a tool passes on whose own server has ended a session: it has run.
OWN_ERRORS = (
    lambda rx, tx: tx.body(404),
    lambda rx, tx: tx.text(404, "Session not found"),
    lambda rx, tx: tx.text(400, "Invalid or expired session"),
    lambda rx, tx: tx.text(410, "session expired"),
    lambda rx, tx: tx.text(422, "the session of this user has expired"),
    lambda rx, tx: tx.text(429, "too many sessions", [("Retry-After", "0")]),
    lambda rx, tx: tx.text(500, "Session terminated"),
    lambda rx, tx: tx.error(-32000, "Session not found"),
)


def own_error(shot):
    """The tool says so as often as it is called."""
    def case(b, s):
        s.methods["tools/call"] = shot
        if b.answer(b.tool("1")) is None:
            return False
        s.methods["tools/call"] = s.tool
        return b.works("2") and is_kept(s)
    return case


# "The session has expired", or "is not known".
LANGUAGES = (
    "\u4f1a\u8bdd\u5df2\u8fc7\u671f",
    "\u30bb\u30c3\u30b7\u30e7\u30f3\u304c\u898b\u3064\u304b\u308a\u307e"
    "\u305b\u3093",
    "\uc138\uc158\uc774 \ub9cc\ub8cc\ub418\uc5c8\uc2b5\ub2c8\ub2e4",
    "\u0421\u0435\u0441\u0441\u0438\u044f \u043d\u0435 "
    "\u043d\u0430\u0439\u0434\u0435\u043d\u0430",
    "Sitzung abgelaufen",
    "La session a expir\u00e9",
    "Sesi\u00f3n caducada",
    "Sess\u00e3o desconhecida",
    "Sessione scaduta",
    "Oturum bulunamad\u0131",
)


def in_language(words):
    return refused(lambda rx, tx: tx.json({"error": words}, 400))


def behind_gateway(status):
    """It answers for a second while its server restarts: what reads is
    answered, and what may do harm runs once."""
    def case(b, s):
        if not b.works("1"):
            return False

        def away(rx, tx):
            tx.body(status, "<html>%d</html>" % status, "text/html")
            return True
        s.forget()
        s.before = away
        timer = threading.Timer(1, lambda: setattr(s, "before", None))
        timer.start()
        listed = "result" in (b.answer(b.start("tools/list")) or {})
        timer.join()
        return listed and b.works("2") and s.runs("2") == 1
    return case


def corpus(command, pool):
    shots = [s for s in test_loss_table.SHOTS if s.verb == "POST"]
    kinds = (
        ("errors of a tool about a session: runs once, session kept",
         own_error, OWN_ERRORS),
        ("a lost session in languages that are not English: recovered",
         in_language, LANGUAGES),
        ("a gateway fails for a second: a list waits, a call runs once",
         behind_gateway, (502, 503, 504, 522)),
        ("answers of servers that mean a lost session: recovered", refused,
         [s for s in shots if s.loss == "yes" and
          s.decision != "lost_maybe"]),
        ("answers that only look like it: session kept", not_lost,
         [s for s in shots if s.loss == "no"]))
    rows = []
    for name, make, found in kinds:
        jobs = [pool.submit(passes, command, faultserver.Mcp,
                            after_hello(make(shot))) for shot in found]
        good = sum(bool(job.result()) for job in jobs)
        rows.append((name, "%d of %d" % (good, len(jobs))))
    return rows


# Each revision on each side.

legacy_client = after_hello(a_call)


def modern_client(b, s):
    answer = b.answer(b.start("tools/call", {
        "name": "echo", "arguments": {"key": "1"}, "_meta": STAMP}))
    return says(answer, "1")


SERVERS = (("2024-11-05 (HTTP+SSE)", "sse"),
           ("2025-11-25 (Streamable HTTP)", "legacy"),
           ("2026-07-28", "modern"))
CLIENTS = (("2025-11-25", legacy_client), ("2026-07-28", modern_client))


def no_sign_in(rx, tx):
    if rx.target.startswith("/.well-known/"):
        tx.text(404, "Not Found")
        return True
    return False


def server_of(shape):
    return lambda: eraserver.Era(shape, before=no_sign_in)


def eras(command, pool):
    return verdicts(command, pool, [
        ("client of %s, server of %s" % (client, server), server_of(shape),
         case)
        for client, case in CLIENTS for server, shape in SERVERS])


GROUPS = {"recovery": recovery, "corpus": corpus, "eras": eras}


def main(args):
    chosen = list(GROUPS)
    if args[:1] == ["--cases"] and len(args) > 1:
        chosen = args[1].split(",")
        args = args[2:]
    bridges = [a.partition("=")[::2]
               for a in args or ["mcpsplice={mcpsplice} {url}"]]
    if not all(c for _, c in bridges) or \
            not set(chosen) <= set(GROUPS):
        sys.exit(__doc__.strip())
    for name, command in bridges:
        program = words_of(command, "URL")[0]
        if not shutil.which(program):
            sys.exit("bridges.py: %s: there is no program %s" % (
                name, program))
    table = {}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, command in bridges:
            for group in chosen:
                for case, verdict in GROUPS[group](command, pool):
                    table.setdefault(case, []).append(verdict)
    width = max(len(case) for case in table)
    columns = [max(len(name), 10) for name, _ in bridges]
    print(" " * width, *("%-*s" % (w, name)
                         for w, (name, _) in zip(columns, bridges)))
    for case, verdicts in table.items():
        print("%-*s" % (width, case), *("%-*s" % (w, v)
                                        for w, v in zip(columns, verdicts)))

    def is_bad(verdict):
        n = re.fullmatch("([0-9]+) of ([0-9]+)", verdict)
        return n[1] != n[2] if n else verdict != "yes"
    bad = sum(is_bad(verdicts[0]) for verdicts in table.values())
    print("%d cases, %d failed" % (len(table), bad), flush=True)
    os._exit(1 if bad else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
