"""stdin in all its kinds, and frames that are none."""

import json
import os
import socket
import subprocess
import termios
import threading
import time

import support
from support import INITIALIZED, call, init, lines

TALK = lines(init(1), INITIALIZED, call(2, text="hi"))


class Kinds(support.Case):
    """The same conversation, whatever fd 0 and fd 1 are."""

    def judge(self, out, server):
        got = {m["id"]: m for m in map(json.loads, out.splitlines())}
        self.assertEqual(sorted(got), [1, 2])
        self.assertIn("result", got[1])
        self.assertEqual(got[2]["result"]["content"][0]["text"],
                         '{"text": "hi"}')
        self.assertTrue(out.endswith(b"\n"))
        self.assertEqual(len(server.executed), 1)
        self.deleted(server, server.made)

    def test_pipe(self):
        s = self.mcp()
        status, out, err = self.once([s.url], TALK)
        self.assertEqual(status, 0, err)
        self.judge(out, s)

    def test_file(self):
        s = self.mcp()
        with open(self.path("in", TALK), "rb") as f:
            status, out, err = self.once([s.url], stdin=f)
        self.assertEqual(status, 0, err)
        self.judge(out, s)

    def test_file_to_file(self):
        s = self.mcp()
        with open(self.path("in", TALK), "rb") as f, \
                open(self.path("out"), "wb") as o:
            p = self.splice(s, stdin=f, stdout=o)
            self.assertEqual(p.wait(), 0, p.err())
            p.finished = True
        with open(self.path("out"), "rb") as o:
            self.judge(o.read(), s)

    def test_file_is_appended_where_it_was(self):
        """A file opened for appending keeps what it had."""
        s = self.mcp()
        self.path("out", "before\n")
        with open(self.path("out"), "ab") as o:
            p = self.splice(s, stdout=o)
            p.send(init(1), INITIALIZED, call(2, text="hi"))
            p.close()
            self.assertEqual(p.wait(), 0, p.err())
            p.finished = True
        with open(self.path("out"), "rb") as o:
            self.assertEqual(o.readline(), b"before\n")
            self.judge(o.read(), s)

    def test_out_to_null(self):
        s = self.mcp()
        with open(os.devnull, "wb") as o:
            p = self.splice(s, stdout=o)
            p.send(init(1), INITIALIZED, call(2))
            p.close()
            self.assertEqual(p.wait(), 0, p.err())
            p.finished = True
        self.assertEqual(len(s.executed), 1)

    @support.plain
    def test_null(self):
        """/dev/null is the end at once: nothing is asked of the server."""
        s = self.mcp()
        with open(os.devnull, "rb") as f:
            begin = time.monotonic()
            status, out, err = self.once([s.url], stdin=f)
        self.assertEqual((status, out), (0, b""), err)
        self.assertEqual(s.connections, 0)
        self.within(time.monotonic() - begin, 5)

    def test_empty_pipe(self):
        s = self.mcp()
        status, out, err = self.once([s.url], b"")
        self.assertEqual((status, out, s.connections), (0, b"", 0), err)

    def test_socket(self):
        s = self.mcp()
        ours, theirs = socket.socketpair()
        p = self.splice(s, stdin=theirs, stdout=theirs)
        theirs.close()
        ours.sendall(TALK)
        ours.shutdown(socket.SHUT_WR)
        ours.settimeout(support.LIVE)
        out = b""
        while True:
            data = ours.recv(65536)
            if not data:
                break
            out += data
        ours.close()
        self.assertEqual(p.wait(), 0, p.err())
        p.finished = True
        self.judge(out, s)

    def test_terminal(self):
        s = self.mcp()
        master, slave = os.openpty()
        mode = termios.tcgetattr(slave)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, mode)
        p = self.splice(s, stdin=slave)
        try:
            os.write(master, TALK)
            p.answer(2)
            os.write(master, b"\x04")      # ^D
            self.assertEqual(p.wait(), 0, p.err())
            p.finished = True
            p.shut()
            self.judge(b"".join(line + b"\n" for line, _ in p.lines), s)
            flags = os.get_blocking(slave)
            self.assertTrue(flags, "the terminal was left non-blocking")
        finally:
            os.close(slave)
            os.close(master)

    def test_inherited_pipe_stays_blocking(self):
        s = self.mcp()
        r, w = os.pipe()
        p = self.splice(s, stdin=r)
        os.write(w, TALK)
        os.close(w)
        self.assertEqual(p.wait(), 0, p.err())
        p.finished = True
        self.assertTrue(os.get_blocking(r))
        os.close(r)

    def test_closed_descriptors(self):
        """Without fd 0, or without fd 2, nothing lands in a wrong place."""
        s = self.mcp()
        r = subprocess.run(["sh", "-c", 'exec "$0" "$1" <&-',
                            support.PROGRAM, s.url], timeout=support.LIVE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((r.returncode, r.stdout), (0, b""), r.stderr)
        r = subprocess.run(["sh", "-c", 'exec "$0" -vv "$1" 2>&-',
                            support.PROGRAM, s.url], timeout=support.LIVE,
                           input=TALK, stdout=subprocess.PIPE)
        self.assertEqual(r.returncode, 0)
        self.judge(r.stdout, s)
        self.assertTrue(all(x.version == "HTTP/1.1" for x in s.requests))

    def test_no_last_newline(self):
        s = self.mcp()
        status, out, err = self.once([s.url], TALK[:-1])
        self.assertEqual(status, 0, err)
        self.judge(out, s)

    def test_crlf_blank_lines_and_bom(self):
        s = self.mcp()
        data = b"\xef\xbb\xbf" + TALK.replace(b"\n", b"\r\n\r\n\n")
        status, out, err = self.once([s.url], data)
        self.assertEqual(status, 0, err)
        self.judge(out, s)
        self.assertFalse(any(b"\r" in x.body for x in s.requests))

    def test_byte_by_byte(self):
        s = self.mcp()
        p = self.splice(s)
        p.book(TALK)
        for i in range(len(TALK)):
            p.write(TALK[i:i + 1])
        p.answer(2)
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_many_in_one_write(self):
        s = self.mcp()
        p = self.splice(s)
        p.send(init(1), INITIALIZED, *[call(n, n=n) for n in range(2, 202)])
        for n in range(2, 202):
            self.assertEqual(p.answer(n)["result"]["content"][0]["text"],
                             '{"n": %d}' % n)
        p.finish()
        self.assertEqual(len(s.executed), 200)

    @support.plain
    def test_long_line_is_linear(self):
        """30 MB in one line, in pieces of a pipe's size."""
        s = self.mcp()
        p = self.splice(s)
        p.hello()
        s.methods["tools/call"] = lambda rx, tx: tx.result(
            {"n": len(rx.body)})
        line = json.dumps(call(2, text="x" * 30000000)).encode()
        begin = time.monotonic()
        p.send(line)
        self.assertEqual(p.answer(2)["result"]["n"], len(line))
        if not support.sanitized():
            self.within(time.monotonic() - begin, 10)
        self.assertEqual(s.executed[-1].body, line)
        self.assertIsNone(s.executed[-1].get("Expect"))


DEEP = b'{"jsonrpc":"2.0","id":9,"method":"x","params":' + \
    b'[' * 600 + b']' * 600 + b'}'

# name, line, error code, id of the answer (None: no id)
BAD = [
    ("text", b"hello", -32700, None),
    ("cut", b'{"jsonrpc":"2.0","id":9,"method":"x"', -32700, None),
    ("two", b'{"jsonrpc":"2.0","method":"x"}{"jsonrpc":"2.0","method":"x"}',
     -32700, None),
    ("nul", b'{"jsonrpc":"2.0","id":9,"method":"x\0y"}', -32700, None),
    ("nul after", b'{"jsonrpc":"2.0","id":9,"method":"x"}\0', -32700, None),
    ("deep", DEEP, -32700, None),
    ("utf-8", b'{"jsonrpc":"2.0","id":9,"method":"\xff"}', -32700, None),
    ("overlong", b'{"jsonrpc":"2.0","id":9,"method":"\xc0\xaf"}',
     -32700, None),
    ("surrogate", b'{"jsonrpc":"2.0","id":9,"method":"\xed\xa0\x80"}',
     -32700, None),
    ("single quotes", b"{'jsonrpc':'2.0','id':9,'method':'x'}", -32700, None),
    ("NaN", b'{"jsonrpc":"2.0","id":9,"method":"x","params":{"a":NaN}}',
     -32700, None),
    ("trailing comma", b'{"jsonrpc":"2.0","id":9,"method":"x",}',
     -32700, None),
    ("leading zero", b'{"jsonrpc":"2.0","id":09,"method":"x"}',
     -32700, None),
    ("raw tab", b'{"jsonrpc":"2.0","id":9,"method":"a\tb"}', -32700, None),
    ("batch", b'[{"jsonrpc":"2.0","id":9,"method":"x"}]', -32600, 9),
    ("empty batch", b'[]', -32600, None),
    ("number", b'17', -32600, None),
    ("string", b'"x"', -32600, None),
    ("null", b'null', -32600, None),
    ("id null", b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, None),
    ("id object", b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, None),
    ("id true", b'{"jsonrpc":"2.0","id":true,"method":"x"}', -32600, None),
    ("version", b'{"jsonrpc":"1.0","id":9,"method":"x"}', -32600, 9),
    ("version number", b'{"jsonrpc":2.0,"id":9,"method":"x"}', -32600, 9),
    ("no version", b'{"id":"nine","method":"x"}', -32600, "nine"),
    ("method", b'{"jsonrpc":"2.0","id":9,"method":5}', -32600, 9),
    ("nothing", b'{"jsonrpc":"2.0","id":9}', -32600, 9),
    ("empty", b'{}', -32600, None),
    ("bad note", b'{"jsonrpc":"2.0","method":{}}', -32600, None),
]


class Bad(support.Case):
    def one(self, p, line, code, ident):
        before = len(p.messages)
        p.raw(line + b"\n", answers=[] if ident is None else [ident],
              idless=1 if ident is None else 0)
        m = p.find(lambda m: "error" in m, after=before)
        self.assertIsNotNone(m, p.err()[-500:])
        self.assertEqual(m["error"]["code"], code, m)
        if ident is None:
            self.assertNotIn("id", m)
        else:
            self.assertEqual(m["id"], ident)

    def test_before_the_handshake(self):
        """As for 2025-11-25; nothing is forwarded; the next frame works."""
        s = self.mcp()
        p = self.splice(s)
        for n, (name, line, code, ident) in enumerate(BAD):
            with self.subTest(name):
                self.one(p, line, code, ident)
                # a ping works without a handshake: the next good frame
                self.assertEqual(p.ask("ping")["result"], {})
        self.assertEqual(s.connections, 0)
        p.hello()
        p.tool()
        p.finish()

    def test_after_the_handshake(self):
        s, p = self.pair()
        p.tool()
        before = len(s.requests)
        for name, line, code, ident in BAD:
            with self.subTest(name):
                self.one(p, line, code, ident)
        self.assertEqual([r for r in s.requests[before:]
                          if r.method == "POST"], [])
        p.tool()
        p.finish()

    def test_each_next_frame_works(self):
        s, p = self.pair()
        for name, line, code, ident in BAD[:8]:
            with self.subTest(name):
                self.one(p, line, code, ident)
                self.assertIn("result", p.tool(of=name))
        p.finish()

    def test_older_revision_gets_no_error_without_id(self):
        s = self.mcp()
        p = self.splice(s)
        p.hello("2025-06-18")
        for name, line, code, ident in BAD:
            p.raw(line + b"\n", answers=[] if ident is None else [ident])
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 1)
        self.assertNotEqual(p.err(), "", "nothing was logged either")

    def test_duplicate_id_in_flight(self):
        s, p = self.pair()
        gate = threading.Event()

        def hold(rx, tx):
            gate.wait(support.LIVE)
            tx.result({"first": True})
        s.methods["tools/call"] = hold
        p.send(call(7))
        self.assertTrue(s.wait(lambda: s.executed))
        p.send(call(7))
        m = p.find(lambda m: m.get("id") == 7)
        self.assertEqual(m["error"]["code"], -32600, m)
        self.assertEqual(m["error"]["data"]["reason"], "duplicate_id")
        gate.set()
        self.assertIsNotNone(p.find(lambda m: m.get("id") == 7 and
                                    m.get("result") == {"first": True}))
        self.assertEqual(len(s.executed), 1)
        p.finish()

    def test_duplicate_by_value(self):
        """An escaped string is the same id; a string is no number."""
        s, p = self.pair()
        gate = threading.Event()

        def hold(rx, tx):
            gate.wait(support.LIVE)
            tx.result({})
        s.methods["tools/call"] = hold
        p.send(call("ab"), call(1), call("1"))
        self.assertTrue(s.wait(lambda: len(s.executed) == 3))
        p.send(b'{"jsonrpc":"2.0","id":"a\\u0062","method":"tools/call"}')
        m = p.find(lambda m: "error" in m)
        self.assertEqual(m["error"]["code"], -32600, m)
        gate.set()
        p.finish()
        self.assertEqual(len(s.executed), 3)

    def test_finished_id_may_come_again(self):
        s, p = self.pair()
        for n in range(3):
            before = len(p.lines)
            p.send(call(7, n=n))
            p.big_line(least=before + 1)
        p.finish()
        self.assertEqual(len(s.executed), 3)

    def test_ids_come_back_as_written(self):
        s, p = self.pair()
        idents = [b"1.5", b"-0", b"1e3", b"123456789012345678901234567890",
                  b'"a\\u0062"', b'"\\/"', b'""', b"0", b"-7", b'"7"', b"7",
                  b'"\xc3\xa9"', b'"\\ud83d\\ude00"', b"9007199254740993"]
        for i in idents:
            p.send(b'{"jsonrpc":"2.0","id":' + i +
                   b',"method":"tools/call","params":{}}')
        p.finish()
        out = [line for line, _ in p.lines]
        for i in idents:
            self.assertTrue(any(b'"id":' + i + b"," in o or
                                b'"id": ' + i + b"," in o for o in out),
                            (i, out))

    def test_answers_nobody_asked_for(self):
        s, p = self.pair()
        p.tool()
        before = len(s.seen(method="POST"))
        p.raw(lines({"jsonrpc": "2.0", "id": 5, "result": {}},
                    {"jsonrpc": "2.0", "id": "x",
                     "error": {"code": 1, "message": "m"}},
                    {"jsonrpc": "2.0", "id": 6, "result": {},
                     "error": {"code": 1, "message": "m"}}))
        p.tool()
        p.finish()
        self.assertEqual(len(s.seen(method="POST")), before + 1)
        self.assertEqual(s.replies, [])

    def test_line_over_the_limit(self):
        s, p = self.pair("--max-message", "1000")
        line = json.dumps(call(7, text="x" * 50000)).encode()
        p.raw(line + b"\n", answers=[7])
        e = p.answer(7)["error"]
        self.assertEqual(e["code"], -32600, e)
        self.assertEqual(e["data"]["reason"], "too_large", e)
        self.assertIn("result", p.tool(text="short"))
        p.finish()
        self.assertEqual(len(s.executed), 1)

    def test_line_over_the_limit_id_last(self):
        """Without an id in sight there is at most an error without one."""
        s, p = self.pair("--max-message", "1000")
        p.raw(b'{"jsonrpc":"2.0","params":{"a":"' + b"x" * 5000 +
              b'"},"method":"tools/call"}\n')
        self.assertIn("result", p.tool(text="short"))
        p.idless = sum(1 for m in p.messages
                       if "error" in m and "id" not in m)
        p.finish()
        self.assertLessEqual(p.idless, 1)
        self.assertEqual(len(s.executed), 1)

    def test_over_the_limit_inside_an_id(self):
        """An id below params is not the message's."""
        s, p = self.pair("--max-message", "1000")
        p.raw(b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":66,'
              b'"a":"' + b"x" * 5000 + b'"}}\n')
        self.assertIn("result", p.tool(text="short"))
        self.assertIsNone(p.find(lambda m: m.get("id") == 66, 0))
        p.idless = sum(1 for m in p.messages
                       if "error" in m and "id" not in m)
        p.finish()

    @support.plain
    def test_limit_holds_without_any_newline(self):
        """A line that never ends costs no memory."""
        s, p = self.pair("--max-message", "100000")
        block = b"x" * 65536
        for _ in range(800):
            p.write(block)
        if not support.sanitized():
            self.assertLess(p.peak_kb(), 40000)
        p.raw(b"\n")
        self.assertIn("result", p.tool(text="short"))
        p.idless = sum(1 for m in p.messages
                       if "error" in m and "id" not in m)
        p.finish()

    def test_exactly_at_the_limit(self):
        s, p = self.pair("--max-message", "1000")
        m = json.dumps(call(7, text="")).encode()
        full = json.dumps(call(7, text="y" * (1000 - len(m)))).encode()
        self.assertEqual(len(full), 1000)
        p.send(full)
        self.assertIn("result", p.answer(7))
        p.finish()

    def test_batches(self):
        """Each request has its answer, up to as many as are read."""
        s = self.mcp()
        p = self.splice(s)
        p.hello("2025-03-26")
        for size in 10000, 10001:
            with self.subTest(size):
                batch = [call("b%d" % n) for n in range(size)]
                p.raw(json.dumps(batch).encode() + b"\n",
                      answers=["b%d" % n for n in range(10000)])
                self.assertEqual(p.answer("b9999")["error"]["code"], -32600)
                self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), 2)

    def test_depth_limit_is_an_option(self):
        s, p = self.pair("--max-depth", "8")
        deep = json.dumps(call(7, a=[[[[[[1]]]]]])).encode()
        p.raw(deep + b"\n", idless=1)
        m = p.find(lambda m: "error" in m)
        self.assertEqual(m["error"]["code"], -32700, m)
        self.assertIn("result", p.tool(a=[1]))
        p.finish()


if __name__ == "__main__":
    support.main()
