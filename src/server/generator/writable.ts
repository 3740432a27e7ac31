/** What a run gives, held to what logs and wires take (`protocol/codec/check-portable.ts`). */
import { isPortableScalar, portableProblem } from '../../protocol/codec/check-portable.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from '../records/effect.ts';
import { kept } from '../../values/frozen.ts';
import { own, ownError } from '../records/own-errors.ts';
import type { ReadSet } from './read-set.ts';
import type { Choice, Reply } from '../records/reply.ts';

/** Beyond the names of effects' parts and of arguments a path may be made of data. */
const TOLD_DEPTH = 1;

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
  if (!isScalar) check(effect, 'effects', at, TOLD_DEPTH);
  if (typeof key !== 'string') throw keyError(key, `effects.${at}.key`);
}

/** By its type a key is text: whoever gets it holds it to that. */
function keyError(key: unknown, where: string): CorrectableError {
  const kind = key === null ? 'null' : typeof key;
  return ownError('INVALID_VALUE', `${where}: the key of a row is text, not ${kind}`, where);
}

/**
 * Red operations take along their arguments, and what they have read, for certification: all of it has to be such that
 * it can be written down.
 *
 * @throws CorrectableError as `checkEffect`
 */
export function checkRed({ effects, args }: Choice, { names, ranges }: ReadSet): void {
  for (const [at, effect] of effects.entries()) checkEffect(effect, at);
  check(args, 'shadow', undefined, TOLD_DEPTH);
  for (const name of names) check(name, 'reads');
  for (const range of ranges) check(range, 'reads', undefined, TOLD_DEPTH);
}

/**
 * A reply that can be kept, for whoever asks again.
 *
 * @throws CorrectableError as `checkEffect`
 */
function portable(reply: Reply): Reply {
  check(reply.value, 'result');
  if (reply.meta !== undefined) check(reply.meta, 'meta');
  return reply;
}

/**
 * A portable reply that whoever made it cannot change: who asks again is told the same.
 *
 * @throws CorrectableError as `checkEffect`
 */
export function keptReply(reply: Reply): Reply {
  const [value, meta] = [kept(reply.value), kept(reply.meta)];
  if (value === reply.value && meta === reply.meta) return portable(reply);
  return portable(meta === undefined ? { value } : { value, meta });
}

/** @throws CorrectableError as `checkEffect` */
export function check(value: unknown, where: string, at?: number, depth?: number): void {
  const problem = portableProblem(value, where, at, depth);
  if (problem !== undefined) throw own(problem);
}
