/**
 * Checks the arguments of the two operations of transactions. Behind a gateway without a contract,
 * clients may send any.
 */
import { check } from '../correctable/errors.ts';
import { checkName } from './check-name.ts';
import {
  commit,
  readVersions,
  type BufferedWrite,
  type CommitArgs,
  type ReadVersionsArgs,
  type Version,
  type VersionedRead,
} from './versioned.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` with the field */
export function checkReadVersionsArgs(input: object): ReadVersionsArgs {
  const { keys, known } = input as {
    readonly [K in keyof ReadVersionsArgs]?: unknown;
  };
  check(Array.isArray(keys), 'args.keys', 'give a list of keys');
  const names = (keys as readonly unknown[]).map((key, at) =>
    checkName(key as string, `args.keys[${at}]`),
  );
  const args = readVersions(names).args as ReadVersionsArgs;
  if (known === undefined) return args;
  check(
    Array.isArray(known) && known.length === args.keys.length && known.every(isVersionOrNull),
    'args.known',
    'give a list with a version or null for each key',
  );
  return { ...args, known: [...(known as readonly (Version | null)[])] };
}

/** @throws CorrectableError `INVALID_ARGUMENT` with the field */
export function checkCommitArgs(input: object): CommitArgs {
  const { reads, writes } = input as {
    readonly [K in keyof CommitArgs]?: unknown;
  };
  check(
    Array.isArray(reads) && reads.every((read) => isVersion((read as VersionedRead)?.version)),
    'args.reads',
    'give a list of { key, version }',
  );
  check(
    Array.isArray(writes) && writes.every((write) => typeof write === 'object' && write !== null),
    'args.writes',
    'give a list of { key, value }',
  );
  // The builder checks the keys, and copies only the fields that belong to the arguments.
  return commit(reads as VersionedRead[], writes as BufferedWrite[]).args as CommitArgs;
}

function isVersion(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'string';
}

function isVersionOrNull(value: unknown): boolean {
  return value === null || isVersion(value);
}
