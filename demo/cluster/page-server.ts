/** The cluster with its page. */
import { fileURLToPath } from 'node:url';
import type { WanPreset } from '../../engines/wan.ts';
import { fileListener } from '../page-cache/page-files.ts';
import type { RedLogAt } from './cluster-files.ts';
import { Cluster } from './cluster.ts';
import { buildClusterPage } from './page/build.ts';
import { startClusterServer, type ClusterServer } from './server.ts';

/** Customers of the page trust the threshold, which its reader moves: sites sell as fast as they can. */
const SERVICE = fileURLToPath(new URL('../tickets/service.ts', import.meta.url));

export interface ClusterPageOptions {
  /** Where to listen, on the loopback interface; 0 for any free port. */
  readonly port: number;
  readonly wan: WanPreset;
  /** What orders red operations. Default: one of the sites. */
  readonly redLog?: RedLogAt | undefined;
  /** The directory for all files, kept afterwards; a temporary one unless given. */
  readonly keep?: string | undefined;
}

/** Builds the page, starts the sites and serves both at one address. */
export async function startClusterPage({ port, wan, keep, redLog }: ClusterPageOptions): Promise<ClusterServer> {
  const page = fileListener(await buildClusterPage());
  const cluster = await Cluster.start({ wan, service: SERVICE, keep, redLog });
  try {
    const server = await startClusterServer({ cluster, wan, port, page });
    return {
      url: server.url,
      async close() {
        await server.close();
        await cluster.close();
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
