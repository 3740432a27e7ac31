/** What the contract suite is given: the binding under test, and the test runner. */
import type { Binding } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';

/** The part of a test runner that the suite needs; vitest's own functions fit. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly expect: (actual: unknown) => Expectation;
}

/** How values are compared; what the runner says of two that differ becomes the `cause` of a `ContractBreach`. */
export interface Expectation {
  toEqual(expected: unknown): void;
}

/** A binding in a state of its own, and what releases it. */
export interface OpenBinding {
  readonly binding: Binding;
  /** Another binding to the same store, where there can be one: it sees what a closed one has done. */
  readonly another?: () => Promise<Binding>;
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
export interface ContractSubject {
  readonly name: string;
  /** Makes a binding to a store without data. */
  open(): Promise<OpenBinding>;
  /** An update that `read` shows. */
  readonly update: Operation;
  readonly read: Operation;
  /** What a read at the strongest level gives after `update` was done once. */
  readonly expected: unknown;
  /**
   * What is done to one object, by its name, and what that gives. Make it of several updates, whose answers or reads
   * tell once from twice and from never. Where the name makes a difference, the histories of several objects are run at
   * the same time; equal steps that follow each other are also run all at once. Each name is used once. Where it begins
   * with an update and a read that says what it gives, that pair is also done to many objects at once, in sessions, and
   * with others that leave. Where updates say what they give, their guesses are held to that.
   *
   * Unless given, the portable operations that the binding supports make one: `put` and `get`, and `enqueue`, `dequeue`
   * and `peek`. Without those it is `update` and `read`, once: no update that is lost later shows by them.
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
  readonly failing?: Operation;
  /**
   * Bindings like that of `open` whose weaker levels give nothing, where there can be such, by what becomes of those:
   * `{ fail: open…, 'stay away': open… }`.
   */
  readonly weakless?: Readonly<Record<string, () => Promise<OpenBinding>>>;
  /**
   * A binding like that of `open` whose strongest level fails at once, of a read, while a weaker one is still under way and
   * has a view, where there can be such: what is to be had offline.
   */
  readonly strongless?: () => Promise<OpenBinding>;
  /**
   * A binding like that of `open` whose strongest level fails at once, of a read, while its weaker ones never answer, where
   * there can be such. Not for one that asks its levels one after another.
   */
  readonly answerless?: () => Promise<OpenBinding>;
  /**
   * A binding like that of `open` whose reads take half a second or so, where there can be such: a faster one has answered
   * before anybody can tell whether it minds that nobody waits any more.
   */
  readonly slow?: () => Promise<OpenBinding>;
  /**
   * How long the suite waits for anything before it says that it does not come, in milliseconds; 4 000 unless given, less
   * than test runners wait. For a store that needs longer, make the runner wait longer too.
   */
  readonly patienceMs?: number;
}
