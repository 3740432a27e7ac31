/** Failures that are kept for a repetition where there is no room for all that they say. */
import { expect, test } from 'vitest';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { jsonCodec } from '../../../../../src/protocol/codec/json-codec.ts';
import { encodeShortFailure } from '../../../../../src/server/gateway/operations/retained-reply.ts';

function kept(error: CorrectableError): unknown[] {
  const reply = encodeShortFailure(7, error, jsonCodec);
  if (!('message' in reply)) return expect.unreachable();
  expect(reply.message.length).toBeLessThan(600);
  return JSON.parse(String(reply.message)) as unknown[];
}

test('a small domain error is kept with its message and data', () => {
  const domain = { name: 'notEnough', data: { balance: 3 } };
  const row = kept(new CorrectableError('DOMAIN', 'take: notEnough', { domain }));
  expect(row).toEqual([7, 'fail', 'DOMAIN', 'take: notEnough', null, { retryable: false, domain }]);
});

test('a large one → another code, which names it: never DOMAIN without its data', () => {
  const domain = { name: 'notEnough', data: { why: 'x'.repeat(10_000) } };
  const row = kept(new CorrectableError('DOMAIN', 'take: notEnough', { domain }));
  expect(row.slice(0, 3)).toEqual([7, 'fail', 'FINAL_FAILED']);
  expect(row[3]).toMatch(/take: notEnough.*not kept/);
  expect(row[5]).toEqual({ retryable: false });
});
