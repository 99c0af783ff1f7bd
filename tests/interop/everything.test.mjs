/*
 * The official client in front of the official test server, "everything": one
 * script of cases is run directly and then through mcpsplice, each way against
 * a fresh server, and the results are compared after what differs from run to
 * run (session ids, times, ports) was made equal. Each case asserts as well, so
 * that both ways being wrong in the same manner is noticed.
 */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { CallToolResultSchema, CreateMessageRequestSchema,
    ElicitRequestSchema, ListRootsRequestSchema, McpError,
    UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { InMemoryTaskStore } from
    '@modelcontextprotocol/sdk/experimental/tasks';
import { body_method, connect, no_resume, normal, sleep, start_everything,
    start_tap, until } from './lib.mjs';

const results = {};

const elicited = {
    name: 'Zo\u00eb "Quote" \\ \u{1f600}',
    check: true,
    firstLine: 'Call me Ishmael.',
    email: 'zoe@example.com',
    homepage: 'https://example.com/?a=1&b=2',
    birthdate: '1999-12-31',
    integer: 7,
    number: 2.5,
    untitledSingleSelectEnum: 'Ross',
    untitledMultipleSelectEnum: ['Piano', 'Drums'],
    titledSingleSelectEnum: 'hero-2',
    titledMultipleSelectEnum: ['fish-1', 'fish-3'],
    legacyTitledEnum: 'pet-5',
};

/* What the client does when the server asks; cases change the answers. */
function prepare(client, link) {
    link.notes = [];
    link.asked = [];
    link.roots = [
        { uri: 'file:///home/one', name: 'One' },
        { uri: 'file:///home/two' },
    ];
    link.elicit = { action: 'decline' };
    client.setRequestHandler(CreateMessageRequestSchema,
        (request, extra) => answer(link, request, extra, {
            role: 'assistant', model: 'stub', stopReason: 'endTurn',
            content: { type: 'text', text: 'Sampled \u2713' },
        }));
    client.setRequestHandler(ElicitRequestSchema,
        (request, extra) => answer(link, request, extra, link.elicit));
    client.setRequestHandler(ListRootsRequestSchema, () => {
        link.asked.push('roots/list');
        return { roots: link.roots };
    });
    client.fallbackNotificationHandler = async (note) => {
        link.notes.push({ method: note.method, params: note.params });
    };
}

/* At once, or as a task that the server polls when it asked for one. */
async function answer(link, request, extra, result) {
    link.asked.push(request);
    if (!request.params.task)
        return result;
    const task = await extra.taskStore.createTask(
        { ttl: request.params.task.ttl });
    await extra.taskStore.storeTaskResult(task.taskId, 'completed', result);
    return { task };
}

function client_options() {
    return {
        prepare,
        resume: no_resume,
        client: {
            taskStore: new InMemoryTaskStore(),
            capabilities: {
                sampling: {},
                elicitation: { form: {}, url: {} },
                roots: { listChanged: true },
                tasks: { requests: {
                    sampling: { createMessage: {} },
                    elicitation: { create: {} },
                } },
            },
        },
    };
}

const call = ({ client }, name, args = {}, options = undefined) =>
    client.callTool({ name, arguments: args }, undefined, options);

const text_of = (result) => result.content[0].text;

/* A refusal as the client sees it: compared between the ways. */
async function refusal(promise) {
    try {
        await promise;
    } catch (error) {
        assert.ok(error instanceof McpError, String(error));
        return { code: error.code, message: error.message,
            data: error.data };
    }
    return assert.fail('no error came');
}

const notes_of = (link, method) =>
    link.notes.filter((note) => note.method === method);

const cases = {};

cases['initialize'] = (link) => {
    const { client, frames } = link;
    const [first] = frames.filter((f) => f.dir === 'in');

    assert.equal(first.message.result.protocolVersion, '2025-11-25');
    assert.equal(client.getServerVersion().name, 'mcp-servers/everything');
    return [first.message.result, client.getServerVersion(),
        client.getServerCapabilities(), client.getInstructions()];
};

/* The server registers conditional tools on "initialized": an order test. */
cases['tools/list'] = async ({ client }) => {
    const list = await client.listTools();
    const names = list.tools.map((tool) => tool.name);

    for (const name of ['echo', 'get-roots-list', 'trigger-sampling-request',
        'trigger-url-elicitation', 'simulate-research-query'])
        assert.ok(names.includes(name), name);
    return list;
};

cases['ping'] = async ({ client }) => {
    assert.deepEqual(await client.ping(), {});
};

const echoes = {
    plain: 'hello',
    empty: '',
    escapes: 'tab\t nl\n cr\r quote" back\\ nul\u0000 del\u007f /',
    unicode: '\u00e9 \u2028\u2029 \ufeff \u65e5\u672c \u{1f469}\u200d\u{1f680}',
    lone_surrogate: 'a\ud800b',
    looks_like_sse: 'x\n\ndata: {"jsonrpc":"2.0"}\n\nevent: y\nid: 9\n',
    long: 'x'.repeat(200_000),
};
for (const [name, message] of Object.entries(echoes))
    cases[`echo: ${name}`] = async (link) => {
        const result = await call(link, 'echo', { message });

        assert.equal(text_of(result), `Echo: ${message}`);
        return result;
    };

cases['get-sum'] = async (link) => {
    const all = [];

    for (const [a, b] of [[2, 3], [-1.5, 1e21], [0.1, 0.2], [-0, 5e-324]])
        all.push(text_of(await call(link, 'get-sum', { a, b })));
    assert.equal(all[2], 'The sum of 0.1 and 0.2 is 0.30000000000000004.');
    return all;
};

cases['get-env'] = async (link) => {
    const env = JSON.parse(text_of(await call(link, 'get-env')));

    assert.equal(env.INTEROP_MARK, 'here');
    return { ...env, PORT: undefined };
};

cases['get-annotated-message'] = async (link) => {
    const all = [];

    for (const messageType of ['error', 'success', 'debug'])
        for (const includeImage of [false, true])
            all.push(await call(link, 'get-annotated-message',
                { messageType, includeImage }));
    assert.equal(all[1].content[1].type, 'image');
    assert.equal(all[1].content[1].annotations.priority, 0.5);
    return all;
};

cases['get-tiny-image'] = async (link) => {
    const result = await call(link, 'get-tiny-image');
    const image = result.content.find((part) => part.type === 'image');

    assert.equal(Buffer.from(image.data, 'base64').toString('latin1', 1, 4),
        'PNG');
    return result;
};

cases['get-resource-links'] = async (link) => {
    const result = await call(link, 'get-resource-links', { count: 10 });

    assert.equal(result.content.filter((part) =>
        part.type === 'resource_link').length, 10);
    return result;
};

cases['get-resource-reference'] = async (link) => {
    const all = [];

    for (const resourceType of ['Text', 'Blob'])
        all.push(await call(link, 'get-resource-reference',
            { resourceType, resourceId: 3 }));
    assert.equal(all[1].content[1].type, 'resource');
    return all;
};

cases['get-structured-content'] = async (link) => {
    const all = [];

    for (const location of ['New York', 'Chicago', 'Los Angeles'])
        all.push(await call(link, 'get-structured-content', { location }));
    assert.deepEqual(all[2].structuredContent,
        { temperature: 73, conditions: 'Sunny / Clear', humidity: 48 });
    return all;
};

cases['gzip-file-as-resource, a session resource, list_changed'] =
async (link) => {
    const data = `data:text/plain,${'mcp '.repeat(100)}`;
    const embedded = await call(link, 'gzip-file-as-resource',
        { name: 'a.gz', data, outputType: 'resource' });
    const linked = await call(link, 'gzip-file-as-resource',
        { name: 'b.gz', data, outputType: 'resourceLink' });
    const read = await link.client.readResource(
        { uri: linked.content[0].uri });

    assert.match(gunzipSync(Buffer.from(read.contents[0].blob, 'base64'))
        .toString(), /^(mcp ?)+$/);
    await until(() => notes_of(link,
        'notifications/resources/list_changed').length > 0,
        'resources/list_changed');
    const { resources } = await link.client.listResources();
    assert.ok(resources.some((r) => r.name === 'b.gz'));
    return [embedded, linked, read];
};

cases['a tool that does not exist, arguments that do not fit'] =
async (link) => {
    const unknown = await call(link, 'no-such-tool');
    const wrong = await call(link, 'get-sum', { a: 'x' });

    assert.equal(unknown.isError, true);
    assert.equal(wrong.isError, true);
    return [unknown, wrong];
};

cases['a method that does not exist'] = async ({ client }) => {
    const error = await refusal(client.request(
        { method: 'no/such', params: {} }, CallToolResultSchema));

    assert.equal(error.code, -32601);
    return error;
};

cases['prompts: list and get'] = async ({ client }) => {
    const list = await client.listPrompts();
    const all = [list];

    assert.equal(list.prompts.length, 4);
    for (const [name, args] of [
        ['simple-prompt', undefined],
        ['args-prompt', { city: 'Paris' }],
        ['args-prompt', { city: 'Z\u00fcrich', state: 'ZH' }],
        ['completable-prompt', { department: 'Sales', name: 'Eve' }],
        ['resource-prompt', { resourceType: 'Text', resourceId: '2' }],
        ['resource-prompt', { resourceType: 'Blob', resourceId: '9' }],
    ])
        all.push(await client.getPrompt({ name, arguments: args }));
    assert.equal(all[3].messages[0].content.text,
        "What's weather in Z\u00fcrich, ZH?");
    return all;
};

cases['prompts: refusals'] = async ({ client }) => {
    const unknown = await refusal(client.getPrompt({ name: 'nope' }));
    const missing = await refusal(client.getPrompt({ name: 'args-prompt',
        arguments: {} }));

    assert.equal(unknown.code, -32602);
    return [unknown, missing];
};

cases['resources: list, templates, read'] = async ({ client }) => {
    const list = await client.listResources();
    const templates = await client.listResourceTemplates();
    const all = [];

    assert.ok(list.resources.length > 5);
    assert.equal(templates.resourceTemplates.length, 2);
    for (const { uri, name } of list.resources)
        if (!name.endsWith('.gz'))
            all.push(await client.readResource({ uri }));
    all.push(await client.readResource(
        { uri: 'demo://resource/dynamic/text/12' }));
    all.push(await client.readResource(
        { uri: 'demo://resource/dynamic/blob/13' }));
    assert.match(all.at(-2).contents[0].text, /^Resource 12: /);
    return [list, templates, all];
};

cases['resources: refusals'] = async ({ client }) => [
    await refusal(client.readResource({ uri: 'demo://resource/none' })),
    await refusal(client.readResource(
        { uri: 'demo://resource/dynamic/text/x' })),
];

cases['completion: prompt, context, resource template'] =
async ({ client }) => {
    const prompt = { type: 'ref/prompt', name: 'completable-prompt' };
    const template = { type: 'ref/resource',
        uri: 'demo://resource/dynamic/text/{resourceId}' };
    const all = [
        await client.complete({ ref: prompt,
            argument: { name: 'department', value: 'E' } }),
        await client.complete({ ref: prompt,
            argument: { name: 'name', value: '' },
            context: { arguments: { department: 'Support' } } }),
        await client.complete({ ref: template,
            argument: { name: 'resourceId', value: '42' } }),
        await client.complete({ ref: template,
            argument: { name: 'resourceId', value: 'x' } }),
    ];

    assert.deepEqual(all.map((c) => c.completion.values),
        [['Engineering'], ['John', 'Kim', 'Lee'], ['42'], []]);
    return all;
};

cases['resources: subscribe, updated, unsubscribe'] = async (link) => {
    const uri = 'demo://resource/dynamic/text/1';
    const { client } = link;

    await client.subscribeResource({ uri });
    const on = text_of(await call(link, 'toggle-subscriber-updates'));
    await until(() => notes_of(link,
        'notifications/resources/updated').length === 1, 'updated');
    const off = text_of(await call(link, 'toggle-subscriber-updates'));
    await client.unsubscribeResource({ uri });

    /* Now nothing may come although the updates run again. */
    await call(link, 'toggle-subscriber-updates');
    await client.ping();
    await sleep(150);
    await call(link, 'toggle-subscriber-updates');
    const updates = notes_of(link, 'notifications/resources/updated');
    assert.deepEqual(updates.map((note) => note.params), [{ uri }]);
    return [on, off, updates];
};

cases['logging: setLevel and messages'] = async (link) => {
    const { client } = link;
    const uri = 'demo://resource/dynamic/blob/2';
    const messages = () => notes_of(link, 'notifications/message');

    await client.setLoggingLevel('info');
    const seen = messages().length;
    await client.subscribeResource({ uri });
    await until(() => messages().length === seen + 1, 'a log message');
    const [first] = messages().slice(seen);
    assert.match(first.params.data, /^Received Subscribe Resource request/);

    /* Messages below the level stay away. */
    await client.setLoggingLevel('error');
    await client.unsubscribeResource({ uri });
    await client.ping();
    await sleep(150);
    assert.equal(messages().length, seen + 1);

    /* One of a random level comes at once when all of them may. */
    await client.setLoggingLevel('debug');
    const on = text_of(await call(link, 'toggle-simulated-logging'));
    await until(() => messages().length === seen + 2, 'a random message');
    const off = text_of(await call(link, 'toggle-simulated-logging'));
    return [first, on, off];
};

/*
 * Judged by the frames: an official client that reads the last progress and
 * the answer in one piece handles the answer first and drops the progress.
 */
cases['progress'] = async (link) => {
    const begin = link.frames.length;
    const result = await call(link, 'trigger-long-running-operation',
        { duration: 0.5, steps: 5 }, { onprogress: () => {} });
    const { dir, message: { id, params } } = link.frames[begin];
    const seen = link.frames.slice(begin + 1).filter((f) => f.dir === 'in')
        .map((f) => f.message);

    assert.equal(dir, 'out');
    assert.deepEqual(seen.map((m) => m.params?.progress ?? m.id),
        [1, 2, 3, 4, 5, id]);
    assert.ok(seen.slice(0, 5).every((m) =>
        m.params.progressToken === params._meta.progressToken));
    return result;
};

cases['cancellation'] = async (link) => {
    const { frames, tap } = link;
    const abort = new AbortController();
    let steps = 0;
    const call_id = () => frames.findLast((f) => f.dir === 'out'
        && f.message.method === 'tools/call').message.id;
    const running = call(link, 'trigger-long-running-operation',
        { duration: 1, steps: 10 }, { signal: abort.signal,
            onprogress: () => { if (++steps === 2) abort.abort('enough'); } });

    await assert.rejects(running, /enough/);
    const id = call_id();
    await until(() => tap.posts('notifications/cancelled')[0]?.status,
        'the cancel at the server');
    const [sent, more] = tap.posts('notifications/cancelled');
    assert.equal(more, undefined);
    assert.equal(JSON.parse(sent.body).params.requestId, id);
    assert.equal(sent.status, 202);

    /* Past the operation's end: nobody may answer a cancelled request. */
    await sleep(1100);
    await link.client.ping();
    assert.equal(frames.filter((f) => f.dir === 'in'
        && f.message.id === id && !f.message.method).length, 0);
    return { steps };
};

cases['sampling'] = async (link) => {
    const result = await call(link, 'trigger-sampling-request',
        { prompt: 'Say \u2713', maxTokens: 17 });
    const asked = link.asked.at(-1);

    assert.match(text_of(result), /Sampled \u2713/);
    assert.equal(asked.params.maxTokens, 17);
    return [result, asked.params];
};

cases['elicitation: accept, decline, cancel'] = async (link) => {
    const all = [];

    for (const reply of [{ action: 'accept', content: elicited },
        { action: 'decline' }, { action: 'cancel' }]) {
        link.elicit = reply;
        all.push(await call(link, 'trigger-elicitation-request'));
        all.push(link.asked.at(-1).params);
    }
    assert.deepEqual(JSON.parse(all[0].content.at(-1).text
        .replace(/^\s*Raw result: /, '')).content, elicited);
    return all;
};

cases['elicitation: by URL, request and error path'] = async (link) => {
    const args = { url: 'https://example.com/sign?x=1', elicitationId: 'e-1' };

    link.elicit = { action: 'accept' };
    const asked = await call(link, 'trigger-url-elicitation', args);
    const params = link.asked.at(-1).params;
    assert.equal(params.mode, 'url');
    const error = await call(link, 'trigger-url-elicitation',
        { ...args, errorPath: true }).catch((e) => e);
    assert.ok(error instanceof UrlElicitationRequiredError, String(error));
    const again = await call(link, 'trigger-url-elicitation',
        { ...args, errorPath: true });
    return [asked, params, error.code, error.message, error.elicitations,
        again];
};

cases['sampling and elicitation as tasks of the client'] = async (link) => {
    link.elicit = { action: 'accept',
        content: { name: 'Ann', favoriteColor: 'Blue', agreeToTerms: true } };
    const all = await Promise.all([
        call(link, 'trigger-sampling-request-async', { prompt: 'later' }),
        call(link, 'trigger-elicitation-request-async'),
    ]);

    assert.match(text_of(all[0]), /^\[COMPLETED\]/);
    assert.match(text_of(all[1]), /^\[COMPLETED\]/);
    return all;
};

async function run_task(link, args) {
    const kinds = [];
    const stream = link.client.experimental.tasks.callToolStream(
        { name: 'simulate-research-query', arguments: args },
        CallToolResultSchema, { task: { ttl: 60000 } });
    let result;

    for await (const event of stream) {
        if (event.type === 'error')
            throw event.error;
        if (kinds.at(-1) !== event.type)
            kinds.push(event.type);
        if (event.type === 'result')
            ({ result } = event);
    }
    return [kinds, result];
}

cases['tools/call as a task, with a question in it'] = async (link) => {
    link.elicit = { action: 'accept', content: { interpretation: 'snake' } };
    const all = await Promise.all([
        run_task(link, { topic: 'rivers' }),
        run_task(link, { topic: 'python', ambiguous: true }),
    ]);

    assert.equal(all[0][0].at(-1), 'result');
    assert.match(text_of(all[1][1]), /snake/);
    return all;
};

cases['roots: list and list_changed'] = async (link) => {
    const { client } = link;

    const first = text_of(await call(link, 'get-roots-list'));
    assert.match(first, /1\. One\n   URI: file:\/\/\/home\/one/);
    link.roots = [{ uri: 'file:///home/three', name: 'Drei \u2462' }];
    const asked = link.asked.filter((a) => a === 'roots/list').length;
    await client.sendRootsListChanged();
    await until(() => link.asked.filter((a) =>
        a === 'roots/list').length > asked, 'roots/list');
    await until(() => notes_of(link, 'notifications/message').some((note) =>
        note.params.data === 'Roots updated: 1 root(s) received from client'),
        'the server to take the new roots');
    const second = text_of(await call(link, 'get-roots-list'));
    assert.match(second, /1\. Drei \u2462\n/);
    return [first, second];
};

cases['large: 2 MB up, 2 MB down'] = async (link) => {
    const noise = Buffer.alloc(1_500_000);

    noise.writeUInt32LE(1);
    randomFillSync(noise);
    const data = `data:application/octet-stream;base64,${
        noise.toString('base64')}`;
    const { content } = await call(link, 'gzip-file-as-resource',
        { name: 'noise.gz', data, outputType: 'resource' });
    const back = gunzipSync(
        Buffer.from(content[0].resource.blob, 'base64'));

    assert.ok(noise.equals(back));
};

cases['50 calls at once, slow and fast mixed'] = async (link) => {
    const order = [];
    const begin = performance.now();
    const all = await Promise.all(Array.from({ length: 50 }, async (_, i) => {
        const result = i % 5 === 0
            ? await call(link, 'trigger-long-running-operation',
                { duration: 2, steps: 1 })
            : await call(link, 'echo', { message: `number ${i}` });
        order.push(i % 5 === 0 ? 'slow' : 'fast');
        return text_of(result);
    }));
    const ms = performance.now() - begin;

    assert.equal(all[49], 'Echo: number 49');
    assert.equal(order.slice(0, 40).includes('slow'), false,
        'no fast call waits behind a slow one');
    assert.ok(ms < 10000, `the slow ones ran together: ${ms} ms`);
    return all;
};

cases['no error was noticed by the client'] = ({ errors }) => {
    const fine =
        /unknown (progress )?token|unknown message ID|Maximum reconn/i;
    const real = errors.filter((error) => !fine.test(String(error)));

    assert.deepEqual(real, []);
};

/* What every request on the wire must look like (protocol checklist H). */
function check_wire(tap) {
    const [first] = tap.posts('initialize');
    const session = first.answer['mcp-session-id'];

    assert.ok(session);
    assert.equal(first.headers['mcp-session-id'], undefined);
    assert.equal(first.headers['mcp-protocol-version'], undefined);
    assert.equal(tap.posts('initialize').length, 1);
    for (const exchange of tap.exchanges) {
        const { method, headers } = exchange;
        const what = `${method} ${body_method(exchange)}`;

        assert.equal(headers.origin, undefined, what);
        if (method === 'POST') {
            assert.match(headers.accept, /application\/json/, what);
            assert.match(headers['content-type'], /^application\/json/);
            assert.equal(JSON.parse(exchange.body).jsonrpc, '2.0');
        }
        if (method !== 'DELETE')
            assert.match(headers.accept, /text\/event-stream/, what);
        if (exchange === first)
            continue;
        assert.equal(headers['mcp-session-id'], session, what);
        assert.equal(headers['mcp-protocol-version'], '2025-11-25', what);
        assert.ok(exchange.status < 300, `${what}: ${exchange.status}`);
    }
    assert.equal(tap.of('GET').filter((e) =>
        !e.headers['last-event-id']).length, 1, 'one listen stream');
}

for (const way of ['direct', 'mcpsplice'])
    describe(`everything: ${way}`, () => {
        let server, tap, link;

        before(async () => {
            server = await start_everything({ INTEROP_MARK: 'here' });
            tap = await start_tap(server.url);
            link = await connect(way, tap.url, client_options());
            link.tap = tap;
        }, { timeout: 30000 });

        after(async () => {
            link?.child?.kill('SIGKILL');
            tap?.stop();
            await server?.stop();
        });

        for (const [name, run] of Object.entries(cases))
            test(`${way}: ${name}`, { timeout: 30000 }, async () => {
                const result = normal((await run(link)) ?? null,
                    server.port);

                if (way === 'direct') {
                    results[name] = { result };
                    return;
                }
                assert.ok(results[name], 'it failed directly');
                assert.deepEqual(result, results[name].result);
            });

        test(`${way}: a clean close`, { timeout: 20000 }, async () => {
            const { code, signal, ms } = await link.end();

            assert.deepEqual({ code, signal }, { code: 0, signal: null },
                link.stderr);
            assert.ok(ms < 1000, `it took ${ms} ms`);
            await until(() => server.log.includes(
                'Received session termination request'), 'DELETE');
            assert.equal(tap.of('DELETE').length, 1);
            assert.equal(tap.of('DELETE')[0].status, 200);
        });

        test(`${way}: the wire`, () => check_wire(tap));
    });
