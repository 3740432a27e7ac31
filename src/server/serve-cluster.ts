/** One site of a cluster behind its gateway, in a process of its own. */
import type { RequestListener } from 'node:http';
import { checkOptionNames, type OptionNamesOf } from '../correctable/validate.ts';
import { openClusterNode, type ClusterNode, type NodeStatus } from './cluster-node.ts';
import type { ClusterSite } from './cluster/cluster-file.ts';
import { CLUSTER_NODE_OPTIONS, type ClusterNodeOptions } from './cluster-options.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import type { SiteAddress } from './gateway/listen/http-handler.ts';
import { listenGateways, type GatewayListener } from './gateway/listen/listen.ts';
import { silentLogger } from './gateway/context/logger.ts';
import type { ServeOptions } from './serve.ts';
import { requireService, type Service } from './service/service.ts';
import { formatHome } from './records/origin.ts';
import { SiteBinding } from './site/site-binding.ts';
import { createLinkMetrics, createSiteMetrics } from './site-metrics.ts';

/** Options of `serve` that concern clients. */
type GatewayOption =
  | 'origins'
  | 'authenticate'
  | 'authorize'
  | 'limits'
  | 'allowUnauthenticated'
  | 'busyPollUs'
  | 'logger';

/** Options of `serveCluster`. */
export interface ServeClusterOptions extends ClusterNodeOptions, Pick<ServeOptions, GatewayOption> {
  readonly service: Service;
  /** Address to listen on for clients. Default: that of the site's `url` if it begins with `ws:`, else `127.0.0.1` */
  readonly host?: string | undefined;
  /** Port to listen on for clients. Default: that of the site's `url` if it begins with `ws:`, else any free port */
  readonly port?: number | undefined;
  /** Handles the HTTP requests for other paths than the server's own, for example with a page. Default: 404 */
  readonly page?: RequestListener | undefined;
}

const CALL = "serveCluster({ service, cluster: 'cluster.json', site: 'ireland', dataDir: 'data' })";

const OPTIONS: OptionNamesOf<ServeClusterOptions> = {
  service: true,
  ...CLUSTER_NODE_OPTIONS,
  host: true,
  port: true,
  origins: true,
  authenticate: true,
  authorize: true,
  limits: true,
  allowUnauthenticated: true,
  busyPollUs: true,
  logger: true,
  page: true,
};

/** A running site of a cluster. */
export interface RunningNode {
  readonly site: string;
  readonly redLeader: string;
  /** Base address for HTTP: `/health`, `/sites`, and the page if there is one. */
  readonly url: string;
  /** The websocket address of the site, for `redblue(contract, { url })`. */
  readonly siteUrl: string;
  /** Returns where the site and its links stand. */
  status(): NodeStatus;
  /**
   * Asks clients to move to other sites and waits for operations in flight, then until the other sites have what this one
   * has, at most 2 s. Then closes the site and its links.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Starts one site of a cluster in this process. The other sites are other processes, with the same `cluster.json`. All
 * confirmed writes survive a restart with the same `dataDir`. On an empty directory it first waits until every other site
 * has answered that it does not know this one; it logs which sites it waits for.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or what is wrong with the cluster file,
 * the key file or the directory.
 * @throws CorrectableError `UNAVAILABLE` if another process uses the directory, its data is unreadable, or the directory is
 * empty and another site knows this site.
 * @example
 * const node = await serveCluster({ service, cluster: 'cluster.json', site: 'ireland', dataDir: '/var/lib/shop' });
 * const shop = createClient(redblue(contract, { url: await findSites(node.url) }));
 */
export async function serveCluster(options: ServeClusterOptions): Promise<RunningNode> {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  requireService(options.service, CALL);
  const { service, host, port, origins, authenticate, authorize, limits, ...others } = options;
  const { allowUnauthenticated, busyPollUs, logger = silentLogger, page, ...nodeOptions } = others;
  const node = await openClusterNode(service, nodeOptions, {
    onWaiting: (waitingFor) =>
      logger.info({ waitingFor }, `waiting for the sites ${waitingFor.join(', ')} before the first start`),
  });
  const site = node.name;
  const { url } = node.file.sites.get(site) as ClusterSite;
  const address = getListenAddress(url);
  let gateway: Gateway | undefined;
  let listener: GatewayListener;
  try {
    const { driver } = node.site;
    const binding = new SiteBinding(site, driver);
    // Clients name it as the home of what they send: a later incarnation has done nothing of what an earlier one has.
    const home = formatHome(driver.origins.get(driver.site));
    const { contract } = service;
    gateway = createGateway({ site: home, binding, contract, origins, authenticate, authorize, limits, logger });
    listener = await listenGateways({
      sites: { [site]: gateway },
      host: host ?? address.host,
      port: port ?? address.port,
      allowUnauthenticated,
      busyPollUs,
      page,
      logger,
      siteAddresses: () => listAddresses(node),
      metrics: [...createNodeMetrics(node), ...createLinkMetrics(site, () => node.links.status)],
    });
  } catch (error) {
    await gateway?.close({ drainMs: 0 });
    await node.close();
    throw error;
  }
  return {
    site,
    redLeader: node.file.redLeader,
    url: listener.url,
    siteUrl: listener.siteUrl(site),
    status: () => node.status,
    close: async (closing) => {
      await listener.close(closing);
      await node.close();
    },
  };
}

/** Where a node listens unless that is set. A `wss:` address is that of a proxy, which ends TLS. */
function getListenAddress(url: string): { readonly host: string | undefined; readonly port: number | undefined } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'ws:') return { host: undefined, port: undefined };
  return { host: hostname, port: port === '' ? 80 : Number(port) };
}

function listAddresses(node: ClusterNode): SiteAddress[] {
  return [...node.file.sites].map(([name, { url }]) => ({
    name,
    url,
    isConnected: name === node.name || node.links.isConnected(name),
  }));
}

function createNodeMetrics(node: ClusterNode): ReturnType<typeof createSiteMetrics> {
  return createSiteMetrics({
    sites: [node.name],
    certificationStats: () => node.site.certificationStats.stats,
    retainedReplies: () => node.site.driver.retainedReplies,
    rejectedMessages: () => node.site.driver.rejectedMessages,
  });
}
