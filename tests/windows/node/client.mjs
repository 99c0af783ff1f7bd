/*
 * What a desktop host does on Windows, with the official client: it starts
 * mcpsplice, calls a tool, has the server restart between two calls, and ends.
 * Windows' Node runs this, and its argument names a file with the orders:
 *   command, args, env   what to start, and how
 *   out                  the file for what was seen, in JSON
 *   control              the URL that restarts the server; may be absent
 *   kill                 true: the host kills what it has started
 */
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';

const AT_ONCE = 20;
const order = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const seen = { system: `${process.platform} ${process.version}`, texts: [],
    stderr: '' };
const transport = new StdioClientTransport({ command: order.command,
    args: order.args, env: order.env, stderr: 'pipe' });
/* mcpsplice lets a client of this name wait for a sign-in. */
const client = new Client({ name: 'codex-mcp-client', version: '1.0.0' });

const echo = async (key) => {
    const { content } = await client.callTool({ name: 'echo',
        arguments: { key } });

    seen.texts.push(JSON.parse(content[0].text).key);
};

const visit = (url) => new Promise((resolve, reject) => {
    http.get(url, (answer) => answer.resume().on('end', resolve))
        .on('error', reject);
});

try {
    transport.stderr.on('data', (text) => { seen.stderr += text; });
    await client.connect(transport);
    const exit = once(transport._process, 'exit');

    seen.tools = (await client.listTools()).tools.map(({ name }) => name);
    await echo('before');
    if (order.control) {
        await visit(order.control);
        await echo('after');
        await Promise.all(Array.from({ length: AT_ONCE }, (_, n) =>
            echo(`ü ${n}`)));
    }
    if (order.kill)
        transport._process.kill();
    const begin = performance.now();
    await client.close();
    [seen.status] = await exit;
    seen.close_ms = performance.now() - begin;
} catch (error) {
    seen.error = String(error.stack);
}
fs.writeFileSync(order.out, JSON.stringify(seen));
process.exit();
