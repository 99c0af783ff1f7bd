"""Bodies and ids of every message, and answers of every shape."""

import gzip
import json
import threading
import time
import zlib

import support
from support import call, note


class Bytes(support.Case):
    """Messages arrive as they were sent, in both directions."""

    TRICKY = (b'{"z":1,"a":1.0,"big":123456789012345678901234567890,'
              b'"neg":-0,"exp":1E+2,"dup":1,"dup":2,"esc":"\\u00e9\\/\\n",'
              b'"lone":"\\ud800","utf":"\xc3\xa9\xf0\x9f\x98\x80",'
              b'"nul":"\\u0000","pad" :  [ 1 ,2 ] ,"id":9,"method":"no",'
              b'"e":{},"l":[],"t":true,"n":null}')

    def test_to_the_server(self):
        s, p = self.pair()
        frames = [
            b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":' +
            self.TRICKY + b'}',
            b'{"params":' + self.TRICKY + b',"method":"tools/call",'
            b'"id" : "five" , "jsonrpc":"2.0", "extra":[1e400]}',
            b'  {"jsonrpc":"2.0","id":6,"method":"tools/call"}  ',
            b'{"jsonrpc":"2.0","id":7,"method":"tools\\/call"}']
        for f in frames:
            p.send(f)
        p.finish()
        bodies = [r.body.strip() for r in s.executed]
        for f in frames:
            self.assertIn(f.strip(), bodies)

    def test_notification_to_the_server(self):
        s, p = self.pair()
        f = b'{"jsonrpc":"2.0","method":"notifications/x","params":' + \
            self.TRICKY + b'}'
        p.send(f)
        self.assertTrue(s.wait(lambda: s.seen("notifications/x")))
        self.assertEqual(s.seen("notifications/x")[0].body, f)
        p.finish()

    def test_initialize_to_the_server(self):
        s = self.mcp()
        p = self.splice(s)
        f = b'{"jsonrpc":"2.0","id":"\\u0069","method":"initialize",' \
            b'"params":{"protocolVersion":"2025-11-25","capabilities":' + \
            self.TRICKY + b',"clientInfo":{"name":"x","version":"1"}}}'
        p.send(f)
        p.find(lambda m: "result" in m)
        p.finish()
        self.assertEqual(s.requests[0].body, f)
        self.assertIn(b'"id":"\\u0069"',
                      p.lines[0][0].replace(b'"id": ', b'"id":'))

    def answers(self, body, sse=False):
        s, p = self.pair()

        def reply(rx, tx):
            if sse:
                tx.sse()
                tx.event(body)
            else:
                tx.json(body)
        s.methods["tools/call"] = reply
        p.send(call(2))
        p.answer(2)
        p.finish()
        return p.lines[-1][0]

    def test_from_the_server_json(self):
        body = b'{"jsonrpc":"2.0","id":2,"result":' + self.TRICKY + b'}'
        self.assertEqual(self.answers(body), body)

    def test_from_the_server_sse(self):
        body = b'{"result":' + self.TRICKY + b', "id":2,"jsonrpc":"2.0"}'
        self.assertEqual(self.answers(body, True), body)

    def test_errors_pass_as_they_are(self):
        body = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32050,"message":' \
            b'"a\\u0062 ","data":' + self.TRICKY + b'},"x":0.10}'
        self.assertEqual(self.answers(body), body)

    def test_server_notifications_pass_as_they_are(self):
        s, p = self.pair()
        body = b'{"method":"notifications/message","jsonrpc":"2.0",' \
            b'"params":' + self.TRICKY + b'}'

        def reply(rx, tx):
            tx.sse()
            tx.event(body)
            tx.answer({})
        s.methods["tools/call"] = reply
        p.tool()
        p.finish()
        self.assertIn(body, [line for line, _ in p.lines])

    def test_pretty_printed_becomes_one_line(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 2,
                           "result": {"a": [1, {"b": "c\nd"}]}},
                          indent=4).replace("\n", "\r\n").encode()
        line = self.answers(body)
        self.assertNotIn(b"\r", line)
        self.assertEqual(line.strip(),
                         body.replace(b"\r", b" ").replace(b"\n", b" "))

    def test_pretty_printed_sse(self):
        """Several data: lines are joined by LF, which becomes a space."""
        s, p = self.pair()

        def reply(rx, tx):
            tx.sse()
            text = json.dumps({"jsonrpc": "2.0", "id": rx.json["id"],
                               "result": {"a": [1, 2]}}, indent=1)
            tx.chunk("".join("data: %s\n" % x for x in text.split("\n")) +
                     "\n")
        s.methods["tools/call"] = reply
        self.assertEqual(p.tool()["result"], {"a": [1, 2]})
        p.finish()

    def test_white_space_around_it(self):
        body = b'{"jsonrpc":"2.0","id":2,"result":{"a": 1 } }'
        for sse in (False, True):
            self.assertEqual(self.answers(b" \t" + body + b" \t", sse), body)
        self.assertEqual(self.answers(b"\r\n" + body + b"\n"), body)

    def test_what_some_take_for_the_end_of_a_line(self):
        body = ('{"jsonrpc":"2.0","id":2,"result":{"\u2028":"a\u2029\u0085'
                '\u2027"}}').encode()
        want = (b'{"jsonrpc":"2.0","id":2,"result":{"\\u2028":"a\\u2029'
                b'\\u0085\xe2\x80\xa7"}}')
        for sse in (False, True):
            self.assertEqual(self.answers(body, sse), want)

    def test_null_for_arguments(self):
        s, p = self.pair()
        f = b'{"jsonrpc":"2.0","id":5,"method":"%s","params":{"name":"a",' \
            b'"arguments":%s}}'
        for method in (b"tools/call", b"prompts/get"):
            p.send(f % (method, b"null"))
            self.assertTrue(s.wait(lambda: s.seen(method.decode())))
            self.assertEqual(s.seen(method.decode())[0].body,
                             f % (method, b"{}"))
        p.finish()

    def test_bad_utf8_from_the_server(self):
        body = b'{"jsonrpc":"2.0","id":2,"result":{"t":"a\xffb\xc3"}}'
        for sse in (False, True):
            line = self.answers(body, sse)
            self.assertEqual(json.loads(line)["result"]["t"],
                             "a\ufffdb\ufffd")

    def test_bom_of_a_json_body(self):
        line = self.answers(
            b'\xef\xbb\xbf{"jsonrpc":"2.0","id":2,"result":{}}')
        self.assertEqual(json.loads(line)["result"], {})


class Labels(support.Case):
    """An answer that is there is taken, whatever its type is said to be."""

    TYPES = (None, "application/json", "text/event-stream", "text/html",
             "text/plain; charset=utf-8", "application/octet-stream",
             "application/json, application/json", "application/json-rpc")
    JSON = ("%s", " \r\n\t%s\n", "\ufeff%s", "\ufeff\n%s")
    EVENTS = ("data: %s\n\n", "event: message\ndata: %s\n\n", ": x\n\ndata:%s\n\n",
              "id: 1\r\ndata: %s\r\n\r\n", "retry: 5\n\ndata: %s\n\n",
              "\n\n\ufeffdata: %s\n\n")

    def reply(self, shape, ctype, status=200, step=None, **message):
        def fn(rx, tx):
            text = json.dumps({"jsonrpc": "2.0", "id": rx.json["id"],
                               **message})
            data = (shape % text).encode()
            tx.head(status, [("Content-Type", ctype)] if ctype else [])
            for i in range(0, len(data), step or len(data)):
                tx.chunk(data[i:i + (step or len(data))])
        return fn

    def test_of_a_result(self):
        s, p = self.pair()
        for ctype in self.TYPES:
            for shape in self.JSON + self.EVENTS:
                for step in (None, 1):
                    with self.subTest(ctype, shape=shape, step=step):
                        s.methods["tools/call"] = self.reply(
                            shape, ctype, step=step, result={"n": 1})
                        self.assertEqual(p.tool().get("result"), {"n": 1})
        p.finish()

    def test_of_an_error(self):
        s, p = self.pair()
        error = {"code": -32050, "message": "not today"}
        for status in (200, 400, 422, 500):
            for ctype in self.TYPES:
                for shape in self.JSON[1:] + self.EVENTS[1:3]:
                    with self.subTest(status, ctype=ctype, shape=shape):
                        s.methods["tools/call"] = self.reply(
                            shape, ctype, status, error=error)
                        self.assertEqual(p.tool()["error"], error)
        p.finish()

    def test_of_a_handshake(self):
        for ctype in ("text/event-stream", "text/plain"):
            s = self.mcp()
            s.methods["initialize"] = lambda rx, tx: self.reply(
                "%s", ctype, result=s.init_result(rx))(rx, tx)
            p = self.splice(s)
            p.hello()
            self.assertIn("result", p.tool())
            p.finish()

    def test_of_a_listen_stream(self):
        s = self.mcp()
        gate = threading.Event()

        def stream(rx, tx):
            tx.head(200, [("Content-Type", "application/octet-stream")])
            tx.event(note("notifications/tools/list_changed"))
            gate.wait(support.LIVE)
        s.on_get = stream
        p = self.splice(s)
        p.hello()
        p.find(lambda m: m.get("method") ==
               "notifications/tools/list_changed")
        gate.set()
        p.finish()

    def test_a_page_is_none(self):
        """A page may begin with a brace, and may hold an answer."""
        s, p = self.pair()
        for shape in ("<p>%s", "{{ title }}<p>%s", "<!-- \n\ndata: %s\n\n"):
            with self.subTest(shape):
                s.methods["tools/call"] = self.reply(shape, "text/html",
                                                     result={})
                e = self.our_error(p.tool())
                self.assertIn("web page", e["message"])
        p.finish()

    def test_none_is_named(self):
        s, p = self.pair()
        for ctype, words in ((None, "no Content-Type"),
                             ("image/png", "image/png"),
                             ("text/plain", "text/plain"),
                             ("application/json", "application/json")):
            with self.subTest(ctype):
                s.methods["tools/call"] = lambda rx, tx: tx.body(
                    200, "done", ctype)
                e = self.our_error(p.tool(), ran="maybe")
                self.assertIn("(200, %s)" % words, e["message"])
        for data in ("", " \r\n"):
            s.methods["tools/call"] = lambda rx, tx: tx.json(data)
            e = self.our_error(p.tool(), ran="maybe")
            self.assertIn("sent no answer", e["message"])
        p.finish()

    def test_blanks_without_an_end(self):
        """They count like bytes of an answer."""
        s = self.mcp()
        p = self.splice(s, "--max-message", "1M")
        p.hello()

        def blanks(rx, tx):
            tx.head(200, [("Content-Type", "application/json")])
            while not tx.gone():
                tx.chunk(b" " * 65536)
        s.methods["tools/call"] = blanks
        self.our_error(p.tool(), "too_large")
        p.finish()


class Answers(support.Case):
    def test_own_id_comes_back(self):
        """Servers re-encode ids; the client must not notice."""
        s, p = self.pair()
        # what the client writes, what the server makes of it
        for mine, theirs in ((b'"a\\u0062"', b'"ab"'), (b"1.0", b"1"),
                             (b"31", b"31.0"), (b"1e1", b"10"),
                             (b'"\\/x"', b'"/x"'), (b"77", b'"77"'),
                             (b'"78"', b"78"), (b"-0", b"0"),
                             (b'"\xc3\xa9"', b'"\\u00e9"'),
                             (b"12345678901234567890",
                              b"12345678901234567000"),
                             (b"6", b'"server-error"')):
            for sse in (False, True):
                with self.subTest("%r %r" % (mine, theirs), sse=sse):
                    body = b'{"jsonrpc":"2.0","id":' + theirs + \
                        b',"result":{"x":1.0}}'

                    def reply(rx, tx):
                        if sse:
                            tx.sse()
                            tx.event(body)
                        else:
                            tx.json(body)
                    s.methods["tools/call"] = reply
                    before = len(p.lines)
                    p.send(b'{"jsonrpc":"2.0","id":' + mine +
                           b',"method":"tools/call"}')
                    line = p.big_line(least=before + 1)[0]
                    self.assertEqual(line, body.replace(
                        b'"id":' + theirs, b'"id":' + mine))
        p.finish()

    def test_content_types(self):
        s, p = self.pair()
        for ctype in ("application/json; charset=utf-8", "Application/JSON",
                      "application/json;charset=UTF-8 ; x=y"):
            s.methods["tools/call"] = lambda rx, tx: tx.json(
                {"jsonrpc": "2.0", "id": rx.json["id"], "result": {}},
                ctype=ctype)
            with self.subTest(ctype):
                self.assertEqual(p.tool()["result"], {})
        for ctype in ("text/event-stream; charset=utf-8",
                      "Text/Event-Stream;x"):
            def reply(rx, tx):
                tx.head(200, [("Content-Type", ctype)])
                tx.answer({})
            s.methods["tools/call"] = reply
            with self.subTest(ctype):
                self.assertEqual(p.tool()["result"], {})
        p.finish()

    def test_json_error_bodies_of_any_status(self):
        s, p = self.pair()
        for status in (400, 403, 404, 409, 422, 500):
            s.methods["tools/call"] = lambda rx, tx: tx.error(
                -32050, "not today", status, {"k": status})
            with self.subTest(status):
                self.assertEqual(p.tool()["error"],
                                 {"code": -32050, "message": "not today",
                                  "data": {"k": status}})
        p.finish()
        self.assertEqual([r.sid for r in s.seen("tools/call")],
                         s.made[:1] * 6)
        # The 4xx but 403 leave it open whether the session lives. The 404 is
        # the likeliest loss: it costs more witnesses, and a second session.
        self.assertEqual(sorted(r.rpc for r in s.witnesses),
                         ["ping"] * 6 + ["tools/list"])
        self.assertEqual(s.inits(), 2)
        self.assertEqual(s.deleted, s.made[::-1])

    def test_error_without_id_is_the_answer(self):
        s, p = self.pair()
        for ident in (None, "server-error"):
            s.methods["tools/call"] = lambda rx, tx: tx.error(
                -32050, "no", 400, id=ident)
            with self.subTest(ident):
                self.assertEqual(p.tool()["error"]["code"], -32050)
        s.methods["tools/call"] = lambda rx, tx: tx.json(
            b'{"jsonrpc":"2.0","error":{"code":-5,"message":"x"}}', 400)
        self.assertEqual(p.tool()["error"]["code"], -5)
        p.finish()

    def test_no_json_rpc_at_all(self):
        """Every answer that is none becomes an error of our own."""
        s, p = self.pair()
        cases = {
            "page": lambda rx, tx: tx.body(
                200, "<html>sign in</html>", "text/html"),
            "text 500": lambda rx, tx: tx.text(500, "oops"),
            "empty 200": lambda rx, tx: tx.body(200),
            "204": lambda rx, tx: tx.body(204),
            "not json": lambda rx, tx: tx.json(b"{oops"),
            "json, no message": lambda rx, tx: tx.json(b'{"a":1}'),
            "json number": lambda rx, tx: tx.json(b"5"),
            "empty array": lambda rx, tx: tx.json(b"[]"),
            "empty sse": lambda rx, tx: tx.sse(),
            "png": lambda rx, tx: tx.body(200, b"\x89PNG", "image/png"),
            "too deep": lambda rx, tx: tx.json(
                b'{"jsonrpc":"2.0","id":%d,"result":' % rx.json["id"] +
                b"[" * 600 + b"]" * 600 + b"}"),
            "2.0 missing": lambda rx, tx: tx.json(
                {"id": rx.json["id"], "result": {}}),
            "both": lambda rx, tx: tx.json(
                {"jsonrpc": "2.0", "id": rx.json["id"], "result": {},
                 "error": {"code": 1, "message": "x"}}),
        }
        for name, fn in cases.items():
            s.methods["tools/call"] = fn
            with self.subTest(name):
                e = self.our_error(p.tool())
                self.assertIn("127.0.0.1", e["message"])
                if name == "text 500":
                    self.assertEqual(e["data"]["httpStatus"], 500)
                if name == "page":
                    self.assertEqual(e["data"]["reason"], "bad_upstream")
                    self.assertIn("web page", e["message"])
        s.methods["tools/call"] = s.tool
        self.assertIn("result", p.tool())
        p.finish()
        self.assertEqual(len(s.executed), len(cases) + 1)

    def array(self, version):
        """Two calls that are answered by an array: the answers."""
        s = self.mcp(version=version)
        p = self.splice(s)
        p.hello(version)
        answers = []
        for sse in (False, True):
            def reply(rx, tx):
                body = [note("notifications/message",
                             {"level": "info", "data": "[{"}),
                        {"jsonrpc": "2.0", "id": rx.json["id"],
                         "result": {"a": [1]}}]
                if sse:
                    tx.sse()
                    tx.event(body)
                else:
                    tx.json(json.dumps(body, indent=2))
            s.methods["tools/call"] = reply
            answers.append(p.tool())
        p.finish()
        return p, answers

    def test_json_array_becomes_lines(self):
        p, answers = self.array("2025-03-26")
        self.assertEqual([m.get("result") for m in answers],
                         [{"a": [1]}, {"a": [1]}])
        self.assertEqual(p.count_messages("notifications/message"), 2)

    def test_json_array_that_the_version_does_not_have(self):
        p, answers = self.array("2025-06-18")
        for m in answers:
            self.our_error(m, ran="maybe")
        self.assertEqual(p.count_messages("notifications/message"), 0)

    def test_routed_by_content(self):
        """An answer may come on another call's stream."""
        s, p = self.pair()
        gate = threading.Event()
        first = {}

        def reply(rx, tx):
            tx.sse()
            if not first:
                first["id"] = rx.json["id"]
                gate.wait(support.LIVE)
                tx.answer({"on": "own"})
                return
            tx.event({"jsonrpc": "2.0", "id": rx.json["id"],
                      "result": {"on": "second"}})
        s.methods["tools/call"] = reply
        a = p.start("tools/call", {})
        self.assertTrue(s.wait(lambda: first))

        def other(rx, tx):
            tx.sse()
            tx.event({"jsonrpc": "2.0", "id": first["id"],
                      "result": {"on": "other"}})
            tx.answer({"on": "own"})
        s.methods["tools/list"] = other
        self.assertEqual(p.ask("tools/list")["result"], {"on": "own"})
        self.assertEqual(p.answer(a)["result"], {"on": "other"})
        gate.set()      # the late second answer is swallowed
        p.tool()
        p.finish()

    def test_accepted_and_answered_on_the_get_stream(self):
        s = self.mcp()
        s.on_get = s.listen
        p = self.splice(s)
        p.hello()
        get = s.stream()
        s.methods["tools/call"] = lambda rx, tx: tx.body(202)
        a = p.start("tools/call", {})
        self.assertTrue(s.wait(lambda: s.executed))
        self.settle(0.2)
        get.event({"jsonrpc": "2.0", "id": a, "result": {"late": 1}})
        self.assertEqual(p.answer(a)["result"], {"late": 1})
        p.finish()

    def test_accepted_without_a_get_stream(self):
        s, p = self.pair()
        s.methods["tools/call"] = lambda rx, tx: tx.body(202)
        self.our_error(p.tool(), ran="maybe")
        p.finish()

    def test_two_answers_are_one(self):
        s, p = self.pair()

        def twice(rx, tx):
            tx.sse()
            tx.answer({"n": 1})
            tx.answer({"n": 2})
        s.methods["tools/call"] = twice
        self.assertEqual(p.tool()["result"], {"n": 1})
        p.tool()
        p.finish()

    def test_close_per_answer(self):
        """A server without keep-alive is as good as another."""
        s = self.mcp()

        def closing(rx, tx):
            data = json.dumps({"jsonrpc": "2.0", "id": rx.json["id"],
                               "result": {}}).encode()
            tx.raw(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n"
                   b"\r\n" + data)
            tx.cut()
        s.methods["tools/call"] = closing
        p = self.splice(s)
        p.hello()
        for _ in range(3):
            self.assertEqual(p.tool()["result"], {})
        p.finish()

    def test_interim_responses(self):
        s, p = self.pair()

        def interim(rx, tx):
            tx.raw(b"HTTP/1.1 100 Continue\r\n\r\n"
                   b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            tx.result({})
        s.methods["tools/call"] = interim
        self.assertEqual(p.tool()["result"], {})
        p.finish()


class Codings(support.Case):
    """What Content-Encoding says of a body."""

    def reply(self, coding, pack, sse=False):
        def fn(rx, tx):
            text = json.dumps({"jsonrpc": "2.0", "id": rx.json["id"],
                               "result": {"x": "y" * 5000}})
            data = pack(("data: %s\n\n" % text if sse else text).encode())
            tx.body(200, data, "text/event-stream" if sse else
                    "application/json", [("Content-Encoding", coding)])
        return fn

    def test_asked_for_by_the_option_only(self):
        s = self.mcp()
        for args in ([], ["--compressed"]):
            p = self.splice(s, *args)
            p.hello()
            p.tool()
            p.finish()
        asked = [r.get("Accept-Encoding") for r in s.executed]
        self.assertEqual(asked[0], "identity")
        self.assertIn("gzip", asked[1])

    def test_unasked(self):
        for args in ([], ["--compressed"]):
            s, p = self.pair(*args)
            for coding, pack in (
                    ("gzip", gzip.compress), ("X-GZip", gzip.compress),
                    ("deflate", zlib.compress), ("identity", bytes),
                    ("gzip, gzip",
                     lambda b: gzip.compress(gzip.compress(b)))):
                for sse in (False, True):
                    with self.subTest(coding, sse=sse):
                        s.methods["tools/call"] = self.reply(coding, pack,
                                                             sse)
                        self.assertEqual(p.tool()["result"]["x"], "y" * 5000)
            p.finish()

    def test_of_what_is_read_late(self):
        """Answers that are paused are decoded all the same."""
        s, p = self.pair("--max-result", "0")
        words = "".join("%x " % (n * n) for n in range(400000))
        s.methods["tools/call"] = lambda rx, tx: tx.json(
            gzip.compress(json.dumps({
                "jsonrpc": "2.0", "id": rx.json["id"],
                "result": {"x": words}}).encode(), 1),
            headers=[("Content-Encoding", "gzip")])
        for ident in [p.start("tools/call", {}) for _ in range(20)]:
            self.assertEqual(p.answer(ident)["result"]["x"], words)
        p.finish()

    def test_events_come_at_once(self):
        s, p = self.pair("--compressed")
        gate = threading.Event()

        def reply(rx, tx):
            z = zlib.compressobj(wbits=31)

            def event(m):
                tx.chunk(z.compress(("data: %s\n\n" % json.dumps(m)).encode()) +
                         z.flush(zlib.Z_SYNC_FLUSH))
            tx.sse(headers=[("Content-Encoding", "gzip")])
            event(note("notifications/message", {"level": "info",
                                                 "data": "first"}))
            gate.wait(support.LIVE)
            event({"jsonrpc": "2.0", "id": rx.json["id"], "result": {}})
            tx.chunk(z.flush())
        s.methods["tools/call"] = reply
        ident = p.start("tools/call", {})
        self.assertIsNotNone(p.find(
            lambda m: m.get("method") == "notifications/message"))
        gate.set()
        self.assertEqual(p.answer(ident)["result"], {})
        p.finish()

    def test_counts_what_is_decoded(self):
        s, p = self.pair("--max-message", "1M")
        for sse in (False, True):
            s.methods["tools/call"] = lambda rx, tx: tx.body(
                200, gzip.compress((b"data: " if sse else b"") + b'{"x":"' +
                                   b"y" * 50000000),
                "text/event-stream" if sse else "application/json",
                [("Content-Encoding", "gzip")])
            with self.subTest(sse=sse):
                self.our_error(p.tool(), "too_large")
                if not support.sanitized():
                    self.assertLess(p.peak_kb(), 50000)
        p.finish()

    def test_that_is_none(self):
        """What is no coding changes nothing, at the latest from the second
        answer on."""
        s = self.mcp(init_headers=[("Content-Encoding", "UTF-8")])
        p = self.splice(s)
        p.hello()
        s.methods["tools/call"] = self.reply("utf-8", bytes)
        self.assertEqual(p.tool()["result"]["x"], "y" * 5000)
        p.finish()

    def test_that_is_unknown_or_broken(self):
        for coding, pack in (("exi", lambda b: b"\0\1\2"),
                             ("gzip", bytes),
                             ("gzip", lambda b: gzip.compress(b)[:10] +
                              b"\xff" * 100)):
            with self.subTest(coding, pack=pack):
                s, p = self.pair()
                s.methods["tools/call"] = self.reply(coding, pack)
                e = self.our_error(p.tool(), "bad_upstream", "maybe")
                self.assertIn("Content-Encoding", e["message"])
                self.assertIn(coding, e["message"])
                s.methods["tools/call"] = s.tool
                self.assertIn("result", p.tool())
                p.finish()


class Sse(support.Case):
    """The event stream as a server may write it."""

    def stream(self, text):
        s, p = self.pair()

        def reply(rx, tx):
            tx.sse()
            data = text.replace("@", str(rx.json["id"])).encode()
            for i in range(0, len(data)):
                tx.chunk(data[i:i + 1])
        s.methods["tools/call"] = reply
        m = p.tool()
        p.finish()
        return m, p

    ANSWER = '{"jsonrpc":"2.0","id":@,"result":{"a":"b: c"}}'

    def good(self, text):
        m, p = self.stream(text)
        self.assertEqual(m.get("result"), {"a": "b: c"}, p.err())
        return p

    def test_line_ends(self):
        for end in ("\n", "\r\n", "\r"):
            with self.subTest(repr(end)):
                self.good("event: message%sdata: %s%s%s" %
                          (end, self.ANSWER, end, end))

    def test_bom_comments_and_unknown_fields(self):
        self.good("\ufeff: hi\n\n:\n\nfoo: bar\nnothing\ndata:%s\n\n" %
                  self.ANSWER)

    def test_empty_data_and_other_types(self):
        self.good("id: 1\ndata: \n\ndata\n\nevent: endpoint\ndata: /x\n\n"
                  "event: ping\ndata: {\n\ndata: %s\n\n" % self.ANSWER)

    def test_rubbish_keeps_the_stream(self):
        self.good("data: {oops\n\ndata: 5\n\ndata: %s\n\n" % self.ANSWER)

    def test_partial_event_is_no_event(self):
        for text in ("data: " + self.ANSWER[:-1] + "\n",
                     "event: x\ndata: " + self.ANSWER.replace("@", "999"),
                     "data: " + self.ANSWER + "}"):
            with self.subTest(text):
                m, p = self.stream("data: {oops\n\n" + text)
                if text.endswith("}}}"):    # what is whole was taken
                    self.assertEqual(m.get("result"), {"a": "b: c"})
                else:
                    self.our_error(m, "stream_lost", "maybe")

    def test_answer_without_the_end_of_its_event(self):
        """Whatever becomes of the stream then."""
        s, p = self.pair()
        pretty = json.dumps(json.loads(self.ANSWER.replace("@", '"@"')),
                            indent=1).replace('"@"', "@")
        for text in ("data: " + self.ANSWER, "data:" + self.ANSWER + " \r\n",
                     "event: message\ndata: " + self.ANSWER + "\n",
                     "id: 7\ndata: " + self.ANSWER + "\n",
                     "".join("data: %s\n" % x for x in pretty.split("\n"))):
            for end in ("open", "end", "cut"):
                for step in (None, 1):
                    with self.subTest(text, end=end, step=step):
                        told = threading.Event()

                        def reply(rx, tx):
                            data = text.replace("@", str(rx.json["id"]))
                            tx.sse()
                            for i in range(0, len(data), step or len(data)):
                                tx.chunk(data[i:i + (step or len(data))])
                            if end == "open":
                                told.wait(support.LIVE)
                            elif end == "cut":
                                tx.cut()
                        s.methods["tools/call"] = reply
                        m = p.tool()
                        told.set()
                        self.assertEqual(m.get("result"), {"a": "b: c"})
        p.finish()

    def test_answer_in_an_event_of_another_type(self):
        error = '{"jsonrpc":"2.0","id":@,"error":{"code":-7,"message":"x"}}'
        for text in ("event: error\ndata: %s\n\n" % error,
                     "data: %s\nevent: failure\n\n" % error,
                     "event: error\ndata: %s" % error):
            with self.subTest(text):
                m, p = self.stream(
                    "event: x\ndata: %s\n\n" % error.replace("@", "999") +
                    'event: x\ndata: {"jsonrpc":"2.0","method":"x"}\n\n' +
                    text)
                self.assertEqual(m["error"], {"code": -7, "message": "x"})
                self.assertEqual(p.count_messages("x"), 0)

    def test_error_without_an_id(self):
        """It is the answer if the stream ends without another."""
        s, p = self.pair()
        stray = '{"jsonrpc":"2.0",%s"error":{"code":-%d,"message":"x"}}'
        first, last = (stray % ("", 5), stray % ('"id":null,', 6))
        for text, want in (
                ("data: %s\n\ndata: %s\n\n" % (first, self.ANSWER), None),
                ("data: %s\n\nevent: error\ndata: %s\n\n: x\n\ndata: %s\n\n" %
                 (first, last, self.ANSWER), None),
                ("data: %s\n\ndata: %s\n\n" % (self.ANSWER, first), None),
                ("data: %s\n\n" % first, -5),
                ("data: %s\n\ndata: %s\n\n" % (first, last), -6),
                ("event: error\ndata: %s\n\n" % last, -6),
                ("data: %s" % last, -6)):
            for end in ("end", "cut"):
                with self.subTest(text, end=end):
                    def reply(rx, tx):
                        tx.sse()
                        tx.chunk(text.replace("@", str(rx.json["id"])))
                        if end == "cut":
                            tx.cut()
                    s.methods["tools/call"] = reply
                    m = p.tool()
                    if want is None:
                        self.assertEqual(m.get("result"), {"a": "b: c"})
                    else:
                        self.assertEqual(m["error"]["code"], want)
        p.finish()
        self.assertFalse([m for m in p.messages
                          if m and m.get("id", 0) is None])

    @support.plain
    def test_braces_are_linear(self):
        """Each piece may be the end of the answer."""
        s, p = self.pair()
        n = 30000

        def reply(rx, tx):
            tx.sse()
            tx.chunk('data: {"jsonrpc":"2.0","id":%d,"result":{"a":[{}' %
                     rx.json["id"])
            for _ in range(n):
                tx.chunk("," + "{}," * 30 + "{}")
            tx.chunk("]}}\n\n")
        s.methods["tools/call"] = reply
        begin = time.monotonic()
        self.assertEqual(len(p.tool()["result"]["a"]), 31 * n + 1)
        if not support.sanitized():
            self.within(time.monotonic() - begin, 10)
        p.finish()


class Big(support.Case):
    @support.plain
    @support.alone
    def test_one_event_of_100_mb(self):
        s, p = self.pair("--max-result", "0", "--max-message", "200M")
        size = 100 * 1000 * 1000

        def big(rx, tx):
            head = b'data: {"jsonrpc":"2.0","id":%d,"result":{"x":"' % \
                rx.json["id"]
            block = b"y" * 1000000
            tx.sse()
            tx.chunk(head)
            for _ in range(size // len(block)):
                tx.chunk(block)
            tx.chunk(b'"}}\n\n')
        s.methods["tools/call"] = big

        def take():
            """Calls once; the seconds that it took."""
            before = len(p.lines)
            begin = time.monotonic()
            p.start("tools/call", {})
            line, at = p.big_line(60, least=before + 1)
            self.assertGreater(len(line), size)
            self.assertTrue(line.endswith(b'yy"}}'))
            self.assertEqual(line.count(b"y"), size)
            return at - begin
        took = take()
        # the quickest of three, as other programs slow single ones down
        if not support.sanitized():
            for _ in range(2):
                took = took if took < 3 else min(took, take())
            self.within(took, 3)
        self.assertIn("result", p.ask("ping"))
        p.finish()


if __name__ == "__main__":
    support.main()
