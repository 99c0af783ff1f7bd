/*
 * What stands between the conformance suite's server scenarios and mcpsplice:
 * a Streamable HTTP server of both eras that knows HTTP and nothing else. It
 * carries each message to an mcpsplice on stdio and back: one for every
 * session of the legacy era, one for every kind of client of the modern era,
 * which is known by what it can do. What HTTP alone has (sessions, resumable
 * streams, mirrored headers and their checks, status codes) is done here;
 * what a message says is not.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { child_env } from './child-env.mjs';
import { read_json, refuse, serve } from './conformance-era-server.mjs';

/* A call that says nothing so long is to be asked for again. */
const POLL_MS = 150;
const RETRY_MS = 100;
const END_MS = 5000;
const OURS = 'io.modelcontextprotocol/';

/* An mcpsplice; each line of its output goes to take(). */
class Splice {
    stderr = '';

    constructor(url, take) {
        this.home = mkdtempSync(path.join(tmpdir(), 'mcpsplice-shim-'));
        this.child = spawn(process.env.MCPSPLICE, [url],
            { env: child_env({ HOME: this.home }), stdio: 'pipe' });
        this.exit = once(this.child, 'close');
        this.child.stdin.on('error', () => {});
        this.child.stderr.on('data', (text) => { this.stderr += text; });
        readline.createInterface({ input: this.child.stdout }).on('line',
            (line) => take(JSON.parse(line)));
    }

    send(message) {
        this.child.stdin.write(`${JSON.stringify(message)}\n`);
    }

    async end() {
        const timer = setTimeout(() => this.child.kill('SIGKILL'), END_MS);

        this.child.stdin.end();
        const [code, signal] = await this.exit;
        clearTimeout(timer);
        rmSync(this.home, { recursive: true, force: true });
        return { code, signal, stderr: this.stderr };
    }
}

const sse_headers = { 'content-type': 'text/event-stream',
    'cache-control': 'no-cache' };

/* A stream of the legacy era: remembered, so that it can be asked for again
 * after any of its events. The first is empty and only has an id. */
class Stream {
    events = [''];
    done = false;

    constructor(session, res) {
        this.session = session;
        this.name = randomUUID();
        this.attach(res, 0);
    }

    attach(res, first) {
        this.res = res;
        res.writeHead(200, { ...sse_headers, 'mcp-session-id': this.session });
        res.on('close', () => {
            if (this.res === res)
                this.res = undefined;
        });
        for (let i = first; i < this.events.length; i++)
            this.put(i);
        if (this.done)
            this.detach();
    }

    put(i) {
        this.res?.write(`id: ${this.name}_${i}\nretry: ${RETRY_MS}\n`
            + `data: ${this.events[i]}\n\n`);
    }

    write(message) {
        this.put(this.events.push(JSON.stringify(message)) - 1);
    }

    detach() {
        this.res?.end();
        this.res = undefined;
    }

    finish(message) {
        this.write(message);
        this.done = true;
        this.detach();
    }
}

class Session {
    id = randomUUID();
    streams = new Map();    /* all, by name */
    calls = new Map();      /* those with a request open, by its id */
    tokens = new Map();     /* the same by progress token */

    constructor(url) {
        this.splice = new Splice(url, (message) => this.take(message));
    }

    open(res) {
        const stream = new Stream(this.id, res);

        this.streams.set(stream.name, stream);
        return stream;
    }

    post(res, message) {
        if (message.id === undefined || message.method === undefined) {
            res.writeHead(202).end();
        } else {
            const stream = this.open(res);

            this.calls.set(message.id, stream);
            this.tokens.set(message.params?._meta?.progressToken, stream);
            if (message.method === 'tools/call')
                setTimeout(() => {
                    if (stream.events.length === 1)
                        stream.detach();
                }, POLL_MS).unref();
        }
        this.splice.send(message);
    }

    get(res, last) {
        const [name, index] = (last ?? '').split('_');

        if (last === undefined)
            this.listen = this.open(res);
        else if (this.streams.has(name))
            this.streams.get(name).attach(res, Number(index) + 1);
        else
            refuse(res, 400, -32000, 'Bad Request: no such event');
    }

    /* stdio does not say which request it belongs to: a progress token does,
     * or there is only one. */
    take(message) {
        if (message.method === undefined) {
            this.calls.get(message.id)?.finish(message);
            this.calls.delete(message.id);
            return;
        }
        const token = message.method === 'notifications/progress'
            ? message.params.progressToken : undefined;
        const stream = token !== undefined ? this.tokens.get(token)
            : [...this.calls.values()].at(-1) ?? this.listen;
        stream?.write(message);
    }
}

/* --- 2026-07-28 --- */

function decoded(value) {
    const wrapped = /^=\?base64\?(.*)\?=$/.exec(value);

    if (!wrapped)
        return value;
    const bytes = Buffer.from(wrapped[1], 'base64');
    if (bytes.toString('base64') !== wrapped[1])
        return undefined;
    return bytes.toString('utf8');
}

const name_of = { 'tools/call': 'name', 'prompts/get': 'name',
    'resources/read': 'uri' };

function differs(header, value) {
    if (header === undefined || value === undefined || value === null)
        return header !== undefined || (value ?? undefined) !== undefined;
    const said = decoded(header);
    return typeof value === 'number' ? Number(said) !== value
        : said !== String(value);
}

/* The annotated properties of a schema: [header, path]. */
function annotated(schema, at = []) {
    return Object.entries(schema?.properties ?? {}).flatMap(
        ([name, inner]) => [
            ...inner['x-mcp-header'] ? [[`mcp-param-${
                inner['x-mcp-header'].toLowerCase()}`, [...at, name]]] : [],
            ...annotated(inner, [...at, name])]);
}

/* All requests of the modern era. They come of many clients, who may choose
 * the same ids: mcpsplice sees ids of our own. */
class Modern {
    calls = new Map();
    schemas = new Map();
    splices = new Map();
    last_id = 0;

    constructor(url) {
        this.url = url;
    }

    splice(params) {
        const client = JSON.stringify(
            params?._meta?.[`${OURS}clientCapabilities`]);

        if (!this.splices.has(client))
            this.splices.set(client, new Splice(this.url,
                (message) => this.take(message)));
        return this.splices.get(client);
    }

    /* What is wrong with the headers: they must say what the body says. */
    fault({ headers }, { method, params }) {
        const meta = params?._meta ?? {};
        const version = meta[`${OURS}protocolVersion`];

        if (headers['mcp-protocol-version'] === undefined)
            return [-32020, 'no MCP-Protocol-Version'];
        if (version === undefined)
            return [-32602, `no ${OURS}protocolVersion`];
        if (headers['mcp-protocol-version'] !== version)
            return [-32020, 'another MCP-Protocol-Version'];
        if (headers['mcp-method'] !== method)
            return [-32020, 'another Mcp-Method'];
        if (name_of[method] && differs(headers['mcp-name'],
            params[name_of[method]]))
            return [-32020, 'another Mcp-Name'];
        for (const [header, at] of method === 'tools/call'
            ? this.schemas.get(params.name) ?? [] : [])
            if (differs(headers[header], at.reduce(
                (value, name) => value?.[name], params.arguments)))
                return [-32020, `another ${header}`];
        return undefined;
    }

    post(req, res, message) {
        const fault = this.fault(req, message);

        if (fault)
            return refuse(res, 400, ...fault, message.id);
        if (message.id === undefined) {
            res.writeHead(202).end();
            return this.splice(message.params).send(message);
        }
        const id = `shim-${++this.last_id}`;
        const splice = this.splice(message.params);

        this.calls.set(id, { message, res });
        res.on('close', () => {
            if (this.calls.delete(id))
                splice.send({ jsonrpc: '2.0',
                    method: 'notifications/cancelled',
                    params: { requestId: id } });
        });
        return splice.send({ ...message, id });
    }

    take(message) {
        if (message.method !== undefined)
            return this.notice(message);
        const call = this.calls.get(message.id);
        if (!call)
            return undefined;
        this.calls.delete(message.id);
        for (const { name, inputSchema } of message.result?.tools ?? [])
            this.schemas.set(name, annotated(inputSchema));
        return this.answer(call, this.as_asked(call, { ...message,
            id: call.message.id }));
    }

    /* A subscription is named by the id of the request. */
    as_asked(call, message) {
        const meta = (message.params ?? message.result)?._meta;

        if (meta && `${OURS}subscriptionId` in meta)
            meta[`${OURS}subscriptionId`] = call.message.id;
        return message;
    }

    notice(message) {
        const { progressToken, _meta } = message.params ?? {};
        const id = _meta?.[`${OURS}subscriptionId`];
        const call = id !== undefined ? this.calls.get(id)
            : [...this.calls.values()].findLast((one) =>
                progressToken === undefined || progressToken
                    === one.message.params._meta.progressToken);

        if (!call)
            return;
        if (!call.res.headersSent)
            call.res.writeHead(200, sse_headers);
        this.event(call, this.as_asked(call, message));
    }

    event({ res }, message) {
        res.write(`data: ${JSON.stringify(message)}\n\n`);
    }

    answer(call, message) {
        const { res } = call;

        if (res.headersSent) {
            this.event(call, message);
            res.end();
        } else {
            res.writeHead(this.status(call, message.error?.code),
                { 'content-type': 'application/json' });
            res.end(JSON.stringify(message));
        }
    }

    /* -32602 has no status of its own; where _meta lacks what it must have,
     * it has one. */
    status({ message }, code) {
        const meta = message.params._meta;

        if ([-32020, -32021, -32022].includes(code)
            || (code === -32602 && !(`${OURS}clientCapabilities` in meta)))
            return 400;
        return code === -32601 ? 404 : 200;
    }
}

function is_modern({ headers }, message) {
    const version = headers['mcp-protocol-version'];

    return headers['mcp-session-id'] === undefined
        && (message?.params?._meta?.[`${OURS}protocolVersion`] !== undefined
            || (version !== undefined && version >= '2026-07-28'));
}

/* Both eras at one address in front of the server at url. stop() says how
 * each mcpsplice ended. */
export async function start_shim(url) {
    const sessions = new Map();
    const ended = [];
    const modern = new Modern(url);

    async function legacy(req, res, message) {
        const id = req.headers['mcp-session-id'];
        let session = sessions.get(id);

        if (!session && id !== undefined)
            return refuse(res, 404, -32001, 'Session not found');
        if (!session && message?.method !== 'initialize')
            return refuse(res, 400, -32000, 'Bad Request: no session');
        if (!session) {
            session = new Session(url);
            sessions.set(session.id, session);
        }
        if (req.method === 'DELETE') {
            sessions.delete(id);
            ended.push(session.splice.end());
            return res.writeHead(200).end();
        }
        return req.method === 'GET'
            ? session.get(res, req.headers['last-event-id'])
            : session.post(res, message);
    }

    const { url: own, stop } = await serve(async (req, res) => {
        const message = await read_json(req);

        return is_modern(req, message) ? modern.post(req, res, message)
            : legacy(req, res, message);
    });

    return { url: own, async stop() {
        stop();
        for (const splice of [...modern.splices.values(),
            ...[...sessions.values()].map((session) => session.splice)])
            ended.push(splice.end());
        return Promise.all(ended);
    } };
}

/* One scenario gives a client that it introduces 600 ms in all; it shall find
 * its mcpsplice running. */
export async function warm_up(url) {
    const response = await fetch(url, { method: 'POST',
        headers: { 'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'server/discover' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1,
            method: 'server/discover', params: { _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities':
                    { elicitation: {} } } } }) });

    assert.ok((await response.json()).result);
}
