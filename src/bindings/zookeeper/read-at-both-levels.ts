/**
 * A read at both levels: the state of the follower, and the state after it has caught up (`sync`).
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import { waitForWeaker, isAbandoned } from '../../correctable/binding.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import { toCorrectableError } from './errors.ts';
import { isRequested, type OperationCall } from './operation-call.ts';
import type { SessionPair } from './session-pair.ts';

export interface ZooKeeperReadResult extends ViewDetails {
  readonly value: unknown;
  /** The servers that replied had applied all transactions up to this one, by their own replies. */
  readonly zxid: bigint;
}

/** Reads from a session's server as it is, or after a `sync`. */
export type ReadFunction = (zk: ZooKeeper, isSynced: boolean) => Promise<ZooKeeperReadResult>;

/**
 * Reads at both levels. A synced read uses the session of the updates. On the session of the reads,
 * preliminary views would wait behind it.
 */
export async function readAtBothLevels(
  sessions: SessionPair,
  call: OperationCall,
  read: ReadFunction,
): Promise<void> {
  const { sink, session } = call;
  const { reader, writer } = sessions;
  const startedAtMs = performance.now();
  let isOver = false;
  let weakView: Promise<unknown> | undefined;
  const showWeak = async (): Promise<boolean> => {
    // Use the transaction of these replies, not the newest one of the connection, which may come
    // from a later reply.
    const { value, zxid, ...details } = await read(reader, false);
    const place = { zxid, history: sessions.getHistory(reader) };
    if (isOver || session?.canShow(place) === false) return false;
    session?.advanceTo(place);
    if (!isAbandoned(call.context, startedAtMs)) sink.view(value, 'weak', details);
    return true;
  };
  if (!isRequested(call, 'strong')) {
    // If the server is behind the session, the next stronger level answers.
    if (await showWeak()) return;
  } else if (isRequested(call, 'weak')) {
    weakView = showWeak().catch((error: unknown) => sink.fail(toCorrectableError(error), 'weak'));
  }
  const synced = read(writer, true);
  // If the leader cannot be reached, the view of the follower is still useful, so it is delivered
  // first.
  await synced.catch(
    () => weakView && waitForWeaker(weakView, call.context, call.context.levelSignals?.['weak']),
  );
  const { value, zxid, ...details } = await synced;
  isOver = true;
  const place = { zxid, history: sessions.getHistory(writer) };
  session?.checkHistory(place);
  session?.advanceTo(place);
  if (!isAbandoned(call.context, startedAtMs)) sink.view(value, 'strong', details);
}
