/**
 * What stands beside the logs in a data folder, `manifest.json` and `cluster.key`: refused starts,
 * losses, damage.
 */
// @rule STO-19, STO-23
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs, {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../../../../../src/index.ts';
import { get, put } from '../../../../../../src/operations/index.ts';
import {
  openDeployment,
  openEmbedded,
} from '../../../../../../src/server/node/embedded/embedded.ts';
import type {
  Embedded,
  OpenedDeployment,
} from '../../../../../../src/server/node/embedded/embedded.ts';
import { serve } from '../../../../../../src/server/serve.ts';
import type { SiteAlarm } from '../../../../../../src/server/node/alarms/site-alarm.ts';
import { inspectDataDirectory } from '../../../../../../src/server/node/commands/inspect-directory.ts';
import { lockDirectory } from '../../../../../../src/server/node/storage/disk/directory-lock.ts';
import { parseManifest } from '../../../../../../src/server/node/storage/directory/manifest.ts';
import { formatCheckedJson } from '../../../../../../src/server/node/storage/format/checked-json.ts';
import { notesService, valuesService } from '../notes-service.ts';

const SITES = ['ireland', 'frankfurt'] as const;
let dataDir: string;
let alarms: SiteAlarm[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'correctables-small-'));
  alarms = [];
  return () => rmSync(dataDir, { recursive: true });
});

const pathOf = (name: string): string => join(dataDir, name);
const start = (
  service = valuesService(),
  sites: readonly ['ireland' | 'frankfurt', ...('ireland' | 'frankfurt')[]] = SITES,
): Promise<Embedded> =>
  openEmbedded(service, { sites, dataDir, onAlarm: (alarm) => alarms.push(alarm) });

async function work(): Promise<void> {
  const embedded = await start();
  await createClient(embedded.site('ireland')).invoke(put('k', 'v'));
  await embedded.close();
}

async function refuse(attempt: () => unknown, description: RegExp): Promise<void> {
  const before = contents();
  const message = expect.stringMatching(description);
  await expect((async () => attempt())()).rejects.toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir', message }),
  );
  // The lock too is gone.
  expect(contents()).toEqual(before);
}

/**
 * Every file, by its name: as it is, in short. The engine of the rows replaces its own files
 * whenever it is opened.
 */
function contents(): Record<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (item) => item.isFile() && !item.parentPath.endsWith('/rows'),
  );
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

test('a newer service is refused for what a site has lost → the one of before starts once that is put back', async () => {
  await work();
  renameSync(pathOf('sites/frankfurt'), pathOf('away'));
  await refuse(() => start(notesService()), /nothing in sites\/frankfurt/);
  renameSync(pathOf('away'), pathOf('sites/frankfurt'));
  const embedded = await start();
  expect(await createClient(embedded.site('ireland')).invoke(get('k'))).toBe('v');
  await embedded.close();
});

test.each([
  [
    'an address that others reach',
    { host: '0.0.0.0' },
    { code: 'INVALID_ARGUMENT', field: 'host' },
  ],
  [
    'limits that do not fit',
    { limits: { maxInFlight: 0 } },
    { code: 'INVALID_ARGUMENT', field: 'limits.maxInFlight' },
  ],
  ['a port that is taken', {}, { code: 'EADDRINUSE' }],
])('a newer service is refused for %s → the one of before starts', async (_, refused, error) => {
  await work();
  const before = contents();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  await expect(
    serve({ service: notesService(), sites: SITES, dataDir, port, ...refused }),
  ).rejects.toMatchObject(error);
  expect(contents()).toEqual(before);
  const embedded = await start();
  expect(await createClient(embedded.site('ireland')).invoke(get('k'))).toBe('v');
  await embedded.close();
});

test('a newer service that serves → has the directory from then on', async () => {
  await work();
  const server = await serve({ service: notesService(), sites: SITES, dataDir });
  await server.close();
  await expect(start()).rejects.toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'dataDir' }),
  );
});

test('the manifest is gone while data are there → no start, for these sites or for others', async () => {
  await work();
  rmSync(pathOf('manifest.json'));
  await refuse(start, /no manifest\.json, .* sites\/\w+ has some/);
  await refuse(() => start(valuesService(), ['frankfurt', 'ireland']), /no manifest\.json/);
});

test.each(['sites', 'sites/frankfurt and sites/ireland'])(
  '%s gone while the manifest is there → the start fails; inspect reports the same',
  async (gone) => {
    await work();
    for (const name of gone.split(' and ')) rmSync(pathOf(name), { recursive: true });
    await refuse(
      start,
      /nothing in sites\/ireland, sites\/frankfurt, and manifest\.json lists data there\. .* remove manifest\.json/,
    );
    expect(alarms).toEqual([expect.objectContaining({ kind: 'data-damaged' })]);
    expect((await inspectDataDirectory(dataDir)).startError).toMatch(
      /nothing in sites\/ireland, sites\/frankfurt/,
    );
    rmSync(pathOf('manifest.json'));
    await (await start()).close();
  },
);

test('the only log of a single site is gone → no start', async () => {
  await (await start(valuesService(), ['ireland'])).close();
  rmSync(pathOf('sites/ireland/0000000001.log'));
  await refuse(
    () => start(valuesService(), ['ireland']),
    /nothing in sites\/ireland, and manifest\.json/,
  );
});

test.each([
  ['empty', ''],
  ['half of it', '{"format": 5, "serv'],
  ['of something else', '{"format": 5}'],
  ['no object', 'null'],
  [
    'without tables',
    '{"format": 5, "service": {"name": "notes", "tables": null}, "sites": ["ireland"], "redLeader": "ireland"}',
  ],
  [
    'tables without fields',
    '{"format": 5, "service": {"name": "notes", "tables": {"t": {}}}, "sites": [], "redLeader": ""}',
  ],
  [
    'sites without names',
    '{"format": 5, "service": {"name": "notes", "tables": {}}, "sites": [null], "redLeader": ""}',
  ],
])('the manifest is damaged: %s → no start, and it is named', async (_, text) => {
  await work();
  writeFileSync(pathOf('manifest.json'), text);
  await refuse(start, /manifest\.json is damaged/);
  await refuse(() => inspectDataDirectory(dataDir), /manifest\.json is damaged/);
});

test.each([5, 99])(
  'the manifest is of format %i → the start fails; inspect reports the same',
  async (format) => {
    await work();
    const other = readFileSync(pathOf('manifest.json'), 'utf8').replace(
      /"format": \d+/,
      `"format": ${format}`,
    );
    writeFileSync(pathOf('manifest.json'), other);
    await expect(start()).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'dataDir' }),
    );
    expect((await inspectDataDirectory(dataDir)).startError).toContain(`has format ${format}`);
  },
);

test.each([
  ['a name in it', /"ireland"/, '"irelanf"'],
  ['the leader', /"redLeader": "\w/, '"redLeader": "x'],
])(
  'one bit of the manifest is another one: %s → the start fails; inspect reports the same',
  async (_what, from, to) => {
    await work();
    const damaged = readFileSync(pathOf('manifest.json'), 'utf8').replace(from, to);
    writeFileSync(pathOf('manifest.json'), damaged);
    await refuse(start, /manifest\.json is damaged/);
    await refuse(() => inspectDataDirectory(dataDir), /manifest\.json is damaged/);
  },
);

test('one bit of the key is another one → the start fails; inspect reports the same', async () => {
  await work();
  const key = readFileSync(pathOf('cluster.key'));
  key[7]! ^= 1;
  writeFileSync(pathOf('cluster.key'), key);
  await refuse(start, /cluster\.key is damaged: it is not the key that manifest\.json describes/);
  expect((await inspectDataDirectory(dataDir)).startError).toMatch(/cluster\.key is damaged/);
});

test('a manifest that was written without a checksum → the start adds it', async () => {
  await work();
  const { checksum, key, ...earlier } = JSON.parse(
    readFileSync(pathOf('manifest.json'), 'utf8'),
  ) as Record<string, unknown>;
  writeFileSync(pathOf('manifest.json'), JSON.stringify(earlier));
  await (await start()).close();
  expect(JSON.parse(readFileSync(pathOf('manifest.json'), 'utf8'))).toEqual({
    ...earlier,
    key,
    checksum,
  });
});

test('a key that is too short → the start fails; inspect reports the same', async () => {
  await work();
  writeFileSync(pathOf('cluster.key'), '');
  await refuse(start, /cluster\.key is damaged: it has 0 bytes/);
  expect((await inspectDataDirectory(dataDir)).startError).toMatch(/cluster\.key is damaged/);
});

test('the key is gone → a new one is created, and an alarm reports that earlier sessions end', async () => {
  await work();
  rmSync(pathOf('cluster.key'));
  expect(alarms).toEqual([]);
  await (await start()).close();
  expect(alarms).toEqual([
    expect.objectContaining({ kind: 'data-damaged', message: expect.stringContaining('key') }),
  ]);
  expect(readFileSync(pathOf('cluster.key'))).toHaveLength(32);
});

test('the key file is gone, but a key is passed → no alarm', async () => {
  const value = {
    sites: SITES,
    dataDir,
    clusterKey: 'k'.repeat(32),
    onAlarm: (alarm: SiteAlarm) => alarms.push(alarm),
  };
  await (await openEmbedded(valuesService(), value)).close();
  rmSync(pathOf('cluster.key'));
  await (await openEmbedded(valuesService(), value)).close();
  expect(alarms).toEqual([]);
});

test('a lock without an owner → ignored', async () => {
  writeFileSync(pathOf('lock'), 'null');
  await (await start()).close();
});

/** The disk has no room for the draft of this file, from now until what is given back is called. */
function leaveNoRoomFor(name: string): () => void {
  const write = fs.writeFileSync;
  const full = vi.spyOn(fs, 'writeFileSync').mockImplementation((path, ...rest) => {
    write(path, ...rest);
    if (path === pathOf(`${name}.new`))
      throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  });
  onTestFinished(() => full.mockRestore());
  return () => full.mockRestore();
}

test.each(['cluster.key', 'manifest.json'])(
  'no room for %s → UNAVAILABLE, nothing is left, and at once it may be tried again',
  async (name) => {
    const makeRoom = leaveNoRoomFor(name);
    const message = expect.stringContaining(`not even for ${name}`);
    await expect(start()).rejects.toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir', message }),
    );
    expect(contents()).toEqual({});
    makeRoom();
    await (await start()).close();
  },
);

test('the key is gone, and there is no room for a manifest that must change → the next start reports the lost key', async () => {
  await work();
  rmSync(pathOf('cluster.key'));
  const manifest = parseManifest(readFileSync(pathOf('manifest.json')));
  const service = { ...manifest.service, hash: 'of fewer tables', tables: {} };
  writeFileSync(pathOf('manifest.json'), formatCheckedJson({ ...manifest, service }));
  const makeRoom = leaveNoRoomFor('manifest.json');
  await refuse(start, /not even for manifest\.json/);
  makeRoom();
  expect(alarms).toEqual([]);
  await (await start()).close();
  expect(alarms).toEqual([
    expect.objectContaining({ kind: 'data-damaged', message: expect.stringContaining('key') }),
  ]);
});

describe('a deployment that has opened its directory', () => {
  const open = (service = valuesService()): Promise<OpenedDeployment> =>
    openDeployment(service, { sites: SITES, dataDir, onAlarm: (alarm) => alarms.push(alarm) });

  test.each([
    ['writes another manifest', notesService],
    ['has none to write', valuesService],
  ])(
    "loses it before it begins, and %s → refused, and the directory is the other one's",
    async (_, service) => {
      await work();
      const late = await open(service());
      rmSync(pathOf('lock'));
      // The taker is on another machine: on this one, it could not open the rows.
      const taker = lockDirectory(pathOf('lock'));
      const before = contents();
      const now = Date.now;
      const paused = vi.spyOn(Date, 'now').mockImplementation(() => now() + 5000);
      onTestFinished(() => paused.mockRestore());
      const message = expect.stringContaining('another process has taken it over');
      expect(late.begin).toThrow(
        expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir', message }),
      );
      expect(contents()).toEqual(before);
      taker.release();
      await late.embedded.close();
      await (await start()).close();
    },
  );

  test('is closed twice without having begun → what another one has made there by then stays', async () => {
    const { embedded: first } = await open();
    await first.close();
    const second = await start();
    const before = contents();
    await first.close();
    expect(contents()).toEqual(before);
    await second.close();
  });

  test('is closed twice at work → both end', async () => {
    const embedded = await start();
    void createClient(embedded.site('ireland'))
      .invoke(put('k', 'v'))
      .catch(() => {});
    await setImmediate();
    await Promise.all([embedded.close(), embedded.close()]);
    expect(existsSync(pathOf('lock'))).toBe(false);
  });
});
