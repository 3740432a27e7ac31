/**
 * The model of the page: serves a request with and without speculation at the same time, and
 * reports changes.
 */
import axios, { type AxiosInstance } from 'axios';
import { CorrectableError, createClient, type AnyClient } from 'correctables';
import type { OperationRegistry } from 'correctables/contract';
import { redblue, type ConnectionState } from 'correctables/bindings/redblue';
import type { Application, Way } from '../speculation/application.ts';
import type { About } from './about.ts';
import { holdReads } from './held-reads.ts';
import { Trace } from './trace.ts';

/** The phase of the page. `misspeculated` is delivered too, at the second attempt. */
export type Phase = 'connecting' | 'ready' | 'fetching' | 'delivered' | 'misspeculated' | 'failed';

/** Returns whether the page cannot accept a request now. */
export function isBusy(phase: Phase): boolean {
  return phase === 'connecting' || phase === 'fetching';
}

/** The interface of an application for the page. */
export interface PageApplication<T> {
  readonly contract: OperationRegistry;
  /** @param http for content; its requests are shown */
  open(store: AnyClient, http: AxiosInstance, about: About): Application<T>;
}

/** One request served both ways. Its traces and items grow while it is served. */
export interface Heat<T> {
  readonly user: number;
  readonly traces: Readonly<Record<Way, Trace>>;
  /** The delivered things, for each way that has delivered. */
  readonly items: Readonly<Partial<Record<Way, readonly T[]>>>;
}

/**
 * The latest request of the visitor: for one user, or for one of several who are served one after
 * the other.
 */
export interface Asked {
  readonly user: number;
  readonly site: string;
  /** How many of them have been served before this one. */
  readonly served: number;
  readonly of: number;
  /** `given up` if the page has changed sites meanwhile. */
  readonly state: 'in flight' | 'delivered' | 'failed' | 'given up';
}

export interface TieredRunOptions {
  /** Whether to change the references as soon as the preliminary ones have arrived. */
  readonly change?: boolean;
}

type Traces = Partial<Record<Way, Trace>>;

/** The application at one site. */
interface Stand<T> {
  readonly site: string;
  readonly store: AnyClient;
  /** Holds the confirmed read of the references until they have been changed. */
  readonly holdUntil: (change: Promise<void> | undefined) => void;
  /** Fulfilled once the site has accepted the page. */
  readonly ready: Promise<void>;
  readonly ways: Readonly<Record<Way, Application<T>>>;
  /** The traces of the present heat, to which requests for content are added. */
  readonly traces: Traces;
}

/**
 * How long a request may take, or a site may be unreachable, before the backend counts as lost. A
 * short loss of the connection is tolerated.
 */
const PATIENCE_MS = 6_000;
/** How often a page that is new beside a site is served without being shown. */
const WARM_UP_ROUNDS = 3;
/** The states in which a connection is usable. */
const ONLINE: ReadonlySet<ConnectionState> = new Set<ConnectionState>(['open', 'probing']);

export class Race<T> {
  readonly #application: PageApplication<T>;
  readonly #about: About;
  readonly #changed: () => void;
  readonly heats: Heat<T>[] = [];
  #phase: Phase = 'connecting';
  #failure: unknown;
  #online = false;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #stand: Stand<T> | undefined;
  #asked: Asked | undefined;
  #heat: Heat<T> | undefined;

  /** @param changed called after every change of what the page shows */
  constructor(application: PageApplication<T>, about: About, changed: () => void) {
    this.#application = application;
    this.#about = about;
    this.#changed = changed;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why the phase is `failed`. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The site that the page stands beside. */
  get site(): string | undefined {
    return this.#stand?.site;
  }

  /** False while there is no connection to the site. */
  get online(): boolean {
    return this.#online;
  }

  get asked(): Asked | undefined {
    return this.#asked;
  }

  /**
   * The latest request. A single request is here from its beginning. A request of a series is here
   * once it is delivered.
   */
  get heat(): Heat<T> | undefined {
    return this.#heat;
  }

  /**
   * Connects to a site; later heats run beside it. Requests in flight at another site are given up.
   * A site that does not answer is shown as a failure, and retried until it answers.
   *
   * @returns once the site has accepted the page and its first request will be as fast as later
   * ones, or the page has
   *   left it
   */
  async connect(site: string): Promise<void> {
    const previous = this.#stand;
    const stand = this.#open(site);
    this.#stand = stand;
    this.#online = false;
    this.#beImpatient();
    this.#end('given up');
    this.#enter('connecting');
    // A site that refuses the page closes the connection, which is shown.
    await Promise.allSettled([previous?.store.close(), stand.ready]);
    // After a failure the visitor may fetch already.
    if (!this.#isConnecting(stand)) return;
    await warmUp(stand);
    if (this.#isConnecting(stand)) this.#enter('ready');
  }

  #isConnecting(stand: Stand<T>): boolean {
    return this.#stand === stand && this.#phase === 'connecting';
  }

  /** Serves `users` both ways, one after the other; a failure ends the series, and is shown. */
  async run(users: readonly number[], { change = false }: TieredRunOptions = {}): Promise<void> {
    const stand = this.#stand;
    if (stand === undefined || isBusy(this.#phase)) return;
    for (const [served, user] of users.entries()) {
      this.#asked = { user, site: stand.site, served, of: users.length, state: 'in flight' };
      this.#heat = undefined;
      this.#enter('fetching');
      try {
        const { heat, served: whenServed } = serve(stand, user, change);
        if (users.length === 1) this.#show(heat);
        await whenServed;
        if (this.#stand !== stand) return;
        this.heats.push(heat);
        this.#heat = heat;
      } catch (error) {
        if (this.#stand !== stand) return;
        this.#heat = undefined;
        this.#end('failed');
        this.#fail(error);
        return;
      }
    }
    this.#end('delivered');
    this.#enter(
      this.#heat?.traces.correctable.misspeculated === true ? 'misspeculated' : 'delivered',
    );
  }

  #open(site: string): Stand<T> {
    const url = new URL(site, location.href.replace(/^http/, 'ws'));
    const onStateChange = (state: ConnectionState, reason: CorrectableError | undefined): void => {
      if (this.#stand?.store === store) this.#note(state, reason);
    };
    const binding = redblue(this.#application.contract, { url, onStateChange });
    const held = holdReads(binding);
    const store = createClient(held.binding, { timeoutMs: PATIENCE_MS });
    const traces: Traces = {};
    const open = (way: Way): Application<T> =>
      this.#application.open(
        store,
        tracedHttp(() => traces[way]),
        this.#about,
      );
    const ways = { baseline: open('baseline'), correctable: open('correctable') };
    return { site, store, holdUntil: held.holdUntil, ready: binding.ready, ways, traces };
  }

  #note(state: ConnectionState, reason: CorrectableError | undefined): void {
    if (state === 'closed' && reason !== undefined) this.#fail(reason);
    const online = ONLINE.has(state);
    if (online === this.#online) return;
    this.#online = online;
    this.#beImpatient();
    if (online && this.#phase === 'failed') this.#enter('ready');
    else this.#changed();
  }

  /** Counts the site as lost if it stays unreachable. A request in flight has its own timeout. */
  #beImpatient(): void {
    clearTimeout(this.#patience);
    if (this.#online) return;
    this.#patience = setTimeout(() => {
      if (this.#phase === 'fetching' || this.#phase === 'failed') return;
      this.#fail(
        new CorrectableError(
          'UNAVAILABLE',
          `Site ${this.site} has not answered for ${PATIENCE_MS / 1000} seconds; the page goes on trying.`,
        ),
      );
    }, PATIENCE_MS);
  }

  #show(heat: Heat<T>): void {
    this.#heat = heat;
    this.#changed();
  }

  #end(state: Asked['state']): void {
    if (state === 'given up' && this.#asked?.state === 'in flight') this.#heat = undefined;
    if (this.#asked?.state === 'in flight') this.#asked = { ...this.#asked, state };
  }

  #fail(failure: unknown): void {
    this.#failure = failure;
    this.#enter('failed');
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#changed();
  }
}

/**
 * Serves a user both ways, and drops the result. The first requests of a page take several times as
 * long as later ones, which would hide what early answers save.
 */
async function warmUp<T>(stand: Stand<T>): Promise<void> {
  const user = 0;
  try {
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await serve(stand, user, false).served;
  } catch {
    // The next request shows what is wrong.
  }
}

interface Served<T> {
  readonly heat: Heat<T>;
  /**
   * Resolves once both ways have delivered. Rejects with the first failure, once nothing is left
   * running.
   */
  readonly served: Promise<void>;
}

/** Begins a request on both ways at once. */
function serve<T>({ ways, traces, holdUntil }: Stand<T>, user: number, change: boolean): Served<T> {
  const changes: PromiseLike<void>[] = [];
  const throwIn = async (): Promise<void> => {
    await ways.correctable.change(user, Math.random);
    for (const trace of [baseline, correctable]) trace.changedMs = trace.nowMs();
  };
  let release = (): void => {};
  holdUntil(change ? new Promise<void>((resolve) => (release = resolve)) : undefined);
  const baseline = new Trace('baseline');
  const correctable = new Trace('correctable', () => {
    if (change) changes.push(throwIn().finally(() => release()));
  });
  Object.assign(traces, { baseline, correctable });
  const items: Partial<Record<Way, readonly T[]>> = {};
  const deliver = async (way: Way, trace: Trace): Promise<void> => {
    items[way] = await ways[way].fetch(user, way, trace);
  };
  const finish = async (): Promise<void> => {
    const served = await Promise.allSettled([
      deliver('baseline', baseline),
      deliver('correctable', correctable),
    ]);
    const changed = await Promise.allSettled(changes);
    const failure = [...served, ...changed].find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  };
  return { heat: { user, traces: { baseline, correctable }, items }, served: finish() };
}

/** Creates an HTTP client for content. Each request is shown in the trace of the present heat. */
function tracedHttp(traceNow: () => Trace | undefined): AxiosInstance {
  const http = axios.create({
    baseURL: new URL('content', location.href).href,
    timeout: PATIENCE_MS,
  });
  const ends = new WeakMap<object, () => void>();
  http.interceptors.request.use((config) => {
    const end = traceNow()?.requesting();
    if (end !== undefined) ends.set(config, end);
    return config;
  });
  http.interceptors.response.use((response) => {
    ends.get(response.config)?.();
    return response;
  });
  return http;
}
