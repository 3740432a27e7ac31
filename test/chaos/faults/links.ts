/**
 * The links between the sites of a cluster, and of the sites to the servers of etcd. Each goes
 * through a proxy that delays, holds or resets what passes.
 */
import { roundTripMs, type Site } from '../../../engines/wan.ts';
import { CuttableRoute } from '../../engines/support/cuttable-route.ts';

/** The server of etcd beside a site. */
export type EtcdServer = `etcd-${Site}`;
export type LinkEnd = Site | EtcdServer;

export function etcdAt(site: Site): EtcdServer {
  return `etcd-${site}`;
}

/** The site that connects, and the end that it connects to. */
export type Route = readonly [from: Site, to: LinkEnd];

/** What holds of all that one end of a link sends to the other one. */
interface Condition {
  delayMs: number;
  /** Times that it was cut and not healed. */
  cuts: number;
}

/** What was done to a link, and until when. */
interface Disturbance {
  readonly ends: readonly LinkEnd[];
  readonly fromMs: number;
  untilMs: number;
}

/** What a site sent in this time may still be on its way, also where nothing is disturbed. */
const ON_ITS_WAY_MS = 3_000;

export class Links implements AsyncDisposable {
  /** A site dials its peer, or a server, through the route `from>to`. */
  readonly #routes = new Map<string, CuttableRoute>();
  readonly #conditions = new Map<string, Condition>();
  readonly #disturbances: Disturbance[] = [];

  private constructor(routes: readonly Route[]) {
    for (const [from, to] of routes) {
      const delayMs = roundTripMs('paper', from, getSite(to)) / 2;
      this.#conditions.set(`${from}>${to}`, { delayMs, cuts: 0 });
      this.#conditions.set(`${to}>${from}`, { delayMs, cuts: 0 });
    }
  }

  /** Opens these routes, each to the address where its second end listens. */
  static async open(routes: readonly Route[], addressOf: (end: LinkEnd) => string): Promise<Links> {
    const links = new Links(routes);
    for (const [from, to] of routes) {
      const delay = (towards: 'target' | 'client'): number =>
        towards === 'target' ? links.#delayMs(from, to) : links.#delayMs(to, from);
      links.#routes.set(`${from}>${to}`, await CuttableRoute.open(addressOf(to), delay));
    }
    return links;
  }

  /** Where `from` finds `to`. */
  addressOf(from: Site, to: LinkEnd): string {
    return this.#routes.get(`${from}>${to}`)?.address ?? '';
  }

  /** Holds all that `from` sends to `to`. Returns what heals it. */
  cut(from: LinkEnd, to: LinkEnd): () => void {
    const condition = this.#condition(from, to);
    condition.cuts += 1;
    return this.#disturbed([from, to], () => {
      condition.cuts -= 1;
    });
  }

  /** Delays what `from` sends to `to` by so much more. Returns what heals it. */
  slow(from: LinkEnd, to: LinkEnd, byMs: number): () => void {
    const condition = this.#condition(from, to);
    condition.delayMs += byMs;
    return this.#disturbed([from, to], () => {
      condition.delayMs -= byMs;
    });
  }

  /** Resets the connections between two ends and refuses new ones. Returns what heals it. */
  sever(from: LinkEnd, to: LinkEnd): () => void {
    const routes = [this.#routes.get(`${from}>${to}`), this.#routes.get(`${to}>${from}`)];
    for (const route of routes) route?.down();
    return this.#disturbed([from, to], () => {
      for (const route of routes) route?.up();
    });
  }

  /**
   * Since when other sites may lack what this one has. What it has written to etcd, the others get
   * there.
   */
  getUnsentSinceMs(site: Site): number {
    const nowMs = performance.now();
    const recent = this.#disturbances.filter(
      ({ ends, untilMs }) =>
        ends.includes(site) &&
        ends.every((end) => end === getSite(end)) &&
        untilMs > nowMs - ON_ITS_WAY_MS,
    );
    return Math.min(nowMs, ...recent.map(({ fromMs }) => fromMs)) - ON_ITS_WAY_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#routes.values()].map((route) => route[Symbol.asyncDispose]()));
  }

  #disturbed(ends: readonly LinkEnd[], heal: () => void): () => void {
    const disturbance: Disturbance = { ends, fromMs: performance.now(), untilMs: Infinity };
    this.#disturbances.push(disturbance);
    return () => {
      disturbance.untilMs = performance.now();
      heal();
    };
  }

  #condition(from: LinkEnd, to: LinkEnd): Condition {
    const condition = this.#conditions.get(`${from}>${to}`);
    if (condition === undefined) throw new Error(`there is no link from ${from} to ${to}`);
    return condition;
  }

  #delayMs(from: LinkEnd, to: LinkEnd): number {
    const { delayMs, cuts } = this.#condition(from, to);
    return cuts > 0 ? Infinity : delayMs;
  }
}

/** Each site to each other one. */
export function routesBetween(sites: readonly Site[]): Route[] {
  return sites.flatMap((from) =>
    sites.filter((to) => to !== from).map((to) => [from, to] as const),
  );
}

/** Each site to each server of etcd. */
export function routesToEtcd(sites: readonly Site[]): Route[] {
  return sites.flatMap((from) => sites.map((to) => [from, etcdAt(to)] as const));
}

function getSite(end: LinkEnd): Site {
  return end.replace('etcd-', '') as Site;
}
