/** A causal store in this process: all its sites, and their background work. */
import { CausalSite } from '../../causal/causal-site.ts';
import { DEFAULT_LIMITS } from '../../causal/limits.ts';
import { Partition } from '../../causal/partition.ts';
import type { GatewayTime } from '../../causal/site-time.ts';
import { MICROSECONDS_PER_MS, type SiteIndex, type Stamp } from '../../causal/stamps.ts';
import { bindMethods, type Binding } from '../../correctable/binding.ts';
import type { Timer } from '../../correctable/clock.ts';
import { check } from '../../correctable/errors.ts';
import { toExactJson } from '../shared/to-json.ts';
import { CausalBinding } from './causal-binding.ts';
import type { CausalLevels, SiteHost } from './site-host.ts';
import { resolveOptions, type CausalStoreOptions, type ResolvedOptions } from './options.ts';
import type { ParsedWrite } from './parse-operation.ts';
import { createUnsignedTokens } from './session-tokens.ts';
import { SiteNetwork } from './site-network.ts';

export interface CausalStore<N extends string = string> {
  readonly sites: readonly N[];
  /**
   * Returns the binding of one site, for any number of clients in this process, or for a gateway.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site
   */
  site(name: N): Binding<CausalLevels>;
  /**
   * Cuts the link between two sites. Both go on at `causal`. At `latest`, operations fail with
   * `UNAVAILABLE`.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site
   */
  disconnect(a: N, b: N): void;
  /**
   * Repairs the link between two sites. Their writes then arrive at each other.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site
   */
  reconnect(a: N, b: N): void;
  /** Stops all sites. Pending reads fail with `UNAVAILABLE`. */
  close(): Promise<void>;
}

/**
 * Creates a causally consistent store with several sites in this process: for tests, demos and
 * figures. Its data is in memory. Values are JSON, as on Redis.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const store = createCausalStore({ sites: ['dublin', 'oregon'] });
 * const dublin = createClient(store.site('dublin'));
 * await dublin.invoke(put('acl:album', ['alice']));
 */
export function createCausalStore<const N extends string>(
  options: CausalStoreOptions<N>,
): CausalStore<N> {
  return bindMethods(new EmbeddedStore(resolveOptions(options))) as unknown as CausalStore<N>;
}

/** The interval at which the sites exchange new writes (Contrarian, 5.1). */
const ROUND_INTERVAL_MS = 5;

class EmbeddedStore implements CausalStore {
  readonly sites: readonly string[];
  readonly #options: ResolvedOptions;
  readonly #network: SiteNetwork;
  readonly #sites: readonly CausalSite[];
  readonly #bindings: readonly CausalBinding[];
  readonly #waiters = new Set<() => void>();
  #writeCount = 0;
  #round: Timer | undefined;
  #isClosed = false;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.sites = options.sites;
    const places = options.sites.map((_, site) => site);
    const partitions = places.map((site) => this.#createPartitions(site));
    this.#network = new SiteNetwork({
      ...options,
      getNow: () => this.#getTime().wall,
      getPartition: (site, partition) => partitions[site]?.[partition] as Partition,
      getSite: (site) => this.#sites[site] as CausalSite,
    });
    this.#sites = places.map((site) => this.#createSite(site));
    this.#bindings = places.map((site) => new CausalBinding(this.#createHost(site)));
  }

  site(name: string): Binding<CausalLevels> {
    return this.#bindings[this.#findSite(name)] as CausalBinding;
  }

  disconnect(a: string, b: string): void {
    this.#network.setConnected(this.#findSite(a), this.#findSite(b), false);
  }

  reconnect(a: string, b: string): void {
    this.#network.setConnected(this.#findSite(a), this.#findSite(b), true);
    this.#wake();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#round?.cancel();
    await Promise.all(this.#bindings.map((binding) => binding.close()));
    this.#network.close();
  }

  #findSite(name: string): SiteIndex {
    const site = this.sites.indexOf(name);
    check(site >= 0, 'site', `must be one of ${this.sites.join(', ')}, got ${name}.`);
    return site;
  }

  #createPartitions(site: SiteIndex): readonly Partition[] {
    const { partitionCount } = this.#options;
    const options = { site, siteCount: this.sites.length, limits: DEFAULT_LIMITS };
    return Array.from({ length: partitionCount }, () => new Partition(options));
  }

  #createSite(site: SiteIndex): CausalSite {
    return new CausalSite({
      site,
      siteCount: this.sites.length,
      partitionCount: this.#options.partitionCount,
      limits: DEFAULT_LIMITS,
      port: this.#network.createPort(site),
      getTime: () => this.#getTime(),
      // A partition in this process never loses state, so no alarm can occur.
      onAlarm: () => {},
    });
  }

  #createHost(site: SiteIndex): SiteHost {
    const { clock, siteTimeoutMs } = this.#options;
    const siteCount = this.sites.length;
    const getHighestStamp = (other: SiteIndex): Stamp => this.#getHighestStamp(other);
    return {
      name: 'causal',
      site,
      siteCount,
      operations: this.#sites[site] as CausalSite,
      clock,
      siteTimeoutMs,
      // A partition in this process always replies, so writes need no retries.
      retryWritesForMs: 0,
      tokens: createUnsignedTokens({ site, siteCount, getHighestStamp }),
      isShared: true,
      failure: undefined,
      problem: { text: 'it starts' },
      checkKeys: () => {},
      encode: encodeWrite,
      decode: (text) => JSON.parse(text as string),
      createWriteId: () => this.#createWriteId(),
      onWritten: () => this.#wake(),
      waitForNews: (run) => this.#waitForNews(run),
      close: () => this.close(),
    };
  }

  /** Ids of writes are unique in this process, which has all sites. */
  #createWriteId(): string {
    this.#writeCount += 1;
    return `${this.#writeCount}`;
  }

  #getTime(): GatewayTime {
    const { clock, epochMs } = this.#options;
    const elapsedMs = clock.now();
    return {
      elapsed: elapsedMs * MICROSECONDS_PER_MS,
      wall: (elapsedMs + epochMs) * MICROSECONDS_PER_MS,
    };
  }

  /** Returns the highest stamp of the site that a session can have seen. */
  #getHighestStamp(site: SiteIndex): Stamp {
    const { siteTime } = (this.#sites[site] as CausalSite).getView();
    return siteTime + DEFAULT_LIMITS.maxClockSkew;
  }

  #waitForNews(run: () => void): () => void {
    this.#waiters.add(run);
    this.#wake();
    return () => this.#waiters.delete(run);
  }

  /**
   * Starts the rounds. They run only while a site lacks writes, so that an idle store has no timer.
   */
  #wake(): void {
    if (this.#isClosed || this.#round !== undefined || this.sites.length === 1) return;
    this.#round = this.#options.clock.setTimer(() => this.#runRound(), ROUND_INTERVAL_MS);
    this.#round.setRef?.(this.#waiters.size > 0);
  }

  #runRound(): void {
    this.#round = undefined;
    for (const site of this.#sites) site.replicate();
    for (const site of this.#sites) site.poll();
    for (const run of this.#waiters) run();
    if (this.#waiters.size > 0 || !this.#isSettled()) this.#wake();
  }

  #isSettled(): boolean {
    const views = this.#sites.map((site) => site.getView());
    return views.every((view, site) =>
      views.every(
        (other, index) =>
          index === site || (view.stable[index] ?? 0) >= Math.max(...other.lastSeen),
      ),
    );
  }
}

/** Keeps values as JSON, so that they are those of the store on Redis. */
function encodeWrite(write: ParsedWrite): ParsedWrite {
  if (write.kind === 'tombstone') return write;
  return { ...write, value: toExactJson(write.value, { name: 'put', field: 'args.value' }) };
}
