/**
 * Consistency levels: an ordered tuple of names, weakest first, declared by a binding and carried in the types
 * (003 §3.2, §5.1).
 */

/** An ordered, non-empty tuple of consistency level names, weakest first. */
export type Levels = readonly [string, ...string[]];

/** The first (weakest) level of a tuple. */
export type Weakest<L extends readonly string[]> = L extends readonly [infer A extends string, ...string[]] ? A : never;

/** The last (strongest) level of a tuple. */
export type Strongest<L extends readonly string[]> = L extends readonly [...string[], infer Z extends string]
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

/** The union of level `K` of `L` and every level stronger than it. */
export type AtLeast<L extends readonly string[], K extends string> = L extends readonly [
  infer A extends string,
  ...infer Rest extends readonly string[],
]
  ? A extends K
    ? L[number]
    : AtLeast<Rest, K>
  : never;
