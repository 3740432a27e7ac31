/** Clients beside every site that keep operations under way, whatever becomes of the server meanwhile. */
import { createClient, type Client } from 'correctables';
import { exponentialBackoff, redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { pause } from '../tickets/pause.ts';
import { ledger } from './contract.ts';
import type { HistoryLine } from './history.ts';

/** Operations that one client has under way. */
const WINDOW = 16;
/** One operation in so many is red. */
const RED_EVERY = 8;
/** Longer than any restart: the clients wait for the server to come back. */
const TIMEOUT_MS = 120_000;
const RECONNECT = exponentialBackoff({ initialDelayMs: 20, maxDelayMs: 100 });

/** A client of one site. */
export function clientOf(url: string): Client<RedBlueLevels> {
  return createClient(redblue(ledger, { url, WebSocket, reconnect: RECONNECT }), { timeoutMs: TIMEOUT_MS });
}

/** Load from one client a site. */
export class Load {
  acknowledged = 0;
  readonly #clients: readonly Client<RedBlueLevels>[];
  readonly #note: (line: Omit<HistoryLine, 'atMs'>) => void;
  readonly #workers: Promise<void>[] = [];
  readonly #pauseMs: number;
  #isStopped = false;
  #sent = 0;
  #onAcknowledged: (() => void) | undefined;

  /** @param pauseMs of each worker, between two operations */
  constructor(urls: readonly string[], note: (line: Omit<HistoryLine, 'atMs'>) => void, pauseMs = 0) {
    this.#clients = urls.map(clientOf);
    this.#note = note;
    this.#pauseMs = pauseMs;
  }

  start(): void {
    for (const client of this.#clients) {
      for (let worker = 0; worker < WINDOW; worker += 1) this.#workers.push(this.#work(client));
    }
  }

  /** Waits until so many operations are acknowledged. */
  async until(count: number): Promise<void> {
    while (this.acknowledged < count) {
      const more = new Promise<void>((resolve) => (this.#onAcknowledged = resolve));
      // A worker that fails is an answer too.
      await Promise.race([more, ...this.#workers]);
    }
  }

  /** Lets what is under way end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #work(client: Client<RedBlueLevels>): Promise<void> {
    while (!this.#isStopped) {
      this.#sent += 1;
      const operation = `operation ${this.#sent}`;
      const kind = this.#sent % RED_EVERY === 0 ? ledger.book : ledger.note;
      this.#note({ operation, kind: 'sent' });
      await client.invokeStrong(kind({ operation }));
      this.#note({ operation, kind: 'acknowledged' });
      this.acknowledged += 1;
      this.#onAcknowledged?.();
      if (this.#pauseMs > 0) await pause(this.#pauseMs);
    }
  }
}
