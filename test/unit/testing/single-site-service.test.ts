/**
 * A service without replication and certification: the same answers as one site gives, and each
 * operation once.
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { InvocationContext } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { defineContract } from '../../../src/contract/contract.ts';
import { defineService } from '../../../src/server/service/service.ts';
import { blue } from '../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../src/server/service/tables.ts';
import type { SiteAlarm } from '../../../src/server/node/alarms/site-alarm.ts';
import { singleSiteService } from '../../../src/testing/single-site-service.ts';
import { bank, bankService, ticketService, tickets } from '../server/site/services.ts';

const args = z.object({ who: z.string(), cents: z.int() });
const debt = defineContract('debts', { owe: { access: 'write', args, result: z.null() } });
const debts = defineService(debt, {
  tables: { people: table({ owes: counter() }) },
  shadowOperations: ({ people }) => ({
    owe: blue((a: { who: string; cents: number }) => [people.row(a.who).owes.add(a.cents)]),
  }),
  generators: { owe: (value, { shadow }) => shadow.owe(value, null) },
  invariants: { people: { 'debts are never negative': ({ owes }) => owes >= 0 } },
});

describe('plain service', () => {
  test('writes of both colors and reads → the answers of a single site', async () => {
    const client = createClient(new Proxy(singleSiteService(bankService()), {}));
    await client.invoke(bank.deposit({ account: 'a', amount: 10 }));
    expect(await client.invoke(bank.withdraw({ account: 'a', amount: 7 }))).toEqual({ paid: true });
    expect(await client.invoke(bank.withdraw({ account: 'a', amount: 7 }))).toEqual({
      paid: false,
    });
    expect(await client.invokeWeak(bank.balance({ account: 'a' }))).toBe(3);
    expect(await client.invokeStrong(bank.balance({ account: 'a' }))).toBe(3);
  });

  test('asked in one turn → answered once it is over', async () => {
    const client = createClient(singleSiteService(bankService()));
    const heard: string[] = [];
    const deposited = client
      .invoke(bank.deposit({ account: 'a', amount: 10 }))
      .onFinal(() => heard.push('deposit'));
    const read = client
      .invokeWeak(bank.balance({ account: 'a' }))
      .onFinal(() => heard.push('read'));
    expect(heard).toEqual([]);
    expect(await read).toBe(10);
    await deposited;
    expect(heard).toEqual(['read', 'deposit']);
    expect(await client.invoke(bank.withdraw({ account: 'a', amount: 7 }))).toEqual({ paid: true });
    expect(await client.invokeStrong(bank.balance({ account: 'a' }))).toBe(3);
  });

  test('closed in the turn → neither its read nor its write is answered any more', async () => {
    const binding = singleSiteService(bankService());
    const heard: unknown[] = [];
    const context = { signal: new AbortController().signal } as InvocationContext;
    const sink = {
      view: (value: unknown) => heard.push(value),
      confirm: () => {},
      fail: (error: unknown) => heard.push((error as { code: string }).code),
    };
    binding.submitOperation(bank.balance({ account: 'a' }), ['strong'], sink, context);
    binding.submitOperation(bank.deposit({ account: 'a', amount: 1 }), ['strong'], sink, context);
    await binding.close?.();
    await createClient(singleSiteService(bankService())).invoke(
      bank.deposit({ account: 'a', amount: 1 }),
    );
    expect(heard.sort()).toEqual(['UNAVAILABLE', 'UNKNOWN']);
  });

  test('retried under one identity → takes effect once, one answer; behind the watermark → REPLY_EXPIRED', async () => {
    const binding = singleSiteService(ticketService);
    const client = createClient(binding);
    const submit = (sequence: number, acknowledged: number): Promise<unknown> => {
      const context: InvocationContext = {
        signal: new AbortController().signal,
        deadlineAt: undefined,
        session: undefined,
        trace: undefined,
        origin: { client: 'c', sequence, acknowledged },
      };
      return new Promise((resolve, reject) => {
        const sink = {
          view: (value: unknown) => (resolve(value), 0),
          confirm: reject,
          fail: reject,
        };
        binding.submitOperation(tickets.dequeue({ queue: 'q' }), ['strong'], sink, context);
      });
    };
    for (const item of ['a', 'b', 'c']) await client.invoke(tickets.enqueue({ queue: 'q', item }));
    expect(await Promise.all([submit(1, 0), submit(1, 0)])).toEqual([{ item: 'a' }, { item: 'a' }]);
    expect(await submit(2, 1)).toEqual({ item: 'b' });
    await expect(submit(1, 1)).rejects.toMatchObject({ code: 'REPLY_EXPIRED' });
    expect(await client.invoke(tickets.peek({ queue: 'q' }))).toEqual({ item: 'c' });
  });

  test.each([
    ['development', undefined, ['invariant-broken']],
    ['development', false, []],
    ['production', undefined, []],
    ['production', true, ['invariant-broken']],
  ] as const)(
    'an invariant is broken, in %s, checkInvariants %s → alarms %j',
    async (mode, checkInvariants, kinds) => {
      vi.stubEnv('NODE_ENV', mode);
      onTestFinished(() => void vi.unstubAllEnvs());
      const alarms: SiteAlarm[] = [];
      const onAlarm = (alarm: SiteAlarm): void => void alarms.push(alarm);
      const client = createClient(
        singleSiteService(debts, {
          onAlarm,
          ...(checkInvariants === undefined ? {} : { checkInvariants }),
        }),
      );
      await client.invoke(debt.owe({ who: 'ann', cents: 5 }));
      expect(alarms.map(({ kind }) => kind)).toEqual([]);
      for (let time = 0; time < 2; time += 1)
        await client.invoke(debt.owe({ who: 'ann', cents: -9 }));
      expect(alarms.map(({ kind }) => kind)).toEqual(kinds);
      for (const { message } of alarms)
        expect(message).toMatch(
          /^Site plain: owe .* row 'ann' of people .*"debts are never negative"/,
        );
    },
  );

  test('a read that is rejected, requested at causal alone → its failure is delivered', async () => {
    const counts = defineContract('counts', {
      count: { access: 'read', args: z.object({}), result: z.number() },
    });
    const service = defineService(counts, {
      tables: {},
      shadowOperations: () => ({}),
      generators: {
        count: () => {
          throw new Error('no');
        },
      },
    });
    const client = createClient(singleSiteService(service, { onAlarm: () => {} }));
    for (const levels of [['causal'], ['strong'], ['causal', 'strong']] as const) {
      await expect(client.invoke(counts.count({}), { levels })).rejects.toMatchObject({
        code: 'FINAL_FAILED',
      });
    }
  });

  test('closed → UNAVAILABLE', async () => {
    const binding = singleSiteService(bankService());
    await binding.close?.();
    const late = createClient(binding).invoke(bank.deposit({ account: 'a', amount: 1 }));
    await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
