/** The principal changes while a read is in flight, or cannot be read. */
import { describe, expect, test } from 'vitest';
import { mapStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { get } from '../../../../src/operations/index.ts';
import { cachedValue, fill, setUp } from './set-up.ts';

/** A store that counts how often it is opened. */
function counting(): CacheStore & { readonly loads: number } {
  const store = mapStore();
  let loads = 0;
  return {
    ...store,
    load: () => {
      loads += 1;
      return store.load();
    },
    get loads() {
      return loads;
    },
  };
}

/** A cache whose user the test sets. Reading the principal fails while it is undefined. */
function setUpUser(store: CacheStore) {
  const user: { name: string | undefined } = { name: 'ann' };
  const principal = (): string => {
    if (user.name === undefined) throw new Error('no user known');
    return user.name;
  };
  return { user, ...setUp({ store, principal, onError: () => {} }) };
}

describe('cache: the principal', () => {
  test('fails for a moment while a session reads → the session is shown nothing older afterwards', async () => {
    const mine = setUpUser(mapStore());
    await fill(mine, get('x'), 'v1', 1);
    const session = mine.client.session();
    const reading = mine.client.invoke(get('x'), { levels: ['strong'], session });
    const { sink } = mine.store.last;
    mine.user.name = undefined;
    await expect(mine.client.invoke(get('other'))).rejects.toThrow('get "other"');
    mine.user.name = 'ann';
    expect(await cachedValue(mine.client, get('nothing'))).toBe('miss');
    sink.view('v2', 'strong', { version: 2 });
    expect(await reading).toBe('v2');
    expect(await mine.client.invokeWeak(get('x'), { session }).catch(() => 'miss')).not.toBe('v1');
  });

  test('is a promise → rejected with the field, and the store is not read again and again', async () => {
    const store = counting();
    const { client } = setUp({ store, principal: (async () => 'ann') as never, onError: () => {} });
    for (let n = 0; n < 3; n += 1) {
      await expect(client.invoke(get('x'))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: 'principal',
      });
    }
    expect(store.loads).toBeLessThanOrEqual(2);
  });

  test('is another one when an answer comes after close → the store is not opened again', async () => {
    const store = counting();
    const mine = setUpUser(store);
    await fill(mine, get('x'), 'v1');
    mine.client.invoke(get('slow')).catch(() => {});
    const { sink } = mine.store.last;
    await mine.client.close();
    const { loads } = store;
    mine.user.name = '';
    sink.view('late', 'strong');
    await Promise.resolve();
    expect(store.loads).toBe(loads);
  });
});
