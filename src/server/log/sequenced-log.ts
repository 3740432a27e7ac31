/**
 * A replicated log with a fixed leader, as a pure state machine: no timers, sockets or disks inside.
 *
 * Sites propose to the leader, which gives each proposal the next position. The leader sends out what is synced in its
 * own log, so that a restart of it can never give a position to another record. An entry is committed once a majority
 * of the sites has it synced, and is then delivered in order. Whatever is lost is sent again at a tick; whatever comes
 * twice or out of order changes nothing.
 */
import { Fifo } from './fifo.ts';
import type { Log, LogEntry, LogMessage, LogOutput } from './log.ts';

/** How a node is set up. */
export interface SequencedLogOptions<R> {
  readonly site: number;
  readonly siteCount: number;
  readonly leader: number;
  /** Larger than at any earlier start of this node: tells its new proposals from old ones. */
  readonly epoch: number;
  /** What its log held at the start, all synced. */
  readonly entries?: readonly LogEntry<R>[];
  /** How long the leader and proposers wait for an answer before they send again. */
  readonly resendAfterMs: number;
}

interface Proposal<R> {
  readonly sequence: number;
  readonly record: R;
}

interface Progress {
  readonly epoch: number;
  next: number;
}

/** Entries in one `log.append`, and proposals sent again at one tick, at most. */
const APPEND_MAX = 256;
/** Entries that every node has are forgotten in bunches of at least this many. */
const FORGET_MIN = 1024;

/** One site's node of the log. */
export class SequencedLog<R> implements Log<R> {
  protected readonly options: SequencedLogOptions<R>;
  /** Entries from position `forgotten` on. */
  #entries: LogEntry<R>[];
  #forgotten = 0;
  protected synced: number;
  #committed = 0;
  #delivered = 0;
  /** Own proposals that are not yet in the log as this node sees it. */
  readonly #proposals = new Fifo<Proposal<R>>();
  #nextSequence = 1;
  #proposalsMoved = true;
  #proposedAtMs = 0;
  /** At the leader: what it expects from each proposer. */
  readonly #progress = new Map<number, Progress>();
  /** At the leader: how long each follower's synced log is, up to where it was sent, and when it last got on. */
  readonly #matched: number[];
  readonly #sent: number[];
  readonly #movedAtMs: number[];
  /** Which followers have answered since the start: only then is it known how much they have. */
  readonly #heard = new Set<number>();
  #outputs: LogOutput<R>[] = [];

  constructor(options: SequencedLogOptions<R>) {
    this.options = options;
    this.#entries = [...(options.entries ?? [])];
    this.synced = this.#entries.length;
    this.#matched = Array.from({ length: options.siteCount }, () => 0);
    this.#sent = Array.from({ length: options.siteCount }, () => this.synced);
    this.#movedAtMs = Array.from({ length: options.siteCount }, () => 0);
    for (const entry of this.#entries) this.#noteProposal(entry);
    this.#advanceCommitted();
  }

  /** What has to be done since the last call, in order. */
  takeOutputs(): LogOutput<R>[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  /** Whether something is under way that a lost message could hold up. */
  get busy(): boolean {
    return this.#proposals.size > 0 || this.#delivered < this.#length || (this.#isLeader && this.#someoneLags());
  }

  propose(record: R, nowMs: number): void {
    const sequence = this.#nextSequence++;
    if (this.#isLeader) {
      this.#store([{ origin: this.options.site, epoch: this.options.epoch, sequence, record }]);
      return;
    }
    if (this.#proposals.size === 0) this.#proposedAtMs = nowMs;
    this.#proposals.push({ sequence, record });
    this.#send(this.options.leader, { kind: 'log.propose', epoch: this.options.epoch, sequence, record });
  }

  receive(from: number, message: LogMessage<R>, nowMs: number): void {
    switch (message.kind) {
      case 'log.propose':
        return this.#onPropose(from, message);
      case 'log.append':
        return this.#onAppend(message);
      case 'log.appended':
        return this.#onAppended(from, message.length, nowMs);
    }
  }

  /** The first `length` entries of this node's log are synced. */
  onSynced(length: number): void {
    if (length <= this.synced) return;
    this.synced = length;
    if (this.#isLeader) this.#sendNews();
    else this.#send(this.options.leader, { kind: 'log.appended', length });
    this.#advanceCommitted();
  }

  /** Sends again what may have been lost. */
  tick(nowMs: number): void {
    const { leader, epoch, resendAfterMs } = this.options;
    if (this.#isLeader) {
      this.#resendToFollowers(nowMs);
      return;
    }
    if (this.#proposalsMoved) this.#proposedAtMs = nowMs;
    this.#proposalsMoved = false;
    if (this.#proposals.size === 0 || nowMs - this.#proposedAtMs < resendAfterMs) return;
    this.#proposedAtMs = nowMs;
    for (const { sequence, record } of this.#proposals.slice(0, APPEND_MAX)) {
      this.#send(leader, { kind: 'log.propose', epoch, sequence, record });
    }
  }

  /** Up to where the leader may send: what is synced in its own log. */
  protected sendable(): number {
    return this.synced;
  }

  /** How many of the first entries a majority holds, as far as this node knows. */
  protected majorityLength(): number {
    const { siteCount, leader, site } = this.options;
    const majority = Math.floor(siteCount / 2) + 1;
    if (!this.#isLeader) {
      // What a follower has is synced at the leader too: two of three are a majority.
      return majority <= 2 ? this.synced : this.#committed;
    }
    const lengths = this.#matched.map((length, index) => (index === leader || index === site ? this.synced : length));
    return lengths.toSorted((a, b) => b - a)[majority - 1] ?? 0;
  }

  get #isLeader(): boolean {
    return this.options.site === this.options.leader;
  }

  get #length(): number {
    return this.#forgotten + this.#entries.length;
  }

  #someoneLags(): boolean {
    return this.#matched.some((length, site) => site !== this.options.site && length < this.#length);
  }

  #onPropose(from: number, message: LogMessage<R> & { kind: 'log.propose' }): void {
    const { epoch, sequence, record } = message;
    const progress = this.#progress.get(from);
    if (progress !== undefined && epoch < progress.epoch) return;
    const next = progress !== undefined && progress.epoch === epoch ? progress.next : 1;
    // Anything else is a repetition, or comes after a lost one and will come again in order.
    if (sequence === next) this.#store([{ origin: from, epoch, sequence, record }]);
  }

  #onAppend({ position, entries, committed }: LogMessage<R> & { kind: 'log.append' }): void {
    const news = entries.slice(Math.max(0, this.#length - position));
    if (position <= this.#length && news.length > 0) this.#store(news);
    // Said even when nothing is new: the last answer may have been lost.
    if (news.length === 0 || position > this.#length) {
      this.#send(this.options.leader, { kind: 'log.appended', length: this.synced });
    }
    this.#committed = Math.max(this.#committed, committed);
    this.#advanceCommitted();
  }

  #onAppended(from: number, length: number, nowMs: number): void {
    this.#heard.add(from);
    if (length > (this.#matched[from] ?? 0)) {
      this.#matched[from] = length;
      this.#movedAtMs[from] = nowMs;
      this.#sent[from] = Math.max(this.#sent[from] ?? 0, length);
    }
    this.#advanceCommitted();
  }

  #store(entries: readonly LogEntry<R>[]): void {
    for (const entry of entries) this.#noteProposal(entry);
    this.#entries.push(...entries);
    this.#outputs.push({ kind: 'store', entries });
    if (this.#isLeader) this.#sendNews();
  }

  #noteProposal({ origin, epoch, sequence }: LogEntry<R>): void {
    this.#progress.set(origin, { epoch, next: sequence + 1 });
    if (origin !== this.options.site || epoch !== this.options.epoch) return;
    // Seen in the leader's synced log: no need to ask again.
    while ((this.#proposals.at(0)?.sequence ?? Infinity) <= sequence) this.#proposals.shift();
    this.#proposalsMoved = true;
  }

  #sendNews(): void {
    for (let site = 0; site < this.options.siteCount; site += 1) {
      if (site !== this.options.site) this.#sendFrom(site, this.#sent[site] ?? 0);
    }
  }

  #sendFrom(site: number, from: number): void {
    const end = Math.min(this.sendable(), from + APPEND_MAX);
    const entries = this.#entries.slice(from - this.#forgotten, end - this.#forgotten);
    if (entries.length === 0) return;
    this.#sent[site] = end;
    this.#send(site, { kind: 'log.append', position: from, entries, committed: this.#committed });
    if (end < this.sendable()) this.#sendFrom(site, end);
  }

  #resendToFollowers(nowMs: number): void {
    for (let site = 0; site < this.options.siteCount; site += 1) {
      const matched = this.#matched[site] ?? 0;
      if (site === this.options.site || matched >= this.#length) continue;
      if (nowMs - (this.#movedAtMs[site] ?? 0) < this.options.resendAfterMs) continue;
      this.#movedAtMs[site] = nowMs;
      if (this.#heard.has(site)) this.#sendFrom(site, matched);
      else this.#announceCommittedTo(site);
    }
  }

  #advanceCommitted(): void {
    const majority = this.majorityLength();
    if (majority > this.#committed) {
      this.#committed = majority;
      if (this.#isLeader && this.options.siteCount > 3) this.#announceCommitted();
    }
    const end = Math.min(this.#committed, this.synced);
    for (; this.#delivered < end; this.#delivered += 1) {
      const { record } = this.#entries[this.#delivered - this.#forgotten] as LogEntry<R>;
      this.#outputs.push({ kind: 'deliver', position: this.#delivered, record });
    }
    this.#forgetOld();
  }

  /** Needed with more than three sites, where a follower cannot tell from its own log what a majority has. */
  #announceCommitted(): void {
    for (let site = 0; site < this.options.siteCount; site += 1) {
      if (site !== this.options.site) this.#announceCommittedTo(site);
    }
  }

  /** An append without entries: it tells what is committed, and is answered by how much the follower has. */
  #announceCommittedTo(site: number): void {
    const position = this.#sent[site] ?? 0;
    this.#send(site, { kind: 'log.append', position, entries: [], committed: this.#committed });
  }

  /** Forgets what is delivered here and, at the leader, synced everywhere. */
  #forgetOld(): void {
    const followers = this.#isLeader ? this.#matched.filter((_, site) => site !== this.options.site) : [];
    const count = Math.min(this.#delivered, ...followers) - this.#forgotten;
    if (count < FORGET_MIN || count * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(count);
    this.#forgotten += count;
  }

  #send(to: number, message: LogMessage<R>): void {
    this.#outputs.push({ kind: 'send', to, message });
  }
}
