/**
 * The views of an operation in flight that may be confirmed: by the store, or
 * because a later one is the same.
 */
import type { ViewDetails } from '../../../correctable/binding.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { EncodedData } from '../../../protocol/codec/codec.ts';
import { coversDetails } from './view-messages.ts';

/**
 * How many views of one operation can be confirmed: as many as clients keep.
 */
const MAX_CONFIRMABLE_VIEWS = 1024;

export interface ConfirmableView {
  /** The number that the store knows it by. */
  readonly seq: number;
  level: number;
  value: EncodedData;
  details: ViewDetails | undefined;
  /**
   * The number under which the client has the value; `undefined` if it has not
   * got it.
   */
  sentSeq: number | undefined;
  /**
   * The details that the client has under that number, which confirmations add
   * to.
   */
  sentDetails: ViewDetails | undefined;
  /** What it takes, with its details. */
  bytes: number;
}

/** Why there is no view of this number that could be confirmed. */
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
 * By the number given to the store. A later one takes the place of that which
 * came so many before it.
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
    // One that was confirmed comes again.
    this.#last = Math.max(this.#last, entry.seq);
    if (isConfirmable(entry)) entry.value = copyOutOfBlock(entry.value);
  }

  /**
   * Whether the latest view has this value; `undefined` if there is none to
   * compare with.
   */
  isLatest(value: EncodedData): boolean | undefined {
    const latest = this.get(this.#last);
    return isConfirmable(latest)
      ? hasSameEncoding(latest.value, value)
      : undefined;
  }

  /**
   * Forgets what view `seq` takes the place of. Returns the bytes that this
   * took.
   */
  makeRoom(seq: number): number {
    const entry = this.#entries[seq % MAX_CONFIRMABLE_VIEWS];
    this.#entries[seq % MAX_CONFIRMABLE_VIEWS] = undefined;
    return isConfirmable(entry) ? entry.bytes : 0;
  }

  /** From the first to the last. */
  forEach(use: (view: ConfirmableView) => void): void {
    const { length } = this.#entries;
    for (let n = 1; n <= length; n++) {
      const entry = this.#entries[(this.#last + n) % length];
      if (isConfirmable(entry)) use(entry);
    }
  }

  /**
   * The view under whose number the client has the value of `view`, if it has.
   */
  findSentTarget({ sentSeq }: ConfirmableView): ConfirmableView | undefined {
    const target = sentSeq === undefined ? undefined : this.get(sentSeq);
    return isConfirmable(target) ? target : undefined;
  }

  /**
   * Returns a view that the client has, if confirming it gives exactly `view`.
   */
  findSame(view: ConfirmableView): ConfirmableView | undefined {
    for (const retained of this.#entries) {
      // Views that were sent as a confirmation stand for the view that they
      // confirmed.
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
 * The value in memory of its own: 20 bytes would keep all of the block that
 * they were written in, and count as 20.
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
