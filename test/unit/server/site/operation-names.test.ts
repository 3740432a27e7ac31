/** By which names a site knows an update again: a client's number for it, or a name that belongs to no client. */
import { afterEach, expect, test } from 'vitest';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { createEmbedded } from '../../../../src/server/embedded.ts';
import type { Embedded } from '../../../../src/server/embedded.ts';
import { bank, bankService } from '../replica/services.ts';

type Site = 'irl' | 'frk';
type Names = Pick<InvocationContext, 'operationId' | 'origin' | 'idempotencyKey'>;

const deployments: Embedded<Site>[] = [];

function start(): Embedded<Site> {
  const deployment = createEmbedded(bankService(), { sites: ['irl', 'frk'] });
  deployments.push(deployment);
  return deployment;
}

afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

/** The final value. */
function finalOf(deployment: Embedded<Site>, site: Site, operation: Operation, names: Names = {}): Promise<unknown> {
  const around = { deadlineAt: undefined, session: undefined, trace: undefined };
  const context: InvocationContext = { ...around, signal: new AbortController().signal, ...names };
  return new Promise((resolve, reject) => {
    const update = (value: unknown): number => {
      resolve(value);
      return 0;
    };
    deployment.site(site).submitOperation(operation, ['strong'], { update, confirm: reject, fail: reject }, context);
  });
}

const deposit = bank.deposit({ account: 'a', amount: 10 });
const origin = { client: 'q', sequence: 1, acknowledged: 0 };

const balanceOf = (deployment: Embedded<Site>): Promise<unknown> =>
  finalOf(deployment, 'irl', bank.balance({ account: 'a' }));

test('one operationId twice at the same site → done once', async () => {
  const deployment = start();
  await finalOf(deployment, 'irl', deposit, { operationId: 'q' });
  await finalOf(deployment, 'irl', deposit, { operationId: 'q' });
  expect(await balanceOf(deployment)).toBe(10);
});

test('one origin at two sites → done once, whatever operationId says there', async () => {
  const deployment = start();
  await finalOf(deployment, 'irl', deposit, { operationId: 'one', origin });
  await finalOf(deployment, 'frk', deposit, { operationId: 'two', origin: { ...origin, home: 'irl', hop: 1 } });
  expect(await balanceOf(deployment)).toBe(10);
});

test('an operationId that a client is called by → an operation of its own, not the first of that client', async () => {
  const deployment = start();
  await finalOf(deployment, 'irl', deposit, { origin });
  const withdraw = bank.withdraw({ account: 'a', amount: 4 });
  expect(await finalOf(deployment, 'irl', withdraw, { operationId: origin.client })).toEqual({ paid: true });
  expect(await balanceOf(deployment)).toBe(6);
});

test('a client that is called as only operations without one are → refused', async () => {
  for (const client of ['\u0000q', '\u0001q']) {
    const asked = finalOf(start(), 'irl', deposit, { origin: { ...origin, client } });
    await expect(asked).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'context.origin.client' });
  }
});

test('one idempotencyKey at two sites, from two clients → done once, whatever else the operation is called', async () => {
  for (const idempotencyKey of ['a', 'b', 'c', 'd']) {
    const deployment = start();
    const asked = (['irl', 'frk', 'irl'] as const).map((site, index) =>
      finalOf(deployment, site, deposit, { idempotencyKey, origin: { ...origin, client: `q${index}` } }),
    );
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(await balanceOf(deployment)).toBe(10);
  }
});

test('another operation or other arguments under an idempotencyKey → refused; the same in another order → answered', async () => {
  const deployment = start();
  const named = { idempotencyKey: 'a' };
  await finalOf(deployment, 'irl', deposit, named);
  const reordered = { ...deposit, args: { amount: 10, account: 'a' } };
  await finalOf(deployment, 'frk', reordered, named);
  for (const other of [bank.deposit({ account: 'a', amount: 11 }), bank.withdraw({ account: 'a', amount: 10 })]) {
    await expect(finalOf(deployment, 'frk', other, named)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'idempotencyKey',
    });
  }
  expect(await balanceOf(deployment)).toBe(10);
});
