/**
 * The receiving side of a state transfer. It goes on after a lost link or a restart, and checks the
 * whole at the end.
 */
import { isFenced, type Files, type Timing } from '../storage/disk/files.ts';
import { runSteps } from '../storage/rows/run-steps.ts';
import { IncomingFile, type IncomingState } from './incoming-file.ts';
import {
  SLICE_BYTES,
  isIntact,
  type TransferReply,
  type TransferRequest,
} from './transfer-messages.ts';

export interface TransferReceiverOptions {
  readonly files: Files;
  readonly timing: Timing;
  /** The name of the site that sends its state. */
  readonly donor: string;
  /** Creates a name that no transfer has had. */
  createName(): string;
  send(request: TransferRequest): void;
  /**
   * Reports how many bytes have come, of about how many. The second number is unknown after a
   * restart.
   */
  onProgress?(bytes: number, expectedBytes: number | undefined): void;
  /** Reports a problem. The step is retried. */
  onProblem?(message: string): void;
  /** The donor knows this directory as one of a closed site. */
  onClosed?(reason: string): void;
  /** Received bytes could not be written. They are requested again. */
  onWriteFailed?(error: Error): void;
  /** The shared part of the donor's state is complete. */
  onDone(received: IncomingState, bytes: number): void;
  readonly sliceBytes?: number;
  /**
   * How long to wait for an answer before the request is repeated, in milliseconds. Default: 3000
   */
  readonly resendAfterMs?: number;
}

const RESEND_AFTER_MS = 3000;
/**
 * While the disk is full, requests are repeated later each time, up to 64 times the first delay.
 */
const MAX_WRITE_BACKOFF = 6;
/** How many slices are requested ahead, so that a long round trip costs little. */
const WINDOW = 16;

export class TransferReceiver {
  readonly #options: TransferReceiverOptions;
  readonly #sliceBytes: number;
  readonly #incoming: IncomingFile;
  #transfer: string;
  #isReady = false;
  #expectedBytes: number | undefined;
  /** Known once the last slice has come. */
  #totalBytes: number | undefined;
  /** Received slices that are not on the disk. */
  readonly #slices = new Map<number, Uint8Array>();
  #requestedTo = 0;
  #isWriting = false;
  /** Whether the write in flight belongs to a transfer that was given up. */
  #isOutdated = false;
  #isEnded = false;
  /** Whether what has come is being checked. */
  #isChecking = false;
  /** How many writes in a row have failed. */
  #writeFailures = 0;
  /** Whether something came since the last check. */
  #isAnswered = false;

  constructor(options: TransferReceiverOptions) {
    this.#options = options;
    this.#sliceBytes = options.sliceBytes ?? SLICE_BYTES;
    this.#incoming = new IncomingFile(options.files);
    const found = this.#incoming.resume();
    this.#isReady = found?.donor === options.donor;
    this.#transfer = found !== undefined && this.#isReady ? found.transfer : options.createName();
    if (!this.#isReady) this.#incoming.clear();
  }

  start(): void {
    this.retry();
    this.#watch();
  }

  /** Requests again what has not come, for example once the link is up again. */
  retry(): void {
    if (this.#isEnded || this.#isOutdated) return;
    this.#requestedTo = this.#incoming.length;
    if (this.#isReady) this.#request();
    else this.#options.send({ kind: 'transfer.begin', transfer: this.#transfer });
  }

  receive(reply: TransferReply): void {
    if (this.#isEnded || reply.transfer !== this.#transfer) return;
    this.#isAnswered = true;
    if (reply.kind === 'transfer.ready') {
      this.#expectedBytes = reply.bytes;
      this.#isReady = true;
      this.#request();
    } else if (reply.kind === 'transfer.slice') {
      if (isIntact(reply)) this.#take(reply);
      else this.#ask(reply.offset);
    } else if (reply.kind === 'transfer.lost')
      this.#beginAgain(`${this.#options.donor} has no such snapshot any more`);
    else {
      this.#options.onProblem?.(
        `${this.#options.donor} cannot send its state now: ${reply.reason}`,
      );
      if (reply.isClosed === true) this.#options.onClosed?.(reply.reason);
    }
  }

  /** Stops, and keeps what was received. */
  close(): void {
    this.#isEnded = true;
    this.#incoming.close();
  }

  #watch(): void {
    const { timing, resendAfterMs = RESEND_AFTER_MS } = this.#options;
    const backoff = Math.min(MAX_WRITE_BACKOFF, Math.max(0, this.#writeFailures - 1));
    timing.afterMs(resendAfterMs * 2 ** backoff, () => {
      if (this.#isEnded) return;
      if (!this.#isAnswered || !this.#isReady) this.retry();
      this.#isAnswered = false;
      this.#watch();
    });
  }

  #beginAgain(problem: string): void {
    this.#options.onProblem?.(`${problem}; another transfer is begun`);
    this.#transfer = this.#options.createName();
    this.#isReady = false;
    this.#totalBytes = undefined;
    this.#slices.clear();
    // A write in flight belongs to the transfer before.
    this.#isOutdated = this.#isWriting;
    if (!this.#isWriting) this.#clear();
  }

  #clear(): void {
    this.#isOutdated = false;
    this.#incoming.clear();
    this.retry();
  }

  #request(): void {
    const end = Math.min(
      this.#incoming.length + WINDOW * this.#sliceBytes,
      this.#totalBytes ?? Infinity,
    );
    while (this.#requestedTo < end) {
      if (!this.#slices.has(this.#requestedTo)) this.#ask(this.#requestedTo);
      this.#requestedTo += this.#sliceBytes;
    }
  }

  #ask(offset: number): void {
    this.#options.send({
      kind: 'transfer.read',
      transfer: this.#transfer,
      offset,
    });
  }

  #take({ offset, bytes, isLast }: Extract<TransferReply, { kind: 'transfer.slice' }>): void {
    if (isLast && (bytes.length > 0 || offset === this.#incoming.length))
      this.#totalBytes = offset + bytes.length;
    const isAhead = offset >= this.#incoming.length && offset < this.#requestedTo;
    if (isAhead && !(this.#isWriting && offset === this.#incoming.length))
      this.#slices.set(offset, bytes);
    this.#writeNext();
  }

  #writeNext(): void {
    if (this.#isWriting || this.#isEnded || this.#isChecking) return;
    const offset = this.#incoming.length;
    if (offset === this.#totalBytes) return this.#finish();
    const bytes = this.#slices.get(offset);
    if (bytes === undefined) return;
    this.#slices.delete(offset);
    this.#isWriting = true;
    const written = (error: Error | undefined): void => {
      this.#isWriting = false;
      if (this.#isEnded) return;
      if (this.#isOutdated) return this.#clear();
      if (error !== undefined) return this.#onWriteFailed(error);
      this.#writeFailures = 0;
      this.#options.onProgress?.(this.#incoming.length, this.#totalBytes ?? this.#expectedBytes);
      this.#request();
      this.#writeNext();
    };
    try {
      this.#incoming.append(bytes, written);
    } catch (error) {
      written(error as Error);
    }
  }

  /** The bytes are requested again later, when there may be room. */
  #onWriteFailed(error: Error): void {
    this.#writeFailures += 1;
    this.#options.onProblem?.(
      `What ${this.#options.donor} sends cannot be written (${error.message})`,
    );
    if (isFenced(error)) return this.close();
    this.#options.onWriteFailed?.(error);
  }

  #finish(): void {
    const { timing } = this.#options;
    this.#isChecking = true;
    runSteps(this.#incoming.read(this.#transfer), { timing }, (error, received) => {
      this.#isChecking = false;
      if (this.#isEnded) return;
      if (typeof received !== 'object') {
        const problem = received ?? error?.message;
        return this.#beginAgain(`What has come is not whole: ${problem}`);
      }
      this.#options.send({ kind: 'transfer.end', transfer: this.#transfer });
      this.close();
      this.#options.onDone(received, this.#incoming.length);
    });
  }
}
