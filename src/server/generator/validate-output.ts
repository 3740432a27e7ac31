/** What a run gives, held to what logs and wires take (`protocol/codec/check-portable.ts`). */
import { isPortableScalar, findPortabilityError } from '../../protocol/codec/portable-values.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from '../records/effect.ts';
import { freezeWireCopy } from '../../values/deep-freeze.ts';
import { markInternal, createInternalError } from '../records/internal-errors.ts';
import type { ReadSet } from './read-set.ts';
import type { Choice, Reply } from '../records/reply.ts';

/** Beyond the names of effects' parts and of arguments a path may be made of data. */
const MAX_PATH_DEPTH = 1;

/**
 * One effect of a choice: all its parts.
 *
 * @throws CorrectableError `INVALID_VALUE` with the path of what cannot be written down, or of a key that is none
 */
export function checkEffect(effect: Effect, at: number): void {
  const { table, key, field, action, value } = effect;
  const isScalar =
    isPortableScalar(key) &&
    isPortableScalar(value) &&
    isPortableScalar(table) &&
    isPortableScalar(field) &&
    isPortableScalar(action);
  if (!isScalar) checkValue(effect, 'effects', at, MAX_PATH_DEPTH);
  if (typeof key !== 'string') throw invalidKeyError(key, `effects.${at}.key`);
}

/** A key is a string by its type. This error reports a key of another type. */
function invalidKeyError(key: unknown, where: string): CorrectableError {
  const kind = key === null ? 'null' : typeof key;
  return createInternalError('INVALID_VALUE', `${where}: the key of a row is text, not ${kind}`, where);
}

/**
 * Red operations take along their arguments, and what they have read, for certification: all of it has to be such that
 * it can be written down.
 *
 * @throws CorrectableError as `checkEffect`
 */
export function checkRedOperation({ effects, args }: Choice, { names, ranges }: ReadSet): void {
  for (const [at, effect] of effects.entries()) checkEffect(effect, at);
  checkValue(args, 'shadow', undefined, MAX_PATH_DEPTH);
  for (const name of names) checkValue(name, 'reads');
  for (const range of ranges) checkValue(range, 'reads', undefined, MAX_PATH_DEPTH);
}

/**
 * Returns a reply that can be kept for retries.
 *
 * @throws CorrectableError as `checkEffect`
 */
function toPortableReply(reply: Reply): Reply {
  checkValue(reply.value, 'result');
  if (reply.meta !== undefined) checkValue(reply.meta, 'meta');
  return reply;
}

/**
 * Returns a portable reply that its generator cannot change, so that a retry gets the same reply.
 *
 * @throws CorrectableError as `checkEffect`
 */
export function freezeReply(reply: Reply): Reply {
  const [value, meta] = [freezeWireCopy(reply.value), freezeWireCopy(reply.meta)];
  if (value === reply.value && meta === reply.meta) return toPortableReply(reply);
  return toPortableReply(meta === undefined ? { value } : { value, meta });
}

/** @throws CorrectableError as `checkEffect` */
export function checkValue(value: unknown, where: string, at?: number, depth?: number): void {
  const problem = findPortabilityError(value, where, at, depth);
  if (problem !== undefined) throw markInternal(problem);
}
