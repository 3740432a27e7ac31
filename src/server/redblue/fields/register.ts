/** A register: the last write wins, by hybrid clock time and then by site. */
import { compareStamps } from '../effect.ts';
import type { Effect, Stamp } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

class RegisterState implements FieldState {
  #value: unknown = undefined;
  #stamp: Stamp | undefined;
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect, stamp: Stamp): void {
    // Of several writes of one operation the last one counts.
    if (this.#stamp !== undefined && compareStamps(stamp, this.#stamp) < 0) return;
    this.#value = effect.value;
    this.#stamp = stamp;
  }
  snapshot(): unknown {
    return [this.#value, this.#stamp?.time, this.#stamp?.site];
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
