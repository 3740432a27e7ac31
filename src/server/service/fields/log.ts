/** A log to which sites append. Entries are ordered by hybrid clock time, then by site. */
import { compareStamps, loadPosition, savePosition } from '../records/effect.ts';
import type { Effect, OrderPosition, SavedPosition, Stamp } from '../records/effect.ts';
import { measureValue, STAMP_BYTES, STATE_BYTES } from '../records/memory-bytes.ts';
import { freezeForUser, isMutable } from '../../../values/deep-freeze.ts';
import { createEffectBuilder, type FieldKind, type FieldState } from './field.ts';
import { PendingList } from './pending-list.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares lines in the order of their times. Reads as an array.
 *
 * @example
 * blue((a: { note: string; text: string }) => [notes.row(a.note).comments.append(a.text)])
 */
export function log<T>(): Field<
  readonly T[],
  { append(line: T): Effect<undefined, 'blue', false> }
>;
export function log(...options: readonly unknown[]): Field {
  return createPlainField('log', options);
}

interface LogLine {
  readonly stamp: OrderPosition;
  readonly value: unknown;
}

/** A line in the two arrays: with its stamp, and of the last read. */
const LINE_BYTES = STATE_BYTES + STAMP_BYTES;

class LogState implements FieldState {
  #lines: LogLine[];
  #bytes = 4 * STATE_BYTES;
  /** The last value read. It is created again after a change. */
  #values: readonly unknown[] | undefined;
  #isChangeable = false;
  constructor(saved: readonly (readonly [value: unknown, stamp: SavedPosition])[] = []) {
    this.#lines = saved.map(([value, stamp]) => ({
      value,
      stamp: loadPosition(stamp),
    }));
    for (const { value } of this.#lines) this.#bytes += LINE_BYTES + measureValue(value);
  }
  get bytes(): number {
    return this.#bytes;
  }
  read(): readonly unknown[] {
    if (this.#values === undefined) {
      this.#values = Object.freeze(this.#lines.map((line) => line.value));
      this.#isChangeable = this.#values.some(isMutable);
    }
    return this.#isChangeable ? Object.freeze(this.#values.map(freezeForUser)) : this.#values;
  }
  apply(effect: Effect, stamp: Stamp): void {
    // Search from the end, since a new line is almost always the newest. Lines of one operation
    // keep their order.
    let index = this.#lines.length;
    while (index > 0 && compareStamps((this.#lines[index - 1] as LogLine).stamp, stamp) > 0)
      index -= 1;
    this.#lines.splice(index, 0, { stamp, value: effect.value });
    this.#bytes += LINE_BYTES + measureValue(effect.value);
    this.#values = undefined;
  }
  clear(upTo: Stamp): void {
    this.#lines = this.#lines.filter(({ stamp, value }) => {
      const isLater = compareStamps(stamp, upTo) > 0;
      if (!isLater) this.#bytes -= LINE_BYTES + measureValue(value);
      return isLater;
    });
    this.#values = undefined;
  }
  get isInitial(): boolean {
    return this.#lines.length === 0;
  }
  snapshot(): unknown {
    return this.#lines.map(({ stamp, value }) => [stamp.time, stamp.site, value]);
  }
  save(): unknown {
    return this.#lines.map(({ stamp, value }) => [value, savePosition(stamp)]);
  }
}

class PendingLines extends PendingList {
  protected readonly initial: readonly unknown[] = Object.freeze([]);
  protected computeValue(base: unknown, pending: readonly { readonly effect: Effect }[]): unknown {
    if (pending.length === 0) return base;
    return Object.freeze([
      ...(base as readonly unknown[]),
      ...pending.map(({ effect }) => freezeForUser(effect.value)),
    ]);
  }
}

export const logKind: FieldKind = {
  name: 'log',
  builder: 'log',
  isRedOnly: false,
  effects: { append: createEffectBuilder('append') },
  state: (saved) => new LogState(saved as [unknown, SavedPosition][] | undefined),
  pending: () => new PendingLines(),
};
