/**
 * All sites of a RedBlue deployment in one process, with the delays of a wide area between them: the composition of
 * replicas, logs, storage and links.
 */
import type { NamesOf } from '../correctable/given.ts';
import { randomBytes } from 'node:crypto';
// Imported: what is global is looked up anew at each call.
import { performance } from 'node:perf_hooks';
import type { Binding } from '../correctable/binding.ts';
import type { RedBlueLevels } from '../protocol/redblue-levels.ts';
import { checkEmbedded, invalid } from './embedded-checks.ts';
import { guardedRun } from './site/generator-guard.ts';
import { areChecked, invariantObserver } from './site/invariant-alarm.ts';
import { Link } from './site/link.ts';
import type { SiteStorage } from './log/storage.ts';
import type { GeneratorLimits } from './generator/generator-budget.ts';
import type { Remembered } from './replica/once/remembered.ts';
import type { GeneratorOptions } from './generator/generator-run.ts';
import type { Service } from './service/service.ts';
import { SiteBinding } from './site/site-binding.ts';
import type { Envelope } from './messages/envelope.ts';
import { Origins } from './records/origin.ts';
import type { Origin } from './records/origin.ts';
import { deploymentName } from './site/deployment-name.ts';
import { SignedTokens } from './site/session-tokens.ts';
import { RejectionCounter } from './site/rejections.ts';
import type { Rejections } from './site/rejections.ts';
import { clockSetAlarm, guardedAlarm, redHaltedAlarm, warn } from './alarms/site-alarm.ts';
import { clockObserver, fullLinkAlarm, generatorAlarm, refusalAlarm } from './site/replica-alarms.ts';
import type { OnAlarm, SiteAlarm } from './alarms/site-alarm.ts';
import { SiteDriver } from './site/site-driver.ts';
import type { RefusedMessages } from './site/site-machine.ts';
import { KEY_BYTES_MIN } from './storage/folder/data-folder.ts';
import { unusable } from './storage/folder/lost-sites.ts';
import { openStorage } from './storage/folder/open-storage.ts';
import { oneWayDelayMs } from './site/wan.ts';
import type { Wan } from './site/wan.ts';

/** How to set up an embedded deployment. */
export interface EmbeddedOptions<N extends string = string> {
  /** Names of the sites. */
  readonly sites: readonly [N, ...N[]];
  /** The site that sequences the red log: the first one unless given. A red update pays a round trip to it. */
  readonly redLeader?: NoInfer<N>;
  /** Delays between the sites: `none` unless given. */
  readonly wan?: Wan;
  /** Times that a red update is executed, when other sites keep changing what it reads, before `CONFLICT`. Default 10. */
  readonly attemptsMax?: number;
  /** Operations under way at one site, at most; more fail with `OVERLOADED`. Default 100 000. */
  readonly inFlightMax?: number;
  /**
   * Red updates and strong reads under way at one site, at most, of those: while the red leader is away, what waits for
   * it leaves room for the others. More fail with `OVERLOADED`. Default: half of `inFlightMax`.
   */
  readonly redInFlightMax?: number;
  /**
   * How long an operation waits for what its session has seen at another site, and for an answer about an operation that
   * was sent to another site first, in milliseconds. Then it fails, with `SESSION_BEHIND` or `UNKNOWN`. Default 5000.
   */
  readonly siteWaitMs?: number;
  /**
   * How far the clock of a site may be ahead of another's, in milliseconds. What a site writes while its clock is
   * further ahead is refused until that is set right, and `onAlarm` is told. Sites of one process share its clock: there
   * `onAlarm` is told when it is set by more than this, and nothing waits. Default 10 000.
   */
  readonly maxClockSkewMs?: number;
  /**
   * The folder that keeps logs and checkpoints, made if there is none: what was answered is on the disk then. Without
   * it the deployment is ephemeral: state lives in memory and is gone with the process.
   */
  readonly dataDir?: string | undefined;
  /**
   * Entries of its log that a site keeps while another site lacks some of them, at most. A site that is away for longer
   * makes the others refuse updates with `OVERLOADED` until it is back. Default 1 000 000.
   */
  readonly backlogMax?: number;
  /**
   * Authenticates session tokens: the same at all sites, and after a restart. Default: the one in the data folder, or a
   * random one.
   */
  readonly clusterKey?: string | Uint8Array;
  /**
   * Told of what an operator must know, while the site is at work. What it throws, or a promise that it gives is rejected
   * with, goes with the alarm to a process warning and disturbs nothing else. Default: a process warning.
   */
  readonly onAlarm?: (alarm: SiteAlarm) => void;
  /**
   * Checks the service's `invariants` of each row that an operation has changed, at every site, and raises the alarm
   * `invariant-broken`. It takes one reading of the row an effect and invariant, a twentieth of the time at most for all
   * `snapshotInvariants`, and nothing of a service that declares none. Default: unless `NODE_ENV` is `production`. What is broken stays so: `checkService` in `correctables/testing`
   * finds it before anybody else does.
   */
  readonly checkInvariants?: boolean;
  /** What a generator may take before its operation fails, and how it is checked. */
  readonly generators?: GeneratorSettings;
}

/** Bounds of generators: `stepsMax` (100 000), `effectsMax` (10 000), `timeMaxMs` (1000), `repeatedShare` (0.01). */
export interface GeneratorSettings extends Partial<GeneratorLimits> {
  /**
   * Stops generators that neither return nor read, at the price of 0.1 ms a run. Without it, such a one stops the
   * process. Default false.
   */
  readonly guarded?: boolean;
}

/** All options of `createEmbedded`. */
export const EMBEDDED_OPTIONS: NamesOf<EmbeddedOptions> = {
  sites: true,
  redLeader: true,
  wan: true,
  attemptsMax: true,
  inFlightMax: true,
  redInFlightMax: true,
  siteWaitMs: true,
  maxClockSkewMs: true,
  dataDir: true,
  backlogMax: true,
  clusterKey: true,
  onAlarm: true,
  checkInvariants: true,
  generators: true,
};

const GENERATOR_OPTIONS: NamesOf<GeneratorSettings> = {
  stepsMax: true,
  effectsMax: true,
  timeMaxMs: true,
  repeatedShare: true,
  guarded: true,
};

/** A running deployment. */
export interface Embedded<N extends string = string> {
  readonly sites: readonly N[];
  /**
   * The binding of one site: for any number of clients in this process, each of which closes no more than its own part of
   * it, or to be hosted by a gateway. Whoever closes the binding itself ends what came through it, not the site; then
   * there is another one.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` when there is no such site.
   */
  site(name: N): Binding<RedBlueLevels, true>;
  /**
   * How often red operations of the site were rejected, and executed again, by what they met.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` when there is no such site.
   */
  rejections(name: N): Rejections;
  /**
   * How much the site remembers of updates that have ended, for whoever asks for them again, and acknowledges none.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` when there is no such site.
   */
  remembered(name: N): Remembered;
  /** Stops all sites. Reads under way fail with `UNAVAILABLE`, updates with `UNKNOWN`: they may have taken effect. */
  close(): Promise<void>;
}

const DEFAULT_ATTEMPTS = 10;
const DEFAULT_IN_FLIGHT = 100_000;
const TICK_MS = 250;
const DEFAULT_BACKLOG = 1_000_000;
const RESEND_AFTER_MS = 1000;
const DEFAULT_SITE_WAIT_MS = 5000;
const DEFAULT_CLOCK_SKEW_MS = 10_000;

/**
 * Runs all sites of a service in this process. With a `dataDir` what was answered survives the process; without one
 * state lives in memory and is gone with it. Arguments and results are copied, as over the wire: each side may do with
 * its own what it likes.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit, or how the data in the folder differs;
 * `UNAVAILABLE` when another process has the folder open, its data cannot be read, or a site has lost its past.
 * @example
 * const shop = createEmbedded(ticketService, { sites: ['irl', 'frk', 'vrg'], redLeader: 'irl', wan: 'paper' });
 * const client = createClient(shop.site('vrg'));
 * client.invoke(dequeue('tickets')).onUpdate(showGuess).onFinal(showTicket);
 */
export function createEmbedded<const N extends string>(service: Service, options: EmbeddedOptions<N>): Embedded<N> {
  const { embedded, begin } = openEmbedded(service, options);
  begin();
  return embedded;
}

/** A deployment that has taken up what it saved, and could begin. */
export interface OpenedEmbedded<N extends string = string> {
  /** Takes no operations yet. Closed before it begins, it leaves its folder for whatever that was for before. */
  readonly embedded: Embedded<N>;
  /** How many messages of other sites a site has not taken, by reason. */
  refusedMessages(site: N): RefusedMessages;
  /**
   * Writes down what the folder is for from now on, and starts all sites; closes them where that cannot be written.
   *
   * @throws CorrectableError `UNAVAILABLE` where there is no room for it, or another process has taken the folder over
   */
  begin(): void;
}

/**
 * Opens a deployment for whoever has more to make sure of before it begins.
 *
 * @throws CorrectableError as `createEmbedded`
 */
export function openEmbedded<const N extends string>(service: Service, options: EmbeddedOptions<N>): OpenedEmbedded<N> {
  checkEmbedded(service, options, { options: EMBEDDED_OPTIONS, generators: GENERATOR_OPTIONS });
  const { sites, wan = 'none', attemptsMax = DEFAULT_ATTEMPTS, inFlightMax = DEFAULT_IN_FLIGHT } = options;
  const origins = Origins.of(sites);
  const redLeader = leaderIn(origins, options.redLeader ?? sites[0]);
  const { siteWaitMs = DEFAULT_SITE_WAIT_MS, maxClockSkewMs = DEFAULT_CLOCK_SKEW_MS } = options;
  const onAlarm = guardedAlarm(options.onAlarm ?? warn);
  const timeouts = { reachTimeoutMs: siteWaitMs, sessionWaitMs: siteWaitMs, resendAfterMs: RESEND_AFTER_MS };
  const { backlogMax = DEFAULT_BACKLOG, dataDir, checkInvariants = areChecked(service) } = options;
  const drivers = new Map<Origin, SiteDriver>();
  const counters = new Map<Origin, RejectionCounter>();
  // Before the storage is opened: where delays are missing, nothing must stay locked.
  const links = linksBetween(origins, { wan, onAlarm }, (to, envelopes) => drivers.get(to)?.receive(envelopes));
  const storage = openStorage(dataDir, {
    service,
    sites,
    redLeader: origins.nameOf(redLeader),
    hasOwnKey: options.clusterKey !== undefined,
    onAlarm,
  });
  const clusterKey = options.clusterKey ?? storage.clusterKey ?? randomBytes(KEY_BYTES_MIN);
  const close = async (): Promise<void> => {
    for (const to of links.values()) for (const link of to.values()) link.close();
    for (const driver of drivers.values()) driver.close();
    await storage.close();
  };
  const deployment = deploymentName(clusterKey, service.contract.name);
  const makeDriver = (site: Origin, siteStorage: SiteStorage): SiteDriver => {
    const name = origins.nameOf(site);
    const outgoing = links.get(site);
    const send = (envelope: Envelope): void => outgoing?.get(envelope.to.site)?.send(envelope);
    const { redInFlightMax = Math.ceil(inFlightMax / 2) } = options;
    const limits = {
      attemptsMax,
      inFlightMax,
      redInFlightMax,
      backlogMax,
      maxClockSkewMs,
      tickMs: TICK_MS,
      ...timeouts,
    };
    const tokens = new SignedTokens({ key: clusterKey, sites, site });
    const invariants = checkInvariants ? invariantObserver(service, name, onAlarm) : {};
    const rejections = new RejectionCounter(site);
    counters.set(site, rejections);
    const observer = {
      ...clockObserver(origins, site, onAlarm),
      ...invariants,
      rejected: rejections.rejected,
    };
    const onThrown = generatorAlarm(name, onAlarm);
    const generators = { ...generatorOptions(options.generators ?? {}), onThrown };
    return new SiteDriver({
      service,
      deployment,
      site,
      origins,
      redLeader,
      storage: siteStorage,
      send,
      tokens,
      observer,
      onRefused: refusalAlarm(origins, site, onAlarm),
      generators,
      redHalted: redHaltedAlarm(name, onAlarm),
      // One clock for all sites of the process: one of them tells.
      clockSet: name === sites[0] ? clockSetAlarm(sites[0], onAlarm) : undefined,
      ...limits,
    });
  };
  try {
    for (const [place, site] of origins.sites.entries()) {
      const siteStorage = storage.sites[place] as SiteStorage;
      drivers.set(
        site,
        takenUp(origins.nameOf(site), () => makeDriver(site, siteStorage), onAlarm),
      );
    }
  } catch (error) {
    void close();
    throw error;
  }
  const begin = (): void => {
    try {
      storage.adopt();
    } catch (error) {
      void close();
      throw error;
    }
    for (const driver of drivers.values()) driver.start();
  };
  const siteOf = (name: string): Origin => origins.find(name) ?? noSite(name, sites);
  const bindings = new Map<string, SiteBinding>();
  const embedded: Embedded<N> = {
    sites,
    remembered: (name) => (drivers.get(siteOf(name)) as SiteDriver).remembered,
    rejections: (name) => (counters.get(siteOf(name)) as RejectionCounter).counts,
    site: (name) => {
      const driver = drivers.get(siteOf(name)) as SiteDriver;
      let binding = bindings.get(name);
      // The same one while it is open.
      if (binding === undefined || binding.isClosed) bindings.set(name, (binding = new SiteBinding(name, driver)));
      return binding;
    },
    close,
  };
  const refusedMessages = (site: N): RefusedMessages => (drivers.get(siteOf(site)) as SiteDriver).refusedMessages;
  return { embedded, begin, refusedMessages };
}

/** A site with what it has saved: that may not fit together, though its files passed all checks. */
function takenUp(site: string, make: () => SiteDriver, onAlarm: OnAlarm): SiteDriver {
  try {
    return make();
  } catch (error) {
    const refusal = unusable(`what ${site} has saved does not fit together (${(error as Error).message})`);
    onAlarm({ kind: 'data-damaged', site, message: refusal.message });
    throw refusal;
  }
}

function noSite(name: string, sites: readonly string[]): never {
  throw invalid('site', `'${name}' is not one of ${sites.join(', ')}`);
}

function generatorOptions({ guarded = false, ...limits }: GeneratorSettings): GeneratorOptions {
  return { limits, elapsedMs: () => performance.now(), guard: guarded ? guardedRun : undefined };
}

function leaderIn(origins: Origins, redLeader: string): Origin {
  const leader = origins.find(redLeader);
  if (leader === undefined) throw invalid('redLeader', `'${redLeader}' is not one of ${origins.names.join(', ')}`);
  return leader;
}

type Receive = (to: Origin, envelopes: readonly Envelope[]) => void;
/** By sender and receiver. */
type Links = ReadonlyMap<Origin, ReadonlyMap<Origin, Link<Envelope>>>;

function linksBetween(
  origins: Origins,
  { wan, onAlarm }: { readonly wan: Wan; readonly onAlarm: OnAlarm },
  receive: Receive,
): Links {
  const linkOf = (from: Origin, to: Origin): Link<Envelope> => {
    const [sender, receiver] = [origins.nameOf(from), origins.nameOf(to)];
    return new Link({
      delayMs: oneWayDelayMs(wan, sender, receiver),
      deliver: (envelopes) => receive(to, envelopes),
      onFull: fullLinkAlarm(sender, receiver, onAlarm),
    });
  };
  const linksOf = (from: Origin): ReadonlyMap<Origin, Link<Envelope>> =>
    new Map(origins.others(from).map((to) => [to, linkOf(from, to)]));
  return new Map(origins.sites.map((from) => [from, linksOf(from)]));
}
