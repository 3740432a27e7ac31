/** What a run of generated mutants is said to come to. */
import { expect, test } from 'vitest';
import { scripts, type Mutant } from './support.ts';

const mutant = (id: number, file: string): Mutant => ({
  id,
  file,
  line: 1,
  text: 'a < b',
  from: '<',
  to: '<=',
  start: 0,
  end: 1,
  kind: 'expression',
});
const NONE = { met: new Set<number>(), failing: new Map(), notAsked: 0 };
const noticed = (...ids: number[]): Map<number, { how: string; by: string }> =>
  new Map(ids.map((id) => [id, { how: 'fails', by: 'a test' }]));

test('some are open, for the run was cut short → no score of their folder, and no aim is met', () => {
  const mutants = [
    mutant(1, 'src/correctable/a.ts'),
    mutant(2, 'src/correctable/a.ts'),
    mutant(3, 'src/transport/b.ts'),
  ];
  const judged = { ...NONE, noticed: noticed(1, 3), undecided: new Set([2]) };
  const { score, folders } = scripts.summary(mutants, judged, new Map());
  expect(score).toBeNull();
  expect(folders.map(({ folder, score: of, met }) => [folder, of, met])).toEqual([
    ['src/correctable', null, false],
    ['src/transport', 1, true],
  ]);
});

test('all are decided → the share of those that are noticed, whatever reason the others have', () => {
  const mutants = [1, 2, 3, 4].map((id) => mutant(id, 'src/transport/b.ts'));
  const judged = { ...NONE, noticed: noticed(1, 2, 3), undecided: new Set<number>() };
  const reasons = scripts.accepted([{ ...mutants[3]!, reason: 'as good' }]);
  const { score, withReason, folders } = scripts.summary(mutants, judged, reasons);
  expect([score, withReason]).toEqual([0.75, 1]);
  expect(folders[0]?.met).toBe(false);
});
