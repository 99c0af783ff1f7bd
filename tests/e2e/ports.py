"""A port for a program that has to be told one."""

import random
import socket
import sys

_taken = []     # what keeps other tests off the ports that this one was given


def _first_given():
    """The first port that the system gives away by itself."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            return int(f.read().split()[0])
    except OSError:
        return 32768


def _take(port):
    """Is it ours until we end?  A name that only Linux has tells the others;
    elsewhere chance has to do."""
    if sys.platform != "linux":
        return True
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind("\0mcpsplice-test-port-%d" % port)
    except OSError:
        s.close()
        return False
    _taken.append(s)
    return True


def free_port():
    """A port of 127.0.0.1 that nothing listens on, and that no other test was
    given.  The system gives it to nobody: what it gives may go to another test
    before the program that was told it listens."""
    first = _first_given()
    below = range(max(first - 20000, 1024), first)
    while True:
        port = random.SystemRandom().choice(below)
        if not _take(port):
            continue
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
