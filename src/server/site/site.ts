/**
 * One site, as a pure state machine: the same code runs in production and in the simulator. It puts
 * its parts and its lanes together, takes inputs, and returns what has to be done.
 *
 * Inputs come with the time, by a clock that only runs forward and by the wall clock. An input ends
 * with `#settle`: the parts that are due go on. What they have put out for each other and for the
 * red logs is exchanged when the next input begins, or when the turn ends with `takeReady`.
 */
import type { CorrectableError } from '../../correctable/errors.ts';
import { HybridClock } from '../log/clock.ts';
import { getPartitionOf, type LogKind } from '../log/local-log.ts';
import type { LogPositions } from '../log/log-positions.ts';
import { EMPTY_STATE, type CheckpointCut, type RecoveredState } from '../log/recovered-state.ts';
import type { ProposedRecord, RedLogEngine } from '../log/red-log-engine.ts';
import { isLogMessage, type RedLog, type ServerReply } from '../log/red-log.ts';
import { SEQUENCED_ENGINE } from '../log/sequenced/engine.ts';
import { hasBounded } from '../service/bounded-takes.ts';
import { Fifo } from '../service/collections/fifo.ts';
import type { Section } from '../service/records/checkpoint.ts';
import {
  NeedsNewerVersionError,
  concludedError,
  droppedError,
} from '../service/records/failures.ts';
import { formatStartName, type Origin } from '../service/records/origin.ts';
import type {
  BlueOperation,
  LocalEntry,
  MemberChange,
  OperationId,
  RedDelivered,
  RedRecord,
  SlotDecision,
} from '../service/records/records.ts';
import { isReply, type ReplyOrError } from '../service/records/reply.ts';
import type { Stage } from './answer.ts';
import { CheckpointCuts } from './checkpoint-cuts.ts';
import type { ClockQuarantine } from './core/clock-quarantine.ts';
import type { CoverageWaiters } from './core/coverage-waiters.ts';
import { formatOperationId, isKeyed } from './core/operation-id.ts';
import type { PartOptions } from './core/site-core.ts';
import type { SettlingOrder, SiteParts } from './core/site-part.ts';
import type { SiteState } from './core/site-state.ts';
import type { Submission } from './core/submissions.ts';
import type { Lane } from './lane/lane.ts';
import { RedLogs } from './lane/red-logs.ts';
import type { RedPath } from './lane/red-path.ts';
import { PARTS } from './parts.ts';
import { AbsenceWatch } from './parts/absence-watch.ts';
import type { AbsentSites } from './parts/absent-sites.ts';
import { Activation } from './parts/activation.ts';
import type { BluePath } from './parts/blue/blue-path.ts';
import { EarlyUpdates } from './parts/early-updates.ts';
import { KnownStarts } from './parts/known-starts.ts';
import type { RetainedReplies, RetainedReplyStats } from './parts/lookups/id-table.ts';
import type { OperationLookups } from './parts/lookups/operation-lookup.ts';
import { SiteMemory } from './parts/memory.ts';
import { LowWatermarks } from './parts/low-watermarks.ts';
import type { Membership } from './parts/membership.ts';
import { Operations } from './parts/operations.ts';
import { LostRights } from './parts/rights/lost-rights.ts';
import type { Rights } from './parts/rights/rights.ts';
import type { RowComparisons } from './parts/row-comparisons.ts';
import { StartConfirmation } from './parts/start-confirmation.ts';
import type { Writes } from './parts/writes.ts';
import type { InnerOutput, Ready, ReadyBuilder, SiteEvent } from './ready.ts';
import { restoreParts } from './recovery.ts';
import {
  ALONE_AFTER_MS,
  describeMembers,
  describeStreams,
  toPartOptions,
  toRecoveredParts,
  type MemberStatus,
  type RejectedMessageCounts,
  type SiteOptions,
  type SiteProgress,
} from './site-options.ts';
import type { WholeSite } from './whole-site.ts';
import { Door, type DoorSite } from './wire/door.ts';
import { isNodeMessage, MAIN_PARTITION, type Envelope, type SiteMessage } from './wire/envelope.ts';

/** Called when an entry of the site's own log is synced, with its position there. */
type OnSynced = (position: number) => void;

export class Site implements WholeSite {
  readonly options: PartOptions;
  readonly outputs: ReadyBuilder;
  readonly state: SiteState;
  readonly clock: HybridClock = new HybridClock();
  readonly blue: BluePath;
  readonly red: RedPath;
  readonly redLogs: RedLogs;
  readonly writes: Writes;
  readonly lookups: OperationLookups;
  readonly coverage: CoverageWaiters;
  readonly memory: SiteMemory;
  readonly rights: Rights | undefined;
  readonly membership: Membership;
  readonly activation: Activation;
  readonly starts: KnownStarts = new KnownStarts();
  readonly door: Door;
  nowMs: number;
  wallMs: number;
  readonly #options: SiteOptions;
  readonly #engine: RedLogEngine;
  /** The name of this start of the site. Operations without a name get theirs from it. */
  readonly #name: string;
  readonly #parts: SiteParts;
  readonly #operations: Operations;
  readonly #watermarks: LowWatermarks;
  readonly #comparisons: RowComparisons;
  readonly #quarantine: ClockQuarantine;
  readonly #absent: AbsentSites;
  readonly #absenceWatch: AbsenceWatch;
  readonly #early: EarlyUpdates;
  readonly #start: StartConfirmation;
  readonly #cuts: CheckpointCuts;
  readonly #unsynced = new Fifo<OnSynced>();
  #syncedLength: number;
  /** By the ordinal of the partition. */
  readonly #provenRedCounts: readonly number[];
  #rejectedStampCount = 0;
  /** Whether the site was closed. It takes no input once that is reported. */
  #isClosed = false;
  #isRetired = false;
  #hasStopped = false;
  /** Whether an input was taken whose outputs are not exchanged. */
  #hasInput = false;

  constructor(
    options: SiteOptions,
    stored: RecoveredState = EMPTY_STATE,
    nowMs = 0,
    wallMs = nowMs,
  ) {
    const parts = { ...PARTS, ...options.parts };
    const { site, origins, redLog = SEQUENCED_ENGINE } = options;
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.#options = options;
    this.#engine = redLog;
    this.options = toPartOptions(options, redLog);
    const recovered = toRecoveredParts(stored);
    origins.load(recovered.checkpoint?.shared.origins ?? []);
    this.#name = formatStartName(origins.get(site), options.epoch);
    this.outputs = new parts.ReadyBuilder((to, message) => this.door.seal(to, message));
    this.#absent = new parts.AbsentSites(origins, site, nowMs);

    this.activation = new Activation(
      this,
      (partition) => this.red.lanes.at(partition).order.activatedPlace,
      this.#name,
    );
    this.state = this.#createState(parts);
    this.coverage = new parts.CoverageWaiters(() => this.state.stable, origins);
    this.#quarantine = new parts.ClockQuarantine(this.options);
    this.blue = new parts.BluePath(this, this.#onBlueApplied);
    this.red = new parts.RedPath(this, parts);
    this.writes = new parts.Writes(this, this.blue, this.red, this.#name, parts);
    this.lookups = this.writes.lookups;
    this.memory = new SiteMemory(this, this.blue, this.red, this.lookups);
    this.#watermarks = new LowWatermarks(this, this.blue, this.red, this.#name);
    this.#comparisons = this.#createComparisons(parts);
    this.membership = this.#createMembership(parts);
    this.rights = hasBounded(options.service.tables)
      ? new parts.Rights(this, this.blue, this.red, this.#name, parts)
      : undefined;
    this.#operations = new Operations(this, this.#name);
    this.#parts = this.#listParts(parts);

    const found = restoreParts(this, recovered);
    this.#syncedLength = found.syncedLength;
    this.#provenRedCounts = found.provenRedCounts;
    this.#beginQuarantine();

    this.door = this.#createDoor(parts);
    this.redLogs = this.#openLogs(stored, parts);
    this.#absenceWatch = new AbsenceWatch(options, this.#absent, this);
    this.#cuts = new CheckpointCuts(this);
    this.#startParts();

    const needsPeer = options.needsPeer === true && origins.getOthers(site).length > 0;
    const heldUntilMs = needsPeer ? nowMs + ALONE_AFTER_MS : undefined;
    this.#early = new EarlyUpdates(heldUntilMs, this, this.#operations);
    this.#start = new StartConfirmation(options, this.#early, this.door.handshake, (event) =>
      this.outputs.notify(event),
    );
    this.#exchange();
  }

  /** Lists the parts, and those that settle in the order in which they do. That order is a rule. */
  #listParts({ SiteParts: Parts }: typeof PARTS): SiteParts {
    const { blue, writes, lookups, coverage, red, rights, activation, membership } = this;
    const { proposals, executions } = red;
    const ofRights = rights === undefined ? [] : [rights, new LostRights(this)];
    const watermarks = this.#watermarks;
    const last = [activation, membership, this.#operations];
    const order: SettlingOrder = {
      moving: [blue, red, coverage, proposals],
      following: [executions, ...ofRights, watermarks, ...last, this.memory],
    };
    const all = [blue, writes, lookups, coverage, red, executions, ...ofRights, ...last];
    return new Parts([...all, watermarks, this.#comparisons], order);
  }

  #createState(parts: typeof PARTS): SiteState {
    const { service, origins, generators, site, maxRedBytes, partitions, version } = this.options;
    const checkChoice = version && this.activation.checkChoice;
    const ports = { ...generators, checkChoice, maxRedBytes, partitions };
    return new parts.SiteState(service, origins, {
      ...ports,
      identifierPrefix: this.#name,
      site,
    });
  }

  #createComparisons({ RowComparisons: Comparisons, RowDigests }: typeof PARTS): RowComparisons {
    const { state, options } = this;
    return new Comparisons(this, new RowDigests(state.store, options.comparisons?.maxRows));
  }

  #createMembership(parts: typeof PARTS): Membership {
    const port = {
      onMembersChanged: () => this.#onMembersChanged(),
      getMembersPlace: (partition: number) => this.red.lanes.at(partition).order.membersPlace,
    };
    return new parts.Membership(this, this.blue, port, this.#name);
  }

  #createDoor(parts: typeof PARTS): Door {
    const { outputs } = this;
    const getNowMs = (): number => this.nowMs;
    const getLogs = (): RedLogs => this.redLogs;
    const getRules = (): number | undefined => this.activation.inForce?.rules;
    const site: DoorSite = {
      get nowMs() {
        return getNowMs();
      },
      get redLogs() {
        return getLogs();
      },
      get rules() {
        return getRules();
      },
      starts: this.starts,
      blue: this.blue,
      noteEpoch: (peer, epoch, directory) => this.#noteEpoch(peer, epoch, directory),
      send: (envelope) => outputs.sendEnvelope(envelope),
      onPeerForked: (peer, message) => outputs.notify({ kind: 'peer-forked', peer, message }),
      onForked: (message) => this.#onForked(message),
      onOutdated: (problem) => this.#onOutdated(problem),
    };
    return new Door(site, this.#options, this.#engine, parts);
  }

  #openLogs(stored: RecoveredState, parts: typeof PARTS): RedLogs {
    return new RedLogs({
      engine: this.#engine,
      options: this.#options,
      stored,
      site: this,
      outputs: this.outputs,
      provenCounts: this.#provenRedCounts,
      getMembers: (origins) => this.#absent.getLogMembers(origins),
      createReader: (log, saved) => new parts.RedLogConsumer(log, saved),
      port: {
        deliver: (records, lane) => this.#deliver(records, lane),
        send: (to, message, partition) => this.#sendFrom(partition, to, message),
        onOutdated: (problem) => this.#onOutdated(problem),
        noteBehind: (lacking) => this.#start.noteBehind(lacking),
        noteFork: (origin, message) => this.door.handshake.noteFork(origin, message),
      },
    });
  }

  /** Goes on where the start before has ended. */
  #startParts(): void {
    const { origins, site } = this.options;
    this.door.filter.recall(this.starts.epochs);
    this.redLogs.reportHalts();
    // The greeting comes first, because other sites need it in order to take the rest.
    this.door.handshake.greetAll(this.nowMs);
    this.blue.sendGreetings();
    if (origins.isMember(site)) this.membership.confirm();
    else this.#retire();
    this.#settle();
  }

  #beginQuarantine(): void {
    const { site } = this.options;
    const lastStamps = [...this.state.stable];
    lastStamps[site] = Math.max(this.clock.last, lastStamps[site] ?? 0);
    this.#quarantine.begin(this.nowMs, this.wallMs, lastStamps);
  }

  // These are the inputs.

  /**
   * Runs an operation. Nothing becomes visible by that alone, so no part settles. The outputs of
   * several operations that came together are exchanged once.
   */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    if (this.#isRetired || this.#hasStopped) return;
    this.nowMs = nowMs;
    if (this.redLogs.isAnyOut) this.redLogs.noteTime(nowMs);
    if (this.#early.isUnconfirmed && !submission.plan.isRead) return this.#early.hold(submission);
    this.#advanceTime(nowMs, wallMs);
    this.#operations.submit(submission);
  }

  /**
   * Takes a message. Without room it takes none that would have to be stored: its sender sends it
   * again.
   */
  receive(envelope: Envelope, nowMs: number, wallMs = nowMs, hasRoom = true): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    const message = this.door.open(
      envelope,
      hasRoom && !this.redLogs.isFull && !this.memory.isStuck,
    );
    if (message === undefined) return;

    const from = envelope.from.site;
    this.#absenceWatch.noteHeard(from, nowMs);
    this.redLogs.noteHeard(from, nowMs);
    if (isNodeMessage(message)) this.#start.receive(from, envelope.term, message, nowMs);
    else if (message.kind === 'member.closed') this.#retire(message.final);
    else if (this.door.takes(from, envelope.term, message)) {
      if (envelope.sentAtMs !== undefined) this.#quarantine.noteClock(from, envelope.sentAtMs);
      this.#take(from, message, envelope.to.partition);
    }
  }

  #take(from: Origin, message: SiteMessage, partition: number): void {
    if (isLogMessage(message)) {
      const proposed = this.#engine.messages.getProposedRecords(message, from);
      if (this.#acceptsRecords(from, proposed))
        this.redLogs.lanes.at(partition).node.receive(from, message, this.nowMs);
      return;
    }
    this.#parts.receive(from, message);
    this.#settle();
    if (message.kind !== 'blue.gone') return;
    this.#exchange();
    this.#checkGone();
  }

  onSynced(log: LogKind, length: number, nowMs: number, wallMs = nowMs): void {
    if (!this.#beginInput(nowMs, wallMs)) return;
    const partition = getPartitionOf(log);
    if (partition !== undefined) return this.redLogs.lanes.at(partition).node.onSynced(length);
    for (; this.#syncedLength < length; this.#syncedLength += 1) {
      this.#unsynced.shift()?.(this.#syncedLength);
    }
    this.#settle();
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
    this.#start.tick(nowMs);
    this.#parts.tick(nowMs);
    this.#settle();
    this.redLogs.tick(nowMs);
    this.#absenceWatch.tick(nowMs);
    this.#checkGone();
  }

  /**
   * No client waits any more for the submission with this serial. It ends at once if nothing of it
   * has left the site.
   */
  abandon(serial: number): void {
    this.#exchangeInput();
    const early = this.#early.remove(serial);
    if (early !== undefined) {
      this.outputs.answer({ kind: 'failed', serial, error: droppedError(early, false) });
      return;
    }
    const waiting = this.#parts.cancel(serial);
    if (waiting === undefined) this.red.abandon(this.#createOperationId(serial), serial);
    // A named operation may have begun elsewhere, or another caller may wait for it here.
    else this.reply(waiting, 'strong', droppedError(waiting, false));
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    this.nowMs = nowMs;
    this.lookups.setConnected(site, isConnected);
    this.redLogs.setConnected(site, isConnected, nowMs);
    this.#absenceWatch.setConnected(site, isConnected);
    if (!isConnected) return;

    this.#markStart();
    // This site may have been closed meanwhile: the reply to its hello reports that, even if it has
    // nothing else to send.
    this.door.handshake.greet(site);
  }

  /**
   * Proposes a change of the members: a site joins, is rebuilt on another directory, or is retired.
   * Returns the name under which the output `changed` reports the outcome.
   */
  proposeChange(change: MemberChange, nowMs: number): OperationId {
    this.nowMs = nowMs;
    return this.membership.propose(change);
  }

  /** Ends a turn. Returns what has to be done, in the order of the fields. */
  takeReady(): Ready {
    this.#exchange();
    const ready = this.outputs.take();
    for (const { entries } of ready.appends) this.redLogs.onAppended(entries);
    return ready;
  }

  /** Begins an input at this time. Returns whether the site still takes any. */
  #beginInput(nowMs: number, wallMs: number): boolean {
    this.#exchangeInput();
    if (this.#isRetired || this.#hasStopped) return false;
    this.#advanceTime(nowMs, wallMs);
    return true;
  }

  #advanceTime(nowMs: number, wallMs: number): void {
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.#quarantine.advance(nowMs, wallMs);
  }

  /** Lets the parts that are due go on, and sends what they have made for other sites. */
  #settle(): void {
    this.#parts.settle();
    this.blue.flush();
  }

  /**
   * Exchanges the outputs of the input before, so that each input finds the site as the one before
   * it has left it.
   */
  #exchangeInput(): void {
    if (this.#hasInput) this.#exchange();
    this.#hasInput = true;
  }

  /** Hands outputs of the parts to the red logs, and the other way round, until there are none. */
  #exchange(): void {
    this.#hasInput = false;
    if (this.#hasStopped) return;
    let hasLogOutputs: boolean;
    do {
      for (const output of this.outputs.takeInner()) this.#onInnerOutput(output);
      hasLogOutputs = this.redLogs.handOver();
    } while (hasLogOutputs || this.outputs.hasInner);
  }

  #onInnerOutput(output: InnerOutput): void {
    switch (output.kind) {
      case 'propose':
        return this.#early.propose(output.record, this.nowMs);
      case 'withdraw':
        return this.#early.withdraw(output.record);
      case 'forked':
        return this.#onForked(output.message);
      case 'fork':
        return this.door.handshake.noteFork(output.origin, output.message);
      case 'retired':
        this.#isRetired = true;
        return this.outputs.notify(output);
      case 'members':
        this.door.sendRetirementNotices();
        return this.outputs.notify(output);
      case 'changed':
      case 'behind':
      case 'rights-lost':
        return this.outputs.notify(output);
    }
  }

  #deliver(records: readonly RedRecord[], lane: Lane): void {
    if (records.length > 0 && !this.#hasStopped) {
      for (const record of records) this.#deliverRecord(lane, record);
      this.#settle();
    }
    if (records.some(({ kind }) => kind === 'member'))
      this.#absenceWatch.onMembersChanged(lane.partition);
  }

  #deliverRecord(lane: Lane, record: RedRecord): void {
    const { order, partition } = lane;
    this.red.deliver(lane, record);
    if (order.holds !== undefined) this.options.observer?.onRedDelivered?.(record);
    const place = order.deliveredCount;
    const isProven = place <= (this.#provenRedCounts[partition] ?? 0);
    if (record.kind === 'member') this.membership.deliver(record, place, isProven);
    else if (record.kind === 'activate') this.activation.deliver(record, place, isProven);
  }

  // The parts need these of the site.

  store(entry: LocalEntry, onSynced: OnSynced): void {
    this.#unsynced.push(onSynced);
    this.outputs.append(entry);
  }

  reply(submission: Submission, stage: Stage, answer: ReplyOrError): void {
    const { serial, wantedStages, sessionVector } = submission;
    const isLast = stage !== 'tentative' && !(stage === 'causal' && wantedStages.strong);
    if (!isReply(answer)) {
      const { identity } = submission;
      // At this stage the update fails because of a record in the red log, which is final.
      const isConcluded =
        stage === 'strong' && identity !== undefined && isKeyed(identity.id) && answer.retryable;
      // The result of a weak level, also a rejection, ends nothing if a stronger level follows.
      const error = isConcluded ? concludedError(answer) : answer;
      this.outputs.answer({ kind: 'failed', serial, error, stage: isLast ? undefined : stage });
      return;
    }
    const seen =
      stage === 'tentative' || sessionVector === undefined ? undefined : [...this.state.stable];
    if (seen !== undefined) this.options.observer?.onViewed?.(submission);
    this.outputs.answer({ kind: 'view', serial, stage, reply: answer, isLast, seen });
  }

  acceptsStamp(peer: Origin, stamp: number): boolean {
    const isAccepted = this.#quarantine.acceptsStampsFrom(peer, stamp);
    if (!isAccepted) this.#rejectedStampCount += 1;
    return isAccepted;
  }

  hasWaiter(id: OperationId): boolean {
    return this.#parts.hasWaiter(id);
  }

  get redDelivered(): RedDelivered {
    const { lanes } = this.red;
    return lanes.count === 1
      ? lanes.main.order.deliveredCount
      : lanes.all.map(({ order }) => order.deliveredCount);
  }

  ownBlueProgress(): { readonly applied: number; readonly durable: number } {
    return this.blue.ownProgress;
  }

  restoreSlot(id: OperationId, hop: number, decision: SlotDecision): void {
    this.lookups.slots.restore(id, hop, decision);
  }

  get syncedLength(): number {
    return this.#syncedLength;
  }

  get sections(): Readonly<Record<string, Section>> {
    return { rows: this.state.store, ...this.#parts.sections };
  }

  readonly #onBlueApplied = (operation: BlueOperation): void =>
    this.#parts.onBlueApplied(operation);

  #onMembersChanged(): void {
    const { origins, site } = this.options;
    this.state.grow(origins.size);
    this.#parts.onMembersChanged();
    if (!origins.isMember(site)) this.#retire();
  }

  /**
   * A record whose stamp is too far ahead does not enter the red log. It is sent again until the
   * clock is right.
   */
  #acceptsRecords(from: Origin, proposed: readonly ProposedRecord[]): boolean {
    return proposed.every(({ record }) => {
      // Once a hold stands, any site can propose the operation that it has.
      const operation = record.kind === 'hold' ? record.operation : record;
      // The leader has accepted the records of others that it passes on.
      return (
        operation.kind !== 'operation' ||
        operation.site !== from ||
        this.acceptsStamp(from, operation.clock)
      );
    });
  }

  /**
   * A message of a later start of a site has come. This is stored before anything that the message
   * leads to.
   */
  #noteEpoch(site: Origin, epoch: number, directory?: string): void {
    this.starts.set(site, epoch, directory);
    // The entry on the disk has an older name for the epoch.
    this.store(
      directory === undefined
        ? { kind: 'term', site, term: epoch }
        : { kind: 'term', site, term: epoch, directory },
      () => {},
    );
  }

  /**
   * Proposes the marker of this start while the red order can be reached. An operation that comes
   * after the marker has passed is certain to be new.
   */
  #markStart(): void {
    const { origins, site } = this.options;
    if (origins.get(site).state !== 'open') return;
    for (const { partition, admission } of this.red.lanes)
      if (!admission.isFull) this.red.ensureMarkerPassed(this.#createOperationId(0), partition);
  }

  #createOperationId(serial: number): string {
    return formatOperationId(this.#name, serial);
  }

  #sendFrom(partition: number, to: Origin, message: SiteMessage): void {
    const envelope = this.door.seal(to, message, partition);
    if (envelope !== undefined) this.outputs.sendEnvelope(envelope);
  }

  // These end the site.

  /**
   * This site was closed.
   *
   * @param final the last of its operations that counts, if that is known
   */
  #retire(final: number | null = null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const name = this.options.origins.getName(this.options.site);
    const message = `${name} was closed: it was retired, or rebuilt on another data directory`;
    this.outputs.report({
      kind: 'retired',
      message,
      unsent: this.blue.streams.getUnsent(final),
    });
  }

  #onForked(message: string): void {
    if (this.#hasStopped) return;
    this.door.handshake.reportOwnFork(message);
    this.#stop({ kind: 'forked', message });
  }

  #onOutdated(problem: string): void {
    this.#stop({
      kind: 'outdated',
      message: new NeedsNewerVersionError(problem).message,
    });
  }

  /** Stops the site. Outputs from before are still applied, and nothing follows. */
  #stop(event: SiteEvent): void {
    if (this.#hasStopped) return;
    this.#early.refuse();
    this.#exchange();
    this.#hasStopped = true;
    this.outputs.notify(event);
  }

  #checkGone(): void {
    if (this.#absenceWatch.isLeftBehind(this.nowMs))
      this.#start.noteBehind('operations of other sites');
  }

  // The process reads these.

  /** Whether something is in flight that a lost message could hold up. Then ticks are needed. */
  get isBusy(): boolean {
    const isWaiting = this.#early.isUnconfirmed || this.#absent.isWaiting;
    return this.#parts.isBusy || this.redLogs.isBusy || (isWaiting && !this.#hasStopped);
  }

  /** Whether ticks are needed. They are also needed for what holds nothing up. */
  get needsTicks(): boolean {
    return this.isBusy || (this.#comparisons.isWaiting && !this.#hasStopped);
  }

  /** When a tick is due even if nothing happens. It is `undefined` if there is no such time. */
  get wakeAtMs(): number | undefined {
    // This runs after every turn, so it creates no list.
    const atMs = Math.min(
      this.#parts.wakeAtMs ?? Infinity,
      this.redLogs.wakeAtMs,
      this.#early.untilMs ?? Infinity,
    );
    return atMs === Infinity ? undefined : atMs;
  }

  /**
   * Whether the site has not stopped, and another site has confirmed this start if that is needed.
   */
  get isConfirmed(): boolean {
    return !this.#early.isUnconfirmed && !this.#hasStopped;
  }

  /** Why all updates are refused, if they are. */
  get writeRefusal(): CorrectableError | undefined {
    return this.#early.rejection ?? this.writes.rejection;
  }

  get isBacklogFull(): boolean {
    return this.#absent.isFull;
  }

  /** The red log of `main`. */
  get log(): RedLog<RedRecord> {
    return this.redLogs.lanes.main.node;
  }

  /**
   * Why no checkpoint can be made now, if so: a red log does not agree with the records that were
   * taken from it.
   */
  get cutProblem(): string | undefined {
    if (this.#hasStopped) return 'the site has stopped';
    return this.#cuts.findProblem();
  }

  /** Whether so much has changed since the last checkpoint that another one should begin. */
  get isCheckpointDue(): boolean {
    return this.memory.isCheckpointDue;
  }

  /** What a read of the store of rows has found. Then nothing that follows may leave the site. */
  get damage(): Error | undefined {
    return this.state.store.damage;
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

  /** The positions in all logs from which on other sites may lack entries. */
  get retainedFrom(): LogPositions {
    return this.redLogs.addRetainedFrom({ local: this.#localRetainedFrom, red: 0 });
  }

  /** If no site lacks entries of the own log, it is the position of the next entry. */
  get #localRetainedFrom(): number {
    return this.blue.streams.retainedFrom ?? this.#syncedLength;
  }

  /** The number of entries of the longest log that are kept because another site lacks them. */
  get backlogLength(): number {
    return Math.max(this.#syncedLength - this.#localRetainedFrom, this.redLogs.backlogLength);
  }

  get progress(): SiteProgress {
    return {
      ...describeStreams(this),
      start: this.door.filter.epoch,
      backlog: this.backlogLength,
      halt: this.redLogs.halt?.message,
    };
  }

  get rejections(): RejectedMessageCounts {
    return {
      ...this.door.filter.rejections,
      clock: this.#rejectedStampCount,
      room: this.door.noRoomCount,
    };
  }

  get members(): readonly MemberStatus[] {
    return describeMembers(this.options.origins, this.#absent);
  }

  get retainedReplies(): RetainedReplies {
    return {
      own: this.lookups.slots.retainedReplies,
      red: sumRetained(this.red.lanes.all.map(({ order }) => order.outcomes.retainedReplies)),
    };
  }
}

function sumRetained(stats: readonly RetainedReplyStats[]): RetainedReplyStats {
  let [operations, bytes] = [0, 0];
  for (const item of stats) {
    operations += item.operations;
    bytes += item.bytes;
  }
  return { operations, bytes };
}
