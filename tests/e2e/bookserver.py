"""A server that keeps books, as a process of its own: what tests/interop's
forget-*.mjs are, made of faultserver.py, for where npm's packages are not.

usage: bookserver.py PORT LOG json|sse|h2

Each run of a tool is a line of LOG before the tool does anything, so runs are
counted when the process is killed, too.  FORGET_TLS names a certificate
without its ".pem"; h2 needs one.
"""

import json
import os
import ssl
import sys
import threading

import faultserver
import h2server

TOOLS = [{"name": "read", "annotations": {"readOnlyHint": True}},
         {"name": "unsafe"}]


def tls():
    name = os.environ.get("FORGET_TLS")
    if not name:
        return None
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(name + ".pem", name + ".key")
    return c


def main():
    port, path, variant = sys.argv[1:]
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(value):
        os.write(log, json.dumps(value).encode() + b"\n")

    def tool(rx, tx):
        args = rx.json["params"]["arguments"]
        note({"run": args["key"]})
        s.closing.wait(args["ms"] / 1000)
        result = {"content": [{"type": "text", "text": "ran " + args["key"]}]}
        if variant == "json":
            tx.result(result)
        else:
            tx.sse()
            tx.answer(result)

    make = h2server.H2Mcp if variant == "h2" else faultserver.Mcp
    s = make(tls=tls(), port=int(port))
    s.on_get = s.listen
    s.methods["tools/call"] = tool
    s.methods["tools/list"] = lambda rx, tx: tx.result({"tools": TOOLS})
    note({"ready": os.getpid()})
    threading.Event().wait()


if __name__ == "__main__":
    main()
