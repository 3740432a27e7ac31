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
 * A view that may be confirmed: what the server gave, whatever its receivers
 * have made of it meanwhile.
 */
export class ConfirmableView {
  /** The sink's number for it. */
  readonly seq: number;
  /** With what its confirmations have added. */
  readonly details: ViewDetails;
  readonly #serverValue: unknown;
  /** The same, as it was handed on. */
  readonly #deliveredValue: unknown;

  constructor(
    seq: number,
    details: ViewDetails,
    own: unknown,
    handedOn: unknown,
  ) {
    this.seq = seq;
    this.details = details;
    this.#serverValue = own;
    this.#deliveredValue = handedOn;
  }

  /**
   * Whether what was handed on is what the server gave: what can no longer be
   * read is not.
   */
  isUnmodified(): boolean {
    try {
      return structurallyEqual(this.#serverValue, this.#deliveredValue);
    } catch {
      return false;
    }
  }

  /** What the server gave, to be handed on as a view of its own. */
  copyValue(): unknown {
    return deepCopy(this.#serverValue);
  }

  /**
   * The same view once it was confirmed, or handed on again with this number
   * and value.
   */
  withDetails(
    details: ViewDetails,
    seq = this.seq,
    handedOn = this.#deliveredValue,
  ): ConfirmableView {
    return new ConfirmableView(seq, details, this.#serverValue, handedOn);
  }
}

/** What operations need to know of the line that they were submitted on. */
export interface OperationConnection {
  /** Names what its server remembers of this client. */
  readonly memoryId: string | undefined;
  /** How many operations wait for an answer on it. */
  awaitedCount: number;
  /** How many bytes the large ones among them have. */
  awaitedBytes: number;
  /** Whether its server goes away, and nothing is submitted on it any more. */
  readonly isDraining: boolean;
  push(row: ClientMessage): void;
}

/**
 * How many views can be confirmed, the latest: as many as a gateway keeps of an
 * operation.
 */
const MAX_CONFIRMABLE_VIEWS = 1024;

export type OperationParts = Pick<
  InFlightOperation,
  'id' | 'name' | 'access' | 'strongest' | 'sink' | 'context'
>;

/**
 * One operation in flight, and where it is: the application's side asks that
 * when it gives up.
 */
export class InFlightOperation implements SubmissionStatus {
  readonly id: number;
  readonly name: string;
  readonly access: Access;
  /**
   * Index of the strongest requested level: a view at it or above ends the
   * operation.
   */
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** The submission as it is sent, and sent again after a reconnect. */
  readonly message: EncodedMessage;
  readonly #outage: Outage;
  /** Where its answer is to come from; none while it waits to be submitted. */
  connection: OperationConnection | undefined = undefined;
  /**
   * Whether it was submitted on an earlier line, which may have executed it.
   */
  wasSentBefore = false;
  /**
   * What the server remembered that it was sent to before; none, where that
   * differed from one time to the next.
   */
  memoryId: string | undefined = undefined;
  /**
   * No caller wants the views any more. A sent update stays until the server is
   * known to have it.
   */
  isCancelled = false;
  /**
   * Where it went: the site that it was sent to first, the one it was sent to
   * last, and how often it moved.
   */
  home: string | undefined = undefined;
  site: string | undefined = undefined;
  hop = 0;
  /**
   * The first view that is not the last, of the present submission, and the
   * server's number: mostly there are no others.
   */
  #firstView: ConfirmableView | undefined = undefined;
  #firstViewSeq = 0;
  /** The latest views by the server's numbers, where there are several. */
  #confirmableViews: Map<number, ConfirmableView> | undefined = undefined;
  removeAbortListener: (() => void) | undefined = undefined;

  constructor(parts: OperationParts, row: EncodedMessage, outage: Outage) {
    this.id = parts.id;
    this.name = parts.name;
    this.access = parts.access;
    this.strongest = parts.strongest;
    this.sink = parts.sink;
    this.context = parts.context;
    this.message = row;
    this.#outage = outage;
  }

  get mayHaveBeenSent(): boolean {
    return this.connection !== undefined || this.wasSentBefore;
  }

  get blockedBy(): CorrectableError | undefined {
    return this.connection === undefined ? this.#outage.blockedBy : undefined;
  }

  /**
   * Its size, if it may take a slow link so long that nothing is heard
   * meanwhile.
   */
  get largeBytes(): number {
    const { length } = this.message;
    return length < MIN_ANNOUNCED_BYTES ? 0 : length;
  }

  /**
   * Whether a server that remembers under the name `memory` may not know of it
   * although another one does.
   */
  isUnknownTo(memory: string | undefined): boolean {
    return this.wasSentBefore && this.memoryId !== memory;
  }

  /** The line that it was submitted on is gone: it waits for another. */
  handleConnectionLoss(): void {
    const memory = this.connection?.memoryId;
    this.memoryId = this.isUnknownTo(memory) ? undefined : memory;
    this.wasSentBefore = true;
    this.detachFromConnection();
  }

  /**
   * It waits for another line, on which views of this one cannot be confirmed.
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

  /** View `seq` of the server. */
  recordView(seq: number, value: ConfirmableView): void {
    if (
      this.#confirmableViews === undefined &&
      (this.#firstView === undefined || this.#firstViewSeq === seq)
    ) {
      this.#firstView = value;
      this.#firstViewSeq = seq;
      return;
    }
    this.#confirmableViews ??= new Map([
      [this.#firstViewSeq, this.#firstView as ConfirmableView],
    ]);
    this.#confirmableViews.delete(seq);
    this.#confirmableViews.set(seq, value);
    if (this.#confirmableViews.size <= MAX_CONFIRMABLE_VIEWS) return;
    const [oldest] = this.#confirmableViews.keys();
    this.#confirmableViews.delete(oldest as number);
  }

  /**
   * The server's view `seq`, to be confirmed, if it came and is not too long
   * ago: it counts as of now.
   */
  findView(seq: number): ConfirmableView | undefined {
    if (this.#confirmableViews === undefined)
      return this.#firstViewSeq === seq ? this.#firstView : undefined;
    const value = this.#confirmableViews.get(seq);
    // A later view with the same value was not sent: the next one of that value
    // refers to this one again.
    if (value !== undefined) this.recordView(seq, value);
    return value;
  }
}
