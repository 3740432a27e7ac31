/** Judges side by side, and answers that are not asked for again. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { project } from './project.ts';
import type { Entry, Judged, Mutant } from './support.ts';
import { quietly, scripts } from './support.ts';

// Starts vitest several times.
vi.setConfig({ testTimeout: 240_000 });

const SOURCE = `export const price = (many: number): number => (many > 10 ? many * 2 : many * 3);\n`;
const FEW = `import { expect, test } from 'vitest';
import { price } from '../src/a.ts';
test('few', () => expect(price(2)).toBe(6));\n`;
const MANY = FEW.replace("'few'", "'many'").replace('price(2)).toBe(6)', 'price(20)).toBe(40)');

test('two judges that keep their answers → all are asked about once; a test that has changed is asked again', async () => {
  const copy = project({ 'a.ts': SOURCE }, { 'a.test.ts': FEW, 'b.test.ts': MANY });
  const mutants = await scripts.checkedMutants(copy, ['src/a.ts'], { ...quietly, seed: 1 });
  const source = join(copy, 'src/a.ts');
  const tests = ['test/a.test.ts', 'test/b.test.ts'];
  const path = join(copy, 'kept.jsonl');
  const asked = { ...quietly, copy, tests, ids: mutants.map(({ id }) => id), askAtMost: 5 };
  const judged = async (jobs: number): Promise<{ result: Judged; entries: readonly Entry[] }> => {
    writeFileSync(source, SOURCE);
    const states = scripts.statesOf(copy, tests);
    writeFileSync(source, scripts.instrument(SOURCE, mutants, '../scripts/mutation/switch.mjs'));
    const keepFor = scripts.keptIn(path, { mutants, askAtMost: 5, states });
    const entries: Entry[] = [];
    const noting: typeof keepFor = (ids) => {
      const { known, note } = keepFor(ids);
      return { known, note: (entry) => (entries.push(entry), note(entry)) };
    };
    return { result: await scripts.judgeSideBySide(jobs, { ...asked, keepFor: noting }), entries };
  };

  const { result, entries } = await judged(2);
  expect([...result.met].toSorted((a, b) => a - b)).toEqual(asked.ids);
  const missed = mutants.filter(({ id }) => !result.noticed.has(id));
  expect(missed.map(({ from, to }) => `${from} → ${to}`)).toEqual(['many > 10 → many >= 10', '10 → (10 + 1)']);
  expect(entries.length).toBeGreaterThan(mutants.length);

  const again = await judged(2);
  expect(again.entries).toEqual([]);
  expect(sorted(again.result.noticed)).toEqual(sorted(result.noticed));
  expect(again.result.met).toEqual(result.met);

  writeFileSync(join(copy, 'test/b.test.ts'), MANY.replace('expect(price(20)).toBe(40)', 'void price(20)'));
  const changed = await judged(2);
  expect(changed.entries.every(({ file }) => file === 'test/b.test.ts')).toBe(true);
  expect(changed.result.noticed.size).toBeLessThan(result.noticed.size);
});

const sorted = (noticed: Judged['noticed']): unknown => [...noticed].toSorted(([a], [b]) => a - b);

test('kept answers → those of the same test, about mutants of this run; that a file is done, if it was about all', () => {
  const mutants = [1, 2, 3].map(
    (id) => ({ id, file: 'src/a.ts', start: id * 10, end: id * 10 + 1, to: '0' }) as Mutant,
  );
  const path = join(project({}), 'kept.jsonl');
  const states = new Map([['a', 'now']]);
  const keepFor = scripts.keptIn(path, { mutants, askAtMost: 5, states });
  const { known, note } = keepFor([1, 2]);
  expect(known()).toEqual([]);
  const entries: Entry[] = [
    { file: 'a', met: [1, 3] },
    { file: 'a', noticed: 1, how: 'hangs' },
    { file: 'a', missed: 2 },
    { file: 'a', done: true },
  ];
  for (const entry of entries) note(entry);
  note({ file: 'a', done: true, failing: ['the file'] });
  appendFileSync(path, '{"file":"a","missed":{}');

  const of = (ids: readonly number[], about: object = {}): readonly Entry[] =>
    scripts
      .keptIn(path, { mutants, askAtMost: 5, states, ...about })(ids)
      .known();
  expect(of([1, 2])).toEqual(entries);
  expect(of([2, 3])).toEqual([entries[0], entries[2]]);
  expect(of([1, 2], { askAtMost: 6 })).toEqual(entries.slice(0, 3));
  expect(of([1, 2], { mutants: mutants.slice(1) })).toEqual([{ file: 'a', met: [3] }, entries[2]]);
  expect(of([1, 2], { states: new Map([['a', 'later']]) })).toEqual([]);

  scripts.keptIn(path, { mutants, askAtMost: 5, states })([1, 2]).note({ file: 'a', missed: 1 });
  expect(of([1])).toContainEqual({ file: 'a', missed: 1 });
});

test('the state of a test file → another one where something that it loads is another', () => {
  const root = project({ 'a.ts': SOURCE }, { 'a.test.ts': FEW, 'b.test.ts': "import './c.ts';", 'c.ts': '' });
  const states = (): readonly unknown[] => {
    const all = scripts.statesOf(root, ['test/a.test.ts', 'test/b.test.ts']);
    return [all.get('test/a.test.ts'), all.get('test/b.test.ts')];
  };
  const [a, b] = states();
  expect(states()).toEqual([a, b]);
  writeFileSync(join(root, 'src/a.ts'), `${SOURCE}\n`);
  expect(states()).toEqual([expect.not.stringMatching(String(a)), b]);
  const [later] = states();
  writeFileSync(join(root, 'test/c.ts'), '1;');
  expect(states()).toEqual([later, expect.not.stringMatching(String(b))]);
});
