/** Positions in the stream of a primary, and after a promotion. */
import { expect, test } from 'vitest';
import {
  hasLost,
  isOldStream,
  parseInfo,
  parsePosition,
  reached,
} from '../../../../src/bindings/valkey/replication-position.ts';

const info = (fields: object) => {
  const lines = Object.entries(fields).map(([name, value]) => `${name}:${value}`);
  return parseInfo(['# Replication', ...lines, ''].join('\r\n'));
};
const none = { master_replid2: '0'.repeat(40), second_repl_offset: -1 };

test('a primary and a replica have the offset of what they show', () => {
  const primary = { role: 'master', master_replid: 'a', master_repl_offset: 7, ...none };
  expect(parsePosition(info(primary))).toEqual({ id: 'a', offset: 7 });
  const replica = { ...primary, role: 'slave', slave_repl_offset: 5 };
  expect(parsePosition(info(replica))).toEqual({ id: 'a', offset: 5 });
});

// @rule REPL-11
test('a replica that copies all data has no position, nor has a reply without one', () => {
  const replica = {
    role: 'slave',
    master_replid: 'a',
    slave_repl_offset: 5,
    master_sync_in_progress: 1,
  };
  expect(parsePosition(info(replica))).toBeUndefined();
  expect(parsePosition(parseInfo(''))).toBeUndefined();
});

// @rule REPL-10
test('after a promotion, positions of the stream before hold up to there', () => {
  const fields = {
    role: 'master',
    master_replid: 'b',
    master_repl_offset: 20,
    master_replid2: 'a',
    second_repl_offset: 11,
  };
  const promoted = parsePosition(info(fields))!;
  expect(reached(promoted, { id: 'a', offset: 10 })).toBe(true);
  expect(reached(promoted, { id: 'a', offset: 11 })).toBe(false);
  expect(reached(promoted, { id: 'c', offset: 1 })).toBe(false);
  expect(reached({ ...promoted, offset: 5 }, { id: 'a', offset: 10 })).toBe(false);
  expect(reached({ id: 'a', offset: 30 }, promoted)).toBe(false);
});

test('a promotion that lacks the end of the stream has lost it', () => {
  const promoted = { id: 'b', offset: 20, earlier: { id: 'a', before: 11 } };
  expect(hasLost(promoted, { id: 'a', offset: 10 })).toBe(false);
  expect(hasLost(promoted, { id: 'a', offset: 11 })).toBe(true);
  expect(hasLost(promoted, { id: 'b', offset: 25 })).toBe(false);
});

// @rule REPL-24
test('a start with less, and without a file of all writes, has lost something', () => {
  const seen = { id: 'a', offset: 10 };
  expect(hasLost({ id: 'b', offset: 0, isVolatile: true }, seen)).toBe(true);
  expect(hasLost({ id: 'b', offset: 0 }, seen)).toBe(false);
  // Two promotions have come in between.
  expect(hasLost({ id: 'c', offset: 30, isVolatile: true }, seen)).toBe(false);
});

// @rule REPL-24
test('at an equal offset, only another process has lost something', () => {
  // Without replicas, the offset stays, and the id changes after repl-backlog-ttl.
  const seen = { id: 'a', offset: 10, runId: 'r' };
  const now = { id: 'b', offset: 10, isVolatile: true as const };
  expect(hasLost({ ...now, runId: 'r' }, seen)).toBe(false);
  expect(hasLost({ ...now, runId: 's' }, seen)).toBe(true);
  expect(hasLost(now, seen)).toBe(false);
  expect(hasLost({ ...now, runId: 's' }, { id: 'a', offset: 10 })).toBe(false);
});

test('a stream is old if another one goes on from it', () => {
  const promoted = { id: 'b', offset: 20, earlier: { id: 'a', before: 11 } };
  expect(isOldStream('a', promoted)).toBe(true);
  expect(isOldStream('b', promoted)).toBe(false);
  expect(hasLost({ id: 'a', offset: 5 }, promoted)).toBe(false);
});
