#!/usr/bin/env python3
"""A server of the Python SDKs: mcp 1.x, mcp 2.x or fastmcp, by what is there.

usage: server.py

Reads lines "PORT PUBLIC FOLDER MODE" and makes a server of each in a process
of its own, which has all modules already; prints its number.  tests/world has
the tools that a server has and the modes in README.
"""

import asyncio
import inspect
import os
import signal
import sys
import warnings

warnings.filterwarnings("ignore")

import uvicorn                                          # noqa: E402
from pydantic import AnyUrl, BaseModel                  # noqa: E402

try:
    import mcp_types as T               # mcp 2.x, and fastmcp on it
    NEW = True
except ImportError:
    import mcp.types as T
    NEW = False
try:
    import fastmcp
    from fastmcp import Context, FastMCP as Server
except ImportError:
    fastmcp = None
    if NEW:
        from mcp.server.mcpserver import Context, MCPServer as Server
    else:
        from mcp.server.fastmcp import Context, FastMCP as Server

folder = None           # of this server
subscribers = {}        # uri -> sessions
URI = "world://text"


class Sure(BaseModel):
    sure: bool


def count(tool, key):
    """Notes a run."""
    with open(os.path.join(folder, "runs"), "a") as f:
        f.write("%s %s\n" % (tool, key))


async def gate(ctx, key):
    """Until the test opens it, with progress."""
    await ctx.report_progress(1, 3)
    while not os.path.exists(os.path.join(folder, "go-" + key)):
        await asyncio.sleep(0.02)
    await ctx.report_progress(2, 3)


def safe(key: str) -> str:
    count("safe", key)
    return "safe " + key


def unsafe(key: str) -> str:
    count("unsafe", key)
    return "unsafe " + key


async def slow(ctx: Context, key: str) -> str:
    count("slow", key)
    await gate(ctx, key)
    return "slow " + key


async def slow_safe(ctx: Context, key: str) -> str:
    count("slow_safe", key)
    await gate(ctx, key)
    return "slow_safe " + key


def big(key: str) -> str:
    count("big", key)
    return "x" * 1000000


def boom(key: str) -> str:
    count("boom", key)
    raise RuntimeError("kaboom")


def expired(key: str) -> str:
    count("expired", key)
    raise ValueError("Session not found: the session has expired")


async def log(ctx: Context, key: str) -> str:
    count("log", key)
    await ctx.warning("log " + key)
    return "log " + key


async def touch(ctx: Context, key: str) -> str:
    """Tells all who have subscribed that the text and the tools are new."""
    count("touch", key)
    for session in subscribers.get(URI, ()):
        try:
            await asyncio.wait_for(session.send_resource_updated(
                URI if NEW else AnyUrl(URI)), 5)
            await asyncio.wait_for(session.send_tool_list_changed(), 5)
        except Exception:
            pass                # it has gone
    if NEW and hasattr(ctx, "notify_tools_changed"):
        await ctx.notify_tools_changed()
        await ctx.notify_resource_updated(URI)
    return "touch " + key


async def sample(ctx: Context, key: str) -> str:
    count("sample", key)
    ask = ctx.session.create_message
    more = {} if "related_request_id" not in inspect.signature(
        ask).parameters else {"related_request_id": ctx.request_id}
    await ask(messages=[T.SamplingMessage(role="user", content=T.TextContent(
        type="text", text="hi"))], max_tokens=10, **more)
    return "sample " + key


async def form(ctx: Context, key: str) -> str:
    count("form", key)
    r = await ctx.elicit("sure?", Sure)
    return "form %s %s" % (key, r.action)


async def url(ctx: Context, key: str) -> str:
    count("url", key)
    asks = ctx.elicit_url if hasattr(ctx, "elicit_url") else \
        ctx.session.elicit_url
    more = {} if hasattr(ctx, "elicit_url") else {
        "related_request_id": ctx.request_id}
    r = await asks("go there", "https://pay.example/1", "e1", **more)
    return "url %s %s" % (key, r.action)


async def roots(ctx: Context, key: str) -> str:
    count("roots", key)
    await ctx.session.list_roots()
    return "roots " + key


def add_tools(server):
    tools = [safe, unsafe, slow, slow_safe, big, boom, expired, log, touch,
             sample]
    if hasattr(Context, "elicit"):
        tools.append(form)
    from mcp.server.session import ServerSession
    if hasattr(Context, "elicit_url") or \
            fastmcp and hasattr(ServerSession, "elicit_url"):
        tools.append(url)
    if not (fastmcp and NEW):
        tools.append(roots)
    for tool in tools:
        if tool in (safe, slow_safe):
            hint = {"readOnlyHint": True}
            if not fastmcp:
                hint = T.ToolAnnotations(**hint)
            server.tool(annotations=hint)(tool)
        else:
            server.tool()(tool)
    if NEW and not fastmcp:
        add_resolved(server)


def add_resolved(server):
    """How mcp 2.x asks hosts of 2026-07-28."""
    from typing import Annotated
    from mcp.server.mcpserver.resolve import Elicit, Resolve

    async def sure(ctx: Context) -> Elicit[Sure]:
        return Elicit("sure?", Sure)

    @server.tool()
    async def resolved(key: str,
                       answer: Annotated[Sure, Resolve(sure)]) -> str:
        count("resolved", key)
        return "resolved %s %s" % (key, answer.sure)


def add_others(server):
    @server.resource(URI)
    def text() -> str:
        return "text"

    @server.prompt()
    def hello(name: str = "you") -> str:
        return "hello " + name


# Subscriptions are not in the upper API of any of them.

def add_subscriptions(server):
    def find(obj, *names):
        return next(getattr(obj, n) for n in names if hasattr(obj, n))
    low = find(server, "_lowlevel_server", "_mcp_server")
    if NEW:
        async def subscribe(ctx, params):
            subscribers.setdefault(str(params.uri), []).append(ctx.session)
            return T.EmptyResult()

        async def ignore(ctx, params):
            return T.EmptyResult()
        low.add_request_handler("resources/subscribe",
                                T.SubscribeRequestParams, subscribe)
        low.add_request_handler("resources/unsubscribe",
                                T.UnsubscribeRequestParams, ignore)
        low.add_request_handler("logging/setLevel",
                                T.SetLevelRequestParams, ignore)
        return

    @low.subscribe_resource()
    async def subscribed(uri):
        subscribers.setdefault(str(uri), []).append(
            low.request_context.session)

    @low.set_logging_level()
    async def level(level):
        pass
    options = low.create_initialization_options

    def promise(*args, **kw):
        r = options(*args, **kw)
        r.capabilities.resources.subscribe = True
        r.capabilities.tools.listChanged = True
        return r
    low.create_initialization_options = promise


def memory_store():
    """An event store as the SDK's examples have it."""
    from mcp.server.streamable_http import EventMessage, EventStore

    class Memory(EventStore):
        def __init__(self):
            self.events = []

        async def store_event(self, stream_id, message):
            self.events.append((stream_id, message))
            return str(len(self.events) - 1)

        async def replay_events_after(self, last, send):
            stream = self.events[int(last)][0]
            for n in range(int(last) + 1, len(self.events)):
                if self.events[n][0] == stream and self.events[n][1]:
                    await send(EventMessage(self.events[n][1], str(n)))
            return stream
    return Memory()


def make_app(public, mode):
    """The application, set up as the mode says."""
    settings = {}
    if "json" in mode:
        settings["json_response"] = True
    if "stateless" in mode:
        settings["stateless_http"] = True
    if "store" in mode:
        settings["event_store"] = memory_store()
    if "expiry" in mode:
        settings["session_idle_timeout"] = 1.0
    name = {}
    if "auth" in mode:
        import signin
        name = signin.settings(public, folder, mode, fastmcp)
    if fastmcp:
        server = Server("world", **name)
        make = server.http_app
    elif NEW:
        server = Server("world", **name)
        make = server.streamable_http_app
    else:
        server = Server("world", **settings, **name)
        make = server.streamable_http_app
        settings = {}
    add_tools(server)
    add_others(server)
    add_subscriptions(server)
    return make(**settings)


def modes():
    """The modes that this release knows."""
    where = Server.http_app if fastmcp else \
        Server.streamable_http_app if NEW else Server.__init__
    known = inspect.signature(where).parameters
    found = {"": True, "keepalive": True,
             "json": "json_response" in known or not NEW,
             "stateless": "stateless_http" in known or not NEW,
             "store": "event_store" in known,
             "expiry": "session_idle_timeout" in known,
             "auth": True}
    return [m for m in found if found[m]]


def serve(port, public, where, mode):
    global folder
    folder = where
    out = os.open(os.path.join(folder, "server.log"),
                  os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    app = make_app("http://127.0.0.1:" + public, mode.split(","))
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning",
                timeout_keep_alive=1 if "keepalive" in mode else 5)


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print(",".join(modes()), flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            try:
                serve(*line.rstrip("\n").split("\t"))
            finally:
                os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
