/** The connection to one node: made again when it is lost, after pauses that grow. */
import { Connection } from './connection.ts';
import type { CqlError } from './cql-error.ts';
import type { PluginOptions } from './options.ts';

/** A connection that stood shorter counts as one that failed: a node that drops everybody is not hammered. */
const STABLE_AFTER_MS = 5_000;

export interface ReconnectingConnectionEvents {
  /** The connection is ready, or has room again. */
  readonly onCapacity: () => void;
  readonly onDown: (reason: CqlError) => void;
}

export class ReconnectingConnection {
  readonly bytes = { sent: 0, received: 0 };
  readonly #options: PluginOptions;
  readonly #events: ReconnectingConnectionEvents;
  #connection: Connection | undefined;
  #failureCount = 0;
  #readySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PluginOptions, events: ReconnectingConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#open();
  }

  /** Whether it stands, busy or not, and the node gives preliminary replies. */
  get isUp(): boolean {
    return this.#connection?.isReady === true && this.#connection.hasPreliminaryReplies;
  }

  /** The connection, if it has room for a request. */
  getReady(): Connection | undefined {
    return this.isUp && this.#connection?.hasCapacity === true ? this.#connection : undefined;
  }

  async close(reason: CqlError): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#connection?.close(reason);
  }

  #open(): void {
    this.#readySince = undefined;
    this.#connection = new Connection(this.#options, {
      onReady: () => {
        this.#readySince = performance.now();
        this.#events.onCapacity();
      },
      onCapacity: () => this.#events.onCapacity(),
      bytes: this.bytes,
      onClosed: (reason) => this.#handleLoss(reason),
    });
  }

  #handleLoss(reason: CqlError): void {
    const stoodMs = this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
    this.#connection = undefined;
    this.#failureCount = stoodMs >= STABLE_AFTER_MS ? 0 : this.#failureCount + 1;
    if (this.#isClosed) return;
    const { initialReconnectDelayMs, maxReconnectDelayMs } = this.#options;
    const ceilingMs = Math.min(maxReconnectDelayMs, initialReconnectDelayMs * 2 ** Math.max(0, this.#failureCount - 1));
    this.#timer = setTimeout(() => this.#open(), ceilingMs * (0.5 + Math.random() / 2));
    this.#events.onDown(reason);
  }
}
