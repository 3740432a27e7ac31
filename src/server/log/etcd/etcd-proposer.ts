/**
 * Writes a site's records to etcd in groups, one after the other, each under a key that must not
 * exist. A group that was sent once stays as it is: it is sent again until it was seen in the log,
 * and a repetition finds its key there.
 */
import type { Origin } from '../../service/records/origin.ts';
import { createEpochAbove } from '../epoch.ts';
import type { LogCopy } from '../log-copy.ts';
import type { EtcdCalls } from './etcd-calls.ts';
import type { EtcdAnswer } from './etcd-requests.ts';
import { encodeGroup, MAX_GROUP_RECORDS } from './etcd-groups.ts';
import type { EtcdKeys } from './etcd-keys.ts';

/** How many groups may be stored that this site has not yet seen in the log. */
const MAX_UNSEEN = 4;

export interface EtcdProposerOptions<R> {
  readonly site: Origin;
  readonly keys: EtcdKeys;
  readonly calls: EtcdCalls;
  readonly copy: LogCopy<R>;
  readonly maxRecords: number | undefined;
  /** A write was done, or refused for lack of room. */
  onRoom(hasRoom: boolean): void;
}

interface SentGroup {
  readonly key: string;
  readonly value: Uint8Array;
  readonly last: number;
  isAsked: boolean;
  storedAtMs: number | undefined;
}

export class EtcdProposer<R> {
  readonly #options: EtcdProposerOptions<R>;
  readonly #unsent = new Set<R>();
  readonly #sent: SentGroup[] = [];
  #next: number;
  #start: number;

  /**
   * @param start the epoch under which it proposes, above those that the log has of its site
   * @param first the number of its first record
   */
  constructor(options: EtcdProposerOptions<R>, start: number, first = 1) {
    this.#options = options;
    this.#start = start;
    this.#next = first;
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
    let unstored = 0;
    for (const group of this.#sent) {
      if (group.storedAtMs !== undefined) continue;
      if (!group.isAsked) this.#send(group);
      if (++unstored === this.maxUnstored) return;
    }
    while (unstored++ < this.maxUnstored && this.#sent.length < MAX_UNSEEN && this.#unsent.size > 0)
      this.#send(this.#makeGroup());
  }

  /** What was sent may be lost, with the connection. */
  onDisconnected(): void {
    for (const group of this.#sent) [group.isAsked, group.storedAtMs] = [false, undefined];
  }

  /** A group of this site was taken from the log. Returns whether this start can go on. */
  onTaken(start: number, last: number): boolean {
    if (start < this.#start) return true;
    if (start === this.#start) {
      while ((this.#sent[0]?.last ?? Infinity) <= last) this.#sent.shift();
      return true;
    }
    // The files here do not know that start. As long as this one has sent nothing, it can take a
    // number above it.
    if (this.#next > 1) return false;
    this.#start = createEpochAbove(start, this.#start);
    return true;
  }

  /** How many groups that are not known to be stored are in flight. */
  get maxUnstored(): number {
    return 1;
  }

  /** How much of the log it has taken, as sites count it. */
  get position(): number {
    return this.#options.copy.length;
  }

  #makeGroup(): SentGroup {
    const { copy, keys, site, maxRecords = MAX_GROUP_RECORDS } = this.#options;
    const place = {
      position: this.position,
      digest: copy.getDigest(copy.length) ?? null,
    };
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
    const group = { key, value, last, isAsked: false, storedAtMs: undefined };
    this.#sent.push(group);
    return group;
  }

  #send(group: SentGroup): void {
    group.isAsked = true;
    const { key, value } = group;
    this.#options.calls.call({ kind: 'etcd.create', key, value }, (answer) =>
      this.#onAnswer(group, answer),
    );
  }

  /** After a failure it is sent again at a tick. */
  #onAnswer(group: SentGroup, answer: EtcdAnswer): void {
    if (answer.kind === 'etcd.created') {
      group.storedAtMs = this.#options.calls.nowMs;
      return this.#options.onRoom(true);
    }
    group.isAsked = false;
    if (answer.kind === 'etcd.failed' && answer.reason === 'no-space') this.#options.onRoom(false);
  }
}
