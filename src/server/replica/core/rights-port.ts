/** What the paths of a replica know of rights to bounded fields (docs/spec/rights.md). */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import type { Effect } from '../../records/effect.ts';
import type { BlueOperation, RedOperation } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import type { Need } from '../../service/takes.ts';
import type { StateReader } from '../../state/store.ts';

/** The shadow operation by which a site moves rights itself: no author's. Rejected, it is not tried again. */
export const RIGHTS_SHADOW = '\u0000rights';

/** An operation takes what stands, and neither its site nor the pool has the rights to it yet: it has to wait. */
export class Lack {
  readonly needs: readonly Need[];
  /** Whether it can draw on the pool alone, since it is red for ever. */
  readonly isRed: boolean;

  constructor(needs: readonly Need[], isRed: boolean) {
    this.needs = needs;
    this.isRed = isRed;
  }
}

/** Who waits for rights. */
export interface RightsWaiter {
  /** Of what is as if it had never come once nobody waits for it. */
  readonly submission?: Submission;
  /** When its time began, unless that is now: it may have waited before. */
  readonly sinceMs?: number;
  /** Whether it has ended otherwise meanwhile: then it is told nothing but `over`. */
  isOver?(): boolean;
  over?(): void;
  /** Rights may have come: goes on, or says what is lacking still. */
  retry(): Lack | undefined;
  /** They have not come in time. */
  late(error: CorrectableError): void;
}

/** The rights of one site. */
export interface RightsPort {
  /**
   * A path as this site may take it: as it is where the site has the rights, red where the pool has, else what is lacking;
   * an error where it takes more than stands.
   */
  decided(outcome: GeneratorOutcome): GeneratorOutcome | Lack | CorrectableError;
  /**
   * What a red path lacks of the pool, as `state` shows that.
   *
   * @throws CorrectableError where it takes more than stands
   */
  lackInRed(outcome: GeneratorOutcome, state: StateReader): Lack | undefined;
  /** Why no more may wait for rights, if that is so: to be asked before one does that is not counted elsewhere. */
  readonly refusal: CorrectableError | undefined;
  /** Waits, bounded in time. */
  wait(lack: Lack, waiter: RightsWaiter): void;
  /** A blue operation of this site is decided, and not applied yet. */
  committed(operation: BlueOperation): void;
  /** An operation has become part of the stable snapshot. */
  applied(operation: BlueOperation | RedOperation): void;
  /** Own red effects are not in flight any more: who has left rights to them may have these. */
  takenOff(effects: readonly Effect[]): void;
}
