/**
 * Effects in flight of which some end in the middle: what is shown, and at what cost
 * (docs/spec/redblue.md, RB-T3).
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceMethods } from '../../../../support/replace-methods.ts';
import type { Effect } from '../../../../../src/server/service/records/effect.ts';
import type { OwnedEffects } from '../../../../../src/server/service/fields/owned-effects.ts';
import type { FieldKindName } from '../../../../../src/server/service/fields/field.ts';
import { FIELD_KINDS } from '../../../../../src/server/service/fields/field-kinds.ts';
import {
  PendingQueue,
  type QueueView,
} from '../../../../../src/server/service/fields/pending-queue.ts';

interface Case {
  readonly base: unknown;
  readonly changes: readonly (readonly [action: string, value: unknown])[];
}

const queued: QueueView = { size: 2, at: (index) => ['x', 'y'][index] };
// Rows with a bounded field are not removed.
const cases: Record<Exclude<FieldKindName, 'bounded'>, Case> = {
  counter: {
    base: 10,
    changes: [
      ['add', 1],
      ['add', -2],
    ],
  },
  register: {
    base: 'a',
    changes: [
      ['write', 'b'],
      ['write', 'c'],
    ],
  },
  cell: {
    base: 'a',
    changes: [
      ['assign', 'b'],
      ['assign', 'c'],
    ],
  },
  log: {
    base: ['a'],
    changes: [
      ['append', 'b'],
      ['append', 'c'],
    ],
  },
  set: {
    base: new Set(['a']),
    changes: [
      ['add', 'b'],
      ['remove', 'a'],
      ['remove', 'b'],
    ],
  },
  stock: {
    base: 3,
    changes: [
      ['add', 2],
      ['take', { amount: 2, atLeast: 0 }],
    ],
  },
  queue: {
    base: queued,
    changes: [
      ['push', 'z'],
      ['pop', undefined],
      ['pop', undefined],
    ],
  },
};

/** An owner, and what it has laid on: changes by their number, or the removal of the row (-1). */
type Laid = readonly [owner: number, changes: readonly number[]];

function lay(
  pending: OwnedEffects,
  [owner, changes]: Laid,
  { base, changes: known }: Case,
): unknown[] {
  return changes.map((at) => {
    const [action, value] = known[at % known.length] ?? [];
    if (at < 0 || action === undefined) return pending.clear(owner);
    return pending.append(
      owner,
      { table: 't', key: 'k', field: 'f', action, value } as Effect,
      base,
    );
  });
}

const shownBy = (pending: OwnedEffects, base: unknown): unknown => {
  const shown = pending.applyTo(base);
  if (base !== queued) return shown;
  const { size, at } = shown as QueueView;
  return Array.from({ length: size }, (_, index) => at(index));
};

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      lays: fc.array(fc.integer({ min: -1, max: 5 }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ drops: fc.nat(6), isLaidAgain: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ looks: fc.constant(true) }) },
);

describe.each(Object.entries(cases))('%s', (name, item) => {
  test('any that come, end and come again, looked at now and then → as if only those were there that are', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const kind = FIELD_KINDS[name as FieldKindName];
        const pending = kind.pending();
        let model: Laid[] = [];
        let owners = 0;
        /** The same effects, made for the first time and never removed. */
        const plain = (): OwnedEffects => {
          const made = kind.pending();
          for (const overlaid of model) lay(made, overlaid, item);
          return made;
        };
        const begin = (overlaid: Laid): void => {
          expect(lay(pending, overlaid, item)).toEqual(lay(plain(), overlaid, item));
          model.push(overlaid);
        };
        for (const next of steps) {
          if ('lays' in next) begin([(owners += 1), next.lays]);
          else if ('looks' in next)
            expect(shownBy(pending, item.base)).toEqual(shownBy(plain(), item.base));
          else {
            const dropped = model[next.drops];
            if (dropped === undefined) continue;
            model = model.filter((overlaid) => overlaid !== dropped);
            pending.remove(dropped[0]);
            expect(pending.isEmpty).toBe(model.length === 0);
            if (next.isLaidAgain) begin(dropped);
          }
        }
        expect(shownBy(pending, item.base)).toEqual(shownBy(plain(), item.base));
      }),
    );
  });
});

describe.each(['from the first', 'from the last'])('thousands give up, %s on', (how) => {
  const inOrder = (count: number): number[] => {
    const all = Array.from({ length: count }, (_, at) => at + 1);
    return how === 'from the first' ? all : all.toReversed();
  };

  test('of one queue, behind one that stays → each is passed a few times', () => {
    const count = 4000;
    let visits = 0;
    // Counts how much of the queue is looked through.
    const WatchedQueue = replaceMethods(PendingQueue, (original) => ({
      filter: (isWanted) =>
        original.filter((owned) => {
          visits += 1;
          return isWanted(owned);
        }),
    }));
    const pending = new WatchedQueue();
    const pop: Effect = { table: 't', key: 'k', field: 'f', action: 'pop' };
    for (let owner = 0; owner <= count; owner += 1) pending.append(owner, pop, queued);
    for (const owner of inOrder(count)) pending.remove(owner);
    expect(visits).toBeLessThan(4 * count);
    pending.remove(0);
    expect(pending.isEmpty).toBe(true);
  });
});
