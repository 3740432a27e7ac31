/** The context in which one operation is executed. */
import type { BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { createLostStateError } from './errors.ts';

export const LEVELS = ['weak', 'strong'] as const;
export type ZooKeeperLevels = typeof LEVELS;
export type Level = ZooKeeperLevels[number];

/**
 * A place in the history of an ensemble. Transactions of another history cannot be compared: the
 * ensemble was restored from a backup, or created again.
 */
export interface Place {
  readonly zxid: bigint;
  /** Counts the histories that the binding has met. */
  readonly history: number;
}

/**
 * The guarantees of an application's session. Its state is the last transaction that its updates
 * and reads have seen.
 */
export class SessionGuarantees implements BindingSession {
  #seen: Place = NOTHING_SEEN;
  /** What the session had seen in a history that the ensemble has lost. */
  #lostZxid: bigint | undefined;

  close(): void {
    this.#seen = NOTHING_SEEN;
    this.#lostZxid = undefined;
  }

  /**
   * Returns whether a view is recent enough. Its server has applied all transactions up to `place`.
   */
  canShow({ zxid, history }: Place): boolean {
    this.#follow(history);
    return (
      this.#lostZxid === undefined && history === this.#seen.history && zxid >= this.#seen.zxid
    );
  }

  /**
   * Reports once that the session has seen what the ensemble has lost.
   *
   * @throws CorrectableError `REPLICA_BEHIND`
   */
  checkHistory({ history }: Place): void {
    this.#follow(history);
    const lostZxid = this.#lostZxid;
    this.#lostZxid = undefined;
    if (lostZxid !== undefined) throw createLostStateError(lostZxid);
  }

  advanceTo(place: Place): void {
    this.#follow(place.history);
    const { zxid, history } = this.#seen;
    if (place.history === history && place.zxid > zxid) this.#seen = place;
  }

  #follow(history: number): void {
    if (history <= this.#seen.history) return;
    if (this.#seen.zxid > 0n) this.#lostZxid = this.#seen.zxid;
    this.#seen = { zxid: 0n, history };
  }
}

const NOTHING_SEEN: Place = { zxid: 0n, history: 0 };

export interface OperationCall {
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: SessionGuarantees | undefined;
  readonly context: InvocationContext;
}

export function isRequested({ levels }: OperationCall, level: Level): boolean {
  return levels.includes(level);
}
