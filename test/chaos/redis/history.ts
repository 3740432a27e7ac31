/** What the clients of one round did, in the order in which this process saw it. */

/** A site by its place in the deployment. */
export type SiteIndex = 0 | 1;

export interface WriteBegun {
  readonly kind: 'write-begun';
  /** The value that is written; of a removal, a name that no value has. */
  readonly id: string;
  readonly key: string;
  readonly isRemoval: boolean;
  readonly session: number;
  readonly site: SiteIndex;
  readonly atMs: number;
}

/** `refused`: the store reports that the write was not executed. */
export type WriteOutcome = 'acknowledged' | 'unknown' | 'refused';

export interface WriteEnded {
  readonly kind: 'write-ended';
  readonly id: string;
  readonly session: number;
  readonly outcome: WriteOutcome;
  readonly stamp: number | undefined;
  readonly atMs: number;
}

export interface ReadBegun {
  readonly kind: 'read-begun';
  readonly read: number;
  readonly isLatest: boolean;
  readonly gateway: number;
  readonly atMs: number;
}

export interface ReadEnded {
  readonly kind: 'read-ended';
  readonly read: number;
  readonly session: number;
  readonly gateway: number;
  readonly isLatest: boolean;
  readonly keys: readonly string[];
  /** The id of the write of each key; `undefined` if the key was absent. */
  readonly ids: readonly (string | undefined)[];
  /** The stamp of the write, of a read of one key. */
  readonly stamp: number | undefined;
  readonly atMs: number;
}

/** What a site has when all is well again. */
export interface FinalState {
  readonly kind: 'final';
  readonly site: SiteIndex;
  readonly keys: readonly string[];
  readonly ids: readonly (string | undefined)[];
  readonly atMs: number;
}

export type StormEvent = WriteBegun | WriteEnded | ReadBegun | ReadEnded | FinalState;

/** Redis may have lost what it acknowledged, between two moments. */
export interface PossibleLoss {
  readonly site: SiteIndex;
  readonly partitions: ReadonlySet<number>;
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * Whether the binding must report it. A master that hangs can acknowledge writes after its
   * replica was promoted: newer writes then hide that these are gone.
   */
  readonly isReported: boolean;
}

/** The binding has reported that writes are lost. */
export interface LossAlarm {
  readonly site: SiteIndex;
  readonly partition: number;
  readonly atMs: number;
}
