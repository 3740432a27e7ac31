/** The state of a site, for the server and the page. */
import type { Site } from '../../engines/wan.ts';

/** - `ended`: the process has ended, and this demo has not killed it. */
export type SiteState = 'starting' | 'running' | 'frozen' | 'killed' | 'ended';

export interface SiteStatus {
  readonly name: Site;
  readonly state: SiteState;
  /** Whether it orders the sales of all sites: while it is away, no sale is confirmed. */
  readonly isLeader: boolean;
  /** Whether its links to the other sites are cut, in both directions. */
  readonly isCut: boolean;
  /** Whether it may lack operations that were ordered while it was stopped. */
  readonly isCatchingUp: boolean;
  /** How its process has ended; absent if this demo has killed it. */
  readonly failure?: string | undefined;
}

/** The actions on a site. */
export const ACTIONS = ['kill', 'start', 'freeze', 'continue', 'cut', 'reconnect'] as const;
export type Action = (typeof ACTIONS)[number];
