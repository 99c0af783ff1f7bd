/*
 * A forgetful server made of mcp-lite, which shares no code with the official
 * SDK. It serves a POST of a session that it does not know as if nothing had
 * happened and refuses only the listen stream, with 400 and plain text.
 */
import { Readable } from 'node:stream';
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from
    'mcp-lite';
import { z } from 'zod';
import { content, listen, tools, uri } from './forget-server.mjs';

const mcp = new McpServer({ name: 'forgetful', version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema) });

for (const [name, { run, annotations }] of Object.entries(tools))
    mcp.tool(name, { annotations, description: name,
        inputSchema: z.object({ key: z.string(), ms: z.number() }),
        handler: async (args) =>
            ({ content: [{ type: 'text', text: await run(args) }] }) });
mcp.resource(uri, { name: 'a' }, async () =>
    ({ contents: [{ uri, type: 'text', text: content('a') }] }));
mcp.resource('mem://t/{name}', { name: 't' }, async (at, { name }) =>
    ({ contents: [{ uri: at.href, type: 'text', text: content(name) }] }));
mcp.prompt('p', { description: 'p',
    arguments: z.object({ word: z.string() }),
    handler: ({ word }) => ({ messages: [{ role: 'user',
        content: { type: 'text', text: `say ${word}` } }] }) });

const handle = new StreamableHttpTransport({
    sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }),
}).bind(mcp);

listen(async (req, res) => {
    const answer = await handle(new Request(`http://127.0.0.1${req.url}`, {
        method: req.method, headers: req.headers, duplex: 'half',
        body: req.method === 'POST' ? Readable.toWeb(req) : undefined }));

    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.flushHeaders();
    if (!answer.body)
        return res.end();
    const body = Readable.fromWeb(answer.body);

    res.on('close', () => body.destroy());
    body.on('error', () => res.destroy());
    return body.pipe(res);
});
