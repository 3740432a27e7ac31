/** Mutants that no test asks about, though a test file fails, ends or is slow while they are on: they are not noticed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { project } from './project.ts';
import type { Judged, Mutant } from './support.ts';
import { quietly, scripts } from './support.ts';

// Each starts vitest, and some several times.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const HEAD = `import { expect, test } from 'vitest';\n`;

const ENDS_ABOVE_3 = `declare const process: { kill(pid: number, signal: string): void; pid: number };
export const most = (a: number): void => { if (a > 3) process.kill(process.pid, 'SIGKILL'); };\n`;
const mostOf = (file: string): string =>
  `${HEAD}import { most } from '../src/${file}';\ntest('most', () => expect(most(2)).toBeUndefined());\n`;

/** Of each what one test below is about, compiled together: that takes longer than all else, as starting vitest does. */
const SOURCES = {
  'often.ts': 'export const atLeast0 = (a: number): number => (a > 0 ? a : 0);\n',
  'once.ts': 'export const half = (a: number): number => a / 2;\n',
  'chained.ts': `export const one = (): number => 1;\nexport const two = (): number => 2;\n`,
  'ends.ts': ENDS_ABOVE_3,
  'ends-again.ts': ENDS_ABOVE_3,
  'waits.ts': 'export const when = (now: boolean, go: () => void): void => { if (now) go(); };\n',
  'slow.ts': 'export const half = (a: number): number => a / 2;\n',
  'asked.ts': 'export const half = (a: number): number => a / 2;\n',
};
/** These are asked about all but the last of them. */
const TESTS = {
  'often.test.ts': `${HEAD}import { atLeast0 } from '../src/often.ts';
test('often', () => { for (let i = 0; i < 300_000; i += 1) if (atLeast0(i) !== i) throw new Error('wrong'); });\n`,
  'once.test.ts': `${HEAD}import { half } from '../src/once.ts';
const key = Symbol.for('seen once');
test('once', () => {
  half(2);
  expect(globalThis[key]).toBeUndefined();
  globalThis[key] = true;
});
test('any time', () => expect(half(0)).toBe(0));\n`,
  'chained.test.ts': `${HEAD}import { one, two } from '../src/chained.ts';
let seen = 0;
test('first', () => { seen = one(); expect(seen).toBe(1); });
test('second', () => { two(); expect(seen).toBe(1); });\n`,
  'ends.test.ts': mostOf('ends.ts'),
  'ends-again.test.ts': `${mostOf('ends-again.ts')}const key = Symbol.for('seen again');
test('again', () => { most(globalThis[key] ? 7 : 1); globalThis[key] = true; });\n`,
  'ends-not.test.ts': mostOf('ends-again.ts'),
  'waits.test.ts': `${HEAD}import { when } from '../src/waits.ts';
test('waits', () => new Promise((resolve) => when(true, resolve)));
test('needs long', () => new Promise((resolve) => when(true, () => setTimeout(resolve, 1_600))));\n`,
  'slow.test.ts': `${HEAD}import { half } from '../src/slow.ts';
test('slow', async () => { await new Promise((resolve) => setTimeout(resolve, 400)); expect(half(4)).toBe(2); });\n`,
  'quick.test.ts': `${HEAD}import { half } from '../src/slow.ts';
test('quick', () => expect(half(0.5)).not.toBe(1));\n`,
};
const ASKS = `${HEAD}import { half } from '../src/asked.ts';\ntest('half', () => expect(half(4)).toBe(2));\n`;
const BLIND = ASKS.replace('.toBe(2)', '.toBeGreaterThan(-1)');
/** These about the last, by runs of their own. */
const ABOUT_ASKED = {
  'asks.test.ts': ASKS,
  'blind-1.test.ts': BLIND,
  'blind-2.test.ts': BLIND,
  'blind-3.test.ts': BLIND,
};
/** In sources that have others, these alone. */
const CONDITIONS: Record<string, string> = {
  'src/often.ts': 'a > 0',
  'src/ends.ts': 'a > 3',
  'src/ends-again.ts': 'a > 3',
  'src/waits.ts': 'now',
};

let copy: string;
let all: readonly Mutant[];
let removed = (): void => {};
afterAll(() => removed());
beforeAll(async () => {
  copy = project(SOURCES, { ...TESTS, ...ABOUT_ASKED }, (remove) => (removed = remove));
  const files = Object.keys(SOURCES).map((name) => `src/${name}`);
  const mutants = await scripts.checkedMutants(copy, files, { ...quietly, seed: 1 });
  all = mutants.filter(({ file, from }) => from === (CONDITIONS[file] ?? from));
  for (const file of files) {
    const path = join(copy, file);
    const own = all.filter((mutant) => mutant.file === file);
    writeFileSync(path, scripts.instrument(readFileSync(path, 'utf8'), own, '../scripts/mutation/switch.mjs'));
  }
});

interface Options {
  readonly name?: string;
  readonly idleAfter?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (at: { filesLeft: number }) => void;
}

/** Judges mutants by these tests. */
async function judged(
  mutants: readonly Mutant[],
  tests: readonly string[],
  options: Options = {},
): Promise<Judged & { mutants: readonly Mutant[] }> {
  const asked = tests.map((name) => `test/${name}`);
  const ids = mutants.map(({ id }) => id);
  return { ...(await scripts.judge({ ...quietly, ...options, copy, ids, tests: asked, askAtMost: 5 })), mutants };
}

const isAsked = ({ file }: Mutant): boolean => file === 'src/asked.ts';

let together: ReturnType<typeof judged> | undefined;

/** What came of one of the sources, and all that is told of tests. */
async function of(
  name: keyof typeof SOURCES,
): Promise<Judged & { mutants: readonly Mutant[]; killed: readonly string[] }> {
  together ??= judged(
    all.filter((mutant) => !isAsked(mutant)),
    Object.keys(TESTS),
  );
  const result = await together;
  const mutants = result.mutants.filter(({ file }) => file === `src/${name}`);
  return { ...result, mutants, killed: killedOf({ ...result, mutants }) };
}

function killedOf({ mutants, noticed }: Judged & { mutants: readonly Mutant[] }): readonly string[] {
  return mutants.flatMap(({ id, from, to }) => {
    const by = noticed.get(id);
    return by === undefined ? [] : [`${from} → ${to}: ${by.how}`];
  });
}

test('reached very often by a test that does not tell it from the source → not noticed', async () => {
  const { killed, mutants } = await of('often.ts');
  expect(mutants.map(({ to }) => to)).toEqual(['false', 'true', 'a >= 0']);
  expect(killed).toEqual(['a > 0 → false: a test fails']);
});

test('a test that cannot be run twice → told as failing, and asked nothing', async () => {
  const { killed, mutants, failing, met } = await of('once.ts');
  expect(killed).toEqual([]);
  expect(mutants.filter(({ id }) => met.has(id)).length).toBeGreaterThan(0);
  expect(failing.get('test/once.test.ts')).toEqual(['once (a second time)']);
});

test('a test that needs the one before → what it meets alone is not taken for noticed', async () => {
  const { killed, failing } = await of('chained.ts');
  expect(killed).toEqual(['1 → (1 + 1): a test fails']);
  expect(failing.get('test/chained.test.ts')).toEqual([expect.stringMatching(/^second \(/)]);
});

test('a process that ends → the mutant is noticed only where it does not end without it', async () => {
  expect((await of('ends.ts')).killed).toEqual(['a > 3 → true: crashes']);
  const { mutants, failing, noticed } = await of('ends-again.ts');
  expect(failing.get('test/ends-again.test.ts')).toEqual(['the file crashes (a second time)']);
  expect(noticed.get(mutants.find(({ to }) => to === 'true')?.id ?? 0)?.by).toBe('test/ends-not.test.ts');
});

test('a test that waits for ever → too slow; one that needs long without a mutant may need as long with it', async () => {
  expect((await of('waits.ts')).killed).toEqual(['now → false: too slow']);
});

test('a slow test, and a quick one that notices too → only what is left is asked of the slow one', async () => {
  const { mutants, noticed } = await of('slow.ts');
  const by = mutants.map(({ id, to }) => [to, noticed.get(id)?.by]);
  expect(Object.fromEntries(by)).toEqual({ '0': 'slow', 'a * 2': 'quick', '(2 + 1)': 'slow' });
});

test('a run that is cut short → what it has not asked about is undecided, and no score counts it', async () => {
  const stop = new AbortController();
  const onProgress = ({ filesLeft }: { filesLeft: number }): void => {
    if (filesLeft === 1) stop.abort();
  };
  const cut = { name: 'cut', signal: stop.signal, onProgress };
  const result = await judged(all.filter(isAsked), ['blind-1.test.ts', 'asks.test.ts'], cut);
  expect(result.undecided.size).toBe(3);
  const { score, mutants, survivors, undecided } = scripts.summary(result.mutants, result, new Map());
  expect([score, mutants, survivors]).toEqual([null, 0, []]);
  expect(undecided).toHaveLength(result.mutants.length);
});

test('test files in a row that say nothing new → the rest is not asked', async () => {
  const tests = ['blind-1.test.ts', 'blind-2.test.ts', 'blind-3.test.ts', 'asks.test.ts'];
  const result = await judged(all.filter(isAsked), tests, { name: 'idle', idleAfter: 2 });
  expect(result.notAsked).toBe(1);
  expect([[...result.noticed.keys()], [...result.undecided]]).toEqual([[], []]);
});
