/*
 * Forgetful servers made of the official SDK. The variants:
 * example: as the SDK's simpleStreamableHttp was for a year: resumable streams,
 *   and 400 for a session that it does not know.
 * spec: as that example is now, 404; no events are stored.
 * single: one transport for all, answers in JSON: 400 "Server not initialized"
 *   from the transport itself after a restart.
 * idle: a session ends after 400 ms without a request; listen streams with it.
 * idle-json: the same, with answers in JSON and no listen stream.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { McpServer, ResourceTemplate } from
    '@modelcontextprotocol/sdk/server/mcp.js';
import { completable } from
    '@modelcontextprotocol/sdk/server/completable.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { InMemoryEventStore } from
    '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { isInitializeRequest, SubscribeRequestSchema,
    UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { complete, content, listen, on_change, tools, uri, variant } from
    './forget-server.mjs';

const idle_ms = variant.startsWith('idle') ? 400 : 0;
const json = variant === 'single' || variant === 'idle-json';
const sessions = new Map();
const text = (value) => ({ content: [{ type: 'text', text: value }] });

function make_server() {
    const mcp = new McpServer({ name: 'forgetful', version: '1.0.0' }, {
        capabilities: { logging: {}, resources: { subscribe: true } } });
    const subscribed = new Set();

    for (const [name, { run, annotations }] of Object.entries(tools))
        mcp.registerTool(name, { annotations,
            inputSchema: { key: z.string(), ms: z.number() } },
        async (args) => text(await run(args)));
    mcp.registerTool('log', {}, async ({ sessionId }) => {
        for (const level of ['info', 'error'])
            await mcp.sendLoggingMessage({ level, data: level }, sessionId);
        return text('logged');
    });
    mcp.registerResource('a', uri, {}, () =>
        ({ contents: [{ uri, text: content('a') }] }));
    mcp.registerResource('t', new ResourceTemplate('mem://t/{name}', {
        list: undefined, complete: { name: complete },
    }), {}, (at, { name }) =>
        ({ contents: [{ uri: at.href, text: content(name) }] }));
    mcp.registerPrompt('p', {
        argsSchema: { word: completable(z.string(), complete) },
    }, ({ word }) => ({ messages: [{ role: 'user',
        content: { type: 'text', text: `say ${word}` } }] }));
    mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
        subscribed.add(params.uri);
        return {};
    });
    mcp.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
        subscribed.delete(params.uri);
        return {};
    });
    on_change(() => {
        if (subscribed.has(uri))
            mcp.server.sendResourceUpdated({ uri }).catch(() => {});
    });
    return mcp;
}

async function open(req, res) {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        eventStore: variant === 'example' ? new InMemoryEventStore()
            : undefined,
        enableJsonResponse: json,
        onsessioninitialized: (id) => {
            sessions.set(id, { transport });
            if (!only)
                touch(sessions.get(id), req, res);
        },
    });

    await make_server().connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
        sessions.delete(transport.sessionId);
        onclose?.();
    };
    return transport;
}

/* Not ended while a request of it is open, nor for some time after the last. */
function touch(session, { method }, res) {
    if (!idle_ms || method === 'GET')
        return;
    session.open = (session.open ?? 0) + 1;
    clearTimeout(session.timer);
    res.on('close', () => {
        if (--session.open === 0)
            session.timer = setTimeout(() => session.transport.close(),
                idle_ms);
    });
}

function refuse(res, status, code, message) {
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message },
        id: null }));
}

/* As Express does it with send(). */
function refuse_plainly(res, status, message) {
    res.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    res.end(message);
}

async function with_sessions(req, res, message) {
    const id = req.headers['mcp-session-id'];
    const session = sessions.get(id);

    if (req.method === 'GET' && variant === 'idle-json')
        return res.writeHead(405, { allow: 'POST' }).end();
    if (session) {
        touch(session, req, res);
        return session.transport.handleRequest(req, res, message);
    }
    if (!id && isInitializeRequest(message)) {
        const transport = await open(req, res);

        return transport.handleRequest(req, res, message);
    }
    if (id && variant !== 'example')
        return refuse(res, 404, -32001, 'Session not found');
    if (req.method === 'POST')
        return refuse(res, 400, -32000,
            'Bad Request: No valid session ID provided');
    return refuse_plainly(res, 400, 'Invalid or missing session ID');
}

const only = variant === 'single' ? await open() : undefined;

listen(async (req, res) => {
    let body = '';

    for await (const piece of req)
        body += piece;
    const message = body ? JSON.parse(body) : undefined;
    return only ? only.handleRequest(req, res, message)
        : with_sessions(req, res, message);
});
