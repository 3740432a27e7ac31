/** Stands between a store and a client: sees every view, hands on those that were asked for. */
import type { Sink, ViewDetails } from '../../correctable/binding.ts';
import { mergeDetails } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { GivenView } from './committed-views.ts';
import { ownOf } from '../../values/copy.ts';

/** How many values of one operation are kept for confirmations, as a client keeps them (C7). */
const KEPT_VALUES_MAX = 1024;

/** What becomes of the views and failures of the store behind. */
export interface Observation {
  readonly sink: Sink;
  /** Whether the client wants views at this level. A view at the strongest wanted level or above ends the operation. */
  readonly wanted: readonly string[];
  /** The levels of the store behind, weakest first. */
  readonly levels: readonly string[];
  /** Whether the store was asked for a stronger level than any wanted: it answers where those have failed. */
  readonly isStrongerAsked: boolean;
  /**
   * Called before a view is handed on, so that whoever is told of an update finds the cache coherent with it; `isLast` says
   * that the operation ends with it. Where it returns a promise, which does not reject, the view is handed on when that
   * resolves.
   */
  readonly onView: (view: GivenView, isLast: boolean) => Promise<unknown> | undefined;
  readonly onFailure: (error: unknown, level: string | undefined) => void;
  /** What a failure is not to be told before, if anything: a promise that does not reject. */
  readonly failsAfter: () => Promise<unknown> | undefined;
  /** The error to hand on for a failure of the store. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * A view of the store, kept for `confirm`: what the store gave, whatever its receivers make of theirs. `outerSeq` is the
 * client's number for it if it was handed on.
 */
interface Seen {
  readonly value: unknown;
  readonly details: ViewDetails;
  readonly outerSeq: number | undefined;
}

export class ObservingSink implements Sink {
  readonly #observation: Observation;
  readonly #finalRank: number;
  /** Those of the latest views. */
  readonly #seen = new Map<number, Seen>();
  #count = 0;
  #isClosed = false;

  constructor(observation: Observation) {
    this.#observation = observation;
    this.#finalRank = observation.levels.indexOf(observation.wanted[observation.wanted.length - 1] as string);
  }

  update(value: unknown, level: string, details: ViewDetails = {}): number {
    const { onView, sink } = this.#observation;
    const own = ownDetails(details);
    // After the store's last view nothing is confirmed: that one needs no copy beside the one that is filed.
    const given = this.#endsStore(level, details) ? value : ownOf(value);
    const held = onView({ value: given, level, details: own }, this.#isLast(level, details));
    let outerSeq: number | undefined;
    if (this.#wants(level, details)) {
      if (held === undefined) outerSeq = sink.update(value, level, details);
      else void held.then(() => sink.update(value, level, details));
    }
    return this.#keep({ value: given, details: own, outerSeq });
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const seen = this.#seen.get(seq);
    if (seen === undefined) {
      const never = `never gave, or has given ${KEPT_VALUES_MAX} others since`;
      this.fail(new CorrectableError('PROTOCOL', `the store confirmed a view that it ${never} (number ${seq})`));
      return;
    }
    const { value, outerSeq } = seen;
    const merged = mergeDetails(seen.details, details && ownDetails(details));
    this.#seen.set(seq, { value, details: merged, outerSeq });
    const { onView, sink } = this.#observation;
    const held = onView({ value, level, details: merged }, this.#isLast(level, merged));
    if (!this.#wants(level, merged)) return;
    const handOn = (): void => {
      if (outerSeq === undefined) sink.update(ownOf(value), level, ownDetails(merged));
      else sink.confirm(level, outerSeq, ownDetails(merged));
    };
    if (held === undefined) handOn();
    else void held.then(handOn);
  }

  fail(error: unknown, level?: string): void {
    const before = this.#observation.failsAfter();
    if (before === undefined) this.#failNow(error, level);
    else void before.then(() => this.#failNow(error, level));
  }

  #failNow(error: unknown, level: string | undefined): void {
    const { sink, wanted, explain, onFailure, isStrongerAsked } = this.#observation;
    onFailure(error, level);
    if (this.#isClosed) return;
    if (isStrongerAsked && level !== undefined && this.#rankOf(level) === this.#finalRank) return;
    // The failure of a stronger level than was asked for, one that might have answered in its place, ends the operation.
    if (level !== undefined && wanted.includes(level)) sink.fail(explain(error), level);
    else if (level === undefined || this.#rankOf(level) > this.#finalRank) sink.fail(explain(error));
  }

  /** The store's work has ended: without a final view there will be none. */
  end(): void {
    if (!this.#isClosed)
      this.fail(new CorrectableError('CLOSED_WITHOUT_FINAL', 'the store ended without a final view'));
  }

  /** Keeps a view for `confirm`; gives its number. */
  #keep(view: Seen): number {
    const seq = this.#count++;
    this.#seen.set(seq, view);
    this.#seen.delete(seq - KEPT_VALUES_MAX);
    return seq;
  }

  #endsStore(level: string, { final }: ViewDetails): boolean {
    return final === true || this.#rankOf(level) === this.#observation.levels.length - 1;
  }

  /** Decides whether a view is handed on, and takes note when it is the final one. */
  #wants(level: string, details: ViewDetails): boolean {
    if (this.#isLast(level, details)) {
      this.#isClosed = true;
      return true;
    }
    return !this.#isClosed && this.#observation.wanted.includes(level);
  }

  #isLast(level: string, { final }: ViewDetails): boolean {
    return !this.#isClosed && (this.#rankOf(level) >= this.#finalRank || final === true);
  }

  #rankOf(level: string): number {
    return this.#observation.levels.indexOf(level);
  }
}

function ownDetails(details: ViewDetails): ViewDetails {
  const { version, meta } = details;
  return meta === undefined && typeof version !== 'object'
    ? details
    : { ...details, version: ownOf(version), meta: ownOf(meta) };
}
