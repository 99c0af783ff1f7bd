/*
 * What the forgetful servers share. Each is a process of its own, so that it
 * can be killed as a crash would: node forget-X.mjs PORT LOG VARIANT. It writes
 * to LOG, one JSON value per line: each HTTP request and each run of a tool,
 * before the tool does anything, so that runs are counted over all restarts.
 * FORGET_TLS names a certificate without its ".pem"; then it speaks TLS.
 */
import diagnostics from 'node:diagnostics_channel';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [port_text, log, variant] = process.argv.slice(2);

export const port = Number(port_text);
export { variant };

function note(value) {
    fs.appendFileSync(log, `${JSON.stringify(value)}\n`);
}

diagnostics.subscribe('http.server.request.start', ({ request }) => note({
    http: request.method, session: request.headers['mcp-session-id'] }));

export const ready = () => note({ ready: process.pid });

export function listen(handler) {
    const name = process.env.FORGET_TLS;
    const serve = (req, res) =>
        handler(req, res).catch(() => res.destroy());   // cut in its body
    const server = name ? https.createServer({
        cert: fs.readFileSync(`${name}.pem`),
        key: fs.readFileSync(`${name}.key`) }, serve)
        : http.createServer(serve);

    server.listen(port, '127.0.0.1', ready);
}

/* The resource changes when the process is told so by SIGUSR2. */
export const uri = 'mem://a';
const watchers = [];

export const on_change = (tell) => watchers.push(tell);
process.on('SIGUSR2', () => watchers.forEach((tell) => tell()));

/* Each tool but "log": what it is declared to be, and what it does. */
async function run({ key, ms }) {
    note({ run: key });
    await new Promise((done) => { setTimeout(done, ms); });
    return `ran ${key}`;
}

export const tools = {
    plain: { run },
    read: { run, annotations: { readOnlyHint: true } },
    idem: { run, annotations: { readOnlyHint: false,
        idempotentHint: true } },
    unsafe: { run, annotations: { readOnlyHint: false,
        idempotentHint: false, destructiveHint: true } },
};

export const complete = (value) => [`${value}1`, `${value}2`];
export const content = (name) => `content of ${name}`;
