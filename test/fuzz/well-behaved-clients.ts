/**
 * Clients that keep the rules, beside the attack: they must be served, with true outcomes. Some use
 * a bad network.
 */
import { WebSocket } from 'ws';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type AnyClient } from '../../src/index.ts';
import { bump } from '../support/hostile/counting-store.ts';
import { getCallOutcome, untruth, type CallOutcome } from '../support/hostile/outcomes.ts';
import { LEVELS } from '../support/wire.ts';
import { contract } from './service.ts';

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 10;

interface Update {
  readonly mark: string;
  readonly outcome: CallOutcome;
}

/** How a client behaves. */
interface Manner {
  readonly name: string;
  /**
   * Whether its updates are counted by the store of the target; those of RedBlue are counted by
   * reading.
   */
  readonly isCounted: boolean;
}

/** One client and its outcomes. */
class Honest {
  readonly updates: Update[] = [];
  readonly manner: Manner;
  readonly #client: AnyClient;
  #next = 0;

  constructor(manner: Manner, client: AnyClient) {
    this.manner = manner;
    this.#client = client;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const i = this.#next++;
      const mark = `honest-${this.manner.name}-${i}`;
      const reported = await getCallOutcome(
        this.#client.invokeStrong(this.#operation(mark, i), { timeoutMs: TIMEOUT_MS }),
      );
      this.updates.push({ mark, outcome: reported });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** How often an update of RedBlue was executed, according to the store itself. */
  async count(mark: string): Promise<number> {
    return (await this.#client.invokeStrong(contract.count({ mark }), {
      timeoutMs: TIMEOUT_MS,
    })) as number;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #operation(mark: string, i: number): Parameters<AnyClient['invokeStrong']>[0] {
    if (this.manner.isCounted) return bump(mark);
    return i % 2 === 0 ? contract.bump({ mark }) : contract.bumpRed({ mark });
  }
}

/** What the storm's verdict knows of them. */
interface WellBehavedVerdict {
  readonly updates: number;
  readonly untrue: readonly string[];
  readonly unserved: readonly string[];
}

export class WellBehavedClients {
  readonly #all: readonly Honest[];
  /** One that counts what RedBlue has executed. */
  readonly #counting: Honest;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(all: readonly Honest[], counting: Honest) {
    this.#all = all;
    this.#counting = counting;
  }

  static async connect(urls: Readonly<Record<string, string>>): Promise<WellBehavedClients> {
    const to = (name: string): string => urls[name] as string;
    const levels = LEVELS;
    const counting = new Honest(
      { name: 'ireland', isCounted: false },
      createClient(redblue(contract, { url: [to('ireland'), to('frankfurt')], WebSocket })),
    );
    const all = [
      counting,
      new Honest(
        { name: 'open', isCounted: true },
        createClient(remote({ url: to('open'), levels, WebSocket })),
      ),
      new Honest(
        { name: 'closed', isCounted: true },
        createClient(
          remote({ url: to('closed'), levels, WebSocket, token: 'honest', codec: 'json' }),
        ),
      ),
    ];
    return new WellBehavedClients(all, counting);
  }

  start(isOver: () => boolean): void {
    this.#running = Promise.all(this.#all.map((item) => item.run(isOver)));
  }

  /** Waits until all have the outcome of their last write. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async verdict(counted: Readonly<Record<string, number>>): Promise<WellBehavedVerdict> {
    const untrue: string[] = [];
    const unserved: string[] = [];
    let updates = 0;
    for (const { manner, updates: value } of this.#all) {
      updates += value.length;
      for (const { mark, outcome: reported } of value) {
        const executed = manner.isCounted ? (counted[mark] ?? 0) : await this.#counting.count(mark);
        const problem = untruth(reported, executed);
        if (problem !== undefined) untrue.push(`${mark}: ${problem}`);
        else if (reported.code !== 'success')
          unserved.push(`${mark}: reported ${reported.code} "${reported.message}"`);
      }
      if (value.length === 0) unserved.push(`${manner.name}: no write`);
    }
    return { updates, untrue, unserved };
  }

  /** Leaves the gateways. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((item) => item.close()));
  }
}
