/** A session remembers a bounded number of keys. */
import { expect, test } from 'vitest';
import { KeySession } from '../../../../src/bindings/tiered/sessions/key-session.ts';
import { get, put, remove } from '../../../../src/operations/index.ts';

const reached = (have: unknown, need: unknown): boolean => Number(have) >= Number(need);

// @rule TIER-4
test('a key that was forgotten needs the strongest level first', () => {
  const session = new KeySession(reached, 2);
  for (const key of ['a', 'b', 'c']) session.beginWrite(get(key))(5);
  expect(session.beginRead(get('c')).canShow(5)).toBe(true);
  const read = session.beginRead(get('a'));
  expect(read.canShow(9)).toBe(false);
  read.recordFinal(7);
  expect(session.beginRead(get('a')).canShow(7)).toBe(true);
  expect(session.beginRead(get('a')).canShow(6)).toBe(false);
});

// @rule TIER-4
test('a key that was forgotten during a read of it needs the strongest level first', () => {
  const session = new KeySession(reached, 2);
  const read = session.beginRead(get('a'));
  for (const key of ['b', 'c']) session.beginRead(get(key));
  read.recordFinal(9); // The session does not know that it has seen this.
  expect(session.beginRead(get('a')).canShow(8)).toBe(false);
});

test('a key of which nothing was seen is not in a token', () => {
  const session = new KeySession(reached);
  session.beginRead(get('a'));
  session.beginWrite(get('b'))(1);
  expect(session.state).toEqual({
    keys: [['b', { need: ['v', 1], needsPrimary: false }]],
    isPartial: false,
  });
});

// @rule TIER-3
test.each(['a final view', 'an early view', 'a write'])(
  '%s of an operation that began before a remove → the versions of a new row count',
  (late) => {
    const session = new KeySession(reached);
    session.beginRead(get('k')).recordFinal(5);
    const read = session.beginRead(get('k'));
    const recordWrite = session.beginWrite(put('k', 'the first row'));
    session.beginWrite(remove('k'))(undefined);
    if (late === 'a final view') read.recordFinal(5);
    else if (late === 'an early view') read.recordEarly(5);
    else recordWrite(6);
    expect(session.beginRead(get('k')).isBehind(1)).toBe(false);
  },
);

// @rule TIER-3
test('a write of unknown keys may remove rows → the versions of new ones count', () => {
  const session = new KeySession(reached);
  session.beginRead(get('k')).recordFinal(5);
  session.beginWrite({ name: 'clear', args: {}, access: 'write' })(undefined);
  expect(session.beginRead(get('k')).isBehind(1)).toBe(false);
});
