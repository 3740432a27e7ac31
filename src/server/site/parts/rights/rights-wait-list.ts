/** Operations that wait for rights in the order in which they came, up to a timeout. */
import { NameCounts } from '../../../service/collections/counts.ts';
import type { OperationId } from '../../../service/records/records.ts';
import type { Submission } from '../../core/submissions.ts';
import { addExact, type ExactSum } from '../../../service/fields/exact-sum.ts';
import type { RightsNeed } from '../../../service/bounded-takes.ts';
import type { RightsShortfall, RightsWaiter } from '../../core/rights-port.ts';
import { formatFieldKey, type BoundedName } from './rights-requests.ts';

interface WaitingEntry {
  readonly waiter: RightsWaiter;
  readonly untilMs: number;
  shortfall: RightsShortfall;
}

/** The amount of one field that all waiting operations lack. */
export interface WantedRights {
  readonly name: BoundedName;
  readonly amount: number;
  /** The part of the amount that red operations lack. */
  readonly inRed: number;
  /**
   * The number of operations that only the pool can help: red ones, and those that lack several
   * fields.
   */
  readonly ofPool: number;
}

/**
 * The exact sum: the amount of an operation is added when it comes, and subtracted when it leaves.
 */
interface ExactWanted {
  readonly name: BoundedName;
  readonly amount: ExactSum;
  readonly inRed: ExactSum;
  readonly ofPool: number;
}

export class RightsWaitList {
  #waiting: WaitingEntry[] = [];
  /** The waiting operations, except those that are in the red order. */
  readonly #operations = new NameCounts();
  readonly #wanted = new Map<string, ExactWanted>();

  get size(): number {
    return this.#waiting.length;
  }

  add(waiting: WaitingEntry): void {
    this.#waiting.push(waiting);
    this.#count(waiting.shortfall, 1);
    this.#operations.increment(waiting.waiter.submission?.identity?.id);
  }

  hasOperation(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  get fields(): readonly string[] {
    return [...this.#wanted.keys()];
  }

  /** Returns what the waiting operations lack of a field; undefined if they lack nothing. */
  getWanted(field: string): WantedRights | undefined {
    const count = this.#wanted.get(field);
    return (
      count && {
        ...count,
        amount: Number(count.amount),
        inRed: Number(count.inRed),
      }
    );
  }

  /**
   * No caller waits any more for the submission with this serial. Forgets it, and returns it if it
   * was here.
   */
  cancel(serial: number): Submission | undefined {
    const isMeant = ({ waiter }: WaitingEntry): boolean => waiter.submission?.serial === serial;
    return this.#take(isMeant)[0]?.waiter.submission;
  }

  /** Takes the operations whose timeout is over. */
  takeTimedOut(nowMs: number): readonly WaitingEntry[] {
    return this.#take(({ untilMs }) => untilMs <= nowMs);
  }

  /**
   * Retries operations that lack rights to one of these fields. If one fails, later ones that want
   * at least as much are not run.
   */
  retry(fields: ReadonlySet<string>): void {
    const missed = new Set<string>();
    const done = new Set<WaitingEntry>();
    for (const item of this.#waiting.filter((waiting) => isAffected(waiting, fields))) {
      const { waiter, shortfall } = item;
      if (waiter.isOver?.() === true) {
        done.add(item);
        waiter.onOver?.();
      } else if (!shortfall.needs.some((need) => missed.has(toWanted(shortfall, need)))) {
        const remaining = waiter.onRetry();
        if (remaining === undefined) done.add(item);
        else this.#keepWaiting(item, remaining, missed);
      }
    }
    if (done.size > 0) this.#take((entry) => done.has(entry));
  }

  #keepWaiting(waiting: WaitingEntry, shortfall: RightsShortfall, missed: Set<string>): void {
    this.#count(waiting.shortfall, -1);
    this.#count(shortfall, 1);
    waiting.shortfall = shortfall;
    const [need, other] = shortfall.needs;
    // If an operation lacks several fields, it is unknown which of them are missing.
    if (need !== undefined && other === undefined) missed.add(toWanted(shortfall, need));
  }

  #take(isTaken: (waiting: WaitingEntry) => boolean): readonly WaitingEntry[] {
    const taken: WaitingEntry[] = [];
    const left: WaitingEntry[] = [];
    for (const item of this.#waiting) (isTaken(item) ? taken : left).push(item);
    if (taken.length > 0) this.#waiting = left;
    for (const { waiter, shortfall } of taken) {
      this.#count(shortfall, -1);
      this.#operations.decrement(waiter.submission?.identity?.id);
    }
    return taken;
  }

  #count({ needs, isRed }: RightsShortfall, sign: 1 | -1): void {
    const lacking = needs.filter(({ amount }) => amount > 0);
    const ofPool = isRed || lacking.length > 1 ? sign : 0;
    for (const { table, key, field, amount } of lacking) {
      const name = { table, key, field };
      const before = this.#wanted.get(formatFieldKey(name)) ?? {
        amount: 0,
        inRed: 0,
        ofPool: 0,
      };
      const more = sign * amount;
      const inRed = isRed ? addExact(before.inRed, more) : before.inRed;
      const after = {
        name,
        amount: addExact(before.amount, more),
        inRed,
        ofPool: before.ofPool + ofPool,
      };
      if (after.amount === 0) this.#wanted.delete(formatFieldKey(name));
      else this.#wanted.set(formatFieldKey(name), after);
    }
  }
}

function isAffected({ waiter, shortfall }: WaitingEntry, fields: ReadonlySet<string>): boolean {
  return (
    waiter.isOver?.() === true || shortfall.needs.some((need) => fields.has(formatFieldKey(need)))
  );
}

function toWanted({ isRed }: RightsShortfall, need: RightsNeed): string {
  return `${isRed} ${need.amount} ${formatFieldKey(need)}`;
}
