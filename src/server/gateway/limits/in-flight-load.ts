/**
 * What operations take up until the store is done with them, even if their
 * client has canceled them or left.
 */
import { systemClock } from '../../../correctable/clock.ts';
import { computeUsableTotal, type ByteBudget } from './limits.ts';

/**
 * What an operation takes beside its part of the frame: so it counts, however
 * small, until the store is done with it.
 */
export const OPERATION_BYTES = 512;

/** Of whom there is too much. */
export type BudgetOwner = 'client' | 'principal' | 'total';

/** What all connections of one principal take up, also those that are gone. */
export interface PrincipalLoad {
  bytes: number;
}

/** What all connections of a gateway take up, also those that are gone. */
export class TotalLoad {
  readonly #budget: ByteBudget;
  operations = 0;
  bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /**
   * Returns the owner that would have too much with one more operation. One may
   * always be in flight.
   */
  findFullBudget(
    { operations, bytes, principal }: ConnectionLoad,
    frameBytes: number,
  ): BudgetOwner | undefined {
    const added = OPERATION_BYTES + frameBytes;
    if (operations > 0 && bytes + added > this.#budget.client) return 'client';
    if (principal.bytes > 0 && principal.bytes + added > this.#budget.principal)
      return 'principal';
    return this.bytes > 0 &&
      this.bytes + added > computeUsableTotal(this.#budget, bytes + added)
      ? 'total'
      : undefined;
  }
}

/** What the operations of one connection take up. */
export class ConnectionLoad {
  readonly total: TotalLoad;
  /** Of its principal, once that is known: nothing is in flight before. */
  principal: PrincipalLoad = { bytes: 0 };
  operations = 0;
  bytes = 0;

  constructor(total: TotalLoad) {
    this.total = total;
  }

  change(operations: number, frameBytes: number): void {
    const bytes = frameBytes + operations * OPERATION_BYTES;
    this.operations += operations;
    this.bytes += bytes;
    this.principal.bytes += bytes;
    this.total.operations += operations;
    this.total.bytes += bytes;
  }
}

/**
 * A frame of a client. It counts as a whole until the last of its operations
 * has ended.
 */
export class ReceivedFrame {
  readonly bytes: number;
  /** When its rows are served: their time limits count from then. */
  servedAt: number = systemClock.now();
  #load: ConnectionLoad | undefined;
  #slots = 0;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** What one more operation of it adds to what is in flight. */
  get addedBytes(): number {
    return this.#slots === 0 ? this.bytes : 0;
  }

  onOperationStarted(load: ConnectionLoad): void {
    if (this.#slots++ > 0) return;
    this.#load = load;
    load.change(0, this.bytes);
  }

  onOperationEnded(): void {
    if (--this.#slots === 0) this.#load?.change(0, -this.bytes);
  }
}

export class LoadSlot {
  #load: ConnectionLoad | undefined;
  readonly #frame: ReceivedFrame;

  constructor(load: ConnectionLoad, frame: ReceivedFrame) {
    this.#load = load;
    this.#frame = frame;
    load.change(1, 0);
    frame.onOperationStarted(load);
  }

  /** Another connection waits for it now. */
  moveTo(load: ConnectionLoad): void {
    if (this.#load === undefined) return;
    this.#load.change(-1, 0);
    load.change(1, 0);
    this.#load = load;
  }

  release(): void {
    if (this.#load === undefined) return;
    this.#load.change(-1, 0);
    this.#load = undefined;
    this.#frame.onOperationEnded();
  }
}
