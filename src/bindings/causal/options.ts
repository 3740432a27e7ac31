/** Options of a causal store in this process, and their checks. */
import { getWallOffsetMs, systemClock, type Clock } from '../../correctable/clock.ts';
import { check } from '../../correctable/errors.ts';
import {
  amount,
  distinctNames,
  integer,
  matches,
  optional,
  readOptions,
  required,
  type OptionsOf,
  timeSource,
} from '../../correctable/options.ts';
import { isRecord } from '../../correctable/validate.ts';
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
   * How long an operation waits, in milliseconds, until its site has what its session has seen at
   * another site. Then it fails with `REPLICA_BEHIND`. Default: 5000
   */
  readonly siteTimeoutMs?: number | undefined;
  /** The clock for the delays and for the times of writes. Default: the clock of the process */
  readonly clock?: Clock | undefined;
}

export interface ResolvedOptions {
  readonly sites: readonly string[];
  readonly partitionCount: number;
  readonly siteTimeoutMs: number;
  readonly clock: Clock;
  /**
   * When the clock was at 0, in milliseconds since the epoch. Stamps are computed from `clock`,
   * which never goes back. So writes go on if the machine's clock is set.
   */
  readonly epochMs: number;
  /** How long a message takes between two sites, by their indices. */
  readonly delaysMs: readonly (readonly number[])[];
}

const CALL = "createCausalStore({ sites: ['dublin', 'oregon'] })";

export const CAUSAL_STORE_OPTIONS = {
  sites: required(distinctNames("['dublin', 'oregon']")),
  partitions: optional(integer(), 8),
  latency: optional(matches(isRecord, "write { latency: { 'dublin-oregon': 130 } }")),
  siteTimeoutMs: optional(amount({}), 5_000),
  clock: optional<Clock>(timeSource, systemClock),
} satisfies OptionsOf<CausalStoreOptions>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function resolveOptions(options: CausalStoreOptions): ResolvedOptions {
  const resolved = readOptions(options, { call: CALL }, CAUSAL_STORE_OPTIONS);
  const { sites, partitions, siteTimeoutMs, clock, latency } = resolved;
  return {
    sites: [...sites],
    partitionCount: partitions,
    siteTimeoutMs,
    clock,
    epochMs: getWallOffsetMs(clock),
    delaysMs: computeDelays(sites, latency),
  };
}

function computeDelays(
  sites: readonly string[],
  latency: RoundTrips | undefined,
): readonly (readonly number[])[] {
  if (latency === undefined) return sites.map(() => sites.map(() => 0));
  checkPairs(sites, latency);
  return sites.map((from) => sites.map((to) => (from === to ? 0 : getDelayMs(latency, from, to))));
}

/**
 * Rejects a pair that names an unknown site. It is a misspelling, and would silently mean no delay.
 */
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
