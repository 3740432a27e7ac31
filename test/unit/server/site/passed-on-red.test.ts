/**
 * What one follower lacks of the red log when the leader is lost, though another follower has it.
 */
// @rule RB-L6
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
  take: { access: 'write', args, result: z.null() },
  total: { access: 'read', args: z.object({}), result: z.number() },
});
const service = defineService(contract, {
  tables: { tills: table({ total: counter(), sold: counter() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    take: red((value: { amount: number }) => [tills.row('one').sold.add(value.amount)]),
  }),
  generators: {
    add: (value, { shadow }) => shadow.add(value, null),
    take: (value, { shadow }) => shadow.take(value, null),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
});
const [LEADER, FIRST, SECOND] = [0, 1, 2];

/** The first follower has a red operation that the second one lacks, and the leader is lost. */
function loseLeader(): Sites {
  const sites = new Sites(service, 3);
  const taken = sites.submit(FIRST, contract.take({ amount: 1 }));
  sites.settle(({ to, message }) => to === SECOND && message.kind === 'log.append');
  sites.pass(0);
  expect(taken.code).toBeUndefined();
  sites.sent = sites.sent.filter(({ from }) => from !== LEADER);
  sites.crash(LEADER);
  return sites;
}

test('a follower passes on what it has delivered, so blue operations that depend on it are shown', () => {
  const sites = loseLeader();
  sites.submit(FIRST, contract.add({ amount: 5 }));
  sites.settle();
  sites.pass(200);
  expect(sites.read(SECOND, contract.total({}))).toBe(5);
});

test('the leader comes back → the log goes on at all sites', () => {
  const sites = loseLeader();
  sites.submit(FIRST, contract.add({ amount: 5 }));
  sites.settle();
  sites.pass(200);
  sites.start(LEADER);
  const taken = sites.submit(SECOND, contract.take({ amount: 2 }));
  sites.settle();
  sites.pass(200);
  expect(taken).toMatchObject({ value: null });
  expect(sites.halted).toEqual([]);
});
