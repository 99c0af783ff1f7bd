#!/usr/bin/env python3
"""Makes tests/data/upgrade/VERSION: what the program of a release leaves
behind.  See README.

usage: make.py PROGRAM FOLDER"""

import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if len(sys.argv) != 3:
    sys.exit(__doc__)
program, folder = (os.path.abspath(p) for p in sys.argv[1:])
os.environ["MCPSPLICE"] = program
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))

import eraserver
import support
import test_upgrade
from support import INITIALIZED, init


class Make(test_upgrade.Configuration):
    """Each test makes a part of the folder."""

    def keep(self, part, source, *names):
        target = os.path.join(folder, part)
        os.makedirs(target, exist_ok=True)
        for name in names or os.listdir(source):
            shutil.copyfile(os.path.join(source, name),
                            os.path.join(target, name))

    def sign_in(self, profile):
        p = self.proxy(*test_upgrade.profile_args(profile))
        p.hello()
        self.assertEqual(p.ask("tools/list")["result"], test_upgrade.TOOLS)
        self.works(p)
        return p

    def make_store_and_cache(self):
        self.sign_in("plain").finish()
        self.a.methods = ["client_secret_post"]
        self.sign_in("secret").finish()
        self.a.life = None
        p = self.sign_in("work")
        self.noted(*list(self.m.sessions))
        while len(self.listed(test_upgrade.CACHE)) < 6:
            self.settle(0.05)
        self.modern.close()
        self.servers.remove(self.modern)
        s = eraserver.Era("modern", host=test_upgrade.HOST,
                                port=test_upgrade.PORT + 1)
        self.servers.append(s)
        q = self.splice(s.url)
        q.send(init("hello"))
        q.answer("hello")
        q.send(INITIALIZED)
        q.ask("tools/list")
        q.finish()
        p.kill()
        for part, below in (("auth", test_upgrade.STORE),
                            ("sessions", test_upgrade.SESSIONS),
                            ("cache", test_upgrade.CACHE)):
            self.keep(part, self.own(below))

    def make_shown(self):
        rows = [dict(self.shown(args, env), args=args, env=env)
                for args, env in self.cases()]
        self.write("shown.json", json.dumps(rows, indent=1) + "\n")
        names = set(re.findall(r"^([\w-]+)  ", self.all_options(), re.M))
        with open(os.path.join(HERE, "config")) as f:
            text = f.read()
        missing = [n for n in names if not re.search(
            r"^%s\b" % re.escape(n), text, re.M)]
        self.assertEqual(sorted(missing), ["NODE_EXTRA_CA_CERTS", "url"])

    def all_options(self):
        return self.once(["--show-config"], env={})[1].decode()

    def make_names(self):
        log = self.path("log", "")
        helper = self.path("helper", "#!/bin/sh\nhead -n 1 >>%s\n" % log,
                           0o755)
        rows = []
        with open(os.path.join(HERE, "urls"), encoding="utf-8") as f:
            for line in f.read().splitlines():
                with open(log, "w"):
                    pass
                self.once(["status", "--auth-store", "helper:" + helper] +
                          line.split("\t")[1:] + line.split("\t")[:1])
                with open(log) as g:
                    name = g.read().strip()
                if name:
                    rows.append(line + "\t" + name + "\n")
        self.write("names", "".join(rows))

    def make_host(self):
        path = self.own(".cursor/mcp.json")
        test_upgrade.write(path, json.dumps({"mcpServers": {
            "one": {"url": "https://a.example/mcp",
                    "headers": {"X-A": "b"}},
            "two": {"command": "npx", "args": [
                "-y", "mcp-remote", "https://b.example/sse"]}}},
            indent=2).encode())
        status, text = self.command("wrap", "--write", path)
        self.assertEqual(status, 0, text)
        with open(path) as f:
            text = f.read()
        test_upgrade.write(path, text.replace(
            os.path.realpath(program), "/usr/local/bin/mcpsplice").encode())
        self.keep("host", self.own(".cursor"))

    def write(self, name, text):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)



class Parts(Make):
    def test_all(self):
        self.make_store_and_cache()
        self.make_shown()
        self.make_names()
        self.make_host()


del Make
sys.argv[1:] = ["test_all"]
support.main(workers=1)
