/**
 * The red leader is away: what waits for it gives its place back when it is given up, and leaves
 * room for all else.
 */
// @rule CLU-W1, CLU-W2, CLU-W3, CLU-W4
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../../src/correctable/client/client.ts';
import type { CorrectableError } from '../../../../../../src/correctable/errors.ts';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import type { SiteOptions } from '../../../../../../src/server/site/site-options.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { SiteBinding } from '../../../../../../src/server/node/submission/site-binding.ts';
import { counter, queue, table } from '../../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { startSecondSite } from '../../second-site.ts';
import { getOperationPlans } from '../../../../../../src/server/service/operation-plan.ts';
import { Sites } from '../../sites.ts';
import type { Outcome } from '../../sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args, result: z.null() },
  take: { access: 'write', args, result: z.null() },
  order: { access: 'write', args, result: z.null() },
  spare: { access: 'write', args, result: z.boolean() },
  total: { access: 'read', args: z.object({}), result: z.number() },
  found: { access: 'read', args: z.object({}), result: z.number(), errors: { missing: z.null() } },
  push: { access: 'write', args: z.object({}), result: z.null() },
  size: { access: 'read', args: z.object({}), result: z.number() },
});
const service = defineService(contract, {
  tables: { tills: table({ total: counter(), items: queue<number>() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    take: red((value: { amount: number }) => [tills.row('one').total.add(-value.amount)]),
    push: red((_args: object) => [tills.row('one').items.push(1)]),
  }),
  generators: {
    add: (value, { shadow }) => shadow.add(value, null),
    take: (value, { shadow }) => shadow.take(value, null),
    order: (value, { shadow }) => shadow.take(value, null),
    // Returns false if there is too little, which other sites may already know.
    spare: (value, { tables, shadow }) =>
      tables.tills.row('one').total >= 1000 && shadow.take(value, true),
    total: (_, { tables }) => tables.tills.row('one').total,
    found: (_, { tables, errors }) => {
      if (!tables.tills.has('one')) throw errors.missing(null);
      return tables.tills.row('one').total;
    },
    // Nothing is read: it is never sent back, and waits for no other.
    push: (_, { shadow }) => shadow.push({}, null),
    size: (_, { tables }) => tables.tills.row('one').items.size,
  },
  alwaysRed: ['order'],
  throttled: { operations: ['order'], maxInFlight: 1, minSlotIntervalMs: 1 },
});

const [LEADER, S] = [0, 1] as const;
const add = contract.add({ amount: 5 });
const take = contract.take({ amount: 1 });
const order = contract.order({ amount: 1 });
const spare = contract.spare({ amount: 1 });
const push = contract.push({});
const total = contract.total({});
const size = contract.size({});
const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };

/** The leader is down, and one proposal is on its way to it: others wait behind it. */
function withoutLeader(options: Partial<SiteOptions> = {}): Sites {
  const sites = new Sites(service, 3, { windows: { maxProposed: 1 }, ...options });
  sites.crash(LEADER);
  sites.submit(S, take);
  sites.sync(S);
  return sites;
}

function comeBack(sites: Sites): void {
  sites.start(LEADER);
  sites.pass(100);
}

describe('abandoned operations', () => {
  test('a strong read → ends at once, and takes no place in the log', () => {
    const sites = withoutLeader();
    const read = sites.submit(S, total, STRONG);
    sites.abandon(S);
    expect(read.code).toBe('ABORTED');
    comeBack(sites);
    expect(sites.machines[S]?.redDelivered).toBe(1);
  });

  test('a red write that was not proposed → ends at once, and never takes effect', () => {
    const sites = withoutLeader();
    const taken = sites.submit(S, take);
    sites.abandon(S);
    expect(taken.code).toBe('ABORTED');
    comeBack(sites);
    expect(sites.read(S, total)).toBe(-1);
  });

  test('a red write that was proposed → UNKNOWN, and a resend gets the outcome of the red order', () => {
    const sites = new Sites(service);
    const named = { id: 'c/1', home: S };
    const taken = sites.ask(S, order, named);
    sites.abandon(S);
    expect(taken.code).toBe('UNKNOWN');
    sites.settle();
    expect([sites.ask(S, order, named).value, sites.read(S, total)]).toEqual([null, -1]);
  });

  test('a write that waits for a place of a pace → the one behind it gets that', () => {
    const sites = withoutLeader();
    sites.submit(S, order);
    const value = sites.submit(S, order);
    sites.abandon(S);
    const behind = sites.submit(S, order);
    expect(value.code).toBe('ABORTED');
    comeBack(sites);
    expect([behind.value, sites.read(S, total)]).toEqual([null, -3]);
  });

  test('a write that two asked for, both gone → it never takes effect, of which neither can be sure', () => {
    const sites = withoutLeader();
    const named = { id: 'c/1', home: S };
    const requested = [sites.ask(S, push, named), sites.ask(S, push, named)];
    sites.sync(S);
    sites.abandon(S);
    sites.abandon(S, sites.lastSerial - 1);
    expect(requested.map(({ code }) => code)).toEqual(['UNKNOWN', 'UNKNOWN']);
    comeBack(sites);
    expect(sites.read(S, size)).toBe(0);
  });

  test('a write that waits for another site to have its causes → not proposed once that has them', () => {
    const sites = new Sites(service);
    sites.submit(S, add);
    sites.sync(S);
    sites.submit(S, take);
    sites.abandon(S);
    sites.settle();
    sites.pass(50);
    expect(sites.read(S, total)).toBe(5);
  });
});

describe('what waits for its session', () => {
  test.each([
    ['a blue write', add],
    ['a write that is always red', order],
  ])('%s is given up → ends at once, and never takes effect', (_, operation) => {
    const sites = new Sites(service);
    const sessionVector = [0, 0, 0, 5e15];
    const waiting = sites.submit(S, operation, { sessionVector });
    sites.abandon(S);
    expect(waiting.code).toBe('ABORTED');
    sites.pass(200);
    sites.settle();
    expect(sites.read(S, total)).toBe(0);
  });
});

test('a named write waits for its session and is given up → UNKNOWN, since it may have been begun elsewhere', () => {
  const sites = new Sites(service);
  const waiting = sites.ask(
    S,
    order,
    { id: 'c/1', home: LEADER, hop: 1 },
    { sessionVector: [0, 0, 0, 5e15] },
  );
  sites.abandon(S);
  expect(waiting.code).toBe('UNKNOWN');
});

test('a held write is given up and asked for again, then its hand-over is synced → its chain goes on', () => {
  const sites = new Sites(service, 3, { maxAttempts: 5 });
  sites.ask(S, take, { id: 'c/1', home: S });
  sites.abandon(S);
  const again = sites.ask(S, take, { id: 'c/1', home: S });
  const behind = sites.submit(S, take);
  sites.settle();
  sites.pass(50);
  expect([again.value, behind.value, sites.read(S, total)]).toEqual([null, null, -2]);
});

describe('sent again many times', () => {
  const again = (sites: Sites, hop: number): Outcome =>
    sites.ask(S, order, { id: 'c/1', home: S, hop });

  test('more often than allowed → the first ones get UNKNOWN, the last ones get the outcome', () => {
    const sites = withoutLeader();
    const requested = Array.from({ length: 10 }, (_, hop) => again(sites, hop));
    expect(requested.map(({ code }) => code)).toEqual([
      ...Array.from({ length: 6 }, () => 'UNKNOWN'),
      ...Array.from({ length: 4 }),
    ]);
    comeBack(sites);
    expect(requested.slice(6).map(({ value }) => value)).toEqual([null, null, null, null]);
    expect(sites.read(S, total)).toBe(-2);
  });

  test('one of them is given up → ends alone', () => {
    const sites = withoutLeader();
    const first = again(sites, 0);
    const second = again(sites, 1);
    sites.abandon(S);
    expect([first.code, second.code]).toEqual([undefined, 'UNKNOWN']);
    comeBack(sites);
    expect(first.value).toBe(null);
  });
});

describe('budget of what waits for the red order', () => {
  const full = (): Sites => withoutLeader({ maxRedInFlight: 1 });

  test('spent → a "no" that would have to be certified is refused', () => {
    const sites = full();
    expect(sites.submit(S, spare).code).toBe('OVERLOADED');
  });

  test('spent by strong reads that were given up after they had been proposed → refused until the log delivers', () => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 1 }, maxRedInFlight: 2 });
    for (let read = 0; read < 3; read += 1) {
      sites.submit(LEADER, total, STRONG);
      sites.abandon(LEADER);
    }
    expect(sites.submit(LEADER, total, STRONG).code).toBe('OVERLOADED');
    sites.settle();
    const later = sites.submit(LEADER, total, STRONG);
    sites.settle();
    expect(later.value).toBe(0);
  });

  test('spent by others while writes waited for their session → refused when it is their turn', () => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 1 }, maxRedInFlight: 2 });
    sites.crash(LEADER);
    const sessionVector = [0, 0, 0, 5e15];
    const waiting = Array.from({ length: 5 }, () => sites.submit(S, order, { sessionVector }));
    sites.pass(200);
    expect(waiting.filter(({ code }) => code === 'OVERLOADED')).toHaveLength(3);
  });

  test('spent → red writes and strong reads are refused, blue writes and causal reads go on', () => {
    const sites = full();
    const refused = [sites.submit(S, take), sites.submit(S, order), sites.submit(S, total, STRONG)];
    expect(refused.map(({ code }) => code)).toEqual(['OVERLOADED', 'OVERLOADED', 'OVERLOADED']);
    const blueOne = sites.submit(S, add);
    sites.sync(S);
    expect([blueOne.value, sites.read(S, total)]).toEqual([null, 5]);
  });

  test('spent, a read at both levels → the causal view, then the refusal', () => {
    const sites = full();
    const kinds: unknown[] = [];
    const wantedStages = { tentative: false, causal: true, strong: true };
    const machine = sites.machines[S];
    const plan = getOperationPlans(service).get('total')!;
    machine?.submit({ serial: 99, plan, args: {}, seed: 1, submittedAtMs: 0, wantedStages }, 0);
    for (const { kind, stage } of machine?.takeReady().answers ?? []) kinds.push([kind, stage]);
    expect(kinds).toEqual([
      ['view', 'causal'],
      ['failed', undefined],
    ]);
  });

  test('spent by what was sent and given up → room for as many as are sent at a time, and no more', () => {
    const sites = new Sites(service, 3, { windows: { maxProposed: 2 }, maxRedInFlight: 3 });
    sites.crash(LEADER);
    const sent = [sites.submit(S, push), sites.submit(S, push)];
    sites.abandon(S);
    sites.abandon(S, sites.lastSerial - 1);
    const waiting = [1, 2, 3].map(() => sites.submit(S, push));
    expect(sites.submit(S, push).code).toBe('OVERLOADED');
    const codes = [...sent, ...waiting].map(({ code }) => code);
    expect(codes).toEqual(['UNKNOWN', 'UNKNOWN', undefined, undefined, undefined]);
    comeBack(sites);
    expect(waiting.map(({ value }) => value)).toEqual([null, null, null]);
    expect(sites.read(S, size)).toBe(5);
  });

  test('spent → UNKNOWN if another site or an earlier start may have begun it, else OVERLOADED', () => {
    const sites = full();
    expect(sites.ask(S, order, { id: 'c/1', home: S }).code).toBe('UNKNOWN');
    sites.start(LEADER);
    sites.pass(100);
    sites.crash(LEADER);
    sites.submit(S, take);
    sites.sync(S);
    expect(sites.ask(S, order, { id: 'c/2', home: S }).code).toBe('OVERLOADED');
    expect(sites.ask(S, order, { id: 'c/3', home: 2, hop: 1 }).code).toBe('UNKNOWN');
  });

  test('a named write that was refused → is not executed when it is asked for again', () => {
    const sites = full();
    const first = sites.ask(S, take, { id: 'c/1', home: S });
    sites.sync(S);
    expect(first.code).toBe('OVERLOADED');
    comeBack(sites);
    const second = sites.ask(S, take, { id: 'c/1', home: S });
    sites.settle();
    expect([second.code, sites.read(S, total)]).toEqual(['OVERLOADED', -1]);
  });
});

describe('the connection to the leader is lost', () => {
  const THIRD = 2;
  const setConnected = (
    sites: Sites,
    isConnected: boolean,
    [site, other]: readonly [number, number] = [S, LEADER],
  ) => {
    sites.machines[site]?.setConnected(siteAt(other), isConnected, sites.nowMs);
    sites.sync(site);
  };

  /**
   * Sites whose connections were up, so that their starts are known. The leader has been away for
   * so long.
   */
  function withLostLeader(awayMs: number): Sites {
    const sites = new Sites(service, 3);
    for (const site of [S, THIRD]) setConnected(sites, true, [site, LEADER]);
    sites.settle();
    sites.crash(LEADER);
    setConnected(sites, false);
    sites.pass(awayMs);
    return sites;
  }

  test('for a moment → what waits goes on once it is back', () => {
    const sites = withLostLeader(0);
    const asked = [
      sites.submit(S, total, STRONG),
      sites.submit(S, push),
      sites.ask(S, take, { id: 'c/1', home: S }),
    ];
    sites.pass(2500);
    expect(asked.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
    sites.start(LEADER);
    setConnected(sites, true);
    sites.pass(100);
    expect(asked.map(({ value }) => value)).toEqual([0, null, null]);
  });

  test('for longer → reads end, what was proposed waits longer and is UNKNOWN then, and all is done once', () => {
    const sites = withLostLeader(0);
    const read = sites.submit(S, total, STRONG);
    const proposed = sites.ask(S, order, { id: 'c/1', home: S });
    sites.pass(3100);
    expect([read.code, read.retryable, proposed.code]).toEqual(['UNAVAILABLE', true, undefined]);
    sites.pass(4000);
    expect([proposed.code, proposed.retryable]).toEqual(['UNKNOWN', false]);
    const again = sites.ask(S, order, { id: 'c/1', home: S });
    sites.pass(20);
    expect(again.code).toBe('UNKNOWN');
    sites.start(LEADER);
    setConnected(sites, true);
    sites.pass(100);
    const last = sites.ask(S, order, { id: 'c/1', home: S });
    sites.settle();
    expect([last.value, sites.read(S, total)]).toEqual([null, -1]);
  });

  test.each([
    ['a red write', take],
    ['one that is always red', order],
    ['a "no" that has to be certified', spare],
  ])('%s that comes then → UNAVAILABLE at once, and a retry is executed once', (_, operation) => {
    const sites = withLostLeader(4000);
    const named = { id: 'c/1', home: S };
    const first = sites.ask(S, operation, named);
    sites.sync(S);
    expect([first.code, first.retryable]).toEqual(['UNAVAILABLE', true]);
    sites.start(LEADER);
    setConnected(sites, true);
    sites.pass(100);
    const again = sites.ask(S, operation, named);
    sites.settle();
    sites.pass(50);
    expect([again.code, sites.read(S, total)]).toEqual([undefined, operation === spare ? 0 : -1]);
  });

  test('a message of the leader comes before the connection to it is up → operations wait for it again', () => {
    const sites = withLostLeader(4000);
    sites.start(LEADER);
    const read = sites.submit(S, total, STRONG);
    sites.settle();
    sites.pass(50);
    expect([read.code, read.value]).toEqual([undefined, 0]);
  });

  test('blue writes and causal reads go on', () => {
    const sites = withLostLeader(4000);
    const added = sites.submit(S, add);
    sites.sync(S);
    expect([added.value, sites.read(S, total)]).toEqual([null, 5]);
  });

  test('a write that may have been begun elsewhere → UNKNOWN', () => {
    const sites = withLostLeader(4000);
    expect(sites.ask(S, order, { id: 'c/3', home: THIRD, hop: 1 }).code).toBe('UNKNOWN');
  });

  test('a retry with the same key is executed, although its first try failed', () => {
    const sites = withLostLeader(4000);
    const keyed = { id: '\u0001p/k/1', home: S, hop: 1 };
    expect(sites.ask(S, take, keyed).code).not.toBe(undefined);
    sites.start(LEADER);
    setConnected(sites, true);
    sites.pass(100);
    const again = sites.ask(S, take, keyed);
    sites.settle();
    sites.pass(50);
    expect([again.value, sites.read(S, total)]).toEqual([null, -1]);
  });

  test('the error names the site, and so does what operators see', () => {
    const sites = withLostLeader(4000);
    const { machines, nowMs } = sites;
    expect(machines[S]?.redLogs.findProblems(nowMs)[0]).toBe(
      'the site h, which orders them and is not connected to s',
    );
    expect(machines[S]?.red.lanes.main.admission.fullError().message).toContain(
      'wait for the site h',
    );
  });

  test('at the leader: without a majority reads end, with one they go on', () => {
    const sites = new Sites(service, 3);
    setConnected(sites, false, [LEADER, S]);
    sites.pass(4000);
    expect(sites.machines[LEADER]?.redLogs.findProblems(sites.nowMs)[0]).toBe(undefined);
    setConnected(sites, false, [LEADER, THIRD]);
    sites.pass(4000);
    expect(sites.submit(LEADER, total, STRONG).code).toBe('UNAVAILABLE');
    expect(sites.machines[LEADER]?.redLogs.findProblems(sites.nowMs)[0]).toBe(
      'a majority of the sites, of which s, t are not connected to h',
    );
    setConnected(sites, true, [LEADER, THIRD]);
    const read = sites.submit(LEADER, total, STRONG);
    sites.settle();
    sites.pass(50);
    expect(read.value).toBe(0);
  });
});

test('the signal of an invocation reaches the site: timed out reads leave room for others', async () => {
  const driver = startSecondSite(service);
  const client = createClient(new SiteBinding('b', driver));
  const aborter = new AbortController();
  const options = { signal: aborter.signal };
  const reads = Array.from({ length: 10 }, () =>
    client.invokeStrong(total, options).catch((error: unknown) => (error as CorrectableError).code),
  );
  await expect(client.invoke(add)).rejects.toMatchObject({ code: 'OVERLOADED' });
  aborter.abort();
  expect(new Set(await Promise.all(reads))).toEqual(new Set(['ABORTED']));
  await expect
    .poll(() => client.invoke(add).catch((error: unknown) => (error as CorrectableError).code))
    .toBe(null);
  expect(await client.invokeWeak(total)).toBeGreaterThanOrEqual(5);
  driver.close();
});
