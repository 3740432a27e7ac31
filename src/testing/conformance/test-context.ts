/** Where the contract suite tries a binding: opens and closes it, waits for what it promises, and no longer than that. */
import type { Binding } from '../../correctable/binding.ts';
import { createClient, type Client } from '../../correctable/client/client.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { AnyView } from '../../correctable/view.ts';
import { isCorrectableError } from '../../correctable/errors.ts';

/** The part of a test runner that the suite needs; vitest's own functions fit. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly expect: (actual: unknown) => Expectation;
}

/** How values are compared; what the runner says of two that differ becomes the `cause` of a `ConformanceError`. */
export interface Expectation {
  toEqual(expected: unknown): void;
}

/** A binding in a state of its own, and what releases it. */
export interface OpenedBinding {
  readonly binding: Binding;
  /** Another binding to the same store, where there can be one: it sees what a closed one has done. */
  readonly secondBinding?: () => Promise<Binding>;
  /** Stops what stands behind the binding, which the suite has closed by then. */
  readonly release?: () => Promise<void>;
}

/** One step of a history, done once the one before it has its final view. */
export interface HistoryStep {
  readonly operation: Operation;
  /** What the final view at the strongest level gives; absent where it is of no interest. */
  readonly expected?: unknown;
}

/** The binding under test, and operations by which it can be known. */
export interface ConformanceSubject {
  readonly name: string;
  /** Makes a binding to a store without data. */
  createBinding(): Promise<OpenedBinding>;
  /** An update that `read` shows. */
  readonly write: Operation;
  readonly read: Operation;
  /** What a read at the strongest level gives after `write` was done once. */
  readonly expected: unknown;
  /**
   * What is done to one object, by its name, and what that gives. Make it of several updates, whose answers or reads
   * tell once from twice and from never. Where the name makes a difference, the histories of several objects are run at
   * the same time; equal steps that follow each other are also run all at once. Each name is used once. Where it begins
   * with an update and a read that says what it gives, that pair is also done to many objects at once, in sessions, and
   * with others that leave. Where updates say what they give, their guesses are held to that.
   *
   * Unless given, the portable operations that the binding supports make one: `put` and `get`, and `enqueue`, `dequeue`
   * and `peek`. Without those it is `write` and `read`, once: no update that is lost later shows by them.
   *
   * @example
   * history: (object) => [
   *   { operation: increment(object), expected: 1 },
   *   { operation: increment(object), expected: 2 },
   *   { operation: count(object), expected: 2 },
   * ]
   */
  readonly history?: (object: string) => readonly HistoryStep[];
  /** An operation whose final view fails, where the store has one. */
  readonly failingOperation?: Operation;
  /**
   * Bindings like that of `createBinding` whose weaker levels give nothing, where there can be such, by what becomes of those:
   * `{ fail: createFailing…, 'stay away': createSilent… }`.
   */
  readonly weakLevelFails?: Readonly<Record<string, () => Promise<OpenedBinding>>>;
  /**
   * A binding like that of `createBinding` whose strongest level fails at once, of a read, while a weaker one is still under way and
   * has a view, where there can be such: what is to be had offline.
   */
  readonly strongLevelFails?: () => Promise<OpenedBinding>;
  /**
   * A binding like that of `createBinding` whose strongest level fails at once, of a read, while its weaker ones never answer, where
   * there can be such. Not for one that asks its levels one after another.
   */
  readonly neverResponds?: () => Promise<OpenedBinding>;
  /**
   * A binding like that of `createBinding` whose reads take half a second or so, where there can be such: a faster one has answered
   * before anybody can tell whether it minds that nobody waits any more.
   */
  readonly slowBinding?: () => Promise<OpenedBinding>;
  /**
   * How long the suite waits for anything before it says that it does not come, in milliseconds; 4 000 unless given, less
   * than test runners wait. For a store that needs longer, make the runner wait longer too.
   */
  readonly timeoutMs?: number;
}

/** A promise of bindings that the one under test does not keep: its message is a sentence that says which, and how. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/**
 * Goes on where `isKept` is true.
 *
 * @throws ConformanceError with the sentence
 */
export function assertHolds(isKept: boolean, sentence: string | (() => string), cause?: unknown): asserts isKept {
  if (isKept) return;
  const message = typeof sentence === 'string' ? sentence : sentence();
  throw new ConformanceError(message, cause === undefined ? undefined : { cause });
}

/** The operation, as sentences name it. */
export function formatOperation({ name, key }: Operation): string {
  return key === undefined ? `"${name}"` : `"${name}" of "${key}"`;
}

/** A value, as sentences show it. */
export function formatValue(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A failure, as sentences tell it; `undefined` is of what closed without one. */
export function formatError(error: unknown): string {
  if (error === undefined) return 'closed with a final view';
  if (isCorrectableError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export type AnyClient = Client<Levels>;

/** The five seconds after which test runners give up, less what it takes to open and to close. */
const DEFAULT_TIMEOUT_MS = 4_000;

/** An update, and what `read` gives at the strongest level once it was done once. */
export type MarkedWrite = Pick<ConformanceSubject, 'write' | 'read' | 'expected'>;

/** An operation that was submitted. */
interface Submitted {
  readonly operation: Operation;
  readonly closed: Promise<void>;
}

export class TestContext {
  readonly subject: ConformanceSubject;
  readonly timeoutMs: number;
  readonly #expect: TestRunner['expect'];

  constructor(subject: ConformanceSubject, expect: TestRunner['expect']) {
    this.subject = subject;
    this.timeoutMs = subject.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#expect = expect;
  }

  /** Opens a binding for `body` and closes it after that; what `body` fails with counts, not what becomes of the rest. */
  async withBinding(
    body: (binding: Binding, opened: OpenedBinding) => Promise<void>,
    open: () => Promise<OpenedBinding> = () => this.subject.createBinding(),
  ): Promise<void> {
    const opened = await open();
    let isKept = false;
    try {
      await body(opened.binding, opened);
      isKept = true;
    } finally {
      const closed = this.withTimeout(opened.binding.close(), 'close() does not come to an end');
      await (isKept ? closed : closed.catch(() => undefined));
      await opened.release?.();
    }
  }

  withClient(
    body: (client: AnyClient, binding: Binding) => Promise<void>,
    open?: () => Promise<OpenedBinding>,
  ): Promise<void> {
    return this.withBinding((binding) => body(this.createClient(binding), binding), open);
  }

  /** A client that waits as long as the suite does. */
  createClient(binding: Binding): AnyClient {
    return createClient(binding, { timeoutMs: this.timeoutMs });
  }

  /** All views of `operation`, of which the last is final. */
  async collectViews(client: AnyClient, operation: Operation, levels: Levels = client.levels): Promise<AnyView[]> {
    const views: AnyView[] = [];
    try {
      for await (const view of client.invoke(operation, { levels: levels as [string] })) views.push(view);
    } catch (cause) {
      const message = `${formatOperation(operation)}, asked for ${levels.join(', ')}: no final view, but ${formatError(cause)}`;
      throw new ConformanceError(message, { cause });
    }
    return views;
  }

  async getFinal(client: AnyClient, operation: Operation, levels?: Levels): Promise<AnyView> {
    return (await this.collectViews(client, operation, levels)).at(-1)!;
  }

  /** Holds the strongest read of `mark` to showing its update, done once. */
  async assertShows(client: AnyClient, { write, read, expected }: MarkedWrite, description: string): Promise<void> {
    const { value } = await this.getFinal(client, read, [client.strongest]);
    this.assertSame(
      value,
      expected,
      `${formatOperation(read)} at ${client.strongest}, after ${formatOperation(write)}, ${description}`,
    );
  }

  /** Compares as the test runner does. */
  assertSame(actual: unknown, expected: unknown, description: string): void {
    const difference = this.#difference(actual, expected);
    assertHolds(
      difference === undefined,
      () => `${description}: ${formatValue(actual)}, not ${formatValue(expected)}`,
      difference,
    );
  }

  isSame(actual: unknown, expected: unknown): boolean {
    return this.#difference(actual, expected) === undefined;
  }

  /** Waits for `promise`, and no longer than the suite has patience. */
  async withTimeout<T>(promise: PromiseLike<T>, sentence: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(new ConformanceError(`${sentence} (waited for ${this.timeoutMs} ms)`));
      timer = setTimeout(giveUp, this.timeoutMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the end of an operation, whichever it is. */
  ends({ closed, operation }: Submitted, when = ''): Promise<void> {
    return this.withTimeout(closed, `${formatOperation(operation)}${when}: neither a final view nor a failure`);
  }

  /**
   * Asks until the strongest read shows the update: how long one takes whose end nobody is told is the store's business.
   * Between two questions the event loop gets its turn, without which no time-out of anybody would ever end this.
   */
  async waitUntilShown(
    client: AnyClient,
    description: string,
    { read, expected }: MarkedWrite = this.subject,
  ): Promise<void> {
    const givesUpAt = performance.now() + this.timeoutMs;
    for (;;) {
      const { value } = await this.getFinal(client, read, [client.strongest]);
      if (this.isSame(value, expected)) return;
      assertHolds(
        performance.now() < givesUpAt,
        () =>
          `${description} takes effect once: after ${this.timeoutMs} ms the strongest read still gives ` +
          `${formatValue(value)}, not ${formatValue(expected)}`,
      );
      await waitForNextTurn();
    }
  }

  #difference(actual: unknown, expected: unknown): unknown {
    try {
      this.#expect(actual).toEqual(expected);
      return undefined;
    } catch (error) {
      return error ?? new Error('they differ');
    }
  }
}

/** Does `body` with all of them at once; fails, once all have ended, as the first that failed does. */
export async function runConcurrently<T>(all: readonly T[], body: (item: T) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(all.map(body));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** One turn of the event loop: all promises that can settle have done so. */
export function waitForNextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
