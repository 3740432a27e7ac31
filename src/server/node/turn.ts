/**
 * The turns of one site in a process. A turn takes inputs with the time, and ends with one `Ready`,
 * which is applied in the order of its fields. `SiteDriver` gives it the inputs of callers and
 * links; synced entries and ticks are inputs that it gives itself.
 */
// This is imported because a global would be looked up at each call.
import { performance } from 'node:perf_hooks';
import type { LogKind } from '../log/local-log.ts';
import type { ServerRequest } from '../log/red-log.ts';
import type { SiteStorage } from '../log/site-storage.ts';
import type { Answer } from '../site/answer.ts';
import type { Ready, SiteEvent } from '../site/ready.ts';
import type { Site } from '../site/site.ts';
import type { Envelope } from '../site/wire/envelope.ts';
import { WakeTimer } from './wake-timer.ts';

export interface TurnOptions {
  readonly storage: SiteStorage;
  send(envelope: Envelope): void;
  /** How often a busy site checks for lost messages. */
  readonly tickIntervalMs: number;
  readonly maxClockSkewMs: number;
  /**
   * The clock of this machine was set by this many milliseconds, which is more than is allowed
   * between sites. The number is below 0 if the clock was set back.
   */
  readonly onClockSet?: ((byMs: number) => void) | undefined;
  /**
   * Sends a request of the red log of a partition to the server that keeps it. Only some engines
   * have a server.
   */
  readonly request?: ((request: ServerRequest, partition: number) => void) | undefined;
}

/** What turns lead to outside of the site. */
export interface TurnPort {
  deliver(answer: Answer, nowMs: number): void;
  report(event: SiteEvent): void;
  /** A tick has come. Its turn has not ended. */
  onTick(): void;
  /** Another process has the data. */
  onFenced(cause: Error): void;
  onStorageFailed(cause: Error): void;
  /** A read has found damage. Nothing of the turn leaves the site. */
  onDamaged(damage: Error): void;
}

/** The time that all submissions of one iteration of the event loop share. */
export interface EventLoopTurn {
  /**
   * When the turn began: by the clock that only runs forward, and in milliseconds since the epoch.
   */
  readonly nowMs: number;
  readonly wallMs: number;
}

export class Turns {
  readonly #site: Site;
  readonly #options: TurnOptions;
  readonly #port: TurnPort;
  /**
   * The turn in which submissions have come. Their outputs are applied at its end. So all frames
   * that came together need one reading of the clock and one write to the log.
   */
  #turn: EventLoopTurn | undefined;
  /**
   * The difference of the wall clock and the clock that only runs forward, when it was last
   * checked.
   */
  #wallAheadMs = Date.now() - performance.now();
  /** The synced lengths of the logs that the site has not got yet. */
  readonly #synced = new Map<LogKind, number>();
  #isActing = false;
  #isClosed = false;
  #ticker: NodeJS.Timeout | undefined;
  readonly #waker = new WakeTimer(() => {
    this.input(() => this.#site.tick(performance.now(), Date.now()));
    this.run();
  });

  constructor(site: Site, options: TurnOptions, port: TurnPort) {
    this.#site = site;
    this.#options = options;
    this.#port = port;
  }

  /** Runs the first turn. Before that nothing is changed. */
  start(): void {
    this.#options.storage.attach(this.#site, {
      onSynced: (log, length) => {
        if (this.#isClosed) return;
        this.#synced.set(log, length);
        this.runAfterInput();
      },
      onFenced: (cause) => this.#port.onFenced(cause),
      onFailed: (error) => this.#port.onStorageFailed(error),
    });
    this.run();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#waker.clear();
  }

  /** The turn of submissions, if one has begun. */
  get current(): EventLoopTurn | undefined {
    return this.#turn;
  }

  /** Begins the turn of submissions. It ends with this iteration of the event loop. */
  begin(): EventLoopTurn {
    // This runs after the messages that have already arrived were read, and before the event loop
    // waits for more.
    setImmediate(() => this.end());
    const [nowMs, wallMs] = [performance.now(), Date.now()];
    this.#noticeSetClock(wallMs - nowMs);
    this.#turn = { nowMs, wallMs };
    return this.#turn;
  }

  end(): void {
    this.#turn = undefined;
    this.run();
  }

  /** Gives the site an input. If a read in it finds damage, the site ends with this turn. */
  input(give: () => void): void {
    try {
      give();
    } catch (error) {
      if (this.#site.damage === undefined) throw error;
    }
  }

  /** Runs a turn, unless the input came from within one. Then that goes on with it. */
  runAfterInput(): void {
    if (!this.#isActing) this.run();
  }

  /**
   * Ends the inputs of a turn: stores entries, sends messages and answers callers. The site has run
   * all inputs by now, except synced entries. At the end, the next tick is planned.
   */
  run(): void {
    // After a pause another process may have the data. Then nothing is reported any more.
    if (this.#isClosed || !this.#options.storage.isOwned()) return;
    this.#isActing = true;
    try {
      do {
        const ready = this.#takeReady();
        if (ready === undefined) return this.#port.onDamaged(this.#site.damage as Error);
        // One reading of the clock is enough for all that is reported now.
        const nowMs = performance.now();
        this.#apply(ready, nowMs);
        // Storage in memory has synced entries by now. They are answered in the same turn. Entries
        // on a disk are synced later, and begin another turn.
      } while (this.#synced.size > 0);
    } finally {
      this.#isActing = false;
    }
    this.#startTicks();
    this.#wakeInTime();
  }

  /** Returns what the turn has to do. It is `undefined` if a read has found damage. */
  #takeReady(): Ready | undefined {
    try {
      for (const [log, length] of this.#synced)
        this.#site.onSynced(log, length, performance.now(), Date.now());
      this.#synced.clear();
      const ready = this.#site.takeReady();
      return this.#site.damage === undefined ? ready : undefined;
    } catch (error) {
      if (this.#site.damage === undefined) throw error;
      return undefined;
    }
  }

  /** Does what a turn has to do. The order is a part of the protocol: see `Ready`. */
  #apply({ appends, envelopes, requests, answers, events }: Ready, nowMs: number): void {
    const { storage, send, request } = this.#options;
    for (const { log, entries } of appends) storage.append(log, entries);
    for (const envelope of envelopes) send(envelope);
    for (const { request: asked, partition } of requests) request?.(asked, partition);
    for (const answer of answers) this.#port.deliver(answer, nowMs);
    for (const event of events) this.#port.report(event);
  }

  /** Reports a clock that was set. Timeouts do not depend on that clock. */
  #noticeSetClock(wallAheadMs: number): void {
    const byMs = wallAheadMs - this.#wallAheadMs;
    if (Math.abs(byMs) <= this.#options.maxClockSkewMs) return;
    this.#wallAheadMs = wallAheadMs;
    this.#options.onClockSet?.(Math.round(byMs));
  }

  /** Sets a timer for the time at which a caller waits for something that no message announces. */
  #wakeInTime(): void {
    const { wakeAtMs } = this.#site;
    if (wakeAtMs !== undefined && !this.#isClosed) this.#waker.set(wakeAtMs);
  }

  /** Ticks until the site needs none at a tick. So no turn has to ask whether it is. */
  #startTicks(): void {
    if (this.#ticker !== undefined || this.#isClosed) return;
    this.#ticker = setInterval(() => {
      this.input(() => this.#site.tick(performance.now(), Date.now()));
      this.#port.onTick();
      this.run();
      if (this.#site.needsTicks) return;
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }, this.#options.tickIntervalMs);
    // Links keep the process alive while something is in flight. A tick only repairs losses.
    this.#ticker.unref();
  }
}
