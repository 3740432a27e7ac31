/** The links between the sites of a cluster, each through a proxy that delays, holds or resets what passes. */
import { roundTripMs, type Site } from '../../../engines/wan.ts';
import { CuttableRoute } from '../../engines/support/cuttable-route.ts';

/** What holds of all that one site sends to another one. */
interface Condition {
  delayMs: number;
  /** Times that it was cut and not healed. */
  cuts: number;
}

/** What was done to a link, and until when. */
interface Disturbance {
  readonly sites: readonly Site[];
  readonly fromMs: number;
  untilMs: number;
}

/** What a site sent in this time may still be on its way, also where nothing is disturbed. */
const ON_ITS_WAY_MS = 3_000;

export class Links implements AsyncDisposable {
  /** A site dials its peer through the route `site>peer`. */
  readonly #routes = new Map<string, CuttableRoute>();
  readonly #conditions = new Map<string, Condition>();
  readonly #disturbances: Disturbance[] = [];

  private constructor(sites: readonly Site[]) {
    for (const [from, to] of pairs(sites)) {
      this.#conditions.set(`${from}>${to}`, { delayMs: roundTripMs('paper', from, to) / 2, cuts: 0 });
    }
  }

  /** Opens a route for each ordered pair of sites, to the address where the second one listens. */
  static async open(sites: readonly Site[], addressOf: (site: Site) => string): Promise<Links> {
    const links = new Links(sites);
    for (const [from, to] of pairs(sites)) {
      const delay = (towards: 'target' | 'client'): number =>
        towards === 'target' ? links.#delayMs(from, to) : links.#delayMs(to, from);
      links.#routes.set(`${from}>${to}`, await CuttableRoute.open(addressOf(to), delay));
    }
    return links;
  }

  /** Where `from` finds `to`. */
  addressOf(from: Site, to: Site): string {
    return this.#routes.get(`${from}>${to}`)?.address ?? '';
  }

  /** Holds all that `from` sends to `to`. Returns what heals it. */
  cut(from: Site, to: Site): () => void {
    const condition = this.#condition(from, to);
    condition.cuts += 1;
    return this.#disturbed([from, to], () => {
      condition.cuts -= 1;
    });
  }

  /** Delays what `from` sends to `to` by so much more. Returns what heals it. */
  slow(from: Site, to: Site, byMs: number): () => void {
    const condition = this.#condition(from, to);
    condition.delayMs += byMs;
    return this.#disturbed([from, to], () => {
      condition.delayMs -= byMs;
    });
  }

  /** Resets the connections between two sites and refuses new ones. Returns what heals it. */
  sever(from: Site, to: Site): () => void {
    const routes = [this.#routes.get(`${from}>${to}`), this.#routes.get(`${to}>${from}`)];
    for (const route of routes) route?.down();
    return this.#disturbed([from, to], () => {
      for (const route of routes) route?.up();
    });
  }

  /** Since when other sites may lack what this one has. */
  getUnsentSinceMs(site: Site): number {
    const nowMs = performance.now();
    const recent = this.#disturbances.filter(
      ({ sites, untilMs }) => sites.includes(site) && untilMs > nowMs - ON_ITS_WAY_MS,
    );
    return Math.min(nowMs, ...recent.map(({ fromMs }) => fromMs)) - ON_ITS_WAY_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#routes.values()].map((route) => route[Symbol.asyncDispose]()));
  }

  #disturbed(sites: readonly Site[], heal: () => void): () => void {
    const disturbance: Disturbance = { sites, fromMs: performance.now(), untilMs: Infinity };
    this.#disturbances.push(disturbance);
    return () => {
      disturbance.untilMs = performance.now();
      heal();
    };
  }

  #condition(from: Site, to: Site): Condition {
    const condition = this.#conditions.get(`${from}>${to}`);
    if (condition === undefined) throw new Error(`there is no link from ${from} to ${to}`);
    return condition;
  }

  #delayMs(from: Site, to: Site): number {
    const { delayMs, cuts } = this.#condition(from, to);
    return cuts > 0 ? Infinity : delayMs;
  }
}

function* pairs(sites: readonly Site[]): Generator<[Site, Site]> {
  for (const from of sites) for (const to of sites) if (from !== to) yield [from, to];
}
