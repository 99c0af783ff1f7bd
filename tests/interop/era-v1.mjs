/*
 * The legacy servers of the matrix, made of the official SDK v1: Streamable
 * HTTP with sessions, Streamable HTTP without, HTTP+SSE.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { McpServer, ResourceTemplate } from
    '@modelcontextprotocol/sdk/server/mcp.js';
import { completable } from
    '@modelcontextprotocol/sdk/server/completable.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageResultSchema, ElicitResultSchema, isInitializeRequest,
    ListRootsResultSchema, McpError, RootsListChangedNotificationSchema,
    SetLevelRequestSchema, SubscribeRequestSchema, UnsubscribeRequestSchema,
    UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { complete, content, form, logged, pause, prompt, question,
    read_json, refuse, said, serve, State, text } from './era-common.mjs';

const levels = ['debug', 'info', 'notice', 'warning', 'error'];

/* A server for one session, or for one request where there are none. */
class Instance {
    subscribed = new Set();
    level = 'debug';

    constructor(state) {
        this.state = state;
        this.mcp = new McpServer({ name: 'era-v1', version: '1.0.0' }, {
            instructions: 'be brief',
            capabilities: { logging: {}, resources: { subscribe: true } } });
        this.add_tools();
        this.add_questions();
        this.add_rest();
        this.hear();
    }

    ask(extra, method, params, schema) {
        return extra.sendRequest({ method, params }, schema,
            { timeout: this.state.question_ms, signal: extra.signal });
    }

    /* Only the error's code: no test looks at more. */
    async tell(asked) {
        try {
            return await asked;
        } catch (error) {
            return text(`error ${error.code}`);
        }
    }

    add_tools() {
        const { mcp, state } = this;

        mcp.registerTool('echo', { inputSchema: { word: z.string() } },
            ({ word }) => text(`echo ${word}`));
        mcp.registerTool('sum', {
            inputSchema: { a: z.number(), b: z.number() },
            outputSchema: { sum: z.number() },
        }, ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })),
            structuredContent: { sum: a + b } }));
        mcp.registerTool('fail', {}, () => { throw new Error('it broke'); });
        mcp.registerTool('steps', {}, async (extra) => {
            const { progressToken } = extra._meta ?? {};

            for (let progress = 1; progress <= 3 && progressToken !== undefined;
                progress++) {
                await extra.sendNotification({
                    method: 'notifications/progress', params: { progressToken,
                        progress, total: 3, message: `step ${progress}` } });
                await pause();
            }
            return text('done');
        });
        mcp.registerTool('hang', { inputSchema: { key: z.string() } },
            async ({ key }, { signal }) => text(await state.hang(key, signal)));
        mcp.registerTool('log', {}, async (extra) => {
            for (const [level, data] of logged)
                if (levels.indexOf(level) >= levels.indexOf(this.level))
                    await extra.sendNotification({
                        method: 'notifications/message',
                        params: { level, data } });
            return text('logged');
        });
        mcp.registerTool('who', {}, () => text(JSON.stringify({
            client: mcp.server.getClientVersion()?.name,
            capabilities: mcp.server.getClientCapabilities(),
            era: 'legacy' })));
        this.more = [mcp.registerTool('more', {}, () => text('more'))];
    }

    add_questions() {
        const { mcp, state } = this;
        const elicit = (extra, params) => this.ask(extra, 'elicitation/create',
            params, ElicitResultSchema);
        const sample = (extra) => this.ask(extra, 'sampling/createMessage',
            question, CreateMessageResultSchema);
        const roots = (extra) => this.ask(extra, 'roots/list', undefined,
            ListRootsResultSchema);
        const tool = (name, run) => mcp.registerTool(name,
            { inputSchema: { key: z.string() } }, ({ key }, extra) =>
                this.tell(run(extra, key)));

        tool('sample', async (extra) =>
            text((await sample(extra)).content.text));
        tool('form', async (extra) => {
            const { action, content: filled } = await elicit(extra, form);

            return text(`${action} ${filled?.word}`);
        });
        tool('url', async (extra, key) => {
            const { action } = await elicit(extra, { mode: 'url',
                message: 'sign in', url: state.page(key),
                elicitationId: key });

            await extra.sendNotification({
                method: 'notifications/elicitation/complete',
                params: { elicitationId: key } });
            return text(`${action} ${state.opened.has(key)}`);
        });
        tool('roots', async (extra) =>
            text((await roots(extra)).roots.map((r) => r.uri)));
        tool('rounds', async (extra) => {
            const first = await elicit(extra, form);
            const second = await elicit(extra, { ...form,
                message: `after ${first.content.word}?` });

            return text(`${first.content.word} ${second.content.word}`);
        });
        tool('both', async (extra) => {
            const [one, two] = await Promise.all([elicit(extra, form),
                sample(extra)]);

            return text(`${one.content.word} ${two.content.text}`);
        });
        /* By the error of 2025-11-25, until the page was opened. */
        mcp.registerTool('gate', { inputSchema: { key: z.string() } },
            ({ key }) => {
                if (state.opened.has(key))
                    return text('open');
                throw new UrlElicitationRequiredError([{ mode: 'url',
                    message: 'sign in', url: state.page(key),
                    elicitationId: key }]);
            });
        mcp.registerPrompt('asking', {}, async (extra) =>
            prompt(said((await elicit(extra, form)).content.word)));
    }

    add_rest() {
        const { mcp } = this;

        this.more.push(mcp.registerPrompt('more', {}, () => prompt('more')));
        this.more.push(mcp.registerResource('more', 'mem://more', {}, () =>
            ({ contents: [] })));
        mcp.registerPrompt('greet', { argsSchema: {
            word: completable(z.string(), complete) } },
        ({ word }) => prompt(said(word)));
        mcp.registerResource('a', 'mem://a', {}, (uri) =>
            ({ contents: [{ uri: uri.href, text: content('a') }] }));
        mcp.registerResource('t', new ResourceTemplate('mem://t/{name}', {
            list: undefined, complete: { name: complete },
        }), {}, (uri, { name }) => {
            if (name === 'gone')
                throw new McpError(-32002, 'no such thing');
            return { contents: [{ uri: uri.href, text: content(name) }] };
        });
        /* Asks where no question belongs to anything. */
        mcp.registerPrompt('rooted', { argsSchema: {
            word: completable(z.string(), async () => this.roots()) } },
        ({ word }) => prompt(said(word)));
        this.toggle();
    }

    hear() {
        const { server } = this.mcp;
        const { state } = this;

        server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
            this.level = params.level;
            return {};
        });
        server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
            this.subscribed.add(params.uri);
            return {};
        });
        server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
            this.subscribed.delete(params.uri);
            return {};
        });
        server.setNotificationHandler(RootsListChangedNotificationSchema,
            () => { state.roots_changed++; });
    }

    /* Outside of any request. */
    async roots() {
        try {
            const { roots } = await this.mcp.server.listRoots(undefined,
                { timeout: this.state.question_ms });

            return roots.map((r) => r.uri);
        } catch (error) {
            return [`error ${error.code}`];
        }
    }

    /* As many servers do: ask for the roots when the session begins. */
    async ask_at_start() {
        const { start_roots } = this.state;

        start_roots.push(await this.roots());
    }

    toggle() {
        for (const one of this.more)
            one[this.state.more ? 'enable' : 'disable']();
    }
}

class Server {
    instances = new Map();

    constructor(kind) {
        this.kind = kind;
        this.state = new State(kind === 'stateless');
    }

    async start() {
        this.stop = await serve(this.state, (req, res) =>
            this[this.kind](req, res));
        return this;
    }

    async open(transport) {
        const instance = new Instance(this.state);

        if (this.kind === 'sse')
            instance.mcp.server.oninitialized = () => instance.ask_at_start();
        await instance.mcp.connect(transport);
        return instance;
    }

    async stateful(req, res) {
        const id = req.headers['mcp-session-id'];
        const message = await read_json(req);
        let transport = this.instances.get(id)?.mcp.server.transport;

        if (!transport && id)
            return refuse(res, 404, -32001, 'Session not found');
        if (!transport && !isInitializeRequest(message))
            return refuse(res, 400, -32000, 'Bad Request: no session');
        if (!transport) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: () => randomUUID(),
                onsessioninitialized: (name) => {
                    this.instances.set(name, instance);
                },
                onsessionclosed: (name) => { this.instances.delete(name); },
            });
            const instance = await this.open(transport);
        }
        const handled = transport.handleRequest(req, res, message);

        if (req.method === 'GET')
            await this.greet(id, res);
        return handled;
    }

    /* As soon as there is a stream to ask on. */
    async greet(id, res) {
        while (!res.headersSent && !res.closed)
            await pause();
        this.instances.get(id)?.ask_at_start();
    }

    async stateless(req, res) {
        if (req.method !== 'POST')
            return res.writeHead(405, { allow: 'POST' }).end();
        const transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: undefined });

        await this.open(transport);
        res.on('close', () => { transport.close(); });
        return transport.handleRequest(req, res, await read_json(req));
    }

    async sse(req, res) {
        const { pathname, searchParams } = new URL(req.url, this.state.url);

        if (pathname === '/mcp' && req.method === 'GET') {
            const transport = new SSEServerTransport('/messages', res);
            const instance = await this.open(transport);

            this.instances.set(transport.sessionId, instance);
            res.on('close', () =>
                this.instances.delete(transport.sessionId));
            return undefined;
        }
        if (pathname !== '/messages' || req.method !== 'POST')
            return res.writeHead(405, { allow: 'GET' }).end();
        const instance = this.instances.get(searchParams.get('sessionId'));

        if (!instance)
            return res.writeHead(404).end('Session not found');
        return instance.mcp.server.transport.handlePostMessage(req, res);
    }

    /* To all that subscribed. */
    async change(uri) {
        for (const { mcp, subscribed } of this.instances.values())
            if (subscribed.has(uri))
                await mcp.server.sendResourceUpdated({ uri });
    }

    async toggle(more) {
        this.state.more = more;
        for (const instance of this.instances.values())
            instance.toggle();
    }

    /* Outside of any request. */
    async log_loosely(data) {
        for (const { mcp } of this.instances.values())
            await mcp.server.sendLoggingMessage({ level: 'error', data });
    }
}

export const start_v1 = (kind) => new Server(kind).start();
