/**
 * Promises/A+ for `then`, rule by rule (its numbers), on results that are there already, that come at once and that come
 * later. What `then` returns is a native promise, so that 2.3, the resolution procedure, is the platform's; two tests
 * see to it that it is reached. Then the official suite, whole.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { CorrectableError } from '../../../src/index.ts';
import { built } from '../../support/programs.ts';
import { manual, settled } from './support.ts';

const REASON = new CorrectableError('FINAL_FAILED', 'on purpose');

/** When the result comes: before `then`, right after it, or after a turn of the event loop. */
const TIMES = ['before', 'at once', 'later'] as const;
type Time = (typeof TIMES)[number];

async function attach<R>(time: Time, close: () => void, attached: () => R): Promise<R> {
  if (time === 'before') close();
  const result = attached();
  if (time === 'at once') close();
  if (time === 'later') setImmediate(close);
  return result;
}

function fulfilled<R>(time: Time, attached: (c: PromiseLike<string>) => R): Promise<R> {
  const { c, sink } = manual<string>();
  return attach(
    time,
    () => sink.update('value', 'strong'),
    () => attached(c),
  );
}

function rejected<R>(time: Time, attached: (c: PromiseLike<string>) => R): Promise<R> {
  const { c, sink } = manual<string>();
  return attach(
    time,
    () => sink.fail(REASON),
    () => attached(c),
  );
}

/** Runs until all callbacks have had their turn. */
async function turns(): Promise<void> {
  await settled();
  await settled();
}

test('2.1.2, 2.1.3: once fulfilled or rejected → never anything else', async () => {
  const won = manual<number>();
  won.sink.update(1, 'strong');
  won.sink.fail(REASON);
  won.sink.update(2, 'strong');
  expect(await won.c).toBe(1);
  const lost = manual<number>();
  lost.sink.fail(REASON);
  lost.sink.update(1, 'strong');
  await expect(lost.c).rejects.toBe(REASON);
});

describe.each(TIMES)('result %s', (time) => {
  test('2.2.1: arguments that are no functions → ignored, value and reason pass through (2.2.7.3, 2.2.7.4)', async () => {
    for (const none of [undefined, null, 5, 'text', true, {}] as never[]) {
      expect(await fulfilled(time, async (c) => await c.then(none, none))).toBe('value');
      await expect(rejected(time, async (c) => await c.then(none, none))).rejects.toBe(REASON);
    }
  });

  test('2.2.2: onFulfilled → once, with the value; onRejected never', async () => {
    const onFulfilled = vi.fn();
    const onRejected = vi.fn();
    await fulfilled(time, (c) => void c.then(onFulfilled, onRejected));
    await turns();
    expect(onFulfilled.mock.calls).toEqual([['value']]);
    expect(onRejected).not.toHaveBeenCalled();
  });

  test('2.2.3: onRejected → once, with the reason; onFulfilled never', async () => {
    const onFulfilled = vi.fn();
    const onRejected = vi.fn();
    await rejected(time, (c) => void c.then(onFulfilled, onRejected));
    await turns();
    expect(onRejected.mock.calls).toEqual([[REASON]]);
    expect(onFulfilled).not.toHaveBeenCalled();
  });

  test('2.2.4: callbacks → not before the caller has returned', async () => {
    const order: string[] = [];
    await fulfilled(time, (c) => {
      void c.then(() => order.push('callback'));
      order.push('caller');
    });
    await rejected(time, (c) => {
      void c.then(undefined, () => order.push('callback'));
      order.push('caller');
    });
    await turns();
    expect(order.filter((entry) => entry === 'callback')).toHaveLength(2);
    expect(order.indexOf('caller')).toBe(0);
  });

  test('2.2.5: callbacks → plain functions, without this', async () => {
    const receivers: unknown[] = [];
    const noteThis = function (this: unknown): void {
      receivers.push(this);
    };
    await fulfilled(time, (c) => void c.then(noteThis));
    await rejected(time, (c) => void c.then(undefined, noteThis));
    await turns();
    expect(receivers).toEqual([undefined, undefined]);
  });

  test('2.2.6: several → in the order of their calls, whatever one throws', async () => {
    const order: number[] = [];
    await fulfilled(time, (c) => {
      const thrower = c.then(() => {
        order.push(1);
        throw new Error('mine');
      });
      thrower.then(undefined, () => undefined);
      void c.then(() => order.push(2));
      void c.then(() => order.push(3));
    });
    await turns();
    expect(order).toEqual([1, 2, 3]);
    order.length = 0;
    await rejected(time, (c) => {
      void c.then(undefined, () => order.push(1));
      void c.then(undefined, () => order.push(2));
    });
    await turns();
    expect(order).toEqual([1, 2]);
  });

  test('2.2.7.1: a callback returns x → the next promise resolves with x, 2.3.2 a promise included', async () => {
    expect(await fulfilled(time, async (c) => await c.then((value) => `${value}!`))).toBe('value!');
    expect(await fulfilled(time, async (c) => await c.then(() => Promise.resolve('other')))).toBe('other');
    expect(await rejected(time, async (c) => await c.then(undefined, () => 'saved'))).toBe('saved');
  });

  test('2.2.7.2: a callback throws → the next promise rejects with that', async () => {
    const mine = new Error('mine');
    const thrower = (): never => {
      throw mine;
    };
    await expect(fulfilled(time, async (c) => await c.then(thrower))).rejects.toBe(mine);
    await expect(rejected(time, async (c) => await c.then(undefined, thrower))).rejects.toBe(mine);
  });
});

test('2.3.1: then that resolves with its own promise → TypeError', async () => {
  const { c, sink } = manual<number>();
  const own: PromiseLike<unknown> = c.then((): unknown => own);
  sink.update(1, 'strong');
  await expect(own).rejects.toBeInstanceOf(TypeError);
});

test('2.3.3: a callback returns a thenable → its then is called once, its first answer counts', async () => {
  const { c, sink } = manual<number>();
  const calls = vi.fn();
  const thenable = {
    then(resolve: (value: string) => void, reject: (reason: unknown) => void): void {
      calls();
      resolve('first');
      reject(new Error('too late'));
      throw new Error('later still');
    },
  };
  const next = c.then(() => thenable as PromiseLike<string>);
  sink.update(1, 'strong');
  expect(await next).toBe('first');
  expect(calls).toHaveBeenCalledOnce();
});

interface SuiteReport {
  readonly stats: { readonly tests: number; readonly passes: number };
  readonly failures: readonly { readonly fullTitle: string }[];
}

test('C5: the official suite of Promises/A+ → passes, all 872 tests of it', { timeout: 120_000 }, async () => {
  const program = await built('test/unit/correctable/promises-aplus-suite.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: 2 ** 26 });
  const { stats, failures } = JSON.parse(stdout) as SuiteReport;
  expect(failures.map(({ fullTitle }) => fullTitle)).toEqual([]);
  expect(stats).toMatchObject({ tests: 872, passes: 872 });
});
