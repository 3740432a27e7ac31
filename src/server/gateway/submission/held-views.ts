/** The views of an operation under way that may be confirmed: by the store, or because a later one is the same. */
import type { ViewDetails } from '../../../correctable/binding.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { Encoded } from '../../../protocol/codec/codec.ts';
import { covers } from './view-rows.ts';

/** How many views of one operation can be confirmed: as many as clients keep. */
const HELD_VIEWS_MAX = 1024;

/** A view whose value may be confirmed later. */
export interface HeldView {
  /** The number that the store knows it by. */
  readonly seq: number;
  level: number;
  value: Encoded;
  details: ViewDetails | undefined;
  /** The number under which the client has the value; `undefined` if it has not got it. */
  at: number | undefined;
  /** The details that the client has under that number, which confirmations add to. */
  told: ViewDetails | undefined;
  /** What it takes, with its details. */
  bytes: number;
}

/** Why there is no view of this number that could be confirmed. */
export interface NotHeld {
  readonly seq: number;
  readonly error: CorrectableError;
}

export function isHeld(entry: HeldView | NotHeld | undefined): entry is HeldView {
  return entry !== undefined && !('error' in entry);
}

/** By the number given to the store. A later one takes the place of that which came so many before it. */
export class HeldViews {
  #entries: (HeldView | NotHeld | undefined)[] = [];
  #last = 0;

  get(seq: number): HeldView | NotHeld | undefined {
    const entry = this.#entries[seq % HELD_VIEWS_MAX];
    return entry?.seq === seq ? entry : undefined;
  }

  set(entry: HeldView | NotHeld): void {
    this.#entries[entry.seq % HELD_VIEWS_MAX] = entry;
    // One that was confirmed comes again.
    this.#last = Math.max(this.#last, entry.seq);
    if (isHeld(entry)) entry.value = apart(entry.value);
  }

  /** Forgets what view `seq` takes the place of. Returns the bytes that this took. */
  makeRoom(seq: number): number {
    const entry = this.#entries[seq % HELD_VIEWS_MAX];
    this.#entries[seq % HELD_VIEWS_MAX] = undefined;
    return isHeld(entry) ? entry.bytes : 0;
  }

  /** From the first to the last. */
  forEach(use: (view: HeldView) => void): void {
    const { length } = this.#entries;
    for (let n = 1; n <= length; n++) {
      const entry = this.#entries[(this.#last + n) % length];
      if (isHeld(entry)) use(entry);
    }
  }

  /** The view under whose number the client has the value of `view`, if it has. */
  targetOf({ at }: HeldView): HeldView | undefined {
    const target = at === undefined ? undefined : this.get(at);
    return isHeld(target) ? target : undefined;
  }

  /** A view that the client has, where confirming that gives `view` and nothing more. */
  sameAs(view: HeldView): HeldView | undefined {
    for (const held of this.#entries) {
      // Those that were told by a confirmation themselves stand for the one that was confirmed.
      if (!isHeld(held) || held.at !== held.seq || view.seq - held.seq >= HELD_VIEWS_MAX) continue;
      if (sameEncoding(held.value, view.value) && covers(view.details, held.told)) return held;
    }
    return undefined;
  }

  /** Nobody will ask for them any more. */
  clear(): void {
    this.#entries = [];
  }
}

/** The value in memory of its own: 20 bytes would keep all of the block that they were written in, and count as 20. */
function apart(value: Encoded): Encoded {
  return typeof value !== 'string' && value.buffer.byteLength > value.length ? value.slice() : value;
}

function sameEncoding(a: Encoded, b: Encoded): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
