/** `directoryStore`: who may have a directory open, and what it does with what cannot be written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CacheOptions } from '../../../../src/bindings/cache/index.ts';
import { directoryStore } from '../../../../src/bindings/cache/node.ts';
import { get } from '../../../../src/operations/index.ts';
import { cachedValue, fill, setUp } from './set-up.ts';
import type { StoreLevels } from './store-behind.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

function page(options: CacheOptions<StoreLevels>): ReturnType<typeof setUp> {
  const opened = setUp(options);
  onTestFinished(() => opened.client.close());
  return opened;
}

const inUse = { code: 'UNAVAILABLE', field: 'directory' };

test('another store has the directory open, by another name → reported, in memory; written once that store is closed', async () => {
  const directory = temporaryFolder();
  const alias = join(temporaryFolder(), 'alias');
  await symlink(directory, alias);
  const first = page({ store: directoryStore({ directory }) });
  await first.binding.ready();
  const onError = vi.fn<(error: unknown) => void>();
  const second = page({ store: directoryStore({ directory: alias }), onError });
  await second.binding.ready();
  expect(onError).toHaveBeenCalledWith(expect.objectContaining(inUse));
  await fill(second, get('x'), 1);
  expect(await cachedValue(second.client, get('x'))).toBe(1);
  await first.client.close();
  await fill(second, get('y'), 2);
  // It has been read by then: before, nothing is written, nor at its end.
  await second.binding.invalidate('other');
  await second.client.close();
  const next = page({ store: directoryStore({ directory }) });
  expect(await cachedValue(next.client, get('x'))).toBe(1);
  expect(await cachedValue(next.client, get('y'))).toBe(2);
});

test('another process has it open, and is killed → refused, then opened', async () => {
  const directory = temporaryFolder();
  const open = `new (require('classic-level').ClassicLevel)(process.argv[1]).open().then(() => console.log('open'))`;
  const script = `${open}; setInterval(() => {}, 1_000)`;
  const holder = spawn(process.execPath, ['-e', script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const store = directoryStore({ directory });
  onTestFinished(() => store.close());
  await expect(store.load()).rejects.toMatchObject(inUse);
  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  expect([...(await store.load())]).toEqual([]);
});

test('a power failure has emptied the file CURRENT → a warning, and all views are there', async () => {
  const directory = temporaryFolder();
  const before = page({ store: directoryStore({ directory }) });
  await fill(before, get('x'), 1);
  await before.client.close();
  await truncate(join(directory, 'CURRENT'));
  const warned = once(process, 'warning');
  const after = page({ store: directoryStore({ directory }) });
  expect(await cachedValue(after.client, get('x'))).toBe(1);
  expect(String(await warned)).toMatch(/cache: repairs .*CURRENT/);
});

test('two caches on one store, one closes → the other keeps the directory', async () => {
  const directory = temporaryFolder();
  const store = directoryStore({ directory });
  const [item, other] = [page({ store }), page({ store })];
  await Promise.all([item.binding.ready(), other.binding.ready()]);
  await item.client.close();
  await expect(directoryStore({ directory }).load()).rejects.toMatchObject(inUse);
  await fill(other, get('x'), 1);
  await other.client.close();
  const next = page({ store: directoryStore({ directory }) });
  expect(await cachedValue(next.client, get('x'))).toBe(1);
});

test('a view that cannot be written, a Blob → reported once, in memory only; all other views are written', async () => {
  const directory = temporaryFolder();
  const onError = vi.fn<(error: unknown) => void>();
  const shop = page({ store: directoryStore({ directory }), onError });
  for (const [key, value] of Object.entries({ x: 1, a: new Blob(['a']), y: 2, b: new Blob(['b']) }))
    await fill(shop, get(key), value);
  expect(await cachedValue(shop.client, get('a'))).toBeInstanceOf(Blob);
  await shop.client.close();
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'INVALID_VALUE' }));
  const next = page({ store: directoryStore({ directory }) });
  const found = ['x', 'y', 'a', 'b'].map((key) => cachedValue(next.client, get(key)));
  expect(await Promise.all(found)).toEqual([1, 2, 'miss', 'miss']);
});
