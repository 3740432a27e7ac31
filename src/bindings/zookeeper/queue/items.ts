/** Items in the ensemble, and their maximum size. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { replaceErrorWith } from '../client/errors.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../client/options.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import type { QueuePaths } from '../paths.ts';
import { computeNextNumber } from './next-number.ts';

/** An item. `isPlaceholder` means that it only occupies a number. */
export interface Item {
  readonly number: number;
  /**
   * The transaction that created it. It distinguishes the item from one with this number in a
   * recreated queue.
   */
  readonly czxid: bigint;
  readonly bytes: Uint8Array;
  readonly isPlaceholder: boolean;
}

/** The overhead of the request that puts an item back, beside the item and its paths. */
const REQUEUE_OVERHEAD_BYTES = 512;
/** The number of paths in that request: of the claim, of the item, and of the new item. */
const REQUEUE_PATH_COUNT = 3;

/**
 * Returns the item with a number, by the state of the server. Returns `undefined` if there is none.
 */
export async function readItem(
  zk: ZooKeeper,
  paths: QueuePaths,
  number: number,
): Promise<Item | undefined> {
  const node = await zk.get(paths.item(number)).catch(replaceErrorWith('NO_NODE', undefined));
  if (node === undefined) return undefined;
  const bytes = node.data ?? new Uint8Array(0);
  return {
    number,
    czxid: node.stat.czxid,
    bytes,
    isPlaceholder: bytes.length === 0,
  };
}

/**
 * Finds an item after a sync. The end of the queue is read first. A missing item before that end
 * was taken. An item behind it was never created.
 */
export async function findItem(
  zk: ZooKeeper,
  paths: QueuePaths,
  number: number,
): Promise<{ readonly item: Item | undefined; readonly tail: number }> {
  const [, items, item] = await Promise.all([
    zk.sync(paths.base),
    zk.exists(paths.items),
    readItem(zk, paths, number),
  ]);
  return { item, tail: computeNextNumber(items) };
}

/**
 * Checks that an item fits into the request that puts it back, which is larger. Throws
 * `INVALID_ARGUMENT`.
 */
export function checkItemSize(bytes: Uint8Array, { base }: QueuePaths): void {
  const max =
    DEFAULT_MAX_REQUEST_BYTES -
    REQUEUE_OVERHEAD_BYTES -
    REQUEUE_PATH_COUNT * Buffer.byteLength(base);
  if (bytes.length <= max) return;
  const message = `item: ${bytes.length} bytes are too many: give at most ${max}, or keep it elsewhere and enqueue where`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'item' });
}
