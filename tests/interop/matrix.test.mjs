/*
 * Every era on either side: official clients of both SDKs in front of servers
 * of both, through mcpsplice, and directly where the SDKs understand each
 * other by themselves. Direct and through mcpsplice the same is expected: the
 * table below does not know the way.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { open } from './era-clients.mjs';
import { start_front } from './era-common.mjs';
import { features } from './era-features.mjs';
import { start_v1 } from './era-v1.mjs';
import { start_v2 } from './era-v2.mjs';
import { sleep } from './lib.mjs';

const clients = ['v1', 'v2-legacy', 'v2-modern', 'v2-auto'];
const legacy_clients = ['v1', 'v2-legacy'];
const modern_clients = ['v2-modern', 'v2-auto'];
const servers = { stateful: start_v1, stateless: start_v1, sse: start_v1,
    modern: start_v2, dual: start_v2, 'dual-stateless': start_v2 };
const all = Object.keys(servers);
const v1_servers = ['stateful', 'stateless', 'sse'];
const v1_sessions = ['stateful', 'sse'];
const v2_servers = ['modern', 'dual', 'dual-stateless'];
const roots = ['file:///here', 'file:///there'];
const lists = ['tools', 'prompts', 'resources'];
const contents = (uri, name) => [{ uri, text: `content of ${name}` }];

/* Features that not all clients or servers have at all. */
const only = {
    ping: [legacy_clients, all],
    structured_array: [clients, v2_servers],
    mirrored_argument: [clients, v2_servers],
    cancel_while_asked: [legacy_clients, ['stateful', 'sse', 'modern',
        'dual']],
    log_unasked: [modern_clients, all],
    roots_within_completion: [clients, v1_servers],
    roots_at_start: [clients, v1_sessions],
    roots_changed: [legacy_clients, all],
    elicit_url_completed: [clients, v1_sessions],
    elicit_url_by_error: [clients, v1_servers],
};

/* A client that asks first which era it is goes on as a modern one. */
const of_auto = ['identity', 'who', 'tools', 'elicit_form', 'undeclared'];

/* What a feature shows where all is well. */
const usual = {
    identity: ({ server }) => ({ name: v1_servers.includes(server) ? 'era-v1'
        : 'era-v2', instructions: 'be brief', capabilities: ['completions',
        'logging', 'prompts', 'resources', 'tools'] }),
    who: ({ client, server }) => ({ client: `client-${client}`,
        era: server === 'modern' || (v2_servers.includes(server)
            && modern_clients.includes(client)) ? 'modern' : 'legacy',
        declared: ['elicitation', 'roots', 'sampling'], url: true }),
    ping: {},
    tools: ({ server }) => ({ listed: [true, true, true, false],
        called: [{ type: 'text', text: 'echo x' }],
        failed: 'tool error: it broke', unknown: v1_servers.includes(server)
            ? 'tool error: MCP error -32602' : 'error -32602' }),
    structured: { text: '{"sum":3.5}', structuredContent: { sum: 3.5 } },
    structured_array: { type: 'array', structuredContent: [0, 1, 2],
        text: '[0,1,2]' },
    mirrored_argument: 'in  Z\u00fcrich',
    progress: { text: 'done', seen: [[true, 1, 'step 1'],
        [true, 2, 'step 2'], [true, 3, 'step 3'], 'answer'] },
    cancel: { noticed: true, answered: false },
    cancel_while_asked: true,
    log: [['info', 'middle'], ['error', 'high']],
    log_unasked: 0,
    log_outside_of_a_request: true,
    prompts: { listed: true, text: 'say hello', unknown: -32602 },
    resources: { listed: true, read: contents('mem://a', 'a'),
        of_template: contents('mem://t/%C3%A9', '%C3%A9'),
        templates: ['mem://t/{name}'], unknown: -32602, gone: -32602 },
    subscribe_two: [[true, true], [false, true]],
    subscribe: { honoured: true, told: true, after: 0 },
    list_changed: { honoured: 3, told: lists, listed: lists },
    completion: { prompt: ['alpha', 'alphabet'],
        template: ['alpha', 'alphabet'] },
    roots_within_completion: roots,
    roots_at_start: roots,
    roots_changed: true,
    sampling: 'sampled',
    elicit_form: 'accept first',
    elicit_declined: 'decline undefined',
    refused: { elicitation: 'error -1', sampling: 'error -1' },
    elicit_url: 'accept true',
    elicit_url_completed: true,
    elicit_url_by_error: { first: 'error -32042', asked: 0, then: 'open' },
    roots: String(roots),
    questions_in_turn: 'first second',
    questions_at_once: 'first sampled',
    calls_at_once: { asking: ['accept first', 'sampled', 'accept first'],
        echoed: 12 },
    prompt_that_asks: 'say first',
    undeclared: 'error -32601',
};

const questions = ['sampling', 'elicit_form', 'elicit_declined', 'elicit_url',
    'roots', 'questions_in_turn', 'questions_at_once', 'prompt_that_asks'];
const no_way = 'tool error: Cannot request input';
const nobody = { era: 'legacy', client: undefined, declared: [], url: false };

/* Where it is not so: feature, clients, servers, what instead, why. */
const deviations = [
    ['who', clients, ['stateless'], nobody,
        'a stateless server never hears the initialize of the client'],
    ['who', legacy_clients, ['dual-stateless'], nobody,
        'as above: 7.1, its initialize is answered, so it stays legacy'],
    ['structured_array', legacy_clients, v2_servers,
        { ...usual.structured_array, type: 'object',
            structuredContent: { result: [0, 1, 2] } },
        'legacy output is an object: 7.3 wraps it, as the SDK itself does'],
    ['cancel', clients, ['stateless'], { noticed: false, answered: false },
        'the notification is another request: its server knows no call'],
    ['cancel', legacy_clients, ['dual-stateless'],
        { noticed: false, answered: false }, 'as above'],
    ['log', legacy_clients, ['stateless', 'dual-stateless'],
        [['debug', 'low'], ['info', 'middle'], ['error', 'high']],
        'the level is forgotten as soon as it is set'],
    ['log_outside_of_a_request', modern_clients, v1_sessions, false,
        'a modern client hears logs of its requests only (7.4)'],
    ['log_outside_of_a_request', modern_clients, v2_servers, false,
        'the modern era has no such logs'],
    ['log_outside_of_a_request', clients, ['stateless', 'modern',
        'dual-stateless'], false, 'there is no stream to send them on'],
    ['resources', legacy_clients, v1_servers,
        { ...usual.resources, gone: -32002 },
        'the legacy code, which a modern client must not see (7.4)'],
    ['subscribe', modern_clients, ['stateless'],
        { honoured: false, told: false, after: 0 },
        'no stream, so that nothing is promised (7.4)'],
    ['subscribe', legacy_clients, ['stateless', 'dual-stateless'],
        { honoured: true, told: false, after: 0 },
        'the server agrees and forgets'],
    ['subscribe_two', clients, ['stateless'],
        [[false, false], [false, false]], 'as above'],
    ['subscribe_two', legacy_clients, ['dual-stateless'],
        [[false, false], [false, false]], 'as above'],
    ['list_changed', legacy_clients, ['stateless', 'dual-stateless'],
        { honoured: 3, told: [], listed: lists },
        'there is no stream to tell it on'],
    ['list_changed', modern_clients, ['stateless'],
        { honoured: 0, told: [], listed: lists }, 'as above'],
    ['roots_within_completion', clients, ['stateless'], ['error -32001'],
        'there is no stream to ask on'],
    ['roots_within_completion', modern_clients, v1_sessions, ['error -32601'],
        'a modern server asks in answers to calls only: none is there (7.4)'],
    ['roots_at_start', modern_clients, v1_sessions, ['error -32601'],
        'as above'],
    ['roots_changed', legacy_clients, ['modern'], false,
        'swallowed: the modern era asks afresh each time (7.3)'],
    ['refused', legacy_clients, ['stateless'], { elicitation: 'error -32001',
        sampling: 'error -32001' }, 'as for all questions'],
    ['refused', legacy_clients, ['modern'], { elicitation: 'cancel undefined',
        sampling: 'error -32603' },
        'an error is no answer in the modern era (7.3): input_refused'],
    ['refused', legacy_clients, ['dual'], {
        elicitation: 'tool error: Fulfilling input required by',
        sampling: 'tool error: Fulfilling input required by' },
        'so the SDK v2 says it to legacy clients'],
    ['refused', legacy_clients, ['dual-stateless'], { elicitation: no_way,
        sampling: no_way }, 'as for all questions'],
    ['elicit_url_completed', modern_clients, v1_sessions, false,
        'there is no such notification any more (7.4)'],
    ['elicit_url_by_error', modern_clients, v1_servers,
        { first: 'open', asked: 1, then: 'open' },
        'the error becomes a question, and the call is made again (7.4)'],
    ['undeclared', clients, ['stateless'], 'error -32001',
        'as for all questions'],
    ['undeclared', clients, ['modern'], 'error -32021',
        'the modern refusal, code as it is (7.3)'],
    ['undeclared', modern_clients, v2_servers, 'error -32021',
        'the modern refusal'],
    ['undeclared', legacy_clients, ['dual', 'dual-stateless'], no_way,
        'so the SDK v2 says it to legacy clients'],
    ['calls_at_once', clients, ['stateless'], { echoed: 12,
        asking: ['error -32001', 'error -32001', 'error -32001'] },
        'as for all questions'],
    ['calls_at_once', legacy_clients, ['dual-stateless'], { echoed: 12,
        asking: [no_way, no_way, no_way] }, 'as for all questions'],
    ...questions.flatMap((name) => [
        [name, clients, ['stateless'], 'error -32001',
            'the answer is another request: its server asked nothing'],
        [name, legacy_clients, ['dual-stateless'],
            name === 'prompt_that_asks' ? 'error -32603' : no_way,
            'as above, and the SDK v2 says so']]),
];
const used = new Set();

const has = ([some, of], { client, server }) =>
    some.includes(client) && of.includes(server);

function applies(name, cell) {
    return (cell.client !== 'v2-auto' || of_auto.includes(name))
        && (!only[name] || has(only[name], cell));
}

function expected(name, cell) {
    const found = deviations.find(([feature, ...where]) =>
        feature === name && has(where, cell));
    const value = usual[name];

    if (found)
        used.add(found);
    return found ? found[3] : typeof value === 'function' ? value(cell)
        : value;
}

/* Do the SDKs understand each other by themselves? */
function control(client, server) {
    return modern_clients.includes(client)
        ? client !== 'v2-auto' && v2_servers.includes(server)
        : server !== 'modern';
}

/* A feature that throws or hangs shows just that, and the next one runs. */
async function show(run, cell, hoped) {
    const late = new AbortController();

    try {
        return await Promise.race([run(cell, hoped),
            sleep(20000, 'hangs', { signal: late.signal })]);
    } catch (error) {
        return `throws: ${error.message}`;
    } finally {
        late.abort();
    }
}

async function run_cell(way, client, kind, server) {
    const cell = { client, server: kind };
    const hoped = {};
    const seen = {};

    server.state.start_roots = [];
    const link = await open(client, way, server);

    server.state.rejected = [];
    /* A modern client asks another process first, which opens a session. */
    if (link.modern)
        server.state.start_roots = [];
    for (const [name, run] of Object.entries(features)) {
        if (!applies(name, cell))
            continue;
        const what = expected(name, cell);
        const got = await show(run, { way, client, link, server,
            key: `${way}-${client}` }, what);

        if (!isDeepStrictEqual(got, what)) {
            hoped[name] = what;
            seen[name] = got;
        }
    }
    const code = await link.end();

    assert.deepEqual(seen, hoped, `\nstderr: ${link.stderr}`);
    assert.equal(code, 0);
    /* But for a progress that the SDK read along with its answer. */
    if (way === 'splice')
        assert.deepEqual(link.errors.filter((message) =>
            !message.includes('for an unknown token')), []);
    assert.deepEqual(server.state.rejected.filter((message) =>
        !message.startsWith('Rejected 2025-era request')), []);
}

/*
 * A test is a whole cell, not a feature: the runner, when it is told to exit by
 * force, loses what hundreds of tests have to report.
 */
describe('every era on either side', { concurrency: true }, () => {
    for (const [kind, start] of Object.entries(servers))
        describe(`server ${kind}`, { concurrency: 1 }, () => {
            let server;

            before(async () => { server = await start(kind); });
            for (const client of clients) {
                if (control(client, kind))
                    test(`client ${client}, directly`, () =>
                        run_cell('direct', client, kind, server));
                test(`client ${client}, spliced`, () =>
                    run_cell('splice', client, kind, server));
            }
            after(() => {
                server.stop();
                assert.deepEqual(server.state.errors, []);
            });
        });
});

/*
 * A server that is replaced under a live client, through every transport and
 * era, and back. A modern client may be told that a stream of notifications
 * ended, and opens it again; it must not wait at one that is dead.
 */
const upgrades = ['stateful', 'modern', 'sse', 'dual', 'modern', 'stateful'];

async function listen(link, open_stream) {
    const stream = await open_stream();

    stream.closed?.then((reason) => {
        if (reason === 'remote')
            listen(link, open_stream);
    });
}

async function run_upgrades(client) {
    const uri = 'mem://t/upgraded';
    const front = await start_front();
    const replaced = {};
    const seen = [];

    for (const kind of new Set(upgrades))
        replaced[kind] = await servers[kind](kind);
    front.shift(replaced[upgrades[0]]);
    const link = await open(client, 'splice', { state: front });

    for (const [at, kind] of upgrades.entries()) {
        const server = replaced[kind];

        front.shift(server);
        const echo = (await link.call('echo', { word: kind })).content[0].text;
        const form = await link.say('form', `${client}-${at}`);

        if (at === 0) {
            await listen(link, () => link.hear_lists());
            await listen(link, () => link.subscribe(uri));
        }
        seen.push({ echo, form, ...await show(hear_changes,
            { link, server, uri }) });
    }
    const code = await link.end();

    for (const server of Object.values(replaced))
        server.stop();
    front.stop();
    assert.deepEqual(seen, upgrades.map((kind) => ({ echo: `echo ${kind}`,
        form: 'accept first', lists: true, updated: true })),
    `\nstderr: ${link.stderr}`);
    assert.equal(code, 0);
}

/* Changed again and again, as nobody knows when the stream is there. */
async function hear_changes({ link, server, uri }) {
    const hears = async (method, change) => {
        const told = () => link.heard(method).length > 0;

        link.told = [];
        for (let tries = 0; tries < 50 && !told(); tries++) {
            await change();
            await sleep(100);
        }
        return told();
    };

    return {
        lists: await hears('notifications/tools/list_changed', () =>
            server.toggle(!server.state.more)),
        updated: await hears('notifications/resources/updated', () =>
            server.change(uri)) };
}

describe('a server that is replaced', { concurrency: true }, () => {
    for (const client of ['v1', 'v2-legacy', 'v2-modern'])
        test(`under client ${client}`, () => run_upgrades(client));
});

/* A row that nothing uses is stale. */
test('the table of deviations has no idle row', () => {
    for (const client of clients)
        for (const server of all)
            for (const name of Object.keys(features))
                if (applies(name, { client, server }))
                    expected(name, { client, server });
    for (const row of deviations)
        assert.ok(used.has(row), `unused: ${row[0]}, ${row[2]}: ${row[4]}`);
});
