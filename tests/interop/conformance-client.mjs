/*
 * The client that the conformance suite drives: the official SDK, either over
 * its own HTTP transport or through mcpsplice, doing what one scenario wants.
 * usage: conformance-client.mjs direct|mcpsplice URL
 */
import assert from 'node:assert/strict';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect, start_tap, until_listening } from './lib.mjs';

const [way, url] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const tap = scenario === 'sse-retry' ? await start_tap(new URL(url))
    : undefined;

function prepare(client) {
    if (scenario !== 'elicitation-sep1034-client-defaults')
        return;
    client.setRequestHandler(ElicitRequestSchema,
        () => ({ action: 'accept', content: {} }));
}

const scripts = {
    'initialize': async (client) => {
        await client.listTools();
    },
    'tools_call': async (client) => {
        const { tools } = await client.listTools();

        assert.deepEqual(tools.map((t) => t.name), ['add_numbers']);
        const result = await client.callTool({ name: 'add_numbers',
            arguments: { a: 5, b: 3 } });
        assert.equal(result.content[0].text, 'The sum of 5 and 3 is 8');
    },
    'elicitation-sep1034-client-defaults': async (client) => {
        await client.listTools();
        const result = await client.callTool(
            { name: 'test_client_elicitation_defaults', arguments: {} });
        assert.match(result.content[0].text, /Elicitation completed: .*John/);
    },
    'sse-retry': async (client) => {
        await client.listTools();
        await until_listening(tap);
        const result = await client.callTool(
            { name: 'test_reconnection', arguments: {} });
        assert.match(result.content[0].text, /completed successfully/);
    },
};

const capabilities = scenario === 'elicitation-sep1034-client-defaults'
    ? { elicitation: { form: { applyDefaults: true } } } : {};
const link = await connect(way, tap?.url ?? new URL(url),
    { client: { capabilities }, prepare });

await scripts[scenario](link.client);
const { code, signal } = way === 'direct'
    ? (await link.client.close(), { code: 0, signal: null })
    : await link.end();
tap?.stop();
assert.deepEqual({ code, signal }, { code: 0, signal: null });
