/** The state of a site from which others begin. */
import {
  getRecoveredRed,
  getSavedSite,
  type RecoveredState,
} from '../../../server/log/recovered-state.ts';
import type { Checkpoint } from '../../../server/service/records/checkpoint.ts';
import type { Origin } from '../../../server/service/records/origin.ts';

/** The state that a site shares with all others, and the notes of the checkers at that time. */
export interface SharedCopy {
  readonly shared: Checkpoint;
  readonly notes: unknown;
}

/** Such a copy on a disk. Its note number differs from those of the checkpoints of the site. */
export interface InstalledCopy {
  readonly notes: unknown;
  readonly note: number;
}

/** How a site begins that was not there when the run began. */
export interface SiteBeginning {
  readonly directory?: string | undefined;
  readonly copy?: InstalledCopy;
}

/** Returns the number of operations of an origin in the state that its site finds at a start. */
export function countOperations(origin: Origin, { checkpoint, local }: RecoveredState): number {
  const own = local.entries.flatMap((entry) =>
    entry.kind === 'blue' && entry.operation.site === origin ? [entry.operation.sequence] : [],
  );
  const applied = checkpoint && getSavedSite(checkpoint).shared.replica.applied[origin];
  return Math.max(applied ?? 0, ...own);
}

/** Returns the length of a red log in the state that a site finds at a start. */
export function countEntries(state: RecoveredState, partition: number): number {
  const { start, entries } = getRecoveredRed(state, partition);
  return start + entries.length;
}

/**
 * Returns the last start of an origin that another site has accepted, in the state that the other
 * site finds at a start. Returns 0 if there is none.
 */
export function getAcceptedStart(origin: Origin, { checkpoint, local }: RecoveredState): number {
  const saved =
    checkpoint && getSavedSite(checkpoint).own.terms?.find(([site]) => site === origin)?.[1];
  const terms = local.entries.flatMap((entry) =>
    entry.kind === 'term' && entry.site === origin ? [entry.term] : [],
  );
  return Math.max(saved ?? 0, ...terms);
}
