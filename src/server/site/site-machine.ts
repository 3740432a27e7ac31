/**
 * One site as a pure state machine: its replica and its nodes of the red logs, connected to each
 * other.
 */
import type { MemberChange, OperationId, RedRecord } from '../service/records/records.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { AbsentSites } from './parts/absent-sites.ts';
import { getPartitionOf, getRedKind, type LogKind } from '../log/local-log.ts';
import { isLogMessage, type LogOutput, type RedLog, type ServerReply } from '../log/red-log.ts';
import type { RedLogEngine } from '../log/red-log-engine.ts';
import { SEQUENCED_ENGINE } from '../log/sequenced/engine.ts';
import { EMPTY_STATE, type CheckpointCut, type RecoveredState } from '../log/recovered-state.ts';
import type { LogPositions } from '../log/log-positions.ts';
import type { Section } from '../service/records/checkpoint.ts';
import type { MessageFilter, MessageFilterOptions } from './wire/message-filter.ts';
import { isNodeMessage, MAIN_PARTITION, type Envelope, type SiteMessage } from './wire/envelope.ts';
import type { NodeHandshake } from './wire/node-handshake.ts';
import type { Origin } from '../service/records/origin.ts';
import type { Replica } from './replica.ts';
import { NeedsNewerVersionError, droppedError } from '../service/records/failures.ts';
import { EarlyUpdates } from './parts/early-updates.ts';
import { createSiteHandshake } from './wire/site-handshake.ts';
import { MessageIntake } from './wire/message-intake.ts';
import { StartConfirmation } from './parts/start-confirmation.ts';
import type { InnerOutput, Ready, ReadyBuilder, SiteEvent } from './ready.ts';
import type { Submission } from './core/submissions.ts';
import { AbsenceWatch } from './parts/absence-watch.ts';
import { CheckpointCuts } from './checkpoint-cuts.ts';
import type { Lane } from './lane/lane.ts';
import { RedLogs } from './lane/red-logs.ts';
import { PARTS } from './parts.ts';
import {
  ALONE_AFTER_MS,
  describeMembers,
  describeStreams,
  toRecoveredReplica,
  toReplicaOptions,
  type MemberStatus,
  type RejectedMessageCounts,
  type SiteOptions,
  type SiteProgress,
} from './site-options.ts';

/**
 * One site. Inputs come with the time, by a clock that only runs forward and by the wall clock.
 * After the inputs of a turn `takeReady` returns what has to be done.
 */
export class SiteMachine {
  readonly replica: Replica;
  readonly redLogs: RedLogs;
  readonly messageFilter: MessageFilter;
  readonly #options: SiteOptions;
  readonly #engine: RedLogEngine;
  readonly #cuts: CheckpointCuts;
  readonly #messageIntake: MessageIntake;
  readonly #absent: AbsentSites;
  readonly #absenceWatch: AbsenceWatch;
  #isRetired = false;
  readonly #outputs: ReadyBuilder;
  readonly #handshake: NodeHandshake;
  #hasStopped = false;
  readonly #early: EarlyUpdates;
  readonly #start: StartConfirmation;
  #nowMs: number;
  /** Whether an input was taken whose outputs are not exchanged. */
  #hasInput = false;

  constructor(
    options: SiteOptions,
    stored: RecoveredState = EMPTY_STATE,
    nowMs = 0,
    wallMs = nowMs,
  ) {
    this.#nowMs = nowMs;
    this.#options = options;
    const parts = { ...PARTS, ...options.parts };
    this.#absent = new parts.AbsentSites(options.origins, options.site, nowMs);
    const { site, origins, redLog = SEQUENCED_ENGINE } = options;
    this.#outputs = new parts.ReadyBuilder((to, message) => this.#seal(to, message));
    this.#engine = redLog;
    this.messageFilter = new parts.MessageFilter(this.#createFilterOptions(options));
    this.#messageIntake = new MessageIntake(
      this.messageFilter,
      redLog,
      origins,
      options.service.tables,
    );
    this.replica = new parts.Replica(
      toReplicaOptions(options, redLog),
      this.#outputs,
      parts,
      toRecoveredReplica(stored),
      nowMs,
      wallMs,
    );
    this.messageFilter.recall(this.replica.starts.epochs);
    this.redLogs = new RedLogs({
      engine: redLog,
      options,
      stored,
      getMembers: (origins) => this.#absent.getLogMembers(origins),
      replica: this.replica,
      createReader: (log, saved) => new parts.RedLogConsumer(log, saved),
    });
    this.#absenceWatch = new AbsenceWatch(options, this.#absent, this.replica);
    this.#cuts = new CheckpointCuts(this.replica);
    this.#reportHalt();
    this.#handshake = this.#createHandshake(options);
    // The greeting comes first, because other sites need it in order to take the rest.
    this.#handshake.greetAll(nowMs);
    this.replica.start();
    const needsPeer = options.needsPeer === true && origins.getOthers(site).length > 0;
    this.#early = new EarlyUpdates(needsPeer ? nowMs + ALONE_AFTER_MS : undefined, this.replica);
    this.#start = new StartConfirmation(options, this.#early, this.#handshake, (event) =>
      this.#outputs.notify(event),
    );
    this.#settle();
  }

  /** Whether something is in flight that a lost message could hold up. Then ticks are needed. */
  get isBusy(): boolean {
    const isWaiting = this.#early.isUnconfirmed || this.#absent.isWaiting;
    return this.replica.isBusy || this.redLogs.isBusy || (isWaiting && !this.#hasStopped);
  }

  /** The red log of `main`. */
  get log(): RedLog<RedRecord> {
    return this.redLogs.lanes.main.node;
  }

  /** When a tick is due even if nothing happens. It is `undefined` if there is no such time. */
  get wakeAtMs(): number | undefined {
    // This runs after every turn, so it creates no list.
    const atMs = Math.min(
      this.replica.wakeAtMs ?? Infinity,
      this.redLogs.wakeAtMs,
      this.#early.untilMs ?? Infinity,
    );
    return atMs === Infinity ? undefined : atMs;
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.replica.sections;
  }

  /**
   * Why no checkpoint can be made now, if so: a red log does not agree with the records that were
   * taken from it.
   */
  get cutProblem(): string | undefined {
    if (this.#hasStopped) return 'the site has stopped';
    return this.#cuts.findProblem();
  }

  createCut(): CheckpointCut {
    const problem = this.cutProblem;
    if (problem !== undefined) throw new Error(problem);
    return this.#cuts.create();
  }

  onCheckpointed(): void {
    this.redLogs.onCheckpointed();
    this.#cuts.onCheckpointed();
  }

  get retainedFrom(): LogPositions {
    const local = this.replica.retainedFrom;
    return this.redLogs.addRetainedFrom({ local, red: 0 });
  }

  /** The number of entries of the longest log that are kept because another site lacks them. */
  get backlogLength(): number {
    return Math.max(this.replica.backlogLength, this.redLogs.backlogLength);
  }

  get isBacklogFull(): boolean {
    return this.#absent.isFull;
  }

  get progress(): SiteProgress {
    return {
      ...describeStreams(this.replica),
      start: this.messageFilter.epoch,
      backlog: this.backlogLength,
      halt: this.redLogs.halt?.message,
    };
  }

  /** Ends a turn. Returns what has to be done, in the order of the fields. */
  takeReady(): Ready {
    this.#settle();
    const ready = this.#outputs.take();
    for (const { entries } of ready.appends) this.redLogs.onAppended(entries);
    return ready;
  }

  /**
   * Runs an operation. The outputs of several that came together are exchanged once, when they are
   * taken.
   */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.#nowMs = nowMs;
    const isHeld = this.#early.isUnconfirmed && !submission.plan.isRead;
    if (this.redLogs.isAnyOut) this.redLogs.noteTime(nowMs);
    if (isHeld) this.#early.hold(submission);
    else this.replica.submit(submission, nowMs, wallMs);
  }

  /**
   * Whether the site has not stopped, and another site has confirmed this start if that is needed.
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
      room: this.#messageIntake.noRoomCount,
    };
  }

  /**
   * Takes a message. Without room it takes none that would have to be stored: its sender sends it
   * again.
   */
  receive(envelope: Envelope, nowMs: number, wallMs = nowMs, hasRoom = true): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    const isFull = this.redLogs.isFull || !hasRoom;
    if (!this.#messageIntake.hasRoomFor(envelope, isFull)) return;
    const message = this.#open(envelope);
    if (message === undefined) return;

    const from = envelope.from.site;
    this.#absenceWatch.noteHeard(from, nowMs);
    this.redLogs.noteHeard(from, nowMs);
    if (isNodeMessage(message)) {
      this.#start.receive(from, envelope.term, message, [nowMs, wallMs]);
    } else if (message.kind === 'member.closed') {
      this.replica.retire(message.final);
    } else if (this.#handshake.isForked(from, envelope.term)) {
      this.#messageIntake.rejectFork(from);
      this.#handshake.ask(from, nowMs, envelope.term);
    } else if (this.#messageIntake.hasKnownContent(from, message)) {
      this.replica.noteClock(from, envelope.sentAtMs);
      this.#deliver(from, message, envelope.to.partition);
    }
  }

  /** Returns the message if the filter lets it pass. */
  #open(envelope: Envelope): ReturnType<MessageFilter['open']> {
    const { epoch } = this.messageFilter;
    const message = this.messageFilter.open(envelope);
    if (message !== undefined) return message;
    this.#sendEnvelopes(this.messageFilter.takeResponses());
    if (this.messageFilter.epoch !== epoch) this.#handshake.greetAll(this.#nowMs);
    return undefined;
  }

  #deliver(from: Origin, message: SiteMessage, partition: number): void {
    if (isLogMessage(message)) {
      const { messages } = this.#engine;
      const proposed = messages.getProposedRecords(message, from);
      if (this.replica.acceptsRecords(from, proposed))
        this.redLogs.lanes.at(partition).node.receive(from, message, this.#nowMs);
      return;
    }
    this.replica.receive(from, message);
    if (message.kind !== 'blue.gone') return;
    this.#settle();
    this.#checkGone();
  }

  /**
   * Proposes a change of the members: a site joins, is rebuilt on another directory, or is retired.
   * Returns the name under which the output `changed` reports the outcome.
   */
  proposeChange(change: MemberChange, nowMs: number): OperationId {
    this.#nowMs = nowMs;
    return this.replica.membership.propose(change);
  }

  get members(): readonly MemberStatus[] {
    return describeMembers(this.#options.origins, this.#absent);
  }

  /**
   * No client waits any more for the submission with this serial. It ends at once if nothing of it
   * has left the site.
   */
  abandon(serial: number): void {
    this.#settleInput();
    const early = this.#early.remove(serial);
    if (early === undefined) this.replica.abandon(serial);
    else this.#outputs.answer({ kind: 'failed', serial, error: droppedError(early, false) });
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    this.#nowMs = nowMs;
    this.replica.lookups.setConnected(site, isConnected);
    this.redLogs.setConnected(site, isConnected, nowMs);
    this.#absenceWatch.setConnected(site, isConnected);
    if (!isConnected) return;

    this.replica.markStart();
    // This site may have been closed meanwhile: the reply to its hello reports that, even if it has
    // nothing else to send.
    this.#handshake.greet(site);
  }

  onSynced(log: LogKind, length: number, nowMs: number, wallMs = nowMs): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    const partition = getPartitionOf(log);
    if (partition === undefined) this.replica.onSynced(length);
    else this.redLogs.lanes.at(partition).node.onSynced(length);
  }

  /** @param partition the ordinal of the partition whose log gets the reply */
  onReply(
    reply: ServerReply,
    nowMs: number,
    wallMs = nowMs,
    partition: number = MAIN_PARTITION,
  ): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    this.redLogs.lanes.at(partition).node.onReply?.(reply, nowMs);
  }

  tick(nowMs: number, wallMs = nowMs): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    this.#start.tick(nowMs, wallMs);
    this.replica.tick();
    this.redLogs.tick(nowMs);
    this.#absenceWatch.tick(nowMs);
    this.#checkGone();
  }

  /** Begins an input at this time. Returns whether the site still takes any. */
  #beginInput(nowMs: number, wallMs: number): boolean {
    this.#settleInput();
    if (this.#isRetired || this.#hasStopped) return false;
    this.#nowMs = nowMs;
    this.replica.advanceTime(nowMs, wallMs);
    return true;
  }

  /**
   * Exchanges the outputs of the input before, so that each input finds the site as the one before
   * it has left it.
   */
  #settleInput(): void {
    if (this.#hasInput) this.#settle();
    this.#hasInput = true;
  }

  /** Hands outputs of one part to the other until neither has any. */
  #settle(): void {
    this.#hasInput = false;
    if (this.#hasStopped) return;
    let hasLogOutputs: boolean;
    do {
      for (const output of this.#outputs.takeInner()) this.#onInnerOutput(output);
      hasLogOutputs = false;
      for (const lane of this.redLogs.lanes.all) {
        const outputs = lane.node.takeOutputs();
        for (const output of outputs) this.#onLogOutput(output, lane);
        if (outputs.length > 0) hasLogOutputs = true;
      }
    } while (hasLogOutputs || this.#outputs.hasInner);
  }

  #createFilterOptions(options: SiteOptions): MessageFilterOptions {
    const { site, origins, deployment, epoch, version } = options;
    return {
      deployment,
      origins,
      ownSite: { site, partition: MAIN_PARTITION },
      partitionCount: origins.logs.length,
      epoch,
      onRejected: options.onMessageRejected,
      onUnknownStart: (peer, unknown) => this.#handshake.ask(peer, this.#nowMs, unknown),
      onSuperseded: options.stopsOnUnknownStart === true ? this.#onSuperseded : undefined,
      newestRules: version?.own.rules,
      getRules: () => this.replica.activation.inForce?.rules,
      onNewerRules: (problem) => this.#onOutdated(problem),
    };
  }

  #createHandshake(options: SiteOptions): NodeHandshake {
    const { messageFilter, replica } = this;
    return createSiteHandshake(options, {
      replica,
      messageFilter,
      redLogs: this.redLogs,
      send: (to, message) => this.#sendEnvelopes([messageFilter.seal(to, message)]),
      onPeerForked: (peer, message) => this.#outputs.notify({ kind: 'peer-forked', peer, message }),
      onForked: (message) => this.#onForked(message),
    });
  }

  readonly #onSuperseded = (later: number, by: Origin): void => {
    const { epoch } = this.messageFilter;
    const start = `the start ${later} of this site, which is later than this one, ${epoch}`;
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

  /** Stops the site. Outputs from before are still applied, and nothing follows. */
  #stop(event: SiteEvent): void {
    if (this.#hasStopped) return;
    this.#early.refuse();
    this.#settle();
    this.#hasStopped = true;
    this.#outputs.notify(event);
  }

  #checkGone(): void {
    if (this.#absenceWatch.isLeftBehind(this.#nowMs))
      this.#start.noteBehind('operations of other sites');
  }

  #onInnerOutput(output: InnerOutput): void {
    switch (output.kind) {
      case 'propose':
        return this.#early.propose(output.record, this.#nowMs);
      case 'withdraw':
        return this.#early.withdraw(output.record);
      case 'forked':
        return this.#onForked(output.message);
      case 'fork':
        return this.#handshake.noteFork(output.origin, output.message);
      case 'retired':
        this.#isRetired = true;
        return this.#outputs.notify(output);
      case 'members':
        this.#sendEnvelopes(this.messageFilter.createRetirementNotices());
        return this.#outputs.notify(output);
      case 'changed':
      case 'behind':
      case 'rights-lost':
        return this.#outputs.notify(output);
    }
  }

  #onLogOutput(output: LogOutput<RedRecord>, { intake, partition }: Lane): void {
    switch (output.kind) {
      case 'deliver':
        return this.#deliverRecords(intake.take(output), partition);
      case 'store':
        return this.#outputs.appendTo(getRedKind(partition), output.entries);
      case 'send':
        return this.#sendFrom(partition, output.to, output.message);
      case 'gap':
      case 'regressed':
      case 'differs':
        intake.stop({ reason: output.kind, message: output.message });
        return this.#reportHalt();
      case 'outdated':
        return this.#onOutdated(output.message);
      case 'behind':
        return this.#start.noteBehind('entries of the red log');
      case 'fork':
        return this.#handshake.noteFork(output.origin, output.message);
      case 'full':
        intake.noteFull(output.message);
        return this.#outputs.notify(output);
      case 'request':
        return this.#outputs.request({ partition, request: output.request });
      case 'unavailable':
      case 'available':
        return this.#outputs.notify(output);
    }
  }

  #deliverRecords(records: readonly RedRecord[], partition: number): void {
    const problem = this.replica.activation.findProblem(records);
    if (problem !== undefined) return this.#onOutdated(problem);
    if (records.length > 0 && !this.#hasStopped) this.replica.deliver(records, partition);
    if (records.some(({ kind }) => kind === 'member'))
      this.#absenceWatch.onMembersChanged(partition);
    this.#reportHalt();
  }

  #reportHalt(): void {
    for (const halt of this.redLogs.takeNewHalts()) this.#outputs.notify({ kind: 'halted', halt });
  }

  #sendEnvelopes(envelopes: readonly Envelope[]): void {
    for (const envelope of envelopes) this.#outputs.sendEnvelope(envelope);
  }

  #sendFrom(partition: number, to: Origin, message: SiteMessage): void {
    const envelope = this.#seal(to, message, partition);
    if (envelope !== undefined) this.#outputs.sendEnvelope(envelope);
  }

  /** Returns nothing if the other site was closed. */
  #seal(to: Origin, message: SiteMessage, partition = MAIN_PARTITION): Envelope | undefined {
    return this.#options.origins.isMember(to)
      ? this.messageFilter.seal(to, message, partition)
      : undefined;
  }
}
