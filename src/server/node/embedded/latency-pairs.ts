/** Checks the round trips between sites that the option `latency` lists. */
import { check } from '../../../correctable/errors.ts';
import type { SiteLatency } from '../site-latency.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` naming a pair that is unclear */
export function checkLatencyPairs(latency: SiteLatency, sites: readonly string[]): void {
  if (typeof latency === 'string') return;
  const pairs = sites.flatMap((item, at) =>
    sites.slice(at + 1).map((other) => [item, other] as const),
  );
  for (const text of Object.keys(latency))
    if (latency[text] !== undefined) checkPair(text, latency, pairs);
}

/**
 * Names of sites may contain dashes, so a key of `latency` may name two pairs. A key that names no
 * known pair names unknown sites, and is ignored.
 */
function checkPair(
  text: string,
  latency: Readonly<Record<string, unknown>>,
  pairs: readonly (readonly [string, string])[],
): void {
  const [pair, another] = pairs.filter((item) => getPairNames(item).includes(text));
  if (pair === undefined) return;
  const both = `${pair.join(' and ')} as well as ${another?.join(' and ')}`;
  const advice = 'give each from its other end, or name the sites otherwise';
  check(another === undefined, `latency.${text}`, `names ${both}: ${advice}`);
  const reverse = getPairNames(pair).find((item) => item !== text);
  const isOnce = reverse === undefined || latency[reverse] === undefined;
  check(isOnce, `latency.${text}`, `is set as ${reverse} too: set it once`);
}

/** Returns both names of a pair, from either end. */
function getPairNames([item, other]: readonly [string, string]): readonly [string, string] {
  return [`${item}-${other}`, `${other}-${item}`];
}
