/**
 * A view: the result of an operation under one consistency level (Correctables, OSDI 2016, §1 and
 * §3.1).
 */
import type { AtLeast, Levels, Strongest } from './level-types.ts';

/** Properties of every view beside its value and level. */
export interface ViewInfo {
  /**
   * Number of the value within its operation, counted from 0 over the values that the binding
   * delivered. A confirmation without payload has the number of the value that it confirms.
   */
  readonly seq: number;
  /**
   * Time when the view reached this process: milliseconds since the epoch, by the machine's clock.
   */
  readonly at: number;
  /**
   * Whether this view repeats, by the operation's `equals`, the value of the last view delivered
   * before it.
   */
  readonly confirms: boolean;
  /** The store's version of the value, if the binding knows one. */
  readonly version?: unknown;
  /** Facts that the binding adds to the view, for example `{ remaining }` of a `dequeue`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** An early view: a stronger one may still correct it. */
export type PreliminaryView<T, L extends Levels> = ViewInfo & {
  readonly final: false;
  readonly value: T;
  readonly level: L[number];
};

/**
 * The last view of an operation.
 *
 * `F` is the level that the final view can have. This is the strongest requested level. If the
 * operation lacks it, `F` is the next stronger level that the operation has, or else its strongest
 * level. Test `final`, not the level, to see that no view follows.
 */
export type FinalView<T, L extends Levels, F extends string = L[number]> = ViewInfo & {
  readonly final: true;
  readonly value: T;
  readonly level: F;
  /**
   * Set if the final is older, by version, than a preliminary view that was delivered, or if the
   * store has lost something that the session has seen.
   */
  readonly regressed?: true;
};

/** One view of the result of an operation. */
export type View<T, L extends Levels, F extends string = L[number]> =
  | PreliminaryView<T, L>
  | FinalView<T, L, F>;

/**
 * A view at the level `K` of `L` or a stronger one; `F` as in `FinalView`. A view at the strongest
 * level is final.
 */
export type ViewFrom<
  T,
  L extends Levels,
  F extends string,
  K extends string,
> = string extends L[number]
  ? View<T, L, F>
  :
      | PreliminaryFrom<T, Exclude<AtLeast<L, K>, Strongest<L>>>
      | FinalView<T, L, Exclude<F, Exclude<L[number], AtLeast<L, K>>>>;

type PreliminaryFrom<T, K extends string> = [K] extends [never]
  ? never
  : PreliminaryView<T, readonly [K]>;

/** A view whose levels are not known at compile time. */
export type AnyView<T = unknown> = View<T, Levels, string>;
