/** One enqueue. Preliminary view: the number that the item would get; final view: the number that it has. */
import { notDoneError } from '../failures.ts';
import { checkItemSize } from './items.ts';
import type { QueueAccess } from './queue-access.ts';
import type { UnderWay } from './queue.ts';
import { wants, type Call } from '../run.ts';

export async function enqueue(access: QueueAccess, item: unknown, call: Call): Promise<void> {
  const { queue, sessions, codec, appends } = access;
  const bytes = codec.encode(item);
  checkItemSize(bytes, queue.paths);
  const [isWeakWanted, isStrongWanted] = [wants(call, 'weak'), wants(call, 'strong')];
  const underWay = queue.beginEnqueue();
  let number: number | undefined;
  let seq: number | undefined;
  const tellGuess = (predicted: number): void => {
    if (number === undefined && seq === undefined) {
      seq = call.sink.update(undefined, 'weak', { meta: { number: predicted } });
    }
  };
  // Where nothing but a guess was asked for, the final view answers in its place.
  const noGuess = (error: unknown): void => {
    if (isStrongWanted) call.sink.fail(notDoneError(error), 'weak');
  };
  try {
    // The question goes out first: it is what somebody waits for. A server that says so by itself needs none.
    if (isWeakWanted && sessions.preliminaries !== true) guess(access, underWay).then(tellGuess, noGuess);
    number = await appends.add(bytes, isWeakWanted ? tellGuess : undefined);
  } finally {
    queue.endEnqueue(underWay, number);
  }
  call.session?.advanceTo(sessions.writer.lastZxid);
  if (!isStrongWanted && seq !== undefined) return;
  if (seq === undefined) call.sink.update(undefined, 'strong', { meta: { number } });
  else call.sink.confirm('strong', seq, { meta: { number } });
}

/** The number after those of the follower and of our own enqueues under way. */
async function guess({ queue, sessions }: QueueAccess, underWay: UnderWay): Promise<number> {
  return (await queue.countItems(sessions.reader)) + queue.enqueuesBefore(underWay);
}
