/** By which names a site knows an update again: a client's number for it, or a name that belongs to no client. */
import { afterEach, expect, test } from 'vitest';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { createEmbedded } from '../../../../src/server/embedded.ts';
import type { Embedded } from '../../../../src/server/embedded.ts';
import { bank, bankService } from '../replica/services.ts';

type Site = 'ireland' | 'frankfurt';
type Names = Pick<InvocationContext, 'operationId' | 'origin' | 'idempotencyKey'>;

const deployments: Embedded<Site>[] = [];

function start(): Embedded<Site> {
  const deployment = createEmbedded(bankService(), { sites: ['ireland', 'frankfurt'] });
  deployments.push(deployment);
  return deployment;
}

afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

/** The final value. */
function getFinal(deployment: Embedded<Site>, site: Site, operation: Operation, names: Names = {}): Promise<unknown> {
  const around = { deadlineAt: undefined, session: undefined, trace: undefined };
  const context: InvocationContext = { ...around, signal: new AbortController().signal, ...names };
  return new Promise((resolve, reject) => {
    const view = (value: unknown): number => {
      resolve(value);
      return 0;
    };
    deployment.site(site).submitOperation(operation, ['strong'], { view, confirm: reject, fail: reject }, context);
  });
}

const deposit = bank.deposit({ account: 'a', amount: 10 });
const origin = { client: 'q', sequence: 1, acknowledged: 0 };

const balanceOf = (deployment: Embedded<Site>): Promise<unknown> =>
  getFinal(deployment, 'ireland', bank.balance({ account: 'a' }));

test('one operationId twice at the same site → done once', async () => {
  const deployment = start();
  await getFinal(deployment, 'ireland', deposit, { operationId: 'q' });
  await getFinal(deployment, 'ireland', deposit, { operationId: 'q' });
  expect(await balanceOf(deployment)).toBe(10);
});

test('the same origin at two sites → executed once, whichever operationId each submission has', async () => {
  const deployment = start();
  await getFinal(deployment, 'ireland', deposit, { operationId: 'one', origin });
  await getFinal(deployment, 'frankfurt', deposit, {
    operationId: 'two',
    origin: { ...origin, home: 'ireland', hop: 1 },
  });
  expect(await balanceOf(deployment)).toBe(10);
});

test('an operationId that a client is called by → an operation of its own, not the first of that client', async () => {
  const deployment = start();
  await getFinal(deployment, 'ireland', deposit, { origin });
  const withdraw = bank.withdraw({ account: 'a', amount: 4 });
  expect(await getFinal(deployment, 'ireland', withdraw, { operationId: origin.client })).toEqual({ paid: true });
  expect(await balanceOf(deployment)).toBe(6);
});

test('a client that is called as only operations without one are → refused', async () => {
  for (const client of ['\u0000q', '\u0001q']) {
    const requested = getFinal(start(), 'ireland', deposit, { origin: { ...origin, client } });
    await expect(requested).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'context.origin.client' });
  }
});

test('another operation or other arguments under an idempotencyKey → refused; the same in another order → answered', async () => {
  const deployment = start();
  const named = { idempotencyKey: 'a' };
  await getFinal(deployment, 'ireland', deposit, named);
  const reordered = { ...deposit, args: { amount: 10, account: 'a' } };
  await getFinal(deployment, 'frankfurt', reordered, named);
  for (const other of [bank.deposit({ account: 'a', amount: 11 }), bank.withdraw({ account: 'a', amount: 10 })]) {
    await expect(getFinal(deployment, 'frankfurt', other, named)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'idempotencyKey',
    });
  }
  expect(await balanceOf(deployment)).toBe(10);
});
