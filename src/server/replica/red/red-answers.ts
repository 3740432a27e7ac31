/** How the answers of red operations are saved. */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { errorOf, failureOf } from '../../records/failure.ts';
import type { ValueCodec } from '../once/id-table.ts';
import { plainBytes } from '../../records/plain-bytes.ts';
import type { Failure } from '../../records/records.ts';
import type { Reply } from '../../records/reply.ts';
import type { Answer } from '../../records/reply.ts';

/** A reply or a failure, as plain data. */
export const ANSWER_CODEC: ValueCodec<Answer> = {
  bytesOf: (answer) => plainBytes(isCorrectableError(answer) ? failureOf(answer) : answer),
  save: (answer) => (isCorrectableError(answer) ? { failure: failureOf(answer) } : { reply: answer }),
  load: (saved) => {
    const { reply, failure } = saved as { readonly reply?: Reply; readonly failure?: Failure };
    return failure === undefined ? (reply as Reply) : errorOf(failure);
  },
};
