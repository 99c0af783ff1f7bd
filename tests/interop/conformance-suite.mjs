/*
 * The official conformance suite, from npm, as a program: what it lists and
 * what it says of each check.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const package_file = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/conformance/package.json');
const program = path.join(path.dirname(package_file), 'dist/index.js');

export const { version } = JSON.parse(readFileSync(package_file));

export function run_suite(args, env = process.env) {
    return new Promise((resolve) => {
        execFile(process.execPath, [program, ...args],
            { env, maxBuffer: 1 << 26 },
            (error, stdout, stderr) => resolve({
                code: error ? error.code : 0,
                stdout,
                output: stdout + stderr,
            }));
    });
}

export async function with_folder(run) {
    const dir = mkdtempSync(path.join(tmpdir(), 'mcpsplice-conformance-'));

    try {
        return await run(dir);
    } finally {
        rmSync(dir, { recursive: true, force: true });
    }
}

export const is_bad = (check) => ['FAILURE', 'WARNING'].includes(check.status);

/* What the suite left in dir: by scenario the folder and the checks. */
export function results(dir) {
    const files = globSync(path.join(dir, '**', 'checks.json'));

    return new Map(files.map((file) => {
        const folder = path.dirname(file);
        const [, name] = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT/.exec(
            path.relative(dir, folder));

        return [name, { folder, checks: JSON.parse(readFileSync(file)) }];
    }));
}
