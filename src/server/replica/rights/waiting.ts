/** Operations that wait for rights, in the order in which they came, bounded in time. */
import { Counts } from '../../collections/counts.ts';
import type { OperationId } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import type { Lack, RightsWaiter } from '../core/rights-port.ts';
import { nameOf } from './field-name.ts';

/** One that waits. */
interface Waiting {
  readonly waiter: RightsWaiter;
  readonly untilMs: number;
  /** When others were last asked for what it lacks. */
  askedAtMs: number;
  lack: Lack;
}

/** All that wait at one site. */
export class WaitingForRights {
  #waiting: Waiting[] = [];
  /** Of which operations they are, but for those that are in the red order. */
  readonly #operations = new Counts();

  get size(): number {
    return this.#waiting.length;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#operations.add(waiting.waiter.submission?.identity?.id);
  }

  hasOf(id: OperationId): boolean {
    return this.#operations.has(id);
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

  /** Those for whom nobody was asked for so long. */
  silentSince(beforeMs: number): readonly Waiting[] {
    return this.#waiting.filter(({ askedAtMs }) => askedAtMs <= beforeMs);
  }

  /** Lets those go on that lack rights to one of these fields; those that still lack some keep their places. */
  retry(fields: ReadonlySet<string>): void {
    const concerned = this.#waiting.filter(({ lack }) => lack.needs.some((need) => fields.has(nameOf(need))));
    const done = new Set<Waiting>();
    for (const each of concerned) {
      const lack = each.waiter.retry();
      if (lack === undefined) done.add(each);
      else each.lack = lack;
    }
    if (done.size > 0) this.#take((each) => done.has(each));
  }

  #take(isTaken: (waiting: Waiting) => boolean): readonly Waiting[] {
    const taken = this.#waiting.filter(isTaken);
    if (taken.length === 0) return taken;
    this.#waiting = this.#waiting.filter((each) => !taken.includes(each));
    for (const { waiter } of taken) this.#operations.take(waiter.submission?.identity?.id);
    return taken;
  }
}
