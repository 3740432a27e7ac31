/** The red leader is away: what waits for it gives its place back when it is given up, and leaves room for all else. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../src/correctable/client.ts';
import type { CorrectableError } from '../../../src/correctable/errors.ts';
import { defineContract } from '../../../src/protocol/contract.ts';
import type { SiteOptions } from '../../../src/server/redblue/site-machine.ts';
import { defineService } from '../../../src/server/redblue/service.ts';
import { blue, red } from '../../../src/server/redblue/shadow-operation.ts';
import { SiteBinding } from '../../../src/server/redblue/site-binding.ts';
import { counter, table } from '../../../src/server/redblue/tables.ts';
import { SignedTokens } from '../../../src/server/session-tokens.ts';
import { SiteDriver } from '../../../src/server/site-driver.ts';
import { VolatileStorage } from '../../../src/server/storage/volatile-storage.ts';
import { Sites } from './sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { effect: 'update', args, result: z.null() },
  take: { effect: 'update', args, result: z.null() },
  order: { effect: 'update', args, result: z.null() },
  total: { effect: 'read', args: z.object({}), result: z.number() },
});
const service = defineService(contract, {
  tables: { tills: table({ total: counter() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((given: { amount: number }) => [tills.row('one').total.add(given.amount)]),
    take: red((given: { amount: number }) => [tills.row('one').total.add(-given.amount)]),
  }),
  generators: {
    add: (given, { shadow }) => shadow.add(given, null),
    take: (given, { shadow }) => shadow.take(given, null),
    order: (given, { shadow }) => shadow.take(given, null),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
  alwaysRed: ['order'],
  paced: { operations: ['order'], window: 1, turnMs: 1 },
});

const [LEADER, S] = [0, 1] as const;
const add = contract.add({ amount: 5 });
const take = contract.take({ amount: 1 });
const order = contract.order({ amount: 1 });
const total = contract.total({});
const STRONG = { wants: { tentative: false, causal: false, strong: true } };

/** The leader is down, and one proposal is on its way to it: others wait behind it. */
function withoutLeader(given: Partial<SiteOptions> = {}): Sites {
  const sites = new Sites(service, 3, { windows: { proposed: 1 }, ...given });
  sites.crash(LEADER);
  sites.submit(S, take);
  sites.sync(S);
  return sites;
}

function comeBack(sites: Sites): void {
  sites.start(LEADER);
  sites.pass(100);
}

describe('what is given up', () => {
  test('a strong read → ends at once, and takes no place in the log', () => {
    const sites = withoutLeader();
    const read = sites.submit(S, total, STRONG);
    sites.abandon(S);
    expect(read.code).toBe('ABORTED');
    comeBack(sites);
    expect(sites.machines[S]?.replica.redDelivered).toBe(1);
  });

  test('a red update that was not proposed → ends at once, and never takes effect', () => {
    const sites = withoutLeader();
    const taken = sites.submit(S, take);
    sites.abandon(S);
    expect(taken.code).toBe('ABORTED');
    comeBack(sites);
    expect(sites.read(S, total)).toBe(-1);
  });

  test('a red update that was proposed → its end is what the red order says', () => {
    const sites = new Sites(service);
    const taken = sites.submit(S, take);
    sites.abandon(S);
    expect(taken).toEqual({});
    sites.settle();
    expect([taken.value, sites.read(S, total)]).toEqual([null, -1]);
  });

  test('an update that waits for a place of a pace → the one behind it gets that', () => {
    const sites = withoutLeader();
    sites.submit(S, order);
    const given = sites.submit(S, order);
    sites.abandon(S);
    const behind = sites.submit(S, order);
    expect(given.code).toBe('ABORTED');
    comeBack(sites);
    expect([behind.value, sites.read(S, total)]).toEqual([null, -3]);
  });

  test('an update that waits for another site to have its causes → not proposed once that has them', () => {
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

describe('budget of what waits for the red order', () => {
  const full = (): Sites => withoutLeader({ redInFlightMax: 1 });

  test('spent → red updates and strong reads are refused, blue updates and causal reads go on', () => {
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
    const wants = { tentative: false, causal: true, strong: true };
    const machine = sites.machines[S];
    machine?.submit({ token: 99, operation: 'total', args: {}, seed: 1, submittedAtMs: 0, wants }, 0);
    for (const output of machine?.takeOutputs() ?? []) kinds.push('stage' in output ? [output.kind, output.stage] : 0);
    expect(kinds).toEqual([
      ['view', 'causal'],
      ['failed', undefined],
    ]);
  });

  test('spent, and another site or an earlier start may have begun it → UNKNOWN; nobody can have → OVERLOADED', () => {
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

  test('a named update that was refused → is not executed when it is asked for again', () => {
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

test('the signal of an invocation reaches the site: timed out reads leave room for others', async () => {
  const sites = ['a', 'b'];
  const driver = new SiteDriver({
    service,
    site: 1,
    sites,
    redLeader: 0,
    storage: new VolatileStorage(1),
    send: () => {},
    tokens: new SignedTokens({ key: 'k'.repeat(32), sites, site: 1 }),
    tickMs: 5,
    inFlightMax: 10,
    redInFlightMax: 10,
    backlogMax: 100,
    attemptsMax: 10,
    maxClockSkewMs: 10_000,
    reachTimeoutMs: 5000,
    sessionWaitMs: 5000,
    resendAfterMs: 1000,
  });
  driver.start();
  const client = createClient(new SiteBinding('b', driver));
  const aborter = new AbortController();
  const options = { signal: aborter.signal };
  const reads = Array.from({ length: 10 }, () =>
    client.invokeStrong(total, options).catch((error: unknown) => (error as CorrectableError).code),
  );
  await expect(client.invoke(add)).rejects.toMatchObject({ code: 'OVERLOADED' });
  aborter.abort();
  expect(new Set(await Promise.all(reads))).toEqual(new Set(['ABORTED']));
  await expect.poll(() => client.invoke(add).catch((error: unknown) => (error as CorrectableError).code)).toBe(null);
  expect(await client.invokeWeak(total)).toBeGreaterThanOrEqual(5);
  driver.close();
});
