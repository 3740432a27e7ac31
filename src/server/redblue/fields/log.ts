/** A log: sites append to it; entries stand in the order of hybrid clock time, then site. */
import type { Effect, Stamp } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

interface Line {
  readonly time: number;
  readonly site: number;
  readonly value: unknown;
}

class LogState implements FieldState {
  readonly #lines: Line[] = [];
  read(): readonly unknown[] {
    return this.#lines.map((line) => line.value);
  }
  apply(effect: Effect, { time, site }: Stamp): void {
    // Nearly always the newest: looking from the end finds the place at once. Lines of one operation keep their order.
    let place = this.#lines.length;
    while (place > 0 && isAfter(this.#lines[place - 1] as Line, time, site)) place -= 1;
    this.#lines.splice(place, 0, { time, site, value: effect.value });
  }
  snapshot(): unknown {
    return this.#lines.map(({ time, site, value }) => [time, site, value]);
  }
}

function isAfter(line: Line, time: number, site: number): boolean {
  return line.time > time || (line.time === time && line.site > site);
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
