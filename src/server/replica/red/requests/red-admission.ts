/**
 * Whether one more operation may wait for the red order, and with which error
 * it is refused otherwise.
 */
import type { CorrectableError } from '../../../../correctable/errors.ts';
import { redAwayError, redFullError } from '../../../records/failures.ts';
import type { ReplicaOptions } from '../../core/replica-port.ts';
import type { OperationPlan } from '../../../service/operation-plan.ts';
import { isRedFull } from './admission-limits.ts';
import type { RedRequests } from './red-requests.ts';
import type { StrongReads } from './strong-reads.ts';
import type { ThrottledRequests } from './throttled-requests.ts';

export class RedAdmission {
  /**
   * Why nothing more comes from the red log. No operation begins then, and
   * pending ones go on waiting.
   */
  halted: CorrectableError | undefined;
  /** Why the red log takes nothing new for now. */
  overload: CorrectableError | undefined;
  #waitsFor: string | undefined;
  #away: CorrectableError | undefined;
  readonly #options: ReplicaOptions;
  readonly #requests: RedRequests;
  readonly #reads: StrongReads;
  readonly #throttled: ThrottledRequests;

  constructor(
    options: ReplicaOptions,
    requests: RedRequests,
    reads: StrongReads,
    throttled: ThrottledRequests,
  ) {
    this.#options = options;
    this.#requests = requests;
    this.#reads = reads;
    this.#throttled = throttled;
  }

  /**
   * What red operations wait for, if none can be ordered for now. No operation
   * begins then.
   */
  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  set waitsFor(waitsFor: string | undefined) {
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    this.#away = waitsFor === undefined ? undefined : redAwayError(waitsFor);
  }

  /**
   * Whether this error is why no red operation begins, and a retry may be
   * executed later.
   */
  isTemporary(failure: unknown): boolean {
    return (
      failure !== undefined &&
      (failure === this.halted || failure === this.#away)
    );
  }

  /** Whether no more may wait for the red order. */
  get isFull(): boolean {
    return (
      this.#obstacle !== undefined ||
      isRedFull(this.#options, this.#requests, this.#reads)
    );
  }

  /** Returns the error of an operation that comes while `isFull`. */
  fullError(): CorrectableError {
    return (
      this.#obstacle ?? redFullError(this.#options.maxRedInFlight ?? Infinity)
    );
  }

  /**
   * Returns why no more of this operation may begin here, if so. Has to be
   * called before anything of the operation is decided.
   */
  getRejection(plan: OperationPlan): CorrectableError | undefined {
    if (this.isFull) return this.fullError();
    return this.#throttled.getRejection(plan);
  }

  get #obstacle(): CorrectableError | undefined {
    return this.halted ?? this.overload ?? this.#away;
  }
}
