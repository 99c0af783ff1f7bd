"""A port for a program that has to be told one."""

import random
import socket


def _first_given():
    """The first port that the system gives away by itself."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            return int(f.read().split()[0])
    except OSError:
        return 32768


def free_port():
    """A port of 127.0.0.1 that nothing listens on.  The system gives it to
    nobody: what it gives may go to another test before the program that was
    told it listens."""
    first = _first_given()
    below = range(max(first - 20000, 1024), first)
    while True:
        port = random.SystemRandom().choice(below)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
