// Imported, because the global is looked up again at each call.
import { performance } from 'node:perf_hooks';
import { CorrectableError } from '../../correctable/errors.ts';
import { createSiteAlarms, type OnAlarm } from './alarms/site-alarm.ts';
import type { GeneratorLimits } from '../service/generator/generator-budget.ts';
import type { ResolvedSiteOptions } from './embedded/embedded-options.ts';
import type { NodePolicy } from './node-policy.ts';
import type { GeneratorOptions } from '../service/generator/generator-runner.ts';
import type { SiteStorage } from '../log/site-storage.ts';
import type { Envelope } from '../site/wire/envelope.ts';
import { NeedsNewerVersionError } from '../service/records/failures.ts';
import type { Origin, Origins } from '../service/records/origin.ts';
import { findStoredProblem } from '../site/parts/activation.ts';
import type { Partitions } from '../service/partitions.ts';
import type { Service } from '../service/service.ts';
import { NO_PARTITION } from '../service/tables.ts';
import { hashDeploymentName } from './cluster/deployment-name.ts';
import { hasInvariants, createInvariantObserver } from './alarms/invariant-alarm.ts';
import { CertificationCounter } from './certification-stats.ts';
import { createPartitionAlarms, createVoterAlarm } from './alarms/partition-alarms.ts';
import { PartitionStats } from './partition-stats.ts';
import {
  createClockObserver,
  createGeneratorAlarm,
  createRejectionAlarm,
} from './alarms/replica-alarms.ts';
import { DivergenceAlarm } from './alarms/divergence-alarm.ts';
import { createMemoryAlarm } from './alarms/memory-alarm.ts';
import type { SiteMemoryLimit } from './memory/needed-memory.ts';
import { SignedTokens } from '../../bindings/shared/signed-tokens.ts';
import { SiteDriver, type SiteDriverOptions } from './site-driver.ts';
import { unusableDirectoryError } from './storage/directory/missing-history.ts';

type LimitName =
  | 'maxAttempts'
  | 'maxInFlight'
  | 'maxRedInFlight'
  | 'maxBacklogEntries'
  | 'maxMemoryBytes'
  | 'cacheBytes'
  | 'maxClockSkewMs'
  | 'reachTimeoutMs'
  | 'sessionTimeoutMs'
  | 'resendAfterMs'
  | 'tickIntervalMs';

const TICK_INTERVAL_MS = 250;
const RESEND_AFTER_MS = 1000;

/** What all sites of a deployment have in common. */
export interface SitePlan {
  readonly service: Service;
  readonly origins: Origins;
  readonly redLeader: Origin;
  /** How many entries of the red log a majority of the sites had at the start. */
  readonly committedRedEntries: number;
  /** Default: one red log orders all rows */
  readonly partitions?: Partitions | undefined;
  /** How the red log of `main` begins, if it lacks confirmed records. */
  readonly redOpening?: SiteDriverOptions['redOpening'];
  /** The red logs of the partitions beside `main`. Default: none */
  readonly redLogs?: SiteDriverOptions['redLogs'];
  /**
   * The same at all sites. It authenticates session tokens, and identifies the messages of the
   * deployment.
   */
  readonly clusterKey: string | Uint8Array;
  /** The scope in which session tokens are valid: see `SignedTokensOptions`. */
  readonly tokenScope: string | readonly string[];
  readonly limits: Pick<SiteDriverOptions, LimitName>;
  readonly generators: Partial<GeneratorLimits>;
  readonly checkInvariants: boolean;
  readonly onAlarm: OnAlarm;
}

/** The resources that a process gives to its site, and callbacks to the process. */
export interface SiteResources extends Pick<
  SiteDriverOptions,
  'redLog' | 'request' | 'onMembership' | 'onEnded'
> {
  readonly storage: SiteStorage;
  /** Another node of this site has gone on. Called before the alarm. */
  onForked?(problem: string): void;
  send(envelope: Envelope): void;
}

/** A site that has loaded what it saved. Its driver is started by the process that created it. */
export interface RunningSite {
  readonly driver: SiteDriver;
  readonly certificationStats: CertificationCounter;
  readonly divergence: DivergenceAlarm;
  /** `undefined` if there is one red log only. */
  readonly partitionStats: PartitionStats | undefined;
}

/** Returns the part of the plan that follows from the options. */
export function createSitePlan(
  service: Service,
  options: ResolvedSiteOptions,
  { maxBytes: maxMemoryBytes, cacheBytes }: SiteMemoryLimit,
): Pick<SitePlan, 'service' | 'limits' | 'generators' | 'checkInvariants'> {
  const { maxAttempts, maxInFlight, maxBacklogEntries, maxClockSkewMs } = options;

  return {
    service,
    limits: {
      maxAttempts,
      maxInFlight,
      maxRedInFlight: options.maxRedInFlight ?? Math.ceil(maxInFlight / 2),
      maxBacklogEntries,
      maxMemoryBytes,
      cacheBytes,
      maxClockSkewMs,
      reachTimeoutMs: options.siteTimeoutMs,
      sessionTimeoutMs: options.siteTimeoutMs,
      resendAfterMs: RESEND_AFTER_MS,
      tickIntervalMs: TICK_INTERVAL_MS,
    },
    generators: options.generators ?? {},
    checkInvariants: options.checkInvariants ?? hasInvariants(service),
  };
}

/**
 * Creates a site from what it has saved. Throws `UNAVAILABLE` if that does not fit together or is
 * of a newer version.
 */
export function createRunningSite(
  plan: SitePlan,
  site: Origin,
  { reportsClock, ...policy }: NodePolicy,
  { onForked, ...resources }: SiteResources,
): RunningSite {
  const { service, origins, partitions, clusterKey, tokenScope, onAlarm } = plan;
  const name = origins.getName(site);
  const certificationStats = new CertificationCounter(site);
  const partitionStats = createPartitionStats(plan, site);
  const divergence = new DivergenceAlarm(name, origins, onAlarm);
  const observers = { certificationStats, partitionStats, divergence };
  const alarms = createSiteAlarms(name, origins, onAlarm);
  const noteMembers = createMemberObserver(plan, name);
  try {
    const { stored } = resources.storage;
    const problem = findStoredProblem(stored, service.tables, policy.version?.own);
    if (problem !== undefined) throw new NeedsNewerVersionError(problem);
    const driver = new SiteDriver({
      service,
      deployment: hashDeploymentName(clusterKey, service.contract.name),
      site,
      origins,
      redLeader: plan.redLeader,
      committedRedEntries: plan.committedRedEntries,
      partitions: canLeaveMain(partitions, service) ? partitions : undefined,
      redOpening: plan.redOpening,
      redLogs: plan.redLogs,
      tokens: new SignedTokens({ key: clusterKey, scope: tokenScope, site }),
      generators: toGeneratorOptions(plan, name),
      observer: createObserver(plan, site, observers),
      onMessageRejected: createRejectionAlarm(origins, site, onAlarm),
      ...alarms,
      onClockSet: reportsClock ? alarms.onClockSet : undefined,
      onForked: (problem, peer) => {
        if (peer === undefined) onForked?.(problem);
        alarms.onForked(problem, peer);
      },
      ...plan.limits,
      ...policy,
      ...resources,
      onMembership: (output) => {
        if (output.kind === 'members') noteMembers();
        resources.onMembership?.(output);
      },
    });
    noteMembers();
    return { driver, ...observers };
  } catch (error) {
    if (error instanceof NeedsNewerVersionError) {
      alarms.onOutdated(error.message);
      throw createOutdatedError(name, error);
    }
    const rejection = unusableDirectoryError(
      `what ${name} has saved does not fit together (${(error as Error).message})`,
    );
    onAlarm({ kind: 'data-damaged', site: name, message: rejection.message });
    throw rejection;
  }
}

function createOutdatedError(site: string, { message: reason }: Error): CorrectableError {
  const advice = 'Start it with the version that all sites have run';
  const message = `Site ${site} cannot start: ${reason}. Nothing was changed. ${advice}.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'service' });
}

/** Whether a red operation may have rows that its home does not order. */
function canLeaveMain(partitions: Partitions | undefined, { tables }: Service): boolean {
  const hasUnordered = Object.values(tables).some(({ partition }) => partition === NO_PARTITION);
  return hasUnordered || (partitions?.count ?? 1) > 1;
}

function createPartitionStats({ partitions }: SitePlan, site: Origin): PartitionStats | undefined {
  if (partitions === undefined || partitions.count === 1) return undefined;
  return new PartitionStats(site, partitions.names);
}

/** Returns a function that looks at the members, after each change of them. */
function createMemberObserver(
  { origins, partitions, redLogs = [], onAlarm }: SitePlan,
  name: string,
): () => void {
  const logs = redLogs.map(({ voters }, index) => ({
    name: partitions?.names[index + 1] ?? '',
    voters,
  }));
  const note = createVoterAlarm(name, logs, onAlarm);
  return () => note(origins.members.map((member) => origins.getName(member)));
}

/** Creates the observer of a site, which raises alarms for operators. */
function createObserver(
  { service, origins, checkInvariants, onAlarm, partitions }: SitePlan,
  site: Origin,
  { certificationStats, partitionStats, divergence }: Omit<RunningSite, 'driver'>,
): SiteDriverOptions['observer'] {
  const name = origins.getName(site);
  return {
    ...createClockObserver(origins, site, onAlarm),
    onMemoryLevel: createMemoryAlarm(name, onAlarm),
    onRowsCompared: divergence.onRowsCompared,
    ...(checkInvariants ? createInvariantObserver(service, name, onAlarm) : {}),
    ...(partitions !== undefined &&
      partitions.count > 1 &&
      createPartitionAlarms(name, partitions, onAlarm)),
    onRejected: certificationStats.onRejected,
    ...(partitionStats !== undefined && {
      onRejected: (operation, conflict) => {
        certificationStats.onRejected(operation, conflict);
        partitionStats.onRejected(operation, conflict);
      },
      onRedDelivered: partitionStats.onRedDelivered,
      onRedPassed: partitionStats.onRedPassed,
    }),
  };
}

function toGeneratorOptions({ generators, onAlarm }: SitePlan, name: string): GeneratorOptions {
  return {
    limits: generators,
    elapsedMs: () => performance.now(),
    onGeneratorError: createGeneratorAlarm(name, onAlarm),
  };
}
