/** What a page reads as it opens, before it has read its store, and what it leaves as it closes. */
import { describe, expect, test, vi } from 'vitest';
import { cached, mapStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/index.ts';
import { cachedValue, fill, page, type Page } from './set-up.ts';
import { StoreBehind } from './store-behind.ts';

const change = { name: 'change', args: {}, key: 'x', access: 'write' } as const;

/** A store whose pages do not hear of each other. */
function silent(store: CacheStore): CacheStore {
  return {
    load: () => store.load(),
    write: (changes, settle) => store.write(changes, settle),
    close: () => store.close(),
  };
}

/** One whose loads wait until `go` is called. */
function slow(store: CacheStore): { readonly store: CacheStore; readonly go: () => void } {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  return { store: { ...silent(store), load: () => gone.then(() => store.load()) }, go };
}

async function update({ store, client }: Page): Promise<void> {
  const reported = client.invokeStrong(change);
  store.last.sink.view(undefined, 'strong');
  await reported;
}

const views = async (store: CacheStore): Promise<unknown[]> =>
  Array.from(await store.load()).flatMap(([id, { value }]) => (id === '["ledger"]' ? [] : [value]));

describe('cache: read as the page opens', () => {
  test('after an own write in an earlier page → it is kept', async () => {
    const clock = virtualClock();
    const store = mapStore();
    const earlier = page({ store, clock });
    await update(earlier);
    await earlier.client.close();
    await clock.advance(1_000);
    const late = slow(store);
    const mine = page({ store: late.store, clock });
    const read = mine.client.invoke(get('x'));
    mine.store.last.sink.view('new', 'strong');
    await read;
    late.go();
    await mine.client.close();
    expect(await views(store)).toEqual(['new']);
  });

  test('another client of the program writes after the read began → it is not kept', async () => {
    const clock = virtualClock();
    const under = mapStore();
    let open = (): void => {};
    let gate = Promise.resolve();
    const store: CacheStore = { ...silent(under), load: () => gate.then(() => under.load()) };
    const theirs = page({ store, clock });
    await theirs.binding.ready();
    gate = new Promise((resolve) => (open = resolve));
    const mine = page({ store, clock });
    const read = mine.client.invoke(get('x'));
    await update(theirs);
    mine.store.last.sink.view('old', 'strong');
    await read;
    open();
    await mine.client.close();
    expect(await views(under)).toEqual([]);
  });

  test('another page writes after the read began, and is not heard → it is not kept', async () => {
    for (const setBackMs of [0, 5_000]) {
      const clock = virtualClock();
      let wallAheadMs = 10_000;
      const now = (): number => clock.now() + wallAheadMs;
      const store = mapStore();
      const theirs = page({ store: silent(store), clock, now });
      await theirs.binding.ready();
      await clock.advance(1_000);
      const late = slow(store);
      const mine = page({ store: late.store, clock, now });
      const read = mine.client.invoke(get('x'));
      wallAheadMs -= setBackMs;
      await clock.advance(500);
      await update(theirs);
      mine.store.last.sink.view('old', 'strong');
      await read;
      late.go();
      await mine.client.close();
      expect(await views(store)).toEqual([]);
    }
  });

  test('the clock was set back since a write → it is kept all the same, once something was written since', async () => {
    const clock = virtualClock();
    let wallAheadMs = 1_000_000;
    const now = (): number => clock.now() + wallAheadMs;
    const store = mapStore();
    const earlier = page({ store, clock, now });
    await update(earlier);
    wallAheadMs = 0;
    await fill(earlier, get('y'), 'there');
    await earlier.client.close();
    await clock.advance(1_000);
    const late = slow(store);
    const mine = page({ store: late.store, clock, now });
    await fill(mine, get('x'), 'new');
    late.go();
    await mine.client.close();
    expect(await views(store)).toContain('new');
  });

  test('another page has announced a write → what is read afterwards is kept', async () => {
    const store = mapStore();
    const [mine, theirs] = [page({ store }), page({ store })];
    await Promise.all([mine.binding.ready(), theirs.binding.ready()]);
    await update(theirs);
    await fill(mine, get('x'), 'new');
    await mine.client.close();
    expect(await views(store)).toEqual(['new']);
  });
});

describe('cache: what the store refuses', () => {
  test('a write, refused once → what another page has stored since is not shown after a reload', async () => {
    const clock = virtualClock();
    const store = mapStore();
    let isFull = false;
    const failing: CacheStore = {
      ...silent(store),
      write: (...given) => (isFull ? Promise.reject(new Error('full')) : store.write(...given)),
    };
    const mine = page({ store: failing, clock });
    const theirs = page({ store: silent(store), clock });
    await mine.binding.ready();
    await fill(theirs, get('x'), 'old');
    await theirs.client.close();
    expect(await views(store)).toEqual(['old']);
    isFull = true;
    await update(mine);
    isFull = false;
    await mine.client.close();
    const next = page({ store, clock });
    await next.binding.ready();
    expect(await cachedValue(next.client, get('x'))).toBe('miss');
  });
});

describe('cache: its end', () => {
  test('the store behind does not close → nothing is kept after a second, nor filed, and writes are fenced', async () => {
    const clock = virtualClock();
    const store = mapStore();
    const behind = new StoreBehind();
    behind.close = () => new Promise(() => {});
    const onError = vi.fn<(error: unknown) => void>();
    const binding = cached(behind, { store, clock, onError });
    const client = createClient(binding);
    await binding.ready();
    await fill({ store: behind, client }, get('x'), 'mine');
    const sink = { view: vi.fn<() => number>(() => 0), confirm: () => {}, fail: () => {} };
    const context = { signal: new AbortController().signal } as never;
    binding.submitOperation(change, ['strong'], sink, context);
    const late = behind.last;
    const closed = binding.close();
    await clock.advance(1_000);
    await closed;
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'TIMEOUT' }));
    expect(binding.size.entries).toBe(0);
    binding.submitOperation(get('x'), ['strong'], { ...sink, view: () => 0 }, context);
    behind.last.sink.view('late', 'strong');
    expect(binding.size.entries).toBe(0);
    late.sink.view(undefined, 'strong');
    await vi.waitFor(() => expect(sink.view).toHaveBeenCalledOnce());
    const next = page({ store, clock });
    await next.binding.ready();
    expect(await cachedValue(next.client, get('x'))).toBe('miss');
  });

  test('its store does not end a write → closes all the same, and reports what may be lost', async () => {
    const clock = virtualClock();
    const onError = vi.fn<(error: unknown) => void>();
    const store: CacheStore = { ...mapStore(), write: () => new Promise(() => {}) };
    const mine = page({ store, clock, onError });
    await mine.binding.ready();
    await fill(mine, get('x'), 'new');
    const closed = mine.client.close();
    await clock.advance(1_000);
    await closed;
    const message =
      'cache: closed before its store has taken what was changed last; it may still take it';
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'UNAVAILABLE', message }),
    );
  });

  test.each([
    ['load', 1],
    ['write', 3],
  ] as const)(
    'its store ends a %s only after the cache has closed → it is not left open',
    async (hanging, writes) => {
      const clock = virtualClock();
      const retained = mapStore();
      let go = (): void => {};
      const gone = new Promise<void>((resolve) => (go = resolve));
      let isOpen = false;
      let written = 0;
      const store: CacheStore = {
        ...retained,
        load: async () => {
          isOpen = true;
          if (hanging === 'load') await gone;
          return retained.load();
        },
        write: async (...given) => {
          isOpen = true;
          await gone;
          written += 1;
          if (hanging === 'write' && written === 1) throw new Error('full');
          await retained.write(...given);
        },
        close: async () => void (isOpen = false),
      };
      const mine = page({ store, clock });
      if (hanging === 'write') await mine.binding.ready();
      await fill(mine, get('x'), 'new');
      const reported = mine.client.invokeStrong(put('y', 'new'));
      mine.store.last.sink.view(undefined, 'strong');
      await clock.advance(1_000);
      await reported;
      const closed = mine.client.close();
      await clock.advance(2_000);
      await closed;
      go();
      await expect.poll(() => written).toBe(writes);
      await expect.poll(() => isOpen).toBe(false);
    },
  );

  test('its store hangs as it closes, then rejects → no unhandled rejection', async () => {
    const clock = virtualClock();
    const closings = [new Promise<never>(() => {}), Promise.reject(new Error('cannot close'))];
    closings[1]?.catch(() => {});
    const store: CacheStore = { ...mapStore(), close: () => closings.shift() ?? Promise.resolve() };
    const mine = page({ store, clock });
    await mine.binding.ready();
    const closed = mine.client.close();
    await clock.advance(1_000);
    await closed;
    await mine.binding.clear();
  });
});

test('a weaker level of a write fails, the strongest answers → it is written through', async () => {
  const mine = page({});
  const reported = mine.client.invoke(put('x', 'new'));
  mine.store.last.sink.fail(new Error('replica down'), 'weak');
  mine.store.last.sink.view(undefined, 'strong');
  await reported;
  expect(await cachedValue(mine.client, get('x'))).toBe('new');
});

test('a level is not committed any more → what was kept at it is not shown', async () => {
  const store = mapStore();
  const before = page({ store });
  const read = before.client.invoke(get('x'), { levels: ['weak'] });
  before.store.last.sink.view('lagging', 'weak');
  await read;
  await before.client.close();
  const after = page({ store, committedLevels: ['strong'] });
  await after.binding.ready();
  expect(await cachedValue(after.client, get('x'))).toBe('miss');
});
