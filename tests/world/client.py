#!/usr/bin/env python3
"""The client of the Python SDK, mcp 1.x or 2.x, as a host that is told what to
do.

usage: client.py PROGRAM ARGUMENT...

Starts the program as its server.  Reads lines, each a JSON object: {"id",
"tool", "key"} calls a tool, {"id"} lists the tools.  Writes for each, when it
is done, {"id", "text"} or {"id", "error"}; for each notification {"note": its
method}; and {"hello": revision} at the start, with "progress": false if it does
not ask for progress, "answers": the questions that it answers if not all, and
"strings": false if it cannot answer one whose id is a string.  All may be under
way at once.  End of input ends it in order.
"""

import asyncio
import inspect
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    import mcp_types as T
    from mcp import Client
    NEW = True
except ImportError:
    import mcp.types as T
    NEW = False


def say(**what):
    print(json.dumps(what), flush=True)


async def sampled(context, params):
    return T.CreateMessageResult(role="assistant", model="m",
                                 content=T.TextContent(type="text", text="m"))


async def elicited(context, params):
    sure = getattr(params, "mode", None) != "url"
    return T.ElicitResult(action="accept",
                          content={"sure": True} if sure else None)


async def rooted(context):
    return T.ListRootsResult(roots=[T.Root(uri="file:///r", name="r")])


async def heard(message):
    message = getattr(message, "root", message)
    if getattr(message, "method", None):
        say(note=message.method)


def known(function, **arguments):
    """Those that this release has."""
    names = inspect.signature(function).parameters
    return {k: v for k, v in arguments.items() if k in names}


async def progress(done, total, message):
    say(note="notifications/progress")


def asking(session):
    return known(session.call_tool, progress_callback=progress)


class Talk:
    def __init__(self, session):
        self.session = session

    async def do(self, order):
        try:
            if "tool" not in order:
                found = await self.session.list_tools()
                say(id=order["id"], text=" ".join(t.name for t in found.tools))
                return
            result = await self.session.call_tool(
                order["tool"], {"key": order["key"]}, **asking(self.session))
            failed = result.is_error if NEW else result.isError
            say(id=order["id"],
                **{"error" if failed else "text": result.content[0].text})
        except Exception as e:
            say(id=order["id"], error=str(e))

    async def run(self):
        tasks = set()
        loop = asyncio.get_running_loop()
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            if not line:
                break
            tasks.add(asyncio.create_task(self.do(json.loads(line))))
        await asyncio.gather(*tasks)


async def main():
    params = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:],
                                   env=dict(os.environ))
    callbacks = {"sampling_callback": sampled, "list_roots_callback": rooted,
                 "message_handler": heard, "elicitation_callback": elicited}
    if NEW:
        async with Client(stdio_client(params), **callbacks) as client:
            say(hello=client.protocol_version, progress=bool(asking(client)))
            await Talk(client).run()
        return
    async with stdio_client(params) as (read, write):
        async with ClientSession(read, write, **known(
                ClientSession, **callbacks)) as session:
            hello = await session.initialize()
            say(hello=hello.protocolVersion,
                progress=bool(asking(session)))
            await Talk(session).run()


asyncio.run(main())
