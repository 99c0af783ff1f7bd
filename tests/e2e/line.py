"""A long line between two hosts on one machine: contrib/bench/link.c, whose
head has its orders.  It needs root and Linux.

    line = Line(40)                         # ms, each way
    with line.far:
        server = self.mcp(host=FAR)         # its sockets are there
    with line.near:
        p = self.splice(server, "--allow-http")     # so is the program
    line.order("drop on")                   # nothing comes through any more
"""

import ctypes
import os
import subprocess
import sys

PROGRAM = os.path.join(
    os.environ.get("abs_top_builddir") or os.path.join(
        os.path.dirname(os.environ.get("MCPSPLICE", "")), ".."),
    "contrib", "bench", "link")
NEAR = "10.77.0.1"
FAR = "10.77.0.2"
CLONE_NEWNET = 0x40000000


class Missing(Exception):
    """No line can be had here; the text says why."""


class Side:
    """Where the calling thread makes its sockets and starts its programs while
    it is in "with"; those stay there."""

    def __init__(self, path):
        self.space = open(path)

    @staticmethod
    def enter(space):
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(),
                                                   CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def __enter__(self):
        self.home = open("/proc/thread-self/ns/net")
        self.enter(self.space)
        return self

    def __exit__(self, *how):
        self.enter(self.home)
        self.home.close()


class Line:
    def __init__(self, ms=0):
        self.relay = subprocess.Popen(
            [PROGRAM, str(ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        paths = self.relay.stdout.readline().split()
        if not paths:
            why = self.relay.stderr.read().strip()
            if self.relay.wait() == 77:
                raise Missing(why)
            raise OSError(why)
        self.near, self.far = [Side(p) for p in paths]

    def order(self, text):
        """It is obeyed when this returns."""
        self.relay.stdin.write(text + "\n")
        self.relay.stdin.flush()
        said = self.relay.stdout.readline().strip()
        if said != "ok":
            raise ValueError("%s: %s" % (text, said))

    def close(self):
        self.near.space.close()
        self.far.space.close()
        self.relay.communicate()


def skip_without():
    """Ends the test program where no line can be had."""
    try:
        Line().close()
    except Missing as e:
        sys.stderr.write("SKIP: %s\n" % e)
        sys.exit(77)
