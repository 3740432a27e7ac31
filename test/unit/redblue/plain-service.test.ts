/** A service without replication and certification: the same answers as one site gives, and each operation once. */
import { describe, expect, test } from 'vitest';
import type { InvocationContext } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client.ts';
import { plainService } from '../../../src/testing/plain-service.ts';
import { bank, bankService, ticketService, tickets } from './services.ts';

describe('plain service', () => {
  test('updates of both colours and reads → the answers of a single site', async () => {
    const client = createClient(plainService(bankService()));
    await client.invoke(bank.deposit({ account: 'a', amount: 10 }));
    expect(await client.invoke(bank.withdraw({ account: 'a', amount: 7 }))).toEqual({ paid: true });
    expect(await client.invoke(bank.withdraw({ account: 'a', amount: 7 }))).toEqual({ paid: false });
    expect(await client.invokeWeak(bank.balance({ account: 'a' }))).toBe(3);
    expect(await client.invokeStrong(bank.balance({ account: 'a' }))).toBe(3);
  });

  test('asked again under one identity → takes effect once, one answer; behind the watermark → EXPIRED_ID', async () => {
    const binding = plainService(ticketService);
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
        const sink = { update: (value: unknown) => (resolve(value), 0), confirm: reject, fail: reject };
        binding.submitOperation(tickets.dequeue({ queue: 'q' }), ['strong'], sink, context);
      });
    };
    for (const item of ['a', 'b', 'c']) await client.invoke(tickets.enqueue({ queue: 'q', item }));
    expect(await Promise.all([submit(1, 0), submit(1, 0)])).toEqual([{ item: 'a' }, { item: 'a' }]);
    expect(await submit(2, 1)).toEqual({ item: 'b' });
    await expect(submit(1, 1)).rejects.toMatchObject({ code: 'EXPIRED_ID' });
    expect(await client.invoke(tickets.peek({ queue: 'q' }))).toEqual({ item: 'c' });
  });

  test('closed → UNAVAILABLE', async () => {
    const binding = plainService(bankService());
    await binding.close?.();
    const late = createClient(binding).invoke(bank.deposit({ account: 'a', amount: 1 }));
    await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
