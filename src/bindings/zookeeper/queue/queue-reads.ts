/** Looking at a queue without taking anything. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { readItem } from './items.ts';
import type { QueueAccess } from './queue-access.ts';
import { readBoth, type Reading } from '../read.ts';
import type { Call } from '../run.ts';

/** How often a look is repeated whose item was taken before it could be read. */
const LOOKS_MAX = 10;

/** The first item that nobody has taken, with how many there are. */
export function peek(access: QueueAccess, call: Call): Promise<void> {
  return readBoth(access.sessions, call, (zk, isSynced) => look(access, zk, isSynced));
}

/** How many items nobody has taken. */
export function length(access: QueueAccess, call: Call): Promise<void> {
  return readBoth(access.sessions, call, (zk, isSynced) => left(access, zk, isSynced));
}

async function left({ queue }: QueueAccess, zk: ZooKeeper, isSynced: boolean): Promise<Reading> {
  if (isSynced) {
    const { tail, head, zxid } = await queue.countSynced(zk);
    return { value: Math.max(0, tail - head), zxid };
  }
  const { tail, head, zxid } = await queue.count(zk);
  const value = Math.max(0, tail + queue.enqueuesBefore(undefined) - head - queue.claimsBefore(undefined));
  return { value, zxid };
}

async function look({ queue, codec }: QueueAccess, zk: ZooKeeper, isSynced: boolean): Promise<Reading> {
  let skip = 0;
  for (let attempt = 1; ; attempt += 1) {
    const { tail, head, zxid } = isSynced ? await queue.countSynced(zk) : await queue.count(zk);
    const number = head + skip + (isSynced ? 0 : queue.claimsBefore(undefined));
    if (number >= tail) return { value: null, zxid, meta: { remaining: 0 } };
    const item = await readItem(zk, queue.paths, number);
    const isStanding = item !== undefined && !item.isFiller;
    if (isStanding) return { value: { item: codec.decode(item.bytes) }, zxid, meta: { remaining: tail - number } };
    // A filler stands for nothing; an item that is gone was taken since we counted.
    if (item?.isFiller === true) skip += 1;
    if (attempt < LOOKS_MAX) continue;
    throw new CorrectableError('CONFLICT', `${queue.paths.base}: the first item changes faster than it can be read`);
  }
}
