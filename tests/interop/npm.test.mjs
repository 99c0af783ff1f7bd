/*
 * The packages of contrib/npm: packed with the program that was just built,
 * installed by npm without its scripts and without a network, and used as a
 * host uses them. The launcher is tried in both of its ways: the program takes
 * its place, or it stays and passes everything on.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { binary, sleep, splice_env, start_everything, until } from './lib.mjs';

const RELEASE = { 'linux-x64': 'linux-x86_64', 'linux-arm64': 'linux-aarch64',
    'darwin-x64': 'darwin-x86_64', 'darwin-arm64': 'darwin-arm64',
    'win32-x64': 'windows-x86_64.exe' };
const WINDOWS = 'win32-x64';
/* Node on Linux, as it is on Windows for the launcher: its own execve throws
 * there. What is spawned, and how, is told on stderr. */
const ON_WINDOWS = `
Object.defineProperty(process, "platform", { value: "win32" });
Object.defineProperty(process, "arch", { value: "x64" });
process.execve = () => { throw new Error("no execve on Windows"); };
require("fs").accessSync = () => { throw new Error("no X_OK on Windows"); };
const child_process = require("child_process");
const { spawn } = child_process;
child_process.spawn = (program, argv, options) => {
    console.error(JSON.stringify(options));
    if (process.env.BLOCKED)
        throw new Error("spawn UNKNOWN");
    return spawn(program, argv, options);
};
`;
const platform = `${process.platform}-${process.arch}`;
const version = '9.8.7-test.1';
const initialize = '{"jsonrpc":"2.0","id":"first","method":"initialize",'
    + '"params":{"protocolVersion":"2025-11-25","capabilities":{},'
    + '"clientInfo":{"name":"interop","version":"1"}}}\n';
const initialized =
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n';
const slow_call = '{"jsonrpc":"2.0","id":"slow","method":"tools/call",'
    + '"params":{"name":"trigger-long-running-operation",'
    + '"arguments":{"duration":60,"steps":1}}}\n';
const LATE_MS = 8000;

let scratch, out, installed, launcher, server;

const at = (...names) => path.join(scratch, ...names);

/* The user's settings of npm must not steer the tests. */
function env_of(more = {}) {
    return { ...splice_env(at('home')), PATH: process.env.PATH,
        npm_config_ignore_scripts: 'true', npm_config_audit: 'false',
        npm_config_fund: 'false', npm_config_update_notifier: 'false',
        npm_config_fetch_retries: '0', npm_config_logs_max: '0', ...more };
}

/* Starts a program that is killed if the test leaves it. */
const left = new Set();

function start(command, args = [], { env, ...options } = {}) {
    const child = spawn(command, args, { env: env_of(env),
        cwd: scratch, ...options });
    const p = { child, pid: child.pid, out: '', err: '' };

    left.add(child);
    child.stdout.on('data', (text) => { p.out += text; });
    child.stderr.on('data', (text) => { p.err += text; });
    child.stdin.on('error', () => {});
    p.end = once(child, 'close').then(([code, signal]) => {
        left.delete(child);
        return { code, signal };
    });
    return p;
}

/* Runs a program to its end. */
async function run(command, args, { input = '', ...options } = {}) {
    const p = start(command, args, options);

    p.child.stdin.end(input);
    return { ...await p.end, out: p.out, err: p.err };
}

async function npm(args, options) {
    const done = await run('npm', args, options);

    assert.equal(done.code, 0, done.out + done.err);
    return done;
}

function stat_of(pid) {
    try {
        const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
        const [, name, state, parent] =
            /^\d+ \((.*)\) (.) (\d+)/s.exec(text);

        return { name, state, parent: Number(parent) };
    } catch {
        return undefined;
    }
}

function children(pid) {
    return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
        .map(Number).filter((one) => stat_of(one)?.parent === pid);
}

const gone = (pid) => [undefined, 'Z', 'X'].includes(stat_of(pid)?.state);

/* The process that is the program, itself or below this one. */
function program_in(pid) {
    if (stat_of(pid)?.name === path.basename(binary).slice(0, 15))
        return pid;
    for (const child of children(pid)) {
        const found = program_in(child);

        if (found)
            return found;
    }
    return undefined;
}

/* A process with a session and, if wanted, a call in it that takes long. */
async function busy(command, args = [], options = {}, call = slow_call) {
    const p = start(command, [...args, String(server.url)], options);

    p.child.stdin.write(initialize);
    await until(() => p.out.includes('"id":"first"'),
        `an answer to initialize; ${p.err}`, 20000);
    p.child.stdin.write(initialized + call);
    await sleep(100);
    p.program = program_in(p.pid);
    assert.ok(p.program, 'the program runs');
    return p;
}

/* A registry as small as npm allows: what is packed, and nothing else. */
async function start_registry() {
    const registry = { asked: [] };
    const files = fs.readdirSync(out).filter((name) => name.endsWith('.tgz'));
    const packages = files.map((file) => {
        const data = fs.readFileSync(path.join(out, file));

        return { file, data, manifest: JSON.parse(execFileSync('tar', ['-xOzf',
            path.join(out, file), 'package/package.json'])) };
    });
    const web = http.createServer((request, answer) => {
        const wanted = decodeURIComponent(request.url.slice(1));
        const file = packages.find((p) => p.file === wanted);
        const named = packages.find((p) => p.manifest.name === wanted);

        registry.asked.push(wanted);
        if (file)
            return answer.end(file.data);
        if (!named) {
            answer.statusCode = 404;
            return answer.end('{"error":"not found"}');
        }
        const integrity = createHash('sha512').update(named.data)
            .digest('base64');
        return answer.end(JSON.stringify({ name: wanted,
            'dist-tags': { latest: version },
            versions: { [version]: { ...named.manifest, dist: {
                tarball: `${registry.url}${named.file}`,
                integrity: `sha512-${integrity}` } } } }));
    });

    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    registry.url = `http://127.0.0.1:${web.address().port}/`;
    registry.stop = () => {
        web.closeAllConnections();
        web.close();
    };
    return registry;
}

/* What an official client does, with whatever starts mcpsplice. */
async function session(command, args = [], env = {}) {
    const transport = new StdioClientTransport({ command, cwd: scratch,
        args: [...args, String(server.url)], env: env_of(env),
        stderr: 'pipe' });
    const client = new Client({ name: 'interop', version: '1.0.0' });

    await client.connect(transport);
    const exit = once(transport._process, 'exit');
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: 'echo',
        arguments: { message: 'packed' } });

    assert.ok(tools.length > 3);
    assert.match(content[0].text, /packed/);
    await client.close();
    assert.deepEqual(await exit, [0, null]);
}

/* The launcher, with this text as its program. */
function with_program(name, text, mode = 0o755, system = platform) {
    const root = at(name, 'node_modules');
    const bin = path.join(root, '@mcpsplice', system, 'bin');
    const file = system === WINDOWS ? 'mcpsplice.exe' : 'mcpsplice';

    fs.cpSync(path.join(installed, 'node_modules', 'mcpsplice'),
        path.join(root, 'mcpsplice'), { recursive: true });
    fs.mkdirSync(bin, { recursive: true });
    fs.writeFileSync(path.join(bin, file), text);
    fs.chmodSync(path.join(bin, file), mode);
    return path.join(root, 'mcpsplice', 'bin', 'mcpsplice.js');
}

/* Node runs this text first. */
function node_first(name, text) {
    const file = at(`${name}.cjs`);

    fs.writeFileSync(file, text);
    return { NODE_OPTIONS: `--require ${file}` };
}

before(async () => {
    assert.ok(process.env.NPM_PACK, 'NPM_PACK must name contrib/npm/pack');
    assert.ok(RELEASE[platform], `there is a package for ${platform}`);
    assert.equal(typeof process.execve, 'function', 'this Node has execve');
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpsplice-npm.'));
    out = at('out');
    installed = at('installed');
    launcher = path.join(installed, 'node_modules', '.bin', 'mcpsplice');
    for (const name of ['dist', 'home', 'installed'])
        fs.mkdirSync(at(name));
    fs.copyFileSync(binary,
        at('dist', `mcpsplice-${version}-${RELEASE[platform]}`));
    const packing = await run(process.env.NPM_PACK,
        [at('dist'), version, out]);

    assert.equal(packing.code, 0, packing.err);
    for (const name of Object.keys(RELEASE))
        assert.equal(packing.out.includes(`skipping ${name}:`),
            name !== platform, packing.out);
    fs.writeFileSync(path.join(installed, 'package.json'),
        '{"private":true}');
    await npm(['install', '--offline',
        path.join(out, `mcpsplice-${version}.tgz`),
        path.join(out, `mcpsplice-${platform}-${version}.tgz`)],
    { cwd: installed });
    server = await start_everything();
});

after(async () => {
    for (const child of left)
        child.kill('SIGKILL');
    await server?.stop();
    if (scratch)
        fs.rmSync(scratch, { recursive: true, force: true });
});

describe('packed and installed from files, offline', () => {
    test('no scripts, modes, times, the same bits again', async () => {
        const names = fs.readdirSync(out);

        assert.equal(names.length, 2);
        fs.chmodSync(at('dist',
            `mcpsplice-${version}-${RELEASE[platform]}`), 0o600);
        const again = await run('sh', ['-c', 'umask 077; exec "$0" "$@"',
            process.env.NPM_PACK, at('dist'), version, at('again')]);

        assert.equal(again.code, 0, again.err);
        for (const name of names) {
            const file = path.join(out, name);
            const manifest = JSON.parse(execFileSync('tar',
                ['-xOzf', file, 'package/package.json']));
            const lines = execFileSync('tar', ['-tvzf', file],
                { encoding: 'utf8' }).trim().split('\n');

            assert.equal(manifest.scripts, undefined);
            assert.equal(manifest.libc, undefined);
            assert.equal(manifest.version, version);
            assert.deepEqual(lines.map((line) =>
                `${line.split(' ')[0]} ${line.split('/').at(-1)}`).sort(), [
                '-rw-r--r-- LICENSE', '-rw-r--r-- README.md',
                '-rw-r--r-- package.json',
                `-rwxr-xr-x ${manifest.bin ? 'mcpsplice.js' : 'mcpsplice'}`,
            ]);
            assert.ok(fs.readFileSync(file)
                .equals(fs.readFileSync(at('again', name))), name);
        }
    });

    test('what the launcher depends on', () => {
        const { optionalDependencies } = JSON.parse(fs.readFileSync(path.join(
            installed, 'node_modules', 'mcpsplice', 'package.json')));
        const wanted = new Set(['linux-x64', 'linux-arm64', platform]);

        assert.deepEqual(optionalDependencies, Object.fromEntries(
            [...wanted].map((name) => [`@mcpsplice/${name}`, version])));
    });

    test('all platforms', async () => {
        fs.mkdirSync(at('dist-all'));
        for (const release of Object.values(RELEASE))
            fs.writeFileSync(at('dist-all', `mcpsplice-${version}-${release}`),
                release);
        const packing = await run(process.env.NPM_PACK,
            [at('dist-all'), version, at('all')]);
        const in_file = (name, inner) => execFileSync('tar', ['-xOzf',
            at('all', `mcpsplice-${name}${version}.tgz`), `package/${inner}`],
        { encoding: 'utf8' });

        assert.equal(packing.code, 0, packing.err);
        assert.ok(!packing.out.includes('skipping'), packing.out);
        for (const [name, release] of Object.entries(RELEASE)) {
            const { os: systems, cpu } = JSON.parse(
                in_file(`${name}-`, 'package.json'));
            const suffix = name === WINDOWS ? '.exe' : '';

            assert.equal(`${systems}-${cpu}`, name);
            assert.equal(in_file(`${name}-`, `bin/mcpsplice${suffix}`),
                release);
        }
        assert.deepEqual(Object.keys(JSON.parse(in_file('', 'package.json'))
            .optionalDependencies).sort(),
        Object.keys(RELEASE).map((name) => `@mcpsplice/${name}`).sort());
        /* who has no program for Windows is told of WSL */
        assert.doesNotMatch(in_file('', 'README.md'), /WSL|@/);
        assert.match(fs.readFileSync(path.join(installed, 'node_modules',
            'mcpsplice', 'README.md'), 'utf8'), /^On Windows, use WSL: /m);
    });

    test('a version that npm does not know is refused', async () => {
        for (const wrong of ['1.0', 'v1.0.0', '01.0.0', '1.0.0"'])
            assert.equal((await run(process.env.NPM_PACK,
                [at('dist'), wrong, at('wrong')])).code, 2, wrong);
    });

    test('a session by npx --no-install', () =>
        session('npx', ['--no-install', '--prefix', installed, 'mcpsplice']));
});

/* All that "npx -y" needs is asked of a registry once. */
describe('npx -y mcpsplice', () => {
    let registry;
    const npx = (args, options) => run('npx', args, options);

    before(async () => {
        fs.rmSync(at('home', '.npm'), { recursive: true });
        registry = await start_registry();
        fs.appendFileSync(at('home', '.npmrc'),
            `registry=${registry.url}\n`);
        await session('npx', ['-y', 'mcpsplice']);
        registry.stop();
    });

    test('platforms that are not published do no harm', () => {
        assert.ok(registry.asked.some((name) =>
            name.startsWith('@mcpsplice/') && !name.includes(platform)));
        assert.equal(registry.asked.filter((name) => name.endsWith('.tgz'))
            .length, 2);
    });

    test('a session from the cache, without a registry', () =>
        session('npx', ['--offline', '-y', 'mcpsplice']));

    /* From test_switch.py, with what a shell could spoil. */
    for (const { args, env, wanted } of [
        { args: ['https://a.example/mcp', '--header',
            'Authorization:${AUTH_HEADER}'],
          env: { AUTH_HEADER: 'Bearer "T" $HOME' },
          wanted: { header: 'Authorization: (set)' } },
        { args: ['https://a.example/v2.0/x?a=1&b=$(id)', '--header',
            'Company:CRONUS, Inc.', '--header', 'Empty:', '--silent'],
          wanted: { header: 'Company: (set)', quiet: 'yes' } },
        { args: ['https://a.example/mcp', '64485', '--host', 'localhost',
            '--static-oauth-client-info',
            '{"client_id":"id-1","client_secret":"it\'s"}',
            '--static-oauth-client-metadata', '{"scope":"a/b c"}',
            '--transport', 'http-only', '--auth-timeout', '600',
            '--resource', 'https://tenant1.example.net/'],
          wanted: { resource: 'https://tenant1.example.net/',
              'callback-port': '64485', 'callback-host': 'localhost',
              transport: 'http', 'login-timeout': '600' } },
    ])
        test(`the entry ${args.join(' ')}`, async () => {
            const done = await npx(['--offline', '-y', 'mcpsplice', ...args,
                '--show-config'], { env });
            const bare = await run(binary, [...args, '--show-config'],
                { env });

            assert.equal(done.code, 0, done.err);
            assert.equal(done.out, bare.out);
            for (const [name, value] of Object.entries(wanted))
                assert.ok(done.out.split('\n').some((line) =>
                    line.startsWith(`${name} `)
                    && line.slice(name.length).trimStart()
                        .startsWith(value)), `${name}: ${done.out}`);
        });

    test('the settings leave out optional dependencies', async () => {
        const words = ['--offline', '-y', `mcpsplice@${version}`, 'version'];
        const options = { env: { npm_config_omit: 'optional' } };
        const first = await npx(words, options);
        const [, kept] = /Delete (\S+) and use/.exec(first.err) ?? [];

        assert.equal(first.code, 1);
        assert.ok(kept.startsWith(at('home')), first.err);
        fs.rmSync(kept, { recursive: true });
        const second = await npx(['--include=optional', ...words], options);

        assert.equal(second.code, 0, second.err);
        assert.match(second.out, /^mcpsplice /);
    });

    /* npx starts a shell that starts the launcher. The shell outlives a SIGKILL
     * for npx; then the end of stdin tells the program. */
    for (const signal of ['SIGTERM', 'SIGKILL'])
        test(`${signal} for npx ends the program`, async () => {
            const p = await busy('npx', ['--offline', '-y', 'mcpsplice'], {},
                signal === 'SIGKILL' ? '' : slow_call);

            p.child.kill(signal);
            if (signal === 'SIGKILL')
                p.child.stdin.end();
            await until(() => gone(p.program), 'the end of the program');
            await p.end;
        });
});

for (const [way, env] of [
    ['the program takes the place of the launcher', () => ({})],
    ['the launcher stays', () => node_first('no-execve',
        'process.execve = undefined;\n')],
])
    describe(way, { concurrency: false }, () => {
        const stays = way === 'the launcher stays';
        let options;

        before(() => { options = { env: env() }; });

        test('a session', () => session(launcher, [], options.env));

        test('as many processes as there must be', async () => {
            const p = await busy(launcher, [], options);

            assert.equal(p.program !== p.pid, stays);
            assert.deepEqual(children(p.pid), stays ? [p.program] : []);
            p.child.kill('SIGKILL');
            await until(() => gone(p.program), 'the end of the program');
        });

        for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
            for (const group of [false, true])
                test(`${signal} for ${group ? 'the group' : 'it alone'}`,
                async () => {
                    const bare = await busy(binary);
                    const p = await busy(launcher, [],
                        { ...options, detached: true });

                    bare.child.kill(signal);
                    process.kill(group ? -p.pid : p.pid, signal);
                    assert.deepEqual(await p.end, await bare.end);
                    assert.match(p.out, /"id":"slow",.*"shutting_down"/);
                    assert.ok(gone(p.program));
                });

        test('SIGUSR1 shows the state', async () => {
            const p = await busy(launcher, [], options);

            p.child.kill('SIGUSR1');
            await until(() => p.err.includes('partial messages'),
                'the state');
            p.child.stdin.end();
            p.child.kill('SIGTERM');
            await p.end;
        });

        test('the program is killed', async () => {
            const p = await busy(launcher, [], options);

            process.kill(p.program, 'SIGKILL');
            assert.deepEqual(await p.end, { code: null, signal: 'SIGKILL' });
        });

        test('the parent is killed, stdin stays open', async () => {
            const p = await busy('sh', ['-c',
                'exec 3<&0; "$0" "$@" <&3 & wait', launcher], options);
            const all = [...children(p.pid), p.program];

            p.child.kill('SIGKILL');
            await until(() => all.every(gone), 'the end of all');
        });

        test('stdin is closed', async () => {
            const p = start(launcher, [String(server.url)], options);

            p.child.stdin.end(initialize);
            assert.deepEqual(await p.end, { code: 0, signal: null });
            assert.equal(JSON.parse(p.out).result.protocolVersion,
                '2025-11-25');
        });

        test('a wrong option', async () => {
            const done = await run(launcher, ['--frobnicate'],
                { ...options, input: initialize });

            assert.equal(done.code, 2);
            assert.match(done.err, /unknown option "--frobnicate"/);
            assert.equal(JSON.parse(done.out).id, 'first');
        });

        test('arguments, signals and descriptors are as they should be',
        async () => {
            const script = with_program(`state-${stays}`, '#!/bin/sh\n'
                + 'printf "<%s>" "$@"\n'
                + 'grep -E "^Sig(Blk|Ign)" /proc/self/status\n'
                + 'for n in 0 1 2; do grep flags /proc/$$/fdinfo/$n; done\n'
                + 'cat\n');
            const { code, out, err } = await run(process.execPath, [script,
                '', 'a b', '$HOME', '--'], { ...options, input: 'rest' });
            const [first, ignored, ...more] = out.split('\n');

            assert.equal(code, 0, err);
            assert.match(first, /^<><a b><\$HOME><-->SigBlk:\t0+$/);
            /* 32 and 33 are glibc's own, and make leaves them ignored */
            assert.match(ignored, /^SigIgn:\t[0-9a-f]{16}$/);
            assert.equal(BigInt(`0x${ignored.slice(-16)}`) & 0x7fffffffn, 0n);
            assert.equal(more.pop(), 'rest');
            for (const flags of more)
                assert.equal(parseInt(flags.split('\t')[1], 8)
                    & fs.constants.O_NONBLOCK, 0, flags);
            assert.equal(more.length, 3);
        });

        test('the exit status', async () => {
            const script = with_program(`status-${stays}`,
                '#!/bin/sh\nexit 22\n');

            assert.equal((await run(process.execPath, [script],
                options)).code, 22);
        });
    });

/* The launcher's way on Windows. That Node does there what its options say is
 * for Windows to show. */
describe('on Windows, played', () => {
    const run_there = (name, text, more = {}) => run(process.execPath,
        [with_program(name, text, 0o755, WINDOWS), 'a b', '$HOME'],
        { input: initialize, env: { ...node_first(name, ON_WINDOWS),
            ...more } });

    test('arguments, descriptors, the exit status', async () => {
        const done = await run_there('windows-state',
            '#!/bin/sh\nprintf "<%s>" "$@"\ncat\nexit 22\n');

        assert.equal(done.code, 22, done.err);
        assert.equal(done.out, `<a b><$HOME>${initialize}`);
        assert.deepEqual(JSON.parse(done.err),
            { stdio: 'inherit', windowsHide: true });
    });

    test('Ctrl-C is for the program', async () => {
        const script = with_program('windows-interrupt', '#!/bin/sh\n'
            + 'echo started\nread line\nexit 5\n', 0o755, WINDOWS);
        const p = start(process.execPath, [script],
            { env: node_first('windows-interrupt', ON_WINDOWS) });

        await until(() => p.out.includes('started'), 'the program');
        p.child.kill('SIGINT');
        p.child.stdin.end('\n');
        assert.deepEqual(await p.end, { code: 5, signal: null });
    });

    test('a program that is blocked', async () => {
        const done = await run_there('windows-blocked', '', { BLOCKED: '1' });

        assert.equal(done.code, 1);
        assert.match(done.err, /cannot run the program: spawn UNKNOWN\n/);
        assert.match(JSON.parse(done.out).error.message, /spawn UNKNOWN/);
    });
});

/* How package managers lay out what they install: our package, the folder of
 * the programs, and a link to our package. */
describe('where the program is', () => {
    for (const [name, ours, program, link] of [
        ['npm', 'node_modules/mcpsplice', 'node_modules'],
        ['npm -g', 'node_modules/mcpsplice',
            'node_modules/mcpsplice/node_modules'],
        ['npm, below another package', 'node_modules/a/node_modules/mcpsplice',
            'node_modules'],
        ['npm, below one with a scope',
            'node_modules/@s/a/node_modules/mcpsplice', 'node_modules'],
        ['pnpm', 'node_modules/.pnpm/mcpsplice@1/node_modules/mcpsplice',
            'node_modules/.pnpm/mcpsplice@1/node_modules',
            'node_modules/mcpsplice'],
        ['Yarn, as pnpm', 'node_modules/.store/mcpsplice-npm-1-0/package',
            'node_modules/.store/mcpsplice-npm-1-0/node_modules',
            'node_modules/mcpsplice'],
        ['cnpm', 'node_modules/_mcpsplice@1@mcpsplice',
            'node_modules/_mcpsplice@1@mcpsplice/node_modules',
            'node_modules/mcpsplice'],
    ])
        test(name, async () => {
            const root = fs.mkdtempSync(at('layout.'));
            const bin = path.join(root, program, '@mcpsplice', platform,
                'bin');
            const package_ = path.join(root, ours);

            fs.cpSync(path.join(installed, 'node_modules', 'mcpsplice'),
                package_, { recursive: true });
            fs.mkdirSync(bin, { recursive: true });
            fs.writeFileSync(path.join(bin, 'mcpsplice'),
                '#!/bin/sh\necho found\n', { mode: 0o755 });
            if (link)
                fs.symlinkSync(package_, path.join(root, link));
            const done = await run(process.execPath,
                [path.join(root, link ?? ours, 'bin', 'mcpsplice.js')]);

            assert.equal(done.out, 'found\n', done.err);
        });
});

describe('where there is no program', () => {
    let bare;

    before(() => {
        bare = at('bare');
        fs.cpSync(path.join(installed, 'node_modules', 'mcpsplice'), bare,
            { recursive: true });
    });

    /* What it says on stderr, and to a request that waits. */
    async function refusal(file, env) {
        const done = await run(process.execPath, [file, 'https://a.example/'],
            { env, input: `\n[]\n"x"\n${initialized}${initialize}` });
        const answer = JSON.parse(done.out);

        assert.equal(done.code, 1);
        assert.match(done.err, /^mcpsplice: error: [^\n]*\n$/);
        assert.equal(answer.id, 'first');
        assert.deepEqual(answer.error.data,
            { source: 'mcpsplice', ran: 'no' });
        assert.equal(`${answer.error.message}\n`, done.err.replace(
            'mcpsplice: error:', 'mcpsplice cannot start:'));
        return done.err;
    }
    const script = () => path.join(bare, 'bin', 'mcpsplice.js');

    test('optional dependencies were left out', async () => {
        const text = await refusal(script());

        assert.ok(text.includes(`@mcpsplice/${platform} is not installed`));
        assert.match(text, /--omit=optional or --no-optional/);
        assert.match(text, /npm install --include=optional mcpsplice,/);
        assert.match(text, /build mcpsplice from its source/);
    });

    test('another system', async () => {
        const text = await refusal(script(), node_first('freebsd',
            'Object.defineProperty(process, "platform", '
            + '{ value: "freebsd" });\n'));

        assert.ok(text.includes(`no program for freebsd-${process.arch}`));
        assert.match(text, /linux-x64, linux-arm64/);
        assert.match(text, /build mcpsplice from its source/);
    });

    test('Windows', async () => {
        const text = await refusal(script(), node_first('windows',
            'Object.defineProperty(process, "platform", '
            + '{ value: "win32" });\n'));

        assert.match(text, /wsl\.exe --exec npx -y mcpsplice URL/);
    });

    /* A folder above the installation, or one of the environment, may be
     * anybody's. */
    test('a program that is not of this installation', async () => {
        const inside = at('above', 'app', 'node_modules', 'mcpsplice');

        fs.cpSync(bare, inside, { recursive: true });
        for (const folder of [at('above', 'node_modules'), at('named')]) {
            const bin = path.join(folder, '@mcpsplice', platform, 'bin');

            fs.mkdirSync(bin, { recursive: true });
            fs.writeFileSync(path.join(bin, 'mcpsplice'),
                '#!/bin/sh\necho not ours\n', { mode: 0o755 });
        }
        await refusal(path.join(inside, 'bin', 'mcpsplice.js'),
            { NODE_PATH: at('named') });
    });

    test('a program of another version', async () => {
        const file = with_program('older', '#!/bin/sh\necho older\n');

        fs.writeFileSync(at('older', 'node_modules', '@mcpsplice', platform,
            'package.json'), '{"version":"9.8.6"}');
        await refusal(file);
    });

    test('a program that may not be run', async () => {
        const text = await refusal(with_program('mode', '', 0o644));

        assert.match(text, /cannot run the program: .*permission denied/i);
    });

    test('nobody asks', async () => {
        const p = start(process.execPath, [script()]);
        const begin = performance.now();

        assert.equal((await p.end).code, 1);
        assert.ok(performance.now() - begin < LATE_MS);
        assert.equal(p.out, '');
    });
});
