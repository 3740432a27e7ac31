/** A server under load that anybody may kill at any moment, with what became of every operation. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { ledger } from './contract.ts';
import { clientOf, Load } from './load.ts';
import type { KillState, Kill } from './page/state.ts';
import { startServer } from './start-server.ts';
import type { ServeProcess } from '../shared/serve-process.ts';

/** Of each client, between two of its operations: people look on, so a laptop stays quiet. */
const PAUSE_MS = 100;
/** Acknowledged operations are counted by spans of this length. */
const SPAN_MS = 100;
/** So many of the latest acknowledged operations are looked for after a kill. */
const LOOKED_FOR_MAX = 500;

export class LiveLoad {
  readonly #folder: string;
  readonly #beganAt = performance.now();
  readonly #spans: number[] = [];
  readonly #kills: Kill[] = [];
  readonly #acknowledged: string[] = [];
  #load: Load;
  #server: ServeProcess;
  #port: number;
  #reader: Client<RedBlueLevels>;
  #killing: Promise<void> | undefined;

  static async start(): Promise<LiveLoad> {
    const folder = await mkdtemp(join(tmpdir(), 'correctables-kill-'));
    const server = startServer({ data: folder, port: 0 });
    return new LiveLoad(folder, server, Object.values(await server.listening));
  }

  private constructor(folder: string, server: ServeProcess, urls: readonly string[]) {
    this.#folder = folder;
    this.#server = server;
    const [first = ''] = urls;
    this.#port = Number(new URL(first).port);
    this.#reader = clientOf(first);
    this.#load = new Load(
      urls,
      ({ kind, operation }) => (kind === 'acknowledged' ? this.#note(operation) : undefined),
      PAUSE_MS,
    );
    this.#load.start();
  }

  get state(): KillState {
    const nowMs = this.#nowMs();
    const spans = Array.from({ length: Math.floor(nowMs / SPAN_MS) }, (_, n) => this.#spans[n] ?? 0);
    return { nowMs, spanMs: SPAN_MS, spans, kills: this.#kills, acknowledged: this.#acknowledged.length };
  }

  /** Kills the server, starts it again on its data, and looks for what it had acknowledged. One kill at a time. */
  kill(): void {
    this.#killing ??= this.#killAndLook().finally(() => (this.#killing = undefined));
    // What goes wrong is in the state.
    this.#killing.catch(() => {});
  }

  async close(): Promise<void> {
    await this.#killing;
    await this.#load.stop();
    await this.#reader.close();
    await this.#server.stop();
    await rm(this.#folder, { recursive: true });
  }

  async #killAndLook(): Promise<void> {
    const kill: { -readonly [K in keyof Kill]: Kill[K] } = {
      atMs: this.#nowMs(),
      backAtMs: undefined,
      lookedFor: 0,
      lost: undefined,
    };
    this.#kills.push(kill);
    await this.#server.kill();
    const operations = this.#acknowledged.slice(-LOOKED_FOR_MAX);
    const before = this.#load.acknowledged;
    this.#server = startServer({ data: this.#folder, port: this.#port });
    await this.#server.listening;
    await this.#load.until(before + 1);
    kill.backAtMs = this.#nowMs();
    const times = await this.#reader.invokeStrong(ledger.times({ operations }));
    kill.lookedFor = operations.length;
    kill.lost = times.filter((count) => count === 0).length;
  }

  #note(operation: string): void {
    const span = Math.floor(this.#nowMs() / SPAN_MS);
    this.#spans[span] = (this.#spans[span] ?? 0) + 1;
    this.#acknowledged.push(operation);
  }

  #nowMs(): number {
    return performance.now() - this.#beganAt;
  }
}
