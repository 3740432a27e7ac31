/** What a binding needs of the store that its site belongs to. */
import type { CausalSite } from '../../causal/causal-site.ts';
import type { SiteIndex, Stamp } from '../../causal/stamps.ts';
import type { Clock } from '../../correctable/clock.ts';

export const CAUSAL_LEVELS = ['causal', 'latest'] as const;

/** The levels of a causal store, weakest first. */
export type CausalLevels = typeof CAUSAL_LEVELS;

export interface SiteHost {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly causalSite: CausalSite;
  readonly clock: Clock;
  readonly siteTimeoutMs: number;
  /** A bound that no stamp of the site exceeds. */
  readonly getHighestStamp: (site: SiteIndex) => Stamp;
  readonly onWritten: () => void;
  /** Calls `run` whenever the site may have received something. Returns what ends that. */
  readonly waitForNews: (run: () => void) => () => void;
}
