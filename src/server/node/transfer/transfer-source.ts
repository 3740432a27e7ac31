/**
 * The donor of state transfers. It takes a snapshot for each, and reads slices between other work
 * of the site.
 */
import type { HeldCheckpoint } from '../storage/checkpointer.ts';
import type { DurableStorage } from '../storage/durable-storage.ts';
import type { Files, Timing } from '../storage/disk/files.ts';
import { SharedFrames } from './shared-frames.ts';
import {
  SLICE_BYTES,
  createSlice,
  type TransferReply,
  type TransferRequest,
} from './transfer-messages.ts';

export interface TransferSourceOptions {
  readonly files: Files;
  readonly timing: Timing;
  readonly storage: DurableStorage;
  /** The name of the site. */
  readonly donor: string;
  send(receiver: string, reply: TransferReply): void;
  readonly sliceBytes?: number;
}

interface Transfer {
  readonly name: string;
  readonly receiver: string;
  /** `undefined` while it is being taken. */
  snapshot?: HeldCheckpoint;
  frames?: SharedFrames;
  /** Offsets of requested slices. */
  readonly offsets: Set<number>;
  uses: number;
}

/** A snapshot that is not read is kept for this long at least, and for twice as long at most. */
const KEEP_SNAPSHOT_MS = 900_000;
/** Maximum number of waiting slices of one receiver. It requests dropped ones again. */
const MAX_OFFSETS = 64;

/** Sends the state of a site to others, with one transfer at a time for each of them. */
export class TransferSource {
  readonly #options: TransferSourceOptions;
  readonly #transfers = new Map<string, Transfer>();
  /** Whether a snapshot was unreadable. The next one is written into a new file. */
  #isFreshFileWanted = false;
  #isWorking = false;
  #isClosed = false;

  constructor(options: TransferSourceOptions) {
    this.#options = options;
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
      this.#keep(transfer);
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
    const transfer: Transfer = { name, receiver, offsets: new Set(), uses: 0 };
    this.#transfers.set(receiver, transfer);
    const isFreshFile = this.#isFreshFileWanted;
    this.#options.storage.takeSnapshot(
      (error, snapshot) => {
        if (this.#transfers.get(receiver) !== transfer) return snapshot?.release();
        if (snapshot === undefined) {
          this.#end(transfer);
          const reason = (error as Error).message;
          return this.#options.send(receiver, {
            kind: 'transfer.refused',
            transfer: name,
            reason,
          });
        }
        if (isFreshFile) this.#isFreshFileWanted = false;
        const { files, donor } = this.#options;
        transfer.snapshot = snapshot;
        transfer.frames = new SharedFrames(files, snapshot, {
          transfer: name,
          donor,
        });
        this.#keep(transfer);
        this.#sendReady(transfer, snapshot);
      },
      { isFreshFile },
    );
  }

  #sendReady({ receiver, name }: Transfer, { bytes }: HeldCheckpoint): void {
    this.#options.send(receiver, {
      kind: 'transfer.ready',
      transfer: name,
      bytes,
    });
  }

  /** Ends the transfer unless something is requested in time. */
  #keep(transfer: Transfer): void {
    transfer.uses += 1;
    // One timer covers all requests of that time.
    if (transfer.uses > 1) return;
    this.#options.timing.afterMs(KEEP_SNAPSHOT_MS, () => {
      if (this.#transfers.get(transfer.receiver) !== transfer) return;
      const isUnused = transfer.uses === 1;
      transfer.uses = 0;
      if (isUnused) this.#end(transfer);
      else this.#keep(transfer);
    });
  }

  #end(transfer: Transfer): void {
    if (this.#transfers.get(transfer.receiver) === transfer)
      this.#transfers.delete(transfer.receiver);
    transfer.snapshot?.release();
  }

  #work(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#options.timing.later(() => {
      this.#isWorking = false;
      if (this.#isClosed) return;
      const waiting = [...this.#transfers.values()].filter(({ offsets }) => offsets.size > 0);
      // One step for each receiver: a frame is read, or a slice is sent.
      for (const transfer of waiting) this.#step(transfer);
      if (waiting.length > 0) this.#work();
    });
  }

  #step(transfer: Transfer): void {
    const { frames, offsets, receiver, name } = transfer;
    const [offset] = offsets;
    if (frames === undefined || offset === undefined) return offsets.clear();
    try {
      const found = frames.read(offset, this.#options.sliceBytes ?? SLICE_BYTES);
      if (found === undefined) return frames.advance();
      offsets.delete(offset);
      this.#options.send(receiver, createSlice({ transfer: name, offset, ...found }));
    } catch {
      this.#isFreshFileWanted = true;
      this.#end(transfer);
      this.#options.send(receiver, { kind: 'transfer.lost', transfer: name });
    }
  }
}
