/** When a call is checked, and when its connection is given up. */
import { expect, test } from 'vitest';
import { watchAnswer } from '../../../../../src/bindings/shared/connections/answer-watch.ts';
import { getSilenceMs } from '../../../../../src/bindings/shared/connections/silence.ts';
import { virtualClock } from '../../../../../src/testing/index.ts';

function open(verdict: () => Promise<boolean>) {
  const clock = virtualClock();
  const checks: number[] = [];
  const reasons: Error[] = [];
  const state = { received: 0 };
  const stop = watchAnswer({
    clock,
    silenceMs: 100,
    countReceived: () => state.received,
    mayStillAnswer() {
      checks.push(clock.now());
      return verdict();
    },
    giveUp: (reason) => void reasons.push(reason),
  });
  return { clock, checks, reasons, state, stop };
}

test('a call that is answered in time is not checked', async () => {
  const { clock, checks, stop } = open(async () => true);
  await clock.advance(99);
  stop();
  await clock.advance(10_000);
  expect(checks).toEqual([]);
});

test('a slow statement is checked less and less often', async () => {
  const { clock, checks, reasons, stop } = open(async () => true);
  const startMs = clock.now();
  await clock.advance(1_500);
  expect(checks.map((ms) => ms - startMs)).toEqual([100, 300, 700, 1_500]);
  expect(reasons).toEqual([]);
  stop();
});

test('a connection that was lost is given up once', async () => {
  const { clock, checks, reasons } = open(async () => false);
  await clock.advance(5_000);
  expect(checks).toHaveLength(1);
  expect(reasons.map(({ message }) => message)).toEqual([expect.stringContaining('it was lost')]);
});

test('a connection is given up if the server does not answer on a new one either', async () => {
  const cause = new Error('ECONNREFUSED');
  const { clock, reasons } = open(() => Promise.reject(cause));
  await clock.advance(100);
  expect(reasons).toMatchObject([{ cause }]);
});

test('an answer that arrives during the check is accepted', async () => {
  let decide: (isExpected: boolean) => void = () => {};
  const { clock, reasons, stop } = open(() => new Promise((resolve) => (decide = resolve)));
  await clock.advance(100);
  stop();
  decide(false);
  await clock.advance(1_000);
  expect(reasons).toEqual([]);
});

test('a connection that receives something during the check is not given up', async () => {
  const verdicts: ((isExpected: boolean) => void)[] = [];
  const { clock, reasons, state } = open(() => new Promise((resolve) => verdicts.push(resolve)));
  await clock.advance(100);
  state.received += 1;
  verdicts[0]!(false);
  await clock.advance(100);
  expect(reasons).toEqual([]);
  expect(verdicts).toHaveLength(2);
  verdicts[1]!(false);
  await clock.advance(0);
  expect(reasons).toHaveLength(1);
});

test('a long answer is not silence while parts of it arrive', async () => {
  const { clock, checks, state, stop } = open(async () => true);
  for (let part = 1; part <= 20; part += 1) {
    state.received = part;
    await clock.advance(60);
  }
  expect(checks).toEqual([]);
  stop();
});

test('a call may be silent for a quarter of the time that is left, up to a second', () => {
  expect(getSilenceMs(undefined)).toBe(1_000);
  expect(getSilenceMs(30_000, 0)).toBe(1_000);
  expect(getSilenceMs(1_200, 0)).toBe(300);
  expect(getSilenceMs(0, 1_000)).toBe(100);
});
