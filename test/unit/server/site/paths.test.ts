/**
 * The blue and the red path through a deployment: colors, levels, certification, retries, failures.
 */
// @rule RB-R6, RB-R14
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../src/server/node/embedded/embedded.ts';
import type { EmbeddedOptions } from '../../../../src/server/node/embedded/embedded-options.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';
import { bank, bankService, ticketService, tickets } from './services.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
type Site = (typeof SITES)[number];
const deployments: Embedded<Site>[] = [];

function start(service: Service, options: Partial<EmbeddedOptions<Site>> = {}): Embedded<Site> {
  const deployment = createEmbedded(service, { sites: SITES, ...options });
  deployments.push(deployment);
  return deployment;
}

afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

describe('bank (RedBlue, OSDI 2012, §4-5)', () => {
  async function withdrawTwice(
    color: 'red' | 'blue',
  ): Promise<{ paid: number; balances: number[] }> {
    const deployment = start(bankService(color));
    const [ireland, frankfurt] = [
      createClient(deployment.site('ireland')),
      createClient(deployment.site('frankfurt')),
    ];
    await ireland.invoke(bank.deposit({ account: 'joint', amount: 100 }));
    // 25 % of 100: the balance of Figure 5 before the two withdrawals.
    await ireland.invoke(bank.accrueInterest({ account: 'joint', percent: 25 }));
    while ((await frankfurt.invokeWeak(bank.balance({ account: 'joint' }))) < 125)
      await frankfurt.invokeStrong(bank.balance({ account: 'joint' }));
    const outcomes = await Promise.all([
      ireland.invoke(bank.withdraw({ account: 'joint', amount: 70 })),
      frankfurt.invoke(bank.withdraw({ account: 'joint', amount: 60 })),
    ]);
    const paid = outcomes.filter((outcome) => outcome.paid).length;
    const balances: number[] = [];
    for (const client of [ireland, frankfurt]) {
      let balance = await client.invokeStrong(bank.balance({ account: 'joint' }));
      const isArrived = (): boolean => color === 'red' || balance === -5;
      while (!isArrived()) balance = await client.invokeStrong(bank.balance({ account: 'joint' }));
      balances.push(balance);
    }
    return { paid, balances };
  }

  test('all blue, as in Figure 5 → both are paid and the balance is -5 at every site', async () => {
    expect(await withdrawTwice('blue')).toEqual({ paid: 2, balances: [-5, -5] });
  });

  test('withdrawAck red → one is paid, and no balance is below zero', async () => {
    const { paid, balances } = await withdrawTwice('red');
    expect(paid).toBe(1);
    expect(Math.min(...balances)).toBeGreaterThanOrEqual(0);
    expect(new Set(balances).size).toBe(1);
  });

  test('maxAttempts 1: rejected → CONFLICT, and nothing was withdrawn', async () => {
    const deployment = start(bankService(), { maxAttempts: 1 });
    const [ireland, frankfurt] = [
      createClient(deployment.site('ireland')),
      createClient(deployment.site('frankfurt')),
    ];
    await ireland.invoke(bank.deposit({ account: 'a', amount: 100 }));
    while ((await frankfurt.invokeStrong(bank.balance({ account: 'a' }))) < 100);
    const outcomes = await Promise.allSettled(
      [ireland, frankfurt].map((client) =>
        client.invoke(bank.withdraw({ account: 'a', amount: 30 })),
      ),
    );
    const reasons = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    expect(reasons).toEqual([
      expect.objectContaining({ code: 'CONFLICT', retryable: true, field: 'operations.withdraw' }),
    ]);
    expect((reasons[0] as Error).message).toMatch(
      /^'withdraw' was executed once, .*accounts\/a\.balance.* \(a queue/,
    );
    const counts = (['ireland', 'frankfurt'] as const).map((site) =>
      deployment.certificationStats(site),
    );
    expect(counts.map(({ name }) => name).toSorted()).toEqual([0, 1]);
    expect(counts.map(({ range, window }) => range + window)).toEqual([0, 0]);
    expect(await ireland.invokeStrong(bank.balance({ account: 'a' }))).toBe(70);
  });
});

describe('levels', () => {
  test('red write: causal requested → strong answers, as the final', async () => {
    const client = createClient(start(ticketService).site('frankfurt'));
    const { level, final } = await client
      .invoke(tickets.dequeue({ queue: 'q' }), { levels: ['causal'] })
      .settle();
    expect([level, final]).toEqual(['strong', true]);
  });

  test('red write: tentative only → one view, and it runs to its end', async () => {
    const client = createClient(start(ticketService).site('frankfurt'));
    const view = await client
      .invoke(tickets.enqueue({ queue: 'q', item: 1 }), { levels: ['tentative'] })
      .settle();
    expect([view.level, view.final]).toEqual(['tentative', true]);
    let size: unknown = null;
    while (size === null) size = await client.invokeStrong(tickets.peek({ queue: 'q' }));
    expect(size).toEqual({ item: 1 });
  });
});

describe('generators', () => {
  const args = z.object({ key: z.string() });
  const contract = defineContract('odd', {
    readsAndWrites: { access: 'read', args, result: z.null() },
    identified: { access: 'write', args, result: z.array(z.unknown()) },
  });
  const service = defineService(contract, {
    tables: { rows: table({ n: counter(), items: queue<string>() }) },
    shadowOperations: ({ rows }) => ({
      add: blue((value: { key: string }) => [rows.row(value.key).n.add(1)]),
      push: red((value: { key: string }) => [rows.row(value.key).items.push('x')]),
    }),
    generators: {
      // Types refuse it, where there are any.
      readsAndWrites: (value, { shadow }) => shadow.add(value, null) as never,
      identified: (value, { shadow, uniqueId, random, now }) =>
        shadow.push(value, [uniqueId(), uniqueId(), random(), now]),
    },
  });

  test('read that chooses a shadow operation → FINAL_FAILED at either level', async () => {
    const client = createClient(start(service).site('ireland'));
    for (const level of ['causal', 'strong'] as const) {
      const read = client.invoke(contract.readsAndWrites({ key: 'k' }), { levels: [level] });
      await expect(read).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    }
  });

  test('uniqueId, random and now: preview and final → the same; another operation → others', async () => {
    const client = createClient(start(service).site('frankfurt'));
    const seen: unknown[][] = [];
    const first = client.invoke(contract.identified({ key: 'k' }));
    for await (const { value } of first) seen.push(value);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(seen[1]);
    const other = await client.invoke(contract.identified({ key: 'k' }));
    expect(new Set([...(seen[0] ?? []).slice(0, 2), ...other.slice(0, 2)]).size).toBe(4);
  });
});

describe('how often a generator runs', () => {
  const args = z.object({ from: z.string() });
  const contract = defineContract('counted', { take: { access: 'write', args, result: z.int() } });
  let runs = 0;
  const service = defineService(contract, {
    tables: { rows: table({ n: counter() }) },
    shadowOperations: ({ rows }) => ({
      take: red((value: { from: string }) => [rows.row(value.from).n.add(-1)]),
    }),
    generators: {
      take: (value, { tables, shadow }) => {
        runs += 1;
        return shadow.take(value, tables.rows.row(value.from).n);
      },
    },
  });
  const unrepeated = { generators: { determinismCheckRate: 0 } };
  beforeEach(() => (runs = 0));

  test('red operations on different rows → once each, for preview and log', async () => {
    const client = createClient(start(service, unrepeated).site('ireland'));
    const taken = ['a', 'b', 'c'].map((from) => client.invoke(contract.take({ from })));
    expect(await Promise.all(taken)).toEqual([0, 0, 0]);
    expect(runs).toBe(3);
  });

  test('red operations on one row → again for the preview over those in flight, and once their turn has come', async () => {
    const client = createClient(start(service, unrepeated).site('ireland'));
    const [first, second] = [
      client.invoke(contract.take({ from: 'a' })),
      client.invoke(contract.take({ from: 'a' })),
    ];
    expect((await second.when('tentative')).value).toBe(-1);
    expect(await Promise.all([first, second])).toEqual([0, -1]);
    expect(runs).toBe(4);
  });
});

describe('options', () => {
  test('more operations in flight than maxInFlight → OVERLOADED, the others end', async () => {
    const client = createClient(
      start(ticketService, { maxInFlight: 2, maxRedInFlight: 2 }).site('frankfurt'),
    );
    const sales = [1, 2, 3].map(() => client.invoke(tickets.dequeue({ queue: 'q' })));
    await expect(sales[2]).rejects.toMatchObject({ code: 'OVERLOADED', retryable: true });
    expect(await Promise.all(sales.slice(0, 2))).toEqual([null, null]);
  });
});
