"""No line of a client gets a call of a hidden tool to the server, as any
parser reads it: Python's, one that takes the first of two members, one that
takes names in any case (Go).  Made of spellings that are near a call; with
E2E_LONG a hundred thousand of them.  FILTER_SEED repeats a run."""

import itertools
import json
import os
import random
import sys
import time

import support

LINES = 100000 if os.environ.get("E2E_LONG") else 2400
AT_ONCE = 50
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": MODERN,
        PREFIX + "clientInfo": {"name": "c", "version": "1"},
        PREFIX + "clientCapabilities": {"elicitation": {}}}
TOOLS = [{"name": "ok", "inputSchema": {"type": "object"},
          "annotations": {"readOnlyHint": True}},
         {"name": "hidden", "inputSchema": {"type": "object"}}]
OPTIONS = {"--ignore-tool": "hid*", "--only-tool": "ok", "--read-only": None}


# how others read a message

def first_wins(pairs):
    return dict(reversed(pairs))


def fold(name):
    """As Go compares the names of members, and without NULs."""
    return name.replace("\0", "").replace("\u017f", "s") \
        .replace("\u212a", "k").lower()


def any_case(pairs):
    """The last one counts; an object is read into the one before."""
    out = {}
    for key, value in pairs:
        old = out.get(fold(key))
        out[fold(key)] = {**old, **value} if isinstance(old, dict) and \
            isinstance(value, dict) else value
    return out


READERS = {"Python": None, "the first wins": first_wins,
           "any case": any_case}


def tools(body):
    """The names of the tools that this body calls, for somebody."""
    for reader, hook in READERS.items():
        m = json.loads(body, object_pairs_hook=hook)
        for one in m if isinstance(m, list) else [m]:
            if not isinstance(one, dict) or \
                    str(one.get("method")).rstrip("\0") != "tools/call":
                continue
            params = one.get("params")
            name = params.get("name") if isinstance(params, dict) else None
            if isinstance(name, str):
                yield reader, name.rstrip("\0").lower()


def is_hidden(option, name):
    return name.startswith("hid") if option == "--ignore-tool" else \
        name != "ok"


# the lines

class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 1000
        self.calm = 1       # how much of a line is as it should be

    def one(self, *choices):
        return self.random.choice(choices)

    def rarely(self, one_in):
        return self.random.randrange(one_in) == 0

    def times(self):
        """How often a member is there."""
        return self.one(0, 2, 3) if self.rarely(3 * self.calm) else 1

    def letters(self, text):
        """The text of a string, perhaps in another spelling."""
        if not self.rarely(4 * self.calm):
            return text
        at = self.random.randrange(len(text))
        c = text[at]
        c = self.one("\\u%04x" % ord(c), c.swapcase(), c + "\\u0000",
                     {"s": "\u017f", "k": "\u212a"}.get(c, c),
                     {"s": "\\u017F", "k": "\\u212A"}.get(c, c + " "),
                     "\\/" if c == "/" else c + "\\ud800")
        return text[:at] + c + text[at + 1:]

    def member(self, name, value):
        return '"%s"%s:%s' % (self.letters(name), self.one("", "", " "),
                              value)

    def obj(self, members):
        self.random.shuffle(members)
        return "{%s}" % self.one(",", ", ").join(members)

    def tool(self):
        return self.one('"%s"' % self.letters(self.one("ok", "ok", "hidden")),
                        '"ok"', '"ok"', '"ok"', '"ok"', '"HIDDEN"',
                        '["hidden"]', "null")

    def method(self):
        return '"%s"' % self.letters(self.one(
            "tools/call", "tools/call", "tools/call", "tools/call",
            "tools\\/call", "tools/list", "prompts/get", "notifications/x",
            "server/discover" if self.rarely(4) else "ping",
            "initialize" if self.rarely(20) else "tools/call"))

    def params(self, meta, deep=False):
        members = [self.member("name", self.tool())
                   for _ in range(self.times())]
        if meta:
            members.append('"_meta":' + json.dumps(META))
        if self.rarely(3):
            members.append(self.member("arguments", '{"name":"hidden"}'))
        if self.rarely(6):
            members += ['"requestState":"s"',
                        '"inputResponses":{"q":{"action":"accept"}}']
        if not deep and self.rarely(8):
            members.append(self.member("params", self.params(meta, True)))
        return self.obj(members)

    def message(self, meta):
        self.number += 1
        ident = self.one(str(self.number), '"a%d"' % self.number,
                         "%d.0" % self.number)
        self.calm = self.one(1, 4, 16)
        members = ['"jsonrpc":"2.0"'] if not self.rarely(40) else []
        for _ in range(self.times()):
            members.append(self.member("id", ident))
        for _ in range(self.times()):
            members.append(self.member("method", self.method()))
        for _ in range(self.times()):
            members.append(self.member("params", self.params(meta)))
        if self.rarely(20):
            members.append(self.member(self.one("result", "error"), "{}"))
        if self.rarely(20):
            members.append(self.member("jsonrpc", '"2.0"'))
        text = self.obj(members)
        return "[%s]" % text if self.rarely(30) else text

    def line(self, meta):
        data = bytearray(self.message(meta).encode())
        while self.rarely(4 * self.calm):
            at = self.random.randrange(len(data))
            data[at:at + self.one(0, 1, 1)] = self.one(
                b'"', b"{", b"}", b",", b":", b"\\", b"\0", b"\r", b"x", b"")
        return bytes(data)


class Filter(support.Case):
    def server(self, modern):
        bodies = []

        def serve(rx, tx):
            m = rx.json
            if rx.method != "POST":
                tx.body(405 if rx.method == "GET" else 200)
                return
            bodies.append(rx.body)
            if not isinstance(m, dict) or "id" not in m:
                tx.body(202)
            elif m.get("method") == "server/discover" and not modern:
                tx.error(-32601, "Method not found", 404)
            elif m.get("method") == "initialize" and modern:
                tx.error(-32022, "unsupported", 400,
                         data={"supported": [MODERN]})
            else:
                tx.result({"resultType": "complete", "tools": TOOLS,
                           "supportedVersions": [MODERN],
                           "protocolVersion": "2025-11-25",
                           "capabilities": {"tools": {}},
                           "serverInfo": {"name": "s", "version": "1"}})
        return self.http(serve), bodies

    def feed(self, option, value, modern_client, modern_server, n):
        seed = int(os.environ.get("FILTER_SEED", time.time_ns() % 10**9))
        s, bodies = self.server(modern_server)
        p = self.splice(s, "--no-memory", option, *[value] if value else [])
        meta = {"_meta": META} if modern_client else {}
        if not modern_client:
            p.hello()
        p.ask("tools/list", meta)
        maker = Maker(seed)
        for _ in range(n // AT_ONCE):
            p.raw(b"\n".join(maker.line(modern_client)
                             for _ in range(AT_ONCE)) + b"\n")
            # it has read them, and there is room again
            p.ask("tools/list", meta)
        p.kill()
        bodies = list(bodies)
        bad = [(reader, body) for body in bodies
               for reader, name in tools(body) if is_hidden(option, name)]
        self.assertEqual(bad[:3], [], "FILTER_SEED=%d %s %s" % (
            seed, option, (modern_client, modern_server)))
        return sum(any(True for _ in tools(b)) for b in bodies)

    def test_no_call_of_a_hidden_tool(self):
        """Each option, and clients and servers of both eras."""
        ways = list(itertools.product(OPTIONS.items(), (False, True),
                                      (False, True)))
        called = 0
        for (option, value), client, server in ways:
            called += self.feed(option, value, client, server,
                                LINES // len(ways))
        # and the lines are worth something: calls of "ok" arrive
        self.assertGreater(called, LINES // 20)


if __name__ == "__main__":
    sys.exit(support.main())
