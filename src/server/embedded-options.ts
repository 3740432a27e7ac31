/** The options of a deployment in one process. */
import type { OptionNamesOf } from '../correctable/validate.ts';
import type { SiteAlarm } from './alarms/site-alarm.ts';
import type { GeneratorLimits } from './generator/generator-budget.ts';
import type { SiteLatency } from './site/site-latency.ts';

/** How to set up an embedded deployment. */
export interface EmbeddedOptions<N extends string = string> {
  /** Names of the sites. */
  readonly sites: readonly [N, ...N[]];
  /** The site that sequences the red log: the first one unless given. A red update pays a round trip to it. */
  readonly redLeader?: NoInfer<N>;
  /** Delays between the sites: `none` unless given. */
  readonly latency?: SiteLatency;
  /**
   * Times that a red update is executed, when other sites keep changing what it reads, before `CONFLICT`. Default 10. What
   * takes of a `bounded` field is executed again for `siteTimeoutMs` after its first rejection, however often.
   */
  readonly maxAttempts?: number;
  /** Operations in flight at one site, at most; more fail with `OVERLOADED`. Default 100 000. */
  readonly maxInFlight?: number;
  /**
   * Red updates and strong reads in flight at one site, at most, of those: while the red leader is away, what waits for
   * it leaves room for the others. More fail with `OVERLOADED`. Default: half of `maxInFlight`.
   */
  readonly maxRedInFlight?: number;
  /**
   * How long an operation waits for what its session has seen at another site, and for an answer about an operation that
   * was sent to another site first, in milliseconds. Then it fails, with `REPLICA_BEHIND` or `UNKNOWN`. As long it waits
   * for rights that other sites hold, and then is `UNAVAILABLE`. Default 5000.
   */
  readonly siteTimeoutMs?: number;
  /**
   * How far the clock of a site may be ahead of another's, in milliseconds. What a site writes while its clock is
   * further ahead is refused until that is set right, and `onAlarm` is told. Sites of one process share its clock: there
   * `onAlarm` is told when it is set by more than this, and nothing waits. Default 10 000.
   */
  readonly maxClockSkewMs?: number;
  /**
   * The directory that keeps logs and checkpoints, made if there is none: what was answered is on the disk then. Without
   * it the deployment is ephemeral: state lives in memory and is gone with the process.
   */
  readonly dataDir?: string | undefined;
  /**
   * Entries of its log that a site keeps while another site lacks some of them, at most. A site that is away for longer
   * makes the others refuse updates with `OVERLOADED` until it is back. Default 1 000 000.
   */
  readonly maxBacklogEntries?: number;
  /**
   * Authenticates session tokens: the same at all sites, and after a restart. Default: the one in the data directory, or a
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
   * `invariant-broken`. It takes one reading of the row an effect and invariant, a twentieth of the time at most for
   * all `snapshotInvariants`, and nothing of a service that declares none. Default: unless `NODE_ENV` is `production`.
   * What is broken stays so: `simulateService` in `correctables/testing` finds it before anybody else does.
   */
  readonly checkInvariants?: boolean;
  /**
   * Looks for half a second, before it starts, for what two sites can break, and refuses a service in which a shadow
   * operation has a color that it must not have, with the story. What else it finds is reported to `onAlarm`, as
   * `color-check-failed`. Default: with a `dataDir`, unless `NODE_ENV` is `production`.
   */
  readonly checkColors?: boolean;
  /** What a generator may take before its operation fails, and how it is checked. */
  readonly generators?: GeneratorSettings;
}

/** Bounds of generators: `maxSteps` (100 000), `maxEffects` (10 000), `timeoutMs` (1000), `determinismCheckRate` (0.01). */
export interface GeneratorSettings extends Partial<GeneratorLimits> {
  /**
   * Stops generators that neither return nor read, at the price of 0.1 ms a run. Without it, such a one stops the
   * process. Default false.
   */
  readonly killOnTimeout?: boolean;
}

/** All options of `createEmbedded`. */
export const EMBEDDED_OPTIONS: OptionNamesOf<EmbeddedOptions> = {
  sites: true,
  redLeader: true,
  latency: true,
  maxAttempts: true,
  maxInFlight: true,
  maxRedInFlight: true,
  siteTimeoutMs: true,
  maxClockSkewMs: true,
  dataDir: true,
  maxBacklogEntries: true,
  clusterKey: true,
  onAlarm: true,
  checkInvariants: true,
  checkColors: true,
  generators: true,
};

/** All bounds of generators. */
export const GENERATOR_OPTIONS: OptionNamesOf<GeneratorSettings> = {
  maxSteps: true,
  maxEffects: true,
  timeoutMs: true,
  determinismCheckRate: true,
  killOnTimeout: true,
};
