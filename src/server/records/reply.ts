/** What generators return beside a plain result: view metadata, and the choice of a shadow operation. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Color, Effect } from './effect.ts';

/** A result and the view metadata that goes with it. */
export class WithMeta<out R> {
  readonly value: R;
  readonly meta: Readonly<Record<string, unknown>>;
  constructor(value: R, meta: Readonly<Record<string, unknown>>) {
    this.value = value;
    this.meta = meta;
  }
}

/**
 * Adds view metadata to a result.
 *
 * @example
 * reply: ([popped]) => withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining })
 */
export function withMeta<R>(value: R, meta: Readonly<Record<string, unknown>>): WithMeta<R> {
  return new WithMeta(value, meta);
}

/** A result without effects for which the site's own snapshot is good enough. */
export class UncertifiedResult<out R> {
  readonly result: R | WithMeta<R>;
  constructor(result: R | WithMeta<R>) {
    this.result = result;
  }
}

/**
 * Says that a result without effects may stand on what this site knows, though the operation could have been red on another
 * path: it is answered at once, final at `causal`, and may be out of date by the time that it is told. Without it such a
 * result is certified, as a red operation is, and answered at `strong`. Of an operation that `alwaysRed` names it makes no
 * difference: that is answered from the red order. One that its contract declares red fails with `INVALID_ARGUMENT`, and so
 * does one whose result has a shadow operation in it, or `local` once more: nothing is done then.
 *
 * @example
 * if (tables.votes.has(vote)) return uncertified({ counted: false }); // whoever has voted here, has voted
 */
export function uncertified<R>(result: R | WithMeta<R>): UncertifiedResult<R> {
  return new UncertifiedResult(result);
}

/** A reply as plain data, as it stands in logs. */
export interface Reply {
  readonly value: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A reply, or why there is none. */
export type ReplyOrError = Reply | CorrectableError;

/** Which of the two it is. A log leaves the value out where that is `undefined`. */
export function isReply(answer: ReplyOrError): answer is Reply {
  return !('code' in answer);
}

/** The plain form of what a generator or a shadow operation's `reply` returned. */
export function toReply(returned: unknown): Reply {
  return returned instanceof WithMeta ? { value: returned.value, meta: returned.meta } : { value: returned };
}

/** What was chosen. */
export interface Choice {
  readonly shadow: string;
  readonly color: Color;
  readonly args: unknown;
  readonly effects: readonly Effect[];
  /** The reply, unless the shadow operation makes it from the results of its effects. */
  readonly reply: unknown;
}

declare const resultType: unique symbol;

/** A chosen shadow operation whose reply is an `R`. */
export class ChosenShadow<out R> {
  readonly choice: Choice;
  declare readonly [resultType]?: R;
  constructor(choice: Choice) {
    this.choice = Object.freeze(choice);
  }
}
