/*
 * The environment of a program that a test starts. A host hands over little of
 * its own; sanitizers and slow motion (tests/slow) need theirs.
 */
const NAMES = ['ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'LD_PRELOAD',
    'SLOW', 'SLOW_BASE'];

export function child_env(more = {}) {
    const env = { ...more };

    for (const name of NAMES)
        if (process.env[name])
            env[name] = process.env[name];
    return env;
}
