/**
 * Checks that logs and messages can carry the output of a run
 * (`protocol/codec/portable-values.ts`).
 */
import { isPortableScalar, findPortabilityError } from '../../../protocol/codec/portable-values.ts';
import type { Effect } from '../records/effect.ts';
import { freezeWireCopy } from '../../../values/deep-freeze.ts';
import { markInternal, createInternalError } from '../records/internal-errors.ts';
import type { ReadSet } from './read-set.ts';
import type { Choice, Reply } from '../records/reply.ts';

/**
 * How many levels of nesting a path in an error may name below the parts of effects and arguments.
 */
const MAX_PATH_DEPTH = 1;

/**
 * @throws CorrectableError `INVALID_VALUE` with the path of a value that is not portable, or of an
 * invalid key
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
  // Check the key at run time, because only its type guarantees that it is a string.
  if (typeof key === 'string') return;
  const kind = key === null ? 'null' : typeof key;
  const where = `effects.${at}.key`;
  throw createInternalError(
    'INVALID_VALUE',
    `${where}: the key of a row is text, not ${kind}`,
    where,
  );
}

/**
 * Checks the arguments and reads of a red operation, which other sites receive.
 * @throws CorrectableError as `checkEffect`
 */
export function checkRedOperation({ effects, args }: Choice, { names, ranges }: ReadSet): void {
  for (const [at, effect] of effects.entries()) checkEffect(effect, at);
  checkValue(args, 'shadow', undefined, MAX_PATH_DEPTH);
  for (const name of names) checkValue(name, 'reads');
  for (const range of ranges) checkValue(range, 'reads', undefined, MAX_PATH_DEPTH);
}

/**
 * Returns a portable reply that its generator cannot change. @throws CorrectableError as
 * `checkEffect`
 */
export function freezeReply(reply: Reply): Reply {
  const [value, meta] = [freezeWireCopy(reply.value), freezeWireCopy(reply.meta)];
  checkValue(value, 'result');
  if (meta !== undefined) checkValue(meta, 'meta');
  if (value === reply.value && meta === reply.meta) return reply;
  return meta === undefined ? { value } : { value, meta };
}

/** @throws CorrectableError as `checkEffect` */
export function checkValue(value: unknown, where: string, at?: number, depth?: number): void {
  const problem = findPortabilityError(value, where, at, depth);
  if (problem !== undefined) throw markInternal(problem);
}
