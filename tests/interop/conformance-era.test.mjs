/*
 * The official conformance suite through mcpsplice, in both eras. Its client
 * scenarios but the auth ones, at each revision they name, with a client of
 * either era in front (conformance-era-client.mjs). And its server scenarios:
 * suite, an HTTP-to-stdio shim (conformance-era-shim.mjs), mcpsplice, a server
 * (conformance-era-server.mjs) of both eras, of the other one, or of HTTP+SSE;
 * check by check they end as they do without shim and mcpsplice. A scenario
 * that this file does not know is an error.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start_server } from './conformance-era-server.mjs';
import { start_shim, warm_up } from './conformance-era-shim.mjs';
import { is_bad, results, run_suite, with_folder } from
    './conformance-suite.mjs';

const client = fileURLToPath(
    new URL('./conformance-era-client.mjs', import.meta.url));

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

/* The client scenarios, the revisions they name, the checks they are known
 * for: each must be there as a success. */
const scenarios = {
    'initialize': { at: ['2025-06-18', LEGACY],
        checks: ['mcp-client-initialization'] },
    'tools_call': { at: ['2025-06-18', LEGACY, MODERN],
        checks: ['tool-add-numbers', 'wire-schema-valid'] },
    'elicitation-sep1034-client-defaults': { at: [LEGACY],
        checks: ['string', 'integer', 'number', 'enum', 'boolean'].map(
            (type) => `client-elicitation-sep1034-${type}-default`) },
    'sse-retry': { at: [LEGACY], checks: ['client-sse-graceful-reconnect',
        'client-sse-retry-timing', 'client-sse-last-event-id'] },
    'request-metadata': { at: [MODERN], checks: [
        'sep-2575-http-client-sends-version-header',
        'sep-2575-client-populates-meta', 'sep-2575-client-sends-client-info',
        'sep-2575-http-version-header-matches-meta',
        'sep-2575-client-declares-roots-capability',
        'sep-2575-client-declares-sampling-capability',
        'sep-2575-client-declares-elicitation-capability',
        'sep-2575-client-retry-supported-version'] },
    'sep-2322-client-request-state': { at: [MODERN], checks: [
        'sep-2322-client-request-state-echoed',
        'sep-2322-client-jsonrpc-id-different',
        'sep-2322-client-no-state-omitted',
        'sep-2322-client-parallel-isolation',
        'sep-2322-default-result-type-complete'] },
    'http-standard-headers': { at: [MODERN],
        checks: ['sep-2243-client-includes-standard-headers'] },
    'http-custom-headers': { at: [MODERN], checks: [
        'sep-2243-client-supports-custom-headers',
        'sep-2243-client-mirrors-designated-params',
        'sep-2243-client-encode-values', 'sep-2243-client-base64-unsafe',
        'sep-2243-client-omit-null'] },
    'http-invalid-tool-headers': { at: [MODERN], checks: [
        'sep-2243-client-reject-invalid-tool',
        'sep-2243-x-mcp-header-not-empty', 'sep-2243-x-mcp-header-charset',
        'sep-2243-x-mcp-header-unique',
        'sep-2243-x-mcp-header-primitive-only'] },
    'json-schema-ref-no-deref': { at: [MODERN],
        checks: ['sep-2106-no-network-ref-deref'] },
    'json-schema-2020-12-preservation': { at: [LEGACY, MODERN], checks: [] },
};

/* How the client speaks. "told" is a legacy one whose mcpsplice is told what
 * the server is and so needs not try. */
const eras = {
    legacy: ['legacy'],
    told: ['legacy', '--protocol', 'modern'],
    modern: ['modern'],
    abrupt: ['abrupt'],
};
const told = ['request-metadata', 'http-standard-headers'];
const abrupt = ['tools_call', 'elicitation-sep1034-client-defaults',
    'request-metadata', 'sep-2322-client-request-state'];
const meets = (way, name) =>
    ({ told, abrupt })[way]?.includes(name) ?? true;

/*
 * What fails, and may: by scenario and way, the names of the checks. An entry
 * that does not fail any more is an error.
 *
 * The one cause is the first message of a legacy client, initialize. It goes
 * straight to the server as it is, since a legacy server needs it so and a
 * modern one's refusal tells the eras apart with no round trip wasted. It
 * has none of what 2026-07-28 wants of a request: no version header
 * (ClientSendsVersionHeader), no _meta (ClientPopulatesMeta,
 * ClientSendsClientInfo), no Mcp-Method (ClientMcpMethodHeader_initialize).
 * All that follows has it, which the same scenarios with --protocol modern
 * show: there initialize is never sent.
 */
const expected_failures = {
    'request-metadata legacy': ['ClientSendsVersionHeader',
        'ClientPopulatesMeta', 'ClientSendsClientInfo'],
    'http-standard-headers legacy': ['ClientMcpMethodHeader_initialize'],
};

/* Checks that are not made since their request is not: modern servers get
 * neither of these, whoever is in front. */
const not_sent = ['ClientMcpMethodHeader_initialize',
    'ClientMcpMethodHeader_notifications_initialized'];

/*
 * What a legacy server cannot do for the scenarios of 2026-07-28, whoever
 * stands between: scenario, how a check ends otherwise, how it ends there.
 */
const lost = [
    /* It cannot know per request what the client can do, and has no error for
     * what it cannot ask: its tool fails in words of its own. */
    ['server-stateless',
        'SUCCESS sep-2575-server-rejects-undeclared-capability',
        ['FAILURE sep-2575-server-rejects-undeclared-capability']],
    ['server-stateless', 'SUCCESS sep-2575-missing-capability-http-400',
        ['FAILURE sep-2575-missing-capability-http-400']],
    /* Its questions have no keys. Ours is "q1", the scenario waits for
     * "user_name", and then does not get to its second half. */
    ['input-required-result-basic-elicitation',
        'SUCCESS sep-2322-elicitation-incomplete',
        ['FAILURE sep-2322-elicitation-incomplete']],
    ['input-required-result-basic-elicitation',
        'SUCCESS sep-2322-elicitation-complete', []],
    /* Nor does the answer to "user_name" answer "q1": it is asked again. */
    ['input-required-result-ignore-extra-params',
        'SUCCESS sep-2322-ignore-unexpected-params',
        ['WARNING sep-2322-ignore-unexpected-params']],
];

/* Extensions, in which a transport has no part. */
const extensions = {
    client: ['sep-2640-client-no-prefetch', 'sep-2640-client-verify-digest',
        'sep-2640-client-verify-size', 'sep-2640-client-verify-frontmatter'],
    server: ['sep-2640-skills-directory', 'sep-2640-skills-enumeration',
        'sep-2640-skills-manifest', 'tasks-lifecycle',
        'tasks-capability-negotiation', 'tasks-wire-fields',
        'tasks-request-state-removal', 'tasks-mrtr-input',
        'tasks-request-headers', 'tasks-dispatch-and-envelope',
        'tasks-status-notifications', 'tasks-required-task-error',
        'tasks-mrtr-composition'],
};

/* What the suite lists: each scenario with the revisions it names. */
async function listed(what) {
    const { stdout } = await run_suite(['list', `--${what}`]);

    return new Map([...stdout.matchAll(/^ +- (\S+) \[(.*)\]$/gm)].map(
        ([, name, at]) => [name, at.split(',')]));
}

const by_status = (checks, status) =>
    checks.filter((c) => c.status === status);

function check_client(checks, name, way, said) {
    const failures = expected_failures[`${name} ${way}`] ?? [];
    const bad = checks.filter(is_bad);
    const about = `${bad.map((c) => `${c.status} ${c.name}: ${
        c.errorMessage ?? c.description}`).join('\n')}\n${said}`;

    assert.deepEqual(bad.map((c) => c.name).sort(), [...failures].sort(),
        `not the expected failures:\n${about}`);
    const passed = by_status(checks, 'SUCCESS').map((c) => c.id);
    for (const id of scenarios[name].checks)
        assert.ok(passed.includes(id) || bad.some((c) => c.id === id),
            `${id} is missing\n${about}`);
    assert.ok(passed.length > 0, about);
    if (name === 'http-standard-headers')
        assert.deepEqual(by_status(checks, 'SKIPPED').map((c) => c.name),
            not_sent.filter((check) => !failures.includes(check)), about);
    else
        assert.deepEqual(by_status(checks, 'SKIPPED'), [], about);
}

function run_client(name, at, way) {
    const command = [`"${process.execPath}" "${client}"`, ...eras[way]];

    return with_folder(async (dir) => {
        const { code, output } = await run_suite(['client', '--command',
            command.join(' '), '--scenario', name, '--spec-version', at,
            '--timeout', '30000', '-o', dir]);
        const result = results(dir).get(name);

        assert.ok(result, output);
        const read = (file) => readFileSync(path.join(result.folder, file),
            'utf8');
        check_client(result.checks, name, way, read('stderr.txt'));
        assert.equal(read('stdout.txt'), 'done\n', read('stderr.txt'));
        assert.equal(code, expected_failures[`${name} ${way}`] ? 1 : 0,
            output);
    });
}

/* How each check of each scenario ended, and what the bad ones say. INFO is
 * no end. */
function ends(dir) {
    const all = {};
    const words = [];

    for (const [scenario, { checks: made }] of results(dir)) {
        const checks = made.filter((c) => c.status !== 'INFO');

        all[scenario] = checks.map((c) => `${c.status} ${c.id}`).sort();
        words.push(...checks.filter(is_bad).map((c) =>
            `${scenario}: ${c.id}: ${c.errorMessage}`));
    }
    return { all, words };
}

function run_server(url, at) {
    return with_folder(async (dir) => {
        await run_suite(['server', '--url', url, '--suite', 'all',
            '--spec-version', at, '-o', dir]);
        return ends(dir);
    });
}

/* Without shim and mcpsplice: every scenario of the revision, and nothing
 * fails. */
async function run_direct(at) {
    const wanted = await listed('server');
    const server = await start_server();

    try {
        const { all, words } = await run_server(server.url, at);

        assert.deepEqual(words, []);
        assert.deepEqual(Object.keys(all).sort(), [...wanted.keys()].filter(
            (name) => wanted.get(name).includes(at)).sort());
        return all;
    } finally {
        server.stop();
    }
}

const base_lines = new Map();

function base_line(at) {
    if (!base_lines.has(at))
        base_lines.set(at, run_direct(at));
    return base_lines.get(at);
}

async function check_servers(at, only) {
    const expected = structuredClone(await base_line(at));
    const server = await start_server(only);
    const shim = await start_shim(server.url);
    let ended;

    for (const [scenario, was, is] of at === MODERN && only ? lost : []) {
        const checks = expected[scenario];

        assert.ok(checks.includes(was), `${scenario}: ${was} is stale`);
        checks.splice(checks.indexOf(was), 1, ...is);
        checks.sort();
    }
    try {
        if (at === MODERN)
            await warm_up(shim.url);
        const { all, words } = await run_server(shim.url, at);

        for (const scenario of Object.keys({ ...all, ...expected }))
            assert.deepEqual(all[scenario], expected[scenario],
                `${scenario} ends otherwise:\n${all[scenario]}\n${
                    words.join('\n')}`);
    } finally {
        ended = await shim.stop();
        server.stop();
    }
    assert.ok(ended.length > 0);
    for (const end of ended)
        assert.deepEqual(end, { code: 0, signal: null, stderr: '' },
            `an mcpsplice ended badly: ${JSON.stringify(end)}`);
}

test('conformance: era: the client scenarios are those we know', async () => {
    const all = await listed('client');
    const known = Object.entries(scenarios).map(([name, { at }]) =>
        [name, at]);

    for (const name of extensions.client)
        known.push([name, ['extension']]);
    assert.deepEqual([...all].filter(([name]) => !name.startsWith('auth/'))
        .sort(), known.sort());
});

describe('conformance: era: client', { concurrency: 2 }, () => {
    for (const [name, { at }] of Object.entries(scenarios))
        for (const revision of at)
            for (const way of Object.keys(eras))
                if (meets(way, name))
                    test(`${way} client: ${name} at ${revision}`,
                        { timeout: 90000 },
                        () => run_client(name, revision, way));
});

test('conformance: era: each expected failure is a test', () => {
    for (const entry of Object.keys(expected_failures)) {
        const [name, way] = entry.split(' ');

        assert.ok(scenarios[name] && eras[way] && meets(way, name), entry);
    }
});

test('conformance: era: the server extensions are those we know', async () => {
    const all = await listed('server');

    assert.deepEqual([...all.keys()].filter((name) =>
        all.get(name).includes('extension')).sort(),
    extensions.server.sort());
});

describe('conformance: era: server', { concurrency: 2 }, () => {
    for (const at of ['2025-03-26', '2025-06-18', LEGACY, MODERN])
        test(`server scenarios at ${at}`, { timeout: 120000 },
            () => check_servers(at));
    for (const [at, only] of [[LEGACY, 'modern'], [LEGACY, 'sse'],
        [MODERN, 'legacy'], [MODERN, 'sse']])
        test(`server scenarios at ${at}, of a server that is ${only}`,
            { timeout: 120000 }, () => check_servers(at, only));
});
