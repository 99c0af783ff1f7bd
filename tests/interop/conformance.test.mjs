/*
 * The official conformance suite's client scenarios at 2025-11-25, with the
 * SDK client in front: first directly, as the base line, then through
 * mcpsplice. A scenario passes with no failure, no warning and the checks it
 * is known for.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { is_bad, results, run_suite, with_folder } from
    './conformance-suite.mjs';

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

function check_scenario(way, scenario) {
    return with_folder(async (dir) => {
        const { code, output } = await run_suite(['client', '--command',
            `"${process.execPath}" "${client}" ${way}`,
            '--scenario', scenario, '--spec-version', '2025-11-25',
            '--timeout', '20000', '-o', dir]);
        const { checks } = results(dir).get(scenario);

        assert.deepEqual(checks.filter(is_bad), [], output);
        for (const id of scenarios[scenario])
            assert.equal(checks.find((c) => c.id === id)?.status,
                'SUCCESS', `${id}\n${output}`);
        assert.equal(code, 0, output);
    });
}

for (const way of ['direct', 'mcpsplice'])
    describe(`conformance: ${way}`, () => {
        for (const scenario of Object.keys(scenarios))
            test(`${way}: ${scenario}`, { timeout: 40000 },
                () => check_scenario(way, scenario));
    });
