import { expect, test } from 'vitest';
import { setPeerDeadline, type PeerClock } from '../../../src/protocol/peer-deadline.ts';

/** A clock whose timers fire late, and whose polls happen when the test triggers them. */
class StalledClock implements PeerClock {
  nowMs = 0;
  timers: (() => void)[] = [];
  polls: (() => void)[] = [];
  now(): number {
    return this.nowMs;
  }
  setTimer(fire: () => void): () => void {
    this.timers.push(fire);
    return () => void this.timers.splice(this.timers.indexOf(fire), 1);
  }
  afterTick(fn: () => void): void {
    this.polls.push(fn);
  }
  fire(atMs: number): void {
    this.nowMs = atMs;
    for (const fire of this.timers.splice(0)) fire();
  }
  poll(): void {
    for (const fn of this.polls.splice(0)) fn();
  }
}

test('expires only after the sockets were polled', () => {
  const clock = new StalledClock();
  let expired = 0;
  setPeerDeadline(clock, () => expired++, 100);
  clock.fire(100);
  expect(expired).toBe(0);
  clock.poll();
  expect(expired).toBe(1);
});

test('does not expire if it is canceled by what the poll brings', () => {
  const clock = new StalledClock();
  let expired = 0;
  const cancel = setPeerDeadline(clock, () => expired++, 100);
  clock.fire(100);
  cancel();
  clock.poll();
  expect(expired).toBe(0);
});

test('gives the whole time once more if this process stood still', () => {
  const clock = new StalledClock();
  let expired = 0;
  setPeerDeadline(clock, () => expired++, 100);
  clock.fire(1_000);
  clock.poll();
  expect(expired).toBe(0);
  clock.fire(5_000);
  clock.poll();
  expect(expired).toBe(1);
});
