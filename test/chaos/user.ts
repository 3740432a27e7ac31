/**
 * A user of the service: a client with a session, beside one site, that moves to another site if
 * that one is lost. It records each call.
 */
import { WebSocket } from 'ws';
import { roundTripMs, type Site } from '../../engines/wan.ts';
import {
  exponentialBackoff,
  redblue,
  type RedBlueLevels,
} from '../../src/bindings/redblue/index.ts';
import {
  createClient,
  isCorrectableError,
  type Client,
  type Correctable,
  type Operation,
  type Session,
} from '../../src/index.ts';
import type { Random } from '../../src/server/service/collections/random.ts';
import { transaction, type TransactionFunction } from '../../src/transactions/index.ts';
import { CuttableRoute } from '../engines/support/cuttable-route.ts';
import type { Recorder } from './history.ts';

/** A site that sends nothing is given up after this. */
const HEARTBEAT_MS = 1_500;
const PONG_MS = 700;
const RECONNECT = exponentialBackoff({ initialDelayMs: 20, maxDelayMs: 500 });
/** A person waits no longer. */
const CALL_MS = 8_000;
/**
 * After so many calls in a row that fail because a site is behind the session, the user begins a
 * new session.
 */
const PATIENCE = 4;

export interface Deployment {
  readonly sites: readonly Site[];
  /** Where clients find a site, as `host:port`. */
  addressOf(site: Site): string;
  /** The path behind the address. */
  pathOf(site: Site): string;
}

type Level = 'causal' | 'strong';

export interface Step {
  readonly name: string;
  readonly key: string;
  readonly input?: unknown;
  /** An operation, or the function of a transaction. */
  readonly operation: Operation<unknown> | TransactionFunction<unknown>;
  readonly levels?: readonly [Level, ...Level[]];
  /** Operations alone have one. */
  readonly idempotencyKey?: string;
  /** How long the user waits, in milliseconds. Default: 8 000 */
  readonly timeoutMs?: number;
}

export interface Result {
  readonly outcome: string;
  readonly isRetryable: boolean;
  readonly value: unknown;
}

export class User {
  readonly name: string;
  readonly random: Random;
  readonly home: Site;
  readonly #routes: ReadonlyMap<Site, CuttableRoute>;
  readonly #client: Client<RedBlueLevels>;
  readonly #recorder: Recorder;
  #session: Session;
  #sessions = 1;
  #behind = 0;
  #names = 0;
  #lastSite: Site | null = null;

  private constructor(
    { name, home, random, recorder, contract }: UserOptions,
    routes: ReadonlyMap<Site, CuttableRoute>,
    urls: readonly string[],
  ) {
    this.name = name;
    this.random = random;
    this.home = home;
    this.#routes = routes;
    this.#recorder = recorder;
    const times = {
      heartbeatIntervalMs: HEARTBEAT_MS,
      pongTimeoutMs: PONG_MS,
      connectTimeoutMs: 2 * HEARTBEAT_MS,
    };
    this.#client = createClient(
      redblue(contract, { url: urls, WebSocket, reconnect: RECONNECT, ...times }),
    );
    this.#session = this.#client.session();
  }

  /** Opens a client that prefers `home`. `isBound`: it never moves. */
  static async open(options: UserOptions): Promise<User> {
    const { deployment, home, isBound = false } = options;
    const distanceMs = (to: Site): number => roundTripMs('paper', home, to);
    const sites = isBound
      ? [home]
      : [...deployment.sites].sort((a, b) => distanceMs(a) - distanceMs(b));
    const routes = new Map<Site, CuttableRoute>();
    for (const to of sites)
      routes.set(to, await CuttableRoute.open(deployment.addressOf(to), distanceMs(to) / 2));
    const urls = sites.map((to) => `ws://${routes.get(to)?.address}${deployment.pathOf(to)}`);
    return new User(options, routes, urls);
  }

  /** Where it is connected, or was last. */
  get site(): Site | null {
    for (const [site, { connections }] of this.#routes) if (connections > 0) this.#lastSite = site;
    return this.#lastSite;
  }

  /** Returns a name that no other call has. */
  newName(): string {
    this.#names += 1;
    return `${this.name}.${this.#names}`;
  }

  /** Resolves when the call has ended, and is recorded. */
  async call(step: Step): Promise<Result> {
    const { name, key, input, levels, idempotencyKey } = step;
    const call = this.#recorder.newCall();
    const session = `${this.name}/${this.#sessions}`;
    this.#recorder.add({
      kind: 'begun',
      call,
      operation: name,
      process: this.name,
      session,
      site: this.site,
      key,
      input,
      ...(idempotencyKey !== undefined && { operationId: idempotencyKey }),
      ...(levels !== undefined && { levels }),
    });
    let value: unknown;
    let outcome = 'success';
    let isRetryable = false;
    let message: string | undefined;
    try {
      for await (const view of this.#submit(step)) {
        value = view.value;
        this.#recorder.add({
          kind: 'view',
          call,
          level: view.level,
          value: view.value,
          meta: view.meta,
        });
      }
    } catch (error) {
      outcome = isCorrectableError(error) ? error.code : `not translated: ${String(error)}`;
      isRetryable = isCorrectableError(error) && error.retryable;
      message = (error as Error).message;
    }
    const failure = message === undefined ? {} : { isRetryable, message };
    this.#recorder.add({ kind: 'ended', call, site: this.site, outcome, ...failure });
    this.#watchSession(outcome);
    return { outcome, isRetryable, value };
  }

  #submit({
    operation,
    levels,
    idempotencyKey,
    timeoutMs = CALL_MS,
  }: Step): Correctable<unknown, RedBlueLevels> {
    const how = { timeoutMs, session: this.#session };
    if (typeof operation !== 'function') {
      return this.#client.invoke(operation, {
        ...how,
        idempotencyKey,
        ...(levels && { levels }),
      }) as never;
    }
    const isCertified = levels?.includes('strong') ?? false;
    return transaction(this.#client, operation, {
      ...how,
      ...(isCertified && { level: 'strong' }),
    });
  }

  /** A user starts a new session if no site has what its session has seen. */
  #watchSession(outcome: string): void {
    this.#behind =
      outcome === 'REPLICA_BEHIND' || outcome.startsWith('SESSION_') ? this.#behind + 1 : 0;
    if (this.#behind < PATIENCE && outcome !== 'SESSION_LOST') return;
    this.#behind = 0;
    this.#session.close();
    this.#session = this.#client.session();
    this.#sessions += 1;
  }

  /** Takes a site out of reach of this client. */
  leave(site: Site): void {
    this.#routes.get(site)?.down();
  }

  /** Takes all sites out of reach but one. */
  confineTo(site: Site): void {
    for (const [other, route] of this.#routes) if (other !== site) route.down();
  }

  /** Makes all sites reachable again. */
  heal(): void {
    for (const route of this.#routes.values()) route.up();
  }

  /** Cuts what connections there are. */
  cut(): void {
    for (const route of this.#routes.values()) route.cut();
  }

  async close(): Promise<void> {
    this.#session.close();
    await this.#client.close();
    await Promise.all([...this.#routes.values()].map((route) => route[Symbol.asyncDispose]()));
  }
}

export interface UserOptions {
  readonly name: string;
  readonly deployment: Deployment;
  /** The contract of the service at the sites. */
  readonly contract: Parameters<typeof redblue>[0];
  readonly home: Site;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly isBound?: boolean;
}
