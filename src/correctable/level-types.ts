/**
 * Consistency levels: an ordered tuple of names, weakest first, declared by a binding and carried
 * in the types (Correctables, OSDI 2016, §3.2 and §5.1).
 */

/** An ordered, non-empty tuple of consistency level names, weakest first. */
export type Levels = readonly [string, ...string[]];

/** The first (weakest) level of a tuple. */
export type Weakest<L extends readonly string[]> = L extends readonly [
  infer A extends string,
  ...string[],
]
  ? A
  : never;

/** The last (strongest) level of a tuple; `string` if the tuple is not known at compile time. */
export type Strongest<L extends readonly string[]> = string extends L[number]
  ? string
  : L extends readonly [...string[], infer Z extends string]
    ? Z
    : never;

/** The levels of `L` that are named in `S`, as a tuple in the order of `L`. */
export type Subset<L extends readonly string[], S extends string> = L extends readonly [
  infer A extends string,
  ...infer Rest extends readonly string[],
]
  ? A extends S
    ? readonly [A, ...Subset<Rest, S>]
    : Subset<Rest, S>
  : readonly [];

/**
 * The levels that the views of an operation can have, as its contract specifies them; `string` if
 * they are unknown. An operation with several of these in a union has the levels of one of them in
 * each execution.
 */
export interface FinalLevels {
  readonly levels: string;
}

/**
 * The final levels of an operation at a store: those of its contract if they hold there (`C`),
 * otherwise unknown.
 */
export type ContractFinalLevels<R extends FinalLevels, C extends boolean> = [C] extends [true]
  ? R
  : FinalLevels;

/**
 * The level of the final if `S` were requested of a binding with levels `L`, for an operation whose
 * final levels are `R`.
 */
export type FinalLevel<
  L extends Levels,
  S extends readonly string[],
  R extends FinalLevels,
> = R extends FinalLevels
  ? string extends R['levels']
    ? L[number]
    : [R['levels'] & L[number]] extends [never]
      ? L[number]
      : [R['levels'] & RequestedFinalLevel<L, S>] extends [never]
        ? R['levels'] & L[number]
        : R['levels'] & RequestedFinalLevel<L, S>
  : never;

/**
 * The final levels that a request of the levels `S` may lead to: the strongest of `S`, and every
 * level above it. If `S` is chosen at run time, the compiler does not know its strongest level, so
 * every level from the weakest possible one counts.
 */
type RequestedFinalLevel<L extends Levels, S extends readonly string[]> = S extends unknown
  ? true extends { [I in keyof S]: IsUnion<S[I]> }[number]
    ? AtLeast<L, S[number]>
    : AtLeast<L, Strongest<RequestedLevels<L, S>>>
  : never;

/** Whether `K` is a union of several types. */
export type IsUnion<K, All = K> = K extends unknown ? ([All] extends [K] ? false : true) : never;

/** The union of level `K` of `L` and every level stronger than it. */
export type AtLeast<L extends readonly string[], K extends string> = string extends L[number]
  ? string
  : L extends readonly [infer A extends string, ...infer Rest extends readonly string[]]
    ? A extends K
      ? L[number]
      : AtLeast<Rest, K>
    : never;

/**
 * The tuple of the requested levels `S` of `L`; the general tuple if `L` is not known at compile
 * time.
 */
export type RequestedLevels<
  L extends Levels,
  S extends readonly string[],
> = string extends L[number]
  ? Levels
  : Subset<L, S[number]> extends infer R extends Levels
    ? R
    : never;

/** A level that is in every list of the union `L`. */
export type CommonLevel<L extends Levels> = (
  L extends unknown ? (level: L[number]) => void : never
) extends (level: infer K extends string) => void
  ? K
  : never;
