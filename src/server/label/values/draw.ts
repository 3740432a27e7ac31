/** What authors draw arguments by: all from a seed, so that whatever it led to can be repeated. */
import type { Random } from '../../collections/random.ts';

/** What an operation is drawn by: all from the seed of the run, so that a run can be repeated. */
export interface Draw {
  /** One of the choices. */
  readonly pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C) => C[number];
  /** A whole number from `min` to `max`. */
  readonly between: (min: number, max: number) => number;
  /** True that often, from 0 to 1. */
  readonly chance: (probability: number) => boolean;
  /** A text that no other operation of the run gets. */
  readonly own: string;
}

/** A draw for one operation. */
export function drawFrom(random: Random, own: string): Draw {
  return {
    pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C): C[number] => random.pick(choices),
    between: (min, max) => random.between(min, max),
    chance: (probability) => random.chance(probability),
    own,
  };
}

/** How arguments of operations are drawn, where their schemas alone would not do. */
export type Arbitraries = Readonly<Record<string, (draw: Draw) => unknown>>;
