"""mcpsplice wrap: the files of hosts, in a new home for each test.  A new
entry must work: the tests start it with --show-config."""

import fcntl
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import unittest

try:
    import tomllib
except ImportError:
    tomllib = None

import pace
import support

WINDOWS = pace.is_windows()
INFO = '{"client_id":"id-1","client_secret":"SECRET"}'

# Entries as in public README files, without the command.
SWITCH = [
    ["https://mcp.atlassian.com/v1/sse"],
    ["https://mcp.example.com/v1/mcp", "--resource",
     "https://tenant1.atlassian.net/"],
    ["https://mcp.linear.app/sse", "--transport", "sse-only"],
    ["https://a.example/mcp", "--header", "Authorization:${AUTH_HEADER}"],
    ["https://mcp.asana.com/v2/mcp", "3334", "--static-oauth-client-info",
     INFO],
    ["https://a.example/mcp", "7778", "--disable-resource-parameter",
     "--static-oauth-client-info", INFO, "--static-oauth-client-metadata",
     '{"scope":"a/b"}'],
    ["https://a.example/ucp/mcp", "8766", "--host", "localhost",
     "--transport", "http-only", "--static-oauth-client-info", "@/x/info",
     "--static-oauth-client-metadata", "@/x/data", "--resource",
     "https://a.example/ucp", "--authorize-param", "prompt=login",
     "--auth-timeout", "600"],
    ["https://a.example/mcp", "--static-oauth-client-info", INFO, "64485"],
    ["https://mcp.tavily.com/mcp/", "--transport", "http-only",
     "--enable-proxy", "--header", "Authorization: Bearer SECRET",
     "--ignore-tool", "tavily_crawl", "--ignore-tool", "tavily_map"],
    ["http://192.168.56.10:51766/mcp", "--allow-http", "--transport",
     "http-only", "--silent", "--header", "Authorization: Bearer ${T}"],
    ["https://a.example/v2.0/x", "--header", "TenantId:a", "--header",
     "Company:CRONUS, Inc.", "--header", "Empty:",
     "--static-oauth-client-info", INFO],
    ["https://a.example/mcp", "--auth-timeout", "120",
     "--static-oauth-client-metadata",
     '{"client_name":"Albatross via mcp-remote"}', "--silent"],
    ["https://mcp.figma.com/mcp", "--static-oauth-client-metadata",
     '{"client_name":"Design Intelligence"}'],
    ["https://mcp.zapier.com/api/mcp/s/SECRET/mcp"],
    ["https://a.example/mcp?key=YOUR_MCP_API_KEY"],
    ["https://a.example/mcp", "--connect-timeout", "30",
     "--headers-timeout", "300", "--body-timeout", "0", "--keep-alive",
     "--ping-interval", "60", "--ipv4"],
    ["https://a.example/mcp", "--debug"],
    ["https://a.example/mcp", "--host", "0.0.0.0"],
    ["https://curity.example/mcp", "--transport", "http-only"],
]

JSON_HOSTS = [
    (".claude.json", "mcpServers", {"type": "http"}, "url", "stdio"),
    (".claude.json", "mcpServers", {"type": "sse"}, "url", "stdio"),
    (".cursor/mcp.json", "mcpServers", {}, "url", None),
    (".config/Code/User/mcp.json", "servers", {"type": "http"}, "url",
     "stdio"),
    (".gemini/settings.json", "mcpServers", {"trust": True}, "httpUrl", None),
    (".gemini/settings.json", "mcpServers", {}, "url", None),
    (".qwen/settings.json", "mcpServers", {}, "httpUrl", None),
    (".codeium/windsurf/mcp_config.json", "mcpServers", {}, "serverUrl",
     None),
    (".config/opencode/opencode.json", "mcp",
     {"type": "remote", "enabled": True}, "url", "local"),
    (".config/opencode/opencode.jsonc", "mcp", {"type": "remote"}, "url",
     "local"),
    (".config/zed/settings.json", "context_servers", {}, "url", None),
    (".copilot/mcp-config.json", "mcpServers",
     {"type": "http", "tools": ["*"]}, "url", "stdio"),
    (".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
     "cline_mcp_settings.json", "mcpServers",
     {"type": "streamableHttp", "disabled": False}, "url", "stdio"),
    (".config/amp/settings.json", "amp.mcpServers", {}, "url", None),
    (".lmstudio/mcp.json", "mcpServers", {}, "url", None),
    (".junie/mcp/mcp.json", "mcpServers", {}, "url", None),
    ("Library/Application Support/Claude/claude_desktop_config.json",
     "mcpServers", {}, "url", None),
    ("AppData/Roaming/Claude/claude_desktop_config.json",
     "mcpServers", {}, "url", None),
    ("AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/"
     "claude_desktop_config.json", "mcpServers", {}, "url", None),
    ("AppData/Roaming/Code/User/mcp.json", "servers", {"type": "http"}, "url",
     "stdio"),
]

HEAD = "\ufeff// kept: \u00fc\r\n{ /* a */\t\"other\" : [1,2,{\"x\": \"//\"},],\n\n"
TAIL = ",\n}  // end, without a line end"


def shown(path):
    """The path as the program shows it: under Wine it has a drive."""
    return "Z:" + path.replace("/", "\\") if WINDOWS else path


def found(path):
    """The file for a path that the program shows."""
    return path[len("Z:"):].replace("\\", "/") if WINDOWS else path


class Base(support.Case):
    def put(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def get(self, path):
        with open(path, newline="") as f:
            return f.read()

    def wrap(self, *args, status=0):
        got, out, err = self.once(["wrap", *args],
                                  env={"HOME": self.home})
        self.assertEqual(got, status, err + out.decode())
        return out.decode() + err

    def mode(self, path, mode):
        """Checks a file's mode, but not under Wine, which derives modes from
        access rights: check_file tests those."""
        if not WINDOWS:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), mode)

    def starts(self, words):
        """Checks that this command line starts mcpsplice, which accepts it;
        returns its --show-config."""
        path = found(words[0])
        self.assertTrue(os.path.isabs(path), words)
        self.assertTrue(os.path.samefile(path, support.PROGRAM + (
            ".exe" if WINDOWS else "")), words)
        status, out, err = self.once(words[1:] + ["--show-config"],
                                     env={"T": "t", "AUTH_HEADER": "x",
                                          "MCP_HEADER_1": "y"})
        self.assertEqual(status, 0, err)
        return out.decode()


class Hosts(Base):
    def test_urls(self):
        for name, place, members, url, kind in JSON_HOSTS:
            with self.subTest(name):
                entry = dict(members)
                entry[url] = "https://a.example/mcp"
                entry["headers"] = {"X-A": "${T}", "X-B": "literal"}
                body = '  "%s": {"e": %s}' % (
                    place, json.dumps(entry, indent=3))
                path = self.put(name, HEAD + body + TAIL)
                self.wrap("--write")
                text = self.get(path)
                self.assertTrue(text.startswith(HEAD), text)
                self.assertTrue(text.endswith(TAIL), text)
                new = json.loads("{" + text[len(HEAD):-len(TAIL)] +
                                 "}")[place]["e"]
                self.assertNotIn(url, new)
                self.assertNotIn("headers", new)
                self.assertEqual(new.get("type"), kind)
                for key in set(members) - {"type"}:
                    self.assertEqual(new[key], members[key])
                words = new["command"]
                if kind == "local":
                    self.assertNotIn("args", new)
                else:
                    words = [words] + new["args"]
                env = new["environment" if kind == "local" else "env"]
                own = {}
                if place in ("servers", "mcp", "context_servers"):
                    own["MCP_HEADER_1"] = "${T}"
                self.assertEqual(words[1:], [
                    "https://a.example/mcp", "-H",
                    "X-A: ${%s}" % ("MCP_HEADER_1" if own else "T")])
                self.assertEqual(env,
                                 {**own, "MCPSPLICE_HEADER": "X-B: literal"})
                self.starts(words)
                os.remove(path)

    def test_entries_of_mcp_remote(self):
        fronts = [["npx", "-y", "mcp-remote"], ["npx", "mcp-remote@latest"],
                  ["cmd", "/c", "npx", "-y", "mcp-remote"],
                  ["npx.cmd", "-y", "mcp-remote"],
                  ["wsl", "npx", "-y", "mcp-remote@0.1.29"],
                  ["bunx", "mcp-remote"], ["pnpm", "dlx", "mcp-remote"],
                  ["node", "/u/node_modules/mcp-remote/dist/proxy.js"]]
        entries = {"%d %d" % (i, k): {
            "command": front[0], "args": front[1:] + args,
            "env": {"T": "x"}}
            for i, args in enumerate(SWITCH)
            for k, front in enumerate(fronts if i < 4 else fronts[:1])}
        path = self.put(".cursor/mcp.json",
                        json.dumps({"mcpServers": entries}, indent=2))
        self.wrap("--write")
        new = json.loads(self.get(path))["mcpServers"]
        for name, entry in entries.items():
            words = [new[name]["command"]] + new[name]["args"]
            args = SWITCH[int(name.split()[0])]
            if words[:2] == ["wsl.exe", "--exec"]:
                words = words[2:]
            elif words[0] == "wsl":
                words = words[1:]
            self.starts(words)
            self.assertEqual(words[1:], args)
            named = re.findall(r"\$\{(\w+)\}", " ".join(args))
            if named and new[name]["command"] == "wsl.exe":
                entry["env"]["WSLENV"] = ":".join(named)
            self.assertEqual(new[name]["env"], entry["env"])

    def test_the_others(self):
        path = self.put("c.json", json.dumps({"mcpServers": {
            "gateway": {"command": "npx", "args": [
                "-y", "supergateway", "--streamableHttp",
                "https://a.example/mcp", "--oauth2Bearer", "SECRET",
                "--logLevel", "none", "--outputTransport", "stdio"]},
            "proxy": {"command": "uvx", "args": [
                "mcp-proxy", "--transport", "streamablehttp", "--headers",
                "X-A", "b c", "https://a.example/mcp"]}}}))
        self.assertNotIn("SECRET", self.wrap(path))
        self.wrap("--write", path)
        new = json.loads(self.get(path))["mcpServers"]
        for entry in new.values():
            shown = self.starts([entry["command"]] + entry["args"])
            self.assertRegex(shown, r"(?m)^transport +http ")
            self.assertNotIn("SECRET", shown)

    def test_claude_projects(self):
        path = self.put(".claude.json", json.dumps({"projects": {"/p": {
            "mcpServers": {"e": {"type": "http",
                                 "url": "https://a.example/mcp"}}}}}))
        self.wrap("--write")
        new = json.loads(self.get(path))["projects"]["/p"]["mcpServers"]["e"]
        self.starts([new["command"]] + new["args"])

    @unittest.skipIf(tomllib is None, "python3 has no tomllib")
    def test_codex(self):
        text = ('model = "x" # kept\nnotes = """\n[mcp_servers.no]\n'
                'url = "https://a.example/"\n"""\n\n'
                '[mcp_servers.a] # a\nurl = "https://a.example/mcp"  # b\n'
                'bearer_token_env_var = "T"\nstartup_timeout_sec = 30\n\n'
                '[mcp_servers."b c"]\n  command = \'npx\'\n  args = [\n'
                '    "-y", "mcp-remote", # why\n'
                '    "https://b.example/mcp", "--debug",\n  ]\n'
                '[mcp_servers."b c".env]\nX = "y"\n[last]\nz = [ 1,\n2 ]')
        path = self.put(".codex/config.toml", text)
        old = tomllib.loads(text)
        self.wrap("--write")
        after = self.get(path)
        new = tomllib.loads(after)
        servers = new.pop("mcp_servers")
        old.pop("mcp_servers")
        self.assertEqual(new, old)
        for e in servers.values():
            self.starts([e["command"]] + e["args"])
        self.assertEqual(servers["a"]["env_vars"], ["T"])
        self.assertEqual(servers["b c"]["env"], {"X": "y"})
        begin = text[:text.index('url = "https://a.example/mcp')]
        self.assertTrue(after.startswith(begin), after)
        self.assertTrue(after.endswith(text[text.index('  ]\n'):]))

    def test_by_hand(self):
        self.put(".config/goose/config.yaml",
                 "extensions:\n  a:\n    type: streamable_http\n"
                 "    uri: https://a.example/mcp\n")
        self.put(".continue/config.yaml",
                 "mcpServers:\n  - name: a\n    command: npx\n    args:\n"
                 "      - mcp-remote\n      - https://b.example/mcp\n")
        before = self.tree()
        out = self.wrap("--write")
        self.assertIn(shown("goose/config.yaml")[2 * WINDOWS:] +
                      ": change line 4 ", out)
        self.assertIn('args: ["https://a.example/mcp"]', out)
        self.assertIn(shown(".continue/config.yaml")[2 * WINDOWS:] +
                      ": change line 5 ", out)
        self.assertIn('args: ["https://b.example/mcp"]', out)
        self.assertEqual(self.tree(), before)

    def tree(self):
        # on Windows the program locks a folder by a file .lock in it
        paths = (os.path.join(d, f) for d, _, files in os.walk(self.home)
                 for f in files if f != ".lock")
        return {p: self.get(p) for p in paths if os.path.isfile(p)}


class Command(Base):
    TEXT = ('{"mcpServers": {"e": {"command": "npx", "args": '
            '["mcp-remote", "https://a.example/mcp"]}}}\n')

    def test_nothing_without_write(self):
        path = self.put(".cursor/mcp.json", self.TEXT)
        os.chmod(os.path.dirname(path), 0o555)
        out = self.wrap()
        os.chmod(os.path.dirname(path), 0o755)
        self.assertEqual(self.get(path), self.TEXT)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["mcp.json"])
        lines = out.splitlines()
        self.assertEqual(lines[0], "--- " + shown(path))
        self.assertEqual(lines[1], "+++ " + shown(path))
        self.assertIn('-"e": {"command": "npx"', "\n".join(lines))
        self.assertIn('+"e": {"command": "%s' % shown("/").replace("\\", "\\\\"), "\n".join(lines))
        self.assertEqual(lines[-1],
                         "Nothing has been changed yet. To change it, add --write.")

    def test_twice(self):
        path = self.put(".cursor/mcp.json", self.TEXT)
        self.wrap("--write")
        once = self.get(path)
        self.assertIn("Nothing to change", self.wrap("--write"))
        self.assertEqual(self.get(path), once)
        self.assertFalse(os.path.exists(path + ".mcpsplice-backup.2"))

    def test_another_run(self):
        """Another wrap is changing files: this one changes nothing."""
        path = self.put(".cursor/mcp.json", self.TEXT)
        self.wrap("--write")
        shutil.copy(path + ".mcpsplice-backup", path)
        folder = os.open(os.path.join(self.home, ".local/state/mcpsplice"),
                         os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            for args in ("--write",), ("--restore",), ("--write", path):
                self.assertIn("another mcpsplice wrap is changing files",
                              self.wrap(*args, status=1))
                self.assertEqual(self.get(path), self.TEXT)
            self.assertIn("add --write", self.wrap())
        finally:
            os.close(folder)
        self.wrap("--write")
        self.assertNotEqual(self.get(path), self.TEXT)

    def test_access_list(self):
        """The ACL of a file is copied, as its mode alone does not show the
        group's rights.  A default ACL of the folder is not given to files."""
        name = "system.posix_acl_access"
        path = self.put(".cursor/mcp.json", self.TEXT, 0o600)
        rights = ((1, 6, -1), (2, 4, 12345), (4, 0, -1), (16, 4, -1),
                  (32, 0, -1))      # rw-, user 12345 r--, ---, mask r--, ---
        acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *r)
                                              for r in rights)
        try:
            os.setxattr(path, name, acl)
        except (AttributeError, OSError) as e:
            self.skipTest("no access lists here: %s" % e)
        self.wrap("--write")
        for p in (path, path + ".mcpsplice-backup"):
            self.assertEqual(os.getxattr(p, name), acl)
            os.unlink(p)
        path = self.put(".cursor/mcp.json", self.TEXT, 0o640)
        os.setxattr(os.path.dirname(path), "system.posix_acl_default", acl)
        self.wrap("--write")
        for p in (path, path + ".mcpsplice-backup"):
            self.assertEqual(stat.S_IMODE(os.stat(p).st_mode), 0o640)
            self.assertNotIn(name, os.listxattr(p))

    def test_backups(self):
        path = self.put(".cursor/mcp.json", self.TEXT, 0o640)
        backup = path + ".mcpsplice-backup"
        self.wrap("--write")
        wrapped = self.get(path)
        self.assertEqual(self.get(backup), self.TEXT)
        for p in (path, backup):
            self.mode(p, 0o640)
        self.wrap("--restore")
        self.assertEqual(self.get(path), self.TEXT)
        self.assertEqual(self.get(backup), wrapped)
        for args in ([path], []):
            self.assertIn((path if args else shown(path)) +
                          ": nothing to undo", self.wrap("--restore", *args))
            self.assertEqual(self.get(path), self.TEXT)
            self.assertEqual(self.get(backup), wrapped)
        self.put(".cursor/mcp.json", wrapped, 0o640)
        self.put(".cursor/mcp.json.mcpsplice-backup", self.TEXT, 0o640)
        # the newest backup is restored
        self.put(".cursor/mcp.json", self.TEXT + " ", 0o640)
        self.wrap("--write")
        self.assertEqual(self.get(backup), self.TEXT)
        self.assertEqual(self.get(backup + ".2"), self.TEXT + " ")
        self.put(".cursor/mcp.json", self.TEXT, 0o640)
        self.wrap("--write")
        self.assertEqual(self.get(backup + ".3"), self.TEXT)
        self.wrap("--restore")
        self.assertEqual(self.get(path), self.TEXT)
        # content that the newest backup has is not backed up again
        self.put(".cursor/mcp.json.mcpsplice-backup.3", self.TEXT)
        self.wrap("--write")
        self.assertFalse(os.path.exists(backup + ".4"))

    def test_killed(self):
        """A --restore that was killed after it had backed the file up can be
        repeated; after one that was killed at its end, or a --write that
        changed nothing, there is nothing to undo."""
        path = self.put(".cursor/mcp.json", self.TEXT)
        backup = path + ".mcpsplice-backup"
        self.wrap("--write")
        wrapped = self.get(path)
        for left in (wrapped, wrapped[:9], ""):
            with self.subTest(left):
                self.put(".cursor/mcp.json", wrapped)
                self.put(".cursor/mcp.json.mcpsplice-backup", self.TEXT)
                self.put(".cursor/mcp.json.mcpsplice-backup.2", left)
                self.assertIn("restored", self.wrap("--restore"))
                self.assertEqual(self.get(path), self.TEXT)
                self.assertEqual(self.get(backup + ".3"), wrapped)
                self.assertIn("nothing to undo", self.wrap("--restore"))
        for left in (self.TEXT, self.TEXT[:9], ""):
            with self.subTest(left):
                self.put(".cursor/mcp.json.mcpsplice-backup.9", left)
                self.assertIn("nothing to undo", self.wrap("--restore"))
                self.assertEqual(self.get(path), self.TEXT)

    def test_no_backup(self):
        path = self.put(".cursor/mcp.json", self.TEXT)
        self.assertIn("No file has a backup", self.wrap("--restore"))
        self.assertIn("has no backup", self.wrap("--restore", path, status=1))

    def test_links(self):
        """A link to a configuration elsewhere stays a link."""
        real = self.put("dotfiles/cursor.json", self.TEXT, 0o600)
        link = os.path.join(self.home, ".cursor/mcp.json")
        os.makedirs(os.path.dirname(link))
        os.symlink("../dotfiles/cursor.json", link)
        self.wrap("--write")
        self.assertEqual(os.readlink(link), "../dotfiles/cursor.json")
        self.assertIn(support.PROGRAM.split("/")[-1], self.get(real))
        self.mode(real, 0o600)
        self.assertEqual(os.listdir(os.path.dirname(real)), ["cursor.json"])
        self.assertEqual(self.get(link + ".mcpsplice-backup"), self.TEXT)

    def test_links_are_restored(self):
        real = self.put("dotfiles/cursor.json", self.TEXT)
        link = os.path.join(self.home, "mcp.json")
        os.symlink("dotfiles/cursor.json", link)
        self.wrap("--write", link)
        self.wrap("--restore", link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.get(real), self.TEXT)

    def test_name_that_writes_to_the_terminal(self):
        """A file name with control characters could hide the changes that are
        shown: it is refused."""
        for name in ("a\x1b[2J.json", "a\nNothing to change..json",
                     "a\x9b2J.json", "a\u202e.json", "a\x1b[2J.yaml"):
            path = self.put(name, self.TEXT)
            self.put(name + ".mcpsplice-backup", "{}")
            for args in ((), ("--write",), ("--restore",)):
                out = self.wrap(*args, path, status=1)
                self.assertIn("its name is not safe to show", out)
                self.assertNotIn(name, out)
                self.assertEqual(self.get(path), self.TEXT)

    def test_what_is_not_restored(self):
        """A backup that is not a configuration is not restored."""
        for name, backup in (("c.json", "alias ls=evil\n"), ("d.json", ""),
                             ("e.json", " \r\n"), ("f.json", '{"a": '),
                             ("g.toml", "alias ls=evil\n"),
                             ("h.toml", "PATH=/tmp\n"), ("i.yaml", "a: 1\n"),
                             ("j", self.TEXT)):
            with self.subTest(name):
                path = self.put(name, "now")
                self.put(name + ".mcpsplice-backup", backup)
                out = self.wrap("--restore", path, status=1)
                self.assertIn(path + ".mcpsplice-backup cannot be used", out)
                self.assertEqual(self.get(path), "now")
                self.assertEqual(self.get(path + ".mcpsplice-backup"), backup)

    def test_what_is_behind_a_link(self):
        """--restore does not replace a link's target that is not a
        configuration."""
        for name, text in (("k.json", "secret"), ("l.json", ""),
                           ("m.toml", "export A=secret\n")):
            with self.subTest(name):
                victim = self.put("victim", text)
                path = os.path.join(self.home, name)
                os.symlink("victim", path)
                self.put(name + ".mcpsplice-backup", "{}" if name[-1] == "n"
                         else "a = 1\n")
                self.assertIn(victim + ", which is not replaced",
                              self.wrap("--restore", path, status=1))
                self.assertEqual(self.get(victim), text)

    def test_a_hard_link(self):
        path = self.put("c.json", self.TEXT)
        os.link(path, path + "2")
        self.assertIn("hard link", self.wrap("--write", path, status=1))
        self.assertEqual(self.get(path), self.TEXT)

    def test_broken(self):
        good = self.put(".cursor/mcp.json", self.TEXT)
        bad = self.put(".gemini/settings.json", '{\n  "a": 1\n  "b": 2\n}')
        out = self.wrap("--write", status=1)
        self.assertIn(shown(bad) + ": invalid JSON at line 3, column 3", out)
        self.assertEqual(self.get(bad), '{\n  "a": 1\n  "b": 2\n}')
        self.assertNotEqual(self.get(good), self.TEXT)
        bad = self.put("c.toml", 'a = "b\n')
        self.assertIn("line 1, column 5", self.wrap(bad, status=1))

    def test_utf16(self):
        for name in ("a.json", "b.toml", "c.yaml"):
            for form in ("utf-16", "utf-16-le", "utf-16-be"):
                path = self.path(name)
                with open(path, "wb") as f:
                    f.write(self.TEXT.encode(form))
                self.assertIn(path + ": it is UTF-16; save it as UTF-8",
                              self.wrap(path, status=1))

    def test_files_that_are_none(self):
        for name in (self.path("missing.json"), self.tmp):
            self.wrap(name, status=1)
        large = self.path("large.json", "{}")
        os.truncate(large, support.BOUND["ALL_BYTES"] + 1)
        self.assertIn("too large", self.wrap(large, status=1))
        fifo = self.path("fifo.json")
        os.mkfifo(fifo)
        self.assertIn("not a regular file", self.wrap(fifo, status=1))

    def test_nothing_found(self):
        self.assertIn("No configuration", self.wrap())
        self.assertIn("No configuration", self.wrap("--list"))

    def test_list(self):
        path = self.put(".cursor/mcp.json", self.TEXT)
        yaml = self.put(".config/goose/config.yaml", "x")
        self.assertEqual(sorted(self.wrap("--list").splitlines()), sorted([
            "Cursor           %s: 1 to change" % shown(path),
            "Goose            %s: by hand" % shown(yaml)]))

    def test_names_of_hosts(self):
        cursor = self.put(".cursor/mcp.json", self.TEXT)
        claude = [self.put(name, self.TEXT) for name in (
            ".claude.json", ".config/Claude/claude_desktop_config.json")]
        out = self.wrap("Claude")
        for path in claude:
            self.assertIn("+++ %s\n" % shown(path), out)
        self.assertNotIn(shown(cursor), out)
        self.assertIn("+++ %s\n" % shown(claude[0]),
                      self.wrap("claude-code"))
        for name in ("vscode", "vs-code", "fast-agent", "FastAgent", "kilo"):
            self.assertIn("No configuration of %s found" % name,
                          self.wrap(name))
        self.wrap("--write", "cursor")
        self.assertNotEqual(self.get(cursor), self.TEXT)
        self.assertEqual(self.get(claude[0]), self.TEXT)
        self.wrap("--restore", "cursor")
        self.assertEqual(self.get(cursor), self.TEXT)
        self.assertIn("nonsuch: No such file",
                      self.wrap("nonsuch", status=1))
        self.wrap("curs/or", status=1)
        for word in ("c", "curso", "clau", "mcp"):
            self.assertIn(word + ": No such file",
                          self.wrap(word, status=1))

    def test_places(self):
        for name in (".kiro/settings/mcp.json", ".config/crush/crush.json",
                     ".config/Code/User/globalStorage/kilocode.kilo-code/"
                     "settings/mcp_settings.json",
                     ".config/Code - Insiders/User/mcp.json",
                     ".vscode-server/data/User/mcp.json",
                     ".factory/mcp.json", ".mcporter/mcporter.json",
                     ".gemini/antigravity/mcp_config.json"):
            with self.subTest(name):
                path = self.put(name, self.TEXT)
                self.assertIn(shown(path) + ": 1 to change\n",
                              self.wrap("--list"))
        for name in (".hermes/config.yaml", "fastagent.config.yaml"):
            self.assertIn("%s: by hand\n" % shown(self.put(name, "x: 1\n")),
                          self.wrap("--list"))
        path = self.put(".vibe/config.toml",
                        '[[mcp_servers]]\nurl = "https://a.example/mcp"\n')
        self.assertIn(shown(path) + ": 1 to change\n", self.wrap("--list"))

    def test_started_by_npx(self):
        """The program is in the cache of npx: the new entry starts npx."""
        folder = os.path.join(self.home, ".npm/_npx/2a6b/node_modules/bin")
        os.makedirs(folder)
        program = os.path.join(folder, "mcpsplice")
        there = os.path.abspath(support.PROGRAM)
        if WINDOWS:
            shutil.copy(there + ".exe", program + ".exe")
            with open(there) as f, open(program, "w") as script:
                script.write(f.read().replace(there, program))
            os.chmod(program, 0o755)
        else:
            os.symlink(there, program)
        path = self.put("c.json", self.TEXT)
        subprocess.run([program, "wrap", "--write", path], check=True,
                       stdout=subprocess.DEVNULL, timeout=60,
                       env={"HOME": self.home, "PATH": os.environ["PATH"]})
        entry = json.loads(self.get(path))["mcpServers"]["e"]
        words = ["cmd", "/c"] * WINDOWS + [
            "npx", "-y", "mcpsplice", "https://a.example/mcp"]
        self.assertEqual(entry, {"command": words[0], "args": words[1:]})

    def test_placeholders(self):
        """A host's placeholders move into variables, unchanged."""
        path = self.put("c.json", json.dumps({"servers": {"e": {
            "type": "http", "url": "https://a.example/mcp", "headers": {
                "Authorization": "Bearer ${input:t}",
                "X-A": "${env:B} c"}}}}))
        self.wrap("--write", path)
        entry = json.loads(self.get(path))["servers"]["e"]
        self.assertEqual(sorted(entry["env"].values()),
                         ["${env:B} c", "Bearer ${input:t}"])
        status, out, err = self.once(entry["args"] + ["--show-config"],
                                     env=entry["env"])
        self.assertEqual(status, 0, err)
        self.assertIn("Authorization: (set)", out.decode())

    def test_left_alone(self):
        text = ('{"mcpServers": {"e": {"url": "https://a.example/mcp", '
                '"oauth": {}}}}')
        path = self.put("c.json", text)
        out = self.wrap("--write", path)
        self.assertIn('%s: skipped "e": ' % path, out)
        self.assertIn("Nothing to change", out)
        self.assertEqual(self.get(path), text)
        self.put(".cursor/mcp.json", text)
        self.assertIn(": 0 to change, 1 skipped", self.wrap("--list"))

    def test_no_server(self):
        for name, text in (("a.json", "{}"), ("b.json", '{"a": 1}'),
                           ("c.json", '{"mcpServers": {}}'),
                           ("d.toml", "a = 1\n")):
            path = self.put(name, text)
            self.assertIn('%s: no MCP server found below "mcpServers", '
                          '"servers" and the like\n' % path,
                          self.wrap(path))
            self.assertEqual(self.get(path), text)

    def test_usage(self):
        for args in (["--list", "--write"], ["--list", "x"], ["-v"],
                     ["--bearer-env", "X"], ["--restore", "--write"],
                     ["--nonsense"]):
            self.wrap(*args, status=2)
        status, out, err = self.once(["--write", "https://a.example/mcp"])
        self.assertEqual(status, 2)
        self.assertIn("wrap", err)

    def test_no_home(self):
        status, out, err = self.once(["wrap"], env={"HOME": ""})
        self.assertEqual(status, 1)
        self.assertIn("name the files", err)

    def test_a_config_of_mcpsplice_is_not_read(self):
        self.put(".config/mcpsplice/config", "nonsense\n", 0o600)
        self.put(".cursor/mcp.json", self.TEXT)
        self.wrap("--write")


def windows_words(line):
    """The words of a command line, as CommandLineToArgvW splits it."""
    words, word, quoted, i = [], None, False, 0
    while i < len(line):
        slashes = re.match(r"\\*", line[i:]).end()
        i += slashes
        c = line[i:i + 1]
        if slashes:
            word = (word or "") + "\\" * (
                slashes // 2 if c == '"' else slashes)
        if c == '"' and slashes % 2 == 0:
            word, quoted = word or "", not quoted
        elif c in (" ", "\t") and not quoted:
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + c
        i += 1
    return words + ([word] if word is not None else [])


def through_wsl(args):
    """The arguments that a Linux program gets through wsl.exe: a host joins
    them into one line, as programs on Windows do; wsl.exe passes the line to
    a shell, or with --exec splits it itself."""
    line = subprocess.list2cmdline(args)
    show = 'for x; do printf "%s\\n" "$x"; done'
    if args[0] == "--exec":
        words = windows_words(line[len("--exec "):])
        run = ["/bin/sh", "-c", show, *words]
    else:
        run = ["/bin/sh", "-c", "/bin/sh -c '%s' %s" % (show, line)]
    return subprocess.run(run, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True,
                          timeout=60).stdout.splitlines()


class Windows(Base):
    NASTY = ["https://a.example/mcp?a=1&b=$HOME&c=${T}#x;y|z",
             "-H", "X-A: it's \"${T}\" `id` $(id) \\ (b) *", "C:\\a b\\",
             "", "\\\"", "x\\\\\"y z\\\\"]

    def documented(self):
        """The first arguments for wsl.exe, as README says."""
        root = os.environ.get("abs_top_srcdir", os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "../.."))
        with open(os.path.join(root, "README")) as f:
            text = " ".join(f.read().split())
        found = re.findall(
            r'"command" is "wsl\.exe", and "args" begins with '
            r'("--exec", "[^"]*")', text)
        self.assertEqual(len(found), 1, found)
        return json.loads("[%s]" % found[0])

    def test_documented(self):
        front = self.documented()
        self.assertEqual(through_wsl(front + self.NASTY), self.NASTY)
        # without --exec a shell changes the URL, or this test would be void
        front.remove("--exec")
        self.assertNotEqual(through_wsl(front + self.NASTY[:1]),
                            self.NASTY[:1])

    def test_rewritten(self):
        url = "https://a.example/mcp?a=1&b=$HOME"
        path = self.put("c.json", json.dumps({"mcpServers": {"e": {
            "command": "cmd", "args": ["/c", "npx", "-y", "mcp-remote", url,
                                       "--header", "X-A: ${T} b"]}}}))
        self.wrap("--write", path)
        new = json.loads(self.get(path))["mcpServers"]["e"]
        self.assertEqual(new["command"], "wsl.exe")
        self.assertEqual(through_wsl(new["args"]),
                         [url, "--header", "X-A: ${T} b"])
        self.starts(new["args"][1:])

    def test_file_of_windows(self):
        """A file below /mnt, where WSL has the disks of Windows, gets entries
        for wsl.exe, but only in WSL."""
        text = json.dumps({"mcpServers": {
            "command": {"command": "npx", "args": [
                "-y", "mcp-remote", "https://a.example/mcp"]},
            "url": {"url": "https://a.example/mcp",
                    "headers": {"X-A": "b"}}}})
        script = """set -e
            mount -t tmpfs none /mnt
            mkdir -p /mnt/c/Users
            cat >/mnt/c/Users/c.json
            cd /mnt/c/Users
            "$1" wrap --write c.json >&2
            cat c.json"""
        mounted = ["unshare", "-rm", "sh", "-c"]
        if not shutil.which("unshare") or subprocess.run(
                mounted + ["mount -t tmpfs none /mnt"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no mount namespace: unshare -rm")
        program = os.path.abspath(support.PROGRAM)
        for wsl in False, True:
            env = {"PATH": os.environ["PATH"], "HOME": self.home}
            if wsl:
                env["WSL_DISTRO_NAME"] = "Debian"
            done = subprocess.run(
                mounted + [script, "sh", program], input=text,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=env, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            new = json.loads(done.stdout)["mcpServers"]
            for name in "command", "url":
                entry = new[name]
                words = [entry["command"]] + entry["args"]
                if wsl:
                    self.assertEqual(words[:2],
                                     ["wsl.exe"] + self.documented()[:1])
                    words = words[2:]
                self.starts(words)
                self.assertEqual(words[1:], ["https://a.example/mcp"])
            wanted = {"MCPSPLICE_HEADER": "X-A: b"}
            if wsl:
                wanted["WSLENV"] = "MCPSPLICE_HEADER"
            self.assertEqual(new["url"]["env"], wanted)

if __name__ == "__main__":
    support.main()
