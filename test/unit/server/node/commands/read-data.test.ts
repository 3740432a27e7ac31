/** The rows of a site, read from its directory beside a running deployment and after it. */
// @rule STO-36
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from 'correctables';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import {
  describeDataDirectory,
  readStoredSite,
  type ReadSite,
} from '../../../../../src/server/node/commands/read-data.ts';
import { openEmbedded, type Embedded } from '../../../../../src/server/index.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import { getRowKey } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import { formatRowName } from '../../../../../src/server/service/state/saved-names.ts';
import { commit } from '../../../../row-stores/commit.ts';
import { allKindsContract, service } from '../../../../support/all-kinds-service.ts';
import { service as rowsService } from '../../../../support/rows-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const { visit, forget, open, order, serve } = allKindsContract;
const PROFILE = {
  born: new Date(0),
  id: 2n ** 70n,
  photo: new Uint8Array([1, 2, 3]),
  none: null,
};
const ROWS = {
  guests: [
    {
      key: 'ann',
      fields: {
        profile: PROFILE,
        visits: 2,
        tags: ['first', 'second'],
        notes: ['first came', 'second came'],
      },
    },
    { key: 'cid', fields: { profile: null, visits: 1, tags: ['x'], notes: ['x came'] } },
  ],
  shops: [
    { key: 'eu/lyon', fields: { seats: 0, bread: 3, last: 'tea', line: ['tea'] } },
    { key: 'us/ohio', fields: { seats: 10, bread: 5, last: { cups: 2 }, line: [{ cups: 2 }] } },
  ],
};

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
});

function start(options: object = {}): Promise<Embedded> {
  return openEmbedded(service as unknown as Service, {
    sites: ['ireland', 'virginia', 'ohio', 'tokyo'],
    checkColors: false,
    onAlarm: () => {},
    dataDir,
    ...options,
  }) as Promise<Embedded>;
}

async function write(client: Client<never>): Promise<void> {
  await client.invoke(visit({ key: 'ann', tag: 'first', profile: null }));
  await client.invoke(visit({ key: 'ann', tag: 'second', profile: PROFILE }));
  await client.invoke(visit({ key: 'bob', tag: 'gone', profile: null }));
  await client.invoke(forget({ key: 'bob' }));
  await client.invoke(visit({ key: 'cid', tag: 'x', profile: null }));
  await client.invoke(open({ key: 'us/ohio' }));
  await client.invoke(order({ key: 'us/ohio', item: 'coffee' }));
  await client.invoke(order({ key: 'us/ohio', item: { cups: 2 } }));
  await client.invoke(serve({ key: 'us/ohio' }));
  await client.invoke(order({ key: 'eu/lyon', item: 'tea' }));
}

const clientOf = (embedded: Embedded, site: string): Client<never> =>
  createClient(embedded.site(site)) as unknown as Client<never>;

const read = (site: string): Promise<ReadSite> =>
  readStoredSite({ dataDir, site, service: service as unknown as Service });

async function readAll(site: string): Promise<object> {
  const { rows, close } = await read(site);
  const found = { guests: [...rows.scan('guests')], shops: [...rows.scan('shops')] };
  await close();
  return found;
}

async function hasCheckpoint(site: string): Promise<boolean> {
  const { sites } = await inspectDataDirectory(dataDir);
  return sites.some(({ name, rows }) => name === site && rows.commit !== null);
}

/** The bytes and the times of all files. */
function photograph(): object {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).toSorted();
  return files.map((name) => {
    const path = join(dataDir, name);
    const { mtimeMs, ctimeMs, size } = statSync(path);
    const bytes = statSync(path).isFile() ? readFileSync(path).toString('base64') : '';
    return [name, mtimeMs, ctimeMs, size, bytes];
  });
}

test.each([
  ['one red log', {}],
  ['several red logs', { partitions: { us: { leader: 'ohio', voters: ['virginia', 'ohio'] } } }],
])(
  'rows of every kind, with %s → read beside the running sites, and after them',
  async (_, how) => {
    const embedded = await start(how);
    await write(clientOf(embedded, 'virginia'));
    // An operation that is answered here is on the disk of a majority of the sites.
    expect(await readAll('virginia')).toEqual(ROWS);
    await expect.poll(() => readAll('ireland')).toEqual(ROWS);
    await embedded.close();
    const before = photograph();
    for (const site of ['ireland', 'virginia']) expect(await readAll(site)).toEqual(ROWS);
    expect(photograph()).toEqual(before);
  },
);

test('rows that were changed behind a checkpoint → read from both', async () => {
  const embedded = await start({ memoryBytes: 256 * 2 ** 20 });
  const client = clientOf(embedded, 'ireland');
  await write(client);
  const profile = 'x'.repeat(200_000);
  for (let at = 0; at < 10; at += 1)
    await client.invoke(visit({ key: `large-${at}`, tag: 't', profile }));
  await expect.poll(() => hasCheckpoint('ireland')).toBe(true);
  for (let at = 0; at < 10; at += 1) await client.invoke(forget({ key: `large-${at}` }));
  await client.invoke(order({ key: 'eu/lyon', item: 'last' }));
  const [tea] = ROWS.shops;
  const lyon = { ...tea?.fields, bread: 6, last: 'last', line: ['tea', 'last'] };
  const expected = { ...ROWS, shops: [{ key: 'eu/lyon', fields: lyon }, ROWS.shops[1]] };
  expect(await readAll('ireland')).toEqual(expected);
  await embedded.close();
  expect(await readAll('ireland')).toEqual(expected);
});

test('one row, the number of rows, and rows from a key on', async () => {
  const embedded = await start({ sites: ['ireland'] });
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const { rows, unprovenRecords, close } = await read('ireland');
  expect(unprovenRecords).toBe(0);
  expect([rows.count('guests'), rows.count('shops')]).toEqual([2, 2]);
  expect(rows.get('guests', 'cid')).toEqual(ROWS.guests[1]);
  expect([rows.get('guests', 'bob'), rows.get('guests', 'none')]).toEqual([undefined, undefined]);
  expect([...rows.scan('guests', 'b')]).toEqual([ROWS.guests[1]]);
  await close();
  expect(describeDataDirectory(dataDir)).toEqual({ service: 'all-kinds', sites: ['ireland'] });
});

const isRefused = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringMatching(message) });

test('damage in a log, or a lost site → refused with what to do, and without any rows', async () => {
  const embedded = await start();
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const path = join(dataDir, 'sites/ireland/0000000001.log');
  const bytes = readFileSync(path);
  const damaged = Buffer.from(bytes);
  damaged[400] = (damaged[400] as number) ^ 1;
  writeFileSync(path, damaged);
  await expect(readAll('ireland')).rejects.toThrow(
    isRefused(/is damaged at byte.*correctables inspect/s),
  );
  // Another site's rows may depend on it.
  await expect(readAll('ohio')).rejects.toThrow(isRefused(/is damaged at byte/));
  writeFileSync(path, bytes);
  rmSync(join(dataDir, 'sites/virginia'), { recursive: true });
  await expect(readAll('ireland')).rejects.toThrow(
    isRefused(/there is nothing in sites\/virginia/),
  );
});

test('the end of a log that is cut while it is written → what is complete is read', async () => {
  const embedded = await start({ sites: ['ireland'] });
  const client = clientOf(embedded, 'ireland');
  await write(client);
  await client.invoke(visit({ key: 'zoe', tag: 'torn', profile: null }));
  await embedded.close();
  const path = join(dataDir, 'sites/ireland/0000000001.log');
  const bytes = readFileSync(path);
  let end = bytes.length;
  while (bytes[end - 1] === 0) end -= 1;
  bytes.fill(0, end - 3);
  writeFileSync(path, bytes);
  expect(await readAll('ireland')).toEqual(ROWS);
});

test('an older copy of one site in place of it → refused', async () => {
  const first = await start();
  await write(clientOf(first, 'ireland'));
  await first.close();
  cpSync(join(dataDir, 'sites/ireland'), join(dataDir, 'older'), { recursive: true });
  const second = await start();
  await clientOf(second, 'ireland').invoke(visit({ key: 'dan', tag: 't', profile: null }));
  await expect.poll(() => readAll('ohio')).toMatchObject({ guests: { length: 3 } });
  await second.close();
  rmSync(join(dataDir, 'sites/ireland'), { recursive: true });
  cpSync(join(dataDir, 'older'), join(dataDir, 'sites/ireland'), { recursive: true });
  await expect(readAll('ireland')).rejects.toThrow(
    isRefused(/has \d+ operations of ireland, which has \d+/),
  );
});

test('another service → INVALID_ARGUMENT', async () => {
  await (await start({ sites: ['ireland'] })).close();
  const input = { dataDir, site: 'ireland', service: rowsService as unknown as Service };
  const message = expect.stringContaining("belongs to the service 'all-kinds', not 'rows'");
  await expect(readStoredSite(input)).rejects.toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message }),
  );
});

test('rows that need more memory than this process may use → refused with how to give it more', async () => {
  const embedded = await start({ sites: ['ireland'] });
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const input = { dataDir, site: 'ireland', service: service as unknown as Service };
  await expect(readStoredSite(input, 100)).rejects.toThrow(
    isRefused(/needs about 1 MiB.*Set NODE_OPTIONS=--max-old-space-size=\d+ and run this again/),
  );
});

test('a row that the store has lost → UNAVAILABLE, and what to do', async () => {
  const embedded = await start({ sites: ['ireland'], memoryBytes: 256 * 2 ** 20 });
  const client = clientOf(embedded, 'ireland');
  await write(client);
  for (let at = 0; !(await hasCheckpoint('ireland')); at += 1)
    await client.invoke(visit({ key: `large-${at}`, tag: 't', profile: 'x'.repeat(200_000) }));
  await embedded.close();
  const store = await LevelRowStore.open(join(dataDir, 'sites/ireland/rows'));
  await commit(store, { puts: [], removals: [getRowKey('rows', formatRowName('guests', 'ann'))] });
  await store.close();
  const { rows, close } = await read('ireland');
  const isDamaged = isRefused(/sites\/ireland\/rows.*correctables inspect/s);
  expect(() => rows.get('guests', 'ann')).toThrow(isDamaged);
  expect(() => [...rows.scan('guests')]).toThrow(isDamaged);
  expect(rows.get('guests', 'cid')).toEqual(ROWS.guests[1]);
  await close();
});
