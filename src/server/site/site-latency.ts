/** Wide-area delays between sites: presets and checks. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/validate.ts';

/**
 * How far apart sites are: `none`, the delays of the Correctables paper (`paper`, for sites named ireland, frankfurt
 * and virginia), or
 * round trips in milliseconds by pair, as `{ 'ireland-frankfurt': 20 }`, each once and from either end.
 */
export type SiteLatency = 'none' | 'paper' | Readonly<Record<string, number>>;

/** Round trips between Ireland, Frankfurt and Virginia in milliseconds (Correctables, OSDI 2016, §6). */
export const EU_US_ROUND_TRIPS_MS: Readonly<Record<string, number>> = {
  'ireland-frankfurt': 20,
  'ireland-virginia': 83,
  'frankfurt-virginia': 90,
};

/**
 * The time that a message takes from one site to another, in milliseconds: half the round trip.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when the round trip of the pair is not given or is no duration.
 * @example
 * getOneWayDelayMs('paper', 'ireland', 'frankfurt'); // 10
 */
export function getOneWayDelayMs(wan: SiteLatency, from: string, to: string): number {
  const isWan = wan === 'none' || wan === 'paper' || isRecord(wan);
  check(
    isWan,
    'wan',
    "must be 'none', 'paper' or round trips, as oneWayDelayMs({ 'ireland-frankfurt': 20 }, 'ireland', 'frankfurt')",
  );
  if (wan === 'none') return 0;
  const roundTrips = wan === 'paper' ? EU_US_ROUND_TRIPS_MS : wan;
  const roundTripMs = roundTrips[`${from}-${to}`] ?? roundTrips[`${to}-${from}`];
  if (roundTripMs !== undefined && Number.isFinite(roundTripMs) && roundTripMs >= 0) return roundTripMs / 2;
  const pair = `${from}-${to}`;
  const field = `wan.${pair}`;
  const message = `${field} ${describeRoundTripError(wan, roundTripMs)}: give one for each pair, as { '${pair}': 20 }.`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field });
}

function describeRoundTripError(wan: SiteLatency, roundTripMs: unknown): string {
  if (wan === 'paper') return "is not in 'paper', which has the round trips between ireland, frankfurt and virginia";
  if (roundTripMs === undefined) return 'is missing, a round trip in milliseconds';
  const value = typeof roundTripMs === 'string' ? `'${roundTripMs}'` : String(roundTripMs);
  return `must be a round trip in milliseconds, not ${value}`;
}
