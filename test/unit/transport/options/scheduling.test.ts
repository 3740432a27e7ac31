/** The platform's timers and clock. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPlatformScheduling } from '../../../../src/transport/options/scheduling.ts';

const STEP_MS_MAX = 2 ** 31 - 1;

describe('timers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([1, STEP_MS_MAX, STEP_MS_MAX + 1, 3 * STEP_MS_MAX + 5])(
    '%d ms → fires then, not before',
    (delayMs) => {
      const fired = vi.fn<() => void>();
      createPlatformScheduling().setTimer(fired, delayMs);
      vi.advanceTimersByTime(delayMs - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledOnce();
    },
  );

  test('Infinity → never fires, and sets no timer', () => {
    createPlatformScheduling().setTimer(() => {}, Infinity);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('cancelled after its first step → does not fire', () => {
    const fired = vi.fn<() => void>();
    const cancel = createPlatformScheduling().setTimer(fired, 2 * STEP_MS_MAX);
    vi.advanceTimersByTime(STEP_MS_MAX + 1);
    cancel();
    vi.advanceTimersByTime(STEP_MS_MAX);
    expect(fired).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('clock: the clock of the machine is set back → it goes on', () => {
  const { now } = createPlatformScheduling();
  const before = now();
  const spy = vi.spyOn(Date, 'now').mockReturnValue(0);
  expect(now()).toBeGreaterThanOrEqual(before);
  spy.mockRestore();
  expect(Math.abs(before - Date.now())).toBeLessThan(3_600_000);
});

test('clock of the machine → returned as it is, since deadlines use it', () => {
  const spy = vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
  expect(createPlatformScheduling().wallNow?.()).toBe(1_700_000_000_000);
  spy.mockRestore();
});

describe('after this tick', () => {
  /** Returns the order of tasks, including those queued before. */
  async function order(): Promise<string[]> {
    const reported: string[] = [];
    const { afterTick } = createPlatformScheduling();
    await new Promise<void>((resolve) => {
      afterTick(() => reported.push('first'));
      afterTick(() => void reported.push('second'));
      afterTick(resolve);
      void Promise.resolve()
        .then(() => {})
        .then(() => reported.push('promise'));
      reported.push('now');
    });
    return reported;
  }

  const ORDER = ['now', 'promise', 'first', 'second'];

  test('a platform without setImmediate, as browsers are → once each, in order, when promise callbacks have run', async () => {
    const ports: MessagePort[] = [];
    class Channel extends MessageChannel {
      constructor() {
        super();
        ports.push(this.port1);
      }
    }
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal('setImmediate', undefined);
    vi.stubGlobal('MessageChannel', Channel);
    expect(await order()).toEqual(ORDER);
    // Open, it would keep this process alive.
    expect(ports).toHaveLength(1);
    for (const port of ports) port.close();
  });

  test('Node, which has it → the same, and no channel is opened', async () => {
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal('MessageChannel', undefined);
    expect(await order()).toEqual(ORDER);
  });
});
