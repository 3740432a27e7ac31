/** The calls on one queue, sorted out by what they say about it. */
import type { Call } from '../history.ts';
import { getReportedOutcome } from '../reported-outcomes.ts';

export type Ended = Call & { readonly endMs: number };

export interface Taken {
  readonly item: string;
  readonly call: Ended;
}

/** An enqueue that was acknowledged. `order`: its place among all. */
export interface Put {
  readonly item: string;
  readonly call: Ended;
  readonly order: number;
}

export class QueueCalls {
  /** All enqueues, those that failed too, by item. */
  readonly enqueues: ReadonlyMap<string, Call>;
  readonly puts: readonly Put[];
  readonly takes: readonly Taken[];
  /** Who was handed an item first. */
  readonly takenBy: ReadonlyMap<string, Ended>;
  /** Dequeues whose final view was that nothing is left. */
  readonly empties: readonly Ended[];
  readonly deletions: readonly Call[];
  /**
   * How many may have taken an unknown item: of unknown outcome, or with only a preliminary view.
   */
  readonly unseen: number;
  /** When these began, in order. */
  readonly #unseenSinceMs: readonly number[];

  /**
   * @param calls of the kinds `enqueue`, `dequeue` and `delete queue`, in the order in which they
   * were made
   * @param comesBack whether the items that a session had in hand at the end were put back
   */
  constructor(calls: readonly Call[], comesBack: (session: string) => boolean) {
    const enqueues = calls.filter(({ kind }) => kind === 'enqueue');
    const dequeues = calls.filter(({ kind }) => kind === 'dequeue');
    const final = dequeues.filter(isFinal);
    this.enqueues = new Map(enqueues.map((call) => [String(call.input), call]));
    this.puts = enqueues.flatMap((call, order) =>
      isFinal(call) ? [{ item: String(call.input), call, order }] : [],
    );
    this.takes = final.flatMap((call) =>
      call.output === null ? [] : [{ item: itemOf(call), call }],
    );
    this.takenBy = new Map(this.takes.toReversed().map(({ item, call }) => [item, call]));
    this.empties = final.filter(({ output }) => output === null);
    this.deletions = calls.filter(({ kind }) => kind === 'delete queue');
    const unseen = dequeues.filter(
      (call) => getReportedOutcome(call) === 'unknown' || isGuess(call),
    );
    const begun = unseen.filter(({ session }) => !comesBack(session)).map(({ beginMs }) => beginMs);
    this.unseen = begun.length;
    this.#unseenSinceMs = begun.sort((a, b) => a - b);
  }

  /** Whether each of these moments may be due to one who went unseen, and had begun by then. */
  excuses(momentsMs: readonly number[]): boolean {
    return momentsMs
      .toSorted((a, b) => a - b)
      .every((atMs, n) => (this.#unseenSinceMs[n] ?? Infinity) <= atMs);
  }

  /** Whether the queue may have been deleted between two moments. */
  mayBeDeleted(fromMs: number, toMs: number): boolean {
    return this.deletions.some(
      ({ beginMs, endMs = Infinity }) => beginMs <= toMs && fromMs <= endMs,
    );
  }

  /**
   * Whether the queue may have been deleted, or created again, between two moments. If one session
   * creates it again, a call of another in flight may come too early, and has to be sent again.
   */
  mayBeAnother(fromMs: number, toMs: number): boolean {
    return this.deletions.some(({ beginMs, endMs = Infinity }) => {
      const after = this.puts
        .filter(({ call }) => call.beginMs > endMs)
        .map(({ call }) => call.endMs);
      return (
        beginMs <= toMs && fromMs <= after.reduce((first, item) => Math.min(first, item), Infinity)
      );
    });
  }
}

/** Whether it ended with a final view, not only a preliminary one. */
function isFinal(call: Call): call is Ended {
  return call.outcome === 'success' && call.views?.at(-1)?.level !== 'weak';
}

/** Whether its only view was preliminary, and the view was an item. */
function isGuess(call: Call): boolean {
  return call.outcome === 'success' && !isFinal(call) && call.output !== null;
}

function itemOf({ output }: Call): string {
  return String((output as { readonly item: unknown }).item);
}
