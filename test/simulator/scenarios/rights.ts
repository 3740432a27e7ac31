/**
 * Limits that sites take from by rights: gifts and takes of all kinds, at rows that are nearly
 * empty most of the time.
 */
import { z } from 'zod/v4';
import { defineContract } from '../../../src/contract/contract.ts';
import { defineService } from '../../../src/server/service/service.ts';
import type { Service } from '../../../src/server/service/service.ts';
import { blue, red } from '../../../src/server/service/shadow-operation.ts';
import { boundedCounter, table } from '../../../src/server/service/tables.ts';
import { getObservedTraits } from '../../../src/testing/simulator/scenario.ts';
import type { Scenario } from '../../../src/testing/simulator/scenario.ts';
import { RightsChecker } from '../checkers/rights.ts';
import { RightsWaitsChecker } from '../checkers/rights-waits.ts';

const item = z.object({ key: z.string(), amount: z.int() });
const taken = z.object({ taken: z.boolean() });

const operations = {
  give: { access: 'write', args: item, result: z.null() },
  giveInOrder: { access: 'write', args: item, result: z.null() },
  take: { access: 'write', args: item, result: taken },
  takeInOrder: { access: 'write', args: item, result: taken },
  takeBoth: { access: 'write', args: z.object({ amount: z.int() }), result: taken },
  left: { access: 'read', args: z.object({ key: z.string() }), result: z.array(z.int()) },
} as const;

/** Each operation names a key, by which it is ordered: that which takes of both rows too. */
const partitioned = {
  give: { ...operations.give, partitionBy: 'key' },
  giveInOrder: { ...operations.giveInOrder, partitionBy: 'key' },
  take: { ...operations.take, partitionBy: 'key' },
  takeInOrder: { ...operations.takeInOrder, partitionBy: 'key' },
  takeBoth: { ...operations.takeBoth, args: item, partitionBy: 'key' },
  left: { ...operations.left, partitionBy: 'key' },
} as const;

interface Amount {
  readonly key: string;
  readonly amount: number;
}

const KEYS = ['a', 'b'] as const;
const PARTITIONED_KEYS = ['p1/a', 'p1/b'] as const;

/** The service. */
function rightsService(isPartitioned: boolean): Service {
  const contract = defineContract(
    'rights',
    isPartitioned ? (partitioned as unknown as typeof operations) : operations,
  );
  const keys = isPartitioned ? PARTITIONED_KEYS : KEYS;
  return defineService(contract, {
    tables: {
      seats: table({ free: boundedCounter({ min: 3 }) }, isPartitioned ? { partition: 'key' } : {}),
    },
    shadowOperations: ({ seats }) => ({
      give: blue((a: Amount) => [seats.row(a.key).free.give(a.amount)]),
      giveInOrder: red((a: Amount) => [seats.row(a.key).free.give(a.amount)]),
      take: blue((a: Amount) => [seats.row(a.key).free.take(a.amount)]),
      takeInOrder: red((a: Amount) => [seats.row(a.key).free.take(a.amount)]),
      takeBoth: blue(({ amount }: { amount: number }) =>
        keys.map((key) => seats.row(key).free.take(amount)),
      ),
    }),
    generators: {
      give: (args, { shadow }) => shadow.give(args, null),
      giveInOrder: (args, { shadow }) => shadow.giveInOrder(args, null),
      take: (args, { tables, shadow }) =>
        tables.seats.row(args.key).free.left < args.amount
          ? { taken: false }
          : shadow.take(args, { taken: true }),
      takeInOrder: (args, { tables, shadow }) =>
        tables.seats.row(args.key).free.left < args.amount
          ? { taken: false }
          : shadow.takeInOrder(args, { taken: true }),
      takeBoth: (args, { tables, shadow }) =>
        keys.some((key) => tables.seats.row(key).free.left < args.amount)
          ? { taken: false }
          : shadow.takeBoth(args, { taken: true }),
      left: ({ key }, { tables }) => {
        const { value, left, rights } = tables.seats.row(key).free;
        return [value, left, rights];
      },
    },
    invariants: { seats: { 'no more is taken than stands': ({ free }) => free.value >= 3 } },
  });
}

/** The world of `rightsService`. Its rows are in one partition if there may be several. */
export function rightsScenario(isPartitioned = false): Scenario {
  const service = rightsService(isPartitioned);
  const keys = isPartitioned ? PARTITIONED_KEYS : KEYS;
  const home = isPartitioned ? { key: keys[0] } : {};
  return {
    service,
    traits: getObservedTraits(service),
    draw: ({ random }) => {
      const key = random.pick<string>(keys);
      const chance = random.fraction();
      if (chance < 0.2)
        return { operation: 'give', args: { key, amount: random.pick([1, 3, 12]) } };
      if (chance < 0.25)
        return { operation: 'giveInOrder', args: { key, amount: random.between(1, 9) } };
      if (chance < 0.75)
        return { operation: 'take', args: { key, amount: random.pick([1, 1, 1, 2, 5]) } };
      if (chance < 0.82)
        return { operation: 'takeInOrder', args: { key, amount: random.between(1, 2) } };
      if (chance < 0.88)
        return { operation: 'takeBoth', args: { ...home, amount: random.between(1, 2) } };
      return { operation: 'left', args: { key } };
    },
    checkers: (circumstances) => [new RightsChecker(), new RightsWaitsChecker(circumstances)],
  };
}
