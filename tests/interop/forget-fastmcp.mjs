/*
 * A forgetful server made of FastMCP, which has its own HTTP server, table of
 * sessions and refusals, and asks its clients with ping.
 */
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
import { complete, content, on_change, port, ready, tools, uri } from
    './forget-server.mjs';

const levels = ['debug', 'info', 'notice', 'warning', 'error'];
const server = new FastMCP({ name: 'forgetful', version: '1.0.0',
    ping: { enabled: true, intervalMs: 500 } });

for (const [name, { run, annotations }] of Object.entries(tools))
    server.addTool({ name, annotations, description: name,
        parameters: z.object({ key: z.string(), ms: z.number() }),
        execute: run });
server.addTool({
    name: 'log', description: 'log',
    execute: async (_args, { log }) => {
        const [session] = server.sessions;

        for (const level of ['info', 'error'])
            if (levels.indexOf(level) >= levels.indexOf(session.loggingLevel))
                await log[level](level);
        return 'logged';
    },
});
server.addResource({ uri, name: 'a', mimeType: 'text/plain',
    load: async () => ({ text: content('a') }) });
server.addResourceTemplate({ uriTemplate: 'mem://t/{name}', name: 't',
    mimeType: 'text/plain',
    arguments: [{ name: 'name', required: true,
        complete: async (value) => ({ values: complete(value) }) }],
    load: async ({ name }) => ({ text: content(name) }) });
server.addPrompt({ name: 'p',
    arguments: [{ name: 'word', required: true,
        complete: async (value) => ({ values: complete(value) }) }],
    load: async ({ word }) => `say ${word}` });
on_change(() => server.sendResourceUpdated(uri).catch(() => {}));

await server.start({ transportType: 'httpStream',
    httpStream: { port, host: '127.0.0.1', endpoint: '/mcp' } });
ready();
