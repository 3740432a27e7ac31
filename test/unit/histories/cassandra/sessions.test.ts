import { expect, test } from 'vitest';
import { sessionFaults } from '../../../histories/cassandra/checks/sessions.ts';
import { read, write } from './calls.ts';

const retained = { input: { isKept: true } };
const other = { session: 'quorum-ireland-1/b' };

test('sessions: weak views that are behind of nothing that the session saw → no fault', () => {
  const calls = [
    write([0, 9], 'a', other),
    write([10, 19], 'b', other),
    read([20, 29], 'b', { ...retained, weak: 'a' }),
    read([20, 29], 'b', { ...other, weak: 'a' }),
    // Begun before the session had seen anything.
    read([25, 60], 'b', { ...retained, weak: 'a' }),
  ];
  expect(sessionFaults(calls)).toEqual([]);
});

test('sessions: a weak view behind an own put, or behind a view before → a fault', () => {
  const own = [
    write([0, 9], 'a', other),
    write([10, 19], 'b', retained),
    read([20, 29], 'b', { ...retained, weak: 'a' }),
  ];
  expect(sessionFaults(own)).toEqual([expect.stringMatching(/shown "a" .*had seen "b"/)]);
  const absent = [write([10, 19], 'b', retained), read([20, 29], 'b', { ...retained, weak: null })];
  expect(sessionFaults(absent)).toHaveLength(1);
  const before = [
    write([0, 9], 'a', other),
    write([10, 100], 'b', other),
    read([20, 29], 'b', retained),
    read([30, 39], 'a', retained),
  ];
  expect(sessionFaults(before)).toHaveLength(1);
});

test('sessions: a final behind the early view of the same read → a fault', () => {
  const calls = [
    write([0, 9], 'a', other),
    write([10, 100], 'b', other),
    read([20, 29], 'a', { ...retained, weak: 'b' }),
  ];
  expect(sessionFaults(calls)).toHaveLength(1);
});

test('sessions: what was surely gone and is shown again → a fault; what was written since is none', () => {
  const gone = [
    write([0, 9], 'a', other),
    write([10, 19], null, other),
    read([20, 29], null, retained),
  ];
  expect(sessionFaults([...gone, read([30, 39], null, { ...retained, weak: 'a' })])).toEqual([
    expect.stringMatching(/had seen it gone/),
  ]);
  expect(
    sessionFaults([
      ...gone,
      write([30, 39], 'c', other),
      read([40, 49], 'c', { ...retained, weak: 'c' }),
    ]),
  ).toEqual([]);
});
