/**
 * The replica of one site, as a pure state machine: inputs with the time come in, outputs come out; no clock, timer,
 * randomness, socket or disk inside. The same code runs in production and in the simulator.
 */
import { Fifo } from '../collections/fifo.ts';
import { BluePath } from './causal/blue-path.ts';
import type { Checkpoint, OwnState, Section, SharedState } from '../records/checkpoint.ts';
import { HybridClock } from '../records/clock.ts';
import { Coverage } from './core/coverage.ts';
import { concludedError, droppedError } from '../records/failure.ts';
import { Floors } from './floors.ts';
import { isKeyed, operationId } from '../records/operation-id.ts';
import { startName, type Origin } from '../records/origin.ts';
import { Quarantine } from './core/quarantine.ts';
import type {
  BlueMessage,
  BlueOperation,
  LocalEntry,
  OperationId,
  RedRecord,
  RightsMessage,
  SlotDecision,
  SlotMessage,
} from '../records/records.ts';
import { hasBounded } from '../service/takes.ts';
import { Rights } from './rights/rights.ts';
import { RedPath } from './red/red-path.ts';
import type { RedPathHost } from './red/red-path-host.ts';
import type { ReplicaCore, ReplicaOptions } from './core/replica-port.ts';
import type { ReplicaOutput, Stage, Submission } from '../records/submissions.ts';
import { SiteState } from './core/site-state.ts';
import { isReply, type Answer } from '../records/reply.ts';
import type { Vector } from '../records/vector.ts';
import type { LoggedOperation } from './causal/streams.ts';
import type { Remembered } from './once/remembered.ts';
import { Updates, type UpdatesHost } from './updates.ts';
import type { Walks } from './once/walks.ts';

/** Told when an entry of the site's own log is synced, with its place there. */
type OnSynced = (position: number) => void;

/** The state of a replica as a checkpoint has it, in two parts. */
export interface SavedReplica {
  readonly sections: Checkpoint['sections'];
  readonly shared: SharedState;
  readonly own: OwnState;
}

/** What a replica finds at its start. */
export interface StoredReplica {
  readonly checkpoint?: SavedReplica | undefined;
  /** Entries of the site's own log from position `start` on; those before the checkpoint's cut are kept for others. */
  readonly start: number;
  readonly entries: readonly LocalEntry[];
}

const NOTHING_STORED: StoredReplica = { start: 0, entries: [] };

/** One site's replica. After each input, `takeOutputs` says what has to be done. */
export class Replica implements ReplicaCore, RedPathHost, UpdatesHost {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock = new HybridClock();
  readonly blue: BluePath;
  readonly red: RedPath;
  readonly updates: Updates;
  readonly coverage: Coverage<Submission>;
  readonly rights: Rights | undefined;
  /** By site: the highest term of its messages that was heard, at any start that the log tells of. */
  readonly terms: Map<Origin, number> = new Map();
  /** Messages of which a stamp was refused. */
  stampsRefused = 0;
  readonly #floors: Floors;
  readonly #quarantine: Quarantine;
  /** The site at this start: whose operation one without a name is. */
  protected readonly name: string;
  nowMs = 0;
  wallMs = 0;
  #outputs: ReplicaOutput[] = [];
  /** For each entry that is not synced yet. */
  readonly #unsynced = new Fifo<OnSynced>();
  /** The output to which entries are added: the last one, if it stores some. */
  #storing: LocalEntry[] | undefined;
  #syncedLength = 0;
  /** Submissions that came before the log's own operations were applied again. */
  readonly #early = new Fifo<Submission>();
  /** Records of the red log that are known to be committed by what the site's own log says. */
  #redProven = 0;

  constructor(options: ReplicaOptions, stored: StoredReplica = NOTHING_STORED, nowMs = 0, wallMs = nowMs) {
    this.options = options;
    this.name = startName(options.origins.at(options.site), options.epoch);
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.state = this.createState();
    this.coverage = this.createCoverage();
    this.#quarantine = new Quarantine(options);
    this.blue = this.createBluePath();
    this.red = this.createRedPath();
    this.updates = this.createUpdates();
    this.#floors = new Floors(this, this.name);
    this.rights = hasBounded(options.service.tables) ? this.createRights() : undefined;
    this.#load(stored);
    this.blue.greet();
    this.#settle();
  }

  /** What is shared with the parts of the replica. */
  get core(): ReplicaCore {
    return this;
  }

  /** The slots of this site's log, and who is on the way along slots. */
  get walks(): Walks {
    return this.updates.walks;
  }

  /** Whether something is under way that a lost message could hold up. */
  get busy(): boolean {
    return (
      this.blue.busy ||
      this.red.busy ||
      this.walks.busy ||
      this.coverage.busy ||
      this.#early.size > 0 ||
      this.rights?.busy === true
    );
  }

  get redDelivered(): number {
    return this.red.delivered;
  }

  /** When a tick is due even if nothing happens: somebody waits for a place. */
  get wakeAtMs(): number | undefined {
    return this.red.wakeAtMs;
  }

  /** Records of the red log that are known to be committed since before the restart. */
  get redProven(): number {
    return this.#redProven;
  }

  get remembered(): Remembered {
    return { own: this.walks.slots.remembered, red: this.red.remembered };
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return { rows: this.state.store, ...this.walks.slots.sections, ...this.red.sections };
  }

  /** The small parts of the state, to be saved together with what has changed in the sections. */
  save(): Omit<SavedReplica, 'sections'> {
    const { state, clock, blue, red } = this;
    const streams = blue.save();
    const applied = streams.map(({ synced, waiting }) => synced - waiting.length);
    const waiting = streams.map((stream) => stream.waiting);
    const origins = this.options.origins.save();
    return {
      shared: { origins, stable: [...state.stable], applied, red: red.save() },
      own: { synced: this.#syncedLength, clock: clock.last, waiting, terms: [...this.terms] },
    };
  }

  /** Entries of the site's own log that are synced: the state contains them. */
  get synced(): number {
    return this.#syncedLength;
  }

  /** The first entry of the site's own log that other sites may lack, or the one to come. */
  get keptFrom(): number {
    return this.blue.keptFrom ?? this.#syncedLength;
  }

  /** How many entries of the site's own log are kept because other sites lack some of them. */
  get backlog(): number {
    return this.#syncedLength - this.keptFrom;
  }

  /** What has to be done since the last call, in order. */
  takeOutputs(): ReplicaOutput[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    this.#storing = undefined;
    return outputs;
  }

  /** Nothing becomes visible by a submission alone, so that there is nothing to settle. */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    this.pass(nowMs, wallMs);
    if (this.blue.isRecovered) this.#start(submission);
    else this.#early.push(submission);
  }

  receive(from: Origin, message: BlueMessage | SlotMessage | RightsMessage): void {
    if (message.kind === 'slot.ask' || message.kind === 'slot.told') this.walks.receive(from, message);
    else if (message.kind === 'rights.ask') this.rights?.receive(from, message);
    else this.blue.receive(from, message);
    this.#settle();
  }

  /** The next records of the red log, in order. */
  deliver(records: readonly RedRecord[]): void {
    for (const record of records) this.red.deliver(record);
    this.#settle();
  }

  /** The first `length` entries of the site's own log are synced. */
  onSynced(length: number, nowMs: number, wallMs = nowMs): void {
    this.pass(nowMs, wallMs);
    for (; this.#syncedLength < length; this.#syncedLength += 1) {
      this.#unsynced.shift()?.(this.#syncedLength);
    }
    this.#settle();
  }

  tick(nowMs: number, wallMs = nowMs): void {
    this.pass(nowMs, wallMs);
    this.blue.tick();
    this.walks.tick();
    this.coverage.tick(nowMs);
    this.rights?.tick();
    this.#settle();
  }

  /** Nobody waits any more for what was submitted under this serial. */
  abandon(serial: number): void {
    const waiting = this.coverage.leave(serial) ?? this.walks.leave(serial) ?? this.rights?.leave(serial);
    if (waiting === undefined) this.red.abandon(this.idOf(serial), serial);
    // What has a name may have been begun elsewhere, or be asked for here by somebody else.
    else this.answer(waiting, 'strong', droppedError(waiting, false));
  }

  /** Whether a submission of the operation waits here to begin, or for what became of it elsewhere. */
  isWaitedFor(id: OperationId): boolean {
    return this.coverage.hasOf(id) || this.walks.hasOf(id) || this.rights?.hasOf(id) === true;
  }

  emit(output: ReplicaOutput): void {
    this.#outputs.push(output);
    this.#storing = undefined;
  }

  store(entry: LocalEntry, onSynced: OnSynced): void {
    this.#unsynced.push(onSynced);
    if (this.#storing !== undefined) {
      this.#storing.push(entry);
      return;
    }
    const entries = [entry];
    this.emit({ kind: 'store', log: 'local', entries });
    this.#storing = entries;
  }

  /** What a session has seen with a view that is given now. */
  #seenBy({ after }: Submission): Vector | undefined {
    return after === undefined ? undefined : [...this.state.stable];
  }

  /** The time of the input to come. */
  pass(nowMs: number, wallMs: number): void {
    this.nowMs = nowMs;
    this.wallMs = wallMs;
    this.#quarantine.pass(nowMs, wallMs);
  }

  /** A message of `peer` was sent when its clock showed `sentAtMs`; sites that share a clock do not say so. */
  hear(peer: Origin, sentAtMs: number | undefined): void {
    if (sentAtMs !== undefined) this.#quarantine.hear(peer, sentAtMs);
  }

  acceptsStamp(peer: Origin, stamp: number): boolean {
    const isAccepted = this.#quarantine.accepts(peer, stamp);
    if (!isAccepted) this.stampsRefused += 1;
    return isAccepted;
  }

  /** Messages of a later start of a site have come: written down before whatever these lead to. */
  hearTerm(site: Origin, term: number): void {
    this.terms.set(site, term);
    this.store({ kind: 'term', site, term }, () => {});
  }

  answer(submission: Submission, stage: Stage, answer: Answer): void {
    const { serial, wants } = submission;
    const last = stage !== 'tentative' && !(stage === 'causal' && wants.strong);
    if (!isReply(answer)) {
      const { identity } = submission;
      // At this stage an update fails by what the red log says of it, for good.
      const isConcluded = stage === 'strong' && identity !== undefined && isKeyed(identity.id) && answer.retryable;
      // What a weak level says, a "no" too, ends nothing where a stronger one follows.
      const error = isConcluded ? concludedError(answer) : answer;
      this.emit({ kind: 'failed', serial, error, stage: last ? undefined : stage });
      return;
    }
    const seen = stage === 'tentative' ? undefined : this.#seenBy(submission);
    if (seen !== undefined) this.options.observer?.viewed?.(submission);
    this.emit({ kind: 'view', serial, stage, reply: answer, last, seen });
  }

  ownBlue(): { readonly applied: number; readonly durable: number } {
    return this.blue.own;
  }

  protected createState(): SiteState {
    const { service, origins, generators, site } = this.options;
    return new SiteState(service, origins, { ...generators, name: this.name, site });
  }

  protected createBluePath(): BluePath {
    return new BluePath(this, this.onBlueApplied);
  }

  protected createRedPath(): RedPath {
    return new RedPath(this);
  }

  protected createRights(): Rights {
    return new Rights(this, this.name);
  }

  protected createCoverage(): Coverage<Submission> {
    return new Coverage(() => this.state.stable);
  }

  protected createUpdates(): Updates {
    return new Updates(this);
  }

  protected readonly onBlueApplied = (operation: BlueOperation): void => {
    this.red.onBlueApplied(operation.effects);
    this.rights?.applied(operation);
    if (operation.site === this.options.site) this.updates.onVisible(operation);
    this.#floors.onApplied(operation);
  };

  /** Applies all that has become visible, and does what waited for it. */
  #settle(): void {
    for (let moved = true; moved;) {
      const blue = this.blue.pump();
      const red = this.red.pump();
      moved = blue || red;
      if (moved) moved = this.coverage.pump() || moved;
      this.red.releaseDurable();
    }
    this.red.admit();
    this.rights?.pump();
    this.#floors.pump();
    while (this.#early.size > 0 && this.blue.isRecovered) this.#start(this.#early.shift() as Submission);
    this.blue.flush();
  }

  #load({ checkpoint, start, entries }: StoredReplica): void {
    const before = (checkpoint?.own.synced ?? start) - start;
    if (checkpoint !== undefined) this.#loadCheckpoint(checkpoint, operationsOf(entries.slice(0, before), start));
    this.#syncedLength = start + before;
    for (const entry of entries.slice(before)) {
      this.#restore(entry, this.#syncedLength);
      this.#syncedLength += 1;
    }
  }

  #loadCheckpoint({ sections, shared, own }: SavedReplica, kept: readonly LoggedOperation[]): void {
    this.options.origins.check(shared.origins);
    for (const [name, section] of Object.entries(this.sections)) section.restore(sections[name] ?? new Map());
    this.state.loadStable(shared.stable);
    this.clock.advance(own.clock);
    for (const [site, term] of own.terms ?? []) this.terms.set(site, term);
    const streams = shared.applied.map((applied, origin) => {
      const waiting = own.waiting[origin] ?? [];
      return { synced: applied + waiting.length, waiting };
    });
    this.blue.load(streams, kept);
    this.red.load(shared.red);
    this.#redProven = shared.red.delivered;
  }

  #restore(entry: LocalEntry, position: number): void {
    switch (entry.kind) {
      case 'blue':
        this.#redProven = Math.max(this.#redProven, entry.redDelivered ?? 0);
        return this.#restoreBlue({ operation: entry.operation, position });
      case 'slot':
        return this.restoreSlot(entry.id, entry.hop, entry.decision);
      case 'expire':
        return void this.walks.slots.expire(entry.client, entry.upTo);
      case 'term':
        return void this.terms.set(entry.site, entry.term);
    }
  }

  #restoreBlue(logged: LoggedOperation): void {
    const { id, hop, site, reply, vector } = logged.operation;
    this.blue.restore(logged);
    if (site !== this.options.site || hop === undefined) return;
    this.restoreSlot(id, hop, { kind: 'record', reply, vector });
  }

  protected restoreSlot(id: OperationId, hop: number, decision: SlotDecision): void {
    this.walks.slots.restore(id, hop, decision);
  }

  #start(submission: Submission): void {
    if (this.options.service.contract.operations[submission.operation]?.effect === 'read') this.#read(submission);
    else this.updates.submit(submission);
  }

  #read(submission: Submission): void {
    const { wants, serial, after } = submission;
    const isCovered = this.coverage.has(after);
    if (wants.causal && isCovered) this.#readHere(submission);
    // Below its session the weak view is skipped, not delayed, where a strong one follows.
    if (wants.strong && this.red.isFull) {
      this.answer(submission, 'strong', this.red.fullError());
    } else if (wants.strong) this.red.read(this.idOf(serial), submission);
    if (wants.strong) return;
    if (!isCovered) this.updates.whenSeen(submission, () => this.#readHere(submission));
  }

  #readHere(submission: Submission): void {
    this.answer(submission, 'causal', this.state.read(submission));
  }

  /** Unique over all sites and starts. */
  idOf(serial: number): string {
    return operationId(this.name, serial);
  }
}

function operationsOf(entries: readonly LocalEntry[], start: number): LoggedOperation[] {
  return entries.flatMap((entry, index) =>
    entry.kind === 'blue' ? [{ operation: entry.operation, position: start + index }] : [],
  );
}
