/** All sites of a deployment in one process, with the delays of a wide area between them. */
import { randomBytes } from 'node:crypto';
import type { Binding } from '../../../correctable/binding.ts';
import { bindMethods } from '../../../correctable/binding.ts';
import type { RedBlueLevels } from '../../../protocol/redblue-levels.ts';
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import { readEmbeddedOptions, type EmbeddedOptions } from './embedded-options.ts';
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
import { openStorage, type DeploymentStorage } from '../storage/directory/open-storage.ts';
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
 * Creates and starts all sites of a service in this process. With a `dataDir`, all confirmed writes
 * survive a restart. Without one, the state is lost when the process ends. Arguments and results
 * are copies, so you may change yours.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or how the data
 * in the directory differs.
 * @throws CorrectableError `UNAVAILABLE` if another process uses the directory, or its data is
 * unreadable or lost at a site.
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
  options: EmbeddedOptions<N>,
): Embedded<N> {
  const { embedded, begin } = openEmbedded(service, options);
  begin();
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
   * directory cannot be written.
   */
  begin(): void;
}

/**
 * Opens a deployment for a caller that has more to check before it begins. Throws as
 * `createEmbedded`.
 */
export function openEmbedded<const N extends string>(
  service: Service,
  input: EmbeddedOptions<N>,
): OpenedDeployment<N> {
  const options = readEmbeddedOptions(service, input);
  const { sites, latency, dataDir } = options;
  const partitions = createPartitions(service, options.partitions);
  const layouts = resolvePartitions(options.partitions, sites);
  const origins = Origins.create(sites, partitions.names.slice(1));
  const redLeader = findLeader(origins, options.redLeader ?? sites[0]);
  const onAlarm = guardAlarmHandler(options.onAlarm ?? emitWarning);
  reportServiceRisks(service, options, partitions.count, onAlarm);
  const sitesByOrigin = new Map<Origin, RunningSite>();
  // Before the storage is opened: if a delay is missing, no lock must stay behind.
  const links = createLinks(origins, latency, onAlarm, (to, envelopes) =>
    sitesByOrigin.get(to)?.driver.receive(envelopes),
  );
  const memory = shareMemory(options.memoryBytes, sites.length);
  const storage = openStorage(dataDir, {
    memory,
    service,
    sites,
    redLeader: origins.getName(redLeader),
    partitions: layouts,
    hasOwnKey: options.clusterKey !== undefined,
    onAlarm,
  });
  const close = (): Promise<void> => closeAll(links, sitesByOrigin, storage);
  const redLengths = storage.sites.map((site) => measureRedLogs(site.stored));
  const plan: SitePlan = {
    ...createSitePlan(service, options, memory),
    origins,
    redLeader,
    committedRedEntries: findCommitted(redLengths, 0),
    partitions,
    redLogs: createRedLogPlans(origins, layouts, redLengths),
    clusterKey: options.clusterKey ?? storage.clusterKey ?? randomBytes(MIN_KEY_BYTES),
    tokenScope: origins.names,
    onAlarm,
  };
  closeOnError(close, () => {
    for (const [index, site] of origins.sites.entries()) {
      const outgoing = links.get(site);
      const policy = createEmbeddedPolicy(index === 0);
      const running = createRunningSite(plan, site, policy, {
        storage: storage.sites[index] as SiteStorage,
        send: (envelope) => outgoing?.get(envelope.to.site)?.send(envelope),
      });
      sitesByOrigin.set(site, running);
    }
  });
  const begin = (): void => {
    closeOnError(close, () => storage.adopt());
    for (const { driver } of sitesByOrigin.values()) driver.start();
  };
  const find = (name: N): RunningSite => {
    const site = sitesByOrigin.get(origins.find(name) as Origin);
    if (site === undefined)
      throw createInvalidArgumentError('site', `'${name}' is not one of ${sites.join(', ')}`);
    return site;
  };
  const embedded = createHandle(sites, find, close);
  return {
    embedded,
    begin,
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
  options: ReturnType<typeof readEmbeddedOptions<N>>,
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

/** Runs the step, and closes everything if it throws. */
function closeOnError(close: () => Promise<void>, step: () => void): void {
  try {
    step();
  } catch (error) {
    void close();
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
