/** The checker of sessions sees each way to go back. */
import { expect, test } from 'vitest';
import { SessionFloor } from '../../../../bench/postgres/session-floor.ts';

test('a session that has seen a number must see the latest one up to it at every key', () => {
  const floor = new SessionFloor(3);
  expect(floor.see(1, undefined)).toBe(false);
  expect(floor.see(1, 7)).toBe(false); // 6 is at key 0, 5 at key 2
  expect([0, 1, 2].map((key) => floor.getLeast(key))).toEqual([6, 7, 5]);
  expect(floor.see(0, 3)).toBe(true);
  expect(floor.see(2, undefined)).toBe(true);
  expect(floor.see(2, 8)).toBe(false);
  expect(floor.see(1, 4)).toBe(true);
});

test('a session must see its own writes', () => {
  const floor = new SessionFloor(3);
  expect(floor.seeOwn(undefined)).toBe(false);
  floor.write(1);
  expect(floor.seeOwn(undefined)).toBe(true);
  expect(floor.seeOwn(1)).toBe(false);
});
