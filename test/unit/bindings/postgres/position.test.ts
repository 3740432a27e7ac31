/** Positions of two servers, and what failures prove. */
import { expect, test } from 'vitest';
import { LogBeginnings } from '../../../../src/bindings/postgres/log-beginnings.ts';
import {
  hasLost,
  isSuperseded,
  parsePosition,
  reached,
} from '../../../../src/bindings/postgres/position.ts';
import { toCorrectableError } from '../../../../src/bindings/postgres/errors.ts';

const at = (lsn: string, timeline = 1, system = '7') => ({ system, timeline, lsn });

// @rule REPL-10
test.each([
  ['0/10', '0/10', true],
  ['0/10', '0/9', true],
  ['0/9', '0/10', false],
  ['1/0', '0/FFFFFFFF', true],
  ['A/0', '9/0', true],
])('%s has reached %s: %s', (have, need, isReached) => {
  expect(reached(at(have), at(need))).toBe(isReached);
});

// @rule REPL-10
test('positions of two timelines, or two systems, are not comparable', () => {
  expect(reached(at('0/20', 2), at('0/10', 1))).toBe(false);
  expect(reached(at('0/20', 1), at('0/10', 2))).toBe(false);
  expect(reached(at('0/20', 1, '8'), at('0/10'))).toBe(false);
});

test('the header of the next page does not count', () => {
  expect(reached(at('0/2000'), at('0/2018'))).toBe(true);
  expect(reached(at('0/2000'), at('0/2020'))).toBe(false);
});

// @rule REPL-10
test('at the start of a file of the log, the header is longer', () => {
  expect(reached(at('0/1000000'), at('0/1000028'))).toBe(true);
  expect(reached(at('0/1002000'), at('0/1002028'))).toBe(false);
});

const primaryAt = (
  lsn: string,
  more: { flushed?: string; began?: string; timeline?: number; system?: string } = {},
) => ({
  ...at(lsn),
  flushed: lsn,
  ...more,
});

// @rule REPL-16
test.each([
  [
    'a crash that loses what was not flushed',
    primaryAt('0/50', { began: '0/30' }),
    primaryAt('0/90', { flushed: '0/28' }),
    false,
  ],
  [
    'a crash that loses what was flushed',
    primaryAt('0/50', { began: '0/30' }),
    primaryAt('0/90', { flushed: '0/48' }),
    true,
  ],
  [
    'the same, when its log is longer again',
    primaryAt('0/99', { began: '0/30' }),
    primaryAt('0/48'),
    true,
  ],
  [
    'a whole page that was flushed, in the middle of a record',
    primaryAt('0/1F00', { began: '0/1E00' }),
    primaryAt('0/3000', { flushed: '0/2000' }),
    false,
  ],
  [
    'the same start',
    primaryAt('0/99', { began: '0/30' }),
    primaryAt('0/48', { began: '0/30' }),
    false,
  ],
  ['an orderly restart', primaryAt('0/99'), primaryAt('0/48', { began: '0/30' }), false],
  ['a copy from before', primaryAt('0/30'), primaryAt('0/48'), true],
  [
    'a failover without a loss',
    primaryAt('0/99', { timeline: 2, began: '0/50' }),
    primaryAt('0/60', { flushed: '0/48' }),
    false,
  ],
  [
    'a failover with a loss',
    primaryAt('0/99', { timeline: 2, began: '0/40' }),
    primaryAt('0/48'),
    true,
  ],
  [
    'a failover that lost what a replica has shown',
    primaryAt('0/99', { timeline: 2, began: '0/40' }),
    at('0/48'),
    true,
  ],
  [
    'a failover whose place is no longer known',
    primaryAt('0/99', { timeline: 2 }),
    primaryAt('0/48'),
    true,
  ],
  [
    'a failover of a server that tells no places',
    { ...at('0/99'), timeline: 2 },
    primaryAt('0/48'),
    false,
  ],
  ['another system', primaryAt('0/99', { system: '8' }), primaryAt('0/48'), true],
])('a loss is noticed from the log alone: %s', (_name, have, need, isLost) => {
  expect(hasLost(have, need)).toBe(isLost);
});

// @rule REPL-14
test('timelines only rise: an old primary is refused, and a backup from before the newer timeline is not', () => {
  const newer = primaryAt('0/90', { timeline: 2, began: '0/50' });
  expect(isSuperseded(primaryAt('0/99'), newer)).toBe(true);
  expect(isSuperseded(primaryAt('0/50'), newer)).toBe(true);
  expect(isSuperseded(primaryAt('0/48'), newer)).toBe(false);
  expect(hasLost(primaryAt('0/48'), newer)).toBe(true);
  expect(isSuperseded(primaryAt('0/99', { timeline: 3 }), newer)).toBe(false);
  expect(isSuperseded(primaryAt('0/99', { system: '8' }), newer)).toBe(false);
});

// @rule REPL-11
test('a row without the timeline is no position', () => {
  const row = (position: object) => ({ position: JSON.stringify(position) });
  expect(parsePosition(row({ system: '7', timeline: null, lsn: '0/1' }))).toBeUndefined();
  expect(parsePosition(undefined)).toBeUndefined();
  expect(parsePosition(row({ ...at('0/1'), began: null }))).toEqual(at('0/1'));
});

const codeOf = (access: 'read' | 'write', code: string | undefined, isReplica = false): string => {
  const error = Object.assign(new Error('it failed'), { code });
  return (toCorrectableError(error, { name: 'x', access, isReplica }) as { code: string }).code;
};

// @rule REPL-4
test.each([
  ['57P01', 'UNKNOWN', 'UNAVAILABLE'],
  ['ECONNRESET', 'UNKNOWN', 'UNAVAILABLE'],
  [undefined, 'UNKNOWN', 'UNAVAILABLE'],
  ['40003', 'UNKNOWN', 'CONFLICT'],
  ['XX000', 'UNKNOWN', 'UNAVAILABLE'],
  ['40001', 'CONFLICT', 'CONFLICT'],
  ['23505', 'CONFLICT', 'CONFLICT'],
  ['25006', 'UNAVAILABLE', 'INVALID_ARGUMENT'],
  ['42P01', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['26000', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['42501', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['3F000', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['53300', 'OVERLOADED', 'OVERLOADED'],
  ['57014', 'TIMEOUT', 'TIMEOUT'],
])('SQLSTATE %s: a write is %s, a read is %s', (sqlState, write, read) => {
  expect(codeOf('write', sqlState)).toBe(write);
  expect(codeOf('read', sqlState)).toBe(read);
});

test('a conflict with the replay is a failure of the replica, also if another library wraps it', () => {
  expect(codeOf('read', '40001', true)).toBe('UNAVAILABLE');
  const wrapped = new Error('query failed', {
    cause: Object.assign(new Error('duplicate'), { code: '23505' }),
  });
  expect(
    toCorrectableError(wrapped, { name: 'x', access: 'write', isReplica: false }),
  ).toMatchObject({
    code: 'CONFLICT',
    retryable: false,
  });
});

// @rule REPL-16
test('a loss is noticed after an orderly restart of the new primary, and supposed if its promotion was not seen', () => {
  const seen = { system: '7', timeline: 1, lsn: '0/400', flushed: '0/400' };
  const promoted = { system: '7', timeline: 2, lsn: '0/500', flushed: '0/500', began: '0/300' };
  const { began: _, ...restarted } = { ...promoted, lsn: '0/600', flushed: '0/600' };
  const beginnings = new LogBeginnings();
  // A process that is new does not know where it was promoted.
  expect(hasLost(restarted, seen, beginnings.find(restarted))).toBe(true);
  const kept = { ...seen, lsn: '0/280', flushed: '0/280' };
  expect(hasLost(restarted, kept, beginnings.find(restarted))).toBe(true);
  beginnings.note(promoted);
  expect(hasLost(restarted, kept, beginnings.find(restarted))).toBe(false);
  expect(hasLost(restarted, seen, beginnings.find(restarted))).toBe(true);
  // A later crash of the new primary does not move its promotion.
  beginnings.note({ ...promoted, began: '0/550' });
  expect(hasLost({ ...restarted, began: '0/550' }, seen, beginnings.find(restarted))).toBe(true);
  // What was seen after the restart, in another process, is not lost.
  expect(
    hasLost(
      restarted,
      { ...restarted, lsn: '0/580', flushed: '0/580' },
      beginnings.find(restarted),
    ),
  ).toBe(false);
});
