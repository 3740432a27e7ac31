/** What comes of running a generator. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { GeneratorOutcome } from '../generator/generator-run.ts';
import type { Choice } from '../records/reply.ts';

/** What it chose, if anything, or why it failed. */
export interface Ran {
  readonly outcome?: GeneratorOutcome;
  readonly failure?: CorrectableError;
  /** Whether that is for want of what was to be taken, which runs may not have brought about. */
  readonly isLacking?: true;
  /** What it threw, where that was no error of ours. */
  readonly thrown?: unknown;
  /** Whether the arguments were others afterwards. */
  readonly hasChangedArgs?: true;
}

/** What was chosen, if it changes anything. */
export function choiceOf({ outcome }: Ran): Choice | undefined {
  return outcome?.choice;
}
