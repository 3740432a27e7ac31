/**
 * What becomes of those beside a red update that has not left its site: who asks for it again, who
 * waits for it, whose guess counts it, who stands on it (docs/spec/redblue.md, RB-R7, RB-R10,
 * RB-T2, RB-T3).
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../../../src/server/service/tables.ts';
import { getOperationPlans } from '../../../../../../src/server/service/operation-plan.ts';
import { Sites } from '../../sites.ts';

const none = z.object({});
const amount = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args: amount, result: z.null() },
  take: { access: 'write', args: none, result: z.null() },
  order: { access: 'write', args: none, result: z.null() },
  picky: { access: 'write', args: none, result: z.number() },
  push: { access: 'write', args: none, result: z.null() },
  pop: { access: 'write', args: none, result: z.number() },
  total: { access: 'read', args: none, result: z.number() },
});
const service = defineService(contract, {
  tables: { tills: table({ total: counter(), items: queue<number>() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    take: red((_args: object) => [tills.row('one').total.add(-1)]),
    push: red((_args: object) => [tills.row('one').items.push(1)]),
    pop: red(
      (_args: object) => [tills.row('one').items.pop()],
      ([popped]) => popped.remaining,
    ),
  }),
  generators: {
    add: (value, { shadow }) => shadow.add(value, null),
    take: (_, { shadow }) => shadow.take({}, null),
    order: (_, { shadow }) => shadow.take({}, null),
    picky: (_, { tables, shadow }) => {
      const { total } = tables.tills.row('one');
      if (total === 4) throw new TypeError('four');
      return shadow.take({}, total);
    },
    push: (_, { shadow }) => shadow.push({}, null),
    pop: (_, { shadow }) => shadow.pop({}),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
  alwaysRed: ['order', 'push', 'pop'],
});

const [LEADER, SITE, OTHER] = [0, 1, 2] as const;
const take = contract.take({});
const order = contract.order({});

describe('a red write has not left its site', () => {
  test('no room for more, and it is asked for again → its end, and not that nothing was done', () => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 1 }, maxRedInFlight: 2 });
    // Refused, and by that the site comes to know that this start is all that there was.
    sites.crash(LEADER);
    for (const item of [take, take]) sites.submit(SITE, item);
    sites.sync(SITE);
    sites.ask(SITE, order, { id: 'c/0', home: SITE });
    sites.start(LEADER);
    sites.pass(100);
    sites.crash(LEADER);
    const first = sites.ask(SITE, order, { id: 'c/1', home: SITE });
    sites.submit(SITE, take);
    const again = sites.ask(SITE, order, { id: 'c/1', home: SITE });
    expect(again.code).toBeUndefined();
    sites.start(LEADER);
    sites.pass(100);
    expect([first.value, again.value, sites.read(SITE, contract.total({}))]).toEqual([
      null,
      null,
      -4,
    ]);
  });

  test('it is given up → later guesses do not count it', () => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 1 } });
    sites.submit(SITE, contract.push({}));
    sites.settle();
    sites.pass(50);
    sites.crash(LEADER);
    sites.submit(SITE, take);
    sites.sync(SITE);
    sites.submit(SITE, contract.push({}));
    sites.abandon(SITE);
    const [machine, serial] = [sites.machines[SITE], 99];
    const wantedStages = { tentative: true, causal: false, strong: true };
    const plan = getOperationPlans(service).get('pop')!;
    machine?.submit(
      { args: {}, plan, serial, seed: 1, submittedAtMs: 0, wantedStages },
      sites.nowMs,
    );
    const reported = machine
      ?.takeReady()
      .answers.flatMap((answer) => (answer.kind === 'view' ? [answer] : []));
    expect(reported?.map(({ stage, reply }) => [stage, reply.value])).toEqual([['tentative', 0]]);
  });

  test('one waits for it to be handed over, and it is given up → that goes on', () => {
    const sites = new Sites(service, 3, { maxAttempts: 5 });
    sites.ask(SITE, take, { id: 'c/1', home: SITE });
    const retained = sites.lastSerial;
    const behind = sites.submit(SITE, take);
    sites.abandon(SITE, retained);
    sites.settle();
    sites.pass(50);
    expect(behind.value).toBeNull();
  });
});

test('a generator fails on what is only proposed → it waits for the end of that, and runs on what came of it', () => {
  const sites = new Sites(service, 3, { maxAttempts: 5 });
  sites.submit(OTHER, contract.add({ amount: 5 }));
  sites.settle();
  sites.pass(50);
  // That of the other site comes first, so that 4 is never the total where the run counts.
  sites.submit(OTHER, take);
  sites.deliver(({ from }) => from === OTHER);
  const first = sites.submit(SITE, take);
  const picky = sites.submit(SITE, contract.picky({}));
  sites.settle();
  sites.pass(100);
  expect([first.value, picky.code, picky.value]).toEqual([null, undefined, 3]);
});
