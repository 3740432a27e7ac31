/** Runs state transfers over the links of a node, as a donor and as a receiver. */
import { randomBytes } from 'node:crypto';
import { isRecord } from '../../../correctable/validate.ts';
import { removeWildStamps } from '../../log/recovered-state.ts';
import type { Checkpoint } from '../../service/records/checkpoint.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { Files } from '../storage/disk/files.ts';
import { nodeTiming } from '../storage/disk/node-files.ts';
import type { ImportedRow } from '../storage/rows/import-state.ts';
import type { TransferReply, TransferRequest, TransferSlice } from './transfer-messages.ts';
import { TransferReceiver } from './transfer-receiver.ts';
import { TransferSource, type TransferSourceOptions } from './transfer-source.ts';

/** The kind of the requests about transfers. Slices are no requests. */
export const TRANSFER = 'transfer';

export interface StateTransfersOptions {
  readonly site: string;
  /** The identity of this data directory. */
  readonly directory: string;
  readonly files: Files;
  /** How far the clock of a donor may be ahead of this one, in milliseconds. */
  readonly maxClockSkewMs: number;
  readonly links: {
    request(peer: string, kind: string, body: unknown): Promise<unknown>;
    sendSlice(peer: string, content: Uint8Array): Promise<void>;
    isConnected(peer: string): boolean;
  };
  /**
   * Returns the reason if the receiver cannot get the state now. Otherwise, all records that it
   * needs are kept from then on.
   */
  admit(site: string, receiver: TransferIdentity): TransferRefusal | undefined;
  onProgress?(progress: TransferProgress): void;
  /**
   * Called when no donor has sent anything for `STALLED_AFTER_MS`. Called once until something
   * arrives.
   */
  onStalled?(problem: string): void;
  /**
   * Called if the disk is too full for the received state, with the error and the approximate space
   * that is still needed. Called without an error once there is space.
   */
  onFullChanged?(because: Error | undefined, neededBytes?: number): void;
}

/** The receiver of a state: its origin, which a donor may not know yet, and its data directory. */
export interface TransferIdentity {
  readonly origin: Origin;
  readonly directory: string;
}

/** The reason why a site does not get the state. */
export interface TransferRefusal {
  readonly reason: string;
  /** Whether its directory belongs to a closed site. Then it never gets the state. */
  readonly isClosed?: boolean;
}

export interface ReceivedState {
  readonly donor: string;
  /** The shared part of its state, without the rows of the sections. */
  readonly shared: Checkpoint;
  /** The rows, which are read from the received file. */
  readonly rows: Iterable<ImportedRow>;
  /** How many bytes were received. */
  readonly bytes: number;
}

/** The progress of a transfer to this node. */
export interface TransferProgress {
  readonly donor: string;
  readonly bytes: number;
  readonly expectedBytes: number | undefined;
  /** The last problem of the transfer. */
  readonly problem: string | undefined;
}

/** If a donor sends nothing for this long, another donor is asked. */
const STALL_MS = 20_000;
const STALLED_AFTER_MS = 60_000;
const CHECK_MS = 1000;
const NAME_BYTES = 12;
const HEAD_BYTES = 4;

export class StateTransfers {
  readonly #options: StateTransfersOptions;
  #source: TransferSource | undefined;
  #receiver: TransferReceiver | undefined;
  #progress: TransferProgress | undefined;
  /** Stops the transfer from this donor, so that another one is asked. */
  #leaveDonor: (() => void) | undefined;
  /** When data last arrived. The next field has the problems since then. */
  #movedAtMs = 0;
  #problem: string | undefined;
  #isStalled = false;
  #isFull = false;

  constructor(options: StateTransfersOptions) {
    this.#options = options;
  }

  /** The progress of the transfer to this node; `undefined` if there is none. */
  get progress(): TransferProgress | undefined {
    return this.#progress;
  }

  /** Serves other sites from this storage. */
  serve({ storage, onDamaged }: Pick<TransferSourceOptions, 'storage' | 'onDamaged'>): void {
    this.stopServing();
    const send = (receiver: string, reply: TransferReply): void => this.#reply(receiver, reply);
    const { site: donor } = this.#options;
    this.#source = new TransferSource({ timing: nodeTiming, storage, donor, send, onDamaged });
  }

  stopServing(): void {
    this.#source?.close();
    this.#source = undefined;
  }

  onRequest(from: string, body: unknown): null {
    const message = parseMessage(body);
    if (
      message.kind === 'transfer.ready' ||
      message.kind === 'transfer.refused' ||
      message.kind === 'transfer.lost'
    ) {
      if (from === this.#progress?.donor) this.#receiver?.receive(message);
    } else this.#serve(from, message);
    return null;
  }

  onSlice(from: string, content: Uint8Array): void {
    if (from !== this.#progress?.donor) return;
    const slice = decodeSlice(content);
    if (slice !== undefined) return this.#receiver?.receive(slice);
    this.#update({ problem: `${from} has sent a slice that cannot be read` });
    this.#leaveDonor?.();
  }

  onConnected(site: string): void {
    if (site === this.#progress?.donor) this.#receiver?.retry();
  }

  /**
   * Receives the state of a donor, or continues a transfer. Calls `onClosed` if a donor knows that
   * the origin of this site was closed.
   */
  async receive(
    origin: Origin,
    donors: () => readonly string[],
    signal: AbortSignal,
    onClosed?: (reason: string) => void,
  ): Promise<ReceivedState> {
    this.#onMoved();
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      const all = donors();
      const connected = all.filter((donor) => this.#options.links.isConnected(donor));
      const donor = connected[attempt % connected.length];
      if (donor === undefined) this.#problem = `no link to ${all.join(', ')} is up`;
      this.#checkStalled();
      const received =
        donor === undefined ? undefined : await this.#receiveFrom(donor, origin, signal, onClosed);
      if (received !== undefined) {
        const latestMs = Date.now() + this.#options.maxClockSkewMs;
        return {
          ...received,
          shared: removeWildStamps(received.shared, latestMs),
        };
      }
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
  }

  close(): void {
    this.#source?.close();
    this.#receiver?.close();
  }

  /** Resolves with `undefined` if nothing came for too long. */
  async #receiveFrom(
    donor: string,
    origin: Origin,
    signal: AbortSignal,
    onClosed: ((reason: string) => void) | undefined,
  ): Promise<ReceivedState | undefined> {
    const { files, directory } = this.#options;
    this.#progress = {
      donor,
      bytes: 0,
      expectedBytes: undefined,
      problem: undefined,
    };
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#leaveDonor = () => resolve(undefined);
        const receiver = (this.#receiver = new TransferReceiver({
          files,
          timing: nodeTiming,
          donor,
          createName: () => randomBytes(NAME_BYTES).toString('hex'),
          send: (request) => this.#send(donor, { ...request, directory, origin }),
          onProgress: (bytes, expectedBytes) => {
            this.#onMoved();
            this.#setFull(undefined);
            this.#update({ bytes, expectedBytes, problem: undefined });
          },
          onProblem: (problem) => this.#update({ problem }),
          onClosed: (reason) => onClosed?.(reason),
          onWriteFailed: (error) => this.#setFull(error),
          onDone: ({ smallParts, rows }, bytes) =>
            resolve({ donor, shared: { sections: {}, smallParts }, rows, bytes }),
        }));
        const sinceMs = performance.now();
        timer = setInterval(() => {
          if (signal.aborted) return reject(signal.reason as Error);
          this.#checkStalled();
          // If the disk is full, another donor does not help.
          if (this.#isFull) return;
          if (performance.now() - Math.max(this.#movedAtMs, sinceMs) > STALL_MS) resolve(undefined);
        }, CHECK_MS);
        receiver.start();
      });
    } finally {
      clearInterval(timer);
      this.#receiver?.close();
      this.#receiver = undefined;
      this.#progress = undefined;
      this.#leaveDonor = undefined;
    }
  }

  #update(change: Partial<TransferProgress>): void {
    this.#progress = { ...(this.#progress as TransferProgress), ...change };
    this.#problem = this.#progress.problem;
    this.#options.onProgress?.(this.#progress);
  }

  /**
   * Notes that the received state cannot be written, with the reason, or that it can be written
   * again.
   */
  #setFull(because: Error | undefined): void {
    if (this.#isFull === (because !== undefined)) return;
    this.#isFull = because !== undefined;
    if (because === undefined) return this.#options.onFullChanged?.(undefined);
    // The directory of the site is created beside the received files.
    const { bytes, expectedBytes = 0 } = this.#progress ?? { bytes: 0 };
    this.#options.onFullChanged?.(because, Math.max(0, 2 * expectedBytes - bytes));
  }

  #onMoved(): void {
    this.#movedAtMs = performance.now();
    this.#isStalled = false;
  }

  #checkStalled(): void {
    if (this.#isStalled || performance.now() - this.#movedAtMs < STALLED_AFTER_MS) return;
    this.#isStalled = true;
    this.#options.onStalled?.(this.#problem ?? 'no site answers');
  }

  #serve(from: string, request: TransferRequest & TransferIdentity): void {
    const { transfer } = request;
    if (this.#source === undefined) {
      const reason = `${this.#options.site} is not serving`;
      return this.#reply(from, { kind: 'transfer.refused', transfer, reason });
    }
    const refusal =
      request.kind === 'transfer.begin' ? this.#options.admit(from, request) : undefined;
    if (refusal === undefined) this.#source.receive(from, request);
    else this.#reply(from, { kind: 'transfer.refused', transfer, ...refusal });
  }

  /** If the link is lost, the receiver requests the lost part again. */
  #reply(receiver: string, reply: TransferReply): void {
    if (reply.kind === 'transfer.slice')
      this.#options.links.sendSlice(receiver, encodeSlice(reply)).catch(ignore);
    else this.#send(receiver, reply);
  }

  #send(peer: string, message: object): void {
    this.#options.links.request(peer, TRANSFER, message).catch(ignore);
  }
}

/**
 * Returns the reason if a site must not get the state. `origins` is `undefined` if the donor does
 * not run.
 */
export function findRefusal(
  origins: Origins | undefined,
  isInAllLogs: (origin: Origin) => boolean,
  {
    donor,
    site,
    directory,
    origin,
  }: TransferIdentity & { readonly donor: string; readonly site: string },
): TransferRefusal | undefined {
  const known = origins?.isSite(origin) === true ? origins.get(origin) : undefined;
  // No table lists the directories of the founding sites.
  const isKnown = known?.site === site && (known.directory ?? directory) === directory;
  if (!isKnown || known.state === 'closing')
    return {
      reason: `${donor} does not know this data directory of ${site} yet`,
    };
  if (known.state !== 'closed')
    return isInAllLogs(origin)
      ? undefined
      : { reason: `a red log of ${donor} does not have ${site} yet` };
  const isRebuilt = origins?.find(site) !== undefined;
  const cause = isRebuilt ? 'it was rebuilt on another data directory' : 'it was retired';
  return { reason: `${site} was closed: ${cause}`, isClosed: true };
}

export function formatProgress({ donor, bytes, expectedBytes, problem }: TransferProgress): string {
  if (problem !== undefined) return `waiting for the state of ${donor}: ${problem}`;
  const share = expectedBytes === undefined ? '' : ` of about ${expectedBytes}`;
  return `taking the state of ${donor}: ${bytes}${share} bytes`;
}

function encodeSlice({ bytes, ...head }: TransferSlice): Uint8Array {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.allocUnsafe(HEAD_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, bytes]);
}

/**
 * Returns `undefined` if the bytes are not a slice. The bytes are copied: a part of what the link
 * has read would keep all of it.
 */
function decodeSlice(content: Uint8Array): TransferSlice | undefined {
  const buffer = Buffer.from(content);
  try {
    const start = HEAD_BYTES + buffer.readUInt32BE(0);
    const head: unknown = JSON.parse(buffer.toString('utf8', HEAD_BYTES, start));
    if (!isRecord(head) || head['kind'] !== 'transfer.slice' || !isOffset(head['offset']))
      return undefined;
    return {
      ...(head as unknown as Omit<TransferSlice, 'bytes'>),
      bytes: buffer.subarray(start),
    };
  } catch {
    return undefined;
  }
}

function isOffset(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

type ControlMessage =
  | (TransferRequest & TransferIdentity)
  | Exclude<TransferReply, { kind: 'transfer.slice' }>;

/** @throws Error if the body is not a message */
function parseMessage(body: unknown): ControlMessage {
  const { kind, transfer, offset = 0 } = isRecord(body) ? body : {};
  const isMessage = String(kind).startsWith('transfer.') && typeof transfer === 'string';
  if (!isMessage || !isOffset(offset)) throw new Error('it is no message of a state transfer');
  return body as unknown as ControlMessage;
}

function ignore(): void {}
