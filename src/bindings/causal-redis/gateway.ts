/**
 * The gateway of one process: it starts, polls and replicates, and closes.
 *
 * The gateways of a site share a lease. The gateway that holds it polls the partitions, replicates
 * the writes of other sites, and publishes its knowledge. The other gateways read this. Correctness
 * does not depend on the lease: two gateways that hold it only do some work twice.
 */
import { randomBytes } from 'node:crypto';
import { CausalSite } from '../../causal/causal-site.ts';
import { DEFAULT_LIMITS } from '../../causal/limits.ts';
import { isRefusal, type PartitionPort, type SiteView } from '../../causal/partition-calls.ts';
import type { GatewayTime } from '../../causal/site-time.ts';
import { getStamp, MICROSECONDS_PER_MS, type SiteIndex } from '../../causal/stamps.ts';
import type { Clock, Timer } from '../../correctable/clock.ts';
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import type { SiteProblem } from '../causal/site-host.ts';
import {
  describeError,
  findRefusalCode,
  isAccessError,
  isServerReply,
} from '../shared/redis/redis-errors.ts';
import type { Alarms } from './alarms.ts';
import {
  checkRecord,
  checkSameDeployment,
  createMissingRecordError,
  type DeploymentRecord,
  type ExpectedRecord,
} from './deployment-record.ts';
import { findProblems } from './findings.ts';
import type { Keyspace, LeaseReply, PublishedView } from './keyspace.ts';
import type { ResolvedOptions } from './options.ts';
import type { SiteStores } from './site-stores.ts';
import { decodeView, encodeView } from './view-codec.ts';

export interface GatewayParts {
  readonly options: ResolvedOptions;
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly openStores: () => Promise<SiteStores>;
}

const SHORTEST_ROUND_MS = 20;
/**
 * After this time without activity, a site makes fewer rounds. Between them it often asks the other
 * sites whether they have new writes.
 */
const IDLE_AFTER_MS = 2_000;
const IDLE_ROUND_MS = 250;
const IDLE_FACTOR = 5;
const WATCH_MS = 100;
/**
 * Maximum rate of background calls of one gateway, in calls per millisecond. It leaves time for the
 * calls of clients.
 */
const MAX_CALLS_PER_MS = 5;
const LEASE_MS = 2_000;
/**
 * The minimum interval between rounds, as a multiple of the latest response time. So the calls of
 * rounds do not accumulate at a slow server.
 */
const OVERLOAD_FACTOR = 3;
/**
 * How often a gateway without the lease polls the partitions: to measure their clocks, and to
 * detect lost writes.
 */
const FOLLOWER_POLL_MS = 1_000;
const RETRY_START_MS = 250;
const CHECK_MS = 60_000;
const REQUEST_TIMEOUT_MS = DEFAULT_LIMITS.requestTimeout / MICROSECONDS_PER_MS;
/**
 * How long a gateway that closes waits for the lease to be released. The lease ends by itself, so
 * this only spares the other gateways a wait.
 */
const RELEASE_MS = 500;

export class Gateway {
  readonly #parts: GatewayParts;
  readonly #id = randomBytes(9).toString('base64url');
  readonly #timers = new Set<Timer>();
  readonly #waiters = new Set<() => void>();
  /** Sites whose deployment record matches. Calls to other sites are not sent. */
  readonly #verified = new Set<string>();
  #stores: SiteStores | undefined;
  #record: DeploymentRecord | undefined;
  #site: CausalSite | undefined;
  #failure: CorrectableError | undefined;
  #problem: SiteProblem = { text: 'Redis of this site has not answered yet' };
  #isLeader = false;
  #isExchanging = false;
  #activeAtMs = 0;
  #polledAtMs = -Infinity;
  #roundAtMs = -Infinity;
  #exchangeMs = 0;
  /** The view that gateways of the site had published at the latest exchange. */
  #published: SiteView | undefined;
  /** Whether a gateway of the site has ever published a view. Without it, none serves clients. */
  #isPublished = false;
  #round: Timer | undefined;
  #isClosed = false;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    void this.#start();
  }

  /** `undefined` until the gateway has read the deployment record, and its site has published. */
  get site(): CausalSite | undefined {
    return this.#isPublished ? this.#site : undefined;
  }

  get siteIndex(): SiteIndex {
    const { site } = this.#parts.options;
    return this.#record?.sites.indexOf(site) ?? 0;
  }

  /** Why the gateway has failed for good. */
  get failure(): CorrectableError | undefined {
    return this.#failure;
  }

  /** Why the gateway does not serve clients yet. */
  get problem(): SiteProblem {
    return this.#problem;
  }

  waitForNews(run: () => void): () => void {
    this.#waiters.add(run);
    this.#noteActivity();
    return () => this.#waiters.delete(run);
  }

  noteWrite(): void {
    this.#noteActivity();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#parts.alarms.flush();
    // Release the lease. Otherwise the other gateways of the site would wait until it expires.
    if (this.#isLeader && this.#site !== undefined)
      await this.#within(RELEASE_MS, this.#ownKeyspace.releaseLease(this.#id)).catch(() => {});
    this.#stores?.close();
  }

  async #start(): Promise<void> {
    try {
      this.#stores ??= await this.#parts.openStores();
      if (this.#isClosed) this.#stores.close();
      else await this.#open(this.#stores);
    } catch (error) {
      if (this.#isClosed) return;
      if (isFatal(error)) return this.#fail(error);
      const text = `Redis of this site cannot be reached: ${describeError(error)}`;
      this.#problem = { text, code: findRefusalCode(error) };
      this.#noteRefusal(this.#parts.options.site, error);
      this.#schedule(() => void this.#start(), RETRY_START_MS);
    }
  }

  async #open(stores: SiteStores): Promise<void> {
    const { site } = this.#parts.options;
    const own = stores.keyspaces.get(site) as Keyspace;
    const record = await this.#readRecord(site);
    if (record === undefined) throw createMissingRecordError(this.#expect(site));
    const reply = await own.exchangeView({
      gateway: this.#id,
      leaseMs: LEASE_MS,
      view: undefined,
      partitionCount: record.partitions,
    });
    if (this.#isClosed) return;
    this.#record = record;
    this.#verified.add(site);
    this.#isLeader = reply.isLeader;
    this.#isPublished = reply.published !== undefined;
    this.#createSite(stores, reply);
    // Verify the other sites first, so that the first round can ask them (CAUSAL-13).
    await this.#verifyOthers();
    if (this.#isClosed) return;
    this.#activeAtMs = this.#parts.clock.now();
    this.#runRound();
    this.#checkServers();
  }

  #expect(site: string): ExpectedRecord {
    const { name, sources } = this.#parts.options;
    return { name, site, sites: [...sources.keys()] };
  }

  async #readRecord(site: string): Promise<DeploymentRecord | undefined> {
    const keyspace = this.#stores?.keyspaces.get(site) as Keyspace;
    const record = await this.#within(REQUEST_TIMEOUT_MS, keyspace.readRecord());
    if (record !== undefined) checkRecord(record, this.#expect(site));
    return record;
  }

  #fail(error: CorrectableError): void {
    this.#failure = error;
    this.#parts.alarms.report('deployment', error.message);
    for (const run of this.#waiters) run();
  }

  #createSite(stores: SiteStores, { published, isFirstStart }: LeaseReply): void {
    const { sites, partitions } = this.#record as DeploymentRecord;
    const { alarms } = this.#parts;
    const port = stores.createPort({
      sites,
      limits: DEFAULT_LIMITS,
      getSiteView: (index, onReply) => this.#readView(index, onReply),
    });
    this.#site = new CausalSite({
      site: this.siteIndex,
      siteCount: sites.length,
      partitionCount: partitions,
      limits: DEFAULT_LIMITS,
      port: this.#guardPort(port),
      getTime: () => this.#getTime(),
      onAlarm: ({ code, partition }) => alarms.notePartition(code, partition),
      onNews: () => this.#noteActivity(),
    });
    this.#problem = { text: 'its partitions have not been polled yet' };
    // A gateway publishes before it serves. So if no view was ever published, none has served since
    // the site was prepared, which compared its partitions with those of all other sites.
    this.#site.start(published && this.#decode(published), { needsOtherSites: !isFirstStart });
  }

  /**
   * Returns a port that calls only verified sites. A wrong address must not bring in the data of
   * another deployment.
   */
  #guardPort(port: PartitionPort): PartitionPort {
    const { sites } = this.#record as DeploymentRecord;
    const isVerified = (site: SiteIndex): boolean => this.#verified.has(sites[site] as string);
    return {
      call: (address, name, request, onReply) => {
        if (isVerified(address.site)) port.call(address, name, request, onReply);
        else onReply({ refused: 'UNREACHABLE' });
      },
      getSiteView: (site, onReply) => {
        if (isVerified(site)) port.getSiteView(site, onReply);
        else onReply({ refused: 'UNREACHABLE' });
      },
    };
  }

  async #verifyOthers(): Promise<void> {
    const { sites } = this.#record as DeploymentRecord;
    const open = sites.filter((site) => !this.#verified.has(site));
    await Promise.all(open.map((site) => this.#verify(site)));
    const isComplete = sites.every((site) => this.#verified.has(site));
    if (isComplete || this.#isClosed || this.#failure) return;
    this.#schedule(() => void this.#verifyOthers(), FOLLOWER_POLL_MS);
  }

  async #verify(site: string): Promise<void> {
    try {
      const record = await this.#readRecord(site);
      if (record === undefined) {
        // The other site may be prepared later, so this is only reported.
        const { message } = createMissingRecordError(this.#expect(site));
        this.#problem = { text: message };
        return this.#parts.alarms.report('deployment', message);
      }
      checkSameDeployment(this.#record as DeploymentRecord, record);
      this.#verified.add(site);
    } catch (error) {
      if (isFatal(error)) return this.#fail(error);
      this.#noteRefusal(site, error);
    }
  }

  /** Reports a password, a right or a certificate that only an operator can correct. */
  #noteRefusal(site: string, error: unknown): void {
    if (!isAccessError(error)) return;
    const message = `sites.${site}: its Redis refuses this process: ${describeError(error)}. Correct the password, the rights or the certificate. It is tried again.`;
    this.#parts.alarms.report('access-refused', message);
  }

  #runRound(): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    const site = this.#site as CausalSite;
    this.#roundAtMs = this.#parts.clock.now();
    if (this.#isLeader) {
      site.replicate();
      this.#poll(site);
    } else this.#follow(site);
    // Send the exchange after the calls of the round. It waits behind them, so its duration shows
    // how busy the server is.
    this.#exchange(site);
    for (const run of this.#waiters) run();
    this.#planRound();
  }

  #planRound(): void {
    const { clock } = this.#parts;
    const dueInMs = this.#roundAtMs + this.#getIntervalMs() - clock.now();
    const isWatching = this.#isLeader && dueInMs > WATCH_MS;
    this.#round = this.#schedule(
      () => (isWatching ? this.#watch() : this.#runRound()),
      isWatching ? WATCH_MS : Math.max(0, dueInMs),
    );
  }

  /** Asks other sites whether they have new writes. Runs between the rounds of an idle site. */
  #watch(): void {
    const { sites } = this.#record as DeploymentRecord;
    for (const index of sites.keys())
      if (index !== this.siteIndex)
        this.#readView(index, (view) => {
          const seen = getStamp((this.#site as CausalSite).getView().stable, index);
          if (!isRefusal(view) && Math.max(...view.lastSeen) > seen) this.#noteActivity();
        });
    this.#planRound();
  }

  #follow(site: CausalSite): void {
    site.checkOwnStamps();
    site.requestHeals();
    const now = this.#parts.clock.now();
    const isDue = now - this.#polledAtMs >= FOLLOWER_POLL_MS;
    // While an exchange is in flight, other gateways do not know which writes this gateway has
    // seen. So this gateway must poll to detect their loss itself (CAUSAL-13).
    if (isDue || !site.isReady || this.#isExchanging) this.#poll(site);
  }

  #poll(site: CausalSite): void {
    this.#polledAtMs = this.#parts.clock.now();
    site.poll();
  }

  #exchange(site: CausalSite): void {
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    const { clock } = this.#parts;
    const sentAtMs = clock.now();
    const view = this.#getNews(site);
    const request = {
      gateway: this.#id,
      leaseMs: LEASE_MS,
      view: view && encodeView(view),
      partitionCount: (this.#record as DeploymentRecord).partitions,
    };
    this.#ownKeyspace.exchangeView(request).then(
      ({ isLeader, hasRecord, published }) => {
        this.#isExchanging = false;
        if (!hasRecord) this.#restoreRecord();
        this.#exchangeMs = clock.now() - sentAtMs;
        this.#isLeader = isLeader;
        const known = published && this.#decode(published);
        if (known !== undefined) site.observeView(known);
        this.#published = known;
        if (published !== undefined) this.#isPublished = true;
      },
      (error: unknown) => {
        this.#isExchanging = false;
        this.#noteRefusal(this.#parts.options.site, error);
        // The lease is unknown, so do all the work. If several gateways do so, that costs more, but
        // is safe.
        this.#isLeader = true;
      },
    );
  }

  /**
   * Returns the view that this gateway should publish. A gateway without the lease publishes only
   * if it has seen writes that the published view lacks. The other gateways must not serve a
   * partition that has lost these writes (CAUSAL-13).
   */
  #getNews(site: CausalSite): SiteView | undefined {
    if (!site.isReady) return undefined;
    const view = site.getView();
    const published = this.#published?.lastSeen ?? [];
    const hasSeenMore = view.lastSeen.some(
      (stamp, partition) => stamp > (published[partition] ?? 0),
    );
    return this.#isLeader || hasSeenMore ? view : undefined;
  }

  get #ownKeyspace(): Keyspace {
    const { site } = this.#parts.options;
    return this.#stores?.keyspaces.get(site) as Keyspace;
  }

  #readView(index: SiteIndex, onReply: Parameters<PartitionPort['getSiteView']>[1]): void {
    if (index === this.siteIndex) return onReply((this.#site as CausalSite).getView());
    const name = this.#record?.sites[index] as string;
    const keyspace = this.#stores?.keyspaces.get(name) as Keyspace;
    keyspace.readView().then(
      (published) => {
        const view = published && this.#decode(published);
        onReply(view ?? { refused: 'STARTING' });
      },
      (error: unknown) => {
        this.#noteRefusal(name, error);
        onReply({ refused: 'UNREACHABLE' });
      },
    );
  }

  #decode({ bytes, age }: PublishedView): SiteView | undefined {
    const { sites, partitions } = this.#record as DeploymentRecord;
    const sizes = { siteCount: sites.length, partitionCount: partitions };
    return decodeView(bytes, age, sizes);
  }

  /** Checks the settings of the servers, now and at intervals. */
  #checkServers(): void {
    const { alarms } = this.#parts;
    this.#ownKeyspace.inspect().then(
      (servers) => {
        for (const { code, message } of findProblems(servers)) alarms.report(code, message);
      },
      (error: unknown) => {
        // A server that is down is checked at the next time.
        if (isServerReply(error) && /^(ERR|NOPERM)\b/.test(error.message))
          alarms.report(
            'unchecked',
            `INFO is refused, so that its settings are not checked: ${describeError(error)}`,
          );
      },
    );
    this.#schedule(() => this.#checkServers(), CHECK_MS);
  }

  /**
   * Writes the deployment record again, for example after `FLUSHALL`. The data is copied back from
   * other sites, but a starting gateway refuses to serve without the record.
   */
  #restoreRecord(): void {
    if (this.#isClosed) return;
    const { site } = this.#parts.options;
    const message = `sites.${site}: the deployment record was missing, and is written again. Its Redis has lost data, which is copied from the other sites.`;
    this.#parts.alarms.report('deployment', message);
    this.#ownKeyspace.restoreRecord(this.#record as DeploymentRecord).catch(() => {
      // The next round finds it missing again.
    });
  }

  #getIntervalMs(): number {
    const { sites, partitions } = this.#record as DeploymentRecord;
    const calls = this.#isLeader ? partitions * (1 + 2 * (sites.length - 1)) : 1;
    const busyMs = Math.max(
      SHORTEST_ROUND_MS,
      calls / MAX_CALLS_PER_MS,
      OVERLOAD_FACTOR * this.#exchangeMs,
    );
    return this.#isIdle ? Math.max(IDLE_ROUND_MS, IDLE_FACTOR * busyMs) : busyMs;
  }

  get #isIdle(): boolean {
    const isWaiting = this.#waiters.size > 0 || this.#site?.isReady !== true;
    return !isWaiting && this.#parts.clock.now() - this.#activeAtMs > IDLE_AFTER_MS;
  }

  /**
   * Called at a write, here or at another site. Starts a round at once if the site is idle, so that
   * the write is replicated soon.
   */
  #noteActivity(): void {
    const wasIdle = this.#isIdle;
    this.#activeAtMs = this.#parts.clock.now();
    if (!wasIdle || this.#round === undefined) return;
    this.#round.cancel();
    this.#timers.delete(this.#round);
    this.#round = this.#schedule(() => this.#runRound(), 0);
  }

  #getTime(): GatewayTime {
    const { clock } = this.#parts;
    const elapsed = clock.now() * MICROSECONDS_PER_MS;
    const wall = (clock.wallNow?.() ?? clock.now()) * MICROSECONDS_PER_MS;
    return { elapsed, wall };
  }

  /** Rejects if there is no reply in time: `ioredis` may keep a call until it can connect. */
  #within<T>(limitMs: number, reply: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const expire = (): void => reject(new Error(`no reply came within ${limitMs} ms`));
      const timer = this.#parts.clock.setTimer(expire, limitMs);
      this.#timers.add(timer);
      void reply.then(resolve, reject).finally(() => {
        timer.cancel();
        this.#timers.delete(timer);
      });
    });
  }

  #schedule(run: () => void, delayMs: number): Timer {
    const timer = this.#parts.clock.setTimer(() => {
      this.#timers.delete(timer);
      if (!this.#isClosed) run();
    }, delayMs);
    this.#timers.add(timer);
    return timer;
  }
}

function isFatal(error: unknown): error is CorrectableError {
  return isCorrectableError(error, 'INVALID_ARGUMENT') || isCorrectableError(error, 'UNSUPPORTED');
}
