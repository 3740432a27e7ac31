/** Operations that wait for rights, in the order in which they came, bounded in time. */
import { Counts } from '../../collections/counts.ts';
import type { OperationId } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import { plus, type Sum } from '../../service/fields/sum.ts';
import type { Need } from '../../service/takes.ts';
import type { Lack, RightsWaiter } from '../core/rights-port.ts';
import { nameOf, type BoundedName } from './field-name.ts';

/** One that waits. */
interface Waiting {
  readonly waiter: RightsWaiter;
  readonly untilMs: number;
  lack: Lack;
}

/** What all that wait lack of one field. */
export interface Wanted {
  readonly name: BoundedName;
  readonly amount: number;
  /** So much of it those that are red. */
  readonly inRed: number;
  /** How many of them the pool alone can help: red ones, and those that lack several fields. */
  readonly ofPool: number;
}

/** The same, exactly: what is added for who comes is taken off again when he goes. */
interface Count {
  readonly name: BoundedName;
  readonly amount: Sum;
  readonly inRed: Sum;
  readonly ofPool: number;
}

/** All that wait at one site. */
export class WaitingForRights {
  #waiting: Waiting[] = [];
  /** Of which operations they are, but for those that are in the red order. */
  readonly #operations = new Counts();
  readonly #wanted = new Map<string, Count>();

  get size(): number {
    return this.#waiting.length;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#count(waiting.lack, 1);
    this.#operations.add(waiting.waiter.submission?.identity?.id);
  }

  hasOf(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  /** All that some of them lack. */
  get fields(): readonly string[] {
    return [...this.#wanted.keys()];
  }

  /** What they lack of a field; none where nobody lacks any. */
  wantedOf(field: string): Wanted | undefined {
    const count = this.#wanted.get(field);
    return count && { ...count, amount: Number(count.amount), inRed: Number(count.inRed) };
  }

  /** Nobody waits any more for what was submitted under this serial: forgets it, and gives it if it was here. */
  leave(serial: number): Submission | undefined {
    const isMeant = ({ waiter }: Waiting): boolean => waiter.submission?.serial === serial;
    return this.#take(isMeant)[0]?.waiter.submission;
  }

  /** Those whose time is over: they wait no longer. */
  takeLate(nowMs: number): readonly Waiting[] {
    return this.#take(({ untilMs }) => untilMs <= nowMs);
  }

  /**
   * Lets those go on that lack rights to one of these fields, and those that are over; those that still lack some keep their
   * places. What one does not find another one does not find either that wants as much: a crowd costs one run.
   */
  retry(fields: ReadonlySet<string>): void {
    const missed = new Set<string>();
    const done = new Set<Waiting>();
    for (const each of this.#waiting.filter((waiting) => isConcerned(waiting, fields))) {
      const { waiter, lack } = each;
      if (waiter.isOver?.() === true) {
        done.add(each);
        waiter.over?.();
      } else if (!lack.needs.some((need) => missed.has(wantOf(lack, need)))) {
        const rest = waiter.retry();
        if (rest === undefined) done.add(each);
        else this.#goOnWaiting(each, rest, missed);
      }
    }
    if (done.size > 0) this.#take((each) => done.has(each));
  }

  #goOnWaiting(waiting: Waiting, lack: Lack, missed: Set<string>): void {
    this.#count(waiting.lack, -1);
    this.#count(lack, 1);
    waiting.lack = lack;
    const [need, other] = lack.needs;
    // Of several it is not known which are missing.
    if (need !== undefined && other === undefined) missed.add(wantOf(lack, need));
  }

  #take(isTaken: (waiting: Waiting) => boolean): readonly Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const each of this.#waiting) (isTaken(each) ? taken : left).push(each);
    if (taken.length > 0) this.#waiting = left;
    for (const { waiter, lack } of taken) {
      this.#count(lack, -1);
      this.#operations.take(waiter.submission?.identity?.id);
    }
    return taken;
  }

  #count({ needs, isRed }: Lack, sign: 1 | -1): void {
    const lacking = needs.filter(({ amount }) => amount > 0);
    const ofPool = isRed || lacking.length > 1 ? sign : 0;
    for (const { table, key, field, amount } of lacking) {
      const name = { table, key, field };
      const before = this.#wanted.get(nameOf(name)) ?? { amount: 0, inRed: 0, ofPool: 0 };
      const more = sign * amount;
      const inRed = isRed ? plus(before.inRed, more) : before.inRed;
      const after = { name, amount: plus(before.amount, more), inRed, ofPool: before.ofPool + ofPool };
      if (after.amount === 0) this.#wanted.delete(nameOf(name));
      else this.#wanted.set(nameOf(name), after);
    }
  }
}

function isConcerned({ waiter, lack }: Waiting, fields: ReadonlySet<string>): boolean {
  return waiter.isOver?.() === true || lack.needs.some((need) => fields.has(nameOf(need)));
}

function wantOf({ isRed }: Lack, need: Need): string {
  return `${isRed} ${need.amount} ${nameOf(need)}`;
}
