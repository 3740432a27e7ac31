/**
 * The donor of state transfers. It takes a snapshot for each, and reads slices between other work
 * of the site.
 */
import type { DurableStorage } from '../storage/durable-storage.ts';
import type { Timing } from '../storage/disk/files.ts';
import type { HeldCommit } from '../storage/rows/row-commits.ts';
import { estimateTransferBytes } from './estimate-transfer.ts';
import { SharedFrames } from './shared-frames.ts';
import {
  SLICE_BYTES,
  createSlice,
  type TransferReply,
  type TransferRequest,
} from './transfer-messages.ts';

export interface TransferSourceOptions {
  readonly timing: Timing;
  readonly storage: Pick<DurableStorage, 'takeSnapshot'>;
  /** The name of the site. */
  readonly donor: string;
  send(receiver: string, reply: TransferReply): void;
  /** A read has found damage. The site has to stop. */
  onDamaged(error: Error): void;
  readonly sliceBytes?: number;
}

interface Transfer {
  readonly name: string;
  readonly receiver: string;
  /** `undefined` while it is being taken. */
  snapshot?: Snapshot;
  /** Offsets of requested slices. */
  readonly offsets: Set<number>;
  /** How many checks in a row have found that nothing was requested. */
  idleChecks: number;
}

interface Snapshot {
  readonly commit: HeldCommit;
  readonly frames: SharedFrames;
  /** About how many bytes the transfer has. */
  readonly bytes: number;
}

/** While a snapshot is held, the store of rows keeps what it has replaced since. */
const CHECK_MS = 60_000;
const MAX_IDLE_CHECKS = 15;
/** Maximum number of waiting slices of one receiver. It requests dropped ones again. */
const MAX_OFFSETS = 64;

/** Sends the state of a site to others, with one transfer at a time for each of them. */
export class TransferSource {
  readonly #options: TransferSourceOptions;
  readonly #Frames: typeof SharedFrames;
  readonly #transfers = new Map<string, Transfer>();
  /** What was found to be damaged. Another donor has to send its state. */
  #damage: Error | undefined;
  #isWorking = false;
  #isClosed = false;

  /** @param Frames makes the bytes. Tests replace it. */
  constructor(options: TransferSourceOptions, Frames: typeof SharedFrames = SharedFrames) {
    this.#options = options;
    this.#Frames = Frames;
  }

  receive(receiver: string, request: TransferRequest): void {
    if (this.#isClosed) return;
    const name = request.transfer;
    const transfer = this.#transfers.get(receiver);
    const isKnown = transfer?.name === name;
    if (request.kind === 'transfer.begin') {
      if (!isKnown) this.#begin(receiver, name);
      else if (transfer.snapshot !== undefined) this.#sendReady(transfer, transfer.snapshot);
    } else if (!isKnown) {
      if (request.kind === 'transfer.read')
        this.#options.send(receiver, { kind: 'transfer.lost', transfer: name });
    } else if (request.kind === 'transfer.end') this.#end(transfer);
    else if (transfer.offsets.size < MAX_OFFSETS) {
      transfer.offsets.add(request.offset);
      transfer.idleChecks = 0;
      this.#work();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const transfer of this.#transfers.values()) this.#end(transfer);
  }

  #begin(receiver: string, name: string): void {
    const earlier = this.#transfers.get(receiver);
    if (earlier !== undefined) this.#end(earlier);
    if (this.#damage !== undefined) return this.#refuse(receiver, name, this.#damage);
    const transfer: Transfer = { name, receiver, offsets: new Set(), idleChecks: 0 };
    this.#transfers.set(receiver, transfer);
    this.#options.storage.takeSnapshot((error, commit) => {
      if (this.#transfers.get(receiver) !== transfer) return commit?.release();
      if (commit !== undefined) return this.#start(transfer, commit);
      this.#end(transfer);
      this.#refuse(receiver, name, error as Error);
    });
  }

  #refuse(receiver: string, transfer: string, { message: reason }: Error): void {
    this.#options.send(receiver, { kind: 'transfer.refused', transfer, reason });
  }

  #start(transfer: Transfer, commit: HeldCommit): void {
    try {
      const header = { transfer: transfer.name, donor: this.#options.donor };
      const frames = new this.#Frames(commit, header);
      transfer.snapshot = { commit, frames, bytes: estimateTransferBytes(commit) };
    } catch (error) {
      commit.release();
      return this.#onDamaged(transfer, error as Error);
    }
    this.#watch(transfer);
    this.#sendReady(transfer, transfer.snapshot);
  }

  #sendReady({ receiver, name }: Transfer, { bytes }: Snapshot): void {
    this.#options.send(receiver, { kind: 'transfer.ready', transfer: name, bytes });
  }

  /** Ends the transfer unless something is requested in time. */
  #watch(transfer: Transfer): void {
    this.#options.timing.afterMs(CHECK_MS, () => {
      if (this.#transfers.get(transfer.receiver) !== transfer) return;
      transfer.idleChecks += 1;
      if (transfer.idleChecks > MAX_IDLE_CHECKS) this.#end(transfer);
      else this.#watch(transfer);
    });
  }

  #end(transfer: Transfer): void {
    if (this.#transfers.get(transfer.receiver) === transfer)
      this.#transfers.delete(transfer.receiver);
    transfer.snapshot?.commit.release();
  }

  /** Nothing of the rows can be trusted, so the site stops. */
  #onDamaged(transfer: Transfer, error: Error): void {
    this.#damage = error;
    this.#end(transfer);
    this.#options.send(transfer.receiver, { kind: 'transfer.lost', transfer: transfer.name });
    this.#options.onDamaged(error);
  }

  #work(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#options.timing.later(() => {
      this.#isWorking = false;
      if (this.#isClosed) return;
      const waiting = [...this.#transfers.values()].filter(({ offsets }) => offsets.size > 0);
      // One step for each receiver: some rows are read, or a slice is sent.
      for (const transfer of waiting) this.#step(transfer);
      if (waiting.length > 0) this.#work();
    });
  }

  #step(transfer: Transfer): void {
    const { snapshot, offsets, receiver, name } = transfer;
    const [offset] = offsets;
    if (snapshot === undefined || offset === undefined) return offsets.clear();
    const { frames } = snapshot;
    try {
      const found = frames.read(offset, this.#options.sliceBytes ?? SLICE_BYTES);
      if (found === undefined) return frames.advance();
      offsets.delete(offset);
      this.#options.send(receiver, createSlice({ transfer: name, offset, ...found }));
    } catch (error) {
      this.#onDamaged(transfer, error as Error);
    }
  }
}
