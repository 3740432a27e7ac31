/**
 * The results of red operations, for retries. A result is delivered once its
 * end has passed the gate.
 */
import { isCorrectableError } from '../../../correctable/errors.ts';
import {
  EXPIRED,
  IdTable,
  type RetainedReplyStats,
  type ValueCodec,
} from '../exactly-once/id-table.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Section } from '../../records/checkpoint.ts';
import {
  toError,
  expiredError,
  toFailure,
  callerLeftError,
} from '../../records/failures.ts';
import { measurePlainData } from '../../../values/estimate-bytes.ts';
import type { Failure, OperationId } from '../../records/records.ts';
import type { ReplyOrError, Reply } from '../../records/reply.ts';
import type { Submission } from '../../records/submissions.ts';
import { CERTIFIER_LIMITS } from './certifier.ts';

/** How answers are saved: a reply or a failure, as plain data. */
const OUTCOME_CODEC: ValueCodec<ReplyOrError> = {
  measure: (answer) =>
    measurePlainData(isCorrectableError(answer) ? toFailure(answer) : answer),
  save: (answer) =>
    isCorrectableError(answer)
      ? { failure: toFailure(answer) }
      : { reply: answer },
  load: (saved) => {
    const { reply, failure } = saved as {
      readonly reply?: Reply;
      readonly failure?: Failure;
    };
    return failure === undefined ? (reply as Reply) : toError(failure);
  },
};

export class RedOutcomes {
  readonly #core: Pick<ReplicaCore, 'options' | 'reply'>;
  readonly table: IdTable<ReplyOrError>;
  /**
   * The latest submissions of operations that have ended in the log and are
   * still behind the gate.
   */
  readonly #waiters = new Map<OperationId, Submission>();

  constructor(core: Pick<ReplicaCore, 'options' | 'reply'>) {
    this.#core = core;
    const { retentionLimits = CERTIFIER_LIMITS } = core.options;
    this.table = new IdTable<ReplyOrError>(
      retentionLimits.maxOutcomes,
      OUTCOME_CODEC,
    );
  }

  get retainedReplies(): RetainedReplyStats {
    return this.table.retainedReplies;
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.table.sections('redAnswers');
  }

  /**
   * The answer; none where the operation has not ended here, or its client's
   * answers are forgotten.
   */
  get(id: OperationId): ReplyOrError | undefined {
    const answer = this.table.get(id);
    return answer === EXPIRED ? undefined : answer;
  }

  /**
   * Delivers the result of an operation. Returns whether the result is known,
   * or forgotten for good.
   */
  notify(id: OperationId, submission: Submission): boolean {
    const answer = this.table.get(id);
    if (answer === undefined) return false;
    this.#core.reply(
      submission,
      'strong',
      answer === EXPIRED ? expiredError() : answer,
    );
    return true;
  }

  /**
   * Delivers the result when the end has passed the gate: of several waiting
   * submissions the latest gets it.
   */
  notifyLater(id: OperationId, submission: Submission): void {
    const earlier = this.#waiters.get(id);
    if (earlier !== undefined)
      this.#core.reply(earlier, 'strong', callerLeftError());
    this.#waiters.set(id, submission);
  }

  end(id: OperationId, answer: ReplyOrError): void {
    this.table.set(id, answer);
    if (this.#waiters.size === 0) return;
    const requester = this.#waiters.get(id);
    if (requester !== undefined) this.#core.reply(requester, 'strong', answer);
    this.#waiters.delete(id);
  }

  expire(client: string, acknowledged: number): void {
    this.table.expire(client, acknowledged);
  }
}
