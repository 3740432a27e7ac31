/**
 * A small binding that keeps its contract, and others that differ from it in one thing each, which
 * breaks it.
 */
import type { Binding, InvocationContext, Operation, Sink } from '../../src/index.ts';
import { CorrectableError } from '../../src/index.ts';
import type { ConformanceSubject, HistoryStep } from '../../src/testing/index.ts';

export type Level = 'weak' | 'strong';

const LEVELS: readonly ['weak', 'strong'] = ['weak', 'strong'];

export const add = (key: string): Operation<number> => ({
  name: 'add',
  args: { key },
  access: 'write',
  key,
});
export const total = (key: string): Operation<number> => ({
  name: 'total',
  args: { key },
  access: 'read',
  key,
});

/**
 * How long the copies take, in milliseconds. The backup has each update `lag` after the primary.
 */
export interface Delays {
  readonly weak: number;
  readonly strong: number;
  readonly lag: number;
}

const FAST: Delays = { weak: 1, strong: 4, lag: 8 };
/**
 * Its updates are in flight for as long as anybody needs to cancel them, also on a busy machine.
 */
export const SLOW: Delays = { weak: 1, strong: 200, lag: 8 };
/** Its backup is behind for as long as anybody looks, also on a busy machine. */
export const FAR_BEHIND: Delays = { weak: 1, strong: 4, lag: 400 };

export interface Count {
  readonly total: number;
  readonly version: number;
}

/** One operation under way. */
export interface Call {
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly signal: AbortSignal;
  readonly timers: ReturnType<typeof setTimeout>[];
  /** The number of the preliminary view, once it was delivered. */
  guess?: number;
  /** Whether the weak level had its turn. */
  hasGuessed?: boolean;
  release(): void;
}

/**
 * Counts by key, on a primary and on a backup that lags behind. Every planted fault overrides one
 * of its methods.
 */
export class Tally implements Binding<readonly ['weak', 'strong']> {
  readonly name: string = 'tally';
  protected readonly delays: Delays;
  protected readonly primary: Map<string, Count>;
  protected readonly backup: Map<string, Count>;
  protected readonly calls = new Set<Call>();
  readonly #lagging = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;

  /** Counts on copies of its own, or on those of another one. */
  constructor(delays: Delays = FAST, of?: Tally) {
    this.delays = delays;
    this.primary = of?.primary ?? new Map<string, Count>();
    this.backup = of?.backup ?? new Map<string, Count>();
  }

  consistencyLevels(): readonly ['weak', 'strong'] {
    return LEVELS;
  }

  supports({ name, access }: Operation): boolean {
    return access === 'write' ? name === 'add' : name === 'total';
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    { signal }: InvocationContext,
  ): void {
    if (this.#isClosed)
      throw new CorrectableError('UNAVAILABLE', 'the tally is closed', { retryable: false });
    const call: Call = {
      operation,
      levels: this.levelsOf(levels),
      sink: sink as Sink<unknown, Level>,
      signal,
      timers: [],
      release: () => undefined,
    };
    this.calls.add(call);
    if (operation.access === 'read') this.listen(call);
    this.schedule(call);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#lagging) clearTimeout(timer);
    for (const call of this.calls) {
      const isUpdate = call.operation.access === 'write';
      this.leave(call);
      call.sink.fail(
        new CorrectableError(isUpdate ? 'UNKNOWN' : 'UNAVAILABLE', 'the tally was closed'),
      );
    }
  }

  protected levelsOf(requested: readonly Level[]): readonly Level[] {
    return requested;
  }

  protected keyOf({ operation }: Call): string {
    return operation.key!;
  }

  protected listen(call: Call): void {
    const leave = (): void => this.leave(call);
    call.signal.addEventListener('abort', leave);
    call.release = () => call.signal.removeEventListener('abort', leave);
  }

  protected schedule(call: Call): void {
    if (call.levels.includes('weak')) this.after(call, this.delays.weak, () => this.guess(call));
    if (call.levels.includes('strong') || call.operation.access === 'write') {
      this.after(call, this.delays.strong, () => this.answerStrong(call));
    } else this.after(call, this.delays.weak, () => this.leave(call));
  }

  protected after(call: Call, ms: number, act: () => void): void {
    call.timers.push(setTimeout(act, ms));
  }

  protected guess(call: Call): void {
    if (call.hasGuessed === true) return;
    call.hasGuessed = true;
    this.answerWeak(call);
  }

  /** An update's preliminary view is what the backup would make of it. */
  protected answerWeak(call: Call): void {
    const { total, version } = this.read(call, this.backup);
    const isUpdate = call.operation.access === 'write';
    call.guess = call.sink.view(isUpdate ? total + 1 : total, 'weak', isUpdate ? {} : { version });
  }

  protected answerStrong(call: Call): void {
    // On a busy machine the later timer may be the first: what was asked for the guess alone has no
    // other end.
    if (!call.levels.includes('strong')) this.guess(call);
    if (call.operation.access === 'write') this.apply(call);
    this.leave(call);
    if (call.levels.includes('strong')) this.deliverFinal(call, this.read(call, this.primary));
  }

  protected read(call: Call, copy: Map<string, Count>): Count {
    return copy.get(this.keyOf(call)) ?? { total: 0, version: 0 };
  }

  protected apply(call: Call): void {
    const key = this.keyOf(call);
    const { total, version } = this.read(call, this.primary);
    const next = { total: total + 1, version: version + 1 };
    this.primary.set(key, next);
    const timer = setTimeout(() => {
      this.#lagging.delete(timer);
      this.backup.set(key, next);
    }, this.delays.lag);
    this.#lagging.add(timer);
  }

  protected deliverFinal({ sink }: Call, { total, version }: Count): void {
    sink.view(total, 'strong', { version });
  }

  protected leave(call: Call): void {
    this.calls.delete(call);
    call.release();
    for (const timer of call.timers) clearTimeout(timer);
  }
}

/**
 * Counts whose submission is a promise: its end is the end of the operation, and its rejection the
 * failure. A binding by its shape: linters do not like a promise where `Binding` has `void`.
 */
export class PromisedTally {
  readonly name = 'tally by promises';
  readonly #totals = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  consistencyLevels(): readonly ['weak', 'strong'] {
    return LEVELS;
  }

  supports({ name, access }: Operation): boolean {
    return access === 'write' ? name === 'add' : name === 'total';
  }

  async submitOperation<T>(
    { access, key = '' }: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    { signal }: InvocationContext,
  ): Promise<void> {
    const isUpdate = access === 'write';
    const more = isUpdate ? 1 : 0;
    const count = (): number => (this.#totals.get(key) ?? 0) + more;
    if (levels.includes('weak')) {
      await this.#delay(isUpdate);
      sink.view(count() as T, 'weak');
    }
    if (!isUpdate && (signal.aborted || !levels.includes('strong'))) return;
    await this.#delay(isUpdate);
    if (!isUpdate && signal.aborted) return;
    const counted = count();
    this.#totals.set(key, counted);
    if (levels.includes('strong')) sink.view(counted as T, 'strong');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting) wake();
  }

  async #delay(isUpdate: boolean): Promise<void> {
    const wasClosed = this.#isClosed;
    if (!wasClosed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 2);
        const wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
    if (!this.#isClosed) return;
    throw new CorrectableError(
      isUpdate && !wasClosed ? 'UNKNOWN' : 'UNAVAILABLE',
      'the tally is closed',
    );
  }
}

/**
 * Answers within `submitOperation`, as bindings may: when a caller leaves, all views were
 * delivered.
 */
export class PromptTally extends Tally {
  protected override after(_call: Call, _ms: number, act: () => void): void {
    act();
  }
}

class ExecutesTwice extends Tally {
  protected override apply(call: Call): void {
    super.apply(call);
    super.apply(call);
  }
}

class IgnoresAbort extends Tally {
  protected override listen(): void {}
}

class LeaksListeners extends Tally {
  protected override listen(call: Call): void {
    call.signal.addEventListener('abort', () => this.leave(call), { once: true });
  }
}

class NeverPreliminary extends Tally {
  protected override answerWeak(call: Call): void {
    if (!call.levels.includes('strong')) super.answerWeak(call);
  }
}

class ConfirmsStale extends Tally {
  protected override answerStrong(call: Call): void {
    // On a busy machine the later timer may be the first.
    if (call.levels.includes('weak')) this.guess(call);
    super.answerStrong(call);
  }

  protected override deliverFinal(call: Call, count: Count): void {
    if (call.guess === undefined) super.deliverFinal(call, count);
    else call.sink.confirm('strong', call.guess, { version: count.version });
  }
}

class FinalBeforePreliminary extends Tally {
  protected override schedule(call: Call): void {
    if (call.levels.length === 1) {
      super.schedule(call);
      return;
    }
    // Not one of its timers: a caller that leaves gets it all the same.
    setTimeout(() => this.answerWeak(call), this.delays.strong);
    this.after(call, this.delays.weak, () => this.answerStrong(call));
  }
}

class IgnoresLevels extends Tally {
  protected override levelsOf(): readonly Level[] {
    return LEVELS;
  }
}

class LosesEveryThird extends Tally {
  #updates = 0;

  protected override apply(call: Call): void {
    this.#updates += 1;
    if (this.#updates % 3 !== 0) super.apply(call);
  }
}

class IgnoresKey extends Tally {
  protected override keyOf(): string {
    return 'all';
  }
}

class ClosesNothing extends Tally {
  override async close(): Promise<void> {}
}

class GoesBackInVersions extends Tally {
  protected override read(call: Call, copy: Map<string, Count>): Count {
    const count = super.read(call, copy);
    return { ...count, version: -count.version };
  }

  protected override apply(call: Call): void {
    const key = this.keyOf(call);
    const { total, version } = super.read(call, this.primary);
    for (const copy of [this.primary, this.backup])
      copy.set(key, { total: total + 1, version: version + 1 });
  }
}

/**
 * Reports at once that all is done, and does nothing: a test that waits for the effect never ends.
 */
class ForgetsEverything extends Tally {
  protected override schedule(call: Call): void {
    if (call.levels.includes('weak')) this.guess(call);
    this.answerStrong(call);
  }

  protected override apply(): void {}
}

/** Puts what its caller has left into a queue of its own, to be sure. */
class RepeatsCancelled extends Tally {
  override submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    super.submitOperation(operation, levels, sink, context);
    const call = [...this.calls].at(-1);
    if (operation.access === 'read' || call === undefined) return;
    const again = (): void => void setTimeout(() => this.apply(call), 100);
    context.signal.addEventListener('abort', again);
    call.release = () => context.signal.removeEventListener('abort', again);
  }
}

class RepeatsGuessed extends Tally {
  protected override apply(call: Call): void {
    super.apply(call);
    if (!call.levels.includes('strong')) setTimeout(() => super.apply(call), 100);
  }
}

class GuessesByAnyKey extends Tally {
  protected override answerWeak(call: Call): void {
    const { total } = [...this.backup.values()].at(-1) ?? { total: 0 };
    call.guess = call.sink.view(call.operation.access === 'write' ? total + 1 : total, 'weak', {});
  }
}

class GuessesGarbageAlone extends Tally {
  protected override answerWeak(call: Call): void {
    if (call.levels.includes('strong')) super.answerWeak(call);
    else call.sink.view(-77, 'weak');
  }
}

class ForgetsKeys extends Tally {
  readonly hasIdempotencyKeys = true;
}

class ForgetsNames extends Tally {
  readonly isExactlyOnce = true;
}

/**
 * Its writes were sent when it is closed, and are done after it has reported that they were not.
 */
class DeniesAtClose extends Tally {
  override async close(): Promise<void> {
    for (const call of this.calls) {
      if (call.operation.access === 'read') continue;
      this.leave(call);
      call.sink.fail(new CorrectableError('UNAVAILABLE', 'the tally was closed'));
      setTimeout(() => this.apply(call), 50);
    }
    await super.close();
  }
}

/** How the suite is to learn of a binding: with several updates of several objects. */
export function subjectOf(
  name: string,
  open: (delays?: Delays) => Binding,
  isEverSlow = true,
): ConformanceSubject {
  const history = (object: string): HistoryStep[] => [
    ...[1, 2, 3, 4, 5, 6].flatMap((n) => [
      { operation: add(object), expected: n },
      { operation: total(object), expected: n },
    ]),
    ...[7, 8, 9].map((n) => ({ operation: add(object), expected: n })),
  ];
  const slow = isEverSlow ? { slowBinding: async () => ({ binding: open(SLOW) }) } : {};
  return {
    name,
    createBinding: async () => ({ binding: open() }),
    ...slow,
    write: add('k'),
    read: total('k'),
    expected: 1,
    history,
  };
}

/** A binding that breaks its contract, the test that notices first of all, and its message. */
export interface Planted {
  readonly make: new (delays?: Delays, of?: Tally) => Tally;
  readonly test: string;
  readonly message: string;
  /** What the suite is to be given besides, where the fault shows only by that. */
  readonly more?: Partial<ConformanceSubject>;
  /** Unless given, those of a tally nearby. */
  readonly delays?: Delays;
}

export const PLANTED: Readonly<Record<string, Planted>> = {
  'executes writes twice': {
    make: ExecutesTwice,
    test: 'write: all levels → the strongest read shows it',
    message: '"total" of "k" at strong, after "add" of "k", the final view is wrong: 2, not 1',
  },
  'ignores abort': {
    make: IgnoresAbort,
    test: 'read: aborted → let go, and others are not',
    message:
      '"total" of "k": ignores context.signal: a view at strong more than 100 ms after the abort',
  },
  'leaks abort listeners': {
    make: LeaksListeners,
    test: 'signal: many operations under one → no listener is left after they have closed',
    message:
      'context.signal keeps listeners of operations that have closed: 8 of 16 operations leave one',
  },
  'never gives a preliminary view': {
    make: NeverPreliminary,
    test: 'read: all levels, again and again → a preliminary view, if there is such a level',
    message: '"total" of "k", asked for weak, strong: never a preliminary view, 20 times in a row',
  },
  'confirms a stale preliminary view as the final one': {
    make: ConfirmsStale,
    test: 'history: all levels → the same finals with any preliminary views',
    message: 'the final view is wrong: 0, not 1',
    delays: FAR_BEHIND,
  },
  'delivers the final view before the preliminary one': {
    make: FinalBeforePreliminary,
    test: 'sink: every call → a requested level or above, confirms only what was delivered',
    message: 'asked for weak, strong: a view at weak after the final one, which no caller sees',
  },
  'ignores requested levels': {
    make: IgnoresLevels,
    test: 'sink: every call → a requested level or above, confirms only what was delivered',
    message: '"add" of "k", asked for weak: a view at strong, which was not requested',
  },
  'loses every third write': {
    make: LosesEveryThird,
    test: 'history: strongest level only → each write once, versions never go back',
    message: 'the final view is wrong: 2, not 3',
  },
  'ignores the key': {
    make: IgnoresKey,
    test: 'history: several objects at once → to each its own',
    message: 'the final view is wrong',
  },
  'does nothing on close()': {
    make: ClosesNothing,
    delays: SLOW,
    test: 'close: the binding itself → what is in flight ends, nothing is delivered after',
    message: 'close() ends nothing: "add" of "k" goes on, with a view at weak after it',
  },
  'goes back in versions': {
    make: GoesBackInVersions,
    test: 'history: strongest level only → each write once, versions never go back',
    message: 'goes back in versions: a final view of -2 after an earlier one of -1',
  },
  'does cancelled writes again': {
    make: RepeatsCancelled,
    test: 'write: cancelled, weakest level only, closed → a while later as it was reported',
    message:
      'a write that was cancelled in flight takes effect once: 250 ms after it has, the strongest read gives 2, not 1',
  },
  'does writes again that were asked for a guess alone': {
    make: RepeatsGuessed,
    test: 'write: cancelled, weakest level only, closed → a while later as it was reported',
    message:
      'a write that was asked for weak alone takes effect once: 250 ms after it has, the strongest read gives 2, not 1',
  },
  'does writes after it has denied them at close()': {
    make: DeniesAtClose,
    test: 'write: cancelled, weakest level only, closed → a while later as it was reported',
    message:
      'in flight at close(): reported as not done (UNAVAILABLE: the tally was closed), but done within 250 ms',
  },
  'gives preliminary views of another key': {
    make: GuessesByAnyKey,
    test: 'read: weaker levels → what the object is, or was',
    message: 'which it has never given: 0',
  },
  'gives garbage where a preliminary view alone is asked for': {
    make: GuessesGarbageAlone,
    test: 'read: weaker levels → what the object is, or was',
    message: 'asked for weak: the view at weak is -77, which it has never given: 0',
  },
  'claims to execute once, and ignores operation ids': {
    make: ForgetsNames,
    test: 'write: submitted twice under one name → done once, if the binding declares so',
    message:
      'isExactlyOnce is true, but "add" of "k", submitted twice with one operationId, is done twice: "total" of "k" gives 2, not 1',
  },
  'claims to have idempotency keys, and ignores them': {
    make: ForgetsKeys,
    test: 'write: submitted twice with one idempotency key → done once, if the binding has keys',
    message:
      'hasIdempotencyKeys is true, but "add" of "k", submitted twice with one idempotencyKey, is done twice: "total" of "k" gives 2, not 1',
  },
  'forgets everything, on the spot': {
    make: ForgetsEverything,
    test: 'write: weakest level only → takes effect all the same',
    message:
      'a write that was asked for weak alone takes effect once: after 500 ms the strongest read still gives 0, not 1',
  },
};
