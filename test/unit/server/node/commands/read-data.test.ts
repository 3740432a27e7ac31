/** The rows of a site, read from its directory beside a running deployment and after it. */
// @rule STO-36
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from 'correctables';
import {
  describeDataDirectory,
  readStoredSite,
} from '../../../../../src/server/node/commands/read-data.ts';
import type { StoredRows } from '../../../../../src/server/node/commands/stored-rows.ts';
import { createEmbedded, type Embedded } from '../../../../../src/server/index.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
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

function start(options: object = {}): Embedded {
  return createEmbedded(service as unknown as Service, {
    sites: ['ireland', 'virginia', 'ohio', 'tokyo'],
    checkColors: false,
    onAlarm: () => {},
    dataDir,
    ...options,
  }) as Embedded;
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

function readAll(site: string): object {
  const { rows } = readStoredSite({ dataDir, site, service: service as unknown as Service });
  return { guests: [...rows.scan('guests')], shops: [...rows.scan('shops')] };
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
    const embedded = start(how);
    await write(clientOf(embedded, 'virginia'));
    // An operation that is answered here is on the disk of a majority of the sites.
    expect(readAll('virginia')).toEqual(ROWS);
    await expect.poll(() => readAll('ireland')).toEqual(ROWS);
    await embedded.close();
    const before = photograph();
    for (const site of ['ireland', 'virginia']) expect(readAll(site)).toEqual(ROWS);
    expect(photograph()).toEqual(before);
  },
);

test('rows that were changed behind a checkpoint → read from both', async () => {
  const embedded = start({ memoryBytes: 256 * 2 ** 20 });
  const client = clientOf(embedded, 'ireland');
  await write(client);
  const profile = 'x'.repeat(200_000);
  for (let at = 0; at < 10; at += 1)
    await client.invoke(visit({ key: `large-${at}`, tag: 't', profile }));
  const folder = join(dataDir, 'sites/ireland');
  const hasCheckpoint = (): boolean =>
    readdirSync(folder).some((name) => name.endsWith('.checkpoint-copy'));
  await expect.poll(hasCheckpoint).toBe(true);
  for (let at = 0; at < 10; at += 1) await client.invoke(forget({ key: `large-${at}` }));
  await client.invoke(order({ key: 'eu/lyon', item: 'last' }));
  const [tea] = ROWS.shops;
  const lyon = { ...tea?.fields, bread: 6, last: 'last', line: ['tea', 'last'] };
  const expected = { ...ROWS, shops: [{ key: 'eu/lyon', fields: lyon }, ROWS.shops[1]] };
  expect(readAll('ireland')).toEqual(expected);
  await embedded.close();
  expect(readAll('ireland')).toEqual(expected);
});

test('one row, the number of rows, and rows from a key on', async () => {
  const embedded = start({ sites: ['ireland'] });
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const { rows, unprovenRecords } = readStoredSite({
    dataDir,
    site: 'ireland',
    service: service as unknown as Service,
  });
  expect(unprovenRecords).toBe(0);
  expect([rows.count('guests'), rows.count('shops')]).toEqual([2, 2]);
  expect(rows.get('guests', 'cid')).toEqual(ROWS.guests[1]);
  expect([rows.get('guests', 'bob'), rows.get('guests', 'none')]).toEqual([undefined, undefined]);
  expect([...rows.scan('guests', 'b')]).toEqual([ROWS.guests[1]]);
  expect(describeDataDirectory(dataDir)).toEqual({ service: 'all-kinds', sites: ['ireland'] });
});

const isRefused = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringMatching(message) });

test('damage in a log, or a lost site → refused with what to do, and without any rows', async () => {
  const embedded = start();
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const path = join(dataDir, 'sites/ireland/0000000001.log');
  const bytes = readFileSync(path);
  const damaged = Buffer.from(bytes);
  damaged[400] = (damaged[400] as number) ^ 1;
  writeFileSync(path, damaged);
  expect(() => readAll('ireland')).toThrow(isRefused(/is damaged at byte.*correctables inspect/s));
  // Another site's rows may depend on it.
  expect(() => readAll('ohio')).toThrow(isRefused(/is damaged at byte/));
  writeFileSync(path, bytes);
  rmSync(join(dataDir, 'sites/virginia'), { recursive: true });
  expect(() => readAll('ireland')).toThrow(isRefused(/there is nothing in sites\/virginia/));
});

test('the end of a log that is cut while it is written → what is complete is read', async () => {
  const embedded = start({ sites: ['ireland'] });
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
  expect(readAll('ireland')).toEqual(ROWS);
});

test('an older copy of one site in place of it → refused', async () => {
  const first = start();
  await write(clientOf(first, 'ireland'));
  await first.close();
  cpSync(join(dataDir, 'sites/ireland'), join(dataDir, 'older'), { recursive: true });
  const second = start();
  await clientOf(second, 'ireland').invoke(visit({ key: 'dan', tag: 't', profile: null }));
  await expect
    .poll(() => readStoredSite({ dataDir, site: 'ohio', service: service as never }).rows)
    .toSatisfy((rows: StoredRows) => rows.get('guests', 'dan') !== undefined);
  await second.close();
  rmSync(join(dataDir, 'sites/ireland'), { recursive: true });
  cpSync(join(dataDir, 'older'), join(dataDir, 'sites/ireland'), { recursive: true });
  expect(() => readAll('ireland')).toThrow(
    isRefused(/has \d+ operations of ireland, which has \d+/),
  );
});

test('another service → INVALID_ARGUMENT', async () => {
  await start({ sites: ['ireland'] }).close();
  const input = { dataDir, site: 'ireland', service: rowsService as unknown as Service };
  const message = expect.stringContaining("belongs to the service 'all-kinds', not 'rows'");
  expect(() => readStoredSite(input)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message }),
  );
});

test('rows that need more memory than this process may use → refused with how to give it more', async () => {
  const embedded = start({ sites: ['ireland'] });
  await write(clientOf(embedded, 'ireland'));
  await embedded.close();
  const input = { dataDir, site: 'ireland', service: service as unknown as Service };
  expect(() => readStoredSite(input, 100)).toThrow(
    isRefused(/needs about 1 MiB.*Set NODE_OPTIONS=--max-old-space-size=\d+ and run this again/),
  );
});
