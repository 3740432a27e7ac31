/**
 * Reads the strongest level again if it is behind what was shown: it may have been asked too early,
 * or its address may lead to another server.
 */
import { CorrectableError } from '../../correctable/errors.ts';

/** One read of the strongest level, for its final view. */
export interface FinalRead<A> {
  readonly read: () => Promise<A>;
  /** Returns whether an answer is certainly older than the session. */
  readonly isBehind: (answer: A) => boolean;
  /** Returns whether an answer is doubtful, so that one repetition decides. */
  readonly isDoubtful: (answer: A) => boolean;
  readonly isCallerGone: () => boolean;
  /**
   * Called with the answer in the same turn as it is judged. An early view that came after that
   * would be newer than the final one.
   */
  readonly onAccepted: (answer: A) => void;
  readonly stats: { repeatedFinals: number };
  /** What is behind, and what to check, for the error. */
  readonly describe: () => string;
}

/** @throws CorrectableError `REPLICA_BEHIND` if it is behind twice */
export async function readCurrent<A>(final: FinalRead<A>): Promise<A> {
  const answer = await final.read();
  const isAccepted = !final.isBehind(answer) && !final.isDoubtful(answer);
  if (isAccepted) final.onAccepted(answer);
  if (isAccepted || final.isCallerGone()) return answer;

  final.stats.repeatedFinals += 1;
  const second = await final.read();
  if (!final.isBehind(second)) {
    final.onAccepted(second);
    return second;
  }
  throw new CorrectableError('REPLICA_BEHIND', final.describe());
}
