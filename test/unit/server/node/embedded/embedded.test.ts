/** A deployment in one process, end to end through the client. */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cached } from '../../../../../src/bindings/cache/index.ts';
import { memory } from '../../../../../src/bindings/memory/index.ts';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import type { AnyClient, Client } from '../../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { EmbeddedOptions } from '../../../../../src/server/node/embedded/embedded-options.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { blue } from '../../../../../src/server/service/shadow-operation.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import { register, table } from '../../../../../src/server/service/tables.ts';
import { notesService } from '../storage/notes-service.ts';
import { bank, bankService, ticketService, tickets } from '../../site/services.ts';

type Site = 'ireland' | 'frankfurt' | 'virginia';
const deployments: Embedded[] = [];

function start(
  service: Service,
  options: Partial<EmbeddedOptions<Site>> = {},
): Readonly<Record<Site, Client<RedBlueLevels>>> {
  const deployment = createEmbedded(service, {
    sites: ['ireland', 'frankfurt', 'virginia'],
    ...options,
  });
  deployments.push(deployment);
  const clientAt = (site: Site): Client<RedBlueLevels> => createClient(deployment.site(site));
  return {
    ireland: clientAt('ireland'),
    frankfurt: clientAt('frankfurt'),
    virginia: clientAt('virginia'),
  };
}

afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

describe('embedded: tickets', () => {
  test('red dequeue: one call → a tentative and a strong view with the tickets that remain', async () => {
    const { ireland, virginia } = start(ticketService);
    for (const item of ['a', 'b', 'c']) await ireland.invoke(tickets.enqueue({ queue: 'q', item }));
    await virginia.invokeStrong(tickets.peek({ queue: 'q' }));
    const seen: unknown[] = [];
    const sale = virginia.invoke(tickets.dequeue({ queue: 'q' }));
    for await (const view of sale) seen.push([view.level, view.final, view.value, view.meta]);
    expect(seen).toEqual([
      ['tentative', false, { item: 'a' }, { remaining: 2 }],
      ['strong', true, { item: 'a' }, { remaining: 2 }],
    ]);
  });

  test('previews of operations in flight: a site sells no ticket twice to itself', async () => {
    const { ireland, frankfurt } = start(ticketService);
    for (const item of ['a', 'b', 'c']) await ireland.invoke(tickets.enqueue({ queue: 'q', item }));
    await frankfurt.invokeStrong(tickets.peek({ queue: 'q' }));
    const sales = [0, 1, 2, 3].map(() => frankfurt.invoke(tickets.dequeue({ queue: 'q' })));
    const guesses = await Promise.all(sales.map((sale) => sale.when('tentative')));
    expect(guesses.map(({ value }) => value)).toEqual([
      { item: 'a' },
      { item: 'b' },
      { item: 'c' },
      null,
    ]);
    expect(await Promise.all(sales)).toEqual([{ item: 'a' }, { item: 'b' }, { item: 'c' }, null]);
  });
});

describe('embedded: bank', () => {
  test('blue deposit → one view, final at causal, whatever was asked for', async () => {
    const { ireland } = start(bankService());
    const seen: unknown[] = [];
    for await (const view of ireland.invoke(bank.deposit({ account: 'a', amount: 100 })))
      seen.push([view.level, view.final]);
    const item = ireland.invokeStrong(bank.deposit({ account: 'b', amount: 1 }));
    await item;
    seen.push([item.latest?.level, item.latest?.final]);
    expect(seen).toEqual([
      ['causal', true],
      ['causal', true],
    ]);
    expect(await ireland.invokeWeak(bank.balance({ account: 'a' }))).toBe(100);
  });

  test('read: causal and strong views; tentative alone → answered by causal', async () => {
    const { ireland } = start(bankService());
    await ireland.invoke(bank.deposit({ account: 'a', amount: 100 }));
    const levels: string[] = [];
    for await (const view of ireland.invoke(bank.balance({ account: 'a' })))
      levels.push(view.level);
    expect(levels).toEqual(['causal', 'strong']);
    const weak = ireland.invoke(bank.balance({ account: 'a' }), { levels: ['tentative'] });
    const final = await weak.settle();
    expect([final.level, final.final]).toEqual(['causal', true]);
  });

  test('close with operations in flight → reads fail with UNAVAILABLE, writes with UNKNOWN', async () => {
    const { virginia } = start(bankService(), { latency: 'eu-us' });
    const balance = virginia.invokeStrong(bank.balance({ account: 'a' }));
    const withdrawal = virginia.invoke(bank.withdraw({ account: 'a', amount: 1 }));
    const ended = Promise.allSettled([balance, withdrawal]);
    await deployments[0]?.close();
    expect(await ended).toMatchObject([
      { reason: { code: 'UNAVAILABLE', retryable: true } },
      { reason: { code: 'UNKNOWN', retryable: false } },
    ]);
    const late = virginia.invoke(bank.withdraw({ account: 'a', amount: 1 }));
    await expect(late).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: false,
      message: 'The site was closed. Nothing was done: make a new deployment and a new client.',
    });
  });
});

describe('embedded: many clients of one site', () => {
  const deposit = (client: AnyClient, amount: number): PromiseLike<unknown> =>
    client.invoke(bank.deposit({ account: 'a', amount }));

  test('one is closed → what came through it ends, the others and the other sites go on', async () => {
    const { ireland, virginia } = start(bankService(), { latency: 'eu-us' });
    const beside = createClient(deployments[0]!.site('ireland'));
    await deposit(ireland, 5);
    const [left, stayed] = [ireland, beside].map((client) =>
      client.invoke(bank.withdraw({ account: 'a', amount: 1 })),
    );
    const outcome = left!.catch((error: unknown) => error);
    await ireland.close();
    expect(await outcome).toMatchObject({
      code: 'UNKNOWN',
      message: expect.stringContaining('client was closed'),
    });
    expect(await stayed).toEqual({ paid: true });
    await expect(deposit(ireland, 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: false,
    });
    await deposit(beside, 1);
    await deposit(createClient(deployments[0]!.site('ireland')), 1);
    await virginia.invoke(bank.withdraw({ account: 'a', amount: 1 }));
  });

  test('a cache in front of a site → executes a repeated submission once, as the site does', () => {
    start(bankService());
    expect(cached(deployments[0]!.site('ireland'))).toMatchObject({
      isExactlyOnce: true,
      hasIdempotencyKeys: true,
    });
    expect(cached(memory())).toMatchObject({ isExactlyOnce: false });
  });
});

describe('embedded: values belong to the code that holds them', () => {
  test('an argument changed after the call → the sites keep the value that was passed', async () => {
    const { ireland, frankfurt } = start(notesService());
    const value = { items: ['a'] };
    const written = ireland.invokeStrong(put('k', value));
    value.items.push('b');
    await written;
    value.items.push('c');
    await frankfurt.invokeStrong(get('k'));
    for (const site of [ireland, frankfurt])
      expect(await site.invokeStrong(get('k'))).toEqual({ items: ['a'] });
  });

  test('a result that its caller changes → the sites, other callers and the other views keep theirs', async () => {
    const { ireland } = start(notesService());
    await ireland.invokeStrong(put('k', { items: ['a'] }));
    const seen: unknown[] = [];
    for await (const { value } of ireland.invoke(get<{ items: string[] }>('k'))) {
      seen.push(structuredClone(value));
      value?.items.push('b');
    }
    expect(seen.at(-1)).toEqual({ items: ['a'] });
    expect(await ireland.invokeStrong(get('k'))).toEqual({ items: ['a'] });
  });

  test.each([
    ['a function', { f: () => 1 }, 'args.value.f'],
    ['a class instance', new (class Account {})(), 'args.value'],
    ['half of a surrogate pair', ['\ud800'], 'args.value.0'],
  ])(
    '%s as an argument → INVALID_VALUE with its path, as over the wire',
    async (_, value, field) => {
      const { ireland } = start(notesService());
      await expect(ireland.invoke(put('k', value))).rejects.toMatchObject({
        code: 'INVALID_VALUE',
        field,
      });
    },
  );
});

describe('embedded: submissions of one turn', () => {
  test('close before the turn ends → they fail with UNKNOWN', async () => {
    const { ireland } = start(bankService());
    const deposits = [1, 2, 3].map((amount) =>
      ireland.invoke(bank.deposit({ account: 'a', amount })),
    );
    const closed = deployments[0]?.close();
    for (const deposit of deposits)
      await expect(deposit).rejects.toMatchObject({ code: 'UNKNOWN' });
    await closed;
  });

  test('code of the service throws outside its generator → that operation fails, the others are executed', async () => {
    const fickle = {
      get name(): string {
        throw new Error('no name today');
      },
    };
    const notes = defineContract('notes', {
      write: { access: 'write', args: z.object({ fickle: z.boolean() }), result: z.string() },
    });
    const service = defineService(notes, {
      tables: { notes: table({ text: register<object>() }) },
      shadowOperations: ({ notes: all }) => ({
        write: blue((a: { text: object }) => [all.row('n').text.write(a.text)]),
      }),
      generators: {
        write: (args, { shadow }) =>
          shadow.write({ text: args.fickle ? fickle : { name: 'n' } }, 'written'),
      },
    });
    const { ireland } = start(service);
    const writes = [false, true, false].map((isFickle) =>
      ireland.invoke(notes.write({ fickle: isFickle })),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(writes[1]).rejects.toMatchObject({
      code: 'FINAL_FAILED',
      field: 'generators.write',
    });
  });
});
