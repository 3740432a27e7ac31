/** One list and one timer for all that have one time limit: what has closed is let go, and holds no process. */
import { expect, test } from 'vitest';
import { createDeadlineList } from '../../../src/correctable/deadline-list.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';

/** An operation that closes when the test closes it, and counts how often it is checked. */
function limited(dueAt: number) {
  return {
    dueAt,
    looks: 0,
    isOpen: true,
    expire: (): void => {},
    get state() {
      this.looks++;
      return this.isOpen ? 'pending' : 'final';
    },
  };
}

test('most have closed → they are let go, the rest expire', async () => {
  const clock = virtualClock();
  const list = createDeadlineList(clock, () => {});
  const all = Array.from({ length: 5 }, () => limited(clock.now() + 10));
  for (const item of all) list.add(item, 10);
  const expired: number[] = [];
  for (const [at, element] of all.entries()) {
    element.expire = () => {
      element.isOpen = false;
      expired.push(at);
      list.remove(true);
    };
  }
  for (const at of [0, 2, 4]) {
    all[at]!.isOpen = false;
    list.remove(true);
  }
  for (const entry of all) entry.looks = 0;
  await clock.advance(10);
  expect(expired).toEqual([1, 3]);
  expect(all.map(({ looks }) => looks > 0)).toEqual([false, true, false, true, false]);
});

test('the last that is waited for has gone, and one comes → the timer holds the process as long as one is waited for', () => {
  const retained: boolean[] = [];
  const timer = { cancel: () => {}, setRef: (isHeld: boolean) => void retained.push(isHeld) };
  const list = createDeadlineList({ now: () => 0, setTimer: () => timer }, () => {});
  const item = (): Parameters<ReturnType<typeof createDeadlineList>['add']>[0] => ({
    state: 'pending',
    dueAt: 10,
    expire: () => {},
  });
  list.add(item(), 10);
  list.add(item(), 10);
  expect(retained).toEqual([]);
  list.remove(true);
  expect(retained).toEqual([]);
  list.remove(true);
  expect(retained).toEqual([false]);
  list.add(item(), 10);
  expect(retained).toEqual([false, true]);
  list.setRef(false);
  list.remove(false);
  expect(retained).toEqual([false, true, false]);
});

test('the remaining operations have no listener when the timer is set again → it does not hold the process', () => {
  const retained: boolean[] = [];
  let fire = (): void => {};
  const clock = {
    now: () => 10,
    setTimer: (then: () => void) => {
      fire = then;
      return { cancel: () => {}, setRef: (isHeld: boolean) => void retained.push(isHeld) };
    },
  };
  const list = createDeadlineList(clock, () => {});
  const first = { state: 'pending', dueAt: 10, expire: () => {} };
  first.expire = () => {
    first.state = 'error';
    list.remove(true);
  };
  list.add(first, 10);
  list.add({ state: 'pending', dueAt: 15, expire: () => {} }, 10);
  list.setRef(false);
  retained.length = 0;
  fire();
  expect(retained.at(-1)).toBe(false);
});

test('all have closed → none is looked at any more', async () => {
  const clock = virtualClock();
  const list = createDeadlineList(clock, () => {});
  const all = Array.from({ length: 3 }, () => limited(clock.now() + 10));
  for (const item of all) list.add(item, 10);
  for (const element of all) {
    element.isOpen = false;
    list.remove(true);
  }
  for (const entry of all) entry.looks = 0;
  await clock.advance(10);
  expect(all.map(({ looks }) => looks)).toEqual([0, 0, 0]);
});
