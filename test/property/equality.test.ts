/** Structural equality (C7) on pairs that are equal, and on pairs that differ in one part. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structurallyEqual } from '../../src/index.ts';
import type { Note } from '../support/shares.ts';
import { sharesOf, unnoted } from '../support/shares.ts';

const part = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withTypedArray: true,
});
/** Mostly values that have parts. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 1, arbitrary: part },
  { weight: 2, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.dictionary(fc.string({ maxLength: 3 }), part, { minKeys: 1, maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }).map((items) => new Set(items)) },
  {
    weight: 1,
    arbitrary: fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 4 }).map((entries) => new Map(entries)),
  },
);

type Numbers = Uint8Array | Float64Array | BigInt64Array;

interface Copying {
  /** Objects, maps and sets get their entries in the opposite order, which means nothing. */
  readonly isReversed: boolean;
  /** The part that is changed, counted from the whole inwards; none where it is below 0. */
  left: number;
}

/** A copy of `original` but for what `copying` says. */
function copyOf(original: unknown, copying: Copying): unknown {
  if (copying.left-- === 0) return changed(original);
  const copy = (each: unknown): unknown => copyOf(each, copying);
  const ordered = <X>(entries: X[]): X[] => (copying.isReversed ? entries.reverse() : entries);
  if (typeof original !== 'object' || original === null) return original;
  if (Array.isArray(original)) return original.map(copy);
  if (original instanceof Date) return new Date(original);
  if (ArrayBuffer.isView(original)) return (original as Numbers).slice();
  if (original instanceof Set) return new Set(ordered([...original].map(copy)));
  if (original instanceof Map) return new Map(ordered([...original].map(([key, item]) => [copy(key), copy(item)])));
  const entries = Object.entries(original).map(([key, item]) => [key, copy(item)] as const);
  return objectOf(ordered(entries), Object.getPrototypeOf(original) as object | null);
}

function objectOf(entries: readonly (readonly [string, unknown])[], prototype: object | null): object {
  const made = Object.create(prototype) as object;
  // Not assigned: a key may be `__proto__`.
  for (const [key, item] of entries) {
    Object.defineProperty(made, key, { value: item, enumerable: true, configurable: true, writable: true });
  }
  return made;
}

/** Something else that is as near as can be. */
function changed(original: unknown): unknown {
  if (typeof original === 'number') return Object.is(original, 1) ? 2 : 1;
  if (typeof original === 'bigint') return original + 1n;
  if (typeof original === 'string') return `${original}!`;
  if (typeof original === 'boolean') return !original;
  if (typeof original !== 'object') return null;
  if (original === null) return undefined;
  if (Array.isArray(original)) return original.length > 0 ? original.slice(0, -1) : {};
  if (original instanceof Date) return new Date(original.getTime() === 1 ? 2 : 1);
  if (ArrayBuffer.isView(original)) return changedNumbers(original as Numbers);
  if (original instanceof Set) return original.size > 0 ? new Set([...original].slice(1)) : new Map();
  if (original instanceof Map) return original.size > 0 ? new Map([...original].slice(1)) : new Set();
  const [first, ...others] = Object.entries(original);
  if (first === undefined) return [];
  // A key that is not there is something else than one that is undefined.
  const entries = first[1] === undefined ? others : [...others, [first[0], undefined] as const];
  return objectOf(entries, Object.getPrototypeOf(original) as object | null);
}

function changedNumbers(original: Numbers): unknown {
  if (original.length === 0) return [];
  const copy = original.slice();
  if (copy instanceof BigInt64Array || copy instanceof BigUint64Array) copy[0] = copy[0] === 1n ? 2n : 1n;
  else copy[0] = copy[0] === 1 ? 2 : 1;
  return copy;
}

/** How many parts `given` has, itself included. */
function partsOf(given: unknown): number {
  const copying = { isReversed: false, left: -1 };
  copyOf(given, copying);
  return -1 - copying.left;
}

const equality = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(value, fc.boolean(), fc.option(fc.nat(), { nil: undefined, freq: 2 }), (original, isReversed, which) => {
    const count = partsOf(original);
    const copy = copyOf(original, { isReversed, left: which === undefined ? -1 : which % count });
    const expected = which === undefined;
    expect(structurallyEqual(original, copy)).toBe(expected);
    expect(structurallyEqual(copy, original)).toBe(expected);
    note(expected ? 'equal' : 'unequal');
    if (count > 3) note('several parts');
    if (!expected && which % count > 0) note('unequal in a part');
  });

test('C7: a value and its copy, or one with a change anywhere → equal, or not, from both sides', async () => {
  await fc.assert(equality(unnoted), { numRuns: 2000 });
});

test('C7: two values of any kind → the same from both sides', () => {
  fc.assert(fc.property(value, value, (a, b) => structurallyEqual(a, b) === structurallyEqual(b, a)));
});

test('C7: the pairs → equal in about half of the runs, else mostly unequal in a part alone', async () => {
  const shares = await sharesOf(equality);
  expect(shares['equal']).toBeGreaterThan(0.3);
  expect(shares['unequal in a part']).toBeGreaterThan(0.3);
  expect(shares['several parts']).toBeGreaterThan(0.5);
});
