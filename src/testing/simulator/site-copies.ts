/** The state of a site that others begin with. */
import type { Checkpoint } from '../../server/records/checkpoint.ts';

/** What a site has that it shares with all others, and what the checkers have noted of it then. */
export interface SharedCopy {
  readonly shared: Checkpoint;
  readonly notes: unknown;
}

/** Such a copy on a disk: its note there is none of a checkpoint of the site. */
export interface InstalledCopy extends Pick<SharedCopy, 'notes'> {
  readonly note: number;
}

/** How a site begins that was not there when the run began. */
export interface SiteBeginning {
  readonly directory?: string | undefined;
  readonly copy?: InstalledCopy;
}
