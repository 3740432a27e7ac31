/** All sites of a deployment in one process, with the delays of a wide area between them. */
import { randomBytes } from 'node:crypto';
import type { Binding } from '../../../correctable/binding.ts';
import { bindMethods } from '../../../correctable/binding.ts';
import type { RedBlueLevels } from '../../../protocol/redblue-levels.ts';
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import {
  readDurableOptions,
  readEmbeddedOptions,
  type DurableEmbeddedOptions,
  type EmbeddedOptions,
  type ResolvedEmbeddedOptions,
} from './embedded-options.ts';
import { createEmbeddedPolicy } from '../node-policy.ts';
import { reportWritesWithoutPartition } from '../alarms/report-partitions.ts';
import {
  createRunningSite,
  createSitePlan,
  type RunningSite,
  type SitePlan,
} from '../running-site.ts';
import type { SiteStorage } from '../../log/site-storage.ts';
import type { Envelope } from '../../site/wire/envelope.ts';
import type { RetainedReplies } from '../../site/parts/lookups/id-table.ts';
import { resolvePartitions } from '../../service/partition-options.ts';
import { createPartitions } from '../../service/partitions.ts';
import type { Service } from '../../service/service.ts';
import { Link } from '../links/link.ts';
import { createLinkAlarm } from '../alarms/replica-alarms.ts';
import { SiteBinding } from '../submission/site-binding.ts';
import { getOneWayDelayMs, type SiteLatency } from '../site-latency.ts';
import { Origins } from '../../service/records/origin.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { CertificationStats } from '../certification-stats.ts';
import { SiteFigures } from '../site-figures.ts';
import { guardAlarmHandler, emitWarning, type OnAlarm } from '../alarms/site-alarm.ts';
import { checkColorsIfEnabled } from '../startup-color-check.ts';
import { MIN_KEY_BYTES } from '../storage/directory/data-directory.ts';
import { shareMemory } from '../memory/needed-memory.ts';
import {
  createVolatileStorage,
  openStorage,
  type DeploymentStorage,
} from '../storage/directory/open-storage.ts';
import { createRedLogPlans, findCommitted, measureRedLogs } from './stored-red-logs.ts';

/** A running deployment. */
export interface Embedded<N extends string = string> {
  readonly sites: readonly N[];
  /**
   * Returns the binding of one site, for any number of clients in this process, or for a gateway. A
   * client that closes ends only its own operations. Closing the binding ends all operations that
   * use it, but not the site. The next call then returns a new binding.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site.
   */
  site(name: N): Binding<RedBlueLevels, true>;
  /**
   * Returns how often certification rejected red operations of the site, by reason. They then ran
   * again.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site.
   */
  certificationStats(name: N): CertificationStats;
  /**
   * Returns how many outcomes of writes the site retains for clients that may retry and have not
   * acknowledged them.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site.
   */
  retainedReplies(name: N): RetainedReplies;
  /**
   * Stops all sites. Pending reads fail with `UNAVAILABLE`, pending writes with `UNKNOWN`: they may
   * have been applied.
   */
  close(): Promise<void>;
}

/**
 * Creates and starts all sites of a service in this process, in memory: the state is lost when the
 * process ends. To keep it in a directory, use `openEmbedded`. Arguments and results are copies, so
 * you may change yours.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @example
 * const shop = createEmbedded(ticketService, {
 *   sites: ['ireland', 'frankfurt', 'virginia'],
 *   redLeader: 'ireland',
 *   latency: 'eu-us',
 * });
 * const client = createClient(shop.site('virginia'));
 * client.invoke(dequeue('tickets')).onUpdate(showGuess).onFinal(showTicket);
 */
export function createEmbedded<const N extends string>(
  service: Service,
  options: EmbeddedOptions<N> & {
    /** A directory opens asynchronously: use `await openEmbedded(service, options)`. */
    readonly dataDir?: never;
  },
): Embedded<N> {
  const { embedded, begin } = createInMemory(service, options);
  begin();
  return embedded;
}

/**
 * Opens a directory, and starts all sites of a service in this process. All confirmed writes are in
 * the directory, and survive a restart. Arguments and results are copies, so you may change yours.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or how the data
 * in the directory differs.
 * @throws CorrectableError `UNAVAILABLE` if another process uses the directory, or its data is
 * unreadable or lost at a site.
 * @example
 * const shop = await openEmbedded(ticketService, {
 *   sites: ['ireland', 'frankfurt', 'virginia'],
 *   dataDir: 'data',
 * });
 * const client = createClient(shop.site('virginia'));
 * await client.invokeStrong(enqueue('tickets', 'A1'));
 * await shop.close();
 */
export async function openEmbedded<const N extends string>(
  service: Service,
  options: DurableEmbeddedOptions<N>,
): Promise<Embedded<N>> {
  const { embedded, begin } = await openDurable(service, options);
  await closeOnError(embedded.close, begin);
  return embedded;
}

/** A deployment that has loaded what it saved, and can begin. */
export interface OpenedDeployment<N extends string = string> {
  /** Takes no operations yet. If it is closed before it begins, its directory stays as it was. */
  readonly embedded: Embedded<N>;
  /** Returns the figures of a site for its metrics. */
  getFigures(site: N): SiteFigures;
  /**
   * Writes the manifest of the directory and starts all sites. Throws `UNAVAILABLE` if the
   * directory cannot be written: then the deployment must be closed.
   */
  begin(): void;
}

/**
 * Opens a deployment for a caller that has more to check before it begins: in memory, unless it has
 * a `dataDir`. Rejects as `createEmbedded` or `openEmbedded`.
 *
 * @param onProgress called with what a start that takes long is doing
 */
export async function openDeployment<const N extends string>(
  service: Service,
  { dataDir, ...options }: EmbeddedOptions<N> & { readonly dataDir?: string | undefined },
  onProgress?: (message: string) => void,
): Promise<OpenedDeployment<N>> {
  if (dataDir === undefined) return createInMemory(service, options);
  return openDurable(service, { ...options, dataDir }, onProgress);
}

function createInMemory<N extends string>(
  service: Service,
  options: EmbeddedOptions<N>,
): OpenedDeployment<N> {
  const prepared = prepareDeployment(service, readEmbeddedOptions(service, options));
  return buildDeployment(prepared, createVolatileStorage(options));
}

async function openDurable<N extends string>(
  service: Service,
  options: DurableEmbeddedOptions<N>,
  onProgress?: (message: string) => void,
): Promise<OpenedDeployment<N>> {
  const resolved = readDurableOptions(service, options);
  const prepared = prepareDeployment(service, resolved);
  const storage = await openStorage(resolved.dataDir, {
    memory: prepared.memory,
    service,
    sites: resolved.sites,
    redLeader: prepared.origins.getName(prepared.redLeader),
    partitions: prepared.layouts,
    hasOwnKey: resolved.clusterKey !== undefined,
    onAlarm: prepared.onAlarm,
    ...(onProgress && { onProgress }),
  });
  return closeOnError(storage.close, () => buildDeployment(prepared, storage));
}

/** What is checked and created before the storage is opened: then no lock can stay behind. */
type PreparedDeployment<N extends string> = ReturnType<typeof prepareDeployment<N>>;

// The return type would repeat all that is created.
function prepareDeployment<N extends string>(
  service: Service,
  options: ResolvedEmbeddedOptions<N> & { readonly dataDir?: string },
) {
  const { sites, latency } = options;
  const partitions = createPartitions(service, options.partitions);
  const layouts = resolvePartitions(options.partitions, sites);
  const origins = Origins.create(sites, partitions.names.slice(1));
  const redLeader = findLeader(origins, options.redLeader ?? sites[0]);
  const onAlarm = guardAlarmHandler(options.onAlarm ?? emitWarning);
  reportServiceRisks(service, options, partitions.count, onAlarm);
  const sitesByOrigin = new Map<Origin, RunningSite>();
  const links = createLinks(origins, latency, onAlarm, (to, envelopes) =>
    sitesByOrigin.get(to)?.driver.receive(envelopes),
  );
  const memory = shareMemory(options, sites.length);
  return {
    service,
    options,
    partitions,
    layouts,
    origins,
    redLeader,
    onAlarm,
    sitesByOrigin,
    links,
    memory,
  };
}

/** Creates the sites from what their storage has. If that throws, the storage is still open. */
function buildDeployment<N extends string>(
  prepared: PreparedDeployment<N>,
  storage: DeploymentStorage,
): OpenedDeployment<N> {
  const { service, options, partitions, origins, sitesByOrigin, links } = prepared;
  const redLengths = storage.sites.map((site) => measureRedLogs(site.stored));
  const plan: SitePlan = {
    ...createSitePlan(service, options, prepared.memory),
    origins,
    redLeader: prepared.redLeader,
    committedRedEntries: findCommitted(redLengths, 0),
    partitions,
    redLogs: createRedLogPlans(origins, prepared.layouts, redLengths),
    clusterKey: options.clusterKey ?? storage.clusterKey ?? randomBytes(MIN_KEY_BYTES),
    tokenScope: origins.names,
    onAlarm: prepared.onAlarm,
  };
  for (const [index, site] of origins.sites.entries()) {
    const outgoing = links.get(site);
    const policy = createEmbeddedPolicy(index === 0);
    const running = createRunningSite(plan, site, policy, {
      storage: storage.sites[index] as SiteStorage,
      send: (envelope) => outgoing?.get(envelope.to.site)?.send(envelope),
    });
    sitesByOrigin.set(site, running);
  }
  const { sites } = options;
  const find = (name: N): RunningSite => {
    const site = sitesByOrigin.get(origins.find(name) as Origin);
    if (site === undefined)
      throw createInvalidArgumentError('site', `'${name}' is not one of ${sites.join(', ')}`);
    return site;
  };
  return {
    embedded: createHandle(sites, find, () => closeAll(links, sitesByOrigin, storage)),
    begin: () => {
      storage.adopt();
      for (const { driver } of sitesByOrigin.values()) driver.start();
    },
    getFigures: (site) => new SiteFigures(find(site)),
  };
}

async function closeAll(
  links: ReturnType<typeof createLinks>,
  sites: ReadonlyMap<Origin, RunningSite>,
  storage: DeploymentStorage,
): Promise<void> {
  for (const to of links.values()) for (const link of to.values()) link.close();
  for (const { driver } of sites.values()) driver.close();
  await storage.close();
}

/** Raises alarms for colors that are wrong, and for writes that are of no partition. */
function reportServiceRisks<N extends string>(
  service: Service,
  options: ResolvedEmbeddedOptions<N> & { readonly dataDir?: string },
  partitionCount: number,
  onAlarm: OnAlarm,
): void {
  const [site] = options.sites;
  checkColorsIfEnabled(service, options, (message) =>
    onAlarm({ kind: 'color-check-failed', site, message }),
  );
  if (partitionCount > 1) reportWritesWithoutPartition(service, site, onAlarm);
}

/**
 * Creates a link for each pair, by sender and receiver. Throws `INVALID_ARGUMENT` naming a pair
 * without a delay.
 */
function createLinks(
  origins: Origins,
  latency: SiteLatency,
  onAlarm: OnAlarm,
  receive: (to: Origin, envelopes: readonly Envelope[]) => void,
): ReadonlyMap<Origin, ReadonlyMap<Origin, Link<Envelope>>> {
  const linkOf = (from: Origin, to: Origin): Link<Envelope> => {
    const [sender, receiver] = [origins.getName(from), origins.getName(to)];
    return new Link({
      delayMs: getOneWayDelayMs(latency, sender, receiver),
      deliver: (envelopes) => receive(to, envelopes),
      onFull: createLinkAlarm(sender, receiver, onAlarm),
    });
  };
  const linksOf = (from: Origin) =>
    new Map(origins.getOthers(from).map((to) => [to, linkOf(from, to)]));
  return new Map(origins.sites.map((from) => [from, linksOf(from)]));
}

/** Creates the public handle, which finds sites by name. */
function createHandle<N extends string>(
  sites: readonly N[],
  siteOf: (name: N) => RunningSite,
  close: () => Promise<void>,
): Embedded<N> {
  const bindings = new Map<string, SiteBinding>();
  return {
    sites,
    retainedReplies: (name) => siteOf(name).driver.machine.retainedReplies,
    certificationStats: (name) => siteOf(name).certificationStats.stats,
    site: (name) => {
      const { driver } = siteOf(name);
      let binding = bindings.get(name);
      // The binding stays the same while it is open.
      if (binding === undefined || binding.isClosed)
        bindings.set(name, (binding = bindMethods(new SiteBinding(name, driver))));
      return binding;
    },
    close,
  };
}

/** Runs the step. If it throws, everything is closed before the promise rejects. */
async function closeOnError<T>(close: () => Promise<void>, step: () => T): Promise<T> {
  try {
    return step();
  } catch (error) {
    await close();
    throw error;
  }
}

function findLeader(origins: Origins, redLeader: string): Origin {
  const leader = origins.find(redLeader);
  if (leader === undefined)
    throw createInvalidArgumentError(
      'redLeader',
      `'${redLeader}' is not one of ${origins.names.join(', ')}`,
    );
  return leader;
}
