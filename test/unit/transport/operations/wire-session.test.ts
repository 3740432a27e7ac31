/** What a session over the wire keeps of the tokens that servers gave it. */
import { expect, test } from 'vitest';
import { WireSession } from '../../../../src/transport/operations/submit-message.ts';

test('tokens of two sites → both are kept: neither contains the other', () => {
  const session = new WireSession();
  session.addToken('0.seen-at-ireland.signature');
  session.addToken('1.seen-at-virginia.signature');
  expect(session.tokens).toEqual(['0.seen-at-ireland.signature', '1.seen-at-virginia.signature']);
});

test('a newer token of the same site → takes the place of the older one', () => {
  const session = new WireSession(['0.older.signature', '1.other.signature']);
  session.addToken('0.newer.signature');
  expect(session.tokens).toEqual(['1.other.signature', '0.newer.signature']);
});

test('opened with two tokens of one site → both are sent until that site has answered', () => {
  const session = new WireSession(['0.write.signature', '0.read.signature']);
  expect(session.tokens).toEqual(['0.write.signature', '0.read.signature']);
  session.addToken('0.both.signature');
  expect(session.tokens).toEqual(['0.both.signature']);
});

test('tokens of more sites than a submission may carry → the first go', () => {
  const session = new WireSession(
    Array.from({ length: 70 }, (_, site) => `${site}.seen.signature`),
  );
  expect(session.tokens).toHaveLength(64);
  expect(session.tokens[0]).toBe('6.seen.signature');
});
