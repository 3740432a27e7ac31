/**
 * Previews of red operations: the answers that they would get if all operations in flight at their
 * site committed.
 */
import { isCorrectableError } from '../../../../correctable/errors.ts';
import type { Effect } from '../../../service/records/effect.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { Lanes } from '../lane.ts';
import { findCreatedRows } from '../../../service/generator/read-set.ts';
import { NO_EFFECTS, type RedRequest, type RedRequests } from './red-requests.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { ReplyOrError } from '../../../service/records/reply.ts';

/** Puts previews on the overlay of a site, and delivers them to callers. */
export class PreliminaryResults {
  readonly #core: SiteCore;
  readonly #requests: RedRequests;
  readonly #lanes: Lanes;

  constructor(core: SiteCore, requests: RedRequests, lanes: Lanes) {
    this.#core = core;
    this.#requests = requests;
    this.#lanes = lanes;
  }

  /**
   * Runs the generator on the stable snapshot with the own operations in flight, and adds its
   * effects to these.
   */
  deliver(request: RedRequest, stable: GeneratorOutcome): void {
    const { state } = this.#core;
    const { submission } = request;
    try {
      const outcome = state.runTentatively(submission, stable);
      const { choice, reply } = outcome;
      const effects = choice?.effects ?? [];
      this.#expectWrites(request, effects);
      request.preliminaryEffects = effects;
      const results = state.overlay.add(submission.serial, effects);
      const answer =
        outcome.domainError ?? state.createReply({ plan: submission.plan, choice, reply }, results);
      this.#deliverPreliminary(request, this.#addConcurrentWriters(answer, request));
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      this.#expectWrites(request, stable.choice?.effects ?? []);
      this.#deliverPreliminary(request, error);
    }
  }

  remove(request: RedRequest): void {
    const { state, rights } = this.#core;
    state.overlay.remove(request.submission.serial, request.preliminaryEffects);
    rights?.onRedRemoved(request.preliminaryEffects);
    request.preliminaryEffects = NO_EFFECTS;
  }

  /**
   * Delivers the preview to the first submission of the request, unless that has left while the
   * request waited.
   */
  #deliverPreliminary({ submission, waiters }: RedRequest, answer: ReplyOrError): void {
    if (submission.wantedStages.tentative && waiters.includes(submission))
      this.#core.reply(submission, 'tentative', answer);
  }

  /** The preview of a throttled operation reports which writes it cannot know. */
  #addConcurrentWriters(answer: ReplyOrError, request: RedRequest): ReplyOrError {
    const concurrentWriters = this.#lanes
      .at(request.partition)
      .throttled.getConcurrentWriters(request, this.#core.nowMs);
    if (concurrentWriters === undefined || isCorrectableError(answer)) return answer;
    return { ...answer, meta: { ...answer.meta, concurrentWriters } };
  }

  #expectWrites(request: RedRequest, effects: readonly Effect[]): void {
    const { overlay } = this.#core.state;
    const created = findCreatedRows(effects, (table, key) => overlay.has(table, key));
    this.#requests.expectWrites(request, effects, created);
  }
}
