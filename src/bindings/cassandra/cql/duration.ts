/**
 * Converts durations to text and back. A duration has separate months, days and nanoseconds,
 * because these have no fixed relation to each other.
 */
import { encodeSignedVint } from './integers.ts';

/** A duration. All of its parts have the same sign. */
export interface Duration {
  readonly months: bigint;
  readonly days: bigint;
  readonly nanoseconds: bigint;
}

type DurationPart = keyof Duration;

/** The units in the order of a text, the largest first. */
const UNITS: readonly (readonly [sign: string, part: DurationPart, size: bigint])[] = [
  ['y', 'months', 12n],
  ['mo', 'months', 1n],
  ['w', 'days', 7n],
  ['d', 'days', 1n],
  ['h', 'nanoseconds', 3_600_000_000_000n],
  ['m', 'nanoseconds', 60_000_000_000n],
  ['s', 'nanoseconds', 1_000_000_000n],
  ['ms', 'nanoseconds', 1_000_000n],
  ['us', 'nanoseconds', 1_000n],
  ['ns', 'nanoseconds', 1n],
];
const DURATION_PATTERN =
  /^(-?)(?:(\d+)y)?(?:(\d+)mo)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?(?:(\d+)[uµ]s)?(?:(\d+)ns)?$/i;
const PART_BITS: Readonly<Record<DurationPart, number>> = {
  months: 32,
  days: 32,
  nanoseconds: 64,
};

/** Returns the duration in the form of CQL, without weeks. */
export function formatDuration(duration: Duration): string {
  const isNegative = duration.months < 0n || duration.days < 0n || duration.nanoseconds < 0n;
  const remaining = { ...duration };
  let text = '';
  for (const [sign, part, size] of UNITS) {
    if (sign === 'w') continue;
    const count = (remaining[part] < 0n ? -remaining[part] : remaining[part]) / size;
    remaining[part] %= size;
    if (count > 0n) text += `${count}${sign}`;
  }
  return text === '' ? '0s' : `${isNegative ? '-' : ''}${text}`;
}

/** Returns whether all parts have the same sign. */
export function hasOneSign({ months, days, nanoseconds }: Duration): boolean {
  const parts = [months, days, nanoseconds];
  return parts.every((part) => part >= 0n) || parts.every((part) => part <= 0n);
}

/** Encodes the text of a duration. Returns `undefined` if it is none. */
export function encodeDuration(text: string): Buffer | undefined {
  const [whole, minus, ...counts] = DURATION_PATTERN.exec(text) ?? [];
  if (whole === undefined || counts.every((count) => count === undefined)) return undefined;
  const sum = { months: 0n, days: 0n, nanoseconds: 0n };
  for (const [at, [, part, size]] of UNITS.entries()) sum[part] += BigInt(counts[at] ?? 0) * size;
  const signed = (part: DurationPart): bigint => (minus === '-' ? -sum[part] : sum[part]);
  const parts = (['months', 'days', 'nanoseconds'] as const).map(
    (part) => [part, signed(part)] as const,
  );
  if (parts.some(([part, value]) => BigInt.asIntN(PART_BITS[part], value) !== value))
    return undefined;
  return Buffer.concat(parts.map(([, value]) => encodeSignedVint(value)));
}
