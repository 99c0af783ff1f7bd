/*
 * What the interop tests share: the official client over its own HTTP
 * transport ("direct") or over stdio through mcpsplice, with every frame
 * recorded, and a reverse proxy that records what crosses the wire.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from
    '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { child_env } from './child-env.mjs';

const require = createRequire(import.meta.url);

export const binary = process.env.MCPSPLICE;
if (!binary)
    throw new Error('MCPSPLICE must name the mcpsplice program');

export { sleep };

/* Ask again until cond() is true; say what was waited for if it never is. */
export async function until(cond, what, ms = 8000) {
    const end = Date.now() + ms;

    while (!cond()) {
        if (Date.now() > end)
            throw new Error(`waited ${ms} ms for ${what}`);
        await sleep(10);
    }
}

/* As a host would start mcpsplice. */
export function splice_env(home = process.env.INTEROP_HOME) {
    return child_env(home ? { HOME: home } : {});
}

export function stdio_transport(url, args = [], home = undefined) {
    return new StdioClientTransport({
        command: binary,
        args: [...args, url],
        env: splice_env(home),
        stderr: 'pipe',
    });
}

/*
 * The official client resumes a stream whose answer was an error, and
 * "everything" replays every stream of the session on any resume: together they
 * spoil the base line with old messages, so the direct client does not resume.
 */
export const no_resume = { maxRetries: 0, initialReconnectionDelay: 1000,
    maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 1 };

/*
 * Connect an official client. The link's frames hold each JSON-RPC message
 * as {dir: 'in' | 'out', message} in order of arrival; end() closes the client
 * and, through mcpsplice, tells how the process ended.
 */
export async function connect(way, url, options = {}) {
    const direct = way === 'direct';
    const transport = direct
        ? new StreamableHTTPClientTransport(url,
            { reconnectionOptions: options.resume })
        : stdio_transport(String(url), options.args, options.home);
    const client = new Client({ name: 'interop', version: '1.0.0' },
        { capabilities: {}, ...options.client });
    const link = { way, client, transport, frames: [], errors: [],
        stderr: '' };
    const start = transport.start.bind(transport);
    const send = transport.send.bind(transport);

    transport.start = async () => {
        const deliver = transport.onmessage;

        transport.onmessage = (message, extra) => {
            link.frames.push({ dir: 'in', message });
            deliver(message, extra);
        };
        await start();
        link.child = transport._process;
        link.exit = link.child ? once(link.child, 'exit') : undefined;
        transport.stderr?.on('data', (text) => { link.stderr += text; });
    };
    transport.send = (message, opts) => {
        link.frames.push({ dir: 'out', message });
        return send(message, opts);
    };
    client.onerror = (error) => link.errors.push(error);
    options.prepare?.(client, link);
    link.end = () => end_link(link);
    try {
        await client.connect(transport);
    } catch (error) {
        error.message += `\nstderr: ${link.stderr}`;
        throw error;
    }
    return link;
}

async function end_link(link) {
    const begin = performance.now();

    if (link.way === 'direct')
        await link.transport.terminateSession();
    await link.client.close();
    if (!link.exit)
        return { code: 0, signal: null, ms: 0 };
    const [code, signal] = await link.exit;
    return { code, signal, ms: performance.now() - begin };
}

export async function free_port() {
    const server = net.createServer().listen(0, '127.0.0.1');

    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

/* Start server-everything; it cannot be asked which port it chose. */
export async function start_everything(env = {}) {
    const entry = require.resolve(
        '@modelcontextprotocol/server-everything/dist/index.js');

    for (let attempt = 0; attempt < 5; attempt++) {
        const port = await free_port();
        const child = spawn(process.execPath, [entry, 'streamableHttp'],
            { env: child_env({ PATH: process.env.PATH, ...env,
                PORT: String(port) }),
              stdio: ['ignore', 'pipe', 'pipe'] });
        const server = { child, port, log: '',
            url: new URL(`http://127.0.0.1:${port}/mcp`) };
        let gone = false;

        child.stdout.on('data', (text) => { server.log += text; });
        child.stderr.on('data', (text) => { server.log += text; });
        child.once('exit', () => { gone = true; });
        await until(() => gone || server.log.includes('listening on port'),
            'server-everything', 20000);
        server.stop = async () => {
            if (gone)
                return;
            child.kill('SIGKILL');
            await once(child, 'exit');
        };
        if (!gone)
            return server;
    }
    throw new Error('server-everything does not start');
}

/* A reverse proxy that streams both ways and remembers every exchange. */
export async function start_tap(target) {
    const tap = { exchanges: [] };
    const server = http.createServer((req, res) => {
        const exchange = { method: req.method, headers: req.headers,
            body: '', status: 0, at: performance.now() };
        const onward = http.request({ host: target.hostname,
            port: target.port, path: req.url, method: req.method,
            agent: false,
            headers: { ...req.headers, connection: 'close' } },
        (answer) => {
            const headers = { ...answer.headers };

            for (const name of ['connection', 'keep-alive',
                'transfer-encoding'])
                delete headers[name];
            exchange.status = answer.statusCode;
            exchange.answer = answer.headers;
            res.writeHead(answer.statusCode, headers);
            res.flushHeaders();
            answer.on('error', () => res.destroy());
            answer.pipe(res);
        });

        tap.exchanges.push(exchange);
        onward.on('error', () => res.destroy());
        res.on('close', () => onward.destroy());
        req.on('data', (piece) => { exchange.body += piece; });
        req.pipe(onward);
    });

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    tap.url = new URL(target);
    tap.url.port = server.address().port;
    tap.stop = () => {
        server.closeAllConnections();
        server.close();
    };
    tap.posts = (method) => tap.exchanges.filter((e) =>
        e.method === 'POST' && (!method || body_method(e) === method));
    tap.of = (verb) => tap.exchanges.filter((e) => e.method === verb);
    return tap;
}

/*
 * Wait until the listen stream is open. The server of the scenario "sse-retry"
 * gives the answer of a call to the first GET that comes after the call, be it
 * the one that resumes the call's stream or not.
 */
export function until_listening(tap) {
    return until(() => tap.of('GET').some((e) => e.status === 200),
        'the listen stream');
}

export function body_method(exchange) {
    try {
        return JSON.parse(exchange.body).method;
    } catch {
        return undefined;
    }
}

/* A JSON value with what differs from run to run made equal. */
export function normal(value, port) {
    if (value === undefined)
        return undefined;
    let text = JSON.stringify(value)
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
        .replace(/\b[0-9a-f]{32}\b/g, '<hex>')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>')
        .replace(/\d{1,2}:\d\d:\d\d( |\u202f)[AP]M/g, '<time>')
        .replace(/"(blob)":"UmVzb3VyY2U[^"]*"/g, '"$1":"<resource>"');

    if (port)
        text = text.replaceAll(String(port), '<port>');
    return JSON.parse(text);
}
