/**
 * What primary-backup does with the views of weaker tiers where the strongest one fails at once:
 * offline, they are all there is.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  tiered,
  skipLevel,
  type TierMode,
  type Tier,
} from '../../../../src/bindings/tiered/index.ts';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import { CorrectableError } from '../../../../src/correctable/errors.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock, type VirtualClock } from '../../../../src/testing/virtual-clock.ts';
import { deferred } from './set-up.ts';

const OFFLINE = new Error('offline');
const offline: Tier = () => Promise.reject(OFFLINE);
const hang: Tier = () => new Promise(() => {});

/** All that can be done in this turn of the event loop. */
const turn = (): Promise<void> => new Promise(setImmediate);

type Deferred = ReturnType<typeof deferred<unknown>>;

/** A cache that the test answers for, in front of an origin that fails at once. */
function offlineStore(mode: TierMode = 'parallel'): {
  client: Client<readonly ['cache', 'origin']>;
  cache: Deferred;
} {
  const cache = deferred<unknown>();
  return {
    client: createClient(
      tiered(['cache', 'origin'], { cache: () => cache.promise, origin: offline }, { mode }),
    ),
    cache,
  };
}

/** What becomes of it: `'open'` while it has not ended. */
function outcome(result: PromiseLike<unknown>): { now: unknown } {
  const reported: { now: unknown } = { now: 'open' };
  result.then(
    (value) => (reported.now = value),
    (error: unknown) => (reported.now = error),
  );
  return reported;
}

describe('primary-backup: the strongest tier fails at once, a weaker one is in flight', () => {
  test.each(['parallel', 'sequential'] as const)(
    '%s → its view is shown first, then the failure',
    async (mode) => {
      const { client, cache } = offlineStore(mode);
      const read = client.invoke(get('x'));
      const reported: string[] = [];
      read.onUpdate((value, { level }) => reported.push(`${level}=${String(value)}`));
      read.onError(({ code, cause }) => reported.push(`${code} ${String(cause)}`));
      await turn();
      expect(reported).toEqual([]);
      cache.resolve('kept');
      await turn();
      expect(reported).toEqual(['cache=kept', 'FINAL_FAILED Error: offline']);
    },
  );

  test('settle, when → have the weaker view', async () => {
    const { client, cache } = offlineStore();
    const settled = Promise.all([
      client.invoke(get('x')).settle({ orLatest: true }),
      client.invoke(get('x')).settle({ enough: ({ level }) => level === 'cache' }),
      client.invoke(get('x')).when('cache'),
      client.invoke(get('x')).settle({ withinMs: 60_000, orLatest: true }),
    ]);
    await turn();
    cache.resolve('kept');
    expect((await settled).map(({ value, level }) => [value, level])).toEqual(
      Array.from({ length: 4 }, () => ['kept', 'cache']),
    );
  });

  test.each([
    ['misses', (cache: Deferred) => cache.resolve(skipLevel)],
    ['fails', (cache: Deferred) => cache.reject(new Error('no cache'))],
  ])('it %s → the failure, at once', async (_, end) => {
    const { client, cache } = offlineStore();
    const reported = outcome(client.invoke(get('x')));
    end(cache);
    await turn();
    expect(reported.now).toMatchObject({ code: 'FINAL_FAILED', cause: OFFLINE });
  });

  test('the strongest has no answer, none is stronger → the weaker view, then CLOSED_WITHOUT_FINAL', async () => {
    const cache = deferred<string>();
    const client = createClient(
      tiered(['cache', 'origin'], { cache: () => cache.promise, origin: () => skipLevel }),
    );
    const reported = outcome(client.invoke(get('x')));
    await turn();
    cache.resolve('kept');
    await turn();
    expect(reported.now).toMatchObject({
      code: 'CLOSED_WITHOUT_FINAL',
      lastView: { value: 'kept' },
    });
  });

  test('three tiers → waits for those only that may still show more than is known', async () => {
    const backup = deferred<string>();
    const tiers = { cache: hang, backup: () => backup.promise, primary: offline };
    const client = createClient(tiered(['cache', 'backup', 'primary'], tiers));
    const reported = outcome(client.invoke(get('x')));
    await turn();
    expect(reported.now).toBe('open');
    backup.resolve('newer than the cache');
    await turn();
    expect(reported.now).toMatchObject({ code: 'FINAL_FAILED', lastView: { level: 'backup' } });
  });

  test('a write → fails at once: no weaker tier was asked', async () => {
    const { client } = offlineStore();
    const reported = outcome(client.invoke(put('x', 1)));
    await turn();
    expect(reported.now).toMatchObject({ code: 'FINAL_FAILED', cause: OFFLINE });
  });
});

describe('primary-backup: the strongest tier fails, a weaker one hangs', () => {
  let fake: typeof setTimeout;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    fake = globalThis.setTimeout;
  });
  afterEach(() => {
    globalThis.setTimeout = fake;
    vi.useRealTimers();
  });

  /**
   * Those that are set from now on. No spy sees them: it would put the fake back after the real one
   * has come.
   */
  const timersSet = (): NodeJS.Timeout[] => {
    const handles: NodeJS.Timeout[] = [];
    globalThis.setTimeout = ((...given: Parameters<typeof setTimeout>) => {
      const handle = fake(...given);
      handles.push(handle);
      return handle;
    }) as typeof setTimeout;
    return handles;
  };

  const hanging = (
    origin: Tier = offline,
  ): {
    client: Client<readonly ['cache', 'origin']>;
    clock: VirtualClock;
    isAborted: () => boolean;
  } => {
    let signal: AbortSignal | undefined;
    const cache: Tier = (_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    };
    const clock = virtualClock();
    const client = createClient(tiered(['cache', 'origin'], { cache, origin }), { clock });
    return { client, clock, isAborted: () => signal?.aborted === true };
  };

  test('ends in the failure after a second, and the signal of the tier aborts', async () => {
    const { client, isAborted } = hanging();
    const reported = outcome(client.invoke(get('x')));
    await turn();
    await vi.advanceTimersByTimeAsync(999);
    expect([reported.now, isAborted()]).toEqual(['open', false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reported.now).toMatchObject({
      code: 'FINAL_FAILED',
      cause: OFFLINE,
      levelErrors: { origin: OFFLINE },
    });
    expect(isAborted()).toBe(true);
  });

  test('the deadline comes first → it ends the read with what failed', async () => {
    const { client, clock, isAborted } = hanging();
    const reported = outcome(client.invoke(get('x'), { timeoutMs: 50 }));
    await turn();
    await clock.advance(50);
    expect(reported.now).toMatchObject({
      code: 'FINAL_FAILED',
      retryable: false,
      levelErrors: { origin: OFFLINE },
    });
    expect(reported.now).toMatchObject({ cause: { code: 'FINAL_FAILED', cause: OFFLINE } });
    expect(isAborted()).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.drops.closed).toBe(0);
  });

  test.each([
    ['FORBIDDEN', false, 'FORBIDDEN'],
    ['DOMAIN', false, 'DOMAIN'],
    ['OVERLOADED', true, 'UNAVAILABLE'],
    ['UNAVAILABLE', false, 'UNAVAILABLE'],
  ] as const)(
    'the strongest tier failed with %s, the deadline comes first → retryable as %s',
    async (code, retryable, becomes) => {
      const domain = { name: 'notYours', data: 1 };
      const failure = new CorrectableError(code, 'not possible', {
        domain,
        field: 'args.key',
        retryable,
      });
      const { client, clock } = hanging(() => Promise.reject(failure));
      const whole = client.invoke(get('x'), { timeoutMs: 50 });
      const reported = outcome(whole.map(String));
      await turn();
      await clock.advance(50);
      expect(reported.now).toMatchObject({
        code: becomes,
        retryable,
        cause: failure,
        levelErrors: { origin: failure },
      });
      if (!retryable) expect(reported.now).toMatchObject({ domain, field: 'args.key' });
    },
  );

  test('the time limit of its level passes → the failure', async () => {
    const { client, clock } = hanging();
    const reported = outcome(client.invoke(get('x'), { levelTimeoutsMs: { cache: 20 } }));
    await turn();
    expect(reported.now).toBe('open');
    await clock.advance(20);
    expect(reported.now).toMatchObject({ code: 'FINAL_FAILED', cause: OFFLINE });
  });

  test('it is cancelled, or the client closed → fails at once, and each read fails once', async () => {
    const { client } = hanging();
    const [left, open] = [client.invoke(get('x')), client.invoke(get('y'))];
    const reported = [outcome(left), outcome(open)];
    await turn();
    left.cancel();
    await client.close();
    expect(reported.map(({ now }) => (now as CorrectableError).code)).toEqual([
      'ABORTED',
      'UNAVAILABLE',
    ]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.drops.closed).toBe(1);
  });

  test('its failure is known, and its view taken early → the wait keeps no process alive', async () => {
    const handles = timersSet();
    const { client } = hanging();
    outcome(client.invoke(get('x')));
    await turn();
    expect(handles.map((handle) => handle.hasRef())).toEqual([false]);
  });

  test('there is no deadline to keep the process alive → the wait does, and the failure is reported', async () => {
    const handles = timersSet();
    const { client } = hanging();
    const reported = outcome(client.invoke(get('x'), { timeoutMs: Infinity }));
    await turn();
    expect(handles.map((handle) => handle.hasRef())).toEqual([true]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reported.now).toMatchObject({ code: 'FINAL_FAILED', cause: OFFLINE });
  });
});

test('primary-backup: sequential: the limit of a level has passed before its turn → its tier is not asked', async () => {
  const clock = virtualClock();
  const cache = deferred<unknown>();
  const backup = vi.fn<Tier>(hang);
  const tiers = { cache: () => cache.promise, backup, primary: () => 'p' };
  const client = createClient(
    tiered(['cache', 'backup', 'primary'], tiers, { mode: 'sequential' }),
    { clock },
  );
  const reported = outcome(client.invoke(get('x'), { levelTimeoutsMs: { backup: 20 } }));
  await clock.advance(20);
  cache.resolve('c');
  await turn();
  expect(backup).not.toHaveBeenCalled();
  expect(reported.now).toBe('p');
});
