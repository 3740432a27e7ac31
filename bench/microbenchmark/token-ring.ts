/**
 * Simulates the baseline of red operations, the paper's own red order: a token that circulates
 * among the sites and stays at each for up to a second (RedBlue, OSDI 2012, §6). A red operation
 * waits until its site has the token. Nothing here is measured: sites, users and the token are
 * numbers in virtual time.
 */
import { nearestSite, roundTripMs, SITES, type Site } from '../../research/case-studies/sites.ts';

const HOLD_MS = 1000;

export interface TokenRing {
  readonly sites: number;
  /** The time that a site takes for one operation. It executes them one after the other. */
  readonly serviceMs: number;
  /** How many operations the users of a place have in flight at a time. */
  readonly window: number;
  readonly places: readonly Site[];
  /** How long users wait after an answer. */
  readonly thinkMs: number;
  /** The duration in virtual time. */
  readonly durationMs: number;
}

/** A red operation that has ended. */
export interface Waited {
  readonly place: Site;
  readonly ms: number;
}

/**
 * Returns the latency of each red operation. Sites affect each other only by the token, so each
 * site is simulated separately.
 */
export function simulateTokenRing(ring: TokenRing): readonly Waited[] {
  const sites = SITES.slice(0, ring.sites);
  return sites.flatMap((site) => simulateSite(site, sites, ring));
}

function simulateSite(site: Site, sites: readonly Site[], ring: TokenRing): readonly Waited[] {
  const { serviceMs, window, thinkMs, durationMs } = ring;
  const heldFrom = turnsOf(site, sites);
  // For each place, the times at which its operations arrive at the site. They are in order,
  // because all have the same delay.
  const queues = ring.places
    .filter((place) => nearestSite(place, sites.length) === site)
    .map((place) => {
      const awayMs = roundTripMs(place, site);
      return { place, awayMs, arrivals: Array.from({ length: window }, () => awayMs / 2), next: 0 };
    });
  const waited: Waited[] = [];
  for (let freeMs = 0; queues.length > 0;) {
    const queue = queues.reduce((first, item) => (headOf(item) < headOf(first) ? item : first));
    const arrivedMs = headOf(queue);
    const startMs = heldFrom(Math.max(arrivedMs, freeMs));
    if (startMs > durationMs) break;
    freeMs = startMs + serviceMs;
    queue.next += 1;
    queue.arrivals.push(freeMs + queue.awayMs + thinkMs);
    waited.push({ place: queue.place, ms: freeMs - arrivedMs + queue.awayMs });
  }
  return waited;
}

function headOf({
  arrivals,
  next,
}: {
  readonly arrivals: readonly number[];
  readonly next: number;
}): number {
  return arrivals[next] as number;
}

/**
 * Returns a function that computes when the site next has the token, from a given time on. The
 * token circulates from time 0 on.
 */
function turnsOf(site: Site, sites: readonly Site[]): (ms: number) => number {
  const handOver = (at: number): number =>
    roundTripMs(sites[at] as Site, sites[(at + 1) % sites.length] as Site) / 2;
  const begins = sites.map((_, at) =>
    sites.slice(0, at).reduce((sum, __, n) => sum + HOLD_MS + handOver(n), 0),
  );
  const last = sites.length - 1;
  const aroundMs = (begins[last] as number) + HOLD_MS + handOver(last);
  const beginsMs = begins[sites.indexOf(site)] as number;
  return (ms) => {
    const sinceMs = (((ms - beginsMs) % aroundMs) + aroundMs) % aroundMs;
    return sinceMs < HOLD_MS ? ms : ms - sinceMs + aroundMs;
  };
}
