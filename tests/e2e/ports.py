"""A port for a program that has to be told one, or for a server that goes away
and comes back: nobody else gets it meanwhile.
"""

import collections
import errno
import random
import socket
import sys
import threading

BLOCK = 200     # ports that a test takes at once
MOST = 5        # blocks of one test; then its oldest ports come again

_names = []     # what keeps other tests off our blocks
_ours = []
_next = collections.deque()
_lock = threading.Lock()


def _first_given():
    """The first port that the system gives away by itself."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            return int(f.read().split()[0])
    except OSError:
        return 32768


def _take(block):
    """Is it ours until we end?  A name that only Linux has tells the others;
    elsewhere chance has to do."""
    if sys.platform == "linux":
        s = socket.socket(socket.AF_UNIX)
        try:
            s.bind("\0mcpsplice-test-ports-%d" % block)
        except OSError:
            s.close()
            return False
        _names.append(s)
    _ours.extend(range(block, block + BLOCK))
    _next.extend(_ours[-BLOCK:])
    return True


def _take_any():
    """The ports are below those that the system gives away, so that they are
    no program's by accident, at either end of a connection."""
    first = _first_given()
    blocks = list(range(max(first - 100 * BLOCK, 1024), first - BLOCK, BLOCK))
    random.SystemRandom().shuffle(blocks)
    if len(_ours) >= MOST * BLOCK or not any(map(_take, blocks)):
        _next.extend(_ours)
    if not _next:
        raise OSError("other tests have all blocks of ports")


def bound(address):
    """A socket that has a port and does not listen: connects are refused."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(address)
    return s


def _is_left(port):
    """Is it that of a connection which ended a moment ago?  For a minute no
    program can listen there that does not set SO_REUSEADDR."""
    end = ":%04X" % port
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(name) as f:
                if any(line.split()[1].endswith(end) for line in f):
                    return True
        except OSError:
            pass
    return False


def free_port(host="127.0.0.1", reuses=False):
    """A port that nothing listens on, and that no other test was given.
    reuses: whoever listens there sets SO_REUSEADDR, as bound() does."""
    with _lock:
        while True:
            if not _next:
                _take_any()
            port = _next.popleft()
            if not reuses and _is_left(port):
                continue
            try:
                # A process that another thread starts just now may hold this
                # socket for a moment longer; it is in no one's way.
                bound((host, port)).close()
                return port
            except OSError as e:
                if e.errno != errno.EADDRINUSE:
                    raise
