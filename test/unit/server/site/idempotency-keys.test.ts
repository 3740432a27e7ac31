/**
 * Operations named by an idempotency key: sites are asked for them in any order, and know no client
 * that has moved.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { formatKeyedOperationId } from '../../../../src/server/site/core/operation-id.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { scaleRuns } from '../../../support/lane.ts';
import { Sites, type Outcome } from './sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args, result: z.number() },
  take: { access: 'write', args, result: z.boolean() },
  order: { access: 'write', args, result: z.number() },
  total: { access: 'read', args: z.object({}), result: z.number() },
});

const service = defineService(contract, {
  tables: { tills: table({ total: counter() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    take: red((value: { amount: number }) => [tills.row('one').total.add(-value.amount)]),
  }),
  generators: {
    add: (value, { shadow, tables }) => shadow.add(value, tables.tills.row('one').total),
    take: (value, { tables, shadow }) =>
      tables.tills.row('one').total < value.amount ? false : shadow.take(value, true),
    order: (value, { shadow, tables }) => shadow.add(value, tables.tills.row('one').total),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
  alwaysRed: ['order'],
});

const ALL = [0, 1, 2] as const;
const [H, S, T] = ALL;
const add = contract.add({ amount: 5 });
const total = contract.total({});

/** Asks a site; `variant` stands for the operation and its arguments. */
function ask(
  sites: Sites,
  site: number,
  operation = add as { name: string; args: unknown },
  variant = 1,
): Outcome {
  return sites.ask(site, operation, {
    id: formatKeyedOperationId('k', variant),
    home: H,
    hop: 1,
    hasMoved: false,
  });
}

function totals(sites: Sites): unknown[] {
  sites.pass(50);
  return ALL.map((site) => sites.read(site, total));
}

const values = (outcomes: readonly Outcome[]): unknown[] =>
  outcomes.map(({ value, code }) => value ?? code);

/** Numbers from 0 up to `below`, the same for a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('idempotency keys', () => {
  test('the site that has claimed it crashes before it executes → executed where it is asked next', () => {
    const sites = new Sites(service);
    ask(sites, S);
    sites.deliver();
    sites.sync(H);
    sites.crash(S);
    const second = ask(sites, T);
    sites.pass(50);
    expect(second).toEqual({});
    sites.start(S);
    sites.pass(50);
    expect(values([second, ask(sites, H)])).toEqual([0, undefined]);
    expect(totals(sites)).toEqual([5, 5, 5]);
  });

  test('all sites restart → still known', () => {
    const sites = new Sites(service);
    ask(sites, S);
    sites.pass(50);
    for (const site of ALL) sites.crash(site);
    for (const site of ALL) sites.start(site);
    sites.pass(50);
    const again = ALL.map((site) => ask(sites, site));
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(values(again)).toEqual([0, 0, 0]);
  });

  test('its home cannot be reached → UNKNOWN, nothing is done there', () => {
    const sites = new Sites(service);
    sites.crash(H);
    const outcome = ask(sites, S);
    sites.pass(200);
    expect([outcome.code, outcome.retryable]).toEqual(['UNKNOWN', false]);
    expect(sites.read(S, total)).toBe(0);
  });

  test('another operation under the key while the first waits for its session → refused', () => {
    const sites = new Sites(service, 3, { sessionTimeoutMs: 1000 });
    sites.submit(T, contract.add({ amount: 1 }));
    sites.sync(T);
    const sessionVector = [...(sites.machines[T]?.state.stable ?? [])];
    const outcomes = [1, 2].map((variant) =>
      sites.ask(
        H,
        add,
        { id: formatKeyedOperationId('k', variant), home: H, hop: 1, hasMoved: false },
        { sessionVector },
      ),
    );
    expect(totals(sites)).toEqual([6, 6, 6]);
    expect(values(outcomes)).toEqual([1, 'INVALID_ARGUMENT']);
  });

  test('a "no" of an operation that may be red → the same "no" everywhere, whatever has changed since', () => {
    const sites = new Sites(service);
    const take = contract.take({ amount: 5 });
    const first = ask(sites, S, take);
    sites.pass(50);
    sites.submit(H, add);
    sites.pass(50);
    const again = ALL.map((site) => ask(sites, site, take));
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(values([first, ...again])).toEqual([false, false, false, false]);
  });

  test('a conflict → the outcome of the key: a retry gets it again, and is not advised to retry', () => {
    const sites = new Sites(service);
    sites.submit(H, contract.add({ amount: 20 }));
    sites.pass(50);
    const take = contract.take({ amount: 5 });
    const named = { id: formatKeyedOperationId('k', 1), home: T, hop: 1, hasMoved: false };
    const rivals = [sites.submit(H, take), sites.ask(T, take, named)];
    sites.pass(50);
    const again = sites.ask(S, take, named);
    expect(totals(sites)).toEqual([15, 15, 15]);
    expect(values([...rivals, again])).toEqual([true, 'CONFLICT', 'CONFLICT']);
    expect([rivals[1]?.retryable, again.retryable]).toEqual([false, false]);
  });

  test('a session that is behind → nothing is kept under the key, and a retry executes', () => {
    const sites = new Sites(service);
    const sessionVector = [0, 0, 0, 1_000];
    const behind = sites.ask(
      H,
      add,
      { id: formatKeyedOperationId('k', 1), home: H, hop: 1, hasMoved: false },
      { sessionVector },
    );
    sites.pass(200);
    expect(behind.code).toBe('REPLICA_BEHIND');
    const again = ask(sites, H);
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(again.value).toBe(0);
  });

  test('asked anywhere, with losses and crashes in between → one of the writes is done, once, and each answer is its', () => {
    const answered = { results: 0, refusals: 0 };
    const runs = scaleRuns(100);
    for (let seed = 1; seed <= runs; seed += 1) {
      const random = randomOf(seed);
      const sites = new Sites(service);
      const variants = [
        contract.add({ amount: 5 }),
        contract.order({ amount: 7 }),
        contract.take({ amount: -9 }),
      ];
      const requested: { readonly variant: number; readonly outcome: Outcome }[] = [];
      const requestAt = (site: number, variant = random(4) > 0 ? seed % 3 : random(3)): void => {
        const identity = {
          id: formatKeyedOperationId('k', variant + 1),
          home: seed % 2 === 0 ? H : T,
          hop: 1,
          hasMoved: false,
        };
        if (sites.machines[site] === undefined) sites.start(site);
        requested.push({ variant, outcome: sites.ask(site, variants[variant]!, identity) });
      };
      for (let step = 0; step < 40; step += 1) {
        const site = random(3);
        const act = random(10);
        if (act < 2) requestAt(site);
        else if (act < 5) sites.sync(site);
        else if (act < 8) sites.deliver(() => random(2) === 0);
        else if (act === 8) sites.tick();
        else if (random(3) > 0) sites.sent = sites.sent.filter(() => random(4) > 0);
        else sites.crash(site);
      }
      for (const site of ALL) if (sites.machines[site] === undefined) sites.start(site);
      sites.pass(300);
      // A key may be bound to an update whose site has crashed before it was executed: that one is
      // still to be asked for.
      for (const variant of variants.keys()) requestAt(random(3), variant);
      sites.pass(300);
      const done = ALL.map((site) => sites.read(site, total));
      expect(new Set(done).size, `seed ${seed}: ${done.join()}`).toBe(1);
      expect([5, 7, 9], `seed ${seed}`).toContain(done[0]);
      const winner = [5, 7, 9].indexOf(done[0] as number);
      for (const { variant, outcome } of requested) {
        if (outcome.value !== undefined) {
          expect([variant, outcome.value], `seed ${seed}`).toEqual([
            winner,
            winner === 2 ? true : 0,
          ]);
          answered.results += 1;
        } else if (outcome.code === 'INVALID_ARGUMENT') {
          expect(variant, `seed ${seed}`).not.toBe(winner);
          answered.refusals += 1;
        }
      }
    }
    expect(answered.results).toBeGreaterThan(2 * runs);
    expect(answered.refusals).toBeGreaterThan(runs / 2);
  });
});
