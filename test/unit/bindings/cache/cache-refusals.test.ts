/**
 * What becomes of views that the store of a cache does not take, and of what was to be written with
 * them.
 */
import { describe, expect, test, vi } from 'vitest';
import {
  mapStore,
  type CacheEntry,
  type CacheStore,
} from '../../../../src/bindings/cache/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/index.ts';
import { cachedValue, fill, page } from './set-up.ts';

/** No pause between two tries is longer. */
const LONGEST_RETRY_MS = 30_000;

/** A store for one cache at a time, that keeps JSON, and reads once `canRespond`. */
function jsonStore(isOpen: Promise<void> = Promise.resolve()): CacheStore {
  let text = '[]';
  const rows = (): Map<string, CacheEntry> => new Map(JSON.parse(text) as [string, CacheEntry][]);
  return {
    load: async () => {
      await isOpen;
      return rows();
    },
    write: async (changes) => {
      const next = rows();
      for (const [id, entry] of changes) {
        if (entry === undefined) next.delete(id);
        else next.set(id, entry);
      }
      text = JSON.stringify([...next]);
    },
    close: async () => {},
  };
}

const views = async (store: CacheStore): Promise<unknown[]> =>
  Array.from(await store.load()).flatMap(([id, { value }]) => (id === '["ledger"]' ? [] : [value]));

describe('cache: a view that its store cannot keep', () => {
  test('among others, as they come → reported once and kept in memory only; the others are stored', async () => {
    const store = jsonStore();
    const onError = vi.fn<(error: unknown) => void>();
    const shop = page({ store, onError });
    await fill(shop, get('x'), 1);
    await fill(shop, get('big'), 7n);
    await fill(shop, get('y'), 2);
    await fill(shop, get('bigger'), { amount: 8n });
    await shop.binding.invalidate('z');
    expect(await cachedValue(shop.client, get('big'))).toBe(7n);
    await shop.client.close();
    expect(await views(store)).toEqual([1, 2]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'INVALID_VALUE', cause: expect.any(TypeError) }),
    );
  });

  test('in one batch with a write and what it writes through → these are stored', async () => {
    let open = (): void => {};
    const store = jsonStore(new Promise((resolve) => (open = resolve)));
    const shop = page({ store });
    for (const key of ['a', 'b', 'c']) await fill(shop, get(key), key);
    await fill(shop, get('big'), 7n);
    const reported = shop.client.invokeStrong(put('x', 'new'));
    shop.store.last.sink.view(undefined, 'strong');
    open();
    await reported;
    await shop.client.close();
    expect(await views(store)).toEqual(['a', 'b', 'c', 'new']);
  });

  test('in the place of one that it has kept → that is not found again', async () => {
    const store = jsonStore();
    const shop = page({ store });
    await fill(shop, get('x'), 1);
    await shop.binding.invalidate('other');
    expect(await views(store)).toEqual([1]);
    await fill(shop, get('x'), 2n);
    await shop.client.close();
    expect(await views(store)).toEqual([]);
  });
});

describe('cache: a store that rejects writes, and users who sign in and out', () => {
  /** A store that is full, or not. */
  interface Fillable {
    readonly store: CacheStore;
    readonly kept: CacheStore;
    isFull: boolean;
    /** How many changes it was given, by call. */
    readonly sizes: number[];
    /** What happens once while it takes something. */
    meanwhile: () => Promise<void> | undefined;
  }

  function fillable(): Fillable {
    const retained = mapStore();
    const write: CacheStore['write'] = async (...given) => {
      at.sizes.push(given[0].length);
      if (at.isFull) throw new Error('full');
      const { meanwhile } = at;
      at.meanwhile = () => undefined;
      await meanwhile();
      return retained.write(...given);
    };
    const at: Fillable = {
      kept: retained,
      isFull: false,
      sizes: [],
      store: { ...retained, write },
      meanwhile: () => undefined,
    };
    return at;
  }

  test('it refuses all → what is read costs no try; it is asked once in its own time, and in the end has all', async () => {
    const at = fillable();
    const clock = virtualClock();
    const onError = vi.fn<(error: unknown) => void>();
    const shop = page({ store: at.store, onError, clock });
    await shop.binding.ready();
    at.isFull = true;
    await fill(shop, get('x'), 'x');
    await expect.poll(() => onError.mock.calls.length).toBe(1);
    // All together, then what has changed without the views.
    expect(at.sizes).toHaveLength(2);
    for (const key of ['y', 'z']) await fill(shop, get(key), key);
    expect(at.sizes).toHaveLength(2);
    await clock.advance(LONGEST_RETRY_MS);
    await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(1);
    expect(at.sizes).toHaveLength(onError.mock.calls.length + 1);
    at.isFull = false;
    await clock.advance(LONGEST_RETRY_MS);
    await expect.poll(() => views(at.kept)).toEqual(['x', 'y', 'z']);
  });

  test('after a refusal it acknowledges what it loses until it is closed → it is closed before the next call', async () => {
    const at = fillable();
    let isLying = false;
    const write: CacheStore['write'] = async (...given) => {
      isLying ||= at.isFull;
      if (at.isFull || !isLying) await at.store.write(...given);
    };
    const close: CacheStore['close'] = async () => void (isLying = false);
    const clock = virtualClock();
    const shop = page({ store: { ...at.store, write, close }, clock });
    await shop.binding.ready();
    await fill(shop, get('x'), 'x');
    await expect.poll(() => views(at.kept)).toEqual(['x']);
    at.isFull = true;
    await expect(shop.binding.clear()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: new Error('full'),
    });
    await expect(shop.binding.clear()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    at.isFull = false;
    await shop.binding.clear();
    expect(await views(at.kept)).toEqual([]);
  });

  test('users come and go while a write is on its way → it is read once after that, not for each of them', async () => {
    const retained = mapStore();
    let readings = 0;
    let goOn = (): void => {};
    const onHeld = new Promise<void>((resolve) => (goOn = resolve));
    const load: CacheStore['load'] = async () => {
      readings += 1;
      return retained.load();
    };
    const write: CacheStore['write'] = async (...given) =>
      onHeld.then(() => retained.write(...given));
    const caller = { id: 'ada' };
    const shop = page({
      store: { ...retained, load, write },
      principal: () => caller.id,
      clock: virtualClock(),
    });
    await shop.binding.ready();
    await fill(shop, get('x'), 'of ada');
    for (let change = 1; change <= 10; change++) {
      caller.id = change % 2 === 0 ? 'ada' : 'bob';
      await fill(shop, get('x'), caller.id);
    }
    expect(readings).toBe(1);
    goOn();
    await shop.binding.ready();
    expect(readings).toBe(2);
    expect(await cachedValue(shop.client, get('x'))).toBe('ada');
  });

  test('one has left → nothing of theirs is held for it; what it had of that is removed', async () => {
    const at = fillable();
    const caller = { id: 'ada' };
    const shop = page({ store: at.store, principal: () => caller.id, clock: virtualClock() });
    await shop.binding.ready();
    await fill(shop, get('x'), 'first');
    await expect.poll(() => views(at.kept)).toEqual(['first']);
    at.isFull = true;
    await fill(shop, get('x'), 'second');
    await fill(shop, get('y'), 'third');
    await expect(shop.binding.invalidate('other')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    caller.id = 'bob';
    at.isFull = false;
    await fill(shop, get('z'), 'of bob');
    await shop.client.close();
    expect(await views(at.kept)).toEqual(['of bob']);
  });

  test('one leaves while a write is on its way, which is refused → nothing of theirs is held either', async () => {
    const retained = mapStore();
    let refuse = (): void => {};
    let onHeld = (): void => {};
    const pinned = new Promise<void>((resolve) => (onHeld = resolve));
    let calls = 0;
    const store: CacheStore = {
      ...retained,
      write: async (...given) => {
        calls += 1;
        if (calls > 2) return retained.write(...given);
        if (calls === 2) throw new Error('full');
        onHeld();
        return new Promise((_, reject) => (refuse = () => reject(new Error('full'))));
      },
    };
    const caller = { id: 'ada' };
    const shop = page({ store, principal: () => caller.id, clock: virtualClock() });
    await shop.binding.ready();
    await fill(shop, get('x'), 'of ada');
    await pinned;
    caller.id = 'bob';
    await fill(shop, get('z'), 'of bob');
    refuse();
    await shop.client.close();
    expect(await views(retained)).toEqual(['of bob']);
  });

  test('many come and go → what is to be removed of theirs does not pile up either', async () => {
    const at = fillable();
    const caller = { id: 'ada' };
    const onError = vi.fn<(error: unknown) => void>();
    const clock = virtualClock();
    const options = { principal: () => caller.id, onError, maxBytes: 200_000, clock };
    const shop = page({ store: at.store, ...options });
    await shop.binding.ready();
    await fill(shop, get('x'), 'first');
    await expect.poll(() => views(at.kept)).toEqual(['first']);
    at.isFull = true;
    for (let user = 1; user <= 30; user++) {
      caller.id = `user ${user}`;
      const rejections = onError.mock.calls.length;
      await fill(shop, get(`${user} ${'long'.repeat(1_000)}`), user);
      await clock.advance(LONGEST_RETRY_MS);
      await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(rejections);
    }
    at.isFull = false;
    at.sizes.length = 0;
    await shop.client.close();
    expect(Math.max(...at.sizes)).toBeLessThan(20);
    // No list of what had to be removed is left, so all was removed.
    const next = page({ store: at.kept, principal: 'ada' });
    expect(await cachedValue(next.client, get('x'))).toBe('miss');
  });
});
