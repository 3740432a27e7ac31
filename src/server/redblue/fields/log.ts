/** A log: sites append to it; entries stand in the order of hybrid clock time, then site. */
import { compareStamps } from '../effect.ts';
import type { Effect, Stamp } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

interface Line {
  readonly stamp: Stamp;
  readonly value: unknown;
}

class LogState implements FieldState {
  readonly #lines: Line[] = [];
  read(): readonly unknown[] {
    return this.#lines.map((line) => line.value);
  }
  apply(effect: Effect, stamp: Stamp): void {
    // Nearly always the newest: looking from the end finds the place at once. Lines of one operation keep their order.
    let place = this.#lines.length;
    while (place > 0 && compareStamps((this.#lines[place - 1] as Line).stamp, stamp) > 0) place -= 1;
    this.#lines.splice(place, 0, { stamp, value: effect.value });
  }
  snapshot(): unknown {
    return this.#lines.map(({ stamp, value }) => [stamp.time, stamp.site, value]);
  }
}

class PendingLines extends PendingList {
  over(base: unknown): unknown {
    if (this.entries.length === 0) return base;
    return [...(base as readonly unknown[]), ...this.entries.map(({ effect }) => effect.value)];
  }
}

export const logKind: FieldKind = {
  name: 'log',
  redOnly: false,
  effects: (address) => ({ append: (value) => ({ ...address, action: 'append', value }) }),
  state: () => new LogState(),
  pending: () => new PendingLines(),
};
