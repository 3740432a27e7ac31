/** Clients of every site that always have operations in flight, even while the server is down. */
import { createClient, type Client } from 'correctables';
import { exponentialBackoff, redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { pause } from '../tickets/pause.ts';
import { ledger } from './contract.ts';
import type { HistoryLine } from './history.ts';

/** The number of operations that one client has in flight. */
const WINDOW = 16;
/** One in this many operations is red. */
const RED_EVERY = 8;
/**
 * The timeout of an operation. It is longer than any restart, because clients wait for the server.
 */
const TIMEOUT_MS = 120_000;
const RECONNECT = exponentialBackoff({ initialDelayMs: 20, maxDelayMs: 100 });

/** A client of one site. */
export function clientOf(url: string, timeoutMs = TIMEOUT_MS): Client<RedBlueLevels> {
  return createClient(redblue(ledger, { url, WebSocket, reconnect: RECONNECT }), { timeoutMs });
}

export interface LoadOptions {
  /** The pause of each worker between two operations. Default: 0 */
  readonly pauseMs?: number;
  /** The timeout of each operation. Default: 120 000 */
  readonly timeoutMs?: number;
  /** Whether a worker continues after a failed operation. Default: false, the worker fails. */
  readonly isEndless?: boolean;
}

/** The load of one client for each site. */
export class Load {
  acknowledged = 0;
  readonly #clients: readonly Client<RedBlueLevels>[];
  readonly #note: (line: Omit<HistoryLine, 'atMs'>) => void;
  readonly #workers: Promise<void>[] = [];
  readonly #options: LoadOptions;
  #isStopped = false;
  #sent = 0;
  #onAcknowledged: (() => void) | undefined;

  constructor(
    urls: readonly string[],
    note: (line: Omit<HistoryLine, 'atMs'>) => void,
    options: LoadOptions = {},
  ) {
    this.#clients = urls.map((url) => clientOf(url, options.timeoutMs));
    this.#note = note;
    this.#options = options;
  }

  start(): void {
    for (const client of this.#clients) {
      for (let worker = 0; worker < WINDOW; worker += 1) this.#workers.push(this.#work(client));
    }
  }

  /** Waits until this many operations are acknowledged. */
  async until(count: number): Promise<void> {
    while (this.acknowledged < count) {
      const more = new Promise<void>((resolve) => (this.#onAcknowledged = resolve));
      // Stop waiting if a worker fails.
      await Promise.race([more, ...this.#workers]);
    }
  }

  /** Stops, and waits for operations in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Stops at once. Operations in flight fail, because the server may not recover. */
  async abandon(): Promise<void> {
    this.#isStopped = true;
    const ended = Promise.allSettled(this.#workers);
    await Promise.all(this.#clients.map((client) => client.close()));
    await ended;
  }

  async #work(client: Client<RedBlueLevels>): Promise<void> {
    const { pauseMs = 0, isEndless = false } = this.#options;
    while (!this.#isStopped) {
      try {
        await this.#send(client);
      } catch (error) {
        if (!isEndless) throw error;
      }
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  async #send(client: Client<RedBlueLevels>): Promise<void> {
    this.#sent += 1;
    const operation = `operation ${this.#sent}`;
    const kind = this.#sent % RED_EVERY === 0 ? ledger.book : ledger.note;
    this.#note({ operation, kind: 'sent' });
    await client.invokeStrong(kind({ operation }));
    this.#note({ operation, kind: 'acknowledged' });
    this.acknowledged += 1;
    this.#onAcknowledged?.();
  }
}
