/** The state of a site that others begin with. */
import {
  getSavedSite,
  type RecoveredState,
} from '../../server/log/recovered-state.ts';
import type { Checkpoint } from '../../server/records/checkpoint.ts';
import type { Origin } from '../../server/records/origin.ts';

/**
 * What a site has that it shares with all others, and what the checkers have
 * noted of it then.
 */
export interface SharedCopy {
  readonly shared: Checkpoint;
  readonly notes: unknown;
}

/**
 * Such a copy on a disk: its note there is none of a checkpoint of the site.
 */
export interface InstalledCopy extends Pick<SharedCopy, 'notes'> {
  readonly note: number;
}

/** How a site begins that was not there when the run began. */
export interface SiteBeginning {
  readonly directory?: string | undefined;
  readonly copy?: InstalledCopy;
}

/**
 * How many operations of an origin there are in what its site finds at a start.
 */
export function countOperations(
  origin: Origin,
  { checkpoint, local }: RecoveredState,
): number {
  const own = local.entries.flatMap((entry) =>
    entry.kind === 'blue' && entry.operation.site === origin
      ? [entry.operation.sequence]
      : [],
  );
  const applied =
    checkpoint && getSavedSite(checkpoint).shared.replica.applied[origin];
  return Math.max(applied ?? 0, ...own);
}

/**
 * The last start of an origin that another site has accepted, in what that one
 * finds at a start; 0 if there is none.
 */
export function getAcceptedStart(
  origin: Origin,
  { checkpoint, local }: RecoveredState,
): number {
  const saved =
    checkpoint &&
    getSavedSite(checkpoint).own.terms?.find(([site]) => site === origin)?.[1];
  const terms = local.entries.flatMap((entry) =>
    entry.kind === 'term' && entry.site === origin ? [entry.term] : [],
  );
  return Math.max(saved ?? 0, ...terms);
}
