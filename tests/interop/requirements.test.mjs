/*
 * What the official conformance suite requires of a revision, as it froze it
 * (--requirements), through mcpsplice: as a part of the client with a host in
 * front, and with a shim (conformance-era-shim.mjs) between the suite and a
 * server of the official SDK. Which scenarios are not met is said here, by
 * name and with the reason; the figures are those of README.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start_server } from './conformance-era-server.mjs';
import { start_shim, warm_up } from './conformance-era-shim.mjs';
import { is_bad, results, run_suite, version, with_folder } from
    './conformance-suite.mjs';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

/* So many clients run at a time. */
const PLACES = 2;
const LIMIT_MS = 280000;

const client = fileURLToPath(
    new URL('./conformance-required-client.mjs', import.meta.url));

/* How many scenarios are required, and met where host and server speak the
 * revision; and how many of those of 2026-07-28 are met with a host of
 * 2025-11-25, which mcpsplice translates. */
const figures = {
    [LEGACY]: { client: 18, server: 30 },
    [MODERN]: { client: 32, server: 37 },
    translated: 30,
};

/* Not required, and not met: the server has no tasks, nor does the official
 * SDK. An extension is the server's; mcpsplice passes its messages on. */
const tasks = ['tasks-lifecycle', 'tasks-capability-negotiation',
    'tasks-wire-fields', 'tasks-request-state-removal', 'tasks-mrtr-input',
    'tasks-request-headers', 'tasks-dispatch-and-envelope',
    'tasks-status-notifications', 'tasks-required-task-error',
    'tasks-mrtr-composition'];

/* Required, and not met: an old host begins with initialize, which goes to
 * the server as it is (see expected_failures in conformance-era.test.mjs) and
 * so lacks what these want of each request. */
const spoiled = ['request-metadata', 'http-standard-headers'];

/* The scenarios of one leg, "client" or "server": those that are required and
 * those that are run and reported only. */
async function listed(at, leg) {
    const { stdout } = await run_suite(['list', '--requirements', at]);
    const [, section] = new RegExp(
        `^${leg} scenarios .*:\\n((?: +- .*\\n)*)`, 'im').exec(stdout);

    return { required: [...section.matchAll(/- (\S+)$/gm)].map((m) => m[1]),
        reported: [...stdout.matchAll(/- (\S+) \[(\w+)\]$/gm)].filter((m) =>
            m[2] === leg).map((m) => m[1]) };
}

/* When all have come, for so many starts keep a small machine from answering
 * in time, the gate lets PLACES clients in, each until it ends. */
async function start_gate(all) {
    const waiting = [];
    let expected = all;
    let free = PLACES;

    function admit() {
        while (expected === 0 && free > 0 && waiting.length > 0) {
            const place = waiting.shift();

            free--;
            place.on('close', () => {
                free++;
                admit();
            });
            place.write('in');
        }
    }
    const gate = net.createServer((place) => {
        place.on('error', () => {});
        waiting.push(place);
        expected--;
        admit();
    });

    gate.listen(0, '127.0.0.1');
    await once(gate, 'listening');
    return gate;
}

/* Did the client see what it wanted, whatever the suite saw? */
function is_content(folder) {
    const said = readFileSync(path.join(folder, 'stdout.txt'), 'utf8');

    return said === 'done\n'
        || (said !== '' && JSON.parse(said).failure === undefined);
}

function is_met(checks) {
    return checks.some((c) => c.status === 'SUCCESS') && !checks.some(is_bad);
}

async function run_clients(at, era) {
    const { required, reported } = await listed(at, 'client');
    const gate = await start_gate(required.length + reported.length);

    try {
        return await with_folder(async (dir) => {
            const { code, output } = await run_suite(['client', '--command',
                `"${process.execPath}" "${client}" ${era}`, '--requirements',
                at, '--timeout', String(LIMIT_MS), '-o', dir],
            { ...process.env, CONFORMANCE_GATE: gate.address().port });

            return { code, output, met: new Map([...results(dir)].map(
                ([name, { folder, checks }]) => [name,
                    is_met(checks) && is_content(folder)])) };
        });
    } finally {
        gate.close();
    }
}

async function run_servers(at) {
    const server = await start_server();
    const shim = await start_shim(server.url);

    try {
        if (at === MODERN)
            await warm_up(shim.url);
        return await with_folder(async (dir) => {
            const { code, output } = await run_suite(['server', '--url',
                shim.url, '--requirements', at, '-o', dir]);

            return { code, output, met: new Map([...results(dir)].map(
                ([name, { checks }]) => [name, is_met(checks)])) };
        });
    } finally {
        await shim.stop();
        server.stop();
    }
}

/* All that is listed was run, unmet is what was not met, and as many of the
 * required ones were met as we say, in the suite's opinion too. */
async function check_leg(at, leg, { code, met, output }, unmet, figure) {
    const { required, reported } = await listed(at, leg);
    const failed = [...met.keys()].filter((name) => !met.get(name));
    const failures = required.filter((name) => failed.includes(name));

    assert.deepEqual([...met.keys()].sort(),
        [...required, ...reported].sort(), output);
    assert.deepEqual(failed.sort(), unmet.toSorted(),
        `not met: ${failed}\n${output}`);
    assert.equal(required.length, figures[at][leg]);
    assert.equal(required.length - failures.length, figure);
    assert.equal(code, failures.length > 0 ? 1 : 0, output);
}

/* README's sentence, however its lines are broken. */
function sentence() {
    const old = figures[LEGACY];
    const now = figures[MODERN];

    return `The official conformance suite, version ${version}, lists what `
        + `each revision requires. Through mcpsplice all of it passes: `
        + `${old.client} client and ${old.server} server scenarios of `
        + `${LEGACY}, ${now.client} and ${now.server} of ${MODERN}.`;
}

test('conformance: requirements: README has the figures', () => {
    const readme = readFileSync(process.env.README, 'utf8');

    assert.ok(readme.replace(/\s+/g, ' ').includes(sentence()), sentence());
});

describe('conformance: requirements', { timeout: LIMIT_MS }, () => {
    for (const [at, era] of [[LEGACY, 'legacy'], [MODERN, 'modern']])
        test(`clients of ${at}`, async () => check_leg(at, 'client',
            await run_clients(at, era), [], figures[at].client));
    test(`clients of ${LEGACY}, translated to ${MODERN}`, async () =>
        check_leg(MODERN, 'client', await run_clients(MODERN, 'legacy'),
            spoiled, figures.translated));
    for (const [at, unmet] of [[LEGACY, []], [MODERN, tasks]])
        test(`servers of ${at}`, async () => check_leg(at, 'server',
            await run_servers(at), unmet, figures[at].server));
});
