/**
 * A sink between a store and a client. It observes every view, and forwards the views that were
 * requested.
 */
import type { Sink, ViewDetails } from '../../correctable/binding.ts';
import { mergeDetails } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { InnerView } from './cache-operation.ts';
import { copyOrReuse } from '../../values/deep-copy.ts';

/** How many values of one operation are kept for confirmations, as a client keeps them (C7). */
const MAX_CONFIRMABLE_VIEWS = 1024;

export interface SinkObservation {
  readonly sink: Sink;
  /**
   * The levels that the client requested. A view at the strongest of them or above ends the
   * operation.
   */
  readonly requestedLevels: readonly string[];
  readonly levels: readonly string[];
  /**
   * Whether a stronger level than any requested one was added. Its view is forwarded if the
   * requested levels have failed.
   */
  readonly isStrongerRequested: boolean;
  /**
   * Called before a view is forwarded. Forwarding waits for the returned promise. `isLast` means
   * that the view ends the operation.
   */
  readonly onView: (view: InnerView, isLast: boolean) => Promise<unknown> | undefined;
  readonly onFailure: (error: unknown, level: string | undefined) => void;
  /** Returns a promise that a failure waits for, if there is one. It never rejects. */
  readonly getFailureDelay: () => Promise<unknown> | undefined;
  /** Returns the error to forward for a failure of the store. */
  readonly mapError: (error: unknown) => unknown;
}

/**
 * A view of the store, kept for `confirm`. `outerSeq` is the client's number for it if it was
 * forwarded.
 */
interface ObservedView {
  readonly value: unknown;
  readonly details: ViewDetails;
  readonly outerSeq: number | undefined;
}

export class ObservingSink implements Sink {
  readonly #observation: SinkObservation;
  readonly #finalRank: number;
  readonly #recentViews = new Map<number, ObservedView>();
  #viewCount = 0;
  #isClosed = false;

  constructor(observation: SinkObservation) {
    this.#observation = observation;
    this.#finalRank = observation.levels.indexOf(
      observation.requestedLevels[observation.requestedLevels.length - 1] as string,
    );
  }

  view(value: unknown, level: string, details: ViewDetails = {}): number {
    const { onView, sink } = this.#observation;
    const own = copyDetails(details);
    // No confirmation can follow the store's last view, so that view needs no copy beside the
    // cached one.
    const input = this.#isLastOfInner(level, details) ? value : copyOrReuse(value);
    const retained = onView({ value: input, level, details: own }, this.#isLast(level, details));
    let outerSeq: number | undefined;
    if (this.#isForwarded(level, details)) {
      if (retained === undefined) outerSeq = sink.view(value, level, details);
      else void retained.then(() => sink.view(value, level, details));
    }
    return this.#rememberView({ value: input, details: own, outerSeq });
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const seen = this.#recentViews.get(seq);
    if (seen === undefined) {
      const never = `never gave, or has given ${MAX_CONFIRMABLE_VIEWS} others since`;
      this.fail(
        new CorrectableError(
          'PROTOCOL',
          `the store confirmed a view that it ${never} (number ${seq})`,
        ),
      );
      return;
    }
    const { value, outerSeq } = seen;
    const merged = mergeDetails(seen.details, details && copyDetails(details));
    this.#recentViews.set(seq, { value, details: merged, outerSeq });
    const { onView, sink } = this.#observation;
    const retained = onView({ value, level, details: merged }, this.#isLast(level, merged));
    if (!this.#isForwarded(level, merged)) return;
    const handOn = (): void => {
      if (outerSeq === undefined) sink.view(copyOrReuse(value), level, copyDetails(merged));
      else sink.confirm(level, outerSeq, copyDetails(merged));
    };
    if (retained === undefined) handOn();
    else void retained.then(handOn);
  }

  fail(error: unknown, level?: string): void {
    const before = this.#observation.getFailureDelay();
    if (before === undefined) this.#failNow(error, level);
    else void before.then(() => this.#failNow(error, level));
  }

  #failNow(error: unknown, level: string | undefined): void {
    const { sink, requestedLevels, mapError, onFailure, isStrongerRequested } = this.#observation;
    onFailure(error, level);
    if (this.#isClosed) return;
    if (isStrongerRequested && level !== undefined && this.#getRank(level) === this.#finalRank)
      return;
    // The level is stronger than those requested, and was to answer if they failed. So its failure
    // ends the operation.
    if (level !== undefined && requestedLevels.includes(level)) sink.fail(mapError(error), level);
    else if (level === undefined || this.#getRank(level) > this.#finalRank)
      sink.fail(mapError(error));
  }

  /**
   * Called when the store's promise has ended. If there is no final view by now, the operation
   * fails.
   */
  end(): void {
    if (!this.#isClosed)
      this.fail(
        new CorrectableError('CLOSED_WITHOUT_FINAL', 'the store ended without a final view'),
      );
  }

  /** Keeps a view for `confirm`. Returns its number. */
  #rememberView(view: ObservedView): number {
    const seq = this.#viewCount++;
    this.#recentViews.set(seq, view);
    this.#recentViews.delete(seq - MAX_CONFIRMABLE_VIEWS);
    return seq;
  }

  #isLastOfInner(level: string, { final }: ViewDetails): boolean {
    return final === true || this.#getRank(level) === this.#observation.levels.length - 1;
  }

  /** Decides whether a view is forwarded. Notes whether it is the final one. */
  #isForwarded(level: string, details: ViewDetails): boolean {
    if (this.#isLast(level, details)) {
      this.#isClosed = true;
      return true;
    }
    return !this.#isClosed && this.#observation.requestedLevels.includes(level);
  }

  #isLast(level: string, { final }: ViewDetails): boolean {
    return !this.#isClosed && (this.#getRank(level) >= this.#finalRank || final === true);
  }

  #getRank(level: string): number {
    return this.#observation.levels.indexOf(level);
  }
}

function copyDetails(details: ViewDetails): ViewDetails {
  const { version, meta } = details;
  return meta === undefined && typeof version !== 'object'
    ? details
    : { ...details, version: copyOrReuse(version), meta: copyOrReuse(meta) };
}
