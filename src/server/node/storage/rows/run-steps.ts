/**
 * Runs long work on a store of rows in turns, so that inputs wait for some milliseconds only. The
 * work is a generator, so that it reads like work that is done at once.
 */
import type { Timing } from '../disk/files.ts';
import { DEFAULT_STORAGE_SIZES } from '../storage-sizes.ts';
import type { RowBatch } from './row-store.ts';

/**
 * What the work has done: about so many characters were encoded or decoded. With a batch, it goes
 * on once that is synced.
 */
export type Step = number | RowBatch;

/** Steps of work with a result. */
export type Steps<T = void> = Generator<Step, T, void>;

export interface RunStepsOptions {
  readonly timing: Timing;
  /** About how many characters the steps of one turn encode. Default: 128 Ki */
  readonly maxTurnCharacters?: number | undefined;
}

/**
 * Runs the steps. `done` gets the result, or the error of a commit, or what a step throws: then the
 * work has ended.
 */
export function runSteps<T>(
  steps: Steps<T>,
  { timing, maxTurnCharacters = DEFAULT_STORAGE_SIZES.maxTurnCharacters }: RunStepsOptions,
  done: (error: Error | undefined, result?: T) => void,
): void {
  let isEnded = false;
  const end = (error: Error | undefined, result?: T): void => {
    if (isEnded) return;
    isEnded = true;
    done(error, result);
  };
  const turn = (): void => {
    try {
      const next = takeTurn(steps, maxTurnCharacters);
      if (next.done === true) return end(undefined, next.value);
      if (typeof next.value === 'number') return timing.later(turn);
      next.value.commit((error) => {
        if (error === undefined) timing.later(turn);
        else end(error);
      });
    } catch (error) {
      end(error as Error);
    }
  };
  timing.later(turn);
}

/** Returns the step with which the turn is over: the last one, or one with a batch. */
function takeTurn<T>(steps: Steps<T>, maxCharacters: number): IteratorResult<Step, T> {
  for (let characters = 0; ;) {
    const next = steps.next();
    if (next.done === true || typeof next.value !== 'number') return next;
    characters += next.value;
    if (characters >= maxCharacters) return next;
  }
}
