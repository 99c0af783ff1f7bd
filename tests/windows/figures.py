#!/usr/bin/env python3
"""Start and memory of the program for Windows in wine, beside wine's own cmd.exe
and the program for Linux.

usage: figures.py WORK PROGRAM [ROUNDS]
  WORK     as tests/windows/prepare has left it
  PROGRAM  the one for Linux

In each of the rounds (11 without it) all are started in turn, so that a busy
machine slows all of them down.  A line has the median and the best of a start;
memory is that of the last round, after 50 calls.
"""

import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in "e2e", "interop":
    sys.path.insert(0, os.path.join(HERE, os.pardir, folder))
import bridges              # noqa: E402
import faultserver          # noqa: E402

CALLS = 50


def whole(*words):
    """The seconds of a program from its start to its end."""
    begin = time.monotonic()
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def memory(pid):
    """In MiB: all, and what no file backs."""
    with open("/proc/%d/status" % pid) as f:
        found = dict(line.split(":", 1) for line in f)
    return tuple(int(found[name].split()[0]) / 1024
                 for name in ("VmRSS", "RssAnon"))


def session(program, server):
    """The seconds until initialize is answered, and the memory after calls."""
    begin = time.monotonic()
    b = bridges.Bridge(program + " {url}", server.url)
    try:
        if not b.hello():
            sys.exit(program + ": no answer to initialize")
        took = time.monotonic() - begin
        for n in range(CALLS):
            b.works("k%d" % n)
        return took, memory(b.proc.pid)
    finally:
        b.end()


def idle(run):
    """The memory of a cmd.exe that waits for a line."""
    p = subprocess.Popen([run, "cmd.exe"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdout.read(1)
    time.sleep(1)
    found = memory(p.pid)
    p.communicate(b"exit\r\n")
    return found


def stripped(work):
    """As in a release: wine takes memory for what debuggers need, too."""
    built, here = work + "/build/src/mcpsplice", work + "/figures/mcpsplice"
    os.makedirs(work + "/figures", exist_ok=True)
    subprocess.run(["x86_64-w64-mingw32-strip", "-o", here + ".exe",
                    built + ".exe"], check=True)
    with open(built) as f, open(here, "w") as script:
        script.write(f.read().replace(built, here))
    os.chmod(here, 0o755)
    return here


def main(work, native, rounds="11"):
    windows = stripped(work)
    run = work + "/run"
    server = faultserver.Mcp()
    starts, uses = {}, {"cmd.exe in wine, idle": idle(run)}
    for _ in range(int(rounds)):
        for name, took in (
                ("cmd.exe /c exit, in wine", whole(run, "cmd.exe", "/c", "exit")),
                ("mcpsplice.exe version, in wine",
                 whole(run, windows + ".exe", "version")),
                ("mcpsplice version, Linux", whole(native, "version"))):
            starts.setdefault(name, []).append(took)
        for name, program in (("mcpsplice.exe in wine", windows),
                              ("mcpsplice, Linux", native)):
            took, uses[name] = session(program, server)
            starts.setdefault(name + ", first answer", []).append(took)
    for name, took in starts.items():
        print("%-38s %7.0f ms, at best %5.0f" % (
            name, statistics.median(took) * 1000, min(took) * 1000))
    for name, use in uses.items():
        print("%-38s %7.1f MiB, not of files %5.1f" % (name, *use))
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
