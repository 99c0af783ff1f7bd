"""A door that lets signed requests pass, by AWS Signature Version 4 as it is
published: https://docs.aws.amazon.com/IAM/latest/UserGuide/
reference_sigv-create-signed-request.html
"""

import calendar
import hashlib
import hmac
import re
import time
import urllib.parse

CLOCK = 300     # seconds by which a request may be off
FORM = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/ ]+)/([^ ]+), "
                  r"SignedHeaders=([^ ]+), Signature=([0-9a-f]{64})$")


def quote(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def canonical_query(query):
    """Each name and value encoded once, in the order of these."""
    pairs = []
    for part in query.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append(tuple(quote(urllib.parse.unquote_to_bytes(
                word.replace("+", " "))) for word in (name, value)))
    return "&".join("%s=%s" % pair for pair in sorted(pairs))


def canonical_value(values):
    return ",".join(re.sub(" +", " ", v.strip()) for v in values)


def canonical(method, target, header, signed, body):
    """The text whose hash is signed. header(name) lists the values."""
    path, _, query = target.partition("?")
    lines = [method, quote(path, "/") or "/", canonical_query(query)]
    lines += ["%s:%s" % (name, canonical_value(header(name)))
              for name in signed]
    return "\n".join(lines + ["", ";".join(signed),
                              hashlib.sha256(body).hexdigest()])


def sign(secret, date, scope, text):
    key = ("AWS4" + secret).encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), "sha256").digest()
    text = "\n".join(("AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256(text.encode("latin-1")).hexdigest()))
    return hmac.new(key, text.encode(), "sha256").hexdigest()


class Door:
    """Stands before an Mcp.

    keys  id -> (secret, session token or None, when it ends or None)
    """

    def __init__(self, server, keys, region="us-east-1",
                 service="bedrock-agentcore", ahead=0):
        self.server = server
        self.keys = dict(keys)
        self.scope = "%s/%s/aws4_request" % (region, service)
        self.ahead = ahead          # of the door's clock, in seconds
        self.passed = []            # requests
        self.refused = []           # (request, why)
        server.before = self.look

    def look(self, rx, tx):
        why = self.fault(rx)
        if why is None:
            self.passed.append(rx)
            return False
        self.refused.append((rx, why))
        tx.json({"message": why}, 403,
                [("x-amzn-errortype", "AccessDeniedException")])
        return True

    def fault(self, rx):
        """Why the request may not pass, in the words of AWS; or None."""
        found = [FORM.match(v) for v in rx.all("Authorization")]
        date = rx.get("X-Amz-Date", "")
        if len(found) != 1 or found[0] is None or \
                not re.match(r"\d{8}T\d{6}Z$", date):
            return "Missing Authentication Token, or no signature: %r" % \
                [v.split("Signature")[0] for v in rx.all("Authorization")]
        ident, scope, signed, signature = found[0].groups()
        signed = signed.split(";")
        secret, token, ends = self.keys.get(ident, ("", None, 0))
        now = time.time() + self.ahead
        if not secret or rx.get("X-Amz-Security-Token") != token:
            return "The security token included in the request is invalid."
        if ends is not None and now >= ends:
            return "The security token included in the request is expired"
        then = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
        if abs(now - then) > CLOCK:
            return "Signature expired: %s is too far from now" % date
        if scope != date[:8] + "/" + self.scope:
            return "Credential should be scoped to %s, the signature has %s" \
                % (self.scope, scope)
        names = {n.lower() for n, _ in rx.headers} | {"host"}
        must = {n for n in names if n.startswith("x-amz-")} | {"host"} | \
            ({"content-type"} & names)
        if signed != sorted(set(signed)) or not must <= set(signed) <= names:
            return "signature: the list of headers is wrong: %s" % signed

        def header(name):
            # HTTP/2 has no Host
            return rx.all(name) or ["%s:%d" % (self.server.host,
                                               self.server.port)]
        text = canonical(rx.method, rx.target, header, signed, rx.body)
        if sign(secret, date, scope, text) != signature:
            return "The request signature we calculated does not match the " \
                "signature you provided."
        return None
