/** Which red log orders a row and an operation, and what a service may declare about that. */
// @rule PART-G1
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract, type OperationSpec } from '../../../../src/contract/contract.ts';
import {
  boundedCounter,
  cell,
  counter,
  queue,
  stock,
  table,
} from '../../../../src/server/index.ts';
import {
  createPartitions,
  listWritesWithoutPartition,
} from '../../../../src/server/service/partitions.ts';
import type { Tables } from '../../../../src/server/service/tables.ts';

const args = z.object({ account: z.string(), cents: z.int() });
const write = { access: 'write', args, result: z.null() } as const;

const tables: Tables = {
  accounts: table({ balance: counter() }, { partition: 'key' }),
  orders: table({ count: counter() }, { partition: 'us' }),
  prices: table({ cents: counter() }, { partition: 'none' }),
  members: table({ count: counter() }, { partition: 'main' }),
  others: table({ count: counter() }),
};
const names = { us: {}, asia: {} };

/** The part of a service that partitions depend on. */
function declare(declared: Tables, operations: Readonly<Record<string, object>> = {}) {
  const specs = operations as Readonly<Record<string, OperationSpec>>;
  return { tables: declared, contract: defineContract('bank', specs) };
}

const partitions = createPartitions(declare(tables), names);

test('partitions have the same ordinals in any order of their options', () => {
  expect(partitions.names).toEqual(['main', 'asia', 'us']);
  expect(createPartitions(declare(tables), { asia: {}, us: {} }).names).toEqual(partitions.names);
});

test.each([
  ['accounts', 'us/ann', 2],
  ['accounts', 'asia/bob/savings', 1],
  ['accounts', 'eu/bob', 0],
  ['accounts', 'main/bob', 0],
  ['accounts', 'us', 0],
  ['accounts', '/us/ann', 0],
  ['accounts', 'US/ann', 0],
  ['accounts', '', 0],
  ['orders', 'asia/1', 2],
  ['prices', 'us/apple', undefined],
  ['members', 'us/ann', 0],
  ['others', 'us/ann', 0],
])('the row %s %j is in the log %s', (name, key, ordinal) => {
  expect(partitions.ofRow(name, key)).toBe(ordinal);
});

test.each([
  [{ partitionBy: 'account', partition: undefined }, { account: 'us/ann' }, 2],
  [{ partitionBy: 'account', partition: undefined }, { account: 'eu/ann' }, 0],
  [{ partitionBy: 'account', partition: undefined }, { account: 7 }, 0],
  [{ partitionBy: undefined, partition: 'asia' }, { account: 'us/ann' }, 1],
  [{ partitionBy: undefined, partition: 'main' }, { account: 'us/ann' }, 0],
  [{ partitionBy: undefined, partition: undefined }, { account: 'us/ann' }, 0],
])('an operation with %j and %j has its home in the log %i', (home, parsed, ordinal) => {
  expect(partitions.homeOf(home, parsed)).toBe(ordinal);
});

test('a deployment with main alone has one log, and none for a table that red operations do not write', () => {
  const { accounts, prices, others } = tables as Required<typeof tables>;
  const alone = createPartitions(declare({ accounts, prices, others } as Tables));
  expect(alone.names).toEqual(['main']);
  expect(alone.ofRow('accounts', 'us/ann')).toBe(0);
  expect(alone.ofRow('prices', 'us/apple')).toBeUndefined();
  expect(
    alone.homeOf({ partitionBy: 'account', partition: undefined }, { account: 'us/ann' }),
  ).toBe(0);
});

test.each(['main', 'none', 'key', 'us/east', '', '7', 'us east', `u${'s'.repeat(64)}`])(
  'a partition cannot have the name %j',
  (name) => {
    const create = (): unknown => createPartitions(declare({}), { [name]: {} });
    expect(create).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: `partitions.${name}` }),
    );
  },
);

test('a deployment has at most 16 red logs', () => {
  const many = (count: number) =>
    Object.fromEntries([...Array(count).keys()].map((at) => [`p${at}`, {}]));
  expect(createPartitions(declare({}), many(15)).count).toBe(16);
  expect(() => createPartitions(declare({}), many(16))).toThrow(
    /^partitions: must be at most 15 beside main, got 16\./,
  );
});

test.each([
  [
    'tables.orders.partition',
    declare({ orders: table({ count: counter() }, { partition: 'eu' }) }),
  ],
  ['operations.pay.partition', declare({}, { pay: { ...write, partition: 'eu' } })],
  ['operations.pay.partition', declare({}, { pay: { ...write, partition: 'key' } })],
  ['operations.pay.partitionBy', declare({}, { pay: { ...write, partitionBy: 'owner' } })],
  ['operations.pay.partitionBy', declare({}, { pay: { ...write, partitionBy: 'cents' } })],
])(
  '%s that names what there is not is refused, whatever else the service has',
  (field, service) => {
    for (const options of [names, {}])
      expect(() => createPartitions(service, options)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
      );
  },
);

test('the error of a table without its partition names those that there are', () => {
  const service = declare({ orders: table({ count: counter() }, { partition: 'eu' }) });
  expect(() => createPartitions(service, names)).toThrow("no partition 'eu', only main, asia, us.");
});

test.each([
  ['partitionBy', { partitionBy: '' }],
  ['partitionBy', { partitionBy: 7 }],
  ['partition', { partition: ['us'] }],
  ['partition', { partition: 'us', partitionBy: 'account' }],
])('a contract with a wrong %s is refused: %j', (part, home) => {
  expect(() => declare({}, { pay: { ...write, ...home } })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: `operations.pay.${part}` }),
  );
});

test.each([
  ['queue', { items: queue<string>() }],
  ['cell', { holder: cell<string>() }],
  ['stock', { left: stock() }],
  ['bounded', { left: boundedCounter({ min: 0 }) }],
] as const)('a table outside of all partitions has no %s field', (kind, fields) => {
  const declareTable = (): unknown => table(fields as never, { partition: 'none' });
  expect(declareTable).toThrow(
    new RegExp(`^partition: cannot be 'none': '\\w+' is a ${kind} field`),
  );
});

test('writes that may be red and declare no partition are listed', () => {
  const { contract } = declare(
    {},
    {
      pay: write,
      give: { ...write, partition: 'main' },
      take: { ...write, partitionBy: 'account' },
      note: write,
      find: { ...write, access: 'read' },
    },
  );
  const maybeRed = new Set(['pay', 'give', 'take', 'find']);
  expect(listWritesWithoutPartition({ contract, maybeRed })).toEqual(['pay']);
});

test('pages need not know partitions: the hash of a contract is the same with them', () => {
  const [plain, placed] = [write, { ...write, partitionBy: 'account' }].map(
    (pay) => declare({}, { pay }).contract,
  );
  expect(placed?.hash).toBe(plain?.hash);
});
