/** The library entry: Correctables, clients, and what a binding needs. Depends on nothing. */
export type { Levels, Weakest, Strongest, Subset, AtLeast } from './correctable/level.ts';
