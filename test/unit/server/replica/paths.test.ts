/** The blue and the red path through a deployment: colours, levels, certification, retries, failures. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/correctable/made/client.ts';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/embedded.ts';
import type { Embedded } from '../../../../src/server/embedded.ts';
import type { EmbeddedOptions } from '../../../../src/server/embedded-options.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';
import { bank, bankService, ticketService, tickets } from './services.ts';

const SITES = ['irl', 'frk', 'vrg'] as const;
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
  async function withdrawTwice(colour: 'red' | 'blue'): Promise<{ paid: number; balances: number[] }> {
    const deployment = start(bankService(colour));
    const [irl, frk] = [createClient(deployment.site('irl')), createClient(deployment.site('frk'))];
    await irl.invoke(bank.deposit({ account: 'joint', amount: 100 }));
    // 25 % of 100: the balance of Figure 5 before the two withdrawals.
    await irl.invoke(bank.accrueInterest({ account: 'joint', percent: 25 }));
    while ((await frk.invokeWeak(bank.balance({ account: 'joint' }))) < 125)
      await frk.invokeStrong(bank.balance({ account: 'joint' }));
    const outcomes = await Promise.all([
      irl.invoke(bank.withdraw({ account: 'joint', amount: 70 })),
      frk.invoke(bank.withdraw({ account: 'joint', amount: 60 })),
    ]);
    const paid = outcomes.filter((outcome) => outcome.paid).length;
    const balances: number[] = [];
    for (const client of [irl, frk]) {
      let balance = await client.invokeStrong(bank.balance({ account: 'joint' }));
      const isArrived = (): boolean => colour === 'red' || balance === -5;
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

  test('rejected withdrawal → executed again, its final says what holds', async () => {
    const deployment = start(bankService());
    const [irl, frk] = [createClient(deployment.site('irl')), createClient(deployment.site('frk'))];
    await irl.invoke(bank.deposit({ account: 'a', amount: 100 }));
    while ((await frk.invokeStrong(bank.balance({ account: 'a' }))) < 100);
    const both = [irl, frk].map((client) => client.invoke(bank.withdraw({ account: 'a', amount: 100 })));
    const guesses = await Promise.all(both.map((withdrawal) => withdrawal.when('tentative')));
    expect(guesses.map(({ value }) => value.paid)).toEqual([true, true]);
    const finals = await Promise.all(both);
    expect(finals.map(({ paid }) => paid).toSorted()).toEqual([false, true]);
  });

  test('attemptsMax 1: rejected → CONFLICT, and nothing was withdrawn', async () => {
    const deployment = start(bankService(), { attemptsMax: 1 });
    const [irl, frk] = [createClient(deployment.site('irl')), createClient(deployment.site('frk'))];
    await irl.invoke(bank.deposit({ account: 'a', amount: 100 }));
    while ((await frk.invokeStrong(bank.balance({ account: 'a' }))) < 100);
    const outcomes = await Promise.allSettled(
      [irl, frk].map((client) => client.invoke(bank.withdraw({ account: 'a', amount: 30 }))),
    );
    const reasons = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
    expect(reasons).toEqual([
      expect.objectContaining({ code: 'CONFLICT', retryable: true, field: 'operations.withdraw' }),
    ]);
    expect((reasons[0] as Error).message).toMatch(/^'withdraw' was executed once, .*accounts\/a\.balance.* \(a queue/);
    const counts = (['irl', 'frk'] as const).map((site) => deployment.rejections(site));
    expect(counts.map(({ name }) => name).toSorted()).toEqual([0, 1]);
    expect(counts.map(({ range, window }) => range + window)).toEqual([0, 0]);
    expect(await irl.invokeStrong(bank.balance({ account: 'a' }))).toBe(70);
  });
});

describe('levels', () => {
  test('red update: causal requested → strong answers, as the final', async () => {
    const client = createClient(start(ticketService).site('frk'));
    const { level, final } = await client.invoke(tickets.dequeue({ queue: 'q' }), { levels: ['causal'] }).settle();
    expect([level, final]).toEqual(['strong', true]);
  });

  test('red update: tentative only → one view, and it runs to its end', async () => {
    const client = createClient(start(ticketService).site('frk'));
    const view = await client.invoke(tickets.enqueue({ queue: 'q', item: 1 }), { levels: ['tentative'] }).settle();
    expect([view.level, view.final]).toEqual(['tentative', true]);
    let size: unknown = null;
    while (size === null) size = await client.invokeStrong(tickets.peek({ queue: 'q' }));
    expect(size).toEqual({ item: 1 });
  });
});

describe('generators', () => {
  const args = z.object({ key: z.string() });
  const contract = defineContract('odd', {
    throws: { effect: 'update', args, result: z.null() },
    wrongColour: { effect: 'update', args, result: z.null() },
    readsAndWrites: { effect: 'read', args, result: z.null() },
    identified: { effect: 'update', args, result: z.array(z.unknown()) },
    keys: { effect: 'read', args, result: z.array(z.string()) },
  });
  const service = defineService(contract, {
    tables: { rows: table({ n: counter(), items: queue<string>() }) },
    shadowOperations: ({ rows }) => ({
      add: blue((given: { key: string }) => [rows.row(given.key).n.add(1)]),
      wrong: blue((given: { key: string }) => [rows.row(given.key).items.push('x') as never]),
      push: red((given: { key: string }) => [rows.row(given.key).items.push('x')]),
    }),
    generators: {
      throws: () => {
        throw new Error('no');
      },
      wrongColour: (given, { shadow }) => shadow.wrong(given, null),
      // Types refuse it, where there are any.
      readsAndWrites: (given, { shadow }) => shadow.add(given, null) as never,
      identified: (given, { shadow, uniqueId, random, now }) =>
        shadow.push(given, [uniqueId(), uniqueId(), random(), now]),
      keys: ({ key }, { tables }) => [...tables.rows.keys({ prefix: key, limit: 2 })],
    },
  });

  test('blue shadow operation that changes a queue → INVALID_ARGUMENT naming the field', async () => {
    const client = createClient(start(service).site('irl'));
    const wrong = client.invoke(contract.wrongColour({ key: 'k' }));
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'rows.items' });
  });

  test('read that chooses a shadow operation → FINAL_FAILED at either level', async () => {
    const client = createClient(start(service).site('irl'));
    for (const level of ['causal', 'strong'] as const) {
      const read = client.invoke(contract.readsAndWrites({ key: 'k' }), { levels: [level] });
      await expect(read).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    }
  });

  test('uniqueId, random and now: preview and final → the same; another operation → others', async () => {
    const client = createClient(start(service).site('frk'));
    const seen: unknown[][] = [];
    const first = client.invoke(contract.identified({ key: 'k' }));
    for await (const { value } of first) seen.push(value);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(seen[1]);
    const other = await client.invoke(contract.identified({ key: 'k' }));
    expect(new Set([...(seen[0] ?? []).slice(0, 2), ...other.slice(0, 2)]).size).toBe(4);
  });

  test('keys: by prefix, in order, limited', async () => {
    const client = createClient(start(service).site('irl'));
    for (const key of ['b2', 'a1', 'b1', 'b3']) await client.invoke(contract.identified({ key }));
    expect(await client.invoke(contract.keys({ key: 'b' }))).toEqual(['b1', 'b2']);
  });
});

describe('how often a generator runs', () => {
  const args = z.object({ from: z.string() });
  const contract = defineContract('counted', { take: { effect: 'update', args, result: z.int() } });
  let runs = 0;
  const service = defineService(contract, {
    tables: { rows: table({ n: counter() }) },
    shadowOperations: ({ rows }) => ({ take: red((given: { from: string }) => [rows.row(given.from).n.add(-1)]) }),
    generators: {
      take: (given, { tables, shadow }) => {
        runs += 1;
        return shadow.take(given, tables.rows.row(given.from).n);
      },
    },
  });
  const unrepeated = { generators: { repeatedShare: 0 } };
  beforeEach(() => (runs = 0));

  test('red operations on different rows → once each, for preview and log', async () => {
    const client = createClient(start(service, unrepeated).site('irl'));
    const taken = ['a', 'b', 'c'].map((from) => client.invoke(contract.take({ from })));
    expect(await Promise.all(taken)).toEqual([0, 0, 0]);
    expect(runs).toBe(3);
  });

  test('red operations on one row → again for the preview over those in flight, and once their turn has come', async () => {
    const client = createClient(start(service, unrepeated).site('irl'));
    const [first, second] = [client.invoke(contract.take({ from: 'a' })), client.invoke(contract.take({ from: 'a' }))];
    expect((await second.when('tentative')).value).toBe(-1);
    expect(await Promise.all([first, second])).toEqual([0, -1]);
    expect(runs).toBe(4);
  });
});

describe('options', () => {
  const invalid =
    (options: object): unknown =>
    () =>
      createEmbedded(ticketService, options as EmbeddedOptions);
  const cases: [string, object, string][] = [
    ['no sites', { sites: [] }, 'sites'],
    ['a site twice', { sites: ['a', 'a'] }, 'sites'],
    ['leader elsewhere', { sites: ['a'], redLeader: 'b' }, 'redLeader'],
    ['round trip missing', { sites: ['a', 'b'], wan: {} }, 'wan.a-b'],
    ['paper with other names', { sites: ['irl', 'nyc'], wan: 'paper' }, 'wan.irl-nyc'],
    ['no attempts', { sites: ['a'], attemptsMax: 0 }, 'attemptsMax'],
  ];
  for (const [name, options, field] of cases) {
    test(`${name} → INVALID_ARGUMENT, ${field}`, () => {
      expect(invalid(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
    });
  }

  test('more operations under way than inFlightMax → OVERLOADED, the others end', async () => {
    const client = createClient(start(ticketService, { inFlightMax: 2, redInFlightMax: 2 }).site('frk'));
    const sales = [1, 2, 3].map(() => client.invoke(tickets.dequeue({ queue: 'q' })));
    await expect(sales[2]).rejects.toMatchObject({ code: 'OVERLOADED', retryable: true });
    expect(await Promise.all(sales.slice(0, 2))).toEqual([null, null]);
  });

  test('one site alone → red and blue work', async () => {
    const deployment = createEmbedded(ticketService, { sites: ['only'] });
    const client = createClient(deployment.site('only'));
    await client.invoke(tickets.enqueue({ queue: 'q', item: 1 }));
    expect(await client.invoke(tickets.dequeue({ queue: 'q' }))).toEqual({ item: 1 });
    await deployment.close();
  });
});
