/**
 * The Redis of several sites without a server: partitions and keyspaces in memory, behind calls
 * that take time. Gateways and clients are those of production.
 */
import { openCausalBinding } from '../../src/bindings/causal-redis/binding.ts';
import type { CausalRedisAlarm } from '../../src/bindings/causal-redis/alarms.ts';
import {
  prepareDeployment,
  type CausalDeployment,
} from '../../src/bindings/causal-redis/create-deployment.ts';
import {
  checkDeployment,
  type DeploymentReport,
} from '../../src/bindings/causal-redis/check-deployment.ts';
import type { DeploymentRecord } from '../../src/bindings/causal-redis/deployment-record.ts';
import type { ServerReport } from '../../src/bindings/causal-redis/inspect-servers.ts';
import type { Keyspace, PublishedView } from '../../src/bindings/causal-redis/keyspace.ts';
import {
  resolveDeploymentOptions,
  resolveOptions,
  type CausalDeploymentOptions,
  type CausalRedisOptions,
} from '../../src/bindings/causal-redis/options.ts';
import { limitReplies } from '../../src/bindings/causal-redis/reply-limits.ts';
import type { SiteStores } from '../../src/bindings/causal-redis/site-stores.ts';
import { decodeView, encodeView } from '../../src/bindings/causal-redis/view-codec.ts';
import type { CausalBinding } from '../../src/bindings/causal/causal-binding.ts';
import type { CallName, PartitionPort, SiteView } from '../../src/causal/partition-calls.ts';
import { DEFAULT_LIMITS } from '../../src/causal/limits.ts';
import { Partition } from '../../src/causal/partition.ts';
import { copyPartitionState } from '../../src/causal/partition-state.ts';
import { createClient, type Client } from '../../src/index.ts';
import type { CausalLevels } from '../../src/bindings/causal/index.ts';
import type { Clock } from '../../src/correctable/clock.ts';
import { mergeViews } from './merged-view.ts';

export const GOOD_SERVER: ServerReport = {
  server: '10.0.0.1:6379',
  software: 'redis',
  version: '7.0.15',
  replicas: 1,
  hasAppendOnlyFile: true,
  evictionPolicy: 'noeviction',
  maxMemoryBytes: 0,
  usedMemoryBytes: 1_000_000,
};

export interface RedisWorldOptions {
  readonly clock: Clock;
  readonly sites?: readonly string[];
  readonly partitionCount?: number;
  /** How long a call takes, within a site and between sites. */
  readonly localMs?: number;
  readonly remoteMs?: number;
}

type SiteName = string;

interface StoredView {
  readonly bytes: Buffer;
  readonly atMs: number;
}

/** A Redis in memory. */
class MemorySite {
  readonly partitions: Partition[] = [];
  record: DeploymentRecord | undefined;
  /** The run of the server, and that in which the record was written. */
  run = 1;
  recordRun: number | undefined;
  lease: { readonly gateway: string; readonly untilMs: number } | undefined;
  view: StoredView | undefined;
  servers: readonly ServerReport[] = [GOOD_SERVER];
  isAway = false;
  /** Whether calls get no reply. */
  isSilent = false;
  /** Whether calls to the keyspace get no reply. */
  hasSilentKeyspace = false;
  /** Whether the server refuses to store a view. */
  refusesViews = false;
  refusedCommand: string | undefined;
  /** The error reply of the server to all writes of clients. */
  writeRefusal: string | undefined;

  prepare(record: DeploymentRecord): DeploymentRecord {
    if (this.record === undefined) [this.record, this.recordRun] = [record, this.run];
    return this.record;
  }
}

export class CausalRedisWorld {
  readonly clock: Clock;
  readonly sites: readonly SiteName[];
  readonly alarms: CausalRedisAlarm[] = [];
  /** Calls whose reply is lost after they were executed. */
  readonly lostReplies = new Set<CallName>();
  /** Partitions of the first site whose server does not reply. */
  readonly awayPartitions = new Set<number>();
  /** Sites whose gateways have closed their connections, one entry for each. */
  readonly closedStores: SiteName[] = [];
  /** Counts calls by name. */
  readonly calls = new Map<CallName, number>();
  readonly #memory = new Map<SiteName, MemorySite>();
  readonly #options: Required<RedisWorldOptions>;

  constructor(options: RedisWorldOptions) {
    this.#options = {
      sites: ['dublin', 'oregon'],
      partitionCount: 3,
      localMs: 1,
      remoteMs: 10,
      ...options,
    };
    this.clock = options.clock;
    this.sites = this.#options.sites;
    for (const site of this.sites) this.#memory.set(site, new MemorySite());
  }

  memory(site: SiteName): MemorySite {
    return this.#memory.get(site) as MemorySite;
  }

  /** Writes the deployment records of all sites without delay. */
  prepareAll(): void {
    const { partitionCount } = this.#options;
    for (const site of this.sites)
      this.memory(site).prepare({
        format: 1,
        name: 'shop',
        site,
        sites: this.sites,
        partitions: partitionCount,
      });
  }

  check(): Promise<DeploymentReport> {
    const options = { name: 'shop', site: this.sites[0] as SiteName, sites: this.createSources() };
    const stores = limitReplies(this.openStores(options.site), this.clock);
    return checkDeployment(resolveDeploymentOptions(options), stores);
  }

  prepare(
    site: SiteName,
    overrides: Partial<CausalDeploymentOptions> = {},
  ): Promise<CausalDeployment> {
    const { partitionCount: partitions } = this.#options;
    const options = { name: 'shop', site, sites: this.createSources(), partitions, ...overrides };
    const stores = limitReplies(this.openStores(site), this.clock);
    return prepareDeployment(resolveDeploymentOptions(options), stores);
  }

  open(site: SiteName, overrides: Partial<CausalRedisOptions> = {}): CausalBinding {
    const options = resolveOptions({
      name: 'shop',
      site,
      sites: this.createSources(),
      onAlarm: (alarm) => this.alarms.push(alarm),
      ...overrides,
    });
    return openCausalBinding(options, {
      clock: this.clock,
      openStores: async () => this.openStores(site),
    });
  }

  connect(site: SiteName, overrides: Partial<CausalRedisOptions> = {}): Client<CausalLevels> {
    return createClient(this.open(site, overrides), { clock: this.clock });
  }

  /** Saves the state of a partition. The returned function restores it. */
  saveForSetBack(site: SiteName, partition: number): () => void {
    const target = this.#getPartition(site, partition);
    const backup = copyPartitionState(target.state);
    return () => (target.state = backup);
  }

  /** Deletes all data of a site, as `FLUSHALL` does. */
  flush(site: SiteName): void {
    this.#memory.set(site, new MemorySite());
  }

  createSources(): Record<SiteName, { nodes: string[] }> {
    return Object.fromEntries(this.sites.map((site) => [site, { nodes: [`${site}:6379`] }]));
  }

  /** Opens the stores as `openRedisStores` does for a process of this site. */
  openStores(from: SiteName): SiteStores {
    const keyspaces = new Map(this.sites.map((site) => [site, this.#createKeyspace(from, site)]));
    return {
      keyspaces,
      createPort: ({ sites, getSiteView }) => this.#createPort(from, sites, getSiteView),
      close: () => this.closedStores.push(from),
    };
  }

  #createPort(
    from: SiteName,
    sites: readonly SiteName[],
    getSiteView: PartitionPort['getSiteView'],
  ): PartitionPort {
    return {
      getSiteView,
      call: (address, name, request, onReply) => {
        const site = sites[address.site] as SiteName;
        this.#delay(from, site, () => {
          const { isAway, isSilent } = this.memory(site);
          const hasNoMaster = site === this.sites[0] && this.awayPartitions.has(address.partition);
          if (isAway || isSilent || hasNoMaster)
            return this.#delay(from, site, () => onReply({ refused: 'UNREACHABLE' }));
          const detail = name === 'put' ? this.memory(site).writeRefusal : undefined;
          if (detail !== undefined)
            return this.#delay(from, site, () => onReply({ refused: 'NOT_EXECUTED', detail }));
          this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
          const partition = this.#getPartition(site, address.partition);
          const reply = partition.execute(name, request, this.#getNow());
          const isLost = this.lostReplies.has(name);
          this.#delay(from, site, () => onReply(isLost ? { refused: 'UNREACHABLE' } : reply));
        });
      },
    };
  }

  #createKeyspace(from: SiteName, site: SiteName): Keyspace {
    const ask = <T>(run: (memory: MemorySite) => T): Promise<T> =>
      new Promise((resolve, reject) => {
        this.#delay(from, site, () => {
          const memory = this.memory(site);
          if (memory.isSilent || memory.hasSilentKeyspace) return;
          if (memory.isAway) return reject(new Error('connect ECONNREFUSED'));
          try {
            resolve(run(memory));
          } catch (error) {
            reject(error as Error);
          }
        });
      });
    const getView = ({ view }: MemorySite): PublishedView | undefined =>
      view && { bytes: view.bytes, age: (this.clock.now() - view.atMs) * 1_000 };
    return {
      readRecord: () => ask(({ record }) => record),
      createRecord: (record) => ask((memory) => memory.prepare(record)),
      restoreRecord: (record) => ask((memory) => void (memory.record ??= record)),
      readView: () => ask(getView),
      inspect: () => ask(({ servers }) => servers),
      checkRights: () =>
        ask(({ refusedCommand }) => {
          if (refusedCommand !== undefined)
            throw new Error(`NOPERM no permission to run '${refusedCommand}'`);
        }),
      releaseLease: (gateway) =>
        ask((memory) => {
          if (memory.lease?.gateway === gateway) memory.lease = undefined;
        }),
      exchangeView: ({ gateway, leaseMs, view }) =>
        ask((memory) => {
          if (view !== undefined && memory.refusesViews)
            throw new Error('MISCONF the disk is full');
          const now = this.clock.now();
          const { lease } = memory;
          const isLeader = lease === undefined || lease.untilMs <= now || lease.gateway === gateway;
          if (isLeader) memory.lease = { gateway, untilMs: now + leaseMs };
          if (view !== undefined)
            memory.view = this.#mergeView(memory.view, { bytes: view, atMs: now }, isLeader);
          return {
            isLeader,
            hasRecord: memory.record !== undefined,
            published: getView(memory),
            isFirstStart: memory.view === undefined && memory.recordRun === memory.run,
          };
        }),
    };
  }

  #mergeView(
    stored: StoredView | undefined,
    given: StoredView,
    isLeader: boolean,
  ): StoredView | undefined {
    if (stored === undefined) return isLeader ? given : undefined;
    const sizes = { siteCount: this.sites.length, partitionCount: this.#options.partitionCount };
    const decode = ({ bytes }: StoredView) => decodeView(bytes, 0, sizes) as SiteView;
    const bytes = encodeView(mergeViews(decode(stored), decode(given), isLeader));
    return { bytes, atMs: isLeader ? given.atMs : stored.atMs };
  }

  #getPartition(site: SiteName, partition: number): Partition {
    const { partitions } = this.memory(site);
    const options = {
      site: this.sites.indexOf(site),
      siteCount: this.sites.length,
      limits: DEFAULT_LIMITS,
    };
    return (partitions[partition] ??= new Partition(options));
  }

  #getNow(): number {
    return (this.clock.wallNow?.() ?? this.clock.now()) * 1_000;
  }

  #delay(from: SiteName, to: SiteName, run: () => void): void {
    const { localMs, remoteMs } = this.#options;
    this.clock.setTimer(run, from === to ? localMs : remoteMs);
  }
}
