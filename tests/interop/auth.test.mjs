/*
 * The official conformance suite's auth scenarios, through mcpsplice with a
 * browser that consents to everything (conformance-auth.mjs): no failure, no
 * warning, the checks that each is known for, and as many registrations,
 * authorizations and token requests as it takes. A scenario that this file
 * does not know is an error.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const suite = path.join(path.dirname(require.resolve(
    '@modelcontextprotocol/conformance/package.json')), 'dist/index.js');
const driver = fileURLToPath(
    new URL('./conformance-auth.mjs', import.meta.url));

const resource = ['resource-parameter-in-authorization',
    'resource-parameter-in-token', 'resource-parameter-valid-uri',
    'resource-parameter-consistency'];
const metadata = { checks: ['authorization-server-metadata', ...resource,
    'resource-parameter-matches-prm'] };
const method = { checks: ['token-endpoint-auth-method', ...resource] };

/* As most scenarios go; what differs is said below. register, authorize and
 * token count requests, undefined leaves that to the suite. refused: sign-in
 * must fail, with an error of ours. */
const plain = { checks: [], register: 1, authorize: 1, token: 1,
    refused: false };
const stopped = { register: 0, authorize: 0, token: 0, refused: true };
const rejected = { token: 0, refused: true };

/* In both revisions: run on either wire. */
const core = {
    'metadata-default': metadata,
    'metadata-var1': metadata,
    'metadata-var2': metadata,
    'metadata-var3': metadata,
    'basic-cimd': { checks: ['cimd-client-id-used'], register: 0 },
    'scope-from-www-authenticate': { checks: ['scope-from-www-authenticate'] },
    'scope-from-scopes-supported': { checks: ['scope-from-scopes-supported'] },
    'scope-omitted-when-undefined': {
        checks: ['scope-omitted-when-undefined'] },
    'scope-step-up': { authorize: 2, token: 2,
        checks: ['scope-step-up-initial', 'scope-step-up-escalation'] },
    'scope-retry-limit': { checks: ['scope-retry-limit'], refused: true,
        authorize: undefined, token: undefined },
    'token-endpoint-auth-basic': method,
    'token-endpoint-auth-post': method,
    'token-endpoint-auth-none': method,
    'pre-registration': { checks: ['pre-registration-auth'], register: 0 },
};

const backcompat = {
    '2025-03-26-oauth-metadata-backcompat': {
        checks: ['authorization-server-metadata'] },
    '2025-03-26-oauth-endpoint-fallback': {},
};

const modern = {
    'resource-mismatch': { ...stopped,
        checks: ['resource-mismatch-rejected'] },
    'offline-access-scope': {
        checks: ['sep-2207-client-metadata-grant-types',
            'sep-2207-offline-access-requested'] },
    'offline-access-not-supported': {
        checks: ['sep-2207-offline-access-not-requested'] },
    'authorization-server-migration': { register: 2, authorize: 2, token: 2,
        checks: ['sep-2352-reregister-on-as-change',
            'sep-2352-no-reuse-on-as-change',
            'sep-2352-no-cross-as-credential-reuse'] },
    'iss-supported': { checks: ['sep-2468-client-compare-iss-supported'] },
    'iss-not-advertised': { checks: ['sep-2468-client-proceed-no-iss'] },
    'iss-supported-missing': { ...rejected,
        checks: ['sep-2468-client-reject-missing-iss'] },
    'iss-wrong-issuer': { ...rejected,
        checks: ['sep-2468-client-compare-iss-supported'] },
    'iss-unexpected': { ...rejected,
        checks: ['sep-2468-client-compare-iss-unadvertised'] },
    'iss-normalized': { ...rejected,
        checks: ['sep-2468-client-no-normalization'] },
    'metadata-issuer-mismatch': { ...stopped,
        checks: ['sep-2468-client-validate-metadata-issuer'] },
};

const dpop = ['sep-1932-client-token-request-proof',
    'sep-1932-client-dpop-auth-scheme', 'sep-1932-client-fresh-proof'];

const extension = {
    'client-credentials-jwt': { register: 0, authorize: 0,
        checks: ['client-credentials-jwt-verified'] },
    'client-credentials-basic': { register: 0, authorize: 0,
        checks: ['client-credentials-basic-auth'] },
    'wif-jwt-bearer': { register: 0, authorize: 0,
        checks: ['wif-assertion-verified'] },
    'dpop': { checks: dpop },
    'dpop-nonce': { checks: [...dpop, 'sep-1932-client-as-nonce',
        'sep-1932-client-rs-nonce'] },
    'enterprise-managed-authorization': { register: 0, authorize: 0,
        checks: ['complete-flow-token-exchange', 'complete-flow-jwt-bearer'] },
};

/* On the wire of 2026-07-28 there is more to check. */
function at_modern(name, expected) {
    const checks = [...expected.checks];

    if (expected.register)
        checks.push('sep-837-application-type-present');
    if (name === 'scope-step-up')
        checks.push('sep-2350-scope-union-on-reauth');
    return { ...expected, checks };
}

function run_suite(args) {
    return new Promise((resolve) => {
        execFile(process.execPath, [suite, ...args],
            { maxBuffer: 1 << 24 },
            (error, stdout, stderr) => resolve({
                code: error ? error.code : 0,
                stdout,
                stderr,
            }));
    });
}

function count(checks, id) {
    return checks.filter((c) => c.id === id).length;
}

function complaints(checks) {
    return checks.filter((c) => c.status === 'FAILURE'
        || c.status === 'WARNING').map((c) =>
        `${c.status} ${c.id}: ${c.errorMessage ?? c.description}`);
}

function check_requests(checks, expected, report) {
    const first = checks.find((c) => /^incoming-(auth-)?request$/.test(c.id));

    assert.equal(first.description,
        `Received POST request for /mcp (method: ${first.details.mcpMethod})`,
        'nothing may be asked before the server refuses');
    for (const [what, id] of [['register', 'client-registration'],
        ['authorize', 'authorization-request'], ['token', 'token-request']])
        if (expected[what] !== undefined)
            assert.equal(count(checks, id), expected[what], id);
    assert.equal(report.opened.length, count(checks, 'authorization-request'),
        'as many browsers as authorizations');
}

function check_report(expected, report) {
    assert.equal(report.failure, undefined);
    assert.equal(report.refused.length > 0, expected.refused,
        JSON.stringify(report.refused));
    for (const error of report.refused)
        assert.equal(error.data?.source, 'mcpsplice', JSON.stringify(error));
}

async function check_scenario(name, expected, era, args) {
    const dir = mkdtempSync(path.join(tmpdir(), 'mcpsplice-conformance-'));
    const command = `"${process.execPath}" "${driver}" ${era}`;

    try {
        const { code, stdout, stderr } = await run_suite(['client',
            '--command', command, '--scenario', `auth/${name}`,
            '--timeout', '60000', '-o', dir, ...args]);
        const [results] = globSync(path.join(dir, 'auth', '*'));
        const output = stdout + stderr;

        assert.ok(results, output);
        const read = (file) => readFileSync(path.join(results, file), 'utf8');
        const said = read('stdout.txt') + read('stderr.txt');
        const checks = JSON.parse(read('checks.json'));
        const bad = complaints(checks);
        assert.ok(bad.length === 0, `${bad.join('\n')}\n${said}`);
        for (const id of expected.checks)
            assert.equal(checks.find((c) => c.id === id)?.status, 'SUCCESS',
                `${id}\n${said}`);
        const report = JSON.parse(read('stdout.txt'));
        assert.equal(report.way, era);
        check_report(expected, report);
        check_requests(checks, expected, report);
        assert.equal(code, 0, output);
    } finally {
        rmSync(dir, { recursive: true, force: true });
    }
}

function run_scenarios(title, scenarios, era = 'legacy', args = []) {
    describe(`conformance: auth: ${title}`, { concurrency: 2 }, () => {
        for (const [name, expected] of Object.entries(scenarios))
            test(`${title}: ${name}`, { timeout: 90000 },
                () => check_scenario(name, { ...plain, ...expected }, era,
                    args));
    });
}

function all_at_modern(scenarios) {
    return Object.fromEntries(Object.entries(scenarios).map(
        ([name, expected]) => [name,
            at_modern(name, { ...plain, ...expected })]));
}

test('conformance: auth: the scenarios are those we know', async () => {
    const { stdout } = await run_suite(['list', '--client']);
    const listed = [...stdout.matchAll(/^ +- auth\/(\S+)/gm)].map((m) => m[1]);
    const known = [core, backcompat, modern, extension].flatMap(Object.keys);

    assert.equal(known.length, 33);
    assert.deepEqual(listed.sort(), known.sort());
});

run_scenarios('core', core);
run_scenarios('back-compat', backcompat);
run_scenarios('2026-07-28', all_at_modern(modern), 'modern');
run_scenarios('2026-07-28, translated', all_at_modern(modern));
run_scenarios('extension', extension);
run_scenarios('core at 2026-07-28', all_at_modern(core), 'modern',
    ['--spec-version', '2026-07-28']);
