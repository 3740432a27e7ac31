/**
 * A strong read shows every red operation that ended before it began and none that began after it ended. For the size of
 * a queue that bounds the answer from both sides.
 */
import { answerOf } from '../../../src/testing/simulator/history.ts';
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import { require } from '../../../src/testing/simulator/checkers/checker.ts';
import type { Checker, FinalState } from '../../../src/testing/simulator/checkers/checker.ts';

export class StrongReadChecker implements Checker {
  readonly name = 'strong reads';

  finished({ history }: FinalState): void {
    for (const read of history.answered('size')) {
      if (read.level !== 'strong') continue;
      const endedAtMs = firstAnswerAtMs(read);
      const onQueue = history.operations.filter(({ args }) => args['key'] === read.args['key']);
      const count = (operation: string, isCounted: (each: ClientOperation) => boolean): number =>
        onQueue.filter((each) => each.operation === operation && isCounted(each)).length;
      const isBegun = (each: ClientOperation): boolean => each.submittedAtMs <= endedAtMs;
      const isEnded = (each: ClientOperation): boolean => firstAnswerAtMs(each) < read.submittedAtMs;
      const isTaken = (each: ClientOperation): boolean => each.answers.length > 0 && answerOf(each) !== null;
      const mayTake = (each: ClientOperation): boolean => each.answers.length === 0 || isTaken(each);
      const least = count('enqueue', isEnded) - count('dequeue', (each) => isBegun(each) && mayTake(each));
      const most = count('enqueue', isBegun) - count('dequeue', (each) => isEnded(each) && isTaken(each));
      const size = answerOf(read) as number;
      require(size >= least && size <= most, () => `${read.id} saw ${size} items, not ${least} to ${most}`);
    }
  }
}

function firstAnswerAtMs({ answers }: ClientOperation): number {
  return answers[0]?.atMs ?? Infinity;
}
