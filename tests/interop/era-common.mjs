/*
 * What all servers of the matrix offer, so that what a client sees of them can
 * differ only by the era and the transport. A server's state is one for all of
 * its sessions and requests: stateless servers must remember something too.
 */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

export const words = ['alpha', 'alphabet', 'beta'];
export const complete = (value) => words.filter((w) => w.startsWith(value));
export const content = (name) => `content of ${name}`;
export const said = (name) => `say ${name}`;
export const form = { message: 'which word?', requestedSchema: {
    type: 'object', properties: { word: { type: 'string' } },
    required: ['word'] } };
export const question = { maxTokens: 5, messages: [{ role: 'user',
    content: { type: 'text', text: 'what?' } }] };
export const logged = [['debug', 'low'], ['info', 'middle'], ['error', 'high']];

export class State {
    running = new Set();    /* keys of calls that hang */
    cancelled = new Set();  /* keys of those the client gave up */
    opened = new Set();     /* keys of pages a user has seen */
    roots_changed = 0;
    start_roots = [];       /* what came of asking when a session began */
    rejected = [];          /* what the SDK did not even dispatch */
    more = false;           /* is there one more of everything? */

    /* Questions wait so long for an answer: where there are no sessions an
     * answer never finds its question. */
    constructor(stateless) {
        this.question_ms = stateless ? 250 : 10000;
    }

    page(key) {
        return `http://127.0.0.1:${this.port}/page/${key}`;
    }

    /* Until the client gives up; at last, so that no test hangs with it. */
    async hang(key, signal) {
        this.running.add(key);
        await new Promise((resolve) => {
            const timer = setTimeout(resolve, 20000);

            signal.addEventListener('abort', () => {
                this.cancelled.add(key);
                clearTimeout(timer);
                resolve();
            }, { once: true });
        });
        return 'given up';
    }
}

/* Apart enough that a client reads each by itself, before the answer. */
export const pause = () => new Promise((resolve) => {
    setTimeout(resolve, 10);
});

export function text(value) {
    return { content: [{ type: 'text', text: String(value) }] };
}

export function prompt(value) {
    return { messages: [{ role: 'user',
        content: { type: 'text', text: value } }] };
}

/*
 * Serve HTTP: /page/KEY is what a URL elicitation leads to, all else is
 * handle()'s.
 */
export async function serve(state, handle) {
    const server = http.createServer(async (req, res) => {
        if (req.url.startsWith('/page/')) {
            state.opened.add(req.url.slice('/page/'.length));
            res.end('thanks');
            return;
        }
        try {
            await handle(req, res);
        } catch (error) {
            state.errors.push(error);
            res.destroy();
        }
    });

    state.errors = [];
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    state.port = server.address().port;
    state.url = new URL(`http://127.0.0.1:${state.port}/mcp`);
    return () => {
        server.closeAllConnections();
        server.close();
    };
}

export async function read_json(req) {
    let body = '';

    for await (const piece of req)
        body += piece;
    return body ? JSON.parse(body) : undefined;
}

export function refuse(res, status, code, message) {
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message },
        id: null }));
}

/*
 * One address for several servers: shift() cuts all connections and leads to
 * another server from then on, as a restart with a newer version does.
 */
export async function start_front() {
    const sockets = new Set();
    let port;
    const front = net.createServer((client) => {
        const server = net.connect(port, '127.0.0.1');

        sockets.add(client);
        client.on('close', () => {
            sockets.delete(client);
            server.destroy();
        });
        server.on('close', () => client.destroy());
        for (const end of [client, server])
            end.on('error', () => {});
        client.pipe(server).pipe(client);
    });
    const cut = () => {
        for (const socket of sockets)
            socket.destroy();
    };

    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    return { url: new URL(`http://127.0.0.1:${front.address().port}/mcp`),
        shift({ state }) {
            port = state.port;
            cut();
        },
        stop() {
            front.close();
            cut();
        } };
}
