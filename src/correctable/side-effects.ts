/**
 * Tracks what may have taken effect of an operation and of all its parts. No error may suggest a
 * retry of something that may have been done (COR-10, COR-14).
 */
import { isCorrectableError } from './errors.ts';

/** Certainly nothing took effect. */
export const NO_EFFECT = 0;
/** A step returned a promise: only the step knows what it has done. */
export const UNOBSERVED = 1;
/** The operation is an update, or ran an effect of `onCommit`. */
export const WRITE = 2;

export type EffectState = typeof NO_EFFECT | typeof UNOBSERVED | typeof WRITE;

/** An operation that is a part of another one. */
export interface SourcePart {
  readonly state: string;
  /**
   * The effects that this operation itself may have had. Once it has closed, this includes its
   * parts.
   */
  effectState: EffectState;
  extras?: PartExtras | undefined;
}

export interface PartExtras {
  parts?: SourcePart[] | undefined;
  /**
   * The effects that later steps and attempts of this part may have. They run even if the whole has
   * ended by then.
   */
  futureEffects?: EffectState | undefined;
}

export function getEffectState({ effectState, extras }: SourcePart): EffectState {
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
 * Adds `part` to `whole`. Its effects count for `whole`, even if they come after `whole` has ended.
 */
export function addPart(whole: SourcePart, part: SourcePart): void {
  const parts = ((whole.extras ??= {}).parts ??= []);
  const count = parts.push(part);
  // The list is searched only when it has doubled, so the cost per part stays constant.
  if (count < 8 || count & (count - 1)) return;
  for (const other of new Set(parts.splice(0))) {
    // A closed part has no more effects. Its result is added to the whole and the part is dropped,
    // so the memory stays bounded for any number of parts.
    if (other.state === 'pending') parts.push(other);
    else whole.effectState = Math.max(whole.effectState, other.effectState) as EffectState;
  }
}

/**
 * Returns which effects remain of `done` after a failure with `error`. If the error is retryable,
 * the operation has done nothing.
 */
export function getRemainingEffects(error: unknown, done: EffectState): EffectState {
  if (!isCorrectableError(error)) return done;
  return error.retryable || (error.code === 'ABORTED' && done === WRITE) ? NO_EFFECT : done;
}
