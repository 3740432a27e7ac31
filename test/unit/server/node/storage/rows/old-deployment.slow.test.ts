/** A deployment that starts on the directory of the version before, and goes on with it. */
// @rule ROW-11
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient, type Client } from '../../../../../../src/index.ts';
import { openEmbedded, type Embedded } from '../../../../../../src/server/index.ts';
import { readStoredSite } from '../../../../../../src/server/node/commands/read-data.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import { allKindsContract, service } from '../../../../../support/all-kinds-service.ts';
import { readOldDirectory } from '../../../../../support/checkpoint-files.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const { visit, order, serve } = allKindsContract;

function start(dataDir: string): Promise<Embedded> {
  return openEmbedded(service as unknown as Service, {
    sites: ['ireland', 'virginia'],
    partitions: { eu: { leader: 'virginia', voters: ['ireland', 'virginia'] } },
    checkColors: false,
    onAlarm: () => {},
    dataDir,
  }) as Promise<Embedded>;
}

async function readRows(dataDir: string, site: string): Promise<Record<string, unknown>> {
  const { rows } = await readStoredSite({ dataDir, site, service: service as unknown as Service });
  const all = ['guests', 'shops'].flatMap((table) => [...rows.scan(table)]);
  return Object.fromEntries(all.map(({ key, fields }) => [key, fields]));
}

const listCheckpoints = (dataDir: string, site: string): string[] =>
  readdirSync(join(dataDir, 'sites', site)).filter((name) => name.includes('checkpoint'));

test('all that was written before is there, more is written, and the old files go', async () => {
  const dataDir = temporaryFolder();
  for (const [name, bytes] of readOldDirectory().files) {
    const path = join(dataDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  expect(listCheckpoints(dataDir, 'virginia')).toHaveLength(2);
  let embedded = await start(dataDir);
  const client = createClient(embedded.site('virginia')) as unknown as Client<never>;
  await client.invoke(visit({ key: 'new', tag: 'after', profile: null }));
  await client.invoke(order({ key: 'us/ohio', item: 'newest' }));
  for (let count = 0; count < 30; count += 1) await client.invoke(serve({ key: 'us/ohio' }));
  await embedded.close();
  embedded = await start(dataDir);
  await embedded.close();
  for (const site of ['ireland', 'virginia']) {
    const rows = await readRows(dataDir, site);
    expect(rows['us/ohio']).toMatchObject({ line: ['last', 'newest'], seats: 10 });
    expect(rows['eu/lyon']).toMatchObject({ line: [{ cups: 2 }] });
    expect(rows['late']).toMatchObject({ tags: ['in the log'] });
    expect(rows['guest 3']).toMatchObject({ visits: 1, tags: ['again'] });
    expect(rows['new']).toMatchObject({ visits: 1 });
    expect(rows).not.toHaveProperty('bob');
    expect(listCheckpoints(dataDir, site)).toEqual([]);
    expect(existsSync(join(dataDir, 'sites', site, 'rows'))).toBe(true);
  }
});
