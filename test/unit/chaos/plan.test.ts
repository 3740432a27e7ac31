/** The plan of a round is a function of its seed, and spares what it has to spare. */
import { expect, test } from 'vitest';
import { createPlan, FAULT_KINDS, type FaultKind, type Plan } from '../../chaos/faults/plan.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const ALL = new Set(Object.keys(FAULT_KINDS) as FaultKind[]);

function plan(seed: number, kinds: ReadonlySet<FaultKind> = ALL): Plan {
  return createPlan({ seed, lastsMs: 30_000, sites: SITES, leaders: ['ireland'], kinds });
}

test('one seed has one plan', () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test('some plan has each kind of fault, and none is drawn that was left out', () => {
  const plans = Array.from({ length: 60 }, (_, seed) => plan(seed));
  const drawn = new Set(
    plans.flatMap((lanes) => Object.values(lanes).flat()).map(({ kind }) => kind),
  );
  expect(drawn).toEqual(ALL);
  expect(plan(1, new Set(['kill'])).network).toEqual([]);
});

test('no node is away beside another one, and the leader keeps its directory', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const { nodes } = plan(seed);
    expect(
      nodes.reduce((sum, { pauseMs, lastsMs }) => sum + pauseMs + lastsMs, 0),
    ).toBeLessThanOrEqual(30_000);
    const directories = nodes.filter(({ kind }) =>
      ['old-copy', 'lost-directory', 'copied-directory'].includes(kind),
    );
    expect(directories.every(({ site }) => site !== 'ireland')).toBe(true);
  }
});
