/*
 * The client that the conformance suite drives when it runs all that a
 * revision requires. The suite starts one for each scenario, all at once; it
 * waits at the gate (requirements.test.mjs), then leaves the scenario to the
 * client that knows it.
 * usage: conformance-required-client.mjs ERA URL
 */
import { once } from 'node:events';
import net from 'node:net';

const gate = net.connect(Number(process.env.CONFORMANCE_GATE), '127.0.0.1');

await once(gate, 'data');
gate.unref();
if (process.env.MCP_CONFORMANCE_SCENARIO.startsWith('auth/'))
    await import('./conformance-auth.mjs');
else
    await import('./conformance-era-client.mjs');
