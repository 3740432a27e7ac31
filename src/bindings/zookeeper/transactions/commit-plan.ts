/** The checks and writes of one commit, and the `multi` that executes it. */
import { check, CorrectableError } from '../../../correctable/errors.ts';
import { commit, type CommitArgs, type Version } from '../../../operations/versioned.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../client/options.ts';
import type { MultiPart } from '../client/multi.ts';
import type { Paths } from '../paths.ts';
import type { ValueCodec } from '../value-codec.ts';
import { parseDataVersion } from './node-version.ts';

/** A key that a commit reads, or writes, or both. */
export interface CommitKey {
  readonly key: string;
  readonly path: string;
  /** The version that was read; `undefined` if the key is written only. */
  readonly version: Version | undefined;
  /** The data version that the node must have; `null` if there must be no node. */
  readonly dataVersion: number | null;
  /** The value to write; `undefined` if the key is read only. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * Returns the keys of a commit, each once. The keys that were read come first.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names the field
 */
export function createCommitKeys(
  args: CommitArgs,
  paths: Paths,
  codec: ValueCodec,
): readonly CommitKey[] {
  // The builder checks the names. Behind a gateway without a contract, a client may send any value.
  commit(args.reads, args.writes);
  const writes = new Map(args.writes.map(({ key, value }) => [key, codec.encode(value)]));
  const reads = new Map<string, CommitKey>();
  for (const [at, { key, version }] of args.reads.entries()) {
    const dataVersion = parseDataVersion(version, `reads[${at}].version`);
    check(
      (reads.get(key)?.version ?? version) === version,
      `reads[${at}].version`,
      'the key has another version before. Give each key once',
    );
    reads.set(key, {
      key,
      path: paths.key(key),
      version,
      dataVersion,
      bytes: writes.get(key),
    });
  }

  const unread = [...writes].filter(([key]) => !reads.has(key));
  const keys = [
    ...reads.values(),
    ...unread.map(([key, bytes]) => createUnreadKey(key, paths.key(key), bytes)),
  ];
  checkSize(keys);
  return keys;
}

function createUnreadKey(key: string, path: string, bytes: Uint8Array): CommitKey {
  return { key, path, version: undefined, dataVersion: null, bytes };
}

export function isUnread({ version }: CommitKey): boolean {
  return version === undefined;
}

/** One part of the `multi`, with the key that it belongs to. */
export interface CommitPart {
  readonly owner: CommitKey;
  readonly part: MultiPart;
}

/** Returns the parts for `owner`. `isPresent`: whether the node of an unread key exists. */
export function createCommitParts(owner: CommitKey, isPresent: boolean): CommitPart[] {
  const { path, bytes, dataVersion } = owner;
  const toCommitPart = (part: MultiPart): CommitPart => ({ owner, part });
  if (isUnread(owner) && isPresent)
    return [toCommitPart({ type: 'set', path, data: bytes ?? null })];
  if (dataVersion === null) return createAbsentParts(path, bytes).map(toCommitPart);
  return [
    toCommitPart(
      bytes === undefined
        ? { type: 'check', path, version: dataVersion }
        : { type: 'set', path, data: bytes, version: dataVersion },
    ),
  ];
}

/**
 * A `multi` has no check that a node does not exist. A `create` fails if it does. If nothing is to
 * be written, a `delete` takes the node away again in the same transaction, so no client ever reads
 * it.
 */
function createAbsentParts(path: string, bytes: Uint8Array | undefined): MultiPart[] {
  if (bytes !== undefined) return [{ type: 'create', path, data: bytes }];
  return [
    { type: 'create', path, data: null },
    { type: 'delete', path, version: 0 },
  ];
}

/** More than the size of the numbers and the ACL of one part. */
const PART_OVERHEAD_BYTES = 64;

/** A server closes the connection at a larger request without an error. */
function checkSize(keys: readonly CommitKey[]): void {
  const bytes = keys
    .flatMap((key) => createCommitParts(key, false))
    .map(({ part, owner }) => Buffer.byteLength(part.path) + (owner.bytes?.length ?? 0))
    .reduce((sum, size) => sum + size + PART_OVERHEAD_BYTES, 0);
  if (bytes <= DEFAULT_MAX_REQUEST_BYTES) return;
  const message = `commit: it takes ${bytes} bytes, and a ZooKeeper request at most ${DEFAULT_MAX_REQUEST_BYTES} (jute.maxbuffer). Nothing was written. Split the transaction, or keep large values elsewhere.`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'writes' });
}
