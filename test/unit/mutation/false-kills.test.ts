/** Mutants that no test asks about, though a test file fails, ends or is slow while they are on: they are not noticed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { project } from './project.ts';
import type { Judged, Mutant } from './support.ts';
import { quietly, scripts } from './support.ts';

// Each starts vitest several times.
vi.setConfig({ testTimeout: 240_000 });

const HEAD = `import { expect, test } from 'vitest';\n`;

interface Options {
  readonly idleAfter?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (at: { filesLeft: number }) => void;
}

/** Judges all mutants of the source `a.ts`, or those of them that are chosen, by these tests. */
async function judged(
  source: string,
  tests: Record<string, string>,
  choose: (mutant: Mutant) => boolean = () => true,
  options: Options = {},
): Promise<Judged & { mutants: readonly Mutant[]; killed: readonly string[] }> {
  const copy = project({ 'a.ts': source }, tests);
  const found = await scripts.checkedMutants(copy, ['src/a.ts'], { ...quietly, seed: 1 });
  const mutants = found.filter(choose);
  const path = join(copy, 'src/a.ts');
  writeFileSync(path, scripts.instrument(readFileSync(path, 'utf8'), mutants, '../scripts/mutation/switch.mjs'));
  const asked = Object.keys(tests).map((name) => `test/${name}`);
  const ids = mutants.map(({ id }) => id);
  const result = await scripts.judge({ ...quietly, ...options, copy, ids, tests: asked, askAtMost: 5 });
  const killed = mutants.flatMap(({ id, from, to }) => {
    const by = result.noticed.get(id);
    return by === undefined ? [] : [`${from} → ${to}: ${by.how}`];
  });
  return { ...result, mutants, killed };
}

test('reached very often by a test that does not tell it from the source → not noticed', async () => {
  const source = 'export const atLeast0 = (a: number): number => (a > 0 ? a : 0);\n';
  const often = `${HEAD}import { atLeast0 } from '../src/a.ts';
test('often', () => { for (let i = 0; i < 300_000; i += 1) if (atLeast0(i) !== i) throw new Error('wrong'); });\n`;
  const { killed, mutants } = await judged(source, { 'a.test.ts': often }, ({ from }) => from === 'a > 0');
  expect(mutants.map(({ to }) => to)).toEqual(['false', 'true', 'a >= 0']);
  expect(killed).toEqual(['a > 0 → false: a test fails']);
});

test('a test that cannot be run twice → told as failing, and asked nothing', async () => {
  const source = 'export const half = (a: number): number => a / 2;\n';
  const once = `${HEAD}import { half } from '../src/a.ts';
const key = Symbol.for('seen');
test('once', () => {
  half(2);
  expect(globalThis[key]).toBeUndefined();
  globalThis[key] = true;
});
test('any time', () => expect(half(0)).toBe(0));\n`;
  const { killed, failing, met } = await judged(source, { 'a.test.ts': once });
  expect(killed).toEqual([]);
  expect(met.size).toBeGreaterThan(0);
  expect(failing.get('test/a.test.ts')).toEqual(['once (a second time)']);
});

test('a test that needs the one before → what it meets alone is not taken for noticed', async () => {
  const source = `export const one = (): number => 1;\nexport const two = (): number => 2;\n`;
  const chained = `${HEAD}import { one, two } from '../src/a.ts';
let seen = 0;
test('first', () => { seen = one(); expect(seen).toBe(1); });
test('second', () => { two(); expect(seen).toBe(1); });\n`;
  const { killed, failing } = await judged(source, { 'a.test.ts': chained });
  expect(killed).toEqual(['1 → (1 + 1): a test fails']);
  expect(failing.get('test/a.test.ts')).toEqual([expect.stringMatching(/^second \(/)]);
});

test('a process that ends → the mutant is noticed only where it does not end without it', async () => {
  const source = `declare const process: { kill(pid: number, signal: string): void; pid: number };
export const most = (a: number): void => { if (a > 3) process.kill(process.pid, 'SIGKILL'); };\n`;
  const dies = `${HEAD}import { most } from '../src/a.ts';\ntest('most', () => expect(most(2)).toBeUndefined());\n`;
  const isCondition = ({ from }: Mutant): boolean => from === 'a > 3';
  const { killed } = await judged(source, { 'a.test.ts': dies }, isCondition);
  expect(killed).toEqual(['a > 3 → true: crashes']);

  const again = `${dies}const key = Symbol.for('seen');
test('again', () => { most(globalThis[key] ? 7 : 1); globalThis[key] = true; });\n`;
  const other = await judged(source, { 'a.test.ts': again, 'b.test.ts': dies }, isCondition);
  expect(other.failing.get('test/a.test.ts')).toEqual(['the file crashes (a second time)']);
  expect(other.noticed.get(other.mutants.find(({ to }) => to === 'true')?.id ?? 0)?.by).toBe('test/b.test.ts');
});

test('a test that waits for ever → too slow; one that needs long without a mutant may need as long with it', async () => {
  const source = 'export const when = (now: boolean, go: () => void): void => { if (now) go(); };\n';
  const waits = `${HEAD}import { when } from '../src/a.ts';
test('waits', () => new Promise((resolve) => when(true, resolve)));
test('needs long', () => new Promise((resolve) => when(true, () => setTimeout(resolve, 1_600))));\n`;
  const { killed } = await judged(source, { 'a.test.ts': waits }, ({ from }) => from === 'now');
  expect(killed).toEqual(['now → false: too slow']);
});

test('a slow test, and a quick one that notices too → only what is left is asked of the slow one', async () => {
  const source = 'export const half = (a: number): number => a / 2;\n';
  const slow = `${HEAD}import { half } from '../src/a.ts';
test('slow', async () => { await new Promise((resolve) => setTimeout(resolve, 400)); expect(half(4)).toBe(2); });\n`;
  const quick = `${HEAD}import { half } from '../src/a.ts';\ntest('quick', () => expect(half(0.5)).not.toBe(1));\n`;
  const result = await judged(source, { 'a.test.ts': slow, 'b.test.ts': quick });
  const by = result.mutants.map(({ id, to }) => [to, result.noticed.get(id)?.by]);
  expect(Object.fromEntries(by)).toEqual({ '0': 'slow', 'a * 2': 'quick', '(2 + 1)': 'slow' });
});

test('a run that is cut short → what it has not asked about is undecided, and no score counts it', async () => {
  const source = 'export const half = (a: number): number => a / 2;\n';
  const asks = `${HEAD}import { half } from '../src/a.ts';\ntest('half', () => expect(half(4)).toBe(2));\n`;
  const blind = `${HEAD}import { half } from '../src/a.ts';\ntest('half', () => void half(4));\n`;
  const stop = new AbortController();
  const onProgress = ({ filesLeft }: { filesLeft: number }): void => {
    if (filesLeft === 1) stop.abort();
  };
  const cut = { signal: stop.signal, onProgress };
  const result = await judged(source, { 'a.test.ts': blind, 'b.test.ts': asks }, undefined, cut);
  expect(result.undecided.size).toBe(result.mutants.length);
  const { score, mutants, survivors, undecided } = scripts.summary(result.mutants, result, new Map());
  expect([score, mutants, survivors]).toEqual([null, 0, []]);
  expect(undecided).toHaveLength(result.mutants.length);
});

test('test files in a row that say nothing new → the rest is not asked', async () => {
  const source = 'export const half = (a: number): number => a / 2;\n';
  const asks = `${HEAD}import { half } from '../src/a.ts';\ntest('half', () => expect(half(4)).toBe(2));\n`;
  const blind = asks.replace('.toBe(2)', '.toBeGreaterThan(-1)');
  const tests = { 'a.test.ts': blind, 'b.test.ts': blind, 'c.test.ts': blind, 'd.test.ts': asks };
  const result = await judged(source, tests, undefined, { idleAfter: 2 });
  expect(result.notAsked).toBe(1);
  expect([result.killed, [...result.undecided]]).toEqual([[], []]);
});
