/** The connection to one node: made again when it is lost, after pauses that grow. */
import { Connection } from './connection.ts';
import type { CqlError } from './cql-error.ts';
import type { PathOptions } from './options.ts';

/** A connection that stood shorter counts as one that failed: a node that drops everybody is not hammered. */
const STABLE_MS = 5_000;

export interface LastingConnectionEvents {
  /** The connection is ready, or has room again. */
  readonly onRoom: () => void;
  /** The connection was lost or could not be made. */
  readonly onDown: (reason: CqlError) => void;
}

export class LastingConnection {
  readonly bytes = { sent: 0, received: 0 };
  readonly #options: PathOptions;
  readonly #events: LastingConnectionEvents;
  #connection: Connection | undefined;
  #failures = 0;
  #readySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PathOptions, events: LastingConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#open();
  }

  /** Whether it stands, busy or not, and the node gives preliminary replies. */
  get isUp(): boolean {
    return this.#connection?.isReady === true && this.#connection.hasIcg;
  }

  /** The connection, if it has room for a request. */
  take(): Connection | undefined {
    return this.isUp && this.#connection?.hasRoom === true ? this.#connection : undefined;
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
        this.#events.onRoom();
      },
      onRoom: () => this.#events.onRoom(),
      bytes: this.bytes,
      onClosed: (reason) => this.#lose(reason),
    });
  }

  #lose(reason: CqlError): void {
    const stoodMs = this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
    this.#connection = undefined;
    this.#failures = stoodMs >= STABLE_MS ? 0 : this.#failures + 1;
    if (this.#isClosed) return;
    const { reconnectFirstMs, reconnectMaxMs } = this.#options;
    const ceilingMs = Math.min(reconnectMaxMs, reconnectFirstMs * 2 ** Math.max(0, this.#failures - 1));
    this.#timer = setTimeout(() => this.#open(), ceilingMs * (0.5 + Math.random() / 2));
    this.#events.onDown(reason);
  }
}
