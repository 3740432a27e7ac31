/** By their fingerprints two ends know which operations they have alike. */
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { operationHash, operationHashes } from '../../../src/protocol/schema-hash.ts';

const get = { effect: 'read', args: z.object({ key: z.string() }), result: z.string() };
const put = { effect: 'update', args: z.object({ key: z.string(), value: z.string() }), result: z.null() };

test('operations: one is added → the others keep their fingerprints', () => {
  const before = operationHashes({ get });
  const after = operationHashes({ get, put });
  expect(after).toEqual({ get: before['get'], put: operationHash(put) });
  expect(after['put']).not.toBe(after['get']);
});

test.each([
  ['effect', { ...get, effect: 'update' }],
  ['arguments', { ...get, args: z.object({ key: z.number() }) }],
  ['result', { ...get, result: z.nullable(z.string()) }],
  ['no result', { effect: 'read', args: get.args }],
])('operation: another %s → another fingerprint', (_, changed) => {
  expect(operationHash(changed)).not.toBe(operationHash(get));
});

test('operation: the same schemas made anew → the same fingerprint', () => {
  expect(operationHash({ effect: 'read', args: z.object({ key: z.string() }), result: z.string() })).toBe(
    operationHash(get),
  );
});
