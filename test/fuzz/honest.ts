/** Clients that keep the rules, beside the storm: they must be served, and told the truth. */
import { WebSocket } from 'ws';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type AnyClient } from '../../src/index.ts';
import { bump } from '../support/hostile/counting-store.ts';
import { toldOf, untruth, type Told } from '../support/hostile/outcomes.ts';
import { LEVELS } from '../support/wire.ts';
import { contract } from './service.ts';

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 10;

interface Update {
  readonly mark: string;
  readonly told: Told;
}

/** One client and what it was told. */
class Honest {
  readonly updates: Update[] = [];
  readonly #client: AnyClient & { close(): Promise<void> };
  readonly #name: string;
  readonly #isCounted: boolean;
  #next = 0;

  constructor(name: string, client: AnyClient & { close(): Promise<void> }, isCounted: boolean) {
    this.#name = name;
    this.#client = client;
    this.#isCounted = isCounted;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const i = this.#next++;
      const mark = `honest-${this.#name}-${i}`;
      const operation = this.#isCounted
        ? bump(mark)
        : i % 2 === 0
          ? contract.bump({ mark })
          : contract.bumpRed({ mark });
      const told = await toldOf(this.#client.invokeStrong(operation, { timeoutMs: TIMEOUT_MS }));
      this.updates.push({ mark, told });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** How often a mark was executed, according to the target's count or to the store itself. */
  async executed(mark: string, counted: Readonly<Record<string, number>>): Promise<number> {
    if (this.#isCounted) return counted[mark] ?? 0;
    return (await this.#client.invokeStrong(contract.count({ mark }), { timeoutMs: TIMEOUT_MS })) as number;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** What the storm's verdict knows of them. */
export interface HonestVerdict {
  readonly updates: number;
  readonly untrue: readonly string[];
  readonly unserved: readonly string[];
}

export class HonestClients {
  readonly #all: readonly Honest[];
  #running: Promise<unknown> = Promise.resolve();

  constructor(urls: Readonly<Record<string, string>>) {
    const to = (name: string): string => urls[name] as string;
    const open = createClient(remote({ url: to('open'), levels: LEVELS, WebSocket }));
    const closed = createClient(
      remote({ url: to('closed'), levels: LEVELS, WebSocket, token: 'honest', codec: 'json' }),
    );
    const irl = createClient(redblue(contract, { url: [to('irl'), to('frk')], WebSocket }));
    this.#all = [new Honest('open', open, true), new Honest('closed', closed, true), new Honest('irl', irl, false)];
  }

  start(isOver: () => boolean): void {
    this.#running = Promise.all(this.#all.map((one) => one.run(isOver)));
  }

  async ended(): Promise<void> {
    await this.#running;
  }

  async verdict(counted: Readonly<Record<string, number>>): Promise<HonestVerdict> {
    const untrue: string[] = [];
    const unserved: string[] = [];
    let updates = 0;
    for (const one of this.#all) {
      updates += one.updates.length;
      for (const { mark, told } of one.updates) {
        const problem = untruth(told, await one.executed(mark, counted));
        if (problem !== undefined) untrue.push(`${mark}: ${problem}`);
        else if (told.code !== 'success') unserved.push(`${mark}: told ${told.code} "${told.message}"`);
      }
    }
    return { updates, untrue, unserved };
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.close()));
  }
}
