/**
 * By which names a site knows an update again: a client's number for it, or a name that belongs to
 * no client.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../src/server/node/embedded/embedded.ts';
import * as z from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { SiteBinding } from '../../../../src/server/node/submission/site-binding.ts';
import type { SubmissionPort } from '../../../../src/server/node/submission/site-binding.ts';
import type { Submitter } from '../../../../src/server/node/submission/submitter.ts';
import { Origins, type Origin } from '../../../../src/server/service/records/origin.ts';
import { bank, bankService } from '../site/services.ts';

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
function getFinal(
  deployment: Embedded<Site>,
  site: Site,
  operation: Operation,
  names: Names = {},
): Promise<unknown> {
  const around = { deadlineAt: undefined, session: undefined, trace: undefined };
  const context: InvocationContext = { ...around, signal: new AbortController().signal, ...names };
  return new Promise((resolve, reject) => {
    const view = (value: unknown): number => {
      resolve(value);
      return 0;
    };
    deployment
      .site(site)
      .submitOperation(operation, ['strong'], { view, confirm: reject, fail: reject }, context);
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
  expect(await getFinal(deployment, 'ireland', withdraw, { operationId: origin.client })).toEqual({
    paid: true,
  });
  expect(await balanceOf(deployment)).toBe(6);
});

test('a client that is called as only operations without one are → refused', async () => {
  for (const client of ['\u0000q', '\u0001q']) {
    const requested = getFinal(start(), 'ireland', deposit, { origin: { ...origin, client } });
    await expect(requested).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'context.origin.client',
    });
  }
});

test('another operation or other arguments under an idempotencyKey → refused; the same in another order → answered', async () => {
  const deployment = start();
  const named = { idempotencyKey: 'a' };
  await getFinal(deployment, 'ireland', deposit, named);
  const reordered = { ...deposit, args: { amount: 10, account: 'a' } };
  await getFinal(deployment, 'frankfurt', reordered, named);
  for (const other of [
    bank.deposit({ account: 'a', amount: 11 }),
    bank.withdraw({ account: 'a', amount: 10 }),
  ]) {
    await expect(getFinal(deployment, 'frankfurt', other, named)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'idempotencyKey',
    });
  }
  expect(await balanceOf(deployment)).toBe(10);
});

describe('arguments under an idempotencyKey', () => {
  const purse = z.object({ currency: z.string().default('EUR'), cents: z.int().default(0) });
  let now = 0;
  const shop = defineContract('shop', {
    pay: {
      access: 'write',
      args: z.object({
        account: z.string(),
        note: z.string().optional(),
        currency: z.string().default('EUR'),
        tags: z.array(z.string()).default([]),
        unit: z
          .string()
          .optional()
          .transform((unit) => unit ?? 'piece'),
        purse: purse.prefault({}),
        purses: z.array(purse).optional(),
        pair: z.tuple([z.string(), purse]).optional(),
        byName: z.record(z.string(), purse).optional(),
        kind: z
          .union([z.object({ kind: z.literal('card'), tip: z.int().default(0) }), z.string()])
          .optional(),
        at: z.int().default(() => now),
      }),
      result: z.null(),
    },
  });

  /** How a site names the operation with these arguments. */
  function identify(args: object): string | undefined {
    let id: string | undefined;
    const submit = ({ identity }: Submitter): void => void (id = identity?.id);
    const site = 1 as Origin;
    const plans = new Map([['pay', { name: 'pay', ...shop.operations.pay }]]);
    const origins = Origins.create(['ireland']);
    const port = { contract: shop, plans, site, origins, submit } as unknown as SubmissionPort;
    const fail = (error: unknown): never => {
      throw error as Error;
    };
    const context = {
      signal: new AbortController().signal,
      idempotencyKey: 'a',
    } as unknown as InvocationContext;
    const operation = { ...shop.pay({ account: 'a' }), args };
    new SiteBinding('ireland', port).submitOperation(
      operation,
      ['strong'],
      { view: () => 0, confirm: fail, fail },
      context,
    );
    return id;
  }

  const account = 'a';

  test.each<[string, object, object]>([
    ['fields in another order', { account, currency: 'USD' }, { currency: 'USD', account }],
    ['a field that is undefined', { account }, { account, note: undefined }],
    ['a default', { account }, { account, currency: 'EUR' }],
    ['a default that is a list', { account }, { account, tags: [] }],
    ['a default of a transform', { account }, { account, unit: 'piece' }],
    ['a whole default object', { account }, { account, purse: { currency: 'EUR', cents: 0 } }],
    [
      'a default in an object',
      { account, purse: { cents: 5 } },
      { account, purse: { cents: 5, currency: 'EUR' } },
    ],
    ['a default in a list', { account, purses: [{}] }, { account, purses: [{ cents: 0 }] }],
    ['a default in a tuple', { account, pair: ['x', {}] }, { account, pair: ['x', { cents: 0 }] }],
    [
      'a default in a record',
      { account, byName: { b: {} } },
      { account, byName: { b: { cents: 0 } } },
    ],
    [
      'a default in a union',
      { account, kind: { kind: 'card' } },
      { account, kind: { kind: 'card', tip: 0 } },
    ],
  ])('%s, written out or not → the same operation', (_, left, right) => {
    expect(identify(left)).toBe(identify(right));
  });

  test.each<[string, object]>([
    ['currency', { account, currency: 'USD' }],
    ['tags', { account, tags: ['x'] }],
    ['a part of an object', { account, purse: { cents: 1 } }],
    ['an item', { account, purses: [{}] }],
  ])('other arguments in %s → another operation', (_, other) => {
    expect(identify(other)).not.toBe(identify({ account }));
  });

  test('a default that changes, as the time does → left out, the same; written out, by its value', () => {
    const [first, written] = [identify({ account }), identify({ account, at: 7 })];
    now = 7;
    expect(identify({ account })).toBe(first);
    expect(identify({ account, at: 7 })).toBe(written);
    expect(written).not.toBe(first);
    now = 0;
  });
});
