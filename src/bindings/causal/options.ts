/** Options of a causal store in this process, and their checks. */
import { getWallOffsetMs, systemClock, type Clock } from '../../correctable/clock.ts';
import { check } from '../../correctable/errors.ts';
import {
  checkOptionNames,
  checkRecord,
  isClock,
  isNonEmptyString,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { checkDuration } from '../shared/check-number.ts';

/**
 * Round trips between sites in milliseconds, as `{ 'dublin-oregon': 130 }`: each pair once, in
 * either order.
 */
export type RoundTrips = Readonly<Record<string, number>>;

export interface CausalStoreOptions<N extends string = string> {
  /** Names of the sites. */
  readonly sites: readonly [N, ...N[]];
  /** Into how many parts the keys of each site are divided. Default: 8 */
  readonly partitions?: number | undefined;
  /** Delays between the sites. Default: none */
  readonly latency?: RoundTrips | undefined;
  /**
   * How long a session that comes from another site waits for its writes, in milliseconds, before
   * `REPLICA_BEHIND`. Default: 5000
   */
  readonly siteTimeoutMs?: number | undefined;
  /** Measures the delays, and gives the time of writes. Default: the clock of the process */
  readonly clock?: Clock | undefined;
}

export interface ResolvedOptions {
  readonly sites: readonly string[];
  readonly partitionCount: number;
  readonly siteTimeoutMs: number;
  readonly clock: Clock;
  /**
   * When the clock was at 0, in milliseconds since the epoch. Stamps go by the clock, which never
   * goes back: writes must not stop because the clock of the machine is set.
   */
  readonly epochMs: number;
  /** How long a message takes from one site to another, by their places. */
  readonly delaysMs: readonly (readonly number[])[];
}

const CALL = "createCausalStore({ sites: ['dublin', 'oregon'] })";
const DEFAULT_PARTITIONS = 8;
const DEFAULT_SITE_TIMEOUT_MS = 5_000;

const OPTIONS: OptionNamesOf<CausalStoreOptions> = {
  sites: true,
  partitions: true,
  latency: true,
  siteTimeoutMs: true,
  clock: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function resolveOptions(options: CausalStoreOptions): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const { sites, partitions = DEFAULT_PARTITIONS, clock = systemClock } = options;
  checkSites(sites);
  const isCount = Number.isInteger(partitions) && partitions >= 1;
  check(isCount, 'partitions', `must be an integer from 1 on, got ${String(partitions)}.`);
  check(isClock(clock), 'clock', 'must have now and setTimer, as virtualClock() has.');
  return {
    sites: [...sites],
    partitionCount: partitions,
    siteTimeoutMs: checkDuration('siteTimeoutMs', options.siteTimeoutMs ?? DEFAULT_SITE_TIMEOUT_MS),
    clock,
    epochMs: getWallOffsetMs(clock),
    delaysMs: computeDelays(sites, options.latency),
  };
}

function checkSites(sites: readonly string[]): void {
  const areNames = Array.isArray(sites) && sites.length > 0 && sites.every(isNonEmptyString);
  check(areNames, 'sites', "must be a list of names, as ['dublin', 'oregon'].");
  const areDistinct = new Set(sites).size === sites.length;
  check(areDistinct, 'sites', `must not name a site twice: ${sites.join(', ')}.`);
}

function computeDelays(
  sites: readonly string[],
  latency: RoundTrips | undefined,
): readonly (readonly number[])[] {
  if (latency === undefined) return sites.map(() => sites.map(() => 0));
  checkRecord(latency, { call: "{ latency: { 'dublin-oregon': 130 } }", field: 'latency' });
  checkPairs(sites, latency);
  return sites.map((from) => sites.map((to) => (from === to ? 0 : getDelayMs(latency, from, to))));
}

/** A pair that no site belongs to is a misspelling, and would count as no delay. */
function checkPairs(sites: readonly string[], latency: RoundTrips): void {
  const pairs = new Set(sites.flatMap((a) => sites.flatMap((b) => (a === b ? [] : `${a}-${b}`))));
  for (const pair of Object.keys(latency)) {
    const advice = `names no pair of the sites ${sites.join(', ')}.`;
    check(pairs.has(pair), `latency.${pair}`, advice);
  }
}

function getDelayMs(latency: RoundTrips, from: string, to: string): number {
  const [pair, reverse] = [`${from}-${to}`, `${to}-${from}`];
  const roundTripMs = latency[pair] ?? latency[reverse];
  check(roundTripMs !== undefined, `latency.${pair}`, 'is missing, a round trip in milliseconds.');
  return checkDuration(`latency.${pair}`, roundTripMs) / 2;
}
