/**
 * One enqueue. The preliminary view is the number that the item would get, the final view the
 * number that it has.
 */
import { toNotAppliedError } from '../errors.ts';
import { checkItemSize } from './items.ts';
import type { QueueContext } from './queue-context.ts';
import type { InFlightWrite } from './queue-state.ts';
import { isRequested, type OperationCall } from '../operation-call.ts';

export async function executeEnqueue(
  access: QueueContext,
  item: unknown,
  call: OperationCall,
): Promise<void> {
  const { queue, sessions, codec, appender } = access;
  const bytes = codec.encode(item);
  checkItemSize(bytes, queue.paths);
  const [isWeakWanted, isStrongWanted] = [isRequested(call, 'weak'), isRequested(call, 'strong')];
  const inFlight = queue.beginEnqueue();
  let number: number | undefined;
  let seq: number | undefined;
  const showGuess = (predicted: number): void => {
    if (number === undefined && seq === undefined) {
      seq = call.sink.view(undefined, 'weak', { meta: { number: predicted } });
    }
  };
  // If only the preliminary view was requested, the final view is delivered in its place.
  const noGuess = (error: unknown): void => {
    if (isStrongWanted) call.sink.fail(toNotAppliedError(error), 'weak');
  };
  try {
    // Send the read before the create, because a caller waits for the preliminary view. A server
    // with preliminary replies needs no read.
    if (isWeakWanted && sessions.hasPreliminaryReplies !== true)
      predictNumber(access, inFlight).then(showGuess, noGuess);
    number = await appender.add(bytes, isWeakWanted ? showGuess : undefined);
  } finally {
    queue.endEnqueue(inFlight, number);
  }
  call.session?.advanceTo(sessions.place);
  if (!isStrongWanted && seq !== undefined) return;
  if (seq === undefined) call.sink.view(undefined, 'strong', { meta: { number } });
  else call.sink.confirm('strong', seq, { meta: { number } });
}

/** Returns the number after those of the follower and of own enqueues in flight. */
async function predictNumber(
  { queue, sessions }: QueueContext,
  inFlight: InFlightWrite,
): Promise<number> {
  return (await queue.readTail(sessions.reader)) + queue.countEnqueuesBefore(inFlight);
}
