/** One operation that has no final yet. */
import type {
  InvocationContext,
  Sink,
  ViewDetails,
  SubmissionStatus,
} from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Access } from '../../correctable/operation.ts';
import type { EncodedMessage } from '../../protocol/codec/codec.ts';
import { MIN_ANNOUNCED_BYTES } from '../../protocol/messages/short-messages.ts';
import type { ClientMessage } from '../../protocol/messages/client-messages.ts';
import type { Outage } from './outage.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { deepCopy } from '../../values/deep-copy.ts';

/**
 * A view that may be confirmed. It keeps the value that the server sent, even if a receiver changes
 * the delivered value.
 */
export class ConfirmableView {
  /** The sequence number that the sink returned for this view. */
  readonly seq: number;
  /** The details of the view, including those that its confirmations have added. */
  readonly details: ViewDetails;
  readonly #serverValue: unknown;
  /** The value that was delivered to the sink. */
  readonly #deliveredValue: unknown;

  constructor(seq: number, details: ViewDetails, own: unknown, handedOn: unknown) {
    this.seq = seq;
    this.details = details;
    this.#serverValue = own;
    this.#deliveredValue = handedOn;
  }

  /**
   * Returns whether the delivered value still equals the value of the server. Returns false if the
   * delivered value cannot be read any more.
   */
  isUnmodified(): boolean {
    try {
      return structurallyEqual(this.#serverValue, this.#deliveredValue);
    } catch {
      return false;
    }
  }

  /** Returns the value of the server, so that it can be delivered as a separate view. */
  copyValue(): unknown {
    return deepCopy(this.#serverValue);
  }

  /** Returns the same view after a confirmation, or after a delivery with this number and value. */
  withDetails(
    details: ViewDetails,
    seq = this.seq,
    handedOn = this.#deliveredValue,
  ): ConfirmableView {
    return new ConfirmableView(seq, details, this.#serverValue, handedOn);
  }
}

/** The facts that operations need of the connection on which they were submitted. */
export interface OperationConnection {
  /**
   * The name of the server's record of this client. A server that lost or replaced the record has
   * another name.
   */
  readonly memoryId: string | undefined;
  /** The number of operations that wait for a reply on it. */
  awaitedCount: number;
  /** The number of bytes of the large operations among them. */
  awaitedBytes: number;
  /** Whether its server goes away, so that it accepts no more operations. */
  readonly isDraining: boolean;
  push(message: ClientMessage): void;
}

/**
 * How many of the latest views can be confirmed. A gateway keeps the same number for each
 * operation.
 */
const MAX_CONFIRMABLE_VIEWS = 1024;

export interface OperationParts {
  readonly id: number;
  readonly name: string;
  readonly access: Access;
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
}

/** One operation in flight, with its progress. The client reads the progress when it gives up. */
export class InFlightOperation implements SubmissionStatus {
  readonly id: number;
  readonly name: string;
  readonly access: Access;
  /**
   * Index of the strongest requested level. A view at this level or a stronger one ends the
   * operation.
   */
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** The submission as it is sent, and resent after a reconnect. */
  readonly message: EncodedMessage;
  readonly #outage: Outage;
  /**
   * The connection on which the reply is expected. `undefined` while the operation waits to be
   * submitted.
   */
  connection: OperationConnection | undefined = undefined;
  /**
   * Whether the operation was submitted on an earlier connection, whose server may have executed
   * it.
   */
  wasSentBefore = false;
  /**
   * The `memoryId` of the earlier connections on which the operation was sent. `undefined` if these
   * had different ones.
   */
  memoryId: string | undefined = undefined;
  /**
   * Whether no caller wants the views any more. A sent update stays until the server certainly has
   * it.
   */
  isCancelled = false;
  /**
   * The site that the operation was sent to first. The next fields are the site that it was sent to
   * last, and how often it has changed sites.
   */
  home: string | undefined = undefined;
  site: string | undefined = undefined;
  hop = 0;
  /**
   * The first preliminary view on the present connection. The next field is its number at the
   * server. Most operations have no other preliminary view, so this one needs no map.
   */
  #firstView: ConfirmableView | undefined = undefined;
  #firstViewSeq = 0;
  /** The latest views by the server's numbers, if there are several. */
  #confirmableViews: Map<number, ConfirmableView> | undefined = undefined;
  removeAbortListener: (() => void) | undefined = undefined;

  constructor(parts: OperationParts, message: EncodedMessage, outage: Outage) {
    this.id = parts.id;
    this.name = parts.name;
    this.access = parts.access;
    this.strongest = parts.strongest;
    this.sink = parts.sink;
    this.context = parts.context;
    this.message = message;
    this.#outage = outage;
  }

  get mayHaveBeenSent(): boolean {
    return this.connection !== undefined || this.wasSentBefore;
  }

  get blockedBy(): CorrectableError | undefined {
    return this.connection === undefined ? this.#outage.blockedBy : undefined;
  }

  /**
   * The size of the message if it may block a slow network so long that nothing else arrives
   * meanwhile.
   */
  get largeBytes(): number {
    const { length } = this.message;
    return length < MIN_ANNOUNCED_BYTES ? 0 : length;
  }

  /**
   * Returns whether a server with this `memoryId` may not know the operation although another
   * server knows it.
   */
  isUnknownTo(memory: string | undefined): boolean {
    return this.wasSentBefore && this.memoryId !== memory;
  }

  /** The connection of the operation is lost, so it waits for another one. */
  handleConnectionLoss(): void {
    const memory = this.connection?.memoryId;
    this.memoryId = this.isUnknownTo(memory) ? undefined : memory;
    this.wasSentBefore = true;
    this.detachFromConnection();
  }

  /**
   * Detaches the operation from its connection. Another connection cannot confirm the views of this
   * one, so they are dropped.
   */
  detachFromConnection(): void {
    if (this.connection !== undefined) {
      this.connection.awaitedCount--;
      this.connection.awaitedBytes -= this.largeBytes;
    }
    this.connection = undefined;
    this.#firstView = undefined;
    this.#confirmableViews = undefined;
  }

  /** Keeps view `seq` of the server. */
  recordView(seq: number, value: ConfirmableView): void {
    if (
      this.#confirmableViews === undefined &&
      (this.#firstView === undefined || this.#firstViewSeq === seq)
    ) {
      this.#firstView = value;
      this.#firstViewSeq = seq;
      return;
    }
    this.#confirmableViews ??= new Map([[this.#firstViewSeq, this.#firstView as ConfirmableView]]);
    this.#confirmableViews.delete(seq);
    this.#confirmableViews.set(seq, value);
    if (this.#confirmableViews.size <= MAX_CONFIRMABLE_VIEWS) return;
    const [oldest] = this.#confirmableViews.keys();
    this.#confirmableViews.delete(oldest as number);
  }

  /**
   * Returns view `seq` of the server for a confirmation, if it arrived and is not too old. The view
   * then counts as recent.
   */
  findView(seq: number): ConfirmableView | undefined {
    if (this.#confirmableViews === undefined)
      return this.#firstViewSeq === seq ? this.#firstView : undefined;
    const value = this.#confirmableViews.get(seq);
    // The server sends a repeated value only as a confirmation of this view. Later confirmations
    // name this view again, so keep it.
    if (value !== undefined) this.recordView(seq, value);
    return value;
  }
}
