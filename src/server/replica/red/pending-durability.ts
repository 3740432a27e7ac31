/** Records that wait until their blue dependencies are durable at a second site, in order. */
import { Fifo } from '../../collections/fifo.ts';
import type { RedOperation } from '../../records/records.ts';

interface PendingRecord {
  readonly record: RedOperation;
  /** The last own blue operation that the record depends on. */
  readonly sequence: number;
}

export class PendingDurability {
  readonly #waiting = new Fifo<PendingRecord>();

  get size(): number {
    return this.#waiting.size;
  }

  add(record: RedOperation, sequence: number): void {
    this.#waiting.push({ record, sequence });
  }

  /** Those that depend on nothing after this own blue operation; they wait no longer. */
  takeDurable(durable: number): readonly RedOperation[] {
    const taken: RedOperation[] = [];
    while ((this.#waiting.at(0)?.sequence ?? Infinity) <= durable) {
      taken.push((this.#waiting.shift() as PendingRecord).record);
    }
    return taken;
  }

  filter(isWanted: (record: RedOperation) => boolean): void {
    this.#waiting.filter(({ record }) => isWanted(record));
  }
}
