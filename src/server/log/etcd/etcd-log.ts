/**
 * A red log that etcd keeps, as a pure state machine: no timers, sockets or disks inside. Requests
 * to etcd are outputs, and the replies of etcd are inputs (`etcd-requests.ts`).
 *
 * A site writes its records in groups, one after the other, under keys that must not exist. All
 * sites read the groups in the order of etcd's revisions, and take the same ones: those that
 * continue a start of a site. The first group of a later start ends the one before it, so that no
 * site takes a late write of a start that is over. The sites count places themselves. Each group
 * has the position and digest of its proposer, and sites send each other theirs every second. So
 * they notice if etcd was put back to an older state.
 */
import { createEpochAbove, MAX_START } from '../epoch.ts';
import type { Origin } from '../../service/records/origin.ts';
import { LogCopy } from '../log-copy.ts';
import type {
  LogEntry,
  LogMembers,
  LogOutput,
  RedLog,
  RedLogOptions,
  SavedLog,
} from '../red-log.ts';
import { EtcdCalls } from './etcd-calls.ts';
import { decodeGroup, UnknownFormatError, type EtcdGroup } from './etcd-groups.ts';
import { EtcdKeys, type GroupName } from './etcd-keys.ts';
import { EtcdPeers, type DigestMessage } from './etcd-messages.ts';
import { EtcdProposer } from './etcd-proposer.ts';
import { EtcdReader } from './etcd-reader.ts';
import type { EtcdEntry, EtcdLogPlace, EtcdReply } from './etcd-requests.ts';
import { EtcdTrimmer } from './etcd-trimmer.ts';

/** How a site's node of the log is set up, beside `RedLogOptions`. */
export interface EtcdLogOptions extends EtcdLogPlace {
  /** Returns what is wrong with a record that was read. Default: every record is taken as it is. */
  readonly describeProblem?: ((record: unknown) => string | undefined) | undefined;
  /**
   * How many entries each log had when they were restored, by the ordinals of the partitions: they
   * are not in etcd. Default: 0
   */
  readonly baseLengths?: readonly number[] | undefined;
  /** How many entries lie between two places whose digests are kept for long. Default: 1024 */
  readonly markEvery?: number | undefined;
  /** How many keys one request reads, a power of two. Default: `PAGE_GROUPS` */
  readonly pageGroups?: number | undefined;
}

/** The classes of the parts of a node. Tests replace some. */
export const ETCD_LOG_PARTS = { EtcdReader, EtcdProposer, EtcdTrimmer };

type Output<R> = LogOutput<R, DigestMessage>;

const DEFAULT_MARK_EVERY = 1024;
const WAKE_INTERVAL_MS = 250;
const DIGEST_INTERVAL_MS = 1000;
const STATUS_INTERVAL_MS = 5000;
/**
 * How long an endpoint may take to reply, and to show an own group that is stored, before another
 * one is used.
 */
const ANSWER_TIMEOUT_MS = 3000;
const UNSEEN_TIMEOUT_MS = 1000;
/** How long entries that another site has may take to arrive, before the log is read again. */
const REREAD_AFTER_MS = 1000;
/** Above this share of the quota no new operation is taken: those in flight need room, too. */
const MAX_USED_SHARE = 0.6;
const QUOTA_USED_UP =
  'its quota is used up. Defragment each member (etcdctl defrag), then disarm the alarm (etcdctl alarm disarm)';

export class EtcdLog<R> implements RedLog<R, DigestMessage> {
  readonly copy: LogCopy<R>;
  readonly #options: Omit<RedLogOptions<R>, 'entries'>;
  readonly #place: EtcdLogOptions;
  readonly #keys: EtcdKeys;
  readonly #calls: EtcdCalls;
  readonly #reader: EtcdReader;
  readonly #proposer: EtcdProposer<R>;
  readonly #trimmer: EtcdTrimmer;
  readonly #peers: EtcdPeers;
  #members: readonly Origin[];
  /** Whether it has stopped: it takes no entries, and sends no requests. */
  #isStopped = false;
  /** Whether it has all that the other sites had when it connected. */
  #isConfirmed = false;
  /**
   * How many entries another site has that etcd did not show. They must be there when all is read
   * again.
   */
  #expectedLength = 0;
  #readAtMs = 0;
  /** Since when it cannot propose, and whether it has reported that. */
  #offSinceMs: number | undefined;
  #isUnavailable = false;
  /** Why the last request to read has failed. */
  #problem: string | undefined;
  #isUnusable = false;
  #isUsedUp = false;
  #usage: string | undefined;
  #reportedAtMs = -Infinity;
  #askedStatusAtMs = -Infinity;
  #outputs: Output<R>[] = [];

  constructor(
    { entries = [], ...options }: RedLogOptions<R>,
    place: EtcdLogOptions,
    parts: typeof ETCD_LOG_PARTS = ETCD_LOG_PARTS,
  ) {
    [this.#options, this.#place, this.#members] = [options, place, options.sites];
    const { site, windows } = options;
    const copy = (this.copy = new LogCopy(
      { entries, ...options },
      place.markEvery ?? DEFAULT_MARK_EVERY,
    ));
    const keys = (this.#keys = new EtcdKeys(place, options.partition));
    const calls = (this.#calls = new EtcdCalls((request) =>
      this.#outputs.push({ kind: 'request', request }),
    ));
    this.#reader = new parts.EtcdReader({
      keys,
      calls,
      copy,
      pageGroups: place.pageGroups,
      baseLength: place.baseLengths?.[options.partition ?? 0] ?? 0,
      taker: {
        take: (entry) => this.#take(entry),
        onCaughtUp: () => this.#onCaughtUp(),
        onBehind: () => this.#stop({ kind: 'behind' }),
        onRegressed: (message) => this.#stopAt(message),
        onUnusable: (problem) => ([this.#isUnusable, this.#problem] = [true, problem]),
      },
    });
    const onRoom = (hasRoom: boolean): void => {
      this.#setFull(!hasRoom, this.#usage);
      if (hasRoom) this.#sendNext();
    };
    const maxRecords = windows?.maxProposed;
    const known = copy.progress.get(site)?.epoch ?? 0;
    this.#proposer = new parts.EtcdProposer(
      { site, keys, calls, copy, maxRecords, onRoom },
      known < options.epoch ? options.epoch : createEpochAbove(known, options.epoch),
    );
    this.#trimmer = new parts.EtcdTrimmer({ site, keys, calls, copy });
    this.#peers = new EtcdPeers(place.generation);
    if (this.#proposer.start > MAX_START)
      this.#stopAt(`its start ${this.#proposer.start} is above the largest one, ${MAX_START}`);
    this.#deliver();
  }

  get isBusy(): boolean {
    return !this.#isStopped && (this.#proposer.isBusy || this.copy.isBusy);
  }

  /** It checks etcd regularly, even if nothing is in flight. */
  get wakeAtMs(): number | undefined {
    return this.#isStopped ? undefined : this.#calls.nowMs + WAKE_INTERVAL_MS;
  }

  get retainedFrom(): number {
    return this.copy.delivered;
  }

  /** Etcd keeps it for them. */
  readonly backlogLength = 0;

  identity(): string {
    return this.#options.identity ?? 'red';
  }

  digest(length: number): number | undefined {
    return this.copy.getDigest(length);
  }

  get retainedBytes(): number {
    return this.copy.waitingBytes;
  }

  save(): SavedLog {
    return this.copy.save(this.identity());
  }

  release(length: number): void {
    this.#trimmer.release(length);
  }

  propose(record: R, nowMs: number): void {
    this.#calls.nowMs = nowMs;
    this.#proposer.propose(record);
    this.#sendNext();
  }

  withdraw(record: R): boolean {
    return this.#proposer.withdraw(record);
  }

  setMembers({ sites }: LogMembers): void {
    this.#members = sites;
    this.copy.resume();
    this.#deliver();
  }

  receive(from: Origin, message: DigestMessage): void {
    const { position, digest, markPosition, markDigest, checkpointed, asks } = message;
    // One that has halted replies, too: it may be the only one that knows what etcd has lost.
    if (asks !== undefined && this.#peers.isAbout(asks))
      this.#outputs.push({
        kind: 'send',
        to: from,
        message: { ...this.#createDigestMessage(), answers: asks },
      });
    this.#peers.onReply(from, message);
    this.#trimmer.onHeard(from, checkpointed);
    this.checkDigest(position, digest, `site ${from}`);
    this.checkDigest(markPosition, markDigest, `site ${from}`);
    this.#sendNext();
  }

  onReply(reply: EtcdReply, nowMs: number): void {
    this.#calls.nowMs = nowMs;
    if (this.#isStopped) return;
    if (reply.kind === 'etcd.connected') this.#onConnected();
    else if (reply.kind === 'etcd.disconnected') this.#onDisconnected();
    else this.#calls.onAnswer(reply);
    this.#deliver();
  }

  onSynced(length: number): void {
    this.copy.onSynced(length);
    this.#deliver();
  }

  tick(nowMs: number): void {
    this.#calls.nowMs = nowMs;
    if (this.#isStopped) return;
    const isSilent = nowMs - this.#calls.waitingSinceMs >= ANSWER_TIMEOUT_MS;
    const isUnseen = nowMs - this.#proposer.unseenSinceMs >= UNSEEN_TIMEOUT_MS;
    if (this.#isUnusable || isSilent || isUnseen) this.#reconnect();
    this.#askPeers();
    this.#noteAbsence();
    if (!this.#reader.isWatching) return;
    this.#compareLengths();
    this.#sendNext();
    if (nowMs - this.#reportedAtMs < DIGEST_INTERVAL_MS) return;
    this.#reportedAtMs = nowMs;
    this.#sendDigests();
    this.#reader.askProgress();
    this.#trimmer.trim(this.#members);
    if (nowMs - this.#askedStatusAtMs >= STATUS_INTERVAL_MS) this.#askStatus();
  }

  takeOutputs(): readonly Output<R>[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  /** Whether nothing may be missing in what it has read. */
  hasAll(): boolean {
    return (
      this.copy.length >= this.#peers.longest &&
      this.#peers.haveReplied(this.#others, this.#calls.nowMs)
    );
  }

  /** Returns `false`, and stops, if the first `position` entries are known to differ here. */
  checkDigest(position: number, digest: number | null | undefined, source: string): boolean {
    const here = this.copy.getDigest(position);
    if (here === undefined || digest === undefined || digest === null || here === digest)
      return true;
    this.#stop({
      kind: 'differs',
      message: `the first ${position} entries of the log are others at ${source}`,
    });
    return false;
  }

  /**
   * Which record of a start comes next: the first one of a start that is later than the one that
   * counts.
   */
  getExpected({ site, start }: GroupName): number | 'void' {
    const { epoch = 0, next = 1 } = this.copy.progress.get(site) ?? {};
    return start < epoch ? 'void' : start > epoch ? 1 : next;
  }

  /** Whether what stands before a group is missing. */
  isGap(first: number, expected: number): boolean {
    return first > expected;
  }

  /**
   * The position of a group must not be beyond what is here: its proposer had taken what comes
   * before it.
   */
  checkPlace({ position, digest }: EtcdGroup<R>, { site }: GroupName): boolean {
    if (position <= this.copy.length) return this.checkDigest(position, digest, `site ${site}`);
    this.#stopAt(
      `site ${site} has taken ${position} entries before its next one, and there are ${this.copy.length} here`,
    );
    return false;
  }

  #take({ key, value }: EtcdEntry): boolean {
    const name = this.#keys.parseGroup(key);
    if (name === undefined) return true;
    const { site, start, last } = name;
    const expected = this.getExpected(name);
    if (expected === 'void' || last < expected) return this.#noteTaken(name);
    const group = this.#read(name, value);
    if (group === undefined) return false;
    const { first, records } = group;
    if (this.isGap(first, expected)) {
      this.#stop({ kind: 'behind' });
      return false;
    }
    if (!this.checkPlace(group, name)) return false;
    const news = records.slice(Math.max(0, expected - first));
    const from = last + 1 - news.length;
    this.#store(
      news.map((record, index) => ({
        origin: site,
        epoch: start,
        sequence: from + index,
        record,
      })),
    );
    return this.#noteTaken(name);
  }

  #read(name: GroupName, value: Uint8Array): EtcdGroup<R> | undefined {
    const { site, last } = name;
    try {
      const group = decodeGroup<R>(value, this.#place.describeProblem ?? (() => undefined));
      if (group.records.length > 0 && group.first + group.records.length - 1 === last) return group;
      throw new Error('its records and its key differ');
    } catch (error) {
      const kind = error instanceof UnknownFormatError ? 'outdated' : 'regressed';
      const { message } = error as Error;
      this.#stop({
        kind,
        message: `a group of site ${site} that ends with ${last} cannot be read: ${message}`,
      });
      return undefined;
    }
  }

  /** A group of a later start of this site ends the start that runs here. */
  #noteTaken({ site, start, last }: GroupName): boolean {
    if (site !== this.#options.site) return true;
    const own = this.#proposer.start;
    if (this.#proposer.onTaken(start, last)) {
      this.#sendNext();
      return true;
    }
    this.#stopAt(
      `the start ${start} of this site has proposed: it ends start ${own}, which runs here`,
    );
    return false;
  }

  #store(entries: readonly LogEntry<R>[]): void {
    if (entries.length === 0) return;
    this.copy.append(entries);
    const last = this.#outputs.at(-1);
    if (last?.kind === 'store') (last.entries as LogEntry<R>[]).push(...entries);
    else this.#outputs.push({ kind: 'store', entries: [...entries] });
  }

  #deliver(): void {
    for (
      let delivery = this.copy.takeDelivery();
      delivery !== undefined;
      delivery = this.copy.takeDelivery()
    )
      this.#outputs.push(delivery);
  }

  #sendNext(): void {
    if (!this.#reader.isWatching || this.#isStopped) return;
    if (!this.#isConfirmed && !this.hasAll()) return;
    if (!this.#isConfirmed) this.#peers.stop();
    this.#isConfirmed = true;
    this.#offSinceMs = this.#problem = undefined;
    if (this.#isUnavailable) this.#outputs.push({ kind: 'available' });
    this.#isUnavailable = false;
    this.#proposer.sendNext();
  }

  #onConnected(): void {
    this.#isConfirmed = false;
    this.#expectedLength = 0;
    this.#peers.begin(this.#proposer.start, this.#calls.nowMs);
    this.#askPeers();
    this.#reader.begin();
  }

  #onCaughtUp(): void {
    this.#readAtMs = this.#calls.nowMs;
    if (this.copy.length < this.#expectedLength)
      return this.#stopAt(`${this.#describeLack()}: it was put back to an older state`);
    this.#sendNext();
  }

  get #others(): readonly Origin[] {
    return this.#members.filter((site) => site !== this.#options.site);
  }

  #askPeers(): void {
    const question = this.#peers.takeQuestion(this.#others, this.#calls.nowMs);
    if (question === undefined) return;
    const message = { ...this.#createDigestMessage(), asks: question.id };
    for (const to of question.sites) this.#outputs.push({ kind: 'send', to, message });
  }

  /**
   * What another site has was in etcd when that site replied. So it is there when all is read after
   * that.
   */
  #compareLengths(): void {
    const { longest } = this.#peers;
    if (
      this.#isConfirmed ||
      this.copy.length >= longest ||
      this.#calls.nowMs - this.#readAtMs < REREAD_AFTER_MS
    )
      return;
    this.#expectedLength = longest;
    this.#reader.begin();
  }

  #describeLack(): string {
    const { longest, longestAt } = this.#peers;
    return `etcd has ${this.copy.length} entries of the log, and site ${longestAt} has ${longest}`;
  }

  #onDisconnected(): void {
    this.#calls.clear();
    this.#peers.stop();
    this.#reader.stop();
    this.#proposer.onDisconnected();
    this.#trimmer.stop();
    this.#isUnusable = false;
  }

  #reconnect(): void {
    this.#onDisconnected();
    this.#outputs.push({
      kind: 'request',
      request: { kind: 'etcd.reconnect' },
    });
  }

  #noteAbsence(): void {
    if (this.#reader.isWatching && this.#isConfirmed) return;
    this.#offSinceMs ??= this.#calls.nowMs;
    const forMs = this.#calls.nowMs - this.#offSinceMs;
    if (this.#isUnavailable || forMs < ANSWER_TIMEOUT_MS) return;
    this.#isUnavailable = true;
    this.#outputs.push({
      kind: 'unavailable',
      message: this.#problem ?? this.#describeWait(forMs),
    });
  }

  #describeWait(forMs: number): string {
    if (!this.#reader.isWatching) return `etcd has not answered for ${Math.round(forMs)} ms`;
    if (this.copy.length < this.#peers.longest) return this.#describeLack();
    return 'the other sites have not yet replied with how much of the log they have';
  }

  #sendDigests(): void {
    const message = this.#createDigestMessage();
    for (const to of this.#others) this.#outputs.push({ kind: 'send', to, message });
  }

  #createDigestMessage(): DigestMessage {
    const { copy } = this;
    const [position, mark] = [copy.length, copy.marks.at(-1)];
    const [digest, markDigest] = [copy.getDigest(position), mark?.digest];
    return {
      kind: 'log.digest',
      position,
      ...(digest !== undefined && { digest }),
      markPosition: mark?.position ?? 0,
      ...(markDigest !== undefined && { markDigest }),
      checkpointed: this.#trimmer.own,
    };
  }

  #askStatus(): void {
    this.#askedStatusAtMs = this.#calls.nowMs;
    this.#calls.call({ kind: 'etcd.status' }, (answer) => {
      if (answer.kind !== 'etcd.status') return;
      const { usedBytes, quotaBytes } = answer;
      const isFull = usedBytes > MAX_USED_SHARE * quotaBytes;
      const problem =
        this.#trimmer.problem === undefined
          ? ''
          : `, and cannot be compacted: ${this.#trimmer.problem}`;
      // Not in bytes: each other message is another alarm.
      const usage = `etcd uses ${Math.floor((100 * usedBytes) / quotaBytes)} % of its quota${problem}`;
      // While nothing is to be written, no write shows that there is room. The next one finds out.
      this.#setFull(this.#isUsedUp && this.#proposer.isBusy, isFull ? usage : undefined);
    });
  }

  #setFull(isUsedUp: boolean, usage: string | undefined): void {
    if (isUsedUp === this.#isUsedUp && usage === this.#usage) return;
    [this.#isUsedUp, this.#usage] = [isUsedUp, usage];
    this.#outputs.push({
      kind: 'full',
      message: isUsedUp ? QUOTA_USED_UP : usage,
    });
  }

  #stopAt(message: string): void {
    this.#stop({ kind: 'regressed', message });
  }

  #stop(output: Output<R>): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#onDisconnected();
    this.#outputs.push(output);
  }
}
