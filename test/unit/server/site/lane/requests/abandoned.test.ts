/**
 * Operations that are abandoned, rejected or started again beside others of the same operation, in
 * long queues and at starts that have lost their number (docs/spec/redblue.md, RB-T2, RB-T3,
 * RB-R13; docs/spec/exactly-once.md).
 */
// @rule RB-V10
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import { createEpoch } from '../../../../../../src/server/log/epoch.ts';
import { CERTIFIER_LIMITS } from '../../../../../../src/server/site/lane/order/certifier.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import type { SiteOptions } from '../../../../../../src/server/site/site-options.ts';
import { counter, queue, set, table } from '../../../../../../src/server/service/tables.ts';
import { collectGarbage } from '../../../../../support/garbage.ts';
import { Sites } from '../../sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args, result: z.null() },
  take: { access: 'write', args, result: z.null() },
  order: { access: 'write', args, result: z.null() },
  spare: { access: 'write', args, result: z.boolean() },
  lend: { access: 'write', args, result: z.boolean() },
  push: { access: 'write', args: z.object({}), result: z.null() },
  join: {
    access: 'write',
    args: z.object({ who: z.union([z.string(), z.number()]) }),
    result: z.null(),
  },
  total: { access: 'read', args: z.object({}), result: z.number() },
  size: { access: 'read', args: z.object({}), result: z.number() },
  who: { access: 'read', args: z.object({}), result: z.array(z.union([z.string(), z.number()])) },
});
const service = defineService(contract, {
  tables: {
    tills: table({ total: counter(), items: queue<number>(), who: set<string | number>() }),
  },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    join: blue((value: { who: string | number }) => [tills.row('one').who.add(value.who)]),
    take: red((value: { amount: number }) => [tills.row('one').total.add(-value.amount)]),
    push: red((_args: object) => [tills.row('one').items.push(1)]),
    lend: red(
      (value: { amount: number }) => [tills.row('one').total.add(-value.amount)],
      () => true,
    ),
  }),
  generators: {
    add: (value, { shadow }) => shadow.add(value, null),
    join: (value, { shadow }) => shadow.join(value, null),
    // Red, or without effects.
    take: (value, { shadow }) => shadow.take(value, null),
    order: (value, { shadow }) => shadow.take(value, null),
    spare: (value, { tables, shadow }) =>
      tables.tills.row('one').total >= value.amount && shadow.take(value, true),
    lend: (value, { tables, shadow }) =>
      tables.tills.row('one').total >= value.amount && shadow.lend(value),
    push: (_, { shadow }) => shadow.push({}, null),
    total: (_, { tables }) => tables.tills.row('one').total,
    size: (_, { tables }) => tables.tills.row('one').items.size,
    who: (_, { tables }) => [...tables.tills.row('one').who],
  },
  alwaysRed: ['order'],
});

const [LEADER, S, T] = [0, 1, 2] as const;
const add = (amount: number) => contract.add({ amount });
const take = (amount: number) => contract.take({ amount });
const spare = (amount: number) => contract.spare({ amount });
const order = contract.order({ amount: 100 });
const push = contract.push({});
const total = contract.total({});
const size = contract.size({});
const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };
const HELD = { id: 'c/1', home: S };

/** Few places, and the marker of this start of S is through: what it has refused once is known. */
function known(options: Partial<SiteOptions> = {}): Sites {
  const sites = new Sites(service, 3, { maxRedInFlight: 2, maxAttempts: 5, ...options });
  for (let n = 0; n < 2; n += 1) sites.submit(S, push);
  expect(sites.ask(S, order, { id: 'x/1', home: S }).code).toBe('UNKNOWN');
  sites.settle();
  sites.pass(50);
  return sites;
}

/** What a session has seen that was at the leader, when S has not got it. */
function seenAtLeader(sites: Sites): readonly number[] {
  const { length } = sites.machines;
  const outcome = sites.submit(LEADER, add(7), {
    sessionVector: Array.from({ length: length + 1 }, () => 0),
  });
  sites.sync(LEADER);
  return outcome.seen ?? expect.fail('it has seen nothing');
}

describe('copies of one operation', () => {
  test.each([
    ['the later first', [1, 0], ['ABORTED', 'UNKNOWN'], 0],
    ['the earlier first', [0, 1], ['UNKNOWN', 'UNKNOWN'], 0],
    ['the earlier alone', [0], ['UNKNOWN', undefined], -100],
  ] as const)(
    'two copies wait for the handover, and these are abandoned: %s → each gets its true outcome',
    (_, value, codes, left) => {
      const sites = known();
      const serials: number[] = [];
      const requested = [0, 1].map(() => {
        const outcome = sites.ask(S, take(100), HELD);
        serials.push(sites.lastSerial);
        return outcome;
      });
      for (const at of value) sites.abandon(S, serials[at]);
      sites.settle();
      sites.pass(100);
      expect(requested.map(({ code }) => code)).toEqual(codes);
      expect(sites.read(S, total)).toBe(left);
    },
  );

  test('a moved copy is abandoned while its home is asked → it ends, and takes no place in the queue later', () => {
    const sites = new Sites(service, 3, {
      windows: { maxProposed: 1 },
      maxRedInFlight: 10,
      maxAttempts: 5,
    });
    sites.crash(LEADER);
    const requested = Array.from({ length: 12 }, (_, client) => {
      const outcome = sites.ask(T, push, { id: `c${client}/1`, home: S, hop: 1 });
      sites.abandon(T);
      return outcome;
    });
    expect(requested.map(({ code }) => code)).toEqual(requested.map(() => 'UNKNOWN'));
    sites.pass(500);
    const there = sites.submit(T, push);
    sites.start(LEADER);
    sites.pass(200);
    expect([there.value, sites.read(T, size)]).toEqual([null, 1]);
  });

  test('one copy waits for its session, another is rejected → UNKNOWN: it may still take effect', () => {
    const sites = known();
    const sessionVector = seenAtLeader(sites);
    const first = sites.ask(S, order, HELD, { sessionVector });
    for (let n = 0; n < 2; n += 1) sites.submit(S, push);
    const second = sites.ask(S, order, HELD, { sessionVector });
    expect(second.code).toBe('UNKNOWN');
    // There is room again before its session is covered.
    for (let n = 0; n < 8; n += 1) {
      for (const site of sites.machines.keys()) sites.sync(site);
      sites.deliver(({ message }) => message.kind.startsWith('log.'));
    }
    sites.pass(100);
    expect([first.value, sites.read(S, total)]).toEqual([null, -93]);
  });

  test('one copy waits for its session, another is rejected for lack of acknowledgements → UNKNOWN: it may still take effect', () => {
    const maxOutcomes = { maxOperations: 100, maxClients: 100, maxOperationsPerClient: 2 };
    const sites = new Sites(service, 3, {
      maxAttempts: 5,
      retentionLimits: { ...CERTIFIER_LIMITS, maxOutcomes },
    });
    const sessionVector = seenAtLeader(sites);
    const first = sites.ask(S, take(100), { id: 'c/3', home: S }, { sessionVector });
    for (const n of [1, 2]) sites.ask(S, add(1), { id: `c/${n}`, home: S });
    const second = sites.ask(S, take(100), { id: 'c/3', home: S }, { sessionVector });
    expect(second.code).toBe('UNKNOWN');
    sites.settle();
    sites.pass(100);
    expect([first.value, sites.read(S, total)]).toEqual([null, -91]);
  });
});

describe.each(['above', 'below'])(
  'a start with a number that this site has had, by chance %s',
  (how) => {
    const epochAt = (count: number): number =>
      createEpoch(7, (how === 'above' ? count : 100 - count) / 100);
    const again = (): Sites => new Sites(service, 3, { createEpoch: epochAt, maxAttempts: 5 });

    test('the first write of the one before arrives after the first of this one → both are done', () => {
      const sites = again();
      sites.submit(S, take(1));
      sites.deliver(({ to }) => to === LEADER);
      sites.crash(S);
      sites.start(S);
      const second = sites.submit(S, take(500));
      sites.pass(300);
      expect([second.value, sites.read(LEADER, total), sites.read(T, total)]).toEqual([
        null,
        -501,
        -501,
      ]);
    });

    test('the strong read of the one before arrives first → not what the read of this one is answered by', () => {
      const sites = again();
      sites.submit(S, total, STRONG);
      sites.deliver(({ to }) => to === LEADER);
      sites.sync(LEADER);
      const late = sites.sent.filter(({ to }) => to === S);
      sites.sent = sites.sent.filter(({ to }) => to !== S);
      sites.crash(S);
      const taken = sites.submit(LEADER, take(500));
      for (let n = 0; n < 6; n += 1) {
        for (const site of [LEADER, T]) sites.sync(site);
        sites.deliver(({ to }) => to !== S);
      }
      expect(taken.value).toBeNull();
      sites.start(S);
      const read = sites.submit(S, total, STRONG);
      sites.sent.push(...late);
      sites.pass(300);
      expect(read.value).toBe(-500);
    });

    test('a write of the earlier start was rejected, and is sent again → it is done, and no caller waits forever', () => {
      const sites = again();
      sites.submit(LEADER, add(1000));
      sites.pass(50);
      // Another site's update of the same row comes first in the log.
      sites.submit(LEADER, take(1));
      sites.ask(S, order, HELD);
      sites.deliver(({ to, message }) => to === LEADER && message.kind === 'log.propose');
      sites.sync(LEADER);
      sites.crash(S);
      for (let n = 0; n < 6; n += 1) {
        for (const site of [LEADER, T]) sites.sync(site);
        sites.deliver(({ to }) => to !== S);
      }
      sites.sent = sites.sent.filter(({ to }) => to !== S);
      sites.start(S);
      const requested = sites.ask(S, order, HELD);
      sites.pass(1000);
      const later = sites.submit(S, spare(1));
      sites.pass(1000);
      const totals = [LEADER, S, T].map((site) => sites.read(site, total));
      expect([requested.value, later.value, totals]).toEqual([null, true, [898, 898, 898]]);
    });

    test('the leader has fewer of the one before than this one has → none of this one is in the log twice', () => {
      const sites = again();
      sites.submit(LEADER, add(1000));
      sites.pass(50);
      for (let n = 0; n < 3; n += 1) sites.submit(S, push);
      sites.deliver(({ to, message }) => to === LEADER && message.kind === 'log.propose');
      sites.crash(S);
      sites.start(S);
      for (const requested of [push, push, take(1)]) sites.submit(S, requested);
      const value = sites.submit(S, spare(10));
      const serial = sites.lastSerial;
      sites.deliver(({ to, message }) => to === LEADER && message.kind === 'log.propose');
      // It would be executed again on a blue operation of this site that no other site has yet.
      sites.submit(S, add(5));
      sites.sync(S);
      const retained = sites.sent.filter(
        ({ from, message }) => from === S && message.kind.startsWith('blue.'),
      );
      sites.sent = sites.sent.filter((sent) => !retained.includes(sent));
      sites.sync(LEADER);
      sites.deliver(({ to, message }) => to === S && message.kind === 'log.append');
      sites.sync(S);
      sites.abandon(S, serial);
      sites.sent.push(...retained);
      sites.pass(1000);
      const totals = [LEADER, S, T].map((site) => sites.read(site, total));
      const reported = how === 'above' ? true : 'UNKNOWN';
      expect([value.code ?? value.value, totals]).toEqual([reported, [994, 994, 994]]);
    });
  },
);

describe('the leader is away, and many come and give up', () => {
  test.each(['laid', 'not durable', 'behind another'])('%s → few of them are kept', async (how) => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 1 }, maxRedInFlight: 200 });
    sites.submit(LEADER, add(1e6));
    sites.pass(50);
    sites.crash(LEADER);
    if (how === 'not durable') {
      sites.crash(T);
      sites.submit(S, add(1));
    } else for (let n = 0; n < (how === 'laid' ? 1 : 66); n += 1) sites.submit(S, spare(1));
    sites.sync(S);
    const value: WeakRef<object>[] = [];
    for (let n = 0; n < 1500; n += 1) {
      const requested = contract.lend({ amount: how === 'behind another' ? 1e9 : 1000 });
      value.push(new WeakRef(requested.args as object));
      sites.submit(S, requested);
      sites.abandon(S);
      sites.sent = [];
    }
    // What a WeakRef was made of lives until the turn is over.
    await setImmediate();
    collectGarbage();
    expect(value.filter((item) => item.deref() !== undefined).length).toBeLessThan(300);
    expect(sites.machines[S]?.isBusy).toBe(true);
  });
});

test('a write of another site that was rejected is given up → chains of its row go on after a while', () => {
  const roundsOf = (isGivenUp: boolean): number => {
    const sites = new Sites(service, 3, { maxAttempts: 50 });
    sites.submit(LEADER, add(1e6));
    sites.pass(50);
    if (isGivenUp) {
      sites.submit(LEADER, spare(1));
      sites.submit(T, spare(1));
      const serial = sites.lastSerial;
      sites.sync(LEADER);
      sites.deliver(({ from, to }) => from !== T || to === LEADER);
      for (const site of [LEADER, S]) sites.sync(site);
      sites.deliver(({ to }) => to === LEADER);
      // It is executed again on a blue operation of this site that no other site has yet.
      sites.submit(T, add(1));
      for (let n = 0; n < 6; n += 1) {
        for (const site of [T, LEADER, S]) sites.sync(site);
        sites.sent = sites.sent.filter(({ message }) => !message.kind.startsWith('blue.'));
        sites.deliver();
      }
      sites.abandon(T, serial);
      sites.pass(100);
    }
    const requested = Array.from({ length: 20 }, () => sites.submit(S, spare(1)));
    let rounds = 0;
    for (; requested.some(({ value }) => value === undefined) && rounds < 100; rounds += 1) {
      for (const site of sites.machines.keys()) sites.sync(site);
      sites.deliver();
    }
    return rounds;
  };
  expect(roundsOf(true)).toBe(roundsOf(false));
});

test('a set → read in one order at all sites, before and after restarts, and in previews', () => {
  const sites = new Sites(service, 3);
  const names = ['bob', 'ann', 10, 9, 'Zoe', '10'];
  for (const [at, caller] of names.entries()) sites.submit(at % 3, contract.join({ who: caller }));
  sites.settle();
  sites.pass(50);
  const read = (): unknown[] => [LEADER, S, T].map((site) => sites.read(site, contract.who({})));
  const sorted = [9, 10, '10', 'Zoe', 'ann', 'bob'];
  expect(read()).toEqual([sorted, sorted, sorted]);
  for (const site of [LEADER, S, T]) {
    sites.crash(site);
    sites.start(site);
  }
  sites.pass(50);
  expect(read()).toEqual([sorted, sorted, sorted]);
});
