/**
 * What may have taken effect of an operation and of all its parts, so that no
 * error suggests a retry of something that may have been done (C10, C14).
 */
import { isCorrectableError } from './errors.ts';

/** Certainly nothing. */
export const NO_EFFECT = 0;
/** A step returned a promise: only the step knows what it has done. */
export const UNOBSERVED = 1;
/** An update, or an effect of `onCommit`. */
export const WRITE = 2;

export type EffectState = typeof NO_EFFECT | typeof UNOBSERVED | typeof WRITE;

/** An operation that another one is made of. */
export interface SourcePart {
  readonly state: string;
  /**
   * What may have taken effect of itself; once it has closed, of its parts too.
   */
  effectState: EffectState;
  extras?: PartExtras | undefined;
}

export interface PartExtras {
  parts?: SourcePart[] | undefined;
  /**
   * What steps and attempts of it may do that have yet to begin: they do
   * whatever becomes of what it is a part of.
   */
  futureEffects?: EffectState | undefined;
}

export function getEffectState({
  effectState,
  extras,
}: SourcePart): EffectState {
  let most = effectState;
  for (const part of extras?.parts ?? [])
    most = Math.max(
      most,
      getEffectState(part),
      part.extras?.futureEffects ?? NO_EFFECT,
    ) as EffectState;
  return most;
}

/**
 * Makes `part` one of those whose effects may come whatever becomes of `whole`.
 */
export function addPart(whole: SourcePart, part: SourcePart): void {
  const parts = ((whole.extras ??= {}).parts ??= []);
  const count = parts.push(part);
  // Looked through only when they have become twice as many.
  if (count < 8 || count & (count - 1)) return;
  for (const other of new Set(parts.splice(0))) {
    // A closed part has no more effects. Only its result is kept, which costs
    // no memory for any number of parts.
    if (other.state === 'pending') parts.push(other);
    else
      whole.effectState = Math.max(
        whole.effectState,
        other.effectState,
      ) as EffectState;
  }
}

/**
 * Returns the rest of `done` after a failure with `error`: an operation whose
 * error is retryable has done nothing.
 */
export function getRemainingEffects(
  error: unknown,
  done: EffectState,
): EffectState {
  if (!isCorrectableError(error)) return done;
  return error.retryable || (error.code === 'ABORTED' && done === WRITE)
    ? NO_EFFECT
    : done;
}
