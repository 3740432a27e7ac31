/** Serves one site of a cluster through its gateway, in a process of its own. */
import { getOperationPlans } from './service/operation-plan.ts';
import { readOptions, type OptionsOf } from '../correctable/options.ts';
import { ClusterNode, type ClusterNodeEvents } from './node/cluster/cluster-node.ts';
import { getClientMemoryBytes } from './node/memory/memory-size.ts';
import { prepareRebuild } from './node/cluster/node-resources.ts';
import { formatWaiting } from './node/cluster/first-start.ts';
import type { NodeStatus } from './node/cluster/node-status.ts';
import {
  CLUSTER_NODE_OPTIONS,
  NODE_CALL,
  readNodeOptions,
  type ClusterNodeOptions,
} from './node/cluster/cluster-options.ts';
import { createGatewayWith, type Gateway } from './gateway/gateway.ts';
import type { SiteAddress } from './gateway/listen/http-handler.ts';
import { listenGateways, type GatewayListener } from './gateway/listen/listen.ts';
import { silentLogger } from './gateway/context/logger.ts';
import { CLIENT_OPTIONS, serviceOption, type ServeOptions } from './serve.ts';
import type { Service } from './service/service.ts';
import { formatHome } from './service/records/origin.ts';
import { SiteBinding } from './node/submission/site-binding.ts';
import type { SiteDriver } from './node/site-driver.ts';
import {
  createLinkMetrics,
  createRedLogMetrics,
  createRedOrderMetric,
  createRefusedMetric,
  createSiteMetrics,
} from './site-metrics.ts';
import { SiteFigures } from './node/site-figures.ts';
import { requireLevel } from './node/storage/rows/level-database.ts';
import { createProgressLog } from './progress-log.ts';

/** Options of `serve` that concern clients, and mean the same. */
type ClientOption = Exclude<keyof typeof CLIENT_OPTIONS, 'host' | 'port'>;

/** Options of `serveCluster`. */
export interface ServeClusterOptions extends ClusterNodeOptions, Pick<ServeOptions, ClientOption> {
  /** The service, made by `defineService`. */
  readonly service: Service;
  /**
   * Address to listen on for clients. Default: that of the site's `url` if it begins with `ws:`,
   * else `127.0.0.1`
   */
  readonly host?: string | undefined;
  /**
   * Port to listen on for clients. Default: that of the site's `url` if it begins with `ws:`, else
   * any free port
   */
  readonly port?: number | undefined;
}

/**
 * How long clients may finish operations in flight before a site is stopped and started again. They
 * go on at another site, or here later. Operations that wait for the red order might never finish.
 */
const STOPPING_DRAIN_MS = 500;

const OPTIONS = {
  service: serviceOption(NODE_CALL),
  ...CLUSTER_NODE_OPTIONS,
  ...CLIENT_OPTIONS,
} satisfies OptionsOf<ServeClusterOptions>;

/** A running site of a cluster. */
export interface RunningNode {
  readonly site: string;
  /** The site that leads the red log now, or `etcd`; empty while the log is being restored. */
  readonly redLeader: string;
  /** Base address for HTTP: `/health`, `/sites`, and the page if there is one. */
  readonly url: string;
  /** The websocket address of the site, for `redblue(contract, { url })`. */
  readonly siteUrl: string;
  /** Returns where the site and its links stand. */
  status(): NodeStatus;
  /**
   * Asks clients to move to other sites and waits for operations in flight, then until the other
   * sites have what this one has, at most 2 s. Then closes the site and its links.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Starts one site of a cluster in this process. The other sites are other processes, with the same
 * `cluster.json`. All confirmed writes survive a restart with the same `dataDir`. On an empty
 * directory it first waits until every other site has answered that it does not know this one; it
 * logs which sites it waits for.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or what is wrong
 * with the cluster file, the key file or the directory.
 * @throws CorrectableError `UNAVAILABLE` if another process uses the directory, its data is
 * unreadable, or the directory is empty and another site knows this site.
 * @example
 * const node = await serveCluster({
 *   service,
 *   cluster: 'cluster.json',
 *   site: 'ireland',
 *   dataDir: '/var/lib/shop',
 * });
 * const url = await findSites(node.url);
 * const shop = createClient(redblue(contract, { url }));
 */
export async function serveCluster(options: ServeClusterOptions): Promise<RunningNode> {
  readOptions(options, { call: NODE_CALL }, OPTIONS);
  const { service, logger = silentLogger } = options;
  const isNodeOption = ([name]: readonly [string, unknown]): boolean =>
    Object.hasOwn(CLUSTER_NODE_OPTIONS, name);
  const nodeOptions = Object.fromEntries(
    Object.entries(options).filter(isNodeOption),
  ) as unknown as ClusterNodeOptions;
  const clients = new ClientListener(options);
  const node = await openClusterNode(service, nodeOptions, {
    onOpening: (opening) => clients.open(opening),
    onWaiting: (waitingFor) => logger.info({ waitingFor }, formatWaiting(waitingFor)),
    onProgress: createProgressLog((message) => logger.info({}, message)),
    onStarted: (started) => clients.open(started, started.site.driver),
    onStopping: (stopping) => clients.open(stopping),
    onFailed: () => clients.leave(),
  }).catch(async (error: unknown) => {
    await clients.close({ drainMs: 0 });
    throw error;
  });
  const { url } = clients.listener;
  return {
    site: node.name,
    get redLeader() {
      return node.status.redLeader ?? '';
    },
    url,
    siteUrl: clients.listener.siteUrl(node.name),
    status: () => node.status,
    close: async (closing) => {
      await clients.close(closing);
      await node.close();
      // A restart of the site may have opened it again meanwhile.
      await clients.close({ drainMs: 0 });
    },
  };
}

/** Opens the site of a cluster that this process runs, and starts it. Throws as `serveCluster`. */
export async function openClusterNode(
  service: Service,
  options: ClusterNodeOptions,
  events: ClusterNodeEvents = {},
): Promise<ClusterNode> {
  const resolved = readNodeOptions(service, options);
  await requireLevel();
  if (resolved.rebuild)
    await prepareRebuild(service, resolved, (message) => events.onProgress?.(message));
  const node = new ClusterNode(service, resolved, events);
  try {
    await node.open();
    return node;
  } catch (error) {
    await node.close();
    throw error;
  }
}

/** Listens for the clients of a node. It accepts them while the site serves. */
class ClientListener {
  readonly #options: ServeClusterOptions;
  #gateway: Gateway | undefined;
  #listener: GatewayListener | undefined;

  constructor(options: ServeClusterOptions) {
    this.#options = options;
  }

  get listener(): GatewayListener {
    if (this.#listener === undefined) throw new Error('no client can connect yet');
    return this.#listener;
  }

  /**
   * Listens for a site that runs or waits. A later call listens at the same address, so that
   * clients come back.
   */
  async open(node: ClusterNode, driver?: SiteDriver): Promise<void> {
    await this.close({ drainMs: STOPPING_DRAIN_MS });
    const { service, origins, authenticate, authorize, limits, logger, ...options } = this.#options;
    const { name: site } = node;
    const { contract } = service;
    const address = getListenAddress(node.addresses.get(site) as string);
    // Clients submit nothing as long as there is no driver.
    const plans = getOperationPlans(service);
    const binding = new SiteBinding(site, driver ?? ({ contract, plans } as unknown as SiteDriver));
    // Clients name it as the home of their operations: a later incarnation has executed nothing
    // that an earlier one received.
    const home = driver && formatHome(driver.origins.get(driver.site));
    const common = {
      binding,
      contract,
      origins,
      authenticate,
      authorize,
      limits: { maxMemoryBytes: getClientMemoryBytes(1), ...limits },
      logger,
    };
    const gateway = createGatewayWith(
      {},
      { site: home, ...common },
      {
        findWaiting: () => findWaiting(node.state, driver),
        findProblem: () => node.state.problem ?? describeRedProblem(driver),
      },
    );
    const listening = listenGateways({
      sites: { [site]: gateway },
      host: options.host ?? address.host,
      port:
        this.#listener === undefined
          ? (options.port ?? address.port)
          : Number(new URL(this.#listener.url).port),
      allowUnauthenticated: options.allowUnauthenticated,
      page: options.page,
      operatorToken: options.operatorToken,
      logger,
      siteAddresses: () => listAddresses(node),
      metrics: [
        ...(driver === undefined ? [] : createNodeMetrics(node)),
        ...createLinkMetrics(site, () => node.links.status),
        createRefusedMetric(site, () => node.links.refusedConnections),
        createRedOrderMetric(site, () => driver?.redProblem),
        ...createRedLogMetrics(site, () => node.status.redLog),
      ],
    });
    this.#gateway = gateway;
    try {
      this.#listener = await listening;
    } catch (error) {
      await gateway.close({ drainMs: 0 });
      throw error;
    }
  }

  async close(options?: { readonly drainMs?: number }): Promise<void> {
    await this.#listener?.close(options);
  }

  /** Lets clients move to other sites. Health and metrics are still served. */
  leave(): void {
    void this.#gateway?.close({ drainMs: 0 });
  }
}

/**
 * Returns why a node accepts no clients, if so. Without a driver, its site does not run, or is
 * about to be stopped.
 */
function findWaiting(
  { state, problem }: ClusterNode['state'],
  driver: SiteDriver | undefined,
): string | undefined {
  return state === 'serving' && driver !== undefined ? undefined : (problem ?? state);
}

/** Returns what some operations wait for at a site that serves. */
function describeRedProblem(driver: SiteDriver | undefined): string | undefined {
  const problem = driver?.redProblem;
  return problem === undefined ? undefined : `red writes and strong reads wait for ${problem}`;
}

/** Returns the default listen address. A `wss:` address is that of a proxy, which ends TLS. */
function getListenAddress(url: string): {
  readonly host: string | undefined;
  readonly port: number | undefined;
} {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'ws:') return { host: undefined, port: undefined };
  return { host: hostname, port: port === '' ? 80 : Number(port) };
}

function listAddresses(node: ClusterNode): SiteAddress[] {
  return [...node.addresses].map(([name, url]) => ({
    name,
    url,
    isConnected: name === node.name || node.links.isConnected(name),
  }));
}

function createNodeMetrics(node: ClusterNode): ReturnType<typeof createSiteMetrics> {
  return createSiteMetrics({
    sites: [node.name],
    getFigures: () => new SiteFigures(node.site),
  });
}
