/*
 * The clients of the matrix under one set of words: the official SDK v1, the
 * official SDK v2 as a legacy and as a modern client; over HTTP to the server
 * itself, or over stdio through mcpsplice.
 */
import { once } from 'node:events';
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as V1Sse } from
    '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as V1Http } from
    '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioClientTransport as V1Stdio } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, CreateMessageRequestSchema,
    ElicitRequestSchema, ListRootsRequestSchema } from
    '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Stdio } from
    '@modelcontextprotocol/client/stdio';
import { binary, splice_env } from './lib.mjs';

const schemas = { 'sampling/createMessage': CreateMessageRequestSchema,
    'elicitation/create': ElicitRequestSchema,
    'roots/list': ListRootsRequestSchema };
const modes = { 'v2-legacy': 'legacy', 'v2-modern': { pin: '2026-07-28' },
    'v2-auto': 'auto' };
const level_key = 'io.modelcontextprotocol/logLevel';
export const full = { sampling: {}, roots: { listChanged: true },
    elicitation: { form: {}, url: {} } };
export const roots = ['file:///here', 'file:///there'];

/* What a user and a model would answer. A user opens the page first. */
const answers = {
    'sampling/createMessage': () => ({ model: 'm', role: 'assistant',
        content: { type: 'text', text: 'sampled' } }),
    'elicitation/create': async ({ params }) => {
        if (params.mode !== 'url')
            return { action: 'accept', content: {
                word: params.message.startsWith('after') ? 'second'
                    : 'first' } };
        await fetch(params.url);
        return { action: 'accept' };
    },
    'roots/list': () => ({ roots: roots.map((uri) => ({ uri })) }),
};

export class Link {
    frames = [];
    told = [];    /* notifications that reached the client's owner */
    asked = [];   /* the server's questions */
    errors = [];  /* what the SDK found wrong with what came */
    stderr = '';
    answers = { ...answers };

    constructor(kind, capabilities) {
        this.modern = kind === 'v2-modern' || kind === 'v2-auto';
        this.v1 = kind === 'v1';
        const info = { name: `client-${kind}`, version: '1.0.0' };

        this.client = this.v1 ? new v1.Client(info, { capabilities })
            : new v2.Client(info, { capabilities,
                versionNegotiation: { mode: modes[kind] } });
        this.hear(capabilities);
    }

    hear(capabilities) {
        this.client.onerror = (error) => { this.errors.push(error.message); };
        this.client.fallbackNotificationHandler = async (notification) => {
            this.told.push(notification);
        };
        for (const method of Object.keys(answers)) {
            if (!capabilities[method.split('/')[0]])
                continue;
            this.client.setRequestHandler(
                this.v1 ? schemas[method] : method, (request, context) => {
                    const { signal } = context.mcpReq ?? context;

                    this.asked.push(request);
                    return this.answers[method](request, signal);
                });
        }
    }

    async open(way, server) {
        this.transport = way === 'direct' ? this.direct(server)
            : this.spliced(server);
        this.record();
        try {
            await this.client.connect(this.transport);
        } catch (error) {
            error.message += `\nstderr: ${this.stderr}`;
            throw error;
        }
        return this;
    }

    direct({ kind, state }) {
        if (kind === 'sse')
            return new (this.v1 ? V1Sse : v2.SSEClientTransport)(state.url);
        return new (this.v1 ? V1Http : v2.StreamableHTTPClientTransport)(
            state.url);
    }

    spliced({ state }) {
        return new (this.v1 ? V1Stdio : V2Stdio)({ command: binary,
            args: [String(state.url)], env: splice_env(), stderr: 'pipe' });
    }

    /*
     * Whoever listens to the transport, and whenever: a modern client's probe
     * has it first. Who passes a message on does not make it two.
     */
    record() {
        const { transport } = this;
        const start = transport.start.bind(transport);
        const send = transport.send.bind(transport);
        const seen = new WeakSet();
        let owner;
        const heard_by = (listener) => (message, extra) => {
            if (!seen.has(message))
                this.frames.push({ dir: 'in', message });
            seen.add(message);
            listener(message, extra);
        };

        Object.defineProperty(transport, 'onmessage', {
            get: () => owner,
            set: (listener) => {
                owner = listener && heard_by(listener);
            } });
        transport.start = async () => {
            await start();
            this.child = transport._process;
            this.exit = this.child ? once(this.child, 'exit') : undefined;
            transport.stderr?.on('data', (piece) => {
                this.stderr += piece;
            });
        };
        transport.send = (message, opts) => {
            this.frames.push({ dir: 'out', message });
            return send(message, opts);
        };
    }

    call(name, args = {}, options = {}) {
        const { level, ...rest } = options;
        const params = { name, arguments: args };

        if (level && this.modern)
            params._meta = { [level_key]: level };
        return this.v1
            ? this.client.callTool(params, CallToolResultSchema, rest)
            : this.client.callTool(params, rest);
    }

    /* What the tool says, how its error begins, or the error's code. */
    async say(name, key, options) {
        try {
            const { content, isError } = await this.call(name, { key },
                options);

            return isError
                ? `tool error: ${content[0].text.split(/ '|: /)[0]}`
                : content[0].text;
        } catch (error) {
            return `error ${error.code}`;
        }
    }

    /* Both eras' way to hear of a change of a resource. */
    async subscribe(uri) {
        if (!this.modern) {
            await this.client.subscribeResource({ uri });
            return { honoured: true,
                end: () => this.client.unsubscribeResource({ uri }) };
        }
        const listen = await this.client.listen({
            resourceSubscriptions: [uri] });

        return { end: () => listen.close(), closed: listen.closed, honoured:
            listen.honoredFilter.resourceSubscriptions?.[0] === uri };
    }

    /* A legacy client need do nothing to hear of changed lists. */
    async hear_lists() {
        if (!this.modern)
            return { honoured: 3, end: async () => {} };
        const listen = await this.client.listen({ toolsListChanged: true,
            promptsListChanged: true, resourcesListChanged: true });

        return { end: () => listen.close(), closed: listen.closed, honoured:
            Object.values(listen.honoredFilter).filter(Boolean).length };
    }

    heard(method) {
        return this.told.filter((n) => n.method === method);
    }

    async end() {
        await this.client.close();
        return this.exit ? (await this.exit)[0] : 0;
    }
}

export const open = (kind, way, server, capabilities = full) =>
    new Link(kind, capabilities).open(way, server);
