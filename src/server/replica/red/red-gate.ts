/** What stands before the gate of a site's red path, and with it what is saved of that path. */
import type { Decision } from '../../records/verdict.ts';
import type { RedRecord } from '../../records/records.ts';

/** A record that the certifier has decided. */
export interface GateItem {
  readonly record: RedRecord;
  readonly decision: Decision;
}

/** The red path as it is saved, without its sections. */
export interface SavedRedPath {
  readonly delivered: number;
  /** Records behind the gate. */
  readonly gate: readonly GateItem[];
  readonly certifier: unknown;
}
