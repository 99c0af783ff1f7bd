/*
 * The servers of the matrix made of the official SDK v2: modern only, dual-era
 * (its legacy half with sessions), and dual-era as the SDK has it by default
 * (its legacy half without). One factory serves all halves.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from
    '@modelcontextprotocol/node';
import { completable, createMcpHandler, fromJsonSchema, inputRequired,
    inputResponse, isInitializeRequest, isLegacyRequest, McpServer,
    ProtocolError, ResourceTemplate } from '@modelcontextprotocol/server';
import { complete, content, form, logged, pause, prompt, question,
    read_json, refuse, said, serve, State, text } from './era-common.mjs';

/*
 * Ask what was not answered yet; with all the answers, go on. An answer is
 * what a test wants of it: a word, a text, URIs.
 */
function ask(ctx, requests, go_on, requestState) {
    const answers = {};

    for (const key of Object.keys(requests)) {
        const view = inputResponse(ctx.mcpReq.inputResponses, key);

        if (view.kind === 'missing')
            return inputRequired({ inputRequests: requests, requestState });
        answers[key] = { action: view.action, word: view.content?.word,
            text: view.result?.content.text,
            uris: view.roots?.map((r) => r.uri) };
    }
    return go_on(answers);
}

function add_tools(mcp, state, era) {
    mcp.registerTool('echo', { inputSchema: z.object({ word: z.string() }) },
        ({ word }) => text(`echo ${word}`));
    mcp.registerTool('sum', {
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
    }, ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })),
        structuredContent: { sum: a + b } }));
    mcp.registerTool('count', {
        inputSchema: z.object({ to: z.number() }),
        outputSchema: fromJsonSchema({ type: 'array',
            items: { type: 'number' } }),
    }, ({ to }) => ({ content: [],
        structuredContent: Array.from({ length: to }, (_, i) => i) }));
    mcp.registerTool('region', { inputSchema: fromJsonSchema({
        type: 'object', required: ['region'], properties: { region: {
            type: 'string', 'x-mcp-header': 'Region' } } }) },
    ({ region }) => text(`in ${region}`));
    mcp.registerTool('fail', {}, () => { throw new Error('it broke'); });
    mcp.registerTool('steps', {}, async (ctx) => {
        const { progressToken } = ctx.mcpReq._meta ?? {};

        for (let progress = 1; progress <= 3 && progressToken !== undefined;
            progress++) {
            await ctx.mcpReq.notify({ method: 'notifications/progress',
                params: { progressToken, progress, total: 3,
                    message: `step ${progress}` } });
            await pause();
        }
        return text('done');
    });
    mcp.registerTool('hang', { inputSchema: z.object({ key: z.string() }) },
        async ({ key }, ctx) =>
            text(await state.hang(key, ctx.mcpReq.signal)));
    mcp.registerTool('log', {}, async (ctx) => {
        for (const [level, data] of logged)
            await ctx.mcpReq.log(level, data);
        return text('logged');
    });
    mcp.registerTool('who', {}, () => text(JSON.stringify({
        client: mcp.server.getClientVersion()?.name,
        capabilities: mcp.server.getClientCapabilities(), era })));
}

function add_questions(mcp, state) {
    const elicit = inputRequired.elicit(form);
    const sample = inputRequired.createMessage(question);
    const tool = (name, run) => mcp.registerTool(name,
        { inputSchema: z.object({ key: z.string() }) },
        ({ key }, ctx) => run(ctx, key));

    tool('sample', (ctx) => ask(ctx, { q: sample }, ({ q }) => text(q.text)));
    tool('form', (ctx) => ask(ctx, { q: elicit }, ({ q }) =>
        text(`${q.action} ${q.word}`)));
    tool('url', (ctx, key) => ask(ctx, { q: inputRequired.elicitUrl({
        message: 'sign in', url: state.page(key) }) }, ({ q }) =>
        text(`${q.action} ${state.opened.has(key)}`)));
    tool('roots', (ctx) => ask(ctx, { q: inputRequired.listRoots() },
        ({ q }) => text(q.uris)));
    tool('rounds', (ctx) => {
        const first = ctx.mcpReq.requestState();

        if (first === undefined)
            return ask(ctx, { one: elicit }, ({ one }) => ask(ctx,
                { two: inputRequired.elicit({ ...form,
                    message: `after ${one.word}?` }) }, () => {}, one.word));
        return ask(ctx, { two: elicit }, ({ two }) =>
            text(`${first} ${two.word}`), first);
    });
    tool('both', (ctx) => ask(ctx, { one: elicit, two: sample },
        ({ one, two }) => text(`${one.word} ${two.text}`)));
    mcp.registerPrompt('asking', {}, (ctx) => ask(ctx, { q: elicit },
        ({ q }) => prompt(said(q.word))));
}

function add_rest(mcp) {
    mcp.registerPrompt('greet', { argsSchema: z.object({
        word: completable(z.string(), complete) }) },
    ({ word }) => prompt(said(word)));
    mcp.registerResource('a', 'mem://a', {}, (uri) =>
        ({ contents: [{ uri: uri.href, text: content('a') }] }));
    mcp.registerResource('t', new ResourceTemplate('mem://t/{name}', {
        list: undefined, complete: { name: complete },
    }), {}, (uri, { name }) => {
        if (name === 'gone')
            throw new ProtocolError(-32002, 'no such thing');
        return { contents: [{ uri: uri.href, text: content(name) }] };
    });
}

/* Tools, prompts and resources that are added and removed. */
function add_more(mcp, state) {
    const more = [mcp.registerTool('more', {}, () => text('more')),
        mcp.registerPrompt('more', {}, () => prompt('more')),
        mcp.registerResource('more', 'mem://more', {}, () =>
            ({ contents: [] }))];
    const toggle = () => more.forEach((one) =>
        one[state.more ? 'enable' : 'disable']());

    toggle();
    return toggle;
}

function make(state, era) {
    const mcp = new McpServer({ name: 'era-v2', version: '2.0.0' }, {
        instructions: 'be brief',
        inputRequired: { roundTimeoutMs: state.question_ms },
        capabilities: { logging: {}, resources: { subscribe: true } } });

    add_tools(mcp, state, era);
    add_questions(mcp, state);
    add_rest(mcp);
    return { mcp, toggle: add_more(mcp, state) };
}

/* What only a session of the legacy era needs. */
function add_session(mcp, state, subscribed) {
    const { server } = mcp;

    server.setRequestHandler('resources/subscribe', ({ params }) => {
        subscribed.add(params.uri);
        return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        subscribed.delete(params.uri);
        return {};
    });
    server.setNotificationHandler('notifications/roots/list_changed',
        () => { state.roots_changed++; });
    return mcp;
}

class Server {
    state = new State(false);
    sessions = new Map();

    constructor(kind) {
        this.kind = kind;
        this.handler = createMcpHandler(({ era }) => {
            const { mcp } = make(this.state, era);

            return era === 'legacy'
                ? add_session(mcp, this.state, new Set()) : mcp;
        }, { legacy: kind === 'dual-stateless' ? 'stateless' : 'reject',
            onerror: (error) => { this.state.rejected.push(error.message); } });
        this.node = toNodeHandler(this.handler);
    }

    async start() {
        this.stop = await serve(this.state, async (req, res) => {
            const message = await read_json(req);

            if (this.kind === 'dual'
                && await isLegacyRequest(await toWebRequest(req, message)))
                return this.legacy(req, res, message);
            return this.node(req, res, message);
        });
        return this;
    }

    async legacy(req, res, message) {
        const id = req.headers['mcp-session-id'];
        let transport = this.sessions.get(id)?.transport;

        if (!transport && id)
            return refuse(res, 404, -32001, 'Session not found');
        if (!transport && !isInitializeRequest(message))
            return refuse(res, 400, -32000, 'Bad Request: no session');
        if (!transport) {
            const subscribed = new Set();
            const { mcp, toggle } = make(this.state, 'legacy');

            add_session(mcp, this.state, subscribed);
            transport = new NodeStreamableHTTPServerTransport({
                sessionIdGenerator: () => randomUUID(),
                onsessioninitialized: (name) => {
                    this.sessions.set(name, { mcp, transport, subscribed,
                        toggle });
                },
                onsessionclosed: (name) => { this.sessions.delete(name); },
            });
            await mcp.connect(transport);
        }
        return transport.handleRequest(req, res, message);
    }

    async change(uri) {
        this.handler.notify.resourceUpdated(uri);
        for (const { mcp, subscribed } of this.sessions.values())
            if (subscribed.has(uri))
                await mcp.server.sendResourceUpdated({ uri });
    }

    async toggle(more) {
        this.state.more = more;
        this.handler.notify.toolsChanged();
        this.handler.notify.promptsChanged();
        this.handler.notify.resourcesChanged();
        for (const session of this.sessions.values())
            session.toggle();
    }

    async log_loosely(data) {
        for (const { mcp } of this.sessions.values())
            await mcp.server.sendLoggingMessage({ level: 'error', data });
    }
}

export const start_v2 = (kind) => new Server(kind).start();
