/**
 * The checker of transactions agrees with trying all orders, and finds nothing where there is
 * nothing.
 */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { checkTransactions } from '../histories/transactions/check-transactions.ts';
import type {
  Element,
  ListOperation,
  RecordedTransaction,
} from '../histories/transactions/recorded-transaction.ts';
import { scaleRuns } from '../support/lane.ts';
import { smallHistory } from '../unit/histories/transactions/small-history.ts';
import { sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';

type State = ReadonlyMap<string, readonly Element[]>;

interface Step {
  readonly key: string;
  readonly isAppend: boolean;
}

/** A transaction to run at a moment, and what its client sees of that. */
interface Plan {
  readonly steps: readonly Step[];
  readonly outcome: RecordedTransaction['outcome'];
  readonly isApplied: boolean;
  readonly isSnapshot: boolean;
  readonly beforeMs: number;
  readonly afterMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom('x', 'y', 'z'),
  isAppend: fc.boolean(),
});
const plan: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  outcome: fc.constantFrom('committed', 'committed', 'committed', 'aborted', 'unknown'),
  isApplied: fc.boolean(),
  isSnapshot: fc.boolean(),
  beforeMs: fc.nat({ max: 50 }),
  afterMs: fc.nat({ max: 50 }),
});

/**
 * Runs the plans one after the other, ten milliseconds apart: intervals overlap, effects do not.
 */
function runSerially(plans: readonly Plan[]): RecordedTransaction[] {
  const states: State[] = [new Map()];
  return plans.map(({ steps, outcome, isApplied, isSnapshot, beforeMs, afterMs }, index) => {
    const isOld = isSnapshot && outcome === 'committed' && steps.every(({ isAppend }) => !isAppend);
    const from = isOld ? states[Math.floor(states.length / 2)]! : states.at(-1)!;
    const state = new Map(from);
    const operations = steps.map(({ key, isAppend }, at): ListOperation => {
      const list = state.get(key) ?? [];
      if (!isAppend) return { read: [key, list] };
      const element = index * 10 + at;
      state.set(key, [...list, element]);
      return { append: [key, element] };
    });

    const isEffective = outcome === 'committed' || (outcome === 'unknown' && isApplied);
    if (isEffective && !isOld) states.push(state);
    const times = { startAt: index * 10 - beforeMs, endAt: index * 10 + afterMs };
    return {
      id: `t${index}`,
      process: `p${index}`,
      outcome,
      operations,
      ...times,
      ...(isOld && { isSnapshot: true }),
    };
  });
}

test('histories of a serial executor, whose intervals overlap → no anomaly', () => {
  fc.assert(
    fc.property(fc.array(plan, { maxLength: 40 }), (plans) => {
      expect(checkTransactions(runSerially(plans))).toEqual([]);
    }),
    { numRuns: scaleRuns(500) },
  );
});

/**
 * Whether some order, in which none is before one that had ended when it began, gives all reads.
 */
function hasOrder(remaining: readonly RecordedTransaction[], state: State = new Map()): boolean {
  if (remaining.length === 0) return true;
  return remaining.some((next) => {
    const others = remaining.filter((other) => other !== next);
    if (others.some(({ endAt }) => endAt < next.startAt)) return false;
    const after = execute(next, state);
    return after !== undefined && hasOrder(others, after);
  });
}

/** Returns the state after it; `undefined` if it would have read something else. */
function execute({ operations }: RecordedTransaction, before: State): State | undefined {
  const state = new Map(before);
  for (const operation of operations) {
    if ('append' in operation) {
      const [key, element] = operation.append;
      state.set(key, [...(state.get(key) ?? []), element]);
    } else {
      const [key, list] = operation.read;
      if (String(state.get(key) ?? []) !== String(list)) return undefined;
    }
  }
  return state;
}

const agrees = (note: Note): fc.IProperty<[RecordedTransaction[]]> =>
  fc.property(smallHistory, (history) => {
    const names = checkTransactions(history).map(({ name }) => name);
    expect(names.length === 0).toBe(hasOrder(history));
    for (const name of new Set(names)) note(name);
    if (names.length === 0) note('clean');
  });

test('finds an anomaly if, and only if, no order of the transactions explains all reads', () => {
  fc.assert(agrees(unnoted), { numRuns: scaleRuns(20_000) });
});

testShares('which anomalies the small histories have', async () => {
  const shares = await sharesOf(agrees, 5_000);
  expect(shares['clean']).toBeGreaterThan(0.02);
  for (const name of [
    'G0',
    'G1b',
    'G1c',
    'G-single',
    'G2',
    'realtime',
    'lost append',
    'incompatible orders',
    'internal',
  ])
    expect([name, shares[name] ?? 0]).toEqual([
      name,
      expect.toSatisfy((share: number) => share > 0.002),
    ]);
});
