/** Notices that the other end of a connection has fallen silent, which sockets themselves tell after minutes if at all. */
export interface SilenceWatchOptions {
  /** How often to look, milliseconds. */
  readonly beatMs: number;
  /** The longest silence that is borne, milliseconds. */
  readonly silenceMaxMs: number;
  /** After a stall of our own, the silence counts as no longer than this: what came meanwhile has yet to be read. */
  readonly stallMs: number;
  /** Called at every look, with how long the other end has been silent: time to ask for a word. */
  readonly onBeat: (silentMs: number) => void;
  /** Called once, when it has been silent for too long. */
  readonly onSilence: (silentMs: number) => void;
}

export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #lastHeardAt = performance.now();
  #lastBeatAt = this.#lastHeardAt;
  #judging: NodeJS.Immediate | undefined;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.beatMs);
  }

  /** Something has come. */
  heard(): void {
    this.#lastHeardAt = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#judging);
  }

  #look(): void {
    const { beatMs, silenceMaxMs, stallMs, onBeat } = this.#options;
    const now = performance.now();
    if (now - this.#lastBeatAt > 2 * beatMs) this.#lastHeardAt = Math.max(this.#lastHeardAt, now - stallMs);
    this.#lastBeatAt = now;
    const silentMs = now - this.#lastHeardAt;
    if (silentMs <= silenceMaxMs) return onBeat(silentMs);
    // The timer fires before the sockets are read: what has arrived counts.
    this.#judging ??= setImmediate(() => this.#judge());
    return undefined;
  }

  #judge(): void {
    this.#judging = undefined;
    const silentMs = performance.now() - this.#lastHeardAt;
    if (silentMs <= this.#options.silenceMaxMs) return;
    this.stop();
    this.#options.onSilence(silentMs);
  }
}
