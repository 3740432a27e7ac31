/**
 * Positions in the replication stream of Valkey and Redis: an offset of a stream with an id.
 *
 * A promoted replica begins a stream with a new id. It keeps the id of the one before, and up to
 * where the two are the same. So positions from before the promotion still count, up to there. A
 * server that starts again from a dump does the same. One that starts from an append-only file, or
 * from nothing, begins a stream that is related to none.
 */

export interface ValkeyPosition {
  /** The id of the stream. */
  readonly id: string;
  readonly offset: number;
  /** The stream before: the same up to `before` this offset. */
  readonly earlier?: { readonly id: string; readonly before: number };
  /** Whether the server has no append-only file, and starts again without data. */
  readonly isVolatile?: true;
  /** The id of the process, if it was a primary when it was connected. */
  readonly runId?: string;
}

/** What a server says of itself when it is connected. */
export interface ServerFacts {
  readonly replicationId?: string | undefined;
  readonly isVolatile?: boolean;
  readonly runId?: string | undefined;
}

export type Info = ReadonlyMap<string, string>;

const NO_ID = /^0+$/;

/** Reads a reply to `INFO`. */
export function parseInfo(reply: unknown): Info {
  return new Map(
    Array.from(String(reply).matchAll(/^(\w+):(.*?)\r?$/gm), ([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
}

export function isReplica(info: Info): boolean {
  return info.get('role') === 'slave';
}

/** Reads a reply to `INFO replication`. `undefined` if it has no position. */
export function parsePosition(
  info: Info,
  { isVolatile = false, runId }: ServerFacts = {},
): ValkeyPosition | undefined {
  // While it copies all data, its offset is not that of what it shows.
  if (info.get('master_sync_in_progress') === '1') return undefined;
  const id = info.get('master_replid') ?? '';
  const field = isReplica(info) ? 'slave_repl_offset' : 'master_repl_offset';
  const offset = Number(info.get(field) ?? NaN);
  if (id === '' || !Number.isSafeInteger(offset) || offset < 0) return undefined;
  const earlierId = info.get('master_replid2') ?? '';
  const before = Number(info.get('second_repl_offset') ?? -1);
  const hasEarlier = earlierId !== '' && !NO_ID.test(earlierId) && before > 0;
  return {
    id,
    offset,
    ...(hasEarlier && { earlier: { id: earlierId, before } }),
    ...(isVolatile && { isVolatile }),
    ...(runId !== undefined && { runId }),
  };
}

/** Returns whether a state at `have` has every write up to `need`. */
export function reached(have: ValkeyPosition, need: ValkeyPosition): boolean {
  if (have.offset < need.offset) return false;
  if (have.id === need.id) return true;
  return have.earlier?.id === need.id && need.offset < have.earlier.before;
}

/**
 * Returns whether a primary at `have` lacks something up to `need` for good. It does after a
 * promotion that has lost the end of the stream. So does a server that has started again with less,
 * and without a file of all writes.
 *
 * A primary without replicas changes its id after `repl-backlog-ttl`, and its offset stays. So at
 * an equal offset, only another process has lost something.
 */
export function hasLost(have: ValkeyPosition, need: ValkeyPosition): boolean {
  if (have.id === need.id || isOldStream(have.id, need)) return false;
  if (have.earlier?.id === need.id) return need.offset >= have.earlier.before;
  if (have.isVolatile !== true || have.offset > need.offset) return false;
  return have.offset < need.offset || isOtherProcess(have, need);
}

function isOtherProcess(have: ValkeyPosition, need: ValkeyPosition): boolean {
  if (have.runId === undefined || need.runId === undefined) return false;
  return have.runId !== need.runId;
}

/** Returns whether a stream has ended where the one of `position` begins. */
export function isOldStream(id: string, position: ValkeyPosition): boolean {
  return position.id !== id && position.earlier?.id === id;
}
