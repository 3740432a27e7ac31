/** Levels and domain errors over the wire: what a client of a served site gets. */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { isDomainError } from '../../src/contract/index.ts';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { defineContract } from '../../src/contract/contract.ts';
import { serve } from '../../src/server/serve.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../src/server/service/tables.ts';

const args = z.object({ account: z.string(), amount: z.int() });
const bank = defineContract('bank', {
  deposit: { access: 'write', color: 'blue', args, result: z.null() },
  withdraw: {
    access: 'write',
    args,
    result: z.null(),
    errors: { notEnough: z.object({ balance: z.int() }) },
  },
  lend: {
    access: 'write',
    args,
    result: z.null(),
    errors: { notEnough: z.object({ limit: z.int() }) },
  },
});

const service = defineService(bank, {
  tables: { accounts: table({ balance: counter() }) },
  shadowOperations: ({ accounts }) => ({
    deposit: blue((a: { account: string; amount: number }) => [
      accounts.row(a.account).balance.add(a.amount),
    ]),
    withdraw: red((a: { account: string; amount: number }) => [
      accounts.row(a.account).balance.add(-a.amount),
    ]),
  }),
  generators: {
    deposit: (a, { shadow }) => shadow.deposit(a, null),
    withdraw: (a, { shadow, tables, errors }) => {
      const { balance } = tables.accounts.row(a.account);
      if (balance < a.amount) throw errors.notEnough({ balance });
      return shadow.withdraw(a, null);
    },
    lend: (a, { shadow }) => shadow.withdraw(a, null),
  },
});

test.each(['json', 'msgpack'] as const)(
  '%s: blue → final at causal; a refusal → its name and data',
  async (codec) => {
    const server = await serve({ service, sites: ['ireland', 'frankfurt'] });
    const client = createClient(
      redblue(bank, { url: server.siteUrl('ireland'), WebSocket, codec }),
    );
    const deposit = client.invoke(bank.deposit({ account: 'ann', amount: 5 }));
    await deposit;
    expect(deposit.latest).toMatchObject({ level: 'causal', final: true, value: null });
    const strong = client.invokeStrong(bank.deposit({ account: 'ann', amount: 5 }));
    await strong;
    expect(strong.latest).toMatchObject({ level: 'causal', final: true });
    const withdrawal = client.invoke(bank.withdraw({ account: 'ann', amount: 11 }));
    const error: unknown = await withdrawal.catch((thrown: unknown) => thrown);
    if (!isDomainError(error, bank.operations.withdraw, 'notEnough')) throw error;
    expect(error.domain.data.balance).toBe(10);
    // Another operation of the contract has an error of this name, with other data.
    expect(isDomainError(error, bank.operations.lend, 'notEnough')).toBe(false);
    expect(error.levelErrors['tentative']).toMatchObject({ domain: { name: 'notEnough' } });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('correctables_red_rejected_total{site="ireland",reason="name"}');
    await client.close();
    await server.close();
  },
);
