"""Upgrades: files that other versions of mcpsplice have written, and an old
and a new copy with the same HOME.

tests/data/upgrade/VERSION holds what the program of a release left behind (see
README there).  With MCPSPLICE_OLD=PROGRAM, the program of the release before,
there are more cases: both run at the same time."""

import collections
import glob
import json
import os
import random
import re
import shutil
import socket
import subprocess
import threading
import time

import authserver
import faultserver
import pace
import support
import test_signin_many
from support import HERE, INITIALIZED, LIVE, PROGRAM, alone, init

DATA = os.path.join(HERE, "..", "data", "upgrade")
OLD = os.environ.get("MCPSPLICE_OLD", "")
# The files of mcpsplice are named by a hash of the URL, so the servers always
# have the same addresses, which no other program uses.
HOST, ISSUER, PORT = "127.83.17.1", "127.83.17.2", 18765
STORE = ".local/state/mcpsplice/auth"
SESSIONS = ".local/state/mcpsplice/sessions"
CACHE = ".cache/mcpsplice"
PROFILES = ("plain", "work", "secret")
TOOLS = {"tools": [{"name": "remembered", "inputSchema": {"type": "object"}}]}
INFO = {"name": "a server of long ago", "version": "7"}
VARIABLES = {"MORE": "m", "TOKEN": "t", "SECRET": "s"}
LONG = 3 * LIVE


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    """Writes a file that only its owner may read."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    with open(path, "wb", opener=lambda n, f: os.open(n, f, 0o600)) as f:
        f.write(data)


def profile_args(profile):
    return () if profile == "plain" else ("--profile", profile)


class Recalled(authserver.Protected):
    """The MCP server whose answers are in the old startup cache."""

    def __init__(self, auth, **kw):
        super().__init__(auth, host=HOST, port=PORT, **kw)
        self.methods["tools/list"] = lambda rx, tx: tx.result(TOOLS)

    def init_result(self, rx):
        return dict(super().init_result(rx), serverInfo=INFO)


class World(authserver.Case):
    """Starts the servers at their fixed addresses."""

    def setUp(self):
        super().setUp()
        if not hasattr(os, "uname") or os.uname().sysname != "Linux":
            self.skipTest("127.83.17.1 is no address of this system")
        self.be_alone()
        self.a = self.adopt(authserver.AuthServer(host=ISSUER, port=PORT), {})
        self.m = self.adopt(Recalled(self.a), {})
        self.modern = faultserver.Mcp(host=HOST, port=PORT + 1)
        self.servers.append(self.modern)
        self.b = self.browser()

    def be_alone(self):
        """Waits until no other process runs these tests."""
        name = socket.socket(socket.AF_UNIX)
        self.addCleanup(name.close)
        limit = pace.Limit(LONG)
        while True:
            try:
                return name.bind("\0mcpsplice-test-upgrade")
            except OSError:
                if limit.left() <= 0:
                    raise
            time.sleep(0.05)

    def proxy(self, *args, **kw):
        return self.splice(self.m, "--browser", self.b.command, "--start",
                           "wait", *args, **kw)

    def works(self, p):
        key = "key-%d" % self.count()
        answer = p.tool(key=key, seconds=LONG)
        self.assertIn("result", answer, p.err()[-2000:])
        self.assertEqual(self.m.runs(key), 1)

    def command(self, *args, **kw):
        status, out, err = self.once([str(a) for a in args], seconds=LONG,
                                     **kw)
        return status, out.decode() + err

    def own(self, *names):
        return os.path.join(self.home, *names)

    def listed(self, *names):
        try:
            return sorted(os.listdir(self.own(*names)))
        except FileNotFoundError:
            return []

    def all_files(self):
        """path -> content of all files of mcpsplice."""
        found = {}
        for folder in (STORE, SESSIONS, CACHE):
            for name in self.listed(folder):
                found[os.path.join(folder, name)] = read(
                    self.own(folder, name))
        return found


def each_version(base):
    """Makes a subclass of base for each release that has files in DATA."""
    for version in sorted(os.listdir(DATA)):
        if os.path.isdir(os.path.join(DATA, version, "auth")):
            name = "%s_%s" % (base.__name__, version.replace(".", "_"))
            globals()[name] = type(name, (base,), {"version": version,
                                                   "__module__": __name__})


class Old(World):
    """A HOME with the files of an old version."""
    version = None

    def setUp(self):
        super().setUp()
        self.data = os.path.join(DATA, self.version)
        for part, folder in (("auth", STORE), ("sessions", SESSIONS),
                             ("cache", CACHE)):
            for path in glob.glob(os.path.join(self.data, part, "*")):
                write(self.own(folder, os.path.basename(path)), read(path))
        self.records = {}       # profile -> (path, document)
        for name in self.listed(STORE):
            if name.endswith(".json"):
                doc = json.loads(read(self.own(STORE, name)))
                self.records[doc.get("profile", "plain")] = (
                    self.own(STORE, name), doc)
        self.assertEqual(set(self.records), set(PROFILES))
        for path, doc in self.records.values():
            self.know(doc)

    def know(self, doc):
        """Makes the authorization server know the record's client and
        tokens."""
        a, c, t = self.a, doc["client"], doc["token"]
        client = authserver.Client(c["id"], c.get("secret"), c["method"],
                                   [c["redirect_uri"]])
        family = authserver.Family(client, doc["resource"],
                                   t.get("scope_granted"))
        family.current = t["refresh_token"]
        with a.lock:
            a.clients[client.id] = client
            a.families[t["refresh_token"]] = family
            a.tokens[t["access_token"]] = authserver.Token(
                client, doc["resource"], t.get("scope_granted"), None, family)
        for text in (t["access_token"], t["refresh_token"], c.get("secret")):
            if text:
                a.note_secret("old", text)

    def record(self, profile="plain"):
        return json.loads(read(self.records[profile][0]))

    def edit(self, profile, fn):
        """Edits the record as another version would; returns its content."""
        path, doc = self.records[profile]
        doc = json.loads(json.dumps(doc))
        fn(doc)
        text = json.dumps(doc).encode()
        write(path, text)
        return text

    def unasked(self):
        """Checks that the user was not asked and no client registered."""
        self.assertEqual((self.b.opened(), self.a.authorizations,
                          self.a.registrations, self.a.reuse_events),
                         ([], 0, 0, 0))

    def session_note(self):
        name, = [n for n in self.listed(SESSIONS) if len(n) == 32]
        return self.own(SESSIONS, name)


@each_version
class SignedIn(Old):
    def test_token(self):
        """A token that is still good is used as it is."""
        before = read(self.records["work"][0])
        p = self.proxy("--profile", "work")
        p.hello()
        self.works(p)
        p.finish()
        self.assertEqual(self.a.token_requests(), 0)
        self.assertEqual(read(self.records["work"][0]), before)
        self.unasked()

    def test_refresh(self):
        """An expired token is refreshed; the rest of the record stays."""
        for profile in ("plain", "secret"):
            before = self.record(profile)
            self.a.expire()
            p = self.proxy(*profile_args(profile))
            p.hello()
            self.works(p)
            p.finish()
            after = self.record(profile)
            self.assertEqual(after["generation"], before["generation"] + 1)
            for doc in (before, after):
                for name in ("access_token", "refresh_token", "obtained_at",
                             "expires_at"):
                    self.assertIsNotNone(doc["token"].pop(name))
                del doc["generation"]
            self.assertEqual(after, before)
        self.assertEqual(self.a.given["refresh_token"], 2)
        self.unasked()

    def test_status_and_logout(self):
        status, text = self.command("status")
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count(self.m.url), 3)
        self.assertIn("(profile work)", text)
        status, text = self.command("logout", self.m.url)
        self.assertEqual(status, 0, text)
        self.assertIn("Signed out", text)
        self.assertFalse(os.path.exists(self.records["plain"][0]))
        self.assertEqual(self.a.counts["revoke"], 2)
        for profile in ("work", "secret"):
            self.assertTrue(os.path.exists(self.records[profile][0]))

    def test_helper(self):
        """A store helper has the old record."""
        helper, log = self.helper(read(self.records["plain"][0]))
        self.a.expire()
        p = self.proxy("--auth-store", "helper:" + helper)
        p.hello()
        self.works(p)
        p.finish()
        self.assertIn("store", read(log).decode().split())
        kept = json.loads(read(os.path.join(self.tmp, "kept")))
        self.assertEqual(kept["generation"], self.record()["generation"] + 1)
        self.unasked()

    def helper(self, text):
        kept, log = self.path("kept", text, 0o600), self.path("log", "")
        self.may_hold += [kept]
        return self.path("helper", """#!/bin/sh
echo $1 >>%s
case $1 in
get) cat %s ;;
store) sed '1,/^$/d' >%s ;;
esac
""" % (log, kept, kept), 0o755), log

    def test_helper_with_a_newer_record(self):
        text = self.edit("plain", lambda doc: doc.update(version=99))
        helper, log = self.helper(text)
        args = ("--auth-store", "helper:" + helper)
        self.refused(args)
        status, said = self.command("logout", self.m.url, *args)
        self.assertEqual(status, 1, said)
        self.assertEqual(set(read(log).decode().split()), {"get"})

    def refused(self, args=()):
        """The error says that the record is newer; the user is not asked."""
        p = self.proxy(*args)
        p.send(init("hello"))
        e = self.our_error(p.answer("hello", LONG), "auth_required", "no")
        self.assertIn("was written by a newer mcpsplice", e["message"])
        self.assertIn("--profile", e["message"])
        p.finish()
        self.unasked()

    def newer(self, change):
        path = self.records["plain"][0]
        text = self.edit("plain", change)
        self.refused()
        for words in (("logout", self.m.url), ("status", self.m.url),
                      ("login", self.m.url, "--browser", self.b.command),
                      ("check", self.m.url)):
            status, said = self.command(*words)
            self.assertEqual(status, 1, (words, said))
            self.assertIn("was written by a newer mcpsplice", said, words)
        self.assertEqual(read(path), text)
        self.unasked()
        # the way out that the message names
        p = self.proxy("--profile", "work")
        p.hello()
        self.works(p)
        self.assertEqual(read(path), text)

    def test_newer_version(self):
        self.newer(lambda doc: doc.update(version=99, token="elsewhere"))

    def test_newer_kind_of_client(self):
        self.newer(lambda doc: doc["client"].update(method="tls_client_auth"))

    def test_unknown_members(self):
        """Unknown members of a record are kept when a refresh rewrites it."""
        new = {"later": {"a": [1, None, "\u00fc\0"], "b": 1.5},
               "number": 9007199254740993}

        def change(doc):
            for part in (doc, doc["client"], doc["token"]):
                part.update(new)
        self.edit("plain", change)
        first = self.record()["generation"]
        for n in (1, 2):
            self.a.expire()
            p = self.proxy()
            p.hello()
            self.works(p)
            p.finish()
            doc = self.record()
            self.assertEqual(doc["generation"], first + n)
            for part in (doc, doc["client"], doc["token"]):
                self.assertEqual({k: part.get(k) for k in new}, new)
        self.unasked()
        # a new login replaces the token's members, and keeps the record's
        status, said = self.command("login", self.m.url, "--browser",
                                    self.b.command)
        self.assertEqual(status, 0, said)
        self.assertEqual({k: self.record().get(k) for k in new}, new)

    def test_torn(self):
        """The error names a truncated record, and "logout" removes it."""
        path = self.records["plain"][0]
        write(path, read(path)[:-20])
        p = self.proxy()
        p.send(init("hello"))
        e = self.our_error(p.answer("hello", LONG), "auth_required", "no")
        self.assertIn(path, e["message"])
        self.assertIn("logout", e["message"])
        p.finish()
        self.unasked()
        status, said = self.command("logout", self.m.url)
        self.assertEqual(status, 0, said)
        self.assertFalse(os.path.exists(path))


    def test_around_a_login(self):
        """A login ignores unknown lines in a pending file, and any content of
        a lock file."""
        for name in self.listed(STORE):
            path = self.own(STORE, name)
            if name.startswith("pending-"):
                write(path, b"later 7\n" + read(path) + b"later\0\xff\nurl")
            elif name.startswith("lock-"):
                write(path, b"later")
        self.a.revoke()
        p = self.proxy()
        p.hello()
        self.works(p)
        p.finish()
        self.assertEqual(len(self.b.opened()), 1)
        for name in self.listed(STORE):
            if name.startswith("lock-"):
                self.assertEqual(read(self.own(STORE, name)), b"later")


# A new libcurl takes this for an address, an old one for a name.
DIFFERS = {"https://127.0.0.1./mcp": "name=127.0.0.1-55f7af77d2f7a92e"}


class Names(World):
    def test_names_of_records(self):
        """The record of each URL has the name that old versions gave it: with
        another one, the user would be signed out.  libcurl affects it, too."""
        for path in glob.glob(os.path.join(DATA, "*", "names")):
            log = self.path("names", "")
            helper = self.path("name", "#!/bin/sh\nhead -n 1 >>%s\n" % log,
                               0o755)
            with open(path, encoding="utf-8") as f:
                rows = [line.rstrip("\n").split("\t") for line in f]
            self.assertGreater(len(rows), 50)

            bad = []
            for url, *args, name in rows:
                with open(log, "w"):
                    pass
                self.once(["status", "--auth-store", "helper:" + helper,
                           *args, url])
                got = read(log).decode().strip()
                if got not in (name, DIFFERS.get(url)):
                    bad.append("%s: %s, not %s" % (url, got, name))
            self.assertEqual(bad, [])


@each_version
class Cache(Old):
    def test_early_answer(self):
        """The server is down: the proxy answers initialize and tools/list
        with what the old program has stored."""
        self.m.down()
        p = self.splice(self.m, "--profile", "work", "--init-timeout", "2")
        p.send(init("hello"))
        self.assertEqual(p.answer("hello")["result"]["serverInfo"], INFO)
        p.send(INITIALIZED)
        self.assertEqual(p.ask("tools/list")["result"], TOOLS)

    def test_used_and_not_written_again(self):
        """The old cache is used, and not rewritten, as nothing changed."""
        before = self.identities()
        p = self.proxy("--profile", "work")
        p.hello()
        self.assertEqual(p.ask("tools/list")["result"], TOOLS)
        p.finish()
        self.assertEqual(self.identities(), before)

    def identities(self):
        found = {}
        for name in self.listed(CACHE):
            st = os.stat(self.own(CACHE, name))
            found[name] = (st.st_ino, st.st_mtime_ns)
        return found

    def first_request(self):
        """The first request to the server that the files say is modern, for a
        legacy client."""
        before = len(self.modern.requests)
        p = self.splice(self.modern)
        p.send(init("hello"))
        self.assertIn("result", p.answer("hello", LONG))
        p.finish()
        return self.modern.requests[before].rpc

    def test_era(self):
        """The first request is modern only because of the era in the cache."""
        self.assertNotEqual(self.first_request(), "initialize")
        for name in self.listed(CACHE):
            os.unlink(self.own(CACHE, name))
        self.assertEqual(self.first_request(), "initialize")

    def run_all(self):
        """Makes the proxy read each kind of file; returns the logs."""
        p = self.proxy("--profile", "work", "-vv")
        p.hello()
        p.ask("tools/list")
        self.works(p)
        p.finish()
        q = self.splice(self.modern, "-vv")
        q.hello()
        q.finish()
        return p.err() + q.err()

    def test_newer(self):
        """Cache files of a newer version are not changed, and calls work."""
        for name in self.listed(CACHE):
            path = self.own(CACHE, name)
            write(path, re.sub(rb'^\{"mcpsplice":\d+', b'{"mcpsplice":99',
                               read(path)))
        before = self.all_files()
        said = self.run_all()
        after = self.all_files()
        for name in self.listed(CACHE):
            path = os.path.join(CACHE, name)
            self.assertEqual(after[path], before.get(path), path)
        self.assertIn("a newer mcpsplice wrote it", said)
        self.unasked()

    def test_torn(self):
        """Truncated cache files are ignored and written again."""
        for name in self.listed(CACHE):
            path = self.own(CACHE, name)
            write(path, read(path)[:-3])
        torn = self.all_files()
        self.assertIn("damaged", self.run_all())
        mended = {name for name in self.listed(CACHE) if torn[
            os.path.join(CACHE, name)] != read(self.own(CACHE, name))}
        # a startup cache and an era for each of the two servers
        self.assertEqual(len(mended), 4, mended)
        self.unasked()


@each_version
class Sessions(Old):
    def test_ended(self):
        """The proxy ends the session of an old program that was killed."""
        note = self.session_note()
        sid = read(note).decode().split("\n")[3]
        p = self.proxy("--profile", "work")
        p.hello()
        self.works(p)
        self.assertTrue(self.m.wait(lambda: sid in self.m.deleted, LONG))
        p.finish()
        self.assertFalse(os.path.exists(note))

    def left(self, text, age):
        """Starts a proxy, which does not end the session of a note with this
        text and age; returns whether the note stayed as it was."""
        note = self.session_note()
        sid = read(note).decode().split("\n")[3]
        write(note, text(read(note)))
        os.utime(note, (time.time() - age,) * 2)
        before = read(note)
        p = self.proxy("--profile", "work")
        p.hello()
        self.works(p)
        p.finish()
        self.assertNotIn(sid, self.m.deleted)
        return os.path.exists(note) and read(note) == before

    def test_newer(self):
        self.assertTrue(self.left(lambda data: data.replace(
            b"session 1", b"session 99"), 3600))

    def test_torn(self):
        self.assertFalse(self.left(lambda data: data[:-20], 3600))


class Configuration(World):
    """Configuration files, variables and command lines of an old version."""

    @staticmethod
    def cases():
        with open(os.path.join(DATA, "config")) as f:
            hosts = re.findall(r"^\[(?:https://)?([^/\]]+)", f.read(), re.M)
        rows = [(["https://%s/mcp" % h], {}) for h in hosts]
        url = "https://elsewhere.example/mcp"
        rows += [
            ([url, "-vHX-A: b", "--no-keep-alive", "-xhttp://p.example:1",
              "--fail=any", "--auth", "none"], {}),
            ([url, "4567", "--transport", "sse-only", "--allow-http",
              "--header", "Authorization: Bearer ${TOKEN}"], {}),
            (["--streamableHttp", url, "--oauth2Bearer", "x", "--logLevel",
              "none"], {}),
            (["--sse", url], {}),
            ([], {"MCPSPLICE_URL": url, "MCPSPLICE_REPLAY": "never",
                  "MCPSPLICE_HEADER": "X-A: b", "MCPSPLICE_NO_COOKIES": "1",
                  "MCPSPLICE_INIT_TIMEOUT": "3", "MCPSPLICE_AUTH": "none",
                  "NO_PROXY": "n.example"})]
        return rows

    def shown(self, args, env):
        """The output of --show-config without the defaults."""
        write(self.own(".config/mcpsplice/config"),
              read(os.path.join(DATA, "config")))
        status, out, err = self.once(list(args) + ["--show-config"],
                                     env=dict(env, **VARIABLES))
        rows = [line.replace(self.home, "HOME")
                for line in out.decode().splitlines()
                if not re.search(r"  default$", line)]
        self.static = "without GSS-API" in err
        return {"status": status, "shown": rows}

    def test_same_as_ever(self):
        for path in glob.glob(os.path.join(DATA, "*", "shown.json")):
            with open(path) as f:
                rows = json.load(f)
            self.assertGreater(len(rows), 10)
            for row in rows:
                got = self.shown(row["args"], row["env"])
                if self.static:  # it has no --proxy-negotiate
                    continue
                self.assertEqual(got["status"], row["status"], row["args"])
                missing = [line for line in row["shown"]
                           if line not in got["shown"]]
                self.assertEqual(missing, [], row["args"])

    def test_obeyed(self):
        write(self.own(".config/mcpsplice/config"),
              b"[http://%s:*/*]\nheader = X-Old: yes\n" % HOST.encode())
        p = self.splice(self.modern)
        p.hello()
        self.assertEqual({r.get("X-Old") for r in self.modern.requests},
                         {"yes"})

    def test_an_option_of_a_newer_one(self):
        """The error names the unknown option and the running version."""
        write(self.own(".config/mcpsplice/config"), b"of-the-future = 1\n")
        version = self.command("--version")[1].split()[1].rstrip(",")
        status, text = self.command("--show-config")
        self.assertEqual(status, 2)
        self.assertIn("config:1: unknown option \"of-the-future\"", text)
        self.assertIn("mcpsplice " + version, text)

    def test_wrapped_hosts(self):
        """A host's file that an old version has wrapped is not changed again,
        and its backup is found."""
        for data in glob.glob(os.path.join(DATA, "*", "host")):
            path = self.own(".cursor/mcp.json")
            for name in os.listdir(data):
                write(self.own(".cursor", name), read(os.path.join(
                    data, name)))
            backup = path + ".mcpsplice-backup"
            wrapped, original = read(path), read(backup)
            status, text = self.command("wrap", "--write", path)
            self.assertEqual(status, 0, text)
            self.assertEqual((read(path), read(backup)), (wrapped, original))
            status, text = self.command("wrap", "--restore", path)
            self.assertEqual(status, 0, text)
            self.assertEqual((read(path), read(backup)), (original, wrapped))


class BothCase(test_signin_many.Case):
    """Runs the program of the release before, and this one."""

    def setUp(self):
        super().setUp()
        self.log, self.trace = self.path("log"), self.path("trace")

    def run_one(self, program, *args, **kw):
        return self.splice(self.m, "--callback-port", self.port, "--browser",
                           self.b.command, "--start", "wait", "--log-file",
                           self.log, "--log-format", "json", "--trace",
                           self.trace, *args, program=program, **kw)

    def begin(self, program, *args, **kw):
        p = self.run_one(program, *args, **kw)
        p.send(init("hello"))
        return p

    def signed_in_one(self, program, *args, **kw):
        p = self.begin(program, *args, **kw)
        self.works(p)
        return p

    def command(self, program, *args):
        status, out, err = self.once(args, seconds=LONG, program=program)
        return status, out.decode() + err

    def whole(self, path, pids):
        """Checks that each line is whole JSON, from one of these processes;
        returns the pids."""
        with open(path, "rb") as f:
            rows = [json.loads(line) for line in f]
        self.assertTrue(rows)
        self.assertTrue({r["pid"] for r in rows} <= pids)
        return {r["pid"] for r in rows}

    def notes(self):
        return os.listdir(os.path.join(self.home, SESSIONS))


class BothRounds(BothCase):
    def rounds(self, n, fell):
        """In each round, calls need a new token, and fell(p) kills a process
        of either version at a random moment."""
        dice = random.Random(os.environ.get("E2E_SEED", "23"))
        programs = [OLD, PROGRAM]
        ps = [self.signed_in_one(programs[i % 2]) for i in range(4)]
        pids = {p.pid for p in ps}
        self.until(lambda: not self.logins(), "the login processes end")
        self.counted(opened=1)
        over, faults = threading.Event(), []
        reader = threading.Thread(target=test_signin_many.Refresh.watch_store,
                                  args=(self, over, faults), daemon=True)
        reader.start()
        seen = collections.Counter()
        for r in range(n):
            self.a.expire()
            victim = dice.randrange(len(ps))
            order = list(range(len(ps)))
            dice.shuffle(order)
            due = [(ps[i], ps[i].start("tools/call", {"name": "echo"}))
                   for i in order]
            time.sleep(dice.random() * 0.06)
            fell(ps[victim])
            program = dice.choice(programs)
            seen[program] += 1
            dead, ps[victim] = ps[victim], self.begin(program)
            pids.add(ps[victim].pid)
            for p, ident in due:
                if p is not dead:
                    self.assertIn("result", p.answer(ident, LONG),
                                  "round %d: %s" % (r, p.err()[-1000:]))
            answer = ps[victim].answer("hello", LONG)
            self.assertIn("result", answer, "round %d" % r)
            ps[victim].send(INITIALIZED)
        over.set()
        reader.join()
        self.assertEqual(faults, [])
        self.assertGreater(min(seen[p] for p in programs), n // 5)
        for p in ps:
            self.calls(p)
            # no other copy has ended this proxy's session
            self.assertNotIn("new session, number", p.err())
            p.finish()
        for program in programs:
            status, text = self.command(program, "status", self.m.url)
            self.assertEqual(status, 0, text)
        # another proxy of each version ends the sessions of the killed ones
        for program in programs:
            p = self.signed_in_one(program)
            pids.add(p.pid)
            self.until(lambda: len(self.notes()) == 1, "dead sessions end")
            p.finish()
        self.assertEqual(self.notes(), [])
        self.whole(self.log, pids)
        self.assertGreater(len(self.whole(self.trace, pids)), n // 2)

    @alone
    def test_proxies_are_killed(self):
        """The login process of a killed proxy stores the new token, so the
        user stays signed in."""
        self.rounds(60, lambda p: p.kill())
        self.counted(opened=1)
        asked, given = self.refreshes()
        self.assertEqual(asked, given)
        self.assertGreaterEqual(given, 60)

    @alone
    def test_all_are_killed(self):
        """The login process is killed, too.  Its new token is lost, so the
        server must still accept the old refresh token."""
        self.a.grace = 600
        self.rounds(40, self.fall)
        self.counted(opened=1)


class BothTogether(BothCase):
    @alone
    def test_cold(self):
        """Four proxies of each version sign in: one tab, one client."""
        self.a.script("authorize", authserver.hold(self.free))
        ps = [self.begin(OLD if i % 2 else PROGRAM, "--init-timeout", "100")
              for i in range(8)]
        urls = {url for p in ps for url in self.shown(p)}
        self.assertEqual(len(urls), 1)
        self.free.set()
        for p in ps:
            self.works(p)
        self.counted(opened=1)
        self.assertEqual(self.a.token_requests(), 1)

    def test_first_is_killed(self):
        """A proxy waits for the login that one of the other version began."""
        for first, second in ((OLD, PROGRAM), (PROGRAM, OLD)):
            self.free.clear()
            self.a.script("authorize", authserver.hold(self.free))
            p = self.begin(first)
            url = self.shown(p)
            q = self.begin(second)
            self.assertEqual(self.shown(q), url)
            p.kill()
            self.free.set()
            self.works(q)
            q.finish()
            self.nobody_left()
            self.assertEqual(self.command(first, "logout", self.m.url)[0], 0)
        self.assertEqual((len(self.b.opened()), self.a.reuse_events), (2, 0))

    def test_logout_of_a_login(self):
        """One version's logout ends the other version's pending sign-in."""
        for first, second in ((OLD, PROGRAM), (PROGRAM, OLD)):
            self.free.clear()
            self.a.script("authorize", authserver.hold(self.free))
            p = self.begin(first)
            self.shown(p)
            status, text = self.command(second, "logout", self.m.url)
            self.assertEqual(status, 0, text)
            # the words of either program
            self.assertRegex(
                text, "The sign-in that (waited for you was ended|"
                "was waiting for you was cancelled)")
            self.our_error(p.answer("hello", LONG), "auth_required")
            p.finish()
            self.free.set()
            for name in self.files():
                if name.startswith("pending-"):
                    os.unlink(os.path.join(self.store(), name))

    def logout(self, first, second):
        """One version signs out; the other's proxy notices, and opens a
        browser."""
        p = self.signed_in_one(first)
        status, text = self.command(second, "logout", self.m.url)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.records(), [])
        self.calls(p)
        self.assertEqual(len(self.b.opened()), 2)
        self.assertEqual(self.a.reuse_events, 0)

    def test_old_one_signs_out(self):
        self.logout(PROGRAM, OLD)

    def test_new_one_signs_out(self):
        self.logout(OLD, PROGRAM)


class BothBackAndForth(BothCase):
    @staticmethod
    def unknown(doc):
        """The members that a later version added."""
        return [part.get("later") for part in
                (doc, doc["client"], doc["token"])]

    def test_record(self):
        """The versions take turns, with a refresh each time: the record keeps
        a later version's members."""
        self.signed_in_one(PROGRAM).finish()
        self.nobody_left()

        def later(doc):
            for part in (doc, doc["client"], doc["token"]):
                part["later"] = {"a": [1.5, None]}
        self.rewrite(later)
        for n in range(6):
            self.outdate()
            self.signed_in_one(OLD if n % 2 == 0 else PROGRAM).finish()
            self.nobody_left()
            self.assertEqual(self.unknown(self.record()),
                             [{"a": [1.5, None]}] * 3)
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (6, 6))

    def test_cache(self):
        """Each version uses the other's startup cache, and does not change
        it."""
        def cached():
            folder = os.path.join(self.home, CACHE)
            return {n: (os.stat(os.path.join(folder, n)).st_ino, read(
                os.path.join(folder, n))) for n in os.listdir(folder)}
        for first, second in ((OLD, PROGRAM), (PROGRAM, OLD)):
            shutil.rmtree(os.path.join(self.home, CACHE), ignore_errors=True)
            for n in range(2):
                p = self.signed_in_one(first if n == 0 else second)
                p.ask("tools/list")
                p.finish()
                if n == 0:
                    before = cached()
            self.assertEqual(cached(), before)
            self.m.down()
            p = self.splice(self.m, "--init-timeout", "2", program=second)
            p.send(init("hello"))
            self.assertEqual(p.answer("hello")["result"]["serverInfo"]["name"],
                             "fault")
            p.finish()
            self.m.up()
        self.counted(opened=1)

    def test_session(self):
        """Each version ends the session of a killed proxy of the other."""
        for first, second in ((OLD, PROGRAM), (PROGRAM, OLD)):
            p = self.signed_in_one(first)
            sid = self.m.made[-1]
            self.noted(sid)
            p.kill()
            q = self.signed_in_one(second)
            self.until(lambda: sid in self.m.deleted, "it is ended")
            q.finish()
        self.assertEqual(self.notes(), [])

    def test_living_session(self):
        """No proxy ends the session of one that is running."""
        ps = [self.signed_in_one(p) for p in (OLD, PROGRAM, OLD, PROGRAM)]
        self.settle(0.5)
        for p in ps:
            self.calls(p)
        self.assertEqual(self.m.deleted, [])
        self.assertEqual(len(self.m.made), 4)


class BothInPlace(BothCase):
    """The program's file is replaced while it runs, as in an upgrade."""

    def under(self, change):
        place = self.path("bin/mcpsplice", read(OLD), 0o755)
        p = self.signed_in_one(place)
        change(place)
        for _ in range(2):
            self.outdate()
            self.calls(p)
        self.counted(opened=1)
        return p

    def replace(self, place):
        shutil.copy(PROGRAM, place + ".new")
        os.rename(place + ".new", place)

    def test_replaced(self):
        self.under(self.replace)

    def test_removed(self):
        """The program's file is removed, as npx does when it cleans up."""
        self.under(os.unlink)

    def test_other_login_process(self):
        """If a process cannot find out its own file, an old proxy starts the
        new program as its login process."""
        hide = "mount -t tmpfs none /proc"
        if not shutil.which("unshare") or subprocess.run(
                ["unshare", "-m", "sh", "-c", hide],
                stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("/proc cannot be hidden")
        place = self.path("bin/mcpsplice", read(OLD), 0o755)
        hidden = self.path("bin/hidden", """#!/bin/sh
exec unshare -m sh -c '%s && exec "$@"' - %s "$@"
""" % (hide, place), 0o755)
        p = self.signed_in_one(hidden)
        log = self.path("started", "")
        self.path("bin/new", """#!/bin/sh
echo "$*" >>%s
exec %s "$@"
""" % (log, PROGRAM), 0o755)
        os.rename(self.path("bin/new"), place)
        self.outdate()
        self.calls(p)
        self.assertEqual(read(log), b"login --agent\n")
        self.counted(opened=1)
        self.assertEqual(self.refreshes(), (1, 1))


if not OLD:
    print("MCPSPLICE_OLD is not set: only the files of old programs are "
          "looked at")
    del BothRounds, BothTogether, BothBackAndForth, BothInPlace

if __name__ == "__main__":
    # the servers have fixed addresses
    support.main(workers=1)
