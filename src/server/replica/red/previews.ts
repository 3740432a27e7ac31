/** Guesses at the answers of red operations: what they would be if all that is in flight at their site came true. */
import { isCorrectableError } from '../../../correctable/errors.ts';
import type { Effect } from '../../records/effect.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import type { PacedRequests } from './paced.ts';
import { createdRows } from '../../generator/read-set.ts';
import { NO_EFFECTS, type RedRequest, type RedRequests } from './red-requests.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Stage, Submission } from '../../records/submissions.ts';
import type { Answer } from '../../records/reply.ts';

interface PreviewsHost {
  readonly core: ReplicaCore;
  answer(submission: Submission, stage: Stage, answer: Answer): void;
}

/** What is laid on the overlay of a site, and told of it. */
export class Previews {
  readonly #host: PreviewsHost;
  readonly #requests: RedRequests;
  readonly #paced: PacedRequests;

  constructor(host: PreviewsHost, requests: RedRequests, paced: PacedRequests) {
    this.#host = host;
    this.#requests = requests;
    this.#paced = paced;
  }

  /** Runs the generator on the stable snapshot with the own operations in flight, and lays its effects on those. */
  give(request: RedRequest, stable: GeneratorOutcome): void {
    const { state } = this.#host.core;
    const { submission } = request;
    try {
      const outcome = state.runTentatively(submission, stable);
      const { choice, reply } = outcome;
      const effects = choice?.effects ?? [];
      this.#expectWrites(request, effects);
      request.previewed = effects;
      const results = state.overlay.add(submission.serial, effects);
      const { operation } = submission;
      const answer = outcome.refusal ?? state.answerOf({ operation, choice, reply }, results);
      this.#guess(request, this.#told(answer, request));
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      this.#expectWrites(request, stable.choice?.effects ?? []);
      this.#guess(request, error);
    }
  }

  /** Takes the effects of a request off the overlay. */
  takeOff(request: RedRequest): void {
    const { state, rights } = this.#host.core;
    state.overlay.remove(request.submission.serial, request.previewed);
    rights?.takenOff(request.previewed);
    request.previewed = NO_EFFECTS;
  }

  /** Told to whoever the request began with: unless it has left while that waited for its place. */
  #guess({ submission, askers }: RedRequest, answer: Answer): void {
    if (submission.wants.tentative && askers.includes(submission)) this.#host.answer(submission, 'tentative', answer);
  }

  /** The preview of a paced operation says what it cannot know of. */
  #told(answer: Answer, request: RedRequest): Answer {
    const elsewhere = this.#paced.elsewhereOf(request, this.#host.core.nowMs);
    if (elsewhere === undefined || isCorrectableError(answer)) return answer;
    return { ...answer, meta: { ...answer.meta, elsewhere } };
  }

  #expectWrites(request: RedRequest, effects: readonly Effect[]): void {
    const { overlay } = this.#host.core.state;
    const created = createdRows(effects, (table, key) => overlay.has(table, key));
    this.#requests.expectWrites(request, effects, created);
  }
}
