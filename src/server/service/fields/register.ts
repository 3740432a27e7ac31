/** A register: the last write wins, by hybrid clock time and then by site. */
import { compareStamps, loadPlace, savePlace } from '../../records/effect.ts';
import type { Effect, Place, SavedPlace, Stamp } from '../../records/effect.ts';
import { writes, type FieldKind, type FieldState } from './field.ts';
import { PendingWrites } from './pending-list.ts';

class RegisterState implements FieldState {
  #value: unknown;
  #stamp: Place | undefined;
  constructor(saved?: readonly [value: unknown, stamp: SavedPlace]) {
    if (saved === undefined) return;
    this.#value = saved[0];
    this.#stamp = loadPlace(saved[1]);
  }
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect, stamp: Stamp): void {
    // Of several writes of one operation the last one counts.
    if (this.#stamp !== undefined && compareStamps(stamp, this.#stamp) < 0) return;
    this.#value = effect.value;
    this.#stamp = stamp;
  }
  clear(upTo: Stamp): void {
    if (this.#stamp === undefined || compareStamps(this.#stamp, upTo) > 0) return;
    this.#value = undefined;
    this.#stamp = undefined;
  }
  get isInitial(): boolean {
    return this.#stamp === undefined;
  }
  snapshot(): unknown {
    return [this.#value, this.#stamp?.time, this.#stamp?.site];
  }
  save(): unknown {
    return this.#stamp === undefined ? undefined : [this.#value, savePlace(this.#stamp)];
  }
}

export const registerKind: FieldKind = {
  name: 'register',
  redOnly: false,
  isIndexable: true,
  effects: { write: writes('write') },
  state: (saved) => new RegisterState(saved as [unknown, SavedPlace] | undefined),
  pending: () => new PendingWrites(),
};
