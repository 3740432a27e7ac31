/** Submissions of red operations that were decided, and whose records still wait at the gate. */
import { callerLeftError } from '../../../service/records/failures.ts';
import type { OperationId } from '../../../service/records/records.ts';
import type { ReplyOrError } from '../../../service/records/reply.ts';
import type { Submission } from '../../core/submissions.ts';
import type { Stage } from '../../answer.ts';

type SendReply = (submission: Submission, stage: Stage, answer: ReplyOrError) => void;

export class OutcomeWaiters {
  readonly #reply: SendReply;
  readonly #waiters = new Map<OperationId, Submission>();

  constructor(reply: SendReply) {
    this.#reply = reply;
  }

  /** If several submissions wait for one operation, the latest gets its result. */
  add(id: OperationId, submission: Submission): void {
    const earlier = this.#waiters.get(id);
    if (earlier !== undefined) this.#reply(earlier, 'strong', callerLeftError());
    this.#waiters.set(id, submission);
  }

  onEnded(id: OperationId, answer: ReplyOrError): void {
    if (this.#waiters.size === 0) return;
    const waiter = this.#waiters.get(id);
    if (waiter !== undefined) this.#reply(waiter, 'strong', answer);
    this.#waiters.delete(id);
  }
}
