/**
 * Values that generators return beside a plain result: metadata of a view, and the choice of a
 * shadow operation.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { Color, Effect } from './effect.ts';

/** A result with metadata for its view. */
export class WithMeta<out R> {
  readonly value: R;
  readonly meta: Readonly<Record<string, unknown>>;
  constructor(value: R, meta: Readonly<Record<string, unknown>>) {
    this.value = value;
    this.meta = meta;
  }
}

/**
 * Returns a result with metadata for its view.
 *
 * @example reply: ([popped]) => withMeta(popped.found ? { item: popped.item } : null, { remaining:
 * popped.remaining })
 */
export function withMeta<R>(value: R, meta: Readonly<Record<string, unknown>>): WithMeta<R> {
  return new WithMeta(value, meta);
}

/** A result without effects that may come from the site's own snapshot. */
export class UncertifiedResult<out R> {
  readonly result: R | WithMeta<R>;
  constructor(result: R | WithMeta<R>) {
    this.result = result;
  }
}

/**
 * Marks a result without effects as good enough from this site's snapshot. The answer is final at
 * `causal` at once, and may be out of date. Without it, the result of an operation with a red path
 * is certified, and final at `strong`. It makes no difference for `alwaysRed` operations: their
 * answers come from the red order. The operation fails with `INVALID_ARGUMENT` if its contract
 * declares it red, or if the result contains a shadow operation or is already `uncertified`.
 * Nothing changes then.
 *
 * @example if (tables.votes.has(vote)) return uncertified({ counted: false }); // a vote cannot be
 * taken back
 */
export function uncertified<R>(result: R | WithMeta<R>): UncertifiedResult<R> {
  return new UncertifiedResult(result);
}

/** A reply as plain data, as logs store it. */
export interface Reply {
  readonly value: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A reply, or the error in place of it. */
export type ReplyOrError = Reply | CorrectableError;

/** Whether an answer is a reply. A log leaves out a value that is `undefined`. */
export function isReply(answer: ReplyOrError): answer is Reply {
  return !('code' in answer);
}

/** Returns the plain form of what a generator or a shadow operation's `reply` returned. */
export function toReply(returned: unknown): Reply {
  return returned instanceof WithMeta
    ? { value: returned.value, meta: returned.meta }
    : { value: returned };
}

/** The shadow operation that a generator chose. */
export interface Choice {
  readonly shadow: string;
  readonly color: Color;
  readonly args: unknown;
  readonly effects: readonly Effect[];
  /** The reply, unless the shadow operation creates it from the results of its effects. */
  readonly reply: unknown;
}

declare const resultType: unique symbol;

/** A chosen shadow operation with a reply of type `R`. */
export class ChosenShadow<out R> {
  readonly choice: Choice;
  declare readonly [resultType]?: R;
  constructor(choice: Choice) {
    this.choice = Object.freeze(choice);
  }
}
