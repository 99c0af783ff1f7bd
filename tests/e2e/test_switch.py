"""The switch from other programs: entries as they stand in public README files,
with only the command changed.  What each comes to is read from --show-config;
what needs a server is tried with one."""

import re
import urllib.parse

import support
from test_signin import Base

INFO = '{"client_id":"id-1","client_secret":"SECRET"}'

# Arguments, environment, and what has to come of them.
ENTRIES = [
    (["https://mcp.atlassian.com/v1/sse"], {},
     {"url": "https://mcp.atlassian.com/v1/sse"}),
    (["https://mcp.example.com/v1/mcp", "--resource",
      "https://tenant1.atlassian.net/"], {},
     {"resource": "https://tenant1.atlassian.net/"}),
    (["https://mcp.linear.app/sse", "--transport", "sse-only"], {},
     {"transport": "sse"}),
    (["https://a.example/mcp", "--header",
      "Authorization:${AUTH_HEADER}"], {"AUTH_HEADER": "Bearer T"},
     {"header": r"Authorization: \(set\)"}),
    (["https://mcp.asana.com/v2/mcp", "3334",
      "--static-oauth-client-info", INFO], {},
     {"callback-port": "3334", "callback-host": "localhost",
      "callback-path": "/oauth/callback"}),
    (["https://a.example/mcp", "7778", "--disable-resource-parameter",
      "--static-oauth-client-info", INFO, "--static-oauth-client-metadata",
      '{"scope":"a/b"}'], {},
     {"no-resource": "yes", "callback-path": "/oauth/callback"}),
    (["https://a.example/ucp/mcp", "8766", "--host", "localhost",
      "--transport", "http-only", "--resource", "https://a.example/ucp",
      "--authorize-param", "prompt=login", "--auth-timeout", "600"], {},
     {"callback-host": "localhost", "callback-path": "/oauth/callback",
      "transport": "http", "login-timeout": "600",
      "authorize-param": "prompt=login"}),
    (["https://a.example/mcp", "--static-oauth-client-info", INFO,
      "64485"], {}, {"callback-port": "64485"}),
    (["https://mcp.tavily.com/mcp/", "--transport", "http-only",
      "--enable-proxy", "--header", "Authorization: Bearer x",
      "--ignore-tool", "tavily_crawl", "--ignore-tool", "tavily_map"], {},
     {"ignore-tool": "tavily_crawl"}),
    (["http://192.168.56.10:51766/mcp", "--allow-http", "--transport",
      "http-only", "--silent", "--header", "Authorization: Bearer ${T}"],
     {"T": "t"}, {"allow-http": "yes", "quiet": "yes"}),
    (["https://a.example/v2.0/x", "--header", "TenantId:a", "--header",
      "Company:CRONUS, Inc.", "--header", "Empty:"], {},
     {"header": r"TenantId: \(set\)"}),
    (["https://a.example/mcp", "--auth-timeout", "120",
      "--static-oauth-client-metadata",
      '{"client_name":"Albatross via mcp-remote"}', "--silent"], {},
     {"login-timeout": "120"}),
    (["https://mcp.zapier.com/api/mcp/s/SECRET/mcp"], {},
     {"url": r"https://mcp.zapier.com/\S+"}),
    (["https://a.example/mcp?key=SECRET"], {},
     {"url": r"https://a.example/mcp\?\(set\)"}),
    (["https://a.example/mcp", "--connect-timeout", "30",
      "--headers-timeout", "300", "--body-timeout", "0", "--keep-alive",
      "--ping-interval", "60", "--ipv4"], {},
     {"connect-timeout": "30", "ping-interval": "60", "ipv4": "yes"}),
    (["https://a.example/mcp", "--debug"], {}, {"verbose": "2"}),
    (["https://a.example/mcp", "--host", "0.0.0.0"], {},
     {"callback-host": "0.0.0.0"}),
    (["-y", "mcp-remote", "https://a.example/mcp"], {},
     {"url": "https://a.example/mcp", "callback-path": "/oauth/callback"}),
    (["mcp-remote@latest", "https://a.example/mcp"], {},
     {"url": "https://a.example/mcp"}),
    (["--streamableHttp", "https://a.example/mcp", "--oauth2Bearer", "SECRET",
      "--logLevel", "none", "--outputTransport", "stdio"], {},
     {"url": "https://a.example/mcp", "transport": "http"}),
    (["--transport", "streamablehttp", "https://a.example/mcp"], {},
     {"transport": "http"}),
    (["--transport", "streamable-http", "https://a.example/mcp"], {},
     {"transport": "http"}),
    (["https://a.example/mcp", "--transport", "streamableHttp"], {},
     {"transport": "http"}),
    (["https://a.example/mcp", "--transport", "Streamable_HTTP"], {},
     {"transport": "http"}),
    (["https://a.example/mcp", "--transport", "websocket"], {},
     {"transport": "auto"}),
]


class Entries(support.Case):
    def test_what_they_come_to(self):
        for args, env, wanted in ENTRIES:
            with self.subTest(args):
                status, out, err = self.once(args + ["--show-config"],
                                             env=env)
                self.assertEqual(status, 0, err)
                text = out.decode()
                for name, value in wanted.items():
                    self.assertRegex(text, r"(?m)^%s +%s( |$)" %
                                     (re.escape(name), value))
                if "T" not in env:
                    self.assertNotRegex(text, r"SECRET(?!/mcp)")

    def test_a_header_that_is_torn(self):
        """As Cursor does it on Windows: an error, and not half a header."""
        status, out, err = self.once(["https://a.example/mcp", "--header",
                                      "Authorization:", "Bearer", "x"])
        self.assertEqual(status, 2)
        self.assertIn("split at a space", err)


class Clients(Base):
    def authorized(self, *args):
        """The request of the browser, and what was registered."""
        a = self.auth()
        m, b = self.protected(a), self.browser()
        p = self.splice(m, "--browser", b.command, *args)
        p.hello()
        self.works(p, m)
        p.finish()
        query = urllib.parse.urlsplit(b.url()).query
        return a, dict(urllib.parse.parse_qsl(query))

    def test_redirect_of_mcp_remote(self):
        a, params = self.authorized("--static-oauth-client-metadata", "{}")
        self.assertRegex(params["redirect_uri"],
                         r"^http://localhost:\d+/oauth/callback$")

    def test_metadata_is_registered(self):
        a, params = self.authorized(
            "--static-oauth-client-metadata",
            '{"client_name":"Design Intelligence","client_uri":"https://d/"}')
        client, = a.told
        self.assertEqual(client["client_name"], "Design Intelligence")
        self.assertEqual(client["client_uri"], "https://d/")
        self.assertEqual(client["redirect_uris"], [params["redirect_uri"]])

    def test_all_addresses(self):
        """In a container: the redirect comes from outside."""
        a, params = self.authorized("--host", "0.0.0.0")
        self.assertRegex(params["redirect_uri"], r"^http://localhost:\d+/")


if __name__ == "__main__":
    support.main()
