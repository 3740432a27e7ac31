/** Values by key: one node each. */
import { isZooKeeperError } from './client/errors.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import { throwNotDone } from './failures.ts';
import { readBoth, type Reading } from './read.ts';
import { wants, type Call } from './run.ts';
import type { Sessions } from './sessions.ts';
import type { ValueCodec } from './values.ts';

export function get(
  sessions: Sessions,
  path: string,
  { call, codec }: { call: Call; codec: ValueCodec },
): Promise<void> {
  return readBoth(sessions, call, async (zk, isSynced) => {
    if (!isSynced) return read(zk, path, codec);
    // Answered in this order: the read sees what the sync has brought.
    const [, reading] = await Promise.all([zk.sync(path), read(zk, path, codec)]);
    return reading;
  });
}

async function read(zk: ZooKeeper, path: string, codec: ValueCodec): Promise<Reading> {
  let zxid = 0n;
  try {
    const { data, stat } = await zk.get(path, { onZxid: (seen) => (zxid = seen) });
    return { value: data === null ? undefined : codec.decode(data), zxid, version: stat.mzxid };
  } catch (error) {
    if (isZooKeeperError(error, 'NO_NODE')) return { value: undefined, zxid };
    throw error;
  }
}

/** Writes a value. Nothing is known before the ensemble has agreed, thus the preliminary view is only that it was sent. */
export async function put(
  sessions: Sessions,
  path: string,
  { call, bytes }: { call: Call; bytes: Uint8Array },
): Promise<void> {
  const writing = write(sessions, path, bytes);
  const seq = wants(call, 'weak') ? call.sink.update(undefined, 'weak') : undefined;
  await writing;
  call.session?.advanceTo(sessions.writer.lastZxid);
  if (!wants(call, 'strong')) return;
  if (seq === undefined) call.sink.update(undefined, 'strong');
  else call.sink.confirm('strong', seq);
}

async function write(sessions: Sessions, path: string, bytes: Uint8Array): Promise<void> {
  const { writer } = sessions;
  for (;;) {
    try {
      return void (await writer.set(path, bytes));
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
    }
    try {
      await sessions.makePath(path.slice(0, path.lastIndexOf('/'))).catch(throwNotDone);
      return void (await writer.create(path, bytes));
    } catch (error) {
      // Somebody else was first: write over it.
      if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
    }
  }
}
