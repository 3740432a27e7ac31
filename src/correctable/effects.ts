/**
 * What may have taken effect of an operation and of all that it is made of, so that nobody is told to ask again for what
 * may have been done (C10, C14).
 */
import { isCorrectableError } from './errors.ts';

/** Certainly nothing. */
export const NOTHING = 0;
/** What a step did that gave a promise: nobody but the step knows. */
export const UNSEEN = 1;
/** An update, or an effect of `onCommit`. */
export const UPDATE = 2;

export type Done = typeof NOTHING | typeof UNSEEN | typeof UPDATE;

/** An operation that another one is made of. */
export interface Part {
  readonly state: string;
  /** What may have taken effect of itself; once it has closed, of its parts too. */
  done: Done;
  extras?: PartExtras | undefined;
}

export interface PartExtras {
  parts?: Part[] | undefined;
  /** What steps and attempts of it may do that have yet to begin: they do whatever becomes of what it is a part of. */
  steps?: Done | undefined;
}

export function doneOf({ done, extras }: Part): Done {
  let most = done;
  for (const part of extras?.parts ?? []) most = Math.max(most, doneOf(part), part.extras?.steps ?? NOTHING) as Done;
  return most;
}

/** Makes `part` one of those whose effects may come whatever becomes of `whole`. */
export function addPart(whole: Part, part: Part): void {
  const parts = ((whole.extras ??= {}).parts ??= []);
  const count = parts.push(part);
  // Looked through only when they have become twice as many.
  if (count < 8 || count & (count - 1)) return;
  for (const other of new Set(parts.splice(0))) {
    // What has closed comes to nothing more: to remember what it came to costs no memory, however many there are.
    if (other.state === 'updating') parts.push(other);
    else whole.done = Math.max(whole.done, other.done) as Done;
  }
}

/** What is left of `done` once it has failed with `error`: who says that asking again is safe has done nothing. */
export function doneDespite(error: unknown, done: Done): Done {
  if (!isCorrectableError(error)) return done;
  return error.retryable || (error.code === 'ABORTED' && done === UPDATE) ? NOTHING : done;
}
