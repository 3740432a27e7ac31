/**
 * The data of an etcd: values by key with the revision that stored them, and the values at earlier
 * revisions.
 */
import type { EtcdEntry, EtcdKeyRange } from '../../../server/log/etcd/etcd-requests.ts';

interface Version {
  readonly revision: number;
  /** `undefined` if it was deleted. */
  readonly value: Uint8Array | undefined;
}

export class EtcdStore {
  revision = 1;
  /** The last revision that cannot be read any more. */
  compacted = 0;
  readonly #versions = new Map<string, Version[]>();
  readonly #events: EtcdEntry[] = [];

  create(key: string, value: Uint8Array): void {
    if (this.#find(key, this.revision) === undefined) this.#write(key, value, (this.revision += 1));
  }

  delete(range: EtcdKeyRange): void {
    const entries = this.#list(range, this.revision);
    if (entries.length > 0) this.revision += 1;
    for (const { key } of entries) this.#write(key, undefined, this.revision);
  }

  /** Returns `undefined` if the revision was compacted. */
  range(
    range: EtcdKeyRange,
    limit: number,
    revision: number,
  ): { entries: EtcdEntry[]; hasMore: boolean } | undefined {
    const at = revision === 0 ? this.revision : revision;
    if (at < this.compacted) return undefined;
    const entries = this.#list(range, at);
    return {
      entries: entries.slice(0, limit),
      hasMore: entries.length > limit,
    };
  }

  compact(revision: number): void {
    this.compacted = Math.max(this.compacted, revision);
  }

  getEvents({ key, end }: EtcdKeyRange, fromRevision: number): EtcdEntry[] {
    return this.#events.filter(
      (event) => event.modRevision >= fromRevision && event.key >= key && event.key < end,
    );
  }

  /** Returns a copy, as of its disks. */
  copy(): EtcdStore {
    const copy = new EtcdStore();
    for (const [key, versions] of this.#versions) copy.#versions.set(key, [...versions]);
    copy.#events.push(...this.#events);
    [copy.revision, copy.compacted] = [this.revision, this.compacted];
    return copy;
  }

  #list({ key: from, end }: EtcdKeyRange, revision: number): EtcdEntry[] {
    const keys = [...this.#versions.keys()].filter((key) => key >= from && key < end).toSorted();
    return keys.flatMap((key) => this.#find(key, revision) ?? []);
  }

  #find(key: string, atRevision: number): EtcdEntry | undefined {
    const { revision, value } =
      this.#versions.get(key)?.findLast((version) => version.revision <= atRevision) ?? {};
    return revision === undefined || value === undefined
      ? undefined
      : { key, value, modRevision: revision };
  }

  #write(key: string, value: Uint8Array | undefined, revision: number): void {
    const versions = this.#versions.get(key) ?? [];
    versions.push({ revision, value });
    this.#versions.set(key, versions);
    if (value !== undefined) this.#events.push({ key, value, modRevision: revision });
  }
}
