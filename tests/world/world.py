#!/usr/bin/env python3
"""mcpsplice in front of the servers of real SDKs; see README.

usage: world.py [--doc FILE] CACHE [NAME...]
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import scenarios                                        # noqa: E402
import eraserver                                        # noqa: E402
import pace                                             # noqa: E402
import raw                                              # noqa: E402
import support                                          # noqa: E402


class Missing(Exception):
    """Why an SDK cannot be taken here."""


class Process:
    """A server."""

    live = set()

    def __init__(self, pid, proc=None):
        self.pid = pid
        self.proc = proc
        self.live.add(self)

    def kill(self):
        self.live.discard(self)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if self.proc:
            self.proc.wait()
            return
        # not before its last thread has gone is its port closed
        limit = pace.Limit(support.LIVE)
        while limit.left() > 0:
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.005)


def run(*words, **kw):
    """A step of an installation, as quiet as it goes well."""
    if not shutil.which(words[0]):
        raise Missing("%s is not here" % os.path.basename(words[0]))
    r = subprocess.run(words, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, **kw)
    if r.returncode != 0:
        raise Missing("%s: %s" % (" ".join(words[:3]),
                                  " ".join(r.stdout[-400:].split())))
    return r.stdout


class Sdk:
    """One release of one SDK.  tools, modes and the others below are known
    after look()."""

    workers = 10                # scenarios at once
    has_server = True           # or is a client only, in front of another's
    always = ""                 # a mode that each of its starts has
    caps = eraserver.ALL        # what its hosts can do

    def __init__(self, kind, version):
        self.kind = kind
        self.version = version
        self.name = "%s-%s" % (kind, version)
        self.tools = {}
        self.modes = []
        self.sessions = True            # it gives session ids
        self.forgets = True             # and does not know them afterwards
        self.dies_of_delete = False
        self.silent_stream = False      # its GET has no head before an event
        self.asks_by_strings = False    # the ids of its questions are strings
        self.speaks_modern = False      # 2026-07-28
        self.asks_new_hosts = True      # by input requests, its own or ours
        # its sessions end after a time without messages, a call or not
        self.ends_silent_calls = kind == "rmcp"
        # a message that it reads before initialized ends the session
        self.ends_overtaken = self.name == "rmcp-0.8.5"

    def install(self, folder):
        """Into the folder, unless it is there; the stamp says of what."""
        stamp = os.path.join(folder, "installed")
        try:
            with open(stamp) as f:
                if f.read() == self.recipe():
                    return
        except FileNotFoundError:
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.make(folder)
        with open(stamp, "w") as f:
            f.write(self.recipe())

    def close(self):
        pass

    def client(self):
        """The words that start its client; see client.py."""

    def look(self):
        """What it is like, and how it refuses."""
        folder = tempfile.mkdtemp(prefix="mcpsplice-world-")

        class Looker(scenarios.Scenario):
            sdk = self
            tmp = folder

            def runTest(self):
                pass
        case = Looker()
        case.numbers = iter(range(100))
        served = scenarios.Served(case, "", 1, "connection")
        try:
            client = raw.Other(served.start())
            listed = client.ask("tools/list")["result"]["tools"]
            self.silent_stream = client.listens() is None
            self.tools = {t["name"]: t for t in listed}
            served.kill()
            first, found = raw.refusals(served.start, served.kill)
        finally:
            served.kill()
            shutil.rmtree(folder, ignore_errors=True)
        self.sessions = first.sid is not None
        self.forgets = self.sessions and found[0][2].status >= 300
        last = found[-1]
        self.dies_of_delete = last[0].startswith("everybody") and \
            (last[2] is None or last[2].status >= 400)
        self.refusals = [(where, what, raw.shown(a, sid))
                         for where, what, a, sid in found]


class Python(Sdk):
    """server.py, with pip."""

    def __init__(self, kind, version, *more):
        super().__init__(kind, version)
        self.wanted = ("%s==%s" % (kind, version), "uvicorn") + more
        self.speaks_modern = self.name in ("mcp-2.3.0", "fastmcp-4.2.3")
        self.asks_new_hosts = self.name != "fastmcp-4.2.3"

    def recipe(self):
        return " ".join(self.wanted)

    def make(self, folder):
        run(sys.executable, "-m", "venv", folder)
        run(os.path.join(folder, "bin", "python"), "-m", "pip", "install",
            "--quiet", "--disable-pip-version-check", *self.wanted)

    def client(self):
        if self.kind == "mcp":
            return [self.python, os.path.join(HERE, "client.py")]

    def open(self, folder):
        self.python = os.path.join(folder, "bin", "python")
        env = {k: v for k, v in os.environ.items()
               if k in ("PATH", "SLOW", "SLOW_BASE", "LD_PRELOAD")}
        env.update(HOME=folder, FASTMCP_CHECK_FOR_UPDATES="off",
                   FASTMCP_SHOW_CLI_BANNER="false",
                   FASTMCP_SHOW_SERVER_BANNER="false")
        self.lock = threading.Lock()
        self.proc = subprocess.Popen(
            [self.python, os.path.join(HERE, "server.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=env)
        line = self.proc.stdout.readline()
        if not line:
            raise Missing(self.proc.stderr.read()[-400:])
        self.modes = line.strip().split(",")
        self.modes += ["keep", "brief"]
        threading.Thread(target=self.proc.stderr.read, daemon=True).start()

    def spawn(self, port, public, folder, mode):
        with self.lock:
            self.proc.stdin.write("%d\t%d\t%s\t%s\n" % (port, public, folder,
                                                        mode))
            self.proc.stdin.flush()
            return Process(int(self.proc.stdout.readline()))

    def close(self):
        self.proc.stdin.close()
        self.proc.wait()


class Program(Sdk):
    """A server that is a program of its own, and with the word "client" a
    client."""

    hosts = False               # it has a client

    def client(self):
        if self.hosts:
            return self.words + ["client"]

    def open(self, folder):
        self.words = self.command(folder)
        self.modes = run(*self.words, "modes").strip().split(",")

    def spawn(self, port, public, folder, mode):
        mode = ",".join(filter(None, [self.always, mode]))
        with open(os.path.join(folder, "server.log"), "ab") as out:
            proc = subprocess.Popen(
                self.words + [str(port), str(public), folder, mode],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        return Process(proc.pid, proc)

    def recipe(self):
        """Changes with the sources."""
        return self.wanted + " " + hashlib.sha256(b"".join(
            open(path, "rb").read() for path in self.sources())).hexdigest()


class Go(Program):
    """A server of go/, and its client.  always: a mode that each of its starts
    has."""

    hosts = True

    def __init__(self, kind, version, module, *files, tags="", always=""):
        super().__init__(kind, version)
        self.module = module
        self.files = ("common.go", "client.go") + files
        # a tool that asks as before is refused for hosts of 2026-07-28
        self.speaks_modern = (kind, version) == ("mcp-go", "1.2.1")
        self.asks_new_hosts = not self.speaks_modern
        self.tags = tags
        self.always = always
        self.wanted = "%s@v%s %s" % (module, version, tags)
        if always:
            self.name += "-" + always
            self.version += " " + always

    def sources(self):
        return [os.path.join(HERE, "go", name) for name in self.files]

    def make(self, folder):
        for path in self.sources():
            shutil.copy(path, folder)
        here = {"cwd": folder, "env": dict(os.environ, GOFLAGS="-mod=mod",
                                           GOTOOLCHAIN="local")}
        run("go", "mod", "init", "world", **here)
        run("go", "get", self.wanted.split()[0], **here)
        run("go", "build", "-tags", self.tags, "-o", "server", ".", **here)

    def command(self, folder):
        return [os.path.join(folder, "server")]


class Rust(Program):
    """A server of rust/, and its client.  sources: file there -> name in the
    package.  needs: what it wants beside the SDK."""

    def __init__(self, kind, version, needs, **sources):
        super().__init__(kind, version)
        self.files = dict({"common": "common"}, **sources)
        self.wanted = MANIFEST % (self.name.replace(".", "-"),
                                  needs.replace("VERSION", version))
        self.hosts = "client" in sources
        self.speaks_modern = self.name == "rmcp-3.11.0"
        self.asks_new_hosts = not self.speaks_modern

    def sources(self):
        return [os.path.join(HERE, "rust", name + ".rs")
                for name in self.files]

    def make(self, folder):
        os.mkdir(os.path.join(folder, "src"))
        for path, name in zip(self.sources(), self.files.values()):
            shutil.copy(path, os.path.join(folder, "src", name + ".rs"))
        with open(os.path.join(folder, "Cargo.toml"), "w") as f:
            f.write(self.wanted)
        # the releases have most of what they build in common
        built = os.path.join(os.path.dirname(folder), "cargo")
        run("cargo", "build", "--quiet", cwd=folder,
            env=dict(os.environ, CARGO_TARGET_DIR=built))
        shutil.copy(os.path.join(built, "debug", self.name.replace(".", "-")),
                    os.path.join(folder, "server"))

    def command(self, folder):
        return [os.path.join(folder, "server")]


class Java(Program):
    """The server of java/, and its client.  A JVM takes its time: few at
    once."""

    hosts = True
    main = "Server"
    workers = 3

    def __init__(self, version):
        super().__init__("java", version)
        self.wanted = version
        self.asks_by_strings = True
        if version == "0.12.1":
            # it reads no member of elicitation
            self.caps = dict(eraserver.ALL, elicitation={})

    def sources(self):
        return [os.path.join(HERE, "java", name)
                for name in ("Client.java", "Host.java", "Server.java",
                             "pom.xml")]

    def make(self, folder):
        *sources, pom = self.sources()
        for path in sources:
            shutil.copy(path, folder)
        shutil.copy(pom, os.path.join(folder, "pom.xml"))
        run("mvn", "-q", "-B", "-Dsdk=" + self.wanted, "compile",
            "dependency:build-classpath", "-Dmdep.outputFile=classpath",
            cwd=folder)

    def command(self, folder):
        with open(os.path.join(folder, "classpath")) as f:
            path = f.read().strip()
        return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "-Xmx128m", "-cp",
                os.path.join(folder, "target", "classes") + ":" + path,
                self.main]


class Langchain4j(Java):
    """A client that has no server, in front of the Java SDK's."""

    has_server = False
    main = "Langchain4j"

    def __init__(self, version, needs):
        super().__init__("2.1.0")
        self.server = Java("2.1.0")
        self.kind, self.version = "langchain4j", version
        self.name = "langchain4j-" + version
        self.wanted = needs

    def recipe(self):
        return super().recipe() + self.server.recipe()

    def sources(self):
        return [os.path.join(HERE, "java", name)
                for name in ("Langchain4j.java", "Host.java",
                             "langchain4j.xml")]

    def make(self, folder):
        super().make(folder)
        self.server.install(os.path.join(folder, "server"))

    def open(self, folder):
        self.server.open(os.path.join(folder, "server"))
        self.words, self.modes = self.server.words, self.server.modes
        self.started = self.command(folder)

    def client(self):
        return self.started


class Spring(Java):
    """The same tools on Spring AI's WebMVC."""

    hosts = False
    main = "Spring"

    def __init__(self, version):
        super().__init__(version)
        self.kind = "spring-ai"
        self.name = "spring-ai-" + version

    def sources(self):
        return [os.path.join(HERE, "java", name)
                for name in ("Client.java", "Host.java", "Server.java",
                             "Spring.java", "spring.xml")]


class Kotlin(Java):
    """The server of kotlin/."""

    hosts = False
    main = "ServerKt"

    def __init__(self, version):
        super().__init__(version)
        self.kind = "kotlin"
        self.name = "kotlin-" + version

    def sources(self):
        return [os.path.join(HERE, "kotlin", name)
                for name in ("Server.kt", "pom.xml")]


MANIFEST = """\
[package]
name = "%s"
version = "0.0.0"
edition = "2024"

[dependencies]
serde = "1"
serde_json = "1"
tokio = { version = "1", features = ["full"] }
%s

[profile.dev]
debug = false
"""
RMCP = """\
axum = "0.8"
rmcp = { version = "=VERSION", features = ["client", "elicitation", "server",
    "transport-child-process", "transport-streamable-http-server"] }"""
RUST_MCP_SDK = """\
async-trait = "0.1"
rust-mcp-axum = "=1.0.2"
rust-mcp-sdk = { version = "=VERSION", default-features = false, features = [
    "macros", "server", "sse", "stdio", "streamable-http"] }"""
GO_SDK = "github.com/modelcontextprotocol/go-sdk"
MCP_GO = "github.com/mark3labs/mcp-go"
MCP_GO_FILES = ("mcpgo.go", "mcpgo_client.go")
OLD = ("pydantic<2.12", "starlette<0.48", "sse-starlette<3")
SDKS = [
    Python("mcp", "1.8.0", *OLD),
    Python("mcp", "1.12.4", *OLD),
    Python("mcp", "1.30.0"),
    Python("mcp", "2.3.0"),
    Python("fastmcp", "2.14.7"),
    Python("fastmcp", "3.4.11"),
    Python("fastmcp", "4.2.3"),
    Go("go-sdk", "1.2.0", GO_SDK, "gosdk.go", "gosdk_client.go"),
    Go("go-sdk", "1.8.0", GO_SDK, "gosdk.go", "gosdk_client.go"),
    Go("mcp-go", "0.43.0", MCP_GO, "mcpgo_old.go", *MCP_GO_FILES),
    Go("mcp-go", "1.2.1", MCP_GO, "mcpgo_new.go", *MCP_GO_FILES, tags="newer"),
    Go("mcp-go", "1.2.1", MCP_GO, "mcpgo_new.go", *MCP_GO_FILES, tags="newer",
       always="stateful"),
    Rust("rmcp", "0.8.5", RMCP, client="client", rmcp="main",
         rmcp_old="release"),
    Rust("rmcp", "3.11.0", RMCP, client="client", rmcp="main",
         rmcp_new="release"),
    Rust("rust-mcp-sdk", "1.1.0", RUST_MCP_SDK, rust_mcp="main"),
    Java("0.12.1"),
    Java("0.17.2"),
    Java("1.1.5"),
    Java("2.1.0"),
    Langchain4j("1.11.0", "1.11.0-beta19"),
    Langchain4j("1.18.1", "1.18.1-beta28"),
    Spring("2.0.1"),
    Kotlin("0.16.0"),
]
# What stands side by side in doc/world.
GROUPS = (("mcp", "fastmcp"), ("go-sdk", "mcp-go"), ("rmcp", "rust-mcp-sdk"),
          ("java", "langchain4j"), ("spring-ai", "kotlin"))


def named(names):
    """Those of these names or kinds, or all."""
    known = {n for s in SDKS for n in (s.name, s.kind)}
    if not set(names) <= known:
        sys.exit("world: no server of this name: %s; there are: %s" % (
            " ".join(sorted(set(names) - known)),
            " ".join(s.name for s in SDKS)))
    return [s for s in SDKS
            if not names or s.name in names or s.kind in names]


def cases_of(sdk):
    kind = type(sdk.name, (scenarios.Scenario,), {"sdk": sdk})
    names = [n for n in vars(scenarios.Scenario) if n.startswith("test_")]
    only = os.environ.get("WORLD_ONLY", "").split() or \
        ["its_client"] * ("WORLD_CLIENT" in os.environ or not sdk.has_server)
    return [kind(n) for n in names
            if not only or any(o in n for o in only)]


def told(case, result, seconds, log):
    """A line for each case, and the end of what went wrong; all of it goes
    into the log."""
    word = "ok"
    if result.skipped:
        word = "- (%s)" % result.skipped[0][1]
    faults = support.faults(result)
    line = "%-20s %-24s %5.1f s  %s" % (
        type(case).sdk.name, case._testMethodName[len("test_"):], seconds,
        "FAIL" if faults else word)
    print(line, flush=True)
    for text in faults:
        log.write("%s\n%s\n" % (line, text))
        log.flush()
        lines = text.rstrip().splitlines()
        at = [n for n, line in enumerate(lines) if not line.startswith(" ")
              and not line.startswith("Traceback")]
        where = [line.strip() for line in lines if "/scenarios.py" in line]
        print("    %s\n    %s" % (where[0] if where else "", "\n    ".join(
            line[:600] for line in lines[at[0] if at else 0:][:2])),
            flush=True)
    return bool(faults)


def row(case):
    return (case._testMethodDoc or "").split("\n")[0].strip()


def prepare(sdk, cache):
    """Installed, open and looked at; or why not."""
    folder = os.path.join(cache, sdk.name)
    try:
        sdk.install(folder)
        sdk.open(folder)
        sdk.look()
    except Missing as e:
        return str(e)
    return None


def lend_client(chosen, cache):
    """The client that WORLD_CLIENT names stands in front of all."""
    name = os.environ.get("WORLD_CLIENT")
    if not name:
        return
    owner = named([name])[0]
    folder = os.path.join(cache, owner.name)
    owner.install(folder)
    owner.open(folder)
    for sdk in chosen:
        sdk.client = owner.client


def keep(cache, sdk, **what):
    """What was seen last, for the table."""
    if not os.environ.keys() & {"WORLD_ONLY", "WORLD_CLIENT"}:
        with open(os.path.join(cache, sdk.name + ".json"), "w") as f:
            json.dump(what, f, indent=1)


def side_by_side(cases, workers):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(support.run_one, c) for c in cases]
        for job in concurrent.futures.as_completed(jobs):
            yield job.result()


def play(chosen, cache):
    """All scenarios of all these, side by side: how many, and how many
    failed."""
    results = {}
    bad = 0
    lend_client(chosen, cache)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        why = dict(zip(chosen, pool.map(lambda s: prepare(s, cache), chosen)))
    for sdk in chosen:
        if why[sdk]:
            print("%s: skipped: %s" % (sdk.name, why[sdk]), flush=True)
            keep(cache, sdk, skipped=why[sdk])
    here = [s for s in chosen if not why[s]]
    cases = [c for s in here for c in cases_of(s)]
    # those that wait for a clock first
    cases.sort(key=lambda c: not any(
        w in c.id() for w in ("signin", "expiry", "idle_", "cut_after")))
    with open(os.path.join(cache, "failures"), "w") as log:
        for workers in sorted({s.workers for s in here}, reverse=True):
            some = [c for c in cases if c.sdk.workers == workers]
            for case, result, seconds in side_by_side(some, workers):
                bad += told(case, result, seconds, log)
                found = results.setdefault(type(case).sdk.name, {})
                found[row(case)] = "FAIL" if support.faults(result) else \
                    "-" if result.skipped else "ok"
    for sdk in here:
        sdk.close()
        keep(cache, sdk, rows=results[sdk.name], refusals=sdk.refusals,
             date=time.strftime("%d %B %Y").lstrip("0"))
    return len(cases), bad


# The table

HEAD = """\
world: mcpsplice in front of the servers of real SDKs

Written by contrib/world, which installs the SDKs, plays the same scenarios with
each through mcpsplice, and counts in the tools how often they ran (tests/world).
"ok": each call was answered, and none ran twice that must not. "-": the SDK
lacks what the row is about. Each SDK is used as its documentation shows, with
the configuration that a row names.
"""


def kept(cache):
    """[(sdk, what was seen)] of all that were looked at."""
    found = []
    for sdk in SDKS:
        try:
            with open(os.path.join(cache, sdk.name + ".json")) as f:
                found.append((sdk, json.load(f)))
        except FileNotFoundError:
            pass
    return found


def names_of(sdks):
    """mcp 1.8.0, 1.12.4; fastmcp 2.14.7"""
    kinds = {}
    for sdk in sdks:
        kinds.setdefault(sdk.kind, []).append(sdk.version)
    return "; ".join("%s %s" % (k, ", ".join(v)) for k, v in kinds.items())


def answers_of(refusals):
    """(situation, requests, answer): requests that are answered in one way are
    told together."""
    out = []
    for where, what, answer in refusals:
        for have in out:
            if have[0] == where and have[2] == answer:
                have[1].append(what)
                break
        else:
            out.append((where, [what], answer))
    return [(where, ", ".join(whats), answer) for where, whats, answer in out]


def brief(answer):
    """Without what Java says of itself, and not without end."""
    answer = re.sub(r'"stackTrace":\[.*?\]', '"stackTrace":[...]', answer)
    if len(answer) > 400:
        answer = "%s... (%d bytes)" % (answer[:300], len(answer))
    return answer


def write_doc(path, cache):
    seen = kept(cache)
    here = [(s, r) for s, r in seen if "rows" in r]
    out = [HEAD]
    rows = [row(kind) for kind in cases_of(SDKS[0])]
    width = max(map(len, rows))
    for group in GROUPS:
        some = [(s, r) for s, r in here if s.kind in group]
        if not some:
            continue
        out.append("Seen on %s.\n" % some[0][1]["date"])
        columns = [max(len(s.kind), len(s.version)) for s, _ in some]
        for what in ("kind", "version"):
            out.append("  ".join([" " * width] + [
                "%-*s" % (w, getattr(s, what))
                for w, (s, _) in zip(columns, some)]).rstrip())
        for name in rows:
            out.append("  ".join(["%-*s" % (width, name)] + [
                "%-*s" % (w, r["rows"].get(
                    name, "?" if s.has_server else "-"))
                for w, (s, r) in zip(columns, some)]).rstrip())
        out.append("")
    for sdk, r in seen:
        if "skipped" in r:
            out.append("%s %s could not be installed: %s\n" % (
                sdk.kind, sdk.version, r["skipped"][:300]))
    out.append("How they refuse\n")
    out.append("""\
The status, the content type, other headers, and the body; "\\n" is a line break,
and ID is the id that was sent.
""")
    alike = {}
    for sdk, r in (seen for seen in here if seen[0].has_server):
        alike.setdefault(str(r["refusals"]), (r["refusals"], []))[1].append(sdk)
    for refusals, sdks in alike.values():
        out.append(names_of(sdks))
        for where, whats, answer in answers_of(refusals):
            out += ["    %s: %s" % (where, whats),
                    "        " + brief(answer)]
        out.append("")
    with open(path, "w") as f:
        f.write("\n".join(out).rstrip() + "\n")


def stop(*_):
    """Leaves no server behind."""
    for process in list(Process.live):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(1)


def main(args):
    doc = None
    if args[:1] == ["--doc"] and len(args) > 1:
        doc, args = args[1], args[2:]
    if not args:
        sys.exit(__doc__.strip())
    cache, names = args[0], args[1:]
    chosen = named(names)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, stop)
    os.makedirs(cache, exist_ok=True)
    began = time.monotonic()
    total, bad = play(chosen, cache)
    if doc:
        write_doc(doc, cache)
    print("%d cases, %d failed, %.1f s" % (total, bad,
                                           time.monotonic() - began),
          flush=True)
    os._exit(1 if bad else 0 if total else 77)


if __name__ == "__main__":
    main(sys.argv[1:])
