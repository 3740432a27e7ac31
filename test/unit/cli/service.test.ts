/**
 * `correctables service diff`: all that a version of a service lacks, in the words of a refused
 * start.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../src/contract/contract.ts';
import {
  findLostPart,
  listAddedParts,
  listLostParts,
} from '../../../src/server/service/records/deployment-version.ts';
import { blue, counter, defineService, register, table } from '../../../src/server/index.ts';
import { describeService } from '../../../src/server/service/describe-service.ts';

const args = z.object({ key: z.string() });
const write = { access: 'write', args, result: z.null() } as const;
interface Shadows {
  readonly shadow: { add(args: unknown, reply: null): unknown };
}

/** A service of these tables, whose operations all do the same. */
function describeVersion(
  operations: Record<string, typeof write>,
  tables: Record<string, ReturnType<typeof table>>,
) {
  const service = defineService(defineContract('shop', operations), {
    tables: { ...tables, base: table({ count: counter() }) },
    shadowOperations: ({ base }) => ({
      add: blue((a: { key: string }) => [base.row(a.key).count.add(1)]),
    }),
    generators: Object.fromEntries(
      Object.keys(operations).map((name) => [
        name,
        (a: unknown, { shadow }: Shadows) => shadow.add(a, null),
      ]),
    ) as never,
  });
  return describeService(service as never);
}

const before = describeVersion(
  { buy: write, gone: write },
  { orders: table({ count: counter(), note: register() }), old: table({ count: counter() }) },
);
const after = describeVersion(
  { buy: { ...write, args: z.object({ key: z.string(), more: z.int() }) } as never, fresh: write },
  { orders: table({ count: register() }, { removable: true }), added: table({ count: counter() }) },
);

test('a version that lacks several parts → all of them, those that data needs first; the first one refuses a start', () => {
  const lost = [...listLostParts(before, after)];
  expect(
    lost.map(({ isInData, needs }) => [isInData, needs.replace(/(, which|: ).*/, '')]),
  ).toEqual([
    [true, "the table 'old'"],
    [true, "the table 'orders' to stay not removable"],
    [true, "'orders.count' to stay a counter"],
    [true, "the field 'orders.note'"],
    [false, expect.stringMatching(/^the operation 'buy' to stay as it was declared/)],
    [false, "the operation 'gone'"],
  ]);
  expect(findLostPart({ rules: 1, service: before }, { rules: 1, service: after })).toBe(
    lost[0]?.needs,
  );
});

test('a version that only adds → nothing is lost, and what is new is named', () => {
  const more = describeVersion(
    { buy: write, gone: write, give: write },
    {
      orders: table({ count: counter(), note: register(), tag: register() }),
      old: table({ count: counter() }),
      gifts: table({ to: register() }),
    },
  );
  expect([...listLostParts(before, more)]).toEqual([]);
  expect(listAddedParts(before, more)).toEqual([
    "the table 'gifts'",
    "the field 'orders.tag'",
    "the operation 'give'",
  ]);
});
