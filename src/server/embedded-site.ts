/** One site of a deployment in this process: its driver, with what it is told and what it tells of. */
// Imported: what is global is looked up anew at each call.
import { performance } from 'node:perf_hooks';
import { clockSetAlarm, redHaltedAlarm, type OnAlarm } from './alarms/site-alarm.ts';
import type { EmbeddedOptions, GeneratorSettings } from './embedded-options.ts';
import type { GeneratorOptions } from './generator/generator-run.ts';
import type { SiteStorage } from './log/storage.ts';
import type { Envelope } from './messages/envelope.ts';
import type { Origin, Origins } from './records/origin.ts';
import type { Service } from './service/service.ts';
import { deploymentName } from './site/deployment-name.ts';
import { guardedRun } from './site/generator-guard.ts';
import { areChecked, invariantObserver } from './site/invariant-alarm.ts';
import { RejectionCounter } from './site/rejections.ts';
import { clockObserver, generatorAlarm, refusalAlarm } from './site/replica-alarms.ts';
import { SignedTokens } from './site/session-tokens.ts';
import { SiteDriver, type SiteDriverOptions } from './site/site-driver.ts';
import { unusable } from './storage/folder/lost-past.ts';

const DEFAULT_ATTEMPTS = 10;
const DEFAULT_IN_FLIGHT = 100_000;
const DEFAULT_BACKLOG = 1_000_000;
const DEFAULT_SITE_WAIT_MS = 5000;
const DEFAULT_CLOCK_SKEW_MS = 10_000;
const TICK_MS = 250;
const RESEND_AFTER_MS = 1000;

type LimitName =
  | 'attemptsMax'
  | 'inFlightMax'
  | 'redInFlightMax'
  | 'backlogMax'
  | 'maxClockSkewMs'
  | 'reachTimeoutMs'
  | 'sessionWaitMs'
  | 'resendAfterMs'
  | 'tickMs';

/** What all sites of a deployment have in common. */
export interface SitePlan {
  readonly service: Service;
  readonly origins: Origins;
  readonly redLeader: Origin;
  /** So many entries of the red log a majority of them has found at its start. */
  readonly redCommitted: number;
  /** The same at all sites: authenticates their tokens, and tells their messages from those of others. */
  readonly clusterKey: string | Uint8Array;
  readonly limits: Pick<SiteDriverOptions, LimitName>;
  readonly generators: GeneratorSettings;
  readonly checkInvariants: boolean;
  readonly onAlarm: OnAlarm;
}

/** What is a site's own. */
interface SiteParts {
  readonly storage: SiteStorage;
  send(envelope: Envelope): void;
}

/** A site that has taken up what it has saved. */
export interface EmbeddedSite {
  readonly driver: SiteDriver;
  readonly rejections: RejectionCounter;
}

/** What of the plan the options say, with what holds unless they do. */
export function planOf(
  service: Service,
  options: EmbeddedOptions,
): Pick<SitePlan, 'service' | 'limits' | 'generators' | 'checkInvariants'> {
  const { inFlightMax = DEFAULT_IN_FLIGHT, siteWaitMs = DEFAULT_SITE_WAIT_MS } = options;
  const limits = {
    attemptsMax: options.attemptsMax ?? DEFAULT_ATTEMPTS,
    inFlightMax,
    redInFlightMax: options.redInFlightMax ?? Math.ceil(inFlightMax / 2),
    backlogMax: options.backlogMax ?? DEFAULT_BACKLOG,
    maxClockSkewMs: options.maxClockSkewMs ?? DEFAULT_CLOCK_SKEW_MS,
    reachTimeoutMs: siteWaitMs,
    sessionWaitMs: siteWaitMs,
    resendAfterMs: RESEND_AFTER_MS,
    tickMs: TICK_MS,
  };
  return {
    service,
    limits,
    generators: options.generators ?? {},
    checkInvariants: options.checkInvariants ?? areChecked(service),
  };
}

/**
 * Makes a site of what it has saved.
 *
 * @throws CorrectableError `UNAVAILABLE` where that does not fit together, though its files passed all checks
 */
export function makeSite(plan: SitePlan, site: Origin, parts: SiteParts): EmbeddedSite {
  const { service, origins, redLeader, redCommitted, clusterKey, limits, onAlarm } = plan;
  const name = origins.nameOf(site);
  const rejections = new RejectionCounter(site);
  try {
    const driver = new SiteDriver({
      service,
      deployment: deploymentName(clusterKey, service.contract.name),
      site,
      origins,
      redLeader,
      redCommitted,
      tokens: new SignedTokens({ key: clusterKey, sites: origins.names, site }),
      generators: generatorOptions(plan, name),
      observer: observerOf(plan, site, rejections),
      onRefused: refusalAlarm(origins, site, onAlarm),
      redHalted: redHaltedAlarm(name, onAlarm),
      // One clock for all sites of the process: one of them tells.
      clockSet: site === origins.sites[0] ? clockSetAlarm(name, onAlarm) : undefined,
      ...limits,
      ...parts,
    });
    return { driver, rejections };
  } catch (error) {
    const refusal = unusable(`what ${name} has saved does not fit together (${(error as Error).message})`);
    onAlarm({ kind: 'data-damaged', site: name, message: refusal.message });
    throw refusal;
  }
}

/** Who watches a site, on behalf of operators. */
function observerOf(
  { service, origins, checkInvariants, onAlarm }: SitePlan,
  site: Origin,
  rejections: RejectionCounter,
): SiteDriverOptions['observer'] {
  return {
    ...clockObserver(origins, site, onAlarm),
    ...(checkInvariants ? invariantObserver(service, origins.nameOf(site), onAlarm) : {}),
    rejected: rejections.rejected,
  };
}

function generatorOptions({ generators, onAlarm }: SitePlan, name: string): GeneratorOptions {
  const { guarded = false, ...limits } = generators;
  return {
    limits,
    elapsedMs: () => performance.now(),
    guard: guarded ? guardedRun : undefined,
    onThrown: generatorAlarm(name, onAlarm),
  };
}
