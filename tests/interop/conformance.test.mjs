/*
 * The official conformance suite's client scenarios at 2025-11-25, with the
 * SDK client in front: first directly, as the base line, then through
 * mcpsplice. A scenario passes with no failure, no warning and the checks it
 * is known for.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const suite = path.join(path.dirname(require.resolve(
    '@modelcontextprotocol/conformance/package.json')), 'dist/index.js');
const client = fileURLToPath(
    new URL('./conformance-client.mjs', import.meta.url));

const scenarios = {
    'initialize': ['mcp-client-initialization'],
    'tools_call': ['tool-add-numbers', 'wire-schema-valid'],
    'elicitation-sep1034-client-defaults': [
        'client-elicitation-sep1034-string-default',
        'client-elicitation-sep1034-integer-default',
        'client-elicitation-sep1034-number-default',
        'client-elicitation-sep1034-enum-default',
        'client-elicitation-sep1034-boolean-default',
    ],
    'sse-retry': [
        'client-sse-graceful-reconnect',
        'client-sse-retry-timing',
        'client-sse-last-event-id',
    ],
};

function run_suite(way, scenario, dir) {
    const command = `"${process.execPath}" "${client}" ${way}`;

    return new Promise((resolve) => {
        execFile(process.execPath, [suite, 'client', '--command', command,
            '--scenario', scenario, '--spec-version', '2025-11-25',
            '--timeout', '20000', '-o', dir],
            (error, stdout, stderr) => resolve({
                code: error ? error.code : 0,
                output: stdout + stderr,
            }));
    });
}

function read_checks(dir) {
    const [name] = readdirSync(dir);

    return JSON.parse(readFileSync(path.join(dir, name, 'checks.json')));
}

async function check_scenario(way, scenario) {
    const dir = mkdtempSync(path.join(tmpdir(), 'mcpsplice-conformance-'));

    try {
        const { code, output } = await run_suite(way, scenario, dir);
        const checks = read_checks(dir);
        const bad = checks.filter((c) =>
            c.status === 'FAILURE' || c.status === 'WARNING');

        assert.deepEqual(bad, [], output);
        for (const id of scenarios[scenario])
            assert.equal(checks.find((c) => c.id === id)?.status,
                'SUCCESS', `${id}\n${output}`);
        assert.equal(code, 0, output);
    } finally {
        rmSync(dir, { recursive: true, force: true });
    }
}

for (const way of ['direct', 'mcpsplice'])
    describe(`conformance: ${way}`, () => {
        for (const scenario of Object.keys(scenarios))
            test(`${way}: ${scenario}`, { timeout: 40000 },
                () => check_scenario(way, scenario));
    });
