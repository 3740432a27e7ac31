/**
 * Sets in their order: the order does not depend on how they were made, and no read sorts them
 * again.
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Effect, Stamp } from '../../../../../src/server/service/records/effect.ts';
import type { FieldState } from '../../../../../src/server/service/fields/field.ts';
import type { OwnedEffects } from '../../../../../src/server/service/fields/owned-effects.ts';
import { FIELD_KINDS } from '../../../../../src/server/service/fields/field-kinds.ts';
import { compareScalars } from '../../../../../src/server/service/records/read-range.ts';
import type { Scalar } from '../../../../../src/server/service/records/read-range.ts';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { siteAt } from '../../../../support/origins.ts';

const effectOf = (action: string, value: Scalar): Effect => ({
  table: 't',
  key: 'k',
  field: 'f',
  action,
  value,
});
const inOrder = (elements: Iterable<Scalar>): Scalar[] => [...elements].toSorted(compareScalars);
const read = (value: unknown): Scalar[] => [...(value as ReadonlySet<Scalar>)];

/** A set at one site, and what is laid over it, beside plain sets of what they should hold. */
class TestSet {
  readonly state: FieldState = FIELD_KINDS.set.state();
  readonly pending: OwnedEffects = FIELD_KINDS.set.pending();
  readonly elements = new Set<Scalar>();
  #version = 0;

  change(action: 'add' | 'remove', element: Scalar): void {
    const version = (this.#version += 1);
    const stamp: Stamp = {
      time: version,
      site: siteAt(0),
      entry: siteAt(0),
      version,
      seen: [0, version - 1],
    };
    this.state.apply(effectOf(action, element), stamp);
    if (action === 'add') this.elements.add(element);
    else this.elements.delete(element);
  }

  lay(action: 'add' | 'remove', element: Scalar): void {
    this.pending.append(1, effectOf(action, element), this.state.read());
  }

  look(): unknown {
    return this.pending.applyTo(this.state.read());
  }
}

/** The lengths of what is sorted from now on. */
function sortedLengths(): number[] {
  const lengths: number[] = [];
  const sort = Array.prototype.toSorted;
  const spy = vi.spyOn(Array.prototype, 'toSorted').mockImplementation(function (
    this: unknown[],
    compare,
  ) {
    lengths.push(this.length);
    return sort.call(this, compare);
  });
  onTestFinished(() => spy.mockRestore());
  return lengths;
}

describe('a set of 1000 that was read', () => {
  const filled = (): TestSet => {
    const set = new TestSet();
    for (let place = 0; place < 1000; place += 1) set.change('add', `e${(place * 7919) % 1000}`);
    set.state.read();
    return set;
  };

  test('one element comes or goes → a look sorts no more than that one', () => {
    const set = filled();
    const lengths = sortedLengths();
    for (const action of ['add', 'remove'] as const) {
      set.change(action, 'e5x');
      expect(read(set.state.read())).toHaveLength(set.elements.size);
      set.lay(action, 'e6x');
      expect(read(set.look())).toHaveLength(set.elements.size + (action === 'add' ? 1 : 0));
    }
    expect(Math.max(...lengths)).toBe(1);
  });

  test('nothing new is laid over it → the same is shown, and made once', () => {
    const set = filled();
    set.lay('add', 'e1');
    set.lay('remove', 'e1000');
    expect(set.look()).toBe(set.state.read());
    set.lay('add', 'e1000');
    const shown = set.look();
    expect(set.look()).toBe(shown);
    expect(read(shown)).toEqual(inOrder([...set.elements, 'e1000']));
    set.lay('add', 'e1001');
    expect(read(set.look())).toEqual(inOrder([...set.elements, 'e1000', 'e1001']));
    set.change('add', 'e1002');
    expect(read(set.look())).toEqual(inOrder([...set.elements, 'e1000', 'e1001']));
  });
});

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'drawn changes and looks, seed %i → always in order',
  (seed) => {
    const random = new Random(seed);
    const set = new TestSet();
    const draw = (): Scalar =>
      random.pick<Scalar>([random.between(0, 30), `e${random.between(0, 30)}`]);
    for (let step = 0; step < 300; step += 1) {
      set.change(random.chance(0.6) ? 'add' : 'remove', draw());
      if (random.chance(0.3)) expect(read(set.state.read())).toEqual(inOrder(set.elements));
      if (random.chance(0.1)) {
        const shown = new Set(set.elements);
        for (let count = 0; count < 5; count += 1) {
          const element = draw();
          const action = random.chance(0.5) ? 'add' : 'remove';
          set.lay(action, element);
          if (action === 'add') shown.add(element);
          else shown.delete(element);
        }
        expect(read(set.look())).toEqual(inOrder(shown));
        set.pending.remove(1);
      }
    }
  },
);
