/**
 * One list and one timer for all that have one time limit: what has closed is let go, and holds no
 * process.
 */
import { expect, test } from 'vitest';
import { DeadlineList } from '../../../src/correctable/deadline-list.ts';
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
  const list = new DeadlineList(clock);
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
  const list = new DeadlineList({ now: () => 0, setTimer: () => timer });
  const item = (): Parameters<DeadlineList['add']>[0] => ({
    state: 'pending',
    dueAt: 10,
    expire: () => {},
  });
  for (let n = 0; n < 3; n++) list.add(item(), 10);
  list.setRef(false);
  expect(retained).toEqual([]);
  list.remove(true);
  expect(retained).toEqual([]);
  list.remove(true);
  expect(retained).toEqual([false]);
  list.add(item(), 10);
  expect(retained).toEqual([false, true]);
  list.setRef(false);
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
  const list = new DeadlineList(clock);
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
  const list = new DeadlineList(clock);
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

test('sets a timer for the first open item, and cancels it when the last one closes', () => {
  const events: string[] = [];
  const list = new DeadlineList({
    now: () => 0,
    setTimer: () => {
      events.push('set');
      return { cancel: () => void events.push('cancel') };
    },
  });
  for (let n = 0; n < 2; n++) list.add(limited(10), 10);
  list.remove(true);
  expect(events).toEqual(['set']);
  list.remove(false);
  expect(events).toEqual(['set', 'cancel']);
  list.add(limited(10), 10);
  expect(events).toEqual(['set', 'cancel', 'set']);
});

test('an item is added while the only one expires → one timer, that of the new item', () => {
  let fire = (): void => {};
  let timers = 0;
  const list = new DeadlineList({
    now: () => 10,
    setTimer: (then) => {
      timers++;
      fire = then;
      return { cancel: () => {} };
    },
  });
  const first = limited(10);
  first.expire = () => {
    first.isOpen = false;
    list.remove(true);
    list.add(limited(20), 10);
  };
  list.add(first, 10);
  fire();
  expect(timers).toBe(2);
});
