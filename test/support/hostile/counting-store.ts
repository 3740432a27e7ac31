/**
 * A store that counts what it executes, by a mark in the arguments: the outcomes of callers are
 * checked against it.
 */
import type { Binding, InvocationContext, Sink } from '../../../src/correctable/binding.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { LEVELS, type TestLevels } from '../wire.ts';

/** The arguments of an operation that is counted. */
interface Marked {
  readonly mark: string;
  /** How many characters the reply to a read has. */
  readonly size?: number;
}

/** Returns an update that increments the count of its mark. */
export function bump(mark: string): Operation {
  return { name: 'bump', access: 'write', args: { mark } satisfies Marked };
}

/** How the store answers: at once, or when the test calls `release`. */
type Manner = 'at-once' | 'held';

/** Does not deduplicate: an operation that is submitted twice is executed twice. */
export class CountingStore implements Binding<TestLevels> {
  readonly name = 'counting';
  readonly executed = new Map<string, number>();
  manner: Manner = 'at-once';
  /** How long an operation takes if it is not answered at once. */
  delayMs: number | undefined;
  readonly #held: (() => void)[] = [];
  #waiting: (() => void)[] = [];

  consistencyLevels(): TestLevels {
    return LEVELS;
  }

  supports({ name }: Operation): boolean {
    return name === 'bump' || name === 'count';
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly string[],
    sink: Sink<T>,
    _context: InvocationContext,
  ): void {
    const input = operation.args as Partial<Marked> | null;
    const mark = String(input?.mark);
    const isUpdate = operation.access === 'write';
    if (isUpdate) this.executed.set(mark, this.timesOf(mark) + 1);
    // Reply with an object, because replies that are only a number are kept in another way.
    const value = isUpdate
      ? { times: this.timesOf(mark) }
      : `${this.timesOf(mark)}${'x'.repeat(sizeOf(input))}`;
    const reported = sink as Sink;
    const finish = (): void => {
      if (levels.includes('weak')) reported.view(value, 'weak');
      reported.view(value, 'strong');
    };
    if (this.manner !== 'at-once') this.#held.push(finish);
    else if (this.delayMs === undefined) finish();
    else setTimeout(finish, this.delayMs);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  timesOf(mark: string): number {
    return this.executed.get(mark) ?? 0;
  }

  /** Fulfilled when `isSo` returns true. It is called after each submission. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Finishes all held operations. Later operations are answered at once. */
  release(): void {
    this.manner = 'at-once';
    for (const finish of this.#held.splice(0)) finish();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function sizeOf(value: Partial<Marked> | null): number {
  return Math.min(Number(value?.size) || 0, 1 << 20);
}
