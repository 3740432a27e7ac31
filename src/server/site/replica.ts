/**
 * The replica of one site, as a pure state machine: the same code runs in production and in the
 * simulator.
 */
import { Fifo } from '../service/collections/fifo.ts';
import { EarlySubmissions } from './parts/early-submissions.ts';
import { SiteParts, type PartMessage, type SettlingOrder } from './core/site-part.ts';
import { Activation } from './parts/activation.ts';
import { BluePath } from './parts/blue/blue-path.ts';
import type { Section } from '../service/records/checkpoint.ts';
import { HybridClock } from '../log/clock.ts';
import { CoverageWaiters } from './core/coverage-waiters.ts';
import { concludedError, droppedError, joiningError } from '../service/records/failures.ts';
import { LowWatermarks, WATERMARK_SHADOW } from './parts/low-watermarks.ts';
import { Membership, type MembershipPort } from './parts/membership.ts';
import { isKeyed, formatOperationId } from './core/operation-id.ts';
import { formatStartName, type Origin } from '../service/records/origin.ts';
import { ClockQuarantine } from './core/clock-quarantine.ts';
import type {
  BlueOperation,
  LocalEntry,
  OperationId,
  RedDelivered,
  RedRecord,
  SlotDecision,
} from '../service/records/records.ts';
import { hasBounded } from '../service/bounded-takes.ts';
import { LostRights } from './parts/rights/lost-rights.ts';
import { Rights, RIGHTS_PARTS } from './parts/rights/rights.ts';
import { RED_PARTS, RedPath } from './lane/red-path.ts';
import type { Lane } from './lane/lane.ts';
import type { ReplicaCore, ReplicaOptions } from './core/replica-port.ts';
import type { ReplicaOutputs } from './core/outputs.ts';
import type { Submission } from './core/submissions.ts';
import type { Stage } from './answer.ts';
import { SiteState } from './core/site-state.ts';
import { isReply, type ReplyOrError } from '../service/records/reply.ts';
import type { ProposedRecord } from '../log/red-log-engine.ts';
import type { RetainedReplies, RetainedReplyStats } from './parts/lookups/id-table.ts';
import { KnownStarts } from './parts/known-starts.ts';
import {
  EMPTY_REPLICA,
  restoreReplica,
  saveReplica,
  type RecoveredReplica,
  type SavedParts,
  type SavedReplica,
} from './replica-recovery.ts';
import { Writes, WRITES_PARTS } from './parts/writes.ts';
import type { OperationLookups } from './parts/lookups/operation-lookup.ts';

/** Called when an entry of the site's own log is synced, with its position there. */
type OnSynced = (position: number) => void;

/** The classes of the parts of a replica, and of their parts. Tests replace some. */
export const REPLICA_PARTS = {
  SiteParts,
  SiteState,
  CoverageWaiters,
  ClockQuarantine,
  BluePath,
  ...RED_PARTS,
  RedPath,
  ...WRITES_PARTS,
  Writes,
  Membership,
  ...RIGHTS_PARTS,
  Rights,
};

/** The replica of one site. It puts what has to be done into `outputs`. */
export class Replica implements ReplicaCore, SavedParts {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock = new HybridClock();
  readonly blue: BluePath;
  readonly red: RedPath;
  readonly writes: Writes;
  readonly coverage: CoverageWaiters;
  readonly rights: Rights | undefined;
  readonly membership: Membership;
  readonly activation: Activation;
  readonly starts: KnownStarts = new KnownStarts();
  rejectedStampCount = 0;
  readonly #watermarks: LowWatermarks;
  readonly #quarantine: ClockQuarantine;
  /** The name of this start of the site. Operations without a name get theirs from it. */
  readonly #name: string;
  nowMs = 0;
  wallMs = 0;
  readonly outputs: ReplicaOutputs;
  readonly #early: EarlySubmissions;
  readonly #parts: SiteParts;
  readonly #unsynced = new Fifo<OnSynced>();
  #syncedLength = 0;
  #isRetired = false;
  /** By the ordinal of the partition. */
  readonly #provenRedCounts: readonly number[];

  constructor(
    options: ReplicaOptions,
    outputs: ReplicaOutputs,
    parts: typeof REPLICA_PARTS,
    stored: RecoveredReplica = EMPTY_REPLICA,
    nowMs = 0,
    wallMs = nowMs,
  ) {
    this.options = options;
    this.outputs = outputs;
    options.origins.load(stored.checkpoint?.shared.origins ?? []);
    this.#name = formatStartName(options.origins.get(options.site), options.epoch);
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.activation = new Activation(
      this,
      (partition) => this.red.lanes.at(partition).order.activatedPlace,
      this.#name,
    );
    this.state = this.#createState(parts);
    this.coverage = new parts.CoverageWaiters(() => this.state.stable, options.origins);
    this.#quarantine = new parts.ClockQuarantine(options);
    this.blue = new parts.BluePath(this, this.#onBlueApplied);
    this.red = new parts.RedPath(this, parts);
    this.writes = new parts.Writes(this, this.blue, this.red, this.#name, parts);
    this.#watermarks = new LowWatermarks(this, this.blue, this.red, this.#name);
    const port = this.#createMembershipPort();
    this.membership = new parts.Membership(this, this.blue, port, this.#name);
    this.rights = hasBounded(options.service.tables)
      ? new parts.Rights(this, this.blue, this.red, this.#name, parts)
      : undefined;
    this.#early = new EarlySubmissions(
      () => this.blue.isRecovered,
      (submission) => this.#start(submission),
    );
    this.#parts = this.#listParts(parts);
    const found = restoreReplica(this, stored);
    this.#syncedLength = found.syncedLength;
    this.#provenRedCounts = found.provenRedCounts;
    const lastStamps = [...this.state.stable];
    lastStamps[options.site] = Math.max(this.clock.last, lastStamps[options.site] ?? 0);
    this.#quarantine.begin(nowMs, wallMs, lastStamps);
  }

  /** Goes on where the start before has ended. The site has to greet the others before. */
  start(): void {
    const { origins, site } = this.options;
    this.blue.sendGreetings();
    if (origins.isMember(site)) this.membership.confirm();
    else this.retire();
    this.#settle();
  }

  get lookups(): OperationLookups {
    return this.writes.lookups;
  }

  get isBusy(): boolean {
    return this.#parts.isBusy;
  }

  get redDelivered(): RedDelivered {
    const { lanes } = this.red;
    return lanes.count === 1
      ? lanes.main.order.deliveredCount
      : lanes.all.map(({ order }) => order.deliveredCount);
  }

  /** When a tick is due without any input. */
  get wakeAtMs(): number | undefined {
    return this.#parts.wakeAtMs;
  }

  /**
   * The number of records of a partition's red log that are known to be committed since before the
   * restart.
   */
  getProvenRedCount(partition: number): number {
    return this.#provenRedCounts[partition] ?? 0;
  }

  get retainedReplies(): RetainedReplies {
    return {
      own: this.lookups.slots.retainedReplies,
      red: sumRetained(this.red.lanes.all.map(({ order }) => order.outcomes.retainedReplies)),
    };
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return { rows: this.state.store, ...this.#parts.sections };
  }

  save(): Omit<SavedReplica, 'sections'> {
    return saveReplica(this);
  }

  /** Entries of the site's own log that are synced: the state contains them. */
  get syncedLength(): number {
    return this.#syncedLength;
  }

  /**
   * The position in the site's own log from which on other sites may lack entries. If they lack
   * none, it is that of the next entry.
   */
  get retainedFrom(): number {
    return this.blue.streams.retainedFrom ?? this.#syncedLength;
  }

  /**
   * The number of entries of the site's own log that are kept because other sites lack some of
   * them.
   */
  get backlogLength(): number {
    return this.#syncedLength - this.retainedFrom;
  }

  /** Nothing becomes visible by a submission alone, so nothing has to be applied. */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    this.advanceTime(nowMs, wallMs);
    if (this.blue.isRecovered) this.#start(submission);
    else this.#early.hold(submission);
  }

  receive(from: Origin, message: PartMessage): void {
    this.#parts.receive(from, message);
    this.#settle();
  }

  /** @param partition the ordinal of the partition whose red log has them */
  deliver(records: readonly RedRecord[], partition = 0): void {
    const lane = this.red.lanes.at(partition);
    for (const record of records) this.#deliver(lane, record);
    this.#settle();
  }

  #deliver(lane: Lane, record: RedRecord): void {
    const { order } = lane;
    this.red.deliver(lane, record);
    if (order.holds !== undefined) this.options.observer?.onRedDelivered?.(record);
    const place = order.deliveredCount;
    const isProven = place <= this.getProvenRedCount(order.partition);
    if (record.kind === 'member') this.membership.deliver(record, place, isProven);
    else if (record.kind === 'activate') this.activation.deliver(record, place, isProven);
  }

  /** The site advances the time before this. */
  onSynced(length: number): void {
    for (; this.#syncedLength < length; this.#syncedLength += 1) {
      this.#unsynced.shift()?.(this.#syncedLength);
    }
    this.#settle();
  }

  /** The site advances the time before this. */
  tick(): void {
    this.#parts.tick(this.nowMs);
    this.#settle();
  }

  abandon(serial: number): void {
    const waiting = this.#parts.cancel(serial);
    if (waiting === undefined) this.red.abandon(this.createOperationId(serial), serial);
    // A named operation may have begun elsewhere, or another caller may wait for it here.
    else this.reply(waiting, 'strong', droppedError(waiting, false));
  }

  /**
   * Proposes the marker of this start while the red order can be reached. An operation that comes
   * after the marker has passed is certain to be new.
   */
  markStart(): void {
    const { origins, site } = this.options;
    if (origins.get(site).state !== 'open') return;
    for (const { partition, admission } of this.red.lanes)
      if (!admission.isFull) this.red.ensureMarkerPassed(this.createOperationId(0), partition);
  }

  hasWaiter(id: OperationId): boolean {
    return this.#parts.hasWaiter(id);
  }

  store(entry: LocalEntry, onSynced: OnSynced): void {
    this.#unsynced.push(onSynced);
    this.outputs.append(entry);
  }

  advanceTime(nowMs: number, wallMs: number): void {
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.#quarantine.advance(nowMs, wallMs);
  }

  noteClock(peer: Origin, sentAtMs: number | undefined): void {
    if (sentAtMs !== undefined) this.#quarantine.noteClock(peer, sentAtMs);
  }

  acceptsStamp(peer: Origin, stamp: number): boolean {
    const isAccepted = this.#quarantine.acceptsStampsFrom(peer, stamp);
    if (!isAccepted) this.rejectedStampCount += 1;
    return isAccepted;
  }

  /**
   * A record whose stamp is too far ahead does not enter the red log. It is sent again until the
   * clock is right.
   */
  acceptsRecords(from: Origin, proposed: readonly ProposedRecord[]): boolean {
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
  noteEpoch(site: Origin, epoch: number, directory?: string): void {
    this.starts.set(site, epoch, directory);
    // The entry on the disk has an older name for the epoch.
    this.store(
      directory === undefined
        ? { kind: 'term', site, term: epoch }
        : { kind: 'term', site, term: epoch, directory },
      () => {},
    );
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

  ownBlueProgress(): { readonly applied: number; readonly durable: number } {
    return this.blue.ownProgress;
  }

  #onMembersChanged(): void {
    const { origins, site } = this.options;
    this.state.grow(origins.size);
    this.#parts.onMembersChanged();
    if (!origins.isMember(site)) this.retire();
  }

  /**
   * This site was closed.
   *
   * @param final the last of its operations that counts, if that is known
   */
  retire(final: number | null = null): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    const name = this.options.origins.getName(this.options.site);
    const message = `${name} was closed: it was retired, or rebuilt on another data directory`;
    this.outputs.report({
      kind: 'retired',
      message,
      unsent: this.blue.streams.getUnsent(final),
    });
  }

  #createMembershipPort(): MembershipPort {
    return {
      onMembersChanged: () => this.#onMembersChanged(),
      getMembersPlace: (partition) => this.red.lanes.at(partition).order.membersPlace,
    };
  }

  #createState(parts: typeof REPLICA_PARTS): SiteState {
    const { service, origins, generators, site, maxRedBytes, partitions, version } = this.options;
    const checkChoice = version && this.activation.checkChoice;
    const ports = { ...generators, checkChoice, maxRedBytes, partitions };
    return new parts.SiteState(service, origins, {
      ...ports,
      identifierPrefix: this.#name,
      site,
    });
  }

  /** Lists the parts, and those that settle in the order in which they do. That order is a rule. */
  #listParts(parts: typeof REPLICA_PARTS): SiteParts {
    const { blue, writes, lookups, coverage, red, rights, activation, membership } = this;
    const { proposals, executions } = red;
    const ofRights = rights === undefined ? [] : [rights, new LostRights(this)];
    const last = [activation, membership, this.#early];
    const order: SettlingOrder = {
      moving: [blue, red, coverage, proposals],
      following: [executions, ...ofRights, this.#watermarks, ...last],
    };
    const all = [blue, writes, lookups, coverage, red, executions, ...ofRights, ...last];
    return new parts.SiteParts(all, order);
  }

  readonly #onBlueApplied = (operation: BlueOperation): void => {
    this.#parts.onBlueApplied(operation);
    if (operation.shadow === WATERMARK_SHADOW) this.#watermarks.onApplied(operation);
  };

  /**
   * Applies everything that has become visible, lets the parts go on with what that makes possible,
   * and sends what all of them have made.
   */
  #settle(): void {
    this.#parts.settle();
    this.blue.flush();
  }

  /** Whether something here waits for operations of a partition's red log that are not here. */
  waitsForRed(partition: number): boolean {
    const { log } = this.red.lanes.at(partition).order;
    return this.blue.waitsForLog(log) || this.red.waitsForLog(log);
  }

  /**
   * Whether each red log has the origin here. Behind that, all that the site of the origin lacks is
   * kept for it.
   */
  isInAllLogs(origin: Origin): boolean {
    return this.red.lanes.all.every(({ order }) => order.members.isSite(origin));
  }

  /**
   * The logs beside `main` in whose copies here this site has no vote yet. They may have been
   * confirmed without it.
   */
  get logsWithoutVote(): readonly number[] {
    const { site } = this.options;
    const isOpen = ({ order: { members } }: Lane): boolean =>
      members.isSite(site) && members.get(site).state === 'open';
    return this.red.lanes.all.flatMap((lane) =>
      lane.partition === 0 || isOpen(lane) ? [] : [lane.partition],
    );
  }

  /** An entry of the own log has decided a slot before this start. */
  restoreSlot(id: OperationId, hop: number, decision: SlotDecision): void {
    this.lookups.slots.restore(id, hop, decision);
  }

  #start(submission: Submission): void {
    if (!this.activation.isAll) {
      const rejection = this.activation.getRejection(submission.plan.name);
      if (rejection !== undefined) return this.writes.refuse(submission, rejection);
    }
    if (submission.plan.isRead) this.#read(submission);
    else if (!this.membership.takesWrites) this.writes.refuse(submission, joiningError());
    else this.writes.submit(submission);
  }

  #read(submission: Submission): void {
    const { wantedStages, serial, sessionVector } = submission;
    const isCovered = this.coverage.isCovered(sessionVector);
    if (wantedStages.causal && isCovered) this.#readHere(submission);
    // If the site lacks what the session has seen and a strong view follows, the weak view is
    // skipped, not delayed.
    if (wantedStages.strong) {
      const admission = this.red.admissionOf(submission);
      if (admission.isFull) this.reply(submission, 'strong', admission.fullError());
      else this.red.read(this.createOperationId(serial), submission);
      return;
    }
    if (!isCovered) this.writes.runWhenSeen(submission, () => this.#readHere(submission));
  }

  #readHere(submission: Submission): void {
    this.reply(submission, 'causal', this.state.read(submission));
  }

  createOperationId(serial: number): string {
    return formatOperationId(this.#name, serial);
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
