/** A backup of a data directory, made beside running sites and after them. */
// @rule STO-38
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createClient, type Client } from 'correctables';
import {
  backUpDataDirectory,
  type Backup,
  type BackupOptions,
} from '../../../../../src/server/node/commands/back-up-directory.ts';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import { openEmbedded, type Embedded } from '../../../../../src/server/index.ts';
import { formatIdentity } from '../../../../../src/server/node/storage/directory/node-identity.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import {
  formatCheckedJson,
  parseCheckedJson,
} from '../../../../../src/server/node/storage/format/checked-json.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import { getRowKey } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import { formatRowName } from '../../../../../src/server/service/state/saved-names.ts';
import { commit } from '../../../../row-stores/commit.ts';
import { saleContract, service } from '../../../../support/sale-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const { visit, stock, sell, look } = saleContract;
const SITES = ['ireland', 'ohio'] as const;

let folder: string;
let dataDir: string;
let target: string;
beforeEach(() => {
  folder = temporaryFolder();
  [dataDir, target] = [join(folder, 'data'), join(folder, 'backup')];
  return () => {
    vi.restoreAllMocks();
  };
});

function start(directory = dataDir, options: object = {}): Promise<Embedded> {
  return openEmbedded(service as unknown as Service, {
    sites: SITES,
    checkColors: false,
    onAlarm: () => {},
    dataDir: directory,
    ...options,
  }) as Promise<Embedded>;
}

const clientOf = (embedded: Embedded, site = 'ireland'): Client<never> =>
  createClient(embedded.site(site)) as unknown as Client<never>;

async function write(embedded: Embedded): Promise<void> {
  const client = clientOf(embedded);
  await client.invoke(visit({ key: 'us/a' }));
  await client.invoke(stock({ key: 'us/a', items: 2 }));
  await client.invoke(sell({ key: 'us/a' }));
}
const WRITTEN = { visits: 1, left: 1, sold: 1 };

async function writeAndClose(options: object = {}): Promise<void> {
  const embedded = await start(dataDir, options);
  await write(embedded);
  await embedded.close();
}

/** Writes until each site has made a checkpoint. */
async function writeWithCheckpoint(): Promise<void> {
  const embedded = await start(dataDir, { memoryBytes: 256 * 2 ** 20 });
  await write(embedded);
  const hasCheckpoints = async (): Promise<boolean> =>
    (await inspectDataDirectory(dataDir)).sites.every(({ rows }) => rows.commit !== null);
  for (let count = 0; !(await hasCheckpoints()); count += 1)
    await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        clientOf(embedded).invoke(visit({ key: `${count}/${at}/${'x'.repeat(1000)}` })),
      ),
    );
  await embedded.close();
}

const backUp = (options: Partial<BackupOptions> = {}, memoryBytes?: number): Promise<Backup> =>
  backUpDataDirectory({ dataDir, target, ...options }, memoryBytes);

/** Returns the names, modes and bytes of all files. */
function photograph(directory: string): unknown[] {
  return fs
    .readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(directory, name);
      const { mode, mtimeMs } = fs.statSync(path);
      const isFile = fs.statSync(path).isFile();
      return [name, (mode & 0o777).toString(8), mtimeMs, isFile && fs.readFileSync(path, 'hex')];
    });
}

const failure = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('a backup', () => {
  test.each([
    ['one red log', {}],
    ['several red logs', { partitions: { us: { leader: 'ohio' } } }],
  ])(
    'beside running sites, with %s → all that was acknowledged, and a start goes on from it',
    async (_, options) => {
      const embedded = await start(dataDir, options);
      await write(embedded);
      const backup = await backUp();
      await clientOf(embedded).invoke(visit({ key: 'us/a' }));
      await embedded.close();
      expect(backup).toMatchObject({ dataDir, target, service: 'sale' });
      expect(backup.sites.map(({ name, damages }) => [name, damages])).toEqual([
        ['ireland', []],
        ['ohio', []],
      ]);
      const restored = await start(target, options);
      for (const site of SITES)
        expect(await clientOf(restored, site).invokeStrong(look({ key: 'us/a' }))).toEqual(WRITTEN);
      await write(restored);
      await restored.close();
    },
  );

  test('the data is unchanged, and the files are for their owner alone, without zeros and a lock', async () => {
    await writeAndClose();
    fs.writeFileSync(join(dataDir, 'lock'), '');
    fs.writeFileSync(join(dataDir, 'dropped-red-records-1.json'), '{}');
    const before = photograph(dataDir);
    const { bytes, sites } = await backUp();
    expect(photograph(dataDir)).toEqual(before);
    const found = fs.readdirSync(target, { recursive: true, encoding: 'utf8' }).map((name) => {
      const { mode, size } = fs.statSync(join(target, name));
      return [name, (mode & 0o777).toString(8), mode & fs.constants.S_IFDIR ? 0 : size] as const;
    });
    expect(found.map(([name, mode]) => `${name} ${mode}`).toSorted()).toEqual([
      'cluster.key 600',
      'dropped-red-records-1.json 600',
      'manifest.json 600',
      'sites 700',
      'sites/ireland 700',
      'sites/ireland/0000000001.log 600',
      'sites/ireland/rows 700',
      'sites/ireland/rows/000003.log 600',
      'sites/ireland/rows/CURRENT 600',
      'sites/ireland/rows/MANIFEST-000002 600',
      'sites/ohio 700',
      'sites/ohio/0000000001.log 600',
      'sites/ohio/rows 700',
      'sites/ohio/rows/000003.log 600',
      'sites/ohio/rows/CURRENT 600',
      'sites/ohio/rows/MANIFEST-000002 600',
    ]);
    expect([bytes, bytes < 10_000]).toEqual([
      found.reduce((sum, [, , size]) => sum + size, 0),
      true,
    ]);
    expect(sites).toMatchObject([{ files: 4, lengths: { red: 2 } }, { files: 4 }]);
    expect(fs.readdirSync(folder).toSorted()).toEqual(['backup', 'data']);
  });

  test('sites to which nothing was written → a start goes on from it', async () => {
    await (await start()).close();
    await backUp();
    const restored = await start(target);
    await write(restored);
    await restored.close();
  });

  test('a site with a checkpoint → its rows are there, and a start goes on from them', async () => {
    await writeWithCheckpoint();
    const { sites } = await backUp({ isDeep: true });
    expect(sites[0]?.damages).toEqual([]);
    const { sites: found } = await inspectDataDirectory(target);
    expect(found[0]).toMatchObject({
      startError: null,
      rows: { commit: { number: expect.any(Number) } },
    });
    const restored = await start(target);
    expect(await clientOf(restored).invokeStrong(look({ key: 'us/a' }))).toEqual(WRITTEN);
    await write(restored);
    await restored.close();
  });

  test('progress → the bytes that are copied, of all', async () => {
    await writeAndClose();
    const reported: (readonly number[])[] = [];
    const { bytes } = await backUp({ onProgress: (...counts) => reported.push(counts) });
    expect(reported.at(-1)).toEqual([bytes, bytes]);
  });
});

describe('no backup', () => {
  test.each([
    ['exists', (): string => (fs.mkdirSync(target), target), /which exists: name a new directory/],
    ['is in no directory', (): string => join(folder, 'none/backup'), /make that first/],
    ['is in the data directory', (): string => join(dataDir, 'backup'), /name a place outside/],
    [
      'is in it, by a link',
      (): string => (fs.symlinkSync(dataDir, join(folder, 'link')), join(folder, 'link/backup')),
      /name a place outside/,
    ],
  ])('the target %s → INVALID_ARGUMENT', async (_, makeTarget, message) => {
    await writeAndClose();
    await expect(backUp({ target: makeTarget() })).rejects.toEqual(
      failure('INVALID_ARGUMENT', message),
    );
    expect(fs.readdirSync(dataDir)).not.toContain('backup');
  });

  test('there is no data directory → INVALID_ARGUMENT, and nothing is made', async () => {
    await expect(backUp()).rejects.toEqual(failure('INVALID_ARGUMENT', /does not exist/));
    fs.mkdirSync(dataDir);
    await expect(backUp()).rejects.toEqual(failure('INVALID_ARGUMENT', /has no manifest.json/));
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('a log is damaged → UNAVAILABLE with the damage, and nothing is left', async () => {
    await writeAndClose();
    const path = join(dataDir, 'sites/ireland/0000000001.log');
    const bytes = fs.readFileSync(path);
    bytes[400] = (bytes[400] as number) ^ 1;
    fs.writeFileSync(path, bytes);
    await expect(backUp()).rejects.toEqual(
      failure('UNAVAILABLE', /No backup was made, because no server.*is damaged at byte/),
    );
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('a store of rows is damaged → UNAVAILABLE with the damage, and nothing is left', async () => {
    await writeWithCheckpoint();
    const path = join(dataDir, 'sites/ireland/rows');
    for (const name of fs.readdirSync(path).filter((item) => item.startsWith('MANIFEST')))
      fs.writeFileSync(join(path, name), 'damaged');
    await expect(backUp()).rejects.toEqual(
      failure('UNAVAILABLE', /sites\/ireland\/rows: .*correctables inspect/),
    );
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('a row is missing, and the rows are checked → UNAVAILABLE with its key, and nothing is left', async () => {
    await writeWithCheckpoint();
    const store = await LevelRowStore.open(join(dataDir, 'sites/ireland/rows'));
    const lost = getRowKey('rows', formatRowName('shops', 'us/a'));
    await commit(store, { puts: [], removals: [lost] });
    await store.close();
    await expect(backUp({ isDeep: true })).rejects.toEqual(
      failure(
        'UNAVAILABLE',
        /No backup was made, because rows.*sites\/ireland\/rows: .*"us\/a".*--deep/,
      ),
    );
    expect(fs.readdirSync(folder)).toEqual(['data']);
    await backUp();
  });

  test('a site lacks what another one has from it → UNAVAILABLE, and nothing is left', async () => {
    await writeAndClose();
    fs.cpSync(join(dataDir, 'sites/ireland'), join(folder, 'older'), { recursive: true });
    await writeAndClose();
    fs.rmSync(join(dataDir, 'sites/ireland'), { recursive: true });
    fs.renameSync(join(folder, 'older'), join(dataDir, 'sites/ireland'));
    await expect(backUp()).rejects.toEqual(failure('UNAVAILABLE', /has \d+ itself|leads it/));
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('the directories of all sites are gone → UNAVAILABLE, and nothing is left', async () => {
    await writeAndClose();
    fs.rmSync(join(dataDir, 'sites'), { recursive: true });
    await expect(backUp()).rejects.toEqual(failure('UNAVAILABLE', /there is nothing in sites/));
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('a site waits for the state of another one → UNAVAILABLE', async () => {
    await writeAndClose();
    const path = join(dataDir, 'manifest.json');
    const manifest = parseCheckedJson(fs.readFileSync(path));
    fs.writeFileSync(path, formatCheckedJson({ ...manifest, site: 'ireland' }));
    const identity = { deployment: 'd', site: 'ireland', directory: 'x', origin: null };
    fs.writeFileSync(join(dataDir, 'node.json'), formatIdentity(identity));
    await expect(backUp()).rejects.toEqual(
      failure('UNAVAILABLE', /ireland waits for the state of another site.*Back up another site/),
    );
  });

  test('the check needs more memory than there is → UNAVAILABLE, and nothing is made', async () => {
    await writeAndClose();
    await expect(backUp({}, 100)).rejects.toEqual(
      failure('UNAVAILABLE', /needs about 1 MiB.*NODE_OPTIONS/),
    );
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('another backup is being made, or was killed → UNAVAILABLE, and it stays', async () => {
    await writeAndClose();
    fs.mkdirSync(`${target}.partial`);
    await expect(backUp()).rejects.toEqual(
      failure('UNAVAILABLE', /backup\.partial exists.*one was killed: remove it/),
    );
    expect(fs.readdirSync(folder).toSorted()).toEqual(['backup.partial', 'data']);
  });

  test.each([
    ['ENOSPC', /there is no room on the disk. Nothing is left of it.*Free some/],
    ['EIO', /cannot be made: EIO. Nothing is left of it/],
  ])('the disk of the target reports %s → UNAVAILABLE, and nothing is left', async (code, text) => {
    await writeAndClose();
    replaceHandles({
      writeFile: () => Promise.reject(Object.assign(new Error(code), { code, syscall: 'write' })),
    });
    await expect(backUp()).rejects.toEqual(failure('UNAVAILABLE', text));
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('the disk of the target returns other bytes → UNAVAILABLE, and nothing is left', async () => {
    await writeAndClose();
    replaceHandles({ writeFile: () => Promise.resolve() });
    await expect(backUp()).rejects.toEqual(failure('UNAVAILABLE', /has other bytes than the file/));
    expect(fs.readdirSync(folder)).toEqual(['data']);
  });

  test('the target is made meanwhile → UNAVAILABLE, and it stays', async () => {
    await writeAndClose();
    const onProgress = (): void => {
      fs.mkdirSync(join(target, 'other'), { recursive: true });
    };
    await expect(backUp({ onProgress })).rejects.toEqual(
      failure('UNAVAILABLE', /cannot be made: ENOTEMPTY/),
    );
    expect(fs.readdirSync(folder).toSorted()).toEqual(['backup', 'data']);
  });

  test.each(['while files are copied', 'while the copy is checked'])(
    'a signal %s → its reason, and nothing is left',
    async (when) => {
      await writeAndClose();
      const stop = new AbortController();
      const onProgress = (copied: number, all: number): void => {
        if (when === 'while files are copied') stop.abort('SIGINT');
        else if (copied === all) setImmediate(() => stop.abort('SIGINT'));
      };
      await expect(backUp({ signal: stop.signal, onProgress })).rejects.toBe('SIGINT');
      expect(fs.readdirSync(folder)).toEqual(['data']);
    },
  );
});

/** Replaces methods of the files that the backup opens to write. */
function replaceHandles(methods: Partial<fs.promises.FileHandle>): void {
  const { open } = fs.promises;
  vi.spyOn(fs.promises, 'open').mockImplementation(async (...args) =>
    Object.assign(await open(...args), methods),
  );
}
