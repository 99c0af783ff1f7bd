/*
 * A server that forgets its sessions on command, made of the official SDK, and
 * the official client in front of it through mcpsplice. What the client must
 * see of a forgotten session: nothing. What the server must see: one renewal,
 * and each refused request once.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import { McpServer, ResourceTemplate } from
    '@modelcontextprotocol/sdk/server/mcp.js';
import { completable } from
    '@modelcontextprotocol/sdk/server/completable.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageRequestSchema, CreateMessageResultSchema,
    ElicitRequestSchema, ElicitResultSchema, EmptyResultSchema } from
    '@modelcontextprotocol/sdk/types.js';
import { connect, sleep, until } from './lib.mjs';

/* Event ids tell their stream, so that a resume gets that stream's only. */
class EventStore {
    events = [];

    async storeEvent(stream, message) {
        this.events.push({ stream, message });
        return `${stream}#${this.events.length - 1}`;
    }

    async getStreamIdForEventId(id) {
        return id.slice(0, id.lastIndexOf('#'));
    }

    async replayEventsAfter(id, { send }) {
        const stream = await this.getStreamIdForEventId(id);
        let at = Number(id.slice(id.lastIndexOf('#') + 1)) + 1;

        for (; at < this.events.length; at++) {
            const event = this.events[at];

            if (event.stream === stream && event.message.jsonrpc)
                await send(`${stream}#${at}`, event.message);
        }
        return stream;
    }
}

/* How servers say that they do not know the session. */
const refusals = {
    '404, JSON-RPC error without id': () => [404, 'application/json',
        { jsonrpc: '2.0', id: null,
          error: { code: -32001, message: 'Session not found' } }],
    '404, plain text': () => [404, 'text/plain', 'Not Found'],
    '404, no body': () => [404, undefined, ''],
    '200, JSON, "Session terminated"': (id) => [200, 'application/json',
        { jsonrpc: '2.0', id,
          error: { code: 32600, message: 'Session terminated' } }],
    '400, "Invalid or expired session"': (id) => [400, 'application/json',
        { jsonrpc: '2.0', id,
          error: { code: -32000, message: 'INVALID OR EXPIRED SESSION' } }],
    '200, SSE, wrapped text': (id) => [200, 'text/event-stream',
        { jsonrpc: '2.0', id, error: { code: -32603,
          message: 'upstream: MCP error 32600: Session terminated.' } }],
};

class Server {
    sessions = new Map();
    requests = [];
    runs = {};
    refusal = '404, JSON-RPC error without id';
    options = {};
    port = 0;

    async start() {
        this.http = http.createServer((req, res) => this.handle(req, res));
        this.http.listen(this.port, '127.0.0.1');
        await once(this.http, 'listening');
        this.port = this.http.address().port;
        this.url = new URL(`http://127.0.0.1:${this.port}/mcp`);
    }

    /* Down at once, as if killed: open connections are cut. */
    async stop() {
        const closed = once(this.http, 'close');

        this.http.close();
        this.http.closeAllConnections();
        this.sessions.clear();
        await closed;
    }

    /* The open streams stay, as they do when a balancer loses its map. */
    forget() {
        this.sessions.clear();
    }

    inits() {
        return this.requests.filter((r) => r.rpc === 'initialize');
    }

    async handle(req, res) {
        let body = '';

        for await (const piece of req)
            body += piece;
        const message = body ? JSON.parse(body) : undefined;
        const seen = { verb: req.method, rpc: message?.method,
            id: message?.id, session: req.headers['mcp-session-id'],
            version: req.headers['mcp-protocol-version'],
            last: req.headers['last-event-id'], at: performance.now(),
            params: message?.params, req, res };

        this.requests.push(seen);
        if (req.method === 'GET' && this.options.no_get)
            return res.writeHead(405).end();
        const transport = seen.rpc === 'initialize' && !seen.session
            ? await this.open() : this.sessions.get(seen.session);
        if (!transport)
            return this.refuse(res, seen);
        return transport.handleRequest(req, res, message);
    }

    refuse(res, { verb, id }) {
        const kind = verb === 'POST' && id !== undefined
            ? this.refusal : '404, JSON-RPC error without id';
        const [status, type, value] = refusals[kind](id);
        let text = typeof value === 'string' ? value
            : JSON.stringify(value);

        if (type === 'text/event-stream')
            text = `event: message\ndata: ${text}\n\n`;
        res.writeHead(status, type ? { 'content-type': type } : {});
        return res.end(text);
    }

    async open() {
        const mcp = new McpServer({ name: 'forgetful', version: '1.0.0' },
            { capabilities: { logging: {} } });
        const transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => randomUUID(),
            eventStore: this.options.json ? undefined : new EventStore(),
            enableJsonResponse: this.options.json,
            retryInterval: 200,
            onsessioninitialized: (id) => {
                this.sessions.set(id, transport);
                this.current = { id, mcp, transport };
            },
            onsessionclosed: (id) => { this.sessions.delete(id); },
        });

        fill(mcp, this);
        await mcp.connect(transport);
        return transport;
    }

    ran(name) {
        this.runs[name] = (this.runs[name] ?? 0) + 1;
    }
}

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

/* What the server offers; each run of a tool is counted by its argument. */
function fill(mcp, server) {
    const tool = (name, run) => mcp.registerTool(name,
        { inputSchema: { key: z.string() } }, (args, extra) => {
            server.ran(args.key);
            return run(args, extra);
        });

    tool('echo', ({ key }) => text(`echo ${key}`));
    tool('sample', async (_args, extra) => {
        const result = await extra.sendRequest({
            method: 'sampling/createMessage', params: { maxTokens: 5,
                messages: [{ role: 'user',
                    content: { type: 'text', text: 'q' } }] } },
            CreateMessageResultSchema);
        return text(result.content.text);
    });
    tool('elicit', async (_args, extra) => {
        const result = await extra.sendRequest({
            method: 'elicitation/create', params: { message: 'which?',
                requestedSchema: { type: 'object', properties: {
                    word: { type: 'string' } } } } },
            ElicitResultSchema);
        return text(result.content.word);
    });
    tool('ping-client', async (_args, extra) => {
        await extra.sendRequest({ method: 'ping' }, EmptyResultSchema);
        await mcp.server.ping();
        return text('pong');
    });
    tool('wait', async () => {
        await sleep(1500);
        return text('waited');
    });
    tool('poll', async (_args, extra) => {
        const progressToken = extra._meta?.progressToken;

        assert.ok(extra.closeSSEStream, 'resumption is not supported');
        extra.closeSSEStream();
        for (let progress = 1; progress <= 3; progress++) {
            await sleep(100);
            if (progress === 3)
                extra.closeSSEStream();
            await extra.sendNotification({ method: 'notifications/progress',
                params: { progressToken, progress } });
        }
        await sleep(300);
        return text('polled');
    });
    tool('blob', ({ key }) => text('x'.repeat(Number(key))));

    mcp.registerResource('a', 'mem://a', {}, (uri) =>
        ({ contents: [{ uri: uri.href, text: 'content of a' }] }));
    mcp.registerResource('t', new ResourceTemplate('mem://t/{name}', {
        list: undefined,
        complete: { name: (value) => [`${value}1`, `${value}2`] },
    }), {}, (uri, { name }) =>
        ({ contents: [{ uri: uri.href, text: `content of ${name}` }] }));
    mcp.registerPrompt('p', { argsSchema: { word: completable(z.string(),
        (value) => [`${value}x`]) } }, ({ word }) => ({ messages: [{
        role: 'user', content: { type: 'text', text: `say ${word}` } }] }));
}

function prepare(client, link) {
    link.notes = [];
    link.on_sample = () => {};
    client.setRequestHandler(CreateMessageRequestSchema, async () => {
        await link.on_sample();
        return { role: 'assistant', model: 'stub',
            content: { type: 'text', text: 'sampled' } };
    });
    client.setRequestHandler(ElicitRequestSchema, () =>
        ({ action: 'accept', content: { word: 'elicited' } }));
    client.fallbackNotificationHandler = async (note) => {
        link.notes.push(note.method);
    };
}

/* Connected, and the listen stream open if the server has one. */
async function join(server, options = {}) {
    const link = await connect('mcpsplice', server.url, {
        prepare,
        client: { capabilities: { sampling: {}, elicitation: {} } },
        ...options,
    });

    if (!server.options.no_get)
        await until(() => listens(server).length > 0, 'the listen stream');
    return link;
}

const listens = (server) => server.requests.filter((r) =>
    r.verb === 'GET' && r.session === server.current.id);

async function leave(link) {
    const { code, signal, ms } = await link.end();

    assert.deepEqual({ code, signal }, { code: 0, signal: null },
        link.stderr);
    assert.ok(ms < 1000, `the end took ${ms} ms`);
}

let serial = 0;
const fresh = (what) => `${what}-${++serial}`;

async function call(link, name, key = fresh(name), options = undefined) {
    const result = await link.client.callTool({ name, arguments: { key } },
        undefined, options);

    return { ...result, key, text: result.content?.[0]?.text };
}

/* Every method a client can ask, and how to know its answer. */
const methods = {
    'tools/call': async (link) => {
        const { key, text: said } = await call(link, 'echo');

        assert.equal(said, `echo ${key}`);
    },
    'tools/list': async ({ client }) => {
        assert.ok((await client.listTools()).tools.length > 5);
    },
    'resources/list': async ({ client }) => {
        assert.equal((await client.listResources()).resources[0].uri,
            'mem://a');
    },
    'resources/templates/list': async ({ client }) => {
        const list = await client.listResourceTemplates();

        assert.equal(list.resourceTemplates[0].name, 't');
    },
    'resources/read': async ({ client }) => {
        const read = await client.readResource({ uri: 'mem://t/b' });

        assert.equal(read.contents[0].text, 'content of b');
    },
    'prompts/list': async ({ client }) => {
        assert.equal((await client.listPrompts()).prompts[0].name, 'p');
    },
    'prompts/get': async ({ client }) => {
        const prompt = await client.getPrompt({ name: 'p',
            arguments: { word: 'w' } });

        assert.equal(prompt.messages[0].content.text, 'say w');
    },
    'completion/complete': async ({ client }) => {
        const { completion } = await client.complete({
            ref: { type: 'ref/prompt', name: 'p' },
            argument: { name: 'word', value: 'v' } });

        assert.deepEqual(completion.values, ['vx']);
    },
    'logging/setLevel': ({ client }) => client.setLoggingLevel('error'),
    'ping': ({ client }) => client.ping(),
};

function check_renewal(server, before_inits) {
    const inits = server.inits();
    const last = inits.at(-1);

    assert.equal(inits.length, before_inits + 1, 'one renewal');
    assert.equal(last.session, undefined);
    assert.equal(last.version, undefined);
    assert.deepEqual(last.params, inits[0].params, 'the same opening');
}

for (const kind of Object.keys(refusals))
    describe(`a forgotten session: ${kind}`, () => {
        const server = new Server();
        let link;

        server.refusal = kind;
        before(async () => {
            await server.start();
            link = await join(server);
        }, { timeout: 20000 });
        after(async () => {
            link?.child?.kill('SIGKILL');
            await server.stop();
        });

        for (const [method, run] of Object.entries(methods))
            test(method, { timeout: 15000 }, async () => {
                const inits = server.inits().length;

                await run(link);
                assert.equal(server.inits().length, inits);
                server.forget();
                const begin = server.requests.length;
                await run(link);
                check_renewal(server, inits);

                /* but for the witnesses, which are the proxy's own */
                const sent = server.requests.slice(begin)
                    .filter((r) => r.rpc === method &&
                        (r.rpc === 'logging/setLevel' ||
                            !String(r.id).startsWith('mcpsplice-')));
                /* A log level is restored, too. */
                const more = method === 'logging/setLevel';
                assert.equal(sent.length, 2 + more,
                    'refused, then replayed');
                assert.equal(sent.at(-1).session, server.current.id);
                await run(link);
                assert.equal(server.inits().length, inits + 1);
            });

        test('the end', { timeout: 10000 }, async () => {
            const { id } = server.current;

            assert.deepEqual(link.errors, []);
            await leave(link);
            await until(() => !server.sessions.has(id), 'DELETE');
        });
    });

describe('sessions', () => {
    let server, link;

    beforeEach(async () => {
        server = new Server();
        await server.start();
        link = await join(server);
    }, { timeout: 20000 });

    /* Each case ends by the client leaving, which must be clean. */
    const session_test = (name, run) =>
        test(name, { timeout: 30000 }, async () => {
            try {
                await run();
                await leave(link);
            } finally {
                link.child.kill('SIGKILL');
                await server.stop();
            }
        });

    session_test('8 parallel calls, one renewal, each run once', async () => {
        server.forget();
        const all = await Promise.all(Array.from({ length: 8 }, () =>
            call(link, 'echo')));

        for (const { key, text: said } of all) {
            assert.equal(said, `echo ${key}`);
            assert.equal(server.runs[key], 1);
        }
        check_renewal(server, 1);
    });

    session_test('every method at once after a loss', async () => {
        server.forget();
        await Promise.all(Object.values(methods).map((run) => run(link)));
        check_renewal(server, 1);
    });

    session_test('ten losses in a row', async () => {
        for (let i = 0; i < 10; i++) {
            server.forget();
            const { key, text: said } = await call(link, 'echo');

            assert.equal(said, `echo ${key}`);
            assert.equal(server.runs[key], 1);
        }
        assert.equal(server.inits().length, 11);
    });

    session_test('the server restarted on the same port', async () => {
        await call(link, 'echo');
        await server.stop();
        await server.start();
        const { key, text: said } = await call(link, 'echo');

        assert.equal(said, `echo ${key}`);
        assert.equal(server.runs[key], 1);
        assert.equal(server.inits().length, 2);
    });

    session_test('calls while the server is away wait for it', async () => {
        await server.stop();
        const waiting = Promise.all([call(link, 'echo'), call(link, 'echo')]);

        await sleep(700);
        await server.start();
        for (const { key, text: said } of await waiting) {
            assert.equal(said, `echo ${key}`);
            assert.equal(server.runs[key], 1);
        }
        assert.equal(server.inits().length, 2);
    });

    session_test('a call cut by a restart: an error, no second run',
    async () => {
        const key = fresh('wait');
        const running = call(link, 'wait', key).then(() => undefined,
            (error) => error);

        await until(() => server.runs[key] === 1, 'the tool to run');
        await server.stop();
        await server.start();
        const error = await running;
        assert.equal(server.runs[key], 1);
        assert.ok(error, 'it was answered with an error');
        assert.equal(error.data?.source, 'mcpsplice', String(error));
        assert.equal(error.data.ran, 'maybe');
        await methods['tools/call'](link);
    });

    session_test('the server asks during a call: sampling, elicitation, ping',
    async () => {
        for (let round = 0; round < 2; round++) {
            assert.equal((await call(link, 'sample')).text, 'sampled');
            assert.equal((await call(link, 'elicit')).text, 'elicited');
            await until(() => listens(server).length > 0, 'listen');
            assert.equal((await call(link, 'ping-client')).text, 'pong');
            server.forget();
            await methods['tools/call'](link);
        }
        assert.equal(server.inits().length, 3);
    });

    session_test('a question is answered while a slow call runs', async () => {
        const slow = call(link, 'wait');
        const begin = performance.now();

        assert.equal((await call(link, 'sample')).text, 'sampled');
        assert.ok(performance.now() - begin < 1200);
        assert.equal((await slow).text, 'waited');
    });

    session_test('the session lost between question and answer', async () => {
        const key = fresh('sample');

        link.on_sample = () => server.forget();
        await assert.rejects(call(link, 'sample', key, { timeout: 8000 }),
            (error) => {
                assert.equal(error.data?.source, 'mcpsplice',
                    String(error));
                return true;
            });
        assert.equal(server.runs[key], 1);
        link.on_sample = () => {};
        await methods['tools/call'](link);
        assert.equal((await call(link, 'sample')).text, 'sampled');
        assert.equal(server.inits().length, 2);
    });

    session_test('a call stream closed and resumed, retry respected',
    async () => {
        const result = await call(link, 'poll', undefined,
            { onprogress: () => {} });
        const progress = link.frames.filter((f) =>
            f.message.method === 'notifications/progress')
            .map((f) => f.message.params.progress);
        const resumed = server.requests.filter((r) => r.last);

        assert.equal(result.text, 'polled');
        assert.equal(server.runs[result.key], 1);
        assert.deepEqual(progress, [1, 2, 3]);
        assert.ok(resumed.length >= 2, `${resumed.length} resumes`);
        for (const { verb, session, version } of resumed)
            assert.deepEqual({ verb, session, version }, { verb: 'GET',
                session: server.current.id, version: '2025-11-25' });
        const asked = server.requests.find((r) => r.rpc === 'tools/call');
        assert.ok(resumed[0].at - asked.at >= 150, 'retry is 200 ms');
    });

    session_test('the listen stream is reopened and misses nothing',
    async () => {
        const tools = 'notifications/tools/list_changed';
        const told = () => link.notes.filter((n) => n === tools).length;

        server.current.mcp.sendToolListChanged();
        await until(() => told() === 1, 'the first notification');
        server.current.transport.closeStandaloneSSEStream();
        server.current.mcp.sendToolListChanged();
        await until(() => told() === 2, 'the missed notification');
        listens(server).at(-1).res.destroy();
        await sleep(20);
        server.current.mcp.sendToolListChanged();
        await until(() => told() === 3, 'the one after a cut');
        assert.ok(listens(server).slice(1).every((r) => r.last));
        assert.equal(server.inits().length, 1);
    });

    session_test('notifications after a renewal', async () => {
        server.forget();
        await methods['tools/call'](link);
        await until(() => listens(server).length > 0, 'a new listen stream');
        link.notes.length = 0;
        server.current.mcp.sendPromptListChanged();
        await until(() => link.notes.includes(
            'notifications/prompts/list_changed'), 'the notification');
    });

    session_test('9 MB pass, more is too_large, the next call works',
    async () => {
        const big = await call(link, 'blob', '9000000');

        assert.equal(big.text.length, 9_000_000);
        await assert.rejects(call(link, 'blob', '11000000'), (error) => {
            assert.equal(error.data?.reason, 'too_large', String(error));
            return true;
        });
        await methods['tools/call'](link);
    });
});

describe('other kinds of server', () => {
    for (const [name, options] of Object.entries({
        'no listen stream (405)': { no_get: true },
        'JSON answers only': { json: true },
        'JSON answers, no listen stream': { json: true, no_get: true },
    }))
        test(name, { timeout: 20000 }, async () => {
            const server = new Server();

            server.options = options;
            await server.start();
            const link = await join(server);
            try {
                for (let round = 0; round < 2; round++) {
                    for (const run of Object.values(methods))
                        await run(link);
                    server.forget();
                }
                await methods['tools/call'](link);
                await sleep(300);
                const gets = server.requests.filter((r) =>
                    r.verb === 'GET');
                assert.ok(gets.length >= 1);
                assert.ok(gets.length <= server.inits().length,
                    'a refusal is not tried again');
                await leave(link);
            } finally {
                link.child.kill('SIGKILL');
                await server.stop();
            }
        });

    test('no server at first', { timeout: 20000 }, async () => {
        const server = new Server();

        await server.start();
        await server.stop();
        const joining = join(server);
        await sleep(700);
        await server.start();
        const link = await joining;
        try {
            await methods['tools/call'](link);
            await leave(link);
        } finally {
            link.child.kill('SIGKILL');
            await server.stop();
        }
    });
});
