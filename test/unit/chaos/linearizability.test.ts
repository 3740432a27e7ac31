/** The search for an order agrees with trying all orders. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLinearizability, type Operation } from '../../chaos/checks/linearizability.ts';

type Value = string | null;
type Register = Operation<Value>;

const VALUES = ['a', 'b'] as const;

const operation: fc.Arbitrary<Register> = fc
  .record({
    begin: fc.integer({ min: 0, max: 12 }),
    lasts: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constant(Infinity)),
    kind: fc.constantFrom('write', 'read', 'swap'),
    value: fc.constantFrom(...VALUES),
    before: fc.constantFrom(...VALUES, null),
  })
  .map(({ begin, lasts, kind, value, before }) => ({
    beginMs: begin,
    endMs: begin + lasts,
    name: `${kind} ${value}`,
    step: (state) => {
      if (kind === 'read') return state === before ? state : undefined;
      return kind === 'swap' && state !== before ? undefined : value;
    },
  }));

/** Tries each order that keeps those apart that did not overlap. */
function hasOrder(operations: readonly Register[], state: Value): boolean {
  if (operations.every(({ endMs }) => endMs === Infinity)) return true;
  const firstEnd = Math.min(...operations.map(({ endMs }) => endMs));
  return operations.some((candidate) => {
    if (candidate.beginMs > firstEnd) return false;
    const after = candidate.step(state);
    return (
      after !== undefined &&
      hasOrder(
        operations.filter((other) => other !== candidate),
        after,
      )
    );
  });
}

test('finds an order iff there is one', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
      const isPossible = hasOrder(operations, null);
      expect(checkLinearizability(operations, null).kind).toBe(
        isPossible ? 'linearizable' : 'impossible',
      );
    }),
    { numRuns: 2_000 },
  );
});
