/**
 * A donor and a receiver on virtual disks, and a link between them that loses, repeats and damages
 * what it carries.
 */
import {
  EMPTY_OWN_STATE,
  RowChanges,
} from '../../../../../src/server/service/records/checkpoint.ts';
import type { Checkpoint, Section } from '../../../../../src/server/service/records/checkpoint.ts';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import type { CheckpointSource } from '../../../../../src/server/log/site-storage.ts';
import { createSiteFromShared } from '../../../../../src/server/log/recovered-state.ts';
import type {
  CheckpointCut,
  RecoveredState,
} from '../../../../../src/server/log/recovered-state.ts';
import type { Files, Timing } from '../../../../../src/server/node/storage/disk/files.ts';
import { DurableStorage } from '../../../../../src/server/node/storage/durable-storage.ts';
import type { RowStores } from '../../../../../src/server/node/storage/rows/row-store.ts';
import type { IncomingState } from '../../../../../src/server/node/transfer/incoming-file.ts';
import { installSite } from '../../../../../src/server/node/transfer/install-site.ts';
import type {
  TransferReply,
  TransferRequest,
} from '../../../../../src/server/node/transfer/transfer-messages.ts';
import { TransferReceiver } from '../../../../../src/server/node/transfer/transfer-receiver.ts';
import { TransferSource } from '../../../../../src/server/node/transfer/transfer-source.ts';
import { SharedFrames } from '../../../../../src/server/node/transfer/shared-frames.ts';
import { SimulatedDisk } from '../../../../../src/testing/simulator/disk/disk.ts';
import { SimulatedRowDisk } from '../../../../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../../../../src/testing/simulator/timeline.ts';

export const SITE = 'sites/virginia';
const DONOR = 'sites/ireland';
const SLICE_BYTES = 1000;
/** What changes of the messages on the way: gives those that arrive. */
export type Way = (
  message: TransferReply | TransferRequest,
) => readonly (TransferReply | TransferRequest)[];

/** A site that has rows, and as many of its own, which no other site is to have. */
export class Donor implements CheckpointSource {
  readonly disk: SimulatedDisk;
  readonly rowDisk: SimulatedRowDisk;
  readonly rows = new Map<string, unknown>();
  readonly retainedFrom = { local: 0, red: 0 };
  readonly sections: Readonly<Record<string, Section>>;
  cutProblem: string | undefined;
  storage!: DurableStorage;
  source!: TransferSource;
  /** What it has found to be damaged. */
  damage: Error | undefined;
  readonly #changes = { slots: this.#createChanges(), 'own.slots': this.#createChanges() };
  readonly #sites: TransferSites;

  constructor(sites: TransferSites) {
    this.#sites = sites;
    this.disk = sites.createDisk(1);
    this.rowDisk = sites.createRowDisk(1);
    this.sections = { slots: this.#section('slots'), 'own.slots': this.#section('own.slots') };
    this.start();
  }

  /** Ends, and loses what is not synced. */
  crash(): void {
    this.disk.crash();
    this.rowDisk.crash();
  }

  /** Begins again: of what it has only the rows matter here. */
  start(): void {
    const { timing } = this.#sites;
    const files = this.disk.mount();
    for (const changes of Object.values(this.#changes)) changes.changeAll();
    this.storage = new DurableStorage({
      files,
      timing,
      directory: DONOR,
      rows: this.rowDisk.open(),
      checkpointBytes: Infinity,
    });
    this.storage.attach(this, { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} });
    this.setSource();
  }

  /** Sends what the storage has. Tests replace parts of it. */
  setSource(
    storage: Pick<DurableStorage, 'takeSnapshot'> = this.storage,
    Frames = SharedFrames,
  ): void {
    const { timing } = this.#sites;
    const send = (_: string, reply: TransferReply): void => this.#sites.toReceiver(reply);
    this.source?.close();
    const onDamaged = (error: Error): void => {
      this.damage = error;
    };
    const options = { timing, storage, donor: 'ireland', sliceBytes: SLICE_BYTES, send, onDamaged };
    this.source = new TransferSource(options, Frames);
  }

  put(name: string, value: unknown): void {
    for (const changes of Object.values(this.#changes)) changes.note(name);
    if (value === undefined) this.rows.delete(name);
    else this.rows.set(name, value);
  }

  createCut(): CheckpointCut {
    const shared = { log: { delivered: 7 }, replica: {}, count: this.rows.size, at: new Date(0) };
    return {
      smallParts: { shared, own: { ...EMPTY_OWN_STATE, clock: 'own' } },
      contained: { local: 0, red: 0 },
    };
  }

  #section(name: 'slots' | 'own.slots'): Section {
    const changes = this.#changes[name];
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => changes.closeChanges(),
      takeClosed: (max) => changes.takeClosed(max),
      restore: () => {},
    };
  }

  #createChanges(): RowChanges<string> {
    return new RowChanges({
      listKeys: () => this.rows.keys(),
      save: (name) => this.rows.get(name),
    });
  }
}

/** Both sides. */
export class TransferSites {
  readonly timeline = new Timeline();
  readonly timing: Timing = {
    soon: (run) => this.timeline.schedule(0, run),
    later: (run) => this.timeline.schedule(0, run),
    afterMs: (delayMs, run) => this.timeline.schedule(delayMs, run),
  };
  readonly random: Random;
  readonly donor: Donor;
  readonly disk: SimulatedDisk;
  /** What goes both ways; as it was sent unless set. */
  way: Way = (message) => [message];
  readonly sent: (TransferReply | TransferRequest)[] = [];
  readonly problems: string[] = [];
  /** What was transferred, once it has been. */
  shared: Checkpoint | undefined;
  progress: number[] = [];
  receiver: TransferReceiver | undefined;
  #names = 0;

  constructor(seed = 1) {
    this.random = new Random(seed);
    this.disk = this.createDisk(2);
    this.donor = new Donor(this);
  }

  createDisk(seed: number): SimulatedDisk {
    return new SimulatedDisk({ timeline: this.timeline, random: new Random(seed), syncMeanMs: 1 });
  }

  createRowDisk(seed: number): SimulatedRowDisk {
    const random = new Random(seed);
    return new SimulatedRowDisk({ timeline: this.timeline, random, syncMeanMs: 1 });
  }

  /** Begins to receive, or goes on. */
  receive(
    files: Files = this.disk.mount(),
    onDone: (received: IncomingState) => void = () => {},
  ): TransferReceiver {
    this.receiver?.close();
    this.receiver = new TransferReceiver({
      files,
      timing: this.timing,
      donor: 'ireland',
      sliceBytes: SLICE_BYTES,
      createName: () => `transfer ${++this.#names}`,
      send: (request) =>
        this.#carry(request, (arrived) =>
          this.donor.source.receive('virginia', arrived as TransferRequest),
        ),
      onProblem: (problem) => this.problems.push(problem),
      onProgress: (bytes) => this.progress.push(bytes),
      onDone: (received) => {
        this.shared = readAll(received);
        onDone(received);
      },
    });
    this.receiver.start();
    return this.receiver;
  }

  /** Receives, and makes a site of it. */
  receiveAndInstall(
    files: Files,
    done: (error: Error | undefined) => void,
    state: (shared: Checkpoint) => RecoveredState = createSiteFromShared,
    rows: RowStores = this.disk.rows,
  ): void {
    const { timing } = this;
    const place = { files, timing, directory: SITE, site: 'virginia', rows, tables: {} };
    this.receive(files, ({ smallParts, rows: sharedRows }) =>
      installSite(
        {
          ...place,
          state: state({ sections: {}, smallParts }),
          sharedRows,
          nextSegment: 9,
          commit: 5,
        },
        done,
      ),
    );
  }

  toReceiver(reply: TransferReply): void {
    this.#carry(reply, (arrived) => this.receiver?.receive(arrived as TransferReply));
  }

  run(forMs = 60_000, isDone?: () => boolean): void {
    this.timeline.run(this.timeline.nowMs + forMs, isDone);
  }

  get hasShared(): boolean {
    return this.shared !== undefined;
  }

  #carry(
    message: TransferReply | TransferRequest,
    deliver: (message: TransferReply | TransferRequest) => void,
  ): void {
    this.sent.push(message);
    for (const arrived of this.way(message)) this.timeline.schedule(20, () => deliver(arrived));
  }
}

/** Reads all rows into memory. */
export function readAll({ smallParts, rows }: IncomingState): Checkpoint {
  const sections: Record<string, Map<string, unknown>> = {};
  for (const [section, name, value] of rows) (sections[section] ??= new Map()).set(name, value);
  return { sections, smallParts };
}
