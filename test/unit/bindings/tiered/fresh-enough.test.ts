/** A read stops at a weaker tier whose view is fresh enough. */
import { expect, test, vi } from 'vitest';
import {
  getLagMs,
  skipLevel,
  tiered,
  versionSessions,
  withDetails,
  type Tier,
} from '../../../../src/bindings/tiered/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { deferred, seen } from './set-up.ts';

const LEVELS = ['cache', 'origin'] as const;
const cached =
  (lagMs: number): Tier =>
  () =>
    withDetails('c', { version: 1, meta: { lagMs } });
const isFresh = (view: Parameters<typeof getLagMs>[0]): boolean => getLagMs(view) < 500;

function open(cache: Tier, options = {}) {
  const origin = vi.fn<Tier>(async () => withDetails('o', { version: 2 }));
  const client = createClient(
    tiered(LEVELS, { cache, origin }, { freshEnough: isFresh, ...options }),
  );
  return { client, origin };
}

// @rule TIER-7
test('a fresh view is final, and the origin is not called', async () => {
  const { client, origin } = open(cached(100));
  expect(await seen(client.invoke(get('k')))).toEqual(['cache=c!']);
  expect(origin).not.toHaveBeenCalled();
});

// @rule TIER-7
test('a view that is not fresh is followed by the origin', async () => {
  const { client } = open(cached(900));
  expect(await seen(client.invoke(get('k')))).toEqual(['cache=c', 'origin=o!']);
  expect(await seen(open(() => skipLevel).client.invoke(get('k')))).toEqual(['origin=o!']);
});

// @rule TIER-7
test('a read of the strongest level alone calls the origin, and so does a write', async () => {
  const { client, origin } = open(cached(0), { freshEnough: () => true });
  expect(await client.invokeStrong(get('k'))).toBe('o');
  expect(await client.invoke(put('k', 1))).toBe('o');
  expect(origin).toHaveBeenCalledTimes(2);
});

// @rule TIER-7
test('parallel: a fresh view ends the read, and the call of the origin is aborted', async () => {
  const asked = deferred<AbortSignal>();
  const origin: Tier = (_operation, { signal }) => {
    asked.resolve(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const onError = vi.fn();
  const options = { mode: 'parallel', freshEnough: isFresh, onError } as const;
  const client = createClient(tiered(LEVELS, { cache: cached(1), origin }, options));
  expect(await seen(client.invoke(get('k')))).toEqual(['cache=c!']);
  expect((await asked.promise).aborted).toBe(true);
  await new Promise(setImmediate);
  expect(onError).not.toHaveBeenCalled();
});

// @rule TIER-7
test('a fresh view that is behind the session does not spare the origin', async () => {
  const { client, origin } = open(cached(1), { sessions: versionSessions() });
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=o!']);
  expect(origin).toHaveBeenCalledTimes(2);
});

test('a function that throws fails its level only', async () => {
  const onError = vi.fn();
  const fail = (): never => {
    throw new Error('no lag');
  };
  const { client } = open(cached(1), { freshEnough: fail, onError });
  expect(await seen(client.invoke(get('k')))).toEqual(['origin=o!']);
  expect(onError).toHaveBeenCalledTimes(1);
});

test('a tier that marks its view as final ends the read', async () => {
  const { client, origin } = open(() => withDetails('c', { final: true }), { mode: 'sequential' });
  expect(await seen(client.invoke(get('k')))).toEqual(['cache=c!']);
  expect(origin).not.toHaveBeenCalled();
});
