/** Reads a queue without taking an item. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { decodeValue } from '../decode-value.ts';
import { readItem } from './items.ts';
import type { QueueContext } from './queue-context.ts';
import { readAtBothLevels, type ZooKeeperReadResult } from '../read-at-both-levels.ts';
import type { OperationCall } from '../operation-call.ts';

/** How often a read is repeated because its item was taken meanwhile. */
const MAX_READ_ATTEMPTS = 10;

/** Reads the first item that is not taken, and the number of items. */
export function executePeek(access: QueueContext, call: OperationCall): Promise<void> {
  return readAtBothLevels(access.sessions, call, (zk, isSynced) => readFirst(access, zk, isSynced));
}

export function executeLength(access: QueueContext, call: OperationCall): Promise<void> {
  return readAtBothLevels(access.sessions, call, (zk, isSynced) =>
    countRemaining(access, zk, isSynced),
  );
}

async function countRemaining(
  { queue }: QueueContext,
  zk: ZooKeeper,
  isSynced: boolean,
): Promise<ZooKeeperReadResult> {
  if (isSynced) {
    const { tail, head, zxid } = await queue.readSyncedBounds(zk);
    return { value: Math.max(0, tail - head), zxid };
  }
  const { tail, head, zxid } = await queue.readBounds(zk);
  const value = Math.max(
    0,
    tail + queue.countEnqueuesBefore(undefined) - head - queue.countClaimsBefore(undefined),
  );
  return { value, zxid };
}

async function readFirst(
  { queue, codec }: QueueContext,
  zk: ZooKeeper,
  isSynced: boolean,
): Promise<ZooKeeperReadResult> {
  let skip = 0;
  for (let attempt = 1; ; attempt += 1) {
    const { tail, head, zxid } = isSynced
      ? await queue.readSyncedBounds(zk)
      : await queue.readBounds(zk);
    const number = head + skip + (isSynced ? 0 : queue.countClaimsBefore(undefined));
    if (number >= tail) return { value: null, zxid, meta: { remaining: 0 } };
    const item = await readItem(zk, queue.paths, number);
    const isStanding = item !== undefined && !item.isPlaceholder;
    if (isStanding)
      return {
        value: {
          item: decodeValue(codec, item.bytes, {
            operation: 'peek',
            what: `item ${number} of ${queue.paths.base}`,
          }),
        },
        zxid,
        meta: { remaining: tail - number },
      };
    // A placeholder is no item, so skip it. A missing item was taken since the count, so count
    // again.
    if (item?.isPlaceholder === true) skip += 1;
    if (attempt < MAX_READ_ATTEMPTS) continue;
    throw new CorrectableError(
      'CONFLICT',
      `${queue.paths.base}: the first item changes faster than it can be read`,
    );
  }
}
