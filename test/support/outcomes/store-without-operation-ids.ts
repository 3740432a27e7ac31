/**
 * A store without memory of names: an operation that is submitted twice is executed twice. Each run
 * has a name, which its result carries. So a result identifies its run.
 */
import type { Binding, Sink, ViewDetails } from '../../../src/correctable/binding.ts';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import type { Access, Operation } from '../../../src/correctable/operation.ts';

export const NAMELESS_LEVELS = ['weak', 'middle', 'strong'] as const;
type NamelessLevels = typeof NAMELESS_LEVELS;

/**
 * How an operation is answered: with one view, with the same value at each level, with
 * confirmations, or with wrong preliminary views first.
 */
export const MANNERS = ['once', 'repeats', 'confirms', 'corrects'] as const;
export type Manner = (typeof MANNERS)[number];

/** Returns how many views there are at all levels together. */
export function viewsIn(manner: Manner): number {
  return manner === 'once' ? 1 : NAMELESS_LEVELS.length;
}

interface Args {
  readonly mark: string;
  readonly manner: Manner;
}

export function update(mark: string, manner: Manner): Operation {
  return { name: 'bump', access: 'write', args: { mark, manner } satisfies Args };
}

export const READ_MANNER: Manner = 'corrects';

export function read(mark: string): Operation {
  return { name: 'count', access: 'read', args: { mark, manner: READ_MANNER } satisfies Args };
}

/**
 * When each view comes, in milliseconds. Some last views come so late that a client has meanwhile
 * reconnected.
 */
const AT_MS: Readonly<Record<Manner, readonly number[]>> = {
  once: [4],
  repeats: [1, 2, 4],
  confirms: [1, 3, 300],
  corrects: [1, 3, 300],
};

/** The details of each view. Later views replace some of them; a confirmation keeps the others. */
const DETAILS: Readonly<Partial<Record<Manner, readonly ViewDetails[]>>> = {
  confirms: [
    { version: 1, meta: { a: 1, b: 1 } },
    { meta: { b: 2 } },
    { version: 2, meta: { c: 3 } },
  ],
  corrects: [{ meta: { a: 1 } }, { version: 1 }, { version: 2, meta: { b: 2 } }],
};

/** The state that all handles on the store share. */
export class NamelessStore {
  readonly #runs = new Map<string, string[]>();
  #lastRun = 0;

  /** Returns the names of the runs of the update with this mark. */
  runsOf(mark: string): readonly string[] {
    return this.#runs.get(mark) ?? [];
  }

  /** Executes the operation, if it is an update, and returns a result that no other run has. */
  run({ access, args }: Operation): object {
    const { mark } = args as Args;
    const run = `${access} ${++this.#lastRun}`;
    if (access === 'read') return { mark, run, runs: this.runsOf(mark) };
    this.#runs.set(mark, [...this.runsOf(mark), run]);
    return { mark, run };
  }
}

interface UnderWay {
  readonly effect: Access;
  readonly sink: Sink;
  readonly timers: NodeJS.Timeout[];
}

/** One handle on the store. Closing it ends the operations that were submitted through it. */
export class NamelessBinding implements Binding<NamelessLevels> {
  readonly name = 'nameless';
  readonly #store: NamelessStore;
  readonly #underWay = new Set<UnderWay>();
  #isClosed = false;

  constructor(store: NamelessStore) {
    this.#store = store;
  }

  consistencyLevels(): NamelessLevels {
    return NAMELESS_LEVELS;
  }

  supports({ name }: Operation): boolean {
    return name === 'bump' || name === 'count';
  }

  submitOperation<T>(operation: Operation<T>, levels: readonly string[], input: Sink<T>): void {
    const sink = input as Sink;
    if (this.#isClosed)
      return sink.fail(new CorrectableError('UNAVAILABLE', 'closed', { retryable: false }));
    const { manner } = operation.args as Args;
    const value = this.#store.run(operation);
    const item: UnderWay = { effect: operation.access, sink, timers: [] };
    this.#underWay.add(item);
    let first: number | undefined;
    // If fewer levels are requested, leave out the first views.
    const skipped = viewsIn(manner) - Math.min(levels.length, viewsIn(manner));
    for (const [at, ms] of AT_MS[manner].entries()) {
      if (at < skipped) continue;
      const isLast = at === AT_MS[manner].length - 1;
      const level = (isLast ? levels.at(-1) : levels[at]) ?? '';
      const say = (): void => {
        if (isLast) this.#underWay.delete(item);
        const details = DETAILS[manner]?.[at];
        if (manner === 'confirms' && first !== undefined)
          return sink.confirm(level, first, details);
        const seq = sink.view(
          manner === 'corrects' && !isLast ? { ...value, guess: at } : value,
          level,
          details,
        );
        first ??= seq;
        return undefined;
      };
      item.timers.push(setTimeout(say, ms));
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { effect, sink, timers } of this.#underWay) {
      for (const timer of timers) clearTimeout(timer);
      sink.fail(
        new CorrectableError(effect === 'write' ? 'UNKNOWN' : 'UNAVAILABLE', 'closed meanwhile'),
      );
    }
    this.#underWay.clear();
  }
}
