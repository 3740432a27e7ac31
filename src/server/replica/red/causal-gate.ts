/**
 * The gate: a site takes in the red order only up to the first record whose blue dependencies are not yet visible there,
 * so that a snapshot never contains a red operation without them.
 */
import { Fifo } from '../../collections/fifo.ts';
import type { GateItem } from '../../records/checkpoint.ts';
import type { OperationId, RedRecord } from '../../records/records.ts';

export class CausalGate {
  readonly #items = new Fifo<GateItem>();

  get size(): number {
    return this.#items.size;
  }

  push(item: GateItem): void {
    this.#items.push(item);
  }

  /** Whether a record of that name waits here. */
  has(id: OperationId): boolean {
    return this.getItems().some(({ record }) => record.id === id);
  }

  getItems(): GateItem[] {
    return this.#items.slice();
  }

  /** Lets through what may pass, in order; says whether anything has. */
  drain(mayPass: (record: RedRecord) => boolean, pass: (item: GateItem) => void): boolean {
    let moved = false;
    for (let next = this.#items.at(0); next !== undefined && mayPass(next.record); next = this.#items.at(0)) {
      this.#items.shift();
      pass(next);
      moved = true;
    }
    return moved;
  }
}
