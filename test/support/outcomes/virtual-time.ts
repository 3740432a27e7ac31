/**
 * Time that passes as fast as the machine can, for everything in this process: timers, immediates
 * and both clocks. What is tested has no port for time that would have to be right: it is the
 * platform's own that is replaced.
 */
import { performance } from 'node:perf_hooks';

interface Entry {
  readonly id: number;
  readonly fire: () => void;
  readonly everyMs: number | undefined;
  dueAtMs: number;
  isHeld: boolean;
  isOver: boolean;
}

type Callback = (...args: unknown[]) => void;

const platform = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
};

/** What `setTimeout` gives. */
class Handle {
  readonly entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  ref(): this {
    this.entry.isHeld = true;
    return this;
  }

  unref(): this {
    this.entry.isHeld = false;
    return this;
  }

  hasRef(): boolean {
    return this.entry.isHeld;
  }

  [Symbol.dispose](): void {
    this.entry.isOver = true;
  }
}

const EPOCH_MS = 1_700_000_000_000;
/** Where the last one ended: time never goes back. */
let reachedMs = 0;

/** Replaces the platform's time from its making to its disposal. */
export class VirtualTime implements Disposable {
  #nowMs = reachedMs;
  #lastId = 0;
  #timers: Entry[] = [];
  #immediates: Entry[] = [];

  constructor() {
    const clear = (handle: unknown): void => {
      if (handle instanceof Handle) handle.entry.isOver = true;
    };
    const replaced = {
      setTimeout: (fn: Callback, ms?: number, ...args: unknown[]) =>
        this.#set(() => fn(...args), ms),
      clearTimeout: clear,
      setInterval: (fn: Callback, ms?: number, ...args: unknown[]) =>
        this.#set(() => fn(...args), ms, true),
      clearInterval: clear,
      setImmediate: (fn: Callback, ...args: unknown[]) => this.#soon(() => fn(...args)),
      clearImmediate: clear,
    };
    Object.assign(globalThis, replaced);
    Date.now = () => EPOCH_MS + Math.floor(this.#nowMs);
    performance.now = () => this.#nowMs;
  }

  /** Timers that would keep a process alive. */
  get held(): number {
    return this.#timers.filter(({ isOver, isHeld }) => !isOver && isHeld).length;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Lets time pass: fires what comes due, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.#settle();
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueAtMs);
      this.#fire(next);
      await this.#settle();
    }
    this.#nowMs = untilMs;
  }

  [Symbol.dispose](): void {
    reachedMs = this.#nowMs;
    const { dateNow, performanceNow, ...timers } = platform;
    Object.assign(globalThis, timers);
    Date.now = dateNow;
    performance.now = performanceNow;
  }

  #set(fire: () => void, ms = 0, isRepeated = false): Handle {
    // As the platform does it.
    const delayMs = ms >= 1 && ms <= 2 ** 31 - 1 ? ms : 1;
    const everyMs = isRepeated ? delayMs : undefined;
    const entry = {
      id: ++this.#lastId,
      fire,
      everyMs,
      dueAtMs: this.#nowMs + delayMs,
      isHeld: true,
      isOver: false,
    };
    this.#timers.push(entry);
    return new Handle(entry);
  }

  #soon(fire: () => void): Handle {
    const entry = {
      id: ++this.#lastId,
      fire,
      everyMs: undefined,
      dueAtMs: 0,
      isHeld: true,
      isOver: false,
    };
    this.#immediates.push(entry);
    return new Handle(entry);
  }

  #next(untilMs: number): Entry | undefined {
    this.#timers = this.#timers.filter(({ isOver }) => !isOver);
    let first: Entry | undefined;
    for (const entry of this.#timers) {
      if (entry.dueAtMs > untilMs) continue;
      if (first === undefined || entry.dueAtMs < first.dueAtMs) first = entry;
    }
    return first;
  }

  #fire(entry: Entry): void {
    if (entry.everyMs === undefined) entry.isOver = true;
    else entry.dueAtMs = this.#nowMs + entry.everyMs;
    entry.fire();
  }

  /** Lets all run that is to run at once: ticks, promises and immediates. */
  async #settle(): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => platform.setImmediate(resolve));
      const due = this.#immediates;
      if (due.length === 0) return;
      this.#immediates = [];
      for (const entry of due) if (!entry.isOver) this.#fire(entry);
    }
  }
}
