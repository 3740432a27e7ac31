/**
 * The home of an idempotency key stays where it is while sites join, are rebuilt, and are retired.
 */
import { expect, test } from 'vitest';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import { toOwnedKey } from '../../../../src/correctable/idempotency-key.ts';
import { Origins, type Origin } from '../../../../src/server/service/records/origin.ts';
import { getOperationPlans } from '../../../../src/server/service/operation-plan.ts';
import { SiteBinding } from '../../../../src/server/node/submission/site-binding.ts';
import type { SubmissionPort } from '../../../../src/server/node/submission/site-binding.ts';
import type { Submitter } from '../../../../src/server/node/submission/submitter.ts';
import { bank, bankService } from '../site/services.ts';

const KEYS = Array.from({ length: 50 }, (_, n) => `order-${n}`);

/** The identity that a site of this table gives to what is named by each of the keys. */
function findIdentities(origins: Origins, keys: readonly string[]): Submitter['identity'][] {
  const identities: Submitter['identity'][] = [];
  const service = bankService();
  const port = {
    contract: service.contract,
    plans: getOperationPlans(service),
    site: 1 as Origin,
    origins,
    submit: ({ identity }: Submitter) => identities.push(identity),
  } as unknown as SubmissionPort;
  const binding = new SiteBinding('ireland', port);
  const fail = (error: unknown): never => {
    throw error as Error;
  };
  for (const idempotencyKey of keys) {
    const context = {
      signal: new AbortController().signal,
      idempotencyKey,
    } as unknown as InvocationContext;
    const sink = { view: () => 0, confirm: fail, fail };
    binding.submitOperation(bank.deposit({ account: 'a', amount: 10 }), ['strong'], sink, context);
  }
  return identities;
}

function findHomes(origins: Origins): (Origin | undefined)[] {
  return findIdentities(origins, KEYS).map((identity) => identity?.home);
}

test('a site that joins, is rebuilt or is retired moves the home of no key: it would run once more there', () => {
  const origins = Origins.create(['ireland', 'frankfurt', 'virginia']);
  const before = findHomes(origins);
  expect(new Set(before)).toEqual(new Set([1, 2, 3]));
  origins.add({ site: 'tokyo', incarnation: 7, state: 'open' });
  expect(findHomes(origins)).toEqual(before);
  origins.set(2 as Origin, { state: 'closed', final: { sequence: 3, stamp: 5 } });
  origins.add({ site: 'frankfurt', incarnation: 9, state: 'open' });
  expect(findHomes(origins)).toEqual(before);
  const loaded = Origins.create([]);
  loaded.load(origins.save());
  expect(findHomes(loaded)).toEqual(before);
});

test('a key that came over the network has the identity that directories of earlier versions have', () => {
  const origins = Origins.create(['ireland', 'frankfurt', 'virginia']);
  const [identity] = findIdentities(origins, [toOwnedKey('ada', 'order-1')]);
  expect(identity?.id.startsWith('\u0001\0ada/order-1')).toBe(true);
  expect([identity]).toEqual(findIdentities(origins, ['\0ada/order-1']));
});
