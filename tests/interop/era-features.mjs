/*
 * What each pair of the matrix does. A feature is a function of the cell; what
 * it returns is what a client and its server saw, to be compared with what
 * matrix.test.mjs expects. "hoped" is that expectation: it tells only how long
 * to wait for something that may never come.
 */
import { open } from './era-clients.mjs';
import { sleep } from './lib.mjs';

const long = 8000;
const short = 250;

export async function comes(cond, hoped) {
    const end = Date.now() + (hoped ? long : short);

    while (!cond() && Date.now() < end)
        await sleep(5);
    return cond();
}

async function code_of(asked) {
    try {
        await asked;
        return 'no error';
    } catch (error) {
        return error.code;
    }
}

const list_names = ['tools', 'prompts', 'resources'];

async function names(client) {
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();

    return { tools: tools.map((t) => t.name),
        prompts: prompts.map((p) => p.name),
        resources: resources.map((r) => r.name) };
}

export const features = {
    /*
     * The first of all, and a list: as long as no call is made, there is
     * nothing that a question could belong to.
     */
    async roots_at_start({ link, server: { state } }) {
        await link.client.listTools();
        await comes(() => state.start_roots.length > 0, true);
        return state.start_roots.at(-1);
    },

    async identity({ link: { client } }) {
        return { name: client.getServerVersion().name,
            instructions: client.getInstructions(),
            capabilities: Object.keys(client.getServerCapabilities()).sort() };
    },

    async who({ link }) {
        const { content } = await link.call('who');
        const { client, capabilities, era } = JSON.parse(content[0].text);

        return { client, era, declared: Object.keys(capabilities ?? {}).sort(),
            url: Boolean(capabilities?.elicitation?.url) };
    },

    async ping({ link }) {
        return link.client.ping();
    },

    async tools({ link }) {
        const all = await names(link.client);

        return { listed: ['echo', 'sum', 'hang', 'more'].map((name) =>
            all.tools.includes(name)),
        called: await link.call('echo', { word: 'x' }).then((r) =>
            r.content),
        failed: await link.say('fail'), unknown: await link.say('none') };
    },

    async structured({ link }) {
        const { content, structuredContent } = await link.call('sum',
            { a: 1.5, b: 2 });

        return { text: content[0].text, structuredContent };
    },

    /* Output that is not an object: only the modern era can say it. */
    async structured_array({ link }) {
        const { tools } = await link.client.listTools();
        const { content, structuredContent } = await link.call('count',
            { to: 3 });

        return { type: tools.find((t) => t.name === 'count')
            .outputSchema.type, structuredContent,
        text: content[0]?.text };
    },

    /* An argument that must be mirrored in a header. */
    async mirrored_argument({ link }) {
        await link.client.listTools();
        const { content } = await link.call('region',
            { region: ' Z\u00fcrich' });

        return content[0].text;
    },

    /*
     * By the frames: an SDK that reads progress and answer at once tells its
     * owner of the answer first.
     */
    async progress({ link }) {
        const begin = link.frames.length;
        const { content } = await link.call('steps', {}, {
            onprogress: () => {} });
        const token = link.frames[begin].message.params._meta.progressToken;

        return { text: content[0].text, seen: link.frames.slice(begin + 1)
            .filter((f) => f.dir === 'in').map(({ message: { params } }) =>
                params ? [params.progressToken === token, params.progress,
                    params.message] : 'answer') };
    },

    async cancel({ link, server: { state }, key }, hoped) {
        const controller = new AbortController();
        const call = link.say('hang', key, { signal: controller.signal });

        if (!await comes(() => state.running.has(key), true))
            return 'never ran';
        const { id } = link.frames.findLast((f) => f.dir === 'out'
            && f.message.method === 'tools/call').message;

        controller.abort('no need');
        await call;
        return {
            noticed: await comes(() => state.cancelled.has(key),
                hoped.noticed),
            answered: link.frames.some((f) => f.dir === 'in'
                && f.message.id === id && !f.message.method) };
    },

    async log({ link }, hoped) {
        link.told = [];
        if (!link.modern)
            await link.client.setLoggingLevel('info');
        await link.call('log', {}, { level: 'info' });
        await comes(() => link.heard('notifications/message').length
            >= hoped.length, hoped.length > 0);
        return link.heard('notifications/message').map(({ params }) =>
            [params.level, params.data]);
    },

    /* Without a level a modern server must keep silent. */
    async log_unasked({ link }) {
        link.told = [];
        await link.call('log');
        await sleep(short);
        return link.heard('notifications/message').length;
    },

    async log_outside_of_a_request({ link, server }, hoped) {
        link.told = [];
        await server.log_loosely('loose');
        return comes(() => link.heard('notifications/message').some((n) =>
            n.params.data === 'loose'), hoped);
    },

    async prompts({ link: { client } }) {
        const { messages } = await client.getPrompt({ name: 'greet',
            arguments: { word: 'hello' } });

        return { listed: (await names(client)).prompts.includes('greet'),
            text: messages[0].content.text,
            unknown: await code_of(client.getPrompt({ name: 'none' })) };
    },

    async resources({ link: { client } }) {
        const read = async (uri) =>
            (await client.readResource({ uri })).contents;
        const { resourceTemplates } = await client.listResourceTemplates();

        return { listed: (await names(client)).resources.includes('a'),
            read: await read('mem://a'),
            of_template: await read('mem://t/\u00e9'),
            templates: resourceTemplates.map((t) => t.uriTemplate),
            unknown: await code_of(read('mem://none')),
            gone: await code_of(read('mem://t/gone')) };
    },

    async subscribe({ link, server, key }, hoped) {
        const uri = `mem://t/${key}`;
        const told = () => link.heard('notifications/resources/updated')
            .filter((n) => n.params.uri === uri).length;
        const { honoured, end } = await link.subscribe(uri);
        const seen = { honoured };

        await server.change(`${uri}-other`);
        await server.change(uri);
        seen.told = await comes(() => told() > 0, hoped.told);
        await end();
        const before = told();

        await sleep(100);
        await server.change(uri);
        await sleep(short);
        seen.after = told() - before;
        return seen;
    },

    /* Two, and one ends: the other must not. */
    async subscribe_two({ link, server, key }, hoped) {
        const uris = ['one', 'two'].map((name) => `mem://t/${key}-${name}`);
        const told = () => uris.map((uri) =>
            link.heard('notifications/resources/updated').some((n) =>
                n.params.uri === uri));
        const seen = [];
        const subscribed = await Promise.all(uris.map((uri) =>
            link.subscribe(uri)));
        const change = async () => {
            link.told = [];
            for (const uri of uris)
                await server.change(uri);
            await comes(() => told()[1], hoped[0][1]);
            await sleep(50);
            seen.push(told());
        };

        await change();
        await subscribed[0].end();
        /* The server hears of it some time later. */
        for (let left = 30; left > 0; left--) {
            await sleep(100);
            seen.length = 1;
            await change();
            if (seen[1][0] === hoped[1][0])
                break;
        }
        await subscribed[1].end();
        return seen;
    },

    async list_changed({ link, server }, hoped) {
        const told = () => list_names.filter((name) =>
            link.heard(`notifications/${name}/list_changed`).length > 0);
        const { honoured, end } = await link.hear_lists();

        await server.toggle(false);
        await sleep(100);
        link.told = [];
        await server.toggle(true);
        await comes(() => told().length === list_names.length,
            hoped.told.length > 0);
        const all = await names(link.client);

        await server.toggle(false);
        await end();
        return { honoured, told: told(), listed: list_names.filter((name) =>
            all[name].includes('more')) };
    },

    async completion({ link: { client } }) {
        const complete = async (ref, name) => (await client.complete({ ref,
            argument: { name, value: 'alp' } })).completion.values;

        return {
            prompt: await complete({ type: 'ref/prompt', name: 'greet' },
                'word'),
            template: await complete({ type: 'ref/resource',
                uri: 'mem://t/{name}' }, 'name') };
    },

    /* A question that belongs to no call: there is nowhere to park it. */
    async roots_within_completion({ link: { client } }) {
        const { completion } = await client.complete({
            ref: { type: 'ref/prompt', name: 'rooted' },
            argument: { name: 'word', value: '' } });

        return completion.values;
    },

    async roots_changed({ link: { client }, server: { state } }, hoped) {
        const before = state.roots_changed;

        await client.sendRootsListChanged();
        return comes(() => state.roots_changed > before, hoped);
    },

    async sampling({ link, key }) {
        return link.say('sample', key);
    },

    async elicit_form({ link, key }) {
        return link.say('form', key);
    },

    async elicit_declined({ link, key }) {
        const { answers } = link;

        link.answers = { ...answers,
            'elicitation/create': () => ({ action: 'decline' }) };
        try {
            return await link.say('form', key);
        } finally {
            link.answers = answers;
        }
    },

    /* The client answers with an error: as "the user rejected it". */
    async refused({ link, key }) {
        const { answers } = link;
        const refuse = () => {
            throw Object.assign(new Error('rejected'), { code: -1 });
        };

        link.answers = { 'elicitation/create': refuse,
            'sampling/createMessage': refuse };
        try {
            return { elicitation: await link.say('form', key),
                sampling: await link.say('sample', key) };
        } finally {
            link.answers = answers;
        }
    },

    async elicit_url({ link, key }) {
        return link.say('url', `${key}-url`);
    },

    async elicit_url_completed({ link, key }, hoped) {
        link.told = [];
        await link.say('url', `${key}-end`);
        return comes(() => link.heard('notifications/elicitation/complete')
            .length > 0, hoped);
    },

    /* By the error -32042: a legacy client goes there and calls again. */
    async elicit_url_by_error({ link, key, server: { state } }) {
        const asked = link.asked.length;
        const first = await link.say('gate', `${key}-gate`);

        state.opened.add(`${key}-gate`);
        return { first, asked: link.asked.length - asked,
            then: await link.say('gate', `${key}-gate`) };
    },

    async roots({ link, key }) {
        return link.say('roots', key);
    },

    async questions_in_turn({ link, key }) {
        return link.say('rounds', key);
    },

    async questions_at_once({ link, key }) {
        return link.say('both', key);
    },

    /* Each answer must find its own call. */
    async calls_at_once({ link, key }) {
        const words = Array.from({ length: 12 }, (_, i) => `word ${i}`);
        const echoes = Promise.all(words.map(async (word) =>
            (await link.call('echo', { word })).content[0].text));
        const asking = await Promise.all(['form', 'sample', 'form'].map(
            (name) => link.say(name, key)));

        return { asking, echoed: (await echoes).filter((said, i) =>
            said === `echo ${words[i]}`).length };
    },

    async prompt_that_asks({ link: { client } }) {
        try {
            const { messages } = await client.getPrompt({ name: 'asking' });

            return messages[0].content.text;
        } catch (error) {
            return `error ${error.code}`;
        }
    },

    /*
     * The call is given up while the client is asked. After other questions: a
     * client of the SDK v1 cannot cancel one whose id is 0.
     */
    async cancel_while_asked({ link, key }, hoped) {
        const { answers } = link;
        const controller = new AbortController();
        const begin = link.asked.length;
        let question;

        link.answers = { ...answers, 'elicitation/create': (_, signal) => {
            question = signal;
            return new Promise((_resolve, reject) => {
                signal.addEventListener('abort', reject);
            });
        } };
        const call = link.say('form', key, { signal: controller.signal });

        await comes(() => link.asked.length > begin, hoped !== 'not asked');
        controller.abort('no need');
        await call;
        link.answers = answers;
        return question
            ? comes(() => question.aborted, hoped === true) : 'not asked';
    },

    /* Of a client that has declared nothing. */
    async undeclared({ client, way, server, key }) {
        const link = await open(client, way, server, {});
        const said = await link.say('form', key);

        await link.end();
        return said;
    },
};
