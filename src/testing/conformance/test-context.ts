/**
 * Opens and closes the binding under test, and waits for events, but not longer than the timeout.
 */
import type { Binding } from '../../correctable/binding.ts';
import { createClient, type Client } from '../../correctable/client/client.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { AnyView } from '../../correctable/view.ts';
import { isCorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import { getErrorMessage } from '../../values/error-message.ts';

/** The part of a test runner that the suite needs. The functions of vitest fit. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly expect: (actual: unknown) => Expectation;
}

/**
 * Compares values. If they differ, the error of the runner becomes the `cause` of a
 * `ConformanceError`.
 */
export interface Expectation {
  toEqual(expected: unknown): void;
}

/** A binding with its own state, and a way to release it. */
export interface OpenedBinding {
  readonly binding: Binding;
  /**
   * Returns another binding to the same store, if there can be one. It sees the writes of a closed
   * one.
   */
  readonly secondBinding?: (() => Promise<Binding>) | undefined;
  /** Stops the store behind the binding. The suite has closed the binding before. */
  readonly release?: (() => Promise<void>) | undefined;
}

/** A binding whose weaker levels are stale. */
export interface PausedBinding extends OpenedBinding {
  /** Lets the weaker levels catch up. Resolves once they may do so. */
  readonly resume: () => Promise<void>;
}

/** One step of a history, which starts after the previous one has its final view. */
export interface HistoryStep {
  readonly operation: Operation;
  /** Value of the final view at the strongest level. If it is absent, any value passes. */
  readonly expected?: unknown;
}

/** The binding under test, and operations that test it. */
export interface ConformanceSubject {
  readonly name: string;
  /** Creates a binding to a store without data. */
  createBinding(): Promise<OpenedBinding>;
  /** A write that `read` shows. */
  readonly write: Operation;
  readonly read: Operation;
  /** Result of `read` at the strongest level after one `write`. */
  readonly expected: unknown;
  /**
   * Returns the steps for one object, by its name, with their results. Use several writes, whose
   * results or reads differ if a write is applied never, once or twice. If the steps depend on the
   * name, the suite runs histories of several objects concurrently. It also runs equal steps in a
   * row concurrently. It uses each name once. If a history starts with a write and a read with
   * `expected`, that pair also runs for many objects at once. These runs use sessions, and clients
   * that close. If writes have `expected`, their preliminary views are checked too.
   *
   * Default: the portable operations that the binding supports: `put` and `get`, and `enqueue`,
   * `dequeue` and `peek`. Without them, `write` and `read` run once, which cannot find writes that
   * are lost later.
   *
   * @example
   * history: (object) => [
   *   { operation: increment(object), expected: 1 },
   *   { operation: increment(object), expected: 2 },
   *   { operation: count(object), expected: 2 },
   * ]
   */
  readonly history?: ((object: string) => readonly HistoryStep[]) | undefined;
  /** An operation whose final view fails, if the store has one. */
  readonly failingOperation?: Operation | undefined;
  /**
   * Functions that create bindings like `createBinding`, if possible, whose weaker levels give no
   * view. The key describes what the levels do instead, for example `fail` or `stay away`.
   */
  readonly weakLevelFails?: Readonly<Record<string, () => Promise<OpenedBinding>>> | undefined;
  /**
   * Creates a binding like `createBinding`, if possible, that is offline. The strongest level of a
   * read fails at once while a weaker one is still pending. The weaker one then gives a view.
   */
  readonly strongLevelFails?: (() => Promise<OpenedBinding>) | undefined;
  /**
   * Creates a binding like `createBinding`, if possible, whose weaker levels never answer a read.
   * Its strongest level fails at once. Leave it out if the binding queries its levels one after
   * another.
   */
  readonly neverResponds?: (() => Promise<OpenedBinding>) | undefined;
  /**
   * Creates a binding like `createBinding`, if possible, whose reads take about half a second. With
   * a faster one the suite cannot check how the binding handles canceled reads.
   */
  readonly slowBinding?: (() => Promise<OpenedBinding>) | undefined;
  /**
   * Creates a binding like `createBinding`, if possible, whose weaker levels get no write until
   * `resume` is called, like a replica that has stopped replicating. Use it for bindings with
   * sessions.
   */
  readonly pausedWeakLevel?: (() => Promise<PausedBinding>) | undefined;
  /**
   * How long the suite waits for an event before a test fails, in milliseconds. The default is less
   * than the timeout of test runners. For a slower store, raise the timeout of the runner too.
   * Default: 4 000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Thrown if the binding under test breaks a rule of bindings. Its message names the rule and how it
 * is broken.
 */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

export function assertHolds(
  isKept: boolean,
  sentence: string | (() => string),
  cause?: unknown,
): asserts isKept {
  if (isKept) return;
  const message = typeof sentence === 'string' ? sentence : sentence();
  throw new ConformanceError(message, cause === undefined ? undefined : { cause });
}

export function assertCode(error: unknown, code: ErrorCode, description: string): void {
  assertHolds(
    isCorrectableError(error, code),
    () => `${description}: not ${code}, but ${formatError(error)}`,
  );
}

export function formatOperation({ name, key }: Operation): string {
  return key === undefined ? `"${name}"` : `"${name}" of "${key}"`;
}

export function formatValue(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ??
      String(value)
    );
  } catch {
    return String(value);
  }
}

/**
 * Returns the text of a failure for messages. `undefined` is an operation that closed without one.
 */
export function formatError(error: unknown): string {
  if (error === undefined) return 'closed with a final view';
  if (isCorrectableError(error)) return `${error.code}: ${error.message}`;
  return getErrorMessage(error);
}

export type AnyClient = Client<Levels>;

/**
 * Test runners give up after five seconds. This is less, because a binding has to be opened and
 * closed too.
 */
const DEFAULT_TIMEOUT_MS = 4_000;

/**
 * An update, and the result of `read` at the strongest level after the update was executed once.
 */
export interface MarkedWrite {
  readonly write: Operation;
  readonly read: Operation;
  readonly expected: unknown;
}

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

  /**
   * Opens a binding for `body` and closes it after that. If both fail, the failure of `body` is
   * reported.
   */
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

  /** Creates a client whose timeout is that of the suite. */
  createClient(binding: Binding): AnyClient {
    return createClient(binding, { timeoutMs: this.timeoutMs });
  }

  async collectViews(
    client: AnyClient,
    operation: Operation,
    levels: Levels = client.levels,
  ): Promise<AnyView[]> {
    const views: AnyView[] = [];
    try {
      for await (const view of client.invoke(operation, {
        levels: levels as [string],
      }))
        views.push(view);
    } catch (cause) {
      const message = `${formatOperation(operation)}, asked for ${levels.join(', ')}: no final view, but ${formatError(cause)}`;
      throw new ConformanceError(message, { cause });
    }
    return views;
  }

  async getFinal(client: AnyClient, operation: Operation, levels?: Levels): Promise<AnyView> {
    return (await this.collectViews(client, operation, levels)).at(-1)!;
  }

  /** Checks that the strongest read of `mark` shows that its update was executed once. */
  async assertShows(
    client: AnyClient,
    { write, read, expected }: MarkedWrite,
    description: string,
  ): Promise<void> {
    const { value } = await this.getFinal(client, read, [client.strongest]);
    this.assertSame(
      value,
      expected,
      `${formatOperation(read)} at ${client.strongest}, after ${formatOperation(write)}, ${description}`,
    );
  }

  /** Compares by the function of the test runner. */
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

  /** Waits for `promise`, but not longer than the timeout of the suite. */
  async withTimeout<T>(promise: PromiseLike<T>, sentence: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (): void =>
        reject(new ConformanceError(`${sentence} (waited for ${this.timeoutMs} ms)`));
      timer = setTimeout(giveUp, this.timeoutMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  ends({ closed, operation }: Submitted, when = ''): Promise<void> {
    return this.withTimeout(
      closed,
      `${formatOperation(operation)}${when}: neither a final view nor a failure`,
    );
  }

  /**
   * Reads until the strongest read shows the update. The event loop continues between reads,
   * because otherwise no timeout would fire.
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

/**
 * Calls `body` with all items concurrently. When all have ended, rejects with the first failure.
 */
export async function runConcurrently<T>(
  all: readonly T[],
  body: (item: T) => Promise<void>,
): Promise<void> {
  const ends = await Promise.allSettled(all.map(body));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Waits for one turn of the event loop. All promises that can settle have done so by then. */
export function waitForNextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
