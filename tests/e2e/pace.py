"""How slow the machine is just now.

The limits in these tests are those of a machine that has little else to do.
Where one is passed, the time that a program takes to start is measured, and
the limit counts as many times as this takes longer than there.  So what is too
slow is found on a good machine, and a slow one does not fail for being slow.
"""

import os
import struct
import subprocess
import sys
import time

NORMAL = 0.03           # a start on a good machine takes half of it
SANITIZED = 5           # what sanitizers cost a program that is busy
MOST = 20
SLOW = int(os.environ.get("SLOW") or "1")       # see tests/slow
PROGRAM = os.environ.get("MCPSPLICE", "")


def has(*texts):
    """Is one of these in the program?"""
    try:
        with open(PROGRAM, "rb") as f:
            data = f.read()
    except OSError:
        return False
    return any(text in data for text in texts)


def sanitized():
    """Is the program built with a sanitizer?  Then figures mean nothing."""
    return has(b"__asan_init", b"__tsan_init", b"__ubsan_handle")


def needs_sanitizer():
    """Is the sanitizer a library, which has to be loaded before any other?
    That of clang is a part of the program."""
    return has(b"\0libasan.so.", b"\0libubsan.so.", b"\0libtsan.so.")


def checks_itself():
    """Does it look after its lists in each step (--enable-debug)?  Then that
    is what takes its time."""
    return has(b"q->bytes == bytes")


def is_windows():
    """Is it the program for Windows?  Then it is named by a script, which wine
    runs it with (tests/windows/prepare)."""
    return has(b"WINESERVER=")


def is_static():
    """Does the program start without a loader?  Then no library of a test gets
    into it.  A script or what is not ELF is none."""
    with open(PROGRAM, "rb") as f:
        data = f.read()
    if data[:4] != b"\x7fELF":
        return False
    wide = data[4] == 2
    order = "<" if data[5] == 1 else ">"
    table, = struct.unpack_from(order + ("Q" if wide else "I"), data,
                                32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", data, 54 if wide else 42)
    types = [struct.unpack_from(order + "I", data, table + n * size)[0]
             for n in range(count)]
    return 3 not in types   # PT_INTERP


def measure():
    """How many times slower than a good machine; at least 1.  Wine is a slow
    machine."""
    worst = 0
    start = ([PROGRAM, "version"] if is_windows() else
             [sys.executable, "-I", "-S", "-c", ""])
    for _ in range(3):
        begin = time.monotonic()
        subprocess.run(start, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        worst = max(worst, time.monotonic() - begin)
    slow = max(1, worst / NORMAL) * (SANITIZED if sanitized() else 1)
    return min(slow, MOST)


class Limit:
    """A time from now on, longer on a slow machine."""

    def __init__(self, seconds):
        self.begin = time.monotonic()
        self.seconds = seconds
        self.scaled = seconds <= 0

    def left(self):
        """The seconds that are left, or none or less."""
        left = self.begin + self.seconds - time.monotonic()
        if left <= 0 and not self.scaled:
            self.scaled = True
            self.seconds *= measure()
            left = self.begin + self.seconds - time.monotonic()
        return left


def within(took, seconds):
    """The limit for what took so long."""
    return seconds if took < seconds else seconds * measure()
