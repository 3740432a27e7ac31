/**
 * A strong read shows every red operation that ended before it began and none that began after it
 * ended. For the size of a queue that bounds the answer from both sides.
 */
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import { assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type { Checker, FinalState } from '../../../src/testing/simulator/checkers/checker.ts';

export class StrongReadChecker implements Checker {
  readonly name = 'strong reads';

  onFinished({ history }: FinalState): void {
    for (const read of history.getAnswered('size')) {
      if (read.level !== 'strong') continue;
      const endedAtMs = firstAnswerAtMs(read);
      const onQueue = history.operations.filter(({ args }) => args['key'] === read.args['key']);
      const count = (operation: string, isCounted: (item: ClientOperation) => boolean): number =>
        onQueue.filter((item) => item.operation === operation && isCounted(item)).length;
      const isBegun = (item: ClientOperation): boolean => item.submittedAtMs <= endedAtMs;
      const isEnded = (item: ClientOperation): boolean =>
        firstAnswerAtMs(item) < read.submittedAtMs;
      const isTaken = (item: ClientOperation): boolean =>
        item.replies.length > 0 && item.replies[0]?.value !== null;
      const mayTake = (item: ClientOperation): boolean =>
        item.replies.length === 0 || isTaken(item);
      const least =
        count('enqueue', isEnded) - count('dequeue', (item) => isBegun(item) && mayTake(item));
      const most =
        count('enqueue', isBegun) - count('dequeue', (item) => isEnded(item) && isTaken(item));
      const size = read.replies[0]?.value as number;
      assertProperty(
        size >= least && size <= most,
        () => `${read.id} saw ${size} items, not ${least} to ${most}`,
      );
    }
  }
}

function firstAnswerAtMs({ replies }: ClientOperation): number {
  return replies[0]?.atMs ?? Infinity;
}
