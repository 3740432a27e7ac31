/** The commands of operations. */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { GetManyArgs, PutArgs } from '../../operations/index.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkWellFormed } from '../shared/well-formed-text.ts';

/**
 * Names are in capitals: transformers of replies, which another library may have set for all of
 * `ioredis`, are looked up by small letters.
 */
export type Command = readonly [name: string, ...args: (string | number)[]];

/** Asks a server how far it is. */
export const POSITION: Command = ['INFO', 'replication'];

const MAX_KEYS = 1_000;

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function getKeys({ name, args }: Operation): readonly string[] {
  if (name === 'get') return [checkKey(args, 'args.key')];
  const keys: unknown = (args as Partial<GetManyArgs> | undefined)?.keys;
  const isList = Array.isArray(keys) && keys.length <= MAX_KEYS;
  if (!isList || keys.length === 0)
    throw createInvalidArgumentError('args.keys', `give a list of 1 to ${MAX_KEYS} keys`);
  return keys.map((key: unknown, at) => checkKey({ key }, `args.keys[${at}]`));
}

/** @throws CorrectableError `INVALID_ARGUMENT` or `INVALID_VALUE` */
export function planWrite({ name, args }: Operation, prefix: string): Command {
  const key = prefix + checkKey(args, 'args.key');
  if (name === 'remove') return ['DEL', key];
  const { value, ttlMs } = args as Partial<PutArgs>;
  const json = toExactJson(value, { name: 'put', field: 'args.value' });
  checkWellFormed(value, 'args.value');
  if (ttlMs === undefined) return ['SET', key, json];
  return ['SET', key, json, 'PX', Math.max(1, Math.ceil(ttlMs))];
}

function checkKey(args: unknown, field: string): string {
  const { key } = (args ?? {}) as { readonly key?: unknown };
  if (typeof key === 'string' && key !== '') return checkWellFormed(key, field);
  throw createInvalidArgumentError(field, 'give a string of at least one character');
}
