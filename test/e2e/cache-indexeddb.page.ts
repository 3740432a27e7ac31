/**
 * What the page of the cache's browser test runs: bundled for the browser, it shows what IndexedDB
 * brings back.
 */
import { cached, indexedDbStore } from '../../src/bindings/cache/index.ts';
import { tiered, type Tier } from '../../src/bindings/tiered/index.ts';
import { isCorrectableError } from '../../src/correctable/errors.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { get } from '../../src/operations/index.ts';

const VALUES: Readonly<Record<string, unknown>> = {
  profile: {
    name: 'Ada',
    born: new Date('1815-12-10'),
    photo: new Uint8Array([1, 2, 3]),
    visits: 7n,
  },
  news: ['first', 'second'],
};

/**
 * One visit of the page: reads each key through the cache, or from the cache alone when offline.
 */
async function visit(options: {
  isOffline: boolean;
  principal: string;
  clear?: boolean;
}): Promise<string[]> {
  const origin: Tier = ({ key = '' }) => {
    if (options.isOffline) throw new Error('offline');
    return VALUES[key];
  };
  const { principal } = options;
  const errors: unknown[] = [];
  const binding = cached(tiered(['origin'], { origin }), {
    store: indexedDbStore({ name: 'views' }),
    principal,
    onError: (error) => errors.push(error),
  });
  const client = createClient(binding);
  const shown: string[] = [];
  for (const key of Object.keys(VALUES)) {
    const read = options.isOffline ? client.invokeWeak(get(key)) : client.invoke(get(key));
    try {
      const view = await read.settle();
      shown.push(`${key} ${view.level} ${describe(view.value)}`);
    } catch (error) {
      shown.push(`${key} ${isCorrectableError(error) ? error.code : String(error)}`);
    }
  }
  if (options.clear === true) await binding.clear({ principal });
  await client.close();
  return [...shown, ...errors.map(String)];
}

function describe(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `bytes(${value.join()})`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}:${describe(part)}`)
    .join(' ');
}

/** Deletes the database while a cache has it open; resolves once the browser has done so. */
async function deleteWhileOpen(): Promise<string> {
  const store = indexedDbStore({ name: 'views' });
  await store.load();
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase('correctables cache views');
    request.addEventListener('success', () => resolve());
    request.addEventListener('error', () => reject(request.error ?? new Error('not deleted')));
  });
  const left = [...(await store.load())].length;
  await store.close();
  return `deleted, ${left} left`;
}

Object.assign(globalThis, { visit, deleteWhileOpen });
