/** One site of a cluster in a process of its own: `node.ts CLUSTER_FILE SITE DATA_DIR`. */
import { serveCluster } from 'correctables/server';
import { service } from '../load/service.ts';

const [, , cluster, site, dataDir] = process.argv as [string, string, string, string, string];
const server = await serveCluster({
  service,
  cluster,
  site,
  dataDir,
  checkColors: false,
  // Links go down and up as sites are killed.
  onAlarm: ({ kind, message }) => void (kind.startsWith('link-') || console.error(message)),
});
process.send?.({ url: server.url, siteUrl: server.siteUrl });
process.on('disconnect', () => void server.close().then(() => process.exit()));
