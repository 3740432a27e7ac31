/**
 * One site of a run, including its crashes: the same state machine as in production, on a virtual
 * disk and network.
 */
import type { MemberChange } from '../../server/service/records/records.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import type { FailedAnswer, ViewAnswer } from '../../server/site/answer.ts';
import type { DurableStorage } from '../../server/node/storage/durable-storage.ts';
import { getOperationPlans, type OperationPlan } from '../../server/service/operation-plan.ts';
import { noteRunning } from './asked-parts.ts';
import type { ClientOperation } from './history.ts';
import { CheckpointNotes } from './checkpoint-notes.ts';
import { checkNothingLost } from './disk/disk-damage.ts';
import type { SentMessage } from './network.ts';
import { SimulatedClock } from './simulated-clock.ts';
import type {
  MembershipEvent,
  SimulatedSiteOptions,
  SimulatedSubmission,
  SiteReply,
} from './simulated-site-options.ts';
import { SEQUENCED_ENGINE } from '../../server/log/sequenced/engine.ts';
import { createEpoch } from '../../server/log/epoch.ts';
import type { Origin, Origins } from '../../server/service/records/origin.ts';
import { EnvelopeCodec } from '../../server/site/wire/envelope-codec.ts';
import { isNodeMessage, type Envelope } from '../../server/site/wire/envelope.ts';
import type { Site } from '../../server/site/site.ts';
import type { MemoryLevel } from '../../server/site/core/memory-port.ts';
import {
  getSharedPart,
  type CheckpointCut,
  type RecoveredState,
} from '../../server/log/recovered-state.ts';
import type { StorageEvents } from '../../server/log/site-storage.ts';
import type { RecoveredSite } from '../../server/node/storage/recovery.ts';
import { Random } from '../../server/service/collections/random.ts';
import { SimulatedDisk, type DiskContent } from './disk/disk.ts';
import { mountSite, recoverDisk } from './disk/site-directory.ts';
import { readCommit } from './read-commit.ts';
import type { ServerConnection } from './etcd/simulated-etcd.ts';
import type { InstalledCopy, SharedCopy } from './cluster/site-copies.ts';
import { connectLogs, countHarmless, failOnRejection } from './site-messages.ts';
import { createTiming } from './timeline.ts';

const TICK_MS = 25;
const ENVELOPE_BYTES = 2000;
/** The fractional parts of its multiples are spread evenly, and no two are equal. */
const GOLDEN_RATIO_FRACTION = (Math.sqrt(5) - 1) / 2;
/**
 * The delay after which a site that cannot start on a full disk is started again, and the time in
 * which a halt of its red log is noticed.
 */
const [RESTART_MS, REPAIR_MS] = [50, 400];
const MEMORY_STEP = 0.1;
/** What a read throws that finds a row, a part or a chunk missing or damaged. */
const DAMAGE = /is missing|is damaged|the last commit has/;

export class SimulatedSite {
  readonly origin: Origin;
  machine: Site | undefined;
  crashes = 0;
  /** How often another process took over its log, and how often its red log halted. */
  fences = 0;
  halts = 0;
  /** The number of checkpoints, and of starts from one. */
  checkpoints = 0;
  startsFromCheckpoint = 0;
  startsAfterTornWrites = 0;
  fullDiskRejections = 0;
  rejectedStarts = 0;
  /** How often a read found a damaged row, so that the site stopped. */
  damagedReads = 0;
  /** How often an operator gave the site more memory. */
  memoryRaises = 0;
  /** Whether the site and its disks are lost for good. */
  isLost = false;
  /**
   * Whether the site neither crashes nor is deposed until it is stopped, because another start
   * would have another number.
   */
  isSpared = false;
  readonly clock: SimulatedClock;
  readonly #options: SimulatedSiteOptions<SimulatedSite>;
  readonly #codec: EnvelopeCodec;
  #origins: Origins;
  #storage: DurableStorage | undefined;
  /** The connections of its red logs, by partition, if a server keeps them. */
  #servers: readonly ServerConnection[] = [];
  readonly #checkerNotes = new CheckpointNotes();
  readonly #answers = new Map<number, (answer: SiteReply) => void>();
  #serial = 0;
  /** The torn writes of the disk at the last start. */
  #tornWrites = 0;
  /** Inputs that wait for the end of a pause. Absent without a pause. */
  #pausedInputs: (() => void)[] | undefined;

  /**
   * How often it was stopped for good. A restart that was planned after a crash does not happen
   * then.
   */
  #stops = 0;
  #maxMemoryBytes: number;
  /** How often it has started, even if its disk does not remember it. */
  #starts = 0;

  constructor(options: SimulatedSiteOptions<SimulatedSite>) {
    this.#options = options;
    this.origin = options.site.site;
    this.clock = new SimulatedClock(options.timeline, options.skewMs);
    this.#codec = new EnvelopeCodec((options.site.redLog ?? SEQUENCED_ENGINE).messages);
    // No two sites have the same memory, as if they ran on different machines.
    this.#maxMemoryBytes =
      (options.site.maxMemoryBytes ?? Infinity) * (1 + options.site.site * MEMORY_STEP);
    this.#origins = options.createOrigins();
    if (options.copy !== undefined) this.#checkerNotes.install(options.copy);
    this.start();
    this.#planTick();
  }

  start(): void {
    const { site, makeMachine, observer, disk, storage: sizes, timeline, parts } = this.#options;
    const timing = createTiming(timeline);
    const stops = this.#stops;
    if (disk.isFull) {
      timing.afterMs(RESTART_MS, () => {
        if (!this.isLost && this.#stops === stops) this.start();
      });
      return;
    }
    if (disk.tornWrites > this.#tornWrites) this.startsAfterTornWrites += 1;
    this.#tornWrites = disk.tornWrites;
    const events = this.#createEvents(() => storage);
    const storage = this.#open(
      () =>
        new parts.DurableStorage(
          { ...mountSite(disk), timing, events, ...sizes },
          parts.OrderedWrites,
        ),
    );
    this.#storage = storage;
    this.#starts += 1;
    // Each start gets a chance above or below that of the start before.
    const epoch = createEpoch(storage.term, (this.#starts * GOLDEN_RATIO_FRACTION) % 1);
    this.#origins = this.#options.createOrigins();
    const options = {
      ...site,
      ...this.#options.getPlaces(),
      origins: this.#origins,
      epoch,
      parts,
      observer: { ...observer, onMemoryLevel: this.#onMemoryLevel },
      maxMemoryBytes: this.#maxMemoryBytes,
      onMessageRejected: failOnRejection,
    };
    this.clock.noteOffset();
    noteRunning(this.name, timeline.nowMs);
    const stored = this.#readStored(storage.stored);
    const machine = this.#untilDamage(() =>
      makeMachine(options, stored, timeline.nowMs, this.clock.wallMs),
    );
    if (machine === undefined) return;
    this.machine = machine;
    this.#servers = connectLogs(machine, this.#options.connect, (reply, partition) =>
      this.#input((current) => {
        const { wallMs } = this.clock;
        current.onReply(reply, timeline.nowMs, wallMs, partition);
      }, machine),
    );
    this.#attach(storage, machine);
    this.#applyReady(machine);
  }

  /** Connects the storage with the machine that it stores. */
  #attach(storage: DurableStorage, machine: Site): void {
    const { timeline } = this.#options;
    storage.attach(
      {
        sections: machine.sections,
        get cutProblem() {
          return machine.cutProblem;
        },
        createCut: () => this.#createCut(machine),
        get retainedFrom() {
          return machine.retainedFrom;
        },
        get isCheckpointDue() {
          return machine.isCheckpointDue;
        },
        onCheckpointed: () => machine.onCheckpointed(),
      },
      {
        onSynced: (log, length) => {
          this.#input(
            (current) => current.onSynced(log, length, timeline.nowMs, this.clock.wallMs),
            machine,
          );
        },
        onFenced: () => this.#onFenced(machine),
        onFailed: (error) => {
          throw error;
        },
      },
    );
  }

  #createEvents(getStorage: () => DurableStorage): StorageEvents {
    return {
      onFullChanged: () => {},
      onCheckpointFailed: (error) => {
        if (this.#storage === getStorage() && this.#isDamage(error)) this.#stopForDamage();
      },
      onDamaged: () => {},
      onStopped: () => {},
      onFenced: () => {},
    };
  }

  /**
   * Opens the storage. On a damaged disk it must fail, or have everything that was there before.
   */
  #open(open: () => DurableStorage): DurableStorage {
    const { disk } = this.#options;
    if (disk.undamaged === undefined && !disk.rows.isDamaged) return open();
    let storage: DurableStorage;
    try {
      storage = open();
    } catch (error) {
      if (!isCorrectableError(error, 'UNAVAILABLE')) throw error;
      this.rejectedStarts += 1;
      disk.restoreBackup();
      disk.rows.repair();
      return open();
    }
    this.#acceptDamage(storage.stored);
    return storage;
  }

  /** Goes on with a damaged disk, which must have all that was there before. */
  #acceptDamage(stored: RecoveredState): void {
    const undamaged = this.#options.disk.acceptDamage();
    if (undamaged === undefined) return;
    checkNothingLost(stored, recoverDisk(undamaged));
  }

  /** Whether a damaged row was read. Such a row is found, and never used. */
  #isDamage(error: unknown): boolean {
    return this.disk.rows.isDamaged && DAMAGE.test((error as Error).message);
  }

  /** Runs a part of the site. Stops the site if that finds a damaged row. */
  #untilDamage<T>(run: () => T, machine?: Site): T | undefined {
    let result: T | undefined;
    let found: unknown;
    try {
      result = run();
      found = machine?.damage;
    } catch (error) {
      found = machine?.damage ?? error;
    }
    if (found === undefined) return result;
    if (!this.#isDamage(found)) throw found as Error;
    this.#stopForDamage();
    return undefined;
  }

  /** The site stops. An operator repairs its disk and starts it again. */
  #stopForDamage(): void {
    this.damagedReads += 1;
    this.#end(REPAIR_MS);
    this.disk.rows.repair();
  }

  /** An operator finds damage that no read has found. */
  checkDisk(): void {
    if (!this.disk.rows.isDamaged) return;
    if (this.machine === undefined) this.disk.rows.repair();
    else this.#stopForDamage();
  }

  lose(): void {
    this.stop();
    this.isLost = true;
    this.#options.onEvent('lost');
  }

  /** Stops the site. It does not restart by itself. */
  stop(): void {
    this.isSpared = false;
    this.crash(Infinity);
    this.#stops += 1;
  }

  /** Starts on the shared state of another site that was put on its disk. */
  startFrom(copy: InstalledCopy): void {
    this.#checkerNotes.install(copy);
    this.start();
  }

  get name(): string {
    return this.#origins.getName(this.origin);
  }

  get directory(): string | undefined {
    return this.#options.site.directory;
  }

  get disk(): SimulatedDisk {
    return this.#options.disk;
  }

  proposeChange(change: MemberChange): void {
    this.#input((machine) => machine.proposeChange(change, this.#options.timeline.nowMs));
  }

  /**
   * Makes a checkpoint and passes on its shared part. It calls `done` later, or never if the site
   * crashes.
   */
  takeShared(done: (copy: SharedCopy) => void): void {
    const { machine } = this;
    this.#storage?.takeSnapshot((_error, commit) => {
      if (commit === undefined) return;
      if (this.machine !== machine) return commit.release();
      const checkpoint = readCommit(commit);
      commit.release();
      const { smallParts, notes } = this.#checkerNotes.unpack(checkpoint);
      done({ shared: getSharedPart({ ...checkpoint, smallParts }), notes });
    });
  }

  /** Returns the state that was read from its disk, as its machine wrote it. */
  unpackState({ checkpoint, ...logs }: RecoveredState): RecoveredState {
    if (checkpoint === undefined) return logs;
    return {
      ...logs,
      checkpoint: {
        ...checkpoint,
        smallParts: this.#checkerNotes.unpack(checkpoint).smallParts,
      },
    };
  }

  /** Returns the notes of the checkers that were saved with a state that was read from its disk. */
  unpackNotes({ checkpoint }: RecoveredState): unknown {
    return checkpoint && this.#checkerNotes.unpack(checkpoint).notes;
  }

  /**
   * Recovers what is on its disk while it is stopped.
   *
   * @throws `UNAVAILABLE` if the disk is damaged: the next start puts a backup in its place
   */
  recover(): RecoveredSite {
    const found = recoverDisk(this.disk);
    this.#acceptDamage(found.stored);
    return found;
  }

  /** Returns the state that a start finds on a copy of its disk. */
  readContent(content: DiskContent): RecoveredState {
    const copy = new SimulatedDisk({
      timeline: this.#options.timeline,
      random: new Random(0),
      syncMeanMs: 0,
    });
    copy.putContent(content);
    return this.unpackState(recoverDisk(copy).stored);
  }

  /** Loses the machine and all unsynced data, and restarts after `downMs`. */
  crash(downMs: number): void {
    if (this.machine === undefined || this.isSpared) return;
    this.crashes += 1;
    this.#end(downMs);
  }

  #end(downMs: number): void {
    for (const server of this.#servers) server.close();
    this.#servers = [];
    this.machine = this.#storage = undefined;
    this.#pausedInputs = undefined;
    this.#answers.clear();
    this.#options.disk.crash();
    this.#options.onEvent('crashed');
    if (downMs === Infinity) return;
    const stops = this.#stops;
    this.#options.timeline.schedule(downMs, () => {
      if (!this.isLost && this.#stops === stops) this.start();
    });
  }

  /**
   * Lets another holder take its log over. The site notices that when it writes, and the next start
   * is that holder.
   */
  depose(): void {
    if (this.machine === undefined || this.isSpared) return;
    this.#options.disk.depose();
    this.#options.onEvent('deposed');
  }

  /** Fills its disk up, or makes room on it. */
  setDiskFull(isFull: boolean): void {
    this.disk.isFull = isFull;
    this.#options.onEvent(isFull ? 'disk full' : 'disk has room');
  }

  /** The site has sent nothing that depends on entries that it could not append. */
  #onFenced(machine: Site): void {
    if (this.machine !== machine) return;
    this.fences += 1;
    this.crash(RESTART_MS);
  }

  /**
   * Handles a red log that does not continue correctly. After a while an operator fixes it and
   * restarts the site.
   */
  #onHalted(machine: Site | undefined): void {
    this.halts += 1;
    this.#options.onEvent('halted');
    this.#options.timeline.schedule(REPAIR_MS, () => {
      if (this.machine === machine) this.crash(RESTART_MS);
    });
  }

  /** A site without room serves reads until an operator gives it more memory by a restart. */
  readonly #onMemoryLevel = (level: MemoryLevel): void => {
    if (level === 'full') this.#raiseMemory(this.machine);
  };

  #raiseMemory(machine: Site | undefined): void {
    this.#options.timeline.schedule(REPAIR_MS, () => {
      if (this.machine === undefined || (machine !== undefined && this.machine !== machine)) return;
      // It may not be restarted now.
      if (this.isSpared) return this.#raiseMemory(machine);
      this.#maxMemoryBytes *= 2;
      this.memoryRaises += 1;
      this.crash(RESTART_MS);
    });
  }

  pause(pauseMs: number): void {
    if (this.machine === undefined || this.#pausedInputs !== undefined) return;
    const paused: (() => void)[] = [];
    this.#pausedInputs = paused;
    this.#options.onEvent('paused');
    this.#options.timeline.schedule(pauseMs, () => {
      if (this.#pausedInputs !== paused) return;
      this.#pausedInputs = undefined;
      this.#options.onEvent('resumed');
      for (const input of paused) input();
    });
  }

  /**
   * Whether it handles inputs and has everything that they may need: room on its disk, and the red
   * order.
   */
  get isAwake(): boolean {
    if (this.machine === undefined || this.#pausedInputs !== undefined) return false;
    return (
      this.#storage?.isFull !== true &&
      !this.machine.memory.isFull &&
      this.machine.red.lanes.all.every(({ admission }) => admission.halted === undefined)
    );
  }

  /** Submits an operation. Returns its serial if the site is up and has room for it. */
  submit(
    { client, id, operation }: ClientOperation,
    submission: SimulatedSubmission,
    onAnswer: (answer: SiteReply) => void,
  ): number | undefined {
    this.#serial += 1;
    const serial = this.#serial;
    this.#options.onSubmitted({
      serial,
      client,
      id,
      sessionVector: submission.sessionVector,
      wants: submission.wantedStages,
    });
    if (this.machine === undefined) return undefined;
    if (this.#storage?.isFull === true) {
      this.fullDiskRejections += 1;
      return undefined;
    }
    this.#answers.set(serial, onAnswer);
    this.#input((machine) => {
      const { wallMs: submittedAtMs } = this.clock;
      const plans = getOperationPlans(machine.options.service);
      const plan = plans.get(operation) as OperationPlan;
      machine.submit(
        { ...submission, plan, serial, submittedAtMs },
        this.#options.timeline.nowMs,
        submittedAtMs,
      );
    });
    return serial;
  }

  /**
   * Notes that no caller waits any more for the submission with this serial. Has no effect if a
   * crash has forgotten it.
   */
  abandon(serial: number): void {
    if (this.#answers.has(serial)) this.#input((machine) => machine.abandon(serial));
  }

  /**
   * Handles the bytes of a message. The site gets only what they encode, as over a real network.
   */
  receive({ bytes }: SentMessage): void {
    const envelope = this.#codec.decode(bytes, this.#origins, this.#options.site.deployment);
    const hasRoom = this.#storage?.isStuck !== true;
    const start = this.#starts;
    this.#input((machine) => {
      const before = countHarmless(machine);
      machine.receive(envelope, this.#options.timeline.nowMs, this.clock.wallMs, hasRoom);
      // A message about the node of a start is handled before the start is accepted.
      if (isNodeMessage(envelope.message)) return;
      if (countHarmless(machine) === before) this.#options.onMessageAccepted(envelope, start);
    });
  }

  /**
   * Passes an input to the machine, now or after the pause. Does nothing if `meant` is not the
   * present machine any more.
   */
  #input(give: (machine: Site) => void, meant: Site | undefined = this.machine): void {
    const { machine } = this;
    if (machine === undefined || machine !== meant) return;
    const run = (): void => {
      if (this.machine !== machine) return;
      noteRunning(this.name, this.#options.timeline.nowMs);
      this.#untilDamage(() => give(machine), machine);
      if (this.machine === machine) this.#applyReady(machine);
    };
    if (this.#pausedInputs === undefined) run();
    else this.#pausedInputs.push(run);
  }

  #applyReady(machine: Site): void {
    const ready = this.#untilDamage(() => machine.takeReady(), machine);
    if (ready === undefined) return;
    const { appends, envelopes, requests, answers, events } = ready;
    for (const { log, entries } of appends) this.#storage?.append(log, entries);
    for (const envelope of envelopes) this.#send({ ...envelope, sentAtMs: this.clock.wallMs });
    for (const { partition, request } of requests) this.#servers[partition]?.request(request);
    for (const answer of answers) {
      if (answer.kind === 'view') this.#reply(answer);
      else this.#fail(answer);
    }
    let end: MembershipEvent | undefined;
    for (const event of events) {
      if (event.kind === 'halted') this.#onHalted(machine);
      else if (event.kind === 'retired' || event.kind === 'forked') end = event;
      else this.#options.onMembership(event, this);
    }
    if (end !== undefined) this.#onEnd(end);
  }

  #onEnd(event: MembershipEvent): void {
    if (event.kind === 'retired') this.lose();
    else this.stop();
    this.#options.onMembership(event, this);
  }

  /** Sends in small envelopes, so that messages are divided as large ones are. */
  #send(envelope: Envelope): void {
    const { from, to, message } = envelope;
    for (const bytes of this.#codec.encode(envelope, ENVELOPE_BYTES)) {
      this.#options.send({
        from: from.site,
        to: to.site,
        kind: message.kind,
        bytes,
      });
    }
  }

  #reply({ serial, stage, isLast, reply: { value, meta }, seen }: ViewAnswer): void {
    this.#answers.get(serial)?.({
      kind: isLast ? 'final' : 'preliminary',
      serial,
      stage,
      value,
      meta,
      seen,
    });
  }

  #fail({ serial, stage, error: { code, domain } }: FailedAnswer): void {
    this.#answers.get(serial)?.({
      kind: 'failed',
      serial,
      stage,
      code,
      domain,
    });
  }

  #createCut(machine: Site): CheckpointCut {
    this.checkpoints += 1;
    const notes = this.#options.save();
    return this.#checkerNotes.pack(machine.createCut(), this.checkpoints, notes);
  }

  #readStored(stored: RecoveredState): RecoveredState {
    const { checkpoint } = stored;
    if (checkpoint === undefined) {
      this.#options.onStarted(undefined);
      return stored;
    }
    const { smallParts, notes } = this.#checkerNotes.unpack(checkpoint);
    this.startsFromCheckpoint += 1;
    this.#options.onStarted(notes);
    return {
      ...stored,
      checkpoint: { sections: checkpoint.sections, smallParts },
    };
  }

  #planTick(): void {
    this.#options.timeline.schedule(TICK_MS, () => {
      if (this.isLost) return;
      this.#input((machine) => machine.tick(this.#options.timeline.nowMs, this.clock.wallMs));
      this.#planTick();
    });
  }
}
