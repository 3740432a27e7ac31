/**
 * A read at both levels: from the follower as it is, and after it has caught up
 * (`sync`).
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import { waitForWeaker, isAbandoned } from '../../correctable/binding.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import { toCorrectableError } from './errors.ts';
import { isRequested, type OperationCall } from './operation-call.ts';
import type { SessionPair } from './session-pair.ts';

export interface ZooKeeperReadResult extends ViewDetails {
  readonly value: unknown;
  /**
   * The servers that answered had applied all transactions up to this one, by
   * their own answers.
   */
  readonly zxid: bigint;
}

/** How to read: from a session's server as it is, or after a `sync`. */
export type ReadFunction = (
  zk: ZooKeeper,
  isSynced: boolean,
) => Promise<ZooKeeperReadResult>;

/**
 * A synced read goes with the updates: on the other session, preliminary views
 * would wait behind it.
 */
export async function readAtBothLevels(
  { reader, writer }: SessionPair,
  call: OperationCall,
  read: ReadFunction,
): Promise<void> {
  const { sink, session } = call;
  const startedAtMs = performance.now();
  let isOver = false;
  let weakView: Promise<unknown> | undefined;
  const showWeak = async (): Promise<boolean> => {
    // Not what the session has seen by now: an answer that came after this one
    // may be newer.
    const { value, zxid, ...details } = await read(reader, false);
    if (isOver || session?.canShow(zxid) === false) return false;
    session?.advanceTo(zxid);
    if (!isAbandoned(call.context, startedAtMs))
      sink.view(value, 'weak', details);
    return true;
  };
  if (!isRequested(call, 'strong')) {
    // Where the server is behind the session, the next stronger level answers.
    if (await showWeak()) return;
  } else if (isRequested(call, 'weak')) {
    weakView = showWeak().catch((error: unknown) =>
      sink.fail(toCorrectableError(error), 'weak'),
    );
  }
  const synced = read(writer, true);
  // What the follower has is worth most where the leader cannot be had: it goes
  // first.
  await synced.catch(
    () =>
      weakView &&
      waitForWeaker(
        weakView,
        call.context,
        call.context.levelSignals?.['weak'],
      ),
  );
  const { value, zxid, ...details } = await synced;
  isOver = true;
  session?.advanceTo(zxid);
  if (!isAbandoned(call.context, startedAtMs))
    sink.view(value, 'strong', details);
}
