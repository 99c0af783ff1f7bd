/*
 * The bundle of contrib/mcpb: the official tool packs and unpacks it, its own
 * code makes the configuration from what a user entered, and what that starts
 * carries a session. The token is sent as a header, stands in no argument, and
 * may be missing.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { binary, splice_env } from './lib.mjs';

const contrib = process.env.MCPB_FOLDER;
const platform = `linux-${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}`;
const here = process.platform === 'linux' && !platform.endsWith('undefined');
const seen = [];
let dir, server, url;

function answer(req, res, m) {
    const result = m.method === 'initialize' ?
        { protocolVersion: m.params.protocolVersion, capabilities: {},
          serverInfo: { name: 'bundled', version: '1' } } : {};

    seen.push({ method: m.method, authorization: req.headers.authorization });
    if (m.id === undefined) {
        res.writeHead(202).end();
        return;
    }
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }));
}

/* Packs the bundle of a manifest, and unpacks it elsewhere. */
function bundle(name, folder, dist = 'dist') {
    const file = path.join(dir, `${name}.mcpb`);
    const at = path.join(dir, name);
    const env = { ...process.env, MCPB: 'mcpb' };

    execFileSync(path.join(contrib, 'pack'),
        [path.join(dir, dist), '1.2.3', file, folder], { env });
    execFileSync('mcpb', ['unpack', file, at], { env });
    return at;
}

function manifest_of(at) {
    return JSON.parse(fs.readFileSync(path.join(at, 'manifest.json')));
}

function config_of(at, user) {
    return getMcpConfigForManifest({
        manifest: manifest_of(at),
        extensionPath: at,
        systemDirs: {},
        userConfig: user,
        pathSeparator: path.sep,
    });
}

/* The official code, as if it ran on Windows. */
async function on_windows(f) {
    const real = Object.getOwnPropertyDescriptor(process, 'platform');

    Object.defineProperty(process, 'platform', { value: 'win32' });
    try {
        return await f();
    } finally {
        Object.defineProperty(process, 'platform', real);
    }
}

/* A session of what the host would start; returns what the server saw. */
async function session(config) {
    const client = new Client({ name: 'host', version: '1' });

    seen.length = 0;
    await client.connect(new StdioClientTransport({
        command: config.command,
        args: config.args,
        env: { PATH: process.env.PATH,
               ...splice_env(fs.mkdtempSync(path.join(dir, 'home-'))),
               ...config.env },
        stderr: 'inherit',
    }));
    assert.equal(client.getServerVersion().name, 'bundled');
    await client.ping();
    await client.close();
    assert.ok(seen.some((r) => r.method === 'initialize'));
    return [...seen];
}

describe('the bundle', { skip: !here && 'no bundle for this platform' }, () => {
    before(async () => {
        dir = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpsplice-mcpb-'));
        fs.mkdirSync(path.join(dir, 'dist'));
        fs.copyFileSync(binary,
            path.join(dir, 'dist', `mcpsplice-1.2.3-${platform}`));
        server = http.createServer((req, res) => {
            let text = '';

            if (req.method !== 'POST') {
                res.writeHead(405).end();
                return;
            }
            req.on('data', (part) => { text += part; });
            req.on('end', () => answer(req, res, JSON.parse(text)));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        url = `http://127.0.0.1:${server.address().port}/mcp`;
    });

    after(() => {
        server.close();
        fs.rmSync(dir, { recursive: true });
    });

    test('asks for a URL and a secret token, and starts with both', async () => {
        const at = bundle('general', contrib);
        const manifest = manifest_of(at);

        assert.equal(manifest.version, '1.2.3');
        assert.deepEqual(manifest.compatibility.platforms, ['linux']);
        assert.equal(manifest.server.mcp_config.platform_overrides, undefined);
        assert.equal(manifest.user_config.token.sensitive, true);
        assert.equal(await config_of(at, {}), undefined, 'the URL is required');

        const config = await config_of(at, { url, token: 'tok-1' });

        assert.ok(!JSON.stringify(config.args).includes('tok-1'));
        for (const r of await session(config))
            assert.equal(r.authorization, 'Bearer tok-1', r.method);
    });

    test('of all platforms starts the program of each', async () => {
        const releases = ['linux-x86_64', 'linux-aarch64', 'darwin-x86_64',
            'darwin-arm64', 'windows-x86_64.exe'];

        fs.mkdirSync(path.join(dir, 'all'));
        for (const release of releases)
            fs.writeFileSync(path.join(dir, 'all', `mcpsplice-1.2.3-${release}`),
                `#!/bin/sh\necho ${release} "$BUNDLE_TOKEN" "$@"\n`);
        const at = bundle('everywhere', contrib, 'all');

        assert.deepEqual(manifest_of(at).compatibility.platforms,
            ['linux', 'darwin', 'win32']);
        /* what a host asks uname for, played */
        for (const [system, machine, release] of [
            ['Linux', 'x86_64', releases[0]], ['Linux', 'aarch64', releases[1]],
            ['Darwin', 'x86_64', releases[2]], ['Darwin', 'arm64', releases[3]],
        ]) {
            const bin = fs.mkdtempSync(path.join(dir, 'bin-'));
            const config = await config_of(at, { url, token: 't' });

            fs.writeFileSync(path.join(bin, 'uname'),
                `#!/bin/sh\necho ${system} ${machine}\n`, { mode: 0o755 });
            assert.equal(execFileSync(config.command, config.args, {
                env: { ...config.env, PATH: `${bin}:${process.env.PATH}` },
                encoding: 'utf8' }),
            `${release} t --bearer-env BUNDLE_TOKEN -- ${url}\n`);
        }
        const config = await on_windows(() => config_of(at, { url }));

        assert.deepEqual(config.env, {});
        assert.equal(execFileSync(config.command, config.args,
            { encoding: 'utf8' }), `windows-x86_64.exe  -- ${url}\n`);
    });

    test('starts without a token', async () => {
        const at = path.join(dir, 'general');

        for (const user of [{ url }, { url, token: '' }])
            for (const r of await session(await config_of(at, user)))
                assert.equal(r.authorization, undefined, r.method);
        /* as a host leaves it that knows no default */
        const config = await config_of(at, { url });

        config.env.BUNDLE_TOKEN = '${user_config.token}';
        for (const r of await session(config))
            assert.equal(r.authorization, undefined, r.method);
    });

    test('of a vendor has a fixed URL', async () => {
        const folder = path.join(dir, 'mine');

        fs.cpSync(path.join(contrib, 'vendor'), folder, { recursive: true });

        const file = path.join(folder, 'manifest.json');
        const text = fs.readFileSync(file, 'utf8');

        assert.ok(text.includes('https://mcp.example.com/mcp'));
        fs.writeFileSync(file,
            text.replace('https://mcp.example.com/mcp', url));

        const at = bundle('vendor', folder);

        for (const r of await session(await config_of(at, { token: 'tok-2' })))
            assert.equal(r.authorization, 'Bearer tok-2', r.method);
    });
});
