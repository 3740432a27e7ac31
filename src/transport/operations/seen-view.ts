/** A view that may be confirmed: what the server gave, whatever its receivers have made of it meanwhile. */
import type { ViewDetails } from '../../correctable/binding.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import { copied } from '../../values/copy.ts';

export class SeenView {
  /** The sink's number for it. */
  readonly seq: number;
  /** With what its confirmations have added. */
  readonly details: ViewDetails;
  /** What the server gave. */
  readonly #own: unknown;
  /** The same, as it was handed on. */
  readonly #handedOn: unknown;

  constructor(seq: number, details: ViewDetails, own: unknown, handedOn: unknown) {
    this.seq = seq;
    this.details = details;
    this.#own = own;
    this.#handedOn = handedOn;
  }

  /** Whether what was handed on is what the server gave: what can no longer be read is not. */
  isUntouched(): boolean {
    try {
      return structurallyEqual(this.#own, this.#handedOn);
    } catch {
      return false;
    }
  }

  /** What the server gave, to be handed on as a view of its own. */
  again(): unknown {
    return copied(this.#own);
  }

  /** The same view once it was confirmed, or handed on again with this number and value. */
  with(details: ViewDetails, seq = this.seq, handedOn = this.#handedOn): SeenView {
    return new SeenView(seq, details, this.#own, handedOn);
  }
}
