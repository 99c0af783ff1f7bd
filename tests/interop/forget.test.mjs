/*
 * Real servers that forget, each a process of its own (see forget-server.mjs),
 * and the official client in front of them through mcpsplice. The server is
 * killed as by a crash and started again on the same port, between calls and
 * during them; or it ends its sessions by itself. What must hold: each request
 * is answered once, what is not declared safe never runs twice, an error says
 * whether the call may have run, and what the client had set up comes back.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { child_env } from './child-env.mjs';
import { connect, sleep, until } from './lib.mjs';

const root = fs.mkdtempSync(path.join(process.env.INTEROP_HOME ?? tmpdir(),
    'forget-'));
const here = import.meta.dirname;
const uri = 'mem://a';
let serial = 0;

after(() => fs.rmSync(root, { recursive: true, force: true }));

/*
 * A port that stays free while no server has it: below the range from which
 * systems choose the port of an outgoing connection.
 */
async function steady_port() {
    for (;;) {
        const port = 20000 + Math.floor(Math.random() * 10000);
        const probe = net.createServer().listen(port, '127.0.0.1');
        const free = await new Promise((tell) => {
            probe.once('listening', () => tell(true));
            probe.once('error', () => tell(false));
        });

        if (!free)
            continue;
        probe.close();
        await once(probe, 'close');
        return port;
    }
}

/* One address; behind it one process after the other. */
class Server {
    static async start(kind) {
        const server = new Server();

        server.program = kind.program;
        server.variant = kind.variant ?? '';
        server.port = await steady_port();
        server.log = path.join(root, `log-${++serial}`);
        fs.writeFileSync(server.log, '');
        server.url = new URL(`http://127.0.0.1:${server.port}/mcp`);
        await server.run();
        return server;
    }

    spawn() {
        this.words = '';
        this.child = spawn(process.execPath, [
            path.join(here, `forget-${this.program}.mjs`),
            String(this.port), this.log, this.variant,
        ], {
            env: child_env({ PATH: process.env.PATH }),
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        for (const pipe of [this.child.stdout, this.child.stderr])
            pipe.on('data', (text) => { this.words += text; });
    }

    async run() {
        this.spawn();
        const { pid } = this.child;

        await until(() => {
            if (this.child.exitCode !== null)
                throw new Error(`no server: ${this.words}`);
            return this.events().some((e) => e.ready === pid);
        }, 'the server', 20000);
    }

    async kill() {
        if (this.child.exitCode !== null || this.child.signalCode !== null)
            return;
        this.child.kill('SIGKILL');
        await once(this.child, 'exit');
    }

    /* What was on its way to the client when it died has arrived then. */
    async kill_quietly(link) {
        await this.kill();
        await sleep(100);
        link.notes.length = 0;
        this.mark = this.events().length;
    }

    async restart() {
        await this.kill();
        this.mark = this.events().length;
        await this.run();
    }

    /* The last line may be half written. */
    events() {
        return fs.readFileSync(this.log, 'utf8').split('\n').slice(0, -1)
            .map((line) => JSON.parse(line));
    }

    runs(key) {
        return this.events().filter((e) => e.run === key).length;
    }

    /* Requests since the last restart. */
    of(verb) {
        return this.events().slice(this.mark ?? 0)
            .filter((e) => e.http === verb);
    }

    inits() {
        return this.of('POST').filter((e) => !e.session).length;
    }

    change() {
        this.child.kill('SIGUSR2');
    }
}

async function join(server) {
    const link = await connect('mcpsplice', server.url, {
        home: fs.mkdtempSync(path.join(root, 'home-')),
        prepare: (client, made) => {
            made.notes = [];
            client.fallbackNotificationHandler = async (note) => {
                made.notes.push(note);
            };
        },
    });

    link.updates = () => link.notes.filter((n) =>
        n.method === 'notifications/resources/updated').length;
    link.logged = (level) => link.notes.filter((n) =>
        n.method === 'notifications/message' && n.params.level === level)
        .length;
    return link;
}

/* Each request of the client has exactly one answer, and no more came. */
function check_answers({ frames, errors }) {
    const open = new Map();

    assert.deepEqual(errors, []);
    for (const { dir, message } of frames)
        if (dir === 'out' && message.method && message.id !== undefined)
            open.set(message.id, 0);
    for (const { dir, message } of frames)
        if (dir === 'in' && !message.method) {
            assert.ok(open.has(message.id), 'an answer to no request');
            open.set(message.id, open.get(message.id) + 1);
        }
    for (const [id, answers] of open)
        assert.equal(answers, 1, `answers to request ${id}`);
}

async function leave(link) {
    const { code, signal } = await link.end();

    assert.deepEqual({ code, signal }, { code: 0, signal: null },
        link.stderr);
    check_answers(link);
}

/* A case on a server and a link of its own; it ends by the client leaving. */
function forget_test(name, kind, run) {
    test(name, { timeout: 60000 }, async () => {
        const server = await Server.start(kind);
        let link;

        try {
            link = await join(server);
            await run(server, link);
            await leave(link);
        } catch (error) {
            error.message += `\nmcpsplice: ${link?.stderr}`;
            throw error;
        } finally {
            link?.child?.kill('SIGKILL');
            await server.kill();
        }
    });
}

/* How a call came out: {key, name, text} or {key, name, error}. */
async function call({ client }, name, ms = 0) {
    const key = `${name}-${++serial}`;
    const call_made = { key, name };

    try {
        const result = await client.callTool({ name,
            arguments: { key, ms } });

        call_made.text = result.content[0].text;
    } catch (error) {
        call_made.error = error;
    }
    return call_made;
}

/* Answered with its own result, and run but once. */
function check_good(server, { key, text, error }) {
    assert.equal(error, undefined, `${key}: ${JSON.stringify(error?.data)}`);
    assert.equal(text, `ran ${key}`);
    assert.equal(server.runs(key), 1, `${key}: runs`);
}

async function check_call(server, link, name = 'plain') {
    check_good(server, await call(link, name));
}

const safe = (name) => name === 'read' || name === 'idem';

/*
 * What a call may come to that was open when the server was killed: its result,
 * or our error that says truly whether it may have run. One that is not safe
 * never runs twice.
 */
function check_cut(server, { key, name, text, error }) {
    const runs = server.runs(key);

    if (!safe(name))
        assert.ok(runs <= 1, `${key}: ran ${runs} times`);
    if (!error) {
        assert.equal(text, `ran ${key}`);
        assert.ok(runs >= 1 && runs <= 2, `${key}: ran ${runs} times`);
        return;
    }
    assert.equal(error.data?.source, 'mcpsplice', String(error));
    assert.equal(typeof error.data.reason, 'string', `${key}: no reason`);
    assert.ok(['no', 'maybe'].includes(error.data.ran), error.data.ran);
    if (runs > 0)
        assert.equal(error.data.ran, 'maybe', `${key} ran`);
}

const slow_calls = (link, ms) => ['plain', 'plain', 'unsafe', 'unsafe',
    'read', 'read', 'idem', 'idem'].map((name) => call(link, name, ms));

const methods = {
    'tools/call': (server, link) => check_call(server, link),
    'tools/list': async (_server, { client }) => {
        assert.ok((await client.listTools()).tools.length >= 4);
    },
    'resources/list': async (_server, { client }) => {
        assert.equal((await client.listResources()).resources[0].uri, uri);
    },
    'resources/read': async (_server, { client }) => {
        const { contents } = await client.readResource({ uri: 'mem://t/b' });

        assert.equal(contents[0].text, 'content of b');
    },
    'prompts/get': async (_server, { client }) => {
        const { messages } = await client.getPrompt({ name: 'p',
            arguments: { word: 'w' } });

        assert.equal(messages[0].content.text, 'say w');
    },
    'completion/complete': async (_server, { client }) => {
        const { completion } = await client.complete({
            ref: { type: 'ref/prompt', name: 'p' },
            argument: { name: 'word', value: 'v' } });

        assert.deepEqual(completion.values, ['v1', 'v2']);
    },
};

/* What the server has of these; mcp-lite has no completion. */
const methods_of = (kind) => Object.entries(methods)
    .filter(([name]) => !kind.without?.includes(name));

function more_restart_tests(kind) {
    forget_test('restarted between calls: each method', kind,
    async (server, link) => {
        for (const [name, run] of methods_of(kind)) {
            if (name.endsWith('/list'))
                continue;
            await run(server, link);
            await server.restart();
            await run(server, link);
            if (!kind.silent)
                assert.equal(server.inits(), 1, 'one renewal');
        }
    });

    forget_test('killed at any moment of 8 calls', kind,
    async (server, link) => {
        await link.client.listTools();
        for (const delay of [0, 5, 25]) {
            const open = slow_calls(link, 20);

            await sleep(delay);
            await server.restart();
            for (const made of await Promise.all(open))
                check_cut(server, made);
            await check_call(server, link);
        }
    });
}

function restart_tests(kind) {
    forget_test('away for 2 s while all methods are asked', kind,
    async (server, link) => {
        await link.client.listTools();
        await server.kill();
        server.mark = server.events().length;
        const all = Promise.all([
            ...methods_of(kind).map(([, run]) => run(server, link)),
            check_call(server, link, 'unsafe'),
            check_call(server, link, 'read'),
        ]);

        all.catch(() => {});
        await sleep(2000);
        await server.run();
        await all;
        await check_call(server, link);
        if (!kind.silent)
            assert.equal(server.inits(), 1, 'one renewal');
    });

    forget_test('killed while 8 calls run', kind, async (server, link) => {
        await link.client.listTools();
        const open = slow_calls(link, 1500);

        await until(() => server.events().filter((e) => e.run).length === 8,
            'the calls to run');
        await server.restart();
        for (const made of await Promise.all(open)) {
            check_cut(server, made);
            if (safe(made.name)) {
                assert.equal(made.error, undefined,
                    `${made.key} is safe: ${made.error}`);
                continue;
            }
            assert.equal(made.error?.data?.ran, 'maybe', made.key);
            assert.equal(server.runs(made.key), 1);
        }
        await check_call(server, link);
        if (!kind.silent)
            assert.equal(server.inits(), 1, 'one renewal');
    });
}

/* Subscribed, with a listen stream on which the server tells of a change. */
async function subscribe(server, link) {
    await link.client.subscribeResource({ uri });
    await until_changed(server, link, 1, 'a change');
}

/* The resource changes again and again until the client was told so often. */
async function until_changed(server, link, times, what) {
    let last = 0;

    await until(() => {
        const now = performance.now();

        if (now - last > 200) {
            last = now;
            server.change();
        }
        return link.updates() >= times;
    }, what);
}

/* The tool logs "info" and then "error", lost while there is no stream. */
async function until_logged(link) {
    for (let i = 0; i < 20 && link.logged('error') === 0; i++) {
        await link.client.callTool({ name: 'log', arguments: {} });
        await sleep(200);
    }
    assert.ok(link.logged('error') > 0, 'nothing was logged');
}

function setup_tests(kind) {
    forget_test('subscription restored by the next call', kind,
    async (server, link) => {
        await subscribe(server, link);
        await server.kill_quietly(link);
        await server.run();
        await check_call(server, link);
        await until(() => link.updates() > 0,
            'word that a change may have been missed');
        await sleep(300);
        assert.equal(link.updates(), 1, 'told once');
        await until_changed(server, link, 2, 'a change after the restart');
        assert.equal(server.inits(), 1, 'one renewal');
    });

    forget_test('subscription restored without a call', kind,
    async (server, link) => {
        await subscribe(server, link);
        await server.kill_quietly(link);
        await server.run();
        await until(() => server.inits() === 1, 'a renewal', 15000);
        await until_changed(server, link, 2, 'a change after the restart');
        await check_call(server, link);
        assert.equal(server.inits(), 1, 'one renewal');
    });

    forget_test('log level restored', kind, async (server, link) => {
        await until_logged(link);
        assert.ok(link.logged('info') > 0, 'no level, all is logged');
        await sleep(200);
        await link.client.setLoggingLevel('error');
        link.notes.length = 0;
        await until_logged(link);
        assert.equal(link.logged('info'), 0, 'below the level');
        await server.kill_quietly(link);
        await server.run();
        await until_logged(link);
        assert.equal(link.logged('info'), 0, 'below the level restored');
        assert.equal(server.inits(), 1, 'one renewal');
    });
}

function more_setup_tests(kind) {
    forget_test('an ended subscription stays ended', kind,
    async (server, link) => {
        await subscribe(server, link);
        await link.client.unsubscribeResource({ uri });
        await server.kill_quietly(link);
        await server.run();
        await check_call(server, link);
        await until(() => server.of('GET').length > 0, 'the listen stream');
        await sleep(300);
        server.change();
        await sleep(300);
        assert.equal(link.updates(), 0);
    });
}

function idle_tests(kind) {
    forget_test('the session idles out between calls', kind,
    async (server, link) => {
        for (let round = 0; round < 3; round++) {
            await check_call(server, link, 'unsafe');
            await sleep(700);
        }
        await check_call(server, link);
        assert.ok(server.inits() >= 4, `${server.inits()} sessions`);
    });

    forget_test('nobody calls for long: no storm', kind,
    async (server, link) => {
        await sleep(kind.wait);
        const inits = server.inits();

        assert.ok(inits <= 4, `${inits} sessions without a call`);
        assert.ok(server.of('GET').length <= 10, 'listen streams');
        await Promise.all(slow_calls(link, 20).map(async (made) =>
            check_good(server, await made)));
        assert.ok(server.inits() <= inits + 1, 'one renewal');
    });
}

/*
 * A silent one serves calls of a session that it forgot. Not all get more than
 * the main cases, as to start a server is what takes the time here.
 */
const kinds = {
    'SDK, its older example (400)': { program: 'sdk', variant: 'example',
        more: true },
    'SDK, by the letter (404)': { program: 'sdk', variant: 'spec' },
    'SDK, one transport, JSON (400)': { program: 'sdk', variant: 'single' },
    'FastMCP': { program: 'fastmcp' },
    'mcp-lite': { program: 'lite', silent: true, more: true,
        without: ['completion/complete'] },
};

/* Mostly waiting: the servers are tested side by side, each case in turn. */
describe('real servers that forget', { concurrency: 4 }, () => {
    describe('SDK, idle sessions end', { concurrency: 1 }, () =>
        idle_tests({ program: 'sdk', variant: 'idle', wait: 15000 }));
    for (const [name, kind] of Object.entries(kinds))
        describe(name, { concurrency: 1 }, () => {
            restart_tests(kind);
            if (kind.more)
                more_restart_tests(kind);
            if (!kind.silent)
                setup_tests(kind);
            if (kind.more && !kind.silent)
                more_setup_tests(kind);
        });
    describe('SDK, idle sessions end, no listen stream', { concurrency: 1 },
        () => idle_tests({ program: 'sdk', variant: 'idle-json',
            wait: 2000 }));
});
