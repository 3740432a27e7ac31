/**
 * Two operations over the same partitions may refuse each other again and again, and both end. With
 * the workload `rivals` they read nothing, and no other operation is in flight. So there is no
 * reason for a CONFLICT.
 */
import {
  assertProperty,
  type Checker,
  type SubmissionEvent,
} from '../../../src/testing/simulator/checkers/checker.ts';

export class RivalsChecker implements Checker {
  readonly name = 'rivals';

  onSubmissionEvent({ operation: { id }, code }: SubmissionEvent): void {
    assertProperty(code !== 'CONFLICT', () => `${id} was refused until it ended with CONFLICT`);
  }
}
