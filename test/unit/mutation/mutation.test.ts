/** `npm run mutate -- [PATH…]`: what it asks, what it refuses, what it accepts. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scripts } from './support.ts';

const run = promisify(execFile);

test('an instrumented file → has its lines where they were, and all its mutants', () => {
  const text = 'export const f = (a: number) =>\n  a > 1;\n';
  const mutant = { id: 4, file: 'a', line: 2, text: '', from: 'a > 1', to: 'a >= 1', start: 34, end: 39 } as const;
  const inner = { id: 5, file: 'a', line: 2, text: '', from: '1', to: '(1 + 1)', start: 38, end: 39 } as const;
  const mutants = [mutant, inner].map((each) => ({ ...each, kind: 'expression' as const }));
  expect(scripts.instrument(text, mutants, './switch.mjs')).toBe(
    'import { isMutant as $m } from "./switch.mjs"; export const f = (a: number) =>\n' +
      '  ($m(4) ? (a >= 1) : (a > ($m(5) ? ((1 + 1)) : (1))));\n',
  );
});

test('test files → those that load what is mutated, the nearest first', () => {
  const line = 'test/unit/transport/connection.test.ts';
  const cache = 'test/unit/bindings/cache/cache.test.ts';
  const levels = 'test/unit/correctable/levels.test.ts';
  const tests = [line, cache, levels];
  expect(scripts.testFilesFor('.', tests, new Set(['src/correctable/ladder.ts']))).toEqual([levels, cache]);
  expect(scripts.testFilesFor('.', tests, new Set(['src/transport/line/line.ts']))).toEqual([line]);
  // Its helpers load the whole backend, which it is not about.
  const policies = 'test/unit/policies/retries.test.ts';
  const claims = 'test/unit/bindings/zookeeper/queue/claims.test.ts';
  const client = new Set(['src/correctable/made/client.ts']);
  expect(scripts.testFilesFor('.', [claims, policies], client)).toEqual([policies, claims]);
});

test('what is shuffled → has each once', () => {
  const all = Array.from({ length: 50 }, (_, at) => at);
  expect(scripts.shuffled(all, 3)).not.toEqual(all);
  expect(scripts.shuffled(all, 3).toSorted((a, b) => a - b)).toEqual(all);
});

test('wrong options → exit code 2, the reason and the help', async () => {
  const wrong = [
    [['--sample', '0'], "--sample takes a positive whole number, not '0'"],
    [['--only', 'x'], '--only is for --listed'],
    [['--listed', 'src'], '--listed takes no path'],
    [['--listed', '--keep', 'x'], '--keep is for generated mutants'],
    [['--jobs', '0'], "--jobs takes a positive whole number, not '0'"],
    [['--bogus'], "Unknown option '--bogus'"],
    [['src/index.ts', 'src/nothere.ts'], 'no source file of src is at src/nothere.ts'],
  ] as const;
  const told = await Promise.allSettled(wrong.map(([args]) => run('node', ['scripts/mutate.mjs', ...args])));
  for (const [at, [, why]] of wrong.entries()) {
    const stderr = expect.stringMatching(new RegExp(`${why}[^]*npm run mutate`)) as string;
    expect(told[at]).toMatchObject({ status: 'rejected', reason: { code: 2, stderr } });
  }
});

test('nothing to break, or nobody to ask → says so', async () => {
  const asked = { sample: undefined, seed: 1, since: undefined, projects: [], tests: '', json: true };
  const limits = { askAtMost: 1, idleAfter: 1, jobs: 1, keep: undefined };
  for (const [given, why] of [
    [{ paths: ['src/correctable', 'test/unit'] }, 'no source file of src is at test/unit'],
    [{ paths: ['src/index.ts'] }, 'there is nothing to break in src/index.ts'],
    [{ paths: ['src/correctable/ladder.ts'], tests: 'nothere' }, "has 'nothere' in its path"],
  ] as const)
    await expect(scripts.runGenerated({ ...asked, ...limits, ...given })).rejects.toThrow(why);
});

test('accepted survivors → each is a mutant of the source, with a reason', () => {
  const files = [...new Set(scripts.ACCEPTED.map(({ file }) => file))];
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  const found = files.length === 0 ? [] : scripts.allMutants(process.cwd(), files);
  const keys = new Set(found.map(({ file, text, from, to }) => JSON.stringify([file, text, from, to])));
  const gone = scripts.ACCEPTED.filter(({ file, text, from, to }) => !keys.has(JSON.stringify([file, text, from, to])));
  expect(gone).toEqual([]);
  for (const { reason, file, text } of scripts.ACCEPTED) {
    expect(reason).toMatch(/\w+ \w+/);
    expect(readFileSync(file, 'utf8')).toContain(text);
  }
});
