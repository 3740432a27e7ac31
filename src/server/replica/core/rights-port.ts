/**
 * What the paths of a replica know of rights to bounded fields
 * (docs/spec/rights.md).
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../generator/generator-runner.ts';
import type { Effect } from '../../records/effect.ts';
import type { BlueOperation, RedOperation } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import type { RightsNeed } from '../../service/bounded-takes.ts';
import type { StateReader } from '../../state/store.ts';

/**
 * The shadow operation by which a site moves rights itself: no author's.
 * Rejected, it is not tried again.
 */
export const RIGHTS_TRANSFER_SHADOW = '\u0000rights';

/**
 * An operation takes what stands, and neither its site nor the pool has the
 * rights to it yet: it has to wait.
 */
export class RightsShortfall {
  readonly needs: readonly RightsNeed[];
  /** Whether it can draw on the pool alone, since it is red for ever. */
  readonly isRed: boolean;

  constructor(needs: readonly RightsNeed[], isRed: boolean) {
    this.needs = needs;
    this.isRed = isRed;
  }
}

/** An operation that waits for rights. */
export interface RightsWaiter {
  /**
   * The submission that waits, if it can be dropped without a trace once no
   * caller waits for it.
   */
  readonly submission?: Submission;
  /** When its time began, unless that is now: it may have waited before. */
  readonly sinceMs?: number;
  /**
   * Whether it has ended in another way meanwhile: then only `onOver` is
   * called.
   */
  isOver?(): boolean;
  onOver?(): void;
  /** Rights may have come: continues, or returns what is still lacking. */
  onRetry(): RightsShortfall | undefined;
  /** They have not come in time. */
  onTimeout(error: CorrectableError): void;
}

/** The rights of one site. */
export interface RightsPort {
  /**
   * Returns the path that this site may take: blue, red from the pool, what it
   * lacks, or an error if too little is left.
   */
  resolvePath(
    outcome: GeneratorOutcome,
  ): GeneratorOutcome | RightsShortfall | CorrectableError;
  /**
   * Returns what a red path lacks of the pool in `state`. Throws a
   * CorrectableError if it takes more than is left.
   */
  findRedShortfall(
    outcome: GeneratorOutcome,
    state: StateReader,
  ): RightsShortfall | undefined;
  /**
   * Why no more may wait for rights, if that is so: to be asked before one does
   * that is not counted elsewhere.
   */
  readonly rejection: CorrectableError | undefined;
  /** Waits, bounded in time. */
  wait(shortfall: RightsShortfall, waiter: RightsWaiter): void;
  /** A blue operation of this site is decided, and not applied yet. */
  onCommitted(operation: BlueOperation): void;
  /** An operation has become part of the stable snapshot. */
  onApplied(operation: BlueOperation | RedOperation): void;
  /**
   * Own red effects are not in flight any more: an operation for which they
   * left rights may have them.
   */
  onRedRemoved(effects: readonly Effect[]): void;
}
