/**
 * The operations of one client by their numbers. They come and go almost in order, so mostly at the
 * ends of a list.
 */
import { Fifo } from '../../../service/collections/fifo.ts';

interface NumberedOperation {
  readonly sequence: number;
}

export class OperationWindow<T extends NumberedOperation> {
  readonly #operations = new Fifo<T>();

  get size(): number {
    return this.#operations.size;
  }

  get first(): T | undefined {
    return this.#operations.first;
  }

  get(sequence: number): T | undefined {
    const found = this.#operations.at(this.#findIndex(sequence));
    return found?.sequence === sequence ? found : undefined;
  }

  /** Adds an operation that is not there. */
  add(operation: T): void {
    const { last } = this.#operations;
    if (last === undefined || last.sequence < operation.sequence) this.#operations.push(operation);
    else this.#operations.insert(this.#findIndex(operation.sequence), operation);
  }

  /** Takes out the first operation. */
  shift(): void {
    this.#operations.shift();
  }

  /** Returns the number of operations with a higher number. */
  countAbove(sequence: number): number {
    return this.#operations.size - this.#findIndex(sequence + 1);
  }

  all(): readonly T[] {
    return this.#operations.slice();
  }

  /** Returns the index of the operation, or the one that it would have. */
  #findIndex(sequence: number): number {
    const operations = this.#operations;
    const { first, last } = operations;
    if (first === undefined || last === undefined || sequence > last.sequence)
      return operations.size;
    // If there are no gaps, the index follows from the number.
    const guess = sequence - first.sequence;
    if (operations.at(guess)?.sequence === sequence) return guess;
    return operations.findIndex((operation) => operation.sequence >= sequence);
  }
}
