/** One site of a run over its crashes: the same state machine as in production, on a virtual disk and network. */
import { isCorrectableError, type DomainRefusal } from '../../correctable/errors.ts';
import { LOG_KINDS, type LogKind } from '../../server/log/log-id.ts';
import { SEQUENCED } from '../../server/log/sequenced/engine.ts';
import { epochOf } from '../../server/records/epoch.ts';
import type { ReplicaObserver } from '../../server/replica/core/replica-port.ts';
import type { Stage, Submission } from '../../server/records/submissions.ts';
import type { Origin } from '../../server/records/origin.ts';
import { EnvelopeCodec } from '../../server/messages/envelope-codec.ts';
import type { Envelope, RefusedMessage } from '../../server/messages/envelope.ts';
import type { SiteMachine, SiteOptions, SiteOutput } from '../../server/site/site-machine.ts';
import type { Cut, StoredSite } from '../../server/log/stored-site.ts';
import type { Vector } from '../../server/records/vector.ts';
import type { DurableStorage, DurableStorageOptions } from '../../server/storage/durable-storage.ts';
import { recover } from '../../server/storage/recovery.ts';
import { Fault, type ClientSubmission } from './checkers/checker.ts';
import type { SimulatedDisk } from './disk.ts';
import type { ClientOperation } from './history.ts';
import type { Sent } from './network.ts';
import type { Timeline } from './timeline.ts';

/** What a site tells whoever submitted. */
export type SiteAnswer =
  | {
      readonly kind: 'final' | 'preliminary';
      readonly serial: number;
      readonly stage: Stage;
      readonly value: unknown;
      readonly meta: Readonly<Record<string, unknown>> | undefined;
      readonly seen: Vector | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly serial: number;
      /** The one that failed, where a stronger one follows. */
      readonly stage: Stage | undefined;
      readonly code: string;
      readonly domain: DomainRefusal | undefined;
    };

/** Makes the machine of a site: a run with a planted fault makes another one. */
export type MachineFactory = (options: SiteOptions, stored: StoredSite, nowMs: number, wallMs: number) => SiteMachine;

/** What a simulated site needs. */
export interface SimulatedSiteOptions {
  readonly site: Omit<SiteOptions, 'epoch' | 'observer' | 'onRefused'>;
  readonly makeMachine: MachineFactory;
  readonly timeline: Timeline;
  /** How far the site's clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly observer: ReplicaObserver;
  readonly disk: SimulatedDisk;
  /** Small ones, so that files are changed and checkpoints made within a run. */
  readonly storage: Required<Pick<DurableStorageOptions, 'segmentBytes' | 'checkpointBytes' | 'largeGroup'>>;
  readonly Storage: typeof DurableStorage;
  send(sent: Sent): void;
  /** A message of another site was taken, by this start of the site. */
  took(envelope: Envelope, start: number): void;
  /** It goes on after a pause. */
  resumed(): void;
  /** A site has started: empty, or again with the state that the checkers noted as `saved`. */
  started(saved: unknown): void;
  /** What checkers have noted of the site, to be given to `started` when it starts from this state. */
  save(): unknown;
  /** An operation is submitted. */
  submitted(submission: Omit<ClientSubmission, 'site'>): void;
}

const TICK_MS = 25;
const ENVELOPE_BYTES = 2000;
/** What a clock that is right shows when a run begins. */
const EPOCH_MS = Date.UTC(2024);
const FOLDER = 'site';
/** Its multiples, of which the whole part is left out, are spread evenly, and none comes twice. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** A site on a full disk cannot start; it is tried again after this. */
const RESTART_MS = 50;
/** How long people need to notice that the red log of a site has halted. */
const REPAIR_MS = 400;

/** A site that crashes, restarts and pauses. */
export class SimulatedSite {
  readonly origin: Origin;
  machine: SiteMachine | undefined;
  crashes = 0;
  /** Times that it was told that another one has its log, and that its red log has halted. */
  fences = 0;
  halts = 0;
  /** Checkpoints made, and starts that had one. */
  checkpoints = 0;
  startsFromCheckpoint = 0;
  /** Starts after a crash that had torn a write. */
  startsAfterTornWrites = 0;
  /** Submissions that found the disk full. */
  refusals = 0;
  /** Starts that were refused, since the disk was damaged. */
  startsRefused = 0;
  /** Gone for good, with its disks. */
  isLost = false;
  /** How much faster its clock runs than time, as a share of it. */
  drift = 0;
  /** Beside the skew that it has for the whole run. */
  #clockAheadMs = 0;
  #aheadMaxMs = -Infinity;
  readonly #options: SimulatedSiteOptions;
  readonly #codec: EnvelopeCodec;
  #storage: DurableStorage | undefined;
  /** What the checkers had noted at each checkpoint. */
  readonly #noted = new Map<number, unknown>();
  readonly #answers = new Map<number, (answer: SiteAnswer) => void>();
  #serial = 0;
  /** Of the disk, at the last start. */
  #tornWrites = 0;
  /** Inputs that wait for the end of a pause; absent when there is none. */
  #paused: (() => void)[] | undefined;

  /** How often it has started, whatever its disk remembers of that. */
  #starts = 0;

  constructor(options: SimulatedSiteOptions) {
    this.#options = options;
    this.origin = options.site.site;
    this.#codec = new EnvelopeCodec((options.site.redLog ?? SEQUENCED).messages);
    this.start();
    this.#planTick();
  }

  start(): void {
    const { site, makeMachine, observer, disk, storage: sizes, timeline, Storage } = this.#options;
    const timing = {
      soon: (run: () => void) => timeline.after(0, run),
      later: (run: () => void) => timeline.after(0, run),
      afterMs: (delayMs: number, run: () => void) => timeline.after(delayMs, run),
    };
    if (disk.isFull) {
      timing.afterMs(RESTART_MS, () => {
        if (!this.isLost) this.start();
      });
      return;
    }
    if (disk.tornWrites > this.#tornWrites) this.startsAfterTornWrites += 1;
    this.#tornWrites = disk.tornWrites;
    const storage = this.#open(() => new Storage({ files: disk.mount(), timing, folder: FOLDER, ...sizes }));
    this.#storage = storage;
    this.#starts += 1;
    // Each start has another chance, above or below that of the one before.
    const epoch = epochOf(storage.term, (this.#starts * GOLDEN) % 1);
    const options = { ...site, epoch, observer, onRefused: refused };
    this.#noteAhead();
    const machine = makeMachine(options, this.#unpack(storage.stored), timeline.nowMs, this.wallMs);
    this.machine = machine;
    storage.attach(
      {
        sections: machine.sections,
        get cutProblem() {
          return machine.cutProblem;
        },
        cut: () => this.#pack(machine.cut()),
        get keptFrom() {
          return machine.keptFrom;
        },
        checkpointed: () => machine.checkpointed(),
      },
      {
        synced: (log, length) => {
          this.#input((current) => current.onSynced(log, length, timeline.nowMs, this.wallMs), machine);
        },
        fenced: () => this.#onFenced(machine),
        failed: (error) => {
          throw error;
        },
      },
    );
    this.#act();
  }

  /** Opens the storage. On a damaged disk it has to refuse, or to have all that there was before. */
  #open(open: () => DurableStorage): DurableStorage {
    const { disk } = this.#options;
    const { whole } = disk;
    if (whole === undefined) return open();
    let storage: DurableStorage;
    try {
      storage = open();
    } catch (error) {
      if (!isCorrectableError(error, 'UNAVAILABLE')) throw error;
      this.startsRefused += 1;
      disk.putBack();
      return open();
    }
    disk.keep();
    for (const log of LOG_KINDS) {
      const undamaged = recover(whole, FOLDER);
      const [has, had] = [endOf(storage.stored, log), undamaged.lengths[log]];
      const isKept = storage.stored[log].start <= undamaged.kept[log];
      if (has === had && isKept) continue;
      throw new Fault(
        `a damaged disk had ${had} entries of the ${log} log, and ${has} of them, or less of what others need, without a word`,
        'damage',
      );
    }
    return storage;
  }

  /** Loses everything, for ever. */
  lose(): void {
    this.crash(Infinity);
    this.isLost = true;
  }

  /** Loses the machine and what was not synced, and starts again after `downMs`. */
  crash(downMs: number): void {
    if (this.machine === undefined) return;
    this.crashes += 1;
    this.machine = undefined;
    this.#storage = undefined;
    this.#paused = undefined;
    this.#answers.clear();
    this.#options.disk.crash();
    if (downMs === Infinity) return;
    this.#options.timeline.after(downMs, () => {
      if (!this.isLost) this.start();
    });
  }

  /** Another holder takes its log over: it notices when it writes, and the next start is that holder. */
  depose(): void {
    if (this.machine !== undefined) this.#options.disk.depose();
  }

  /** It has said nothing of what it could not append. */
  #onFenced(machine: SiteMachine): void {
    if (this.machine !== machine) return;
    this.fences += 1;
    this.crash(RESTART_MS);
  }

  /** Its red log does not go on as it should: after a while somebody mends that and starts it again. */
  #onHalted(machine: SiteMachine | undefined): void {
    this.halts += 1;
    this.#options.timeline.after(REPAIR_MS, () => {
      if (this.machine === machine) this.crash(RESTART_MS);
    });
  }

  /** Does nothing for `pauseMs`, then goes on where it was. */
  pause(pauseMs: number): void {
    if (this.machine === undefined || this.#paused !== undefined) return;
    const paused: (() => void)[] = [];
    this.#paused = paused;
    this.#options.timeline.after(pauseMs, () => {
      if (this.#paused !== paused) return;
      this.#paused = undefined;
      this.#options.resumed();
      for (const input of paused) input();
    });
  }

  /** Whether it takes inputs, and all that they may need: room on its disk, and the red order. */
  get isAwake(): boolean {
    if (this.machine === undefined || this.#paused !== undefined) return false;
    return this.#storage?.isFull !== true && this.machine.replica.red.halted === undefined;
  }

  /** Submits an operation; gives its serial, if the site is up and has room for it. */
  submit(
    { client, id }: Pick<ClientOperation, 'client' | 'id'>,
    submission: Omit<Submission, 'serial' | 'submittedAtMs'>,
    onAnswer: (answer: SiteAnswer) => void,
  ): number | undefined {
    this.#serial += 1;
    const serial = this.#serial;
    this.#options.submitted({ serial, client, id, after: submission.after, wants: submission.wants });
    if (this.machine === undefined) return undefined;
    if (this.#storage?.isFull === true) {
      this.refusals += 1;
      return undefined;
    }
    this.#answers.set(serial, onAnswer);
    this.#input((machine) => {
      const { wallMs: submittedAtMs } = this;
      machine.submit({ ...submission, serial, submittedAtMs }, this.#options.timeline.nowMs, submittedAtMs);
    });
    return serial;
  }

  /** Nobody waits any more for what was submitted under this serial: nothing, where a crash has forgotten it. */
  abandon(serial: number): void {
    if (this.#answers.has(serial)) this.#input((machine) => machine.abandon(serial));
  }

  /** As many bytes as came over the network: only what they say can reach the site. */
  receive({ bytes }: Sent): void {
    const envelope = this.#codec.decode(bytes, this.#options.site.origins, this.#options.site.deployment);
    const hasRoom = this.#storage?.isStuck !== true;
    const start = this.#starts;
    this.#input((machine) => {
      const before = machine.untaken;
      machine.receive(envelope, this.#options.timeline.nowMs, this.wallMs, hasRoom);
      if (machine.untaken === before) this.#options.took(envelope, start);
    });
  }

  /** The site's clock, as people set it: in whole milliseconds, as machines tell it. */
  get wallMs(): number {
    return Math.floor(this.#rightMs + this.#aheadMs);
  }

  /** What the site's clock would show at most, had it never been set back. */
  get highestWallMs(): number {
    return this.#rightMs + Math.max(this.#aheadMaxMs, this.#aheadMs);
  }

  /** Sets the site's clock: so far off, beside its skew and drift. */
  setClock(aheadMs: number): void {
    this.#noteAhead();
    this.#clockAheadMs = aheadMs;
    this.#noteAhead();
  }

  /** Between two settings a clock drifts one way: it is furthest ahead at one of them. */
  #noteAhead(): void {
    this.#aheadMaxMs = Math.max(this.#aheadMaxMs, this.#aheadMs);
  }

  get #aheadMs(): number {
    return this.#options.skewMs + this.#clockAheadMs + this.drift * this.#options.timeline.nowMs;
  }

  get #rightMs(): number {
    return EPOCH_MS + this.#options.timeline.nowMs;
  }

  /** Gives the machine an input, now or after the pause; nothing, where it is not `for` this machine any more. */
  #input(give: (machine: SiteMachine) => void, meant: SiteMachine | undefined = this.machine): void {
    const { machine } = this;
    if (machine === undefined || machine !== meant) return;
    const run = (): void => {
      if (this.machine !== machine) return;
      give(machine);
      this.#act();
    };
    if (this.#paused === undefined) run();
    else this.#paused.push(run);
  }

  #act(): void {
    for (const output of this.machine?.takeOutputs() ?? []) {
      if (output.kind === 'send') this.#send({ ...output.envelope, sentAtMs: this.wallMs });
      else if (output.kind === 'store') this.#storage?.append(output.log, output.entries);
      else if (output.kind === 'view') this.#answer(output);
      else if (output.kind === 'halted') this.#onHalted(this.machine);
      else this.#fail(output);
    }
  }

  /** In small envelopes, so that messages are divided as large ones are. */
  #send(envelope: Envelope): void {
    const { from, to, message } = envelope;
    for (const bytes of this.#codec.encode(envelope, ENVELOPE_BYTES)) {
      this.#options.send({ from: from.site, to: to.site, kind: message.kind, bytes });
    }
  }

  #answer({ serial, stage, last, reply: { value, meta }, seen }: SiteOutput & { kind: 'view' }): void {
    this.#answers.get(serial)?.({ kind: last ? 'final' : 'preliminary', serial, stage, value, meta, seen });
  }

  #fail({ serial, stage, error: { code, domain } }: SiteOutput & { kind: 'failed' }): void {
    this.#answers.get(serial)?.({ kind: 'failed', serial, stage, code, domain });
  }

  /** Lets the checkers' notes go with the checkpoint. */
  #pack({ rest, contained }: Cut): Cut {
    this.checkpoints += 1;
    this.#noted.set(this.checkpoints, this.#options.save());
    return { rest: { note: this.checkpoints, rest }, contained };
  }

  #unpack(stored: StoredSite): StoredSite {
    const { checkpoint } = stored;
    if (checkpoint === undefined) {
      this.#options.started(undefined);
      return stored;
    }
    const { note, rest } = checkpoint.rest as { readonly note: number; readonly rest: unknown };
    this.startsFromCheckpoint += 1;
    this.#options.started(this.#noted.get(note));
    return { ...stored, checkpoint: { sections: checkpoint.sections, rest } };
  }

  #planTick(): void {
    this.#options.timeline.after(TICK_MS, () => {
      if (this.isLost) return;
      this.#input((machine) => machine.tick(this.#options.timeline.nowMs, this.wallMs));
      this.#planTick();
    });
  }
}

/** Nothing is sent that should not be taken, but for what a restart has made late. */
function refused({ message }: RefusedMessage): never {
  throw new Fault(`a message was refused: ${message}`, 'messages');
}

/** How long a log is that a site found. */
function endOf(stored: StoredSite, log: LogKind): number {
  return stored[log].start + stored[log].entries.length;
}
