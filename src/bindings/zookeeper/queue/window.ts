/** Lets so many in at a time, the others in the order in which they came, and each place once in a turn. */
import type { InvocationContext } from '../../../correctable/binding.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { Places } from '../../../correctable/pace/places.ts';
import type { Pace } from '../../../correctable/pace/unseen.ts';
import { givenUpError } from '../failures.ts';

/** So many wait; more are refused. */
const WAITING_MAX = 10_000;
const TOO_LATE = 'its turn came too late to be answered in time: nothing was taken';

/** Who waits, and until when. */
type Waiting = Pick<InvocationContext, 'signal' | 'deadlineAt'>;

interface Waiter {
  readonly context: Waiting;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
  /** Gives up. */
  readonly leave: () => void;
}

export class Window {
  readonly #places: Places;
  readonly #neededMs: () => number;
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #refusal: { readonly error: unknown } | undefined;

  /** @param neededMs how long whoever enters now is likely to take */
  constructor(pace: Pace, neededMs: () => number) {
    this.#places = new Places(pace);
    this.#neededMs = neededMs;
  }

  /**
   * Resolves when there is room; at once, without a promise to wait for, if there is room now. Whoever gives up waits no
   * more, nor does who would give up before the end: first come, first served would otherwise serve only these.
   *
   * @throws CorrectableError `ABORTED` for who gives up, `OVERLOADED` where too many wait or it is too late; what `close`
   * was given
   */
  enter(context: Waiting): Promise<void> | undefined {
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (this.#waiting.size === 0 && this.#places.take(performance.now())) return undefined;
    if (this.#waiting.size >= WAITING_MAX) {
      throw new CorrectableError('OVERLOADED', `${WAITING_MAX} dequeues of this queue wait their turn already`);
    }
    return new Promise((enter, refuse) => {
      const leave = (): void => {
        this.#remove(waiter);
        refuse(givenUpError());
      };
      const waiter: Waiter = { context, enter, refuse, leave };
      this.#waiting.add(waiter);
      context.signal.addEventListener('abort', leave);
      this.#wake();
    });
  }

  /** Whether no place rests, so that a new window would admit no more than this one. */
  get isRested(): boolean {
    return this.#places.isRested(performance.now());
  }

  /** @param enteredAtMs when there was room, by `performance.now()` */
  leave(enteredAtMs: number): void {
    this.#places.leave(enteredAtMs, performance.now());
    this.#admit();
  }

  /** From now on nobody enters, those who wait included. */
  close(error: unknown): void {
    this.#refusal = { error };
    clearTimeout(this.#timer);
    for (const waiter of this.#waiting) {
      this.#remove(waiter);
      waiter.refuse(error);
    }
  }

  #remove(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    waiter.context.signal.removeEventListener('abort', waiter.leave);
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      const isTooLate = (waiter.context.deadlineAt ?? Infinity) - Date.now() < this.#neededMs();
      if (!isTooLate && !this.#places.take(performance.now())) break;
      this.#remove(waiter);
      if (isTooLate) waiter.refuse(new CorrectableError('OVERLOADED', TOO_LATE));
      else waiter.enter();
    }
    this.#wake();
  }

  /** Admits again when the next place has rested, if somebody waits for it. */
  #wake(): void {
    const { nextFreeAtMs } = this.#places;
    if (this.#waiting.size === 0 || nextFreeAtMs === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#admit();
      },
      Math.ceil(Math.max(0, nextFreeAtMs - performance.now())),
    );
  }
}
