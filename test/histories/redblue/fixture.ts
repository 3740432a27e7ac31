/** What one round is played on: the server, who calls it, and what everybody writes into. */
import type { Session } from '../../../src/index.ts';
import { Random } from '../../../src/server/collections/random.ts';
import type { Call, History } from '../history.ts';
import { observe, type Step } from '../observe.ts';
import type { Counter } from '../counter.ts';
import type { Caller } from './caller.ts';
import { scene } from './contract.ts';
import type { Server } from './server.ts';

export interface FixtureOptions {
  readonly server: Server;
  readonly history: History;
  readonly injected: Counter;
  readonly progress: (line: string) => void;
  readonly seed: number;
}

const ROWS = ['a', 'b', 'c'] as const;
const ACCOUNTS = ['rich', 'poor'] as const;
const KEYS = ['x', 'y'] as const;
/** Many, since a hold that several sessions want at once proves little about the order. */
const HOLDS = ['1', '2', '3', '4', '5', '6', '7', '8'] as const;
const ROTA = 'rota';
const QUEUES = ['full', 'empty'] as const;

/** Who does one thing after the other. */
export interface Worker {
  readonly name: string;
  readonly caller: Caller;
  readonly session: Session;
  readonly random: Random;
}

type How = NonNullable<Step['how']>;

export class Fixture {
  readonly server: Server;
  readonly injected: Counter;
  readonly progress: (line: string) => void;
  readonly callers: Caller[] = [];
  /** Those of the callers that stay to the end. */
  readonly workers: Worker[] = [];
  readonly rows: readonly string[];
  readonly accounts: readonly string[];
  readonly keys: readonly string[];
  readonly holds: readonly string[];
  readonly queues: readonly string[];
  readonly rota: string;
  readonly #history: History;
  readonly #seed: number;
  #draws = 0;

  /** Names begin with the round's seed: rounds have nothing in common but the server. */
  constructor({ server, history, injected, progress, seed }: FixtureOptions) {
    this.server = server;
    this.injected = injected;
    this.progress = progress;
    this.#history = history;
    this.#seed = seed;
    const named = (name: string): string => `${seed}/${name}`;
    this.rows = ROWS.map(named);
    this.accounts = ACCOUNTS.map(named);
    this.keys = KEYS.map(named);
    this.holds = HOLDS.map(named);
    this.queues = QUEUES.map(named);
    this.rota = named(ROTA);
  }

  /** Draws of one actor, whatever the others do. */
  random(): Random {
    this.#draws += 1;
    return new Random(this.#seed * 1_000 + this.#draws);
  }

  note(worker: Worker, row: string): Promise<Call> {
    const id = worker.caller.newName();
    return this.#call(worker, { kind: 'note', key: row, input: id, operation: scene.note({ row, id }) });
  }

  pay(worker: Worker, kind: 'deposit' | 'withdraw', account: string, amount: number, how?: How): Promise<Call> {
    const id = worker.caller.newName();
    const operation = scene[kind]({ account, id, amount });
    return this.#call(worker, { kind, key: account, input: { id, amount }, operation, how });
  }

  look(worker: Worker, how: How): Promise<Call> {
    const { rows, accounts, rota } = this;
    const operation = scene.look({ rows: [...rows], accounts: [...accounts], rota });
    return this.#call(worker, { kind: 'look', key: rota, operation, how });
  }

  put(worker: Worker, key: string): Promise<Call> {
    const value = worker.caller.newName();
    return this.#call(worker, { kind: 'put', key, input: value, operation: scene.put({ key, value }) });
  }

  get(worker: Worker, key: string, how: How): Promise<Call> {
    return this.#call(worker, { kind: 'get', key, operation: scene.get({ key }), how });
  }

  enqueue(worker: Worker, queue: string): Promise<Call> {
    const item = worker.caller.newName();
    return this.#call(worker, { kind: 'enqueue', key: queue, input: item, operation: scene.enqueue({ queue, item }) });
  }

  dequeue(worker: Worker, queue: string): Promise<Call> {
    return this.#call(worker, { kind: 'dequeue', key: queue, operation: scene.dequeue({ queue }) });
  }

  hold(worker: Worker, kind: 'claim' | 'release', key: string, by: string): Promise<Call> {
    return this.#call(worker, { kind, key, input: by, operation: scene[kind]({ key, by }) });
  }

  duty(worker: Worker, kind: 'join' | 'leave', caller: string): Promise<Call> {
    const { rota } = this;
    return this.#call(worker, { kind, key: rota, input: caller, operation: scene[kind]({ rota, who: caller }) });
  }

  #call(
    { name, caller, session }: Worker,
    { how, ...step }: Omit<Step, 'session' | 'how'> & { how?: How | undefined },
  ): Promise<Call> {
    return observe(this.#history, caller.client, { ...step, ...(how && { how }), session: name, within: session });
  }
}
