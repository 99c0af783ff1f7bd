/*
 * The server that the conformance suite's server scenarios want, made of the
 * official SDK: each tool, resource and prompt is one that some scenario
 * names. It speaks both eras at one address: sessions with resumable streams
 * for 2025-11-25 and older, 2026-07-28 without.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from
    '@modelcontextprotocol/node';
import { acceptedContent, CLIENT_CAPABILITIES_META_KEY, createMcpHandler,
    createRequestStateCodec, fromJsonSchema, inputRequired,
    isInitializeRequest, isLegacyRequest, McpServer, ResourceTemplate } from
    '@modelcontextprotocol/server';

/* How long a client is to wait before it asks again for a closed stream. */
const RETRY_MS = 300;

/* A call so long that a client may be told to ask again. */
const LONG_MS = 400;

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'
    + '+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const image = { type: 'image', data: png, mimeType: 'image/png' };
const audio = { type: 'audio', data: wav, mimeType: 'audio/wav' };
const embedded = { type: 'resource', resource: { uri: 'test://embedded',
    mimeType: 'text/plain', text: 'embedded' } };
const words = (text) => ({ type: 'text', text });
const content = (...parts) => ({ content: parts });
const text = (value) => content(words(value));
const messages = (...parts) => ({ messages: parts.map((part) =>
    ({ role: 'user', content: part })) });

const contents = {
    test_simple_text: [words('a simple text')],
    test_image_content: [image],
    test_audio_content: [audio],
    test_embedded_resource: [embedded],
    test_multiple_content_types: [words('mixed'), image, embedded],
    test_streaming_elicitation: [words('nothing was asked')],
};

function add_plain_tools(mcp) {
    for (const [name, parts] of Object.entries(contents))
        mcp.registerTool(name, {}, () => content(...parts));
    mcp.registerTool('test_error_handling', {}, () => {
        throw new Error('an error on purpose');
    });
    mcp.registerTool('test_logging_tool', {}, async (ctx) => {
        await ctx.mcpReq.log('info', 'only where it is wanted');
        return text('logged');
    });
    mcp.registerTool('test_tool_with_logging', {}, async (ctx) => {
        for (const data of ['begun', 'at it', 'done']) {
            await ctx.mcpReq.notify({ method: 'notifications/message',
                params: { level: 'info', data } });
            await sleep(20);
        }
        return text('logged');
    });
    mcp.registerTool('test_tool_with_progress', {}, async (ctx) => {
        const { progressToken } = ctx.mcpReq._meta ?? {};

        for (const progress of progressToken === undefined
            ? [] : [0, 50, 100]) {
            await ctx.mcpReq.notify({ method: 'notifications/progress',
                params: { progressToken, progress, total: 100 } });
            await sleep(20);
        }
        return text(String(progressToken));
    });
}

/* Its property names are what the scenario looks for. */
const full_schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: {
        street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' }, email: { type: 'string' } },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } },
        required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
};

function add_schema_tools(mcp) {
    mcp.registerTool('json_schema_2020_12_tool',
        { inputSchema: fromJsonSchema(full_schema) },
        (values) => text(JSON.stringify(values)));
    mcp.registerTool('test_x_mcp_header', { inputSchema: fromJsonSchema({
        type: 'object', properties: {
            region: { type: 'string', 'x-mcp-header': 'Region' },
            level: { type: 'integer' } } }) },
    ({ region }) => text(`in ${region}`));
}

function object(properties, required = []) {
    return { type: 'object', properties, required };
}

const options = ['option1', 'option2', 'option3'];
const titled = [1, 2, 3].map((i) => ({ const: `value${i}`,
    title: `Option ${i}` }));
const forms = {
    test_elicitation_sep1034_defaults: object({
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'],
            default: 'active' },
        verified: { type: 'boolean', default: true } }),
    test_elicitation_sep1330_enums: object({
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['One', 'Two', 'Three'] },
        untitledMulti: { type: 'array', minItems: 1, maxItems: 3,
            items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', minItems: 1, maxItems: 3,
            items: { anyOf: titled } } }),
};

const codec = createRequestStateCodec({ key: randomBytes(32) });
const mint = (state) => codec.mint({ ...state, nonce: randomUUID() });
const ask = (name, type = 'string') => inputRequired.elicit({
    message: `${name}?`, requestedSchema: object({ [name]: { type } },
        [name]) });
const sample = (prompt) => inputRequired.createMessage({ maxTokens: 50,
    messages: [{ role: 'user', content: words(prompt) }] });
const roots = inputRequired.listRoots();

/* What was accepted of the answer key to the question name, if anything. */
function accepted(ctx, key, name) {
    return acceptedContent(ctx.mcpReq.inputResponses, key)?.[name];
}

/*
 * Questions: a tool asks, ends, and is called again with the answers. That is
 * how 2026-07-28 has it; in a session of old the SDK asks them as requests of
 * the server and calls again by itself.
 */
const rounds = {
    test_missing_capability: (ctx, said) => said?.llm
        ? text('sampled') : inputRequired({ inputRequests: {
            llm: sample('ping') } }),
    test_input_required_result_elicitation: (ctx) => {
        const name = accepted(ctx, 'user_name', 'name');

        return name === undefined ? inputRequired({ inputRequests: {
            user_name: ask('name') } }) : text(`Hello, ${name}!`);
    },
    test_input_required_result_sampling: (ctx, said) => said?.capital
        ? text(said.capital.content.text) : inputRequired({ inputRequests: {
            capital: sample('What is the capital of France?') } }),
    test_input_required_result_list_roots: (ctx, said) => said?.client_roots
        ? text(`${said.client_roots.roots.length} roots`)
        : inputRequired({ inputRequests: { client_roots: roots } }),
    test_input_required_result_request_state: async (ctx) =>
        accepted(ctx, 'confirm', 'ok') !== undefined
            && ctx.mcpReq.requestState() ? text('state-ok')
            : inputRequired({ inputRequests: { confirm: ask('ok', 'boolean') },
                requestState: await mint({}) }),
    test_input_required_result_tampered_state: async (ctx) =>
        accepted(ctx, 'confirm', 'ok') !== undefined
            && ctx.mcpReq.requestState() ? text('integrity-ok')
            : inputRequired({ inputRequests: { confirm: ask('ok', 'boolean') },
                requestState: await mint({}) }),
    test_input_required_result_multiple_inputs: async (ctx, said) => {
        const name = accepted(ctx, 'user_name', 'name');

        if (name && said.greeting && said.client_roots)
            return text(`${said.greeting.content.text} ${name}, of `
                + `${said.client_roots.roots.length} roots`);
        return inputRequired({ inputRequests: { user_name: ask('name'),
            greeting: sample('Greet'), client_roots: roots },
        requestState: await mint({}) });
    },
    test_input_required_result_multi_round: async (ctx) => {
        const { round = 0, name } = ctx.mcpReq.requestState() ?? {};

        if (round === 0)
            return inputRequired({ inputRequests: { step1: ask('name') },
                requestState: await mint({ round: 1 }) });
        if (round === 1)
            return inputRequired({ inputRequests: { step2: ask('color') },
                requestState: await mint({ round: 2,
                    name: accepted(ctx, 'step1', 'name') }) });
        return text(`${name} likes ${accepted(ctx, 'step2', 'color')}`);
    },
    test_input_required_result_capabilities: (ctx, said, mcp) => {
        const declared = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY]
            ?? mcp.server.getClientCapabilities();
        const inputRequests = {
            ...declared?.elicitation && { user_name: ask('name') },
            ...declared?.sampling && { greeting: sample('Greet') },
            ...declared?.roots && { client_roots: roots },
        };

        return said || Object.keys(inputRequests).length === 0
            ? text('nothing to ask') : inputRequired({ inputRequests });
    },
};

function add_round_tools(mcp) {
    const elicit = (ctx, message, requestedSchema) => {
        const said = ctx.mcpReq.inputResponses?.form;

        return said ? text(`action=${said.action}, content=${
            JSON.stringify(said.content)}`) : inputRequired({ inputRequests: {
            form: inputRequired.elicit({ message, requestedSchema }) } });
    };

    for (const [name, run] of Object.entries(rounds))
        mcp.registerTool(name, {}, (ctx) =>
            run(ctx, ctx.mcpReq.inputResponses, mcp));
    for (const [name, form] of Object.entries(forms))
        mcp.registerTool(name, {}, (ctx) => elicit(ctx, name, form));
    mcp.registerTool('test_elicitation', {
        inputSchema: z.object({ message: z.string() }) },
    ({ message }, ctx) => elicit(ctx, message,
        object({ response: { type: 'string' } }, ['response'])));
    mcp.registerTool('test_sampling', {
        inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, ctx) => {
        const said = ctx.mcpReq.inputResponses?.llm;

        return said ? text(`LLM response: ${said.content.text}`)
            : inputRequired({ inputRequests: { llm: sample(prompt) } });
    });
    mcp.registerPrompt('test_input_required_result_prompt', {}, (ctx) => {
        const said = accepted(ctx, 'user_context', 'context');

        return said === undefined ? inputRequired({ inputRequests: {
            user_context: ask('context') } }) : messages(words(said));
    });
}

/* What only one of the eras has. */
function add_special_tools(mcp, sessions, notify) {
    mcp.registerTool('test_reconnection', {}, async (ctx) => {
        sessions.get(ctx.sessionId)?.closeSSEStream?.(ctx.mcpReq.id);
        await sleep(LONG_MS);
        return text('came back');
    });
    mcp.registerTool('test_trigger_tool_change', {}, () => {
        notify().toolsChanged();
        mcp.sendToolListChanged();
        return text('changed');
    });
    mcp.registerTool('test_trigger_prompt_change', {}, () => {
        notify().promptsChanged();
        mcp.sendPromptListChanged();
        return text('changed');
    });
}

function add_resources(mcp) {
    const add = (name, part) => mcp.registerResource(name, `test://${name}`,
        { mimeType: part.mimeType }, (uri) =>
            ({ contents: [{ uri: uri.href, ...part }] }));

    add('static-text', { mimeType: 'text/plain', text: 'static' });
    add('static-binary', { mimeType: 'image/png', blob: png });
    add('watched-resource', { mimeType: 'text/plain', text: 'watched' });
    mcp.registerResource('template', new ResourceTemplate(
        'test://template/{id}/data', { list: undefined }), {},
    (uri, { id }) => ({ contents: [{ uri: uri.href,
        mimeType: 'application/json', text: JSON.stringify({ id }) }] }));
}

function add_prompts(mcp) {
    mcp.registerPrompt('test_simple_prompt', {}, () =>
        messages(words('simple')));
    mcp.registerPrompt('test_prompt_with_arguments', { argsSchema: z.object({
        arg1: z.string(), arg2: z.string() }) }, ({ arg1, arg2 }) =>
        messages(words(`arg1='${arg1}', arg2='${arg2}'`)));
    mcp.registerPrompt('test_prompt_with_embedded_resource',
        { argsSchema: z.object({ resourceUri: z.string() }) },
        ({ resourceUri }) => messages({ type: 'resource', resource: {
            uri: resourceUri, mimeType: 'text/plain', text: 'embedded' } }));
    mcp.registerPrompt('test_prompt_with_image', {}, () => messages(image));
}

const capabilities = { tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {}, completions: {} };

/* Nothing may be without a description. */
function describe_all(mcp) {
    for (const register of ['registerTool', 'registerPrompt']) {
        const inner = mcp[register].bind(mcp);

        mcp[register] = (name, config, run) =>
            inner(name, { description: `For ${name}`, ...config }, run);
    }
}

function make(sessions, notify) {
    const mcp = new McpServer({ name: 'conformance', version: '1.0.0' },
        { capabilities, requestState: { verify: codec.verify } });

    describe_all(mcp);
    add_plain_tools(mcp);
    add_schema_tools(mcp);
    add_round_tools(mcp);
    add_special_tools(mcp, sessions, notify);
    add_resources(mcp);
    add_prompts(mcp);
    for (const method of ['resources/subscribe', 'resources/unsubscribe',
        'logging/setLevel'])
        mcp.server.setRequestHandler(method, () => ({}));
    mcp.server.setRequestHandler('completion/complete', () =>
        ({ completion: { values: [], total: 0, hasMore: false } }));
    return mcp;
}

/* Every message of every stream, to be asked for again. */
function event_store() {
    const events = [];

    return {
        async storeEvent(stream, message) {
            events.push({ stream, message });
            return String(events.length);
        },
        async replayEventsAfter(last, { send }) {
            const { stream } = events[last - 1];

            for (let i = Number(last); i < events.length; i++)
                if (events[i].stream === stream
                    && Object.keys(events[i].message).length > 0)
                    await send(String(i + 1), events[i].message);
            return stream;
        },
    };
}

export function refuse(res, status, code, message, id = null) {
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id }));
}

/* A page elsewhere must not reach a server on this machine. */
export function is_local(req) {
    const local = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

    return local.test(req.headers.host)
        && local.test(req.headers.origin ?? 'localhost');
}

export async function read_json(req) {
    let body = '';

    for await (const piece of req.setEncoding('utf8'))
        body += piece;
    return body ? JSON.parse(body) : undefined;
}

/* Serve handle() at a port of this machine; stop() ends it at once. */
export async function serve(handle) {
    const server = http.createServer((req, res) => {
        if (!is_local(req))
            refuse(res, 403, -32000, 'Forbidden');
        else
            handle(req, res).catch((error) => {
                console.error(error);
                res.destroy();
            });
    });

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${server.address().port}/mcp`,
        stop() {
            server.closeAllConnections();
            server.close();
        } };
}

/* The one stream of a session of 2024-11-05; the client's messages come by
 * POST to another address. */
class EventStream {
    sessionId = randomUUID();

    constructor(res) {
        this.res = res;
    }

    async start() {
        this.res.writeHead(200, { 'content-type': 'text/event-stream' });
        this.write('endpoint', `/mcp?session=${this.sessionId}`);
        this.res.on('close', () => this.onclose?.());
    }

    async send(message) {
        this.write('message', JSON.stringify(message));
    }

    async close() {
        this.res.end();
    }

    write(event, data) {
        this.res.write(`event: ${event}\ndata: ${data}\n\n`);
    }
}

function serve_sse(sessions, notify) {
    return serve(async (req, res) => {
        const name = new URL(req.url, 'http://localhost').searchParams.get(
            'session');

        if (req.method === 'GET') {
            const stream = new EventStream(res);

            sessions.set(stream.sessionId, stream);
            stream.onclose = () => { sessions.delete(stream.sessionId); };
            return make(sessions, notify).connect(stream);
        }
        if (req.method !== 'POST' || !sessions.has(name))
            return refuse(res, name ? 404 : 405, -32000, 'Not here');
        sessions.get(name).onmessage(await read_json(req));
        return res.writeHead(202).end('Accepted');
    });
}

/* only: "legacy", "modern" or "sse", else the first two. */
export async function start_server(only = undefined) {
    const sessions = new Map();
    const handler = createMcpHandler(() => make(sessions, () =>
        handler.notify), { legacy: 'reject' });
    const modern = toNodeHandler(handler);

    if (only === 'sse')
        return serve_sse(sessions, () => handler.notify);
    async function legacy(req, res, message) {
        const id = req.headers['mcp-session-id'];
        let transport = sessions.get(id);

        if (!transport && id)
            return refuse(res, 404, -32001, 'Session not found');
        if (!transport && !isInitializeRequest(message))
            return refuse(res, 400, -32000, 'Bad Request: no session');
        if (!transport) {
            transport = new NodeStreamableHTTPServerTransport({
                sessionIdGenerator: () => randomUUID(),
                eventStore: event_store(), retryInterval: RETRY_MS,
                onsessioninitialized: (name) => {
                    sessions.set(name, transport);
                },
                onsessionclosed: (name) => { sessions.delete(name); },
            });
            await make(sessions, () => handler.notify).connect(transport);
        }
        return transport.handleRequest(req, res, message);
    }

    return serve(async (req, res) => {
        const message = await read_json(req);

        const is_legacy = only ? only === 'legacy'
            : await isLegacyRequest(await toWebRequest(req, message));

        return is_legacy ? legacy(req, res, message)
            : modern(req, res, message);
    });
}
