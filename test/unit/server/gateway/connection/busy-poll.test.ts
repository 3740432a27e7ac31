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
  /** A poll for 450 µs that has had `count` messages of this length in a row, each answered at once. */
  function pollAfter(count: number, { bytes = 100, us = 450 } = {}) {
    const time = thread();
    const poll = new BusyPoll(us, time.ports);
    const exchange = (length = bytes): void => {
      poll.onMessage(length);
      poll.onAnswer();
    };
    for (let message = 0; message < count; message++) exchange();
    return { ...time, poll, exchange };
  }

  test('short messages that come soon → looks for events for the time after the last answer, then sleeps', () => {
    const { pollsUntilAsleep, exchange } = pollAfter(5);
    expect(pollsUntilAsleep((polls) => polls <= 3 && exchange())).toBe(8);
    expect(pollsUntilAsleep()).toBe(0);
  });

  test('the answer takes long, and the next message comes soon after it → polls after the answer', () => {
    const { pollsUntilAsleep, pass, poll } = pollAfter(5);
    pollsUntilAsleep();
    pass(10);
    poll.onAnswer();
    expect(pollsUntilAsleep()).toBe(5);
  });

  test('messages later than the time after the answer → never polls', () => {
    const { pollsUntilAsleep, pass, exchange } = pollAfter(0);
    for (let message = 0; message < 10; message++) {
      exchange();
      expect(pollsUntilAsleep()).toBe(0);
      pass(0.5);
    }
  });

  test.each([
    ['few messages', pollAfter(4)],
    ['long messages', pollAfter(9, { bytes: 1000 })],
    ['0 µs', pollAfter(9, { us: 0 })],
  ])('%s → does not poll', (_, { pollsUntilAsleep }) => {
    expect(pollsUntilAsleep()).toBe(0);
  });

  test('a long message among short ones → polls again only after several short ones', () => {
    const { pollsUntilAsleep, exchange } = pollAfter(5);
    pollsUntilAsleep();
    exchange(1000);
    for (let message = 0; message < 3; message++) exchange();
    expect(pollsUntilAsleep()).toBe(0);
    exchange();
    expect(pollsUntilAsleep()).toBe(5);
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
