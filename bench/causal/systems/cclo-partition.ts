/**
 * One partition of CC-LO, the "latency-optimal" design that the paper compares Contrarian with
 * (section 3; COPS-SNOW, Lu and others, OSDI 2016): reads take one round, and each put pays for
 * that.
 *
 * A put asks the partitions of all its dependencies for the reads that have missed one of them (the
 * readers check). The new version stays hidden from these reads. As in the paper's version, ids are
 * dropped after 500 ms, and an answer has one id for each client, that of its last read.
 *
 * It differs from the paper in one point. There, a reader from which a version is hidden gets the
 * newest version before the logical time of its other read. That time comes from another server,
 * whose clock may be far behind. So the reader may miss a version on which it depends already.
 * Here, each version has the ids of the reads from which it is hidden. The ids that are sent are
 * the same.
 */
import type { Stamp } from '../../../src/causal/stamps.ts';
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import {
  getClient,
  type CcloCallName,
  type CcloCalls,
  type CcloPort,
  type Dependency,
  type SentVersion,
} from './cclo-calls.ts';
import { comparePlaces, INITIAL, type Placed, type ReadersCheck } from './store-client.ts';

export const KEEP_READ_IDS_US = 500_000;

/** The highest read id of each client. */
export type ReadIds = Map<number, number>;

interface StoredVersion extends SentVersion {
  /** The reads from which the version is hidden. Never changed after the version was installed. */
  readonly hiddenFrom: ReadIds;
  readonly installedAt: Stamp;
}

/** A read that this partition has served. */
interface Reading {
  readonly readId: number;
  readonly seen: Placed;
  readonly since: Stamp;
}

interface Chain {
  /** The versions of the key, newest first. */
  versions: StoredVersion[];
  /** The last read of each client that has seen the newest version. */
  current: Map<number, Reading> | undefined;
  /** The last read of each client that has seen an older version. */
  old: Map<number, Reading> | undefined;
}

export interface CcloPartitionOptions {
  readonly site: number;
  readonly partition: number;
  readonly siteCount: number;
  readonly partitionCount: number;
  readonly port: CcloPort;
  readonly getTime: () => Stamp;
  readonly initialValue?: string | undefined;
  readonly onReadersCheck?: ((check: ReadersCheck) => void) | undefined;
}

type Reply<N extends CcloCallName> = (reply: CcloCalls[N]['reply']) => void;

const NOBODY: ReadIds = new Map();
const NOTHING: Placed = { stamp: 0, site: 0 };

export class CcloPartition {
  readonly #options: CcloPartitionOptions;
  readonly #chains = new Map<string, Chain>();
  /** The stamps of all installed writes, by their site. */
  readonly #installed: readonly Set<number>[];
  readonly #waiting = new Map<string, (() => void)[]>();
  /** The clock starts at the stamp of the initial versions. */
  #clock = INITIAL.stamp;

  constructor(options: CcloPartitionOptions) {
    this.#options = options;
    this.#installed = Array.from({ length: options.siteCount }, () => new Set());
  }

  execute<N extends CcloCallName>(
    name: N,
    request: CcloCalls[N]['request'],
    reply: Reply<N>,
  ): void {
    this.#raiseClock(request.clock);
    if (name === 'read')
      this.#read(request as CcloCalls['read']['request'], reply as Reply<'read'>);
    else if (name === 'put')
      this.#put(request as CcloCalls['put']['request'], reply as Reply<'put'>);
    else if (name === 'check')
      this.#check(request as CcloCalls['check']['request'], reply as Reply<'check'>);
    else this.#replicate(request as CcloCalls['replicate']['request']);
  }

  /** Installs the initial versions of the keys of a request. */
  prepare(request: object): void {
    const { key, keys } = request as { readonly key?: string; readonly keys?: readonly string[] };
    for (const name of keys ?? (key === undefined ? [] : [key])) this.#getChain(name);
  }

  /** Returns whether an id replaces another id of the same client. */
  isNewer(readId: number, known: number): boolean {
    return readId > known;
  }

  #read({ reader, keys }: CcloCalls['read']['request'], reply: Reply<'read'>): void {
    const versions = keys.map((key) => this.#readKey(key, reader));
    this.#clock += 1;
    reply({ versions, clock: this.#clock });
  }

  #readKey(key: string, readId: number): SentVersion | undefined {
    const chain = this.#getChain(key);
    const client = getClient(readId);
    const since = this.#options.getTime();
    const isHidden = ({ hiddenFrom, installedAt }: StoredVersion): boolean =>
      hiddenFrom.get(client) === readId && installedAt >= since - KEEP_READ_IDS_US;
    const found = chain.versions.find((version) => !isHidden(version));
    const reading = { readId, seen: found ?? NOTHING, since };
    const isNewest = found === chain.versions[0];
    if (isNewest) (chain.current ??= new Map()).set(client, reading);
    else (chain.old ??= new Map()).set(client, reading);
    (isNewest ? chain.old : chain.current)?.delete(client);
    return found && { stamp: found.stamp, site: found.site, value: found.value };
  }

  #put({ key, value, dependencies }: CcloCalls['put']['request'], reply: Reply<'put'>): void {
    const { site, partition, siteCount, port, onReadersCheck } = this.#options;
    this.#checkAll(dependencies, (hiddenFrom, check) => {
      onReadersCheck?.(check);
      // Advance the clock beyond those of all partitions that have answered, and so beyond the
      // reads that they have served.
      this.#clock += 1;
      const version = { stamp: this.#clock, site, value };
      this.#install(key, version, hiddenFrom);
      for (let other = 0; other < siteCount; other += 1) {
        const request = { key, version, dependencies, clock: this.#clock };
        if (other !== site) port.call({ site: other, partition }, 'replicate', request, () => {});
      }
      reply({ stamp: version.stamp, clock: this.#clock });
    });
  }

  /**
   * Replicates a write. At each other site, it waits for its dependencies, and does the readers
   * check there.
   */
  #replicate({ key, version, dependencies }: CcloCalls['replicate']['request']): void {
    this.#checkAll(dependencies, (hiddenFrom) => this.#install(key, version, hiddenFrom));
  }

  #check({ dependencies }: CcloCalls['check']['request'], reply: Reply<'check'>): void {
    this.#whenInstalled(dependencies, () => {
      const readers: ReadIds = new Map();
      this.#collectReaders(dependencies, readers);
      this.#clock += 1;
      reply({ readers: [...readers.values()], clock: this.#clock });
    });
  }

  /**
   * Collects the reads that have missed a dependency, from all partitions of the site that have
   * one.
   */
  #checkAll(
    dependencies: readonly Dependency[],
    onEnd: (readers: ReadIds, check: ReadersCheck) => void,
  ): void {
    const { site, partition, partitionCount, port } = this.#options;
    const groups = new Map<number, Dependency[]>();
    for (const dependency of dependencies) {
      const place = findPartition(dependency.key, partitionCount);
      const group = groups.get(place);
      if (group === undefined) groups.set(place, [dependency]);
      else group.push(dependency);
    }
    const collected: ReadIds = new Map();
    let [open, all] = [groups.size, 0];
    const end = (): void =>
      onEnd(collected, { all, distinct: collected.size, partitions: groups.size });
    const add = (readers: Iterable<number>, count: number): void => {
      all += count;
      for (const readId of readers) this.#addReader(collected, readId);
      open -= 1;
      if (open === 0) end();
    };
    if (open === 0) return end();
    for (const [place, group] of groups) {
      if (place === partition) {
        this.#whenInstalled(group, () => {
          const own: ReadIds = new Map();
          this.#collectReaders(group, own);
          add(own.values(), own.size);
        });
      } else {
        port.call(
          { site, partition: place },
          'check',
          { dependencies: group, clock: this.#clock },
          (reply) => {
            this.#raiseClock(reply.clock);
            add(reply.readers, reply.readers.length);
          },
        );
      }
    }
  }

  #collectReaders(dependencies: readonly Dependency[], readers: ReadIds): void {
    const oldest = this.#options.getTime() - KEEP_READ_IDS_US;
    for (const dependency of dependencies) {
      const { versions, old } = this.#getChain(dependency.key);
      for (const [client, { readId, seen, since }] of old ?? []) {
        if (since < oldest) old?.delete(client);
        else if (comparePlaces(seen, dependency) < 0) this.#addReader(readers, readId);
      }
      const version = versions.find((item) => comparePlaces(item, dependency) === 0);
      if (version === undefined || version.installedAt < oldest) continue;
      for (const readId of version.hiddenFrom.values()) this.#addReader(readers, readId);
    }
  }

  #addReader(readers: ReadIds, readId: number): void {
    const client = getClient(readId);
    const known = readers.get(client);
    if (known === undefined || this.isNewer(readId, known)) readers.set(client, readId);
  }

  #install(key: string, sent: SentVersion, hiddenFrom: ReadIds): void {
    const chain = this.#getChain(key);
    const installedAt = this.#options.getTime();
    this.#raiseClock(sent.stamp);
    const place = chain.versions.findIndex((version) => comparePlaces(version, sent) < 0);
    const version = { ...sent, hiddenFrom, installedAt };
    if (place < 0) chain.versions.push(version);
    else chain.versions.splice(place, 0, version);
    const oldest = installedAt - KEEP_READ_IDS_US;
    if (chain.versions[0] === version) moveReaders(chain, oldest);
    trim(chain, oldest);
    this.#installed[sent.site]?.add(sent.stamp);
    this.#wake(sent);
  }

  #whenInstalled(dependencies: readonly Dependency[], run: () => void): void {
    const missing = dependencies.filter((dependency) => !this.#isInstalled(dependency));
    if (missing.length === 0) return run();
    let open = missing.length;
    const arrive = (): void => {
      open -= 1;
      if (open === 0) run();
    };
    for (const place of missing) {
      const waiting = this.#waiting.get(formatPlace(place));
      if (waiting === undefined) this.#waiting.set(formatPlace(place), [arrive]);
      else waiting.push(arrive);
    }
  }

  #isInstalled({ stamp, site }: Placed): boolean {
    return (
      stamp <= INITIAL.stamp ||
      site === this.#options.site ||
      this.#installed[site]?.has(stamp) === true
    );
  }

  #wake(place: Placed): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting.get(formatPlace(place)) ?? [];
    this.#waiting.delete(formatPlace(place));
    for (const arrive of waiting) arrive();
  }

  #getChain(key: string): Chain {
    const known = this.#chains.get(key);
    if (known !== undefined) return known;
    const { initialValue } = this.#options;
    const first = { ...INITIAL, value: initialValue ?? '', hiddenFrom: NOBODY, installedAt: 0 };
    const versions = initialValue === undefined ? [] : [first];
    const chain: Chain = { versions, current: undefined, old: undefined };
    this.#chains.set(key, chain);
    return chain;
  }

  #raiseClock(clock: number): void {
    this.#clock = Math.max(this.#clock, clock);
  }
}

/**
 * Called when a newer version is installed: readers of the former newest version have now seen an
 * old one.
 */
function moveReaders(chain: Chain, oldest: Stamp): void {
  if (chain.current === undefined) return;
  chain.old ??= new Map();
  for (const [client, reading] of chain.current)
    if (reading.since >= oldest) chain.old.set(client, reading);
  chain.current = undefined;
}

/**
 * Drops versions that no read can need: all reads from which a newer version was hidden are
 * forgotten.
 */
function trim(chain: Chain, oldest: Stamp): void {
  const last = chain.versions.findIndex(({ installedAt }) => installedAt < oldest);
  if (last >= 0) chain.versions.length = last + 1;
}

function formatPlace({ stamp, site }: Placed): string {
  return `${site}:${stamp}`;
}
