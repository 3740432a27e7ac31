/** The steps of a run: operations of the contract, with all input of their generators. */
import type { Principal } from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { GeneratorOutcome } from '../service/generator/generator-runner.ts';
import type { Choice } from '../service/records/reply.ts';

/** The choice of the step, if it made one, or the reason of its failure. */
export interface StepResult {
  readonly outcome?: GeneratorOutcome;
  readonly failure?: CorrectableError;
  /** Whether data was missing that the operation needs. The run may not have created it. */
  readonly isMissingInput?: true;
  /** The thrown value, if it is not an error of this package. */
  readonly thrown?: unknown;
  /** Whether the generator changed its arguments. */
  readonly hasChangedArgs?: true;
}

/** Returns the choice if it changes anything. */
export function getChoice({ outcome }: StepResult): Choice | undefined {
  return outcome?.choice;
}

/** The principal for whom an operation is executed. */
export class Caller {
  /** Whether the generator has read the principal. Only then does an explanation name the user. */
  wasRead = false;
  readonly #principal: Principal;

  constructor(principal: Principal) {
    this.#principal = principal;
  }

  get id(): string {
    return this.#principal.id;
  }

  read(): Principal {
    this.wasRead = true;
    return this.#principal;
  }
}

export interface Step extends OperationCall {
  /** Unique among the steps of the run. The operation's unique identifiers follow from it. */
  readonly serial: number;
  /** The seed of the generator's random numbers: an unsigned 32-bit number. */
  readonly seed: number;
  /** When it is submitted, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** An operation as its client calls it. */
export interface OperationCall {
  readonly operation: string;
  /** The arguments, as a client sends them. */
  readonly args: unknown;
  /** Absent in steps written by hand, which have no principal. */
  readonly caller?: Caller;
}

/**
 * Two sites with the same past that then diverge: one operation at the first, some at the second.
 */
export interface Interleaving {
  readonly past: readonly Step[];
  readonly here: Step;
  readonly there: readonly Step[];
  /**
   * The position of the time of `here` among those of `there`: 0 is before all of them, 1 at the
   * first one, 2 after it, and so on.
   */
  readonly place: number;
}
