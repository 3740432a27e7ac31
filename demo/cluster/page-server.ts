/** The cluster with its page. */
import { fileURLToPath } from 'node:url';
import type { WanPreset } from '../../engines/wan.ts';
import { fileListener } from '../page-cache/page-files.ts';
import type { RedLogAt } from './cluster-files.ts';
import { Cluster } from './cluster.ts';
import { buildClusterPage } from './page/build.ts';
import { TICKET_PROBE } from './probe.ts';
import { startClusterServer, type ClusterServer } from './server.ts';

/** The service without a throttle: the page decides by the threshold that its visitor sets. */
const SERVICE = fileURLToPath(new URL('../tickets/service.ts', import.meta.url));

export interface ClusterPageOptions {
  /** The port on the loopback interface; 0 for any free port. */
  readonly port: number;
  readonly wan: WanPreset;
  /** The engine that orders red operations. Default: one of the sites */
  readonly redLog?: RedLogAt | undefined;
  /** The directory for all files, which is kept afterwards. Default: a temporary one */
  readonly keep?: string | undefined;
}

/** Builds the page, starts the sites and serves both at one address. */
export async function startClusterPage({
  port,
  wan,
  keep,
  redLog,
}: ClusterPageOptions): Promise<ClusterServer> {
  const page = fileListener(await buildClusterPage());
  const cluster = await Cluster.start({ wan, service: SERVICE, probe: TICKET_PROBE, keep, redLog });
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
