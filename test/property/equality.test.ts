/** Structural equality (COR-7) on pairs that are equal, and on pairs that differ in one part. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structurallyEqual } from '../../src/index.ts';
import type { Note } from '../support/property-shares.ts';
import { sharesOf, testShares, unnoted } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';

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
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.string({ maxLength: 3 }), part, { minKeys: 1, maxKeys: 4 }),
  },
  {
    weight: 1,
    arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }).map((items) => new Set(items)),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(part, part), { minLength: 1, maxLength: 4 })
      .map((entries) => new Map(entries)),
  },
);

type Numbers = Uint8Array | Float64Array | BigInt64Array;

interface Copying {
  /** Objects, maps and sets get their entries in the opposite order, which means nothing. */
  readonly isReversed: boolean;
  /** The part that is changed, counted from the whole inwards; none where it is below 0. */
  left: number;
}

/** Copies `original` with the changes of `copying`. */
function copyOf(original: unknown, copying: Copying): unknown {
  if (copying.left-- === 0) return changed(original);
  const copy = (item: unknown): unknown => copyOf(item, copying);
  const ordered = <X>(entries: X[]): X[] => (copying.isReversed ? entries.reverse() : entries);
  if (typeof original !== 'object' || original === null) return original;
  if (Array.isArray(original)) return original.map(copy);
  if (original instanceof Date) return new Date(original);
  if (ArrayBuffer.isView(original)) return (original as Numbers).slice();
  if (original instanceof Set) return new Set(ordered([...original].map(copy)));
  if (original instanceof Map)
    return new Map(ordered([...original].map(([key, item]) => [copy(key), copy(item)])));
  const entries = Object.entries(original).map(([key, item]) => [key, copy(item)] as const);
  return toObjectKey(ordered(entries), Object.getPrototypeOf(original) as object | null);
}

function toObjectKey(
  entries: readonly (readonly [string, unknown])[],
  prototype: object | null,
): object {
  const made = Object.create(prototype) as object;
  // Not assigned: a key may be `__proto__`.
  for (const [key, item] of entries) {
    Object.defineProperty(made, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
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
  if (original instanceof Set)
    return original.size > 0 ? new Set([...original].slice(1)) : new Map();
  if (original instanceof Map)
    return original.size > 0 ? new Map([...original].slice(1)) : new Set();
  const [first, ...others] = Object.entries(original);
  if (first === undefined) return [];
  // A key that is not there is something else than one that is undefined.
  const entries = first[1] === undefined ? others : [...others, [first[0], undefined] as const];
  return toObjectKey(entries, Object.getPrototypeOf(original) as object | null);
}

function changedNumbers(original: Numbers): unknown {
  if (original.length === 0) return [];
  const copy = original.slice();
  if (copy instanceof BigInt64Array || copy instanceof BigUint64Array)
    copy[0] = copy[0] === 1n ? 2n : 1n;
  else copy[0] = copy[0] === 1 ? 2 : 1;
  return copy;
}

/** How many parts `given` has, itself included. */
function partsOf(input: unknown): number {
  const copying = { isReversed: false, left: -1 };
  copyOf(input, copying);
  return -1 - copying.left;
}

/**
 * Two equal values, after which assumptions are kept: by so many looks (`FREE_LOOKS_MAX`), or by
 * being so deep.
 */
const TIRING = {
  broad: [1, 2].map(() => Array.from({ length: 100_002 }, () => ({}))),
  deep: [1, 2].map(() => nested({}, 33)),
};

function nested(core: unknown, depth: number): unknown {
  let outer = core;
  for (let level = 0; level < depth; level++) outer = [outer];
  return outer;
}

/** What is equal, without any memory: for small values without cycles. */
function naivelyEqual(a: unknown, b: unknown): boolean {
  if (a instanceof Set && b instanceof Set) return naivelyMatched([...a], [...b]);
  if (a instanceof Map && b instanceof Map) return naivelyMatched([...a], [...b]);
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return Object.is(a, b);
  const [left, right] = [Object.entries(a), Object.entries(b)];
  if (prototypeOf(a) !== prototypeOf(b) || left.length !== right.length) return false;
  return left.every(
    ([key, item]) =>
      Object.hasOwn(b, key) && naivelyEqual(item, (b as Record<string, unknown>)[key]),
  );
}

/** An object without a prototype counts as a plain one. */
const prototypeOf = (input: object): unknown => Object.getPrototypeOf(input) ?? Object.prototype;

function naivelyMatched(items: readonly unknown[], others: readonly unknown[]): boolean {
  if (items.length !== others.length) return false;
  const left = [...others];
  return items.every((item) => {
    const at = left.findIndex((other) => naivelyEqual(item, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/**
 * Values that share a few parts by reference, as those do of which the next one keeps what has not
 * changed.
 */
const sharing = (parts: readonly object[]): fc.Arbitrary<unknown> => {
  const leaf = fc.oneof(fc.constantFrom(...parts), fc.record({ text: fc.nat(1) }), fc.nat(1));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.record({ who: tie('tree'), mark: tie('tree') }),
      fc.array(tie('tree'), { maxLength: 2 }),
      fc.array(tie('tree'), { minLength: 2, maxLength: 3 }).map((items) => new Set(items)),
    ),
  }));
  return tree!;
};

/**
 * A copy with sets in the opposite order, in which now and then a part is kept, and one in `which`
 * is another.
 */
function successorOf(input: unknown, draw: () => number): unknown {
  if (typeof input !== 'object' || input === null) return draw() < 4 ? 2 : input;
  if (draw() < 4) return input;
  const next = (part: unknown): unknown => successorOf(part, draw);
  if (input instanceof Set) return new Set([...input].map(next).toReversed());
  if (Array.isArray(input)) return input.map(next);
  return Object.fromEntries(Object.entries(input).map(([key, part]) => [key, next(part)]));
}

const partsKept = (note: Note): fc.IRawProperty<unknown> => {
  const parts = [{ text: 0 }, { text: 1 }, { deep: [[[{ text: 0 }]]] }];
  const item = (): fc.Arbitrary<unknown> =>
    fc.record({ who: sharing(parts), mark: fc.array(sharing(parts), { maxLength: 2 }) });
  const original = fc.oneof(
    sharing(parts),
    fc.array(item(), { minLength: 2, maxLength: 3 }).map((items) => new Set(items)),
  );
  const draws = fc.array(fc.nat(19), { minLength: 20, maxLength: 20 });
  // What is broad takes as long as fifty others.
  const tiring = fc.nat(9).map((n) => (n === 0 ? 'broad' : 'deep'));
  return fc.property(
    original,
    draws,
    fc.integer({ min: 9, max: 300 }),
    tiring,
    (before, generated, depth, tired) => {
      let at = 0;
      const after = successorOf(before, () => generated[at++ % generated.length]!);
      const isEqual = naivelyEqual(before, after);
      const [left, right] = [before, after].map((core, side) =>
        nested([TIRING[tired][side], core], depth),
      );
      expect(structurallyEqual(left, right)).toBe(isEqual);
      expect(structurallyEqual(right, left)).toBe(isEqual);
      note(isEqual ? 'equal' : 'unequal');
      note(tired);
      if (before instanceof Set) note('a set of objects');
      if (before instanceof Set && !isEqual) note('an unequal set of objects');
    },
  );
};

const equality = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    value,
    fc.boolean(),
    fc.option(fc.nat(), { nil: undefined, freq: 2 }),
    (original, isReversed, which) => {
      const count = partsOf(original);
      const copy = copyOf(original, { isReversed, left: which === undefined ? -1 : which % count });
      const expected = which === undefined;
      expect(structurallyEqual(original, copy)).toBe(expected);
      expect(structurallyEqual(copy, original)).toBe(expected);
      note(expected ? 'equal' : 'unequal');
      if (count > 3) note('several parts');
      if (!expected && which % count > 0) note('unequal in a part');
    },
  );

test('COR-7: a value and its copy, or one with a change anywhere → equal, or not, from both sides', async () => {
  await fc.assert(equality(unnoted), { numRuns: scaleRuns(2000) });
});

test('COR-7: two values of any kind → the same from both sides', () => {
  fc.assert(
    fc.property(value, value, (a, b) => structurallyEqual(a, b) === structurallyEqual(b, a)),
  );
});

testShares(
  'C7: the pairs → equal in about half of the runs, else mostly unequal in a part alone',
  async () => {
    const shares = await sharesOf(equality);
    expect(shares['equal']).toBeGreaterThan(0.3);
    expect(shares['unequal in a part']).toBeGreaterThan(0.3);
    expect(shares['several parts']).toBeGreaterThan(0.5);
  },
);

test('COR-7: what keeps parts by reference, sets in another order, deep, after many looks → as without memory', async () => {
  await fc.assert(partsKept(unnoted), { numRuns: scaleRuns(100) });
});

testShares('C7: what keeps parts → equal and unequal, often a set of objects', async () => {
  const shares = await sharesOf(partsKept, 60);
  expect(shares['equal']).toBeGreaterThan(0.15);
  expect(shares['unequal']).toBeGreaterThan(0.15);
  expect(shares['an unequal set of objects']).toBeGreaterThan(0.1);
  expect(shares['broad']).toBeGreaterThan(0.05);
});
