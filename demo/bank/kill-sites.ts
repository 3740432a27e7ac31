/**
 * Kills the process of one site after the other while the tellers work, and starts it again each
 * time.
 */
import type { Cluster } from '../cluster/cluster.ts';
import { waitUntilBack } from '../cluster/faults.ts';
import { distinctBelow, seeded, wholeBetween } from '../shared/random.ts';
import { pause } from '../tickets/pause.ts';
import { SITES, type Site } from './sites.ts';

/** The pause before a kill, in which the tellers make transfers at three sites. */
const BEFORE_MS = { min: 200, max: 1_000 };
const AWAY_MS = { min: 200, max: 2_000 };

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Called when a process was killed, is to start again, and when its site has caught up. */
  readonly onChange: (kind: 'killed' | 'started' | 'caughtUp', site: Site) => void;
  readonly signal: AbortSignal;
}

/**
 * Kills `kills` times, one site at a time, and waits each time until the site has all operations
 * that were ordered meanwhile. The first three kills are of three sites, and so are the next three,
 * so leaders are killed too.
 *
 * @throws Error if a site does not come back, or if `signal` aborts
 */
export async function killSites(
  cluster: Cluster,
  { kills, seed, onChange, signal }: KillOptions,
): Promise<void> {
  const random = seeded(seed);
  let order: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    if (order.length === 0) order = distinctBelow(random, SITES.length, SITES.length);
    const site = SITES[order.pop() as number] as Site;
    await pause(wholeBetween(random, BEFORE_MS.min, BEFORE_MS.max), signal);
    signal.throwIfAborted();
    await cluster.act(site, 'kill');
    onChange('killed', site);
    await pause(wholeBetween(random, AWAY_MS.min, AWAY_MS.max), signal);
    // Do not start a process if the run is closing.
    signal.throwIfAborted();
    onChange('started', site);
    await cluster.act(site, 'start');
    await waitUntilBack(cluster, site, signal);
    onChange('caughtUp', site);
  }
}
