/**
 * Shares the reads of an origin: while a read is in flight, equal ones wait, and then share the
 * next one. So many reads of a key that is not in the cache become two reads of the origin.
 *
 * No read shares one that began before it. That one may have missed a write that the later caller
 * knows of, and its result would be final nevertheless.
 */
import type { Clock, Timer } from '../../../correctable/clock.ts';
import type { Principal } from '../../../correctable/binding.ts';
import type { LevelContext } from '../../shared/level-call.ts';

/**
 * How long a read waits for the one in flight, in milliseconds. If the origin hangs, the next read
 * begins beside it.
 */
const MAX_WAIT_MS = 1_000;
/**
 * The part of the time until its deadline that a read waits. Its own read of the origin needs the
 * rest.
 */
const MAX_WAIT_SHARE = 1 / 4;

type Read = (context: LevelContext) => Promise<unknown>;

export class SharedReads {
  readonly #clock: Clock;
  /** The latest read of each ID that has begun, or is about to begin. */
  readonly #latest = new Map<string, SharedRead>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Executes `read`, or an equal one that has not begun yet. */
  async execute(id: string, context: LevelContext, read: Read): Promise<unknown> {
    const latest = this.#latest.get(id);
    const own =
      latest === undefined ? this.#open(id, new SharedRead()) : (latest.next ??= new SharedRead());
    own.join(context);
    if (latest !== undefined) {
      this.#limitWait(id, latest, context);
      await own.turn;
    }
    // The first caller that continues begins the read, in its async context.
    own.result ??= this.#begin(id, own, read);
    return own.result;
  }

  #open(id: string, read: SharedRead): SharedRead {
    this.#latest.set(id, read);
    return read;
  }

  /** The caller with the least time decides how long all wait for `latest`. */
  #limitWait(id: string, latest: SharedRead, caller: LevelContext): void {
    const waitMs = this.#getWaitMs(caller);
    const endsAt = this.#clock.now() + waitMs;
    if (endsAt >= latest.waitEndsAt) return;
    latest.waitEndsAt = endsAt;
    latest.timer?.cancel();
    latest.timer = this.#clock.setTimer(() => this.#goOn(id, latest), waitMs);
  }

  #getWaitMs({ deadlineAt }: LevelContext): number {
    if (deadlineAt === undefined) return MAX_WAIT_MS;
    const wallNowMs = this.#clock.wallNow?.() ?? this.#clock.now();
    const leftMs = Math.max(0, deadlineAt - wallNowMs);
    return Math.min(MAX_WAIT_MS, leftMs * MAX_WAIT_SHARE);
  }

  async #begin(id: string, own: SharedRead, read: Read): Promise<unknown> {
    try {
      return await read(own.context);
    } finally {
      own.timer?.cancel();
      this.#goOn(id, own);
    }
  }

  #goOn(id: string, ended: SharedRead): void {
    if (this.#latest.get(id) !== ended) return; // The next one has begun.
    const { next } = ended;
    if (next === undefined || next.isAbandoned) this.#latest.delete(id);
    else this.#open(id, next).begin();
  }
}

class SharedRead {
  /** Resolves when the read may begin. */
  readonly turn: Promise<void>;
  begin!: () => void;
  result: Promise<unknown> | undefined;
  /** The read that callers wait for which came after this one began. */
  next: SharedRead | undefined;
  /** Begins `next` if this read takes too long. */
  timer: Timer | undefined;
  /** When `timer` fires. */
  waitEndsAt = Infinity;
  readonly #callers: LevelContext[] = [];

  constructor() {
    this.turn = new Promise((resolve) => (this.begin = resolve));
  }

  get isAbandoned(): boolean {
    return this.#callers.every(({ signal }) => signal.aborted);
  }

  get context(): LevelContext {
    const [first, ...others] = this.#callers;
    return others.length === 0 ? first! : new SharedContext(this.#callers);
  }

  join(caller: LevelContext): void {
    this.#callers.push(caller);
  }
}

/** The context of one read for several callers. */
class SharedContext implements LevelContext {
  readonly level: string;
  readonly principal: Principal | undefined;
  readonly trace: unknown;
  /** The latest of all deadlines. */
  readonly deadlineAt: number | undefined;
  /** Aborts when all callers have left. */
  readonly signal: AbortSignal;

  constructor(callers: readonly LevelContext[]) {
    const [{ level, principal, trace }] = callers as [LevelContext];
    this.level = level;
    this.principal = principal;
    this.trace = trace;
    const deadlines = callers.map(({ deadlineAt }) => deadlineAt ?? Infinity);
    const deadlineAt = deadlines.reduce((a, b) => Math.max(a, b));
    this.deadlineAt = deadlineAt === Infinity ? undefined : deadlineAt;
    this.signal = followAll(callers.map(({ signal }) => signal));
  }
}

function followAll(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const pending = new Set(signals);
  for (const signal of signals) {
    const leave = (): void => {
      pending.delete(signal);
      if (pending.size === 0) controller.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }
  return controller.signal;
}
