/**
 * A site that restarts shows what it showed before, also of the red order, although no other site
 * has confirmed it yet.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { Sites } from './sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args, result: z.null() },
  order: { access: 'write', args, result: z.null() },
  total: { access: 'read', args: z.object({}), result: z.number() },
});

const service = defineService(contract, {
  tables: { tills: table({ total: counter() }) },
  shadowOperations: ({ tills }) => {
    const add = (value: { amount: number }) => [tills.row('one').total.add(value.amount)];
    return { add: blue(add), order: red(add) };
  },
  generators: {
    add: (value, { shadow }) => shadow.add(value, null),
    order: (value, { shadow }) => shadow.order(value, null),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
});

const [LEADER, SITE] = [0, 1] as const;

test('a blue operation that had seen a red one, and no leader → both are there after a restart', () => {
  // Of three, what one of them has beside the leader counts, whatever it knows.
  const sites = new Sites(service, 4);
  sites.submit(LEADER, contract.order({ amount: 5 }));
  sites.pass(50);
  sites.submit(SITE, contract.add({ amount: 1 }));
  sites.settle();
  expect(sites.read(SITE, contract.total({}))).toBe(6);
  for (const site of sites.machines.keys()) sites.crash(site);
  sites.sent = [];
  sites.start(SITE);
  expect(sites.read(SITE, contract.total({}))).toBe(6);
});
