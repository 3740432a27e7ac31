/** The primary-backup binding: levels that are functions (Correctables, OSDI 2016, Listing 7). */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  withDetails,
  tiered,
  skipLevel,
  type Tier,
} from '../../../../src/bindings/tiered/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { heldBytes } from '../../correctable/support.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import { deferred, seen } from './set-up.ts';

const LEVELS = ['cache', 'backup', 'primary'] as const;

/** Tiers that fail are printed. `test/unit/http/reported-failures.test.ts` looks at that. */
let printed: ReturnType<typeof vi.spyOn>;
beforeAll(() => {
  printed = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterAll(() => printed.mockRestore());

describe('primary-backup: reads', () => {
  test.each(['parallel', 'sequential'] as const)(
    'three tiers, %s → three views, weakest first',
    async (mode) => {
      const store = createClient(
        tiered(
          LEVELS,
          { cache: () => 'c', backup: async () => 'b', primary: async () => 'p' },
          { mode },
        ),
      );
      expect(await seen(store.invoke(get('x')))).toEqual(['cache=c', 'backup=b', 'primary=p!']);
    },
  );

  test('sequential: backup has not answered → the primary is not asked', async () => {
    const backup = deferred<string>();
    const primary = vi.fn<Tier>(() => 'p');
    const store = createClient(
      tiered(
        ['weak', 'strong'],
        { weak: () => backup.promise, strong: primary },
        { mode: 'sequential' },
      ),
    );
    const read = store.invoke(get('x'));
    await Promise.resolve();
    expect(primary).not.toHaveBeenCalled();
    backup.resolve('b');
    expect(await read).toBe('p');
  });

  test('sequential: cancelled before the primary is asked → it never is', async () => {
    const backup = deferred<string>();
    const primary = vi.fn<Tier>(() => 'p');
    const store = createClient(
      tiered(
        ['weak', 'strong'],
        { weak: () => backup.promise, strong: primary },
        { mode: 'sequential' },
      ),
    );
    const read = store.invoke(get('x'));
    read.cancel();
    backup.resolve('b');
    await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
    await backup.promise;
    await new Promise(setImmediate);
    expect(primary).not.toHaveBeenCalled();
  });

  test('parallel: backup hangs → the final comes all the same', async () => {
    const store = createClient(
      tiered(['weak', 'strong'], { weak: () => new Promise(() => {}), strong: () => 'p' }),
    );
    expect(await store.invoke(get('x'))).toBe('p');
  });

  test('parallel: backup answers after the primary → dropped and counted', async () => {
    const backup = deferred<string>();
    const store = createClient(
      tiered(['weak', 'strong'], { weak: () => backup.promise, strong: () => 'p' }),
    );
    expect(await seen(store.invoke(get('x')))).toEqual(['strong=p!']);
    backup.resolve('late');
    await new Promise(setImmediate);
    expect(store.drops.closed).toBe(1);
  });

  test('levels: only the requested tiers are asked', async () => {
    const backup = vi.fn<Tier>(() => 'b');
    const store = createClient(tiered(LEVELS, { cache: () => 'c', backup, primary: () => 'p' }));
    expect(await seen(store.invoke(get('x'), { levels: ['cache', 'primary'] }))).toEqual([
      'cache=c',
      'primary=p!',
    ]);
    expect(await seen(store.invokeWeak(get('x')))).toEqual(['cache=c!']);
    expect(backup).not.toHaveBeenCalled();
  });

  /** A tier that hangs, and how often it was called and aborted. */
  function hanging(): { tier: Tier; counts: { asked: number; aborted: number } } {
    const counts = { asked: 0, aborted: 0 };
    const tier: Tier = (_operation, { signal }) => {
      counts.asked += 1;
      signal.addEventListener('abort', () => (counts.aborted += 1), { once: true });
      return new Promise(() => {});
    };
    return { tier, counts };
  }

  test('signal: a stronger tier has answered → the signal of a hanging weaker one aborts', async () => {
    const { tier, counts } = hanging();
    const store = createClient(
      tiered(['cache', 'origin'], { cache: tier, origin: async () => 'fine' }),
    );
    for (let n = 0; n < 5; n += 1) expect(await store.invoke(get('x'))).toBe('fine');
    expect(counts).toEqual({ asked: 5, aborted: 5 });
    await store.close();
  });

  test.each(['parallel', 'sequential'] as const)(
    '%s: the timeout of a level passes → the signal of its tier aborts',
    async (mode) => {
      const { tier, counts } = hanging();
      const clock = virtualClock();
      const origin = deferred<string>();
      const tiers = { cache: tier, origin: () => origin.promise };
      const store = createClient(tiered(['cache', 'origin'], tiers, { mode }), { clock });
      const read = store.invoke(get('x'), { levelTimeoutsMs: { cache: 20 } });
      await clock.advance(19);
      expect(counts).toEqual({ asked: 1, aborted: 0 });
      await clock.advance(1);
      expect(counts).toEqual({ asked: 1, aborted: 1 });
      origin.resolve('fine');
      expect(await read).toBe('fine');
    },
  );

  test('signal: the client is closed → the signals of hanging tiers abort', async () => {
    const { tier, counts } = hanging();
    const store = createClient(tiered(['cache', 'origin'], { cache: tier, origin: tier }));
    const code = store.invoke(get('x')).catch((error: unknown) => (error as { code: string }).code);
    await store.close();
    expect(await code).toBe('UNAVAILABLE');
    expect(counts).toEqual({ asked: 2, aborted: 2 });
  });

  test('signal: all have answered → nothing is left on the signal of the invocation', async () => {
    const added: string[] = [];
    const tier: Tier = (_operation, { signal }) => void added.push(String(signal.aborted));
    const store = createClient(tiered(['cache', 'origin'], { cache: tier, origin: tier }));
    const controller = new AbortController();
    await store.invoke(get('x'), { signal: controller.signal });
    controller.abort();
    expect(added).toEqual(['false', 'false']);
  });

  test('signal: the operation is cancelled → the signals of its tiers abort', async () => {
    const aborted = deferred<void>();
    const hang: Tier = (_operation, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => aborted.resolve(), { once: true }));
    const store = createClient(tiered(['only'], { only: hang }));
    const read = store.invoke(get('x'));
    read.cancel();
    await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
    await aborted.promise;
  });
});

describe('primary-backup: what tiers say', () => {
  test('answer: version and meta travel with the view', async () => {
    const store = createClient(
      tiered(['weak'], {
        weak: () => withDetails('v', { version: 7, meta: { from: 'backup-2' } }),
      }),
    );
    expect(await store.invoke(get('x')).settle()).toMatchObject({
      value: 'v',
      version: 7,
      meta: { from: 'backup-2' },
    });
  });

  test('a value that looks like an answer → is a value', async () => {
    const value = { value: 1, version: 2, meta: {} };
    const store = createClient(tiered(['weak'], { weak: () => value }));
    expect(await store.invoke(get('x'))).toEqual(value);
  });

  test('noAnswer: a weak tier misses → its level is skipped, undefined is a value', async () => {
    const store = createClient(
      tiered(LEVELS, { cache: () => skipLevel, backup: () => undefined, primary: () => 'p' }),
    );
    expect(await seen(store.invoke(get('x')))).toEqual(['backup=undefined', 'primary=p!']);
  });

  test('noAnswer: the strongest requested tier misses → the next stronger answers, labeled as such', async () => {
    const store = createClient(
      tiered(LEVELS, { cache: () => skipLevel, backup: () => skipLevel, primary: () => 'p' }),
    );
    expect(await seen(store.invokeWeak(get('x')))).toEqual(['primary=p!']);
  });

  test('noAnswer: every tier misses → CLOSED_WITHOUT_FINAL', async () => {
    const store = createClient(tiered(['weak'], { weak: () => skipLevel }));
    await expect(store.invoke(get('x'))).rejects.toMatchObject({ code: 'CLOSED_WITHOUT_FINAL' });
  });

  test.each(['parallel', 'sequential'] as const)(
    'C6: a weak tier throws, %s → the final comes',
    async (mode) => {
      const weak: Tier = () => {
        throw new Error('backup down');
      };
      const store = createClient(
        tiered(['weak', 'strong'], { weak, strong: async () => 'p' }, { mode }),
      );
      expect(await seen(store.invoke(get('x')))).toEqual(['strong=p!']);
    },
  );

  test('C6: all tiers throw → the error has the failure of each level', async () => {
    const down = new Error('backup down');
    const gone = new Error('primary gone');
    const store = createClient(
      tiered(
        ['weak', 'strong'],
        { weak: () => Promise.reject(down), strong: () => Promise.reject(gone) },
        { mode: 'sequential' },
      ),
    );
    await expect(store.invoke(get('x'))).rejects.toMatchObject({
      code: 'FINAL_FAILED',
      level: 'strong',
      cause: gone,
      levelErrors: { weak: down, strong: gone },
    });
  });

  test('C6: a substitute throws → the operation fails with its error', async () => {
    const gone = new Error('primary gone');
    const store = createClient(
      tiered(['weak', 'strong'], { weak: () => skipLevel, strong: () => Promise.reject(gone) }),
    );
    await expect(store.invokeWeak(get('x'))).rejects.toMatchObject({
      code: 'FINAL_FAILED',
      cause: gone,
    });
  });
});

describe('primary-backup: updates', () => {
  test('the tier throws → the error says that the write may have been made', async () => {
    const gone = new Error('database gone');
    const store = createClient(
      tiered(['cache', 'database'], { cache: vi.fn(), database: () => Promise.reject(gone) }),
    );
    await expect(store.invoke(put('home', 1))).rejects.toMatchObject({
      code: 'FINAL_FAILED',
      message: 'put "home": the write at database failed and may have been made; see cause',
      cause: gone,
    });
  });

  test.each([[['weak']], [['weak', 'strong']], [['strong']]] as const)(
    'levels %j → the strongest tier executes it, once',
    async (levels) => {
      const weak = vi.fn<Tier>();
      const strong = vi.fn<Tier>(async () => 'done');
      const store = createClient(tiered(['weak', 'strong'], { weak, strong }));
      expect(await seen(store.invoke(put('x', 1), { levels: [...levels] }))).toEqual([
        'strong=done!',
      ]);
      expect(strong).toHaveBeenCalledTimes(1);
      expect(weak).not.toHaveBeenCalled();
    },
  );

  test('cancelled → runs to its end, its signal never aborts', async () => {
    const started = deferred<AbortSignal>();
    const committed = deferred<void>();
    const ended = deferred<boolean>();
    const strong: Tier = async (_operation, { signal }) => {
      started.resolve(signal);
      await committed.promise;
      ended.resolve(signal.aborted);
    };
    const store = createClient(tiered(['weak', 'strong'], { weak: () => 'w', strong }));
    const write = store.invoke(put('x', 1));
    await started.promise;
    write.cancel();
    await expect(write).rejects.toMatchObject({ code: 'UNKNOWN' });
    committed.resolve();
    expect(await ended.promise).toBe(false);
  });
});

describe('primary-backup: closing and options', () => {
  test('close: reads in flight → UNAVAILABLE, writes UNKNOWN, later ones UNAVAILABLE, the hook runs once', async () => {
    const close = vi.fn<() => void>();
    const store = createClient(tiered(['weak'], { weak: () => new Promise(() => {}) }, { close }));
    const read = store.invoke(get('x'));
    const update = store.invoke(put('x', 1));
    await Promise.all([
      store.close(),
      expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE' }),
      expect(update).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false }),
    ]);
    await expect(store.invoke(get('y'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await store.close();
    expect(close).toHaveBeenCalledTimes(1);
  });

  test('supports: an operation that is not → UNSUPPORTED', async () => {
    const supports = ({ name }: { name: string }): boolean => name === 'get';
    const store = createClient(tiered(['weak'], { weak: () => 1 }, { supports }));
    await expect(store.invoke(put('x', 1))).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  test('creates a binding from names, functions and options', async () => {
    const close = vi.fn<() => void>();
    const supports = ({ name }: { name: string }): boolean => name === 'get';
    const backup = deferred<string>();
    const primary = vi.fn<Tier>(() => 'p');
    const options = { mode: 'sequential', supports, close } as const;
    const binding = tiered(
      LEVELS,
      { cache: () => skipLevel, backup: () => backup.promise, primary },
      options,
    );
    expect([binding.name, binding.consistencyLevels()]).toEqual(['tiered', LEVELS]);
    const store = createClient(binding);
    const read = seen(store.invoke(get('x')));
    await new Promise(setImmediate);
    expect(primary).not.toHaveBeenCalled();
    backup.resolve('b');
    expect(await read).toEqual(['backup=b', 'primary=p!']);
    await expect(store.invoke(put('x', 1))).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await store.close();
    expect(close).toHaveBeenCalledOnce();
  });
});

test('a tier gets the principal of the submission', async () => {
  const seenBy: unknown[] = [];
  const handle: Tier = (_operation, { principal }) => seenBy.push(principal);
  const binding = tiered(['origin'], { origin: handle });
  const ada = { id: 'ada' };
  const asAda: typeof binding = {
    ...binding,
    consistencyLevels: () => ['origin'],
    supports: () => true,
    submitOperation: (operation, levels, sink, context) =>
      binding.submitOperation(
        operation,
        levels,
        sink,
        new Proxy(context, {
          get: (target, name) =>
            name === 'principal' ? ada : (Reflect.get(target, name) as unknown),
        }),
      ),
  };
  await createClient(asAda).invoke(get('x'));
  await createClient(binding).invoke(get('x'));
  expect(seenBy).toEqual([ada, undefined]);
});

test('primary-backup: tiers never settle → cancelled reads leave nothing in memory, and close fails pending ones', async () => {
  const hang: Tier = () => new Promise(() => {});
  const binding = tiered(['cache', 'origin'], { cache: hang, origin: hang });
  const store = createClient(binding, { timeoutMs: Infinity });
  const waiting = store.invoke(get('x'));
  const before = heldBytes();
  for (let count = 0; count < 300; count++) {
    const update = store.invoke(
      put(
        'x',
        Array.from({ length: 10_000 }, () => count),
      ),
    );
    update.onError(() => 0);
    update.cancel();
  }
  await new Promise(setImmediate);
  expect(heldBytes() - before).toBeLessThan(15_000_000);
  await binding.close();
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('methods of a class are tiers, and have their object', async () => {
  class Tiers {
    readonly #value = 7;
    origin(): number {
      return this.#value;
    }
  }
  expect(await createClient(tiered(['origin'], new Tiers())).invoke(get('k'))).toBe(7);
});
