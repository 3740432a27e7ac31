/** Rows that are read from the directory of a site that is a process of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { put } from 'correctables/operations';
import { readStoredSite } from '../../../../../src/server/node/commands/read-data.ts';
import {
  formatIdentity,
  parseIdentity,
} from '../../../../../src/server/node/storage/directory/node-identity.ts';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { keyValueService } from '../../../../../src/server/service/key-value-service.ts';
import { clusterContract } from '../../../../support/cluster-service.ts';
import * as cluster from '../cluster/cluster-nodes.ts';
import * as partitioned from '../cluster/partitioned-nodes.ts';

const { add, take } = clusterContract;

async function readMarks(files: cluster.Files, site: string): Promise<Map<string, unknown>> {
  const input = { dataDir: files.dataDir(site), site, service: cluster.service };
  const { rows, close } = await readStoredSite(input);
  const marks = [...rows.scan('marks')].map(({ key, fields }) => [key, fields['runs']] as const);
  await close();
  return new Map(marks);
}

test('a follower of the red log → all that it has; its leader → what its own log proves, and how much it does not', async () => {
  const files = await cluster.createFiles();
  const nodes = await cluster.openAll(files);
  const [a, b] = nodes as [ClusterNode, ClusterNode];
  await cluster.clientOf(a).invokeStrong(take({ key: 'red' }));
  // The leader's own log then says that the record before it was confirmed.
  await cluster.clientOf(a).invoke(add({ key: 'red' }));
  await cluster.clientOf(b).invokeStrong(take({ key: 'later' }));
  const proven = new Map([['red', 2]]);
  await expect.poll(() => readMarks(files, 'b')).toEqual(new Map([['later', 1], ...proven]));
  expect(await readMarks(files, 'a')).toEqual(proven);
  await Promise.all(nodes.map((node) => node.close()));
  expect(await readMarks(files, 'a')).toEqual(proven);
  const input = { dataDir: files.dataDir('a'), site: 'a', service: cluster.service };
  const { unprovenRecords, close } = await readStoredSite(input);
  await close();
  expect(unprovenRecords).toBeGreaterThan(0);
});

test('a node of a single site → all that it has confirmed', async () => {
  const files = await cluster.createFiles(['a']);
  const node = await cluster.open(files, 'a');
  await cluster.clientOf(node).invokeStrong(take({ key: 'red' }));
  expect(await readMarks(files, 'a')).toEqual(new Map([['red', 1]]));
});

test('a node with several red logs → its rows', async () => {
  const path = await partitioned.createFiles();
  const nodes = await partitioned.openAll(path);
  const client = partitioned.clientOf(nodes[0] as ClusterNode);
  await client.invokeStrong(put('us/a', 1));
  await client.invokeStrong(put('eu/b', 2));
  const dataDir = join(path, '../ireland');
  const { rows, unprovenRecords, close } = await readStoredSite({
    dataDir,
    site: 'ireland',
    service: keyValueService,
  });
  expect(rows.count('keys') + unprovenRecords).toBeGreaterThanOrEqual(2);
  await close();
});

test('a directory without node.json, or of a forked site → refused', async () => {
  const files = await cluster.createFiles(['a']);
  await (await cluster.open(files, 'a')).close();
  const path = join(files.dataDir('a'), 'node.json');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, '{');
  await expect(readMarks(files, 'a')).rejects.toThrow('node.json is damaged');
  writeFileSync(path, text);
  writeFileSync(
    path,
    formatIdentity({ ...parseIdentity(Buffer.from(text)), forked: 'b is newer' }),
  );
  await expect(readMarks(files, 'a')).rejects.toThrow('The data cannot be used: b is newer');
  writeFileSync(path, text);
  expect(await readMarks(files, 'a')).toEqual(new Map());
});
