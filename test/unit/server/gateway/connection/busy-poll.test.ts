/** Staying awake after an answer. */
import { describe, expect, test } from 'vitest';
import { BusyPoll } from '../../../../../src/server/gateway/connection/busy-poll.ts';

/** A thread whose time and turns the test owns. */
function thread() {
  let nowMs = 1000;
  let polls = 0;
  const waiting: (() => void)[] = [];
  return {
    ports: { now: () => nowMs, afterEvents: (then: () => void) => void waiting.push(then) },
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

describe('idle poll', () => {
  test('after an answer → looks for events for the time, then sleeps', () => {
    const { ports, pollsUntilAsleep } = thread();
    new BusyPoll(450, ports).extend();
    expect(pollsUntilAsleep()).toBe(5);
    expect(pollsUntilAsleep()).toBe(0);
  });

  test('answers while it polls → the whole time from the last one on, in one loop', () => {
    const { ports, pollsUntilAsleep } = thread();
    const poll = new BusyPoll(450, ports);
    poll.extend();
    poll.extend();
    expect(pollsUntilAsleep((polls) => polls <= 3 && poll.extend())).toBe(8);
  });

  test('an answer after it fell asleep → polls again', () => {
    const { ports, pollsUntilAsleep } = thread();
    const poll = new BusyPoll(450, ports);
    poll.extend();
    pollsUntilAsleep();
    poll.extend();
    expect(pollsUntilAsleep()).toBe(5);
  });

  test('0 → sleeps at once', () => {
    const { ports, pollsUntilAsleep } = thread();
    new BusyPoll(0, ports).extend();
    expect(pollsUntilAsleep()).toBe(0);
  });

  test.each([-1, NaN, Infinity, 100_001])('%d µs → INVALID_ARGUMENT, field busyPollUs', (forUs) => {
    expect(() => new BusyPoll(forUs)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'busyPollUs' }) as Error,
    );
  });
});
