/**
 * Which operations of a table have changed since they were last taken for a checkpoint: those that have come since, and
 * those that are noted. Nearly all come and go between two checkpoints, and cost nothing here.
 */
import type { Fifo } from '../../collections/fifo.ts';
import { operationId } from '../../records/operation-id.ts';
import type { OperationId } from '../../records/records.ts';

/** An operation as its table keeps it. */
interface Placed {
  readonly entry: { readonly client: string };
  readonly sequence: number;
  /** Its place in the order in which operations came. */
  readonly place: number;
}

/** Changes of operations. Nothing is noted before `addAll`. */
export class OperationChanges {
  readonly #noted = new Set<OperationId>();
  /** Operations from this place on have come since. */
  #takenUpTo = 0;
  #isNoting = false;

  /** Whether a change of the operation at this place has to be noted: not if it has come since. */
  counts(place: number): boolean {
    return place < this.#takenUpTo && this.#isNoting;
  }

  add(id: OperationId, place: number): void {
    if (this.counts(place)) this.#noted.add(id);
  }

  /** All that there are. */
  addAll(): void {
    this.#noted.clear();
    this.#takenUpTo = 0;
    this.#isNoting = true;
  }

  /** How many there are, as far as known: zero only when there are none. `order` has the operations by their places. */
  sizeIn(order: Fifo<Placed>): number {
    const last = order.at(order.size - 1);
    return this.#noted.size + (this.#isNoting && last !== undefined && last.place >= this.#takenUpTo ? 1 : 0);
  }

  /** Takes up to `max`; of those that have come since, only the ones that are held still. */
  take<P extends Placed>(max: number, order: Fifo<P>, isHeld: (operation: P) => boolean): OperationId[] {
    const taken: OperationId[] = [];
    for (const id of this.#noted) {
      if (taken.length >= max) return taken;
      this.#noted.delete(id);
      taken.push(id);
    }
    if (!this.#isNoting) return taken;
    for (let index = this.#firstNew(order); taken.length < max && index < order.size; index += 1) {
      const operation = order.at(index) as P;
      this.#takenUpTo = operation.place + 1;
      if (isHeld(operation)) taken.push(operationId(operation.entry.client, operation.sequence));
    }
    return taken;
  }

  #firstNew(order: Fifo<Placed>): number {
    let low = 0;
    for (let high = order.size; low < high;) {
      const middle = (low + high) >> 1;
      if ((order.at(middle) as Placed).place < this.#takenUpTo) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
