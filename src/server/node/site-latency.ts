/** Wide-area delays between sites: presets and checks. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/validate.ts';

/**
 * Delays between sites. `none`: no delay. `eu-us`: those of the Correctables paper, for sites
 * ireland, frankfurt, virginia. Otherwise round trips in milliseconds, as `{ 'ireland-frankfurt':
 * 20 }`: each pair once, in either order.
 */
export type SiteLatency = 'none' | 'eu-us' | Readonly<Record<string, number>>;

/**
 * Round trips between Ireland, Frankfurt and Virginia in milliseconds (Correctables, OSDI 2016,
 * §6).
 */
export const EU_US_ROUND_TRIPS_MS: Readonly<Record<string, number>> = {
  'ireland-frankfurt': 20,
  'ireland-virginia': 83,
  'frankfurt-virginia': 90,
};

/**
 * Returns the time that a message takes from one site to another, in milliseconds: half the round
 * trip.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the round trip of the pair is missing or is no
 * duration.
 * @example
 * getOneWayDelayMs('eu-us', 'ireland', 'frankfurt'); // 10
 */
export function getOneWayDelayMs(latency: SiteLatency, from: string, to: string): number {
  const isLatency = latency === 'none' || latency === 'eu-us' || isRecord(latency);
  check(
    isLatency,
    'latency',
    "must be 'none', 'eu-us' or round trips, as getOneWayDelayMs({ 'ireland-frankfurt': 20 }, 'ireland', 'frankfurt')",
  );
  if (latency === 'none') return 0;
  const roundTrips = latency === 'eu-us' ? EU_US_ROUND_TRIPS_MS : latency;
  const roundTripMs = roundTrips[`${from}-${to}`] ?? roundTrips[`${to}-${from}`];
  if (roundTripMs !== undefined && Number.isFinite(roundTripMs) && roundTripMs >= 0)
    return roundTripMs / 2;
  const pair = `${from}-${to}`;
  const field = `latency.${pair}`;
  const message = `${field} ${describeRoundTripError(latency, roundTripMs)}: give one for each pair, as { '${pair}': 20 }.`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field });
}

function describeRoundTripError(latency: SiteLatency, roundTripMs: unknown): string {
  if (latency === 'eu-us')
    return "is not in 'eu-us', which has the round trips between ireland, frankfurt and virginia";
  if (roundTripMs === undefined) return 'is missing, a round trip in milliseconds';
  const value = typeof roundTripMs === 'string' ? `'${roundTripMs}'` : String(roundTripMs);
  return `must be a round trip in milliseconds, not ${value}`;
}
