/**
 * Writes a site's records to etcd in groups, each under a key that must not exist, while the key of the group before it must.
 * So groups in flight cannot overtake each other. A group that was sent once stays as it is: it is sent again until it was
 * seen in the log, and a repetition finds its key there.
 */
import type { Origin } from '../../records/origin.ts';
import { createEpochAbove } from '../../records/epoch.ts';
import type { LogCopy } from '../log-copy.ts';
import type { EtcdAnswer, EtcdCalls } from './etcd-calls.ts';
import { encodeGroup, MAX_GROUP_RECORDS } from './etcd-groups.ts';
import type { EtcdKeys } from './etcd-keys.ts';

/** How many groups are in flight at a time. */
const MAX_GROUPS = 4;

export interface EtcdProposerOptions<R> {
  readonly site: Origin;
  readonly keys: EtcdKeys;
  readonly calls: EtcdCalls;
  readonly copy: LogCopy<R>;
  readonly maxRecords: number | undefined;
  /** A write was done, or refused for lack of room. */
  onRoom(hasRoom: boolean): void;
}

export interface SentGroup {
  readonly key: string;
  readonly value: Uint8Array;
  readonly last: number;
  isAsked: boolean;
  /** Etcd has refused it, since the group before it was not there: it is sent again once that is stored. */
  isEarly: boolean;
  /** When etcd has confirmed it. */
  storedAtMs: number | undefined;
}

export class EtcdProposer<R> {
  protected readonly options: EtcdProposerOptions<R>;
  /** Records that are in no group yet. */
  readonly #unsent = new Set<R>();
  readonly #sent: SentGroup[] = [];
  #next: number;
  #start: number;

  constructor(options: EtcdProposerOptions<R>, start: number) {
    this.options = options;
    const known = options.copy.progress.get(options.site)?.epoch ?? 0;
    this.#start = this.chooseStart(known, start);
    this.#next = this.getFirst();
  }

  /** The epoch under which it proposes. */
  get start(): number {
    return this.#start;
  }

  get isBusy(): boolean {
    return this.#unsent.size > 0 || this.#sent.length > 0;
  }

  /** Since when a group that is stored was not seen in the log; `Infinity` if there is none. */
  get unseenSinceMs(): number {
    return this.#sent[0]?.storedAtMs ?? Infinity;
  }

  propose(record: R): void {
    this.#unsent.add(record);
  }

  withdraw(record: R): boolean {
    return this.#unsent.delete(record);
  }

  /** Sends what can be sent; to be called only while all that etcd has is known. */
  sendNext(): void {
    for (const group of this.#sent) if (!group.isAsked || this.#isNext(group)) this.#send(group);
    while (this.#sent.length < MAX_GROUPS && this.#unsent.size > 0) this.#send(this.#makeGroup());
  }

  /** What was sent may be lost, with the connection. */
  onDisconnected(): void {
    for (const group of this.#sent) [group.isAsked, group.isEarly, group.storedAtMs] = [false, false, undefined];
  }

  /** A group of this site was taken from the log. Returns whether this start can go on. */
  onTaken(start: number, last: number): boolean {
    if (start < this.#start) return true;
    if (start === this.#start) {
      while ((this.#sent[0]?.last ?? Infinity) <= last) this.#sent.shift();
      return true;
    }
    // The files here do not know that start. As long as this one has sent nothing, it can take a number above it.
    if (this.#next > 1) return false;
    this.#start = createEpochAbove(start, this.#start);
    return true;
  }

  /** The group that has to be stored before this one, unless it is known to be. */
  protected getPredecessor(group: SentGroup): SentGroup | undefined {
    const before = this.#sent[this.#sent.indexOf(group) - 1];
    return before?.storedAtMs === undefined ? before : undefined;
  }

  /** How much of the log it has taken, as sites count it. */
  protected get position(): number {
    return this.options.copy.length;
  }

  protected chooseStart(known: number, start: number): number {
    return known < start ? start : createEpochAbove(known, start);
  }

  /** The number of the first record of this start. */
  protected getFirst(): number {
    return 1;
  }

  /** Whether it was too early for a group that is not too early any more. */
  #isNext(group: SentGroup): boolean {
    return group.isEarly && this.getPredecessor(group) === undefined;
  }

  #makeGroup(): SentGroup {
    const { copy, keys, site, maxRecords = MAX_GROUP_RECORDS } = this.options;
    const place = { position: this.position, digest: copy.getDigest(copy.length) ?? null };
    const limit = Math.min(maxRecords, MAX_GROUP_RECORDS);
    const { value, count } = encodeGroup({ first: this.#next, ...place }, this.#unsent, limit);
    let sentCount = 0;
    for (const record of this.#unsent) {
      if (sentCount++ === count) break;
      this.#unsent.delete(record);
    }
    this.#next += count;
    const last = this.#next - 1;
    const key = keys.formatGroup(site, this.#start, last);
    const group = { key, value, last, isAsked: false, isEarly: false, storedAtMs: undefined };
    this.#sent.push(group);
    return group;
  }

  #send(group: SentGroup): void {
    [group.isAsked, group.isEarly] = [true, false];
    const { key, value } = group;
    const after = this.getPredecessor(group)?.key;
    const request = { kind: 'etcd.create', key, value, ...(after !== undefined && { after }) } as const;
    this.options.calls.call(request, (answer) => this.#onAnswer(group, answer));
  }

  /** After a failure it is sent again at a tick. */
  #onAnswer(group: SentGroup, answer: EtcdAnswer): void {
    if (answer.kind === 'etcd.created') {
      group.storedAtMs = this.options.calls.nowMs;
      const next = this.#sent[this.#sent.indexOf(group) + 1];
      if (next !== undefined && this.#isNext(next)) this.#send(next);
      return this.options.onRoom(true);
    }
    if (answer.kind === 'etcd.failed' && answer.reason === 'early') {
      group.isEarly = true;
      if (this.#isNext(group)) this.#send(group);
      return;
    }
    group.isAsked = false;
    if (answer.kind === 'etcd.failed' && answer.reason === 'no-space') this.options.onRoom(false);
  }
}
