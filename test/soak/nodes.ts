/**
 * The nodes of a cluster as a soak run sees them from outside: what each process holds, and where
 * its site stands.
 */
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readClusterFile } from '../../src/server/node/cluster/cluster-file.ts';
import { readKeyFile } from '../../src/server/node/cluster/key-file.ts';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import type { Site } from '../../engines/wan.ts';
import type { NodeStatus } from '../../src/server/node/cluster/node-status.ts';
import { requestOfOperator } from '../../src/server/node/commands/operator-request.ts';

/** One look at one node. */
export interface Sample {
  readonly atMs: number;
  /** After a full collection, buffers outside of the heap included. */
  readonly heapBytes: number;
  /** Of these buffers. */
  readonly bufferBytes: number;
  readonly rssBytes: number;
  readonly openFiles: number;
  /** Of its data directory. */
  readonly diskBytes: number;
  /** Of the file of the etcd server beside it. */
  readonly etcdBytes: number;
  /** Entries that it keeps for other sites, and bytes that wait on its links. */
  readonly backlogEntries: number;
  readonly queuedBytes: number;
}

/** Names of what is sampled. */
export type Figure = Exclude<keyof Sample, 'atMs'>;

interface Held {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  readonly files: number;
}

/** Looks at the node of a site. */
export async function takeSample(
  folder: string,
  {
    site,
    directory,
    etcd,
  }: { readonly site: Site; readonly directory: string; readonly etcd?: EtcdCluster | undefined },
): Promise<Sample> {
  const held = JSON.parse(await text(connect(join(folder, `${site}.sock`)))) as Held;
  const { progress, links } = await readStatus(folder, site);
  return {
    atMs: performance.now(),
    heapBytes: held.heapUsed + held.external,
    bufferBytes: held.external,
    rssBytes: held.rss,
    openFiles: held.files,
    diskBytes: measureDirectory(directory),
    etcdBytes: Number((await etcd?.status(site))?.dbSize ?? 0),
    backlogEntries: progress?.backlog ?? 0,
    queuedBytes: links.reduce((bytes, link) => bytes + link.queuedBytes, 0),
  };
}

async function readStatus(folder: string, site: string): Promise<NodeStatus> {
  const { sites, keyFile } = readClusterFile(join(folder, `${site}.json`));
  const own = sites.get(site);
  if (own === undefined) throw new Error(`the cluster file has no site ${site}`);
  const target = { address: own.cluster, to: site, keys: readKeyFile(keyFile) };
  return (await requestOfOperator(target, 'status', null)) as NodeStatus;
}

/** Files may go while it is measured. */
function measureDirectory(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    try {
      const found = statSync(join(directory, name));
      if (found.isFile()) bytes += found.size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return bytes;
}
