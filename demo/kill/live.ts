/**
 * Runs a server under load that a visitor may kill at any moment, and checks its latest operations
 * afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import type { ServeProcess } from '../shared/serve-process.ts';
import { clientOf, Load } from './load.ts';
import { getLookEnd, lookFor } from './look-for.ts';
import { SHOWN_SPANS, SPAN_MS, type Kill, type KillState } from './page/state.ts';
import { startServer } from './start-server.ts';

/** The pause between two operations of a worker, so that the demo does not load a laptop. */
const PAUSE_MS = 100;
/** The maximum number of latest acknowledged operations that are checked after a kill. */
const LOOKED_FOR_MAX = 500;

type MutableKill = { -readonly [K in keyof Kill]: Kill[K] };

export class LiveLoad {
  readonly #folder: string;
  readonly #beganAt = performance.now();
  readonly #spans: number[] = [];
  readonly #kills: MutableKill[] = [];
  /** The latest acknowledged operations. */
  readonly #latest: string[] = [];
  #load: Load;
  #server: ServeProcess;
  #port: number;
  #reader: Client<RedBlueLevels>;
  #killing: Promise<void> | undefined;
  #isClosed = false;

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
      { pauseMs: PAUSE_MS, isEndless: true },
    );
    this.#load.start();
    this.#watch(server);
  }

  get state(): KillState {
    const nowMs = this.#nowMs();
    const end = Math.floor(nowMs / SPAN_MS);
    const start = Math.max(0, end - SHOWN_SPANS);
    const spans = Array.from({ length: end - start }, (_, n) => this.#spans[start + n] ?? 0);
    return {
      nowMs,
      pid: this.#server.pid,
      spans,
      kills: this.#kills,
      acknowledged: this.#load.acknowledged,
    };
  }

  /**
   * Kills the server, starts it again on its data, and looks for the operations that it had
   * acknowledged. There is one kill at a time. If the server has not recovered from the latest one,
   * it is only started again.
   */
  kill(): void {
    this.#killing ??= this.#killAndLook().finally(() => (this.#killing = undefined));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#killing;
    await this.#load.abandon();
    await this.#reader.close();
    await this.#server.stop();
    await rm(this.#folder, { recursive: true });
  }

  async #killAndLook(): Promise<void> {
    let kill = this.#kills.at(-1);
    if (kill?.failure === undefined) {
      kill = {
        atMs: this.#nowMs(),
        backAtMs: undefined,
        lookedFor: 0,
        lost: undefined,
        failure: undefined,
      };
      this.#kills.push(kill);
    }
    kill.failure = undefined;
    try {
      await this.#restart(kill);
    } catch (error) {
      kill.failure = error instanceof Error ? error.message : String(error);
    }
  }

  async #restart(kill: MutableKill): Promise<void> {
    await this.#server.kill();
    const operations = [...this.#latest];
    const before = this.#load.acknowledged;
    const server = startServer({ data: this.#folder, port: this.#port });
    this.#server = server;
    await server.listening;
    const endedAgain = server.ended.then((how) => {
      throw new Error(`the server ended again: ${how}`);
    });
    await Promise.race([this.#look(kill, operations, before + 1), endedAgain]);
    this.#watch(server);
  }

  /**
   * Handles an end of the server that this demo did not cause: a user may have killed it from a
   * terminal.
   */
  #watch(server: ServeProcess): void {
    void server.ended.then(() => {
      if (!this.#isClosed && server === this.#server) this.kill();
    });
  }

  async #look(kill: MutableKill, operations: string[], backAt: number): Promise<void> {
    await this.#load.until(backAt);
    kill.backAtMs = this.#nowMs();
    const times = await lookFor(this.#reader, operations, getLookEnd());
    kill.lookedFor = operations.length;
    kill.lost = times.filter((count) => count === 0).length;
  }

  #note(operation: string): void {
    const span = Math.floor(this.#nowMs() / SPAN_MS);
    this.#spans[span] = (this.#spans[span] ?? 0) + 1;
    this.#latest.push(operation);
    if (this.#latest.length > LOOKED_FOR_MAX) this.#latest.shift();
  }

  #nowMs(): number {
    return performance.now() - this.#beganAt;
  }
}
