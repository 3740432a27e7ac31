/** The connections to one node: made again when they are lost, after pauses that grow. */
import { Connection } from './connection.ts';
import type { CqlError } from './cql-error.ts';
import type { PathOptions } from './options.ts';

/** A connection that stood shorter counts as one that failed: a node that drops everybody is not hammered. */
const STABLE_MS = 5_000;

/** A place for one connection after the other. */
interface Slot {
  connection: Connection | undefined;
  failures: number;
  readySince: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

export interface PoolEvents {
  /** A connection is ready, or has room again. */
  readonly onRoom: () => void;
  /** A connection was lost or could not be made, and no other can be used. */
  readonly onDown: (reason: CqlError) => void;
}

export class Pool {
  bytesSent = 0;
  bytesReceived = 0;
  readonly #options: PathOptions;
  readonly #events: PoolEvents;
  readonly #slots: Slot[];
  #isClosed = false;

  constructor(options: PathOptions, events: PoolEvents) {
    this.#options = options;
    this.#events = events;
    const empty = (): Slot => ({ connection: undefined, failures: 0, readySince: undefined, timer: undefined });
    this.#slots = Array.from({ length: options.connections }, empty);
    for (const slot of this.#slots) this.#open(slot);
  }

  /** Whether none of the connections could be kept, each at least once. */
  get hasFailed(): boolean {
    return this.#slots.every(({ failures }) => failures > 0);
  }

  /** Whether there is a connection to a node that gives preliminary replies, busy or not. */
  get isUp(): boolean {
    return this.#slots.some(({ connection }) => isUsable(connection));
  }

  /** The connection with the fewest requests under way; undefined where none has room. */
  take(): Connection | undefined {
    let best: Connection | undefined;
    for (const { connection } of this.#slots) {
      if (!isUsable(connection) || !connection.hasRoom) continue;
      if (best === undefined || connection.inFlight < best.inFlight) best = connection;
    }
    return best;
  }

  /** Cuts all connections as a failing network would. */
  cut(): void {
    for (const { connection } of this.#slots) connection?.destroy('cut');
  }

  async close(reason: CqlError): Promise<void> {
    this.#isClosed = true;
    for (const slot of this.#slots) clearTimeout(slot.timer);
    await Promise.all(this.#slots.map(async ({ connection }) => connection?.close(reason)));
  }

  #open(slot: Slot): void {
    slot.timer = undefined;
    slot.readySince = undefined;
    slot.connection = new Connection(this.#options, {
      onReady: () => {
        slot.readySince = performance.now();
        this.#events.onRoom();
      },
      onRoom: () => this.#events.onRoom(),
      onBytes: (direction, count) => {
        if (direction === 'sent') this.bytesSent += count;
        else this.bytesReceived += count;
      },
      onClosed: (reason) => this.#lose(slot, reason),
    });
  }

  #lose(slot: Slot, reason: CqlError): void {
    const stoodMs = slot.readySince === undefined ? 0 : performance.now() - slot.readySince;
    slot.connection = undefined;
    slot.failures = stoodMs >= STABLE_MS ? 0 : slot.failures + 1;
    if (this.#isClosed) return;
    const { reconnectFirstMs, reconnectMaxMs } = this.#options;
    const ceilingMs = Math.min(reconnectMaxMs, reconnectFirstMs * 2 ** Math.max(0, slot.failures - 1));
    slot.timer = setTimeout(() => this.#open(slot), ceilingMs * (0.5 + Math.random() / 2));
    if (!this.isUp) this.#events.onDown(reason);
  }
}

function isUsable(connection: Connection | undefined): connection is Connection {
  return connection !== undefined && connection.isReady && connection.hasIcg;
}
