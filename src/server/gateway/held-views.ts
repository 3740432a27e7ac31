/** The views of an operation under way that may be confirmed: by the store, or because a later one is the same. */
import type { ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Encoded } from '../../protocol/codec.ts';
import { covers } from './view-rows.ts';

/** A view whose value may be confirmed later. */
export interface HeldView {
  level: number;
  value: Encoded;
  details: ViewDetails | undefined;
  /** The number under which the client has the value; `undefined` if it has not got it. */
  at: number | undefined;
  /** The details that the client has under that number, which confirmations add to. */
  told: ViewDetails | undefined;
}

/** By the sequence number given to the binding: a view, or why there is none to be confirmed. */
export class HeldViews {
  readonly #views: (HeldView | CorrectableError | undefined)[] = [];

  get(seq: number): HeldView | CorrectableError | undefined {
    return this.#views[seq];
  }

  set(seq: number, view: HeldView | CorrectableError): void {
    this.#views[seq] = view;
  }

  forEach(use: (view: HeldView, seq: number) => void): void {
    this.#views.forEach((view, seq) => {
      if (view !== undefined && !(view instanceof CorrectableError)) use(view, seq);
    });
  }

  /** The view under whose number the client has the value of `view`, if it has. */
  targetOf({ at }: HeldView): HeldView | undefined {
    return at === undefined ? undefined : (this.#views[at] as HeldView);
  }

  /** A view that the client has, where confirming that gives `view` and nothing more. */
  sameAs(view: HeldView): HeldView | undefined {
    for (const [seq, held] of this.#views.entries()) {
      // Those that were told by a confirmation themselves stand for the one that was confirmed.
      if (held === undefined || held instanceof CorrectableError || held.at !== seq) continue;
      if (covers(view.details, held.told) && sameEncoding(held.value, view.value)) return held;
    }
    return undefined;
  }

  /** Sets the values apart from the memory that they were written in: they may be held for long. */
  setApart(): void {
    this.forEach((view) => {
      if (typeof view.value !== 'string') view.value = view.value.slice();
    });
  }
}

function sameEncoding(a: Encoded, b: Encoded): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
