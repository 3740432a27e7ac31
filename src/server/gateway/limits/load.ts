/**
 * What operations take up: each has a place from when it is admitted until the store is done with it, whether anybody
 * still waits for it or not. So a client cannot have the store do more at a time by cancelling, or by leaving.
 */
import { systemClock } from '../../../correctable/clock.ts';
import type { GatewayLimits } from './limits.ts';

/** How much more than one connection all of those that are gone may have left with the store before it is crowded. */
const LEFT_OVER = 4;
/** Before it is full: beyond that, whoever leaves more has to see as much end. */
const LEFT_FULL = 2 * LEFT_OVER;
/** Which part of what a connection may have it keeps in a crowd: others that left much must not stop who is here. */
const KEPT_PART = 1 / 16;

/** How much a connection may have under way. */
export interface Allowance {
  readonly operations: number;
  /** Of the frames that they came in. */
  readonly bytes: number;
}

/** Which part of all is set aside, so that each connection has a share whatever the others have under way. */
const SHARED_OUT = 1 / 4;

type Bounds = Pick<
  GatewayLimits,
  'inFlightMax' | 'inFlightBytesMax' | 'inFlightBytesPerPrincipalMax' | 'inFlightBytesTotalMax' | 'connectionsMax'
>;

/** What all connections of one principal take up, also those that are gone. */
export class PrincipalLoad {
  bytes = 0;
}

/** What all connections of a gateway take up, also those that are gone. */
export class TotalLoad {
  readonly #limits: Bounds;
  /** Of all connections. */
  operations = 0;
  bytes = 0;
  /** Of connections that are gone. */
  leftOperations = 0;
  leftBytes = 0;

  constructor(limits: Bounds) {
    this.#limits = limits;
  }

  /**
   * The limit beyond which it would be to have so many bytes more under way on a connection; none where there is room.
   * Whatever is true otherwise, one frame may be under way: on the connection, of its principal, and of all.
   */
  fullBy({ operations, bytes, principal }: Load, added: number): ByteLimit | undefined {
    const { inFlightBytesMax, inFlightBytesPerPrincipalMax, inFlightBytesTotalMax, connectionsMax } = this.#limits;
    if (operations > 0 && bytes + added > inFlightBytesMax) return 'inFlightBytesMax';
    if (principal.bytes > 0 && principal.bytes + added > inFlightBytesPerPrincipalMax) {
      return 'inFlightBytesPerPrincipalMax';
    }
    const isShare = bytes + added <= (inFlightBytesTotalMax * SHARED_OUT) / connectionsMax;
    const max = isShare ? inFlightBytesTotalMax : inFlightBytesTotalMax * (1 - SHARED_OUT);
    return this.bytes > 0 && this.bytes + added > max ? 'inFlightBytesTotalMax' : undefined;
  }

  /** Whether connections that are gone have left so much that those here should have no more than their part. */
  get isCrowded(): boolean {
    return this.#hasLeft(LEFT_OVER);
  }

  /**
   * What a connection may have in a crowd. Where so much is left that more must not come cheaply, that is as much as it
   * has seen end, from one operation up to its part: who works here goes on, who comes only to leave more does not.
   */
  inCrowd(ended: Allowance): Allowance {
    const operations = Math.max(1, this.#limits.inFlightMax * KEPT_PART);
    const bytes = this.#limits.inFlightBytesMax * KEPT_PART;
    if (!this.#hasLeft(LEFT_FULL)) return { operations, bytes };
    return { operations: Math.min(operations, ended.operations), bytes: Math.min(bytes, ended.bytes) };
  }

  #hasLeft(times: number): boolean {
    const { inFlightMax, inFlightBytesMax } = this.#limits;
    return this.leftOperations >= times * inFlightMax || this.leftBytes >= times * inFlightBytesMax;
  }
}

type ByteLimit = 'inFlightBytesMax' | 'inFlightBytesPerPrincipalMax' | 'inFlightBytesTotalMax';

/** What the operations of one connection take up. */
export class Load {
  readonly total: TotalLoad;
  /** Of its principal, once that is known: nothing is under way before. */
  principal: PrincipalLoad = new PrincipalLoad();
  #operations = 0;
  #bytes = 0;
  /** What the store has done with while its client was here. */
  readonly #ended = { operations: 0, bytes: 0 };
  #hasLeft = false;

  constructor(total: TotalLoad) {
    this.total = total;
  }

  get operations(): number {
    return this.#operations;
  }

  /** Of the frames that they came in. */
  get bytes(): number {
    return this.#bytes;
  }

  change(operations: number, bytes: number): void {
    this.#operations += operations;
    this.#bytes += bytes;
    this.principal.bytes += bytes;
    this.total.operations += operations;
    this.total.bytes += bytes;
    if (this.#hasLeft) this.#changeLeft(operations, bytes);
  }

  /** The store is done with so much of it. */
  end(operations: number, bytes: number): void {
    this.#ended.operations += operations;
    this.#ended.bytes += bytes;
    this.change(-operations, -bytes);
  }

  /** Whether the store has so much to do for those that are gone that one more must wait. */
  isTooMuchInCrowd(addedBytes: number): boolean {
    if (!this.total.isCrowded) return false;
    const { operations, bytes } = this.total.inCrowd(this.#ended);
    return this.#operations >= operations || this.#bytes + addedBytes > bytes;
  }

  /** The connection is gone. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#changeLeft(this.#operations, this.#bytes);
  }

  #changeLeft(operations: number, bytes: number): void {
    this.total.leftOperations += operations;
    this.total.leftBytes += bytes;
  }
}

/**
 * A frame of a client. It counts as a whole until the last of its operations has ended: how much of it each of them is
 * cannot be told without measuring them all.
 */
export class ReceivedFrame {
  readonly bytes: number;
  /** When its rows are served: their time limits count from then. */
  servedAt: number = systemClock.now();
  #load: Load | undefined;
  #places = 0;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** What one more operation of it adds to what is under way. */
  get addedBytes(): number {
    return this.#places === 0 ? this.bytes : 0;
  }

  entered(load: Load): void {
    if (this.#places++ > 0) return;
    this.#load = load;
    load.change(0, this.bytes);
  }

  left(): void {
    if (--this.#places === 0) this.#load?.end(0, this.bytes);
  }
}

/** The place of one operation. */
export class LoadPlace {
  #load: Load | undefined;
  readonly #frame: ReceivedFrame;

  constructor(load: Load, frame: ReceivedFrame) {
    this.#load = load;
    this.#frame = frame;
    load.change(1, 0);
    frame.entered(load);
  }

  /** Another connection waits for it now. */
  moveTo(load: Load): void {
    if (this.#load === undefined) return;
    this.#load.change(-1, 0);
    load.change(1, 0);
    this.#load = load;
  }

  /** The store is done with it. */
  leave(): void {
    if (this.#load === undefined) return;
    this.#load.end(1, 0);
    this.#load = undefined;
    this.#frame.left();
  }
}
