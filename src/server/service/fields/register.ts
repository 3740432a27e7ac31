/** Fields of one value: registers and cells. */
import {
  compareStamps,
  loadPosition,
  savePosition,
  type Effect,
  type OrderPosition,
  type SavedPosition,
  type Stamp,
} from '../records/effect.ts';
import { measureValue, STAMP_BYTES, STATE_BYTES } from '../records/memory-bytes.ts';
import { createEffectBuilder, type FieldKind, type FieldState } from './field.ts';
import { PendingWrites } from './pending-list.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares a value of which the last write wins. Initially `undefined`.
 *
 * @example
 * blue((a: { account: string; owner: string }) => [accounts.row(a.account).owner.write(a.owner)])
 */
export function register<T>(): Field<
  T | undefined,
  { write(value: T): Effect<undefined, 'blue', false> }
>;
export function register(...options: readonly unknown[]): Field {
  return createPlainField('register', options);
}

/**
 * Declares a value that only red shadow operations assign. Initially `undefined`. `assign` returns
 * the previous value.
 *
 * @example
 * red(
 *   (a: { seat: string; guest: string }) => [
 *     seats.row(a.seat).guest.assign(a.guest),
 *   ],
 *   ([previous]) => previous ?? null,
 * )
 */
export function cell<T>(): Field<T | undefined, { assign(value: T): Effect<T | undefined, 'red'> }>;
export function cell(...options: readonly unknown[]): Field {
  return createPlainField('cell', options);
}

/** The last write wins, by hybrid clock time and then by site. */
class RegisterState implements FieldState {
  #value: unknown;
  #stamp: OrderPosition | undefined;
  constructor(saved?: readonly [value: unknown, stamp: SavedPosition]) {
    if (saved === undefined) return;
    this.#value = saved[0];
    this.#stamp = loadPosition(saved[1]);
  }
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect, stamp: Stamp): void {
    // Of several writes of one operation, the last one counts.
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
  get bytes(): number {
    return STATE_BYTES + STAMP_BYTES + measureValue(this.#value);
  }
  snapshot(): unknown {
    return [this.#value, this.#stamp?.time, this.#stamp?.site];
  }
  save(): unknown {
    return this.#stamp === undefined ? undefined : [this.#value, savePosition(this.#stamp)];
  }
}

export const registerKind: FieldKind = {
  name: 'register',
  builder: 'register',
  isRedOnly: false,
  isIndexable: true,
  effects: { write: createEffectBuilder('write') },
  state: (saved) => new RegisterState(saved as [unknown, SavedPosition] | undefined),
  pending: () => new PendingWrites(),
};

/**
 * The state of a cell. It is assigned in the red order only, so all sites see the same values.
 * `assign` returns the previous one.
 */
class CellState implements FieldState {
  #value: unknown;
  constructor(saved: unknown) {
    this.#value = saved;
  }
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect): unknown {
    const previous = this.#value;
    this.#value = effect.value;
    return previous;
  }
  clear(): void {
    this.#value = undefined;
  }
  get isInitial(): boolean {
    return this.#value === undefined;
  }
  get bytes(): number {
    return STATE_BYTES + measureValue(this.#value);
  }
  snapshot(): unknown {
    return this.#value;
  }
  save(): unknown {
    return this.#value;
  }
}

class PendingAssignments extends PendingWrites {
  protected override computeResult(_effect: Effect, base: unknown): unknown {
    return this.applyTo(base);
  }
}

export const cellKind: FieldKind = {
  name: 'cell',
  builder: 'cell',
  isRedOnly: true,
  isIndexable: true,
  effects: { assign: createEffectBuilder('assign') },
  state: (saved) => new CellState(saved),
  pending: () => new PendingAssignments(),
};
