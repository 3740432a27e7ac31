/** One enqueue. Preliminary view: the number that the item would get; final view: the number that it has. */
import { correctableError } from '../failures.ts';
import type { QueueAccess } from './queue-access.ts';
import type { UnderWay } from './queue.ts';
import { wants, type Call } from '../run.ts';

export async function enqueue(access: QueueAccess, item: unknown, call: Call): Promise<void> {
  const { queue, sessions, codec } = access;
  const bytes = codec.encode(item);
  const underWay = queue.beginEnqueue();
  let number: number | undefined;
  let seq: number | undefined;
  const tellGuess = (predicted: number): void => {
    if (number === undefined && seq === undefined) {
      seq = call.sink.update(undefined, 'weak', { meta: { number: predicted } });
    }
  };
  try {
    // The question goes out first: it is what somebody waits for. A server that says so by itself needs none.
    const isAsking = wants(call, 'weak') && sessions.preliminaries !== true;
    if (isAsking) {
      guess(access, underWay).then(tellGuess, (error: unknown) => call.sink.fail(correctableError(error), 'weak'));
    }
    number = await access.append(bytes, wants(call, 'weak') ? tellGuess : undefined);
  } finally {
    queue.endEnqueue(underWay, number);
  }
  call.session?.advanceTo(sessions.writer.lastZxid);
  if (!wants(call, 'strong')) return;
  if (seq === undefined) call.sink.update(undefined, 'strong', { meta: { number } });
  else call.sink.confirm('strong', seq, { meta: { number } });
}

/** The number after those of the follower and of our own enqueues under way. */
async function guess({ queue, sessions }: QueueAccess, underWay: UnderWay): Promise<number> {
  return (await queue.countItems(sessions.reader)) + queue.enqueuesBefore(underWay);
}
