/*
 * The client of either era that the conformance suite drives through
 * mcpsplice: plain JSON-RPC on stdio, so that it says exactly what its era
 * has to say, and no more. It ends with 0 and the line "done" when it saw what
 * its script wants.
 * usage: conformance-era-client.mjs ERA [OPTION ...] URL
 * ERA: "legacy" begins with initialize, "modern" with server/discover,
 * "abrupt" is modern and begins with the first request. The rest is for
 * mcpsplice.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { child_env } from './child-env.mjs';
import { start_tap, until_listening } from './lib.mjs';

const ANSWER_MS = 10000;
const END_MS = 5000;
const MODERN = '2026-07-28';
const OURS = 'io.modelcontextprotocol/';
const clientInfo = { name: 'conformance-era', version: '1.0.0' };

const [era, ...args] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const tap = scenario === 'sse-retry' ? await start_tap(new URL(args.pop()))
    : undefined;
if (tap)
    args.push(tap.url.href);
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = mkdtempSync(path.join(tmpdir(), 'mcpsplice-era-'));

/* mcpsplice on stdio; what it asks is answered by this.reply(). */
class Peer {
    capabilities = { elicitation: {}, sampling: {}, roots: {} };
    last_id = 0;
    waiting = new Map();
    asked = [];
    stderr = '';

    constructor() {
        this.child = spawn(process.env.MCPSPLICE, args,
            { env: child_env({ HOME: home }), stdio: 'pipe' });
        this.exit = once(this.child, 'close');
        this.child.stdin.on('error', () => {});
        this.child.stderr.on('data', (text) => { this.stderr += text; });
        readline.createInterface({ input: this.child.stdout }).on('line',
            (line) => this.take(JSON.parse(line)));
    }

    send(message) {
        this.child.stdin.write(`${JSON.stringify(
            { jsonrpc: '2.0', ...message })}\n`);
    }

    take(message) {
        if (message.method === undefined) {
            this.waiting.get(message.id)?.(message);
            this.waiting.delete(message.id);
        } else if (message.id !== undefined) {
            this.asked.push(message);
            Promise.resolve(this.reply(message)).then((result) =>
                this.send({ id: message.id, result }));
        }
    }

    /* The whole answer: a result or an error. */
    ask(method, params) {
        const id = ++this.last_id;

        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => reject(new Error(
                `no answer to ${method} in ${ANSWER_MS} ms`)), ANSWER_MS);

            this.exit.then(([code, signal]) => reject(new Error(
                `ended (${signal ?? code}) before it answered ${method}`)),
            reject);
            this.waiting.set(id, (message) => {
                clearTimeout(timer);
                resolve(message);
            });
            this.send({ id, method, params });
        });
    }

    async end() {
        const timer = setTimeout(() => this.child.kill('SIGKILL'), END_MS);

        this.child.stdin.end();
        const [code, signal] = await this.exit;
        clearTimeout(timer);
        assert.deepEqual({ code, signal }, { code: 0, signal: null });
    }
}

/* What no result shows to a legacy client; one scenario's server does it on
 * its own account when it is asked in the legacy way, which is passed on. */
const modern_only = scenario === 'json-schema-ref-no-deref' ? []
    : ['resultType', 'ttlMs', 'cacheScope'];

class Legacy extends Peer {
    async open() {
        const asked = revision === MODERN ? '2025-11-25' : revision;
        const { result, error } = await this.ask('initialize', {
            protocolVersion: asked, capabilities: this.capabilities,
            clientInfo });

        assert.equal(error, undefined, JSON.stringify(error));
        assert.equal(result.protocolVersion, asked);
        assert.ok(result.serverInfo.name);
        this.send({ method: 'notifications/initialized' });
    }

    reply(question) {
        return answer(question);
    }

    async request(method, params) {
        const { result, error } = await this.ask(method, params);

        assert.equal(error, undefined, JSON.stringify(error));
        for (const key of modern_only)
            assert.ok(!(key in result), JSON.stringify(result));
        return result;
    }
}

class Modern extends Peer {
    async open() {
        const result = await this.request('server/discover', {});

        assert.deepEqual(result.supportedVersions, [MODERN]);
        assert.ok(result._meta?.[`${OURS}serverInfo`] ?? result.serverInfo);
    }

    reply(question) {
        throw new Error(`asked on its own: ${JSON.stringify(question)}`);
    }

    meta() {
        return { [`${OURS}protocolVersion`]: MODERN,
            [`${OURS}clientInfo`]: clientInfo,
            [`${OURS}clientCapabilities`]: this.capabilities };
    }

    /* With the questions that stand between the request and its answer. */
    async request(method, params) {
        let more = {};

        for (;;) {
            const { result, error } = await this.ask(method,
                { ...params, ...more, _meta: this.meta() });

            assert.equal(error, undefined, JSON.stringify(error));
            if (result.resultType !== 'input_required') {
                assert.ok(result.resultType === 'complete'
                    || scenario === 'sep-2322-client-request-state',
                JSON.stringify(result));
                return result;
            }
            more = await this.answer_all(result);
        }
    }

    async answer_all({ inputRequests, requestState }) {
        const inputResponses = {};

        for (const [key, question] of Object.entries(inputRequests ?? {})) {
            this.asked.push(question);
            inputResponses[key] = await answer(question);
        }
        return { inputResponses,
            ...requestState === undefined ? {} : { requestState } };
    }
}

class Abrupt extends Modern {
    async open() {}
}

/* A user who agrees, with the form's defaults; "confirmed" has none. */
async function answer({ method, params }) {
    await before_answer?.();
    assert.equal(method, 'elicitation/create');
    const content = {};
    for (const [name, field] of Object.entries(
        params.requestedSchema.properties))
        content[name] = field.default ?? true;
    return { action: 'accept', content };
}

const peers = { legacy: Legacy, modern: Modern, abrupt: Abrupt };
const peer = new peers[era]();
let before_answer;

const call = (name, values = {}) => peer.request('tools/call',
    { name, arguments: values });

async function call_text(name, values) {
    return (await call(name, values)).content[0].text;
}

async function list_tools() {
    return (await peer.request('tools/list', {})).tools;
}

async function names() {
    return (await list_tools()).map((tool) => tool.name);
}

const scripts = {
    'initialize': async () => {
        await list_tools();
    },
    'tools_call': async () => {
        assert.deepEqual(await names(), ['add_numbers']);
        assert.equal(await call_text('add_numbers', { a: 5, b: 3 }),
            'The sum of 5 and 3 is 8');
    },
    'elicitation-sep1034-client-defaults': async () => {
        const tools = await names();

        assert.ok(tools.includes('test_client_elicitation_defaults'));
        assert.match(await call_text('test_client_elicitation_defaults'),
            /Elicitation completed: .*John/);
        assert.equal(peer.asked.length, 1);
    },
    'sse-retry': async () => {
        await list_tools();
        await until_listening(tap);
        assert.match(await call_text('test_reconnection'),
            /completed successfully/);
    },
    'request-metadata': async () => {
        assert.deepEqual(await list_tools(), []);
        assert.deepEqual((await call('any')).content, []);
    },
    'http-standard-headers': async () => {
        for (const tool of await names())
            await call(tool);
        const { resources } = await peer.request('resources/list', {});
        assert.equal(resources.length, 2);
        for (const { uri } of resources)
            await peer.request('resources/read', { uri });
        const { prompts } = await peer.request('prompts/list', {});
        for (const { name } of prompts)
            await peer.request('prompts/get', { name });
    },
    'http-custom-headers': async () => {
        const tools = await names();

        for (const { name, arguments: values } of context.toolCalls) {
            assert.ok(tools.includes(name));
            await call(name, values);
        }
    },
    /* Whatever it sees, it calls: nothing else filters. */
    'http-invalid-tool-headers': async () => {
        const tools = await names();

        assert.deepEqual(tools, ['valid_tool']);
        await call('valid_tool', { region: 'here' });
        assert.match(peer.stderr, /invalid_null_header/);
    },
    'sep-2322-client-request-state': async () => {
        await list_tools();
        before_answer = async () => {
            assert.equal(await call_text('test_mrtr_unrelated'),
                'unrelated-ok');
        };
        assert.equal(await call_text('test_mrtr_echo_state'),
            'echo-state-ok');
        assert.equal(await call_text('test_mrtr_no_state'), 'no-state-ok');
        assert.equal(await call_text('test_mrtr_no_result_type'),
            'no-result-type-test-ok');
        assert.equal(peer.asked.length, 2);
    },
    'json-schema-ref-no-deref': async () => {
        const [{ inputSchema }] = await list_tools();

        assert.equal(inputSchema.properties.id.$ref, '#/$defs/userId');
        assert.match(inputSchema.properties.profile.$ref, /^http/);
    },
    'json-schema-2020-12-preservation': async () => {
        const tools = await list_tools();
        const tool = tools.find((t) => t.name === 'json_schema_2020_12_tool');

        await call('json_schema_echo', { schema: tool.inputSchema });
    },
};

try {
    await peer.open();
    await scripts[scenario]();
    await peer.end();
    console.log('done');
} catch (error) {
    peer.child.kill('SIGKILL');
    console.error(`${error.stack}\nmcpsplice said: ${peer.stderr}`);
    process.exitCode = 1;
} finally {
    tap?.stop();
    rmSync(home, { recursive: true, force: true });
}
