/** Staying awake while messages follow each other closely. */
import { describe, expect, test } from 'vitest';
import { BusyPoll, defaultBusyPollUs } from '../../../../../src/server/gateway/connection/busy-poll.ts';

/** A thread whose time and turns the test owns. */
function thread() {
  let nowMs = 1000;
  let polls = 0;
  const waiting: (() => void)[] = [];
  return {
    ports: { now: () => nowMs, afterEvents: (then: () => void) => void waiting.push(then) },
    pass(ms: number): void {
      nowMs += ms;
    },
    /** How often it has looked for events by the time that it sleeps; each look takes 0.1 ms. */
    pollsUntilAsleep(during: (polls: number) => void = () => {}): number {
      const before = polls;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        nowMs += 0.1;
        during((polls += 1) - before);
        next();
      }
      return polls - before;
    },
  };
}

describe('busy poll', () => {
  test('messages that follow each other closely → looks for events for the time after the last, then sleeps', () => {
    const { ports, pollsUntilAsleep } = thread();
    const poll = new BusyPoll(450, ports);
    poll.onMessage(100);
    poll.onMessage(100);
    expect(pollsUntilAsleep((polls) => polls <= 3 && poll.onMessage(100))).toBe(8);
    expect(pollsUntilAsleep()).toBe(0);
  });

  test('messages further apart than the time → never polls', () => {
    const { ports, pollsUntilAsleep, pass } = thread();
    const poll = new BusyPoll(450, ports);
    for (let message = 0; message < 3; message++) {
      poll.onMessage(100);
      expect(pollsUntilAsleep()).toBe(0);
      pass(0.5);
    }
  });

  test('messages close together again after it fell asleep → polls again', () => {
    const { ports, pollsUntilAsleep, pass } = thread();
    const poll = new BusyPoll(450, ports);
    poll.onMessage(100);
    poll.onMessage(100);
    pollsUntilAsleep();
    pass(10);
    poll.onMessage(100);
    expect(pollsUntilAsleep()).toBe(0);
    pass(0.2);
    poll.onMessage(100);
    expect(pollsUntilAsleep()).toBe(5);
  });

  test('long messages → does not poll', () => {
    const { ports, pollsUntilAsleep } = thread();
    const poll = new BusyPoll(450, ports);
    for (let message = 0; message < 3; message++) poll.onMessage(1000);
    expect(pollsUntilAsleep()).toBe(0);
  });

  test('0 → sleeps at once', () => {
    const { ports, pollsUntilAsleep } = thread();
    const poll = new BusyPoll(0, ports);
    poll.onMessage(100);
    poll.onMessage(100);
    expect(pollsUntilAsleep()).toBe(0);
  });

  test.each([
    [1, 'max 100000\n', 0],
    [2, 'max 100000\n', 200],
    [64, 'max', 200],
    [64, '200000 100000\n', 200],
    [64, '50000 100000\n', 0],
  ])('%d processors, with the quota %j → by default %d µs', (processors, quota, us) => {
    expect(defaultBusyPollUs(processors, quota)).toBe(us);
  });

  test.each([-1, NaN, Infinity, 100_001])('%d µs → INVALID_ARGUMENT, field busyPollUs', (forUs) => {
    expect(() => new BusyPoll(forUs)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'busyPollUs' }) as Error,
    );
  });
});
