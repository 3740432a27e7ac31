/** What a site has asked for and not been given yet: once at a time, and of more sites where nothing comes. */
import { nameOf, type BoundedName } from './field-name.ts';

/** What rights are asked for: to be here later, or for somebody who waits. */
const WHATS = ['later', 'here', 'pool'] as const;
export type What = (typeof WHATS)[number];

/** A question that may be asked now: of those who have most, or of all, since those did not answer. */
export type Turn = 'first' | 'again';

interface QuestionTimes {
  /** A question is overdue after so long, */
  readonly resendAfterMs: number;
  /** and forgotten after so long. */
  readonly reachTimeoutMs: number;
}

/** Questions of one site under way. */
export class Questions {
  readonly #times: QuestionTimes;
  /** By field and for what: when it was asked last, unless something has come since. The latest stands last. */
  readonly #askedAtMs = new Map<string, number>();

  constructor(times: QuestionTimes) {
    this.#times = times;
  }

  /** So many are remembered. */
  get size(): number {
    return this.#askedAtMs.size;
  }

  /** Whether it may be asked now: then it counts as asked. */
  turn(name: BoundedName, what: What, nowMs: number): Turn | undefined {
    if (this.isOpen(name, what, nowMs)) return undefined;
    const isSilent = this.#silentMs(name, what, nowMs) < this.#times.reachTimeoutMs;
    this.#forget(nowMs);
    this.#askedAtMs.delete(what + nameOf(name));
    this.#askedAtMs.set(what + nameOf(name), nowMs);
    return isSilent ? 'again' : 'first';
  }

  /** Whether it has been asked, and may still be answered. */
  isOpen(name: BoundedName, what: What, nowMs: number): boolean {
    return this.#silentMs(name, what, nowMs) < this.#times.resendAfterMs;
  }

  /** Something has come of this field: who needs more may ask again. */
  answered(name: BoundedName): void {
    for (const what of WHATS) this.#askedAtMs.delete(what + nameOf(name));
  }

  /** What was asked for so long ago that it makes no difference. */
  #forget(nowMs: number): void {
    const { resendAfterMs, reachTimeoutMs } = this.#times;
    for (const [asked, atMs] of this.#askedAtMs) {
      if (nowMs - atMs < Math.max(resendAfterMs, reachTimeoutMs)) return;
      this.#askedAtMs.delete(asked);
    }
  }

  #silentMs(name: BoundedName, what: What, nowMs: number): number {
    return nowMs - (this.#askedAtMs.get(what + nameOf(name)) ?? -Infinity);
  }
}
