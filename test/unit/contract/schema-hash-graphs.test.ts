/**
 * Schemas that contain each other: fingerprints see what they are, not of how many objects, and end
 * soon.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { hashOperation } from '../../../src/contract/schema-hash.ts';
import { scaleRuns } from '../../support/lane.ts';

/** A schema by its own content, and by the numbers of the schemas in it. */
interface Node {
  readonly label: string;
  readonly inner: readonly number[];
}

/** Makes the schema number 0; `isLazy` by lazy schemas, otherwise by getters. */
function getSchema(nodes: readonly Node[], isLazy: boolean): z.ZodMiniType {
  const made = nodes.map(({ label, inner }): z.ZodMiniType => {
    const fields = inner.map((to, n): [string, PropertyDescriptor] => [
      `inner${n}`,
      isLazy
        ? { enumerable: true, value: z.lazy(() => made[to] as z.ZodMiniType) }
        : { enumerable: true, configurable: true, get: () => made[to] },
    ]);
    return z.object(
      Object.defineProperties({ label: z.literal(label) }, Object.fromEntries(fields)) as object,
    );
  });
  return made[0] as z.ZodMiniType;
}

const hashOf = (nodes: readonly Node[], isLazy = false): string =>
  hashOperation({ access: 'read', args: getSchema(nodes, isLazy), result: z.null() });

/** Whether what two schemas take is the same, however deep it is. */
function areAlike(item: readonly Node[], other: readonly Node[]): boolean {
  const pairs = new Map<string, readonly [number, number]>([['0/0', [0, 0]]]);
  for (const [a, b] of pairs.values()) {
    const [left, right] = [item[a] as Node, other[b] as Node];
    if (left.label !== right.label || left.inner.length !== right.inner.length) return false;
    left.inner.forEach((to, n) =>
      pairs.set(`${to}/${right.inner[n]}`, [to, right.inner[n] as number]),
    );
  }
  return true;
}

const graph = (maxCount: number): fc.Arbitrary<readonly Node[]> =>
  fc.integer({ min: 1, max: maxCount }).chain((count) => {
    const inner = fc.array(fc.nat({ max: count - 1 }), { maxLength: 3 });
    return fc.array(fc.record({ label: fc.constantFrom('a', 'b'), inner }), {
      minLength: count,
      maxLength: count,
    });
  });

/** The same schemas, each made twice: each reference picks one of the two at random. */
const copied = (nodes: readonly Node[]): fc.Arbitrary<readonly Node[]> => {
  const twice = [...nodes, ...nodes];
  const count = nodes.length;
  return fc.infiniteStream(fc.boolean()).map((isSecond) =>
    twice.map(({ label, inner }) => ({
      label,
      inner: inner.map((to) => to + (isSecond.next().value === true ? count : 0)),
    })),
  );
};

test.each([
  ['getters', false],
  ['lazy schemas', true],
])('schemas of any form, by %s → one fingerprint exactly where they take the same', (_, isLazy) => {
  fc.assert(
    fc.property(graph(4), graph(4), (item, other) => {
      expect(hashOf(item, isLazy) === hashOf(other, isLazy)).toBe(areAlike(item, other));
    }),
    { numRuns: scaleRuns(300) },
  );
});

test.each([
  ['getters', false],
  ['lazy schemas', true],
])(
  'schemas that are made again here and there, by %s → the fingerprint that they have',
  (_, isLazy) => {
    fc.assert(
      fc.property(
        graph(6).chain((nodes) => fc.tuple(fc.constant(nodes), copied(nodes))),
        ([nodes, copies]) => {
          expect(hashOf(copies, isLazy)).toBe(hashOf(nodes, isLazy));
        },
      ),
    );
  },
);

/** Types of a document that may all contain each other. */
const mesh = (count: number, last = 'last'): readonly Node[] =>
  Array.from({ length: count }, (_, n) => ({
    label: n === count - 1 ? last : `type ${n}`,
    inner: Array.from({ length: count }, (__, to) => to),
  }));

test.each([
  ['that all contain each other', (count: number, last: string) => mesh(count, last)],
  [
    'that all contain the next one twice',
    (count: number, last: string) =>
      Array.from({ length: count }, (_, n) =>
        n === count - 1 ? { label: last, inner: [] } : { label: 'pair', inner: [n + 1, n + 1] },
      ),
  ],
])('30 schemas %s → hashed in time, and a different one has another hash', (_, make) => {
  const startedAt = performance.now();
  const hashes = ['one', 'other'].map((last) => hashOf(make(30, last)));
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(hashes[0]).not.toBe(hashes[1]);
});
