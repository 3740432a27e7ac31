/** Runs one site of a cluster in this process: `node.ts CLUSTER_FILE SITE DATA_DIR`. */
import { serveCluster } from 'correctables/server';
import { service } from '../load/service.ts';

const [, , cluster, site, dataDir] = process.argv as [string, string, string, string, string];
const server = await serveCluster({
  service,
  cluster,
  site,
  dataDir,
  checkColors: false,
  // Ignore alarms of links, which go down and up because sites are killed.
  onAlarm: ({ kind, message }) => void (kind.startsWith('link-') || console.error(message)),
});
process.send?.({ url: server.url, siteUrl: server.siteUrl });
process.on('disconnect', () => void server.close().then(() => process.exit()));
