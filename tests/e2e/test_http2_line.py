"""HTTP/2 over a long line: what a call costs after a rest, and what becomes of
it when the line died meanwhile."""

import time

import h2server
import line
import support
import test_tls
from line import FAR, Line
from test_tls import context, file

MS = 40                 # each way
LONG = 200              # where a busy machine would cost a round trip
REST = 20


@support.plain
class Far(support.Case):
    def setUp(self):
        super().setUp()
        self.line = Line(MS)

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            self.line.close()

    def two(self):
        with self.line.far:
            s = h2server.H2Mcp(tls=context("one"), host=FAR)
        self.servers.append(s)
        s.on_get = s.listen
        with self.line.near:
            p = self.splice("https://mcp.test:%d/mcp" % s.port, "--cacert",
                            file("ca1.pem"), "--resolve",
                            "mcp.test:%d:%s" % (s.port, FAR), "--http2")
        p.server = s
        p.hello()
        s.stream()
        return s, p

    def test_round_trips(self):
        """Five calls at once, the first time and after a rest, cost one round
        trip each, and no connection. After a rest TCP sends ten packets before
        it waits for a receipt, and libcurl makes more than one of a call."""
        s, p = self.two()
        self.line.order("delay %d" % LONG)
        for turn in "ab":
            self.settle(0.5 if turn == "a" else REST)
            begin = time.monotonic()
            ids = [p.start("tools/call", {"name": "echo", "arguments": {
                "key": turn + str(i)}}) for i in range(5)]
            for i in ids:
                self.assertIn("result", p.answer(i))
            self.within(time.monotonic() - begin, 1.5 * 2 * LONG / 1000)
            self.assertEqual(s.connections, 1)
        p.finish()

    def test_dead_after_a_rest(self):
        """The listen stream uses the dead connection all the time; an unsafe
        call does not, and runs once."""
        s, p = self.two()
        self.assertIn("result", p.tool(key="a"))
        self.line.order("forget")
        self.settle(REST)
        begin = time.monotonic()
        self.assertIn("result", p.tool(key="b"))
        self.within(time.monotonic() - begin, 1)
        self.assertEqual(s.runs("b"), 1)
        self.assertEqual(s.connections, 2)
        p.finish()


if __name__ == "__main__":
    line.skip_without()
    test_tls.main()
