#!/usr/bin/env node
/*
 * Starts the mcpsplice program, which comes in a separate package for each
 * platform. Where the system and Node allow it, the program replaces this
 * process; otherwise this process waits, and passes on signals and the end.
 */
'use strict';

const fs = require('fs');
const path = require('path');

const { version, optionalDependencies } = require('../package.json');

const windows = process.platform === 'win32';
const platform = `${process.platform}-${process.arch}`;
const file = windows ? 'mcpsplice.exe' : 'mcpsplice';
const platforms = Object.keys(optionalDependencies)
    .map((name) => name.replace('@mcpsplice/', ''));
const START_ERROR = -32603;
const ANSWER_MS = 2000;
const PARENT_MS = 1000;

/* Hosts seldom show stderr, so the first request gets the reason, too. */
function refuse(why) {
    const end = () => process.exit();

    console.error(`mcpsplice: error: ${why}`);
    process.exitCode = 1;
    if (process.stdin.isTTY)
        return;
    setTimeout(end, ANSWER_MS).unref();
    require('readline').createInterface({ input: process.stdin })
        .on('line', (line) => {
            let id, method;

            try {
                ({ id, method } = JSON.parse(line));
            } catch {
                return;
            }
            if (id !== undefined && method !== undefined)
                process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id,
                    error: { code: START_ERROR,
                        message: `mcpsplice cannot start: ${why}`,
                        data: { source: 'mcpsplice', ran: 'no' } } })}\n`,
                end);
        });
}

function cannot_run(error) {
    refuse(`cannot run the program: ${error.message}`);
}

function why_missing() {
    const build = 'or build mcpsplice from its source';

    if (windows && !platforms.includes(platform))
        return `there is no program for ${platform}. Use the one for `
            + 'WSL: wsl.exe --exec npx -y mcpsplice URL';
    if (!platforms.includes(platform))
        return `there is no program for ${platform}. Use one of `
            + `${platforms.join(', ')}, ${build}`;
    /* npx keeps what it installed, and does not check it again. */
    const [kept] = /^.*[\\/]_npx[\\/][^\\/]+/.exec(__dirname) || [];

    return `the package @mcpsplice/${platform} is not installed. Package `
        + 'managers leave it out with --omit=optional or --no-optional, in '
        + 'their settings as well, or if the lock file or node_modules came '
        + `from another system. ${kept
            ? `Delete ${kept} and use npx --include=optional -y mcpsplice`
            : 'Use npm install --include=optional mcpsplice'}, ${build}`;
}

/* The folders where Node looks for a package, as far as they are in this
 * installation: up to the outermost node_modules that we are in, or in our own
 * package. What is above may be anybody's. */
function folders() {
    const [root] = /^.*?[\\/]node_modules(?=[\\/])/.exec(__dirname)
        || [path.dirname(__dirname)];

    return module.paths.filter((folder) =>
        folder === root || folder.startsWith(root + path.sep));
}

/* Is it of our version, or does it not say? */
function is_ours(folder) {
    try {
        return JSON.parse(fs.readFileSync(path.join(folder, 'package.json')))
            .version === version;
    } catch {
        return true;
    }
}

/* The path of the program, or undefined. Node's own search continues in the
 * folders above the installation and in NODE_PATH. That of Yarn's Plug'n'Play
 * does not, and nothing else finds a package there. */
function installed() {
    const name = `@mcpsplice/${platform}`;

    if (process.versions.pnp)
        return require.resolve(`${name}/bin/${file}`);
    return folders().map((folder) => path.join(folder, name))
        .filter(is_ours)
        .map((folder) => path.join(folder, 'bin', file))
        .find((program) => fs.existsSync(program));
}

/* The program, or undefined if the reason was already reported. */
function find() {
    let program;

    try {
        program = installed();
    } catch {
        /* Plug'n'Play has none */
    }
    if (program === undefined)
        return refuse(why_missing());
    if (windows)
        return program;
    try {
        /* execve ends Node with a core file if it fails */
        fs.accessSync(program, fs.constants.X_OK);
    } catch (error) {
        return cannot_run(error);
    }
    return program;
}

function replace_process(program, argv) {
    /* Node ignores these, and the program would inherit that. execve resets
     * signals that are caught to their defaults. */
    for (const signal of ['SIGPIPE', 'SIGXFSZ'])
        process.on(signal, () => {});
    process.execve(program, [program, ...argv]);
}

function stay(program, argv) {
    const { spawn } = require('child_process');
    const parent = process.ppid;
    const terminal = require('tty').isatty(0);
    let child;

    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'])
        process.on(signal, () => {
            if (!terminal || signal !== 'SIGINT')
                child.kill(signal);
        });
    /* A terminal and some hosts signal the whole group. The second signal would
     * end the program at once, so each must come once: without a terminal the
     * program is in a group of its own. */
    child = spawn(program, argv, { stdio: 'inherit', detached: !terminal });
    child.on('error', cannot_run);
    child.on('exit', (code, signal) => {
        process.exitCode = code;
        if (signal === null)
            process.exit();
        process.exitCode = 128 + require('os').constants.signals[signal];
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    });
    /* The program notices that its own parent is gone, and decides whether to
     * end. */
    setInterval(() => process.ppid === parent || process.exit(), PARENT_MS)
        .unref();
}

/* Windows has no execve, though Node has a function of that name there. The
 * program is in the console and in the job of this process: it gets Ctrl-C
 * itself, and ends when this process is ended. With its own console it would
 * open a window. */
function stay_on_windows(program, argv) {
    let child;

    for (const signal of ['SIGINT', 'SIGBREAK', 'SIGHUP'])
        process.on(signal, () => {});
    try {
        child = require('child_process').spawn(program, argv,
            { stdio: 'inherit', windowsHide: true });
    } catch (error) {
        /* an error that Node has no name for, such as a blocked program */
        return cannot_run(error);
    }
    child.on('error', cannot_run);
    child.on('exit', (code) => process.exit(code));
}

const program = find();
const argv = process.argv.slice(2);

if (program !== undefined && windows)
    stay_on_windows(program, argv);
else if (program !== undefined && process.execve)
    replace_process(program, argv);
else if (program !== undefined)
    stay(program, argv);
