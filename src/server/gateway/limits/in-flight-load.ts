/**
 * Counts operations and their frames until the store is done with them, even if their client has
 * canceled them or disconnected.
 */
import { systemClock } from '../../../correctable/clock.ts';
import { computeUsableTotal, type ByteBudget } from './limits.ts';

/**
 * Memory for an operation without its frame, in bytes. So even a small operation counts until the
 * store is done with it.
 */
export const OPERATION_BYTES = 512;

/** The owner of a budget that is full. */
export type BudgetOwner = 'client' | 'principal' | 'total';

/** The load of all connections of one principal, closed ones included. */
export interface PrincipalLoad {
  bytes: number;
}

/** The load of all connections of a gateway, closed ones included. */
export class TotalLoad {
  readonly #budget: ByteBudget;
  operations = 0;
  bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /**
   * Returns the owner whose budget one more operation would exceed. An owner may always have one
   * operation in flight.
   */
  findFullBudget(
    { operations, bytes, principal }: ConnectionLoad,
    frameBytes: number,
  ): BudgetOwner | undefined {
    const added = OPERATION_BYTES + frameBytes;
    if (operations > 0 && bytes + added > this.#budget.client) return 'client';
    if (principal.bytes > 0 && principal.bytes + added > this.#budget.principal) return 'principal';
    return this.bytes > 0 && this.bytes + added > computeUsableTotal(this.#budget, bytes + added)
      ? 'total'
      : undefined;
  }
}

/** The load of one connection. */
export class ConnectionLoad {
  readonly total: TotalLoad;
  /**
   * Shared by the connections of its principal, once that is known. Before, nothing is in flight.
   */
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

/** A frame of a client. It counts as a whole until the last of its operations has ended. */
export class ReceivedFrame {
  readonly bytes: number;
  /**
   * The time at which the messages of the frame began to be served. Their timeouts are counted from
   * it.
   */
  servedAt: number = systemClock.now();
  #load: ConnectionLoad | undefined;
  #slots = 0;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** The bytes that one more operation of this frame adds to the load. */
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

  /** Moves the operation to the load of another connection, which waits for it now. */
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
