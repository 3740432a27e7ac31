/** A site as an onlooker sees it; for the page, too. */
import type { Site } from '../../engines/wan.ts';

/** - `ended`: the process has ended, and this demo has not killed it. */
export type SiteState = 'starting' | 'running' | 'frozen' | 'killed' | 'ended';

export interface SiteStatus {
  readonly name: Site;
  readonly state: SiteState;
  /** Whether the other sites cannot be reached from it, nor it from them. */
  readonly isCut: boolean;
  /** Whether it may lack something that was decided while it was away. */
  readonly isCatchingUp: boolean;
  /** How its process has ended, if this demo has not killed it. */
  readonly failure?: string | undefined;
}

/** What can be done to a site. */
export const ACTIONS = ['kill', 'start', 'freeze', 'continue', 'cut', 'reconnect'] as const;
export type Action = (typeof ACTIONS)[number];
