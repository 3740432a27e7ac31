/** What became of red operations, for whoever asks again: it is told once the end of the operation has passed the gate. */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { EXPIRED, IdTable, type ValueCodec } from '../once/id-table.ts';
import type { RememberedInLog } from '../once/remembered.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Section } from '../../records/checkpoint.ts';
import { errorOf, expiredError, failureOf, leftError } from '../../records/failure.ts';
import { plainBytes } from '../../../values/size.ts';
import type { Failure, OperationId } from '../../records/records.ts';
import type { Answer, Reply } from '../../records/reply.ts';
import type { Stage, Submission } from '../../records/submissions.ts';
import { CERTIFIER_LIMITS } from './certifier.ts';

/** What it needs from the rest of the replica. */
interface EndingsHost {
  readonly core: ReplicaCore;
  answer(submission: Submission, stage: Stage, answer: Answer): void;
}

/** How answers are saved: a reply or a failure, as plain data. */
const ANSWER_CODEC: ValueCodec<Answer> = {
  bytesOf: (answer) => plainBytes(isCorrectableError(answer) ? failureOf(answer) : answer),
  save: (answer) => (isCorrectableError(answer) ? { failure: failureOf(answer) } : { reply: answer }),
  load: (saved) => {
    const { reply, failure } = saved as { readonly reply?: Reply; readonly failure?: Failure };
    return failure === undefined ? (reply as Reply) : errorOf(failure);
  },
};

/** The answers of red operations that have ended here. */
export class RedEndings {
  readonly #host: EndingsHost;
  readonly #answers: IdTable<Answer>;
  /** Who asked last for operations that have ended in the log and are still behind the gate. */
  readonly #askers = new Map<OperationId, Submission>();

  constructor(host: EndingsHost) {
    this.#host = host;
    const { remembers = CERTIFIER_LIMITS } = host.core.options;
    this.#answers = new IdTable<Answer>(remembers.endings, ANSWER_CODEC);
  }

  get remembered(): RememberedInLog {
    return this.#answers.remembered;
  }

  /** The part of the state that is saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return this.#answers.sections('redAnswers');
  }

  /** The answer; none where the operation has not ended here, or its client's answers are forgotten. */
  of(id: OperationId): Answer | undefined {
    const answer = this.#answers.get(id);
    return answer === EXPIRED ? undefined : answer;
  }

  /** Whether one more answer would cost the client one of its others: as tables of identifiers say it. */
  isFullFor(client: string, besides: { readonly acknowledged: number; readonly coming: number }): boolean {
    return this.#answers.isFullFor(client, besides);
  }

  has(id: OperationId): boolean {
    return this.#answers.get(id) !== undefined;
  }

  /** Tells whoever asks what became of an operation; says whether that is known, or forgotten for good. */
  tell(id: OperationId, submission: Submission): boolean {
    const answer = this.#answers.get(id);
    if (answer === undefined) return false;
    this.#host.answer(submission, 'strong', answer === EXPIRED ? expiredError() : answer);
    return true;
  }

  /** The end is behind the gate: of those who ask meanwhile the latest is told. */
  tellLater(id: OperationId, submission: Submission): void {
    const earlier = this.#askers.get(id);
    if (earlier !== undefined) this.#host.answer(earlier, 'strong', leftError());
    this.#askers.set(id, submission);
  }

  /** The operation has ended. */
  end(id: OperationId, answer: Answer): void {
    this.#answers.set(id, answer);
    if (this.#askers.size === 0) return;
    const asker = this.#askers.get(id);
    if (asker !== undefined) this.#host.answer(asker, 'strong', answer);
    this.#askers.delete(id);
  }

  /** The client has the answers of its operations up to this number, and asks for none of them again. */
  expire(client: string, acknowledged: number): void {
    this.#answers.expire(client, acknowledged);
  }
}
