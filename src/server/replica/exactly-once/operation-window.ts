/**
 * The operations of one client by their numbers. They come and go almost in
 * order, so mostly at the ends of a list.
 */
import { Fifo } from '../../collections/fifo.ts';

interface NumberedOperation {
  readonly sequence: number;
}

export class OperationWindow<T extends NumberedOperation> {
  readonly #operations = new Fifo<T>();

  get size(): number {
    return this.#operations.size;
  }

  get first(): T | undefined {
    return this.#operations.at(0);
  }

  get(sequence: number): T | undefined {
    const found = this.#operations.at(this.#findIndex(sequence));
    return found?.sequence === sequence ? found : undefined;
  }

  /** Adds an operation that is not there. */
  add(operation: T): void {
    const index = this.#findIndex(operation.sequence);
    if (index === this.#operations.size) this.#operations.push(operation);
    else this.#operations.insert(index, operation);
  }

  /** Takes out the first operation if its number is at most `upTo`. */
  takeUpTo(upTo: number): T | undefined {
    const first = this.#operations.at(0);
    return first !== undefined && first.sequence <= upTo
      ? this.#operations.shift()
      : undefined;
  }

  /** How many there are with a higher number. */
  countAbove(sequence: number): number {
    return this.#operations.size - this.#findIndex(sequence + 1);
  }

  all(): readonly T[] {
    return this.#operations.slice();
  }

  /** Where the operation stands, or where it would. */
  #findIndex(sequence: number): number {
    const operations = this.#operations;
    const first = operations.at(0);
    const last = operations.at(operations.size - 1);
    if (first === undefined || last === undefined || sequence > last.sequence)
      return operations.size;
    // Without gaps its number says where it is.
    const guess = sequence - first.sequence;
    if (operations.at(guess)?.sequence === sequence) return guess;
    return operations.findIndex((operation) => operation.sequence >= sequence);
  }
}
