/**
 * One cache serves several principals, which a gateway or `withPrincipal` names for each operation.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  cached,
  mapStore,
  type CacheOptions,
  type CacheStore,
} from '../../../../src/bindings/cache/index.ts';
import type { Binding, Principal } from '../../../../src/correctable/binding.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { withPrincipal } from '../../../../src/server/node/submission/with-principal.ts';
import { cachedValue, fill, seen, type Shop } from './set-up.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

/** A cache, and a client of it for each principal. */
function setUpCache(options: CacheOptions<StoreLevels> = {}) {
  const store = new StoreBehind();
  const errors: unknown[] = [];
  const binding = cached(store, { onError: (error) => errors.push(error), ...options });
  onTestFinished(() => binding.close());
  const clientOf = (principal: Principal | string): Shop =>
    createClient(
      withPrincipal(binding, typeof principal === 'string' ? { id: principal } : principal),
    );
  const fillFor = (client: Shop, value: unknown): Promise<void> =>
    fill({ store, client }, get('x'), value);
  return { store, binding, errors, clientOf, fillFor };
}

/** Names a principal in the context of each submission, as a gateway does. */
function submitFor<B extends Binding>(binding: B, principal: Principal): B {
  const submit: B['submitOperation'] = (operation, levels, sink, context) => {
    const named = new Proxy(context, {
      get: (target, name): unknown =>
        name === 'principal' ? principal : Reflect.get(target, name, target),
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
    return binding.submitOperation(operation, levels, sink, named);
  };
  return new Proxy(binding, {
    get: (target, name): unknown =>
      name === 'submitOperation' ? submit : Reflect.get(target, name),
  });
}

/** Writes through the cache; the store has executed it. */
async function write(store: StoreBehind, client: Shop, value: unknown): Promise<void> {
  const writing = client.invoke(put('x', value));
  store.last.sink.view(undefined, 'strong');
  await writing;
}

const ADMIN = { id: 'ada', roles: ['admin'] };

describe('cache: views of several principals', () => {
  test('a principal is shown no view of another, and none of an operation without one', async () => {
    const { binding, clientOf, fillFor } = setUpCache();
    await fillFor(clientOf('ada'), 'of ada');
    expect(await cachedValue(clientOf('ada'), get('x'))).toBe('of ada');
    expect(await cachedValue(clientOf('bob'), get('x'))).toBe('miss');
    expect(await cachedValue(createClient(binding), get('x'))).toBe('miss');
  });

  test('an empty id counts as no principal', async () => {
    const { binding, clientOf, fillFor } = setUpCache();
    await fillFor(createClient(binding), 'of all');
    expect(await cachedValue(clientOf(''), get('x'))).toBe('of all');
  });

  test('behind a gateway, withPrincipal before the cache lets all share the views of that principal', async () => {
    const { binding, store } = setUpCache();
    const shared = withPrincipal(binding, { id: 'everyone' });
    const [ada, bob] = ['ada', 'bob'].map((id) => createClient(submitFor(shared, { id })));
    await fill({ store, client: ada! }, get('x'), 'of all');
    expect(await cachedValue(bob!, get('x'))).toBe('of all');
  });

  test('a store keeps the views of each principal apart', async () => {
    const kept: CacheStore = mapStore();
    const first = setUpCache({ store: kept });
    await first.fillFor(first.clientOf('ada'), 'of ada');
    await first.binding.close();
    const { clientOf } = setUpCache({ store: kept });
    expect(await cachedValue(clientOf('bob'), get('x'))).toBe('miss');
    expect(await cachedValue(clientOf('ada'), get('x'))).toBe('of ada');
  });

  test('other claims, such as roles, are another place; a later end of the token is not', async () => {
    const { clientOf, fillFor } = setUpCache();
    await fillFor(clientOf({ ...ADMIN, expiresAt: 1e15 }), 'for admins');
    expect(await cachedValue(clientOf({ ...ADMIN, expiresAt: 2e15 }), get('x'))).toBe('for admins');
    expect(await cachedValue(clientOf({ ...ADMIN, roles: [] } as Principal), get('x'))).toBe(
      'miss',
    );
    expect(await cachedValue(clientOf('ada'), get('x'))).toBe('miss');
  });

  test('views of a principal with claims that are no plain data are not cached, which is reported once', async () => {
    class User {
      readonly id = 'ada';
      readonly #role = 'admin';
      get role(): string {
        return this.#role;
      }
    }
    const { store, errors, clientOf, fillFor } = setUpCache();
    await fillFor(clientOf(new User()), 'for admins');
    const reading = seen(clientOf(new User()).invoke(get('x')));
    store.last.sink.view('now', 'strong');
    expect(await reading).toEqual(['strong="now"!']);
    expect(errors).toMatchObject([{ code: 'INVALID_VALUE', field: 'principal' }]);
  });

  test('a write of one principal drops the views of all', async () => {
    const { store, clientOf, fillFor } = setUpCache();
    await fillFor(clientOf('ada'), 'old of ada');
    await fillFor(clientOf('bob'), 'old of bob');
    await write(store, clientOf('bob'), 'new');
    expect(await cachedValue(clientOf('ada'), get('x'))).toBe('miss');
    expect(await cachedValue(clientOf('bob'), get('x'))).toBe('new');
  });

  test('a weak view that lags behind a write is kept from its author, whatever the roles, and from no other', async () => {
    const { store, clientOf } = setUpCache();
    await write(store, clientOf(ADMIN), 'new');
    for (const client of [clientOf('ada'), clientOf('bob')]) {
      const reading = client.invoke(get('x'), { levels: ['weak'] });
      store.last.sink.view('lagging', 'weak');
      await reading;
    }
    expect(await cachedValue(clientOf('ada'), get('x'))).toBe('miss');
    expect(await cachedValue(clientOf('bob'), get('x'))).toBe('lagging');
  });

  test('clear({ principal }) removes the views of one principal, from the store too', async () => {
    const kept: CacheStore = mapStore();
    const { binding, clientOf, fillFor } = setUpCache({ store: kept });
    await fillFor(clientOf(ADMIN), 'of ada');
    await fillFor(clientOf('bob'), 'of bob');
    await binding.clear({ principal: 'ada' });
    expect(await cachedValue(clientOf(ADMIN), get('x'))).toBe('miss');
    expect(await cachedValue(clientOf('bob'), get('x'))).toBe('of bob');
    const values = Array.from(await kept.load(), ([, { value }]) => value);
    expect(values).toContain('of bob');
    expect(values).not.toContain('of ada');
  });
});
