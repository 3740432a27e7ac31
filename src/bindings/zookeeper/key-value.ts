/** Reads and writes values by key. Each key has one node. */
import { isZooKeeperError } from './client/errors.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import { decodeValue } from './decode-value.ts';
import { throwNotApplied } from './errors.ts';
import { readAtBothLevels, type ZooKeeperReadResult } from './read-at-both-levels.ts';
import { isRequested, type OperationCall } from './operation-call.ts';
import type { SessionPair } from './session-pair.ts';
import type { ValueCodec } from './value-codec.ts';

export function executeGet(
  sessions: SessionPair,
  path: string,
  { call, codec, key }: { call: OperationCall; codec: ValueCodec; key: string },
): Promise<void> {
  const decode = (bytes: Uint8Array): unknown =>
    decodeValue(codec, bytes, { operation: 'get', key });
  return readAtBothLevels(sessions, call, async (zk, isSynced) => {
    if (!isSynced) return readValue(zk, path, decode);
    // The replies come in this order, so the read includes what the sync has brought.
    const [, reading] = await Promise.all([zk.sync(path), readValue(zk, path, decode)]);
    return reading;
  });
}

async function readValue(
  zk: ZooKeeper,
  path: string,
  decode: (bytes: Uint8Array) => unknown,
): Promise<ZooKeeperReadResult> {
  let zxid = 0n;
  try {
    const { data, stat } = await zk.get(path, {
      onZxid: (seen) => (zxid = seen),
    });
    return {
      value: data === null ? undefined : decode(data),
      zxid,
      version: stat.mzxid,
    };
  } catch (error) {
    if (isZooKeeperError(error, 'NO_NODE')) return { value: undefined, zxid };
    throw error;
  }
}

/**
 * Writes a value. Before the ensemble has agreed, the outcome is unknown, so the preliminary view
 * only shows that the write was sent.
 */
export async function executePut(
  sessions: SessionPair,
  path: string,
  { call, bytes }: { call: OperationCall; bytes: Uint8Array },
): Promise<void> {
  const writing = writeValue(sessions, path, bytes);
  const seq = isRequested(call, 'weak') ? call.sink.view(undefined, 'weak') : undefined;
  await writing;
  call.session?.advanceTo(sessions.place);
  if (!isRequested(call, 'strong')) return;
  if (seq === undefined) call.sink.view(undefined, 'strong');
  else call.sink.confirm('strong', seq);
}

async function writeValue(sessions: SessionPair, path: string, bytes: Uint8Array): Promise<void> {
  const { writer } = sessions;
  for (;;) {
    try {
      return void (await writer.set(path, bytes));
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
    }
    try {
      await sessions.createPath(path.slice(0, path.lastIndexOf('/'))).catch(throwNotApplied);
      return void (await writer.create(path, bytes));
    } catch (error) {
      // Another client was first, so overwrite its value.
      if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
    }
  }
}
