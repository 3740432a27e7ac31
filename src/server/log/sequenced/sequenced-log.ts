/**
 * A replicated log with a fixed leader, as a pure state machine: no timers, sockets or disks
 * inside.
 *
 * Sites propose to the leader, which gives each proposal the next position. The leader sends out
 * what is synced in its own log, so that a restart of it can never give a position to another
 * record. An entry is committed once a majority of the sites has it synced, and is then delivered
 * in order. Whatever comes twice or out of order changes nothing.
 *
 * What is lost is sent again, and nothing else is: a message of tens of megabytes may be on its
 * way, or be written to a disk, for many ticks. So a tick only sends a probe, behind all that was
 * sent before. Its answer names what has not arrived by then.
 */
import { Fifo } from '../../service/collections/fifo.ts';
import { measureRecord } from '../../service/records/memory-bytes.ts';
import { computeCommittedLength, type LoggedChange } from '../majority-commit.ts';
import type {
  LogEntry,
  LogMembers,
  LogOutput,
  RedLog,
  RedLogOptions,
  SavedLog,
} from '../red-log.ts';
import { createEpochAbove, MAX_START } from '../epoch.ts';
import type { StreamPoint } from '../../service/records/records.ts';
import type { Origin } from '../../service/records/origin.ts';
import { createPrefixDigest, type PrefixDigest } from '../prefix-digest.ts';
import { ProposerProgress } from './proposer-progress.ts';
import { createFollower, isLagging, mayAnnounceAgain, type Follower } from './follower.ts';
import { getKnownEpoch, OwnProposals } from './own-proposals.ts';
import { AskTimer, getFirstKept, isPassedOn } from './passing-on.ts';
import { DEFAULT_SEND_WINDOWS, type SendWindows } from '../send-windows.ts';
import type { SequencedMessage } from './sequenced-messages.ts';
import { DEFAULT_MACHINE_SIZES, limitBatch, type MachineSizes } from '../machine-sizes.ts';

type Output<R> = LogOutput<R, SequencedMessage<R>>;

export class SequencedLog<R> implements RedLog<R, SequencedMessage<R>> {
  readonly #options: Omit<RedLogOptions<R>, 'entries'>;
  readonly #isLeader: boolean;
  readonly #windows: SendWindows;
  readonly #sizes: MachineSizes;
  /** Entries from position `forgotten` on. */
  readonly #entries: Fifo<LogEntry<R>>;
  /** About how many bytes each of them takes in memory, and all of them. */
  readonly #entryBytes = new Fifo<number>();
  #retainedBytes = 0;
  #forgotten = 0;
  #synced: number;
  #committed = 0;
  #delivered = 0;
  readonly #digest: PrefixDigest;
  readonly #proposals: OwnProposals<R>;
  #lastProbe = 0;
  /** At the leader: the proposals that come next, by proposer. */
  readonly #progress: ProposerProgress;
  /** The same for delivered entries only. */
  readonly #deliveredProgress: ProposerProgress;
  /** At the leader: the other sites. */
  readonly #followers = new Map<Origin, Follower>();
  #sites: readonly Origin[];
  readonly #askTimer: AskTimer;
  /** Sites that count for a majority. */
  #voters: readonly Origin[];
  #hasNonVoter: boolean;
  /** Places of undelivered entries that may change the sites, and the sites that they remove. */
  readonly #changes = new Fifo<LoggedChange>();
  /**
   * Whether a delivered entry may have changed the sites. Then nothing is delivered before
   * `setMembers`.
   */
  #isWaiting = false;
  #outputs: Output<R>[] = [];

  constructor({ entries = [], ...options }: RedLogOptions<R>) {
    this.#options = options;
    this.#isLeader = options.site === options.leader;
    const { sites, voters = sites } = options;
    [this.#sites, this.#voters] = [sites, voters];
    this.#askTimer = new AskTimer(options.resendAfterMs);
    this.#hasNonVoter = sites.some((site) => !voters.includes(site));
    this.#windows = { ...DEFAULT_SEND_WINDOWS, ...options.windows };
    this.#sizes = options.sizes ?? DEFAULT_MACHINE_SIZES;
    this.#entries = new Fifo(entries);
    for (const entry of entries) this.#count(entry);
    this.#forgotten = options.start ?? 0;
    this.#synced = this.length;
    this.#delivered = options.saved?.delivered ?? 0;
    const { createDigest = createPrefixDigest } = options;
    this.#digest = createDigest(this.#delivered, this.#delivered === 0 ? 0 : options.saved?.digest);
    this.#committed = Math.max(this.#delivered, options.committed ?? 0);
    const known = getKnownEpoch(options, entries);
    this.#proposals = new OwnProposals(
      { ...options, maxProposed: this.#windows.maxProposed },
      known,
      (message) => this.#send(options.leader, message),
    );
    this.#progress = new ProposerProgress(options.saved?.progress);
    this.#deliveredProgress = new ProposerProgress(options.saved?.progress);
    this.#setFollowers(sites);
    const undelivered = this.#entries.slice(this.#delivered - this.#forgotten);
    for (const entry of undelivered) {
      this.#noteProposal(entry);
      this.#digest.add(entry, this.#forgotten);
    }
    this.#noteChanges(undelivered, this.#delivered);
    this.#advanceCommitted();
    if (this.#proposals.epoch > MAX_START) this.#stopAt(known);
  }

  save(): SavedLog {
    const delivered = this.#delivered;
    const digest = this.#digest.at(delivered);
    const saved = {
      delivered,
      position: { seq: delivered, index: 0 },
      identity: this.identity(),
      progress: this.#deliveredProgress.save(),
    };
    return digest === undefined ? saved : { ...saved, digest };
  }

  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  get end(): StreamPoint {
    return { length: this.#synced, digest: this.#digest.at(this.#synced) };
  }

  identity(): string {
    return this.#options.identity ?? 'red';
  }

  digest(length: number): number | undefined {
    return this.#digest.at(length);
  }

  /**
   * The site's storage cuts its copy. Entries that the leader sends to others stay here until they
   * have them.
   */
  release(): void {}

  get retainedFrom(): number {
    return Math.max(this.#forgotten, Math.min(this.#delivered, ...this.#matchedLengths()));
  }

  get backlogLength(): number {
    return this.#delivered - this.retainedFrom;
  }

  getBacklog(site: Origin): number {
    const follower = this.#followers.get(site);
    return follower === undefined
      ? 0
      : this.#delivered - Math.max(this.#forgotten, follower.matched ?? 0);
  }

  getConfirmed(site: Origin): number {
    return this.#followers.get(site)?.matched ?? 0;
  }

  takeOutputs(): Output<R>[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  get isBusy(): boolean {
    if (!this.#proposals.isEmpty || this.#delivered < this.length) return true;
    // This is called after every input. It is a loop, because a list would be allocated at each
    // call.
    for (const follower of this.#followers.values()) if (this.#isLagging(follower)) return true;
    return false;
  }

  propose(record: R, nowMs: number): void {
    if (this.#isLeader) this.#store([this.#proposals.createEntry(record)]);
    else this.#proposals.add(record, nowMs);
  }

  setMembers({ sites, voters }: LogMembers): void {
    this.#sites = sites;
    this.#voters = voters;
    this.#hasNonVoter = sites.some((site) => !voters.includes(site));
    this.#setFollowers(sites);
    this.#isWaiting = false;
    this.#advanceCommitted();
  }

  withdraw(record: R): boolean {
    return this.#proposals.withdraw(record);
  }

  /**
   * Takes a message. It ignores a site that takes another site for the leader, because the position
   * that it assigns may be another record's.
   */
  receive(from: Origin, message: SequencedMessage<R>, nowMs: number): void {
    switch (message.kind) {
      case 'log.propose':
        if (this.#isLeader) this.#onPropose(from, message);
        return;
      case 'log.append':
        if (from === this.#options.leader || this.#continuesHere(message))
          this.#onAppend(from, message);
        return;
      case 'log.check':
        if (this.#isLeader) this.#onCheck(from, message);
        return;
      case 'log.checked':
        if (from === this.#options.leader) this.#proposals.onChecked(message);
        return;
      case 'log.appended':
        return this.#isLeader
          ? this.#onAppended(from, message, nowMs)
          : this.#passOn(from, message);
      case 'log.gone':
        if (from === this.#options.leader && message.length === this.length)
          this.#outputs.push({ kind: 'behind' });
    }
  }

  onSynced(length: number): void {
    if (length <= this.#synced) return;
    this.#synced = length;
    if (this.#isLeader) this.#sendNews();
    else this.#confirm();
    this.#advanceCommitted();
  }

  tick(nowMs: number): void {
    this.#probeFollowers(nowMs);
    // It is unknown whether some entries that are held here are committed. The leader answers that.
    if (!this.#isLeader && this.#delivered < this.#synced) this.#confirm();
    this.#proposals.tick(nowMs);
  }

  /**
   * Another site depends on entries that are not here, and the leader may be lost. So this node
   * sends its length of the log to the followers.
   */
  catchUp(nowMs: number): void {
    const { site, leader } = this.#options;
    if (this.#isLeader || !this.#askTimer.isDue(nowMs)) return;
    for (const other of this.#sites)
      if (other !== site && other !== leader) this.#send(other, this.#createConfirmation());
  }

  /** Returns the length that the leader may send: what is synced in its own log. */
  getSendableLength(): number {
    return this.#synced;
  }

  /** Returns the length that a majority holds, as far as this node knows. */
  #getMajorityLength(): number {
    const { site: own, leader } = this.#options;
    const majority = Math.floor(this.#voters.length / 2) + 1;
    if (!this.#isLeader) {
      // Entries of a follower are synced at the leader too. Two of three sites are a majority, if
      // both have a vote: a log that was restored with a loss may have a leader without one.
      const votes = (site: Origin): boolean => this.#voters.includes(site);
      if (majority > 2 || !votes(own) || !votes(leader)) return this.#committed;
      const removal = this.#changes.slice().find(({ closes }) => closes.includes(own));
      return Math.min(this.#synced, removal?.position ?? Infinity);
    }
    return computeCommittedLength(this.#voters, this.#changes.slice(), (site) =>
      site === own ? this.#synced : (this.#followers.get(site)?.matched ?? 0),
    );
  }

  /**
   * At the leader: sets the sites that get the log. It is unknown what a new one has, so all
   * entries are kept for it from now on.
   */
  #setFollowers(sites: readonly Origin[]): void {
    if (!this.#isLeader) return;
    for (const site of this.#followers.keys())
      if (!sites.includes(site)) this.#followers.delete(site);
    for (const site of sites) {
      if (site === this.#options.site || this.#followers.has(site)) continue;
      this.#followers.set(site, createFollower(this.#synced));
    }
  }

  /** @param position the position of the first entry */
  #noteChanges(entries: readonly LogEntry<R>[], position: number): void {
    const { getMemberChange } = this.#options;
    if (getMemberChange === undefined) return;
    for (const [index, { record }] of entries.entries()) {
      const change = getMemberChange(record);
      if (change !== undefined) this.#changes.push({ ...change, position: position + index });
    }
  }

  /** The number of entries of its log, including forgotten ones. */
  get length(): number {
    return this.#forgotten + this.#entries.size;
  }

  #matchedLengths(): number[] {
    return [...this.#followers.values()].map(({ matched }) => matched ?? 0);
  }

  #isLagging(follower: Follower): boolean {
    const announced = this.#mustAnnounce ? this.#committed : 0;
    return isLagging(follower, this.length, announced);
  }

  /**
   * Whether a follower cannot see from its own log what a majority has. That is so with more than
   * three sites, or without a vote.
   */
  get #mustAnnounce(): boolean {
    return this.#voters.length > 3 || this.#hasNonVoter;
  }

  #onPropose(from: Origin, message: SequencedMessage<R> & { kind: 'log.propose' }): void {
    const { epoch, sequence, record } = message;
    // Any other proposal is a repetition, or comes after a lost one and will come again in order.
    if (sequence === this.#progress.getNext(from, epoch))
      this.#store([{ origin: from, epoch, sequence, record }]);
  }

  #onCheck(from: Origin, { epoch, probe }: SequencedMessage<R> & { kind: 'log.check' }): void {
    const next = this.#progress.getNext(from, epoch);
    if (next === undefined) return;
    this.#send(from, { kind: 'log.checked', epoch, next, probe });
  }

  /** Another follower lacks what is delivered here. */
  #passOn(to: Origin, { length, committed }: SequencedMessage<R> & { kind: 'log.appended' }): void {
    const position = Math.min(length, this.#delivered);
    if (committed >= this.#delivered || position < this.#forgotten) return;
    const missing = this.#delivered - position;
    const end = position + limitBatch(this.#sizes, missing);
    const entries = this.#getEntries(position, end);
    const digest = this.#digest.at(position);
    if (digest !== undefined)
      this.#send(to, {
        kind: 'log.append',
        position,
        entries,
        committed: end,
        digest,
      });
  }

  /** Whether a follower has passed on what can be compared with what is here. */
  #continuesHere(message: SequencedMessage<R> & { kind: 'log.append' }): boolean {
    const here = this.#digest.at(message.position);
    return !this.#isLeader && isPassedOn(message) && here !== undefined;
  }

  #onAppend(
    from: Origin,
    { position, entries, committed, digest, probe }: SequencedMessage<R> & { kind: 'log.append' },
  ): void {
    const here = this.#digest.at(position);
    if (here !== undefined && digest !== undefined && here !== digest) {
      const message = `the first ${position} entries of its red log are not those that are here`;
      this.#outputs.push({ kind: 'fork', origin: from, message });
      return;
    }
    const news = entries.slice(Math.max(0, this.length - position));
    const last = news.find((entry) => this.#hasNoHigherEpoch(entry));
    if (last !== undefined) return this.#stopAt(last.epoch);
    const isNext = position <= this.length;
    if (isNext && news.length > 0) this.#store(news);
    // The follower answers even if nothing is new, because its last answer may have been lost.
    const answers = news.length === 0 || !isNext;
    this.#committed = Math.max(this.#committed, committed);
    this.#advanceCommitted();
    if (answers) this.#confirm(probe);
  }

  #onAppended(
    from: Origin,
    message: SequencedMessage<R> & { kind: 'log.appended' },
    nowMs: number,
  ): void {
    const { length, committed, received, probe } = message;
    const follower = this.#followers.get(from);
    if (follower === undefined) return;
    // The message is old, or its sender was away for too long. The sender knows which.
    if (length < this.#forgotten) return this.#send(from, { kind: 'log.gone', length });
    // A restarted follower knows less than before, so its last message counts.
    follower.committed = committed;
    // It was assumed to have everything that this start has found.
    if (follower.matched === undefined && length < follower.baseLength) follower.sent = length;
    if (probe !== undefined && probe === follower.probe) {
      follower.probe = undefined;
      follower.sent = Math.min(follower.sent, Math.max(received ?? 0, this.#forgotten));
    }
    if (length > (follower.matched ?? -1)) {
      follower.matched = follower.baseLength = length;
      follower.movedAtMs = nowMs;
      follower.probe = undefined;
      follower.sent = Math.max(follower.sent, length);
    }
    // A follower may have no vote according to what it has delivered. Then it has to ask what is
    // committed.
    else if (mayAnnounceAgain(follower, this.#committed, nowMs, this.#options))
      this.#announceTo(from, follower);
    this.#advanceCommitted();
    this.#sendWindow(from, follower);
  }

  /**
   * Reports to the leader how much of the log is stored here.
   *
   * @param probe the number of the leader's probe, if this is the answer to one
   */
  #confirm(probe?: number): void {
    this.#send(this.#options.leader, this.#createConfirmation(probe));
  }

  #createConfirmation(probe?: number): SequencedMessage<R> {
    return {
      kind: 'log.appended',
      length: this.#synced,
      committed: this.#committed,
      ...(probe !== undefined && { received: this.length, probe }),
    };
  }

  #store(entries: readonly LogEntry<R>[]): void {
    for (const entry of entries) this.#noteProposal(entry);
    this.#noteChanges(entries, this.length);
    for (const entry of entries) {
      // If a log came back shorter than it has delivered, the digest does not belong to it. A site
      // that lacks entries compares the digest of those before them, so it is known as far back as
      // entries are kept.
      if (this.length === this.#digest.count) this.#digest.add(entry, this.#forgotten);
      this.#entries.push(entry);
      this.#count(entry);
    }
    this.#storeOutput(entries);
    if (this.#isLeader) this.#sendNews();
  }

  /** Consecutive entries are stored by one output. */
  #storeOutput(entries: readonly LogEntry<R>[]): void {
    const last = this.#outputs.at(-1);
    if (last?.kind === 'store') (last.entries as LogEntry<R>[]).push(...entries);
    else this.#outputs.push({ kind: 'store', entries: [...entries] });
  }

  #noteProposal(entry: LogEntry<R>): void {
    this.#progress.note(entry);
    this.#proposals.onLogged(entry);
  }

  /**
   * Whether the entry has the highest possible epoch of this site. Proposals of this start would be
   * refused for ever.
   */
  #hasNoHigherEpoch({ origin, epoch }: LogEntry<R>): boolean {
    const { site, epoch: value } = this.#options;
    return (
      origin === site && epoch > this.#proposals.epoch && createEpochAbove(epoch, value) > MAX_START
    );
  }

  /**
   * Epochs begin far below that. So this is the log of another deployment, or another process has
   * used the name of this site.
   */
  #stopAt(epoch: number): void {
    const message = `it has an entry of start ${epoch} of this site, above which nothing can be proposed`;
    this.#outputs.push({ kind: 'regressed', message });
  }

  #sendNews(): void {
    for (const [site, follower] of this.#followers) this.#sendWindow(site, follower);
  }

  /**
   * Sends entries that were not sent, up to the window. A site that is away does not get everything
   * that it misses.
   */
  #sendWindow(site: Origin, follower: Follower): void {
    if (follower.probe !== undefined) return;
    const sendable = Math.min(
      this.getSendableLength(),
      follower.baseLength + this.#windows.maxAppended,
    );
    while (follower.sent < sendable) this.#sendBatch(site, follower, sendable);
  }

  #sendBatch(site: Origin, follower: Follower, sendable: number): void {
    const position = follower.sent;
    if (position < this.#forgotten)
      throw new Error(`entry ${position} is gone: the log begins at ${this.#forgotten}`);
    const end = position + limitBatch(this.#sizes, sendable - position);
    follower.announced = this.#committed;
    this.#append(site, position, this.#getEntries(position, end));
    follower.sent = end;
  }

  #getEntries(position: number, end: number): readonly LogEntry<R>[] {
    return this.#entries.slice(position - this.#forgotten, end - this.#forgotten);
  }

  /** Probes followers that have not advanced for long. */
  #probeFollowers(nowMs: number): void {
    for (const [site, follower] of this.#followers) {
      if (!this.#isLagging(follower) || nowMs - follower.movedAtMs < this.#options.resendAfterMs)
        continue;
      follower.movedAtMs = nowMs;
      // A follower with all entries may only not know what is committed.
      if (follower.matched !== this.length) follower.probe ??= ++this.#lastProbe;
      this.#announceTo(site, follower);
    }
  }

  #advanceCommitted(): void {
    if (!this.#isWaiting) this.#commitAndDeliver();
    this.#forgetOld();
  }

  /**
   * Commits and delivers. Entries behind a record that may change the sites need a majority of the
   * sites after that change.
   */
  #commitAndDeliver(): void {
    const change = this.#changes.at(0)?.position ?? Infinity;
    const majority = Math.min(this.#getMajorityLength(), change + 1);
    if (majority > this.#committed) {
      this.#committed = majority;
      if (this.#mustAnnounce)
        for (const [site, follower] of this.#followers) this.#announceTo(site, follower);
    }
    const end = Math.min(this.#committed, this.#synced, change + 1);
    if (this.#delivered >= end) return;
    this.#isWaiting = end > change;
    if (this.#isWaiting) this.#changes.shift();
    this.#deliverUpTo(end);
  }

  #deliverUpTo(end: number): void {
    const from = this.#delivered;
    const records: R[] = [];
    for (; this.#delivered < end; this.#delivered += 1) {
      const entry = this.#entries.at(this.#delivered - this.#forgotten) as LogEntry<R>;
      this.#deliveredProgress.note(entry);
      records.push(entry.record);
    }
    this.#outputs.push({ kind: 'deliver', from, next: end, records });
  }

  /**
   * Sends an append without entries. It reports what is committed, and the answer reports how much
   * the follower has.
   */
  #announceTo(site: Origin, follower: Follower): void {
    follower.announced = this.#committed;
    this.#append(site, follower.sent, [], follower.probe);
  }

  #append(site: Origin, position: number, entries: readonly LogEntry<R>[], probe?: number): void {
    const digest = this.#digest.at(position);
    this.#send(site, {
      kind: 'log.append',
      position,
      entries,
      committed: this.#committed,
      ...(digest !== undefined && { digest }),
      ...(probe !== undefined && { probe }),
    });
  }

  /**
   * Forgets entries that are delivered here and, at the leader, synced at all sites. A follower
   * keeps the last ones, which another one may lack when the leader is lost.
   */
  #forgetOld(): void {
    const known = this.#isLeader
      ? Math.min(this.#delivered, ...this.#matchedLengths())
      : getFirstKept(this.#sizes, this.#delivered, this.#forgotten);
    for (; this.#forgotten < known; this.#forgotten += 1) {
      this.#entries.shift();
      this.#retainedBytes -= this.#entryBytes.shift() ?? 0;
    }
  }

  #count({ record }: LogEntry<R>): void {
    const bytes = measureRecord(record);
    this.#entryBytes.push(bytes);
    this.#retainedBytes += bytes;
  }

  #send(to: Origin, message: SequencedMessage<R>): void {
    this.#outputs.push({ kind: 'send', to, message });
  }
}
