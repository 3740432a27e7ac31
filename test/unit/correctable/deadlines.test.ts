/** One list and one timer for all that have one time limit: what has closed is let go, and holds no process. */
import { expect, test } from 'vitest';
import { createDeadlineList } from '../../../src/correctable/deadlines.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';

/** One that closes when the test says so, and counts how often it is looked at. */
function limited(dueAt: number) {
  return {
    dueAt,
    looks: 0,
    isOpen: true,
    expire: (): void => {},
    get state() {
      this.looks++;
      return this.isOpen ? 'updating' : 'final';
    },
  };
}

test('most have closed → they are let go, the rest expire', async () => {
  const clock = virtualClock();
  const list = createDeadlineList(clock, () => {});
  const all = Array.from({ length: 5 }, () => limited(clock.now() + 10));
  for (const one of all) list.add(one, 10);
  const expired: number[] = [];
  for (const [at, one] of all.entries()) {
    one.expire = () => {
      one.isOpen = false;
      expired.push(at);
      list.forget(true);
    };
  }
  for (const at of [0, 2, 4]) {
    all[at]!.isOpen = false;
    list.forget(true);
  }
  for (const one of all) one.looks = 0;
  await clock.advance(10);
  expect(expired).toEqual([1, 3]);
  expect(all.map(({ looks }) => looks > 0)).toEqual([false, true, false, true, false]);
});

test('the last that is waited for has gone, and one comes → the timer holds the process as long as one is waited for', () => {
  const held: boolean[] = [];
  const timer = { cancel: () => {}, hold: (isHeld: boolean) => void held.push(isHeld) };
  const list = createDeadlineList({ now: () => 0, setTimer: () => timer }, () => {});
  const one = (): Parameters<ReturnType<typeof createDeadlineList>['add']>[0] => ({
    state: 'updating',
    dueAt: 10,
    expire: () => {},
  });
  list.add(one(), 10);
  list.add(one(), 10);
  expect(held).toEqual([]);
  list.forget(true);
  expect(held).toEqual([]);
  list.forget(true);
  expect(held).toEqual([false]);
  list.add(one(), 10);
  expect(held).toEqual([false, true]);
  list.hold(false);
  list.forget(false);
  expect(held).toEqual([false, true, false]);
});

test('nobody waits for those that are left when the timer is set again → it holds no process', () => {
  const held: boolean[] = [];
  let fire = (): void => {};
  const clock = {
    now: () => 10,
    setTimer: (then: () => void) => {
      fire = then;
      return { cancel: () => {}, hold: (isHeld: boolean) => void held.push(isHeld) };
    },
  };
  const list = createDeadlineList(clock, () => {});
  const first = { state: 'updating', dueAt: 10, expire: () => {} };
  first.expire = () => {
    first.state = 'error';
    list.forget(true);
  };
  list.add(first, 10);
  list.add({ state: 'updating', dueAt: 15, expire: () => {} }, 10);
  list.hold(false);
  held.length = 0;
  fire();
  expect(held.at(-1)).toBe(false);
});

test('all have closed → none is looked at any more', async () => {
  const clock = virtualClock();
  const list = createDeadlineList(clock, () => {});
  const all = Array.from({ length: 3 }, () => limited(clock.now() + 10));
  for (const one of all) list.add(one, 10);
  for (const one of all) {
    one.isOpen = false;
    list.forget(true);
  }
  for (const one of all) one.looks = 0;
  await clock.advance(10);
  expect(all.map(({ looks }) => looks)).toEqual([0, 0, 0]);
});
