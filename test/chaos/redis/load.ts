/**
 * The load: clients that each read several keys at once and write one, as fast as the store
 * answers.
 */
import type { Random } from '../../../src/server/service/collections/random.ts';
import { Counter } from '../../histories/counter.ts';
import { pause } from '../../histories/pause.ts';
import type { StormEvent } from './history.ts';
import type { StormSession, StormStore } from './stores.ts';

export interface LoadOptions {
  readonly store: StormStore;
  readonly random: Random;
  readonly keys: readonly string[];
  readonly clientsPerGateway: number;
  /** Whether each key has one writer, nothing is removed, and sessions stay where they are. */
  readonly isPlain: boolean;
  /** Each round has sessions and ids of its own. */
  readonly round: number;
}

const THINK_MEAN_MS = 4;
const MAX_KEYS_READ = 6;
const WRITE_CHANCE = 0.3;
/** A write is often followed by another one at once: both must be seen, or the first. */
const MORE_CHANCE = 0.5;
const REMOVE_CHANCE = 0.04;
const LATEST_CHANCE = 0.03;
const SINGLE_CHANCE = 0.1;
const MOVE_CHANCE = 0.02;
const NEW_SESSION_CHANCE = 0.02;
/** A client that was refused waits: what is away does not come back at once. */
const REFUSED_PAUSE_MS = 50;

export class Load {
  readonly events: StormEvent[] = [];
  readonly outcomes = new Counter();
  /** Errors that are no answer of a store. The client that got one has ended. */
  readonly errors: string[] = [];
  reads = 0;
  writes = 0;
  readonly #options: LoadOptions;
  #sessions = 0;
  #operations = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Runs all clients until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clientsPerGateway } = this.#options;
    const count = store.gateways.length * clientsPerGateway;
    const clients = Array.from({ length: count }, (_, index) => new LoadClient(this, index, count));
    const report = (error: unknown): void => void this.errors.push(String((error as Error).stack));
    await Promise.all(clients.map((client) => client.run(signal).catch(report)));
  }

  get options(): LoadOptions {
    return this.#options;
  }

  newSession(): number {
    this.#sessions += 1;
    return this.#sessions;
  }

  newOperation(): number {
    this.#operations += 1;
    return this.#operations;
  }
}

class LoadClient {
  readonly #load: Load;
  readonly #writable: readonly string[];
  #session: StormSession;
  #sessionId: number;

  constructor(load: Load, index: number, count: number) {
    const { store, keys, isPlain } = load.options;
    this.#load = load;
    this.#writable = isPlain ? keys.filter((_, at) => at % count === index) : keys;
    this.#session = store.openSession(index % store.gateways.length);
    this.#sessionId = load.newSession();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { random, isPlain } = this.#load.options;
    while (!signal.aborted) {
      await pause(random.exponential(THINK_MEAN_MS));
      if (!isPlain) this.#changeSession();
      const isDone = random.chance(WRITE_CHANCE)
        ? await this.#writeSome(signal)
        : await this.#read();
      if (!isDone) await pause(REFUSED_PAUSE_MS);
    }
  }

  async #writeSome(signal: AbortSignal): Promise<boolean> {
    if (this.#writable.length === 0) return true;
    do {
      if (!(await this.#write())) return false;
    } while (!signal.aborted && this.#load.options.random.chance(MORE_CHANCE));
    return true;
  }

  #changeSession(): void {
    const { random, store } = this.#load.options;
    const gateway = random.between(0, store.gateways.length - 1);
    if (random.chance(NEW_SESSION_CHANCE)) this.#startSession(gateway);
    else if (random.chance(MOVE_CHANCE)) this.#session = this.#session.move(gateway);
  }

  #startSession(gateway: number): void {
    this.#session = this.#load.options.store.openSession(gateway);
    this.#sessionId = this.#load.newSession();
  }

  async #write(): Promise<boolean> {
    const { events, outcomes, options } = this.#load;
    const key = options.random.pick(this.#writable as [string, ...string[]]);
    const id = `${options.round}.${this.#load.newOperation()}`;
    const isRemoval = !options.isPlain && options.random.chance(REMOVE_CHANCE);
    const { site } = this.#session;
    const session = this.#sessionId;
    events.push({
      kind: 'write-begun',
      id,
      key,
      isRemoval,
      session,
      site,
      atMs: performance.now(),
    });
    const { outcome, stamp, code } = await this.#session.write({ key, id, isRemoval });
    events.push({ kind: 'write-ended', id, session, outcome, stamp, atMs: performance.now() });
    outcomes.add(outcome === 'acknowledged' ? 'writes' : `writes ${code}`);
    if (outcome === 'acknowledged') this.#load.writes += 1;
    return outcome === 'acknowledged' || this.#giveUp(code);
  }

  async #read(): Promise<boolean> {
    const { events, outcomes, options } = this.#load;
    const keys = this.#chooseKeys();
    const isLatest = !options.isPlain && options.random.chance(LATEST_CHANCE);
    const read = this.#load.newOperation();
    const session = this.#sessionId;
    const { gateway } = this.#session;
    events.push({ kind: 'read-begun', read, isLatest, gateway, atMs: performance.now() });
    const result = await this.#session.read(keys, isLatest);
    const name = isLatest ? 'reads at latest' : 'reads';
    if (typeof result === 'string') {
      outcomes.add(`${name} ${result}`);
      return this.#giveUp(result);
    }
    events.push({
      kind: 'read-ended',
      read,
      session,
      gateway,
      isLatest,
      keys,
      ...result,
      atMs: performance.now(),
    });
    outcomes.add(name);
    this.#load.reads += 1;
    return true;
  }

  #chooseKeys(): readonly string[] {
    const { random, keys } = this.#load.options;
    const count = random.chance(SINGLE_CHANCE) ? 1 : random.between(2, MAX_KEYS_READ);
    return [
      ...new Set(Array.from({ length: count }, () => random.pick(keys as [string, ...string[]]))),
    ];
  }

  /** A session that is ahead of its site may wait for long: the client begins another one. */
  #giveUp(code: string | undefined): false {
    const { gateways } = this.#load.options.store;
    if (code === 'REPLICA_BEHIND') this.#startSession(gateways.indexOf(this.#session.site));
    return false;
  }
}
