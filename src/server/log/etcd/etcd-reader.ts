/**
 * Reads the groups of the log in the order of revisions: after each connection all that the copy
 * lacks, at one revision, then the events of a watch from the next revision on. So no place has to
 * be saved.
 */
import type { LogProgress } from '../log-copy.ts';
import type { EntryName } from '../../service/records/records.ts';
import type { EtcdCalls } from './etcd-calls.ts';
import { EtcdCatchUp, PAGE_GROUPS } from './etcd-catch-up.ts';
import type { EtcdKeys } from './etcd-keys.ts';
import type { EtcdAnswer, EtcdEntry, EtcdKeyRange } from './etcd-requests.ts';

export interface GroupTaker {
  /** Returns `false` if it can take no more entries. */
  take(entry: EtcdEntry): boolean;
  /** All that etcd had is taken: what comes now is new. */
  onCaughtUp(): void;
  /** What the copy lacks was trimmed. */
  onBehind(): void;
  /** The log lacks entries that were read before. */
  onRegressed(message: string): void;
  /** A request has failed: another endpoint may do better. */
  onUnusable(problem: string | undefined): void;
}

/** How far the own copy of the log is. */
interface ReadCopy {
  readonly length: number;
  readonly progress: LogProgress;
  readonly last: EntryName | undefined;
}

export interface EtcdReaderOptions {
  readonly keys: EtcdKeys;
  readonly calls: EtcdCalls;
  readonly copy: ReadCopy;
  /** How many entries the log had when it was restored: only the sites' copies have them. */
  readonly baseLength: number;
  /** Default: `PAGE_GROUPS` */
  readonly pageGroups?: number | undefined;
  readonly taker: GroupTaker;
}

export class EtcdReader {
  readonly #options: EtcdReaderOptions;
  /**
   * The revision up to which everything was taken, as etcd numbers what it stores. It means nothing
   * to other sites.
   */
  #cursor = 0;
  #catchUp: EtcdCatchUp | undefined;
  /** The last entry of the copy at the last connection, until its group was seen again. */
  #unseen: EntryName | undefined;
  /** Up to where the log was trimmed, as of the last connection. */
  #trimmed: number;
  #isWatching = false;
  /**
   * How many groups a request reads: half as many after each catch-up that was cut short, since the
   * link may be slow.
   */
  #pageGroups: number;
  #isIncomplete = false;

  constructor(options: EtcdReaderOptions) {
    this.#options = options;
    this.#pageGroups = this.#maxPageGroups;
    this.#trimmed = options.baseLength;
  }

  get #maxPageGroups(): number {
    return this.#options.pageGroups ?? PAGE_GROUPS;
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  stop(): void {
    this.#isWatching = false;
    this.#catchUp = undefined;
  }

  /** Begins to read: at a new connection, or when the watch has ended. */
  begin(): void {
    this.stop();
    this.#pageGroups = this.#isIncomplete ? Math.max(1, this.#pageGroups / 2) : this.#maxPageGroups;
    this.#isIncomplete = true;
    const { keys, copy } = this.#options;
    this.#unseen = copy.last;
    this.#catchUp = new EtcdCatchUp(keys, copy.progress, copy.last);
    this.#readTrims(keys.trims.key, 0);
  }

  /**
   * Etcd replies with its present revision. One below the cursor shows that etcd was put back to an
   * older state.
   */
  noteRevision(revision: number): boolean {
    if (revision >= this.#cursor) return true;
    const message = `etcd is at revision ${revision}, and was at ${this.#cursor}: it was put back to an older state`;
    this.#options.taker.onRegressed(message);
    return false;
  }

  /** Requests up to which revision the watch has sent all events. */
  askProgress(): void {
    this.#options.calls.call({ kind: 'etcd.progress' }, (answer) => {
      if (answer.kind !== 'etcd.progress') return this.#onUnusable(answer);
      if (this.noteRevision(answer.revision)) this.#cursor = answer.revision;
    });
  }

  /** All other reads are at the revision of the first reply. */
  #readTrims(from: string, revision: number): void {
    const { keys, calls, copy, taker } = this.#options;
    const range = { key: from, end: keys.trims.end };
    calls.call({ kind: 'etcd.range', ...range, limit: this.#maxPageGroups, revision }, (answer) => {
      if (answer.kind !== 'etcd.range') return this.#onFailed(answer);
      if (!this.noteRevision(answer.revision)) return;
      const pinned = revision === 0 ? answer.revision : revision;
      const last = answer.entries.at(-1);
      if (last !== undefined) this.#trimmed = Math.max(this.#trimmed, keys.parseTrim(last.key));
      if (answer.hasMore && last !== undefined) return this.#readTrims(`${last.key}\0`, pinned);
      if (this.isBehind(this.#trimmed, copy.length)) return taker.onBehind();
      if (this.#trimmed >= copy.length) this.#unseen = undefined;
      this.#goOn(pinned);
    });
  }

  isBehind(trimmed: number, length: number): boolean {
    return trimmed > length;
  }

  #goOn(revision: number): void {
    const catchUp = this.#catchUp;
    for (;;) {
      // An entry that was taken may have ended this catch-up.
      if (catchUp === undefined || catchUp !== this.#catchUp) return;
      const step = catchUp.takeStep();
      if (step.kind === 'read') return this.#readLane(step.range, revision);
      if (step.kind === 'done') return this.#onRead(revision);
      if (!this.#takeAgain(step.entry)) return;
    }
  }

  #readLane(range: EtcdKeyRange, revision: number): void {
    const request = {
      kind: 'etcd.range',
      ...range,
      limit: this.#pageGroups,
      revision,
    } as const;
    this.#options.calls.call(request, (answer) => {
      if (answer.kind !== 'etcd.range') return this.#onFailed(answer);
      this.#catchUp?.onRange(answer.entries, answer.hasMore);
      this.#goOn(revision);
    });
  }

  /** The group of the last entry here comes before all that is new. */
  #takeAgain(entry: EtcdEntry): boolean {
    const { keys, taker } = this.#options;
    const name = keys.parseGroup(entry.key);
    const last = this.#unseen;
    if (
      last !== undefined &&
      name?.site === last.origin &&
      name.start === last.epoch &&
      name.last >= last.sequence
    )
      this.#unseen = undefined;
    return this.#isComplete() && taker.take(entry);
  }

  #isComplete(): boolean {
    const last = this.#unseen;
    if (last === undefined) return true;
    const { copy, taker } = this.#options;
    taker.onRegressed(
      `etcd lacks entry ${copy.length} of the log, which is here: it was put back to an older state`,
    );
    return false;
  }

  #onRead(revision: number): void {
    if (!this.#isComplete()) return;
    const { keys, calls, taker } = this.#options;
    this.#catchUp = undefined;
    this.#isIncomplete = false;
    this.#cursor = revision;
    this.#isWatching = true;
    calls.call({ kind: 'etcd.watch', ...keys.groups, fromRevision: revision + 1 }, (answer) =>
      this.#onWatch(answer),
    );
    taker.onCaughtUp();
  }

  #onWatch(answer: EtcdAnswer): void {
    if (answer.kind === 'etcd.canceled') return this.begin();
    if (answer.kind !== 'etcd.events') return this.#onUnusable(answer);
    for (const entry of answer.entries) {
      if (!this.#isWatching || !this.#options.taker.take(entry)) return;
      this.#cursor = Math.max(this.#cursor, entry.modRevision);
    }
  }

  /** If what is read was compacted meanwhile, all is read at a newer revision. */
  #onFailed(answer: EtcdAnswer): void {
    if (answer.kind === 'etcd.failed' && answer.reason === 'compacted') this.begin();
    else this.#onUnusable(answer);
  }

  #onUnusable(answer: EtcdAnswer): void {
    this.#options.taker.onUnusable('message' in answer ? answer.message : undefined);
  }
}
