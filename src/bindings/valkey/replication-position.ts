/**
 * Positions in the replication stream of Valkey and Redis: an offset of a
 * stream with an id.
 *
 * A promoted replica begins a stream with a new id. It keeps the id of the one
 * before, and up to where the two are the same. So positions from before the
 * promotion still count, up to there.
 */

export interface ValkeyPosition {
  /** The id of the stream. */
  readonly id: string;
  readonly offset: number;
  /** The stream before: the same up to `before` this offset. */
  readonly earlier?: { readonly id: string; readonly before: number };
}

const NO_ID = /^0+$/;

/** Reads a reply to `INFO replication`. `undefined` if it has no position. */
export function parsePosition(info: unknown): ValkeyPosition | undefined {
  const fields = new Map(
    Array.from(
      String(info).matchAll(/^(\w+):(.*?)\r?$/gm),
      ([, name, value]) => [name, value ?? ''],
    ),
  );
  const isReplica = fields.get('role') === 'slave';
  // While it copies all data, its offset is not that of what it shows.
  if (fields.get('master_sync_in_progress') === '1') return undefined;
  const id = fields.get('master_replid') ?? '';
  const offset = Number(
    fields.get(isReplica ? 'slave_repl_offset' : 'master_repl_offset') ?? NaN,
  );
  if (id === '' || !Number.isSafeInteger(offset) || offset < 0)
    return undefined;
  const earlierId = fields.get('master_replid2') ?? '';
  const before = Number(fields.get('second_repl_offset') ?? -1);
  const hasEarlier = earlierId !== '' && !NO_ID.test(earlierId) && before > 0;
  return {
    id,
    offset,
    ...(hasEarlier && { earlier: { id: earlierId, before } }),
  };
}

/** Returns whether a state at `have` has every write up to `need`. */
export function reached(have: ValkeyPosition, need: ValkeyPosition): boolean {
  if (have.offset < need.offset) return false;
  if (have.id === need.id) return true;
  return have.earlier?.id === need.id && need.offset < have.earlier.before;
}
