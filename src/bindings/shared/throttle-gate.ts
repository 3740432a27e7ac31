/**
 * Admits a limited number of operations at a time, in the order of their arrival. Each slot is used
 * at most once within its interval.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import { ThrottleSlots } from '../../correctable/throttle/throttle-slots.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { createAbandonedError } from './abandoned-error.ts';

const MAX_WAITING = 10_000;
const TOO_LATE_MESSAGE = 'its turn came too late to be answered in time: nothing was taken';

/** The signal and the deadline of a waiting caller. */
interface WaitContext {
  readonly signal: AbortSignal;
  readonly deadlineAt: number | undefined;
}

interface Waiter {
  readonly context: WaitContext;
  readonly enter: () => void;
  readonly reject: (error: unknown) => void;
  readonly abandon: () => void;
}

export class ThrottleGate {
  readonly #slots: ThrottleSlots;
  readonly #estimateMs: () => number;
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #closeReason: { readonly error: unknown } | undefined;

  /** @param estimateMs how long an operation that enters now is likely to take */
  constructor(throttle: Throttle, estimateMs: () => number) {
    this.#slots = new ThrottleSlots(throttle);
    this.#estimateMs = estimateMs;
  }

  /**
   * Resolves when there is room. Returns `undefined` if there is room now. A caller that gives up
   * is removed. A caller that would give up before its turn is removed too: under overload, only
   * such callers would be admitted otherwise.
   *
   * @throws CorrectableError `ABORTED` for a caller that gives up, `OVERLOADED` if too many wait or
   * it is too late; the error that was passed to `close`
   */
  enter(context: WaitContext): Promise<void> | undefined {
    if (this.#closeReason !== undefined) throw this.#closeReason.error;
    if (this.#waiting.size === 0 && this.#slots.tryAcquire(performance.now())) return undefined;
    if (this.#waiting.size >= MAX_WAITING) {
      throw new CorrectableError(
        'OVERLOADED',
        `${MAX_WAITING} dequeues of this queue wait their turn already`,
      );
    }
    return new Promise((enter, reject) => {
      const abandon = (): void => {
        this.#remove(waiter);
        reject(createAbandonedError());
      };
      const waiter: Waiter = { context, enter, reject, abandon };
      this.#waiting.add(waiter);
      context.signal.addEventListener('abort', abandon);
      this.#scheduleAdmission();
    });
  }

  /** Whether no slot is blocked, so that a new gate would admit no more than this one. */
  get isIdle(): boolean {
    return this.#slots.isIdle(performance.now());
  }

  /** @param enteredAtMs when there was room, by `performance.now()` */
  release(enteredAtMs: number): void {
    this.#slots.release(enteredAtMs, performance.now());
    this.#admitWaiting();
  }

  /** Admits no operation from now on. Waiting operations fail with `error`. */
  close(error: unknown): void {
    this.#closeReason = { error };
    clearTimeout(this.#timer);
    for (const waiter of this.#waiting) {
      this.#remove(waiter);
      waiter.reject(error);
    }
  }

  #remove(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    waiter.context.signal.removeEventListener('abort', waiter.abandon);
  }

  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      const isTooLate = (waiter.context.deadlineAt ?? Infinity) - Date.now() < this.#estimateMs();
      if (!isTooLate && !this.#slots.tryAcquire(performance.now())) break;
      this.#remove(waiter);
      if (isTooLate) waiter.reject(new CorrectableError('OVERLOADED', TOO_LATE_MESSAGE));
      else waiter.enter();
    }
    this.#scheduleAdmission();
  }

  /** Admits again when the next slot is free, if a caller waits for it. */
  #scheduleAdmission(): void {
    const { nextFreeAtMs } = this.#slots;
    if (this.#waiting.size === 0 || nextFreeAtMs === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#admitWaiting();
      },
      Math.ceil(Math.max(0, nextFreeAtMs - performance.now())),
    );
  }
}
