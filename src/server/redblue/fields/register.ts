/** A register: the last write wins, by hybrid clock time and then by site. */
import type { Effect, Stamp } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

/** The committed state of a register. */
export class RegisterState implements FieldState {
  protected value: unknown = undefined;
  #time = 0;
  #site = -1;
  read(): unknown {
    return this.value;
  }
  apply(effect: Effect, stamp: Stamp): void {
    if (!this.isNewer(stamp)) return;
    this.value = effect.value;
    this.#time = stamp.time;
    this.#site = stamp.site;
  }
  snapshot(): unknown {
    return [this.value, this.#time, this.#site];
  }
  protected isNewer(stamp: Stamp): boolean {
    return stamp.time > this.#time || (stamp.time === this.#time && stamp.site >= this.#site);
  }
}

class PendingWrites extends PendingList {
  over(base: unknown): unknown {
    const last = this.entries.at(-1);
    return last === undefined ? base : last.effect.value;
  }
}

export const registerKind: FieldKind = {
  name: 'register',
  redOnly: false,
  effects: (address) => ({ write: (value) => ({ ...address, action: 'write', value }) }),
  state: () => new RegisterState(),
  pending: () => new PendingWrites(),
};
