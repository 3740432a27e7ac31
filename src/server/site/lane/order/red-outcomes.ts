/** The answers of red operations that have ended, for clients that submit them again. */
import { isCorrectableError } from '../../../../correctable/errors.ts';
import {
  IdTable,
  type EXPIRED,
  type RetainedReplyStats,
  type ValueCodec,
} from '../../parts/lookups/id-table.ts';
import type { Section } from '../../../service/records/checkpoint.ts';
import { toError, toFailure } from '../../../service/records/failures.ts';
import { measurePlainData } from '../../../../values/estimate-bytes.ts';
import type { Failure, OperationId } from '../../../service/records/records.ts';
import type { ReplyOrError, Reply } from '../../../service/records/reply.ts';
import type { CertifierLimits } from '../../../service/records/retention-limits.ts';
import { CERTIFIER_LIMITS } from './certifier.ts';

/** Saves answers as plain data: a reply or a failure. */
const OUTCOME_CODEC: ValueCodec<ReplyOrError> = {
  measure: (answer) => measurePlainData(isCorrectableError(answer) ? toFailure(answer) : answer),
  save: (answer) =>
    isCorrectableError(answer) ? { failure: toFailure(answer) } : { reply: answer },
  load: (saved) => {
    const { reply, failure } = saved as {
      readonly reply?: Reply;
      readonly failure?: Failure;
    };
    return failure === undefined ? (reply as Reply) : toError(failure);
  },
};

export class RedOutcomes {
  readonly table: IdTable<ReplyOrError>;

  constructor({ maxOutcomes }: CertifierLimits = CERTIFIER_LIMITS) {
    this.table = new IdTable<ReplyOrError>(maxOutcomes, OUTCOME_CODEC);
  }

  get retainedReplies(): RetainedReplyStats {
    return this.table.retainedReplies;
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.table.sections('redAnswers');
  }

  /**
   * Returns the answer. It is `undefined` if the operation has not ended here, and `EXPIRED` if the
   * answers of its client were forgotten.
   */
  get(id: OperationId): ReplyOrError | typeof EXPIRED | undefined {
    return this.table.get(id);
  }

  set(id: OperationId, answer: ReplyOrError): void {
    this.table.set(id, answer);
  }

  expire(client: string, acknowledged: number): void {
    this.table.expire(client, acknowledged);
  }
}
