/** Records that wait until their blue dependencies are durable at a second site, in order. */
import { Fifo } from '../../collections/fifo.ts';
import type { RedOperation } from '../../records/records.ts';

interface Undurable {
  readonly record: RedOperation;
  /** The last own blue operation that the record depends on. */
  readonly sequence: number;
}

export class UndurableRecords {
  readonly #waiting = new Fifo<Undurable>();

  get size(): number {
    return this.#waiting.size;
  }

  add(record: RedOperation, sequence: number): void {
    this.#waiting.push({ record, sequence });
  }

  /** Those that depend on nothing after this own blue operation; they wait no longer. */
  take(durable: number): readonly RedOperation[] {
    const taken: RedOperation[] = [];
    while ((this.#waiting.at(0)?.sequence ?? Infinity) <= durable) {
      taken.push((this.#waiting.shift() as Undurable).record);
    }
    return taken;
  }

  keep(isWanted: (record: RedOperation) => boolean): void {
    this.#waiting.keep(({ record }) => isWanted(record));
  }
}
