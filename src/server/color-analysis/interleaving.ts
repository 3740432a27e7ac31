/**
 * What a run is made of: operations of the contract, with all that their
 * generators go by.
 */
import type { Principal } from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { GeneratorOutcome } from '../generator/generator-runner.ts';
import type { Choice } from '../records/reply.ts';

/** What it chose, if anything, or why it failed. */
export interface StepResult {
  readonly outcome?: GeneratorOutcome;
  readonly failure?: CorrectableError;
  /**
   * Whether that is for want of what was to be taken, which runs may not have
   * brought about.
   */
  readonly isMissingInput?: true;
  /** What it threw, where that was no error of ours. */
  readonly thrown?: unknown;
  /** Whether the arguments were others afterwards. */
  readonly hasChangedArgs?: true;
}

/** What was chosen, if it changes anything. */
export function getChoice({ outcome }: StepResult): Choice | undefined {
  return outcome?.choice;
}

/** The user that an operation is executed for. */
export class Caller {
  /** Whether the generator has asked: only then does a story name the user. */
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

export interface Step {
  readonly operation: string;
  /** As a client gives them. */
  readonly args: unknown;
  /**
   * Unlike that of any other step of the run: what is unique to the operation
   * comes of it.
   */
  readonly serial: number;
  /** Seeds what its generator draws: an unsigned 32-bit number. */
  readonly seed: number;
  /** When it is submitted, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Absent in steps made by hand: then there is no principal. */
  readonly caller?: Caller;
}

/**
 * Two sites with the same past that go on apart: one operation at the first,
 * some at the second.
 */
export interface Interleaving {
  readonly past: readonly Step[];
  readonly here: Step;
  readonly there: readonly Step[];
  /**
   * Which place the time of `here` has among those of `there`: 0 before all of
   * them, 1 with the first, 2 after it, …
   */
  readonly place: number;
}
