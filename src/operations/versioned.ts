/**
 * The two operations that a transaction over a remote store needs (SDUR, DSN 2013): a read that
 * returns versions, and a commit that certifies them.
 */
import { check } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { checkName } from './check-name.ts';

/**
 * Names one state of one key. Compare versions for equality only: which of two is newer is not
 * defined. A key without a value has a version too.
 */
export type Version = string | number;

/** The value of a key, with the version that it has. */
export interface VersionedValue<T = unknown> {
  readonly version: Version;
  /** Absent if the key has no value, or if the caller already has the value of this version. */
  readonly value?: T | undefined;
}

export interface ReadVersionsArgs {
  readonly keys: readonly string[];
  /**
   * For each key, the version that the caller already has, or `null`. Absent if the caller has no
   * value of any key.
   */
  readonly known?: readonly (Version | null)[] | undefined;
}

/** A key, and the version that a transaction has read. */
export interface VersionedRead {
  readonly key: string;
  readonly version: Version;
}

/** A key, and the value that a transaction writes. */
export interface BufferedWrite {
  readonly key: string;
  readonly value: unknown;
}

export interface CommitArgs {
  readonly reads: readonly VersionedRead[];
  readonly writes: readonly BufferedWrite[];
}

/** The outcome of a commit. */
export interface CommitResult {
  /** Whether all writes were applied. Otherwise none was. */
  readonly committed: boolean;
  /** The keys whose version is another one than was read. Empty if `committed`. */
  readonly changed: readonly string[];
}

/** The most keys that one transaction reads and writes. */
export const MAX_TRANSACTION_KEYS = 1_000;

/**
 * Reads the values of `keys` with their versions, all from one state of the store, in the order of
 * `keys`. If `known` has the present version of a key, its value is left out of the result.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `keys` is no array, has an empty key, or has more
 * than 1,000 keys
 * @example
 * const [account] = await store.invokeWeak(readVersions<number>(['account:7']));
 * console.log(account?.value, account?.version);
 */
export function readVersions<T = unknown>(
  keys: readonly string[],
  known?: ReadonlyMap<string, Version>,
): Operation<readonly VersionedValue<T>[]> {
  check(Array.isArray(keys), 'keys', 'give a list of keys');
  checkKeyCount(keys.length);
  keys.forEach((key, at) => checkName(key, `keys[${at}]`));

  const args: ReadVersionsArgs = {
    keys: [...keys],
    ...(known?.size && { known: keys.map((key) => known.get(key) ?? null) }),
  };
  const [key] = keys;
  return {
    name: 'readVersions',
    args,
    access: 'read',
    ...(key !== undefined && { key }),
  };
}

/**
 * Applies all `writes` if each key of `reads` still has the version that was read, otherwise none.
 * The result contains the keys that have changed. A key that is written but not read is not
 * checked.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if a list is no array, has an empty key, or both
 * together have more than 1,000 keys
 * @example
 * const [account] = await store.invokeWeak(readVersions<number>(['account:7']));
 * const { committed } = await store.invoke(
 *   commit(
 *     [{ key: 'account:7', version: account!.version }],
 *     [{ key: 'account:7', value: (account!.value ?? 0) + 1 }],
 *   ),
 * );
 */
export function commit(
  reads: readonly VersionedRead[],
  writes: readonly BufferedWrite[],
): Operation<CommitResult> {
  check(Array.isArray(reads), 'reads', 'give a list of { key, version }');
  check(Array.isArray(writes), 'writes', 'give a list of { key, value }');
  // The items are checked later: a client of a gateway may send any value as an item.
  checkKeyCount(new Set([...reads, ...writes].map((item) => item?.key)).size);
  reads.forEach((item, at) => checkName(item?.key, `reads[${at}].key`));
  writes.forEach((item, at) => checkName(item?.key, `writes[${at}].key`));

  const args: CommitArgs = {
    reads: reads.map(({ key, version }) => ({ key, version })),
    writes: writes.map(({ key, value }) => ({ key, value })),
  };
  const key = writes[0]?.key ?? reads[0]?.key;
  return {
    name: 'commit',
    args,
    access: 'write',
    ...(key !== undefined && { key }),
  };
}

function checkKeyCount(count: number): void {
  check(
    count <= MAX_TRANSACTION_KEYS,
    'keys',
    `give at most ${MAX_TRANSACTION_KEYS} keys, got ${count}. Split the transaction`,
  );
}
