/** Operations that read and write values by key. */
import { check, checkOptions } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { checkName } from './check-name.ts';

export interface GetArgs {
  readonly key: string;
}

export interface PutArgs<T = unknown> {
  readonly key: string;
  readonly value: T;
  /** Milliseconds after which the key has no value any more. Absent if it does not expire. */
  readonly ttlMs?: number | undefined;
}

/** Options of `put`. */
export interface PutOptions {
  /**
   * Removes the value after this time, in milliseconds. A binding that cannot do that fails with
   * `UNSUPPORTED`. Default: the value does not expire.
   */
  readonly ttlMs?: number | undefined;
}

export interface RemoveArgs {
  readonly key: string;
}

export interface GetManyArgs {
  readonly keys: readonly string[];
}

/**
 * Reads the value of `key`; `undefined` if it has none.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the key is empty
 * @example
 * const name = await store.invoke(get<string>('user:7:name'));
 */
export function get<T = unknown>(key: string): Operation<T | undefined> {
  return {
    name: 'get',
    args: { key: checkName(key, 'key') } satisfies GetArgs,
    access: 'read',
    key,
  };
}

/**
 * Writes `value` under `key`. Stores may share the value with you: do not change it afterwards.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the key is empty, or `ttlMs` is not above 0
 * @example
 * await store.invoke(put('user:7:name', 'Ada'));
 */
export function put<T>(key: string, value: T, options: PutOptions = {}): Operation<void> {
  const { ttlMs } = checkOptions(options, 'ttlMs:number');
  check(ttlMs === undefined || isDuration(ttlMs), 'ttlMs', 'give milliseconds above 0');
  const args: PutArgs<T> = {
    key: checkName(key, 'key'),
    value,
    ...(ttlMs && { ttlMs }),
  };
  return { name: 'put', args, access: 'write', key };
}

function isDuration(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/**
 * Removes the value of `key`. If it has none, nothing changes.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the key is empty
 * @example
 * await store.invoke(remove('user:7:name'));
 */
export function remove(key: string): Operation<void> {
  const args: RemoveArgs = { key: checkName(key, 'key') };
  return { name: 'remove', args, access: 'write', key };
}

/**
 * Reads the values of `keys`, in their order; `undefined` for a key that has none. All values are
 * from one state of the store, unless the documentation of the binding excludes that (Cassandra).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `keys` is no array or has an empty key
 * @example
 * const [ada, alan] = await store.invoke(getMany<User>(['user:7', 'user:8']));
 */
export function getMany<T = unknown>(keys: readonly string[]): Operation<(T | undefined)[]> {
  check(Array.isArray(keys), 'keys', 'give a list of keys');
  keys.forEach((key, at) => checkName(key, `keys[${at}]`));
  const args: GetManyArgs = { keys: [...keys] };
  return {
    name: 'getMany',
    args,
    access: 'read',
    ...(keys[0] !== undefined && { key: keys[0] }),
  };
}
