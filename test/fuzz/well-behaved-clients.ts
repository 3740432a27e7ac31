/** Clients that keep the rules, beside the attack: they must be served, with true outcomes. Some use a bad network. */
import { WebSocket } from 'ws';
import { exponentialBackoff, redblue } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type AnyClient } from '../../src/index.ts';
import { Random } from '../../src/server/collections/random.ts';
import { bump } from '../support/hostile/counting-store.ts';
import { getCallOutcome, untruth, type CallOutcome } from '../support/hostile/outcomes.ts';
import { LEVELS } from '../support/wire.ts';
import { LossyPath } from './lossy-path.ts';
import { contract } from './service.ts';

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 10;
/** So many updates go by a bad network before one of them must have been served. */
const LOSSY_MIN = 10;

interface Update {
  readonly mark: string;
  readonly outcome: CallOutcome;
}

/** How a client behaves. */
interface Manner {
  readonly name: string;
  /** Whether its updates are counted by the store of the target; those of RedBlue are counted by reading. */
  readonly isCounted: boolean;
  /** Where its network is bad: then it is not always served, and gives up on some. */
  readonly lossy?: Random;
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
      const reported = await getCallOutcome(this.#client.invokeStrong(this.#operation(mark, i), this.#patience()));
      this.updates.push({ mark, outcome: reported });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** How often an update of RedBlue was executed, according to the store itself. */
  async count(mark: string): Promise<number> {
    return (await this.#client.invokeStrong(contract.count({ mark }), { timeoutMs: TIMEOUT_MS })) as number;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #operation(mark: string, i: number): Parameters<AnyClient['invokeStrong']>[0] {
    if (this.manner.isCounted) return bump(mark);
    return i % 2 === 0 ? contract.bump({ mark }) : contract.bumpRed({ mark });
  }

  /** Half of those with a bad network wait long enough for their outcome. */
  #patience(): Parameters<AnyClient['invokeStrong']>[1] {
    const { lossy } = this.manner;
    if (lossy === undefined || lossy.chance(0.5)) return { timeoutMs: TIMEOUT_MS };
    const ms = lossy.between(1, 500);
    return lossy.chance(0.5) ? { timeoutMs: ms } : { signal: AbortSignal.timeout(ms) };
  }
}

/** What the storm's verdict knows of them. */
export interface WellBehavedVerdict {
  readonly updates: number;
  /** Of those that came by a bad network. */
  readonly lossyUpdates: number;
  readonly untrue: readonly string[];
  readonly unserved: readonly string[];
}

/** For a network on which connections do not last. */
const QUICK = {
  WebSocket,
  connectTimeoutMs: 200,
  heartbeatIntervalMs: 200,
  pongTimeoutMs: 100,
  reconnect: exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 50 }),
};

export class WellBehavedClients {
  readonly #all: readonly Honest[];
  /** One that counts what RedBlue has executed. */
  readonly #counting: Honest;
  readonly #paths: readonly LossyPath[];
  #running: Promise<unknown> = Promise.resolve();

  private constructor(all: readonly Honest[], counting: Honest, paths: readonly LossyPath[]) {
    this.#all = all;
    this.#counting = counting;
    this.#paths = paths;
  }

  static async connect(urls: Readonly<Record<string, string>>, seed: number): Promise<WellBehavedClients> {
    const to = (name: string): string => urls[name] as string;
    const toOpen = await LossyPath.open([to('open')], seed);
    const toClosed = await LossyPath.open([to('closed')], seed + 1);
    const toSites = await LossyPath.open([to('ireland'), to('frankfurt')], seed + 2);
    const levels = LEVELS;
    const lossy = new Random(seed);
    const counting = new Honest(
      { name: 'ireland', isCounted: false },
      createClient(redblue(contract, { url: [to('ireland'), to('frankfurt')], WebSocket })),
    );
    const all = [
      counting,
      new Honest({ name: 'open', isCounted: true }, createClient(remote({ url: to('open'), levels, WebSocket }))),
      new Honest(
        { name: 'closed', isCounted: true },
        createClient(remote({ url: to('closed'), levels, WebSocket, token: 'honest', codec: 'json' })),
      ),
      new Honest(
        { name: 'lossy-open', isCounted: true, lossy },
        createClient(remote({ ...QUICK, url: toOpen.urls, levels, codec: 'json' })),
      ),
      new Honest(
        { name: 'lossy-closed', isCounted: true, lossy },
        createClient(remote({ ...QUICK, url: toClosed.urls, levels, token: () => 'lossy' })),
      ),
      new Honest(
        { name: 'lossy-ireland', isCounted: false, lossy },
        createClient(redblue(contract, { ...QUICK, url: toSites.urls })),
      ),
    ];
    return new WellBehavedClients(all, counting, [toOpen, toClosed, toSites]);
  }

  start(isOver: () => boolean): void {
    for (const path of this.#paths) path.start();
    this.#running = Promise.all(this.#all.map((item) => item.run(isOver)));
  }

  /** Waits until all have the outcome of their last write, by a good network. */
  async ended(): Promise<void> {
    await Promise.all(this.#paths.map((path) => path.heal()));
    await this.#running;
  }

  async verdict(counted: Readonly<Record<string, number>>): Promise<WellBehavedVerdict> {
    const untrue: string[] = [];
    const unserved: string[] = [];
    let updates = 0;
    let lossyUpdates = 0;
    for (const { manner, updates: value } of this.#all) {
      const { isCounted, lossy } = manner;
      updates += value.length;
      if (lossy !== undefined) lossyUpdates += value.length;
      for (const { mark, outcome: reported } of value) {
        const executed = isCounted ? (counted[mark] ?? 0) : await this.#counting.count(mark);
        const problem = untruth(reported, executed);
        if (problem !== undefined) untrue.push(`${mark}: ${problem}`);
        else if (reported.code !== 'success' && lossy === undefined)
          unserved.push(`${mark}: reported ${reported.code} "${reported.message}"`);
      }
      const isServed = value.some(({ outcome: notified }) => notified.code === 'success');
      const hadTurns = lossy === undefined || value.length >= LOSSY_MIN;
      if (hadTurns && !isServed) unserved.push(`${manner.name}: none of ${value.length} writes`);
    }
    return { updates, lossyUpdates, untrue, unserved };
  }

  /** Leaves the gateways. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((item) => item.close()));
    await Promise.all(this.#paths.map((path) => path[Symbol.asyncDispose]()));
  }
}
