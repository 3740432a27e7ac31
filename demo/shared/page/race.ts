/** What happens behind the page: serves a request with and without speculation at the same time; tells of changes. */
import axios, { type AxiosInstance } from 'axios';
import { createClient, type AnyClient, type CorrectableError } from 'correctables';
import { redblue, type Catalogue, type ConnectionState } from 'correctables/bindings/redblue';
import { WAYS, type Application, type Way } from '../chase/application.ts';
import type { About } from './about.ts';
import { Trace } from './trace.ts';

/** Where the page is. `misspeculated` is delivered too, at the second attempt. */
export type Phase = 'connecting' | 'ready' | 'fetching' | 'delivered' | 'misspeculated' | 'failed';

/** What the page needs to know of an application. */
export interface PageApplication<T> {
  readonly contract: Catalogue;
  /** @param http for content; its requests are shown */
  open(store: AnyClient, http: AxiosInstance, about: About): Application<T>;
}

/** One request served both ways. */
export interface Heat<T> {
  readonly user: number;
  readonly traces: Readonly<Record<Way, Trace>>;
  readonly items: Readonly<Record<Way, readonly T[]>>;
}

export interface HeatOptions {
  /** Throws in a change of the references as soon as the preliminary ones are there. */
  readonly change?: boolean;
}

/** The application beside one site. */
interface Stand<T> {
  readonly store: AnyClient;
  readonly ways: Readonly<Record<Way, Application<T>>>;
}

/** How long a request may take before the backend counts as gone: it survives a short loss of the connection. */
const PATIENCE_MS = 6_000;
/** A connection is of use in these states. */
const ONLINE: ReadonlySet<ConnectionState> = new Set<ConnectionState>(['open', 'probing']);

export class Race<T> {
  readonly #application: PageApplication<T>;
  readonly #about: About;
  readonly #changed: () => void;
  readonly heats: Heat<T>[] = [];
  #phase: Phase = 'connecting';
  #failure: unknown;
  #online = true;
  #stand: Stand<T> | undefined;
  /** The traces of the heat that is on, for the requests for content. */
  #current: Partial<Record<Way, Trace>> = {};

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

  /** False while the connection to the site is lost. */
  get online(): boolean {
    return this.#online;
  }

  /** Connects to a site; later heats run beside it. What was under way at another site is given up. */
  async connect(site: string): Promise<void> {
    const previous = this.#stand;
    this.#online = true;
    this.#enter('connecting');
    const url = new URL(site, location.href.replace(/^http/, 'ws'));
    const onStateChange = (state: ConnectionState, reason: CorrectableError | undefined): void => {
      if (this.#stand?.store === store) this.#note(state, reason);
    };
    const store = createClient(redblue(this.#application.contract, { url, onStateChange }), { timeoutMs: PATIENCE_MS });
    const open = (way: Way): Application<T> => this.#application.open(store, this.#contentOf(way), this.#about);
    this.#stand = { store, ways: { baseline: open('baseline'), correctable: open('correctable') } };
    await previous?.store.close();
  }

  /** Serves `user` both ways; a failure is shown. */
  async run(user: number, { change = false }: HeatOptions = {}): Promise<void> {
    const stand = this.#stand;
    if (stand === undefined || this.#phase === 'fetching' || this.#phase === 'connecting') return;
    this.#enter('fetching');
    let phase: Phase;
    try {
      const heat = await this.#serve(stand, user, change);
      this.heats.push(heat);
      phase = heat.traces.correctable.misspeculated ? 'misspeculated' : 'delivered';
    } catch (error) {
      this.#failure = error;
      phase = 'failed';
    }
    if (this.#stand === stand) this.#enter(phase);
  }

  async #serve({ ways }: Stand<T>, user: number, change: boolean): Promise<Heat<T>> {
    const changes: PromiseLike<void>[] = [];
    const throwIn = async (): Promise<void> => {
      await ways.correctable.change(user, Math.random);
      for (const way of WAYS) traces[way].changedMs = traces[way].nowMs();
    };
    const correctable = new Trace('correctable', () => {
      if (change) changes.push(throwIn());
    });
    const traces = { baseline: new Trace('baseline'), correctable };
    this.#current = traces;
    const served = await Promise.allSettled(WAYS.map((way) => ways[way].fetch(user, way, traces[way])));
    const changed = await Promise.allSettled(changes);
    // Only now: nothing is left running behind the page's back.
    const failure = [...served, ...changed].find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    const [plain, speculated] = served.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
    return { user, traces, items: { baseline: plain ?? [], correctable: speculated ?? [] } };
  }

  /** Shows every request for content in the trace of the heat that is on. */
  #contentOf(way: Way): AxiosInstance {
    const http = axios.create({ baseURL: new URL('content', location.href).href, timeout: PATIENCE_MS });
    const ends = new WeakMap<object, () => void>();
    http.interceptors.request.use((config) => {
      const end = this.#current[way]?.requesting();
      if (end !== undefined) ends.set(config, end);
      return config;
    });
    http.interceptors.response.use((response) => {
      ends.get(response.config)?.();
      return response;
    });
    return http;
  }

  #note(state: ConnectionState, reason: CorrectableError | undefined): void {
    const online = ONLINE.has(state);
    if (online && this.#phase === 'connecting') this.#enter('ready');
    if (state === 'closed' && reason !== undefined) {
      this.#failure = reason;
      this.#enter('failed');
    }
    if (online === this.#online || this.#phase === 'connecting') return;
    this.#online = online;
    this.#changed();
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#changed();
  }
}
