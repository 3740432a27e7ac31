/** Pushes and pops in flight over a queue: the constant-cost form against the obvious one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Effect } from '../../../../../src/server/records/effect.ts';
import { PendingQueue, type QueueView } from '../../../../../src/server/service/fields/pending-queue.ts';

const address = { table: 't', key: 'k', field: 'f' };
const push = (value: number): Effect => ({ ...address, action: 'push', value });
const pop: Effect = { ...address, action: 'pop' };

const toCachedView = (items: readonly number[]): QueueView => ({ size: items.length, at: (index) => items[index] });
const getTupleTypes = (view: QueueView): unknown[] => Array.from({ length: view.size }, (_, index) => view.at(index));

/** Applies the effects one by one to a copy. */
function simulate(committed: readonly number[], effects: readonly Effect[]): number[] {
  const items = [...committed];
  for (const effect of effects) {
    if (effect.action === 'push') items.push(effect.value as number);
    else items.shift();
  }
  return items;
}

interface Model {
  committed: number[];
  pending: { owner: number; effects: Effect[] }[];
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), pops: fc.array(fc.boolean(), { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit first' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), index: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('foreign' as const), isPop: fc.boolean() }) },
);

test('pending queue: any additions, ends and foreign changes → what one by one would give', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(100), { maxLength: 5 }),
      fc.array(step, { maxLength: 40, size: 'max' }),
      (committed, steps) => {
        const model: Model = { committed: [...committed], pending: [] };
        const queue = new PendingQueue();
        let next = 1000;
        for (const item of steps) {
          if (item.kind === 'add') {
            const owner = next++;
            const effects = item.pops.map((isPop) => (isPop ? pop : push(next++)));
            for (const effect of effects) {
              const before = simulate(
                model.committed,
                model.pending.flatMap((pending) => pending.effects),
              );
              const result = queue.append(owner, effect, toCachedView(model.committed));
              if (effect === pop) {
                const expected =
                  before.length === 0
                    ? { found: false, remaining: 0 }
                    : { found: true, item: before[0], remaining: before.length - 1 };
                expect(result).toEqual(expected);
              }
              const last = model.pending.at(-1);
              if (last?.owner === owner) last.effects.push(effect);
              else model.pending.push({ owner, effects: [effect] });
            }
          } else if (item.kind === 'commit first') {
            const first = model.pending.shift();
            if (first === undefined) continue;
            queue.remove(first.owner);
            model.committed = simulate(model.committed, first.effects);
          } else if (item.kind === 'drop') {
            const [dropped] = model.pending.splice(item.index, 1);
            if (dropped !== undefined) queue.remove(dropped.owner);
          } else {
            model.committed = simulate(model.committed, [item.isPop ? pop : push(next++)]);
          }
          const expected = simulate(
            model.committed,
            model.pending.flatMap((pending) => pending.effects),
          );
          expect(getTupleTypes(queue.applyTo(toCachedView(model.committed)))).toEqual(expected);
        }
      },
    ),
  );
});
