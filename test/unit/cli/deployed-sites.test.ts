/**
 * Which sites the commands for a deployment ask: also those that joined after the cluster file was
 * written.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts, LOOPBACK } from '../../../engines/ports.ts';
import { findDeployedSites } from '../../../src/cli/deployed-sites.ts';
import {
  formatAddress,
  type ClusterAddress,
  type ClusterFile,
} from '../../../src/server/node/cluster/cluster-file.ts';
import { ClusterLinks } from '../../../src/server/node/links/cluster-links.ts';
import { createKeyFile, readKeyFile } from '../../../src/server/node/cluster/key-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function findAddress(): Promise<ClusterAddress> {
  const [port] = (await freePorts(1)) as [number];
  return { host: LOOPBACK, port };
}

type Table = readonly (readonly [site: string, state: string, address?: ClusterAddress])[];

/** Sites that answer with these tables of members, and a cluster file that names only `listed`. */
async function createDeployment(
  listed: readonly string[],
  tables: Readonly<Record<string, Table>>,
) {
  const folder = temporaryFolder();
  const keyFile = join(folder, 'cluster.key');
  createKeyFile(keyFile);
  const keys = readKeyFile(keyFile);
  const addresses = new Map<string, ClusterAddress>();
  for (const site of new Set([...listed, ...Object.keys(tables)]))
    addresses.set(site, await findAddress());
  for (const [site, table] of Object.entries(tables)) {
    const members = table.map(([name, state], place) => {
      const cluster = formatAddress(addresses.get(name) as ClusterAddress);
      return {
        site: name,
        origin: place + 1,
        state,
        ...(!listed.includes(name) && { address: { url: '', cluster } }),
      };
    });
    const listen = addresses.get(site) as ClusterAddress;
    const onRequest = (): object => ({ site, state: 'serving', members });
    const links = await ClusterLinks.open({
      site,
      listen,
      peers: new Map(),
      keys,
      onAlarm: () => {},
      onEnvelopes: () => {},
      onRequest,
    });
    onTestFinished(() => links.close());
  }
  const sites = new Map(
    listed.map((site) => [site, { url: 'ws://x', cluster: addresses.get(site) as ClusterAddress }]),
  );
  const file: ClusterFile = {
    path: '',
    sites,
    redLog: { engine: 'built-in', leader: 'a' },
    partitions: [],
    keyFile,
    keepForMs: 86_400_000,
  };
  return findDeployedSites(file);
}

test('a site that joined → is asked, too; one that was retired is no member', async () => {
  const before: Table = [
    ['a', 'open'],
    ['b', 'open'],
    ['d', 'joining'],
  ];
  const after: Table = [
    ['a', 'open'],
    ['b', 'closed'],
    ['d', 'open'],
  ];
  // The first one has not heard of the last changes.
  const { reports, members, retired, request } = await createDeployment(['a', 'b'], {
    a: before,
    d: after,
  });
  expect(members).toEqual(['a', 'd']);
  expect(retired).toEqual(['b']);
  expect(reports.map(({ site, status }) => [site, status?.state])).toEqual([
    ['a', 'serving'],
    ['b', undefined],
    ['d', 'serving'],
  ]);
  expect(await request('d', 'status', null)).toMatchObject({ site: 'd' });
});

test('no site answers → those of the file, with the reason', async () => {
  const { reports, members } = await createDeployment(['a', 'b'], {});
  expect(members).toEqual(['a', 'b']);
  expect(reports.map(({ error }) => error)).toEqual([
    expect.stringContaining('ECONNREFUSED'),
    expect.stringContaining('ECONNREFUSED'),
  ]);
});

test('a site whose end not all have confirmed → is no member, and is named as closing', async () => {
  const table: Table = [
    ['a', 'open'],
    ['b', 'closing'],
    ['c', 'closed'],
  ];
  const { members, closing, retired } = await createDeployment(['a', 'b', 'c'], { a: table });
  expect([members, closing, retired]).toEqual([['a'], ['b'], ['b', 'c']]);
});
