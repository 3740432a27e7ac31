/** The part of rights to bounded fields that the paths of a site use (docs/spec/rights.md). */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../service/generator/generator-runner.ts';
import type { Effect } from '../../service/records/effect.ts';
import type { BlueOperation, RedOperation } from '../../service/records/records.ts';
import type { Submission } from './submissions.ts';
import type { RightsNeed } from '../../service/bounded-takes.ts';
import type { StateReader } from '../../service/state/store.ts';

/**
 * The shadow operation by which a site moves rights itself. No service has it. If such an operation
 * is rejected, it is not executed again.
 */
export const RIGHTS_TRANSFER_SHADOW = '\u0000rights';

/**
 * An operation takes an amount that is left, but neither its site nor the pool has the rights to it
 * yet. It has to wait.
 */
export class RightsShortfall {
  readonly needs: readonly RightsNeed[];
  /** Whether it can use the pool alone, since it is certain to be red. */
  readonly isRed: boolean;

  constructor(needs: readonly RightsNeed[], isRed: boolean) {
    this.needs = needs;
    this.isRed = isRed;
  }
}

/** Is notified of what an operation has waited for. */
export interface RightsListener {
  /** Rights may have come. Continues, or returns what is still lacking. */
  onRetry(): RightsShortfall | undefined;
  /** The rights have not come in time. */
  onTimeout(error: CorrectableError): void;
}

/** An operation that waits for rights. */
export interface RightsWaiter extends RightsListener, OtherEnd {
  /**
   * The submission that waits, if it can be dropped without a trace once no caller waits for it.
   */
  readonly submission?: Submission;
  /** When its timeout began, if it has waited before. Default: now */
  readonly sinceMs?: number;
}

/** How an operation that waits can end without the rights. */
export interface OtherEnd {
  /** Whether it has ended in another way meanwhile. Then only `onOver` is called. */
  isOver?(): boolean;
  onOver?(): void;
}

/** The rights of one site. */
export interface RightsPort {
  /**
   * Returns the path that this site may take: blue, red from the pool, what it lacks, or an error
   * if too little is left.
   */
  resolvePath(outcome: GeneratorOutcome): GeneratorOutcome | RightsShortfall | CorrectableError;
  /**
   * Returns what a red path lacks of the pool in `state`. Throws a CorrectableError if it takes
   * more than is left.
   */
  findRedShortfall(outcome: GeneratorOutcome, state: StateReader): RightsShortfall | undefined;
  /**
   * Why no more operations may wait for rights, if so. Has to be read before an operation waits
   * that is not counted elsewhere.
   */
  readonly rejection: CorrectableError | undefined;
  /** Lets an operation wait for rights, up to a timeout. */
  wait(shortfall: RightsShortfall, waiter: RightsWaiter): void;
  /** A blue operation of this site is decided, and not applied yet. */
  onCommitted(operation: BlueOperation): void;
  /** An operation has become part of the stable snapshot. */
  onApplied(operation: BlueOperation | RedOperation): void;
  /**
   * Own red effects are no longer in flight. Operations that wait may get the rights that these
   * would have used.
   */
  onRedRemoved(effects: readonly Effect[]): void;
}
