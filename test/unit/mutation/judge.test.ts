/** A project whose test notices some mutants and misses one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { project } from './project.ts';
import { quietly, scripts } from './support.ts';

const SOURCE = `export function price(many: number): number {
  if (many > 10) return many * 2;
  return many * 3;
}

export function until(end: number): number {
  let at = 0;
  while (at < end) {
    at += 1;
  }
  return at;
}

export const never = (): boolean => price(1) === 4;
`;

const TEST = `import { expect, test } from 'vitest';
import { price, until } from '../src/a.ts';

test('few', () => expect(price(2)).toBe(6));
test('many', () => expect(price(20)).toBe(40));
test('until', () => expect(until(3)).toBe(3));
test('fails as it is', () => expect(price(1)).toBe(0));
`;

test('a test that misses a boundary → it survives; what is noticed, hangs or is never met is told so', async () => {
  const copy = project({ 'a.ts': SOURCE }, TEST);
  const mutants = await scripts.checkedMutants(copy, ['src/a.ts'], { ...quietly, seed: 1 });
  const path = join(copy, 'src/a.ts');
  writeFileSync(path, scripts.instrument(readFileSync(path, 'utf8'), mutants, '../scripts/mutation/switch.mjs'));
  const judged = await scripts.judge({
    ...quietly,
    copy,
    ids: mutants.map(({ id }) => id),
    tests: ['test/a.test.ts'],
    askAtMost: 5,
  });
  const { survivors, score, withReason } = scripts.summary(
    mutants,
    judged,
    scripts.accepted([
      { file: 'src/a.ts', text: 'if (many > 10) return many * 2;', from: '10', to: '(10 + 1)', reason: 'as good' },
    ]),
  );

  expect(survivors.map(({ line, from, to, isMet, reason }) => ({ line, from, to, isMet, reason }))).toEqual([
    { line: 2, from: 'many > 10', to: 'many >= 10', isMet: true, reason: undefined },
    { line: 2, from: '10', to: '(10 + 1)', isMet: true, reason: 'as good' },
    { line: 7, from: '0', to: '1', isMet: true, reason: undefined },
    { line: 14, from: 'price(1) === 4', to: 'price(1) !== 4', isMet: false, reason: undefined },
    { line: 14, from: '1', to: '(1 + 1)', isMet: false, reason: undefined },
    { line: 14, from: '4', to: '(4 + 1)', isMet: false, reason: undefined },
  ]);
  expect(withReason).toBe(1);
  expect(score).toBeCloseTo((mutants.length - 6) / mutants.length, 3);
  expect(judged.failing.get('test/a.test.ts')).toEqual(['fails as it is']);

  const removed = mutants.find(({ from }) => from === 'at += 1;');
  expect(judged.noticed.get(removed?.id ?? 0)?.by).toBe('until');
});
