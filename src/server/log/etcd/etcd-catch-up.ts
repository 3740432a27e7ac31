/**
 * Reads what etcd has of the log beyond a site's copy, at one revision and in the order of
 * revisions, a few groups at a time.
 *
 * Etcd returns keys in their own order cheaply. For any other order it reads all of them. So the
 * groups of each start of each site are read by key, as a
 * *lane*. A start writes one group at a time, so its groups are in the order of
 * revisions, too. The next group is the one with the smallest revision of all lanes.
 */
import type { Origin } from '../../service/records/origin.ts';
import type { LogProgress } from '../log-copy.ts';
import type { EntryName } from '../../service/records/records.ts';
import type { EtcdKeys, GroupName } from './etcd-keys.ts';
import type { EtcdEntry, EtcdKeyRange } from './etcd-requests.ts';

/** How many keys one request reads. */
export const PAGE_GROUPS = 8;

interface Lane {
  /** Where to read on; `undefined` at its end. */
  next: EtcdKeyRange | undefined;
  readonly entries: EtcdEntry[];
}

export type CatchUpStep =
  | { readonly kind: 'read'; readonly range: EtcdKeyRange }
  | { readonly kind: 'take'; readonly entry: EtcdEntry }
  | { readonly kind: 'done' };

export class EtcdCatchUp {
  readonly #keys: EtcdKeys;
  readonly #progress: LogProgress;
  readonly #lastSite: number;
  readonly #known: EntryName | undefined;
  readonly #lanes = new Map<string, Lane>();
  /** Where starts are looked for that have no lane yet. */
  #search: EtcdKeyRange | undefined;
  #searchedSite = 1;
  /** The lane that the last range was of; `undefined` if that was of the search. */
  #reading: Lane | undefined;

  /** @param last an entry that the copy has: its group is read again */
  constructor(keys: EtcdKeys, progress: LogProgress, last: EntryName | undefined) {
    this.#keys = keys;
    const from = new Map(progress);
    this.#known = last;
    if (last !== undefined) from.set(last.origin, { epoch: last.epoch, next: last.sequence });
    this.#progress = from;
    this.#lastSite = Math.max(0, ...progress.keys());
    this.#searchSite();
  }

  takeStep(): CatchUpStep {
    this.#reading = undefined;
    if (this.#search !== undefined) return { kind: 'read', range: this.#search };
    let first: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.entries.length === 0 && lane.next !== undefined) {
        this.#reading = lane;
        return { kind: 'read', range: lane.next };
      }
      if (getRevision(lane) < getRevision(first)) first = lane;
    }
    const entry = first?.entries.shift();
    return entry === undefined ? { kind: 'done' } : { kind: 'take', entry };
  }

  onRange(entries: readonly EtcdEntry[], hasMore: boolean): void {
    const last = entries.at(-1);
    const next = hasMore && last !== undefined ? `${last.key}\0` : undefined;
    if (this.#reading !== undefined) {
      this.#reading.entries.push(...entries);
      this.#reading.next =
        next === undefined ? undefined : { key: next, end: this.#reading.next?.end ?? '' };
      return;
    }
    for (const entry of entries) this.#addToLane(entry);
    const name = last && this.#keys.parseGroup(last.key);
    if (next === undefined || name === undefined) {
      this.#searchedSite += 1;
      return this.#searchSite();
    }
    // The last lane may go on; other starts come behind all of it.
    const end = this.#keys.getStartEnd(name.site, name.start);
    const lane = this.#lanes.get(end);
    if (lane !== undefined) lane.next = { key: next, end };
    this.#search = { key: end, end: this.#search?.end ?? '' };
  }

  #addToLane(entry: EtcdEntry): void {
    const name = this.#keys.parseGroup(entry.key);
    if (name === undefined) return;
    const end = this.#keys.getStartEnd(name.site, name.start);
    const lane = this.#lanes.get(end) ?? { next: undefined, entries: [] };
    this.#lanes.set(end, lane);
    lane.entries.push(this.#isKnown(name) ? { ...entry, modRevision: 0 } : entry);
  }

  /**
   * Whether it is the group of `last`. If it was trimmed and is stored again, its revision is above
   * those of later groups.
   */
  #isKnown({ site, start, last }: GroupName): boolean {
    const { origin, epoch, sequence } = this.#known ?? {};
    return site === origin && start === epoch && last === sequence;
  }

  /** Sites that are known, each from where the copy ends; then all that follow. */
  #searchSite(): void {
    const site = this.#searchedSite;
    const { epoch = 0, next = 0 } = this.#progress.get(site as Origin) ?? {};
    const key = this.#keys.formatGroup(site, epoch, next);
    if (site <= this.#lastSite) this.#search = { key, end: this.#keys.getSiteEnd(site) };
    else
      this.#search = site === this.#lastSite + 1 ? { key, end: this.#keys.groups.end } : undefined;
  }
}

function getRevision(lane: Lane | undefined): number {
  return lane?.entries[0]?.modRevision ?? Infinity;
}
