/** A cache in front of a store that the test plays, and what to ask of it. */
import { onTestFinished } from 'vitest';
import { cached, type CacheOptions } from '../../../../src/bindings/cache/index.ts';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import type { Correctable } from '../../../../src/correctable/correctable.ts';
import type { Levels } from '../../../../src/correctable/level-types.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

export type Shop = Client<readonly ['cache', ...StoreLevels]>;

export type Page = ReturnType<typeof setUp>;

export function setUp(options: CacheOptions<StoreLevels> = {}): {
  store: StoreBehind;
  binding: ReturnType<typeof cached<StoreLevels>>;
  client: Shop;
} {
  const store = new StoreBehind();
  const binding = cached(store, options);
  return { store, binding, client: createClient(binding) };
}

/** A page with a cache, until the end of the test. Whatever fails, fails silently. */
export function page(options: CacheOptions<StoreLevels>): Page {
  const opened = setUp({ onError: () => {}, ...options });
  onTestFinished(() => opened.client.close());
  return opened;
}

export async function seen<T, L extends Levels, F extends string>(
  views: Correctable<T, L, F>,
): Promise<string[]> {
  const shown: string[] = [];
  for await (const { level, value, final } of views)
    shown.push(`${level}=${JSON.stringify(value)}${final ? '!' : ''}`);
  return shown;
}

/** What the cache alone has for an operation: `'miss'` where it has nothing. */
export async function cachedValue(client: Shop, operation: Operation): Promise<unknown> {
  const view = await client
    .invokeWeak(operation)
    .settle()
    .catch(() => undefined);
  return view === undefined ? 'miss' : view.value;
}

/** Reads through the cache; the store answers at its strongest level. */
export async function fill(
  { store, client }: { store: StoreBehind; client: Shop },
  operation: Operation,
  value: unknown,
  version?: number,
): Promise<void> {
  const read = client.invoke(operation);
  store.last.sink.view(value, 'strong', { version });
  await read;
}
