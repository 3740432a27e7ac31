/** What happens behind the page: serves a request with and without speculation at the same time; tells of changes. */
import axios from 'axios';
import { CorrectableError, createClient, type AnyClient } from 'correctables';
import { redblue, type ConnectionState } from 'correctables/bindings/redblue';
import { WAYS, type Application, type Way } from '../chase/application.ts';
import type { About } from './about.ts';
import { Trace } from './trace.ts';

/** Where the page is. `misspeculated` is delivered too, at the second attempt. */
export type Phase = 'connecting' | 'ready' | 'fetching' | 'delivered' | 'misspeculated' | 'failed';

/** What the page needs to know of an application. */
export interface PageApplication<T> {
  readonly contract: Parameters<typeof redblue>[0];
  /** @param http for content; its requests are shown */
  open(store: AnyClient, http: ReturnType<typeof axios.create>, about: About): Application<T>;
}

/** One request served both ways. */
export interface Heat<T> {
  readonly user: number;
  readonly traces: Readonly<Record<Way, Trace>>;
  readonly items: Readonly<Record<Way, readonly T[]>>;
}

export interface RaceOptions {
  /** Throws in a change of the references as soon as the preliminary ones are there. */
  readonly change?: boolean;
}

/** How long a request may take before the backend counts as gone: it survives a short loss of the connection. */
const PATIENCE_MS = 6_000;
/** A connection is of use in these states. */
const ONLINE: ReadonlySet<ConnectionState> = new Set<ConnectionState>(['open', 'probing', 'draining']);

export class Race<T> {
  readonly #application: PageApplication<T>;
  readonly #about: About;
  readonly #changed: () => void;
  readonly heats: Heat<T>[] = [];
  #phase: Phase = 'connecting';
  #failure: unknown;
  #store: AnyClient | undefined;
  #site = '';
  #online = false;
  #ways: Readonly<Record<Way, Application<T>>> | undefined;
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
    return this.#online || this.#phase === 'connecting';
  }

  /** Connects to a site; later heats run beside it. */
  async connect(site: string): Promise<void> {
    this.#site = site;
    this.#enter('connecting');
    const previous = this.#store;
    const url = new URL(site, location.href.replace(/^http/, 'ws'));
    const store = createClient(redblue(this.#application.contract, { url, onStateChange: this.#watch(site) }), {
      timeoutMs: PATIENCE_MS,
    });
    this.#store = store;
    const open = (way: Way): Application<T> => this.#application.open(store, this.#contentOf(way), this.#about);
    this.#ways = { baseline: open('baseline'), correctable: open('correctable') };
    await previous?.close();
    this.#enter('ready');
  }

  /** Serves `user` both ways; a failure is shown. */
  async run(user: number, { change = false }: RaceOptions = {}): Promise<void> {
    const ways = this.#ways;
    if (ways === undefined || this.#phase === 'fetching') return;
    this.#enter('fetching');
    let changing: PromiseLike<unknown> | undefined;
    const throwIn = async (): Promise<void> => {
      await ways.correctable.change(user, Math.random);
      for (const way of WAYS) traces[way].changedMs = traces[way].nowMs();
    };
    const correctable = new Trace('correctable', () => {
      if (change) changing = throwIn();
    });
    const traces = { baseline: new Trace('baseline'), correctable };
    this.#current = traces;
    try {
      const [baseline, speculated] = await settled(WAYS.map((way) => ways[way].fetch(user, way, traces[way])));
      await changing;
      this.heats.push({ user, traces, items: { baseline: baseline ?? [], correctable: speculated ?? [] } });
      this.#enter(correctable.misspeculated ? 'misspeculated' : 'delivered');
    } catch (error) {
      this.#failure = error;
      this.#enter('failed');
    }
  }

  /** Shows every request for content in the trace of the heat that is on. */
  #contentOf(way: Way): ReturnType<typeof axios.create> {
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

  #watch(site: string): (state: ConnectionState) => void {
    return (state) => {
      if (site !== this.#site || this.#online === ONLINE.has(state)) return;
      this.#online = ONLINE.has(state);
      this.#changed();
    };
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#changed();
  }
}

/** The results of all, or the first failure once all have ended: nothing is left running behind the page's back. */
async function settled<V>(running: readonly PromiseLike<V>[]): Promise<V[]> {
  const outcomes = await Promise.allSettled(running);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** The advice for a failure, in words for the person at the page. */
export function adviceFor(failure: unknown): string {
  const busy = failure instanceof CorrectableError && failure.code === 'OVERLOADED';
  if (busy) return 'The backend has more to do than it can take: wait a moment, then fetch again.';
  return 'Is the backend still there? Start it with “npm run demo”, then fetch again: this page connects by itself.';
}
