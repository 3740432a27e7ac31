/**
 * The views of an operation in flight that may be confirmed: by the store, or because a later view
 * is equal.
 */
import type { ViewDetails } from '../../../correctable/binding.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { EncodedData } from '../../../protocol/codec/codec.ts';
import { coversDetails } from './view-messages.ts';

/** How many views of one operation can be confirmed. Clients keep the same number. */
const MAX_CONFIRMABLE_VIEWS = 1024;

export interface ConfirmableView {
  /** The number by which the store knows the view. */
  readonly seq: number;
  level: number;
  value: EncodedData;
  details: ViewDetails | undefined;
  /** The number under which the client has the value; `undefined` if it does not have it. */
  sentSeq: number | undefined;
  /** The details that the client has under that number. Confirmations add to them. */
  sentDetails: ViewDetails | undefined;
  /** Memory for the view with its details. */
  bytes: number;
}

/** Why the view of this number cannot be confirmed. */
export interface DroppedView {
  readonly seq: number;
  readonly error: CorrectableError;
}

export function isConfirmable(
  entry: ConfirmableView | DroppedView | undefined,
): entry is ConfirmableView {
  return entry !== undefined && !('error' in entry);
}

/**
 * The views by number, in a ring: a view replaces the one that came `MAX_CONFIRMABLE_VIEWS`
 * earlier.
 */
export class ConfirmableViews {
  #entries: (ConfirmableView | DroppedView | undefined)[] = [];
  #last = 0;

  get(seq: number): ConfirmableView | DroppedView | undefined {
    const entry = this.#entries[seq % MAX_CONFIRMABLE_VIEWS];
    return entry?.seq === seq ? entry : undefined;
  }

  set(entry: ConfirmableView | DroppedView): void {
    this.#entries[entry.seq % MAX_CONFIRMABLE_VIEWS] = entry;
    // A view that was confirmed is stored again under its earlier number, so `#last` must not
    // decrease.
    this.#last = Math.max(this.#last, entry.seq);
    if (isConfirmable(entry)) entry.value = copyOutOfBlock(entry.value);
  }

  /**
   * Returns whether the latest view has this value; `undefined` if there is no view to compare
   * with.
   */
  isLatest(value: EncodedData): boolean | undefined {
    const latest = this.get(this.#last);
    return isConfirmable(latest) ? hasSameEncoding(latest.value, value) : undefined;
  }

  /** Drops the view that view `seq` replaces. Returns its bytes. */
  makeRoom(seq: number): number {
    const entry = this.#entries[seq % MAX_CONFIRMABLE_VIEWS];
    this.#entries[seq % MAX_CONFIRMABLE_VIEWS] = undefined;
    return isConfirmable(entry) ? entry.bytes : 0;
  }

  /** Visits the views from the first to the last. */
  forEach(use: (view: ConfirmableView) => void): void {
    const { length } = this.#entries;
    for (let n = 1; n <= length; n++) {
      const entry = this.#entries[(this.#last + n) % length];
      if (isConfirmable(entry)) use(entry);
    }
  }

  /** Returns the view under whose number the client has the value of `view`, if it has it. */
  findSentTarget({ sentSeq }: ConfirmableView): ConfirmableView | undefined {
    const target = sentSeq === undefined ? undefined : this.get(sentSeq);
    return isConfirmable(target) ? target : undefined;
  }

  /** Returns a view that the client has, if a confirmation of it results in exactly `view`. */
  findSame(view: ConfirmableView): ConfirmableView | undefined {
    for (const retained of this.#entries) {
      // A view that was sent as a confirmation has the number of the view that it confirmed.
      if (
        !isConfirmable(retained) ||
        retained.sentSeq !== retained.seq ||
        view.seq - retained.seq >= MAX_CONFIRMABLE_VIEWS
      )
        continue;
      if (
        hasSameEncoding(retained.value, view.value) &&
        coversDetails(view.details, retained.sentDetails)
      )
        return retained;
    }
    return undefined;
  }

  /** Forgets the views: no later view will be compared with them. */
  clear(): void {
    this.#entries = [];
  }
}

/**
 * Copies the value into separate memory. Otherwise a value of 20 bytes would keep the whole memory
 * block alive in which it was encoded.
 */
function copyOutOfBlock(value: EncodedData): EncodedData {
  return typeof value !== 'string' && value.buffer.byteLength > value.length
    ? value.slice()
    : value;
}

function hasSameEncoding(a: EncodedData, b: EncodedData): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
