/**
 * `--rebuild` on a directory that was marked as forked: what only it has is handed over, or stays
 * where it is.
 */
// @rule CLU-T7
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { openClusterNode } from '../../../../../src/server/serve-cluster.ts';
import {
  formatIdentity,
  parseIdentity,
} from '../../../../../src/server/node/storage/directory/node-identity.ts';
import { clusterContract } from '../../../../support/cluster-service.ts';
import {
  clientOf,
  createFiles,
  NAMES,
  open,
  openAll,
  service,
  type Files,
} from './cluster-nodes.ts';

const { add, keys } = clusterContract;
type Three = [ClusterNode, ClusterNode, ClusterNode];

/** Marks the directory as a site does that other sites refuse. */
function mark(dataDir: string): void {
  const path = join(dataDir, 'node.json');
  const identity = parseIdentity(readFileSync(path));
  writeFileSync(path, formatIdentity({ ...identity, forked: 'another node has gone on' }));
}

const isMarked = (dataDir: string): boolean =>
  'forked' in JSON.parse(readFileSync(join(dataDir, 'node.json'), 'utf8'));
const isReplaced = (dataDir: string): boolean =>
  readdirSync(dataDir).some((name) => name.startsWith('replaced-'));

async function rebuild(files: Files, site: string, progress: string[] = []): Promise<ClusterNode> {
  const options = {
    cluster: files.cluster,
    site,
    dataDir: files.dataDir(site),
    checkColors: false,
    rebuild: true,
  };
  const node = await openClusterNode(
    service,
    { ...options, onAlarm: () => {} },
    { onProgress: (message) => void progress.push(message) },
  );
  onTestFinished(() => node.close());
  return node;
}

/** Lets a site write alone, so that no other site has what it answers. */
async function writeAlone(files: Files, [a, b, c]: Three, key: string): Promise<void> {
  await Promise.all([a.close(), b.close()]);
  await clientOf(c).invoke(add({ key }));
  await c.close();
  await Promise.all([open(files, 'a'), open(files, 'b')]);
}

test('marked by mistake, with operations that no other site has → the others get them, and nothing is moved', async () => {
  const files = await createFiles();
  const nodes = (await openAll(files)) as Three;
  await clientOf(nodes[2]).invoke(add({ key: 'everywhere' }));
  await writeAlone(files, nodes, 'only at c');
  mark(files.dataDir('c'));
  await expect(open(files, 'c')).rejects.toThrow('another node has gone on');

  const progress: string[] = [];
  const c = await rebuild(files, 'c', progress);
  expect(progress.join()).toMatch(
    /It has 1 operations that no other site has \(.*\): the site starts on it/,
  );
  expect(await clientOf(c).invokeStrong(keys({}))).toEqual(['everywhere', 'only at c']);
  expect([isMarked(files.dataDir('c')), isReplaced(files.dataDir('c'))]).toEqual([false, false]);
});

test('an older copy of the directory of the leader → the others refuse it again, and it stays where it is', async () => {
  const files = await createFiles();
  const [a] = (await openAll(files)) as Three;
  await clientOf(a).invokeStrong(keys({}));
  await a.close();
  const dataDir = files.dataDir('a');
  cpSync(dataDir, files.dataDir('older'), { recursive: true });
  const again = await open(files, 'a');
  await clientOf(again).invokeStrong(keys({}));
  await again.close();
  rmSync(dataDir, { recursive: true });
  cpSync(files.dataDir('older'), dataDir, { recursive: true });
  mark(dataDir);

  const older = await rebuild(files, 'a');
  await vi.waitFor(() => expect(isMarked(dataDir)).toBe(true), { timeout: 20_000 });
  await older.close();
  await expect(rebuild(files, 'a')).rejects.toThrow(
    /is marked again, since the other sites have refused it \(.*\). It has the red log that the site leads. Nothing was changed. First run: correctables cluster restore-red --without a/,
  );
  expect(isReplaced(dataDir)).toBe(false);
  expect(existsSync(join(dataDir, 'sites'))).toBe(true);
});

test('marked, and the others have all of it → it is replaced as before', async () => {
  const files = await createFiles();
  const nodes = (await openAll(files)) as Three;
  await clientOf(nodes[2]).invoke(add({ key: 'everywhere' }));
  await clientOf(nodes[2]).invokeStrong(keys({}));
  await nodes[2].close();
  mark(files.dataDir('c'));
  const c = await rebuild(files, 'c');
  expect(await clientOf(c).invokeStrong(keys({}))).toEqual(['everywhere']);
  expect([isMarked(files.dataDir('c')), isReplaced(files.dataDir('c'))]).toEqual([false, true]);
});

test('the marked directory of the leader → it starts on it, since a leader cannot be rebuilt', async () => {
  const files = await createFiles();
  const [a] = (await openAll(files)) as Three;
  await clientOf(a).invokeStrong(keys({}));
  await a.close();
  mark(files.dataDir('a'));
  const again = await rebuild(files, 'a');
  expect(await clientOf(again).invokeStrong(keys({}))).toEqual([]);
  expect([isMarked(files.dataDir('a')), isReplaced(files.dataDir('a'))]).toEqual([false, false]);
});

test('all sites are marked by mistake, so that none serves → they start, and nothing is lost', async () => {
  const files = await createFiles();
  const nodes = (await openAll(files)) as Three;
  await clientOf(nodes[2]).invoke(add({ key: 'everywhere' }));
  await clientOf(nodes[0]).invokeStrong(keys({}));
  await Promise.all(nodes.map((node) => node.close()));
  for (const name of NAMES) mark(files.dataDir(name));
  const again = (await Promise.all(NAMES.map((name) => rebuild(files, name)))) as Three;
  for (const node of again)
    expect(await clientOf(node).invokeStrong(keys({}))).toEqual(['everywhere']);
  // A site that is slow may find that others serve already, and have all that it has.
  expect(NAMES.every((name) => isReplaced(files.dataDir(name)))).toBe(false);
});
