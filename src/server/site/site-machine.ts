/**
 * One site as a pure state machine: its replica and its node of the red log,
 * wired to each other.
 */
import type { CorrectableError } from '../../correctable/errors.ts';
import { AbsentSites } from '../messages/absent-sites.ts';
import type { LogKind } from '../log/local-log.ts';
import {
  isLogMessage,
  type LogOutput,
  type RedLog,
  type SavedLog,
  type ServerReply,
} from '../log/red-log.ts';
import { RedLogConsumer, type RedHalt } from '../log/red-log-consumer.ts';
import type { RedLogEngine } from '../log/red-log-engine.ts';
import { SEQUENCED_ENGINE } from '../log/sequenced/engine.ts';
import {
  getEntriesAfterCheckpoint,
  EMPTY_STATE,
  getSavedSite,
} from '../log/recovered-state.ts';
import type {
  CheckpointCut,
  LogPositions,
  SavedSiteState,
  RecoveredState,
} from '../log/recovered-state.ts';
import type { Section } from '../records/checkpoint.ts';
import {
  MessageFilter,
  type MessageFilterOptions,
} from '../messages/message-filter.ts';
import {
  isNodeMessage,
  ONLY_PARTITION,
  RejectedMessageError,
} from '../messages/envelope.ts';
import type { Envelope, SiteMessage } from '../messages/envelope.ts';
import { StalledSites } from '../messages/stalled-sites.ts';
import type { NodeHandshake } from '../messages/node-handshake.ts';
import type { Origin } from '../records/origin.ts';
import type { OperationId, RedRecord } from '../records/records.ts';
import type { MemberChange } from '../replica/membership.ts';
import { Replica, type RecoveredReplica } from '../replica/replica.ts';
import {
  NeedsNewerVersionError,
  droppedError,
  haltedFullError,
  redHaltedError,
  redLogFullError,
} from '../records/failures.ts';
import { EarlyUpdates } from './early-updates.ts';
import { createSiteHandshake } from './site-handshake.ts';
import { HaltedBytes } from './halted-bytes.ts';
import { EffectValidator } from '../service/effect-validator.ts';
import {
  findContentRejection,
  needsRoom,
} from '../messages/validate-content.ts';
import type { ReplicaOutput } from '../records/replica-output.ts';
import type { Submission } from '../records/submissions.ts';
import { RedReach } from './red-reach.ts';
import {
  ALONE_AFTER_MS,
  createLogOptions,
  describeMembers,
  describeStreams,
  toRecoveredReplica,
  toReplicaOptions,
} from './site-options.ts';
import type {
  MemberStatus,
  RejectedMessageCounts,
  SiteOptions,
  SiteOutput,
  SiteProgress,
} from './site-options.ts';

/**
 * One site. After each input, `takeOutputs` says what has to be done, in order.
 * Inputs come with the time by a clock that only runs forward, and by the one
 * that people set; that is the same one unless it is given.
 */
export class SiteMachine {
  readonly replica: Replica;
  readonly log: RedLog<RedRecord>;
  readonly messageFilter: MessageFilter;
  readonly redReach: RedReach;
  readonly #options: SiteOptions;
  readonly #engine: RedLogEngine;
  readonly #redLogReader: RedLogConsumer<RedRecord>;
  readonly #effectValidator: EffectValidator;
  readonly #halted: HaltedBytes;
  /** Where the red log stood at the last cut. */
  #cutAt: number | undefined;
  #isHaltReported = false;
  readonly #absent: AbsentSites;
  readonly #stalled = new StalledSites();
  #lacking: string | undefined;
  #isRetired = false;
  #noRoomCount = 0;
  #outputs: SiteOutput[] = [];
  readonly #handshake: NodeHandshake;
  #hasStopped = false;
  readonly #early: EarlyUpdates;
  #nowMs: number;

  constructor(
    options: SiteOptions,
    stored: RecoveredState = EMPTY_STATE,
    nowMs = 0,
    wallMs = nowMs,
  ) {
    [this.#nowMs, this.#options] = [nowMs, options];
    this.#absent = this.createAbsentSites(options.origins, options.site, nowMs);
    const {
      site,
      origins,
      deployment,
      epoch,
      redLog = SEQUENCED_ENGINE,
    } = options;
    this.#engine = redLog;
    this.#effectValidator = new EffectValidator(options.service.tables);
    this.#halted = new HaltedBytes(
      getEntriesAfterCheckpoint(stored),
      options.maxHaltedBytes,
    );
    this.messageFilter = this.createMessageFilter({
      deployment,
      origins,
      ownSite: { site, partition: ONLY_PARTITION },
      epoch,
      onRejected: options.onMessageRejected,
      onUnknownStart: (peer, term) =>
        this.#handshake.ask(peer, this.#nowMs, term),
      onSuperseded:
        options.stopsOnUnknownStart === true ? this.#onSuperseded : undefined,
      newestRules: options.version?.own.rules,
      getRules: () => this.replica.activation.inForce?.rules,
      onNewerRules: (problem) => this.#onOutdated(problem),
    });
    const saved = stored.checkpoint && getSavedSite(stored.checkpoint);
    this.replica = this.createReplica(
      toReplicaOptions(options, redLog),
      toRecoveredReplica(stored),
      nowMs,
      wallMs,
    );
    this.messageFilter.recall(this.replica.terms);
    const committed = Math.max(
      this.replica.provenRedCount,
      options.committedRedEntries ?? 0,
    );
    const found = {
      ...stored.red,
      saved: saved?.shared.log,
      committed,
      ...this.#absent.logMembers,
    };
    this.log = redLog.createNode({ ...createLogOptions(options), ...found });
    this.#redLogReader = this.createRedLogReader(this.log, saved?.shared.log);
    if (this.#redLogReader.halt !== undefined)
      this.#onHalt(this.#redLogReader.halt);
    this.#handshake = this.#createHandshake(options);
    this.redReach = new RedReach(this.replica.options, this.replica.red);
    // Before all else that is sent: it is what others need in order to take the
    // rest.
    this.#handshake.greetAll(nowMs);
    const needsPeer =
      options.needsPeer === true && origins.getOthers(site).length > 0;
    this.#early = new EarlyUpdates(
      needsPeer ? nowMs + ALONE_AFTER_MS : undefined,
      this.replica,
      this.log,
    );
    this.#exchangeOutputs();
  }

  /**
   * Whether something is in flight that a lost message could hold up: then
   * ticks are needed.
   */
  get isBusy(): boolean {
    const isWaiting = this.#early.isUnconfirmed || this.#absent.isWaiting;
    return (
      this.replica.isBusy || this.log.isBusy || (isWaiting && !this.#hasStopped)
    );
  }

  /**
   * When a tick is due even if nothing happens; undefined if there is no such
   * time.
   */
  get wakeAtMs(): number | undefined {
    // Asked after every turn: no list is made.
    const { replica, log } = this;
    const atMs = Math.min(
      replica.wakeAtMs ?? Infinity,
      log.wakeAtMs ?? Infinity,
      this.#early.untilMs ?? Infinity,
    );
    return atMs === Infinity ? undefined : atMs;
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.replica.sections;
  }

  /**
   * Why no checkpoint can be made now, if so: what the red log says of itself
   * is not what was taken of it.
   */
  get cutProblem(): string | undefined {
    const { halt, next } = this.#redLogReader;
    if (this.#hasStopped) return 'the site has stopped';
    if (halt !== undefined)
      return `the site takes no more of the red log, since ${halt.message}`;
    // An engine that has jumped, and has not shown it yet.
    if (this.log.save().delivered === next) return undefined;
    return 'the red log is ahead of what it has delivered';
  }

  createCut(): CheckpointCut {
    const problem = this.cutProblem;
    if (problem !== undefined) throw new Error(problem);
    this.#cutAt = this.#redLogReader.next;
    const { shared, own } = this.replica.save();
    const remaining: SavedSiteState = {
      shared: { replica: shared, log: this.log.save() },
      own,
    };
    return {
      smallParts: remaining,
      contained: {
        local: this.replica.syncedLength,
        red: this.replica.redDelivered,
      },
    };
  }

  onCheckpointed(): void {
    this.#halted.onCheckpointed();
    if (this.#cutAt !== undefined) this.log.release(this.#cutAt);
  }

  get retainedFrom(): LogPositions {
    return { local: this.replica.retainedFrom, red: this.log.retainedFrom };
  }

  /**
   * How many entries of either log are kept because another site lacks them.
   */
  get backlogLength(): number {
    return Math.max(this.replica.backlogLength, this.log.backlogLength);
  }

  get isBacklogFull(): boolean {
    return this.#absent.isFull;
  }

  get progress(): SiteProgress {
    return {
      ...describeStreams(this.replica),
      start: this.messageFilter.term,
      backlog: this.backlogLength,
      halt: this.#redLogReader.halt?.message,
    };
  }

  takeOutputs(): SiteOutput[] {
    this.#exchangeOutputs();
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  /**
   * What a submission leads to is done when the outputs are taken: once for
   * several that came together.
   */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    const { contract } = this.#options.service;
    const isHeld =
      this.#early.isUnconfirmed &&
      contract.operations[submission.operation]?.access !== 'read';
    this.redReach.note(nowMs);
    if (isHeld) this.#early.hold(submission);
    else this.replica.submit(submission, nowMs, wallMs);
  }

  /**
   * Whether another site has confirmed this start, where one has to, and it has
   * not stopped.
   */
  get isConfirmed(): boolean {
    return !this.#early.isUnconfirmed && !this.#hasStopped;
  }

  /** Why all updates are refused, if they are. */
  get writeRefusal(): CorrectableError | undefined {
    return this.#early.rejection ?? this.replica.writes.rejection;
  }

  get rejections(): RejectedMessageCounts {
    return {
      ...this.messageFilter.rejections,
      clock: this.replica.rejectedStampCount,
      room: this.#noRoomCount,
    };
  }

  /**
   * Without room nothing is taken that would have to be written down: its
   * sender sends it again.
   */
  receive(
    envelope: Envelope,
    nowMs: number,
    wallMs = nowMs,
    hasRoom = true,
  ): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    this.replica.advanceTime(nowMs, wallMs);
    if (
      (this.#halted.isFull || !hasRoom) &&
      needsRoom(envelope.message, this.#engine.messages)
    ) {
      this.#noRoomCount += 1;
      return;
    }
    const { term } = this.messageFilter;
    const message = this.messageFilter.open(envelope);
    if (message === undefined) {
      this.#sendEnvelopes(this.messageFilter.takeResponses());
      if (this.messageFilter.term !== term) this.#handshake.greetAll(nowMs);
      return;
    }
    const from = envelope.from.site;
    if (this.#absent.noteHeard(from, nowMs)) this.#updateLeftBehind();
    this.redReach.noteHeard(from, nowMs);
    if (isNodeMessage(message)) {
      this.#handshake.receive(from, envelope.term, message);
      if (this.#handshake.isConfirmed) this.#onConfirmed(nowMs, wallMs);
      return this.#exchangeOutputs();
    }
    if (message.kind === 'member.closed') {
      this.replica.retire(message.final);
      return this.#exchangeOutputs();
    }
    if (this.#handshake.isForked(from, envelope.term)) {
      this.messageFilter.reject(
        new RejectedMessageError(
          'start',
          'another node of its site has gone on',
          from,
        ),
      );
      return this.#handshake.ask(from, nowMs, envelope.term);
    }
    const rejection = findContentRejection(message, from, {
      known: this.#effectValidator,
      log: this.#engine.messages,
      origins: this.#options.origins,
    });
    if (rejection !== undefined) return this.messageFilter.reject(rejection);
    this.replica.noteClock(from, envelope.sentAtMs);
    if (!isLogMessage(message)) this.replica.receive(from, message);
    else if (
      this.replica.acceptsRecords(
        from,
        this.#engine.messages.getProposedRecords(message, from),
      )
    )
      this.log.receive(from, message, nowMs);
    this.#exchangeOutputs();
    if (message.kind === 'blue.gone') this.#checkGone();
  }

  /**
   * Proposes a change of the members: a site joins, is rebuilt on another
   * directory, or is retired. Gives the name under which `changed` says what
   * came of it.
   */
  proposeChange(change: MemberChange, nowMs: number): OperationId {
    this.#nowMs = nowMs;
    const id = this.replica.membership.propose(change);
    this.#exchangeOutputs();
    return id;
  }

  get members(): readonly MemberStatus[] {
    return describeMembers(this.#options.origins, this.#absent);
  }

  /**
   * No client waits any more for what was submitted under this serial. It ends
   * at once if nothing of it has left.
   */
  abandon(serial: number): void {
    const early = this.#early.remove(serial);
    if (early === undefined) this.replica.abandon(serial);
    else
      this.#outputs.push({
        kind: 'failed',
        serial,
        error: droppedError(early, false),
      });
    this.#exchangeOutputs();
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    this.#nowMs = nowMs;
    this.replica.lookups.setConnected(site, isConnected);
    this.redReach.setConnected(site, isConnected, nowMs);
    if (!isConnected) return;

    this.replica.markStart();
    // This site may have been closed meanwhile: the reply to its hello reports
    // that, even if it has nothing else to send.
    this.#handshake.greet(site);
  }

  onSynced(log: LogKind, length: number, nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    this.replica.advanceTime(nowMs, wallMs);
    if (log === 'red') this.log.onSynced(length);
    else this.replica.onSynced(length, nowMs, wallMs);
    this.#exchangeOutputs();
  }

  onReply(reply: ServerReply, nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    this.replica.advanceTime(nowMs, wallMs);
    this.log.onReply?.(reply, nowMs);
    this.#exchangeOutputs();
  }

  tick(nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    if (this.#early.isUnconfirmed) this.#awaitPeer(nowMs, wallMs);
    this.replica.tick(nowMs, wallMs);
    this.log.tick(nowMs);
    this.redReach.tick(nowMs);
    this.#leaveBehind(nowMs);
    this.#checkGone();
    this.#exchangeOutputs();
  }

  protected createReplica(
    options: SiteOptions,
    stored: RecoveredReplica,
    nowMs: number,
    wallMs: number,
  ): Replica {
    return new Replica(options, stored, nowMs, wallMs);
  }

  protected createAbsentSites(
    ...args: ConstructorParameters<typeof AbsentSites>
  ): AbsentSites {
    return new AbsentSites(...args);
  }

  protected createRedLogReader(
    log: RedLog<RedRecord>,
    saved: SavedLog | undefined,
  ): RedLogConsumer<RedRecord> {
    return new RedLogConsumer(log, saved);
  }

  protected createMessageFilter(options: MessageFilterOptions): MessageFilter {
    return new MessageFilter(options);
  }

  #createHandshake(options: SiteOptions): NodeHandshake {
    const { messageFilter, replica } = this;
    return createSiteHandshake(options, {
      replica,
      messageFilter,
      red: {
        getEnd: () =>
          this.#redLogReader.halt === undefined ? this.log.end : undefined,
        getDigest: (_, length) => this.log.digest(length),
      },
      send: (to, message) =>
        this.#outputs.push({
          kind: 'send',
          envelope: messageFilter.seal(to, message),
        }),
      onPeerForked: (peer, message) =>
        this.#outputs.push({ kind: 'peer-forked', peer, message }),
      onForked: (message) => this.#onForked(message),
    });
  }

  readonly #onSuperseded = (term: number, by: Origin): void => {
    const start = `the start ${term} of this site, which is later than this one, ${this.messageFilter.term}`;
    this.#onForked(`${this.#options.origins.getName(by)} knows ${start}`);
  };

  readonly #onForked = (message: string): void => {
    if (this.#hasStopped) return;
    this.#handshake.reportOwnFork(message);
    this.#stop({ kind: 'forked', message });
  };

  readonly #onOutdated = (problem: string): void =>
    this.#stop({
      kind: 'outdated',
      message: new NeedsNewerVersionError(problem).message,
    });

  /** What was promised by then stays; nothing follows. */
  #stop(output: SiteOutput): void {
    if (this.#hasStopped) return;
    this.#early.refuse();
    this.#exchangeOutputs();
    this.#hasStopped = true;
    this.#outputs.push(output);
  }

  /**
   * No other site has confirmed this start so far: updates are refused after a
   * while.
   */
  #awaitPeer(nowMs: number, wallMs: number): void {
    const { origins, site } = this.#options;
    // The others may have been retired meanwhile.
    if (origins.getOthers(site).length === 0)
      return this.#onConfirmed(nowMs, wallMs);
    this.#handshake.tick(nowMs);
    if (this.#early.refuseAfter(nowMs)) this.#outputs.push({ kind: 'alone' });
  }

  #onConfirmed(nowMs: number, wallMs: number): void {
    if (this.#early.isUnconfirmed && this.#lacking !== undefined)
      this.#outputs.push({ kind: 'behind', message: this.#lacking });
    this.#early.release(nowMs, wallMs);
  }

  /**
   * Lets go of what is kept for sites that have been away for too long
   * (docs/spec/cluster.md, A1 and A2).
   */
  #leaveBehind(nowMs: number): void {
    const { absence, observer, redLeader, resendAfterMs } = this.#options;
    if (absence === undefined) return;
    const { blue } = this.replica;
    const getBacklog = (site: Origin): number =>
      Math.max(blue.getBacklog(site), this.log.getBacklog?.(site) ?? 0);
    const { left, cutOff } = this.#absent.leaveBehind(
      nowMs,
      absence,
      redLeader,
      getBacklog,
    );
    if (left.length > 0) this.#updateLeftBehind();
    for (const site of left) observer?.onLeftBehind?.(site);
    if (cutOff.length > 0) observer?.onCutOff?.(cutOff, this.#absent.isFull);
    for (const site of this.#absent.takeProbed(nowMs, resendAfterMs))
      blue.probe(site);
    for (const site of this.#options.origins.getOthers(this.#options.site)) {
      const confirmed =
        blue.getConfirmed(site) + (this.log.getConfirmed?.(site) ?? 0);
      const heardAtMs = this.#absent.getHeardAtMs(site);
      if (
        this.#stalled.note(
          site,
          { confirmed, backlog: getBacklog(site), heardAtMs },
          nowMs,
        )
      )
        observer?.onStalled?.(site, getBacklog(site));
    }
  }

  #updateLeftBehind(): void {
    this.replica.blue.leaveBehind(this.#absent.leftBehind);
    this.log.setMembers?.(this.#absent.logMembers);
  }

  #checkGone(): void {
    const reachable = this.#absent.getReachable(
      this.#nowMs,
      this.#options.reachTimeoutMs,
    );
    if (this.replica.blue.isGoneAt(reachable))
      this.#onBehind('operations of other sites');
  }

  #onBehind(lacking: string): void {
    if (this.#lacking !== undefined) return;
    this.#lacking = `the site lacks ${lacking} that no other site keeps for it any more: it needs the state of one`;
    // A node on an older directory stops first: with the state of another site
    // it would not notice.
    if (!this.#early.isUnconfirmed)
      this.#outputs.push({ kind: 'behind', message: this.#lacking });
  }

  /** Hands outputs of one part to the other until neither has any. */
  #exchangeOutputs(): void {
    if (this.#hasStopped) return;
    for (let moved = true; moved;) {
      const replicaOutputs = this.replica.takeOutputs();
      for (const output of replicaOutputs) this.#onReplicaOutput(output);
      const logOutputs = this.log.takeOutputs();
      for (const output of logOutputs) this.#onLogOutput(output);
      moved = replicaOutputs.length > 0 || logOutputs.length > 0;
    }
  }

  #onReplicaOutput(output: ReplicaOutput): void {
    if (output.kind === 'propose')
      this.#early.propose(output.record, this.#nowMs);
    else if (output.kind === 'withdraw') this.#withdraw(output.record);
    else if (output.kind === 'send') this.#send(output.to, output.message);
    else if (output.kind === 'store') this.#onStore(output);
    else if (output.kind === 'forked') this.#onForked(output.message);
    else if (output.kind === 'fork')
      this.#handshake.noteFork(output.origin, output.message);
    else {
      if (output.kind === 'retired') this.#isRetired = true;
      if (output.kind === 'members')
        this.#sendEnvelopes(this.messageFilter.createRetirementNotices());
      this.#outputs.push(output);
    }
  }

  #onStore(output: SiteOutput & { kind: 'store' }): void {
    this.#outputs.push(output);
    if (this.#redLogReader.halt === undefined) return;
    this.#halted.addWritten(output.entries);
    this.#refuseIfHaltedFull();
  }

  #refuseIfHaltedFull(): void {
    if (this.#halted.isFull)
      this.replica.writes.rejection = haltedFullError(this.#halted.max);
  }

  #withdraw(record: RedRecord): void {
    const { red } = this.replica;
    if (this.#early.withdraw(record)) red.onWithdrawn(record);
    else red.onNotWithdrawn(record);
  }

  #onLogOutput(output: LogOutput<RedRecord>): void {
    switch (output.kind) {
      case 'deliver': {
        const records = this.#redLogReader.take(output);
        const problem = this.replica.activation.findProblem(records);
        if (problem !== undefined) return this.#onOutdated(problem);
        if (records.length > 0 && !this.#hasStopped)
          this.replica.deliver(records);
        if (records.some(({ kind }) => kind === 'member'))
          this.log.setMembers?.(this.#absent.logMembers);
        break;
      }
      case 'store':
        return this.#onStore({
          kind: 'store',
          log: 'red',
          entries: output.entries,
        });
      case 'send':
        return this.#send(output.to, output.message);
      case 'gap':
      case 'regressed':
      case 'differs':
        this.#redLogReader.stop({
          reason: output.kind,
          message: output.message,
        });
        break;
      case 'outdated':
        return this.#onOutdated(output.message);
      case 'behind':
        return this.#onBehind('entries of the red log');
      case 'fork':
        return this.#handshake.noteFork(output.origin, output.message);
      case 'full':
        this.replica.red.admission.overload =
          output.message === undefined
            ? undefined
            : redLogFullError(output.message);
        return void this.#outputs.push(output);
      case 'request':
      case 'unavailable':
      case 'available':
        return void this.#outputs.push(output);
    }
    if (this.#redLogReader.halt !== undefined && !this.#isHaltReported)
      this.#onHalt(this.#redLogReader.halt);
  }

  #onHalt(halt: RedHalt): void {
    this.#isHaltReported = true;
    this.replica.red.admission.halted = redHaltedError(halt.message);
    this.#halted.begin(this.replica.blue.waitingBytes);
    this.#refuseIfHaltedFull();
    this.#outputs.push({ kind: 'halted', halt });
  }

  #sendEnvelopes(envelopes: readonly Envelope[]): void {
    for (const envelope of envelopes)
      this.#outputs.push({ kind: 'send', envelope });
  }

  #send(to: Origin, message: SiteMessage): void {
    // It was closed since.
    if (!this.#options.origins.isMember(to)) return;
    this.#outputs.push({
      kind: 'send',
      envelope: this.messageFilter.seal(to, message),
    });
  }
}
