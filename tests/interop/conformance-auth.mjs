/*
 * The client that the auth scenarios of the conformance suite drive: plain
 * JSON-RPC on stdio to mcpsplice, with a home of its own and a program for a
 * browser that follows redirects. It ends with 0 when the tools could be used,
 * else with 1, and prints one line of JSON that says what it saw. Whatever
 * must hold in every scenario (secrets, the URL for people, the end) is
 * asserted here.
 * usage: conformance-auth.mjs URL
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from
    'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { child_env } from './child-env.mjs';

const ANSWER_MS = 20000;
const END_MS = 5000;

const url = process.argv[3];
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const era = process.argv[2];    /* of the client: legacy, modern */
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = mkdtempSync(path.join(tmpdir(), 'mcpsplice-auth-'));
const opened = path.join(home, 'opened');

/* Secrets of the suite's servers and its context: no output may have them. */
const secrets = ['test-auth-code', 'test-token', 'cc-token',
    'test-client-secret', 'test-secret', 'as1-client-secret',
    'as2-client-secret',
    ...[context.client_secret, context.valid_jwt,
        context.idp_id_token].filter((s) => s),
    ...context.private_key_pem?.split('\n').filter((line) =>
        line && !line.startsWith('-----')) ?? []];

function quoted(text) {
    return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}

/* The browser notes what it was told to open, then follows the redirects. */
function write_browser() {
    const name = path.join(home, 'browser');

    writeFileSync(name, '#!/bin/sh\n'
        + `printf '%s\\n' "$1" >>${quoted(opened)}\n`
        + `exec ${quoted(process.execPath)} -e `
        + '\'fetch(process.argv[1]).then((r) => r.text())\' "$1"\n',
    { mode: 0o700 });
    return name;
}

function write_secret(name, text) {
    const file = path.join(home, name);

    writeFileSync(file, text, { mode: 0o600 });
    return file;
}

function options() {
    const args = ['--browser', write_browser(), '--login-timeout', '15',
        '--init-timeout', '15'];

    if (scenario.startsWith('auth/client-credentials'))
        args.push('--auth', 'client-credentials');
    if (scenario === 'auth/wif-jwt-bearer')
        args.push('--auth', 'workload', '--assertion-file',
            write_secret('assertion', `${context.valid_jwt}\n`));
    if (scenario === 'auth/enterprise-managed-authorization')
        args.push('--auth', 'enterprise', '--idp', context.idp_issuer,
            '--idp-client-id', context.idp_client_id, '--idp-token-file',
            write_secret('id-token', context.idp_id_token));
    if (scenario === 'auth/basic-cimd')
        args.push('--client-metadata-url',
            'https://conformance-test.local/client-metadata.json');
    if (context.client_id)
        args.push('--client-id', context.client_id);
    if (context.client_secret)
        args.push('--client-secret-file',
            write_secret('client-secret', context.client_secret));
    if (context.private_key_pem)
        args.push('--client-key',
            write_secret('client-key.pem', context.private_key_pem));
    if (context.issuer)
        args.push('--issuer', context.issuer);
    return args;
}

function start(more = []) {
    const child = spawn(process.env.MCPSPLICE, [...options(), ...more, url],
        /* a browser is only tried where there is a display */
        { env: child_env({ HOME: home, DISPLAY: ':0' }), stdio: 'pipe' });
    const link = { child, seen: '', stderr: '', last_id: 0,
        waiting: new Map(), exit: once(child, 'close') };

    child.stdin.on('error', () => {});
    child.stderr.on('data', (text) => { link.stderr += text; });
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
        const message = JSON.parse(line);

        link.seen += `${line}\n`;
        link.waiting.get(message.id)?.(message);
        link.waiting.delete(message.id);
    });
    return link;
}

function send(link, message) {
    link.child.stdin.write(`${JSON.stringify(
        { jsonrpc: '2.0', ...message })}\n`);
}

/* The whole answer: a result or an error. */
function ask(link, method, params) {
    const id = ++link.last_id;

    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(
            `no answer to ${method} in ${ANSWER_MS} ms`)), ANSWER_MS);

        link.exit.then(([code, signal]) => reject(new Error(
            `ended (${signal ?? code}) before it answered ${method}`)),
        reject);
        link.waiting.set(id, (message) => {
            clearTimeout(timer);
            resolve(message);
        });
        send(link, { id, method, params });
    });
}

const client_info = { name: 'conformance-auth', version: '1.0.0' };

/* What each request of 2026-07-28 says of itself, instead of initialize. */
function modern(params) {
    return { ...params, _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': client_info,
        'io.modelcontextprotocol/clientCapabilities': {},
    } };
}

/*
 * As a host does it: a legacy client initializes, a modern one does not.
 * Returns how params are put, or undefined when there is nothing to go on with.
 */
async function begin(link, report) {
    report.way = era;
    if (era === 'modern')
        return modern;
    const answer = await ask(link, 'initialize', {
        protocolVersion: '2025-11-25', capabilities: {},
        clientInfo: client_info });

    if (answer.result) {
        send(link, { method: 'notifications/initialized' });
        return (params) => params;
    }
    report.refused.push({ method: 'initialize', ...answer.error });
    return undefined;
}

async function use_tools(link, report) {
    const put = await begin(link, report);

    if (!put)
        return;
    const list = await ask(link, 'tools/list', put({}));
    if (list.error)
        report.refused.push({ method: 'tools/list', ...list.error });
    else
        assert.deepEqual(list.result.tools.map((t) => t.name), ['test-tool']);
    for (let i = 0; i < 2; i++) {
        const call = await ask(link, 'tools/call',
            put({ name: 'test-tool', arguments: {} }));

        if (call.error)
            report.refused.push({ method: 'tools/call', ...call.error });
        else
            assert.equal(call.result.content[0].text, 'test');
    }
}

async function end(link) {
    const timer = setTimeout(() => link.child.kill('SIGKILL'), END_MS);

    link.child.stdin.end();
    const [code, signal] = await link.exit;
    clearTimeout(timer);
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
}

function check_people(link, report) {
    report.opened = existsSync(opened)
        ? readFileSync(opened, 'utf8').trim().split('\n') : [];
    for (const page of report.opened)
        assert.ok(link.stderr.includes(page),
            `not on stderr: ${page}`);
    for (const secret of secrets)
        assert.ok(!link.stderr.includes(secret)
            && !link.seen.includes(secret), `shown: ${secret}`);
}

const report = { way: null, refused: [], opened: [] };
let link = start();

try {
    await use_tools(link, report);
    /* The suite's authorization server has a port of its own: a secret goes
     * there if the user copies the option that the error names. */
    const [, named] = / --issuer (\S+)$/.exec(
        context.client_secret && report.refused[0]?.message) ?? [];
    if (named) {
        await end(link);
        check_people(link, report);
        report.refused = [];
        link = start(['--issuer', named]);
        await use_tools(link, report);
    }
    await end(link);
    check_people(link, report);
    report.done = true;
} catch (error) {
    link.child.kill('SIGKILL');
    report.failure = error.message;
}
report.stderr = link.stderr;
rmSync(home, { recursive: true, force: true });
console.log(JSON.stringify(report));
process.exitCode = report.done && report.refused.length === 0 ? 0 : 1;
