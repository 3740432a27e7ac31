/**
 * `directoryStore`: who may have a directory open, and what it does with what cannot be written.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { describe, expect, onTestFinished, test, vi, type MockInstance } from 'vitest';
import type { CacheEntry, CacheOptions } from '../../../../src/bindings/cache/index.ts';
import { directoryStore } from '../../../../src/bindings/cache/node.ts';
import { get, put } from '../../../../src/operations/index.ts';
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
  const holder = spawn(process.execPath, ['-e', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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

describe('directoryStore: damage', () => {
  /** A directory with tables, a log, and an own write in it that made the first view old. */
  async function writeDirectory(): Promise<string> {
    const directory = temporaryFolder();
    const run = async (act: (page: ReturnType<typeof setUp>) => Promise<void>): Promise<void> => {
      const opened = setUp({ store: directoryStore({ directory }) });
      await opened.binding.ready();
      await act(opened);
      await opened.client.close();
    };
    await run(async (opened) => {
      await fill(opened, get('x'), 'old');
      for (let n = 0; n < 20; n += 1) await fill(opened, get(`k${n}`), `${n}`.repeat(2000));
    });
    // Opening moves the log into a table.
    for (let n = 0; n < 2; n += 1) await run(async () => {});
    await run(async (opened) => {
      const write = opened.client.invokeStrong(put('x', 'new'));
      opened.store.last.sink.view(undefined, 'strong');
      await write;
    });
    return directory;
  }

  const files: Readonly<Record<string, RegExp>> = {
    CURRENT: /^CURRENT$/,
    MANIFEST: /^MANIFEST-/,
    'a table': /\.ldb$/,
    'the log': /^\d+\.log$/,
  };
  const damages: Readonly<Record<string, (path: string, bytes: Buffer) => Promise<void>>> = {
    'is empty': (path) => truncate(path, 0),
    'is cut in half': (path, bytes) => truncate(path, bytes.length >> 1),
    'has lost its last byte': (path, bytes) => truncate(path, bytes.length - 1),
    'is missing': (path) => rm(path),
    'is full of zeros': (path, bytes) => writeFile(path, Buffer.alloc(bytes.length)),
    'has another bit at its begin': (path, bytes) => flipBit(path, bytes, 0.01),
    'has another bit in the middle': (path, bytes) => flipBit(path, bytes, 0.5),
    'has another bit near its end': (path, bytes) => flipBit(path, bytes, 0.9),
  };

  function flipBit(path: string, bytes: Buffer, place: number): Promise<void> {
    const at = Math.floor(bytes.length * place);
    bytes[at]! ^= 1;
    return writeFile(path, bytes);
  }

  const cases = Object.keys(files).flatMap((file) =>
    Object.keys(damages).map((damage) => [file, damage] as const),
  );

  test.each(cases)(
    '%s %s → no view from before the own write, and views are kept again',
    async (file, damage) => {
      const directory = await writeDirectory();
      for (const name of await readdir(directory)) {
        const path = join(directory, name);
        if (files[file]!.test(name)) await damages[damage]!(path, await readFile(path));
      }
      vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      onTestFinished(() => void vi.restoreAllMocks());
      const onError = vi.fn<(error: unknown) => void>();
      const first = page({ store: directoryStore({ directory }), onError });
      expect(['miss', 'new']).toContain(await cachedValue(first.client, get('x')));
      await fill(first, get('y'), 'kept');
      await first.client.close();
      const second = page({ store: directoryStore({ directory }), onError });
      expect(await cachedValue(second.client, get('y'))).toBe('kept');
      expect(['miss', 'new']).toContain(await cachedValue(second.client, get('x')));
      expect(onError).not.toHaveBeenCalled();
    },
  );

  test('it is found → a warning with the directory and the cause', async () => {
    const directory = await writeDirectory();
    await truncate(join(directory, 'CURRENT'));
    const warned = once(process, 'warning');
    await page({ store: directoryStore({ directory }) }).binding.ready();
    expect(String(await warned)).toMatch(/cache: .* is damaged, and was emptied: .*CURRENT/);
  });

  test('it appears while the store is open → the call is done in the emptied directory', async () => {
    const directory = await writeDirectory();
    const store = directoryStore({ directory });
    onTestFinished(() => store.close());
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const getMany = vi.spyOn(ClassicLevel.prototype, 'getMany') as unknown as MockInstance<
      () => Promise<unknown>
    >;
    onTestFinished(() => void vi.restoreAllMocks());
    getMany.mockRejectedValueOnce(
      Object.assign(new Error('Corruption: bad block'), { code: 'LEVEL_CORRUPTION' }),
    );
    const entry: CacheEntry = { value: 1, level: 'strong', cachedAt: 1, touches: ['x'] };
    await store.write([['["a"]', entry]], () => [['["a"]', entry]], { isDurable: true });
    expect([...(await store.load())]).toEqual([['["a"]', entry]]);
  });

  test.each(['cache view a', 'cache count'])(
    'the bytes of "%s" have changed → a miss, with a warning',
    async (key) => {
      const directory = temporaryFolder();
      const entry: CacheEntry = { value: 'right', level: 'strong', cachedAt: 1, touches: ['x'] };
      const store = directoryStore({ directory });
      onTestFinished(() => store.close());
      await store.write([['a', entry]], undefined, { isDurable: true });
      await store.close();
      const database = new ClassicLevel<string, Uint8Array>(directory, { valueEncoding: 'view' });
      const bytes = (await database.get(key))!;
      bytes[bytes.length - 1]! ^= 1 << 6;
      await database.put(key, bytes);
      await database.close();
      const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      onTestFinished(() => warn.mockRestore());
      expect([...(await store.load())]).toEqual([]);
      expect(warn).toHaveBeenCalledTimes(1);
    },
  );
});

describe('directoryStore: no damage', () => {
  const noPermission = 'IO error: /cache/LOCK: Permission denied';

  test.each(['No space left on device', 'Permission denied', 'Too many open files'])(
    'a call fails with "%s" → UNAVAILABLE with the directory, and nothing is removed',
    async (reason) => {
      const directory = temporaryFolder();
      const store = directoryStore({ directory });
      onTestFinished(() => store.close());
      const entry: CacheEntry = { value: 1, level: 'strong', cachedAt: 1, touches: ['x'] };
      await store.write([['["a"]', entry]]);
      const batch = vi.spyOn(ClassicLevel.prototype, 'batch') as unknown as MockInstance<
        () => Promise<unknown>
      >;
      onTestFinished(() => batch.mockRestore());
      const cause = Object.assign(new Error(`IO error: 7.log: ${reason}`), {
        code: 'LEVEL_IO_ERROR',
      });
      batch.mockRejectedValueOnce(cause);
      const message = expect.stringContaining(directory) as string;
      await expect(store.write([['["b"]', entry]])).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        cause,
        message,
      });
      expect([...(await store.load())]).toEqual([['["a"]', entry]]);
    },
  );

  test('the directory is a file → UNAVAILABLE with its path', async () => {
    const directory = join(temporaryFolder(), 'file');
    await writeFile(directory, 'mine');
    const message = expect.stringContaining(directory) as string;
    await expect(directoryStore({ directory }).load()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message,
    });
    expect(await readFile(directory, 'utf8')).toBe('mine');
  });

  test('opening fails for lack of a permission → UNAVAILABLE with the directory, without its content being removed', async () => {
    const directory = temporaryFolder();
    const open = vi.spyOn(ClassicLevel.prototype, 'open') as unknown as MockInstance<
      () => Promise<void>
    >;
    onTestFinished(() => open.mockRestore());
    const cause = Object.assign(new Error(noPermission), { code: 'LEVEL_IO_ERROR' });
    open.mockRejectedValueOnce(
      Object.assign(new Error('not open', { cause }), { code: 'LEVEL_DATABASE_NOT_OPEN' }),
    );
    const message = expect.stringContaining('Permission denied') as string;
    await expect(directoryStore({ directory }).load()).rejects.toMatchObject({ ...inUse, message });
  });

  test('another program has a database there → INVALID_ARGUMENT, and it is not changed, damaged or not', async () => {
    const directory = temporaryFolder();
    const notes = new ClassicLevel(directory);
    await notes.put('note 1', 'mine');
    await notes.close();
    const refused = { code: 'INVALID_ARGUMENT', field: 'directory' };
    await expect(directoryStore({ directory }).load()).rejects.toMatchObject(refused);
    const after = new ClassicLevel(directory);
    expect(await after.get('note 1')).toBe('mine');
    await after.close();
    await truncate(join(directory, 'CURRENT'));
    await expect(directoryStore({ directory }).load()).rejects.toMatchObject(inUse);
    await ClassicLevel.repair(directory);
    const repaired = new ClassicLevel(directory);
    expect(await repaired.get('note 1')).toBe('mine');
    await repaired.close();
  });
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
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: 'INVALID_VALUE' }),
  );
  const next = page({ store: directoryStore({ directory }) });
  const found = ['x', 'y', 'a', 'b'].map((key) => cachedValue(next.client, get(key)));
  expect(await Promise.all(found)).toEqual([1, 2, 'miss', 'miss']);
});
